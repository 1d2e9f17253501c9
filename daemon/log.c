// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Log lines on stderr, with systemd's priority prefix where the journal reads them.
#include "daemon/log.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINE_BYTES_MAX 2048

static bool to_journal;
static int max_priority = LOG_INFO;

void log_init(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	uintmax_t device, inode;
	struct stat st;

	to_journal = stream && sscanf(stream, "%ju:%ju", &device, &inode) == 2 &&
		     fstat(STDERR_FILENO, &st) == 0 && st.st_dev == device && st.st_ino == inode;
}

void log_set_max(int priority)
{
	max_priority = priority;
}

void log_line(int priority, const char *format, ...)
{
	char raw[LINE_BYTES_MAX / 4], line[LINE_BYTES_MAX + 16];
	size_t length = 0;
	va_list args;
	int n;

	if (priority > max_priority)
		return;
	va_start(args, format);
	n = vsnprintf(raw, sizeof(raw), format, args);
	va_end(args);
	if (n < 0)
		return;

	n = to_journal ? snprintf(line, sizeof(line), "<%d>", priority)
		       : snprintf(line, sizeof(line), "ibsmd: ");
	length = (size_t)n;
	for (const unsigned char *p = (const unsigned char *)raw; *p; p++) {
		if (*p < 0x20 || *p == 0x7f)
			length += (size_t)snprintf(line + length, sizeof(line) - length, "\\x%02x",
						   *p);
		else
			line[length++] = (char)*p;
	}
	line[length++] = '\n';
	/* Nobody is left to tell when this fails. */
	if (write(STDERR_FILENO, line, length) < 0)
		return;
}

bool log_once_test(struct log_once *once, const char *text, uint64_t now_usec)
{
	struct log_once_entry *oldest = &once->entries[0];
	uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */

	for (const unsigned char *p = (const unsigned char *)text; *p; p++)
		hash = (hash ^ *p) * UINT64_C(0x100000001b3);
	for (size_t i = 0; i < sizeof(once->entries) / sizeof(once->entries[0]); i++) {
		struct log_once_entry *entry = &once->entries[i];

		if (entry->time_usec && entry->hash == hash) {
			if (now_usec - entry->time_usec < LOG_ONCE_USEC)
				return false;
			oldest = entry;
			break;
		}
		if (entry->time_usec < oldest->time_usec)
			oldest = entry;
	}
	oldest->hash = hash;
	oldest->time_usec = now_usec;
	return true;
}
