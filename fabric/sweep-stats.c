// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Statistics of sweeps over a window: how many, how often, how long in each phase, why, with what
// end.
#include "sweep-stats.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Nearest rank, of a sorted array that is not empty. */
static uint64_t quantile(const uint64_t *sorted, size_t count, unsigned int percent)
{
	size_t rank = (count * percent + 99) / 100;

	return sorted[rank > 0 ? rank - 1 : 0];
}

static void quantiles(uint64_t *values, size_t count, struct sweep_quantiles *ret)
{
	*ret = (struct sweep_quantiles){.samples = count};
	if (count == 0)
		return;
	qsort(values, count, sizeof(*values), compare);
	ret->min_usec = values[0];
	ret->median_usec = quantile(values, count, 50);
	ret->p95_usec = quantile(values, count, 95);
	ret->max_usec = values[count - 1];
}

void sweep_sample_from_story(const struct story *story, struct sweep_sample *ret)
{
	*ret = (struct sweep_sample){
		.number = story->number,
		.start_realtime_usec = story->start_realtime_usec,
		.duration_usec = SWEEP_DURATION_UNKNOWN,
		.lft_blocks =
			story->lft_blocks < UINT32_MAX ? (uint32_t)story->lft_blocks : UINT32_MAX,
		.mads_sent = story->mads_known ? story->mads_sent : 0,
		.type = story->type,
		.result = story->result,
		.cause = story->cause.kind,
	};
	if (story->start_seen && story->end_monotonic_usec >= story->start_monotonic_usec)
		ret->duration_usec = story->end_monotonic_usec - story->start_monotonic_usec;
	for (size_t i = 0; i < STORY_PHASES; i++) {
		const struct story_phase_times *phase = &story->phases[i];

		ret->phase_usec[i] =
			phase->start_monotonic_usec != 0 &&
					phase->end_monotonic_usec >= phase->start_monotonic_usec
				? phase->end_monotonic_usec - phase->start_monotonic_usec
				: SWEEP_DURATION_UNKNOWN;
	}
}

static void append(struct sweep_stats *stats, const struct sweep_sample *sample)
{
	if (stats->count == SWEEP_STATS_MAX) {
		stats->first = (stats->first + 1) % SWEEP_STATS_MAX;
		stats->count--;
		stats->forgotten++;
	}
	stats->samples[(stats->first + stats->count++) % SWEEP_STATS_MAX] = *sample;
}

void sweep_stats_add(struct sweep_stats *stats, const struct sweep_sample *sample)
{
	append(stats, sample);
	stats->total[sample->result]++;
}

const struct sweep_sample *sweep_stats_get(const struct sweep_stats *stats, size_t index)
{
	return &stats->samples[(stats->first + index) % SWEEP_STATS_MAX];
}

static bool came_up(const struct sweep_sample *sample)
{
	return sample->type == STORY_HEAVY &&
	       (sample->result == STORY_UP || sample->result == STORY_UP_WITH_ERRORS);
}

bool sweep_sample_is_usual(const struct sweep_sample *sample)
{
	return sample->type == STORY_HEAVY && sample->result == STORY_UP &&
	       sample->duration_usec != SWEEP_DURATION_UNKNOWN &&
	       sample->cause != STORY_CAUSE_BECAME_MASTER &&
	       sample->cause != STORY_CAUSE_LEFT_STANDBY;
}

/* The durations of sweeps that came up since `since_usec`: the whole, or one phase. */
static void duration_quantiles(const struct sweep_stats *stats, uint64_t since_usec, int phase,
			       struct sweep_quantiles *ret)
{
	uint64_t values[SWEEP_STATS_MAX];
	size_t n = 0;

	for (size_t i = 0; i < stats->count; i++) {
		const struct sweep_sample *sample = sweep_stats_get(stats, i);
		uint64_t value = phase < 0 ? sample->duration_usec : sample->phase_usec[phase];

		if (sample->start_realtime_usec >= since_usec && came_up(sample) &&
		    value != SWEEP_DURATION_UNKNOWN)
			values[n++] = value;
	}
	quantiles(values, n, ret);
}

void sweep_stats_summary(const struct sweep_stats *stats, uint64_t window_usec,
			 const struct detect_time *now, struct sweep_summary *ret)
{
	uint64_t since = now->realtime_usec > window_usec ? now->realtime_usec - window_usec : 0;

	/* Where samples had to make room, nothing is known of the time before the oldest one. */
	if (stats->forgotten > 0 && sweep_stats_get(stats, 0)->start_realtime_usec > since)
		since = sweep_stats_get(stats, 0)->start_realtime_usec;
	*ret = (struct sweep_summary){
		.window_usec = now->realtime_usec > since ? now->realtime_usec - since : 0,
	};
	for (size_t i = 0; i < stats->count; i++) {
		const struct sweep_sample *sample = sweep_stats_get(stats, i);

		if (sample->start_realtime_usec < since)
			continue;
		ret->count++;
		if (sample->type == STORY_HEAVY)
			ret->heavy++;
		else
			ret->reroutes++;
		ret->by_result[sample->result]++;
		ret->by_cause[sample->cause]++;
		ret->lft_blocks += sample->lft_blocks;
	}
	if (ret->window_usec > 0)
		ret->heavy_per_hour = (double)ret->heavy * (double)DETECT_USEC_PER_HOUR /
				      (double)ret->window_usec;
	duration_quantiles(stats, since, -1, &ret->total);
	for (int i = 0; i < STORY_PHASES; i++)
		duration_quantiles(stats, since, i, &ret->phases[i]);
}

size_t sweep_stats_usual(const struct sweep_stats *stats, size_t max, uint64_t *ret_median_usec,
			 uint64_t *ret_mad_usec)
{
	uint64_t values[SWEEP_STATS_MAX];
	uint64_t median;
	size_t n = 0;

	for (size_t i = stats->count; i > 0 && n < max; i--) {
		const struct sweep_sample *sample = sweep_stats_get(stats, i - 1);

		if (sweep_sample_is_usual(sample))
			values[n++] = sample->duration_usec;
	}
	if (n == 0)
		return 0;
	qsort(values, n, sizeof(*values), compare);
	median = quantile(values, n, 50);
	for (size_t i = 0; i < n; i++)
		values[i] = values[i] > median ? values[i] - median : median - values[i];
	qsort(values, n, sizeof(*values), compare);
	*ret_median_usec = median;
	*ret_mad_usec = quantile(values, n, 50);
	return n;
}

size_t sweep_stats_load(struct sweep_stats *stats, const struct sweep_sample *samples, size_t count,
			const uint64_t total[static STORY_RESULTS], const struct detect_time *now)
{
	size_t left_out = 0;

	*stats = (struct sweep_stats){0};
	for (size_t i = 0; i < count; i++) {
		const struct sweep_sample *sample = &samples[i];

		if ((unsigned int)sample->type > STORY_REROUTE ||
		    (unsigned int)sample->result >= STORY_RESULTS ||
		    (unsigned int)sample->cause >= STORY_CAUSE_KINDS ||
		    sample->start_realtime_usec > now->realtime_usec) {
			left_out++;
			continue;
		}
		append(stats, sample);
	}
	for (size_t i = 0; i < STORY_RESULTS; i++)
		stats->total[i] = total[i];
	return left_out;
}
