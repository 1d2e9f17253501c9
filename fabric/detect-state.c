// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Findings that follow from the present state alone: is the plugin there, did the last sweep work.
#include "fabric/detect-state.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "fabric/lft-ranges.h"

#define USEC_PER_SEC UINT64_C(1000000)

__attribute__((format(printf, 5, 6))) static struct finding *begin(struct finding *finding,
								   enum finding_kind kind,
								   enum finding_severity severity,
								   const char *subject,
								   const char *format, ...)
{
	va_list args;

	*finding = (struct finding){.kind = kind, .severity = severity};
	snprintf(finding->subject, sizeof(finding->subject), "%s", subject);
	va_start(args, format);
	vsnprintf(finding->message, sizeof(finding->message), format, args);
	va_end(args);
	return finding;
}

static struct finding_evidence *add(struct finding *finding, const char *name,
				    enum finding_evidence_type type, uint64_t number)
{
	struct finding_evidence *evidence = &finding->evidence[finding->n_evidence++];

	*evidence = (struct finding_evidence){.name = name, .type = type, .number = number};
	return evidence;
}

static bool plugin_lost(const struct detect_state_input *in, struct finding *ret)
{
	uint64_t seconds = in->plugin_silent_usec / USEC_PER_SEC;

	if (in->plugin_silent_usec < in->plugin_timeout_usec)
		return false;
	if (in->plugin_connected)
		begin(ret, FINDING_PLUGIN_LOST, FINDING_WARNING, "plugin",
		      "the plugin is connected, but has not been heard for %" PRIu64
		      " s: is opensm stopped?",
		      seconds);
	else
		begin(ret, FINDING_PLUGIN_LOST, FINDING_WARNING, "plugin",
		      "no opensm with the plugin has been connected for %" PRIu64 " s%s", seconds,
		      in->fabric ? ": what is known of the fabric is that old" : "");
	add(ret, "silent_usec", FINDING_NUMBER, in->plugin_silent_usec);
	return true;
}

/* A sweep that ends well right after one that failed says little: opensm retries at once, and the
 * next may fail again. */
static bool sweep_failed(const struct detect_state_input *in, struct finding *ret)
{
	const struct story *story = in->failed;

	if (!story || (in->ended != story && in->failed_ago_usec >= in->failed_clear_usec))
		return false;
	if (story->result == STORY_UP_WITH_ERRORS)
		begin(ret, FINDING_SWEEP_FAILED, FINDING_WARNING, "subnet",
		      "sweep %" PRIu64 " brought the subnet up, but with errors%s%s", story->number,
		      story->result_text ? ": " : "", story->result_text ?: "");
	else
		begin(ret, FINDING_SWEEP_FAILED,
		      story->result == STORY_ROUTING_FAILED ? FINDING_CRITICAL : FINDING_WARNING,
		      "subnet", "sweep %" PRIu64 " failed: %s", story->number,
		      story->result_text ?: story_result_name(story->result));
	ret->occurrence = story->number;
	add(ret, "sweep", FINDING_NUMBER, story->number);
	add(ret, "result", FINDING_TEXT, 0)->texts[0] = story_result_name(story->result);
	return true;
}

static bool engine_fallback(const struct detect_state_input *in, struct finding *ret)
{
	struct finding_evidence *asked;
	const struct snapshot *snapshot;
	const char *used;

	if (!in->fabric || !fabric_routing_fell_back(in->fabric))
		return false;
	snapshot = in->fabric->snapshot;
	used = fabric_engine_used(in->fabric) ?: "";
	begin(ret, FINDING_ROUTING_ENGINE_FALLBACK, FINDING_WARNING, "subnet",
	      "routing engine %.32s is in use, since those that were asked for failed", used);
	add(ret, "engine_used", FINDING_TEXT, 0)->texts[0] = used;
	asked = add(ret, "engines_configured", FINDING_LIST, 0);
	for (uint32_t i = 0; i < snapshot_engines(snapshot); i++) {
		const struct ibsm_snap_engine *engine = snapshot_engine(snapshot, i);

		if (engine->flags & IBSM_ENGINE_ASKED && asked->number < FINDING_LIST_MAX)
			asked->texts[asked->number++] = snapshot_string(snapshot, engine->name);
	}
	return true;
}

