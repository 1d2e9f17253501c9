// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Varlink service on an sd-event loop: interfaces, calls, single and streamed replies, limits.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <jansson.h>
#include <systemd/sd-event.h>

/*
 * A service as https://varlink.org defines it: NUL-terminated JSON objects on AF_UNIX SOCK_STREAM.
 *
 * Everything runs on the thread of the event loop, and nothing here blocks. The calls of one
 * connection are answered strictly in order, one at a time: while a call is unfinished, the
 * connection's next ones wait unread in the socket, so a client that pipelines without reading
 * holds itself up and nobody else.
 *
 * Callbacks (handler, ready, disconnect) are invoked from the event loop and from
 * varlink_server_free() alone, never from within another function of this header: a holder of
 * calls may walk its own list and reply to each of them without the list changing under it.
 *
 * Functions return 0 or a negative errno unless said otherwise, and log nothing.
 */

struct varlink_server;
struct varlink_call;

struct varlink_server_options {
	/* What org.varlink.service.GetInfo tells; copied; NULL is "". */
	const char *vendor;
	const char *product;
	const char *version;
	const char *url;

	/* Each limit: 0 is the default named below. */
	unsigned max_clients;	       /* connections at once: 64 */
	unsigned max_clients_per_uid;  /* of these, those of one peer uid but root: max_clients */
	size_t max_call_bytes;	       /* one message from a client: 256 KiB */
	size_t max_reply_bytes;	       /* one message to a client: 4 MiB */
	size_t max_queued_bytes;       /* unsent bytes of one client: 8 MiB */
	size_t max_total_queued_bytes; /* unsent bytes of all clients: 64 MiB */

	int64_t priority; /* of all event sources: SD_EVENT_PRIORITY_… */
};

/* Counters since varlink_server_new(), but for the first two, which are of this moment. */
struct varlink_server_stats {
	uint64_t clients;	/* connected now */
	uint64_t queued_bytes;	/* unsent now, all clients */
	uint64_t accepted;	/* connections taken, without the refused ones */
	uint64_t refused;	/* closed at once: max_clients or max_clients_per_uid */
	uint64_t accept_failed; /* accept() failed (as without descriptors); tried again later */
	uint64_t disconnected_slow; /* dropped over max_queued_bytes or max_total_queued_bytes */
	uint64_t oversized;	    /* dropped for a message over max_call_bytes */
	uint64_t malformed;	    /* dropped for what is no Varlink call */
	uint64_t handler_failed;    /* dropped because a handler or callback failed */
	uint64_t calls;		    /* well-formed calls */
	uint64_t errors;	    /* of these, answered by an error */
};

/**
 * A method's code.
 * @call: the call, borrowed: varlink_call_ref() it to answer after the handler's return
 * @parameters: what the client passed, borrowed, never NULL; checked against the description
 *     already: every field is declared, of its type, and present unless nullable (a nullable
 *     field may be absent or JSON null)
 * @userdata: as given to varlink_server_add_interface()
 *
 * Returns 0 when the call was answered or will be (a reference is kept). Negative errno closes
 * the connection, counted as handler_failed; so does returning 0 without either. Ends well with
 * `return varlink_call_reply(call, json_pack(…))`.
 */
typedef int (*varlink_handler)(struct varlink_call *call, json_t *parameters, void *userdata);

enum varlink_method_flags {
	/* Answer org.varlink.service.ExpectedMore where the client did not set `more`. */
	VARLINK_METHOD_NEEDS_MORE = 1 << 0,
};

struct varlink_method {
	const char *name; /* without the interface: "GetStatus" */
	varlink_handler handler;
	unsigned flags; /* enum varlink_method_flags */
};

/**
 * Create a service. It answers org.varlink.service by itself.
 * @event: the loop; a reference is kept
 * @options: copied; NULL is all defaults
 * @ret: the service, for varlink_server_free()
 *
 * Returns 0 or -ENOMEM.
 */
int varlink_server_new(sd_event *event, const struct varlink_server_options *options,
		       struct varlink_server **ret);

/**
 * Close all connections and listening sockets and free the service. The disconnect callback of
 * every unfinished call is invoked, here; references to calls stay valid, and what is done with
 * them returns -ENOTCONN. Unlinks the paths of varlink_server_listen_path(). Not to be called
 * from a callback of this service. Accepts NULL; returns NULL.
 */
struct varlink_server *varlink_server_free(struct varlink_server *server);

/**
 * Offer an interface.
 * @description: the text of its .varlink file (see https://varlink.org/Interface-Definition),
 *     copied; the interface's name is read from it, GetInterfaceDescription hands it out as it is
 * @methods: what is implemented; the array and its strings must outlive the service. A method of
 *     the description without an entry answers MethodNotImplemented
 * @n_methods: entries in @methods
 * @userdata: for the handlers
 *
 * Returns 0, -ENOMEM, -EBADMSG (the description does not parse), -ENOENT (an entry of @methods
 * that the description lacks), -EEXIST (such an interface is there already).
 */
int varlink_server_add_interface(struct varlink_server *server, const char *description,
				 const struct varlink_method *methods, size_t n_methods,
				 void *userdata);

/**
 * Take connections from a socket that is listening already (bound by the caller, or passed by
 * systemd). The service owns it from here on if 0 is returned; made non-blocking and close-on-exec.
 *
 * Returns 0, -ENOTSOCK or -EPROTOTYPE (not a listening AF_UNIX SOCK_STREAM), or what sd-event said.
 */
int varlink_server_listen_fd(struct varlink_server *server, int fd);

/**
 * Bind @path with access @mode (such as 0666) and take connections. A socket that nobody listens
 * on any more is replaced; anything else at @path stays.
 *
 * Returns 0, -ENAMETOOLONG (> 107 bytes), -EADDRINUSE (in use, or not a socket), or what socket(),
 * bind(), chmod(), listen() said.
 */
