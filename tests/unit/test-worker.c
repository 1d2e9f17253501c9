// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Tests of the worker thread: order, what runs where, and its end with work left.
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/worker.h"

enum { ITEMS = 5 };

struct item {
	struct work work;
	unsigned number;
	pthread_t ran_on;
	sem_t *gate;
};

static sem_t gate;
static unsigned prepared, ran, done, cancelled;
static pthread_t loop_thread;
static struct worker *worker;
static struct item extra;

static void prepare(struct work *work)
{
	assert_true(pthread_equal(pthread_self(), loop_thread));
	/* Right before it runs: all earlier ones are done. */
	assert_int_equal(((struct item *)work)->number, prepared);
	assert_int_equal(done, prepared);
	prepared++;
}

static void run(struct work *work)
{
	struct item *item = (struct item *)work;

	item->ran_on = pthread_self();
	if (item->gate)
		sem_wait(item->gate);
	__atomic_add_fetch(&ran, 1, __ATOMIC_SEQ_CST);
}

static void on_done(struct work *work)
{
	struct item *item = (struct item *)work;

	assert_true(pthread_equal(pthread_self(), loop_thread));
	if (work->cancelled) {
		cancelled++;
		return;
	}
	assert_false(pthread_equal(item->ran_on, loop_thread));
	assert_int_equal(item->number, done);
	done++;
}

static void submit_from_done(struct work *work)
{
	on_done(work);
	worker_submit(worker, &extra.work);
}

static void reset(struct item items[ITEMS])
{
	prepared = ran = done = cancelled = 0;
	loop_thread = pthread_self();
	for (unsigned i = 0; i < ITEMS; i++)
		items[i] = (struct item){
			.work = {.prepare = prepare, .run = run, .done = on_done},
			.number = i,
		};
	extra = (struct item){.work = {.run = run, .done = on_done}, .number = ITEMS};
}

static void test_order(void **state)
{
	struct item items[ITEMS];
	sd_event *event = NULL;

	(void)state;
	reset(items);
	assert_true(sd_event_new(&event) >= 0);
	assert_int_equal(worker_new(event, &worker), 0);
	items[ITEMS - 1].work.done = submit_from_done;
	for (unsigned i = 0; i < ITEMS; i++)
		worker_submit(worker, &items[i].work);
	while (done < ITEMS + 1)
		assert_true(sd_event_run(event, UINT64_C(60000000)) > 0);
	assert_int_equal(ran, ITEMS + 1);
	assert_int_equal(prepared, ITEMS);
	worker = worker_free(worker);
	assert_int_equal(cancelled, 0);
	sd_event_unref(event);
}

/* What runs ends in order; what waits is cancelled, and so is what is submitted meanwhile. */
static void test_end(void **state)
{
	struct item items[ITEMS];
	sd_event *event = NULL;

	(void)state;
	reset(items);
	assert_int_equal(sem_init(&gate, 0, 0), 0);
	assert_true(sd_event_new(&event) >= 0);
	assert_int_equal(worker_new(event, &worker), 0);
	items[0].gate = &gate;
	items[0].work.done = submit_from_done;
	for (unsigned i = 0; i < ITEMS; i++)
		worker_submit(worker, &items[i].work);
	assert_int_equal(sem_post(&gate), 0);
	worker_free(worker);
	assert_int_equal(ran, 1);
	assert_int_equal(done, 1);
	assert_int_equal(cancelled, ITEMS);
	assert_null(worker_free(NULL));
	sd_event_unref(event);
	sem_destroy(&gate);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
