// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Trees with tables by arithmetic: no search, so that 43,904 hosts take a second.
#include "routing-build.h"

#include <stdio.h>
#include <stdlib.h>

struct tree {
	struct builder *b;
	int k;
	int half;
	int aggs; /* handles: leaves from 0 */
	int cores;
	int hosts;
	int count; /* of all nodes */
};

static void add(struct tree *t, int count, uint8_t type, uint64_t guid, const char *name, int ports)
{
	for (int i = 0; i < count; i++) {
		char text[64];

		snprintf(text, sizeof(text), "%s%05d", name, i);
		build_node(t->b, type, guid + (uint64_t)i * 4, text, (uint8_t)ports);
	}
}

static void cable(struct tree *t)
{
	struct builder *b = t->b;
	int k = t->k, half = t->half;

	for (int leaf = 0; leaf < t->aggs; leaf++) {
		int pod = leaf / half;

		for (int n = 0; n < half; n++)
			build_link(b, leaf, (uint8_t)(n + 1), t->hosts + leaf * half + n, 1);
		for (int j = 0; j < half; j++)
			build_link(b, leaf, (uint8_t)(half + j + 1), t->aggs + pod * half + j,
				   (uint8_t)(leaf % half + 1));
	}
	for (int agg = 0; agg < k * half; agg++)
		for (int c = 0; c < half; c++)
			build_link(b, t->aggs + agg, (uint8_t)(half + c + 1),
				   t->cores + agg % half * half + c, (uint8_t)(agg / half + 1));
}

static void number(struct tree *t, uint64_t seed)
{
	uint16_t *lids = calloc((size_t)t->count, sizeof(*lids));

	if (!lids)
		abort();
	for (int i = 0; i < t->count; i++)
		lids[i] = (uint16_t)(i + 1);
	for (int i = t->count - 1; seed && i > 0; i--) {
		uint32_t other = build_random_below(&seed, (uint32_t)i + 1);
		uint16_t lid = lids[i];

		lids[i] = lids[other];
		lids[other] = lid;
	}
	for (int i = 0; i < t->count; i++)
		build_lid(t->b, i, i < t->hosts ? 0 : 1, lids[i], 0);
	free(lids);
}

/* Where a destination hangs: the pod, its leaf and agg in the pod, its core in the agg's row. Those
 * that it has no part in say which way to spread. */
struct place {
	int pod; /* -1: a core */
	int leaf;
	int agg;
	int core;
	int host; /* port on the leaf; 0: not a host */
};

static struct place place_of(const struct tree *t, int node)
{
	int half = t->half, at;

	if (node >= t->hosts) {
		at = node - t->hosts;
		return (struct place){.pod = at / half / half,
				      .leaf = at / half % half,
				      .agg = at % half,
				      .core = at / half % half,
				      .host = at % half + 1};
	}
	if (node >= t->cores) {
		at = node - t->cores;
		return (struct place){.pod = -1, .leaf = -1, .agg = at / half, .core = at % half};
	}
	at = node >= t->aggs ? node - t->aggs : node;
	return (struct place){.pod = at / half,
			      .leaf = node >= t->aggs ? -1 : at % half,
			      .agg = at % half,
			      .core = at % half};
}

/* The out-port of the switch `at` towards a node. */
static int out_port(const struct tree *t, int at, int node, const struct place *to)
{
	int half = t->half;

	if (at == node)
		return 0;
	if (at < t->aggs) {
		if (to->host && to->pod == at / half && to->leaf == at % half)
			return to->host;
		return half + 1 + to->agg;
	}
	if (at < t->cores) {
		int agg = at - t->aggs;

		/* To an agg or core of another row: down and up again. */
		if (to->leaf < 0 && to->agg != agg % half)
			return 1;
		if (to->pod == agg / half)
			return to->leaf + 1;
		return half + 1 + to->core;
	}
	return (to->pod < 0 ? 0 : to->pod) + 1;
}

struct builder *routing_build_tree3(int k, uint64_t scatter)
{
	struct tree t = {.b = build_new(), .k = k, .half = k / 2};
	int half = k / 2;

	t.aggs = k * half;
	t.cores = 2 * k * half;
	t.hosts = t.cores + half * half;
	t.count = t.hosts + k * half * half;
	add(&t, t.aggs, IBSM_NODE_SWITCH, 0x100000, "leaf", k);
	add(&t, t.aggs, IBSM_NODE_SWITCH, 0x200000, "agg", k);
	add(&t, half * half, IBSM_NODE_SWITCH, 0x300000, "core", k);
	add(&t, k * half * half, IBSM_NODE_CA, 0x400000, "node", 1);
	cable(&t);
	number(&t, scatter);
	for (int s = 0; s < t.hosts; s++)
		build_lft(t.b, s, (uint32_t)t.count + 1);
	for (int node = 0; node < t.count; node++) {
		struct place to = place_of(&t, node);
		uint16_t lid = build_port(t.b, node, node < t.hosts ? 0 : 1)->row.lid;

		for (int s = 0; s < t.hosts; s++)
			t.b->nodes[s].lft[lid] = (uint8_t)out_port(&t, s, node, &to);
	}
	build_settings(t.b);
	return t.b;
}
