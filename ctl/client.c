// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Calls to ibsmd; each failure is explained on standard error, in one line.
#include "ctl/client.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/json.h"
#include "ctl/text.h"
#include "util/cleanup.h"
#include "varlink/client.h"

#define INTERFACE "io.ibsm.Monitor."
#define SERVICE "org.varlink.service."

static void explain_connection(const struct ctl *ctl, int r)
{
	bool is_default = strcmp(ctl->socket, CTL_SOCKET_DEFAULT) == 0;
	char duration[TEXT_BYTES];

	switch (r) {
	case -ENOENT:
		ctl_error(ctl, "there is no socket %s: is ibsmd running? %s", ctl->socket,
			  is_default ? "Start it with: systemctl start ibsmd"
				     : "Look at its --runtime-dir, --socket and $IBSM_SOCKET");
		break;
	case -ECONNREFUSED:
		ctl_error(ctl, "nobody listens on %s: ibsmd has ended. %s", ctl->socket,
			  is_default ? "Start it with: systemctl start ibsmd" : "Start it again");
		break;
	case -EACCES:
	case -EPERM:
		ctl_error(ctl,
			  "no permission for %s: be root, or join its group: usermod -aG ibsm USER",
			  ctl->socket);
		break;
	case -ETIMEDOUT:
		ctl_error(ctl,
			  "ibsmd gave no answer on %s in %s: is it stopped or busy? See: systemctl "
			  "status ibsmd",
			  ctl->socket, text_duration(duration, ctl->timeout_usec));
		break;
	case -ECONNRESET:
	case -EPIPE:
		ctl_error(ctl, "ibsmd closed the connection: did it end? See: journalctl -u ibsmd");
		break;
	case -EPROTO:
	case -EMSGSIZE:
		ctl_error(ctl, "what answers on %s is not ibsmd, or an incompatible one",
			  ctl->socket);
		break;
	case -ENOMEM:
		ctl_error(ctl, "out of memory");
		break;
	default:
		ctl_error(ctl, "cannot talk to ibsmd on %s: %s", ctl->socket, strerror(-r));
		break;
	}
}

static void explain_ambiguous(const struct ctl *ctl, const json_t *parameters)
{
	const json_t *guids = json_at(parameters, "guids");
	_cleanup_free_ char *list = json_join(guids, ", ");
	uint64_t matches = json_count_at(parameters, "matches");

	ctl_error(ctl, "%" PRIu64 " nodes are named \"%s\"; give a GUID: %s%s", matches,
		  json_text_at(parameters, "node"), list ? list : "",
		  matches > json_array_size(guids) ? ", ..." : "");
}

static void explain_sweep(const struct ctl *ctl, const json_t *parameters)
{
	uint64_t first = json_count_at(parameters, "first");
	uint64_t last = json_count_at(parameters, "last");

	if (first == 0)
		ctl_error(ctl, "no sweep has been seen yet");
	else
		ctl_error(ctl,
			  "there is no sweep %" PRIu64 ": those from %" PRIu64 " to %" PRIu64
			  " are kept",
			  json_count_at(parameters, "number"), first, last);
}

static void explain_alert(const struct ctl *ctl, const json_t *parameters)
{
	static const char *const keys[] = {"id", "subject", "kind"};
	uint64_t matches = json_count_at(parameters, "matches");

	for (size_t i = 0; i < ELEMENTSOF(keys); i++) {
		const char *text = json_string_at(parameters, keys[i]);

		if (!text)
			continue;
		if (matches > 0)
			ctl_error(ctl, "%" PRIu64 " open alerts have an id that begins with \"%s\"",
				  matches, text);
		else
			ctl_error(ctl, "no open alert has the %s \"%s\": see ibsmctl alerts",
				  keys[i], text);
		return;
	}
	ctl_error(ctl, "there is no such alert: see ibsmctl alerts");
}

static void explain_parameter(const struct ctl *ctl, const char *method, const char *name)
{
	if (strcmp(name, "kind") == 0 && ctl->kind)
		ctl_error(ctl, "there is no kind of %s \"%s\": see ibsmd(8)",
			  strcmp(method, "ListEvents") == 0 ? "event" : "alert", ctl->kind);
	else if (strcmp(name, "for_usec") == 0)
		ctl_error(ctl, "a silence lasts from 1 s to a year");
	else if (strcmp(name, "reason") == 0)
		ctl_error(ctl, "a reason is one line of printable text, up to 255 bytes");
	else
		ctl_error(ctl, "ibsmd does not accept the value of \"%s\"", name);
}

