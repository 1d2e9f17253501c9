// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// JSON files in the state directory: read whole, replaced atomically, moved aside when broken.
#include "daemon/state-file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/cleanup.h"

static char *make_path(const char *directory, const char *name, const char *suffix)
{
	char *path;

	return asprintf(&path, "%s/%s%s", directory, name, suffix) < 0 ? NULL : path;
}

int state_file_read(const char *directory, const char *name, size_t bytes_max, json_t **ret,
		    char ret_why[256])
{
	_cleanup_free_ char *path = make_path(directory, name, ""), *text = NULL;
	_cleanup_close_ int fd = -1;
	json_error_t error;
	struct stat st;
	size_t length;
	FILE *file;
	int r;

	ret_why[0] = '\0';
	if (!path)
		return -ENOMEM;
	/* What is no file, a FIFO say, is not waited for. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 && errno == ENOENT) {
		*ret = NULL;
		return 0;
	}
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode)) {
		snprintf(ret_why, 256, "%s: it is no regular file", path);
		return -EBADMSG;
	}
	file = fdopen(fd, "r");
	if (!file)
		return -errno;
	TAKE_FD(fd);
	text = malloc(bytes_max + 1);
	length = text ? fread(text, 1, bytes_max + 1, file) : 0;
	r = !text ? -ENOMEM : ferror(file) ? -EIO : 0;
	fclose(file);
	if (r < 0)
		return r;
	if (length > bytes_max) {
		snprintf(ret_why, 256, "%s: it is too large", path);
		return -EBADMSG;
	}
	*ret = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
	if (!*ret) {
		snprintf(ret_why, 256, "%s: %s", path, error.text);
		return -EBADMSG;
	}
	return 0;
}

int state_file_move_aside(const char *directory, const char *name)
{
	_cleanup_free_ char *path = make_path(directory, name, "");
	_cleanup_free_ char *broken = make_path(directory, name, ".broken");

	if (!path || !broken)
		return -ENOMEM;
	return rename(path, broken) < 0 ? -errno : 0;
}

static int write_all(int fd, const char *text, size_t length)
{
	while (length > 0) {
		ssize_t n = write(fd, text, length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		text += n;
		length -= (size_t)n;
	}
	return 0;
}

int state_file_write(const char *directory, const char *name, const json_t *root, size_t flags,
		     bool sync)
{
	_cleanup_free_ char *path = make_path(directory, name, "");
	_cleanup_free_ char *temporary = make_path(directory, name, ".new");
	_cleanup_free_ char *text = json_dumps(root, flags);
	_cleanup_close_ int fd = -1;
	int r;

	if (!path || !temporary || !text)
		return -ENOMEM;
	fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0)
		return -errno;
	r = write_all(fd, text, strlen(text));
	/* On the way nobody waits for a disk; a file that a crash of the host leaves broken is
	 * noticed and moved aside. */
	if (r == 0 && sync && fsync(fd) < 0)
		r = -errno;
	if (r == 0 && rename(temporary, path) < 0)
		r = -errno;
	if (r < 0)
		unlink(temporary);
	return r;
}
