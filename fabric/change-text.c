// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Names, severity and words of changes.
#include <inttypes.h>
#include <stdio.h>

#include "diff.h"
#include "names.h"
#include "util/cleanup.h"

/* One row a kind; the names are part of the API. */
static const struct {
	const char *name;
	enum fabric_severity severity;
} kinds[FABRIC_CHANGE_KINDS] = {
	[FABRIC_CHANGE_FIRST_SEEN] = {"fabric-first-seen", FABRIC_SEVERITY_NOTICE},
	[FABRIC_CHANGE_SM_APPEARED] = {"sm-appeared", FABRIC_SEVERITY_NOTICE},
	[FABRIC_CHANGE_SM_DISAPPEARED] = {"sm-disappeared", FABRIC_SEVERITY_WARNING},
	[FABRIC_CHANGE_SM_STATE] = {"sm-state", FABRIC_SEVERITY_NOTICE},
	[FABRIC_CHANGE_SM_PRIORITY] = {"sm-priority", FABRIC_SEVERITY_NOTICE},
	[FABRIC_CHANGE_ENGINE_USED] = {"routing-engine", FABRIC_SEVERITY_NOTICE},
	[FABRIC_CHANGE_ROUTING_FELL_BACK] = {"routing-fell-back", FABRIC_SEVERITY_WARNING},
	[FABRIC_CHANGE_ROUTING_FALL_BACK_OVER] = {"routing-fall-back-over", FABRIC_SEVERITY_NOTICE},
	[FABRIC_CHANGE_NODE_REMOVED] = {"node-removed", FABRIC_SEVERITY_WARNING},
	[FABRIC_CHANGE_NODE_ADDED] = {"node-added", FABRIC_SEVERITY_NOTICE},
	[FABRIC_CHANGE_LINK_REMOVED] = {"link-removed", FABRIC_SEVERITY_WARNING},
	[FABRIC_CHANGE_LINK_MOVED] = {"link-moved", FABRIC_SEVERITY_NOTICE},
	[FABRIC_CHANGE_LINK_ADDED] = {"link-added", FABRIC_SEVERITY_NOTICE},
	[FABRIC_CHANGE_LINK_WIDTH] = {"link-width", FABRIC_SEVERITY_NOTICE},
	[FABRIC_CHANGE_LINK_SPEED] = {"link-speed", FABRIC_SEVERITY_NOTICE},
	[FABRIC_CHANGE_PORT_STATE] = {"port-state", FABRIC_SEVERITY_NOTICE},
	[FABRIC_CHANGE_LFT_MISMATCH] = {"lft-mismatch", FABRIC_SEVERITY_WARNING},
	[FABRIC_CHANGE_LFT_MISMATCH_OVER] = {"lft-mismatch-over", FABRIC_SEVERITY_NOTICE},
	[FABRIC_CHANGE_LID] = {"lid", FABRIC_SEVERITY_NOTICE},
	[FABRIC_CHANGE_LMC] = {"lmc", FABRIC_SEVERITY_NOTICE},
	[FABRIC_CHANGE_NODE_RENAMED] = {"node-renamed", FABRIC_SEVERITY_INFO},
	[FABRIC_CHANGE_PARTITION_REMOVED] = {"partition-removed", FABRIC_SEVERITY_WARNING},
	[FABRIC_CHANGE_PARTITION_ADDED] = {"partition-added", FABRIC_SEVERITY_NOTICE},
	[FABRIC_CHANGE_PARTITION_MEMBERS] = {"partition-members", FABRIC_SEVERITY_INFO},
	[FABRIC_CHANGE_GROUP_REMOVED] = {"group-removed", FABRIC_SEVERITY_INFO},
	[FABRIC_CHANGE_GROUP_ADDED] = {"group-added", FABRIC_SEVERITY_INFO},
	[FABRIC_CHANGE_GROUP_MEMBERS] = {"group-members", FABRIC_SEVERITY_INFO},
	[FABRIC_CHANGE_OPTION] = {"option", FABRIC_SEVERITY_NOTICE},
	[FABRIC_CHANGE_LFT] = {"lft", FABRIC_SEVERITY_INFO},
};

