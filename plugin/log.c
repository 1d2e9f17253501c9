// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// One line into opensm's log, from create() and delete() alone.

/*
 * osm_log() is libopensm's, and the plugin must load where that is not (a test's host, a tool that
 * inspects it): so it is looked up when needed and not linked. In opensm, which has libopensm among
 * its own libraries, dlsym() finds it always. Where the layout check failed, the address of
 * opensm's log is as doubtful as all the rest: then the line goes to syslog.
 */

#include "log.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <syslog.h>

typedef void (*osm_log_t_fn)(osm_log_t *log, osm_log_level_t level, const char *format, ...);

void log_line(osm_opensm_t *osm, const char *format, ...)
{
	osm_log_t_fn osm_log_fn = (osm_log_t_fn)dlsym(RTLD_DEFAULT, "osm_log");
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);

	if (osm && osm_log_fn) {
		osm_log_fn(&osm->log, OSM_LOG_ERROR, "ibsm plugin: %s\n", text);
		return;
	}
	syslog(LOG_DAEMON | LOG_ERR, "ibsm plugin: %s", text);
	fprintf(stderr, "ibsm plugin: %s\n", text);
}
