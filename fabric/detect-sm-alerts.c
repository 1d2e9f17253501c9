// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The detectors on subnet managers: what holds, in words and evidence, from what detect-sm.c
// tracks.
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "detect-sm-internal.h"
#include "ibsm/wire.h"
#include "names.h"

#define SUBNET "subnet"
#define MASTER_LID "master-lid"

/* Changes looked at to tell why the master flaps. */
#define REASON_CHANGES 8

#define SECONDS(usec) ((usec) / DETECT_USEC_PER_SEC)

/* Reports with the kind's usual severity; empties the evidence. */
__attribute__((format(printf, 7, 8))) static void report(
	struct detect_sm *d, unsigned int kind, struct alert_subject subject, uint64_t occurrences,
	struct evidence *evidence, const struct detect_time *now, const char *format, ...)
{
	char message[ALERT_MESSAGE_BYTES];
	const struct alert_report r = {
		.kind = kind,
		.subject = subject,
		.severity = detect_kind_info(kind)->severity,
		.occurrences = occurrences,
		.message = message,
		.evidence = evidence,
	};
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	alert_set_report(d->alerts, &r, now);
	evidence_clear(evidence);
}

static bool is_open(const struct detect_sm *d, unsigned int kind, struct alert_subject subject)
{
	return alert_set_find(d->alerts, kind, &subject) != NULL;
}

static struct alert_subject subject_of(const struct sm_entry *sm, char label[static SM_LABEL_BYTES])
{
	return alert_subject_guid(sm->port_guid, sm_entry_label(sm, label));
}

/* What is known of an SM, for evidence. */
static void add_sm(struct evidence *evidence, const struct sm_entry *sm)
{
	int state = sm_entry_state(sm);

	evidence_guid(evidence, "guid", sm->port_guid);
	evidence_text(evidence, "node", sm->node);
	if (sm_entry_lid(sm) != 0)
		evidence_number(evidence, "lid", sm_entry_lid(sm));
	if (state >= 0)
		evidence_text(evidence, "state", sm_state_name((uint8_t)state));
	if (sm_entry_priority(sm) != SM_PRIORITY_UNKNOWN)
		evidence_number(evidence, "priority", sm_entry_priority(sm));
}

static const struct sm_entry *master_of(struct detect_sm *d)
{
	const struct sm_watch *watch = detect_sm_watch(d, d->master);

	return watch && watch->claims ? sm_table_find(&d->table, d->master) : NULL;
}

/* Seen lately enough to be counted as there. */
static bool is_present(const struct detect_sm *d, const struct sm_entry *sm,
		       const struct detect_time *now)
{
	return sm->connected || detect_age_usec(now, sm->last_usec) < d->config.gone_usec;
}

static bool waits(const struct sm_entry *sm)
{
	int state = sm_entry_state(sm);

	return state == IBSM_SM_STANDBY || state == IBSM_SM_DISCOVERING;
}

/* ---- changes ---- */

static const char *name_or(const char *name, uint64_t guid, char buffer[static SM_LABEL_BYTES])
{
	if (name[0])
		snprintf(buffer, SM_LABEL_BYTES, "%s", name);
	else
		snprintf(buffer, SM_LABEL_BYTES, "0x%016" PRIx64, guid);
	return buffer;
}
#define NAME_OR(name, guid) name_or((name), (guid), (char[SM_LABEL_BYTES]){0})

static bool is_change(const struct mastership_entry *entry)
{
	return entry->reason != MASTERSHIP_FIRST && entry->reason != MASTERSHIP_RESTART;
}

/* The newest change, or NULL. */
static const struct mastership_entry *last_change(const struct mastership *history)
{
	for (size_t i = history->count; i > 0; i--)
		if (is_change(&history->entries[i - 1]))
			return &history->entries[i - 1];
	return NULL;
}

static void add_change(struct evidence *evidence, const struct mastership_entry *entry)
{
	evidence_guid(evidence, "from", entry->from);
	evidence_text(evidence, "from_name", entry->from_name);
	evidence_guid(evidence, "to", entry->to);
	evidence_text(evidence, "to_name", entry->to_name);
	if (entry->from_priority != SM_PRIORITY_UNKNOWN)
		evidence_number(evidence, "from_priority", entry->from_priority);
	if (entry->to_priority != SM_PRIORITY_UNKNOWN)
		evidence_number(evidence, "to_priority", entry->to_priority);
}

