// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// ibsm-probe's loop on a made-up libibumad: each order is answered once, whatever the fabric does.
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <infiniband/umad.h>
#include <infiniband/umad_sm.h>
#include <infiniband/umad_types.h>

#include "probe/get.h"
#include "probe/ports.h"
#include "probe/serve.h"
#include "util/cleanup.h"

/* ---- a fabric: what becomes of a Get says its LID ---- */

enum {
	LID_ANSWERS = 1,  /* and those up to 99 */
	LID_SILENT = 100, /* neither an answer nor the kernel's time-out, as under umad2sim */
	LID_TIMEOUT = 200,
	LID_ERROR = 201,
	LID_REFUSES = 300,
	LID_OTHER_ANSWER = 301,
	LID_SHORT_ANSWER = 302,
	LID_SEND_FAILS = 400,
	LID_SEND_PORT_GONE = 401,
	LID_HELD = 500, /* and above: answered when released */
};

#define FAKE_FD 1024
#define QUEUE 64

static struct {
	pthread_mutex_t lock;
	pthread_cond_t came;
	union get_buffer queue[QUEUE];
	int lengths[QUEUE];
	unsigned int first, count;
	union get_buffer held[QUEUE];
	unsigned int held_count;
	unsigned int sent, opened, closed, agents;
	bool gone;    /* the device: receives fail */
	bool guarded; /* each call came under an alarm */
	bool simulator;
	bool local_silent;
	int open_error;
	const void *received_into;
	struct ibsm_probe_port ports[2];
	int port_count; /* negative: no device */
} fabric;

static void fabric_init(void)
{
	memset(&fabric, 0, sizeof(fabric));
	pthread_mutex_init(&fabric.lock, NULL);
	pthread_cond_init(&fabric.came, NULL);
	fabric.guarded = true;
	fabric.port_count = 1;
	for (unsigned int i = 0; i < 2; i++)
		fabric.ports[i] = (struct ibsm_probe_port){
			.port_guid = 0xa0 + i,
			.ca_name = {'f', 'a', 'k', 'e', (char)('0' + i)},
			.port = 1,
			.state = 2,
			.physical_state = 5,
			.link_layer = IBSM_PROBE_LINK_INFINIBAND,
			.lid = 77,
			.sm_lid = 88,
		};
}

/* Every call into libibumad must be made under an alarm; this one reads and sets it again. */
static void check_guard(void)
{
	const unsigned int left = alarm(0);

	if (left == 0)
		fabric.guarded = false;
	alarm(left);
}

static void push(const union get_buffer *buffer, int length)
{
	const unsigned int i = (fabric.first + fabric.count++) % QUEUE;

	fabric.queue[i] = *buffer;
	fabric.lengths[i] = length;
	pthread_cond_signal(&fabric.came);
}

static void make_answer(union get_buffer *buffer)
{
	struct umad_smp *mad = umad_get_mad(buffer);

	buffer->umad.status = 0;
	mad->method = UMAD_METHOD_GET_RESP;
	memset(mad->data, 0xaa, sizeof(mad->data));
	mad->data[20] = 0x33;
}

/* What libibumad does, made up; the linker finds these before the library's. */
#pragma GCC visibility push(default)

int umad_init(void)
{
	check_guard();
	return 0;
}

size_t umad_size(void)
{
	return sizeof(struct ib_user_mad);
}

void *umad_get_mad(void *umad)
{
	return ((struct ib_user_mad *)umad)->data;
}

int umad_status(void *umad)
{
	return (int)((struct ib_user_mad *)umad)->status;
}

int umad_open_port(const char *ca_name, int portnum)
{
	(void)ca_name;
	(void)portnum;
	check_guard();
	if (fabric.open_error != 0) {
		errno = fabric.open_error;
		return -EIO;
	}
	fabric.opened++;
	return FAKE_FD;
}

