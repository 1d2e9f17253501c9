// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Credit loops: channels that may wait for each other in a circle, and so for ever.
#include "routing-internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/*
 * A packet holds a channel's buffer until the next channel on its way has room: the channel depends
 * on the next one. A lane is free of deadlock if and only if these dependencies have no circle
 * (Dally & Seitz 1987). Lanes do not mix, since a packet's service level does not change on its
 * way and one table maps levels to lanes on all switches.
 *
 * Edges are walked backwards, from a channel to those that depend on it: that is how the pass has
 * them, and the components are the same.
 */

/* Steps of the searches for shortest circles, in all; a search is short where a circle is. */
#define SEARCH_STEPS (UINT64_C(1) << 24)

struct search {
	const struct routing_graph *graph;
	const struct routing_channel *channels;
	struct routing_credit *credit;
	const uint64_t *dependencies;
	uint32_t in_words;
	uint8_t vl;
	uint32_t *number; /* Tarjan's: by channel, 0 not seen */
	uint32_t *low;
	uint32_t *component; /* by channel: 1, 2 …; 0: in none that matters */
	uint32_t components;
	uint32_t *stack;
	uint32_t *path;	 /* channels that are being looked at */
	uint32_t *place; /* by channel on the path: the next bit to look at */
	uint32_t *from;	 /* shortest circles: whence it was reached */
	uint32_t *seen;	 /* and in which search */
	uint32_t searches;
	uint64_t steps;
	uint32_t cycles_used;
	uint32_t cycles_room;
};

static void search_clear(struct search *s)
{
	free(s->number);
	free(s->low);
	free(s->component);
	free(s->stack);
	free(s->path);
	free(s->place);
	free(s->from);
	free(s->seen);
}

static int search_make_room(struct search *s)
{
	size_t room = (size_t)s->graph->channel_count + 1;

	s->number = calloc(room, sizeof(uint32_t));
	s->low = calloc(room, sizeof(uint32_t));
	s->component = calloc(room, sizeof(uint32_t));
	s->stack = calloc(room, sizeof(uint32_t));
	s->path = calloc(room, sizeof(uint32_t));
	s->place = calloc(room, sizeof(uint32_t));
	s->from = calloc(room, sizeof(uint32_t));
	s->seen = calloc(room, sizeof(uint32_t));
	return s->number && s->low && s->component && s->stack && s->path && s->place && s->from &&
			       s->seen
		       ? 0
		       : -ENOMEM;
}

/* The next channel that depends on `channel`, from bit *place on, or IBSM_NONE. */
static uint32_t next_before(const struct search *s, uint32_t channel, uint32_t *place)
{
	const struct routing_graph *g = s->graph;
	const uint64_t *row = &s->dependencies[(size_t)channel * s->in_words];

	while (*place < s->in_words * 64) {
		uint64_t bits = row[*place / 64] >> (*place % 64);
		uint32_t in;

		if (!bits) {
			*place = (*place / 64 + 1) * 64;
			continue;
		}
		*place += (uint32_t)__builtin_ctzll(bits);
		in = g->ins_first[g->channel_switch[channel]] + *place;
		(*place)++;
		return g->ins[in];
	}
	return IBSM_NONE;
}

static int add_loop(struct search *s, uint32_t size, uint32_t dependencies)
{
	struct routing_credit *credit = s->credit;

	if (credit->loop_count == ROUTING_CREDIT_LOOPS_MAX) {
		credit->loops_left_out++;
		return 0;
	}
	if (!credit->loops) {
		credit->loops = calloc(ROUTING_CREDIT_LOOPS_MAX, sizeof(*credit->loops));
		if (!credit->loops)
			return -ENOMEM;
	}
	credit->loops[credit->loop_count++] = (struct routing_credit_loop){
		.vl = s->vl, .channels = size, .dependencies = dependencies};
	return 0;
}

