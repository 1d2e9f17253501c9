// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Where the SMs stand in the fabric: how far from its rim, behind which link, beside which other
// SM.
#pragma once

/*
 * A place is a switch: the SM's own where it is embedded in one, else the one that its port is
 * cabled to. Its distance is that to the farthest switch, in hops between switches; the best place
 * is the switch from which that is smallest (the graph's radius). The radius is found by
 * breadth-first searches with bounds (after Takes and Kosters, Algorithms 2013): each search from v
 * narrows what any w can have, max(d(v,w), ecc(v) − d(v,w)) ≤ ecc(w), and switches that cannot be
 * better than the best known are never searched from. Fat trees need a handful of searches; where
 * every switch is like every other (a torus) it takes many, so the work is bounded: see
 * `best_is_exact`.
 *
 * Pure; belongs into a worker for a large fabric.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fabric.h"
#include "mastership.h"
#include "sm-table.h"

/* Links looked at, over all searches; about two seconds. */
#define SM_PLACEMENT_WORK_MAX UINT64_C(500000000)

#define SM_HOPS_UNKNOWN UINT32_MAX

struct sm_placement_config {
	/* Hops more than from the best place that are worth a finding. One is none: hosts hang on
	 * leaves, and the middle of a tree is one step up. */
	uint32_t extra_hops;
	/* Nodes that an SM embedded in a switch is made for. NVIDIA's MLNX-OS user manuals, "Subnet
	 * Manager": up to 2048 nodes on x86-based systems (648 in older ones). */
	uint32_t embedded_nodes_max;
};

#define SM_PLACEMENT_CONFIG_DEFAULT                                                                \
	{                                                                                          \
		.extra_hops = 2, .embedded_nodes_max = 2048                                        \
	}

enum sm_placement_reason {
	SM_PLACED_FAR = 1 << 0,
	SM_PLACED_SLOW_LINK = 1 << 1,	  /* slower than most end ports' links */
	SM_PLACED_DEGRADED_LINK = 1 << 2, /* slower than both its ends could be */
	SM_PLACED_SAME_SWITCH = 1 << 3,	  /* a standby, and all of them, on the master's switch */
	SM_PLACED_EMBEDDED = 1 << 4,	  /* in a switch, and the fabric is too large for that */
	SM_PLACED_FLAPPING_LINK = 1 << 5, /* not found here: detect-sm.c adds it */
};

/* "far", "slow-link", "degraded-link", "same-switch", "embedded", "flapping-link"; NULL for others.
 */
const char *sm_placement_reason_name(enum sm_placement_reason reason);

struct sm_place {
	uint64_t port_guid;
	uint64_t switch_guid; /* 0: its port is cabled to no switch */
	char switch_name[SM_NAME_BYTES];
	uint8_t switch_port; /* that it is cabled to; 0: embedded */
	bool embedded;
	uint8_t state;	      /* enum ibsm_sm_state, as the snapshot has it */
	uint32_t hops;	      /* to the farthest switch; SM_HOPS_UNKNOWN */
	double mean_hops;     /* over all other switches */
	uint32_t rate_mbps;   /* of its link; 0 not known, or embedded */
	uint32_t best_mbps;   /* that both ends have enabled and support; 0 not known */
	unsigned int reasons; /* enum sm_placement_reason */
};

struct sm_placement {
	struct sm_place places[SM_TABLE_MAX];
	size_t count;
	uint32_t best_hops; /* SM_HOPS_UNKNOWN without a switch */
	bool best_is_exact; /* false: the work was bounded, there may be a better place */
	uint64_t best_switch_guid;
	char best_switch_name[SM_NAME_BYTES];
	uint32_t usual_mbps; /* median over end ports that are linked; 0: none is */
	uint32_t switches;
	uint32_t nodes;
};

/* Of all SMs that the snapshot's opensm knows and whose port it has. Returns 0; -ENOMEM. */
int sm_placement_find(const struct fabric *fabric, const struct sm_placement_config *config,
		      struct sm_placement *ret);