int umad_close_port(int portid)
{
	assert_int_equal(portid, FAKE_FD);
	check_guard();
	pthread_mutex_lock(&fabric.lock);
	fabric.closed++;
	fabric.count = 0;
	fabric.held_count = 0;
	fabric.gone = false;
	pthread_mutex_unlock(&fabric.lock);
	return 0;
}

int umad_register(int portid, int mgmt_class, int mgmt_version, uint8_t rmpp_version,
		  long method_mask[16 / sizeof(long)])
{
	(void)portid;
	check_guard();
	assert_int_equal(mgmt_version, 1);
	assert_int_equal(rmpp_version, 0);
	/* With a mask it would be given requests of others. */
	assert_null(method_mask);
	fabric.agents++;
	return mgmt_class;
}

int umad_unregister(int portid, int agentid)
{
	(void)portid;
	(void)agentid;
	fabric.agents--;
	return 0;
}

int umad_get_ca(const char *ca_name, umad_ca_t *ca)
{
	(void)ca_name;
	strcpy(ca->ca_type, fabric.simulator ? "simulator" : "MT4123");
	return 0;
}

int umad_release_ca(umad_ca_t *ca)
{
	(void)ca;
	return 0;
}

int umad_send(int portid, int agentid, void *umad, int length, int timeout_ms, int retries)
{
	union get_buffer buffer = *(const union get_buffer *)umad;
	struct umad_smp *mad = umad_get_mad(&buffer);
	const uint16_t lid = be16toh(buffer.umad.addr.lid);

	assert_int_equal(portid, FAKE_FD);
	assert_int_equal(agentid, mad->mgmt_class);
	assert_int_equal(length, GET_MAD_BYTES);
	assert_int_equal(retries, 0);
	assert_int_equal(mad->method, UMAD_METHOD_GET);
	assert_true(timeout_ms >= IBSM_PROBE_TIMEOUT_MSEC_MIN);
	check_guard();
	/* The upper half of a transaction id is the kernel's. */
	mad->tid |= htobe64(UINT64_C(0xdeadbeef) << 32);

	pthread_mutex_lock(&fabric.lock);
	fabric.sent++;
	if (lid >= LID_HELD && lid != 0xffff) {
		make_answer(&buffer);
		fabric.held[fabric.held_count++] = buffer;
	} else if (lid == LID_TIMEOUT || lid == LID_ERROR) {
		buffer.umad.status = lid == LID_TIMEOUT ? ETIMEDOUT : EHOSTUNREACH;
		push(&buffer, GET_MAD_BYTES);
	} else if (lid == LID_SILENT || (lid == 0xffff && fabric.local_silent)) {
		/* Nothing. */
	} else if (lid == LID_SEND_FAILS || lid == LID_SEND_PORT_GONE) {
		pthread_mutex_unlock(&fabric.lock);
		errno = lid == LID_SEND_FAILS ? ENOMEM : EINVAL;
		return -EIO;
	} else {
		make_answer(&buffer);
		if (lid == LID_REFUSES)
			mad->status = htobe16(UMAD_STATUS_ATTR_NOT_SUPPORTED);
		if (lid == LID_OTHER_ANSWER)
			mad->attr_id = htobe16(UMAD_SM_ATTR_SWITCH_INFO);
		push(&buffer, lid == LID_SHORT_ANSWER ? 24 : GET_MAD_BYTES);
	}
	pthread_mutex_unlock(&fabric.lock);
	return 0;
}

