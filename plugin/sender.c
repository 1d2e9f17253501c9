// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The plugin's one thread: takes records out of the rings and sends them to ibsmd.

/*
 * One loop, in which nothing waits but one ppoll(): on the eventfd that callbacks write to, and on
 * the socket (to see the daemon go, or its buffer drain). Each round samples the SM's state, works
 * on the connection, and then sleeps in one of four ways:
 *
 *   records were sent     a nap of 2 ms, without telling the callbacks: while events keep coming,
 *                         no callback makes a system call to wake us
 *   nothing to send       until any record comes, or the next timer
 *   the socket is full    until it drains, or a ring fills up
 *   no daemon             until the next try, or a ring fills up
 *
 * While nobody reads, the rings fill; above three quarters the oldest records are thrown away and
 * counted, so that a daemon that comes back finds the newest ones and callbacks find room.
 *
 * The daemon says no by closing, so a connection that ends early is a refusal and we back off.
 *
 * The thread blocks all signals: opensm's own threads shall get them.
 */

#include "sender.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <time.h>

#include "backoff.h"
#include "capture.h"
#include "connection.h"
#include "report.h"
#include "snapshot-send.h"
#include "util/cleanup.h"

#define MSEC_NSEC UINT64_C(1000000)
#define SAMPLE_NSEC (500 * MSEC_NSEC)
#define HEARTBEAT_NSEC (1000 * MSEC_NSEC)
#define DROPS_NSEC (100 * MSEC_NSEC) /* at most ten DROPS a second */
#define NAP_NSEC (2 * MSEC_NSEC)
#define PARCEL_NSEC (1000 * MSEC_NSEC) /* next try after a snapshot could not be sent */
#define FLUSH_NSEC (200 * MSEC_NSEC)
#define ROUND_BATCHES 16 /* batches of a ring before the loop looks at all else again */

struct sender {
	struct plugin *plugin;
	pthread_t thread;
	bool started;
	_Atomic bool stop;

	struct connection connection;
	struct backoff backoff;
	uint64_t retry_nsec;	 /* when to connect next */
	uint64_t connected_nsec; /* when this connection came about */
	uint32_t connections;
	bool hello_sent;

	uint64_t sample_nsec;	 /* when the SM's state is due to be sampled */
	uint64_t heartbeat_nsec; /* when the next heartbeat is due */

	uint64_t sent_control, sent_bulk;
	uint64_t absent_control, absent_bulk;

	/* DROPS: what the last one said, when the counters were last seen unchanged, and when the
	 * next may go out. */
	uint64_t told_control, told_bulk;
	uint64_t seen_control, seen_bulk;
	uint64_t quiet_nsec, first_drop_nsec, last_drop_nsec;
	uint64_t drops_nsec;

	struct snapshot_store store;
	bool resent;	      /* the next one to send was taken before this connection */
	uint64_t known;	      /* generation that this connection has, 0 none */
	uint64_t parcel_nsec; /* no memory for a snapshot: not before then */

	/* What HELLO says and does not change. */
	struct ibsm_wire_hello identity;
};

static struct ibsm_wire_ring_counts counts(struct ring *ring, uint64_t sent, uint64_t absent)
{
	return (struct ibsm_wire_ring_counts){
		.raised = ring_raised(ring),
		.sent = sent,
		.dropped_full = ring_dropped(ring),
		.dropped_absent = absent,
	};
}

static void disconnect(struct sender *s, uint64_t now)
{
	connection_close(&s->connection);
	s->retry_nsec = now + backoff_lost(&s->backoff, now - s->connected_nsec);
}

static void try_connect(struct sender *s, uint64_t now)
{
	if (now < s->retry_nsec)
		return;
	if (connection_open(&s->connection, s->plugin->options.socket_path) < 0) {
		s->retry_nsec = now + backoff_failed(&s->backoff);
		return;
	}
	s->connected_nsec = now;
	s->connections++;
	s->hello_sent = false;
	s->known = 0;
	s->resent = s->store.generation != 0;
	s->parcel_nsec = 0;
	s->heartbeat_nsec = now;
}

