// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What opensm sees of us: the four entries of its plugin interface.

/*
 * Life of the plugin in opensm: create() on the main thread, after opensm daemonized and before it
 * binds a port or starts its sweeper; report() on any thread until opensm exits; delete() on the
 * main thread, after the sweeper stopped, followed by dlclose(). We are linked with -z nodelete,
 * and delete() joins our one thread, so no code of ours runs after it or goes away under it.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "layout.h"
#include "log.h"
#include "plugin.h"
#include "report.h"
#include "sender.h"

static void complain(void *userdata, const char *text)
{
	log_line(userdata, "%s", text);
}

static void plugin_free(struct plugin *plugin)
{
	if (!plugin)
		return;
	sender_free(plugin->sender);
	snapshots_clear(&plugin->snapshots);
	wake_clear(&plugin->wake);
	ring_clear(&plugin->bulk);
	ring_clear(&plugin->control);
	free(plugin);
}

static int plugin_new(osm_opensm_t *osm, struct plugin **ret_plugin)
{
	struct plugin *plugin;
	int r;

	plugin = aligned_alloc(RING_CACHE_LINE, sizeof(*plugin));
	if (!plugin)
		return -ENOMEM;
	memset(plugin, 0, sizeof(*plugin));
	plugin->osm = osm;
	plugin->wake.fd = -1;
	snapshots_init(&plugin->snapshots, osm);
	atomic_init(&plugin->sm_state, capture_state_now(osm));
	options_parse(osm->subn.opt.event_plugin_options, complain, osm, &plugin->options);

	r = ring_init(&plugin->control, IBSM_RING_CONTROL_RECORDS);
	if (r >= 0)
		r = ring_init(&plugin->bulk, plugin->options.ring_records);
	if (r >= 0)
		r = wake_init(&plugin->wake);
	if (r >= 0)
		r = sender_new(plugin, &plugin->sender);
	if (r < 0) {
		plugin_free(plugin);
		return r;
	}
	*ret_plugin = plugin;
	return 0;
}

static void *create(osm_opensm_t *osm)
{
	const char *mismatch = layout_mismatch(osm);
	struct plugin *plugin;
	int r;

	if (mismatch) {
		log_line(NULL,
			 "not loaded: this opensm's structures differ from the " OSM_VERSION
			 " that the plugin was built for (%s); build it with this opensm's headers",
			 mismatch);
		return NULL;
	}
	r = plugin_new(osm, &plugin);
	if (r < 0) {
		log_line(osm, "not loaded: %s", strerror(-r));
		return NULL;
	}
	return plugin;
}

static void delete (void *data)
{
	plugin_free(data);
}

static void report(void *data, osm_epi_event_id_t event, void *event_data)
{
	report_event(data, event, event_data);
}

__attribute__((visibility("default"))) osm_event_plugin_t osm_event_plugin = {
	.osm_version = OSM_VERSION,
	.create = create,
	.delete = delete,
	.report = report,
};
