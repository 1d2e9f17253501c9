// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// STATE-DIR/health.json: alerts, penalties, masters, statistics and silences over a restart.
#include "daemon/health-state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/clock.h"
#include "daemon/fields.h"
#include "daemon/json.h"
#include "daemon/manager.h"
#include "daemon/state-file.h"
#include "util/cleanup.h"

#define FILE_NAME "health.json"
#define FILE_VERSION 1
#define FILE_BYTES_MAX (16u << 20)

/* Names that end, as enum_name() must. */

static const char *severity_name(unsigned i)
{
	return i <= FINDING_CRITICAL ? finding_severity_name(i) : NULL;
}

static const char *reason_name(unsigned i)
{
	return i < MASTERSHIP_REASONS ? mastership_reason_name(i) : NULL;
}

static const char *type_name(unsigned i)
{
	return i <= STORY_REROUTE ? story_type_name(i) : NULL;
}

static const char *result_name(unsigned i)
{
	return i < STORY_RESULTS ? story_result_name(i) : NULL;
}

static const char *cause_name(unsigned i)
{
	return i < STORY_CAUSE_KINDS ? story_cause_kind_name(i) : NULL;
}

static const char *evidence_type_name(unsigned i)
{
	static const char *const names[] = {
		[EVIDENCE_NUMBER] = "number", [EVIDENCE_REAL] = "real", [EVIDENCE_TRUTH] = "truth",
		[EVIDENCE_GUID] = "guid",     [EVIDENCE_TEXT] = "text",
	};

	return i < ELEMENTSOF(names) ? names[i] : NULL;
}

/* Tables. */

#define LOAD(object, to, table) fields_load(object, to, table, ELEMENTSOF(table))
#define SAVE(object, from, table) fields_save(object, from, table, ELEMENTSOF(table))

static const struct field alert_fields[] = {
	FIELD(struct alert, id, FIELD_GUID),
	FIELD_OF_ENUM(struct alert, kind, detect_kind_name),
	FIELD_OF_ENUM(struct alert, severity, severity_name),
	FIELD(struct alert, subject.guid, FIELD_GUID),
	FIELD(struct alert, subject.port, FIELD_U16),
	FIELD(struct alert, subject.key, FIELD_TEXT),
	FIELD(struct alert, since_realtime_usec, FIELD_U64),
	FIELD(struct alert, last_realtime_usec, FIELD_U64),
	FIELD(struct alert, cleared_realtime_usec, FIELD_U64),
	FIELD(struct alert, count, FIELD_U64),
	FIELD(struct alert, occurrence, FIELD_U64),
};

static const struct field evidence_fields[] = {
	FIELD(struct evidence_field, name, FIELD_TEXT),
	FIELD_OF_ENUM(struct evidence_field, type, evidence_type_name),
	FIELD(struct evidence_field, list, FIELD_BOOL),
};

static const struct field damper_fields[] = {
	FIELD(struct damper_saved, penalty, FIELD_REAL),
	FIELD(struct damper_saved, realtime_usec, FIELD_U64),
	FIELD(struct damper_saved, tripped, FIELD_BOOL),
};

static const struct field master_fields[] = {
	FIELD(struct mastership_entry, number, FIELD_U64),
	FIELD(struct mastership_entry, from, FIELD_GUID),
	FIELD(struct mastership_entry, to, FIELD_GUID),
	FIELD(struct mastership_entry, realtime_usec, FIELD_U64),
	FIELD(struct mastership_entry, gap_usec, FIELD_U64),
	FIELD_OF_ENUM(struct mastership_entry, reason, reason_name),
	FIELD(struct mastership_entry, from_priority, FIELD_U8),
	FIELD(struct mastership_entry, to_priority, FIELD_U8),
	FIELD(struct mastership_entry, from_name, FIELD_TEXT),
	FIELD(struct mastership_entry, to_name, FIELD_TEXT),
};

