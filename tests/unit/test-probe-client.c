// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// ibsmd's end of ibsm-probe against a fake that answers, hangs, dies, lies, and against the real
// one.
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/probe-client.h"
#include "util/cleanup.h"

/*
 * The fake is this program itself: the client starts it with --socket-fd=3, and IBSM_FAKE_PROBE in
 * the environment says how it shall behave. It shakes hands (PING, PORT) like the real one, if its
 * behaviour is not about that, and misbehaves at SM_INFO.
 */

#define FAKE "IBSM_FAKE_PROBE"

static const char *fake_mode;

static bool mode(const char *name)
{
	return strcmp(fake_mode, name) == 0;
}

static void fake_head(const struct ibsm_probe_order *order, union ibsm_probe_any_reply *reply)
{
	memset(reply, 0, sizeof(*reply));
	reply->head.header.magic = IBSM_PROBE_MAGIC;
	reply->head.header.version = IBSM_PROBE_VERSION;
	reply->head.header.type = (uint16_t)(order->header.type | IBSM_PROBE_REPLY);
	reply->head.header.length = ibsm_probe_reply_length(order->header.type);
	reply->head.header.sequence = order->header.sequence;
	reply->head.result.lid = order->lid;
	reply->head.result.port = order->port;
}

static void fake_send(int fd, const union ibsm_probe_any_reply *reply)
{
	if (send(fd, reply, reply->head.header.length, MSG_NOSIGNAL) < 0)
		_exit(9);
}

static void fake_wait(void)
{
	/* Dies with the test, should that fail to kill it. */
	for (;;)
		pause();
}

static void fake_sm_info(int fd, const struct ibsm_probe_order *order)
{
	static struct ibsm_probe_order kept;
	union ibsm_probe_any_reply reply;

	fake_head(order, &reply);
	reply.sm_info.guid = 0x100 + order->lid;
	reply.sm_info.act_count = order->timeout_msec;

	if (mode("hang"))
		fake_wait();
	if (mode("exit"))
		_exit(3);
	if (mode("crash"))
		raise(SIGKILL);
	if (mode("close")) {
		close(fd);
		fake_wait();
	}
	if (mode("answer-and-exit")) {
		fake_send(fd, &reply);
		_exit(0);
	}
	if (mode("garbage"))
		memset(&reply.head.header.magic, 0xa5, sizeof(reply.head.header.magic));
	if (mode("wrong-number"))
		reply.head.header.sequence += 1000;
	if (mode("wrong-type"))
		reply.head.header.type = IBSM_PROBE_REPLY | IBSM_PROBE_NODE_INFO;
	if (mode("too-short"))
		reply.head.header.length = sizeof(struct ibsm_probe_reply);
	if (mode("tiny")) {
		send(fd, "x", 1, MSG_NOSIGNAL);
		return;
	}
	if (mode("huge")) {
		static char bytes[2 * IBSM_PROBE_RECORD_MAX];

		memcpy(bytes, &reply, sizeof(reply));
		send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL);
		return;
	}
	if (mode("late-version"))
		reply.head.header.version++;
	if (mode("twice"))
		fake_send(fd, &reply);
	/* The first of two is answered after the second. */
	if (mode("reversed") && kept.header.magic == 0) {
		kept = *order;
		return;
	}
	fake_send(fd, &reply);
	if (mode("reversed")) {
		fake_sm_info(fd, &kept);
		memset(&kept, 0, sizeof(kept));
	}
}

