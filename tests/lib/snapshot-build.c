// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The builder's fabric: nodes, cables, LFTs and settings.
#include "snapshot-build.h"

#include "ibsm/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *must(void *p)
{
	if (!p)
		abort();
	return p;
}

/* One more zeroed element at the end of an array. */
static void *append(void *array, size_t *count, size_t size)
{
	unsigned char *grown = must(reallocarray(array, *count + 1, size));

	memset(grown + *count * size, 0, size);
	(*count)++;
	return grown;
}

uint64_t build_random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

uint32_t build_random_below(uint64_t *state, uint32_t below)
{
	return (uint32_t)((build_random_next(state) >> 20) % below);
}

struct builder *build_new(void)
{
	struct builder *b = must(calloc(1, sizeof(*b)));

	b->header = (struct ibsm_snapshot_header){
		.magic = IBSM_SNAPSHOT_MAGIC,
		.version = IBSM_SNAPSHOT_VERSION,
		.header_bytes = sizeof(struct ibsm_snapshot_header),
		.generation = 1,
		.instance = 0x1b5301b5301b53,
		.monotonic_nsec = 1000000000,
		.realtime_nsec = 1700000000000000000,
		.reason = IBSM_SNAPSHOT_SUBNET_UP,
	};
	b->subnet = (struct ibsm_snap_subnet){
		.subnet_prefix = 0xfe80000000000000,
		.max_unicast_lid = IBSM_UNICAST_LID_MAX,
		.max_multicast_lid = 0xffff,
		.sm_state = 3,
	};
	return b;
}

struct builder *build_free(struct builder *b)
{
	if (!b)
		return NULL;
	for (size_t i = 0; i < b->node_count; i++) {
		free(b->nodes[i].ports);
		free(b->nodes[i].lft);
		free(b->nodes[i].new_lft);
	}
	for (size_t i = 0; i < b->group_count; i++)
		free(b->groups[i].members);
	for (size_t i = 0; i < b->partition_count; i++)
		free(b->partitions[i].members);
	free(b->nodes);
	free(b->sms);
	free(b->groups);
	free(b->partitions);
	free(b->options);
	free(b->engines);
	free(b);
	return NULL;
}

int build_node(struct builder *b, uint8_t type, uint64_t node_guid, const char *description,
	       uint8_t num_ports)
{
	struct build_node *node;

	b->nodes = append(b->nodes, &b->node_count, sizeof(*b->nodes));
	node = &b->nodes[b->node_count - 1];
	node->row = (struct ibsm_snap_node){
		.node_guid = node_guid,
		.port_guid = type == IBSM_NODE_SWITCH ? node_guid : node_guid + 1,
		.system_image_guid = node_guid + 0x100000000,
		.vendor_id = 0x2c9,
		.device_id = type == IBSM_NODE_SWITCH ? 0xcb20 : 0x1017,
		.revision = 0xa0,
		.type = type,
		.num_ports = num_ports,
		.base_version = 1,
		.class_version = 1,
		.present = 1,
	};
	memcpy(node->row.description, description,
	       strnlen(description, sizeof(node->row.description)));
	if (type == IBSM_NODE_SWITCH) {
		node->has_switch = true;
		node->switch_row.linear_cap = IBSM_UNICAST_LID_MAX;
		node->switch_row.multicast_cap = 0x3fff;
		build_port(b, (int)b->node_count - 1, 0)->row.state = 4;
	}
	return (int)b->node_count - 1;
}

struct build_port *build_port(struct builder *b, int node, uint8_t port)
{
	struct build_node *n = &b->nodes[node];
	struct build_port *p;
	size_t at = 0;

