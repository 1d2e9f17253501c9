// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Traps as events, their senders named.
#pragma once

#include "daemon/events.h"
#include "daemon/ingest.h"

/* Raise the event of a trap. */
void trap_event(struct plugin *plugin, const struct ibsm_wire_trap *trap);

/**
 * Add to @event the end that a port GUID, else (0, or not known) a LID belongs to, named by
 * @fabric, which may be NULL. Strings are borrowed from it.
 * Returns the end's name, or NULL: nothing was added.
 */
const char *trap_find_end(const struct fabric *fabric, uint64_t port_guid, uint16_t lid,
			  struct event *event);
