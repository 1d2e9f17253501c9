// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The runtime directory: its lock, the plugin's socket, and sockets passed by systemd.
#pragma once

#include <sys/types.h>

#define LISTEN_PLUGIN_NAME "plugin.sock"
#define LISTEN_VARLINK_NAME "io.ibsm.Monitor"

/* What systemd passed, -1 where it did not; owned by the caller. */
struct listen_passed {
	int plugin;
	int varlink;
};

/* Sort what LISTEN_FDS passed by its names ("plugin", "varlink"); warns of others and closes them.
 * Returns 0, -EINVAL for a socket of the wrong kind (logged), or what sd_listen_fds() said. */
int listen_passed_fds(struct listen_passed *ret);

/**
 * Make sure that @directory is there, and that no other ibsmd uses it: takes the lock, which is
 * held as long as the fd is open.
 * Returns the fd, or a negative errno; logs what is wrong (-EBUSY: by whom it is held).
 */
int listen_lock(const char *directory);

/**
 * Bind and listen on @path, SOCK_SEQPACKET, mode 0600; replaces what a dead instance left (the
 * lock is held). Returns the fd, or a negative errno (logged).
 */
int listen_seqpacket(const char *path);
