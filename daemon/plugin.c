// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// One plugin's connection: who it is, and how it ends.
#include "daemon/plugin.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon/clock.h"
#include "daemon/follow.h"
#include "daemon/manager.h"
#include "fabric/names.h"

struct plugin *plugin_ref(struct plugin *plugin)
{
	plugin->refs++;
	return plugin;
}

struct plugin *plugin_unref(struct plugin *plugin)
{
	if (plugin && --plugin->refs == 0) {
		snapshot_unref(plugin->snapshot);
		story_teller_free(plugin->teller);
		free(plugin);
	}
	return NULL;
}

const char *plugin_text(const struct plugin *plugin, char buffer[static PLUGIN_TEXT_BYTES])
{
	if (!plugin->greeted)
		snprintf(buffer, PLUGIN_TEXT_BYTES, "process %d", (int)plugin->peer_pid);
	else if (plugin->sm_guid)
		snprintf(buffer, PLUGIN_TEXT_BYTES, "opensm %" PRIu32 " on %.128s (SM %s)",
			 plugin->hello.pid, plugin->host, GUID_STRING(plugin->sm_guid));
	else
		snprintf(buffer, PLUGIN_TEXT_BYTES, "opensm %" PRIu32 " on %.128s (SM not bound)",
			 plugin->hello.pid, plugin->host);
	return buffer;
}
static void unlink_plugin(struct plugin *plugin)
{
	struct plugin **p = &plugin->manager->ingest.plugins;

	while (*p != plugin)
		p = &(*p)->next;
	*p = plugin->next;
	plugin->next = NULL;
}

void plugin_tell_drops(struct plugin *plugin)
{
	char text[PLUGIN_TEXT_BYTES];

	if (!plugin->drops_untold)
		return;
	manager_event_text(plugin->manager, EVENT_RECORDS_DROPPED, FABRIC_SEVERITY_WARNING,
			   "%" PRIu64 " records were dropped by the plugin of %s",
			   plugin->drops_untold, plugin_text(plugin, text));
	plugin->drops_untold = 0;
}

void plugin_close(struct plugin *plugin, const char *why)
{
	struct manager *m = plugin->manager;
	char text[PLUGIN_TEXT_BYTES];

	if (plugin->fd < 0)
		return;
	plugin->source = sd_event_source_disable_unref(plugin->source);
	close(plugin->fd);
	plugin->fd = -1;
	unlink_plugin(plugin);
	if (plugin->instance)
		plugin->instance->users--;
	health_plugin_gone(plugin);
	if (plugin->greeted) {
		plugin_tell_drops(plugin);
		if (why) {
			log_notice("%s: %s", plugin_text(plugin, text), why);
			manager_event_text(m, EVENT_PLUGIN_DISCONNECTED, FABRIC_SEVERITY_WARNING,
					   "%s: %s", text, why);
		}
	}
	if (plugin->followed) {
		m->ingest.followed = NULL;
		if (plugin->subnet_checked)
			m->ingest.left_usec = now_monotonic_usec();
		follow_choose(m);
	}
	plugin_unref(plugin);
}

void plugin_refuse(struct plugin *plugin, enum event_kind kind, const char *format, ...)
{
	struct manager *m = plugin->manager;
	char why[512], text[PLUGIN_TEXT_BYTES], line[sizeof(why) + sizeof(text) + 16];
	va_list args;

	if (plugin->fd < 0)
		return;
	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	snprintf(line, sizeof(line), "%s refused: %s", plugin_text(plugin, text), why);
	m->ingest.refused++;
	/* A plugin that is turned away comes back again and again. */
	if (log_once_test(&m->once, line, now_monotonic_usec())) {
		log_warning("%s", line);
		manager_event_text(m, kind, FABRIC_SEVERITY_WARNING, "%s", line);
	}
	plugin_close(plugin, NULL);
}
