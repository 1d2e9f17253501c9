// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// ListLinks and GetRoute: cables, and the way through them.
#include <errno.h>
#include <stdlib.h>

#include "daemon/api-internal.h"
#include "fabric/names.h"
#include "fabric/route.h"
#include "util/cleanup.h"

#define HOPS_TOLD_MAX 256 /* a loop is told once round; a real way is shorter than 64 */
#define REASON_BYTES 512

static json_t *link_json(const struct fabric *fabric, const struct fabric_link *link)
{
	const struct ibsm_snap_port *port = fabric_port(fabric, link->a);
	const char *width = width_name(port->width_active), *speed = speed_name(port_speed(port));
	uint32_t rate = port_rate_mbps(port);
	json_auto_t *object = NULL;

	object = json_pack("{s:o, s:o, s:s}", "a", json_port_end(fabric, link->a), "b",
			   json_port_end(fabric, link->b), "state", port_state_name(port->state));
	if (!object || (width && !json_put(object, "width", json_string(width))) ||
	    (speed && !json_put(object, "speed", json_string(speed))) ||
	    (rate && !json_put(object, "rate_mbps", json_integer(rate))))
		return NULL;
	return TAKE_PTR(object);
}

struct link_list {
	struct fabric *fabric;
	struct fabric_link_iterator iterator;
	uint32_t only; /* a node; IBSM_NONE: all */
};

static void link_list_free(void *userdata)
{
	struct link_list *list = userdata;

	fabric_unref(list->fabric);
	free(list);
}

static int link_list_next(void *userdata, json_t **ret_item)
{
	struct link_list *list = userdata;
	struct fabric_link link;

	while (fabric_link_next(list->fabric, &list->iterator, &link)) {
		if (list->only != IBSM_NONE &&
		    fabric_port(list->fabric, link.a)->node != list->only &&
		    fabric_port(list->fabric, link.b)->node != list->only)
			continue;
		*ret_item = link_json(list->fabric, &link);
		return *ret_item ? 1 : -ENOMEM;
	}
	return 0;
}

int api_list_links(struct varlink_call *call, json_t *parameters, void *userdata)
{
	struct manager *m = ((struct api *)userdata)->manager;
	const char *node = api_string(parameters, "node");
	struct api_node found = {.node = IBSM_NONE};
	struct link_list *list;
	int r;

	if (!m->fabric)
		return api_no_fabric(call, m);
	if (node) {
		r = api_find_node(call, m->fabric, node, &found);
		if (r != 1)
			return r;
	}
	list = calloc(1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	list->fabric = fabric_ref(m->fabric);
	list->only = found.node;
	return api_reply_list(call, "links", link_list_next, link_list_free, list, NULL);
}

/* GetRoute. */

struct route_end_point {
	uint16_t lid;
	uint32_t port;
};

/* One of the ways to name an end: the LID that was given, the port's own, else the node's first. */
static int find_end(struct varlink_call *call, const struct fabric *fabric, const char *text,
		    struct route_end_point *ret)
{
	struct api_node found;
	uint16_t lid;
	int r;

	r = api_find_node(call, fabric, text, &found);
	if (r != 1)
		return r;
	lid = found.lid
		      ?: found.port != IBSM_NONE ? fabric_port_lid(fabric, found.port)
						 : fabric_node_lid(fabric, found.node);
	ret->port = lid ? fabric_port_by_lid(fabric, lid) : IBSM_NONE;
	if (ret->port == IBSM_NONE)
		return varlink_call_error(
			call, API_ERROR("NoLid"),
			json_pack("{s:o}", "node",
				  json_text(fabric_node_name(fabric, found.node))));
	ret->lid = lid;
	return 1;
}

static json_t *hop_json(const struct fabric *fabric, const struct route_hop *hop)
{
	const struct ibsm_snap_node *node = fabric_node(fabric, hop->node);
	json_auto_t *object = NULL;

	object = json_pack("{s:o, s:o, s:s}", "guid", json_guid(node->node_guid), "name",
			   json_text(fabric_node_name(fabric, hop->node)), "type",
			   node_type_name(node->type));
	if (!object || (hop->lid && !json_put(object, "lid", json_integer(hop->lid))) ||
	    (hop->in_port != ROUTE_NO_PORT &&
	     !json_put(object, "in_port", json_integer(hop->in_port))) ||
	    (hop->out_port != ROUTE_NO_PORT &&
	     !json_put(object, "out_port", json_integer(hop->out_port))))
		return NULL;
	return TAKE_PTR(object);
}

int api_get_route(struct varlink_call *call, json_t *parameters, void *userdata)
{
	struct manager *m = ((struct api *)userdata)->manager;
	struct route_hop hops[HOPS_TOLD_MAX];
	struct route_end_point source = {0}, destination = {0};
	json_auto_t *list = NULL, *route = NULL;
	struct route_result result;
	char reason[REASON_BYTES];
	int r;

	if (!m->fabric)
		return api_no_fabric(call, m);
	r = find_end(call, m->fabric, api_string(parameters, "source"), &source);
	if (r != 1)
		return r;
	r = find_end(call, m->fabric, api_string(parameters, "destination"), &destination);
	if (r != 1)
		return r;
	r = fabric_route(m->fabric, source.lid, destination.lid, hops, ELEMENTSOF(hops), &result);
	if (r < 0)
		return r;

	list = json_array();
	for (size_t i = 0; i < result.hops && i < ELEMENTSOF(hops); i++)
		if (json_array_append_new(list, hop_json(m->fabric, &hops[i])) < 0)
			return -ENOMEM;
	route = json_pack("{s:o, s:o, s:i, s:i, s:s, s:O}", "source",
			  json_port_end(m->fabric, source.port), "destination",
			  json_port_end(m->fabric, destination.port), "source_lid", source.lid,
			  "destination_lid", destination.lid, "result", route_end_name(result.end),
			  "hops", list);
	route_reason(m->fabric, &result, reason, sizeof(reason));
	if (!route || (*reason && !json_put(route, "reason", json_text(reason))))
		return -ENOMEM;
	return varlink_call_reply(call, json_pack("{s:O}", "route", route));
}
