// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Varlink client: against the real service, against one that misbehaves, and against none.
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>

#include "tests/unit/varlink-harness.h"
#include "util/cleanup.h"
#include "varlink/client.h"

#define PATIENCE_USEC UINT64_C(30000000)
#define IMPATIENCE_USEC UINT64_C(50000)

/* ---- the real service, on a thread of its own ---- */

static const char description[] = "interface org.example.test\n"
				  "method Echo(text: string) -> (text: string)\n"
				  "method Count(n: int) -> (i: int)\n"
				  "method Silent() -> ()\n"
				  "method Refuse() -> ()\n"
				  "error Refused (why: string)\n";

struct background {
	struct harness harness;
	struct varlink_call *silent;
	int stop_fd;
	pthread_t thread;
};

static int echo(struct varlink_call *call, json_t *parameters, void *userdata)
{
	(void)userdata;
	return varlink_call_reply(call,
				  json_pack("{s:O}", "text", json_object_get(parameters, "text")));
}

/* A negative number ends with an error. */
static int count(struct varlink_call *call, json_t *parameters, void *userdata)
{
	json_int_t n = json_integer_value(json_object_get(parameters, "n"));

	(void)userdata;

	for (json_int_t i = 1; i < llabs(n) && varlink_call_wants_more(call); i++)
		if (varlink_call_reply_more(call, json_pack("{s:I}", "i", i)) < 0)
			return -EIO;
	if (n < 0)
		return varlink_call_error(call, "org.example.test.Refused",
					  json_pack("{s:s}", "why", "negative"));
	return varlink_call_reply(call, json_pack("{s:I}", "i", n));
}

static int keep_silent(struct varlink_call *call, json_t *parameters, void *userdata)
{
	struct background *background = userdata;

	(void)parameters;

	varlink_call_unref(background->silent);
	background->silent = varlink_call_ref(call);
	return 0;
}

static int refuse(struct varlink_call *call, json_t *parameters, void *userdata)
{
	(void)parameters;
	(void)userdata;
	return varlink_call_error(call, "org.example.test.Refused",
				  json_pack("{s:s}", "why", "because"));
}

static const struct varlink_method methods[] = {
	{.name = "Echo", .handler = echo},
	{.name = "Count", .handler = count},
	{.name = "Silent", .handler = keep_silent},
	{.name = "Refuse", .handler = refuse},
};

static int on_stop(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	(void)fd;
	(void)revents;
	(void)userdata;
	return sd_event_exit(sd_event_source_get_event(source), 0);
}

static void *run_background(void *userdata)
{
	struct background *background = userdata;

	(void)sd_event_loop(background->harness.event);
	return NULL;
}

static void background_start(struct background *background)
{
	*background = (struct background){.stop_fd = eventfd(0, EFD_CLOEXEC)};
	harness_start(&background->harness, NULL);
	assert_return_code(varlink_server_add_interface(background->harness.server, description,
							methods, ELEMENTSOF(methods), background),
			   0);
	assert_return_code(sd_event_add_io(background->harness.event, NULL, background->stop_fd,
					   POLLIN, on_stop, NULL),
			   0);
	assert_int_equal(pthread_create(&background->thread, NULL, run_background, background), 0);
}

static void background_stop(struct background *background)
{
	assert_return_code(eventfd_write(background->stop_fd, 1), errno);
	assert_int_equal(pthread_join(background->thread, NULL), 0);
	harness_stop(&background->harness);
	varlink_call_unref(background->silent);
	close(background->stop_fd);
}

static struct varlink_client *connect_to(const struct background *background, uint64_t timeout_usec)
{
	struct varlink_client *client = NULL;

	assert_return_code(varlink_client_connect(background->harness.path, timeout_usec, &client),
			   0);
	return client;
}

static void expect_echo(struct varlink_client *client, const char *text)
{
	json_t *parameters = NULL;
	char *error = (char *)"untouched";

	assert_int_equal(varlink_client_call(client, "org.example.test.Echo",
					     json_pack("{s:s}", "text", text), &parameters, &error),
			 0);
	assert_null(error);
	assert_string_equal(json_string_value(json_object_get(parameters, "text")), text);
	json_decref(parameters);
}

