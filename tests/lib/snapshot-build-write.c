// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Writes a builder's fabric out as ibsm/snapshot.h says, and reads it back.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "snapshot-build.h"

/* A table while it is made. */
struct table {
	unsigned char *bytes;
	size_t size;
	size_t room;
};

struct writer {
	const struct builder *b;
	struct table tables[IBSM_TABLE_MAX];
	int *order;	 /* handles of the nodes that are written, by GUID */
	size_t nodes;	 /* entries there */
	uint32_t *index; /* by handle: row in NODES */
	uint32_t *first; /* by handle: first row in PORTS */
};

static void *must(void *p)
{
	if (!p)
		abort();
	return p;
}

static void put(struct writer *w, enum ibsm_table id, const void *row, size_t size)
{
	struct table *t = &w->tables[id];

	if (t->room - t->size < size) {
		t->room = t->room * 2 + size + 256;
		t->bytes = must(realloc(t->bytes, t->room));
	}
	if (size)
		memcpy(t->bytes + t->size, row, size);
	t->size += size;
}

static uint32_t put_string(struct writer *w, const char *text)
{
	uint32_t offset = (uint32_t)w->tables[IBSM_TABLE_STRINGS].size;

	if (!*text)
		return 0;
	put(w, IBSM_TABLE_STRINGS, text, strlen(text) + 1);
	return offset;
}

static int compare_nodes(const void *a, const void *b, void *userdata)
{
	const struct builder *builder = userdata;
	uint64_t x = builder->nodes[*(const int *)a].row.node_guid;
	uint64_t y = builder->nodes[*(const int *)b].row.node_guid;

	return x < y ? -1 : x > y;
}

static void place_nodes(struct writer *w)
{
	const struct builder *b = w->b;
	uint32_t port = 0;

	w->order = must(calloc(b->node_count + 1, sizeof(*w->order)));
	w->index = must(calloc(b->node_count + 1, sizeof(*w->index)));
	w->first = must(calloc(b->node_count + 1, sizeof(*w->first)));
	for (size_t i = 0; i < b->node_count; i++)
		if (!b->nodes[i].removed)
			w->order[w->nodes++] = (int)i;
	qsort_r(w->order, w->nodes, sizeof(*w->order), compare_nodes, (void *)b);
	for (size_t i = 0; i < w->nodes; i++) {
		w->index[w->order[i]] = (uint32_t)i;
		w->first[w->order[i]] = port;
		port += (uint32_t)b->nodes[w->order[i]].port_count;
	}
}

static uint32_t port_index(const struct writer *w, int node, uint8_t port)
{
	const struct build_node *n = &w->b->nodes[node];

	for (size_t i = 0; i < n->port_count; i++)
		if (n->ports[i].row.port == port)
			return w->first[node] + (uint32_t)i;
	return IBSM_NONE;
}

static uint32_t port_by_guid(const struct writer *w, uint64_t guid)
{
	for (size_t i = 0; i < w->nodes; i++) {
		const struct build_node *n = &w->b->nodes[w->order[i]];

		for (size_t p = 0; p < n->port_count; p++)
			if (n->ports[p].row.port_guid == guid)
				return w->first[w->order[i]] + (uint32_t)p;
	}
	return IBSM_NONE;
}

static uint64_t put_lft(struct writer *w, const uint8_t *lft, uint32_t lids)
{
	uint64_t offset = w->tables[IBSM_TABLE_LFT].size;

	if (!lft)
		return IBSM_NO_OFFSET;
	put(w, IBSM_TABLE_LFT, lft, lids);
	return offset;
}

static void put_switch(struct writer *w, int node)
{
	const struct build_node *n = &w->b->nodes[node];
	struct ibsm_snap_switch row = n->switch_row;

	row.node = w->index[node];
	row.lft_lids = n->lft ? n->lft_lids : 0;
	row.lft = put_lft(w, n->lft, n->lft_lids);
	row.new_lft = put_lft(w, n->new_lft, n->lft_lids);
	row.flags = (uint8_t)(n->new_lft ? row.flags | IBSM_SWITCH_LFT_DIFFERS : row.flags);
	put(w, IBSM_TABLE_SWITCHES, &row, sizeof(row));
}

