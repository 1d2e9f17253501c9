// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The last N events in memory, numbered: a ring that readers walk by number.
#include "daemon/events.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t string_bytes(const char *text)
{
	return text ? strlen(text) + 1 : 0;
}

static const char *put_string(char **pool, const char *text)
{
	size_t length = string_bytes(text);
	char *copy = *pool;

	if (!text)
		return NULL;
	memcpy(copy, text, length);
	*pool += length;
	return copy;
}

struct shared_text *shared_text_new(const char *text)
{
	size_t length = strlen(text) + 1;
	struct shared_text *shared = malloc(sizeof(*shared) + length);

	if (!shared)
		return NULL;
	shared->refs = 1;
	memcpy(shared->text, text, length);
	return shared;
}

struct shared_text *shared_text_ref(struct shared_text *text)
{
	if (text)
		text->refs++;
	return text;
}

struct shared_text *shared_text_unref(struct shared_text *text)
{
	if (text && --text->refs == 0)
		free(text);
	return NULL;
}

struct event *event_free(struct event *event)
{
	if (!event)
		return NULL;
	shared_text_unref(event->cause);
	free(event);
	return NULL;
}

struct event *event_new(const struct event *template)
{
	size_t bytes = sizeof(struct event) + string_bytes(template->message) +
		       string_bytes(template->old) + string_bytes(template->new);
	struct event *event;
	char *pool;

	for (unsigned i = 0; i < template->n_ends; i++)
		bytes += string_bytes(template->ends[i].name);
	event = malloc(bytes);
	if (!event)
		return NULL;
	*event = *template;
	pool = (char *)(event + 1);
	event->message = put_string(&pool, template->message);
	event->old = put_string(&pool, template->old);
	event->new = put_string(&pool, template->new);
	event->cause = NULL;
	for (unsigned i = 0; i < template->n_ends; i++)
		event->ends[i].name = put_string(&pool, template->ends[i].name);
	return event;
}

/* Kinds whose old and new are numbers for people, and not codes. */
static bool has_numbers(enum fabric_change_kind kind)
{
	switch (kind) {
	case FABRIC_CHANGE_SM_PRIORITY:
	case FABRIC_CHANGE_LFT_MISMATCH:
	case FABRIC_CHANGE_LID:
	case FABRIC_CHANGE_LMC:
	case FABRIC_CHANGE_PARTITION_MEMBERS:
	case FABRIC_CHANGE_GROUP_MEMBERS:
		return true;
	default:
		return false;
	}
}

struct event *event_from_change(const struct fabric_change *change)
{
	char text[FABRIC_CHANGE_TEXT_BYTES], old[24], new[24];
	struct event event = {
		.kind = EVENT_FABRIC_CHANGE + (unsigned)change->kind,
		.severity = fabric_change_severity(change),
		.message = fabric_change_text(change, text, sizeof(text)),
		.old = change->old_text,
		.new = change->new_text,
	};
	const struct fabric_end *ends[EVENT_ENDS_MAX] = {&change->a, &change->b, &change->c};

	for (size_t i = 0; i < EVENT_ENDS_MAX; i++)
		if (ends[i]->name)
			event.ends[event.n_ends++] = *ends[i];
	if (has_numbers(change->kind)) {
		snprintf(old, sizeof(old), "%" PRIu64, change->old);
		snprintf(new, sizeof(new), "%" PRIu64, change->new);
		event.old = event.old ?: old;
		event.new = event.new ?: new;
	}
	return event_new(&event);
}

int events_init(struct events *events, size_t size, uint64_t next)
{
	struct event **ring = calloc(size, sizeof(*ring));

	if (!ring)
		return -ENOMEM;
	*events = (struct events){.ring = ring, .size = size, .next = next};
	return 0;
}

void events_clear(struct events *events)
{
	for (uint64_t n = events_first(events); n < events->next; n++)
		event_free(events->ring[n % events->size]);
	free(events->ring);
	*events = (struct events){0};
}

int events_resize(struct events *events, size_t size)
{
	struct event **ring;

	if (size == events->size)
		return 0;
	ring = calloc(size, sizeof(*ring));
	if (!ring)
		return -ENOMEM;
	for (uint64_t n = events_first(events); n < events->next; n++) {
		struct event *event = events->ring[n % events->size];

		if (events->next - n > size)
			event_free(event);
		else
			ring[n % size] = event;
	}
	if (events->kept > size)
		events->kept = size;
	free(events->ring);
	events->ring = ring;
	events->size = size;
	return 0;
}

void events_append(struct events *events, struct event *event, struct limits *limits)
{
	struct event **slot = &events->ring[events->next % events->size];

	if (events->kept == events->size) {
		event_free(*slot);
		events->kept--;
		limit_hit(limits, LIMIT_EVENTS, 1);
	}
	event->number = events->next++;
	*slot = event;
	events->kept++;
}
