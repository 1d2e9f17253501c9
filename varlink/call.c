// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Calls of the Varlink service: from message to handler, replies, and those that stay open.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "varlink/server-internal.h"

static void json_unref(json_t *json)
{
	json_decref(json);
}

DEFINE_CLEANUP(json_t *, json_unref);
DEFINE_CLEANUP(struct varlink_call *, varlink_call_unref);

struct varlink_call *varlink_call_ref(struct varlink_call *call)
{
	call->n_refs++;
	return call;
}

struct varlink_call *varlink_call_unref(struct varlink_call *call)
{
	struct connection *connection;

	if (!call || --call->n_refs > 0)
		return NULL;

	connection = call->connection;
	if (connection) {
		call_detach(call);
		if (call->oneway)
			connection_wake(connection);
		else
			connection_drop(connection, &connection->server->stats.handler_failed);
	}
	json_decref(call->parameters);
	free(call->method);
	free(call);
	return NULL;
}

void call_detach(struct varlink_call *call)
{
	call->connection->call = NULL;
	call->connection = NULL;
}

void call_disconnect(struct varlink_call *call)
{
	varlink_disconnect_callback disconnect = call->disconnect;

	call_detach(call);
	call->disconnect = NULL;
	if (disconnect)
		disconnect(call, call->disconnect_userdata);
}

void call_finish(struct varlink_call *call)
{
	struct connection *connection = call->connection;

	call->finished = true;
	call_detach(call);
	connection_wake(connection);
}

/* ---- from message to handler ---- */

/* A bool that may be absent or null. */
static int get_flag(const json_t *message, const char *key, bool *ret)
{
	json_t *value = json_object_get(message, key);

	if (value && !json_is_boolean(value) && !json_is_null(value))
		return -EBADMSG;
	*ret = json_is_true(value);
	return 0;
}

static int call_parse(const json_t *message, struct varlink_call *call, bool *ret_upgrade)
{
	const char *method = json_string_value(json_object_get(message, "method"));
	json_t *parameters = json_object_get(message, "parameters");
	bool upgrade;

	if (!method || get_flag(message, "more", &call->more) < 0 ||
	    get_flag(message, "oneway", &call->oneway) < 0 ||
	    get_flag(message, "upgrade", &upgrade) < 0)
		return -EBADMSG;
	if (parameters && !json_is_object(parameters) && !json_is_null(parameters))
		return -EBADMSG;

	/* There is nobody to send several replies to. */
	if (call->oneway)
		call->more = false;
	call->method = strdup(method);
	call->parameters = json_is_object(parameters) ? json_incref(parameters) : json_object();
	if (!call->method || !call->parameters)
		return -ENOMEM;
	*ret_upgrade = upgrade;
	return 0;
}

static const struct varlink_method *find_method(const struct interface *interface, const char *name)
{
	for (size_t i = 0; i < interface->n_methods; i++)
		if (strcmp(interface->methods[i].name, name) == 0)
			return &interface->methods[i];
	return NULL;
}

static int call_run(struct varlink_call *call, bool upgrade)
{
	struct varlink_server *server = call->connection->server;
	const struct varlink_method *method;
	struct varlink_mismatch mismatch;
	const char *dot;

	dot = strrchr(call->method, '.');
	if (!dot)
		return varlink_call_invalid_parameter(call, "method");

	call->interface = server_find_interface(server, call->method, (size_t)(dot - call->method));
	if (!call->interface)
		return call_service_error(call, "InterfaceNotFound",
					  json_pack("{s:s%}", "interface", call->method,
						    (size_t)(dot - call->method)));
	call->description = varlink_interface_method(call->interface->description, dot + 1);
	if (!call->description)
		return call_service_error(call, "MethodNotFound",
					  json_pack("{s:s}", "method", call->method));
	method = find_method(call->interface, dot + 1);
	if (!method)
		return call_service_error(call, "MethodNotImplemented",
					  json_pack("{s:s}", "method", call->method));
	if (upgrade)
		return varlink_call_invalid_parameter(call, "upgrade");
	if (varlink_interface_check_call(call->description, call->parameters, &mismatch) < 0)
		return varlink_call_invalid_parameter(call, mismatch.field);
	if ((method->flags & VARLINK_METHOD_NEEDS_MORE) && !call->more)
		return call_service_error(call, "ExpectedMore", json_object());

	return method->handler(call, call->parameters, call->interface->userdata);
}

int call_dispatch(struct connection *connection, const char *text, size_t length)
{
	_cleanup_(varlink_call_unrefp) struct varlink_call *call = NULL;
	_cleanup_(json_unrefp) json_t *message = NULL;
	bool upgrade;
	int r;

	message = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
	if (!json_is_object(message))
		return -EBADMSG;
	call = calloc(1, sizeof(*call));
	if (!call)
		return -ENOMEM;
	call->n_refs = 1;
	call->peer = connection->peer;
	r = call_parse(message, call, &upgrade);
	if (r < 0)
		return r;

	connection->server->stats.calls++;
	call->connection = connection;
	connection->call = call;
	r = call_run(call, upgrade);
	if (r < 0 && call->connection)
		connection_drop(connection, &connection->server->stats.handler_failed);
	return 0;
}

