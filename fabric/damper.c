// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// RFC 2439's exponentially decaying penalty, with a threshold to suppress and one to reuse.
#include "damper.h"

#include <math.h>

/* After this many half-lives a penalty is nothing, and a hold time is for ever. */
#define HALF_LIVES_MAX 64

static double decay(double penalty, uint64_t age_usec, const struct damper_config *config)
{
	double half_lives = (double)age_usec / (double)config->half_life_usec;

	return half_lives >= HALF_LIVES_MAX ? 0 : penalty * exp2(-half_lives);
}

bool damper_config_is_valid(const struct damper_config *config)
{
	return config->half_life_usec > 0 && config->reuse > 0 &&
	       config->suppress > config->reuse && config->suppress <= damper_ceiling(config);
}

double damper_ceiling(const struct damper_config *config)
{
	double half_lives = (double)config->hold_usec / (double)config->half_life_usec;

	return config->reuse * exp2(fmin(half_lives, HALF_LIVES_MAX));
}

double damper_penalty(const struct damper *damper, const struct damper_config *config,
		      uint64_t now_usec)
{
	if (now_usec <= damper->usec)
		return damper->penalty;
	return decay(damper->penalty, now_usec - damper->usec, config);
}

/* Bring the penalty up to now. */
static void advance(struct damper *damper, const struct damper_config *config, uint64_t now_usec)
{
	damper->penalty = damper_penalty(damper, config, now_usec);
	if (now_usec > damper->usec)
		damper->usec = now_usec;
}

static enum damper_change judge(struct damper *damper, const struct damper_config *config)
{
	if (!damper->tripped && damper->penalty >= config->suppress) {
		damper->tripped = true;
		return DAMPER_TRIPPED;
	}
	if (damper->tripped && damper->penalty < config->reuse) {
		damper->tripped = false;
		return DAMPER_LET_GO;
	}
	return DAMPER_SAME;
}

enum damper_change damper_add(struct damper *damper, const struct damper_config *config,
			      double weight, uint64_t now_usec)
{
	advance(damper, config, now_usec);
	damper->penalty = fmin(damper->penalty + weight, damper_ceiling(config));
	return judge(damper, config);
}

enum damper_change damper_add_late(struct damper *damper, const struct damper_config *config,
				   double weight, uint64_t event_usec, uint64_t now_usec)
{
	if (event_usec < now_usec)
		weight = decay(weight, now_usec - event_usec, config);
	return damper_add(damper, config, weight, now_usec);
}

enum damper_change damper_update(struct damper *damper, const struct damper_config *config,
				 uint64_t now_usec)
{
	/* The penalty stays as it was set at its last event: it is not rounded at each look. */
	if (damper->tripped && damper_penalty(damper, config, now_usec) < config->reuse) {
		damper->tripped = false;
		return DAMPER_LET_GO;
	}
	return DAMPER_SAME;
}

uint64_t damper_lets_go_at(const struct damper *damper, const struct damper_config *config)
{
	double age;

	if (!damper->tripped)
		return UINT64_MAX;
	if (damper->penalty < config->reuse)
		return damper->usec;
	age = log2(damper->penalty / config->reuse) * (double)config->half_life_usec;
	return damper->usec + (uint64_t)age + 1;
}

bool damper_is_idle(const struct damper *damper, const struct damper_config *config,
		    uint64_t now_usec)
{
	return !damper->tripped && damper_penalty(damper, config, now_usec) < config->reuse / 1000;
}

void damper_save(const struct damper *damper, const struct damper_config *config, uint64_t now_usec,
		 uint64_t realtime_usec, struct damper_saved *ret)
{
	*ret = (struct damper_saved){
		.penalty = damper_penalty(damper, config, now_usec),
		.realtime_usec = realtime_usec,
		.tripped = damper->tripped,
	};
}

void damper_load(const struct damper_saved *saved, const struct damper_config *config,
		 uint64_t now_usec, uint64_t realtime_usec, struct damper *ret)
{
	double penalty = saved->penalty;

	*ret = (struct damper){.usec = now_usec};
	if (!isfinite(penalty) || penalty < 0)
		return;
	if (realtime_usec > saved->realtime_usec)
		penalty = decay(penalty, realtime_usec - saved->realtime_usec, config);
	ret->penalty = fmin(penalty, damper_ceiling(config));
	ret->tripped = saved->tripped;
}
