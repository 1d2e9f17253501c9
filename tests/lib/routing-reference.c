// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Walks each pair hop by hop and writes down all that it meets.
#include "routing-reference.h"

#include <stdlib.h>
#include <string.h>

static void *must(void *p)
{
	if (!p)
		abort();
	return p;
}

static bool is_switch(const struct fabric *f, uint32_t node)
{
	return fabric_node(f, node)->type == IBSM_NODE_SWITCH;
}

static bool has_lid(const struct fabric *f, uint32_t port, uint32_t lid)
{
	const struct ibsm_snap_port *row = fabric_port(f, port);

	return row->lid && lid >= row->lid && lid < row->lid + (1u << (row->lmc & 7));
}

static bool sends(const struct fabric *f, uint32_t port)
{
	return fabric_port(f, port)->state == 4 || fabric_port(f, port)->state == 0;
}

static uint32_t peer(const struct fabric *f, uint32_t port)
{
	uint32_t remote = fabric_link_port(f, port);

	return remote != IBSM_NONE && fabric_node_present(f, fabric_port(f, port)->node) &&
			       fabric_node_present(f, fabric_port(f, remote)->node)
		       ? remote
		       : IBSM_NONE;
}

bool reference_is_source(const struct fabric *f, uint32_t port)
{
	const struct ibsm_snap_port *row = fabric_port(f, port);
	uint32_t remote = peer(f, port);

	return !is_switch(f, row->node) && row->lid && remote != IBSM_NONE &&
	       is_switch(f, fabric_port(f, remote)->node) && sends(f, port);
}

void reference_walk(const struct fabric *f, enum routing_tables tables, uint32_t source,
		    uint32_t dlid, struct reference_way *way)
{
	uint32_t in = peer(f, source);

	memset(way, 0, sizeof(*way));
	for (;;) {
		uint32_t node = fabric_port(f, in)->node, out, next;
		const struct ibsm_snap_switch *sw = fabric_switch(f, node);
		const uint8_t *lft = sw ? snapshot_lft(f->snapshot, sw) : NULL;

		if (sw && tables == ROUTING_COMPUTED && snapshot_new_lft(f->snapshot, sw))
			lft = snapshot_new_lft(f->snapshot, sw);
		for (size_t i = 0; i < way->count; i++)
			if (way->nodes[i] == node) {
				way->loop_from = i;
				way->end = ROUTE_LOOP;
				return;
			}
		if (way->count == REFERENCE_SWITCHES_MAX)
			abort();
		way->nodes[way->count] = node;
		way->in[way->count] = in;
		way->out[way->count] = IBSM_NONE;
		way->entry[way->count] = lft && dlid < sw->lft_lids && dlid <= sw->lft_top
						 ? lft[dlid]
						 : IBSM_LFT_NO_PATH;
		way->count++;
		if (way->entry[way->count - 1] == IBSM_LFT_NO_PATH) {
			way->end = lft ? ROUTE_NO_PATH : ROUTE_NO_LFT;
			return;
		}
		out = fabric_node_port(f, node, (uint8_t)way->entry[way->count - 1]);
		if (way->entry[way->count - 1] == 0) {
			way->end = out != IBSM_NONE && has_lid(f, out, dlid) ? ROUTE_DELIVERED
									     : ROUTE_WRONG_NODE;
			return;
		}
		next = out == IBSM_NONE ? IBSM_NONE : peer(f, out);
		if (next == IBSM_NONE || !sends(f, out)) {
			way->end = ROUTE_PORT_DOWN;
			return;
		}
		way->out[way->count - 1] = out;
		if (!is_switch(f, fabric_port(f, next)->node)) {
			way->end = has_lid(f, next, dlid) ? ROUTE_DELIVERED : ROUTE_WRONG_NODE;
			return;
		}
		in = next;
	}
}

/* Fewest switches from one to another, by relaxing all cables until nothing changes. */
static uint32_t *distances_to(const struct fabric *f, uint32_t node)
{
	uint32_t *distance = must(malloc((fabric_nodes(f) + 1) * sizeof(*distance)));
	bool more = true;

	memset(distance, 0xff, fabric_nodes(f) * sizeof(*distance));
	distance[node] = 0;
	while (more) {
		more = false;
		for (uint32_t p = 0; p < fabric_ports(f); p++) {
			uint32_t remote = peer(f, p), from, to;

			if (remote == IBSM_NONE || !sends(f, p) || fabric_port(f, p)->port == 0)
				continue;
			from = fabric_port(f, p)->node;
			to = fabric_port(f, remote)->node;
			if (!is_switch(f, from) || !is_switch(f, to) || distance[to] == IBSM_NONE ||
			    distance[from] <= distance[to] + 1)
				continue;
			distance[from] = distance[to] + 1;
			more = true;
		}
	}
	return distance;
}

