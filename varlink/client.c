// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Varlink client: blocking calls with a time-out, streamed replies, and a descriptor for poll
// loops.
#include "varlink/client.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>

#include "util/cleanup.h"
#include "varlink/frame.h"

#define USEC_PER_SEC UINT64_C(1000000)

struct varlink_client {
	int fd;
	int error; /* the connection is dead of this */
	uint64_t timeout_usec;
	struct varlink_in in;
	struct varlink_out out;
};

DEFINE_CLEANUP(struct varlink_client *, varlink_client_free);

struct varlink_client *varlink_client_free(struct varlink_client *client)
{
	if (!client)
		return NULL;
	if (client->fd >= 0)
		close(client->fd);
	varlink_in_clear(&client->in);
	varlink_out_clear(&client->out);
	free(client);
	return NULL;
}

static int die(struct varlink_client *client, int error)
{
	client->error = error;
	return error;
}

/* ---- time ---- */

static uint64_t now_usec(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * USEC_PER_SEC + (uint64_t)ts.tv_nsec / 1000;
}

/* When @timeout_usec from now is over. */
static uint64_t deadline_usec(uint64_t timeout_usec)
{
	uint64_t deadline;

	return __builtin_add_overflow(now_usec(), timeout_usec, &deadline) ? UINT64_MAX : deadline;
}

static uint64_t left_usec(uint64_t deadline)
{
	uint64_t now;

	if (deadline == UINT64_MAX)
		return UINT64_MAX;
	now = now_usec();
	return deadline > now ? deadline - now : 0;
}

static int wait_for(int fd, short events, uint64_t deadline)
{
	struct pollfd pollfd = {.fd = fd, .events = events};
	struct timespec ts;
	uint64_t left;
	int r;

	do {
		left = left_usec(deadline);
		ts.tv_sec = (time_t)(left / USEC_PER_SEC);
		ts.tv_nsec = (long)(left % USEC_PER_SEC) * 1000;
		r = ppoll(&pollfd, 1, left == UINT64_MAX ? NULL : &ts, NULL);
	} while (r < 0 && errno == EINTR);
	if (r < 0)
		return -errno;
	return r == 0 ? -ETIMEDOUT : 0;
}

/* ---- connection ---- */

/* connect() to a Unix socket waits for room in the backlog, as long as a send may take. */
static int connect_socket(int fd, const struct sockaddr_un *address, uint64_t deadline)
{
	struct timeval tv = {};
	uint64_t left;

	for (;;) {
		left = left_usec(deadline);
		if (left != UINT64_MAX) {
			left = left > 0 ? left : 1; /* 0 would be for ever */
			tv.tv_sec = (time_t)(left / USEC_PER_SEC);
			tv.tv_usec = (suseconds_t)(left % USEC_PER_SEC);
			if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv)) < 0)
				return -errno;
		}
		if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) >= 0)
			return 0;
		if (errno == EAGAIN)
			return -ETIMEDOUT;
		if (errno != EINTR)
			return -errno;
	}
}

int varlink_client_connect(const char *path, uint64_t timeout_usec, struct varlink_client **ret)
{
	_cleanup_(varlink_client_freep) struct varlink_client *client = NULL;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int r;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, path);

	client = calloc(1, sizeof(*client));
	if (!client)
		return -ENOMEM;
	client->timeout_usec = timeout_usec;
	varlink_in_init(&client->in, VARLINK_CLIENT_REPLY_BYTES_MAX);
	client->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (client->fd < 0)
		return -errno;
	r = connect_socket(client->fd, &address, deadline_usec(timeout_usec));
	if (r < 0)
		return r;

	*ret = TAKE_PTR(client);
	return 0;
}

int varlink_client_fd(const struct varlink_client *client)
{
	return client->fd;
}

/* ---- one message ---- */

static json_t *make_call(const char *method, json_t *parameters, unsigned flags)
{
	json_t *message;

	message = json_pack("{s:s}", "method", method);
	if ((parameters && json_object_set(message, "parameters", parameters) < 0) ||
	    ((flags & VARLINK_CLIENT_MORE) &&
	     json_object_set_new(message, "more", json_true()) < 0) ||
	    ((flags & VARLINK_CLIENT_ONEWAY) &&
	     json_object_set_new(message, "oneway", json_true()) < 0)) {
		json_decref(message);
		return NULL;
	}
	return message;
}

static int flush(struct varlink_client *client, uint64_t deadline)
{
	int r;

	for (;;) {
		r = varlink_out_flush(&client->out, client->fd);
		if (r > 0)
			return 0;
		if (r == 0)
			r = wait_for(client->fd, POLLOUT, deadline);
		if (r < 0)
			return r == -EPIPE ? -ECONNRESET : r;
	}
}

