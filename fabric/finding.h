// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// A finding: a condition that holds now and that a person should know.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum finding_severity {
	FINDING_NOTICE,
	FINDING_WARNING,
	FINDING_CRITICAL,
};

enum finding_kind {
	FINDING_PLUGIN_LOST,
	FINDING_SWEEP_FAILED,
	FINDING_ROUTING_ENGINE_FALLBACK,
	FINDING_LFT_MISMATCH,
	FINDING_EVENTS_DROPPED,
	FINDING_KINDS,
};

/* Their table is in detect-kind.h, with the kinds that need a memory. */

#define FINDING_TEXT_BYTES 512
#define FINDING_SUBJECT_BYTES 128
#define FINDING_EVIDENCE_MAX 8
#define FINDING_LIST_MAX 8
#define FINDING_MADE_BYTES 256

/* One field of the evidence: a number, a GUID, a text, or a list of texts. */
struct finding_evidence {
	const char *name; /* static */
	enum finding_evidence_type {
		FINDING_NUMBER,
		FINDING_GUID,
		FINDING_TEXT,
		FINDING_LIST,
	} type;
	uint64_t number;		     /* FINDING_LIST: entries */
	const char *texts[FINDING_LIST_MAX]; /* borrowed: from what was looked at, or from `made` */
};

struct finding {
	enum finding_kind kind;
	enum finding_severity severity;
	uint64_t occurrence; /* another value: it happened again */
	char subject[FINDING_SUBJECT_BYTES];
	char message[FINDING_TEXT_BYTES];
	char made[FINDING_LIST_MAX][FINDING_MADE_BYTES]; /* texts that were made for the evidence */
	size_t n_evidence;
	struct finding_evidence evidence[FINDING_EVIDENCE_MAX];
};

/* "notice", "warning", "critical". */
const char *finding_severity_name(enum finding_severity severity);