static const struct field sm_fields[] = {
	FIELD(struct sm_saved, port_guid, FIELD_GUID),
	FIELD(struct sm_saved, node_guid, FIELD_GUID),
	FIELD(struct sm_saved, first_realtime_usec, FIELD_U64),
	FIELD(struct sm_saved, last_realtime_usec, FIELD_U64),
	FIELD(struct sm_saved, instance, FIELD_GUID),
	FIELD(struct sm_saved, act_count, FIELD_U32),
	FIELD(struct sm_saved, act_count_base, FIELD_BOOL),
	FIELD(struct sm_saved, lid, FIELD_U16),
	FIELD(struct sm_saved, priority, FIELD_U8),
	FIELD(struct sm_saved, node_type, FIELD_U8),
	FIELD(struct sm_saved, node, FIELD_TEXT),
};

static const struct field sample_fields[] = {
	FIELD(struct sweep_sample, number, FIELD_U64),
	FIELD(struct sweep_sample, start_realtime_usec, FIELD_U64),
	FIELD(struct sweep_sample, duration_usec, FIELD_U64),
	FIELD(struct sweep_sample, phase_usec[0], FIELD_U64),
	FIELD(struct sweep_sample, phase_usec[1], FIELD_U64),
	FIELD(struct sweep_sample, phase_usec[2], FIELD_U64),
	FIELD(struct sweep_sample, lft_blocks, FIELD_U32),
	FIELD(struct sweep_sample, mads_sent, FIELD_U32),
	FIELD_OF_ENUM(struct sweep_sample, type, type_name),
	FIELD_OF_ENUM(struct sweep_sample, result, result_name),
	FIELD_OF_ENUM(struct sweep_sample, cause, cause_name),
};

static const struct field sweep_fields[] = {
	FIELD(struct detect_sweep_saved, slow_run, FIELD_U32),
	FIELD(struct detect_sweep_saved, usual_run, FIELD_U32),
	FIELD(struct detect_sweep_saved, slow_realtime_usec, FIELD_U64),
};

static const struct field trap_number_fields[] = {
	FIELD(struct trap_number, number, FIELD_U16),
	FIELD(struct trap_number, vendor, FIELD_BOOL),
	FIELD(struct trap_number, count, FIELD_U64),
	FIELD(struct trap_number, last_realtime_usec, FIELD_U64),
};

static const struct field trap_sender_fields[] = {
	FIELD(struct trap_sender, node_guid, FIELD_GUID),
	FIELD(struct trap_sender, lid, FIELD_U16),
	FIELD(struct trap_sender, name, FIELD_TEXT),
	FIELD(struct trap_sender, count, FIELD_U64),
	FIELD(struct trap_sender, error, FIELD_U64),
	FIELD(struct trap_sender, last_number, FIELD_U16),
	FIELD(struct trap_sender, last_realtime_usec, FIELD_U64),
	FIELD(struct trap_sender, damper.penalty, FIELD_REAL),
	FIELD(struct trap_sender, damper.usec, FIELD_U64),
	FIELD(struct trap_sender, damper.tripped, FIELD_BOOL),
};

static const struct field trap_port_fields[] = {
	FIELD(struct trap_port, port, FIELD_U8),
	FIELD(struct trap_port, traps, FIELD_U64),
	FIELD(struct trap_port, changes, FIELD_U64),
	FIELD(struct trap_port, error, FIELD_U64),
};

/* Saving. All return a new reference, or NULL without memory. */

static json_t *save_struct(const void *from, const struct field *fields, size_t count)
{
	json_auto_t *object = json_object();

	return fields_save(object, from, fields, count) ? json_incref(object) : NULL;
}
#define SAVE_STRUCT(from, table) save_struct(from, table, ELEMENTSOF(table))

static json_t *save_evidence(const struct evidence *evidence)
{
	json_auto_t *list = json_array();

	for (size_t i = 0; i < evidence->count; i++) {
		const struct evidence_field *field = &evidence->fields[i];
		json_t *object = SAVE_STRUCT(field, evidence_fields), *value;

		value = field->type == EVIDENCE_TEXT   ? json_foreign(field->text)
			: field->type == EVIDENCE_REAL ? json_real(field->real)
						       : json_counter(field->number);
		if (json_array_append_new(list, object) < 0 || !json_put(object, "value", value))
			return NULL;
	}
	return json_incref(list);
}

