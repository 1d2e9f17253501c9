// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Statistics of sweeps and traps: quantiles against a naive count, windows, bounds, saving,
// loading.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/sweep-stats.h"
#include "fabric/trap-stats.h"

#define SEC DETECT_USEC_PER_SEC
#define REALTIME (UINT64_C(1700000000) * SEC)

static uint64_t state64 = 88172645463325252;

static uint64_t random64(void)
{
	state64 ^= state64 << 13;
	state64 ^= state64 >> 7;
	state64 ^= state64 << 17;
	return state64;
}

static struct detect_time at(uint64_t sec)
{
	return (struct detect_time){sec * SEC, REALTIME + sec * SEC};
}

static struct sweep_sample sample_of(uint64_t number, uint64_t start_sec, uint64_t duration_usec)
{
	return (struct sweep_sample){
		.number = number,
		.start_realtime_usec = REALTIME + start_sec * SEC,
		.duration_usec = duration_usec,
		.phase_usec = {duration_usec / 2, duration_usec / 4, SWEEP_DURATION_UNKNOWN},
		.type = STORY_HEAVY,
		.result = STORY_UP,
		.cause = STORY_CAUSE_TRAP,
		.lft_blocks = 2,
	};
}

/* ---- sweeps ---- */

static void test_sample_from_story(void **state)
{
	struct story story = {
		.number = 9,
		.type = STORY_HEAVY,
		.result = STORY_UP_WITH_ERRORS,
		.start_seen = true,
		.start_monotonic_usec = 1000,
		.start_realtime_usec = 555,
		.end_monotonic_usec = 5000,
		.phases = {{1000, 3000, 555}, {3000, 0, 0}},
		.cause = {.kind = STORY_CAUSE_RETRY},
		.lft_blocks = UINT64_MAX,
		.mads_sent = 77,
	};
	struct sweep_sample sample;

	(void)state;
	sweep_sample_from_story(&story, &sample);
	assert_int_equal(sample.number, 9);
	assert_int_equal(sample.duration_usec, 4000);
	assert_int_equal(sample.phase_usec[STORY_DISCOVERY], 2000);
	assert_true(sample.phase_usec[STORY_ROUTING] == SWEEP_DURATION_UNKNOWN);
	assert_true(sample.phase_usec[STORY_SETUP] == SWEEP_DURATION_UNKNOWN);
	assert_int_equal(sample.lft_blocks, UINT32_MAX);
	assert_int_equal(sample.mads_sent, 0);
	assert_int_equal(sample.cause, STORY_CAUSE_RETRY);
	story.start_seen = false;
	sweep_sample_from_story(&story, &sample);
	assert_true(sample.duration_usec == SWEEP_DURATION_UNKNOWN);
}

/* Nearest rank, as it is defined: the smallest value with at least `percent` of all not above. */
static uint64_t naive_quantile(const uint64_t *values, size_t count, unsigned int percent)
{
	uint64_t best = UINT64_MAX;

	for (size_t i = 0; i < count; i++) {
		size_t not_above = 0;

		for (size_t j = 0; j < count; j++)
			not_above += values[j] <= values[i];
		if (not_above * 100 >= percent * count && values[i] < best)
			best = values[i];
	}
	return best;
}

static void test_quantiles(void **state)
{
	struct sweep_stats *stats = malloc(sizeof(*stats));
	struct detect_time now = at(100000);

	(void)state;
	for (size_t count = 1; count < 60; count++) {
		uint64_t values[60], median, mad, deviations[60];
		struct sweep_summary summary;

		*stats = (struct sweep_stats){0};
		for (size_t i = 0; i < count; i++) {
			struct sweep_sample sample;

			values[i] = random64() % 50; /* with doubles */
			sample = sample_of(i, 50000 + i, values[i]);
			sweep_stats_add(stats, &sample);
		}
		sweep_stats_summary(stats, 100000 * SEC, &now, &summary);
		assert_int_equal(summary.total.samples, count);
		assert_int_equal(summary.total.min_usec, naive_quantile(values, count, 0));
		assert_int_equal(summary.total.median_usec, naive_quantile(values, count, 50));
		assert_int_equal(summary.total.p95_usec, naive_quantile(values, count, 95));
		assert_int_equal(summary.total.max_usec, naive_quantile(values, count, 100));
		assert_int_equal(summary.phases[STORY_DISCOVERY].samples, count);
		assert_int_equal(summary.phases[STORY_SETUP].samples, 0);

		assert_int_equal(sweep_stats_usual(stats, 1000, &median, &mad), count);
		assert_int_equal(median, naive_quantile(values, count, 50));
		for (size_t i = 0; i < count; i++)
			deviations[i] =
				values[i] > median ? values[i] - median : median - values[i];
		assert_int_equal(mad, naive_quantile(deviations, count, 50));
	}
	free(stats);
}

