// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Any bytes as a snapshot: refused with a reason, or all of it may be walked and compared.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/diff.h"
#include "fabric/fabric.h"
#include "tests/lib/fabric-walk.h"
#include "tests/lib/snapshot-build.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What a snapshot that leaves tables out leans on. */
static struct snapshot *base;
static struct fabric *base_fabric;

static void forget_base(void)
{
	fabric_unref(base_fabric);
	snapshot_unref(base);
}

static void make_base(void)
{
	struct builder *b = build_tree2(1, 1, 2, 1);

	base = build_snapshot(b, NULL, 0);
	if (fabric_new(base, NULL, &base_fabric) < 0)
		abort();
	build_free(b);
	atexit(forget_base);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(snapshot_unrefp) struct snapshot *s = NULL;
	_cleanup_(fabric_unrefp) struct fabric *f = NULL;
	_cleanup_(fabric_changes_freep) struct fabric_changes *there = NULL;
	_cleanup_(fabric_changes_freep) struct fabric_changes *back = NULL;
	struct snapshot_error why = {""};
	char text[FABRIC_CHANGE_TEXT_BYTES];
	int r;

	if (!base)
		make_base();
	r = snapshot_read_memory(data, size, NULL, &s, &why);
	if (r == -ESTALE)
		r = snapshot_read_memory(data, size, base, &s, &why);
	if (r < 0) {
		if (!why.text[0] || s)
			abort();
		return 0;
	}
	if (fabric_new(s, NULL, &f) < 0)
		abort();
	fabric_walk(f);
	if (fabric_diff(base_fabric, f, &there) < 0 || fabric_diff(f, base_fabric, &back) < 0)
		abort();
	for (size_t i = 0; i < there->count; i++)
		fabric_change_text(&there->changes[i], text, sizeof(text));
	if (there->by_kind[FABRIC_CHANGE_NODE_ADDED] != back->by_kind[FABRIC_CHANGE_NODE_REMOVED])
		abort();
	return 0;
}