static void explain_error(const struct ctl *ctl, const char *method, const char *error,
			  const json_t *parameters)
{
	_cleanup_free_ char *details = NULL;
	const char *name = error;

	if (strncmp(error, INTERFACE, strlen(INTERFACE)) == 0) {
		name += strlen(INTERFACE);
		if (strcmp(name, "NoFabric") == 0)
			return ctl_error(ctl, "there is no fabric yet: %s",
					 json_text_at(parameters, "reason"));
		if (strcmp(name, "NoSuchNode") == 0)
			return ctl_error(ctl, "no node has the name, GUID or LID \"%s\"",
					 json_text_at(parameters, "node"));
		if (strcmp(name, "AmbiguousNode") == 0)
			return explain_ambiguous(ctl, parameters);
		if (strcmp(name, "NoLid") == 0)
			return ctl_error(ctl, "\"%s\" has no LID: nothing is routed to or from it",
					 json_text_at(parameters, "node"));
		if (strcmp(name, "NoSuchSweep") == 0)
			return explain_sweep(ctl, parameters);
		if (strcmp(name, "NoSuchAlert") == 0)
			return explain_alert(ctl, parameters);
		if (strcmp(name, "NoSuchSilence") == 0)
			return ctl_error(ctl,
					 "there is no silence %" PRIu64 ": see ibsmctl silences",
					 json_count_at(parameters, "id"));
		if (strcmp(name, "TooManySilences") == 0)
			return ctl_error(ctl,
					 "there are %" PRIu64
					 " silences already: end some with ibsmctl unsilence",
					 json_count_at(parameters, "max"));
		if (strcmp(name, "NoSuchGroup") == 0)
			return ctl_error(ctl, "no multicast group has the MGID or MLID \"%s\"",
					 json_text_at(parameters, "group"));
	} else if (strncmp(error, SERVICE, strlen(SERVICE)) == 0) {
		name += strlen(SERVICE);
		if (strcmp(name, "InvalidParameter") == 0)
			return explain_parameter(ctl, method,
						 json_text_at(parameters, "parameter"));
		if (strcmp(name, "PermissionDenied") == 0)
			return ctl_error(ctl, "ibsmd denies %s to this user: be root", method);
		if (strcmp(name, "InterfaceNotFound") == 0 || strcmp(name, "MethodNotFound") == 0 ||
		    strcmp(name, "MethodNotImplemented") == 0)
			return ctl_error(ctl, "what answers on %s has no %s: is it an older ibsmd?",
					 ctl->socket, method);
	}
	details = json_dumps(parameters, JSON_COMPACT);
	ctl_error(ctl, "ibsmd answered %s with %s %s", method, error, details ? details : "");
}

/* Connect where there is no connection yet. */
static int client_open(struct ctl *ctl)
{
	int r;

	if (ctl->client)
		return 0;
	r = varlink_client_connect(ctl->socket, ctl->timeout_usec, &ctl->client);
	if (r < 0)
		explain_connection(ctl, r);
	return r;
}

void client_close(struct ctl *ctl)
{
	ctl->client = varlink_client_free(ctl->client);
}

static int client_send(struct ctl *ctl, const char *method, json_t *parameters, unsigned flags)
{
	char full[128];
	int r;

	if (!parameters) {
		explain_connection(ctl, -ENOMEM);
		return -ENOMEM;
	}
	r = client_open(ctl);
	if (r < 0) {
		json_decref(parameters);
		return r;
	}
	snprintf(full, sizeof(full), INTERFACE "%s", method);
	r = varlink_client_send(ctl->client, full, parameters, flags);
	if (r < 0)
		explain_connection(ctl, r);
	return r;
}

/* Wait for a reply; ends with -EPIPE when nobody reads the output any more. */
static int wait_for_reply(struct ctl *ctl)
{
	struct pollfd fds[] = {
		{.fd = varlink_client_fd(ctl->client), .events = POLLIN},
		{.fd = ctl->out.fd, .events = 0},
	};

	if (poll(fds, ELEMENTSOF(fds), -1) < 0)
		return errno == EINTR ? 0 : -errno;
	return fds[1].revents & (POLLERR | POLLHUP | POLLNVAL) ? -EPIPE : 0;
}