static void test_call(void **state)
{
	struct background background;
	struct varlink_client *client;
	json_t *parameters;
	char *error;

	(void)state;

	background_start(&background);
	client = connect_to(&background, PATIENCE_USEC);
	expect_echo(client, "one");
	expect_echo(client, "\xc3\xa4\n\"");
	assert_int_equal(
		varlink_client_call(client, "org.example.test.Refuse", NULL, &parameters, &error),
		1);
	assert_string_equal(error, "org.example.test.Refused");
	assert_string_equal(json_string_value(json_object_get(parameters, "why")), "because");
	json_decref(parameters);
	free(error);
	assert_int_equal(varlink_client_call(client, "org.example.test.Refuse", NULL, NULL, NULL),
			 1);
	assert_int_equal(varlink_client_call(client, "org.example.test.Echo", NULL, NULL, &error),
			 1);
	assert_string_equal(error, "org.varlink.service.InvalidParameter");
	free(error);
	expect_echo(client, "still there");
	varlink_client_free(client);

	client = connect_to(&background, VARLINK_TIMEOUT_INFINITE);
	expect_echo(client, "patient");
	varlink_client_free(client);
	varlink_client_free(NULL);
	background_stop(&background);
}

static void test_large_messages(void **state)
{
	const size_t bytes = 200000;
	_cleanup_free_ char *text = malloc(bytes + 1);
	struct background background;
	struct varlink_client *client;

	(void)state;

	memset(text, 'x', bytes);
	text[bytes] = '\0';
	background_start(&background);
	client = connect_to(&background, PATIENCE_USEC);
	for (int i = 0; i < 10; i++)
		expect_echo(client, text);
	varlink_client_free(client);
	background_stop(&background);
}

struct counting {
	json_int_t seen, stop_at;
	bool ended;
};

static int on_reply(json_t *parameters, bool continues, void *userdata)
{
	struct counting *counting = userdata;

	assert_false(counting->ended);
	assert_int_equal(json_integer_value(json_object_get(parameters, "i")), ++counting->seen);
	counting->ended = !continues;
	return counting->seen == counting->stop_at ? 42 : 0;
}

static void test_call_more(void **state)
{
	struct counting counting = {};
	struct background background;
	struct varlink_client *client;
	json_t *parameters = NULL;
	char *error = NULL;

	(void)state;

	background_start(&background);
	client = connect_to(&background, PATIENCE_USEC);
	assert_int_equal(varlink_client_call_more(client, "org.example.test.Count",
						  json_pack("{s:i}", "n", 1000), on_reply,
						  &counting, &parameters, &error),
			 0);
	assert_int_equal(counting.seen, 1000);
	assert_true(counting.ended);
	assert_null(parameters);

	/* An error after replies. */
	counting = (struct counting){};
	assert_int_equal(varlink_client_call_more(client, "org.example.test.Count",
						  json_pack("{s:i}", "n", -10), on_reply, &counting,
						  &parameters, &error),
			 1);
	assert_int_equal(counting.seen, 9);
	assert_string_equal(error, "org.example.test.Refused");
	assert_non_null(parameters);
	json_decref(parameters);
	free(error);

	/* Stopped at the last one the connection goes on, before it does not. */
	counting = (struct counting){.stop_at = 5};
	assert_int_equal(varlink_client_call_more(client, "org.example.test.Count",
						  json_pack("{s:i}", "n", 5), on_reply, &counting,
						  NULL, NULL),
			 42);
	expect_echo(client, "alive");
	counting = (struct counting){.stop_at = 5};
	assert_int_equal(varlink_client_call_more(client, "org.example.test.Count",
						  json_pack("{s:i}", "n", 10), on_reply, &counting,
						  NULL, NULL),
			 42);
	assert_int_equal(varlink_client_call(client, "org.example.test.Echo", NULL, NULL, NULL),
			 -ECANCELED);
	varlink_client_free(client);
	background_stop(&background);
}

