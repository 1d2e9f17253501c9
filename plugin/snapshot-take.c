// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Copies opensm's state into a private buffer, on opensm's sweeper thread.

/*
 * Why here and now: at SUBNET_UP, and when a reroute is done, the sweeper holds no lock and is
 * about to go idle. On its own thread nothing that it changes without a lock (unicast cache,
 * consistency checks, re-read configuration) moves, and the shared lock keeps the rest still. From
 * any other thread even the shared lock would not do. The shared lock lets the SA answer queries
 * meanwhile, but joins wait, so the copy has to be short: tables are written in their final form
 * into memory that is mapped and faulted in beforehand, at HEAVY_SWEEP_DONE, when the fabric is
 * known but for its LIDs.
 *
 * Left to the sender, since it needs no lock: which row of PORTS a neighbour, a group member or an
 * SM is. A neighbour is noted as the address of its osm_physp_t, which the sender compares with the
 * addresses of the nodes' port tables (it never follows them); following it here would cost a cache
 * miss or two for each port of the fabric. Members and SMs are noted by port GUID.
 */

#include "snapshot-take.h"

#include <stdio.h>
#include <string.h>

#include "capture.h"
#include "snapshot-options.h"
#include "util/cleanup.h"

#define GROW_TRIES 4
#define GROUPS_NSEC (UINT64_C(30) * 1000000000) /* age at which groups are copied again */
#define LFT_ALIGN 64
#define ENGINES_MAX 32
#define CACHE_LINE 64
#define ITEMS_AHEAD 8 /* how far ahead memory is asked for; a prefetch never faults */
#define PORTS_AHEAD 4

struct sort_item {
	uint64_t key;
	const void *item;
};

struct sorted {
	struct sort_item *items;
	size_t n; /* 0 also where there was no room */
};

/* Least significant byte first; bytes that are the same in all keys are skipped. */
static struct sort_item *radix_sort(struct sort_item *from, struct sort_item *to, size_t n)
{
	for (unsigned int shift = 0; n > 1 && shift < 64; shift += 8) {
		size_t starts[256] = {0};
		size_t sum = 0;
		struct sort_item *sorted = to;

		for (size_t i = 0; i < n; i++)
			starts[(from[i].key >> shift) & 0xff]++;
		if (starts[(from[0].key >> shift) & 0xff] == n)
			continue;
		for (size_t b = 0; b < 256; b++) {
			size_t count = starts[b];

			starts[b] = sum;
			sum += count;
		}
		for (size_t i = 0; i < n; i++)
			to[starts[(from[i].key >> shift) & 0xff]++] = from[i];
		to = from;
		from = sorted;
	}
	return from;
}

/*
 * A map's items, level by level from the root of its tree: an item's children are asked of the
 * memory long before they are looked at. Following the list that links them in order would wait for
 * each in turn, which on a large fabric is a third of the time under the lock.
 */
static struct sorted collect_map(struct snapshot_buffer *b, const cl_qmap_t *map)
{
	struct snapshot_memory *memory = &b->areas[SNAPSHOT_SORT];
	struct sort_item *items = (struct sort_item *)memory->data;
	size_t n = cl_qmap_count(map), tail = 0;

	snapshot_buffer_want(b, SNAPSHOT_SORT, n * sizeof(*items));
	if (memory->capacity < n * sizeof(*items))
		return (struct sorted){0};
	if (n > 0)
		items[tail++].item = map->root.p_left;
	for (size_t i = 0; i < tail; i++) {
		const cl_map_item_t *item = items[i].item;
		const cl_map_item_t *const children[] = {item->p_left, item->p_right};

		items[i].key = cl_qmap_key(item);
		for (size_t k = 0; k < ELEMENTSOF(children); k++) {
			if (children[k] == cl_qmap_end(map) || tail == n)
				continue;
			__builtin_prefetch(children[k]);
			items[tail++].item = children[k];
		}
	}
	return (struct sorted){.items = items, .n = tail};
}

/* A map's items by ascending key; opensm orders its maps by keys in network order. */
static struct sorted sort_map(struct snapshot_buffer *b, const cl_qmap_t *map,
			      uint64_t (*key_of)(uint64_t key))
{
	struct snapshot_memory *memory = &b->areas[SNAPSHOT_SORT_OTHER];
	struct sorted sorted = collect_map(b, map);
	size_t bytes = cl_qmap_count(map) * sizeof(*sorted.items);

	snapshot_buffer_want(b, SNAPSHOT_SORT_OTHER, bytes);
	if (memory->capacity < bytes)
		return (struct sorted){0};
	for (size_t i = 0; i < sorted.n; i++)
		sorted.items[i].key = key_of(sorted.items[i].key);
	sorted.items = radix_sort(sorted.items, (struct sort_item *)memory->data, sorted.n);
	return sorted;
}

static uint64_t key_guid(uint64_t key)
{
	return cl_ntoh64(key);
}

static uint64_t key_pkey(uint64_t key)
{
	return cl_ntoh16((uint16_t)key) & 0x7fffu;
}

