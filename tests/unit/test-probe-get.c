// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The bytes of each Get, the gate before the wire, what answers say, and that no key survives.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <infiniband/umad.h>
#include <infiniband/umad_sm.h>
#include <infiniband/umad_types.h>

#include "probe/get.h"
#include "util/cleanup.h"

/* Written down here from IBTA's tables, not taken from the code under test. */
static const struct {
	uint16_t type;
	uint8_t class;
	uint16_t attribute;
} wire[] = {
	{IBSM_PROBE_LOCAL, 0x81, 0x15},	       {IBSM_PROBE_SM_INFO, 0x01, 0x20},
	{IBSM_PROBE_NODE_INFO, 0x01, 0x11},    {IBSM_PROBE_NODE_DESC, 0x01, 0x10},
	{IBSM_PROBE_PORT_INFO, 0x01, 0x15},    {IBSM_PROBE_COUNTERS, 0x04, 0x12},
	{IBSM_PROBE_COUNTERS_EXT, 0x04, 0x1d},
};

static struct ibsm_probe_order make(uint16_t type)
{
	struct ibsm_probe_order order;
	const bool lid = type != IBSM_PROBE_LOCAL;
	const bool port = type == IBSM_PROBE_PORT_INFO || type >= IBSM_PROBE_COUNTERS;

	ibsm_probe_order_init(&order, type, 1);
	order.lid = lid ? 0x1234 : 0;
	order.port = port ? 0x56 : 0;
	return order;
}

static uint8_t *mad_of(union get_buffer *buffer)
{
	return umad_get_mad(buffer);
}

static void test_build(void **state)
{
	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(wire); i++) {
		const struct ibsm_probe_order order = make(wire[i].type);
		const bool smp = wire[i].class != 0x04;
		union get_buffer buffer;
		uint8_t *mad, expected[GET_MAD_BYTES] = {};
		const ib_mad_addr_t *to;

		memset(&buffer, 0xff, sizeof(buffer));
		get_build(&order, 0xa1b2c3d4, &buffer);
		mad = mad_of(&buffer);
		to = umad_get_mad_addr(&buffer);

		expected[0] = 1; /* base version */
		expected[1] = wire[i].class;
		expected[2] = 1; /* class version */
		expected[3] = 1; /* Get */
		memcpy(expected + 12, (const uint8_t[]){0xa1, 0xb2, 0xc3, 0xd4}, 4);
		expected[16] = (uint8_t)(wire[i].attribute >> 8);
		expected[17] = (uint8_t)wire[i].attribute;
		if (wire[i].class == 0x81)
			memset(expected + 32, 0xff, 4); /* DrSLID, DrDLID: permissive */
		if (wire[i].type == IBSM_PROBE_PORT_INFO)
			expected[23] = 0x56; /* attribute modifier */
		if (!smp)
			expected[64 + 1] = 0x56; /* PortSelect */
		assert_memory_equal(mad, expected, sizeof(expected));

		assert_int_equal(be16toh(to->lid), smp && order.lid == 0 ? 0xffff : order.lid);
		assert_int_equal(be32toh(to->qpn), smp ? 0 : 1);
		assert_int_equal(be32toh(to->qkey), smp ? 0 : UMAD_QKEY);
		assert_int_equal(to->sl, 0);
		assert_int_equal(to->grh_present, 0);
		assert_int_equal(get_class(wire[i].type), wire[i].class);
		assert_int_equal(get_tid(&buffer), 0xa1b2c3d4);
		assert_true(get_may_be_sent(&buffer));
	}
}

