// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Holds the manual pages against what they list: kinds of events and alerts, methods.
#include <ctype.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/event-kind.h"
#include "fabric/detect-kind.h"
#include "util/cleanup.h"

static char *slurp(const char *name)
{
	char *text = calloc(1, 1 << 18);
	const char *srcdir = getenv("IBSM_SRCDIR");
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", srcdir ? srcdir : ".", name);
	file = fopen(path, "r");
	if (!file)
		fail_msg("%s: %s", path, strerror(errno));
	assert_non_null(text);
	assert_true(fread(text, 1, (1 << 18) - 1, file) > 0);
	fclose(file);
	return text;
}

/* What stands between two marks of a manual page. */
static char *section(const char *name, const char *mark)
{
	_cleanup_free_ char *text = slurp(name);
	char begin[64], end[64], *from, *to;

	snprintf(begin, sizeof(begin), ".\\\" %s begin", mark);
	snprintf(end, sizeof(end), ".\\\" %s end", mark);
	from = strstr(text, begin);
	to = strstr(text, end);
	if (!from || !to)
		fail_msg("the manual page has no section %s", mark);
	*to = '\0';
	return strdup(strchr(from, '\n') + 1);
}

/* Lines of the page are broken anywhere. */
static void assert_entry(const char *page, const char *name, const char *text)
{
	char entry[512], *p = entry;
	const char *at;

	snprintf(entry, sizeof(entry), ".It Cm %s\n", name);
	at = strstr(page, entry);
	if (!at)
		fail_msg("the manual page lacks %s", name);
	at += strlen(entry);
	while (*at && *at != '.' && p < entry + sizeof(entry) - 1)
		*p++ = *at++ == '\n' ? ' ' : at[-1];
	*p = '\0';
	entry[0] = (char)tolower((unsigned char)entry[0]);
	assert_string_equal(entry, text);
}

static unsigned count_entries(const char *page, const char *macro)
{
	unsigned n = 0;

	while ((page = strstr(page, macro))) {
		page++;
		n++;
	}
	return n;
}

static void test_kinds(void **state)
{
	_cleanup_free_ char *events = section("man/ibsmd.8", "events"),
			    *changes = section("man/ibsmd.8", "changes");

	(void)state;
	for (unsigned kind = 0; kind < EVENT_KINDS; kind++) {
		const char *name = event_kind_name(kind);

		assert_non_null(name);
		assert_true(event_kind_exists(name));
		for (unsigned other = 0; other < kind; other++)
			assert_string_not_equal(name, event_kind_name(other));
		assert_entry(kind < EVENT_FABRIC_CHANGE ? events : changes, name,
			     event_kind_text(kind));
	}
	assert_null(event_kind_name(EVENT_KINDS));
	assert_null(event_kind_text(EVENT_KINDS));
	assert_false(event_kind_exists("no-such-kind"));
	assert_int_equal(count_entries(events, ".It Cm "), EVENT_FABRIC_CHANGE);
	assert_int_equal(count_entries(changes, ".It Cm "), FABRIC_CHANGE_KINDS);
}

static void test_findings(void **state)
{
	_cleanup_free_ char *page = section("man/ibsmd.8", "alerts");

	(void)state;
	for (unsigned kind = 0; kind < FINDING_KINDS; kind++) {
		const struct detect_kind_info *info = detect_kind_info(kind);
		char text[512];

		snprintf(text, sizeof(text), "raised: %s", info->raised);
		assert_entry(page, info->name, text);
		assert_non_null(info->cleared);
	}
	assert_null(detect_kind_info(DETECT_KINDS));
	assert_int_equal(count_entries(page, ".It Cm "), FINDING_KINDS);
}

/* Each method of the interface, in its order. */
static void test_methods(void **state)
{
	_cleanup_free_ char *interface = slurp("daemon/io.ibsm.Monitor.varlink");
	_cleanup_free_ char *page = section("man/io.ibsm.Monitor.7", "methods");
	const char *at = interface, *entry = page;
	unsigned n = 0;

	(void)state;
	while ((at = strstr(at, "\nmethod "))) {
		char name[64], text[96];

		assert_int_equal(sscanf(at, "\nmethod %63[A-Za-z](", name), 1);
		at++;
		snprintf(text, sizeof(text), ".It Fn %s\n", name);
		entry = strstr(entry, text);
		if (!entry)
			fail_msg("the manual page lacks %s, or has it elsewhere", name);
		n++;
	}
	assert_true(n > 10);
	assert_int_equal(count_entries(page, ".It Fn "), n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_findings),
		cmocka_unit_test(test_methods),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
