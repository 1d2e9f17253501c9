// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The detectors on subnet managers: who is master, does it answer, does it work, who else is there.
#pragma once

/*
 * One object is fed everything that tells of SMs, and reports what holds into an alert set. It
 * keeps the table of SMs, the history of masters, and the penalties. It reads no clock: time comes
 * with each input, and DETECT_SM_TICK lets it go by (once a second is enough).
 *
 * Who is master. An SM claims to be master if the freshest view of it says so: its own plugin while
 * that is connected, else its last answer to a query; one that no view reaches, if a standby's
 * plugin says that it follows it. The master stays the master until another SM claims it while it
 * no longer does: so a lost answer alone changes nothing, and two that both claim it are a finding
 * of their own, not a change. What a snapshot says of other SMs is as old as that opensm's last
 * sweep, and makes no master.
 *
 * Why it changed is told from the old master: it still answers, and is no longer master (handover;
 * or priority, if the new one's is higher), or it does not answer or has started anew (failover).
 * This is completed for a while after the change, as answers come.
 *
 * Restarts. One opensm starting anew is seen by another instance of its plugin, or by an ActCount
 * that fell; both are one restart. It counts when `restart_settle_usec` have passed without a
 * change of the master that explains it: an SM that failed over, and comes back, adds nothing more.
 *
 * Thresholds. Everything that polls can get wrong once is raised after several consecutive polls,
 * and cleared after several others; everything else has a time to hold, or is a fact of
 * configuration. What cannot be known (no query was sent, no plugin is there) leaves alerts as they
 * are.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "alert-set.h"
#include "damper.h"
#include "detect-time.h"
#include "fabric.h"
#include "mastership.h"
#include "sm-config.h"
#include "sm-placement.h"
#include "sm-table.h"

#define SM_EXPECTED_MAX 64

struct detect_sm_config {
	/* sm-flapping. RFC 2439 with the routers' usual numbers: 1000 an event, half-life 15 min,
	 * reuse at 750, an hour at most. Routers suppress at 2000 (Cisco) or 3000 (Junos); here it
	 * is 2500: a planned fail-over and fail-back is two events, however close, and must stay
	 * below with what an earlier one has left; three within some minutes must not. */
	struct damper_config flap;
	double change_weight;
	double restart_weight;
	/* Default opensm takes over after 40 s (10 s × 4): a change that a death causes is seen by
	 * then. */
	uint64_t restart_settle_usec;

	/* sm-master-changed stays so long after the last change: somebody looks within the hour. */
	uint64_t master_changed_usec;

	/* sm-lost: one query may get lost, two in a row hardly. */
	uint32_t lost_polls;
	uint32_t found_polls;

	/* sm-unresponsive: one more than it takes for the master, since less hangs on it. */
	uint32_t unresponsive_polls;
	uint32_t responsive_polls;

	/* sm-multiple-masters: in a handover two claim it for the time of one exchange; each must
	 * have repeated it. */
	uint32_t masters_polls;

	/* sm-views-disagree: the plugin's state is up to half a second old, and a state may change
	 * between the two; thrice it does not. */
	uint32_t disagree_polls;

	/* sm-hung: so many sweep intervals without a MAD of its own, and so long at least.
	 * (opensm 3.3.23: an answer raises ActCount by one, a light sweep by one a switch at
	 * least.) Who else asks, such as a standby that polls, hides it. */
	uint32_t hung_sweeps;
	uint64_t hung_min_usec;

	/* sm-no-standby: a restart of the standby's host takes minutes. */
	uint64_t no_standby_usec;

	/* sm-not-highest: opensm hands over at the heavy sweep after the light one that saw the
	 * higher SM; this long, and three sweep intervals at least. */
	uint64_t not_highest_usec;

	/* An SM without a sign of life counts as there for so long (equal priority, unexpected),
	 * and is remembered for so long. */
	uint64_t gone_usec;
	uint64_t forget_usec;

	/* sm-unexpected: GUIDs (port or node) that may run an SM; none given: at most so many SMs,
	 * and none on a switch while a host runs one. "No more than two subnet managers are
	 * recommended for any single fabric": NVIDIA's switch manuals, "Software Management". */
	uint64_t expected[SM_EXPECTED_MAX];
	size_t expected_count;
	uint32_t max_sms;

	/* sm-placement: an SM's own link that goes down thrice within some minutes. */
	struct damper_config link;
};