static json_t *save_alert(const struct alert *alert)
{
	json_auto_t *object = SAVE_STRUCT(alert, alert_fields);

	if (!object || !json_put(object, "message", json_text(alert->message)) ||
	    (alert->subject.name && !json_put(object, "name", json_text(alert->subject.name))) ||
	    !json_put(object, "evidence", save_evidence(&alert->evidence)))
		return NULL;
	return json_incref(object);
}

/* The cleared ones first: they are older. */
static json_t *save_alerts(const struct alert_set *set)
{
	json_auto_t *list = json_array();

	for (size_t i = 0; i < alert_set_cleared(set); i++)
		if (json_array_append_new(list, save_alert(alert_set_get_cleared(set, i))) < 0)
			return NULL;
	for (size_t i = 0; i < alert_set_open(set); i++)
		if (json_array_append_new(list, save_alert(alert_set_get(set, i))) < 0)
			return NULL;
	return json_incref(list);
}

static json_t *save_masters(const struct mastership *history)
{
	json_auto_t *list = json_array();

	for (size_t i = 0; i < history->count; i++)
		if (json_array_append_new(list, SAVE_STRUCT(&history->entries[i], master_fields)) <
		    0)
			return NULL;
	return json_incref(list);
}

static json_t *save_sms(const struct detect_sm *detect, const struct detect_time *now)
{
	_cleanup_free_ struct detect_sm_saved *saved = calloc(1, sizeof(*saved));
	json_auto_t *list = json_array(), *object = NULL;

	if (!saved)
		return NULL;
	detect_sm_save(detect, now, saved);
	for (size_t i = 0; i < saved->count; i++) {
		const struct detect_sm_saved_one *one = &saved->sms[i];
		json_t *sm = SAVE_STRUCT(&one->sm, sm_fields);

		if (json_array_append_new(list, sm) < 0 ||
		    !json_put(sm, "restarts", json_counter(one->restarts)) ||
		    !json_put(sm, "flap", SAVE_STRUCT(&one->flap, damper_fields)) ||
		    !json_put(sm, "link", SAVE_STRUCT(&one->link, damper_fields)))
			return NULL;
	}
	object = json_pack("{s:o, s:o, s:o, s:O}", "master", json_guid(saved->master),
			   "master_realtime_usec", json_counter(saved->master_realtime_usec),
			   "flap", SAVE_STRUCT(&saved->flap, damper_fields), "sms", list);
	return json_incref(object);
}

static json_t *save_traps(const struct detect_sweep *detect, const struct damper_config *config,
			  const struct detect_time *now)
{
	_cleanup_free_ struct trap_stats *saved = calloc(1, sizeof(*saved));
	json_auto_t *numbers = json_array(), *senders = json_array();

	if (!saved)
		return NULL;
	trap_stats_save(detect_sweep_traps(detect), config, now, saved);
	for (size_t i = 0; i < saved->number_count; i++)
		if (json_array_append_new(numbers,
					  SAVE_STRUCT(&saved->numbers[i], trap_number_fields)) < 0)
			return NULL;
	for (size_t i = 0; i < saved->sender_count; i++) {
		const struct trap_sender *sender = &saved->senders[i];
		json_t *object = SAVE_STRUCT(sender, trap_sender_fields), *ports = json_array();

		if (json_array_append_new(senders, object) < 0 || !json_put(object, "ports", ports))
			return NULL;
		for (size_t j = 0; j < sender->port_count; j++)
			if (json_array_append_new(
				    ports, SAVE_STRUCT(&sender->ports[j], trap_port_fields)) < 0)
				return NULL;
	}
	return json_pack("{s:o, s:o, s:o, s:O, s:O}", "total", json_counter(saved->total),
			 "numbers_over", json_counter(saved->numbers_over), "senders_over",
			 json_counter(saved->senders_over), "numbers", numbers, "senders", senders);
}

