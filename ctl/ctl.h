// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What all of ibsmctl shares: the options, the connection, the output, and the verbs.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "ctl/output.h"

#define CTL_SOCKET_DEFAULT "/run/ibsmd/io.ibsm.Monitor"
#define CTL_TIMEOUT_SEC_DEFAULT 30
#define CTL_COUNT_ALL UINT64_MAX

#define CTL_AGO_BYTES 48 /* as TEXT_BYTES */

enum {
	EXIT_USAGE = 2,
};

struct varlink_client;

struct ctl {
	struct output out;

	const char *socket;
	uint64_t timeout_usec;
	struct varlink_client *client; /* NULL until the first call */

	/* Options of verbs. */
	bool page; /* long lists go to a pager */
	bool follow;
	bool watch;
	uint64_t watch_usec;
	uint64_t count; /* 0: not given; CTL_COUNT_ALL */
	uint64_t after; /* 0: not given */
	const char *kind, *node, *type;
	bool all;
	bool stats;
	uint64_t for_usec, window_usec; /* 0: not given */
	const char *reason;
};

/* One line on standard error, harmless whatever the arguments hold. */
void ctl_error(const struct ctl *ctl, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The real time, and how long ago a time of it is: in whole seconds, from 1 s on. */
uint64_t ctl_now_usec(void);
const char *ctl_ago(char buffer[static CTL_AGO_BYTES], uint64_t realtime_usec);

/* Which ends a line is about: " [0x0002c90200001234/3 0x0002c90200005678]"; nothing for none. */
void ctl_print_ends(struct output *out, const json_t *ends);

/* A decimal number above 0 that JSON's integers hold. */
bool ctl_parse_number(const char *text, uint64_t *ret);

/* A verb: @args are its own arguments. Returns the exit code; what failed is on standard error. */
typedef int (*ctl_verb)(struct ctl *ctl, int n_args, char **args);

int verb_status(struct ctl *ctl, int n_args, char **args);
int verb_nodes(struct ctl *ctl, int n_args, char **args);
int verb_node(struct ctl *ctl, int n_args, char **args);
int verb_links(struct ctl *ctl, int n_args, char **args);
int verb_sweeps(struct ctl *ctl, int n_args, char **args);
int verb_sweep_stats(struct ctl *ctl);
int verb_sweep(struct ctl *ctl, int n_args, char **args);
int verb_events(struct ctl *ctl, int n_args, char **args);
int verb_route(struct ctl *ctl, int n_args, char **args);
int verb_alerts(struct ctl *ctl, int n_args, char **args);
int verb_silence(struct ctl *ctl, int n_args, char **args);
int verb_unsilence(struct ctl *ctl, int n_args, char **args);
int verb_silences(struct ctl *ctl, int n_args, char **args);
int verb_ack(struct ctl *ctl, int n_args, char **args);
int verb_sm(struct ctl *ctl, int n_args, char **args);
int verb_sms(struct ctl *ctl, int n_args, char **args);
int verb_groups(struct ctl *ctl, int n_args, char **args);
int verb_partitions(struct ctl *ctl, int n_args, char **args);
int verb_options(struct ctl *ctl, int n_args, char **args);
