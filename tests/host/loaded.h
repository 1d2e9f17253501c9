// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Loads the plugin the way opensm does.
#pragma once

#include <stdint.h>
#include <string.h>

#include "plugin/osm.h"

struct loaded {
	void *handle;
	osm_event_plugin_t *impl;
	void *data;
};

/*
 * dlopen() the plugin at `path` (NULL: that of this build, or $IBSM_PLUGIN), check its version as
 * opensm does, create() it. Returns 0, or -1 with the reason on standard error.
 */
int loaded_open(struct loaded *loaded, const char *path, osm_opensm_t *osm);

/* delete() and dlclose(). */
void loaded_close(struct loaded *loaded);

/* UCAST_ROUTING_DONE carries its enum in the pointer itself. */
static inline void *loaded_routing(osm_epi_ucast_routing_flags_t kind)
{
	uintptr_t value = kind;
	void *p;

	memcpy(&p, &value, sizeof(p));
	return p;
}

static inline void loaded_report(struct loaded *loaded, osm_epi_event_id_t event, void *data)
{
	loaded->impl->report(loaded->data, event, data);
}
