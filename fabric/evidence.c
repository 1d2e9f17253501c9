// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What a finding rests on, as named fields that a caller turns into JSON, journal fields or text.
#include "evidence.h"

#include <stdlib.h>
#include <string.h>

static struct evidence_field *add(struct evidence *evidence, const char *name,
				  enum evidence_type type, bool list)
{
	struct evidence_field *field;

	if (evidence->count == EVIDENCE_FIELDS_MAX) {
		evidence->left_out++;
		return NULL;
	}
	field = &evidence->fields[evidence->count++];
	*field = (struct evidence_field){.type = type, .list = list};
	memcpy(field->name, name, strnlen(name, sizeof(field->name) - 1));
	return field;
}

static void add_number(struct evidence *evidence, const char *name, enum evidence_type type,
		       bool list, uint64_t number)
{
	struct evidence_field *field = add(evidence, name, type, list);

	if (field)
		field->number = number;
}

static void add_text(struct evidence *evidence, const char *name, bool list, const char *text)
{
	char *copy = strdup(text);
	struct evidence_field *field;

	if (!copy) {
		evidence->left_out++;
		return;
	}
	field = add(evidence, name, EVIDENCE_TEXT, list);
	if (field)
		field->text = copy;
	else
		free(copy);
}

void evidence_number(struct evidence *evidence, const char *name, uint64_t number)
{
	add_number(evidence, name, EVIDENCE_NUMBER, false, number);
}

void evidence_real(struct evidence *evidence, const char *name, double real)
{
	struct evidence_field *field = add(evidence, name, EVIDENCE_REAL, false);

	if (field)
		field->real = real;
}

void evidence_truth(struct evidence *evidence, const char *name, bool truth)
{
	add_number(evidence, name, EVIDENCE_TRUTH, false, truth);
}

void evidence_guid(struct evidence *evidence, const char *name, uint64_t guid)
{
	if (guid)
		add_number(evidence, name, EVIDENCE_GUID, false, guid);
}

void evidence_text(struct evidence *evidence, const char *name, const char *text)
{
	if (text && *text)
		add_text(evidence, name, false, text);
}

void evidence_list_number(struct evidence *evidence, const char *name, uint64_t number)
{
	add_number(evidence, name, EVIDENCE_NUMBER, true, number);
}

void evidence_list_guid(struct evidence *evidence, const char *name, uint64_t guid)
{
	add_number(evidence, name, EVIDENCE_GUID, true, guid);
}

void evidence_list_text(struct evidence *evidence, const char *name, const char *text)
{
	add_text(evidence, name, true, text ? text : "");
}

const struct evidence_field *evidence_find(const struct evidence *evidence, const char *name)
{
	for (size_t i = 0; i < evidence->count; i++)
		if (strcmp(evidence->fields[i].name, name) == 0)
			return &evidence->fields[i];
	return NULL;
}

size_t evidence_count(const struct evidence *evidence, const char *name)
{
	size_t n = 0;

	for (size_t i = 0; i < evidence->count; i++)
		if (strcmp(evidence->fields[i].name, name) == 0)
			n++;
	return n;
}

void evidence_clear(struct evidence *evidence)
{
	for (size_t i = 0; i < evidence->count; i++)
		if (evidence->fields[i].type == EVIDENCE_TEXT)
			free(evidence->fields[i].text);
	evidence->count = 0;
	evidence->left_out = 0;
}
