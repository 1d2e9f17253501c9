// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Builds small fabrics for the detectors' tests: nodes, cables, SMs, options; as a real snapshot.
#include "detect-build.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ibsm/wire.h"

struct built_node {
	struct ibsm_snap_node row;
	struct ibsm_snap_port *ports; /* `remote` is not used: see below */
	uint64_t remote_guid[IBSM_PORTS_MAX];
	uint8_t remote_port[IBSM_PORTS_MAX];
	uint8_t count;
	const uint8_t *lft, *new_lft;
	uint16_t lft_lids;
};

struct built_option {
	char name[64];
	char text[128];
	bool has_text;
	enum ibsm_option_kind kind;
	uint64_t value;
};

struct built_engine {
	char name[32];
	uint32_t flags;
};

struct build {
	struct built_node *nodes; /* by GUID */
	size_t node_count;
	struct ibsm_snap_sm sms[16];
	size_t sm_count;
	struct built_option options[64];
	size_t option_count;
	struct built_engine engines[16];
	size_t engine_count;
	struct ibsm_snap_subnet subnet;
	uint16_t next_lid;
	uint64_t generation;
};

struct build *build_new(void)
{
	struct build *build = calloc(1, sizeof(*build));

	assert_non_null(build);
	build->next_lid = 1;
	build->subnet.subnet_prefix = UINT64_C(0xfe80000000000000);
	build->subnet.sm_state = IBSM_SM_MASTER;
	return build;
}

void build_free(struct build *build)
{
	for (size_t i = 0; i < build->node_count; i++)
		free(build->nodes[i].ports);
	free(build->nodes);
	free(build);
}

static struct built_node *find(struct build *build, uint64_t guid)
{
	for (size_t i = 0; i < build->node_count; i++)
		if (build->nodes[i].row.node_guid == guid)
			return &build->nodes[i];
	fail_msg("no node 0x%llx", (unsigned long long)guid);
	return NULL;
}

static struct built_node *add(struct build *build, uint64_t guid, uint8_t type, uint8_t ports,
			      uint8_t first, const char *name)
{
	struct built_node *node;
	size_t at = build->node_count;

	build->nodes = realloc(build->nodes, (build->node_count + 1) * sizeof(build->nodes[0]));
	assert_non_null(build->nodes);
	while (at > 0 && build->nodes[at - 1].row.node_guid > guid) {
		build->nodes[at] = build->nodes[at - 1];
		at--;
	}
	build->node_count++;
	node = &build->nodes[at];
	*node = (struct built_node){
		.row = {.node_guid = guid,
			.port_guid = guid,
			.system_image_guid = guid,
			.type = type,
			.num_ports = ports,
			.present = 1},
		.count = (uint8_t)(ports + 1 - first),
	};
	snprintf(node->row.description, sizeof(node->row.description), "%s", name);
	node->ports = calloc(node->count, sizeof(node->ports[0]));
	assert_non_null(node->ports);
	for (uint8_t i = 0; i < node->count; i++)
		node->ports[i] = (struct ibsm_snap_port){
			.port_guid = type == IBSM_NODE_SWITCH ? guid : guid + first + i,
			.port = (uint8_t)(first + i),
			.state = 1,
			.physical_state = 2,
			.flags = IBSM_PORT_HEALTHY | IBSM_PORT_EXTENDED_SPEEDS,
		};
	return node;
}

void build_switch(struct build *build, uint64_t guid, uint8_t ports, const char *name)
{
	struct built_node *node = add(build, guid, IBSM_NODE_SWITCH, ports, 0, name);

	node->ports[0].lid = build->next_lid++;
	node->ports[0].state = 4;
	node->ports[0].physical_state = 5;
	node->ports[0].flags |= IBSM_PORT_IN_SERVICE;
}

void build_ca(struct build *build, uint64_t guid, uint8_t ports, const char *name)
{
	struct built_node *node = add(build, guid, IBSM_NODE_CA, ports, 1, name);

	for (uint8_t i = 0; i < node->count; i++) {
		node->ports[i].lid = build->next_lid++;
		node->ports[i].flags |= IBSM_PORT_IN_SERVICE;
	}
}

static uint8_t port_index(const struct built_node *node, uint8_t port)
{
	uint8_t first = node->row.type == IBSM_NODE_SWITCH ? 0 : 1;

	assert_true(port >= first && port - first < node->count);
	return (uint8_t)(port - first);
}

