// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Alerts, and what operators say of them: ListAlerts, Silence, Acknowledge and the like.
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/alerts.h"
#include "daemon/api-internal.h"
#include "daemon/clock.h"
#include "daemon/silence.h"
#include "fabric/printable.h"
#include "util/cleanup.h"

#define ID_DIGITS (ALERT_ID_BYTES - 1)
#define ID_DIGITS_MIN 6

/* Lists. */

struct list {
	json_t *items;
	size_t next;
};

static void list_free(void *userdata)
{
	struct list *list = userdata;

	json_decref(list->items);
	free(list);
}

static int list_next(void *userdata, json_t **ret_item)
{
	struct list *list = userdata;

	if (list->next >= json_array_size(list->items))
		return 0;
	*ret_item = json_incref(json_array_get(list->items, list->next++));
	return 1;
}

int api_list_alerts(struct varlink_call *call, json_t *parameters, void *userdata)
{
	struct manager *m = ((struct api *)userdata)->manager;
	bool all = json_is_true(json_object_get(parameters, "all"));
	struct list *list = calloc(1, sizeof(*list));

	if (!list)
		return -ENOMEM;
	alerts_update(m);
	list->items = alerts_json(m, all, SIZE_MAX);
	if (!list->items) {
		free(list);
		return -ENOMEM;
	}
	return api_reply_list(call, "alerts", list_next, list_free, list, NULL);
}

/* Words with blanks between. */
static json_t *words_json(const char *words)
{
	json_auto_t *list = json_array();

	while (*words) {
		size_t length = strcspn(words, " ");

		if (json_array_append_new(list, json_stringn(words, length)) < 0)
			return NULL;
		words += length;
		words += strspn(words, " ");
	}
	return json_incref(list);
}

static int compare_kinds(const void *a, const void *b)
{
	return strcmp(detect_kind_name(*(const unsigned *)a),
		      detect_kind_name(*(const unsigned *)b));
}

int api_list_alert_kinds(struct varlink_call *call, json_t *parameters, void *userdata)
{
	json_auto_t *list = json_array();
	unsigned kinds[DETECT_KINDS];

	(void)parameters;
	(void)userdata;
	for (unsigned i = 0; i < DETECT_KINDS; i++)
		kinds[i] = i;
	qsort(kinds, DETECT_KINDS, sizeof(kinds[0]), compare_kinds);
	for (unsigned i = 0; i < DETECT_KINDS; i++) {
		const struct detect_kind_info *info = detect_kind_info(kinds[i]);

		if (json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:o}",
							  "kind", info->name, "severity",
							  finding_severity_name(info->severity),
							  "raised", info->raised, "cleared",
							  info->cleared, "advice", info->advice,
							  "evidence", words_json(info->evidence),
							  "keys", words_json(info->keys))) < 0)
			return -ENOMEM;
	}
	return varlink_call_reply(call, json_pack("{s:O}", "kinds", list));
}

/* What operators say. */

/* Whether the caller is root or of ibsmd's own user. */
static bool may_change(const struct varlink_call *call, uid_t *ret_uid)
{
	varlink_call_peer(call, ret_uid, NULL, NULL);
	return *ret_uid == 0 || *ret_uid == geteuid();
}

/* A line of text that is printable and not too long; absent is "". */
static bool get_text(const json_t *parameters, const char *key, char *to, size_t size)
{
	const char *text = api_string(parameters, key) ?: "";
	char shown[PRINTABLE_BYTES(ALERT_SUBJECT_BYTES + SILENCE_REASON_BYTES)];

	if (strlen(text) >= size)
		return false;
	printable(text, strlen(text), shown, sizeof(shown));
	if (strcmp(shown, text) != 0)
		return false;
	strcpy(to, text);
	return true;
}

