// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What ibsmd makes of what it hears: the detectors, and what they are fed.
#include "daemon/health.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/alerts.h"
#include "daemon/clock.h"
#include "daemon/health-state.h"
#include "daemon/manager.h"
#include "util/cleanup.h"

static struct detect_time time_now(void)
{
	return (struct detect_time){
		.monotonic_usec = now_monotonic_usec(),
		.realtime_usec = now_realtime_usec(),
	};
}

/* Subnet managers. */

static void sm_input(struct manager *m, struct detect_sm_input input)
{
	if (!m->health.sm)
		return;
	input.now = time_now();
	detect_sm_input(m->health.sm, &input);
}

void health_self(struct plugin *plugin)
{
	struct manager *m = plugin->manager;
	uint32_t port = IBSM_NONE;
	struct sm_self self = {
		.port_guid = plugin->sm_guid,
		.instance = plugin->hello.instance,
		.master_sm_guid = plugin->master_sm_guid,
		.state = plugin->sm_state,
		.priority = plugin->hello.sm_priority,
		.sweep_interval_known = true,
		.sweep_interval_sec = plugin->hello.sweep_interval_sec,
	};

	if (!plugin->listened_to || !plugin->sm_guid)
		return;
	if (m->fabric)
		port = fabric_port_by_guid(m->fabric, plugin->sm_guid);
	if (port != IBSM_NONE)
		self.lid = fabric_port_lid(m->fabric, port);
	plugin->told_health = true;
	sm_input(m, (struct detect_sm_input){.type = DETECT_SM_SELF, .self = self});
}

void health_plugin_gone(struct plugin *plugin)
{
	struct manager *m = plugin->manager;

	if (!plugin->told_health)
		return;
	plugin->told_health = false;
	/* A later connection of the same SM may be there already. */
	for (const struct plugin *p = m->ingest.plugins; p; p = p->next)
		if (p != plugin && p->told_health && p->sm_guid == plugin->sm_guid)
			return;
	sm_input(m, (struct detect_sm_input){
			    .type = DETECT_SM_SELF_GONE,
			    .port_guid = plugin->sm_guid,
		    });
}

void health_reply(struct manager *m, const struct sm_reply *reply)
{
	sm_input(m, (struct detect_sm_input){.type = DETECT_SM_REPLY, .reply = *reply});
}

void health_outside_lost(struct manager *m)
{
	sm_input(m, (struct detect_sm_input){.type = DETECT_SM_OUTSIDE_LOST});
}

void health_local_ports(struct manager *m, const uint64_t *port_guids, size_t count)
{
	struct health *health = &m->health;

	health->local_count = count < SM_LOCAL_PORTS_MAX ? count : SM_LOCAL_PORTS_MAX;
	memcpy(health->local_ports, port_guids, health->local_count * sizeof(*port_guids));
	if (health->sm)
		detect_sm_set_local(health->sm, health->local_ports, health->local_count);
}

/* Sweeps. */

static void sweep_input(struct manager *m, struct detect_sweep_input input)
{
	if (!m->health.sweep)
		return;
	input.now = time_now();
	detect_sweep_input(m->health.sweep, &input);
}

void health_story(struct manager *m, const struct story *story)
{
	sweep_input(m, (struct detect_sweep_input){.type = DETECT_SWEEP_STORY, .story = story});
	if (story->end_monotonic_usec)
		health_changed(m);
}

void health_not_followed(struct manager *m)
{
	sweep_input(m, (struct detect_sweep_input){.type = DETECT_SWEEP_LOST});
}

void health_trap(struct manager *m, const struct trap_sample *trap)
{
	sweep_input(m, (struct detect_sweep_input){.type = DETECT_SWEEP_TRAP, .trap = *trap});
}

/* The fabric. */

struct health_findings *health_find(const struct fabric *fabric,
				    const struct sm_placement_config *placement,
				    const struct sm_config_limits *limits)
{
	_cleanup_free_ struct health_findings *found = calloc(1, sizeof(*found));
	enum sm_config_shape shape;

	if (!found || sm_placement_find(fabric, placement, &found->placement) < 0 ||
	    sm_config_find_shape(fabric, &shape) < 0)
		return NULL;
	found->option_count = sm_config_judge(fabric, limits, shape, found->options);
	return TAKE_PTR(found);
}

static void link_changed(struct manager *m, const struct fabric_end *end, bool down)
{
	if (!end->node_guid || !end->port || end->port > UINT8_MAX)
		return;
	sweep_input(m, (struct detect_sweep_input){
			       .type = DETECT_SWEEP_LINK_CHANGED,
			       .link = {.node_guid = end->node_guid, .port = (uint8_t)end->port},
		       });
	if (down)
		sm_input(m,
			 (struct detect_sm_input){
				 .type = DETECT_SM_LINK_DOWN,
				 .link = {.node_guid = end->node_guid, .port = (uint8_t)end->port},
			 });
}

