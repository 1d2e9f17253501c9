// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Harness of ibsmd's tests: the built daemon in a directory of its own, and a plugin played to it.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <cmocka.h>
#include <jansson.h>

#include "ibsm/wire.h"
#include "tests/lib/snapshot-build.h"
#include "varlink/client.h"

/* A daemon. All functions fail the test when something takes too long. */
struct daemon {
	char directory[64];
	char socket[128]; /* the API's */
	char log[128];
	pid_t pid;
	struct varlink_client *client;
};

/* A directory; daemon_write() files go there. */
void daemon_open(struct daemon *d);
/* Remove it; ends the daemon if it runs, which must have gone well. */
void daemon_close(struct daemon *d);

void daemon_write(const struct daemon *d, const char *name, const char *text);

/* Run it with --config=DIRECTORY/ibsmd.conf (empty unless written), and wait until it answers. */
void daemon_start(struct daemon *d);
/* The same, but as an exec of @argv; does not wait. */
pid_t daemon_spawn(const struct daemon *d, char *const argv[]);
/* SIGTERM; asserts that it ends with 0. */
void daemon_stop(struct daemon *d);
/* Returns its wait status. */
int daemon_wait(pid_t pid);
void daemon_kill(struct daemon *d);
const char *daemon_program(void);

/* How often @text is in its log; wait until it is there. */
unsigned daemon_log_count(const struct daemon *d, const char *text);
void daemon_await_log(const struct daemon *d, const char *text);

/* Wait until the file that keeps alerts over a restart has this text. */
void daemon_await_saved(const struct daemon *d, const char *text);

/* How many descriptors it has open. */
unsigned daemon_fds(const struct daemon *d);

/* Call a method of io.ibsm.Monitor; @parameters as JSON text, NULL: none. */
json_t *daemon_call(struct daemon *d, const char *method, const char *parameters);
/* The same; it must answer with this error. Returns the error's parameters. */
json_t *daemon_call_error(struct daemon *d, const char *method, const char *parameters,
			  const char *error);
/* All of a list, gathered with `more`. */
json_t *daemon_list(struct daemon *d, const char *method, const char *parameters,
		    const char *field);

/* A value by its path, as "plugin.connections.0.sm_state"; fails the test when it is not there. */
const json_t *json_at(const json_t *json, const char *path);
json_int_t json_int_at(const json_t *json, const char *path);
const char *json_text_at(const json_t *json, const char *path);
bool json_bool_at(const json_t *json, const char *path);

/* Wait until GetStatus has this at a path (JSON text). */
void daemon_await(struct daemon *d, const char *path, const char *value);
/* Wait until there is an event of this kind with a greater number; returns it. */
json_t *daemon_await_event(struct daemon *d, const char *kind, json_int_t after);
/* The newest event's number, 0: none. */
json_int_t daemon_last_event(struct daemon *d);

/* For cmocka: a daemon that runs, as *state. */
int fixture_setup(void **state);
int fixture_teardown(void **state);

/* A plugin. */
struct player {
	int fd;
	uint64_t instance;
	uint64_t sequence; /* of the last record sent */
	uint32_t connections;
	uint64_t sm_guid;
	uint64_t subnet_prefix;
	uint8_t sm_state;
	uint64_t generation;
};

void player_init(struct player *p, uint64_t instance, uint64_t sm_guid);
/* Connect, and say HELLO. */
void player_connect(struct player *p, const struct daemon *d);
/* Connect alone. */
void player_open(struct player *p, const struct daemon *d);
void player_close(struct player *p);
/* Send a record of @type: fills in the header. Any of union ibsm_wire_record's members. */
void player_send(struct player *p, uint16_t type, void *record, int fd);
void player_hello(struct player *p);
void player_sweep(struct player *p, uint16_t type, uint32_t flags);
void player_heartbeat(struct player *p, uint64_t dropped);
void player_sm_state(struct player *p, uint8_t state);
void player_trap(struct player *p, uint16_t number, uint16_t lid);
void player_lft_change(struct player *p, uint64_t node_guid, uint32_t block);
/* Bytes as they are. Returns what send() said. */
ssize_t player_raw(struct player *p, const void *bytes, size_t length, const int *fds,
		   size_t n_fds);
/* Wait until the daemon has closed the connection. */
void player_await_closed(struct player *p);

/* Handles of nodes in fixture_tree(): four leaves, two spines, three hosts on each leaf. */
enum { LEAF, SPINE = 4, HOST = 6 };
struct builder *fixture_tree(void);
uint64_t fixture_host_guid(const struct builder *b, int host);

/* What the builder holds; @omit as for build_write(). */
void player_snapshot(struct player *p, struct builder *b, uint32_t omit);
/* A whole heavy sweep with its snapshot. */
void player_whole_sweep(struct player *p, struct builder *b);

uint64_t harness_now_nsec(void);
