// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Subnet managers: who they are, who is and was master, where they stand, how they are configured.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/api-internal.h"
#include "daemon/clock.h"
#include "daemon/outside.h"
#include "fabric/names.h"
#include "util/cleanup.h"

static struct detect_time time_now(void)
{
	return (struct detect_time){
		.monotonic_usec = now_monotonic_usec(),
		.realtime_usec = now_realtime_usec(),
	};
}

/* A name, a GUID or a number that may not be known: nothing is added then. */

static bool put_name(json_t *object, const char *key, const char *name)
{
	return !*name || json_put(object, key, json_text(name));
}

static bool put_guid(json_t *object, const char *key, uint64_t guid)
{
	return !guid || json_put(object, key, json_guid(guid));
}

static bool put_above_0(json_t *object, const char *key, uint64_t number)
{
	return !number || json_put(object, key, json_number(number));
}

static bool put_priority(json_t *object, const char *key, uint8_t priority)
{
	return priority == SM_PRIORITY_UNKNOWN || json_put(object, key, json_integer(priority));
}

/* The table. */

static json_t *view_json(const char *name, const struct sm_seen *seen, bool has_act_count,
			 const struct detect_time *now)
{
	json_auto_t *view = json_pack("{s:s}", "view", name);

	if (!view)
		return NULL;
	if (seen->known &&
	    (!json_put(view, "state", json_string(sm_state_name(seen->state))) ||
	     !put_priority(view, "priority", seen->priority) ||
	     !put_above_0(view, "lid", seen->lid) ||
	     (has_act_count && !json_put(view, "act_count", json_counter(seen->act_count))) ||
	     !json_put(view, "age_usec", json_number(detect_age_usec(now, seen->usec)))))
		return NULL;
	return TAKE_PTR(view);
}

static json_t *outside_json(const struct sm_entry *sm, const struct detect_time *now)
{
	json_auto_t *view = view_json("outside", &sm->outside, true, now);
	const char *status = sm->missed ? strerrorname_np(sm->miss_status) : NULL;

	if (!view || !json_put(view, "answered", json_integer(sm->answered)) ||
	    !json_put(view, "missed", json_integer(sm->missed)) ||
	    (status && !json_put(view, "missed_status", json_string(status))) ||
	    !put_above_0(view, "rtt_usec", sm->rtt_usec))
		return NULL;
	return TAKE_PTR(view);
}

static json_t *views_json(const struct sm_entry *sm, const struct detect_time *now)
{
	json_auto_t *views = json_array();

	if ((sm->self.known &&
	     json_array_append_new(views, view_json("self", &sm->self, false, now)) < 0) ||
	    (sm->told.known &&
	     json_array_append_new(views, view_json("told", &sm->told, true, now)) < 0) ||
	    ((sm->outside.known || sm->asked) &&
	     json_array_append_new(views, outside_json(sm, now)) < 0))
		return NULL;
	return json_incref(views);
}

/* The SM whose opensm carries the plugin that the model follows. */
static uint64_t own_guid(const struct manager *m)
{
	const struct ibsm_snap_sm *own = m->fabric ? fabric_own_sm(m->fabric) : NULL;

	return m->ingest.followed ? m->ingest.followed->sm_guid : own ? own->port_guid : 0;
}

static bool put_restarts(json_t *object, uint64_t port_guid, const struct detect_sm_saved *saved)
{
	for (size_t i = 0; i < saved->count; i++)
		if (saved->sms[i].sm.port_guid == port_guid)
			return json_put(object, "restarts", json_number(saved->sms[i].restarts)) &&
			       json_put(object, "restart_penalty",
					json_real(saved->sms[i].flap.penalty));
	return true;
}

