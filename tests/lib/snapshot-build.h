// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Makes snapshots of any fabric for tests: by hand, at random, or whole fat trees.
#pragma once

/*
 * A builder holds a fabric that can be changed at will and written out any number of times. Nodes
 * are named by the handle that build_node() returned; handles do not change, whatever is added or
 * removed. Writing sorts what snapshot.h wants sorted. Running out of memory ends the test.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fabric/fabric.h"
#include "fabric/snapshot-read.h"
#include "ibsm/snapshot.h"
#include "util/cleanup.h"

struct build_port {
	struct ibsm_snap_port row; /* node and remote are filled in when it is written */
	int remote_node;	   /* handle; -1: no cable */
	uint8_t remote_port;
};

struct build_node {
	struct ibsm_snap_node row;	    /* first_port, ports, switch_index are filled in */
	struct ibsm_snap_switch switch_row; /* so are lft, new_lft, node, lft_lids */
	bool removed;
	bool has_switch;
	struct build_port *ports; /* by ascending number */
	size_t port_count;
	uint8_t *lft; /* lft_lids bytes, or NULL */
	uint8_t *new_lft;
	uint32_t lft_lids;
};

struct build_group {
	struct ibsm_snap_group row;
	struct ibsm_snap_group_member *members; /* port: filled in by gid_guid */
	size_t member_count;
};

struct build_partition {
	struct ibsm_snap_partition row;
	char name[64];
	struct ibsm_snap_partition_member *members; /* port: filled in by port_guid */
	size_t member_count;
};

struct build_option {
	struct ibsm_snap_option row;
	char name[64];
	char text[128];
};

struct build_engine {
	char name[32];
	uint32_t flags;
};

struct builder {
	struct ibsm_snapshot_header header; /* sizes are filled in */
	struct ibsm_snap_subnet subnet;
	struct ibsm_snap_statistics statistics;
	struct build_node *nodes;
	size_t node_count;
	struct ibsm_snap_sm *sms; /* port: filled in by port_guid */
	size_t sm_count;
	struct build_group *groups;
	size_t group_count;
	struct build_partition *partitions;
	size_t partition_count;
	struct build_option *options;
	size_t option_count;
	struct build_engine *engines;
	size_t engine_count;
	uint64_t generations[IBSM_TABLE_MAX];
};

struct builder *build_new(void);
struct builder *build_free(struct builder *builder);
DEFINE_CLEANUP(struct builder *, build_free);

/* A node; a switch gets port 0. Returns its handle. */
int build_node(struct builder *b, uint8_t type, uint64_t node_guid, const char *description,
	       uint8_t num_ports);
/* Takes a node away, and its cables. build_restore() brings the node back, without cables. */
void build_remove(struct builder *b, int node);
void build_restore(struct builder *b, int node);

/* A port, made when it is not there yet: down, 4x EDR, MTU 4096. The pointer holds until the next
 * port of the node is made. */
struct build_port *build_port(struct builder *b, int node, uint8_t port);
/* A cable: both ports active, 4x EDR. What was plugged there before is pulled. */
void build_link(struct builder *b, int node_a, uint8_t port_a, int node_b, uint8_t port_b);
void build_unlink(struct builder *b, int node, uint8_t port);
/* LID and LMC of an end port. */
void build_lid(struct builder *b, int node, uint8_t port, uint16_t lid, uint8_t lmc);
/* The next free LIDs to all end ports that have a cable, switches first. Returns the last one. */
uint16_t build_lids(struct builder *b);

/* The LFT of a switch, `lids` entries, all 255 when made; LinearFDBTop becomes lids - 1. */
uint8_t *build_lft(struct builder *b, int node, uint32_t lids);
/* A computed LFT beside it, a copy of lft when made. */
uint8_t *build_new_lft(struct builder *b, int node);
/* Shortest paths to all LIDs in all switches' LFTs, spread over equal ports by LID. */
void build_route(struct builder *b);

void build_sm(struct builder *b, uint64_t port_guid, uint8_t state, uint8_t priority, bool self);
struct build_group *build_group(struct builder *b, uint64_t mgid_prefix, uint64_t mgid_guid,
				uint16_t mlid);
void build_member(struct build_group *group, uint64_t port_guid);
struct build_partition *build_partition(struct builder *b, const char *name, uint16_t pkey);
void build_partition_member(struct build_partition *partition, uint64_t port_guid, bool full);
/* An option, made or replaced. `text` is for strings, NULL: none. */
void build_option(struct builder *b, const char *name, uint8_t kind, uint64_t value,
		  const char *text);
/* A routing engine, made or replaced. */
void build_engine(struct builder *b, const char *name, uint32_t flags);

/* All that a subnet has beside its nodes, so that no table is empty. */
void build_settings(struct builder *b);

/* Two levels: leaves with `hosts` CAs each, `links` cables to each of the spines. Handles: leaves,
 * then spines, then hosts. LIDs, LFTs and settings are there. */
struct builder *build_tree2(int leaves, int spines, int hosts, int links);
/* A full three-level tree of k-port switches: k^3/4 hosts. The same. */
struct builder *build_tree3(int k);
/* Any fabric: switches and CAs cabled at random, some loopbacks, some ports down, LMCs, LFTs of
 * random entries with holes where `routed` is false. */
struct builder *build_random(uint64_t seed, bool routed);

struct build_bytes {
	unsigned char *bytes; /* 64-aligned */
	size_t size;
};

/* Writes the snapshot out, without the tables in `omit` (bits 1 << enum ibsm_table). The generation
 * of each table that is written becomes header.generation. */
struct build_bytes build_write(struct builder *b, uint32_t omit);
static inline void build_bytesp(struct build_bytes *p)
{
	free(p->bytes);
}
#define _cleanup_bytes_ _cleanup_(build_bytesp)

/* A memfd of these bytes with these seals. */
#define BUILD_SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)
int build_memfd(struct build_bytes bytes, int seals);

/* Written and read back; ends the test with the reader's words where it is not valid. Raises the
 * generation. */
struct snapshot *build_snapshot(struct builder *b, const struct snapshot *previous, uint32_t omit);
/* The same as a fabric, all tables written. */
struct fabric *build_fabric(struct builder *b);

/* A small, fast generator of even randomness; `*state` is the seed and never 0. */
uint64_t build_random_next(uint64_t *state);
/* 0 … below - 1. */
uint32_t build_random_below(uint64_t *state, uint32_t below);
