// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The port that MADs are sent on and received from: libibumad's port and its agents.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/get.h"

/*
 * Every call into libibumad may block for ever: a wedged driver, or ibsim under umad2sim. So each
 * is made under an alarm: IBSM_PROBE_STUCK_SEC later SIGALRM ends the process, which is what
 * whoever started it expects of one that hangs.
 */

enum { LINK_AGENTS = 3 };

struct link {
	int fd; /* -1: closed. Under umad2sim no descriptor of the kernel's: never poll() it */
	int agents[LINK_AGENTS];
	struct ibsm_probe_port port;
	bool simulated;
	unsigned int failures; /* of receives, in a row */
};

/* The alarm, for calls into libibumad that are made elsewhere. They do not nest. */
void link_guard_begin(void);
void link_guard_end(void);

#define LINK_CLOSED                                                                                \
	{                                                                                          \
		.fd = -1                                                                           \
	}

/* Open @port, which ports_read() gave. Returns 0 or a negative errno, and the link stays closed. */
int link_open(struct link *link, const struct ibsm_probe_port *port);

/* Accepts a closed one. */
void link_close(struct link *link);

static inline bool link_is_open(const struct link *link)
{
	return link->fd >= 0;
}

/*
 * Send the Get that get_build() wrote for a query of @type. The kernel gives it back with the
 * status ETIMEDOUT after @timeout_msec (umad2sim does not); it never sends it twice.
 *
 * Returns 0 or a negative errno. -ENODEV: the port is gone, close the link.
 */
int link_send(struct link *link, uint16_t type, union get_buffer *buffer, uint32_t timeout_msec);

/*
 * Receive into @ret_buffer, wiped of keys: an answer, or a request of ours that the kernel gives
 * back. Waits up to @wait_msec; 0 does not wait.
 *
 * Returns 1 and the MAD's length and umad's status (0 for an answer, else an errno); 0 if nothing
 * came; -ENODEV: the port is gone, close the link.
 */
int link_receive(struct link *link, int wait_msec, union get_buffer *ret_buffer, size_t *ret_length,
		 int *ret_status);

/* How many queries may wait for answers at a time on this link. */
unsigned int link_outstanding_max(const struct link *link);
