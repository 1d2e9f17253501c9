// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// GetStatus: the state of the whole, on one screen.
#include <stdlib.h>
#include <unistd.h>

#include "daemon/alerts.h"
#include "daemon/api-internal.h"
#include "daemon/api.h"
#include "daemon/clock.h"
#include "fabric/names.h"
#include "util/cleanup.h"

/* The worst ones; ListAlerts has all. */
#define STATUS_ALERTS_MAX 256

static json_t *fabric_json(const struct manager *m)
{
	const struct fabric_counts *counts;
	const struct snapshot *snapshot;

	if (!m->fabric)
		return json_pack("{s:i, s:i, s:i, s:i, s:i}", "switches", 0, "cas", 0, "routers", 0,
				 "links", 0, "lids", 0);
	counts = fabric_counts(m->fabric);
	snapshot = m->fabric->snapshot;
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o}", "switches",
			 (json_int_t)counts->switches, "cas", (json_int_t)counts->cas, "routers",
			 (json_int_t)counts->routers, "links", (json_int_t)counts->links, "lids",
			 (json_int_t)counts->lids, "ports", (json_int_t)counts->ports, "groups",
			 (json_int_t)snapshot_groups(snapshot), "partitions",
			 (json_int_t)snapshot_partitions(snapshot), "subnet_prefix",
			 json_guid(fabric_subnet(m->fabric)->subnet_prefix), "generation",
			 json_number(snapshot->header.generation), "realtime_usec",
			 json_number(m->fabric_realtime_usec), "size_bytes",
			 json_number(snapshot->header.size_bytes));
}

/* The SM whose plugin is followed: its state as last heard, the rest from the model. */
static json_t *sm_json(const struct manager *m)
{
	const struct ibsm_snap_sm *own = m->fabric ? fabric_own_sm(m->fabric) : NULL;
	const struct plugin *plugin = m->ingest.followed;
	uint64_t guid = plugin ? plugin->sm_guid : own ? own->port_guid : 0;
	uint32_t port = IBSM_NONE;
	json_auto_t *sm = NULL;

	if (!guid)
		return NULL;
	if (own && own->port_guid != guid)
		own = NULL;
	if (m->fabric)
		port = fabric_port_by_guid(m->fabric, guid);
	sm = json_pack("{s:o, s:s, s:i, s:b}", "guid", json_guid(guid), "state",
		       sm_state_name(plugin ? plugin->sm_state
				     : own  ? own->state
					    : UINT8_MAX),
		       "priority", plugin ? plugin->hello.sm_priority : own->priority, "self", 1);
	if (!sm || (own && !json_put(sm, "priority", json_integer(own->priority))) ||
	    (own && !json_put(sm, "act_count", json_counter(own->act_count))))
		return NULL;
	if (port != IBSM_NONE) {
		uint32_t node = fabric_port(m->fabric, port)->node;
		uint16_t lid = fabric_port_lid(m->fabric, port);

		if ((lid && !json_put(sm, "lid", json_integer(lid))) ||
		    !json_put(sm, "node", json_text(fabric_node_name(m->fabric, node))) ||
		    !json_put(sm, "node_guid", json_guid(fabric_node(m->fabric, node)->node_guid)))
			return NULL;
	}
	return TAKE_PTR(sm);
}

static json_t *ring_json(const struct ibsm_wire_ring_counts *counts)
{
	return json_pack("{s:o, s:o, s:o, s:o}", "raised", json_counter(counts->raised), "sent",
			 json_counter(counts->sent), "dropped_full",
			 json_counter(counts->dropped_full), "dropped_absent",
			 json_counter(counts->dropped_absent));
}

static json_t *connection_json(const struct plugin *p, uint64_t now_usec)
{
	const struct ibsm_wire_heartbeat *h = &p->heartbeat;
	json_auto_t *object = NULL;

	object = json_pack(
		"{s:o, s:s, s:b, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
		"s:o, s:o}",
		"instance", json_guid(p->hello.instance), "sm_state", sm_state_name(p->sm_state),
		"followed", p->followed, "pid", (json_int_t)p->hello.pid, "host",
		json_text(p->host), "opensm_version", json_text(p->opensm_version),
		"plugin_version", json_text(p->plugin_version), "since_realtime_usec",
		json_number(p->since_realtime_usec), "heartbeat_age_usec",
		json_number(now_usec - p->last_monotonic_usec), "records", json_number(p->records),
		"control", ring_json(&h->control), "bulk", ring_json(&h->bulk), "snapshots_taken",
		json_number(h->snapshots_taken), "snapshots_skipped",
		json_number(h->snapshots_skipped), "snapshot_lock_usec",
		json_number(h->snapshot_lock_nsec / NSEC_PER_USEC), "snapshot_lock_max_usec",
		json_number(h->snapshot_lock_max_nsec / NSEC_PER_USEC), "callback_usec",
		json_number(h->callback_nsec / NSEC_PER_USEC), "unknown_records",
		json_number(p->unknown_records));
	if (!object || (p->sm_guid && !json_put(object, "sm_guid", json_guid(p->sm_guid))))
		return NULL;
	return TAKE_PTR(object);
}