/* ---- what a call tells ---- */

const char *varlink_call_method(const struct varlink_call *call)
{
	return call->method;
}

json_t *varlink_call_parameters(const struct varlink_call *call)
{
	return call->parameters;
}

bool varlink_call_wants_more(const struct varlink_call *call)
{
	return call->more;
}

bool varlink_call_is_oneway(const struct varlink_call *call)
{
	return call->oneway;
}

bool varlink_call_is_open(const struct varlink_call *call)
{
	return call->connection && !call->connection->dropped;
}

int varlink_call_peer(const struct varlink_call *call, uid_t *ret_uid, gid_t *ret_gid,
		      pid_t *ret_pid)
{
	if (ret_uid)
		*ret_uid = call->peer.uid;
	if (ret_gid)
		*ret_gid = call->peer.gid;
	if (ret_pid)
		*ret_pid = call->peer.pid;
	return 0;
}

/* ---- replies ---- */

int call_check_open(const struct varlink_call *call)
{
	if (call->finished)
		return -EALREADY;
	return varlink_call_is_open(call) ? 0 : -ENOTCONN;
}

static int call_queue(struct varlink_call *call, const char *error, json_t *parameters,
		      bool continues)
{
	_cleanup_(json_unrefp) json_t *message = NULL;
	struct connection *connection = call->connection;
	size_t pending;
	int r;

	message = error ? json_pack("{s:s, s:O}", "error", error, "parameters", parameters)
			: json_pack("{s:O}", "parameters", parameters);
	if (!message || (continues && json_object_set_new(message, "continues", json_true()) < 0))
		return -ENOMEM;

	pending = varlink_out_pending(&connection->out);
	r = varlink_out_message(&connection->out, message,
				connection->server->options.max_reply_bytes);
	return r < 0 ? r : connection_queued(connection, pending);
}

/* @error NULL: a reply. Consumes @parameters. */
static int call_send(struct varlink_call *call, const char *error, json_t *parameters,
		     bool continues)
{
	int r;

	r = json_is_object(parameters) ? call_check_open(call) : -EINVAL;
	if (r >= 0 && !call->oneway)
		r = call_queue(call, error, parameters, continues);
	if (r >= 0 && error)
		call->connection->server->stats.errors++;
	if (r >= 0 && !continues)
		call_finish(call);
	json_decref(parameters);
	return r;
}

int varlink_call_reply(struct varlink_call *call, json_t *parameters)
{
	return call_send(call, NULL, parameters, false);
}

int varlink_call_reply_more(struct varlink_call *call, json_t *parameters)
{
	if (!call->more) {
		json_decref(parameters);
		return -EPERM;
	}
	return call_send(call, NULL, parameters, true);
}

int varlink_call_error(struct varlink_call *call, const char *error, json_t *parameters)
{
	const struct interface *interface = NULL;
	const char *dot = strrchr(error, '.');

	if (call->connection && dot)
		interface = server_find_interface(call->connection->server, error,
						  (size_t)(dot - error));
	if (call->connection &&
	    (!interface || !varlink_interface_has_error(interface->description, dot + 1))) {
		json_decref(parameters);
		return -EINVAL;
	}
	return call_send(call, error, parameters, false);
}

int call_service_error(struct varlink_call *call, const char *name, json_t *parameters)
{
	char error[64];

	snprintf(error, sizeof(error), "org.varlink.service.%s", name);
	return call_send(call, error, parameters, false);
}

int varlink_call_invalid_parameter(struct varlink_call *call, const char *parameter)
{
	return call_service_error(call, "InvalidParameter",
				  json_pack("{s:s}", "parameter", parameter));
}

int varlink_call_permission_denied(struct varlink_call *call)
{
	return call_service_error(call, "PermissionDenied", json_object());
}

/* ---- calls that stay open ---- */

void varlink_call_set_disconnect(struct varlink_call *call, varlink_disconnect_callback callback,
				 void *userdata)
{
	call->disconnect = callback;
	call->disconnect_userdata = userdata;
}

void varlink_call_set_ready(struct varlink_call *call, varlink_ready_callback callback,
			    void *userdata)
{
	call->ready = callback;
	call->ready_userdata = userdata;
	varlink_call_arm(call);
}

void varlink_call_arm(struct varlink_call *call)
{
	call->armed = true;
	if (call->connection)
		connection_wake(call->connection);
}

bool varlink_call_writable(const struct varlink_call *call)
{
	return varlink_call_is_open(call) && varlink_out_pending(&call->connection->out) == 0;
}

void call_ready(struct varlink_call *call)
{
	int r;

	varlink_call_ref(call);
	call->armed = false;
	r = call->ready(call, call->ready_userdata);
	if (r > 0)
		call->armed = true;
	if (r < 0 && call->connection)
		connection_drop(call->connection, &call->connection->server->stats.handler_failed);
	varlink_call_unref(call);
}
