// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What operators say of alerts: silences for a time, and acknowledgements.
#pragma once

/*
 * A silence takes alerts of a kind, about a subject, or both, out of the health until a time of
 * CLOCK_REALTIME; they are raised, kept and shown all the same. An acknowledgement is of one alert,
 * by its id, and ends when that clears. Both are kept over restarts, with who said so and why.
 *
 * Pure: time is passed in, nothing is logged.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <jansson.h>

#include "daemon/alerts.h"
#include "fabric/alert-set.h"

#define SILENCES_MAX 128
#define ACKNOWLEDGEMENTS_MAX ALERTS_OPEN_MAX /* each is of an open alert */
#define SILENCE_KIND_BYTES 48
#define SILENCE_REASON_BYTES 256
#define SILENCE_USEC_MIN UINT64_C(1000000)
#define SILENCE_USEC_MAX (UINT64_C(366) * 24 * 3600 * 1000000)

struct silence {
	uint64_t id;			   /* 1, 2, 3… over restarts, too */
	char kind[SILENCE_KIND_BYTES];	   /* "": any */
	char subject[ALERT_SUBJECT_BYTES]; /* a shell glob; "": any */
	char reason[SILENCE_REASON_BYTES];
	uint32_t uid;
	uint64_t since_realtime_usec;
	uint64_t until_realtime_usec;
};

struct acknowledgement {
	uint64_t alert; /* its id */
	uint64_t realtime_usec;
	uint32_t uid;
	char reason[SILENCE_REASON_BYTES];
};

/* Zeroed: empty. */
struct silences {
	struct silence silences[SILENCES_MAX];
	size_t count;
	uint64_t last_id;
	struct acknowledgement acknowledgements[ACKNOWLEDGEMENTS_MAX];
	size_t acknowledged;
};

/**
 * Whether an alert is of a kind and about a subject.
 * @kind, @subject: NULL or "": any. The subject is a shell glob for the alert's subject as it is
 *     shown, for the name of its node or the first word of that, or for its GUID.
 */
bool silence_fits(const char *kind, const char *subject, const struct alert *alert);

/**
 * Add one.
 * @silence: `id` is given here; kind or subject, and a reason, have to be there
 * @ret: the one that was added, valid until the next change
 * Returns 0; -EINVAL: something is missing, or it does not last from SILENCE_USEC_MIN to
 * SILENCE_USEC_MAX; -ENOSPC: there are SILENCES_MAX that are in force.
 */
int silences_add(struct silences *silences, const struct silence *silence,
		 const struct silence **ret);

/* By id; NULL: there is none. */
const struct silence *silences_get(const struct silences *silences, uint64_t id);

/* Returns whether it was there. */
bool silences_remove(struct silences *silences, uint64_t id);

/* Forget one that is over, and copy it to *ret. Returns whether there was one. */
bool silences_expire(struct silences *silences, uint64_t now_realtime_usec, struct silence *ret);

/* The silence of an alert, of several the one that ends last; NULL: none is in force. */
const struct silence *silences_match(const struct silences *silences, const struct alert *alert,
				     uint64_t now_realtime_usec);

/* Acknowledge an alert, again with a new reason. Returns 0; -EINVAL: without a reason; -ENOSPC. */
int silences_acknowledge(struct silences *silences, const struct acknowledgement *acknowledgement);

/* NULL: nobody has. */
const struct acknowledgement *silences_acknowledgement(const struct silences *silences,
						       uint64_t alert);

/* An alert has cleared: its acknowledgement ends. */
void silences_cleared(struct silences *silences, uint64_t alert);

/* The AlertSilence object; NULL without memory. */
json_t *silence_json(const struct silence *silence);

/* A new reference, or NULL without memory. */
json_t *silences_save(const struct silences *silences);

/**
 * Into empty ones.
 * @alerts: acknowledgements of alerts that are not open in it are over, and passed over
 * Returns how many entries were left out, since they are not valid.
 */
size_t silences_load(struct silences *silences, const json_t *object,
		     const struct alert_set *alerts);
