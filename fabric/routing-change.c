// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Compares two routings: entries, ways of pairs, loads.
#include "routing-change.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "routing-internal.h"

struct comparison {
	const struct routing_graph *old;
	const struct routing_graph *new;
	uint32_t *old_switch; /* by new switch; IBSM_NONE */
	uint8_t *new_place;   /* [new switch * ROUTING_HOPS_ROW + port]: leads elsewhere */
	uint8_t *new_places;  /* by new switch: some port does */
	uint8_t *lid_common;  /* by LID: in both, of the same port */
	uint8_t *lid_changed;
	uint32_t *stayed;	/* by new switch: sources that were there before */
	uint8_t *source_common; /* by new source: 1 stayed, 2 moved; 0 is new */
	uint32_t sources_moved;
	uint32_t sources_common;
	uint8_t *state; /* by new switch, for one LID: 0 not seen, 1 on the way, 2 same, 3 moved */
	uint32_t *way;
};

static void comparison_clear(struct comparison *c)
{
	free(c->old_switch);
	free(c->new_place);
	free(c->new_places);
	free(c->lid_common);
	free(c->lid_changed);
	free(c->stayed);
	free(c->source_common);
	free(c->state);
	free(c->way);
}

static uint64_t guid_of(const struct routing_graph *g, uint32_t sw)
{
	return fabric_node(g->fabric, g->nodes[sw])->node_guid;
}

static uint64_t port_guid_of(const struct routing_graph *g, uint32_t port)
{
	return fabric_port(g->fabric, port)->port_guid;
}

/* Whether two hops, of the same port of the same switch, lead to the same place. */
static bool same_place(const struct comparison *c, const struct routing_hop *old,
		       const struct routing_hop *new)
{
	/* No neighbour, or one that it does not send to. */
	if (new->kind == ROUTING_HOP_NONE || new->kind == ROUTING_HOP_DOWN)
		return old->kind == ROUTING_HOP_NONE || old->kind == ROUTING_HOP_DOWN;
	if (old->kind != new->kind)
		return false;
	if (new->kind == ROUTING_HOP_SWITCH)
		return c->old_switch[new->next] == old->next;
	if (new->kind == ROUTING_HOP_END)
		return port_guid_of(c->new, new->next) == port_guid_of(c->old, old->next);
	return true;
}

static void match_switches(struct comparison *c)
{
	const struct routing_graph *old = c->old, *new = c->new;

	for (uint32_t s = 0; s < new->switches; s++) {
		uint32_t node = fabric_node_by_guid(old->fabric, guid_of(new, s));

		c->old_switch[s] = node == IBSM_NONE ? IBSM_NONE : old->by_node[node];
	}
	for (uint32_t s = 0; s < new->switches; s++) {
		if (c->old_switch[s] == IBSM_NONE)
			continue;
		for (uint32_t port = 1; port < IBSM_LFT_NO_PATH; port++) {
			size_t at = (size_t)s * ROUTING_HOPS_ROW + port;
			size_t was = (size_t)c->old_switch[s] * ROUTING_HOPS_ROW + port;

			c->new_place[at] = !same_place(c, &old->hops[was], &new->hops[at]);
			c->new_places[s] |= c->new_place[at];
		}
	}
}

/* LIDs of end ports in both, with the same owner. */
static void match_lids(struct comparison *c, struct routing_change *change)
{
	for (uint32_t i = 0; i < c->old->dest_count; i++)
		c->lid_common[c->old->dests[i].lid] = 2;
	for (uint32_t i = 0; i < c->new->dest_count; i++) {
		const struct routing_dest *dest = &c->new->dests[i];
		uint32_t was = c->lid_common[dest->lid] == 2
				       ? fabric_port_by_lid(c->old->fabric, dest->lid)
				       : IBSM_NONE;

		c->lid_common[dest->lid] =
			was != IBSM_NONE &&
			port_guid_of(c->old, was) == port_guid_of(c->new, dest->port);
		change->lids_come += !c->lid_common[dest->lid];
	}
	for (uint32_t i = 0; i < c->old->dest_count; i++)
		if (c->lid_common[c->old->dests[i].lid] != 1) {
			c->lid_common[c->old->dests[i].lid] = 0;
			change->lids_gone++;
		}
}

