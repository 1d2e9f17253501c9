// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// A bounded queue of wire records: many threads put, one takes, nobody waits.

/*
 * Producers are opensm's threads, some of them under opensm's exclusive lock: what they do here has
 * to be over in a bounded number of instructions, whatever other threads do and wherever the
 * scheduler stopped them. The usual bounded queue, whose producers race for a slot with
 * compare-and-swap in a loop, is only lock-free: one producer can be beaten again and again. This
 * one is wait-free for producers:
 *
 *   claim    take one of `capacity` credits: fetch_sub. None left: put it back, count a drop.
 *            With a credit, take a position: fetch_add on `tail`. It always fits, see below.
 *   fill     the slot belongs to this producer alone.
 *   publish  store position + 1 in the slot.
 *
 * The consumer takes positions in order, each once it is published, and gives one credit back per
 * slot it is done with. A producer that is stopped between claim and publish holds up the consumer
 * (records behind it wait) but never another producer: those claim the slots behind it, and when
 * there are none, they drop.
 *
 * Why a position with a credit always fits: credits handed out = capacity + slots given back, so
 * the p-th position (from 0) is given out only after p + 1 - capacity slots were given back. Slots
 * are given back in order, hence the slot's former tenant, position p - capacity, is gone.
 *
 * Why the producer also sees it gone: among the p + 1 threads that went through `tail` up to this
 * position at least one took a credit that was given back with or after the former tenant, and so
 * synchronised with the consumer's release (additions to `credits` by others in between keep a
 * release sequence going). All p + 1 passed `tail` with acquire-release, so their view is ours.
 *
 * A producer that finds no credit makes `credits` negative for a moment. Another producer may
 * then see "full" although the consumer has just given a slot back: a ring counts as full up to
 * (number of producers) slots early. That is a counted drop like any other.
 *
 * Sequential consistency of publish, and of claim's fetch_sub, is for the sleeping consumer: see
 * wake.h.
 */

#include "ring.h"

#include <errno.h>
#include <sys/mman.h>

int ring_init(struct ring *ring, uint32_t records)
{
	size_t bytes;
	void *p;

	if (records == 0 || (records & (records - 1)) != 0)
		return -EINVAL;
	bytes = (size_t)records * sizeof(struct ring_slot);
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE,
		 -1, 0);
	if (p == MAP_FAILED)
		return -ENOMEM;

	ring->slots = p;
	ring->mask = records - 1;
	ring->map_bytes = bytes;
	ring->head = 0;
	atomic_init(&ring->tail, 0);
	atomic_init(&ring->dropped, 0);
	atomic_init(&ring->credits, (int64_t)records);
	return 0;
}

void ring_clear(struct ring *ring)
{
	if (ring->slots)
		munmap(ring->slots, ring->map_bytes);
	ring->slots = NULL;
}

bool ring_claim(struct ring *ring, struct ring_claim *ret_claim)
{
	int64_t credits = atomic_fetch_sub(&ring->credits, 1);

	if (credits <= 0) {
		atomic_fetch_add(&ring->credits, 1);
		atomic_fetch_add(&ring->dropped, 1);
		ret_claim->used = ring_capacity(ring);
		return false;
	}
	ret_claim->used = ring_capacity(ring) - (uint64_t)(credits - 1);
	ret_claim->position = atomic_fetch_add(&ring->tail, 1);
	ret_claim->record = &ring->slots[ret_claim->position & ring->mask].record;
	return true;
}

void ring_publish(struct ring *ring, const struct ring_claim *claim)
{
	atomic_store(&ring->slots[claim->position & ring->mask].published, claim->position + 1);
}

union ring_record *ring_peek(struct ring *ring, uint64_t ahead)
{
	uint64_t position = ring->head + ahead;
	struct ring_slot *slot = &ring->slots[position & ring->mask];

	if (ahead >= ring_capacity(ring) || atomic_load(&slot->published) != position + 1)
		return NULL;
	return &slot->record;
}

void ring_consume(struct ring *ring, uint64_t n)
{
	ring->head += n;
	atomic_fetch_add(&ring->credits, (int64_t)n);
}

uint64_t ring_used(struct ring *ring)
{
	return atomic_load(&ring->tail) - ring->head;
}
