// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Tests of plugin/snapshot-*.c on a subnet made by hand, judged by the daemon's own reader.

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <cmocka.h>

#include "fabric/snapshot-read.h"
#include "plugin/snapshot-options.h"
#include "plugin/snapshot-send.h"
#include "plugin/snapshot-take.h"
#include "tests/host/fake-osm.h"

#define INSTANCE UINT64_C(0x1234567812345678)

struct bench {
	osm_opensm_t *osm;
	struct snapshots snapshots;
	struct snapshot_store store;
	struct snapshot *last; /* as the reader has it */
	uint64_t known;
};

static int set_up(void **state)
{
	struct bench *b = calloc(1, sizeof(*b));

	b->osm = fake_osm_new("ibsm.ring=64 other.password=secret");
	snapshots_init(&b->snapshots, b->osm);
	snapshot_store_init(&b->store, INSTANCE);
	*state = b;
	return 0;
}

static int tear_down(void **state)
{
	struct bench *b = *state;

	snapshot_unref(b->last);
	snapshot_store_clear(&b->store);
	snapshots_clear(&b->snapshots);
	fake_osm_free(b->osm);
	free(b);
	return 0;
}

/* What the sender does with a buffer that is pending. Returns snapshot_store_add()'s verdict. */
static int take_up(struct bench *b)
{
	struct snapshot_buffer *buffer = snapshots_receive(&b->snapshots);
	int r;

	assert_non_null(buffer);
	assert_false(snapshots_pending(&b->snapshots));
	r = snapshot_store_add(&b->store, buffer);
	snapshots_return(&b->snapshots, buffer, r < 0);
	return r;
}

/* What the daemon does with what it is sent. */
static void receive(struct bench *b)
{
	struct snapshot_parcel parcel;
	struct snapshot_error error = {""};
	struct snapshot *snapshot = NULL;
	int r;

	assert_int_equal(snapshot_store_parcel(&b->store, b->known, &parcel), 0);
	r = snapshot_read(parcel.fd, b->known ? b->last : NULL, &snapshot, &error);
	if (r < 0)
		fail_msg("%s (%d)", error.text, r);
	assert_int_equal(snapshot->header.size_bytes, parcel.size_bytes);
	assert_int_equal(snapshot->header.generation, b->store.generation);
	assert_int_equal(snapshot->header.instance, INSTANCE);
	assert_int_equal(parcel.full, snapshot->tables_taken == 0);
	snapshot_unref(b->last);
	b->last = snapshot;
	b->known = b->store.generation;
}

static struct snapshot *snap(struct bench *b)
{
	assert_true(snapshots_take(&b->snapshots, IBSM_SNAPSHOT_SUBNET_UP));
	assert_int_equal(take_up(b), 1);
	receive(b);
	return b->last;
}

static const struct ibsm_snap_node *node_by_guid(const struct snapshot *s, uint64_t guid)
{
	for (uint32_t i = 0; i < snapshot_nodes(s); i++)
		if (snapshot_node(s, i)->node_guid == guid)
			return snapshot_node(s, i);
	fail_msg("no node %llx", (unsigned long long)guid);
	return NULL;
}

static uint32_t port_row(const struct snapshot *s, uint64_t guid, uint8_t number)
{
	const struct ibsm_snap_node *node = node_by_guid(s, guid);

	for (uint32_t i = 0; i < node->ports; i++)
		if (snapshot_port(s, node->first_port + i)->port == number)
			return node->first_port + i;
	return IBSM_NONE;
}

static const struct ibsm_snap_port *port(const struct snapshot *s, uint64_t guid, uint8_t number)
{
	uint32_t row = port_row(s, guid, number);

	assert_int_not_equal(row, IBSM_NONE);
	return snapshot_port(s, row);
}

static void test_empty(void **state)
{
	struct bench *b = *state;
	struct snapshot *s = snap(b);

	assert_int_equal(snapshot_nodes(s), 0);
	assert_int_equal(snapshot_ports(s), 0);
	assert_int_equal(snapshot_switches(s), 0);
	assert_int_equal(snapshot_sms(s), 1);
	assert_int_equal(snapshot_sm(s, 0)->self, 1);
	assert_int_equal(snapshot_sm(s, 0)->port, IBSM_NONE);
	assert_int_equal(snapshot_engines(s), 0);
	assert_int_equal(snapshot_subnet(s)->sm_node_guid, 0);
	assert_int_equal(s->header.reason, IBSM_SNAPSHOT_SUBNET_UP);
}