static void judge_master_changed(struct detect_sm *d, const struct detect_time *now)
{
	const struct mastership_entry *last = last_change(&d->history);
	struct alert_subject subject = alert_subject_word(SUBNET);
	uint64_t age = now->realtime_usec > d->change_realtime_usec
			       ? now->realtime_usec - d->change_realtime_usec
			       : 0;
	struct evidence evidence = {0};

	if (!last || !d->changed || age >= d->config.master_changed_usec) {
		d->changed = false;
		alert_set_clear(d->alerts, DETECT_SM_MASTER_CHANGED, &subject, now);
		return;
	}
	add_change(&evidence, last);
	evidence_text(&evidence, "reason", mastership_reason_name(last->reason));
	evidence_number(&evidence, "gap_usec", last->gap_usec);
	evidence_number(&evidence, "changed_realtime_usec", last->realtime_usec);
	report(d, DETECT_SM_MASTER_CHANGED, subject, d->new_changes, &evidence, now,
	       "%s is master instead of %s%s%s", NAME_OR(last->to_name, last->to),
	       NAME_OR(last->from_name, last->from), last->reason == MASTERSHIP_UNKNOWN ? "" : ": ",
	       last->reason == MASTERSHIP_UNKNOWN ? "" : mastership_reason_name(last->reason));
}

struct flap_reason {
	const char *name; /* for evidence */
	const char *text;
};

/* What the last changes have in common. */
static struct flap_reason find_flap_reason(const struct mastership *history)
{
	size_t seen = 0, alive = 0, equal = 0, failed = 0;

	for (size_t i = history->count; i > 0 && seen < REASON_CHANGES; i--) {
		const struct mastership_entry *entry = &history->entries[i - 1];

		if (!is_change(entry))
			continue;
		seen++;
		if (entry->reason == MASTERSHIP_FAILOVER)
			failed++;
		if (entry->reason != MASTERSHIP_HANDOVER && entry->reason != MASTERSHIP_PRIORITY)
			continue;
		alive++;
		if (entry->from_priority == entry->to_priority)
			equal++;
	}
	if (alive > 0 && 2 * equal >= alive)
		return (struct flap_reason){
			"equal-priority",
			"equal priorities: the lower GUID takes the mastership back"};
	if (alive > 0 && failed > 0)
		return (struct flap_reason){
			"fail-back", "one SM fails, and takes the mastership back by its priority"};
	if (2 * failed > seen)
		return (struct flap_reason){"sm-dies", "SMs die or cannot be reached"};
	if (alive > 0)
		return (struct flap_reason){"handover",
					    "handed over again and again by SMs that live"};
	return (struct flap_reason){"unknown", "no reason is known"};
}

static void judge_flapping(struct detect_sm *d, const struct detect_time *now)
{
	const struct mastership_entry *last = last_change(&d->history);
	struct evidence evidence = {0};

	alert_set_begin(d->alerts, DETECT_SM_FLAPPING);
	if (d->flap.tripped && last) {
		struct flap_reason reason = find_flap_reason(&d->history);
		uint64_t hour_ago = now->realtime_usec > DETECT_USEC_PER_HOUR
					    ? now->realtime_usec - DETECT_USEC_PER_HOUR
					    : 0;
		size_t changes = mastership_since(&d->history, hour_ago);

		add_change(&evidence, last);
		evidence_text(&evidence, "reason", reason.name);
		evidence_real(&evidence, "penalty", detect_sm_penalty(d, now));
		evidence_real(&evidence, "reuse", d->config.flap.reuse);
		evidence_number(&evidence, "changes_last_hour", changes);
		report(d, DETECT_SM_FLAPPING, alert_subject_word(SUBNET), d->new_changes, &evidence,
		       now, "the master keeps changing between %s and %s: %s",
		       NAME_OR(last->from_name, last->from), NAME_OR(last->to_name, last->to),
		       reason.text);
	}
	for (size_t i = 0; i < d->watch_count; i++) {
		struct sm_watch *watch = &d->watches[i];
		const struct sm_entry *sm = sm_table_find(&d->table, watch->guid);
		char label[SM_LABEL_BYTES];

		if (watch->flap.tripped) {
			add_sm(&evidence, sm);
			evidence_text(&evidence, "reason", "sm-dies");
			evidence_number(&evidence, "restarts", watch->restarts);
			evidence_real(
				&evidence, "penalty",
				damper_penalty(&watch->flap, &d->config.flap, now->monotonic_usec));
			evidence_real(&evidence, "reuse", d->config.flap.reuse);
			report(d, DETECT_SM_FLAPPING, subject_of(sm, label), watch->new_restarts,
			       &evidence, now, "the SM on %s keeps starting anew%s", SM_LABEL(sm),
			       watch->guid == d->master ? ", and is the master" : "");
		}
		watch->new_restarts = 0;
	}
	alert_set_end(d->alerts, DETECT_SM_FLAPPING, now);
}

