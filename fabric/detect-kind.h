// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The one table of the kinds of alerts: name, severity, when raised, when cleared, what to do.
#pragma once

/*
 * Kinds that follow from the present state alone are in finding.h; the others need a memory, and go
 * on from there with their numbers, so that one number names any kind.
 */

#include <stdbool.h>
#include <stddef.h>

#include "finding.h"

enum detect_kind {
	DETECT_SM_FLAPPING = FINDING_KINDS,
	DETECT_SM_MASTER_CHANGED,
	DETECT_SM_LOST,
	DETECT_SM_MULTIPLE_MASTERS,
	DETECT_SM_UNRESPONSIVE,
	DETECT_SM_HUNG,
	DETECT_SM_NO_STANDBY,
	DETECT_SM_EQUAL_PRIORITY,
	DETECT_SM_NOT_HIGHEST,
	DETECT_SM_UNEXPECTED,
	DETECT_SM_VIEWS_DISAGREE,
	DETECT_SM_PLACEMENT,
	DETECT_SM_CONFIG,
	DETECT_SWEEP_STORM,
	DETECT_SWEEP_STUCK,
	DETECT_SWEEP_SLOW,
	DETECT_TRAP_FLOOD,
	DETECT_NODE_UNRESPONSIVE,
	DETECT_KINDS, /* one past the last, the kinds of finding.h counted */
};

struct detect_kind_info {
	const char *name;		/* stable: part of the API, never renamed */
	enum finding_severity severity; /* the usual one; sm-config's checks have their own */
	const char *raised;		/* when; without a full stop */
	const char *cleared;
	const char *advice;   /* what the operator should do, in whole sentences */
	const char *evidence; /* the fields that it may have, blanks between */
	const char *keys;     /* of ibsmd.conf that bear on it, blanks between; may be "" */
};

/* Of any kind, those of finding.h included; NULL out of range. */
const struct detect_kind_info *detect_kind_info(unsigned int kind);

/* NULL out of range. */
const char *detect_kind_name(unsigned int kind);

/* Whether evidence of a kind may have a field. */
bool detect_kind_has_evidence(unsigned int kind, const char *name);

/* The kind with this name, or -EINVAL. */
int detect_kind_from_name(const char *name);
