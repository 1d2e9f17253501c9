// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The queries that wait for an answer, and the pace at which new ones may be sent. Time is passed
// in.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <ibsm/probe.h>

struct query {
	struct ibsm_probe_order order;
	uint64_t sent_usec;
	uint64_t deadline_usec;
	uint32_t tid; /* 0: this slot is free */
};

struct queries {
	struct query slots[IBSM_PROBE_OUTSTANDING_MAX];
	unsigned int outstanding;
	unsigned int outstanding_max; /* 1…IBSM_PROBE_OUTSTANDING_MAX */
	uint32_t last_tid;

	/* A bucket of tokens, in millionths of a MAD. */
	uint64_t mads_per_sec;
	uint64_t tokens;
	uint64_t filled_usec;
};

/* @first_tid: where transaction ids begin; should differ from process to process. */
void queries_init(struct queries *queries, uint32_t mads_per_sec, uint32_t first_tid,
		  uint64_t now_usec);

/*
 * Take a slot for @order, which expires @timeout_usec from now; one token is spent.
 *
 * Returns 0 and the query, or the enum ibsm_probe_busy (positive) that says why not.
 */
int queries_add(struct queries *queries, const struct ibsm_probe_order *order,
		uint64_t timeout_usec, uint64_t now_usec, struct query **ret_query);

/* The query that waits for @tid, or NULL. */
struct query *queries_find(struct queries *queries, uint32_t tid);

/* Some query whose time is up, or NULL. */
struct query *queries_expired(struct queries *queries, uint64_t now_usec);

/* Any query, or NULL if there is none. */
struct query *queries_any(struct queries *queries);

/* Free the slot. */
void queries_remove(struct queries *queries, struct query *query);

/* When the next one expires; UINT64_MAX if there is none. */
uint64_t queries_deadline(const struct queries *queries);