static int fake_main(int fd)
{
	union ibsm_probe_any_reply reply;
	struct ibsm_probe_order order;

	fake_mode = getenv(FAKE) ?: "good";
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (mode("quit"))
		return 0;
	if (mode("deaf"))
		fake_wait();

	while (recv(fd, &order, sizeof(order), 0) == sizeof(order)) {
		fake_head(&order, &reply);
		switch (order.header.type) {
		case IBSM_PROBE_PING:
			reply.ping.pid = (uint32_t)getpid();
			reply.ping.timeout_msec = 20;
			strcpy(reply.ping.version, "fake");
			if (mode("version"))
				reply.head.header.version = 77;
			if (mode("no-ping"))
				break;
			fake_send(fd, &reply);
			break;
		case IBSM_PROBE_PORT:
			reply.port.outstanding_max = mode("narrow") ? 1 : 2;
			if (mode("no-device")) {
				reply.head.result.status = IBSM_PROBE_NO_DEVICE;
			} else {
				strcpy(reply.port.port.ca_name,
				       order.choice == IBSM_PROBE_CHOICE_NAME ? order.ca_name
									      : "fake0");
				reply.port.port.port = 1;
				reply.port.found = IBSM_PROBE_FOUND_ACTIVE;
			}
			fake_send(fd, &reply);
			break;
		default:
			fake_sm_info(fd, &order);
		}
	}
	return 0;
}

/* ---- what the test sees ---- */

struct answer {
	unsigned int calls;
	int error;
	uint16_t status;
	uint16_t lid;
	uint64_t guid;
	unsigned int order; /* 1: answered first */
};

struct world {
	sd_event *event;
	struct probe_client *client;
	const struct probe_client_status *status;
	unsigned int changes;
	unsigned int answered;
	struct answer answers[64];
	/* How the fake shall behave from the next start on. */
	const char *then;
};

static struct world *the_world;

static void on_changed(struct probe_client *client, void *userdata)
{
	struct world *w = userdata;

	assert_ptr_equal(client, w->client);
	w->changes++;
	if (w->then && w->status->state == PROBE_CLIENT_AWAY)
		setenv(FAKE, w->then, 1);
}

static void on_answer(struct probe_client *client, int error,
		      const union ibsm_probe_any_reply *reply, void *userdata)
{
	struct answer *answer = userdata;

	assert_ptr_equal(client, the_world->client);
	answer->calls++;
	answer->error = error;
	answer->order = ++the_world->answered;
	if (error == 0) {
		assert_non_null(reply);
		answer->status = reply->head.result.status;
		answer->lid = reply->head.result.lid;
		answer->guid = reply->sm_info.guid;
	} else {
		assert_null(reply);
	}
}

static void world_open(struct world *w, const struct probe_client_options *like)
{
	struct probe_client_options options = *like;

	memset(w, 0, sizeof(*w));
	the_world = w;
	assert_int_equal(sd_event_new(&w->event), 0);
	options.changed = on_changed;
	options.userdata = w;
	assert_int_equal(probe_client_new(w->event, &options, &w->client), 0);
	w->status = probe_client_status(w->client);
	assert_int_equal(w->status->state, PROBE_CLIENT_STOPPED);
	assert_int_equal(probe_client_start(w->client), 0);
}

