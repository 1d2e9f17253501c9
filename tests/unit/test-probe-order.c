// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Orders from a hostile peer: each wrong field is named, none gets through; golden bytes of
// records.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "probe/order.h"
#include "util/cleanup.h"

static const uint16_t plain[] = {IBSM_PROBE_PING, IBSM_PROBE_PORT_LIST};
static const uint16_t with_lid[] = {IBSM_PROBE_SM_INFO, IBSM_PROBE_NODE_INFO, IBSM_PROBE_NODE_DESC};
static const uint16_t with_port[] = {IBSM_PROBE_PORT_INFO, IBSM_PROBE_COUNTERS,
				     IBSM_PROBE_COUNTERS_EXT};

static int check(const struct ibsm_probe_order *order)
{
	struct ibsm_probe_order out;

	return order_check(order, sizeof(*order), &out);
}

static struct ibsm_probe_order make(uint16_t type, uint16_t lid, uint8_t port)
{
	struct ibsm_probe_order order;

	ibsm_probe_order_init(&order, type, 7);
	order.lid = lid;
	order.port = port;
	return order;
}

static struct ibsm_probe_order choose(const char *text)
{
	struct ibsm_probe_order order = make(IBSM_PROBE_PORT, 0, 0);

	assert_int_equal(ibsm_probe_parse_port(text, &order), 0);
	return order;
}

static void test_good(void **state)
{
	struct ibsm_probe_order order, out;

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(plain); i++) {
		order = make(plain[i], 0, 0);
		assert_int_equal(check(&order), 0);
		assert_false(order_is_query(plain[i]));
	}
	for (size_t i = 0; i < ELEMENTSOF(with_lid); i++) {
		order = make(with_lid[i], IBSM_UNICAST_LID_MAX, 0);
		order.timeout_msec = IBSM_PROBE_TIMEOUT_MSEC_MAX;
		assert_int_equal(check(&order), 0);
		assert_true(order_is_query(with_lid[i]));
	}
	for (size_t i = 0; i < ELEMENTSOF(with_port); i++) {
		order = make(with_port[i], 1, 255);
		order.timeout_msec = IBSM_PROBE_TIMEOUT_MSEC_MIN;
		assert_int_equal(check(&order), 0);
		assert_true(order_is_query(with_port[i]));
	}
	order = make(IBSM_PROBE_LOCAL, 0, 0);
	assert_int_equal(check(&order), 0);
	assert_true(order_is_query(IBSM_PROBE_LOCAL));
	order = choose("auto");
	assert_int_equal(check(&order), 0);
	order = choose("mlx5_0/1");
	assert_int_equal(check(&order), 0);
	order = choose("0x2c903000010a1");
	assert_int_equal(order_check(&order, sizeof(order), &out), 0);
	assert_memory_equal(&order, &out, sizeof(order));
}

static void test_header(void **state)
{
	struct ibsm_probe_order order = make(IBSM_PROBE_SM_INFO, 1, 0), out;
	uint8_t bytes[sizeof(order) + 1] = {};

	(void)state;
	for (size_t length = 0; length < sizeof(order); length++)
		assert_int_equal(order_check(&order, length, &out), IBSM_PROBE_FIELD_LENGTH);
	memcpy(bytes, &order, sizeof(order));
	assert_int_equal(order_check(bytes, sizeof(bytes), &out), IBSM_PROBE_FIELD_LENGTH);
	order.header.length--;
	assert_int_equal(check(&order), IBSM_PROBE_FIELD_LENGTH);

	order = make(IBSM_PROBE_SM_INFO, 1, 0);
	order.header.magic ^= 1;
	assert_int_equal(check(&order), IBSM_PROBE_FIELD_MAGIC);
	order = make(IBSM_PROBE_SM_INFO, 1, 0);
	order.header.version++;
	assert_int_equal(check(&order), IBSM_PROBE_FIELD_VERSION);
	order = make(IBSM_PROBE_SM_INFO, 1, 0);
	order.header.reserved = 0x80000000;
	assert_int_equal(check(&order), IBSM_PROBE_FIELD_RESERVED);
}

/* Of all types, those above and no other are taken. */
static void test_types(void **state)
{
	unsigned int known = 0;

	(void)state;
	for (unsigned int type = 0; type <= UINT16_MAX; type++) {
		const struct ibsm_probe_order order = make((uint16_t)type, 0, 0);

		if (check(&order) != IBSM_PROBE_FIELD_TYPE)
			known++;
	}
	assert_int_equal(known, ELEMENTSOF(plain) + ELEMENTSOF(with_lid) + ELEMENTSOF(with_port) +
					2); /* LOCAL, PORT */
}

