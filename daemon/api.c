// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// io.ibsm.Monitor: the service, and what its methods share.
#include "daemon/api.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/api-internal.h"
#include "fabric/names.h"
#include "ibsm/limits.h"
#include "util/cleanup.h"

/* Replies of a stream: small, so that a long list does not keep others waiting. */
#define STREAM_BATCH_BYTES (32u << 10)
#define MATCHES_TOLD_MAX 16

extern const char api_description[]; /* made from io.ibsm.Monitor.varlink */

static const struct varlink_method methods[] = {
	{"GetStatus", api_get_status, 0},
	{"ListNodes", api_list_nodes, 0},
	{"GetNode", api_get_node, 0},
	{"ListLinks", api_list_links, 0},
	{"ListSweeps", api_list_sweeps, 0},
	{"GetSweep", api_get_sweep, 0},
	{"ListEvents", api_list_events, 0},
	{"GetRoute", api_get_route, 0},
	{"ListSubnetManagers", api_list_subnet_managers, 0},
	{"GetMastership", api_get_mastership, 0},
	{"GetPlacement", api_get_placement, 0},
	{"ListOptionChecks", api_list_option_checks, 0},
	{"GetSweepStatistics", api_get_sweep_statistics, 0},
	{"ListAlerts", api_list_alerts, 0},
	{"ListAlertKinds", api_list_alert_kinds, 0},
	{"Silence", api_silence, 0},
	{"Unsilence", api_unsilence, 0},
	{"ListSilences", api_list_silences, 0},
	{"Acknowledge", api_acknowledge, 0},
	{"ListGroups", api_list_groups, 0},
	{"ListGroupMembers", api_list_group_members, 0},
	{"ListPartitions", api_list_partitions, 0},
	{"ListOptions", api_list_options, 0},
};

int api_new(struct manager *manager, int fd, const char *path, struct api **ret)
{
	const struct varlink_server_options options = {
		.vendor = "ibsm",
		.product = "ibsmd",
		.version = PACKAGE_VERSION,
		.max_clients = IBSM_CLIENTS_MAX,
		.max_call_bytes = IBSM_CALL_BYTES_MAX,
		.max_reply_bytes = IBSM_MESSAGE_BYTES_MAX,
		.max_queued_bytes = IBSM_CLIENT_QUEUE_BYTES_MAX,
		.priority = SD_EVENT_PRIORITY_NORMAL,
	};
	struct api *api = calloc(1, sizeof(*api));
	int r;

	if (!api) {
		r = -ENOMEM;
		goto fail;
	}
	api->manager = manager;
	r = varlink_server_new(manager->event, &options, &api->server);
	if (r < 0)
		goto fail;
	r = varlink_server_add_interface(api->server, api_description, methods, ELEMENTSOF(methods),
					 api);
	if (r < 0)
		goto fail;
	r = fd >= 0 ? varlink_server_listen_fd(api->server, fd)
		    : varlink_server_listen_path(api->server, path, 0660);
	if (r < 0)
		goto fail;
	*ret = api;
	return 0;
fail:
	log_error("%s: %s", fd >= 0 ? "the socket \"varlink\"" : path, strerror(-r));
	if (fd >= 0)
		close(fd);
	api_free(api);
	return r;
}

struct api *api_free(struct api *api)
{
	if (!api)
		return NULL;
	varlink_server_free(api->server);
	free(api);
	return NULL;
}

void api_events(struct api *api)
{
	api_events_followers_wake(api);
}

void api_get_stats(const struct api *api, struct varlink_server_stats *ret_stats)
{
	varlink_server_get_stats(api->server, ret_stats);
}

bool api_number(const json_t *parameters, const char *key, uint64_t *ret)
{
	const json_t *value = json_object_get(parameters, key);

	if (!json_is_integer(value))
		return true;
	if (json_integer_value(value) < 0)
		return false;
	*ret = (uint64_t)json_integer_value(value);
	return true;
}

int api_no_fabric(struct varlink_call *call, const struct manager *manager)
{
	const char *reason = manager->ingest.followed
				     ? "opensm is connected, but no sweep of it has ended yet"
				     : "no opensm with the plugin is connected";

	return varlink_call_error(call, API_ERROR("NoFabric"),
				  json_pack("{s:s}", "reason", reason));
}

/* Nodes by what people call them. */

