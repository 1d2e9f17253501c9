// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// A thread's counters and working room; runs the threads and puts what they counted together.
#include "routing-worker.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Room for bit sets of deep traffic; fewer LIDs go together where it would not do. */
#define POOL_BYTES (UINT64_C(16) << 20)
#define HUGE_PAGE_BYTES ((size_t)2 << 20)
/* Columns of a piece of work. Where LIDs are scattered each piece reads all tables. */
#define COLUMN_BYTES (UINT64_C(32) << 20)

struct routing_worker *routing_worker_free(struct routing_worker *w)
{
	if (!w)
		return NULL;
	free(w->loads);
	free(w->io_pairs);
	free(w->dependencies);
	free(w->simple);
	free(w->sets);
	free(w->from_own);
	free(w->faults.faults);
	free(w->faults.loop_switches);
	free(w->loop_slots);
	free(w->fault_by_entry);
	free(w->columns);
	free(w->column_of);
	free(w->stamps);
	free(w->undo_stamps);
	free(w->in_sources);
	free(w->cells);
	free(w->live);
	free(w->pool);
	free(w->known_keys);
	free(w->known_sets);
	free(w->gathered);
	free(w->order);
	free(w->places);
	free(w->by_distance);
	free(w->seen);
	free(w->visits);
	free(w->ends);
	free(w->depths);
	free(w->own_left);
	free(w->pairs);
	free(w->slids);
	free(w->masks);
	free(w->careful_sets);
	free(w->way);
	free(w->done);
	free(w->loop_ends);
	free(w);
	return NULL;
}

/* Zeroed array, never of 0 bytes; the first failure is remembered. */
static void *room(struct routing_worker *w, size_t count, size_t size)
{
	void *p = calloc(count + 1, size);

	if (!p)
		w->error = -ENOMEM;
	return p;
}

/* The same, not zeroed: large ones that are written before they are read. */
static void *raw_room(struct routing_worker *w, size_t count, size_t size)
{
	size_t bytes = ((count + 1) * size + HUGE_PAGE_BYTES - 1) & ~(HUGE_PAGE_BYTES - 1);
	void *p;

	if (count * size < HUGE_PAGE_BYTES) {
		p = reallocarray(NULL, count + 1, size);
	} else {
		/* Thousands of page faults less; where it is not granted, no harm is done. */
		p = aligned_alloc(HUGE_PAGE_BYTES, bytes);
		if (p)
			madvise(p, bytes, MADV_HUGEPAGE);
	}
	if (!p)
		w->error = -ENOMEM;
	return p;
}

static void room_to_count(struct routing_worker *w, bool io)
{
	const struct routing_graph *g = w->graph;

	w->loads = room(w, g->channel_count, sizeof(*w->loads));
	if (io)
		w->io_pairs = room(w, g->channel_count, sizeof(*w->io_pairs));
	w->dependencies = room(w, (size_t)g->channel_count * w->in_words, sizeof(uint64_t));
	w->simple = room(w, (size_t)g->channel_count * w->in_words, sizeof(uint64_t));
	w->sets = room(w, (size_t)g->channel_count * w->source_words, sizeof(uint64_t));
	w->from_own = room(w, g->channel_count, sizeof(*w->from_own));
}

static void room_for_quick(struct routing_worker *w)
{
	const struct routing_graph *g = w->graph;
	size_t set_bytes = w->source_words * sizeof(uint64_t);
	uint64_t fit = POOL_BYTES / (set_bytes * g->switches + 1);
	size_t cell_bytes = (1 + 2 * (size_t)w->in_words) * sizeof(uint64_t);

	w->batch_max = fit < 1 ? 1 : fit > ROUTING_BATCH_MAX ? ROUTING_BATCH_MAX : (uint32_t)fit;
	if (g->lmc_max) {
		w->stamps = room(w, g->channel_count, sizeof(*w->stamps));
		w->undo_stamps = room(w, g->channel_count, sizeof(*w->undo_stamps));
		if (w->stamps && w->undo_stamps) {
			memset(w->stamps, 0xff, g->channel_count * sizeof(*w->stamps));
			memset(w->undo_stamps, 0xff, g->channel_count * sizeof(*w->undo_stamps));
		}
	}
	w->in_sources = room(w, g->ins_first[g->switches], sizeof(*w->in_sources));
	w->cells = raw_room(w, (size_t)g->switches * w->batch_max, cell_bytes);
	w->live = room(w, g->switches, sizeof(*w->live));
	w->pool = raw_room(w, (size_t)g->switches * w->batch_max, set_bytes);
	w->known_keys = room(w, (size_t)g->switches * w->in_words, sizeof(uint64_t));
	w->known_sets = room(w, g->switches, set_bytes);
	w->gathered = raw_room(w, 1, set_bytes);
	w->order = raw_room(w, g->switches, sizeof(*w->order));
	w->places = raw_room(w, (size_t)g->switches + 2, sizeof(*w->places));
	w->by_distance = raw_room(w, (size_t)g->switches + 2, sizeof(*w->by_distance));
	for (uint32_t i = 0; w->in_sources && i < g->ins_first[g->switches]; i++)
		w->in_sources[i] = g->source_index[g->channel_switch[g->ins[i]]];
}

