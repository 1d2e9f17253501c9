// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Golden bytes of the wire records and of the snapshot's rows: a change here is a new version.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <ibsm/snapshot.h>
#include <ibsm/wire.h>

/* Each byte of a pattern differs from its neighbours, so a field moved by one byte shows. */
#define P16 0x0201
#define P32 0x04030201
#define P64 0x0807060504030201

#define HEADER(t)                                                                                  \
	.header = {                                                                                \
		.magic = IBSM_WIRE_MAGIC,                                                          \
		.version = IBSM_WIRE_VERSION,                                                      \
		.type = (t),                                                                       \
		.length = ibsm_wire_length(t),                                                     \
		.flags = 0x44332211,                                                               \
		.sequence = P64,                                                                   \
		.monotonic_nsec = 0x1817161514131211,                                              \
		.realtime_nsec = 0x2827262524232221,                                               \
	}

/* The 40 bytes that begin each record: `type` and `length` as little-endian hex. */
#define HEADER_HEX(type, length)                                                                   \
	"4942534d" /* "IBSM" */                                                                    \
	"0100" type length "11223344"                                                              \
	"0102030405060708"                                                                         \
	"1112131415161718"                                                                         \
	"2122232425262728"

static void assert_bytes(const void *record, size_t length, const char *hex)
{
	const uint8_t *bytes = record;

	assert_int_equal(strlen(hex), 2 * length);
	for (size_t i = 0; i < length; i++) {
		static const char digits[] = "0123456789abcdef";
		const char is[3] = {digits[bytes[i] >> 4], digits[bytes[i] & 15], 0};
		const char want[3] = {hex[2 * i], hex[2 * i + 1], 0};

		if (strcmp(is, want) != 0)
			fail_msg("byte %zu of %zu is %s, golden is %s", i, length, is, want);
	}
}

static void test_sm_state(void **state)
{
	const struct ibsm_wire_sm_state r = {
		HEADER(IBSM_WIRE_SM_STATE),	      .sm_port_guid = P64,
		.master_sm_guid = 0x5857565554535251, .old_state = IBSM_SM_STANDBY,
		.new_state = IBSM_SM_MASTER,
	};

	(void)state;
	assert_bytes(&r, sizeof(r),
		     HEADER_HEX("0500", "40000000") "0102030405060708"
						    "5152535455565758"
						    "0203"
						    "000000000000");
}

static void test_snapshot(void **state)
{
	const struct ibsm_wire_snapshot r = {
		HEADER(IBSM_WIRE_SNAPSHOT),	  .generation = P64,
		.size_bytes = 0x3837363534333231, .lock_nsec = 0x4847464544434241,
		.reason = IBSM_SNAPSHOT_REROUTE,  .full = 1,
	};

	(void)state;
	assert_bytes(&r, sizeof(r),
		     HEADER_HEX("0400", "48000000") "0102030405060708"
						    "3132333435363738"
						    "4142434445464748"
						    "02000000"
						    "01000000");
}

static void test_sweep(void **state)
{
	const struct ibsm_wire_sweep r = {
		HEADER(IBSM_WIRE_SUBNET_UP),
		.sm_port_guid = P64,
		.master_sm_guid = 0x3837363534333231,
		.sweep_flags = IBSM_SWEEP_FIRST_TIME_MASTER | IBSM_SWEEP_MASTER_SM_FOUND,
		.routing_kind = 2,
		.qp0_mads_sent = P32,
		.qp0_mads_rcvd = 0x14131211,
		.qp0_mads_outstanding = 0x24232221,
		.sa_mads_rcvd = 0x34333231,
		.sm_state = IBSM_SM_MASTER,
		.engine_known = 1,
		.routing_engine = "minhop",
	};

	(void)state;
	assert_bytes(&r, sizeof(r),
		     HEADER_HEX("1300", "78000000") "0102030405060708"
						    "3132333435363738"
						    "01020000"
						    "02000000"
						    "01020304"
						    "11121314"
						    "21222324"
						    "31323334"
						    "0301"
						    "000000000000"
						    "6d696e686f700000"
						    "0000000000000000"
						    "0000000000000000"
						    "0000000000000000");
}