/* A zeroed row at the end of a table. */
static void *add_row(struct snapshot_buffer *b, enum ibsm_table table)
{
	size_t bytes = ibsm_snapshot_row_bytes(table);
	void *row = snapshot_append(b, (int)table, bytes, 1);

	if (row)
		memset(row, 0, bytes);
	return row;
}

static void add_address(struct snapshot_buffer *b, enum snapshot_area area, const void *p)
{
	uintptr_t *entry = snapshot_append(b, (int)area, sizeof(*entry), 1);

	if (entry)
		*entry = (uintptr_t)p;
}

static uint32_t add_text(struct snapshot_buffer *b, const char *text, size_t n)
{
	char *p;

	if (n == 0)
		return 0;
	p = snapshot_append(b, IBSM_TABLE_STRINGS, n + 1, 1);
	if (!p)
		return 0;
	memcpy(p, text, n);
	p[n] = '\0';
	return (uint32_t)((uint8_t *)p - b->areas[IBSM_TABLE_STRINGS].data);
}

static uint32_t add_string(struct snapshot_buffer *b, const char *text)
{
	return text ? add_text(b, text, strlen(text)) : 0;
}

/* ---- nodes, ports, switches ---- */

static uint8_t high(uint8_t byte)
{
	return byte >> 4;
}

static uint8_t low(uint8_t byte)
{
	return byte & 0x0f;
}

/* PortInfo: IBTA 14.2.5.6. */
static void fill_port_info(const ib_port_info_t *pi, struct ibsm_snap_port *row)
{
	uint32_t round_trip = cl_ntoh32(pi->link_rt_latency) & 0xffffff;

	row->sm_lid = cl_ntoh16(pi->master_sm_base_lid);
	row->m_key_violations = cl_ntoh16(pi->m_key_violations);
	row->p_key_violations = cl_ntoh16(pi->p_key_violations);
	row->q_key_violations = cl_ntoh16(pi->q_key_violations);
	row->diag_code = cl_ntoh16(pi->diag_code);
	row->link_round_trip = (uint16_t)(round_trip < UINT16_MAX ? round_trip : UINT16_MAX);
	row->state = low(pi->state_info1);
	row->physical_state = high(pi->state_info2);
	row->link_down_default = low(pi->state_info2);
	row->width_active = pi->link_width_active;
	row->width_enabled = pi->link_width_enabled;
	row->width_supported = pi->link_width_supported;
	row->speed_active = high(pi->link_speed);
	row->speed_enabled = low(pi->link_speed);
	row->speed_supported = high(pi->state_info1);
	row->speed_ext_active = high(pi->link_speed_ext);
	row->speed_ext_supported = low(pi->link_speed_ext);
	row->speed_ext_enabled = pi->link_speed_ext_enabled & 0x1f;
	row->mtu_active = high(pi->mtu_smsl);
	row->mtu_supported = low(pi->mtu_cap);
	row->vl_supported = high(pi->vl_cap);
	row->vl_operational = high(pi->vl_enforce);
	row->lmc = pi->mkey_lmc & 0x07;
	row->sm_sl = low(pi->mtu_smsl);
	row->local_phy_errors = high(pi->error_threshold);
	row->overrun_errors = low(pi->error_threshold);
}

/*
 * The four cache lines that add_port() reads of a port's 26. After a sweep none of them is in the
 * cache, and ports lie too far apart for the processor to see what comes: asking ahead took a
 * quarter off the copy of a 3,456-host fabric.
 */
static void expect_port(const osm_physp_t *physp)
{
	__builtin_prefetch(&physp->port_info);
	__builtin_prefetch(&physp->ext_port_info);
	__builtin_prefetch(&physp->port_guid);
	__builtin_prefetch(&physp->hop_wf);
}

static void add_port(struct snapshot_buffer *b, const osm_subn_t *subn, const osm_node_t *node,
		     uint32_t node_index, uint32_t number)
{
	const osm_physp_t *physp = &node->physp_table[number];
	const ib_port_info_t *pi = &physp->port_info;
	bool external = node->node_info.node_type == IB_NODE_TYPE_SWITCH && number > 0;
	/* A switch has one CapabilityMask: its port 0's. */
	const ib_port_info_t *capability = external ? &node->physp_table[0].port_info : pi;
	struct ibsm_snap_port *row = add_row(b, IBSM_TABLE_PORTS);

	add_address(b, SNAPSHOT_REMOTES, physp->p_remote_physp);
	if (!row)
		return;
	fill_port_info(pi, row);
	row->port_guid = cl_ntoh64(physp->port_guid);
	row->node = node_index;
	row->remote = IBSM_NONE;
	row->port = (uint8_t)number;
	row->capability_mask = cl_ntoh32(capability->capability_mask);
	row->capability_mask2 = cl_ntoh16(capability->capability_mask2);
	row->lid = external ? 0 : cl_ntoh16(pi->base_lid);
	row->hop_weight = physp->hop_wf;
	if (physp->healthy)
		row->flags |= IBSM_PORT_HEALTHY;
	if (physp->need_update)
		row->flags |= IBSM_PORT_NEED_UPDATE;
	if (physp->is_prof_ignored)
		row->flags |= IBSM_PORT_PROFILE_IGNORED;
	if (capability->capability_mask & IB_PORT_CAP_HAS_EXT_SPEEDS)
		row->flags |= IBSM_PORT_EXTENDED_SPEEDS;
	/* opensm reads the vendor's PortInfo where opt.fdr10 and the device say so; a port that
	 * answered supports at least one speed. */
	if (subn->opt.fdr10 && physp->ext_port_info.link_speed_supported) {
		row->flags |= IBSM_PORT_FDR10_KNOWN;
		row->fdr10_active = physp->ext_port_info.link_speed_active;
		row->fdr10_enabled = physp->ext_port_info.link_speed_enabled;
		row->fdr10_supported = physp->ext_port_info.link_speed_supported;
	}
}

