// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Silences and acknowledgements: whom they fit, how long they last, what outlives a restart.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/silence.h"
#include "util/cleanup.h"

#define SEC UINT64_C(1000000)
#define START (1767351296 * SEC)

static int setup(void **state)
{
	*state = calloc(1, sizeof(struct silences));
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

static struct alert alert_of(unsigned kind, uint64_t guid, uint16_t port, const char *name)
{
	return (struct alert){
		.id = 7, .kind = kind, .subject = {.guid = guid, .port = port, .name = name}};
}

static struct silence silence_of(const char *kind, const char *subject, uint64_t usec)
{
	struct silence silence = {
		.reason = "why",
		.uid = 17,
		.since_realtime_usec = START,
		.until_realtime_usec = START + usec,
	};

	strcpy(silence.kind, kind);
	strcpy(silence.subject, subject);
	return silence;
}

static uint64_t add(struct silences *s, const char *kind, const char *subject, uint64_t usec)
{
	const struct silence silence = silence_of(kind, subject, usec), *added = NULL;

	assert_int_equal(silences_add(s, &silence, &added), 0);
	assert_non_null(added);
	return added->id;
}

static void test_fits(void **state)
{
	struct alert port = alert_of(DETECT_NODE_UNRESPONSIVE, 0xabcdef, 3, "leaf-1 of row 2");
	struct alert word = {.kind = DETECT_SM_LOST, .subject = alert_subject_word("subnet")};
	struct alert bare = alert_of(DETECT_SM_UNRESPONSIVE, 0x10, 0, NULL);
	static const struct {
		const char *kind, *subject;
		bool port, word, bare;
	} cases[] = {
		{"", "", true, true, true},
		{NULL, NULL, true, true, true},
		{"sm-lost", "", false, true, false},
		{"sm-lost", "sub*", false, true, false},
		{"sm-lost", "leaf-1", false, false, false},
		{"sm-los", "", false, false, false},
		{"", "leaf-1 of row 2 port 3", true, false, false},
		{"", "leaf-1 of row 2 port 4", false, false, false},
		{"", "leaf-1 of row 2", true, false, false},
		{"", "leaf-1", true, false, false},
		{"", "leaf-?", true, false, false},
		{"", "leaf", false, false, false},
		{"", "* port 3", true, false, false},
		{"", "0x0000000000abcdef", true, false, false},
		{"", "0x0000000000abcde", false, false, false},
		{"", "0x*", true, false, true},
		{"", "0x0000000000000010", false, false, true},
		{"", "subnet", false, true, false},
		{"", "*", true, true, true},
	};

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		assert_int_equal(silence_fits(cases[i].kind, cases[i].subject, &port),
				 cases[i].port);
		assert_int_equal(silence_fits(cases[i].kind, cases[i].subject, &word),
				 cases[i].word);
		assert_int_equal(silence_fits(cases[i].kind, cases[i].subject, &bare),
				 cases[i].bare);
	}
}

static void test_time(void **state)
{
	struct silences *s = *state;
	struct alert alert = alert_of(DETECT_SM_PLACEMENT, 1, 0, "a");
	struct silence over;
	uint64_t brief = add(s, "sm-placement", "", 10 * SEC);
	uint64_t lasting = add(s, "", "a", 20 * SEC);

	assert_int_equal(brief, 1);
	assert_int_equal(lasting, 2);
	/* The one that ends last counts, to the microsecond at which it ends. */
	assert_int_equal(silences_match(s, &alert, START)->id, lasting);
	assert_int_equal(silences_match(s, &alert, START + 20 * SEC - 1)->id, lasting);
	assert_null(silences_match(s, &alert, START + 20 * SEC));
	assert_false(silences_expire(s, START + 10 * SEC - 1, &over));
	assert_true(silences_expire(s, START + 10 * SEC, &over));
	assert_int_equal(over.id, brief);
	assert_false(silences_expire(s, START + 10 * SEC, &over));
	assert_null(silences_get(s, brief));
	assert_true(silences_remove(s, lasting));
	assert_false(silences_remove(s, lasting));
	assert_null(silences_match(s, &alert, START));
	/* No number is given twice. */
	assert_int_equal(add(s, "", "a", SEC), 3);
}

static void test_limits(void **state)
{
	const struct silence bad[] = {
		silence_of("", "", SEC),
		silence_of("", "a", SILENCE_USEC_MIN - 1),
		silence_of("", "a", SILENCE_USEC_MAX + 1),
		silence_of("", "a", -(uint64_t)SEC),
	};
	struct silence one = silence_of("", "a", SILENCE_USEC_MAX), nameless = one;
	struct silences *s = *state;
	const struct silence *added;
	struct acknowledgement ack = {.reason = "why"};

	for (size_t i = 0; i < ELEMENTSOF(bad); i++)
		assert_int_equal(silences_add(s, &bad[i], &added), -EINVAL);
	nameless.reason[0] = '\0';
	assert_int_equal(silences_add(s, &nameless, &added), -EINVAL);
	for (size_t i = 0; i < SILENCES_MAX; i++)
		assert_int_equal(silences_add(s, &one, &added), 0);
	assert_int_equal(silences_add(s, &one, &added), -ENOSPC);
	assert_true(silences_remove(s, 5));
	assert_int_equal(silences_add(s, &one, &added), 0);
	assert_int_equal(added->id, SILENCES_MAX + 1);

	for (ack.alert = 1; ack.alert <= ACKNOWLEDGEMENTS_MAX; ack.alert++)
		assert_int_equal(silences_acknowledge(s, &ack), 0);
	assert_int_equal(silences_acknowledge(s, &ack), -ENOSPC);
	ack.alert = 3; /* again */
	assert_int_equal(silences_acknowledge(s, &ack), 0);
}

