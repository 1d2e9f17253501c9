// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The node-name-map in use: read from a file, shared with work that is under way.
#pragma once

#include <stdbool.h>

#include "daemon/limits.h"
#include "fabric/node-name-map.h"

/* References are the loop thread's; the map itself may be read from any thread. */
struct names {
	unsigned refs;
	struct node_name_map *map;
};

/**
 * Read a node-name-map.
 * @path: NULL: none
 * @is_set: a person named it, so that a missing file is worth a line
 * @ret: one reference, or NULL: there is none
 * Returns 0; a negative errno where the file could not be read (logged).
 */
int names_load(const char *path, bool is_set, struct limits *limits, struct names **ret);

/* Both accept NULL; names_unref() returns NULL. */
struct names *names_ref(struct names *names);
struct names *names_unref(struct names *names);
