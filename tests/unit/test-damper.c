// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The damper against a naive computation, at its thresholds, and over a restart of the clock.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdbool.h>

#include "fabric/damper.h"

#define SEC UINT64_C(1000000)

/* Router defaults: half-life 15 min, suppress 2000, reuse 750, at most 4 half-lives. */
static const struct damper_config config = {
	.half_life_usec = 900 * SEC,
	.suppress = 2000,
	.reuse = 750,
	.hold_usec = 3600 * SEC,
};

static uint64_t state = 88172645463325252;

static uint64_t random64(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static void assert_near(double is, double want)
{
	if (fabs(is - want) > 1e-6 * fmax(1, fabs(want)))
		fail_msg("%.12g, not %.12g", is, want);
}

/* The penalty from its definition: the sum over all events, each decayed on its own. Valid as long
 * as the ceiling was not reached. */
static double naive(const uint64_t *usec, const double *weight, size_t count, uint64_t now)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += weight[i] * pow(2, -(double)(now - usec[i]) / (double)config.half_life_usec);
	return sum;
}

static void test_against_naive(void **unused)
{
	(void)unused;
	for (int round = 0; round < 200; round++) {
		struct damper damper = {0};
		uint64_t usec[40];
		double weight[40];
		uint64_t now = random64() % (1000 * SEC);
		bool tripped = false;

		for (size_t i = 0; i < 40; i++) {
			enum damper_change change;
			double before;

			now += random64() % (round % 2 ? 600 * SEC : 3000 * SEC);
			before = naive(usec, weight, i, now);
			/* A look changes nothing but whether it is tripped. */
			change = damper_update(&damper, &config, now);
			if (fabs(before - config.reuse) > 1e-3)
				assert_int_equal(change, tripped && before < config.reuse
								 ? DAMPER_LET_GO
								 : DAMPER_SAME);
			tripped = damper.tripped;
			assert_near(damper_penalty(&damper, &config, now), before);

			usec[i] = now;
			weight[i] = 500 + (double)(random64() % 501);
			if (before + weight[i] > damper_ceiling(&config))
				break;
			change = damper_add(&damper, &config, weight[i], now);
			assert_near(damper.penalty, before + weight[i]);
			if (!tripped && before + weight[i] >= config.suppress)
				assert_int_equal(change, DAMPER_TRIPPED);
			tripped = damper.tripped;
		}
	}
}

static void test_steady_state(void **unused)
{
	/* 1000/(1 − 2^(−τ/H)) for a period τ. */
	const uint64_t period = 300 * SEC;
	struct damper damper = {0};

	(void)unused;
	for (uint64_t i = 0; i < 200; i++)
		damper_add(&damper, &config, 1000, i * period);
	assert_near(damper.penalty, 1000 / (1 - pow(2, -300.0 / 900)));
}

static void test_thresholds(void **unused)
{
	struct damper damper = {0};
	uint64_t at;

	(void)unused;
	/* Just below does not trip, the threshold itself does. */
	assert_int_equal(damper_add(&damper, &config, 1999.9, 1000), DAMPER_SAME);
	assert_int_equal(damper_add(&damper, &config, 0.1, 1000), DAMPER_TRIPPED);
	assert_int_equal(damper_add(&damper, &config, 1000, 1000), DAMPER_SAME);

	/* 3000 falls below 750 after two half-lives: not a moment before. */
	at = damper_lets_go_at(&damper, &config);
	assert_true(at >= 1000 + 1800 * SEC && at <= 1000 + 1800 * SEC + 2);
	assert_int_equal(damper_update(&damper, &config, at - 2), DAMPER_SAME);
	assert_int_equal(damper_update(&damper, &config, at), DAMPER_LET_GO);
	assert_int_equal(damper_update(&damper, &config, at + 1), DAMPER_SAME);
	assert_int_equal(damper_lets_go_at(&damper, &config), UINT64_MAX);

	/* An event that comes when nobody has looked for long lets go just as well. */
	damper_add(&damper, &config, 3000, at + 1);
	assert_int_equal(damper_add(&damper, &config, 10, at + 1 + 3600 * SEC), DAMPER_LET_GO);
	assert_false(damper.tripped);
	at += 4000 * SEC;

	/* Let go, it does not trip again at once: no chatter at `reuse`. */
	assert_int_equal(damper_add(&damper, &config, 10, at + 1), DAMPER_SAME);
	assert_false(damper.tripped);
}

static void test_ceiling(void **unused)
{
	struct damper damper = {0};
	const uint64_t last = 10000 * SEC;

	(void)unused;
	assert_near(damper_ceiling(&config), 750 * 16);
	for (int i = 0; i < 1000; i++)
		damper_add(&damper, &config, 1000, last);
	assert_near(damper.penalty, 12000);
	/* However bad it was, it lets go after `hold_usec`. */
	assert_int_equal(damper_update(&damper, &config, last + config.hold_usec - SEC),
			 DAMPER_SAME);
	assert_int_equal(damper_update(&damper, &config, last + config.hold_usec + SEC),
			 DAMPER_LET_GO);
	assert_false(damper_is_idle(&damper, &config, last + config.hold_usec + SEC));
	assert_true(damper_is_idle(&damper, &config, last + 5 * config.hold_usec));
}

