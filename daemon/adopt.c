// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Snapshots on their way to the model: read, indexed and compared in the worker, adopted here.

/*
 * Each snapshot is read, since a later one may lean on its tables; and each one of the followed
 * plugin is compared with the fabric that is the model when its turn comes, so that the changes
 * told add up. Events are made in the worker, too: a lost spine brings thousands of them.
 */

#include "daemon/adopt.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/clock.h"
#include "daemon/follow.h"
#include "daemon/manager.h"
#include "daemon/sweeps.h"
#include "fabric/diff.h"
#include "fabric/names.h"
#include "util/cleanup.h"

/* Switches with other LFTs that get an event of their own; of more, one event tells how many. */
#define LFT_EVENTS_MAX 16

struct adoption {
	struct work work;
	struct manager *manager;
	struct plugin *plugin; /* NULL: the model itself, for new names */
	struct names *names;
	uint64_t realtime_usec;
	uint64_t monotonic_usec;
	uint64_t generation;

	/* To work on: a file, or (-1) the snapshot that was read before. */
	int fd;
	struct snapshot *previous;
	struct snapshot *snapshot;
	struct fabric *base; /* the model at the time; NULL: none */
	bool compare;	     /* the plugin is followed: make changes */
	bool check_subnet;
	struct sm_placement_config placement;
	struct sm_config_limits options;

	/* What came of it. */
	int error;
	struct snapshot_error why;
	struct fabric *fabric;
	bool foreign; /* shares no node with base: of another subnet */
	struct fabric_changes *changes;
	struct event **events;
	size_t n_events;
	struct health_findings *findings;
};

/* Letting go of a large fabric takes milliseconds, so that is the worker's, too. */
struct release {
	struct work work;
	struct snapshot *snapshot;
	struct fabric *fabric;
};

static void release_run(struct work *work)
{
	struct release *release = (struct release *)work;

	release->fabric = fabric_unref(release->fabric);
	release->snapshot = snapshot_unref(release->snapshot);
}

static void release_done(struct work *work)
{
	release_run(work);
	free(work);
}

/* Consumes both references. */
static void release(struct manager *m, struct snapshot *snapshot, struct fabric *fabric)
{
	struct release *new;

	if (!snapshot && !fabric)
		return;
	new = calloc(1, sizeof(*new));
	if (!new) {
		snapshot_unref(snapshot);
		fabric_unref(fabric);
		return;
	}
	*new = (struct release){
		.work = {.run = release_run, .done = release_done},
		.snapshot = snapshot,
		.fabric = fabric,
	};
	worker_submit(m->worker, &new->work);
}

/* In the worker. */

static bool share_a_node(const struct fabric *a, const struct fabric *b)
{
	uint32_t i = 0, j = 0;

	while (i < fabric_nodes(a) && j < fabric_nodes(b)) {
		uint64_t x = fabric_node(a, i)->node_guid, y = fabric_node(b, j)->node_guid;

		if (x == y)
			return true;
		if (x < y)
			i++;
		else
			j++;
	}
	return false;
}

static int add_event(struct adoption *a, struct event *event)
{
	if (!event)
		return -ENOMEM;
	event->realtime_usec = a->realtime_usec;
	event->monotonic_usec = a->monotonic_usec;
	a->events[a->n_events++] = event;
	return 0;
}

static int make_events(struct adoption *a)
{
	const struct fabric_changes *changes = a->changes;
	bool fold = changes->by_kind[FABRIC_CHANGE_LFT] > LFT_EVENTS_MAX;
	char text[128];
	int r;

	a->events = calloc(changes->count + 1, sizeof(struct event *));
	if (!a->events)
		return -ENOMEM;
	for (size_t i = 0; i < changes->count; i++) {
		if (fold && changes->changes[i].kind == FABRIC_CHANGE_LFT)
			continue;
		r = add_event(a, event_from_change(&changes->changes[i]));
		if (r < 0)
			return r;
	}
	if (!fold)
		return 0;
	snprintf(text, sizeof(text),
		 "forwarding tables of %" PRIu64 " switches changed, %" PRIu64 " blocks",
		 changes->lft_switches, changes->lft_blocks);
	return add_event(a, event_new(&(struct event){
				    .kind = EVENT_LFTS_CHANGED,
				    .severity = FABRIC_SEVERITY_INFO,
				    .message = text,
			    }));
}