int umad_recv(int portid, void *umad, int *length, int timeout_ms)
{
	struct timespec until;
	int r = 0;

	assert_int_equal(portid, FAKE_FD);
	assert_true(timeout_ms >= 0);
	check_guard();
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += timeout_ms * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;

	pthread_mutex_lock(&fabric.lock);
	while (fabric.count == 0 && !fabric.gone && r == 0)
		r = pthread_cond_timedwait(&fabric.came, &fabric.lock, &until);
	if (fabric.gone) {
		r = -EIO;
		errno = EIO;
	} else if (fabric.count == 0) {
		/* As libibumad tells it: by poll() or, without a wait, by read(). */
		r = timeout_ms > 0 ? -ETIMEDOUT : -EWOULDBLOCK;
		errno = -r;
	} else {
		*(union get_buffer *)umad = fabric.queue[fabric.first];
		*length = fabric.lengths[fabric.first];
		fabric.first = (fabric.first + 1) % QUEUE;
		fabric.count--;
		fabric.received_into = umad;
		r = (int)((struct ib_user_mad *)umad)->agent_id;
	}
	pthread_mutex_unlock(&fabric.lock);
	return r;
}

#pragma GCC visibility pop

int ports_read(struct ibsm_probe_port ret_ports[IBSM_PROBE_PORTS_MAX], uint32_t *ret_count,
	       uint32_t *ret_total)
{
	check_guard();
	if (fabric.port_count < 0)
		return -ENODEV;
	memcpy(ret_ports, fabric.ports, sizeof(fabric.ports));
	*ret_count = *ret_total = (uint32_t)fabric.port_count;
	return 0;
}

int ports_read_one(const char *ca_name, uint8_t port, struct ibsm_probe_port *ret_port)
{
	(void)ca_name;
	(void)port;
	check_guard();
	if (fabric.port_count < 1)
		return -ENODEV;
	*ret_port = fabric.ports[0];
	return 0;
}

static void release_held(void)
{
	pthread_mutex_lock(&fabric.lock);
	for (unsigned int i = 0; i < fabric.held_count; i++)
		push(&fabric.held[i], GET_MAD_BYTES);
	fabric.held_count = 0;
	pthread_mutex_unlock(&fabric.lock);
}

static void take_away_device(void)
{
	pthread_mutex_lock(&fabric.lock);
	fabric.gone = true;
	pthread_cond_signal(&fabric.came);
	pthread_mutex_unlock(&fabric.lock);
}

/* ---- the server in its thread, and its peer ---- */

struct peer {
	pthread_t thread;
	int fd, theirs;
	struct serve_options options;
	int result;
	uint64_t sequence;
	union ibsm_probe_any_reply reply;
};

static void *serve_thread(void *userdata)
{
	struct peer *p = userdata;

	p->result = serve(p->theirs, &p->options);
	close(p->theirs);
	return NULL;
}

static void peer_open_at(struct peer *p, uint32_t mads_per_sec)
{
	/* A reply that never comes fails the test. */
	const struct timeval patience = {.tv_sec = 60};
	int sv[2];

	memset(p, 0, sizeof(*p));
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv), 0);
	assert_int_equal(setsockopt(sv[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)),
			 0);
	p->fd = sv[0];
	p->theirs = sv[1];
	serve_options_init(&p->options);
	p->options.mads_per_sec = mads_per_sec;
	assert_int_equal(pthread_create(&p->thread, NULL, serve_thread, p), 0);
}

static void peer_open(struct peer *p)
{
	peer_open_at(p, IBSM_PROBE_MADS_PER_SEC_MAX);
}

/* The server ends well once its peer is gone, leaves nothing open, and was guarded all the time. */
static void peer_close(struct peer *p)
{
	close(p->fd);
	pthread_join(p->thread, NULL);
	assert_int_equal(p->result, 0);
	assert_int_equal(fabric.opened, fabric.closed);
	assert_int_equal(fabric.agents, 0);
	assert_true(fabric.guarded);
	assert_int_equal(alarm(0), 0);
}

static uint64_t give(struct peer *p, uint16_t type, uint16_t lid, uint8_t port)
{
	struct ibsm_probe_order order;

	ibsm_probe_order_init(&order, type, ++p->sequence);
	order.lid = lid;
	order.port = port;
	order.timeout_msec = type >= IBSM_PROBE_LOCAL ? 50 : 0;
	assert_int_equal(send(p->fd, &order, sizeof(order), MSG_NOSIGNAL), sizeof(order));
	return p->sequence;
}

