// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Walks the LFTs that switches acknowledged, hop by hop, as ibtracert does on the wire.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "fabric.h"

#define ROUTE_NO_PORT (-1)

/* One node on the way. The first has no in_port; the last has no out_port where the packet was
 * delivered, or where it is the switch that a loop came back to. */
struct route_hop {
	uint32_t node;	  /* index in the fabric */
	int16_t in_port;  /* ROUTE_NO_PORT: the way begins here */
	int16_t out_port; /* ROUTE_NO_PORT: it ends here */
	uint16_t lid; /* of the port it was entered or first left by (a switch: port 0's); 0 none */
};

enum route_end {
	ROUTE_DELIVERED,
	ROUTE_NO_PATH,	  /* the LFT has 255, or ends before the LID */
	ROUTE_PORT_DOWN,  /* the out-port has no neighbour, is not active, or does not exist */
	ROUTE_LOOP,	  /* back at a switch that it went through: it would go round for ever */
	ROUTE_WRONG_NODE, /* arrives at an end port that does not have the LID */
	ROUTE_NO_LFT,	  /* opensm has no LFT for this switch */
};

struct route_result {
	enum route_end end;
	uint32_t node; /* where it ended; ROUTE_LOOP: the switch that it came back to */
	int16_t port;  /* the out-port that failed; ROUTE_WRONG_NODE: the in-port; or none */
	uint16_t slid;
	uint16_t dlid;
	uint32_t loop_hops; /* ROUTE_LOOP: switches on the loop */
	size_t hops; /* nodes on the way, also those that `max` left out; of a loop, once around */
};

/**
 * fabric_route - follow a packet from one LID to another
 * @slid: of the end port that sends: a CA's or router's port, or port 0 of a switch
 * @dlid: where to; need not belong to anyone: the LFTs decide where it ends
 * @hops: gets the first `max` nodes; may be NULL with max 0
 * @ret:  gets how it ended
 *
 * A CA sends through the port that has slid, also when dlid belongs to another port of the same CA;
 * a dlid of the very same port is delivered at once. A switch's own LID is delivered through its
 * LFT's port 0. A port in the state "init" or "armed" is down for data. No memory is allocated;
 * time is linear in the hops. Pure; any thread.
 *
 * Returns 0, also where the way does not arrive; -ENODEV: no end port has slid.
 */
int fabric_route(const struct fabric *fabric, uint16_t slid, uint16_t dlid, struct route_hop *hops,
		 size_t max, struct route_result *ret);

/* "delivered", "no-path", "port-down", "loop", "wrong-node", "no-lft". Part of the API. */
const char *route_end_name(enum route_end end);

/* Where and why it was not delivered, as a line: "spine02 has no path to LID 17"; "" where it was.
 * Returns `buffer`, cut to `size`. */
const char *route_reason(const struct fabric *fabric, const struct route_result *result,
			 char *buffer, size_t size);