/* A field that a type has no use for must be 0, in each type. */
static void test_unused_fields(void **state)
{
	struct ibsm_probe_order order;

	(void)state;
	for (unsigned int type = 0; type <= IBSM_PROBE_COUNTERS_EXT; type++) {
		const bool lid = (type >= IBSM_PROBE_SM_INFO && type <= IBSM_PROBE_PORT_INFO) ||
				 type >= IBSM_PROBE_COUNTERS;
		const bool port = type == IBSM_PROBE_PORT_INFO || type >= IBSM_PROBE_COUNTERS;
		const struct ibsm_probe_order good =
			make((uint16_t)type, lid ? 9 : 0, port ? 9 : 0);

		if (check(&good) != 0)
			continue;
		order = good;
		order.lid = lid ? 0 : 1;
		assert_int_equal(check(&order), IBSM_PROBE_FIELD_LID);
		order.lid = IBSM_MULTICAST_LID_MIN;
		assert_int_equal(check(&order), IBSM_PROBE_FIELD_LID);
		order.lid = 0xffff;
		assert_int_equal(check(&order), IBSM_PROBE_FIELD_LID);
		order = good;
		order.timeout_msec = order_is_query((uint16_t)type)
					     ? IBSM_PROBE_TIMEOUT_MSEC_MAX + 1
					     : IBSM_PROBE_TIMEOUT_MSEC_MIN;
		assert_int_equal(check(&order), IBSM_PROBE_FIELD_TIMEOUT);
		order.timeout_msec = IBSM_PROBE_TIMEOUT_MSEC_MIN - 1;
		assert_int_equal(check(&order), IBSM_PROBE_FIELD_TIMEOUT);
		order = good;
		order.port_guid = 1;
		assert_int_equal(check(&order), IBSM_PROBE_FIELD_PORT_GUID);
		order = good;
		order.ca_name[23] = 'x';
		assert_int_equal(check(&order), IBSM_PROBE_FIELD_CA_NAME);
		if (type != IBSM_PROBE_PORT) {
			order = good;
			order.choice = IBSM_PROBE_CHOICE_NAME;
			assert_int_equal(check(&order), IBSM_PROBE_FIELD_CHOICE);
		}
		if (!port) {
			order = good;
			order.port = 1;
			assert_int_equal(check(&order), IBSM_PROBE_FIELD_PORT);
		}
	}
}

static void test_choice(void **state)
{
	struct ibsm_probe_order order = choose("auto");

	(void)state;
	order.choice = 3;
	assert_int_equal(check(&order), IBSM_PROBE_FIELD_CHOICE);

	order = choose("mlx5_0/1");
	order.port_guid = 1;
	assert_int_equal(check(&order), IBSM_PROBE_FIELD_PORT_GUID);
	order = choose("mlx5_0/1");
	memset(order.ca_name, 'x', sizeof(order.ca_name));
	assert_int_equal(check(&order), IBSM_PROBE_FIELD_CA_NAME);
	order = choose("mlx5_0/1");
	order.ca_name[0] = 0;
	assert_int_equal(check(&order), IBSM_PROBE_FIELD_CA_NAME);
	order = choose("mlx5_0/1");
	order.ca_name[20] = 'x';
	assert_int_equal(check(&order), IBSM_PROBE_FIELD_CA_NAME);

	order = choose("0x1");
	order.port_guid = 0;
	assert_int_equal(check(&order), IBSM_PROBE_FIELD_PORT_GUID);
	order = choose("0x1");
	order.port = 1;
	assert_int_equal(check(&order), IBSM_PROBE_FIELD_PORT);
	order = choose("0x1");
	order.ca_name[0] = 'm';
	assert_int_equal(check(&order), IBSM_PROBE_FIELD_CA_NAME);
}

static void test_parse_port(void **state)
{
	static const char *const bad[] = {
		"mlx5_0",
		"mlx5_0/",
		"/1",
		"mlx5_0/x",
		"mlx5_0/1x",
		"mlx5_0/-1",
		"a/b/1",
		"mlx5_0/ 1",
		"mlx5_0/255",
		"mlx5_0/0001",
		"0x",
		"0x0",
		"0xg",
		"0x12345678901234567",
		"123",
		"none",
		"abcdefghijklmnopqrstuvwx/1",
	};
	struct ibsm_probe_order order, before;

	(void)state;
	order = choose("");
	assert_int_equal(order.choice, IBSM_PROBE_CHOICE_AUTO);
	order = choose("mlx5_bond_0/12");
	assert_int_equal(order.choice, IBSM_PROBE_CHOICE_NAME);
	assert_string_equal(order.ca_name, "mlx5_bond_0");
	assert_int_equal(order.port, 12);
	order = choose("abcdefghijklmnopqrstuvw/0");
	assert_string_equal(order.ca_name, "abcdefghijklmnopqrstuvw");
	order = choose("0XffffFFFFffffFFFF");
	assert_int_equal(order.choice, IBSM_PROBE_CHOICE_GUID);
	assert_true(order.port_guid == UINT64_MAX);

	before = order;
	for (size_t i = 0; i < ELEMENTSOF(bad); i++)
		assert_int_equal(ibsm_probe_parse_port(bad[i], &order), -EINVAL);
	assert_memory_equal(&order, &before, sizeof(order));
}

