// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The SM detectors: each at its threshold (raises, not just below, clears, no chatter), and stories
// of masters that die, return, hand over and hang.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "detect-build.h"
#include "fabric/detect-sm.h"
#include "ibsm/wire.h"

#define SEC DETECT_USEC_PER_SEC
#define MINUTE DETECT_USEC_PER_MINUTE
#define HOUR DETECT_USEC_PER_HOUR
#define REALTIME (UINT64_C(1700000000) * SEC)

#define POLL (5 * SEC)

/* Two SMs: a has the higher GUID, so that nothing hangs on the order. */
#define A UINT64_C(0xb0)
#define B UINT64_C(0xa0)
#define C UINT64_C(0xc0)

static uint16_t lid_of(uint64_t guid)
{
	return (uint16_t)(guid >> 4);
}

/* ---- the world ---- */

static struct {
	struct detect_sm_config config;
	struct alert_set *alerts;
	struct detect_sm *d;
	struct detect_time now;
	uint64_t act_count;
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

static void start(void)
{
	assert_int_equal(alert_set_new(tell, NULL, &w.alerts), 0);
	assert_int_equal(detect_sm_new(&w.config, w.alerts, &w.now, &w.d), 0);
}

static int setup(void **state)
{
	(void)state;
	memset(&w, 0, sizeof(w));
	w.now = (struct detect_time){5000 * SEC, REALTIME};
	detect_sm_config_init(&w.config);
	start();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	detect_sm_free(w.d);
	alert_set_free(w.alerts);
	return 0;
}

/* With other limits. */
static void restart(void)
{
	detect_sm_free(w.d);
	alert_set_free(w.alerts);
	memset(w.raised, 0, sizeof(w.raised));
	memset(w.updated, 0, sizeof(w.updated));
	memset(w.cleared, 0, sizeof(w.cleared));
	start();
}

static void pass(uint64_t usec)
{
	struct detect_sm_input in = {.type = DETECT_SM_TICK};

	/* As the daemon does: each second. */
	while (usec > 0) {
		uint64_t step = usec < SEC ? usec : SEC;

		w.now.monotonic_usec += step;
		w.now.realtime_usec += step;
		in.now = w.now;
		detect_sm_input(w.d, &in);
		usec -= step;
	}
}

static void self(uint64_t guid, uint64_t instance, uint8_t state, uint8_t priority)
{
	detect_sm_input(w.d, &(struct detect_sm_input){.type = DETECT_SM_SELF,
						       .now = w.now,
						       .self = {.port_guid = guid,
								.instance = instance,
								.state = state,
								.priority = priority,
								.lid = lid_of(guid),
								.sweep_interval_known = true,
								.sweep_interval_sec = 10}});
}

static void self_gone(uint64_t guid)
{
	detect_sm_input(w.d, &(struct detect_sm_input){
				     .type = DETECT_SM_SELF_GONE, .now = w.now, .port_guid = guid});
}

static void answer_with(uint64_t guid, uint8_t state, uint8_t priority, uint32_t act_count,
			bool to_master_lid)
{
	detect_sm_input(w.d, &(struct detect_sm_input){.type = DETECT_SM_REPLY,
						       .now = w.now,
						       .reply = {.guid = guid,
								 .lid = lid_of(guid),
								 .state = state,
								 .priority = priority,
								 .act_count = act_count,
								 .rtt_usec = 20,
								 .to_master_lid = to_master_lid}});
}

static void answer(uint64_t guid, uint8_t state, uint8_t priority)
{
	w.act_count += 100;
	answer_with(guid, state, priority, (uint32_t)w.act_count, state == IBSM_SM_MASTER);
}

static void miss(uint64_t guid)
{
	detect_sm_input(w.d, &(struct detect_sm_input){
				     .type = DETECT_SM_REPLY,
				     .now = w.now,
				     .reply = {.lid = lid_of(guid), .status = ETIMEDOUT}});
}

static void fabric_input(struct build *build, const struct sm_placement *placement,
			 const struct sm_config_result *options, size_t option_count)
{
	struct fabric *fabric = build_fabric(build);

	detect_sm_input(w.d, &(struct detect_sm_input){.type = DETECT_SM_FABRIC,
						       .now = w.now,
						       .fabric = {.fabric = fabric,
								  .placement = placement,
								  .options = options,
								  .option_count = option_count}});
	fabric_unref(fabric);
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

/* Exactly once, and never cleared. */
static void assert_once(unsigned int kind)
{
	assert_int_equal(w.raised[kind], 1);
	assert_int_equal(w.cleared[kind], 0);
}

static void assert_never(unsigned int kind)
{
	assert_int_equal(w.raised[kind], 0);
}

static enum mastership_reason last_reason(void)
{
	const struct mastership *history = detect_sm_history(w.d);

	assert_true(history->count > 0);
	return history->entries[history->count - 1].reason;
}

/* ---- sm-master-changed ---- */

static void test_master_changed_by_failover(void **state)
{
	const struct alert *alert;

	(void)state;
	self(A, 1, IBSM_SM_MASTER, 9);
	self(B, 2, IBSM_SM_STANDBY, 5);
	assert_int_equal(detect_sm_master(w.d), A);
	assert_int_equal(last_reason(), MASTERSHIP_FIRST);
	pass(10 * SEC);
	self(A, 1, IBSM_SM_MASTER, 9);
	self_gone(A);
	pass(2 * SEC);
	assert_never(DETECT_SM_MASTER_CHANGED);
	self(B, 2, IBSM_SM_MASTER, 5);
	assert_once(DETECT_SM_MASTER_CHANGED);
	assert_int_equal(detect_sm_master(w.d), B);
	assert_int_equal(last_reason(), MASTERSHIP_FAILOVER);
	alert = open_alert(DETECT_SM_MASTER_CHANGED);
	assert_int_equal(number_of(alert, "from"), A);
	assert_int_equal(number_of(alert, "to"), B);
	assert_int_equal(number_of(alert, "gap_usec"), 2 * SEC);
	assert_string_equal(text_of(alert, "reason"), "failover");

	/* It stays for its hour, and not longer; more changes are one alert. */
	pass(w.config.master_changed_usec - 10 * SEC);
	assert_true(is_open(DETECT_SM_MASTER_CHANGED));
	self(A, 3, IBSM_SM_STANDBY, 9);
	self(B, 2, IBSM_SM_STANDBY, 5);
	self(A, 3, IBSM_SM_MASTER, 9);
	assert_int_equal(w.updated[DETECT_SM_MASTER_CHANGED], 1);
	assert_int_equal(last_reason(), MASTERSHIP_PRIORITY);
	pass(w.config.master_changed_usec - SEC);
	assert_true(is_open(DETECT_SM_MASTER_CHANGED));
	pass(SEC);
	assert_false(is_open(DETECT_SM_MASTER_CHANGED));
	assert_int_equal(w.raised[DETECT_SM_MASTER_CHANGED], 1);
}

static void test_reason_from_outside_alone(void **state)
{
	(void)state;
	/* Without any plugin: a handover between equals. */
	answer(A, IBSM_SM_MASTER, 5);
	answer(B, IBSM_SM_STANDBY, 5);
	pass(POLL);
	answer(B, IBSM_SM_MASTER, 5);
	/* A has not been asked since: no change yet. */
	assert_int_equal(detect_sm_master(w.d), A);
	answer(A, IBSM_SM_STANDBY, 5);
	assert_int_equal(detect_sm_master(w.d), B);
	assert_int_equal(last_reason(), MASTERSHIP_HANDOVER);
	/* To a higher priority. */
	pass(POLL);
	answer(B, IBSM_SM_STANDBY, 5);
	answer(A, IBSM_SM_MASTER, 7);
	assert_int_equal(last_reason(), MASTERSHIP_PRIORITY);
	/* A dies: one answer is missing, the next too. */
	pass(POLL);
	miss(A);
	answer(B, IBSM_SM_MASTER, 5);
	assert_int_equal(last_reason(), MASTERSHIP_FAILOVER);
	pass(POLL);
	miss(A);
	pass(POLL);
	/* It answers again: that it was gone for two polls stays true. */
	answer(A, IBSM_SM_STANDBY, 7);
	assert_int_equal(last_reason(), MASTERSHIP_FAILOVER);
}

static void test_reason_is_completed(void **state)
{
	(void)state;
	/* One answer got lost just at a handover. */
	answer(A, IBSM_SM_MASTER, 5);
	answer(B, IBSM_SM_STANDBY, 5);
	pass(POLL);
	miss(A);
	answer(B, IBSM_SM_MASTER, 5);
	assert_int_equal(last_reason(), MASTERSHIP_FAILOVER);
	pass(POLL);
	answer(A, IBSM_SM_STANDBY, 5);
	assert_int_equal(last_reason(), MASTERSHIP_HANDOVER);
	assert_string_equal(text_of(open_alert(DETECT_SM_MASTER_CHANGED), "reason"), "handover");

	/* It is back as standby before anyone missed it, but its ActCount is small. */
	pass(HOUR);
	answer(A, IBSM_SM_STANDBY, 5);
	answer(B, IBSM_SM_MASTER, 5);
	pass(POLL);
	answer_with(B, IBSM_SM_STANDBY, 5, 3, false);
	answer(A, IBSM_SM_MASTER, 5);
	assert_int_equal(last_reason(), MASTERSHIP_FAILOVER);
	assert_int_equal(w.updated[DETECT_SM_MASTER_CHANGED], 0);
}

static void test_a_lost_answer_changes_nothing(void **state)
{
	(void)state;
	answer(A, IBSM_SM_MASTER, 5);
	answer(B, IBSM_SM_STANDBY, 4);
	for (int i = 0; i < 100; i++) {
		pass(POLL);
		if (i % 3 == 0)
			miss(A);
		else
			answer(A, IBSM_SM_MASTER, 5);
		answer(B, IBSM_SM_STANDBY, 4);
	}
	assert_int_equal(detect_sm_history(w.d)->count, 1);
	assert_never(DETECT_SM_MASTER_CHANGED);
	assert_never(DETECT_SM_LOST);
	assert_never(DETECT_SM_UNRESPONSIVE);
}

static void test_master_known_by_a_standby_alone(void **state)
{
	struct detect_sm_input in = {.type = DETECT_SM_SELF};
	struct build *build = build_new();

	(void)state;
	/* No probe, and the plugin on the standby only: it says whom it follows. */
	build_tree(build, 2, 1, 2);
	build_sm(build, BUILD_HOST(0) + 1, IBSM_SM_MASTER, 9, false);
	fabric_input(build, NULL, NULL, 0);
	in.now = w.now;
	in.self = (struct sm_self){.port_guid = BUILD_HOST(1) + 1,
				   .instance = 1,
				   .state = IBSM_SM_STANDBY,
				   .priority = 3,
				   .master_sm_guid = BUILD_HOST(0) + 1};
	detect_sm_input(w.d, &in);
	assert_int_equal(detect_sm_master(w.d), BUILD_HOST(0) + 1);
	pass(SEC);
	in.now = w.now;
	in.self.state = IBSM_SM_MASTER;
	detect_sm_input(w.d, &in);
	assert_int_equal(detect_sm_master(w.d), BUILD_HOST(1) + 1);
	assert_once(DETECT_SM_MASTER_CHANGED);
	/* Of the former one nothing has ever been heard: no reason is made up. */
	assert_int_equal(last_reason(), MASTERSHIP_UNKNOWN);
	build_free(build);
}

static void test_a_known_reason_stays(void **state)
{
	(void)state;
	answer(A, IBSM_SM_MASTER, 5);
	pass(POLL);
	miss(A);
	answer(B, IBSM_SM_MASTER, 5);
	assert_int_equal(last_reason(), MASTERSHIP_FAILOVER);
	detect_sm_input(w.d,
			&(struct detect_sm_input){.type = DETECT_SM_OUTSIDE_LOST, .now = w.now});
	pass(SEC);
	assert_int_equal(last_reason(), MASTERSHIP_FAILOVER);
}

/* ---- sm-flapping ---- */

/* `dead` is killed, `heir` takes over after `takeover`, `dead` comes back as standby. */
static void kill_master(uint64_t dead, uint64_t heir, uint64_t *instance, uint8_t dead_priority,
			uint8_t heir_priority)
{
	self_gone(dead);
	miss(dead);
	pass(2 * SEC);
	self(heir, *instance, IBSM_SM_MASTER, heir_priority);
	pass(POLL);
	miss(dead);
	answer(heir, IBSM_SM_MASTER, heir_priority);
	pass(POLL);
	*instance += 100;
	self(dead, *instance + dead, IBSM_SM_DISCOVERING, dead_priority);
	self(dead, *instance + dead, IBSM_SM_STANDBY, dead_priority);
	answer_with(dead, IBSM_SM_STANDBY, dead_priority, 2, false);
	*instance = 1; /* of the heir, unchanged */
	pass(20 * SEC);
}

static void test_six_alternate_kills(void **state)
{
	const struct alert *alert;
	uint64_t a = 1000, b = 2000;

	(void)state;
	self(A, a, IBSM_SM_MASTER, 9);
	self(B, b, IBSM_SM_STANDBY, 5);
	for (int i = 0; i < 6; i++) {
		uint64_t dead = i % 2 ? B : A, heir = i % 2 ? A : B;
		uint64_t *gone = i % 2 ? &b : &a, *stays = i % 2 ? &a : &b;

		self_gone(dead);
		miss(dead);
		pass(2 * SEC);
		self(heir, *stays, IBSM_SM_MASTER, heir == A ? 9 : 5);
		assert_int_equal(detect_sm_master(w.d), heir);
		pass(POLL);
		miss(dead);
		pass(10 * SEC);
		self(dead, ++*gone, IBSM_SM_STANDBY, dead == A ? 9 : 5);
		pass(20 * SEC);
		if (i < 2)
			assert_never(DETECT_SM_FLAPPING);
	}
	assert_once(DETECT_SM_FLAPPING);
	alert = open_alert(DETECT_SM_FLAPPING);
	assert_string_equal(alert->subject.key, "subnet");
	assert_string_equal(text_of(alert, "reason"), "sm-dies");
	assert_int_equal(number_of(alert, "changes_last_hour"), 6);
	assert_int_equal(alert->count, 4); /* changes since it was raised, that one included */
	/* Both are named. */
	assert_true(number_of(alert, "from") == A || number_of(alert, "from") == B);
	assert_true(number_of(alert, "from") != number_of(alert, "to"));

	/* It clears when the penalty has decayed below reuse, once, and not before. */
	while (detect_sm_penalty(w.d, &w.now) >= w.config.flap.reuse + 1) {
		assert_true(is_open(DETECT_SM_FLAPPING));
		pass(SEC);
	}
	pass(5 * SEC);
	assert_false(is_open(DETECT_SM_FLAPPING));
	pass(2 * HOUR);
	assert_int_equal(w.raised[DETECT_SM_FLAPPING], 1);
	assert_int_equal(w.cleared[DETECT_SM_FLAPPING], 1);
}

static void test_planned_fail_over_and_fail_back(void **state)
{
	(void)state;
	/* A is restarted for an upgrade: B takes over, A comes back by its priority. At once. */
	self(A, 1, IBSM_SM_MASTER, 9);
	self(B, 1, IBSM_SM_STANDBY, 5);
	pass(10 * SEC);
	self_gone(A);
	pass(1);
	self(B, 1, IBSM_SM_MASTER, 5);
	pass(1);
	self(A, 2, IBSM_SM_STANDBY, 9);
	self(B, 1, IBSM_SM_STANDBY, 5);
	self(A, 2, IBSM_SM_MASTER, 9);
	assert_int_equal(detect_sm_history(w.d)->count, 3);
	assert_true(detect_sm_penalty(w.d, &w.now) > 1999);
	/* Then B is upgraded, too. */
	pass(30 * SEC);
	self_gone(B);
	pass(10 * SEC);
	self(B, 2, IBSM_SM_STANDBY, 5);
	pass(2 * HOUR);
	assert_never(DETECT_SM_FLAPPING);
	/* There and back once more; one further change is too much. */
	self(B, 2, IBSM_SM_MASTER, 5);
	self(A, 2, IBSM_SM_STANDBY, 9);
	pass(1);
	self(B, 2, IBSM_SM_STANDBY, 5);
	self(A, 2, IBSM_SM_MASTER, 9);
	assert_never(DETECT_SM_FLAPPING);
	self(A, 2, IBSM_SM_STANDBY, 9);
	self(B, 2, IBSM_SM_MASTER, 5);
	assert_once(DETECT_SM_FLAPPING);
}

static void test_a_day_of_single_handovers(void **state)
{
	bool a_is_master = true;

	(void)state;
	self(A, 1, IBSM_SM_MASTER, 9);
	self(B, 1, IBSM_SM_STANDBY, 9);
	for (int i = 0; i < 24 * 3; i++) { /* each 20 minutes */
		pass(20 * MINUTE);
		self(a_is_master ? A : B, 1, IBSM_SM_STANDBY, 9);
		self(a_is_master ? B : A, 1, IBSM_SM_MASTER, 9);
		a_is_master = !a_is_master;
	}
	assert_int_equal(detect_sm_history(w.d)->count, 1 + 72);
	assert_never(DETECT_SM_FLAPPING);
}

static void flap_by_fail_back(uint8_t a_priority, uint8_t b_priority)
{
	uint64_t instance = 1;

	self(A, instance, IBSM_SM_MASTER, a_priority);
	self(B, 1, IBSM_SM_STANDBY, b_priority);
	for (int i = 0; i < 3; i++) {
		self_gone(A);
		pass(30 * SEC);
		self(B, 1, IBSM_SM_MASTER, b_priority);
		pass(30 * SEC);
		self(A, ++instance, IBSM_SM_STANDBY, a_priority);
		pass(10 * SEC);
		self(B, 1, IBSM_SM_STANDBY, b_priority);
		self(A, instance, IBSM_SM_MASTER, a_priority);
		pass(60 * SEC);
	}
}

static void test_flap_reasons(void **state)
{
	(void)state;
	flap_by_fail_back(9, 5);
	assert_once(DETECT_SM_FLAPPING);
	assert_string_equal(text_of(open_alert(DETECT_SM_FLAPPING), "reason"), "fail-back");
	restart();
	flap_by_fail_back(7, 7);
	assert_once(DETECT_SM_FLAPPING);
	assert_string_equal(text_of(open_alert(DETECT_SM_FLAPPING), "reason"), "equal-priority");
}

static void test_an_sm_that_dies_alone(void **state)
{
	const struct alert *alert;

	(void)state;
	/* The only SM starts anew again and again; nobody takes over. */
	self(A, 1, IBSM_SM_MASTER, 9);
	for (uint64_t i = 2; i <= 4; i++) {
		pass(2 * MINUTE);
		if (i < 4)
			assert_never(DETECT_SM_FLAPPING);
		self_gone(A);
		pass(3 * SEC);
		self(A, i, IBSM_SM_DISCOVERING, 9);
		self(A, i, IBSM_SM_MASTER, 9);
	}
	pass(2 * MINUTE);
	assert_once(DETECT_SM_FLAPPING);
	alert = open_alert(DETECT_SM_FLAPPING);
	assert_int_equal(alert->subject.guid, A);
	assert_string_equal(text_of(alert, "reason"), "sm-dies");
	assert_int_equal(number_of(alert, "restarts"), 3);
	/* In the history they are restarts, and no changes. */
	assert_int_equal(detect_sm_history(w.d)->count, 4);
	assert_int_equal(last_reason(), MASTERSHIP_RESTART);
	assert_never(DETECT_SM_MASTER_CHANGED);
	pass(2 * HOUR);
	assert_false(is_open(DETECT_SM_FLAPPING));
	assert_int_equal(w.raised[DETECT_SM_FLAPPING], 1);
}

static void test_one_restart_seen_twice_is_one(void **state)
{
	(void)state;
	self(A, 1, IBSM_SM_MASTER, 9);
	answer_with(A, IBSM_SM_MASTER, 9, 5000, true);
	for (uint64_t i = 2; i <= 3; i++) {
		pass(2 * MINUTE);
		self_gone(A);
		/* The poll sees it first, then the plugin connects. */
		answer_with(A, IBSM_SM_MASTER, 9, 1, true);
		pass(SEC);
		self(A, i, IBSM_SM_MASTER, 9);
		answer_with(A, IBSM_SM_MASTER, 9, 5000, true);
	}
	pass(2 * MINUTE);
	/* Two restarts are below the threshold; counted twice they were four. */
	assert_never(DETECT_SM_FLAPPING);
	assert_int_equal(detect_sm_history(w.d)->count, 3);
}

static void test_restart_within_a_change_adds_nothing(void **state)
{
	struct detect_sm_saved *saved = calloc(1, sizeof(*saved));
	uint64_t instance = 1;

	(void)state;
	self(A, 500, IBSM_SM_MASTER, 9);
	self(B, 1, IBSM_SM_STANDBY, 5);
	kill_master(A, B, &instance, 9, 5);
	pass(5 * MINUTE);
	detect_sm_save(w.d, &w.now, saved);
	for (size_t i = 0; i < saved->count; i++) {
		assert_int_equal(saved->sms[i].restarts, 0);
		assert_true(saved->sms[i].flap.penalty < 0.001);
	}
	/* The next one is its own. */
	self(A, 900, IBSM_SM_STANDBY, 9);
	pass(5 * MINUTE);
	detect_sm_save(w.d, &w.now, saved);
	for (size_t i = 0; i < saved->count; i++)
		assert_int_equal(saved->sms[i].restarts, saved->sms[i].sm.port_guid == A);
	free(saved);
}

static uint64_t restarts_of(uint64_t guid)
{
	struct detect_sm_saved *now = calloc(1, sizeof(*now));
	uint64_t restarts = UINT64_MAX;

	detect_sm_save(w.d, &w.now, now);
	for (size_t i = 0; i < now->count; i++)
		if (now->sms[i].sm.port_guid == guid)
			restarts = now->sms[i].restarts;
	free(now);
	return restarts;
}

static void test_a_change_excuses_one_restart(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		/* How long after the change A starts anew, and whether that is part of it. */
		static const struct {
			bool died;
			uint64_t after_usec;
			uint64_t counted;
		} cases[] = {
			{false, 30 * SEC, 0}, /* handed over, to be restarted */
			{false, 2 * MINUTE, 1},
			{true, HOUR, 0}, /* died, and was repaired */
		};

		restart();
		self(A, 1, IBSM_SM_MASTER, 9);
		self(B, 1, IBSM_SM_STANDBY, 9);
		pass(SEC);
		if (cases[i].died)
			self_gone(A);
		else
			self(A, 1, IBSM_SM_STANDBY, 9);
		self(B, 1, IBSM_SM_MASTER, 9);
		assert_int_equal(last_reason(),
				 cases[i].died ? MASTERSHIP_FAILOVER : MASTERSHIP_HANDOVER);
		pass(cases[i].after_usec);
		self(A, 2, IBSM_SM_STANDBY, 9);
		pass(5 * MINUTE);
		assert_int_equal(restarts_of(A), cases[i].counted);
		/* The second one is never part of it. */
		self(A, 3, IBSM_SM_STANDBY, 9);
		pass(5 * MINUTE);
		assert_int_equal(restarts_of(A), cases[i].counted + 1);
	}
}

static void test_one_that_was_cut_off_is_not_excused_for_ever(void **state)
{
	(void)state;
	/* A could not be reached for a while, but its process lived. */
	answer(A, IBSM_SM_MASTER, 9);
	for (int i = 0; i < 3; i++) {
		pass(POLL);
		miss(A);
		answer(B, IBSM_SM_MASTER, 5);
	}
	answer(A, IBSM_SM_STANDBY, 9);
	pass(HOUR);
	answer_with(A, IBSM_SM_STANDBY, 9, 1, false);
	pass(5 * MINUTE);
	assert_int_equal(restarts_of(A), 1);
}

/* ---- sm-lost ---- */

static void test_lost(void **state)
{
	const struct alert *alert;

	(void)state;
	answer(A, IBSM_SM_MASTER, 5);
	pass(POLL);
	miss(A);
	pass(POLL - 1);
	assert_never(DETECT_SM_LOST);
	pass(1);
	miss(A);
	assert_once(DETECT_SM_LOST);
	alert = open_alert(DETECT_SM_LOST);
	assert_int_equal(number_of(alert, "last_master"), A);
	assert_string_equal(text_of(alert, "status"), "ETIMEDOUT");
	for (int i = 0; i < 100; i++) {
		pass(POLL);
		miss(A);
	}
	assert_once(DETECT_SM_LOST);
	/* A lost master is not unresponsive as well. */
	assert_never(DETECT_SM_UNRESPONSIVE);

	/* One answer in between does not clear it: no chatter. */
	for (int i = 0; i < 20; i++) {
		pass(POLL);
		answer(A, IBSM_SM_MASTER, 5);
		pass(POLL);
		miss(A);
		pass(POLL);
		miss(A);
	}
	assert_once(DETECT_SM_LOST);
	answer(A, IBSM_SM_MASTER, 5);
	pass(POLL);
	answer(A, IBSM_SM_MASTER, 5);
	assert_false(is_open(DETECT_SM_LOST));
}

static void test_lost_from_the_start(void **state)
{
	struct detect_sm_input in = {.type = DETECT_SM_REPLY,
				     .reply = {.lid = 7, .status = EIO, .to_master_lid = true}};

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_never(DETECT_SM_LOST);
		in.now = w.now;
		detect_sm_input(w.d, &in);
		pass(POLL);
	}
	assert_once(DETECT_SM_LOST);
	assert_null(evidence_find(&open_alert(DETECT_SM_LOST)->evidence, "last_master"));
	/* A plugin that says it is master settles it. */
	self(A, 1, IBSM_SM_MASTER, 5);
	assert_false(is_open(DETECT_SM_LOST));
}

