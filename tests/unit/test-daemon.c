// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Tests of the built ibsmd as a process: its end, restart, command line, systemd.
#include "daemon-harness.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/cleanup.h"

static void test_empty(void **state)
{
	struct daemon *d = *state;
	json_auto_t *status = daemon_call(d, "GetStatus", NULL);
	struct stat st;
	char path[128];

	assert_string_equal(json_text_at(status, "health"), "unknown");
	assert_int_equal(json_int_at(status, "fabric.switches"), 0);
	assert_false(json_bool_at(status, "plugin.connected"));
	assert_int_equal(json_array_size(json_at(status, "alerts")), 0);
	assert_int_equal(json_int_at(status, "daemon.pid"), d->pid);
	assert_int_equal(json_array_size(json_at(status, "daemon.limits_hit")), 0);

	json_decref(daemon_call_error(d, "GetNode", "{\"node\": \"x\"}", "NoFabric"));
	json_decref(daemon_call_error(d, "ListNodes", NULL, "NoFabric"));
	json_decref(daemon_call_error(d, "ListOptions", NULL, "NoFabric"));
	json_decref(daemon_call_error(d, "GetSweep", NULL, "NoSuchSweep"));
	json_decref(daemon_list(d, "ListSweeps", NULL, "sweeps"));
	json_decref(daemon_list(d, "ListEvents", NULL, "events"));

	assert_int_equal(stat(d->socket, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0660);
	snprintf(path, sizeof(path), "%s/run/plugin.sock", d->directory);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	daemon_stop(d);
	assert_int_equal(stat(path, &st), -1);
	assert_int_equal(stat(d->socket, &st), -1);
}

static void test_restart(void **state)
{
	struct daemon *d = *state;
	json_int_t last;
	struct player p;

	player_init(&p, 1, 0x77);
	player_connect(&p, d);
	player_sweep(&p, IBSM_WIRE_HEAVY_SWEEP_START, 0);
	daemon_await(d, "sweep.count", "1");
	last = daemon_last_event(d);
	assert_true(last > 0);
	player_close(&p);
	daemon_await(d, "plugin.connections", "[]");
	last = daemon_last_event(d);
	daemon_stop(d);

	daemon_start(d);
	assert_int_equal(daemon_last_event(d), 0);
	player_connect(&p, d);
	json_decref(daemon_await_event(d, "plugin-connected", 0));
	assert_int_equal(daemon_last_event(d), last + 1);
	player_sweep(&p, IBSM_WIRE_HEAVY_SWEEP_START, 0);
	json_decref(daemon_await_event(d, "sweep-started", 0));
	daemon_await(d, "sweep.count", "1");
	json_decref(daemon_call(d, "GetSweep", "{\"number\": 2}"));
	last = daemon_last_event(d);

	/* Killed: no number is used twice, and what it left is no obstacle. */
	daemon_kill(d);
	player_close(&p);
	daemon_start(d);
	player_connect(&p, d);
	json_decref(daemon_await_event(d, "plugin-connected", 0));
	assert_true(daemon_last_event(d) > last);
	player_close(&p);

	/* A state that cannot be read is put aside. */
	daemon_stop(d);
	daemon_write(d, "state/state.json", "{\"version\": 1");
	daemon_start(d);
	daemon_await_log(d, "moved aside");
	player_connect(&p, d);
	json_decref(daemon_await_event(d, "plugin-connected", 0));
	assert_int_equal(daemon_last_event(d), 1);
	player_close(&p);
}

/* What follows a signal while a list is on its way, and while a snapshot is being read. */
static void test_end_under_load(void **state)
{
	_cleanup_(build_freep) struct builder *b = build_tree2(36, 18, 18, 1);
	struct daemon *d = *state;
	struct varlink_client *client = NULL;
	struct player p;

	player_init(&p, 1, fixture_host_guid(b, 54));
	player_connect(&p, d);
	player_whole_sweep(&p, b);
	daemon_await(d, "fabric.switches", "54");
	assert_int_equal(varlink_client_connect(d->socket, 60000000, &client), 0);
	for (unsigned i = 0; i < 20; i++)
		assert_int_equal(varlink_client_send(client, "io.ibsm.Monitor.ListLinks", NULL,
						     VARLINK_CLIENT_MORE),
				 0);
	for (unsigned i = 0; i < 3; i++)
		player_whole_sweep(&p, b);
	daemon_stop(d);
	varlink_client_free(client);
	player_close(&p);
}

static void test_two_instances(void **state)
{
	struct daemon *d = *state;
	char runtime[128], other[128];
	char *argv[] = {(char *)daemon_program(), (char *)"--config=/dev/null", runtime, other,
			NULL};
	int status;

	snprintf(runtime, sizeof(runtime), "--runtime-dir=%s/run", d->directory);
	snprintf(other, sizeof(other), "--state-dir=%s/state2", d->directory);
	status = daemon_wait(daemon_spawn(d, argv));
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
	daemon_await_log(d, "is in use by another ibsmd (pid ");
	/* The first one is none the worse. */
	json_decref(daemon_call(d, "GetStatus", NULL));
}

static void test_command_line(void **state)
{
	static const struct {
		const char *argument;
		int status;
		const char *says;
	} cases[] = {
		{"--help", 0, "--runtime-dir=DIR"},
		{"--version", 0, "ibsmd " PACKAGE_VERSION},
		{"--frobnicate", 2, "Try --help"},
		{"--config", 2, "Try --help"},
		{"argument", 2, "takes no argument"},
		{"--config=", 2, "a path is empty"},
		{"--config=/nonexistent/ibsmd.conf", 1, "/nonexistent/ibsmd.conf: No such file"},
		{"--runtime-dir=/nonexistent/run", 1, "cannot make the runtime directory"},
	};
	struct daemon *d = *state;

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		char *argv[] = {(char *)daemon_program(), (char *)cases[i].argument, NULL};
		int status = daemon_wait(daemon_spawn(d, argv));

		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), cases[i].status);
		daemon_await_log(d, cases[i].says);
	}
}