/* The next reply that is no error. */
static int client_receive(struct ctl *ctl, const char *method, bool follow,
			  struct varlink_reply *ret)
{
	struct varlink_reply reply;
	int r;

	for (;;) {
		r = varlink_client_receive(ctl->client, follow ? 0 : ctl->timeout_usec, &reply);
		if (r != -EAGAIN)
			break;
		r = wait_for_reply(ctl);
		if (r == -EPIPE)
			return r;
		if (r < 0)
			break;
	}
	if (r < 0) {
		explain_connection(ctl, r);
		return r;
	}
	if (reply.error) {
		explain_error(ctl, method, reply.error, reply.parameters);
		varlink_reply_clear(&reply);
		return -EREMOTEIO;
	}
	*ret = reply;
	return 0;
}

int client_call(struct ctl *ctl, const char *method, json_t *parameters, json_t **ret)
{
	struct varlink_reply reply;
	int r = client_send(ctl, method, parameters, 0);

	if (r < 0)
		return r;
	r = client_receive(ctl, method, false, &reply);
	if (r < 0)
		return r;
	*ret = json_incref(reply.parameters);
	varlink_reply_clear(&reply);
	return 0;
}

static int call_more(struct ctl *ctl, const char *method, json_t *parameters, bool follow,
		     client_callback callback, void *userdata)
{
	bool continues = true;
	int r = client_send(ctl, method, parameters, VARLINK_CLIENT_MORE);

	while (r == 0 && continues) {
		struct varlink_reply reply;

		r = client_receive(ctl, method, follow, &reply);
		if (r < 0)
			break;
		continues = reply.continues;
		r = callback(userdata, reply.parameters);
		varlink_reply_clear(&reply);
	}
	return r;
}

int client_more(struct ctl *ctl, const char *method, json_t *parameters, client_callback reply,
		void *userdata)
{
	return call_more(ctl, method, parameters, false, reply, userdata);
}

int client_follow(struct ctl *ctl, const char *method, json_t *parameters, client_callback reply,
		  void *userdata)
{
	return call_more(ctl, method, parameters, true, reply, userdata);
}

struct stream {
	struct ctl *ctl;
	const char *method, *member;
	client_callback item;
	void *userdata;
};

static int stream_reply(void *userdata, const json_t *parameters)
{
	const struct stream *stream = userdata;
	const json_t *array = json_object_get(parameters, stream->member), *item;
	size_t i;

	if (!json_is_array(array)) {
		ctl_error(stream->ctl, "ibsmd's answer to %s has no list \"%s\"", stream->method,
			  stream->member);
		return -EPROTO;
	}
	json_array_foreach (array, i, item) {
		int r = stream->item(stream->userdata, item);

		if (r < 0)
			return r;
	}
	return 0;
}

int client_stream(struct ctl *ctl, const char *method, json_t *parameters, const char *member,
		  client_callback item, void *userdata)
{
	struct stream stream = {
		.ctl = ctl,
		.method = method,
		.member = member,
		.item = item,
		.userdata = userdata,
	};

	return client_more(ctl, method, parameters, stream_reply, &stream);
}

struct print {
	const struct client_list *list;
	const void *userdata;
	struct table *table;
};

static int print_item(void *userdata, const json_t *item)
{
	const struct print *print = userdata;

	if (print->list->wanted && !print->list->wanted(item, print->userdata))
		return 0;
	return table_add(print->table, item);
}

int client_print_list(struct ctl *ctl, const struct client_list *list, json_t *parameters,
		      const void *userdata)
{
	struct print print = {.list = list, .userdata = userdata};
	int r = table_new(&ctl->out, list->name ? list->name : list->member, list->noun,
			  list->columns, list->n_columns, &print.table);

	if (r < 0) {
		json_decref(parameters);
		return EXIT_FAILURE;
	}
	r = client_stream(ctl, list->method, parameters, list->member, print_item, &print);
	if (r == 0) {
		if (ctl->page)
			output_start_pager(&ctl->out);
		table_finish(print.table);
	}
	table_free(print.table);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
