// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// ibsmd's end of ibsm-probe: starts or finds it, gives it orders, and lives with its dying.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utlist.h>

#include "daemon/probe-client.h"
#include "util/cleanup.h"

/*
 * A round of its life: connect() or spawn() → PING and PORT are sent → the answer to PING shows
 * that the versions fit, the one to PORT whether there is a port → orders → drop(), for one of the
 * reasons of enum probe_client_trouble. drop() closes the socket and ends all orders. A child is
 * then killed (one that closed its end gets LEAVE_USEC to exit first) and reaped through its pidfd,
 * so no SIGCHLD handler is needed; only then does the pause before the next round begin. So there
 * is never more than one child.
 *
 * Our own orders, PING and PORT, travel in the list like a caller's.
 */

#define USEC_PER_MSEC UINT64_C(1000)
#define USEC_PER_SEC UINT64_C(1000000)
#define CHILD_FD 3
#define LEAVE_USEC UINT64_C(1000000)

struct pending {
	struct pending *prev, *next;
	struct ibsm_probe_order order;
	probe_client_callback callback; /* NULL: an order of our own */
	void *userdata;
	uint64_t deadline_usec; /* 0: not sent yet */
};

struct probe_client {
	sd_event *event;
	struct probe_client_options options;
	char *program, *socket_path;

	int fd; /* -1: none */
	sd_event_source *io;
	pid_t pid; /* our child, 0: none, or a service's */
	int pidfd;
	sd_event_source *child;
	sd_event_source *retry, *relook, *answer, *leave; /* timers */

	struct pending *pending;
	unsigned int pending_count;
	uint64_t sequence;
	unsigned int window; /* queries at a time */
	uint32_t timeout_msec;
	bool greeted; /* PING was answered */

	uint64_t round_usec;   /* when this round began */
	unsigned int failures; /* in a row */
	struct probe_client_status status;
};

static uint64_t now_usec(struct probe_client *c)
{
	uint64_t usec = 0;

	(void)sd_event_now(c->event, CLOCK_MONOTONIC, &usec);
	return usec;
}

static void changed(struct probe_client *c)
{
	if (c->options.changed)
		c->options.changed(c, c->options.userdata);
}

/* ---- timers ---- */

static int arm(struct probe_client *c, sd_event_source **timer, uint64_t usec,
	       sd_event_time_handler_t handler, const char *description)
{
	int r;

	if (*timer) {
		r = sd_event_source_set_time(*timer, usec);
		return r < 0 ? r : sd_event_source_set_enabled(*timer, SD_EVENT_ONESHOT);
	}
	r = sd_event_add_time(c->event, timer, CLOCK_MONOTONIC, usec, USEC_PER_MSEC, handler, c);
	if (r >= 0)
		(void)sd_event_source_set_description(*timer, description);
	return r;
}

static void disarm(sd_event_source *timer)
{
	if (timer)
		(void)sd_event_source_set_enabled(timer, SD_EVENT_OFF);
}

static int on_retry(sd_event_source *source, uint64_t usec, void *userdata);
static int on_relook(sd_event_source *source, uint64_t usec, void *userdata);
static int on_answer_due(sd_event_source *source, uint64_t usec, void *userdata);
static int on_leave_due(sd_event_source *source, uint64_t usec, void *userdata);

static void arm_answer(struct probe_client *c)
{
	uint64_t first = UINT64_MAX;
	const struct pending *p;

	DL_FOREACH (c->pending, p)
		if (p->deadline_usec != 0 && p->deadline_usec < first)
			first = p->deadline_usec;
	if (first == UINT64_MAX)
		disarm(c->answer);
	else
		(void)arm(c, &c->answer, first, on_answer_due, "probe-answer");
}

/* ---- the end of a round ---- */

