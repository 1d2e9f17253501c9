// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Any bytes as a node-name-map: names are printable and not empty, every line is used or told of.
#include <stdlib.h>
#include <string.h>

#include "fabric/node-name-map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void bad_line(size_t line, const char *why, void *userdata)
{
	size_t *count = userdata;

	if (!line || !why[0])
		abort();
	(*count)++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(node_name_map_freep) struct node_name_map *map = NULL;
	size_t bad = 0, lines = 1;

	if (node_name_map_parse((const char *)data, size, bad_line, &bad, &map) < 0)
		abort();
	for (size_t i = 0; i < size; i++)
		lines += data[i] == '\n';
	if (node_name_map_size(map) + bad > lines)
		abort();
	for (uint64_t guid = 0; guid < 64; guid++) {
		const char *name = node_name_map_get(map, guid);

		if (name && !*name)
			abort();
		for (; name && *name; name++)
			if ((unsigned char)*name < 0x20 || *name == 0x7f)
				abort();
	}
	return 0;
}
