// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The queries that wait for an answer, and the pace at which new ones may be sent.
#include <string.h>

#include "probe/queries.h"
#include "util/cleanup.h"

#define TOKEN UINT64_C(1000000)

void queries_init(struct queries *queries, uint32_t mads_per_sec, uint32_t first_tid,
		  uint64_t now_usec)
{
	*queries = (struct queries){
		.outstanding_max = IBSM_PROBE_OUTSTANDING_MAX,
		.last_tid = first_tid,
		.mads_per_sec = mads_per_sec,
		.tokens = IBSM_PROBE_MADS_BURST * TOKEN,
		.filled_usec = now_usec,
	};
}

static void fill(struct queries *queries, uint64_t now_usec)
{
	const uint64_t full = IBSM_PROBE_MADS_BURST * TOKEN;
	const uint64_t elapsed_usec = now_usec - queries->filled_usec;

	/* A rate of N MADs in a second is N millionths of one in a microsecond. */
	if (elapsed_usec >= full / queries->mads_per_sec)
		queries->tokens = full;
	else
		queries->tokens += elapsed_usec * queries->mads_per_sec;
	if (queries->tokens > full)
		queries->tokens = full;
	queries->filled_usec = now_usec;
}

int queries_add(struct queries *queries, const struct ibsm_probe_order *order,
		uint64_t timeout_usec, uint64_t now_usec, struct query **ret_query)
{
	struct query *slot = NULL;

	for (size_t i = 0; i < ELEMENTSOF(queries->slots); i++) {
		struct query *query = &queries->slots[i];

		if (query->tid == 0)
			slot = slot ?: query;
		else if (query->order.lid == order->lid)
			return IBSM_PROBE_BUSY_TARGET;
	}
	if (!slot || queries->outstanding >= queries->outstanding_max)
		return IBSM_PROBE_BUSY_OUTSTANDING;

	fill(queries, now_usec);
	if (queries->tokens < TOKEN)
		return IBSM_PROBE_BUSY_PACE;
	queries->tokens -= TOKEN;

	if (++queries->last_tid == 0)
		queries->last_tid = 1;
	*slot = (struct query){
		.order = *order,
		.sent_usec = now_usec,
		.deadline_usec = now_usec + timeout_usec,
		.tid = queries->last_tid,
	};
	queries->outstanding++;
	*ret_query = slot;
	return 0;
}

struct query *queries_find(struct queries *queries, uint32_t tid)
{
	if (tid == 0)
		return NULL;
	for (size_t i = 0; i < ELEMENTSOF(queries->slots); i++)
		if (queries->slots[i].tid == tid)
			return &queries->slots[i];
	return NULL;
}

struct query *queries_expired(struct queries *queries, uint64_t now_usec)
{
	for (size_t i = 0; i < ELEMENTSOF(queries->slots); i++) {
		struct query *query = &queries->slots[i];

		if (query->tid != 0 && query->deadline_usec <= now_usec)
			return query;
	}
	return NULL;
}

struct query *queries_any(struct queries *queries)
{
	return queries_expired(queries, UINT64_MAX);
}

void queries_remove(struct queries *queries, struct query *query)
{
	memset(query, 0, sizeof(*query));
	queries->outstanding--;
}

uint64_t queries_deadline(const struct queries *queries)
{
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < ELEMENTSOF(queries->slots); i++) {
		const struct query *query = &queries->slots[i];

		if (query->tid != 0 && query->deadline_usec < first)
			first = query->deadline_usec;
	}
	return first;
}