/* ---- is there a master, and one alone ---- */

static void judge_lost(struct detect_sm *d, const struct detect_time *now)
{
	struct alert_subject subject = alert_subject_word(SUBNET);
	const struct sm_entry *master = master_of(d), *last = sm_table_find(&d->table, d->master);
	struct evidence evidence = {0};

	if (d->lost_polls < d->config.lost_polls) {
		if (master && (master->connected || d->found_polls >= d->config.found_polls))
			alert_set_clear(d->alerts, DETECT_SM_LOST, &subject, now);
		return;
	}
	evidence_number(&evidence, "polls_without_master", d->lost_polls);
	if (d->lost_status > 0)
		evidence_text(&evidence, "status", strerrorname_np(d->lost_status));
	if (last) {
		evidence_guid(&evidence, "last_master", last->port_guid);
		evidence_text(&evidence, "last_master_name", last->node);
		evidence_number(&evidence, "last_master_realtime_usec", d->master_realtime_usec);
		evidence_truth(&evidence, "is_sm_bit", last->is_sm_bit);
	}
	if (last)
		report(d, DETECT_SM_LOST, subject, 0, &evidence, now,
		       "no master SM answers; the last one was on %s", SM_LABEL(last));
	else
		report(d, DETECT_SM_LOST, subject, 0, &evidence, now, "no master SM answers");
}

static void report_multiple(struct detect_sm *d, size_t count, const struct detect_time *now)
{
	struct evidence evidence = {0};
	char names[ALERT_MESSAGE_BYTES / 2] = "";
	size_t length = 0;

	for (size_t i = 0; i < d->watch_count; i++) {
		const struct sm_entry *sm = sm_table_find(&d->table, d->watches[i].guid);
		int n;

		if (!d->watches[i].in_multiple)
			continue;
		evidence_list_guid(&evidence, "masters", sm->port_guid);
		evidence_list_text(&evidence, "names", SM_LABEL(sm));
		evidence_list_number(&evidence, "priorities", sm_entry_priority(sm));
		n = snprintf(names + length, sizeof(names) - length, "%s%s", length > 0 ? ", " : "",
			     SM_LABEL(sm));
		if (n > 0 && (size_t)n < sizeof(names) - length)
			length += (size_t)n;
	}
	report(d, DETECT_SM_MULTIPLE_MASTERS, alert_subject_word(SUBNET), 0, &evidence, now,
	       "%zu SMs are master at once: %s", count, names);
}

static void judge_multiple(struct detect_sm *d, const struct detect_time *now)
{
	struct alert_subject subject = alert_subject_word(SUBNET);
	size_t firm = 0, claiming = 0, in_multiple = 0;

	for (size_t i = 0; i < d->watch_count; i++) {
		claiming += d->watches[i].claims;
		firm += d->watches[i].claims && d->watches[i].confirms >= d->config.masters_polls;
	}
	for (size_t i = 0; i < d->watch_count; i++) {
		struct sm_watch *watch = &d->watches[i];

		if (firm >= 2 && watch->claims && watch->confirms >= d->config.masters_polls)
			watch->in_multiple = true;
		else if (watch->contrary >= d->config.masters_polls)
			watch->in_multiple = false;
		in_multiple += watch->in_multiple;
	}
	if (in_multiple >= 2) {
		report_multiple(d, in_multiple, now);
		return;
	}
	for (size_t i = 0; i < d->watch_count; i++)
		d->watches[i].in_multiple = false;
	/* One that was restored stays until one master alone is known to be left. */
	if (claiming == 1 && firm == 1)
		alert_set_clear(d->alerts, DETECT_SM_MULTIPLE_MASTERS, &subject, now);
}

