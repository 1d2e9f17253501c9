// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What the parts of the Varlink service share: server, connection, call.
#pragma once

#include <sys/socket.h>

#include "util/cleanup.h"
#include "varlink/frame.h"
#include "varlink/idl.h"
#include "varlink/server.h"

/*
 * Who owns what:
 *
 *   server      owns its listeners, interfaces and connections.
 *   connection  one client. Only connection_pump() and varlink_server_free() free it; anything
 *               else that finds it beyond help calls connection_drop(), which empties its queue
 *               and leaves the rest to the next pump, from the event loop. So no function that a
 *               handler calls can pull a connection or a call away from under it.
 *   call        reference counted. The connection points at its unfinished call without a
 *               reference (connection->call) and the call points back (call->connection); both
 *               pointers are cleared together, by call_detach(), when the call is finished or
 *               either of them goes.
 */

struct interface {
	struct interface *next;
	struct varlink_interface *description;
	const struct varlink_method *methods;
	size_t n_methods;
	void *userdata;
};

struct varlink_server {
	sd_event *event;
	struct varlink_server_options options;	/* limits filled in */
	char *vendor, *product, *version, *url; /* what options points at */
	struct interface *interfaces;		/* in the order they were added */
	struct listener *listeners;
	struct connection *connections;
	struct varlink_server_stats stats;
};

struct connection {
	struct varlink_server *server;
	struct connection *previous, *next;
	int fd;
	sd_event_source *io, *defer;
	uint32_t events; /* what io waits for */
	struct ucred peer;
	struct varlink_in in;
	struct varlink_out out;
	struct varlink_call *call; /* the unfinished one */
	bool ended;		   /* the client will send no more */
	bool dropped;		   /* to be freed by the next pump */
	bool pumping;
};

struct varlink_call {
	unsigned n_refs;
	struct connection *connection; /* NULL: finished, or the client has gone */
	struct ucred peer;
	char *method;
	json_t *parameters;
	const struct interface *interface;
	const struct varlink_interface_method *description;
	bool more, oneway, finished, armed;

	varlink_disconnect_callback disconnect;
	void *disconnect_userdata;
	varlink_ready_callback ready;
	void *ready_userdata;
};

/* server.c */

/* The interface called by the first @length bytes of @name; NULL: none. */
struct interface *server_find_interface(const struct varlink_server *server, const char *name,
					size_t length);

/* connection.c */

/* Take over a client's socket, also on failure. */
int connection_new(struct varlink_server *server, int fd, const struct ucred *peer);
void connection_free(struct connection *connection);

/* Give the connection up, and count why. */
void connection_drop(struct connection *connection, uint64_t *counter);

/* Have the event loop go on with this connection. */
void connection_wake(struct connection *connection);

/* Account for what was appended to the queue since it was @pending bytes long, and see to the
 * limits. Returns 0, or -ENOBUFS when the connection was dropped for them. */
int connection_queued(struct connection *connection, size_t pending);

/* call.c */

/* Make a call of a message and run its handler. Returns 0, or -EBADMSG when it is no call. */
int call_dispatch(struct connection *connection, const char *text, size_t length);

/* Run the ready callback. */
void call_ready(struct varlink_call *call);

/* Part call and connection. */
void call_detach(struct varlink_call *call);

/* The client has gone: part them, and tell the holder. */
void call_disconnect(struct varlink_call *call);

/* The call is answered: the connection may go on with the next one. */
void call_finish(struct varlink_call *call);

/* Send an error of org.varlink.service. */
int call_service_error(struct varlink_call *call, const char *name, json_t *parameters);

/* 0 when a reply may be sent, else the error for the caller. */
int call_check_open(const struct varlink_call *call);

/* service.c */

extern const char service_description[];
extern const struct varlink_method service_methods[];
extern const size_t service_n_methods;
