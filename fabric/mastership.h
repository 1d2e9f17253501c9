// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The history of who was master: who, from, to, when and why; bounded, and kept over restarts.
#pragma once

/*
 * One entry is one change of the master. Why it happened is often told only later (does the old
 * master still answer, and as what?): mastership_refine() completes the newest entry.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "detect-time.h"

/* Entries kept; the oldest makes room, and is counted. */
#define MASTERSHIP_MAX 256
#define SM_NAME_BYTES 96 /* a node's name, cut between characters */

enum mastership_reason {
	MASTERSHIP_UNKNOWN,  /* not told yet, or never */
	MASTERSHIP_FIRST,    /* the first master seen: not a change */
	MASTERSHIP_FAILOVER, /* the old master died, or could not be reached */
	MASTERSHIP_HANDOVER, /* the old one lives on, and its priority is not the lower one */
	MASTERSHIP_PRIORITY, /* the old one lives on, and gave way to a higher priority */
	MASTERSHIP_RESTART,  /* the same SM is master again after it had gone */
	MASTERSHIP_REASONS,
};

/* "unknown", "first", "failover", "handover", "priority", "restart"; NULL out of range. */
const char *mastership_reason_name(enum mastership_reason reason);

/* The reason with this name, or -EINVAL. */
int mastership_reason_from_name(const char *name);

struct mastership_entry {
	uint64_t number; /* 1, 2, 3… over restarts, too */
	uint64_t from;	 /* port GUID; 0: none before */
	uint64_t to;
	uint64_t realtime_usec;
	uint64_t gap_usec; /* from when the old one was last known as master */
	enum mastership_reason reason;
	uint8_t from_priority;
	uint8_t to_priority;
	char from_name[SM_NAME_BYTES]; /* printable; "" where not known */
	char to_name[SM_NAME_BYTES];
};

/* Zeroed: an empty history. Saved and loaded as it is: `entries` in order of `number`. */
struct mastership {
	struct mastership_entry entries[MASTERSHIP_MAX];
	size_t count;
	uint64_t next;	    /* number of the next entry less 1: how many there ever were */
	uint64_t forgotten; /* entries that made room */
};

/* Append an entry; its `number` is given here. Returns it; valid until the next append. */
struct mastership_entry *mastership_append(struct mastership *history,
					   const struct mastership_entry *entry);

/* The newest entry, or NULL. */
struct mastership_entry *mastership_last(struct mastership *history);

/* Entries since a realtime, `reason` first excepted. */
size_t mastership_since(const struct mastership *history, uint64_t realtime_usec);

/**
 * mastership_load - take up saved entries
 * @entries: in order; those that no history has (numbers that do not rise, an unknown reason, no
 *           SM) are left out. Strings are cut where they lack a NUL
 * @count:   any number; the newest are kept
 *
 * Returns how many were left out.
 */
size_t mastership_load(struct mastership *history, const struct mastership_entry *entries,
		       size_t count);

/* Copy a printable name, cut between UTF-8 characters. NULL is "". */
void sm_name_copy(char name[static SM_NAME_BYTES], const char *from);
