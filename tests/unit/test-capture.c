// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Tests of plugin/capture.c: each event as a record, each trap decoded, no secret in any.

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "plugin/capture.h"
#include "tests/host/fake-osm.h"
#include "tests/host/loaded.h"
#include "tests/host/notice.h"
#include "util/cleanup.h"

static const struct capture_time now = {.monotonic_nsec = 111, .realtime_nsec = 222};

static void assert_header(const union ring_record *record, uint16_t type)
{
	assert_int_equal(record->header.magic, IBSM_WIRE_MAGIC);
	assert_int_equal(record->header.version, IBSM_WIRE_VERSION);
	assert_int_equal(record->header.type, type);
	assert_int_equal(record->header.length, ibsm_wire_length(type));
	assert_int_equal(record->header.flags, 0);
	assert_int_equal(record->header.monotonic_nsec, 111);
	assert_int_equal(record->header.realtime_nsec, 222);
}

static void assert_no_secret(const union ring_record *record)
{
	uint64_t host = FAKE_SECRET_KEY, network = cl_hton64(FAKE_SECRET_KEY);

	assert_null(memmem(record, sizeof(*record), &host, sizeof(host)));
	assert_null(memmem(record, sizeof(*record), &network, sizeof(network)));
}

/* Into a slot that holds another record's bytes, as the ring's do. */
static union ring_record capture(osm_opensm_t *osm, osm_epi_event_id_t event, const void *data)
{
	union ring_record record;

	memset(&record, 0xee, sizeof(record));
	capture_event(osm, event, data, &now, &record);
	assert_no_secret(&record);
	return record;
}

/* ---- traps ---- */

static const struct notice everything = {
	.generic = true,
	.type = 1,
	.producer = 2,
	.issuer_lid = 0x0102,
	.toggle_count = 0x8003,
	.lid1 = 0x1112,
	.lid2 = 0x2122,
	.sw_lid = 0x3132,
	.port = 17,
	.gid1 = {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17},
	.gid2 = {0xfe, 0x80, 0, 0, 0, 0, 0, 1, 0x20, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27},
	.guid = 0x4142434445464748,
	.key = 0x51525354,
	.qp1 = 0x616263,
	.qp2 = 0x717273,
	.sl = 9,
	.method = 0x81,
	.attribute = 0x9192,
	.modifier = 0xa1a2a3a4,
	.capability = 0xb1b2b3b4,
	.capability2 = 0xc1c2,
	.change = 0x000f,
};

static struct ibsm_wire_trap decode(osm_opensm_t *osm, uint16_t number)
{
	struct notice notice = everything;
	ib_mad_notice_attr_t raw;
	union ring_record record;

	notice.number = number;
	notice_fill(&notice, &raw);
	assert_int_equal(capture_classify(OSM_EVENT_ID_TRAP, &raw), CAPTURE_CONTROL);
	record = capture(osm, OSM_EVENT_ID_TRAP, &raw);
	assert_header(&record, IBSM_WIRE_TRAP);
	return record.trap;
}

/* What each trap must say; all else must be 0. */
static struct ibsm_wire_trap expect(const struct ibsm_wire_trap *got, uint16_t number,
				    uint32_t fields)
{
	struct ibsm_wire_trap t = {
		.header = got->header,
		.fields = fields,
		.number = number,
		.issuer_lid = 0x0102,
		.toggle_count = 0x8003,
		.is_generic = 1,
		.notice_type = 1,
		.producer = 2,
		.sm_state = IBSM_SM_MASTER,
	};

	return t;
}

static void assert_trap(const struct ibsm_wire_trap *got, const struct ibsm_wire_trap *expected)
{
	assert_memory_equal(got, expected, sizeof(*got));
}

static void set_gids(struct ibsm_wire_trap *t)
{
	t->gid1_prefix = 0xfe80000000000000;
	t->gid1_guid = 0x1011121314151617;
	t->gid2_prefix = 0xfe80000000000001;
	t->gid2_guid = 0x2021222324252627;
}

