// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Fuzz target: a Varlink service whose client sends anything, in any pieces.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "varlink/server-internal.h"

/*
 * The first byte says how the rest is cut up: its low half is the length of the pieces (0: all at
 * once), bit 4 has the client not read before the end, bit 5 has it go without reading at all.
 */

static const char description[] =
	"interface a.b\n"
	"type T (i: ?int, f: ?float, o: ?object, e: ?(x, y), l: ?[]T, m: ?[string]T)\n"
	"method Echo(text: ?string, t: ?T) -> (text: ?string, t: ?T)\n"
	"method Count(n: int) -> (i: int)\n"
	"method Hold() -> ()\n"
	"method List(n: int) -> (items: []int)\n"
	"method Refuse(code: ?int) -> ()\n"
	"method Later() -> ()\n"
	"error E (text: string)\n";

#define HELD_MAX 4
#define COUNT_MAX 1000

static struct varlink_call *held[HELD_MAX];
static unsigned n_held, n_disconnected;

static void check(bool condition)
{
	if (!condition)
		abort();
}

static int echo(struct varlink_call *call, json_t *parameters, void *userdata)
{
	(void)userdata;
	return varlink_call_reply(call, json_incref(parameters));
}

static json_int_t get_n(const json_t *parameters)
{
	json_int_t n = json_integer_value(json_object_get(parameters, "n"));

	return n < 0 ? 0 : n > COUNT_MAX ? COUNT_MAX : n;
}

static int count(struct varlink_call *call, json_t *parameters, void *userdata)
{
	int r = 0;

	(void)userdata;

	for (json_int_t i = 0; i < get_n(parameters) && r >= 0 && varlink_call_wants_more(call);
	     i++)
		r = varlink_call_reply_more(call, json_pack("{s:I}", "i", i));
	return r < 0 ? r : varlink_call_reply(call, json_pack("{s:i}", "i", -1));
}

static void on_disconnect(struct varlink_call *call, void *userdata)
{
	(void)userdata;

	check(varlink_call_reply(call, json_object()) == -ENOTCONN);
	n_disconnected++;
}

static int hold(struct varlink_call *call, json_t *parameters, void *userdata)
{
	(void)parameters;
	(void)userdata;

	if (n_held == HELD_MAX)
		return varlink_call_permission_denied(call);
	held[n_held++] = varlink_call_ref(call);
	varlink_call_set_disconnect(call, on_disconnect, NULL);
	return 0;
}

static void release_held(bool answer)
{
	for (unsigned i = 0; i < n_held; i++) {
		if (answer && i % 2 == 0)
			(void)varlink_call_reply_more(held[i], json_object());
		if (answer)
			(void)varlink_call_reply(held[i], json_object());
		held[i] = varlink_call_unref(held[i]);
	}
	n_held = 0;
}

static int next_item(void *userdata, json_t **ret_item)
{
	json_int_t *left = userdata;

	if (*left == 0)
		return 0;
	*ret_item = json_integer((*left)--);
	return 1;
}

static int list(struct varlink_call *call, json_t *parameters, void *userdata)
{
	json_int_t *left = malloc(sizeof(*left));
	struct varlink_list reply = {
		.name = "items",
		.batch_bytes = 200,
		.too_long = "a.b.E",
		.next = next_item,
		.free = free,
		.userdata = left,
	};

	(void)userdata;

	*left = get_n(parameters);
	return varlink_call_reply_list(call, &reply);
}

static int refuse(struct varlink_call *call, json_t *parameters, void *userdata)
{
	json_t *code = json_object_get(parameters, "code");

	(void)userdata;

	if (json_integer_value(code) < 0)
		return -EIO;
	if (json_integer_value(code) > 0)
		return 0;
	return varlink_call_error(call, "a.b.E", json_pack("{s:s}", "text", "x"));
}

static const struct varlink_method methods[] = {
	{.name = "Echo", .handler = echo},     {.name = "Count", .handler = count},
	{.name = "Hold", .handler = hold},     {.name = "List", .handler = list},
	{.name = "Refuse", .handler = refuse},
};

static void settle(sd_event *event)
{
	int r;

	do
		r = sd_event_run(event, 0);
	while (r > 0);
	check(r == 0);
}

/* Everything that the service sends must be a reply. */
static void read_replies(struct varlink_in *in, int fd)
{
	const char *text;
	size_t length;
	json_t *reply;
	int r;

	for (;;) {
		r = varlink_in_next(in, &text, &length);
		if (r > 0) {
			reply = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
			check(json_is_object(json_object_get(reply, "parameters")));
			json_decref(reply);
			continue;
		}
		check(r == 0);
		if (varlink_in_read(in, fd) <= 0)
			return;
	}
}

static void converse(sd_event *event, int fd, const uint8_t *data, size_t size)
{
	size_t piece = data[0] & 15, n;
	bool reads = !(data[0] & 48), silent = data[0] & 32;
	struct varlink_in in;
	ssize_t sent;

	varlink_in_init(&in, 1 << 20);
	for (size_t i = 1; i < size; i += n) {
		n = piece == 0 || size - i < piece ? size - i : piece;
		sent = send(fd, data + i, n, MSG_NOSIGNAL | MSG_DONTWAIT);
		settle(event);
		release_held(true);
		settle(event);
		if (reads)
			read_replies(&in, fd);
		if (sent < 0 && (errno != EAGAIN || !reads))
			break;
		n = sent < 0 ? 0 : (size_t)sent;
	}
	if (!silent) {
		(void)shutdown(fd, SHUT_WR);
		settle(event);
		release_held(true);
		read_replies(&in, fd);
		settle(event);
	}
	varlink_in_clear(&in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct varlink_server_options options = {
		.max_call_bytes = 4096,
		.max_reply_bytes = 8192,
		.max_queued_bytes = 16384,
	};
	struct ucred peer = {};
	struct varlink_server_stats stats;
	struct varlink_server *server;
	sd_event *event;
	int fds[2];

	if (size == 0)
		return 0;

	check(sd_event_new(&event) >= 0);
	check(varlink_server_new(event, &options, &server) >= 0);
	check(varlink_server_add_interface(server, description, methods, ELEMENTSOF(methods),
					   NULL) >= 0);
	check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) == 0);
	check(connection_new(server, fds[0], &peer) >= 0);

	converse(event, fds[1], data, size);
	close(fds[1]);
	settle(event);
	release_held(false);
	settle(event);
	varlink_server_get_stats(server, &stats);
	check(stats.clients == 0);
	check(stats.queued_bytes == 0);

	varlink_server_free(server);
	sd_event_unref(event);
	return 0;
}
