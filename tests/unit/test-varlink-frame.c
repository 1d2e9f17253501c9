// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Varlink framing: messages cut at every byte, limits, full sockets.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "util/cleanup.h"
#include "varlink/frame.h"

struct pair {
	int near, far;
};

static struct pair pair_open(void)
{
	int fds[2];

	assert_return_code(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds),
			   errno);
	return (struct pair){.near = fds[0], .far = fds[1]};
}

static void pair_close(struct pair *pair)
{
	if (pair->near >= 0)
		close(pair->near);
	if (pair->far >= 0)
		close(pair->far);
}

static void write_all(int fd, const char *bytes, size_t length)
{
	assert_int_equal(send(fd, bytes, length, MSG_NOSIGNAL), length);
}

static void read_until_dry(struct varlink_in *in, int fd)
{
	int r;

	do
		r = varlink_in_read(in, fd);
	while (r > 0);
	assert_int_equal(r, -EAGAIN);
}

static void expect_message(struct varlink_in *in, const char *expected)
{
	const char *text;
	size_t length;

	assert_int_equal(varlink_in_next(in, &text, &length), 1);
	assert_int_equal(length, strlen(expected));
	assert_string_equal(text, expected);
}

static void expect_none(struct varlink_in *in)
{
	const char *text;
	size_t length;

	assert_int_equal(varlink_in_next(in, &text, &length), 0);
}

static void test_every_split(void **state)
{
	static const char stream[] = "{\"a\":1}\0\0{\"bc\":\"de\"}"; /* and the literal's own NUL */
	struct varlink_in in;
	struct pair pair;

	(void)state;

	for (size_t cut = 0; cut <= sizeof(stream); cut++) {
		pair = pair_open();
		varlink_in_init(&in, 64);

		if (cut > 0)
			write_all(pair.far, stream, cut);
		read_until_dry(&in, pair.near);
		if (cut >= 8)
			expect_message(&in, "{\"a\":1}");
		if (cut >= 9)
			expect_message(&in, "");
		if (cut == sizeof(stream))
			expect_message(&in, "{\"bc\":\"de\"}");
		expect_none(&in);
		assert_int_equal(varlink_in_is_partial(&in),
				 cut != 0 && cut != 8 && cut != 9 && cut != sizeof(stream));

		if (cut < sizeof(stream))
			write_all(pair.far, stream + cut, sizeof(stream) - cut);
		read_until_dry(&in, pair.near);
		if (cut < 8)
			expect_message(&in, "{\"a\":1}");
		if (cut < 9)
			expect_message(&in, "");
		if (cut < sizeof(stream))
			expect_message(&in, "{\"bc\":\"de\"}");
		expect_none(&in);
		assert_false(varlink_in_is_partial(&in));

		varlink_in_clear(&in);
		pair_close(&pair);
	}
}

static void test_byte_by_byte(void **state)
{
	static const char stream[] = "one\0two\0three";
	static const char *const expected[] = {"one", "two", "three"};
	struct pair pair = pair_open();
	struct varlink_in in;
	const char *text;
	size_t length, n = 0;

	(void)state;

	varlink_in_init(&in, 5);
	for (size_t i = 0; i < sizeof(stream); i++) {
		write_all(pair.far, stream + i, 1);
		assert_int_equal(varlink_in_read(&in, pair.near), 1);
		while (n < ELEMENTSOF(expected) && varlink_in_next(&in, &text, &length) == 1)
			assert_string_equal(text, expected[n++]);
		assert_int_equal(stream[i] == '\0', !varlink_in_is_partial(&in));
	}
	assert_int_equal(n, ELEMENTSOF(expected));

	close(TAKE_FD(pair.far));
	assert_int_equal(varlink_in_read(&in, pair.near), 0);
	varlink_in_clear(&in);
	pair_close(&pair);
}

/* Read until a message, an error or the socket is dry. */
static int drain(struct varlink_in *in, int fd, const char **ret_text, size_t *ret_length)
{
	int r;

	for (;;) {
		r = varlink_in_next(in, ret_text, ret_length);
		if (r != 0)
			return r;
		r = varlink_in_read(in, fd);
		if (r < 0)
			return r;
	}
}

static void test_limit(void **state)
{
	static const size_t limits[] = {1, 2, 4095, 4096, 4097, 10000, 70000};
	const char *text;
	size_t length;

	(void)state;

	for (size_t i = 0; i < ELEMENTSOF(limits); i++) {
		for (size_t over = 0; over <= 1; over++) {
			size_t n = limits[i] + over;
			_cleanup_free_ char *message = malloc(n + 1);
			struct pair pair = pair_open();
			struct varlink_in in;

			memset(message, 'x', n);
			message[n] = '\0';
			varlink_in_init(&in, limits[i]);
			write_all(pair.far, message, n + 1);
			if (over) {
				assert_int_equal(drain(&in, pair.near, &text, &length), -EMSGSIZE);
				/* It stays an error, whatever comes. */
				assert_int_equal(drain(&in, pair.near, &text, &length), -EMSGSIZE);
			} else {
				assert_int_equal(drain(&in, pair.near, &text, &length), 1);
				assert_int_equal(length, n);
				assert_memory_equal(text, message, n + 1);
			}
			assert_true(in.allocated <= limits[i] + 1);
			varlink_in_clear(&in);
			pair_close(&pair);
		}
	}
}