static void test_traps_64_67(void **state)
{
	for (uint16_t number = 64; number <= 67; number++) {
		struct ibsm_wire_trap got = decode(*state, number);
		struct ibsm_wire_trap t = expect(&got, number, IBSM_TRAP_GID1);

		/* opensm never sets it: the notice has rubbish there. */
		t.toggle_count = 0;
		t.gid1_prefix = 0xfe80000000000000;
		t.gid1_guid = 0x1011121314151617;
		assert_trap(&got, &t);
	}
}

static void test_trap_128(void **state)
{
	struct ibsm_wire_trap got = decode(*state, 128);
	struct ibsm_wire_trap t = expect(&got, 128, IBSM_TRAP_LID1);

	t.lid1 = 0x1112;
	assert_trap(&got, &t);
}

static void test_traps_129_131(void **state)
{
	for (uint16_t number = 129; number <= 131; number++) {
		struct ibsm_wire_trap got = decode(*state, number);
		struct ibsm_wire_trap t = expect(&got, number, IBSM_TRAP_LID1 | IBSM_TRAP_PORT);

		t.lid1 = 0x1112;
		t.port = 17;
		assert_trap(&got, &t);
	}
}

static void test_trap_144(void **state)
{
	struct notice notice = everything;
	struct ibsm_wire_trap got = decode(*state, 144);
	struct ibsm_wire_trap t = expect(&got, 144, IBSM_TRAP_LID1 | IBSM_TRAP_CAPABILITY);
	ib_mad_notice_attr_t raw;
	union ring_record record;

	t.lid1 = 0x1112;
	t.capability_mask = 0xb1b2b3b4;
	t.capability_mask2 = 0xc1c2;
	t.change_flags = 0x000f;
	assert_trap(&got, &t);

	/* OtherLocalChanges 0: the flags do not mean anything. */
	notice.number = 144;
	notice_fill(&notice, &raw);
	raw.data_details.ntc_144.local_changes = 0;
	record = capture(*state, OSM_EVENT_ID_TRAP, &raw);
	assert_int_equal(record.trap.change_flags, 0);
}

static void test_trap_145(void **state)
{
	struct ibsm_wire_trap got = decode(*state, 145);
	struct ibsm_wire_trap t = expect(&got, 145, IBSM_TRAP_LID1 | IBSM_TRAP_GUID);

	t.lid1 = 0x1112;
	t.guid = 0x4142434445464748;
	assert_trap(&got, &t);
}

static void test_trap_256(void **state)
{
	struct ibsm_wire_trap got = decode(*state, 256);
	struct ibsm_wire_trap t =
		expect(&got, 256, IBSM_TRAP_LID1 | IBSM_TRAP_LID2 | IBSM_TRAP_METHOD);

	t.lid1 = 0x1112;
	t.lid2 = 0x2122;
	t.method = 0x81;
	t.attribute_id = 0x9192;
	t.attribute_modifier = 0xa1a2a3a4;
	assert_trap(&got, &t);
}

static void test_traps_257_258(void **state)
{
	for (uint16_t number = 257; number <= 258; number++) {
		struct ibsm_wire_trap got = decode(*state, number);
		struct ibsm_wire_trap t =
			expect(&got, number,
			       IBSM_TRAP_LID1 | IBSM_TRAP_LID2 | IBSM_TRAP_GID1 | IBSM_TRAP_GID2 |
				       IBSM_TRAP_KEY | IBSM_TRAP_QP);

		set_gids(&t);
		t.lid1 = 0x1112;
		t.lid2 = 0x2122;
		t.key = 0x51525354;
		t.sl = 9;
		t.qp1 = 0x616263;
		t.qp2 = 0x717273;
		assert_trap(&got, &t);
	}
}

