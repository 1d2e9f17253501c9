// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// ibsmctl silence, unsilence, silences, ack: what operators say of alerts.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/alert.h"
#include "ctl/client.h"
#include "ctl/json.h"
#include "ctl/text.h"
#include "util/cleanup.h"

#define ID_DIGITS_MIN 6
#define ID_DIGITS_MAX 16
#define KINDS_MAX 256

/* The kinds of alerts that ibsmd knows: borrowed from the reply. */
struct kinds {
	json_t *reply;
	const char *names[KINDS_MAX + 1]; /* NULL behind the last one */
};

static int get_kinds(struct ctl *ctl, struct kinds *ret)
{
	const json_t *kind;
	size_t i;
	int r;

	*ret = (struct kinds){0};
	r = client_call(ctl, "ListAlertKinds", json_object(), &ret->reply);
	if (r < 0)
		return r;
	json_array_foreach (json_at(ret->reply, "kinds"), i, kind)
		if (i < KINDS_MAX)
			ret->names[i] = json_text_at(kind, "kind");
	return 0;
}

static bool is_kind(const struct kinds *kinds, const char *word)
{
	for (size_t i = 0; kinds->names[i]; i++)
		if (strcmp(kinds->names[i], word) == 0)
			return true;
	return false;
}

/* A GUID begins with 0x, an id does not. */
static bool is_id(const char *word)
{
	size_t digits = strspn(word, "0123456789abcdef");

	return digits >= ID_DIGITS_MIN && digits <= ID_DIGITS_MAX && !word[digits];
}

/* What a word means: with --kind= it is the subject, else a kind where there is one of that name.
 */
static json_t *words(const struct ctl *ctl, const struct kinds *kinds, const char *word)
{
	bool kind = !ctl->kind && is_kind(kinds, word);

	return json_pack("{s:s, s:s*, s:s*}", "reason", ctl->reason, "kind",
			 kind ? word : ctl->kind, "subject", kind ? NULL : word);
}

/* "sm-lost", "leaf01*", "sm-lost of leaf01*" */
static void print_what(struct output *out, const json_t *silence)
{
	const char *kind = json_text_at(silence, "kind"),
		   *subject = json_text_at(silence, "subject");

	output_add(out, STYLE_BOLD, "%s%s%s", kind, *kind && *subject ? " of " : "", subject);
}

static void print_silence(struct output *out, const json_t *reply, const struct kinds *kinds)
{
	const json_t *silence = json_at(reply, "silence");
	const char *subject = json_string_at(silence, "subject"), *nearest;
	uint64_t matches = json_count_at(reply, "matches");
	char time[TEXT_BYTES];

	out->columns = 0;
	output_add(out, STYLE_NONE, "silence %" PRIu64 ": ", json_count_at(silence, "id"));
	print_what(out, silence);
	output_add(out, STYLE_NONE, " until %s; %" PRIu64 " of the open alerts",
		   text_time(time, json_count_at(silence, "until_realtime_usec"), out->full),
		   matches);
	nearest = subject && !matches ? text_nearest(subject, kinds->names) : NULL;
	if (nearest)
		output_add(out, STYLE_YELLOW, "; did you mean the kind \"%s\"?", nearest);
	output_end(out);
}

int verb_silence(struct ctl *ctl, int n_args, char **args)
{
	json_t *parameters, *reply;
	struct kinds kinds;
	int r;

	(void)n_args;
	r = get_kinds(ctl, &kinds);
	if (r < 0)
		return EXIT_FAILURE;
	parameters = words(ctl, &kinds, args[0]);
	json_object_set_new(parameters, "for_usec", json_integer((json_int_t)ctl->for_usec));
	r = client_call(ctl, "Silence", parameters, &reply);
	if (r == 0) {
		if (ctl->out.json != JSON_OFF)
			output_json(&ctl->out, reply);
		else
			print_silence(&ctl->out, reply, &kinds);
		json_decref(reply);
	}
	json_decref(kinds.reply);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

int verb_unsilence(struct ctl *ctl, int n_args, char **args)
{
	json_t *reply;
	uint64_t id;

	(void)n_args;
	if (!ctl_parse_number(args[0], &id)) {
		ctl_error(ctl, "\"%s\" is no number of a silence: see ibsmctl silences", args[0]);
		return EXIT_USAGE;
	}
	if (client_call(ctl, "Unsilence", json_pack("{s:I}", "id", (json_int_t)id), &reply) < 0)
		return EXIT_FAILURE;
	if (ctl->out.json != JSON_OFF) {
		output_json(&ctl->out, reply);
	} else {
		output_add(&ctl->out, STYLE_NONE, "silence %" PRIu64 " of ", id);
		print_what(&ctl->out, json_at(reply, "silence"));
		output_line(&ctl->out, STYLE_NONE, " is over");
	}
	json_decref(reply);
	return EXIT_SUCCESS;
}

static const struct table_column columns[] = {
	{.title = "ID", .path = "id", .kind = TABLE_NUMBER},
	{.title = "KIND", .path = "kind"},
	{.title = "SUBJECT", .path = "subject", .flags = TABLE_CUT},
	{.title = "SINCE", .path = "since_realtime_usec", .kind = TABLE_TIME, .flags = TABLE_FULL},
	{.title = "UNTIL", .path = "until_realtime_usec", .kind = TABLE_TIME},
	{.title = "UID", .path = "uid", .kind = TABLE_NUMBER},
	{.title = "REASON", .path = "reason", .flags = TABLE_CUT},
};

int verb_silences(struct ctl *ctl, int n_args, char **args)
{
	static const struct client_list list = {
		.method = "ListSilences",
		.member = "silences",
		.noun = "silence",
		.columns = columns,
		.n_columns = ELEMENTSOF(columns),
	};

	(void)n_args;
	(void)args;
	return client_print_list(ctl, &list, json_object(), NULL);
}

int verb_ack(struct ctl *ctl, int n_args, char **args)
{
	struct output *out = &ctl->out;
	struct kinds kinds = {0};
	json_t *parameters, *reply;
	const json_t *alert;
	size_t i;
	int r;

	(void)n_args;
	if (!ctl->kind && is_id(args[0])) {
		parameters = json_pack("{s:s, s:s}", "id", args[0], "reason", ctl->reason);
	} else {
		r = get_kinds(ctl, &kinds);
		if (r < 0)
			return EXIT_FAILURE;
		parameters = words(ctl, &kinds, args[0]);
	}
	r = client_call(ctl, "Acknowledge", parameters, &reply);
	json_decref(kinds.reply);
	if (r < 0)
		return EXIT_FAILURE;
	if (out->json != JSON_OFF)
		r = alerts_print_json(out, json_at(reply, "alerts"));
	else
		json_array_foreach (json_at(reply, "alerts"), i, alert)
			alert_print(out, alert);
	json_decref(reply);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