static int work_on(struct adoption *a)
{
	int r;

	if (!a->snapshot) {
		r = snapshot_read(a->fd, a->previous, &a->snapshot, &a->why);
		if (r < 0)
			return r;
	}
	r = fabric_new(a->snapshot, a->names ? a->names->map : NULL, &a->fabric);
	if (r < 0)
		return r;
	if (a->base && a->check_subnet)
		a->foreign = !share_a_node(a->base, a->fabric);
	if (!a->compare)
		return 0;
	r = fabric_diff(a->foreign ? NULL : a->base, a->fabric, &a->changes);
	if (r < 0)
		return r;
	a->findings = health_find(a->fabric, &a->placement, &a->options);
	if (!a->findings)
		return -ENOMEM;
	return make_events(a);
}

static void adoption_run(struct work *work)
{
	struct adoption *a = (struct adoption *)work;

	a->error = work_on(a);
}

/* On the loop. */

static void adoption_prepare(struct work *work)
{
	struct adoption *a = (struct adoption *)work;
	struct manager *m = a->manager;

	if (a->fd >= 0 && a->plugin->snapshot)
		a->previous = snapshot_ref(a->plugin->snapshot);
	else if (a->fd < 0)
		a->snapshot = snapshot_ref(a->plugin ? a->plugin->snapshot : m->fabric->snapshot);
	if (m->fabric)
		a->base = fabric_ref(m->fabric);
	/* One that was the last to be followed may have ended meanwhile: what it sent still counts.
	 */
	a->compare =
		!a->plugin || a->plugin->followed || (a->plugin->fd < 0 && !m->ingest.followed);
	a->check_subnet = a->plugin && !a->plugin->subnet_checked;
	a->names = names_ref(m->names);
	a->placement = m->conf.placement;
	a->options = m->conf.options;
}

static struct adoption *adoption_free(struct adoption *a)
{
	if (a->fd >= 0)
		close(a->fd);
	for (size_t i = 0; i < a->n_events; i++)
		event_free(a->events[i]);
	free(a->events);
	free(a->findings);
	fabric_changes_free(a->changes);
	release(a->manager, TAKE_PTR(a->previous), TAKE_PTR(a->base));
	release(a->manager, TAKE_PTR(a->snapshot), TAKE_PTR(a->fabric));
	names_unref(a->names);
	plugin_unref(a->plugin);
	free(a);
	return NULL;
}

/* Options of another SM did not change: they are another's. */
static bool is_of_other_sm(const struct adoption *a, const struct event *event)
{
	return a->manager->model_instance && a->plugin &&
	       a->plugin->hello.instance != a->manager->model_instance &&
	       event->kind == EVENT_FABRIC_CHANGE + FABRIC_CHANGE_OPTION;
}

static void tell_changes(struct adoption *a)
{
	struct shared_text *cause = NULL, *other_sm = NULL;
	_cleanup_(story_unrefp) struct story *story = NULL;
	char text[STORY_CAUSE_TEXT_BYTES];

	if (a->plugin)
		story = sweeps_changes(a->plugin, &a->snapshot->header, a->changes);
	if (story && story->cause.kind != STORY_CAUSE_UNKNOWN)
		cause = shared_text_new(story_cause_text(&story->cause, text, sizeof(text)));
	for (size_t i = 0; i < a->n_events; i++) {
		struct event *event = TAKE_PTR(a->events[i]);

		event->sweep = story ? story->number : 0;
		if (is_of_other_sm(a, event)) {
			if (!other_sm)
				other_sm = shared_text_new("another SM is followed now");
			event->cause = shared_text_ref(other_sm);
		} else {
			event->cause = shared_text_ref(cause);
		}
		manager_event(a->manager, event);
	}
	shared_text_unref(cause);
	shared_text_unref(other_sm);
}

