// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The detectors on subnet managers: takes inputs in, tracks the master, restarts and penalties.
#include "detect-sm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "detect-sm-internal.h"
#include "ibsm/wire.h"

void detect_sm_config_init(struct detect_sm_config *ret)
{
	*ret = (struct detect_sm_config){
		.flap = {.half_life_usec = 15 * DETECT_USEC_PER_MINUTE,
			 .suppress = 2500,
			 .reuse = 750,
			 .hold_usec = DETECT_USEC_PER_HOUR},
		.change_weight = 1000,
		.restart_weight = 1000,
		.restart_settle_usec = DETECT_USEC_PER_MINUTE,
		.master_changed_usec = DETECT_USEC_PER_HOUR,
		.lost_polls = 2,
		.found_polls = 2,
		.unresponsive_polls = 3,
		.responsive_polls = 2,
		.masters_polls = 2,
		.disagree_polls = 3,
		.hung_sweeps = 3,
		.hung_min_usec = 15 * DETECT_USEC_PER_SEC,
		.no_standby_usec = 5 * DETECT_USEC_PER_MINUTE,
		.not_highest_usec = DETECT_USEC_PER_MINUTE,
		.gone_usec = 10 * DETECT_USEC_PER_MINUTE,
		.forget_usec = 24 * DETECT_USEC_PER_HOUR,
		.max_sms = 2,
		.link = {.half_life_usec = 15 * DETECT_USEC_PER_MINUTE,
			 .suppress = 2500,
			 .reuse = 750,
			 .hold_usec = DETECT_USEC_PER_HOUR},
	};
}

int detect_sm_configure(struct detect_sm *d, const struct detect_sm_config *config)
{
	if (!damper_config_is_valid(&config->flap) || !damper_config_is_valid(&config->link) ||
	    config->expected_count > SM_EXPECTED_MAX)
		return -EINVAL;
	d->config = *config;
	return 0;
}

int detect_sm_new(const struct detect_sm_config *config, struct alert_set *alerts,
		  const struct detect_time *now, struct detect_sm **ret)
{
	struct detect_sm *d = calloc(1, sizeof(*d));
	int r;

	if (!d)
		return -ENOMEM;
	r = detect_sm_configure(d, config);
	if (r < 0) {
		free(d);
		return r;
	}
	d->alerts = alerts;
	d->start_usec = now->monotonic_usec;
	*ret = d;
	return 0;
}

struct detect_sm *detect_sm_free(struct detect_sm *d)
{
	free(d);
	return NULL;
}

struct sm_watch *detect_sm_watch(struct detect_sm *d, uint64_t guid)
{
	for (size_t i = 0; i < d->watch_count; i++)
		if (d->watches[i].guid == guid)
			return &d->watches[i];
	return NULL;
}

bool detect_sm_sweep_interval(const struct detect_sm *d, const struct sm_entry *sm,
			      uint64_t *ret_usec)
{
	if (sm->sweep_interval_known)
		*ret_usec = sm->sweep_interval_sec * DETECT_USEC_PER_SEC;
	else if (d->sweep_interval_known && d->sweep_interval_guid == sm->port_guid)
		*ret_usec = d->sweep_interval_sec * DETECT_USEC_PER_SEC;
	else
		return false;
	return true;
}

/* A watch for each entry of the table, and none for others. */
static void match_watches(struct detect_sm *d)
{
	size_t kept = 0;

	for (size_t i = 0; i < d->watch_count; i++)
		if (sm_table_find(&d->table, d->watches[i].guid)) {
			if (kept != i)
				d->watches[kept] = d->watches[i];
			kept++;
		}
	d->watch_count = kept;
	for (size_t i = 0; i < d->table.count; i++)
		if (!detect_sm_watch(d, d->table.entries[i].port_guid))
			d->watches[d->watch_count++] =
				(struct sm_watch){.guid = d->table.entries[i].port_guid};
}

/* ---- claims ---- */

static bool is_followed(const struct detect_sm *d, uint64_t guid)
{
	for (size_t i = 0; i < d->table.count; i++)
		if (d->table.entries[i].connected && d->table.entries[i].follows == guid)
			return true;
	return false;
}

static bool claims_mastership(const struct detect_sm *d, const struct sm_entry *sm)
{
	if (sm->connected || sm->asked)
		return sm_entry_state(sm) == IBSM_SM_MASTER;
	return is_followed(d, sm->port_guid);
}

