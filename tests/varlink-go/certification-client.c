// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Runs org.varlink.certification with our Varlink client against another implementation's service.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/cleanup.h"
#include "varlink/client.h"

/* certification-client SOCKET: exits with 0 when the service says that all is well. */

#define INTERFACE "org.varlink.certification."
#define TIMEOUT_USEC UINT64_C(30000000)

static void json_unref(json_t *json)
{
	json_decref(json);
}

DEFINE_CLEANUP(json_t *, json_unref);
DEFINE_CLEANUP(struct varlink_client *, varlink_client_free);

static int collect(json_t *parameters, bool continues, void *userdata)
{
	(void)continues;
	return json_array_append(userdata, json_object_get(parameters, "string")) < 0 ? -ENOMEM : 0;
}

static int explain(const char *method, int r, const char *error)
{
	if (r != 0)
		fprintf(stderr, "%s: %s\n", method, r < 0 ? strerror(-r) : error);
	return r < 0 ? r : r > 0 ? -EREMOTEIO : 0;
}

/* Call @method with the client's id and @parameters, and return what it returns. */
static int call(struct varlink_client *client, const char *method, json_t *id,
		const json_t *parameters, json_t **ret)
{
	_cleanup_free_ char *full = NULL, *error = NULL;
	json_t *all = json_object();
	int r;

	if (asprintf(&full, INTERFACE "%s", method) < 0)
		return -ENOMEM;
	json_object_update(all, (json_t *)parameters);
	if (id)
		json_object_set(all, "client_id", id);
	r = varlink_client_call(client, full, all, ret, &error);
	return explain(method, r, error);
}

static int certify(struct varlink_client *client)
{
	static const char *const methods[] = {"Test01", "Test02", "Test03", "Test04", "Test05",
					      "Test06", "Test07", "Test08", "Test09"};
	_cleanup_(json_unrefp) json_t *started = NULL, *passed_on = json_object(),
				      *replies = json_array(), *ended = NULL;
	_cleanup_free_ char *error = NULL;
	json_t *id, *returned;
	int r;

	r = call(client, "Start", NULL, NULL, &started);
	if (r < 0)
		return r;
	id = json_object_get(started, "client_id");

	for (size_t i = 0; i < ELEMENTSOF(methods); i++) {
		r = call(client, methods[i], id, passed_on, &returned);
		if (r < 0)
			return r;
		json_decref(passed_on);
		passed_on = returned;
	}

	json_object_set(passed_on, "client_id", id);
	r = varlink_client_call_more(client, INTERFACE "Test10", TAKE_PTR(passed_on), collect,
				     replies, NULL, &error);
	r = explain("Test10", r, error);
	if (r < 0)
		return r;
	if (json_array_size(replies) != 10)
		return -EPROTO;
	r = varlink_client_send(
		client, INTERFACE "Test11",
		json_pack("{s:O, s:O}", "client_id", id, "last_more_replies", replies),
		VARLINK_CLIENT_ONEWAY);
	if (r < 0)
		return r;

	r = call(client, "End", id, NULL, &ended);
	if (r < 0)
		return r;
	return json_is_true(json_object_get(ended, "all_ok")) ? 0 : -EREMOTEIO;
}

int main(int argc, char **argv)
{
	_cleanup_(varlink_client_freep) struct varlink_client *client = NULL;
	int r;

	if (argc != 2) {
		fprintf(stderr, "usage: %s SOCKET\n", argv[0]);
		return 2;
	}
	r = varlink_client_connect(argv[1], TIMEOUT_USEC, &client);
	if (r >= 0)
		r = certify(client);
	if (r < 0)
		fprintf(stderr, "%s: %s\n", argv[0], strerror(-r));
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
