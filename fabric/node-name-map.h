// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Names for nodes by GUID: the node-name-map files of infiniband-diags, read from memory.
#pragma once

/*
 * The format: a line is `<guid> "<name>"`, a guid as strtoull(3) takes it with base 0 (0x… hex); a
 * line whose first non-blank is # and an empty one say nothing; after the closing quote anything
 * may follow. The first of two lines with the same GUID stands, as in infiniband-diags
 * (util/node_name_map.c; opensm's cl_nodenamemap.c). More is accepted than there: blanks before the
 * GUID, CRLF, a UTF-8 byte order mark, # inside the quotes (which those tools take as the name's
 * end), and a name without quotes, which runs to the end of the line or to a # after a blank.
 */

#include <stddef.h>
#include <stdint.h>

#include "util/cleanup.h"

struct node_name_map;

/* Told of each line that is not used: `line` counts from 1, `why` is a static phrase such as "no
 * GUID at its start". */
typedef void (*node_name_map_bad_line_fn)(size_t line, const char *why, void *userdata);

/**
 * node_name_map_parse - make a map of a file's bytes
 * @text:     `size` bytes, not NUL-terminated, any content
 * @bad_line: NULL, or told of each line that is left out; the others count
 * @ret:      gets the map
 *
 * Names are made printable; an empty name is a bad line. At most IBSM_NODE_NAME_MAP_ENTRIES_MAX
 * entries are kept; the lines after that are bad ones. Reentrant.
 *
 * Returns 0, also where every line was bad; -ENOMEM.
 */
int node_name_map_parse(const char *text, size_t size, node_name_map_bad_line_fn bad_line,
			void *userdata, struct node_name_map **ret);

/* Accepts NULL, returns NULL. */
struct node_name_map *node_name_map_free(struct node_name_map *map);
DEFINE_CLEANUP(struct node_name_map *, node_name_map_free);

/* The name of a node GUID, valid as long as the map; NULL when the map, which may be NULL itself,
 * has none. */
const char *node_name_map_get(const struct node_name_map *map, uint64_t node_guid);

/* Entries; 0 for NULL. */
size_t node_name_map_size(const struct node_name_map *map);
