// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// ibsmctl sm, sms: the subnet managers, who was master, where they stand, how they are configured.
#include "ctl/client.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/json.h"
#include "ctl/text.h"
#include "util/cleanup.h"

#define CHANGES_DEFAULT 10

static enum style state_style(const json_t *row)
{
	const char *state = json_text_at(row, "state");

	if (strcmp(state, "master") == 0)
		return STYLE_GREEN;
	return strcmp(state, "unknown") == 0 ? STYLE_YELLOW : STYLE_NONE;
}

static const struct table_column sm_columns[] = {
	{.title = "NODE", .path = "node", .flags = TABLE_CUT},
	{.title = "LID", .path = "lid", .kind = TABLE_NUMBER},
	{.title = "STATE", .path = "state", .style = state_style},
	{.title = "PRIORITY", .path = "priority", .kind = TABLE_NUMBER},
	{.title = "SELF", .path = "self", .kind = TABLE_YES_NO},
	{.title = "ACTCOUNT", .path = "act_count", .kind = TABLE_NUMBER},
	{.title = "ALIVE", .path = "responsive", .kind = TABLE_YES_NO},
	{.title = "LOCAL", .path = "local", .kind = TABLE_YES_NO},
	{.title = "GUID", .path = "guid", .flags = TABLE_FULL},
	{.title = "NODE GUID", .path = "node_guid", .flags = TABLE_FULL},
	{.title = "FIRST SEEN",
	 .path = "first_seen_realtime_usec",
	 .kind = TABLE_TIME,
	 .flags = TABLE_FULL},
	{.title = "LAST SEEN",
	 .path = "last_seen_realtime_usec",
	 .kind = TABLE_TIME,
	 .flags = TABLE_FULL},
	{.title = "RESTARTS", .path = "restarts", .kind = TABLE_NUMBER, .flags = TABLE_FULL},
};

int verb_sms(struct ctl *ctl, int n_args, char **args)
{
	static const struct client_list list = {
		.method = "ListSubnetManagers",
		.member = "subnet_managers",
		.name = "sms",
		.noun = "subnet manager",
		.columns = sm_columns,
		.n_columns = ELEMENTSOF(sm_columns),
	};

	(void)n_args;
	(void)args;
	return client_print_list(ctl, &list, json_object(), NULL);
}

static const struct table_column view_columns[] = {
	{.title = "NODE", .path = "node", .flags = TABLE_CUT},
	{.title = "VIEW", .path = "view"},
	{.title = "STATE", .path = "state", .style = state_style},
	{.title = "PRIORITY", .path = "priority", .kind = TABLE_NUMBER},
	{.title = "LID", .path = "lid", .kind = TABLE_NUMBER},
	{.title = "ACTCOUNT", .path = "act_count", .kind = TABLE_NUMBER},
	{.title = "AGE", .path = "age_usec", .kind = TABLE_DURATION},
	{.title = "UNANSWERED", .path = "missed", .kind = TABLE_NUMBER},
	{.title = "WHY", .path = "missed_status", .flags = TABLE_FULL},
	{.title = "RTT", .path = "rtt_usec", .kind = TABLE_DURATION, .flags = TABLE_FULL},
};

static enum style reason_style(const json_t *row)
{
	return strcmp(json_text_at(row, "reason"), "failover") == 0 ? STYLE_YELLOW : STYLE_NONE;
}

static const struct table_column change_columns[] = {
	{.title = "TIME", .path = "realtime_usec", .kind = TABLE_TIME},
	{.title = "FROM", .path = "from_name", .flags = TABLE_CUT},
	{.title = "TO", .path = "to_name", .flags = TABLE_CUT},
	{.title = "WHY", .path = "reason", .style = reason_style},
	{.title = "GAP", .path = "gap_usec", .kind = TABLE_DURATION},
	{.title = "FROM GUID", .path = "from", .flags = TABLE_FULL},
	{.title = "PRIORITY", .path = "from_priority", .kind = TABLE_NUMBER, .flags = TABLE_FULL},
	{.title = "TO GUID", .path = "to", .flags = TABLE_FULL},
	{.title = "PRIORITY", .path = "to_priority", .kind = TABLE_NUMBER, .flags = TABLE_FULL},
};

static enum style place_style(const json_t *row)
{
	return json_array_size(json_at(row, "reasons")) > 0 ? STYLE_YELLOW : STYLE_NONE;
}

