// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What a finding rests on, as named fields that a caller turns into JSON, journal fields or text.
#pragma once

/*
 * Plain fields and no JSON: fabric/ stays free of jansson, and one small function in the daemon
 * serves every kind. Names are snake_case, of our own making; units are in the name. Several fields
 * with one name, added by the evidence_list_*() functions, are one list, also where there is but
 * one.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/cleanup.h"

#define EVIDENCE_FIELDS_MAX 64
#define EVIDENCE_NAME_BYTES 32

enum evidence_type {
	EVIDENCE_NUMBER, /* up to 2^63 - 1: a JSON integer */
	EVIDENCE_REAL,
	EVIDENCE_TRUTH,
	EVIDENCE_GUID, /* "0x%016x" */
	EVIDENCE_TEXT, /* printable */
};

struct evidence_field {
	char name[EVIDENCE_NAME_BYTES];
	enum evidence_type type;
	bool list;
	union {
		uint64_t number; /* also GUID and TRUTH */
		double real;
		char *text;
	};
};

/* Zeroed: empty. Texts are its own. */
struct evidence {
	size_t count;
	uint32_t left_out; /* fields that found no room, or no memory */
	struct evidence_field fields[EVIDENCE_FIELDS_MAX];
};

void evidence_number(struct evidence *evidence, const char *name, uint64_t number);
void evidence_real(struct evidence *evidence, const char *name, double real);
void evidence_truth(struct evidence *evidence, const char *name, bool truth);
/* A GUID of 0 is "not known": no field. */
void evidence_guid(struct evidence *evidence, const char *name, uint64_t guid);
/* NULL and "" are "not known": no field. The text is copied. */
void evidence_text(struct evidence *evidence, const char *name, const char *text);
void evidence_list_number(struct evidence *evidence, const char *name, uint64_t number);
void evidence_list_guid(struct evidence *evidence, const char *name, uint64_t guid);
void evidence_list_text(struct evidence *evidence, const char *name, const char *text);

/* The first field with a name, or NULL. */
const struct evidence_field *evidence_find(const struct evidence *evidence, const char *name);

/* How many fields have a name: the length of a list. */
size_t evidence_count(const struct evidence *evidence, const char *name);

void evidence_clear(struct evidence *evidence);
static inline void evidence_clearp(struct evidence *evidence)
{
	evidence_clear(evidence);
}