/* A view of `sm` was renewed. */
static void look_at_claim(struct detect_sm *d, const struct sm_entry *sm)
{
	struct sm_watch *watch = detect_sm_watch(d, sm->port_guid);

	if (claims_mastership(d, sm)) {
		if (!watch->claims)
			for (size_t i = 0; i < d->watch_count; i++)
				d->watches[i].confirms = 0;
		watch->claims = true;
		watch->confirms++;
		watch->contrary = 0;
	} else {
		watch->claims = false;
		watch->confirms = 0;
		watch->contrary++;
	}
}

/* A standby's plugin says, or no longer says, whom it follows: those that no other view reaches. */
static void look_at_followed(struct detect_sm *d)
{
	for (size_t i = 0; i < d->table.count; i++) {
		const struct sm_entry *sm = &d->table.entries[i];

		if (!sm->connected && !sm->asked &&
		    claims_mastership(d, sm) != detect_sm_watch(d, sm->port_guid)->claims)
			look_at_claim(d, sm);
	}
}

static bool anyone_claims(const struct detect_sm *d)
{
	for (size_t i = 0; i < d->watch_count; i++)
		if (d->watches[i].claims)
			return true;
	return false;
}

/* ---- changes of the master ---- */

/* Why the last change happened, by what is known of the former master now. */
static enum mastership_reason find_reason(struct detect_sm *d, const struct mastership_entry *entry)
{
	struct sm_entry *from = sm_table_find(&d->table, entry->from);
	const struct sm_watch *watch = from ? detect_sm_watch(d, entry->from) : NULL;
	int state;

	if (!from)
		return MASTERSHIP_UNKNOWN;
	if (watch->pending_self > 0 || watch->pending_outside > 0 || d->from_missed > 1)
		return MASTERSHIP_FAILOVER;
	state = sm_entry_state(from);
	if (state >= 0 && state != IBSM_SM_MASTER) {
		if (entry->from_priority != SM_PRIORITY_UNKNOWN &&
		    entry->to_priority != SM_PRIORITY_UNKNOWN &&
		    entry->to_priority > entry->from_priority)
			return MASTERSHIP_PRIORITY;
		return MASTERSHIP_HANDOVER;
	}
	if (from->missed > 0 || (!from->connected && !from->asked && from->instance != 0))
		return MASTERSHIP_FAILOVER;
	return MASTERSHIP_UNKNOWN;
}

static void excuse(struct sm_watch *watch, uint64_t until_usec)
{
	if (watch && until_usec > watch->excused_until_usec)
		watch->excused_until_usec = until_usec;
}

/* It is back, and did not start anew: a start later on is another matter. */
static void end_excuse(struct detect_sm *d, const struct sm_entry *sm,
		       const struct detect_time *now)
{
	struct sm_watch *watch = detect_sm_watch(d, sm->port_guid);

	if (watch->excused_until_usec == UINT64_MAX && watch->pending_self == 0 &&
	    watch->pending_outside == 0 && sm_entry_is_alive(sm))
		watch->excused_until_usec = now->monotonic_usec + d->config.restart_settle_usec;
}

/* One start of the former master belongs to the change: soon, or, if it died, whenever it is back.
 */
static void excuse_from(struct detect_sm *d, const struct mastership_entry *entry,
			const struct detect_time *now)
{
	bool alive = entry->reason == MASTERSHIP_HANDOVER || entry->reason == MASTERSHIP_PRIORITY;

	excuse(detect_sm_watch(d, entry->from),
	       alive ? now->monotonic_usec + d->config.restart_settle_usec : UINT64_MAX);
}