static const struct table_column place_columns[] = {
	{.title = "NODE", .path = "node", .flags = TABLE_CUT},
	{.title = "SWITCH", .path = "switch", .flags = TABLE_CUT},
	{.title = "PORT", .path = "switch_port", .kind = TABLE_NUMBER},
	{.title = "HOPS", .path = "hops", .kind = TABLE_NUMBER},
	{.title = "RATE", .path = "rate_mbps", .kind = TABLE_RATE},
	{.title = "POSSIBLE", .path = "best_rate_mbps", .kind = TABLE_RATE, .flags = TABLE_FULL},
	{.title = "FINDINGS", .path = "reasons", .style = place_style},
};

/* A heading, and rows below it. */
static int print_table(struct output *out, const char *heading, const json_t *rows,
		       const struct table_column *columns, size_t n_columns)
{
	struct table *table;
	const json_t *row;
	size_t i;
	int r;

	output_line(out, STYLE_BOLD, "%s", heading);
	if (json_array_size(rows) == 0)
		output_line(out, STYLE_NONE, "none");
	r = table_new(out, "", NULL, columns, n_columns, &table);
	if (r < 0)
		return r;
	json_array_foreach (rows, i, row)
		table_add(table, row);
	table_finish(table);
	table_free(table);
	output_end(out);
	return -out->error;
}
#define PRINT_TABLE(out, heading, rows, columns)                                                   \
	print_table(out, heading, rows, columns, ELEMENTSOF(columns))

/* As text, what has no name is called by its GUID. */
static void name_rows(json_t *rows, const char *name, const char *guid)
{
	json_t *row;
	size_t i;

	json_array_foreach (rows, i, row)
		if (!json_at(row, name) && json_at(row, guid))
			json_object_set(row, name, json_at(row, guid));
}

/* A row for each view of each SM. */
static json_t *all_views(const json_t *sms)
{
	json_t *rows = json_array();
	const json_t *sm, *view;
	size_t i, j;

	json_array_foreach (sms, i, sm) {
		json_array_foreach (json_at(sm, "views"), j, view) {
			json_t *row = json_copy((json_t *)view);

			json_object_set(row, "node", json_at(sm, "node"));
			json_array_append_new(rows, row);
		}
	}
	return rows;
}

static void print_head(struct output *out, const json_t *mastership)
{
	const char *master = json_string_at(mastership, "master_name");
	double penalty = json_number_value(json_at(mastership, "penalty"));
	uint64_t changes = json_count_at(mastership, "changes_total");

	if (!master)
		master = json_string_at(mastership, "master");
	if (!master)
		output_line(out, STYLE_YELLOW, "No master has been seen yet");
	else if (json_bool_at(mastership, "has_master"))
		output_line(out, STYLE_NONE, "Master: %s", master);
	else
		output_line(out, STYLE_RED, "There is no master; the last one was %s", master);
	output_line(out, STYLE_NONE,
		    "Masters seen: %" PRIu64 "; penalty of changes %.0f, flapping from %.0f on",
		    changes, penalty, json_number_value(json_at(mastership, "suppress")));
}

/* Whether we ask the SMs ourselves, and what of it. */
static void print_outside(struct output *out, const json_t *outside)
{
	const char *state = json_string_at(outside, "state"), *why = json_string_at(outside, "why");
	const char *port = json_string_at(outside, "port");

	if (!state)
		return;
	output_add(out, STYLE_NONE, "Outside view: ");
	output_add(out, strcmp(state, "asking") == 0 ? STYLE_NONE : STYLE_YELLOW, "%s", state);
	if (port)
		output_add(out, STYLE_NONE, " from %s", port);
	if (why)
		output_add(out, STYLE_NONE, ", %s", why);
	if (json_count_at(outside, "queries") > 0)
		output_add(out, STYLE_NONE, "; %" PRIu64 " of %" PRIu64 " queries answered",
			   json_count_at(outside, "answers"), json_count_at(outside, "queries"));
	output_end(out);
}

static void print_place_remarks(struct output *out, const json_t *placement)
{
	char rate[TEXT_BYTES];

	if (json_at(placement, "best_hops"))
		output_line(out, STYLE_NONE, "%s %" PRIu64 " hops to the farthest switch, from %s",
			    json_bool_at(placement, "best_is_exact") ? "Best possible:"
								     : "Best that was looked at:",
			    json_count_at(placement, "best_hops"),
			    json_text_at(placement, "best_switch"));
	if (json_at(placement, "usual_rate_mbps"))
		output_line(out, STYLE_NONE, "End ports usually run at %s",
			    text_rate(rate, json_count_at(placement, "usual_rate_mbps")));
	output_end(out);
}