static int add_cycle(struct search *s, struct routing_credit_loop *loop, uint32_t last,
		     uint32_t length)
{
	struct routing_credit *credit = s->credit;
	uint32_t channel = last;

	if (s->cycles_room - s->cycles_used < length) {
		uint32_t room = s->cycles_room + s->cycles_room / 2 + length + 64;
		uint32_t *grown = reallocarray(credit->cycles, room, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		credit->cycles = grown;
		s->cycles_room = room;
	}
	/* What was found last comes first on the way: edges were walked backwards. */
	for (uint32_t i = 0; i < length; i++) {
		credit->cycles[s->cycles_used + i] = channel;
		channel = s->from[channel];
	}
	loop->cycle_first = s->cycles_used;
	loop->cycle_length = length;
	return 0;
}

/* A way from `start` back to itself of fewer than `limit` channels; 0: none. Puts the channel that
 * it comes back from to *ret_last. `queue` is scratch. */
static uint32_t find_cycle(struct search *s, uint32_t start, uint32_t limit, uint32_t *queue,
			   uint32_t *ret_last)
{
	uint32_t head = 0, tail = 0, length = 1, level_end;

	s->searches++;
	s->seen[start] = s->searches;
	s->from[start] = IBSM_NONE;
	queue[tail++] = start;
	level_end = tail;
	while (head < tail && length < limit) {
		uint32_t channel = queue[head++], place = 0, before;

		while ((before = next_before(s, channel, &place)) != IBSM_NONE) {
			s->steps++;
			if (before == start) {
				*ret_last = channel;
				return length;
			}
			if (s->component[before] != s->component[start] ||
			    s->seen[before] == s->searches)
				continue;
			s->seen[before] = s->searches;
			s->from[before] = channel;
			queue[tail++] = before;
		}
		if (head == level_end) {
			length++;
			level_end = tail;
		}
	}
	return 0;
}

/* The component is stack[first … end); `loop` is NULL where the list is full. */
static int describe(struct search *s, uint32_t first, uint32_t end)
{
	struct routing_credit *credit = s->credit;
	uint32_t dependencies = 0, before, best = IBSM_NONE, loops = credit->loop_count;
	_cleanup_free_ uint32_t *queue = NULL;
	struct routing_credit_loop *loop;
	int r;

	for (uint32_t i = first; i < end; i++) {
		uint32_t place = 0;

		while ((before = next_before(s, s->stack[i], &place)) != IBSM_NONE)
			dependencies += s->component[before] == s->component[s->stack[i]];
	}
	r = add_loop(s, end - first, dependencies);
	if (r < 0 || credit->loop_count == loops)
		return r;
	loop = &credit->loops[loops];
	loop->shortest = true;
	queue = calloc(end - first, sizeof(*queue));
	if (!queue)
		return -ENOMEM;
	for (uint32_t i = first; i < end && best > 1; i++) {
		uint32_t last, length;

		if (s->steps > SEARCH_STEPS && best != IBSM_NONE) {
			loop->shortest = false;
			break;
		}
		length = find_cycle(s, s->stack[i], best, queue, &last);
		if (!length)
			continue;
		best = length;
		r = add_cycle(s, loop, last, length);
		if (r < 0)
			return r;
	}
	s->cycles_used += loop->cycle_length;
	return 0;
}

/* Takes a finished component off the stack: of several channels, or one that waits for itself. */
static int finish(struct search *s, uint32_t root, uint32_t *depth)
{
	uint32_t end = *depth, first = end, place = 0, before;
	bool matters = false;

	do
		s->component[s->stack[--first]] = s->components + 1;
	while (s->stack[first] != root);
	*depth = first;
	if (end - first > 1)
		matters = true;
	else
		while ((before = next_before(s, root, &place)) != IBSM_NONE)
			matters |= before == root;
	if (!matters) {
		s->component[root] = IBSM_NONE;
		return 0;
	}
	s->components++;
	return describe(s, first, end);
}

/* Tarjan's components, without recursion. */
static int find_components(struct search *s)
{
	uint32_t numbers = 0, depth = 0;

	for (uint32_t start = 0; start < s->graph->channel_count; start++) {
		uint32_t length = 0;

		/* Nothing depends on a channel to an end port. */
		if (s->number[start] || s->channels[start].direction == ROUTING_TO_END)
			continue;
		s->number[start] = s->low[start] = ++numbers;
		s->place[start] = 0;
		s->stack[depth++] = start;
		s->path[length++] = start;
		while (length > 0) {
			uint32_t channel = s->path[length - 1];
			uint32_t before = next_before(s, channel, &s->place[channel]);

			if (before != IBSM_NONE && !s->number[before]) {
				s->number[before] = s->low[before] = ++numbers;
				s->place[before] = 0;
				s->stack[depth++] = before;
				s->path[length++] = before;
				continue;
			}
			if (before != IBSM_NONE) {
				if (!s->component[before] && s->number[before] < s->low[channel])
					s->low[channel] = s->number[before];
				continue;
			}
			length--;
			if (length > 0 && s->low[channel] < s->low[s->path[length - 1]])
				s->low[s->path[length - 1]] = s->low[channel];
			if (s->low[channel] == s->number[channel]) {
				int r = finish(s, channel, &depth);

				if (r < 0)
					return r;
			}
		}
	}
	return 0;
}

static int find_loops(struct search *s, const uint64_t *dependencies, uint8_t vl)
{
	size_t size = s->graph->channel_count * sizeof(uint32_t);

	memset(s->number, 0, size);
	memset(s->component, 0, size);
	memset(s->seen, 0, size);
	s->searches = 0;
	s->components = 0;
	s->dependencies = dependencies;
	s->vl = vl;
	return find_components(s);
}

/* Counts dependencies, and in a tree the turns from down to up. Returns whether none of the ways
 * could lead back: all go up, then down. */
static int count(const struct routing_graph *g, const struct routing_traffic *traffic,
		 struct routing_result *result, bool *ret_up_down)
{
	struct routing_credit *credit = &result->credit;

	*ret_up_down = result->shape.tree;
	for (uint32_t c = 0; c < g->channel_count; c++) {
		const uint64_t *row = &traffic->dependencies[(size_t)c * traffic->in_words];
		const struct routing_channel *channel = &result->channels[c];
		uint32_t sw = g->channel_switch[c], ins = 0;

		for (uint32_t i = 0; i < traffic->in_words; i++)
			ins += (uint32_t)__builtin_popcountll(row[i]);
		if (channel->direction == ROUTING_TO_END) {
			credit->end_dependencies +=
				ins + (traffic->from_own[c] ? g->own[sw] - 1 : 0);
			continue;
		}
		credit->dependencies += ins;
		credit->end_dependencies += traffic->from_own[c] ? g->own[sw] : 0;
		if (!result->shape.tree || !channel->pairs)
			continue;
		*ret_up_down &= channel->direction != ROUTING_LATERAL;
		if (channel->direction != ROUTING_UP)
			continue;
		for (uint32_t i = 0; i < traffic->in_words; i++)
			for (uint64_t bits = row[i]; bits; bits &= bits - 1) {
				uint32_t in = g->ins[g->ins_first[sw] + i * 64 +
						     (uint32_t)__builtin_ctzll(bits)];

				if (result->channels[in].direction != ROUTING_DOWN)
					continue;
				*ret_up_down = false;
				if (credit->turn_count == ROUTING_TURNS_MAX) {
					credit->turns_left_out++;
					continue;
				}
				if (!credit->turns)
					credit->turns =
						calloc(ROUTING_TURNS_MAX, sizeof(*credit->turns));
				if (!credit->turns)
					return -ENOMEM;
				credit->turns[credit->turn_count++] =
					(struct routing_turn){.in = in, .out = c};
			}
	}
	return 0;
}

/* Engines that rely on service levels, by the names that opensm gives them. */
static bool engine_uses_levels(const struct fabric *fabric)
{
	static const char *const engines[] = {"lash", "dfsssp", "torus-2QoS", "nue"};
	const char *used = fabric_engine_used(fabric);

	for (size_t i = 0; used && i < ELEMENTSOF(engines); i++)
		if (strcasecmp(used, engines[i]) == 0)
			return true;
	return false;
}

static bool is_true(const struct fabric *fabric, const char *name)
{
	const struct ibsm_snap_option *option = fabric_option(fabric, name);

	return option && option->kind == IBSM_OPTION_BOOLEAN && option->value;
}

/* "0,1,2 …" of an option; false where it is not set. */
static bool read_levels(const struct fabric *fabric, const char *name, uint8_t lanes[16])
{
	const struct ibsm_snap_option *option = fabric_option(fabric, name);
	const char *text;

	if (!option || option->kind != IBSM_OPTION_STRING || !option->value)
		return false;
	text = snapshot_string(fabric->snapshot, option->text);
	for (uint32_t level = 0; level < 16; level++) {
		char *end;
		unsigned long lane = strtoul(text, &end, 10);

		if (end == text || lane > 15)
			return false;
		lanes[level] = (uint8_t)lane;
		text = *end == ',' ? end + 1 : end;
	}
	return true;
}

/* Which lane each level takes between switches, as opensm sets it up; false: it does not. */
static bool levels_to_lanes(const struct fabric *fabric, uint8_t lanes[16])
{
	uint8_t data_vls = fabric_subnet(fabric)->min_data_vls;

	if (!is_true(fabric, "qos"))
		return false;
	if (!read_levels(fabric, "qos_swe_sl2vl", lanes) &&
	    !read_levels(fabric, "qos_sl2vl", lanes))
		/* opensm's default. */
		for (uint8_t level = 0; level < 16; level++)
			lanes[level] = level == 15 ? 7 : level;
	/* It folds lanes that ports do not have into those that they have: 1, 2, 4, 8 or 15. */
	for (uint32_t level = 0; level < 16 && data_vls && data_vls < 15; level++)
		lanes[level] = (uint8_t)(lanes[level] & (data_vls - 1));
	return true;
}

static int compare_loops(const void *a, const void *b)
{
	const struct routing_credit_loop *x = a, *y = b;

	if (x->vl != y->vl)
		return x->vl < y->vl ? -1 : 1;
	if (x->channels != y->channels)
		return x->channels > y->channels ? -1 : 1;
	return x->cycle_first < y->cycle_first ? -1 : x->cycle_first > y->cycle_first;
}

int routing_find_credit_loops(const struct routing_graph *graph,
			      const struct routing_config *config,
			      const struct routing_traffic *traffic, struct routing_result *result)
{
	_cleanup_(search_clear) struct search search = {.graph = graph,
							.channels = result->channels,
							.credit = &result->credit,
							.in_words = traffic->in_words};
	_cleanup_(routing_lanes_clear) struct routing_lanes lanes = {0};
	struct routing_credit *credit = &result->credit;
	const uint8_t *sl_to_vl = config->sl_to_vl;
	uint8_t from_options[16];
	bool up_down;
	int r = count(graph, traffic, result, &up_down);

	if (r < 0 || up_down)
		return r;
	r = search_make_room(&search);
	if (r == 0)
		r = find_loops(&search, traffic->dependencies, ROUTING_VL_ANY);
	if (r < 0 || !credit->loop_count)
		return r;
	credit->state = ROUTING_CREDIT_LOOPS;
	if (!sl_to_vl && levels_to_lanes(graph->fabric, from_options))
		sl_to_vl = from_options;
	if (config->path_sl && sl_to_vl) {
		credit->loop_count = credit->loops_left_out = search.cycles_used = 0;
		r = routing_lanes_fill(graph, config, sl_to_vl, traffic->in_words, &lanes);
		for (uint8_t vl = 0; vl < ROUTING_LANES && r == 0; vl++)
			if (lanes.dependencies[vl])
				r = find_loops(&search, lanes.dependencies[vl], vl);
		credit->state = credit->loop_count ? ROUTING_CREDIT_LOOPS : ROUTING_CREDIT_FREE;
	} else if (config->path_sl || engine_uses_levels(graph->fabric)) {
		credit->state = ROUTING_CREDIT_SL_UNKNOWN;
	}
	if (r == 0)
		qsort(credit->loops, credit->loop_count, sizeof(*credit->loops), compare_loops);
	return r;
}
