// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// ibsmctl events: what happened in the fabric, and what happens now.
#include "ctl/client.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/json.h"
#include "ctl/text.h"

#define FOLLOW_COUNT_DEFAULT 10

static enum style severity_style(const char *severity)
{
	if (strcmp(severity, "critical") == 0)
		return STYLE_RED;
	if (strcmp(severity, "warning") == 0)
		return STYLE_YELLOW;
	return strcmp(severity, "notice") == 0 ? STYLE_BOLD : STYLE_NONE;
}

static void print_event(struct output *out, const json_t *event)
{
	char time[TEXT_BYTES];

	output_add(out, STYLE_NONE, "%s %6" PRIu64 "  ",
		   text_time(time, json_count_at(event, "realtime_usec"), out->full),
		   json_count_at(event, "number"));
	output_add(out, severity_style(json_text_at(event, "severity")), "%-20s",
		   json_text_at(event, "kind"));
	output_add(out, STYLE_NONE, "  %s", json_text_at(event, "message"));
	if (out->full) {
		ctl_print_ends(out, json_at(event, "ends"));
		if (json_at(event, "sweep"))
			output_add(out, STYLE_GREY, " (sweep %" PRIu64 ")",
				   json_count_at(event, "sweep"));
	}
	output_end(out);
}

struct print {
	struct ctl *ctl;
	bool begun;
};

/* Not before ibsmd has answered: an error leaves nothing on standard output. */
static void begin(struct print *print)
{
	struct ctl *ctl = print->ctl;

	if (print->begun)
		return;
	print->begun = true;
	if (ctl->follow)
		return;
	if (ctl->page)
		output_start_pager(&ctl->out);
	if (ctl->out.json != JSON_OFF)
		output_json_begin(&ctl->out, "events");
}

static int print_reply(void *userdata, const json_t *reply)
{
	struct print *print = userdata;
	struct ctl *ctl = print->ctl;
	uint64_t missed = json_count_at(reply, "missed");
	const json_t *event;
	size_t i;

	begin(print);
	if (missed > 0)
		ctl_error(ctl, "%" PRIu64 " events are missing here: ibsmd no longer has them",
			  missed);
	json_array_foreach (json_at(reply, "events"), i, event) {
		if (ctl->out.json == JSON_OFF)
			print_event(&ctl->out, event);
		else if (ctl->follow)
			output_json(&ctl->out, event);
		else
			output_json_item(&ctl->out, event);
	}
	return ctl->follow ? output_flush(&ctl->out) : -ctl->out.error;
}

static json_t *event_parameters(const struct ctl *ctl)
{
	uint64_t count = ctl->count;

	if (count == 0 && ctl->follow && ctl->after == 0)
		count = FOLLOW_COUNT_DEFAULT;
	if (count == CTL_COUNT_ALL)
		count = 0;
	return json_pack("{s:o*, s:o*, s:s*, s:s*, s:o*}", "count",
			 count ? json_integer((json_int_t)count) : NULL, "after",
			 ctl->after ? json_integer((json_int_t)ctl->after) : NULL, "kind",
			 ctl->kind, "node", ctl->node, "follow", ctl->follow ? json_true() : NULL);
}

int verb_events(struct ctl *ctl, int n_args, char **args)
{
	struct print print = {.ctl = ctl};
	json_t *parameters = event_parameters(ctl);
	int r;

	(void)n_args;
	(void)args;
	ctl->out.columns = 0; /* one event is one line, however long */
	if (ctl->follow)
		r = client_follow(ctl, "ListEvents", parameters, print_reply, &print);
	else
		r = client_more(ctl, "ListEvents", parameters, print_reply, &print);
	if (r == 0 && !ctl->follow && ctl->out.json != JSON_OFF)
		output_json_end(&ctl->out);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
