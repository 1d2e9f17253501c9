// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// JSON files in the state directory: read whole, replaced atomically, moved aside when broken.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/**
 * Read DIRECTORY/NAME.
 * @bytes_max: of a file that is still plausible
 * @ret: gets the root; NULL: there is no such file
 * @ret_why: of a broken one: "PATH: reason"
 *
 * Returns 0; -EBADMSG: broken; or what open() said.
 */
int state_file_read(const char *directory, const char *name, size_t bytes_max, json_t **ret,
		    char ret_why[256]);

/* Rename it to NAME.broken. Returns 0 or a negative errno. */
int state_file_move_aside(const char *directory, const char *name);

/**
 * Write it.
 * @flags: json_dumps()'s
 * @sync: wait for the disk
 *
 * Returns 0 or a negative errno; the old file stays then. Any thread that owns @root.
 */
int state_file_write(const char *directory, const char *name, const json_t *root, size_t flags,
		     bool sync);
