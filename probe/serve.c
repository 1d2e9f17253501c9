// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Takes orders from one socket, sends what they ask for, and answers each of them once.
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "probe/link.h"
#include "probe/order.h"
#include "probe/ports.h"
#include "probe/queries.h"
#include "probe/serve.h"
#include "util/cleanup.h"

/*
 * An order's way: order_check() → it is answered at once (ping, ports, whatever is wrong), or it
 * takes a slot in `queries`, its Get is sent, and the slot is answered when the answer, the
 * kernel's time-out or, later than that, our own comes. A slot is freed where it is answered, so
 * each order is answered once.
 *
 * umad's descriptor is never polled together with the socket's: under umad2sim it is none of the
 * kernel's. So an order that comes while a query is out waits for up to RECEIVE_MSEC.
 */

#define RECEIVE_MSEC 20
/* The kernel's own time-out tells more; ours is for where there is none (umad2sim). */
#define GRACE_USEC UINT64_C(200000)
/* Neither side starves the other. */
#define ORDERS_AT_ONCE 32
#define ANSWERS_AT_ONCE 64

volatile sig_atomic_t serve_stop;

struct server {
	int fd;
	struct serve_options options;
	struct link link;
	enum ibsm_probe_found found;
	struct queries queries;
	struct ibsm_probe_reply_ping counters; /* the counters of it */

	/* The last look for a port that found none. */
	uint64_t looked_usec; /* 0: never */
	enum ibsm_probe_status look_status;
	int look_error;

	/* Buffers; one thread, and none of these is in use across two of its steps. */
	union get_buffer buffer;
	union ibsm_probe_any_reply reply;
	struct ibsm_probe_port ports[IBSM_PROBE_PORTS_MAX];
};

