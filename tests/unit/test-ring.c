// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Tests of plugin/ring.c: order, fullness, counts, and many producers at once.

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "plugin/ring.h"
#include "util/cleanup.h"

#define PRODUCERS 4
#ifdef __SANITIZE_THREAD__
#define PER_PRODUCER 50000u
#else
#define PER_PRODUCER 400000u
#endif

static bool put(struct ring *ring, uint64_t producer, uint64_t value)
{
	struct ring_claim claim;

	if (!ring_claim(ring, &claim))
		return false;
	memset(claim.record, 0, sizeof(*claim.record));
	claim.record->port_errors.node_guid = producer;
	claim.record->port_errors.symbol_err_cnt = value;
	ring_publish(ring, &claim);
	return true;
}

static void test_sizes(void **state)
{
	struct ring ring = {0};

	(void)state;
	assert_int_equal(ring_init(&ring, 0), -EINVAL);
	assert_int_equal(ring_init(&ring, 100), -EINVAL);
	assert_int_equal(ring_init(&ring, 64), 0);
	assert_int_equal(ring_capacity(&ring), 64);
	assert_null(ring_peek(&ring, 0));
	ring_clear(&ring);
	ring_clear(&ring);
	/* A slot is a whole number of cache lines, so producers do not share any. */
	assert_int_equal(sizeof(struct ring_slot) % RING_CACHE_LINE, 0);
}

static void test_order_and_wrap(void **state)
{
	struct ring ring = {0};
	uint64_t next = 0;

	(void)state;
	assert_int_equal(ring_init(&ring, 64), 0);
	for (uint64_t i = 0; i < 1000; i += 50) {
		for (uint64_t k = 0; k < 50; k++)
			assert_true(put(&ring, 0, i + k));
		assert_int_equal(ring_used(&ring), 50);
		for (uint64_t k = 0; k < 50; k++)
			assert_int_equal(ring_peek(&ring, k)->port_errors.symbol_err_cnt, next++);
		assert_null(ring_peek(&ring, 50));
		ring_consume(&ring, 50);
		assert_null(ring_peek(&ring, 0));
	}
	assert_int_equal(ring_raised(&ring), 1000);
	assert_int_equal(ring_dropped(&ring), 0);
	ring_clear(&ring);
}

static void test_full_drops_and_counts(void **state)
{
	struct ring ring = {0};
	struct ring_claim claim;

	(void)state;
	assert_int_equal(ring_init(&ring, 64), 0);
	for (uint64_t i = 0; i < 64; i++)
		assert_true(put(&ring, 0, i));
	for (uint64_t i = 0; i < 10; i++)
		assert_false(put(&ring, 0, 1000 + i));
	assert_int_equal(ring_raised(&ring), 74);
	assert_int_equal(ring_dropped(&ring), 10);
	assert_false(ring_claim(&ring, &claim));
	assert_int_equal(claim.used, 64);

	ring_consume(&ring, 1);
	assert_true(put(&ring, 0, 64));
	assert_false(put(&ring, 0, 65));
	for (uint64_t i = 0; i < 64; i++)
		assert_int_equal(ring_peek(&ring, i)->port_errors.symbol_err_cnt, i + 1);
	assert_null(ring_peek(&ring, 64));
	ring_clear(&ring);
}

/* A producer that is stopped between claim and publish holds up the consumer, nobody else. */
static void test_stopped_producer(void **state)
{
	struct ring ring = {0};
	struct ring_claim stopped;

	(void)state;
	assert_int_equal(ring_init(&ring, 64), 0);
	assert_true(put(&ring, 0, 0));
	assert_true(ring_claim(&ring, &stopped));
	for (uint64_t i = 0; i < 62; i++)
		assert_true(put(&ring, 1, i));
	assert_false(put(&ring, 1, 62));
	assert_int_equal(ring_used(&ring), 64);

	assert_non_null(ring_peek(&ring, 0));
	assert_null(ring_peek(&ring, 1));
	ring_consume(&ring, 1);
	assert_null(ring_peek(&ring, 0));

	stopped.record->port_errors.node_guid = 7;
	ring_publish(&ring, &stopped);
	assert_int_equal(ring_peek(&ring, 0)->port_errors.node_guid, 7);
	assert_int_equal(ring_peek(&ring, 62)->port_errors.symbol_err_cnt, 61);
	ring_clear(&ring);
}

static void test_high_water(void **state)
{
	struct ring ring = {0};
	struct ring_claim claim;

	(void)state;
	assert_int_equal(ring_init(&ring, 64), 0);
	assert_int_equal(ring_high_water(&ring), 48);
	for (uint64_t i = 1; i <= 64; i++) {
		assert_true(ring_claim(&ring, &claim));
		assert_int_equal(claim.used, i);
		ring_publish(&ring, &claim);
	}
	ring_clear(&ring);
}

struct producer {
	struct ring *ring;
	uint64_t id;
	uint64_t stored;
	_Atomic bool done;
};

static void *produce(void *data)
{
	struct producer *producer = data;

	for (uint64_t i = 0; i < PER_PRODUCER; i++)
		if (put(producer->ring, producer->id, i))
			producer->stored++;
	atomic_store(&producer->done, true);
	return NULL;
}

static bool all_done(struct producer producers[PRODUCERS])
{
	for (int i = 0; i < PRODUCERS; i++)
		if (!atomic_load(&producers[i].done))
			return false;
	return true;
}

/* No record is lost without being counted, none comes twice, and each producer's stay in order. */
static void test_many_producers(void **state)
{
	struct ring ring = {0};
	struct producer producers[PRODUCERS] = {0};
	pthread_t threads[PRODUCERS];
	uint64_t next[PRODUCERS] = {0}, taken[PRODUCERS] = {0}, total = 0;

	(void)state;
	assert_int_equal(ring_init(&ring, 1024), 0);
	for (unsigned int i = 0; i < PRODUCERS; i++) {
		producers[i] = (struct producer){.ring = &ring, .id = i};
		assert_int_equal(pthread_create(&threads[i], NULL, produce, &producers[i]), 0);
	}
	for (;;) {
		bool done = all_done(producers);
		union ring_record *record = ring_peek(&ring, 0);
		uint64_t id, value;

		if (!record) {
			if (done)
				break;
			continue;
		}
		id = record->port_errors.node_guid;
		value = record->port_errors.symbol_err_cnt;
		assert_true(id < PRODUCERS);
		assert_true(value >= next[id]);
		next[id] = value + 1;
		taken[id]++;
		total++;
		ring_consume(&ring, 1);
	}
	for (int i = 0; i < PRODUCERS; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(taken[i], producers[i].stored);
	}
	assert_int_equal(ring_raised(&ring), (uint64_t)PRODUCERS * PER_PRODUCER);
	assert_int_equal(total + ring_dropped(&ring), ring_raised(&ring));
	ring_clear(&ring);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_order_and_wrap),
		cmocka_unit_test(test_full_drops_and_counts),
		cmocka_unit_test(test_stopped_producer),
		cmocka_unit_test(test_high_water),
		cmocka_unit_test(test_many_producers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
