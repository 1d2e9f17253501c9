// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The table of ibsmd.conf's keys: defaults, bounds, and which of them must fit each other.
#include "daemon/clock.h"
#include "daemon/conf-internal.h"
#include "ibsm/limits.h"
#include "util/cleanup.h"

/*
 * Why a default is what it is, is said where the detector's own default is (the headers of
 * fabric/), in conf/ibsmd.conf and in ibsmd.conf(5). test-conf.c holds them to be the same.
 */

#define TEXT(x) TEXT_(x)
#define TEXT_(x) #x

#define MSEC (double)USEC_PER_MSEC
#define SEC (double)USEC_PER_SEC
#define MINUTE (60 * SEC)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)

#define FIELD(member)                                                                              \
	.offset = offsetof(struct conf, member), .bytes = sizeof(((struct conf *)0)->member)
#define KEY(kind, section, name, value, member, lowest, highest)                                   \
	{                                                                                          \
		.key = {section, name, value}, .type = kind, FIELD(member), .min = (lowest),       \
		.max = (highest)                                                                   \
	}

/* clang-format off */
#define PLAIN(kind, name, value, member) KEY(kind, SECTION, name, value, member, 0, 0)
#define COUNT(name, value, member, min, max) KEY(CONF_COUNT, SECTION, name, value, member, min, max)
#define REAL(name, value, member, min, max) KEY(CONF_REAL, SECTION, name, value, member, min, max)
#define SPAN(name, value, member, min, max) KEY(CONF_SPAN, SECTION, name, value, member, min, max)
#define POLLS(name, value, member) COUNT(name, value, member, 1, 100)

/* A damper's four. */
#define DAMPER(prefix, member, half_life, suppress_at, reuse_at, hold)                             \
	SPAN(prefix "HalfLifeSec", half_life, member.half_life_usec, SEC, 7 * DAY),                \
	REAL(prefix "Suppress", suppress_at, member.suppress, 0.001, 1e6),                         \
	REAL(prefix "Reuse", reuse_at, member.reuse, 0.001, 1e6),                                  \
	SPAN(prefix "HoldMaxSec", hold, member.hold_usec, SEC, 30 * DAY)

static const struct conf_setting settings[] = {
#define SECTION "Daemon"
	PLAIN(CONF_PATH, "NodeNameMap", "/etc/opensm/ib-node-name-map", node_name_map),
	COUNT("EventsMax", TEXT(IBSM_EVENTS_MAX), events_max, 16, 1 << 20),
	COUNT("SweepsMax", TEXT(IBSM_SWEEPS_MAX), sweeps_max, 1, 1 << 16),
	SPAN("PluginTimeoutSec", "10s", plugin_timeout_usec, 2 * SEC, HOUR),
#undef SECTION
#define SECTION "Alerts"
	SPAN("DropsClearSec", "10min", drops_clear_usec, SEC, 7 * DAY),
	SPAN("SweepFailedClearSec", "1min", sweep_failed_clear_usec, SEC, DAY),
#undef SECTION
#define SECTION "Probe"
	PLAIN(CONF_BOOL, "Enabled", "yes", probe.enabled),
	PLAIN(CONF_PATH, "Program", "", probe.program),
	PLAIN(CONF_PATH, "Socket", "", probe.socket),
	PLAIN(CONF_PORT, "Port", "auto", probe.port),
	SPAN("PollSec", "10s", probe.poll_usec, SEC, HOUR),
	SPAN("QueryTimeoutSec", "1s", probe.timeout_usec, IBSM_PROBE_TIMEOUT_MSEC_MIN * MSEC,
	     IBSM_PROBE_TIMEOUT_MSEC_MAX * MSEC),
#undef SECTION
#define SECTION "SubnetManager"
	PLAIN(CONF_SMS, "ExpectedSM", "", sm.expected),
	COUNT("MaxSM", "2", sm.max_sms, 1, SM_TABLE_MAX),
	DAMPER("Flap", sm.flap, "15min", "2500", "750", "1h"),
	REAL("FlapChangePenalty", "1000", sm.change_weight, 0, 1e6),
	REAL("FlapRestartPenalty", "1000", sm.restart_weight, 0, 1e6),
	SPAN("RestartSettleSec", "1min", sm.restart_settle_usec, SEC, HOUR),
	SPAN("MasterChangedSec", "1h", sm.master_changed_usec, SEC, 30 * DAY),
	POLLS("LostPolls", "2", sm.lost_polls),
	POLLS("FoundPolls", "2", sm.found_polls),
	POLLS("UnresponsivePolls", "3", sm.unresponsive_polls),
	POLLS("ResponsivePolls", "2", sm.responsive_polls),
	POLLS("MultipleMastersPolls", "2", sm.masters_polls),
	POLLS("ViewsDisagreePolls", "3", sm.disagree_polls),
	COUNT("HungSweeps", "3", sm.hung_sweeps, 1, 1000),
	SPAN("HungMinSec", "15s", sm.hung_min_usec, SEC, DAY),
	SPAN("NoStandbySec", "5min", sm.no_standby_usec, SEC, 30 * DAY),
	SPAN("NotHighestSec", "1min", sm.not_highest_usec, SEC, DAY),
	SPAN("GoneSec", "10min", sm.gone_usec, SEC, 30 * DAY),
	SPAN("ForgetSec", "1d", sm.forget_usec, SEC, 365 * DAY),
#undef SECTION
#define SECTION "Placement"
	COUNT("ExtraHops", "2", placement.extra_hops, 1, 64),
	COUNT("EmbeddedNodesMax", "2048", placement.embedded_nodes_max, 1, IBSM_SNAPSHOT_NODES_MAX),
	DAMPER("Link", sm.link, "15min", "2500", "750", "1h"),
#undef SECTION
#define SECTION "OpensmOptions"
	COUNT("DefaultNodesMax", "500", options.default_nodes_max, 1, IBSM_SNAPSHOT_NODES_MAX),
	SPAN("TakeoverMaxSec", "1min", options.takeover_max_usec, 100 * MSEC, DAY),
	SPAN("TakeoverMinSec", "2s", options.takeover_min_usec, 100 * MSEC, DAY),
	SPAN("SilenceMaxSec", "5s", options.silence_max_usec, 100 * MSEC, DAY),
	COUNT("LidsPercentMax", "75", options.lids_percent_max, 1, 100),
#undef SECTION
#define SECTION "Sweeps"
	DAMPER("Storm", sweep.storm, "5min", "10", "3", "30min"),
	COUNT("StuckFactor", "5", sweep.stuck_factor, 2, 1000),
	SPAN("StuckMinSec", "30s", sweep.stuck_min_usec, SEC, DAY),
	SPAN("StuckUnknownSec", "5min", sweep.stuck_unknown_usec, SEC, DAY),
	SPAN("StuckClearSec", "5min", sweep.stuck_clear_usec, SEC, 30 * DAY),
	COUNT("UsualWindow", "100", sweep.usual_window, 3, SWEEP_STATS_MAX),
	COUNT("UsualMin", "10", sweep.usual_min, 3, SWEEP_STATS_MAX),
	REAL("SlowDeviations", "6", sweep.slow_deviations, 0, 1000),
	REAL("SlowFactor", "2", sweep.slow_factor, 1, 1000),
	SPAN("SlowMinSec", "1s", sweep.slow_min_usec, MSEC, DAY),
	COUNT("SlowSweeps", "3", sweep.slow_sweeps, 1, 1000),
	SPAN("SlowClearSec", "1h", sweep.slow_clear_usec, SEC, 30 * DAY),
	SPAN("NodeUnresponsiveSec", "1min", sweep.unresponsive_usec, SEC, 30 * DAY),
#undef SECTION
#define SECTION "Traps"
	DAMPER("Flood", sweep.flood, "1min", "8", "2", "10min"),
#undef SECTION
};
/* clang-format on */

