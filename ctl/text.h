// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Text for a terminal: foreign strings made harmless, widths in columns, durations, times, rates.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Widths are what wcwidth() says: LC_CTYPE has to be a UTF-8 locale (text_set_locale() sees to it).
 * Strings are UTF-8 on every side; @utf8 says what the terminal takes.
 */

/**
 * Choose LC_CTYPE. The user's, if it is UTF-8 or not given at all; else C.UTF-8, so that widths
 * can be had.
 * Returns true where the user's terminal takes UTF-8.
 */
bool text_set_locale(void);

/**
 * Copy @text with everything that is no visible character (control bytes, invalid UTF-8, text
 * direction overrides, unassigned characters; without @utf8 all but ASCII) as \xNN, byte by byte.
 * Returns an allocated string, or NULL without memory.
 */
char *text_printable(const char *text, bool utf8);

/* Whether all of @text is UTF-8, as JSON needs it. */
bool text_is_utf8(const char *text);

/* Columns that @text takes, which text_printable() has made. */
size_t text_width(const char *text);

/**
 * Cut printable @text to @width columns, the last of them "…" ("..." without @utf8).
 * Returns an allocated string, or NULL without memory.
 */
char *text_cut(const char *text, size_t width, bool utf8);

#define TEXT_BYTES 48

/* "850us", "2.14ms", "34.2ms", "342ms", "1.23s", "2min 3s", "3h 5min", "2d 4h"; rounded down. */
const char *text_duration(char buffer[static TEXT_BYTES], uint64_t usec);

/**
 * A time of CLOCK_REALTIME in the local zone.
 * @full: "2026-01-02T12:34:56.123456+02:00" instead of "2026-01-02 12:34:56.123"
 */
const char *text_time(char buffer[static TEXT_BYTES], uint64_t usec, bool full);

/* In UTC, in whole seconds, as ISO 8601 and jq's fromdate have it: "2026-01-02T10:34:56Z". */
const char *text_time_utc(char buffer[static TEXT_BYTES], uint64_t usec);

/* The time of day alone: "12:34:56.123". */
const char *text_time_of_day(char buffer[static TEXT_BYTES], uint64_t usec);

/* "100Gb/s", "54.5Gb/s", "500Mb/s" */
const char *text_rate(char buffer[static TEXT_BYTES], uint64_t mbps);

/* The one of @words (NULL-terminated) that a mistyped @word is near to, or NULL. */
const char *text_nearest(const char *word, const char *const *words);
