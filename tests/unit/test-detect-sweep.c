// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The sweep detectors: each at its threshold (raises, not just below, clears, no chatter), over
// time.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "detect-build.h"
#include "fabric/detect-sweep.h"
#include "ibsm/wire.h"

#define SEC DETECT_USEC_PER_SEC
#define MSEC UINT64_C(1000)
#define MINUTE DETECT_USEC_PER_MINUTE
#define HOUR DETECT_USEC_PER_HOUR
#define REALTIME (UINT64_C(1700000000) * SEC)

static struct {
	struct detect_sweep_config config;
	struct alert_set *alerts;
	struct detect_sweep *d;
	struct detect_time now;
	uint64_t number;
	struct story story; /* the one that runs */
	int raised[DETECT_KINDS], updated[DETECT_KINDS], cleared[DETECT_KINDS];
} w;

static void tell(const struct alert *alert, enum alert_step step, void *userdata)
{
	(void)userdata;
	for (size_t i = 0; i < alert->evidence.count; i++)
		if (!detect_kind_has_evidence(alert->kind, alert->evidence.fields[i].name))
			fail_msg("the table of kinds lacks %s's %s", detect_kind_name(alert->kind),
				 alert->evidence.fields[i].name);
	w.raised[alert->kind] += step == ALERT_RAISED;
	w.updated[alert->kind] += step == ALERT_UPDATED;
	w.cleared[alert->kind] += step == ALERT_CLEARED;
}

