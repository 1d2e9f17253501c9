// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The node-name-map in use: read from a file, shared with work that is under way.
#include "daemon/names.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "daemon/log.h"
#include "ibsm/limits.h"

#define FILE_BYTES_MAX ((off_t)64 << 20)
#define BAD_LINES_TOLD_MAX 10

struct reading {
	const char *path;
	size_t bad;
};

static void on_bad_line(size_t line, const char *why, void *userdata)
{
	struct reading *reading = userdata;

	if (++reading->bad <= BAD_LINES_TOLD_MAX)
		log_warning("%s:%zu: %s, ignoring", reading->path, line, why);
}

/* The whole file in one buffer. */
static int read_whole(const char *path, char **ret_text, size_t *ret_length)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	_cleanup_free_ char *text = NULL;
	size_t length = 0, size;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	if (st.st_size > FILE_BYTES_MAX)
		return -EFBIG;
	size = (size_t)st.st_size + 1;
	text = malloc(size);
	if (!text)
		return -ENOMEM;
	while (length < size) {
		ssize_t n = read(fd, text + length, size - length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		length += (size_t)n;
	}
	*ret_text = TAKE_PTR(text);
	*ret_length = length;
	return 0;
}

int names_load(const char *path, bool is_set, struct limits *limits, struct names **ret)
{
	_cleanup_free_ char *text = NULL;
	struct reading reading = {.path = path};
	struct names *names;
	size_t length = 0;
	int r;

	if (!path) {
		*ret = NULL;
		return 0;
	}
	r = read_whole(path, &text, &length);
	if (r == -ENOENT && !is_set) {
		*ret = NULL;
		return 0;
	}
	if (r < 0) {
		log_warning("node-name-map %s: %s, ignoring", path, strerror(-r));
		return r;
	}
	names = calloc(1, sizeof(*names));
	if (!names)
		return -ENOMEM;
	names->refs = 1;
	r = node_name_map_parse(text, length, on_bad_line, &reading, &names->map);
	if (r < 0) {
		free(names);
		return r;
	}
	if (reading.bad > BAD_LINES_TOLD_MAX)
		log_warning("%s: %zu more lines are not used", path,
			    reading.bad - BAD_LINES_TOLD_MAX);
	if (node_name_map_size(names->map) >= IBSM_NODE_NAME_MAP_ENTRIES_MAX)
		limit_hit(limits, LIMIT_NODE_NAME_MAP_ENTRIES, 1);
	log_info("node-name-map %s: %zu names", path, node_name_map_size(names->map));
	*ret = names;
	return 0;
}

struct names *names_ref(struct names *names)
{
	if (names)
		names->refs++;
	return names;
}

struct names *names_unref(struct names *names)
{
	if (names && --names->refs == 0) {
		node_name_map_free(names->map);
		free(names);
	}
	return NULL;
}