/* Of all methods, classes and attributes, the seven pass the gate and nothing else does. */
static void test_gate(void **state)
{
	const struct ibsm_probe_order order = make(IBSM_PROBE_SM_INFO);
	union get_buffer buffer;
	unsigned int passed = 0;
	uint8_t *mad;

	(void)state;
	get_build(&order, 1, &buffer);
	mad = mad_of(&buffer);
	for (unsigned int method = 0; method < 256; method++) {
		mad[3] = (uint8_t)method;
		assert_int_equal(get_may_be_sent(&buffer), method == 1);
	}
	mad[3] = 1;
	for (unsigned int class = 0; class < 256; class ++) {
		for (unsigned int attribute = 0; attribute <= 0xffff; attribute++) {
			bool may = false;

			mad[1] = (uint8_t) class;
			mad[16] = (uint8_t)(attribute >> 8);
			mad[17] = (uint8_t)attribute;
			if (!get_may_be_sent(&buffer))
				continue;
			for (size_t i = 0; i < ELEMENTSOF(wire); i++)
				may = may ||
				      (wire[i].class == class && wire[i].attribute == attribute);
			assert_true(may);
			passed++;
		}
	}
	assert_int_equal(passed, ELEMENTSOF(wire));
	get_build(&order, 1, &buffer);
	mad[0] = 2;
	assert_false(get_may_be_sent(&buffer));
}

/* An answer to @type whose 256 bytes after the header are @fill, counted up if @fill is 1. */
static void answer(uint16_t type, int fill, union get_buffer *buffer)
{
	const struct ibsm_probe_order order = make(type);
	uint8_t *mad;

	get_build(&order, 7, buffer);
	mad = mad_of(buffer);
	mad[3] = 0x81;
	for (int i = 64; i < GET_MAD_BYTES; i++)
		mad[i] = fill == 1 ? (uint8_t)(i - 64) : (uint8_t)fill;
	if (mad[1] == 0x81) /* the direction bit of an answer */
		mad[4] = 0x80;
}

static void decode(uint16_t type, union get_buffer *buffer, union ibsm_probe_any_reply *reply)
{
	memset(reply, 0, sizeof(*reply));
	get_wipe_keys(buffer);
	get_decode(type, buffer, GET_MAD_BYTES, reply);
}

static void test_sm_info(void **state)
{
	union ibsm_probe_any_reply reply;
	union get_buffer buffer;

	(void)state;
	answer(IBSM_PROBE_SM_INFO, 1, &buffer);
	mad_of(&buffer)[64 + 20] = 0xe3; /* priority and state */
	decode(IBSM_PROBE_SM_INFO, &buffer, &reply);
	assert_int_equal(reply.head.result.status, IBSM_PROBE_OK);
	assert_true(reply.sm_info.guid == 0x0001020304050607);
	assert_int_equal(reply.sm_info.act_count, 0x10111213);
	assert_int_equal(reply.sm_info.priority, 14);
	assert_int_equal(reply.sm_info.state, 3);
}

static void test_port_info(void **state)
{
	static const uint16_t types[] = {IBSM_PROBE_LOCAL, IBSM_PROBE_PORT_INFO};
	union ibsm_probe_any_reply reply;
	union get_buffer buffer;

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(types); i++) {
		answer(types[i], 1, &buffer);
		decode(types[i], &buffer, &reply);
		assert_int_equal(reply.head.result.status, IBSM_PROBE_OK);
		assert_int_equal(reply.head.result.mad_status, 0);
		assert_int_equal(reply.port_info.source, IBSM_PROBE_SOURCE_MAD);
		assert_true(reply.port_info.gid_prefix == 0x08090a0b0c0d0e0f);
		assert_int_equal(reply.port_info.lid, 0x1011);
		assert_int_equal(reply.port_info.sm_lid, 0x1213);
		assert_int_equal(reply.port_info.capability_mask, 0x14151617);
		assert_int_equal(reply.port_info.local_port, 0x1c);
		assert_int_equal(reply.port_info.width_enabled, 0x1d);
		assert_int_equal(reply.port_info.width_supported, 0x1e);
		assert_int_equal(reply.port_info.width_active, 0x1f);
		assert_int_equal(reply.port_info.speed_supported, 2); /* 0x20 */
		assert_int_equal(reply.port_info.state, 0);
		assert_int_equal(reply.port_info.physical_state, 2); /* 0x21 */
		assert_int_equal(reply.port_info.lmc, 2);	     /* 0x22 */
		assert_int_equal(reply.port_info.speed_active, 2);   /* 0x23 */
		assert_int_equal(reply.port_info.speed_enabled, 3);
		assert_int_equal(reply.port_info.mtu_active, 2); /* 0x24 */
		assert_int_equal(reply.port_info.sm_sl, 4);
		assert_int_equal(reply.port_info.m_key_violations, 0x2c2d);
		assert_int_equal(reply.port_info.p_key_violations, 0x2e2f);
		assert_int_equal(reply.port_info.q_key_violations, 0x3031);
	}
}

