// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// ibsmctl sweeps, sweep: opensm's sweeps, and the story of one.
#include "ctl/client.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/json.h"
#include "ctl/text.h"
#include "util/cleanup.h"

static enum style result_style(const json_t *sweep)
{
	const char *result = json_text_at(sweep, "result");

	if (strcmp(result, "up") == 0)
		return STYLE_GREEN;
	if (strcmp(result, "routing-failed") == 0)
		return STYLE_RED;
	if (strcmp(result, "up-with-errors") == 0 || strcmp(result, "aborted") == 0)
		return STYLE_YELLOW;
	return STYLE_NONE;
}

static const struct table_column sweep_columns[] = {
	{.title = "SWEEP", .path = "number", .kind = TABLE_NUMBER},
	{.title = "START", .path = "start_realtime_usec", .kind = TABLE_TIME},
	{.title = "TYPE", .path = "type", .flags = TABLE_FULL},
	{.title = "CAUSE", .path = "cause", .flags = TABLE_CUT},
	{.title = "DURATION", .path = "duration_usec", .kind = TABLE_DURATION},
	{.title = "CHANGES", .path = "changes", .kind = TABLE_NUMBER},
	{.title = "BLOCKS", .path = "lft_blocks", .kind = TABLE_NUMBER},
	{.title = "SWITCHES", .path = "lft_switches", .kind = TABLE_NUMBER, .flags = TABLE_FULL},
	{.title = "ENGINE", .path = "engine_used", .flags = TABLE_FULL},
	{.title = "SM GUID", .path = "sm_guid", .flags = TABLE_FULL},
	{.title = "RESULT", .path = "result", .style = result_style, .flags = TABLE_CUT},
};

int verb_sweeps(struct ctl *ctl, int n_args, char **args)
{
	static const struct client_list list = {
		.method = "ListSweeps",
		.member = "sweeps",
		.noun = "sweep",
		.columns = sweep_columns,
		.n_columns = ELEMENTSOF(sweep_columns),
	};
	uint64_t count = ctl->count == CTL_COUNT_ALL ? 0 : ctl->count;

	(void)n_args;
	(void)args;
	if (ctl->stats)
		return verb_sweep_stats(ctl);
	return client_print_list(
		ctl, &list,
		json_pack("{s:o*}", "count", count ? json_integer((json_int_t)count) : NULL), NULL);
}

static const char *ending(const char *result)
{
	static const struct {
		const char *result, *sentence;
	} endings[] = {
		{"up", "The subnet is up"},
		{"up-with-errors", "The subnet is up, but with errors"},
		{"routing-failed", "Every routing engine failed"},
		{"aborted", "It was aborted"},
		{"handed-over", "The subnet was handed over to another SM"},
		{"running", "It is still running"},
		{"unknown", "Its end was not seen"},
	};

	for (size_t i = 0; i < ELEMENTSOF(endings); i++) {
		if (strcmp(endings[i].result, result) == 0)
			return endings[i].sentence;
	}
	return result;
}