static void test_lost_when_it_steps_down(void **state)
{
	(void)state;
	/* It answers, but is no longer master, and nobody else is. */
	answer(A, IBSM_SM_MASTER, 5);
	pass(POLL);
	answer(A, IBSM_SM_NOT_ACTIVE, 5);
	pass(POLL);
	answer(A, IBSM_SM_NOT_ACTIVE, 5);
	assert_once(DETECT_SM_LOST);
}

static void test_not_lost_while_its_plugin_speaks(void **state)
{
	(void)state;
	self(A, 1, IBSM_SM_MASTER, 5);
	for (int i = 0; i < 10; i++) {
		miss(A);
		pass(POLL);
		self(A, 1, IBSM_SM_MASTER, 5);
	}
	assert_never(DETECT_SM_LOST);
	assert_once(DETECT_SM_UNRESPONSIVE);
}

static void test_not_lost_without_polls(void **state)
{
	(void)state;
	/* No outside view: that the plugin is gone does not say that opensm is. */
	self(A, 1, IBSM_SM_MASTER, 5);
	self_gone(A);
	pass(HOUR);
	assert_never(DETECT_SM_LOST);
}

/* ---- sm-multiple-masters ---- */

static void test_multiple_masters(void **state)
{
	const struct alert *alert;

	(void)state;
	answer(A, IBSM_SM_MASTER, 5);
	pass(POLL);
	answer(A, IBSM_SM_MASTER, 5);
	answer(B, IBSM_SM_MASTER, 6);
	pass(POLL);
	answer(A, IBSM_SM_MASTER, 5);
	assert_never(DETECT_SM_MULTIPLE_MASTERS); /* B said it once */
	answer(B, IBSM_SM_MASTER, 6);
	assert_never(DETECT_SM_MULTIPLE_MASTERS); /* A said it once since B began */
	pass(POLL);
	answer(A, IBSM_SM_MASTER, 5);
	assert_once(DETECT_SM_MULTIPLE_MASTERS);
	alert = open_alert(DETECT_SM_MULTIPLE_MASTERS);
	assert_int_equal(evidence_count(&alert->evidence, "masters"), 2);
	assert_non_null(strstr(alert->message, ": 0x00000000000000b0, 0x00000000000000a0"));
	assert_never(DETECT_SM_MASTER_CHANGED);

	/* A lost answer, or one contrary one, does not clear it. */
	for (int i = 0; i < 10; i++) {
		pass(POLL);
		miss(A);
		answer(B, i % 2 ? IBSM_SM_MASTER : IBSM_SM_STANDBY, 6);
		pass(POLL);
		answer(A, IBSM_SM_MASTER, 5);
		answer(B, IBSM_SM_MASTER, 6);
	}
	assert_once(DETECT_SM_MULTIPLE_MASTERS);
	assert_never(DETECT_SM_MASTER_CHANGED);
	pass(POLL);
	answer(A, IBSM_SM_MASTER, 5);
	answer(B, IBSM_SM_STANDBY, 6);
	pass(POLL);
	answer(A, IBSM_SM_MASTER, 5);
	assert_true(is_open(DETECT_SM_MULTIPLE_MASTERS));
	answer(B, IBSM_SM_STANDBY, 6);
	assert_false(is_open(DETECT_SM_MULTIPLE_MASTERS));
}