static void world_close(struct world *w)
{
	probe_client_free(w->client);
	sd_event_unref(w->event);
	/* Nothing that was started is left. */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

/* Run the loop until @condition holds; the program's alarm ends a test that waits in vain. */
#define UNTIL(w, condition)                                                                        \
	do {                                                                                       \
		while (!(condition))                                                               \
			assert_true(sd_event_run((w)->event, UINT64_MAX) >= 0);                    \
	} while (0)

/*
 * Quick to start again. Nothing but what hangs is to be taken for hung, however busy the machine
 * is; what does hang is waited for a second, and then a slow start may look like a hang, too.
 */
#define NEVER_HANGS_USEC UINT64_C(30000000)
#define HANGS_USEC UINT64_C(1000000)

static const struct probe_client_options quick = {
	.program = "/proc/self/exe",
	.answer_usec = NEVER_HANGS_USEC,
	.restart_usec = 1000,
	.restart_max_usec = 8000,
};

static void world_fake(struct world *w, const char *behaviour, bool hangs)
{
	struct probe_client_options options = quick;

	if (hangs)
		options.answer_usec = HANGS_USEC;
	setenv(FAKE, behaviour, 1);
	world_open(w, &options);
	UNTIL(w, w->status->state >= PROBE_CLIENT_NO_PORT);
}

static void ask(struct world *w, uint16_t lid, struct answer *answer)
{
	assert_int_equal(probe_client_sm_info(w->client, lid, on_answer, answer), 0);
	assert_int_equal(answer->calls, 0);
}

/* ---- tests ---- */

static void test_good(void **state)
{
	struct world w;
	struct answer *a = w.answers;

	(void)state;
	world_fake(&w, "good", false);
	assert_int_equal(w.status->state, PROBE_CLIENT_READY);
	assert_string_equal(w.status->version, "fake");
	assert_string_equal(w.status->port.port.ca_name, "fake0");
	assert_int_equal(w.status->starts, 1);
	assert_int_equal(w.changes, 1);

	/* More than the window, and one LID twice. */
	for (uint16_t i = 0; i < 10; i++)
		ask(&w, (uint16_t)(1 + i % 7), &a[i]);
	UNTIL(&w, w.answered == 10);
	for (uint16_t i = 0; i < 10; i++) {
		assert_int_equal(a[i].calls, 1);
		assert_int_equal(a[i].error, 0);
		assert_int_equal(a[i].lid, 1 + i % 7);
		assert_int_equal(a[i].guid, 0x101 + i % 7);
	}
	assert_int_equal(w.status->orders, 10);
	assert_int_equal(w.status->answers, 10);
	assert_int_equal(w.status->lost, 0);
	world_close(&w);
}

static void test_out_of_order(void **state)
{
	struct world w;

	(void)state;
	world_fake(&w, "reversed", false);
	ask(&w, 1, &w.answers[0]);
	ask(&w, 2, &w.answers[1]);
	UNTIL(&w, w.answered == 2);
	assert_int_equal(w.answers[0].order, 2);
	assert_int_equal(w.answers[0].guid, 0x101);
	assert_int_equal(w.answers[1].guid, 0x102);
	world_close(&w);
}

/* With a window of 1 the "reversed" fake would never see its second order. */
static void test_window(void **state)
{
	struct world w;

	(void)state;
	world_fake(&w, "reversed", true);
	ask(&w, 5, &w.answers[0]);
	ask(&w, 5, &w.answers[1]);
	w.then = "good";
	/* One query of a LID at a time: the fake waits for another one, so this one hangs. */
	UNTIL(&w, w.answered == 2);
	assert_int_equal(w.answers[0].error, -ETIMEDOUT);
	assert_int_equal(w.answers[1].error, -ECONNRESET);
	UNTIL(&w, w.status->state == PROBE_CLIENT_READY);
	world_close(&w);

	world_fake(&w, "narrow", false);
	ask(&w, 1, &w.answers[0]);
	ask(&w, 2, &w.answers[1]);
	UNTIL(&w, w.answered == 2);
	assert_int_equal(w.answers[0].order, 1);
	world_close(&w);
}

/* A behaviour that ends a round: how it is told, and that the next round works. */
static void ends_a_round(const char *behaviour, enum probe_client_trouble trouble, int first_error,
			 bool killed)
{
	const bool hangs = trouble == PROBE_CLIENT_HUNG;
	struct world w;

	world_fake(&w, behaviour, hangs);
	w.then = "good";
	ask(&w, 1, &w.answers[0]);
	ask(&w, 1, &w.answers[1]);
	UNTIL(&w, w.answered == 2);
	assert_int_equal(w.answers[0].error, first_error);
	assert_int_equal(w.answers[1].error, -ECONNRESET);
	assert_int_equal(w.status->trouble, trouble);
	assert_int_equal(w.status->state, PROBE_CLIENT_AWAY);
	assert_int_equal(probe_client_sm_info(w.client, 1, on_answer, &w.answers[2]), -ENOTCONN);

	UNTIL(&w, w.status->state == PROBE_CLIENT_READY);
	if (!hangs) {
		assert_int_equal(w.status->starts, 2);
		assert_int_equal(w.status->failures, 1);
	}
	assert_int_equal(w.status->kills, killed ? w.status->failures : 0);
	ask(&w, 1, &w.answers[2]);
	UNTIL(&w, w.answered == 3);
	assert_int_equal(w.answers[2].error, 0);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(w.answers[i].calls, 1);
	world_close(&w);
}

static void test_hangs(void **state)
{
	(void)state;
	ends_a_round("hang", PROBE_CLIENT_HUNG, -ETIMEDOUT, true);
}

static void test_closes_and_stays(void **state)
{
	(void)state;
	ends_a_round("close", PROBE_CLIENT_ENDED, -ECONNRESET, true);
}

static void test_dies(void **state)
{
	struct world w;

	(void)state;
	ends_a_round("exit", PROBE_CLIENT_ENDED, -ECONNRESET, false);
	ends_a_round("crash", PROBE_CLIENT_ENDED, -ECONNRESET, false);

	world_fake(&w, "exit", false);
	w.then = "good";
	ask(&w, 1, &w.answers[0]);
	UNTIL(&w, w.status->starts == 2);
	assert_int_equal(w.status->exit_code, 3);
	assert_int_equal(w.status->exit_signal, 0);
	world_close(&w);

	world_fake(&w, "crash", false);
	w.then = "good";
	ask(&w, 1, &w.answers[0]);
	UNTIL(&w, w.status->starts == 2);
	assert_int_equal(w.status->exit_code, -1);
	assert_int_equal(w.status->exit_signal, SIGKILL);
	world_close(&w);
}

/* What was answered before the end counts. */
static void test_answers_and_dies(void **state)
{
	struct world w;

	(void)state;
	world_fake(&w, "answer-and-exit", false);
	w.then = "good";
	ask(&w, 1, &w.answers[0]);
	UNTIL(&w, w.status->starts == 2);
	assert_int_equal(w.answers[0].error, 0);
	assert_int_equal(w.answers[0].guid, 0x101);
	assert_int_equal(w.status->trouble, PROBE_CLIENT_ENDED);
	world_close(&w);
}

static void test_garbage(void **state)
{
	static const char *const behaviours[] = {"garbage",   "wrong-number", "wrong-type",
						 "too-short", "tiny",	      "huge"};

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(behaviours); i++)
		ends_a_round(behaviours[i], PROBE_CLIENT_GARBAGE, -ECONNRESET, true);
	ends_a_round("late-version", PROBE_CLIENT_VERSION, -ECONNRESET, true);
	/* The first answer of the two is good. */
	ends_a_round("twice", PROBE_CLIENT_GARBAGE, 0, true);
}

