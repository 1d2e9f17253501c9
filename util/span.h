// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Time spans as systemd writes them: "90", "1min 30s", "2h", "500ms".
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SPAN_MSEC UINT64_C(1000)
#define SPAN_SEC (1000 * SPAN_MSEC)
#define SPAN_MINUTE (60 * SPAN_SEC)
#define SPAN_HOUR (60 * SPAN_MINUTE)
#define SPAN_DAY (24 * SPAN_HOUR)

struct span_unit {
	const char *name;
	uint64_t usec;
};

/* Longest first; the first of each length is the one to print. The last has no name. */
static const struct span_unit span_units[] = {
	{"d", SPAN_DAY},	 {"day", SPAN_DAY},	   {"days", SPAN_DAY},
	{"h", SPAN_HOUR},	 {"hr", SPAN_HOUR},	   {"hour", SPAN_HOUR},
	{"hours", SPAN_HOUR},	 {"min", SPAN_MINUTE},	   {"m", SPAN_MINUTE},
	{"minute", SPAN_MINUTE}, {"minutes", SPAN_MINUTE}, {"s", SPAN_SEC},
	{"sec", SPAN_SEC},	 {"second", SPAN_SEC},	   {"seconds", SPAN_SEC},
	{"ms", SPAN_MSEC},	 {"msec", SPAN_MSEC},	   {NULL, 0},
};

/**
 * span_parse - read whole numbers with units, summed up; seconds without a unit
 *
 * Returns false for anything else, and for what 64 bits of microseconds do not hold.
 */
static inline bool span_parse(const char *text, uint64_t *ret_usec)
{
	uint64_t total = 0;

	text += strspn(text, " \t");
	if (!*text)
		return false;
	while (*text) {
		const struct span_unit *unit = span_units;
		size_t digits = strspn(text, "0123456789"), letters;
		uint64_t value, factor = SPAN_SEC;

		if (!digits || digits >= sizeof("18446744073709551615") - 1)
			return false;
		value = strtoull(text, NULL, 10);
		text += digits;
		text += strspn(text, " \t");
		letters = strspn(text, "abcdefghijklmnopqrstuvwxyz");
		if (!letters && *text)
			return false;
		if (letters) {
			while (unit->name && (strlen(unit->name) != letters ||
					      memcmp(unit->name, text, letters) != 0))
				unit++;
			if (!unit->name)
				return false;
			factor = unit->usec;
			text += letters;
			text += strspn(text, " \t");
		}
		if (__builtin_mul_overflow(value, factor, &value) ||
		    __builtin_add_overflow(total, value, &total))
			return false;
	}
	*ret_usec = total;
	return true;
}