static void test_node(void **state)
{
	union ibsm_probe_any_reply reply;
	union get_buffer buffer;

	(void)state;
	answer(IBSM_PROBE_NODE_INFO, 1, &buffer);
	decode(IBSM_PROBE_NODE_INFO, &buffer, &reply);
	assert_int_equal(reply.head.result.status, IBSM_PROBE_OK);
	assert_int_equal(reply.node_info.base_version, 0);
	assert_int_equal(reply.node_info.class_version, 1);
	assert_int_equal(reply.node_info.node_type, 2);
	assert_int_equal(reply.node_info.ports, 3);
	assert_true(reply.node_info.system_image_guid == 0x0405060708090a0b);
	assert_true(reply.node_info.node_guid == 0x0c0d0e0f10111213);
	assert_true(reply.node_info.port_guid == 0x1415161718191a1b);
	assert_int_equal(reply.node_info.partition_cap, 0x1c1d);
	assert_int_equal(reply.node_info.device_id, 0x1e1f);
	assert_int_equal(reply.node_info.revision, 0x20212223);
	assert_int_equal(reply.node_info.local_port, 0x24);
	assert_int_equal(reply.node_info.vendor_id, 0x252627);

	answer(IBSM_PROBE_NODE_DESC, 'x', &buffer);
	decode(IBSM_PROBE_NODE_DESC, &buffer, &reply);
	assert_int_equal(reply.head.result.status, IBSM_PROBE_OK);
	for (size_t i = 0; i < sizeof(reply.node_desc.description); i++)
		assert_int_equal(reply.node_desc.description[i], 'x');
}

static void test_counters(void **state)
{
	union ibsm_probe_any_reply reply;
	union get_buffer buffer;

	(void)state;
	answer(IBSM_PROBE_COUNTERS, 1, &buffer);
	decode(IBSM_PROBE_COUNTERS, &buffer, &reply);
	assert_int_equal(reply.head.result.status, IBSM_PROBE_OK);
	assert_int_equal(reply.counters.port, 1);
	assert_int_equal(reply.counters.symbol_errors, 0x0405);
	assert_int_equal(reply.counters.link_recovers, 6);
	assert_int_equal(reply.counters.link_downed, 7);
	assert_int_equal(reply.counters.receive_errors, 0x0809);
	assert_int_equal(reply.counters.receive_remote_physical_errors, 0x0a0b);
	assert_int_equal(reply.counters.receive_switch_relay_errors, 0x0c0d);
	assert_int_equal(reply.counters.transmit_discards, 0x0e0f);
	assert_int_equal(reply.counters.transmit_constraint_errors, 0x10);
	assert_int_equal(reply.counters.receive_constraint_errors, 0x11);
	assert_int_equal(reply.counters.local_link_integrity_errors, 1); /* 0x13 */
	assert_int_equal(reply.counters.excessive_buffer_overruns, 3);
	assert_int_equal(reply.counters.vl15_dropped, 0x1617);
	assert_int_equal(reply.counters.transmit_data, 0x18191a1b);
	assert_int_equal(reply.counters.receive_data, 0x1c1d1e1f);
	assert_int_equal(reply.counters.transmit_packets, 0x20212223);
	assert_int_equal(reply.counters.receive_packets, 0x24252627);
	assert_int_equal(reply.counters.transmit_wait, 0x28292a2b);

	answer(IBSM_PROBE_COUNTERS_EXT, 1, &buffer);
	decode(IBSM_PROBE_COUNTERS_EXT, &buffer, &reply);
	assert_int_equal(reply.head.result.status, IBSM_PROBE_OK);
	assert_int_equal(reply.counters_ext.port, 1);
	assert_true(reply.counters_ext.transmit_data == 0x08090a0b0c0d0e0f);
	assert_true(reply.counters_ext.receive_data == 0x1011121314151617);
	assert_true(reply.counters_ext.transmit_packets == 0x18191a1b1c1d1e1f);
	assert_true(reply.counters_ext.receive_packets == 0x2021222324252627);
	assert_true(reply.counters_ext.unicast_transmit_packets == 0x28292a2b2c2d2e2f);
	assert_true(reply.counters_ext.unicast_receive_packets == 0x3031323334353637);
	assert_true(reply.counters_ext.multicast_transmit_packets == 0x38393a3b3c3d3e3f);
	assert_true(reply.counters_ext.multicast_receive_packets == 0x4041424344454647);
}

