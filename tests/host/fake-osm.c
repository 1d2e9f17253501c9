// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// An opensm that never runs: its structures, with a subnet built by hand, for tests of the plugin.

#include "fake-osm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *must(void *p)
{
	if (!p) {
		perror("fake-osm");
		abort();
	}
	return p;
}

static int compare_mgids(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(ib_gid_t));
}

osm_opensm_t *fake_osm_new(const char *plugin_options)
{
	osm_opensm_t *osm = must(calloc(1, sizeof(*osm)));
	osm_subn_t *subn = &osm->subn;

	osm->osm_version = OSM_VERSION;
	subn->p_osm = osm;
	osm->sm.p_subn = subn;
	osm->sm.p_lock = &osm->lock;
	osm->sm.p_log = &osm->log;
	osm->sm.mad_ctrl.p_stats = &osm->stats;
	osm->vl15.p_stats = &osm->stats;

	cl_plock_init(&osm->lock);
	osm_log_init_v2(&osm->log, TRUE, OSM_LOG_ERROR, "stdout", 0, FALSE);
	cl_qmap_init(&subn->sw_guid_tbl);
	cl_qmap_init(&subn->node_guid_tbl);
	cl_qmap_init(&subn->port_guid_tbl);
	cl_qmap_init(&subn->prtn_pkey_tbl);
	cl_qmap_init(&subn->sm_guid_tbl);
	cl_fmap_init(&subn->mgrp_mgid_tbl, compare_mgids);
	cl_ptr_vector_construct(&subn->port_lid_tbl);

	subn->sm_state = IB_SMINFO_STATE_DISCOVERING;
	subn->sweeping_enabled = TRUE;
	subn->max_ucast_lid_ho = IB_LID_UCAST_END_HO;
	subn->max_mcast_lid_ho = IB_LID_MCAST_END_HO;
	subn->min_ca_mtu = IB_MTU_LEN_4096;
	subn->opt.subnet_prefix = cl_hton64(FAKE_SUBNET_PREFIX);
	subn->opt.m_key = cl_hton64(FAKE_SECRET_KEY);
	subn->opt.sm_key = cl_hton64(FAKE_SECRET_KEY);
	subn->opt.sa_key = cl_hton64(FAKE_SECRET_KEY);
	subn->opt.cc_key = cl_hton64(FAKE_SECRET_KEY);
	subn->opt.sweep_interval = 10;
	subn->opt.sminfo_polling_timeout = 10000;
	subn->opt.polling_retry_number = 4;
	subn->opt.fdr10 = 1;
	if (plugin_options)
		subn->opt.event_plugin_options = must(strdup(plugin_options));
	return osm;
}

static void free_members(osm_mgrp_t *group)
{
	cl_map_item_t *item;

	while ((item = cl_qmap_head(&group->mcm_alias_port_tbl)) !=
	       cl_qmap_end(&group->mcm_alias_port_tbl)) {
		cl_qmap_remove_item(&group->mcm_alias_port_tbl, item);
		free(item);
	}
	while ((item = cl_qmap_head(&group->mcm_port_tbl)) != cl_qmap_end(&group->mcm_port_tbl)) {
		cl_qmap_remove_item(&group->mcm_port_tbl, item);
		free(item);
	}
}

static void free_partition(osm_prtn_t *partition)
{
	cl_map_remove_all(&partition->full_guid_tbl);
	cl_map_destroy(&partition->full_guid_tbl);
	cl_map_remove_all(&partition->part_guid_tbl);
	cl_map_destroy(&partition->part_guid_tbl);
	free(partition);
}

static cl_map_item_t *take_head(cl_qmap_t *map)
{
	cl_map_item_t *item = cl_qmap_head(map);

	if (item == cl_qmap_end(map))
		return NULL;
	cl_qmap_remove_item(map, item);
	return item;
}

