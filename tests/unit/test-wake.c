// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Tests of plugin/wake.c: no system call for a sender that is awake, none lost for one that sleeps.

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "plugin/ring.h"
#include "plugin/wake.h"

#ifdef __SANITIZE_THREAD__
#define HANDOVERS 20000u
#else
#define HANDOVERS 100000u
#endif

static int set_up(void **state)
{
	static struct wake wake;

	*state = &wake;
	return wake_init(&wake);
}

static int tear_down(void **state)
{
	wake_clear(*state);
	wake_clear(*state); /* may be done twice */
	return 0;
}

static bool is_woken(const struct wake *wake, int msec)
{
	struct pollfd p = {.fd = wake->fd, .events = POLLIN};

	return poll(&p, 1, msec) > 0;
}

static void test_awake(void **state)
{
	struct wake *wake = *state;

	wake_after_put(wake, false);
	wake_after_put(wake, true);
	assert_false(is_woken(wake, 0));
}

static void test_any(void **state)
{
	struct wake *wake = *state;

	wake_announce(wake, WAKE_ANY);
	assert_false(is_woken(wake, 0));
	errno = 77;
	wake_after_put(wake, false);
	assert_int_equal(errno, 77);
	assert_true(is_woken(wake, 0));
	/* The next ones find that somebody did it. */
	assert_int_equal(atomic_load(&wake->mode), WAKE_AWAKE);
	wake_up(wake);
	assert_false(is_woken(wake, 0));
	wake_after_put(wake, false);
	assert_false(is_woken(wake, 0));
}

static void test_high_water(void **state)
{
	struct wake *wake = *state;

	wake_announce(wake, WAKE_HIGH_WATER);
	wake_after_put(wake, false);
	assert_false(is_woken(wake, 0));
	wake_after_put(wake, true);
	assert_true(is_woken(wake, 0));
	wake_up(wake);
	wake_announce(wake, WAKE_HIGH_WATER);
	wake_always(wake);
	assert_true(is_woken(wake, 0));
	wake_up(wake);
	assert_false(is_woken(wake, 0));
}

struct handover {
	struct wake *wake;
	struct ring ring;
	_Atomic uint64_t taken;
};

/* One record at a time, each put when the last one was taken: so the sender sleeps for each. */
static void *produce(void *data)
{
	static char full[] = "full";
	struct handover *h = data;

	for (uint64_t i = 0; i < HANDOVERS; i++) {
		struct ring_claim claim;

		while (atomic_load(&h->taken) < i)
			;
		if (!ring_claim(&h->ring, &claim))
			return full;
		ring_publish(&h->ring, &claim);
		wake_after_put(h->wake, false);
	}
	return NULL;
}

static void test_none_is_lost(void **state)
{
	struct handover h = {.wake = *state};
	pthread_t thread;
	void *failure;

	assert_int_equal(ring_init(&h.ring, 64), 0);
	assert_int_equal(pthread_create(&thread, NULL, produce, &h), 0);
	while (atomic_load(&h.taken) < HANDOVERS) {
		/* As sender.c does: announce, look once more, sleep. */
		wake_announce(h.wake, WAKE_ANY);
		if (!ring_peek(&h.ring, 0) && !is_woken(h.wake, 60000))
			fail_msg("slept through record %u", (unsigned int)atomic_load(&h.taken));
		wake_up(h.wake);
		if (ring_peek(&h.ring, 0)) {
			ring_consume(&h.ring, 1);
			atomic_fetch_add(&h.taken, 1);
		}
	}
	pthread_join(thread, &failure);
	assert_null(failure);
	ring_clear(&h.ring);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_awake),
		TEST(test_any),
		TEST(test_high_water),
		TEST(test_none_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
