// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Traffic patterns that are tried out: random bisections, and shifts.
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "routing-internal.h"

/* Hops between switches that a flow is followed over; beyond that it does not arrive. */
#define FLOW_HOPS_MAX (ROUTING_HOPS_MAX - 2)

/* An end port that sends and is sent to. */
struct host {
	uint16_t lid;
	uint32_t sw;
	uint64_t leaf_key; /* for the order of shifts */
	uint8_t own_key;
	uint8_t port;
};

struct patterns {
	const struct routing_graph *graph;
	const struct routing_config *config;
	const struct routing_channel *channels;
	struct host *hosts;
	uint32_t host_count;
	uint32_t *from; /* by flow: hosts */
	uint32_t *to;
	uint32_t *at;	    /* where its packet is */
	uint32_t *moving;   /* flows under way */
	uint32_t *hops;	    /* by flow: links that it has crossed; IBSM_NONE: it does not arrive */
	uint32_t *crossed;  /* [hop * host_count + flow]: channels */
	uint32_t *flows_on; /* by channel */
};

static void patterns_clear(struct patterns *p)
{
	free(p->hosts);
	free(p->from);
	free(p->to);
	free(p->at);
	free(p->moving);
	free(p->hops);
	free(p->crossed);
	free(p->flows_on);
}

static int make_room(struct patterns *p)
{
	const struct routing_graph *g = p->graph;
	size_t room = (size_t)g->source_count + 1;

	p->hosts = calloc(room, sizeof(*p->hosts));
	p->from = calloc(room, sizeof(*p->from));
	p->to = calloc(room, sizeof(*p->to));
	p->at = calloc(room, sizeof(*p->at));
	p->moving = calloc(room, sizeof(*p->moving));
	p->hops = calloc(room, sizeof(*p->hops));
	p->crossed = reallocarray(NULL, room * FLOW_HOPS_MAX, sizeof(*p->crossed));
	p->flows_on = calloc((size_t)g->channel_count + 1, sizeof(*p->flows_on));
	if (!p->hosts || !p->from || !p->to || !p->at || !p->moving || !p->hops || !p->crossed ||
	    !p->flows_on)
		return -ENOMEM;
	for (uint32_t i = 0; i < g->source_count; i++) {
		const struct routing_source *source = &g->sources[i];
		uint32_t remote = fabric_link_port(g->fabric, source->port);

		if (fabric_port_by_lid(g->fabric, source->lid) != source->port)
			continue;
		p->hosts[p->host_count++] =
			(struct host){.lid = source->lid,
				      .sw = source->sw,
				      .port = fabric_port(g->fabric, remote)->port};
	}
	return 0;
}

/* Moves all flows on, one hop at a time: their look-ups do not wait for each other. */
static void follow(struct patterns *p, uint32_t flows)
{
	const struct routing_graph *g = p->graph;
	uint32_t moving = flows;

	memset(p->flows_on, 0, g->channel_count * sizeof(*p->flows_on));
	for (uint32_t i = 0; i < flows; i++) {
		p->moving[i] = i;
		p->at[i] = p->hosts[p->from[i]].sw;
		p->hops[i] = 0;
	}
	for (uint32_t step = 0; moving > 0; step++) {
		uint32_t left = 0;

		for (uint32_t i = 0; i < moving; i++) {
			uint32_t flow = p->moving[i];
			uint16_t lid = p->hosts[p->to[flow]].lid;
			const struct routing_hop *hop = routing_hop(g, p->at[flow], lid);

			if (hop->kind == ROUTING_HOP_SWITCH && step < FLOW_HOPS_MAX) {
				uint32_t channel = routing_hop_channel(g, p->at[flow], hop);

				p->at[flow] = hop->next;
				p->hops[flow]++;
				p->crossed[(size_t)step * p->host_count + flow] = channel;
				p->flows_on[channel]++;
				p->moving[left++] = flow;
			} else if (hop->kind != ROUTING_HOP_END ||
				   !routing_port_has_lid(fabric_port(g->fabric, hop->next), lid)) {
				p->hops[flow] = IBSM_NONE;
			}
		}
		moving = left;
	}
}

