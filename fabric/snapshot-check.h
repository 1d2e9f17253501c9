// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Between snapshot-read.c, which finds the tables, and snapshot-check.c, which validates their
// rows.
#pragma once

#include "snapshot-read.h"

/* Writes a line into `ret_error` and returns -EBADMSG. */
int snapshot_bad(struct snapshot_error *ret_error, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Validates every row of a snapshot whose tables lie inside their files, and counts its warnings.
 * Returns 0 or -EBADMSG. */
int snapshot_check_rows(struct snapshot *snapshot, struct snapshot_error *ret_error);
