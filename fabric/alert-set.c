// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The alerts that are open, and the ones cleared of late: what detectors raise and clear.
#include "alert-set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct alert_set {
	alert_fn told;
	void *userdata;
	struct alert *open[ALERTS_OPEN_MAX];
	size_t open_count;
	struct alert *cleared[ALERTS_CLEARED_MAX];
	size_t cleared_count;
	uint64_t not_raised;
};

static struct alert *alert_free(struct alert *alert)
{
	if (alert) {
		free((char *)alert->subject.name);
		free(alert->message);
		evidence_clear(&alert->evidence);
		free(alert);
	}
	return NULL;
}

int alert_set_new(alert_fn told, void *userdata, struct alert_set **ret)
{
	struct alert_set *set = calloc(1, sizeof(*set));

	if (!set)
		return -ENOMEM;
	set->told = told;
	set->userdata = userdata;
	*ret = set;
	return 0;
}

struct alert_set *alert_set_free(struct alert_set *set)
{
	if (!set)
		return NULL;
	for (size_t i = 0; i < set->open_count; i++)
		alert_free(set->open[i]);
	for (size_t i = 0; i < set->cleared_count; i++)
		alert_free(set->cleared[i]);
	free(set);
	return NULL;
}

static void tell(struct alert_set *set, const struct alert *alert, enum alert_step step)
{
	if (set->told)
		set->told(alert, step, set->userdata);
}

static bool same_subject(const struct alert_subject *a, const struct alert_subject *b)
{
	return a->guid == b->guid && a->port == b->port && strcmp(a->key, b->key) == 0;
}

static size_t find(const struct alert_set *set, unsigned int kind,
		   const struct alert_subject *subject)
{
	for (size_t i = 0; i < set->open_count; i++)
		if (set->open[i]->kind == kind && same_subject(&set->open[i]->subject, subject))
			return i;
	return SIZE_MAX;
}

/* FNV-1a over what makes one raising. */
static uint64_t make_id(unsigned int kind, const struct alert_subject *subject,
			uint64_t since_realtime_usec)
{
	const char *name = detect_kind_name(kind);
	const struct {
		const void *bytes;
		size_t length;
	} parts[] = {
		{name, strlen(name) + 1},
		{&subject->guid, sizeof(subject->guid)},
		{&subject->port, sizeof(subject->port)},
		{subject->key, strlen(subject->key) + 1},
		{&since_realtime_usec, sizeof(since_realtime_usec)},
	};
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < ELEMENTSOF(parts); i++) {
		const unsigned char *bytes = parts[i].bytes;

		for (size_t j = 0; j < parts[i].length; j++)
			hash = (hash ^ bytes[j]) * UINT64_C(0x100000001b3);
	}
	return hash;
}

static int replace_text(char **text, const char *from)
{
	char *copy;

	if (*text && strcmp(*text, from) == 0)
		return 0;
	copy = strdup(from);
	if (!copy)
		return -ENOMEM;
	free(*text);
	*text = copy;
	return 0;
}

static void copy_subject(const struct alert_subject *from, struct alert_subject *ret)
{
	*ret = *from;
	ret->key[ALERT_KEY_BYTES - 1] = '\0';
	ret->name = NULL;
}

/* Message, name and evidence as reported; what there is no memory for stays as it was. */
static void refresh(struct alert *alert, const struct alert_report *report)
{
	char *name = (char *)alert->subject.name;

	replace_text(&alert->message, report->message);
	if (report->subject.name && *report->subject.name)
		replace_text(&name, report->subject.name);
	alert->subject.name = name;
	evidence_clear(&alert->evidence);
	if (report->evidence) {
		alert->evidence = *report->evidence;
		*report->evidence = (struct evidence){0};
	}
}

static int open_alert(struct alert_set *set, const struct alert_report *report,
		      const struct detect_time *now)
{
	struct alert *alert;

	if (set->open_count == ALERTS_OPEN_MAX) {
		set->not_raised++;
		return -ENOSPC;
	}
	alert = calloc(1, sizeof(*alert));
	if (!alert) {
		set->not_raised++;
		return -ENOMEM;
	}
	alert->kind = report->kind;
	alert->severity = report->severity;
	copy_subject(&report->subject, &alert->subject);
	alert->since_realtime_usec = now->realtime_usec;
	alert->last_realtime_usec = now->realtime_usec;
	alert->count = report->occurrences > 0 ? report->occurrences : 1;
	alert->id = make_id(alert->kind, &alert->subject, alert->since_realtime_usec);
	refresh(alert, report);
	if (!alert->message) {
		alert_free(alert);
		set->not_raised++;
		return -ENOMEM;
	}
	set->open[set->open_count++] = alert;
	tell(set, alert, ALERT_RAISED);
	return 0;
}