osm_opensm_t *fake_osm_free(osm_opensm_t *osm)
{
	osm_subn_t *subn;
	cl_map_item_t *item;
	cl_fmap_item_t *group;

	if (!osm)
		return NULL;
	subn = &osm->subn;
	while ((item = take_head(&subn->sw_guid_tbl))) {
		free(((osm_switch_t *)item)->lft);
		free(((osm_switch_t *)item)->new_lft);
		free(item);
	}
	while ((item = take_head(&subn->node_guid_tbl)))
		free(item);
	while ((item = take_head(&subn->port_guid_tbl)))
		free(item);
	while ((item = take_head(&subn->sm_guid_tbl)))
		free(item);
	while ((item = take_head(&subn->prtn_pkey_tbl)))
		free_partition((osm_prtn_t *)item);
	while ((group = cl_fmap_head(&subn->mgrp_mgid_tbl)) != cl_fmap_end(&subn->mgrp_mgid_tbl)) {
		cl_fmap_remove_item(&subn->mgrp_mgid_tbl, group);
		free_members((osm_mgrp_t *)group);
		free(group);
	}
	while (osm->routing_engine_list) {
		struct osm_routing_engine *engine = osm->routing_engine_list;

		osm->routing_engine_list = engine->next;
		free(engine);
	}
	cl_plock_destroy(&osm->lock);
	osm_log_destroy(&osm->log);
	free(subn->opt.event_plugin_options);
	free(osm);
	return NULL;
}

static void fill_port(osm_node_t *node, uint8_t number, uint64_t guid)
{
	osm_physp_t *physp = &node->physp_table[number];
	ib_port_info_t *pi = &physp->port_info;

	physp->port_guid = cl_hton64(guid);
	physp->port_num = number;
	physp->p_node = node;
	physp->healthy = TRUE;
	pi->m_key = cl_hton64(FAKE_SECRET_KEY);
	pi->local_port_num = number;
	pi->capability_mask = IB_PORT_CAP_HAS_EXT_SPEEDS;
	pi->link_width_enabled = 3;
	pi->link_width_supported = 3;
	pi->state_info1 = 0x70 | IB_LINK_DOWN;
	pi->state_info2 = IB_PORT_PHYS_STATE_POLLING << 4 | 2;
	pi->link_speed = 0x07;
	pi->link_speed_ext = 0x07;
	pi->link_speed_ext_enabled = 0x07;
	pi->mtu_smsl = IB_MTU_LEN_4096 << 4;
	pi->mtu_cap = IB_MTU_LEN_4096;
	pi->vl_cap = 0x40;
	pi->vl_enforce = 0x40;
	pi->error_threshold = 0x88;
}

osm_node_t *fake_osm_add_node(osm_opensm_t *osm, uint64_t guid, uint8_t type, uint8_t ports,
			      const char *description)
{
	size_t slots = (size_t)ports + 1;
	osm_node_t *node =
		must(calloc(1, sizeof(*node) + (slots - 1) * sizeof(node->physp_table[0])));

	node->node_info.base_version = 1;
	node->node_info.class_version = 1;
	node->node_info.node_type = type;
	node->node_info.num_ports = ports;
	node->node_info.sys_guid = cl_hton64(guid);
	node->node_info.node_guid = cl_hton64(guid);
	node->node_info.port_guid = cl_hton64(type == IB_NODE_TYPE_SWITCH ? guid : guid + 1);
	node->node_info.partition_cap = cl_hton16(8);
	node->node_info.device_id = cl_hton16(0x1234);
	node->node_info.port_num_vendor_id = cl_hton32(0x010002c9);
	memcpy(node->node_desc.description, description,
	       strnlen(description, sizeof(node->node_desc.description)));
	node->discovery_count = 1;
	node->physp_tbl_size = (uint32_t)slots;
	for (unsigned int i = 0; i < slots; i++) {
		if (type == IB_NODE_TYPE_SWITCH)
			fill_port(node, (uint8_t)i, guid);
		else if (i > 0)
			fill_port(node, (uint8_t)i, guid + i);
	}
	cl_qmap_insert(&osm->subn.node_guid_tbl, node->node_info.node_guid, &node->map_item);
	return node;
}

osm_switch_t *fake_osm_add_switch(osm_opensm_t *osm, uint64_t guid, uint8_t ports,
				  const char *description)
{
	osm_switch_t *sw = must(calloc(1, sizeof(*sw)));

	sw->p_node = fake_osm_add_node(osm, guid, IB_NODE_TYPE_SWITCH, ports, description);
	sw->p_node->sw = sw;
	sw->num_ports = (uint8_t)(ports + 1);
	sw->switch_info.lin_cap = cl_hton16(49152);
	sw->switch_info.mcast_cap = cl_hton16(16384);
	sw->switch_info.life_state = 0x90;
	cl_qmap_insert(&osm->subn.sw_guid_tbl, sw->p_node->node_info.node_guid, &sw->map_item);
	return sw;
}