static void test_tree(void **state)
{
	struct bench *b = *state;
	struct snapshot *s;
	const struct ibsm_snap_node *node;
	const struct ibsm_snap_switch *sw;

	fake_osm_build_tree(b->osm, 4, 2, 3);
	s = snap(b);
	assert_int_equal(snapshot_nodes(s), 18);
	assert_int_equal(snapshot_switches(s), 6);
	/* 12 CAs of one port; leaves have ports 0-5, spines 0-4. */
	assert_int_equal(snapshot_ports(s), 12 + 4 * 6 + 2 * 5);
	assert_int_equal(s->warnings.asymmetric_remotes, 0);
	assert_int_equal(s->warnings.odd_values, 0);

	node = node_by_guid(s, FAKE_SWITCH_GUID + 1);
	assert_int_equal(node->type, IBSM_NODE_SWITCH);
	assert_int_equal(node->num_ports, 5);
	assert_int_equal(node->ports, 6);
	assert_int_equal(node->present, 1);
	assert_int_equal(node->vendor_id, 0x0002c9);
	assert_int_equal(node->device_id, 0x1234);
	assert_int_equal(node->system_image_guid, FAKE_SWITCH_GUID + 1);
	assert_string_equal(node->description, "leaf-1");
	sw = snapshot_switch(s, node->switch_index);
	assert_int_equal(sw->lid, 2);
	assert_int_equal(sw->lft_lids, 64);
	assert_int_equal(sw->max_lid, 18);
	assert_int_equal(sw->new_lft, IBSM_NO_OFFSET);
	assert_int_equal(snapshot_lft(s, sw)[18], 1);

	/* Host 4 is the second of leaf 1: port 2 there. */
	node = node_by_guid(s, FAKE_CA_GUID + 4 * 16);
	assert_string_equal(node->description, "host-4 HCA-1");
	assert_int_equal(node->switch_index, IBSM_NONE);
	assert_int_equal(port(s, FAKE_CA_GUID + 4 * 16, 1)->remote,
			 port_row(s, FAKE_SWITCH_GUID + 1, 2));
	assert_int_equal(port(s, FAKE_SWITCH_GUID + 1, 2)->remote,
			 port_row(s, FAKE_CA_GUID + 4 * 16, 1));
	assert_int_equal(port(s, FAKE_SWITCH_GUID + 1, 4)->remote,
			 port_row(s, FAKE_SWITCH_GUID + 4, 2));

	assert_int_equal(snapshot_groups(s), 1);
	assert_int_equal(snapshot_group_members(s), 12);
	for (uint32_t i = 0; i < 12; i++) {
		const struct ibsm_snap_group_member *m = snapshot_group_member(s, i);

		assert_int_equal(snapshot_port(s, m->port)->port_guid, m->gid_guid);
	}
	assert_int_equal(snapshot_partition_members(s), 12);
	assert_int_equal(snapshot_subnet(s)->sm_node_guid, FAKE_CA_GUID);
	assert_int_equal(snapshot_sm(s, 0)->port, port_row(s, FAKE_CA_GUID, 1));
}

static void test_port_fields(void **state)
{
	struct bench *b = *state;
	osm_node_t *ca = fake_osm_add_node(b->osm, 0x100, IB_NODE_TYPE_CA, 2, "ca");
	osm_switch_t *sw = fake_osm_add_switch(b->osm, 0x200, 2, "sw");
	osm_physp_t *physp = &ca->physp_table[1];
	ib_port_info_t *pi = &physp->port_info;
	const struct ibsm_snap_port *row;
	struct snapshot *s;

	fake_osm_give_lid(b->osm, ca, 1, 0x1234);
	fake_osm_give_lid(b->osm, sw->p_node, 0, 0x77);
	fake_osm_link(ca, 1, sw->p_node, 1);
	pi->master_sm_base_lid = cl_hton16(0x55);
	pi->capability_mask |= cl_hton32(0x0a0b0c00);
	pi->capability_mask2 = cl_hton16(0x0d0e);
	pi->diag_code = cl_hton16(0x0102);
	pi->m_key_violations = cl_hton16(1);
	pi->p_key_violations = cl_hton16(2);
	pi->q_key_violations = cl_hton16(3);
	pi->link_width_enabled = 1;
	pi->link_width_supported = 2;
	pi->link_width_active = 4;
	pi->state_info1 = 0x63;	    /* supported 6, state 3 */
	pi->state_info2 = 0x52;	    /* physical 5, down default 2 */
	pi->mkey_lmc = 0xc2;	    /* protect bits, LMC 2 */
	pi->link_speed = 0x43;	    /* active 4, enabled 3 */
	pi->mtu_smsl = 0x47;	    /* NeighborMTU 4, SMSL 7 */
	pi->vl_cap = 0x31;	    /* VLCap 3, InitType 1 */
	pi->mtu_cap = 0xf5;	    /* InitTypeReply, MTUCap 5 */
	pi->vl_enforce = 0x2f;	    /* OperationalVLs 2 */
	pi->error_threshold = 0x9a; /* LocalPhy 9, Overrun 10 */
	pi->link_speed_ext = 0x87;  /* active 8, supported 7 */
	pi->link_speed_ext_enabled = 0xe5;
	pi->link_rt_latency = cl_hton32(0xff000123);
	physp->hop_wf = 6;
	physp->need_update = 1;
	physp->is_prof_ignored = 1;
	physp->ext_port_info.link_speed_active = 1;
	physp->ext_port_info.link_speed_enabled = 1;
	physp->ext_port_info.link_speed_supported = 1;
	sw->p_node->physp_table[0].port_info.capability_mask = cl_hton32(0x00400800);

	s = snap(b);
	row = port(s, 0x100, 1);
	assert_int_equal(row->port_guid, 0x101);
	assert_int_equal(row->lid, 0x1234);
	assert_int_equal(row->sm_lid, 0x55);
	assert_int_equal(row->capability_mask2, 0x0d0e);
	assert_int_equal(row->diag_code, 0x0102);
	assert_int_equal(row->m_key_violations, 1);
	assert_int_equal(row->p_key_violations, 2);
	assert_int_equal(row->q_key_violations, 3);
	assert_int_equal(row->width_enabled, 1);
	assert_int_equal(row->width_supported, 2);
	assert_int_equal(row->width_active, 4);
	assert_int_equal(row->state, 3);
	assert_int_equal(row->speed_supported, 6);
	assert_int_equal(row->physical_state, 5);
	assert_int_equal(row->link_down_default, 2);
	assert_int_equal(row->lmc, 2);
	assert_int_equal(row->speed_active, 4);
	assert_int_equal(row->speed_enabled, 3);
	assert_int_equal(row->mtu_active, 4);
	assert_int_equal(row->sm_sl, 7);
	assert_int_equal(row->vl_supported, 3);
	assert_int_equal(row->mtu_supported, 5);
	assert_int_equal(row->vl_operational, 2);
	assert_int_equal(row->local_phy_errors, 9);
	assert_int_equal(row->overrun_errors, 10);
	assert_int_equal(row->speed_ext_active, 8);
	assert_int_equal(row->speed_ext_supported, 7);
	assert_int_equal(row->speed_ext_enabled, 5);
	assert_int_equal(row->link_round_trip, 0x123);
	assert_int_equal(row->hop_weight, 6);
	assert_int_equal(row->fdr10_active, 1);
	assert_int_equal(row->flags, IBSM_PORT_HEALTHY | IBSM_PORT_NEED_UPDATE |
					     IBSM_PORT_PROFILE_IGNORED | IBSM_PORT_EXTENDED_SPEEDS |
					     IBSM_PORT_FDR10_KNOWN | IBSM_PORT_IN_SERVICE);

	/* A CA has no port 0; its port 2 has no osm_port_t. */
	assert_int_equal(port_row(s, 0x100, 0), IBSM_NONE);
	assert_false(port(s, 0x100, 2)->flags & IBSM_PORT_IN_SERVICE);
	/* External ports of a switch: port 0's mask, no LID, not in service by themselves. */
	assert_int_equal(port(s, 0x200, 0)->lid, 0x77);
	assert_true(port(s, 0x200, 0)->flags & IBSM_PORT_IN_SERVICE);
	assert_int_equal(port(s, 0x200, 1)->lid, 0);
	assert_int_equal(port(s, 0x200, 1)->capability_mask, 0x00400800);
	assert_false(port(s, 0x200, 1)->flags & IBSM_PORT_EXTENDED_SPEEDS);
	assert_int_equal(port(s, 0x200, 1)->port_guid, 0x200);

	pi->link_rt_latency = cl_hton32(0x00012345); /* 24 bits do not fit in 16 */
	assert_int_equal(port(snap(b), 0x100, 1)->link_round_trip, UINT16_MAX);
}

