// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What operators say of alerts: silences for a time, and acknowledgements.
#include "daemon/silence.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "daemon/fields.h"
#include "daemon/json.h"
#include "fabric/names.h"
#include "util/cleanup.h"

static bool glob_fits(const char *pattern, const char *text)
{
	return text && fnmatch(pattern, text, 0) == 0;
}

static bool subject_fits(const char *pattern, const struct alert_subject *subject)
{
	const char *name = subject->guid ? subject->name : NULL;
	char text[ALERT_SUBJECT_BYTES], word[ALERT_SUBJECT_BYTES];

	if (glob_fits(pattern, alert_subject_text(subject, text)))
		return true;
	if (subject->guid && glob_fits(pattern, GUID_STRING(subject->guid)))
		return true;
	if (!name || strcspn(name, " ") >= sizeof(word))
		return glob_fits(pattern, name);
	*(char *)mempcpy(word, name, strcspn(name, " ")) = '\0';
	return glob_fits(pattern, name) || glob_fits(pattern, word);
}

bool silence_fits(const char *kind, const char *subject, const struct alert *alert)
{
	if (kind && *kind && strcmp(kind, detect_kind_name(alert->kind)) != 0)
		return false;
	return !subject || !*subject || subject_fits(subject, &alert->subject);
}

/* Silences. */

static bool is_valid(const struct silence *silence)
{
	uint64_t since = silence->since_realtime_usec, until = silence->until_realtime_usec;

	return (silence->kind[0] || silence->subject[0]) && silence->reason[0] && until > since &&
	       until - since >= SILENCE_USEC_MIN && until - since <= SILENCE_USEC_MAX;
}

int silences_add(struct silences *s, const struct silence *silence, const struct silence **ret)
{
	struct silence *added;

	if (!is_valid(silence))
		return -EINVAL;
	if (s->count == SILENCES_MAX)
		return -ENOSPC;
	added = &s->silences[s->count++];
	*added = *silence;
	added->id = ++s->last_id;
	*ret = added;
	return 0;
}

const struct silence *silences_get(const struct silences *s, uint64_t id)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->silences[i].id == id)
			return &s->silences[i];
	return NULL;
}

static void remove_at(struct silences *s, size_t i)
{
	memmove(&s->silences[i], &s->silences[i + 1], (--s->count - i) * sizeof(s->silences[0]));
}

bool silences_remove(struct silences *s, uint64_t id)
{
	const struct silence *silence = silences_get(s, id);

	if (silence)
		remove_at(s, (size_t)(silence - s->silences));
	return silence;
}

bool silences_expire(struct silences *s, uint64_t now_realtime_usec, struct silence *ret)
{
	for (size_t i = 0; i < s->count; i++) {
		if (s->silences[i].until_realtime_usec > now_realtime_usec)
			continue;
		*ret = s->silences[i];
		remove_at(s, i);
		return true;
	}
	return false;
}

const struct silence *silences_match(const struct silences *s, const struct alert *alert,
				     uint64_t now_realtime_usec)
{
	const struct silence *last = NULL;

	for (size_t i = 0; i < s->count; i++) {
		const struct silence *silence = &s->silences[i];

		if (silence->until_realtime_usec > now_realtime_usec &&
		    (!last || silence->until_realtime_usec > last->until_realtime_usec) &&
		    silence_fits(silence->kind, silence->subject, alert))
			last = silence;
	}
	return last;
}

/* Acknowledgements. */

const struct acknowledgement *silences_acknowledgement(const struct silences *s, uint64_t alert)
{
	for (size_t i = 0; i < s->acknowledged; i++)
		if (s->acknowledgements[i].alert == alert)
			return &s->acknowledgements[i];
	return NULL;
}

int silences_acknowledge(struct silences *s, const struct acknowledgement *acknowledgement)
{
	const struct acknowledgement *before = silences_acknowledgement(s, acknowledgement->alert);

	if (!acknowledgement->reason[0])
		return -EINVAL;
	if (before)
		s->acknowledgements[before - s->acknowledgements] = *acknowledgement;
	else if (s->acknowledged == ACKNOWLEDGEMENTS_MAX)
		return -ENOSPC;
	else
		s->acknowledgements[s->acknowledged++] = *acknowledgement;
	return 0;
}

void silences_cleared(struct silences *s, uint64_t alert)
{
	const struct acknowledgement *over = silences_acknowledgement(s, alert);

	if (over)
		s->acknowledgements[over - s->acknowledgements] =
			s->acknowledgements[--s->acknowledged];
}

