// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// ibsmctl: asks ibsmd about its InfiniBand fabric. Options and verbs.
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/client.h"
#include "ctl/ctl.h"
#include "ctl/text.h"
#include "util/cleanup.h"
#include "util/span.h"

#define USEC_PER_SEC UINT64_C(1000000)
#define WATCH_SEC_DEFAULT 2
#define SECONDS_MAX (24 * 60 * 60)

/* Options that only some verbs have. */
enum verb_options {
	HAS_COUNT = 1 << 0,
	HAS_FOLLOW = 1 << 1,
	HAS_FILTER = 1 << 2, /* --node, --after */
	HAS_TYPE = 1 << 3,
	HAS_WATCH = 1 << 4,
	HAS_KIND = 1 << 5,
	HAS_ALL = 1 << 6,
	HAS_STATS = 1 << 7, /* --stats, --window */
	HAS_FOR = 1 << 8,
	HAS_REASON = 1 << 9,
};

static const struct verb {
	const char *name;
	ctl_verb run;
	int n_args_min, n_args_max;
	const char *usage; /* of its arguments */
	unsigned options;
} verbs[] = {
	{"status", verb_status, 0, 0, "", HAS_WATCH},
	{"nodes", verb_nodes, 0, 1, " [PATTERN]", HAS_TYPE},
	{"node", verb_node, 1, 1, " NAME|GUID|LID", 0},
	{"links", verb_links, 0, 1, " [NODE]", 0},
	{"sweeps", verb_sweeps, 0, 0, "", HAS_COUNT | HAS_STATS},
	{"sweep", verb_sweep, 0, 1, " [NUMBER]", 0},
	{"events", verb_events, 0, 0, "", HAS_COUNT | HAS_FOLLOW | HAS_FILTER | HAS_KIND},
	{"route", verb_route, 2, 2, " SOURCE DESTINATION", 0},
	{"alerts", verb_alerts, 0, 0, "", HAS_ALL},
	{"silence", verb_silence, 1, 1, " SUBJECT|KIND --for=SPAN --reason=TEXT",
	 HAS_FOR | HAS_REASON | HAS_KIND},
	{"unsilence", verb_unsilence, 1, 1, " ID", 0},
	{"silences", verb_silences, 0, 0, "", 0},
	{"ack", verb_ack, 1, 1, " ID|SUBJECT|KIND --reason=TEXT", HAS_REASON | HAS_KIND},
	{"sm", verb_sm, 0, 0, "", HAS_COUNT},
	{"sms", verb_sms, 0, 0, "", 0},
	{"groups", verb_groups, 0, 1, " [MGID|MLID]", 0},
	{"partitions", verb_partitions, 0, 0, "", 0},
	{"options", verb_options, 0, 1, " [PATTERN]", 0},
};

enum {
	OPTION_JSON = 0x100,
	OPTION_NO_PAGER,
	OPTION_NO_LEGEND,
	OPTION_FULL,
	OPTION_SOCKET,
	OPTION_TIMEOUT,
	OPTION_TYPE,
	OPTION_KIND,
	OPTION_NODE,
	OPTION_AFTER,
	OPTION_WATCH,
	OPTION_ALL,
	OPTION_STATS,
	OPTION_WINDOW,
	OPTION_FOR,
	OPTION_REASON,
	OPTION_VERSION,
};

static const struct option long_options[] = {
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, OPTION_VERSION},
	{"json", required_argument, NULL, OPTION_JSON},
	{"no-pager", no_argument, NULL, OPTION_NO_PAGER},
	{"no-legend", no_argument, NULL, OPTION_NO_LEGEND},
	{"full", no_argument, NULL, OPTION_FULL},
	{"socket", required_argument, NULL, OPTION_SOCKET},
	{"timeout", required_argument, NULL, OPTION_TIMEOUT},
	{"lines", required_argument, NULL, 'n'},
	{"follow", no_argument, NULL, 'f'},
	{"type", required_argument, NULL, OPTION_TYPE},
	{"kind", required_argument, NULL, OPTION_KIND},
	{"node", required_argument, NULL, OPTION_NODE},
	{"after", required_argument, NULL, OPTION_AFTER},
	{"watch", optional_argument, NULL, OPTION_WATCH},
	{"all", no_argument, NULL, OPTION_ALL},
	{"stats", no_argument, NULL, OPTION_STATS},
	{"window", required_argument, NULL, OPTION_WINDOW},
	{"for", required_argument, NULL, OPTION_FOR},
	{"reason", required_argument, NULL, OPTION_REASON},
	{NULL, 0, NULL, 0},
};

