// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The history of masters and the table of SMs: bounds, views, restarts seen, saving and loading.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "detect-build.h"
#include "fabric/mastership.h"
#include "fabric/sm-table.h"
#include "ibsm/wire.h"

#define SEC DETECT_USEC_PER_SEC
#define REALTIME (UINT64_C(1700000000) * SEC)

static struct detect_time at(uint64_t sec)
{
	return (struct detect_time){1000 * SEC + sec * SEC, REALTIME + sec * SEC};
}

/* ---- history ---- */

static void test_history_is_bounded(void **state)
{
	struct mastership *history = calloc(1, sizeof(*history));

	(void)state;
	assert_null(mastership_last(history));
	for (uint64_t i = 0; i < MASTERSHIP_MAX + 10; i++) {
		const struct mastership_entry entry = {
			.from = i, .to = i + 1, .realtime_usec = i, .reason = MASTERSHIP_FAILOVER};

		assert_int_equal(mastership_append(history, &entry)->number, i + 1);
	}
	assert_int_equal(history->count, MASTERSHIP_MAX);
	assert_int_equal(history->forgotten, 10);
	assert_int_equal(history->entries[0].number, 11);
	assert_int_equal(mastership_last(history)->to, MASTERSHIP_MAX + 10);
	assert_int_equal(mastership_since(history, MASTERSHIP_MAX + 5), 5);
	free(history);
}

static void test_history_loads_what_it_saved(void **state)
{
	struct mastership *history = calloc(1, sizeof(*history));
	struct mastership *loaded = calloc(1, sizeof(*loaded));
	struct mastership_entry entries[4] = {
		{.number = 7, .to = 1, .reason = MASTERSHIP_FIRST},
		{.number = 7, .to = 2, .reason = MASTERSHIP_FAILOVER}, /* does not rise */
		{.number = 8, .to = 2, .reason = (enum mastership_reason)99},
		{.number = 9, .from = 1, .to = 2, .reason = MASTERSHIP_PRIORITY},
	};

	(void)state;
	memset(entries[3].to_name, 'x', SM_NAME_BYTES); /* no NUL */
	assert_int_equal(mastership_load(loaded, entries, 4), 2);
	assert_int_equal(loaded->count, 2);
	assert_int_equal(loaded->entries[1].number, 9);
	assert_int_equal(strlen(loaded->entries[1].to_name), SM_NAME_BYTES - 1);
	/* Numbers go on. */
	assert_int_equal(mastership_append(loaded, &entries[0])->number, 10);
	assert_int_equal(mastership_load(history, loaded->entries, loaded->count), 0);
	assert_memory_equal(history->entries, loaded->entries, sizeof(history->entries));
	free(history);
	free(loaded);
}

static void test_reason_names(void **state)
{
	(void)state;
	for (int i = 0; i < MASTERSHIP_REASONS; i++)
		assert_int_equal(mastership_reason_from_name(
					 mastership_reason_name((enum mastership_reason)i)),
				 i);
	assert_int_equal(mastership_reason_from_name("takeover"), -EINVAL);
	assert_null(mastership_reason_name(MASTERSHIP_REASONS));
}

static void test_names_are_cut_between_characters(void **state)
{
	char name[SM_NAME_BYTES], long_name[2 * SM_NAME_BYTES] = "";

	(void)state;
	sm_name_copy(name, NULL);
	assert_string_equal(name, "");
	sm_name_copy(name, "node1 HCA-1");
	assert_string_equal(name, "node1 HCA-1");
	for (size_t i = 0; i < SM_NAME_BYTES; i++)
		strcat(long_name, i % 2 ? "" : "\xc3\xa4"); /* ä */
	strcat(long_name, "\xc3\xa4");
	sm_name_copy(name, long_name);
	assert_int_equal(strlen(name), (SM_NAME_BYTES - 1) / 2 * 2);
	assert_int_equal(strncmp(name, long_name, strlen(name)), 0);
}

/* ---- table ---- */

static struct sm_self self_of(uint64_t guid, uint64_t instance, uint8_t state)
{
	return (struct sm_self){
		.port_guid = guid, .instance = instance, .state = state, .priority = 5, .lid = 3};
}

static struct sm_reply reply_of(uint64_t guid, uint16_t lid, uint8_t state, uint32_t act_count)
{
	return (struct sm_reply){
		.guid = guid, .lid = lid, .state = state, .priority = 6, .act_count = act_count};
}

