// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Varlink interface descriptions: what parses, what does not, and what values fit.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "util/cleanup.h"
#include "varlink/idl.h"

static struct varlink_interface *parse(const char *text)
{
	struct varlink_interface *interface = NULL;
	unsigned line = 0;
	int r;

	r = varlink_interface_parse(text, &interface, &line);
	if (r < 0)
		print_error("line %u of: %s\n", line, text);
	assert_int_equal(r, 0);
	return interface;
}

static void test_accepts(void **state)
{
	static const char *const texts[] = {
		"interface a.b method M()->()",
		"interface com.example.x-y.z9 method M() -> ()",
		"interface a.b.c.d\nmethod M(a: int)\n->\n(b: int)",
		"# comment\n\n#\ninterface a.b # more\nmethod M( # here\n) -> (x: bool)#end",
		"interface a.b type T (a, b, c) method M(t: T) -> (u: ?[]T)",
		"interface a.b type T (t: ?T) method M(t: [string]T) -> (s: [string]())",
		"interface a.b method M(a: ?[]?[string][](x: ?(one, two))) -> () error E ()",
		"interface a.b method M(under_score: int, camelCase2: int, A: int) -> ()",
		"interface a.b method M() -> (u: U) type U (type: int, method: T) type T (error)",
		"interface xn--lgbbat1ad8j.example method M() -> ()",
	};

	(void)state;

	for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
		struct varlink_interface *interface = parse(texts[i]);

		assert_string_equal(varlink_interface_text(interface), texts[i]);
		varlink_interface_free(interface);
	}
}

static void test_refuses(void **state)
{
	static const struct {
		const char *text;
		unsigned line;
	} cases[] = {
		{"", 1},
		{"# only a comment", 1},
		{"interfac a.b method M() -> ()", 1},
		{"interface a method M() -> ()", 1},
		{"interface a..b method M() -> ()", 1},
		{"interface -a.b method M() -> ()", 1},
		{"interface a.b-\nmethod M() -> ()", 1},
		{"interface 1.b method M() -> ()", 1},
		{"interface a.b", 1},
		{"interface a.b\ntype T ()\nerror E ()\n", 4},
		{"interface a.b\n\nmethod m() -> ()", 3},
		{"interface a.b\nmethod M() -> ()\nmethod M() -> ()", 3},
		{"interface a.b\nmethod M() -> ()\ntype M ()", 3},
		{"interface a.b method M()", 1},
		{"interface a.b method M() - > ()", 1},
		{"interface a.b method M() -> ", 1},
		{"interface a.b method M() -> int", 1},
		{"interface a.b method M(a) -> ()", 1},
		{"interface a.b method M(a:) -> ()", 1},
		{"interface a.b method M(a: int,) -> ()", 1},
		{"interface a.b method M(a: int b: int) -> ()", 1},
		{"interface a.b method M(a: int, a: bool) -> ()", 1},
		{"interface a.b method M(a: (x, x)) -> ()", 1},
		{"interface a.b method M(a: (x, y: int)) -> ()", 1},
		{"interface a.b method M(a: (x: int, y)) -> ()", 1},
		{"interface a.b method M(_a: int) -> ()", 1},
		{"interface a.b method M(a_: int) -> ()", 1},
		{"interface a.b method M(a__b: int) -> ()", 1},
		{"interface a.b method M(a: ??int) -> ()", 1},
		{"interface a.b method M(a: []) -> ()", 1},
		{"interface a.b method M(a: [int]string) -> ()", 1},
		{"interface a.b method M(a: integer) -> ()", 1},
		{"interface a.b method M(a: Unknown) -> ()", 1},
		{"interface a.b method M(a: E) -> () error E ()", 1},
		{"interface a.b method M() -> () error E", 1},
		{"interface a.b method M() -> () type T int", 1},
		{"interface a.b method M() -> () garbage", 1},
		{"interface a.b method M() -> () )", 1},
		{"interface a.b\nmethod M() -> (\n  a: int\n", 4},
	};

	(void)state;

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		struct varlink_interface *interface = NULL;
		unsigned line = 0;

		assert_int_equal(varlink_interface_parse(cases[i].text, &interface, &line),
				 -EBADMSG);
		assert_null(interface);
		assert_int_equal(line, cases[i].line);
	}
}

