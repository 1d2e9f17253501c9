// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The routing analysis as a whole: its parts one after the other, and its result.
#include "routing.h"

#include <errno.h>
#include <stdlib.h>

#include "routing-internal.h"

struct routing_result *routing_result_free(struct routing_result *result)
{
	if (!result)
		return NULL;
	free(result->faults);
	free(result->loop_switches);
	free(result->ranks);
	free(result->channels);
	free(result->groups);
	free(result->credit.loops);
	free(result->credit.cycles);
	free(result->credit.turns);
	fabric_unref(result->fabric);
	free(result);
	return NULL;
}

static void count_differences(const struct routing_graph *g, struct routing_result *result)
{
	for (uint32_t s = 0; s < g->switches; s++) {
		const struct ibsm_snap_switch *sw = fabric_switch(g->fabric, g->nodes[s]);
		uint32_t entries = sw ? fabric_lft_mismatch(g->fabric, sw) : 0;

		result->lft_differs_switches += entries > 0;
		result->lft_differs_entries += entries;
	}
}

int routing_analyze(const struct fabric *fabric, const struct routing_config *config,
		    struct routing_result **ret)
{
	_cleanup_(routing_graph_freep) struct routing_graph *g = NULL;
	_cleanup_(routing_result_freep) struct routing_result *result = NULL;
	_cleanup_(routing_traffic_clear) struct routing_traffic traffic = {0};
	int r = routing_graph_new(fabric, config->tables, config->io_nodes, true, &g);

	if (r < 0)
		return r;
	result = calloc(1, sizeof(*result));
	if (!result)
		return -ENOMEM;
	/* The reference counter is all that is written to. */
	result->fabric = fabric_ref((struct fabric *)(uintptr_t)fabric);
	result->tables = config->tables;
	result->switches = g->switches;
	result->source_ports = g->source_count;
	result->channels = TAKE_PTR(g->channels);
	result->channel_count = g->channel_count;
	count_differences(g, result);
	r = routing_find_shape(g, result);
	if (r == 0)
		r = routing_pass(g, config, result, &traffic);
	if (r == 0)
		r = routing_weigh(g, result);
	if (r == 0)
		r = routing_find_credit_loops(g, config, &traffic, result);
	if (r == 0)
		r = routing_find_patterns(g, config, result);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(result);
	return 0;
}

double routing_max_over_bound(const struct routing_result *result)
{
	return result->bound ? (double)result->max_load / (double)result->bound : 1;
}

uint32_t routing_channel_by_port(const struct routing_result *result, uint32_t port)
{
	uint32_t low = 0, high = result->channel_count;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (result->channels[middle].port < port)
			low = middle + 1;
		else
			high = middle;
	}
	return low < result->channel_count && result->channels[low].port == port ? low : IBSM_NONE;
}

const char *routing_direction_name(unsigned int direction)
{
	static const char *const names[] = {"up", "down", "lateral", "to-end"};

	return direction < ELEMENTSOF(names) ? names[direction] : "unknown";
}

const char *routing_group_kind_name(unsigned int kind)
{
	static const char *const names[] = {"level", "uplinks", "neighbours"};

	return kind < ELEMENTSOF(names) ? names[kind] : "unknown";
}

const char *routing_credit_state_name(unsigned int state)
{
	static const char *const names[] = {"free", "loops", "sl-unknown"};

	return state < ELEMENTSOF(names) ? names[state] : "unknown";
}
