// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Foreign bytes to printable UTF-8.
#include "printable.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Bytes of the UTF-8 sequence at `in`, 0 when it is none (RFC 3629); `ret` gets the character. */
static size_t utf8_decode(const unsigned char *in, size_t length, uint32_t *ret)
{
	static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t bytes = in[0] < 0x80   ? 1
		       : in[0] < 0xc2 ? 0
		       : in[0] < 0xe0 ? 2
		       : in[0] < 0xf0 ? 3
		       : in[0] < 0xf5 ? 4
				      : 0;
	uint32_t c;

	if (!bytes || bytes > length)
		return 0;
	if (bytes == 1) {
		*ret = in[0];
		return 1;
	}
	c = in[0] & (0x7fu >> bytes);
	for (size_t i = 1; i < bytes; i++) {
		if ((in[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (in[i] & 0x3f);
	}
	if (c < smallest[bytes] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*ret = c;
	return bytes;
}

/* Characters that print nothing, break the line or turn its direction: Unicode's Cc, Zl, Zp, and of
 * Cf and of the default-ignorable ones those that could hide in a name; private use and
 * noncharacters. */
static bool prints(uint32_t c)
{
	static const struct {
		uint32_t first, last;
	} hidden[] = {
		{0x00, 0x1f},	    {0x7f, 0x9f},	 {0xad, 0xad},	     {0x34f, 0x34f},
		{0x600, 0x605},	    {0x61c, 0x61c},	 {0x6dd, 0x6dd},     {0x70f, 0x70f},
		{0x115f, 0x1160},   {0x17b4, 0x17b5},	 {0x180b, 0x180f},   {0x200b, 0x200f},
		{0x2028, 0x202e},   {0x2060, 0x206f},	 {0x3164, 0x3164},   {0xe000, 0xf8ff},
		{0xfdd0, 0xfdef},   {0xfe00, 0xfe0f},	 {0xfeff, 0xfeff},   {0xffa0, 0xffa0},
		{0xfff0, 0xfffb},   {0xfffe, 0xffff},	 {0x110bd, 0x110bd}, {0x1bca0, 0x1bca3},
		{0x1d173, 0x1d17a}, {0xe0000, 0x10ffff},
	};

	for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
		if (c >= hidden[i].first && c <= hidden[i].last)
			return false;
	return (c & 0xfffe) != 0xfffe;
}

size_t printable(const char *in, size_t length, char *out, size_t size)
{
	static const char hex[] = "0123456789abcdef";
	const unsigned char *bytes = (const unsigned char *)in;
	size_t used = 0;

	if (!size)
		return 0;
	length = strnlen(in, length);
	while (length && strchr(" \t\r\n", in[length - 1]))
		length--;
	for (size_t i = 0; i < length;) {
		uint32_t c = 0;
		size_t n = utf8_decode(bytes + i, length - i, &c);

		if (n && prints(c)) {
			if (used + n >= size)
				break;
			memcpy(out + used, bytes + i, n);
			used += n;
			i += n;
			continue;
		}
		if (!n)
			n = 1;
		if (used + 4 * n >= size)
			break;
		for (; n; n--, i++) {
			out[used++] = '\\';
			out[used++] = 'x';
			out[used++] = hex[bytes[i] >> 4];
			out[used++] = hex[bytes[i] & 15];
		}
	}
	out[used] = '\0';
	return used;
}
