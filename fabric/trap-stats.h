// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Traps by number and by sender; bounded, the busiest senders kept, and which port each is about.
#pragma once

/*
 * Senders are kept by the space-saving algorithm (Metwally, Agrawal, El Abbadi 2005): when all
 * slots are taken, a new sender takes the one with the smallest count and goes on from there, with
 * that count as its possible error. So with N slots every sender of more than 1/N of all traps is
 * there, and no sender's count is too small. Ports within a sender are kept in the same way.
 *
 * Each sender has a damper that its traps feed: trap-flood. Traps 64-67 tell what the SM itself did
 * and come from the SM: they count by number, not for a sender.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "damper.h"
#include "detect-time.h"
#include "mastership.h"

#define TRAP_NUMBERS_MAX 64
#define TRAP_SENDERS_MAX 64
#define TRAP_PORTS_MAX 8 /* of one sender */

struct trap_sample {
	uint64_t node_guid; /* of the sender; 0: its LID is of no known node */
	uint16_t lid;
	uint16_t number;
	bool vendor;	  /* then `number` is the vendor's device id */
	uint8_t port;	  /* that the trap names; 0: none */
	const char *name; /* of the sender's node, printable; NULL: not known */
};

struct trap_port {
	uint8_t port;
	uint64_t traps;	  /* that named it */
	uint64_t changes; /* of its link, found by sweeps: trap 128 names no port */
	uint64_t error;	  /* traps and changes that may not be its own */
};

struct trap_sender {
	uint64_t node_guid;
	uint16_t lid; /* the last one; where node_guid is 0, its identity */
	char name[SM_NAME_BYTES];
	uint64_t count;
	uint64_t error; /* of count, at most: those of senders whose slot it took */
	uint16_t last_number;
	uint64_t last_realtime_usec;
	struct damper damper;
	struct trap_port ports[TRAP_PORTS_MAX];
	size_t port_count;
};

struct trap_number {
	uint16_t number;
	bool vendor;
	uint64_t count;
	uint64_t last_realtime_usec;
};

/* Zeroed: empty. */
struct trap_stats {
	uint64_t total;
	struct trap_number numbers[TRAP_NUMBERS_MAX];
	size_t number_count;
	uint64_t numbers_over; /* traps whose number found no room */
	struct trap_sender senders[TRAP_SENDERS_MAX];
	size_t sender_count;
	uint64_t senders_over; /* senders that lost their slot to another one */
};

/* A trap. Returns what it did to its sender's damper; *ret gets the sender, NULL for 64-67. */
enum damper_change trap_stats_add(struct trap_stats *stats, const struct trap_sample *sample,
				  const struct damper_config *config, const struct detect_time *now,
				  struct trap_sender **ret);

/* The link at a port of a node came or went. Noted only for nodes that have sent traps. */
void trap_stats_link_changed(struct trap_stats *stats, uint64_t node_guid, uint8_t port);

/* The port that a sender's traps are most likely about, or NULL: nothing tells. */
const struct trap_port *trap_sender_port(const struct trap_sender *sender);

/* Numbers and senders by count, most first: fills indexes in, returns how many. */
size_t trap_stats_numbers_by_count(const struct trap_stats *stats,
				   uint8_t ret[static TRAP_NUMBERS_MAX]);
size_t trap_stats_senders_by_count(const struct trap_stats *stats,
				   uint8_t ret[static TRAP_SENDERS_MAX]);

/* What outlives a restart: the struct as it is, its dampers' times made realtime and back. */
void trap_stats_save(const struct trap_stats *stats, const struct damper_config *config,
		     const struct detect_time *now, struct trap_stats *ret);
/* Returns 0; -EBADMSG: counts out of range, *ret is empty then. */
int trap_stats_load(const struct trap_stats *saved, const struct damper_config *config,
		    const struct detect_time *now, struct trap_stats *ret);