static const char help[] =
	"ibsmctl [OPTIONS...] [VERB]\n"
	"\n"
	"Ask ibsmd what it knows of the InfiniBand fabric.\n"
	"\n"
	"Verbs:\n"
	"  status                     The whole on one screen (default)\n"
	"  nodes [PATTERN]            List switches, channel adapters and routers\n"
	"  node NAME|GUID|LID         Show one node with all of its ports\n"
	"  links [NODE]               List cables, each with both of its ends\n"
	"  sweeps                     List opensm's sweeps\n"
	"  sweep [NUMBER]             Tell the story of a sweep, by default of the last\n"
	"  events                     Show what happened in the fabric\n"
	"  route SOURCE DESTINATION   Show the way from one node to another, hop by hop\n"
	"  alerts                     Show what is wrong, and what to do about it\n"
	"  silence SUBJECT|KIND       Take alerts out of the health for a time\n"
	"  unsilence ID               End a silence\n"
	"  silences                   List the silences\n"
	"  ack ID|SUBJECT|KIND        Mark alerts as known\n"
	"  sm                         Show the subnet managers: who is and was master,\n"
	"                             where they stand, how they are configured\n"
	"  sms                        List the subnet managers\n"
	"  groups [MGID|MLID]         List multicast groups, or the members of one\n"
	"  partitions                 List partitions\n"
	"  options [PATTERN]          List opensm's options\n"
	"\n"
	"Options:\n"
	"  -h --help                  Show this help\n"
	"     --version               Show the version\n"
	"     --json=pretty|short|off Print JSON\n"
	"  -j                         As --json=pretty on a terminal, else --json=short\n"
	"     --full                  Show GUIDs and exact times, too\n"
	"     --no-pager              Do not start a pager\n"
	"     --no-legend             Leave out headings and counts\n"
	"     --socket=PATH           Where ibsmd listens, instead of $IBSM_SOCKET or\n"
	"                             " CTL_SOCKET_DEFAULT "\n"
	"     --timeout=SECONDS       How long to wait for ibsmd\n"
	"  -n --lines=NUMBER|all      events, sweeps, sm: only the last ones\n"
	"  -f --follow                events: go on with those that happen now\n"
	"     --kind=KIND             events, silence, ack: only of this kind\n"
	"     --node=NODE             events: only about this node\n"
	"     --after=NUMBER          events: only later ones than this\n"
	"     --type=ca|switch|router nodes: only of this type\n"
	"     --watch[=SECONDS]       status: show it again and again\n"
	"     --all                   alerts: those that have cleared, too\n"
	"     --stats                 sweeps: statistics instead of the list\n"
	"     --window=SPAN           sweeps --stats: of the last 2h, say; 1d by default\n"
	"     --for=SPAN              silence: for how long: 90min, 2h, 1d 12h\n"
	"     --reason=TEXT           silence, ack: why, for those who look later\n"
	"\n"
	"See ibsmctl(1) for details.\n";

__attribute__((format(printf, 2, 3))) static int usage(const struct ctl *ctl, const char *format,
						       ...)
{
	_cleanup_free_ char *message = NULL;
	va_list ap;

	va_start(ap, format);
	if (vasprintf(&message, format, ap) < 0)
		message = NULL;
	va_end(ap);
	ctl_error(ctl, "%s", message ? message : "out of memory");
	return EXIT_USAGE;
}

