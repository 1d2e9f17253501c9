// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The alerts as ibsmd tells them: log lines and events at each step, JSON, the health of the whole.
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "fabric/alert-set.h"

struct manager;

/* The set's: logs, raises events, sees to it that the state is saved. @userdata: the manager. */
void alerts_told(const struct alert *alert, enum alert_step step, void *userdata);

/* Look again at what follows from the present state alone (detect-state.h). */
void alerts_update(struct manager *manager);

/* 16 hexadecimal digits: not to be taken for a GUID, which begins with 0x. */
#define ALERT_ID_BYTES 17
const char *alert_id_text(uint64_t id, char buffer[static ALERT_ID_BYTES]);

/* What it is about, for people: a node's name with its port, a GUID, or a word. */
#define ALERT_SUBJECT_BYTES 192
const char *alert_subject_text(const struct alert_subject *subject,
			       char buffer[static ALERT_SUBJECT_BYTES]);

/* One field of each name; a list for a list. NULL without memory. */
json_t *alert_evidence_json(const struct evidence *evidence);

/* One Alert object; NULL without memory. */
json_t *alert_json(const struct manager *manager, const struct alert *alert);

/* The Alert objects of the open ones, worst first, then oldest first, `max` of them at most. With
 * @cleared also those cleared of late, behind them, the last one first. NULL without memory. */
json_t *alerts_json(const struct manager *manager, bool cleared, size_t max);

/* "ok", "warning", "critical": silenced ones do not count. */
const char *alerts_health(const struct manager *manager);

/* Open ones that are silenced, and that are acknowledged. */
size_t alerts_silenced(const struct manager *manager);
size_t alerts_acknowledged(const struct manager *manager);

/* Open ones. */
size_t alerts_count(const struct manager *manager, enum finding_severity severity);
