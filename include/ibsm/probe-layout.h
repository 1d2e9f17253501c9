// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Size and offset of every field of probe.h, as version 1 has them: a change here is a new version.
#pragma once

#include <stddef.h>

#define IBSM_PROBE_AT(type, field, offset)                                                         \
	_Static_assert(offsetof(struct type, field) == (offset), #type "." #field " moved")
#define IBSM_PROBE_SIZE(type, bytes)                                                               \
	_Static_assert(sizeof(struct type) == (bytes), #type " changed size")

IBSM_PROBE_SIZE(ibsm_probe_header, 24);
IBSM_PROBE_AT(ibsm_probe_header, magic, 0);
IBSM_PROBE_AT(ibsm_probe_header, version, 4);
IBSM_PROBE_AT(ibsm_probe_header, type, 6);
IBSM_PROBE_AT(ibsm_probe_header, length, 8);
IBSM_PROBE_AT(ibsm_probe_header, reserved, 12);
IBSM_PROBE_AT(ibsm_probe_header, sequence, 16);

IBSM_PROBE_SIZE(ibsm_probe_order, 64);
IBSM_PROBE_AT(ibsm_probe_order, header, 0);
IBSM_PROBE_AT(ibsm_probe_order, port_guid, 24);
IBSM_PROBE_AT(ibsm_probe_order, ca_name, 32);
IBSM_PROBE_AT(ibsm_probe_order, lid, 56);
IBSM_PROBE_AT(ibsm_probe_order, port, 58);
IBSM_PROBE_AT(ibsm_probe_order, choice, 59);
IBSM_PROBE_AT(ibsm_probe_order, timeout_msec, 60);

IBSM_PROBE_SIZE(ibsm_probe_result, 24);
IBSM_PROBE_AT(ibsm_probe_result, status, 0);
IBSM_PROBE_AT(ibsm_probe_result, detail, 2);
IBSM_PROBE_AT(ibsm_probe_result, mad_status, 4);
IBSM_PROBE_AT(ibsm_probe_result, lid, 6);
IBSM_PROBE_AT(ibsm_probe_result, port, 8);
IBSM_PROBE_AT(ibsm_probe_result, reserved, 9);
IBSM_PROBE_AT(ibsm_probe_result, error, 12);
IBSM_PROBE_AT(ibsm_probe_result, round_trip_usec, 16);
IBSM_PROBE_AT(ibsm_probe_result, reserved2, 20);

IBSM_PROBE_SIZE(ibsm_probe_reply, 48);
IBSM_PROBE_AT(ibsm_probe_reply, header, 0);
IBSM_PROBE_AT(ibsm_probe_reply, result, 24);

IBSM_PROBE_SIZE(ibsm_probe_reply_ping, 176);
IBSM_PROBE_AT(ibsm_probe_reply_ping, header, 0);
IBSM_PROBE_AT(ibsm_probe_reply_ping, result, 24);
IBSM_PROBE_AT(ibsm_probe_reply_ping, orders, 48);
IBSM_PROBE_AT(ibsm_probe_reply_ping, bad_orders, 56);
IBSM_PROBE_AT(ibsm_probe_reply_ping, sent, 64);
IBSM_PROBE_AT(ibsm_probe_reply_ping, answered, 72);
IBSM_PROBE_AT(ibsm_probe_reply_ping, timeouts, 80);
IBSM_PROBE_AT(ibsm_probe_reply_ping, errors, 88);
IBSM_PROBE_AT(ibsm_probe_reply_ping, busy, 96);
IBSM_PROBE_AT(ibsm_probe_reply_ping, late, 104);
IBSM_PROBE_AT(ibsm_probe_reply_ping, ports_lost, 112);
IBSM_PROBE_AT(ibsm_probe_reply_ping, pid, 120);
IBSM_PROBE_AT(ibsm_probe_reply_ping, outstanding, 124);
IBSM_PROBE_AT(ibsm_probe_reply_ping, outstanding_max, 128);
IBSM_PROBE_AT(ibsm_probe_reply_ping, mads_per_sec, 132);
IBSM_PROBE_AT(ibsm_probe_reply_ping, timeout_msec, 136);
IBSM_PROBE_AT(ibsm_probe_reply_ping, reserved, 140);
IBSM_PROBE_AT(ibsm_probe_reply_ping, version, 144);

IBSM_PROBE_SIZE(ibsm_probe_port, 72);
IBSM_PROBE_AT(ibsm_probe_port, port_guid, 0);
IBSM_PROBE_AT(ibsm_probe_port, gid_prefix, 8);
IBSM_PROBE_AT(ibsm_probe_port, node_guid, 16);
IBSM_PROBE_AT(ibsm_probe_port, ca_name, 24);
IBSM_PROBE_AT(ibsm_probe_port, capability_mask, 48);
IBSM_PROBE_AT(ibsm_probe_port, rate_gbps, 52);
IBSM_PROBE_AT(ibsm_probe_port, lid, 56);
IBSM_PROBE_AT(ibsm_probe_port, sm_lid, 58);
IBSM_PROBE_AT(ibsm_probe_port, port, 60);
IBSM_PROBE_AT(ibsm_probe_port, state, 61);
IBSM_PROBE_AT(ibsm_probe_port, physical_state, 62);
IBSM_PROBE_AT(ibsm_probe_port, link_layer, 63);
IBSM_PROBE_AT(ibsm_probe_port, node_type, 64);
IBSM_PROBE_AT(ibsm_probe_port, lmc, 65);
IBSM_PROBE_AT(ibsm_probe_port, sm_sl, 66);
IBSM_PROBE_AT(ibsm_probe_port, chosen, 67);
IBSM_PROBE_AT(ibsm_probe_port, reserved, 68);

IBSM_PROBE_SIZE(ibsm_probe_reply_port_list, 4664);
IBSM_PROBE_AT(ibsm_probe_reply_port_list, header, 0);
IBSM_PROBE_AT(ibsm_probe_reply_port_list, result, 24);
IBSM_PROBE_AT(ibsm_probe_reply_port_list, count, 48);
IBSM_PROBE_AT(ibsm_probe_reply_port_list, total, 52);
IBSM_PROBE_AT(ibsm_probe_reply_port_list, ports, 56);

IBSM_PROBE_SIZE(ibsm_probe_reply_port, 128);
IBSM_PROBE_AT(ibsm_probe_reply_port, header, 0);
IBSM_PROBE_AT(ibsm_probe_reply_port, result, 24);
IBSM_PROBE_AT(ibsm_probe_reply_port, port, 48);
IBSM_PROBE_AT(ibsm_probe_reply_port, found, 120);
IBSM_PROBE_AT(ibsm_probe_reply_port, reserved, 121);
IBSM_PROBE_AT(ibsm_probe_reply_port, outstanding_max, 124);

IBSM_PROBE_SIZE(ibsm_probe_reply_port_info, 96);
IBSM_PROBE_AT(ibsm_probe_reply_port_info, header, 0);
IBSM_PROBE_AT(ibsm_probe_reply_port_info, result, 24);
IBSM_PROBE_AT(ibsm_probe_reply_port_info, gid_prefix, 48);
IBSM_PROBE_AT(ibsm_probe_reply_port_info, capability_mask, 56);
IBSM_PROBE_AT(ibsm_probe_reply_port_info, lid, 60);
IBSM_PROBE_AT(ibsm_probe_reply_port_info, sm_lid, 62);
IBSM_PROBE_AT(ibsm_probe_reply_port_info, state, 64);
IBSM_PROBE_AT(ibsm_probe_reply_port_info, physical_state, 65);
IBSM_PROBE_AT(ibsm_probe_reply_port_info, lmc, 66);
IBSM_PROBE_AT(ibsm_probe_reply_port_info, sm_sl, 67);
IBSM_PROBE_AT(ibsm_probe_reply_port_info, source, 68);
IBSM_PROBE_AT(ibsm_probe_reply_port_info, local_port, 69);
IBSM_PROBE_AT(ibsm_probe_reply_port_info, width_active, 70);
IBSM_PROBE_AT(ibsm_probe_reply_port_info, width_enabled, 71);
IBSM_PROBE_AT(ibsm_probe_reply_port_info, width_supported, 72);
IBSM_PROBE_AT(ibsm_probe_reply_port_info, speed_active, 73);
IBSM_PROBE_AT(ibsm_probe_reply_port_info, speed_enabled, 74);
IBSM_PROBE_AT(ibsm_probe_reply_port_info, speed_supported, 75);
IBSM_PROBE_AT(ibsm_probe_reply_port_info, speed_ext_active, 76);
IBSM_PROBE_AT(ibsm_probe_reply_port_info, speed_ext_enabled, 77);
IBSM_PROBE_AT(ibsm_probe_reply_port_info, speed_ext_supported, 78);
IBSM_PROBE_AT(ibsm_probe_reply_port_info, mtu_active, 79);
IBSM_PROBE_AT(ibsm_probe_reply_port_info, mtu_supported, 80);
IBSM_PROBE_AT(ibsm_probe_reply_port_info, vl_supported, 81);
IBSM_PROBE_AT(ibsm_probe_reply_port_info, vl_operational, 82);
IBSM_PROBE_AT(ibsm_probe_reply_port_info, subnet_timeout, 83);
IBSM_PROBE_AT(ibsm_probe_reply_port_info, m_key_violations, 84);
IBSM_PROBE_AT(ibsm_probe_reply_port_info, p_key_violations, 86);
IBSM_PROBE_AT(ibsm_probe_reply_port_info, q_key_violations, 88);
IBSM_PROBE_AT(ibsm_probe_reply_port_info, local_phy_errors, 90);
IBSM_PROBE_AT(ibsm_probe_reply_port_info, overrun_errors, 91);
IBSM_PROBE_AT(ibsm_probe_reply_port_info, reserved, 92);

IBSM_PROBE_SIZE(ibsm_probe_reply_sm_info, 64);
IBSM_PROBE_AT(ibsm_probe_reply_sm_info, header, 0);
IBSM_PROBE_AT(ibsm_probe_reply_sm_info, result, 24);
IBSM_PROBE_AT(ibsm_probe_reply_sm_info, guid, 48);
IBSM_PROBE_AT(ibsm_probe_reply_sm_info, act_count, 56);
IBSM_PROBE_AT(ibsm_probe_reply_sm_info, priority, 60);
IBSM_PROBE_AT(ibsm_probe_reply_sm_info, state, 61);
IBSM_PROBE_AT(ibsm_probe_reply_sm_info, reserved, 62);

IBSM_PROBE_SIZE(ibsm_probe_reply_node_info, 96);
IBSM_PROBE_AT(ibsm_probe_reply_node_info, header, 0);
IBSM_PROBE_AT(ibsm_probe_reply_node_info, result, 24);
IBSM_PROBE_AT(ibsm_probe_reply_node_info, system_image_guid, 48);
IBSM_PROBE_AT(ibsm_probe_reply_node_info, node_guid, 56);
IBSM_PROBE_AT(ibsm_probe_reply_node_info, port_guid, 64);
IBSM_PROBE_AT(ibsm_probe_reply_node_info, revision, 72);
IBSM_PROBE_AT(ibsm_probe_reply_node_info, vendor_id, 76);
IBSM_PROBE_AT(ibsm_probe_reply_node_info, partition_cap, 80);
IBSM_PROBE_AT(ibsm_probe_reply_node_info, device_id, 82);
IBSM_PROBE_AT(ibsm_probe_reply_node_info, base_version, 84);
IBSM_PROBE_AT(ibsm_probe_reply_node_info, class_version, 85);
IBSM_PROBE_AT(ibsm_probe_reply_node_info, node_type, 86);
IBSM_PROBE_AT(ibsm_probe_reply_node_info, ports, 87);
IBSM_PROBE_AT(ibsm_probe_reply_node_info, local_port, 88);
IBSM_PROBE_AT(ibsm_probe_reply_node_info, reserved, 89);

IBSM_PROBE_SIZE(ibsm_probe_reply_node_desc, 112);
IBSM_PROBE_AT(ibsm_probe_reply_node_desc, header, 0);
IBSM_PROBE_AT(ibsm_probe_reply_node_desc, result, 24);
IBSM_PROBE_AT(ibsm_probe_reply_node_desc, description, 48);

IBSM_PROBE_SIZE(ibsm_probe_reply_counters, 120);
IBSM_PROBE_AT(ibsm_probe_reply_counters, header, 0);
IBSM_PROBE_AT(ibsm_probe_reply_counters, result, 24);
IBSM_PROBE_AT(ibsm_probe_reply_counters, symbol_errors, 48);
IBSM_PROBE_AT(ibsm_probe_reply_counters, link_recovers, 52);
IBSM_PROBE_AT(ibsm_probe_reply_counters, link_downed, 56);
IBSM_PROBE_AT(ibsm_probe_reply_counters, receive_errors, 60);
IBSM_PROBE_AT(ibsm_probe_reply_counters, receive_remote_physical_errors, 64);
IBSM_PROBE_AT(ibsm_probe_reply_counters, receive_switch_relay_errors, 68);
IBSM_PROBE_AT(ibsm_probe_reply_counters, transmit_discards, 72);
IBSM_PROBE_AT(ibsm_probe_reply_counters, transmit_constraint_errors, 76);
IBSM_PROBE_AT(ibsm_probe_reply_counters, receive_constraint_errors, 80);
IBSM_PROBE_AT(ibsm_probe_reply_counters, local_link_integrity_errors, 84);
IBSM_PROBE_AT(ibsm_probe_reply_counters, excessive_buffer_overruns, 88);
IBSM_PROBE_AT(ibsm_probe_reply_counters, vl15_dropped, 92);
IBSM_PROBE_AT(ibsm_probe_reply_counters, transmit_data, 96);
IBSM_PROBE_AT(ibsm_probe_reply_counters, receive_data, 100);
IBSM_PROBE_AT(ibsm_probe_reply_counters, transmit_packets, 104);
IBSM_PROBE_AT(ibsm_probe_reply_counters, receive_packets, 108);
IBSM_PROBE_AT(ibsm_probe_reply_counters, transmit_wait, 112);
IBSM_PROBE_AT(ibsm_probe_reply_counters, port, 116);

IBSM_PROBE_SIZE(ibsm_probe_reply_counters_ext, 120);
IBSM_PROBE_AT(ibsm_probe_reply_counters_ext, header, 0);
IBSM_PROBE_AT(ibsm_probe_reply_counters_ext, result, 24);
IBSM_PROBE_AT(ibsm_probe_reply_counters_ext, transmit_data, 48);
IBSM_PROBE_AT(ibsm_probe_reply_counters_ext, receive_data, 56);
IBSM_PROBE_AT(ibsm_probe_reply_counters_ext, transmit_packets, 64);
IBSM_PROBE_AT(ibsm_probe_reply_counters_ext, receive_packets, 72);
IBSM_PROBE_AT(ibsm_probe_reply_counters_ext, unicast_transmit_packets, 80);
IBSM_PROBE_AT(ibsm_probe_reply_counters_ext, unicast_receive_packets, 88);
IBSM_PROBE_AT(ibsm_probe_reply_counters_ext, multicast_transmit_packets, 96);
IBSM_PROBE_AT(ibsm_probe_reply_counters_ext, multicast_receive_packets, 104);
IBSM_PROBE_AT(ibsm_probe_reply_counters_ext, port, 112);

#undef IBSM_PROBE_AT
#undef IBSM_PROBE_SIZE

_Static_assert(sizeof(union ibsm_probe_any_reply) <= IBSM_PROBE_RECORD_MAX, "a reply is too long");