/* The next reply: its number. */
static uint64_t take(struct peer *p)
{
	const ssize_t n = recv(p->fd, &p->reply, sizeof(p->reply), 0);

	assert_true(n >= (ssize_t)sizeof(p->reply.head));
	assert_int_equal(p->reply.head.header.magic, IBSM_PROBE_MAGIC);
	assert_int_equal(p->reply.head.header.length, n);
	return p->reply.head.header.sequence;
}

static uint16_t ask(struct peer *p, uint16_t type, uint16_t lid)
{
	const uint64_t sequence = give(p, type, lid, 0);

	assert_int_equal(take(p), sequence);
	assert_int_equal(p->reply.head.header.type, IBSM_PROBE_REPLY | type);
	return p->reply.head.result.status;
}

static const struct ibsm_probe_reply_ping *counters(struct peer *p)
{
	assert_int_equal(ask(p, IBSM_PROBE_PING, 0), IBSM_PROBE_OK);
	return &p->reply.ping;
}

/* ---- tests ---- */

static void test_answers(void **state)
{
	struct peer p;

	(void)state;
	fabric_init();
	peer_open(&p);
	assert_string_equal(counters(&p)->version, PACKAGE_VERSION);
	assert_int_equal(p.reply.ping.sent, 0);
	assert_int_equal(fabric.opened, 0);

	assert_int_equal(ask(&p, IBSM_PROBE_SM_INFO, LID_ANSWERS), IBSM_PROBE_OK);
	assert_true(p.reply.sm_info.guid == 0xaaaaaaaaaaaaaaaa);
	assert_int_equal(p.reply.sm_info.priority, 3);
	assert_int_equal(p.reply.sm_info.state, 3);
	assert_int_equal(p.reply.head.result.lid, LID_ANSWERS);
	assert_int_equal(ask(&p, IBSM_PROBE_NODE_INFO, LID_ANSWERS), IBSM_PROBE_OK);
	assert_int_equal(ask(&p, IBSM_PROBE_NODE_DESC, LID_ANSWERS), IBSM_PROBE_OK);
	assert_int_equal(ask(&p, IBSM_PROBE_PORT_INFO, LID_ANSWERS), IBSM_PROBE_OK);
	assert_int_equal(ask(&p, IBSM_PROBE_COUNTERS, LID_ANSWERS), IBSM_PROBE_OK);
	assert_int_equal(ask(&p, IBSM_PROBE_COUNTERS_EXT, LID_ANSWERS), IBSM_PROBE_OK);
	assert_int_equal(ask(&p, IBSM_PROBE_LOCAL, 0), IBSM_PROBE_OK);
	assert_int_equal(p.reply.port_info.source, IBSM_PROBE_SOURCE_MAD);
	assert_int_equal(p.reply.port_info.lid, 0xaaaa);

	assert_int_equal(counters(&p)->sent, 7);
	assert_int_equal(p.reply.ping.answered, 7);
	assert_int_equal(p.reply.ping.outstanding, 0);
	assert_int_equal(fabric.opened, 1);
	peer_close(&p);
}

/* The key is gone from the very buffer that libibumad filled. */
static void test_key_is_wiped(void **state)
{
	struct peer p;
	const union get_buffer *buffer;
	const struct umad_smp *mad;

	(void)state;
	fabric_init();
	peer_open(&p);
	assert_int_equal(ask(&p, IBSM_PROBE_SM_INFO, LID_ANSWERS), IBSM_PROBE_OK);
	buffer = fabric.received_into;
	mad = (const void *)buffer->umad.data;
	for (unsigned int i = 0; i < 8; i++) {
		assert_int_equal(mad->data[i], 0xaa);
		assert_int_equal(mad->data[8 + i], 0);
	}
	peer_close(&p);
}

