// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// An opensm that never runs: its structures, with a subnet built by hand, for tests of the plugin.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "plugin/osm.h"

#define FAKE_SUBNET_PREFIX UINT64_C(0xfe80000000000000)
#define FAKE_SWITCH_GUID UINT64_C(0x0002c90000200000)
#define FAKE_CA_GUID UINT64_C(0x0002c90000100000)
#define FAKE_SECRET_KEY UINT64_C(0x5ec12e7aabbccdd1) /* in every key of opensm's */

/*
 * An osm_opensm_t as it is when opensm creates its plugins: parts tied together, lock and log
 * initialised, no node. `plugin_options` as in event_plugin_options, may be NULL. Never fails
 * (tests end on out of memory).
 */
osm_opensm_t *fake_osm_new(const char *plugin_options);
osm_opensm_t *fake_osm_free(osm_opensm_t *osm);

/* Add a node, ports not cabled; `ports` as in NodeInfo.NumPorts. */
osm_node_t *fake_osm_add_node(osm_opensm_t *osm, uint64_t guid, uint8_t type, uint8_t ports,
			      const char *description);

/* A switch's osm_switch_t; its tables come from fake_osm_give_lfts(). */
osm_switch_t *fake_osm_add_switch(osm_opensm_t *osm, uint64_t guid, uint8_t ports,
				  const char *description);

/* Make an osm_port_t with a LID for a CA's port or a switch's port 0. */
osm_port_t *fake_osm_give_lid(osm_opensm_t *osm, osm_node_t *node, uint8_t port, uint16_t lid);

/* Cable two ports. */
void fake_osm_link(osm_node_t *a, uint8_t port_a, osm_node_t *b, uint8_t port_b);

/* Tables for LIDs 0 … lids - 1 (rounded up to 64), `fill` in each entry of both. */
void fake_osm_give_lfts(osm_switch_t *sw, uint16_t lids, uint8_t fill);

/* A multicast group; members by fake_osm_join(). `mgid`: 16 bytes. */
osm_mgrp_t *fake_osm_add_group(osm_opensm_t *osm, const uint8_t mgid[16], uint16_t mlid);
void fake_osm_join(osm_mgrp_t *group, osm_port_t *port);

/* A partition; members by fake_osm_admit(). */
osm_prtn_t *fake_osm_add_partition(osm_opensm_t *osm, uint16_t pkey, const char *name);
void fake_osm_admit(osm_prtn_t *partition, uint64_t port_guid, bool full);

/* Another SM. */
void fake_osm_add_sm(osm_opensm_t *osm, uint64_t port_guid, uint8_t priority, uint8_t state);

/* A routing engine that is loaded; `used` makes it the one in use. */
void fake_osm_add_engine(osm_opensm_t *osm, const char *name, bool used);

/*
 * A two-level tree: `leaves` switches of `hosts` CAs each, cabled to each of `spines`; LIDs, LFTs,
 * one group with all CAs in it, the default partition, engine minhop; SM on the first CA, master.
 */
void fake_osm_build_tree(osm_opensm_t *osm, unsigned int leaves, unsigned int spines,
			 unsigned int hosts);
