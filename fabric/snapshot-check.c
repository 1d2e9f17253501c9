// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Validates each row of a snapshot once: indexes, strings, ranges, order.
#include "snapshot-check.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ibsm/wire.h"
#include "names.h"

#define LFT_LIDS_MAX (IBSM_UNICAST_LID_MAX + 1)

struct check {
	struct snapshot *s;
	struct snapshot_error *error;
};

/* "table PORTS row 12: …"; returns -EBADMSG. */
__attribute__((format(printf, 4, 5))) static int bad_row(const struct check *c, enum ibsm_table id,
							 uint32_t row, const char *format, ...)
{
	char text[128];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return snapshot_bad(c->error, "table %s row %u: %s", snapshot_table_name(id), row, text);
}

__attribute__((format(printf, 5, 6))) static void warn_row(struct check *c, uint32_t *counter,
							   enum ibsm_table id, uint32_t row,
							   const char *format, ...)
{
	struct snapshot_warnings *w = &c->s->warnings;
	char text[96];
	va_list args;

	(*counter)++;
	if (w->first[0])
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	snprintf(w->first, sizeof(w->first), "table %s row %u: %s", snapshot_table_name(id), row,
		 text);
}

/* An index into table `target` that may be IBSM_NONE. */
static int check_index(const struct check *c, enum ibsm_table id, uint32_t row, const char *field,
		       uint32_t index, enum ibsm_table target)
{
	uint32_t count = c->s->tables[target].count;

	if (index == IBSM_NONE || index < count)
		return 0;
	if (count == 0)
		return bad_row(c, id, row, "%s %u, but table %s is empty", field, index,
			       snapshot_table_name(target));
	return bad_row(c, id, row, "%s %u is past the last row %u of %s", field, index, count - 1,
		       snapshot_table_name(target));
}

/* The next part of a table whose rows belong to the rows of another, in order, without gaps. */
static int check_part(const struct check *c, enum ibsm_table id, uint32_t row, const char *field,
		      uint32_t first, uint32_t count, enum ibsm_table target, uint32_t *expected)
{
	uint32_t rows = c->s->tables[target].count;

	if (first != *expected)
		return bad_row(c, id, row, "%s is %u, but the row before ends at %u", field, first,
			       *expected);
	if (count > rows - *expected)
		return bad_row(c, id, row, "%u rows from %s %u go past the %u rows of %s", count,
			       field, first, rows, snapshot_table_name(target));
	*expected += count;
	return 0;
}

static int check_part_end(const struct check *c, enum ibsm_table id, enum ibsm_table target,
			  uint32_t expected)
{
	uint32_t rows = c->s->tables[target].count;

	if (expected != rows)
		return bad_row(c, target, expected, "belongs to no row of %s",
			       snapshot_table_name(id));
	return 0;
}

static int check_string(const struct check *c, enum ibsm_table id, uint32_t row, const char *field,
			uint32_t offset)
{
	/* The last byte of STRINGS is NUL: any offset inside leads to a terminated string. */
	if (offset >= c->s->tables[IBSM_TABLE_STRINGS].count)
		return bad_row(c, id, row, "%s: string offset %u is past the end of STRINGS (%u)",
			       field, offset, c->s->tables[IBSM_TABLE_STRINGS].count);
	return 0;
}

static int check_strings(const struct check *c)
{
	const struct snapshot_rows *t = &c->s->tables[IBSM_TABLE_STRINGS];

	if (t->count == 0 || t->rows[0] != '\0')
		return snapshot_bad(c->error, "table STRINGS does not begin with \"\"");
	if (t->rows[t->count - 1] != '\0')
		return snapshot_bad(c->error, "table STRINGS does not end with NUL");
	return 0;
}

static int check_one_row(const struct check *c, enum ibsm_table id)
{
	if (c->s->tables[id].count != 1)
		return snapshot_bad(c->error, "table %s has %u rows; it has one",
				    snapshot_table_name(id), c->s->tables[id].count);
	return 0;
}

