// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Statistics of sweeps over a window: how many, how often, how long in each phase, why, with what
// end.
#pragma once

/*
 * The last SWEEP_STATS_MAX sweeps are kept as small samples, and everything else is computed from
 * those that began within the window: exact quantiles, no estimates. The window is one of realtime,
 * since samples outlive a boot. Quantiles are nearest-rank:
 * the smallest value that at least that share of the samples does not exceed.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "detect-time.h"
#include "story.h"

#define SWEEP_STATS_MAX 1024

#define SWEEP_DURATION_UNKNOWN UINT64_MAX

struct sweep_sample {
	uint64_t number;
	uint64_t start_realtime_usec;
	uint64_t duration_usec;		   /* SWEEP_DURATION_UNKNOWN: its start was not seen */
	uint64_t phase_usec[STORY_PHASES]; /* SWEEP_DURATION_UNKNOWN: not reached or not seen */
	uint32_t lft_blocks;
	uint32_t mads_sent; /* 0: not known */
	enum story_type type;
	enum story_result result;
	enum story_cause_kind cause;
};

/* Zeroed: empty. */
struct sweep_stats {
	struct sweep_sample samples[SWEEP_STATS_MAX]; /* a ring */
	size_t first;
	size_t count;
	uint64_t total[STORY_RESULTS]; /* since ever, over restarts */
	uint64_t forgotten;	       /* samples that made room */
};

/* A sample from a story that has ended. */
void sweep_sample_from_story(const struct story *story, struct sweep_sample *ret);

void sweep_stats_add(struct sweep_stats *stats, const struct sweep_sample *sample);

/* Oldest first; `index` < count. */
const struct sweep_sample *sweep_stats_get(const struct sweep_stats *stats, size_t index);

struct sweep_quantiles {
	size_t samples; /* 0: the rest says nothing */
	uint64_t min_usec;
	uint64_t median_usec;
	uint64_t p95_usec;
	uint64_t max_usec;
};

struct sweep_summary {
	uint64_t window_usec; /* as asked for, or shorter: since the oldest sample kept */
	size_t count;	      /* sweeps that began in it, of both types */
	size_t heavy;
	size_t reroutes;
	double heavy_per_hour; /* over the window */
	size_t by_result[STORY_RESULTS];
	size_t by_cause[STORY_CAUSE_KINDS];
	struct sweep_quantiles total;		     /* heavy sweeps that came up */
	struct sweep_quantiles phases[STORY_PHASES]; /* of those */
	uint64_t lft_blocks;
};

/* Of the sweeps that began in the last `window_usec`. */
void sweep_stats_summary(const struct sweep_stats *stats, uint64_t window_usec,
			 const struct detect_time *now, struct sweep_summary *ret);

/* What a usual heavy sweep takes: median, and median absolute deviation, of the last `max` samples
 * for which sweep_sample_is_usual() holds. Returns how many there were; 0: nothing is filled in. */
size_t sweep_stats_usual(const struct sweep_stats *stats, size_t max, uint64_t *ret_median_usec,
			 uint64_t *ret_mad_usec);

/* A heavy sweep that came up without errors, with its duration known, and that did not have to set
 * up the whole fabric (as the first one of a new master has). */
bool sweep_sample_is_usual(const struct sweep_sample *sample);

/**
 * sweep_stats_load - put back saved samples
 * @samples: oldest first. Those of a time to come, and with values out of range, are left out
 *
 * Returns how many were left out.
 */
size_t sweep_stats_load(struct sweep_stats *stats, const struct sweep_sample *samples, size_t count,
			const uint64_t total[static STORY_RESULTS], const struct detect_time *now);
