// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Every subnet manager known, with what each view says of it: its own plugin, an opensm, the wire.
#pragma once

/*
 * Three views tell of an SM, and are kept apart, since that they differ is itself worth knowing:
 *
 *  self     its own opensm, through a plugin that is connected: as fresh as its last heartbeat
 *  told     a row in another opensm's snapshot: as it was when that one last asked it, in a sweep
 *  outside  its answer to an SMInfo query of our own
 *
 * What holds is what the freshest kind of view says: self while its plugin is connected, else
 * outside while it answers, else told as long as nothing was ever asked from outside.
 *
 * An SM's process is known to have started anew when its plugin has another instance (self), or
 * when its ActCount, which opensm counts from 0 at each start, has fallen (outside).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "detect-time.h"
#include "fabric.h"
#include "mastership.h"

/* SMs kept; further ones are counted and left out. Fabrics have one to three. */
#define SM_TABLE_MAX 64
#define SM_LOCAL_PORTS_MAX 16

#define SM_PRIORITY_UNKNOWN 0xff /* IBTA's are 0…15 */

/* What a connected plugin says of its own SM. */
struct sm_self {
	uint64_t port_guid; /* 0: its opensm has bound no port yet; the input says nothing then */
	uint64_t instance;  /* HELLO's */
	uint64_t master_sm_guid; /* whom it follows; 0 not known */
	uint16_t lid;		 /* 0 not known */
	uint8_t state;		 /* enum ibsm_sm_state */
	uint8_t priority;	 /* SM_PRIORITY_UNKNOWN */
	bool sweep_interval_known;
	uint32_t sweep_interval_sec; /* 0: no periodic sweep */
};

/* The outcome of one SMInfo query that was sent: an answer, or none. Queries that were never sent
 * (probe busy, no device) are no outcome. */
struct sm_reply {
	uint64_t guid;	  /* SMInfo.GUID of the answer, 0 without one */
	uint16_t lid;	  /* that was asked */
	uint8_t priority; /* of the answer, as are the next two */
	uint8_t state;	  /* enum ibsm_sm_state */
	uint32_t act_count;
	uint32_t rtt_usec;
	int status;	    /* 0: an answer; else a positive errno that says why there is none */
	bool to_master_lid; /* the LID is the local port's SM LID */
};

/* What one view says. */
struct sm_seen {
	bool known;
	uint8_t state;
	uint8_t priority;
	uint16_t lid;
	uint32_t act_count; /* not with self */
	uint64_t usec;	    /* monotonic, when it last said so */
};

struct sm_entry {
	uint64_t port_guid;
	uint64_t node_guid;	  /* 0: no snapshot has it */
	uint8_t node_type;	  /* enum ibsm_node_type, 0 not known */
	uint8_t port;		  /* its port's number on that node */
	char node[SM_NAME_BYTES]; /* printable name; "" not known */
	bool in_fabric;		  /* the last snapshot has its port */
	bool listed;		  /* the last snapshot's opensm knows it as an SM */
	bool told_by_itself; /* that row is its own: as old as its plugin, so no view beside self */
	bool is_sm_bit;	     /* its port's CapabilityMask says IsSM, in the last snapshot */

	struct sm_seen self;
	struct sm_seen told;
	struct sm_seen outside;

	bool connected;	   /* its plugin is */
	uint64_t instance; /* the last plugin's; 0 none yet */
	uint64_t follows;  /* as standby, by self: the master's port GUID; 0 not known */
	bool sweep_interval_known;
	uint32_t sweep_interval_sec;

	bool asked;	     /* from outside, since the outside view began */
	uint32_t answered;   /* consecutive answers; 0 when the last query had none */
	uint32_t missed;     /* consecutive queries without an answer */
	int miss_status;     /* of the last one */
	uint32_t rtt_usec;   /* of the last answer */
	bool act_count_base; /* outside.act_count is of this process's life, as far as is known */

	uint64_t first_realtime_usec;
	uint64_t last_realtime_usec; /* last sign of life in any view */
	uint64_t last_usec;
};