static json_t *plugin_json(const struct manager *m)
{
	uint64_t now = now_monotonic_usec();
	json_auto_t *connections = json_array();

	for (const struct plugin *p = m->ingest.plugins; p; p = p->next)
		if (p->greeted && json_array_append_new(connections, connection_json(p, now)) < 0)
			return NULL;
	return json_pack("{s:b, s:o, s:o, s:o, s:o, s:O}", "connected", m->ingest.followed != NULL,
			 "events_received", json_number(m->ingest.events_received),
			 "events_dropped", json_number(m->ingest.events_dropped), "events_missed",
			 json_number(m->ingest.events_missed), "refused",
			 json_number(m->ingest.refused), "connections", connections);
}

static json_t *sweep_json(const struct manager *m)
{
	const struct story *last = m->sweeps.ended;
	json_auto_t *object = NULL;
	uint64_t duration = last ? story_duration_usec(last) : 0;

	object = json_pack("{s:o, s:b}", "count", json_number(m->sweeps.count), "running",
			   m->ingest.followed && sweeps_running(m->ingest.followed));
	if (!object || (duration && !json_put(object, "last_duration_usec", json_number(duration))))
		return NULL;
	if (last && (!json_put(object, "last_result", json_text(story_result_name(last->result))) ||
		     !json_put(object, "last_number", json_number(last->number)) ||
		     !json_put(object, "last_realtime_usec", json_number(last->end_realtime_usec))))
		return NULL;
	return TAKE_PTR(object);
}

static json_t *routing_json(const struct manager *m)
{
	json_auto_t *asked = json_array(), *loaded = json_array(), *object = NULL;
	const struct fabric *fabric = m->fabric;
	const char *used = fabric ? fabric_engine_used(fabric) : NULL;

	for (uint32_t i = 0; fabric && i < snapshot_engines(fabric->snapshot); i++) {
		const struct ibsm_snap_engine *engine = snapshot_engine(fabric->snapshot, i);
		const char *name = snapshot_string(fabric->snapshot, engine->name);

		if ((engine->flags & IBSM_ENGINE_ASKED &&
		     json_array_append_new(asked, json_foreign(name)) < 0) ||
		    (engine->flags & IBSM_ENGINE_LOADED &&
		     json_array_append_new(loaded, json_foreign(name)) < 0))
			return NULL;
	}
	object = json_pack("{s:O, s:O, s:b, s:I}", "engines_configured", asked, "engines_loaded",
			   loaded, "fallback", fabric && fabric_routing_fell_back(fabric),
			   "lft_mismatches",
			   (json_int_t)(fabric ? fabric_counts(fabric)->lft_mismatches : 0));
	if (!object || (used && !json_put(object, "engine_used", json_foreign(used))))
		return NULL;
	return TAKE_PTR(object);
}

static json_t *daemon_json(struct manager *m)
{
	json_auto_t *limits = json_array();
	struct varlink_server_stats stats;

	api_get_stats(m->api, &stats);
	m->limits.limits[LIMIT_CLIENTS].count = stats.refused;
	m->limits.limits[LIMIT_CLIENT_QUEUE_BYTES].count = stats.disconnected_slow;
	m->limits.limits[LIMIT_CALL_BYTES].count = stats.oversized;
	m->limits.limits[LIMIT_ALERTS].count = alert_set_not_raised(m->health.alerts);
	m->limits.limits[LIMIT_SUBNET_MANAGERS].count = detect_sm_table(m->health.sm)->left_out;
	m->limits.limits[LIMIT_TRAP_SENDERS].count =
		detect_sweep_traps(m->health.sweep)->senders_over;
	m->limits.limits[LIMIT_UNRESPONSIVE_NODES].count =
		detect_sweep_nodes(m->health.sweep)->left_out;
	for (unsigned i = 0; i < LIMITS; i++) {
		const struct limit_count *limit = &m->limits.limits[i];

		if (limit->count &&
		    json_array_append_new(limits,
					  json_pack("{s:s, s:o, s:o}", "limit", limit_name(i),
						    "value", json_number(limit->value), "count",
						    json_number(limit->count))) < 0)
			return NULL;
	}
	return json_pack("{s:s, s:i, s:o, s:o, s:o, s:O}", "version", PACKAGE_VERSION, "pid",
			 (int)getpid(), "start_realtime_usec", json_number(m->start_realtime_usec),
			 "clients", json_number(stats.clients), "events",
			 json_number(m->events.kept), "limits_hit", limits);
}

int api_get_status(struct varlink_call *call, json_t *parameters, void *userdata)
{
	struct manager *m = ((struct api *)userdata)->manager;
	json_auto_t *status = NULL;
	json_t *sm;

	(void)parameters;
	alerts_update(m);
	status = json_pack(
		"{s:s, s:o, s:o, s:o, s:o, s:o, s:{s:I, s:I, s:I, s:I, s:I}, s:o, s:o}", "health",
		m->fabric ? alerts_health(m) : "unknown", "fabric", fabric_json(m), "plugin",
		plugin_json(m), "sweep", sweep_json(m), "routing", routing_json(m), "alerts",
		alerts_json(m, false, STATUS_ALERTS_MAX), "alert_counts", "critical",
		(json_int_t)alerts_count(m, FINDING_CRITICAL), "warning",
		(json_int_t)alerts_count(m, FINDING_WARNING), "notice",
		(json_int_t)alerts_count(m, FINDING_NOTICE), "silenced",
		(json_int_t)alerts_silenced(m), "acknowledged", (json_int_t)alerts_acknowledged(m),
		"daemon", daemon_json(m), "outside", api_outside_json(m));
	sm = sm_json(m);
	if (sm && status && !json_put(status, "sm", sm))
		status = (json_decref(status), NULL);
	return varlink_call_reply(call, TAKE_PTR(status));
}
