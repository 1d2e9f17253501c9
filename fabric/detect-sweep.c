// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The detectors on sweeps and traps: too many, stuck, slow, a chatty sender, a node that is silent.
#include "detect-sweep.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "names.h"

#define SUBNET "subnet"

/* What the median absolute deviation of normal values is in standard deviations: 1/Φ⁻¹(3/4). */
#define MAD_TO_DEVIATION 1.4826

#define SECONDS(usec) ((usec) / DETECT_USEC_PER_SEC)
#define MILLISECONDS(usec) ((usec) / 1000)

struct detect_sweep {
	struct detect_sweep_config config;
	struct alert_set *alerts;
	struct sweep_stats stats;
	struct trap_stats traps;
	struct node_watch nodes;

	struct damper storm;
	uint64_t storm_number; /* of the last sweep that it looked at */
	uint64_t new_sweeps;   /* counted by it, and not reported yet */

	bool running;
	uint64_t running_number;
	uint64_t running_usec; /* since when */
	uint64_t stuck_usec;   /* when one was last seen to be stuck; 0: never */

	uint32_t slow_run;
	uint32_t usual_run;
	uint64_t slow_realtime_usec;
	uint64_t new_slow;
	struct sweep_sample slowest; /* the last slow one, and what it was measured with */
	uint64_t slow_median_usec;
	uint64_t slow_mad_usec;
	uint64_t slow_limit_usec;

	uint64_t ended[STORY_AMENDABLE]; /* numbers of the last ones, each counted once */
	size_t ended_next;
};

void detect_sweep_config_init(struct detect_sweep_config *ret)
{
	*ret = (struct detect_sweep_config){
		.storm = {.half_life_usec = 5 * DETECT_USEC_PER_MINUTE,
			  .suppress = 10,
			  .reuse = 3,
			  .hold_usec = 30 * DETECT_USEC_PER_MINUTE},
		.stuck_factor = 5,
		.stuck_min_usec = 30 * DETECT_USEC_PER_SEC,
		.stuck_unknown_usec = 5 * DETECT_USEC_PER_MINUTE,
		.stuck_clear_usec = 5 * DETECT_USEC_PER_MINUTE,
		.usual_window = 100,
		.usual_min = 10,
		.slow_deviations = 6,
		.slow_factor = 2,
		.slow_min_usec = DETECT_USEC_PER_SEC,
		.slow_sweeps = 3,
		.slow_clear_usec = DETECT_USEC_PER_HOUR,
		.flood = {.half_life_usec = DETECT_USEC_PER_MINUTE,
			  .suppress = 8,
			  .reuse = 2,
			  .hold_usec = 10 * DETECT_USEC_PER_MINUTE},
		.unresponsive_usec = DETECT_USEC_PER_MINUTE,
	};
}

int detect_sweep_configure(struct detect_sweep *d, const struct detect_sweep_config *config)
{
	if (!damper_config_is_valid(&config->storm) || !damper_config_is_valid(&config->flood))
		return -EINVAL;
	d->config = *config;
	return 0;
}

int detect_sweep_new(const struct detect_sweep_config *config, struct alert_set *alerts,
		     struct detect_sweep **ret)
{
	struct detect_sweep *d = calloc(1, sizeof(*d));
	int r;

	if (!d)
		return -ENOMEM;
	r = detect_sweep_configure(d, config);
	if (r < 0) {
		free(d);
		return r;
	}
	d->alerts = alerts;
	*ret = d;
	return 0;
}

struct detect_sweep *detect_sweep_free(struct detect_sweep *d)
{
	if (d)
		node_watch_clear(&d->nodes);
	free(d);
	return NULL;
}

/* Reports with the kind's usual severity; empties the evidence. */
__attribute__((format(printf, 7, 8))) static void report(struct detect_sweep *d, unsigned int kind,
							 struct alert_subject subject,
							 uint64_t occurrences,
							 struct evidence *evidence,
							 const struct detect_time *now,
							 const char *format, ...)
{
	char message[ALERT_MESSAGE_BYTES];
	const struct alert_report r = {
		.kind = kind,
		.subject = subject,
		.severity = detect_kind_info(kind)->severity,
		.occurrences = occurrences,
		.message = message,
		.evidence = evidence,
	};
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	alert_set_report(d->alerts, &r, now);
	evidence_clear(evidence);
}

/* ---- storm ---- */