struct sm_table {
	struct sm_entry entries[SM_TABLE_MAX]; /* in the order in which they were first seen */
	size_t count;
	uint64_t left_out; /* SMs that found no room, each time they were seen */
	uint64_t local_ports[SM_LOCAL_PORTS_MAX];
	size_t local_count;
};

/* What an input changed, for the entry that it was about. */
enum sm_news {
	SM_NEWS_NEW = 1 << 0,
	SM_NEWS_RESTARTED_SELF = 1 << 1,    /* another instance of the plugin */
	SM_NEWS_RESTARTED_OUTSIDE = 1 << 2, /* ActCount fell */
	SM_NEWS_LEFT_OUT = 1 << 3,	    /* no room */
};

/* Inputs. Each returns a set of enum sm_news, and in *ret (NULL allowed) the entry or NULL. */
unsigned int sm_table_self(struct sm_table *table, const struct sm_self *self,
			   const struct detect_time *now, struct sm_entry **ret);
/* What it answered before no longer counts either: it may just have died. */
void sm_table_self_gone(struct sm_table *table, uint64_t port_guid);
unsigned int sm_table_reply(struct sm_table *table, const struct sm_reply *reply,
			    const struct detect_time *now, struct sm_entry **ret);

/* Nothing is asked any more (the probe is gone): what the outside view said no longer counts. */
void sm_table_outside_lost(struct sm_table *table);

/* The fabric model of the followed plugin; gives names, and its opensm's SM table. */
void sm_table_fabric(struct sm_table *table, const struct fabric *fabric,
		     const struct detect_time *now);

/* Port GUIDs of this host, beside those whose plugin is connected; the first SM_LOCAL_PORTS_MAX. */
void sm_table_set_local(struct sm_table *table, const uint64_t *port_guids, size_t count);

/* Forget SMs without a sign of life for so long. Pointers to entries are void after it. */
void sm_table_expire(struct sm_table *table, uint64_t age_usec, const struct detect_time *now);

struct sm_entry *sm_table_find(struct sm_table *table, uint64_t port_guid);
/* By the LID in any view; the one seen last, where two had it. */
struct sm_entry *sm_table_find_lid(struct sm_table *table, uint16_t lid);

/* Whether it runs on this host. */
bool sm_entry_is_local(const struct sm_table *table, const struct sm_entry *entry);

/* Alive by its freshest kind of view. */
bool sm_entry_is_alive(const struct sm_entry *entry);

/* enum ibsm_sm_state of one that is alive, or -1. */
int sm_entry_state(const struct sm_entry *entry);

/* Priority and LID as the freshest view that ever told has them: SM_PRIORITY_UNKNOWN; 0. */
uint8_t sm_entry_priority(const struct sm_entry *entry);
uint16_t sm_entry_lid(const struct sm_entry *entry);

/* Its node's name, else its port GUID. */
#define SM_LABEL_BYTES SM_NAME_BYTES
const char *sm_entry_label(const struct sm_entry *entry, char buffer[static SM_LABEL_BYTES]);
#define SM_LABEL(entry) sm_entry_label((entry), (char[SM_LABEL_BYTES]){0})

/* "self", "told", "outside": fills in those that know the SM, and returns how many. */
#define SM_VIEWS 3
size_t sm_entry_views(const struct sm_entry *entry, const char *ret[static SM_VIEWS]);

/* What outlives a restart of ibsmd. */
struct sm_saved {
	uint64_t port_guid;
	uint64_t node_guid;
	uint64_t first_realtime_usec;
	uint64_t last_realtime_usec;
	uint64_t instance;
	uint32_t act_count;
	bool act_count_base;
	uint16_t lid;
	uint8_t priority;
	uint8_t node_type;
	char node[SM_NAME_BYTES];
};

/* Fills in up to SM_TABLE_MAX and returns how many. */
size_t sm_table_save(const struct sm_table *table, struct sm_saved ret[static SM_TABLE_MAX]);

/* Into an empty table. Times to come, and SMs without GUID, are left out; returns how many. */
size_t sm_table_load(struct sm_table *table, const struct sm_saved *saved, size_t count,
		     const struct detect_time *now);
