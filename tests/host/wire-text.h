// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// One wire record as one line of text.
#pragma once

#include <stddef.h>
#include <stdio.h>

/* Print the `bytes` of one datagram to `out` as "seq=N TYPE key=value …", newline included; what is
 * no valid record is said so. Strings are made printable. */
void wire_text(FILE *out, const void *datagram, size_t bytes);
