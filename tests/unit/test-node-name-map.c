// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Node-name-map files: the format of infiniband-diags, and lines that are not it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fabric/node-name-map.h"
#include "ibsm/limits.h"

/* "3: no closing quote; 5: …" of the bad lines of the last parse. */
static char bad[1024];

static void note_bad(size_t line, const char *why, void *userdata)
{
	size_t used = strlen(bad);

	assert_ptr_equal(userdata, bad);
	snprintf(bad + used, sizeof(bad) - used, "%zu: %s; ", line, why);
}

static struct node_name_map *parse(const char *text, size_t size)
{
	/* No byte past the end is readable under ASan. */
	_cleanup_free_ char *copy = malloc(size ? size : 1);
	struct node_name_map *map = NULL;

	assert_non_null(copy);
	memcpy(copy, text, size);
	bad[0] = '\0';
	assert_int_equal(node_name_map_parse(copy, size, note_bad, bad, &map), 0);
	assert_non_null(map);
	return map;
}

static void the_documented_format(void **state)
{
	static const char text[] = "# comment\n"
				   "0x0008f10400411f56 \"lpfc01 HCA-1\"  # behind it\n"
				   "\n"
				   "0x8f10500411f57\t\"SW1  (Rev 1)\"\n"
				   "   # another\n"
				   "0X0008F10400411F58 \"upper\"";
	_cleanup_(node_name_map_freep) struct node_name_map *map = parse(text, strlen(text));

	(void)state;
	assert_string_equal(bad, "");
	assert_int_equal(node_name_map_size(map), 3);
	assert_string_equal(node_name_map_get(map, 0x0008f10400411f56), "lpfc01 HCA-1");
	assert_string_equal(node_name_map_get(map, 0x0008f10500411f57), "SW1  (Rev 1)");
	assert_string_equal(node_name_map_get(map, 0x0008f10400411f58), "upper");
	assert_null(node_name_map_get(map, 1));
	assert_null(node_name_map_get(map, 0));
	assert_null(node_name_map_get(NULL, 0x0008f10400411f56));
	assert_int_equal(node_name_map_size(NULL), 0);
}

static void bases_quotes_and_line_ends(void **state)
{
	static const char text[] = "\xef\xbb\xbf 16 \"decimal\"\r\n"
				   "\t020\"no blank, octal\"\r\n"
				   "0xa \"leaf #3\"\r\n"
				   "0xb unquoted name   \r\n"
				   "0xc unquoted # comment\n"
				   "0xd it's#4\n"
				   "0xe \"M\xc3\xbcnchen\x01\"\n"
				   "0xffffffffffffffff \"last\"\n";
	_cleanup_(node_name_map_freep) struct node_name_map *map = parse(text, strlen(text));

	(void)state;
	assert_string_equal(bad, "2: GUID has a name already; ");
	assert_string_equal(node_name_map_get(map, 16), "decimal");
	assert_string_equal(node_name_map_get(map, 0xa), "leaf #3");
	assert_string_equal(node_name_map_get(map, 0xb), "unquoted name");
	assert_string_equal(node_name_map_get(map, 0xc), "unquoted");
	assert_string_equal(node_name_map_get(map, 0xd), "it's#4");
	assert_string_equal(node_name_map_get(map, 0xe), "M\xc3\xbcnchen\\x01");
	assert_string_equal(node_name_map_get(map, UINT64_MAX), "last");
}

static void bad_lines_are_told_and_the_rest_kept(void **state)
{
	static const char text[] = "leaf01 \"name first\"\n"	       /* 1 */
				   "0x1 \"one\"\n"		       /* 2 */
				   "0x2 \"open\n"		       /* 3 */
				   "0x3 \"\"\n"			       /* 4 */
				   "0x4\n"			       /* 5 */
				   "0x10000000000000000 \"too big\"\n" /* 6 */
				   "0xg \"not hex\"\n"		       /* 7 */
				   "99999999999999999999 \"big\"\n"    /* 8 */
				   "0x5, \"comma\"\n"		       /* 9 */
				   "0x1 \"again\"\n"		       /* 10 */
				   "0x6 # only a comment\n"	       /* 11 */
				   "0x7 \"   \"\n"		       /* 12 */
				   "0x8 \"eight\"";		       /* 13 */
	_cleanup_(node_name_map_freep) struct node_name_map *map = parse(text, strlen(text));

	(void)state;
	assert_string_equal(bad,
			    "1: no GUID at its start; 3: no closing quote; 4: no name; "
			    "5: no name; 6: no GUID at its start; 7: no blank after the GUID; "
			    "8: no GUID at its start; 9: no blank after the GUID; 11: no name; "
			    "12: no name; 10: GUID has a name already; ");
	assert_int_equal(node_name_map_size(map), 2);
	assert_string_equal(node_name_map_get(map, 1), "one");
	assert_string_equal(node_name_map_get(map, 8), "eight");
}

static void empty_and_binary(void **state)
{
	static const char nuls[] = "0x1 \"a\0b\"\n\0\0\n0x2 \"two\"\n";
	_cleanup_(node_name_map_freep) struct node_name_map *none = parse("", 0);
	_cleanup_(node_name_map_freep) struct node_name_map *map = parse(nuls, sizeof(nuls) - 1);

	(void)state;
	assert_int_equal(node_name_map_size(none), 0);
	assert_string_equal(node_name_map_get(map, 1), "a");
	assert_string_equal(node_name_map_get(map, 2), "two");
}

static void many_and_too_many(void **state)
{
	size_t lines = IBSM_NODE_NAME_MAP_ENTRIES_MAX + 3;
	_cleanup_free_ char *text = malloc(lines * 64);
	_cleanup_(node_name_map_freep) struct node_name_map *map = NULL;
	char name[32];
	size_t used = 0;

	(void)state;
	assert_non_null(text);
	/* Descending, so that sorting has something to do. */
	for (size_t i = lines; i-- > 0;)
		used += (size_t)sprintf(text + used, "0x%zx \"n%zu\"\n", i + 1, i + 1);
	map = parse(text, used);
	assert_int_equal(node_name_map_size(map), IBSM_NODE_NAME_MAP_ENTRIES_MAX);
	assert_non_null(strstr(bad, "262145: too many entries; 262146"));
	for (size_t i = 4; i <= lines; i += 997) {
		snprintf(name, sizeof(name), "n%zu", i);
		assert_string_equal(node_name_map_get(map, i), name);
	}
	assert_null(node_name_map_get(map, 3));
}

static void long_names_are_cut(void **state)
{
	char text[700] = "0x1 \"";
	_cleanup_(node_name_map_freep) struct node_name_map *map = NULL;

	(void)state;
	memset(text + 5, 'x', 600);
	strcpy(text + 605, "\"\n");
	map = parse(text, strlen(text));
	assert_int_equal(strlen(node_name_map_get(map, 1)), 255);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_documented_format),
		cmocka_unit_test(bases_quotes_and_line_ends),
		cmocka_unit_test(bad_lines_are_told_and_the_rest_kept),
		cmocka_unit_test(empty_and_binary),
		cmocka_unit_test(many_and_too_many),
		cmocka_unit_test(long_names_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
