// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// One table model: rows are JSON objects; printed as text in columns, or as one JSON object.
#pragma once

#include <stddef.h>

#include <jansson.h>

#include "ctl/output.h"

/*
 * As JSON each row is written when it is added, all of its members. As text the rows' cells are
 * kept until table_finish(), because a column is as wide as its widest cell. Where the terminal is
 * too narrow, the widest of the columns with TABLE_CUT are cut, and no others.
 */

enum table_kind {
	TABLE_TEXT,	/* a string as it is; an array's items with commas */
	TABLE_NUMBER,	/* right aligned */
	TABLE_HEX16,	/* 0x%04x */
	TABLE_YES_NO,	/* of a boolean */
	TABLE_DURATION, /* from microseconds; right aligned */
	TABLE_TIME,	/* from microseconds since the epoch */
	TABLE_RATE,	/* from Mb/s; right aligned */
	TABLE_OUT_PORT, /* a number behind an arrow */
};

enum table_flags {
	TABLE_CUT = 1 << 0,  /* may be cut */
	TABLE_FULL = 1 << 1, /* only with --full */
};

struct table_column {
	const char *title;
	const char *path; /* of the row's member: json_at() */
	enum table_kind kind;
	unsigned flags;
	enum style (*style)(const json_t *row); /* may be NULL */
};

struct table;

/**
 * @out: borrowed
 * @name: of the JSON array
 * @noun: for the count below the text: "12 nodes"; NULL: none
 * @columns: borrowed
 * Returns 0, or the output's error, here without memory.
 */
int table_new(struct output *out, const char *name, const char *noun,
	      const struct table_column *columns, size_t n_columns, struct table **ret);
struct table *table_free(struct table *table);

/* @row: borrowed, not needed afterwards. Returns 0 or the output's error. */
int table_add(struct table *table, const json_t *row);

/* Print what is left to be printed. */
void table_finish(struct table *table);