static int check_subnet(const struct check *c)
{
	const struct ibsm_snap_subnet *subnet;
	int r;

	r = check_one_row(c, IBSM_TABLE_SUBNET);
	if (r < 0)
		return r;
	r = check_one_row(c, IBSM_TABLE_STATISTICS);
	if (r < 0)
		return r;
	subnet = snapshot_subnet(c->s);
	if (subnet->sm_state > IBSM_SM_MASTER)
		return bad_row(c, IBSM_TABLE_SUBNET, 0, "sm_state %u is none of the four",
			       subnet->sm_state);
	return 0;
}

static int check_nodes(struct check *c)
{
	uint32_t next_port = 0;
	uint64_t guid_before = 0;
	int r;

	for (uint32_t i = 0; i < snapshot_nodes(c->s); i++) {
		const struct ibsm_snap_node *node = snapshot_node(c->s, i);

		if (i && node->node_guid <= guid_before)
			return bad_row(c, IBSM_TABLE_NODES, i,
				       "node_guid 0x%016llx is not greater than the row before "
				       "(0x%016llx)",
				       (unsigned long long)node->node_guid,
				       (unsigned long long)guid_before);
		guid_before = node->node_guid;
		if (node->ports > IBSM_PORTS_MAX)
			return bad_row(c, IBSM_TABLE_NODES, i, "%u ports are more than %d",
				       node->ports, IBSM_PORTS_MAX);
		r = check_part(c, IBSM_TABLE_NODES, i, "first_port", node->first_port, node->ports,
			       IBSM_TABLE_PORTS, &next_port);
		if (r < 0)
			return r;
		r = check_index(c, IBSM_TABLE_NODES, i, "switch_index", node->switch_index,
				IBSM_TABLE_SWITCHES);
		if (r < 0)
			return r;
		if (node->switch_index != IBSM_NONE &&
		    snapshot_switch(c->s, node->switch_index)->node != i)
			return bad_row(c, IBSM_TABLE_NODES, i,
				       "switch_index %u is a row of node %u", node->switch_index,
				       snapshot_switch(c->s, node->switch_index)->node);
		if (node->switch_index != IBSM_NONE && node->type != IBSM_NODE_SWITCH)
			return bad_row(c, IBSM_TABLE_NODES, i,
				       "switch_index %u, but the node's type is %u",
				       node->switch_index, node->type);
		if (node->type < IBSM_NODE_CA || node->type > IBSM_NODE_ROUTER)
			warn_row(c, &c->s->warnings.odd_values, IBSM_TABLE_NODES, i,
				 "type %u is none of IBTA's", node->type);
	}
	return check_part_end(c, IBSM_TABLE_NODES, IBSM_TABLE_PORTS, next_port);
}

static int check_ports(struct check *c)
{
	struct snapshot_warnings *w = &c->s->warnings;
	uint32_t index = 0;
	int r;

	for (uint32_t i = 0; i < snapshot_nodes(c->s); i++) {
		const struct ibsm_snap_node *node = snapshot_node(c->s, i);
		int number_before = -1;

		for (uint32_t j = 0; j < node->ports; j++, index++) {
			const struct ibsm_snap_port *port = snapshot_port(c->s, index);

			if (port->node != i)
				return bad_row(
					c, IBSM_TABLE_PORTS, index,
					"node is %u, but the row lies among those of node %u",
					port->node, i);
			if (port->port <= number_before || port->port >= IBSM_PORTS_MAX)
				return bad_row(
					c, IBSM_TABLE_PORTS, index,
					"port number %u after %d: ascending ones below %d are "
					"needed",
					port->port, number_before, IBSM_PORTS_MAX);
			number_before = port->port;
			if (port->lmc > 7)
				return bad_row(c, IBSM_TABLE_PORTS, index, "lmc %u is more than 7",
					       port->lmc);
			r = check_index(c, IBSM_TABLE_PORTS, index, "remote", port->remote,
					IBSM_TABLE_PORTS);
			if (r < 0)
				return r;
			if (port->remote != IBSM_NONE &&
			    snapshot_port(c->s, port->remote)->remote != index)
				warn_row(c, &w->asymmetric_remotes, IBSM_TABLE_PORTS, index,
					 "remote is %u, whose own remote is another", port->remote);
			if (port->state > 4 || port->physical_state > 7)
				warn_row(c, &w->odd_values, IBSM_TABLE_PORTS, index,
					 "state %u, physical state %u: not IBTA's", port->state,
					 port->physical_state);
		}
	}
	return 0;
}

