// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Where a verb's text or JSON goes: standard output or a pager; the first write error is kept.
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include <jansson.h>

enum json_mode {
	JSON_OFF,
	JSON_SHORT,
	JSON_PRETTY,
};

enum style {
	STYLE_NONE,
	STYLE_BOLD,
	STYLE_GREY,
	STYLE_RED,
	STYLE_GREEN,
	STYLE_YELLOW,
	STYLE_HEADER,
};

enum glyph {
	GLYPH_DOT,
	GLYPH_ARROW,
	GLYPH_LINK,
	GLYPH_TIMES,
};

struct output {
	enum json_mode json;
	bool tty;
	bool colour;
	bool utf8;	  /* the terminal takes UTF-8; JSON is UTF-8 always */
	bool full;	  /* GUIDs and exact times */
	bool legend;	  /* headings and the counts below lists */
	unsigned columns; /* cut text to this; 0: never */
	unsigned lines;	  /* of the terminal; 0: none */

	FILE *file;
	int fd;		/* what file writes to; the pager's pipe, once there is one */
	int error;	/* errno of the first write that failed, 0: none */
	pid_t pager;	/* 0: none */
	size_t used;	/* columns of the line that output_end() has to end */
	size_t n_lines; /* ended by output_end() */
	size_t n_json;	/* items written since output_json_begin() */
};

/**
 * Write to @fd. All other members are the caller's to set. @out must stay where it is.
 * Returns 0 or negative errno.
 */
int output_open(struct output *out, int fd);

/**
 * From here on write to the user's pager ($SYSTEMD_PAGER, $PAGER, less, more; "" and "cat": none).
 * Does nothing where no pager can be had.
 */
void output_start_pager(struct output *out);

/* Keep @error (an errno) as the output's, unless there is one already; returns it, negative. */
int output_fail(struct output *out, int error);

/* Write what is buffered. Returns 0 or the error, negative, also that of an earlier write. */
int output_flush(struct output *out);

/**
 * Write what is buffered, close, wait for the pager.
 * Returns 0 or the error as output_flush(). A pager that was quit is no error; -ENOEXEC: it could
 * not be run.
 */
int output_close(struct output *out);

/*
 * Lines of text, piece by piece; what is invisible is escaped, and cut what goes beyond the
 * terminal's width.
 */
void output_add(struct output *out, enum style style, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void output_end(struct output *out);
/* One piece that is a line. */
void output_line(struct output *out, enum style style, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* "      LABEL: …", for output_add() and output_end() to go on with. */
void output_label(struct output *out, const char *label);
/* "      LABEL: TEXT", a line. */
void output_field(struct output *out, const char *label, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Whole text: instead of being cut it is broken at blanks; each line has @indent spaces before it.
 */
void output_wrap(struct output *out, enum style style, unsigned indent, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Ask the terminal behind @fd (or $COLUMNS, $LINES) for its size; none is 0. */
void output_measure(struct output *out, int fd);

/* Start and end a style; nothing without colours. */
void output_style(struct output *out, enum style style);
void output_style_end(struct output *out, enum style style);

/* A character beyond ASCII, or what stands for it. */
const char *output_glyph(const struct output *out, enum glyph glyph);

/* One JSON value, a newline behind it; control and direction characters as \uNNNN. */
void output_json(struct output *out, const json_t *value);

/* {"NAME": [items…]}, item by item. */
void output_json_begin(struct output *out, const char *name);
void output_json_item(struct output *out, const json_t *item);
void output_json_end(struct output *out);
