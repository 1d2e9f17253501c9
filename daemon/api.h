// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// io.ibsm.Monitor: the methods, by subject in api-*.c, and those who follow events.
#pragma once

#include "varlink/server.h"

struct manager;
struct api;

/**
 * Make the service and listen.
 * @fd: passed by systemd, consumed; or -1: bind @path
 * Returns 0 or a negative errno (logged).
 */
int api_new(struct manager *manager, int fd, const char *path, struct api **ret);

/* Accepts NULL, returns NULL. */
struct api *api_free(struct api *api);

/* There are new events: followers get them. */
void api_events(struct api *api);

void api_get_stats(const struct api *api, struct varlink_server_stats *ret_stats);
