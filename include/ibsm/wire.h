// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The records that libibsmplugin.so sends to ibsmd: one record, one SOCK_SEQPACKET datagram.
#pragma once

/*
 * Transport. The plugin connects to plugin.sock (AF_UNIX, SOCK_SEQPACKET) and only ever sends; the
 * daemon only ever reads, and says no by closing. Each datagram is one record: struct
 * ibsm_wire_header, then the body that `type` names. A SNAPSHOT record, and no other, carries one
 * file descriptor (SCM_RIGHTS): a sealed memfd laid out as snapshot.h says.
 *
 * Order on a connection: HELLO first, then (if one was ever taken) a full SNAPSHOT, then records in
 * the order in which they were put into their ring. Control records (all but PORT_* and LFT_CHANGE)
 * and bulk records travel in two rings; order is kept within a ring, and `monotonic_nsec`, taken in
 * opensm's callback, orders the two against each other.
 *
 * Sequence. `sequence` counts the records that the sender took up for sending since opensm loaded
 * the plugin, whatever their type, over all connections: 1, 2, 3… A gap seen by the daemon is
 * records that were sent to a connection that died before they were read. Records that never
 * reached the sender (ring full) or were thrown away while the daemon was absent have no sequence
 * number: DROPS and HEARTBEAT count them. For each ring, at any time when it is empty:
 * raised = sent + dropped.
 *
 * Byte order is little-endian, fields have fixed width and natural alignment, and structs have no
 * hidden padding (checked below). Both ends run on one host, so a big-endian host is refused here
 * rather than served by conversions that nobody tests.
 *
 * GUIDs, LIDs, keys and GIDs' halves are numbers in host order; a GID is given as prefix and GUID.
 * Strings are NUL-terminated, padded with NULs, and in whatever encoding the fabric had: hostile
 * input that the reader makes printable on entry.
 *
 * Version history. Bump IBSM_WIRE_VERSION when a reader of the old version would misread a record:
 * a field moved, resized, or with another meaning. Do not bump it for a new record type (readers
 * skip unknown types, and count them), for a new enum value, for a new bit in `flags`, or for
 * fields appended to a body (readers take a body at least as long as they know; missing bytes read
 * as 0). 1  first version
 */

#include <stdint.h>

#include "limits.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "ibsm's records are little-endian and are used in place: big-endian hosts are not supported"
#endif

#define IBSM_WIRE_MAGIC UINT32_C(0x4d534249) /* "IBSM" in memory */
#define IBSM_WIRE_VERSION 1

/* Longest record of this version, header included; a longer datagram is a protocol error. */
#define IBSM_WIRE_RECORD_MAX 2048

enum ibsm_wire_type {
	/* The connection itself. */
	IBSM_WIRE_HELLO = 1,
	IBSM_WIRE_HEARTBEAT = 2,
	IBSM_WIRE_DROPS = 3,
	IBSM_WIRE_SNAPSHOT = 4,
	IBSM_WIRE_SM_STATE = 5, /* the SM state differs from the one last seen */

	/* opensm's events, named after OSM_EVENT_ID_*; control ring. */
	IBSM_WIRE_HEAVY_SWEEP_START = 16,
	IBSM_WIRE_HEAVY_SWEEP_DONE = 17,
	IBSM_WIRE_UCAST_ROUTING_DONE = 18,
	IBSM_WIRE_SUBNET_UP = 19,
	IBSM_WIRE_STATE_CHANGE = 20,
	IBSM_WIRE_SA_DB_DUMPED = 21,
	IBSM_WIRE_TRAP = 22,

	/* opensm's events; bulk ring. */
	IBSM_WIRE_LFT_CHANGE = 32,
	IBSM_WIRE_PORT_ERRORS = 33,
	IBSM_WIRE_PORT_DATA_COUNTERS = 34,
	IBSM_WIRE_PORT_SELECT = 35,
};