static void change_master(struct detect_sm *d, const struct sm_entry *to,
			  const struct detect_time *now)
{
	struct sm_entry *from = sm_table_find(&d->table, d->master);
	struct mastership_entry entry = {
		.from = d->master,
		.to = to->port_guid,
		.realtime_usec = now->realtime_usec,
		.reason = d->master == 0 ? MASTERSHIP_FIRST : MASTERSHIP_UNKNOWN,
		.from_priority = from ? sm_entry_priority(from) : SM_PRIORITY_UNKNOWN,
		.to_priority = sm_entry_priority(to),
	};
	struct mastership_entry *last;

	if (d->master != 0 && now->realtime_usec > d->master_realtime_usec)
		entry.gap_usec = now->realtime_usec - d->master_realtime_usec;
	last = mastership_last(&d->history);
	sm_name_copy(entry.from_name, from ? from->node : last ? last->to_name : NULL);
	sm_name_copy(entry.to_name, to->node);
	last = mastership_append(&d->history, &entry);
	d->master = to->port_guid;
	if (entry.reason == MASTERSHIP_FIRST)
		return;
	d->from_missed = from ? from->missed : 0;
	last->reason = find_reason(d, last);
	d->changed = d->refining = true;
	d->change_realtime_usec = now->realtime_usec;
	d->change_usec = now->monotonic_usec;
	d->new_changes++;
	damper_add(&d->flap, &d->config.flap, d->config.change_weight, now->monotonic_usec);
	excuse_from(d, last, now);
	excuse(detect_sm_watch(d, to->port_guid),
	       now->monotonic_usec + d->config.restart_settle_usec);
}

/* Another one claims it while the master does not; one of several masters must be quiet for longer.
 */
static void track_master(struct detect_sm *d, const struct detect_time *now)
{
	const struct sm_watch *master = detect_sm_watch(d, d->master);

	if (master && master->claims) {
		d->master_usec = now->monotonic_usec;
		d->master_realtime_usec = now->realtime_usec;
		return;
	}
	if (master && master->in_multiple && master->contrary < d->config.masters_polls)
		return;
	for (size_t i = 0; i < d->watch_count; i++)
		if (d->watches[i].claims) {
			change_master(d, sm_table_find(&d->table, d->watches[i].guid), now);
			d->master_usec = now->monotonic_usec;
			d->master_realtime_usec = now->realtime_usec;
			return;
		}
}

/* For some time after a change, what is heard of the former master completes its reason. */
static void refine_reason(struct detect_sm *d, const struct detect_time *now)
{
	struct mastership_entry *last = mastership_last(&d->history);
	enum mastership_reason reason;

	if (!d->refining)
		return;
	if (!last || last->reason == MASTERSHIP_RESTART ||
	    detect_age_usec(now, d->change_usec) >= d->config.restart_settle_usec) {
		d->refining = false;
		return;
	}
	reason = find_reason(d, last);
	if (reason == MASTERSHIP_UNKNOWN || reason == last->reason)
		return;
	last->reason = reason;
	excuse_from(d, last, now);
}

/* ---- restarts ---- */

static void note_restart(struct detect_sm *d, const struct sm_entry *sm, unsigned int news,
			 const struct detect_time *now)
{
	struct sm_watch *watch = detect_sm_watch(d, sm->port_guid);

	if (!(news & (SM_NEWS_RESTARTED_SELF | SM_NEWS_RESTARTED_OUTSIDE)))
		return;
	watch->hung_base = false;
	watch->hung = HUNG_UNKNOWN;
	if (watch->pending_self == 0 && watch->pending_outside == 0) {
		watch->pending_usec = now->monotonic_usec;
		watch->pending_realtime_usec = now->realtime_usec;
	}
	watch->pending_self += (news & SM_NEWS_RESTARTED_SELF) != 0;
	watch->pending_outside += (news & SM_NEWS_RESTARTED_OUTSIDE) != 0;
}

static void count_restarts(struct detect_sm *d, struct sm_watch *watch, uint32_t count,
			   const struct detect_time *now)
{
	struct mastership_entry entry = {
		.from = watch->guid,
		.to = watch->guid,
		.realtime_usec = watch->pending_realtime_usec,
		.reason = MASTERSHIP_RESTART,
	};
	const struct sm_entry *sm = sm_table_find(&d->table, watch->guid);

	watch->restarts += count;
	watch->new_restarts += count;
	damper_add_late(&watch->flap, &d->config.flap, d->config.restart_weight * count,
			watch->pending_usec, now->monotonic_usec);
	if (watch->guid != d->master)
		return;
	entry.from_priority = entry.to_priority = sm_entry_priority(sm);
	sm_name_copy(entry.from_name, sm->node);
	sm_name_copy(entry.to_name, sm->node);
	for (uint32_t i = 0; i < count; i++)
		mastership_append(&d->history, &entry);
}