/* GUIDs whose order in opensm's maps (network order) is another than their own. */
static void test_order(void **state)
{
	static const uint64_t guids[] = {0x0100000000000002, 0x0200000000000001, 0x00000000000000ff,
					 0xff00000000000000, 0x0000000000010000};
	struct bench *b = *state;
	struct snapshot *s;

	for (size_t i = 0; i < ELEMENTSOF(guids); i++) {
		fake_osm_add_switch(b->osm, guids[i], 1, "sw");
		fake_osm_add_sm(b->osm, guids[i], 3, IBSM_SM_STANDBY);
	}
	for (uint16_t i = 0; i < 5; i++)
		fake_osm_add_partition(b->osm, (uint16_t)(0x8000 | i << 8 | (5 - i)), "p");
	s = snap(b); /* the reader checks the order of each table */
	assert_int_equal(snapshot_nodes(s), 5);
	assert_int_equal(snapshot_sms(s), 6);
	assert_int_equal(snapshot_partitions(s), 5);
	assert_int_equal(snapshot_partition(s, 0)->pkey, 0x0005);
	assert_int_equal(snapshot_partition(s, 4)->pkey, 0x0401);
}

static void test_lfts(void **state)
{
	struct bench *b = *state;
	osm_switch_t *none = fake_osm_add_switch(b->osm, 0x10, 2, "none");
	osm_switch_t *same = fake_osm_add_switch(b->osm, 0x20, 2, "same");
	osm_switch_t *differs = fake_osm_add_switch(b->osm, 0x30, 2, "differs");
	osm_switch_t *only_new = fake_osm_add_switch(b->osm, 0x40, 2, "only new");
	osm_switch_t *only_old = fake_osm_add_switch(b->osm, 0x50, 2, "only old");
	osm_switch_t *shorter = fake_osm_add_switch(b->osm, 0x60, 2, "shorter");
	const struct ibsm_snap_switch *row;
	struct snapshot *s;

	none->max_lid_ho = 100;
	fake_osm_give_lfts(same, 100, 1);
	fake_osm_give_lfts(differs, 100, 1);
	memset(differs->lft + 64, 0, 64); /* a block whose set failed */
	fake_osm_give_lfts(only_new, 100, 2);
	free(only_new->lft);
	only_new->lft = NULL;
	fake_osm_give_lfts(only_old, 100, 3);
	free(only_old->new_lft);
	only_old->new_lft = NULL;
	fake_osm_give_lfts(shorter, 64, 4);
	shorter->max_lid_ho = 1000; /* more than the table has room for */
	shorter->lft_size = 50;

	s = snap(b);
	row = snapshot_switch(s, 0);
	assert_null(snapshot_lft(s, row));
	assert_null(snapshot_new_lft(s, row));
	assert_int_equal(row->lft_lids, 0);
	row = snapshot_switch(s, 1);
	assert_int_equal(row->lft_lids, 128);
	assert_int_equal(row->max_lid, 99);
	assert_memory_equal(snapshot_lft(s, row), same->lft, 128);
	assert_null(snapshot_new_lft(s, row));
	assert_false(row->flags & IBSM_SWITCH_LFT_DIFFERS);
	row = snapshot_switch(s, 2);
	assert_memory_equal(snapshot_lft(s, row), differs->lft, 128);
	assert_memory_equal(snapshot_new_lft(s, row), differs->new_lft, 128);
	assert_true(row->flags & IBSM_SWITCH_LFT_DIFFERS);
	row = snapshot_switch(s, 3);
	assert_null(snapshot_lft(s, row));
	assert_memory_equal(snapshot_new_lft(s, row), only_new->new_lft, 128);
	row = snapshot_switch(s, 4);
	assert_memory_equal(snapshot_lft(s, row), only_old->lft, 128);
	assert_null(snapshot_new_lft(s, row));
	row = snapshot_switch(s, 5);
	assert_int_equal(row->lft_lids, 50);
	assert_int_equal(row->max_lid, 1000);
	assert_memory_equal(snapshot_lft(s, row), shorter->lft, 50);
}

