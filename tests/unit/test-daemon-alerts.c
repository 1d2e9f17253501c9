// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Tests of the built ibsmd: alerts as clients see them, and what operators say of them.
#include "daemon-harness.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/cleanup.h"

#define NOBODY 65534
#define PATIENCE_USEC UINT64_C(60000000)
#define DENIED "org.varlink.service.PermissionDenied"
#define INVALID "org.varlink.service.InvalidParameter"

/* A sweep that ends with errors, and a block that a switch did not acknowledge. */
static void play_trouble(struct player *p, struct builder *b)
{
	build_new_lft(b, LEAF)[3] = 7;
	player_sweep(p, IBSM_WIRE_HEAVY_SWEEP_START, IBSM_SWEEP_FORCE_HEAVY);
	player_sweep(p, IBSM_WIRE_HEAVY_SWEEP_DONE, 0);
	player_sweep(p, IBSM_WIRE_UCAST_ROUTING_DONE, 0);
	player_sweep(p, IBSM_WIRE_SUBNET_UP, IBSM_SWEEP_INITIALIZATION_ERROR);
	player_snapshot(p, b, 0);
}

static const json_t *find(const json_t *alerts, const char *kind)
{
	const json_t *alert;
	size_t i;

	json_array_foreach (alerts, i, alert)
		if (strcmp(json_text_at(alert, "kind"), kind) == 0)
			return alert;
	fail_msg("no alert %s", kind);
	return NULL;
}

static void test_list(void **state)
{
	_cleanup_(build_freep) struct builder *b = fixture_tree();
	json_auto_t *alerts = NULL, *all = NULL, *none = NULL, *kinds = NULL, *later = NULL;
	struct daemon *d = *state;
	const json_t *alert;
	struct player p;

	none = daemon_list(d, "ListAlerts", NULL, "alerts");
	assert_int_equal(json_array_size(none), 0);
	player_init(&p, 1, fixture_host_guid(b, HOST));
	player_connect(&p, d);
	play_trouble(&p, b);
	daemon_await(d, "alert_counts.warning", "2");
	alerts = daemon_list(d, "ListAlerts", NULL, "alerts");
	alert = find(alerts, "lft-mismatch");
	assert_int_equal(strlen(json_text_at(alert, "id")), 16);
	assert_int_equal(strspn(json_text_at(alert, "id"), "0123456789abcdef"), 16);
	assert_true(strlen(json_text_at(alert, "advice")) > 0);
	assert_null(json_object_get(alert, "cleared_realtime_usec"));
	assert_null(json_object_get(alert, "silenced"));
	assert_null(json_object_get(alert, "acknowledged"));
	kinds = daemon_call(d, "ListAlertKinds", NULL);
	assert_string_equal(json_text_at(find(json_at(kinds, "kinds"), "lft-mismatch"), "advice"),
			    json_text_at(alert, "advice"));

	/* Repaired: the list without it, and with it at its end. */
	b->nodes[LEAF].new_lft = (free(b->nodes[LEAF].new_lft), NULL);
	player_whole_sweep(&p, b);
	json_decref(daemon_await_event(d, "alert-cleared", 0));
	later = daemon_list(d, "ListAlerts", "{\"all\": false}", "alerts");
	all = daemon_list(d, "ListAlerts", "{\"all\": true}", "alerts");
	assert_true(json_array_size(all) > json_array_size(later));
	alert = json_array_get(all, json_array_size(all) - 1);
	assert_string_equal(json_text_at(alert, "kind"), "lft-mismatch");
	assert_string_equal(json_text_at(alert, "id"),
			    json_text_at(find(alerts, "lft-mismatch"), "id"));
	assert_true(json_int_at(alert, "cleared_realtime_usec") >=
		    json_int_at(alert, "since_realtime_usec"));
	player_close(&p);
}

