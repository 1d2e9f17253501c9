// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What opensm manages: multicast groups, partitions, its options.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <arpa/inet.h>

#include "daemon/api-internal.h"
#include "fabric/names.h"
#include "util/cleanup.h"

#define OPTION_BYTES 4096

/* Lists that walk a table. */

static int reply_table(struct varlink_call *call, struct manager *m, const char *name,
		       varlink_list_next next, uint32_t first, uint32_t end)
{
	struct api_walk *walk = api_walk_new(m->fabric, first, end);

	if (!walk)
		return -ENOMEM;
	return api_reply_list(call, name, next, api_walk_free, walk, NULL);
}

static int group_next(void *userdata, json_t **ret_item)
{
	struct api_walk *walk = userdata;
	const struct ibsm_snap_group *group;
	char mgid[GID_STRING_BYTES];

	if (walk->index >= walk->end)
		return 0;
	group = snapshot_group(walk->fabric->snapshot, walk->index++);
	*ret_item = json_pack("{s:s, s:i, s:i, s:I, s:i, s:i, s:i, s:b, s:I}", "mgid",
			      gid_format(group->mgid_prefix, group->mgid_guid, mgid), "mlid",
			      group->mlid, "pkey", group->pkey, "qkey", (json_int_t)group->qkey,
			      "mtu_bytes", (int)mtu_bytes(group->mtu), "rate_mbps",
			      (int)rate_code_mbps(group->rate), "sl", group->sl, "well_known",
			      group->well_known, "members", (json_int_t)group->members);
	return *ret_item ? 1 : -ENOMEM;
}

int api_list_groups(struct varlink_call *call, json_t *parameters, void *userdata)
{
	struct manager *m = ((struct api *)userdata)->manager;

	(void)parameters;
	if (!m->fabric)
		return api_no_fabric(call, m);
	return reply_table(call, m, "groups", group_next, 0, snapshot_groups(m->fabric->snapshot));
}

static json_t *join_states_json(uint8_t state)
{
	static const char *const names[] = {"full", "non", "send-only", "send-only-full"};
	json_auto_t *list = json_array();

	for (unsigned i = 0; i < ELEMENTSOF(names); i++)
		if (state & (1u << i) && json_array_append_new(list, json_string(names[i])) < 0)
			return NULL;
	return json_incref(list);
}

static int member_next(void *userdata, json_t **ret_item)
{
	struct api_walk *walk = userdata;
	const struct ibsm_snap_group_member *member;
	json_auto_t *object = NULL;
	char gid[GID_STRING_BYTES];

	if (walk->index >= walk->end)
		return 0;
	member = snapshot_group_member(walk->fabric->snapshot, walk->index++);
	object = json_pack("{s:s, s:o, s:b}", "gid",
			   gid_format(member->gid_prefix, member->gid_guid, gid), "join_states",
			   join_states_json(member->join_state), "proxy", member->proxy_join);
	if (!object || (member->port != IBSM_NONE &&
			!json_put(object, "end", json_port_end(walk->fabric, member->port))))
		return -ENOMEM;
	*ret_item = TAKE_PTR(object);
	return 1;
}

static bool parse_mgid(const char *text, uint64_t *ret_prefix, uint64_t *ret_guid)
{
	unsigned char bytes[16];
	uint64_t halves[2] = {0, 0};

	if (inet_pton(AF_INET6, text, bytes) != 1)
		return false;
	for (unsigned i = 0; i < sizeof(bytes); i++)
		halves[i / 8] = halves[i / 8] << 8 | bytes[i];
	*ret_prefix = halves[0];
	*ret_guid = halves[1];
	return true;
}

static bool parse_mlid(const char *text, uint16_t *ret)
{
	char *end;
	unsigned long value;

	if (*text < '0' || *text > '9')
		return false;
	value = strtoul(text, &end, 0);
	if (*end || value < IBSM_MULTICAST_LID_MIN || value > UINT16_MAX)
		return false;
	*ret = (uint16_t)value;
	return true;
}

