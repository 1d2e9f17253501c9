// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// One thread for slow work on immutable data; results come back to the event loop.
#pragma once

/*
 * libsystemd has no thread pool, and sd-event's own way to slow work is a child process, which
 * could not hand back a mapped model: so this is one POSIX thread and an eventfd. One piece of work
 * runs at a time, in the order of submission.
 *
 * A piece of work is owned by the worker from worker_submit() on, and its callbacks are called in
 * this order, once each:
 *   prepare  on the loop, right before it runs: takes what it shall work on (may be NULL)
 *   run      on the thread: touches nothing but the work itself and immutable data
 *   done     on the loop, as soon as run has returned: uses and frees the work; the next piece is
 *            prepared after it has returned
 * or `done` alone with `cancelled` set, when the worker ends before it ran.
 */

#include <stdbool.h>

#include <systemd/sd-event.h>

struct work {
	void (*prepare)(struct work *work);
	void (*run)(struct work *work);
	void (*done)(struct work *work);
	bool cancelled;
	struct work *next; /* the worker's */
};

struct worker;

/* Returns 0 or a negative errno. Loop thread, as is everything here. */
int worker_new(sd_event *event, struct worker **ret);

/* Waits for the work that runs, cancels the rest. Accepts NULL, returns NULL. */
struct worker *worker_free(struct worker *worker);

void worker_submit(struct worker *worker, struct work *work);
