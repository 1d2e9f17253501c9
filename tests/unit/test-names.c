// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Words for codes, and foreign strings made printable.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fabric/names.h"
#include "fabric/printable.h"
#include "tests/lib/snapshot-build.h"

static void guids_and_gids(void **state)
{
	(void)state;
	assert_string_equal(GUID_STRING(0x2c90300049e39), "0x0002c90300049e39");
	assert_string_equal(GUID_STRING(UINT64_MAX), "0xffffffffffffffff");
	assert_string_equal(GUID_STRING(0), "0x0000000000000000");
	assert_string_equal(gid_format(0xff12401bffff0000, 0xffffffff, (char[GID_STRING_BYTES]){0}),
			    "ff12:401b:ffff:0000:0000:0000:ffff:ffff");
}

/* Any code has a word: devices may say anything. */
static void all_codes_have_words(void **state)
{
	(void)state;
	for (unsigned int code = 0; code < 256; code++) {
		assert_non_null(node_type_name((uint8_t)code));
		assert_non_null(port_state_name((uint8_t)code));
		assert_non_null(port_physical_state_name((uint8_t)code));
		assert_non_null(sm_state_name((uint8_t)code));
		assert_int_equal(width_name((uint8_t)code) != NULL,
				 width_lanes((uint8_t)code) != 0);
		(void)rate_code_mbps((uint8_t)code);
		(void)mtu_bytes((uint8_t)code);
		(void)vl_count((uint8_t)code);
	}
	for (unsigned int code = 0; code < 0x10000; code++) {
		assert_non_null(trap_name((uint16_t)code));
		assert_non_null(wire_type_name((uint16_t)code));
		assert_non_null(snapshot_table_name(code));
	}
	assert_string_equal(port_state_name(0), "unknown");
	assert_string_equal(port_state_name(4), "active");
	assert_string_equal(port_state_name(5), "unknown");
	assert_string_equal(port_physical_state_name(5), "link-up");
	assert_string_equal(sm_state_name(3), "master");
	assert_string_equal(node_type_name(2), "switch");
	assert_string_equal(trap_name(128), "link state changed");
	assert_string_equal(wire_type_name(IBSM_WIRE_TRAP), "trap");
	assert_string_equal(snapshot_table_name(IBSM_TABLE_ENGINES), "ENGINES");
	assert_null(speed_name(SPEED_UNKNOWN));
	assert_null(speed_name(SPEED_MAX));
	assert_null(speed_name((enum speed) - 1));
}

/* Widths and speeds as infiniband-diags prints them, rates less line coding. */
static void link_rates(void **state)
{
	static const struct {
		uint8_t width, base, extended, fdr10;
		const char *speed;
		uint32_t mbps;
	} cases[] = {
		{2, 1, 0, 0, "SDR", 8000},    {8, 1, 0, 0, "SDR", 24000},
		{2, 2, 0, 0, "DDR", 16000},   {2, 4, 0, 0, "QDR", 32000},
		{2, 4, 0, 1, "FDR10", 40000}, {2, 4, 1, 0, "FDR", 54545},
		{2, 4, 2, 0, "EDR", 100000},  {2, 4, 4, 0, "HDR", 200000},
		{16, 4, 4, 0, "HDR", 100000}, {2, 4, 8, 0, "NDR", 400000},
		{16, 4, 8, 0, "NDR", 200000}, {2, 4, 16, 0, "XDR", 800000},
		{1, 1, 0, 0, "SDR", 2000},    {4, 4, 2, 0, "EDR", 200000},
		{2, 4, 2, 1, "EDR", 100000},
	};

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		struct ibsm_snap_port port = {.width_active = cases[i].width,
					      .speed_active = cases[i].base,
					      .speed_ext_active = cases[i].extended,
					      .fdr10_active = cases[i].fdr10};

		assert_string_equal(speed_name(port_speed(&port)), cases[i].speed);
		assert_int_equal(port_rate_mbps(&port), cases[i].mbps);
	}
	assert_int_equal(port_rate_mbps(&(struct ibsm_snap_port){.width_active = 2}), 0);
	assert_int_equal(port_rate_mbps(&(struct ibsm_snap_port){.speed_active = 1}), 0);
	assert_int_equal(rate_code_mbps(3), 10000);
	assert_int_equal(rate_code_mbps(1), 0);
	assert_int_equal(mtu_bytes(1), 256);
	assert_int_equal(mtu_bytes(5), 4096);
	assert_int_equal(mtu_bytes(6), 0);
	assert_int_equal(vl_count(4), 8);
}

