// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// A daemon inside a test: listens on plugin.sock, reads at the test's pace, checks and counts.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fabric/snapshot-read.h"
#include "ibsm/wire.h"

#define PEER_PRODUCERS 64
#define TRAP_OF_PRODUCERS 145 /* guid: producer in 16 bits, counter in 48 */

struct peer {
	char path[108];
	int listen_fd; /* -1: not listening */
	int fd;	       /* -1: no plugin is connected */

	/* Of this connection. */
	uint64_t records;
	uint64_t sequence; /* of the last record */
	struct ibsm_wire_hello hello;
	struct ibsm_wire_heartbeat heartbeat; /* the last one */
	struct snapshot *snapshot;

	/* Over all connections. */
	uint64_t emptied_nsec; /* when the socket was last found empty, CLOCK_MONOTONIC */
	uint64_t behind_nsec; /* the longest time in which it was not: the test's reader was late */
	uint64_t control, bulk; /* records that went through a ring */
	uint64_t by_type[64];
	uint64_t heartbeats;
	uint64_t drops_control, drops_bulk; /* told by DROPS */
	union ibsm_wire_record last;	    /* the last record */
	uint64_t next_trap[PEER_PRODUCERS]; /* each producer's next counter, for order */
	uint64_t next_errors[PEER_PRODUCERS];
	char complaint[256]; /* what broke the protocol, "" nothing */
};

/* Not listening yet. */
void peer_init(struct peer *peer, const char *path);
void peer_clear(struct peer *peer);

/* Make the socket; dies if it cannot. */
void peer_listen(struct peer *peer);

/* Stop listening and close the connection, the socket file goes. */
void peer_die(struct peer *peer);

/* Close the connection alone. */
void peer_hang_up(struct peer *peer);

/* Wait for a plugin; false after `msec`. */
bool peer_accept(struct peer *peer, int msec);

/* Read one record: 1; 0 none within `msec`; -1 the plugin hung up, or broke the protocol. */
int peer_read(struct peer *peer, int msec);

/* Read until heartbeat after heartbeat says that all that was raised is accounted for, with at
 * least `control` and `bulk` raised. False after `msec`, or at the end of the connection. */
bool peer_settle(struct peer *peer, uint64_t control, uint64_t bulk, int msec);

/* Read until a record of this type came; false after `msec` or at the end of the connection. */
bool peer_read_until(struct peer *peer, uint16_t type, int msec);
