// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Finds what does not answer opensm although its link is up: the usual cause of slow sweeps.
#pragma once

/*
 * opensm tells nobody which MADs timed out. What shows is the consequence: a port whose link is up
 * (physical state LinkUp, logical state beyond Down) and at whose other end opensm found nobody, or
 * a node that it still lists but did not reach in its last sweep. The name of who was there comes
 * from the fabric before.
 *
 * What cannot be seen so: a node that answers discovery and no longer answers later (its switch's
 * lft-mismatch, or sweep-failed, tells of it), a node behind one that is not discovered, one whose
 * host is dead but whose adapter answers. An SM that does not answer is sm-unresponsive.
 *
 * A link that comes up while opensm sweeps looks the same until the next sweep: so a suspect counts
 * when it has been one for some time, in each snapshot since.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "detect-time.h"
#include "fabric.h"
#include "mastership.h"

#define NODE_SUSPECTS_MAX 256

struct node_suspect {
	/* The live port that leads to it; or, port 0, the node itself that was not reached. */
	uint64_t node_guid;
	uint8_t port;
	char name[SM_NAME_BYTES]; /* of node_guid */

	/* Who was there, in the fabric before; 0 and "": not known. */
	uint64_t was_guid;
	char was_name[SM_NAME_BYTES];

	uint64_t since_usec; /* monotonic */
	uint64_t since_realtime_usec;
	uint32_t snapshots; /* consecutive ones, this one included */
	bool fresh;	    /* in the last snapshot */
};

/* Zeroed: empty; node_watch_clear() lets go of the fabric. */
struct node_watch {
	struct node_suspect suspects[NODE_SUSPECTS_MAX];
	size_t count;
	uint64_t left_out; /* in the last snapshot */
	struct fabric *before;
};

/* The next fabric; a reference to it is kept until the one after. Linear in its ports. */
void node_watch_fabric(struct node_watch *watch, struct fabric *fabric,
		       const struct detect_time *now);

void node_watch_clear(struct node_watch *watch);
