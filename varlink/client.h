// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Varlink client: blocking calls with a time-out, streamed replies, and a descriptor for poll
// loops.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

/*
 * One connection to a service as https://varlink.org defines it. For one thread at a time. Never
 * raises SIGPIPE; the descriptor is close-on-exec; EINTR is retried. Logs nothing.
 *
 * Time-outs are in microseconds of CLOCK_MONOTONIC, counted per function call;
 * VARLINK_TIMEOUT_INFINITE waits for ever.
 *
 * After any of the errors of the connection below, it is dead: the same error comes back for
 * every further call, and varlink_client_free() is all that is left.
 *
 *   -ENOENT, -ECONNREFUSED  nobody is there (no socket, or none that listens on it)
 *   -EACCES                 no permission for the socket
 *   -ETIMEDOUT              no answer in time
 *   -ECONNRESET             the service closed the connection before it had answered
 *   -EPROTO                 the answer is no Varlink reply
 *   -EMSGSIZE               the answer is larger than VARLINK_CLIENT_REPLY_BYTES_MAX
 *   other                   as socket(), connect(), send(), recv() said
 */

#define VARLINK_TIMEOUT_INFINITE UINT64_MAX
#define VARLINK_CLIENT_REPLY_BYTES_MAX (16u << 20)

struct varlink_client;

/**
 * Connect.
 * @path: of the socket, up to 107 bytes (-ENAMETOOLONG)
 * @timeout_usec: for the connect, and the default of what follows
 */
int varlink_client_connect(const char *path, uint64_t timeout_usec, struct varlink_client **ret);

/* Close and free; accepts NULL and returns NULL. */
struct varlink_client *varlink_client_free(struct varlink_client *client);

/**
 * Call a method and wait for its only reply.
 * @method: "io.ibsm.Monitor.GetStatus"
 * @parameters: consumed, also on failure; NULL: none (or, after a failed json_pack(), what the
 *     service will refuse as missing)
 * @ret_parameters: of the reply, or of the error; a new reference, never NULL then; may be NULL
 * @ret_error: the error's name, or NULL for a reply; to be freed; may be NULL
 *
 * Returns 0: reply. 1: the service answered with an error. Negative errno: see above.
 */
int varlink_client_call(struct varlink_client *client, const char *method, json_t *parameters,
			json_t **ret_parameters, char **ret_error);

/**
 * One of several replies.
 * @parameters: borrowed
 * @continues: another one follows
 * Returns 0 to go on; anything else ends varlink_client_call_more() with that value.
 */
typedef int (*varlink_client_callback)(json_t *parameters, bool continues, void *userdata);

/**
 * Call a method with `more` and pass each reply on, until the last one. The time-out holds for
 * each reply. After -ETIMEDOUT the connection is dead, and so it is when @callback ends it early
 * (-ECANCELED from then on): Varlink has no way to cancel but to close.
 *
 * Returns 0 after the last reply (ret_x untouched: the callback had them all), 1 if the service
 * answered with an error, which may come after replies (ret_x as above), the callback's value, or
 * negative errno.
 */
int varlink_client_call_more(struct varlink_client *client, const char *method, json_t *parameters,
			     varlink_client_callback callback, void *userdata,
			     json_t **ret_parameters, char **ret_error);

/* The two steps apart: for poll loops and for pipelined calls (answered in order). */

enum varlink_client_flags {
	VARLINK_CLIENT_MORE = 1 << 0,
	VARLINK_CLIENT_ONEWAY = 1 << 1, /* nothing to receive */
};

/* Send a call, blocking up to the client's time-out. @parameters as above. Returns 0 or errno. */
int varlink_client_send(struct varlink_client *client, const char *method, json_t *parameters,
			unsigned flags);

struct varlink_reply {
	json_t *parameters; /* never NULL once received */
	char *error;	    /* NULL: not an error */
	bool continues;	    /* another reply to the same call follows */
};

/**
 * Take the next reply. With @timeout_usec 0 take what is there: in a poll loop, when the
 * descriptor is readable, call it until -EAGAIN (several replies may have come at once).
 * @ret_reply: for varlink_reply_clear()
 *
 * Returns 0, -EAGAIN (time-out 0 and no whole reply yet; the connection goes on), or errno. Here
 * -ETIMEDOUT leaves the connection alive: the reply may still come.
 */
int varlink_client_receive(struct varlink_client *client, uint64_t timeout_usec,
			   struct varlink_reply *ret_reply);

void varlink_reply_clear(struct varlink_reply *reply);

/* The connection's descriptor, for poll(POLLIN) or sd-event; the client's own. */
int varlink_client_fd(const struct varlink_client *client);
