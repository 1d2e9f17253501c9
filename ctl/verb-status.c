// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// ibsmctl status: the whole on one screen.
#include "ctl/client.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ctl/json.h"
#include "ctl/text.h"
#include "util/cleanup.h"

#define USEC_PER_SEC UINT64_C(1000000)
#define CLEAR_SCREEN "\033[H\033[2J"

/* What the JSON object has in any case: null where ibsmd knows nothing. */
static const struct {
	const char *object, *member;
} promised[] = {
	{"fabric", "switches"},
	{"fabric", "cas"},
	{"fabric", "routers"},
	{"fabric", "links"},
	{"fabric", "lids"},
	{"sm", "guid"},
	{"sm", "state"},
	{"sm", "priority"},
	{"sm", "lid"},
	{"sm", "node"},
	{"plugin", "connected"},
	{"plugin", "events_received"},
	{"plugin", "events_dropped"},
	{"sweep", "count"},
	{"sweep", "last_duration_usec"},
	{"sweep", "last_result"},
	{"routing", "engines_configured"},
	{"routing", "engine_used"},
};

static void complete(json_t *status)
{
	for (size_t i = 0; i < ELEMENTSOF(promised); i++) {
		json_t *object = json_at(status, promised[i].object);

		if (!object) {
			object = json_object();
			json_object_set_new(status, promised[i].object, object);
		}
		if (!json_object_get(object, promised[i].member))
			json_object_set_new(object, promised[i].member, json_null());
	}
	if (!json_at(status, "alerts"))
		json_object_set_new(status, "alerts", json_array());
	if (!json_object_get(status, "health"))
		json_object_set_new(status, "health", json_string("unknown"));
}

/* For "%" PRIu64 " %s": a number with its noun. */
#define COUNTED(n, one, many) (n), ((n) == 1 ? (one) : (many))

static enum style health_style(const char *health)
{
	if (strcmp(health, "ok") == 0)
		return STYLE_GREEN;
	if (strcmp(health, "critical") == 0)
		return STYLE_RED;
	return strcmp(health, "warning") == 0 || strcmp(health, "notice") == 0 ? STYLE_YELLOW
									       : STYLE_GREY;
}

/* Why the health is what it is: the first alert of that severity, or what is missing. */
static const char *health_reason(const json_t *status, const char *health)
{
	const json_t *alert;
	size_t i;

	json_array_foreach (json_at(status, "alerts"), i, alert) {
		if (strcmp(json_text_at(alert, "severity"), health) == 0 &&
		    !json_at(alert, "silenced"))
			return json_text_at(alert, "message");
	}
	if (strcmp(health, "ok") == 0)
		return json_count_at(status, "alert_counts.silenced") > 0
			       ? "nothing is wrong but what is silenced"
			       : "nothing is wrong";
	if (strcmp(health, "unknown") != 0)
		return "see the alerts";
	return json_bool_at(status, "plugin.connected") ? "opensm has not finished a sweep yet"
							: "no opensm with the plugin is connected";
}

static void print_health(struct output *out, const json_t *status)
{
	const char *health = json_text_at(status, "health");

	output_add(out, health_style(health), "%s %s", output_glyph(out, GLYPH_DOT), health);
	output_line(out, STYLE_NONE, ": %s", health_reason(status, health));
}

static void print_fabric(struct output *out, const json_t *fabric)
{
	char time[TEXT_BYTES];

	output_label(out, "Fabric");
	output_add(out, STYLE_NONE,
		   "%" PRIu64 " %s, %" PRIu64 " %s, %" PRIu64 " %s, %" PRIu64 " %s, %" PRIu64 " %s",
		   COUNTED(json_count_at(fabric, "switches"), "switch", "switches"),
		   COUNTED(json_count_at(fabric, "cas"), "CA", "CAs"),
		   COUNTED(json_count_at(fabric, "routers"), "router", "routers"),
		   COUNTED(json_count_at(fabric, "links"), "link", "links"),
		   COUNTED(json_count_at(fabric, "lids"), "LID", "LIDs"));
	output_end(out);
	if (!out->full || !json_at(fabric, "generation"))
		return;
	output_field(out, "",
		     "%" PRIu64 " %s, %" PRIu64 " multicast %s, %" PRIu64 " %s, subnet prefix %s",
		     COUNTED(json_count_at(fabric, "ports"), "port", "ports"),
		     COUNTED(json_count_at(fabric, "groups"), "group", "groups"),
		     COUNTED(json_count_at(fabric, "partitions"), "partition", "partitions"),
		     json_text_at(fabric, "subnet_prefix"));
	output_field(out, "", "snapshot %" PRIu64 " of %s, %" PRIu64 " bytes",
		     json_count_at(fabric, "generation"),
		     text_time(time, json_count_at(fabric, "realtime_usec"), true),
		     json_count_at(fabric, "size_bytes"));
}