static void become_model(struct adoption *a)
{
	struct manager *m = a->manager;
	struct fabric *former = m->fabric;

	if (a->foreign) {
		log_notice("the plugin belongs to another subnet than the one before: "
			   "beginning anew");
		manager_event_text(m, EVENT_SUBNET_CHANGED, FABRIC_SEVERITY_NOTICE,
				   "the subnet is another one: it shares no node with the one "
				   "before");
		health_new_subnet(m);
		health_self(a->plugin);
	}
	m->fabric = fabric_ref(a->fabric);
	m->fabric_realtime_usec = a->realtime_usec;
	release(m, NULL, former);
	tell_changes(a);
	if (a->plugin)
		m->model_instance = a->plugin->hello.instance;
	for (struct plugin *p = m->ingest.plugins; p; p = p->next) {
		if (p == a->plugin || (p->greeted && p->sm_guid &&
				       fabric_port_by_guid(m->fabric, p->sm_guid) != IBSM_NONE))
			p->subnet_checked = true;
		if (p->subnet_checked)
			sweeps_listen(p);
	}
	health_fabric(m, a->findings, a->plugin && !a->foreign ? a->changes : NULL);
}

static void refuse_snapshot(struct adoption *a)
{
	if (a->error == -EFBIG)
		limit_hit(&a->manager->limits, LIMIT_SNAPSHOT_BYTES, 1);
	plugin_refuse(a->plugin, EVENT_SNAPSHOT_REFUSED,
		      "its snapshot %" PRIu64 " is not valid: %s", a->generation,
		      a->why.text[0] ? a->why.text : strerror(-a->error));
}

static void plugin_adoption_done(struct adoption *a)
{
	struct manager *m = a->manager;
	struct plugin *p = a->plugin;

	if (a->error < 0) {
		refuse_snapshot(a);
		return;
	}
	if (a->foreign && follow_subnet_is_claimed(p)) {
		plugin_refuse(p, EVENT_PLUGIN_REFUSED,
			      "it is of another subnet: its fabric (prefix %s) shares no node with "
			      "the followed one's",
			      GUID_STRING(fabric_subnet(a->fabric)->subnet_prefix));
		return;
	}
	if (a->base && a->check_subnet && !a->foreign) {
		p->subnet_checked = true;
		sweeps_listen(p);
	}
	release(m, p->snapshot, NULL);
	p->snapshot = snapshot_ref(a->snapshot);
	if (a->compare)
		become_model(a);
	else if (p->followed && adopt_plugin(p) < 0)
		log_error("no memory to adopt a fabric");
}

static void adoption_done(struct work *work)
{
	struct adoption *a = (struct adoption *)work;
	struct plugin *p = a->plugin;

	if (p && a->fd >= 0 && p->snapshots_pending-- == SNAPSHOTS_PENDING_MAX)
		ingest_resume(p);
	if (!work->cancelled) {
		if (p)
			plugin_adoption_done(a);
		else if (a->error == 0 && a->fabric)
			become_model(a);
	}
	adoption_free(a);
}

static int submit(struct manager *m, struct plugin *plugin, const struct adoption *template)
{
	struct adoption *a = malloc(sizeof(*a));

	if (!a)
		return -ENOMEM;
	*a = *template;
	a->manager = m;
	a->plugin = plugin ? plugin_ref(plugin) : NULL;
	a->work = (struct work){
		.prepare = adoption_prepare,
		.run = adoption_run,
		.done = adoption_done,
	};
	worker_submit(m->worker, &a->work);
	return 0;
}

int adopt_snapshot(struct plugin *plugin, const struct ibsm_wire_snapshot *record, int fd)
{
	struct manager *m = plugin->manager;
	int r;

	r = submit(m, plugin,
		   &(struct adoption){
			   .fd = fd,
			   .realtime_usec = record->header.realtime_nsec / NSEC_PER_USEC,
			   .monotonic_usec = record->header.monotonic_nsec / NSEC_PER_USEC,
			   .generation = record->generation,
		   });
	if (r < 0) {
		close(fd);
		return r;
	}
	plugin->snapshots_pending++;
	return 0;
}

int adopt_plugin(struct plugin *plugin)
{
	return submit(plugin->manager, plugin,
		      &(struct adoption){
			      .fd = -1,
			      .realtime_usec = now_realtime_usec(),
			      .monotonic_usec = now_monotonic_usec(),
		      });
}

int adopt_names(struct manager *m)
{
	return submit(m, NULL,
		      &(struct adoption){
			      .fd = -1,
			      .realtime_usec = now_realtime_usec(),
			      .monotonic_usec = now_monotonic_usec(),
		      });
}
