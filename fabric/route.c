// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Follows one destination LID through the switches' LFTs.
#include "route.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

#include "names.h"

/* A packet at a node: where it came in and, once decide() has run, where it goes. */
struct at {
	uint32_t node;
	uint32_t in;	  /* port index, IBSM_NONE at the source */
	int16_t out_port; /* number, also of a port that does not exist; ROUTE_NO_PORT */
	uint32_t next;	  /* port index at the cable's other end; IBSM_NONE: it ends here */
	enum route_end end;
};

static bool has_lid(const struct ibsm_snap_port *port, uint16_t lid)
{
	return port->lid && lid >= port->lid && lid < port->lid + (1u << (port->lmc & 7));
}

/* Sends it out through port row `port`, IBSM_NONE: there is none. */
static void send(const struct fabric *f, struct at *at, uint32_t port)
{
	at->end = ROUTE_PORT_DOWN;
	/* State 0 is "not known", as in saved files that have none. */
	if (port == IBSM_NONE ||
	    (fabric_port(f, port)->state != 4 && fabric_port(f, port)->state != 0))
		return;
	at->next = fabric_link_port(f, port);
}

static void decide_switch(const struct fabric *f, struct at *at, uint16_t dlid)
{
	const struct ibsm_snap_switch *sw = fabric_switch(f, at->node);
	const uint8_t *lft = sw ? snapshot_lft(f->snapshot, sw) : NULL;
	uint32_t port;
	uint8_t out;

	if (!lft) {
		at->end = ROUTE_NO_LFT;
		return;
	}
	out = dlid < sw->lft_lids && dlid <= sw->lft_top ? lft[dlid] : IBSM_LFT_NO_PATH;
	if (out == IBSM_LFT_NO_PATH) {
		at->end = ROUTE_NO_PATH;
		return;
	}
	port = fabric_node_port(f, at->node, out);
	if (out == 0) {
		at->end = port != IBSM_NONE && has_lid(fabric_port(f, port), dlid)
				  ? ROUTE_DELIVERED
				  : ROUTE_WRONG_NODE;
		return;
	}
	at->out_port = out;
	send(f, at, port);
}

/* Where the packet goes from a node that it has entered. */
static void decide(const struct fabric *f, struct at *at, uint16_t dlid)
{
	at->out_port = ROUTE_NO_PORT;
	at->next = IBSM_NONE;
	if (fabric_node(f, at->node)->type == IBSM_NODE_SWITCH)
		decide_switch(f, at, dlid);
	else
		at->end =
			has_lid(fabric_port(f, at->in), dlid) ? ROUTE_DELIVERED : ROUTE_WRONG_NODE;
}

/* The source: a CA sends through the port of slid, a switch by its LFT. */
static void begin(const struct fabric *f, struct at *at, uint32_t source, uint16_t dlid)
{
	const struct ibsm_snap_port *port = fabric_port(f, source);

	*at = (struct at){
		.node = port->node, .in = IBSM_NONE, .out_port = ROUTE_NO_PORT, .next = IBSM_NONE};
	if (fabric_node(f, port->node)->type == IBSM_NODE_SWITCH) {
		decide_switch(f, at, dlid);
	} else if (has_lid(port, dlid)) {
		at->end = ROUTE_DELIVERED;
	} else {
		at->out_port = port->port;
		send(f, at, source);
	}
}

static bool step(const struct fabric *f, struct at *at, uint16_t dlid)
{
	if (at->next == IBSM_NONE)
		return false;
	*at = (struct at){.node = fabric_port(f, at->next)->node, .in = at->next};
	decide(f, at, dlid);
	return true;
}

static void record(const struct fabric *f, uint32_t source, const struct at *at,
		   struct route_hop *hop)
{
	const struct ibsm_snap_port *in = at->in == IBSM_NONE ? NULL : fabric_port(f, at->in);

	hop->node = at->node;
	hop->in_port = in ? (int16_t)in->port : ROUTE_NO_PORT;
	hop->out_port = at->out_port;
	hop->lid = fabric_port_lid(f, in ? at->in : source);
}

/*
 * The way never ends, so it is tail and loop: `inside` lies on the loop. Finds the length of both
 * without memory of the way: once around from `inside`, then two walkers, one a loop's length
 * ahead, meet where the loop begins.
 */