/* Neighbours that are no longer there, or never were in a table of opensm's. */
static void test_odd_neighbours(void **state)
{
	struct bench *b = *state;
	osm_node_t *a = fake_osm_add_node(b->osm, 0x100, IB_NODE_TYPE_CA, 3, "a");
	osm_node_t *c = fake_osm_add_node(b->osm, 0x200, IB_NODE_TYPE_CA, 1, "c");
	osm_physp_t stray;
	struct snapshot *s;

	memset(&stray, 0, sizeof(stray));
	a->physp_table[1].p_remote_physp = &stray;	       /* in no node */
	a->physp_table[2].p_remote_physp = &c->physp_table[0]; /* not a valid port */
	a->physp_table[3].p_remote_physp =
		(osm_physp_t *)((char *)&c->physp_table[1] + 8); /* not the start of one */
	c->discovery_count = 0;
	s = snap(b);
	for (uint8_t i = 1; i <= 3; i++)
		assert_int_equal(port(s, 0x100, i)->remote, IBSM_NONE);
	assert_int_equal(node_by_guid(s, 0x200)->present, 0);

	/* A node that opensm knows and has not asked for its ports yet. */
	c->physp_table[1].port_guid = 0;
	a->physp_table[1].p_remote_physp = &c->physp_table[1];
	s = snap(b);
	assert_int_equal(node_by_guid(s, 0x200)->ports, 0);
	assert_int_equal(port(s, 0x100, 1)->remote, IBSM_NONE);

	/* A loopback cable. */
	fake_osm_link(a, 2, a, 3);
	s = snap(b);
	assert_int_equal(port(s, 0x100, 2)->remote, port_row(s, 0x100, 3));
}

/* Ports that are missing in the middle, so that a port's place is not its number. */
static void test_gaps(void **state)
{
	struct bench *b = *state;
	osm_switch_t *sw = fake_osm_add_switch(b->osm, 0x100, 6, "sw");
	osm_node_t *ca = fake_osm_add_node(b->osm, 0x200, IB_NODE_TYPE_CA, 1, "ca");
	struct snapshot *s;

	sw->p_node->physp_table[1].port_guid = 0;
	sw->p_node->physp_table[3].port_guid = 0;
	fake_osm_link(sw->p_node, 5, ca, 1);
	s = snap(b);
	assert_int_equal(node_by_guid(s, 0x100)->ports, 5);
	assert_int_equal(port(s, 0x200, 1)->remote, port_row(s, 0x100, 5));
	assert_int_equal(snapshot_port(s, port(s, 0x200, 1)->remote)->port, 5);
}

static void test_sms(void **state)
{
	struct bench *b = *state;
	struct snapshot *s;

	fake_osm_build_tree(b->osm, 2, 1, 2);
	b->osm->subn.opt.sm_priority = 14;
	b->osm->stats.qp0_mads_sent = 1000;
	fake_osm_add_sm(b->osm, FAKE_CA_GUID + 16 + 1, 5, IBSM_SM_STANDBY);
	fake_osm_add_sm(b->osm, 0x999, 6, IBSM_SM_NOT_ACTIVE);
	s = snap(b);
	assert_int_equal(snapshot_sms(s), 3);
	assert_int_equal(snapshot_sm(s, 0)->self, 1);
	assert_int_equal(snapshot_sm(s, 0)->priority, 14);
	assert_int_equal(snapshot_sm(s, 0)->act_count, 1000);
	assert_int_equal(snapshot_sm(s, 0)->state, IBSM_SM_MASTER);
	assert_int_equal(snapshot_sm(s, 1)->port_guid, 0x999);
	assert_int_equal(snapshot_sm(s, 1)->port, IBSM_NONE);
	assert_int_equal(snapshot_sm(s, 1)->priority, 6);
	assert_int_equal(snapshot_sm(s, 2)->port_guid, FAKE_CA_GUID + 16 + 1);
	assert_int_equal(snapshot_sm(s, 2)->state, IBSM_SM_STANDBY);
	assert_int_equal(snapshot_sm(s, 2)->act_count, 42);
	assert_int_equal(snapshot_sm(s, 2)->port, port_row(s, FAKE_CA_GUID + 16, 1));
	assert_int_equal(snapshot_sm(s, 2)->lid, snapshot_port(s, snapshot_sm(s, 2)->port)->lid);
}

