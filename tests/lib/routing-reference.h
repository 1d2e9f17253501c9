// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The routing analysis done slowly and obviously: each pair is walked on its own.
#pragma once

#include "fabric/routing.h"

struct reference_loads {
	uint64_t pairs;
	uint64_t io_pairs;
	bool *lids;	/* by LID */
	bool *ports;	/* by PORTS row: destinations */
	bool *switches; /* by node: sources */
	bool *in;	/* by PORTS row of this switch: traffic came in there */
	bool from_own;
	uint32_t *by_lid; /* pairs */
};

struct reference_cause {
	struct routing_fault fault; /* loop_first: unused */
	uint32_t loop[256];
	bool *lids; /* by LID */
};

struct reference {
	const struct fabric *fabric;
	struct reference_loads *loads; /* by PORTS row */
	struct routing_validity ends;
	struct routing_validity to_switches;
	uint32_t source_ports;
	struct reference_cause **causes;
	size_t cause_count;
};

/* `wanted`: pairs to walk; NULL: all. */
struct reference *reference_new(const struct fabric *fabric, enum routing_tables tables,
				const uint8_t *io_nodes,
				bool (*wanted)(uint16_t slid, uint16_t dlid));
struct reference *reference_free(struct reference *reference);
DEFINE_CLEANUP(struct reference *, reference_free);

/* Channels (out-ports' PORTS rows) between switches on which the one may have to wait for the
 * other, by [a * fabric_ports + b]: over others, too. For free(). */
bool *reference_closure(const struct reference *reference);
/* Directly. */
bool reference_depends(const struct reference *reference, uint32_t from, uint32_t to);

#define REFERENCE_SWITCHES_MAX 256 /* on a way */

/* One pair's way. */
struct reference_way {
	uint32_t nodes[REFERENCE_SWITCHES_MAX];
	uint32_t in[REFERENCE_SWITCHES_MAX];  /* PORTS rows; the first one's too */
	uint32_t out[REFERENCE_SWITCHES_MAX]; /* IBSM_NONE: none */
	int entry[REFERENCE_SWITCHES_MAX];    /* of the table */
	size_t count;
	size_t loop_from; /* of a loop: where in the way it begins */
	enum route_end end;
};

/* From a source's PORTS row. */
void reference_walk(const struct fabric *fabric, enum routing_tables tables, uint32_t source,
		    uint32_t dlid, struct reference_way *way);

/* Whether a port sends: one of a CA or router, linked to a switch, with a LID. */
bool reference_is_source(const struct fabric *fabric, uint32_t port);