	while (at < n->port_count && n->ports[at].row.port < port)
		at++;
	if (at < n->port_count && n->ports[at].row.port == port)
		return &n->ports[at];
	n->ports = append(n->ports, &n->port_count, sizeof(*n->ports));
	memmove(n->ports + at + 1, n->ports + at, (n->port_count - 1 - at) * sizeof(*n->ports));
	p = &n->ports[at];
	*p = (struct build_port){
		.row = {.port_guid = n->row.type == IBSM_NODE_SWITCH ? n->row.node_guid
								     : n->row.node_guid + port,
			.port = port,
			.state = 1,
			.physical_state = 2,
			.width_active = 2,
			.width_enabled = 3,
			.width_supported = 3,
			.speed_active = 4,
			.speed_enabled = 7,
			.speed_supported = 7,
			.speed_ext_active = 2,
			.speed_ext_enabled = 3,
			.speed_ext_supported = 3,
			.mtu_supported = 5,
			.mtu_active = 5,
			.vl_supported = 4,
			.vl_operational = 4,
			.flags = IBSM_PORT_HEALTHY | IBSM_PORT_EXTENDED_SPEEDS},
		.remote_node = -1,
	};
	return p;
}

void build_unlink(struct builder *b, int node, uint8_t port)
{
	struct build_port *here = build_port(b, node, port);
	int remote_node = here->remote_node;
	struct build_port *there;

	if (remote_node < 0)
		return;
	there = build_port(b, remote_node, here->remote_port);
	here->remote_node = there->remote_node = -1;
	here->row.state = there->row.state = 1;
	here->row.physical_state = there->row.physical_state = 2;
}

static void plug(struct builder *b, int node, uint8_t port, int remote_node, uint8_t remote_port)
{
	struct build_port *p = build_port(b, node, port);

	p->remote_node = remote_node;
	p->remote_port = remote_port;
	p->row.state = 4;
	p->row.physical_state = 5;
}

void build_link(struct builder *b, int node_a, uint8_t port_a, int node_b, uint8_t port_b)
{
	build_unlink(b, node_a, port_a);
	build_unlink(b, node_b, port_b);
	plug(b, node_a, port_a, node_b, port_b);
	plug(b, node_b, port_b, node_a, port_a);
}

void build_remove(struct builder *b, int node)
{
	for (size_t i = 0; i < b->nodes[node].port_count; i++)
		build_unlink(b, node, b->nodes[node].ports[i].row.port);
	b->nodes[node].removed = true;
}

void build_restore(struct builder *b, int node)
{
	b->nodes[node].removed = false;
}

void build_lid(struct builder *b, int node, uint8_t port, uint16_t lid, uint8_t lmc)
{
	struct build_port *p = build_port(b, node, port);

	p->row.lid = lid;
	p->row.lmc = lmc;
	p->row.flags |= IBSM_PORT_IN_SERVICE;
	if (b->nodes[node].row.type == IBSM_NODE_SWITCH)
		b->nodes[node].switch_row.lid = lid;
}

uint16_t build_lids(struct builder *b)
{
	uint16_t lid = 0;

	for (int switches = 1; switches >= 0; switches--)
		for (size_t i = 0; i < b->node_count; i++) {
			struct build_node *n = &b->nodes[i];

			if ((n->row.type == IBSM_NODE_SWITCH) != switches || n->removed)
				continue;
			for (size_t p = 0; p < n->port_count; p++)
				if (switches ? n->ports[p].row.port == 0
					     : n->ports[p].remote_node >= 0)
					build_lid(b, (int)i, n->ports[p].row.port, ++lid, 0);
		}
	return lid;
}

uint8_t *build_lft(struct builder *b, int node, uint32_t lids)
{
	struct build_node *n = &b->nodes[node];

	if (!n->lft || n->lft_lids != lids) {
		free(n->lft);
		free(n->new_lft);
		n->new_lft = NULL;
		n->lft = must(malloc(lids ? lids : 1));
		memset(n->lft, IBSM_LFT_NO_PATH, lids);
		n->lft_lids = lids;
		n->switch_row.lft_top = (uint16_t)(lids ? lids - 1 : 0);
		n->switch_row.max_lid = n->switch_row.lft_top;
	}
	return n->lft;
}

uint8_t *build_new_lft(struct builder *b, int node)
{
	struct build_node *n = &b->nodes[node];

	if (!n->new_lft) {
		n->new_lft = must(malloc(n->lft_lids ? n->lft_lids : 1));
		memcpy(n->new_lft, n->lft, n->lft_lids);
	}
	return n->new_lft;
}

