// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Serves org.varlink.certification with our Varlink service, for other implementations' clients.
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/cleanup.h"
#include "varlink/server.h"

/* certification-server DESCRIPTION SOCKET: says "ready" once it listens; SIGTERM ends it. */

#define INTERFACE "org.varlink.certification"
#define CLIENTS 16
#define MORE_REPLIES 10
#define PI "3.141592653589793"
#define DESCRIPTION_BYTES_MAX (64u << 10)

/*
 * What a client must pass to each test, which is what the test before returned. The tests that are
 * not named here (Start, End) have parameters of their own.
 */
static const struct step {
	const char *method;
	const char *wants;   /* its parameters, but for client_id */
	const char *returns; /* NULL: see the handler */
} steps[] = {
	{"Test01", "{}", "{\"bool\":true}"},
	{"Test02", "{\"bool\":true}", "{\"int\":1}"},
	{"Test03", "{\"int\":1}", "{\"float\":1.0}"},
	{"Test04", "{\"float\":1.0}", "{\"string\":\"ping\"}"},
	{"Test05", "{\"string\":\"ping\"}",
	 "{\"bool\":false,\"int\":2,\"float\":" PI ",\"string\":\"a lot of string\"}"},
	{"Test06", "{\"bool\":false,\"int\":2,\"float\":" PI ",\"string\":\"a lot of string\"}",
	 "{\"struct\":{\"bool\":false,\"int\":2,\"float\":" PI ",\"string\":\"a lot of string\"}}"},
	{"Test07",
	 "{\"struct\":{\"bool\":false,\"int\":2,\"float\":" PI ",\"string\":\"a lot of string\"}}",
	 "{\"map\":{\"bar\":\"Bar\",\"foo\":\"Foo\"}}"},
	{"Test08", "{\"map\":{\"bar\":\"Bar\",\"foo\":\"Foo\"}}",
	 "{\"set\":{\"one\":{},\"two\":{},\"three\":{}}}"},
	{"Test09", "{\"set\":{\"one\":{},\"two\":{},\"three\":{}}}", NULL},
	{"Test10", NULL, NULL},
	{"Test11", NULL, NULL},
};

static const char my_type[] =
	"{\"mytype\":{"
	"\"object\":{\"method\":\"org.varlink.certification.Test09\","
	"\"parameters\":{\"map\":{\"foo\":\"Foo\",\"bar\":\"Bar\"}}},"
	"\"enum\":\"two\","
	"\"struct\":{\"first\":1,\"second\":\"2\"},"
	"\"array\":[\"one\",\"two\",\"three\"],"
	"\"dictionary\":{\"foo\":\"Foo\",\"bar\":\"Bar\"},"
	"\"stringset\":{\"one\":{},\"two\":{},\"three\":{}},"
	"\"interface\":{"
	"\"foo\":[null,{\"Foo\":\"foo\",\"Bar\":\"bar\"},null,{\"one\":\"foo\",\"two\":\"bar\"}],"
	"\"anon\":{\"foo\":true,\"bar\":false}}}}";

struct client {
	char id[32];
	unsigned passed; /* tests, in order */
	bool failed;
};

struct certification {
	struct client clients[CLIENTS];
	unsigned started;
};

static void json_unref(json_t *json)
{
	json_decref(json);
}

DEFINE_CLEANUP(json_t *, json_unref);
DEFINE_CLEANUP(struct varlink_server *, varlink_server_free);

/* As the parsers of two implementations may differ in 1 and 1.0, and null and absent. */
static bool same(const json_t *wants, const json_t *got)
{
	const char *key;
	json_t *value;
	size_t i;

	if (json_is_number(wants) && json_is_number(got))
		return json_number_value(wants) == json_number_value(got);
	if (json_is_object(wants) && json_is_object(got)) {
		json_object_foreach ((json_t *)got, key, value)
			if (!json_is_null(value) && !json_object_get(wants, key))
				return false;
		json_object_foreach ((json_t *)wants, key, value)
			if (!same(value, json_object_get(got, key)))
				return false;
		return true;
	}
	if (json_is_array(wants) && json_is_array(got)) {
		if (json_array_size(wants) != json_array_size(got))
			return false;
		json_array_foreach ((json_t *)wants, i, value)
			if (!same(value, json_array_get(got, i)))
				return false;
		return true;
	}
	return json_equal(wants, got);
}

static struct client *find_client(struct certification *certification, const json_t *parameters)
{
	const char *id = json_string_value(json_object_get(parameters, "client_id"));

	for (size_t i = 0; i < CLIENTS; i++)
		if (*certification->clients[i].id && strcmp(certification->clients[i].id, id) == 0)
			return &certification->clients[i];
	return NULL;
}

static json_t *more_reply(int i)
{
	char text[32];

	snprintf(text, sizeof(text), "Reply number %d", i);
	return json_string(text);
}

/* The parameters that step @n wants, but for client_id. */
static json_t *wanted(size_t n)
{
	json_t *replies;

	if (steps[n].wants)
		return json_loads(steps[n].wants, 0, NULL);
	if (strcmp(steps[n].method, "Test10") == 0)
		return json_loads(my_type, 0, NULL);

	replies = json_array();
	for (int i = 1; i <= MORE_REPLIES; i++)
		json_array_append_new(replies, more_reply(i));
	return json_pack("{s:o}", "last_more_replies", replies);
}

