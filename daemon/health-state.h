// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// STATE-DIR/health.json: alerts, penalties, masters, statistics and silences over a restart.
#pragma once

/*
 * Replaced atomically: within a second of an alert's being raised or cleared, a silence, or a
 * change of the master; every STATE_SAVE_USEC; and at a clean end. So what kill -9 loses is a
 * second of it; and an alert that was told but not saved is raised again, or has, saved but not
 * told, the same id.
 *
 * The file is made on the loop and written by the worker, one at a time.
 */

#include <stdbool.h>

struct manager;

/* Read it, into a health that has just started. A file that is broken is moved aside to
 * health.json.broken, and what cannot be is left out: each said in the log. Returns 0 or a negative
 * errno: it is there but cannot be read. */
int health_state_load(struct manager *manager);

/* Write it. @last: here and now, and wait for the disk. Failure is logged once. */
void health_state_save(struct manager *manager, bool last);
