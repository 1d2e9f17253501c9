// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The detectors on sweeps and traps: too many, stuck, slow, a chatty sender, a node that is silent.
#pragma once

/*
 * One object is fed the stories of the followed plugin's sweeps, the traps, the fabrics and the
 * links that change, and reports what holds into an alert set. It keeps the statistics of sweeps
 * and traps. Time comes with each input, and DETECT_SWEEP_TICK lets it go by (once a second is
 * enough).
 *
 * That the last sweep failed, that the routing engine fell back and that an LFT was not
 * acknowledged follow from the present state alone: detect-state.h.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "alert-set.h"
#include "damper.h"
#include "detect-time.h"
#include "node-watch.h"
#include "story.h"
#include "sweep-stats.h"
#include "trap-stats.h"

struct detect_sweep_config {
	/* sweep-storm: heavy sweeps, each counts 1 and half of it is gone after 5 min. Ten at once
	 * trip it, or one each 45 s for long; a cable that is replaced makes four, a switch that
	 * boots some. Retries after errors, and sweeps that are heavy since force_heavy_sweep is
	 * set, do not count: sweep-failed and sm-config tell of those. */
	struct damper_config storm;

	/* sweep-stuck: running for so many times the usual, and for so long at least; or, as long
	 * as fewer than `usual_min` sweeps say what is usual, for the second time. It clears when
	 * no sweep was stuck for the third. */
	unsigned int stuck_factor;
	uint64_t stuck_min_usec;
	uint64_t stuck_unknown_usec;
	uint64_t stuck_clear_usec;

	/* sweep-slow: longer than median + slow_deviations · 1.4826 · MAD (1.4826 · MAD is the
	 * standard deviation, where durations are normal), than slow_factor · median, and than
	 * slow_min_usec, all of the last `usual_window` sweeps; so many in a row; and as many in a
	 * row below clear it, as does a time without any. */
	size_t usual_window;
	size_t usual_min;
	double slow_deviations;
	double slow_factor;
	uint64_t slow_min_usec;
	unsigned int slow_sweeps;
	uint64_t slow_clear_usec;

	/* trap-flood: a sender's traps, each counts 1 and half of it is gone after a minute. Eight
	 * at once trip it, or one each 11.5 s for long. It must be below ten: of identical traps
	 * that keep coming within 5 s of each other, opensm passes over the 10th and all further
	 * ones (osm_trap_rcv.c), so that no plugin hears of them. */
	struct damper_config flood;

	/* node-unresponsive: in each snapshot for so long. */
	uint64_t unresponsive_usec;
};

/* The defaults that the comments above give. */
void detect_sweep_config_init(struct detect_sweep_config *ret);

enum detect_sweep_input_type {
	DETECT_SWEEP_TICK,
	DETECT_SWEEP_STORY,	   /* story: opened, or ended (steps between need not be told) */
	DETECT_SWEEP_LOST,	   /* the plugin is gone: whether a sweep runs is no longer known */
	DETECT_SWEEP_TRAP,	   /* trap */
	DETECT_SWEEP_FABRIC,	   /* fabric: a reference of its own is taken */
	DETECT_SWEEP_LINK_CHANGED, /* link: a cable's end came or went; tell both */
};

struct detect_sweep_input {
	enum detect_sweep_input_type type;
	struct detect_time now;
	union {
		const struct story *story;
		struct trap_sample trap;
		struct fabric *fabric;
		struct {
			uint64_t node_guid;
			uint8_t port;
		} link;
	};
};

struct detect_sweep;

/**
 * detect_sweep_new - @config is copied; @alerts stays the caller's and must outlive it
 *
 * Returns 0; -EINVAL: a damper that could never trip; -ENOMEM.
 */
int detect_sweep_new(const struct detect_sweep_config *config, struct alert_set *alerts,
		     struct detect_sweep **ret);

/* Accepts NULL, returns NULL. */
struct detect_sweep *detect_sweep_free(struct detect_sweep *detect);
DEFINE_CLEANUP(struct detect_sweep *, detect_sweep_free);

/* Other limits, from now on. Returns 0; -EINVAL. */
int detect_sweep_configure(struct detect_sweep *detect, const struct detect_sweep_config *config);

void detect_sweep_input(struct detect_sweep *detect, const struct detect_sweep_input *input);

/* What is known; the detector's, valid until the next input. */
const struct sweep_stats *detect_sweep_stats(const struct detect_sweep *detect);
const struct trap_stats *detect_sweep_traps(const struct detect_sweep *detect);
const struct node_watch *detect_sweep_nodes(const struct detect_sweep *detect);

/* What outlives a restart, beside the alerts and the statistics (sweep_stats_get() and `total`,
 * trap_stats_save()). */
struct detect_sweep_saved {
	struct damper_saved storm;
	uint32_t slow_run; /* consecutive slow sweeps, and others */
	uint32_t usual_run;
	uint64_t slow_realtime_usec; /* of the last slow one */
};

void detect_sweep_save(const struct detect_sweep *detect, const struct detect_time *now,
		       struct detect_sweep_saved *ret);

/* Go on from what was saved, before the first input. @traps: as trap_stats_save() made it; NULL:
 * none. Returns how many samples were left out. */
size_t detect_sweep_load(struct detect_sweep *detect, const struct detect_sweep_saved *saved,
			 const struct sweep_sample *samples, size_t count,
			 const uint64_t total[static STORY_RESULTS], const struct trap_stats *traps,
			 const struct detect_time *now);