static json_t *save_sweeps(const struct detect_sweep *detect, const struct detect_time *now)
{
	const struct sweep_stats *stats = detect_sweep_stats(detect);
	json_auto_t *samples = json_array(), *totals = json_object(), *object = NULL;
	struct detect_sweep_saved saved;

	detect_sweep_save(detect, now, &saved);
	object = SAVE_STRUCT(&saved, sweep_fields);
	for (size_t i = 0; i < stats->count; i++)
		if (json_array_append_new(
			    samples, SAVE_STRUCT(sweep_stats_get(stats, i), sample_fields)) < 0)
			return NULL;
	for (unsigned i = 0; i < STORY_RESULTS; i++)
		if (!json_put(totals, result_name(i), json_counter(stats->total[i])))
			return NULL;
	if (!json_put(object, "storm", SAVE_STRUCT(&saved.storm, damper_fields)) ||
	    !json_put(object, "samples", json_incref(samples)) ||
	    !json_put(object, "totals", json_incref(totals)))
		return NULL;
	return json_incref(object);
}

static json_t *save_all(const struct manager *m)
{
	const struct detect_time now = {
		.monotonic_usec = now_monotonic_usec(),
		.realtime_usec = now_realtime_usec(),
	};

	return json_pack("{s:i, s:o, s:o, s:o, s:o, s:o, s:o}", "version", FILE_VERSION, "alerts",
			 save_alerts(m->health.alerts), "masters",
			 save_masters(detect_sm_history(m->health.sm)), "subnet_managers",
			 save_sms(m->health.sm, &now), "sweeps", save_sweeps(m->health.sweep, &now),
			 "traps", save_traps(m->health.sweep, &m->conf.sweep.flood, &now),
			 "silences", silences_save(&m->silences));
}

/* Writing. */

struct saving {
	struct work work;
	struct manager *manager;
	const char *directory; /* the options', which outlive the worker */
	json_t *root;
	int error;
};

static void saving_run(struct work *work)
{
	struct saving *saving = (struct saving *)work;

	saving->error =
		state_file_write(saving->directory, FILE_NAME, saving->root, JSON_COMPACT, false);
}

static void tell(struct manager *m, int error)
{
	if (error < 0 && !m->health.save_failed)
		log_warning("%s/" FILE_NAME ": cannot save: %s, ignoring", m->options.state_dir,
			    strerror(-error));
	m->health.save_failed = error < 0;
}

static void saving_done(struct work *work)
{
	struct saving *saving = (struct saving *)work;
	struct manager *m = saving->manager;

	m->health.saving = false;
	if (!work->cancelled)
		tell(m, saving->error);
	json_decref(saving->root);
	free(saving);
}

void health_state_save(struct manager *m, bool last)
{
	struct saving *saving;

	if (!m->options.state_dir || (m->health.saving && !last))
		return;
	m->health.save_monotonic_usec = now_monotonic_usec();
	m->health.dirty = false;
	if (last) {
		json_auto_t *root = save_all(m);

		tell(m, root ? state_file_write(m->options.state_dir, FILE_NAME, root, JSON_COMPACT,
						true)
			     : -ENOMEM);
		return;
	}
	saving = calloc(1, sizeof(*saving));
	if (saving)
		saving->root = save_all(m);
	if (!saving || !saving->root) {
		free(saving);
		tell(m, -ENOMEM);
		return;
	}
	saving->work = (struct work){.run = saving_run, .done = saving_done};
	saving->manager = m;
	saving->directory = m->options.state_dir;
	m->health.saving = true;
	worker_submit(m->worker, &saving->work);
}

/* Loading. Each counts what it leaves out. */