static void print_sm(struct output *out, const json_t *sm)
{
	const char *guid = json_string_at(sm, "guid");
	const char *name = json_string_at(sm, "node");

	output_label(out, "SM");
	if (!guid) {
		output_line(out, STYLE_NONE, "none is known");
		return;
	}
	output_add(out, STYLE_NONE, "%s, ", name ? name : guid);
	output_add(out,
		   strcmp(json_text_at(sm, "state"), "master") == 0 ? STYLE_NONE : STYLE_YELLOW,
		   "%s", json_text_at(sm, "state"));
	output_add(out, STYLE_NONE, ", priority %" PRIu64, json_count_at(sm, "priority"));
	if (json_at(sm, "lid"))
		output_add(out, STYLE_NONE, ", LID %" PRIu64, json_count_at(sm, "lid"));
	if (out->full && name)
		output_add(out, STYLE_NONE, ", GUID %s", guid);
	output_end(out);
}

static void print_routing(struct output *out, const json_t *routing)
{
	_cleanup_free_ char *asked = json_join(json_at(routing, "engines_configured"), ", ");
	const char *used = json_string_at(routing, "engine_used");
	uint64_t mismatches = json_count_at(routing, "lft_mismatches");

	output_label(out, "Routing");
	output_add(out, STYLE_NONE, "%s, asked for: %s", used ? used : "none yet",
		   asked && *asked ? asked : "opensm's default");
	if (json_bool_at(routing, "fallback"))
		output_add(out, STYLE_YELLOW, ": a fallback");
	output_end(out);
	if (mismatches == 0)
		return;
	output_label(out, "");
	output_add(out, STYLE_YELLOW, "the LFTs of %" PRIu64 " %s differ from the computed ones",
		   COUNTED(mismatches, "switch", "switches"));
	output_end(out);
}

static enum style result_style(const char *result)
{
	return strcmp(result, "up") == 0 ? STYLE_NONE : STYLE_YELLOW;
}

static void print_sweep(struct output *out, const json_t *sweep)
{
	const char *result = json_string_at(sweep, "last_result");
	uint64_t count = json_count_at(sweep, "count");
	char buffer[TEXT_BYTES];

	output_label(out, "Last sweep");
	if (result) {
		if (json_at(sweep, "last_number"))
			output_add(out, STYLE_NONE, "%" PRIu64 ", ",
				   json_count_at(sweep, "last_number"));
		output_add(out, result_style(result), "%s", result);
		if (json_at(sweep, "last_duration_usec"))
			output_add(
				out, STYLE_NONE, " after %s",
				text_duration(buffer, json_count_at(sweep, "last_duration_usec")));
		if (json_at(sweep, "last_realtime_usec"))
			output_add(out, STYLE_NONE, ", %s ago",
				   ctl_ago(buffer, json_count_at(sweep, "last_realtime_usec")));
		output_add(out, STYLE_NONE, "; ");
	}
	output_add(out, STYLE_NONE, "%" PRIu64 " seen%s", count,
		   json_bool_at(sweep, "running") ? ", one is running" : "");
	output_end(out);
}

/* The connection that the model follows, or else any. */
static const json_t *plugin_connection(const json_t *plugin)
{
	const json_t *connections = json_at(plugin, "connections"), *connection;
	size_t i;

	json_array_foreach (connections, i, connection) {
		if (json_bool_at(connection, "followed"))
			return connection;
	}
	return json_array_get(connections, 0);
}

static void print_plugin(struct output *out, const json_t *plugin)
{
	const json_t *connection = plugin_connection(plugin);
	size_t n = json_array_size(json_at(plugin, "connections"));
	uint64_t received = json_count_at(plugin, "events_received");
	uint64_t dropped = json_count_at(plugin, "events_dropped");
	uint64_t missed = json_count_at(plugin, "events_missed");
	char callbacks[TEXT_BYTES], lock[TEXT_BYTES];

	output_label(out, "Plugin");
	if (!json_bool_at(plugin, "connected"))
		output_add(out, STYLE_YELLOW, "not connected");
	else if (connection)
		output_add(out, STYLE_NONE, "in %s on %s, pid %" PRIu64,
			   json_text_at(connection, "opensm_version"),
			   json_text_at(connection, "host"), json_count_at(connection, "pid"));
	else
		output_add(out, STYLE_NONE, "connected");
	if (n > 1)
		output_add(out, STYLE_NONE, ", and %zu more", n - 1);
	output_end(out);

	if (out->full && connection)
		output_field(
			out, "", "plugin %s, callbacks took %s so far, snapshots %s at most",
			json_text_at(connection, "plugin_version"),
			text_duration(callbacks, json_count_at(connection, "callback_usec")),
			text_duration(lock, json_count_at(connection, "snapshot_lock_max_usec")));
	output_label(out, "");
	output_add(out, STYLE_NONE, "%" PRIu64 " %s received, ",
		   COUNTED(received, "event", "events"));
	output_add(out, dropped > 0 ? STYLE_YELLOW : STYLE_NONE, "%" PRIu64 " dropped", dropped);
	if (missed > 0)
		output_add(out, STYLE_YELLOW, ", %" PRIu64 " lost on the way", missed);
	output_end(out);
}