static void test_trap(void **state)
{
	const struct ibsm_wire_trap r = {
		HEADER(IBSM_WIRE_TRAP),
		.gid1_prefix = 0xfe80000000000000,
		.gid1_guid = P64,
		.gid2_prefix = 0x1817161514131211,
		.gid2_guid = 0x2827262524232221,
		.guid = 0x3837363534333231,
		.fields = IBSM_TRAP_LID1 | IBSM_TRAP_SW_LID,
		.capability_mask = P32,
		.key = 0x14131211,
		.qp1 = 0x24232221,
		.qp2 = 0x34333231,
		.vendor_id = 0x44434241,
		.attribute_modifier = 0x54535251,
		.number = 128,
		.issuer_lid = 0xbfff,
		.lid1 = P16,
		.lid2 = 0x1211,
		.sw_lid = 0x2221,
		.change_flags = IBSM_TRAP_CHANGE_SM_PRIORITY,
		.capability_mask2 = 0x3231,
		.attribute_id = 0x4241,
		.toggle_count = 0x5251,
		.is_generic = 1,
		.notice_type = 1,
		.producer = 2,
		.port = 254,
		.method = 0x81,
		.sm_state = IBSM_SM_MASTER,
		.sl = 15,
	};

	(void)state;
	assert_bytes(&r, sizeof(r),
		     HEADER_HEX("1600", "88000000") "00000000000080fe"
						    "0102030405060708"
						    "1112131415161718"
						    "2122232425262728"
						    "3132333435363738"
						    "01040000"
						    "01020304"
						    "11121314"
						    "21222324"
						    "31323334"
						    "41424344"
						    "51525354"
						    "8000"
						    "ffbf"
						    "0102"
						    "1112"
						    "2122"
						    "0800"
						    "3132"
						    "4142"
						    "5152"
						    "010102fe81030f"
						    "000000");
}

static void test_lft_change(void **state)
{
	struct ibsm_wire_lft_change r = {
		HEADER(IBSM_WIRE_LFT_CHANGE),
		.node_guid = P64,
		.change = IBSM_LFT_CHANGED_BLOCK,
		.block = 767,
		.lft_top = 0xbfff,
		.lid = P16,
		.sm_state = IBSM_SM_MASTER,
	};

	(void)state;
	for (unsigned i = 0; i < IBSM_LFT_BLOCK_LIDS; i++)
		r.ports[i] = (uint8_t)i;
	assert_bytes(&r, sizeof(r),
		     HEADER_HEX("2000", "80000000") "0102030405060708"
						    "02000000"
						    "ff020000"
						    "ffbf"
						    "0102"
						    "03"
						    "000000"
						    "000102030405060708090a0b0c0d0e0f"
						    "101112131415161718191a1b1c1d1e1f"
						    "202122232425262728292a2b2c2d2e2f"
						    "303132333435363738393a3b3c3d3e3f");
}

static void test_port_errors(void **state)
{
	const struct ibsm_wire_port_errors r = {
		HEADER(IBSM_WIRE_PORT_ERRORS),
		.node_guid = P64,
		.time_diff_sec = 0x11,
		.symbol_err_cnt = 0x12,
		.link_err_recover = 0x13,
		.link_downed = 0x14,
		.rcv_err = 0x15,
		.rcv_rem_phys_err = 0x16,
		.rcv_switch_relay_err = 0x17,
		.xmit_discards = 0x18,
		.xmit_constraint_err = 0x19,
		.rcv_constraint_err = 0x1a,
		.link_integrity = 0x1b,
		.buffer_overrun = 0x1c,
		.vl15_dropped = 0x1d,
		.xmit_wait = 0x1e,
		.port = 36,
	};

	(void)state;
	assert_bytes(&r, sizeof(r),
		     HEADER_HEX("2100", "a8000000") "0102030405060708"
						    "1100000000000000"
						    "1200000000000000"
						    "1300000000000000"
						    "1400000000000000"
						    "1500000000000000"
						    "1600000000000000"
						    "1700000000000000"
						    "1800000000000000"
						    "1900000000000000"
						    "1a00000000000000"
						    "1b00000000000000"
						    "1c00000000000000"
						    "1d00000000000000"
						    "1e00000000000000"
						    "2400000000000000");
}

