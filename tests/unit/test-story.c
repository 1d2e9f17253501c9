// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Sweep stories: each course that opensm's sweeps take, records out of order, and limits.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fabric/story.h"
#include "tests/lib/snapshot-build.h"

#define MSEC UINT64_C(1000)
#define SEC (1000 * MSEC)

#define FORCE IBSM_SWEEP_FORCE_HEAVY
#define ERRORS IBSM_SWEEP_INITIALIZATION_ERROR

struct play {
	struct story_teller *teller;
	struct fabric *fabric;
	uint64_t numbers;
	uint64_t base_usec;	   /* added to all times */
	struct story *stories[32]; /* all that were told, in order */
	size_t count;
	char steps[1024]; /* "o1 c1 e1 " */
};

static void told(struct story *story, enum story_step step, void *userdata)
{
	struct play *play = userdata;
	size_t used = strlen(play->steps);

	snprintf(play->steps + used, sizeof(play->steps) - used, "%c%d ",
		 step == STORY_OPENED  ? 'o'
		 : step == STORY_ENDED ? 'e'
				       : 'c',
		 (int)story->number);
	if (step != STORY_OPENED)
		return;
	assert_true(play->count < ELEMENTSOF(play->stories));
	play->stories[play->count++] = story_ref(story);
}

static struct play begin(void)
{
	_cleanup_(build_freep) struct builder *b = build_tree2(2, 2, 2, 1);

	return (struct play){.fabric = build_fabric(b), .base_usec = 1000 * SEC};
}

static void start_teller(struct play *play)
{
	assert_int_equal(story_teller_new(&play->numbers, told, play, &play->teller), 0);
}

static void finish(struct play *play)
{
	story_teller_free(play->teller);
	for (size_t i = 0; i < play->count; i++)
		story_unref(play->stories[i]);
	fabric_unref(play->fabric);
}
#define _cleanup_play_ _cleanup_(finish)

static void give(struct play *play, union ibsm_wire_record *record, uint16_t type, uint64_t usec)
{
	record->header = (struct ibsm_wire_header){
		.magic = IBSM_WIRE_MAGIC,
		.version = IBSM_WIRE_VERSION,
		.type = type,
		.length = ibsm_wire_length(type),
		.monotonic_nsec = (play->base_usec + usec) * 1000,
		.realtime_nsec = (play->base_usec + usec) * 1000 + UINT64_C(1700000000000000000),
	};
	assert_int_equal(story_teller_record(play->teller, record, play->fabric), 0);
}

static void sweep(struct play *play, uint16_t type, uint64_t usec, uint8_t sm_state, uint32_t flags,
		  const char *engine, uint32_t mads)
{
	union ibsm_wire_record r = {0};

	r.sweep.sm_state = sm_state;
	r.sweep.sweep_flags = flags;
	r.sweep.engine_known = engine != NULL;
	r.sweep.qp0_mads_sent = mads;
	r.sweep.qp0_mads_rcvd = mads / 2;
	r.sweep.routing_kind = type == IBSM_WIRE_UCAST_ROUTING_DONE ? 1 : 0;
	if (engine)
		snprintf(r.sweep.routing_engine, sizeof(r.sweep.routing_engine), "%s", engine);
	give(play, &r, type, usec);
}

static void start(struct play *p, uint64_t usec, uint32_t flags)
{
	sweep(p, IBSM_WIRE_HEAVY_SWEEP_START, usec, 3, flags, "minhop", 100);
}

static void done(struct play *p, uint64_t usec)
{
	sweep(p, IBSM_WIRE_HEAVY_SWEEP_DONE, usec, 3, 0, "minhop", 200);
}

static void routed(struct play *p, uint64_t usec)
{
	sweep(p, IBSM_WIRE_UCAST_ROUTING_DONE, usec, 3, 0, "ftree", 300);
}

static void up(struct play *p, uint64_t usec, uint32_t flags)
{
	sweep(p, IBSM_WIRE_SUBNET_UP, usec, 3, flags, "ftree", 400);
}

static void rerouted(struct play *p, uint64_t usec)
{
	union ibsm_wire_record r = {0};

	r.sweep.sm_state = 3;
	r.sweep.routing_kind = 2;
	r.sweep.engine_known = 1;
	strcpy(r.sweep.routing_engine, "updn");
	give(p, &r, IBSM_WIRE_UCAST_ROUTING_DONE, usec);
}

static void trap(struct play *p, uint64_t usec, uint16_t number, uint16_t lid, uint16_t change)
{
	union ibsm_wire_record r = {0};

	r.trap.number = number;
	r.trap.is_generic = 1;
	r.trap.issuer_lid = lid;
	r.trap.change_flags = change;
	r.trap.sm_state = 3;
	give(p, &r, IBSM_WIRE_TRAP, usec);
}

static void lft(struct play *p, uint64_t usec, uint64_t guid, uint32_t block)
{
	union ibsm_wire_record r = {0};

	r.lft_change.node_guid = guid;
	r.lft_change.change = IBSM_LFT_CHANGED_BLOCK;
	r.lft_change.block = block;
	give(p, &r, IBSM_WIRE_LFT_CHANGE, usec);
}