struct ibsm_wire_header {
	uint32_t magic;		 /* IBSM_WIRE_MAGIC */
	uint16_t version;	 /* IBSM_WIRE_VERSION of the writer */
	uint16_t type;		 /* enum ibsm_wire_type */
	uint32_t length;	 /* bytes of the whole record, this header included */
	uint32_t flags;		 /* 0; readers ignore bits that they do not know */
	uint64_t sequence;	 /* see above */
	uint64_t monotonic_nsec; /* CLOCK_MONOTONIC when the event was raised */
	uint64_t realtime_nsec;	 /* CLOCK_REALTIME at the same moment */
};

/* SM states are opensm's and IBTA's (SMInfo.SMState): 0 not active, 1 discovering, 2 standby,
 * 3 master. */
enum ibsm_sm_state {
	IBSM_SM_NOT_ACTIVE = 0,
	IBSM_SM_DISCOVERING = 1,
	IBSM_SM_STANDBY = 2,
	IBSM_SM_MASTER = 3,
};

/* Options of opensm that matter before a snapshot arrives; keys are never among them. */
struct ibsm_wire_hello {
	struct ibsm_wire_header header;
	uint8_t boot_id[16]; /* /proc/sys/kernel/random/boot_id */
	uint64_t instance;   /* random: names this loading of the plugin; sequences belong to it */
	uint64_t first_sequence;      /* of the next record after this HELLO */
	uint64_t start_realtime_nsec; /* when opensm loaded the plugin */
	uint64_t sm_port_guid;	      /* 0 as long as opensm has bound no port */
	uint64_t subnet_prefix;
	uint64_t generation; /* of the last snapshot taken, 0 none: a SNAPSHOT follows if not 0 */
	uint32_t pid;	     /* of opensm, in the plugin's own PID namespace: for people */
	uint32_t connection; /* 1 for this instance's first connection, 2, 3… */
	uint32_t ring_records_control;
	uint32_t ring_records_bulk;
	uint32_t sweep_interval_sec; /* 0: no periodic sweep */
	uint32_t sminfo_polling_timeout_msec;
	uint32_t polling_retry_number;
	uint32_t hello_flags; /* enum ibsm_hello_flags */
	uint8_t sm_state;     /* enum ibsm_sm_state */
	uint8_t sm_priority;
	uint8_t lmc;
	uint8_t reserved[5];
	char plugin_version[32];
	char opensm_version[64];
	char host_name[64];
	char routing_engines[128]; /* as asked for (opt.routing_engine_names), "" for the default */
};

enum ibsm_hello_flags {
	IBSM_HELLO_SNAPSHOTS = 1 << 0, /* ibsm.snapshots=yes */
	IBSM_HELLO_PERFMGR = 1 << 1,
	IBSM_HELLO_QOS = 1 << 2,
	IBSM_HELLO_DAEMON = 1 << 3,
};

/* One per ring; counters since the plugin was loaded. */
struct ibsm_wire_ring_counts {
	uint64_t raised;	 /* records that callbacks wanted to queue */
	uint64_t sent;		 /* accepted by the socket */
	uint64_t dropped_full;	 /* the ring was full */
	uint64_t dropped_absent; /* oldest ones thrown away while no daemon read */
};

/* Sent each second; says that the sender thread lives, and what it sees. */
struct ibsm_wire_heartbeat {
	struct ibsm_wire_header header;
	struct ibsm_wire_ring_counts control;
	struct ibsm_wire_ring_counts bulk;
	uint64_t zero_deltas;	 /* counter events not queued since all of their deltas were 0 */
	uint64_t unknown_events; /* event ids that this plugin does not know */
	uint64_t snapshots_taken;
	uint64_t snapshots_skipped;  /* no buffer or no memory: the next one covers it */
	uint64_t snapshot_lock_nsec; /* how long the last snapshot held the shared osm lock */
	uint64_t snapshot_lock_max_nsec;
	uint64_t callback_nsec; /* sum over all callbacks, snapshots included */
	uint64_t qp0_mads_sent; /* osm->stats: what ActCount is made of */
	uint64_t qp0_mads_rcvd;
	uint64_t sm_port_guid;
	uint32_t qp0_mads_outstanding;
	uint32_t qp0_mads_outstanding_on_wire;
	uint8_t sm_state; /* enum ibsm_sm_state, sampled now */
	uint8_t reserved[7];
};