/* ---- single SMs ---- */

static void judge_unresponsive(struct detect_sm *d, const struct detect_time *now)
{
	bool lost = is_open(d, DETECT_SM_LOST, alert_subject_word(SUBNET));

	alert_set_begin(d->alerts, DETECT_SM_UNRESPONSIVE);
	for (size_t i = 0; i < d->table.count; i++) {
		const struct sm_entry *sm = &d->table.entries[i];
		struct evidence evidence = {0};
		char label[SM_LABEL_BYTES];
		struct alert_subject subject = subject_of(sm, label);

		/* A lost master is told of already; a port that is gone is no SM that hangs. */
		if ((lost && sm->port_guid == d->master) || (d->fabric_known && !sm->in_fabric))
			continue;
		if (sm->missed < d->config.unresponsive_polls) {
			if (!sm->asked || sm->answered < d->config.responsive_polls)
				alert_set_keep(d->alerts, DETECT_SM_UNRESPONSIVE, &subject);
			continue;
		}
		add_sm(&evidence, sm);
		evidence_number(&evidence, "polls_missed", sm->missed);
		if (sm->miss_status > 0)
			evidence_text(&evidence, "status", strerrorname_np(sm->miss_status));
		evidence_number(&evidence, "last_seen_realtime_usec", sm->last_realtime_usec);
		evidence_truth(&evidence, "is_sm_bit", sm->is_sm_bit);
		evidence_truth(&evidence, "plugin_connected", sm->connected);
		report(d, DETECT_SM_UNRESPONSIVE, subject, 0, &evidence, now,
		       "the SM on %s has left %" PRIu32 " polls unanswered%s", SM_LABEL(sm),
		       sm->missed, sm->connected ? ", though its plugin is connected" : "");
	}
	alert_set_end(d->alerts, DETECT_SM_UNRESPONSIVE, now);
}

static void judge_hung(struct detect_sm *d, const struct detect_time *now)
{
	alert_set_begin(d->alerts, DETECT_SM_HUNG);
	for (size_t i = 0; i < d->watch_count; i++) {
		const struct sm_watch *watch = &d->watches[i];
		const struct sm_entry *sm = sm_table_find(&d->table, watch->guid);
		struct evidence evidence = {0};
		char label[SM_LABEL_BYTES];
		struct alert_subject subject = subject_of(sm, label);
		uint64_t interval = 0;

		if (watch->hung == HUNG_UNKNOWN && watch->claims)
			alert_set_keep(d->alerts, DETECT_SM_HUNG, &subject);
		if (watch->hung != HUNG_YES)
			continue;
		detect_sm_sweep_interval(d, sm, &interval);
		add_sm(&evidence, sm);
		evidence_number(&evidence, "act_count", sm->outside.act_count);
		evidence_number(&evidence, "act_count_growth",
				sm->outside.act_count - watch->hung_act_count);
		evidence_number(&evidence, "polls_answered", watch->hung_answers);
		evidence_number(&evidence, "silent_usec", detect_age_usec(now, watch->hung_usec));
		evidence_number(&evidence, "sweep_interval_usec", interval);
		report(d, DETECT_SM_HUNG, subject, 0, &evidence, now,
		       "the master on %s answers, but has sent nothing of its own for %" PRIu64
		       " s, with a sweep due each %" PRIu64 " s",
		       SM_LABEL(sm), SECONDS(detect_age_usec(now, watch->hung_usec)),
		       SECONDS(interval));
	}
	alert_set_end(d->alerts, DETECT_SM_HUNG, now);
}

