// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The alerts that are open, and the ones cleared of late: what detectors raise and clear.
#pragma once

/*
 * An alert is one kind about one subject. Detectors say what holds (alert_set_report) and what no
 * longer does (alert_set_clear); the set makes of it one alert that is raised once, updated while
 * it holds, and cleared once, and tells its owner of each step. That an alert is open is a
 * detector's memory of having raised it: it is saved with the alerts, so hysteresis outlives a
 * restart.
 *
 * An alert's `id` names one raising for ever: it is made from kind, subject and the time at which
 * it was raised, so that an alert told twice (after a crash between telling and saving) is found to
 * be the same one.
 *
 * Limits: ALERTS_OPEN_MAX open ones, further ones are not raised but counted; ALERTS_CLEARED_MAX
 * cleared ones, of which the oldest makes room.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "detect-kind.h"
#include "detect-time.h"
#include "evidence.h"

#define ALERTS_OPEN_MAX 1024
#define ALERTS_CLEARED_MAX 256
#define ALERT_KEY_BYTES 64
#define ALERT_MESSAGE_BYTES 512

/* What an alert is about. guid, port and key together are its identity; key is a short printable
 * word where there is no GUID ("subnet", an option's name), or a further part beside it. */
struct alert_subject {
	uint64_t guid;
	uint16_t port; /* 0: the node, or the SM, as a whole */
	char key[ALERT_KEY_BYTES];
	const char *name; /* for people, printable; not part of the identity */
};

struct alert {
	uint64_t id;
	unsigned int kind;
	enum finding_severity severity;
	struct alert_subject subject;	/* `name` is the alert's own */
	uint64_t since_realtime_usec;	/* raised */
	uint64_t last_realtime_usec;	/* last reported */
	uint64_t cleared_realtime_usec; /* 0: open */
	uint64_t count;			/* occurrences: see alert_set_report() */
	uint64_t occurrence;		/* of a struct finding: see alert_set_findings() */
	char *message;			/* one printable line without full stop */
	struct evidence evidence;
	bool stale; /* for alert_set_begin() */
};

enum alert_step {
	ALERT_RAISED,
	ALERT_UPDATED, /* another occurrence, or another severity; mere refreshes are not told */
	ALERT_CLEARED,
};

/* Told of each step. Must not call back into the set. */
typedef void (*alert_fn)(const struct alert *alert, enum alert_step step, void *userdata);

struct alert_set;

/* @told may be NULL. Returns 0; -ENOMEM. */
int alert_set_new(alert_fn told, void *userdata, struct alert_set **ret);

/* Accepts NULL, returns NULL. Nothing is told. */
struct alert_set *alert_set_free(struct alert_set *set);
DEFINE_CLEANUP(struct alert_set *, alert_set_free);

/* What a detector has to say about a condition that holds. */
struct alert_report {
	unsigned int kind;
	struct alert_subject subject;
	enum finding_severity severity;
	uint64_t occurrences; /* since the last report; 0: it still holds, as before */
	const char *message;
	struct evidence *evidence; /* taken over: emptied. May be NULL */
};

/**
 * alert_set_report - a condition holds
 *
 * Opens an alert, or brings the open one up to date: message, evidence, severity, last time;
 * `count` grows by `occurrences` (an alert that opens counts one at least).
 *
 * Returns 0; -ENOMEM, -ENOSPC: nothing was opened (and that is counted).
 */
int alert_set_report(struct alert_set *set, const struct alert_report *report,
		     const struct detect_time *now);

/* A condition no longer holds. Returns whether an alert was open. */
bool alert_set_clear(struct alert_set *set, unsigned int kind, const struct alert_subject *subject,
		     const struct detect_time *now);

/* For detectors that look at everything at once: those of `kind` that are open at _begin() and not
 * reported until _end() are cleared. */
void alert_set_begin(struct alert_set *set, unsigned int kind);
void alert_set_keep(struct alert_set *set, unsigned int kind,
		    const struct alert_subject *subject); /* as reported, but unchanged */
void alert_set_end(struct alert_set *set, unsigned int kind, const struct detect_time *now);

/* All that detect_state() found: raises and updates these, and clears those of the kinds in
 * `judged` (detect_state_judged()) that are not among them. */
void alert_set_findings(struct alert_set *set, const struct finding *findings, size_t count,
			unsigned int judged, const struct detect_time *now);

/* The open alert, or NULL. */
const struct alert *alert_set_find(const struct alert_set *set, unsigned int kind,
				   const struct alert_subject *subject);

/* Open ones in the order in which they were raised; cleared ones, the last cleared last. */
size_t alert_set_open(const struct alert_set *set);
const struct alert *alert_set_get(const struct alert_set *set, size_t index);
size_t alert_set_cleared(const struct alert_set *set);
const struct alert *alert_set_get_cleared(const struct alert_set *set, size_t index);

/* Open ones of a severity. */
size_t alert_set_count(const struct alert_set *set, enum finding_severity severity);

/* Alerts that were not raised for lack of room or memory. */
uint64_t alert_set_not_raised(const struct alert_set *set);

/**
 * alert_set_restore - put back a saved alert, open or cleared
 * @alert:    copied; its `id` is kept. One that is open already is left as it is
 *
 * Nothing is told. Returns 0; -EINVAL: no such kind or severity; -EEXIST; -ENOMEM; -ENOSPC.
 */
int alert_set_restore(struct alert_set *set, const struct alert *alert);

/* Subjects: of a GUID; of a word. `name` is not copied. */
struct alert_subject alert_subject_guid(uint64_t guid, const char *name);
struct alert_subject alert_subject_word(const char *word);
