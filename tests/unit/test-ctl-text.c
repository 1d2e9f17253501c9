// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Text for a terminal: what is escaped, how wide it is, how it is cut; durations, times, rates.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "ctl/text.h"
#include "util/cleanup.h"

static void assert_printable(const char *text, bool utf8, const char *expected)
{
	_cleanup_free_ char *printable = text_printable(text, utf8);

	assert_string_equal(printable, expected);
}

static void test_printable(void **state)
{
	(void)state;
	assert_printable("", true, "");
	assert_printable("plain ~ text", true, "plain ~ text");
	assert_printable("größe 東京 ● \U0001f600", true, "größe 東京 ● \U0001f600");
	assert_printable("e\u0301", true, "e\u0301");
	assert_printable("größe", false, "gr\\xc3\\xb6\\xc3\\x9fe");

	/* Control characters: C0, DEL, C1. */
	assert_printable("\033[2J\007\r\n\t\177", true, "\\x1b[2J\\x07\\x0d\\x0a\\x09\\x7f");
	assert_printable("\xc2\x9b"
			 "31m",
			 true, "\\xc2\\x9b31m");
	/* Text direction, joiners, tags. */
	assert_printable("a\u202eb\u2066c\u200d\ufeff", true,
			 "a\\xe2\\x80\\xaeb\\xe2\\x81\\xa6c\\xe2\\x80\\x8d\\xef\\xbb\\xbf");
	assert_printable("\u2028", true, "\\xe2\\x80\\xa8");
	assert_printable("\U000e0041", true, "\\xf3\\xa0\\x81\\x81");

	/* No UTF-8: lone and missing continuations, overlong, surrogate, beyond the end. */
	assert_printable("\x80z", true, "\\x80z");
	assert_printable("\xc3", true, "\\xc3");
	assert_printable("\xc3(", true, "\\xc3(");
	assert_printable("\xe6\x9d", true, "\\xe6\\x9d");
	assert_printable("\xf0\x9f\x98", true, "\\xf0\\x9f\\x98");
	assert_printable("\xc0\x8a", true, "\\xc0\\x8a");
	assert_printable("\xe0\x80\x8a", true, "\\xe0\\x80\\x8a");
	assert_printable("\xf0\x80\x80\x8a", true, "\\xf0\\x80\\x80\\x8a");
	assert_printable("\xed\xa0\x80", true, "\\xed\\xa0\\x80");
	assert_printable("\xf4\x90\x80\x80", true, "\\xf4\\x90\\x80\\x80");
	assert_printable("\xf8\x88\x80\x80\x80\xff\xfe", true,
			 "\\xf8\\x88\\x80\\x80\\x80\\xff\\xfe");
}

/* Every string of two bytes and a terminator comes out printable. */
static void test_printable_bytes(void **state)
{
	(void)state;
	for (unsigned i = 1; i < 0x10000; i++) {
		const char text[] = {(char)(i >> 8), (char)i, '\0'};
		_cleanup_free_ char *printable = text_printable(text, true);
		_cleanup_free_ char *again = text_printable(printable, true);

		assert_string_equal(printable, again);
		for (const char *p = printable; *p; p++)
			assert_true((unsigned char)*p >= 0x20 && *p != 0x7f);
	}
}

static void test_is_utf8(void **state)
{
	(void)state;
	assert_true(text_is_utf8(""));
	assert_true(text_is_utf8("größe \U0001f600"));
	assert_false(text_is_utf8("a\xff"));
	assert_false(text_is_utf8("\xc3"));
	assert_false(text_is_utf8("\xed\xa0\x80"));
}

static void test_width(void **state)
{
	(void)state;
	assert_int_equal(text_width(""), 0);
	assert_int_equal(text_width("abc"), 3);
	assert_int_equal(text_width("größe"), 5);
	assert_int_equal(text_width("東京"), 4);
	assert_int_equal(text_width("e\u0301"), 1);
}

static void assert_cut(const char *text, size_t width, bool utf8, const char *expected)
{
	_cleanup_free_ char *cut = text_cut(text, width, utf8);

	assert_string_equal(cut, expected);
	assert_true(text_width(cut) <= width);
}