static void test_one_of_two_masters_dies(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		answer(A, IBSM_SM_MASTER, 5);
		answer(B, IBSM_SM_MASTER, 6);
		pass(POLL);
	}
	assert_once(DETECT_SM_MULTIPLE_MASTERS);
	miss(A);
	answer(B, IBSM_SM_MASTER, 6);
	assert_int_equal(detect_sm_master(w.d), A);
	pass(POLL);
	miss(A);
	assert_int_equal(detect_sm_master(w.d), B);
	assert_false(is_open(DETECT_SM_MULTIPLE_MASTERS));
}

static void test_handover_is_not_multiple(void **state)
{
	(void)state;
	/* In all orders in which a handover can be seen, with and without plugins. */
	for (int order = 0; order < 8; order++) {
		restart();
		if (order & 4) {
			self(A, 1, IBSM_SM_MASTER, 5);
			self(B, 1, IBSM_SM_STANDBY, 6);
		}
		for (int i = 0; i < 4; i++) {
			answer(A, IBSM_SM_MASTER, 5);
			answer(B, IBSM_SM_STANDBY, 6);
			pass(POLL);
		}
		/* The exchange: both are master for an instant. */
		if (order & 4)
			self(B, 1, IBSM_SM_MASTER, 6);
		if (order & 1) {
			answer(B, IBSM_SM_MASTER, 6);
			answer(A, order & 2 ? IBSM_SM_MASTER : IBSM_SM_STANDBY, 5);
		} else {
			answer(A, order & 2 ? IBSM_SM_MASTER : IBSM_SM_STANDBY, 5);
			answer(B, IBSM_SM_MASTER, 6);
		}
		if (order & 4)
			self(A, 1, IBSM_SM_STANDBY, 5);
		for (int i = 0; i < 4; i++) {
			pass(POLL);
			if (order & 4)
				self(B, 1, IBSM_SM_MASTER, 6);
			answer(A, IBSM_SM_STANDBY, 5);
			answer(B, IBSM_SM_MASTER, 6);
		}
		assert_never(DETECT_SM_MULTIPLE_MASTERS);
		assert_never(DETECT_SM_VIEWS_DISAGREE);
		assert_int_equal(detect_sm_master(w.d), B);
		assert_int_equal(last_reason(), MASTERSHIP_PRIORITY);
	}
}

