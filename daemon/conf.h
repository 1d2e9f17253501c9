// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// ibsmd.conf and its drop-ins: read aside, complained about, and handed over as a whole.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct conf {
	char *node_name_map;	   /* absolute path; NULL: none */
	bool node_name_map_is_set; /* not the default: a missing file is worth a line */
	uint64_t events_max;
	uint64_t sweeps_max;
	uint64_t plugin_timeout_usec;
	uint64_t drops_clear_usec;
};

#ifndef CONF_PATH_DEFAULT /* the build sets it, from sysconfdir */
#define CONF_PATH_DEFAULT "/etc/ibsmd/ibsmd.conf"
#endif

/* What the keys are without a file. For conf_clear(). */
int conf_init(struct conf *ret_conf);
void conf_clear(struct conf *conf);

/* One line for the log: "FILE:LINE: …, ignoring". */
typedef void (*conf_complain)(void *userdata, const char *text);

/**
 * Read @path, then @path.d/ *.conf in the order of their names; later ones win.
 * @required: a missing @path is an error (it was named by a person)
 * @ret_conf: for conf_clear(); untouched on failure
 *
 * Whatever is wrong within a file is complained about and leaves that key as it was. Returns 0,
 * -ENOMEM, or what open() said of @path.
 */
int conf_read(const char *path, bool required, conf_complain complain, void *userdata,
	      struct conf *ret_conf);

/* The table of keys, for tests that compare it with the shipped file and the manual page. */
struct conf_key {
	const char *section;
	const char *name;
	const char *value; /* the default, as a file would have it */
};

/* Keys in the order of the shipped file; NULL behind the last one. */
const struct conf_key *conf_key(unsigned i);
