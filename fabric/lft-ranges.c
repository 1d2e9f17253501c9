// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Which LIDs a switch would forward elsewhere than was computed, as ranges for people.
#include "lft-ranges.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define CUT ",..."

/* Adds a range if it and a mark that more follows would fit. */
static bool add_range(uint32_t first, uint32_t last, char *text, size_t size, size_t *length)
{
	char part[32];
	size_t n;

	if (first == last)
		n = (size_t)snprintf(part, sizeof(part), "%s%" PRIu32, *length > 0 ? "," : "",
				     first);
	else
		n = (size_t)snprintf(part, sizeof(part), "%s%" PRIu32 "-%" PRIu32,
				     *length > 0 ? "," : "", first, last);
	if (*length + n + sizeof(CUT) > size)
		return false;
	memcpy(text + *length, part, n + 1);
	*length += n;
	return true;
}

uint32_t lft_ranges(const struct fabric *fabric, const struct ibsm_snap_switch *sw, char *text,
		    size_t size)
{
	const uint8_t *is = snapshot_lft(fabric->snapshot, sw);
	const uint8_t *want = snapshot_new_lft(fabric->snapshot, sw);
	uint32_t count = 0, first = 0;
	size_t length = 0;
	bool within = false, cut = false;

	text[0] = '\0';
	if (!is || !want)
		return 0;
	for (uint32_t lid = 0; lid <= sw->lft_lids; lid++) {
		bool differs = lid < sw->lft_lids && is[lid] != want[lid];

		count += differs;
		if (differs && !within)
			first = lid;
		if (!differs && within && !cut && !add_range(first, lid - 1, text, size, &length)) {
			memcpy(text + length, CUT, sizeof(CUT));
			cut = true;
		}
		within = differs;
	}
	return count;
}
