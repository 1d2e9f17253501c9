// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// How evenly the load lies on the channels: groups, bounds and the worst of each.
#include "routing-internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t divide_up(uint64_t a, uint64_t b)
{
	return b ? (a + b - 1) / b : 0;
}

static void add_channel(struct routing_group *group, const struct routing_channel *channel,
			uint32_t number)
{
	if (group->channels == 0 || channel->pairs > group->max) {
		group->max = channel->pairs;
		group->hottest = number;
	}
	if (group->channels == 0 || channel->pairs < group->min)
		group->min = channel->pairs;
	group->channels++;
	group->idle += channel->pairs == 0;
	group->pairs += channel->pairs;
	/* The sum of squares, until finish() makes the deviation of it. */
	group->deviation += (double)channel->pairs * (double)channel->pairs;
}

static void finish(struct routing_group *group)
{
	double mean = (double)group->pairs / group->channels;
	double variance = group->deviation / group->channels - mean * mean;

	group->bound = divide_up(group->pairs, group->channels);
	group->deviation = group->pairs && variance > 0 ? sqrt(variance) / mean : 0;
}

static void add_totals(struct routing_result *result)
{
	result->hottest = result->io_hottest = IBSM_NONE;
	for (uint32_t c = 0; c < result->channel_count; c++) {
		const struct routing_channel *channel = &result->channels[c];

		if (!routing_is_link(result->fabric, channel))
			continue;
		result->links++;
		result->idle += channel->pairs == 0;
		result->load += channel->pairs;
		if (channel->pairs > result->max_load) {
			result->max_load = channel->pairs;
			result->hottest = c;
		}
		result->io_load += channel->io_pairs;
		if (channel->io_pairs > result->io_max_load) {
			result->io_max_load = channel->io_pairs;
			result->io_hottest = c;
		}
	}
	result->mean_load = result->links ? (double)result->load / result->links : 0;
	result->bound = divide_up(result->load, result->links);
	if (result->cut.bound > result->bound)
		result->bound = result->cut.bound;
}

static void add_levels(struct routing_result *result)
{
	struct routing_group levels[ROUTING_LEVELS_MAX][ROUTING_DIRECTIONS] = {0};

	for (uint32_t c = 0; c < result->channel_count; c++) {
		const struct routing_channel *channel = &result->channels[c];

		if (routing_is_link(result->fabric, channel))
			add_channel(&levels[channel->rank][channel->direction], channel, c);
	}
	for (uint32_t rank = 0; rank < ROUTING_LEVELS_MAX; rank++)
		for (uint32_t direction = 0; direction < ROUTING_DIRECTIONS; direction++) {
			struct routing_group *group = &levels[rank][direction];

			if (!group->channels)
				continue;
			group->kind = ROUTING_GROUP_LEVEL;
			group->node = group->peer = IBSM_NONE;
			group->direction = (uint8_t)direction;
			group->rank = (uint8_t)rank;
			finish(group);
			result->groups[result->group_count++] = *group;
		}
}

static void add_uplinks(const struct routing_graph *g, struct routing_result *result)
{
	for (uint32_t c = 0; c < g->channel_count;) {
		struct routing_group group = {.kind = ROUTING_GROUP_UPLINKS,
					      .node = g->nodes[g->channel_switch[c]],
					      .peer = IBSM_NONE,
					      .direction = ROUTING_UP};
		uint32_t sw = g->channel_switch[c];

		for (; c < g->channel_count && g->channel_switch[c] == sw; c++) {
			const struct routing_channel *channel = &result->channels[c];

			if (!routing_is_link(g->fabric, channel) ||
			    channel->direction != ROUTING_UP)
				continue;
			group.rank = channel->rank;
			add_channel(&group, channel, c);
		}
		if (!group.channels)
			continue;
		finish(&group);
		result->groups[result->group_count++] = group;
	}
}

/* Counts neighbours with several channels, and fills in their groups when there is room for them.
 * `by_peer` is scratch: number of the group by switch. */
static void add_neighbours(const struct routing_graph *g, struct routing_result *result,
			   uint32_t *by_peer)
{
	uint32_t first, kept;

	for (uint32_t c = 0; c < g->channel_count;) {
		uint32_t sw = g->channel_switch[c];

		first = result->group_count;
		for (; c < g->channel_count && g->channel_switch[c] == sw; c++) {
			const struct routing_channel *channel = &result->channels[c];
			uint32_t peer;

			if (!routing_is_link(g->fabric, channel))
				continue;
			peer = g->by_node[fabric_port(g->fabric, channel->remote)->node];
			if (by_peer[peer] == IBSM_NONE || by_peer[peer] < first) {
				by_peer[peer] = result->group_count;
				result->groups[result->group_count++] =
					(struct routing_group){.kind = ROUTING_GROUP_NEIGHBOURS,
							       .node = g->nodes[sw],
							       .peer = g->nodes[peer],
							       .direction = channel->direction,
							       .rank = channel->rank};
			}
			add_channel(&result->groups[by_peer[peer]], channel, c);
		}
		kept = first;
		for (uint32_t i = first; i < result->group_count; i++) {
			by_peer[g->by_node[result->groups[i].peer]] = IBSM_NONE;
			if (result->groups[i].channels < 2)
				continue;
			finish(&result->groups[i]);
			result->groups[kept++] = result->groups[i];
		}
		result->group_count = kept;
	}
}