static void end_orders(struct probe_client *c, int error, uint64_t now)
{
	struct pending *list = c->pending, *p, *next;

	/* Whoever is called back finds an empty list. */
	c->pending = NULL;
	c->pending_count = 0;
	DL_FOREACH_SAFE(list, p, next)
	{
		DL_DELETE(list, p);
		if (p->callback) {
			const bool hung = error == -ETIMEDOUT && p->deadline_usec != 0 &&
					  p->deadline_usec <= now;

			c->status.lost++;
			p->callback(c, error == -ETIMEDOUT && !hung ? -ECONNRESET : error, NULL,
				    p->userdata);
		}
		free(p);
	}
}

static void close_socket(struct probe_client *c)
{
	c->io = sd_event_source_disable_unref(c->io);
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
	c->greeted = false;
}

static void schedule_retry(struct probe_client *c)
{
	const uint64_t max = c->options.restart_max_usec, now = now_usec(c);
	uint64_t pause = c->options.restart_usec;

	for (unsigned int i = 1; i < c->failures && pause < max; i++)
		pause *= 2;
	if (pause > max)
		pause = max;
	c->status.retry_usec = now + pause;
	(void)arm(c, &c->retry, c->status.retry_usec, on_retry, "probe-retry");
}

static void kill_child(struct probe_client *c)
{
	if (c->pid > 0 && pidfd_send_signal(c->pidfd, SIGKILL, NULL, 0) == 0)
		c->status.kills++;
}

static void drop(struct probe_client *c, enum probe_client_trouble trouble, int error)
{
	const uint64_t now = now_usec(c);

	if (c->status.state == PROBE_CLIENT_AWAY)
		return;
	close_socket(c);
	disarm(c->relook);
	disarm(c->answer);

	/* Only one that lived long enough has earned a short pause again. */
	if (now - c->round_usec >= c->options.restart_max_usec)
		c->failures = 0;
	c->failures++;
	c->status.failures++;
	c->status.state = PROBE_CLIENT_AWAY;
	c->status.trouble = trouble;
	c->status.error = trouble == PROBE_CLIENT_CANNOT_START ? -error : 0;
	c->status.exit_code = -1;
	c->status.exit_signal = 0;
	c->status.pid = 0;

	if (c->pid <= 0)
		schedule_retry(c);
	else if (trouble == PROBE_CLIENT_ENDED)
		(void)arm(c, &c->leave, now + LEAVE_USEC, on_leave_due, "probe-leave");
	else
		kill_child(c);
	end_orders(c, error, now);
	/* How a child ended is told once it is known. */
	if (c->pid <= 0 || trouble != PROBE_CLIENT_ENDED)
		changed(c);
}

static int on_leave_due(sd_event_source *source, uint64_t usec, void *userdata)
{
	(void)source;
	(void)usec;
	kill_child(userdata);
	return 0;
}

/* ---- orders ---- */

static bool is_query(uint16_t type)
{
	return type >= IBSM_PROBE_LOCAL;
}

/* Whether @p may be sent while what is sent already waits. */
static bool may_go(const struct probe_client *c, const struct pending *p)
{
	const struct pending *other;
	unsigned int sent = 0;

	if (!is_query(p->order.header.type))
		return true;
	DL_FOREACH (c->pending, other) {
		if (other->deadline_usec == 0 || !is_query(other->order.header.type))
			continue;
		if (other->order.lid == p->order.lid)
			return false;
		sent++;
	}
	return sent < c->window;
}

static uint64_t patience_usec(const struct probe_client *c, const struct pending *p)
{
	const uint32_t timeout_msec = p->order.timeout_msec ?: c->timeout_msec;

	return c->options.answer_usec +
	       (is_query(p->order.header.type) ? timeout_msec * USEC_PER_MSEC : 0);
}