static void test_acknowledge(void **state)
{
	struct acknowledgement ack = {.alert = 9, .uid = 5, .realtime_usec = 77};
	struct silences *s = *state;

	assert_int_equal(silences_acknowledge(s, &ack), -EINVAL);
	strcpy(ack.reason, "first");
	assert_int_equal(silences_acknowledge(s, &ack), 0);
	ack.alert = 10;
	assert_int_equal(silences_acknowledge(s, &ack), 0);
	ack.alert = 9;
	strcpy(ack.reason, "second");
	assert_int_equal(silences_acknowledge(s, &ack), 0);
	assert_int_equal(s->acknowledged, 2);
	assert_string_equal(silences_acknowledgement(s, 9)->reason, "second");
	assert_string_equal(silences_acknowledgement(s, 10)->reason, "first");
	assert_null(silences_acknowledgement(s, 11));
	silences_cleared(s, 11);
	silences_cleared(s, 9);
	assert_null(silences_acknowledgement(s, 9));
	assert_non_null(silences_acknowledgement(s, 10));
}

/* An alert set with one open alert. */
static struct alert_set *open_set(uint64_t *ret_id)
{
	const struct alert_report report = {
		.kind = DETECT_SM_LOST,
		.subject = alert_subject_word("subnet"),
		.severity = FINDING_CRITICAL,
		.message = "so it is",
	};
	const struct detect_time now = {START, START};
	struct alert_set *set;

	assert_int_equal(alert_set_new(NULL, NULL, &set), 0);
	assert_int_equal(alert_set_report(set, &report, &now), 0);
	*ret_id = alert_set_get(set, 0)->id;
	return set;
}

static void test_restart(void **state)
{
	_cleanup_free_ struct silences *loaded = calloc(1, sizeof(*loaded));
	_cleanup_(alert_set_freep) struct alert_set *set = NULL;
	struct acknowledgement ack = {.uid = 5, .realtime_usec = 77, .reason = "größe"};
	struct silences *s = *state;
	json_auto_t *saved = NULL, *again = NULL;

	set = open_set(&ack.alert);
	assert_int_equal(silences_acknowledge(s, &ack), 0);
	add(s, "sm-lost", "", 10 * SEC);
	add(s, "", "leaf*", 20 * SEC);
	assert_true(silences_remove(s, 1));
	saved = silences_save(s);
	assert_non_null(saved);
	assert_int_equal(silences_load(loaded, saved, set), 0);
	assert_int_equal(loaded->count, 1);
	assert_int_equal(loaded->last_id, 2);
	assert_string_equal(silences_acknowledgement(loaded, ack.alert)->reason, "größe");
	again = silences_save(loaded);
	assert_true(json_equal(saved, again));
	assert_int_equal(add(loaded, "", "a", SEC), 3);

	/* That alert has cleared meanwhile: nothing is wrong, but it is over. */
	memset(loaded, 0, sizeof(*loaded));
	assert_true(alert_set_clear(set, DETECT_SM_LOST, &(struct alert_subject){.key = "subnet"},
				    &(struct detect_time){START, START}));
	assert_int_equal(silences_load(loaded, saved, set), 0);
	assert_int_equal(loaded->acknowledged, 0);
	assert_int_equal(loaded->count, 1);
}

/* What no file of ours has is left out, each by itself. */
static void test_broken(void **state)
{
	static const struct {
		const char *text;
		size_t left_out, count;
	} cases[] = {
		{"{}", 1, 0},
		{"{\"last_id\": 7}", 1, 0},
		{"{\"last_id\": \"7\"}", 0, 0},
		{"{\"last_id\": \"7\", \"silences\": [1, {}, []]}", 3, 0},
#define ONE(id, kind, until, reason)                                                               \
	"{\"id\": \"" id "\", \"kind\": \"" kind "\", \"subject\": \"\", \"uid\": 1, "             \
	"\"reason\": \"" reason "\", \"since_realtime_usec\": \"1000000\", "                       \
	"\"until_realtime_usec\": \"" until "\"}"
#define FILE_OF(list) "{\"last_id\": \"7\", \"silences\": [" list "]}"
		{FILE_OF(ONE("7", "x", "9000000", "r")), 0, 1},
		{FILE_OF(ONE("8", "x", "9000000", "r")), 1, 0},
		{FILE_OF(ONE("0", "x", "9000000", "r")), 1, 0},
		{FILE_OF(ONE("3", "", "9000000", "r")), 1, 0},
		{FILE_OF(ONE("3", "x", "9000000", "")), 1, 0},
		{FILE_OF(ONE("3", "x", "1000000", "r")), 1, 0},
		{FILE_OF(ONE("3", "x", "18446744073709551615", "r")), 1, 0},
		{FILE_OF(ONE("3", "x", "9000000", "r") ", " ONE("3", "y", "9000000", "r")), 1, 1},
		{FILE_OF(ONE("3", "a kind whose name is longer than any kind's may be, by far",
			     "9000000", "r")),
		 1, 0},
	};
	_cleanup_(alert_set_freep) struct alert_set *set = NULL;
	struct silences *s = *state;
	uint64_t id;

	set = open_set(&id);
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		json_auto_t *object = json_loads(cases[i].text, 0, NULL);

		memset(s, 0, sizeof(*s));
		assert_non_null(object);
		assert_int_equal(silences_load(s, object, set), cases[i].left_out);
		assert_int_equal(s->count, cases[i].count);
	}
	memset(s, 0, sizeof(*s));
	assert_int_equal(silences_load(s, NULL, set), 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_fits),	TEST(test_time),    TEST(test_limits),
		TEST(test_acknowledge), TEST(test_restart), TEST(test_broken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