static void test_standby(void **state)
{
	struct bench *b = *state;
	struct snapshot *s;

	b->osm->sm.master_sm_guid = cl_hton64(0x4711);
	b->osm->subn.sm_state = IB_SMINFO_STATE_STANDBY;
	s = snap(b);
	assert_int_equal(snapshot_subnet(s)->sm_state, IBSM_SM_STANDBY);
	assert_int_equal(snapshot_subnet(s)->master_sm_guid, 0x4711);
	b->osm->subn.sm_state = IB_SMINFO_STATE_MASTER;
	s = snap(b);
	assert_int_equal(snapshot_subnet(s)->master_sm_guid, 0);
}

static void test_groups_and_partitions(void **state)
{
	static const uint8_t low[16] = {0xff, 0x12, 0, 0, 0, 0, 0, 1};
	static const uint8_t high[16] = {0xff, 0x12, 0, 0, 0, 0, 1, 0};
	struct bench *b = *state;
	osm_node_t *ca = fake_osm_add_node(b->osm, 0x100, IB_NODE_TYPE_CA, 1, "ca");
	osm_port_t *end = fake_osm_give_lid(b->osm, ca, 1, 5);
	osm_mgrp_t *second = fake_osm_add_group(b->osm, high, 0xc002);
	osm_prtn_t *partition = fake_osm_add_partition(b->osm, 0x8123, "storage");
	const struct ibsm_snap_group *group;
	const struct ibsm_snap_group_member *member;
	struct snapshot *s;

	fake_osm_add_group(b->osm, low, 0xc001);
	fake_osm_join(second, end);
	fake_osm_admit(partition, 0x101, true);
	fake_osm_admit(partition, 0x999, false);
	s = snap(b);

	assert_int_equal(snapshot_groups(s), 2);
	assert_int_equal(snapshot_group(s, 0)->mlid, 0xc001);
	assert_int_equal(snapshot_group(s, 0)->members, 0);
	group = snapshot_group(s, 1);
	assert_int_equal(group->mgid_prefix, 0xff12000000000100);
	assert_int_equal(group->mlid, 0xc002);
	assert_int_equal(group->qkey, 0x0b1b);
	assert_int_equal(group->pkey, 0xffff);
	assert_int_equal(group->mtu, 4);
	assert_int_equal(group->rate, 3);
	assert_int_equal(group->packet_life, 18);
	assert_int_equal(group->sl, 3);
	assert_int_equal(group->flow_label, 0x12345);
	assert_int_equal(group->hop_limit, 64);
	assert_int_equal(group->scope, 2);
	assert_int_equal(group->traffic_class, 7);
	assert_int_equal(group->well_known, 1);
	assert_int_equal(group->members, 1);
	member = snapshot_group_member(s, group->first_member);
	assert_int_equal(member->gid_prefix, FAKE_SUBNET_PREFIX);
	assert_int_equal(member->gid_guid, 0x101);
	assert_int_equal(member->join_state, 1);
	assert_int_equal(member->port, port_row(s, 0x100, 1));

	assert_string_equal(snapshot_string(s, snapshot_partition(s, 0)->name), "storage");
	assert_int_equal(snapshot_partition(s, 0)->pkey, 0x0123);
	assert_int_equal(snapshot_partition(s, 0)->members, 2);
	assert_int_equal(snapshot_partition_member(s, 0)->port, port_row(s, 0x100, 1));
	assert_int_equal(snapshot_partition_member(s, 0)->full, 1);
	assert_int_equal(snapshot_partition_member(s, 1)->port_guid, 0x999);
	assert_int_equal(snapshot_partition_member(s, 1)->port, IBSM_NONE);
	assert_int_equal(snapshot_partition_member(s, 1)->full, 0);
}

static uint32_t engine_flags(const struct snapshot *s, const char *name)
{
	for (uint32_t i = 0; i < snapshot_engines(s); i++)
		if (strcmp(snapshot_string(s, snapshot_engine(s, i)->name), name) == 0)
			return snapshot_engine(s, i)->flags;
	return 0;
}

static void test_engines(void **state)
{
	struct bench *b = *state;
	char asked[] = "ftree,bogus, \tupdn no_fallback";
	struct snapshot *s;

	b->osm->subn.opt.routing_engine_names = asked;
	b->osm->no_fallback_routing_engine = TRUE;
	fake_osm_add_engine(b->osm, "ftree", false);
	fake_osm_add_engine(b->osm, "updn", false);
	fake_osm_add_engine(b->osm, "minhop", true);
	s = snap(b);
	assert_int_equal(snapshot_engines(s), 4);
	assert_string_equal(snapshot_string(s, snapshot_engine(s, 0)->name), "ftree");
	assert_int_equal(engine_flags(s, "ftree"),
			 IBSM_ENGINE_ASKED | IBSM_ENGINE_LOADED | IBSM_ENGINE_NO_FALLBACK);
	assert_int_equal(engine_flags(s, "bogus"), IBSM_ENGINE_ASKED | IBSM_ENGINE_NO_FALLBACK);
	assert_int_equal(engine_flags(s, "minhop"), IBSM_ENGINE_LOADED | IBSM_ENGINE_DEFAULT |
							    IBSM_ENGINE_USED |
							    IBSM_ENGINE_NO_FALLBACK);
	b->osm->routing_engine_used = NULL;
	s = snap(b);
	for (uint32_t i = 0; i < snapshot_engines(s); i++)
		assert_false(snapshot_engine(s, i)->flags & IBSM_ENGINE_USED);
	b->osm->subn.opt.routing_engine_names = NULL;
}

