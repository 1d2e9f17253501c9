// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Routing analysis: what the forwarding tables do with all traffic, in one pass over them.
#pragma once

/*
 * Sources are the end ports (of CAs and routers) whose link to a switch carries data; destinations
 * are the LIDs, all of an LMC range, of the end ports that are linked to a switch. A pair is an
 * ordered (source port, destination LID), own LIDs left out: with LMC each of the 2^lmc paths
 * between two ports is a pair. Nodes that are not present are not there.
 *
 * A channel is one direction of a cable, out of a switch: to another switch, or to an end port. A
 * pair loads each channel that its packets cross, delivered or not, once; also where they go round
 * in a loop.
 *
 * The result is immutable, refers to the fabric's rows by index, and holds a reference of it. What
 * has a limit (ROUTING_*_MAX) counts what it left out.
 *
 * Definitions: load is the edge forwarding index (Heydemann et al. 1989); the bound by cuts and the
 * congestion risk as in Xu & Xu, arXiv 1204.2604; effective bisection bandwidth as in Hoefler et
 * al., CLUSTER 2008; shifts as in Zahavi's D-Mod-K; deadlock by dependencies between channels as in
 * Dally & Seitz 1987.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fabric.h"
#include "route.h"

#define ROUTING_HOPS_MAX 64	/* of the histogram; its last entry has all longer ones */
#define ROUTING_FAULTS_MAX 4096 /* causes listed */
#define ROUTING_THREADS_MAX 16
#define ROUTING_LEVELS_MAX 16
#define ROUTING_CREDIT_LOOPS_MAX 1024 /* listed */
#define ROUTING_TURNS_MAX 64	      /* up-down violations listed */
#define ROUTING_VL_ANY UINT8_MAX      /* each lane that is used has these dependencies */

enum routing_tables {
	ROUTING_ACKNOWLEDGED, /* what switches have, as far as opensm knows */
	ROUTING_COMPUTED,     /* what opensm computed, where that differs */
};

/* The service level of a path; at most 15. */
typedef uint8_t (*routing_sl_fn)(void *userdata, uint16_t slid, uint16_t dlid);

/* Zeroed: one thread, acknowledged tables, no more than the one pass. */
struct routing_config {
	unsigned int threads; /* 0 is 1; at most ROUTING_THREADS_MAX */
	enum routing_tables tables;
	const uint8_t *io_nodes; /* by node, not 0: an I/O node. NULL: none. Not kept */
	/* Service levels by path, for engines whose freedom from deadlock rests on them. NULL:
	 * those engines' are not known, others have one. Called on the calling thread only. */
	routing_sl_fn path_sl;
	void *path_sl_userdata;
	const uint8_t *sl_to_vl; /* 16 lanes; NULL: as opensm's options say */
	/* Effective bisection bandwidth: trials until the standard error is at most ebb_stderr (0:
	 * all of them); none at 0. */
	uint32_t ebb_trials_max;
	double ebb_stderr;
	uint64_t seed;
	uint32_t shifts_max; /* shifts looked at, spread evenly if there are more; in a tree only */
	const atomic_bool *stop; /* once true: -ECANCELED soon. May be NULL */
};

/* Where a channel leads in a tree; without a tree all between switches are lateral. */
enum routing_direction {
	ROUTING_UP,
	ROUTING_DOWN,
	ROUTING_LATERAL,
	ROUTING_TO_END, /* to a CA or router */
	ROUTING_DIRECTIONS,
};

struct routing_channel {
	uint32_t port;	 /* the switch's port that sends */
	uint32_t remote; /* the port that receives */
	uint64_t pairs;
	uint64_t io_pairs;     /* of these: to an I/O node */
	uint32_t lids;	       /* destination LIDs of these pairs */
	uint32_t destinations; /* their ports */
	/* End ports of the switches whose traffic crosses it. To an end port: those that reach the
	 * one of its LIDs that most of them reach. */
	uint32_t sources;
	uint8_t direction; /* enum routing_direction */
	uint8_t rank;	   /* of the end that is nearer to the leaves; lateral without a tree: 0 */
	bool usable;	   /* false: the port does not send, so nothing crosses it */
};

/* No permutation of traffic puts more flows on the channel. */
static inline uint32_t routing_risk(const struct routing_channel *channel)
{
	return channel->sources < channel->destinations ? channel->sources : channel->destinations;
}

/* One cause of pairs that do not arrive: the entries of one switch's table that end the same way,
 * or the switches of one loop. */
