// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Changes of what is not the wiring: SMs, partitions, multicast groups, options.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diff-internal.h"
#include "names.h"
#include "printable.h"

/* ---- SMs ---- */

static int compare_sms(const void *a, const void *b)
{
	const struct ibsm_snap_sm *x = *(const struct ibsm_snap_sm *const *)a;
	const struct ibsm_snap_sm *y = *(const struct ibsm_snap_sm *const *)b;

	return x->port_guid < y->port_guid ? -1 : x->port_guid > y->port_guid;
}

/* All SMs by port GUID; self, which is first in the table, goes where it belongs. */
static const struct ibsm_snap_sm **sorted_sms(struct diff *diff, const struct fabric *f)
{
	uint32_t count = snapshot_sms(f->snapshot);
	const struct ibsm_snap_sm **sms =
		reallocarray(NULL, (size_t)count + 1, sizeof(const struct ibsm_snap_sm *));

	if (!sms) {
		diff->no_memory = true;
		return NULL;
	}
	for (uint32_t i = 0; i < count; i++)
		sms[i] = snapshot_sm(f->snapshot, i);
	qsort(sms, count, sizeof(const struct ibsm_snap_sm *), compare_sms);
	return sms;
}

static struct fabric_change *add_sm(struct diff *diff, enum fabric_change_kind kind,
				    const struct fabric *f, const struct ibsm_snap_sm *sm)
{
	struct fabric_change *change = diff_add(diff, kind);

	if (sm->port != IBSM_NONE)
		change->a = diff_port_end(diff, f, sm->port);
	else
		change->a = (struct fabric_end){.port = FABRIC_NO_PORT};
	change->a.port_guid = sm->port_guid;
	change->a.lid = sm->lid;
	return change;
}

static void diff_sm(struct diff *diff, const struct ibsm_snap_sm *old,
		    const struct ibsm_snap_sm *new)
{
	struct fabric_change *change;

	if (old->state != new->state) {
		change = add_sm(diff, FABRIC_CHANGE_SM_STATE, diff->new, new);
		change->old = old->state;
		change->new = new->state;
		change->old_text = diff_string(diff, sm_state_name(old->state));
		change->new_text = diff_string(diff, sm_state_name(new->state));
	}
	if (old->priority != new->priority) {
		change = add_sm(diff, FABRIC_CHANGE_SM_PRIORITY, diff->new, new);
		change->old = old->priority;
		change->new = new->priority;
	}
}

static void add_sm_came(struct diff *diff, enum fabric_change_kind kind, const struct fabric *f,
			const struct ibsm_snap_sm *sm)
{
	struct fabric_change *change = add_sm(diff, kind, f, sm);
	const char *state = diff_string(diff, sm_state_name(sm->state));

	if (kind == FABRIC_CHANGE_SM_APPEARED) {
		change->new = sm->state;
		change->new_text = state;
	} else {
		change->old = sm->state;
		change->old_text = state;
	}
}

void diff_sms(struct diff *diff)
{
	_cleanup_free_ const struct ibsm_snap_sm **olds = sorted_sms(diff, diff->old);
	_cleanup_free_ const struct ibsm_snap_sm **news = sorted_sms(diff, diff->new);
	uint32_t old_count = snapshot_sms(diff->old->snapshot);
	uint32_t new_count = snapshot_sms(diff->new->snapshot);
	uint32_t o = 0, n = 0;

	if (!olds || !news)
		return;
	while (o < old_count || n < new_count) {
		if (n == new_count || (o < old_count && olds[o]->port_guid < news[n]->port_guid))
			add_sm_came(diff, FABRIC_CHANGE_SM_DISAPPEARED, diff->old, olds[o++]);
		else if (o == old_count || news[n]->port_guid < olds[o]->port_guid)
			add_sm_came(diff, FABRIC_CHANGE_SM_APPEARED, diff->new, news[n++]);
		else
			diff_sm(diff, olds[o++], news[n++]);
	}
}

/* ---- members of groups and partitions ---- */

/* What makes a member the same one: not its port's index, which moves. */
struct member {
	uint64_t high, low;
	uint64_t kind;
};

static int compare_members(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	if (x->high != y->high)
		return x->high < y->high ? -1 : 1;
	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	return x->kind < y->kind ? -1 : x->kind > y->kind;
}

typedef struct member (*member_fn)(const struct snapshot *s, uint32_t index);