static bool load_evidence_value(const json_t *value, struct evidence *evidence,
				const struct evidence_field *as)
{
	const char *text = json_string_value(value);
	struct evidence_field *field;
	char *end;

	switch (as->type) {
	case EVIDENCE_TEXT:
		if (!text)
			return false;
		(as->list ? evidence_list_text : evidence_text)(evidence, as->name, text);
		return true;
	case EVIDENCE_REAL:
		evidence_real(evidence, as->name, json_number_value(value));
		return json_is_number(value);
	default:
		if (!text || *text < '0' || *text > '9' || evidence->count == EVIDENCE_FIELDS_MAX)
			return false;
		field = &evidence->fields[evidence->count++];
		*field = *as;
		errno = 0;
		field->number = strtoull(text, &end, 10);
		return errno == 0 && *end == '\0';
	}
}

static bool load_evidence(const json_t *list, struct evidence *evidence)
{
	const json_t *value;
	size_t i;

	json_array_foreach (list, i, value) {
		struct evidence_field as = {0};

		if (!LOAD(value, &as, evidence_fields) ||
		    !load_evidence_value(json_object_get(value, "value"), evidence, &as))
			return false;
	}
	return json_is_array(list);
}

static bool load_alert(const json_t *object, struct alert_set *set)
{
	_cleanup_(evidence_clearp) struct evidence evidence = {0};
	struct alert alert = {0};

	if (!LOAD(object, &alert, alert_fields) ||
	    !load_evidence(json_object_get(object, "evidence"), &evidence))
		return false;
	alert.evidence = evidence; /* borrowed: copied by the set */
	alert.message = (char *)json_string_value(json_object_get(object, "message"));
	alert.subject.name = json_string_value(json_object_get(object, "name"));
	return alert.message && alert_set_restore(set, &alert) == 0;
}

static size_t load_alerts(struct manager *m, const json_t *list)
{
	const json_t *value;
	size_t i, left_out = !json_is_array(list);

	json_array_foreach (list, i, value)
		left_out += !load_alert(value, m->health.alerts);
	return left_out;
}

static size_t load_sms(struct manager *m, const json_t *object, const json_t *masters,
		       const struct detect_time *now)
{
	_cleanup_free_ struct detect_sm_saved *saved = calloc(1, sizeof(*saved));
	_cleanup_free_ struct mastership_entry *history = calloc(MASTERSHIP_MAX, sizeof(*history));
	static const struct field fields[] = {
		FIELD(struct detect_sm_saved, master, FIELD_GUID),
		FIELD(struct detect_sm_saved, master_realtime_usec, FIELD_U64),
	};
	size_t i, count = 0, left_out = 0;
	const json_t *value;

	if (!saved || !history)
		return 1;
	if (!LOAD(object, saved, fields) ||
	    !LOAD(json_object_get(object, "flap"), &saved->flap, damper_fields)) {
		*saved = (struct detect_sm_saved){0};
		left_out++;
	}
	json_array_foreach (json_object_get(object, "sms"), i, value) {
		struct detect_sm_saved_one one = {0};
		struct {
			uint64_t restarts;
		} rest;
		static const struct field restarts[] = {{"restarts", FIELD_U64, 0, 8, NULL}};

		if (saved->count == SM_TABLE_MAX || !LOAD(value, &one.sm, sm_fields) ||
		    !LOAD(value, &rest, restarts) ||
		    !LOAD(json_object_get(value, "flap"), &one.flap, damper_fields) ||
		    !LOAD(json_object_get(value, "link"), &one.link, damper_fields)) {
			left_out++;
			continue;
		}
		one.restarts = rest.restarts;
		saved->sms[saved->count++] = one;
	}
	json_array_foreach (masters, i, value) {
		if (count == MASTERSHIP_MAX || !LOAD(value, &history[count], master_fields))
			left_out++;
		else
			count++;
	}
	return left_out + detect_sm_load(m->health.sm, saved, history, count, now);
}