const char *fabric_change_kind_name(enum fabric_change_kind kind)
{
	return (unsigned int)kind < FABRIC_CHANGE_KINDS ? kinds[kind].name : NULL;
}

enum fabric_severity fabric_change_severity(const struct fabric_change *change)
{
	bool fell = false;

	if (change->flags & FABRIC_CHANGE_WITH_NODE)
		return FABRIC_SEVERITY_INFO;
	if (change->kind == FABRIC_CHANGE_LINK_WIDTH)
		fell = width_lanes((uint8_t)change->new) < width_lanes((uint8_t)change->old);
	else if (change->kind == FABRIC_CHANGE_LINK_SPEED ||
		 change->kind == FABRIC_CHANGE_PORT_STATE)
		fell = change->new < change->old;
	else if (change->kind == FABRIC_CHANGE_ENGINE_USED)
		fell = !change->new_text;
	return fell ? FABRIC_SEVERITY_WARNING : kinds[change->kind].severity;
}

const char *fabric_severity_name(enum fabric_severity severity)
{
	static const char *const names[] = {
		[FABRIC_SEVERITY_INFO] = "info",
		[FABRIC_SEVERITY_NOTICE] = "notice",
		[FABRIC_SEVERITY_WARNING] = "warning",
	};

	return (unsigned int)severity < ELEMENTSOF(names) ? names[severity] : "info";
}

#define END_BYTES 320

/* "leaf01[3]", "leaf01", or the port GUID where no name is known. */
static const char *end_text(const struct fabric_end *end, char *buffer, size_t size)
{
	if (!end->name)
		snprintf(buffer, size, "port %s", GUID_STRING(end->port_guid));
	else if (end->port == FABRIC_NO_PORT)
		snprintf(buffer, size, "%s", end->name);
	else
		snprintf(buffer, size, "%s[%u]", end->name, end->port);
	return buffer;
}

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

static const char *or_none(const char *text)
{
	return text ? text : "none";
}