static void test_poll_loop(void **state)
{
	struct background background;
	struct varlink_client *client;
	struct varlink_reply reply;
	int seen = 0, r;

	(void)state;

	background_start(&background);
	client = connect_to(&background, PATIENCE_USEC);
	assert_int_equal(varlink_client_receive(client, 0, &reply), -EAGAIN);
	assert_int_equal(varlink_client_send(client, "org.example.test.Count",
					     json_pack("{s:i}", "n", 100), VARLINK_CLIENT_MORE),
			 0);
	while (seen < 100) {
		struct pollfd pollfd = {.fd = varlink_client_fd(client), .events = POLLIN};

		assert_int_equal(poll(&pollfd, 1, 30000), 1);
		while ((r = varlink_client_receive(client, 0, &reply)) == 0) {
			assert_int_equal(reply.continues, ++seen < 100);
			varlink_reply_clear(&reply);
		}
		assert_int_equal(r, -EAGAIN);
	}

	/* Pipelined, with a oneway call between. */
	for (int i = 0; i < 10; i++)
		assert_int_equal(varlink_client_send(client, "org.example.test.Count",
						     json_pack("{s:i}", "n", i),
						     i == 5 ? VARLINK_CLIENT_ONEWAY : 0),
				 0);
	for (int i = 0; i < 10; i++) {
		if (i == 5)
			continue;
		assert_int_equal(varlink_client_receive(client, PATIENCE_USEC, &reply), 0);
		assert_int_equal(json_integer_value(json_object_get(reply.parameters, "i")), i);
		varlink_reply_clear(&reply);
	}
	varlink_client_free(client);
	background_stop(&background);
}

static uint64_t now_usec(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

static void test_timeout(void **state)
{
	struct background background;
	struct varlink_client *client;
	struct varlink_reply reply;
	uint64_t begin;

	(void)state;

	background_start(&background);
	client = connect_to(&background, IMPATIENCE_USEC);
	begin = now_usec();
	assert_int_equal(varlink_client_call(client, "org.example.test.Silent", NULL, NULL, NULL),
			 -ETIMEDOUT);
	assert_true(now_usec() - begin >= IMPATIENCE_USEC);
	/* A late reply must not be taken for the next call's. */
	assert_int_equal(varlink_client_call(client, "org.example.test.Echo", NULL, NULL, NULL),
			 -ETIMEDOUT);
	assert_int_equal(varlink_client_send(client, "org.example.test.Echo", NULL, 0), -ETIMEDOUT);
	assert_int_equal(varlink_client_receive(client, 0, &reply), -ETIMEDOUT);
	varlink_client_free(client);

	/* With no time at all. */
	client = connect_to(&background, 0);
	assert_int_equal(varlink_client_call(client, "org.example.test.Silent", NULL, NULL, NULL),
			 -ETIMEDOUT);
	varlink_client_free(client);

	client = connect_to(&background, PATIENCE_USEC);
	assert_int_equal(varlink_client_send(client, "org.example.test.Silent", NULL, 0), 0);
	assert_int_equal(varlink_client_receive(client, IMPATIENCE_USEC, &reply), -ETIMEDOUT);
	assert_int_equal(varlink_client_receive(client, 0, &reply), -EAGAIN);
	varlink_client_free(client);
	background_stop(&background);
}

/* ---- a service that misbehaves: a listening socket in the test's hand ---- */

struct fake {
	char directory[32], path[64];
	int fd;
};

static void fake_start(struct fake *fake, int type, int backlog)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	strcpy(fake->directory, "/tmp/ibsm-varlink-XXXXXX");
	assert_non_null(mkdtemp(fake->directory));
	snprintf(fake->path, sizeof(fake->path), "%s/socket", fake->directory);
	strcpy(address.sun_path, fake->path);
	fake->fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
	assert_return_code(bind(fake->fd, (struct sockaddr *)&address, sizeof(address)), errno);
	assert_return_code(listen(fake->fd, backlog), errno);
}

