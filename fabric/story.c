// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The story as an object: its life, its causes, its words.
#include "story.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"
#include "story-internal.h"

struct story *story_new(void)
{
	struct story *story = calloc(1, sizeof(*story));

	if (!story)
		return NULL;
	story->refs = 1;
	story->private = calloc(1, sizeof(*story->private));
	if (story->private)
		story->private->names = fabric_strings_new();
	if (!story->private || !story->private->names)
		return story_unref(story);
	story->private->until_usec = UINT64_MAX;
	return story;
}

struct story *story_ref(struct story *story)
{
	story->refs++;
	return story;
}

struct story *story_unref(struct story *story)
{
	if (!story || --story->refs)
		return NULL;
	if (story->private) {
		lft_counts_clear(&story->private->lft);
		fabric_strings_free(story->private->names);
		free(story->private);
	}
	fabric_changes_free(story->changes);
	free(story->further);
	free(story);
	return NULL;
}

bool story_has_failed(const struct story *story)
{
	return story->result == STORY_UP_WITH_ERRORS || story->result == STORY_ROUTING_FAILED ||
	       (story->result == STORY_ABORTED && story->end_sm_state != IBSM_SM_STANDBY);
}

uint64_t story_duration_usec(const struct story *story)
{
	if (!story->start_seen || !story->end_monotonic_usec ||
	    story->end_monotonic_usec < story->start_monotonic_usec)
		return 0;
	return story->end_monotonic_usec - story->start_monotonic_usec;
}

size_t story_lft_top(const struct story *story, struct story_lft_switch *ret, size_t max)
{
	return lft_counts_top(&story->private->lft, ret, max);
}

/* The same trap from the same sender. */
static bool repeats(const struct story_cause *cause, const struct story_cause *again)
{
	return again->trap && cause->trap == again->trap &&
	       cause->vendor_trap == again->vendor_trap &&
	       cause->change_flags == again->change_flags && cause->sender.lid == again->sender.lid;
}

static void fold(struct story_cause *cause, const struct story_cause *again)
{
	cause->count += again->count;
	if (again->last_monotonic_usec > cause->last_monotonic_usec)
		cause->last_monotonic_usec = again->last_monotonic_usec;
	if (again->monotonic_usec < cause->monotonic_usec) {
		cause->monotonic_usec = again->monotonic_usec;
		cause->realtime_usec = again->realtime_usec;
	}
}

static int own_name(struct story *story, struct story_cause *cause)
{
	const char *name = fabric_strings_add(story->private->names, cause->sender.name);

	if (cause->sender.name && !name)
		return -ENOMEM;
	cause->sender.name = name;
	return 0;
}

int story_add_cause(struct story *story, const struct story_cause *cause)
{
	struct story_cause own = *cause;

	if (repeats(&story->cause, cause)) {
		fold(&story->cause, cause);
		return 0;
	}
	for (size_t i = 0; i < story->further_count; i++)
		if (repeats(&story->further[i], cause)) {
			fold(&story->further[i], cause);
			return 0;
		}
	if (story->further_count == STORY_CAUSES_MAX) {
		story->further_not_listed += cause->count;
		return 0;
	}
	if (!story->further) {
		story->further = calloc(STORY_CAUSES_MAX, sizeof(*story->further));
		if (!story->further)
			return -ENOMEM;
	}
	if (own_name(story, &own) < 0)
		return -ENOMEM;
	story->further[story->further_count++] = own;
	return 0;
}

int story_set_cause(struct story *story, const struct story_cause *cause)
{
	struct story_cause own = *cause;

	if (own_name(story, &own) < 0)
		return -ENOMEM;
	story->cause = own;
	return 0;
}

const char *story_type_name(enum story_type type)
{
	return type == STORY_REROUTE ? "reroute" : "heavy";
}

const char *story_cause_kind_name(enum story_cause_kind kind)
{
	static const char *const names[STORY_CAUSE_KINDS] = {
		[STORY_CAUSE_UNKNOWN] = "unknown",
		[STORY_CAUSE_TRAP] = "trap",
		[STORY_CAUSE_BECAME_MASTER] = "became-master",
		[STORY_CAUSE_LEFT_STANDBY] = "left-standby",
		[STORY_CAUSE_RETRY] = "retry",
		[STORY_CAUSE_EVERY_SWEEP_HEAVY] = "every-sweep-heavy",
		[STORY_CAUSE_REROUTE] = "reroute",
		[STORY_CAUSE_FOLLOWED] = "followed",
		[STORY_CAUSE_NO_TRAP] = "no-trap",
	};

	return (unsigned int)kind < STORY_CAUSE_KINDS ? names[kind] : "unknown";
}

