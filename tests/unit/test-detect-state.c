// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Tests of the findings that follow from the present state.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fabric/detect-kind.h"
#include "fabric/detect-state.h"
#include "tests/lib/snapshot-build.h"

#define SEC UINT64_C(1000000)

static struct finding findings[FINDING_KINDS];

/* All is well. */
static struct detect_state_input well(void)
{
	return (struct detect_state_input){
		.plugin_connected = true,
		.plugin_timeout_usec = 10 * SEC,
		.failed_clear_usec = 60 * SEC,
		.drops_clear_usec = 600 * SEC,
	};
}

static const struct finding *only(const struct detect_state_input *input)
{
	assert_int_equal(detect_state(input, findings), 1);
	assert_true(findings[0].message[0] && findings[0].subject[0]);
	for (size_t i = 0; i < findings[0].n_evidence; i++)
		assert_true(
			detect_kind_has_evidence(findings[0].kind, findings[0].evidence[i].name));
	return &findings[0];
}

static void test_well(void **state)
{
	_cleanup_(fabric_unrefp) struct fabric *fabric = NULL;
	_cleanup_(build_freep) struct builder *b = build_tree2(2, 1, 1, 1);
	struct detect_state_input input = well();
	struct story story = {.result = STORY_UP};

	(void)state;
	assert_int_equal(detect_state(&input, findings), 0);
	input.fabric = fabric = build_fabric(b);
	input.ended = &story;
	assert_int_equal(detect_state(&input, findings), 0);
}

static void test_plugin(void **state)
{
	struct detect_state_input input = well();

	(void)state;
	input.plugin_silent_usec = 10 * SEC - 1;
	assert_int_equal(detect_state(&input, findings), 0);
	input.plugin_silent_usec = 10 * SEC;
	assert_int_equal(only(&input)->kind, FINDING_PLUGIN_LOST);
	assert_non_null(strstr(findings[0].message, "not been heard for 10 s"));
	input.plugin_connected = false;
	assert_non_null(strstr(only(&input)->message, "connected for 10 s"));
	assert_int_equal(findings[0].severity, FINDING_WARNING);
}

static void test_sweep(void **state)
{
	struct detect_state_input input = well();
	struct story story = {.number = 7, .result = STORY_UP_WITH_ERRORS};

	(void)state;
	input.ended = input.failed = &story;
	input.failed_ago_usec = 3600 * SEC;
	assert_int_equal(only(&input)->kind, FINDING_SWEEP_FAILED);
	assert_int_equal(findings[0].severity, FINDING_WARNING);
	assert_int_equal(findings[0].occurrence, 7);
	story.result = STORY_ABORTED;
	assert_int_equal(only(&input)->severity, FINDING_WARNING);
	story.result = STORY_ROUTING_FAILED;
	assert_int_equal(only(&input)->severity, FINDING_CRITICAL);
	assert_string_equal(findings[0].evidence[1].texts[0], "routing-failed");
}

/* Sweeps that fail and end well in turn are one alert. */
static void test_sweep_does_not_chatter(void **state)
{
	struct detect_state_input input = well();
	struct story failed = {.number = 7, .result = STORY_UP_WITH_ERRORS};
	struct story up = {.number = 8, .result = STORY_UP};

	(void)state;
	input.failed = &failed;
	input.ended = &up;
	input.failed_ago_usec = 60 * SEC - 1;
	assert_int_equal(only(&input)->occurrence, 7);
	input.failed_ago_usec = 60 * SEC;
	assert_int_equal(detect_state(&input, findings), 0);
}

static void test_story_has_failed(void **state)
{
	struct story story = {.end_sm_state = IBSM_SM_MASTER};

	(void)state;
	for (story.result = 0; story.result < STORY_RESULTS; story.result++)
		assert_int_equal(story_has_failed(&story),
				 story.result == STORY_UP_WITH_ERRORS ||
					 story.result == STORY_ROUTING_FAILED ||
					 story.result == STORY_ABORTED);
	/* Broken off since there is a master already. */
	story.result = STORY_ABORTED;
	story.end_sm_state = IBSM_SM_STANDBY;
	assert_false(story_has_failed(&story));
}

