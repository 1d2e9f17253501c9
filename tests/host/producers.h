// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Threads that raise events as opensm's do: several at once, under opensm's locks.
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "loaded.h"

struct producer {
	struct loaded *loaded;
	osm_opensm_t *osm;
	osm_switch_t *sw; /* whose LFT changes */
	unsigned int id;
	uint64_t events;  /* how many to raise; 0: until stop */
	uint64_t per_sec; /* pace, 0: as fast as it goes */
	_Atomic bool stop;
	_Atomic bool done;
	pthread_t thread;

	uint64_t control, bulk; /* raised, for either ring */
	uint64_t max_nsec;	/* the slowest callback */
	uint32_t *nsec;		/* NULL, or each callback's duration, `events` of them */
};

/* Start `n` of them. */
void producers_start(struct producer *producers, unsigned int n, struct loaded *loaded,
		     osm_opensm_t *osm, osm_switch_t *sw, uint64_t events, uint64_t per_sec);

bool producers_done(struct producer *producers, unsigned int n);
void producers_stop(struct producer *producers, unsigned int n);
void producers_join(struct producer *producers, unsigned int n);
uint64_t producers_control(const struct producer *producers, unsigned int n);
uint64_t producers_bulk(const struct producer *producers, unsigned int n);
uint64_t producers_max_nsec(const struct producer *producers, unsigned int n);