/* splitmix64: any seed will do. */
static uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* Evenly 0 … below - 1, but for 2^-32 (Lemire's multiplication). */
static uint32_t random_below(uint64_t *state, uint32_t below)
{
	return (uint32_t)((random_next(state) >> 32) * below >> 32);
}

static double try_bisection(struct patterns *p, uint32_t *order, uint64_t *state)
{
	uint32_t flows = p->host_count / 2;
	double sum = 0;

	for (uint32_t i = p->host_count - 1; i > 0; i--) {
		uint32_t other = random_below(state, i + 1), swap = order[i];

		order[i] = order[other];
		order[other] = swap;
	}
	for (uint32_t i = 0; i < flows; i++) {
		p->from[i] = order[i];
		p->to[i] = order[flows + i];
	}
	follow(p, flows);
	for (uint32_t i = 0; i < flows; i++) {
		uint32_t most = 1;

		if (p->hops[i] == IBSM_NONE)
			continue;
		for (uint32_t hop = 0; hop < p->hops[i]; hop++) {
			uint32_t on = p->flows_on[p->crossed[(size_t)hop * p->host_count + i]];

			if (on > most)
				most = on;
		}
		sum += 1.0 / most;
	}
	return sum / flows;
}

static int find_ebb(struct patterns *p, struct routing_ebb *ebb)
{
	_cleanup_free_ uint32_t *order = calloc((size_t)p->host_count + 1, sizeof(*order));
	uint64_t state = p->config->seed;
	double mean = 0, squares = 0;

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->host_count; i++)
		order[i] = i;
	ebb->flows = p->host_count / 2;
	while (ebb->trials < p->config->ebb_trials_max) {
		double value = try_bisection(p, order, &state), delta = value - mean;

		if (p->config->stop && atomic_load(p->config->stop))
			return -ECANCELED;
		/* Welford's running variance. */
		ebb->trials++;
		mean += delta / ebb->trials;
		squares += delta * (value - mean);
		ebb->mean = mean;
		if (ebb->trials < 2)
			continue;
		ebb->stderr_of_mean = sqrt(squares / (ebb->trials - 1) / ebb->trials);
		/* Two trials may agree by chance. */
		if (ebb->trials >= 8 && ebb->stderr_of_mean <= p->config->ebb_stderr)
			break;
	}
	return 0;
}

/* The out-ports upwards on the way from a switch to a LID: the first byte is the first one. */
static uint64_t up_ports(const struct patterns *p, uint32_t sw, uint16_t lid)
{
	const struct routing_graph *g = p->graph;
	uint64_t ports = 0;

	for (uint32_t step = 0; step < 8; step++) {
		const struct routing_hop *hop = routing_hop(g, sw, lid);

		uint32_t channel = routing_hop_channel(g, sw, hop);

		if (hop->kind != ROUTING_HOP_SWITCH || p->channels[channel].direction != ROUTING_UP)
			break;
		ports |= (uint64_t)fabric_port(g->fabric, p->channels[channel].port)->port
			 << (8 * step);
		sw = hop->next;
	}
	return ports;
}

/* What hangs together below the topmost rank: by switch the lowest one of it. */
static int find_pods(const struct patterns *p, const struct routing_result *result, uint32_t *pods)
{
	const struct routing_graph *g = p->graph;
	_cleanup_free_ uint32_t *queue = calloc((size_t)g->switches + 1, sizeof(*queue));
	uint32_t top = result->shape.ranks - 1;

	if (!queue)
		return -ENOMEM;
	memset(pods, 0xff, g->switches * sizeof(*pods));
	for (uint32_t s = 0; s < g->switches; s++) {
		uint32_t tail = 0;

		if (pods[s] != IBSM_NONE || result->ranks[g->nodes[s]] >= top)
			continue;
		pods[s] = s;
		queue[tail++] = s;
		for (uint32_t head = 0; head < tail; head++)
			for (uint32_t i = g->neighbours_first[queue[head]];
			     i < g->neighbours_first[queue[head] + 1]; i++) {
				uint32_t next = g->neighbours[i];

				/* A cable between two of one rank joins no pods. */
				if (pods[next] != IBSM_NONE ||
				    result->ranks[g->nodes[next]] >= top ||
				    result->ranks[g->nodes[next]] ==
					    result->ranks[g->nodes[queue[head]]])
					continue;
				pods[next] = s;
				queue[tail++] = next;
			}
	}
	return 0;
}

static int compare_hosts(const void *a, const void *b, void *userdata)
{
	const uint32_t *pods = userdata;
	const struct host *x = a, *y = b;

	if (pods[x->sw] != pods[y->sw])
		return pods[x->sw] < pods[y->sw] ? -1 : 1;
	if (x->leaf_key != y->leaf_key)
		return x->leaf_key < y->leaf_key ? -1 : 1;
	if (x->sw != y->sw)
		return x->sw < y->sw ? -1 : 1;
	if (x->own_key != y->own_key)
		return x->own_key < y->own_key ? -1 : 1;
	return x->port < y->port ? -1 : x->port > y->port;
}