/* Sent as soon as the sender sees that something was dropped since the last DROPS. */
struct ibsm_wire_drops {
	struct ibsm_wire_header header;
	struct ibsm_wire_ring_counts control;
	struct ibsm_wire_ring_counts bulk;
	uint64_t since_control; /* dropped since the last DROPS, both reasons */
	uint64_t since_bulk;
	uint64_t first_monotonic_nsec; /* not later than the first of them */
	uint64_t last_monotonic_nsec;  /* not earlier than the last of them */
};

enum ibsm_snapshot_reason {
	IBSM_SNAPSHOT_SUBNET_UP = 1,
	IBSM_SNAPSHOT_REROUTE = 2,   /* UCAST_ROUTING_DONE(reroute) */
	IBSM_SNAPSHOT_GROUPS = 3,    /* multicast groups alone, at an interval */
	IBSM_SNAPSHOT_RECONNECT = 4, /* the last one again, for a daemon that connected later */
};

/* The fd travels with it. monotonic_nsec: when the copy under opensm's lock began. */
struct ibsm_wire_snapshot {
	struct ibsm_wire_header header;
	uint64_t generation; /* 1, 2, 3… within an instance */
	uint64_t size_bytes; /* of the memfd */
	uint64_t lock_nsec;  /* how long the shared lock was held */
	uint32_t reason;     /* enum ibsm_snapshot_reason of the copy itself */
	uint32_t full;	     /* 1: no table refers to an earlier snapshot */
};

struct ibsm_wire_sm_state {
	struct ibsm_wire_header header;
	uint64_t sm_port_guid;
	uint64_t master_sm_guid; /* of the SM that this one follows, 0 unknown */
	uint8_t old_state;	 /* enum ibsm_sm_state */
	uint8_t new_state;
	uint8_t reserved[6];
};

enum ibsm_sweep_flags {
	IBSM_SWEEP_FIRST_TIME_MASTER = 1 << 0,	   /* subn.first_time_master_sweep */
	IBSM_SWEEP_COMING_OUT_OF_STANDBY = 1 << 1, /* subn.coming_out_of_standby */
	IBSM_SWEEP_INITIALIZATION_ERROR = 1 << 2,  /* subn.subnet_initialization_error */
	IBSM_SWEEP_FORCE_HEAVY = 1 << 3,	   /* subn.force_heavy_sweep: another one follows */
	IBSM_SWEEP_FORCE_REROUTE = 1 << 4,	   /* subn.force_reroute */
	IBSM_SWEEP_IGNORE_EXISTING_LFTS = 1 << 5,  /* subn.ignore_existing_lfts */
	IBSM_SWEEP_OPT_FORCE_HEAVY = 1 << 6,	   /* opt.force_heavy_sweep: each sweep is heavy */
	IBSM_SWEEP_NEED_UPDATE = 1 << 7,	   /* subn.need_update */
	IBSM_SWEEP_SWEEPING_DISABLED = 1 << 8,	   /* !subn.sweeping_enabled */
	IBSM_SWEEP_MASTER_SM_FOUND = 1 << 9,	   /* sm.master_sm_found */
};

/* HEAVY_SWEEP_START, HEAVY_SWEEP_DONE, UCAST_ROUTING_DONE, SUBNET_UP, STATE_CHANGE, SA_DB_DUMPED:
 * all raised on opensm's sweeper thread. */
struct ibsm_wire_sweep {
	struct ibsm_wire_header header;
	uint64_t sm_port_guid;
	uint64_t master_sm_guid;
	uint32_t sweep_flags;  /* enum ibsm_sweep_flags, as they stood in the callback */
	uint32_t routing_kind; /* UCAST_ROUTING_DONE: 1 heavy sweep, 2 reroute; else 0 */
	uint32_t qp0_mads_sent;
	uint32_t qp0_mads_rcvd;
	uint32_t qp0_mads_outstanding;
	uint32_t sa_mads_rcvd;
	uint8_t sm_state;     /* enum ibsm_sm_state */
	uint8_t engine_known; /* 1: routing_engine is what opensm says; 0: none used, all failed */
	uint8_t reserved[6];
	char routing_engine[32]; /* routing_engine_used->name; "" before the first routing */
};

