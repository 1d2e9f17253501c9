// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Size and offset of every field of wire.h, as version 1 has them: a change here is a new version.
#pragma once

#include <stddef.h>

#define IBSM_AT(type, field, offset)                                                               \
	_Static_assert(offsetof(struct type, field) == (offset), #type "." #field " moved")
#define IBSM_SIZE(type, bytes) _Static_assert(sizeof(struct type) == (bytes), #type " changed size")

IBSM_SIZE(ibsm_wire_header, 40);
IBSM_AT(ibsm_wire_header, magic, 0);
IBSM_AT(ibsm_wire_header, version, 4);
IBSM_AT(ibsm_wire_header, type, 6);
IBSM_AT(ibsm_wire_header, length, 8);
IBSM_AT(ibsm_wire_header, flags, 12);
IBSM_AT(ibsm_wire_header, sequence, 16);
IBSM_AT(ibsm_wire_header, monotonic_nsec, 24);
IBSM_AT(ibsm_wire_header, realtime_nsec, 32);

IBSM_SIZE(ibsm_wire_hello, 432);
IBSM_AT(ibsm_wire_hello, header, 0);
IBSM_AT(ibsm_wire_hello, boot_id, 40);
IBSM_AT(ibsm_wire_hello, instance, 56);
IBSM_AT(ibsm_wire_hello, first_sequence, 64);
IBSM_AT(ibsm_wire_hello, start_realtime_nsec, 72);
IBSM_AT(ibsm_wire_hello, sm_port_guid, 80);
IBSM_AT(ibsm_wire_hello, subnet_prefix, 88);
IBSM_AT(ibsm_wire_hello, generation, 96);
IBSM_AT(ibsm_wire_hello, pid, 104);
IBSM_AT(ibsm_wire_hello, connection, 108);
IBSM_AT(ibsm_wire_hello, ring_records_control, 112);
IBSM_AT(ibsm_wire_hello, ring_records_bulk, 116);
IBSM_AT(ibsm_wire_hello, sweep_interval_sec, 120);
IBSM_AT(ibsm_wire_hello, sminfo_polling_timeout_msec, 124);
IBSM_AT(ibsm_wire_hello, polling_retry_number, 128);
IBSM_AT(ibsm_wire_hello, hello_flags, 132);
IBSM_AT(ibsm_wire_hello, sm_state, 136);
IBSM_AT(ibsm_wire_hello, sm_priority, 137);
IBSM_AT(ibsm_wire_hello, lmc, 138);
IBSM_AT(ibsm_wire_hello, reserved, 139);
IBSM_AT(ibsm_wire_hello, plugin_version, 144);
IBSM_AT(ibsm_wire_hello, opensm_version, 176);
IBSM_AT(ibsm_wire_hello, host_name, 240);
IBSM_AT(ibsm_wire_hello, routing_engines, 304);

IBSM_SIZE(ibsm_wire_ring_counts, 32);
IBSM_AT(ibsm_wire_ring_counts, raised, 0);
IBSM_AT(ibsm_wire_ring_counts, sent, 8);
IBSM_AT(ibsm_wire_ring_counts, dropped_full, 16);
IBSM_AT(ibsm_wire_ring_counts, dropped_absent, 24);

IBSM_SIZE(ibsm_wire_heartbeat, 200);
IBSM_AT(ibsm_wire_heartbeat, header, 0);
IBSM_AT(ibsm_wire_heartbeat, control, 40);
IBSM_AT(ibsm_wire_heartbeat, bulk, 72);
IBSM_AT(ibsm_wire_heartbeat, zero_deltas, 104);
IBSM_AT(ibsm_wire_heartbeat, unknown_events, 112);
IBSM_AT(ibsm_wire_heartbeat, snapshots_taken, 120);
IBSM_AT(ibsm_wire_heartbeat, snapshots_skipped, 128);
IBSM_AT(ibsm_wire_heartbeat, snapshot_lock_nsec, 136);
IBSM_AT(ibsm_wire_heartbeat, snapshot_lock_max_nsec, 144);
IBSM_AT(ibsm_wire_heartbeat, callback_nsec, 152);
IBSM_AT(ibsm_wire_heartbeat, qp0_mads_sent, 160);
IBSM_AT(ibsm_wire_heartbeat, qp0_mads_rcvd, 168);
IBSM_AT(ibsm_wire_heartbeat, sm_port_guid, 176);
IBSM_AT(ibsm_wire_heartbeat, qp0_mads_outstanding, 184);
IBSM_AT(ibsm_wire_heartbeat, qp0_mads_outstanding_on_wire, 188);
IBSM_AT(ibsm_wire_heartbeat, sm_state, 192);
IBSM_AT(ibsm_wire_heartbeat, reserved, 193);

IBSM_SIZE(ibsm_wire_drops, 136);
IBSM_AT(ibsm_wire_drops, header, 0);
IBSM_AT(ibsm_wire_drops, control, 40);
IBSM_AT(ibsm_wire_drops, bulk, 72);
IBSM_AT(ibsm_wire_drops, since_control, 104);
IBSM_AT(ibsm_wire_drops, since_bulk, 112);
IBSM_AT(ibsm_wire_drops, first_monotonic_nsec, 120);
IBSM_AT(ibsm_wire_drops, last_monotonic_nsec, 128);

IBSM_SIZE(ibsm_wire_snapshot, 72);
IBSM_AT(ibsm_wire_snapshot, header, 0);
IBSM_AT(ibsm_wire_snapshot, generation, 40);
IBSM_AT(ibsm_wire_snapshot, size_bytes, 48);
IBSM_AT(ibsm_wire_snapshot, lock_nsec, 56);
IBSM_AT(ibsm_wire_snapshot, reason, 64);
IBSM_AT(ibsm_wire_snapshot, full, 68);

IBSM_SIZE(ibsm_wire_sm_state, 64);
IBSM_AT(ibsm_wire_sm_state, header, 0);
IBSM_AT(ibsm_wire_sm_state, sm_port_guid, 40);
IBSM_AT(ibsm_wire_sm_state, master_sm_guid, 48);
IBSM_AT(ibsm_wire_sm_state, old_state, 56);
IBSM_AT(ibsm_wire_sm_state, new_state, 57);
IBSM_AT(ibsm_wire_sm_state, reserved, 58);

IBSM_SIZE(ibsm_wire_sweep, 120);
IBSM_AT(ibsm_wire_sweep, header, 0);
IBSM_AT(ibsm_wire_sweep, sm_port_guid, 40);
IBSM_AT(ibsm_wire_sweep, master_sm_guid, 48);
IBSM_AT(ibsm_wire_sweep, sweep_flags, 56);
IBSM_AT(ibsm_wire_sweep, routing_kind, 60);
IBSM_AT(ibsm_wire_sweep, qp0_mads_sent, 64);
IBSM_AT(ibsm_wire_sweep, qp0_mads_rcvd, 68);
IBSM_AT(ibsm_wire_sweep, qp0_mads_outstanding, 72);
IBSM_AT(ibsm_wire_sweep, sa_mads_rcvd, 76);
IBSM_AT(ibsm_wire_sweep, sm_state, 80);
IBSM_AT(ibsm_wire_sweep, engine_known, 81);
IBSM_AT(ibsm_wire_sweep, reserved, 82);
IBSM_AT(ibsm_wire_sweep, routing_engine, 88);

IBSM_SIZE(ibsm_wire_trap, 136);
IBSM_AT(ibsm_wire_trap, header, 0);
IBSM_AT(ibsm_wire_trap, gid1_prefix, 40);
IBSM_AT(ibsm_wire_trap, gid1_guid, 48);
IBSM_AT(ibsm_wire_trap, gid2_prefix, 56);
IBSM_AT(ibsm_wire_trap, gid2_guid, 64);
IBSM_AT(ibsm_wire_trap, guid, 72);
IBSM_AT(ibsm_wire_trap, fields, 80);
IBSM_AT(ibsm_wire_trap, capability_mask, 84);
IBSM_AT(ibsm_wire_trap, key, 88);
IBSM_AT(ibsm_wire_trap, qp1, 92);
IBSM_AT(ibsm_wire_trap, qp2, 96);
IBSM_AT(ibsm_wire_trap, vendor_id, 100);
IBSM_AT(ibsm_wire_trap, attribute_modifier, 104);
IBSM_AT(ibsm_wire_trap, number, 108);
IBSM_AT(ibsm_wire_trap, issuer_lid, 110);
IBSM_AT(ibsm_wire_trap, lid1, 112);
IBSM_AT(ibsm_wire_trap, lid2, 114);
IBSM_AT(ibsm_wire_trap, sw_lid, 116);
IBSM_AT(ibsm_wire_trap, change_flags, 118);
IBSM_AT(ibsm_wire_trap, capability_mask2, 120);
IBSM_AT(ibsm_wire_trap, attribute_id, 122);
IBSM_AT(ibsm_wire_trap, toggle_count, 124);
IBSM_AT(ibsm_wire_trap, is_generic, 126);
IBSM_AT(ibsm_wire_trap, notice_type, 127);
IBSM_AT(ibsm_wire_trap, producer, 128);
IBSM_AT(ibsm_wire_trap, port, 129);
IBSM_AT(ibsm_wire_trap, method, 130);
IBSM_AT(ibsm_wire_trap, sm_state, 131);
IBSM_AT(ibsm_wire_trap, sl, 132);
IBSM_AT(ibsm_wire_trap, reserved, 133);

IBSM_SIZE(ibsm_wire_lft_change, 128);
IBSM_AT(ibsm_wire_lft_change, header, 0);
IBSM_AT(ibsm_wire_lft_change, node_guid, 40);
IBSM_AT(ibsm_wire_lft_change, change, 48);
IBSM_AT(ibsm_wire_lft_change, block, 52);
IBSM_AT(ibsm_wire_lft_change, lft_top, 56);
IBSM_AT(ibsm_wire_lft_change, lid, 58);
IBSM_AT(ibsm_wire_lft_change, sm_state, 60);
IBSM_AT(ibsm_wire_lft_change, reserved, 61);
IBSM_AT(ibsm_wire_lft_change, ports, 64);

IBSM_SIZE(ibsm_wire_port_errors, 168);
IBSM_AT(ibsm_wire_port_errors, header, 0);
IBSM_AT(ibsm_wire_port_errors, node_guid, 40);
IBSM_AT(ibsm_wire_port_errors, time_diff_sec, 48);
IBSM_AT(ibsm_wire_port_errors, symbol_err_cnt, 56);
IBSM_AT(ibsm_wire_port_errors, link_err_recover, 64);
IBSM_AT(ibsm_wire_port_errors, link_downed, 72);
IBSM_AT(ibsm_wire_port_errors, rcv_err, 80);
IBSM_AT(ibsm_wire_port_errors, rcv_rem_phys_err, 88);
IBSM_AT(ibsm_wire_port_errors, rcv_switch_relay_err, 96);
IBSM_AT(ibsm_wire_port_errors, xmit_discards, 104);
IBSM_AT(ibsm_wire_port_errors, xmit_constraint_err, 112);
IBSM_AT(ibsm_wire_port_errors, rcv_constraint_err, 120);
IBSM_AT(ibsm_wire_port_errors, link_integrity, 128);
IBSM_AT(ibsm_wire_port_errors, buffer_overrun, 136);
IBSM_AT(ibsm_wire_port_errors, vl15_dropped, 144);
IBSM_AT(ibsm_wire_port_errors, xmit_wait, 152);
IBSM_AT(ibsm_wire_port_errors, port, 160);
IBSM_AT(ibsm_wire_port_errors, reserved, 161);

IBSM_SIZE(ibsm_wire_port_data, 128);
IBSM_AT(ibsm_wire_port_data, header, 0);
IBSM_AT(ibsm_wire_port_data, node_guid, 40);
IBSM_AT(ibsm_wire_port_data, time_diff_sec, 48);
IBSM_AT(ibsm_wire_port_data, xmit_data, 56);
IBSM_AT(ibsm_wire_port_data, rcv_data, 64);
IBSM_AT(ibsm_wire_port_data, xmit_pkts, 72);
IBSM_AT(ibsm_wire_port_data, rcv_pkts, 80);
IBSM_AT(ibsm_wire_port_data, unicast_xmit_pkts, 88);
IBSM_AT(ibsm_wire_port_data, unicast_rcv_pkts, 96);
IBSM_AT(ibsm_wire_port_data, multicast_xmit_pkts, 104);
IBSM_AT(ibsm_wire_port_data, multicast_rcv_pkts, 112);
IBSM_AT(ibsm_wire_port_data, port, 120);
IBSM_AT(ibsm_wire_port_data, reserved, 121);

IBSM_SIZE(ibsm_wire_port_select, 72);
IBSM_AT(ibsm_wire_port_select, header, 0);
IBSM_AT(ibsm_wire_port_select, node_guid, 40);
IBSM_AT(ibsm_wire_port_select, time_diff_sec, 48);
IBSM_AT(ibsm_wire_port_select, xmit_wait, 56);
IBSM_AT(ibsm_wire_port_select, port, 64);
IBSM_AT(ibsm_wire_port_select, reserved, 65);

#undef IBSM_AT
#undef IBSM_SIZE
