// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// One client of the Varlink service: its socket, its queue, and what is to be done next for it.
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "varlink/server-internal.h"

/* Calls answered and reads done in a row before other event sources get their turn. */
#define STEPS_PER_PUMP 32

void connection_free(struct connection *connection)
{
	struct varlink_server *server = connection->server;

	if (connection->call)
		call_disconnect(connection->call);

	if (connection->previous)
		connection->previous->next = connection->next;
	else
		server->connections = connection->next;
	if (connection->next)
		connection->next->previous = connection->previous;
	server->stats.clients--;
	server->stats.queued_bytes -= varlink_out_pending(&connection->out);

	sd_event_source_disable_unref(connection->io);
	sd_event_source_disable_unref(connection->defer);
	varlink_in_clear(&connection->in);
	varlink_out_clear(&connection->out);
	close(connection->fd);
	free(connection);
}

void connection_wake(struct connection *connection)
{
	if (!connection->pumping)
		(void)sd_event_source_set_enabled(connection->defer, SD_EVENT_ONESHOT);
}

void connection_drop(struct connection *connection, uint64_t *counter)
{
	if (connection->dropped)
		return;

	++*counter;
	connection->dropped = true;
	connection->server->stats.queued_bytes -= varlink_out_pending(&connection->out);
	varlink_out_clear(&connection->out);
	connection_wake(connection);
}

/* Returns 1 when all is sent, 0 when the socket is full, negative errno. */
static int connection_flush(struct connection *connection)
{
	size_t pending = varlink_out_pending(&connection->out);
	int r;

	r = varlink_out_flush(&connection->out, connection->fd);
	connection->server->stats.queued_bytes -= pending - varlink_out_pending(&connection->out);
	return r;
}

static struct connection *find_slowest(const struct varlink_server *server)
{
	struct connection *slowest = server->connections;

	for (struct connection *c = slowest; c; c = c->next)
		if (varlink_out_pending(&c->out) > varlink_out_pending(&slowest->out))
			slowest = c;
	return slowest;
}

int connection_queued(struct connection *connection, size_t pending)
{
	struct varlink_server *server = connection->server;
	const struct varlink_server_options *options = &server->options;

	server->stats.queued_bytes += varlink_out_pending(&connection->out) - pending;

	/* Only what the kernel does not take either is held against the client. */
	if (varlink_out_pending(&connection->out) > options->max_queued_bytes &&
	    connection_flush(connection) == 0 &&
	    varlink_out_pending(&connection->out) > options->max_queued_bytes)
		connection_drop(connection, &server->stats.disconnected_slow);

	while (server->stats.queued_bytes > options->max_total_queued_bytes)
		connection_drop(find_slowest(server), &server->stats.disconnected_slow);

	if (connection->dropped)
		return -ENOBUFS;
	connection_wake(connection);
	return 0;
}

enum step {
	STEP_WAIT,  /* nothing to do before something happens */
	STEP_AGAIN, /* there is more to do */
	STEP_TURN,  /* there is more to do, but others first */
};

/* Do the next thing for this client. Negative errno: the connection is at its end. */
static int connection_step(struct connection *connection)
{
	struct varlink_server_stats *stats = &connection->server->stats;
	const char *text;
	size_t length;
	int r;

	if (connection->dropped)
		return -ECONNABORTED;

	r = connection_flush(connection);
	if (r <= 0)
		return r < 0 ? r : STEP_WAIT;

	if (connection->call) {
		if (!connection->call->ready || !connection->call->armed)
			return STEP_WAIT;
		call_ready(connection->call);
		return STEP_TURN;
	}

	r = varlink_in_next(&connection->in, &text, &length);
	if (r > 0) {
		if (call_dispatch(connection, text, length) < 0)
			connection_drop(connection, &stats->malformed);
		return STEP_AGAIN;
	}
	varlink_in_trim(&connection->in);
	if (r == 0 && connection->ended) {
		if (varlink_in_is_partial(&connection->in))
			stats->malformed++;
		return -ECONNRESET;
	}

	if (r == 0)
		r = varlink_in_read(&connection->in, connection->fd);
	if (r == -EAGAIN)
		return STEP_WAIT;
	if (r == -EMSGSIZE)
		stats->oversized++;
	if (r < 0)
		return r;
	connection->ended = r == 0;
	return STEP_AGAIN;
}

static uint32_t connection_events(const struct connection *connection)
{
	/* EPOLLHUP comes unasked, and tells that a client that waits for a reply has gone. */
	if (varlink_out_pending(&connection->out) > 0)
		return EPOLLOUT;
	return connection->call || connection->ended ? 0 : EPOLLIN;
}

/* Do what can be done now, and arrange for the rest. The connection may be freed here. */
static void connection_pump(struct connection *connection)
{
	int r = STEP_AGAIN;

	connection->pumping = true;
	for (unsigned i = 0; r == STEP_AGAIN && i < STEPS_PER_PUMP; i++)
		r = connection_step(connection);
	connection->pumping = false;

	if (r >= 0 && connection_events(connection) != connection->events) {
		connection->events = connection_events(connection);
		if (sd_event_source_set_io_events(connection->io, connection->events) < 0)
			r = -EIO;
	}
	if (r < 0)
		connection_free(connection);
	else if (r != STEP_WAIT)
		connection_wake(connection);
}

static int on_io(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct connection *connection = userdata;

	(void)source;
	(void)fd;

	/* Both directions are closed: nobody is there to read what is due. What the client sent
	 * before that is still carried out when nothing is. */
	if ((revents & (EPOLLHUP | EPOLLERR)) &&
	    (connection->call || varlink_out_pending(&connection->out) > 0))
		connection_free(connection);
	else
		connection_pump(connection);
	return 0;
}

static int on_defer(sd_event_source *source, void *userdata)
{
	(void)source;

	connection_pump(userdata);
	return 0;
}

int connection_new(struct varlink_server *server, int fd, const struct ucred *peer)
{
	int64_t priority = server->options.priority;
	struct connection *connection;
	int r;

	connection = calloc(1, sizeof(*connection));
	if (!connection) {
		close(fd);
		return -ENOMEM;
	}
	*connection = (struct connection){
		.server = server,
		.next = server->connections,
		.fd = fd,
		.events = EPOLLIN,
		.peer = *peer,
	};
	varlink_in_init(&connection->in, server->options.max_call_bytes);
	if (connection->next)
		connection->next->previous = connection;
	server->connections = connection;
	server->stats.clients++;

	r = sd_event_add_io(server->event, &connection->io, fd, connection->events, on_io,
			    connection);
	if (r >= 0)
		r = sd_event_add_defer(server->event, &connection->defer, on_defer, connection);
	if (r >= 0)
		r = sd_event_source_set_enabled(connection->defer, SD_EVENT_OFF);
	if (r >= 0)
		r = sd_event_source_set_priority(connection->io, priority);
	if (r >= 0)
		r = sd_event_source_set_priority(connection->defer, priority);
	if (r < 0) {
		connection_free(connection);
		return r;
	}
	(void)sd_event_source_set_description(connection->io, "varlink-connection");
	(void)sd_event_source_set_description(connection->defer, "varlink-connection-wake");
	return 0;
}
