// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The alerts as ibsmd tells them: log lines and events at each step, JSON, the health of the whole.
#include "daemon/alerts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/clock.h"
#include "daemon/json.h"
#include "daemon/manager.h"
#include "daemon/trap.h"
#include "fabric/detect-state.h"
#include "fabric/names.h"
#include "util/cleanup.h"

/* The node or the port that it is about, where the fabric has it. */
static void add_end(const struct manager *m, const struct alert_subject *subject,
		    struct event *event)
{
	const struct ibsm_snap_node *node;
	uint32_t index;

	if (!subject->guid || !m->fabric)
		return;
	if (trap_find_end(m->fabric, subject->guid, 0, event)) {
		if (subject->port)
			event->ends[0].port = subject->port;
		return;
	}
	index = fabric_node_by_guid(m->fabric, subject->guid);
	if (index == IBSM_NONE)
		return;
	node = fabric_node(m->fabric, index);
	event->ends[event->n_ends++] = (struct fabric_end){
		.node_guid = node->node_guid,
		.name = fabric_node_name(m->fabric, index),
		.port = subject->port ? subject->port : FABRIC_NO_PORT,
		.type = node->type,
	};
}

static struct event *make_event(const struct manager *m, const struct alert *alert,
				enum event_kind kind, enum fabric_severity severity,
				const char *message)
{
	struct event event = {
		.kind = kind,
		.severity = severity,
		.realtime_usec = now_realtime_usec(),
		.monotonic_usec = now_monotonic_usec(),
		.message = message,
	};

	add_end(m, &alert->subject, &event);
	return event_new(&event);
}

void alerts_told(const struct alert *alert, enum alert_step step, void *userdata)
{
	static const struct {
		enum fabric_severity event;
		int priority;
	} levels[] = {
		[FINDING_NOTICE] = {FABRIC_SEVERITY_NOTICE, LOG_NOTICE},
		[FINDING_WARNING] = {FABRIC_SEVERITY_WARNING, LOG_WARNING},
		[FINDING_CRITICAL] = {FABRIC_SEVERITY_WARNING, LOG_CRIT},
	};
	const char *name = detect_kind_name(alert->kind);
	struct manager *m = userdata;
	char text[ALERT_MESSAGE_BYTES + 128];

	health_changed(m);
	if (step == ALERT_UPDATED)
		return;
	if (step == ALERT_CLEARED)
		silences_cleared(&m->silences, alert->id);
	if (step == ALERT_RAISED)
		snprintf(text, sizeof(text), "alert %s (%s): %s", name,
			 finding_severity_name(alert->severity), alert->message);
	else
		snprintf(text, sizeof(text), "alert %s is over: %s", name, alert->message);
	if (step == ALERT_RAISED) {
		log_line(levels[alert->severity].priority, "%s", text);
		manager_event(m, make_event(m, alert, EVENT_ALERT_RAISED,
					    levels[alert->severity].event, text));
	} else {
		log_notice("%s", text);
		manager_event(
			m, make_event(m, alert, EVENT_ALERT_CLEARED, FABRIC_SEVERITY_INFO, text));
	}
}

void alerts_update(struct manager *m)
{
	const struct detect_time now = {
		.monotonic_usec = now_monotonic_usec(),
		.realtime_usec = now_realtime_usec(),
	};
	const struct plugin *plugin = m->ingest.followed;
	struct finding findings[FINDING_KINDS];
	struct detect_state_input input = {
		.up_usec = now.monotonic_usec - m->start_monotonic_usec,
		.plugin_connected = plugin,
		.plugin_timeout_usec = m->conf.plugin_timeout_usec,
		.fabric = m->fabric,
		.ended = m->sweeps.ended,
		.failed = m->sweeps.failed,
		.failed_clear_usec = m->conf.sweep_failed_clear_usec,
		.dropped = m->ingest.events_dropped,
		.dropped_ago_usec = now.monotonic_usec - m->ingest.drop_monotonic_usec,
		.drops_clear_usec = m->conf.drops_clear_usec,
	};
	uint64_t heard = plugin ? plugin->last_monotonic_usec : m->ingest.left_usec;
	size_t n;

	if (!heard)
		heard = m->start_monotonic_usec;
	input.plugin_silent_usec = now.monotonic_usec - heard;
	if (m->sweeps.failed)
		input.failed_ago_usec = detect_age_usec(&now, m->sweeps.failed->end_monotonic_usec);

	n = detect_state(&input, findings);
	alert_set_findings(m->health.alerts, findings, n, detect_state_judged(&input), &now);
}

const char *alert_id_text(uint64_t id, char buffer[static ALERT_ID_BYTES])
{
	snprintf(buffer, ALERT_ID_BYTES, "%016" PRIx64, id);
	return buffer;
}

const char *alert_subject_text(const struct alert_subject *subject,
			       char buffer[static ALERT_SUBJECT_BYTES])
{
	char guid[GUID_STRING_BYTES];
	const char *name = subject->name;
	int n;

	if (!subject->guid) {
		snprintf(buffer, ALERT_SUBJECT_BYTES, "%.*s", ALERT_KEY_BYTES, subject->key);
		return buffer;
	}
	if (!name || !*name)
		name = guid_format(subject->guid, guid);
	n = subject->port
		    ? snprintf(buffer, ALERT_SUBJECT_BYTES, "%.120s port %u", name, subject->port)
		    : snprintf(buffer, ALERT_SUBJECT_BYTES, "%.120s", name);
	if (subject->key[0])
		snprintf(buffer + n, ALERT_SUBJECT_BYTES - (size_t)n, " %.*s", ALERT_KEY_BYTES - 1,
			 subject->key);
	return buffer;
}

