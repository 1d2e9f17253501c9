// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// opensm's headers in the one order that gives opensm's own layout, and how its fields are read.
#pragma once

/* osm_config.h decides how large osm_opensm_t is: without it a plugin builds clean and reads the
 * wrong fields. So no file of ours includes an opensm header but through this one. */
#include <opensm/osm_config.h>

#include <iba/ib_types.h>

#include <complib/cl_byteswap.h>
#include <opensm/osm_event_plugin.h>
#include <opensm/osm_mcm_port.h>
#include <opensm/osm_multicast.h>
#include <opensm/osm_opensm.h>
#include <opensm/osm_partition.h>
#include <opensm/osm_remote_sm.h>
#include <opensm/osm_version.h>

/* A field that another thread of opensm may be writing: one relaxed load, never a lock. */
#define OSM_READ(field) __atomic_load_n(&(field), __ATOMIC_RELAXED)