static void test_trap_259(void **state)
{
	struct ibsm_wire_trap got = decode(*state, 259);
	struct ibsm_wire_trap t =
		expect(&got, 259,
		       IBSM_TRAP_LID1 | IBSM_TRAP_LID2 | IBSM_TRAP_GID1 | IBSM_TRAP_GID2 |
			       IBSM_TRAP_KEY | IBSM_TRAP_QP | IBSM_TRAP_SW_LID | IBSM_TRAP_PORT);

	set_gids(&t);
	t.lid1 = 0x1112;
	t.lid2 = 0x2122;
	t.key = 0x5354;
	t.sl = 9;
	t.qp1 = 0x616263;
	t.qp2 = 0x717273;
	t.sw_lid = 0x3132;
	t.port = 17;
	assert_trap(&got, &t);
}

/* A switch fills in what it knows of the packet. */
static void test_trap_259_sparse(void **state)
{
	struct notice notice = {.generic = true, .number = 259, .sw_lid = 7, .port = 3, .key = 5};
	ib_mad_notice_attr_t raw;
	union ring_record record;

	notice_fill(&notice, &raw);
	record = capture(*state, OSM_EVENT_ID_TRAP, &raw);
	assert_int_equal(record.trap.fields, IBSM_TRAP_SW_LID | IBSM_TRAP_PORT | IBSM_TRAP_KEY);
	assert_int_equal(record.trap.sw_lid, 7);
	assert_int_equal(record.trap.port, 3);
	assert_int_equal(record.trap.key, 5);
}

/* A number that nobody knows says its number and nothing else. */
static void test_trap_unknown(void **state)
{
	struct ibsm_wire_trap got = decode(*state, 1300);
	struct ibsm_wire_trap t = expect(&got, 1300, 0);

	assert_trap(&got, &t);
}

static void test_trap_of_a_vendor(void **state)
{
	struct notice notice = everything;
	ib_mad_notice_attr_t raw;
	union ring_record record;
	struct ibsm_wire_trap t;

	notice.generic = false;
	notice.vendor = 0x0002c9;
	notice.number = 131; /* a device id here, no trap number */
	notice_fill(&notice, &raw);
	record = capture(*state, OSM_EVENT_ID_TRAP, &raw);
	t = expect(&record.trap, 131, 0);
	t.is_generic = 0;
	t.producer = 0;
	t.vendor_id = 0x0002c9;
	assert_trap(&record.trap, &t);
}

/* ---- sweeps ---- */

static void test_sweep_events(void **state)
{
	static const struct {
		osm_epi_event_id_t event;
		uint16_t type;
		osm_epi_ucast_routing_flags_t data;
		uint32_t routing_kind;
	} cases[] = {
		{OSM_EVENT_ID_HEAVY_SWEEP_START, IBSM_WIRE_HEAVY_SWEEP_START, 0, 0},
		{OSM_EVENT_ID_HEAVY_SWEEP_DONE, IBSM_WIRE_HEAVY_SWEEP_DONE, 0, 0},
		{OSM_EVENT_ID_UCAST_ROUTING_DONE, IBSM_WIRE_UCAST_ROUTING_DONE,
		 UCAST_ROUTING_HEAVY_SWEEP, 1},
		{OSM_EVENT_ID_UCAST_ROUTING_DONE, IBSM_WIRE_UCAST_ROUTING_DONE,
		 UCAST_ROUTING_REROUTE, 2},
		{OSM_EVENT_ID_SUBNET_UP, IBSM_WIRE_SUBNET_UP, 0, 0},
		{OSM_EVENT_ID_STATE_CHANGE, IBSM_WIRE_STATE_CHANGE, 0, 0},
		{OSM_EVENT_ID_SA_DB_DUMPED, IBSM_WIRE_SA_DB_DUMPED, 0, 0},
	};
	osm_opensm_t *osm = *state;

	osm->subn.sm_port_guid = cl_hton64(0x1234);
	osm->sm.master_sm_guid = cl_hton64(0x5678);
	osm->stats.qp0_mads_sent = 10;
	osm->stats.qp0_mads_rcvd = 20;
	osm->stats.qp0_mads_outstanding = 30;
	osm->stats.sa_mads_rcvd = 40;
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		const void *data = loaded_routing(cases[i].data);
		union ring_record record;

		assert_int_equal(capture_classify(cases[i].event, data), CAPTURE_CONTROL);
		record = capture(osm, cases[i].event, data);
		assert_header(&record, cases[i].type);
		assert_int_equal(record.sweep.sm_port_guid, 0x1234);
		assert_int_equal(record.sweep.master_sm_guid, 0x5678);
		assert_int_equal(record.sweep.routing_kind, cases[i].routing_kind);
		assert_int_equal(record.sweep.qp0_mads_sent, 10);
		assert_int_equal(record.sweep.qp0_mads_rcvd, 20);
		assert_int_equal(record.sweep.qp0_mads_outstanding, 30);
		assert_int_equal(record.sweep.sa_mads_rcvd, 40);
		assert_int_equal(record.sweep.sm_state, IBSM_SM_MASTER);
		assert_int_equal(record.sweep.engine_known, 0);
		assert_string_equal(record.sweep.routing_engine, "");
	}
}

