// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Fuzzes what ibsmd makes of a plugin's records: connections, stories, events, snapshots.

/*
 * The input is a list of steps, each an operation byte (low four bits: what; high four: to which of
 * CONNECTIONS connections) and its operands:
 *   0  connect
 *   1  close
 *   2  a datagram: length (two bytes), then its bytes as they are
 *   3  a record: type (one byte: see types[]), length of what follows (one byte), and bytes that
 * are copied over the body; header and sequence are sound 4  a snapshot of a small tree: length
 * (one byte), then triples of a place (two bytes) and a value that is put there 5  let the daemon
 * work Everything else is skipped.
 */

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/alerts.h"
#include "daemon/manager.h"
#include "tests/lib/snapshot-build.h"
#include "util/cleanup.h"

#define CONNECTIONS 3
#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition))                                                                  \
			abort();                                                                   \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint16_t types[] = {
	IBSM_WIRE_HELLO,
	IBSM_WIRE_HEARTBEAT,
	IBSM_WIRE_DROPS,
	IBSM_WIRE_SM_STATE,
	IBSM_WIRE_HEAVY_SWEEP_START,
	IBSM_WIRE_HEAVY_SWEEP_DONE,
	IBSM_WIRE_UCAST_ROUTING_DONE,
	IBSM_WIRE_SUBNET_UP,
	IBSM_WIRE_STATE_CHANGE,
	IBSM_WIRE_SA_DB_DUMPED,
	IBSM_WIRE_TRAP,
	IBSM_WIRE_LFT_CHANGE,
	IBSM_WIRE_PORT_ERRORS,
	IBSM_WIRE_PORT_DATA_COUNTERS,
	IBSM_WIRE_PORT_SELECT,
};

struct input {
	const uint8_t *data;
	size_t size;
};

struct connection {
	int fd;
	uint64_t sequence;
};

static struct build_bytes tree;
static uint64_t tree_sm_guid;

static uint8_t take_byte(struct input *in)
{
	if (!in->size)
		return 0;
	in->size--;
	return *in->data++;
}

static const uint8_t *take_bytes(struct input *in, size_t *length)
{
	const uint8_t *bytes = in->data;

	if (*length > in->size)
		*length = in->size;
	in->data += *length;
	in->size -= *length;
	return bytes;
}

static void make_tree(void)
{
	struct builder *b = build_tree2(2, 1, 2, 1);

	b->header.generation = 1;
	tree_sm_guid = b->nodes[3].ports[0].row.port_guid;
	tree = build_write(b, 0);
	build_free(b);
}

static void start(struct manager *m)
{
	*m = (struct manager){.lock_fd = -1, .ingest.fd = -1};
	log_set_max(-1);
	CHECK(conf_init(&m->conf) == 0);
	CHECK(sd_event_new(&m->event) >= 0);
	CHECK(events_init(&m->events, 64, 1) == 0);
	CHECK(sweeps_init(&m->sweeps, 4) == 0);
	CHECK(worker_new(m->event, &m->worker) == 0);
	CHECK(health_start(m) == 0);
	m->state.next_event = 1;
}

static void end(struct manager *m)
{
	ingest_stop(m);
	m->worker = worker_free(m->worker);
	CHECK(m->events.kept <= 64 && m->sweeps.kept <= 4);
	health_stop(m);
	sweeps_clear(&m->sweeps);
	events_clear(&m->events);
	fabric_unref(m->fabric);
	sd_event_unref(m->event);
	conf_clear(&m->conf);
}

static void work(struct manager *m)
{
	bool pending;

	do {
		while (sd_event_run(m->event, 0) > 0)
			continue;
		pending = false;
		for (const struct plugin *p = m->ingest.plugins; p; p = p->next)
			pending |= p->snapshots_pending > 0;
		if (pending)
			CHECK(sd_event_run(m->event, UINT64_MAX) >= 0);
	} while (pending);
	health_tick(m);
	json_decref(alerts_json(m, true, SIZE_MAX));
}