/* LIDs 0 … n - 1 that an LFT has room for and that the switch was told about. */
static uint32_t lft_lids(const osm_switch_t *sw)
{
	uint32_t n = (sw->max_lid_ho / IBSM_LFT_BLOCK_LIDS + 1u) * IBSM_LFT_BLOCK_LIDS;

	return n < sw->lft_size ? n : sw->lft_size;
}

static uint64_t add_lft(struct snapshot_buffer *b, const uint8_t *lft, uint32_t n)
{
	uint8_t *p = snapshot_append(b, IBSM_TABLE_LFT, n, LFT_ALIGN);

	if (!p)
		return IBSM_NO_OFFSET;
	memcpy(p, lft, n);
	return (uint64_t)(p - b->areas[IBSM_TABLE_LFT].data);
}

static void add_switch(struct snapshot_buffer *b, const osm_node_t *node, uint32_t node_index)
{
	const osm_switch_t *sw = node->sw;
	const ib_switch_info_t *si = &sw->switch_info;
	struct ibsm_snap_switch *row = add_row(b, IBSM_TABLE_SWITCHES);
	uint64_t lft = IBSM_NO_OFFSET, new_lft = IBSM_NO_OFFSET;
	uint32_t n = lft_lids(sw);
	bool differs;

	if (!sw->lft && !sw->new_lft)
		n = 0;
	differs = n > 0 && sw->new_lft && (!sw->lft || memcmp(sw->lft, sw->new_lft, n) != 0);
	if (n > 0 && sw->lft)
		lft = add_lft(b, sw->lft, n);
	if (differs)
		new_lft = add_lft(b, sw->new_lft, n);
	if (!row)
		return;
	row->node = node_index;
	row->lft = lft;
	row->new_lft = new_lft;
	row->lft_lids = n;
	row->lft_top = cl_ntoh16(si->lin_top);
	row->linear_cap = cl_ntoh16(si->lin_cap);
	row->random_cap = cl_ntoh16(si->rand_cap);
	row->multicast_cap = cl_ntoh16(si->mcast_cap);
	row->max_lid = sw->max_lid_ho;
	if (node->physp_tbl_size > 0)
		row->lid = cl_ntoh16(node->physp_table[0].port_info.base_lid);
	if (ib_switch_info_is_enhanced_port0(si))
		row->flags |= IBSM_SWITCH_ENHANCED_PORT0;
	if (differs)
		row->flags |= IBSM_SWITCH_LFT_DIFFERS;
	if (sw->need_update)
		row->flags |= IBSM_SWITCH_NEED_UPDATE;
	row->life_state = si->life_state;
	row->port_state_change = ib_switch_info_get_state_change(si) ? 1 : 0;
	row->endport_links = sw->endport_links;
}

static void add_node(struct snapshot_buffer *b, const osm_subn_t *subn, const osm_node_t *node,
		     uint32_t index)
{
	const ib_node_info_t *ni = &node->node_info;
	struct ibsm_snap_node *row = add_row(b, IBSM_TABLE_NODES);
	struct snapshot_node_base *base = snapshot_append(b, SNAPSHOT_NODE_BASES, sizeof(*base), 1);
	uint32_t first = (uint32_t)snapshot_rows(b, IBSM_TABLE_PORTS);
	uint32_t ports = 0;

	for (uint32_t i = 0; i < node->physp_tbl_size && i < IBSM_PORTS_MAX; i++) {
		expect_port(node->physp_table + i + PORTS_AHEAD);
		if (node->physp_table[i].port_guid == 0)
			continue;
		add_port(b, subn, node, index, i);
		ports++;
	}
	if (row) {
		row->node_guid = cl_ntoh64(ni->node_guid);
		row->port_guid = cl_ntoh64(ni->port_guid);
		row->system_image_guid = cl_ntoh64(ni->sys_guid);
		row->first_port = first;
		row->ports = ports;
		row->switch_index = IBSM_NONE;
		row->vendor_id = cl_ntoh32(ni->port_num_vendor_id) & 0xffffff;
		row->revision = cl_ntoh32(ni->revision);
		row->device_id = cl_ntoh16(ni->device_id);
		row->partition_cap = cl_ntoh16(ni->partition_cap);
		row->type = ni->node_type;
		row->num_ports = ni->num_ports;
		row->base_version = ni->base_version;
		row->class_version = ni->class_version;
		row->present = node->discovery_count != 0;
		memcpy(row->description, node->node_desc.description, sizeof(row->description));
		if (node->sw)
			row->switch_index = (uint32_t)snapshot_rows(b, IBSM_TABLE_SWITCHES);
	}
	if (base)
		*base = (struct snapshot_node_base){
			.first = (uintptr_t)&node->physp_table[0],
			.slots = node->physp_tbl_size,
			.stride = sizeof(node->physp_table[0]),
		};
	if (node->sw)
		add_switch(b, node, index);
}

