// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// ibsmctl nodes, node, links: what the fabric is made of.
#include "ctl/client.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/json.h"
#include "ctl/text.h"
#include "util/cleanup.h"

static enum style link_style(const json_t *row)
{
	const char *state = json_text_at(row, "state");

	if (strcmp(state, "active") == 0)
		return STYLE_NONE;
	return strcmp(state, "down") == 0 ? STYLE_GREY : STYLE_YELLOW;
}

static const struct table_column node_columns[] = {
	{.title = "NAME", .path = "name", .flags = TABLE_CUT},
	{.title = "TYPE", .path = "type"},
	{.title = "LID", .path = "lids", .kind = TABLE_NUMBER},
	{.title = "LINKED", .path = "ports_linked", .kind = TABLE_NUMBER},
	{.title = "PORTS", .path = "ports", .kind = TABLE_NUMBER},
	{.title = "GUID", .path = "guid", .flags = TABLE_FULL},
	{.title = "SYSTEM IMAGE", .path = "system_image_guid", .flags = TABLE_FULL},
	{.title = "DEVICE", .path = "device_id", .kind = TABLE_HEX16, .flags = TABLE_FULL},
	{.title = "DESCRIPTION", .path = "description", .flags = TABLE_FULL | TABLE_CUT},
};

int verb_nodes(struct ctl *ctl, int n_args, char **args)
{
	static const struct client_list list = {
		.method = "ListNodes",
		.member = "nodes",
		.noun = "node",
		.columns = node_columns,
		.n_columns = ELEMENTSOF(node_columns),
	};

	return client_print_list(
		ctl, &list,
		json_pack("{s:s*, s:s*}", "pattern", n_args ? args[0] : NULL, "type", ctl->type),
		NULL);
}

static const struct table_column link_columns[] = {
	{.title = "FROM", .path = "a.name", .flags = TABLE_CUT},
	{.title = "PORT", .path = "a.port", .kind = TABLE_NUMBER},
	{.title = "TO", .path = "b.name", .flags = TABLE_CUT},
	{.title = "PORT", .path = "b.port", .kind = TABLE_NUMBER},
	{.title = "STATE", .path = "state", .style = link_style},
	{.title = "WIDTH", .path = "width"},
	{.title = "SPEED", .path = "speed"},
	{.title = "RATE", .path = "rate_mbps", .kind = TABLE_RATE},
	{.title = "FROM GUID", .path = "a.guid", .flags = TABLE_FULL},
	{.title = "TO GUID", .path = "b.guid", .flags = TABLE_FULL},
};

int verb_links(struct ctl *ctl, int n_args, char **args)
{
	static const struct client_list list = {
		.method = "ListLinks",
		.member = "links",
		.noun = "link",
		.columns = link_columns,
		.n_columns = ELEMENTSOF(link_columns),
	};

	return client_print_list(ctl, &list, json_pack("{s:s*}", "node", n_args ? args[0] : NULL),
				 NULL);
}

static const struct table_column port_columns[] = {
	{.title = "PORT", .path = "port", .kind = TABLE_NUMBER},
	{.title = "LID", .path = "lid", .kind = TABLE_NUMBER},
	{.title = "STATE", .path = "state", .style = link_style},
	{.title = "PHYSICAL", .path = "physical_state"},
	{.title = "WIDTH", .path = "width"},
	{.title = "SPEED", .path = "speed"},
	{.title = "RATE", .path = "rate_mbps", .kind = TABLE_RATE},
	{.title = "MTU", .path = "mtu_bytes", .kind = TABLE_NUMBER},
	{.title = "NEIGHBOUR", .path = "neighbour.name", .flags = TABLE_CUT},
	{.title = "PORT", .path = "neighbour.port", .kind = TABLE_NUMBER},
	{.title = "HEALTHY", .path = "healthy", .kind = TABLE_YES_NO, .flags = TABLE_FULL},
	{.title = "GUID", .path = "guid", .flags = TABLE_FULL},
	{.title = "NEIGHBOUR GUID", .path = "neighbour.guid", .flags = TABLE_FULL},
	{.title = "WIDTHS ENABLED", .path = "width_enabled", .flags = TABLE_FULL},
	{.title = "WIDTHS SUPPORTED", .path = "width_supported", .flags = TABLE_FULL},
	{.title = "SPEEDS ENABLED", .path = "speed_enabled", .flags = TABLE_FULL},
	{.title = "SPEEDS SUPPORTED", .path = "speed_supported", .flags = TABLE_FULL},
};

static void print_node(struct output *out, const json_t *node, const json_t *switch_info)
{
	_cleanup_free_ char *lids = json_join(json_at(node, "lids"), ", ");
	const char *name = json_text_at(node, "name");
	const char *description = json_text_at(node, "description");

	output_line(out, STYLE_BOLD, "%s", name);
	output_field(out, "GUID", "%s", json_text_at(node, "guid"));
	output_field(out, "System image", "%s", json_text_at(node, "system_image_guid"));
	output_field(out, "Type",
		     "%s, vendor 0x%06" PRIx64 ", device 0x%04" PRIx64 ", revision 0x%" PRIx64,
		     json_text_at(node, "type"), json_count_at(node, "vendor_id"),
		     json_count_at(node, "device_id"), json_count_at(node, "revision"));
	if (strcmp(name, description) != 0)
		output_field(out, "Description", "%s", description);
	output_field(out, "LID", "%s, LMC %" PRIu64, lids && *lids ? lids : "none",
		     json_count_at(node, "lmc"));
	output_field(out, "Ports", "%" PRIu64 ", %" PRIu64 " linked", json_count_at(node, "ports"),
		     json_count_at(node, "ports_linked"));
	if (!switch_info)
		return;
	output_field(out, "LFT", "%" PRIu64 " entries, top LID %" PRIu64 " of %" PRIu64,
		     json_count_at(switch_info, "lft_entries"),
		     json_count_at(switch_info, "lft_top"),
		     json_count_at(switch_info, "linear_cap"));
	if (json_count_at(switch_info, "lft_mismatches") > 0) {
		output_label(out, "");
		output_add(out, STYLE_YELLOW,
			   "%" PRIu64 " entries differ from what opensm computed",
			   json_count_at(switch_info, "lft_mismatches"));
		output_end(out);
	}
}

int verb_node(struct ctl *ctl, int n_args, char **args)
{
	struct table *table;
	json_t *reply, *port;
	size_t i;
	int r;

	(void)n_args;
	r = client_call(ctl, "GetNode", json_pack("{s:s}", "node", args[0]), &reply);
	if (r < 0)
		return EXIT_FAILURE;
	if (ctl->out.json != JSON_OFF) {
		output_json(&ctl->out, reply);
		json_decref(reply);
		return EXIT_SUCCESS;
	}

	r = table_new(&ctl->out, "ports", NULL, port_columns, ELEMENTSOF(port_columns), &table);
	if (r == 0) {
		if (ctl->page)
			output_start_pager(&ctl->out);
		print_node(&ctl->out, json_at(reply, "node"), json_at(reply, "switch"));
		output_end(&ctl->out);
		json_array_foreach (json_at(reply, "ports"), i, port) {
			if (r == 0)
				r = table_add(table, port);
		}
		table_finish(table);
		table_free(table);
	}
	json_decref(reply);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
