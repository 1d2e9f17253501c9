// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// GetSweepStatistics: how many sweeps, how long, why and with what end; traps by number and sender.
#include <errno.h>
#include <stdlib.h>

#include "daemon/api-internal.h"
#include "daemon/clock.h"
#include "fabric/names.h"
#include "util/cleanup.h"

#define WINDOW_USEC_DEFAULT (UINT64_C(24) * 3600 * 1000000)
#define USUAL_SAMPLES(m) ((m)->conf.sweep.usual_window)

static json_t *durations_json(const struct sweep_quantiles *q)
{
	return json_pack("{s:I, s:o, s:o, s:o, s:o}", "samples", (json_int_t)q->samples, "min_usec",
			 json_number(q->min_usec), "median_usec", json_number(q->median_usec),
			 "p95_usec", json_number(q->p95_usec), "max_usec",
			 json_number(q->max_usec));
}

static bool put_durations(json_t *object, const struct sweep_quantiles *q)
{
	return !q->samples || json_put(object, "duration", durations_json(q));
}

static json_t *phases_json(const struct sweep_summary *summary)
{
	json_auto_t *list = json_array();

	for (unsigned i = 0; i < STORY_PHASES; i++) {
		json_t *phase = json_pack("{s:s}", "name", story_phase_name(i));

		if (json_array_append_new(list, phase) < 0 ||
		    !put_durations(phase, &summary->phases[i]))
			return NULL;
	}
	return json_incref(list);
}

static bool append_count(json_t *list, const char *key, const char *name, uint64_t count)
{
	return json_array_append_new(
		       list, json_pack("{s:s, s:o}", key, name, "count", json_number(count))) == 0;
}

/* Those that a sweep can end with: it still running is none. */
static bool is_end(unsigned result)
{
	return result != STORY_RUNNING;
}

static json_t *results_json(const size_t counts[static STORY_RESULTS])
{
	json_auto_t *list = json_array();

	for (unsigned i = 0; i < STORY_RESULTS; i++)
		if (is_end(i) && !append_count(list, "result", story_result_name(i), counts[i]))
			return NULL;
	return json_incref(list);
}

static json_t *totals_json(const uint64_t counts[static STORY_RESULTS])
{
	json_auto_t *list = json_array();

	for (unsigned i = 0; i < STORY_RESULTS; i++)
		if (is_end(i) && !append_count(list, "result", story_result_name(i), counts[i]))
			return NULL;
	return json_incref(list);
}

static json_t *causes_json(const struct sweep_summary *summary)
{
	json_auto_t *list = json_array();

	for (unsigned i = 0; i < STORY_CAUSE_KINDS; i++)
		if (!append_count(list, "cause", story_cause_kind_name(i), summary->by_cause[i]))
			return NULL;
	return json_incref(list);
}

static json_t *sweeps_json(const struct manager *m, uint64_t window_usec)
{
	const struct sweep_stats *stats = detect_sweep_stats(m->health.sweep);
	const struct detect_time now = {
		.monotonic_usec = now_monotonic_usec(),
		.realtime_usec = now_realtime_usec(),
	};
	json_auto_t *object = NULL;
	struct sweep_summary summary;
	uint64_t usual = 0, deviation = 0;

	sweep_stats_summary(stats, window_usec, &now, &summary);
	object = json_pack(
		"{s:o, s:I, s:I, s:I, s:f, s:o, s:o, s:o, s:o, s:o}", "window_usec",
		json_number(summary.window_usec), "count", (json_int_t)summary.count, "heavy",
		(json_int_t)summary.heavy, "reroutes", (json_int_t)summary.reroutes,
		"heavy_per_hour", summary.heavy_per_hour, "phases", phases_json(&summary),
		"results", results_json(summary.by_result), "causes", causes_json(&summary),
		"lft_blocks", json_number(summary.lft_blocks), "totals", totals_json(stats->total));
	if (!object || !put_durations(object, &summary.total))
		return NULL;
	if (sweep_stats_usual(stats, USUAL_SAMPLES(m), &usual, &deviation) &&
	    (!json_put(object, "usual_usec", json_number(usual)) ||
	     !json_put(object, "usual_deviation_usec", json_number(deviation))))
		return NULL;
	return TAKE_PTR(object);
}

