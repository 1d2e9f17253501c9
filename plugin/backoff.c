// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// When to try the next connection: at once after a good one, else ever later, with jitter.

#include "backoff.h"

void backoff_init(struct backoff *backoff, uint64_t seed)
{
	backoff->delay_nsec = 0;
	backoff->random = seed ? seed : 1;
}

/* xorshift64 (Marsaglia 2003). */
static uint64_t next_random(struct backoff *backoff)
{
	uint64_t x = backoff->random;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	backoff->random = x;
	return x;
}

uint64_t backoff_failed(struct backoff *backoff)
{
	uint64_t delay = backoff->delay_nsec ? backoff->delay_nsec * 2 : BACKOFF_FIRST_NSEC;

	if (delay > BACKOFF_LAST_NSEC)
		delay = BACKOFF_LAST_NSEC;
	backoff->delay_nsec = delay;
	return delay / 4 * 3 + next_random(backoff) % (delay / 2 + 1);
}

uint64_t backoff_lost(struct backoff *backoff, uint64_t lived_nsec)
{
	if (lived_nsec < BACKOFF_GOOD_NSEC)
		return backoff_failed(backoff);
	backoff->delay_nsec = 0;
	return 0;
}