static void sm_changes(struct play *p, uint64_t usec, uint8_t old, uint8_t new)
{
	union ibsm_wire_record r = {0};

	r.sm_state.old_state = old;
	r.sm_state.new_state = new;
	give(p, &r, IBSM_WIRE_SM_STATE, usec);
}

static void hello(struct play *p, uint64_t usec, uint64_t instance)
{
	union ibsm_wire_record r = {0};

	r.hello.instance = instance;
	r.hello.sm_port_guid = 0x300001;
	give(p, &r, IBSM_WIRE_HELLO, usec);
}

static void whole_sweep(struct play *p, uint64_t usec, uint32_t flags)
{
	start(p, usec, flags);
	done(p, usec + 10 * MSEC);
	routed(p, usec + 30 * MSEC);
	up(p, usec + 60 * MSEC, 0);
}

static void told_as(const struct play *p, size_t index, const char *cause, const char *result)
{
	assert_true(index < p->count);
	assert_string_equal(story_cause_kind_name(p->stories[index]->cause.kind), cause);
	assert_string_equal(story_result_name(p->stories[index]->result), result);
	assert_int_equal(p->stories[index]->number, index + 1);
}

static const char *cause_text(const struct story_cause *cause)
{
	static char text[STORY_CAUSE_TEXT_BYTES];

	return story_cause_text(cause, text, sizeof(text));
}

/* ---- a cable pulled: trap, sweep, LFT blocks, up ---- */

static void a_trap_and_its_sweep(void **state)
{
	_cleanup_play_ struct play p = begin();
	const struct story *s;

	(void)state;
	start_teller(&p);
	hello(&p, 0, 7);
	trap(&p, 1000, 128, 1, 0);
	start(&p, 1050, FORCE);
	done(&p, 11050);
	lft(&p, 20000, 0x100000, 0);
	lft(&p, 20010, 0x100001, 0);
	lft(&p, 20020, 0x100001, 1);
	routed(&p, 31050);
	up(&p, 61050, 0);
	assert_int_equal(p.count, 1);
	told_as(&p, 0, "trap", "up");
	s = p.stories[0];
	assert_string_equal(cause_text(&s->cause),
			    "trap 128 (link state changed) from leaf00-00 (LID 1)");
	assert_int_equal(s->cause.sender.node_guid, 0x100000);
	assert_int_equal(s->sm_port_guid, 0x300001);
	assert_true(s->start_seen);
	assert_int_equal(story_duration_usec(s), 60000);
	assert_int_equal(s->start_realtime_usec - s->start_monotonic_usec,
			 UINT64_C(1700000000000000));
	assert_int_equal(s->phases[STORY_DISCOVERY].end_monotonic_usec -
				 s->phases[STORY_DISCOVERY].start_monotonic_usec,
			 10000);
	assert_int_equal(s->phases[STORY_ROUTING].end_monotonic_usec -
				 s->phases[STORY_ROUTING].start_monotonic_usec,
			 20000);
	assert_int_equal(s->phases[STORY_SETUP].end_monotonic_usec -
				 s->phases[STORY_SETUP].start_monotonic_usec,
			 30000);
	assert_true(s->lft_events);
	assert_int_equal(s->lft_blocks, 3);
	assert_int_equal(s->lft_switches, 2);
	assert_true(s->mads_known);
	assert_int_equal(s->mads_sent, 300);
	assert_int_equal(s->mads_received, 150);
	assert_string_equal(s->engine, "ftree");
	assert_int_equal(s->further_count, 0);
	assert_null(s->result_text);
	assert_string_equal(p.steps, "o1 c1 c1 e1 ");
	assert_null(story_teller_running(p.teller));
}

/* opensm wakes its sweeper before it raises TRAP. */
static void the_trap_after_the_start(void **state)
{
	_cleanup_play_ struct play p = begin();

	(void)state;
	start_teller(&p);
	start(&p, 1000, FORCE);
	told_as(&p, 0, "no-trap", "running");
	assert_string_equal(cause_text(&p.stories[0]->cause),
			    "no trap seen: a light sweep found a change, SIGHUP, or the console");
	trap(&p, 1020, 128, 3, 0);
	told_as(&p, 0, "trap", "running");
	assert_string_equal(cause_text(&p.stories[0]->cause),
			    "trap 128 (link state changed) from spine000 (LID 3)");
	assert_int_equal(p.stories[0]->further_count, 0);
	assert_int_equal(p.stories[0]->traps, 1);
}

/* The same in the time of the events, but read late: when all is over. */
static void the_trap_read_late(void **state)
{
	_cleanup_play_ struct play p = begin();

	(void)state;
	start_teller(&p);
	whole_sweep(&p, 1000, FORCE);
	trap(&p, 990, 128, 3, 0);
	told_as(&p, 0, "trap", "up");
	/* One that came after DONE, read as late: the next one's. */
	trap(&p, 50000, 128, 1, 0);
	assert_int_equal(p.stories[0]->further_count, 0);
	start(&p, 62000, FORCE);
	told_as(&p, 1, "followed", "running");
}

