// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Counts how often each named limit was hit: `ibsmctl status` shows what is here.
#include "daemon/limits.h"

#include <stddef.h>

const char *limit_name(enum limit limit)
{
	static const char *const names[LIMITS] = {
		[LIMIT_PLUGINS] = "plugins",
		[LIMIT_SNAPSHOTS_PENDING] = "snapshots-pending",
		[LIMIT_SNAPSHOT_BYTES] = "snapshot-bytes",
		[LIMIT_INSTANCES] = "instances",
		[LIMIT_EVENTS] = "events",
		[LIMIT_SWEEPS] = "sweeps",
		[LIMIT_SWEEP_EVENTS] = "sweep-events",
		[LIMIT_NODE_NAME_MAP_ENTRIES] = "node-name-map-entries",
		[LIMIT_CLIENTS] = "clients",
		[LIMIT_CLIENT_QUEUE_BYTES] = "client-queue-bytes",
		[LIMIT_CALL_BYTES] = "call-bytes",
		[LIMIT_SILENCES] = "silences",
		[LIMIT_ALERTS] = "alerts",
		[LIMIT_SUBNET_MANAGERS] = "subnet-managers",
		[LIMIT_TRAP_SENDERS] = "trap-senders",
		[LIMIT_UNRESPONSIVE_NODES] = "unresponsive-nodes",
	};

	return limit < LIMITS ? names[limit] : NULL;
}
