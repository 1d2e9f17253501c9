// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Groups what does not arrive by its cause: an entry of one switch, or one loop.
#include "routing-worker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int grow(void **array, uint32_t used, uint32_t more, uint32_t *room, size_t size)
{
	uint32_t wanted = *room;
	void *grown;

	if (*room - used >= more)
		return 0;
	wanted += wanted / 2 + more + 64;
	grown = reallocarray(*array, wanted, size);
	if (!grown)
		return -ENOMEM;
	*array = grown;
	*room = wanted;
	return 0;
}

/* Takes another destination, or another thread's part, of the same cause in. */
static void join(struct routing_fault *into, const struct routing_fault *more)
{
	if (more->dlid < into->dlid || (more->dlid == into->dlid && more->slid < into->slid)) {
		into->dlid = more->dlid;
		into->slid = more->slid;
	}
	if (more->lid_first < into->lid_first)
		into->lid_first = more->lid_first;
	if (more->lid_last > into->lid_last)
		into->lid_last = more->lid_last;
	into->lids += more->lids;
	into->pairs += more->pairs;
}

int routing_fault_add(struct routing_worker *w, const struct routing_fault *fault, uint32_t sw,
		      uint32_t out)
{
	struct routing_fault_list *list = &w->faults;
	uint32_t *number;
	int r;

	if (!w->fault_by_entry)
		w->fault_by_entry = calloc((size_t)w->graph->switches * ROUTING_HOPS_ROW * 2,
					   sizeof(*w->fault_by_entry));
	if (!w->fault_by_entry)
		return -ENOMEM;
	number = &w->fault_by_entry[((size_t)sw * ROUTING_HOPS_ROW + out) * 2 + fault->to_switches];
	if (*number) {
		join(&list->faults[*number - 1], fault);
		return 0;
	}
	r = grow((void **)&list->faults, list->count, 1, &list->room, sizeof(*list->faults));
	if (r < 0)
		return r;
	list->faults[list->count++] = *fault;
	*number = list->count;
	return 0;
}

/* Whether two loops are the same: `a` and `b` begin at the lowest switch. */
static bool same_loop(const struct routing_fault *a, const uint32_t *nodes_a,
		      const struct routing_fault *b, const uint32_t *nodes_b)
{
	return a->end == ROUTE_LOOP && b->end == ROUTE_LOOP && a->loop_length == b->loop_length &&
	       a->to_switches == b->to_switches && a->port == b->port &&
	       memcmp(nodes_a + a->loop_first, nodes_b + b->loop_first,
		      a->loop_length * sizeof(*nodes_a)) == 0;
}

/* Loops are few where there are any; beyond ROUTING_FAULTS_MAX of them they are only counted. */
int routing_loop_add(struct routing_worker *w, const struct routing_fault *fault,
		     const uint32_t *switches, uint32_t count)
{
	const struct routing_graph *g = w->graph;
	struct routing_fault_list *list = &w->faults;
	struct routing_fault loop = *fault;
	uint32_t lowest = 0, *nodes;
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	uint32_t *slot;
	int r;

	r = grow((void **)&list->loop_switches, list->loop_used, count, &list->loop_room,
		 sizeof(*list->loop_switches));
	if (r < 0)
		return r;
	for (uint32_t i = 1; i < count; i++)
		if (switches[i] < switches[lowest])
			lowest = i;
	nodes = &list->loop_switches[list->loop_used];
	for (uint32_t i = 0; i < count; i++) {
		nodes[i] = g->nodes[switches[(lowest + i) % count]];
		hash = (hash ^ nodes[i]) * UINT64_C(0x100000001b3);
	}
	loop.loop_first = list->loop_used;
	loop.loop_length = count;
	loop.node = nodes[0];
	loop.port = (int16_t)(routing_hop(g, switches[lowest], loop.dlid) -
			      &g->hops[(size_t)switches[lowest] * ROUTING_HOPS_ROW]);
	hash ^= hash >> 29;
	if (!w->loop_slots)
		w->loop_slots = calloc(2 * ROUTING_FAULTS_MAX, sizeof(*w->loop_slots));
	if (!w->loop_slots)
		return -ENOMEM;
	/* Open addressing with room for twice as many. */
	for (size_t at = (size_t)hash;; at++) {
		slot = &w->loop_slots[at % (2 * ROUTING_FAULTS_MAX)];
		if (*slot == 0)
			break;
		if (same_loop(&list->faults[*slot - 1], list->loop_switches, &loop,
			      list->loop_switches)) {
			join(&list->faults[*slot - 1], &loop);
			return 0;
		}
	}
	if (list->loops == ROUTING_FAULTS_MAX) {
		list->loops_left_out++;
		return 0;
	}
	r = grow((void **)&list->faults, list->count, 1, &list->room, sizeof(*list->faults));
	if (r < 0)
		return r;
	list->faults[list->count++] = loop;
	*slot = list->count;
	list->loops++;
	list->loop_used += count;
	return 0;
}