osm_port_t *fake_osm_give_lid(osm_opensm_t *osm, osm_node_t *node, uint8_t number, uint16_t lid)
{
	osm_port_t *port = must(calloc(1, sizeof(*port)));

	port->p_node = node;
	port->p_physp = &node->physp_table[number];
	port->guid = port->p_physp->port_guid;
	port->lid = cl_hton16(lid);
	port->discovery_count = 1;
	port->p_physp->port_info.base_lid = cl_hton16(lid);
	cl_qmap_insert(&osm->subn.port_guid_tbl, port->guid, &port->map_item);
	return port;
}

static void raise_link(osm_physp_t *physp)
{
	physp->port_info.state_info1 = 0x70 | IB_LINK_ACTIVE;
	physp->port_info.state_info2 = IB_PORT_PHYS_STATE_LINKUP << 4 | 2;
	physp->port_info.link_width_active = IB_LINK_WIDTH_ACTIVE_4X;
	physp->port_info.link_speed = 0x47;
	physp->port_info.link_speed_ext = 0x27;
}

void fake_osm_link(osm_node_t *a, uint8_t port_a, osm_node_t *b, uint8_t port_b)
{
	osm_physp_t *x = &a->physp_table[port_a], *y = &b->physp_table[port_b];

	x->p_remote_physp = y;
	y->p_remote_physp = x;
	raise_link(x);
	raise_link(y);
}

void fake_osm_give_lfts(osm_switch_t *sw, uint16_t lids, uint8_t fill)
{
	size_t bytes = ((size_t)lids + 63) / 64 * 64;

	free(sw->lft);
	free(sw->new_lft);
	sw->lft = must(malloc(bytes));
	sw->new_lft = must(malloc(bytes));
	memset(sw->lft, fill, bytes);
	memset(sw->new_lft, fill, bytes);
	sw->lft_size = (uint16_t)bytes;
	sw->max_lid_ho = (uint16_t)(lids - 1);
	sw->switch_info.lin_top = cl_hton16((uint16_t)(lids - 1));
}

osm_mgrp_t *fake_osm_add_group(osm_opensm_t *osm, const uint8_t mgid[16], uint16_t mlid)
{
	osm_mgrp_t *group = must(calloc(1, sizeof(*group)));
	ib_member_rec_t *rec = &group->mcmember_rec;

	memcpy(rec->mgid.raw, mgid, sizeof(rec->mgid.raw));
	rec->mlid = cl_hton16(mlid);
	rec->qkey = cl_hton32(0x0b1b);
	rec->pkey = cl_hton16(0xffff);
	rec->mtu = 0x80 | IB_MTU_LEN_2048;
	rec->rate = 0x80 | IB_PATH_RECORD_RATE_10_GBS;
	rec->pkt_life = 0x80 | 18;
	rec->sl_flow_hop = ib_member_set_sl_flow_hop(3, 0x12345, 64);
	rec->scope_state = 0x21;
	rec->tclass = 7;
	group->mlid = rec->mlid;
	group->well_known = TRUE;
	cl_qmap_init(&group->mcm_port_tbl);
	cl_qmap_init(&group->mcm_alias_port_tbl);
	cl_fmap_insert(&osm->subn.mgrp_mgid_tbl, &rec->mgid, &group->map_item);
	return group;
}

void fake_osm_join(osm_mgrp_t *group, osm_port_t *port)
{
	osm_mcm_port_t *member = must(calloc(1, sizeof(*member)));
	osm_mcm_alias_guid_t *alias = must(calloc(1, sizeof(*alias)));

	member->port = port;
	member->mgrp = group;
	alias->alias_guid = port->guid;
	alias->p_base_mcm_port = member;
	alias->port_gid.unicast.prefix = cl_hton64(FAKE_SUBNET_PREFIX);
	alias->port_gid.unicast.interface_id = port->guid;
	alias->scope_state = 0x21;
	cl_qmap_insert(&group->mcm_port_tbl, port->guid, &member->map_item);
	cl_qmap_insert(&group->mcm_alias_port_tbl, alias->alias_guid, &alias->map_item);
}