static void test_routing(void **state)
{
	_cleanup_(build_freep) struct builder *b = build_tree2(12, 2, 1, 1);
	_cleanup_(fabric_unrefp) struct fabric *fabric = NULL;
	struct detect_state_input input = well();

	(void)state;
	for (size_t i = 0; i < b->engine_count; i++)
		b->engines[i].flags = 0;
	build_engine(b, "ftree", IBSM_ENGINE_ASKED | IBSM_ENGINE_LOADED);
	build_engine(b, "minhop", IBSM_ENGINE_USED | IBSM_ENGINE_DEFAULT | IBSM_ENGINE_LOADED);
	input.fabric = fabric = build_fabric(b);
	assert_int_equal(only(&input)->kind, FINDING_ROUTING_ENGINE_FALLBACK);
	assert_string_equal(findings[0].evidence[0].texts[0], "minhop");
	assert_int_equal(findings[0].evidence[1].number, 1);
	assert_string_equal(findings[0].evidence[1].texts[0], "ftree");
	fabric = fabric_unref(fabric);

	/* More switches than are named. */
	build_engine(b, "ftree", IBSM_ENGINE_ASKED | IBSM_ENGINE_USED);
	build_engine(b, "minhop", IBSM_ENGINE_DEFAULT);
	for (int leaf = 0; leaf < 12; leaf++)
		build_new_lft(b, leaf)[1] ^= 1;
	input.fabric = fabric = build_fabric(b);
	assert_int_equal(only(&input)->kind, FINDING_LFT_MISMATCH);
	assert_int_equal(findings[0].evidence[0].number, 12);
	assert_int_equal(findings[0].evidence[1].number, FINDING_LIST_MAX);
	assert_string_equal(findings[0].evidence[1].texts[0], b->nodes[0].row.description);
	assert_string_equal(findings[0].evidence[2].texts[0], "1");
	assert_non_null(strstr(findings[0].message, "12 switches"));
}

static void test_one_lft(void **state)
{
	_cleanup_(build_freep) struct builder *b = build_tree2(2, 1, 1, 1);
	_cleanup_(fabric_unrefp) struct fabric *fabric = NULL;
	struct detect_state_input input = well();
	uint8_t *lft = build_new_lft(b, 0);

	(void)state;
	lft[1] ^= 1;
	lft[3] ^= 1;
	lft[4] ^= 1;
	input.fabric = fabric = build_fabric(b);
	assert_int_equal(only(&input)->evidence[0].number, 1);
	assert_string_equal(findings[0].evidence[2].texts[0], "1,3-4");
	assert_non_null(strstr(findings[0].message, b->nodes[0].row.description));
	assert_non_null(strstr(findings[0].message, "3 LIDs: 1,3-4"));
}

static void test_drops(void **state)
{
	struct detect_state_input input = well();

	(void)state;
	input.dropped = 5;
	input.dropped_ago_usec = 600 * SEC - 1;
	assert_int_equal(only(&input)->kind, FINDING_EVENTS_DROPPED);
	assert_int_equal(findings[0].occurrence, 5);
	input.dropped_ago_usec = 600 * SEC;
	assert_int_equal(detect_state(&input, findings), 0);
}

static void test_judged(void **state)
{
	struct detect_state_input input = {
		.plugin_timeout_usec = 10 * SEC,
		.failed_clear_usec = 60 * SEC,
		.drops_clear_usec = 600 * SEC,
	};
	struct story story = {.result = STORY_UP};
	struct fabric fabric;

	(void)state;
	/* Right after the start nothing is known. */
	assert_int_equal(detect_state_judged(&input), 0);
	input.plugin_connected = true;
	assert_int_equal(detect_state_judged(&input), 1u << FINDING_PLUGIN_LOST);
	input.fabric = &fabric;
	assert_int_equal(detect_state_judged(&input),
			 1u << FINDING_PLUGIN_LOST | 1u << FINDING_ROUTING_ENGINE_FALLBACK |
				 1u << FINDING_LFT_MISMATCH);
	input.ended = &story;
	input.up_usec = 60 * SEC;
	assert_true(detect_state_judged(&input) & 1u << FINDING_SWEEP_FAILED);
	assert_false(detect_state_judged(&input) & 1u << FINDING_EVENTS_DROPPED);
	input.up_usec = 600 * SEC;
	assert_int_equal(detect_state_judged(&input), (1u << FINDING_KINDS) - 1);
}

static void test_all(void **state)
{
	struct detect_state_input input = well();
	struct story story = {.result = STORY_UP_WITH_ERRORS};

	(void)state;
	input.plugin_silent_usec = 10 * SEC;
	input.ended = input.failed = &story;
	input.dropped = 1;
	assert_int_equal(detect_state(&input, findings), 3);
	for (size_t i = 0; i < 3; i++)
		for (size_t j = 0; j < i; j++)
			assert_int_not_equal(findings[i].kind, findings[j].kind);
	assert_string_equal(finding_severity_name(FINDING_NOTICE), "notice");
	assert_string_equal(finding_severity_name(FINDING_CRITICAL), "critical");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_well),
		cmocka_unit_test(test_plugin),
		cmocka_unit_test(test_sweep),
		cmocka_unit_test(test_sweep_does_not_chatter),
		cmocka_unit_test(test_story_has_failed),
		cmocka_unit_test(test_routing),
		cmocka_unit_test(test_one_lft),
		cmocka_unit_test(test_drops),
		cmocka_unit_test(test_judged),
		cmocka_unit_test(test_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