/* Those that never get as far as an order. */
static void test_bad_starts(void **state)
{
	static const struct {
		const char *behaviour;
		enum probe_client_trouble trouble;
	} starts[] = {
		{"quit", PROBE_CLIENT_ENDED},
		{"deaf", PROBE_CLIENT_HUNG},
		{"version", PROBE_CLIENT_VERSION},
		{"no-ping", PROBE_CLIENT_GARBAGE}, /* PORT's answer comes first */
	};

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(starts); i++) {
		struct probe_client_options options = quick;
		struct world w;

		if (starts[i].trouble == PROBE_CLIENT_HUNG)
			options.answer_usec = HANGS_USEC;
		setenv(FAKE, starts[i].behaviour, 1);
		world_open(&w, &options);
		assert_int_equal(probe_client_sm_info(w.client, 1, on_answer, &w.answers[0]),
				 -ENOTCONN);
		UNTIL(&w, w.status->starts == 3);
		assert_int_equal(w.status->trouble, starts[i].trouble);
		setenv(FAKE, "good", 1);
		UNTIL(&w, w.status->state == PROBE_CLIENT_READY);
		assert_true(w.status->failures >= 2);
		world_close(&w);
	}
}

static void test_back_off(void **state)
{
	struct probe_client_options options = quick;
	struct world w;
	uint64_t pauses[6], now;

	(void)state;
	options.program = "/nonexistent/ibsm-probe";
	world_open(&w, &options);
	for (size_t i = 0; i < ELEMENTSOF(pauses); i++) {
		UNTIL(&w, w.status->failures == i + 1);
		assert_int_equal(w.status->trouble, PROBE_CLIENT_CANNOT_START);
		assert_int_equal(w.status->error, ENOENT);
		assert_int_equal(w.status->state, PROBE_CLIENT_AWAY);
		sd_event_now(w.event, CLOCK_MONOTONIC, &now);
		pauses[i] = w.status->retry_usec - now;
	}
	assert_int_equal(pauses[0], 1000);
	assert_int_equal(pauses[1], 2000);
	assert_int_equal(pauses[2], 4000);
	assert_int_equal(pauses[3], 8000);
	assert_int_equal(pauses[4], 8000);
	assert_int_equal(w.status->starts, 0);
	world_close(&w);
}