int varlink_server_listen_path(struct varlink_server *server, const char *path, mode_t mode);

void varlink_server_get_stats(const struct varlink_server *server,
			      struct varlink_server_stats *ret_stats);

/* Calls. */

/**
 * Keep a call beyond its handler; each ref needs an unref. The last unref of a call that is
 * unfinished and whose client is there closes that connection (nobody could answer any more).
 * unref accepts NULL and returns NULL.
 */
struct varlink_call *varlink_call_ref(struct varlink_call *call);
struct varlink_call *varlink_call_unref(struct varlink_call *call);

/* "io.ibsm.Monitor.GetStatus"; the call's own. */
const char *varlink_call_method(const struct varlink_call *call);
/* As the handler got them; borrowed, never NULL. */
json_t *varlink_call_parameters(const struct varlink_call *call);
/* The client takes several replies. */
bool varlink_call_wants_more(const struct varlink_call *call);
/* The client wants no reply: replying is fine and sends nothing. */
bool varlink_call_is_oneway(const struct varlink_call *call);
/* The client is there and the call unfinished. */
bool varlink_call_is_open(const struct varlink_call *call);

/**
 * Who connected (SO_PEERCRED: as of its connect()). Every ret_x may be NULL. Valid after the
 * client has gone, too. Returns 0.
 */
int varlink_call_peer(const struct varlink_call *call, uid_t *ret_uid, gid_t *ret_gid,
		      pid_t *ret_pid);

/*
 * Replies. @parameters is consumed, also on failure; NULL is refused with -EINVAL, so that a
 * failed json_pack() may be passed on: an empty reply is json_object().
 *
 * They return 0; -EINVAL; -ENOMEM; -EALREADY (the call is finished); -ENOTCONN (the client is
 * gone, or is being dropped); -EMSGSIZE (over max_reply_bytes; nothing sent, the call stays open);
 * -ENOBUFS (over max_queued_bytes or max_total_queued_bytes: this client is dropped now, counted).
 */

/* The only, or the last reply: finishes the call. */
int varlink_call_reply(struct varlink_call *call, json_t *parameters);

/* One of several, more follow. -EPERM if not varlink_call_wants_more(). */
int varlink_call_reply_more(struct varlink_call *call, json_t *parameters);

/**
 * Finish the call by an error.
 * @error: fully qualified, "io.ibsm.Monitor.NoSuchNode"; -EINVAL unless the description of an
 *     interface of this service declares it
 */
int varlink_call_error(struct varlink_call *call, const char *error, json_t *parameters);

/* org.varlink.service.InvalidParameter: for what the description cannot tell, as a bad GUID. */
int varlink_call_invalid_parameter(struct varlink_call *call, const char *parameter);
/* org.varlink.service.PermissionDenied */
int varlink_call_permission_denied(struct varlink_call *call);

/* Streams. */

/**
 * Invoked once, from the event loop, when the client went away before the call was finished: drop
 * what belongs to it, and the reference. Also for a client that is dropped over its limits.
 */
typedef void (*varlink_disconnect_callback)(struct varlink_call *call, void *userdata);
void varlink_call_set_disconnect(struct varlink_call *call, varlink_disconnect_callback callback,
				 void *userdata);

/**
 * Invoked from the event loop when all that was queued for this client is in the kernel: write one
 * batch (varlink_call_reply_more(), or varlink_call_reply() for the last), so that what is queued
 * is never more than that.
 * Returns > 0: again as soon as this batch is gone. 0: not before varlink_call_arm(). Negative
 * errno: drop the client, counted as handler_failed. Ignored when the call was finished.
 */
typedef int (*varlink_ready_callback)(struct varlink_call *call, void *userdata);

/* Set the callback and arm it; NULL takes it away. The caller keeps a reference meanwhile. */
void varlink_call_set_ready(struct varlink_call *call, varlink_ready_callback callback,
			    void *userdata);

/* Have the ready callback invoked at the next chance: there is something new to send. */
void varlink_call_arm(struct varlink_call *call);

/* All that was queued for this client is in the kernel. False once the call is not open. */
bool varlink_call_writable(const struct varlink_call *call);

/**
 * Where a list's items come from.
 * @ret_item: a new reference
 * Returns 1 with an item, 0 at the end, negative errno: drop the client (handler_failed).
 */
typedef int (*varlink_list_next)(void *userdata, json_t **ret_item);

/* A list to answer with. Strings are borrowed for the duration of varlink_call_reply_list(). */
struct varlink_list {
	const char *name;     /* the array's field in the reply, as the description has it */
	size_t batch_bytes;   /* a reply is at most this long; 0: 768 KiB */
	json_t *extra;	      /* further fields of the first reply; consumed; may be NULL */
	const char *too_long; /* error for a call without `more`; NULL: ExpectedMore */
	varlink_list_next next;
	void (*free)(void *userdata); /* called once when @next is no longer; may be NULL */
	void *userdata;
};

/**
 * Answer with a list of any length: replies {"NAME": [items…]}, each encoded to at most batch_bytes
 * (a single larger item goes alone) and made as the client takes them, one batch per iteration of
 * the event loop; the last one is without `continues`. To a call without `more` the whole list in
 * one reply of batch_bytes, or, where it is longer, the error list->too_long with parameters
 * {"bytes_max": batch_bytes}.
 *
 * Keeps a reference of its own: a handler just returns what this returns. Takes the ready and the
 * disconnect callback of the call. Errors as for replies; -EINVAL: the description of the method
 * has no such field. On failure, too, list->free was called.
 */
int varlink_call_reply_list(struct varlink_call *call, const struct varlink_list *list);
