// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// ibsmctl groups, partitions: multicast and P_Keys.
#include "ctl/client.h"

#include "util/cleanup.h"

static const struct table_column group_columns[] = {
	{.title = "MGID", .path = "mgid"},
	{.title = "MLID", .path = "mlid", .kind = TABLE_HEX16},
	{.title = "P_KEY", .path = "pkey", .kind = TABLE_HEX16},
	{.title = "MTU", .path = "mtu_bytes", .kind = TABLE_NUMBER},
	{.title = "RATE", .path = "rate_mbps", .kind = TABLE_RATE},
	{.title = "SL", .path = "sl", .kind = TABLE_NUMBER},
	{.title = "MEMBERS", .path = "members", .kind = TABLE_NUMBER},
	{.title = "Q_KEY", .path = "qkey", .kind = TABLE_HEX16, .flags = TABLE_FULL},
	{.title = "WELL KNOWN", .path = "well_known", .kind = TABLE_YES_NO, .flags = TABLE_FULL},
};

static const struct table_column member_columns[] = {
	{.title = "NODE", .path = "end.name", .flags = TABLE_CUT},
	{.title = "PORT", .path = "end.port", .kind = TABLE_NUMBER},
	{.title = "LID", .path = "end.lid", .kind = TABLE_NUMBER},
	{.title = "JOINED", .path = "join_states"},
	{.title = "GID", .path = "gid"},
	{.title = "PROXY", .path = "proxy", .kind = TABLE_YES_NO, .flags = TABLE_FULL},
	{.title = "GUID", .path = "end.guid", .flags = TABLE_FULL},
};

int verb_groups(struct ctl *ctl, int n_args, char **args)
{
	static const struct client_list groups = {
		.method = "ListGroups",
		.member = "groups",
		.noun = "group",
		.columns = group_columns,
		.n_columns = ELEMENTSOF(group_columns),
	};
	static const struct client_list members = {
		.method = "ListGroupMembers",
		.member = "members",
		.noun = "member",
		.columns = member_columns,
		.n_columns = ELEMENTSOF(member_columns),
	};

	if (n_args == 0)
		return client_print_list(ctl, &groups, json_object(), NULL);
	return client_print_list(ctl, &members, json_pack("{s:s}", "group", args[0]), NULL);
}

static const struct table_column partition_columns[] = {
	{.title = "NAME", .path = "name", .flags = TABLE_CUT},
	{.title = "P_KEY", .path = "pkey", .kind = TABLE_HEX16},
	{.title = "SL", .path = "sl", .kind = TABLE_NUMBER},
	{.title = "FULL", .path = "full_members", .kind = TABLE_NUMBER},
	{.title = "LIMITED", .path = "limited_members", .kind = TABLE_NUMBER},
};

int verb_partitions(struct ctl *ctl, int n_args, char **args)
{
	static const struct client_list list = {
		.method = "ListPartitions",
		.member = "partitions",
		.noun = "partition",
		.columns = partition_columns,
		.n_columns = ELEMENTSOF(partition_columns),
	};

	(void)n_args;
	(void)args;
	return client_print_list(ctl, &list, json_object(), NULL);
}