/* "; did you mean X?", or a pointer to the help. */
static int usage_unknown(const struct ctl *ctl, const char *what, const char *word,
			 const char *dashes, const char *const *words)
{
	const char *nearest = text_nearest(word, words);

	if (nearest)
		return usage(ctl, "unknown %s \"%s%s\": did you mean \"%s%s\"?", what, dashes, word,
			     dashes, nearest);
	return usage(ctl, "unknown %s \"%s%s\": see ibsmctl --help", what, dashes, word);
}

static int unknown_option(const struct ctl *ctl, const char *argument)
{
	const char *names[ELEMENTSOF(long_options)] = {0};
	_cleanup_free_ char *word = NULL;

	if (optopt > 0 && optopt < OPTION_JSON) {
		for (size_t i = 0; long_options[i].name; i++) {
			if (long_options[i].val == optopt && argument[1] == '-')
				return usage(ctl, "option --%s takes no value",
					     long_options[i].name);
		}
		return usage(ctl, "unknown option \"-%c\": see ibsmctl --help", optopt);
	}
	if (optopt != 0) {
		for (size_t i = 0; long_options[i].name; i++) {
			if (long_options[i].val == optopt)
				return usage(ctl, "option --%s takes no value",
					     long_options[i].name);
		}
	}
	for (size_t i = 0; long_options[i].name; i++)
		names[i] = long_options[i].name;
	word = strndup(argument + 2, strcspn(argument + 2, "="));
	return usage_unknown(ctl, "option", word ? word : "", "--", names);
}

static int missing_value(const struct ctl *ctl)
{
	for (size_t i = 0; long_options[i].name; i++) {
		if (long_options[i].val == optopt && optopt >= OPTION_JSON)
			return usage(ctl, "option --%s needs a value", long_options[i].name);
	}
	return usage(ctl, "option -%c needs a value", optopt);
}

/* Seconds with up to six decimals. */
static bool parse_seconds(const char *text, uint64_t *ret_usec)
{
	char *end;
	double seconds = strtod(text, &end);

	if (end == text || *end || !(seconds >= 0.001 && seconds <= SECONDS_MAX))
		return false;
	*ret_usec = (uint64_t)(seconds * (double)USEC_PER_SEC);
	return true;
}

static int parse_span(struct ctl *ctl, const char *option, const char *text, uint64_t *ret_usec)
{
	if (!span_parse(text, ret_usec) || *ret_usec == 0 || *ret_usec > INT64_MAX)
		return usage(ctl, "--%s= is a time span such as 90min or 2h, not \"%s\"", option,
			     text);
	return 0;
}

static int parse_json(struct ctl *ctl, const char *mode)
{
	if (strcmp(mode, "pretty") == 0)
		ctl->out.json = JSON_PRETTY;
	else if (strcmp(mode, "short") == 0)
		ctl->out.json = JSON_SHORT;
	else if (strcmp(mode, "off") == 0)
		ctl->out.json = JSON_OFF;
	else
		return usage(ctl, "--json= is pretty, short or off, not \"%s\"", mode);
	return 0;
}