static void traps_while_it_runs(void **state)
{
	_cleanup_play_ struct play p = begin();
	const struct story *s;

	(void)state;
	start_teller(&p);
	trap(&p, 900, 128, 1, 0);
	start(&p, 1000, FORCE);
	trap(&p, 2000, 128, 1, 0); /* again */
	trap(&p, 3000, 128, 2, 0); /* another: the discovery is repeated */
	trap(&p, 3500, 64, 0, 0);  /* opensm's own */
	trap(&p, 4000, 257, 6, 0); /* a light sweep's */
	done(&p, 10000);
	trap(&p, 15000, 128, 4, 0); /* too late for this one */
	routed(&p, 20000);
	up(&p, 30000, FORCE);
	start(&p, 30100, FORCE);
	s = p.stories[0];
	told_as(&p, 0, "trap", "up");
	assert_string_equal(cause_text(&s->cause),
			    "trap 128 (link state changed) from leaf00-00 (LID 1), 2 times");
	assert_int_equal(s->further_count, 2);
	assert_string_equal(cause_text(&s->further[0]),
			    "trap 128 (link state changed) from leaf01-00 (LID 2)");
	assert_string_equal(cause_text(&s->further[1]),
			    "trap 257 (bad P_Key) from node00001 HCA-1 (LID 6)");
	assert_int_equal(s->traps, 4);
	assert_int_equal(s->traps_sent, 1);
	told_as(&p, 1, "followed", "running");
	assert_string_equal(cause_text(&p.stories[1]->cause),
			    "trap 128 (link state changed) while another sweep ran, from spine001 "
			    "(LID 4)");
}

static void which_traps_force_a_sweep(void **state)
{
	static const struct {
		uint16_t number, change;
		const char *cause, *text;
	} cases[] = {
		{128, 0, "trap", "trap 128 (link state changed) from node00000 HCA-1 (LID 5)"},
		{144, 0, "trap",
		 "trap 144 (node or port attributes changed) from node00000 HCA-1 (LID 5)"},
		{144, 1, "no-trap", ""},
		{144, 3, "trap",
		 "trap 144 (node or port attributes changed, node description, enabled width) from "
		 "node00000 HCA-1 (LID 5)"},
		{144, 8, "trap",
		 "trap 144 (node or port attributes changed, SM priority) from node00000 HCA-1 "
		 "(LID 5)"},
		{145, 0, "no-trap", ""},
		{256, 0, "no-trap", ""},
		{65, 0, "no-trap", ""},
	};

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_play_ struct play p = begin();

		start_teller(&p);
		trap(&p, 900, cases[i].number, 5, cases[i].change);
		start(&p, 1000, FORCE);
		told_as(&p, 0, cases[i].cause, "running");
		if (cases[i].text[0])
			assert_string_equal(cause_text(&p.stories[0]->cause), cases[i].text);
		else
			assert_int_equal(p.stories[0]->further_count,
					 cases[i].number == 65 ? 0 : 1);
	}
}

static void a_vendor_trap_is_no_generic_one(void **state)
{
	_cleanup_play_ struct play p = begin();
	union ibsm_wire_record r = {0};

	(void)state;
	start_teller(&p);
	r.trap.number = 128;
	r.trap.issuer_lid = 99;
	give(&p, &r, IBSM_WIRE_TRAP, 900);
	start(&p, 1000, FORCE);
	told_as(&p, 0, "no-trap", "running");
	assert_string_equal(cause_text(&p.stories[0]->further[0]),
			    "vendor trap of device 0x0080 from LID 99");
}

static void old_traps_are_forgotten(void **state)
{
	_cleanup_play_ struct play p = begin();

	(void)state;
	start_teller(&p);
	trap(&p, 0, 128, 1, 0);
	start(&p, STORY_TRAP_MAX_AGE_USEC + 1, FORCE);
	told_as(&p, 0, "no-trap", "running");
	assert_int_equal(p.stories[0]->further_count, 0);
}

/* Many light traps before the one that matters. */
static void a_crowd_of_traps(void **state)
{
	_cleanup_play_ struct play p = begin();

	(void)state;
	start_teller(&p);
	for (uint16_t lid = 1; lid <= 100; lid++)
		trap(&p, lid, 257, lid, 0);
	trap(&p, 200, 128, 1, 0);
	start(&p, 300, FORCE);
	told_as(&p, 0, "trap", "running");
	assert_int_equal(p.stories[0]->further_count, STORY_CAUSES_MAX - 1);
	assert_int_equal(p.stories[0]->further_not_listed, 100 - STORY_CAUSES_MAX + 1);
}

/* ---- causes that are no traps ---- */