static void test_failures(void **state)
{
	struct peer p;

	(void)state;
	fabric_init();
	peer_open(&p);
	assert_int_equal(ask(&p, IBSM_PROBE_SM_INFO, LID_TIMEOUT), IBSM_PROBE_TIMEOUT);
	assert_int_equal(p.reply.head.result.error, ETIMEDOUT);
	assert_int_equal(ask(&p, IBSM_PROBE_SM_INFO, LID_ERROR), IBSM_PROBE_RECEIVE_ERROR);
	assert_int_equal(p.reply.head.result.error, EHOSTUNREACH);
	assert_int_equal(ask(&p, IBSM_PROBE_SM_INFO, LID_REFUSES), IBSM_PROBE_MAD_STATUS);
	assert_int_equal(p.reply.head.result.mad_status, UMAD_STATUS_ATTR_NOT_SUPPORTED);
	assert_int_equal(ask(&p, IBSM_PROBE_SM_INFO, LID_OTHER_ANSWER), IBSM_PROBE_BAD_ANSWER);
	assert_int_equal(ask(&p, IBSM_PROBE_SM_INFO, LID_SHORT_ANSWER), IBSM_PROBE_BAD_ANSWER);
	assert_int_equal(ask(&p, IBSM_PROBE_SM_INFO, LID_SEND_FAILS), IBSM_PROBE_SEND_ERROR);
	assert_int_equal(p.reply.head.result.error, ENOMEM);
	assert_int_equal(fabric.closed, 0);
	/* Our own time-out, where the kernel has none. */
	assert_int_equal(ask(&p, IBSM_PROBE_SM_INFO, LID_SILENT), IBSM_PROBE_TIMEOUT);
	assert_int_equal(p.reply.head.result.error, ETIMEDOUT);
	assert_true(p.reply.head.result.round_trip_usec >= 50000);

	assert_int_equal(counters(&p)->timeouts, 2);
	assert_int_equal(p.reply.ping.errors, 4);
	assert_int_equal(p.reply.ping.answered, 1);
	peer_close(&p);
}

static void test_local_falls_back(void **state)
{
	struct peer p;

	(void)state;
	fabric_init();
	fabric.local_silent = true;
	peer_open(&p);
	assert_int_equal(ask(&p, IBSM_PROBE_LOCAL, 0), IBSM_PROBE_OK);
	assert_int_equal(p.reply.port_info.source, IBSM_PROBE_SOURCE_SYSFS);
	assert_int_equal(p.reply.port_info.lid, 77);
	assert_int_equal(p.reply.port_info.sm_lid, 88);
	assert_int_equal(p.reply.head.result.error, ETIMEDOUT);
	peer_close(&p);
}

/* Sends @count held queries of different LIDs and waits until they are out. */
static void hold(struct peer *p, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		give(p, IBSM_PROBE_SM_INFO, (uint16_t)(LID_HELD + i), 0);
	while (counters(p)->outstanding != count)
		;
}

static void test_busy(void **state)
{
	struct peer p;

	(void)state;
	fabric_init();
	peer_open(&p);
	hold(&p, 1);
	assert_int_equal(ask(&p, IBSM_PROBE_SM_INFO, LID_HELD), IBSM_PROBE_BUSY);
	assert_int_equal(p.reply.head.result.detail, IBSM_PROBE_BUSY_TARGET);
	/* Others go on meanwhile, and overtake. */
	assert_int_equal(ask(&p, IBSM_PROBE_SM_INFO, LID_ANSWERS), IBSM_PROBE_OK);
	release_held();
	assert_int_equal(take(&p), 1);
	assert_int_equal(p.reply.head.result.status, IBSM_PROBE_OK);

	hold(&p, IBSM_PROBE_OUTSTANDING_MAX);
	assert_int_equal(ask(&p, IBSM_PROBE_SM_INFO, LID_ANSWERS), IBSM_PROBE_BUSY);
	assert_int_equal(p.reply.head.result.detail, IBSM_PROBE_BUSY_OUTSTANDING);
	release_held();
	for (unsigned int i = 0; i < IBSM_PROBE_OUTSTANDING_MAX; i++) {
		take(&p);
		assert_int_equal(p.reply.head.result.lid, LID_HELD + i);
		assert_int_equal(p.reply.head.result.status, IBSM_PROBE_OK);
	}
	assert_int_equal(counters(&p)->busy, 2);
	peer_close(&p);
}