int alert_set_report(struct alert_set *set, const struct alert_report *report,
		     const struct detect_time *now)
{
	size_t i = find(set, report->kind, &report->subject);
	struct alert *alert;
	bool news;

	if (i == SIZE_MAX)
		return open_alert(set, report, now);
	alert = set->open[i];
	news = report->occurrences > 0 || report->severity != alert->severity;
	alert->stale = false;
	alert->severity = report->severity;
	alert->count += report->occurrences;
	alert->last_realtime_usec = now->realtime_usec;
	refresh(alert, report);
	if (news)
		tell(set, alert, ALERT_UPDATED);
	return 0;
}

static void keep_cleared(struct alert_set *set, struct alert *alert)
{
	if (set->cleared_count == ALERTS_CLEARED_MAX) {
		alert_free(set->cleared[0]);
		memmove(&set->cleared[0], &set->cleared[1],
			(ALERTS_CLEARED_MAX - 1) * sizeof(set->cleared[0]));
		set->cleared_count--;
	}
	set->cleared[set->cleared_count++] = alert;
}

static void clear_index(struct alert_set *set, size_t i, const struct detect_time *now)
{
	struct alert *alert = set->open[i];

	memmove(&set->open[i], &set->open[i + 1], (set->open_count - i - 1) * sizeof(set->open[0]));
	set->open_count--;
	/* 0 is "open", also for a clock that was never set. */
	alert->cleared_realtime_usec = now->realtime_usec ? now->realtime_usec : 1;
	keep_cleared(set, alert);
	tell(set, alert, ALERT_CLEARED);
}

bool alert_set_clear(struct alert_set *set, unsigned int kind, const struct alert_subject *subject,
		     const struct detect_time *now)
{
	size_t i = find(set, kind, subject);

	if (i == SIZE_MAX)
		return false;
	clear_index(set, i, now);
	return true;
}

void alert_set_begin(struct alert_set *set, unsigned int kind)
{
	for (size_t i = 0; i < set->open_count; i++)
		if (set->open[i]->kind == kind)
			set->open[i]->stale = true;
}

void alert_set_keep(struct alert_set *set, unsigned int kind, const struct alert_subject *subject)
{
	size_t i = find(set, kind, subject);

	if (i != SIZE_MAX)
		set->open[i]->stale = false;
}

void alert_set_end(struct alert_set *set, unsigned int kind, const struct detect_time *now)
{
	for (size_t i = 0; i < set->open_count;)
		if (set->open[i]->kind == kind && set->open[i]->stale) {
			set->open[i]->stale = false;
			clear_index(set, i, now);
		} else {
			i++;
		}
}

static void convert_evidence(const struct finding_evidence *from, struct evidence *ret)
{
	switch (from->type) {
	case FINDING_NUMBER:
		evidence_number(ret, from->name, from->number);
		break;
	case FINDING_GUID:
		evidence_guid(ret, from->name, from->number);
		break;
	case FINDING_TEXT:
		evidence_text(ret, from->name, from->texts[0]);
		break;
	case FINDING_LIST:
		for (uint64_t i = 0; i < from->number && i < FINDING_LIST_MAX; i++)
			evidence_list_text(ret, from->name, from->texts[i]);
		break;
	}
}

static void report_finding(struct alert_set *set, const struct finding *finding,
			   const struct detect_time *now)
{
	struct alert_subject subject = alert_subject_word(finding->subject);
	size_t i = find(set, finding->kind, &subject);
	struct evidence evidence = {0};
	const struct alert_report report = {
		.kind = finding->kind,
		.subject = subject,
		.severity = finding->severity,
		.occurrences = i == SIZE_MAX || set->open[i]->occurrence != finding->occurrence,
		.message = finding->message,
		.evidence = &evidence,
	};

	for (size_t j = 0; j < finding->n_evidence; j++)
		convert_evidence(&finding->evidence[j], &evidence);
	alert_set_report(set, &report, now);
	evidence_clear(&evidence);
	i = find(set, finding->kind, &subject);
	if (i != SIZE_MAX)
		set->open[i]->occurrence = finding->occurrence;
}

