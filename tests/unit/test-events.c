// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Tests of the ring of events.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/events.h"
#include "util/cleanup.h"

static void append(struct events *events, struct limits *limits, const char *message)
{
	struct event *event = event_new(&(struct event){
		.kind = EVENT_TRAP,
		.message = message,
		.n_ends = 1,
		.ends = {{.node_guid = 7, .name = message}},
	});

	assert_non_null(event);
	events_append(events, event, limits);
}

static void test_ring(void **state)
{
	struct limits limits = {0};
	struct events events;
	char text[16];

	(void)state;
	assert_int_equal(events_init(&events, 4, 100), 0);
	assert_int_equal(events_first(&events), 100);
	assert_null(events_get(&events, 99));
	assert_null(events_get(&events, 100));
	for (unsigned i = 0; i < 10; i++) {
		snprintf(text, sizeof(text), "%u", 100 + i);
		append(&events, &limits, text);
	}
	assert_int_equal(events_first(&events), 106);
	assert_int_equal(events.next, 110);
	assert_int_equal(limits.limits[LIMIT_EVENTS].count, 6);
	assert_null(events_get(&events, 105));
	assert_null(events_get(&events, 110));
	for (uint64_t n = 106; n < 110; n++) {
		const struct event *event = events_get(&events, n);

		snprintf(text, sizeof(text), "%u", (unsigned)n);
		assert_int_equal(event->number, n);
		assert_string_equal(event->message, text);
		assert_string_equal(event->ends[0].name, text);
		assert_ptr_not_equal(event->ends[0].name, event->message);
	}
	events_clear(&events);
}

static void test_resize(void **state)
{
	struct limits limits = {0};
	struct events events;

	(void)state;
	assert_int_equal(events_init(&events, 8, 1), 0);
	for (unsigned i = 1; i <= 13; i++)
		append(&events, &limits, "x");
	assert_int_equal(events_first(&events), 6);
	assert_int_equal(events_resize(&events, 3), 0);
	assert_int_equal(events_first(&events), 11);
	assert_int_equal(events_get(&events, 11)->number, 11);
	assert_int_equal(events_resize(&events, 100), 0);
	assert_int_equal(events_first(&events), 11);
	append(&events, &limits, "x");
	for (uint64_t n = 11; n <= 14; n++)
		assert_int_equal(events_get(&events, n)->number, n);
	events_clear(&events);
}

static void test_cause(void **state)
{
	struct shared_text *cause = shared_text_new("because");
	struct limits limits = {0};
	struct events events;

	(void)state;
	assert_int_equal(events_init(&events, 2, 1), 0);
	for (unsigned i = 0; i < 3; i++) {
		struct event *event = event_new(&(struct event){.kind = EVENT_TRAP, .message = ""});

		assert_null(event->cause);
		event->cause = cause;
		cause->refs++;
		events_append(&events, event, &limits);
	}
	assert_int_equal(cause->refs, 3);
	events_clear(&events);
	assert_int_equal(cause->refs, 1);
	shared_text_unref(cause);
}

static void test_change(void **state)
{
	struct fabric_change change = {
		.kind = FABRIC_CHANGE_LID,
		.a = {.node_guid = 1, .name = "leaf", .port = 0, .lid = 9},
		.old = 7,
		.new = 9,
	};
	struct event *event = event_from_change(&change);

	(void)state;
	assert_string_equal(event_kind_name(event->kind), "lid");
	assert_int_equal(event->n_ends, 1);
	assert_string_equal(event->ends[0].name, "leaf");
	assert_string_equal(event->old, "7");
	assert_string_equal(event->new, "9");
	assert_non_null(strstr(event->message, "leaf"));
	event_free(event);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ring),
		cmocka_unit_test(test_resize),
		cmocka_unit_test(test_cause),
		cmocka_unit_test(test_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
