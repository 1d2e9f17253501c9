// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Loads the plugin as opensm does and raises events from many threads, with each kind of daemon.

/*
 * IBSM_HOST_SECONDS (default 2) is how long the paced test runs, IBSM_HOST_RESTARTS (default 20)
 * how often the daemon is restarted; the bench asks for 60 and 100.
 */

#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "fake-osm.h"
#include "loaded.h"
#include "notice.h"
#include "peer.h"
#include "producers.h"
#include "util/cleanup.h"

#define THREADS 4
/* A callback that waits for the daemon waits for as long as the daemon sleeps: seconds. One that
 * does not can still lose its CPU on a busy machine. */
#define BLOCKED_NSEC UINT64_C(1000000000)
/* Half of the bulk ring at the pace of the fast test. */
#define LATE_NSEC UINT64_C(300000000)

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#define EVENTS 20000u
#define EVENTS_PER_SEC 20000u
#else
#define SANITIZED 0
#define EVENTS 200000u
#define EVENTS_PER_SEC 100000u
#endif

struct host {
	char directory[64];
	char path[96];
	osm_opensm_t *osm;
	osm_switch_t *sw;
	struct loaded loaded;
	struct peer peer;
	struct producer producers[THREADS];
};

static unsigned long from_environment(const char *name, unsigned long standard)
{
	const char *text = getenv(name);

	return text ? strtoul(text, NULL, 10) : standard;
}

static unsigned int count_entries(const char *path)
{
	DIR *dir = opendir(path);
	unsigned int n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static unsigned int count_fds(void)
{
	return count_entries("/proc/self/fd");
}

static unsigned int count_threads(void)
{
	return count_entries("/proc/self/task");
}

static unsigned long resident_kb(void)
{
	unsigned long kb = 0;
	char line[256];
	FILE *file = fopen("/proc/self/status", "re");

	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "VmRSS: %lu", &kb) == 1)
			break;
	fclose(file);
	return kb;
}

