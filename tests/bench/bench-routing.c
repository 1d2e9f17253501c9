// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// How long the routing analysis takes, in units of reading all forwarding tables once.
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "fabric/routing.h"
#include "tests/lib/routing-build.h"

/*
 * bench-routing [THREADS [LARGEST]]: trees from 324 to LARGEST (43,904) hosts. Times are the best
 * of a few rounds, since other processes only ever add to them; the ratio is within one run.
 */

static double now_msec(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static size_t heap_bytes(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

/* Each byte of each table once, eight at a time. */
static uint64_t read_tables(const struct fabric *f)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < snapshot_switches(f->snapshot); i++) {
		const struct ibsm_snap_switch *sw = snapshot_switch(f->snapshot, i);
		const uint8_t *lft = snapshot_lft(f->snapshot, sw);

		for (uint32_t lid = 0; lft && lid + 8 <= sw->lft_lids; lid += 8) {
			uint64_t word;

			memcpy(&word, lft + lid, sizeof(word));
			sum += word;
		}
	}
	return sum;
}

static void bench(struct builder *b, const char *what, unsigned int threads)
{
	_cleanup_(fabric_unrefp) struct fabric *f = build_fabric(b);
	const struct routing_config config = {.threads = threads};
	double reading = 1e9, analysis = 1e9;
	size_t before, kept = 0;
	uint64_t sum = 0, entries = 0;
	double max_over_mean = 0;

	build_free(b);
	for (uint32_t i = 0; i < snapshot_switches(f->snapshot); i++)
		entries += snapshot_switch(f->snapshot, i)->lft_lids;
	for (int i = 0; i < 9; i++) {
		double start = now_msec();

		sum += read_tables(f);
		if (now_msec() - start < reading)
			reading = now_msec() - start;
	}
	for (int i = 0; i < 5; i++) {
		_cleanup_(routing_result_freep) struct routing_result *result = NULL;
		double start;

		before = heap_bytes();
		start = now_msec();
		if (routing_analyze(f, &config, &result) < 0)
			abort();
		if (now_msec() - start < analysis)
			analysis = now_msec() - start;
		kept = heap_bytes() - before;
		if (result->ends.delivered != result->ends.pairs || result->faults)
			sum += result->fault_count;
		max_over_mean = (double)result->max_load / result->mean_load;
	}
	printf("%-28s %6u LIDs %7.2f MB  read %7.3f ms  analysis %9.2f ms = %6.1f x  %5.2f ns an "
	       "entry  keeps %6.1f MB  max/mean %.2f%s\n",
	       what, fabric_counts(f)->lids, (double)entries / 1e6, reading, analysis,
	       analysis / reading, analysis * 1e6 / (double)entries, (double)kept / 1e6,
	       max_over_mean, sum == 0 ? "!" : "");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static const int radix[] = {16, 24, 36, 56};
	unsigned int threads = argc > 1 ? (unsigned int)atoi(argv[1]) : 1;
	int largest = argc > 2 ? atoi(argv[2]) : 43904;
	struct rusage usage;

	bench(build_tree2(18, 18, 18, 1), "324 hosts", threads);
	for (size_t i = 0; i < ELEMENTSOF(radix); i++) {
		int hosts = radix[i] * radix[i] * radix[i] / 4;
		char what[64];

		if (hosts > largest)
			break;
		snprintf(what, sizeof(what), "%d hosts", hosts);
		bench(routing_build_tree3(radix[i], 0), what, threads);
		snprintf(what, sizeof(what), "%d hosts, LIDs scattered", hosts);
		bench(routing_build_tree3(radix[i], 1234567), what, threads);
	}
	getrusage(RUSAGE_SELF, &usage);
	printf("peak %.1f MB, with the snapshots that were made for it\n",
	       (double)usage.ru_maxrss / 1e3);
	return 0;
}
