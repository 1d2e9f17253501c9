// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Counts how often each named limit was hit: `ibsmctl status` shows what is here.
#pragma once

#include <stdint.h>

/* limits.h of include/ibsm has those that the contract knows; these are ibsmd's own. */
#define SNAPSHOTS_PENDING_MAX 4 /* of one plugin; it is not read from while there are as many */
#define INSTANCES_MAX 64	/* loadings of the plugin whose last sequence number is kept */
#define HELLO_TIMEOUT_USEC (UINT64_C(10) * 1000000) /* for a connection's first record */

enum limit {
	LIMIT_PLUGINS,
	LIMIT_SNAPSHOTS_PENDING,
	LIMIT_SNAPSHOT_BYTES,
	LIMIT_INSTANCES,
	LIMIT_EVENTS,
	LIMIT_SWEEPS,
	LIMIT_SWEEP_EVENTS,
	LIMIT_NODE_NAME_MAP_ENTRIES,
	LIMIT_CLIENTS,
	LIMIT_CLIENT_QUEUE_BYTES,
	LIMIT_CALL_BYTES,
	LIMIT_SILENCES,
	LIMIT_ALERTS,
	LIMIT_SUBNET_MANAGERS,
	LIMIT_TRAP_SENDERS,
	LIMIT_UNRESPONSIVE_NODES,
	LIMITS,
};

struct limits {
	struct limit_count {
		uint64_t value; /* what the limit is */
		uint64_t count; /* how often it was hit since ibsmd started */
	} limits[LIMITS];
};

/* "plugins", "snapshots-pending"…: part of the API. */
const char *limit_name(enum limit limit);

static inline void limit_hit(struct limits *limits, enum limit limit, uint64_t times)
{
	limits->limits[limit].count += times;
}