static void test_window(void **state)
{
	struct sweep_stats *stats = calloc(1, sizeof(*stats));
	struct detect_time now = at(7200);
	struct sweep_summary summary;
	struct sweep_sample sample;

	(void)state;
	sweep_stats_summary(stats, 3600 * SEC, &now, &summary);
	assert_int_equal(summary.count, 0);
	assert_int_equal(summary.total.samples, 0);

	sample = sample_of(1, 3599, 10);
	sweep_stats_add(stats, &sample);
	sample = sample_of(2, 3600, 20);
	sweep_stats_add(stats, &sample);
	sample.type = STORY_REROUTE;
	sample.cause = STORY_CAUSE_REROUTE;
	sweep_stats_add(stats, &sample);
	sample = sample_of(4, 7000, 30);
	sample.result = STORY_ROUTING_FAILED;
	sweep_stats_add(stats, &sample);
	sweep_stats_summary(stats, 3600 * SEC, &now, &summary);
	assert_int_equal(summary.count, 3);
	assert_int_equal(summary.heavy, 2);
	assert_int_equal(summary.reroutes, 1);
	assert_true(summary.heavy_per_hour == 2);
	assert_int_equal(summary.by_result[STORY_ROUTING_FAILED], 1);
	assert_int_equal(summary.by_cause[STORY_CAUSE_TRAP], 2);
	assert_int_equal(summary.total.samples, 1); /* it came up, and was heavy */
	assert_int_equal(summary.lft_blocks, 6);
	assert_int_equal(stats->total[STORY_UP], 3);
	free(stats);
}

static void test_full_window(void **state)
{
	struct sweep_stats *stats = calloc(1, sizeof(*stats));
	struct detect_time now = at(2 * SWEEP_STATS_MAX);
	struct sweep_summary summary;

	(void)state;
	for (uint64_t i = 0; i < 2 * SWEEP_STATS_MAX; i++) {
		struct sweep_sample sample = sample_of(i, i, 10);

		sweep_stats_add(stats, &sample);
	}
	assert_int_equal(stats->forgotten, SWEEP_STATS_MAX);
	assert_int_equal(sweep_stats_get(stats, 0)->number, SWEEP_STATS_MAX);
	/* A day was asked for; what is known is shorter, and the rate is of that. */
	sweep_stats_summary(stats, 86400 * SEC, &now, &summary);
	assert_int_equal(summary.count, SWEEP_STATS_MAX);
	assert_int_equal(summary.window_usec, SWEEP_STATS_MAX * SEC);
	assert_true(summary.heavy_per_hour == 3600);
	assert_int_equal(stats->total[STORY_UP], 2 * SWEEP_STATS_MAX);
	free(stats);
}

static void test_what_is_usual(void **state)
{
	struct sweep_stats *stats = calloc(1, sizeof(*stats));
	struct sweep_sample sample;
	uint64_t median = 1, mad = 1;

	(void)state;
	assert_int_equal(sweep_stats_usual(stats, 10, &median, &mad), 0);
	/* None of these says how long a usual sweep takes. */
	sample = sample_of(1, 1, 10);
	sample.cause = STORY_CAUSE_BECAME_MASTER;
	sweep_stats_add(stats, &sample);
	sample.cause = STORY_CAUSE_LEFT_STANDBY;
	sweep_stats_add(stats, &sample);
	sample = sample_of(1, 1, 10);
	sample.type = STORY_REROUTE;
	sweep_stats_add(stats, &sample);
	sample = sample_of(1, 1, 10);
	sample.result = STORY_UP_WITH_ERRORS;
	sweep_stats_add(stats, &sample);
	sample = sample_of(1, 1, SWEEP_DURATION_UNKNOWN);
	sweep_stats_add(stats, &sample);
	assert_int_equal(sweep_stats_usual(stats, 10, &median, &mad), 0);

	/* The last `max` ones. */
	for (uint64_t i = 0; i < 20; i++) {
		sample = sample_of(i, i, i < 10 ? 1000 : 5);
		sweep_stats_add(stats, &sample);
	}
	assert_int_equal(sweep_stats_usual(stats, 10, &median, &mad), 10);
	assert_int_equal(median, 5);
	assert_int_equal(mad, 0);
	free(stats);
}

