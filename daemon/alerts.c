// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The open alerts: findings that hold, with since when and how often.
#include "daemon/alerts.h"

#include "daemon/clock.h"
#include "daemon/json.h"
#include "daemon/manager.h"
#include "fabric/detect-state.h"

static void open_alert(struct alert *alert, const struct finding *finding, uint64_t now)
{
	bool again = !alert->open || alert->finding.occurrence != finding->occurrence;

	if (!alert->open) {
		*alert = (struct alert){.open = true, .since_realtime_usec = now};
		log_line(finding->severity == FINDING_NOTICE ? LOG_NOTICE : LOG_WARNING,
			 "alert %s (%s): %s", finding_kind_info(finding->kind)->name,
			 finding_severity_name(finding->severity), finding->message);
	}
	if (again) {
		alert->last_realtime_usec = now;
		alert->count++;
	}
	alert->finding = *finding;
}

void alerts_update(struct manager *m)
{
	uint64_t now = now_monotonic_usec(), realtime = now_realtime_usec(), heard;
	const struct plugin *plugin = m->ingest.followed;
	struct finding findings[FINDING_KINDS];
	bool found[FINDING_KINDS] = {false};
	struct detect_state_input input = {
		.plugin_connected = plugin,
		.plugin_timeout_usec = m->conf.plugin_timeout_usec,
		.fabric = m->fabric,
		.ended = m->sweeps.ended,
		.dropped = m->ingest.events_dropped,
		.dropped_ago_usec = now - m->ingest.drop_monotonic_usec,
		.drops_clear_usec = m->conf.drops_clear_usec,
	};
	size_t n;

	heard = plugin ? plugin->last_monotonic_usec : m->ingest.left_usec;
	if (!heard)
		heard = m->start_monotonic_usec;
	input.plugin_silent_usec = now - heard;

	n = detect_state(&input, findings);
	for (size_t i = 0; i < n; i++) {
		found[findings[i].kind] = true;
		open_alert(&m->alerts.alerts[findings[i].kind], &findings[i], realtime);
	}
	for (unsigned kind = 0; kind < FINDING_KINDS; kind++) {
		struct alert *alert = &m->alerts.alerts[kind];

		if (!alert->open || found[kind])
			continue;
		alert->open = false;
		log_notice("alert %s is over: %s", finding_kind_info(kind)->name,
			   finding_kind_info(kind)->cleared);
	}
}

static json_t *evidence_json(const struct finding_evidence *evidence)
{
	json_t *list;

	switch (evidence->type) {
	case FINDING_NUMBER:
		return json_number(evidence->number);
	case FINDING_GUID:
		return json_guid(evidence->number);
	case FINDING_TEXT:
		return json_foreign(evidence->texts[0]);
	case FINDING_LIST:
		list = json_array();
		for (uint64_t i = 0; i < evidence->number; i++)
			json_array_append_new(list, json_foreign(evidence->texts[i]));
		return list;
	}
	return NULL;
}

static json_t *alert_json(const struct alert *alert)
{
	const struct finding *finding = &alert->finding;
	json_auto_t *evidence = json_object();

	for (size_t i = 0; i < finding->n_evidence; i++)
		if (!json_put(evidence, finding->evidence[i].name,
			      evidence_json(&finding->evidence[i])))
			return NULL;
	return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:O}", "kind",
			 finding_kind_info(finding->kind)->name, "severity",
			 finding_severity_name(finding->severity), "subject",
			 json_text(finding->subject), "since_realtime_usec",
			 json_number(alert->since_realtime_usec), "last_realtime_usec",
			 json_number(alert->last_realtime_usec), "count", json_number(alert->count),
			 "message", json_text(finding->message), "evidence", evidence);
}

json_t *alerts_json(const struct alerts *alerts)
{
	json_auto_t *list = json_array();
	bool done[FINDING_KINDS] = {false};

	for (;;) {
		const struct alert *next = NULL;

		for (unsigned i = 0; i < FINDING_KINDS; i++) {
			const struct alert *alert = &alerts->alerts[i];

			if (!alert->open || done[i])
				continue;
			if (!next || alert->finding.severity > next->finding.severity ||
			    (alert->finding.severity == next->finding.severity &&
			     alert->since_realtime_usec < next->since_realtime_usec))
				next = alert;
		}
		if (!next)
			return json_incref(list);
		done[next - alerts->alerts] = true;
		if (json_array_append_new(list, alert_json(next)) < 0)
			return NULL;
	}
}

unsigned alerts_count(const struct alerts *alerts, enum finding_severity severity)
{
	unsigned n = 0;

	for (unsigned i = 0; i < FINDING_KINDS; i++)
		if (alerts->alerts[i].open && alerts->alerts[i].finding.severity == severity)
			n++;
	return n;
}

const char *alerts_health(const struct alerts *alerts)
{
	if (alerts_count(alerts, FINDING_CRITICAL))
		return "critical";
	return alerts_count(alerts, FINDING_WARNING) ? "warning" : "ok";
}