/* The sender whose traps weigh most now, or NULL. */
static const struct trap_sender *chattiest(const struct detect_sweep *d,
					   const struct detect_time *now)
{
	const struct trap_sender *best = NULL;
	double most = 0.5; /* less than one trap of late is nobody */

	for (size_t i = 0; i < d->traps.sender_count; i++) {
		const struct trap_sender *sender = &d->traps.senders[i];
		double penalty =
			damper_penalty(&sender->damper, &d->config.flood, now->monotonic_usec);

		if (penalty > most) {
			most = penalty;
			best = sender;
		}
	}
	return best;
}

static const char *sender_label(const struct trap_sender *sender, char *buffer, size_t size)
{
	if (sender->name[0])
		snprintf(buffer, size, "%s", sender->name);
	else if (sender->node_guid != 0)
		snprintf(buffer, size, "0x%016" PRIx64, sender->node_guid);
	else
		snprintf(buffer, size, "LID %u", sender->lid);
	return buffer;
}
#define SENDER_LABEL(sender) sender_label((sender), (char[SM_NAME_BYTES]){0}, SM_NAME_BYTES)

static void add_sender(struct evidence *evidence, const struct trap_sender *sender)
{
	const struct trap_port *port = trap_sender_port(sender);

	evidence_guid(evidence, "sender", sender->node_guid);
	evidence_text(evidence, "sender_name", sender->name);
	evidence_number(evidence, "sender_lid", sender->lid);
	evidence_number(evidence, "trap", sender->last_number);
	if (port) {
		evidence_number(evidence, "port", port->port);
		evidence_number(evidence, "port_traps", port->traps);
		evidence_number(evidence, "port_link_changes", port->changes);
	}
}

/* Each heavy sweep once, when it is first told of; numbers rise. */
static void count_for_storm(struct detect_sweep *d, const struct story *story,
			    const struct detect_time *now)
{
	if (story->number <= d->storm_number)
		return;
	d->storm_number = story->number;
	if (story->type != STORY_HEAVY || story->cause.kind == STORY_CAUSE_RETRY ||
	    story->cause.kind == STORY_CAUSE_EVERY_SWEEP_HEAVY)
		return;
	damper_add(&d->storm, &d->config.storm, 1, now->monotonic_usec);
	d->new_sweeps++;
}

static enum story_cause_kind most_frequent_cause(const struct sweep_summary *summary)
{
	size_t best = 0;

	for (size_t i = 1; i < STORY_CAUSE_KINDS; i++)
		if (summary->by_cause[i] > summary->by_cause[best])
			best = i;
	return (enum story_cause_kind)best;
}

static void judge_storm(struct detect_sweep *d, const struct detect_time *now)
{
	struct alert_subject subject = alert_subject_word(SUBNET);
	const struct trap_sender *sender = chattiest(d, now);
	struct sweep_summary summary;
	struct evidence evidence = {0};

	if (!d->storm.tripped) {
		alert_set_clear(d->alerts, DETECT_SWEEP_STORM, &subject, now);
		d->new_sweeps = 0;
		return;
	}
	sweep_stats_summary(&d->stats, d->config.storm.half_life_usec, now, &summary);
	evidence_number(&evidence, "heavy_sweeps", summary.heavy);
	evidence_number(&evidence, "window_usec", summary.window_usec);
	evidence_text(&evidence, "cause", story_cause_kind_name(most_frequent_cause(&summary)));
	evidence_real(&evidence, "penalty",
		      damper_penalty(&d->storm, &d->config.storm, now->monotonic_usec));
	evidence_real(&evidence, "reuse", d->config.storm.reuse);
	if (sender)
		add_sender(&evidence, sender);
	report(d, DETECT_SWEEP_STORM, subject, d->new_sweeps, &evidence, now,
	       "heavy sweeps follow each other, %zu in the last %" PRIu64 " s%s%s", summary.heavy,
	       SECONDS(summary.window_usec), sender ? "; most traps come from " : "",
	       sender ? SENDER_LABEL(sender) : "");
	d->new_sweeps = 0;
}

/* ---- stuck ---- */

static uint64_t stuck_limit(const struct detect_sweep *d, uint64_t *ret_usual_usec)
{
	uint64_t mad, limit;

	if (sweep_stats_usual(&d->stats, d->config.usual_window, ret_usual_usec, &mad) <
	    d->config.usual_min) {
		*ret_usual_usec = 0;
		return d->config.stuck_unknown_usec;
	}
	limit = *ret_usual_usec * d->config.stuck_factor;
	return limit > d->config.stuck_min_usec ? limit : d->config.stuck_min_usec;
}

