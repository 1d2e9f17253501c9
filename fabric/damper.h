// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// RFC 2439's exponentially decaying penalty, with a threshold to suppress and one to reuse.
#pragma once

/*
 * Each event adds its weight to a penalty that halves every half-life: P ← P·2^(−Δt/H) + weight. At
 * `suppress` or more the damper trips; it lets go when the penalty has decayed below `reuse`. The
 * penalty never exceeds the ceiling, reuse·2^(hold/H) (RFC 2439 4.2), so a damper that gets no more
 * events lets go after `hold_usec` at the latest, however bad it was.
 *
 * Time is monotonic and passed in; a time before the last one counts as that one. What is saved
 * carries realtime instead, since a monotonic clock starts anew with each boot: damper_load()
 * decays by the realtime that went by, and by nothing where the clock was set back.
 */

#include <stdbool.h>
#include <stdint.h>

struct damper_config {
	uint64_t half_life_usec; /* > 0 */
	double suppress;	 /* > reuse */
	double reuse;		 /* > 0 */
	uint64_t hold_usec;	 /* longest time from the last event until it lets go */
};

/* Fields are for the functions here; a zeroed one has had no event. */
struct damper {
	double penalty; /* as of `usec` */
	uint64_t usec;
	bool tripped;
};

struct damper_saved {
	double penalty; /* as of `realtime_usec` */
	uint64_t realtime_usec;
	bool tripped;
};

enum damper_change {
	DAMPER_SAME,
	DAMPER_TRIPPED,
	DAMPER_LET_GO,
};

/* Whether a damper with it can trip and let go: half-life > 0, 0 < reuse < suppress ≤ ceiling. */
bool damper_config_is_valid(const struct damper_config *config);

/* The highest penalty; at most 2^64·reuse, however long `hold_usec` is. */
double damper_ceiling(const struct damper_config *config);

/* The penalty at `now_usec`. */
double damper_penalty(const struct damper *damper, const struct damper_config *config,
		      uint64_t now_usec);

/* An event of `weight` ≥ 0. */
enum damper_change damper_add(struct damper *damper, const struct damper_config *config,
			      double weight, uint64_t now_usec);

/* An event that happened at `event_usec`, told only now: it counts as it has decayed since. */
enum damper_change damper_add_late(struct damper *damper, const struct damper_config *config,
				   double weight, uint64_t event_usec, uint64_t now_usec);

/* Time goes by: lets go when the penalty is below `reuse`. */
enum damper_change damper_update(struct damper *damper, const struct damper_config *config,
				 uint64_t now_usec);

/* When a tripped damper lets go if nothing happens any more; UINT64_MAX when it is not tripped. */
uint64_t damper_lets_go_at(const struct damper *damper, const struct damper_config *config);

/* Has no penalty worth keeping: not tripped, and below a thousandth of `reuse`. */
bool damper_is_idle(const struct damper *damper, const struct damper_config *config,
		    uint64_t now_usec);

void damper_save(const struct damper *damper, const struct damper_config *config, uint64_t now_usec,
		 uint64_t realtime_usec, struct damper_saved *ret);

/* Numbers that no damper saves (negative, not finite) make a fresh one. */
void damper_load(const struct damper_saved *saved, const struct damper_config *config,
		 uint64_t now_usec, uint64_t realtime_usec, struct damper *ret);
