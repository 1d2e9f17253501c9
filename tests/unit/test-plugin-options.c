// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Tests of plugin/options.c: which words of event_plugin_options count, and what bad ones do.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "ibsm/limits.h"
#include "plugin/options.h"

static unsigned int complaints;
static char complaint[OPTIONS_COMPLAINT_BYTES];

static void complain(void *userdata, const char *text)
{
	(void)userdata;
	complaints++;
	assert_null(strchr(text, '\n'));
	snprintf(complaint, sizeof(complaint), "%s", text);
}

static struct options parse(const char *text)
{
	struct options options;

	complaints = 0;
	complaint[0] = '\0';
	options_parse(text, complain, NULL, &options);
	return options;
}

static void assert_defaults(const struct options *options)
{
	assert_string_equal(options->socket_path, "/run/ibsmd/plugin.sock");
	assert_int_equal(options->ring_records, IBSM_RING_BULK_RECORDS);
	assert_true(options->snapshots);
}

static void test_nothing_of_ours(void **state)
{
	static const char *const texts[] = {
		NULL, "", "   ", "foo bar=1", "ibsm", "ibsmx.ring=5", "xibsm.ring=5", "(null)"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct options options = parse(texts[i]);

		assert_defaults(&options);
		assert_int_equal(complaints, 0);
	}
}

static void test_all(void **state)
{
	struct options options =
		parse("other=/x\t ibsm.socket=/tmp/p.sock ibsm.ring=1024 ibsm.snapshots=no last");

	(void)state;
	assert_string_equal(options.socket_path, "/tmp/p.sock");
	assert_int_equal(options.ring_records, 1024);
	assert_false(options.snapshots);
	assert_int_equal(complaints, 0);
	assert_true(parse("ibsm.snapshots=no ibsm.snapshots=yes").snapshots);
}

static void test_ring(void **state)
{
	static const struct {
		const char *text;
		uint32_t records; /* 0: refused */
	} cases[] = {
		{"ibsm.ring=64", 64},	  {"ibsm.ring=65", 128},
		{"ibsm.ring=1000", 1024}, {"ibsm.ring=1048576", 1048576},
		{"ibsm.ring=63", 0},	  {"ibsm.ring=1048577", 0},
		{"ibsm.ring=", 0},	  {"ibsm.ring=-64", 0},
		{"ibsm.ring=+64", 0},	  {"ibsm.ring=0x100", 0},
		{"ibsm.ring=64k", 0},	  {"ibsm.ring=99999999999999999999999", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct options options = parse(cases[i].text);

		if (cases[i].records) {
			assert_int_equal(options.ring_records, cases[i].records);
			assert_int_equal(complaints, 0);
		} else {
			assert_defaults(&options);
			assert_int_equal(complaints, 1);
			assert_non_null(strstr(complaint, cases[i].text));
		}
	}
}

static void test_socket(void **state)
{
	char text[400], path[200];
	struct options options;

	(void)state;
	options = parse("ibsm.socket=relative.sock");
	assert_defaults(&options);
	assert_int_equal(complaints, 1);

	memset(path, 'x', sizeof(path));
	path[0] = '/';
	path[107] = '\0'; /* the longest that fits with its NUL */
	snprintf(text, sizeof(text), "ibsm.socket=%s", path);
	options = parse(text);
	assert_string_equal(options.socket_path, path);
	assert_int_equal(complaints, 0);

	snprintf(text, sizeof(text), "ibsm.socket=%sx", path);
	options = parse(text);
	assert_defaults(&options);
	assert_int_equal(complaints, 1);

	path[107] = 'x';
	path[199] = '\0';
	snprintf(text, sizeof(text), "ibsm.socket=%s", path);
	options = parse(text);
	assert_defaults(&options);
	assert_int_equal(complaints, 1);
}

static void test_bad_words(void **state)
{
	struct options options = parse("ibsm.snapshots=maybe ibsm.rings=7 ibsm. ibsm.ring=128");

	(void)state;
	assert_int_equal(complaints, 3);
	assert_true(options.snapshots);
	assert_int_equal(options.ring_records, 128);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_of_ours),
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_ring),
		cmocka_unit_test(test_socket),
		cmocka_unit_test(test_bad_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