static void test_depth_is_limited(void **state)
{
	enum { DEPTH = 100000 };
	_cleanup_free_ char *text = malloc(64 + 2 * DEPTH);
	struct varlink_interface *interface = NULL;
	size_t n;

	(void)state;

	n = (size_t)sprintf(text, "interface a.b method M(a: ");
	for (size_t i = 0; i < DEPTH; i++) {
		text[n++] = '[';
		text[n++] = ']';
	}
	strcpy(text + n, "int) -> ()");
	assert_int_equal(varlink_interface_parse(text, &interface, NULL), -EBADMSG);
	assert_null(interface);
}

static const char example[] =
	"interface org.example.test\n"
	"type Colour (red, green)\n"
	"type Tree (name: string, children: ?[]Tree)\n"
	"type All (\n"
	"  b: bool, i: int, f: float, s: string, o: object,\n"
	"  e: Colour, t: Tree, a: []int, m: [string]int, set: [string](),\n"
	"  n: ?int, inner: (x: int)\n"
	")\n"
	"method Check(all: All) -> (items: []All, total: int, maybe: ?[]int)\n"
	"method Nothing() -> ()\n"
	"error Broken (part: string)\n";

static void test_lookups(void **state)
{
	struct varlink_interface *interface = parse(example);
	const struct varlink_interface_method *check = varlink_interface_method(interface, "Check");

	(void)state;

	assert_string_equal(varlink_interface_name(interface), "org.example.test");
	assert_non_null(check);
	assert_null(varlink_interface_method(interface, "check"));
	assert_null(varlink_interface_method(interface, "All"));
	assert_null(varlink_interface_method(interface, "Broken"));
	assert_ptr_equal(varlink_interface_nth_method(interface, 0), check);
	assert_string_equal(varlink_interface_method_name(check), "Check");
	assert_ptr_equal(varlink_interface_nth_method(interface, 1),
			 varlink_interface_method(interface, "Nothing"));
	assert_null(varlink_interface_nth_method(interface, 2));
	assert_true(varlink_interface_has_error(interface, "Broken"));
	assert_false(varlink_interface_has_error(interface, "Check"));
	assert_true(varlink_interface_method_has_list(check, "items"));
	assert_true(varlink_interface_method_has_list(check, "maybe"));
	assert_false(varlink_interface_method_has_list(check, "total"));
	assert_false(varlink_interface_method_has_list(check, "all"));
	varlink_interface_free(interface);
}

/* A value for `all` in which one member is replaced by @change (JSON text; NULL: taken away). */
static json_t *make_all(const char *key, const char *change)
{
	json_t *all = json_pack("{s:b, s:i, s:f, s:s, s:{}, s:s, s:{s:s, s:[{s:s}]}, s:[i,i], "
				"s:{s:i}, s:{s:{}}, s:{s:i}}",
				"b", 1, "i", 7, "f", 0.5, "s", "x", "o", "e", "green", "t", "name",
				"root", "children", "name", "leaf", "a", 1, 2, "m", "one", 1, "set",
				"one", "inner", "x", 1);

	assert_non_null(all);
	if (key && change)
		assert_int_equal(
			json_object_set_new(all, key, json_loads(change, JSON_DECODE_ANY, NULL)),
			0);
	else if (key)
		assert_int_equal(json_object_del(all, key), 0);
	return json_pack("{s:o}", "all", all);
}

