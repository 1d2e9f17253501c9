// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The last N events in memory, numbered: a ring that readers walk by number.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "daemon/event-kind.h"
#include "daemon/limits.h"

#define EVENT_ENDS_MAX 3

/* A string that many events share; counted on the loop thread. */
struct shared_text {
	unsigned refs;
	char text[];
};

/* One reference; NULL without memory. */
struct shared_text *shared_text_new(const char *text);
/* Both accept NULL; unref returns NULL. */
struct shared_text *shared_text_ref(struct shared_text *text);
struct shared_text *shared_text_unref(struct shared_text *text);

/* One event. Everything in it but `cause` is one allocation; immutable once it is in the ring. */
struct event {
	uint64_t number; /* given by events_append(); 0: not in the ring */
	uint64_t realtime_usec;
	uint64_t monotonic_usec;
	uint64_t sweep; /* 0: none */
	unsigned kind;	/* enum event_kind */
	enum fabric_severity severity;
	unsigned n_ends;
	struct fabric_end ends[EVENT_ENDS_MAX];
	const char *message;
	const char *old; /* these may be NULL */
	const char *new;
	struct shared_text *cause; /* a reference */
};

/**
 * Make an event: a deep copy of @template, without cause. Any thread.
 * Returns NULL without memory.
 */
struct event *event_new(const struct event *template);

/* An event from a change, its times and sweep 0. Any thread. Returns NULL without memory. */
struct event *event_from_change(const struct fabric_change *change);

/* Accepts NULL, returns NULL. */
struct event *event_free(struct event *event);

struct events {
	struct event **ring;
	size_t size;
	uint64_t next; /* number of the next event */
	uint64_t kept;
};

/* Numbers go on from @next, which is at least 1. Returns 0 or -ENOMEM. */
int events_init(struct events *events, size_t size, uint64_t next);
void events_clear(struct events *events);

/* Another size; keeps the newest. Returns 0 or -ENOMEM (all stays as it was). */
int events_resize(struct events *events, size_t size);

/* Consumes @event, which must not be NULL; counts one that makes room in @limits. */
void events_append(struct events *events, struct event *event, struct limits *limits);

/* The number of the oldest one kept; `next` when there is none. */
static inline uint64_t events_first(const struct events *events)
{
	return events->next - events->kept;
}

/* By number; NULL when it is not kept. Valid until the next append. */
static inline const struct event *events_get(const struct events *events, uint64_t number)
{
	if (number < events_first(events) || number >= events->next)
		return NULL;
	return events->ring[number % events->size];
}
