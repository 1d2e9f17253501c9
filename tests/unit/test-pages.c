// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Holds the manual pages against what they list: kinds of events and alerts, methods.
#include <ctype.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/conf.h"
#include "daemon/event-kind.h"
#include "fabric/detect-kind.h"
#include "fabric/sm-config.h"
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

/* Runs of blanks and newlines become one blank; "\\&" shields a line's first character. */
static void squeeze(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++) {
		if (from[0] == '\\' && from[1] == '&')
			from++;
		else if (!strchr(" \n", *from))
			*to++ = *from;
		else if (to > text && to[-1] != ' ')
			*to++ = ' ';
	}
	*to = '\0';
}

/* Whether a page has an entry, line breaks apart; entries are told apart by their head. */
static void assert_block(const char *page, const char *name, char *block)
{
	_cleanup_free_ char *text = strdup(page);

	squeeze(text);
	squeeze(block);
	if (!strstr(text, block))
		fail_msg("the manual page lacks %s, or says something else of it than this: %s",
			 name, block);
}

/* "a b" as "a, b", or with @end "a=, b=". */
static void add_words(FILE *file, const char *head, const char *words, const char *end)
{
	if (!*words)
		return;
	fprintf(file, ".It %s\n", head);
	for (; *words; words++)
		if (*words == ' ')
			fprintf(file, "%s, ", end);
		else
			fputc(*words, file);
	fprintf(file, "%s\n", end);
}

static void test_alerts(void **state)
{
	_cleanup_free_ char *page = section("man/ibsmd.8", "alerts");

	(void)state;
	for (unsigned kind = 0; kind < DETECT_KINDS; kind++) {
		const struct detect_kind_info *info = detect_kind_info(kind);
		_cleanup_free_ char *block = NULL;
		size_t size;
		FILE *file = open_memstream(&block, &size);

		fprintf(file,
			".It Cm %s Pq %s\n.Bl -tag -width Evidence -compact\n.It Raised\n%s\n"
			".It Cleared\n%s\n.It To do\n%s\n",
			info->name, finding_severity_name(info->severity), info->raised,
			info->cleared, info->advice);
		add_words(file, "Evidence", info->evidence, "");
		add_words(file, "Keys", info->keys, "=");
		fputs(".El\n", file);
		fclose(file);
		assert_block(page, info->name, block);
	}
	assert_null(detect_kind_info(DETECT_KINDS));
	assert_int_equal(count_entries(page, ".It Cm "), DETECT_KINDS);
}

/* Whether a word is in a list with blanks between. */
static bool has_word(const char *words, const char *word)
{
	size_t length = strlen(word);

	for (; words && *words; words = strchr(words, ' ') ? strchr(words, ' ') + 1 : NULL)
		if (strncmp(words, word, length) == 0 && strchr(" ", words[length]))
			return true;
	return false;
}

/* Each key of the table is one of ibsmd.conf, and each threshold of ibsmd.conf is a kind's. */
static void test_keys(void **state)
{
	const struct conf_key *key;

	(void)state;
	for (unsigned kind = 0; kind < DETECT_KINDS; kind++) {
		_cleanup_free_ char *keys = strdup(detect_kind_info(kind)->keys);
		char *at = keys, *word;

		while ((word = strsep(&at, " "))) {
			unsigned i = 0;

			while ((key = conf_key(i)) && strcmp(key->name, word) != 0)
				i++;
			if (*word && !key)
				fail_msg("ibsmd.conf has no %s", word);
		}
	}
	for (unsigned i = 0; (key = conf_key(i)); i++) {
		unsigned kind = 0;

		if (strcmp(key->section, "Daemon") == 0 || strcmp(key->section, "Probe") == 0)
			continue;
		while (kind < DETECT_KINDS && !has_word(detect_kind_info(kind)->keys, key->name))
			kind++;
		if (kind == DETECT_KINDS)
			fail_msg("%s is no kind's", key->name);
	}
}

static void test_checks(void **state)
{
	_cleanup_free_ char *page = section("man/ibsmd.8", "checks");
	const struct sm_config_check *check;
	unsigned n;

	(void)state;
	for (n = 0; (check = sm_config_check(n)); n++) {
		_cleanup_free_ char *block = NULL;

		assert_true(
			asprintf(&block, ".It Cm %s Pq %s, %s\n%s\n(%s)\n", check->name,
				 check->option,
				 check->fact ? "a fact" : finding_severity_name(check->severity),
				 check->reason, check->source) > 0);
		assert_block(page, check->name, block);
	}
	assert_int_equal(count_entries(page, ".It Cm "), n);
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
		cmocka_unit_test(test_kinds),	cmocka_unit_test(test_alerts),
		cmocka_unit_test(test_keys),	cmocka_unit_test(test_checks),
		cmocka_unit_test(test_methods),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