static void causes_by_flags(void **state)
{
	static const struct {
		uint8_t sm_state;
		uint32_t flags;
		const char *cause;
	} cases[] = {
		{1, 0, "became-master"},
		{1, IBSM_SWEEP_COMING_OUT_OF_STANDBY, "left-standby"},
		{3, IBSM_SWEEP_COMING_OUT_OF_STANDBY | FORCE, "left-standby"},
		{3, ERRORS, "retry"},
		{3, ERRORS | IBSM_SWEEP_OPT_FORCE_HEAVY, "retry"},
		{3, IBSM_SWEEP_OPT_FORCE_HEAVY, "every-sweep-heavy"},
		{3, FORCE, "no-trap"},
		{3, IBSM_SWEEP_FORCE_REROUTE, "reroute"},
		{3, 0, "unknown"},
	};

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_play_ struct play p = begin();

		start_teller(&p);
		sweep(&p, IBSM_WIRE_HEAVY_SWEEP_START, 1000, cases[i].sm_state, cases[i].flags, "",
		      0);
		told_as(&p, 0, cases[i].cause, "running");
		assert_int_equal(p.stories[0]->start_flags, cases[i].flags);
		assert_true(strlen(cause_text(&p.stories[0]->cause)) > 0);
	}
}

static void errors_and_their_retry(void **state)
{
	_cleanup_play_ struct play p = begin();

	(void)state;
	start_teller(&p);
	start(&p, 1000, FORCE);
	done(&p, 2000);
	routed(&p, 3000);
	up(&p, 4000, ERRORS);
	start(&p, 4100, ERRORS);
	told_as(&p, 0, "no-trap", "up-with-errors");
	assert_non_null(p.stories[0]->result_text);
	told_as(&p, 1, "retry", "running");
	/* A trap while a retry runs does not explain it. */
	trap(&p, 4200, 128, 1, 0);
	told_as(&p, 1, "retry", "running");
	assert_int_equal(p.stories[1]->further_count, 1);
	/* Much later, with the error still standing, it is the trap that wakes it. */
	done(&p, 5000);
	routed(&p, 5100);
	up(&p, 5200, ERRORS);
	trap(&p, 8 * SEC, 128, 1, 0);
	start(&p, 8 * SEC + 100, ERRORS | FORCE);
	told_as(&p, 2, "trap", "running");
}

/* ---- ends that no event tells ---- */

static void discovery_that_failed(void **state)
{
	_cleanup_play_ struct play p = begin();

	(void)state;
	start_teller(&p);
	start(&p, 1000, FORCE);
	start(&p, 10 * SEC, FORCE);
	told_as(&p, 0, "no-trap", "aborted");
	assert_non_null(strstr(p.stories[0]->result_text, "discovery failed"));
	assert_int_equal(story_duration_usec(p.stories[0]), 0);
	told_as(&p, 1, "no-trap", "running");
	assert_string_equal(p.steps, "o1 e1 o2 ");
}

static void routing_that_failed(void **state)
{
	_cleanup_play_ struct play p = begin();

	(void)state;
	start_teller(&p);
	start(&p, 1000, FORCE);
	done(&p, 2000);
	sweep(&p, IBSM_WIRE_HEAVY_SWEEP_START, 10 * SEC, 3, ERRORS, NULL, 0);
	told_as(&p, 0, "no-trap", "routing-failed");
	assert_non_null(strstr(p.stories[0]->result_text, "every routing engine"));
}

static void waiting_for_a_handover(void **state)
{
	_cleanup_play_ struct play p = begin();

	(void)state;
	start_teller(&p);
	start(&p, 1000, FORCE);
	done(&p, 2000);
	start(&p, 10 * SEC, FORCE);
	told_as(&p, 0, "no-trap", "aborted");
	assert_non_null(strstr(p.stories[0]->result_text, "another master"));
}

static void handed_over(void **state)
{
	_cleanup_play_ struct play p = begin();

	(void)state;
	start_teller(&p);
	/* The sampled state tells. */
	start(&p, 1000, FORCE);
	done(&p, 2000);
	sm_changes(&p, 2500, 3, 2);
	told_as(&p, 0, "no-trap", "handed-over");
	assert_int_equal(p.stories[0]->end_monotonic_usec, p.base_usec + 2500);
	/* If not, the next start, which a master would not make from standby. */
	start(&p, 20 * SEC, FORCE);
	done(&p, 21 * SEC);
	sweep(&p, IBSM_WIRE_HEAVY_SWEEP_START, 30 * SEC, 1, IBSM_SWEEP_COMING_OUT_OF_STANDBY, "",
	      0);
	told_as(&p, 1, "no-trap", "handed-over");
	told_as(&p, 2, "left-standby", "running");
	/* Becoming master is no handover. */
	done(&p, 31 * SEC);
	sm_changes(&p, 31 * SEC + 1, 1, 3);
	told_as(&p, 2, "left-standby", "running");
}