/* ---- sm-unresponsive ---- */

static void test_unresponsive(void **state)
{
	const struct alert *alert;

	(void)state;
	answer(A, IBSM_SM_MASTER, 5);
	answer(B, IBSM_SM_STANDBY, 4);
	for (uint32_t i = 0; i < w.config.unresponsive_polls; i++) {
		assert_never(DETECT_SM_UNRESPONSIVE);
		pass(POLL);
		answer(A, IBSM_SM_MASTER, 5);
		miss(B);
	}
	assert_once(DETECT_SM_UNRESPONSIVE);
	alert = open_alert(DETECT_SM_UNRESPONSIVE);
	assert_int_equal(alert->subject.guid, B);
	assert_int_equal(number_of(alert, "polls_missed"), 3);
	/* Answers that come and go are one alert. */
	for (int i = 0; i < 30; i++) {
		pass(POLL);
		answer(A, IBSM_SM_MASTER, 5);
		if (i % 4 == 0)
			answer(B, IBSM_SM_STANDBY, 4);
		else
			miss(B);
	}
	assert_once(DETECT_SM_UNRESPONSIVE);
	/* When nothing is asked any more, nothing is known. */
	detect_sm_input(w.d,
			&(struct detect_sm_input){.type = DETECT_SM_OUTSIDE_LOST, .now = w.now});
	assert_true(is_open(DETECT_SM_UNRESPONSIVE));
	answer(B, IBSM_SM_STANDBY, 4);
	assert_true(is_open(DETECT_SM_UNRESPONSIVE));
	answer(B, IBSM_SM_STANDBY, 4);
	assert_false(is_open(DETECT_SM_UNRESPONSIVE));
}