static void test_port_data(void **state)
{
	const struct ibsm_wire_port_data r = {
		HEADER(IBSM_WIRE_PORT_DATA_COUNTERS),
		.node_guid = P64,
		.time_diff_sec = 0x11,
		.xmit_data = 0x12,
		.rcv_data = 0x13,
		.xmit_pkts = 0x14,
		.rcv_pkts = 0x15,
		.unicast_xmit_pkts = 0x16,
		.unicast_rcv_pkts = 0x17,
		.multicast_xmit_pkts = 0x18,
		.multicast_rcv_pkts = 0x19,
		.port = 1,
	};

	(void)state;
	assert_bytes(&r, sizeof(r),
		     HEADER_HEX("2200", "80000000") "0102030405060708"
						    "1100000000000000"
						    "1200000000000000"
						    "1300000000000000"
						    "1400000000000000"
						    "1500000000000000"
						    "1600000000000000"
						    "1700000000000000"
						    "1800000000000000"
						    "1900000000000000"
						    "0100000000000000");
}

static void test_port_select(void **state)
{
	const struct ibsm_wire_port_select r = {
		HEADER(IBSM_WIRE_PORT_SELECT),
		.node_guid = P64,
		.time_diff_sec = 0x11,
		.xmit_wait = 0x12,
		.port = 1,
	};

	(void)state;
	assert_bytes(&r, sizeof(r),
		     HEADER_HEX("2300", "48000000") "0102030405060708"
						    "1100000000000000"
						    "1200000000000000"
						    "0100000000000000");
}

#define COUNTS(base)                                                                               \
	{                                                                                          \
		.raised = (base), .sent = (base) + 1, .dropped_full = (base) + 2,                  \
		.dropped_absent = (base) + 3                                                       \
	}

static void test_drops(void **state)
{
	const struct ibsm_wire_drops r = {
		HEADER(IBSM_WIRE_DROPS),     .control = COUNTS(0x10), .bulk = COUNTS(0x20),
		.since_control = 0x30,	     .since_bulk = 0x31,      .first_monotonic_nsec = 0x32,
		.last_monotonic_nsec = 0x33,
	};

	(void)state;
	assert_bytes(&r, sizeof(r),
		     HEADER_HEX("0300", "88000000") "1000000000000000"
						    "1100000000000000"
						    "1200000000000000"
						    "1300000000000000"
						    "2000000000000000"
						    "2100000000000000"
						    "2200000000000000"
						    "2300000000000000"
						    "3000000000000000"
						    "3100000000000000"
						    "3200000000000000"
						    "3300000000000000");
}

static void test_heartbeat(void **state)
{
	const struct ibsm_wire_heartbeat r = {
		HEADER(IBSM_WIRE_HEARTBEAT),
		.control = COUNTS(0x10),
		.bulk = COUNTS(0x20),
		.zero_deltas = 0x30,
		.unknown_events = 0x31,
		.snapshots_taken = 0x32,
		.snapshots_skipped = 0x33,
		.snapshot_lock_nsec = 0x34,
		.snapshot_lock_max_nsec = 0x35,
		.callback_nsec = 0x36,
		.qp0_mads_sent = 0x37,
		.qp0_mads_rcvd = 0x38,
		.sm_port_guid = P64,
		.qp0_mads_outstanding = 0x39,
		.qp0_mads_outstanding_on_wire = 0x3a,
		.sm_state = IBSM_SM_STANDBY,
	};

	(void)state;
	assert_bytes(&r, sizeof(r),
		     HEADER_HEX("0200", "c8000000") "1000000000000000"
						    "1100000000000000"
						    "1200000000000000"
						    "1300000000000000"
						    "2000000000000000"
						    "2100000000000000"
						    "2200000000000000"
						    "2300000000000000"
						    "3000000000000000"
						    "3100000000000000"
						    "3200000000000000"
						    "3300000000000000"
						    "3400000000000000"
						    "3500000000000000"
						    "3600000000000000"
						    "3700000000000000"
						    "3800000000000000"
						    "0102030405060708"
						    "39000000"
						    "3a000000"
						    "0200000000000000");
}

