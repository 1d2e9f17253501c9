// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Each check of opensm's options at its limit, and the shape of fabrics that engines depend on.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "detect-build.h"
#include "fabric/sm-config.h"
#include "ibsm/wire.h"

static struct sm_config_limits limits = SM_CONFIG_LIMITS_DEFAULT;
static struct build *build;

static int setup(void **state)
{
	(void)state;
	limits = (struct sm_config_limits)SM_CONFIG_LIMITS_DEFAULT;
	build = build_new();
	build_tree(build, 2, 1, 2); /* seven nodes */
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	build_free(build);
	return 0;
}

enum verdict { NOT_JUDGED, PASSED, FAILED };

static char last_text[SM_CONFIG_TEXT_BYTES];

static enum verdict judge_shape(const char *name, enum sm_config_shape shape)
{
	struct sm_config_result results[SM_CONFIG_CHECKS_MAX];
	struct fabric *fabric = build_fabric(build);
	size_t n = sm_config_judge(fabric, &limits, shape, results);
	enum verdict verdict = NOT_JUDGED;

	for (size_t i = 0; i < n; i++) {
		assert_true(results[i].text[0] != '\0');
		assert_false(results[i].check->fact && results[i].failed);
		if (strcmp(results[i].check->name, name) == 0) {
			verdict = results[i].failed ? FAILED : PASSED;
			memcpy(last_text, results[i].text, sizeof(last_text));
		}
	}
	fabric_unref(fabric);
	return verdict;
}

static enum verdict judge(const char *name)
{
	return judge_shape(name, SM_SHAPE_ANY);
}

static void number(const char *name, uint64_t value)
{
	build_option(build, name, IBSM_OPTION_INTEGER, value, NULL);
}

static void truth(const char *name, bool value)
{
	build_option(build, name, IBSM_OPTION_BOOLEAN, value, NULL);
}

static void secret(const char *name, bool set)
{
	build_option(build, name, IBSM_OPTION_SECRET, set, NULL);
}

static void test_nothing_known(void **state)
{
	struct sm_config_result results[SM_CONFIG_CHECKS_MAX];
	struct fabric *fabric = build_fabric(build);

	(void)state;
	assert_int_equal(sm_config_judge(fabric, &limits, SM_SHAPE_ANY, results), 0);
	fabric_unref(fabric);
	/* Options of another type than expected are not judged either. */
	build_option(build, "sweep_interval", IBSM_OPTION_STRING, 1, "0");
	build_option(build, "m_key", IBSM_OPTION_INTEGER, 0, NULL);
	assert_int_equal(judge("sweep-interval"), NOT_JUDGED);
	assert_int_equal(judge("m-key"), NOT_JUDGED);
}

static void test_sweeps(void **state)
{
	(void)state;
	number("sweep_interval", 0);
	assert_int_equal(judge("sweep-interval"), FAILED);
	number("sweep_interval", 1);
	assert_int_equal(judge("sweep-interval"), PASSED);
	truth("sweep_on_trap", true);
	assert_int_equal(judge("sweep-on-trap"), PASSED);
	truth("sweep_on_trap", false);
	assert_int_equal(judge("sweep-on-trap"), FAILED);
	truth("force_heavy_sweep", false);
	assert_int_equal(judge("force-heavy-sweep"), PASSED);
	truth("force_heavy_sweep", true);
	assert_int_equal(judge("force-heavy-sweep"), FAILED);
}

static void test_takeover(void **state)
{
	(void)state;
	number("polling_retry_number", 4);
	assert_int_equal(judge("takeover-time"), NOT_JUDGED);
	number("sminfo_polling_timeout", 10000); /* opensm's defaults */
	assert_int_equal(judge("takeover-time"), PASSED);
	number("sminfo_polling_timeout", 15000);
	assert_int_equal(judge("takeover-time"), PASSED); /* 60 s is the limit itself */
	number("sminfo_polling_timeout", 15001);
	assert_int_equal(judge("takeover-time"), FAILED);
	assert_non_null(strstr(last_text, "60 s in all"));
	number("sminfo_polling_timeout", 500);
	assert_int_equal(judge("takeover-time"), PASSED); /* 2 s */
	number("sminfo_polling_timeout", 499);
	assert_int_equal(judge("takeover-time"), FAILED);
	number("sminfo_polling_timeout", UINT64_MAX); /* no overflow */
	assert_int_equal(judge("takeover-time"), NOT_JUDGED);
}