static json_t *sm_json(const struct manager *m, const struct sm_entry *sm,
		       const struct detect_sm_saved *saved, const struct detect_time *now)
{
	const struct sm_table *table = detect_sm_table(m->health.sm);
	const struct sm_seen *counted = sm->outside.known ? &sm->outside : &sm->told;
	json_auto_t *object = NULL;
	int state = sm_entry_state(sm);

	object = json_pack("{s:o, s:s, s:b, s:b, s:b, s:b, s:o, s:o, s:o}", "guid",
			   json_guid(sm->port_guid), "state",
			   sm_state_name(state < 0 ? UINT8_MAX : (uint8_t)state), "self",
			   sm->port_guid == own_guid(m), "responsive", sm_entry_is_alive(sm),
			   "local", sm_entry_is_local(table, sm), "plugin_connected", sm->connected,
			   "first_seen_realtime_usec", json_number(sm->first_realtime_usec),
			   "last_seen_realtime_usec", json_number(sm->last_realtime_usec), "views",
			   views_json(sm, now));
	if (!object || !put_priority(object, "priority", sm_entry_priority(sm)) ||
	    !put_above_0(object, "lid", sm_entry_lid(sm)) || !put_name(object, "node", sm->node) ||
	    !put_guid(object, "node_guid", sm->node_guid) ||
	    (sm->node_type &&
	     !json_put(object, "node_type", json_string(node_type_name(sm->node_type)))) ||
	    !put_above_0(object, "port", sm->port) ||
	    (counted->known && !json_put(object, "act_count", json_counter(counted->act_count))) ||
	    !put_restarts(object, sm->port_guid, saved))
		return NULL;
	return TAKE_PTR(object);
}

json_t *api_outside_json(const struct manager *m)
{
	json_auto_t *object = NULL;
	struct outside_status status;

	outside_status(m->outside, &status);
	object = json_pack(
		"{s:s, s:b, s:b, s:o, s:o, s:o, s:o}", "state", outside_state_name(status.state),
		"from_sysfs", status.from_sysfs, "master_answers", status.master_answers, "starts",
		json_number(status.starts), "polls", json_number(status.polls), "queries",
		json_number(status.queries), "answers", json_number(status.answers));
	if (!object || !put_name(object, "why", status.why) ||
	    !put_name(object, "port", status.port) ||
	    !put_guid(object, "port_guid", status.port_guid) ||
	    !put_above_0(object, "lid", status.lid) ||
	    !put_above_0(object, "sm_lid", status.sm_lid) ||
	    !put_name(object, "version", status.version) ||
	    !put_above_0(object, "pid", status.pid) ||
	    !put_above_0(object, "polled_realtime_usec", status.polled_realtime_usec))
		return NULL;
	return TAKE_PTR(object);
}

/* The master first, then by priority and GUID: as they would be elected. */
static int compare_sms(const void *a, const void *b)
{
	const struct sm_entry *x = *(const struct sm_entry *const *)a;
	const struct sm_entry *y = *(const struct sm_entry *const *)b;
	int masters = (sm_entry_state(y) == IBSM_SM_MASTER) - (sm_entry_state(x) == IBSM_SM_MASTER);
	int p = sm_entry_priority(x), q = sm_entry_priority(y);

	if (masters)
		return masters;
	p = p == SM_PRIORITY_UNKNOWN ? -1 : p;
	q = q == SM_PRIORITY_UNKNOWN ? -1 : q;
	if (p != q)
		return q - p;
	return x->port_guid < y->port_guid ? -1 : x->port_guid > y->port_guid;
}