#define Z8 "0000000000000000"
#define Z16 Z8 Z8
#define Z32 Z16 Z16

static void test_hello(void **state)
{
	const struct ibsm_wire_hello r = {
		HEADER(IBSM_WIRE_HELLO),
		.boot_id = {0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xab,
			    0xac, 0xad, 0xae, 0xaf},
		.instance = P64,
		.first_sequence = 0x10,
		.start_realtime_nsec = 0x11,
		.sm_port_guid = 0x12,
		.subnet_prefix = 0xfe80000000000000,
		.generation = 0x13,
		.pid = 0x14,
		.connection = 0x15,
		.ring_records_control = 0x16,
		.ring_records_bulk = 0x17,
		.sweep_interval_sec = 0x18,
		.sminfo_polling_timeout_msec = 0x19,
		.polling_retry_number = 0x1a,
		.hello_flags = IBSM_HELLO_SNAPSHOTS | IBSM_HELLO_DAEMON,
		.sm_state = IBSM_SM_DISCOVERING,
		.sm_priority = 15,
		.lmc = 7,
		.plugin_version = "0.1.0",
		.opensm_version = "OpenSM 3.3.23",
		.host_name = "sm1",
		.routing_engines = "ftree,updn",
	};

	(void)state;
	assert_bytes(&r, sizeof(r),
		     HEADER_HEX("0100", "b0010000") "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf"
						    "0102030405060708"
						    "1000000000000000"
						    "1100000000000000"
						    "1200000000000000"
						    "00000000000080fe"
						    "1300000000000000"
						    "14000000"
						    "15000000"
						    "16000000"
						    "17000000"
						    "18000000"
						    "19000000"
						    "1a000000"
						    "09000000"
						    "010f070000000000"
						    /* "0.1.0" in 32 bytes */
						    "302e312e30000000" Z8 Z16
						    /* "OpenSM 3.3.23" in 64 */
						    "4f70656e534d2033"
						    "2e332e3233000000" Z16 Z32
						    /* "sm1" in 64 */
						    "736d310000000000" Z8 Z16 Z32
						    /* "ftree,updn" in 128 */
						    "66747265652c7570"
						    "646e000000000000" Z16 Z32 Z32 Z32);
}

static void test_snapshot_header(void **state)
{
	const struct {
		struct ibsm_snapshot_header header;
		struct ibsm_snapshot_table table;
	} r = {
		.header = {.magic = IBSM_SNAPSHOT_MAGIC,
			   .version = IBSM_SNAPSHOT_VERSION,
			   .header_bytes = sizeof(struct ibsm_snapshot_header),
			   .size_bytes = P64,
			   .generation = 0x10,
			   .instance = 0x11,
			   .monotonic_nsec = 0x12,
			   .realtime_nsec = 0x13,
			   .reason = IBSM_SNAPSHOT_GROUPS,
			   .tables = 1},
		.table = {.id = IBSM_TABLE_LFT,
			  .row_bytes = 1,
			  .offset = 0x20,
			  .count = 0x21,
			  .generation = 0x22},
	};

	(void)state;
	assert_bytes(&r, sizeof(r),
		     "4942534d534e4150" /* "IBSMSNAP" */
		     "01000000"
		     "40000000"
		     "0102030405060708"
		     "1000000000000000"
		     "1100000000000000"
		     "1200000000000000"
		     "1300000000000000"
		     "03000000"
		     "01000000"
		     "06000000"
		     "01000000"
		     "2000000000000000"
		     "2100000000000000"
		     "2200000000000000");
}