static uint64_t now_usec(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

void serve_options_init(struct serve_options *ret_options)
{
	*ret_options = (struct serve_options){
		.timeout_msec = IBSM_PROBE_TIMEOUT_MSEC,
		.mads_per_sec = IBSM_PROBE_MADS_PER_SEC,
	};
}

/* Send what is in s->reply. Blocks while ibsmd does not read: it then wants no more anyway. */
static int send_reply(struct server *s)
{
	ssize_t n;

	do
		n = send(s->fd, &s->reply, s->reply.head.header.length, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR && !serve_stop);
	return n < 0 ? -errno : 0;
}

static int reply_status(struct server *s, const struct ibsm_probe_order *order,
			enum ibsm_probe_status status, uint16_t detail, int error)
{
	order_reply_init(order, &s->reply);
	s->reply.head.result.status = (uint16_t)status;
	s->reply.head.result.detail = detail;
	s->reply.head.result.error = (uint32_t)error;
	return send_reply(s);
}

static uint32_t timeout_msec(const struct server *s, const struct ibsm_probe_order *order)
{
	return order->timeout_msec ?: s->options.timeout_msec;
}

/* LOCAL without an answer: what sysfs has is better than nothing. */
static int answer_from_sysfs(struct server *s)
{
	struct ibsm_probe_port port;
	int r;

	link_guard_begin();
	r = ports_read_one(s->link.port.ca_name, s->link.port.port, &port);
	link_guard_end();
	if (r < 0)
		return r;

	s->reply.port_info.result.status = IBSM_PROBE_OK;
	s->reply.port_info.source = IBSM_PROBE_SOURCE_SYSFS;
	s->reply.port_info.gid_prefix = port.gid_prefix;
	s->reply.port_info.capability_mask = port.capability_mask;
	s->reply.port_info.lid = port.lid;
	s->reply.port_info.sm_lid = port.sm_lid;
	s->reply.port_info.state = port.state;
	s->reply.port_info.physical_state = port.physical_state;
	s->reply.port_info.lmc = port.lmc;
	s->reply.port_info.sm_sl = port.sm_sl;
	return 0;
}

/* Answer @query, whose result is in s->reply already, and free its slot. */
static int finish(struct server *s, struct query *query, uint64_t now)
{
	struct ibsm_probe_result *result = &s->reply.head.result;
	const uint16_t type = query->order.header.type;

	result->round_trip_usec = (uint32_t)(now - query->sent_usec);
	queries_remove(&s->queries, query);

	switch (result->status) {
	case IBSM_PROBE_OK:
	case IBSM_PROBE_MAD_STATUS:
		s->counters.answered++;
		break;
	case IBSM_PROBE_TIMEOUT:
		s->counters.timeouts++;
		break;
	case IBSM_PROBE_PORT_LOST:
		break;
	default:
		s->counters.errors++;
	}
	if (type == IBSM_PROBE_LOCAL && result->status != IBSM_PROBE_OK && link_is_open(&s->link))
		(void)answer_from_sysfs(s);
	return send_reply(s);
}

static int finish_status(struct server *s, struct query *query, enum ibsm_probe_status status,
			 int error, uint64_t now)
{
	order_reply_init(&query->order, &s->reply);
	s->reply.head.result.status = (uint16_t)status;
	s->reply.head.result.error = (uint32_t)error;
	return finish(s, query, now);
}

/* Close the port; whoever still waits for an answer on it gets none. */
static int lose_port(struct server *s)
{
	struct query *query;
	int r = 0;

	if (!link_is_open(&s->link))
		return 0;
	link_close(&s->link);
	s->counters.ports_lost++;
	while ((query = queries_any(&s->queries))) {
		int q = finish_status(s, query, IBSM_PROBE_PORT_LOST, 0, now_usec());

		if (q < 0)
			r = q;
	}
	return r;
}

static bool is_open_port(const struct link *link, const struct ibsm_probe_port *port)
{
	return link_is_open(link) && link->port.port == port->port &&
	       link->port.port_guid == port->port_guid &&
	       strcmp(link->port.ca_name, port->ca_name) == 0;
}

/*
 * Look which port is the one now, and have that open. Queries on another are lost.
 *
 * Returns 0 with the outcome in s->look_status and s->look_error; *@ret_port is what was chosen, or
 * zero. A negative errno if the socket failed.
 */
static int look(struct server *s, struct ibsm_probe_port *ret_port)
{
	uint32_t count, total, row;
	enum ibsm_probe_found found;
	int r;

	memset(ret_port, 0, sizeof(*ret_port));
	s->looked_usec = now_usec();
	s->look_error = 0;

	link_guard_begin();
	r = ports_read(s->ports, &count, &total);
	link_guard_end();
	s->look_status =
		r < 0 ? IBSM_PROBE_NO_DEVICE
		      : ports_choose(s->ports, count, &s->options.choice,
				     link_is_open(&s->link) ? &s->link.port : NULL, &row, &found);
	if (s->look_status != IBSM_PROBE_OK)
		return lose_port(s);

	*ret_port = s->ports[row];
	s->found = found;
	if (is_open_port(&s->link, ret_port)) {
		s->link.port = *ret_port;
		return 0;
	}
	r = lose_port(s);
	if (r < 0)
		return r;
	r = link_open(&s->link, ret_port);
	if (r < 0) {
		s->look_status = IBSM_PROBE_OPEN_ERROR;
		s->look_error = -r;
		return 0;
	}
	s->queries.outstanding_max = link_outstanding_max(&s->link);
	return 0;
}

static int do_ping(struct server *s, const struct ibsm_probe_order *order)
{
	struct ibsm_probe_reply_ping *ping = &s->reply.ping;

	order_reply_init(order, &s->reply);
	ping->orders = s->counters.orders;
	ping->bad_orders = s->counters.bad_orders;
	ping->sent = s->counters.sent;
	ping->answered = s->counters.answered;
	ping->timeouts = s->counters.timeouts;
	ping->errors = s->counters.errors;
	ping->busy = s->counters.busy;
	ping->late = s->counters.late;
	ping->ports_lost = s->counters.ports_lost;
	ping->pid = (uint32_t)getpid();
	ping->outstanding = s->queries.outstanding;
	ping->outstanding_max = s->queries.outstanding_max;
	ping->mads_per_sec = s->options.mads_per_sec;
	ping->timeout_msec = s->options.timeout_msec;
	strncpy(ping->version, PACKAGE_VERSION, sizeof(ping->version) - 1);
	return send_reply(s);
}

static int do_port_list(struct server *s, const struct ibsm_probe_order *order)
{
	struct ibsm_probe_reply_port_list *list = &s->reply.port_list;
	int r;

	order_reply_init(order, &s->reply);
	link_guard_begin();
	r = ports_read(list->ports, &list->count, &list->total);
	link_guard_end();
	if (r < 0)
		list->result.status = IBSM_PROBE_NO_DEVICE;
	for (uint32_t i = 0; i < list->count; i++)
		list->ports[i].chosen = is_open_port(&s->link, &list->ports[i]);
	return send_reply(s);
}

static int do_port(struct server *s, const struct ibsm_probe_order *order)
{
	struct ibsm_probe_port port;
	int r;

	s->options.choice = *order;
	r = look(s, &port);
	if (r < 0)
		return r;

	order_reply_init(order, &s->reply);
	s->reply.port.result.status = (uint16_t)s->look_status;
	s->reply.port.result.error = (uint32_t)s->look_error;
	if (s->look_status == IBSM_PROBE_OK || s->look_status == IBSM_PROBE_OPEN_ERROR) {
		s->reply.port.port = port;
		s->reply.port.port.chosen = link_is_open(&s->link);
		s->reply.port.found = (uint8_t)s->found;
		s->reply.port.outstanding_max = s->queries.outstanding_max;
	}
	return send_reply(s);
}

static int do_query(struct server *s, const struct ibsm_probe_order *order)
{
	const uint32_t timeout = timeout_msec(s, order);
	struct ibsm_probe_port port;
	struct query *query;
	uint64_t now = now_usec();
	int r;

	if (!link_is_open(&s->link)) {
		/* Without a port, queries shall not make it look all the time. */
		if (s->looked_usec == 0 || s->look_status == IBSM_PROBE_OK ||
		    now - s->looked_usec >= IBSM_PROBE_LOOK_MSEC * UINT64_C(1000)) {
			r = look(s, &port);
			if (r < 0)
				return r;
			now = now_usec();
		}
		if (s->look_status != IBSM_PROBE_OK)
			return reply_status(s, order, s->look_status, 0, s->look_error);
	}

	r = queries_add(&s->queries, order, timeout * UINT64_C(1000) + GRACE_USEC, now, &query);
	if (r > 0) {
		s->counters.busy++;
		return reply_status(s, order, IBSM_PROBE_BUSY, (uint16_t)r, 0);
	}

	get_build(order, query->tid, &s->buffer);
	s->counters.sent++;
	r = link_send(&s->link, order->header.type, &s->buffer, timeout);
	if (r < 0) {
		int q = finish_status(s, query, IBSM_PROBE_SEND_ERROR, -r, now_usec());

		if (q < 0)
			return q;
		if (r == -ENODEV)
			return lose_port(s);
	}
	return 0;
}

static int do_datagram(struct server *s, const void *bytes, size_t length)
{
	struct ibsm_probe_order order;
	int field;

	s->counters.orders++;
	field = order_check(bytes, length, &order);
	if (field != 0) {
		s->counters.bad_orders++;
		return reply_status(s, &order, IBSM_PROBE_BAD_ORDER, (uint16_t)field, 0);
	}

	switch (order.header.type) {
	case IBSM_PROBE_PING:
		return do_ping(s, &order);
	case IBSM_PROBE_PORT_LIST:
		return do_port_list(s, &order);
	case IBSM_PROBE_PORT:
		return do_port(s, &order);
	default:
		return do_query(s, &order);
	}
}

/* Nothing to read: did the other end close, or send a datagram without bytes? */
static bool closed(int fd)
{
	struct pollfd pfd = {.fd = fd, .events = POLLRDHUP};

	return poll(&pfd, 1, 0) > 0 && (pfd.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL));
}