/* The defaults that the comments above give. */
void detect_sm_config_init(struct detect_sm_config *ret);

enum detect_sm_input_type {
	DETECT_SM_TICK,
	DETECT_SM_SELF,		/* self: HELLO, SM_STATE, HEARTBEAT, any sweep record */
	DETECT_SM_SELF_GONE,	/* port_guid: that SM's plugin is no longer connected, or silent */
	DETECT_SM_REPLY,	/* reply */
	DETECT_SM_OUTSIDE_LOST, /* the probe is gone: nothing is asked */
	DETECT_SM_FABRIC,	/* fabric, placement, options */
	DETECT_SM_LINK_DOWN,	/* link: a cable's end went down */
};

struct detect_sm_input {
	enum detect_sm_input_type type;
	struct detect_time now;
	union {
		struct sm_self self;
		uint64_t port_guid;
		struct sm_reply reply;
		struct {
			const struct fabric *fabric; /* not kept */
			/* Found by a worker; copied. NULL: what was found last still holds. */
			const struct sm_placement *placement;
			const struct sm_config_result *options;
			size_t option_count;
		} fabric;
		struct {
			uint64_t node_guid;
			uint8_t port;
		} link;
	};
};

struct detect_sm;

/**
 * detect_sm_new - @config is copied; @alerts stays the caller's and must outlive it
 *
 * Returns 0; -EINVAL: a damper that could never trip; -ENOMEM.
 */
int detect_sm_new(const struct detect_sm_config *config, struct alert_set *alerts,
		  const struct detect_time *now, struct detect_sm **ret);

/* Accepts NULL, returns NULL. */
struct detect_sm *detect_sm_free(struct detect_sm *detect);
DEFINE_CLEANUP(struct detect_sm *, detect_sm_free);

/* Other limits, from now on. Returns 0; -EINVAL. */
int detect_sm_configure(struct detect_sm *detect, const struct detect_sm_config *config);

void detect_sm_input(struct detect_sm *detect, const struct detect_sm_input *input);

/* This host's port GUIDs: see sm_table_set_local(). */
void detect_sm_set_local(struct detect_sm *detect, const uint64_t *port_guids, size_t count);

/* What is known; the detector's, valid until the next input. */
const struct sm_table *detect_sm_table(const struct detect_sm *detect);
const struct mastership *detect_sm_history(const struct detect_sm *detect);
const struct sm_placement *detect_sm_placement(const struct detect_sm *detect); /* NULL: none yet */
const struct sm_config_result *detect_sm_options(const struct detect_sm *detect, size_t *ret_count);

/* Port GUID of the master, or of the last one that was; 0: none yet. */
uint64_t detect_sm_master(const struct detect_sm *detect);

/* Whether it claims to be master now. */
bool detect_sm_has_master(const struct detect_sm *detect);

/* The penalty of changes of the master. */
double detect_sm_penalty(const struct detect_sm *detect, const struct detect_time *now);

/* What outlives a restart, beside the alerts and the history (detect_sm_history(), as it is). */
struct detect_sm_saved {
	uint64_t master;
	uint64_t master_realtime_usec; /* when it was last known to be master */
	struct damper_saved flap;
	size_t count;
	struct detect_sm_saved_one {
		struct sm_saved sm;
		uint64_t restarts;
		struct damper_saved flap;
		struct damper_saved link;
	} sms[SM_TABLE_MAX];
};

void detect_sm_save(const struct detect_sm *detect, const struct detect_time *now,
		    struct detect_sm_saved *ret);

/**
 * detect_sm_load - go on from what was saved, before the first input
 * @history: entries as detect_sm_history() had them
 *
 * What cannot be (times to come, numbers out of range) is left out. Returns how many things were.
 */
size_t detect_sm_load(struct detect_sm *detect, const struct detect_sm_saved *saved,
		      const struct mastership_entry *history, size_t history_count,
		      const struct detect_time *now);