static void test_gone_is_not_unresponsive(void **state)
{
	struct build *build = build_new();
	uint64_t standby = BUILD_HOST(1) + 1;

	(void)state;
	build_tree(build, 2, 1, 2);
	build_sm(build, BUILD_HOST(0) + 1, IBSM_SM_MASTER, 9, true);
	build_sm(build, standby, IBSM_SM_STANDBY, 3, false);
	fabric_input(build, NULL, NULL, 0);
	for (int i = 0; i < 4; i++) {
		struct detect_sm_input in = {
			.type = DETECT_SM_REPLY,
			.now = w.now,
			.reply = {.lid = build_port(build, BUILD_HOST(1), 1)->lid,
				  .status = ETIMEDOUT}};

		detect_sm_input(w.d, &in);
		pass(POLL);
	}
	assert_once(DETECT_SM_UNRESPONSIVE);
	assert_string_equal(text_of(open_alert(DETECT_SM_UNRESPONSIVE), "node"), "host1");
	/* Its host is off: the fabric no longer has it. */
	build_node(build, BUILD_HOST(1))->present = 0;
	fabric_input(build, NULL, NULL, 0);
	assert_false(is_open(DETECT_SM_UNRESPONSIVE));
	build_free(build);
}

/* ---- sm-hung ---- */

/* Polls for `usec`; each answer raises ActCount by one, and by `more` beside. */
static void poll_for(uint64_t usec, uint32_t more)
{
	for (uint64_t t = 0; t < usec; t += POLL) {
		pass(POLL);
		w.act_count += 1 + more;
		answer_with(A, IBSM_SM_MASTER, 5, (uint32_t)w.act_count, true);
	}
}

static void test_hung(void **state)
{
	const struct alert *alert;

	(void)state;
	self(A, 1, IBSM_SM_MASTER, 5); /* sweeps each 10 s */
	answer_with(A, IBSM_SM_MASTER, 5, 1, true);
	w.act_count = 1;
	poll_for(5 * MINUTE, 5);
	assert_never(DETECT_SM_HUNG);
	/* It sweeps, though little: one MAD in each three sweep intervals is a sign of life. */
	for (int i = 0; i < 20; i++) {
		poll_for(25 * SEC, 0);
		w.act_count++;
	}
	poll_for(5 * SEC, 0);
	assert_never(DETECT_SM_HUNG);
	/* It answers, and that is all. */
	poll_for(5 * SEC, 1);
	poll_for(25 * SEC, 0);
	assert_never(DETECT_SM_HUNG);
	poll_for(5 * SEC, 0);
	assert_once(DETECT_SM_HUNG);
	alert = open_alert(DETECT_SM_HUNG);
	assert_int_equal(number_of(alert, "act_count_growth"), number_of(alert, "polls_answered"));
	poll_for(10 * MINUTE, 0);
	assert_once(DETECT_SM_HUNG);
	/* A missed poll says nothing either way. */
	miss(A);
	assert_true(is_open(DETECT_SM_HUNG));
	poll_for(5 * SEC, 1);
	assert_false(is_open(DETECT_SM_HUNG));
}

static void test_hung_over_the_wrap(void **state)
{
	(void)state;
	self(A, 1, IBSM_SM_MASTER, 5);
	w.act_count = UINT32_MAX - 5;
	answer_with(A, IBSM_SM_MASTER, 5, (uint32_t)w.act_count, true);
	poll_for(5 * MINUTE, 3);
	assert_never(DETECT_SM_HUNG);
	w.act_count = UINT32_MAX - 3;
	answer_with(A, IBSM_SM_MASTER, 5, (uint32_t)w.act_count, true);
	poll_for(5 * MINUTE, 0);
	assert_once(DETECT_SM_HUNG);
}

static void test_hung_by_the_interval_of_the_snapshot(void **state)
{
	struct build *build = build_new();

	(void)state;
	/* sweep_interval of the opensm that made the snapshot, and of no other. */
	build_option(build, "sweep_interval", IBSM_OPTION_INTEGER, 10, NULL);
	build_sm(build, B, IBSM_SM_MASTER, 5, true);
	fabric_input(build, NULL, NULL, 0);
	w.act_count = 1;
	poll_for(10 * MINUTE, 0);
	assert_never(DETECT_SM_HUNG);
	build_sm_remove(build, B);
	build_sm(build, A, IBSM_SM_MASTER, 5, true);
	fabric_input(build, NULL, NULL, 0);
	poll_for(10 * MINUTE, 0);
	assert_once(DETECT_SM_HUNG);
	assert_int_equal(number_of(open_alert(DETECT_SM_HUNG), "sweep_interval_usec"), 10 * SEC);
	build_free(build);
}

static void test_not_hung_without_sweeps_due(void **state)
{
	struct detect_sm_input in = {.type = DETECT_SM_SELF};

	(void)state;
	/* Periodic sweeps are off. */
	in.now = w.now;
	in.self = (struct sm_self){.port_guid = A,
				   .instance = 1,
				   .state = IBSM_SM_MASTER,
				   .priority = 5,
				   .sweep_interval_known = true};
	detect_sm_input(w.d, &in);
	poll_for(HOUR, 0);
	assert_never(DETECT_SM_HUNG);
	/* A standby has nothing to send; of a foreign SM nobody knows how often it sweeps. */
	restart();
	self(A, 1, IBSM_SM_MASTER, 5);
	for (int i = 0; i < 100; i++) {
		pass(POLL);
		answer_with(B, IBSM_SM_STANDBY, 4, (uint32_t)i, false);
	}
	restart();
	poll_for(HOUR, 0);
	assert_never(DETECT_SM_HUNG);
}

/* ---- sm-no-standby ---- */

static void test_no_standby(void **state)
{
	(void)state;
	/* From outside, one that was never master is not found: it may be there. */
	answer(A, IBSM_SM_MASTER, 5);
	pass(HOUR);
	assert_never(DETECT_SM_NO_STANDBY);
	answer(B, IBSM_SM_STANDBY, 4);
	pass(HOUR);
	assert_never(DETECT_SM_NO_STANDBY);
	/* Gone for less than the hold, again and again. */
	for (int i = 0; i < 10; i++) {
		miss(B);
		pass(w.config.no_standby_usec - SEC);
		answer(B, IBSM_SM_STANDBY, 4);
		pass(SEC);
	}
	assert_never(DETECT_SM_NO_STANDBY);
	miss(B);
	pass(w.config.no_standby_usec - SEC);
	assert_never(DETECT_SM_NO_STANDBY);
	pass(SEC);
	assert_once(DETECT_SM_NO_STANDBY);
	/* One that is not active is none. */
	answer(B, IBSM_SM_NOT_ACTIVE, 4);
	assert_true(is_open(DETECT_SM_NO_STANDBY));
	/* Without a master the question does not arise, and the answer stays. */
	miss(A);
	pass(HOUR);
	assert_true(is_open(DETECT_SM_NO_STANDBY));
	answer(A, IBSM_SM_MASTER, 5);
	answer(B, IBSM_SM_STANDBY, 4);
	assert_false(is_open(DETECT_SM_NO_STANDBY));
}

/* ---- priorities ---- */