static void judge_no_standby(struct detect_sm *d, const struct detect_time *now)
{
	struct alert_subject subject = alert_subject_word(SUBNET);
	const struct sm_entry *master = master_of(d);
	struct evidence evidence = {0};
	bool standby = false;

	for (size_t i = 0; i < d->table.count; i++)
		standby |=
			d->table.entries[i].port_guid != d->master && waits(&d->table.entries[i]);
	if (standby) {
		d->no_standby_usec = 0;
		alert_set_clear(d->alerts, DETECT_SM_NO_STANDBY, &subject, now);
		return;
	}
	/* That there is none only an opensm can say: from outside, one that was never master is not
	 * found. But one that was there is missed. */
	if (!master || !(d->fabric_known || d->table.count > 1)) {
		d->no_standby_usec = 0;
		return;
	}
	if (d->no_standby_usec == 0)
		d->no_standby_usec = now->monotonic_usec;
	if (detect_age_usec(now, d->no_standby_usec) < d->config.no_standby_usec &&
	    !is_open(d, DETECT_SM_NO_STANDBY, subject))
		return;
	add_sm(&evidence, master);
	report(d, DETECT_SM_NO_STANDBY, subject, 0, &evidence, now,
	       "no SM is standby beside the master on %s", SM_LABEL(master));
}

/* ---- priorities ---- */

/* Takes part in who becomes master, as far as is known: one that is dead may come back. */
static bool competes(const struct detect_sm *d, const struct sm_entry *sm,
		     const struct detect_time *now)
{
	return is_present(d, sm, now) && sm_entry_priority(sm) != SM_PRIORITY_UNKNOWN &&
	       sm_entry_state(sm) != IBSM_SM_NOT_ACTIVE;
}

static void judge_equal_priority(struct detect_sm *d, const struct detect_time *now)
{
	struct alert_subject subject = alert_subject_word(SUBNET);
	const struct sm_entry *first = NULL, *second = NULL;
	struct evidence evidence = {0};

	for (size_t i = 0; i < d->table.count && !second; i++)
		for (size_t j = i + 1; j < d->table.count && !second; j++) {
			const struct sm_entry *a = &d->table.entries[i], *b = &d->table.entries[j];

			if (competes(d, a, now) && competes(d, b, now) &&
			    sm_entry_priority(a) == sm_entry_priority(b)) {
				first = a->port_guid < b->port_guid ? a : b;
				second = first == a ? b : a;
			}
		}
	if (!second) {
		alert_set_clear(d->alerts, DETECT_SM_EQUAL_PRIORITY, &subject, now);
		return;
	}
	evidence_number(&evidence, "priority", sm_entry_priority(first));
	for (size_t i = 0; i < d->table.count; i++) {
		const struct sm_entry *sm = &d->table.entries[i];

		if (!competes(d, sm, now) || sm_entry_priority(sm) != sm_entry_priority(first))
			continue;
		evidence_list_guid(&evidence, "guids", sm->port_guid);
		evidence_list_text(&evidence, "names", SM_LABEL(sm));
	}
	report(d, DETECT_SM_EQUAL_PRIORITY, subject, 0, &evidence, now,
	       "the SMs on %s and %s have the same priority %u: %s wins by its lower GUID",
	       SM_LABEL(first), SM_LABEL(second), sm_entry_priority(first), SM_LABEL(first));
}