static int send_hello(struct sender *s)
{
	osm_opensm_t *osm = s->plugin->osm;
	const osm_subn_opt_t *opt = &osm->subn.opt;
	struct capture_time now = capture_now();
	struct ibsm_wire_hello hello = s->identity;
	int r;

	capture_header(&hello.header, IBSM_WIRE_HELLO, &now);
	hello.first_sequence = s->connection.sequence + 2;
	hello.connection = s->connections;
	hello.generation = s->store.generation;
	hello.sm_port_guid = cl_ntoh64(OSM_READ(osm->subn.sm_port_guid));
	hello.subnet_prefix = cl_ntoh64(OSM_READ(opt->subnet_prefix));
	hello.sweep_interval_sec = OSM_READ(opt->sweep_interval);
	hello.sminfo_polling_timeout_msec = OSM_READ(opt->sminfo_polling_timeout);
	hello.polling_retry_number = OSM_READ(opt->polling_retry_number);
	hello.sm_state = capture_state_now(osm);
	hello.sm_priority = OSM_READ(opt->sm_priority);
	hello.lmc = OSM_READ(opt->lmc);
	if (s->plugin->options.snapshots)
		hello.hello_flags |= IBSM_HELLO_SNAPSHOTS;
	if (OSM_READ(opt->perfmgr))
		hello.hello_flags |= IBSM_HELLO_PERFMGR;
	if (OSM_READ(opt->qos))
		hello.hello_flags |= IBSM_HELLO_QOS;
	if (OSM_READ(opt->daemon))
		hello.hello_flags |= IBSM_HELLO_DAEMON;

	r = connection_send(&s->connection, &hello.header, -1);
	if (r > 0)
		s->hello_sent = true;
	return r;
}

static int send_heartbeat(struct sender *s, uint64_t now_nsec)
{
	struct plugin *plugin = s->plugin;
	osm_opensm_t *osm = plugin->osm;
	struct capture_time now = capture_now();
	struct ibsm_wire_heartbeat heartbeat = {
		.control = counts(&plugin->control, s->sent_control, s->absent_control),
		.bulk = counts(&plugin->bulk, s->sent_bulk, s->absent_bulk),
		.zero_deltas = atomic_load(&plugin->zero_deltas),
		.unknown_events = atomic_load(&plugin->unknown_events),
		.snapshots_taken = atomic_load(&plugin->snapshots.taken),
		.snapshots_skipped = atomic_load(&plugin->snapshots.skipped),
		.snapshot_lock_nsec = atomic_load(&plugin->snapshots.lock_nsec),
		.snapshot_lock_max_nsec = atomic_load(&plugin->snapshots.lock_max_nsec),
		.callback_nsec = atomic_load(&plugin->callback_nsec),
		.qp0_mads_sent = (uint32_t)OSM_READ(osm->stats.qp0_mads_sent),
		.qp0_mads_rcvd = (uint32_t)OSM_READ(osm->stats.qp0_mads_rcvd),
		.sm_port_guid = cl_ntoh64(OSM_READ(osm->subn.sm_port_guid)),
		.qp0_mads_outstanding = (uint32_t)OSM_READ(osm->stats.qp0_mads_outstanding),
		.qp0_mads_outstanding_on_wire =
			(uint32_t)OSM_READ(osm->stats.qp0_mads_outstanding_on_wire),
		.sm_state = capture_state_now(osm),
	};
	int r;

	capture_header(&heartbeat.header, IBSM_WIRE_HEARTBEAT, &now);
	r = connection_send(&s->connection, &heartbeat.header, -1);
	if (r > 0)
		s->heartbeat_nsec = now_nsec + HEARTBEAT_NSEC;
	return r;
}

static bool snapshot_due(const struct sender *s, uint64_t now)
{
	return s->store.generation != s->known && now >= s->parcel_nsec;
}

static int send_snapshot(struct sender *s, uint64_t now_nsec)
{
	struct capture_time taken = {s->store.monotonic_nsec, s->store.realtime_nsec};
	struct ibsm_wire_snapshot record = {0};
	struct snapshot_parcel parcel;
	int r;

	r = snapshot_store_parcel(&s->store, s->known, &parcel);
	if (r < 0) {
		s->parcel_nsec = now_nsec + PARCEL_NSEC;
		return 1;
	}
	capture_header(&record.header, IBSM_WIRE_SNAPSHOT, &taken);
	record.generation = s->store.generation;
	record.size_bytes = parcel.size_bytes;
	record.lock_nsec = s->store.lock_nsec;
	record.reason = s->resent ? IBSM_SNAPSHOT_RECONNECT : s->store.reason;
	record.full = parcel.full;
	r = connection_send(&s->connection, &record.header, parcel.fd);
	if (r == -ETOOMANYREFS) {
		s->parcel_nsec = now_nsec + PARCEL_NSEC;
		return 1;
	}
	if (r > 0) {
		s->known = s->store.generation;
		s->resent = false;
	}
	return r;
}