static bool is_switch(const struct builder *b, int node)
{
	return b->nodes[node].row.type == IBSM_NODE_SWITCH && !b->nodes[node].removed;
}

/* Sets the LFTs' entries of LIDs first … last, which all end at `port` of `node`. `distance` and
 * `queue` are scratch, by node. */
static void route_to(struct builder *b, int node, const struct build_port *port, int *distance,
		     int *queue)
{
	uint32_t first = port->row.lid, last = first + (1u << port->row.lmc) - 1;
	size_t head = 0, tail = 0;

	for (size_t i = 0; i < b->node_count; i++)
		distance[i] = -1;
	if (is_switch(b, node)) {
		distance[node] = 0;
		queue[tail++] = node;
		for (uint32_t lid = first; lid <= last; lid++)
			b->nodes[node].lft[lid] = 0;
	} else if (port->remote_node >= 0 && is_switch(b, port->remote_node)) {
		distance[port->remote_node] = 1;
		queue[tail++] = port->remote_node;
		for (uint32_t lid = first; lid <= last; lid++)
			b->nodes[port->remote_node].lft[lid] = port->remote_port;
	}
	while (head < tail) {
		const struct build_node *n = &b->nodes[queue[head]];
		int at = distance[queue[head++]];

		for (size_t p = 0; p < n->port_count; p++) {
			int remote = n->ports[p].remote_node;

			if (remote >= 0 && is_switch(b, remote) && distance[remote] < 0) {
				distance[remote] = at + 1;
				queue[tail++] = remote;
			}
		}
	}
	for (size_t i = 1; i < tail; i++) {
		struct build_node *n = &b->nodes[queue[i]];
		uint8_t ports[IBSM_PORTS_MAX];
		uint32_t count = 0;

		for (size_t p = 0; p < n->port_count; p++) {
			int remote = n->ports[p].remote_node;

			if (remote >= 0 && is_switch(b, remote) &&
			    distance[remote] == distance[queue[i]] - 1)
				ports[count++] = n->ports[p].row.port;
		}
		for (uint32_t lid = first; lid <= last; lid++)
			n->lft[lid] = ports[lid % count];
	}
}

void build_route(struct builder *b)
{
	_cleanup_free_ int *distance = must(calloc(b->node_count + 1, sizeof(*distance)));
	_cleanup_free_ int *queue = must(calloc(b->node_count + 1, sizeof(*queue)));
	uint32_t last = 0;

	for (size_t i = 0; i < b->node_count; i++)
		for (size_t p = 0; p < b->nodes[i].port_count; p++) {
			const struct ibsm_snap_port *row = &b->nodes[i].ports[p].row;

			if (row->lid && row->lid + (1u << row->lmc) - 1 > last)
				last = row->lid + (1u << row->lmc) - 1;
		}
	for (size_t i = 0; i < b->node_count; i++)
		if (is_switch(b, (int)i)) {
			uint8_t *lft = build_lft(b, (int)i, last + 1);

			memset(lft, IBSM_LFT_NO_PATH, last + 1);
		}
	for (size_t i = 0; i < b->node_count; i++)
		for (size_t p = 0; p < b->nodes[i].port_count; p++)
			if (b->nodes[i].ports[p].row.lid && !b->nodes[i].removed)
				route_to(b, (int)i, &b->nodes[i].ports[p], distance, queue);
}

void build_sm(struct builder *b, uint64_t port_guid, uint8_t state, uint8_t priority, bool self)
{
	for (size_t i = 0; i < b->sm_count; i++)
		if (b->sms[i].port_guid == port_guid) {
			b->sms[i].state = state;
			b->sms[i].priority = priority;
			return;
		}
	b->sms = append(b->sms, &b->sm_count, sizeof(*b->sms));
	b->sms[b->sm_count - 1] = (struct ibsm_snap_sm){
		.port_guid = port_guid, .state = state, .priority = priority, .self = self};
	if (self)
		b->subnet.sm_port_guid = port_guid;
}