static void test_sweep_flags(void **state)
{
	osm_opensm_t *osm = *state;
	osm_subn_t *subn = &osm->subn;

	assert_int_equal(capture_sweep_flags(osm), 0);
	subn->first_time_master_sweep = TRUE;
	assert_int_equal(capture_sweep_flags(osm), IBSM_SWEEP_FIRST_TIME_MASTER);
	subn->first_time_master_sweep = FALSE;
	subn->coming_out_of_standby = TRUE;
	assert_int_equal(capture_sweep_flags(osm), IBSM_SWEEP_COMING_OUT_OF_STANDBY);
	subn->coming_out_of_standby = FALSE;
	subn->subnet_initialization_error = TRUE;
	assert_int_equal(capture_sweep_flags(osm), IBSM_SWEEP_INITIALIZATION_ERROR);
	subn->subnet_initialization_error = FALSE;
	subn->force_heavy_sweep = TRUE;
	assert_int_equal(capture_sweep_flags(osm), IBSM_SWEEP_FORCE_HEAVY);
	subn->force_heavy_sweep = FALSE;
	subn->force_reroute = TRUE;
	assert_int_equal(capture_sweep_flags(osm), IBSM_SWEEP_FORCE_REROUTE);
	subn->force_reroute = FALSE;
	subn->ignore_existing_lfts = TRUE;
	assert_int_equal(capture_sweep_flags(osm), IBSM_SWEEP_IGNORE_EXISTING_LFTS);
	subn->ignore_existing_lfts = FALSE;
	subn->opt.force_heavy_sweep = TRUE;
	assert_int_equal(capture_sweep_flags(osm), IBSM_SWEEP_OPT_FORCE_HEAVY);
	subn->opt.force_heavy_sweep = FALSE;
	subn->need_update = 1;
	assert_int_equal(capture_sweep_flags(osm), IBSM_SWEEP_NEED_UPDATE);
	subn->need_update = 0;
	subn->sweeping_enabled = FALSE;
	assert_int_equal(capture_sweep_flags(osm), IBSM_SWEEP_SWEEPING_DISABLED);
	subn->sweeping_enabled = TRUE;
	osm->sm.master_sm_found = 1;
	assert_int_equal(capture_sweep_flags(osm), IBSM_SWEEP_MASTER_SM_FOUND);
	osm->sm.master_sm_found = 0;
}