static void test_equal_priority(void **state)
{
	const struct alert *alert;

	(void)state;
	answer(A, IBSM_SM_MASTER, 5);
	answer(B, IBSM_SM_STANDBY, 4);
	answer(C, IBSM_SM_STANDBY, 3);
	pass(MINUTE);
	assert_never(DETECT_SM_EQUAL_PRIORITY);
	answer(B, IBSM_SM_STANDBY, 5);
	assert_once(DETECT_SM_EQUAL_PRIORITY);
	alert = open_alert(DETECT_SM_EQUAL_PRIORITY);
	assert_int_equal(number_of(alert, "priority"), 5);
	assert_int_equal(evidence_count(&alert->evidence, "guids"), 2);
	assert_non_null(strstr(alert->message, "0x00000000000000a0 wins"));
	/* A standby that dies comes back with what it had: no chatter. */
	for (int i = 0; i < 5; i++) {
		miss(B);
		answer(A, IBSM_SM_MASTER, 5);
		pass(MINUTE);
		answer(B, IBSM_SM_STANDBY, 5);
		answer(A, IBSM_SM_MASTER, 5);
	}
	assert_once(DETECT_SM_EQUAL_PRIORITY);
	answer(B, IBSM_SM_STANDBY, 6);
	assert_false(is_open(DETECT_SM_EQUAL_PRIORITY));
	answer(B, IBSM_SM_STANDBY, 5);
	assert_true(is_open(DETECT_SM_EQUAL_PRIORITY));
	/* One that is not active does not compete; nor one that is long gone. */
	answer(B, IBSM_SM_NOT_ACTIVE, 5);
	assert_false(is_open(DETECT_SM_EQUAL_PRIORITY));
	answer(B, IBSM_SM_STANDBY, 5);
	for (uint64_t t = 0; t < w.config.gone_usec; t += POLL) {
		assert_true(is_open(DETECT_SM_EQUAL_PRIORITY));
		pass(POLL);
		answer(A, IBSM_SM_MASTER, 5);
	}
	assert_false(is_open(DETECT_SM_EQUAL_PRIORITY));
}

static void test_equal_priority_is_found_in_a_snapshot(void **state)
{
	struct build *build = build_new();

	(void)state;
	build_tree(build, 2, 1, 2);
	build_sm(build, BUILD_HOST(0) + 1, IBSM_SM_MASTER, 0, true);
	build_sm(build, BUILD_HOST(3) + 1, IBSM_SM_STANDBY, 0, false);
	fabric_input(build, NULL, NULL, 0);
	assert_once(DETECT_SM_EQUAL_PRIORITY);
	assert_int_equal(evidence_count(&open_alert(DETECT_SM_EQUAL_PRIORITY)->evidence, "names"),
			 2);
	assert_non_null(strstr(open_alert(DETECT_SM_EQUAL_PRIORITY)->message, "host0"));
	build_free(build);
}

static void test_not_highest(void **state)
{
	(void)state;
	answer(A, IBSM_SM_MASTER, 5);
	answer(B, IBSM_SM_STANDBY, 5);
	answer(C, IBSM_SM_NOT_ACTIVE, 9); /* does not wait */
	pass(HOUR);
	assert_never(DETECT_SM_NOT_HIGHEST); /* equal is not higher */
	/* It waits for less than the hold, and takes over. */
	answer(B, IBSM_SM_STANDBY, 6);
	pass(w.config.not_highest_usec - SEC);
	answer(A, IBSM_SM_STANDBY, 5);
	answer(B, IBSM_SM_MASTER, 6);
	pass(HOUR);
	assert_never(DETECT_SM_NOT_HIGHEST);
	answer(A, IBSM_SM_STANDBY, 9);
	pass(w.config.not_highest_usec - SEC);
	assert_never(DETECT_SM_NOT_HIGHEST);
	pass(SEC);
	assert_once(DETECT_SM_NOT_HIGHEST);
	assert_int_equal(open_alert(DETECT_SM_NOT_HIGHEST)->subject.guid, A);
	assert_int_equal(number_of(open_alert(DETECT_SM_NOT_HIGHEST), "master"), B);
	miss(A);
	assert_true(is_open(DETECT_SM_NOT_HIGHEST)); /* nothing is known */
	answer(A, IBSM_SM_STANDBY, 6);
	assert_false(is_open(DETECT_SM_NOT_HIGHEST));
}

static void test_not_highest_waits_for_sweeps(void **state)
{
	struct detect_sm_input in = {.type = DETECT_SM_SELF};

	(void)state;
	in.now = w.now;
	in.self = (struct sm_self){.port_guid = A,
				   .instance = 1,
				   .state = IBSM_SM_MASTER,
				   .priority = 5,
				   .sweep_interval_known = true,
				   .sweep_interval_sec = 300};
	detect_sm_input(w.d, &in);
	self(B, 1, IBSM_SM_STANDBY, 9);
	pass(3 * 300 * SEC - SEC);
	assert_never(DETECT_SM_NOT_HIGHEST);
	pass(SEC);
	assert_once(DETECT_SM_NOT_HIGHEST);
}

/* ---- sm-unexpected ---- */

static void test_unexpected_by_list(void **state)
{
	struct build *build = build_new();

	(void)state;
	w.config.expected[0] = A;
	w.config.expected[1] = BUILD_HOST(0); /* a node's GUID will do */
	w.config.expected_count = 2;
	restart();
	build_tree(build, 2, 1, 2);
	build_sm(build, BUILD_HOST(0) + 1, IBSM_SM_MASTER, 9, true);
	fabric_input(build, NULL, NULL, 0);
	answer(A, IBSM_SM_STANDBY, 5);
	assert_never(DETECT_SM_UNEXPECTED);
	answer(B, IBSM_SM_STANDBY, 4);
	assert_once(DETECT_SM_UNEXPECTED);
	assert_int_equal(open_alert(DETECT_SM_UNEXPECTED)->subject.guid, B);
	/* It stays until it has been gone for a while. */
	miss(B);
	pass(w.config.gone_usec - SEC);
	assert_true(is_open(DETECT_SM_UNEXPECTED));
	pass(SEC);
	assert_false(is_open(DETECT_SM_UNEXPECTED));
	assert_int_equal(w.raised[DETECT_SM_UNEXPECTED], 1);
	build_free(build);
}

static void test_unexpected_by_default(void **state)
{
	struct build *build = build_new();

	(void)state;
	build_tree(build, 2, 1, 2);
	/* An embedded one alone is how many small fabrics run. */
	build_sm(build, BUILD_SPINE(0), IBSM_SM_MASTER, 9, true);
	fabric_input(build, NULL, NULL, 0);
	assert_never(DETECT_SM_UNEXPECTED);
	/* Beside a host's it is usually forgotten. */
	build_sm(build, BUILD_HOST(0) + 1, IBSM_SM_STANDBY, 8, false);
	fabric_input(build, NULL, NULL, 0);
	assert_once(DETECT_SM_UNEXPECTED);
	assert_int_equal(open_alert(DETECT_SM_UNEXPECTED)->subject.guid, BUILD_SPINE(0));
	build_free(build);
}

static void test_too_many_sms(void **state)
{
	(void)state;
	answer(A, IBSM_SM_MASTER, 5);
	answer(B, IBSM_SM_STANDBY, 4);
	pass(MINUTE);
	assert_never(DETECT_SM_UNEXPECTED);
	answer(C, IBSM_SM_STANDBY, 3);
	assert_once(DETECT_SM_UNEXPECTED);
	assert_string_equal(open_alert(DETECT_SM_UNEXPECTED)->subject.key, "subnet");
	assert_int_equal(evidence_count(&open_alert(DETECT_SM_UNEXPECTED)->evidence, "guids"), 3);
	pass(w.config.gone_usec / 2);
	answer(A, IBSM_SM_MASTER, 5);
	answer(B, IBSM_SM_STANDBY, 4);
	pass(w.config.gone_usec / 2);
	assert_false(is_open(DETECT_SM_UNEXPECTED));
}

/* ---- sm-views-disagree ---- */