struct build_group *build_group(struct builder *b, uint64_t mgid_prefix, uint64_t mgid_guid,
				uint16_t mlid)
{
	struct build_group *group;

	b->groups = append(b->groups, &b->group_count, sizeof(*b->groups));
	group = &b->groups[b->group_count - 1];
	group->row = (struct ibsm_snap_group){.mgid_prefix = mgid_prefix,
					      .mgid_guid = mgid_guid,
					      .mlid = mlid,
					      .pkey = 0xffff,
					      .mtu = 4,
					      .rate = 3};
	return group;
}

void build_member(struct build_group *group, uint64_t port_guid)
{
	group->members = append(group->members, &group->member_count, sizeof(*group->members));
	group->members[group->member_count - 1] = (struct ibsm_snap_group_member){
		.gid_prefix = 0xfe80000000000000, .gid_guid = port_guid, .join_state = 1};
}

struct build_partition *build_partition(struct builder *b, const char *name, uint16_t pkey)
{
	struct build_partition *partition;

	b->partitions = append(b->partitions, &b->partition_count, sizeof(*b->partitions));
	partition = &b->partitions[b->partition_count - 1];
	partition->row.pkey = pkey;
	snprintf(partition->name, sizeof(partition->name), "%s", name);
	return partition;
}

void build_partition_member(struct build_partition *partition, uint64_t port_guid, bool full)
{
	partition->members =
		append(partition->members, &partition->member_count, sizeof(*partition->members));
	partition->members[partition->member_count - 1] =
		(struct ibsm_snap_partition_member){.port_guid = port_guid, .full = full};
}

void build_option(struct builder *b, const char *name, uint8_t kind, uint64_t value,
		  const char *text)
{
	struct build_option *option = NULL;

	for (size_t i = 0; i < b->option_count; i++)
		if (strcmp(b->options[i].name, name) == 0)
			option = &b->options[i];
	if (!option) {
		b->options = append(b->options, &b->option_count, sizeof(*b->options));
		option = &b->options[b->option_count - 1];
	}
	option->row.kind = kind;
	option->row.value = value;
	snprintf(option->name, sizeof(option->name), "%s", name);
	snprintf(option->text, sizeof(option->text), "%s", text ? text : "");
}

void build_engine(struct builder *b, const char *name, uint32_t flags)
{
	struct build_engine *engine = NULL;

	for (size_t i = 0; i < b->engine_count; i++)
		if (strcmp(b->engines[i].name, name) == 0)
			engine = &b->engines[i];
	if (!engine) {
		b->engines = append(b->engines, &b->engine_count, sizeof(*b->engines));
		engine = &b->engines[b->engine_count - 1];
	}
	snprintf(engine->name, sizeof(engine->name), "%s", name);
	engine->flags = flags;
}

void build_settings(struct builder *b)
{
	uint64_t guids[4] = {0};
	size_t count = 0;
	struct build_partition *partition;
	struct build_group *group;

	for (size_t i = 0; i < b->node_count && count < ELEMENTSOF(guids); i++)
		if (b->nodes[i].row.type == IBSM_NODE_CA && b->nodes[i].port_count)
			guids[count++] = b->nodes[i].ports[0].row.port_guid;
	build_sm(b, guids[0], 3, 14, true);
	if (count > 1)
		build_sm(b, guids[1], 2, 5, false);
	group = build_group(b, 0xff12401bffff0000, 0xffffffff, 0xc000);
	partition = build_partition(b, "Default", 0x7fff);
	for (size_t i = 0; i < count; i++) {
		build_member(group, guids[i]);
		build_partition_member(partition, guids[i], i == 0);
	}
	build_option(b, "sweep_interval", IBSM_OPTION_INTEGER, 10, NULL);
	build_option(b, "daemon", IBSM_OPTION_BOOLEAN, 0, NULL);
	build_option(b, "guid", IBSM_OPTION_GUID, guids[0], NULL);
	build_option(b, "routing_engine", IBSM_OPTION_STRING, 1, "ftree");
	build_option(b, "sm_key", IBSM_OPTION_SECRET, 0, NULL);
	build_engine(b, "ftree", IBSM_ENGINE_ASKED | IBSM_ENGINE_LOADED | IBSM_ENGINE_USED);
	build_engine(b, "minhop", IBSM_ENGINE_LOADED | IBSM_ENGINE_DEFAULT);
	b->statistics.qp0_mads_sent = 12345;
}