/* Between two looks at the counters lies the moment of a drop. */
static void look_at_drops(struct sender *s, uint64_t now)
{
	uint64_t control = ring_dropped(&s->plugin->control) + s->absent_control;
	uint64_t bulk = ring_dropped(&s->plugin->bulk) + s->absent_bulk;

	if (control != s->seen_control || bulk != s->seen_bulk) {
		if (s->seen_control == s->told_control && s->seen_bulk == s->told_bulk)
			s->first_drop_nsec = s->quiet_nsec;
		s->last_drop_nsec = now;
		s->seen_control = control;
		s->seen_bulk = bulk;
	}
	s->quiet_nsec = now;
}

static bool drops_untold(const struct sender *s)
{
	return s->seen_control != s->told_control || s->seen_bulk != s->told_bulk;
}

static int send_drops(struct sender *s, uint64_t now_nsec)
{
	struct plugin *plugin = s->plugin;
	struct capture_time now = capture_now();
	struct ibsm_wire_drops drops = {
		.control = counts(&plugin->control, s->sent_control, s->absent_control),
		.bulk = counts(&plugin->bulk, s->sent_bulk, s->absent_bulk),
		.since_control = s->seen_control - s->told_control,
		.since_bulk = s->seen_bulk - s->told_bulk,
		.first_monotonic_nsec = s->first_drop_nsec,
		.last_monotonic_nsec = s->last_drop_nsec,
	};
	int r;

	capture_header(&drops.header, IBSM_WIRE_DROPS, &now);
	r = connection_send(&s->connection, &drops.header, -1);
	if (r > 0) {
		s->told_control = s->seen_control;
		s->told_bulk = s->seen_bulk;
		s->drops_nsec = now_nsec + DROPS_NSEC;
	}
	return r;
}

/* Control records that were raised before `before_nsec`. Returns how many, or negative errno. */
static int send_control(struct sender *s, uint64_t before_nsec)
{
	int total = 0, r;

	do {
		r = connection_send_ring(&s->connection, &s->plugin->control, before_nsec);
		if (r < 0)
			return r;
		s->sent_control += (uint64_t)r;
		total += r;
	} while (r > 0 && !s->connection.blocked);
	return total;
}

/* Control records first; bulk ones in the gaps. Returns how many, or negative errno. */
static int send_records(struct sender *s)
{
	int total = 0;

	for (int i = 0; i < ROUND_BATCHES && !s->connection.blocked; i++) {
		int control, bulk;

		control = send_control(s, UINT64_MAX);
		if (control < 0)
			return control;
		total += control;
		if (s->connection.blocked)
			break;
		bulk = connection_send_ring(&s->connection, &s->plugin->bulk, UINT64_MAX);
		if (bulk < 0)
			return bulk;
		s->sent_bulk += (uint64_t)bulk;
		total += bulk;
		if (control + bulk == 0)
			break;
	}
	return total;
}

/* All that can be sent now. Returns records sent, or negative errno: the daemon is gone. */
static int work(struct sender *s, uint64_t now)
{
	int r;

	if (!s->hello_sent) {
		r = send_hello(s);
		if (r <= 0)
			return r;
	}
	if (snapshot_due(s, now)) {
		/* What led to it comes first, but on a new connection nothing does. */
		r = s->resent ? 0 : send_control(s, s->store.monotonic_nsec);
		if (r < 0 || s->connection.blocked)
			return r;
		r = send_snapshot(s, now);
		if (r <= 0)
			return r;
	}
	if (now >= s->heartbeat_nsec) {
		r = send_heartbeat(s, now);
		if (r <= 0)
			return r;
	}
	if (drops_untold(s) && now >= s->drops_nsec) {
		r = send_drops(s, now);
		if (r <= 0)
			return r;
	}
	return send_records(s);
}