static void measure_loop(const struct fabric *f, uint32_t source, uint16_t dlid, struct at inside,
			 struct route_result *result)
{
	struct at ahead, behind;
	uint32_t length = 0, tail = 0;
	uint32_t start = inside.node;

	do {
		step(f, &inside, dlid);
		length++;
	} while (inside.node != start);
	begin(f, &ahead, source, dlid);
	begin(f, &behind, source, dlid);
	for (uint32_t i = 0; i < length; i++)
		step(f, &ahead, dlid);
	for (; ahead.node != behind.node; tail++) {
		step(f, &ahead, dlid);
		step(f, &behind, dlid);
	}
	result->end = ROUTE_LOOP;
	result->node = ahead.node;
	result->port = ROUTE_NO_PORT;
	result->loop_hops = length;
	result->hops = (size_t)tail + length + 1;
}

int fabric_route(const struct fabric *fabric, uint16_t slid, uint16_t dlid, struct route_hop *hops,
		 size_t max, struct route_result *ret)
{
	uint32_t source = fabric_port_by_lid(fabric, slid);
	struct route_result result = {.slid = slid, .dlid = dlid};
	struct at at;

	if (source == IBSM_NONE)
		return -ENODEV;
	begin(fabric, &at, source, dlid);
	do {
		if (result.hops < max)
			record(fabric, source, &at, &hops[result.hops]);
		result.hops++;
		/* More nodes than there are: one came twice, and where a packet goes from a switch
		 * does not depend on how it came. */
		if (result.hops > (size_t)fabric_nodes(fabric) + 1) {
			measure_loop(fabric, source, dlid, at, &result);
			if (result.hops <= max)
				hops[result.hops - 1].out_port = ROUTE_NO_PORT;
			*ret = result;
			return 0;
		}
	} while (step(fabric, &at, dlid));
	result.end = at.end;
	result.node = at.node;
	result.port = at.out_port;
	if (at.end == ROUTE_WRONG_NODE && at.in != IBSM_NONE)
		result.port = fabric_port(fabric, at.in)->port;
	*ret = result;
	return 0;
}

const char *route_end_name(enum route_end end)
{
	switch (end) {
	case ROUTE_DELIVERED:
		return "delivered";
	case ROUTE_NO_PATH:
		return "no-path";
	case ROUTE_PORT_DOWN:
		return "port-down";
	case ROUTE_LOOP:
		return "loop";
	case ROUTE_WRONG_NODE:
		return "wrong-node";
	case ROUTE_NO_LFT:
		return "no-lft";
	}
	return "unknown";
}

static void port_down_reason(const struct fabric *f, const struct route_result *r, char *buffer,
			     size_t size)
{
	const char *name = fabric_node_name(f, r->node);
	uint32_t port = fabric_node_port(f, r->node, (uint8_t)r->port);

	if (port == IBSM_NONE)
		snprintf(buffer, size, "%s sends LID %u to port %d, which it does not have", name,
			 r->dlid, r->port);
	else if (fabric_port(f, port)->state != 4 && fabric_port(f, port)->state != 0)
		snprintf(buffer, size, "%s sends LID %u to port %d, whose state is %s", name,
			 r->dlid, r->port, port_state_name(fabric_port(f, port)->state));
	else
		snprintf(buffer, size, "%s sends LID %u to port %d, which has no neighbour", name,
			 r->dlid, r->port);
}

const char *route_reason(const struct fabric *fabric, const struct route_result *result,
			 char *buffer, size_t size)
{
	const char *name = fabric_node_name(fabric, result->node);

	switch (result->end) {
	case ROUTE_DELIVERED:
		snprintf(buffer, size, "%s", "");
		break;
	case ROUTE_NO_PATH:
		snprintf(buffer, size, "%s has no path to LID %u", name, result->dlid);
		break;
	case ROUTE_PORT_DOWN:
		port_down_reason(fabric, result, buffer, size);
		break;
	case ROUTE_LOOP:
		snprintf(buffer, size, "loop of %u switch%s: back at %s", result->loop_hops,
			 result->loop_hops == 1 ? "" : "es", name);
		break;
	case ROUTE_WRONG_NODE:
		snprintf(buffer, size, "arrives at %s, which does not have LID %u", name,
			 result->dlid);
		break;
	case ROUTE_NO_LFT:
		snprintf(buffer, size, "opensm has no LFT of %s", name);
		break;
	}
	return buffer;
}
