// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// A daemon inside a test: listens on plugin.sock, reads at the test's pace, checks and counts.

#include "peer.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_nsec(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static uint64_t now_msec(void)
{
	return now_nsec() / 1000000;
}

static void note_empty(struct peer *peer)
{
	uint64_t now = now_nsec();

	if (now - peer->emptied_nsec > peer->behind_nsec)
		peer->behind_nsec = now - peer->emptied_nsec;
	peer->emptied_nsec = now;
}

__attribute__((format(printf, 2, 3))) static int complain(struct peer *peer, const char *format,
							  ...)
{
	va_list args;

	va_start(args, format);
	if (peer->complaint[0] == '\0')
		vsnprintf(peer->complaint, sizeof(peer->complaint), format, args);
	va_end(args);
	return -1;
}

void peer_init(struct peer *peer, const char *path)
{
	*peer = (struct peer){.listen_fd = -1, .fd = -1};
	snprintf(peer->path, sizeof(peer->path), "%s", path);
}

void peer_hang_up(struct peer *peer)
{
	if (peer->fd >= 0)
		close(peer->fd);
	peer->fd = -1;
	peer->snapshot = snapshot_unref(peer->snapshot);
}

/* The listener first: a plugin that is hung up on calls again at once. */
void peer_die(struct peer *peer)
{
	if (peer->listen_fd >= 0) {
		close(peer->listen_fd);
		unlink(peer->path);
	}
	peer->listen_fd = -1;
	peer_hang_up(peer);
}

void peer_clear(struct peer *peer)
{
	peer_die(peer);
}

void peer_listen(struct peer *peer)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	memcpy(address.sun_path, peer->path, sizeof(address.sun_path));
	unlink(peer->path);
	peer->listen_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (peer->listen_fd < 0 ||
	    bind(peer->listen_fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(peer->listen_fd, 8) < 0) {
		perror(peer->path);
		abort();
	}
}

static bool wait_for(int fd, int msec)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, msec) > 0;
}

bool peer_accept(struct peer *peer, int msec)
{
	if (!wait_for(peer->listen_fd, msec))
		return false;
	peer->fd = accept4(peer->listen_fd, NULL, NULL, SOCK_CLOEXEC);
	if (peer->fd < 0)
		return false;
	peer->records = 0;
	peer->emptied_nsec = now_nsec();
	peer->behind_nsec = 0;
	return true;
}

static int check_order(struct peer *peer, uint64_t id, uint64_t value, uint64_t *next)
{
	if (id >= PEER_PRODUCERS)
		return 0;
	if (value < next[id])
		return complain(peer, "producer %llu: %llu after %llu", (unsigned long long)id,
				(unsigned long long)value, (unsigned long long)next[id] - 1);
	next[id] = value + 1;
	return 0;
}

static int take_snapshot(struct peer *peer, int fd)
{
	struct snapshot_error error = {""};
	struct snapshot *snapshot;
	int r;

	if (fd < 0)
		return complain(peer, "a SNAPSHOT without a descriptor");
	r = snapshot_read(fd, peer->snapshot, &snapshot, &error);
	if (r < 0)
		return complain(peer, "snapshot: %s (%d)", error.text, r);
	snapshot_unref(peer->snapshot);
	peer->snapshot = snapshot;
	if (snapshot->header.generation != peer->last.snapshot.generation ||
	    snapshot->header.size_bytes != peer->last.snapshot.size_bytes ||
	    (snapshot->tables_taken == 0) != peer->last.snapshot.full)
		return complain(peer, "SNAPSHOT says other things than its file");
	return 0;
}

