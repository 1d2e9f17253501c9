// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// One line into opensm's log, from create() and delete() alone.
#pragma once

#include "osm.h"

/*
 * Write one line (no newline in `format`'s text) to opensm's log, or, with `osm` NULL or outside of
 * opensm, to syslog and standard error. Main thread, no lock held: it does I/O.
 */
void log_line(osm_opensm_t *osm, const char *format, ...) __attribute__((format(printf, 2, 3)));
