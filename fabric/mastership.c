// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The history of who was master: who, from, to, when and why; bounded, and kept over restarts.
#include "mastership.h"

#include <errno.h>
#include <string.h>

#include "util/cleanup.h"

static const char *const reason_names[MASTERSHIP_REASONS] = {
	[MASTERSHIP_UNKNOWN] = "unknown",   [MASTERSHIP_FIRST] = "first",
	[MASTERSHIP_FAILOVER] = "failover", [MASTERSHIP_HANDOVER] = "handover",
	[MASTERSHIP_PRIORITY] = "priority", [MASTERSHIP_RESTART] = "restart",
};

const char *mastership_reason_name(enum mastership_reason reason)
{
	return (size_t)reason < ELEMENTSOF(reason_names) ? reason_names[reason] : NULL;
}

int mastership_reason_from_name(const char *name)
{
	for (size_t i = 0; i < ELEMENTSOF(reason_names); i++)
		if (strcmp(name, reason_names[i]) == 0)
			return (int)i;
	return -EINVAL;
}

void sm_name_copy(char name[static SM_NAME_BYTES], const char *from)
{
	size_t length = from ? strnlen(from, SM_NAME_BYTES) : 0;

	if (length == SM_NAME_BYTES)
		do
			length--;
		while (length > 0 && ((unsigned char)from[length] & 0xc0) == 0x80);
	if (length > 0)
		memcpy(name, from, length);
	memset(name + length, 0, SM_NAME_BYTES - length);
}

struct mastership_entry *mastership_append(struct mastership *history,
					   const struct mastership_entry *entry)
{
	struct mastership_entry *slot;

	if (history->count == MASTERSHIP_MAX) {
		memmove(&history->entries[0], &history->entries[1],
			(MASTERSHIP_MAX - 1) * sizeof(history->entries[0]));
		history->count--;
		history->forgotten++;
	}
	slot = &history->entries[history->count++];
	*slot = *entry;
	slot->number = ++history->next;
	return slot;
}

struct mastership_entry *mastership_last(struct mastership *history)
{
	return history->count > 0 ? &history->entries[history->count - 1] : NULL;
}

size_t mastership_since(const struct mastership *history, uint64_t realtime_usec)
{
	size_t n = 0;

	for (size_t i = 0; i < history->count; i++)
		if (history->entries[i].realtime_usec >= realtime_usec &&
		    history->entries[i].reason != MASTERSHIP_FIRST)
			n++;
	return n;
}

size_t mastership_load(struct mastership *history, const struct mastership_entry *entries,
		       size_t count)
{
	size_t left_out = 0;

	*history = (struct mastership){0};
	for (size_t i = 0; i < count; i++) {
		struct mastership_entry entry = entries[i];

		if (entry.number <= history->next || !mastership_reason_name(entry.reason) ||
		    entry.to == 0) {
			left_out++;
			continue;
		}
		entry.from_name[SM_NAME_BYTES - 1] = '\0';
		entry.to_name[SM_NAME_BYTES - 1] = '\0';
		history->next = entry.number - 1;
		mastership_append(history, &entry);
	}
	return left_out;
}