static void load(struct reference *r, uint32_t dlid, uint32_t owner, bool io,
		 const struct reference_way *way)
{
	const struct fabric *f = r->fabric;

	for (size_t i = 0; i < way->count; i++) {
		struct reference_loads *loads;

		if (way->out[i] == IBSM_NONE)
			continue;
		loads = &r->loads[way->out[i]];
		if (!loads->lids) {
			loads->lids = must(calloc(f->lids, sizeof(bool)));
			loads->by_lid = must(calloc(f->lids, sizeof(uint32_t)));
			loads->ports = must(calloc(fabric_ports(f), sizeof(bool)));
			loads->switches = must(calloc(fabric_nodes(f), sizeof(bool)));
			loads->in = must(calloc(fabric_ports(f), sizeof(bool)));
		}
		loads->pairs++;
		loads->io_pairs += io;
		loads->lids[dlid] = true;
		loads->by_lid[dlid]++;
		loads->ports[owner] = true;
		loads->switches[way->nodes[0]] = true;
		if (i == 0)
			loads->from_own = true;
		else
			loads->in[way->in[i]] = true;
		/* Where a loop closes it is entered once more. */
		if (way->end == ROUTE_LOOP && i == way->loop_from)
			loads->in[peer(f, way->out[way->count - 1])] = true;
	}
}

/* What was cut, under its cause. */
static void blame(struct reference *r, uint32_t source, uint32_t dlid, bool to_switches,
		  const struct reference_way *way)
{
	const struct fabric *f = r->fabric;
	struct reference_cause cause = {0}, *found = NULL;
	uint16_t slid = fabric_port(f, source)->lid;
	size_t last = way->count - 1;

	cause.fault = (struct routing_fault){.end = way->end,
					     .node = way->nodes[last],
					     .port = (int16_t)way->entry[last],
					     .to_switches = to_switches};
	if (way->entry[last] == IBSM_LFT_NO_PATH)
		cause.fault.port = ROUTE_NO_PORT;
	if (way->end == ROUTE_LOOP) {
		size_t length = way->count - way->loop_from, lowest = 0;

		for (size_t i = 0; i < length; i++)
			if (way->nodes[way->loop_from + i] < way->nodes[way->loop_from + lowest])
				lowest = i;
		for (size_t i = 0; i < length; i++)
			cause.loop[i] = way->nodes[way->loop_from + (lowest + i) % length];
		cause.fault.node = cause.loop[0];
		cause.fault.port = (int16_t)way->entry[way->loop_from + lowest];
		cause.fault.loop_length = (uint32_t)length;
	}
	for (size_t i = 0; i < r->cause_count && !found; i++) {
		struct reference_cause *c = r->causes[i];

		if (c->fault.end == cause.fault.end && c->fault.node == cause.fault.node &&
		    c->fault.port == cause.fault.port && c->fault.to_switches == to_switches &&
		    c->fault.loop_length == cause.fault.loop_length &&
		    memcmp(c->loop, cause.loop, sizeof(cause.loop)) == 0)
			found = c;
	}
	if (!found) {
		found = must(malloc(sizeof(*found)));
		*found = cause;
		found->lids = must(calloc(f->lids, sizeof(bool)));
		r->causes = must(reallocarray(r->causes, r->cause_count + 1,
					      sizeof(struct reference_cause *)));
		r->causes[r->cause_count++] = found;
	}
	if (!found->fault.pairs || dlid < found->fault.dlid ||
	    (dlid == found->fault.dlid && slid < found->fault.slid)) {
		found->fault.dlid = (uint16_t)dlid;
		found->fault.slid = slid;
	}
	found->fault.pairs++;
	found->lids[dlid] = true;
}

static void count_detour(struct reference *r, uint32_t source, uint32_t dlid, uint32_t extra)
{
	struct routing_validity *v = &r->ends;
	uint16_t slid = fabric_port(r->fabric, source)->lid;

	v->detours++;
	if (extra < v->detour_extra ||
	    (extra == v->detour_extra &&
	     (dlid > v->detour_dlid || (dlid == v->detour_dlid && slid >= v->detour_slid))))
		return;
	v->detour_extra = extra;
	v->detour_dlid = (uint16_t)dlid;
	v->detour_slid = slid;
}

