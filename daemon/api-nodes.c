// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// ListNodes and GetNode: nodes and their ports.
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/api-internal.h"
#include "fabric/names.h"
#include "util/cleanup.h"

static bool put_lids(json_t *lids, const struct ibsm_snap_port *port)
{
	uint32_t count = 1u << (port->lmc & 7);

	for (uint32_t i = 0; port->lid && i < count; i++)
		if (json_array_append_new(lids, json_integer(port->lid + i)) < 0)
			return false;
	return true;
}

static json_t *node_json(const struct fabric *fabric, uint32_t index)
{
	const struct ibsm_snap_node *node = fabric_node(fabric, index);
	json_auto_t *lids = json_array();
	uint32_t linked = 0;
	uint8_t lmc = 0;

	for (uint32_t i = 0; i < node->ports; i++) {
		const struct ibsm_snap_port *port = fabric_port(fabric, node->first_port + i);

		linked += fabric_link_port(fabric, node->first_port + i) != IBSM_NONE;
		if (node->type == IBSM_NODE_SWITCH && port->port != 0)
			continue;
		if (port->lid)
			lmc = port->lmc;
		if (!put_lids(lids, port))
			return NULL;
	}
	return json_pack(
		"{s:o, s:o, s:s, s:o, s:O, s:i, s:i, s:I, s:o, s:I, s:i, s:I}", "guid",
		json_guid(node->node_guid), "name", json_text(fabric_node_name(fabric, index)),
		"type", node_type_name(node->type), "description",
		json_text(fabric_node_description(fabric, index)), "lids", lids, "lmc", lmc,
		"ports", node->num_ports, "ports_linked", (json_int_t)linked, "system_image_guid",
		json_guid(node->system_image_guid), "vendor_id", (json_int_t)node->vendor_id,
		"device_id", node->device_id, "revision", (json_int_t)node->revision);
}

static json_t *names_json(const char *const *names, size_t n)
{
	json_auto_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		if (json_array_append_new(list, json_string(names[i])) < 0)
			return NULL;
	return json_incref(list);
}

static json_t *widths_json(uint8_t mask)
{
	const char *names[WIDTHS_MAX];

	return names_json(names, width_names(mask, names));
}

static json_t *speeds_json(uint32_t mask)
{
	const char *names[SPEED_MAX];

	return names_json(names, speed_names(mask, names));
}

static json_t *port_json(const struct fabric *fabric, uint32_t index)
{
	const struct ibsm_snap_port *port = fabric_port(fabric, index);
	const struct ibsm_snap_node *node = fabric_node(fabric, port->node);
	bool is_switch = node->type == IBSM_NODE_SWITCH;
	/* Port 0 of a switch leads into the switch: it has an address and no cable. */
	bool has_cable = !is_switch || port->port != 0, has_address = !is_switch || port->port == 0;
	bool up = has_cable && port->state >= 2; /* init, armed or active */
	uint32_t remote = fabric_link_port(fabric, index), rate = port_rate_mbps(port);
	json_auto_t *object = NULL;
	const char *width = width_name(port->width_active), *speed = speed_name(port_speed(port));

	object = json_pack("{s:i, s:s, s:s, s:o, s:o, s:o, s:o, s:b}", "port", port->port, "state",
			   port_state_name(port->state), "physical_state",
			   port_physical_state_name(port->physical_state), "width_enabled",
			   widths_json(port->width_enabled), "width_supported",
			   widths_json(port->width_supported), "speed_enabled",
			   speeds_json(port_speeds_enabled(port)), "speed_supported",
			   speeds_json(port_speeds_supported(port)), "healthy",
			   port->flags & IBSM_PORT_HEALTHY);
	if (!object)
		return NULL;
	if (has_address && !json_put(object, "guid", json_guid(port->port_guid)))
		return NULL;
	if (has_address && port->lid &&
	    (!json_put(object, "lid", json_integer(port->lid)) ||
	     !json_put(object, "lmc", json_integer(port->lmc))))
		return NULL;
	if (up && ((width && !json_put(object, "width", json_string(width))) ||
		   (speed && !json_put(object, "speed", json_string(speed))) ||
		   (rate && !json_put(object, "rate_mbps", json_integer(rate))) ||
		   (mtu_bytes(port->mtu_active) &&
		    !json_put(object, "mtu_bytes", json_integer(mtu_bytes(port->mtu_active)))) ||
		   (vl_count(port->vl_operational) &&
		    !json_put(object, "vls", json_integer(vl_count(port->vl_operational))))))
		return NULL;
	if (mtu_bytes(port->mtu_supported) &&
	    !json_put(object, "mtu_supported_bytes", json_integer(mtu_bytes(port->mtu_supported))))
		return NULL;
	if (remote != IBSM_NONE && !json_put(object, "neighbour", json_port_end(fabric, remote)))
		return NULL;
	return TAKE_PTR(object);
}

