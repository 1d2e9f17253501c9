// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// A bounded queue of wire records: many threads put, one takes, nobody waits.
#pragma once

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ibsm/wire.h"

#define RING_CACHE_LINE 64

/* What travels through a ring; the connection's own records do not. */
union ring_record {
	struct ibsm_wire_header header;
	struct ibsm_wire_sm_state sm_state;
	struct ibsm_wire_sweep sweep;
	struct ibsm_wire_trap trap;
	struct ibsm_wire_lft_change lft_change;
	struct ibsm_wire_port_errors port_errors;
	struct ibsm_wire_port_data port_data;
	struct ibsm_wire_port_select port_select;
};

struct ring_slot {
	alignas(RING_CACHE_LINE) _Atomic uint64_t published; /* position + 1 of the record here */
	union ring_record record;
};

struct ring {
	struct ring_slot *slots;
	uint64_t mask;
	size_t map_bytes;

	/* Written by producers. */
	alignas(RING_CACHE_LINE) _Atomic uint64_t tail; /* positions given out */
	_Atomic uint64_t dropped;			/* records that found no room */
	/* Written by both. */
	alignas(RING_CACHE_LINE) _Atomic int64_t credits;
	/* The consumer's own. */
	alignas(RING_CACHE_LINE) uint64_t head;
};

/* A slot that a producer owns between ring_claim() and ring_publish(). */
struct ring_claim {
	union ring_record *record;
	uint64_t position;
	uint64_t used; /* slots taken when it was claimed, this one included */
};

/*
 * Map and fault in room for `records`, a power of two. Returns 0, -EINVAL or -ENOMEM.
 */
int ring_init(struct ring *ring, uint32_t records);

/* Unmap; no other thread may use the ring any more. Accepts a zeroed or cleared ring. */
void ring_clear(struct ring *ring);

/*
 * Take a slot, to be filled and published by the same thread. Any thread; wait-free: two atomic
 * additions, no loop. Returns false, with ret_claim->used set, and counts a drop when there is no
 * room.
 */
bool ring_claim(struct ring *ring, struct ring_claim *ret_claim);

/* Hand a claimed slot to the consumer. Any thread; wait-free. */
void ring_publish(struct ring *ring, const struct ring_claim *claim);

/*
 * The record `ahead` places behind the oldest one, NULL when it is not published yet. Consumer's
 * thread. The record stays the consumer's, to read and write, until ring_consume().
 */
union ring_record *ring_peek(struct ring *ring, uint64_t ahead);

/* Give the oldest `n` records' slots back. Consumer's thread; they were all peeked. */
void ring_consume(struct ring *ring, uint64_t n);

/* Slots that are claimed or published. Consumer's thread. */
uint64_t ring_used(struct ring *ring);

static inline uint64_t ring_capacity(const struct ring *ring)
{
	return ring->mask + 1;
}

/* Above this many slots in use a ring counts as filling up. */
static inline uint64_t ring_high_water(const struct ring *ring)
{
	return ring_capacity(ring) / 4 * 3;
}

/* Records that producers wanted to put in, dropped ones included. Any thread. */
static inline uint64_t ring_raised(struct ring *ring)
{
	return atomic_load(&ring->tail) + atomic_load(&ring->dropped);
}

static inline uint64_t ring_dropped(struct ring *ring)
{
	return atomic_load(&ring->dropped);
}