static int check_lft(const struct check *c, uint32_t row, const char *field, uint64_t offset,
		     uint32_t lids)
{
	uint64_t bytes = c->s->lft_bytes;

	if (offset == IBSM_NO_OFFSET)
		return 0;
	if (offset > bytes || lids > bytes - offset)
		return bad_row(c, IBSM_TABLE_SWITCHES, row,
			       "%s: %u LIDs at offset %llu go past the end of LFT (%llu)", field,
			       lids, (unsigned long long)offset, (unsigned long long)bytes);
	return 0;
}

static int check_switches(const struct check *c)
{
	uint32_t node_before = 0;
	int r;

	for (uint32_t i = 0; i < snapshot_switches(c->s); i++) {
		const struct ibsm_snap_switch *sw = snapshot_switch(c->s, i);

		if (sw->node >= snapshot_nodes(c->s))
			return bad_row(c, IBSM_TABLE_SWITCHES, i,
				       "node %u is past the last of %u nodes", sw->node,
				       snapshot_nodes(c->s));
		if (i && sw->node <= node_before)
			return bad_row(c, IBSM_TABLE_SWITCHES, i,
				       "node %u is not greater than the row before (%u)", sw->node,
				       node_before);
		node_before = sw->node;
		if (snapshot_node(c->s, sw->node)->switch_index != i)
			return bad_row(c, IBSM_TABLE_SWITCHES, i,
				       "node %u names another row as its own", sw->node);
		if (sw->lft_lids > LFT_LIDS_MAX)
			return bad_row(c, IBSM_TABLE_SWITCHES, i, "lft_lids %u is more than %d",
				       sw->lft_lids, LFT_LIDS_MAX);
		r = check_lft(c, i, "lft", sw->lft, sw->lft_lids);
		if (r < 0)
			return r;
		r = check_lft(c, i, "new_lft", sw->new_lft, sw->lft_lids);
		if (r < 0)
			return r;
		if ((sw->new_lft != IBSM_NO_OFFSET) != !!(sw->flags & IBSM_SWITCH_LFT_DIFFERS))
			return bad_row(c, IBSM_TABLE_SWITCHES, i,
				       "the flag that the LFTs differ does not go with new_lft");
	}
	return 0;
}

static int check_sms(struct check *c)
{
	uint64_t guid_before = 0;
	bool others = false;
	int r;

	for (uint32_t i = 0; i < snapshot_sms(c->s); i++) {
		const struct ibsm_snap_sm *sm = snapshot_sm(c->s, i);

		if (sm->self > 1 || (sm->self && i != 0))
			return bad_row(c, IBSM_TABLE_SMS, i,
				       "self is %u: 1 in the first row, else 0", sm->self);
		if (!sm->self && others && sm->port_guid <= guid_before)
			return bad_row(c, IBSM_TABLE_SMS, i,
				       "port_guid is not greater than the row before");
		if (!sm->self) {
			others = true;
			guid_before = sm->port_guid;
		}
		r = check_index(c, IBSM_TABLE_SMS, i, "port", sm->port, IBSM_TABLE_PORTS);
		if (r < 0)
			return r;
		if (sm->state > IBSM_SM_MASTER)
			warn_row(c, &c->s->warnings.odd_values, IBSM_TABLE_SMS, i,
				 "state %u is none of the four", sm->state);
	}
	return 0;
}

static int check_groups(const struct check *c)
{
	const struct ibsm_snap_group *before = NULL;
	uint32_t next = 0;
	int r;

	for (uint32_t i = 0; i < snapshot_groups(c->s); i++) {
		const struct ibsm_snap_group *group = snapshot_group(c->s, i);

		if (before && (group->mgid_prefix < before->mgid_prefix ||
			       (group->mgid_prefix == before->mgid_prefix &&
				group->mgid_guid <= before->mgid_guid)))
			return bad_row(c, IBSM_TABLE_GROUPS, i,
				       "MGID is not greater than the row before");
		before = group;
		r = check_part(c, IBSM_TABLE_GROUPS, i, "first_member", group->first_member,
			       group->members, IBSM_TABLE_GROUP_MEMBERS, &next);
		if (r < 0)
			return r;
	}
	r = check_part_end(c, IBSM_TABLE_GROUPS, IBSM_TABLE_GROUP_MEMBERS, next);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < snapshot_group_members(c->s); i++) {
		r = check_index(c, IBSM_TABLE_GROUP_MEMBERS, i, "port",
				snapshot_group_member(c->s, i)->port, IBSM_TABLE_PORTS);
		if (r < 0)
			return r;
	}
	return 0;
}