/* Send what may be sent. May drop. */
static void send_orders(struct probe_client *c)
{
	struct pending *p;
	bool blocked = false;

	DL_FOREACH (c->pending, p) {
		if (p->deadline_usec != 0 || !may_go(c, p))
			continue;
		if (send(c->fd, &p->order, sizeof(p->order), MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
			if (errno == EAGAIN || errno == EINTR || errno == ENOBUFS) {
				blocked = true;
				break;
			}
			drop(c, PROBE_CLIENT_ENDED, -ECONNRESET);
			return;
		}
		p->deadline_usec = now_usec(c) + patience_usec(c, p);
	}
	(void)sd_event_source_set_io_events(c->io, EPOLLIN | (blocked ? EPOLLOUT : 0));
	arm_answer(c);
}

static struct pending *append(struct probe_client *c, uint16_t type)
{
	struct pending *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	ibsm_probe_order_init(&p->order, type, ++c->sequence);
	DL_APPEND(c->pending, p);
	c->pending_count++;
	return p;
}

static int ask_port(struct probe_client *c)
{
	struct pending *p = append(c, IBSM_PROBE_PORT);

	if (!p)
		return -ENOMEM;
	p->order.choice = c->options.choice.choice;
	p->order.port = c->options.choice.port;
	p->order.port_guid = c->options.choice.port_guid;
	memcpy(p->order.ca_name, c->options.choice.ca_name, sizeof(p->order.ca_name));
	return 0;
}

int probe_client_order(struct probe_client *c, uint16_t type, uint16_t lid, uint8_t port,
		       probe_client_callback callback, void *userdata)
{
	struct pending *p;

	if (type == IBSM_PROBE_NONE || type == IBSM_PROBE_PORT || type & IBSM_PROBE_REPLY ||
	    !callback)
		return -EINVAL;
	if (c->status.state != PROBE_CLIENT_NO_PORT && c->status.state != PROBE_CLIENT_READY)
		return -ENOTCONN;
	if (c->pending_count >= IBSM_PROBE_PENDING_MAX)
		return -EBUSY;

	p = append(c, type);
	if (!p)
		return -ENOMEM;
	p->order.lid = lid;
	p->order.port = port;
	p->order.timeout_msec = is_query(type) ? c->options.timeout_msec : 0;
	p->callback = callback;
	p->userdata = userdata;
	c->status.orders++;
	/* Sent from the event loop: a socket that fails now must not call back from within. */
	(void)sd_event_source_set_io_events(c->io, EPOLLIN | EPOLLOUT);
	return 0;
}

int probe_client_set_choice(struct probe_client *c, const struct ibsm_probe_order *choice)
{
	c->options.choice = *choice;
	if (c->status.state != PROBE_CLIENT_NO_PORT && c->status.state != PROBE_CLIENT_READY)
		return 0;
	if (ask_port(c) < 0)
		return -ENOMEM;
	return sd_event_source_set_io_events(c->io, EPOLLIN | EPOLLOUT);
}

/* ---- replies ---- */

static void take_ping(struct probe_client *c, const struct ibsm_probe_reply_ping *ping)
{
	c->greeted = true;
	c->status.pid = ping->pid;
	memcpy(c->status.version, ping->version, sizeof(c->status.version));
	c->status.version[sizeof(c->status.version) - 1] = 0;
	if (ping->timeout_msec >= IBSM_PROBE_TIMEOUT_MSEC_MIN &&
	    ping->timeout_msec <= IBSM_PROBE_TIMEOUT_MSEC_MAX)
		c->timeout_msec = ping->timeout_msec;
}

static void take_port(struct probe_client *c, const struct ibsm_probe_reply_port *port)
{
	const enum probe_client_state state =
		port->result.status == IBSM_PROBE_OK ? PROBE_CLIENT_READY : PROBE_CLIENT_NO_PORT;
	struct ibsm_probe_reply_port news = *port;

	/* The name ends, and the order's number makes no difference. */
	news.port.ca_name[sizeof(news.port.ca_name) - 1] = 0;
	news.header = c->status.port.header;
	c->window = port->outstanding_max < 1 ? 1
		    : port->outstanding_max > IBSM_PROBE_OUTSTANDING_MAX
			    ? IBSM_PROBE_OUTSTANDING_MAX
			    : port->outstanding_max;
	(void)arm(c, &c->relook, now_usec(c) + c->options.relook_usec, on_relook, "probe-relook");

	if (state == c->status.state && memcmp(&news, &c->status.port, sizeof(news)) == 0)
		return;
	c->status.state = state;
	c->status.port = news;
	changed(c);
}

/* Whether @reply, @length bytes of it, answers one of our orders; which. */
static struct pending *answered(struct probe_client *c, const union ibsm_probe_any_reply *reply,
				size_t length)
{
	const struct ibsm_probe_header *header = &reply->head.header;
	struct pending *p;

	if (length < sizeof(reply->head) || header->length != length)
		return NULL;
	DL_FOREACH (c->pending, p) {
		if (p->deadline_usec == 0 || p->order.header.sequence != header->sequence)
			continue;
		if (header->type != (p->order.header.type | IBSM_PROBE_REPLY) ||
		    length != ibsm_probe_reply_length(p->order.header.type))
			return NULL;
		return p;
	}
	return NULL;
}

/* May drop. */
static void take_reply(struct probe_client *c, const union ibsm_probe_any_reply *reply,
		       size_t length)
{
	struct pending *p;

	if (length >= sizeof(reply->head.header) && reply->head.header.magic == IBSM_PROBE_MAGIC &&
	    reply->head.header.version != IBSM_PROBE_VERSION) {
		drop(c, PROBE_CLIENT_VERSION, -ECONNRESET);
		return;
	}
	p = length >= sizeof(reply->head) && reply->head.header.magic == IBSM_PROBE_MAGIC
		    ? answered(c, reply, length)
		    : NULL;
	if (!p || (!c->greeted && p->order.header.type != IBSM_PROBE_PING)) {
		drop(c, PROBE_CLIENT_GARBAGE, -ECONNRESET);
		return;
	}

	DL_DELETE(c->pending, p);
	c->pending_count--;
	if (p->callback) {
		c->status.answers++;
		p->callback(c, 0, reply, p->userdata);
	} else if (p->order.header.type == IBSM_PROBE_PING) {
		take_ping(c, &reply->ping);
	} else {
		take_port(c, &reply->port);
	}
	free(p);
}

/* Read all there is. Returns false when nothing is left to read from, ever. */
static bool take_replies(struct probe_client *c)
{
	/* Large, and in use only here, where nothing calls back into this function. */
	static union {
		union ibsm_probe_any_reply reply;
		uint8_t bytes[IBSM_PROBE_RECORD_MAX];
	} buffer;

	while (c->fd >= 0) {
		ssize_t n = recv(c->fd, &buffer, sizeof(buffer), MSG_DONTWAIT | MSG_TRUNC);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN;
		if (n == 0)
			return false;
		take_reply(c, &buffer.reply, (size_t)n);
	}
	return true;
}

static int on_io(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct probe_client *c = userdata;

	(void)source;
	(void)fd;
	(void)events;
	if (!take_replies(c))
		drop(c, PROBE_CLIENT_ENDED, -ECONNRESET);
	if (c->fd >= 0)
		send_orders(c);
	return 0;
}

static int on_relook(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct probe_client *c = userdata;

	(void)source;
	(void)usec;
	if (c->fd >= 0 && ask_port(c) == 0)
		send_orders(c);
	return 0;
}

static int on_answer_due(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct probe_client *c = userdata;
	const uint64_t now = now_usec(c);
	const struct pending *p;

	(void)source;
	(void)usec;
	/* It may have answered while this loop was busy elsewhere. */
	if (!take_replies(c))
		drop(c, PROBE_CLIENT_ENDED, -ECONNRESET);
	DL_FOREACH (c->pending, p) {
		if (p->deadline_usec != 0 && p->deadline_usec <= now) {
			drop(c, PROBE_CLIENT_HUNG, -ETIMEDOUT);
			return 0;
		}
	}
	if (c->fd >= 0)
		send_orders(c);
	return 0;
}

/* ---- the child ---- */

static int on_child(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct probe_client *c = userdata;
	siginfo_t info = {};

	(void)source;
	(void)fd;
	(void)events;
	/* What it said before it went. */
	if (c->fd >= 0)
		(void)take_replies(c);
	if (waitid(P_PIDFD, (id_t)c->pidfd, &info, WEXITED | WNOHANG) < 0 || info.si_pid == 0)
		return 0;
	c->child = sd_event_source_disable_unref(c->child);
	disarm(c->leave);
	close(c->pidfd);
	c->pidfd = -1;
	c->pid = 0;

	if (c->status.state != PROBE_CLIENT_AWAY) {
		/* Without a child left, this one schedules the next round. */
		drop(c, PROBE_CLIENT_ENDED, -ECONNRESET);
	} else {
		schedule_retry(c);
	}
	if (c->status.trouble == PROBE_CLIENT_ENDED) {
		c->status.exit_code = info.si_code == CLD_EXITED ? info.si_status : -1;
		c->status.exit_signal = info.si_code == CLD_EXITED ? 0 : info.si_status;
		changed(c);
	}
	return 0;
}

static int spawn_actions(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes, int fd)
{
	sigset_t none, all;
	int e;

	sigemptyset(&none);
	sigfillset(&all);
	e = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (e == 0)
		e = posix_spawn_file_actions_adddup2(actions, fd, CHILD_FD);
	if (e == 0)
		e = posix_spawnattr_setsigmask(attributes, &none);
	if (e == 0)
		e = posix_spawnattr_setsigdefault(attributes, &all);
	if (e == 0)
		e = posix_spawnattr_setflags(attributes,
					     POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	return e;
}

static int spawn(const char *program, int fd, pid_t *ret_pid)
{
	char argument[sizeof("--socket-fd=") + 3 * sizeof(int)];
	char *argv[] = {(char *)program, argument, NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int e;

	snprintf(argument, sizeof(argument), "--socket-fd=%d", CHILD_FD);
	e = posix_spawn_file_actions_init(&actions);
	if (e != 0)
		return -e;
	e = posix_spawnattr_init(&attributes);
	if (e == 0) {
		e = spawn_actions(&actions, &attributes, fd);
		if (e == 0)
			e = posix_spawn(ret_pid, program, &actions, &attributes, argv, environ);
		posix_spawnattr_destroy(&attributes);
	}
	posix_spawn_file_actions_destroy(&actions);
	return -e;
}

static int begin_child(struct probe_client *c)
{
	_cleanup_close_ int ours = -1, theirs = -1, pidfd = -1;
	int sv[2], r;
	pid_t pid = 0;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv) < 0)
		return -errno;
	ours = sv[0];
	theirs = sv[1];
	r = spawn(c->program, theirs, &pid);
	if (r < 0)
		return r;

	/* Not yet waited for, so the number is still its own. */
	pidfd = pidfd_open(pid, 0);
	if (pidfd < 0)
		r = -errno;
	else
		r = sd_event_add_io(c->event, &c->child, pidfd, EPOLLIN, on_child, c);
	if (r < 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		return r;
	}
	(void)sd_event_source_set_description(c->child, "probe-child");
	c->pid = pid;
	c->pidfd = TAKE_FD(pidfd);
	c->fd = TAKE_FD(ours);
	return 0;
}

static int begin_connection(struct probe_client *c)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	_cleanup_close_ int fd = -1;
	const size_t length = strlen(c->socket_path);

	if (length >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path, c->socket_path, length);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	/* A full backlog is EAGAIN here, and tried again like all else. */
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	c->fd = TAKE_FD(fd);
	return 0;
}