struct ibsm_snap_node *build_node(struct build *build, uint64_t guid)
{
	return &find(build, guid)->row;
}

struct ibsm_snap_port *build_port(struct build *build, uint64_t guid, uint8_t port)
{
	struct built_node *node = find(build, guid);

	return &node->ports[port_index(node, port)];
}

struct ibsm_snap_subnet *build_subnet(struct build *build)
{
	return &build->subnet;
}

static void link_end(struct build *build, uint64_t a, uint8_t a_port, uint64_t b, uint8_t b_port)
{
	struct built_node *node = find(build, a);
	uint8_t i = port_index(node, a_port);
	struct ibsm_snap_port *port = &node->ports[i];

	node->remote_guid[i] = b;
	node->remote_port[i] = b_port;
	port->state = 4;
	port->physical_state = 5;
	port->width_active = 2;
	port->width_enabled = port->width_supported = 3;
	port->speed_active = 4;
	port->speed_enabled = port->speed_supported = 7;
	port->speed_ext_active = 2;
	port->speed_ext_enabled = port->speed_ext_supported = 3;
}

void build_link(struct build *build, uint64_t a, uint8_t a_port, uint64_t b, uint8_t b_port)
{
	link_end(build, a, a_port, b, b_port);
	link_end(build, b, b_port, a, a_port);
}

static void unlink_end(struct build *build, uint64_t guid, uint8_t number)
{
	struct built_node *node = find(build, guid);
	uint8_t i = port_index(node, number);

	node->remote_guid[i] = 0;
	node->ports[i].state = 1;
	node->ports[i].physical_state = 2;
}

void build_unlink(struct build *build, uint64_t guid, uint8_t port)
{
	struct built_node *node = find(build, guid);
	uint8_t i = port_index(node, port);
	uint64_t remote = node->remote_guid[i];

	assert_true(remote != 0);
	unlink_end(build, remote, node->remote_port[i]);
	unlink_end(build, guid, port);
}

void build_sm(struct build *build, uint64_t port_guid, uint8_t state, uint8_t priority, bool self)
{
	const struct ibsm_snap_sm sm = {
		.port_guid = port_guid, .state = state, .priority = priority, .self = self};
	size_t at;

	build_sm_remove(build, port_guid);
	assert_true(build->sm_count < 16);
	at = build->sm_count++;
	while (at > 0 &&
	       (self || (!build->sms[at - 1].self && build->sms[at - 1].port_guid > port_guid))) {
		build->sms[at] = build->sms[at - 1];
		if (self)
			build->sms[at].self = 0;
		at--;
	}
	build->sms[at] = sm;
	if (self) {
		build->subnet.sm_port_guid = port_guid;
		build->subnet.sm_state = state;
		build->subnet.sm_priority = priority;
	}
}

void build_sm_remove(struct build *build, uint64_t port_guid)
{
	for (size_t i = 0; i < build->sm_count; i++)
		if (build->sms[i].port_guid == port_guid) {
			memmove(&build->sms[i], &build->sms[i + 1],
				(build->sm_count - i - 1) * sizeof(build->sms[0]));
			build->sm_count--;
			return;
		}
}

void build_option_remove(struct build *build, const char *name)
{
	for (size_t i = 0; i < build->option_count; i++)
		if (strcmp(build->options[i].name, name) == 0) {
			memmove(&build->options[i], &build->options[i + 1],
				(build->option_count - i - 1) * sizeof(build->options[0]));
			build->option_count--;
			return;
		}
}

void build_option(struct build *build, const char *name, enum ibsm_option_kind kind, uint64_t value,
		  const char *text)
{
	struct built_option option = {.kind = kind, .value = value, .has_text = text != NULL};
	size_t at;

	build_option_remove(build, name);
	assert_true(build->option_count < 64);
	snprintf(option.name, sizeof(option.name), "%s", name);
	snprintf(option.text, sizeof(option.text), "%s", text ? text : "");
	at = build->option_count++;
	while (at > 0 && strcmp(build->options[at - 1].name, name) > 0) {
		build->options[at] = build->options[at - 1];
		at--;
	}
	build->options[at] = option;
}

void build_lft(struct build *build, uint64_t guid, const uint8_t *lft, const uint8_t *new_lft,
	       uint16_t lids)
{
	struct built_node *node = find(build, guid);

	node->lft = lft;
	node->new_lft = new_lft;
	node->lft_lids = lids;
}