osm_prtn_t *fake_osm_add_partition(osm_opensm_t *osm, uint16_t pkey, const char *name)
{
	osm_prtn_t *partition = must(calloc(1, sizeof(*partition)));

	partition->pkey = cl_hton16(pkey);
	snprintf(partition->name, sizeof(partition->name), "%s", name);
	cl_map_init(&partition->full_guid_tbl, 32);
	cl_map_init(&partition->part_guid_tbl, 32);
	cl_qmap_insert(&osm->subn.prtn_pkey_tbl, partition->pkey, &partition->map_item);
	return partition;
}

void fake_osm_admit(osm_prtn_t *partition, uint64_t port_guid, bool full)
{
	cl_map_insert(full ? &partition->full_guid_tbl : &partition->part_guid_tbl,
		      cl_hton64(port_guid), partition);
}

void fake_osm_add_sm(osm_opensm_t *osm, uint64_t port_guid, uint8_t priority, uint8_t state)
{
	osm_remote_sm_t *sm = must(calloc(1, sizeof(*sm)));

	sm->smi.guid = cl_hton64(port_guid);
	sm->smi.sm_key = cl_hton64(FAKE_SECRET_KEY);
	sm->smi.act_count = cl_hton32(42);
	sm->smi.pri_state = (uint8_t)(priority << 4 | state);
	cl_qmap_insert(&osm->subn.sm_guid_tbl, sm->smi.guid, &sm->map_item);
}

void fake_osm_add_engine(osm_opensm_t *osm, const char *name, bool used)
{
	struct osm_routing_engine *engine = must(calloc(1, sizeof(*engine)));
	struct osm_routing_engine **last = &osm->routing_engine_list;

	engine->name = name;
	while (*last)
		last = &(*last)->next;
	*last = engine;
	if (used)
		osm->routing_engine_used = engine;
	if (strcmp(name, "minhop") == 0)
		osm->default_routing_engine = engine;
}

void fake_osm_build_tree(osm_opensm_t *osm, unsigned int leaves, unsigned int spines,
			 unsigned int hosts)
{
	static const uint8_t mgid[16] = {0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, 0,	   0,
					 0,    0,    0,	   0,	 0xff, 0xff, 0xff, 0xff};
	osm_switch_t **sw = must(calloc(leaves + spines, sizeof(*sw)));
	osm_mgrp_t *group = fake_osm_add_group(osm, mgid, 0xc000);
	osm_prtn_t *partition = fake_osm_add_partition(osm, 0x7fff, "Default");
	uint16_t lid = 1;
	char name[64];

	for (unsigned int i = 0; i < leaves + spines; i++) {
		snprintf(name, sizeof(name), "%s-%u", i < leaves ? "leaf" : "spine", i);
		sw[i] = fake_osm_add_switch(osm, FAKE_SWITCH_GUID + i,
					    (uint8_t)(i < leaves ? hosts + spines : leaves), name);
		fake_osm_give_lid(osm, sw[i]->p_node, 0, lid++);
	}
	for (unsigned int i = 0; i < leaves; i++)
		for (unsigned int j = 0; j < spines; j++)
			fake_osm_link(sw[i]->p_node, (uint8_t)(hosts + j + 1),
				      sw[leaves + j]->p_node, (uint8_t)(i + 1));
	for (unsigned int i = 0; i < leaves * hosts; i++) {
		uint64_t guid = FAKE_CA_GUID + (uint64_t)i * 16;
		osm_node_t *ca;

		snprintf(name, sizeof(name), "host-%u HCA-1", i);
		ca = fake_osm_add_node(osm, guid, IB_NODE_TYPE_CA, 1, name);
		fake_osm_join(group, fake_osm_give_lid(osm, ca, 1, lid++));
		fake_osm_admit(partition, guid + 1, true);
		fake_osm_link(ca, 1, sw[i / hosts]->p_node, (uint8_t)(i % hosts + 1));
	}
	for (unsigned int i = 0; i < leaves + spines; i++)
		fake_osm_give_lfts(sw[i], lid, 1);
	free(sw);

	fake_osm_add_engine(osm, "minhop", true);
	osm->subn.sm_port_guid = cl_hton64(FAKE_CA_GUID + 1);
	osm->subn.sm_base_lid = cl_hton16((uint16_t)(leaves + spines + 1));
	osm->subn.sm_state = IB_SMINFO_STATE_MASTER;
}