static bool parse_hex(const char *text, size_t min, size_t max, uint64_t *ret)
{
	size_t digits;

	if (text[0] != '0' || (text[1] != 'x' && text[1] != 'X'))
		return false;
	digits = strspn(text + 2, "0123456789abcdefABCDEF");
	if (digits < min || digits > max || text[2 + digits])
		return false;
	*ret = strtoull(text + 2, NULL, 16);
	return true;
}

bool api_parse_guid(const char *text, uint64_t *ret)
{
	return parse_hex(text, 16, 16, ret);
}

bool api_parse_lid(const char *text, uint16_t *ret)
{
	size_t digits = strspn(text, "0123456789");
	uint64_t value;

	if (!parse_hex(text, 1, 4, &value)) {
		if (!digits || digits > 5 || text[digits])
			return false;
		value = strtoull(text, NULL, 10);
	}
	if (value == 0 || value > IBSM_UNICAST_LID_MAX)
		return false;
	*ret = (uint16_t)value;
	return true;
}

static int no_such_node(struct varlink_call *call, const char *text)
{
	return varlink_call_error(call, API_ERROR("NoSuchNode"),
				  json_pack("{s:o}", "node", json_text(text)));
}

static int ambiguous(struct varlink_call *call, const char *text, size_t matches, json_t *guids)
{
	return varlink_call_error(call, API_ERROR("AmbiguousNode"),
				  json_pack("{s:o, s:I, s:o}", "node", json_text(text), "matches",
					    (json_int_t)matches, "guids", guids));
}

/* All nodes with a system image GUID; `ports` of one node may share it, nodes seldom do. */
static json_t *guids_of_system(const struct fabric *fabric, uint64_t guid)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < fabric_nodes(fabric); i++)
		if (fabric_node(fabric, i)->system_image_guid == guid &&
		    json_array_size(list) < MATCHES_TOLD_MAX)
			json_array_append_new(list, json_guid(fabric_node(fabric, i)->node_guid));
	return list;
}

static json_t *guids_of_nodes(const struct fabric *fabric, const uint32_t *nodes, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n && i < MATCHES_TOLD_MAX; i++)
		json_array_append_new(list, json_guid(fabric_node(fabric, nodes[i])->node_guid));
	return list;
}

int api_find_node(struct varlink_call *call, const struct fabric *fabric, const char *text,
		  struct api_node *ret)
{
	struct api_node found = {.node = IBSM_NONE, .port = IBSM_NONE};
	const uint32_t *nodes = NULL;
	uint32_t matches = 0;
	uint64_t guid;
	size_t n;

	if (api_parse_guid(text, &guid)) {
		found.node = fabric_node_by_any_guid(fabric, guid, &found.port, &matches);
		if (found.node == IBSM_NONE)
			return no_such_node(call, text);
		if (matches > 1)
			return ambiguous(call, text, matches, guids_of_system(fabric, guid));
		*ret = found;
		return 1;
	}
	if (api_parse_lid(text, &found.lid)) {
		found.port = fabric_port_by_lid(fabric, found.lid);
		if (found.port != IBSM_NONE) {
			found.node = fabric_port(fabric, found.port)->node;
			*ret = found;
			return 1;
		}
		found.lid = 0;
	}
	n = fabric_nodes_by_name(fabric, text, &nodes);
	if (n == 0)
		n = fabric_nodes_by_first_word(fabric, text, &nodes);
	if (n == 0)
		return no_such_node(call, text);
	if (n > 1)
		return ambiguous(call, text, n, guids_of_nodes(fabric, nodes, n));
	found.node = nodes[0];
	*ret = found;
	return 1;
}

/* Lists. */

int api_reply_list(struct varlink_call *call, const char *name, varlink_list_next next,
		   void (*release)(void *userdata), void *userdata, json_t *extra)
{
	return varlink_call_reply_list(
		call, &(struct varlink_list){
			      .name = name,
			      .batch_bytes = varlink_call_wants_more(call) ? STREAM_BATCH_BYTES
									   : IBSM_REPLY_BATCH_BYTES,
			      .extra = extra,
			      .too_long = API_ERROR("ListTooLong"),
			      .next = next,
			      .free = release,
			      .userdata = userdata,
		      });
}

struct api_walk *api_walk_new(struct fabric *fabric, uint32_t index, uint32_t end)
{
	struct api_walk *walk = malloc(sizeof(*walk));

	if (walk)
		*walk = (struct api_walk){fabric_ref(fabric), index, end};
	return walk;
}

void api_walk_free(void *userdata)
{
	struct api_walk *walk = userdata;

	fabric_unref(walk->fabric);
	free(walk);
}
