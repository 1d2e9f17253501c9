// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Calls methods of a running service and holds every answer against the service's own description.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/cleanup.h"
#include "varlink/client.h"
#include "varlink/idl.h"

/*
 * check-replies SOCKET INTERFACE [METHOD PARAMETERS]…
 *
 * Without a METHOD every method of INTERFACE is called that takes {}. Each is called with `more`
 * and without. An answer fits when its fields are those that the description declares, no others,
 * and of their types; and when it is below 1 MB. Prints a line for each call; exits with 1 where
 * one does not fit. An error that the description declares fits, too.
 */

#define TIMEOUT_USEC UINT64_C(30000000)
#define REPLY_BYTES_MAX (1u << 20)

struct checked {
	const struct varlink_interface_method *method;
	const char *name;
	unsigned replies;
	size_t bytes, largest;
	int bad;
};

static void json_unref(json_t *json)
{
	json_decref(json);
}

DEFINE_CLEANUP(json_t *, json_unref);
DEFINE_CLEANUP(struct varlink_client *, varlink_client_free);
DEFINE_CLEANUP(struct varlink_interface *, varlink_interface_free);

static int check_reply(json_t *parameters, bool continues, void *userdata)
{
	struct checked *checked = userdata;
	struct varlink_mismatch mismatch;
	size_t bytes = json_dumpb(parameters, NULL, 0, JSON_COMPACT);

	(void)continues;

	checked->replies++;
	checked->bytes += bytes;
	if (bytes > checked->largest)
		checked->largest = bytes;
	if (bytes > REPLY_BYTES_MAX) {
		fprintf(stderr, "%s: reply %u has %zu bytes\n", checked->name, checked->replies,
			bytes);
		checked->bad++;
	}
	if (varlink_interface_check_reply(checked->method, parameters, &mismatch) < 0) {
		fprintf(stderr, "%s: reply %u: %s: %s\n", checked->name, checked->replies,
			mismatch.path, mismatch.why);
		checked->bad++;
	}
	return 0;
}

static int check_error(const struct varlink_interface *interface, const struct checked *checked,
		       const char *error, const json_t *parameters)
{
	const char *name = varlink_interface_name(interface);
	size_t length = strlen(name);
	struct varlink_mismatch mismatch;
	int r;

	if (strncmp(error, "org.varlink.service.", strlen("org.varlink.service.")) == 0)
		return 0;
	if (strncmp(error, name, length) != 0 || error[length] != '.') {
		fprintf(stderr, "%s: error %s of another interface\n", checked->name, error);
		return 1;
	}
	r = varlink_interface_check_error(interface, error + length + 1, parameters, &mismatch);
	if (r == -EINVAL)
		fprintf(stderr, "%s: error %s: %s: %s\n", checked->name, error, mismatch.path,
			mismatch.why);
	else if (r < 0)
		fprintf(stderr, "%s: error %s is not declared\n", checked->name, error);
	return r < 0;
}

/* Returns how much did not fit, or negative errno. */
static int call(struct varlink_client *client, const struct varlink_interface *interface,
		const char *name, json_t *parameters, bool more)
{
	_cleanup_(json_unrefp) json_t *returned = NULL;
	_cleanup_free_ char *full = NULL, *error = NULL;
	struct checked checked = {
		.method = varlink_interface_method(interface, name),
		.name = name,
	};
	int r;

	if (asprintf(&full, "%s.%s", varlink_interface_name(interface), name) < 0)
		return -ENOMEM;
	if (more)
		r = varlink_client_call_more(client, full, json_incref(parameters), check_reply,
					     &checked, &returned, &error);
	else
		r = varlink_client_call(client, full, json_incref(parameters), &returned, &error);
	if (r == 0 && !more)
		check_reply(returned, false, &checked);
	if (r > 0)
		checked.bad += check_error(interface, &checked, error, returned);
	if (r < 0)
		fprintf(stderr, "%s: %s\n", name, strerror(-r));
	printf("%s%s: %u replies, %zu bytes, the largest %zu%s%s\n", name, more ? " (more)" : "",
	       checked.replies, checked.bytes, checked.largest, error ? ", " : "",
	       error ? error : "");
	return r < 0 ? r : checked.bad;
}

static int call_both(struct varlink_client *client, const struct varlink_interface *interface,
		     const char *name, json_t *parameters)
{
	int single, more;

	single = call(client, interface, name, parameters, false);
	if (single < 0)
		return single;
	more = call(client, interface, name, parameters, true);
	return more < 0 ? more : single + more;
}

static int call_all(struct varlink_client *client, const struct varlink_interface *interface)
{
	_cleanup_(json_unrefp) json_t *none = json_object();
	const struct varlink_interface_method *method;
	int bad = 0, r;

	for (size_t i = 0; (method = varlink_interface_nth_method(interface, i)); i++) {
		if (varlink_interface_check_call(method, none, NULL) < 0)
			continue;
		r = call_both(client, interface, varlink_interface_method_name(method), none);
		if (r < 0)
			return r;
		bad += r;
	}
	return bad;
}

static int call_listed(struct varlink_client *client, const struct varlink_interface *interface,
		       char **words)
{
	int bad = 0, r;

	for (; words[0]; words += 2) {
		_cleanup_(json_unrefp) json_t *parameters = NULL;

		parameters = json_loads(words[1], 0, NULL);
		if (!parameters || !varlink_interface_method(interface, words[0])) {
			fprintf(stderr, "no method %s, or no JSON: %s\n", words[0], words[1]);
			return -EINVAL;
		}
		r = call_both(client, interface, words[0], parameters);
		if (r < 0)
			return r;
		bad += r;
	}
	return bad;
}

static int get_interface(struct varlink_client *client, const char *name,
			 struct varlink_interface **ret)
{
	_cleanup_(json_unrefp) json_t *returned = NULL;
	const char *text;
	unsigned line = 0;
	int r;

	r = varlink_client_call(client, "org.varlink.service.GetInterfaceDescription",
				json_pack("{s:s}", "interface", name), &returned, NULL);
	if (r != 0)
		return r < 0 ? r : -ENOENT;
	text = json_string_value(json_object_get(returned, "description"));
	if (!text)
		return -EPROTO;
	r = varlink_interface_parse(text, ret, &line);
	if (r == -EBADMSG)
		fprintf(stderr, "%s: line %u does not parse\n", name, line);
	return r;
}

int main(int argc, char **argv)
{
	_cleanup_(varlink_interface_freep) struct varlink_interface *interface = NULL;
	_cleanup_(varlink_client_freep) struct varlink_client *client = NULL;
	int r;

	if (argc < 3 || argc % 2 == 0) {
		fprintf(stderr, "usage: %s SOCKET INTERFACE [METHOD PARAMETERS]...\n", argv[0]);
		return 2;
	}
	r = varlink_client_connect(argv[1], TIMEOUT_USEC, &client);
	if (r >= 0)
		r = get_interface(client, argv[2], &interface);
	if (r >= 0)
		r = argc == 3 ? call_all(client, interface)
			      : call_listed(client, interface, argv + 3);
	if (r < 0)
		fprintf(stderr, "%s: %s\n", argv[0], strerror(-r));
	return r == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