static void test_views(void **state)
{
	struct sm_table *table = calloc(1, sizeof(*table));
	struct detect_time now = at(0);
	struct sm_self self = self_of(0xa1, 7, IBSM_SM_DISCOVERING);
	struct sm_reply reply = reply_of(0xa1, 3, IBSM_SM_MASTER, 10);
	const char *views[SM_VIEWS];
	struct sm_entry *sm;

	(void)state;
	/* Before its opensm has bound a port there is nothing to tell. */
	self.port_guid = 0;
	assert_int_equal(sm_table_self(table, &self, &now, &sm), 0);
	assert_null(sm);
	self.port_guid = 0xa1;
	assert_int_equal(sm_table_self(table, &self, &now, &sm), SM_NEWS_NEW);
	assert_int_equal(sm_entry_state(sm), IBSM_SM_DISCOVERING);
	assert_true(sm_entry_is_local(table, sm));

	/* As long as its plugin is connected it speaks for itself. */
	assert_int_equal(sm_table_reply(table, &reply, &now, NULL), 0);
	assert_int_equal(sm_entry_state(sm), IBSM_SM_DISCOVERING);
	assert_int_equal(sm_entry_priority(sm), 5);
	assert_int_equal(sm_entry_views(sm, views), 2);
	assert_string_equal(views[0], "self");
	assert_string_equal(views[1], "outside");

	/* Its plugin is gone: until it answers again, who knows. */
	sm_table_self_gone(table, 0xa1);
	assert_int_equal(sm_entry_state(sm), -1);
	assert_int_equal(sm_table_reply(table, &reply, &now, NULL), 0);
	assert_int_equal(sm_entry_state(sm), IBSM_SM_MASTER);
	assert_int_equal(sm_entry_priority(sm), 6);
	assert_false(sm_entry_is_local(table, sm));
	sm_table_set_local(table, (const uint64_t[]){0xff, 0xa1}, 2);
	assert_true(sm_entry_is_local(table, sm));

	/* A query without an answer, matched by its LID. */
	reply = (struct sm_reply){.lid = 3, .status = ETIMEDOUT};
	assert_int_equal(sm_table_reply(table, &reply, &now, &sm), 0);
	assert_int_equal(sm->missed, 1);
	assert_false(sm_entry_is_alive(sm));
	assert_int_equal(sm_entry_state(sm), -1);
	assert_int_equal(sm_entry_priority(sm), 5); /* the last that is known of it */
	sm_table_reply(table, &reply, &now, &sm);
	assert_int_equal(sm->missed, 2);

	/* One of a LID that no SM has. */
	reply.lid = 99;
	assert_int_equal(sm_table_reply(table, &reply, &now, &sm), 0);
	assert_null(sm);
	free(table);
}

static void test_restarts(void **state)
{
	struct sm_table *table = calloc(1, sizeof(*table));
	struct detect_time now = at(0);
	struct sm_self self = self_of(0xa1, 7, IBSM_SM_MASTER);
	struct sm_reply reply = reply_of(0xa1, 3, IBSM_SM_MASTER, 1000);

	(void)state;
	sm_table_reply(table, &reply, &now, NULL);
	reply.act_count = 1001;
	assert_int_equal(sm_table_reply(table, &reply, &now, NULL), 0);
	reply.act_count = 5;
	assert_int_equal(sm_table_reply(table, &reply, &now, NULL), SM_NEWS_RESTARTED_OUTSIDE);

	/* The wrap of 32 bits is no restart. */
	reply.act_count = UINT32_MAX - 10;
	assert_int_equal(sm_table_reply(table, &reply, &now, NULL), 0);
	reply.act_count = 20;
	assert_int_equal(sm_table_reply(table, &reply, &now, NULL), 0);

	assert_int_equal(sm_table_self(table, &self, &now, NULL), 0);
	assert_int_equal(sm_table_self(table, &self, &now, NULL), 0);
	self.instance = 8;
	assert_int_equal(sm_table_self(table, &self, &now, NULL), SM_NEWS_RESTARTED_SELF);
	/* The same restart, seen from outside, is told once. */
	reply.act_count = 2;
	assert_int_equal(sm_table_reply(table, &reply, &now, NULL), 0);
	free(table);
}

static void test_a_lid_moves(void **state)
{
	struct sm_table *table = calloc(1, sizeof(*table));
	struct detect_time now = at(0);
	struct sm_reply reply = reply_of(0xa1, 3, IBSM_SM_MASTER, 1);

	(void)state;
	sm_table_reply(table, &reply, &now, NULL);
	reply = reply_of(0xb2, 3, IBSM_SM_MASTER, 1);
	now = at(5);
	assert_int_equal(sm_table_reply(table, &reply, &now, NULL), SM_NEWS_NEW);
	assert_int_equal(sm_table_find_lid(table, 3)->port_guid, 0xb2);
	assert_int_equal(sm_entry_lid(sm_table_find(table, 0xa1)), 0);
	free(table);
}