static void room_for_careful(struct routing_worker *w)
{
	const struct routing_graph *g = w->graph;

	w->seen = room(w, g->switches, sizeof(*w->seen));
	w->visits = room(w, g->switches, sizeof(*w->visits));
	w->ends = raw_room(w, g->switches, sizeof(*w->ends));
	w->depths = raw_room(w, g->switches, sizeof(*w->depths));
	w->own_left = raw_room(w, g->switches, sizeof(*w->own_left));
	w->pairs = raw_room(w, g->switches, sizeof(*w->pairs));
	w->slids = raw_room(w, g->switches, sizeof(*w->slids));
	w->masks = raw_room(w, (size_t)g->switches * w->in_words, sizeof(uint64_t));
	w->careful_sets = raw_room(w, (size_t)g->switches * w->source_words, sizeof(uint64_t));
	w->way = raw_room(w, g->switches, sizeof(*w->way));
	w->done = raw_room(w, g->switches, sizeof(*w->done));
	w->loop_ends = raw_room(w, g->switches, sizeof(*w->loop_ends));
}

int routing_worker_new(const struct routing_graph *graph, bool io, uint32_t columns,
		       struct routing_worker **ret)
{
	_cleanup_(routing_worker_freep) struct routing_worker *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->graph = graph;
	w->in_words = routing_words(graph->ins_max);
	if (w->in_words == 0)
		w->in_words = 1;
	w->source_words = routing_words(graph->source_switches);
	w->column_of = room(w, (size_t)graph->fabric->lids + 8, sizeof(*w->column_of));
	w->columns =
		raw_room(w, (size_t)columns * ((graph->switches + ROUTING_TILE - 1) / ROUTING_TILE),
			 ROUTING_TILE);
	room_to_count(w, io);
	room_for_quick(w);
	room_for_careful(w);
	if (w->error < 0)
		return w->error;
	*ret = TAKE_PTR(w);
	return 0;
}

/* Leaves, or LIDs of switches, whose columns fit in. */
struct piece {
	uint32_t first;
	uint32_t end;
	bool switches;
};

struct shared {
	const struct routing_graph *graph;
	const atomic_bool *stop;
	struct piece *pieces;
	uint32_t piece_count;
	atomic_uint next;
};

struct thread {
	struct shared *shared;
	struct routing_worker *worker;
	pthread_t id;
};

/* Destinations of a piece: a thread's share, if that is not too large; a leaf's at least. */
static uint32_t columns_of_piece(const struct routing_graph *g, unsigned int threads)
{
	uint64_t size = (g->dest_count + threads - 1) / threads;
	uint64_t fit = COLUMN_BYTES / (g->switches + ROUTING_TILE);

	if (size > fit)
		size = fit;
	for (uint32_t i = 0; i < g->leaf_count; i++)
		if (g->leaves[i].end - g->leaves[i].first > size)
			size = g->leaves[i].end - g->leaves[i].first;
	return size ? (uint32_t)size : 1;
}

/* Cuts the work in pieces of `size` destinations at most. */
static int cut_work(struct shared *shared, uint32_t size)
{
	const struct routing_graph *g = shared->graph;

	shared->pieces = calloc((size_t)g->leaf_count + g->switch_dest_count / size + 2,
				sizeof(*shared->pieces));
	if (!shared->pieces)
		return -ENOMEM;
	for (uint32_t leaf = 0, end; leaf < g->leaf_count; leaf = end) {
		for (end = leaf + 1;
		     end < g->leaf_count && g->leaves[end].end - g->leaves[leaf].first <= size;
		     end++)
			;
		shared->pieces[shared->piece_count++] = (struct piece){.first = leaf, .end = end};
	}
	for (uint32_t first = 0; first < g->switch_dest_count; first += size)
		shared->pieces[shared->piece_count++] = (struct piece){
			.first = first,
			.end = g->switch_dest_count - first < size ? g->switch_dest_count
								   : first + size,
			.switches = true};
	return 0;
}

