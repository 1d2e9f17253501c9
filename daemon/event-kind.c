// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The one table of event kinds: what opensm and the plugin do, then what changed in the fabric.
#include "daemon/event-kind.h"

#include <string.h>

static const struct {
	const char *name;
	const char *text;
} kinds[EVENT_FABRIC_CHANGE] = {
	[EVENT_PLUGIN_CONNECTED] = {"plugin-connected", "an opensm with the plugin connected"},
	[EVENT_PLUGIN_DISCONNECTED] = {"plugin-disconnected",
				       "a plugin's connection ended: opensm stopped or died"},
	[EVENT_PLUGIN_REFUSED] = {"plugin-refused",
				  "a plugin was turned away: of another subnet, of another "
				  "version, or one that broke the protocol"},
	[EVENT_PLUGIN_FOLLOWED] = {"plugin-followed",
				   "the fabric model follows another plugin from here on"},
	[EVENT_RECORDS_DROPPED] = {"records-dropped",
				   "the plugin dropped records: its ring was full, or ibsmd was "
				   "not there to read them"},
	[EVENT_RECORDS_MISSED] = {"records-missed",
				  "records were sent to a connection that ended before ibsmd "
				  "had read them, or may have been"},
	[EVENT_SNAPSHOT_REFUSED] = {"snapshot-refused", "a snapshot was not valid"},
	[EVENT_SUBNET_CHANGED] = {"subnet-changed",
				  "the plugin belongs to another subnet than the one before: the "
				  "model begins anew"},
	[EVENT_OWN_SM_STATE] = {"own-sm-state",
				"the state of the SM that carries the plugin changed"},
	[EVENT_TRAP] = {"trap", "opensm received a trap, or made one itself (64-67)"},
	[EVENT_SWEEP_STARTED] = {"sweep-started", "a heavy sweep began"},
	[EVENT_SWEEP_FAILED] = {"sweep-failed", "a sweep ended without the subnet coming up"},
	[EVENT_REROUTED] = {"rerouted", "a reroute without a sweep ended"},
	[EVENT_SUBNET_UP] = {"subnet-up",
			     "a heavy sweep ended and the subnet is up, maybe with errors"},
	[EVENT_LFTS_CHANGED] = {"lfts-changed",
				"many switches have other forwarding tables; the sweep's story "
				"lists them"},
	[EVENT_ALERT_RAISED] = {"alert-raised", "an alert was raised"},
	[EVENT_ALERT_CLEARED] = {"alert-cleared", "an alert is over"},
	[EVENT_UNCLEAN_END] = {"unclean-end",
			       "ibsmd began after an end that was not clean: events of the numbers "
			       "named may be missing"},
};

/* Their names are fabric/change-text.c's. */
static const char *const change_texts[FABRIC_CHANGE_KINDS] = {
	[FABRIC_CHANGE_FIRST_SEEN] = "the first snapshot of a subnet arrived",
	[FABRIC_CHANGE_SM_APPEARED] = "opensm knows of another subnet manager",
	[FABRIC_CHANGE_SM_DISAPPEARED] = "a subnet manager is gone",
	[FABRIC_CHANGE_SM_STATE] = "a subnet manager has another state",
	[FABRIC_CHANGE_SM_PRIORITY] = "a subnet manager has another priority",
	[FABRIC_CHANGE_ENGINE_USED] = "another routing engine is in use, or none",
	[FABRIC_CHANGE_ROUTING_FELL_BACK] =
		"the routing engines that were asked for failed, and opensm took its default one",
	[FABRIC_CHANGE_ROUTING_FALL_BACK_OVER] =
		"a routing engine that was asked for is in use again",
	[FABRIC_CHANGE_NODE_REMOVED] = "a node is gone",
	[FABRIC_CHANGE_NODE_ADDED] = "a node is new",
	[FABRIC_CHANGE_LINK_REMOVED] = "a cable is gone",
	[FABRIC_CHANGE_LINK_MOVED] = "a cable leads to another port",
	[FABRIC_CHANGE_LINK_ADDED] = "a cable is new",
	[FABRIC_CHANGE_LINK_WIDTH] = "a cable runs at another width",
	[FABRIC_CHANGE_LINK_SPEED] = "a cable runs at another speed",
	[FABRIC_CHANGE_PORT_STATE] = "a port has another state while its cable stayed",
	[FABRIC_CHANGE_LFT_MISMATCH] =
		"a switch did not acknowledge the forwarding table that opensm computed",
	[FABRIC_CHANGE_LFT_MISMATCH_OVER] = "a switch has the computed forwarding table again",
	[FABRIC_CHANGE_LID] = "a port has another LID",
	[FABRIC_CHANGE_LMC] = "a port has another LMC",
	[FABRIC_CHANGE_NODE_RENAMED] = "a node has another name",
	[FABRIC_CHANGE_PARTITION_REMOVED] = "a partition is gone",
	[FABRIC_CHANGE_PARTITION_ADDED] = "a partition is new",
	[FABRIC_CHANGE_PARTITION_MEMBERS] = "ports joined or left a partition",
	[FABRIC_CHANGE_GROUP_REMOVED] = "a multicast group is gone",
	[FABRIC_CHANGE_GROUP_ADDED] = "a multicast group is new",
	[FABRIC_CHANGE_GROUP_MEMBERS] = "ports joined or left a multicast group",
	[FABRIC_CHANGE_OPTION] = "an option of opensm has another value",
	[FABRIC_CHANGE_LFT] = "a switch has another forwarding table",
};

const char *event_kind_name(unsigned kind)
{
	if (kind < EVENT_FABRIC_CHANGE)
		return kinds[kind].name;
	if (kind < EVENT_KINDS)
		return fabric_change_kind_name(
			(enum fabric_change_kind)(kind - EVENT_FABRIC_CHANGE));
	return NULL;
}

const char *event_kind_text(unsigned kind)
{
	if (kind < EVENT_FABRIC_CHANGE)
		return kinds[kind].text;
	return kind < EVENT_KINDS ? change_texts[kind - EVENT_FABRIC_CHANGE] : NULL;
}

bool event_kind_exists(const char *name)
{
	for (unsigned kind = 0; kind < EVENT_KINDS; kind++)
		if (strcmp(event_kind_name(kind), name) == 0)
			return true;
	return false;
}