static const osm_port_t *port_of(const struct sorted *ports, size_t i)
{
	if (i + ITEMS_AHEAD < ports->n)
		__builtin_prefetch(
			&((const osm_port_t *)ports->items[i + ITEMS_AHEAD].item)->p_physp);
	return ports->items[i].item;
}

static void expect_node(const osm_node_t *node)
{
	for (size_t at = 0; at < offsetof(osm_node_t, physp_table); at += CACHE_LINE)
		__builtin_prefetch((const char *)node + at);
	/* What a CA has; a switch's more ports follow one after the other. */
	__builtin_prefetch(&node->physp_table[0].port_guid);
	expect_port(node->physp_table + 1);
}

static void add_nodes(struct snapshot_buffer *b, const osm_subn_t *subn)
{
	struct sorted nodes = sort_map(b, &subn->node_guid_tbl, key_guid);
	struct sorted ports;

	for (size_t i = 0; i < nodes.n; i++) {
		if (i + ITEMS_AHEAD < nodes.n)
			expect_node(nodes.items[i + ITEMS_AHEAD].item);
		add_node(b, subn, nodes.items[i].item, (uint32_t)i);
	}
	ports = collect_map(b, &subn->port_guid_tbl);
	for (size_t i = 0; i < ports.n; i++)
		add_address(b, SNAPSHOT_IN_SERVICE, port_of(&ports, i)->p_physp);
}

/* ---- SMs ---- */

static void add_sms(struct snapshot_buffer *b, osm_opensm_t *osm)
{
	const osm_subn_t *subn = &osm->subn;
	struct ibsm_snap_sm *row = add_row(b, IBSM_TABLE_SMS);
	struct sorted sms;

	if (row) {
		row->port_guid = cl_ntoh64(subn->sm_port_guid);
		row->port = IBSM_NONE;
		row->act_count = (uint32_t)OSM_READ(osm->stats.qp0_mads_sent);
		row->lid = cl_ntoh16(subn->sm_base_lid);
		row->priority = subn->opt.sm_priority;
		row->state = capture_state_now(osm);
		row->self = 1;
	}
	sms = sort_map(b, &subn->sm_guid_tbl, key_guid);
	for (size_t i = 0; i < sms.n; i++) {
		const ib_sm_info_t *info = &((const osm_remote_sm_t *)sms.items[i].item)->smi;

		row = add_row(b, IBSM_TABLE_SMS);
		if (!row)
			continue;
		row->port_guid = cl_ntoh64(info->guid);
		row->port = IBSM_NONE;
		row->act_count = cl_ntoh32(info->act_count);
		row->priority = high(info->pri_state);
		row->state = low(info->pri_state);
	}
}

/* ---- multicast groups, partitions ---- */

static uint32_t add_members(struct snapshot_buffer *b, const osm_mgrp_t *group)
{
	uint32_t n = 0;

	for (const cl_map_item_t *item = cl_qmap_head(&group->mcm_alias_port_tbl);
	     item != cl_qmap_end(&group->mcm_alias_port_tbl); item = cl_qmap_next(item)) {
		const osm_mcm_alias_guid_t *alias = (const osm_mcm_alias_guid_t *)item;
		struct ibsm_snap_group_member *row = add_row(b, IBSM_TABLE_GROUP_MEMBERS);
		uint64_t *port = snapshot_append(b, SNAPSHOT_MEMBER_PORTS, sizeof(*port), 1);

		n++;
		if (!row || !port)
			continue;
		row->gid_prefix = cl_ntoh64(alias->port_gid.unicast.prefix);
		row->gid_guid = cl_ntoh64(alias->port_gid.unicast.interface_id);
		row->port = IBSM_NONE;
		row->join_state = low(alias->scope_state);
		row->proxy_join = alias->proxy_join ? 1 : 0;
		/* opensm keeps a group's ports by port GUID. */
		*port = alias->p_base_mcm_port
				? cl_ntoh64(cl_qmap_key(&alias->p_base_mcm_port->map_item))
				: 0;
	}
	return n;
}

