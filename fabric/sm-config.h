// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Checks of opensm's options against the fabric that it runs: one table, each with reason and
// source.
#pragma once

/*
 * Options come from the snapshot, under their names in opensm.conf. What is not there (another
 * opensm, a build without perfmgr) is not judged. Secrets are known as set or not; their values
 * never leave opensm, so no text here can show one.
 *
 * A check is a fact (worth showing beside the SM) or a finding (worth an alert: sm-config). Of two
 * SMs only the followed opensm's options are seen; that the other one has the same is an
 * assumption.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fabric.h"
#include "finding.h"

struct sm_config_limits {
	/* "opensm defaults were designed to meet the common case usage on clusters with up to a few
	 * hundred nodes": opensm(8), DESCRIPTION. */
	uint32_t default_nodes_max;
	/* opensm's own default is 10 s × 4 = 40 s, UFM's 5 s × 4 = 20 s (UFM REST API guide, "SM
	 * Configuration"). */
	uint64_t takeover_max_usec;
	/* A master that is busy with a heavy sweep answers late; below this it is taken for dead.
	 */
	uint64_t takeover_min_usec;
	/* The longest that one silent node may hold up a slot: (retries + 1) × time-out. opensm's
	 * own default is 4 × 200 ms = 0.8 s. */
	uint64_t silence_max_usec;
	/* Share of the unicast LIDs in use from which an LMC above 0 is questioned. */
	unsigned int lids_percent_max;
};

#define SM_CONFIG_LIMITS_DEFAULT                                                                   \
	{                                                                                          \
		.default_nodes_max = 500, .takeover_max_usec = 60 * UINT64_C(1000000),             \
		.takeover_min_usec = 2 * UINT64_C(1000000),                                        \
		.silence_max_usec = 5 * UINT64_C(1000000), .lids_percent_max = 75,                 \
	}

/* What the switches look like, as far as the choice of a routing engine asks. */
enum sm_config_shape {
	SM_SHAPE_ANY,  /* no circle of switches, so no engine can do harm; or no leaf to begin at */
	SM_SHAPE_TREE, /* levels above the leaves, hardly a link within one */
	SM_SHAPE_OTHER, /* torus, mesh, dragonfly: cycles that minhop does not break */
};

/* By ranks from the leaves (switches with at least max(2, a quarter of the median) CAs, or one
 * where none has more): no tree where each switch is a leaf, or more than one in twenty links is
 * between switches of one rank. Returns 0; -ENOMEM. */
int sm_config_find_shape(const struct fabric *fabric, enum sm_config_shape *ret);

#define SM_CONFIG_TEXT_BYTES 384

struct sm_config_check {
	const char *name;   /* stable: the subject of the alert */
	const char *option; /* the one to change, as in opensm.conf */
	enum finding_severity severity;
	bool fact; /* never a finding */
	const char *reason;
	const char *source;
};

struct sm_config_result {
	const struct sm_config_check *check;
	bool failed;			 /* a finding; with facts always false */
	char text[SM_CONFIG_TEXT_BYTES]; /* what is set, and what of it; without full stop */
};

#define SM_CONFIG_CHECKS_MAX 32

/* The table, for the manual page and its test; NULL behind the last one. */
const struct sm_config_check *sm_config_check(size_t index);

/**
 * sm_config_judge - run all checks
 * @shape: see sm_config_find_shape()
 * @ret:   gets those that could be judged, in the order of the table
 *
 * Returns how many. Pure.
 */
size_t sm_config_judge(const struct fabric *fabric, const struct sm_config_limits *limits,
		       enum sm_config_shape shape,
		       struct sm_config_result ret[static SM_CONFIG_CHECKS_MAX]);
