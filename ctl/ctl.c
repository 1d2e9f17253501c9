// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What all of ibsmctl shares: its error line and its numbers.
#include "ctl/ctl.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "ctl/json.h"
#include "ctl/text.h"
#include "util/cleanup.h"

#define USEC_PER_SEC UINT64_C(1000000)

_Static_assert(CTL_AGO_BYTES == TEXT_BYTES, "ctl_ago() is text_duration()");

void ctl_error(const struct ctl *ctl, const char *format, ...)
{
	_cleanup_free_ char *raw = NULL, *printable = NULL;
	va_list ap;

	va_start(ap, format);
	if (vasprintf(&raw, format, ap) < 0)
		raw = NULL;
	va_end(ap);
	if (raw)
		printable = text_printable(raw, ctl->out.utf8);
	fprintf(stderr, "ibsmctl: %s\n", printable ? printable : "out of memory");
}

uint64_t ctl_now_usec(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * USEC_PER_SEC + (uint64_t)ts.tv_nsec / 1000;
}

const char *ctl_ago(char buffer[static CTL_AGO_BYTES], uint64_t realtime_usec)
{
	uint64_t now = ctl_now_usec(), age = now > realtime_usec ? now - realtime_usec : 0;

	return age < USEC_PER_SEC ? text_duration(buffer, age / 1000 * 1000)
				  : text_duration(buffer, age / USEC_PER_SEC * USEC_PER_SEC);
}

void ctl_print_ends(struct output *out, const json_t *ends)
{
	const json_t *end;
	size_t i;

	json_array_foreach (ends, i, end) {
		output_add(out, STYLE_GREY, "%s%s", i == 0 ? " [" : " ", json_text_at(end, "guid"));
		if (json_at(end, "port"))
			output_add(out, STYLE_GREY, "/%" PRIu64, json_count_at(end, "port"));
	}
	if (json_array_size(ends) > 0)
		output_add(out, STYLE_GREY, "]");
}

bool ctl_parse_number(const char *text, uint64_t *ret)
{
	unsigned long long number;
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return false;
	errno = 0;
	number = strtoull(text, &end, 10);
	if (errno || *end || number == 0 || number > INT64_MAX)
		return false;
	*ret = number;
	return true;
}