static void test_full(void **state)
{
	struct world w;
	static struct answer answers[IBSM_PROBE_PENDING_MAX];

	(void)state;
	world_fake(&w, "hang", false);
	for (unsigned int i = 0; i < IBSM_PROBE_PENDING_MAX; i++)
		ask(&w, (uint16_t)(i + 1), &answers[i]);
	assert_int_equal(probe_client_sm_info(w.client, 1, on_answer, &w.answers[0]), -EBUSY);
	world_close(&w);
	/* Freed under way: each is told, none twice. */
	for (unsigned int i = 0; i < IBSM_PROBE_PENDING_MAX; i++) {
		assert_int_equal(answers[i].calls, 1);
		assert_int_equal(answers[i].error, -ECANCELED);
	}
	assert_int_equal(w.answered, IBSM_PROBE_PENDING_MAX);
}

static void test_choice(void **state)
{
	struct world w;
	struct ibsm_probe_order choice = {};

	(void)state;
	world_fake(&w, "good", false);
	assert_string_equal(w.status->port.port.ca_name, "fake0");
	assert_int_equal(ibsm_probe_parse_port("mlx5_7/2", &choice), 0);
	assert_int_equal(probe_client_set_choice(w.client, &choice), 0);
	UNTIL(&w, strcmp(w.status->port.port.ca_name, "mlx5_7") == 0);
	assert_int_equal(w.changes, 2);
	world_close(&w);

	setenv(FAKE, "no-device", 1);
	world_open(&w, &quick);
	UNTIL(&w, w.status->state == PROBE_CLIENT_NO_PORT);
	assert_int_equal(w.status->port.result.status, IBSM_PROBE_NO_DEVICE);
	world_close(&w);
}

static void test_relook(void **state)
{
	struct probe_client_options options = quick;
	struct world w;

	(void)state;
	setenv(FAKE, "good", 1);
	options.relook_usec = 1000;
	world_open(&w, &options);
	/* Asked again and again, and the same answer is no news. */
	UNTIL(&w, w.status->state == PROBE_CLIENT_READY);
	for (unsigned int i = 0; i < 20; i++)
		assert_true(sd_event_run(w.event, UINT64_MAX) >= 0);
	assert_int_equal(w.changes, 1);
	assert_int_equal(w.status->failures, 0);
	world_close(&w);
}