static void test_planned_handovers_never_trip(void **unused)
{
	/* There and back within a microsecond, and an hour later again, for a day. */
	struct damper damper = {0};

	(void)unused;
	for (uint64_t hour = 0; hour < 24; hour++) {
		damper_update(&damper, &config, hour * 3600 * SEC);
		if (hour % 4 == 0) {
			damper_add(&damper, &config, 1000, hour * 3600 * SEC);
			damper_add(&damper, &config, 1000 - 150, hour * 3600 * SEC + 1);
		}
		assert_false(damper.tripped);
	}
	damper = (struct damper){0};
	damper_add(&damper, &config, 1000, 5);
	damper_add(&damper, &config, 1000, 6);
	assert_false(damper.tripped);
}

static void test_late_event(void **unused)
{
	struct damper on_time = {0}, late = {0};

	(void)unused;
	damper_add(&on_time, &config, 1000, 100 * SEC);
	damper_add(&on_time, &config, 1000, 200 * SEC);
	damper_add(&late, &config, 1000, 200 * SEC);
	damper_add_late(&late, &config, 1000, 100 * SEC, 200 * SEC);
	assert_near(late.penalty, on_time.penalty);
}

static void test_time_does_not_run_back(void **unused)
{
	struct damper damper = {0};

	(void)unused;
	damper_add(&damper, &config, 1000, 100 * SEC);
	assert_near(damper_penalty(&damper, &config, 50 * SEC), 1000);
	damper_add(&damper, &config, 500, 50 * SEC);
	assert_near(damper.penalty, 1500);
	assert_int_equal(damper.usec, 100 * SEC);
}

static void test_restart(void **unused)
{
	const uint64_t realtime = UINT64_C(1700000000) * SEC;
	struct damper damper = {0}, loaded;
	struct damper_saved saved;

	(void)unused;
	damper_add(&damper, &config, 3000, 5000000 * SEC);
	damper_save(&damper, &config, 5000000 * SEC + 100 * SEC, realtime, &saved);

	/* After a reboot the monotonic clock is small; half an hour has gone by. */
	damper_load(&saved, &config, 7 * SEC, realtime + 1800 * SEC, &loaded);
	assert_true(loaded.tripped);
	assert_near(loaded.penalty, 3000 * pow(2, -1900.0 / 900));
	assert_int_equal(damper_update(&loaded, &config, 7 * SEC), DAMPER_LET_GO);

	/* The clock was set back meanwhile: nothing decays, nothing grows. */
	damper_load(&saved, &config, 7 * SEC, realtime - 1000 * SEC, &loaded);
	assert_near(loaded.penalty, 3000 * pow(2, -100.0 / 900));

	/* A smaller ceiling since then. */
	const struct damper_config smaller = {.half_life_usec = 900 * SEC,
					      .suppress = 1000,
					      .reuse = 500,
					      .hold_usec = 900 * SEC};

	damper_load(&saved, &smaller, 7 * SEC, realtime, &loaded);
	assert_near(loaded.penalty, 1000);
}

static void test_broken_state(void **unused)
{
	const double bad[] = {-1, NAN, INFINITY, -INFINITY};
	struct damper loaded;

	(void)unused;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const struct damper_saved saved = {
			.penalty = bad[i], .realtime_usec = 1, .tripped = true};

		damper_load(&saved, &config, 5, 10, &loaded);
		assert_near(loaded.penalty, 0);
		assert_false(loaded.tripped);
	}
}

static void test_config(void **unused)
{
	struct damper_config bad = config;

	(void)unused;
	assert_true(damper_config_is_valid(&config));
	bad.half_life_usec = 0;
	assert_false(damper_config_is_valid(&bad));
	bad = config;
	bad.reuse = 2000;
	assert_false(damper_config_is_valid(&bad));
	bad = config;
	bad.reuse = 0;
	assert_false(damper_config_is_valid(&bad));
	bad = config;
	bad.hold_usec = 900 * SEC; /* a ceiling of 1500 is never 2000 */
	assert_false(damper_config_is_valid(&bad));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_against_naive),
		cmocka_unit_test(test_steady_state),
		cmocka_unit_test(test_thresholds),
		cmocka_unit_test(test_ceiling),
		cmocka_unit_test(test_planned_handovers_never_trip),
		cmocka_unit_test(test_late_event),
		cmocka_unit_test(test_time_does_not_run_back),
		cmocka_unit_test(test_restart),
		cmocka_unit_test(test_broken_state),
		cmocka_unit_test(test_config),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
