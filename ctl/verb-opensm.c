// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// ibsmctl options: what our opensm was told in opensm.conf.
#include "ctl/client.h"

#include <fnmatch.h>

#include "ctl/json.h"
#include "util/cleanup.h"

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