int varlink_client_send(struct varlink_client *client, const char *method, json_t *parameters,
			unsigned flags)
{
	json_t *message;
	int r;

	message = make_call(method, parameters, flags);
	json_decref(parameters);
	if (client->error < 0) {
		json_decref(message);
		return client->error;
	}
	if (!message)
		return -ENOMEM;

	r = varlink_out_message(&client->out, message, SIZE_MAX);
	json_decref(message);
	if (r < 0)
		return r;
	r = flush(client, deadline_usec(client->timeout_usec));
	return r < 0 ? die(client, r) : 0;
}

static int parse_reply(const char *text, size_t length, struct varlink_reply *ret)
{
	json_t *message, *parameters, *error, *continues;
	struct varlink_reply reply = {};
	int r = -EPROTO;

	message = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
	parameters = json_object_get(message, "parameters");
	error = json_object_get(message, "error");
	continues = json_object_get(message, "continues");
	if (!json_is_object(message) ||
	    (parameters && !json_is_object(parameters) && !json_is_null(parameters)) ||
	    (error && !json_is_string(error) && !json_is_null(error)) ||
	    (continues && !json_is_boolean(continues) && !json_is_null(continues)))
		goto finish;

	reply.parameters = json_is_object(parameters) ? json_incref(parameters) : json_object();
	reply.error = json_is_string(error) ? strdup(json_string_value(error)) : NULL;
	reply.continues = json_is_true(continues) && !reply.error;
	if (!reply.parameters || (json_is_string(error) && !reply.error)) {
		varlink_reply_clear(&reply);
		r = -ENOMEM;
		goto finish;
	}
	*ret = reply;
	r = 0;
finish:
	json_decref(message);
	return r;
}

int varlink_client_receive(struct varlink_client *client, uint64_t timeout_usec,
			   struct varlink_reply *ret_reply)
{
	uint64_t deadline = deadline_usec(timeout_usec);
	const char *text;
	size_t length;
	int r;

	if (client->error < 0)
		return client->error;

	for (;;) {
		r = varlink_in_next(&client->in, &text, &length);
		if (r < 0)
			return die(client, r);
		if (r > 0) {
			r = parse_reply(text, length, ret_reply);
			return r == -EPROTO ? die(client, r) : r;
		}

		r = varlink_in_read(&client->in, client->fd);
		if (r == 0)
			return die(client, -ECONNRESET);
		if (r == -EAGAIN) {
			if (timeout_usec == 0)
				return -EAGAIN;
			r = wait_for(client->fd, POLLIN, deadline);
			if (r == -ETIMEDOUT)
				return r;
		}
		if (r < 0)
			return die(client, r);
	}
}

void varlink_reply_clear(struct varlink_reply *reply)
{
	json_decref(reply->parameters);
	free(reply->error);
	*reply = (struct varlink_reply){};
}

/* ---- whole calls ---- */

/* As varlink_client_receive(), for who gives the connection up when it takes too long. */
static int receive_or_die(struct varlink_client *client, struct varlink_reply *ret_reply)
{
	int r;

	r = varlink_client_receive(client, client->timeout_usec, ret_reply);
	if (r == -EAGAIN)
		r = -ETIMEDOUT;
	return r == -ETIMEDOUT ? die(client, r) : r;
}

/* Hand out a last reply. */
static int give(struct varlink_reply *reply, json_t **ret_parameters, char **ret_error)
{
	int r = reply->error ? 1 : 0;

	if (ret_parameters)
		*ret_parameters = TAKE_PTR(reply->parameters);
	if (ret_error)
		*ret_error = TAKE_PTR(reply->error);
	varlink_reply_clear(reply);
	return r;
}

int varlink_client_call(struct varlink_client *client, const char *method, json_t *parameters,
			json_t **ret_parameters, char **ret_error)
{
	struct varlink_reply reply;
	int r;

	r = varlink_client_send(client, method, parameters, 0);
	if (r < 0)
		return r;
	r = receive_or_die(client, &reply);
	if (r < 0)
		return r;
	if (reply.continues) {
		varlink_reply_clear(&reply);
		return die(client, -EPROTO);
	}
	return give(&reply, ret_parameters, ret_error);
}

int varlink_client_call_more(struct varlink_client *client, const char *method, json_t *parameters,
			     varlink_client_callback callback, void *userdata,
			     json_t **ret_parameters, char **ret_error)
{
	struct varlink_reply reply;
	bool continues;
	int r;

	r = varlink_client_send(client, method, parameters, VARLINK_CLIENT_MORE);
	if (r < 0)
		return r;
	do {
		r = receive_or_die(client, &reply);
		if (r < 0)
			return r;
		if (reply.error)
			return give(&reply, ret_parameters, ret_error);

		continues = reply.continues;
		r = callback(reply.parameters, continues, userdata);
		varlink_reply_clear(&reply);
		if (r != 0) {
			if (continues)
				(void)die(client, -ECANCELED);
			return r;
		}
	} while (continues);
	return 0;
}