json_t *silence_json(const struct silence *silence)
{
	json_auto_t *object =
		json_pack("{s:o, s:o, s:o, s:I, s:o}", "id", json_number(silence->id),
			  "since_realtime_usec", json_number(silence->since_realtime_usec),
			  "until_realtime_usec", json_number(silence->until_realtime_usec), "uid",
			  (json_int_t)silence->uid, "reason", json_text(silence->reason));

	if (!object || (silence->kind[0] && !json_put(object, "kind", json_text(silence->kind))) ||
	    (silence->subject[0] && !json_put(object, "subject", json_text(silence->subject))))
		return NULL;
	return TAKE_PTR(object);
}

/* The state file. */

static const struct field silence_fields[] = {
	FIELD(struct silence, id, FIELD_U64),
	FIELD(struct silence, kind, FIELD_TEXT),
	FIELD(struct silence, subject, FIELD_TEXT),
	FIELD(struct silence, reason, FIELD_TEXT),
	FIELD(struct silence, uid, FIELD_U32),
	FIELD(struct silence, since_realtime_usec, FIELD_U64),
	FIELD(struct silence, until_realtime_usec, FIELD_U64),
};

static const struct field acknowledgement_fields[] = {
	FIELD(struct acknowledgement, alert, FIELD_GUID),
	FIELD(struct acknowledgement, realtime_usec, FIELD_U64),
	FIELD(struct acknowledgement, uid, FIELD_U32),
	FIELD(struct acknowledgement, reason, FIELD_TEXT),
};

static const struct field own_fields[] = {
	FIELD(struct silences, last_id, FIELD_U64),
};

/* An array of structs as a list. */
static json_t *save_list(const void *from, size_t size, size_t count, const struct field *fields,
			 size_t n_fields)
{
	json_auto_t *list = json_array();

	for (size_t i = 0; i < count; i++) {
		json_t *object = json_object();

		if (json_array_append_new(list, object) < 0 ||
		    !fields_save(object, (const char *)from + i * size, fields, n_fields))
			return NULL;
	}
	return json_incref(list);
}

json_t *silences_save(const struct silences *s)
{
	json_auto_t *object = json_object();

	if (!fields_save(object, s, own_fields, ELEMENTSOF(own_fields)) ||
	    !json_put(object, "silences",
		      save_list(s->silences, sizeof(s->silences[0]), s->count, silence_fields,
				ELEMENTSOF(silence_fields))) ||
	    !json_put(object, "acknowledgements",
		      save_list(s->acknowledgements, sizeof(s->acknowledgements[0]),
				s->acknowledged, acknowledgement_fields,
				ELEMENTSOF(acknowledgement_fields))))
		return NULL;
	return json_incref(object);
}

static bool load_silence(struct silences *s, const json_t *value)
{
	struct silence silence = {0};

	if (s->count == SILENCES_MAX ||
	    !fields_load(value, &silence, silence_fields, ELEMENTSOF(silence_fields)) ||
	    !is_valid(&silence) || !silence.id || silence.id > s->last_id ||
	    silences_get(s, silence.id))
		return false;
	s->silences[s->count++] = silence;
	return true;
}

static bool is_open(const struct alert_set *alerts, uint64_t id)
{
	for (size_t i = 0; i < alert_set_open(alerts); i++)
		if (alert_set_get(alerts, i)->id == id)
			return true;
	return false;
}

static bool load_acknowledgement(struct silences *s, const json_t *value,
				 const struct alert_set *alerts)
{
	struct acknowledgement acknowledgement = {0};

	if (!fields_load(value, &acknowledgement, acknowledgement_fields,
			 ELEMENTSOF(acknowledgement_fields)))
		return false;
	return !is_open(alerts, acknowledgement.alert) ||
	       silences_acknowledge(s, &acknowledgement) == 0;
}

size_t silences_load(struct silences *s, const json_t *object, const struct alert_set *alerts)
{
	size_t i, left_out = 0;
	const json_t *value;

	/* A file of before has none. */
	if (!object)
		return 0;
	if (!fields_load(object, s, own_fields, ELEMENTSOF(own_fields)))
		return 1;
	json_array_foreach (json_object_get(object, "silences"), i, value)
		left_out += !load_silence(s, value);
	json_array_foreach (json_object_get(object, "acknowledgements"), i, value)
		left_out += !load_acknowledgement(s, value, alerts);
	return left_out;
}
