// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Snapshots on their way to the model: read, indexed and compared in the worker, adopted here.
#pragma once

#include "daemon/ingest.h"

/* A SNAPSHOT record with its fd, which is consumed. Returns 0 or -ENOMEM. */
int adopt_snapshot(struct plugin *plugin, const struct ibsm_wire_snapshot *record, int fd);

/* The plugin is followed from here on: what it has sent before becomes the model. */
int adopt_plugin(struct plugin *plugin);

/* Names have changed: build the models anew. */
int adopt_names(struct manager *manager);
