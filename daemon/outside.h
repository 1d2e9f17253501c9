// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The outside view: has ibsm-probe ask the SMs over the fabric, and tells the detectors what came.
#pragma once

/*
 * Each PollSec= the local port is looked at (its PortInfo by direct route, which sends nothing into
 * the fabric); then the SM at its SM LID is asked, and each other LID at which an SM is known. One
 * query of a LID has an end before the next one is sent. A LID without an answer for as long as it
 * takes to be unresponsive is then asked at each 2nd, 4th, 8th, 16th poll; the SM LID at each.
 * While no master answers, the local port is looked at each second, and a new SM LID begins a poll.
 *
 * A port that is not active, or has no LID, asks nothing. Then, and whenever ibsm-probe is away or
 * finds no port, the outside view is lost: health_outside_lost(), once, and one line in the log.
 * What was not sent is no answer, and is told to nobody.
 *
 * Everything on the loop thread.
 */

#include <stdbool.h>
#include <stdint.h>

struct manager;
struct outside;

enum outside_state {
	OUTSIDE_OFF,	  /* Enabled=no */
	OUTSIDE_AWAY,	  /* ibsm-probe does not run */
	OUTSIDE_STARTING, /* it was started, and has not said a word */
	OUTSIDE_NO_PORT,  /* it finds no port to ask from */
	OUTSIDE_INACTIVE, /* the port is not active, or has no LID; or it was not looked at yet */
	OUTSIDE_ASKING,
};

/* "off", "away", "starting", "no-port", "inactive", "asking": part of the API. */
const char *outside_state_name(enum outside_state state);

struct outside_status {
	enum outside_state state;
	char why[160]; /* why not OUTSIDE_ASKING, for people; printable; may be empty */

	/* The port that ibsm-probe has chosen; "" and 0 without one. */
	char port[64]; /* "mlx5_0/1", printable */
	uint64_t port_guid;
	bool from_sysfs;	       /* lid and sm_lid are sysfs's: the port did not answer */
	uint16_t lid, sm_lid;	       /* as it was last looked at; 0 not known */
	bool master_answers;	       /* the last query of sm_lid found a master */
	char version[64];	       /* ibsm-probe's, printable; "" not known */
	uint32_t pid;		       /* 0 not known */
	uint64_t starts;	       /* of ibsm-probe */
	uint64_t polls;		       /* since the start of ibsmd, as are the next two */
	uint64_t queries;	       /* SMInfo: those that were sent and have ended */
	uint64_t answers;	       /* of those */
	uint64_t polled_realtime_usec; /* 0 never */
};

/*
 * Begin, as manager->conf.probe says; manager->health has started and ends later. Returns 0 or a
 * negative errno (not logged). That ibsm-probe cannot be started is no failure.
 */
int outside_new(struct manager *manager, struct outside **ret);

/* Ends ibsm-probe, which may take a second. Tells nothing to health. Accepts NULL, returns NULL. */
struct outside *outside_free(struct outside *outside);

/* manager->conf is another one. Starts another ibsm-probe only where it must. */
void outside_reload(struct outside *outside);

void outside_status(const struct outside *outside, struct outside_status *ret);