static int compare_causes(const void *a, const void *b, void *userdata)
{
	const uint32_t *nodes = userdata;
	const struct routing_fault *x = a, *y = b;

	if ((x->end == ROUTE_LOOP) != (y->end == ROUTE_LOOP))
		return x->end == ROUTE_LOOP ? -1 : 1;
	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	if (x->port != y->port)
		return x->port < y->port ? -1 : 1;
	if (x->to_switches != y->to_switches)
		return x->to_switches ? 1 : -1;
	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	if (x->end != ROUTE_LOOP)
		return 0;
	if (x->loop_length != y->loop_length)
		return x->loop_length < y->loop_length ? -1 : 1;
	return memcmp(nodes + x->loop_first, nodes + y->loop_first,
		      x->loop_length * sizeof(*nodes));
}

static int compare_pairs(const void *a, const void *b, void *userdata)
{
	const struct routing_fault *x = a, *y = b;

	if (x->to_switches != y->to_switches)
		return x->to_switches ? 1 : -1;
	if (x->pairs != y->pairs)
		return x->pairs > y->pairs ? -1 : 1;
	return compare_causes(a, b, userdata);
}

/* Everybody's faults, one after the other; loops move to the shared list of switches. */
static int collect(struct routing_worker **workers, unsigned int count,
		   struct routing_result *result)
{
	size_t faults = 0, switches = 0;

	for (unsigned int i = 0; i < count; i++) {
		faults += workers[i]->faults.count;
		switches += workers[i]->faults.loop_used;
	}
	result->faults = calloc(faults + 1, sizeof(*result->faults));
	result->loop_switches = calloc(switches + 1, sizeof(*result->loop_switches));
	if (!result->faults || !result->loop_switches)
		return -ENOMEM;
	switches = 0;
	for (unsigned int i = 0; i < count; i++) {
		const struct routing_fault_list *list = &workers[i]->faults;

		for (uint32_t k = 0; k < list->count; k++) {
			struct routing_fault *fault = &result->faults[result->fault_count++];

			*fault = list->faults[k];
			fault->loop_first += (uint32_t)switches;
		}
		if (list->loop_used)
			memcpy(result->loop_switches + switches, list->loop_switches,
			       list->loop_used * sizeof(*list->loop_switches));
		switches += list->loop_used;
		result->faults_left_out += list->loops_left_out;
	}
	return 0;
}

int routing_faults_merge(struct routing_worker **workers, unsigned int count,
			 struct routing_result *result)
{
	uint32_t merged = 0;
	int r = collect(workers, count, result);

	if (r < 0)
		return r;
	qsort_r(result->faults, result->fault_count, sizeof(*result->faults), compare_causes,
		result->loop_switches);
	for (uint32_t i = 0; i < result->fault_count; i++)
		if (merged && compare_causes(&result->faults[merged - 1], &result->faults[i],
					     result->loop_switches) == 0)
			join(&result->faults[merged - 1], &result->faults[i]);
		else
			result->faults[merged++] = result->faults[i];
	result->fault_count = merged;
	for (uint32_t i = 0; i < merged; i++)
		result->loops += result->faults[i].end == ROUTE_LOOP;
	qsort_r(result->faults, result->fault_count, sizeof(*result->faults), compare_pairs,
		result->loop_switches);
	if (result->fault_count > ROUTING_FAULTS_MAX) {
		result->faults_left_out += result->fault_count - ROUTING_FAULTS_MAX;
		result->fault_count = ROUTING_FAULTS_MAX;
	}
	return 0;
}