static void add_groups(struct snapshot_buffer *b, const osm_subn_t *subn)
{
	/* Kept by opensm in ascending order of the MGID's bytes. */
	for (const cl_fmap_item_t *item = cl_fmap_head(&subn->mgrp_mgid_tbl);
	     item != cl_fmap_end(&subn->mgrp_mgid_tbl); item = cl_fmap_next(item)) {
		const osm_mgrp_t *group = (const osm_mgrp_t *)item;
		const ib_member_rec_t *rec = &group->mcmember_rec;
		struct ibsm_snap_group *row = add_row(b, IBSM_TABLE_GROUPS);
		uint32_t first = (uint32_t)snapshot_rows(b, IBSM_TABLE_GROUP_MEMBERS);
		uint32_t members = add_members(b, group);

		if (!row)
			continue;
		row->mgid_prefix = cl_ntoh64(rec->mgid.unicast.prefix);
		row->mgid_guid = cl_ntoh64(rec->mgid.unicast.interface_id);
		row->first_member = first;
		row->members = members;
		row->qkey = cl_ntoh32(rec->qkey);
		row->mlid = cl_ntoh16(group->mlid);
		row->pkey = cl_ntoh16(rec->pkey);
		row->mtu = rec->mtu & 0x3f;
		row->rate = rec->rate & 0x3f;
		row->packet_life = rec->pkt_life & 0x3f;
		ib_member_get_sl_flow_hop(rec->sl_flow_hop, &row->sl, &row->flow_label,
					  &row->hop_limit);
		row->sl = low(row->sl);
		row->scope = high(rec->scope_state);
		row->traffic_class = rec->tclass;
		row->well_known = group->well_known ? 1 : 0;
	}
}

static uint32_t add_partition_members(struct snapshot_buffer *b, const cl_map_t *guids, bool full)
{
	uint32_t n = 0;

	for (cl_map_iterator_t i = cl_map_head(guids); i != cl_map_end(guids); i = cl_map_next(i)) {
		struct ibsm_snap_partition_member *row = add_row(b, IBSM_TABLE_PARTITION_MEMBERS);

		n++;
		if (!row)
			continue;
		row->port_guid = cl_ntoh64(cl_map_key(i));
		row->port = IBSM_NONE;
		row->full = full;
	}
	return n;
}

static void add_partitions(struct snapshot_buffer *b, const osm_subn_t *subn)
{
	struct sorted partitions = sort_map(b, &subn->prtn_pkey_tbl, key_pkey);

	for (size_t i = 0; i < partitions.n; i++) {
		const osm_prtn_t *partition = partitions.items[i].item;
		struct ibsm_snap_partition *row = add_row(b, IBSM_TABLE_PARTITIONS);
		uint32_t first = (uint32_t)snapshot_rows(b, IBSM_TABLE_PARTITION_MEMBERS);
		uint32_t members = add_partition_members(b, &partition->full_guid_tbl, true);
		uint32_t name = add_text(b, partition->name,
					 strnlen(partition->name, sizeof(partition->name)));

		members += add_partition_members(b, &partition->part_guid_tbl, false);
		if (!row)
			continue;
		row->name = name;
		row->first_member = first;
		row->members = members;
		row->pkey = (uint16_t)partitions.items[i].key;
		row->sl = partition->sl;
	}
}

/* ---- subnet, options, statistics, engines ---- */

static void add_subnet(struct snapshot_buffer *b, osm_opensm_t *osm)
{
	const osm_subn_t *subn = &osm->subn;
	struct ibsm_snap_subnet *row = add_row(b, IBSM_TABLE_SUBNET);

	if (!row)
		return;
	row->subnet_prefix = cl_ntoh64(subn->opt.subnet_prefix);
	row->sm_port_guid = cl_ntoh64(subn->sm_port_guid);
	row->sm_state = capture_state_now(osm);
	if (row->sm_state != IBSM_SM_MASTER)
		row->master_sm_guid = cl_ntoh64(OSM_READ(osm->sm.master_sm_guid));
	row->sweep_flags = capture_sweep_flags(osm);
	row->sm_lid = cl_ntoh16(subn->sm_base_lid);
	row->master_sm_lid = cl_ntoh16(subn->master_sm_base_lid);
	row->max_unicast_lid = subn->max_ucast_lid_ho;
	row->max_multicast_lid = subn->max_mcast_lid_ho;
	row->sm_priority = subn->opt.sm_priority;
	row->lmc = subn->opt.lmc;
	row->min_ca_mtu = subn->min_ca_mtu;
	row->min_ca_rate = subn->min_ca_rate;
	row->min_data_vls = subn->min_data_vls;
}

static void put_text(struct snapshot_buffer *b, const char *text, struct ibsm_snap_option *row)
{
	row->kind = IBSM_OPTION_STRING;
	row->value = text ? 1 : 0;
	row->text = add_string(b, text);
}

