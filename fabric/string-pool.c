// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// A chain of blocks; strings never move.
#include "string-pool.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* The first block is small: most sweeps change little, and a thousand stories are kept. */
#define BLOCK_BYTES_FIRST 256
#define BLOCK_BYTES_MAX 16384

struct block {
	struct block *next;
	char bytes[];
};

struct fabric_strings {
	struct block *blocks;
	size_t used;
	size_t room;
	size_t block_bytes;
};

struct fabric_strings *fabric_strings_new(void)
{
	struct fabric_strings *strings = calloc(1, sizeof(*strings));

	if (strings)
		strings->block_bytes = BLOCK_BYTES_FIRST;
	return strings;
}

struct fabric_strings *fabric_strings_free(struct fabric_strings *strings)
{
	if (!strings)
		return NULL;
	while (strings->blocks) {
		struct block *next = strings->blocks->next;

		free(strings->blocks);
		strings->blocks = next;
	}
	free(strings);
	return NULL;
}

const char *fabric_strings_add(struct fabric_strings *strings, const char *text)
{
	size_t size;
	char *at;

	if (!text)
		return NULL;
	size = strlen(text) + 1;
	if (strings->room - strings->used < size) {
		size_t room = size > strings->block_bytes ? size : strings->block_bytes;
		struct block *block = malloc(sizeof(*block) + room);

		if (!block)
			return NULL;
		block->next = strings->blocks;
		strings->blocks = block;
		strings->room = room;
		strings->used = 0;
		if (strings->block_bytes < BLOCK_BYTES_MAX)
			strings->block_bytes *= 2;
	}
	at = strings->blocks->bytes + strings->used;
	memcpy(at, text, size);
	strings->used += size;
	return at;
}