static void walk_to(struct reference *r, enum routing_tables tables, const uint8_t *io_nodes,
		    bool (*wanted)(uint16_t slid, uint16_t dlid), uint32_t dlid, uint32_t owner)
{
	const struct fabric *f = r->fabric;
	bool to_switch = is_switch(f, fabric_port(f, owner)->node);
	struct routing_validity *v = to_switch ? &r->to_switches : &r->ends;
	uint32_t *distance = distances_to(f, to_switch ? fabric_port(f, owner)->node
						       : fabric_port(f, peer(f, owner))->node);
	bool io = io_nodes && io_nodes[fabric_port(f, owner)->node];

	v->lids++;
	for (uint32_t source = 0; source < fabric_ports(f); source++) {
		static struct reference_way way;
		uint32_t hops;

		if (!reference_is_source(f, source) || has_lid(f, source, dlid) ||
		    (wanted && !wanted(fabric_port(f, source)->lid, (uint16_t)dlid)))
			continue;
		reference_walk(f, tables, source, dlid, &way);
		v->pairs++;
		if (!to_switch)
			load(r, dlid, owner, io, &way);
		if (way.end == ROUTE_LOOP)
			v->looping++;
		else if (way.end != ROUTE_DELIVERED)
			v->unreachable++;
		if (way.end != ROUTE_DELIVERED) {
			blame(r, source, dlid, to_switch, &way);
			continue;
		}
		v->delivered++;
		hops = (uint32_t)way.count + (to_switch ? 0 : 1);
		v->hops[hops < ROUTING_HOPS_MAX ? hops : ROUTING_HOPS_MAX - 1]++;
		if (!to_switch && distance[way.nodes[0]] != IBSM_NONE &&
		    way.count - 1 > distance[way.nodes[0]])
			count_detour(r, source, dlid,
				     (uint32_t)way.count - 1 - distance[way.nodes[0]]);
	}
	free(distance);
}

struct reference *reference_new(const struct fabric *f, enum routing_tables tables,
				const uint8_t *io_nodes,
				bool (*wanted)(uint16_t slid, uint16_t dlid))
{
	struct reference *r = must(calloc(1, sizeof(*r)));

	r->fabric = f;
	r->loads = must(calloc(fabric_ports(f) + 1, sizeof(*r->loads)));
	for (uint32_t p = 0; p < fabric_ports(f); p++)
		r->source_ports += reference_is_source(f, p);
	for (uint32_t lid = 1; lid < f->lids; lid++) {
		uint32_t owner = fabric_port_by_lid(f, (uint16_t)lid);
		uint32_t remote;

		if (owner == IBSM_NONE || !fabric_node_present(f, fabric_port(f, owner)->node))
			continue;
		remote = peer(f, owner);
		if (is_switch(f, fabric_port(f, owner)->node) ||
		    (remote != IBSM_NONE && is_switch(f, fabric_port(f, remote)->node)))
			walk_to(r, tables, io_nodes, wanted, lid, owner);
	}
	return r;
}

struct reference *reference_free(struct reference *r)
{
	if (!r)
		return NULL;
	for (uint32_t p = 0; p < fabric_ports(r->fabric); p++) {
		free(r->loads[p].lids);
		free(r->loads[p].by_lid);
		free(r->loads[p].ports);
		free(r->loads[p].switches);
		free(r->loads[p].in);
	}
	free(r->loads);
	for (size_t i = 0; i < r->cause_count; i++) {
		free(r->causes[i]->lids);
		free(r->causes[i]);
	}
	free(r->causes);
	free(r);
	return NULL;
}

bool *reference_closure(const struct reference *ref)
{
	const struct fabric *f = ref->fabric;
	uint32_t ports = fabric_ports(f);
	bool *closure = must(calloc((size_t)ports * ports + 1, sizeof(*closure)));

	for (uint32_t p = 0; p < ports; p++)
		for (uint32_t in = 0; ref->loads[p].in && in < ports; in++)
			/* The channel in is out of the port at the cable's other end. */
			if (ref->loads[p].in[in])
				closure[fabric_link_port(f, in) * ports + p] = true;
	for (uint32_t k = 0; k < ports; k++)
		for (uint32_t a = 0; a < ports; a++)
			for (uint32_t b = 0; closure[a * ports + k] && b < ports; b++)
				closure[a * ports + b] |= closure[k * ports + b];
	return closure;
}

bool reference_depends(const struct reference *ref, uint32_t from, uint32_t to)
{
	return ref->loads[to].in && ref->loads[to].in[fabric_link_port(ref->fabric, from)];
}
