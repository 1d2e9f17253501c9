// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Builds small fabrics for the detectors' tests: nodes, cables, SMs, options; as a real snapshot.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "fabric/fabric.h"

struct build;

struct build *build_new(void);
void build_free(struct build *build);

/* A switch with ports 0…`ports`, all down; its port GUID is its node GUID, its LID the next one. */
void build_switch(struct build *build, uint64_t guid, uint8_t ports, const char *name);

/* A CA with ports 1…`ports`; port n has the port GUID guid + n, and a LID. */
void build_ca(struct build *build, uint64_t guid, uint8_t ports, const char *name);

/* A cable: both ports active, link up, 4xEDR, which both support and have enabled. */
void build_link(struct build *build, uint64_t a, uint8_t a_port, uint64_t b, uint8_t b_port);
void build_unlink(struct build *build, uint64_t guid, uint8_t port); /* both ends go down */

/* The rows, to change. */
struct ibsm_snap_node *build_node(struct build *build, uint64_t guid);
struct ibsm_snap_port *build_port(struct build *build, uint64_t guid, uint8_t port);
struct ibsm_snap_subnet *build_subnet(struct build *build);

/* An SM; the first one with `self` set goes first. Again with the same GUID: changed. */
void build_sm(struct build *build, uint64_t port_guid, uint8_t state, uint8_t priority, bool self);
void build_sm_remove(struct build *build, uint64_t port_guid);

/* An option of opensm; again with the same name: changed. `text` NULL: not a string. */
void build_option(struct build *build, const char *name, enum ibsm_option_kind kind, uint64_t value,
		  const char *text);
void build_option_remove(struct build *build, const char *name);

/* A switch's LFT as acknowledged, and as computed where it differs (else NULL); not copied. */
void build_lft(struct build *build, uint64_t guid, const uint8_t *lft, const uint8_t *new_lft,
	       uint16_t lids);

void build_engine(struct build *build, const char *name, uint32_t flags);

/* A two-level tree: `leaves` switches 0x1000 + i with `hosts` CAs 0x100000 + 0x100·(i·hosts + j)
 * each, `spines` switches 0x2000 + i, one cable from each leaf to each spine. Leaf ports 1…hosts
 * lead to hosts, the next ones to spines. */
void build_tree(struct build *build, unsigned int leaves, unsigned int spines, unsigned int hosts);
#define BUILD_LEAF(i) (UINT64_C(0x1000) + (i))
#define BUILD_SPINE(i) (UINT64_C(0x2000) + (i))
#define BUILD_HOST(n) (UINT64_C(0x100000) + 0x100 * (uint64_t)(n))

/* The model. One reference; the build may be changed and built again. */
struct fabric *build_fabric(struct build *build);