static void test_wire_smps(void **state)
{
	(void)state;
	limits.default_nodes_max = 7;
	number("max_wire_smps", 4);
	assert_int_equal(judge("max-wire-smps"), PASSED);
	limits.default_nodes_max = 6;
	assert_int_equal(judge("max-wire-smps"), FAILED);
	assert_non_null(strstr(last_text, "7 nodes"));
	number("max_wire_smps", 5);
	assert_int_equal(judge("max-wire-smps"), PASSED);
	/* Without limit. */
	number("max_wire_smps", 0);
	assert_int_equal(judge("max-wire-smps"), FAILED);
	number("max_wire_smps", 0x7fffffff);
	assert_int_equal(judge("max-wire-smps"), FAILED);
	limits.default_nodes_max = 7;
	assert_int_equal(judge("max-wire-smps"), PASSED);
}

static void test_transactions(void **state)
{
	(void)state;
	number("transaction_timeout", 200);
	number("transaction_retries", 3);
	assert_int_equal(judge("transaction-timeout"), PASSED);
	assert_non_null(strstr(last_text, "800 ms"));
	number("transaction_timeout", 1250);
	assert_int_equal(judge("transaction-timeout"), PASSED); /* 5 s */
	number("transaction_timeout", 1251);
	assert_int_equal(judge("transaction-timeout"), FAILED);
}

static void test_engines(void **state)
{
	(void)state;
	/* Nothing asked for is minhop. */
	assert_int_equal(judge_shape("tree-engine", SM_SHAPE_TREE), FAILED);
	assert_non_null(strstr(last_text, "minhop"));
	assert_int_equal(judge_shape("deadlock-free-engine", SM_SHAPE_TREE), NOT_JUDGED);
	assert_int_equal(judge_shape("deadlock-free-engine", SM_SHAPE_OTHER), FAILED);
	assert_int_equal(judge_shape("tree-engine", SM_SHAPE_OTHER), NOT_JUDGED);
	assert_int_equal(judge("tree-engine"), NOT_JUDGED);
	assert_int_equal(judge("fallback-order"), NOT_JUDGED);

	build_engine(build, "dor", IBSM_ENGINE_ASKED | IBSM_ENGINE_LOADED);
	assert_int_equal(judge_shape("tree-engine", SM_SHAPE_TREE), FAILED);
	assert_int_equal(judge_shape("deadlock-free-engine", SM_SHAPE_OTHER), FAILED);
	assert_int_equal(judge("fallback-order"), FAILED);

	/* Loaded is not asked for. */
	build_engine(build, "ftree", IBSM_ENGINE_LOADED);
	assert_int_equal(judge_shape("tree-engine", SM_SHAPE_TREE), FAILED);
	build_engine(build, "updn", IBSM_ENGINE_ASKED | IBSM_ENGINE_LOADED);
	assert_int_equal(judge_shape("tree-engine", SM_SHAPE_TREE), PASSED);
	assert_non_null(strstr(last_text, "dor,updn"));
	assert_int_equal(judge_shape("deadlock-free-engine", SM_SHAPE_OTHER), PASSED);
	assert_int_equal(judge("fallback-order"), PASSED);
	assert_int_equal(judge("torus-qos"), NOT_JUDGED);
}

static void test_one_engine(void **state)
{
	(void)state;
	build_engine(build, "minhop", IBSM_ENGINE_ASKED | IBSM_ENGINE_LOADED);
	assert_int_equal(judge("fallback-order"), PASSED); /* it is its own fallback */
}