void build_engine(struct build *build, const char *name, uint32_t flags)
{
	struct built_engine *engine = &build->engines[build->engine_count++];

	assert_true(build->engine_count <= 16);
	snprintf(engine->name, sizeof(engine->name), "%s", name);
	engine->flags = flags;
}

void build_tree(struct build *build, unsigned int leaves, unsigned int spines, unsigned int hosts)
{
	char name[32];

	for (unsigned int i = 0; i < spines; i++) {
		snprintf(name, sizeof(name), "spine%u", i);
		build_switch(build, BUILD_SPINE(i), (uint8_t)leaves, name);
	}
	for (unsigned int i = 0; i < leaves; i++) {
		snprintf(name, sizeof(name), "leaf%u", i);
		build_switch(build, BUILD_LEAF(i), (uint8_t)(hosts + spines), name);
		for (unsigned int j = 0; j < spines; j++)
			build_link(build, BUILD_LEAF(i), (uint8_t)(hosts + 1 + j), BUILD_SPINE(j),
				   (uint8_t)(i + 1));
		for (unsigned int j = 0; j < hosts; j++) {
			snprintf(name, sizeof(name), "host%u", i * hosts + j);
			build_ca(build, BUILD_HOST(i * hosts + j), 1, name);
			build_link(build, BUILD_LEAF(i), (uint8_t)(j + 1),
				   BUILD_HOST(i * hosts + j), 1);
		}
	}
}

/* ---- as bytes ---- */

struct bytes {
	unsigned char *data;
	size_t size;
	size_t room;
};

static size_t append(struct bytes *bytes, const void *data, size_t size)
{
	size_t at = bytes->size;

	if (at + size > bytes->room || !bytes->data) {
		bytes->room = 2 * (at + size) + 1024;
		bytes->data = realloc(bytes->data, bytes->room);
		assert_non_null(bytes->data);
	}
	if (size > 0)
		memcpy(bytes->data + at, data, size);
	bytes->size = at + size;
	return at;
}

static uint32_t append_string(struct bytes *strings, const char *text)
{
	return (uint32_t)append(strings, text, strlen(text) + 1);
}

struct tables {
	struct bytes by_id[IBSM_TABLE_MAX];
};

static uint32_t flat_port(struct build *build, const uint32_t *first_port, uint64_t guid,
			  uint8_t port)
{
	for (size_t i = 0; i < build->node_count; i++)
		if (build->nodes[i].row.node_guid == guid)
			return first_port[i] + port_index(&build->nodes[i], port);
	return IBSM_NONE;
}

static void fill_nodes(struct build *build, struct tables *tables)
{
	uint32_t *first_port = calloc(build->node_count + 1, sizeof(*first_port));
	uint32_t switches = 0;

	assert_non_null(first_port);
	for (size_t i = 0; i < build->node_count; i++)
		first_port[i + 1] = first_port[i] + build->nodes[i].count;
	for (size_t i = 0; i < build->node_count; i++) {
		struct built_node *node = &build->nodes[i];

		node->row.first_port = first_port[i];
		node->row.ports = node->count;
		node->row.switch_index = IBSM_NONE;
		if (node->row.type == IBSM_NODE_SWITCH) {
			struct bytes *lfts = &tables->by_id[IBSM_TABLE_LFT];
			const struct ibsm_snap_switch sw = {
				.lft = node->lft ? append(lfts, node->lft, node->lft_lids)
						 : IBSM_NO_OFFSET,
				.new_lft = node->new_lft
						   ? append(lfts, node->new_lft, node->lft_lids)
						   : IBSM_NO_OFFSET,
				.node = (uint32_t)i,
				.lft_lids = node->lft_lids,
				.lid = node->ports[0].lid,
				.flags = node->new_lft ? IBSM_SWITCH_LFT_DIFFERS : 0,
			};

			node->row.switch_index = switches++;
			append(&tables->by_id[IBSM_TABLE_SWITCHES], &sw, sizeof(sw));
		}
		append(&tables->by_id[IBSM_TABLE_NODES], &node->row, sizeof(node->row));
		for (uint8_t j = 0; j < node->count; j++) {
			struct ibsm_snap_port port = node->ports[j];

			port.node = (uint32_t)i;
			port.remote = node->remote_guid[j]
					      ? flat_port(build, first_port, node->remote_guid[j],
							  node->remote_port[j])
					      : IBSM_NONE;
			append(&tables->by_id[IBSM_TABLE_PORTS], &port, sizeof(port));
		}
	}
	free(first_port);
}