static void fill_option(struct snapshot_buffer *b, const struct snapshot_option *option,
			const uint8_t *field, struct ibsm_snap_option *row)
{
	char text[2 * IB_CC_PORT_MASK_DATA_SIZE + 3] = "0x";
	const osm_cct_entry_t *cct = (const osm_cct_entry_t *)field;

	row->kind = IBSM_OPTION_INTEGER;
	switch (option->form) {
	case OPTION_UINT8:
		row->value = *field;
		break;
	case OPTION_UINT16:
		row->value = *(const uint16_t *)field;
		break;
	case OPTION_UINT32:
		row->value = *(const uint32_t *)field;
		break;
	case OPTION_INT32:
		row->value = (uint64_t)(int64_t) * (const int32_t *)field;
		break;
	case OPTION_NET16:
		row->value = cl_ntoh16(*(const uint16_t *)field);
		break;
	case OPTION_NET32:
		row->value = cl_ntoh32(*(const uint32_t *)field);
		break;
	case OPTION_BOOLEAN:
		row->kind = IBSM_OPTION_BOOLEAN;
		row->value = *(const boolean_t *)field ? 1 : 0;
		break;
	case OPTION_GUID:
		row->kind = IBSM_OPTION_GUID;
		row->value = cl_ntoh64(*(const uint64_t *)field);
		break;
	case OPTION_KEY:
		row->kind = IBSM_OPTION_SECRET;
		row->value = *(const uint64_t *)field != option->standard;
		break;
	case OPTION_SECRET:
		row->kind = IBSM_OPTION_SECRET;
		row->value = *(char *const *)field ? 1 : 0;
		break;
	case OPTION_TEXT:
		put_text(b, *(char *const *)field, row);
		break;
	case OPTION_MASK:
		for (size_t i = 0; i < IB_CC_PORT_MASK_DATA_SIZE; i++)
			snprintf(text + 2 + 2 * i, 3, "%02x", field[i]);
		put_text(b, text, row);
		break;
	case OPTION_CCT_ENTRY:
		snprintf(text, sizeof(text), "%u:%u", cct->shift, cct->multiplier);
		put_text(b, text, row);
		break;
	}
}

static void add_options(struct snapshot_buffer *b, const osm_subn_t *subn)
{
	for (size_t i = 0; i < option_table_count; i++) {
		const struct snapshot_option *option = &option_table[i];
		struct ibsm_snap_option filled = {.name = add_string(b, option->name)};
		struct ibsm_snap_option *row = add_row(b, IBSM_TABLE_OPTIONS);

		fill_option(b, option, (const uint8_t *)&subn->opt + option->offset, &filled);
		if (row)
			*row = filled;
	}
}

static void add_statistics(struct snapshot_buffer *b, osm_opensm_t *osm)
{
	struct ibsm_snap_statistics *row = add_row(b, IBSM_TABLE_STATISTICS);

	if (!row)
		return;
	row->qp0_mads_outstanding = (uint32_t)OSM_READ(osm->stats.qp0_mads_outstanding);
	row->qp0_mads_outstanding_on_wire =
		(uint32_t)OSM_READ(osm->stats.qp0_mads_outstanding_on_wire);
	row->qp0_mads_rcvd = (uint32_t)OSM_READ(osm->stats.qp0_mads_rcvd);
	row->qp0_mads_sent = (uint32_t)OSM_READ(osm->stats.qp0_mads_sent);
	row->qp0_unicasts_sent = (uint32_t)OSM_READ(osm->stats.qp0_unicasts_sent);
	row->qp0_mads_rcvd_unknown = (uint32_t)OSM_READ(osm->stats.qp0_mads_rcvd_unknown);
	row->sa_mads_outstanding = (uint32_t)OSM_READ(osm->stats.sa_mads_outstanding);
	row->sa_mads_rcvd = (uint32_t)OSM_READ(osm->stats.sa_mads_rcvd);
	row->sa_mads_sent = (uint32_t)OSM_READ(osm->stats.sa_mads_sent);
	row->sa_mads_rcvd_unknown = (uint32_t)OSM_READ(osm->stats.sa_mads_rcvd_unknown);
	row->sa_mads_ignored = (uint32_t)OSM_READ(osm->stats.sa_mads_ignored);
}

struct engine {
	const char *name;
	size_t n; /* length of the name */
	uint32_t flags;
};

struct engines {
	struct engine list[ENGINES_MAX];
	size_t count;
};

static void note_engine(struct engines *engines, const char *name, size_t n, uint32_t flags)
{
	struct engine *e = engines->list;

	for (; e < engines->list + engines->count; e++)
		if (e->n == n && memcmp(e->name, name, n) == 0)
			break;
	if (e == engines->list + ENGINES_MAX)
		return;
	if (e == engines->list + engines->count)
		engines->list[engines->count++] = (struct engine){.name = name, .n = n};
	e->flags |= flags;
}

static void note_loaded(struct engines *engines, const struct osm_routing_engine *engine,
			uint32_t flags)
{
	if (engine && engine->name)
		note_engine(engines, engine->name, strlen(engine->name), flags);
}

