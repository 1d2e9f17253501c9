// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What detect-sm.c keeps and detect-sm-alerts.c judges.
#pragma once

#include "detect-sm.h"

/* What is watched of one SM, beside its row in the table. */
struct sm_watch {
	uint64_t guid;

	/* Its claim to be master. */
	bool claims;
	uint32_t confirms; /* times it was repeated since the last SM began to claim */
	uint32_t contrary; /* looks since that said otherwise, or nothing */
	bool in_multiple;  /* one of those in the alert */

	uint32_t disagree; /* consecutive */
	uint32_t agree;

	/* ActCount against our own queries, since `hung_usec`. */
	bool hung_base;
	uint32_t hung_act_count;
	uint32_t hung_answers;
	uint64_t hung_usec;
	enum { HUNG_UNKNOWN, HUNG_NO, HUNG_YES } hung;

	/* Restarts that may turn out to be part of a change, and one that is already. */
	uint32_t pending_self;
	uint32_t pending_outside;
	uint64_t pending_usec; /* of the first */
	uint64_t pending_realtime_usec;
	uint64_t excused_until_usec; /* 0: none; UINT64_MAX: whenever it comes */

	uint64_t restarts;
	uint64_t new_restarts; /* not reported yet */
	struct damper flap;
	struct damper link;

	uint64_t higher_usec; /* since when it waits with a higher priority; 0: it does not */
};

struct detect_sm {
	struct detect_sm_config config;
	struct alert_set *alerts;
	struct sm_table table;
	struct sm_watch watches[SM_TABLE_MAX];
	size_t watch_count;
	struct mastership history;
	uint64_t start_usec;

	uint64_t master; /* port GUID; 0: none yet */
	uint64_t master_usec;
	uint64_t master_realtime_usec;
	struct damper flap;
	uint64_t new_changes; /* not reported yet */
	bool changed;	      /* there was a change, the last one at change_realtime_usec */
	uint64_t change_realtime_usec;
	bool refining; /* its reason, since change_usec */
	uint64_t change_usec;
	uint32_t from_missed; /* queries that the former master left unanswered around the change */

	uint32_t lost_polls;
	uint32_t found_polls;
	int lost_status; /* why the last query had no answer */

	uint32_t lid_disagree; /* the master's LID leads to another than the one that claims it */
	uint32_t lid_agree;
	uint64_t lid_guid; /* to whom it led */

	uint64_t no_standby_usec; /* since when; 0: there is one, or it is not known */

	bool fabric_known;
	bool sweep_interval_known; /* of opensm `sweep_interval_guid` */
	uint64_t sweep_interval_sec;
	uint64_t sweep_interval_guid;

	bool placement_known;
	struct sm_placement placement;
	bool options_known;
	struct sm_config_result options[SM_CONFIG_CHECKS_MAX];
	size_t option_count;
};

struct sm_watch *detect_sm_watch(struct detect_sm *d, uint64_t guid);

/* Times of one kind, known or not. */
bool detect_sm_sweep_interval(const struct detect_sm *d, const struct sm_entry *sm,
			      uint64_t *ret_usec);

/* Bring all alerts up to date with the state. */
void detect_sm_judge(struct detect_sm *d, const struct detect_time *now);
void detect_sm_judge_options(struct detect_sm *d, const struct detect_time *now);