static void test_views_disagree(void **state)
{
	const struct alert *alert;

	(void)state;
	for (uint32_t i = 0; i < w.config.disagree_polls; i++) {
		assert_never(DETECT_SM_VIEWS_DISAGREE);
		self(A, 1, IBSM_SM_MASTER, 5);
		answer(A, IBSM_SM_STANDBY, 5);
		pass(POLL);
	}
	assert_once(DETECT_SM_VIEWS_DISAGREE);
	alert = open_alert(DETECT_SM_VIEWS_DISAGREE);
	assert_string_equal(text_of(alert, "inside_state"), "master");
	assert_string_equal(text_of(alert, "outside_state"), "standby");
	/* Now and then they agree. */
	for (int i = 0; i < 20; i++) {
		self(A, 1, IBSM_SM_MASTER, 5);
		answer(A, i % 3 ? IBSM_SM_MASTER : IBSM_SM_STANDBY, 5);
		pass(POLL);
	}
	assert_once(DETECT_SM_VIEWS_DISAGREE);
	for (uint32_t i = 0; i < w.config.disagree_polls; i++) {
		assert_true(is_open(DETECT_SM_VIEWS_DISAGREE) || i == w.config.disagree_polls - 1);
		answer(A, IBSM_SM_MASTER, 5);
		pass(POLL);
	}
	assert_false(is_open(DETECT_SM_VIEWS_DISAGREE));
	/* The priority counts, too. */
	for (uint32_t i = 0; i < w.config.disagree_polls; i++)
		answer(A, IBSM_SM_MASTER, 6);
	assert_true(is_open(DETECT_SM_VIEWS_DISAGREE));
	/* With the plugin gone there is nothing to compare. */
	self_gone(A);
	pass(w.config.gone_usec);
	assert_false(is_open(DETECT_SM_VIEWS_DISAGREE));
}

static void test_master_lid_leads_elsewhere(void **state)
{
	(void)state;
	self(A, 1, IBSM_SM_MASTER, 5);
	for (uint32_t i = 0; i < w.config.disagree_polls; i++) {
		assert_never(DETECT_SM_VIEWS_DISAGREE);
		pass(POLL);
		self(A, 1, IBSM_SM_MASTER, 5);
		answer_with(B, IBSM_SM_STANDBY, 4, 1, true);
	}
	assert_once(DETECT_SM_VIEWS_DISAGREE);
	assert_string_equal(open_alert(DETECT_SM_VIEWS_DISAGREE)->subject.key, "master-lid");
	for (uint32_t i = 0; i < w.config.disagree_polls; i++)
		answer_with(A, IBSM_SM_MASTER, 5, 100 + i, true);
	assert_false(is_open(DETECT_SM_VIEWS_DISAGREE));
}

/* ---- placement and options ---- */

static void test_placement(void **state)
{
	struct build *build = build_new();
	struct sm_placement *placement = calloc(1, sizeof(*placement));
	const struct sm_placement_config config = SM_PLACEMENT_CONFIG_DEFAULT;
	struct fabric *fabric;
	const struct alert *alert;
	uint64_t master = BUILD_HOST(0) + 1;

	(void)state;
	build_tree(build, 2, 2, 2);
	build_sm(build, master, IBSM_SM_MASTER, 9, true);
	build_sm(build, BUILD_HOST(1) + 1, IBSM_SM_STANDBY, 8, false);
	fabric = build_fabric(build);
	assert_int_equal(sm_placement_find(fabric, &config, placement), 0);
	fabric_unref(fabric);
	fabric_input(build, placement, NULL, 0);
	assert_once(DETECT_SM_PLACEMENT);
	alert = open_alert(DETECT_SM_PLACEMENT);
	assert_int_equal(alert->subject.guid, BUILD_HOST(1) + 1);
	assert_string_equal(text_of(alert, "reasons"), "same-switch");
	assert_string_equal(text_of(alert, "switch_name"), "leaf0");
	/* Without a new one, what was found still holds. */
	fabric_input(build, NULL, NULL, 0);
	assert_once(DETECT_SM_PLACEMENT);

	build_sm_remove(build, BUILD_HOST(1) + 1);
	fabric = build_fabric(build);
	sm_placement_find(fabric, &config, placement);
	fabric_unref(fabric);
	fabric_input(build, placement, NULL, 0);
	assert_false(is_open(DETECT_SM_PLACEMENT));

	/* Its own link goes down thrice; other ports' do not matter. */
	for (int i = 0; i < 3; i++) {
		struct detect_sm_input in = {.type = DETECT_SM_LINK_DOWN};

		assert_false(is_open(DETECT_SM_PLACEMENT));
		pass(MINUTE);
		in.now = w.now;
		in.link.node_guid = BUILD_HOST(2);
		in.link.port = 1;
		for (int j = 0; j < 5; j++)
			detect_sm_input(w.d, &in);
		in.link.node_guid = BUILD_HOST(0);
		detect_sm_input(w.d, &in);
	}
	alert = open_alert(DETECT_SM_PLACEMENT);
	assert_non_null(alert);
	assert_int_equal(alert->subject.guid, master);
	assert_string_equal(text_of(alert, "reasons"), "flapping-link");
	pass(2 * HOUR);
	assert_false(is_open(DETECT_SM_PLACEMENT));
	free(placement);
	build_free(build);
}

static void test_options(void **state)
{
	struct build *build = build_new();
	struct sm_config_result results[SM_CONFIG_CHECKS_MAX];
	const struct sm_config_limits limits = SM_CONFIG_LIMITS_DEFAULT;
	struct fabric *fabric;
	size_t n;

	(void)state;
	for (uint64_t interval = 0; interval <= 10; interval += 10) {
		build_option(build, "sweep_interval", IBSM_OPTION_INTEGER, interval, NULL);
		fabric = build_fabric(build);
		n = sm_config_judge(fabric, &limits, SM_SHAPE_ANY, results);
		fabric_unref(fabric);
		fabric_input(build, NULL, results, n);
		assert_int_equal(is_open(DETECT_SM_CONFIG), interval == 0);
		if (interval == 0) {
			const struct alert *alert = open_alert(DETECT_SM_CONFIG);

			assert_string_equal(alert->subject.key, "sweep-interval");
			assert_int_equal(alert->severity, FINDING_WARNING);
			assert_string_equal(text_of(alert, "option"), "sweep_interval");
			assert_true(strlen(text_of(alert, "source")) > 0);
		}
		detect_sm_options(w.d, &n);
		assert_int_equal(n, 1);
	}
	build_free(build);
}

/* ---- over a restart ---- */

static struct detect_sm_saved saved;
static struct mastership_entry saved_history[MASTERSHIP_MAX];
static size_t saved_history_count;

static void save(void)
{
	const struct mastership *history = detect_sm_history(w.d);

	detect_sm_save(w.d, &w.now, &saved);
	saved_history_count = history->count;
	memcpy(saved_history, history->entries, sizeof(saved_history));
}

/* kill -9 of ibsmd, and another boot: the alerts as they were, a new detector. */
static void crash_and_load(uint64_t away_usec)
{
	struct alert_set *old = w.alerts;

	detect_sm_free(w.d);
	w.now.monotonic_usec = 3 * SEC;
	w.now.realtime_usec += away_usec;
	memset(w.raised, 0, sizeof(w.raised));
	memset(w.cleared, 0, sizeof(w.cleared));
	start();
	for (size_t i = 0; i < alert_set_open(old); i++)
		assert_int_equal(alert_set_restore(w.alerts, alert_set_get(old, i)), 0);
	alert_set_free(old);
	assert_int_equal(detect_sm_load(w.d, &saved, saved_history, saved_history_count, &w.now),
			 0);
}

static void test_penalties_survive(void **state)
{
	(void)state;
	flap_by_fail_back(9, 5);
	assert_once(DETECT_SM_FLAPPING);
	save();
	double penalty = detect_sm_penalty(w.d, &w.now);
	uint64_t id = open_alert(DETECT_SM_FLAPPING)->id;

	crash_and_load(15 * MINUTE);
	assert_true(detect_sm_penalty(w.d, &w.now) > penalty / 2 - 1 &&
		    detect_sm_penalty(w.d, &w.now) < penalty / 2 + 1);
	pass(SEC);
	/* Still open, the same one; not raised again. */
	assert_int_equal(open_alert(DETECT_SM_FLAPPING)->id, id);
	assert_never(DETECT_SM_FLAPPING);
	assert_true(is_open(DETECT_SM_MASTER_CHANGED));
	/* The master is as before: no change. */
	self(B, 1, IBSM_SM_STANDBY, 5);
	self(A, 4, IBSM_SM_MASTER, 9);
	assert_int_equal(detect_sm_history(w.d)->count, 7);
	assert_int_equal(w.updated[DETECT_SM_FLAPPING], 3);
	/* The detector still clears it. */
	pass(HOUR);
	assert_false(is_open(DETECT_SM_FLAPPING));
}