/* One option; returns 0 or an exit code, -1 for "done, exit with 0". */
static int parse_option(struct ctl *ctl, int option, unsigned *options, const char *argument)
{
	switch (option) {
	case 'h':
		fputs(help, ctl->out.file);
		return -1;
	case OPTION_VERSION:
		fprintf(ctl->out.file, "ibsmctl %s\n", PACKAGE_VERSION);
		return -1;
	case OPTION_JSON:
		return parse_json(ctl, optarg);
	case 'j':
		ctl->out.json = ctl->out.tty ? JSON_PRETTY : JSON_SHORT;
		return 0;
	case OPTION_NO_PAGER:
		ctl->page = false;
		return 0;
	case OPTION_NO_LEGEND:
		ctl->out.legend = false;
		return 0;
	case OPTION_FULL:
		ctl->out.full = true;
		return 0;
	case OPTION_SOCKET:
		ctl->socket = optarg;
		return 0;
	case OPTION_TIMEOUT:
		if (!parse_seconds(optarg, &ctl->timeout_usec))
			return usage(ctl, "--timeout= is a number of seconds, not \"%s\"", optarg);
		return 0;
	case 'n':
		*options |= HAS_COUNT;
		if (strcmp(optarg, "all") == 0)
			ctl->count = CTL_COUNT_ALL;
		else if (!ctl_parse_number(optarg, &ctl->count))
			return usage(ctl, "-n takes a number above 0 or \"all\", not \"%s\"",
				     optarg);
		return 0;
	case 'f':
		*options |= HAS_FOLLOW;
		ctl->follow = true;
		return 0;
	case OPTION_TYPE:
		*options |= HAS_TYPE;
		ctl->type = optarg;
		if (strcmp(optarg, "ca") != 0 && strcmp(optarg, "switch") != 0 &&
		    strcmp(optarg, "router") != 0)
			return usage(ctl, "--type= is ca, switch or router, not \"%s\"", optarg);
		return 0;
	case OPTION_KIND:
		*options |= HAS_KIND;
		ctl->kind = optarg;
		return 0;
	case OPTION_NODE:
		*options |= HAS_FILTER;
		ctl->node = optarg;
		return 0;
	case OPTION_AFTER:
		*options |= HAS_FILTER;
		if (!ctl_parse_number(optarg, &ctl->after))
			return usage(ctl, "--after= is the number of an event, not \"%s\"", optarg);
		return 0;
	case OPTION_WATCH:
		*options |= HAS_WATCH;
		ctl->watch = true;
		if (optarg && !parse_seconds(optarg, &ctl->watch_usec))
			return usage(ctl, "--watch= is a number of seconds, not \"%s\"", optarg);
		return 0;
	case OPTION_ALL:
		*options |= HAS_ALL;
		ctl->all = true;
		return 0;
	case OPTION_STATS:
		*options |= HAS_STATS;
		ctl->stats = true;
		return 0;
	case OPTION_WINDOW:
		*options |= HAS_STATS;
		return parse_span(ctl, "window", optarg, &ctl->window_usec);
	case OPTION_FOR:
		*options |= HAS_FOR;
		return parse_span(ctl, "for", optarg, &ctl->for_usec);
	case OPTION_REASON:
		*options |= HAS_REASON;
		ctl->reason = optarg;
		return 0;
	case ':':
		return missing_value(ctl);
	default:
		return unknown_option(ctl, argument);
	}
}

static const struct verb *find_verb(const char *name)
{
	for (size_t i = 0; i < ELEMENTSOF(verbs); i++) {
		if (strcmp(verbs[i].name, name) == 0)
			return &verbs[i];
	}
	return NULL;
}

static int unknown_verb(const struct ctl *ctl, const char *name)
{
	const char *names[ELEMENTSOF(verbs) + 1] = {0};

	for (size_t i = 0; i < ELEMENTSOF(verbs); i++)
		names[i] = verbs[i].name;
	return usage_unknown(ctl, "verb", name, "", names);
}

static int check_options(const struct ctl *ctl, const struct verb *verb, unsigned options)
{
	static const struct {
		unsigned option;
		const char *name, *verbs;
	} owners[] = {
		{HAS_COUNT, "-n", "events, sweeps and sm"},
		{HAS_FOLLOW, "-f", "events"},
		{HAS_FILTER, "--node= and --after=", "events"},
		{HAS_KIND, "--kind=", "events, silence and ack"},
		{HAS_ALL, "--all", "alerts"},
		{HAS_STATS, "--stats and --window=", "sweeps"},
		{HAS_FOR, "--for=", "silence"},
		{HAS_REASON, "--reason=", "silence and ack"},
		{HAS_TYPE, "--type=", "nodes"},
		{HAS_WATCH, "--watch", "status"},
	};

	for (size_t i = 0; i < ELEMENTSOF(owners); i++) {
		if (options & ~verb->options & owners[i].option)
			return usage(ctl, "\"%s\" takes no %s: only %s", verb->name, owners[i].name,
				     owners[i].verbs);
	}
	if (ctl->window_usec && !ctl->stats)
		return usage(ctl, "--window= goes with --stats");
	if (ctl->stats && ctl->count)
		return usage(ctl, "-n does not go with --stats: try --window=");
	if (verb->options & HAS_FOR && !ctl->for_usec)
		return usage(ctl, "for how long? Give %s --for=, such as --for=2h", verb->name);
	if (verb->options & HAS_REASON && (!ctl->reason || !*ctl->reason))
		return usage(ctl, "why? Give %s --reason=, for those who look later", verb->name);
	return 0;
}