enum ibsm_trap_fields {
	IBSM_TRAP_LID1 = 1 << 0,
	IBSM_TRAP_LID2 = 1 << 1,
	IBSM_TRAP_PORT = 1 << 2,
	IBSM_TRAP_GID1 = 1 << 3,
	IBSM_TRAP_GID2 = 1 << 4,
	IBSM_TRAP_GUID = 1 << 5,
	IBSM_TRAP_CAPABILITY = 1 << 6,
	IBSM_TRAP_KEY = 1 << 7,
	IBSM_TRAP_QP = 1 << 8,
	IBSM_TRAP_METHOD = 1 << 9,
	IBSM_TRAP_SW_LID = 1 << 10,
};

enum ibsm_trap_change {
	IBSM_TRAP_CHANGE_NODE_DESCRIPTION = 1 << 0,
	IBSM_TRAP_CHANGE_LINK_WIDTH = 1 << 1,
	IBSM_TRAP_CHANGE_LINK_SPEED = 1 << 2,
	IBSM_TRAP_CHANGE_SM_PRIORITY = 1 << 3,
};

/* A notice, decoded: IBTA 13.4.8 and 14.2.5.1. Vendor notices give their issuer and number alone.
 * The M_Key of trap 256 is a secret and is not here. */
struct ibsm_wire_trap {
	struct ibsm_wire_header header;
	uint64_t gid1_prefix; /* 64-67: the GID; 257-259: the sender's */
	uint64_t gid1_guid;
	uint64_t gid2_prefix; /* 257-259: the receiver's */
	uint64_t gid2_guid;
	uint64_t guid;		  /* 145: the new SystemImageGUID */
	uint32_t fields;	  /* enum ibsm_trap_fields: which of the following say something */
	uint32_t capability_mask; /* 144 */
	uint32_t key;		  /* 257, 259: P_Key; 258: Q_Key */
	uint32_t qp1;
	uint32_t qp2;
	uint32_t vendor_id;	     /* vendor notices: the issuing vendor; generic: 0 */
	uint32_t attribute_modifier; /* 256 */
	uint16_t number;	     /* trap number, or the vendor's device id */
	uint16_t issuer_lid;
	uint16_t lid1;	       /* 128: the switch; 129-131: the port's; 144, 145, 256: the node's */
	uint16_t lid2;	       /* 257-259: the receiver's */
	uint16_t sw_lid;       /* 259 */
	uint16_t change_flags; /* 144: enum ibsm_trap_change */
	uint16_t capability_mask2; /* 144 */
	uint16_t attribute_id;	   /* 256 */
	uint16_t toggle_count;	   /* toggle bit and count as received */
	uint8_t is_generic;
	uint8_t notice_type; /* 0 fatal, 1 urgent, 2 security, 3 subnet management, 4 informational
			      */
	uint8_t producer;    /* generic: 1 CA, 2 switch, 3 router, 4 class manager */
	uint8_t port;	     /* 129-131, 259 */
	uint8_t method;	     /* 256 */
	uint8_t sm_state;
	uint8_t sl; /* 257, 258 */
	uint8_t reserved[3];
};

enum ibsm_lft_change {
	IBSM_LFT_CHANGED_TOP = 1 << 0,
	IBSM_LFT_CHANGED_BLOCK = 1 << 1,
};

#define IBSM_LFT_BLOCK_LIDS 64

/* A switch acknowledged a new LinearFDBTop or one 64-LID block of its LFT. */
struct ibsm_wire_lft_change {
	struct ibsm_wire_header header;
	uint64_t node_guid; /* the switch's */
	uint32_t change;    /* enum ibsm_lft_change */
	uint32_t block;	    /* CHANGED_BLOCK: LIDs 64·block … 64·block + 63 */
	uint16_t lft_top;
	uint16_t lid; /* the switch's LID */
	uint8_t sm_state;
	uint8_t reserved[3];
	uint8_t ports[IBSM_LFT_BLOCK_LIDS]; /* CHANGED_BLOCK: out-port for each LID, 255 none */
};

