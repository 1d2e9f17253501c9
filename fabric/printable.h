// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Makes foreign strings printable, once, where they enter.
#pragma once

#include <stddef.h>

/* Bytes that the printable form of `length` foreign bytes needs at most, NUL included. */
#define PRINTABLE_BYTES(length) ((length)*4 + 1)

/**
 * printable - copy a foreign string as printable UTF-8
 * @in:     up to `length` bytes, of any content; a NUL ends it earlier
 * @length: bytes readable at `in`
 * @out:    gets the result, always NUL-terminated when `size` > 0
 * @size:   bytes at `out`; PRINTABLE_BYTES(length) is enough for any input
 *
 * Trailing blanks (space, tab, CR, LF) are cut. What is kept as it is: ASCII 0x20…0x7e and valid
 * UTF-8 of characters that print. Each byte of anything else (control characters, C1, invalid or
 * overlong UTF-8, surrogates, the invisible and direction-changing characters with which one name
 * can be made to look like another) becomes \xNN with two lower-case hex digits. A result that does
 * not fit is cut between characters. Pure; any thread.
 *
 * Returns the length of the result, without the NUL.
 */
size_t printable(const char *in, size_t length, char *out, size_t size);