static void load_traps(const json_t *object, struct trap_stats *ret, size_t *left_out)
{
	static const struct field fields[] = {
		FIELD(struct trap_stats, total, FIELD_U64),
		FIELD(struct trap_stats, numbers_over, FIELD_U64),
		FIELD(struct trap_stats, senders_over, FIELD_U64),
	};
	const json_t *value, *port;
	size_t i, j;

	if (!LOAD(object, ret, fields))
		++*left_out;
	json_array_foreach (json_object_get(object, "numbers"), i, value) {
		if (ret->number_count == TRAP_NUMBERS_MAX ||
		    !LOAD(value, &ret->numbers[ret->number_count], trap_number_fields))
			++*left_out;
		else
			ret->number_count++;
	}
	json_array_foreach (json_object_get(object, "senders"), i, value) {
		struct trap_sender sender = {0};

		if (ret->sender_count == TRAP_SENDERS_MAX ||
		    !LOAD(value, &sender, trap_sender_fields)) {
			++*left_out;
			continue;
		}
		json_array_foreach (json_object_get(value, "ports"), j, port) {
			if (sender.port_count == TRAP_PORTS_MAX ||
			    !LOAD(port, &sender.ports[sender.port_count], trap_port_fields))
				++*left_out;
			else
				sender.port_count++;
		}
		ret->senders[ret->sender_count++] = sender;
	}
}

static size_t load_sweeps(struct manager *m, const json_t *object, const json_t *trap_object,
			  const struct detect_time *now)
{
	_cleanup_free_ struct sweep_sample *samples = calloc(SWEEP_STATS_MAX, sizeof(*samples));
	_cleanup_free_ struct trap_stats *traps = calloc(1, sizeof(*traps));
	uint64_t totals[STORY_RESULTS] = {0};
	struct detect_sweep_saved saved = {0};
	size_t i, count = 0, left_out = 0;
	const json_t *value;

	if (!samples || !traps)
		return 1;
	if (!LOAD(object, &saved, sweep_fields) ||
	    !LOAD(json_object_get(object, "storm"), &saved.storm, damper_fields)) {
		saved = (struct detect_sweep_saved){0};
		left_out++;
	}
	json_array_foreach (json_object_get(object, "samples"), i, value) {
		if (count == SWEEP_STATS_MAX || !LOAD(value, &samples[count], sample_fields))
			left_out++;
		else
			count++;
	}
	for (i = 0; i < STORY_RESULTS; i++) {
		const struct field field = {result_name((unsigned)i), FIELD_U64, 0,
					    sizeof(totals[0]), NULL};

		left_out += !fields_load(json_object_get(object, "totals"), &totals[i], &field, 1);
	}
	load_traps(trap_object, traps, &left_out);
	return left_out +
	       detect_sweep_load(m->health.sweep, &saved, samples, count, totals, traps, now);
}

int health_state_load(struct manager *m)
{
	const struct detect_time now = {
		.monotonic_usec = now_monotonic_usec(),
		.realtime_usec = now_realtime_usec(),
	};
	json_auto_t *root = NULL;
	char why[256];
	size_t left_out;
	int r;

	if (!m->options.state_dir)
		return 0;
	r = state_file_read(m->options.state_dir, FILE_NAME, FILE_BYTES_MAX, &root, why);
	if (r == -EBADMSG ||
	    (root && json_integer_value(json_object_get(root, "version")) != FILE_VERSION)) {
		log_warning("%s; moved aside, starting without alerts and penalties of before",
			    r < 0 ? why : "health.json: its version is not ours");
		return state_file_move_aside(m->options.state_dir, FILE_NAME);
	}
	if (r < 0)
		log_error("%s/" FILE_NAME ": %s", m->options.state_dir, strerror(-r));
	if (r < 0 || !root)
		return r;
	left_out = load_alerts(m, json_object_get(root, "alerts"));
	left_out += load_sms(m, json_object_get(root, "subnet_managers"),
			     json_object_get(root, "masters"), &now);
	left_out += load_sweeps(m, json_object_get(root, "sweeps"), json_object_get(root, "traps"),
				&now);
	left_out +=
		silences_load(&m->silences, json_object_get(root, "silences"), m->health.alerts);
	if (left_out)
		log_warning("%s/" FILE_NAME ": %zu entries are not valid, ignoring them",
			    m->options.state_dir, left_out);
	return 0;
}
