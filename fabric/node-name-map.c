// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Reads node-name-map files; keeps entries sorted by GUID and names in one pool.
#include "node-name-map.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "ibsm/limits.h"
#include "printable.h"

/* Foreign bytes of a name that are kept; longer ones are cut. */
#define NAME_BYTES_MAX 255

struct entry {
	uint64_t guid;
	size_t line;
	size_t name; /* offset in pool */
};

struct node_name_map {
	struct entry *entries;
	size_t count;
	size_t room;
	char *pool;
	size_t pool_used;
	size_t pool_room;
};

struct node_name_map *node_name_map_free(struct node_name_map *map)
{
	if (map) {
		free(map->entries);
		free(map->pool);
		free(map);
	}
	return NULL;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 16;
}

/* A GUID as strtoull() with base 0 takes it, of a text that does not end with NUL. Returns where it
 * ends; NULL: there is none, or it has more than 64 bits. */
static const char *parse_guid(const char *p, const char *end, uint64_t *ret)
{
	uint64_t guid = 0;
	int base = 10;
	const char *first;

	if (end - p > 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X') && digit(p[2]) < 16) {
		base = 16;
		p += 2;
	} else if (end - p > 1 && p[0] == '0') {
		base = 8;
	}
	for (first = p; p < end && digit(*p) < base; p++)
		if (__builtin_mul_overflow(guid, (uint64_t)base, &guid) ||
		    __builtin_add_overflow(guid, (uint64_t)digit(*p), &guid))
			return NULL;
	if (p == first)
		return NULL;
	*ret = guid;
	return p;
}

/* One line without its end; returns why it is not used, NULL if it says nothing or is a good one.
 */
static const char *parse_line(const char *p, const char *end, uint64_t *ret_guid,
			      const char **ret_name, size_t *ret_length)
{
	const char *name, *name_end;

	*ret_name = NULL;
	while (p < end && is_blank(*p))
		p++;
	if (p == end || *p == '#')
		return NULL;
	p = parse_guid(p, end, ret_guid);
	if (!p)
		return "no GUID at its start";
	if (p < end && !is_blank(*p) && *p != '"')
		return "no blank after the GUID";
	while (p < end && is_blank(*p))
		p++;
	if (p < end && *p == '"') {
		name = p + 1;
		name_end = memchr(name, '"', (size_t)(end - name));
		if (!name_end)
			return "no closing quote";
	} else {
		name = p;
		for (name_end = p; name_end < end; name_end++)
			if (*name_end == '#' && (name_end == p || is_blank(name_end[-1])))
				break;
		while (name_end > name && is_blank(name_end[-1]))
			name_end--;
	}
	*ret_name = name;
	*ret_length = (size_t)(name_end - name);
	return NULL;
}

static int add(struct node_name_map *map, uint64_t guid, size_t line, const char *name,
	       size_t length, const char **ret_why)
{
	char text[PRINTABLE_BYTES(NAME_BYTES_MAX)];
	size_t size;

	size = printable(name, length < NAME_BYTES_MAX ? length : NAME_BYTES_MAX, text,
			 sizeof(text)) +
	       1;
	if (size == 1) {
		*ret_why = "no name";
		return 0;
	}
	if (map->count == IBSM_NODE_NAME_MAP_ENTRIES_MAX) {
		*ret_why = "too many entries";
		return 0;
	}
	if (map->count == map->room) {
		size_t room = map->room ? map->room * 2 : 64;
		struct entry *entries = reallocarray(map->entries, room, sizeof(*entries));

		if (!entries)
			return -ENOMEM;
		map->entries = entries;
		map->room = room;
	}
	if (!map->pool || map->pool_room - map->pool_used < size) {
		size_t room = map->pool_room * 2 + PRINTABLE_BYTES(NAME_BYTES_MAX);
		char *pool = realloc(map->pool, room);

		if (!pool)
			return -ENOMEM;
		map->pool = pool;
		map->pool_room = room;
	}
	memcpy(map->pool + map->pool_used, text, size);
	map->entries[map->count++] = (struct entry){guid, line, map->pool_used};
	map->pool_used += size;
	return 0;
}

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->guid != y->guid)
		return x->guid < y->guid ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

/* Sorts by GUID and keeps the first line of each. */
static void settle(struct node_name_map *map, node_name_map_bad_line_fn bad_line, void *userdata)
{
	size_t kept = 0;

	if (map->count)
		qsort(map->entries, map->count, sizeof(map->entries[0]), compare_entries);
	for (size_t i = 0; i < map->count; i++) {
		if (kept && map->entries[kept - 1].guid == map->entries[i].guid) {
			if (bad_line)
				bad_line(map->entries[i].line, "GUID has a name already", userdata);
			continue;
		}
		map->entries[kept++] = map->entries[i];
	}
	map->count = kept;
}

int node_name_map_parse(const char *text, size_t size, node_name_map_bad_line_fn bad_line,
			void *userdata, struct node_name_map **ret)
{
	_cleanup_(node_name_map_freep) struct node_name_map *map = NULL;
	const char *p = text;
	const char *end = text + size;

	map = calloc(1, sizeof(*map));
	if (!map)
		return -ENOMEM;
	if (size >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0)
		p += 3;
	for (size_t line = 1; p < end; line++) {
		const char *line_end = memchr(p, '\n', (size_t)(end - p));
		const char *name, *why;
		uint64_t guid = 0;
		size_t length = 0;

		if (!line_end)
			line_end = end;
		why = parse_line(p, line_end, &guid, &name, &length);
		if (name) {
			int r = add(map, guid, line, name, length, &why);

			if (r < 0)
				return r;
		}
		if (why && bad_line)
			bad_line(line, why, userdata);
		p = line_end < end ? line_end + 1 : end;
	}
	settle(map, bad_line, userdata);
	*ret = TAKE_PTR(map);
	return 0;
}

const char *node_name_map_get(const struct node_name_map *map, uint64_t node_guid)
{
	size_t low = 0, high = map ? map->count : 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (map->entries[middle].guid == node_guid)
			return map->pool + map->entries[middle].name;
		if (map->entries[middle].guid < node_guid)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

size_t node_name_map_size(const struct node_name_map *map)
{
	return map ? map->count : 0;
}