/* Sockets that systemd passes: bound by us here, under the names of the units. */
static void test_activation(void **state)
{
	struct daemon *d = *state;
	char runtime[128], state_dir[128];
	char *argv[] = {(char *)daemon_program(), (char *)"--config=/dev/null", runtime, state_dir,
			NULL};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct stat st;
	struct player p;
	int fds[2];

	daemon_stop(d);
	snprintf(runtime, sizeof(runtime), "--runtime-dir=%s/run", d->directory);
	snprintf(state_dir, sizeof(state_dir), "--state-dir=%s/state", d->directory);
	for (unsigned i = 0; i < 2; i++) {
		snprintf(address.sun_path, sizeof(address.sun_path), "%s/run/%s", d->directory,
			 i ? "plugin.sock" : "io.ibsm.Monitor");
		fds[i] = socket(AF_UNIX, i ? SOCK_SEQPACKET : SOCK_STREAM, 0);
		assert_int_equal(bind(fds[i], (struct sockaddr *)&address, sizeof(address)), 0);
		assert_int_equal(listen(fds[i], 8), 0);
	}
	/* A plugin and a client that are there before the daemon is. */
	player_init(&p, 1, 0x77);
	player_connect(&p, d);
	assert_int_equal(varlink_client_connect(d->socket, 60000000, &d->client), 0);
	d->pid = fork();
	assert_true(d->pid >= 0);
	if (d->pid == 0) {
		char pid[16];
		int log = open(d->log, O_WRONLY | O_APPEND | O_CLOEXEC);

		snprintf(pid, sizeof(pid), "%d", (int)getpid());
		if (log < 0 || setenv("LISTEN_PID", pid, 1) || setenv("LISTEN_FDS", "2", 1) ||
		    setenv("LISTEN_FDNAMES", "varlink:plugin", 1) || dup2(log, 1) < 0 ||
		    dup2(log, 2) < 0 || dup2(fds[0], 100) < 0 || dup2(fds[1], 101) < 0 ||
		    dup2(100, 3) < 0 || dup2(101, 4) < 0)
			_exit(126);
		for (int fd = 5; fd < 128; fd++)
			close(fd);
		execv(argv[0], argv);
		_exit(127);
	}
	daemon_await(d, "plugin.connections.0.records", "1");
	daemon_stop(d);
	/* They are systemd's. */
	assert_int_equal(stat(address.sun_path, &st), 0);
	assert_int_equal(stat(d->socket, &st), 0);
	close(fds[0]);
	close(fds[1]);
	player_close(&p);
}

