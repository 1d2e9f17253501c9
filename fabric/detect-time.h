// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The two times that a detector is given with each input: one to measure with, one to show.
#pragma once

#include <stdint.h>

/* CLOCK_MONOTONIC for intervals, CLOCK_REALTIME for people and for what outlives a boot; read by
 * the caller at the same moment. */
struct detect_time {
	uint64_t monotonic_usec;
	uint64_t realtime_usec;
};

#define DETECT_USEC_PER_SEC UINT64_C(1000000)
#define DETECT_USEC_PER_MINUTE (60 * DETECT_USEC_PER_SEC)
#define DETECT_USEC_PER_HOUR (60 * DETECT_USEC_PER_MINUTE)

/* How long ago `then_usec` was; 0 for a time to come. */
static inline uint64_t detect_age_usec(const struct detect_time *now, uint64_t then_usec)
{
	return now->monotonic_usec > then_usec ? now->monotonic_usec - then_usec : 0;
}

/* A realtime that was saved, as monotonic time of now; 0, the oldest, for one before this boot. */
static inline uint64_t detect_from_realtime(const struct detect_time *now, uint64_t realtime_usec)
{
	uint64_t age = now->realtime_usec > realtime_usec ? now->realtime_usec - realtime_usec : 0;

	return now->monotonic_usec > age ? now->monotonic_usec - age : 0;
}