/* Whatever else an answer says, its keys are gone from the buffer, and other bytes are not. */
static void test_keys(void **state)
{
	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(wire); i++) {
		union get_buffer buffer;
		uint8_t *mad;
		size_t key = 0;

		answer(wire[i].type, 0xaa, &buffer);
		mad = mad_of(&buffer);
		memset(mad + 24, 0xaa, 8); /* the SMP's own M_Key; for PMA something else */
		mad[5] = 0x1c;		   /* a refusal gives nothing away either */
		get_wipe_keys(&buffer);

		for (int j = 24; j < 32; j++)
			assert_int_equal(mad[j], wire[i].class == 0x04 ? 0xaa : 0);
		if (wire[i].attribute == 0x20)
			key = 64 + 8;
		if (wire[i].attribute == 0x15)
			key = 64;
		for (size_t j = 64; j < 128; j++)
			assert_int_equal(mad[j], key != 0 && j >= key && j < key + 8 ? 0 : 0xaa);
	}
}

static void test_refusals(void **state)
{
	union ibsm_probe_any_reply reply, empty;
	union get_buffer buffer;

	(void)state;
	memset(&empty, 0, sizeof(empty));
	for (size_t i = 0; i < ELEMENTSOF(wire); i++) {
		const uint16_t type = wire[i].type;
		/* Each byte of the header that makes it an answer to something else. */
		static const uint8_t bytes[] = {0, 1, 3, 16, 17};

		for (size_t j = 0; j < ELEMENTSOF(bytes); j++) {
			answer(type, 0xaa, &buffer);
			mad_of(&buffer)[bytes[j]] ^= 0x40;
			decode(type, &buffer, &reply);
			assert_int_equal(reply.head.result.status, IBSM_PROBE_BAD_ANSWER);
			reply.head = empty.head;
			assert_memory_equal(&reply, &empty, sizeof(reply));
		}
		answer(type, 0xaa, &buffer);
		memset(&reply, 0, sizeof(reply));
		get_decode(type, &buffer, GET_MAD_BYTES - 1, &reply);
		assert_int_equal(reply.head.result.status, IBSM_PROBE_BAD_ANSWER);

		answer(type, 0xaa, &buffer);
		mad_of(&buffer)[5] = 0x0c;
		decode(type, &buffer, &reply);
		assert_int_equal(reply.head.result.status, IBSM_PROBE_MAD_STATUS);
		assert_int_equal(reply.head.result.mad_status, 0x000c);
		reply.head = empty.head;
		assert_memory_equal(&reply, &empty, sizeof(reply));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_build),	cmocka_unit_test(test_gate),
		cmocka_unit_test(test_sm_info), cmocka_unit_test(test_port_info),
		cmocka_unit_test(test_node),	cmocka_unit_test(test_counters),
		cmocka_unit_test(test_keys),	cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