static void state_changes(void **state)
{
	_cleanup_play_ struct play p = begin();

	(void)state;
	start_teller(&p);
	sweep(&p, IBSM_WIRE_HEAVY_SWEEP_START, 1000, 1, 0, "", 5);
	sweep(&p, IBSM_WIRE_STATE_CHANGE, 2000, 2, IBSM_SWEEP_MASTER_SM_FOUND, "", 9);
	told_as(&p, 0, "became-master", "aborted");
	assert_non_null(strstr(p.stories[0]->result_text, "standby"));
	assert_int_equal(p.stories[0]->mads_sent, 4);
	/* The SM's port is down: each sweep_interval anew. */
	sweep(&p, IBSM_WIRE_HEAVY_SWEEP_START, 10 * SEC, 3, FORCE, "", 0);
	sweep(&p, IBSM_WIRE_STATE_CHANGE, 10 * SEC + 5, 1, 0, "", 0);
	told_as(&p, 1, "no-trap", "aborted");
	assert_non_null(strstr(p.stories[1]->result_text, "port is down"));
	/* One that ends nothing. */
	sweep(&p, IBSM_WIRE_STATE_CHANGE, 11 * SEC, 1, 0, "", 0);
	assert_int_equal(p.count, 2);
}

/* ---- records lost, plugins that come and go ---- */

static void joins_in_the_middle(void **state)
{
	_cleanup_play_ struct play p = begin();

	(void)state;
	start_teller(&p);
	done(&p, 1000);
	lft(&p, 1500, 0x100000, 1);
	routed(&p, 2000);
	up(&p, 3000, 0);
	told_as(&p, 0, "unknown", "up");
	assert_false(p.stories[0]->start_seen);
	assert_int_equal(story_duration_usec(p.stories[0]), 0);
	assert_false(p.stories[0]->mads_known);
	assert_int_equal(p.stories[0]->lft_blocks, 1);
	up(&p, 5000, 0);
	told_as(&p, 1, "unknown", "up");
	routed(&p, 7000);
	told_as(&p, 2, "unknown", "running");
	/* The end of one and the start of the next are lost. */
	done(&p, 9000);
	told_as(&p, 2, "unknown", "unknown");
	told_as(&p, 3, "unknown", "running");
}

static void another_instance_ends_what_ran(void **state)
{
	_cleanup_play_ struct play p = begin();

	(void)state;
	start_teller(&p);
	hello(&p, 0, 7);
	start(&p, 1000, FORCE);
	hello(&p, 1500, 7); /* a reconnect */
	told_as(&p, 0, "no-trap", "running");
	trap(&p, 1600, 128, 1, 0);
	hello(&p, 2000, 8);
	told_as(&p, 0, "trap", "unknown");
	assert_non_null(p.stories[0]->result_text);
	/* Another boot: its clock stands before. */
	p.base_usec = SEC;
	whole_sweep(&p, 1000, FORCE);
	told_as(&p, 1, "no-trap", "up");
}

static void freeing_ends_what_runs(void **state)
{
	_cleanup_play_ struct play p = begin();

	(void)state;
	start_teller(&p);
	start(&p, 1000, FORCE);
	p.teller = story_teller_free(p.teller);
	told_as(&p, 0, "no-trap", "unknown");
	assert_string_equal(p.steps, "o1 e1 ");
	assert_null(story_teller_free(NULL));
}

static void tellers_share_numbers(void **state)
{
	_cleanup_play_ struct play p = begin();
	_cleanup_(story_teller_freep) struct story_teller *other = NULL;
	struct story_teller *first;

	(void)state;
	start_teller(&p);
	assert_int_equal(story_teller_new(&p.numbers, told, &p, &other), 0);
	whole_sweep(&p, 1000, FORCE);
	first = p.teller;
	p.teller = other;
	whole_sweep(&p, 1000, FORCE);
	p.teller = first;
	assert_int_equal(p.stories[1]->number, 2);
	assert_int_equal(p.numbers, 2);
}

/* ---- LFT blocks out of order ---- */

static void blocks_read_late(void **state)
{
	_cleanup_play_ struct play p = begin();

	(void)state;
	start_teller(&p);
	whole_sweep(&p, 1000, FORCE);
	whole_sweep(&p, 1 * SEC, FORCE);
	/* A stalled sender empties its control ring first. */
	lft(&p, 15000, 0x100000, 1);
	lft(&p, 15001, 0x100000, 2);
	lft(&p, SEC + 15000, 0x100001, 2);
	assert_int_equal(p.stories[0]->lft_blocks, 2);
	assert_int_equal(p.stories[1]->lft_blocks, 1);
	/* Between the two nobody sets any. */
	lft(&p, SEC - 1, 0x100001, 2);
	assert_int_equal(story_teller_unplaced(p.teller), 1);
	/* Older than all. */
	lft(&p, 1, 0x100001, 2);
	assert_int_equal(story_teller_unplaced(p.teller), 2);
}

static void blocks_read_early(void **state)
{
	_cleanup_play_ struct play p = begin();

	(void)state;
	start_teller(&p);
	whole_sweep(&p, 1000, FORCE);
	lft(&p, SEC + 15000, 0x100001, 2);
	start(&p, SEC, FORCE);
	assert_int_equal(p.count, 2);
	assert_int_equal(p.stories[0]->lft_blocks, 0);
	assert_int_equal(p.stories[1]->lft_blocks, 1);
	assert_int_equal(story_teller_unplaced(p.teller), 0);
}