static void judge_stuck(struct detect_sweep *d, const struct detect_time *now)
{
	struct alert_subject subject = alert_subject_word(SUBNET);
	struct evidence evidence = {0};
	uint64_t usual, limit = stuck_limit(d, &usual);
	uint64_t age = detect_age_usec(now, d->running_usec);

	if (d->running && age >= limit) {
		d->stuck_usec = now->monotonic_usec;
		evidence_number(&evidence, "sweep", d->running_number);
		evidence_number(&evidence, "running_usec", age);
		if (usual > 0)
			evidence_number(&evidence, "usual_usec", usual);
		evidence_number(&evidence, "limit_usec", limit);
		report(d, DETECT_SWEEP_STUCK, subject, 0, &evidence, now,
		       "sweep %" PRIu64 " has been running for %" PRIu64
		       " s, and the subnet is not up",
		       d->running_number, SECONDS(age));
		return;
	}
	/* Restored: the time starts now. */
	if (d->stuck_usec == 0)
		d->stuck_usec = now->monotonic_usec;
	if (detect_age_usec(now, d->stuck_usec) >= d->config.stuck_clear_usec)
		alert_set_clear(d->alerts, DETECT_SWEEP_STUCK, &subject, now);
}

/* ---- slow ---- */

/* Against the sweeps before it; so before it is added to them. */
static void measure(struct detect_sweep *d, const struct sweep_sample *sample)
{
	uint64_t median, mad;
	double limit;

	if (!sweep_sample_is_usual(sample) ||
	    sweep_stats_usual(&d->stats, d->config.usual_window, &median, &mad) <
		    d->config.usual_min)
		return;
	limit = (double)median + d->config.slow_deviations * MAD_TO_DEVIATION * (double)mad;
	if (limit < d->config.slow_factor * (double)median)
		limit = d->config.slow_factor * (double)median;
	if (limit < (double)d->config.slow_min_usec)
		limit = (double)d->config.slow_min_usec;
	if ((double)sample->duration_usec <= limit) {
		d->usual_run++;
		d->slow_run = 0;
		return;
	}
	d->slow_run++;
	d->usual_run = 0;
	d->slow_realtime_usec = sample->start_realtime_usec;
	d->new_slow++;
	d->slowest = *sample;
	d->slow_median_usec = median;
	d->slow_mad_usec = mad;
	d->slow_limit_usec = (uint64_t)limit;
}

/* The phase that took most of what was too much, or NULL: nothing to compare with. */
static const char *slowest_phase(const struct detect_sweep *d, const struct detect_time *now)
{
	struct sweep_summary summary;
	uint64_t most = 0;
	const char *name = NULL;

	sweep_stats_summary(&d->stats, 24 * DETECT_USEC_PER_HOUR, now, &summary);
	for (int i = 0; i < STORY_PHASES; i++) {
		uint64_t took = d->slowest.phase_usec[i];

		if (took == SWEEP_DURATION_UNKNOWN || summary.phases[i].samples == 0 ||
		    took <= summary.phases[i].median_usec ||
		    took - summary.phases[i].median_usec <= most)
			continue;
		most = took - summary.phases[i].median_usec;
		name = story_phase_name((enum story_phase)i);
	}
	return name;
}

static void report_slow(struct detect_sweep *d, struct alert_subject subject,
			const struct detect_time *now)
{
	static const char *const phase_fields[STORY_PHASES] = {
		[STORY_DISCOVERY] = "discovery_usec",
		[STORY_ROUTING] = "routing_usec",
		[STORY_SETUP] = "setup_usec",
	};
	const char *phase = slowest_phase(d, now);
	struct evidence evidence = {0};

	evidence_number(&evidence, "sweep", d->slowest.number);
	evidence_number(&evidence, "duration_usec", d->slowest.duration_usec);
	evidence_number(&evidence, "median_usec", d->slow_median_usec);
	evidence_number(&evidence, "mad_usec", d->slow_mad_usec);
	evidence_number(&evidence, "limit_usec", d->slow_limit_usec);
	evidence_text(&evidence, "phase", phase);
	for (int i = 0; i < STORY_PHASES; i++)
		if (d->slowest.phase_usec[i] != SWEEP_DURATION_UNKNOWN)
			evidence_number(&evidence, phase_fields[i], d->slowest.phase_usec[i]);
	if (d->nodes.count > 0)
		evidence_number(&evidence, "silent_nodes", d->nodes.count);
	report(d, DETECT_SWEEP_SLOW, subject, d->new_slow, &evidence, now,
	       "heavy sweeps are slow: the last one took %" PRIu64 " ms, usual are %" PRIu64
	       " ms%s%s",
	       MILLISECONDS(d->slowest.duration_usec), MILLISECONDS(d->slow_median_usec),
	       phase ? "; most of it in " : "", phase ? phase : "");
}