static void print_daemon(struct output *out, const json_t *daemon)
{
	const json_t *hit;
	char buffer[TEXT_BYTES];
	size_t i;

	output_field(out, "ibsmd", "%s, pid %" PRIu64 ", up %s, %" PRIu64 " %s",
		     json_text_at(daemon, "version"), json_count_at(daemon, "pid"),
		     ctl_ago(buffer, json_count_at(daemon, "start_realtime_usec")),
		     COUNTED(json_count_at(daemon, "clients"), "client", "clients"));
	json_array_foreach (json_at(daemon, "limits_hit"), i, hit) {
		output_label(out, "");
		output_add(out, STYLE_YELLOW, "%s (%" PRIu64 ") was hit %" PRIu64 " %s",
			   json_text_at(hit, "limit"), json_count_at(hit, "value"),
			   COUNTED(json_count_at(hit, "count"), "time", "times"));
		output_end(out);
	}
}

static void print_alert(struct output *out, const json_t *alert)
{
	const char *severity = json_text_at(alert, "severity");
	char buffer[TEXT_BYTES];

	output_label(out, "");
	output_add(out, health_style(severity), "%-8s", severity);
	output_add(out, STYLE_NONE, " %s (%s", json_text_at(alert, "message"),
		   ctl_ago(buffer, json_count_at(alert, "since_realtime_usec")));
	if (json_count_at(alert, "count") > 1)
		output_add(out, STYLE_NONE, ", %" PRIu64 " times", json_count_at(alert, "count"));
	output_add(out, STYLE_NONE, "%s%s)", json_at(alert, "acknowledged") ? ", acknowledged" : "",
		   json_at(alert, "silenced") ? ", silenced" : "");
	if (out->full)
		output_add(out, STYLE_GREY, " %s %s", json_text_at(alert, "kind"),
			   json_text_at(alert, "subject"));
	output_end(out);
}

/* As many as the screen still has lines for. */
static void print_alerts(struct output *out, const json_t *status)
{
	const json_t *alerts = json_at(status, "alerts"), *alert;
	uint64_t silenced = json_count_at(status, "alert_counts.silenced");
	uint64_t acknowledged = json_count_at(status, "alert_counts.acknowledged");
	size_t n = json_array_size(alerts), room = n, i;

	output_label(out, "Alerts");
	output_add(out, STYLE_NONE, "%" PRIu64 " critical, %" PRIu64 " warning, %" PRIu64 " notice",
		   json_count_at(status, "alert_counts.critical"),
		   json_count_at(status, "alert_counts.warning"),
		   json_count_at(status, "alert_counts.notice"));
	if (silenced > 0)
		output_add(out, STYLE_NONE, "; %" PRIu64 " silenced", silenced);
	if (acknowledged > 0)
		output_add(out, STYLE_NONE, "%s %" PRIu64 " acknowledged", silenced > 0 ? "," : ";",
			   acknowledged);
	output_end(out);
	if (out->lines > 0) /* two are for the remark below and the prompt */
		room = out->lines > out->n_lines + 2 ? out->lines - out->n_lines - 2 : 0;
	json_array_foreach (alerts, i, alert) {
		if (i == room)
			break;
		print_alert(out, alert);
	}
	if (i < n)
		output_field(out, "", "and %zu more; all of them: ibsmctl alerts", n - i);
}

static void print_status(struct output *out, const json_t *status)
{
	out->n_lines = 0;
	print_health(out, status);
	print_fabric(out, json_at(status, "fabric"));
	print_sm(out, json_at(status, "sm"));
	print_routing(out, json_at(status, "routing"));
	print_sweep(out, json_at(status, "sweep"));
	print_plugin(out, json_at(status, "plugin"));
	print_daemon(out, json_at(status, "daemon"));
	print_alerts(out, status);
}

static int show(struct ctl *ctl)
{
	json_t *status;
	int r = client_call(ctl, "GetStatus", json_object(), &status);

	if (r < 0)
		return r;
	complete(status);
	if (ctl->watch && ctl->out.json == JSON_OFF && ctl->out.tty)
		fputs(CLEAR_SCREEN, ctl->out.file);
	if (ctl->out.json != JSON_OFF)
		output_json(&ctl->out, status);
	else
		print_status(&ctl->out, status);
	json_decref(status);
	return output_flush(&ctl->out);
}

int verb_status(struct ctl *ctl, int n_args, char **args)
{
	int r = show(ctl);

	(void)n_args;
	(void)args;
	while (r == 0 && ctl->watch) {
		struct timespec pause = {
			.tv_sec = (time_t)(ctl->watch_usec / USEC_PER_SEC),
			.tv_nsec = (long)(ctl->watch_usec % USEC_PER_SEC * 1000),
		};

		clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
		if (ctl->out.tty)
			output_measure(&ctl->out, ctl->out.fd);
		r = show(ctl);
	}
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
