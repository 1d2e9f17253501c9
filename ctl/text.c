// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Text for a terminal: foreign strings made harmless, widths in columns, durations, times, rates.
#include "ctl/text.h"

#include <inttypes.h>
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wchar.h>

#include "util/cleanup.h"
#include "util/duration.h"

#define USEC_PER_MSEC UINT64_C(1000)
#define USEC_PER_SEC (1000 * USEC_PER_MSEC)
#define WORD_BYTES_MAX 32

static bool user_has_locale(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (size_t i = 0; i < ELEMENTSOF(names); i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			return true;
	}
	return false;
}

bool text_set_locale(void)
{
	if (setlocale(LC_CTYPE, "") && strcmp(nl_langinfo(CODESET), "UTF-8") == 0)
		return true;
	setlocale(LC_CTYPE, "C.UTF-8");
	return !user_has_locale();
}

/* The character at @text; returns its length in bytes, or 0 where it is no valid UTF-8. */
static size_t decode(const char *text, wchar_t *ret)
{
	const unsigned char *p = (const unsigned char *)text;
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	uint32_t c;
	size_t n;

	if (p[0] < 0x80) {
		*ret = (wchar_t)p[0];
		return 1;
	}
	if (p[0] >= 0xf8 || p[0] < 0xc0)
		return 0;
	n = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
	c = p[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*ret = (wchar_t)c;
	return n;
}

/* Invisible ones that wcwidth() accepts: direction overrides, joiners, line separators, tags. */
static bool is_format(wchar_t c)
{
	return c == 0xad || c == 0x61c || c == 0x180e || (c >= 0x200b && c <= 0x200f) ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff ||
	       (c >= 0xfff9 && c <= 0xfffb) || (c >= 0xe0000 && c <= 0xe0fff);
}

static bool is_visible(wchar_t c, bool utf8)
{
	if (c < 0x80)
		return c >= 0x20 && c != 0x7f;
	return utf8 && c >= 0xa0 && !is_format(c) && wcwidth(c) >= 0;
}

char *text_printable(const char *text, bool utf8)
{
	char *copy = malloc(4 * strlen(text) + 1), *end = copy;

	if (!copy)
		return NULL;
	while (*text) {
		wchar_t c;
		size_t n = decode(text, &c);

		if (n > 0 && is_visible(c, utf8)) {
			end = mempcpy(end, text, n);
			text += n;
			continue;
		}
		for (n = n ? n : 1; n > 0; n--)
			end += sprintf(end, "\\x%02x", (unsigned char)*text++);
	}
	*end = '\0';
	return copy;
}

bool text_is_utf8(const char *text)
{
	wchar_t c;

	for (size_t n; *text; text += n) {
		n = decode(text, &c);
		if (n == 0)
			return false;
	}
	return true;
}

size_t text_width(const char *text)
{
	size_t width = 0;

	while (*text) {
		wchar_t c;
		size_t n = decode(text, &c);
		int w = n ? wcwidth(c) : 1;

		width += w > 0 ? (size_t)w : 0;
		text += n ? n : 1;
	}
	return width;
}

char *text_cut(const char *text, size_t width, bool utf8)
{
	const char *ellipsis = utf8 ? "…" : "...", *p = text;
	size_t ellipsis_width = text_width(ellipsis), used = 0;
	char *cut = NULL;

	if (text_width(text) <= width)
		return strdup(text);
	if (width < ellipsis_width)
		return strndup("...", width);
	while (*p) {
		wchar_t c;
		size_t n = decode(p, &c);
		int w = n ? wcwidth(c) : 1;

		used += w > 0 ? (size_t)w : 0;
		if (used > width - ellipsis_width)
			break;
		p += n ? n : 1;
	}
	if (asprintf(&cut, "%.*s%s", (int)(p - text), text, ellipsis) < 0)
		return NULL;
	return cut;
}

const char *text_duration(char buffer[static TEXT_BYTES], uint64_t usec)
{
	return duration_format(buffer, usec);
}

static bool to_local(uint64_t usec, struct tm *ret)
{
	time_t seconds = (time_t)(usec / USEC_PER_SEC);

	/* The year has to fit TEXT_BYTES, whatever the wire says. */
	return localtime_r(&seconds, ret) && ret->tm_year < 9999 - 1900;
}

const char *text_time(char buffer[static TEXT_BYTES], uint64_t usec, bool full)
{
	unsigned part = (unsigned)(usec % USEC_PER_SEC);
	char zone[8];
	struct tm tm;
	size_t n;

	if (!to_local(usec, &tm)) {
		snprintf(buffer, TEXT_BYTES, "%" PRIu64 "us", usec);
		return buffer;
	}
	if (!full) {
		n = strftime(buffer, TEXT_BYTES, "%Y-%m-%d %H:%M:%S", &tm);
		snprintf(buffer + n, TEXT_BYTES - n, ".%03u", part / 1000);
		return buffer;
	}
	n = strftime(buffer, TEXT_BYTES, "%Y-%m-%dT%H:%M:%S", &tm);
	strftime(zone, sizeof(zone), "%z", &tm); /* "+0200" */
	snprintf(buffer + n, TEXT_BYTES - n, ".%06u%.3s:%s", part, zone, zone + 3);
	return buffer;
}

const char *text_time_utc(char buffer[static TEXT_BYTES], uint64_t usec)
{
	time_t seconds = (time_t)(usec / USEC_PER_SEC);
	struct tm tm;

	if (!gmtime_r(&seconds, &tm) || tm.tm_year >= 9999 - 1900)
		snprintf(buffer, TEXT_BYTES, "9999-12-31T23:59:59Z");
	else
		strftime(buffer, TEXT_BYTES, "%Y-%m-%dT%H:%M:%SZ", &tm);
	return buffer;
}

const char *text_time_of_day(char buffer[static TEXT_BYTES], uint64_t usec)
{
	struct tm tm;
	size_t n;

	if (!to_local(usec, &tm))
		return text_time(buffer, usec, false);
	n = strftime(buffer, TEXT_BYTES, "%H:%M:%S", &tm);
	snprintf(buffer + n, TEXT_BYTES - n, ".%03u", (unsigned)(usec % USEC_PER_SEC / 1000));
	return buffer;
}

const char *text_rate(char buffer[static TEXT_BYTES], uint64_t mbps)
{
	if (mbps >= 1000)
		return duration_digits(buffer, mbps, "Gb/s");
	snprintf(buffer, TEXT_BYTES, "%" PRIu64 "Mb/s", mbps);
	return buffer;
}

/* Edits (Levenshtein) between two words of up to WORD_BYTES_MAX bytes. */
static size_t distance(const char *a, const char *b)
{
	size_t row[WORD_BYTES_MAX + 1], length = strlen(b);

	for (size_t j = 0; j <= length; j++)
		row[j] = j;
	for (size_t i = 1; a[i - 1]; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= length; j++) {
			size_t best = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[length];
}

const char *text_nearest(const char *word, const char *const *words)
{
	size_t length = strlen(word), least = length / 3 + 2;
	const char *nearest = NULL;

	if (length > WORD_BYTES_MAX)
		return NULL;
	for (; *words; words++) {
		size_t d = distance(word, *words);

		if (length >= 2 && strncmp(word, *words, length) == 0)
			d = 0;
		if (d < least && d < strlen(*words)) {
			least = d;
			nearest = *words;
		}
	}
	return nearest;
}
