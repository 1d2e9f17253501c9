// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// One table model: rows are JSON objects; printed as text in columns, or as one JSON object.
#include "ctl/table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/json.h"
#include "ctl/text.h"
#include "util/cleanup.h"

#define GAP 2	     /* columns between two columns */
#define CUT_LEAST 10 /* no column is cut below this */

struct cell {
	char *text; /* printable */
	size_t width;
	enum style style;
};

struct column {
	const struct table_column *spec;
	size_t width;
};

struct table {
	struct output *out;
	const char *name, *noun;

	struct column *columns; /* the shown ones */
	size_t n_columns;

	struct cell *cells; /* row by row */
	size_t n_cells, n_allocated;
	size_t n_rows;
	bool begun; /* the JSON object is */
};

int table_new(struct output *out, const char *name, const char *noun,
	      const struct table_column *columns, size_t n_columns, struct table **ret)
{
	struct table *table = calloc(1, sizeof(*table));

	if (!table)
		return output_fail(out, ENOMEM);
	table->columns = calloc(n_columns, sizeof(*table->columns));
	if (!table->columns) {
		table_free(table);
		return output_fail(out, ENOMEM);
	}
	table->out = out;
	table->name = name;
	table->noun = noun;
	for (size_t i = 0; i < n_columns; i++) {
		struct column *column = &table->columns[table->n_columns];

		if ((columns[i].flags & TABLE_FULL) && !out->full)
			continue;
		column->spec = &columns[i];
		column->width = out->legend ? text_width(columns[i].title) : 0;
		table->n_columns++;
	}
	*ret = table;
	return 0;
}

struct table *table_free(struct table *table)
{
	if (!table)
		return NULL;
	for (size_t i = 0; i < table->n_cells; i++)
		free(table->cells[i].text);
	free(table->cells);
	free(table->columns);
	free(table);
	return NULL;
}

static bool is_right_aligned(enum table_kind kind)
{
	return kind == TABLE_NUMBER || kind == TABLE_DURATION || kind == TABLE_RATE;
}