static uint64_t now_nsec(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void nap(unsigned int msec)
{
	usleep(msec * 1000);
}

static int set_up_with(void **state, const char *more)
{
	struct host *h = calloc(1, sizeof(*h));
	char options[256];

	strcpy(h->directory, "/tmp/ibsm-host-XXXXXX");
	assert_non_null(mkdtemp(h->directory));
	snprintf(h->path, sizeof(h->path), "%s/p.sock", h->directory);
	snprintf(options, sizeof(options), "ibsm.socket=%s %s", h->path, more);
	h->osm = fake_osm_new(options);
	fake_osm_build_tree(h->osm, 4, 2, 4);
	h->sw = (osm_switch_t *)cl_qmap_head(&h->osm->subn.sw_guid_tbl);
	peer_init(&h->peer, h->path);
	*state = h;
	return 0;
}

static int set_up(void **state)
{
	return set_up_with(state, "");
}

static int set_up_small_ring(void **state)
{
	return set_up_with(state, "ibsm.ring=1024");
}

static int set_up_no_snapshots(void **state)
{
	return set_up_with(state, "ibsm.snapshots=no");
}

static int tear_down(void **state)
{
	struct host *h = *state;

	peer_clear(&h->peer);
	fake_osm_free(h->osm);
	unlink(h->path);
	rmdir(h->directory);
	free(h);
	return 0;
}

static void load(struct host *h)
{
	assert_int_equal(loaded_open(&h->loaded, NULL, h->osm), 0);
}

static void unload(struct host *h)
{
	uint64_t begin = now_nsec();

	loaded_close(&h->loaded);
	/* 200 ms to flush; the rest is for a busy machine. */
	assert_true(now_nsec() - begin < 2 * BLOCKED_NSEC);
}

static void produce(struct host *h, uint64_t events, uint64_t per_sec)
{
	producers_start(h->producers, THREADS, &h->loaded, h->osm, h->sw, events, per_sec);
}

static void finish(struct host *h)
{
	producers_join(h->producers, THREADS);
	assert_true(producers_max_nsec(h->producers, THREADS) < BLOCKED_NSEC);
}

static void assert_no_complaint(const struct host *h)
{
	assert_string_equal(h->peer.complaint, "");
}

/* raised = sent + dropped, and it is the number of callbacks. */
static void assert_accounts(struct host *h)
{
	const struct ibsm_wire_heartbeat *b = &h->peer.heartbeat;

	assert_int_equal(b->control.raised, producers_control(h->producers, THREADS));
	assert_int_equal(b->bulk.raised, producers_bulk(h->producers, THREADS));
	assert_int_equal(b->control.raised,
			 b->control.sent + b->control.dropped_full + b->control.dropped_absent);
	assert_int_equal(b->bulk.raised,
			 b->bulk.sent + b->bulk.dropped_full + b->bulk.dropped_absent);
	assert_int_equal(b->zero_deltas, THREADS * h->producers[0].events / 8);
	assert_int_equal(b->unknown_events, 0);
}

static void settle(struct host *h)
{
	bool settled = peer_settle(&h->peer, producers_control(h->producers, THREADS),
				   producers_bulk(h->producers, THREADS), 30000);

	assert_no_complaint(h);
	assert_true(settled);
	assert_accounts(h);
}

/* The newest records of each producer are there, whatever was thrown away. */
static void assert_newest(const struct host *h)
{
	for (unsigned int i = 0; i < THREADS; i++) {
		assert_int_equal(h->peer.next_trap[i], h->producers[i].control);
		/* The last of eight is an error count, its value the event's index. */
		assert_int_equal(h->peer.next_errors[i], h->producers[i].events);
	}
}

/* ---- daemons ---- */

/* Nobody there for long, then somebody: gets the newest, and what was lost is counted. */
static void absent_then_there(struct host *h)
{
	unsigned int fds = count_fds(), threads = count_threads();
	unsigned long resident;

	load(h);
	resident = resident_kb();
	produce(h, EVENTS, 0);
	finish(h);
	/* Rings and all are there from the start. */
	if (!SANITIZED)
		assert_true(resident_kb() < resident + 4096);

	peer_listen(&h->peer);
	assert_true(peer_accept(&h->peer, 10000));
	settle(h);
	assert_true(h->peer.heartbeat.bulk.dropped_full + h->peer.heartbeat.bulk.dropped_absent >
		    0);
	assert_int_equal(h->peer.control, h->peer.heartbeat.control.sent);
	assert_int_equal(h->peer.bulk, h->peer.heartbeat.bulk.sent);
	assert_int_equal(h->peer.drops_control, h->peer.heartbeat.control.dropped_full +
							h->peer.heartbeat.control.dropped_absent);
	assert_int_equal(h->peer.drops_bulk, h->peer.heartbeat.bulk.dropped_full +
						     h->peer.heartbeat.bulk.dropped_absent);
	unload(h);
	peer_die(&h->peer);
	assert_int_equal(count_fds(), fds);
	assert_int_equal(count_threads(), threads);
}

static void test_absent(void **state)
{
	absent_then_there(*state);
}

/* A socket file that nobody listens on. */
static void test_dead(void **state)
{
	struct host *h = *state;

	peer_listen(&h->peer);
	close(h->peer.listen_fd);
	h->peer.listen_fd = -1;
	absent_then_there(h);
}

/* Events that come one by one while nobody is there: no drop by fullness, the oldest go. */
static void test_absent_keeps_newest(void **state)
{
	struct host *h = *state;

	load(h);
	produce(h, 1600, 1000);
	finish(h);
	peer_listen(&h->peer);
	assert_true(peer_accept(&h->peer, 10000));
	settle(h);
	assert_true(h->peer.heartbeat.bulk.dropped_absent > 0);
	assert_int_equal(h->peer.heartbeat.bulk.dropped_full, 0);
	assert_newest(h);
	unload(h);
}

/* Connected and never read, as a stopped process is. */
static void test_stalled(void **state)
{
	struct host *h = *state;

	peer_listen(&h->peer);
	load(h);
	assert_true(peer_accept(&h->peer, 10000));
	produce(h, EVENTS, 0);
	finish(h);
	/* And goes on. */
	settle(h);
	assert_int_equal(h->peer.control, h->peer.heartbeat.control.sent);
	assert_int_equal(h->peer.bulk, h->peer.heartbeat.bulk.sent);
	unload(h);
}

static void test_stalled_for_good(void **state)
{
	struct host *h = *state;
	unsigned int fds = count_fds(), threads = count_threads();

	peer_listen(&h->peer);
	load(h);
	assert_true(peer_accept(&h->peer, 10000));
	produce(h, EVENTS, 0);
	finish(h);
	for (int i = 0; i < 5; i++)
		loaded_report(&h->loaded, OSM_EVENT_ID_SUBNET_UP, NULL);
	unload(h); /* in bounded time */
	peer_die(&h->peer);
	assert_int_equal(count_fds(), fds);
	assert_int_equal(count_threads(), threads);
}

static void test_slow(void **state)
{
	struct host *h = *state;

	peer_listen(&h->peer);
	load(h);
	assert_true(peer_accept(&h->peer, 10000));
	produce(h, EVENTS, 0);
	while (!producers_done(h->producers, THREADS)) {
		assert_true(peer_read(&h->peer, 0) >= 0);
		nap(1);
	}
	finish(h);
	settle(h);
	assert_int_equal(h->peer.control, h->peer.heartbeat.control.sent);
	assert_int_equal(h->peer.bulk, h->peer.heartbeat.bulk.sent);
	unload(h);
}

static uint64_t dropped(const struct host *h)
{
	const struct ibsm_wire_heartbeat *b = &h->peer.heartbeat;

	return b->control.dropped_full + b->control.dropped_absent + b->bulk.dropped_full +
	       b->bulk.dropped_absent;
}

/* At a rate that opensm never reaches, with a daemon that reads: nothing is lost. Returns false
 * when something was, but our reader did not get the CPU that a live one has. */
static bool run_fast(struct host *h)
{
	uint64_t seconds = from_environment("IBSM_HOST_SECONDS", 2);
	uint64_t events = EVENTS_PER_SEC / THREADS / 8 * 8 * seconds;
	unsigned long resident;

	peer_listen(&h->peer);
	load(h);
	assert_true(peer_accept(&h->peer, 10000));
	resident = resident_kb();
	produce(h, events, EVENTS_PER_SEC / THREADS);
	while (!producers_done(h->producers, THREADS))
		assert_true(peer_read(&h->peer, 1) >= 0);
	finish(h);
	settle(h);
	if (dropped(h) && h->peer.behind_nsec > LATE_NSEC) {
		unload(h);
		return false;
	}
	assert_int_equal(dropped(h), 0);
	assert_int_equal(h->peer.control, producers_control(h->producers, THREADS));
	assert_int_equal(h->peer.bulk, producers_bulk(h->producers, THREADS));
	assert_int_equal(h->peer.by_type[IBSM_WIRE_DROPS], 0);
	assert_newest(h);
	if (!SANITIZED)
		assert_true(resident_kb() < resident + 4096);
	unload(h);
	return true;
}

static void test_fast(void **state)
{
	struct host *h = *state;

	for (int i = 0; i < 5; i++) {
		if (run_fast(h))
			return;
		print_message("the reader was late by up to %llu ms: once more\n",
			      (unsigned long long)h->peer.behind_nsec / 1000000);
		peer_clear(&h->peer);
		peer_init(&h->peer, h->path);
	}
	print_message("this machine is too busy for a live reader\n");
	if (getenv("CI") && strcmp(getenv("CI"), "true") == 0)
		fail();
	skip();
}

/* Restarted again and again while events come. */
static void test_restarts(void **state)
{
	struct host *h = *state;
	unsigned long restarts = from_environment("IBSM_HOST_RESTARTS", 20);
	unsigned int fds = count_fds(), threads = count_threads();
	uint64_t instance = 0;
	unsigned long resident = 0;

	load(h);
	produce(h, 0, 1000);
	for (unsigned long i = 0; i <= restarts; i++) {
		uint64_t until;

		peer_listen(&h->peer);
		assert_true(peer_accept(&h->peer, 10000));
		assert_true(peer_read_until(&h->peer, IBSM_WIRE_HELLO, 10000));
		assert_true(i == 0 || h->peer.hello.instance == instance);
		assert_int_equal(h->peer.hello.connection, i + 1);
		instance = h->peer.hello.instance;
		/* Long enough to count as a daemon at work: see backoff.h. */
		until = now_nsec() + 300 * UINT64_C(1000000);
		while (now_nsec() < until)
			assert_true(peer_read(&h->peer, 10) >= 0);
		if (i == restarts)
			break;
		peer_die(&h->peer);
		if (i == restarts / 2)
			resident = resident_kb();
	}
	producers_stop(h->producers, THREADS);
	finish(h);
	assert_true(peer_settle(&h->peer, producers_control(h->producers, THREADS),
				producers_bulk(h->producers, THREADS), 10000));
	assert_no_complaint(h);
	assert_int_equal(h->peer.heartbeat.control.raised,
			 producers_control(h->producers, THREADS));
	assert_int_equal(h->peer.heartbeat.bulk.raised, producers_bulk(h->producers, THREADS));
	/* What was sent to a daemon that died before it read it is sent, and a gap. */
	assert_true(h->peer.bulk <= h->peer.heartbeat.bulk.sent);
	if (!SANITIZED)
		assert_true(resident_kb() < resident + 1024);
	unload(h);
	peer_die(&h->peer);
	assert_int_equal(count_fds(), fds);
	assert_int_equal(count_threads(), threads);
}

/* A daemon that says no by closing is not asked a thousand times a second. */
static void test_refused(void **state)
{
	struct host *h = *state;
	uint64_t begin;
	unsigned int connections = 0;

	peer_listen(&h->peer);
	load(h);
	for (begin = now_nsec(); now_nsec() - begin < BLOCKED_NSEC;) {
		if (!peer_accept(&h->peer, 100))
			continue;
		connections++;
		peer_hang_up(&h->peer);
	}
	/* At 0, 0.1, 0.3, 0.7 s, each ±25 %. */
	assert_in_range(connections, 2, 6);
	assert_true(peer_accept(&h->peer, 10000));
	assert_true(peer_read_until(&h->peer, IBSM_WIRE_HEARTBEAT, 10000));
	unload(h);
}

/* ---- what is sent ---- */

static void test_hello(void **state)
{
	struct host *h = *state;
	char host_name[64] = "";

	h->osm->subn.opt.daemon = TRUE;
	h->osm->subn.opt.perfmgr = TRUE;
	h->osm->subn.opt.sm_priority = 13;
	h->osm->subn.opt.lmc = 1;
	peer_listen(&h->peer);
	load(h);
	assert_true(peer_accept(&h->peer, 10000));
	assert_true(peer_read_until(&h->peer, IBSM_WIRE_HELLO, 10000));
	gethostname(host_name, sizeof(host_name) - 1);
	assert_string_equal(h->peer.hello.host_name, host_name);
	assert_string_equal(h->peer.hello.opensm_version, OSM_VERSION);
	assert_string_equal(h->peer.hello.plugin_version, PACKAGE_VERSION);
	assert_int_equal(h->peer.hello.pid, getpid());
	assert_int_equal(h->peer.hello.connection, 1);
	assert_int_equal(h->peer.hello.generation, 0);
	assert_int_not_equal(h->peer.hello.instance, 0);
	assert_int_equal(h->peer.hello.sm_port_guid, FAKE_CA_GUID + 1);
	assert_int_equal(h->peer.hello.subnet_prefix, FAKE_SUBNET_PREFIX);
	assert_int_equal(h->peer.hello.ring_records_control, IBSM_RING_CONTROL_RECORDS);
	assert_int_equal(h->peer.hello.ring_records_bulk, 1024);
	assert_int_equal(h->peer.hello.sweep_interval_sec, 10);
	assert_int_equal(h->peer.hello.sminfo_polling_timeout_msec, 10000);
	assert_int_equal(h->peer.hello.polling_retry_number, 4);
	assert_int_equal(h->peer.hello.sm_state, IBSM_SM_MASTER);
	assert_int_equal(h->peer.hello.sm_priority, 13);
	assert_int_equal(h->peer.hello.lmc, 1);
	assert_int_equal(h->peer.hello.hello_flags,
			 IBSM_HELLO_SNAPSHOTS | IBSM_HELLO_PERFMGR | IBSM_HELLO_DAEMON);
	for (size_t i = 0; i < 16; i++)
		if (h->peer.hello.boot_id[i])
			break;
		else
			assert_int_not_equal(i, 15);
	unload(h);
}

static void sweep(struct host *h)
{
	loaded_report(&h->loaded, OSM_EVENT_ID_HEAVY_SWEEP_START, NULL);
	loaded_report(&h->loaded, OSM_EVENT_ID_HEAVY_SWEEP_DONE, NULL);
	loaded_report(&h->loaded, OSM_EVENT_ID_UCAST_ROUTING_DONE,
		      loaded_routing(UCAST_ROUTING_HEAVY_SWEEP));
	loaded_report(&h->loaded, OSM_EVENT_ID_SUBNET_UP, NULL);
}

static void test_snapshots(void **state)
{
	struct host *h = *state;
	unsigned int fds = count_fds();

	peer_listen(&h->peer);
	load(h);
	assert_true(peer_accept(&h->peer, 10000));
	sweep(h);
	assert_true(peer_read_until(&h->peer, IBSM_WIRE_SNAPSHOT, 10000));
	/* After the event that it belongs to. */
	assert_int_equal(h->peer.by_type[IBSM_WIRE_SUBNET_UP], 1);
	assert_int_equal(h->peer.last.snapshot.generation, 1);
	assert_int_equal(h->peer.last.snapshot.reason, IBSM_SNAPSHOT_SUBNET_UP);
	assert_int_equal(h->peer.last.snapshot.full, 1);
	assert_int_equal(snapshot_nodes(h->peer.snapshot), 22);

	loaded_report(&h->loaded, OSM_EVENT_ID_UCAST_ROUTING_DONE,
		      loaded_routing(UCAST_ROUTING_REROUTE));
	assert_true(peer_read_until(&h->peer, IBSM_WIRE_SNAPSHOT, 10000));
	assert_int_equal(h->peer.last.snapshot.generation, 2);
	assert_int_equal(h->peer.last.snapshot.reason, IBSM_SNAPSHOT_REROUTE);
	assert_int_equal(h->peer.last.snapshot.full, 0);

	/* A daemon that comes later has it at once, before anything else, and without a sweep. */
	peer_hang_up(&h->peer);
	loaded_report(&h->loaded, OSM_EVENT_ID_STATE_CHANGE, NULL);
	assert_true(peer_accept(&h->peer, 10000));
	assert_int_equal(peer_read(&h->peer, 10000), 1);
	assert_int_equal(h->peer.hello.generation, 2);
	assert_int_equal(peer_read(&h->peer, 10000), 1);
	assert_int_equal(h->peer.last.header.type, IBSM_WIRE_SNAPSHOT);
	assert_int_equal(h->peer.last.snapshot.generation, 2);
	assert_int_equal(h->peer.last.snapshot.reason, IBSM_SNAPSHOT_RECONNECT);
	assert_int_equal(h->peer.last.snapshot.full, 1);
	assert_int_equal(snapshot_nodes(h->peer.snapshot), 22);
	assert_no_complaint(h);
	unload(h);
	peer_die(&h->peer);
	assert_int_equal(count_fds(), fds);
}

/* Taken while nobody was there. */
static void test_snapshot_while_absent(void **state)
{
	struct host *h = *state;

	load(h);
	sweep(h);
	nap(50);
	peer_listen(&h->peer);
	assert_true(peer_accept(&h->peer, 10000));
	assert_true(peer_read_until(&h->peer, IBSM_WIRE_SNAPSHOT, 10000));
	assert_int_equal(h->peer.last.snapshot.full, 1);
	assert_int_equal(snapshot_nodes(h->peer.snapshot), 22);
	unload(h);
}

/* Many snapshots while the daemon sleeps: it gets the last one, whole, and memory stays. */
static void test_snapshots_while_stalled(void **state)
{
	struct host *h = *state;
	unsigned long resident = 0;

	peer_listen(&h->peer);
	load(h);
	assert_true(peer_accept(&h->peer, 10000));
	produce(h, EVENTS, 0);
	finish(h); /* the socket is full now */
	for (unsigned int i = 0; i < 400; i++) {
		h->osm->stats.sa_mads_sent++;
		h->sw->lft[i % 16]++;
		loaded_report(&h->loaded, OSM_EVENT_ID_SUBNET_UP, NULL);
		if (i == 100)
			resident = resident_kb();
		nap(1);
	}
	if (!SANITIZED)
		assert_true(resident_kb() < resident + 2048);
	assert_true(peer_read_until(&h->peer, IBSM_WIRE_SNAPSHOT, 10000));
	while (!peer_settle(&h->peer, 0, 0, 10000))
		assert_no_complaint(h);
	assert_non_null(h->peer.snapshot);
	assert_int_equal(snapshot_statistics(h->peer.snapshot)->sa_mads_sent, 400);
	assert_no_complaint(h);
	unload(h);
}

static void test_no_snapshots(void **state)
{
	struct host *h = *state;

	peer_listen(&h->peer);
	load(h);
	assert_true(peer_accept(&h->peer, 10000));
	sweep(h);
	assert_true(peer_read_until(&h->peer, IBSM_WIRE_SUBNET_UP, 10000));
	assert_true(peer_read_until(&h->peer, IBSM_WIRE_HEARTBEAT, 10000));
	assert_int_equal(h->peer.by_type[IBSM_WIRE_SNAPSHOT], 0);
	assert_int_equal(h->peer.heartbeat.snapshots_taken, 0);
	assert_int_equal(h->peer.hello.hello_flags & IBSM_HELLO_SNAPSHOTS, 0);
	unload(h);
}

/* opensm tells of few changes of its SM's state: the plugin looks by itself. */
static void test_sm_state(void **state)
{
	struct host *h = *state;

	peer_listen(&h->peer);
	load(h);
	assert_true(peer_accept(&h->peer, 10000));
	assert_true(peer_read_until(&h->peer, IBSM_WIRE_HEARTBEAT, 10000));
	__atomic_store_n(&h->osm->subn.sm_state, IBSM_SM_STANDBY, __ATOMIC_RELAXED);
	assert_true(peer_read_until(&h->peer, IBSM_WIRE_SM_STATE, 2000));
	assert_int_equal(h->peer.last.sm_state.old_state, IBSM_SM_MASTER);
	assert_int_equal(h->peer.last.sm_state.new_state, IBSM_SM_STANDBY);

	/* With an event: before it. */
	__atomic_store_n(&h->osm->subn.sm_state, IBSM_SM_MASTER, __ATOMIC_RELAXED);
	loaded_report(&h->loaded, OSM_EVENT_ID_STATE_CHANGE, NULL);
	assert_true(peer_read_until(&h->peer, IBSM_WIRE_STATE_CHANGE, 2000));
	assert_int_equal(h->peer.by_type[IBSM_WIRE_SM_STATE], 2);
	assert_no_complaint(h);
	unload(h);
}

/* delete() sends what is there, a last heartbeat, and closes. */
static void test_last_words(void **state)
{
	struct host *h = *state;
	struct notice notice = {.generic = true, .number = 128};
	ib_mad_notice_attr_t raw;
	int r;

	notice_fill(&notice, &raw);
	peer_listen(&h->peer);
	load(h);
	assert_true(peer_accept(&h->peer, 10000));
	assert_true(peer_read_until(&h->peer, IBSM_WIRE_HEARTBEAT, 10000));
	for (int i = 0; i < 100; i++)
		loaded_report(&h->loaded, OSM_EVENT_ID_TRAP, &raw);
	unload(h);
	while ((r = peer_read(&h->peer, 1000)) > 0)
		;
	assert_int_equal(r, -1);
	assert_no_complaint(h);
	assert_int_equal(h->peer.by_type[IBSM_WIRE_TRAP], 100);
	assert_int_equal(h->peer.last.header.type, IBSM_WIRE_HEARTBEAT);
	assert_int_equal(h->peer.heartbeat.control.sent, 100);
}

static void test_unknown_event(void **state)
{
	struct host *h = *state;

	peer_listen(&h->peer);
	load(h);
	loaded_report(&h->loaded, OSM_EVENT_ID_MAX, NULL);
	loaded_report(&h->loaded, (osm_epi_event_id_t)77, h);
	assert_true(peer_accept(&h->peer, 10000));
	/* The first one may have been sent before. */
	for (int i = 0; i < 2; i++)
		assert_true(peer_read_until(&h->peer, IBSM_WIRE_HEARTBEAT, 10000));
	assert_int_equal(h->peer.heartbeat.unknown_events, 2);
	unload(h);
}

/* ---- as a guest in opensm ---- */

static void test_layout(void **state)
{
	struct host *h = *state;
	unsigned int fds = count_fds(), threads = count_threads();
	struct loaded loaded;

	load(h); /* as it is, it fits */
	unload(h);
	h->osm->sm.p_lock = NULL;
	assert_int_equal(loaded_open(&loaded, NULL, h->osm), -1);
	h->osm->sm.p_lock = &h->osm->lock;
	h->osm->vl15.p_stats = (osm_stats_t *)&h->osm->lock;
	assert_int_equal(loaded_open(&loaded, NULL, h->osm), -1);
	assert_int_equal(count_fds(), fds);
	assert_int_equal(count_threads(), threads);
}

/* opensm's signals are for opensm's threads. */
static void test_signals(void **state)
{
	struct host *h = *state;
	DIR *dir;
	struct dirent *entry;
	unsigned int found = 0;
	sigset_t before, after;

	pthread_sigmask(SIG_SETMASK, NULL, &before);
	load(h);
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	for (int i = 1; i < 32; i++)
		assert_int_equal(sigismember(&before, i), sigismember(&after, i));
	dir = opendir("/proc/self/task");
	for (int tries = 0; tries < 100 && !found; tries++, nap(10)) {
		rewinddir(dir);
		while ((entry = readdir(dir))) {
			char path[512], line[256], name[64] = "";
			unsigned long long blocked = 0;
			FILE *file;

			snprintf(path, sizeof(path), "/proc/self/task/%s/status", entry->d_name);
			file = fopen(path, "re");
			while (file && fgets(line, sizeof(line), file)) {
				sscanf(line, "Name: %63s", name);
				sscanf(line, "SigBlk: %llx", &blocked);
			}
			if (file)
				fclose(file);
			if (strcmp(name, "ibsm-sender") != 0)
				continue;
			found++;
			for (int s = 1; s < 32; s++)
				if (s != SIGKILL && s != SIGSTOP)
					assert_true(blocked & 1ull << (s - 1));
		}
	}
	closedir(dir);
	assert_int_equal(found, 1);
	unload(h);
}

/* Its event is not on its stack: AddressSanitizer does not clean up after a cancelled frame. */
static void *report_for_ever(void *data)
{
	static osm_epi_pe_event_t event = {
		.port_id.node_guid = PEER_PRODUCERS, /* of no producer: no order is asked for */
		.symbol_err_cnt = 1,
	};
	struct host *h = data;

	for (;;) {
		for (int i = 0; i < 100; i++)
			loaded_report(&h->loaded, OSM_EVENT_ID_PORT_ERRORS, &event);
		pthread_testcancel();
	}
	return NULL;
}

/* opensm cancels its dispatcher threads: none must vanish inside a callback. */
static void test_cancelled_threads(void **state)
{
	struct host *h = *state;
	unsigned int rounds = 30;

	peer_listen(&h->peer);
	load(h);
	assert_true(peer_accept(&h->peer, 10000));
	for (unsigned int i = 0; i < rounds; i++) {
		pthread_t thread;

		assert_int_equal(pthread_create(&thread, NULL, report_for_ever, h), 0);
		for (int k = 0; k < 50; k++)
			assert_true(peer_read(&h->peer, 1) >= 0);
		pthread_cancel(thread);
		pthread_join(thread, NULL);
	}
	/* A slot that was claimed and never published would stop everything behind it. */
	assert_true(peer_settle(&h->peer, 0, rounds * 100, 30000));
	assert_int_equal(h->peer.heartbeat.bulk.raised % 100, 0);
	assert_int_equal(h->peer.bulk, h->peer.heartbeat.bulk.sent);
	assert_no_complaint(h);
	unload(h);
}

/* opensm loads and unloads it once; a console may do so again. */
static void test_again_and_again(void **state)
{
	struct host *h = *state;
	unsigned int fds = count_fds(), threads = count_threads();
	uint64_t instance = 0;

	for (int i = 0; i < 5; i++) {
		peer_listen(&h->peer);
		h->peer.sequence = 0; /* of another instance */
		load(h);
		sweep(h);
		assert_true(peer_accept(&h->peer, 10000));
		assert_true(peer_read_until(&h->peer, IBSM_WIRE_SNAPSHOT, 10000));
		assert_int_not_equal(h->peer.hello.instance, instance);
		instance = h->peer.hello.instance;
		unload(h);
		peer_die(&h->peer);
	}
	assert_int_equal(count_fds(), fds);
	assert_int_equal(count_threads(), threads);
}

static void *do_nothing(void *data)
{
	return data;
}

/* The first thread of a process makes ThreadSanitizer start one of its own: before we count. */
static int start_a_thread(void **state)
{
	pthread_t thread;

	(void)state;
	return pthread_create(&thread, NULL, do_nothing, NULL) || pthread_join(thread, NULL);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
#define TEST_SMALL_RING(f) cmocka_unit_test_setup_teardown(f, set_up_small_ring, tear_down)
#define TEST_NO_SNAPSHOTS(f) cmocka_unit_test_setup_teardown(f, set_up_no_snapshots, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_absent),
		TEST(test_dead),
		TEST_SMALL_RING(test_absent_keeps_newest),
		TEST(test_stalled),
		TEST(test_stalled_for_good),
		TEST(test_slow),
		TEST(test_fast),
		TEST(test_restarts),
		TEST(test_refused),
		TEST_SMALL_RING(test_hello),
		TEST(test_snapshots),
		TEST(test_snapshot_while_absent),
		TEST(test_snapshots_while_stalled),
		TEST_NO_SNAPSHOTS(test_no_snapshots),
		TEST(test_sm_state),
		TEST(test_last_words),
		TEST(test_unknown_event),
		TEST(test_layout),
		TEST(test_signals),
		TEST(test_cancelled_threads),
		TEST(test_again_and_again),
	};

	return cmocka_run_group_tests(tests, start_a_thread, NULL);
}
