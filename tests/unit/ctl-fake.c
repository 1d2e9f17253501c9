// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Plays ibsmd for the tests of ibsmctl: answers each call as a scenario file says.
//
// ctl-fake INTERFACE SCENARIO SOCKET; prints "ready" once it listens, and ends on SIGTERM.
//
// The scenario is a JSON object: a method's name, and a list of cases, of which the first that
// fits answers. A case holds
//   "when"      parameters the call must have, of these values; others must be absent
//   "replies"   the parameters of the replies, in order
//   "error"     instead of a last reply: its name, and with "parameters" what it says
//   "then"      what comes after the replies: "hang" (nothing more), "close" (the connection)
// Before it listens it checks all of that against the interface, so that a scenario cannot show
// what ibsmd would never send.
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "util/cleanup.h"
#include "varlink/idl.h"
#include "varlink/server.h"

#define INTERFACE "io.ibsm.Monitor"
#define METHODS_MAX 64

static json_t *scenario;
static struct varlink_interface *interface;

static _Noreturn void die(const char *what, const char *detail)
{
	fprintf(stderr, "ctl-fake: %s: %s\n", what, detail);
	exit(EXIT_FAILURE);
}

static char *read_file(const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t size = 0;

	if (!file || getdelim(&text, &size, '\0', file) < 0)
		die("cannot read", path);
	fclose(file);
	return text;
}

static const char *short_name(const char *method)
{
	return strrchr(method, '.') + 1;
}

/* All that @when has equals, and all that is in @parameters is in @when. */
static bool fits(json_t *when, json_t *parameters)
{
	const char *key;
	json_t *value;

	json_object_foreach (parameters, key, value) {
		if (!json_equal(json_object_get(when, key), value))
			return false;
	}
	return json_object_size(when) == json_object_size(parameters);
}

static json_t *find_case(const char *method, json_t *parameters)
{
	json_t *item;
	size_t i;

	json_array_foreach (json_object_get(scenario, method), i, item) {
		if (fits(json_object_get(item, "when"), parameters))
			return item;
	}
	return NULL;
}

/* When all that was to be said has been sent. */
static int close_connection(struct varlink_call *call, void *userdata)
{
	(void)call;
	(void)userdata;
	return -ECONNABORTED;
}

static void drop_call(struct varlink_call *call, void *userdata)
{
	(void)userdata;
	varlink_call_unref(call);
}

static int answer(struct varlink_call *call, json_t *parameters, void *userdata)
{
	const char *method = short_name(varlink_call_method(call));
	json_t *item = find_case(method, parameters);
	json_t *replies = json_object_get(item, "replies");
	json_t *reply;
	const char *then = json_string_value(json_object_get(item, "then"));
	const char *error = json_string_value(json_object_get(item, "error"));
	char full[128];
	size_t i;
	int r;

	(void)userdata;
	if (!item) {
		_cleanup_free_ char *text = json_dumps(parameters, JSON_COMPACT);

		fprintf(stderr, "ctl-fake: no case for %s %s\n", method, text);
		return -ENOENT;
	}
	json_array_foreach (replies, i, reply) {
		bool last = !then && !error && i + 1 == json_array_size(replies);

		r = (last ? varlink_call_reply : varlink_call_reply_more)(call, json_incref(reply));
		if (r < 0)
			return r;
	}
	if (error) {
		snprintf(full, sizeof(full), "%s%s", strchr(error, '.') ? "" : INTERFACE ".",
			 error);
		return varlink_call_error(call, full,
					  json_incref(json_object_get(item, "parameters")));
	}
	if (then) {
		varlink_call_set_disconnect(varlink_call_ref(call), drop_call, NULL);
		if (strcmp(then, "close") == 0) {
			varlink_call_set_ready(call, close_connection, NULL);
			varlink_call_arm(call);
		}
	}
	return 0;
}

static void check_case(const char *method, json_t *item)
{
	const struct varlink_interface_method *m = varlink_interface_method(interface, method);
	const char *error = json_string_value(json_object_get(item, "error"));
	struct varlink_mismatch mismatch;
	json_t *when = json_object_get(item, "when"), *reply;
	size_t i;

	if (!m)
		die("no such method", method);
	if (!json_is_object(when) || varlink_interface_check_call(m, when, &mismatch) < 0)
		die(method, "\"when\" is no call of it");
	json_array_foreach (json_object_get(item, "replies"), i, reply) {
		if (varlink_interface_check_reply(m, reply, &mismatch) < 0) {
			fprintf(stderr, "ctl-fake: %s: %s %s\n", method, mismatch.path,
				mismatch.why);
			exit(EXIT_FAILURE);
		}
	}
	if (error && !strchr(error, '.') &&
	    varlink_interface_check_error(interface, error, json_object_get(item, "parameters"),
					  &mismatch) < 0)
		die(method, error);
}

int main(int argc, char **argv)
{
	static struct varlink_method methods[METHODS_MAX];
	struct varlink_server *server = NULL;
	sd_event *event = NULL;
	json_error_t error;
	char *description;
	size_t n = 0, i;
	const char *name;
	json_t *cases, *item;
	sigset_t signals;

	if (argc != 4)
		die("usage", "ctl-fake INTERFACE SCENARIO SOCKET");
	description = read_file(argv[1]);
	if (varlink_interface_parse(description, &interface, NULL) < 0)
		die("no interface", argv[1]);
	scenario = json_load_file(argv[2], 0, &error);
	if (!scenario) {
		fprintf(stderr, "ctl-fake: %s:%d: %s\n", argv[2], error.line, error.text);
		return EXIT_FAILURE;
	}
	json_object_foreach (scenario, name, cases) {
		json_array_foreach (cases, i, item)
			check_case(name, item);
		if (n == METHODS_MAX)
			die("too many methods", name);
		methods[n++] = (struct varlink_method){.name = name, .handler = answer};
	}

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	if (sd_event_default(&event) < 0 ||
	    sd_event_add_signal(event, NULL, SIGTERM, NULL, NULL) < 0 ||
	    varlink_server_new(event, NULL, &server) < 0 ||
	    varlink_server_add_interface(server, description, methods, n, NULL) < 0 ||
	    varlink_server_listen_path(server, argv[3], 0666) < 0)
		die("cannot listen", argv[3]);
	puts("ready");
	fflush(stdout);
	sd_event_loop(event);
	varlink_server_free(server);
	sd_event_unref(event);
	varlink_interface_free(interface);
	json_decref(scenario);
	free(description);
	return EXIT_SUCCESS;
}