static bool lft_mismatch(const struct detect_state_input *in, struct finding *ret)
{
	struct finding_evidence *switches, *lids;
	const struct snapshot *snapshot;
	uint32_t count, first_lids = 0;

	if (!in->fabric || !fabric_counts(in->fabric)->lft_mismatches)
		return false;
	snapshot = in->fabric->snapshot;
	count = fabric_counts(in->fabric)->lft_mismatches;
	begin(ret, FINDING_LFT_MISMATCH, FINDING_WARNING, "subnet", "%s", "");
	ret->occurrence = snapshot->header.generation;
	add(ret, "switches_total", FINDING_NUMBER, count);
	switches = add(ret, "switches", FINDING_LIST, 0);
	lids = add(ret, "lids", FINDING_LIST, 0);
	for (uint32_t i = 0; i < snapshot_switches(snapshot) && switches->number < FINDING_LIST_MAX;
	     i++) {
		const struct ibsm_snap_switch *sw = snapshot_switch(snapshot, i);
		uint64_t n = switches->number;
		uint32_t differ;

		if (!snapshot_new_lft(snapshot, sw))
			continue;
		differ = lft_ranges(in->fabric, sw, ret->made[n], sizeof(ret->made[n]));
		if (n == 0)
			first_lids = differ;
		lids->texts[n] = ret->made[n];
		switches->texts[n] = fabric_node_name(in->fabric, sw->node);
		switches->number = lids->number = n + 1;
	}
	if (count == 1 && switches->number)
		snprintf(ret->message, sizeof(ret->message),
			 "%s did not acknowledge the forwarding table that opensm computed, for "
			 "%" PRIu32 " LID%s: %s",
			 switches->texts[0], first_lids, first_lids == 1 ? "" : "s",
			 lids->texts[0]);
	else
		snprintf(ret->message, sizeof(ret->message),
			 "%" PRIu32 " switches did not acknowledge the forwarding tables that "
			 "opensm computed, the first one %s, for LIDs %s",
			 count, switches->number ? switches->texts[0] : "unknown",
			 lids->number ? lids->texts[0] : "unknown");
	return true;
}

static bool events_dropped(const struct detect_state_input *in, struct finding *ret)
{
	if (!in->dropped || in->dropped_ago_usec >= in->drops_clear_usec)
		return false;
	begin(ret, FINDING_EVENTS_DROPPED, FINDING_WARNING, "plugin",
	      "the plugin dropped records, the last ones %" PRIu64
	      " s ago: what is told of that time has gaps",
	      in->dropped_ago_usec / USEC_PER_SEC);
	ret->occurrence = in->dropped;
	add(ret, "dropped", FINDING_NUMBER, in->dropped);
	return true;
}

size_t detect_state(const struct detect_state_input *input,
		    struct finding ret[static FINDING_KINDS])
{
	static bool (*const detectors[FINDING_KINDS])(const struct detect_state_input *,
						      struct finding *) = {
		[FINDING_PLUGIN_LOST] = plugin_lost,
		[FINDING_SWEEP_FAILED] = sweep_failed,
		[FINDING_ROUTING_ENGINE_FALLBACK] = engine_fallback,
		[FINDING_LFT_MISMATCH] = lft_mismatch,
		[FINDING_EVENTS_DROPPED] = events_dropped,
	};
	size_t n = 0;

	for (size_t i = 0; i < FINDING_KINDS; i++)
		if (detectors[i](input, &ret[n]))
			n++;
	return n;
}

unsigned int detect_state_judged(const struct detect_state_input *in)
{
	unsigned int judged = 0;

	if (in->plugin_connected || in->plugin_silent_usec >= in->plugin_timeout_usec)
		judged |= 1u << FINDING_PLUGIN_LOST;
	if (in->ended && (in->failed || in->up_usec >= in->failed_clear_usec))
		judged |= 1u << FINDING_SWEEP_FAILED;
	if (in->fabric)
		judged |= 1u << FINDING_ROUTING_ENGINE_FALLBACK | 1u << FINDING_LFT_MISMATCH;
	if (in->dropped || in->up_usec >= in->drops_clear_usec)
		judged |= 1u << FINDING_EVENTS_DROPPED;
	return judged;
}
