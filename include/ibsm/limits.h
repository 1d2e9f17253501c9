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
#define IBSM_MESSAGE_BYTES_MAX (4u << 20) /* one Varlink reply */
#define IBSM_CALL_BYTES_MAX (256u << 10)  /* one Varlink call */
#define IBSM_CLIENT_QUEUE_BYTES_MAX                                                                \
	(8u << 20)			    /* unsent bytes of one client before it is dropped     \
					     */
#define IBSM_REPLY_BATCH_BYTES (768u << 10) /* a list's batch: stays below 1 MB */
#define IBSM_NODE_NAME_MAP_ENTRIES_MAX (1u << 18)

/* ibsm-probe. */
#define IBSM_PROBE_PORTS_MAX 64	      /* rows of a port list */
#define IBSM_PROBE_OUTSTANDING_MAX 16 /* queries without an answer yet, one for a LID */
#define IBSM_PROBE_TIMEOUT_MSEC 1000  /* of a query: --timeout=, or the order, changes it */
#define IBSM_PROBE_TIMEOUT_MSEC_MIN 10
#define IBSM_PROBE_TIMEOUT_MSEC_MAX 10000
#define IBSM_PROBE_MADS_PER_SEC 200 /* --rate= changes it */
#define IBSM_PROBE_MADS_PER_SEC_MAX 10000
#define IBSM_PROBE_MADS_BURST 32    /* sent at once after a pause */
#define IBSM_PROBE_LOOK_MSEC 1000   /* without a port, queries look for one no more often */
#define IBSM_PROBE_STUCK_SEC 15	    /* in one call of libibumad before it ends itself */
#define IBSM_PROBE_PENDING_MAX 256  /* orders that ibsmd holds for it */
#define IBSM_PROBE_ANSWER_MSEC 5000 /* after an order's own time-out: then ibsmd kills it */
#define IBSM_PROBE_RELOOK_SEC 30    /* ibsmd asks again which port is the one */
#define IBSM_PROBE_RESTART_MSEC 500 /* first pause before it is started again; doubles */
#define IBSM_PROBE_RESTART_MSEC_MAX 60000
