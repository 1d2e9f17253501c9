// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Tests of what outlives a restart of ibsmd.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/state.h"
#include "util/cleanup.h"

#define SEC UINT64_C(1000000)

static char directory[64];

static void path_of(const char *name, char ret[128])
{
	snprintf(ret, 128, "%s/%s", directory, name);
}

static void write_state(const char *text)
{
	char path[128];
	FILE *file;

	path_of("state.json", path);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static int setup(void **state)
{
	(void)state;
	strcpy(directory, "/tmp/ibsm-test-state.XXXXXX");
	return mkdtemp(directory) ? 0 : -1;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", directory);
	return system(command);
}

static void test_fresh(void **unused)
{
	struct state state;
	char why[256];

	(void)unused;
	assert_int_equal(state_load(directory, &state, why), 0);
	assert_string_equal(why, "");
	assert_int_equal(state.next_event, 1);
	assert_int_equal(state.last_sweep, 0);
	assert_int_equal(state_load("/nonexistent/ibsm", &state, why), 0);
}

static void test_clean_and_unclean(void **unused)
{
	struct limits limits = {0};
	struct instance *instance;
	struct state state, again;
	char why[256], path[128];

	(void)unused;
	assert_int_equal(state_load(directory, &state, why), 0);
	state.next_event = 1001;
	state.last_sweep = 7;
	instance = state_instance(&state, UINT64_C(0xfedcba9876543210), 5, &limits);
	instance->sequence = UINT64_MAX;
	instance->dropped = 12;
	instance->users = 1;

	assert_int_equal(state_save(directory, &state, true, 0), 0);
	path_of("state.json.new", path);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(state_load(directory, &again, why), 0);
	assert_int_equal(again.next_event, 1001);
	assert_int_equal(again.last_sweep, 7);
	assert_true(again.instances[0].id == UINT64_C(0xfedcba9876543210));
	assert_true(again.instances[0].sequence == UINT64_MAX);
	assert_int_equal(again.instances[0].dropped, 12);
	assert_int_equal(again.instances[0].used_usec, 5);
	assert_int_equal(again.instances[0].users, 0);

	/* Numbers that may have been given since it was written are left out. */
	assert_int_equal(state_save(directory, &state, false, 0), 0);
	assert_int_equal(state_load(directory, &again, why), 0);
	assert_int_equal(again.next_event, 1001 + STATE_EVENTS_AHEAD);
	assert_int_equal(again.last_sweep, 7 + STATE_SWEEPS_AHEAD);
}

static void test_due(void **unused)
{
	struct state state;
	char why[256];

	(void)unused;
	assert_int_equal(state_load(directory, &state, why), 0);
	assert_int_equal(state_save(directory, &state, false, 100 * SEC), 0);
	assert_false(state_is_due(&state, 101 * SEC));
	assert_true(state_is_due(&state, 100 * SEC + STATE_SAVE_USEC));
	/* Long before the numbers that a crash would skip are used up. */
	state.next_event += STATE_EVENTS_AHEAD / 2;
	assert_true(state_is_due(&state, 101 * SEC));
	assert_int_equal(state_save(directory, &state, false, 101 * SEC), 0);
	assert_false(state_is_due(&state, 101 * SEC));
	state.last_sweep += STATE_SWEEPS_AHEAD / 2;
	assert_true(state_is_due(&state, 101 * SEC));
}

static void test_broken(void **unused)
{
	static const char *const broken[] = {
		"",
		"{",
		"[]",
		"{}",
		"{\"version\":2,\"clean\":true,\"next_event\":\"1\",\"last_sweep\":\"0\","
		"\"instances\":[]}",
		"{\"version\":1,\"clean\":true,\"next_event\":\"0\",\"last_sweep\":\"0\","
		"\"instances\":[]}",
		"{\"version\":1,\"clean\":true,\"next_event\":\"-5\",\"last_sweep\":\"0\","
		"\"instances\":[]}",
		"{\"version\":1,\"clean\":true,\"next_event\":\"18446744073709551615\","
		"\"last_sweep\":\"0\",\"instances\":[]}",
		"{\"version\":1,\"clean\":true,\"next_event\":1,\"last_sweep\":\"0\","
		"\"instances\":[]}",
		"{\"version\":1,\"clean\":true,\"next_event\":\"1\",\"last_sweep\":\"0\"}",
		"{\"version\":1,\"clean\":true,\"next_event\":\"1\",\"last_sweep\":\"0\","
		"\"instances\":[{\"id\":\"1\"}]}",
	};
	char path[128], aside[128], why[256];
	struct state state;

	(void)unused;
	path_of("state.json", path);
	path_of("state.json.broken", aside);
	for (size_t i = 0; i < ELEMENTSOF(broken); i++) {
		write_state(broken[i]);
		unlink(aside);
		assert_int_equal(state_load(directory, &state, why), -EBADMSG);
		assert_non_null(strstr(why, path));
		assert_int_equal(state.next_event, 1);
		assert_int_equal(access(path, F_OK), -1);
		assert_int_equal(access(aside, F_OK), 0);
		assert_int_equal(state_load(directory, &state, why), 0);
	}

	/* What is no file is not waited for. */
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(state_load(directory, &state, why), -EBADMSG);
	assert_int_equal(access(path, F_OK), -1);
}

static void test_cannot_save(void **unused)
{
	struct state state;
	char why[256];

	(void)unused;
	assert_int_equal(state_load(directory, &state, why), 0);
	assert_int_equal(state_save("/nonexistent/ibsm", &state, false, 0), -ENOENT);
}

static void test_instances(void **unused)
{
	struct limits limits = {0};
	struct state state = {.next_event = 1};
	struct instance *first, *second;

	(void)unused;
	for (uint64_t id = 1; id <= INSTANCES_MAX; id++)
		state_instance(&state, id, 1000 + id, &limits)->sequence = id;
	assert_int_equal(limits.limits[LIMIT_INSTANCES].count, 0);
	first = state_instance(&state, 1, 2000, &limits);
	assert_int_equal(first->sequence, 1);
	first->used_usec = 1;
	first->users = 1;

	/* The oldest without a user makes room: 2, and not 1. */
	second = state_instance(&state, 999, 3000, &limits);
	assert_int_equal(limits.limits[LIMIT_INSTANCES].count, 1);
	assert_int_equal(second->sequence, 0);
	assert_int_equal(state_instance(&state, 1, 3000, &limits)->sequence, 1);
	assert_int_equal(state_instance(&state, 3, 3000, &limits)->sequence, 3);
	assert_int_equal(state_instance(&state, 2, 3000, &limits)->sequence, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_fresh, setup, teardown),
		cmocka_unit_test_setup_teardown(test_clean_and_unclean, setup, teardown),
		cmocka_unit_test_setup_teardown(test_due, setup, teardown),
		cmocka_unit_test_setup_teardown(test_broken, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cannot_save, setup, teardown),
		cmocka_unit_test(test_instances),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
