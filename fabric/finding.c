// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// A finding: a condition that holds now and that a person should know; one table of their kinds.
#include "fabric/finding.h"

const struct finding_kind_info *finding_kind_info(unsigned kind)
{
	static const struct finding_kind_info kinds[FINDING_KINDS] = {
		[FINDING_PLUGIN_LOST] = {"plugin-lost",
					 "no plugin is connected, or it has been silent, for "
					 "longer than PluginTimeoutSec=",
					 "a plugin connects, or speaks again"},
		[FINDING_SWEEP_FAILED] = {"sweep-failed",
					  "the last sweep ended with errors (warning), or since "
					  "every routing engine failed (critical)",
					  "a sweep ends well"},
		[FINDING_ROUTING_ENGINE_FALLBACK] = {"routing-engine-fallback",
						     "opensm uses a routing engine that was not "
						     "asked for, since those that were failed",
						     "one that was asked for is used"},
		[FINDING_LFT_MISMATCH] = {"lft-mismatch",
					  "a switch did not acknowledge the forwarding table that "
					  "opensm computed for it",
					  "all switches have what was computed"},
		[FINDING_EVENTS_DROPPED] = {"events-dropped",
					    "the plugin dropped records: its ring was full, or "
					    "ibsmd was not there to read them",
					    "none was dropped for DropsClearSec="},
	};

	return kind < FINDING_KINDS ? &kinds[kind] : NULL;
}

const char *finding_severity_name(enum finding_severity severity)
{
	switch (severity) {
	case FINDING_NOTICE:
		return "notice";
	case FINDING_WARNING:
		return "warning";
	case FINDING_CRITICAL:
		return "critical";
	}
	return NULL;
}
