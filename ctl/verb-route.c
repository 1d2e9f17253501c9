// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// ibsmctl route: the way through the switches' forwarding tables, hop by hop.
#include "ctl/client.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/json.h"
#include "util/cleanup.h"

static const struct table_column hop_columns[] = {
	{.title = "HOP", .path = "hop", .kind = TABLE_NUMBER},
	{.title = "NAME", .path = "name", .flags = TABLE_CUT},
	{.title = "TYPE", .path = "type"},
	{.title = "LID", .path = "lid", .kind = TABLE_NUMBER},
	{.title = "IN", .path = "in_port", .kind = TABLE_NUMBER},
	{.title = "OUT", .path = "out_port", .kind = TABLE_OUT_PORT},
	{.title = "GUID", .path = "guid", .flags = TABLE_FULL},
};

static bool is_delivered(const json_t *route)
{
	return strcmp(json_text_at(route, "result"), "delivered") == 0;
}

static void print_result(struct output *out, const json_t *route, size_t n_hops)
{
	const char *reason = json_string_at(route, "reason");

	if (is_delivered(route)) {
		output_line(out, STYLE_GREEN, "delivered over %zu link%s",
			    n_hops > 0 ? n_hops - 1 : 0, n_hops == 2 ? "" : "s");
		return;
	}
	output_line(out, STYLE_RED, "not delivered: %s%s%s", json_text_at(route, "result"),
		    reason ? ": " : "", reason ? reason : "");
}

static int print_route(struct ctl *ctl, const json_t *route)
{
	struct output *out = &ctl->out;
	const json_t *hops = json_at(route, "hops");
	struct table *table;
	json_t *hop;
	size_t i;
	int r = table_new(out, "hops", NULL, hop_columns, ELEMENTSOF(hop_columns), &table);

	if (r < 0)
		return r;
	output_line(out, STYLE_BOLD,
		    "from %s, port %" PRIu64 " (LID %" PRIu64 "), to %s, port %" PRIu64
		    " (LID %" PRIu64 ")",
		    json_text_at(route, "source.name"), json_count_at(route, "source.port"),
		    json_count_at(route, "source_lid"), json_text_at(route, "destination.name"),
		    json_count_at(route, "destination.port"),
		    json_count_at(route, "destination_lid"));
	json_array_foreach (hops, i, hop) {
		if (r == 0 && json_object_set_new(hop, "hop", json_integer((json_int_t)i)) == 0)
			r = table_add(table, hop);
	}
	table_finish(table);
	table_free(table);
	print_result(out, route, json_array_size(hops));
	return r;
}

int verb_route(struct ctl *ctl, int n_args, char **args)
{
	json_t *reply;
	int r;

	(void)n_args;
	r = client_call(ctl, "GetRoute",
			json_pack("{s:s, s:s}", "source", args[0], "destination", args[1]), &reply);
	if (r < 0)
		return EXIT_FAILURE;
	if (ctl->out.json != JSON_OFF)
		output_json(&ctl->out, json_at(reply, "route"));
	else
		r = print_route(ctl, json_at(reply, "route"));
	json_decref(reply);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
