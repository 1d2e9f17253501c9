// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// When to try the next connection: at once after a good one, else ever later, with jitter.
#pragma once

#include <stdint.h>

#define BACKOFF_FIRST_NSEC (UINT64_C(100) * 1000 * 1000)
#define BACKOFF_LAST_NSEC (UINT64_C(5000) * 1000 * 1000)
#define BACKOFF_GOOD_NSEC (UINT64_C(250) * 1000 * 1000)

struct backoff {
	uint64_t delay_nsec; /* the next one, before jitter; 0: none was needed yet */
	uint64_t random;     /* state of the jitter's generator, not 0 */
};

/* `seed`: anything that differs between hosts and starts. */
void backoff_init(struct backoff *backoff, uint64_t seed);

/* No connection came about: nsec to wait before the next try, ±25 %. Pure. */
uint64_t backoff_failed(struct backoff *backoff);

/*
 * A connection ended after `lived_nsec`: nsec to wait. One that lived long enough was a daemon at
 * work, which is perhaps being restarted: 0. One that did not was refused, which counts as failed.
 */
uint64_t backoff_lost(struct backoff *backoff, uint64_t lived_nsec);
