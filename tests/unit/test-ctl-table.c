// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The table: alignment, cutting, what --full and --no-legend change, colours, and its JSON.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "ctl/table.h"
#include "ctl/text.h"
#include "util/cleanup.h"

static enum style style_of(const json_t *row)
{
	return json_object_get(row, "bad") ? STYLE_RED : STYLE_NONE;
}

static const struct table_column columns[] = {
	{.title = "NAME", .path = "end.name", .flags = TABLE_CUT},
	{.title = "N", .path = "n", .kind = TABLE_NUMBER},
	{.title = "KEY", .path = "key", .kind = TABLE_HEX16},
	{.title = "LIST", .path = "list", .flags = TABLE_CUT, .style = style_of},
	{.title = "GUID", .path = "guid", .flags = TABLE_FULL},
};

/* Print a table with @rows (JSON text of an array); allocated. */
static char *print(struct output *settings, const char *rows)
{
	struct output out = *settings;
	struct table *table;
	char *text = NULL;
	size_t size, i;
	json_t *array = json_loads(rows, 0, NULL), *row;

	assert_true(json_is_array(array));
	out.file = open_memstream(&text, &size);
	assert_non_null(out.file);
	assert_int_equal(table_new(&out, "things", "thing", columns, ELEMENTSOF(columns), &table),
			 0);
	json_array_foreach (array, i, row)
		assert_int_equal(table_add(table, row), 0);
	table_finish(table);
	assert_null(table_free(table));
	fclose(out.file);
	json_decref(array);
	return text;
}

static void assert_table(struct output settings, const char *rows, const char *expected)
{
	_cleanup_free_ char *text = print(&settings, rows);

	assert_string_equal(text, expected);
}

#define ROWS                                                                                         \
	"[{\"end\":{\"name\":\"größe\"},\"n\":7,\"key\":255,\"list\":[\"a\",1],\"guid\":\"0x01\"}" \
	","                                                                                          \
	"{\"end\":{\"name\":\"東京\"},\"n\":12345,\"bad\":true,\"list\":[]},"                      \
	"{\"end\":null,\"n\":null,\"key\":65535,\"list\":\"x\\u001b[2J\\n\"}]"

static void test_text(void **state)
{
	(void)state;
	assert_table((struct output){.utf8 = true, .legend = true}, ROWS,
		     "NAME       N  KEY     LIST\n"
		     "größe      7  0x00ff  a,1\n"
		     "東京   12345  -       -\n"
		     "-          -  0xffff  x\\x1b[2J\\x0a\n"
		     "\n"
		     "3 things\n");
	assert_table((struct output){.utf8 = true}, ROWS,
		     "größe      7  0x00ff  a,1\n"
		     "東京   12345  -       -\n"
		     "-          -  0xffff  x\\x1b[2J\\x0a\n");
	assert_table((struct output){.utf8 = true, .full = true}, ROWS,
		     "größe      7  0x00ff  a,1           0x01\n"
		     "東京   12345  -       -             -\n"
		     "-          -  0xffff  x\\x1b[2J\\x0a  -\n");
	assert_table((struct output){.utf8 = false}, "[{\"end\":{\"name\":\"ö\"}}]",
		     "\\xc3\\xb6  -  -  -\n");
}

static void test_no_rows(void **state)
{
	(void)state;
	assert_table((struct output){.legend = true}, "[]", "0 things\n");
	assert_table((struct output){0}, "[]", "");
	assert_table((struct output){.legend = true}, "[{\"n\":1}]",
		     "NAME  N  KEY  LIST\n-     1  -    -\n\n1 thing\n");
}

static void test_colours(void **state)
{
	(void)state;
	assert_table((struct output){.colour = true}, "[{\"n\":1,\"bad\":1,\"list\":[1]}]",
		     "-  1  -  \033[1;31m1\033[0m\n");
	/* The padding is not underlined. */
	assert_table(
		(struct output){.colour = true, .legend = true},
		"[{\"end\":{\"name\":\"abcdefg\"}}]",
		"\033[4mNAME\033[0m     \033[4mN\033[0m  \033[4mKEY\033[0m  \033[4mLIST\033[0m\n"
		"abcdefg  -  -    -\n\n1 thing\n");
}

