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
				  "had read them"},
	[EVENT_SNAPSHOT_REFUSED] = {"snapshot-refused", "a snapshot was not valid"},
	[EVENT_SUBNET_CHANGED] = {"subnet-changed",
				  "the plugin belongs to another subnet than the one before: the "
				  "model begins anew"},
	[EVENT_OWN_SM_STATE] = {"own-sm-state",
				"the state of the SM that carries the plugin changed"},
	[EVENT_TRAP] = {"trap", "opensm received a trap, or made one itself (64-67)"},
	[EVENT_SWEEP_STARTED] = {"sweep-started", "a heavy sweep began"},
	[EVENT_SWEEP_FAILED] = {"sweep-failed",
				"a sweep ended without the subnet coming up, or with errors"},
	[EVENT_REROUTED] = {"rerouted", "a reroute without a sweep ended"},
	[EVENT_SUBNET_UP] = {"subnet-up", "a heavy sweep ended and the subnet is up"},
	[EVENT_LFTS_CHANGED] = {"lfts-changed",
				"many switches have other forwarding tables; the sweep's story "
				"lists them"},
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
	return kind < EVENT_FABRIC_CHANGE ? kinds[kind].text : NULL;
}

bool event_kind_exists(const char *name)
{
	for (unsigned kind = 0; kind < EVENT_KINDS; kind++)
		if (strcmp(event_kind_name(kind), name) == 0)
			return true;
	return false;
}
