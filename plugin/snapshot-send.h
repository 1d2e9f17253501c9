// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Copied snapshots as sealed memfds: what changed, and the whole for a daemon that has nothing yet.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "snapshot-buffer.h"
#include "snapshot-resolve.h"

/* One sealed memfd, mapped for comparison; tables hold references to it. */
struct memfd;

struct sent_table {
	struct memfd *memfd; /* NULL: never sent */
	uint64_t offset;
	uint64_t count;
	uint64_t generation;
};

struct snapshot_store {
	uint64_t instance;
	uint64_t generation; /* of the last snapshot, 0 none */
	uint32_t reason;     /* of the last snapshot */
	uint64_t monotonic_nsec;
	uint64_t realtime_nsec;
	uint64_t lock_nsec;

	struct sent_table tables[IBSM_TABLE_MAX];
	struct memfd *changes; /* the last snapshot: tables that differ from the one before it */
	struct memfd *whole;   /* the last snapshot with all tables, NULL: not composed yet */
	struct port_index index;
};

/* What to send: fd stays the store's and open until its next change. */
struct snapshot_parcel {
	int fd;
	uint64_t size_bytes;
	bool full;
};

void snapshot_store_init(struct snapshot_store *store, uint64_t instance);
void snapshot_store_clear(struct snapshot_store *store);

/*
 * Take in a buffer (SENDING, and the caller's still): finish its tables, compare them with the last
 * ones, and put those that differ into a new memfd. Returns 1 when there is a new generation, 0
 * when the groups alone were copied and did not differ, -ENOMEM, or another negative errno of
 * memfd_create, ftruncate or pwrite; on failure the store is as before.
 */
int snapshot_store_add(struct snapshot_store *store, struct snapshot_buffer *buffer);

/*
 * The last snapshot for a reader that has generation `known` (0: none): the changes where they
 * follow on `known`, else the whole. store->generation must not be 0. Returns 0 or negative errno.
 */
int snapshot_store_parcel(struct snapshot_store *store, uint64_t known,
			  struct snapshot_parcel *ret_parcel);

/* Bytes in all memfds that the store keeps. */
uint64_t snapshot_store_bytes(const struct snapshot_store *store);