static void test_values(void **state)
{
	static const struct {
		const char *key, *change;
		const char *path; /* NULL: fits */
		const char *why;
	} cases[] = {
		{NULL, NULL, NULL, NULL},
		{"n", "1", NULL, NULL},
		{"n", "null", NULL, NULL},
		{"f", "1", NULL, NULL},
		{"t", "{\"name\":\"x\",\"children\":null}", NULL, NULL},
		{"o", "{\"any\":[1,{\"thing\":null}]}", NULL, NULL},
		{"a", "[]", NULL, NULL},
		{"m", "{}", NULL, NULL},
		{"b", NULL, "all.b", "missing"},
		{"b", "null", "all.b", "null"},
		{"b", "0", "all.b", "not a bool"},
		{"i", "1.0", "all.i", "not an int"},
		{"i", "\"1\"", "all.i", "not an int"},
		{"f", "\"1\"", "all.f", "not a float"},
		{"s", "1", "all.s", "not a string"},
		{"o", "[]", "all.o", "not an object"},
		{"e", "\"blue\"", "all.e", "not of the enum"},
		{"e", "1", "all.e", "not a string"},
		{"t", "[]", "all.t", "not an object"},
		{"t", "{\"name\":\"x\",\"children\":[{\"name\":\"y\",\"children\":[{}]}]}",
		 "all.t.children[0].children[0].name", "missing"},
		{"a", "{}", "all.a", "not an array"},
		{"a", "[1,2,\"3\"]", "all.a[2]", "not an int"},
		{"a", "[null]", "all.a[0]", "null"},
		{"m", "[]", "all.m", "not an object"},
		{"m", "{\"k\":true}", "all.m.k", "not an int"},
		{"set", "{\"k\":{\"x\":1}}", "all.set.k.x", "not declared"},
		{"n", "\"1\"", "all.n", "not an int"},
		{"inner", "{\"x\":1,\"y\":2}", "all.inner.y", "not declared"},
		{"more", "1", "all.more", "not declared"},
	};
	struct varlink_interface *interface = parse(example);
	const struct varlink_interface_method *check = varlink_interface_method(interface, "Check");

	(void)state;

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		json_t *parameters = make_all(cases[i].key, cases[i].change);
		struct varlink_mismatch mismatch = {};
		int r;

		r = varlink_interface_check_call(check, parameters, &mismatch);
		if (cases[i].path) {
			assert_int_equal(r, -EINVAL);
			assert_string_equal(mismatch.path, cases[i].path);
			assert_string_equal(mismatch.field, "all");
			assert_string_equal(mismatch.why, cases[i].why);
			assert_int_equal(varlink_interface_check_call(check, parameters, NULL),
					 -EINVAL);
		} else {
			assert_int_equal(r, 0);
		}
		json_decref(parameters);
	}
	varlink_interface_free(interface);
}

static void test_calls_replies_errors(void **state)
{
	struct varlink_interface *interface = parse(example);
	const struct varlink_interface_method *check = varlink_interface_method(interface, "Check");
	const struct varlink_interface_method *nothing =
		varlink_interface_method(interface, "Nothing");
	json_t *empty = json_object(), *total = json_pack("{s:[], s:i}", "items", "total", 0),
	       *part = json_pack("{s:s}", "part", "x");
	struct varlink_mismatch mismatch;

	(void)state;

	assert_int_equal(varlink_interface_check_call(nothing, empty, &mismatch), 0);
	assert_int_equal(varlink_interface_check_reply(nothing, empty, &mismatch), 0);
	assert_int_equal(varlink_interface_check_call(check, empty, &mismatch), -EINVAL);
	assert_string_equal(mismatch.field, "all");
	assert_int_equal(varlink_interface_check_call(nothing, total, &mismatch), -EINVAL);
	assert_string_equal(mismatch.field, "items");
	assert_int_equal(varlink_interface_check_reply(check, total, &mismatch), 0);
	assert_int_equal(varlink_interface_check_reply(check, empty, &mismatch), -EINVAL);
	assert_int_equal(varlink_interface_check_error(interface, "Broken", part, &mismatch), 0);
	assert_int_equal(varlink_interface_check_error(interface, "Broken", empty, &mismatch),
			 -EINVAL);
	assert_int_equal(varlink_interface_check_error(interface, "Check", empty, &mismatch),
			 -ENOENT);

	json_decref(empty);
	json_decref(total);
	json_decref(part);
	varlink_interface_free(interface);
}

static void test_long_path_is_cut(void **state)
{
	struct varlink_interface *interface = parse(example);
	json_t *parameters, *map;
	struct varlink_mismatch mismatch;
	char key[600];

	(void)state;

	memset(key, 'k', sizeof(key) - 1);
	key[sizeof(key) - 1] = '\0';
	parameters = make_all("m", "{}");
	map = json_object_get(json_object_get(parameters, "all"), "m");
	json_object_set_new(map, key, json_true());
	assert_int_equal(varlink_interface_check_call(varlink_interface_method(interface, "Check"),
						      parameters, &mismatch),
			 -EINVAL);
	assert_int_equal(strlen(mismatch.path), sizeof(mismatch.path) - 1);
	assert_string_equal(mismatch.field, "all");
	json_decref(parameters);
	varlink_interface_free(interface);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_accepts),
		cmocka_unit_test(test_refuses),
		cmocka_unit_test(test_depth_is_limited),
		cmocka_unit_test(test_lookups),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_calls_replies_errors),
		cmocka_unit_test(test_long_path_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