static json_t *evidence_value(const struct evidence_field *field)
{
	switch (field->type) {
	case EVIDENCE_NUMBER:
		return json_number(field->number);
	case EVIDENCE_REAL:
		return json_real(field->real);
	case EVIDENCE_TRUTH:
		return json_boolean(field->number);
	case EVIDENCE_GUID:
		return json_guid(field->number);
	case EVIDENCE_TEXT:
		return json_foreign(field->text);
	}
	return NULL;
}

json_t *alert_evidence_json(const struct evidence *evidence)
{
	json_auto_t *object = json_object();

	for (size_t i = 0; i < evidence->count; i++) {
		const struct evidence_field *field = &evidence->fields[i];
		json_t *list = json_object_get(object, field->name);

		if (field->list && !list) {
			list = json_array();
			if (!json_put(object, field->name, list))
				return NULL;
		}
		if (field->list ? json_array_append_new(list, evidence_value(field)) < 0
				: !json_put(object, field->name, evidence_value(field)))
			return NULL;
	}
	return json_incref(object);
}

/* What operators have said of an open alert. */
static bool put_marks(json_t *object, const struct manager *m, const struct alert *alert)
{
	const struct silence *silence = silences_match(&m->silences, alert, now_realtime_usec());
	const struct acknowledgement *ack = silences_acknowledgement(&m->silences, alert->id);

	if (ack &&
	    !json_put(object, "acknowledged",
		      json_pack("{s:o, s:I, s:o}", "realtime_usec", json_number(ack->realtime_usec),
				"uid", (json_int_t)ack->uid, "reason", json_text(ack->reason))))
		return false;
	return !silence || json_put(object, "silenced", silence_json(silence));
}

json_t *alert_json(const struct manager *m, const struct alert *alert)
{
	const struct alert_subject *about = &alert->subject;
	json_auto_t *object = NULL;
	char subject[ALERT_SUBJECT_BYTES], id[ALERT_ID_BYTES];

	object = json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:s}", "id",
			   alert_id_text(alert->id, id), "kind", detect_kind_name(alert->kind),
			   "severity", finding_severity_name(alert->severity), "subject",
			   json_foreign(alert_subject_text(about, subject)), "since_realtime_usec",
			   json_number(alert->since_realtime_usec), "last_realtime_usec",
			   json_number(alert->last_realtime_usec), "count",
			   json_number(alert->count), "message", json_text(alert->message),
			   "evidence", alert_evidence_json(&alert->evidence), "advice",
			   detect_kind_info(alert->kind)->advice);
	if (!object || (about->guid && !json_put(object, "subject_guid", json_guid(about->guid))) ||
	    (about->port && !json_put(object, "subject_port", json_integer(about->port))) ||
	    (about->guid && about->name && *about->name &&
	     !json_put(object, "node", json_foreign(about->name))))
		return NULL;
	if (alert->cleared_realtime_usec ? !json_put(object, "cleared_realtime_usec",
						     json_number(alert->cleared_realtime_usec))
					 : !put_marks(object, m, alert))
		return NULL;
	return TAKE_PTR(object);
}

static int compare_alerts(const void *a, const void *b)
{
	const struct alert *x = *(const struct alert *const *)a;
	const struct alert *y = *(const struct alert *const *)b;

	if (x->severity != y->severity)
		return x->severity > y->severity ? -1 : 1;
	if (x->since_realtime_usec != y->since_realtime_usec)
		return x->since_realtime_usec < y->since_realtime_usec ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

json_t *alerts_json(const struct manager *m, bool cleared, size_t max)
{
	const struct alert_set *set = m->health.alerts;
	size_t count = alert_set_open(set);
	_cleanup_free_ const struct alert **open = calloc(count + 1, sizeof(*open));
	json_auto_t *list = json_array();

	if (!open)
		return NULL;
	for (size_t i = 0; i < count; i++)
		open[i] = alert_set_get(set, i);
	qsort(open, count, sizeof(*open), compare_alerts);
	for (size_t i = 0; i < count && i < max; i++)
		if (json_array_append_new(list, alert_json(m, open[i])) < 0)
			return NULL;
	for (size_t i = cleared ? alert_set_cleared(set) : 0; i-- > 0;)
		if (json_array_append_new(list, alert_json(m, alert_set_get_cleared(set, i))) < 0)
			return NULL;
	return json_incref(list);
}

const char *alerts_health(const struct manager *m)
{
	static const char *const words[] = {
		[FINDING_NOTICE] = "ok",
		[FINDING_WARNING] = "warning",
		[FINDING_CRITICAL] = "critical",
	};
	enum finding_severity worst = FINDING_NOTICE;
	uint64_t now = now_realtime_usec();

	for (size_t i = 0; i < alert_set_open(m->health.alerts); i++) {
		const struct alert *alert = alert_set_get(m->health.alerts, i);

		if (alert->severity > worst && !silences_match(&m->silences, alert, now))
			worst = alert->severity;
	}
	return words[worst];
}

size_t alerts_count(const struct manager *m, enum finding_severity severity)
{
	return alert_set_count(m->health.alerts, severity);
}

size_t alerts_silenced(const struct manager *m)
{
	uint64_t now = now_realtime_usec();
	size_t count = 0;

	for (size_t i = 0; i < alert_set_open(m->health.alerts); i++)
		count += silences_match(&m->silences, alert_set_get(m->health.alerts, i), now) !=
			 NULL;
	return count;
}

size_t alerts_acknowledged(const struct manager *m)
{
	return m->silences.acknowledged;
}