static void add_engines(struct snapshot_buffer *b, const osm_opensm_t *osm)
{
	static const char separators[] = ", \t\n"; /* opensm's own */
	struct engines engines = {.count = 0};
	const char *asked = osm->subn.opt.routing_engine_names;

	for (const char *p = asked ? asked : ""; *p != '\0';) {
		size_t n;

		p += strspn(p, separators);
		n = strcspn(p, separators);
		if (n > 0 && !(n == 11 && memcmp(p, "no_fallback", n) == 0))
			note_engine(&engines, p, n, IBSM_ENGINE_ASKED);
		p += n;
	}
	for (const struct osm_routing_engine *e = osm->routing_engine_list; e; e = e->next)
		note_loaded(&engines, e, IBSM_ENGINE_LOADED);
	note_loaded(&engines, osm->default_routing_engine, IBSM_ENGINE_DEFAULT);
	note_loaded(&engines, osm->routing_engine_used, IBSM_ENGINE_USED);

	for (size_t i = 0; i < engines.count; i++) {
		struct ibsm_snap_engine *row = add_row(b, IBSM_TABLE_ENGINES);
		uint32_t name = add_text(b, engines.list[i].name, engines.list[i].n);

		if (!row)
			continue;
		row->name = name;
		row->flags = engines.list[i].flags;
		if (osm->no_fallback_routing_engine)
			row->flags |= IBSM_ENGINE_NO_FALLBACK;
	}
}

static void fill(struct snapshot_buffer *b, osm_opensm_t *osm)
{
	char *empty;

	if (b->reason == IBSM_SNAPSHOT_GROUPS) {
		add_groups(b, &osm->subn);
		return;
	}
	empty = snapshot_append(b, IBSM_TABLE_STRINGS, 1, 1);
	if (empty)
		*empty = '\0';
	add_subnet(b, osm);
	add_nodes(b, &osm->subn);
	add_sms(b, osm);
	add_groups(b, &osm->subn);
	add_partitions(b, &osm->subn);
	add_options(b, &osm->subn);
	add_statistics(b, osm);
	add_engines(b, osm);
}

/* ---- buffers ---- */

/* A pending one is overwritten by a whole newer snapshot only. */
static struct snapshot_buffer *claim_buffer(struct snapshots *s, uint32_t reason)
{
	for (int i = 0; i < SNAPSHOT_BUFFERS; i++) {
		struct snapshot_buffer *b = &s->buffers[i];

		if (atomic_load(&b->state) != SNAPSHOT_PENDING)
			continue;
		if (reason == IBSM_SNAPSHOT_GROUPS)
			return NULL;
		if (snapshot_buffer_move(b, SNAPSHOT_PENDING, SNAPSHOT_FILLING))
			return b;
	}
	for (int i = 0; i < SNAPSHOT_BUFFERS; i++)
		if (snapshot_buffer_move(&s->buffers[i], SNAPSHOT_IDLE, SNAPSHOT_FILLING))
			return &s->buffers[i];
	return NULL;
}

static void note_lock_time(struct snapshots *s, uint64_t nsec)
{
	atomic_store(&s->lock_nsec, nsec);
	if (nsec > atomic_load(&s->lock_max_nsec))
		atomic_store(&s->lock_max_nsec, nsec);
}

/* The buffer is filled, or what it lacks is known. */
static void fill_locked(struct snapshots *s, struct snapshot_buffer *b)
{
	struct capture_time begin;

	snapshot_buffer_reset(b);
	cl_plock_acquire(&s->osm->lock);
	begin = capture_now();
	fill(b, s->osm);
	b->lock_nsec = capture_now().monotonic_nsec - begin.monotonic_nsec;
	cl_plock_release(&s->osm->lock);

	b->monotonic_nsec = begin.monotonic_nsec;
	b->realtime_nsec = begin.realtime_nsec;
	note_lock_time(s, b->lock_nsec);
}

static bool take(struct snapshots *s, uint32_t reason)
{
	struct snapshot_buffer *b = claim_buffer(s, reason);

	if (!b)
		return false;
	b->reason = reason;
	if (reason != IBSM_SNAPSHOT_GROUPS)
		atomic_store(&s->owed, 0);
	for (int i = 0; i < GROW_TRIES; i++) {
		fill_locked(s, b);
		if (!snapshot_buffer_short(b)) {
			s->groups_nsec = b->monotonic_nsec;
			atomic_fetch_add(&s->taken, 1);
			atomic_store(&b->state, SNAPSHOT_PENDING);
			return true;
		}
		if (snapshot_buffer_grow(b) < 0)
			break;
	}
	atomic_store(&b->state, SNAPSHOT_IDLE);
	return false;
}

bool snapshots_take(struct snapshots *s, uint32_t reason)
{
	if (!take(s, reason)) {
		atomic_store(&s->owed, reason);
		atomic_fetch_add(&s->skipped, 1);
		return false;
	}
	s->complete = true;
	return true;
}

bool snapshots_catch_up(struct snapshots *s, bool idle)
{
	uint64_t now = capture_now().monotonic_nsec;
	uint32_t owed = atomic_load(&s->owed);

	if (owed && idle)
		return snapshots_take(s, owed);
	if (!s->complete || owed || now - s->groups_nsec < GROUPS_NSEC)
		return false;
	return take(s, IBSM_SNAPSHOT_GROUPS);
}

