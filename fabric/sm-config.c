// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Checks of opensm's options against the fabric that it runs: one table, each with reason and
// source.
#include "sm-config.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "ibsm/limits.h"
#include "printable.h"

#define USEC_PER_MSEC UINT64_C(1000)
#define USEC_PER_SEC UINT64_C(1000000)

/* opensm.conf's default for max_wire_smps, and what opensm(8) says of 0: no limit; opensm stores
 * 0x7fffffff then. */
#define WIRE_SMPS_DEFAULT 4
#define WIRE_SMPS_UNLIMITED 0x7fffffff

struct config {
	const struct fabric *fabric;
	const struct sm_config_limits *limits;
	enum sm_config_shape shape;
	struct sm_config_result *result; /* of the check that runs */
};

__attribute__((format(printf, 3, 4))) static bool say(struct config *c, bool failed,
						      const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(c->result->text, sizeof(c->result->text), format, args);
	va_end(args);
	c->result->failed = failed;
	return true;
}

/* Each returns false where opensm does not have the option, or has it in another type. */

static bool get_number(const struct config *c, const char *name, uint64_t *ret)
{
	const struct ibsm_snap_option *option = fabric_option(c->fabric, name);

	if (!option || option->kind != IBSM_OPTION_INTEGER)
		return false;
	*ret = option->value;
	return true;
}

static bool get_truth(const struct config *c, const char *name, bool *ret)
{
	const struct ibsm_snap_option *option = fabric_option(c->fabric, name);

	if (!option || option->kind != IBSM_OPTION_BOOLEAN)
		return false;
	*ret = option->value != 0;
	return true;
}

static bool get_secret(const struct config *c, const char *name, bool *ret_is_set)
{
	const struct ibsm_snap_option *option = fabric_option(c->fabric, name);

	if (!option || option->kind != IBSM_OPTION_SECRET)
		return false;
	*ret_is_set = option->value != 0;
	return true;
}

/* ---- engines ---- */

/* opensm(8), ROUTING: these need no cycle-free fabric, or break its cycles. */
static const char *const deadlock_free[] = {"updn",	  "dnup", "ftree",  "lash",
					    "torus-2QoS", "nue",  "dfsssp", NULL};
static const char *const tree_engines[] = {"ftree", "updn", "dnup", NULL};

struct engines {
	size_t asked; /* no_fallback is none */
	bool no_fallback;
	bool tree;	    /* one made for trees is among them */
	bool deadlock_free; /* as above */
	bool torus;
	char names[128]; /* printable, "minhop" where nothing was asked for */
};

static bool is_among(const char *name, const char *const *list)
{
	for (; *list; list++)
		if (strcasecmp(name, *list) == 0)
			return true;
	return false;
}

static void get_engines(const struct config *c, struct engines *ret)
{
	const struct snapshot *snapshot = c->fabric->snapshot;
	size_t length = 0;

	*ret = (struct engines){0};
	for (uint32_t i = 0; i < snapshot_engines(snapshot); i++) {
		const struct ibsm_snap_engine *row = snapshot_engine(snapshot, i);
		const char *raw = snapshot_string(snapshot, row->name);
		char name[PRINTABLE_BYTES(32)];

		if (row->flags & IBSM_ENGINE_NO_FALLBACK)
			ret->no_fallback = true;
		if (!(row->flags & IBSM_ENGINE_ASKED) || strcasecmp(raw, "no_fallback") == 0)
			continue;
		printable(raw, strnlen(raw, 32), name, sizeof(name));
		length += (size_t)snprintf(ret->names + length, sizeof(ret->names) - length, "%s%s",
					   ret->asked > 0 ? "," : "", name);
		if (length >= sizeof(ret->names))
			length = sizeof(ret->names) - 1;
		ret->asked++;
		ret->tree |= is_among(raw, tree_engines);
		ret->deadlock_free |= is_among(raw, deadlock_free);
		ret->torus |= strcasecmp(raw, "torus-2QoS") == 0;
	}
	if (ret->asked == 0)
		snprintf(ret->names, sizeof(ret->names), "minhop");
}

/* ---- the checks ---- */

static bool sweep_interval(struct config *c)
{
	uint64_t sec;

	if (!get_number(c, "sweep_interval", &sec))
		return false;
	if (sec == 0)
		return say(c, true,
			   "sweep_interval is 0: opensm never looks by itself, and what no trap "
			   "tells stays unseen");
	return say(c, false, "a light sweep every %" PRIu64 " s", sec);
}

static bool sweep_on_trap(struct config *c)
{
	bool on;

	if (!get_truth(c, "sweep_on_trap", &on))
		return false;
	return say(c, !on,
		   on ? "traps cause a sweep at once"
		      : "sweep_on_trap is FALSE: a link that goes down is routed around at "
			"the next light sweep only");
}