static uint16_t lid_of(struct build *build, uint64_t port_guid)
{
	for (size_t i = 0; i < build->node_count; i++)
		for (uint8_t j = 0; j < build->nodes[i].count; j++)
			if (build->nodes[i].ports[j].port_guid == port_guid &&
			    build->nodes[i].ports[j].lid != 0)
				return build->nodes[i].ports[j].lid;
	return 0;
}

static void fill(struct build *build, struct tables *tables)
{
	struct bytes *strings = &tables->by_id[IBSM_TABLE_STRINGS];
	const struct ibsm_snap_statistics statistics = {0};

	append_string(strings, "");
	fill_nodes(build, tables);
	for (size_t i = 0; i < build->sm_count; i++) {
		struct ibsm_snap_sm sm = build->sms[i];

		sm.port = IBSM_NONE;
		sm.lid = lid_of(build, sm.port_guid);
		if (sm.self)
			build->subnet.sm_lid = sm.lid;
		append(&tables->by_id[IBSM_TABLE_SMS], &sm, sizeof(sm));
	}
	for (size_t i = 0; i < build->option_count; i++) {
		const struct built_option *option = &build->options[i];
		const struct ibsm_snap_option row = {
			.value = option->value,
			.name = append_string(strings, option->name),
			.text = option->has_text ? append_string(strings, option->text) : 0,
			.kind = (uint8_t)option->kind,
		};

		append(&tables->by_id[IBSM_TABLE_OPTIONS], &row, sizeof(row));
	}
	for (size_t i = 0; i < build->engine_count; i++) {
		const struct ibsm_snap_engine row = {
			.name = append_string(strings, build->engines[i].name),
			.flags = build->engines[i].flags,
		};

		append(&tables->by_id[IBSM_TABLE_ENGINES], &row, sizeof(row));
	}
	append(&tables->by_id[IBSM_TABLE_SUBNET], &build->subnet, sizeof(build->subnet));
	append(&tables->by_id[IBSM_TABLE_STATISTICS], &statistics, sizeof(statistics));
}

struct fabric *build_fabric(struct build *build)
{
	struct tables tables = {0};
	struct bytes file = {0};
	struct ibsm_snapshot_table directory[IBSM_TABLE_MAX - 1] = {0};
	struct ibsm_snapshot_header header = {
		.magic = IBSM_SNAPSHOT_MAGIC,
		.version = IBSM_SNAPSHOT_VERSION,
		.header_bytes = sizeof(header),
		.generation = ++build->generation,
		.instance = 1,
		.reason = IBSM_SNAPSHOT_SUBNET_UP,
		.tables = ELEMENTSOF(directory),
	};
	static const unsigned char zeros[IBSM_SNAPSHOT_ALIGN];
	struct snapshot *snapshot = NULL;
	struct snapshot_error error = {0};
	struct fabric *fabric = NULL;
	size_t at;

	fill(build, &tables);
	append(&file, &header, sizeof(header));
	at = append(&file, directory, sizeof(directory));
	for (uint32_t id = 1; id < IBSM_TABLE_MAX; id++) {
		uint32_t row_bytes = ibsm_snapshot_row_bytes(id);

		append(&file, zeros,
		       (IBSM_SNAPSHOT_ALIGN - file.size % IBSM_SNAPSHOT_ALIGN) %
			       IBSM_SNAPSHOT_ALIGN);
		directory[id - 1] = (struct ibsm_snapshot_table){
			.id = id,
			.row_bytes = row_bytes,
			.offset = file.size,
			.count = tables.by_id[id].size / row_bytes,
			.generation = build->generation,
		};
		append(&file, tables.by_id[id].data, tables.by_id[id].size);
		free(tables.by_id[id].data);
	}
	/* No table may begin at the very end of the file. */
	append(&file, zeros, sizeof(zeros));
	header.size_bytes = file.size;
	memcpy(file.data, &header, sizeof(header));
	memcpy(file.data + at, directory, sizeof(directory));
	if (snapshot_read_memory(file.data, file.size, NULL, &snapshot, &error) < 0)
		fail_msg("snapshot: %s", error.text);
	free(file.data);
	assert_int_equal(fabric_new(snapshot, NULL, &fabric), 0);
	snapshot_unref(snapshot);
	return fabric;
}