static void test_sweeps_load(void **state)
{
	struct sweep_stats *stats = calloc(1, sizeof(*stats));
	const uint64_t total[STORY_RESULTS] = {[STORY_UP] = 100};
	struct detect_time now = at(50);
	struct sweep_sample samples[4] = {
		sample_of(1, 10, 5),
		sample_of(2, 51, 5), /* to come */
		sample_of(3, 20, 5),
		sample_of(4, 30, 5),
	};

	(void)state;
	samples[2].result = STORY_RESULTS;
	assert_int_equal(sweep_stats_load(stats, samples, 4, total, &now), 2);
	assert_int_equal(stats->count, 2);
	assert_int_equal(sweep_stats_get(stats, 1)->number, 4);
	assert_int_equal(stats->total[STORY_UP], 100);
	free(stats);
}

/* ---- traps ---- */

static const struct damper_config flood = {
	.half_life_usec = 60 * SEC, .suppress = 20, .reuse = 5, .hold_usec = 600 * SEC};

static enum damper_change trap(struct trap_stats *stats, uint64_t guid, uint16_t number,
			       uint8_t port, uint64_t sec)
{
	const struct trap_sample sample = {
		.node_guid = guid, .lid = (uint16_t)guid, .number = number, .port = port};
	struct detect_time now = at(sec);
	struct trap_sender *sender;

	return trap_stats_add(stats, &sample, &flood, &now, &sender);
}

static void test_traps_by_number(void **state)
{
	struct trap_stats *stats = calloc(1, sizeof(*stats));
	uint8_t order[TRAP_NUMBERS_MAX];
	struct trap_sample vendor = {.node_guid = 1, .lid = 1, .number = 128, .vendor = true};
	struct trap_sender *sender;
	struct detect_time now = at(1);

	(void)state;
	trap(stats, 1, 144, 0, 1);
	trap(stats, 1, 128, 0, 1);
	trap(stats, 2, 128, 0, 1);
	trap_stats_add(stats, &vendor, &flood, &now, &sender);
	trap(stats, 3, 64, 0, 1);
	assert_int_equal(stats->total, 5);
	assert_int_equal(trap_stats_numbers_by_count(stats, order), 4);
	assert_int_equal(stats->numbers[order[0]].number, 128);
	assert_int_equal(stats->numbers[order[0]].count, 2);
	assert_false(stats->numbers[order[0]].vendor);
	/* 64 is of the SM, which is no sender. */
	assert_int_equal(stats->sender_count, 2);

	for (uint16_t i = 0; i < 100; i++)
		trap(stats, 1, (uint16_t)(1000 + i), 0, 1);
	assert_int_equal(stats->number_count, TRAP_NUMBERS_MAX);
	assert_int_equal(stats->numbers_over, 100 - (TRAP_NUMBERS_MAX - 4));
	free(stats);
}

static void test_busy_senders_are_kept(void **state)
{
	/* Far more senders than slots, and a few of them busy: those are found, with their counts
	 * never too small, and too large by no more than is said. */
	struct trap_stats *stats = calloc(1, sizeof(*stats));
	uint64_t truth[1000] = {0};
	uint8_t order[TRAP_SENDERS_MAX];
	size_t n;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		uint64_t guid = random64() % 4 == 0 ? 1 + random64() % 5 : 6 + random64() % 900;

		truth[guid]++;
		trap(stats, guid, 128, 0, 1);
	}
	n = trap_stats_senders_by_count(stats, order);
	assert_int_equal(n, TRAP_SENDERS_MAX);
	assert_true(stats->senders_over > 0);
	for (size_t i = 0; i < n; i++) {
		const struct trap_sender *sender = &stats->senders[order[i]];

		if (i < 5)
			assert_in_range(sender->node_guid, 1, 5);
		if (i > 0)
			assert_true(sender->count <= stats->senders[order[i - 1]].count);
		assert_true(sender->count >= truth[sender->node_guid]);
		assert_true(sender->count - sender->error <= truth[sender->node_guid]);
	}
	free(stats);
}