static void test_torus(void **state)
{
	(void)state;
	truth("qos", false);
	build_engine(build, "torus-2QoS", IBSM_ENGINE_ASKED | IBSM_ENGINE_NO_FALLBACK);
	build_engine(build, "no_fallback", IBSM_ENGINE_ASKED | IBSM_ENGINE_NO_FALLBACK);
	assert_int_equal(judge("torus-qos"), FAILED);
	truth("qos", true);
	assert_int_equal(judge("torus-qos"), PASSED);
	assert_int_equal(judge("fallback-order"), FAILED);
	assert_non_null(strstr(last_text, "no_fallback"));
}

static void test_engine_names_are_printable(void **state)
{
	(void)state;
	build_engine(build, "a\x1b[31mb", IBSM_ENGINE_ASKED);
	assert_int_equal(judge("fallback-order"), FAILED);
	assert_null(strchr(last_text, '\x1b'));
}

static void test_keys(void **state)
{
	(void)state;
	number("m_key_protection_level", 0);
	number("m_key_lease_period", 0);
	secret("m_key", false);
	assert_int_equal(judge("m-key"), FAILED);
	/* Without a key they do nothing. */
	assert_int_equal(judge("m-key-protection"), NOT_JUDGED);
	assert_int_equal(judge("m-key-lease"), NOT_JUDGED);
	secret("m_key", true);
	assert_int_equal(judge("m-key"), PASSED);
	assert_int_equal(judge("m-key-protection"), FAILED);
	assert_int_equal(judge("m-key-lease"), FAILED);
	number("m_key_protection_level", 1);
	number("m_key_lease_period", 60);
	assert_int_equal(judge("m-key-protection"), PASSED);
	assert_int_equal(judge("m-key-lease"), PASSED);
}

static void test_lmc(void **state)
{
	(void)state;
	limits.lids_percent_max = 0;
	number("lmc", 0);
	assert_int_equal(judge("lmc"), PASSED);
	number("lmc", 2);
	assert_int_equal(judge("lmc"), FAILED);
	assert_non_null(strstr(last_text, "4 LIDs a port"));
	limits.lids_percent_max = 1;
	assert_int_equal(judge("lmc"), PASSED);
	number("lmc", 200);
	assert_int_equal(judge("lmc"), NOT_JUDGED);
}

static void test_the_rest(void **state)
{
	(void)state;
	truth("ignore_other_sm", true);
	truth("sm_inactive", true);
	build_option(build, "console", IBSM_OPTION_STRING, 1, "socket");
	truth("perfmgr", false);
	truth("qos", false);
	assert_int_equal(judge("ignore-other-sm"), FAILED);
	assert_int_equal(judge("sm-inactive"), FAILED);
	assert_int_equal(judge("console"), FAILED);
	assert_int_equal(judge("perfmgr"), PASSED); /* facts */
	assert_int_equal(judge("qos"), PASSED);
	truth("ignore_other_sm", false);
	truth("sm_inactive", false);
	build_option(build, "console", IBSM_OPTION_STRING, 1, "off");
	assert_int_equal(judge("ignore-other-sm"), PASSED);
	assert_int_equal(judge("sm-inactive"), PASSED);
	assert_int_equal(judge("console"), PASSED);
	build_option(build, "console", IBSM_OPTION_STRING, 0, NULL);
	assert_int_equal(judge("console"), NOT_JUDGED);
}

static void test_table(void **state)
{
	const struct sm_config_check *check;
	size_t n = 0;

	(void)state;
	for (; (check = sm_config_check(n)); n++) {
		for (size_t i = 0; i < n; i++)
			assert_string_not_equal(check->name, sm_config_check(i)->name);
		assert_true(check->reason[strlen(check->reason) - 1] == '.');
		assert_true(check->source[0] && check->option[0]);
		assert_in_range(check->severity, FINDING_NOTICE, FINDING_CRITICAL);
	}
	assert_true(n > 10 && n <= SM_CONFIG_CHECKS_MAX);
}

/* ---- shapes ---- */

static enum sm_config_shape shape(struct build *of)
{
	struct fabric *fabric = build_fabric(of);
	enum sm_config_shape found;

	assert_int_equal(sm_config_find_shape(fabric, &found), 0);
	fabric_unref(fabric);
	build_free(of);
	return found;
}