static void test_a_change_while_away(void **state)
{
	(void)state;
	self(A, 1, IBSM_SM_MASTER, 9);
	self(B, 1, IBSM_SM_STANDBY, 5);
	pass(10 * SEC);
	save();
	crash_and_load(HOUR);
	self(B, 1, IBSM_SM_MASTER, 5);
	assert_once(DETECT_SM_MASTER_CHANGED);
	assert_int_equal(detect_sm_history(w.d)->count, 2);
	assert_int_equal(number_of(open_alert(DETECT_SM_MASTER_CHANGED), "gap_usec"),
			 HOUR + 10 * SEC);
	/* A restart meanwhile is seen, too: it belongs to the change. */
	self(A, 2, IBSM_SM_STANDBY, 9);
	assert_int_equal(last_reason(), MASTERSHIP_FAILOVER);
}

static void test_conditions_stay_until_known(void **state)
{
	(void)state;
	answer(A, IBSM_SM_MASTER, 5);
	answer(B, IBSM_SM_STANDBY, 5);
	for (int i = 0; i < 3; i++) {
		pass(POLL);
		answer(A, IBSM_SM_MASTER, 5);
		miss(B);
	}
	assert_true(is_open(DETECT_SM_UNRESPONSIVE));
	assert_true(is_open(DETECT_SM_EQUAL_PRIORITY));
	for (int i = 0; i < 2; i++) {
		pass(POLL);
		miss(A);
	}
	assert_true(is_open(DETECT_SM_LOST));
	save();
	crash_and_load(10 * SEC);
	pass(MINUTE);
	assert_true(is_open(DETECT_SM_UNRESPONSIVE));
	assert_true(is_open(DETECT_SM_EQUAL_PRIORITY));
	assert_true(is_open(DETECT_SM_LOST));
	for (int i = 0; i < 2; i++) {
		answer(A, IBSM_SM_MASTER, 5);
		answer(B, IBSM_SM_STANDBY, 4);
		pass(POLL);
	}
	assert_false(is_open(DETECT_SM_UNRESPONSIVE));
	assert_false(is_open(DETECT_SM_EQUAL_PRIORITY));
	assert_false(is_open(DETECT_SM_LOST));
	for (unsigned int kind = 0; kind < DETECT_KINDS; kind++)
		assert_int_equal(w.raised[kind], 0);
}

static void test_bad_state_is_left_out(void **state)
{
	struct mastership_entry entry = {.number = 1, .to = 0};

	(void)state;
	memset(&saved, 0, sizeof(saved));
	saved.count = SM_TABLE_MAX + 5;
	assert_true(detect_sm_load(w.d, &saved, &entry, 1, &w.now) > 0);
	pass(SEC);
	assert_int_equal(detect_sm_table(w.d)->count, 0);
	memset(&saved, 0xff, sizeof(saved));
	saved.count = SM_TABLE_MAX;
	detect_sm_load(w.d, &saved, &entry, 1, &w.now);
	pass(SEC);
}

static void test_bad_config(void **state)
{
	struct detect_sm_config bad = w.config;

	(void)state;
	bad.flap.half_life_usec = 0;
	assert_int_equal(detect_sm_configure(w.d, &bad), -EINVAL);
	bad = w.config;
	bad.expected_count = SM_EXPECTED_MAX + 1;
	assert_int_equal(detect_sm_configure(w.d, &bad), -EINVAL);
	assert_int_equal(detect_sm_configure(w.d, &w.config), 0);
}

/* ---- everything at once ---- */

static uint64_t random_state = 88172645463325252;

static uint32_t random_below(uint32_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state % n);
}

static void test_any_order_of_inputs(void **state)
{
	struct build *build = build_new();
	const uint64_t guids[] = {BUILD_HOST(0) + 1, BUILD_HOST(1) + 1, BUILD_SPINE(0), A, B};

	(void)state;
	/* Whatever comes in whatever order: nothing breaks, and each alert is raised and cleared in
	 * turns. */
	build_tree(build, 2, 1, 2);
	build_sm(build, guids[0], IBSM_SM_MASTER, 9, true);
	build_sm(build, guids[1], IBSM_SM_STANDBY, 9, false);
	for (int i = 0; i < 20000; i++) {
		uint64_t guid = guids[random_below(5)];
		uint8_t sm_state = (uint8_t)random_below(4);
		uint8_t priority = (uint8_t)random_below(3);

		switch (random_below(12)) {
		case 0:
			self(guid, random_below(3) + 1, sm_state, priority);
			break;
		case 1:
			self_gone(guid);
			break;
		case 2:
		case 3:
		case 4:
			answer_with(guid, sm_state, priority, random_below(1000), random_below(2));
			break;
		case 5:
		case 6:
			miss(guid);
			break;
		case 7:
			if (random_below(20) == 0)
				detect_sm_input(
					w.d, &(struct detect_sm_input){
						     .type = DETECT_SM_OUTSIDE_LOST, .now = w.now});
			break;
		case 8:
			if (random_below(20) == 0)
				fabric_input(build, NULL, NULL, 0);
			break;
		default:
			pass(random_below(10) * SEC);
		}
		if (i % 500 == 0) {
			save();
			if (random_below(4) == 0) {
				int raised = 0, cleared = 0;
				size_t open = alert_set_open(w.alerts);

				for (unsigned int kind = 0; kind < DETECT_KINDS; kind++) {
					raised += w.raised[kind];
					cleared += w.cleared[kind];
				}
				assert_true(raised - cleared <= (int)open);
				crash_and_load(random_below(1000) * SEC);
			}
		}
	}
	assert_int_equal(alert_set_not_raised(w.alerts), 0);
	build_free(build);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_master_changed_by_failover),
		T(test_reason_from_outside_alone),
		T(test_reason_is_completed),
		T(test_a_lost_answer_changes_nothing),
		T(test_master_known_by_a_standby_alone),
		T(test_a_known_reason_stays),
		T(test_six_alternate_kills),
		T(test_planned_fail_over_and_fail_back),
		T(test_a_day_of_single_handovers),
		T(test_flap_reasons),
		T(test_an_sm_that_dies_alone),
		T(test_one_restart_seen_twice_is_one),
		T(test_restart_within_a_change_adds_nothing),
		T(test_a_change_excuses_one_restart),
		T(test_one_that_was_cut_off_is_not_excused_for_ever),
		T(test_lost),
		T(test_lost_from_the_start),
		T(test_lost_when_it_steps_down),
		T(test_not_lost_while_its_plugin_speaks),
		T(test_not_lost_without_polls),
		T(test_multiple_masters),
		T(test_one_of_two_masters_dies),
		T(test_handover_is_not_multiple),
		T(test_unresponsive),
		T(test_gone_is_not_unresponsive),
		T(test_hung),
		T(test_hung_over_the_wrap),
		T(test_hung_by_the_interval_of_the_snapshot),
		T(test_not_hung_without_sweeps_due),
		T(test_no_standby),
		T(test_equal_priority),
		T(test_equal_priority_is_found_in_a_snapshot),
		T(test_not_highest),
		T(test_not_highest_waits_for_sweeps),
		T(test_unexpected_by_list),
		T(test_unexpected_by_default),
		T(test_too_many_sms),
		T(test_views_disagree),
		T(test_master_lid_leads_elsewhere),
		T(test_placement),
		T(test_options),
		T(test_penalties_survive),
		T(test_a_change_while_away),
		T(test_conditions_stay_until_known),
		T(test_bad_state_is_left_out),
		T(test_bad_config),
		T(test_any_order_of_inputs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