static void work(struct routing_worker *w, const struct piece *piece)
{
	const struct routing_graph *g = w->graph;
	const struct routing_dest *dests;

	if (piece->switches) {
		routing_columns_take(w, &g->switch_dests[piece->first], piece->end - piece->first);
		for (uint32_t i = piece->first; i < piece->end; i++) {
			const struct routing_dest *dest = &g->switch_dests[i];
			const uint8_t *column =
				w->columns + (size_t)(i - piece->first) * ROUTING_TILE;

			if (!dest->sole || !routing_reach(w, dest, column))
				routing_careful(w, dest, column, IBSM_NONE);
		}
		return;
	}
	dests = &g->dests[g->leaves[piece->first].first];
	routing_columns_take(w, dests,
			     g->leaves[piece->end - 1].end - g->leaves[piece->first].first);
	for (uint32_t leaf = piece->first; leaf < piece->end; leaf++)
		routing_quick(w, leaf,
			      w->columns + (size_t)(&g->dests[g->leaves[leaf].first] - dests) *
						   ROUTING_TILE);
}

static void *run(void *userdata)
{
	struct thread *thread = userdata;
	struct shared *shared = thread->shared;
	struct routing_worker *w = thread->worker;

	for (;;) {
		unsigned int piece = atomic_fetch_add(&shared->next, 1);

		if (w->error < 0 || piece >= shared->piece_count)
			return NULL;
		if (shared->stop && atomic_load(shared->stop)) {
			w->error = -ECANCELED;
			return NULL;
		}
		work(w, &shared->pieces[piece]);
	}
}

static void add_validity(struct routing_validity *into, const struct routing_validity *more)
{
	into->delivered += more->delivered;
	into->unreachable += more->unreachable;
	into->looping += more->looping;
	into->detours += more->detours;
	for (uint32_t i = 0; i < ROUTING_HOPS_MAX; i++)
		into->hops[i] += more->hops[i];
	if (more->detour_extra > into->detour_extra ||
	    (more->detour_extra == into->detour_extra &&
	     (more->detour_dlid < into->detour_dlid ||
	      (more->detour_dlid == into->detour_dlid && more->detour_slid < into->detour_slid)))) {
		into->detour_extra = more->detour_extra;
		into->detour_slid = more->detour_slid;
		into->detour_dlid = more->detour_dlid;
	}
}

/* The second thread's counters into the first's. */
static void add_worker(struct routing_worker *into, const struct routing_worker *more)
{
	const struct routing_graph *g = into->graph;

	for (uint32_t c = 0; c < g->channel_count; c++) {
		into->loads[c].pairs += more->loads[c].pairs;
		into->loads[c].lids += more->loads[c].lids;
		into->loads[c].destinations += more->loads[c].destinations;
		if (more->loads[c].most > into->loads[c].most)
			into->loads[c].most = more->loads[c].most;
		into->from_own[c] |= more->from_own[c];
		if (into->io_pairs)
			into->io_pairs[c] += more->io_pairs[c];
	}
	for (size_t i = 0; i < (size_t)g->channel_count * into->in_words; i++) {
		into->dependencies[i] |= more->dependencies[i];
		into->simple[i] |= more->simple[i];
	}
	for (size_t i = 0; i < (size_t)g->channel_count * into->source_words; i++)
		into->sets[i] |= more->sets[i];
	for (unsigned int i = 0; i < ELEMENTSOF(into->validity); i++)
		add_validity(&into->validity[i], &more->validity[i]);
}

/* How many sources each source switch has beyond the fewest: bit b of it, as sets. */
static int find_planes(const struct routing_graph *g, uint32_t words, uint64_t **ret,
		       uint32_t *ret_count, uint32_t *ret_fewest)
{
	uint32_t most = 0, fewest = UINT32_MAX, count = 0;
	uint64_t *planes;

	for (uint32_t i = 0; i < g->source_switches; i++) {
		uint32_t own = g->own[g->source_switch[i]];

		most = own > most ? own : most;
		fewest = own < fewest ? own : fewest;
	}
	for (uint32_t more = g->source_switches ? most - fewest : 0; more; more >>= 1)
		count++;
	planes = calloc((size_t)count * words + 1, sizeof(*planes));
	if (!planes)
		return -ENOMEM;
	for (uint32_t i = 0; i < g->source_switches; i++)
		for (uint32_t b = 0; b < count; b++)
			if ((g->own[g->source_switch[i]] - fewest) >> b & 1)
				planes[(size_t)b * words + i / 64] |= UINT64_C(1) << (i % 64);
	*ret = planes;
	*ret_count = count;
	*ret_fewest = fewest;
	return 0;
}