/* What is the same in Silence and Acknowledge. Returns NULL, or the parameter that is not valid. */
static const char *get_words(const json_t *parameters, struct silence *ret)
{
	if (!get_text(parameters, "kind", ret->kind, sizeof(ret->kind)) ||
	    (ret->kind[0] && detect_kind_from_name(ret->kind) < 0))
		return "kind";
	if (!get_text(parameters, "subject", ret->subject, sizeof(ret->subject)))
		return "subject";
	if (!get_text(parameters, "reason", ret->reason, sizeof(ret->reason)) || !ret->reason[0])
		return "reason";
	return NULL;
}

/* "sm-lost", "leaf01*", "sm-lost of leaf01*", for the log. */
#define WHAT(silence)                                                                              \
	(silence)->kind, (silence)->kind[0] && (silence)->subject[0] ? " of " : "",                \
		(silence)->subject

int api_silence(struct varlink_call *call, json_t *parameters, void *userdata)
{
	struct manager *m = ((struct api *)userdata)->manager;
	uint64_t now = now_realtime_usec(), span = 0;
	struct silence silence = {.since_realtime_usec = now};
	const struct silence *added;
	const char *bad;
	size_t matches = 0;
	uid_t uid;
	int r;

	if (!may_change(call, &uid))
		return varlink_call_permission_denied(call);
	bad = get_words(parameters, &silence);
	if (!bad && !silence.kind[0] && !silence.subject[0])
		bad = "subject";
	if (!bad && (!api_number(parameters, "for_usec", &span) || span < SILENCE_USEC_MIN ||
		     span > SILENCE_USEC_MAX))
		bad = "for_usec";
	if (bad)
		return varlink_call_invalid_parameter(call, bad);
	silence.until_realtime_usec = now + span;
	silence.uid = uid;
	r = silences_add(&m->silences, &silence, &added);
	if (r == -ENOSPC) {
		limit_hit(&m->limits, LIMIT_SILENCES, 1);
		return varlink_call_error(call, API_ERROR("TooManySilences"),
					  json_pack("{s:i}", "max", SILENCES_MAX));
	}
	if (r < 0)
		return r;
	health_changed(m);
	log_notice("silence %" PRIu64 " of %s%s%s for %" PRIu64 " s by uid %u: %s", added->id,
		   WHAT(added), span / SILENCE_USEC_MIN, uid, added->reason);
	for (size_t i = 0; i < alert_set_open(m->health.alerts); i++)
		matches += silence_fits(added->kind, added->subject,
					alert_set_get(m->health.alerts, i));
	return varlink_call_reply(call, json_pack("{s:o, s:I}", "silence", silence_json(added),
						  "matches", (json_int_t)matches));
}

int api_unsilence(struct varlink_call *call, json_t *parameters, void *userdata)
{
	struct manager *m = ((struct api *)userdata)->manager;
	json_auto_t *object = NULL;
	const struct silence *silence;
	uint64_t id = 0;
	uid_t uid;

	if (!may_change(call, &uid))
		return varlink_call_permission_denied(call);
	if (!api_number(parameters, "id", &id))
		return varlink_call_invalid_parameter(call, "id");
	silence = silences_get(&m->silences, id);
	if (!silence)
		return varlink_call_error(call, API_ERROR("NoSuchSilence"),
					  json_pack("{s:o}", "id", json_number(id)));
	object = silence_json(silence);
	if (!object)
		return -ENOMEM;
	log_notice("silence %" PRIu64 " of %s%s%s ended by uid %u", id, WHAT(silence), uid);
	silences_remove(&m->silences, id);
	health_changed(m);
	return varlink_call_reply(call, json_pack("{s:O}", "silence", object));
}

