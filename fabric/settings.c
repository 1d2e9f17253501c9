// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What opensm was asked for and what it does: options, routing engines, LFTs as set and as
// computed.
#include "fabric.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "names.h"
#include "printable.h"

const struct ibsm_snap_option *fabric_option(const struct fabric *fabric, const char *name)
{
	const struct snapshot *s = fabric->snapshot;
	uint32_t low = 0, high = snapshot_options(s);

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct ibsm_snap_option *option = snapshot_option(s, middle);
		int r = strcmp(snapshot_string(s, option->name), name);

		if (r == 0)
			return option;
		if (r < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

const char *fabric_option_format(const struct fabric *fabric, const struct ibsm_snap_option *option,
				 char *buffer, size_t size)
{
	const char *text;

	switch (option->kind) {
	case IBSM_OPTION_INTEGER:
		snprintf(buffer, size, "%" PRIu64, option->value);
		break;
	case IBSM_OPTION_BOOLEAN:
		snprintf(buffer, size, "%s", option->value ? "TRUE" : "FALSE");
		break;
	case IBSM_OPTION_GUID:
		snprintf(buffer, size, "%s", GUID_STRING(option->value));
		break;
	case IBSM_OPTION_STRING:
		if (!option->value) {
			snprintf(buffer, size, "(null)");
			break;
		}
		text = snapshot_string(fabric->snapshot, option->text);
		printable(text, strlen(text), buffer, size);
		break;
	default:
		snprintf(buffer, size, "%s", option->value ? "set" : "default");
		break;
	}
	return buffer;
}

const char *fabric_engine_used(const struct fabric *fabric)
{
	const struct snapshot *s = fabric->snapshot;

	for (uint32_t i = 0; i < snapshot_engines(s); i++)
		if (snapshot_engine(s, i)->flags & IBSM_ENGINE_USED)
			return snapshot_string(s, snapshot_engine(s, i)->name);
	return NULL;
}

bool fabric_routing_fell_back(const struct fabric *fabric)
{
	const struct snapshot *s = fabric->snapshot;
	bool any_asked = false, used_asked = false, any_used = false;

	for (uint32_t i = 0; i < snapshot_engines(s); i++) {
		uint32_t flags = snapshot_engine(s, i)->flags;

		any_asked |= !!(flags & IBSM_ENGINE_ASKED);
		any_used |= !!(flags & IBSM_ENGINE_USED);
		used_asked |= (flags & IBSM_ENGINE_USED) && (flags & IBSM_ENGINE_ASKED);
	}
	return any_asked && any_used && !used_asked;
}

const struct ibsm_snap_sm *fabric_own_sm(const struct fabric *fabric)
{
	if (snapshot_sms(fabric->snapshot) && snapshot_sm(fabric->snapshot, 0)->self)
		return snapshot_sm(fabric->snapshot, 0);
	return NULL;
}

uint32_t fabric_lft_mismatch(const struct fabric *fabric, const struct ibsm_snap_switch *sw)
{
	const uint8_t *set = snapshot_lft(fabric->snapshot, sw);
	const uint8_t *computed = snapshot_new_lft(fabric->snapshot, sw);
	uint32_t entries = 0;

	if (!set || !computed)
		return 0;
	for (uint32_t lid = 0; lid < sw->lft_lids; lid++)
		entries += set[lid] != computed[lid];
	return entries;
}

uint32_t fabric_lft_entries(const struct fabric *fabric, const struct ibsm_snap_switch *sw)
{
	const uint8_t *lft = snapshot_lft(fabric->snapshot, sw);
	uint32_t entries = 0;

	if (!lft)
		return 0;
	for (uint32_t lid = 1; lid < sw->lft_lids && lid <= sw->lft_top; lid++)
		entries += lft[lid] != IBSM_LFT_NO_PATH;
	return entries;
}
