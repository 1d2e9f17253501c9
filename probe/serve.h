// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Takes orders from one socket, sends what they ask for, and answers each of them once.
#pragma once

#include <signal.h>
#include <stdint.h>

#include <ibsm/probe.h>

struct serve_options {
	struct ibsm_probe_order choice; /* a checked PORT order: holds until another comes */
	uint32_t timeout_msec;
	uint32_t mads_per_sec;
};

/* All at their defaults. */
void serve_options_init(struct serve_options *ret_options);

/* Set by a signal handler to end serve(). */
extern volatile sig_atomic_t serve_stop;

/*
 * Serve @fd, a connected SOCK_SEQPACKET socket, until the other end closes it or serve_stop is set.
 * Opens a port at the first order that needs one. While no query is out it waits in ppoll() on @fd
 * alone; else it waits in umad_recv() for short times and looks at @fd between.
 *
 * Returns 0 when the other end closed or serve_stop was set, a negative errno if @fd failed.
 */
int serve(int fd, const struct serve_options *options);