void health_fabric(struct manager *m, const struct health_findings *findings,
		   const struct fabric_changes *changes)
{
	for (size_t i = 0; changes && i < changes->count; i++) {
		const struct fabric_change *change = &changes->changes[i];
		bool removed = change->kind == FABRIC_CHANGE_LINK_REMOVED;

		if (!removed && change->kind != FABRIC_CHANGE_LINK_ADDED &&
		    change->kind != FABRIC_CHANGE_LINK_MOVED)
			continue;
		link_changed(m, &change->a, removed);
		link_changed(m, &change->b, removed);
	}
	sm_input(m, (struct detect_sm_input){
			    .type = DETECT_SM_FABRIC,
			    .fabric =
				    {
					    .fabric = m->fabric,
					    .placement = findings ? &findings->placement : NULL,
					    .options = findings ? findings->options : NULL,
					    .option_count = findings ? findings->option_count : 0,
				    },
		    });
	sweep_input(m,
		    (struct detect_sweep_input){.type = DETECT_SWEEP_FABRIC, .fabric = m->fabric});
}

/* Time, life. */

static void end_silences(struct manager *m)
{
	struct silence over;

	while (silences_expire(&m->silences, now_realtime_usec(), &over)) {
		log_notice("silence %" PRIu64 " of %s%s%s is over", over.id, over.kind,
			   over.kind[0] && over.subject[0] ? ", " : "", over.subject);
		health_changed(m);
	}
}

void health_tick(struct manager *m)
{
	uint64_t now = now_monotonic_usec();

	if (!m->health.sm || !m->health.sweep)
		return;
	for (struct plugin *p = m->ingest.plugins; p; p = p->next)
		if (now - p->last_monotonic_usec >= m->conf.plugin_timeout_usec)
			health_plugin_gone(p);
	end_silences(m);
	alerts_update(m);
	sm_input(m, (struct detect_sm_input){.type = DETECT_SM_TICK});
	sweep_input(m, (struct detect_sweep_input){.type = DETECT_SWEEP_TICK});
	if (detect_sm_history(m->health.sm)->next != m->health.masters) {
		m->health.masters = detect_sm_history(m->health.sm)->next;
		health_changed(m);
	}
	if (m->health.dirty || now - m->health.save_monotonic_usec >= STATE_SAVE_USEC)
		health_state_save(m, false);
}

void health_changed(struct manager *m)
{
	m->health.dirty = true;
}

void health_reload(struct manager *m)
{
	if (!m->health.sm || !m->health.sweep)
		return;
	/* The keys were found to fit together when they were read. */
	if (detect_sm_configure(m->health.sm, &m->conf.sm) < 0 ||
	    detect_sweep_configure(m->health.sweep, &m->conf.sweep) < 0)
		log_error("the detectors do not take their thresholds; they stay as they were");
}

/* In place of those that are there, which stay without memory. */
static int make_detectors(struct manager *m)
{
	_cleanup_(detect_sm_freep) struct detect_sm *sm = NULL;
	struct detect_time now = time_now();
	struct detect_sweep *sweep;
	int r;

	r = detect_sm_new(&m->conf.sm, m->health.alerts, &now, &sm);
	if (r < 0)
		return r;
	r = detect_sweep_new(&m->conf.sweep, m->health.alerts, &sweep);
	if (r < 0)
		return r;
	detect_sm_set_local(sm, m->health.local_ports, m->health.local_count);
	detect_sweep_free(m->health.sweep);
	detect_sm_free(m->health.sm);
	m->health.sweep = sweep;
	m->health.sm = TAKE_PTR(sm);
	return 0;
}

void health_new_subnet(struct manager *m)
{
	struct detect_time now = time_now();

	if (!m->health.alerts)
		return;
	for (unsigned kind = 0; kind < DETECT_KINDS; kind++) {
		alert_set_begin(m->health.alerts, kind);
		alert_set_end(m->health.alerts, kind, &now);
	}
	m->health.masters = 0;
	if (make_detectors(m) < 0)
		log_error("no memory for new detectors: what was known of the former subnet's SMs "
			  "stays");
	for (struct plugin *p = m->ingest.plugins; p; p = p->next)
		p->told_health = false;
	health_changed(m);
}

int health_start(struct manager *m)
{
	struct detect_time now = time_now();
	int r;

	r = alert_set_new(alerts_told, m, &m->health.alerts);
	if (r == 0)
		r = make_detectors(m);
	if (r < 0)
		return r;
	m->health.save_monotonic_usec = now.monotonic_usec;
	return health_state_load(m);
}

void health_stop(struct manager *m)
{
	if (m->health.sm && m->health.sweep)
		health_state_save(m, true);
	m->health.sweep = detect_sweep_free(m->health.sweep);
	m->health.sm = detect_sm_free(m->health.sm);
	m->health.alerts = alert_set_free(m->health.alerts);
}