/* What a cell says: borrowed from @value, from @buffer, or allocated in @ret_allocated. */
static const char *cell_text(const struct output *out, enum table_kind kind, const json_t *value,
			     char buffer[static TEXT_BYTES], char **ret_allocated)
{
	uint64_t number = json_integer_value(value) > 0 ? (uint64_t)json_integer_value(value) : 0;

	if (!value)
		return "-";
	if (json_is_string(value))
		return json_string_value(value);
	if (json_is_array(value))
		return *ret_allocated = json_join(value, ",");
	if (json_is_boolean(value))
		return json_is_true(value) ? "yes" : "no";
	switch (kind) {
	case TABLE_HEX16:
		snprintf(buffer, TEXT_BYTES, "0x%04" PRIx64, number);
		return buffer;
	case TABLE_DURATION:
		return text_duration(buffer, number);
	case TABLE_TIME:
		return text_time(buffer, number, out->full);
	case TABLE_RATE:
		return text_rate(buffer, number);
	case TABLE_OUT_PORT:
		snprintf(buffer, TEXT_BYTES, "%s %" PRIu64, output_glyph(out, GLYPH_ARROW), number);
		return buffer;
	default:
		snprintf(buffer, TEXT_BYTES, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
		return buffer;
	}
}

static int cell_make(const struct output *out, const struct table_column *spec, const json_t *row,
		     struct cell *ret)
{
	_cleanup_free_ char *allocated = NULL;
	char buffer[TEXT_BYTES], *printable;
	const char *text = cell_text(out, spec->kind, json_at(row, spec->path), buffer, &allocated);

	if (!text)
		return -ENOMEM;
	printable = text_printable(*text ? text : "-", out->utf8);
	if (!printable)
		return -ENOMEM;
	ret->text = printable;
	ret->width = text_width(printable);
	ret->style = spec->style ? spec->style(row) : STYLE_NONE;
	return 0;
}

static int make_room(struct table *table)
{
	size_t n = 2 * table->n_allocated + 64 * table->n_columns;
	struct cell *cells;

	if (table->n_cells + table->n_columns <= table->n_allocated)
		return 0;
	cells = reallocarray(table->cells, n, sizeof(*cells));
	if (!cells)
		return -ENOMEM;
	table->cells = cells;
	table->n_allocated = n;
	return 0;
}

static void begin_json(struct table *table)
{
	if (!table->begun)
		output_json_begin(table->out, table->name);
	table->begun = true;
}

int table_add(struct table *table, const json_t *row)
{
	table->n_rows++;
	if (table->out->json != JSON_OFF) {
		begin_json(table);
		output_json_item(table->out, row);
		return -table->out->error;
	}

	if (make_room(table) < 0)
		return output_fail(table->out, ENOMEM);
	for (size_t i = 0; i < table->n_columns; i++) {
		struct column *column = &table->columns[i];
		struct cell *cell = &table->cells[table->n_cells];

		if (cell_make(table->out, column->spec, row, cell) < 0)
			return output_fail(table->out, ENOMEM);
		table->n_cells++;
		if (cell->width > column->width)
			column->width = cell->width;
	}
	return 0;
}

/* Take columns off the widest that may be cut until the line fits, or nothing can be cut. */
static void fit(struct table *table)
{
	size_t total = GAP * (table->n_columns - 1), limit = table->out->columns;

	for (size_t i = 0; i < table->n_columns; i++)
		total += table->columns[i].width;
	while (limit > 0 && total > limit) {
		struct column *widest = NULL;

		for (size_t i = 0; i < table->n_columns; i++) {
			struct column *column = &table->columns[i];

			if ((column->spec->flags & TABLE_CUT) && column->width > CUT_LEAST &&
			    (!widest || column->width > widest->width))
				widest = column;
		}
		if (!widest)
			return;
		widest->width--;
		total--;
	}
}

static void print_cell(struct table *table, size_t index, const char *text, size_t width,
		       enum style style)
{
	const struct column *column = &table->columns[index];
	bool last = index + 1 == table->n_columns;
	_cleanup_free_ char *cut = NULL;
	size_t padding;

	if (width > column->width) {
		cut = text_cut(text, column->width, table->out->utf8);
		if (cut)
			text = cut;
		width = text_width(text);
	}
	padding = column->width > width ? column->width - width : 0;
	if (is_right_aligned(column->spec->kind))
		fprintf(table->out->file, "%*s", (int)padding, "");
	output_style(table->out, style);
	fputs(text, table->out->file);
	output_style_end(table->out, style);
	if (!last && !is_right_aligned(column->spec->kind))
		fprintf(table->out->file, "%*s", (int)padding, "");
	if (!last)
		fprintf(table->out->file, "%*s", GAP, "");
}

static void print_text(struct table *table)
{
	struct output *out = table->out;

	fit(table);
	if (out->legend && table->n_rows > 0) {
		for (size_t i = 0; i < table->n_columns; i++) {
			const char *title = table->columns[i].spec->title;

			print_cell(table, i, title, text_width(title), STYLE_HEADER);
		}
		putc('\n', out->file);
	}
	for (size_t i = 0; i < table->n_cells; i += table->n_columns) {
		for (size_t j = 0; j < table->n_columns; j++) {
			const struct cell *cell = &table->cells[i + j];

			print_cell(table, j, cell->text, cell->width, cell->style);
		}
		putc('\n', out->file);
	}
	if (out->legend && table->noun)
		fprintf(out->file, "%s%zu %s%s\n", table->n_rows ? "\n" : "", table->n_rows,
			table->noun, table->n_rows == 1 ? "" : "s");
}

void table_finish(struct table *table)
{
	if (table->out->json == JSON_OFF) {
		print_text(table);
		return;
	}
	begin_json(table);
	output_json_end(table->out);
}
