// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Harness of the Varlink tests: a service in this process, and clients as raw sockets.
#include "tests/unit/varlink-harness.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>

#include "util/cleanup.h"

#define PATIENCE_USEC UINT64_C(30000000)

static uint64_t now_usec(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

uint64_t harness_deadline(void)
{
	return now_usec() + PATIENCE_USEC;
}

void harness_start(struct harness *harness, const struct varlink_server_options *options)
{
	char template[] = "/tmp/ibsm-varlink-XXXXXX";

	*harness = (struct harness){};
	assert_non_null(mkdtemp(template));
	assert_return_code(chmod(template, 0755), errno);
	harness->directory = strdup(template);
	assert_true(asprintf(&harness->path, "%s/socket", template) > 0);
	assert_return_code(sd_event_new(&harness->event), 0);
	assert_return_code(varlink_server_new(harness->event, options, &harness->server), 0);
	assert_return_code(varlink_server_listen_path(harness->server, harness->path, 0666), 0);
}

void harness_stop(struct harness *harness)
{
	harness->server = varlink_server_free(harness->server);
	sd_event_unref(harness->event);
	assert_return_code(rmdir(harness->directory), errno);
	free(harness->directory);
	free(harness->path);
}

struct varlink_server_stats harness_stats(const struct harness *harness)
{
	struct varlink_server_stats stats;

	varlink_server_get_stats(harness->server, &stats);
	return stats;
}

void harness_run_once(struct harness *harness, uint64_t deadline, const char *what)
{
	uint64_t now = now_usec();

	if (now >= deadline)
		fail_msg("waited in vain for: %s", what);
	assert_return_code(sd_event_run(harness->event, deadline - now), 0);
}

void harness_settle(struct harness *harness)
{
	uint64_t deadline = harness_deadline();
	int r;

	do {
		assert_true(now_usec() < deadline);
		r = sd_event_run(harness->event, 0);
		assert_return_code(r, -r);
	} while (r > 0);
}

void peer_open(struct harness *harness, struct peer *peer)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	strcpy(address.sun_path, harness->path);
	*peer = (struct peer){
		.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0),
	};
	varlink_in_init(&peer->in, 16 << 20);
	assert_return_code(peer->fd, errno);
	assert_return_code(connect(peer->fd, (const struct sockaddr *)&address, sizeof(address)),
			   errno);
}

void peer_close(struct peer *peer)
{
	if (peer->fd >= 0)
		close(TAKE_FD(peer->fd));
	varlink_in_clear(&peer->in);
}

void peer_send(struct peer *peer, const char *text)
{
	size_t length = strlen(text) + 1;

	assert_int_equal(send(peer->fd, text, length, MSG_NOSIGNAL), length);
}

void peer_call(struct peer *peer, const char *method, const char *parameters, const char *flag)
{
	_cleanup_free_ char *text = NULL;

	assert_true(asprintf(&text, "{\"method\":\"%s\"%s%s%s%s%s}", method,
			     parameters ? ",\"parameters\":" : "", parameters ? parameters : "",
			     flag ? ",\"" : "", flag ? flag : "", flag ? "\":true" : "") > 0);
	peer_send(peer, text);
}

bool peer_poll(struct peer *peer, json_t **ret_reply)
{
	const char *text;
	size_t length;
	int r;

	for (;;) {
		r = varlink_in_next(&peer->in, &text, &length);
		assert_in_range(r, 0, 1);
		if (r > 0) {
			*ret_reply = json_loadb(text, length, 0, NULL);
			assert_non_null(*ret_reply);
			return true;
		}
		r = peer->ended ? 0 : varlink_in_read(&peer->in, peer->fd);
		if (r == -EAGAIN)
			return false;
		if (r <= 0) {
			peer->ended = true;
			*ret_reply = NULL;
			return true;
		}
	}
}

json_t *peer_receive(struct harness *harness, struct peer *peer)
{
	json_t *reply;

	harness_run_until(harness, peer_poll(peer, &reply));
	assert_non_null(reply);
	return reply;
}

void peer_expect(struct harness *harness, struct peer *peer, const char *text)
{
	json_t *reply = peer_receive(harness, peer), *expected = json_loads(text, 0, NULL);

	assert_non_null(expected);
	if (!json_equal(reply, expected)) {
		_cleanup_free_ char *got = json_dumps(reply, JSON_COMPACT);

		fail_msg("got %s instead of %s", got, text);
	}
	json_decref(reply);
	json_decref(expected);
}

void peer_expect_error(struct harness *harness, struct peer *peer, const char *error,
		       const char *parameters)
{
	_cleanup_free_ char *text = NULL;

	assert_true(asprintf(&text, "{\"error\":\"%s\",\"parameters\":%s}", error, parameters) > 0);
	peer_expect(harness, peer, text);
}

void peer_expect_closed(struct harness *harness, struct peer *peer)
{
	json_t *reply;

	harness_run_until(harness, peer_poll(peer, &reply));
	if (reply) {
		_cleanup_free_ char *got = json_dumps(reply, JSON_COMPACT);

		fail_msg("got %s instead of the end", got);
	}
}