static void a_story_reaches_back_only_so_far(void **state)
{
	_cleanup_play_ struct play p = begin();

	(void)state;
	start_teller(&p);
	for (uint64_t i = 0; i < STORY_AMENDABLE + 2; i++)
		whole_sweep(&p, i * SEC + 1000, FORCE);
	lft(&p, 15000, 0x100000, 1);
	assert_int_equal(p.stories[0]->lft_blocks, 0);
	assert_int_equal(story_teller_unplaced(p.teller), 1);
	lft(&p, 2 * SEC + 15000, 0x100000, 1);
	assert_int_equal(p.stories[2]->lft_blocks, 1);
}

/* ---- reroutes ---- */

static void a_reroute(void **state)
{
	_cleanup_play_ struct play p = begin();
	const struct story *s;

	(void)state;
	start_teller(&p);
	whole_sweep(&p, 1000, FORCE);
	lft(&p, 5 * SEC, 0x100000, 0);
	lft(&p, 5 * SEC + 100, 0x100001, 0);
	assert_int_equal(p.count, 1);
	rerouted(&p, 5 * SEC + 1000);
	told_as(&p, 1, "reroute", "up");
	s = p.stories[1];
	assert_string_equal(story_type_name(s->type), "reroute");
	assert_string_equal(s->engine, "updn");
	assert_int_equal(s->lft_blocks, 2);
	assert_int_equal(story_duration_usec(s), 1000);
	assert_int_equal(s->phases[STORY_ROUTING].end_monotonic_usec -
				 s->phases[STORY_ROUTING].start_monotonic_usec,
			 1000);
	assert_false(s->mads_known);
	assert_string_equal(p.steps, "o1 c1 c1 e1 o2 e2 ");
	/* The rest of its blocks, read late. */
	lft(&p, 5 * SEC + 200, 0x100001, 1);
	assert_int_equal(s->lft_blocks, 3);
	assert_int_equal(p.stories[0]->lft_blocks, 0);
}

/* Its end is read before its first block. */
static void a_reroute_read_backwards(void **state)
{
	_cleanup_play_ struct play p = begin();
	const struct story *s;

	(void)state;
	start_teller(&p);
	whole_sweep(&p, 1000, FORCE);
	rerouted(&p, 5 * SEC);
	s = p.stories[1];
	assert_false(s->start_seen);
	lft(&p, 4 * SEC, 0x100000, 0);
	lft(&p, 3 * SEC, 0x100000, 0);
	assert_int_equal(s->lft_blocks, 2);
	assert_int_equal(s->start_monotonic_usec, p.base_usec + 3 * SEC);
	assert_int_equal(p.stories[0]->lft_blocks, 0);
}

static void a_reroute_that_failed(void **state)
{
	_cleanup_play_ struct play p = begin();

	(void)state;
	start_teller(&p);
	whole_sweep(&p, 1000, FORCE);
	lft(&p, 5 * SEC, 0x100000, 0);
	lft(&p, 5 * SEC + 700, 0x100000, 0);
	start(&p, 6 * SEC, ERRORS);
	told_as(&p, 1, "reroute", "routing-failed");
	assert_int_equal(p.stories[1]->lft_blocks, 2);
	assert_int_equal(story_duration_usec(p.stories[1]), 700);
	assert_int_equal(p.stories[2]->lft_blocks, 0);
	assert_int_equal(p.count, 3);
}

/* ---- who got most blocks ---- */

static void the_top_switches(void **state)
{
	_cleanup_play_ struct play p = begin();
	struct story_lft_switch top[STORY_LFT_TOP];
	union ibsm_wire_record r = {0};
	size_t count;

	(void)state;
	start_teller(&p);
	start(&p, 1000, FORCE);
	done(&p, 2000);
	/* 1,000 switches with 1 … 7 blocks; a known one with 9, and a LinearFDBTop alone. */
	for (uint64_t i = 0; i < 1000; i++)
		for (uint32_t block = 0; block <= i % 7; block++)
			lft(&p, 3000 + i, 0x900000 + i * 0x10001, block);
	for (uint32_t block = 0; block < 9; block++)
		lft(&p, 5000, 0x200001, block);
	r.lft_change.node_guid = 0x100000;
	r.lft_change.change = IBSM_LFT_CHANGED_TOP;
	give(&p, &r, IBSM_WIRE_LFT_CHANGE, 5001);
	routed(&p, 6000);
	up(&p, 7000, 0);
	assert_int_equal(p.stories[0]->lft_switches, 1002);
	assert_int_equal(p.stories[0]->lft_blocks, 142 * 28 + 21 + 9);
	count = story_lft_top(p.stories[0], top, ELEMENTSOF(top));
	assert_int_equal(count, STORY_LFT_TOP);
	assert_int_equal(top[0].node_guid, 0x200001);
	assert_string_equal(top[0].name, "spine001");
	assert_int_equal(top[0].blocks, 9);
	for (size_t i = 1; i < count; i++) {
		assert_int_equal(top[i].blocks, 7);
		assert_null(top[i].name);
		assert_true(i == 1 || top[i].node_guid > top[i - 1].node_guid);
	}
	assert_int_equal(top[1].node_guid, 0x900000 + 6 * 0x10001);
	assert_int_equal(story_lft_top(p.stories[0], top, 0), 0);
	/* Past reach of late records it keeps the top and the sums. */
	for (uint64_t i = 1; i < STORY_AMENDABLE + 2; i++)
		whole_sweep(&p, i * SEC, FORCE);
	assert_int_equal(story_lft_top(p.stories[0], top, ELEMENTSOF(top)), STORY_LFT_TOP);
	assert_string_equal(top[0].name, "spine001");
	assert_int_equal(top[0].blocks, 9);
	assert_int_equal(p.stories[0]->lft_switches, 1002);
	assert_int_equal(p.stories[0]->lft_blocks, 142 * 28 + 21 + 9);
}

