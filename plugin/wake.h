// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// How a callback wakes the sender: a system call only when the sender really sleeps.
#pragma once

/*
 * The sender says how it sleeps before it does: AWAKE (it will look at the rings by itself within a
 * few milliseconds), ANY (wake me for any record), HIGH_WATER (nobody reads: wake me only when a
 * ring fills up, so that I make room). A callback looks at that after it has put its record, and
 * writes to the eventfd only if asked to; the first one to do so sets AWAKE, so a burst costs one
 * system call.
 *
 * No wake-up is lost: the sender stores its mode and then looks at the rings once more; a callback
 * puts its record and then loads the mode. All four are sequentially consistent, so at least one of
 * the two sees the other's store (Dekker). Stand-alone fences would do as well, but ThreadSanitizer
 * does not model them.
 *
 * The write goes through syscall(): write() is a cancellation point, and opensm stops its
 * dispatcher threads with pthread_cancel(). A callback must not vanish in the middle, so it has no
 * cancellation point at all. The eventfd is non-blocking, its counter far from full: the sender
 * resets it.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum wake_mode {
	WAKE_AWAKE = 0,
	WAKE_ANY = 1,
	WAKE_HIGH_WATER = 2,
};

struct wake {
	_Atomic int mode; /* enum wake_mode */
	int fd;		  /* eventfd */
};

/* Returns 0 or negative errno. */
int wake_init(struct wake *wake);

/* Close; no other thread may use it any more. */
void wake_clear(struct wake *wake);

/*
 * A callback put a record, or failed to: wake the sender if it wants to be. Any thread; does not
 * wait; preserves errno.
 */
void wake_after_put(struct wake *wake, bool high_water);

/* Wake the sender whatever it waits for. Any thread; does not wait; preserves errno. */
void wake_always(struct wake *wake);

/* Announce how the sender is about to sleep; it must look at its rings once more afterwards. */
void wake_announce(struct wake *wake, enum wake_mode mode);

/* The sender is up: reset the eventfd and the mode. Does not wait. */
void wake_up(struct wake *wake);