int api_list_group_members(struct varlink_call *call, json_t *parameters, void *userdata)
{
	struct manager *m = ((struct api *)userdata)->manager;
	const char *text = api_string(parameters, "group");
	const struct snapshot *snapshot;
	uint64_t prefix = 0, guid = 0;
	uint16_t mlid = 0;

	if (!parse_mgid(text, &prefix, &guid) && !parse_mlid(text, &mlid))
		return varlink_call_invalid_parameter(call, "group");
	if (!m->fabric)
		return api_no_fabric(call, m);
	snapshot = m->fabric->snapshot;
	for (uint32_t i = 0; i < snapshot_groups(snapshot); i++) {
		const struct ibsm_snap_group *group = snapshot_group(snapshot, i);

		if (mlid ? group->mlid == mlid
			 : group->mgid_prefix == prefix && group->mgid_guid == guid)
			return reply_table(call, m, "members", member_next, group->first_member,
					   group->first_member + group->members);
	}
	return varlink_call_error(call, API_ERROR("NoSuchGroup"),
				  json_pack("{s:o}", "group", json_text(text)));
}

static int partition_next(void *userdata, json_t **ret_item)
{
	struct api_walk *walk = userdata;
	const struct snapshot *snapshot = walk->fabric->snapshot;
	const struct ibsm_snap_partition *partition;
	uint32_t full = 0;

	if (walk->index >= walk->end)
		return 0;
	partition = snapshot_partition(snapshot, walk->index++);
	for (uint32_t i = 0; i < partition->members; i++)
		full += snapshot_partition_member(snapshot, partition->first_member + i)->full != 0;
	*ret_item =
		json_pack("{s:o, s:i, s:i, s:I, s:I}", "name",
			  json_foreign(snapshot_string(snapshot, partition->name)), "pkey",
			  partition->pkey, "sl", partition->sl, "full_members", (json_int_t)full,
			  "limited_members", (json_int_t)(partition->members - full));
	return *ret_item ? 1 : -ENOMEM;
}

int api_list_partitions(struct varlink_call *call, json_t *parameters, void *userdata)
{
	struct manager *m = ((struct api *)userdata)->manager;

	(void)parameters;
	if (!m->fabric)
		return api_no_fabric(call, m);
	return reply_table(call, m, "partitions", partition_next, 0,
			   snapshot_partitions(m->fabric->snapshot));
}

static const char *option_type(uint8_t kind)
{
	switch (kind) {
	case IBSM_OPTION_INTEGER:
		return "integer";
	case IBSM_OPTION_BOOLEAN:
		return "boolean";
	case IBSM_OPTION_GUID:
		return "guid";
	case IBSM_OPTION_SECRET:
		return "secret";
	default:
		return "string";
	}
}

static int option_next(void *userdata, json_t **ret_item)
{
	struct api_walk *walk = userdata;
	const struct snapshot *snapshot = walk->fabric->snapshot;
	const struct ibsm_snap_option *option;
	char value[OPTION_BYTES];

	if (walk->index >= walk->end)
		return 0;
	option = snapshot_option(snapshot, walk->index++);
	*ret_item = json_pack(
		"{s:o, s:s, s:o}", "name", json_foreign(snapshot_string(snapshot, option->name)),
		"type", option_type(option->kind), "value",
		json_text(fabric_option_format(walk->fabric, option, value, sizeof(value))));
	return *ret_item ? 1 : -ENOMEM;
}

int api_list_options(struct varlink_call *call, json_t *parameters, void *userdata)
{
	struct manager *m = ((struct api *)userdata)->manager;

	(void)parameters;
	if (!m->fabric)
		return api_no_fabric(call, m);
	return reply_table(call, m, "options", option_next, 0,
			   snapshot_options(m->fabric->snapshot));
}