static void judge_not_highest(struct detect_sm *d, const struct detect_time *now)
{
	const struct sm_entry *master = master_of(d);
	uint64_t hold = d->config.not_highest_usec, interval;

	if (master && detect_sm_sweep_interval(d, master, &interval) && 3 * interval > hold)
		hold = 3 * interval;
	alert_set_begin(d->alerts, DETECT_SM_NOT_HIGHEST);
	for (size_t i = 0; i < d->watch_count; i++) {
		struct sm_watch *watch = &d->watches[i];
		const struct sm_entry *sm = sm_table_find(&d->table, watch->guid);
		struct evidence evidence = {0};
		char label[SM_LABEL_BYTES];
		struct alert_subject subject = subject_of(sm, label);

		if (!master || !sm_entry_is_alive(sm)) {
			watch->higher_usec = 0;
			alert_set_keep(d->alerts, DETECT_SM_NOT_HIGHEST, &subject);
			continue;
		}
		if (sm == master || !waits(sm) || sm_entry_priority(sm) == SM_PRIORITY_UNKNOWN ||
		    sm_entry_priority(master) == SM_PRIORITY_UNKNOWN ||
		    sm_entry_priority(sm) <= sm_entry_priority(master)) {
			watch->higher_usec = 0;
			continue;
		}
		if (watch->higher_usec == 0)
			watch->higher_usec = now->monotonic_usec;
		if (detect_age_usec(now, watch->higher_usec) < hold &&
		    !is_open(d, DETECT_SM_NOT_HIGHEST, subject))
			continue;
		add_sm(&evidence, sm);
		evidence_guid(&evidence, "master", master->port_guid);
		evidence_text(&evidence, "master_name", master->node);
		evidence_number(&evidence, "master_priority", sm_entry_priority(master));
		report(d, DETECT_SM_NOT_HIGHEST, subject, 0, &evidence, now,
		       "the SM on %s waits with priority %u, while that on %s is master with %u",
		       SM_LABEL(sm), sm_entry_priority(sm), SM_LABEL(master),
		       sm_entry_priority(master));
	}
	alert_set_end(d->alerts, DETECT_SM_NOT_HIGHEST, now);
}

/* ---- who should be there ---- */

static bool is_expected(const struct detect_sm *d, const struct sm_entry *sm)
{
	for (size_t i = 0; i < d->config.expected_count; i++)
		if (d->config.expected[i] == sm->port_guid ||
		    (sm->node_guid != 0 && d->config.expected[i] == sm->node_guid))
			return true;
	return false;
}

static void report_unexpected(struct detect_sm *d, const struct sm_entry *sm, const char *why,
			      const struct detect_time *now)
{
	struct evidence evidence = {0};
	char label[SM_LABEL_BYTES];

	add_sm(&evidence, sm);
	evidence_text(&evidence, "node_type", node_type_name(sm->node_type));
	report(d, DETECT_SM_UNEXPECTED, subject_of(sm, label), 0, &evidence, now,
	       "an SM runs on %s: %s", SM_LABEL(sm), why);
}

static void judge_unexpected(struct detect_sm *d, const struct detect_time *now)
{
	struct evidence evidence = {0};
	size_t present = 0;
	bool on_host = false;

	alert_set_begin(d->alerts, DETECT_SM_UNEXPECTED);
	for (size_t i = 0; i < d->table.count; i++) {
		const struct sm_entry *sm = &d->table.entries[i];

		if (!is_present(d, sm, now))
			continue;
		present++;
		on_host |= sm->node_type == IBSM_NODE_CA;
		if (d->config.expected_count > 0 && !is_expected(d, sm))
			report_unexpected(d, sm, "it is not expected there", now);
	}
	for (size_t i = 0; i < d->table.count && d->config.expected_count == 0; i++) {
		const struct sm_entry *sm = &d->table.entries[i];

		if (!is_present(d, sm, now))
			continue;
		if (sm->node_type == IBSM_NODE_SWITCH && on_host)
			report_unexpected(d, sm, "that is a switch, and hosts run SMs", now);
		if (present > d->config.max_sms) {
			evidence_list_guid(&evidence, "guids", sm->port_guid);
			evidence_list_text(&evidence, "names", SM_LABEL(sm));
		}
	}
	if (evidence.count > 0)
		report(d, DETECT_SM_UNEXPECTED, alert_subject_word(SUBNET), 0, &evidence, now,
		       "%zu SMs run in this subnet, more than %" PRIu32, present,
		       d->config.max_sms);
	alert_set_end(d->alerts, DETECT_SM_UNEXPECTED, now);
}

/* ---- views ---- */