static void fake_stop(struct fake *fake)
{
	if (fake->fd >= 0)
		close(fake->fd);
	unlink(fake->path);
	assert_return_code(rmdir(fake->directory), errno);
}

/* Connect, have @length bytes of @answer waiting (and the end where @end), and call. */
static int call_fake(const char *answer, size_t length, bool end, int *ret_again)
{
	struct varlink_client *client = NULL;
	struct fake fake;
	int fd, r;

	fake_start(&fake, SOCK_STREAM, 5);
	assert_int_equal(varlink_client_connect(fake.path, PATIENCE_USEC, &client), 0);
	fd = accept4(fake.fd, NULL, NULL, SOCK_CLOEXEC);
	assert_return_code(fd, errno);
	assert_int_equal(send(fd, answer, length, MSG_NOSIGNAL), length);
	if (end)
		assert_return_code(shutdown(fd, SHUT_WR), errno);
	r = varlink_client_call(client, "a.b.C", json_object(), NULL, NULL);
	*ret_again = varlink_client_call(client, "a.b.C", json_object(), NULL, NULL);
	close(fd);
	varlink_client_free(client);
	fake_stop(&fake);
	return r;
}

static void test_answers_that_are_none(void **state)
{
	static const struct {
		const char *answer;
		int r;
	} cases[] = {
		{"", -EPROTO},
		{"x", -EPROTO},
		{"[]", -EPROTO},
		{"{\"parameters\":[]}", -EPROTO},
		{"{\"parameters\":{},\"continues\":1}", -EPROTO},
		{"{\"parameters\":{},\"continues\":true}", -EPROTO}, /* nobody asked for more */
		{"{\"error\":{}}", -EPROTO},
		{"{\"error\":\"\xff\"}", -EPROTO},
	};
	static const char sparse[] = "{}\0{\"parameters\":null,\"error\":null,\"continues\":null}";
	static const char error[] = "{\"error\":\"a.b.E\",\"continues\":true}\0{}";
	int again;

	(void)state;

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		assert_int_equal(
			call_fake(cases[i].answer, strlen(cases[i].answer) + 1, false, &again),
			cases[i].r);
		assert_int_equal(again, cases[i].r);
	}

	/* Sparse, but fine. */
	assert_int_equal(call_fake(sparse, sizeof(sparse), false, &again), 0);
	assert_int_equal(again, 0);
	assert_int_equal(call_fake(error, sizeof(error), false, &again), 1);
	assert_int_equal(again, 0);

	/* The end before, and in the middle of an answer. */
	assert_int_equal(call_fake("", 0, true, &again), -ECONNRESET);
	assert_int_equal(again, -ECONNRESET);
	assert_int_equal(call_fake("{\"parameters\":", 14, true, &again), -ECONNRESET);
}

static void test_service_closes_at_once(void **state)
{
	struct varlink_client *client = NULL;
	struct fake fake;
	int fd;

	(void)state;

	fake_start(&fake, SOCK_STREAM, 5);
	assert_int_equal(varlink_client_connect(fake.path, PATIENCE_USEC, &client), 0);
	fd = accept4(fake.fd, NULL, NULL, SOCK_CLOEXEC);
	close(fd);
	assert_int_equal(varlink_client_call(client, "a.b.C", NULL, NULL, NULL), -ECONNRESET);
	varlink_client_free(client);
	fake_stop(&fake);
}

static void *answer_without_end(void *userdata)
{
	int fd = *(int *)userdata;
	char junk[4096];

	memset(junk, ' ', sizeof(junk));
	while (send(fd, junk, sizeof(junk), MSG_NOSIGNAL) > 0)
		;
	return NULL;
}