static const struct ibsm_snap_option *option(const struct snapshot *s, const char *name)
{
	for (uint32_t i = 0; i < snapshot_options(s); i++)
		if (strcmp(snapshot_string(s, snapshot_option(s, i)->name), name) == 0)
			return snapshot_option(s, i);
	fail_msg("no option %s", name);
	return NULL;
}

static void test_options(void **state)
{
	struct bench *b = *state;
	osm_subn_opt_t *opt = &b->osm->subn.opt;
	char engines[] = "updn";
	struct snapshot *s;

	for (size_t i = 1; i < option_table_count; i++)
		assert_true(strcmp(option_table[i - 1].name, option_table[i].name) < 0);

	opt->sweep_interval = 17;
	opt->lmc = 2;
	opt->qos = TRUE;
	opt->guid = cl_hton64(0x1122334455667788);
	opt->routing_engine_names = engines;
	opt->m_key_lease_period = cl_hton16(0x0102);
	opt->qos_options.high_limit = -1;
	opt->cc_sw_cong_setting_victim_mask[31] = 0xab;
	opt->cc_key = OSM_DEFAULT_CC_KEY;
	opt->sm_key = OSM_DEFAULT_SM_KEY;
	s = snap(b);
	assert_int_equal(snapshot_options(s), option_table_count);
	assert_int_equal(option(s, "sweep_interval")->kind, IBSM_OPTION_INTEGER);
	assert_int_equal(option(s, "sweep_interval")->value, 17);
	assert_int_equal(option(s, "lmc")->value, 2);
	assert_int_equal(option(s, "qos")->kind, IBSM_OPTION_BOOLEAN);
	assert_int_equal(option(s, "qos")->value, 1);
	assert_int_equal(option(s, "guid")->kind, IBSM_OPTION_GUID);
	assert_int_equal(option(s, "guid")->value, 0x1122334455667788);
	assert_int_equal(option(s, "routing_engine")->kind, IBSM_OPTION_STRING);
	assert_string_equal(snapshot_string(s, option(s, "routing_engine")->text), "updn");
	assert_int_equal(option(s, "log_file")->value, 0);
	assert_int_equal(option(s, "m_key_lease_period")->value, 0x0102);
	assert_int_equal((int64_t)option(s, "qos_high_limit")->value, -1);
	assert_string_equal(
		snapshot_string(s, option(s, "cc_sw_cong_setting_victim_mask")->text) + 64, "ab");
	/* Keys: whether they are set, and no more. */
	assert_int_equal(option(s, "m_key")->kind, IBSM_OPTION_SECRET);
	assert_int_equal(option(s, "m_key")->value, 1);
	assert_int_equal(option(s, "sa_key")->value, 1);
	assert_int_equal(option(s, "sm_key")->kind, IBSM_OPTION_SECRET);
	assert_int_equal(option(s, "sm_key")->value, 0);
	assert_int_equal(option(s, "cc_key")->value, 0);
	assert_int_equal(option(s, "event_plugin_options")->kind, IBSM_OPTION_SECRET);
	opt->routing_engine_names = NULL;
}

/* opensm's keys are in its options, in each PortInfo and SMInfo: in none of what we send. */
static void test_no_secrets(void **state)
{
	static const char password[] = "other.password";
	struct bench *b = *state;
	uint64_t host = FAKE_SECRET_KEY, network = cl_hton64(FAKE_SECRET_KEY);
	struct snapshot_parcel parcel;
	void *p;

	fake_osm_build_tree(b->osm, 3, 2, 3);
	fake_osm_add_sm(b->osm, FAKE_CA_GUID + 17, 5, IBSM_SM_STANDBY);
	snap(b);
	assert_int_equal(snapshot_store_parcel(&b->store, 0, &parcel), 0);
	p = mmap(NULL, parcel.size_bytes, PROT_READ, MAP_PRIVATE, parcel.fd, 0);
	assert_ptr_not_equal(p, MAP_FAILED);
	assert_null(memmem(p, parcel.size_bytes, &host, sizeof(host)));
	assert_null(memmem(p, parcel.size_bytes, &network, sizeof(network)));
	assert_null(memmem(p, parcel.size_bytes, password, sizeof(password) - 1));
	assert_non_null(memmem(p, parcel.size_bytes, "host-1", 6));
	munmap(p, parcel.size_bytes);
}

/* ---- what is sent again, and what is not ---- */

static bool is_here(const struct snapshot_store *store, uint32_t id, uint64_t generation)
{
	return store->tables[id].generation == generation;
}