/* The widest of those that may be cut gives, down to a limit; the others never. */
static void test_cut(void **state)
{
	static const char rows[] =
		"[{\"end\":{\"name\":\"abcdefghijklmnopqrst\"},\"n\":123456789,\"key\":1,"
		"\"list\":\"ABCDEFGHIJKLMNOPQRSTUVWXYZ\",\"guid\":\"0x0123456789abcdef\"}]";

	(void)state;
	assert_table((struct output){.utf8 = true, .columns = 67}, rows,
		     "abcdefghijklmnopqrst  123456789  0x0001  ABCDEFGHIJKLMNOPQRSTUVWXYZ\n");
	assert_table((struct output){.utf8 = true, .columns = 66}, rows,
		     "abcdefghijklmnopqrst  123456789  0x0001  ABCDEFGHIJKLMNOPQRSTUVWX…\n");
	assert_table((struct output){.utf8 = true, .columns = 61}, rows,
		     "abcdefghijklmnopqrst  123456789  0x0001  ABCDEFGHIJKLMNOPQRS…\n");
	assert_table((struct output){.utf8 = true, .columns = 50}, rows,
		     "abcdefghijklm…  123456789  0x0001  ABCDEFGHIJKLMN…\n");
	assert_table((struct output){.utf8 = true, .columns = 5, .full = true}, rows,
		     "abcdefghi…  123456789  0x0001  ABCDEFGHI…  0x0123456789abcdef\n");
	assert_table((struct output){.utf8 = false, .columns = 61}, rows,
		     "abcdefghijklmnopqrst  123456789  0x0001  ABCDEFGHIJKLMNOPQ...\n");
	/* A wide character that does not fit leaves a blank. */
	assert_table((struct output){.utf8 = true, .columns = 19},
		     "[{\"end\":{\"name\":\"東京東京東京東京\"},\"n\":1}]",
		     "東京東京…   1  -  -\n");
}

/* One shape for none, one and many; all members of the rows, whatever the columns. */
static void test_json(void **state)
{
	(void)state;
	assert_table((struct output){.json = JSON_SHORT}, "[]", "{\"things\":[]}\n");
	assert_table((struct output){.json = JSON_SHORT}, "[{\"a\":1}]",
		     "{\"things\":[{\"a\":1}]}\n");
	assert_table((struct output){.json = JSON_SHORT}, "[{\"a\":1},{\"b\":[true,null]}]",
		     "{\"things\":[{\"a\":1},{\"b\":[true,null]}]}\n");
	assert_table((struct output){.json = JSON_PRETTY}, "[]", "{\n  \"things\": []\n}\n");
	assert_table((struct output){.json = JSON_PRETTY}, "[{\"a\":1},{\"b\":[true]}]",
		     "{\n"
		     "  \"things\": [\n"
		     "    {\n"
		     "      \"a\": 1\n"
		     "    },\n"
		     "    {\n"
		     "      \"b\": [\n"
		     "        true\n"
		     "      ]\n"
		     "    }\n"
		     "  ]\n"
		     "}\n");
}

static void test_json_is_harmless(void **state)
{
	(void)state;
	assert_table(
		(struct output){.json = JSON_SHORT},
		"[\"\\u001b[2J\\n\\u007f\\u0080\\u009f\\u00a0\\u202e\\u2066\\u200b\\u2028ö●\"]",
		"{\"things\":[\"\\u001B[2J\\n\\u007f\\u0080\\u009f\u00a0\\u202e\\u2066\\u200b"
		"\\u2028ö●\"]}\n");
}

/* More rows than one allocation holds. */
static void test_many_rows(void **state)
{
	struct output out = {.legend = true};
	_cleanup_free_ char *text = NULL, *rows = malloc(3 + 10 * 5000);
	char *end = rows;

	(void)state;
	for (int i = 0; i < 5000; i++)
		end += sprintf(end, "%c{\"n\":%d}", i ? ',' : '[', i % 10);
	strcpy(end, "]");
	text = print(&out, rows);
	assert_non_null(strstr(text, "\n\n5000 things\n"));
	assert_int_equal(strlen(text), (5000 + 1) * strlen("NAME  N  KEY  LIST\n") -
					       5000 * strlen("IST") + strlen("\n5000 things\n"));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),	  cmocka_unit_test(test_no_rows),
		cmocka_unit_test(test_colours),	  cmocka_unit_test(test_cut),
		cmocka_unit_test(test_json),	  cmocka_unit_test(test_json_is_harmless),
		cmocka_unit_test(test_many_rows),
	};

	setenv("LC_ALL", "C.UTF-8", 1);
	text_set_locale();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
