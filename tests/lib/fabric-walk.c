// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Reads all that a fabric can tell.
#include "fabric-walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/diff.h"
#include "fabric/names.h"
#include "fabric/route.h"

#define WALK_ROUTES 64u

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);            \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

static uint64_t sum_bytes(const void *p, size_t size)
{
	const unsigned char *bytes = p;
	uint64_t sum = 0;

	for (size_t i = 0; i < size; i++)
		sum = sum * 31 + bytes[i];
	return sum;
}

static uint64_t walk_port(const struct fabric *f, uint32_t index)
{
	const struct ibsm_snap_port *port = fabric_port(f, index);
	const char *names[SPEED_MAX > WIDTHS_MAX ? SPEED_MAX : WIDTHS_MAX];
	uint32_t remote = fabric_link_port(f, index);
	uint64_t sum = sum_bytes(port, sizeof(*port));

	sum += width_names(port->width_supported, names);
	sum += speed_names(port_speeds_supported(port), names);
	sum += port_rate_mbps(port) + fabric_port_lid(f, index) + fabric_link_is_a(f, index);
	sum += strlen(port_state_name(port->state)) +
	       strlen(port_physical_state_name(port->physical_state));
	CHECK(fabric_node_port(f, port->node, port->port) == index);
	CHECK(remote == IBSM_NONE || fabric_link_port(f, remote) == index);
	return sum;
}

static uint64_t walk_nodes(const struct fabric *f)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < fabric_nodes(f); i++) {
		const struct ibsm_snap_node *node = fabric_node(f, i);
		const struct ibsm_snap_switch *sw = fabric_switch(f, i);
		const uint32_t *found;
		char word[300];

		CHECK(fabric_node_by_guid(f, node->node_guid) == i);
		CHECK(fabric_nodes_by_name(f, fabric_node_name(f, i), &found) > 0);
		snprintf(word, sizeof(word), "%.*s", (int)strcspn(fabric_node_name(f, i), " "),
			 fabric_node_name(f, i));
		sum += fabric_nodes_by_first_word(f, word, &found);
		sum += sum_bytes(node, sizeof(*node)) + strlen(fabric_node_description(f, i)) +
		       fabric_node_lid(f, i) + strlen(node_type_name(node->type));
		for (uint32_t p = 0; p < node->ports; p++)
			sum += walk_port(f, node->first_port + p);
		if (!sw)
			continue;
		sum += sum_bytes(sw, sizeof(*sw)) + fabric_lft_mismatch(f, sw) +
		       fabric_lft_entries(f, sw);
		if (snapshot_lft(f->snapshot, sw))
			sum += sum_bytes(snapshot_lft(f->snapshot, sw), sw->lft_lids);
	}
	return sum;
}

static uint64_t walk_tables(const struct fabric *f)
{
	const struct snapshot *s = f->snapshot;
	const char *engine = fabric_engine_used(f);
	char text[256];
	uint64_t sum = 0;

	for (uint32_t i = 0; i < snapshot_groups(s); i++)
		sum += sum_bytes(snapshot_group(s, i), sizeof(struct ibsm_snap_group));
	for (uint32_t i = 0; i < snapshot_group_members(s); i++)
		sum += sum_bytes(snapshot_group_member(s, i),
				 sizeof(struct ibsm_snap_group_member));
	for (uint32_t i = 0; i < snapshot_partitions(s); i++)
		sum += strlen(snapshot_string(s, snapshot_partition(s, i)->name));
	for (uint32_t i = 0; i < snapshot_partition_members(s); i++)
		sum += sum_bytes(snapshot_partition_member(s, i),
				 sizeof(struct ibsm_snap_partition_member));
	for (uint32_t i = 0; i < snapshot_options(s); i++) {
		const struct ibsm_snap_option *option = snapshot_option(s, i);

		CHECK(fabric_option(f, snapshot_string(s, option->name)) == option);
		sum += strlen(fabric_option_format(f, option, text, sizeof(text)));
	}
	for (uint32_t i = 0; i < snapshot_sms(s); i++)
		sum += strlen(sm_state_name(snapshot_sm(s, i)->state));
	sum += engine ? strlen(engine) : 0;
	sum += fabric_routing_fell_back(f) ? 1 : 0;
	sum += fabric_own_sm(f) ? 1 : 0;
	sum += sum_bytes(fabric_subnet(f), sizeof(struct ibsm_snap_subnet));
	sum += sum_bytes(snapshot_statistics(s), sizeof(struct ibsm_snap_statistics));
	return sum;
}

static uint64_t walk_routes(const struct fabric *f)
{
	struct route_hop hops[8];
	struct route_result result;
	uint32_t step = f->lids / WALK_ROUTES + 1;
	char text[512];
	uint64_t sum = 0;

	for (uint32_t slid = 0; slid < f->lids; slid += step)
		for (uint32_t dlid = 0; dlid < f->lids + 2; dlid += step) {
			if (fabric_route(f, (uint16_t)slid, (uint16_t)dlid, hops, 8, &result) < 0)
				continue;
			sum += result.hops + strlen(route_reason(f, &result, text, sizeof(text)));
		}
	return sum;
}

static uint64_t walk_diff(const struct fabric *f)
{
	_cleanup_(fabric_changes_freep) struct fabric_changes *none = NULL;
	_cleanup_(fabric_changes_freep) struct fabric_changes *first = NULL;
	char text[FABRIC_CHANGE_TEXT_BYTES];
	uint64_t sum = 0;

	CHECK(fabric_diff(f, f, &none) == 0);
	CHECK(none->count == 0);
	CHECK(fabric_diff(NULL, f, &first) == 0);
	CHECK(first->by_kind[FABRIC_CHANGE_FIRST_SEEN] == 1);
	for (size_t i = 0; i < first->count; i++)
		sum += strlen(fabric_change_text(&first->changes[i], text, sizeof(text))) +
		       fabric_change_severity(&first->changes[i]);
	return sum;
}

uint64_t fabric_walk(const struct fabric *fabric)
{
	struct fabric_link_iterator iterator = {0};
	struct fabric_link link;
	uint32_t links = 0;
	uint64_t sum;

	sum = walk_nodes(fabric) + walk_tables(fabric) + walk_routes(fabric) + walk_diff(fabric);
	while (fabric_link_next(fabric, &iterator, &link))
		links++;
	CHECK(links == fabric_counts(fabric)->links);
	for (uint32_t lid = 0; lid < fabric->lids + 2; lid++)
		sum += fabric_port_by_lid(fabric, (uint16_t)lid);
	CHECK(fabric_port_by_lid(fabric, 0xffff) == IBSM_NONE);
	return sum;
}