static void test_pace(void **state)
{
	struct peer p;
	unsigned int sent = 0;

	(void)state;
	fabric_init();
	peer_open_at(&p, 1);
	while (ask(&p, IBSM_PROBE_SM_INFO, LID_ANSWERS) == IBSM_PROBE_OK)
		assert_true(++sent <= IBSM_PROBE_MADS_BURST + 30);
	assert_true(sent >= IBSM_PROBE_MADS_BURST);
	assert_int_equal(p.reply.head.result.status, IBSM_PROBE_BUSY);
	assert_int_equal(p.reply.head.result.detail, IBSM_PROBE_BUSY_PACE);
	assert_int_equal(fabric.sent, sent);
	peer_close(&p);
}

static void test_late_answers(void **state)
{
	struct peer p;

	(void)state;
	fabric_init();
	peer_open(&p);
	give(&p, IBSM_PROBE_SM_INFO, LID_HELD, 0);
	take(&p);
	assert_int_equal(p.reply.head.result.status, IBSM_PROBE_TIMEOUT);
	/* Comes after its time and is not taken for the answer to the next one. */
	release_held();
	assert_int_equal(ask(&p, IBSM_PROBE_NODE_INFO, LID_ANSWERS), IBSM_PROBE_OK);
	assert_int_equal(counters(&p)->late, 1);
	peer_close(&p);
}

static void test_simulator(void **state)
{
	struct peer p;

	(void)state;
	fabric_init();
	fabric.simulator = true;
	peer_open(&p);
	hold(&p, 1);
	assert_int_equal(p.reply.ping.outstanding_max, 1);
	assert_int_equal(ask(&p, IBSM_PROBE_SM_INFO, LID_ANSWERS), IBSM_PROBE_BUSY);
	assert_int_equal(p.reply.head.result.detail, IBSM_PROBE_BUSY_OUTSTANDING);
	release_held();
	take(&p);
	peer_close(&p);
}

static void test_bad_orders(void **state)
{
	struct peer p;
	struct ibsm_probe_order order;

	(void)state;
	fabric_init();
	peer_open(&p);
	assert_int_equal(ask(&p, IBSM_PROBE_SM_INFO, 0), IBSM_PROBE_BAD_ORDER);
	assert_int_equal(p.reply.head.result.detail, IBSM_PROBE_FIELD_LID);
	assert_int_equal(ask(&p, IBSM_PROBE_SM_INFO, 0xffff), IBSM_PROBE_BAD_ORDER);
	assert_int_equal(ask(&p, 0x1234, 1), IBSM_PROBE_BAD_ORDER);
	assert_int_equal(p.reply.head.result.detail, IBSM_PROBE_FIELD_TYPE);

	/* Empty, short and long datagrams; none is taken for an end. */
	assert_int_equal(send(p.fd, "", 0, 0), 0);
	assert_int_equal(take(&p), 0);
	assert_int_equal(p.reply.head.header.type, IBSM_PROBE_REPLY | IBSM_PROBE_NONE);
	assert_int_equal(p.reply.head.result.detail, IBSM_PROBE_FIELD_LENGTH);
	assert_int_equal(send(p.fd, "x", 1, 0), 1);
	take(&p);
	assert_int_equal(p.reply.head.result.detail, IBSM_PROBE_FIELD_LENGTH);
	memset(&p.reply, 0x5a, sizeof(p.reply));
	assert_int_equal(send(p.fd, &p.reply, sizeof(p.reply), 0), sizeof(p.reply));
	take(&p);
	assert_int_equal(p.reply.head.result.detail, IBSM_PROBE_FIELD_MAGIC);
	ibsm_probe_order_init(&order, IBSM_PROBE_SM_INFO, 99);
	order.lid = 1;
	memset(&p.reply, 0, sizeof(p.reply));
	memcpy(&p.reply, &order, sizeof(order));
	assert_int_equal(send(p.fd, &p.reply, sizeof(order) + 100, 0), sizeof(order) + 100);
	assert_int_equal(take(&p), 99);
	assert_int_equal(p.reply.head.result.status, IBSM_PROBE_BAD_ORDER);
	assert_int_equal(p.reply.head.result.detail, IBSM_PROBE_FIELD_LENGTH);

	assert_int_equal(counters(&p)->bad_orders, 7);
	assert_int_equal(fabric.sent, 0);
	peer_close(&p);
}