static void test_silence(void **state)
{
	_cleanup_(build_freep) struct builder *b = fixture_tree();
	json_auto_t *silence = NULL, *alerts = NULL, *list = NULL, *brief = NULL, *over = NULL;
	struct daemon *d = *state;
	const json_t *alert;
	struct player p;

	player_init(&p, 1, fixture_host_guid(b, HOST));
	player_connect(&p, d);
	play_trouble(&p, b);
	daemon_await(d, "alert_counts.warning", "2");
	daemon_await(d, "health", "\"warning\"");

	/* One of the two: shown, marked, and the other one still counts. */
	silence = daemon_call(d, "Silence",
			      "{\"kind\": \"lft-mismatch\", \"for_usec\": 3600000000, "
			      "\"reason\": \"known\"}");
	assert_int_equal(json_int_at(silence, "matches"), 1);
	assert_int_equal(json_int_at(silence, "silence.uid"), getuid());
	assert_int_equal(json_int_at(silence, "silence.until_realtime_usec") -
				 json_int_at(silence, "silence.since_realtime_usec"),
			 3600000000);
	daemon_await(d, "health", "\"warning\"");
	daemon_await(d, "alert_counts.silenced", "1");
	daemon_await_log(d, "known");
	brief = daemon_call(d, "Silence",
			    "{\"subject\": \"sub*\", \"for_usec\": 2000000, \"reason\": \"b\"}");
	daemon_await(d, "health", "\"ok\"");
	daemon_await(d, "alert_counts.warning", "2");
	daemon_await(d, "alert_counts.silenced", "2");
	alerts = daemon_list(d, "ListAlerts", NULL, "alerts");
	alert = find(alerts, "lft-mismatch");
	assert_string_equal(json_text_at(alert, "silenced.reason"), "known");
	assert_string_equal(json_text_at(find(alerts, "sweep-failed"), "silenced.reason"), "b");

	/* The brief one ends by itself. */
	daemon_await(d, "health", "\"warning\"");
	daemon_await_log(d, "is over");
	list = daemon_call(d, "ListSilences", NULL);
	assert_int_equal(json_array_size(json_at(list, "silences")), 1);

	/* Over kill -9, which comes after it was saved. */
	json_decref(daemon_call(d, "Silence",
				"{\"subject\": \"subnet\", \"for_usec\": 3600000000, "
				"\"reason\": \"c\"}"));
	daemon_await_saved(d, "\"c\"");
	player_close(&p);
	daemon_kill(d);
	daemon_start(d);
	over = daemon_call(d, "ListSilences", NULL);
	assert_int_equal(json_array_size(json_at(over, "silences")), 2);
	assert_true(json_equal(json_at(over, "silences.0"), json_at(list, "silences.0")));
	daemon_await(d, "alert_counts.silenced", "2");
	json_decref(daemon_call(d, "Unsilence", "{\"id\": 3}"));
	daemon_await(d, "alert_counts.silenced", "1");
	json_decref(daemon_call_error(d, "Unsilence", "{\"id\": 3}", "NoSuchSilence"));
}

static void test_acknowledge(void **state)
{
	_cleanup_(build_freep) struct builder *b = fixture_tree();
	json_auto_t *alerts = NULL, *one = NULL, *both = NULL, *after = NULL, *error = NULL;
	struct daemon *d = *state;
	char parameters[256];
	struct player p;

	player_init(&p, 1, fixture_host_guid(b, HOST));
	player_connect(&p, d);
	play_trouble(&p, b);
	daemon_await(d, "alert_counts.warning", "2");
	alerts = daemon_list(d, "ListAlerts", NULL, "alerts");
	snprintf(parameters, sizeof(parameters), "{\"id\": \"%.8s\", \"reason\": \"mine\"}",
		 json_text_at(find(alerts, "lft-mismatch"), "id"));
	one = daemon_call(d, "Acknowledge", parameters);
	assert_int_equal(json_array_size(json_at(one, "alerts")), 1);
	assert_string_equal(json_text_at(one, "alerts.0.kind"), "lft-mismatch");
	assert_string_equal(json_text_at(one, "alerts.0.acknowledged.reason"), "mine");
	/* It counts all the same. */
	daemon_await(d, "alert_counts.acknowledged", "1");
	daemon_await(d, "health", "\"warning\"");
	both = daemon_call(d, "Acknowledge", "{\"subject\": \"subnet\", \"reason\": \"ours\"}");
	assert_int_equal(json_array_size(json_at(both, "alerts")), 2);
	daemon_await(d, "alert_counts.acknowledged", "2");
	error = daemon_call_error(d, "Acknowledge", "{\"kind\": \"sm-lost\", \"reason\": \"none\"}",
				  "NoSuchAlert");
	assert_string_equal(json_text_at(error, "kind"), "sm-lost");

	/* Over kill -9. */
	daemon_await_saved(d, "ours");
	player_close(&p);
	daemon_kill(d);
	daemon_start(d);
	daemon_await(d, "alert_counts.acknowledged", "2");

	/* It ends with the alert: raised anew, nobody knows of it. */
	player_init(&p, 2, fixture_host_guid(b, HOST));
	player_connect(&p, d);
	b->nodes[LEAF].new_lft = (free(b->nodes[LEAF].new_lft), NULL);
	player_whole_sweep(&p, b);
	daemon_await(d, "alert_counts.acknowledged", "1");
	build_new_lft(b, LEAF)[3] = 7;
	player_whole_sweep(&p, b);
	daemon_await(d, "routing.lft_mismatches", "1");
	after = daemon_list(d, "ListAlerts", NULL, "alerts");
	assert_null(json_object_get(find(after, "lft-mismatch"), "acknowledged"));
	assert_string_not_equal(json_text_at(find(after, "lft-mismatch"), "id"),
				json_text_at(find(alerts, "lft-mismatch"), "id"));
	player_close(&p);
}