const char *story_phase_name(enum story_phase phase)
{
	static const char *const names[STORY_PHASES] = {
		[STORY_DISCOVERY] = "discovery",
		[STORY_ROUTING] = "routing",
		[STORY_SETUP] = "setup",
	};

	return (unsigned int)phase < STORY_PHASES ? names[phase] : "unknown";
}

const char *story_result_name(enum story_result result)
{
	static const char *const names[STORY_RESULTS] = {
		[STORY_RUNNING] = "running",
		[STORY_UP] = "up",
		[STORY_UP_WITH_ERRORS] = "up-with-errors",
		[STORY_ROUTING_FAILED] = "routing-failed",
		[STORY_ABORTED] = "aborted",
		[STORY_HANDED_OVER] = "handed-over",
		[STORY_RESULT_UNKNOWN] = "unknown",
	};

	return (unsigned int)result < STORY_RESULTS ? names[result] : "unknown";
}

static const char *kind_text(enum story_cause_kind kind)
{
	switch (kind) {
	case STORY_CAUSE_UNKNOWN:
		return "not known";
	case STORY_CAUSE_TRAP:
		return "a trap";
	case STORY_CAUSE_BECAME_MASTER:
		return "the SM was discovering: opensm had started, or its port had been down";
	case STORY_CAUSE_LEFT_STANDBY:
		return "the SM left standby: the master went silent, or handed over";
	case STORY_CAUSE_RETRY:
		return "the sweep before had errors";
	case STORY_CAUSE_EVERY_SWEEP_HEAVY:
		return "every sweep is heavy (force_heavy_sweep)";
	case STORY_CAUSE_REROUTE:
		return "a reroute was asked for";
	case STORY_CAUSE_FOLLOWED:
		return "asked for while another sweep ran";
	case STORY_CAUSE_NO_TRAP:
		return "no trap seen: a light sweep found a change, SIGHUP, or the console";
	case STORY_CAUSE_KINDS:
		break;
	}
	return "not known";
}

/* What trap 144 says has changed, as ", width, speed"; "" for others. */
static void flags_text(const struct story_cause *cause, char *buffer, size_t size)
{
	static const struct {
		uint16_t flag;
		const char *word;
	} words[] = {{IBSM_TRAP_CHANGE_NODE_DESCRIPTION, ", node description"},
		     {IBSM_TRAP_CHANGE_LINK_WIDTH, ", enabled width"},
		     {IBSM_TRAP_CHANGE_LINK_SPEED, ", enabled speed"},
		     {IBSM_TRAP_CHANGE_SM_PRIORITY, ", SM priority"}};
	size_t used = 0;

	buffer[0] = '\0';
	for (size_t i = 0; i < ELEMENTSOF(words) && used < size; i++)
		if (cause->change_flags & words[i].flag)
			used += (size_t)snprintf(buffer + used, size - used, "%s", words[i].word);
}

const char *story_cause_text(const struct story_cause *cause, char *buffer, size_t size)
{
	char what[160], flags[80], sender[320], times[32] = "";

	if (!cause->trap && !cause->vendor_trap) {
		snprintf(buffer, size, "%s", kind_text(cause->kind));
		return buffer;
	}
	flags_text(cause, flags, sizeof(flags));
	if (cause->vendor_trap)
		snprintf(what, sizeof(what), "vendor trap of device 0x%04x", cause->trap);
	else
		snprintf(what, sizeof(what), "trap %u (%s%s)", cause->trap, trap_name(cause->trap),
			 flags);
	if (cause->sender.name)
		snprintf(sender, sizeof(sender), "%s (LID %u)", cause->sender.name,
			 cause->sender.lid);
	else
		snprintf(sender, sizeof(sender), "LID %u", cause->sender.lid);
	if (cause->count > 1)
		snprintf(times, sizeof(times), ", %u times", cause->count);
	snprintf(buffer, size, "%s%s from %s%s", what,
		 cause->kind == STORY_CAUSE_FOLLOWED ? " while another sweep ran," : "", sender,
		 times);
	return buffer;
}