/* Baseline x86-64 has no instruction for it, and the library's function takes longer. */
static inline uint32_t count_bits(uint64_t x)
{
	x -= x >> 1 & UINT64_C(0x5555555555555555);
	x = (x & UINT64_C(0x3333333333333333)) + (x >> 2 & UINT64_C(0x3333333333333333));
	x = (x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	return (uint32_t)(x * UINT64_C(0x0101010101010101) >> 56);
}

/* All source switches of a channel between switches, into its set. */
static uint64_t *complete_set(struct routing_worker *w, uint32_t channel)
{
	const struct routing_graph *g = w->graph;
	uint32_t sw = g->channel_switch[channel];
	uint64_t *set = &w->sets[(size_t)channel * w->source_words];

	for (uint32_t i = 0; i < w->in_words; i++)
		for (uint64_t bits = w->simple[(size_t)channel * w->in_words + i]; bits;
		     bits &= bits - 1) {
			uint32_t in = g->ins_first[sw] + i * 64 + (uint32_t)__builtin_ctzll(bits);

			set[w->in_sources[in] / 64] |= UINT64_C(1) << (w->in_sources[in] % 64);
		}
	if (w->from_own[channel])
		set[g->source_index[sw] / 64] |= UINT64_C(1) << (g->source_index[sw] % 64);
	return set;
}

static int fill_channels(struct routing_worker *w, struct routing_channel *channels)
{
	const struct routing_graph *g = w->graph;
	_cleanup_free_ uint64_t *planes = NULL;
	uint32_t plane_count, fewest;
	int r = find_planes(g, w->source_words, &planes, &plane_count, &fewest);

	if (r < 0)
		return r;
	for (uint32_t c = 0; c < g->channel_count; c++) {
		struct routing_channel *channel = &channels[c];
		const uint64_t *set;
		uint64_t sources = 0;

		channel->pairs = w->loads[c].pairs;
		channel->io_pairs = w->io_pairs ? w->io_pairs[c] : 0;
		channel->lids = w->loads[c].lids;
		channel->destinations = w->stamps ? w->loads[c].destinations : w->loads[c].lids;
		channel->sources = w->loads[c].most;
		if (channel->direction == ROUTING_TO_END || !channel->lids)
			continue;
		set = complete_set(w, c);
		for (uint32_t i = 0; i < w->source_words; i++) {
			if (!set[i])
				continue;
			sources += (uint64_t)count_bits(set[i]) * fewest;
			for (uint32_t b = 0; b < plane_count; b++)
				sources += (uint64_t)count_bits(
						   set[i] & planes[(size_t)b * w->source_words + i])
					   << b;
		}
		channel->sources = (uint32_t)sources;
	}
	return 0;
}

static void count_pairs(struct routing_validity *v, uint32_t lids)
{
	v->lids = lids;
	v->pairs = v->delivered + v->unreachable + v->looping;
}

void routing_traffic_clear(struct routing_traffic *traffic)
{
	free(traffic->dependencies);
	free(traffic->from_own);
	*traffic = (struct routing_traffic){0};
}

int routing_pass(const struct routing_graph *graph, const struct routing_config *config,
		 struct routing_result *result, struct routing_traffic *ret_traffic)
{
	struct shared shared = {.graph = graph, .stop = config->stop};
	struct routing_worker *workers[ROUTING_THREADS_MAX] = {0};
	struct thread threads[ROUTING_THREADS_MAX];
	unsigned int wanted = config->threads ?: 1, started = 1;
	uint32_t columns;
	int r;

	if (wanted > ROUTING_THREADS_MAX)
		wanted = ROUTING_THREADS_MAX;
	atomic_init(&shared.next, 0);
	columns = columns_of_piece(graph, wanted);
	r = cut_work(&shared, columns);
	for (unsigned int i = 0; i < wanted && r == 0; i++) {
		r = routing_worker_new(graph, config->io_nodes, columns, &workers[i]);
		threads[i] = (struct thread){.shared = &shared, .worker = workers[i]};
	}
	while (started < wanted && r == 0) {
		r = -pthread_create(&threads[started].id, NULL, run, &threads[started]);
		started += r == 0;
	}
	if (r == 0)
		run(&threads[0]);
	else
		atomic_store(&shared.next, UINT32_MAX / 2);
	for (unsigned int i = 1; i < started; i++)
		pthread_join(threads[i].id, NULL);
	for (unsigned int i = 0; i < wanted && r == 0; i++)
		r = workers[i]->error;
	if (r == 0)
		r = routing_faults_merge(workers, wanted, result);
	for (unsigned int i = 1; i < wanted && r == 0; i++)
		add_worker(workers[0], workers[i]);
	if (r == 0)
		r = fill_channels(workers[0], result->channels);
	if (r == 0) {
		result->ends = workers[0]->validity[0];
		result->to_switches = workers[0]->validity[1];
		count_pairs(&result->ends, graph->dest_count);
		count_pairs(&result->to_switches, graph->switch_dest_count);
		*ret_traffic =
			(struct routing_traffic){.in_words = workers[0]->in_words,
						 .dependencies = TAKE_PTR(workers[0]->dependencies),
						 .from_own = TAKE_PTR(workers[0]->from_own)};
	}
	for (unsigned int i = 0; i < wanted; i++)
		routing_worker_free(workers[i]);
	free(shared.pieces);
	return r;
}