static int setup(void **state)
{
	(void)state;
	memset(&w, 0, sizeof(w));
	w.now = (struct detect_time){50000 * SEC, REALTIME};
	detect_sweep_config_init(&w.config);
	assert_int_equal(alert_set_new(tell, NULL, &w.alerts), 0);
	assert_int_equal(detect_sweep_new(&w.config, w.alerts, &w.d), 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	detect_sweep_free(w.d);
	alert_set_free(w.alerts);
	return 0;
}

static void input(struct detect_sweep_input in)
{
	in.now = w.now;
	detect_sweep_input(w.d, &in);
}

static void pass(uint64_t usec)
{
	/* As the daemon does: each second. */
	while (usec > 0) {
		uint64_t step = usec < SEC ? usec : SEC;

		w.now.monotonic_usec += step;
		w.now.realtime_usec += step;
		input((struct detect_sweep_input){.type = DETECT_SWEEP_TICK});
		usec -= step;
	}
}

static void begin(enum story_cause_kind cause)
{
	w.story = (struct story){
		.number = ++w.number,
		.type = STORY_HEAVY,
		.result = STORY_RUNNING,
		.start_seen = true,
		.start_monotonic_usec = w.now.monotonic_usec,
		.start_realtime_usec = w.now.realtime_usec,
		.cause = {.kind = cause},
	};
	input((struct detect_sweep_input){.type = DETECT_SWEEP_STORY, .story = &w.story});
}

/* Now; the phases take what the whole took, two thirds of it in `phase`. */
static void end_in(enum story_result result, enum story_phase phase)
{
	uint64_t start = w.story.start_monotonic_usec, took = w.now.monotonic_usec - start;

	w.story.result = result;
	w.story.end_monotonic_usec = w.now.monotonic_usec;
	w.story.end_realtime_usec = w.now.realtime_usec;
	for (int i = 0; i < STORY_PHASES; i++) {
		w.story.phases[i].start_monotonic_usec = start;
		start += (enum story_phase)i == phase ? took * 2 / 3 : took / 6;
		w.story.phases[i].end_monotonic_usec = start;
	}
	input((struct detect_sweep_input){.type = DETECT_SWEEP_STORY, .story = &w.story});
}

static void sweep_of(uint64_t usec, enum story_cause_kind cause)
{
	begin(cause);
	pass(usec);
	end_in(STORY_UP, STORY_DISCOVERY);
}

/* A usual one, and a pause in which everything decays. */
static void quiet_sweep(uint64_t usec)
{
	sweep_of(usec, STORY_CAUSE_TRAP);
	pass(5 * MINUTE);
}

static void trap_of(uint64_t guid, uint16_t number, uint8_t port)
{
	input((struct detect_sweep_input){.type = DETECT_SWEEP_TRAP,
					  .trap = {.node_guid = guid,
						   .lid = (uint16_t)guid,
						   .number = number,
						   .port = port,
						   .name = "leaf0"}});
}

static const struct alert *open_alert(unsigned int kind)
{
	for (size_t i = 0; i < alert_set_open(w.alerts); i++)
		if (alert_set_get(w.alerts, i)->kind == kind)
			return alert_set_get(w.alerts, i);
	return NULL;
}

static bool is_open(unsigned int kind)
{
	return open_alert(kind) != NULL;
}

static const char *text_of(const struct alert *alert, const char *name)
{
	const struct evidence_field *field = evidence_find(&alert->evidence, name);

	assert_non_null(field);
	assert_int_equal(field->type, EVIDENCE_TEXT);
	return field->text;
}

static uint64_t number_of(const struct alert *alert, const char *name)
{
	const struct evidence_field *field = evidence_find(&alert->evidence, name);

	assert_non_null(field);
	return field->number;
}

static void assert_once(unsigned int kind)
{
	assert_int_equal(w.raised[kind], 1);
	assert_int_equal(w.cleared[kind], 0);
}

static void assert_never(unsigned int kind)
{
	assert_int_equal(w.raised[kind], 0);
}

/* ---- sweep-storm ---- */

static void test_storm(void **state)
{
	const struct alert *alert;
	uint64_t waited = 0;

	(void)state;
	trap_of(0x17, 128, 0);
	for (int i = 0; i < 9; i++)
		sweep_of(10 * MSEC, STORY_CAUSE_TRAP);
	pass(SEC);
	assert_never(DETECT_SWEEP_STORM);
	trap_of(0x17, 128, 0);
	sweep_of(10 * MSEC, STORY_CAUSE_TRAP);
	sweep_of(10 * MSEC, STORY_CAUSE_TRAP);
	assert_once(DETECT_SWEEP_STORM);
	alert = open_alert(DETECT_SWEEP_STORM);
	assert_string_equal(text_of(alert, "cause"), "trap");
	assert_int_equal(number_of(alert, "sender"), 0x17);
	assert_int_equal(alert->count, 1 + (w.number - 11));
	for (int i = 0; i < 50; i++)
		sweep_of(10 * MSEC, STORY_CAUSE_TRAP);
	pass(5 * SEC);
	assert_once(DETECT_SWEEP_STORM);
	assert_int_equal(w.updated[DETECT_SWEEP_STORM], 50);

	/* The rate that keeps it between the thresholds is no chatter. */
	for (int i = 0; i < 60; i++) {
		sweep_of(10 * MSEC, STORY_CAUSE_TRAP);
		pass(MINUTE);
	}
	assert_once(DETECT_SWEEP_STORM);
	/* It clears by itself, in the time that it takes to decay from there. */
	while (is_open(DETECT_SWEEP_STORM)) {
		pass(SEC);
		waited += SEC;
	}
	assert_in_range(waited, 5 * MINUTE, 15 * MINUTE);
	pass(2 * HOUR);
	assert_int_equal(w.raised[DETECT_SWEEP_STORM], 1);
}

static void test_steady_sweeps_are_no_storm(void **state)
{
	(void)state;
	/* One a minute, for a day: 1/(1 − 2^(−1/5)) = 7.7. */
	for (int i = 0; i < 24 * 60; i++) {
		sweep_of(10 * MSEC, STORY_CAUSE_TRAP);
		pass(MINUTE);
	}
	assert_never(DETECT_SWEEP_STORM);
	/* One each 40 s are: 11.3. */
	for (int i = 0; i < 60; i++) {
		sweep_of(10 * MSEC, STORY_CAUSE_TRAP);
		pass(40 * SEC);
	}
	assert_once(DETECT_SWEEP_STORM);
}

static void test_what_does_not_count_for_a_storm(void **state)
{
	(void)state;
	for (int i = 0; i < 100; i++) {
		begin(i % 2 ? STORY_CAUSE_RETRY : STORY_CAUSE_EVERY_SWEEP_HEAVY);
		end_in(STORY_UP_WITH_ERRORS, STORY_SETUP);
		/* A reroute, told by its end alone, in both steps. */
		w.story = (struct story){.number = ++w.number,
					 .type = STORY_REROUTE,
					 .result = STORY_UP,
					 .cause = {.kind = STORY_CAUSE_REROUTE}};
		input((struct detect_sweep_input){.type = DETECT_SWEEP_STORY, .story = &w.story});
		input((struct detect_sweep_input){.type = DETECT_SWEEP_STORY, .story = &w.story});
	}
	assert_never(DETECT_SWEEP_STORM);
	/* Each story counts once in the statistics, however often it is told. */
	assert_int_equal(detect_sweep_stats(w.d)->count, 200);
	assert_int_equal(detect_sweep_stats(w.d)->total[STORY_UP], 100);
}

static void test_repeated_steps_count_once(void **state)
{
	struct story stories[STORY_AMENDABLE];

	(void)state;
	/* Ended ones are told again when late records complete them. */
	for (size_t i = 0; i < STORY_AMENDABLE; i++) {
		quiet_sweep(SEC);
		stories[i] = w.story;
	}
	for (size_t i = 0; i < STORY_AMENDABLE; i++)
		input((struct detect_sweep_input){.type = DETECT_SWEEP_STORY,
						  .story = &stories[i]});
	assert_int_equal(detect_sweep_stats(w.d)->count, STORY_AMENDABLE);
	begin(STORY_CAUSE_TRAP);
	for (int i = 0; i < 50; i++)
		input((struct detect_sweep_input){.type = DETECT_SWEEP_STORY, .story = &w.story});
	assert_never(DETECT_SWEEP_STORM);
}

/* ---- sweep-stuck ---- */

static void test_stuck_when_nothing_is_usual_yet(void **state)
{
	(void)state;
	begin(STORY_CAUSE_BECAME_MASTER);
	pass(w.config.stuck_unknown_usec - SEC);
	assert_never(DETECT_SWEEP_STUCK);
	pass(SEC);
	assert_once(DETECT_SWEEP_STUCK);
	assert_null(evidence_find(&open_alert(DETECT_SWEEP_STUCK)->evidence, "usual_usec"));
	pass(HOUR);
	assert_once(DETECT_SWEEP_STUCK);
	end_in(STORY_UP, STORY_SETUP);
	assert_true(is_open(DETECT_SWEEP_STUCK));
	pass(w.config.stuck_clear_usec);
	assert_false(is_open(DETECT_SWEEP_STUCK));
}

static void test_stuck_against_the_usual(void **state)
{
	(void)state;
	for (size_t i = 0; i < w.config.usual_min; i++)
		quiet_sweep(20 * SEC);
	/* Five times 20 s. */
	begin(STORY_CAUSE_TRAP);
	pass(100 * SEC - 1);
	assert_never(DETECT_SWEEP_STUCK);
	pass(1);
	assert_once(DETECT_SWEEP_STUCK);
	assert_int_equal(number_of(open_alert(DETECT_SWEEP_STUCK), "usual_usec"), 20 * SEC);
	assert_int_equal(number_of(open_alert(DETECT_SWEEP_STUCK), "sweep"), w.number);
	end_in(STORY_ABORTED, STORY_DISCOVERY);
	/* Sweeps about the limit, one after the other, are one alert. */
	for (int i = 0; i < 10; i++) {
		begin(STORY_CAUSE_RETRY);
		pass(i % 2 ? 99 * SEC : 101 * SEC);
		end_in(STORY_ABORTED, STORY_DISCOVERY);
		pass(10 * SEC);
	}
	assert_once(DETECT_SWEEP_STUCK);
	pass(w.config.stuck_clear_usec);
	assert_false(is_open(DETECT_SWEEP_STUCK));
}

static void test_fast_sweeps_have_a_floor(void **state)
{
	(void)state;
	for (size_t i = 0; i < w.config.usual_min; i++)
		quiet_sweep(10 * MSEC);
	begin(STORY_CAUSE_TRAP);
	pass(w.config.stuck_min_usec - 1);
	assert_never(DETECT_SWEEP_STUCK);
	pass(1);
	assert_once(DETECT_SWEEP_STUCK);
	/* The plugin is gone: whether it still runs nobody knows; plugin-lost tells of that. */
	input((struct detect_sweep_input){.type = DETECT_SWEEP_LOST});
	assert_true(is_open(DETECT_SWEEP_STUCK));
	pass(w.config.stuck_clear_usec);
	assert_false(is_open(DETECT_SWEEP_STUCK));
}

/* ---- sweep-slow ---- */

/* Baseline: 2 s, give or take 100 ms. */
static void baseline(void)
{
	for (int i = 0; i < 20; i++)
		quiet_sweep(2 * SEC + (uint64_t)(i % 3) * 100 * MSEC - 100 * MSEC);
}

static void test_slow(void **state)
{
	const struct alert *alert;

	(void)state;
	baseline();
	/* Twice the median, 4 s, is the limit here: 2 + 6·1.4826·0.1 is less. */
	for (int i = 0; i < 10; i++)
		quiet_sweep(4 * SEC);
	assert_never(DETECT_SWEEP_SLOW);
	for (unsigned int i = 0; i + 1 < w.config.slow_sweeps; i++)
		quiet_sweep(4 * SEC + 500 * MSEC);
	quiet_sweep(2 * SEC); /* one as usual in between: from the beginning */
	for (unsigned int i = 0; i < w.config.slow_sweeps; i++) {
		assert_never(DETECT_SWEEP_SLOW);
		begin(STORY_CAUSE_TRAP);
		pass(5 * SEC);
		end_in(STORY_UP, STORY_ROUTING);
		pass(5 * MINUTE);
	}
	assert_once(DETECT_SWEEP_SLOW);
	alert = open_alert(DETECT_SWEEP_SLOW);
	assert_int_equal(number_of(alert, "duration_usec"), 5 * SEC);
	assert_int_equal(number_of(alert, "median_usec"), 2100 * MSEC);
	assert_string_equal(text_of(alert, "phase"), "routing");
	assert_true(number_of(alert, "discovery_usec") + number_of(alert, "routing_usec") +
			    number_of(alert, "setup_usec") <=
		    5 * SEC);
	assert_null(evidence_find(&alert->evidence, "silent_nodes"));
	pass(MINUTE);
	assert_int_equal(alert->count, 1);
	begin(STORY_CAUSE_TRAP);
	pass(5 * SEC);
	end_in(STORY_UP, STORY_DISCOVERY);
	assert_string_equal(text_of(alert, "phase"), "discovery");
	assert_int_equal(alert->count, 2);
	pass(5 * MINUTE);

	/* Slow and usual ones in turns: one alert. */
	for (int i = 0; i < 12; i++)
		quiet_sweep(i % 3 ? 2 * SEC : 5 * SEC);
	assert_once(DETECT_SWEEP_SLOW);
	quiet_sweep(5 * SEC);
	for (unsigned int i = 0; i < w.config.slow_sweeps; i++) {
		assert_true(is_open(DETECT_SWEEP_SLOW));
		quiet_sweep(2 * SEC);
	}
	assert_false(is_open(DETECT_SWEEP_SLOW));
}

static void test_slow_clears_without_sweeps(void **state)
{
	(void)state;
	baseline();
	for (int i = 0; i < 3; i++)
		quiet_sweep(6 * SEC);
	assert_once(DETECT_SWEEP_SLOW);
	pass(w.config.slow_clear_usec - 6 * MINUTE);
	assert_true(is_open(DETECT_SWEEP_SLOW));
	pass(6 * MINUTE);
	assert_false(is_open(DETECT_SWEEP_SLOW));
	pass(HOUR);
	assert_int_equal(w.raised[DETECT_SWEEP_SLOW], 1);
}

static void test_what_becomes_usual(void **state)
{
	(void)state;
	/* The fabric grew: after half a window the new duration is the usual one. */
	for (int i = 0; i < 50; i++)
		quiet_sweep(2 * SEC);
	for (int i = 0; i < 80; i++)
		quiet_sweep(6 * SEC);
	assert_int_equal(w.raised[DETECT_SWEEP_SLOW], 1);
	assert_int_equal(w.cleared[DETECT_SWEEP_SLOW], 1);
}

static void test_what_is_not_compared(void **state)
{
	(void)state;
	/* Too few to know. */
	for (size_t i = 0; i + 1 < w.config.usual_min; i++)
		quiet_sweep(2 * SEC);
	for (int i = 0; i < 1; i++)
		quiet_sweep(60 * SEC);
	assert_never(DETECT_SWEEP_SLOW);
	/* A new master sets up everything; that takes its time. */
	for (int i = 0; i < 10; i++) {
		sweep_of(100 * SEC, STORY_CAUSE_LEFT_STANDBY);
		pass(5 * MINUTE);
	}
	assert_never(DETECT_SWEEP_SLOW);
}

static void test_fast_ones_may_be_uneven(void **state)
{
	(void)state;
	/* Ten times the usual, but still far below a second: nobody cares. */
	for (int i = 0; i < 20; i++)
		quiet_sweep(10 * MSEC);
	for (int i = 0; i < 10; i++)
		quiet_sweep(999 * MSEC);
	assert_never(DETECT_SWEEP_SLOW);
}

/* ---- trap-flood ---- */

static void test_flood(void **state)
{
	const struct alert *alert;
	uint64_t waited = 0;

	(void)state;
	for (int i = 0; i < 7; i++)
		trap_of(0x17, 128, 0);
	pass(SEC);
	assert_never(DETECT_TRAP_FLOOD);
	input((struct detect_sweep_input){.type = DETECT_SWEEP_LINK_CHANGED,
					  .link = {.node_guid = 0x17, .port = 4}});
	trap_of(0x17, 128, 0);
	trap_of(0x17, 128, 0);
	assert_once(DETECT_TRAP_FLOOD);
	alert = open_alert(DETECT_TRAP_FLOOD);
	assert_int_equal(alert->subject.guid, 0x17);
	assert_int_equal(number_of(alert, "port"), 4);
	assert_non_null(strstr(alert->message, "port 4"));
	assert_non_null(strstr(alert->message, "leaf0"));
	/* Another sender is another alert. */
	for (int i = 0; i < 20; i++)
		trap_of(0x18, 129, 7);
	assert_int_equal(w.raised[DETECT_TRAP_FLOOD], 2);
	/* Between the thresholds it stays as it is. */
	for (int i = 0; i < 20; i++) {
		pass(9 * SEC);
		trap_of(0x17, 128, 0);
		trap_of(0x18, 129, 7);
	}
	assert_int_equal(w.raised[DETECT_TRAP_FLOOD], 2);
	assert_int_equal(w.cleared[DETECT_TRAP_FLOOD], 0);
	while (is_open(DETECT_TRAP_FLOOD)) {
		pass(SEC);
		waited += SEC;
	}
	assert_in_range(waited, SEC, 3 * MINUTE);
	assert_int_equal(w.raised[DETECT_TRAP_FLOOD], 2);
}

static void test_no_flood(void **state)
{
	(void)state;
	/* One trap each 12 s, for hours: 1/(1 − 2^(−12/60)) = 7.7. */
	for (int i = 0; i < 2000; i++) {
		trap_of(0x17, 128, 0);
		pass(12 * SEC);
	}
	/* What the SM tells of itself is none. */
	for (int i = 0; i < 1000; i++)
		trap_of(0x18, (uint16_t)(64 + i % 4), 0);
	/* Many senders, few traps each: a switch that boots. */
	for (uint64_t guid = 100; guid < 140; guid++)
		for (int i = 0; i < 6; i++)
			trap_of(guid, 128, 0);
	pass(SEC);
	assert_never(DETECT_TRAP_FLOOD);
}

static void test_flood_of_a_lid(void **state)
{
	struct detect_sweep_input in = {.type = DETECT_SWEEP_TRAP,
					.trap = {.lid = 77, .number = 128}};

	(void)state;
	for (int i = 0; i < 25; i++)
		input(in);
	assert_once(DETECT_TRAP_FLOOD);
	assert_string_equal(open_alert(DETECT_TRAP_FLOOD)->subject.key, "lid-77");
	assert_non_null(strstr(open_alert(DETECT_TRAP_FLOOD)->message, "LID 77"));
}

/* Fifty times: one cable out and in, as fast as opensm sweeps. */
static void test_one_cable_fifty_times(void **state)
{
	(void)state;
	for (int i = 0; i < 50; i++) {
		trap_of(0x17, 128, 0);
		sweep_of(10 * MSEC, STORY_CAUSE_TRAP);
		input((struct detect_sweep_input){.type = DETECT_SWEEP_LINK_CHANGED,
						  .link = {.node_guid = 0x17, .port = 9}});
		pass(200 * MSEC);
	}
	assert_once(DETECT_SWEEP_STORM);
	assert_once(DETECT_TRAP_FLOOD);
	assert_int_equal(number_of(open_alert(DETECT_SWEEP_STORM), "sender"), 0x17);
	assert_int_equal(number_of(open_alert(DETECT_SWEEP_STORM), "port"), 9);
	assert_never(DETECT_SWEEP_SLOW);
	assert_never(DETECT_SWEEP_STUCK);
	pass(2 * HOUR);
	assert_int_equal(alert_set_open(w.alerts), 0);
}

/* ---- node-unresponsive ---- */

static void fabric_of(struct build *build)
{
	struct fabric *fabric = build_fabric(build);

	input((struct detect_sweep_input){.type = DETECT_SWEEP_FABRIC, .fabric = fabric});
	fabric_unref(fabric);
}

/* opensm no longer finds the host, though its link stays up. */
static void silence(struct build *build, uint64_t leaf, uint8_t port)
{
	build_unlink(build, leaf, port);
	build_port(build, leaf, port)->state = 2;
	build_port(build, leaf, port)->physical_state = 5;
}

static void test_silent_node(void **state)
{
	struct build *build = build_new();
	const struct alert *alert;

	(void)state;
	build_tree(build, 2, 1, 2);
	fabric_of(build);
	pass(HOUR);
	assert_never(DETECT_NODE_UNRESPONSIVE);
	silence(build, BUILD_LEAF(0), 2);
	fabric_of(build);
	pass(w.config.unresponsive_usec - SEC);
	fabric_of(build);
	assert_never(DETECT_NODE_UNRESPONSIVE);
	pass(SEC);
	assert_once(DETECT_NODE_UNRESPONSIVE);
	alert = open_alert(DETECT_NODE_UNRESPONSIVE);
	assert_int_equal(alert->subject.guid, BUILD_LEAF(0));
	assert_int_equal(alert->subject.port, 2);
	assert_int_equal(number_of(alert, "node"), BUILD_HOST(1));
	assert_non_null(strstr(alert->message, "host1 at leaf0 port 2"));
	assert_int_equal(number_of(alert, "snapshots"), 2);
	/* Found again. */
	build_link(build, BUILD_LEAF(0), 2, BUILD_HOST(1), 1);
	fabric_of(build);
	assert_false(is_open(DETECT_NODE_UNRESPONSIVE));
	build_free(build);
}

static void test_a_link_that_comes_up(void **state)
{
	struct build *build = build_new();

	(void)state;
	/* Seen half up in one sweep, and found in the next, again and again. */
	build_tree(build, 2, 1, 2);
	for (int i = 0; i < 20; i++) {
		silence(build, BUILD_LEAF(0), 2);
		fabric_of(build);
		pass(w.config.unresponsive_usec - SEC);
		build_link(build, BUILD_LEAF(0), 2, BUILD_HOST(1), 1);
		fabric_of(build);
		pass(10 * SEC);
	}
	assert_never(DETECT_NODE_UNRESPONSIVE);
	/* A link that is down is no silence. */
	build_unlink(build, BUILD_LEAF(0), 2);
	fabric_of(build);
	pass(HOUR);
	assert_never(DETECT_NODE_UNRESPONSIVE);
	/* Nor is one that is down logically, or trains. */
	build_port(build, BUILD_LEAF(0), 2)->physical_state = 5;
	fabric_of(build);
	pass(HOUR);
	build_port(build, BUILD_LEAF(0), 2)->physical_state = 4;
	build_port(build, BUILD_LEAF(0), 2)->state = 2;
	fabric_of(build);
	pass(HOUR);
	assert_never(DETECT_NODE_UNRESPONSIVE);
	build_free(build);
}

static void test_silent_from_the_start(void **state)
{
	struct build *build = build_new();

	(void)state;
	build_tree(build, 2, 1, 2);
	silence(build, BUILD_LEAF(1), 1);
	fabric_of(build);
	pass(w.config.unresponsive_usec);
	assert_once(DETECT_NODE_UNRESPONSIVE);
	assert_non_null(strstr(open_alert(DETECT_NODE_UNRESPONSIVE)->message,
			       "nobody has answered at leaf1 port 1"));
	build_free(build);
}

static void test_listed_but_not_reached(void **state)
{
	struct build *build = build_new();

	(void)state;
	build_tree(build, 2, 1, 2);
	build_node(build, BUILD_HOST(3))->present = 0;
	fabric_of(build);
	pass(w.config.unresponsive_usec);
	assert_once(DETECT_NODE_UNRESPONSIVE);
	assert_int_equal(open_alert(DETECT_NODE_UNRESPONSIVE)->subject.guid, BUILD_HOST(3));
	build_node(build, BUILD_HOST(3))->present = 1;
	fabric_of(build);
	assert_false(is_open(DETECT_NODE_UNRESPONSIVE));
	build_free(build);
}

static void test_many_silent_nodes(void **state)
{
	struct build *build = build_new();

	(void)state;
	build_switch(build, 1, 200, "a");
	build_switch(build, 2, 200, "b");
	for (uint8_t port = 1; port <= 150; port++)
		for (uint64_t guid = 1; guid <= 2; guid++) {
			build_port(build, guid, port)->state = 4;
			build_port(build, guid, port)->physical_state = 5;
		}
	fabric_of(build);
	assert_int_equal(detect_sweep_nodes(w.d)->count, NODE_SUSPECTS_MAX);
	assert_int_equal(detect_sweep_nodes(w.d)->left_out, 300 - NODE_SUSPECTS_MAX);
	/* Those that are no longer silent make room for the others. */
	for (uint8_t port = 1; port <= 150; port++)
		build_port(build, 1, port)->state = 1;
	fabric_of(build);
	assert_int_equal(detect_sweep_nodes(w.d)->count, 150);
	assert_int_equal(detect_sweep_nodes(w.d)->left_out, 0);
	build_free(build);
}

/* ---- over a restart ---- */

/* kill -9 of ibsmd, and another boot. */
static void crash_and_load(uint64_t away_usec)
{
	struct detect_sweep_saved saved;
	const struct sweep_stats *stats = detect_sweep_stats(w.d);
	struct sweep_sample *samples = calloc(SWEEP_STATS_MAX, sizeof(*samples));
	struct trap_stats *traps = calloc(1, sizeof(*traps));
	uint64_t total[STORY_RESULTS];
	struct alert_set *old = w.alerts;
	size_t count = stats->count;

	detect_sweep_save(w.d, &w.now, &saved);
	trap_stats_save(detect_sweep_traps(w.d), &w.config.flood, &w.now, traps);
	for (size_t i = 0; i < count; i++)
		samples[i] = *sweep_stats_get(stats, i);
	memcpy(total, stats->total, sizeof(total));
	detect_sweep_free(w.d);
	w.now.monotonic_usec = 3 * SEC;
	w.now.realtime_usec += away_usec;
	memset(w.raised, 0, sizeof(w.raised));
	memset(w.cleared, 0, sizeof(w.cleared));
	assert_int_equal(alert_set_new(tell, NULL, &w.alerts), 0);
	assert_int_equal(detect_sweep_new(&w.config, w.alerts, &w.d), 0);
	for (size_t i = 0; i < alert_set_open(old); i++)
		assert_int_equal(alert_set_restore(w.alerts, alert_set_get(old, i)), 0);
	alert_set_free(old);
	assert_int_equal(detect_sweep_load(w.d, &saved, samples, count, total, traps, &w.now), 0);
	free(samples);
	free(traps);
}

static void test_everything_survives(void **state)
{
	struct build *build = build_new();
	uint64_t total;

	(void)state;
	build_tree(build, 2, 1, 2);
	silence(build, BUILD_LEAF(1), 1);
	baseline();
	for (int i = 0; i < 3; i++)
		quiet_sweep(6 * SEC);
	fabric_of(build);
	pass(2 * MINUTE);
	begin(STORY_CAUSE_TRAP);
	pass(40 * SEC);
	for (int i = 0; i < 40; i++)
		trap_of(0x17, 128, 0);
	for (int i = 0; i < 20; i++)
		begin(STORY_CAUSE_TRAP);
	assert_true(is_open(DETECT_SWEEP_STORM) && is_open(DETECT_SWEEP_SLOW) &&
		    is_open(DETECT_SWEEP_STUCK) && is_open(DETECT_TRAP_FLOOD) &&
		    is_open(DETECT_NODE_UNRESPONSIVE));
	total = detect_sweep_stats(w.d)->total[STORY_UP];

	crash_and_load(10 * SEC);
	assert_int_equal(detect_sweep_stats(w.d)->total[STORY_UP], total);
	pass(SEC);
	assert_int_equal(alert_set_open(w.alerts), 5);
	fabric_of(build);
	assert_int_equal(alert_set_open(w.alerts), 5);
	/* They clear when it is over, without having been raised again. */
	build_unlink(build, BUILD_LEAF(1), 2);
	build_port(build, BUILD_LEAF(1), 1)->state = 1;
	fabric_of(build);
	assert_false(is_open(DETECT_NODE_UNRESPONSIVE));
	pass(2 * HOUR);
	assert_int_equal(alert_set_open(w.alerts), 0);
	for (unsigned int kind = 0; kind < DETECT_KINDS; kind++)
		assert_int_equal(w.raised[kind], 0);
	build_free(build);
}

static void test_slow_goes_on_after_a_restart(void **state)
{
	(void)state;
	baseline();
	for (int i = 0; i < 2; i++)
		quiet_sweep(6 * SEC);
	crash_and_load(MINUTE);
	assert_never(DETECT_SWEEP_SLOW);
	w.story = (struct story){0};
	quiet_sweep(6 * SEC);
	assert_once(DETECT_SWEEP_SLOW);
}

static void test_bad_config(void **state)
{
	struct detect_sweep_config bad = w.config;

	(void)state;
	bad.storm.reuse = bad.storm.suppress;
	assert_int_equal(detect_sweep_configure(w.d, &bad), -EINVAL);
	bad = w.config;
	bad.flood.half_life_usec = 0;
	assert_int_equal(detect_sweep_configure(w.d, &bad), -EINVAL);
	assert_int_equal(detect_sweep_configure(w.d, &w.config), 0);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_storm),
		T(test_steady_sweeps_are_no_storm),
		T(test_what_does_not_count_for_a_storm),
		T(test_repeated_steps_count_once),
		T(test_stuck_when_nothing_is_usual_yet),
		T(test_stuck_against_the_usual),
		T(test_fast_sweeps_have_a_floor),
		T(test_slow),
		T(test_slow_clears_without_sweeps),
		T(test_what_becomes_usual),
		T(test_what_is_not_compared),
		T(test_fast_ones_may_be_uneven),
		T(test_flood),
		T(test_no_flood),
		T(test_flood_of_a_lid),
		T(test_one_cable_fifty_times),
		T(test_silent_node),
		T(test_a_link_that_comes_up),
		T(test_silent_from_the_start),
		T(test_listed_but_not_reached),
		T(test_many_silent_nodes),
		T(test_everything_survives),
		T(test_slow_goes_on_after_a_restart),
		T(test_bad_config),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
