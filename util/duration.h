// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// How long something took, for people: "54.7ms", "1.20s", "3min 5s", "2h 10min".
#pragma once

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

#define DURATION_BYTES 32

/* Three digits that count of thousandths of a unit. */
static inline const char *duration_digits(char buffer[static DURATION_BYTES], uint64_t thousandths,
					  const char *unit)
{
	uint64_t whole = thousandths / 1000, part = thousandths % 1000;

	if (whole >= 100 || part == 0)
		snprintf(buffer, DURATION_BYTES, "%" PRIu64 "%s", whole, unit);
	else if (whole >= 10)
		snprintf(buffer, DURATION_BYTES, "%" PRIu64 ".%" PRIu64 "%s", whole, part / 100,
			 unit);
	else
		snprintf(buffer, DURATION_BYTES, "%" PRIu64 ".%02" PRIu64 "%s", whole, part / 10,
			 unit);
	return buffer;
}

/* Returns @buffer. */
static inline const char *duration_format(char buffer[static DURATION_BYTES], uint64_t usec)
{
	uint64_t seconds = usec / 1000000, minutes = seconds / 60, hours = minutes / 60;

	if (usec < 1000)
		snprintf(buffer, DURATION_BYTES, "%" PRIu64 "us", usec);
	else if (usec < 1000000)
		return duration_digits(buffer, usec, "ms");
	else if (minutes == 0)
		return duration_digits(buffer, usec / 1000, "s");
	else if (hours == 0)
		snprintf(buffer, DURATION_BYTES, "%" PRIu64 "min %" PRIu64 "s", minutes,
			 seconds % 60);
	else if (hours < 24)
		snprintf(buffer, DURATION_BYTES, "%" PRIu64 "h %" PRIu64 "min", hours,
			 minutes % 60);
	else
		snprintf(buffer, DURATION_BYTES, "%" PRIu64 "d %" PRIu64 "h", hours / 24,
			 hours % 24);
	return buffer;
}