struct routing_fault {
	enum route_end end; /* never ROUTE_DELIVERED */
	uint32_t node;	    /* the switch with the entry; of a loop: the one with the lowest GUID */
	int16_t port;	  /* the out-port in the entry, or ROUTE_NO_PORT; of a loop: its entry's */
	bool to_switches; /* the LIDs are those of switches: `pairs` are not in the totals of pairs
			   */
	uint16_t lid_first; /* the LIDs concerned: lowest, */
	uint16_t lid_last;  /* highest, */
	uint32_t lids;	    /* and how many */
	uint64_t pairs;	    /* cut by it */
	uint16_t slid;	    /* one of them; the lowest dlid, then slid */
	uint16_t dlid;
	uint32_t loop_first;  /* into routing_result.loop_switches; of a loop only */
	uint32_t loop_length; /* switches on the loop */
};

/* What became of all pairs to one kind of destination. */
struct routing_validity {
	uint32_t lids; /* destinations */
	uint64_t pairs;
	uint64_t delivered;
	uint64_t unreachable; /* end in a hole, a dead port or at the wrong node */
	uint64_t looping;
	uint64_t detours;     /* delivered over more switches than needed */
	uint16_t detour_slid; /* of the detour with most superfluous hops; then lowest dlid, slid */
	uint16_t detour_dlid;
	uint32_t detour_extra;		 /* superfluous hops there; 0: no detour */
	uint64_t hops[ROUTING_HOPS_MAX]; /* delivered pairs by cables on the way, both ends'
					    included */
};

enum routing_group_kind {
	ROUTING_GROUP_LEVEL,	  /* all channels of one rank and direction */
	ROUTING_GROUP_UPLINKS,	  /* a switch's channels upwards: `node` */
	ROUTING_GROUP_NEIGHBOURS, /* the channels from `node` to `peer`, two or more */
};

/* Usable channels between switches, over which traffic could be spread evenly. */
struct routing_group {
	enum routing_group_kind kind;
	uint32_t node;	   /* IBSM_NONE for a level */
	uint32_t peer;	   /* IBSM_NONE but for neighbours */
	uint8_t direction; /* enum routing_direction */
	uint8_t rank;	   /* as a channel's */
	uint32_t channels;
	uint32_t idle;	/* without any pair */
	uint64_t pairs; /* on all of them */
	uint64_t max;
	uint64_t min;
	uint64_t bound;	  /* no way to spread these pairs has a smaller max */
	uint32_t hottest; /* channel with max, the first of several */
	double deviation; /* standard deviation of the load, over its mean; 0 without load */
};

/* max / bound: 1 is perfect. */
static inline double routing_imbalance(const struct routing_group *group)
{
	return group->bound ? (double)group->max / (double)group->bound : 1;
}

struct routing_shape {
	bool tree;	      /* up and down mean something */
	const char *not_tree; /* why not, a static text; NULL for a tree */
	uint32_t leaves;      /* switches of rank 0 */
	uint32_t ranks;	      /* of switches that leaves reach: 3 in a three-level tree */
	uint32_t lateral;     /* channels between two switches of one rank */
	uint32_t uneven; /* switches whose ways up to the topmost rank and down do not add up */
};

/* A bound on the largest load: what leaves a set of switches must cross its channels outwards. */
struct routing_cut {
	uint64_t bound; /* of all cuts looked at: leaves, and what hangs together below each rank */
	uint32_t node;	/* a switch inside the worst; IBSM_NONE: none */
	uint8_t rank;	/* its subtree's height: 0 a leaf alone */
	uint32_t channels; /* out of it, or into it */
};

enum routing_credit_state {
	ROUTING_CREDIT_FREE,	   /* no dependency leads back: cannot deadlock */
	ROUTING_CREDIT_LOOPS,	   /* can */
	ROUTING_CREDIT_SL_UNKNOWN, /* could, were all traffic in one lane; it is not known to be */
};

/* Channels each of which waits, perhaps over others, for each: a strongly connected component. */
struct routing_credit_loop {
	uint8_t vl;	       /* or ROUTING_VL_ANY */
	uint32_t channels;     /* in it */
	uint32_t dependencies; /* between these */
	uint32_t cycle_first;  /* into routing_credit.cycles: a shortest way around, in the order */
	uint32_t cycle_length; /* in which packets go */
	bool shortest;	       /* false: the search was given up, there may be a shorter one */
};

/* Traffic that came downwards and goes up again. */
struct routing_turn {
	uint32_t in; /* channels */
	uint32_t out;
};

