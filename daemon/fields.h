// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Structs as JSON objects and back, by a table of their fields: for the state file.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum field_type {
	FIELD_U8,
	FIELD_U16,
	FIELD_U32,
	FIELD_U64,  /* a decimal string: JSON's integers are signed */
	FIELD_GUID, /* uint64_t, "0x%016x" */
	FIELD_BOOL,
	FIELD_REAL,
	FIELD_TEXT, /* char[size] */
	FIELD_ENUM, /* an int-sized enum, by its names */
};

struct field {
	const char *name;
	enum field_type type;
	size_t offset;
	size_t size;			      /* of the member */
	const char *(*enum_name)(unsigned i); /* FIELD_ENUM: NULL out of range */
};

#define FIELD(struct_, member, type_)                                                              \
	{                                                                                          \
		.name = #member, .type = (type_), .offset = offsetof(struct_, member),             \
		.size = sizeof(((struct_ *)0)->member)                                             \
	}
#define FIELD_OF_ENUM(struct_, member, name_)                                                      \
	{                                                                                          \
		.name = #member, .type = FIELD_ENUM, .offset = offsetof(struct_, member),          \
		.size = sizeof(((struct_ *)0)->member), .enum_name = (name_)                       \
	}

/* Add the fields to an object. Returns false without memory. */
bool fields_save(json_t *object, const void *from, const struct field *fields, size_t count);

/* Read them. A field that is missing, of another type or out of range makes it false; those before
 * it have been written then. Fields that the table does not name are passed over. */
bool fields_load(const json_t *object, void *to, const struct field *fields, size_t count);