static struct member member_of_group(const struct snapshot *s, uint32_t index)
{
	const struct ibsm_snap_group_member *m = snapshot_group_member(s, index);

	return (struct member){m->gid_prefix, m->gid_guid, m->join_state};
}

static struct member member_of_partition(const struct snapshot *s, uint32_t index)
{
	const struct ibsm_snap_partition_member *m = snapshot_partition_member(s, index);

	return (struct member){m->port_guid, 0, m->full};
}

static struct member *sorted_members(struct diff *diff, const struct snapshot *s, uint32_t first,
				     uint32_t count, member_fn member)
{
	struct member *members = reallocarray(NULL, (size_t)count + 1, sizeof(*members));

	if (!members) {
		diff->no_memory = true;
		return NULL;
	}
	for (uint32_t i = 0; i < count; i++)
		members[i] = member(s, first + i);
	qsort(members, count, sizeof(*members), compare_members);
	return members;
}

/* A part of a member table. */
struct part {
	uint32_t first;
	uint32_t count;
};

/* How many joined and left. Most often nobody did, and the order is the same, too. */
static uint64_t members_changed(struct diff *diff, struct part old, struct part new,
				member_fn member)
{
	const struct snapshot *os = diff->old->snapshot, *ns = diff->new->snapshot;
	_cleanup_free_ struct member *olds = NULL;
	_cleanup_free_ struct member *news = NULL;
	uint64_t changed = 0;
	uint32_t i = 0, o = 0, n = 0;

	for (; i < old.count && i < new.count; i++) {
		struct member a = member(os, old.first + i), b = member(ns, new.first + i);

		if (compare_members(&a, &b) != 0)
			break;
	}
	if (i == old.count && i == new.count)
		return 0;
	olds = sorted_members(diff, os, old.first, old.count, member);
	news = sorted_members(diff, ns, new.first, new.count, member);
	if (!olds || !news)
		return 0;
	while (o < old.count && n < new.count) {
		int r = compare_members(&olds[o], &news[n]);

		changed += r != 0;
		o += r <= 0;
		n += r >= 0;
	}
	return changed + (old.count - o) + (new.count - n);
}

/* ---- partitions ---- */

static struct fabric_change *add_partition(struct diff *diff, enum fabric_change_kind kind,
					   const struct fabric *f,
					   const struct ibsm_snap_partition *p)
{
	struct fabric_change *change = diff_add(diff, kind);
	const char *name = snapshot_string(f->snapshot, p->name);
	char text[256];

	printable(name, strlen(name), text, sizeof(text));
	change->subject = diff_string(diff, text);
	change->number = p->pkey;
	if (kind == FABRIC_CHANGE_PARTITION_REMOVED)
		change->old = p->members;
	else
		change->new = p->members;
	return change;
}

static void diff_partition(struct diff *diff, const struct ibsm_snap_partition *old,
			   const struct ibsm_snap_partition *new)
{
	uint64_t changed = members_changed(diff, (struct part){old->first_member, old->members},
					   (struct part){new->first_member, new->members},
					   member_of_partition);
	struct fabric_change *change;

	if (!changed)
		return;
	change = add_partition(diff, FABRIC_CHANGE_PARTITION_MEMBERS, diff->new, new);
	change->old = old->members;
	change->count = changed;
}

void diff_partitions(struct diff *diff)
{
	const struct snapshot *os = diff->old->snapshot, *ns = diff->new->snapshot;
	uint32_t o = 0, n = 0;

	while (o < snapshot_partitions(os) || n < snapshot_partitions(ns)) {
		int order =
			n == snapshot_partitions(ns) ? -1
			: o == snapshot_partitions(os)
				? 1
				: snapshot_partition(os, o)->pkey - snapshot_partition(ns, n)->pkey;

		if (order < 0)
			add_partition(diff, FABRIC_CHANGE_PARTITION_REMOVED, diff->old,
				      snapshot_partition(os, o));
		else if (order > 0)
			add_partition(diff, FABRIC_CHANGE_PARTITION_ADDED, diff->new,
				      snapshot_partition(ns, n));
		else
			diff_partition(diff, snapshot_partition(os, o), snapshot_partition(ns, n));
		o += order <= 0;
		n += order >= 0;
	}
}

/* ---- groups ---- */

static int compare_mgids(const struct ibsm_snap_group *a, const struct ibsm_snap_group *b)
{
	if (a->mgid_prefix != b->mgid_prefix)
		return a->mgid_prefix < b->mgid_prefix ? -1 : 1;
	return a->mgid_guid < b->mgid_guid ? -1 : a->mgid_guid > b->mgid_guid;
}