/* perfmgr's differences since its last reading; never all zero. */
struct ibsm_wire_port_errors {
	struct ibsm_wire_header header;
	uint64_t node_guid;
	uint64_t time_diff_sec;
	uint64_t symbol_err_cnt;
	uint64_t link_err_recover;
	uint64_t link_downed;
	uint64_t rcv_err;
	uint64_t rcv_rem_phys_err;
	uint64_t rcv_switch_relay_err;
	uint64_t xmit_discards;
	uint64_t xmit_constraint_err;
	uint64_t rcv_constraint_err;
	uint64_t link_integrity;
	uint64_t buffer_overrun;
	uint64_t vl15_dropped;
	uint64_t xmit_wait;
	uint8_t port;
	uint8_t reserved[7];
};

struct ibsm_wire_port_data {
	struct ibsm_wire_header header;
	uint64_t node_guid;
	uint64_t time_diff_sec;
	uint64_t xmit_data; /* in units of 4 octets, as PortXmitData counts */
	uint64_t rcv_data;
	uint64_t xmit_pkts;
	uint64_t rcv_pkts;
	uint64_t unicast_xmit_pkts;
	uint64_t unicast_rcv_pkts;
	uint64_t multicast_xmit_pkts;
	uint64_t multicast_rcv_pkts;
	uint8_t port;
	uint8_t reserved[7];
};

struct ibsm_wire_port_select {
	struct ibsm_wire_header header;
	uint64_t node_guid;
	uint64_t time_diff_sec;
	uint64_t xmit_wait;
	uint8_t port;
	uint8_t reserved[7];
};

/* Any record of this version. */
union ibsm_wire_record {
	struct ibsm_wire_header header;
	struct ibsm_wire_hello hello;
	struct ibsm_wire_heartbeat heartbeat;
	struct ibsm_wire_drops drops;
	struct ibsm_wire_snapshot snapshot;
	struct ibsm_wire_sm_state sm_state;
	struct ibsm_wire_sweep sweep;
	struct ibsm_wire_trap trap;
	struct ibsm_wire_lft_change lft_change;
	struct ibsm_wire_port_errors port_errors;
	struct ibsm_wire_port_data port_data;
	struct ibsm_wire_port_select port_select;
};

/*
 * Length in bytes of a record of `type` in this version, header included; 0 for a type that this
 * version does not know. Pure; any thread.
 */
static inline uint32_t ibsm_wire_length(uint16_t type)
{
	switch (type) {
	case IBSM_WIRE_HELLO:
		return sizeof(struct ibsm_wire_hello);
	case IBSM_WIRE_HEARTBEAT:
		return sizeof(struct ibsm_wire_heartbeat);
	case IBSM_WIRE_DROPS:
		return sizeof(struct ibsm_wire_drops);
	case IBSM_WIRE_SNAPSHOT:
		return sizeof(struct ibsm_wire_snapshot);
	case IBSM_WIRE_SM_STATE:
		return sizeof(struct ibsm_wire_sm_state);
	case IBSM_WIRE_HEAVY_SWEEP_START:
	case IBSM_WIRE_HEAVY_SWEEP_DONE:
	case IBSM_WIRE_UCAST_ROUTING_DONE:
	case IBSM_WIRE_SUBNET_UP:
	case IBSM_WIRE_STATE_CHANGE:
	case IBSM_WIRE_SA_DB_DUMPED:
		return sizeof(struct ibsm_wire_sweep);
	case IBSM_WIRE_TRAP:
		return sizeof(struct ibsm_wire_trap);
	case IBSM_WIRE_LFT_CHANGE:
		return sizeof(struct ibsm_wire_lft_change);
	case IBSM_WIRE_PORT_ERRORS:
		return sizeof(struct ibsm_wire_port_errors);
	case IBSM_WIRE_PORT_DATA_COUNTERS:
		return sizeof(struct ibsm_wire_port_data);
	case IBSM_WIRE_PORT_SELECT:
		return sizeof(struct ibsm_wire_port_select);
	default:
		return 0;
	}
}

#include "wire-layout.h"