const char *fabric_change_text(const struct fabric_change *change, char *buffer, size_t size)
{
	const char *a = end_text(&change->a, (char[END_BYTES]){0}, END_BYTES);
	const char *b = end_text(&change->b, (char[END_BYTES]){0}, END_BYTES);
	const char *c = end_text(&change->c, (char[END_BYTES]){0}, END_BYTES);
	const char *old = or_none(change->old_text), *new = or_none(change->new_text);
	const char *type = node_type_name(change->a.type);

	switch (change->kind) {
	case FABRIC_CHANGE_FIRST_SEEN:
		snprintf(buffer, size, "fabric seen for the first time: %s", new);
		break;
	case FABRIC_CHANGE_SM_APPEARED:
		snprintf(buffer, size, "SM at %s appeared, state %s", a, new);
		break;
	case FABRIC_CHANGE_SM_DISAPPEARED:
		snprintf(buffer, size, "SM at %s is gone, its state was %s", a, old);
		break;
	case FABRIC_CHANGE_SM_STATE:
		snprintf(buffer, size, "SM at %s went from %s to %s", a, old, new);
		break;
	case FABRIC_CHANGE_SM_PRIORITY:
		snprintf(buffer, size, "SM at %s changed its priority from %" PRIu64 " to %" PRIu64,
			 a, change->old, change->new);
		break;
	case FABRIC_CHANGE_ENGINE_USED:
		snprintf(buffer, size, "routing engine changed from %s to %s", old, new);
		break;
	case FABRIC_CHANGE_ROUTING_FELL_BACK:
		snprintf(buffer, size, "routing fell back to %s: every engine asked for failed",
			 new);
		break;
	case FABRIC_CHANGE_ROUTING_FALL_BACK_OVER:
		snprintf(buffer, size, "routing is no longer a fallback: %s", new);
		break;
	case FABRIC_CHANGE_NODE_REMOVED:
		snprintf(buffer, size, "%s %s is gone, with %" PRIu64 " link%s", type, a,
			 change->count, plural(change->count));
		break;
	case FABRIC_CHANGE_NODE_ADDED:
		snprintf(buffer, size, "%s %s is new, with %" PRIu64 " link%s", type, a,
			 change->count, plural(change->count));
		break;
	case FABRIC_CHANGE_LINK_REMOVED:
		snprintf(buffer, size, "link %s – %s is gone", a, b);
		break;
	case FABRIC_CHANGE_LINK_MOVED:
		snprintf(buffer, size, "link of %s moved from %s to %s", a, c, b);
		break;
	case FABRIC_CHANGE_LINK_ADDED:
		snprintf(buffer, size, "link %s – %s is new", a, b);
		break;
	case FABRIC_CHANGE_LINK_WIDTH:
		snprintf(buffer, size, "link %s – %s changed its width from %s to %s", a, b, old,
			 new);
		break;
	case FABRIC_CHANGE_LINK_SPEED:
		snprintf(buffer, size, "link %s – %s changed its speed from %s to %s", a, b, old,
			 new);
		break;
	case FABRIC_CHANGE_PORT_STATE:
		if (change->b.name)
			snprintf(buffer, size, "link %s – %s went from %s to %s", a, b, old, new);
		else
			snprintf(buffer, size, "port %s went from %s to %s", a, old, new);
		break;
	case FABRIC_CHANGE_LFT_MISMATCH:
		snprintf(buffer, size,
			 "%s holds another LFT than opensm computed, in %" PRIu64 " LID%s (%" PRIu64
			 " before)",
			 a, change->new, plural(change->new), change->old);
		break;
	case FABRIC_CHANGE_LFT_MISMATCH_OVER:
		snprintf(buffer, size, "%s holds the LFT that opensm computed again", a);
		break;
	case FABRIC_CHANGE_LID:
		snprintf(buffer, size, "%s changed its LID from %" PRIu64 " to %" PRIu64, a,
			 change->old, change->new);
		break;
	case FABRIC_CHANGE_LMC:
		snprintf(buffer, size, "%s changed its LMC from %" PRIu64 " to %" PRIu64, a,
			 change->old, change->new);
		break;
	case FABRIC_CHANGE_NODE_RENAMED:
		snprintf(buffer, size, "%s %s was renamed to %s", type, old, new);
		break;
	case FABRIC_CHANGE_PARTITION_REMOVED:
		snprintf(buffer, size, "partition %s (0x%04" PRIx64 ") is gone",
			 or_none(change->subject), change->number);
		break;
	case FABRIC_CHANGE_PARTITION_ADDED:
		snprintf(buffer, size,
			 "partition %s (0x%04" PRIx64 ") is new, with %" PRIu64 " member%s",
			 or_none(change->subject), change->number, change->new,
			 plural(change->new));
		break;
	case FABRIC_CHANGE_PARTITION_MEMBERS:
		snprintf(buffer, size,
			 "partition %s (0x%04" PRIx64 ") went from %" PRIu64 " to %" PRIu64
			 " member%s, %" PRIu64 " joined or left",
			 or_none(change->subject), change->number, change->old, change->new,
			 plural(change->new), change->count);
		break;
	case FABRIC_CHANGE_GROUP_REMOVED:
		snprintf(buffer, size, "multicast group %s (MLID 0x%04" PRIx64 ") is gone",
			 or_none(change->subject), change->number);
		break;
	case FABRIC_CHANGE_GROUP_ADDED:
		snprintf(buffer, size,
			 "multicast group %s (MLID 0x%04" PRIx64 ") is new, with %" PRIu64
			 " member%s",
			 or_none(change->subject), change->number, change->new,
			 plural(change->new));
		break;
	case FABRIC_CHANGE_GROUP_MEMBERS:
		snprintf(buffer, size,
			 "multicast group %s (MLID 0x%04" PRIx64 ") went from %" PRIu64
			 " to %" PRIu64 " member%s, %" PRIu64 " joined or left",
			 or_none(change->subject), change->number, change->old, change->new,
			 plural(change->new), change->count);
		break;
	case FABRIC_CHANGE_OPTION:
		snprintf(buffer, size, "option %s changed from %s to %s", or_none(change->subject),
			 old, new);
		break;
	case FABRIC_CHANGE_LFT:
		snprintf(buffer, size,
			 "LFT of %s changed in %" PRIu64 " block%s, %" PRIu64 " LID%s", a,
			 change->new, plural(change->new), change->count, plural(change->count));
		break;
	case FABRIC_CHANGE_KINDS:
		snprintf(buffer, size, "%s", "");
		break;
	}
	return buffer;
}
