// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The LIDs of an LFT that was not acknowledged, as ranges: complete, in order, cut where they must
// be.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "detect-build.h"
#include "fabric/lft-ranges.h"

#define LIDS 512

static uint8_t is[LIDS], want[LIDS];
static char text[LFT_RANGES_BYTES];

static uint32_t ranges_in(size_t size)
{
	struct build *build = build_new();
	struct fabric *fabric;
	uint32_t count;

	build_switch(build, 1, 4, "s");
	build_lft(build, 1, is, memcmp(is, want, LIDS) != 0 ? want : NULL, LIDS);
	fabric = build_fabric(build);
	memset(text, 'x', sizeof(text));
	count = lft_ranges(fabric, fabric_switch(fabric, 0), text, size);
	assert_int_equal(count, fabric_lft_mismatch(fabric, fabric_switch(fabric, 0)));
	assert_true(strlen(text) < size);
	fabric_unref(fabric);
	build_free(build);
	return count;
}

static void start(void)
{
	memset(is, 1, sizeof(is));
	memset(want, 1, sizeof(want));
}

static void test_ranges(void **state)
{
	(void)state;
	start();
	assert_int_equal(ranges_in(sizeof(text)), 0);
	assert_string_equal(text, "");
	want[5] = 2;
	assert_int_equal(ranges_in(sizeof(text)), 1);
	assert_string_equal(text, "5");
	want[6] = want[7] = want[64] = 3;
	want[0] = 9;
	want[LIDS - 2] = want[LIDS - 1] = 9;
	assert_int_equal(ranges_in(sizeof(text)), 7);
	assert_string_equal(text, "0,5-7,64,510-511");
	/* A zeroed block of 64, as a failed set leaves it. */
	start();
	memset(is + 64, 0, 64);
	assert_int_equal(ranges_in(sizeof(text)), 64);
	assert_string_equal(text, "64-127");
}

static void test_cut(void **state)
{
	(void)state;
	start();
	for (int i = 1; i < LIDS; i += 2)
		want[i] = 2;
	/* In any size: whole ranges, and a mark. */
	for (size_t size = 16; size <= sizeof(text); size++) {
		char expected[LFT_RANGES_BYTES * 2] = "";
		int lid = 1;

		assert_int_equal(ranges_in(size), LIDS / 2);
		for (;; lid += 2) {
			char next[8];

			snprintf(next, sizeof(next), lid > 1 ? ",%d" : "%d", lid);
			if (strlen(expected) + strlen(next) + strlen(",...") + 1 > size)
				break;
			strcat(expected, next);
		}
		strcat(expected, ",...");
		assert_string_equal(text, expected);
	}
}

static void test_nothing_to_compare(void **state)
{
	struct build *build = build_new();
	struct fabric *fabric;

	(void)state;
	build_switch(build, 1, 4, "s");
	fabric = build_fabric(build);
	assert_int_equal(lft_ranges(fabric, fabric_switch(fabric, 0), text, sizeof(text)), 0);
	assert_string_equal(text, "");
	fabric_unref(fabric);
	build_free(build);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_nothing_to_compare),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