/* Traps. */

static json_t *number_json(const struct trap_number *number)
{
	const char *name = number->vendor ? NULL : trap_name(number->number);
	json_auto_t *object =
		json_pack("{s:i, s:b, s:o, s:o}", "number", number->number, "vendor",
			  number->vendor, "count", json_number(number->count), "last_realtime_usec",
			  json_number(number->last_realtime_usec));

	if (!object || (name && !json_put(object, "name", json_string(name))))
		return NULL;
	return TAKE_PTR(object);
}

static json_t *ports_json(const struct trap_sender *sender)
{
	json_auto_t *list = json_array();

	for (size_t i = 0; i < sender->port_count; i++) {
		const struct trap_port *port = &sender->ports[i];

		if (json_array_append_new(list,
					  json_pack("{s:i, s:o, s:o, s:o}", "port", port->port,
						    "traps", json_number(port->traps),
						    "link_changes", json_number(port->changes),
						    "error", json_number(port->error))) < 0)
			return NULL;
	}
	return json_incref(list);
}

static json_t *sender_json(const struct trap_sender *sender)
{
	const struct trap_port *likely = trap_sender_port(sender);
	json_auto_t *object = json_pack(
		"{s:o, s:o, s:i, s:o, s:o}", "count", json_number(sender->count), "error",
		json_number(sender->error), "last_trap", sender->last_number, "last_realtime_usec",
		json_number(sender->last_realtime_usec), "ports", ports_json(sender));

	if (!object ||
	    (sender->node_guid && !json_put(object, "guid", json_guid(sender->node_guid))) ||
	    (sender->name[0] && !json_put(object, "name", json_text(sender->name))) ||
	    (sender->lid && !json_put(object, "lid", json_integer(sender->lid))) ||
	    (likely && !json_put(object, "likely_port", json_integer(likely->port))))
		return NULL;
	return TAKE_PTR(object);
}

static json_t *traps_json(const struct trap_stats *traps)
{
	json_auto_t *numbers = json_array(), *senders = json_array();
	uint8_t order[TRAP_NUMBERS_MAX > TRAP_SENDERS_MAX ? TRAP_NUMBERS_MAX : TRAP_SENDERS_MAX];
	size_t n = trap_stats_numbers_by_count(traps, order);

	for (size_t i = 0; i < n; i++)
		if (json_array_append_new(numbers, number_json(&traps->numbers[order[i]])) < 0)
			return NULL;
	n = trap_stats_senders_by_count(traps, order);
	for (size_t i = 0; i < n; i++)
		if (json_array_append_new(senders, sender_json(&traps->senders[order[i]])) < 0)
			return NULL;
	return json_pack("{s:o, s:O, s:o, s:O, s:o}", "total", json_number(traps->total), "numbers",
			 numbers, "numbers_over", json_number(traps->numbers_over), "senders",
			 senders, "senders_over", json_number(traps->senders_over));
}

int api_get_sweep_statistics(struct varlink_call *call, json_t *parameters, void *userdata)
{
	const struct manager *m = ((struct api *)userdata)->manager;
	uint64_t window_usec = WINDOW_USEC_DEFAULT;

	if (!api_number(parameters, "window_usec", &window_usec) || !window_usec)
		return varlink_call_invalid_parameter(call, "window_usec");
	return varlink_call_reply(call, json_pack("{s:o, s:o}", "sweeps",
						  sweeps_json(m, window_usec), "traps",
						  traps_json(detect_sweep_traps(m->health.sweep))));
}