static bool force_heavy_sweep(struct config *c)
{
	bool on;

	if (!get_truth(c, "force_heavy_sweep", &on))
		return false;
	return say(c, on,
		   on ? "force_heavy_sweep is TRUE: the whole fabric is read and set up anew "
			"at each interval"
		      : "heavy sweeps only where something changed");
}

static bool takeover(struct config *c)
{
	uint64_t msec, polls, usec;

	if (!get_number(c, "sminfo_polling_timeout", &msec) ||
	    !get_number(c, "polling_retry_number", &polls) ||
	    __builtin_mul_overflow(msec, polls, &usec) ||
	    __builtin_mul_overflow(usec, USEC_PER_MSEC, &usec))
		return false;
	if (usec > c->limits->takeover_max_usec)
		return say(c, true,
			   "a standby waits for %" PRIu64 " polls of %" PRIu64 " ms, %" PRIu64
			   " s in all, before it takes over from a dead master",
			   polls, msec, usec / USEC_PER_SEC);
	if (usec < c->limits->takeover_min_usec)
		return say(c, true,
			   "a standby takes over after %" PRIu64 " polls of %" PRIu64
			   " ms, %" PRIu64 " ms in all: a busy master is taken for a dead one",
			   polls, msec, usec / USEC_PER_MSEC);
	return say(c, false, "a standby takes over after %" PRIu64 " polls of %" PRIu64 " ms",
		   polls, msec);
}

static bool wire_smps(struct config *c)
{
	uint32_t nodes = fabric_counts(c->fabric)->nodes;
	bool large = nodes > c->limits->default_nodes_max;
	uint64_t smps;

	if (!get_number(c, "max_wire_smps", &smps))
		return false;
	if (smps == 0 || smps >= WIRE_SMPS_UNLIMITED)
		return say(c, large, "max_wire_smps is without limit%s",
			   large ? ": VL15 has no flow control, and switches drop what comes too "
				   "fast"
				 : "");
	if (large && smps <= WIRE_SMPS_DEFAULT)
		return say(c, true,
			   "max_wire_smps is %" PRIu64 " with %" PRIu32
			   " nodes: a few that do not answer hold up all of discovery",
			   smps, nodes);
	return say(c, false, "%" PRIu64 " SMPs at once for %" PRIu32 " nodes", smps, nodes);
}

static bool transaction(struct config *c)
{
	uint64_t msec, retries, usec;

	if (!get_number(c, "transaction_timeout", &msec) ||
	    !get_number(c, "transaction_retries", &retries) ||
	    __builtin_mul_overflow(msec, retries + 1, &usec) ||
	    __builtin_mul_overflow(usec, USEC_PER_MSEC, &usec))
		return false;
	return say(c, usec > c->limits->silence_max_usec,
		   "a node that does not answer holds up one of opensm's requests for %" PRIu64
		   " ms (%" PRIu64 " ms, %" PRIu64 " retries)",
		   usec / USEC_PER_MSEC, msec, retries);
}

static bool tree_engine(struct config *c)
{
	struct engines engines;

	if (c->shape != SM_SHAPE_TREE)
		return false;
	get_engines(c, &engines);
	return say(c, !engines.tree,
		   engines.tree ? "the fabric is a tree, and %s is asked for"
				: "the fabric is a tree, and %s is asked for: none of ftree, updn, "
				  "dnup",
		   engines.names);
}

static bool deadlock_free_engine(struct config *c)
{
	struct engines engines;

	if (c->shape != SM_SHAPE_OTHER)
		return false;
	get_engines(c, &engines);
	return say(c, !engines.deadlock_free,
		   engines.deadlock_free ? "the fabric is no tree, and %s is asked for"
					 : "the fabric is no tree, and %s is asked for: routes can "
					   "wait for each other in a circle",
		   engines.names);
}

static bool fallback_order(struct config *c)
{
	struct engines engines;

	get_engines(c, &engines);
	if (engines.asked == 0)
		return false;
	if (engines.no_fallback)
		return say(
			c, true,
			"no_fallback is set beside %s: a fabric that it refuses is not routed at "
			"all",
			engines.names);
	if (engines.asked == 1 && strcasecmp(engines.names, "minhop") != 0)
		return say(c, true,
			   "%s has no engine to follow it: a fabric that it refuses is routed by "
			   "minhop, without a word",
			   engines.names);
	return say(c, false, "%s, in this order", engines.names);
}

static bool torus_qos(struct config *c)
{
	struct engines engines;
	bool qos;

	get_engines(c, &engines);
	if (!engines.torus || !get_truth(c, "qos", &qos))
		return false;
	return say(c, !qos,
		   qos ? "torus-2QoS with qos"
		       : "torus-2QoS is asked for, but qos is FALSE: its virtual lanes, "
			 "which keep it from deadlocks, are not set up");
}