static void test_answer_without_end(void **state)
{
	struct varlink_client *client = NULL;
	struct fake fake;
	pthread_t thread;
	int fd;

	(void)state;

	fake_start(&fake, SOCK_STREAM, 5);
	assert_int_equal(varlink_client_connect(fake.path, PATIENCE_USEC, &client), 0);
	fd = accept4(fake.fd, NULL, NULL, SOCK_CLOEXEC);
	assert_int_equal(pthread_create(&thread, NULL, answer_without_end, &fd), 0);
	assert_int_equal(varlink_client_call(client, "a.b.C", NULL, NULL, NULL), -EMSGSIZE);
	varlink_client_free(client);
	assert_int_equal(pthread_join(thread, NULL), 0);
	close(fd);
	fake_stop(&fake);
}

static void test_service_does_not_read(void **state)
{
	_cleanup_free_ char *text = calloc(1, (4 << 20) + 1);
	struct varlink_client *client = NULL;
	struct fake fake;

	(void)state;

	memset(text, 'x', 4 << 20);
	fake_start(&fake, SOCK_STREAM, 5);
	assert_int_equal(varlink_client_connect(fake.path, IMPATIENCE_USEC, &client), 0);
	assert_int_equal(
		varlink_client_call(client, "a.b.C", json_pack("{s:s}", "x", text), NULL, NULL),
		-ETIMEDOUT);
	varlink_client_free(client);
	fake_stop(&fake);
}

static void test_service_does_not_accept(void **state)
{
	struct varlink_client *clients[8] = {};
	struct fake fake;
	size_t n = 0;
	int r;

	(void)state;

	fake_start(&fake, SOCK_STREAM, 1);
	do
		r = varlink_client_connect(fake.path, IMPATIENCE_USEC, &clients[n]);
	while (r == 0 && ++n < ELEMENTSOF(clients));
	assert_int_equal(r, -ETIMEDOUT);
	assert_null(clients[n]);
	for (size_t i = 0; i < n; i++)
		varlink_client_free(clients[i]);
	fake_stop(&fake);
}

/* ---- nobody there ---- */

static void test_nobody_there(void **state)
{
	struct varlink_client *client = NULL;
	char long_path[200];
	struct fake fake;
	uid_t me = geteuid();

	(void)state;

	fake_start(&fake, SOCK_STREAM, 5);
	if (me == 0) {
		assert_return_code(chmod(fake.directory, 0755), errno);
		assert_return_code(seteuid(65534), errno);
	}
	assert_return_code(me == 0 ? 0 : chmod(fake.path, 0), errno);
	assert_int_equal(varlink_client_connect(fake.path, PATIENCE_USEC, &client), -EACCES);
	if (me == 0)
		assert_return_code(seteuid(0), errno);
	close(TAKE_FD(fake.fd));
	assert_return_code(chmod(fake.path, 0600), errno);
	assert_int_equal(varlink_client_connect(fake.path, PATIENCE_USEC, &client), -ECONNREFUSED);
	assert_return_code(unlink(fake.path), errno);
	assert_int_equal(varlink_client_connect(fake.path, PATIENCE_USEC, &client), -ENOENT);
	fake_stop(&fake);

	memset(long_path, 'x', sizeof(long_path) - 1);
	long_path[sizeof(long_path) - 1] = '\0';
	assert_int_equal(varlink_client_connect(long_path, PATIENCE_USEC, &client), -ENAMETOOLONG);

	fake_start(&fake, SOCK_SEQPACKET, 5);
	assert_int_equal(varlink_client_connect(fake.path, PATIENCE_USEC, &client), -EPROTOTYPE);
	fake_stop(&fake);
	assert_null(client);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_call),
		cmocka_unit_test(test_large_messages),
		cmocka_unit_test(test_call_more),
		cmocka_unit_test(test_poll_loop),
		cmocka_unit_test(test_timeout),
		cmocka_unit_test(test_answers_that_are_none),
		cmocka_unit_test(test_service_closes_at_once),
		cmocka_unit_test(test_answer_without_end),
		cmocka_unit_test(test_service_does_not_read),
		cmocka_unit_test(test_service_does_not_accept),
		cmocka_unit_test(test_nobody_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