struct routing_credit {
	enum routing_credit_state state;
	uint64_t dependencies;		   /* between channels of switches, of all traffic */
	uint64_t end_dependencies;	   /* of these from, and to, end ports */
	struct routing_credit_loop *loops; /* by VL; largest first */
	uint32_t loop_count;
	uint32_t loops_left_out;
	uint32_t *cycles;	    /* channels */
	struct routing_turn *turns; /* in a tree: by out channel */
	uint32_t turn_count;
	uint32_t turns_left_out;
};

/* Random halves of all end ports, each of the one sending to one of the other: what share of its
 * bandwidth a flow gets at the busiest channel on its way, on average. What does not arrive gets
 * none. */
struct routing_ebb {
	double mean;
	double stderr_of_mean;
	uint32_t trials; /* 0: not asked for, or fewer than two end ports */
	uint32_t flows;	 /* in a trial */
};

/* Each end port sends to the one `shift` places on, all at once. The order is the one in which the
 * routing itself spreads destinations over a far leaf's uplinks. */
struct routing_shift {
	uint32_t contention; /* most flows on a channel in any of the shifts; 1 is free of
				contention */
	uint32_t worst;	     /* the first shift with it */
	uint32_t channel;    /* where */
	uint32_t shifts;     /* looked at; 0: not asked for, or no tree */
	uint32_t all;	     /* that there are */
};

struct routing_result {
	struct fabric *fabric;
	enum routing_tables tables;
	uint32_t switches;
	uint32_t source_ports;
	struct routing_validity ends;	     /* to CAs and routers */
	struct routing_validity to_switches; /* to switches' own LIDs; no detours, no loads */

	uint32_t lft_differs_switches; /* whose acknowledged table is not the computed one */
	uint64_t lft_differs_entries;

	struct routing_fault *faults; /* most pairs first */
	uint32_t fault_count;
	uint32_t faults_left_out;
	uint32_t *loop_switches; /* nodes, each loop in the order of its hops */
	uint32_t loops;		 /* forwarding loops among the causes */

	struct routing_shape shape;
	uint8_t *ranks; /* by node: 0 leaf; UINT8_MAX: no switch, or not reached from a leaf */

	struct routing_channel *channels; /* by switch (node), then port */
	uint32_t channel_count;
	uint32_t links; /* usable ones between switches: what follows is about these */
	uint32_t idle;
	uint64_t load; /* sum of their pairs */
	uint64_t max_load;
	uint32_t hottest; /* channel; IBSM_NONE: there is no load */
	double mean_load;
	struct routing_cut cut;
	/* The same for traffic to I/O nodes alone, where there are any. */
	uint64_t io_load;
	uint64_t io_max_load;
	uint32_t io_hottest;
	struct routing_cut io_cut;
	uint64_t bound; /* max_load cannot be less on ways of this length: of mean and cut the
			   larger */
	struct routing_group *groups; /* levels, then uplinks by node, then neighbours by node */
	uint32_t group_count;

	struct routing_credit credit;
	struct routing_ebb ebb;
	struct routing_shift shift;
};

/**
 * routing_analyze - what the forwarding tables do with all traffic
 * @fabric: gets a reference of its own
 * @config: see there
 * @ret:    gets the result
 *
 * Pure and reentrant; starts config->threads - 1 threads that end before it returns. Time is linear
 * in switches x destination LIDs; the result does not depend on the threads.
 *
 * Returns 0; -ENOMEM; -ECANCELED; -E2BIG: more switches than LIDs; another error of
 * pthread_create().
 */
int routing_analyze(const struct fabric *fabric, const struct routing_config *config,
		    struct routing_result **ret);

/* Accepts NULL, returns NULL. */
struct routing_result *routing_result_free(struct routing_result *result);
DEFINE_CLEANUP(struct routing_result *, routing_result_free);

/* max_load / bound; 1 without load. */
double routing_max_over_bound(const struct routing_result *result);

/* The channel out of a switch's port, or IBSM_NONE. Logarithmic. */
uint32_t routing_channel_by_port(const struct routing_result *result, uint32_t port);

/* "free", "loops", "sl-unknown". Part of the API. */
const char *routing_credit_state_name(unsigned int state);

/* "up", "down", "lateral", "to-end"; "level", "uplinks", "neighbours". Part of the API. */
const char *routing_direction_name(unsigned int direction);
const char *routing_group_kind_name(unsigned int kind);
