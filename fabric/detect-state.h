// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Findings that follow from the present state alone: is the plugin there, did the last sweep work.
#pragma once

#include "fabric.h"
#include "finding.h"
#include "story.h"

struct detect_state_input {
	uint64_t up_usec; /* since the daemon began to look */
	bool plugin_connected;
	uint64_t plugin_silent_usec; /* since it was last heard; not connected: since it left */
	uint64_t plugin_timeout_usec;
	const struct fabric *fabric; /* NULL: none yet */
	const struct story *ended;   /* the last sweep that has ended; NULL: none yet */
	const struct story *failed;  /* the last one that story_has_failed(); NULL: none */
	uint64_t failed_ago_usec;    /* since its end; not read where there is none */
	uint64_t failed_clear_usec;  /* so long none must have failed */
	uint64_t dropped;	     /* records, in all */
	uint64_t dropped_ago_usec;   /* since the last of them; not read where dropped is 0 */
	uint64_t drops_clear_usec;
};

/**
 * detect_state - what holds now
 * @ret: gets up to FINDING_KINDS findings, each kind once; evidence is borrowed from the input
 *
 * Returns how many. Pure; any thread.
 */
size_t detect_state(const struct detect_state_input *input,
		    struct finding ret[static FINDING_KINDS]);

/* The kinds of which the input says whether they hold: bits 1 << kind. Of the others nothing is
 * known, as after a start: alerts of before stay. */
unsigned int detect_state_judged(const struct detect_state_input *input);