static void test_cut(void **state)
{
	(void)state;
	assert_cut("abcdef", 7, true, "abcdef");
	assert_cut("abcdef", 6, true, "abcdef");
	assert_cut("abcdef", 5, true, "abcd…");
	assert_cut("abcdef", 1, true, "…");
	assert_cut("abcdef", 0, true, "");
	assert_cut("", 0, true, "");
	assert_cut("abcdef", 5, false, "ab...");
	assert_cut("abcdef", 2, false, "..");
	/* No half of a wide character, no combining mark without what it stands on. */
	assert_cut("東京都", 6, true, "東京都");
	assert_cut("東京都", 5, true, "東京…");
	assert_cut("東京都", 4, true, "東…");
	assert_cut("ae\u0301bc", 3, true, "ae\u0301…");
}

static void test_duration(void **state)
{
	static const struct {
		uint64_t usec;
		const char *text;
	} cases[] = {
		{0, "0us"},
		{999, "999us"},
		{1000, "1ms"},
		{1999, "1.99ms"},
		{34567, "34.5ms"},
		{342999, "342ms"},
		{999999, "999ms"},
		{1000000, "1s"},
		{1234567, "1.23s"},
		{59999999, "59.9s"},
		{60000000, "1min 0s"},
		{3599999999, "59min 59s"},
		{3600000000, "1h 0min"},
		{86399999999, "23h 59min"},
		{86400000000, "1d 0h"},
		{UINT64_MAX, "213503982d 8h"},
	};
	char buffer[TEXT_BYTES];

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(cases); i++)
		assert_string_equal(text_duration(buffer, cases[i].usec), cases[i].text);
}

static void test_time(void **state)
{
	char buffer[TEXT_BYTES];

	(void)state;
	assert_string_equal(text_time(buffer, 1767351296123456, false), "2026-01-02 05:24:56.123");
	assert_string_equal(text_time(buffer, 1767351296123456, true),
			    "2026-01-02T05:24:56.123456-05:30");
	assert_string_equal(text_time_of_day(buffer, 1767351296123456), "05:24:56.123");
	assert_string_equal(text_time_utc(buffer, 1767351296123456), "2026-01-02T10:54:56Z");
	assert_string_equal(text_time_utc(buffer, 0), "1970-01-01T00:00:00Z");
	assert_string_equal(text_time_utc(buffer, UINT64_MAX), "9999-12-31T23:59:59Z");
	/* Whatever the wire says. */
	assert_string_equal(text_time(buffer, UINT64_MAX, true), "18446744073709551615us");
	assert_string_equal(text_time_of_day(buffer, UINT64_MAX), "18446744073709551615us");
	assert_string_equal(text_time(buffer, INT64_MAX, false), "9223372036854775807us");
}

static void test_rate(void **state)
{
	char buffer[TEXT_BYTES];

	(void)state;
	assert_string_equal(text_rate(buffer, 0), "0Mb/s");
	assert_string_equal(text_rate(buffer, 500), "500Mb/s");
	assert_string_equal(text_rate(buffer, 2500), "2.50Gb/s");
	assert_string_equal(text_rate(buffer, 54545), "54.5Gb/s");
	assert_string_equal(text_rate(buffer, 100000), "100Gb/s");
	assert_string_equal(text_rate(buffer, 1600000), "1600Gb/s");
}

static void test_nearest(void **state)
{
	static const char *const words[] = {"status", "nodes", "node", "route", "json", NULL};

	(void)state;
	assert_string_equal(text_nearest("stauts", words), "status");
	assert_string_equal(text_nearest("NODES", words) ? "found" : "none", "none");
	assert_string_equal(text_nearest("nodess", words), "nodes");
	assert_string_equal(text_nearest("noed", words), "nodes");
	assert_string_equal(text_nearest("rou", words), "route");
	assert_string_equal(text_nearest("jsn", words), "json");
	assert_null(text_nearest("frobnicate", words));
	assert_null(text_nearest("", words));
	assert_null(text_nearest("x", words));
	assert_null(text_nearest("statusstatusstatusstatusstatusstatus", words));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_printable), cmocka_unit_test(test_printable_bytes),
		cmocka_unit_test(test_is_utf8),	  cmocka_unit_test(test_width),
		cmocka_unit_test(test_cut),	  cmocka_unit_test(test_duration),
		cmocka_unit_test(test_time),	  cmocka_unit_test(test_rate),
		cmocka_unit_test(test_nearest),
	};

	setenv("LC_ALL", "C.UTF-8", 1);
	setenv("TZ", "EST5:30", 1);
	tzset();
	if (!text_set_locale())
		return EXIT_FAILURE;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
