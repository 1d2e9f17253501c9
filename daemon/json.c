// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// JSON of what several methods tell: GUIDs, counters, ends of cables, events.
#include "daemon/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/names.h"
#include "fabric/printable.h"
#include "util/cleanup.h"

json_t *json_guid(uint64_t guid)
{
	return json_string_nocheck(GUID_STRING(guid));
}

json_t *json_counter(uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	return json_string_nocheck(text);
}

json_t *json_number(uint64_t value)
{
	return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

json_t *json_foreign(const char *text)
{
	size_t length = strlen(text), size = PRINTABLE_BYTES(length);
	_cleanup_free_ char *buffer = malloc(size);

	if (!buffer)
		return NULL;
	printable(text, length, buffer, size);
	return json_string(buffer);
}

json_t *json_text(const char *text)
{
	return json_string(text) ?: json_foreign(text);
}

bool json_put(json_t *object, const char *key, json_t *value)
{
	return value && json_object_set_new_nocheck(object, key, value) == 0;
}

json_t *json_port_end(const struct fabric *fabric, uint32_t port)
{
	const struct ibsm_snap_port *p = fabric_port(fabric, port);
	const struct ibsm_snap_node *node = fabric_node(fabric, p->node);
	uint16_t lid = fabric_port_lid(fabric, port);
	json_auto_t *end = NULL;

	end = json_pack("{s:o, s:o, s:s, s:i}", "guid", json_guid(node->node_guid), "name",
			json_text(fabric_node_name(fabric, p->node)), "type",
			node_type_name(node->type), "port", p->port);
	if (!end || (lid && !json_put(end, "lid", json_integer(lid))))
		return NULL;
	return TAKE_PTR(end);
}

json_t *json_end(const struct fabric_end *end)
{
	json_auto_t *object = NULL;

	object = json_pack("{s:o, s:o, s:s}", "guid", json_guid(end->node_guid), "name",
			   json_text(end->name ?: GUID_STRING(end->node_guid)), "type",
			   node_type_name(end->type));
	if (!object ||
	    (end->port != FABRIC_NO_PORT && !json_put(object, "port", json_integer(end->port))) ||
	    (end->lid && !json_put(object, "lid", json_integer(end->lid))))
		return NULL;
	return TAKE_PTR(object);
}

json_t *json_event(const struct event *event)
{
	json_auto_t *object = json_object(), *ends = json_array();

	if (event->number && !json_put(object, "number", json_number(event->number)))
		return NULL;
	for (unsigned i = 0; i < event->n_ends; i++)
		if (json_array_append_new(ends, json_end(&event->ends[i])) < 0)
			return NULL;
	if (json_object_update_new(object,
				   json_pack("{s:o, s:o, s:s, s:s, s:o, s:O}", "realtime_usec",
					     json_number(event->realtime_usec), "monotonic_usec",
					     json_number(event->monotonic_usec), "kind",
					     event_kind_name(event->kind), "severity",
					     fabric_severity_name(event->severity), "message",
					     json_text(event->message), "ends", ends)) < 0 ||
	    (event->sweep && !json_put(object, "sweep", json_number(event->sweep))) ||
	    (event->old && !json_put(object, "old", json_text(event->old))) ||
	    (event->new && !json_put(object, "new", json_text(event->new))) ||
	    (event->cause && !json_put(object, "cause", json_text(event->cause->text))))
		return NULL;
	return TAKE_PTR(object);
}