static void settle_restarts(struct detect_sm *d, const struct detect_time *now)
{
	for (size_t i = 0; i < d->watch_count; i++) {
		struct sm_watch *watch = &d->watches[i];
		uint32_t count = watch->pending_self > watch->pending_outside
					 ? watch->pending_self
					 : watch->pending_outside;

		if (count == 0 ||
		    detect_age_usec(now, watch->pending_usec) < d->config.restart_settle_usec)
			continue;
		if (watch->excused_until_usec >= watch->pending_usec) {
			watch->excused_until_usec = 0;
			count--;
		}
		watch->pending_self = watch->pending_outside = 0;
		if (count > 0)
			count_restarts(d, watch, count, now);
	}
}

/* ---- what single inputs say ---- */

/* Does the master send anything but answers to us? */
static void look_at_act_count(struct detect_sm *d, const struct sm_entry *sm,
			      const struct detect_time *now)
{
	struct sm_watch *watch = detect_sm_watch(d, sm->port_guid);
	uint32_t act_count = sm->outside.act_count;
	uint64_t interval, window;

	if (sm->outside.state != IBSM_SM_MASTER || !detect_sm_sweep_interval(d, sm, &interval) ||
	    interval == 0) {
		watch->hung_base = false;
		watch->hung = HUNG_UNKNOWN;
		return;
	}
	if (watch->hung_base) {
		watch->hung_answers++;
		if (act_count - watch->hung_act_count <= watch->hung_answers) {
			window = interval * d->config.hung_sweeps;
			if (window < d->config.hung_min_usec)
				window = d->config.hung_min_usec;
			if (detect_age_usec(now, watch->hung_usec) >= window)
				watch->hung = HUNG_YES;
			return;
		}
		watch->hung = HUNG_NO;
	}
	watch->hung_base = true;
	watch->hung_act_count = act_count;
	watch->hung_answers = 0;
	watch->hung_usec = now->monotonic_usec;
}

static void compare_views(struct detect_sm *d, const struct sm_entry *sm)
{
	struct sm_watch *watch = detect_sm_watch(d, sm->port_guid);
	bool same = sm->self.state == sm->outside.state &&
		    (sm->self.priority == SM_PRIORITY_UNKNOWN ||
		     sm->self.priority == sm->outside.priority) &&
		    (sm->self.lid == 0 || sm->self.lid == sm->outside.lid);

	if (!sm->connected)
		return;
	watch->agree = same ? watch->agree + 1 : 0;
	watch->disagree = same ? 0 : watch->disagree + 1;
}

/* The SM at the LID that the local port has as its master's: is it the one that claims it? */
static void compare_master_lid(struct detect_sm *d, const struct sm_entry *answered)
{
	bool same = answered->outside.state == IBSM_SM_MASTER, other = false;

	for (size_t i = 0; i < d->table.count; i++) {
		const struct sm_entry *sm = &d->table.entries[i];

		if (sm != answered && sm->connected && sm->self.state == IBSM_SM_MASTER)
			other = true;
	}
	if (same || other) {
		d->lid_guid = answered->port_guid;
		d->lid_agree = other ? 0 : d->lid_agree + 1;
		d->lid_disagree = other ? d->lid_disagree + 1 : 0;
	}
}

/* Did the query that should have found a master find one? */
static void look_for_master(struct detect_sm *d, const struct sm_reply *reply,
			    const struct sm_entry *sm)
{
	if (!reply->to_master_lid && d->master != 0 && !(sm && sm->port_guid == d->master))
		return;
	if (anyone_claims(d)) {
		d->lost_polls = 0;
		d->found_polls++;
	} else {
		d->found_polls = 0;
		d->lost_polls++;
		d->lost_status = reply->status;
	}
}

static void take_reply(struct detect_sm *d, const struct sm_reply *reply,
		       const struct detect_time *now)
{
	struct sm_entry *sm;
	unsigned int news = sm_table_reply(&d->table, reply, now, &sm);
	const struct mastership_entry *last = mastership_last(&d->history);

	match_watches(d);
	if (sm) {
		note_restart(d, sm, news, now);
		end_excuse(d, sm, now);
		look_at_claim(d, sm);
		if (sm->answered > 0) {
			look_at_act_count(d, sm, now);
			compare_views(d, sm);
			if (reply->to_master_lid)
				compare_master_lid(d, sm);
		} else if (last && sm->port_guid == last->from) {
			d->from_missed++;
		}
	}
	track_master(d, now);
	look_for_master(d, reply, sm);
}