static int compare_guids(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* A source's port GUID, and where it is plugged. */
struct place {
	uint64_t guid;
	uint64_t switch_guid;
	uint8_t port;
};

static struct place place_of(const struct routing_graph *g, const struct routing_source *source)
{
	uint32_t remote = fabric_link_port(g->fabric, source->port);

	return (struct place){.guid = port_guid_of(g, source->port),
			      .switch_guid = guid_of(g, source->sw),
			      .port = fabric_port(g->fabric, remote)->port};
}

static int match_sources(struct comparison *c, struct routing_change *change)
{
	_cleanup_free_ struct place *places = calloc(c->old->source_count + 1, sizeof(*places));
	uint32_t common = 0;

	if (!places)
		return -ENOMEM;
	for (uint32_t i = 0; i < c->old->source_count; i++)
		places[i] = place_of(c->old, &c->old->sources[i]);
	qsort(places, c->old->source_count, sizeof(*places), compare_guids);
	for (uint32_t i = 0; i < c->new->source_count; i++) {
		struct place now = place_of(c->new, &c->new->sources[i]);
		const struct place *was =
			bsearch(&now, places, c->old->source_count, sizeof(*places), compare_guids);

		if (!was) {
			change->sources_come++;
			continue;
		}
		common++;
		if (was->switch_guid == now.switch_guid && was->port == now.port) {
			c->source_common[i] = 1;
			c->stayed[c->new->sources[i].sw]++;
		} else {
			c->source_common[i] = 2;
			c->sources_moved++;
		}
	}
	c->sources_common = common;
	change->sources_gone = c->old->source_count - common;
	return 0;
}

static bool entry_moved(const struct comparison *c, uint32_t sw, uint32_t lid)
{
	uint32_t was = c->old_switch[sw];
	uint8_t out = lid < c->new->lft_ends[sw] ? c->new->lfts[sw][lid] : IBSM_LFT_NO_PATH;
	uint8_t before = lid < c->old->lft_ends[was] ? c->old->lfts[was][lid] : IBSM_LFT_NO_PATH;

	return out != before || c->new_place[(size_t)sw * ROUTING_HOPS_ROW + out];
}

/* Compares 64 LIDs of a switch at a time: nearly always they are the same. */
static void compare_tables(struct comparison *c, struct routing_change *change)
{
	const struct routing_graph *old = c->old, *new = c->new;

	for (uint32_t s = 0; s < new->switches; s++) {
		uint32_t was = c->old_switch[s], lids = new->fabric->lids;
		uint64_t entries = 0;

		for (uint32_t first = 0; was != IBSM_NONE && first < lids; first += 64) {
			uint32_t end = first + 64 < lids ? first + 64 : lids;

			if (!c->new_places[s] && end <= new->lft_ends[s] &&
			    end <= old->lft_ends[was] &&
			    memcmp(new->lfts[s] + first, old->lfts[was] + first, end - first) == 0)
				continue;
			for (uint32_t lid = first; lid < end; lid++) {
				if (!c->lid_common[lid] || !entry_moved(c, s, lid))
					continue;
				entries++;
				c->lid_changed[lid] = 1;
			}
		}
		change->entries += entries;
		change->switches += entries > 0;
	}
}

/* Whether the way from a switch to the LID has moved anywhere. */
static bool way_moved(struct comparison *c, uint32_t sw, uint32_t lid)
{
	uint32_t length = 0;
	uint8_t state = 2;

	for (;;) {
		const struct routing_hop *hop = routing_hop(c->new, sw, lid);

		if (c->state[sw]) {
			/* Back on the way itself: the loop is judged by its entries. */
			state = c->state[sw] == 3 ? 3 : 2;
			break;
		}
		c->way[length++] = sw;
		if (c->old_switch[sw] == IBSM_NONE || entry_moved(c, sw, lid)) {
			state = 3;
			break;
		}
		c->state[sw] = 1;
		if (hop->kind != ROUTING_HOP_SWITCH)
			break;
		sw = hop->next;
	}
	while (length > 0)
		c->state[c->way[--length]] = state;
	return state == 3;
}

static void count_pairs(struct comparison *c, struct routing_change *change, uint32_t lid)
{
	const struct routing_graph *new = c->new;
	uint64_t pairs = c->sources_common, moved = c->sources_moved;

	if (c->lid_changed[lid])
		memset(c->state, 0, new->switches);
	for (uint32_t i = 0; c->lid_changed[lid] && i < new->source_switches; i++) {
		uint32_t sw = new->source_switch[i];

		if (c->stayed[sw] && way_moved(c, sw, lid))
			moved += c->stayed[sw];
	}
	/* Less those that have the LID themselves. */
	for (uint32_t i = routing_first_claim(new, lid);
	     i < new->source_count &&new->sources[i].lid <= lid; i++) {
		uint32_t sw = new->sources[i].sw;

		if (!routing_claims(&new->sources[i], lid) || !c->source_common[i])
			continue;
		pairs--;
		if (c->source_common[i] == 2 || (c->lid_changed[lid] && c->state[sw] == 3))
			moved--;
	}
	change->pairs += pairs;
	change->moved += moved;
	change->lids += c->lid_changed[lid];
}

/* The load of the same channel before; 0 where there was none. */
static uint64_t load_before(const struct routing_result *old, const struct routing_result *new,
			    const struct routing_channel *channel)
{
	const struct ibsm_snap_port *row = fabric_port(new->fabric, channel->port);
	uint32_t node =
		fabric_node_by_guid(old->fabric, fabric_node(new->fabric, row->node)->node_guid);
	uint32_t port =
		node == IBSM_NONE ? IBSM_NONE : fabric_node_port(old->fabric, node, row->port);
	uint32_t before = port == IBSM_NONE ? IBSM_NONE : routing_channel_by_port(old, port);

	return before == IBSM_NONE ? 0 : old->channels[before].pairs;
}

static void find_risen(const struct routing_result *old, const struct routing_result *new,
		       struct routing_change *change)
{
	for (uint32_t i = 0; i < new->channel_count; i++) {
		const struct routing_channel *channel = &new->channels[i];
		struct routing_risen risen = {.channel = i, .after = channel->pairs};
		uint32_t at;

		if (!routing_is_link(new->fabric, channel))
			continue;
		risen.before = load_before(old, new, channel);
		if (risen.after <= risen.before)
			continue;
		change->risen_channels++;
		for (at = change->risen_count; at > 0; at--) {
			const struct routing_risen *above = &change->risen[at - 1];

			if (above->after - above->before >= risen.after - risen.before)
				break;
			if (at < ROUTING_RISEN_MAX)
				change->risen[at] = *above;
		}
		if (at == ROUTING_RISEN_MAX)
			continue;
		change->risen[at] = risen;
		change->risen_count += change->risen_count < ROUTING_RISEN_MAX;
	}
}

static int make_room(struct comparison *c)
{
	size_t switches = (size_t)c->new->switches + 1;

	c->old_switch = calloc(switches, sizeof(*c->old_switch));
	c->new_place = calloc(switches * ROUTING_HOPS_ROW, sizeof(*c->new_place));
	c->new_places = calloc(switches, sizeof(*c->new_places));
	c->lid_common = calloc(IBSM_UNICAST_LID_MAX + 1, sizeof(*c->lid_common));
	c->lid_changed = calloc(IBSM_UNICAST_LID_MAX + 1, sizeof(*c->lid_changed));
	c->stayed = calloc(switches, sizeof(*c->stayed));
	c->source_common = calloc((size_t)c->new->source_count + 1, sizeof(*c->source_common));
	c->state = calloc(switches, sizeof(*c->state));
	c->way = calloc(switches, sizeof(*c->way));
	return c->old_switch && c->new_place && c->new_places && c->lid_common && c->lid_changed &&
			       c->stayed && c->source_common && c->state && c->way
		       ? 0
		       : -ENOMEM;
}

int routing_compare(const struct routing_result *old, const struct routing_result *new,
		    struct routing_change *ret)
{
	_cleanup_(routing_graph_freep) struct routing_graph *old_graph = NULL;
	_cleanup_(routing_graph_freep) struct routing_graph *new_graph = NULL;
	_cleanup_(comparison_clear) struct comparison c = {0};
	struct routing_change change = {0};
	int r = routing_graph_new(old->fabric, old->tables, NULL, false, &old_graph);

	if (r < 0)
		return r;
	r = routing_graph_new(new->fabric, new->tables, NULL, false, &new_graph);
	if (r < 0)
		return r;
	c.old = old_graph;
	c.new = new_graph;
	r = make_room(&c);
	if (r < 0)
		return r;
	match_switches(&c);
	match_lids(&c, &change);
	r = match_sources(&c, &change);
	if (r < 0)
		return r;
	compare_tables(&c, &change);
	for (uint32_t i = 0; i < c.new->dest_count; i++)
		if (c.lid_common[c.new->dests[i].lid])
			count_pairs(&c, &change, c.new->dests[i].lid);
	find_risen(old, new, &change);
	*ret = change;
	return 0;
}