static void begin(struct probe_client *c)
{
	int r;

	c->round_usec = now_usec(c);
	c->status.state = PROBE_CLIENT_STARTING;
	c->status.retry_usec = 0;
	c->window = 1;
	c->timeout_msec = IBSM_PROBE_TIMEOUT_MSEC;

	r = c->program ? begin_child(c) : begin_connection(c);
	if (r >= 0) {
		c->status.starts++;
		r = sd_event_add_io(c->event, &c->io, c->fd, EPOLLIN | EPOLLOUT, on_io, c);
	}
	if (r >= 0 && !append(c, IBSM_PROBE_PING))
		r = -ENOMEM;
	if (r >= 0)
		r = ask_port(c);
	if (r < 0) {
		drop(c, PROBE_CLIENT_CANNOT_START, r);
		return;
	}
	(void)sd_event_source_set_description(c->io, "probe-socket");
}

static int on_retry(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct probe_client *c = userdata;

	(void)source;
	(void)usec;
	begin(c);
	return 0;
}

/* ---- the client itself ---- */

int probe_client_new(sd_event *event, const struct probe_client_options *options,
		     struct probe_client **ret_client)
{
	struct probe_client *c;

	if (!options->program == !options->socket_path)
		return -EINVAL;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->event = sd_event_ref(event);
	c->options = *options;
	c->fd = -1;
	c->pidfd = -1;
	if (options->program)
		c->program = strdup(options->program);
	else
		c->socket_path = strdup(options->socket_path);
	if (!c->program && !c->socket_path) {
		probe_client_free(c);
		return -ENOMEM;
	}
	c->options.program = NULL;
	c->options.socket_path = NULL;
	c->options.answer_usec = options->answer_usec ?: IBSM_PROBE_ANSWER_MSEC * USEC_PER_MSEC;
	c->options.relook_usec = options->relook_usec ?: IBSM_PROBE_RELOOK_SEC * USEC_PER_SEC;
	c->options.restart_usec = options->restart_usec ?: IBSM_PROBE_RESTART_MSEC * USEC_PER_MSEC;
	c->options.restart_max_usec =
		options->restart_max_usec ?: IBSM_PROBE_RESTART_MSEC_MAX * USEC_PER_MSEC;

