// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What the parts of the routing analysis share: switches, hops and destinations as dense arrays.
#pragma once

#include "routing.h"

/* Out-ports are bytes of an LFT: a switch's row of hops has all 256, so that none is checked. */
#define ROUTING_HOPS_ROW 256

enum routing_hop_kind {
	ROUTING_HOP_NONE, /* no such port, no neighbour, or one that is not present */
	ROUTING_HOP_DOWN, /* a neighbour, but the port does not carry data */
	ROUTING_HOP_SWITCH,
	ROUTING_HOP_END,
	ROUTING_HOP_SELF, /* 0 */
	ROUTING_HOP_HOLE, /* 255 */
};

/* Where an entry of an LFT leads. Eight bytes: the pass does little else than look them up. */
struct routing_hop {
	uint32_t next; /* switch; ROUTING_HOP_END: PORTS row */
	uint8_t kind;
	uint8_t in;	 /* ROUTING_HOP_SWITCH: which of the next one's `ins` this channel is */
	uint8_t channel; /* of any port with a neighbour: which of the switch's */
};

/* A destination LID at an end port, or a switch's own. */
struct routing_dest {
	uint32_t port; /* PORTS row that has the LID */
	uint32_t sw;   /* switch that it is linked to, or that it is */
	uint16_t lid;
	uint8_t out; /* sw's port to it */
	bool io;
	bool sole; /* no source has the LID but the end port itself, which does */
	bool last; /* of its port */
};

/* Destinations [first, end) are at switch `sw`. */
struct routing_leaf {
	uint32_t sw;
	uint32_t first;
	uint32_t end;
};

/* A source's LIDs, to leave out own ones. */
struct routing_source {
	uint16_t lid;
	uint8_t lmc;
	uint32_t sw;
	uint32_t port;
};

struct routing_graph {
	const struct fabric *fabric;
	uint32_t switches;
	uint32_t *nodes;	  /* by switch */
	uint32_t *by_node;	  /* switch by node, IBSM_NONE */
	const uint8_t **lfts;	  /* by switch; NULL: none */
	uint32_t *lft_ends;	  /* LIDs below have an entry */
	struct routing_hop *hops; /* [switch * ROUTING_HOPS_ROW + port] */
	struct routing_channel *channels;
	uint32_t channel_count;
	uint32_t *first_channel;    /* switches + 1 */
	uint32_t *channel_switch;   /* the switch that a channel leaves */
	uint32_t *ins_first;	    /* switches + 1 */
	uint32_t *ins;		    /* by switch: the channels that come in from switches */
	uint32_t ins_max;	    /* at one switch */
	uint32_t *neighbours_first; /* switches + 1 */
	uint32_t *neighbours;	    /* switches to which usable channels lead, each once */
	uint32_t *own;		    /* by switch: sources there */
	uint32_t *own_first;	    /* switches + 1 */
	uint32_t *own_sources;	    /* by switch: its sources, by LID */
	uint32_t *source_index;	    /* by switch with sources: 0, 1 …; IBSM_NONE */
	uint32_t source_switches;
	uint32_t *source_switch;	/* the reverse */
	struct routing_source *sources; /* by lid, then port */
	uint32_t source_count;
	uint8_t lmc_max;
	struct routing_dest *dests; /* by switch, port, LID */
	uint32_t dest_count;
	struct routing_leaf *leaves; /* in the order of dests */
	uint32_t leaf_count;
	struct routing_dest *switch_dests; /* by LID */
	uint32_t switch_dest_count;
	uint16_t *distances; /* [leaf * switches + switch]: hops from there; UINT16_MAX: none */
};

#define ROUTING_FAR UINT16_MAX

/* `distances`: whether they are wanted, else NULL. */
int routing_graph_new(const struct fabric *fabric, enum routing_tables tables,
		      const uint8_t *io_nodes, bool distances, struct routing_graph **ret);
struct routing_graph *routing_graph_free(struct routing_graph *graph);
DEFINE_CLEANUP(struct routing_graph *, routing_graph_free);

static inline const struct routing_hop *routing_hop(const struct routing_graph *g, uint32_t sw,
						    uint32_t lid)
{
	uint8_t out = lid < g->lft_ends[sw] ? g->lfts[sw][lid] : IBSM_LFT_NO_PATH;

	return &g->hops[(size_t)sw * ROUTING_HOPS_ROW + out];
}

static inline uint32_t routing_hop_channel(const struct routing_graph *g, uint32_t sw,
					   const struct routing_hop *hop)
{
	return g->first_channel[sw] + hop->channel;
}

static inline bool routing_port_has_lid(const struct ibsm_snap_port *port, uint32_t lid)
{
	return port->lid && lid >= port->lid && lid < port->lid + (1u << (port->lmc & 7));
}

/* A port that carries data, or whose state is not known. */
static inline bool routing_port_sends(const struct ibsm_snap_port *port)
{
	return port->state == 4 || port->state == 0;
}

static inline bool routing_claims(const struct routing_source *source, uint32_t lid)
{
	return lid >= source->lid && lid < source->lid + (1u << source->lmc);
}

/* The first source that may have the LID; those that do are from there on up to the LID itself. */
uint32_t routing_first_claim(const struct routing_graph *graph, uint32_t lid);

/* Words of a bit set. */
static inline uint32_t routing_words(uint32_t bits)
{
	return (bits + 63) / 64;
}

/* What the pass leaves for the analyses after it. */
struct routing_traffic {
	uint32_t in_words; /* of one row of `dependencies` */
	/* By channel: out of which of the switch's `ins` traffic goes into it. */
	uint64_t *dependencies;
	uint8_t *from_own; /* by channel: whether sources at its switch use it */
};

void routing_traffic_clear(struct routing_traffic *traffic);

/* The pass: fills in validity, faults, loops and the loads of the channels. */
int routing_pass(const struct routing_graph *graph, const struct routing_config *config,
		 struct routing_result *result, struct routing_traffic *ret_traffic);

/* A channel that could carry load from one switch to another. */
static inline bool routing_is_link(const struct fabric *fabric,
				   const struct routing_channel *channel)
{
	return channel->usable && channel->direction != ROUTING_TO_END &&
	       fabric_port(fabric, channel->port)->node !=
		       fabric_port(fabric, channel->remote)->node;
}

/* Ranks and directions; into result->shape, ->ranks and ->channels. */
int routing_find_shape(const struct routing_graph *graph, struct routing_result *result);

/* Dependencies between channels, and where they lead back: into result->credit. */
int routing_find_credit_loops(const struct routing_graph *graph,
			      const struct routing_config *config,
			      const struct routing_traffic *traffic, struct routing_result *result);

/* The same as `traffic`'s, by the lane that config->path_sl and `lanes` give each pair. */
#define ROUTING_LANES 16
struct routing_lanes {
	uint32_t in_words;
	uint64_t *dependencies[ROUTING_LANES]; /* NULL: nobody uses the lane */
};
int routing_lanes_fill(const struct routing_graph *graph, const struct routing_config *config,
		       const uint8_t *sl_to_vl, uint32_t in_words, struct routing_lanes *ret);
void routing_lanes_clear(struct routing_lanes *lanes);

/* Effective bisection bandwidth and shifts, as far as config asks for them. */
int routing_find_patterns(const struct routing_graph *graph, const struct routing_config *config,
			  struct routing_result *result);

/* Groups, cuts and totals, from the loads of result->channels. */
int routing_weigh(const struct routing_graph *graph, struct routing_result *result);
