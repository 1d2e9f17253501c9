// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Every named limit that plugin, daemon or a client may run into; `ibsmctl status` shows each one
// hit.
#pragma once

/* InfiniBand's own. */
#define IBSM_UNICAST_LID_MAX 0xbfff
#define IBSM_MULTICAST_LID_MIN 0xc000
#define IBSM_PORTS_MAX 255 /* port numbers 0…254; 255 in an LFT is "no path" */
#define IBSM_DESCRIPTION_BYTES 64

/* plugin: records in a ring, a power of two; ibsm.ring= sets the bulk ring's. */
#define IBSM_RING_CONTROL_RECORDS 4096
#define IBSM_RING_BULK_RECORDS 65536
#define IBSM_RING_RECORDS_MIN 64
#define IBSM_RING_RECORDS_MAX (1 << 20)

/* snapshot.h: what a reader accepts. */
#define IBSM_SNAPSHOT_BYTES_MAX (UINT64_C(4) << 30)
#define IBSM_SNAPSHOT_NODES_MAX (1u << 20)
#define IBSM_SNAPSHOT_PORTS_MAX (1u << 24)

/* daemon. */
#define IBSM_PLUGINS_MAX 8		  /* plugin connections at once */
#define IBSM_EVENTS_MAX 65536		  /* events kept in memory: EventsMax= changes it */
#define IBSM_SWEEPS_MAX 1024		  /* sweep stories kept in memory */
#define IBSM_SWEEP_EVENTS_MAX 1024	  /* changes listed in one story; the rest are counted */
#define IBSM_CLIENTS_MAX 128		  /* Varlink connections at once */
#define IBSM_MESSAGE_BYTES_MAX (4u << 20) /* one Varlink message, either way */
#define IBSM_CLIENT_QUEUE_BYTES_MAX (8u << 20) /* unsent bytes of one client before it is dropped  \
						*/
#define IBSM_REPLY_BATCH_BYTES (768u << 10)    /* a list's batch: stays below 1 MB */
#define IBSM_NODE_NAME_MAP_ENTRIES_MAX (1u << 18)