/* Do what is asked for. Returns 0, -ECONNRESET when the other end is gone, or a negative errno. */
static int take_orders(struct server *s)
{
	/* One byte longer than an order, so that what is too long shows. */
	uint8_t bytes[sizeof(struct ibsm_probe_order) + 1];

	for (unsigned int i = 0; i < ORDERS_AT_ONCE; i++) {
		const ssize_t n = recv(s->fd, bytes, sizeof(bytes), MSG_DONTWAIT);
		int r;

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return 0;
		if (n < 0)
			return -errno;
		if (n == 0 && closed(s->fd))
			return -ECONNRESET;
		r = do_datagram(s, bytes, (size_t)n);
		if (r < 0)
			return r;
	}
	return 0;
}

/* What came from the fabric: an answer, or a request of ours that the kernel gives back. */
static int take_answer(struct server *s, size_t length, int status)
{
	struct query *query = queries_find(&s->queries, get_tid(&s->buffer));

	if (!query) {
		s->counters.late++;
		return 0;
	}
	if (status != 0)
		return finish_status(s, query,
				     status == ETIMEDOUT ? IBSM_PROBE_TIMEOUT
							 : IBSM_PROBE_RECEIVE_ERROR,
				     status, now_usec());
	order_reply_init(&query->order, &s->reply);
	get_decode(query->order.header.type, &s->buffer, length, &s->reply);
	return finish(s, query, now_usec());
}