static void judge_views(struct detect_sm *d, const struct detect_time *now)
{
	struct alert_subject lid = alert_subject_word(MASTER_LID);
	struct evidence evidence = {0};
	/* After a start it takes a while until both views are there. */
	bool settled = detect_age_usec(now, d->start_usec) >= d->config.gone_usec;

	alert_set_begin(d->alerts, DETECT_SM_VIEWS_DISAGREE);
	for (size_t i = 0; i < d->watch_count; i++) {
		const struct sm_watch *watch = &d->watches[i];
		const struct sm_entry *sm = sm_table_find(&d->table, watch->guid);
		bool known = watch->agree > 0 || watch->disagree > 0;
		char label[SM_LABEL_BYTES];
		struct alert_subject subject = subject_of(sm, label);

		if (watch->disagree < d->config.disagree_polls) {
			if (known ? watch->agree < d->config.disagree_polls : !settled)
				alert_set_keep(d->alerts, DETECT_SM_VIEWS_DISAGREE, &subject);
			continue;
		}
		evidence_guid(&evidence, "guid", sm->port_guid);
		evidence_text(&evidence, "node", sm->node);
		evidence_text(&evidence, "inside_state", sm_state_name(sm->self.state));
		evidence_text(&evidence, "outside_state", sm_state_name(sm->outside.state));
		if (sm->self.priority != SM_PRIORITY_UNKNOWN)
			evidence_number(&evidence, "inside_priority", sm->self.priority);
		evidence_number(&evidence, "outside_priority", sm->outside.priority);
		if (sm->self.lid != 0)
			evidence_number(&evidence, "inside_lid", sm->self.lid);
		evidence_number(&evidence, "outside_lid", sm->outside.lid);
		report(d, DETECT_SM_VIEWS_DISAGREE, subject, 0, &evidence, now,
		       "the SM on %s is %s with priority %u by itself, and %s with %u to the "
		       "fabric",
		       SM_LABEL(sm), sm_state_name(sm->self.state), sm->self.priority,
		       sm_state_name(sm->outside.state), sm->outside.priority);
	}
	if (d->lid_disagree >= d->config.disagree_polls) {
		const struct sm_entry *sm = sm_table_find(&d->table, d->lid_guid);

		if (sm)
			add_sm(&evidence, sm);
		report(d, DETECT_SM_VIEWS_DISAGREE, lid, 0, &evidence, now,
		       "the SM LID of this host's port leads to %s, but another SM says of itself "
		       "that it is master",
		       sm ? SM_LABEL(sm) : "an unknown SM");
	} else if (d->lid_agree > 0 || d->lid_disagree > 0 ? d->lid_agree < d->config.disagree_polls
							   : !settled) {
		alert_set_keep(d->alerts, DETECT_SM_VIEWS_DISAGREE, &lid);
	}
	alert_set_end(d->alerts, DETECT_SM_VIEWS_DISAGREE, now);
}

/* ---- place and options ---- */

static void describe_place(const struct detect_sm *d, const struct sm_place *place,
			   unsigned int reasons, char *text, size_t size)
{
	static const unsigned int all[] = {SM_PLACED_FAR,	    SM_PLACED_SLOW_LINK,
					   SM_PLACED_DEGRADED_LINK, SM_PLACED_SAME_SWITCH,
					   SM_PLACED_EMBEDDED,	    SM_PLACED_FLAPPING_LINK};
	size_t length = 0;

	text[0] = '\0';
	for (size_t i = 0; i < ELEMENTSOF(all); i++) {
		char part[128] = "";
		int n;

		if (!(reasons & all[i]))
			continue;
		switch (all[i]) {
		case SM_PLACED_FAR:
			snprintf(part, sizeof(part),
				 "%" PRIu32 " hops to the farthest switch, where %" PRIu32
				 " would do",
				 place->hops, d->placement.best_hops);
			break;
		case SM_PLACED_SLOW_LINK:
			snprintf(part, sizeof(part),
				 "its link runs at %" PRIu32 " Mb/s, most others at %" PRIu32,
				 place->rate_mbps, d->placement.usual_mbps);
			break;
		case SM_PLACED_DEGRADED_LINK:
			snprintf(part, sizeof(part),
				 "its link runs at %" PRIu32 " Mb/s and could at %" PRIu32,
				 place->rate_mbps, place->best_mbps);
			break;
		case SM_PLACED_SAME_SWITCH:
			snprintf(part, sizeof(part), "it hangs on the master's switch");
			break;
		case SM_PLACED_EMBEDDED:
			snprintf(part, sizeof(part),
				 "it is a switch's own, in a fabric of %" PRIu32 " nodes",
				 d->placement.nodes);
			break;
		default:
			snprintf(part, sizeof(part), "its link keeps going down");
			break;
		}
		n = snprintf(text + length, size - length, "%s%s", length > 0 ? "; " : "", part);
		if (n > 0 && (size_t)n < size - length)
			length += (size_t)n;
	}
}