static void finish_tree(struct builder *b)
{
	build_lids(b);
	build_route(b);
	build_settings(b);
}

static int host(struct builder *b, int number, int leaf, uint8_t port)
{
	char name[64];
	int node;

	snprintf(name, sizeof(name), "node%05d HCA-1", number);
	node = build_node(b, IBSM_NODE_CA, 0x300000 + (uint64_t)number * 16, name, 1);
	build_link(b, node, 1, leaf, port);
	return node;
}

static int named_switch(struct builder *b, uint64_t guid, const char *format, int x, int y,
			int ports)
{
	char name[64];

	if (strcmp(format, "leaf") == 0 || strcmp(format, "agg") == 0)
		snprintf(name, sizeof(name), "%s%02d-%02d", format, x, y);
	else
		snprintf(name, sizeof(name), "%s%03d", format, x);
	return build_node(b, IBSM_NODE_SWITCH, guid, name, (uint8_t)ports);
}

struct builder *build_tree2(int leaves, int spines, int hosts, int links)
{
	struct builder *b = build_new();

	for (int l = 0; l < leaves; l++)
		named_switch(b, 0x100000 + (uint64_t)l, "leaf", l, 0, hosts + spines * links);
	for (int s = 0; s < spines; s++)
		named_switch(b, 0x200000 + (uint64_t)s, "spine", s, 0, leaves * links);
	for (int l = 0; l < leaves; l++)
		for (int s = 0; s < spines; s++)
			for (int k = 0; k < links; k++)
				build_link(b, l, (uint8_t)(hosts + s * links + k + 1), leaves + s,
					   (uint8_t)(l * links + k + 1));
	for (int l = 0; l < leaves; l++)
		for (int h = 0; h < hosts; h++)
			host(b, l * hosts + h, l, (uint8_t)(h + 1));
	finish_tree(b);
	return b;
}

struct builder *build_tree3(int k)
{
	struct builder *b = build_new();
	int half = k / 2;
	int aggs = k * half, cores = 2 * k * half;

	for (int pod = 0; pod < k; pod++)
		for (int i = 0; i < half; i++)
			named_switch(b, 0x100000 + (uint64_t)(pod * half + i), "leaf", pod, i, k);
	for (int pod = 0; pod < k; pod++)
		for (int i = 0; i < half; i++)
			named_switch(b, 0x200000 + (uint64_t)(pod * half + i), "agg", pod, i, k);
	for (int c = 0; c < half * half; c++)
		named_switch(b, 0x2f0000 + (uint64_t)c, "core", c, 0, k);
	for (int pod = 0; pod < k; pod++)
		for (int j = 0; j < half; j++) {
			for (int i = 0; i < half; i++)
				build_link(b, pod * half + i, (uint8_t)(half + j + 1),
					   aggs + pod * half + j, (uint8_t)(i + 1));
			for (int c = 0; c < half; c++)
				build_link(b, aggs + pod * half + j, (uint8_t)(half + c + 1),
					   cores + j * half + c, (uint8_t)(pod + 1));
		}
	for (int leaf = 0; leaf < k * half; leaf++)
		for (int n = 0; n < half; n++)
			host(b, leaf * half + n, leaf, (uint8_t)(n + 1));
	finish_tree(b);
	return b;
}

/* A port of `node` that has no cable yet, or 0: none was found in a few tries. */
static uint8_t random_port(struct builder *b, uint64_t *seed, int node)
{
	for (int i = 0; i < 8; i++) {
		uint8_t port =
			(uint8_t)(1 + build_random_below(seed, b->nodes[node].row.num_ports));

		if (build_port(b, node, port)->remote_node < 0)
			return port;
	}
	return 0;
}