static void test_flood_of_one_sender(void **state)
{
	struct trap_stats *stats = calloc(1, sizeof(*stats));
	int tripped = 0;

	(void)state;
	/* Nineteen at once from each of many senders is no flood; the twentieth of one is. */
	for (uint64_t guid = 1; guid <= 10; guid++)
		for (int i = 0; i < 19; i++)
			assert_int_equal(trap(stats, guid, 128, 0, 1), DAMPER_SAME);
	for (int i = 0; i < 20; i++)
		tripped += trap(stats, 3, 128, 0, 1) == DAMPER_TRIPPED;
	assert_int_equal(tripped, 1);
	free(stats);
}

static void test_chatty_port(void **state)
{
	struct trap_stats *stats = calloc(1, sizeof(*stats));

	(void)state;
	trap(stats, 1, 128, 0, 1);
	assert_null(trap_sender_port(&stats->senders[0]));
	/* Trap 128 names no port, but the links that went and came do. */
	trap_stats_link_changed(stats, 1, 4);
	trap_stats_link_changed(stats, 1, 7);
	trap_stats_link_changed(stats, 1, 7);
	trap_stats_link_changed(stats, 2, 9); /* never sent a trap */
	assert_int_equal(trap_sender_port(&stats->senders[0])->port, 7);
	/* 129 names it. */
	for (int i = 0; i < 3; i++)
		trap(stats, 1, 129, 12, 1);
	assert_int_equal(trap_sender_port(&stats->senders[0])->port, 12);
	for (uint8_t port = 20; port < 20 + TRAP_PORTS_MAX; port++)
		trap(stats, 1, 129, port, 1);
	assert_int_equal(stats->senders[0].port_count, TRAP_PORTS_MAX);
	assert_int_equal(trap_sender_port(&stats->senders[0])->port, 12);
	free(stats);
}

static void test_senders_without_a_node(void **state)
{
	struct trap_stats *stats = calloc(1, sizeof(*stats));
	struct trap_sample sample = {.lid = 5, .number = 128};
	struct detect_time now = at(1);
	struct trap_sender *sender;

	(void)state;
	trap_stats_add(stats, &sample, &flood, &now, &sender);
	trap_stats_add(stats, &sample, &flood, &now, &sender);
	sample.lid = 6;
	trap_stats_add(stats, &sample, &flood, &now, &sender);
	assert_int_equal(stats->sender_count, 2);
	assert_int_equal(stats->senders[0].count, 2);
	free(stats);
}

static void test_traps_load_what_they_saved(void **state)
{
	struct trap_stats *stats = calloc(1, sizeof(*stats));
	struct trap_stats *saved = calloc(1, sizeof(*saved));
	struct trap_stats *loaded = calloc(1, sizeof(*loaded));
	struct detect_time now = at(100);

	(void)state;
	for (int i = 0; i < 30; i++)
		trap(stats, 1, 129, 3, 100);
	trap_stats_save(stats, &flood, &now, saved);
	/* A new boot, a minute later. */
	now = (struct detect_time){5 * SEC, REALTIME + 160 * SEC};
	assert_int_equal(trap_stats_load(saved, &flood, &now, loaded), 0);
	assert_true(loaded->senders[0].damper.tripped);
	assert_true(fabs(loaded->senders[0].damper.penalty - 15) < 1e-6);
	assert_int_equal(trap_sender_port(&loaded->senders[0])->port, 3);
	saved->senders[0].port_count = TRAP_PORTS_MAX + 1;
	assert_int_equal(trap_stats_load(saved, &flood, &now, loaded), -EBADMSG);
	assert_int_equal(loaded->sender_count, 0);
	free(stats);
	free(saved);
	free(loaded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sample_from_story),
		cmocka_unit_test(test_quantiles),
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_full_window),
		cmocka_unit_test(test_what_is_usual),
		cmocka_unit_test(test_sweeps_load),
		cmocka_unit_test(test_traps_by_number),
		cmocka_unit_test(test_busy_senders_are_kept),
		cmocka_unit_test(test_flood_of_one_sender),
		cmocka_unit_test(test_chatty_port),
		cmocka_unit_test(test_senders_without_a_node),
		cmocka_unit_test(test_traps_load_what_they_saved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