static void test_engine_name(void **state)
{
	osm_opensm_t *osm = *state;
	union ring_record record;

	fake_osm_add_engine(osm, "ftree", true);
	record = capture(osm, OSM_EVENT_ID_SUBNET_UP, NULL);
	assert_int_equal(record.sweep.engine_known, 1);
	assert_string_equal(record.sweep.routing_engine, "ftree");

	/* An external engine's name may be of any length. */
	fake_osm_add_engine(osm, "an-engine-of-somebody-else-s-with-a-very-long-name", true);
	record = capture(osm, OSM_EVENT_ID_SUBNET_UP, NULL);
	assert_string_equal(record.sweep.routing_engine, "an-engine-of-somebody-else-s-wi");
	osm->routing_engine_used = NULL;
}

static void test_sm_state(void **state)
{
	osm_opensm_t *osm = *state;
	union ring_record record;

	osm->subn.sm_port_guid = cl_hton64(0x1234);
	osm->sm.master_sm_guid = cl_hton64(0x5678);
	memset(&record, 0xee, sizeof(record));
	capture_sm_state(osm, IBSM_SM_STANDBY, IBSM_SM_MASTER, &now, &record);
	assert_header(&record, IBSM_WIRE_SM_STATE);
	assert_int_equal(record.sm_state.sm_port_guid, 0x1234);
	assert_int_equal(record.sm_state.master_sm_guid, 0x5678);
	assert_int_equal(record.sm_state.old_state, IBSM_SM_STANDBY);
	assert_int_equal(record.sm_state.new_state, IBSM_SM_MASTER);
}

/* ---- LFT changes ---- */

static void test_lft_block(void **state)
{
	osm_opensm_t *osm = *state;
	osm_switch_t *sw = fake_osm_add_switch(osm, 0xabc, 4, "sw");
	osm_epi_lft_change_event_t event = {.p_sw = sw, .flags = LFT_CHANGED_BLOCK, .block_num = 1};
	union ring_record record;

	fake_osm_give_lid(osm, sw->p_node, 0, 77);
	fake_osm_give_lfts(sw, 128, 3);
	for (int i = 0; i < 64; i++)
		sw->lft[64 + i] = (uint8_t)i;
	assert_int_equal(capture_classify(OSM_EVENT_ID_LFT_CHANGE, &event), CAPTURE_BULK);
	record = capture(osm, OSM_EVENT_ID_LFT_CHANGE, &event);
	assert_header(&record, IBSM_WIRE_LFT_CHANGE);
	assert_int_equal(record.lft_change.node_guid, 0xabc);
	assert_int_equal(record.lft_change.lid, 77);
	assert_int_equal(record.lft_change.change, IBSM_LFT_CHANGED_BLOCK);
	assert_int_equal(record.lft_change.block, 1);
	assert_int_equal(record.lft_change.sm_state, IBSM_SM_MASTER);
	assert_memory_equal(record.lft_change.ports, sw->lft + 64, 64);
}

static void test_lft_top(void **state)
{
	osm_opensm_t *osm = *state;
	osm_switch_t *sw = fake_osm_add_switch(osm, 0xabd, 4, "sw");
	osm_epi_lft_change_event_t event = {
		.p_sw = sw, .flags = LFT_CHANGED_LFT_TOP, .lft_top = 0x1234};
	union ring_record record = capture(osm, OSM_EVENT_ID_LFT_CHANGE, &event);

	assert_int_equal(record.lft_change.change, IBSM_LFT_CHANGED_TOP);
	assert_int_equal(record.lft_change.lft_top, 0x1234);
	for (int i = 0; i < 64; i++)
		assert_int_equal(record.lft_change.ports[i], 255);
}

