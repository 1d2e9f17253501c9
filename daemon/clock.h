// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The two clocks in microseconds: the only place where ibsmd asks what time it is.
#pragma once

#include <stdint.h>
#include <time.h>

#define USEC_PER_SEC UINT64_C(1000000)
#define USEC_PER_MSEC UINT64_C(1000)
#define NSEC_PER_USEC UINT64_C(1000)

static inline uint64_t clock_usec(clockid_t id)
{
	struct timespec ts = {0};

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * USEC_PER_SEC + (uint64_t)ts.tv_nsec / NSEC_PER_USEC;
}

static inline uint64_t now_monotonic_usec(void)
{
	return clock_usec(CLOCK_MONOTONIC);
}

static inline uint64_t now_realtime_usec(void)
{
	return clock_usec(CLOCK_REALTIME);
}