/* The full stop that @text lacks. */
static const char *full_stop(const char *text)
{
	size_t length = strlen(text);

	return length > 0 && text[length - 1] == '.' ? "" : ".";
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static void tell(struct output *out, const json_t *sweep)
{
	char time[TEXT_BYTES], duration[TEXT_BYTES];
	const char *cause = json_text_at(sweep, "cause_text");
	const char *result = json_text_at(sweep, "result");
	const char *reason = json_string_at(sweep, "result_text");
	const char *engine = json_string_at(sweep, "engine_used");
	uint64_t changes = json_count_at(sweep, "changes");
	uint64_t blocks = json_count_at(sweep, "lft_blocks");
	uint64_t switches = json_count_at(sweep, "lft_switches");

	output_line(out, STYLE_BOLD, "Sweep %" PRIu64 " (%s), %s", json_count_at(sweep, "number"),
		    json_text_at(sweep, "type"),
		    text_time(time, json_count_at(sweep, "start_realtime_usec"), out->full));
	if (*cause)
		output_line(out, STYLE_NONE, "Cause: %s%s", cause, full_stop(cause));
	if (json_at(sweep, "duration_usec"))
		output_add(out, STYLE_NONE, "It took %s and found ",
			   text_duration(duration, json_count_at(sweep, "duration_usec")));
	else
		output_add(out, STYLE_NONE, "So far it has found ");
	if (changes > 0)
		output_add(out, STYLE_NONE, "%" PRIu64 " change%s; ", changes, plural(changes));
	else
		output_add(out, STYLE_NONE, "no change; ");
	if (blocks > 0)
		output_add(out, STYLE_NONE,
			   "%" PRIu64 " LFT block%s on %" PRIu64 " switch%s %s rewritten", blocks,
			   plural(blocks), switches, switches == 1 ? "" : "es",
			   blocks == 1 ? "was" : "were");
	else
		output_add(out, STYLE_NONE, "opensm reported no LFT block rewritten");
	if (engine)
		output_add(out, STYLE_NONE, " (%s)", engine);
	output_line(out, STYLE_NONE, ".");
	output_add(out, result_style(sweep), "%s", ending(result));
	if (reason)
		output_add(out, result_style(sweep), ": %s", reason);
	output_line(out, STYLE_NONE, "%s", reason ? full_stop(reason) : ".");
}

/* One line of the timeline. */
struct moment {
	uint64_t realtime_usec;
	size_t order;		     /* of those at the same time */
	const json_t *cause, *phase; /* either, or neither for the end */
};

static int compare_moments(const void *a, const void *b)
{
	const struct moment *m = a, *n = b;

	if (m->realtime_usec != n->realtime_usec)
		return m->realtime_usec < n->realtime_usec ? -1 : 1;
	return m->order < n->order ? -1 : m->order > n->order;
}

static void print_moment(struct output *out, const struct moment *moment, const json_t *sweep)
{
	char buffer[TEXT_BYTES];

	output_add(out, STYLE_NONE, "    %s  ", text_time_of_day(buffer, moment->realtime_usec));
	if (moment->cause) {
		output_add(out, STYLE_NONE, "%s", json_text_at(moment->cause, "text"));
	} else if (moment->phase) {
		bool ended = json_at(moment->phase, "duration_usec");

		output_add(
			out, STYLE_NONE, "%s: %s", json_text_at(moment->phase, "name"),
			ended ? text_duration(buffer, json_count_at(moment->phase, "duration_usec"))
			      : "not ended");
	} else {
		output_add(out, result_style(sweep), "%s", json_text_at(sweep, "result"));
	}
	output_end(out);
}

static int print_timeline(struct output *out, const json_t *sweep, const json_t *story)
{
	const json_t *causes = json_at(story, "causes"), *phases = json_at(story, "phases"), *item;
	size_t n_causes = json_array_size(causes), n_phases = json_array_size(phases), n = 0, i;
	_cleanup_free_ struct moment *moments = calloc(n_causes + n_phases + 1, sizeof(*moments));

	if (!moments)
		return output_fail(out, ENOMEM);
	json_array_foreach (causes, i, item) {
		moments[n] = (struct moment){
			.realtime_usec = json_count_at(item, "realtime_usec"),
			.order = n,
			.cause = item,
		};
		n++;
	}
	json_array_foreach (phases, i, item) {
		moments[n] = (struct moment){
			.realtime_usec = json_count_at(item, "start_realtime_usec"),
			.order = n,
			.phase = item,
		};
		n++;
	}
	if (json_at(sweep, "duration_usec")) {
		moments[n] = (struct moment){
			.realtime_usec = json_count_at(sweep, "start_realtime_usec") +
					 json_count_at(sweep, "duration_usec"),
			.order = n,
		};
		n++;
	}
	qsort(moments, n, sizeof(*moments), compare_moments);
	output_line(out, STYLE_NONE, "  Timeline");
	for (i = 0; i < n; i++)
		print_moment(out, &moments[i], sweep);
	return 0;
}

static void print_changes(struct output *out, const json_t *story)
{
	const json_t *changes = json_at(story, "changes"), *event;
	uint64_t rest = json_count_at(story, "changes_not_listed");
	size_t i;

	if (json_array_size(changes) == 0)
		return;
	output_line(out, STYLE_NONE, "  Changes");
	json_array_foreach (changes, i, event) {
		output_add(out, STYLE_NONE, "    %-20s  %s", json_text_at(event, "kind"),
			   json_text_at(event, "message"));
		if (out->full)
			ctl_print_ends(out, json_at(event, "ends"));
		output_end(out);
	}
	if (rest > 0)
		output_line(out, STYLE_NONE, "    and %" PRIu64 " more", rest);
}

static void print_rewrites(struct output *out, const json_t *story)
{
	const json_t *lft = json_at(story, "lft"), *item;
	uint64_t rest = json_count_at(story, "lft_not_listed");
	size_t i;

	if (json_array_size(lft) == 0)
		return;
	output_line(out, STYLE_NONE, "  LFT blocks rewritten");
	json_array_foreach (lft, i, item) {
		output_add(out, STYLE_NONE, "    %6" PRIu64 "  %s", json_count_at(item, "blocks"),
			   json_text_at(item, "name"));
		if (out->full)
			output_add(out, STYLE_GREY, " [%s]", json_text_at(item, "guid"));
		output_end(out);
	}
	if (rest > 0)
		output_line(out, STYLE_NONE, "    and on %" PRIu64 " more switch%s", rest,
			    rest == 1 ? "" : "es");
}

int verb_sweep(struct ctl *ctl, int n_args, char **args)
{
	struct output *out = &ctl->out;
	json_t *parameters = json_object(), *reply;
	const json_t *sweep, *story;
	uint64_t number;
	int r;

	if (n_args > 0) {
		if (!ctl_parse_number(args[0], &number)) {
			ctl_error(ctl, "\"%s\" is no number of a sweep", args[0]);
			json_decref(parameters);
			return EXIT_USAGE;
		}
		json_object_set_new(parameters, "number", json_integer((json_int_t)number));
	}
	r = client_call(ctl, "GetSweep", parameters, &reply);
	if (r < 0)
		return EXIT_FAILURE;
	if (out->json != JSON_OFF) {
		output_json(out, reply);
		json_decref(reply);
		return EXIT_SUCCESS;
	}
	if (ctl->page)
		output_start_pager(out);
	out->columns = 0; /* a story is not cut short */
	sweep = json_at(reply, "sweep");
	story = json_at(reply, "story");
	tell(out, sweep);
	r = print_timeline(out, sweep, story);
	print_changes(out, story);
	print_rewrites(out, story);
	json_decref(reply);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