static int take_answers(struct server *s, int wait_msec)
{
	for (unsigned int i = 0; i < ANSWERS_AT_ONCE && link_is_open(&s->link); i++) {
		size_t length;
		int status, r;

		r = link_receive(&s->link, i == 0 ? wait_msec : 0, &s->buffer, &length, &status);
		if (r == 0)
			return 0;
		r = r < 0 ? lose_port(s) : take_answer(s, length, status);
		if (r < 0)
			return r;
	}
	return 0;
}

static int expire(struct server *s)
{
	const uint64_t now = now_usec();
	struct query *query;

	while ((query = queries_expired(&s->queries, now))) {
		int r = finish_status(s, query, IBSM_PROBE_TIMEOUT, ETIMEDOUT, now);

		if (r < 0)
			return r;
	}
	return 0;
}

/* Until an order comes, with nothing lost between a look at serve_stop and the wait. */
static int wait_for_order(int fd)
{
	struct pollfd pfd = {.fd = fd, .events = POLLIN | POLLRDHUP};
	sigset_t ending, before;
	int r = 0;

	sigemptyset(&ending);
	sigaddset(&ending, SIGTERM);
	sigaddset(&ending, SIGINT);
	sigprocmask(SIG_BLOCK, &ending, &before);
	if (!serve_stop && ppoll(&pfd, 1, NULL, &before) < 0 && errno != EINTR)
		r = -errno;
	sigprocmask(SIG_SETMASK, &before, NULL);
	return r;
}

static int wait_msec(const struct server *s)
{
	const uint64_t now = now_usec(), deadline = queries_deadline(&s->queries);

	if (deadline <= now)
		return 0;
	if (deadline - now >= RECEIVE_MSEC * UINT64_C(1000))
		return RECEIVE_MSEC;
	return (int)((deadline - now + 999) / 1000);
}

static int run(struct server *s)
{
	int r = 0;

	while (r >= 0 && !serve_stop) {
		if (s->queries.outstanding == 0)
			r = wait_for_order(s->fd);
		else
			r = take_answers(s, wait_msec(s));
		if (r >= 0)
			r = expire(s);
		if (r >= 0)
			r = take_orders(s);
	}
	return r;
}

int serve(int fd, const struct serve_options *options)
{
	/* Large, and there is one. */
	static struct server server;
	struct server *s = &server;
	uint32_t first_tid = 0;
	int r;

	memset(s, 0, sizeof(*s));
	s->fd = fd;
	s->options = *options;
	s->link = (struct link)LINK_CLOSED;
	if (getrandom(&first_tid, sizeof(first_tid), GRND_NONBLOCK) < 0)
		first_tid = (uint32_t)getpid() << 16;
	queries_init(&s->queries, options->mads_per_sec, first_tid, now_usec());

	r = run(s);

	link_close(&s->link);
	return r == -ECONNRESET || r == -EPIPE || serve_stop ? 0 : r;
}
