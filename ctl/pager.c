// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The user's pager, chosen as systemd's tools choose it.
#include "ctl/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "util/cleanup.h"

static const char *environment(const char *name, const char *otherwise)
{
	const char *value = getenv(name);

	return value ? value : otherwise;
}

static _Noreturn void run_pager(const char *command, pid_t parent)
{
	const char *less_options = environment("SYSTEMD_LESS", "FRSXMK");

	/* Not to outlive an ibsmctl that was killed. */
	if (prctl(PR_SET_PDEATHSIG, SIGTERM) < 0 || getppid() != parent)
		_exit(EXIT_FAILURE);
	signal(SIGPIPE, SIG_DFL);
	setenv("LESS", less_options, 1);
	setenv("LESSCHARSET", environment("SYSTEMD_LESSCHARSET", "utf-8"), 0);

	if (command) {
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	} else {
		execlp("less", "less", (char *)NULL);
		execlp("more", "more", (char *)NULL);
		execlp("cat", "cat", (char *)NULL);
	}
	_exit(EXIT_FAILURE);
}

int pager_start(pid_t *ret_pid, int *ret_fd)
{
	const char *command = environment("SYSTEMD_PAGER", getenv("PAGER"));
	_cleanup_close_ int read_fd = -1, write_fd = -1;
	pid_t parent = getpid(), pid;
	int fds[2];

	if (command && (command[0] == '\0' || strcmp(command, "cat") == 0))
		return -ENOENT;
	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	read_fd = fds[0];
	write_fd = fds[1];

	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0) {
		if (dup2(read_fd, STDIN_FILENO) < 0)
			_exit(EXIT_FAILURE);
		run_pager(command, parent);
	}
	*ret_pid = pid;
	*ret_fd = TAKE_FD(write_fd);
	return 0;
}