/* What is known before LIDs are given out: ports by switch, LIDs by end port. */
static void estimate(struct snapshot_buffer *b, const osm_subn_t *subn)
{
	size_t nodes = cl_qmap_count(&subn->node_guid_tbl);
	size_t switches = cl_qmap_count(&subn->sw_guid_tbl);
	size_t end_ports = cl_qmap_count(&subn->port_guid_tbl);
	size_t lids = (end_ports + 1) << (subn->opt.lmc & 7);
	size_t known = cl_ptr_vector_get_size(&subn->port_lid_tbl);
	size_t ports = end_ports + nodes;

	if (lids < known)
		lids = known;
	if (lids > IBSM_UNICAST_LID_MAX + 1u)
		lids = IBSM_UNICAST_LID_MAX + 1u;
	lids = (lids / IBSM_LFT_BLOCK_LIDS + 2) * IBSM_LFT_BLOCK_LIDS;
	for (const cl_map_item_t *item = cl_qmap_head(&subn->sw_guid_tbl);
	     item != cl_qmap_end(&subn->sw_guid_tbl); item = cl_qmap_next(item))
		ports += ((const osm_switch_t *)item)->num_ports;

	snapshot_buffer_want(b, IBSM_TABLE_NODES, nodes * sizeof(struct ibsm_snap_node));
	snapshot_buffer_want(b, SNAPSHOT_NODE_BASES, nodes * sizeof(struct snapshot_node_base));
	snapshot_buffer_want(b, IBSM_TABLE_PORTS, ports * sizeof(struct ibsm_snap_port));
	snapshot_buffer_want(b, SNAPSHOT_REMOTES, ports * sizeof(uintptr_t));
	snapshot_buffer_want(b, SNAPSHOT_IN_SERVICE, end_ports * sizeof(uintptr_t));
	snapshot_buffer_want(b, SNAPSHOT_SORT,
			     (nodes > end_ports ? nodes : end_ports) * sizeof(struct sort_item));
	snapshot_buffer_want(b, SNAPSHOT_SORT_OTHER, nodes * sizeof(struct sort_item));
	snapshot_buffer_want(b, IBSM_TABLE_SWITCHES, switches * sizeof(struct ibsm_snap_switch));
	snapshot_buffer_want(b, IBSM_TABLE_LFT, switches * lids);
	snapshot_buffer_want(b, IBSM_TABLE_PARTITION_MEMBERS,
			     end_ports * sizeof(struct ibsm_snap_partition_member));
	/* Each end port is a member of the IPoIB broadcast group and of a few others. */
	snapshot_buffer_want(b, IBSM_TABLE_GROUP_MEMBERS,
			     4 * end_ports * sizeof(struct ibsm_snap_group_member));
	snapshot_buffer_want(b, SNAPSHOT_MEMBER_PORTS, 4 * end_ports * sizeof(uint64_t));
	snapshot_buffer_want(b, IBSM_TABLE_OPTIONS,
			     option_table_count * sizeof(struct ibsm_snap_option));
}

void snapshots_prepare(struct snapshots *s)
{
	struct snapshot_buffer *b = NULL;

	for (int i = 0; i < SNAPSHOT_BUFFERS && !b; i++) {
		/* The one that the next snapshot would take back. */
		if (atomic_load(&s->buffers[i].state) == SNAPSHOT_PENDING)
			return;
		if (snapshot_buffer_move(&s->buffers[i], SNAPSHOT_IDLE, SNAPSHOT_FILLING))
			b = &s->buffers[i];
	}
	if (!b)
		return;
	snapshot_buffer_reset(b);
	cl_plock_acquire(&s->osm->lock);
	estimate(b, &s->osm->subn);
	cl_plock_release(&s->osm->lock);
	/* No memory now: the snapshot itself tries again, and counts it. */
	(void)snapshot_buffer_grow(b);
	atomic_store(&b->state, SNAPSHOT_IDLE);
}

bool snapshots_pending(struct snapshots *s)
{
	for (int i = 0; i < SNAPSHOT_BUFFERS; i++)
		if (atomic_load(&s->buffers[i].state) == SNAPSHOT_PENDING)
			return true;
	return false;
}

struct snapshot_buffer *snapshots_receive(struct snapshots *s)
{
	for (int i = 0; i < SNAPSHOT_BUFFERS; i++)
		if (snapshot_buffer_move(&s->buffers[i], SNAPSHOT_PENDING, SNAPSHOT_SENDING))
			return &s->buffers[i];
	return NULL;
}

void snapshots_return(struct snapshots *s, struct snapshot_buffer *b, bool failed)
{
	if (failed) {
		atomic_fetch_add(&s->skipped, 1);
		if (b->reason != IBSM_SNAPSHOT_GROUPS)
			atomic_store(&s->owed, b->reason);
	}
	atomic_store(&b->state, SNAPSHOT_IDLE);
}

void snapshots_init(struct snapshots *s, osm_opensm_t *osm)
{
	memset(s, 0, sizeof(*s));
	s->osm = osm;
}

void snapshots_clear(struct snapshots *s)
{
	for (int i = 0; i < SNAPSHOT_BUFFERS; i++)
		snapshot_buffer_clear(&s->buffers[i]);
}
