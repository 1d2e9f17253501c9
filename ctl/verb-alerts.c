// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// ibsmctl alerts: what is wrong, since when, what it rests on, and what to do about it.
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/alert.h"
#include "ctl/client.h"
#include "ctl/json.h"
#include "ctl/text.h"
#include "util/cleanup.h"

static enum style severity_style(const char *severity)
{
	if (strcmp(severity, "critical") == 0)
		return STYLE_RED;
	return strcmp(severity, "warning") == 0 ? STYLE_YELLOW : STYLE_BOLD;
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), tail = strlen(end);

	return length >= tail && strcmp(text + length - tail, end) == 0;
}

/* What a field of the evidence says, by its name's unit. NULL without memory. */
static char *field_text(const char *name, const json_t *value, bool full)
{
	char buffer[TEXT_BYTES];
	uint64_t number = json_is_integer(value) && json_integer_value(value) > 0
				  ? (uint64_t)json_integer_value(value)
				  : 0;

	if (json_is_integer(value) && ends_with(name, "_realtime_usec"))
		return strdup(text_time(buffer, number, full));
	if (json_is_integer(value) && ends_with(name, "_usec"))
		return strdup(text_duration(buffer, number));
	if (json_is_integer(value) && ends_with(name, "_mbps"))
		return strdup(text_rate(buffer, number));
	if (json_is_string(value))
		return strdup(json_string_value(value));
	if (json_is_boolean(value))
		return strdup(json_is_true(value) ? "yes" : "no");
	if (json_is_array(value))
		return json_join(value, ", ");
	return json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
}

static void print_evidence(struct output *out, const json_t *evidence)
{
	const char *name;
	json_t *value;

	json_object_foreach ((json_t *)evidence, name, value) {
		_cleanup_free_ char *text = field_text(name, value, out->full);

		if (text)
			output_wrap(out, STYLE_GREY, 6, "%s: %s", name, text);
		else
			output_fail(out, ENOMEM);
	}
}

static void print_marks(struct output *out, const json_t *alert)
{
	const json_t *silence = json_at(alert, "silenced"), *ack = json_at(alert, "acknowledged");
	char time[TEXT_BYTES];

	if (silence)
		output_line(
			out, STYLE_NONE,
			"    silenced until %s by uid %" PRIu64 " (silence %" PRIu64 "): %s",
			text_time(time, json_count_at(silence, "until_realtime_usec"), out->full),
			json_count_at(silence, "uid"), json_count_at(silence, "id"),
			json_text_at(silence, "reason"));
	if (ack)
		output_wrap(out, STYLE_NONE, 4, "acknowledged %s by uid %" PRIu64 ": %s",
			    text_time(time, json_count_at(ack, "realtime_usec"), out->full),
			    json_count_at(ack, "uid"), json_text_at(ack, "reason"));
}

void alert_print(struct output *out, const json_t *alert)
{
	const char *severity = json_text_at(alert, "severity");
	uint64_t cleared = json_count_at(alert, "cleared_realtime_usec");
	uint64_t count = json_count_at(alert, "count");
	char since[TEXT_BYTES], end[TEXT_BYTES], times[TEXT_BYTES] = "";
	unsigned columns = out->columns;

	out->columns = 0; /* the id is not cut off */
	output_add(out, cleared ? STYLE_GREY : severity_style(severity), "%s", severity);
	output_add(out, STYLE_BOLD, " %s", json_text_at(alert, "kind"));
	output_add(out, STYLE_NONE, " %s", json_text_at(alert, "subject"));
	output_line(out, STYLE_GREY, " [%s]", json_text_at(alert, "id"));
	out->columns = columns;
	output_wrap(out, STYLE_NONE, 4, "%s", json_text_at(alert, "message"));
	if (count > 1)
		snprintf(times, sizeof(times), ", %" PRIu64 " times", count);
	output_wrap(out, STYLE_NONE, 4, "%s %s%s %s%s", cleared ? "from" : "since",
		    text_time(since, json_count_at(alert, "since_realtime_usec"), out->full),
		    cleared ? " to" : ", last",
		    text_time(end, cleared ? cleared : json_count_at(alert, "last_realtime_usec"),
			      out->full),
		    times);
	print_marks(out, alert);
	if (out->full)
		print_evidence(out, json_at(alert, "evidence"));
	if (!cleared && json_at(alert, "advice"))
		output_wrap(out, STYLE_NONE, 4, "%s %s", output_glyph(out, GLYPH_ARROW),
			    json_text_at(alert, "advice"));
}

