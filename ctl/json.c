// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What a verb reads from the daemon's JSON: members by path, tolerant of what is absent.
#include "ctl/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES_MAX 64

json_t *json_at(const json_t *object, const char *path)
{
	char name[NAME_BYTES_MAX];
	json_t *value;

	for (const char *dot; (dot = strchr(path, '.')); path = dot + 1) {
		snprintf(name, sizeof(name), "%.*s", (int)(dot - path), path);
		object = json_object_get(object, name);
	}
	value = json_object_get(object, path);
	return json_is_null(value) ? NULL : value;
}

const char *json_string_at(const json_t *object, const char *path)
{
	return json_string_value(json_at(object, path));
}

const char *json_text_at(const json_t *object, const char *path)
{
	const char *text = json_string_at(object, path);

	return text ? text : "";
}

uint64_t json_count_at(const json_t *object, const char *path)
{
	json_int_t value = json_integer_value(json_at(object, path));

	return value > 0 ? (uint64_t)value : 0;
}

bool json_bool_at(const json_t *object, const char *path)
{
	return json_is_true(json_at(object, path));
}

char *json_join(const json_t *array, const char *separator)
{
	char *text = NULL;
	size_t size, i;
	json_t *item;
	FILE *file = open_memstream(&text, &size);

	if (!file)
		return NULL;
	json_array_foreach (array, i, item) {
		if (i > 0)
			fputs(separator, file);
		if (json_is_integer(item))
			fprintf(file, "%" JSON_INTEGER_FORMAT, json_integer_value(item));
		else if (json_is_string(item))
			fputs(json_string_value(item), file);
	}
	if (fclose(file) != 0) {
		free(text);
		return NULL;
	}
	return text;
}