/* ---- snapshots ---- */

static struct fabric_changes *some_changes(int removed)
{
	_cleanup_(build_freep) struct builder *b = build_tree2(2, 2, 2, 1);
	_cleanup_(fabric_unrefp) struct fabric *old = build_fabric(b);
	_cleanup_(fabric_unrefp) struct fabric *new = NULL;
	struct fabric_changes *changes = NULL;

	for (int i = 0; i < removed; i++)
		build_unlink(b, 4 + i, 1);
	new = build_fabric(b);
	assert_int_equal(fabric_diff(old, new, &changes), 0);
	return changes;
}

static struct story *snapshot(struct play *p, uint64_t usec, enum ibsm_snapshot_reason reason,
			      const struct fabric_changes *changes)
{
	struct ibsm_snapshot_header header = {
		.monotonic_nsec = (p->base_usec + usec) * 1000, .reason = reason, .generation = 5};
	struct story *story = NULL;

	assert_int_equal(story_teller_changes(p->teller, &header, changes, &story), 0);
	story_unref(story); /* the play holds it */
	return story;
}

static void snapshots_find_their_story(void **state)
{
	_cleanup_(fabric_changes_freep) struct fabric_changes *changes = some_changes(2);
	_cleanup_play_ struct play p = begin();

	(void)state;
	start_teller(&p);
	/* None to find yet. */
	assert_null(snapshot(&p, 500, IBSM_SNAPSHOT_SUBNET_UP, changes));
	whole_sweep(&p, 1000, FORCE);
	assert_ptr_equal(snapshot(&p, 61010, IBSM_SNAPSHOT_SUBNET_UP, changes), p.stories[0]);
	assert_true(p.stories[0]->snapshot_seen);
	assert_int_equal(p.stories[0]->snapshot_generation, 5);
	assert_int_equal(p.stories[0]->changes->count, 2);
	assert_int_equal(p.stories[0]->changes_total, 2);
	/* Groups alone are no sweep's. */
	assert_null(snapshot(&p, 70000, IBSM_SNAPSHOT_GROUPS, changes));
	/* An owed one, taken when the next sweep has just begun, shows what the last one did. */
	start(&p, SEC, FORCE);
	assert_ptr_equal(snapshot(&p, SEC + 10, IBSM_SNAPSHOT_SUBNET_UP, changes), p.stories[0]);
	assert_int_equal(p.stories[0]->changes->count, 4);
	/* Before SUBNET_UP is read. */
	done(&p, SEC + 1000);
	routed(&p, SEC + 2000);
	assert_ptr_equal(snapshot(&p, SEC + 3000, IBSM_SNAPSHOT_SUBNET_UP, changes), p.stories[1]);
	up(&p, SEC + 2990, 0);
	/* Read late. */
	assert_ptr_equal(snapshot(&p, 61020, IBSM_SNAPSHOT_SUBNET_UP, changes), p.stories[0]);
	rerouted(&p, 2 * SEC);
	assert_ptr_equal(snapshot(&p, 2 * SEC + 10, IBSM_SNAPSHOT_REROUTE, changes), p.stories[2]);
}

static void changes_are_bounded(void **state)
{
	_cleanup_play_ struct play p = begin();
	_cleanup_(fabric_changes_freep) struct fabric_changes *changes = some_changes(4);

	(void)state;
	start_teller(&p);
	whole_sweep(&p, 1000, FORCE);
	for (int i = 0; i < IBSM_SWEEP_EVENTS_MAX; i++)
		snapshot(&p, 61010, IBSM_SNAPSHOT_SUBNET_UP, changes);
	assert_int_equal(p.stories[0]->changes->count, IBSM_SWEEP_EVENTS_MAX);
	assert_int_equal(p.stories[0]->changes_total, 4 * IBSM_SWEEP_EVENTS_MAX);
	assert_int_equal(p.stories[0]->changes->by_kind[FABRIC_CHANGE_LINK_REMOVED],
			 4 * IBSM_SWEEP_EVENTS_MAX);
}

/* Stories, and names in them, outlive fabric and teller. */
static void stories_outlive_all(void **state)
{
	struct play p = begin();
	struct story *s;

	(void)state;
	start_teller(&p);
	trap(&p, 900, 128, 1, 0);
	whole_sweep(&p, 1000, FORCE);
	lft(&p, 15000, 0x100001, 1);
	s = story_ref(p.stories[0]);
	finish(&p);
	assert_string_equal(s->cause.sender.name, "leaf00-00");
	assert_string_equal(cause_text(&s->cause),
			    "trap 128 (link state changed) from leaf00-00 (LID 1)");
	story_unref(s);
}

