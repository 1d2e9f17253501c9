// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Structs as JSON objects and back, by a table of their fields: for the state file.
#include "daemon/fields.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/json.h"

static uint64_t get_unsigned(const void *member, size_t size)
{
	union {
		uint8_t u8;
		uint16_t u16;
		uint32_t u32;
		uint64_t u64;
	} value;

	memcpy(&value, member, size);
	switch (size) {
	case sizeof(uint8_t):
		return value.u8;
	case sizeof(uint16_t):
		return value.u16;
	case sizeof(uint32_t):
		return value.u32;
	default:
		return value.u64;
	}
}

static void put_unsigned(void *member, size_t size, uint64_t value)
{
	uint32_t u32 = (uint32_t)value;
	uint16_t u16 = (uint16_t)value;
	uint8_t u8 = (uint8_t)value;

	memcpy(member,
	       size == sizeof(u8)    ? (const void *)&u8
	       : size == sizeof(u16) ? (const void *)&u16
	       : size == sizeof(u32) ? (const void *)&u32
				     : (const void *)&value,
	       size);
}

static json_t *save_one(const void *member, const struct field *field)
{
	const char *name;
	double real;
	bool truth;

	switch (field->type) {
	case FIELD_U8:
	case FIELD_U16:
	case FIELD_U32:
		return json_integer((json_int_t)get_unsigned(member, field->size));
	case FIELD_U64:
		return json_counter(get_unsigned(member, field->size));
	case FIELD_GUID:
		return json_guid(get_unsigned(member, field->size));
	case FIELD_BOOL:
		memcpy(&truth, member, sizeof(truth));
		return json_boolean(truth);
	case FIELD_REAL:
		memcpy(&real, member, sizeof(real));
		return json_real(isfinite(real) ? real : 0);
	case FIELD_TEXT:
		return json_text(member);
	case FIELD_ENUM:
		name = field->enum_name((unsigned)get_unsigned(member, field->size));
		return json_string(name ? name : "");
	}
	return NULL;
}

bool fields_save(json_t *object, const void *from, const struct field *fields, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!json_put(object, fields[i].name,
			      save_one((const char *)from + fields[i].offset, &fields[i])))
			return false;
	return true;
}

/* A string that is a number as a whole. */
static bool parse(const json_t *value, int base, uint64_t *ret)
{
	const char *text = json_string_value(value);
	char *end;

	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	*ret = strtoull(text, &end, base);
	return errno == 0 && *end == '\0';
}

static bool load_text(const json_t *value, char *to, size_t size)
{
	const char *text = json_string_value(value);

	if (!text || json_string_length(value) >= size)
		return false;
	memset(to, 0, size);
	memcpy(to, text, json_string_length(value));
	return true;
}

static bool load_enum(const json_t *value, void *to, const struct field *field)
{
	const char *text = json_string_value(value), *name;

	for (unsigned i = 0; text && (name = field->enum_name(i)); i++)
		if (strcmp(name, text) == 0) {
			put_unsigned(to, field->size, i);
			return true;
		}
	return false;
}

static bool load_one(const json_t *value, void *to, const struct field *field)
{
	json_int_t integer = json_integer_value(value);
	uint64_t number = 0;
	double real;
	bool truth;

	switch (field->type) {
	case FIELD_U8:
	case FIELD_U16:
	case FIELD_U32:
		if (!json_is_integer(value) || integer < 0 ||
		    (uint64_t)integer >= UINT64_C(1) << (8 * field->size))
			return false;
		put_unsigned(to, field->size, (uint64_t)integer);
		return true;
	case FIELD_U64:
	case FIELD_GUID:
		if (!parse(value, field->type == FIELD_GUID ? 16 : 10, &number))
			return false;
		put_unsigned(to, field->size, number);
		return true;
	case FIELD_BOOL:
		if (!json_is_boolean(value))
			return false;
		truth = json_is_true(value);
		memcpy(to, &truth, sizeof(truth));
		return true;
	case FIELD_REAL:
		real = json_number_value(value);
		if (!json_is_number(value) || !isfinite(real))
			return false;
		memcpy(to, &real, sizeof(real));
		return true;
	case FIELD_TEXT:
		return load_text(value, to, field->size);
	case FIELD_ENUM:
		return load_enum(value, to, field);
	}
	return false;
}

bool fields_load(const json_t *object, void *to, const struct field *fields, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!load_one(json_object_get(object, fields[i].name),
			      (char *)to + fields[i].offset, &fields[i]))
			return false;
	return true;
}