json_t *alert_item(const struct output *out, const json_t *alert)
{
	static const char *const same[] = {"count", "message", "evidence"};
	char since[TEXT_BYTES], last[TEXT_BYTES], cleared[TEXT_BYTES];
	json_t *item = json_pack(
		"{s:s, s:s, s:s, s:s, s:s}", "kind", json_text_at(alert, "kind"), "severity",
		json_text_at(alert, "severity"), "subject", json_text_at(alert, "subject"), "since",
		text_time_utc(since, json_count_at(alert, "since_realtime_usec")), "last",
		text_time_utc(last, json_count_at(alert, "last_realtime_usec")));

	if (!item)
		return NULL;
	for (size_t i = 0; i < ELEMENTSOF(same); i++)
		json_object_set_new(item, same[i], json_incref(json_object_get(alert, same[i])));
	if (json_at(alert, "cleared_realtime_usec"))
		json_object_set_new(
			item, "cleared",
			json_string(text_time_utc(cleared,
						  json_count_at(alert, "cleared_realtime_usec"))));
	if (out->full)
		json_object_update_missing(item, (json_t *)alert);
	return item;
}

int alerts_print_json(struct output *out, const json_t *alerts)
{
	const json_t *alert;
	size_t i;

	output_json_begin(out, "alerts");
	json_array_foreach (alerts, i, alert) {
		json_t *item = alert_item(out, alert);

		if (!item)
			return output_fail(out, ENOMEM);
		output_json_item(out, item);
		json_decref(item);
	}
	output_json_end(out);
	return -out->error;
}

static int collect(void *userdata, const json_t *alert)
{
	return json_array_append(userdata, (json_t *)alert) < 0 ? -ENOMEM : 0;
}

/* "3 open alerts, 1 silenced, 1 acknowledged; 2 cleared of late". */
static void print_counts(struct output *out, const json_t *alerts)
{
	size_t open = 0, cleared = 0, silenced = 0, acknowledged = 0, i;
	const json_t *alert;

	json_array_foreach (alerts, i, alert) {
		cleared += json_at(alert, "cleared_realtime_usec") != NULL;
		open += json_at(alert, "cleared_realtime_usec") == NULL;
		silenced += json_at(alert, "silenced") != NULL;
		acknowledged += json_at(alert, "acknowledged") != NULL;
	}
	if (open + cleared > 0)
		output_end(out);
	output_add(out, STYLE_NONE, "%zu open alert%s", open, open == 1 ? "" : "s");
	if (silenced)
		output_add(out, STYLE_NONE, ", %zu silenced", silenced);
	if (acknowledged)
		output_add(out, STYLE_NONE, ", %zu acknowledged", acknowledged);
	if (cleared)
		output_add(out, STYLE_NONE, "; %zu cleared of late", cleared);
	output_end(out);
}

static int print_text(struct ctl *ctl, const json_t *alerts)
{
	struct output *out = &ctl->out;
	const json_t *alert;
	size_t i;

	if (ctl->page)
		output_start_pager(out);
	json_array_foreach (alerts, i, alert)
		alert_print(out, alert);
	if (out->legend)
		print_counts(out, alerts);
	return -out->error;
}

int verb_alerts(struct ctl *ctl, int n_args, char **args)
{
	json_t *alerts = json_array();
	int r;

	(void)n_args;
	(void)args;
	r = client_stream(ctl, "ListAlerts",
			  ctl->all ? json_pack("{s:b}", "all", 1) : json_object(), "alerts",
			  collect, alerts);
	if (r == 0)
		r = ctl->out.json != JSON_OFF ? alerts_print_json(&ctl->out, alerts)
					      : print_text(ctl, alerts);
	json_decref(alerts);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
