// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What the plugin costs opensm: callbacks' duration, how long a snapshot holds the lock, memory.

/*
 * In a host that plays opensm: the real plugin by dlopen(), a reader in another thread, producers
 * under opensm's locks. A callback is timed from outside, two clock reads included (some 50 ns).
 * For the snapshot a fabric of the asked size is made in opensm's own structures; before each one
 * the caches are swept, as a heavy sweep leaves them to other data.
 */

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "plugin/snapshot-take.h"
#include "tests/host/fake-osm.h"
#include "tests/host/loaded.h"
#include "tests/host/peer.h"
#include "tests/host/producers.h"
#include "util/cleanup.h"

#define THREADS_MAX 16
#define SWITCH_PORTS 36
#define CACHE_BYTES (UINT64_C(64) << 20)
#define TARGET_P99_NSEC 5000
#define TARGET_LOCK_NSEC (50 * UINT64_C(1000000))

static unsigned int arg_threads = 4;
static unsigned int arg_rate = 100000;
static unsigned int arg_seconds = 10;
static unsigned int arg_switches = 1620;
static unsigned int arg_hosts = 11664;
static unsigned int arg_snapshots = 10;
static bool arg_check;
static bool missed;

static uint64_t now_nsec(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* What this thread spent on a CPU: on a busy machine the clock on the wall tells another story. */
static uint64_t thread_nsec(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static long status_kb(const char *key)
{
	FILE *file = fopen("/proc/self/status", "re");
	size_t n = strlen(key);
	char line[256];
	long kb = 0;

	while (file && fgets(line, sizeof(line), file))
		if (strncmp(line, key, n) == 0)
			kb = strtol(line + n, NULL, 10);
	if (file)
		fclose(file);
	return kb;
}

static void verdict(const char *what, double value, double target, const char *unit)
{
	bool ok = value <= target;

	printf("  %s: %.2f %s (target %.0f %s) %s\n", what, value, unit, target, unit,
	       ok ? "ok" : "MISSED");
	missed |= !ok;
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

struct reader {
	struct peer peer;
	pthread_t thread;
	_Atomic bool stop;
};

static void *read_on(void *data)
{
	struct reader *reader = data;

	while (!atomic_load(&reader->stop))
		if (peer_read(&reader->peer, 10) < 0)
			break;
	return NULL;
}

static double percentile(const uint32_t *sorted, uint64_t n, double share)
{
	uint64_t i = (uint64_t)((double)n * share);

	return (double)sorted[i < n ? i : n - 1] / 1000;
}

static void print_durations(const struct producer *producers, uint64_t events)
{
	uint64_t n = arg_threads * events;
	uint32_t *all = malloc(n * sizeof(*all));

	for (unsigned int i = 0; all && i < arg_threads; i++)
		memcpy(all + i * events, producers[i].nsec, events * sizeof(*all));
	if (!all)
		return;
	qsort(all, n, sizeof(*all), compare);
	printf("  callbacks: %" PRIu64 ", p50 %.2f us, p90 %.2f us, p99.9 %.2f us, max %.2f us\n",
	       n, percentile(all, n, 0.5), percentile(all, n, 0.9), percentile(all, n, 0.999),
	       percentile(all, n, 1));
	verdict("p99", percentile(all, n, 0.99), TARGET_P99_NSEC / 1e3, "us");
	free(all);
}

static void bench_callbacks(unsigned int rate, unsigned int seconds)
{
	char directory[] = "/tmp/ibsm-bench-XXXXXX", path[64], options[128];
	struct producer producers[THREADS_MAX] = {0};
	struct reader reader = {.stop = false};
	uint64_t events = (uint64_t)(rate ? rate : 1000000) / arg_threads / 8 * 8 * seconds;
	struct loaded loaded;
	osm_opensm_t *osm;
	osm_switch_t *sw;
	uint64_t begin;

	if (!mkdtemp(directory))
		exit(1);
	snprintf(path, sizeof(path), "%s/p.sock", directory);
	snprintf(options, sizeof(options), "ibsm.socket=%s", path);
	osm = fake_osm_new(options);
	fake_osm_build_tree(osm, 4, 2, 4);
	sw = (osm_switch_t *)cl_qmap_head(&osm->subn.sw_guid_tbl);
	for (unsigned int i = 0; i < arg_threads; i++)
		producers[i].nsec = calloc(events, sizeof(uint32_t));
	peer_init(&reader.peer, path);
	peer_listen(&reader.peer);
	if (loaded_open(&loaded, NULL, osm) < 0 || !peer_accept(&reader.peer, 10000))
		exit(1);
	pthread_create(&reader.thread, NULL, read_on, &reader);

	begin = now_nsec();
	producers_start(producers, arg_threads, &loaded, osm, sw, events, rate / arg_threads);
	producers_join(producers, arg_threads);
	printf("%u threads, %s, a daemon that reads: %.0f events/s for %.1f s\n", arg_threads,
	       rate ? "paced" : "as fast as they can",
	       (double)(arg_threads * events) * 1e9 / (double)(now_nsec() - begin),
	       (double)(now_nsec() - begin) / 1e9);
	atomic_store(&reader.stop, true);
	pthread_join(reader.thread, NULL);
	if (!peer_settle(&reader.peer, producers_control(producers, arg_threads),
			 producers_bulk(producers, arg_threads), 30000))
		printf("  the plugin's counts never settled: %s\n", reader.peer.complaint);
	print_durations(producers, events);
	if (rate)
		verdict("dropped",
			(double)(reader.peer.heartbeat.control.dropped_full +
				 reader.peer.heartbeat.control.dropped_absent +
				 reader.peer.heartbeat.bulk.dropped_full +
				 reader.peer.heartbeat.bulk.dropped_absent),
			0, "records");
	else
		printf("  dropped (rings were full): %" PRIu64 " of %" PRIu64 "\n",
		       reader.peer.heartbeat.control.dropped_full +
			       reader.peer.heartbeat.bulk.dropped_full,
		       reader.peer.heartbeat.control.raised + reader.peer.heartbeat.bulk.raised);
	loaded_close(&loaded);
	peer_clear(&reader.peer);
	rmdir(directory);
	for (unsigned int i = 0; i < arg_threads; i++)
		free(producers[i].nsec);
	fake_osm_free(osm);
}

/* Hosts in the lower ports, the rest cabled among the switches; GUIDs in no order. */
static void build_fabric(osm_opensm_t *osm)
{
	osm_switch_t **sw = calloc(arg_switches, sizeof(*sw));
	unsigned int lower = (arg_hosts + arg_switches - 1) / arg_switches;
	char name[64];
	uint16_t lid = 1;

	for (unsigned int i = 0; sw && i < arg_switches; i++) {
		snprintf(name, sizeof(name), "switch-%u", i);
		sw[i] = fake_osm_add_switch(osm,
					    FAKE_SWITCH_GUID + (uint64_t)i * 7919 % arg_switches,
					    SWITCH_PORTS, name);
		fake_osm_give_lid(osm, sw[i]->p_node, 0, lid++);
	}
	for (unsigned int i = 0; sw && i < arg_hosts; i++) {
		uint64_t guid = FAKE_CA_GUID + (uint64_t)i * 7919 % arg_hosts * 16;
		osm_node_t *ca;

		snprintf(name, sizeof(name), "host-%u", i);
		ca = fake_osm_add_node(osm, guid, IB_NODE_TYPE_CA, 1, name);
		fake_osm_give_lid(osm, ca, 1, lid++);
		fake_osm_link(ca, 1, sw[i % arg_switches]->p_node, (uint8_t)(1 + i / arg_switches));
	}
	for (unsigned int i = 0; sw && i < arg_switches; i++) {
		fake_osm_give_lfts(sw[i], lid, (uint8_t)(i % SWITCH_PORTS));
		for (unsigned int p = lower + 1; p <= SWITCH_PORTS; p++) {
			unsigned int peer = (i + p * 37) % arg_switches;

			if (peer != i && !sw[i]->p_node->physp_table[p].p_remote_physp &&
			    !sw[peer]->p_node->physp_table[p].p_remote_physp)
				fake_osm_link(sw[i]->p_node, (uint8_t)p, sw[peer]->p_node,
					      (uint8_t)p);
		}
	}
	free(sw);
}

static void bench_snapshots(void)
{
	static struct snapshots snapshots;
	osm_opensm_t *osm = fake_osm_new(NULL);
	uint8_t *cache = malloc(CACHE_BYTES);
	uint64_t longest = 0, sum = 0, cpu = 0, prepare = 0, bytes = 0;
	long before;

	if (!cache)
		exit(1);
	memset(cache, 1, CACHE_BYTES);
	build_fabric(osm);
	snapshots_init(&snapshots, osm);
	before = status_kb("VmRSS:");
	printf("snapshot of %u switches, %u hosts, %u times\n", arg_switches, arg_hosts,
	       arg_snapshots);
	for (unsigned int i = 0; i < arg_snapshots; i++) {
		uint64_t begin = now_nsec();

		snapshots_prepare(&snapshots);
		prepare = i == 0 ? now_nsec() - begin : prepare;
		memset(cache, (int)i, CACHE_BYTES);
		begin = thread_nsec();
		if (!snapshots_take(&snapshots, IBSM_SNAPSHOT_SUBNET_UP))
			printf("  not taken\n");
		cpu += thread_nsec() - begin;
		sum += atomic_load(&snapshots.lock_nsec);
		if (i == 0)
			printf("  first: prepared in %.2f ms, lock held for %.2f ms\n",
			       (double)prepare / 1e6,
			       (double)atomic_load(&snapshots.lock_nsec) / 1e6);
	}
	longest = atomic_load(&snapshots.lock_max_nsec);
	for (int i = 1; i < IBSM_TABLE_MAX; i++)
		bytes += snapshots.buffers[0].areas[i].used;
	printf("  tables: %.1f MB, memory for the copy: %.1f MB\n", (double)bytes / 1e6,
	       (double)(status_kb("VmRSS:") - before) / 1e3);
	printf("  lock held, mean: %.2f ms, of which on a CPU %.2f ms\n",
	       (double)sum / arg_snapshots / 1e6, (double)cpu / arg_snapshots / 1e6);
	verdict("lock held, longest", (double)longest / 1e6, TARGET_LOCK_NSEC / 1e6, "ms");
	snapshots_clear(&snapshots);
	fake_osm_free(osm);
	free(cache);
}

static void help(FILE *out)
{
	fputs("bench-callbacks [OPTION...]\n\n"
	      "  --threads=N     producers (4)\n"
	      "  --rate=N        events a second, all together (100000)\n"
	      "  --seconds=N     of the paced run (10; the acceptance run has 60)\n"
	      "  --switches=N --hosts=N   of the snapshot's fabric (1620, 11664)\n"
	      "  --snapshots=N   (10)\n"
	      "  --check         fail when a target is missed\n",
	      out);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"threads", required_argument, NULL, 't'},
		{"rate", required_argument, NULL, 'r'},
		{"seconds", required_argument, NULL, 's'},
		{"switches", required_argument, NULL, 'w'},
		{"hosts", required_argument, NULL, 'o'},
		{"snapshots", required_argument, NULL, 'n'},
		{"check", no_argument, NULL, 'c'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		unsigned int value = optarg ? (unsigned int)strtoul(optarg, NULL, 10) : 0;

		switch (c) {
		case 't':
			arg_threads = value;
			break;
		case 'r':
			arg_rate = value;
			break;
		case 's':
			arg_seconds = value;
			break;
		case 'w':
			arg_switches = value;
			break;
		case 'o':
			arg_hosts = value;
			break;
		case 'n':
			arg_snapshots = value;
			break;
		case 'c':
			arg_check = true;
			break;
		case 'h':
			help(stdout);
			return 0;
		default:
			help(stderr);
			return 2;
		}
	}
	if (optind != argc || arg_threads == 0 || arg_threads > THREADS_MAX ||
	    arg_rate / 8 < arg_threads || arg_switches == 0 || arg_snapshots == 0 ||
	    arg_switches + arg_hosts > IBSM_UNICAST_LID_MAX - 1 ||
	    arg_hosts > arg_switches * SWITCH_PORTS) {
		help(stderr);
		return 2;
	}
	printf("resident before: %ld kB\n", status_kb("VmRSS:"));
	bench_callbacks(arg_rate, arg_seconds);
	bench_callbacks(0, 2);
	bench_snapshots();
	return arg_check && missed ? 1 : 0;
}