static void test_bad(void **state)
{
	static const struct {
		const char *method, *parameters, *parameter;
	} cases[] = {
		{"Silence", "{\"for_usec\": 5000000, \"reason\": \"r\"}", "subject"},
		{"Silence", "{\"subject\": \"\", \"for_usec\": 5000000, \"reason\": \"r\"}",
		 "subject"},
		{"Silence", "{\"kind\": \"sm\", \"for_usec\": 5000000, \"reason\": \"r\"}", "kind"},
		{"Silence", "{\"subject\": \"a\", \"for_usec\": 999999, \"reason\": \"r\"}",
		 "for_usec"},
		{"Silence", "{\"subject\": \"a\", \"for_usec\": -1, \"reason\": \"r\"}",
		 "for_usec"},
		{"Silence",
		 "{\"subject\": \"a\", \"for_usec\": 9223372036854775807, \"reason\": \"r\"}",
		 "for_usec"},
		{"Silence", "{\"subject\": \"a\", \"for_usec\": 5000000, \"reason\": \"\"}",
		 "reason"},
		{"Silence", "{\"subject\": \"a\", \"for_usec\": 5000000, \"reason\": \"a\\nb\"}",
		 "reason"},
		{"Silence", "{\"subject\": \"\\u202e\", \"for_usec\": 5000000, \"reason\": \"r\"}",
		 "subject"},
		{"Unsilence", "{\"id\": -1}", "id"},
		{"Acknowledge", "{\"reason\": \"r\"}", "id"},
		{"Acknowledge", "{\"id\": \"abcde\", \"reason\": \"r\"}", "id"},
		{"Acknowledge", "{\"id\": \"0xabcdef\", \"reason\": \"r\"}", "id"},
		{"Acknowledge", "{\"id\": \"0123456789abcdef0\", \"reason\": \"r\"}", "id"},
		{"Acknowledge", "{\"id\": \"abcdef\", \"reason\": \"\"}", "reason"},
		{"GetSweepStatistics", "{\"window_usec\": 0}", "window_usec"},
		{"GetSweepStatistics", "{\"window_usec\": -1}", "window_usec"},
		{"GetMastership", "{\"count\": -1}", "count"},
	};
	struct daemon *d = *state;
	char text[600];

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		json_auto_t *error =
			daemon_call_error(d, cases[i].method, cases[i].parameters, INVALID);

		assert_string_equal(json_text_at(error, "parameter"), cases[i].parameter);
	}
	snprintf(text, sizeof(text),
		 "{\"subject\": \"a\", \"for_usec\": 5000000, \"reason\": \"%0256d\"}", 0);
	json_decref(daemon_call_error(d, "Silence", text, INVALID));
	snprintf(text, sizeof(text),
		 "{\"subject\": \"a\", \"for_usec\": 5000000, \"reason\": \"%0255d\"}", 0);
	for (unsigned i = 0; i < 128; i++)
		json_decref(daemon_call(d, "Silence", text));
	json_decref(daemon_call_error(d, "Silence", text, "TooManySilences"));
	daemon_await(d, "daemon.limits_hit.0.limit", "\"silences\"");
}

/* As another user, who may ask but not change. No assertions: this is a child. */
static bool is_nobody_denied(const char *socket)
{
	static const char *const changes[][2] = {
		{"Silence", "{\"subject\": \"a\", \"for_usec\": 5000000, \"reason\": \"r\"}"},
		{"Unsilence", "{\"id\": 1}"},
		{"Acknowledge", "{\"subject\": \"subnet\", \"reason\": \"r\"}"},
	};
	struct varlink_client *client;
	char *error = NULL, name[64];
	json_t *reply;

	if (setgid(NOBODY) < 0 || setuid(NOBODY) < 0 ||
	    varlink_client_connect(socket, PATIENCE_USEC, &client) < 0 ||
	    varlink_client_call(client, "io.ibsm.Monitor.ListSilences", NULL, &reply, &error) != 0)
		return false;
	for (size_t i = 0; i < ELEMENTSOF(changes); i++) {
		snprintf(name, sizeof(name), "io.ibsm.Monitor.%s", changes[i][0]);
		if (varlink_client_call(client, name, json_loads(changes[i][1], 0, NULL), &reply,
					&error) != 1 ||
		    strcmp(error, DENIED) != 0)
			return false;
	}
	return true;
}