static void test_no_device(void **state)
{
	struct peer p;

	(void)state;
	fabric_init();
	fabric.port_count = -1;
	peer_open(&p);
	assert_int_equal(ask(&p, IBSM_PROBE_PORT_LIST, 0), IBSM_PROBE_NO_DEVICE);
	assert_int_equal(ask(&p, IBSM_PROBE_PORT, 0), IBSM_PROBE_NO_DEVICE);
	assert_int_equal(ask(&p, IBSM_PROBE_SM_INFO, 1), IBSM_PROBE_NO_DEVICE);
	assert_int_equal(ask(&p, IBSM_PROBE_LOCAL, 0), IBSM_PROBE_NO_DEVICE);
	/* A device comes; whoever asks for the port finds it. */
	fabric.port_count = 0;
	assert_int_equal(ask(&p, IBSM_PROBE_PORT, 0), IBSM_PROBE_NO_PORT);
	fabric.port_count = 1;
	fabric.open_error = EACCES;
	assert_int_equal(ask(&p, IBSM_PROBE_PORT, 0), IBSM_PROBE_OPEN_ERROR);
	assert_int_equal(p.reply.head.result.error, EACCES);
	assert_string_equal(p.reply.port.port.ca_name, "fake0");
	assert_int_equal(p.reply.port.port.chosen, 0);
	fabric.open_error = 0;
	assert_int_equal(ask(&p, IBSM_PROBE_PORT, 0), IBSM_PROBE_OK);
	assert_int_equal(p.reply.port.found, IBSM_PROBE_FOUND_LINK);
	assert_int_equal(p.reply.port.outstanding_max, IBSM_PROBE_OUTSTANDING_MAX);
	assert_int_equal(ask(&p, IBSM_PROBE_SM_INFO, 1), IBSM_PROBE_OK);
	assert_int_equal(ask(&p, IBSM_PROBE_PORT_LIST, 0), IBSM_PROBE_OK);
	assert_int_equal(p.reply.port_list.count, 1);
	assert_int_equal(p.reply.port_list.ports[0].chosen, 1);
	peer_close(&p);
}

static void choose(struct peer *p, const char *wish)
{
	struct ibsm_probe_order order;

	ibsm_probe_order_init(&order, IBSM_PROBE_PORT, ++p->sequence);
	assert_int_equal(ibsm_probe_parse_port(wish, &order), 0);
	assert_int_equal(send(p->fd, &order, sizeof(order), 0), sizeof(order));
}