static void random_link(struct builder *b, uint64_t *seed, int a, int c)
{
	uint8_t port_a = random_port(b, seed, a);
	uint8_t port_c = random_port(b, seed, c);
	struct build_port *p;

	if (!port_a || !port_c || (a == c && port_a == port_c))
		return;
	build_link(b, a, port_a, c, port_c);
	if (build_random_below(seed, 16) == 0) {
		p = build_port(b, a, port_a);
		p->row.state = (uint8_t)build_random_below(seed, 5);
	}
	p = build_port(b, c, port_c);
	p->row.width_active = (uint8_t)(1u << build_random_below(seed, 5));
	p->row.speed_ext_active = (uint8_t)(1u << build_random_below(seed, 5));
}

static void random_lfts(struct builder *b, uint64_t *seed, uint32_t lids)
{
	for (size_t i = 0; i < b->node_count; i++) {
		struct build_node *n = &b->nodes[i];
		uint8_t *lft;

		if (n->row.type != IBSM_NODE_SWITCH || build_random_below(seed, 20) == 0)
			continue;
		lft = build_lft(b, (int)i, build_random_below(seed, 5) ? lids : lids / 2 + 1);
		for (uint32_t lid = 0; lid < n->lft_lids; lid++) {
			/* Mostly real ports, so that walks are long; sometimes anything. */
			if (build_random_below(seed, 24) == 0)
				lft[lid] = (uint8_t)build_random_next(seed);
			else
				lft[lid] =
					n->ports[build_random_below(seed, (uint32_t)n->port_count)]
						.row.port;
		}
		n->switch_row.lft_top = (uint16_t)build_random_below(seed, n->lft_lids + 8);
		if (build_random_below(seed, 2))
			n->switch_row.lft_top = (uint16_t)(n->lft_lids - 1);
		if (build_random_below(seed, 8) == 0)
			build_new_lft(b, (int)i)[build_random_below(seed, n->lft_lids)] ^= 1;
	}
}

struct builder *build_random(uint64_t seed, bool routed)
{
	struct builder *b = build_new();
	int switches, cas;
	uint16_t lid = 1;

	seed = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	switches = 1 + (int)build_random_below(&seed, 12);
	cas = (int)build_random_below(&seed, 20);
	for (int i = 0; i < switches + cas; i++) {
		uint8_t type = i < switches		       ? IBSM_NODE_SWITCH
			       : build_random_below(&seed, 10) ? IBSM_NODE_CA
							       : IBSM_NODE_ROUTER;
		char name[64];

		/* Names repeat. */
		snprintf(name, sizeof(name), "n%u x", build_random_below(&seed, 16));
		build_node(b, type, (build_random_next(&seed) & ~UINT64_C(255)) + 256, name,
			   type == IBSM_NODE_SWITCH ? 12 : 2);
		if (build_random_below(&seed, 30) == 0)
			b->nodes[i].row.present = 0;
	}
	for (int i = 0; i < switches * 3; i++)
		random_link(b, &seed, (int)build_random_below(&seed, (uint32_t)switches),
			    (int)build_random_below(&seed, (uint32_t)switches));
	for (int i = switches; i < switches + cas; i++)
		for (uint32_t n = 1 + build_random_below(&seed, 2); n; n--)
			random_link(b, &seed, i,
				    (int)build_random_below(&seed, (uint32_t)switches));
	for (int i = 0; i < switches + cas; i++)
		for (size_t p = 0; p < b->nodes[i].port_count; p++) {
			uint8_t number = b->nodes[i].ports[p].row.port;
			uint8_t lmc = i < switches ? 0 : (uint8_t)build_random_below(&seed, 3);

			if ((i < switches && number) || build_random_below(&seed, 12) == 0)
				continue;
			lid = (uint16_t)((lid + (1u << lmc) - 1) & ~((1u << lmc) - 1));
			build_lid(b, i, number, lid, lmc);
			lid = (uint16_t)(lid + (1u << lmc));
		}
	if (routed)
		build_route(b);
	else
		random_lfts(b, &seed, lid + 4u);
	build_settings(b);
	return b;
}
