// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// ibsmctl sweeps --stats: how many, how long, why and with what end; traps by number and sender.
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/client.h"
#include "ctl/json.h"
#include "ctl/text.h"
#include "util/cleanup.h"

static const struct table_column phase_columns[] = {
	{.title = "PHASE", .path = "name"},
	{.title = "SWEEPS", .path = "duration.samples", .kind = TABLE_NUMBER},
	{.title = "MIN", .path = "duration.min_usec", .kind = TABLE_DURATION},
	{.title = "MEDIAN", .path = "duration.median_usec", .kind = TABLE_DURATION},
	{.title = "P95", .path = "duration.p95_usec", .kind = TABLE_DURATION},
	{.title = "MAX", .path = "duration.max_usec", .kind = TABLE_DURATION},
};

static const struct table_column number_columns[] = {
	{.title = "TRAP", .path = "number", .kind = TABLE_NUMBER},
	{.title = "COUNT", .path = "count", .kind = TABLE_NUMBER},
	{.title = "LAST", .path = "last_realtime_usec", .kind = TABLE_TIME},
	{.title = "WHAT", .path = "name", .flags = TABLE_CUT},
	{.title = "VENDOR", .path = "vendor", .kind = TABLE_YES_NO, .flags = TABLE_FULL},
};

static const struct table_column sender_columns[] = {
	{.title = "SENDER", .path = "name", .flags = TABLE_CUT},
	{.title = "LID", .path = "lid", .kind = TABLE_NUMBER},
	{.title = "COUNT", .path = "count", .kind = TABLE_NUMBER},
	{.title = "TRAP", .path = "last_trap", .kind = TABLE_NUMBER},
	{.title = "PORT", .path = "likely_port", .kind = TABLE_NUMBER},
	{.title = "LAST", .path = "last_realtime_usec", .kind = TABLE_TIME},
	{.title = "GUID", .path = "guid", .flags = TABLE_FULL},
	{.title = "ERROR", .path = "error", .kind = TABLE_NUMBER, .flags = TABLE_FULL},
};

static int print_table(struct output *out, const json_t *rows, const struct table_column *columns,
		       size_t n_columns)
{
	struct table *table;
	const json_t *row;
	size_t i;
	int r;

	if (json_array_size(rows) == 0)
		return 0;
	output_end(out);
	r = table_new(out, "", NULL, columns, n_columns, &table);
	if (r < 0)
		return r;
	json_array_foreach (rows, i, row)
		table_add(table, row);
	table_finish(table);
	table_free(table);
	return -out->error;
}
#define PRINT_TABLE(out, rows, columns) print_table(out, rows, columns, ELEMENTSOF(columns))

/* The phases, and behind them the whole. */
static json_t *with_whole(const json_t *sweeps)
{
	json_t *rows = json_copy(json_at(sweeps, "phases"));

	if (json_at(sweeps, "duration"))
		json_array_append_new(rows, json_pack("{s:s, s:O}", "name", "whole", "duration",
						      json_at(sweeps, "duration")));
	return rows;
}

/* "Results: 10 up, 2 aborted": those that there were. */
static void print_counts(struct output *out, const char *label, const json_t *counts,
			 const char *name)
{
	const json_t *item;
	size_t i, n = 0;

	output_add(out, STYLE_NONE, "%s:", label);
	json_array_foreach (counts, i, item) {
		uint64_t count = json_count_at(item, "count");

		if (count > 0)
			output_add(out, STYLE_NONE, "%s %" PRIu64 " %s", n++ ? "," : "", count,
				   json_text_at(item, name));
	}
	output_line(out, STYLE_NONE, "%s", n ? "" : " none");
}

static void print_sweeps(struct output *out, const json_t *sweeps)
{
	char window[TEXT_BYTES], usual[TEXT_BYTES], deviation[TEXT_BYTES];

	output_line(out, STYLE_BOLD, "Sweeps of the last %s",
		    text_duration(window, json_count_at(sweeps, "window_usec")));
	output_line(out, STYLE_NONE,
		    "%" PRIu64 " heavy, %.3g an hour, and %" PRIu64 " reroute%s; %" PRIu64
		    " LFT blocks rewritten",
		    json_count_at(sweeps, "heavy"),
		    json_number_value(json_at(sweeps, "heavy_per_hour")),
		    json_count_at(sweeps, "reroutes"),
		    json_count_at(sweeps, "reroutes") == 1 ? "" : "s",
		    json_count_at(sweeps, "lft_blocks"));
	print_counts(out, "Results", json_at(sweeps, "results"), "result");
	print_counts(out, "Causes", json_at(sweeps, "causes"), "cause");
	print_counts(out, "Results since ever", json_at(sweeps, "totals"), "result");
	if (json_at(sweeps, "usual_usec"))
		output_line(
			out, STYLE_NONE, "Usual: %s, half of them within %s of it",
			text_duration(usual, json_count_at(sweeps, "usual_usec")),
			text_duration(deviation, json_count_at(sweeps, "usual_deviation_usec")));
}

static void print_over(struct output *out, const json_t *traps)
{
	uint64_t numbers = json_count_at(traps, "numbers_over");
	uint64_t senders = json_count_at(traps, "senders_over");

	if (numbers > 0)
		output_line(out, STYLE_NONE, "and %" PRIu64 " traps of further numbers", numbers);
	if (senders > 0)
		output_line(out, STYLE_NONE, "and senders that made room, %" PRIu64 " times",
			    senders);
}

static int print_text(struct ctl *ctl, const json_t *reply)
{
	const json_t *sweeps = json_at(reply, "sweeps"), *traps = json_at(reply, "traps");
	struct output *out = &ctl->out;
	json_t *phases = with_whole(sweeps);
	int r;

	if (ctl->page)
		output_start_pager(out);
	print_sweeps(out, sweeps);
	r = PRINT_TABLE(out, phases, phase_columns);
	json_decref(phases);
	if (r < 0)
		return r;
	output_end(out);
	output_line(out, STYLE_BOLD, "Traps since ever: %" PRIu64, json_count_at(traps, "total"));
	r = PRINT_TABLE(out, json_at(traps, "numbers"), number_columns);
	if (r == 0)
		r = PRINT_TABLE(out, json_at(traps, "senders"), sender_columns);
	print_over(out, traps);
	return r;
}

int verb_sweep_stats(struct ctl *ctl)
{
	json_t *parameters = json_object(), *reply;
	int r;

	if (ctl->window_usec)
		json_object_set_new(parameters, "window_usec",
				    json_integer((json_int_t)ctl->window_usec));
	r = client_call(ctl, "GetSweepStatistics", parameters, &reply);
	if (r < 0)
		return EXIT_FAILURE;
	if (ctl->out.json != JSON_OFF)
		output_json(&ctl->out, reply);
	else
		r = print_text(ctl, reply);
	json_decref(reply);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