const struct conf_setting *conf_setting(size_t i)
{
	return i < ELEMENTSOF(settings) ? &settings[i] : NULL;
}

const struct conf_key *conf_key(unsigned i)
{
	return i < ELEMENTSOF(settings) ? &settings[i].key : NULL;
}

static bool flap_fits(const struct conf *conf)
{
	return damper_config_is_valid(&conf->sm.flap);
}

static bool link_fits(const struct conf *conf)
{
	return damper_config_is_valid(&conf->sm.link);
}

static bool storm_fits(const struct conf *conf)
{
	return damper_config_is_valid(&conf->sweep.storm);
}

static bool flood_fits(const struct conf *conf)
{
	return damper_config_is_valid(&conf->sweep.flood);
}

static bool forget_fits(const struct conf *conf)
{
	return conf->sm.gone_usec <= conf->sm.forget_usec;
}

static bool takeover_fits(const struct conf *conf)
{
	return conf->options.takeover_min_usec < conf->options.takeover_max_usec;
}

static bool usual_fits(const struct conf *conf)
{
	return conf->sweep.usual_min <= conf->sweep.usual_window;
}

#define DAMPER_RULE                                                                                \
	"Reuse < Suppress, and Suppress no higher than Reuse * 2^(HoldMaxSec / HalfLifeSec)"
#define DAMPER_NAMES(prefix)                                                                       \
	{                                                                                          \
		prefix "HalfLifeSec", prefix "Suppress", prefix "Reuse", prefix "HoldMaxSec"       \
	}

static const struct conf_group groups[] = {
	{"SubnetManager", DAMPER_NAMES("Flap"), flap_fits, DAMPER_RULE},
	{"SubnetManager",
	 {"GoneSec", "ForgetSec"},
	 forget_fits,
	 "GoneSec no longer than ForgetSec"},
	{"Placement", DAMPER_NAMES("Link"), link_fits, DAMPER_RULE},
	{"OpensmOptions",
	 {"TakeoverMaxSec", "TakeoverMinSec"},
	 takeover_fits,
	 "TakeoverMinSec < TakeoverMaxSec"},
	{"Sweeps", DAMPER_NAMES("Storm"), storm_fits, DAMPER_RULE},
	{"Sweeps", {"UsualWindow", "UsualMin"}, usual_fits, "UsualMin no more than UsualWindow"},
	{"Traps", DAMPER_NAMES("Flood"), flood_fits, DAMPER_RULE},
};

const struct conf_group *conf_group(size_t i)
{
	return i < ELEMENTSOF(groups) ? &groups[i] : NULL;
}
