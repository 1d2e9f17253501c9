// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Alerts and silences as ibsmctl shows them: what verb-alerts.c and verb-silence.c share.
#pragma once

#include "ctl/ctl.h"

/* Some lines. */
void alert_print(struct output *out, const json_t *alert);

/**
 * {kind, severity, subject, since, last, count, message, evidence}, and of one that has cleared
 * `cleared`; with --full also all that ibsmd has said. A new reference, or NULL without memory.
 */
json_t *alert_item(const struct output *out, const json_t *alert);

/* Print alerts as {"alerts": […]}. Returns 0 or the output's error. */
int alerts_print_json(struct output *out, const json_t *alerts);