static void judge_placement(struct detect_sm *d, const struct detect_time *now)
{
	if (!d->placement_known)
		return;
	alert_set_begin(d->alerts, DETECT_SM_PLACEMENT);
	for (size_t i = 0; i < d->placement.count; i++) {
		const struct sm_place *place = &d->placement.places[i];
		const struct sm_entry *sm = sm_table_find(&d->table, place->port_guid);
		const struct sm_watch *watch = detect_sm_watch(d, place->port_guid);
		unsigned int reasons = place->reasons;
		struct evidence evidence = {0};
		char text[ALERT_MESSAGE_BYTES / 2], label[SM_LABEL_BYTES];

		if (!sm)
			continue;
		if (watch->link.tripped)
			reasons |= SM_PLACED_FLAPPING_LINK;
		if (reasons == 0)
			continue;
		add_sm(&evidence, sm);
		for (unsigned int bit = 1; bit <= SM_PLACED_FLAPPING_LINK; bit <<= 1)
			if (reasons & bit)
				evidence_list_text(
					&evidence, "reasons",
					sm_placement_reason_name((enum sm_placement_reason)bit));
		evidence_guid(&evidence, "switch", place->switch_guid);
		evidence_text(&evidence, "switch_name", place->switch_name);
		if (place->hops != SM_HOPS_UNKNOWN) {
			evidence_number(&evidence, "hops", place->hops);
			evidence_number(&evidence, "best_hops", d->placement.best_hops);
			evidence_text(&evidence, "best_switch_name", d->placement.best_switch_name);
		}
		if (place->rate_mbps > 0) {
			evidence_number(&evidence, "rate_mbps", place->rate_mbps);
			evidence_number(&evidence, "best_rate_mbps", place->best_mbps);
			evidence_number(&evidence, "usual_rate_mbps", d->placement.usual_mbps);
		}
		describe_place(d, place, reasons, text, sizeof(text));
		report(d, DETECT_SM_PLACEMENT, subject_of(sm, label), 0, &evidence, now,
		       "the SM on %s is badly placed: %s", SM_LABEL(sm), text);
	}
	alert_set_end(d->alerts, DETECT_SM_PLACEMENT, now);
}

void detect_sm_judge_options(struct detect_sm *d, const struct detect_time *now)
{
	alert_set_begin(d->alerts, DETECT_SM_CONFIG);
	for (size_t i = 0; i < d->option_count; i++) {
		const struct sm_config_result *result = &d->options[i];
		struct evidence evidence = {0};
		const struct alert_report r = {
			.kind = DETECT_SM_CONFIG,
			.subject = alert_subject_word(result->check->name),
			.severity = result->check->severity,
			.message = result->text,
			.evidence = &evidence,
		};

		if (!result->failed)
			continue;
		evidence_text(&evidence, "option", result->check->option);
		evidence_text(&evidence, "reason", result->check->reason);
		evidence_text(&evidence, "source", result->check->source);
		alert_set_report(d->alerts, &r, now);
		evidence_clear(&evidence);
	}
	alert_set_end(d->alerts, DETECT_SM_CONFIG, now);
}

void detect_sm_judge(struct detect_sm *d, const struct detect_time *now)
{
	judge_master_changed(d, now);
	judge_flapping(d, now);
	d->new_changes = 0;
	judge_lost(d, now);
	judge_multiple(d, now);
	judge_unresponsive(d, now);
	judge_hung(d, now);
	judge_no_standby(d, now);
	judge_equal_priority(d, now);
	judge_not_highest(d, now);
	judge_unexpected(d, now);
	judge_views(d, now);
	judge_placement(d, now);
}