static void judge_slow(struct detect_sweep *d, const struct detect_time *now)
{
	struct alert_subject subject = alert_subject_word(SUBNET);
	bool open = alert_set_find(d->alerts, DETECT_SWEEP_SLOW, &subject) != NULL;
	uint64_t age = now->realtime_usec > d->slow_realtime_usec
			       ? now->realtime_usec - d->slow_realtime_usec
			       : 0;

	if (d->usual_run >= d->config.slow_sweeps || age >= d->config.slow_clear_usec)
		alert_set_clear(d->alerts, DETECT_SWEEP_SLOW, &subject, now);
	/* After a restart the figures are gone, and the alert stays as it was restored. */
	else if (d->new_slow > 0 && (open || d->slow_run >= d->config.slow_sweeps))
		report_slow(d, subject, now);
	d->new_slow = 0;
}

/* ---- traps ---- */

static void report_flood(struct detect_sweep *d, const struct trap_sender *sender,
			 const struct detect_time *now)
{
	const struct trap_port *port = trap_sender_port(sender);
	struct alert_subject subject = alert_subject_guid(sender->node_guid, sender->name);
	struct evidence evidence = {0};
	char at[32] = "";

	if (sender->node_guid == 0)
		snprintf(subject.key, sizeof(subject.key), "lid-%u", sender->lid);
	if (port)
		snprintf(at, sizeof(at), ", mostly about port %u", port->port);
	add_sender(&evidence, sender);
	evidence_number(&evidence, "traps", sender->count);
	evidence_real(&evidence, "penalty",
		      damper_penalty(&sender->damper, &d->config.flood, now->monotonic_usec));
	evidence_real(&evidence, "reuse", d->config.flood.reuse);
	report(d, DETECT_TRAP_FLOOD, subject, 0, &evidence, now,
	       "%s keeps sending traps, the last one %u (%s)%s", SENDER_LABEL(sender),
	       sender->last_number, trap_name(sender->last_number), at);
}

static void judge_flood(struct detect_sweep *d, const struct detect_time *now)
{
	alert_set_begin(d->alerts, DETECT_TRAP_FLOOD);
	for (size_t i = 0; i < d->traps.sender_count; i++) {
		struct trap_sender *sender = &d->traps.senders[i];

		damper_update(&sender->damper, &d->config.flood, now->monotonic_usec);
		if (sender->damper.tripped)
			report_flood(d, sender, now);
	}
	alert_set_end(d->alerts, DETECT_TRAP_FLOOD, now);
}

/* ---- silent nodes ---- */

static void report_silent(struct detect_sweep *d, const struct node_suspect *suspect,
			  struct alert_subject subject, const struct detect_time *now)
{
	uint64_t sec = SECONDS(detect_age_usec(now, suspect->since_usec));
	struct evidence evidence = {0};

	evidence_number(&evidence, "since_realtime_usec", suspect->since_realtime_usec);
	evidence_number(&evidence, "snapshots", suspect->snapshots);
	if (suspect->port == 0) {
		evidence_guid(&evidence, "node", suspect->node_guid);
		evidence_text(&evidence, "node_name", suspect->name);
		report(d, DETECT_NODE_UNRESPONSIVE, subject, 0, &evidence, now,
		       "%s has not been reached by opensm for %" PRIu64 " s", suspect->name, sec);
		return;
	}
	evidence_guid(&evidence, "node", suspect->was_guid);
	evidence_text(&evidence, "node_name", suspect->was_name);
	evidence_guid(&evidence, "behind", suspect->node_guid);
	evidence_text(&evidence, "behind_name", suspect->name);
	evidence_number(&evidence, "behind_port", suspect->port);
	if (suspect->was_guid != 0)
		report(d, DETECT_NODE_UNRESPONSIVE, subject, 0, &evidence, now,
		       "%s at %s port %u has not answered for %" PRIu64 " s, though the link is up",
		       suspect->was_name, suspect->name, suspect->port, sec);
	else
		report(d, DETECT_NODE_UNRESPONSIVE, subject, 0, &evidence, now,
		       "nobody has answered at %s port %u for %" PRIu64 " s, though the link is up",
		       suspect->name, suspect->port, sec);
}

