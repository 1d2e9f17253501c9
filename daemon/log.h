// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Log lines on stderr, with systemd's priority prefix where the journal reads them.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <syslog.h>

/*
 * Each line goes out in one write(). Bytes that are no printable text (foreign strings reach this,
 * too) are escaped as \xNN. Any thread.
 */

/* Look at the environment once: under systemd (JOURNAL_STREAM is stderr) lines get "<N>". */
void log_init(void);

/* @priority: LOG_ERR, LOG_WARNING, LOG_NOTICE, LOG_INFO, LOG_DEBUG. */
void log_line(int priority, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Lines of lower priority than this are not written; LOG_INFO at first. */
void log_set_max(int priority);

#define log_error(...) log_line(LOG_ERR, __VA_ARGS__)
#define log_warning(...) log_line(LOG_WARNING, __VA_ARGS__)
#define log_notice(...) log_line(LOG_NOTICE, __VA_ARGS__)
#define log_info(...) log_line(LOG_INFO, __VA_ARGS__)

/*
 * The same complaint, told once per interval: for what a peer may cause as often as it likes.
 * All-zero is empty. For one thread.
 */
struct log_once {
	struct log_once_entry {
		uint64_t hash;
		uint64_t time_usec;
	} entries[32];
};

#define LOG_ONCE_USEC (UINT64_C(600) * 1000000)

/* Is @text new, or was it last told longer than LOG_ONCE_USEC ago? Notes it when so. */
bool log_once_test(struct log_once *once, const char *text, uint64_t now_usec);