static void take_self(struct detect_sm *d, const struct sm_self *self,
		      const struct detect_time *now)
{
	struct sm_entry *sm;
	unsigned int news = sm_table_self(&d->table, self, now, &sm);

	if (!sm)
		return;
	match_watches(d);
	note_restart(d, sm, news, now);
	end_excuse(d, sm, now);
	look_at_claim(d, sm);
	look_at_followed(d);
	track_master(d, now);
	if (self->state == IBSM_SM_MASTER)
		d->lost_polls = 0;
}

static void take_self_gone(struct detect_sm *d, uint64_t port_guid, const struct detect_time *now)
{
	struct sm_entry *sm = sm_table_find(&d->table, port_guid);

	if (!sm || !sm->connected)
		return;
	sm_table_self_gone(&d->table, port_guid);
	detect_sm_watch(d, port_guid)->disagree = detect_sm_watch(d, port_guid)->agree = 0;
	look_at_claim(d, sm);
	look_at_followed(d);
	track_master(d, now);
}

static void take_outside_lost(struct detect_sm *d)
{
	sm_table_outside_lost(&d->table);
	d->lost_polls = d->found_polls = 0;
	d->lid_agree = d->lid_disagree = 0;
	for (size_t i = 0; i < d->watch_count; i++) {
		struct sm_watch *watch = &d->watches[i];

		watch->agree = watch->disagree = 0;
		watch->hung_base = false;
		watch->hung = HUNG_UNKNOWN;
		watch->claims = claims_mastership(d, sm_table_find(&d->table, watch->guid));
	}
}

static void take_fabric(struct detect_sm *d, const struct detect_sm_input *input)
{
	const struct fabric *fabric = input->fabric.fabric;
	const struct ibsm_snap_option *interval = fabric_option(fabric, "sweep_interval");

	sm_table_fabric(&d->table, fabric, &input->now);
	match_watches(d);
	look_at_followed(d);
	d->fabric_known = true;
	d->sweep_interval_known = interval && interval->kind == IBSM_OPTION_INTEGER;
	if (d->sweep_interval_known) {
		d->sweep_interval_sec = interval->value;
		d->sweep_interval_guid = fabric_subnet(fabric)->sm_port_guid;
	}
	if (input->fabric.placement) {
		d->placement = *input->fabric.placement;
		d->placement_known = true;
	}
	if (input->fabric.options) {
		d->option_count = input->fabric.option_count < SM_CONFIG_CHECKS_MAX
					  ? input->fabric.option_count
					  : SM_CONFIG_CHECKS_MAX;
		memcpy(d->options, input->fabric.options, d->option_count * sizeof(d->options[0]));
		d->options_known = true;
		detect_sm_judge_options(d, &input->now);
	}
}

/* Either end of an SM's own cable. */
static void take_link_down(struct detect_sm *d, uint64_t node_guid, uint8_t port,
			   const struct detect_time *now)
{
	for (size_t i = 0; i < d->table.count; i++) {
		const struct sm_entry *sm = &d->table.entries[i];

		if (sm->node_type != IBSM_NODE_SWITCH && sm->node_guid == node_guid &&
		    sm->port == port)
			damper_add(&detect_sm_watch(d, sm->port_guid)->link, &d->config.link, 1000,
				   now->monotonic_usec);
	}
}

static void let_time_go_by(struct detect_sm *d, const struct detect_time *now)
{
	sm_table_expire(&d->table, d->config.forget_usec, now);
	match_watches(d);
	settle_restarts(d, now);
	refine_reason(d, now);
	damper_update(&d->flap, &d->config.flap, now->monotonic_usec);
	for (size_t i = 0; i < d->watch_count; i++) {
		damper_update(&d->watches[i].flap, &d->config.flap, now->monotonic_usec);
		damper_update(&d->watches[i].link, &d->config.link, now->monotonic_usec);
	}
}

void detect_sm_input(struct detect_sm *d, const struct detect_sm_input *input)
{
	const struct detect_time *now = &input->now;

	switch (input->type) {
	case DETECT_SM_TICK:
		break;
	case DETECT_SM_SELF:
		take_self(d, &input->self, now);
		break;
	case DETECT_SM_SELF_GONE:
		take_self_gone(d, input->port_guid, now);
		break;
	case DETECT_SM_REPLY:
		take_reply(d, &input->reply, now);
		break;
	case DETECT_SM_OUTSIDE_LOST:
		take_outside_lost(d);
		break;
	case DETECT_SM_FABRIC:
		take_fabric(d, input);
		break;
	case DETECT_SM_LINK_DOWN:
		take_link_down(d, input->link.node_guid, input->link.port, now);
		break;
	}
	let_time_go_by(d, now);
	detect_sm_judge(d, now);
}