static int compare_silences(const void *a, const void *b)
{
	const struct silence *x = *(const struct silence *const *)a;
	const struct silence *y = *(const struct silence *const *)b;

	if (x->until_realtime_usec != y->until_realtime_usec)
		return x->until_realtime_usec < y->until_realtime_usec ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

int api_list_silences(struct varlink_call *call, json_t *parameters, void *userdata)
{
	const struct manager *m = ((struct api *)userdata)->manager;
	const struct silence *order[SILENCES_MAX];
	json_auto_t *list = json_array();
	uint64_t now = now_realtime_usec();
	size_t count = 0;

	(void)parameters;
	for (size_t i = 0; i < m->silences.count; i++)
		if (m->silences.silences[i].until_realtime_usec > now)
			order[count++] = &m->silences.silences[i];
	qsort(order, count, sizeof(order[0]), compare_silences);
	for (size_t i = 0; i < count; i++)
		if (json_array_append_new(list, silence_json(order[i])) < 0)
			return -ENOMEM;
	return varlink_call_reply(call, json_pack("{s:O}", "silences", list));
}

/* Acknowledge. */

static bool parse_id(const char *text)
{
	size_t digits = strspn(text, "0123456789abcdef");

	return digits >= ID_DIGITS_MIN && digits <= ID_DIGITS && !text[digits];
}

/* By the beginning of its id, or by kind and subject. */
static bool is_meant(const struct alert *alert, const char *id, const struct silence *words)
{
	char text[ALERT_ID_BYTES];

	if (id && strncmp(alert_id_text(alert->id, text), id, strlen(id)) != 0)
		return false;
	return silence_fits(words->kind, words->subject, alert);
}

static int no_such_alert(struct varlink_call *call, const json_t *parameters, size_t matches)
{
	json_auto_t *error = json_pack("{s:I}", "matches", (json_int_t)matches);

	for (size_t i = 0; i < 3; i++) {
		const char *key = (const char *const[]){"id", "kind", "subject"}[i];
		const char *text = api_string(parameters, key);

		if (text && !json_put(error, key, json_text(text)))
			return -ENOMEM;
	}
	return varlink_call_error(call, API_ERROR("NoSuchAlert"), TAKE_PTR(error));
}

static int acknowledge(struct manager *m, const struct alert *alert, uid_t uid, const char *reason)
{
	struct acknowledgement acknowledgement = {
		.alert = alert->id,
		.realtime_usec = now_realtime_usec(),
		.uid = uid,
	};
	char subject[ALERT_SUBJECT_BYTES];

	strcpy(acknowledgement.reason, reason);
	log_notice("alert %s of %s acknowledged by uid %u: %s", detect_kind_name(alert->kind),
		   alert_subject_text(&alert->subject, subject), uid, reason);
	return silences_acknowledge(&m->silences, &acknowledgement);
}

int api_acknowledge(struct varlink_call *call, json_t *parameters, void *userdata)
{
	struct manager *m = ((struct api *)userdata)->manager;
	const char *id = api_string(parameters, "id"), *bad;
	const struct alert_set *set = m->health.alerts;
	json_auto_t *list = json_array();
	struct silence words = {0};
	size_t matches = 0;
	uid_t uid;

	if (!may_change(call, &uid))
		return varlink_call_permission_denied(call);
	bad = get_words(parameters, &words);
	if (!bad && ((id && !parse_id(id)) || (!id && !words.kind[0] && !words.subject[0])))
		bad = "id";
	if (bad)
		return varlink_call_invalid_parameter(call, bad);
	for (size_t i = 0; i < alert_set_open(set); i++)
		matches += is_meant(alert_set_get(set, i), id, &words);
	if (matches == 0 || (id && matches > 1))
		return no_such_alert(call, parameters, matches);
	for (size_t i = 0; i < alert_set_open(set); i++) {
		const struct alert *alert = alert_set_get(set, i);

		if (!is_meant(alert, id, &words))
			continue;
		if (acknowledge(m, alert, uid, words.reason) < 0 ||
		    json_array_append_new(list, alert_json(m, alert)) < 0)
			return -ENOMEM;
	}
	health_changed(m);
	return varlink_call_reply(call, json_pack("{s:O}", "alerts", list));
}