static bool ignore_other_sm(struct config *c)
{
	bool on;

	if (!get_truth(c, "ignore_other_sm", &on))
		return false;
	return say(c, on,
		   on ? "ignore_other_sm is TRUE: it stays master whoever else is"
		      : "other SMs are heeded");
}

static bool sm_inactive(struct config *c)
{
	bool on;

	if (!get_truth(c, "sm_inactive", &on))
		return false;
	return say(c, on,
		   on ? "sm_inactive is TRUE: it never becomes master by itself"
		      : "the SM takes part");
}

static bool m_key(struct config *c)
{
	bool set;

	if (!get_secret(c, "m_key", &set))
		return false;
	return say(c, !set,
		   set ? "an M_Key is set"
		       : "no M_Key is set: anyone with MAD access on any host can "
			 "reconfigure every port");
}

static bool m_key_protection(struct config *c)
{
	uint64_t level;
	bool set;

	if (!get_secret(c, "m_key", &set) || !set ||
	    !get_number(c, "m_key_protection_level", &level))
		return false;
	return say(c, level == 0,
		   level == 0 ? "m_key_protection_level is 0: any port tells its M_Key to anyone "
				"who asks"
			      : "protection level %" PRIu64,
		   level);
}

static bool m_key_lease(struct config *c)
{
	uint64_t sec;
	bool set;

	if (!get_secret(c, "m_key", &set) || !set || !get_number(c, "m_key_lease_period", &sec))
		return false;
	return say(c, sec == 0,
		   sec == 0
			   ? "m_key_lease_period is 0: if the key is lost, ports stay locked until "
			     "they are reset"
			   : "ports unlock after %" PRIu64 " s without an SM",
		   sec);
}

static bool lmc(struct config *c)
{
	uint32_t lids = fabric_counts(c->fabric)->lids;
	uint64_t percent = (uint64_t)lids * 100 / IBSM_UNICAST_LID_MAX;
	uint64_t value;

	if (!get_number(c, "lmc", &value) || value > 7)
		return false;
	return say(c, value > 0 && percent >= c->limits->lids_percent_max,
		   "LMC %" PRIu64 ": %u LID%s a port, %" PRIu32 " of %d unicast LIDs in use", value,
		   1u << value, value > 0 ? "s" : "", lids, IBSM_UNICAST_LID_MAX);
}

static bool console(struct config *c)
{
	const struct ibsm_snap_option *option = fabric_option(c->fabric, "console");
	const char *text;
	bool open;

	if (!option || option->kind != IBSM_OPTION_STRING || option->value == 0)
		return false;
	text = snapshot_string(c->fabric->snapshot, option->text);
	open = strcmp(text, "socket") == 0;
	return say(c, open,
		   open ? "the console listens on the network, without credentials"
			: "no console on the network");
}

static bool perfmgr(struct config *c)
{
	bool on;

	if (!get_truth(c, "perfmgr", &on))
		return false;
	return say(c, false,
		   on ? "perfmgr is on: opensm reads port counters"
		      : "perfmgr is off: no port counters come from opensm");
}

static bool qos(struct config *c)
{
	bool on;

	if (!get_truth(c, "qos", &on))
		return false;
	return say(c, false,
		   on ? "qos is on: SL to VL tables and arbitration are set up"
		      : "qos is off: SL to VL tables and arbitration stay as devices have "
			"them");
}

#define MAN "opensm(8)"
#define CONF "opensm.conf, as opensm --create-config writes it"

