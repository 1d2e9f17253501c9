// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Size and offset of every field of snapshot.h, as version 1 has them: see its version history.
#pragma once

#include <stddef.h>

#define IBSM_AT(type, field, offset)                                                               \
	_Static_assert(offsetof(struct type, field) == (offset), #type "." #field " moved")
#define IBSM_SIZE(type, bytes) _Static_assert(sizeof(struct type) == (bytes), #type " changed size")

IBSM_SIZE(ibsm_snapshot_table, 32);
IBSM_AT(ibsm_snapshot_table, id, 0);
IBSM_AT(ibsm_snapshot_table, row_bytes, 4);
IBSM_AT(ibsm_snapshot_table, offset, 8);
IBSM_AT(ibsm_snapshot_table, count, 16);
IBSM_AT(ibsm_snapshot_table, generation, 24);

IBSM_SIZE(ibsm_snapshot_header, 64);
IBSM_AT(ibsm_snapshot_header, magic, 0);
IBSM_AT(ibsm_snapshot_header, version, 8);
IBSM_AT(ibsm_snapshot_header, header_bytes, 12);
IBSM_AT(ibsm_snapshot_header, size_bytes, 16);
IBSM_AT(ibsm_snapshot_header, generation, 24);
IBSM_AT(ibsm_snapshot_header, instance, 32);
IBSM_AT(ibsm_snapshot_header, monotonic_nsec, 40);
IBSM_AT(ibsm_snapshot_header, realtime_nsec, 48);
IBSM_AT(ibsm_snapshot_header, reason, 56);
IBSM_AT(ibsm_snapshot_header, tables, 60);

IBSM_SIZE(ibsm_snap_subnet, 56);
IBSM_AT(ibsm_snap_subnet, subnet_prefix, 0);
IBSM_AT(ibsm_snap_subnet, sm_port_guid, 8);
IBSM_AT(ibsm_snap_subnet, master_sm_guid, 16);
IBSM_AT(ibsm_snap_subnet, sm_node_guid, 24);
IBSM_AT(ibsm_snap_subnet, sweep_flags, 32);
IBSM_AT(ibsm_snap_subnet, sm_lid, 36);
IBSM_AT(ibsm_snap_subnet, master_sm_lid, 38);
IBSM_AT(ibsm_snap_subnet, max_unicast_lid, 40);
IBSM_AT(ibsm_snap_subnet, max_multicast_lid, 42);
IBSM_AT(ibsm_snap_subnet, sm_state, 44);
IBSM_AT(ibsm_snap_subnet, sm_priority, 45);
IBSM_AT(ibsm_snap_subnet, lmc, 46);
IBSM_AT(ibsm_snap_subnet, min_ca_mtu, 47);
IBSM_AT(ibsm_snap_subnet, min_ca_rate, 48);
IBSM_AT(ibsm_snap_subnet, min_data_vls, 49);
IBSM_AT(ibsm_snap_subnet, reserved, 50);

IBSM_SIZE(ibsm_snap_node, 120);
IBSM_AT(ibsm_snap_node, node_guid, 0);
IBSM_AT(ibsm_snap_node, port_guid, 8);
IBSM_AT(ibsm_snap_node, system_image_guid, 16);
IBSM_AT(ibsm_snap_node, first_port, 24);
IBSM_AT(ibsm_snap_node, ports, 28);
IBSM_AT(ibsm_snap_node, switch_index, 32);
IBSM_AT(ibsm_snap_node, vendor_id, 36);
IBSM_AT(ibsm_snap_node, revision, 40);
IBSM_AT(ibsm_snap_node, device_id, 44);
IBSM_AT(ibsm_snap_node, partition_cap, 46);
IBSM_AT(ibsm_snap_node, type, 48);
IBSM_AT(ibsm_snap_node, num_ports, 49);
IBSM_AT(ibsm_snap_node, base_version, 50);
IBSM_AT(ibsm_snap_node, class_version, 51);
IBSM_AT(ibsm_snap_node, present, 52);
IBSM_AT(ibsm_snap_node, reserved, 53);
IBSM_AT(ibsm_snap_node, description, 56);

IBSM_SIZE(ibsm_snap_port, 64);
IBSM_AT(ibsm_snap_port, port_guid, 0);
IBSM_AT(ibsm_snap_port, node, 8);
IBSM_AT(ibsm_snap_port, remote, 12);
IBSM_AT(ibsm_snap_port, capability_mask, 16);
IBSM_AT(ibsm_snap_port, capability_mask2, 20);
IBSM_AT(ibsm_snap_port, lid, 22);
IBSM_AT(ibsm_snap_port, sm_lid, 24);
IBSM_AT(ibsm_snap_port, m_key_violations, 26);
IBSM_AT(ibsm_snap_port, p_key_violations, 28);
IBSM_AT(ibsm_snap_port, q_key_violations, 30);
IBSM_AT(ibsm_snap_port, diag_code, 32);
IBSM_AT(ibsm_snap_port, link_round_trip, 34);
IBSM_AT(ibsm_snap_port, port, 36);
IBSM_AT(ibsm_snap_port, state, 37);
IBSM_AT(ibsm_snap_port, physical_state, 38);
IBSM_AT(ibsm_snap_port, link_down_default, 39);
IBSM_AT(ibsm_snap_port, width_active, 40);
IBSM_AT(ibsm_snap_port, width_enabled, 41);
IBSM_AT(ibsm_snap_port, width_supported, 42);
IBSM_AT(ibsm_snap_port, speed_active, 43);
IBSM_AT(ibsm_snap_port, speed_enabled, 44);
IBSM_AT(ibsm_snap_port, speed_supported, 45);
IBSM_AT(ibsm_snap_port, speed_ext_active, 46);
IBSM_AT(ibsm_snap_port, speed_ext_enabled, 47);
IBSM_AT(ibsm_snap_port, speed_ext_supported, 48);
IBSM_AT(ibsm_snap_port, fdr10_active, 49);
IBSM_AT(ibsm_snap_port, fdr10_enabled, 50);
IBSM_AT(ibsm_snap_port, fdr10_supported, 51);
IBSM_AT(ibsm_snap_port, mtu_supported, 52);
IBSM_AT(ibsm_snap_port, mtu_active, 53);
IBSM_AT(ibsm_snap_port, vl_supported, 54);
IBSM_AT(ibsm_snap_port, vl_operational, 55);
IBSM_AT(ibsm_snap_port, lmc, 56);
IBSM_AT(ibsm_snap_port, sm_sl, 57);
IBSM_AT(ibsm_snap_port, flags, 58);
IBSM_AT(ibsm_snap_port, local_phy_errors, 59);
IBSM_AT(ibsm_snap_port, overrun_errors, 60);
IBSM_AT(ibsm_snap_port, hop_weight, 61);
IBSM_AT(ibsm_snap_port, reserved, 62);

IBSM_SIZE(ibsm_snap_switch, 48);
IBSM_AT(ibsm_snap_switch, lft, 0);
IBSM_AT(ibsm_snap_switch, new_lft, 8);
IBSM_AT(ibsm_snap_switch, node, 16);
IBSM_AT(ibsm_snap_switch, lft_lids, 20);
IBSM_AT(ibsm_snap_switch, lft_top, 24);
IBSM_AT(ibsm_snap_switch, linear_cap, 26);
IBSM_AT(ibsm_snap_switch, random_cap, 28);
IBSM_AT(ibsm_snap_switch, multicast_cap, 30);
IBSM_AT(ibsm_snap_switch, max_lid, 32);
IBSM_AT(ibsm_snap_switch, lid, 34);
IBSM_AT(ibsm_snap_switch, flags, 36);
IBSM_AT(ibsm_snap_switch, life_state, 37);
IBSM_AT(ibsm_snap_switch, port_state_change, 38);
IBSM_AT(ibsm_snap_switch, reserved, 39);
IBSM_AT(ibsm_snap_switch, endport_links, 40);
IBSM_AT(ibsm_snap_switch, reserved2, 44);

IBSM_SIZE(ibsm_snap_sm, 24);
IBSM_AT(ibsm_snap_sm, port_guid, 0);
IBSM_AT(ibsm_snap_sm, port, 8);
IBSM_AT(ibsm_snap_sm, act_count, 12);
IBSM_AT(ibsm_snap_sm, lid, 16);
IBSM_AT(ibsm_snap_sm, priority, 18);
IBSM_AT(ibsm_snap_sm, state, 19);
IBSM_AT(ibsm_snap_sm, self, 20);
IBSM_AT(ibsm_snap_sm, reserved, 21);

IBSM_SIZE(ibsm_snap_group, 48);
IBSM_AT(ibsm_snap_group, mgid_prefix, 0);
IBSM_AT(ibsm_snap_group, mgid_guid, 8);
IBSM_AT(ibsm_snap_group, first_member, 16);
IBSM_AT(ibsm_snap_group, members, 20);
IBSM_AT(ibsm_snap_group, qkey, 24);
IBSM_AT(ibsm_snap_group, flow_label, 28);
IBSM_AT(ibsm_snap_group, mlid, 32);
IBSM_AT(ibsm_snap_group, pkey, 34);
IBSM_AT(ibsm_snap_group, mtu, 36);
IBSM_AT(ibsm_snap_group, rate, 37);
IBSM_AT(ibsm_snap_group, packet_life, 38);
IBSM_AT(ibsm_snap_group, sl, 39);
IBSM_AT(ibsm_snap_group, scope, 40);
IBSM_AT(ibsm_snap_group, traffic_class, 41);
IBSM_AT(ibsm_snap_group, hop_limit, 42);
IBSM_AT(ibsm_snap_group, well_known, 43);
IBSM_AT(ibsm_snap_group, reserved, 44);

IBSM_SIZE(ibsm_snap_group_member, 24);
IBSM_AT(ibsm_snap_group_member, gid_prefix, 0);
IBSM_AT(ibsm_snap_group_member, gid_guid, 8);
IBSM_AT(ibsm_snap_group_member, port, 16);
IBSM_AT(ibsm_snap_group_member, join_state, 20);
IBSM_AT(ibsm_snap_group_member, proxy_join, 21);
IBSM_AT(ibsm_snap_group_member, reserved, 22);

IBSM_SIZE(ibsm_snap_partition, 16);
IBSM_AT(ibsm_snap_partition, name, 0);
IBSM_AT(ibsm_snap_partition, first_member, 4);
IBSM_AT(ibsm_snap_partition, members, 8);
IBSM_AT(ibsm_snap_partition, pkey, 12);
IBSM_AT(ibsm_snap_partition, sl, 14);
IBSM_AT(ibsm_snap_partition, reserved, 15);

IBSM_SIZE(ibsm_snap_partition_member, 16);
IBSM_AT(ibsm_snap_partition_member, port_guid, 0);
IBSM_AT(ibsm_snap_partition_member, port, 8);
IBSM_AT(ibsm_snap_partition_member, full, 12);
IBSM_AT(ibsm_snap_partition_member, reserved, 13);

IBSM_SIZE(ibsm_snap_option, 24);
IBSM_AT(ibsm_snap_option, value, 0);
IBSM_AT(ibsm_snap_option, name, 8);
IBSM_AT(ibsm_snap_option, text, 12);
IBSM_AT(ibsm_snap_option, kind, 16);
IBSM_AT(ibsm_snap_option, reserved, 17);

IBSM_SIZE(ibsm_snap_statistics, 88);
IBSM_AT(ibsm_snap_statistics, qp0_mads_outstanding, 0);
IBSM_AT(ibsm_snap_statistics, qp0_mads_outstanding_on_wire, 8);
IBSM_AT(ibsm_snap_statistics, qp0_mads_rcvd, 16);
IBSM_AT(ibsm_snap_statistics, qp0_mads_sent, 24);
IBSM_AT(ibsm_snap_statistics, qp0_unicasts_sent, 32);
IBSM_AT(ibsm_snap_statistics, qp0_mads_rcvd_unknown, 40);
IBSM_AT(ibsm_snap_statistics, sa_mads_outstanding, 48);
IBSM_AT(ibsm_snap_statistics, sa_mads_rcvd, 56);
IBSM_AT(ibsm_snap_statistics, sa_mads_sent, 64);
IBSM_AT(ibsm_snap_statistics, sa_mads_rcvd_unknown, 72);
IBSM_AT(ibsm_snap_statistics, sa_mads_ignored, 80);

IBSM_SIZE(ibsm_snap_engine, 8);
IBSM_AT(ibsm_snap_engine, name, 0);
IBSM_AT(ibsm_snap_engine, flags, 4);

#undef IBSM_AT
#undef IBSM_SIZE