static void send_bytes(struct connection *c, const void *bytes, size_t length, int fd)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {0};
	struct iovec iov = {.iov_base = (void *)bytes, .iov_len = length};
	struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1};

	if (fd >= 0) {
		struct cmsghdr *cmsg;

		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
		cmsg = CMSG_FIRSTHDR(&message);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(cmsg), &fd, sizeof(int));
	}
	/* It may be closed, or full. */
	if (sendmsg(c->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return;
}

static void fill_header(struct connection *c, union ibsm_wire_record *record, uint16_t type)
{
	record->header = (struct ibsm_wire_header){
		.magic = IBSM_WIRE_MAGIC,
		.version = IBSM_WIRE_VERSION,
		.type = type,
		.length = ibsm_wire_length(type),
		.sequence = ++c->sequence,
		.monotonic_nsec = c->sequence * 1000000,
		.realtime_nsec = c->sequence * 1000000,
	};
}

static void send_record(struct input *in, struct connection *c, unsigned which)
{
	uint16_t type = types[take_byte(in) % ELEMENTSOF(types)];
	union ibsm_wire_record record = {0};
	size_t length = take_byte(in), room = ibsm_wire_length(type) - sizeof(record.header);
	const uint8_t *bytes = take_bytes(in, &length);

	fill_header(c, &record, type);
	if (type == IBSM_WIRE_HELLO) {
		record.hello.instance = 1 + which;
		record.hello.connection = 1;
		record.hello.subnet_prefix = 1;
		record.hello.sm_state = IBSM_SM_MASTER;
		record.hello.sm_port_guid = tree_sm_guid;
	}
	memcpy((char *)&record + sizeof(record.header), bytes, length < room ? length : room);
	send_bytes(c, &record, record.header.length, -1);
}

static void send_snapshot(struct input *in, struct connection *c)
{
	size_t length = take_byte(in);
	const uint8_t *bytes = take_bytes(in, &length);
	union ibsm_wire_record record = {0};
	unsigned char *copy = malloc(tree.size);
	_cleanup_close_ int fd = -1;

	CHECK(copy);
	memcpy(copy, tree.bytes, tree.size);
	for (size_t i = 0; i + 3 <= length; i += 3)
		copy[(bytes[i] | (size_t)bytes[i + 1] << 8) % tree.size] = bytes[i + 2];
	fd = build_memfd((struct build_bytes){copy, tree.size}, BUILD_SEALS);
	free(copy);
	CHECK(fd >= 0);
	fill_header(c, &record, IBSM_WIRE_SNAPSHOT);
	record.snapshot.generation = 1;
	record.snapshot.size_bytes = tree.size;
	record.snapshot.full = 1;
	send_bytes(c, &record, record.header.length, fd);
}

static void connect_one(struct manager *m, struct connection *c)
{
	unsigned n = 0;
	int fds[2];

	for (const struct plugin *p = m->ingest.plugins; p; p = p->next)
		n++;
	if (c->fd >= 0 || n >= IBSM_PLUGINS_MAX)
		return;
	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) == 0);
	CHECK(ingest_add(m, fds[0], 1) == 0);
	c->fd = fds[1];
}

static void step(struct manager *m, struct input *in, struct connection connections[CONNECTIONS])
{
	uint8_t op = take_byte(in);
	unsigned which = (op >> 4) % CONNECTIONS;
	struct connection *c = &connections[which];
	const uint8_t *bytes;
	size_t length;

	switch (op & 15) {
	case 0:
		connect_one(m, c);
		break;
	case 1:
		closep(&c->fd);
		c->fd = -1;
		break;
	case 2:
		length = take_byte(in);
		length |= (size_t)take_byte(in) << 8;
		bytes = take_bytes(in, &length);
		if (c->fd >= 0)
			send_bytes(c, bytes, length, -1);
		break;
	case 3:
		send_record(in, c, which);
		break;
	case 4:
		if (c->fd >= 0)
			send_snapshot(in, c);
		break;
	case 5:
		work(m);
		break;
	default:
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct connection connections[CONNECTIONS];
	struct input in = {data, size};
	struct manager m;

	if (!tree.bytes)
		make_tree();
	for (unsigned i = 0; i < CONNECTIONS; i++)
		connections[i] = (struct connection){.fd = -1};
	start(&m);
	while (in.size)
		step(&m, &in, connections);
	work(&m);
	for (unsigned i = 0; i < CONNECTIONS; i++)
		closep(&connections[i].fd);
	work(&m);
	CHECK(!m.ingest.plugins);
	end(&m);
	return 0;
}
