// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// ListEvents: what is kept, and what comes, for those who follow.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/api-internal.h"
#include "util/cleanup.h"

#define BATCH_EVENTS 64 /* of a follower's reply */

struct filter {
	char *kind;	    /* NULL: all */
	uint64_t node_guid; /* 0: all */
};

/* A list under way: from `next` on, up to `end`, which for a follower moves along. */
struct event_list {
	struct manager *manager;
	struct filter filter;
	uint64_t next;
	uint64_t end;
	uint64_t missed; /* lost to this client and not told yet */
};

struct follower {
	struct follower *next;
	struct api *api;
	struct varlink_call *call;
	struct event_list *list;
	bool greeted; /* the first reply went out */
};

static bool matches(const struct filter *filter, const struct event *event)
{
	if (filter->kind && strcmp(filter->kind, event_kind_name(event->kind)) != 0)
		return false;
	if (!filter->node_guid)
		return true;
	for (unsigned i = 0; i < event->n_ends; i++)
		if (event->ends[i].node_guid == filter->node_guid)
			return true;
	return false;
}

/* The next one that matches, or NULL. Events that made room for others are counted as missed:
 * whether they matched, nobody knows. */
static const struct event *next_event(struct event_list *list)
{
	const struct events *events = &list->manager->events;

	if (list->next < events_first(events)) {
		list->missed += events_first(events) - list->next;
		list->next = events_first(events);
	}
	while (list->next < list->end) {
		const struct event *event = events_get(events, list->next++);

		if (matches(&list->filter, event))
			return event;
	}
	return NULL;
}

static void list_free(void *userdata)
{
	struct event_list *list = userdata;

	free(list->filter.kind);
	free(list);
}

static int list_next(void *userdata, json_t **ret_item)
{
	const struct event *event = next_event(userdata);

	if (!event)
		return 0;
	*ret_item = json_event(event);
	return *ret_item ? 1 : -ENOMEM;
}

/* The place of the last @count events that match. */
static uint64_t place_of_last(const struct event_list *list, uint64_t count)
{
	const struct events *events = &list->manager->events;
	uint64_t n = events->next;

	while (count > 0 && n > list->next)
		if (matches(&list->filter, events_get(events, --n)))
			count--;
	return n;
}

/* Followers. */

static void follower_free(struct follower *follower)
{
	struct follower **f = &follower->api->followers;

	while (*f && *f != follower)
		f = &(*f)->next;
	if (*f)
		*f = follower->next;
	varlink_call_set_ready(follower->call, NULL, NULL);
	varlink_call_unref(follower->call);
	list_free(follower->list);
	free(follower);
}

static void on_gone(struct varlink_call *call, void *userdata)
{
	(void)call;
	follower_free(userdata);
}

static int on_ready(struct varlink_call *call, void *userdata)
{
	struct follower *follower = userdata;
	struct event_list *list = follower->list;
	json_auto_t *events = json_array(), *reply = NULL;
	const struct event *event = NULL;
	int r;

	list->end = list->manager->events.next;
	while (json_array_size(events) < BATCH_EVENTS && (event = next_event(list)))
		if (json_array_append_new(events, json_event(event)) < 0)
			return -ENOMEM;
	/* The first reply goes out even if it is empty: it says that following has begun. */
	if (follower->greeted && json_array_size(events) == 0 && !list->missed)
		return 0;
	reply = json_pack("{s:O}", "events", events);
	if (!reply || (list->missed && !json_put(reply, "missed", json_number(list->missed))))
		return -ENOMEM;
	list->missed = 0;
	follower->greeted = true;
	r = varlink_call_reply_more(call, TAKE_PTR(reply));
	if (r < 0)
		return r;
	return event != NULL;
}