static void masks(void **state)
{
	struct ibsm_snap_port port = {.speed_supported = 7,
				      .speed_ext_supported = 3,
				      .fdr10_supported = 1,
				      .speed_enabled = 4,
				      .speed_ext_enabled = 0xff};
	const char *names[SPEED_MAX];
	const char *widths[WIDTHS_MAX];

	(void)state;
	assert_int_equal(speed_names(port_speeds_supported(&port), names), 6);
	assert_string_equal(names[0], "SDR");
	assert_string_equal(names[3], "FDR10");
	assert_string_equal(names[5], "EDR");
	assert_int_equal(speed_names(port_speeds_enabled(&port), names), 6);
	assert_string_equal(names[0], "QDR");
	assert_string_equal(names[5], "XDR");
	assert_int_equal(speed_names(UINT32_MAX, names), SPEED_MAX - 1);
	assert_int_equal(width_names(0xff, widths), 5);
	assert_string_equal(widths[0], "1x");
	assert_string_equal(widths[1], "2x");
	assert_string_equal(widths[4], "12x");
	assert_int_equal(width_names(0, widths), 0);
}

static void print(const char *in, size_t length, const char *expected)
{
	char out[PRINTABLE_BYTES(300)];

	assert_int_equal(printable(in, length, out, sizeof(out)), strlen(expected));
	assert_string_equal(out, expected);
}

static void makes_printable(void **state)
{
	static const char *const cases[][2] = {
		{"node1 HCA-1", "node1 HCA-1"},
		{"", ""},
		{"trailing  \t\r\n", "trailing"},
		{"  leading", "  leading"},
		{"   ", ""},
		{"a\tb", "a\\x09b"},
		{"\x1b[31mred", "\\x1b[31mred"},
		{"back\\slash \"quoted\"", "back\\slash \"quoted\""},
		{"\x7f", "\\x7f"},
		{"M\xc3\xbcnchen \xe2\x82\xac \xf0\x9f\x90\xa7",
		 "M\xc3\xbcnchen \xe2\x82\xac \xf0\x9f\x90\xa7"},
		{"\xc3", "\\xc3"},		     /* cut short */
		{"\xc0\xaf", "\\xc0\\xaf"},	     /* overlong / */
		{"\xe0\x80\xaf", "\\xe0\\x80\\xaf"}, /* overlong, three bytes */
		{"\xf0\x82\x82\xac", "\\xf0\\x82\\x82\\xac"},
		{"\xed\xa0\x80", "\\xed\\xa0\\x80"},	      /* surrogate */
		{"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"}, /* past U+10FFFF */
		{"\xf8\x88\x80\x80\x80", "\\xf8\\x88\\x80\\x80\\x80"},
		{"\xc2\x9b"
		 "31m",
		 "\\xc2\\x9b"
		 "31m"}, /* C1 CSI */
		{"a\xe2\x80\xae"
		 "b",
		 "a\\xe2\\x80\\xae"
		 "b"}, /* U+202E, right to left */
		{"a\xe2\x80\x8b"
		 "b",
		 "a\\xe2\\x80\\x8b"
		 "b"},				       /* zero width space */
		{"\xef\xbb\xbfx", "\\xef\\xbb\\xbfx"}, /* byte order mark */
		{"\xef\xbf\xbe", "\\xef\\xbf\\xbe"},   /* noncharacter */
		{"\xff\xfe", "\\xff\\xfe"},
	};

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(cases); i++)
		print(cases[i][0], strlen(cases[i][0]) + 1, cases[i][1]);
	/* A NodeDescription of 64 bytes has no NUL. */
	print("0123456789012345678901234567890123456789012345678901234567890123XXXX", 64,
	      "0123456789012345678901234567890123456789012345678901234567890123");
	/* A character must not be completed by what lies behind the field. */
	print("ab\xc3\xbc", 3, "ab\\xc3");
	print("abc\0def", 7, "abc");
}

/* The result of anything is printable, short enough, and itself again when it comes back. */
static void makes_anything_printable(void **state)
{
	uint64_t seed = 99;

	(void)state;
	for (int n = 0; n < 200000; n++) {
		char in[24], out[PRINTABLE_BYTES(sizeof(in))], again[PRINTABLE_BYTES(sizeof(out))];
		char small[16];
		size_t size = build_random_below(&seed, sizeof(in) + 1), length;

		for (size_t i = 0; i < size; i++)
			in[i] = (char)(build_random_below(&seed, 3) ? 0x80 : 0) |
				(char)build_random_below(&seed, 128);
		length = printable(in, size, out, sizeof(out));
		assert_int_equal(length, strlen(out));
		for (size_t i = 0; i < length; i++)
			assert_true((unsigned char)out[i] >= 0x20 && out[i] != 0x7f);
		assert_int_equal(printable(out, length, again, sizeof(again)), length);
		assert_memory_equal(out, again, length);
		length = printable(in, size, small, sizeof(small));
		assert_true(length < sizeof(small));
		assert_memory_equal(out, small, length);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(guids_and_gids),  cmocka_unit_test(all_codes_have_words),
		cmocka_unit_test(link_rates),	   cmocka_unit_test(masks),
		cmocka_unit_test(makes_printable), cmocka_unit_test(makes_anything_printable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