static json_t *switch_json(const struct fabric *fabric, const struct ibsm_snap_switch *sw)
{
	return json_pack("{s:i, s:i, s:i, s:I, s:I, s:b}", "lid", sw->lid, "lft_top", sw->lft_top,
			 "linear_cap", sw->linear_cap, "lft_entries",
			 (json_int_t)fabric_lft_entries(fabric, sw), "lft_mismatches",
			 (json_int_t)fabric_lft_mismatch(fabric, sw), "enhanced_port0",
			 sw->flags & IBSM_SWITCH_ENHANCED_PORT0);
}

/* ListNodes: all in the order of names, or the one that a GUID or a LID leads to. */

struct node_list {
	struct fabric *fabric;
	uint32_t rank; /* place in the order of names */
	uint32_t only; /* a node; IBSM_NONE: all */
	uint8_t type;  /* 0: all */
	char *pattern; /* NULL: all */
};

static void node_list_free(void *userdata)
{
	struct node_list *list = userdata;

	fabric_unref(list->fabric);
	free(list->pattern);
	free(list);
}

static bool is_listed(const struct node_list *list, uint32_t node)
{
	return (list->only == IBSM_NONE || list->only == node) &&
	       fabric_node_present(list->fabric, node) &&
	       (!list->type || fabric_node(list->fabric, node)->type == list->type) &&
	       (!list->pattern ||
		fnmatch(list->pattern, fabric_node_name(list->fabric, node), 0) == 0);
}

static int node_list_next(void *userdata, json_t **ret_item)
{
	struct node_list *list = userdata;

	while (list->rank < fabric_nodes(list->fabric)) {
		uint32_t node = fabric_nodes_in_name_order(list->fabric)[list->rank++];

		if (!is_listed(list, node))
			continue;
		*ret_item = node_json(list->fabric, node);
		return *ret_item ? 1 : -ENOMEM;
	}
	return 0;
}

/* A pattern may be a GUID or a LID as well. Returns the node, or IBSM_NONE. */
static uint32_t node_of_pattern(const struct fabric *fabric, const char *pattern)
{
	uint64_t guid;
	uint16_t lid;
	uint32_t port;

	if (api_parse_guid(pattern, &guid))
		return fabric_node_by_any_guid(fabric, guid, NULL, NULL);
	if (!api_parse_lid(pattern, &lid))
		return IBSM_NONE;
	port = fabric_port_by_lid(fabric, lid);
	return port == IBSM_NONE ? IBSM_NONE : fabric_port(fabric, port)->node;
}

int api_list_nodes(struct varlink_call *call, json_t *parameters, void *userdata)
{
	const char *pattern = api_string(parameters, "pattern"),
		   *type = api_string(parameters, "type");
	struct manager *m = ((struct api *)userdata)->manager;
	struct node_list *list;
	unsigned code = 0;

	if (type) {
		for (code = IBSM_NODE_CA; code <= IBSM_NODE_ROUTER; code++)
			if (strcmp(type, node_type_name((uint8_t)code)) == 0)
				break;
		if (code > IBSM_NODE_ROUTER)
			return varlink_call_invalid_parameter(call, "type");
	}
	if (!m->fabric)
		return api_no_fabric(call, m);
	list = calloc(1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	list->type = (uint8_t)code;
	list->only = pattern ? node_of_pattern(m->fabric, pattern) : IBSM_NONE;
	if (pattern && list->only == IBSM_NONE && !(list->pattern = strdup(pattern))) {
		free(list);
		return -ENOMEM;
	}
	list->fabric = fabric_ref(m->fabric);
	return api_reply_list(call, "nodes", node_list_next, node_list_free, list, NULL);
}

int api_get_node(struct varlink_call *call, json_t *parameters, void *userdata)
{
	struct manager *m = ((struct api *)userdata)->manager;
	const struct ibsm_snap_switch *sw;
	const struct ibsm_snap_node *node;
	json_auto_t *ports = NULL, *reply = NULL;
	struct api_node found;
	int r;

	if (!m->fabric)
		return api_no_fabric(call, m);
	r = api_find_node(call, m->fabric, api_string(parameters, "node"), &found);
	if (r != 1)
		return r;
	node = fabric_node(m->fabric, found.node);
	ports = json_array();
	for (uint32_t i = 0; i < node->ports; i++)
		if (json_array_append_new(ports, port_json(m->fabric, node->first_port + i)) < 0)
			return -ENOMEM;
	reply = json_pack("{s:o, s:O}", "node", node_json(m->fabric, found.node), "ports", ports);
	sw = fabric_switch(m->fabric, found.node);
	if (!reply || (sw && !json_put(reply, "switch", switch_json(m->fabric, sw))))
		return -ENOMEM;
	return varlink_call_reply(call, TAKE_PTR(reply));
}