static int take_record(struct peer *peer, size_t bytes, int fd)
{
	const union ibsm_wire_record *r = &peer->last;
	const struct ibsm_wire_header *h = &r->header;

	if (bytes < sizeof(*h) || h->magic != IBSM_WIRE_MAGIC || h->version != IBSM_WIRE_VERSION ||
	    h->length != bytes || ibsm_wire_length(h->type) != bytes || h->flags != 0)
		return complain(peer, "no record: %zu bytes", bytes);
	if ((h->type == IBSM_WIRE_HELLO) != (peer->records == 0))
		return complain(peer, "HELLO is not the first record, or not the only one");
	if (peer->records > 0 && h->sequence != peer->sequence + 1)
		return complain(peer, "sequence %llu after %llu", (unsigned long long)h->sequence,
				(unsigned long long)peer->sequence);
	if (peer->records == 0 && h->sequence <= peer->sequence)
		return complain(peer, "a sequence number came twice");
	if (fd >= 0 && h->type != IBSM_WIRE_SNAPSHOT)
		return complain(peer, "a descriptor with type %u", h->type);
	peer->sequence = h->sequence;
	peer->records++;
	peer->by_type[h->type]++;

	switch (h->type) {
	case IBSM_WIRE_HELLO:
		peer->hello = r->hello;
		if (r->hello.first_sequence != h->sequence + 1)
			return complain(peer, "first_sequence");
		return 0;
	case IBSM_WIRE_HEARTBEAT:
		peer->heartbeat = r->heartbeat;
		peer->heartbeats++;
		return 0;
	case IBSM_WIRE_DROPS:
		peer->drops_control += r->drops.since_control;
		peer->drops_bulk += r->drops.since_bulk;
		if (r->drops.first_monotonic_nsec > r->drops.last_monotonic_nsec)
			return complain(peer, "DROPS: the first is after the last");
		return 0;
	case IBSM_WIRE_SNAPSHOT:
		return take_snapshot(peer, fd);
	case IBSM_WIRE_TRAP:
		peer->control++;
		if (r->trap.number != TRAP_OF_PRODUCERS)
			return 0;
		return check_order(peer, r->trap.guid >> 48, r->trap.guid & 0xffffffffffff,
				   peer->next_trap);
	case IBSM_WIRE_PORT_ERRORS:
		peer->bulk++;
		return check_order(peer, r->port_errors.node_guid, r->port_errors.symbol_err_cnt,
				   peer->next_errors);
	case IBSM_WIRE_LFT_CHANGE:
	case IBSM_WIRE_PORT_DATA_COUNTERS:
	case IBSM_WIRE_PORT_SELECT:
		peer->bulk++;
		return 0;
	default:
		peer->control++;
		return 0;
	}
}

int peer_read(struct peer *peer, int msec)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = {.iov_base = &peer->last, .iov_len = sizeof(peer->last)};
	struct msghdr message = {.msg_iov = &iov,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};
	int fd = -1, r;
	ssize_t n;

	n = recvmsg(peer->fd, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	if (n < 0 && errno == EAGAIN) {
		bool more;

		note_empty(peer);
		more = wait_for(peer->fd, msec);
		peer->emptied_nsec = now_nsec();
		if (!more)
			return 0;
		n = recvmsg(peer->fd, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	}
	if (n <= 0)
		return -1;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c))
		if (c->cmsg_type == SCM_RIGHTS)
			memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	r = take_record(peer, (size_t)n, fd);
	if (fd >= 0)
		close(fd);
	return r < 0 ? -1 : 1;
}

static bool settled(const struct ibsm_wire_ring_counts *c, uint64_t raised)
{
	return c->raised >= raised && c->raised == c->sent + c->dropped_full + c->dropped_absent;
}

bool peer_settle(struct peer *peer, uint64_t control, uint64_t bulk, int msec)
{
	uint64_t deadline = now_msec() + (uint64_t)msec, heartbeats = peer->heartbeats;

	while (now_msec() < deadline) {
		if (peer_read(peer, 100) < 0)
			return false;
		if (peer->heartbeats == heartbeats)
			continue;
		heartbeats = peer->heartbeats;
		if (settled(&peer->heartbeat.control, control) &&
		    settled(&peer->heartbeat.bulk, bulk))
			return true;
	}
	return false;
}

bool peer_read_until(struct peer *peer, uint16_t type, int msec)
{
	uint64_t deadline = now_msec() + (uint64_t)msec;

	while (now_msec() < deadline) {
		int r = peer_read(peer, 100);

		if (r < 0)
			return false;
		if (r > 0 && peer->last.header.type == type)
			return true;
	}
	return false;
}
