// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Harness of the Varlink tests: a service in this process, and clients as raw sockets.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <cmocka.h>
#include <jansson.h>

#include "varlink/frame.h"
#include "varlink/server.h"

struct harness {
	sd_event *event;
	struct varlink_server *server;
	char *directory;
	char *path;
};

/* The service listens on harness->path when this returns; no interface but its own. */
void harness_start(struct harness *harness, const struct varlink_server_options *options);
void harness_stop(struct harness *harness);

struct varlink_server_stats harness_stats(const struct harness *harness);

/* Run the event loop until @condition, which fails the test when it takes too long. */
#define harness_run_until(harness, condition)                                                      \
	do {                                                                                       \
		uint64_t _deadline = harness_deadline();                                           \
		while (!(condition))                                                               \
			harness_run_once(harness, _deadline, #condition);                          \
	} while (0)
uint64_t harness_deadline(void);
void harness_run_once(struct harness *harness, uint64_t deadline, const char *what);

/* Run the event loop until it has nothing to do. */
void harness_settle(struct harness *harness);

/* A client. */
struct peer {
	int fd;
	struct varlink_in in;
	bool ended;
};

void peer_open(struct harness *harness, struct peer *peer);
void peer_close(struct peer *peer);

/* Send a text and its NUL; the socket must have room for it. */
void peer_send(struct peer *peer, const char *text);

/* Send {"method": METHOD, "parameters": @parameters (JSON text or NULL), FLAG: true}. */
void peer_call(struct peer *peer, const char *method, const char *parameters, const char *flag);

/* Whether a reply is there; if so takes it. NULL in *ret_reply when the service closed instead. */
bool peer_poll(struct peer *peer, json_t **ret_reply);

/* Wait for a reply, which is a new reference. */
json_t *peer_receive(struct harness *harness, struct peer *peer);

/* Wait for a reply that equals the JSON @text. */
void peer_expect(struct harness *harness, struct peer *peer, const char *text);

/* Wait for {"error": @error, "parameters": @parameters}. */
void peer_expect_error(struct harness *harness, struct peer *peer, const char *error,
		       const char *parameters);

/* Wait until the service closes the connection, without another reply. */
void peer_expect_closed(struct harness *harness, struct peer *peer);