static void test_snap_port(void **state)
{
	const struct ibsm_snap_port r = {
		.port_guid = P64,
		.node = 0x14131211,
		.remote = IBSM_NONE,
		.capability_mask = 0x24232221,
		.capability_mask2 = 0x3231,
		.lid = 0x4241,
		.sm_lid = 0x5251,
		.m_key_violations = 0x6261,
		.p_key_violations = 0x7271,
		.q_key_violations = 0x8281,
		.diag_code = 0x9291,
		.link_round_trip = 0xa2a1,
		.port = 0x01,
		.state = 0x02,
		.physical_state = 0x03,
		.link_down_default = 0x04,
		.width_active = 0x05,
		.width_enabled = 0x06,
		.width_supported = 0x07,
		.speed_active = 0x08,
		.speed_enabled = 0x09,
		.speed_supported = 0x0a,
		.speed_ext_active = 0x0b,
		.speed_ext_enabled = 0x0c,
		.speed_ext_supported = 0x0d,
		.fdr10_active = 0x0e,
		.fdr10_enabled = 0x0f,
		.fdr10_supported = 0x10,
		.mtu_supported = 0x11,
		.mtu_active = 0x12,
		.vl_supported = 0x13,
		.vl_operational = 0x14,
		.lmc = 0x15,
		.sm_sl = 0x16,
		.flags = 0x17,
		.local_phy_errors = 0x18,
		.overrun_errors = 0x19,
		.hop_weight = 0x1a,
	};

	(void)state;
	assert_bytes(&r, sizeof(r),
		     "0102030405060708"
		     "11121314"
		     "ffffffff"
		     "21222324"
		     "3132"
		     "4142"
		     "5152"
		     "6162"
		     "7172"
		     "8182"
		     "9192"
		     "a1a2"
		     "0102030405060708090a0b0c0d0e0f101112131415161718191a"
		     "0000");
}

/* Every type has a length, the lengths fit a datagram, and unknown types have none. */
static void test_lengths(void **state)
{
	unsigned known = 0;

	(void)state;
	for (unsigned type = 0; type <= UINT16_MAX; type++) {
		const uint32_t length = ibsm_wire_length((uint16_t)type);

		if (length == 0)
			continue;
		known++;
		assert_true(length >= sizeof(struct ibsm_wire_header));
		assert_true(length <= IBSM_WIRE_RECORD_MAX);
		assert_true(length <= sizeof(union ibsm_wire_record));
		assert_int_equal(length % 8, 0);
	}
	assert_int_equal(known, 16);
}

static void test_row_lengths(void **state)
{
	(void)state;
	for (uint32_t id = 1; id < IBSM_TABLE_MAX; id++)
		assert_int_not_equal(ibsm_snapshot_row_bytes(id), 0);
	assert_int_equal(ibsm_snapshot_row_bytes(0), 0);
	assert_int_equal(ibsm_snapshot_row_bytes(IBSM_TABLE_MAX), 0);
	assert_true(IBSM_TABLE_MAX <= IBSM_SNAPSHOT_TABLES_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hello),
		cmocka_unit_test(test_heartbeat),
		cmocka_unit_test(test_drops),
		cmocka_unit_test(test_snapshot),
		cmocka_unit_test(test_sm_state),
		cmocka_unit_test(test_sweep),
		cmocka_unit_test(test_trap),
		cmocka_unit_test(test_lft_change),
		cmocka_unit_test(test_port_errors),
		cmocka_unit_test(test_port_data),
		cmocka_unit_test(test_port_select),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_snapshot_header),
		cmocka_unit_test(test_snap_port),
		cmocka_unit_test(test_row_lengths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