static struct build *ring_of(unsigned int n, unsigned int hosts)
{
	struct build *of = build_new();
	char name[16];

	for (unsigned int i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "s%u", i);
		build_switch(of, i + 1, 8, name);
		for (unsigned int j = 0; j < hosts; j++) {
			build_ca(of, 0x10000 + 0x100 * (2 * i + j), 1, "h");
			build_link(of, i + 1, (uint8_t)(3 + j), 0x10000 + 0x100 * (2 * i + j), 1);
		}
		if (i > 0)
			build_link(of, i, 2, i + 1, 1);
	}
	return of;
}

static struct build *ring(unsigned int n)
{
	return ring_of(n, 2);
}

static void test_shapes(void **state)
{
	struct build *of;

	(void)state;
	assert_int_equal(shape(build_new()), SM_SHAPE_ANY);

	of = build_new();
	build_tree(of, 6, 3, 4);
	assert_int_equal(shape(of), SM_SHAPE_TREE);

	/* A service node on a spine does not make it a leaf. */
	of = build_new();
	build_tree(of, 6, 3, 4);
	build_ca(of, 0x9000, 1, "service");
	build_switch(of, 0x3000, 40, "big spine");
	build_link(of, 0x3000, 1, 0x9000, 1);
	assert_int_equal(shape(of), SM_SHAPE_TREE);

	/* One spine, or a chain: no circle, no harm. */
	of = build_new();
	build_tree(of, 4, 1, 4);
	assert_int_equal(shape(of), SM_SHAPE_ANY);
	assert_int_equal(shape(ring(5)), SM_SHAPE_ANY);

	/* Closed, it is a ring. */
	of = ring(5);
	build_link(of, 5, 2, 1, 1);
	assert_int_equal(shape(of), SM_SHAPE_OTHER);

	of = ring_of(5, 1);
	build_link(of, 5, 2, 1, 1);
	assert_int_equal(shape(of), SM_SHAPE_OTHER);

	/* A tree with one host a leaf. */
	of = build_new();
	build_tree(of, 6, 3, 1);
	assert_int_equal(shape(of), SM_SHAPE_TREE);

	/* Several cables between two switches are no circle. */
	of = ring(2);
	build_link(of, 1, 5, 2, 5);
	build_link(of, 1, 6, 2, 6);
	assert_int_equal(shape(of), SM_SHAPE_ANY);

	/* Of 25 cables between switches one may be within a rank; of 26, two may not. */
	for (unsigned int lateral = 1; lateral <= 2; lateral++) {
		of = build_new();
		build_tree(of, 6, 4, 5);
		for (unsigned int i = 0; i < lateral; i++) {
			build_unlink(of, BUILD_LEAF(2 * i), 1);
			build_unlink(of, BUILD_LEAF(2 * i + 1), 1);
			build_link(of, BUILD_LEAF(2 * i), 1, BUILD_LEAF(2 * i + 1), 1);
		}
		assert_int_equal(shape(of), lateral == 1 ? SM_SHAPE_TREE : SM_SHAPE_OTHER);
	}

	/* A loopback plug is nothing. */
	of = build_new();
	build_tree(of, 6, 4, 4);
	build_switch(of, 0x3000, 10, "x");
	build_link(of, 0x3000, 1, 0x3000, 2);
	assert_int_equal(shape(of), SM_SHAPE_TREE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_nothing_known, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sweeps, setup, teardown),
		cmocka_unit_test_setup_teardown(test_takeover, setup, teardown),
		cmocka_unit_test_setup_teardown(test_wire_smps, setup, teardown),
		cmocka_unit_test_setup_teardown(test_transactions, setup, teardown),
		cmocka_unit_test_setup_teardown(test_engines, setup, teardown),
		cmocka_unit_test_setup_teardown(test_one_engine, setup, teardown),
		cmocka_unit_test_setup_teardown(test_torus, setup, teardown),
		cmocka_unit_test_setup_teardown(test_engine_names_are_printable, setup, teardown),
		cmocka_unit_test_setup_teardown(test_keys, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lmc, setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_rest, setup, teardown),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_shapes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
