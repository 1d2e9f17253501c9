// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The one table of the kinds of alerts: name, severity, when raised, when cleared, what to do.
#include "detect-kind.h"

#include <errno.h>
#include <string.h>

static const struct detect_kind_info kinds[DETECT_KINDS] = {
	[FINDING_PLUGIN_LOST] =
		{
			.name = "plugin-lost",
			.severity = FINDING_WARNING,
			.raised = "no plugin is connected, or it has been silent, for longer than "
				  "PluginTimeoutSec=",
			.cleared = "a plugin connects, or speaks again",
			.advice = "See whether opensm runs, and whether its opensm.conf has "
				  "\"event_plugin_name ibsmplugin\"; its log names a plugin that "
				  "it cannot load.",
			.evidence = "silent_usec",
			.keys = "PluginTimeoutSec",
		},
	[FINDING_SWEEP_FAILED] =
		{
			.name = "sweep-failed",
			.severity = FINDING_WARNING,
			.raised =
				"the last sweep ended with errors or was broken off (warning), or "
				"every routing engine failed (critical)",
			.cleared = "a sweep has ended well, and none has failed for "
				   "SweepFailedClearSec=",
			.advice = "\"ibsmctl sweep\" tells how far it came; opensm's log names the "
				  "MADs that were not answered. Where every routing engine failed, "
				  "traffic runs on the tables of before.",
			.evidence = "sweep result",
			.keys = "SweepFailedClearSec",
		},
	[FINDING_ROUTING_ENGINE_FALLBACK] =
		{
			.name = "routing-engine-fallback",
			.severity = FINDING_WARNING,
			.raised =
				"opensm uses a routing engine that was not asked for, since those "
				"that were failed",
			.cleared = "one that was asked for is used",
			.advice =
				"opensm's log says why the engine refused the fabric: most often a "
				"missing or a misplugged cable. Restore it, then send opensm "
				"SIGHUP.",
			.evidence = "engine_used engines_configured",
			.keys = "",
		},
	[FINDING_LFT_MISMATCH] =
		{
			.name = "lft-mismatch",
			.severity = FINDING_WARNING,
			.raised = "a switch did not acknowledge the forwarding table that opensm "
				  "computed for it",
			.cleared = "all switches have what was computed",
			.advice = "Traffic to the LIDs in the evidence takes the way of before, or "
				  "none. See whether the switch answers (smpquery), then send "
				  "opensm SIGHUP.",
			.evidence = "switches_total switches lids",
			.keys = "",
		},
	[FINDING_EVENTS_DROPPED] =
		{
			.name = "events-dropped",
			.severity = FINDING_WARNING,
			.raised = "the plugin dropped records: its ring was full, or ibsmd was not "
				  "there to read them",
			.cleared = "none was dropped for DropsClearSec=",
			.advice =
				"If ibsmd was stopped or restarted, nothing. Else see whether its "
				"host is short of CPU, or enlarge the plugin's ring "
				"(ibsm.ring in event_plugin_options).",
			.evidence = "dropped",
			.keys = "DropsClearSec",
		},
	[DETECT_SM_FLAPPING] =
		{
			.name = "sm-flapping",
			.severity = FINDING_CRITICAL,
			.raised = "the penalty of changes of the master, or of one SM's restarts, "
				  "has reached its threshold",
			.cleared = "the penalty has decayed below the threshold to reuse",
			.advice = "Read the likely reason in the evidence. Equal priorities: give "
				  "each SM one of its own. A fail-back pair: find out why the SM "
				  "of the higher priority goes, or lower its priority until it "
				  "stays. An SM that dies: read its log and its host's.",
			.evidence = "from from_name to to_name from_priority to_priority reason "
				    "penalty reuse changes_last_hour guid node lid state priority "
				    "restarts",
			.keys = "FlapHalfLifeSec FlapSuppress FlapReuse FlapHoldMaxSec "
				"FlapChangePenalty FlapRestartPenalty RestartSettleSec",
		},
	[DETECT_SM_MASTER_CHANGED] =
		{
			.name = "sm-master-changed",
			.severity = FINDING_NOTICE,
			.raised = "another SM is master",
			.cleared = "no further change for some time",
			.advice = "If nobody planned it, find out why the former master went.",
			.evidence = "from from_name to to_name from_priority to_priority reason "
				    "gap_usec changed_realtime_usec",
			.keys = "MasterChangedSec",
		},
	[DETECT_SM_LOST] =
		{
			.name = "sm-lost",
			.severity = FINDING_CRITICAL,
			.raised = "no master SM answered in consecutive polls, and none says of "
				  "itself that it is master",
			.cleared = "a master answered in consecutive polls, or says of itself that "
				   "it is master",
			.advice = "Traffic goes on, but nothing can join, and no failed link is "
				  "routed around. Start a subnet manager.",
			.evidence = "polls_without_master status last_master last_master_name "
				    "last_master_realtime_usec is_sm_bit",
			.keys = "LostPolls FoundPolls",
		},
	[DETECT_SM_MULTIPLE_MASTERS] =
		{
			.name = "sm-multiple-masters",
			.severity = FINDING_CRITICAL,
			.raised = "more than one SM says that it is master, in consecutive polls",
			.cleared = "at most one says so, in consecutive polls",
			.advice = "They undo each other's work. Stop all but one; then look for "
				  "different SM_Keys, ignore_other_sm, or a fabric that was split "
				  "and joined again.",
			.evidence = "masters names priorities",
			.keys = "MultipleMastersPolls",
		},
	[DETECT_SM_UNRESPONSIVE] =
		{
			.name = "sm-unresponsive",
			.severity = FINDING_WARNING,
			.raised = "a known SM left consecutive polls unanswered",
			.cleared = "it answered consecutive polls, or is no longer known",
			.advice = "See whether its process and its host run, and whether its link "
				  "is up. A standby that does not answer will not take over.",
			.evidence = "guid node lid state priority polls_missed status "
				    "last_seen_realtime_usec is_sm_bit plugin_connected",
			.keys = "UnresponsivePolls ResponsivePolls GoneSec ForgetSec",
		},
	[DETECT_SM_HUNG] =
		{
			.name = "sm-hung",
			.severity = FINDING_CRITICAL,
			.raised = "the master answers polls but sends nothing of its own though "
				  "sweeps are due: its ActCount grows by no more than the polls "
				  "that it answered",
			.cleared = "its ActCount grows by more than the polls that it answered",
			.advice = "Its answering thread lives, its sweeper does not. Take a stack "
				  "trace of the process, then restart it.",
			.evidence = "guid node lid state priority act_count act_count_growth "
				    "polls_answered silent_usec sweep_interval_usec",
			.keys = "HungSweeps HungMinSec",
		},
	[DETECT_SM_NO_STANDBY] =
		{
			.name = "sm-no-standby",
			.severity = FINDING_NOTICE,
			.raised = "for some time no SM has been standby beside the master",
			.cleared = "there is a standby",
			.advice =
				"Run a second subnet manager, on another host and another switch.",
			.evidence = "guid node lid state priority",
			.keys = "NoStandbySec",
		},
	[DETECT_SM_EQUAL_PRIORITY] =
		{
			.name = "sm-equal-priority",
			.severity = FINDING_WARNING,
			.raised = "SMs that compete for being master have the same priority: the "
				  "lower port GUID decides, and takes the mastership back whenever "
				  "it returns",
			.cleared = "their priorities differ",
			.advice =
				"Set sm_priority in each opensm.conf: the intended master highest.",
			.evidence = "priority guids names",
			.keys = "GoneSec",
		},
	[DETECT_SM_NOT_HIGHEST] =
		{
			.name = "sm-not-highest",
			.severity = FINDING_WARNING,
			.raised = "for some time an SM that waits has had a higher priority than "
				  "the master",
			.cleared = "the master has the highest priority",
			.advice = "The master should have handed over at a sweep: see whether it "
				  "sweeps, whether ignore_other_sm is set, and whether their "
				  "SM_Keys differ.",
			.evidence =
				"guid node lid state priority master master_name master_priority",
			.keys = "NotHighestSec",
		},
	[DETECT_SM_UNEXPECTED] =
		{
			.name = "sm-unexpected",
			.severity = FINDING_WARNING,
			.raised =
				"an SM is not on the list ExpectedSM=; without a list: one runs on "
				"a switch although hosts run some, or there are more than MaxSM=",
			.cleared = "it is gone, or it is expected",
			.advice = "Disable it where it runs, or add it to ExpectedSM=.",
			.evidence = "guid node lid state priority node_type guids names",
			.keys = "ExpectedSM MaxSM GoneSec",
		},
	[DETECT_SM_VIEWS_DISAGREE] =
		{
			.name = "sm-views-disagree",
			.severity = FINDING_WARNING,
			.raised = "what an opensm says of itself and what the fabric hears from it "
				  "differ, in consecutive polls",
			.cleared = "they agree, in consecutive polls",
			.advice = "Several opensms on one port, a wrong LID, or two masters: query "
				  "each SM with sminfo.",
			.evidence = "guid node lid state priority inside_state outside_state "
				    "inside_priority "
				    "outside_priority inside_lid outside_lid",
			.keys = "ViewsDisagreePolls GoneSec",
		},
	[DETECT_SM_PLACEMENT] =
		{
			.name = "sm-placement",
			.severity = FINDING_NOTICE,
			.raised = "an SM stands where it need not: far, behind a slow or failing "
				  "link, on the master's own switch, or in a switch whose SM is "
				  "too small for the fabric",
			.cleared = "none of it holds any more",
			.advice =
				"The evidence names each reason: move the SM, or repair its link.",
			.evidence = "guid node lid state priority reasons switch switch_name hops "
				    "best_hops best_switch_name rate_mbps best_rate_mbps "
				    "usual_rate_mbps",
			.keys = "ExtraHops EmbeddedNodesMax LinkHalfLifeSec LinkSuppress LinkReuse "
				"LinkHoldMaxSec",
		},
	[DETECT_SM_CONFIG] =
		{
			.name = "sm-config",
			.severity = FINDING_NOTICE,
			.raised = "an option of opensm fails one of the checks",
			.cleared = "it passes",
			.advice = "The message says why, the evidence where that is written; "
				  "opensm rereads most options on SIGHUP.",
			.evidence = "option reason source",
			.keys = "DefaultNodesMax TakeoverMaxSec TakeoverMinSec SilenceMaxSec "
				"LidsPercentMax",
		},
	[DETECT_SWEEP_STORM] =
		{
			.name = "sweep-storm",
			.severity = FINDING_WARNING,
			.raised = "heavy sweeps follow each other: their decaying count has "
				  "reached its threshold",
			.cleared = "the count has decayed below the threshold to reuse",
			.advice =
				"The evidence names the most frequent cause and sender: a link or "
				"node that comes and goes. Disable its port until it is repaired.",
			.evidence = "heavy_sweeps window_usec cause penalty reuse sender "
				    "sender_name sender_lid trap port port_traps port_link_changes",
			.keys = "StormHalfLifeSec StormSuppress StormReuse StormHoldMaxSec",
		},
	[DETECT_SWEEP_STUCK] =
		{
			.name = "sweep-stuck",
			.severity = FINDING_CRITICAL,
			.raised = "a heavy sweep has run for several times its usual duration",
			.cleared = "a sweep ended well within that time",
			.advice = "Look for nodes that do not answer, and in opensm's log for "
				  "time-outs.",
			.evidence = "sweep running_usec usual_usec limit_usec",
			.keys = "StuckFactor StuckMinSec StuckUnknownSec StuckClearSec UsualWindow "
				"UsualMin",
		},
	[DETECT_SWEEP_SLOW] =
		{
			.name = "sweep-slow",
			.severity = FINDING_WARNING,
			.raised = "consecutive heavy sweeps took far longer than the median of the "
				  "former ones",
			.cleared = "consecutive ones took their usual time, or this has become the "
				   "usual",
			.advice = "Compare the phases: slow discovery is nodes that do not answer, "
				  "slow routing a busy host, slow setup switches that do not "
				  "acknowledge.",
			.evidence = "sweep duration_usec median_usec mad_usec limit_usec phase "
				    "discovery_usec routing_usec setup_usec silent_nodes",
			.keys = "UsualWindow UsualMin SlowDeviations SlowFactor SlowMinSec "
				"SlowSweeps SlowClearSec",
		},
	[DETECT_TRAP_FLOOD] =
		{
			.name = "trap-flood",
			.severity = FINDING_WARNING,
			.raised = "one sender's traps follow each other: their decaying count has "
				  "reached its threshold",
			.cleared = "the count has decayed below the threshold to reuse",
			.advice = "Reseat or replace the cable of the port that is named, or "
				  "disable the port.",
			.evidence = "sender sender_name sender_lid trap port port_traps "
				    "port_link_changes traps penalty reuse",
			.keys = "FloodHalfLifeSec FloodSuppress FloodReuse FloodHoldMaxSec",
		},
	[DETECT_NODE_UNRESPONSIVE] =
		{
			.name = "node-unresponsive",
			.severity = FINDING_WARNING,
			.raised = "something at the end of a live link did not answer in "
				  "consecutive sweeps",
			.cleared = "it was discovered, or its link is down",
			.advice = "opensm waits for its time-outs in each sweep. Look at the node, "
				  "or disable the port that it hangs on.",
			.evidence = "since_realtime_usec snapshots node node_name behind "
				    "behind_name behind_port",
			.keys = "NodeUnresponsiveSec",
		},
};

const struct detect_kind_info *detect_kind_info(unsigned int kind)
{
	return kind < DETECT_KINDS ? &kinds[kind] : NULL;
}

const char *detect_kind_name(unsigned int kind)
{
	return kind < DETECT_KINDS ? kinds[kind].name : NULL;
}

bool detect_kind_has_evidence(unsigned int kind, const char *name)
{
	size_t length = strlen(name);
	const char *at = kind < DETECT_KINDS ? kinds[kind].evidence : NULL;

	for (; at; at = strchr(at, ' ') ? strchr(at, ' ') + 1 : NULL)
		if (strncmp(at, name, length) == 0 && (at[length] == ' ' || at[length] == '\0'))
			return true;
	return false;
}

int detect_kind_from_name(const char *name)
{
	for (unsigned int i = 0; i < DETECT_KINDS; i++)
		if (strcmp(name, kinds[i].name) == 0)
			return (int)i;
	return -EINVAL;
}