/* Nothing past the table is read, whatever the event says. */
static void test_lft_bounds(void **state)
{
	osm_opensm_t *osm = *state;
	osm_switch_t *sw = fake_osm_add_switch(osm, 0xabe, 4, "sw");
	osm_epi_lft_change_event_t event = {.p_sw = sw, .flags = LFT_CHANGED_BLOCK, .block_num = 2};
	union ring_record record;

	fake_osm_give_lfts(sw, 128, 3);
	record = capture(osm, OSM_EVENT_ID_LFT_CHANGE, &event);
	assert_int_equal(record.lft_change.ports[0], 255);
	event.block_num = UINT32_MAX;
	record = capture(osm, OSM_EVENT_ID_LFT_CHANGE, &event);
	assert_int_equal(record.lft_change.ports[0], 255);
	assert_int_equal(record.lft_change.block, UINT32_MAX);

	sw->lft_size = 100; /* a table that ends within the block */
	event.block_num = 1;
	record = capture(osm, OSM_EVENT_ID_LFT_CHANGE, &event);
	assert_int_equal(record.lft_change.ports[35], 3);
	assert_int_equal(record.lft_change.ports[36], 255);

	free(sw->lft);
	sw->lft = NULL;
	event.block_num = 0;
	record = capture(osm, OSM_EVENT_ID_LFT_CHANGE, &event);
	assert_int_equal(record.lft_change.ports[0], 255);
	event.p_sw = NULL;
	record = capture(osm, OSM_EVENT_ID_LFT_CHANGE, &event);
	assert_int_equal(record.lft_change.node_guid, 0);
}

/* ---- counters ---- */

static void test_port_errors(void **state)
{
	osm_epi_pe_event_t event = {.time_diff_s = 180};
	uint64_t *counters = &event.symbol_err_cnt;
	union ring_record record;

	osm_epi_create_port_id(&event.port_id, 0x0002c90300001234, 5, (char *)"a node");
	assert_int_equal(capture_classify(OSM_EVENT_ID_PORT_ERRORS, &event), CAPTURE_ZERO);
	for (size_t i = 0; i < 13; i++) {
		counters[i] = 1;
		assert_int_equal(capture_classify(OSM_EVENT_ID_PORT_ERRORS, &event), CAPTURE_BULK);
		counters[i] = 0;
	}
	for (size_t i = 0; i < 13; i++)
		counters[i] = 100 + i;
	record = capture(*state, OSM_EVENT_ID_PORT_ERRORS, &event);
	assert_header(&record, IBSM_WIRE_PORT_ERRORS);
	assert_int_equal(record.port_errors.node_guid, 0x0002c90300001234);
	assert_int_equal(record.port_errors.port, 5);
	assert_int_equal(record.port_errors.time_diff_sec, 180);
	assert_int_equal(record.port_errors.symbol_err_cnt, 100);
	assert_int_equal(record.port_errors.link_err_recover, 101);
	assert_int_equal(record.port_errors.link_downed, 102);
	assert_int_equal(record.port_errors.rcv_err, 103);
	assert_int_equal(record.port_errors.rcv_rem_phys_err, 104);
	assert_int_equal(record.port_errors.rcv_switch_relay_err, 105);
	assert_int_equal(record.port_errors.xmit_discards, 106);
	assert_int_equal(record.port_errors.xmit_constraint_err, 107);
	assert_int_equal(record.port_errors.rcv_constraint_err, 108);
	assert_int_equal(record.port_errors.link_integrity, 109);
	assert_int_equal(record.port_errors.buffer_overrun, 110);
	assert_int_equal(record.port_errors.vl15_dropped, 111);
	assert_int_equal(record.port_errors.xmit_wait, 112);
}

