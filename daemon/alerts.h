// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The open alerts: findings that hold, with since when and how often.
#pragma once

#include <jansson.h>

#include "fabric/finding.h"

struct manager;

struct alert {
	bool open;
	struct finding finding;
	uint64_t since_realtime_usec;
	uint64_t last_realtime_usec;
	uint64_t count;
};

struct alerts {
	struct alert alerts[FINDING_KINDS]; /* each kind once, for now */
};

/* Look at the state again. Opening and clearing are logged. */
void alerts_update(struct manager *manager);

/* The Alert objects, worst first, then oldest first; NULL without memory. Evidence is borrowed from
 * the state: only right after alerts_update(). */
json_t *alerts_json(const struct alerts *alerts);

/* "ok", "warning", "critical". */
const char *alerts_health(const struct alerts *alerts);

unsigned alerts_count(const struct alerts *alerts, enum finding_severity severity);
