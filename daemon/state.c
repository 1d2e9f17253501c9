// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What outlives a restart: event and sweep numbers, and the last sequence of each plugin instance.
#include "daemon/state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <jansson.h>

#include "daemon/state-file.h"

#define FILE_NAME "state.json"
#define FILE_VERSION 1
#define FILE_BYTES_MAX (1u << 20)

static const struct state fresh = {.next_event = 1};

/* 64 bits travel as strings: jansson's integers are signed. */
static bool get_number(const json_t *object, const char *key, uint64_t *ret)
{
	const char *text = json_string_value(json_object_get(object, key));
	char *end;

	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	*ret = strtoull(text, &end, 10);
	return errno == 0 && *end == '\0';
}

static json_t *number(uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	return json_string(text);
}

static int parse(const json_t *root, struct state *ret, const char **ret_why)
{
	struct state state = fresh;
	const json_t *instances = json_object_get(root, "instances"), *entry;
	bool clean = json_is_true(json_object_get(root, "clean"));
	size_t i;

	if (json_integer_value(json_object_get(root, "version")) != FILE_VERSION) {
		*ret_why = "its version is not ours";
		return -EBADMSG;
	}
	if (!get_number(root, "next_event", &state.next_event) || state.next_event == 0 ||
	    state.next_event > INT64_MAX / 2 ||
	    !get_number(root, "last_sweep", &state.last_sweep) ||
	    state.last_sweep > INT64_MAX / 2 || !json_is_array(instances)) {
		*ret_why = "a number is missing or impossible";
		return -EBADMSG;
	}
	json_array_foreach (instances, i, entry) {
		struct instance instance = {0};

		if (i >= INSTANCES_MAX)
			break;
		if (!get_number(entry, "id", &instance.id) || instance.id == 0 ||
		    !get_number(entry, "sequence", &instance.sequence) ||
		    !get_number(entry, "dropped", &instance.dropped) ||
		    !get_number(entry, "used_usec", &instance.used_usec)) {
			*ret_why = "an instance is not whole";
			return -EBADMSG;
		}
		instance.may_be_older = !clean;
		state.instances[i] = instance;
	}
	if (!clean) {
		state.unclean_first = state.next_event;
		state.next_event += STATE_EVENTS_AHEAD;
		state.last_sweep += STATE_SWEEPS_AHEAD;
	}
	state.saved_event = state.next_event;
	state.saved_sweep = state.last_sweep;
	*ret = state;
	return 0;
}

int state_load(const char *directory, struct state *ret, char ret_why[256])
{
	json_auto_t *root = NULL;
	const char *why = "";
	int r;

	r = state_file_read(directory, FILE_NAME, FILE_BYTES_MAX, &root, ret_why);
	if (r == 0 && !root) {
		*ret = fresh;
		return 0;
	}
	if (r == 0) {
		r = parse(root, ret, &why);
		if (r == -EBADMSG)
			snprintf(ret_why, 256, "%s/" FILE_NAME ": %s", directory, why);
	}
	if (r == -EBADMSG) {
		int moved = state_file_move_aside(directory, FILE_NAME);

		if (moved < 0)
			return moved;
		*ret = fresh;
	}
	return r;
}

int state_save(const char *directory, struct state *state, bool clean, uint64_t now_usec)
{
	json_auto_t *root = NULL;
	json_t *instances;
	int r;

	root = json_pack("{s:i, s:b, s:o, s:o, s:o}", "version", FILE_VERSION, "clean", clean,
			 "next_event", number(state->next_event), "last_sweep",
			 number(state->last_sweep), "instances", instances = json_array());
	if (!root)
		return -ENOMEM;
	for (size_t i = 0; i < INSTANCES_MAX; i++) {
		const struct instance *instance = &state->instances[i];

		if (instance->id &&
		    json_array_append_new(
			    instances, json_pack("{s:o, s:o, s:o, s:o}", "id", number(instance->id),
						 "sequence", number(instance->sequence), "dropped",
						 number(instance->dropped), "used_usec",
						 number(instance->used_usec))) < 0)
			return -ENOMEM;
	}
	r = state_file_write(directory, FILE_NAME, root, JSON_INDENT(1), clean);
	if (r < 0)
		return r;
	state->saved_usec = now_usec;
	state->saved_event = state->next_event;
	state->saved_sweep = state->last_sweep;
	return 0;
}

bool state_is_due(const struct state *state, uint64_t now_usec)
{
	return now_usec - state->saved_usec >= STATE_SAVE_USEC ||
	       state->next_event - state->saved_event >= STATE_EVENTS_AHEAD / 2 ||
	       state->last_sweep - state->saved_sweep >= STATE_SWEEPS_AHEAD / 2;
}

struct instance *state_instance(struct state *state, uint64_t id, uint64_t realtime_usec,
				struct limits *limits)
{
	struct instance *oldest = NULL;

	for (size_t i = 0; i < INSTANCES_MAX; i++) {
		struct instance *instance = &state->instances[i];

		if (instance->id == id) {
			instance->used_usec = realtime_usec;
			return instance;
		}
		if (!instance->users && (!oldest || instance->used_usec < oldest->used_usec))
			oldest = instance;
	}
	if (oldest->id)
		limit_hit(limits, LIMIT_INSTANCES, 1);
	*oldest = (struct instance){.id = id, .used_usec = realtime_usec};
	return oldest;
}