static void judge_silent(struct detect_sweep *d, const struct detect_time *now)
{
	/* No fabric yet: nothing is known. */
	if (!d->nodes.before)
		return;
	alert_set_begin(d->alerts, DETECT_NODE_UNRESPONSIVE);
	for (size_t i = 0; i < d->nodes.count; i++) {
		const struct node_suspect *suspect = &d->nodes.suspects[i];
		struct alert_subject subject =
			alert_subject_guid(suspect->node_guid, suspect->name);

		subject.port = suspect->port;
		/* One that was restored goes on as it was. */
		if (detect_age_usec(now, suspect->since_usec) >= d->config.unresponsive_usec ||
		    alert_set_find(d->alerts, DETECT_NODE_UNRESPONSIVE, &subject))
			report_silent(d, suspect, subject, now);
	}
	alert_set_end(d->alerts, DETECT_NODE_UNRESPONSIVE, now);
}

/* ---- inputs ---- */

static bool was_counted(struct detect_sweep *d, uint64_t number)
{
	for (size_t i = 0; i < STORY_AMENDABLE; i++)
		if (d->ended[i] == number)
			return true;
	d->ended[d->ended_next] = number;
	d->ended_next = (d->ended_next + 1) % STORY_AMENDABLE;
	return false;
}

static void take_story(struct detect_sweep *d, const struct story *story,
		       const struct detect_time *now)
{
	struct sweep_sample sample;

	count_for_storm(d, story, now);
	if (story->result == STORY_RUNNING) {
		d->running = true;
		d->running_number = story->number;
		d->running_usec = story->start_monotonic_usec < now->monotonic_usec
					  ? story->start_monotonic_usec
					  : now->monotonic_usec;
		return;
	}
	if (was_counted(d, story->number))
		return;
	if (!d->running || d->running_number <= story->number)
		d->running = false;
	sweep_sample_from_story(story, &sample);
	measure(d, &sample);
	sweep_stats_add(&d->stats, &sample);
}

void detect_sweep_input(struct detect_sweep *d, const struct detect_sweep_input *input)
{
	const struct detect_time *now = &input->now;
	struct trap_sender *sender;

	switch (input->type) {
	case DETECT_SWEEP_TICK:
		break;
	case DETECT_SWEEP_STORY:
		take_story(d, input->story, now);
		break;
	case DETECT_SWEEP_LOST:
		d->running = false;
		break;
	case DETECT_SWEEP_TRAP:
		trap_stats_add(&d->traps, &input->trap, &d->config.flood, now, &sender);
		break;
	case DETECT_SWEEP_FABRIC:
		node_watch_fabric(&d->nodes, input->fabric, now);
		break;
	case DETECT_SWEEP_LINK_CHANGED:
		trap_stats_link_changed(&d->traps, input->link.node_guid, input->link.port);
		break;
	}
	damper_update(&d->storm, &d->config.storm, now->monotonic_usec);
	judge_storm(d, now);
	judge_stuck(d, now);
	judge_slow(d, now);
	judge_flood(d, now);
	judge_silent(d, now);
}

/* ---- what is known ---- */

const struct sweep_stats *detect_sweep_stats(const struct detect_sweep *d)
{
	return &d->stats;
}

const struct trap_stats *detect_sweep_traps(const struct detect_sweep *d)
{
	return &d->traps;
}

const struct node_watch *detect_sweep_nodes(const struct detect_sweep *d)
{
	return &d->nodes;
}

void detect_sweep_save(const struct detect_sweep *d, const struct detect_time *now,
		       struct detect_sweep_saved *ret)
{
	*ret = (struct detect_sweep_saved){
		.slow_run = d->slow_run,
		.usual_run = d->usual_run,
		.slow_realtime_usec = d->slow_realtime_usec,
	};
	damper_save(&d->storm, &d->config.storm, now->monotonic_usec, now->realtime_usec,
		    &ret->storm);
}

size_t detect_sweep_load(struct detect_sweep *d, const struct detect_sweep_saved *saved,
			 const struct sweep_sample *samples, size_t count,
			 const uint64_t total[static STORY_RESULTS], const struct trap_stats *traps,
			 const struct detect_time *now)
{
	damper_load(&saved->storm, &d->config.storm, now->monotonic_usec, now->realtime_usec,
		    &d->storm);
	d->slow_run = saved->slow_run;
	d->usual_run = saved->usual_run;
	d->slow_realtime_usec = saved->slow_realtime_usec;
	if (traps)
		trap_stats_load(traps, &d->config.flood, now, &d->traps);
	return sweep_stats_load(&d->stats, samples, count, total, now);
}
