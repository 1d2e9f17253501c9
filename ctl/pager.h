// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The user's pager, chosen as systemd's tools choose it.
#pragma once

#include <sys/types.h>

/**
 * Start the pager: $SYSTEMD_PAGER, else $PAGER, else the first of less, more. An empty value and
 * "cat" mean none. less runs with the options FRSXMK, or those in $SYSTEMD_LESS.
 * @ret_pid: to be waited for
 * @ret_fd: what it reads; the caller's, close-on-exec
 *
 * Returns 0, -ENOENT (the user wants none), or negative errno.
 */
int pager_start(pid_t *ret_pid, int *ret_fd);