static const struct {
	struct sm_config_check check;
	bool (*judge)(struct config *c);
} checks[] = {
	{{"sweep-interval", "sweep_interval", FINDING_WARNING, false,
	  "Light sweeps find what no trap told of: traps are sent once or are lost. 0 disables "
	  "them.",
	  MAN " --sweep; " CONF},
	 sweep_interval},
	{{"sweep-on-trap", "sweep_on_trap", FINDING_WARNING, false,
	  "Traps 128 and 144 are how opensm learns of a change at once.", CONF},
	 sweep_on_trap},
	{{"force-heavy-sweep", "force_heavy_sweep", FINDING_WARNING, false,
	  "A heavy sweep of a fabric in which nothing changed costs time, and can only do harm.",
	  CONF},
	 force_heavy_sweep},
	{{"takeover-time", "sminfo_polling_timeout", FINDING_WARNING, false,
	  "A standby declares the master dead after polling_retry_number failed polls, "
	  "sminfo_polling_timeout apart. Until then nothing joins and no failed link is routed "
	  "around.",
	  CONF "; NVIDIA UFM REST API guide, SM Configuration (5000 ms and 4)"},
	 takeover},
	{{"max-wire-smps", "max_wire_smps", FINDING_NOTICE, false,
	  "opensm's defaults are meant for up to a few hundred nodes; each node that does not "
	  "answer "
	  "holds one of these slots for all of its retries.",
	  MAN " DESCRIPTION and --maxsmps; NVIDIA UFM REST API guide, SM Configuration (8)"},
	 wire_smps},
	{{"transaction-timeout", "transaction_timeout", FINDING_NOTICE, false,
	  "The time-out, times the retries and the first try, is what one silent node costs each "
	  "sweep.",
	  MAN " --timeout and --retries"},
	 transaction},
	{{"tree-engine", "routing_engine", FINDING_NOTICE, false,
	  "minhop spreads the routes of a tree of three levels badly, and breaks no credit loops "
	  "where "
	  "the tree has faults; ftree and updn are made for trees.",
	  MAN " ROUTING; opensm doc/current-routing.txt"},
	 tree_engine},
	{{"deadlock-free-engine", "routing_engine", FINDING_WARNING, false,
	  "Where switches form circles and no tree, shortest paths alone can deadlock.",
	  MAN " ROUTING; opensm doc/current-routing.txt"},
	 deadlock_free_engine},
	{{"fallback-order", "routing_engine", FINDING_NOTICE, false,
	  "If all engines of the list fail, opensm routes with minhop unless no_fallback is in it, "
	  "and then not at all. A second engine makes the choice yours.",
	  MAN " --routing_engine"},
	 fallback_order},
	{{"torus-qos", "qos", FINDING_WARNING, false,
	  "torus-2QoS is activated by -R torus-2QoS together with -Q.",
	  MAN " Torus-2QoS Routing Algorithm; torus-2QoS(8)"},
	 torus_qos},
	{{"ignore-other-sm", "ignore_other_sm", FINDING_WARNING, false,
	  "Two SMs of which one does not heed the other are two masters.", CONF},
	 ignore_other_sm},
	{{"sm-inactive", "sm_inactive", FINDING_WARNING, false,
	  "An inactive SM manages nothing and is no standby.", MAN " --inactive; " CONF},
	 sm_inactive},
	{{"m-key", "m_key", FINDING_NOTICE, false,
	  "An M_Key of 0 disables the protection of the ports' configuration.",
	  MAN " MKEY CONFIGURATION; NVIDIA InfiniBand Security Overview and Guidelines, Practical "
	      "Guidelines"},
	 m_key},
	{{"m-key-protection", "m_key_protection_level", FINDING_NOTICE, false,
	  "At level 0 a query returns the M_Key itself; NVIDIA recommends 2.",
	  MAN " MKEY CONFIGURATION; NVIDIA InfiniBand Security Overview and Guidelines, Practical "
	      "Guidelines"},
	 m_key_protection},
	{{"m-key-lease", "m_key_lease_period", FINDING_NOTICE, false,
	  "Ports let go of a key that no SM renews after the lease; 0 is never. NVIDIA recommends "
	  "60 "
	  "s.",
	  MAN " MKEY CONFIGURATION; NVIDIA InfiniBand Security Overview and Guidelines, Practical "
	      "Guidelines"},
	 m_key_lease},
	{{"lmc", "lmc", FINDING_NOTICE, false, "Each port takes 2^LMC of the 49151 unicast LIDs.",
	  CONF "; IBTA 4.1.3"},
	 lmc},
	{{"console", "console", FINDING_WARNING, false,
	  "The console can be connected to without credentials.", MAN " --console"},
	 console},
	{{"perfmgr", "perfmgr", FINDING_NOTICE, true,
	  "With perfmgr opensm reads port counters, and the plugin passes them on.",
	  MAN " --perfmgr"},
	 perfmgr},
	{{"qos", "qos", FINDING_NOTICE, true,
	  "Without it opensm sets up no SL to VL tables and no arbitration.", MAN " --qos"},
	 qos},
};

_Static_assert(ELEMENTSOF(checks) <= SM_CONFIG_CHECKS_MAX, "raise SM_CONFIG_CHECKS_MAX");

const struct sm_config_check *sm_config_check(size_t index)
{
	return index < ELEMENTSOF(checks) ? &checks[index].check : NULL;
}

size_t sm_config_judge(const struct fabric *fabric, const struct sm_config_limits *limits,
		       enum sm_config_shape shape,
		       struct sm_config_result ret[static SM_CONFIG_CHECKS_MAX])
{
	struct config c = {.fabric = fabric, .limits = limits, .shape = shape};
	size_t n = 0;

	for (size_t i = 0; i < ELEMENTSOF(checks); i++) {
		c.result = &ret[n];
		ret[n] = (struct sm_config_result){.check = &checks[i].check};
		if (checks[i].judge(&c))
			n++;
	}
	return n;
}