static int answer(struct varlink_call *call, size_t n)
{
	int r = 0;

	if (steps[n].returns)
		return varlink_call_reply(call, json_loads(steps[n].returns, 0, NULL));
	if (strcmp(steps[n].method, "Test09") == 0)
		return varlink_call_reply(call, json_loads(my_type, 0, NULL));
	if (strcmp(steps[n].method, "Test11") == 0)
		return varlink_call_reply(call, json_object());

	for (int i = 1; i < MORE_REPLIES && r >= 0; i++)
		r = varlink_call_reply_more(call, json_pack("{s:o}", "string", more_reply(i)));
	return r < 0 ? r
		     : varlink_call_reply(call,
					  json_pack("{s:o}", "string", more_reply(MORE_REPLIES)));
}

static int test(struct varlink_call *call, json_t *parameters, void *userdata)
{
	const char *method = strrchr(varlink_call_method(call), '.') + 1;
	struct client *client = find_client(userdata, parameters);
	_cleanup_(json_unrefp) json_t *wants = NULL, *got = NULL;
	size_t n;

	if (!client)
		return varlink_call_error(call, INTERFACE ".ClientIdError", json_object());
	for (n = 0; strcmp(steps[n].method, method) != 0; n++)
		;

	wants = wanted(n);
	got = json_copy(parameters);
	json_object_del(got, "client_id");
	if (client->passed != n || !same(wants, got) ||
	    varlink_call_wants_more(call) != (strcmp(method, "Test10") == 0) ||
	    varlink_call_is_oneway(call) != (strcmp(method, "Test11") == 0)) {
		client->failed = true;
		return varlink_call_error(call, INTERFACE ".CertificationError",
					  json_pack("{s:O, s:O}", "wants", wants, "got", got));
	}
	client->passed++;
	return answer(call, n);
}

static int start(struct varlink_call *call, json_t *parameters, void *userdata)
{
	struct certification *certification = userdata;
	struct client *client = &certification->clients[certification->started % CLIENTS];

	(void)parameters;

	*client = (struct client){};
	snprintf(client->id, sizeof(client->id), "client-%u", ++certification->started);
	return varlink_call_reply(call, json_pack("{s:s}", "client_id", client->id));
}

static int end(struct varlink_call *call, json_t *parameters, void *userdata)
{
	struct client *client = find_client(userdata, parameters);
	bool all_ok;

	if (!client)
		return varlink_call_error(call, INTERFACE ".ClientIdError", json_object());
	all_ok = client->passed == ELEMENTSOF(steps) && !client->failed;
	*client = (struct client){};
	return varlink_call_reply(call, json_pack("{s:b}", "all_ok", all_ok));
}

static const struct varlink_method methods[] = {
	{.name = "Start", .handler = start},
	{.name = "Test01", .handler = test},
	{.name = "Test02", .handler = test},
	{.name = "Test03", .handler = test},
	{.name = "Test04", .handler = test},
	{.name = "Test05", .handler = test},
	{.name = "Test06", .handler = test},
	{.name = "Test07", .handler = test},
	{.name = "Test08", .handler = test},
	{.name = "Test09", .handler = test},
	{.name = "Test10", .handler = test, .flags = VARLINK_METHOD_NEEDS_MORE},
	{.name = "Test11", .handler = test},
	{.name = "End", .handler = end},
};

static int read_description(const char *path, char *buffer, size_t size)
{
	FILE *file;
	size_t n;

	file = fopen(path, "re");
	if (!file)
		return -errno;
	n = fread(buffer, 1, size - 1, file);
	fclose(file);
	buffer[n] = '\0';
	return 0;
}

static int serve(const char *description_path, const char *socket_path)
{
	static const struct varlink_server_options options = {
		.vendor = "ibsm", .product = "Certification", .version = "1", .url = ""};
	static struct certification certification;
	static char description[DESCRIPTION_BYTES_MAX];
	_cleanup_(varlink_server_freep) struct varlink_server *server = NULL;
	_cleanup_(sd_event_unrefp) sd_event *event = NULL;
	sigset_t mask;
	int r;

	sigemptyset(&mask);
	sigaddset(&mask, SIGTERM);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	r = sd_event_new(&event);
	if (r >= 0)
		r = sd_event_add_signal(event, NULL, SIGTERM, NULL, NULL);
	if (r >= 0)
		r = read_description(description_path, description, sizeof(description));
	if (r >= 0)
		r = varlink_server_new(event, &options, &server);
	if (r >= 0)
		r = varlink_server_add_interface(server, description, methods, ELEMENTSOF(methods),
						 &certification);
	if (r >= 0)
		r = varlink_server_listen_path(server, socket_path, 0600);
	if (r < 0)
		return r;

	puts("ready");
	fflush(stdout);
	return sd_event_loop(event);
}

int main(int argc, char **argv)
{
	int r;

	if (argc != 3) {
		fprintf(stderr, "usage: %s DESCRIPTION SOCKET\n", argv[0]);
		return 2;
	}
	r = serve(argv[1], argv[2]);
	if (r < 0)
		fprintf(stderr, "%s: %s\n", argv[0], strerror(-r));
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
