// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// ibsmd.conf and its drop-ins: read aside, complained about, and handed over as a whole.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <ibsm/probe.h>

#include "fabric/detect-sm.h"
#include "fabric/detect-sweep.h"
#include "fabric/sm-config.h"
#include "fabric/sm-placement.h"

/* The outside view: how ibsm-probe is found, and what it is asked. */
struct conf_probe {
	bool enabled;
	char *program; /* absolute path; NULL: the one that is installed with ibsmd */
	char *socket;  /* of its unit, to be connected to instead of starting it; NULL: none */
	struct ibsm_probe_order port; /* see ibsm_probe_parse_port() */
	uint64_t poll_usec;
	uint64_t timeout_usec; /* of one query */
};

struct conf {
	char *node_name_map;	   /* absolute path; NULL: none */
	bool node_name_map_is_set; /* not the default: a missing file is worth a line */
	uint64_t events_max;
	uint64_t sweeps_max;
	uint64_t plugin_timeout_usec;
	uint64_t drops_clear_usec;
	uint64_t sweep_failed_clear_usec;
	struct conf_probe probe;

	/* The detectors take these as they are. */
	struct detect_sm_config sm;
	struct sm_placement_config placement;
	struct sm_config_limits options;
	struct detect_sweep_config sweep;
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
 * Whatever is wrong within a file is complained about and leaves that key as it was. Keys that do
 * not fit together, once all is read, are complained about and all at their defaults. So what is
 * handed over is what detect_sm_new() and detect_sweep_new() take. Returns 0, -ENOMEM, or what
 * open() said of @path.
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