static void test_reply_head(void **state)
{
	union ibsm_probe_any_reply reply;
	struct ibsm_probe_order order = make(IBSM_PROBE_PORT_INFO, 5, 6);

	(void)state;
	memset(&reply, 0xff, sizeof(reply));
	order_reply_init(&order, &reply);
	assert_int_equal(reply.head.header.magic, IBSM_PROBE_MAGIC);
	assert_int_equal(reply.head.header.version, IBSM_PROBE_VERSION);
	assert_int_equal(reply.head.header.type, IBSM_PROBE_REPLY | IBSM_PROBE_PORT_INFO);
	assert_int_equal(reply.head.header.length, sizeof(reply.port_info));
	assert_int_equal(reply.head.header.sequence, 7);
	assert_int_equal(reply.head.result.lid, 5);
	assert_int_equal(reply.head.result.port, 6);
	assert_int_equal(reply.port_info.lid, 0);

	/* A reply sent as an order, and something that is none at all. */
	order.header.type |= IBSM_PROBE_REPLY;
	order_reply_init(&order, &reply);
	assert_int_equal(reply.head.header.type, IBSM_PROBE_REPLY | IBSM_PROBE_NONE);
	assert_int_equal(reply.head.header.sequence, 7);
	order.header.magic++;
	order_reply_init(&order, &reply);
	assert_int_equal(reply.head.header.type, IBSM_PROBE_REPLY | IBSM_PROBE_NONE);
	assert_int_equal(reply.head.header.length, sizeof(reply.head));
	assert_int_equal(reply.head.header.sequence, 0);
	/* An order of another version's. */
	order = make(999, 0, 0);
	order_reply_init(&order, &reply);
	assert_int_equal(reply.head.header.type, IBSM_PROBE_REPLY | 999);
	assert_int_equal(reply.head.header.length, sizeof(reply.head));
}

static void assert_bytes(const void *record, size_t length, const char *hex)
{
	static const char digits[] = "0123456789abcdef";
	const uint8_t *bytes = record;

	assert_int_equal(strlen(hex), 2 * length);
	for (size_t i = 0; i < length; i++)
		if (hex[2 * i] != digits[bytes[i] >> 4] || hex[2 * i + 1] != digits[bytes[i] & 15])
			fail_msg("byte %zu of %zu is %02x, golden is %.2s", i, length, bytes[i],
				 &hex[2 * i]);
}

static void test_golden_bytes(void **state)
{
	struct ibsm_probe_order order = choose("mlx5_0/1");
	union ibsm_probe_any_reply reply;

	(void)state;
	order.header.sequence = 0x0807060504030201;
	order.timeout_msec = 0x14131211;
	order.lid = 0x2221;
	order.port_guid = 0x3837363534333231;
	assert_bytes(&order, sizeof(order),
		     "49425350" /* "IBSP" */
		     "0100"
		     "0300"
		     "40000000"
		     "00000000"
		     "0102030405060708"
		     "3132333435363738"
		     "6d6c78355f300000" /* "mlx5_0" */
		     "0000000000000000"
		     "0000000000000000"
		     "2122"
		     "01"
		     "01"
		     "11121314");

	order = make(IBSM_PROBE_SM_INFO, 0x2221, 0);
	order_reply_init(&order, &reply);
	reply.sm_info.result.status = IBSM_PROBE_TIMEOUT;
	reply.sm_info.result.detail = 0x1211;
	reply.sm_info.result.mad_status = 0x3231;
	reply.sm_info.result.error = 110;
	reply.sm_info.result.round_trip_usec = 0x44434241;
	reply.sm_info.guid = 0x0807060504030201;
	reply.sm_info.act_count = 0x54535251;
	reply.sm_info.priority = 15;
	reply.sm_info.state = 3;
	assert_bytes(&reply, sizeof(reply.sm_info),
		     "49425350"
		     "0100"
		     "1180"
		     "40000000"
		     "00000000"
		     "0700000000000000"
		     "0100"
		     "1112"
		     "3132"
		     "2122"
		     "00000000"
		     "6e000000"
		     "41424344"
		     "00000000"
		     "0102030405060708"
		     "51525354"
		     "0f030000");
}

/* Each status and field has words of its own. */
static void test_words(void **state)
{
	(void)state;
	for (unsigned int i = IBSM_PROBE_OK; i <= IBSM_PROBE_PORT_LOST; i++)
		for (unsigned int j = i + 1; j <= IBSM_PROBE_PORT_LOST + 1; j++)
			assert_string_not_equal(ibsm_probe_status_text((uint16_t)i),
						ibsm_probe_status_text((uint16_t)j));
	for (unsigned int i = IBSM_PROBE_FIELD_LENGTH; i <= IBSM_PROBE_FIELD_TIMEOUT; i++)
		for (unsigned int j = i + 1; j <= IBSM_PROBE_FIELD_TIMEOUT + 1; j++)
			assert_string_not_equal(ibsm_probe_field_text((uint16_t)i),
						ibsm_probe_field_text((uint16_t)j));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),	   cmocka_unit_test(test_header),
		cmocka_unit_test(test_types),	   cmocka_unit_test(test_unused_fields),
		cmocka_unit_test(test_choice),	   cmocka_unit_test(test_parse_port),
		cmocka_unit_test(test_reply_head), cmocka_unit_test(test_golden_bytes),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
