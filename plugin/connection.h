// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The socket to ibsmd: connects and sends without ever waiting.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ibsm/wire.h"
#include "ring.h"

struct connection {
	int fd;		   /* -1: not connected */
	uint64_t sequence; /* of the last record that a socket accepted, over all connections */
	bool blocked;	   /* the socket's buffer is full: wait for POLLOUT */
};

/* Returns 0, or negative errno when nobody listens or the listener's queue is full. */
int connection_open(struct connection *connection, const char *path);

/* Accepts one that is not open. */
void connection_close(struct connection *connection);

/*
 * Send one record, with `fd` by SCM_RIGHTS unless it is -1; its sequence number is filled in.
 * Returns 1 sent, 0 the socket is full (nothing was sent), or negative errno: the peer is gone.
 */
int connection_send(struct connection *connection, struct ibsm_wire_header *record, int fd);

/*
 * Send a batch of records of `ring`, oldest first, and give their slots back; none from the first
 * on that was raised at `before_nsec` or later. Returns how many, 0 with `blocked` set when the
 * socket is full, or negative errno: the peer is gone.
 */
int connection_send_ring(struct connection *connection, struct ring *ring, uint64_t before_nsec);
