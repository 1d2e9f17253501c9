// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Tests of plugin/backoff.c: delays grow to a limit, with jitter, and a good connection resets
// them.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "plugin/backoff.h"

static void assert_near(uint64_t delay, uint64_t expected)
{
	assert_true(delay >= expected / 4 * 3);
	assert_true(delay <= expected / 4 * 5);
}

static void test_growth(void **state)
{
	struct backoff backoff;
	uint64_t expected = BACKOFF_FIRST_NSEC;

	(void)state;
	backoff_init(&backoff, 1);
	for (int i = 0; i < 20; i++) {
		assert_near(backoff_failed(&backoff), expected);
		expected = expected * 2 < BACKOFF_LAST_NSEC ? expected * 2 : BACKOFF_LAST_NSEC;
	}
}

static void test_good_connection(void **state)
{
	struct backoff backoff;

	(void)state;
	backoff_init(&backoff, 7);
	for (int i = 0; i < 10; i++)
		backoff_failed(&backoff);
	assert_int_equal(backoff_lost(&backoff, BACKOFF_GOOD_NSEC), 0);
	assert_near(backoff_failed(&backoff), BACKOFF_FIRST_NSEC);
}

/* A daemon that refuses at once must not be called a hundred times a second. */
static void test_refusals(void **state)
{
	struct backoff backoff;

	(void)state;
	backoff_init(&backoff, 7);
	assert_near(backoff_lost(&backoff, 0), BACKOFF_FIRST_NSEC);
	assert_near(backoff_lost(&backoff, BACKOFF_GOOD_NSEC - 1), 2 * BACKOFF_FIRST_NSEC);
	for (int i = 0; i < 10; i++)
		backoff_lost(&backoff, 0);
	assert_near(backoff_lost(&backoff, 0), BACKOFF_LAST_NSEC);
}

static void test_jitter(void **state)
{
	struct backoff a, b;
	unsigned int same = 0;

	(void)state;
	backoff_init(&a, 1);
	backoff_init(&b, 2);
	for (int i = 0; i < 50; i++)
		same += backoff_failed(&a) == backoff_failed(&b);
	assert_true(same < 3);
	backoff_init(&a, 0); /* a seed like any other */
	assert_true(backoff_failed(&a) != backoff_failed(&a));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_growth),
		cmocka_unit_test(test_good_connection),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_jitter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