/*
 * D-Mod-K gives neighbours in its order neighbouring uplinks: first at the leaf, then above it. So
 * the order shows in the uplinks that a leaf far off takes: those above the leaf order the
 * destinations' leaves in their pod, the leaf's own the ports of one leaf.
 */
static int order_hosts(struct patterns *p, const struct routing_result *result)
{
	const struct routing_graph *g = p->graph;
	_cleanup_free_ uint32_t *pods = calloc((size_t)g->switches + 1, sizeof(*pods));
	_cleanup_free_ uint64_t *leaf_keys = calloc((size_t)g->switches + 1, sizeof(*leaf_keys));
	uint32_t first = IBSM_NONE, second = IBSM_NONE;
	int r;

	if (!pods || !leaf_keys)
		return -ENOMEM;
	r = find_pods(p, result, pods);
	if (r < 0)
		return r;
	/* Two leaves to look from: each for the destinations that are far from it. */
	for (uint32_t i = 0; i < p->host_count; i++) {
		uint32_t sw = p->hosts[i].sw;

		if (result->ranks[g->nodes[sw]] != 0)
			continue;
		if (first == IBSM_NONE)
			first = sw;
		else if (second == IBSM_NONE && pods[sw] != pods[first])
			second = sw;
	}
	memset(leaf_keys, 0xff, g->switches * sizeof(*leaf_keys));
	for (uint32_t i = 0; i < p->host_count; i++) {
		struct host *host = &p->hosts[i];
		uint32_t from =
			first != IBSM_NONE && pods[host->sw] == pods[first] ? second : first;
		uint64_t ports = from == IBSM_NONE ? 0 : up_ports(p, from, host->lid);
		/* The uplinks nearest to the top count most. */
		uint64_t above = __builtin_bswap64(ports & ~UINT64_C(0xff));

		host->own_key = (uint8_t)ports;
		if (above < leaf_keys[host->sw])
			leaf_keys[host->sw] = above;
	}
	for (uint32_t i = 0; i < p->host_count; i++)
		p->hosts[i].leaf_key = leaf_keys[p->hosts[i].sw];
	qsort_r(p->hosts, p->host_count, sizeof(*p->hosts), compare_hosts, pods);
	return 0;
}

static void try_shift(struct patterns *p, struct routing_shift *shift, uint32_t by)
{
	const struct routing_graph *g = p->graph;

	for (uint32_t i = 0; i < p->host_count; i++) {
		p->from[i] = i;
		p->to[i] = (i + by) % p->host_count;
	}
	follow(p, p->host_count);
	shift->shifts++;
	for (uint32_t c = 0; c < g->channel_count; c++)
		if (p->flows_on[c] > shift->contention) {
			shift->contention = p->flows_on[c];
			shift->worst = by;
			shift->channel = c;
		}
}

static int find_shifts(struct patterns *p, struct routing_result *result)
{
	struct routing_shift *shift = &result->shift;
	uint32_t max = p->config->shifts_max;
	int r = order_hosts(p, result);

	if (r < 0)
		return r;
	shift->all = p->host_count - 1;
	shift->contention = 1;
	shift->worst = 1;
	if (max > shift->all)
		max = shift->all;
	for (uint32_t i = 0; i < max; i++) {
		try_shift(p, shift, 1 + (uint32_t)((uint64_t)i * shift->all / max));
		if (p->config->stop && atomic_load(p->config->stop))
			return -ECANCELED;
	}
	return 0;
}

int routing_find_patterns(const struct routing_graph *graph, const struct routing_config *config,
			  struct routing_result *result)
{
	_cleanup_(patterns_clear) struct patterns p = {
		.graph = graph, .config = config, .channels = result->channels};
	bool shifts = config->shifts_max > 0 && result->shape.tree;
	int r;

	result->shift.channel = IBSM_NONE;
	if (!config->ebb_trials_max && !shifts)
		return 0;
	r = make_room(&p);
	if (r < 0)
		return r;
	if (p.host_count < 2)
		return 0;
	if (config->ebb_trials_max)
		r = find_ebb(&p, &result->ebb);
	if (r == 0 && shifts)
		r = find_shifts(&p, result);
	return r;
}