static void test_fabric_names_them(void **state)
{
	struct sm_table *table = calloc(1, sizeof(*table));
	struct build *build = build_new();
	struct detect_time now = at(0);
	struct sm_reply reply = {.status = ETIMEDOUT};
	struct fabric *fabric;
	struct sm_entry *sm;

	(void)state;
	build_tree(build, 2, 1, 2);
	build_sm(build, BUILD_HOST(0) + 1, IBSM_SM_MASTER, 14, true);
	build_sm(build, BUILD_HOST(3) + 1, IBSM_SM_STANDBY, 3, false);
	build_port(build, BUILD_HOST(3), 1)->capability_mask = 1u << 1;
	fabric = build_fabric(build);
	sm_table_fabric(table, fabric, &now);
	assert_int_equal(table->count, 2);
	sm = sm_table_find(table, BUILD_HOST(3) + 1);
	assert_string_equal(sm->node, "host3");
	assert_int_equal(sm->node_guid, BUILD_HOST(3));
	assert_int_equal(sm->port, 1);
	assert_int_equal(sm->node_type, IBSM_NODE_CA);
	assert_true(sm->is_sm_bit);
	assert_int_equal(sm_entry_state(sm), IBSM_SM_STANDBY);
	assert_string_equal(SM_LABEL(sm), "host3");

	/* What another opensm tells is nothing against a query without answer. */
	reply.lid = sm_entry_lid(sm);
	sm_table_reply(table, &reply, &now, NULL);
	assert_int_equal(sm_entry_state(sm), -1);
	now = at(50);
	sm_table_fabric(table, fabric, &now);
	assert_int_equal(sm_entry_state(sm), -1);
	assert_int_equal(sm->last_usec, at(0).monotonic_usec);
	/* Without an outside view it is all there is. */
	sm_table_outside_lost(table);
	assert_int_equal(sm_entry_state(sm), IBSM_SM_STANDBY);

	/* Gone from the fabric. */
	fabric_unref(fabric);
	build_node(build, BUILD_HOST(3))->present = 0;
	fabric = build_fabric(build);
	sm_table_fabric(table, fabric, &now);
	assert_int_equal(sm_entry_state(sm_table_find(table, BUILD_HOST(3) + 1)), -1);
	fabric_unref(fabric);
	build_free(build);
	free(table);
}

static void test_table_is_bounded(void **state)
{
	struct sm_table *table = calloc(1, sizeof(*table));
	struct detect_time now = at(0);

	(void)state;
	for (uint64_t i = 1; i <= SM_TABLE_MAX + 3; i++) {
		struct sm_reply reply = reply_of(i, (uint16_t)i, IBSM_SM_STANDBY, 1);

		assert_int_equal(sm_table_reply(table, &reply, &now, NULL),
				 i <= SM_TABLE_MAX ? SM_NEWS_NEW : SM_NEWS_LEFT_OUT);
	}
	assert_int_equal(table->left_out, 3);

	/* Those without a sign of life are forgotten; a connected plugin's is not. */
	struct sm_self self = self_of(5, 1, IBSM_SM_STANDBY);
	struct sm_reply reply = reply_of(7, 7, IBSM_SM_STANDBY, 1);

	sm_table_self(table, &self, &now, NULL);
	now = at(100);
	sm_table_reply(table, &reply, &now, NULL);
	now = at(150);
	sm_table_expire(table, 151 * SEC, &now);
	assert_int_equal(table->count, SM_TABLE_MAX);
	sm_table_expire(table, 150 * SEC, &now);
	assert_int_equal(table->count, 2);
	assert_int_equal(table->entries[0].port_guid, 5);
	assert_int_equal(table->entries[1].port_guid, 7);
	free(table);
}

static void test_table_loads_what_it_saved(void **state)
{
	struct sm_table *table = calloc(1, sizeof(*table));
	struct sm_table *loaded = calloc(1, sizeof(*loaded));
	struct sm_saved saved[SM_TABLE_MAX];
	struct detect_time now = at(0);
	struct sm_reply reply = reply_of(0xa1, 9, IBSM_SM_MASTER, 1);

	(void)state;
	sm_table_reply(table, &reply, &now, NULL);
	assert_int_equal(sm_table_save(table, saved), 1);
	/* A new boot: the monotonic clock is smaller than the age. */
	now = (struct detect_time){5 * SEC, REALTIME + 3600 * SEC};
	assert_int_equal(sm_table_load(loaded, saved, 1, &now), 0);
	assert_int_equal(loaded->entries[0].first_realtime_usec, REALTIME);
	assert_int_equal(loaded->entries[0].last_usec, 0);
	assert_int_equal(sm_entry_state(&loaded->entries[0]), -1);
	assert_int_equal(sm_entry_priority(&loaded->entries[0]), 6);
	assert_int_equal(sm_entry_lid(&loaded->entries[0]), 9);

	saved[0].last_realtime_usec = now.realtime_usec + 1;
	saved[1] = (struct sm_saved){0};
	*loaded = (struct sm_table){0};
	assert_int_equal(sm_table_load(loaded, saved, 2, &now), 2);
	assert_int_equal(loaded->count, 0);
	free(table);
	free(loaded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_history_is_bounded),
		cmocka_unit_test(test_history_loads_what_it_saved),
		cmocka_unit_test(test_reason_names),
		cmocka_unit_test(test_names_are_cut_between_characters),
		cmocka_unit_test(test_views),
		cmocka_unit_test(test_restarts),
		cmocka_unit_test(test_a_lid_moves),
		cmocka_unit_test(test_fabric_names_them),
		cmocka_unit_test(test_table_is_bounded),
		cmocka_unit_test(test_table_loads_what_it_saved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