/* A listening socket that the service manager would hold; its child serves one connection. */
static void test_socket_unit(void **state)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct probe_client_options options = quick;
	char dir[] = "/tmp/ibsm-test-XXXXXX";
	struct world w;
	int listener, fd;
	pid_t pid;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/probe.sock", dir);
	options.program = NULL;
	options.socket_path = address.sun_path;

	/* Nobody is there at first. */
	world_open(&w, &options);
	UNTIL(&w, w.status->failures == 2);
	assert_int_equal(w.status->trouble, PROBE_CLIENT_CANNOT_START);
	assert_int_equal(w.status->error, ENOENT);

	listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(listener, 1), 0);
	UNTIL(&w, w.status->state == PROBE_CLIENT_STARTING);

	setenv(FAKE, "exit", 1);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		fd = accept(listener, NULL, NULL);
		_exit(fake_main(fd));
	}
	UNTIL(&w, w.status->state == PROBE_CLIENT_READY);
	ask(&w, 1, &w.answers[0]);
	UNTIL(&w, w.answered == 1);
	assert_int_equal(w.answers[0].error, -ECONNRESET);
	assert_int_equal(w.status->trouble, PROBE_CLIENT_ENDED);
	assert_int_equal(w.status->kills, 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);

	setenv(FAKE, "good", 1);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		fd = accept(listener, NULL, NULL);
		_exit(fake_main(fd));
	}
	UNTIL(&w, w.status->state == PROBE_CLIENT_READY);
	ask(&w, 3, &w.answers[1]);
	UNTIL(&w, w.answered == 2);
	assert_int_equal(w.answers[1].guid, 0x103);
	probe_client_free(w.client);
	sd_event_unref(w.event);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	close(listener);
	unlink(address.sun_path);
	rmdir(dir);
}

/* The real program on a host without a MAD device; skipped where there is one. */
static void test_real(void **state)
{
	const char *builddir = getenv("IBSM_BUILDDIR") ?: ".";
	struct probe_client_options options = {};
	_cleanup_free_ char *program = NULL;
	struct world w;

	(void)state;
	if (access("/sys/class/infiniband_mad", F_OK) == 0)
		skip();
	assert_true(asprintf(&program, "%s/ibsm-probe", builddir) > 0);
	assert_int_equal(access(program, X_OK), 0);
	options.program = program;
	world_open(&w, &options);
	UNTIL(&w, w.status->state >= PROBE_CLIENT_NO_PORT);
	assert_int_equal(w.status->state, PROBE_CLIENT_NO_PORT);
	assert_int_equal(w.status->port.result.status, IBSM_PROBE_NO_DEVICE);
	assert_string_equal(w.status->version, PACKAGE_VERSION);
	ask(&w, 1, &w.answers[0]);
	UNTIL(&w, w.answered == 1);
	assert_int_equal(w.answers[0].error, 0);
	assert_int_equal(w.answers[0].status, IBSM_PROBE_NO_DEVICE);
	assert_int_equal(w.status->failures, 0);
	world_close(&w);
}

static void test_arguments(void **state)
{
	struct probe_client_options options = quick;
	struct probe_client *client = NULL;
	sd_event *event;

	(void)state;
	assert_int_equal(sd_event_new(&event), 0);
	options.socket_path = "/x";
	assert_int_equal(probe_client_new(event, &options, &client), -EINVAL);
	options.socket_path = options.program = NULL;
	assert_int_equal(probe_client_new(event, &options, &client), -EINVAL);
	assert_null(client);
	probe_client_free(NULL);
	/* Never started. */
	options.program = "/x";
	assert_int_equal(probe_client_new(event, &options, &client), 0);
	assert_int_equal(probe_client_sm_info(client, 1, on_answer, NULL), -ENOTCONN);
	assert_int_equal(probe_client_order(client, IBSM_PROBE_PORT, 0, 0, on_answer, NULL),
			 -EINVAL);
	probe_client_free(client);
	sd_event_unref(event);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arguments),    cmocka_unit_test(test_good),
		cmocka_unit_test(test_out_of_order), cmocka_unit_test(test_window),
		cmocka_unit_test(test_hangs),	     cmocka_unit_test(test_closes_and_stays),
		cmocka_unit_test(test_dies),	     cmocka_unit_test(test_answers_and_dies),
		cmocka_unit_test(test_garbage),	     cmocka_unit_test(test_bad_starts),
		cmocka_unit_test(test_back_off),     cmocka_unit_test(test_full),
		cmocka_unit_test(test_choice),	     cmocka_unit_test(test_relook),
		cmocka_unit_test(test_socket_unit),  cmocka_unit_test(test_real),
	};

	if (argc > 1 && strcmp(argv[1], "--socket-fd=3") == 0)
		return fake_main(3);
	alarm(240);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