static void put_nodes(struct writer *w)
{
	uint32_t switches = 0;

	for (size_t i = 0; i < w->nodes; i++) {
		int node = w->order[i];
		const struct build_node *n = &w->b->nodes[node];
		struct ibsm_snap_node row = n->row;

		row.first_port = w->first[node];
		row.ports = (uint32_t)n->port_count;
		row.switch_index = n->has_switch ? switches++ : IBSM_NONE;
		put(w, IBSM_TABLE_NODES, &row, sizeof(row));
		if (n->has_switch)
			put_switch(w, node);
		for (size_t p = 0; p < n->port_count; p++) {
			struct ibsm_snap_port port = n->ports[p].row;

			port.node = w->index[node];
			port.remote = n->ports[p].remote_node < 0
					      ? IBSM_NONE
					      : port_index(w, n->ports[p].remote_node,
							   n->ports[p].remote_port);
			put(w, IBSM_TABLE_PORTS, &port, sizeof(port));
		}
	}
}

static int compare_sms(const void *a, const void *b)
{
	const struct ibsm_snap_sm *x = a, *y = b;

	if (x->self != y->self)
		return x->self ? -1 : 1;
	return x->port_guid < y->port_guid ? -1 : x->port_guid > y->port_guid;
}

static int compare_groups(const void *a, const void *b)
{
	const struct build_group *x = a, *y = b;

	if (x->row.mgid_prefix != y->row.mgid_prefix)
		return x->row.mgid_prefix < y->row.mgid_prefix ? -1 : 1;
	return x->row.mgid_guid < y->row.mgid_guid ? -1 : x->row.mgid_guid > y->row.mgid_guid;
}

static int compare_partitions(const void *a, const void *b)
{
	const struct build_partition *x = a, *y = b;

	return x->row.pkey - y->row.pkey;
}