static void test_port_data(void **state)
{
	osm_epi_dc_event_t event = {.time_diff_s = 181};
	uint64_t *counters = &event.xmit_data;
	union ring_record record;

	osm_epi_create_port_id(&event.port_id, 0x0002c90300001235, 6, (char *)"a node");
	assert_int_equal(capture_classify(OSM_EVENT_ID_PORT_DATA_COUNTERS, &event), CAPTURE_ZERO);
	for (size_t i = 0; i < 8; i++) {
		counters[i] = 1;
		assert_int_equal(capture_classify(OSM_EVENT_ID_PORT_DATA_COUNTERS, &event),
				 CAPTURE_BULK);
		counters[i] = 0;
	}
	for (size_t i = 0; i < 8; i++)
		counters[i] = 200 + i;
	record = capture(*state, OSM_EVENT_ID_PORT_DATA_COUNTERS, &event);
	assert_header(&record, IBSM_WIRE_PORT_DATA_COUNTERS);
	assert_int_equal(record.port_data.node_guid, 0x0002c90300001235);
	assert_int_equal(record.port_data.port, 6);
	assert_int_equal(record.port_data.time_diff_sec, 181);
	assert_int_equal(record.port_data.xmit_data, 200);
	assert_int_equal(record.port_data.rcv_data, 201);
	assert_int_equal(record.port_data.xmit_pkts, 202);
	assert_int_equal(record.port_data.rcv_pkts, 203);
	assert_int_equal(record.port_data.unicast_xmit_pkts, 204);
	assert_int_equal(record.port_data.unicast_rcv_pkts, 205);
	assert_int_equal(record.port_data.multicast_xmit_pkts, 206);
	assert_int_equal(record.port_data.multicast_rcv_pkts, 207);
}

static void test_port_select(void **state)
{
	osm_epi_ps_event_t event = {.time_diff_s = 182};
	union ring_record record;

	osm_epi_create_port_id(&event.port_id, 0x0002c90300001236, 7, (char *)"a node");
	assert_int_equal(capture_classify(OSM_EVENT_ID_PORT_SELECT, &event), CAPTURE_ZERO);
	event.xmit_wait = 300;
	assert_int_equal(capture_classify(OSM_EVENT_ID_PORT_SELECT, &event), CAPTURE_BULK);
	record = capture(*state, OSM_EVENT_ID_PORT_SELECT, &event);
	assert_header(&record, IBSM_WIRE_PORT_SELECT);
	assert_int_equal(record.port_select.node_guid, 0x0002c90300001236);
	assert_int_equal(record.port_select.port, 7);
	assert_int_equal(record.port_select.time_diff_sec, 182);
	assert_int_equal(record.port_select.xmit_wait, 300);
}

static void test_unknown_events(void **state)
{
	static const osm_epi_event_id_t with_data[] = {
		OSM_EVENT_ID_TRAP, OSM_EVENT_ID_LFT_CHANGE, OSM_EVENT_ID_PORT_ERRORS,
		OSM_EVENT_ID_PORT_DATA_COUNTERS, OSM_EVENT_ID_PORT_SELECT};

	(void)state;
	assert_int_equal(capture_classify(OSM_EVENT_ID_MAX, NULL), CAPTURE_UNKNOWN);
	assert_int_equal(capture_classify((osm_epi_event_id_t)999, NULL), CAPTURE_UNKNOWN);
	for (size_t i = 0; i < ELEMENTSOF(with_data); i++)
		assert_int_equal(capture_classify(with_data[i], NULL), CAPTURE_UNKNOWN);
}

static int set_up(void **state)
{
	osm_opensm_t *osm = fake_osm_new(NULL);

	osm->subn.sm_state = IB_SMINFO_STATE_MASTER;
	*state = osm;
	return 0;
}

static int tear_down(void **state)
{
	*state = fake_osm_free(*state);
	return 0;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_traps_64_67),	   TEST(test_trap_128),		TEST(test_traps_129_131),
		TEST(test_trap_144),	   TEST(test_trap_145),		TEST(test_trap_256),
		TEST(test_traps_257_258),  TEST(test_trap_259),		TEST(test_trap_259_sparse),
		TEST(test_trap_unknown),   TEST(test_trap_of_a_vendor), TEST(test_sweep_events),
		TEST(test_sweep_flags),	   TEST(test_engine_name),	TEST(test_sm_state),
		TEST(test_lft_block),	   TEST(test_lft_top),		TEST(test_lft_bounds),
		TEST(test_port_errors),	   TEST(test_port_data),	TEST(test_port_select),
		TEST(test_unknown_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
