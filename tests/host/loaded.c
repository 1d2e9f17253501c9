// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Loads the plugin the way opensm does.

#include "loaded.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *default_path(char *buffer, size_t bytes)
{
	const char *plugin = getenv("IBSM_PLUGIN"), *build = getenv("IBSM_BUILDDIR");

	if (plugin)
		return plugin;
	if (!build)
		return "libibsmplugin.so";
	snprintf(buffer, bytes, "%s/plugin/.libs/libibsmplugin.so", build);
	return buffer;
}

int loaded_open(struct loaded *loaded, const char *path, osm_opensm_t *osm)
{
	char buffer[4096];

	*loaded = (struct loaded){0};
	if (!path)
		path = default_path(buffer, sizeof(buffer));
	loaded->handle = dlopen(path, RTLD_LAZY);
	if (!loaded->handle) {
		fprintf(stderr, "%s\n", dlerror());
		return -1;
	}
	loaded->impl = dlsym(loaded->handle, OSM_EVENT_PLUGIN_IMPL_NAME);
	if (!loaded->impl || strcmp(loaded->impl->osm_version, osm->osm_version) != 0 ||
	    !loaded->impl->create) {
		fprintf(stderr, "%s: not a plugin for %s\n", path, osm->osm_version);
		dlclose(loaded->handle);
		return -1;
	}
	loaded->data = loaded->impl->create(osm);
	if (!loaded->data) {
		fprintf(stderr, "%s: create() failed\n", path);
		dlclose(loaded->handle);
		return -1;
	}
	return 0;
}

void loaded_close(struct loaded *loaded)
{
	if (!loaded->handle)
		return;
	loaded->impl->delete (loaded->data);
	dlclose(loaded->handle);
	*loaded = (struct loaded){0};
}