static void test_port_changes(void **state)
{
	struct peer p;

	(void)state;
	fabric_init();
	fabric.port_count = 2;
	peer_open(&p);
	hold(&p, 2);
	/* Asked again, it is the same: nothing is lost. */
	assert_int_equal(ask(&p, IBSM_PROBE_PORT, 0), IBSM_PROBE_OK);
	assert_int_equal(counters(&p)->outstanding, 2);

	/* Another one: who waits for an answer on the old one is told. */
	choose(&p, "fake1/1");
	for (unsigned int i = 0; i < 2; i++) {
		take(&p);
		assert_int_equal(p.reply.head.result.status, IBSM_PROBE_PORT_LOST);
		assert_int_equal(p.reply.head.result.lid, LID_HELD + i);
	}
	take(&p);
	assert_int_equal(p.reply.head.result.status, IBSM_PROBE_OK);
	assert_string_equal(p.reply.port.port.ca_name, "fake1");
	assert_int_equal(p.reply.port.found, IBSM_PROBE_FOUND_NAME);
	assert_int_equal(ask(&p, IBSM_PROBE_SM_INFO, 1), IBSM_PROBE_OK);

	/* The one that was asked for goes away. */
	fabric.port_count = 1;
	choose(&p, "fake1/1");
	take(&p);
	assert_int_equal(p.reply.head.result.status, IBSM_PROBE_NO_PORT);
	assert_int_equal(ask(&p, IBSM_PROBE_SM_INFO, 1), IBSM_PROBE_NO_PORT);
	assert_int_equal(fabric.opened, 2);
	assert_int_equal(fabric.closed, 2);
	peer_close(&p);
}

static void test_device_goes(void **state)
{
	struct peer p;

	(void)state;
	fabric_init();
	peer_open(&p);
	hold(&p, 3);
	take_away_device();
	for (unsigned int i = 0; i < 3; i++) {
		take(&p);
		assert_int_equal(p.reply.head.result.status, IBSM_PROBE_PORT_LOST);
	}
	/* It comes back. */
	assert_int_equal(ask(&p, IBSM_PROBE_SM_INFO, 1), IBSM_PROBE_OK);
	assert_int_equal(counters(&p)->ports_lost, 1);

	/* Noticed at a send. */
	assert_int_equal(ask(&p, IBSM_PROBE_SM_INFO, LID_SEND_PORT_GONE), IBSM_PROBE_SEND_ERROR);
	assert_int_equal(counters(&p)->ports_lost, 2);
	assert_int_equal(ask(&p, IBSM_PROBE_SM_INFO, 1), IBSM_PROBE_OK);
	assert_int_equal(fabric.opened, 3);
	peer_close(&p);
}

/* Closed under way: it ends at once, whatever is out. */
static void test_peer_goes(void **state)
{
	struct peer p;

	(void)state;
	fabric_init();
	peer_open(&p);
	hold(&p, 3);
	peer_close(&p);
}

/* A peer that orders and never reads: it is waited for, and leaves no trace when it goes. */
static void test_peer_does_not_read(void **state)
{
	struct ibsm_probe_order order;
	struct peer p;
	unsigned int given = 0;

	(void)state;
	fabric_init();
	peer_open(&p);
	ibsm_probe_order_init(&order, IBSM_PROBE_PORT_LIST, 1);
	/* Until both directions are full. */
	for (unsigned int idle = 0; idle < 100;) {
		const struct timespec pause = {.tv_nsec = 1000000};

		if (send(p.fd, &order, sizeof(order), MSG_DONTWAIT | MSG_NOSIGNAL) > 0) {
			idle = 0;
			given++;
		} else {
			idle++;
			nanosleep(&pause, NULL);
		}
	}
	assert_true(given > 10);
	peer_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers),	     cmocka_unit_test(test_key_is_wiped),
		cmocka_unit_test(test_failures),     cmocka_unit_test(test_local_falls_back),
		cmocka_unit_test(test_busy),	     cmocka_unit_test(test_pace),
		cmocka_unit_test(test_late_answers), cmocka_unit_test(test_simulator),
		cmocka_unit_test(test_bad_orders),   cmocka_unit_test(test_no_device),
		cmocka_unit_test(test_port_changes), cmocka_unit_test(test_device_goes),
		cmocka_unit_test(test_peer_goes),    cmocka_unit_test(test_peer_does_not_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