static void test_only_changes(void **state)
{
	struct bench *b = *state;
	osm_switch_t *sw;
	struct snapshot *s;

	fake_osm_build_tree(b->osm, 2, 2, 2);
	s = snap(b);
	assert_int_equal(s->tables_taken, 0);

	/* Nothing happened: a snapshot all the same, of no table. */
	s = snap(b);
	assert_int_equal(s->header.generation, 2);
	assert_int_equal(s->tables_taken, IBSM_TABLE_MAX - 1);
	assert_int_equal(snapshot_nodes(s), 8);

	sw = (osm_switch_t *)cl_qmap_head(&b->osm->subn.sw_guid_tbl);
	sw->lft[3] = sw->new_lft[3] = 2;
	b->osm->stats.sa_mads_sent = 5;
	s = snap(b);
	assert_int_equal(s->tables_taken, IBSM_TABLE_MAX - 1 - 2);
	assert_true(is_here(&b->store, IBSM_TABLE_LFT, 3));
	assert_true(is_here(&b->store, IBSM_TABLE_STATISTICS, 3));
	assert_true(is_here(&b->store, IBSM_TABLE_NODES, 1));
	assert_int_equal(snapshot_statistics(s)->sa_mads_sent, 5);
}

/* A reader that missed one gets the whole, with each table's own generation. */
static void test_missed_one(void **state)
{
	struct bench *b = *state;
	struct snapshot_parcel parcel;
	struct snapshot *s;

	fake_osm_build_tree(b->osm, 2, 2, 2);
	snap(b);
	b->osm->stats.sa_mads_sent = 1;
	assert_true(snapshots_take(&b->snapshots, IBSM_SNAPSHOT_SUBNET_UP));
	assert_int_equal(take_up(b), 1);
	b->osm->stats.sa_mads_sent = 2;
	assert_true(snapshots_take(&b->snapshots, IBSM_SNAPSHOT_SUBNET_UP));
	assert_int_equal(take_up(b), 1);

	assert_int_equal(snapshot_store_parcel(&b->store, 2, &parcel), 0);
	assert_false(parcel.full);
	receive(b); /* known: 1 */
	s = b->last;
	assert_int_equal(s->tables_taken, 0);
	assert_int_equal(s->header.generation, 3);
	assert_int_equal(s->generations[IBSM_TABLE_NODES], 1);
	assert_int_equal(s->generations[IBSM_TABLE_STATISTICS], 3);
	assert_int_equal(snapshot_statistics(s)->sa_mads_sent, 2);

	/* And may go on from there. */
	b->osm->stats.sa_mads_sent = 3;
	s = snap(b);
	assert_int_equal(s->tables_taken, IBSM_TABLE_MAX - 2);

	/* A new connection knows nothing. */
	b->known = 0;
	receive(b);
	assert_int_equal(b->last->tables_taken, 0);
	assert_int_equal(snapshot_statistics(b->last)->sa_mads_sent, 3);
}