static int compare_options(const void *a, const void *b)
{
	const struct build_option *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static void put_groups(struct writer *w)
{
	uint32_t first = 0;

	for (size_t i = 0; i < w->b->group_count; i++) {
		const struct build_group *g = &w->b->groups[i];
		struct ibsm_snap_group row = g->row;

		row.first_member = first;
		row.members = (uint32_t)g->member_count;
		first += row.members;
		put(w, IBSM_TABLE_GROUPS, &row, sizeof(row));
		for (size_t m = 0; m < g->member_count; m++) {
			struct ibsm_snap_group_member member = g->members[m];

			member.port = port_by_guid(w, member.gid_guid);
			put(w, IBSM_TABLE_GROUP_MEMBERS, &member, sizeof(member));
		}
	}
}

static void put_partitions(struct writer *w)
{
	uint32_t first = 0;

	for (size_t i = 0; i < w->b->partition_count; i++) {
		const struct build_partition *p = &w->b->partitions[i];
		struct ibsm_snap_partition row = p->row;

		row.name = put_string(w, p->name);
		row.first_member = first;
		row.members = (uint32_t)p->member_count;
		first += row.members;
		put(w, IBSM_TABLE_PARTITIONS, &row, sizeof(row));
		for (size_t m = 0; m < p->member_count; m++) {
			struct ibsm_snap_partition_member member = p->members[m];

			member.port = port_by_guid(w, member.port_guid);
			put(w, IBSM_TABLE_PARTITION_MEMBERS, &member, sizeof(member));
		}
	}
}

static void put_rest(struct writer *w)
{
	const struct builder *b = w->b;

	for (size_t i = 0; i < b->sm_count; i++) {
		struct ibsm_snap_sm row = b->sms[i];

		row.port = port_by_guid(w, row.port_guid);
		put(w, IBSM_TABLE_SMS, &row, sizeof(row));
	}
	for (size_t i = 0; i < b->option_count; i++) {
		struct ibsm_snap_option row = b->options[i].row;

		row.name = put_string(w, b->options[i].name);
		row.text = put_string(w, b->options[i].text);
		put(w, IBSM_TABLE_OPTIONS, &row, sizeof(row));
	}
	for (size_t i = 0; i < b->engine_count; i++) {
		struct ibsm_snap_engine row = {.name = put_string(w, b->engines[i].name),
					       .flags = b->engines[i].flags};

		put(w, IBSM_TABLE_ENGINES, &row, sizeof(row));
	}
	put(w, IBSM_TABLE_SUBNET, &b->subnet, sizeof(b->subnet));
	put(w, IBSM_TABLE_STATISTICS, &b->statistics, sizeof(b->statistics));
}

static void sort_settings(struct builder *b)
{
	if (b->sm_count)
		qsort(b->sms, b->sm_count, sizeof(*b->sms), compare_sms);
	if (b->group_count)
		qsort(b->groups, b->group_count, sizeof(*b->groups), compare_groups);
	if (b->partition_count)
		qsort(b->partitions, b->partition_count, sizeof(*b->partitions),
		      compare_partitions);
	if (b->option_count)
		qsort(b->options, b->option_count, sizeof(*b->options), compare_options);
}

static size_t align(size_t size)
{
	return (size + IBSM_SNAPSHOT_ALIGN - 1) & ~(size_t)(IBSM_SNAPSHOT_ALIGN - 1);
}

/* Header, directory and the tables that are not left out, behind one another. */
static struct build_bytes assemble(struct builder *b, struct writer *w, uint32_t omit)
{
	struct ibsm_snapshot_table directory[IBSM_TABLE_MAX - 1];
	struct build_bytes out = {0};
	size_t offset = align(sizeof(b->header) + sizeof(directory));

	for (uint32_t id = 1; id < IBSM_TABLE_MAX; id++) {
		struct ibsm_snapshot_table *entry = &directory[id - 1];
		bool here = !(omit & 1u << id);

		if (here)
			b->generations[id] = b->header.generation;
		*entry = (struct ibsm_snapshot_table){
			.id = id,
			.row_bytes = ibsm_snapshot_row_bytes(id),
			.offset = here ? offset : 0,
			.count = w->tables[id].size / ibsm_snapshot_row_bytes(id),
			.generation = b->generations[id],
		};
		if (here)
			offset = align(offset + w->tables[id].size);
	}
	b->header.tables = ELEMENTSOF(directory);
	b->header.size_bytes = offset;
	out.size = offset;
	if (posix_memalign((void **)&out.bytes, IBSM_SNAPSHOT_ALIGN, out.size) != 0)
		abort();
	memset(out.bytes, 0, out.size);
	memcpy(out.bytes, &b->header, sizeof(b->header));
	memcpy(out.bytes + sizeof(b->header), directory, sizeof(directory));
	for (uint32_t id = 1; id < IBSM_TABLE_MAX; id++)
		if (directory[id - 1].offset && w->tables[id].size)
			memcpy(out.bytes + directory[id - 1].offset, w->tables[id].bytes,
			       w->tables[id].size);
	return out;
}

struct build_bytes build_write(struct builder *b, uint32_t omit)
{
	struct writer w = {.b = b};
	struct build_bytes out;

	sort_settings(b);
	place_nodes(&w);
	put(&w, IBSM_TABLE_STRINGS, "", 1);
	put_nodes(&w);
	put_groups(&w);
	put_partitions(&w);
	put_rest(&w);
	out = assemble(b, &w, omit);
	for (size_t id = 0; id < ELEMENTSOF(w.tables); id++)
		free(w.tables[id].bytes);
	free(w.order);
	free(w.index);
	free(w.first);
	return out;
}

int build_memfd(struct build_bytes bytes, int seals)
{
	int fd = memfd_create("snapshot", MFD_ALLOW_SEALING | MFD_CLOEXEC);

	if (fd < 0)
		abort();
	for (size_t done = 0; done < bytes.size;) {
		ssize_t n = write(fd, bytes.bytes + done, bytes.size - done);

		if (n <= 0)
			abort();
		done += (size_t)n;
	}
	if (fcntl(fd, F_ADD_SEALS, seals) < 0)
		abort();
	return fd;
}

struct snapshot *build_snapshot(struct builder *b, const struct snapshot *previous, uint32_t omit)
{
	_cleanup_bytes_ struct build_bytes bytes = build_write(b, omit);
	struct snapshot *snapshot = NULL;
	struct snapshot_error error = {0};
	int r = snapshot_read_memory(bytes.bytes, bytes.size, previous, &snapshot, &error);

	if (r < 0) {
		fprintf(stderr, "snapshot of the test is not valid: %s (%d)\n", error.text, r);
		abort();
	}
	b->header.generation++;
	return snapshot;
}

struct fabric *build_fabric(struct builder *b)
{
	_cleanup_(snapshot_unrefp) struct snapshot *snapshot = build_snapshot(b, NULL, 0);
	struct fabric *fabric = NULL;

	if (fabric_new(snapshot, NULL, &fabric) < 0)
		abort();
	return fabric;
}
