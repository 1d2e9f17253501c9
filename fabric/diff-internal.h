// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What the files of the diff share.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "diff.h"

struct diff {
	const struct fabric *old;
	const struct fabric *new;
	struct fabric_changes *changes;
	size_t room;
	uint32_t *new_of_old; /* by old node: the same node now, IBSM_NONE: gone */
	uint32_t *old_of_new;
	bool no_memory;
	struct fabric_change scratch; /* written to when there is no memory for another change */
};

/* Appends a change; never NULL. The pointer holds until the next call. */
struct fabric_change *diff_add(struct diff *diff, enum fabric_change_kind kind);

/* A string that lives as long as the changes; NULL for NULL. */
const char *diff_string(struct diff *diff, const char *text);

struct fabric_end diff_node_end(struct diff *diff, const struct fabric *fabric, uint32_t node);
struct fabric_end diff_port_end(struct diff *diff, const struct fabric *fabric, uint32_t port);

/* diff-node.c: matches nodes first; the rest leans on new_of_old and old_of_new. */
void diff_nodes(struct diff *diff);
void diff_ports(struct diff *diff);

/* diff-link.c */
void diff_links(struct diff *diff);

/* The same port of the same node in the other fabric, IBSM_NONE: it has none. */
uint32_t diff_new_port(const struct diff *diff, uint32_t old_port);
uint32_t diff_old_port(const struct diff *diff, uint32_t new_port);

/* diff-routing.c */
void diff_engine(struct diff *diff);
void diff_lfts(struct diff *diff);

/* diff-table.c */
void diff_sms(struct diff *diff);
void diff_partitions(struct diff *diff);
void diff_groups(struct diff *diff);
void diff_options(struct diff *diff);
