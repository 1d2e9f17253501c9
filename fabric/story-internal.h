// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What story.c and story-teller.c share.
#pragma once

#include "lft-count.h"
#include "story.h"

struct story_private {
	struct lft_counts lft;
	struct fabric_strings *names; /* of senders */
	uint64_t since_usec;	      /* records from then … */
	uint64_t until_usec;	      /* … until then are its own; UINT64_MAX while it runs */
	uint64_t last_usec;	      /* of its last record */
	uint64_t last_realtime_usec;
	uint32_t start_mads_sent;
	uint32_t start_mads_received;
};

/* A story with one reference; NULL when there is no memory. */
struct story *story_new(void);

/* Adds a further cause, or folds it into one that it repeats (the main one included). Returns 0 or
 * -ENOMEM. */
int story_add_cause(struct story *story, const struct story_cause *cause);

/* Makes `cause` the main one, in place of one that named no trap. Returns 0 or -ENOMEM. */
int story_set_cause(struct story *story, const struct story_cause *cause);