static int check_partitions(const struct check *c)
{
	uint32_t next = 0;
	int pkey_before = -1;
	int r;

	for (uint32_t i = 0; i < snapshot_partitions(c->s); i++) {
		const struct ibsm_snap_partition *partition = snapshot_partition(c->s, i);

		if (partition->pkey <= pkey_before || partition->pkey > 0x7fff)
			return bad_row(
				c, IBSM_TABLE_PARTITIONS, i,
				"P_Key 0x%04x: ascending ones without the membership bit are "
				"needed",
				partition->pkey);
		pkey_before = partition->pkey;
		r = check_string(c, IBSM_TABLE_PARTITIONS, i, "name", partition->name);
		if (r < 0)
			return r;
		r = check_part(c, IBSM_TABLE_PARTITIONS, i, "first_member", partition->first_member,
			       partition->members, IBSM_TABLE_PARTITION_MEMBERS, &next);
		if (r < 0)
			return r;
	}
	r = check_part_end(c, IBSM_TABLE_PARTITIONS, IBSM_TABLE_PARTITION_MEMBERS, next);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < snapshot_partition_members(c->s); i++) {
		r = check_index(c, IBSM_TABLE_PARTITION_MEMBERS, i, "port",
				snapshot_partition_member(c->s, i)->port, IBSM_TABLE_PORTS);
		if (r < 0)
			return r;
	}
	return 0;
}

static int check_options(const struct check *c)
{
	const char *before = NULL;
	int r;

	for (uint32_t i = 0; i < snapshot_options(c->s); i++) {
		const struct ibsm_snap_option *option = snapshot_option(c->s, i);
		const char *name;

		r = check_string(c, IBSM_TABLE_OPTIONS, i, "name", option->name);
		if (r < 0)
			return r;
		r = check_string(c, IBSM_TABLE_OPTIONS, i, "text", option->text);
		if (r < 0)
			return r;
		if (option->kind < IBSM_OPTION_INTEGER || option->kind > IBSM_OPTION_SECRET)
			return bad_row(c, IBSM_TABLE_OPTIONS, i, "kind %u is none", option->kind);
		if ((option->kind == IBSM_OPTION_SECRET || option->kind == IBSM_OPTION_BOOLEAN) &&
		    option->value > 1)
			return bad_row(c, IBSM_TABLE_OPTIONS, i, "value of a %s is neither 0 nor 1",
				       option->kind == IBSM_OPTION_SECRET ? "secret" : "boolean");
		name = snapshot_string(c->s, option->name);
		if (before && strcmp(before, name) >= 0)
			return bad_row(c, IBSM_TABLE_OPTIONS, i,
				       "its name does not follow that of the row before");
		before = name;
	}
	return 0;
}

static int check_engines(const struct check *c)
{
	uint32_t used = 0;

	for (uint32_t i = 0; i < snapshot_engines(c->s); i++) {
		const struct ibsm_snap_engine *engine = snapshot_engine(c->s, i);
		int r = check_string(c, IBSM_TABLE_ENGINES, i, "name", engine->name);

		if (r < 0)
			return r;
		if (engine->flags & IBSM_ENGINE_USED && used++)
			return bad_row(c, IBSM_TABLE_ENGINES, i, "a second engine in use");
	}
	return 0;
}

int snapshot_check_rows(struct snapshot *snapshot, struct snapshot_error *ret_error)
{
	struct check c = {snapshot, ret_error};
	int r;

	r = check_strings(&c);
	if (r == 0)
		r = check_subnet(&c);
	if (r == 0)
		r = check_nodes(&c);
	if (r == 0)
		r = check_ports(&c);
	if (r == 0)
		r = check_switches(&c);
	if (r == 0)
		r = check_sms(&c);
	if (r == 0)
		r = check_groups(&c);
	if (r == 0)
		r = check_partitions(&c);
	if (r == 0)
		r = check_options(&c);
	if (r == 0)
		r = check_engines(&c);
	return r;
}