int api_list_subnet_managers(struct varlink_call *call, json_t *parameters, void *userdata)
{
	struct manager *m = ((struct api *)userdata)->manager;
	const struct sm_table *table = detect_sm_table(m->health.sm);
	_cleanup_free_ struct detect_sm_saved *saved = calloc(1, sizeof(*saved));
	const struct sm_entry *order[SM_TABLE_MAX];
	const struct detect_time now = time_now();
	json_auto_t *list = json_array();

	(void)parameters;
	if (!m->fabric && !table->count)
		return api_no_fabric(call, m);
	if (!saved)
		return -ENOMEM;
	detect_sm_save(m->health.sm, &now, saved);
	for (size_t i = 0; i < table->count; i++)
		order[i] = &table->entries[i];
	qsort(order, table->count, sizeof(order[0]), compare_sms);
	for (size_t i = 0; i < table->count; i++)
		if (json_array_append_new(list, sm_json(m, order[i], saved, &now)) < 0)
			return -ENOMEM;
	return varlink_call_reply(call, json_pack("{s:O, s:o}", "subnet_managers", list, "outside",
						  api_outside_json(m)));
}

/* Masters. */

static const struct sm_entry *find_sm(const struct sm_table *table, uint64_t port_guid)
{
	for (size_t i = 0; i < table->count; i++)
		if (table->entries[i].port_guid == port_guid)
			return &table->entries[i];
	return NULL;
}

/* As it was called then; who was not known by name yet, as it is called now. */
static bool put_sm_name(json_t *object, const char *key, const char *name,
			const struct sm_table *table, uint64_t port_guid)
{
	const struct sm_entry *sm = *name ? NULL : find_sm(table, port_guid);

	return put_name(object, key, sm ? sm->node : name);
}

static json_t *change_json(const struct mastership_entry *change, const struct sm_table *table)
{
	json_auto_t *object = json_pack(
		"{s:o, s:o, s:o, s:s, s:o}", "number", json_number(change->number), "realtime_usec",
		json_number(change->realtime_usec), "to", json_guid(change->to), "reason",
		mastership_reason_name(change->reason), "gap_usec", json_number(change->gap_usec));

	if (!object || !put_guid(object, "from", change->from) ||
	    !put_sm_name(object, "from_name", change->from_name, table, change->from) ||
	    (change->from && !put_priority(object, "from_priority", change->from_priority)) ||
	    !put_sm_name(object, "to_name", change->to_name, table, change->to) ||
	    !put_priority(object, "to_priority", change->to_priority))
		return NULL;
	return TAKE_PTR(object);
}

static json_t *changes_json(const struct mastership *history, const struct sm_table *table,
			    uint64_t count)
{
	json_auto_t *list = json_array();

	for (size_t i = history->count; i-- > 0 && json_array_size(list) < count;)
		if (json_array_append_new(list, change_json(&history->entries[i], table)) < 0)
			return NULL;
	return json_incref(list);
}

int api_get_mastership(struct varlink_call *call, json_t *parameters, void *userdata)
{
	const struct manager *m = ((struct api *)userdata)->manager;
	const struct mastership *history = detect_sm_history(m->health.sm);
	const struct damper_config *flap = &m->conf.sm.flap;
	uint64_t master = detect_sm_master(m->health.sm), count = UINT64_MAX;
	const struct sm_table *table = detect_sm_table(m->health.sm);
	const struct sm_entry *sm = find_sm(table, master);
	const struct detect_time now = time_now();
	json_auto_t *object = NULL;

	if (!api_number(parameters, "count", &count))
		return varlink_call_invalid_parameter(call, "count");
	object = json_pack(
		"{s:b, s:o, s:o, s:f, s:f, s:f, s:o}", "has_master",
		detect_sm_has_master(m->health.sm), "changes_total", json_number(history->next),
		"changes", changes_json(history, table, count), "penalty",
		detect_sm_penalty(m->health.sm, &now), "suppress", flap->suppress, "reuse",
		flap->reuse, "half_life_usec", json_number(flap->half_life_usec));
	if (!object || !put_guid(object, "master", master) ||
	    (sm && !put_name(object, "master_name", sm->node)))
		return -ENOMEM;
	return varlink_call_reply(call, json_pack("{s:O}", "mastership", object));
}

/* Places. */