static void test_seals(void **state)
{
	struct bench *b = *state;
	struct snapshot_parcel parcel;

	snap(b);
	assert_int_equal(snapshot_store_parcel(&b->store, 0, &parcel), 0);
	assert_int_equal(fcntl(parcel.fd, F_GET_SEALS) &
				 (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE),
			 F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
	assert_true(fcntl(parcel.fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(pwrite(parcel.fd, "x", 1, 0), -1);
}

/* What is kept does not grow with the number of snapshots. */
static void test_memory_is_bounded(void **state)
{
	struct bench *b = *state;
	uint64_t live;

	fake_osm_build_tree(b->osm, 20, 10, 20);
	snap(b);
	live = snapshot_store_bytes(&b->store);
	for (unsigned int i = 0; i < 300; i++) {
		osm_switch_t *sw = (osm_switch_t *)cl_qmap_head(&b->osm->subn.sw_guid_tbl);

		/* Another table each time, and always the LFTs. */
		sw->lft[i % 64]++;
		sw->endport_links += i % 3 == 0;
		b->osm->stats.sa_mads_sent += i % 5 == 0;
		b->osm->subn.opt.sweep_interval += i % 7 == 0;
		b->osm->subn.min_ca_mtu = (uint8_t)(i % 11);
		snap(b);
		assert_true(snapshot_store_bytes(&b->store) <= 3 * live + (2u << 20));
	}
}

/* ---- groups alone ---- */

static void test_groups_alone(void **state)
{
	static const uint8_t mgid[16] = {0xff, 0x15};
	struct bench *b = *state;
	osm_port_t *end;
	struct snapshot *s;

	fake_osm_build_tree(b->osm, 2, 1, 2);
	/* Nothing to follow on yet, whatever the interval. */
	assert_false(snapshots_catch_up(&b->snapshots, true));
	snap(b);
	assert_false(snapshots_catch_up(&b->snapshots, true)); /* too early */

	b->snapshots.groups_nsec = 0; /* long ago */
	assert_true(snapshots_catch_up(&b->snapshots, false));
	assert_int_equal(take_up(b), 0); /* the same as before: not sent */
	assert_int_equal(b->store.generation, 1);

	end = (osm_port_t *)cl_qmap_head(&b->osm->subn.port_guid_tbl);
	fake_osm_join(fake_osm_add_group(b->osm, mgid, 0xc005), end);
	b->snapshots.groups_nsec = 0;
	assert_true(snapshots_catch_up(&b->snapshots, false));
	assert_int_equal(take_up(b), 1);
	receive(b);
	s = b->last;
	assert_int_equal(s->header.reason, IBSM_SNAPSHOT_GROUPS);
	assert_int_equal(s->tables_taken, IBSM_TABLE_MAX - 3);
	assert_int_equal(snapshot_groups(s), 2);
	assert_int_equal(
		snapshot_port(s, snapshot_group_member(s, snapshot_group(s, 1)->first_member)->port)
			->port_guid,
		cl_ntoh64(end->guid));
}

/* ---- buffers ---- */

static void test_pending_is_overwritten(void **state)
{
	struct bench *b = *state;

	assert_true(snapshots_take(&b->snapshots, IBSM_SNAPSHOT_SUBNET_UP));
	b->osm->stats.sa_mads_sent = 77;
	assert_true(snapshots_take(&b->snapshots, IBSM_SNAPSHOT_REROUTE));
	assert_int_equal(take_up(b), 1);
	assert_false(snapshots_pending(&b->snapshots));
	receive(b);
	assert_int_equal(b->last->header.reason, IBSM_SNAPSHOT_REROUTE);
	assert_int_equal(snapshot_statistics(b->last)->sa_mads_sent, 77);
	assert_int_equal(b->store.generation, 1);
	assert_int_equal(atomic_load(&b->snapshots.skipped), 0);
}

/* Groups alone must not push out a whole snapshot. */
static void test_groups_do_not_overwrite(void **state)
{
	struct bench *b = *state;

	assert_true(snapshots_take(&b->snapshots, IBSM_SNAPSHOT_SUBNET_UP));
	b->snapshots.groups_nsec = 0;
	assert_false(snapshots_catch_up(&b->snapshots, true));
	assert_int_equal(take_up(b), 1);
	receive(b);
	assert_int_equal(b->last->header.reason, IBSM_SNAPSHOT_SUBNET_UP);
}

static void test_second_buffer_and_skips(void **state)
{
	struct bench *b = *state;
	struct snapshot_buffer *first, *second;

	assert_true(snapshots_take(&b->snapshots, IBSM_SNAPSHOT_SUBNET_UP));
	first = snapshots_receive(&b->snapshots);
	assert_true(snapshots_take(&b->snapshots, IBSM_SNAPSHOT_SUBNET_UP));
	second = snapshots_receive(&b->snapshots);
	assert_ptr_not_equal(first, second);
	snapshots_prepare(&b->snapshots); /* nothing to prepare: both are away */

	assert_false(snapshots_take(&b->snapshots, IBSM_SNAPSHOT_REROUTE));
	assert_int_equal(atomic_load(&b->snapshots.skipped), 1);
	assert_false(snapshots_catch_up(&b->snapshots, false)); /* not in the middle of a sweep */
	snapshots_return(&b->snapshots, first, false);
	snapshots_return(&b->snapshots, second, false);
	assert_true(snapshots_catch_up(&b->snapshots, true));
	assert_int_equal(take_up(b), 1);
	receive(b);
	assert_int_equal(b->last->header.reason, IBSM_SNAPSHOT_REROUTE);
	assert_false(snapshots_catch_up(&b->snapshots, true)); /* not owed any more */
}

/* The sender could not make a memfd: owed as well. */
static void test_failure_is_owed(void **state)
{
	struct bench *b = *state;

	assert_true(snapshots_take(&b->snapshots, IBSM_SNAPSHOT_SUBNET_UP));
	snapshots_return(&b->snapshots, snapshots_receive(&b->snapshots), true);
	assert_int_equal(atomic_load(&b->snapshots.skipped), 1);
	assert_true(snapshots_catch_up(&b->snapshots, true));
	assert_int_equal(take_up(b), 1);
}

/* The lock is not held while memory is got, and it is free afterwards. */
static void test_lock_is_released(void **state)
{
	struct bench *b = *state;

	fake_osm_build_tree(b->osm, 4, 2, 4);
	snap(b);
	snapshots_prepare(&b->snapshots);
	assert_int_equal(pthread_rwlock_trywrlock(&b->osm->lock.lock), 0);
	pthread_rwlock_unlock(&b->osm->lock.lock);
	assert_true(atomic_load(&b->snapshots.lock_max_nsec) > 0);
}

/* Memory got at HEAVY_SWEEP_DONE is enough: the copy is done once. */
static void test_prepared_is_enough(void **state)
{
	struct bench *b = *state;
	size_t before[SNAPSHOT_AREAS];

	fake_osm_build_tree(b->osm, 30, 15, 20);
	snapshots_prepare(&b->snapshots);
	for (int i = 0; i < SNAPSHOT_AREAS; i++)
		before[i] = b->snapshots.buffers[0].areas[i].capacity;
	snap(b);
	for (int i = 0; i < SNAPSHOT_AREAS; i++)
		assert_int_equal(b->snapshots.buffers[0].areas[i].capacity, before[i]);
	/* The second buffer is not touched as long as one does. */
	assert_null(b->snapshots.buffers[1].areas[IBSM_TABLE_NODES].data);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_empty),
		TEST(test_tree),
		TEST(test_port_fields),
		TEST(test_order),
		TEST(test_lfts),
		TEST(test_odd_neighbours),
		TEST(test_gaps),
		TEST(test_sms),
		TEST(test_standby),
		TEST(test_groups_and_partitions),
		TEST(test_engines),
		TEST(test_options),
		TEST(test_no_secrets),
		TEST(test_only_changes),
		TEST(test_missed_one),
		TEST(test_seals),
		TEST(test_memory_is_bounded),
		TEST(test_groups_alone),
		TEST(test_pending_is_overwritten),
		TEST(test_groups_do_not_overwrite),
		TEST(test_second_buffer_and_skips),
		TEST(test_failure_is_owed),
		TEST(test_lock_is_released),
		TEST(test_prepared_is_enough),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