static int follow(struct api *api, struct varlink_call *call, struct event_list *list)
{
	struct follower *follower = calloc(1, sizeof(*follower));

	if (!follower) {
		list_free(list);
		return -ENOMEM;
	}
	*follower = (struct follower){
		.next = api->followers,
		.api = api,
		.call = varlink_call_ref(call),
		.list = list,
	};
	api->followers = follower;
	varlink_call_set_disconnect(call, on_gone, follower);
	varlink_call_set_ready(call, on_ready, follower);
	return 0;
}

void api_events_followers_wake(struct api *api)
{
	for (struct follower *f = api->followers; f; f = f->next)
		varlink_call_arm(f->call);
}

/* A node that is gone, or was never there, may still be in events. Returns its GUID, or 0. */
static uint64_t guid_in_events(const struct events *events, const char *name)
{
	uint64_t guid;

	if (api_parse_guid(name, &guid))
		return guid;
	for (uint64_t n = events->next; n-- > events_first(events);) {
		const struct event *event = events_get(events, n);

		for (unsigned i = 0; i < event->n_ends; i++)
			if (event->ends[i].name && strcmp(event->ends[i].name, name) == 0)
				return event->ends[i].node_guid;
	}
	return 0;
}

/* Returns 1, or what a handler returns. */
static int find_node(struct varlink_call *call, const struct manager *m, const char *name,
		     uint64_t *ret_guid)
{
	struct api_node found;
	const uint32_t *nodes;
	int r;

	/* Ask the events only for what the model does not have. */
	if (m->fabric && (fabric_nodes_by_name(m->fabric, name, &nodes) ||
			  !(*ret_guid = guid_in_events(&m->events, name)))) {
		r = api_find_node(call, m->fabric, name, &found);
		if (r == 1)
			*ret_guid = fabric_node(m->fabric, found.node)->node_guid;
		return r;
	}
	if (!m->fabric)
		*ret_guid = guid_in_events(&m->events, name);
	if (*ret_guid)
		return 1;
	return varlink_call_error(call, API_ERROR("NoSuchNode"),
				  json_pack("{s:o}", "node", json_text(name)));
}

int api_list_events(struct varlink_call *call, json_t *parameters, void *userdata)
{
	struct api *api = userdata;
	struct manager *m = api->manager;
	const char *kind = api_string(parameters, "kind"), *node = api_string(parameters, "node");
	bool follows = json_is_true(json_object_get(parameters, "follow"));
	uint64_t count = UINT64_MAX, after = 0, guid = 0;
	struct event_list *list;
	json_t *extra = NULL;
	int r;

	if (!api_number(parameters, "count", &count))
		return varlink_call_invalid_parameter(call, "count");
	if (!api_number(parameters, "after", &after))
		return varlink_call_invalid_parameter(call, "after");
	if (kind && !event_kind_exists(kind))
		return varlink_call_invalid_parameter(call, "kind");
	if (follows && !varlink_call_wants_more(call))
		return varlink_call_invalid_parameter(call, "follow");
	if (node) {
		r = find_node(call, m, node, &guid);
		if (r != 1)
			return r;
	}
	list = calloc(1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	*list = (struct event_list){
		.manager = m,
		.filter.node_guid = guid,
		.next = events_first(&m->events),
		.end = m->events.next,
	};
	if (kind && !(list->filter.kind = strdup(kind))) {
		free(list);
		return -ENOMEM;
	}
	if (after) {
		/* What came after it and is no longer kept is lost to this client. */
		if (after + 1 < list->next)
			list->missed = list->next - after - 1;
		else
			list->next = after + 1;
	}
	if (count != UINT64_MAX) {
		uint64_t place = place_of_last(list, count);

		/* Whoever asks for a few does not miss the others. */
		if (place > list->next)
			list->missed = 0;
		list->next = place > list->next ? place : list->next;
	}
	if (follows)
		return follow(api, call, list);
	if (list->missed)
		extra = json_pack("{s:o}", "missed", json_number(list->missed));
	return api_reply_list(call, "events", list_next, list_free, list, extra);
}
