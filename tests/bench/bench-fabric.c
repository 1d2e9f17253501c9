// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// How long snapshot, model, diff and routes take on a full three-level tree.
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <fcntl.h>

#include "fabric/diff.h"
#include "fabric/route.h"
#include "tests/lib/snapshot-build.h"

#define ROUNDS 20

/*
 * bench-fabric [K]: K-port switches, 36 by default (11,664 hosts, 1,620 switches). Times are the
 * median and the largest of ROUNDS.
 */

static double now_msec(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void print(const char *what, double *times)
{
	qsort(times, ROUNDS, sizeof(times[0]), compare);
	printf("%-44s %8.2f ms  max %8.2f ms\n", what, times[ROUNDS / 2], times[ROUNDS - 1]);
}

static size_t heap_bytes(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

static void bench_read(int fd, double *times)
{
	for (int i = 0; i < ROUNDS; i++) {
		_cleanup_(snapshot_unrefp) struct snapshot *s = NULL;
		double start = now_msec();

		if (snapshot_read(fd, NULL, &s, NULL) < 0)
			abort();
		times[i] = now_msec() - start;
	}
	print("snapshot_read(), mapped and validated", times);
}

static void bench_model(struct snapshot *s, double *times)
{
	size_t before = heap_bytes();
	struct fabric *f = NULL;

	for (int i = 0; i < ROUNDS; i++) {
		double start = now_msec();

		fabric_unref(f);
		if (fabric_new(s, NULL, &f) < 0)
			abort();
		times[i] = now_msec() - start;
	}
	print("fabric_new()", times);
	printf("%-44s %8.2f MB\n", "  its memory beyond the mapping",
	       (double)(heap_bytes() - before) / 1e6);
	fabric_unref(f);
}

static void bench_diff(const char *what, const struct fabric *old, const struct fabric *new,
		       double *times)
{
	size_t count = 0;
	char text[96];

	for (int i = 0; i < ROUNDS; i++) {
		_cleanup_(fabric_changes_freep) struct fabric_changes *changes = NULL;
		double start = now_msec();

		if (fabric_diff(old, new, &changes) < 0)
			abort();
		times[i] = now_msec() - start;
		count = changes->count;
	}
	snprintf(text, sizeof(text), "fabric_diff(), %s: %zu changes", what, count);
	print(text, times);
}

static void bench_routes(const struct fabric *f, double *times)
{
	size_t routes = 0, hops = 0;

	for (int i = 0; i < ROUNDS; i++) {
		double start = now_msec();

		for (uint32_t slid = 1; slid < f->lids; slid += f->lids / 300)
			for (uint32_t dlid = 1; dlid < f->lids; dlid += f->lids / 300) {
				struct route_result r;

				if (fabric_route(f, (uint16_t)slid, (uint16_t)dlid, NULL, 0, &r) <
					    0 ||
				    r.end != ROUTE_DELIVERED)
					abort();
				hops += r.hops;
				routes++;
			}
		times[i] = now_msec() - start;
	}
	print("fabric_route(), about 90,000 pairs", times);
	printf("%-44s %8.2f hops\n", "  on average", (double)hops / (double)routes);
}

int main(int argc, char **argv)
{
	int k = argc > 1 ? atoi(argv[1]) : 36;
	struct builder *b = build_tree3(k);
	_cleanup_bytes_ struct build_bytes bytes = build_write(b, 0);
	_cleanup_close_ int fd = build_memfd(bytes, BUILD_SEALS);
	_cleanup_(snapshot_unrefp) struct snapshot *s = NULL;
	_cleanup_(fabric_unrefp) struct fabric *f = NULL;
	_cleanup_(fabric_unrefp) struct fabric *same = NULL;
	_cleanup_(fabric_unrefp) struct fabric *cut = NULL;
	_cleanup_(fabric_unrefp) struct fabric *lost = NULL;
	_cleanup_(fabric_unrefp) struct fabric *rerouted = NULL;
	double times[ROUNDS];

	if (snapshot_read(fd, NULL, &s, NULL) < 0 || fabric_new(s, NULL, &f) < 0)
		return 1;
	printf("%u switches, %u CAs, %u links, %.1f MB\n", fabric_counts(f)->switches,
	       fabric_counts(f)->cas, fabric_counts(f)->links, (double)bytes.size / 1e6);
	bench_read(fd, times);
	bench_model(s, times);
	bench_routes(f, times);
	same = build_fabric(b);
	bench_diff("the same mapping", f, f, times);
	bench_diff("equal, all tables new", f, same, times);
	build_unlink(b, 0, (uint8_t)(k / 2 + 1));
	cut = build_fabric(b);
	bench_diff("a cable pulled", f, cut, times);
	build_remove(b, k * k / 2);
	lost = build_fabric(b);
	bench_diff("a switch lost", f, lost, times);
	for (size_t i = 0; i < b->node_count; i++)
		for (uint32_t lid = 0; b->nodes[i].lft && lid < b->nodes[i].lft_lids; lid += 3)
			b->nodes[i].lft[lid] ^= 1;
	rerouted = build_fabric(b);
	bench_diff("and every LFT block rewritten", f, rerouted, times);
	build_free(b);
	return 0;
}