static void test_permission(void **state)
{
	struct daemon *d = *state;
	json_auto_t *list = NULL;
	char run[128];
	pid_t pid;

	if (getuid() != 0) {
		print_message("only root can be another user: not tested\n");
		skip();
	}
	snprintf(run, sizeof(run), "%s/run", d->directory);
	assert_int_equal(chmod(d->directory, 0755), 0);
	assert_int_equal(chmod(run, 0755), 0);
	assert_int_equal(chmod(d->socket, 0666), 0);
	pid = fork();
	if (pid == 0)
		_exit(is_nobody_denied(d->socket) ? EXIT_SUCCESS : EXIT_FAILURE);
	assert_int_equal(daemon_wait(pid), 0);
	list = daemon_call(d, "ListSilences", NULL);
	assert_int_equal(json_array_size(json_at(list, "silences")), 0);
}

static void test_subnet_managers(void **state)
{
	_cleanup_(build_freep) struct builder *b = fixture_tree();
	json_auto_t *sms = NULL, *masters = NULL, *places = NULL, *checks = NULL, *stats = NULL;
	struct daemon *d = *state;
	struct player p;

	player_init(&p, 1, fixture_host_guid(b, HOST));
	player_connect(&p, d);
	player_whole_sweep(&p, b);
	player_trap(&p, 128, b->nodes[LEAF].switch_row.lid);
	daemon_await(d, "fabric.switches", "6");
	json_decref(daemon_await_event(d, "trap", 0));

	sms = daemon_call(d, "ListSubnetManagers", NULL);
	assert_true(json_bool_at(sms, "subnet_managers.0.self"));
	assert_true(json_bool_at(sms, "subnet_managers.0.responsive"));
	assert_true(json_bool_at(sms, "subnet_managers.0.plugin_connected"));
	assert_true(json_bool_at(sms, "subnet_managers.0.local"));
	assert_string_equal(json_text_at(sms, "subnet_managers.0.state"), "master");
	assert_string_equal(json_text_at(sms, "subnet_managers.0.views.0.view"), "self");
	assert_string_equal(json_text_at(sms, "outside.state"), "off");
	masters = daemon_call(d, "GetMastership", NULL);
	assert_true(json_bool_at(masters, "mastership.has_master"));
	assert_string_equal(json_text_at(masters, "mastership.master"),
			    json_text_at(sms, "subnet_managers.0.guid"));
	assert_string_equal(json_text_at(masters, "mastership.changes.0.reason"), "first");
	assert_int_equal(json_array_size(json_at(masters, "mastership.changes")), 1);
	json_decref(masters);
	masters = daemon_call(d, "GetMastership", "{\"count\": 0}");
	assert_int_equal(json_array_size(json_at(masters, "mastership.changes")), 0);
	assert_int_equal(json_int_at(masters, "mastership.changes_total"), 1);

	places = daemon_call(d, "GetPlacement", NULL);
	assert_int_equal(json_int_at(places, "placement.switches"), 6);
	assert_string_equal(json_text_at(places, "placement.places.0.guid"),
			    json_text_at(sms, "subnet_managers.0.guid"));
	/* Of two levels: from a leaf to the farthest other leaf. */
	assert_int_equal(json_int_at(places, "placement.places.0.hops"), 2);
	checks = daemon_call(d, "ListOptionChecks", NULL);
	assert_true(json_is_array(json_at(checks, "checks")));
	stats = daemon_call(d, "GetSweepStatistics", NULL);
	assert_int_equal(json_int_at(stats, "sweeps.heavy"), 1);
	assert_int_equal(json_int_at(stats, "sweeps.duration.samples"), 1);
	assert_int_equal(json_array_size(json_at(stats, "sweeps.phases")), 3);
	assert_int_equal(json_int_at(stats, "traps.total"), 1);
	assert_int_equal(json_int_at(stats, "traps.numbers.0.number"), 128);
	assert_int_equal(json_int_at(stats, "traps.senders.0.lid"), b->nodes[LEAF].switch_row.lid);
	player_close(&p);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_list), TEST(test_silence),	TEST(test_acknowledge),
		TEST(test_bad),	 TEST(test_permission), TEST(test_subnet_managers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