static void print_check(struct output *out, const json_t *check)
{
	bool failed = json_bool_at(check, "failed");

	output_wrap(out, failed ? STYLE_YELLOW : STYLE_NONE, 0, "%s %s: %s",
		    failed			  ? json_text_at(check, "severity")
		    : json_bool_at(check, "fact") ? "fact"
						  : "ok",
		    json_text_at(check, "check"), json_text_at(check, "text"));
	if (failed || out->full) {
		output_wrap(out, STYLE_NONE, 4, "%s", json_text_at(check, "reason"));
		output_wrap(out, STYLE_GREY, 4, "%s", json_text_at(check, "source"));
	}
}

static void print_checks(struct output *out, const json_t *checks)
{
	size_t i, passed = 0;
	const json_t *check;

	output_line(out, STYLE_BOLD, "Options of opensm");
	json_array_foreach (checks, i, check) {
		if (json_bool_at(check, "failed") || json_bool_at(check, "fact") || out->full)
			print_check(out, check);
		else
			passed++;
	}
	if (passed > 0)
		output_line(out, STYLE_NONE, "%zu further check%s passed", passed,
			    passed == 1 ? "" : "s");
	if (json_array_size(checks) == 0)
		output_line(out, STYLE_NONE, "none is known yet");
}

static int print_text(struct ctl *ctl, const json_t *sm)
{
	json_t *sms = json_at(sm, "sms"), *changes = json_at(sm, "mastership.changes"), *views;
	const json_t *placement = json_at(sm, "placement");
	struct output *out = &ctl->out;
	int r;

	name_rows(sms, "node", "guid");
	name_rows(changes, "from_name", "from");
	name_rows(changes, "to_name", "to");
	name_rows(json_at(placement, "places"), "node", "guid");
	views = all_views(sms);
	if (ctl->page)
		output_start_pager(out);
	print_head(out, json_at(sm, "mastership"));
	print_outside(out, json_at(sm, "outside"));
	output_end(out);
	r = PRINT_TABLE(out, "Subnet managers", sms, sm_columns);
	if (r == 0)
		r = PRINT_TABLE(out, "What each view says", views, view_columns);
	if (r == 0)
		r = PRINT_TABLE(out, "Changes of the master, the last one first", changes,
				change_columns);
	if (r == 0)
		r = PRINT_TABLE(out, "Places", json_at(placement, "places"), place_columns);
	if (r == 0) {
		print_place_remarks(out, placement);
		print_checks(out, json_at(sm, "checks"));
	}
	json_decref(views);
	return r;
}

/* What several methods tell, in one object. */
static int gather(struct ctl *ctl, json_t *sm)
{
	uint64_t count = ctl->count		     ? ctl->count
			 : ctl->out.json != JSON_OFF ? CTL_COUNT_ALL
						     : CHANGES_DEFAULT;
	const struct {
		const char *method, *member, *name;
		json_t *parameters;
	} parts[] = {
		{"ListSubnetManagers", "subnet_managers", "sms", json_object()},
		{"GetMastership", "mastership", "mastership",
		 count == CTL_COUNT_ALL ? json_object()
					: json_pack("{s:I}", "count", (json_int_t)count)},
		{"GetPlacement", "placement", "placement", json_object()},
		{"ListOptionChecks", "checks", "checks", json_object()},
	};
	int r = 0;

	for (size_t i = 0; i < ELEMENTSOF(parts); i++) {
		json_t *reply;

		if (r < 0) {
			json_decref(parts[i].parameters);
			continue;
		}
		r = client_call(ctl, parts[i].method, parts[i].parameters, &reply);
		if (r < 0)
			continue;
		json_object_set(sm, parts[i].name, json_at(reply, parts[i].member));
		if (json_at(reply, "outside"))
			json_object_set(sm, "outside", json_at(reply, "outside"));
		json_decref(reply);
	}
	return r;
}

int verb_sm(struct ctl *ctl, int n_args, char **args)
{
	json_t *sm = json_object();
	int r = gather(ctl, sm);

	(void)n_args;
	(void)args;
	if (r == 0 && ctl->out.json != JSON_OFF)
		output_json(&ctl->out, sm);
	else if (r == 0)
		r = print_text(ctl, sm);
	json_decref(sm);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
