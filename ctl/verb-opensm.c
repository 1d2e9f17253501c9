// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// ibsmctl sms, options: the subnet managers and what ours was told in opensm.conf.
#include "ctl/client.h"

#include <fnmatch.h>
#include <string.h>

#include "ctl/json.h"
#include "util/cleanup.h"

static enum style sm_style(const json_t *row)
{
	return strcmp(json_text_at(row, "state"), "master") == 0 ? STYLE_GREEN : STYLE_NONE;
}

static const struct table_column sm_columns[] = {
	{.title = "NODE", .path = "node", .flags = TABLE_CUT},
	{.title = "LID", .path = "lid", .kind = TABLE_NUMBER},
	{.title = "STATE", .path = "state", .style = sm_style},
	{.title = "PRIORITY", .path = "priority", .kind = TABLE_NUMBER},
	{.title = "SELF", .path = "self", .kind = TABLE_YES_NO},
	{.title = "ACTCOUNT", .path = "act_count", .kind = TABLE_NUMBER},
	{.title = "GUID", .path = "guid", .flags = TABLE_FULL},
	{.title = "NODE GUID", .path = "node_guid", .flags = TABLE_FULL},
};

int verb_sms(struct ctl *ctl, int n_args, char **args)
{
	static const struct client_list list = {
		.method = "ListSubnetManagers",
		.member = "subnet_managers",
		.name = "sms",
		.noun = "subnet manager",
		.columns = sm_columns,
		.n_columns = ELEMENTSOF(sm_columns),
	};

	(void)n_args;
	(void)args;
	return client_print_list(ctl, &list, json_object(), NULL);
}

static const struct table_column option_columns[] = {
	{.title = "NAME", .path = "name"},
	{.title = "VALUE", .path = "value", .flags = TABLE_CUT},
	{.title = "TYPE", .path = "type", .flags = TABLE_FULL},
};

static bool is_wanted(const json_t *item, const void *userdata)
{
	return !userdata || fnmatch(userdata, json_text_at(item, "name"), 0) == 0;
}

int verb_options(struct ctl *ctl, int n_args, char **args)
{
	static const struct client_list list = {
		.method = "ListOptions",
		.member = "options",
		.noun = "option",
		.columns = option_columns,
		.n_columns = ELEMENTSOF(option_columns),
		.wanted = is_wanted,
	};

	return client_print_list(ctl, &list, json_object(), n_args ? args[0] : NULL);
}