	*ret_client = c;
	return 0;
}

static void end_child(struct probe_client *c)
{
	struct pollfd pfd = {.fd = c->pidfd, .events = POLLIN};
	siginfo_t info;

	if (c->pid <= 0)
		return;
	if (poll(&pfd, 1, LEAVE_USEC / USEC_PER_MSEC) == 0) {
		kill_child(c);
		(void)poll(&pfd, 1, LEAVE_USEC / USEC_PER_MSEC);
	}
	/* One that the kernel itself holds is left to it. */
	(void)waitid(P_PIDFD, (id_t)c->pidfd, &info, WEXITED | WNOHANG);
	close(c->pidfd);
}

void probe_client_free(struct probe_client *c)
{
	if (!c)
		return;
	c->status.state = PROBE_CLIENT_STOPPED;
	close_socket(c);
	end_orders(c, -ECANCELED, 0);
	c->child = sd_event_source_disable_unref(c->child);
	end_child(c);
	sd_event_source_disable_unref(c->retry);
	sd_event_source_disable_unref(c->relook);
	sd_event_source_disable_unref(c->answer);
	sd_event_source_disable_unref(c->leave);
	sd_event_unref(c->event);
	free(c->program);
	free(c->socket_path);
	free(c);
}

int probe_client_start(struct probe_client *c)
{
	if (c->status.state != PROBE_CLIENT_STOPPED)
		return 0;
	c->status.state = PROBE_CLIENT_AWAY;
	return arm(c, &c->retry, 0, on_retry, "probe-retry");
}

const struct probe_client_status *probe_client_status(const struct probe_client *c)
{
	return &c->status;
}
