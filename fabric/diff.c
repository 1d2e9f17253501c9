// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The list of changes: how it is made, ordered, copied and freed.
#include "diff.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diff-internal.h"
#include "string-pool.h"

struct fabric_changes *fabric_changes_free(struct fabric_changes *changes)
{
	if (changes) {
		fabric_strings_free(changes->strings);
		free(changes->changes);
		free(changes);
	}
	return NULL;
}

static int changes_new(struct fabric_changes **ret)
{
	_cleanup_(fabric_changes_freep) struct fabric_changes *changes = NULL;

	changes = calloc(1, sizeof(*changes));
	if (!changes)
		return -ENOMEM;
	changes->strings = fabric_strings_new();
	if (!changes->strings)
		return -ENOMEM;
	*ret = TAKE_PTR(changes);
	return 0;
}

struct fabric_change *diff_add(struct diff *diff, enum fabric_change_kind kind)
{
	struct fabric_changes *c = diff->changes;
	struct fabric_change *change = &diff->scratch;

	if (c->count == diff->room) {
		size_t room = diff->room ? diff->room * 2 : 16;
		void *changes = reallocarray(c->changes, room, sizeof(*c->changes));

		if (changes) {
			c->changes = changes;
			diff->room = room;
		} else {
			diff->no_memory = true;
		}
	}
	if (c->count < diff->room) {
		change = &c->changes[c->count++];
		c->by_kind[kind]++;
	}
	*change = (struct fabric_change){.kind = kind};
	return change;
}

const char *diff_string(struct diff *diff, const char *text)
{
	const char *copy = fabric_strings_add(diff->changes->strings, text);

	if (text && !copy)
		diff->no_memory = true;
	return copy;
}

struct fabric_end diff_node_end(struct diff *diff, const struct fabric *fabric, uint32_t node)
{
	const struct ibsm_snap_node *row = fabric_node(fabric, node);

	return (struct fabric_end){
		.node_guid = row->node_guid,
		.name = diff_string(diff, fabric_node_name(fabric, node)),
		.port = FABRIC_NO_PORT,
		.lid = fabric_node_lid(fabric, node),
		.type = row->type,
	};
}

struct fabric_end diff_port_end(struct diff *diff, const struct fabric *fabric, uint32_t port)
{
	const struct ibsm_snap_port *row = fabric_port(fabric, port);
	struct fabric_end end = diff_node_end(diff, fabric, row->node);

	end.port_guid = row->port_guid;
	end.port = row->port;
	end.lid = fabric_port_lid(fabric, port);
	return end;
}

/* By whether it is a detail, then by kind; stable. */
static int order(struct diff *diff)
{
	struct fabric_changes *c = diff->changes;
	size_t starts[2 * FABRIC_CHANGE_KINDS + 1] = {0};
	struct fabric_change *sorted;

	if (c->count < 2)
		return 0;
	sorted = reallocarray(NULL, c->count, sizeof(*sorted));
	if (!sorted)
		return -ENOMEM;
#define BUCKET(change)                                                                             \
	((change)->kind +                                                                          \
	 ((change)->flags & FABRIC_CHANGE_WITH_NODE ? (size_t)FABRIC_CHANGE_KINDS : 0))
	for (size_t i = 0; i < c->count; i++)
		starts[BUCKET(&c->changes[i]) + 1]++;
	for (size_t i = 1; i < ELEMENTSOF(starts); i++)
		starts[i] += starts[i - 1];
	for (size_t i = 0; i < c->count; i++)
		sorted[starts[BUCKET(&c->changes[i])]++] = c->changes[i];
#undef BUCKET
	free(c->changes);
	c->changes = sorted;
	return 0;
}

static void add_first_seen(struct diff *diff)
{
	const struct fabric_counts *n = fabric_counts(diff->new);
	struct fabric_change *change = diff_add(diff, FABRIC_CHANGE_FIRST_SEEN);
	char text[160];

	snprintf(text, sizeof(text), "%u switches, %u CAs, %u routers, %u links", n->switches,
		 n->cas, n->routers, n->links);
	change->new_text = diff_string(diff, text);
}

int fabric_diff(const struct fabric *old, const struct fabric *new, struct fabric_changes **ret)
{
	_cleanup_(fabric_changes_freep) struct fabric_changes *changes = NULL;
	_cleanup_free_ uint32_t *new_of_old = NULL;
	_cleanup_free_ uint32_t *old_of_new = NULL;
	size_t old_nodes = old ? fabric_nodes(old) : 0;
	struct diff diff;
	int r;

	r = changes_new(&changes);
	if (r < 0)
		return r;
	new_of_old = reallocarray(NULL, old_nodes + 1, sizeof(*new_of_old));
	old_of_new = reallocarray(NULL, (size_t)fabric_nodes(new) + 1, sizeof(*old_of_new));
	if (!new_of_old || !old_of_new)
		return -ENOMEM;
	/* IBSM_NONE is all bits set. */
	memset(new_of_old, 0xff, old_nodes * sizeof(*new_of_old));
	memset(old_of_new, 0xff, (size_t)fabric_nodes(new) * sizeof(*old_of_new));
	diff = (struct diff){.old = old,
			     .new = new,
			     .changes = changes,
			     .new_of_old = new_of_old,
			     .old_of_new = old_of_new};
	diff_engine(&diff);
	if (old) {
		diff_nodes(&diff);
		diff_links(&diff);
		diff_ports(&diff);
		diff_sms(&diff);
		diff_partitions(&diff);
		diff_groups(&diff);
		diff_options(&diff);
	} else {
		add_first_seen(&diff);
	}
	diff_lfts(&diff);
	if (diff.no_memory)
		return -ENOMEM;
	r = order(&diff);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(changes);
	return 0;
}

int fabric_changes_copy(const struct fabric_changes *changes, size_t max,
			struct fabric_changes **ret)
{
	_cleanup_(fabric_changes_freep) struct fabric_changes *copy = NULL;
	int r;

	r = changes_new(&copy);
	if (r < 0)
		return r;
	r = fabric_changes_append(copy, changes, max);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(copy);
	return 0;
}

static int copy_string(struct fabric_changes *to, const char **string)
{
	const char *copy = fabric_strings_add(to->strings, *string);

	if (*string && !copy)
		return -ENOMEM;
	*string = copy;
	return 0;
}

int fabric_changes_append(struct fabric_changes *to, const struct fabric_changes *from, size_t max)
{
	size_t wanted = from->count;
	struct fabric_change *changes;

	if (wanted > max)
		wanted = max;
	changes = reallocarray(to->changes, to->count + wanted + 1, sizeof(*changes));
	if (!changes)
		return -ENOMEM;
	to->changes = changes;
	for (size_t i = 0; i < wanted; i++) {
		struct fabric_change change = from->changes[i];
		const char **strings[] = {&change.a.name,  &change.b.name,   &change.c.name,
					  &change.subject, &change.old_text, &change.new_text};

		for (size_t j = 0; j < ELEMENTSOF(strings); j++)
			if (copy_string(to, strings[j]) < 0)
				return -ENOMEM;
		to->changes[to->count++] = change;
	}
	for (size_t kind = 0; kind < FABRIC_CHANGE_KINDS; kind++)
		to->by_kind[kind] += from->by_kind[kind];
	to->lft_blocks += from->lft_blocks;
	to->lft_switches += from->lft_switches;
	return 0;
}