static struct fabric_change *add_group(struct diff *diff, enum fabric_change_kind kind,
				       const struct ibsm_snap_group *g)
{
	struct fabric_change *change = diff_add(diff, kind);

	change->subject = diff_string(
		diff, gid_format(g->mgid_prefix, g->mgid_guid, (char[GID_STRING_BYTES]){0}));
	change->number = g->mlid;
	if (kind == FABRIC_CHANGE_GROUP_REMOVED)
		change->old = g->members;
	else
		change->new = g->members;
	return change;
}

static void diff_group(struct diff *diff, const struct ibsm_snap_group *old,
		       const struct ibsm_snap_group *new)
{
	uint64_t changed =
		members_changed(diff, (struct part){old->first_member, old->members},
				(struct part){new->first_member, new->members}, member_of_group);
	struct fabric_change *change;

	if (!changed)
		return;
	change = add_group(diff, FABRIC_CHANGE_GROUP_MEMBERS, new);
	change->old = old->members;
	change->count = changed;
}

void diff_groups(struct diff *diff)
{
	const struct snapshot *os = diff->old->snapshot, *ns = diff->new->snapshot;
	uint32_t o = 0, n = 0;

	if (snapshot_same_table(os, ns, IBSM_TABLE_GROUPS) &&
	    snapshot_same_table(os, ns, IBSM_TABLE_GROUP_MEMBERS))
		return;
	while (o < snapshot_groups(os) || n < snapshot_groups(ns)) {
		int order = n == snapshot_groups(ns) ? -1
			    : o == snapshot_groups(os)
				    ? 1
				    : compare_mgids(snapshot_group(os, o), snapshot_group(ns, n));

		if (order < 0)
			add_group(diff, FABRIC_CHANGE_GROUP_REMOVED, snapshot_group(os, o));
		else if (order > 0)
			add_group(diff, FABRIC_CHANGE_GROUP_ADDED, snapshot_group(ns, n));
		else
			diff_group(diff, snapshot_group(os, o), snapshot_group(ns, n));
		o += order <= 0;
		n += order >= 0;
	}
}

/* ---- options ---- */

static const char *option_text(struct diff *diff, const struct fabric *f,
			       const struct ibsm_snap_option *option)
{
	char text[512];

	return diff_string(diff, fabric_option_format(f, option, text, sizeof(text)));
}

static bool same_option(const struct diff *diff, const struct ibsm_snap_option *old,
			const struct ibsm_snap_option *new)
{
	return old->kind == new->kind && old->value == new->value &&
	       (old->kind != IBSM_OPTION_STRING ||
		strcmp(snapshot_string(diff->old->snapshot, old->text),
		       snapshot_string(diff->new->snapshot, new->text)) == 0);
}

static const char *option_name(const struct snapshot *s, uint32_t index)
{
	return snapshot_string(s, snapshot_option(s, index)->name);
}

static struct fabric_change *add_option(struct diff *diff, const char *name)
{
	struct fabric_change *change = diff_add(diff, FABRIC_CHANGE_OPTION);
	char text[256];

	printable(name, strlen(name), text, sizeof(text));
	change->subject = diff_string(diff, text);
	return change;
}

void diff_options(struct diff *diff)
{
	const struct snapshot *os = diff->old->snapshot, *ns = diff->new->snapshot;
	uint32_t o = 0, n = 0;

	if (snapshot_same_table(os, ns, IBSM_TABLE_OPTIONS) &&
	    snapshot_same_table(os, ns, IBSM_TABLE_STRINGS))
		return;
	while (o < snapshot_options(os) || n < snapshot_options(ns)) {
		int order = n == snapshot_options(ns) ? -1
			    : o == snapshot_options(os)
				    ? 1
				    : strcmp(option_name(os, o), option_name(ns, n));
		struct fabric_change *change;

		if (order != 0 ||
		    !same_option(diff, snapshot_option(os, o), snapshot_option(ns, n))) {
			change = add_option(diff,
					    order <= 0 ? option_name(os, o) : option_name(ns, n));
			if (order <= 0)
				change->old_text =
					option_text(diff, diff->old, snapshot_option(os, o));
			if (order >= 0)
				change->new_text =
					option_text(diff, diff->new, snapshot_option(ns, n));
		}
		o += order <= 0;
		n += order >= 0;
	}
}