static void test_endless_message_is_cut_off(void **state)
{
	struct pair pair = pair_open();
	char junk[1000];
	struct varlink_in in;
	const char *text;
	size_t length, sent = 0;
	int r;

	(void)state;

	memset(junk, ' ', sizeof(junk));
	varlink_in_init(&in, 10000);
	do {
		write_all(pair.far, junk, sizeof(junk));
		sent += sizeof(junk);
		r = drain(&in, pair.near, &text, &length);
	} while (r == -EAGAIN);
	assert_int_equal(r, -EMSGSIZE);
	assert_in_range(sent, 10001, 11000);
	varlink_in_clear(&in);
	pair_close(&pair);
}

static void test_trim(void **state)
{
	_cleanup_free_ char *message = calloc(1, 100001);
	struct pair pair = pair_open();
	struct varlink_in in;
	const char *text;
	size_t length;

	(void)state;

	varlink_in_init(&in, 1 << 20);
	memset(message, 'x', 100000);
	write_all(pair.far, message, 100001);
	assert_int_equal(drain(&in, pair.near, &text, &length), 1);
	write_all(pair.far, "y", 1);
	read_until_dry(&in, pair.near);
	varlink_in_trim(&in);
	assert_true(varlink_in_is_partial(&in));
	write_all(pair.far, "", 1);
	assert_int_equal(drain(&in, pair.near, &text, &length), 1);
	assert_string_equal(text, "y");
	varlink_in_trim(&in);
	assert_int_equal(in.allocated, 0);
	varlink_in_clear(&in);
	pair_close(&pair);
}

static void test_out_message(void **state)
{
	json_t *json = json_pack("{s:[i,b,n], s:s}", "a", 1, 1, "b", "x\ny");
	static const char expected[] = "{\"a\":[1,true,null],\"b\":\"x\\ny\"}";
	struct varlink_out out = {};

	(void)state;

	assert_int_equal(varlink_out_message(&out, json, sizeof(expected) - 2), -EMSGSIZE);
	assert_int_equal(varlink_out_pending(&out), 0);
	assert_int_equal(varlink_out_message(&out, json, sizeof(expected) - 1), 0);
	assert_int_equal(varlink_out_pending(&out), sizeof(expected));
	assert_memory_equal(out.data, expected, sizeof(expected));

	/* A refused message leaves the ones before alone. */
	assert_int_equal(varlink_out_message(&out, json, 3), -EMSGSIZE);
	assert_int_equal(varlink_out_pending(&out), sizeof(expected));
	assert_memory_equal(out.data, expected, sizeof(expected));
	varlink_out_clear(&out);
	json_decref(json);
}

/* Whatever piece of the text a limit cuts, nothing is left of it. */
static void test_out_every_limit(void **state)
{
	_cleanup_free_ char *text = NULL;
	struct varlink_out out = {0};
	json_t *json = json_loads("{\"a long key\": 1, \"b\": [2, {\"another long key\": true}], "
				  "\"c\": {\"d\": \"a long value\", \"e\": null}}",
				  0, NULL);

	(void)state;
	assert_non_null(json);
	text = json_dumps(json, JSON_COMPACT);
	for (size_t limit = 0; limit < strlen(text); limit++) {
		assert_int_equal(varlink_out_append_json(&out, json, limit), -EMSGSIZE);
		assert_int_equal(varlink_out_pending(&out), 0);
	}
	assert_int_equal(varlink_out_append_json(&out, json, strlen(text)), 0);
	assert_int_equal(varlink_out_pending(&out), strlen(text));
	json_decref(json);
	varlink_out_clear(&out);
}

static void test_out_through_a_full_socket(void **state)
{
	enum { BYTES = 3 << 20 };
	_cleanup_free_ char *sent = malloc(BYTES), *received = malloc(BYTES);
	struct pair pair = pair_open();
	struct varlink_out out = {};
	size_t n = 0, appended = 0, before;
	ssize_t got;
	int r;

	(void)state;

	for (size_t i = 0; i < BYTES; i++)
		sent[i] = (char)(i * 31 >> 3);

	/* Appending while half of it is on its way must not mix anything up. */
	while (n < BYTES) {
		if (appended < BYTES) {
			assert_int_equal(varlink_out_append(&out, sent + appended, BYTES / 16), 0);
			appended += BYTES / 16;
		}
		before = varlink_out_pending(&out);
		r = varlink_out_flush(&out, pair.near);
		assert_in_range(r, 0, 1);
		assert_int_equal(r == 1, varlink_out_pending(&out) == 0);
		assert_true(varlink_out_pending(&out) <= before);
		got = recv(pair.far, received + n, 50000, 0);
		assert_true(got > 0);
		n += (size_t)got;
	}
	assert_memory_equal(sent, received, BYTES);
	assert_int_equal(varlink_out_flush(&out, pair.near), 1);
	assert_int_equal(out.allocated, 0);
	pair_close(&pair);
}

static void test_out_to_nobody(void **state)
{
	struct pair pair = pair_open();
	struct varlink_out out = {};

	(void)state;

	close(TAKE_FD(pair.far));
	assert_int_equal(varlink_out_append(&out, "x", 1), 0);
	assert_int_equal(varlink_out_flush(&out, pair.near), -EPIPE); /* and no SIGPIPE */
	varlink_out_clear(&out);
	pair_close(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_split),
		cmocka_unit_test(test_byte_by_byte),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_endless_message_is_cut_off),
		cmocka_unit_test(test_trim),
		cmocka_unit_test(test_out_message),
		cmocka_unit_test(test_out_every_limit),
		cmocka_unit_test(test_out_through_a_full_socket),
		cmocka_unit_test(test_out_to_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
