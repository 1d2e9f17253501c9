// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What changed between two fabrics, as typed changes that outlive both.
#pragma once

/*
 * Nodes are matched by node GUID, links by both ends (node GUID, port number), SMs by port GUID,
 * groups by MGID, partitions by P_Key, options by name. Time is linear in the tables, plus the
 * bytes of the LFTs; a table that both snapshots share is skipped.
 *
 * One fact, one change: a cable is reported once, not from both ends; a port's state is not
 * reported where its link came or went; what happens to a link because its node came or went has
 * the flag FABRIC_CHANGE_WITH_NODE, and stands behind everything else, so that a lost switch reads
 * as one line with forty details and not as forty lines.
 *
 * A list is ordered: by FABRIC_CHANGE_WITH_NODE, then by kind (as in the enum: what matters most
 * first), then by the order of the tables.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fabric.h"

enum fabric_change_kind {
	FABRIC_CHANGE_FIRST_SEEN, /* there was no earlier fabric; text: its counts */
	FABRIC_CHANGE_SM_APPEARED,
	FABRIC_CHANGE_SM_DISAPPEARED,
	FABRIC_CHANGE_SM_STATE,		      /* old, new: enum ibsm_sm_state */
	FABRIC_CHANGE_SM_PRIORITY,	      /* old, new */
	FABRIC_CHANGE_ENGINE_USED,	      /* old_text, new_text; NULL: none */
	FABRIC_CHANGE_ROUTING_FELL_BACK,      /* new_text: the engine in use */
	FABRIC_CHANGE_ROUTING_FALL_BACK_OVER, /* an engine that was asked for is in use again */
	FABRIC_CHANGE_NODE_REMOVED,	      /* count: its links */
	FABRIC_CHANGE_NODE_ADDED,	      /* count: its links */
	FABRIC_CHANGE_LINK_REMOVED,	      /* a, b */
	FABRIC_CHANGE_LINK_MOVED, /* a stayed, b is its new other end, c its former one */
	FABRIC_CHANGE_LINK_ADDED,
	FABRIC_CHANGE_LINK_WIDTH,   /* old, new: PortInfo codes; texts */
	FABRIC_CHANGE_LINK_SPEED,   /* old, new: enum speed; texts */
	FABRIC_CHANGE_PORT_STATE,   /* of a; old, new: PortInfo codes; b where it has a neighbour */
	FABRIC_CHANGE_LFT_MISMATCH, /* appeared, or grew or shrank; old, new: entries */
	FABRIC_CHANGE_LFT_MISMATCH_OVER, /* old: entries */
	FABRIC_CHANGE_LID,		 /* of a; old, new */
	FABRIC_CHANGE_LMC,
	FABRIC_CHANGE_NODE_RENAMED,	 /* old_text, new_text */
	FABRIC_CHANGE_PARTITION_REMOVED, /* subject: name; number: P_Key; old, new: members */
	FABRIC_CHANGE_PARTITION_ADDED,
	FABRIC_CHANGE_PARTITION_MEMBERS, /* count: joined and left */
	FABRIC_CHANGE_GROUP_REMOVED,	 /* subject: MGID; number: MLID; old, new: members */
	FABRIC_CHANGE_GROUP_ADDED,
	FABRIC_CHANGE_GROUP_MEMBERS, /* count: joined and left */
	FABRIC_CHANGE_OPTION,	     /* subject: its name; old_text, new_text */
	FABRIC_CHANGE_LFT,	     /* of a; new: 64-LID blocks that differ; count: entries */
	FABRIC_CHANGE_KINDS,	     /* how many */
};

enum fabric_severity {
	FABRIC_SEVERITY_INFO,
	FABRIC_SEVERITY_NOTICE,
	FABRIC_SEVERITY_WARNING,
};

enum fabric_change_flags {
	FABRIC_CHANGE_WITH_NODE = 1 << 0, /* its node came or went: a detail of that */
};

#define FABRIC_NO_PORT 0xffff

/* A node, or one port of it. name is NULL where the end is not there. */
struct fabric_end {
	uint64_t node_guid;
	uint64_t port_guid; /* 0: not known, or the node as a whole is meant */
	const char *name;   /* printable */
	uint16_t port;	    /* FABRIC_NO_PORT: the node as a whole */
	uint16_t lid;	    /* 0: none */
	uint8_t type;	    /* enum ibsm_node_type */
};

struct fabric_change {
	enum fabric_change_kind kind;
	uint32_t flags; /* enum fabric_change_flags */
	struct fabric_end a;
	struct fabric_end b;
	struct fabric_end c;
	uint64_t old;
	uint64_t new;
	uint64_t number;
	uint64_t count;
	const char *subject;  /* NULL or printable, as are the next two */
	const char *old_text; /* old and new value as text, for kinds that have them */
	const char *new_text;
};

struct fabric_changes {
	struct fabric_change *changes;
	size_t count;
	size_t by_kind[FABRIC_CHANGE_KINDS];
	uint64_t lft_blocks;		/* over all switches */
	uint64_t lft_switches;		/* with a block that differs */
	struct fabric_strings *strings; /* what the texts live in */
};

/**
 * fabric_diff - compare two fabrics
 * @old: NULL: there was none; then one FIRST_SEEN is reported, and the conditions that hold
 *       (ROUTING_FELL_BACK, LFT_MISMATCH), not each node
 * @ret: gets the changes, to be freed with fabric_changes_free()
 *
 * Returns 0; -ENOMEM. Reentrant.
 */
int fabric_diff(const struct fabric *old, const struct fabric *new, struct fabric_changes **ret);

/* Accepts NULL, returns NULL. */
struct fabric_changes *fabric_changes_free(struct fabric_changes *changes);
DEFINE_CLEANUP(struct fabric_changes *, fabric_changes_free);

/* A copy of the first `max` changes with strings of its own; the totals (by_kind, lft_*) are those
 * of the whole. Returns 0; -ENOMEM. */
int fabric_changes_copy(const struct fabric_changes *changes, size_t max,
			struct fabric_changes **ret);

/* Appends the first `max` changes of `from`, copied, and adds all of its totals. Returns 0;
 * -ENOMEM: some of them may have been appended. */
int fabric_changes_append(struct fabric_changes *to, const struct fabric_changes *from, size_t max);

/* Stable names: "node-added", "link-width" …; NULL out of range. Part of the API: never renamed. */
const char *fabric_change_kind_name(enum fabric_change_kind kind);

/* A change's class: losing something is a warning, gaining it a notice, the rest info; a width or
 * speed that fell is a warning, one that rose a notice. */
enum fabric_severity fabric_change_severity(const struct fabric_change *change);

/* "info", "notice", "warning". */
const char *fabric_severity_name(enum fabric_severity severity);

/**
 * fabric_change_text - one line for people, ends named, without a full stop
 * @buffer: gets it, cut to `size`, always NUL-terminated: "link leaf01[3] – spine02[7] is gone"
 *
 * Returns `buffer`.
 */
const char *fabric_change_text(const struct fabric_change *change, char *buffer, size_t size);
#define FABRIC_CHANGE_TEXT_BYTES 1024
