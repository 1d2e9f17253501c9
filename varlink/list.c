// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Lists of any length as replies of the Varlink service: one batch at a time, as the client reads.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "varlink/server-internal.h"

#define BATCH_BYTES_DEFAULT (768u << 10)

/* Room for what stands around the items. */
static const char reply_head[] = "{\"parameters\":{";
static const char reply_continues[] = "]},\"continues\":true}";
static const char reply_last[] = "]}}";

struct list {
	struct varlink_call *call; /* a reference, but while the handler runs */
	char *name;
	size_t batch_bytes;
	json_t *extra;
	json_t *held; /* did not fit in the batch before */
	varlink_list_next next;
	void (*free)(void *userdata);
	void *userdata;
};

static void list_free(struct list *list)
{
	if (list->free)
		list->free(list->userdata);
	json_decref(list->extra);
	json_decref(list->held);
	free(list->name);
	free(list);
}

DEFINE_CLEANUP(struct list *, list_free);

/* Returns 1 with an item in list->held, 0 at the end. */
static int list_peek(struct list *list)
{
	return list->held ? 1 : list->next(list->userdata, &list->held);
}

static int append_string(struct varlink_out *out, const char *string)
{
	return varlink_out_append(out, string, strlen(string));
}

/* {"parameters":{"a":1,"NAME":[ */
static int append_head(struct varlink_out *out, struct list *list)
{
	int r;

	r = append_string(out, reply_head);
	if (r >= 0 && json_object_size(list->extra) > 0) {
		varlink_out_rewind(out, varlink_out_pending(out) - 1);
		r = varlink_out_append_json(out, list->extra, list->batch_bytes);
		if (r < 0)
			return r;
		varlink_out_rewind(out, varlink_out_pending(out) - 1);
		r = append_string(out, ",");
	}
	if (r >= 0)
		r = append_string(out, "\"");
	if (r >= 0)
		r = append_string(out, list->name);
	return r < 0 ? r : append_string(out, "\":[");
}

/* Returns 1 when there is more than what fitted, 0 when that was all. */
static int append_items(struct varlink_out *out, struct list *list, size_t begin)
{
	const struct varlink_server_options *options = &list->call->connection->server->options;
	size_t frame_bytes = sizeof(reply_continues) + 1; /* and a comma */
	size_t used, limit;
	bool first = true;
	int r;

	for (;; first = false) {
		r = list_peek(list);
		if (r <= 0)
			return r;

		used = varlink_out_pending(out) - begin + frame_bytes;
		limit = first ? options->max_reply_bytes : list->batch_bytes;
		limit = limit > used ? limit - used : 0;
		if (!first) {
			r = append_string(out, ",");
			if (r < 0)
				return r;
		}
		r = varlink_out_append_json(out, list->held, limit);
		if (r == -EMSGSIZE && !first) {
			varlink_out_rewind(out, varlink_out_pending(out) - 1);
			return 1;
		}
		if (r < 0)
			return r;
		json_decref(list->held);
		list->held = NULL;
	}
}

/* Queue one batch. Returns 1 when there is more to come, 0 when it was the last. */
static int list_send(struct list *list)
{
	struct connection *connection = list->call->connection;
	struct varlink_out *out = &connection->out;
	size_t begin = varlink_out_pending(out);
	int more, r;

	r = append_head(out, list);
	more = r < 0 ? r : append_items(out, list, begin);
	if (more < 0 || (more > 0 && !list->call->more)) {
		varlink_out_rewind(out, begin);
		return more;
	}
	r = append_string(out, more ? reply_continues : reply_last);
	if (r >= 0)
		r = varlink_out_append(out, "", 1);
	if (r < 0) {
		varlink_out_rewind(out, begin);
		return r;
	}

	json_decref(list->extra);
	list->extra = NULL;
	r = connection_queued(connection, begin);
	return r < 0 ? r : more;
}

static void on_disconnect(struct varlink_call *call, void *userdata)
{
	list_free(userdata);
	varlink_call_unref(call);
}

static int on_ready(struct varlink_call *call, void *userdata)
{
	struct list *list = userdata;
	int r;

	r = list_send(list);
	if (r != 0)
		return r;

	call_finish(call);
	list_free(list);
	varlink_call_unref(call);
	return 0;
}

static int list_new(struct varlink_call *call, const struct varlink_list *source, struct list **ret)
{
	const struct varlink_server_options *options;
	_cleanup_(list_freep) struct list *list = NULL;
	int r;

	list = calloc(1, sizeof(*list));
	if (!list) {
		if (source->free)
			source->free(source->userdata);
		json_decref(source->extra);
		return -ENOMEM;
	}
	*list = (struct list){
		.call = call,
		.name = strdup(source->name),
		.extra = source->extra,
		.next = source->next,
		.free = source->free,
		.userdata = source->userdata,
	};
	if (!list->name)
		return -ENOMEM;
	r = call_check_open(call);
	if (r < 0)
		return r;
	if (!varlink_interface_method_has_list(call->description, list->name))
		return -EINVAL;

	options = &call->connection->server->options;
	list->batch_bytes = source->batch_bytes > 0 ? source->batch_bytes : BATCH_BYTES_DEFAULT;
	if (list->batch_bytes > options->max_reply_bytes)
		list->batch_bytes = options->max_reply_bytes;
	*ret = TAKE_PTR(list);
	return 0;
}

int varlink_call_reply_list(struct varlink_call *call, const struct varlink_list *source)
{
	_cleanup_(list_freep) struct list *list = NULL;
	json_t *parameters;
	int r;

	r = list_new(call, source, &list);
	if (r < 0)
		return r;

	if (call->oneway) {
		call_finish(call);
		return 0;
	}
	if (call->more) {
		varlink_call_ref(call);
		varlink_call_set_disconnect(call, on_disconnect, list);
		varlink_call_set_ready(call, on_ready, TAKE_PTR(list));
		return 0;
	}

	r = list_send(list);
	if (r < 0)
		return r;
	if (r == 0) {
		call_finish(call);
		return 0;
	}
	if (!source->too_long)
		return call_service_error(call, "ExpectedMore", json_object());
	parameters = json_pack("{s:I}", "bytes_max", (json_int_t)list->batch_bytes);
	return varlink_call_error(call, source->too_long, parameters);
}