/* Make room in a ring that nobody reads; an eighth at a time, so that it is not done for each
 * record. */
static uint64_t make_room(struct ring *ring)
{
	uint64_t n = 0;

	if (ring_used(ring) <= ring_high_water(ring))
		return 0;
	while (n < ring_capacity(ring) / 8 && ring_peek(ring, n))
		n++;
	ring_consume(ring, n);
	return n;
}

static bool can_send(const struct sender *s)
{
	return s->connection.fd >= 0 && !s->connection.blocked;
}

/* Is there something that the announced way of sleeping should not sleep through? */
static bool work_waits(struct sender *s, enum wake_mode mode)
{
	struct plugin *plugin = s->plugin;

	if (atomic_load(&s->stop) || snapshots_pending(&plugin->snapshots))
		return true;
	if (mode == WAKE_ANY)
		return ring_peek(&plugin->control, 0) || ring_peek(&plugin->bulk, 0);
	return ring_used(&plugin->control) > ring_high_water(&plugin->control) ||
	       ring_used(&plugin->bulk) > ring_high_water(&plugin->bulk);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t next_timer(const struct sender *s)
{
	uint64_t next = s->sample_nsec;

	if (s->connection.fd < 0)
		return earlier(next, s->retry_nsec);
	if (!s->connection.blocked) {
		next = earlier(next, s->heartbeat_nsec);
		if (drops_untold(s))
			next = earlier(next, s->drops_nsec);
		if (s->store.generation != s->known)
			next = earlier(next, s->parcel_nsec);
	}
	return next;
}

static void sleep_until(struct sender *s, uint64_t until)
{
	uint64_t now = capture_now().monotonic_nsec;
	uint64_t nsec = until > now ? until - now : 0;
	struct timespec timeout = {.tv_sec = (time_t)(nsec / 1000000000u),
				   .tv_nsec = (long)(nsec % 1000000000u)};
	struct pollfd fds[2] = {
		{.fd = s->plugin->wake.fd, .events = POLLIN},
		{.fd = s->connection.fd, .events = POLLRDHUP},
	};

	if (s->connection.blocked)
		fds[1].events |= POLLOUT;
	if (ppoll(fds, 2, &timeout, NULL) <= 0)
		return;
	if (fds[0].revents & POLLIN)
		wake_up(&s->plugin->wake);
	if (fds[1].revents & POLLOUT)
		s->connection.blocked = false;
	if (fds[1].revents & (POLLERR | POLLHUP | POLLRDHUP))
		disconnect(s, capture_now().monotonic_nsec);
}

static void sleep_well(struct sender *s, int sent)
{
	enum wake_mode mode = can_send(s) ? WAKE_ANY : WAKE_HIGH_WATER;

	if (sent > 0 && can_send(s)) {
		sleep_until(s, earlier(next_timer(s), capture_now().monotonic_nsec + NAP_NSEC));
		return;
	}
	wake_announce(&s->plugin->wake, mode);
	if (!work_waits(s, mode))
		sleep_until(s, next_timer(s));
	wake_up(&s->plugin->wake);
}

/* Whether a daemon is there or not: the buffer is wanted back, and the fd kept for one that comes.
 */
static void take_up_snapshot(struct sender *s)
{
	struct snapshots *snapshots = &s->plugin->snapshots;
	struct snapshot_buffer *buffer = snapshots_receive(snapshots);
	int r;

	if (!buffer)
		return;
	r = snapshot_store_add(&s->store, buffer);
	if (r > 0)
		s->resent = false;
	snapshots_return(snapshots, buffer, r < 0);
}

static int one_round(struct sender *s)
{
	struct capture_time time = capture_now();
	uint64_t now = time.monotonic_nsec;
	int sent = 0;

	if (now >= s->sample_nsec) {
		report_sm_state(s->plugin, &time);
		s->sample_nsec = now + SAMPLE_NSEC;
	}
	look_at_drops(s, now);
	take_up_snapshot(s);
	if (s->connection.fd < 0)
		try_connect(s, now);
	if (can_send(s)) {
		sent = work(s, now);
		if (sent < 0)
			disconnect(s, now);
	}
	if (!can_send(s)) {
		s->absent_control += make_room(&s->plugin->control);
		s->absent_bulk += make_room(&s->plugin->bulk);
	}
	return sent;
}

/* The last words, as far as they can be said without waiting long. */
static void flush(struct sender *s)
{
	uint64_t deadline = capture_now().monotonic_nsec + FLUSH_NSEC;

	while (s->connection.fd >= 0) {
		uint64_t now = capture_now().monotonic_nsec;
		int sent;

		if (now >= deadline)
			break;
		if (s->connection.blocked) {
			sleep_until(s, deadline);
			continue;
		}
		look_at_drops(s, now);
		sent = work(s, now);
		if (sent < 0 || (sent == 0 && !s->connection.blocked)) {
			if (sent == 0)
				send_heartbeat(s, now);
			break;
		}
	}
	connection_close(&s->connection);
}

static void *run(void *data)
{
	struct sender *s = data;

	prctl(PR_SET_NAME, "ibsm-sender");
	while (!atomic_load(&s->stop))
		sleep_well(s, one_round(s));
	flush(s);
	return NULL;
}

static int start_thread(struct sender *s)
{
	sigset_t all, old;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	r = pthread_create(&s->thread, NULL, run, s);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (r != 0)
		return -r;
	s->started = true;
	return 0;
}

/* "xxxxxxxx-xxxx-…" as 16 bytes; zeros when there is none to read. */
static void read_boot_id(uint8_t ret_id[16])
{
	_cleanup_close_ int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	char text[64];
	ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
	unsigned int nibbles = 0;

	memset(ret_id, 0, 16);
	for (ssize_t i = 0; i < n && nibbles < 32; i++) {
		char c = text[i];
		unsigned int v;

		if (c >= '0' && c <= '9')
			v = (unsigned int)(c - '0');
		else if (c >= 'a' && c <= 'f')
			v = (unsigned int)(c - 'a') + 10;
		else
			continue;
		ret_id[nibbles / 2] |= (uint8_t)(nibbles % 2 ? v : v << 4);
		nibbles++;
	}
}

static void fill_string(char *field, size_t bytes, const char *text)
{
	if (text)
		memcpy(field, text, strnlen(text, bytes - 1));
}

/* On the main thread, before opensm's other threads: strings of opensm's may be read here. Neither
 * of them changes later (opensm re-reads its configuration, but not these). */
static void fill_identity(struct sender *s)
{
	struct plugin *plugin = s->plugin;
	struct ibsm_wire_hello *identity = &s->identity;
	char host_name[sizeof(identity->host_name)] = "";

	if (getrandom(&identity->instance, sizeof(identity->instance), GRND_NONBLOCK) !=
	    sizeof(identity->instance))
		identity->instance = capture_now().realtime_nsec ^ (uint64_t)getpid() << 48;
	read_boot_id(identity->boot_id);
	identity->start_realtime_nsec = capture_now().realtime_nsec;
	identity->pid = (uint32_t)getpid();
	identity->ring_records_control = (uint32_t)ring_capacity(&plugin->control);
	identity->ring_records_bulk = (uint32_t)ring_capacity(&plugin->bulk);
	fill_string(identity->plugin_version, sizeof(identity->plugin_version), PACKAGE_VERSION);
	fill_string(identity->opensm_version, sizeof(identity->opensm_version),
		    plugin->osm->osm_version);
	if (gethostname(host_name, sizeof(host_name) - 1) == 0)
		fill_string(identity->host_name, sizeof(identity->host_name), host_name);
	fill_string(identity->routing_engines, sizeof(identity->routing_engines),
		    plugin->osm->subn.opt.routing_engine_names);
}

int sender_new(struct plugin *plugin, struct sender **ret_sender)
{
	struct sender *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	s->plugin = plugin;
	s->connection.fd = -1;
	fill_identity(s);
	backoff_init(&s->backoff, s->identity.instance);
	snapshot_store_init(&s->store, s->identity.instance);
	s->quiet_nsec = capture_now().monotonic_nsec;

	r = start_thread(s);
	if (r < 0) {
		sender_free(s);
		return r;
	}
	*ret_sender = s;
	return 0;
}

struct sender *sender_free(struct sender *s)
{
	if (!s)
		return NULL;
	if (s->started) {
		atomic_store(&s->stop, true);
		wake_always(&s->plugin->wake);
		pthread_join(s->thread, NULL);
	}
	snapshot_store_clear(&s->store);
	free(s);
	return NULL;
}