static void without_a_fabric(void **state)
{
	_cleanup_play_ struct play p = begin();
	struct story_lft_switch top;

	(void)state;
	p.fabric = fabric_unref(p.fabric);
	start_teller(&p);
	trap(&p, 900, 128, 1, 0);
	whole_sweep(&p, 1000, FORCE);
	lft(&p, 15000, 0x100001, 1);
	assert_string_equal(cause_text(&p.stories[0]->cause),
			    "trap 128 (link state changed) from LID 1");
	assert_int_equal(story_lft_top(p.stories[0], &top, 1), 1);
	assert_null(top.name);
}

static void all_names(void **state)
{
	(void)state;
	for (int i = 0; i < STORY_CAUSE_KINDS; i++)
		assert_non_null(story_cause_kind_name((enum story_cause_kind)i));
	for (int i = 0; i < STORY_RESULTS; i++)
		assert_non_null(story_result_name((enum story_result)i));
	assert_string_equal(story_phase_name(STORY_DISCOVERY), "discovery");
	assert_string_equal(story_phase_name(STORY_SETUP), "setup");
	assert_string_equal(story_type_name(STORY_HEAVY), "heavy");
}

/* Any records in any order and time: no story is told twice or not ended, and ASan is quiet. */
static void any_records(void **state)
{
	(void)state;
	for (uint64_t n = 1; n <= 300; n++) {
		_cleanup_play_ struct play p = begin();
		_cleanup_(fabric_changes_freep) struct fabric_changes *changes = some_changes(1);
		uint64_t seed = n * 2654435761u, now = 1000;

		assert_int_equal(story_teller_new(&p.numbers, NULL, NULL, &p.teller), 0);
		for (int i = 0; i < 400; i++) {
			uint64_t usec = now + build_random_below(&seed, 30) * MSEC;
			uint8_t sm = (uint8_t)build_random_below(&seed, 4);
			uint32_t flags = (uint32_t)build_random_next(&seed) & 0x3ff;
			const char *engine = build_random_below(&seed, 2) ? "minhop" : NULL;

			now += build_random_below(&seed, 40) * MSEC;
			switch (build_random_below(&seed, 12)) {
			case 0:
				trap(&p, usec, build_random_below(&seed, 2) ? 128 : 144,
				     (uint16_t)build_random_below(&seed, 12), 0);
				break;
			case 1:
				trap(&p, usec, (uint16_t)build_random_below(&seed, 300), 1, 0);
				break;
			case 2:
				rerouted(&p, usec);
				break;
			case 3:
				sm_changes(&p, usec, 3, sm);
				break;
			case 4:
				snapshot(&p, usec,
					 (enum ibsm_snapshot_reason)(1 +
								     build_random_below(&seed, 4)),
					 changes);
				break;
			case 5:
				hello(&p, usec, 1 + build_random_below(&seed, 20) / 19);
				break;
			case 6:
			case 7:
				lft(&p, usec, 0x100000 + build_random_below(&seed, 100), 0);
				break;
			default:
				sweep(&p,
				      (uint16_t)(IBSM_WIRE_HEAVY_SWEEP_START +
						 build_random_below(&seed, 6)),
				      usec, sm, flags, engine, (uint32_t)build_random_next(&seed));
				break;
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_trap_and_its_sweep),
		cmocka_unit_test(the_trap_after_the_start),
		cmocka_unit_test(the_trap_read_late),
		cmocka_unit_test(traps_while_it_runs),
		cmocka_unit_test(which_traps_force_a_sweep),
		cmocka_unit_test(a_vendor_trap_is_no_generic_one),
		cmocka_unit_test(old_traps_are_forgotten),
		cmocka_unit_test(a_crowd_of_traps),
		cmocka_unit_test(causes_by_flags),
		cmocka_unit_test(errors_and_their_retry),
		cmocka_unit_test(discovery_that_failed),
		cmocka_unit_test(routing_that_failed),
		cmocka_unit_test(waiting_for_a_handover),
		cmocka_unit_test(handed_over),
		cmocka_unit_test(state_changes),
		cmocka_unit_test(joins_in_the_middle),
		cmocka_unit_test(another_instance_ends_what_ran),
		cmocka_unit_test(freeing_ends_what_runs),
		cmocka_unit_test(tellers_share_numbers),
		cmocka_unit_test(blocks_read_late),
		cmocka_unit_test(blocks_read_early),
		cmocka_unit_test(a_story_reaches_back_only_so_far),
		cmocka_unit_test(a_reroute),
		cmocka_unit_test(a_reroute_read_backwards),
		cmocka_unit_test(a_reroute_that_failed),
		cmocka_unit_test(the_top_switches),
		cmocka_unit_test(snapshots_find_their_story),
		cmocka_unit_test(changes_are_bounded),
		cmocka_unit_test(stories_outlive_all),
		cmocka_unit_test(without_a_fabric),
		cmocka_unit_test(all_names),
		cmocka_unit_test(any_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