/* ---- what is known ---- */

void detect_sm_set_local(struct detect_sm *d, const uint64_t *port_guids, size_t count)
{
	sm_table_set_local(&d->table, port_guids, count);
}

const struct sm_table *detect_sm_table(const struct detect_sm *d)
{
	return &d->table;
}

const struct mastership *detect_sm_history(const struct detect_sm *d)
{
	return &d->history;
}

const struct sm_placement *detect_sm_placement(const struct detect_sm *d)
{
	return d->placement_known ? &d->placement : NULL;
}

const struct sm_config_result *detect_sm_options(const struct detect_sm *d, size_t *ret_count)
{
	*ret_count = d->options_known ? d->option_count : 0;
	return d->options;
}

uint64_t detect_sm_master(const struct detect_sm *d)
{
	return d->master;
}

bool detect_sm_has_master(const struct detect_sm *d)
{
	for (size_t i = 0; i < d->watch_count; i++)
		if (d->watches[i].guid == d->master)
			return d->watches[i].claims;
	return false;
}

double detect_sm_penalty(const struct detect_sm *d, const struct detect_time *now)
{
	return damper_penalty(&d->flap, &d->config.flap, now->monotonic_usec);
}

void detect_sm_save(const struct detect_sm *d, const struct detect_time *now,
		    struct detect_sm_saved *ret)
{
	struct sm_saved sms[SM_TABLE_MAX];
	size_t n = sm_table_save(&d->table, sms);

	*ret = (struct detect_sm_saved){
		.master = d->master,
		.master_realtime_usec = d->master_realtime_usec,
		.count = n,
	};
	damper_save(&d->flap, &d->config.flap, now->monotonic_usec, now->realtime_usec, &ret->flap);
	for (size_t i = 0; i < n; i++) {
		/* match_watches() gives each entry one. */
		const struct sm_watch *watch =
			detect_sm_watch((struct detect_sm *)d, sms[i].port_guid);

		ret->sms[i].sm = sms[i];
		ret->sms[i].restarts = watch->restarts;
		damper_save(&watch->flap, &d->config.flap, now->monotonic_usec, now->realtime_usec,
			    &ret->sms[i].flap);
		damper_save(&watch->link, &d->config.link, now->monotonic_usec, now->realtime_usec,
			    &ret->sms[i].link);
	}
}

size_t detect_sm_load(struct detect_sm *d, const struct detect_sm_saved *saved,
		      const struct mastership_entry *history, size_t history_count,
		      const struct detect_time *now)
{
	size_t count = saved->count <= SM_TABLE_MAX ? saved->count : 0;
	size_t left_out = saved->count - count;
	const struct mastership_entry *last = NULL;

	left_out += mastership_load(&d->history, history, history_count);
	for (size_t i = 0; i < count; i++)
		left_out += sm_table_load(&d->table, &saved->sms[i].sm, 1, now);
	match_watches(d);
	for (size_t i = 0; i < count; i++) {
		struct sm_watch *watch = detect_sm_watch(d, saved->sms[i].sm.port_guid);

		if (!watch)
			continue;
		watch->restarts = saved->sms[i].restarts;
		damper_load(&saved->sms[i].flap, &d->config.flap, now->monotonic_usec,
			    now->realtime_usec, &watch->flap);
		damper_load(&saved->sms[i].link, &d->config.link, now->monotonic_usec,
			    now->realtime_usec, &watch->link);
	}
	d->master = saved->master;
	d->master_realtime_usec = saved->master_realtime_usec;
	d->master_usec = detect_from_realtime(now, saved->master_realtime_usec);
	damper_load(&saved->flap, &d->config.flap, now->monotonic_usec, now->realtime_usec,
		    &d->flap);
	for (size_t i = 0; i < d->history.count; i++)
		if (d->history.entries[i].reason != MASTERSHIP_FIRST &&
		    d->history.entries[i].reason != MASTERSHIP_RESTART)
			last = &d->history.entries[i];
	if (last) {
		d->changed = true;
		d->change_realtime_usec = last->realtime_usec;
	}
	return left_out;
}