/* One datagram from the daemon to systemd. */
static void await_notice(int fd, const char *what)
{
	struct pollfd pollfd = {.fd = fd, .events = POLLIN};
	char text[1024] = "";

	while (!strstr(text, what)) {
		ssize_t n;

		if (poll(&pollfd, 1, 60000) != 1)
			fail_msg("systemd was not told: %s", what);
		n = recv(fd, text, sizeof(text) - 1, 0);
		assert_true(n >= 0);
		text[n] = '\0';
	}
}

static void test_notifies(void **state)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct daemon *d = *state;
	char number[16];
	int fd;

	daemon_stop(d);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/notify", d->directory);
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	/* WATCHDOG_PID is left out: whoever has the variable is meant. */
	snprintf(number, sizeof(number), "%d", 200000);
	assert_int_equal(setenv("NOTIFY_SOCKET", address.sun_path, 1), 0);
	assert_int_equal(setenv("WATCHDOG_USEC", number, 1), 0);
	daemon_start(d);
	assert_int_equal(unsetenv("NOTIFY_SOCKET"), 0);
	assert_int_equal(unsetenv("WATCHDOG_USEC"), 0);
	await_notice(fd, "STATUS=No fabric yet; no plugin connected");
	await_notice(fd, "READY=1");
	await_notice(fd, "WATCHDOG=1");
	assert_int_equal(kill(d->pid, SIGHUP), 0);
	await_notice(fd, "RELOADING=1");
	await_notice(fd, "READY=1");
	daemon_stop(d);
	await_notice(fd, "STOPPING=1");
	close(fd);
}

/* Under systemd each line says how grave it is. */
static void test_journal(void **state)
{
	struct daemon *d = *state;
	struct stat st;
	char stream[64];

	daemon_stop(d);
	assert_int_equal(stat(d->log, &st), 0);
	assert_int_equal(daemon_log_count(d, "<6>"), 0);
	snprintf(stream, sizeof(stream), "%ju:%ju", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
	assert_int_equal(setenv("JOURNAL_STREAM", stream, 1), 0);
	daemon_start(d);
	assert_int_equal(unsetenv("JOURNAL_STREAM"), 0);
	daemon_await_log(d, "<6>version " PACKAGE_VERSION ", listening in");
}

static void test_describes_itself(void **state)
{
	struct daemon *d = *state;
	_cleanup_free_ char *file = calloc(1, 1 << 18);
	json_auto_t *reply = NULL;
	const char *srcdir = getenv("IBSM_SRCDIR");
	char path[512];
	FILE *stream;

	snprintf(path, sizeof(path), "%s/daemon/io.ibsm.Monitor.varlink", srcdir ? srcdir : ".");
	stream = fopen(path, "r");
	assert_non_null(stream);
	assert_true(fread(file, 1, (1 << 18) - 1, stream) > 0);
	fclose(stream);
	assert_int_equal(varlink_client_call(
				 d->client, "org.varlink.service.GetInterfaceDescription",
				 json_pack("{s:s}", "interface", "io.ibsm.Monitor"), &reply, NULL),
			 0);
	assert_string_equal(json_text_at(reply, "description"), file);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_empty),	  TEST(test_restart),	   TEST(test_end_under_load),
		TEST(test_two_instances), TEST(test_command_line), TEST(test_activation),
		TEST(test_notifies),	  TEST(test_journal),	   TEST(test_describes_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
