// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The runtime directory: its lock, the plugin's socket, and sockets passed by systemd.
#include "daemon/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <systemd/sd-daemon.h>

#include "daemon/log.h"
#include "util/cleanup.h"

#define LISTEN_BACKLOG 16

int listen_passed_fds(struct listen_passed *ret)
{
	struct listen_passed passed = {-1, -1};
	char **names = NULL;
	int n, r = 0;

	n = sd_listen_fds_with_names(1, &names);
	if (n < 0) {
		log_error("LISTEN_FDS: %s", strerror(-n));
		return n;
	}
	for (int i = 0; i < n; i++) {
		int fd = SD_LISTEN_FDS_START + i;
		bool is_plugin = strcmp(names[i], "plugin") == 0;
		int *slot = is_plugin ? &passed.plugin : &passed.varlink, flags;

		if (!is_plugin && strcmp(names[i], "varlink") != 0) {
			log_warning("systemd passed a socket named \"%s\", ignoring", names[i]);
			close(fd);
		} else if (*slot >= 0) {
			log_warning("systemd passed a second socket named \"%s\", ignoring",
				    names[i]);
			close(fd);
		} else if (sd_is_socket_unix(fd, is_plugin ? SOCK_SEQPACKET : SOCK_STREAM, 1, NULL,
					     0) <= 0) {
			log_error("systemd passed as \"%s\" what is no listening %s socket",
				  names[i], is_plugin ? "sequential-packet" : "stream");
			close(fd);
			r = -EINVAL;
		} else if ((flags = fcntl(fd, F_GETFL)) < 0 ||
			   fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0) {
			r = -errno;
			log_error("fcntl: %s", strerror(-r));
			close(fd);
		} else {
			*slot = fd;
		}
	}
	for (int i = 0; i < n; i++)
		free(names[i]);
	free(names);
	if (r < 0) {
		closep(&passed.plugin);
		closep(&passed.varlink);
		return r;
	}
	*ret = passed;
	return 0;
}

int listen_lock(const char *directory)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_close_ int fd = -1;
	char pid[16];
	ssize_t n;
	int r;

	if (mkdir(directory, 0755) < 0 && errno != EEXIST) {
		r = -errno;
		log_error("%s: cannot make the runtime directory: %s", directory, strerror(-r));
		return r;
	}
	if (asprintf(&path, "%s/ibsmd.lock", directory) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0) {
		r = -errno;
		log_error("%s: %s", path, strerror(-r));
		return r;
	}
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		r = errno == EWOULDBLOCK ? -EBUSY : -errno;
		n = pread(fd, pid, sizeof(pid) - 1, 0);
		pid[n > 0 ? n : 0] = '\0';
		pid[strcspn(pid, "\n")] = '\0';
		if (r == -EBUSY)
			log_error("%s is in use by another ibsmd (pid %s): end that one, or take "
				  "another --runtime-dir=",
				  directory, *pid ? pid : "unknown");
		else
			log_error("%s: cannot lock: %s", path, strerror(-r));
		return r;
	}
	/* For the line above alone: the lock is what counts. */
	n = snprintf(pid, sizeof(pid), "%d\n", (int)getpid());
	if (ftruncate(fd, 0) < 0 || pwrite(fd, pid, (size_t)n, 0) != n)
		log_warning("%s: cannot write: %s, ignoring", path, strerror(errno));
	return TAKE_FD(fd);
}

int listen_seqpacket(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	_cleanup_close_ int fd = -1;
	mode_t mask;
	struct stat st;
	int r;

	if (strlen(path) >= sizeof(address.sun_path)) {
		log_error("%s: longer than the %zu bytes of a socket's path", path,
			  sizeof(address.sun_path) - 1);
		return -ENAMETOOLONG;
	}
	memcpy(address.sun_path, path, strlen(path) + 1);

	if (lstat(path, &st) == 0) {
		if (!S_ISSOCK(st.st_mode)) {
			log_error("%s is there and is no socket", path);
			return -EEXIST;
		}
		unlink(path);
	}
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0) {
		r = -errno;
		log_error("socket: %s", strerror(-r));
		return r;
	}
	mask = umask(0177);
	r = bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ? -errno : 0;
	umask(mask);
	if (r == 0 && listen(fd, LISTEN_BACKLOG) < 0)
		r = -errno;
	if (r < 0) {
		log_error("%s: %s", path, strerror(-r));
		return r;
	}
	return TAKE_FD(fd);
}