void alert_set_findings(struct alert_set *set, const struct finding *findings, size_t count,
			unsigned int judged, const struct detect_time *now)
{
	for (unsigned int kind = 0; kind < FINDING_KINDS; kind++)
		if (judged & 1u << kind)
			alert_set_begin(set, kind);
	for (size_t i = 0; i < count; i++)
		report_finding(set, &findings[i], now);
	for (unsigned int kind = 0; kind < FINDING_KINDS; kind++)
		if (judged & 1u << kind)
			alert_set_end(set, kind, now);
}

const struct alert *alert_set_find(const struct alert_set *set, unsigned int kind,
				   const struct alert_subject *subject)
{
	size_t i = find(set, kind, subject);

	return i == SIZE_MAX ? NULL : set->open[i];
}

size_t alert_set_open(const struct alert_set *set)
{
	return set->open_count;
}

const struct alert *alert_set_get(const struct alert_set *set, size_t index)
{
	return index < set->open_count ? set->open[index] : NULL;
}

size_t alert_set_cleared(const struct alert_set *set)
{
	return set->cleared_count;
}

const struct alert *alert_set_get_cleared(const struct alert_set *set, size_t index)
{
	return index < set->cleared_count ? set->cleared[index] : NULL;
}

size_t alert_set_count(const struct alert_set *set, enum finding_severity severity)
{
	size_t n = 0;

	for (size_t i = 0; i < set->open_count; i++)
		if (set->open[i]->severity == severity)
			n++;
	return n;
}

uint64_t alert_set_not_raised(const struct alert_set *set)
{
	return set->not_raised;
}

static int copy_evidence(const struct evidence *from, struct evidence *ret)
{
	for (size_t i = 0; i < from->count; i++) {
		const struct evidence_field *field = &from->fields[i];

		ret->fields[i] = *field;
		if (field->type == EVIDENCE_TEXT) {
			ret->fields[i].text = strdup(field->text);
			if (!ret->fields[i].text)
				return -ENOMEM;
		}
		ret->count = i + 1;
	}
	ret->left_out = from->left_out;
	return 0;
}

static int copy_alert(const struct alert *from, struct alert **ret)
{
	struct alert *alert = malloc(sizeof(*alert));
	char *name = NULL;

	if (!alert)
		return -ENOMEM;
	*alert = *from;
	copy_subject(&from->subject, &alert->subject);
	alert->message = NULL;
	alert->stale = false;
	alert->evidence = (struct evidence){0};
	if (replace_text(&alert->message, from->message) < 0 ||
	    (from->subject.name && replace_text(&name, from->subject.name) < 0) ||
	    copy_evidence(&from->evidence, &alert->evidence) < 0) {
		free(name);
		alert_free(alert);
		return -ENOMEM;
	}
	alert->subject.name = name;
	*ret = alert;
	return 0;
}

int alert_set_restore(struct alert_set *set, const struct alert *alert)
{
	struct alert *copy;
	int r;

	if (!detect_kind_name(alert->kind) || !finding_severity_name(alert->severity) ||
	    !alert->message)
		return -EINVAL;
	if (alert->cleared_realtime_usec == 0) {
		if (find(set, alert->kind, &alert->subject) != SIZE_MAX)
			return -EEXIST;
		if (set->open_count == ALERTS_OPEN_MAX)
			return -ENOSPC;
	}
	r = copy_alert(alert, &copy);
	if (r < 0)
		return r;
	if (alert->cleared_realtime_usec == 0)
		set->open[set->open_count++] = copy;
	else
		keep_cleared(set, copy);
	return 0;
}

struct alert_subject alert_subject_guid(uint64_t guid, const char *name)
{
	return (struct alert_subject){.guid = guid, .name = name};
}

struct alert_subject alert_subject_word(const char *word)
{
	struct alert_subject subject = {.name = word};

	memcpy(subject.key, word, strnlen(word, sizeof(subject.key) - 1));
	return subject;
}