/* What goes to ibsmd goes as JSON. */
static int check_words(const struct ctl *ctl, int n_args, char **args)
{
	for (int i = 0; i < n_args; i++) {
		if (!text_is_utf8(args[i]))
			return usage(ctl, "\"%s\" is not UTF-8", args[i]);
	}
	if ((ctl->kind && !text_is_utf8(ctl->kind)) || (ctl->node && !text_is_utf8(ctl->node)) ||
	    (ctl->reason && !text_is_utf8(ctl->reason)))
		return usage(ctl, "--kind=, --node= and --reason= take UTF-8");
	return 0;
}

static int run(struct ctl *ctl, int argc, char **argv)
{
	const struct verb *verb = &verbs[0];
	unsigned options = 0;
	int option, n_args, r;

	opterr = 0;
	for (;;) {
		int index = optind;

		option = getopt_long(argc, argv, ":hjn:f", long_options, NULL);
		if (option < 0)
			break;
		/* With permutation, the word looked at is the one before optind. */
		r = parse_option(ctl, option, &options, argv[optind > index ? optind - 1 : index]);
		if (r != 0)
			return r < 0 ? EXIT_SUCCESS : r;
	}
	n_args = argc - optind;
	if (n_args > 0) {
		verb = find_verb(argv[optind]);
		if (!verb)
			return unknown_verb(ctl, argv[optind]);
		n_args--;
		optind++;
	}
	if (n_args < verb->n_args_min || n_args > verb->n_args_max)
		return usage(ctl, "usage: ibsmctl %s%s", verb->name, verb->usage);
	r = check_options(ctl, verb, options);
	if (r == 0)
		r = check_words(ctl, n_args, argv + optind);
	if (r != 0)
		return r;
	if (ctl->out.json != JSON_OFF)
		ctl->page = false;
	return verb->run(ctl, n_args, argv + optind);
}

/* The verb may have succeeded and its output not: on a full disk, say. */
static int finish(struct ctl *ctl, int code)
{
	int r = output_close(&ctl->out);

	client_close(ctl);
	if (r == 0)
		return code;
	if (r == -ENOEXEC)
		ctl_error(ctl, "the pager could not be started: try --no-pager");
	else if (r != -EPIPE)
		ctl_error(ctl, "cannot write the output: %s", strerror(-r));
	return EXIT_FAILURE;
}

/* A descriptor of ours that takes the place of a closed one of the first three would get its
 * output. What is written to these fails, and is told. */
static void fill_closed(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) < 0)
			_exit(EXIT_FAILURE);
}

int main(int argc, char **argv)
{
	const char *socket = getenv("IBSM_SOCKET"), *term = getenv("TERM");
	const char *no_colour = getenv("NO_COLOR");
	struct ctl ctl = {
		.socket = socket && *socket ? socket : CTL_SOCKET_DEFAULT,
		.timeout_usec = CTL_TIMEOUT_SEC_DEFAULT * USEC_PER_SEC,
		.watch_usec = WATCH_SEC_DEFAULT * USEC_PER_SEC,
		.out.legend = true,
	};
	bool tty = isatty(STDOUT_FILENO), dumb = !term || !*term || strcmp(term, "dumb") == 0;

	fill_closed();
	signal(SIGPIPE, SIG_IGN);
	ctl.out.utf8 = text_set_locale() || !tty;
	ctl.out.tty = tty;
	/* Less would ask there whether it may go on. */
	ctl.page = tty && !dumb;
	ctl.out.colour = tty && !(no_colour && *no_colour) && !dumb;
	if (tty)
		output_measure(&ctl.out, STDOUT_FILENO);
	if (output_open(&ctl.out, STDOUT_FILENO) < 0) {
		ctl_error(&ctl, "out of memory");
		return EXIT_FAILURE;
	}
	return finish(&ctl, run(&ctl, argc, argv));
}