/* Sets of switches, by the lowest one in each. */
static uint32_t find(uint32_t *parent, uint32_t s)
{
	while (parent[s] != s) {
		parent[s] = parent[parent[s]];
		s = parent[s];
	}
	return s;
}

struct inside {
	uint64_t sources;
	uint64_t lids;
	uint64_t io_lids;
	uint32_t out;
	uint32_t in;
};

/* So many pairs go out of a set, so many into it. */
static void consider(struct routing_cut *worst, uint32_t node, uint8_t rank,
		     const struct inside *set, uint64_t pairs_out, uint64_t pairs_in)
{
	uint64_t out = divide_up(pairs_out, set->out), in = divide_up(pairs_in, set->in);
	const struct routing_cut cut = {.bound = out > in ? out : in,
					.node = node,
					.rank = rank,
					.channels = out > in ? set->out : set->in};

	if (cut.bound > worst->bound)
		*worst = cut;
}

/* Cuts around the sets, of which those with a root in `parent` were made. */
static void measure_cuts(const struct routing_graph *g, struct routing_result *result,
			 uint32_t *parent, struct inside *inside, uint8_t rank)
{
	uint64_t io_lids = 0;

	memset(inside, 0, g->switches * sizeof(*inside));
	for (uint32_t s = 0; s < g->switches; s++)
		inside[find(parent, s)].sources += g->own[s];
	for (uint32_t i = 0; i < g->dest_count; i++) {
		struct inside *set = &inside[find(parent, g->dests[i].sw)];

		set->lids++;
		set->io_lids += g->dests[i].io;
		io_lids += g->dests[i].io;
	}
	for (uint32_t c = 0; c < g->channel_count; c++) {
		const struct routing_channel *channel = &result->channels[c];
		uint32_t from, to;

		if (!routing_is_link(g->fabric, channel))
			continue;
		from = find(parent, g->channel_switch[c]);
		to = find(parent, g->by_node[fabric_port(g->fabric, channel->remote)->node]);
		if (from == to)
			continue;
		inside[from].out++;
		inside[to].in++;
	}
	for (uint32_t s = 0; s < g->switches; s++) {
		const struct inside *set = &inside[s];

		if (parent[s] != s || result->ranks[g->nodes[s]] > rank)
			continue;
		consider(&result->cut, g->nodes[s], rank, set,
			 set->sources * (g->dest_count - set->lids),
			 (g->source_count - set->sources) * set->lids);
		consider(&result->io_cut, g->nodes[s], rank, set,
			 set->sources * (io_lids - set->io_lids),
			 (g->source_count - set->sources) * set->io_lids);
	}
}

/* Each leaf alone; then, in a tree, what hangs together without the switches above each rank. */
static int find_cuts(const struct routing_graph *g, struct routing_result *result)
{
	_cleanup_free_ uint32_t *parent = calloc(g->switches + 1, sizeof(*parent));
	_cleanup_free_ struct inside *inside = calloc(g->switches + 1, sizeof(*inside));

	if (!parent || !inside)
		return -ENOMEM;
	result->cut.node = result->io_cut.node = IBSM_NONE;
	for (uint32_t s = 0; s < g->switches; s++)
		parent[s] = s;
	measure_cuts(g, result, parent, inside, 0);
	for (uint32_t rank = 1; result->shape.tree && rank + 1 < result->shape.ranks; rank++) {
		for (uint32_t c = 0; c < g->channel_count; c++) {
			const struct routing_channel *channel = &result->channels[c];
			uint32_t a, b;

			if (!routing_is_link(g->fabric, channel))
				continue;
			a = g->channel_switch[c];
			b = g->by_node[fabric_port(g->fabric, channel->remote)->node];
			if (result->ranks[g->nodes[a]] > rank || result->ranks[g->nodes[b]] > rank)
				continue;
			a = find(parent, a);
			b = find(parent, b);
			if (a < b)
				parent[b] = a;
			else
				parent[a] = b;
		}
		measure_cuts(g, result, parent, inside, (uint8_t)rank);
	}
	return 0;
}

int routing_weigh(const struct routing_graph *g, struct routing_result *result)
{
	_cleanup_free_ uint32_t *by_peer = malloc((g->switches + 1) * sizeof(*by_peer));
	/* Levels, one group of uplinks a switch, and no more neighbours than channels. */
	size_t room =
		(size_t)ROUTING_LEVELS_MAX * ROUTING_DIRECTIONS + g->switches + g->channel_count;
	struct routing_group *fitting;
	int r;

	result->groups = calloc(room, sizeof(*result->groups));
	if (!by_peer || !result->groups)
		return -ENOMEM;
	memset(by_peer, 0xff, (g->switches + 1) * sizeof(*by_peer));
	r = find_cuts(g, result);
	if (r < 0)
		return r;
	add_totals(result);
	add_levels(result);
	add_uplinks(g, result);
	add_neighbours(g, result, by_peer);
	fitting = reallocarray(result->groups, result->group_count + 1, sizeof(*result->groups));
	if (fitting)
		result->groups = fitting;
	return 0;
}