static json_t *reasons_json(unsigned int reasons)
{
	json_auto_t *list = json_array();

	for (unsigned int bit = 1; bit <= SM_PLACED_FLAPPING_LINK; bit <<= 1)
		if (reasons & bit &&
		    json_array_append_new(list, json_string(sm_placement_reason_name(bit))) < 0)
			return NULL;
	return json_incref(list);
}

static json_t *place_json(const struct manager *m, const struct sm_place *place)
{
	const struct sm_entry *sm = find_sm(detect_sm_table(m->health.sm), place->port_guid);
	json_auto_t *object = json_pack("{s:o, s:s, s:b, s:o}", "guid", json_guid(place->port_guid),
					"state", sm_state_name(place->state), "embedded",
					place->embedded, "reasons", reasons_json(place->reasons));

	if (!object || (sm && !put_name(object, "node", sm->node)) ||
	    !put_guid(object, "switch_guid", place->switch_guid) ||
	    !put_name(object, "switch", place->switch_name) ||
	    !put_above_0(object, "switch_port", place->switch_port) ||
	    (place->hops != SM_HOPS_UNKNOWN &&
	     (!json_put(object, "hops", json_integer(place->hops)) ||
	      !json_put(object, "mean_hops", json_real(place->mean_hops)))) ||
	    !put_above_0(object, "rate_mbps", place->rate_mbps) ||
	    !put_above_0(object, "best_rate_mbps", place->best_mbps))
		return NULL;
	return TAKE_PTR(object);
}

int api_get_placement(struct varlink_call *call, json_t *parameters, void *userdata)
{
	static const struct sm_placement none = {.best_hops = SM_HOPS_UNKNOWN};
	const struct manager *m = ((struct api *)userdata)->manager;
	const struct sm_placement *placement = detect_sm_placement(m->health.sm) ?: &none;
	json_auto_t *object = NULL, *places = json_array();

	(void)parameters;
	for (size_t i = 0; i < placement->count; i++)
		if (json_array_append_new(places, place_json(m, &placement->places[i])) < 0)
			return -ENOMEM;
	object = json_pack("{s:O, s:b, s:I, s:I}", "places", places, "best_is_exact",
			   placement->best_is_exact, "switches", (json_int_t)placement->switches,
			   "nodes", (json_int_t)placement->nodes);
	if (!object ||
	    (placement->best_hops != SM_HOPS_UNKNOWN &&
	     (!json_put(object, "best_hops", json_integer(placement->best_hops)) ||
	      !put_name(object, "best_switch", placement->best_switch_name) ||
	      !put_guid(object, "best_switch_guid", placement->best_switch_guid))) ||
	    !put_above_0(object, "usual_rate_mbps", placement->usual_mbps))
		return -ENOMEM;
	return varlink_call_reply(call, json_pack("{s:O}", "placement", object));
}

/* Options. */

static bool append_checks(json_t *list, const struct sm_config_result *results, size_t count,
			  bool failed)
{
	for (size_t i = 0; i < count; i++) {
		const struct sm_config_result *result = &results[i];
		const struct sm_config_check *check = result->check;

		if (result->failed == failed &&
		    json_array_append_new(
			    list, json_pack("{s:s, s:s, s:s, s:b, s:b, s:o, s:s, s:s}", "check",
					    check->name, "option", check->option, "severity",
					    finding_severity_name(check->severity), "failed",
					    result->failed, "fact", check->fact, "text",
					    json_foreign(result->text), "reason", check->reason,
					    "source", check->source)) < 0)
			return false;
	}
	return true;
}

int api_list_option_checks(struct varlink_call *call, json_t *parameters, void *userdata)
{
	const struct manager *m = ((struct api *)userdata)->manager;
	json_auto_t *list = json_array();
	size_t count = 0;
	const struct sm_config_result *results = detect_sm_options(m->health.sm, &count);

	(void)parameters;
	if (!append_checks(list, results, count, true) ||
	    !append_checks(list, results, count, false))
		return -ENOMEM;
	return varlink_call_reply(call, json_pack("{s:O}", "checks", list));
}
