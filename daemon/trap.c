// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Traps as events, their senders named.
#include "daemon/trap.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "daemon/clock.h"
#include "daemon/manager.h"
#include "daemon/sweeps.h"
#include "fabric/names.h"

const char *trap_find_end(const struct fabric *fabric, uint64_t port_guid, uint16_t lid,
			  struct event *event)
{
	uint32_t port = IBSM_NONE;
	struct fabric_end *end;
	const struct ibsm_snap_node *node;

	if (!fabric || event->n_ends >= EVENT_ENDS_MAX)
		return NULL;
	if (port_guid)
		port = fabric_port_by_guid(fabric, port_guid);
	if (port == IBSM_NONE && lid)
		port = fabric_port_by_lid(fabric, lid);
	if (port == IBSM_NONE)
		return NULL;
	node = fabric_node(fabric, fabric_port(fabric, port)->node);
	end = &event->ends[event->n_ends++];
	*end = (struct fabric_end){
		.node_guid = node->node_guid,
		.port_guid = fabric_port(fabric, port)->port_guid,
		.name = fabric_node_name(fabric, fabric_port(fabric, port)->node),
		.port = node->type == IBSM_NODE_SWITCH ? FABRIC_NO_PORT
						       : fabric_port(fabric, port)->port,
		.lid = fabric_port_lid(fabric, port),
		.type = node->type,
	};
	return end->name;
}

struct text {
	char bytes[768];
	size_t length;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *text, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text->bytes + text->length, sizeof(text->bytes) - text->length, format, args);
	va_end(args);
	text->length += n < 0 ? 0 : (size_t)n;
	if (text->length >= sizeof(text->bytes))
		text->length = sizeof(text->bytes) - 1;
}

static void add_end(struct text *text, const char *word, const struct fabric *fabric, uint64_t guid,
		    uint16_t lid, struct event *event)
{
	const char *name = trap_find_end(fabric, guid, lid, event);

	if (name)
		add(text, "%s%s", word, name);
	else if (guid)
		add(text, "%s%s", word, GUID_STRING(guid));
	else
		add(text, "%sLID %u", word, lid);
}

static void add_changes(struct text *text, const struct ibsm_wire_trap *trap)
{
	static const char *const names[] = {"node description", "link width", "link speed",
					    "SM priority"};
	const char *separator = ": ";

	if (!trap->change_flags) {
		add(text, ": capability mask 0x%08" PRIx32, trap->capability_mask);
		return;
	}
	for (unsigned i = 0; i < ELEMENTSOF(names); i++) {
		if (!(trap->change_flags & (1u << i)))
			continue;
		add(text, "%s%s", separator, names[i]);
		separator = ", ";
	}
	add(text, " changed");
}

/* What a generic trap says, ends named; the sender is known to be its issuer where it says no more
 * (IBTA 13.4.8.2, 14.2.5.1). */
static void describe(struct text *text, const struct fabric *fabric,
		     const struct ibsm_wire_trap *trap, struct event *event)
{
	char gid[GID_STRING_BYTES];
	uint16_t sender = trap->fields & IBSM_TRAP_LID1 ? trap->lid1 : trap->issuer_lid;

	switch (trap->number) {
	case 64:
	case 65:
		add_end(text, ": ", fabric, trap->gid1_guid, 0, event);
		break;
	case 66:
	case 67:
		add(text, ": %s", gid_format(trap->gid1_prefix, trap->gid1_guid, gid));
		break;
	case 128:
		add_end(text, " at ", fabric, 0, sender, event);
		break;
	case 129:
	case 130:
	case 131:
		add_end(text, " at ", fabric, 0, sender, event);
		add(text, " port %u", trap->port);
		if (event->n_ends)
			event->ends[0].port = trap->port;
		break;
	case 144:
		add_end(text, " at ", fabric, 0, sender, event);
		add_changes(text, trap);
		break;
	case 145:
		add_end(text, " at ", fabric, 0, sender, event);
		add(text, ": now %s", GUID_STRING(trap->guid));
		break;
	case 256:
		add_end(text, " at ", fabric, 0, sender, event);
		add(text, ": method 0x%02x, attribute 0x%04x", trap->method, trap->attribute_id);
		break;
	case 257:
	case 258:
	case 259:
		add_end(text, " from ", fabric, trap->gid1_guid, trap->lid1, event);
		add_end(text, " to ", fabric, trap->gid2_guid, trap->lid2, event);
		add(text, ", %s 0x%" PRIx32, trap->number == 258 ? "Q_Key" : "P_Key", trap->key);
		if (trap->fields & IBSM_TRAP_SW_LID) {
			add_end(text, ", seen by ", fabric, 0, trap->sw_lid, event);
			add(text, " port %u", trap->port);
		}
		break;
	default:
		add_end(text, " from ", fabric, 0, sender, event);
	}
}

/* For the statistics: who sent it, and which port it names. */
static void count(struct plugin *plugin, const struct ibsm_wire_trap *trap)
{
	const struct fabric *fabric = plugin->manager->fabric;
	struct trap_sample sample = {
		.lid = trap->is_generic && trap->fields & IBSM_TRAP_LID1 ? trap->lid1
									 : trap->issuer_lid,
		.number = trap->number,
		.vendor = !trap->is_generic,
		.port = trap->is_generic && trap->number >= 129 && trap->number <= 131 ? trap->port
										       : 0,
	};
	uint32_t port = fabric ? fabric_port_by_lid(fabric, sample.lid) : IBSM_NONE;

	if (port != IBSM_NONE) {
		uint32_t node = fabric_port(fabric, port)->node;

		sample.node_guid = fabric_node(fabric, node)->node_guid;
		sample.name = fabric_node_name(fabric, node);
	}
	health_trap(plugin->manager, &sample);
}

void trap_event(struct plugin *plugin, const struct ibsm_wire_trap *trap)
{
	const struct fabric *fabric = plugin->manager->fabric;
	const struct story *running = sweeps_running(plugin);
	struct text text = {.length = 0};
	struct event event = {
		.kind = EVENT_TRAP,
		.severity = FABRIC_SEVERITY_INFO,
		.realtime_usec = trap->header.realtime_nsec / NSEC_PER_USEC,
		.monotonic_usec = trap->header.monotonic_nsec / NSEC_PER_USEC,
		.sweep = running ? running->number : 0,
		.message = text.bytes,
	};

	if (trap->is_generic) {
		add(&text, "trap %u, %s", trap->number, trap_name(trap->number));
		describe(&text, fabric, trap, &event);
	} else {
		add(&text, "vendor trap of vendor 0x%06" PRIx32 ", device %u", trap->vendor_id,
		    trap->number);
		add_end(&text, " from ", fabric, 0, trap->issuer_lid, &event);
	}
	manager_event(plugin->manager, event_new(&event));
	count(plugin, trap);
}
