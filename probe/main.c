// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// ibsm-probe: sends the Gets that ibsmd, or a person, asks for.
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "probe/harden.h"
#include "probe/person.h"
#include "probe/serve.h"
#include "util/cleanup.h"

#define EXIT_USAGE 2
#define LISTEN_FDS_START 3

enum mode {
	MODE_SERVE,
	MODE_SM_INFO,
	MODE_PORTS,
};

static enum mode arg_mode = MODE_SERVE;
static int arg_socket_fd = -1;
static uint16_t arg_lid;
static bool arg_json;
static struct serve_options arg_options;

static void help(void)
{
	printf("ibsm-probe --sminfo[=LID] [OPTION]...   ask an SM who it is\n"
	       "ibsm-probe --ports [OPTION]...          list this host's ports\n"
	       "ibsm-probe [--socket-fd=N] [OPTION]...  take orders from ibsmd\n"
	       "\n"
	       "  --port=CA/N|GUID     the port to send from (default: the first active one)\n"
	       "  --timeout=MSEC       wait so long for an answer (default: %d)\n"
	       "  --rate=N             send no more than N requests in a second (default: %d)\n"
	       "  --json               print JSON\n"
	       "  --socket-fd=N        the socket that orders come from; default: one that the\n"
	       "                       service manager passes, or stdin\n"
	       "  -h --help            this\n"
	       "  --version            the version\n"
	       "\n"
	       "It sends Get requests alone. See ibsm-probe(8).\n",
	       IBSM_PROBE_TIMEOUT_MSEC, IBSM_PROBE_MADS_PER_SEC);
}

static int usage(const char *option, const char *value)
{
	if (option)
		fprintf(stderr, "ibsm-probe: bad value for --%s: %s\n", option, value);
	fprintf(stderr, "Try ibsm-probe --help.\n");
	return -EINVAL;
}

/* A number in decimal (or 0x…, where a LID is meant), @min…@max. */
static int parse_number(const char *text, unsigned long min, unsigned long max,
			unsigned long *ret_number)
{
	unsigned long number;
	char *end;

	if (text[0] < '0' || text[0] > '9')
		return -EINVAL;
	errno = 0;
	number = strtoul(text, &end, text[0] == '0' && text[1] == 'x' ? 16 : 10);
	if (errno != 0 || *end != 0 || number < min || number > max)
		return -EINVAL;
	*ret_number = number;
	return 0;
}

/* Returns 1 to go on, 0 if all is done, negative on a mistake. */
static int parse_arguments(int argc, char **argv)
{
	enum {
		OPT_SOCKET_FD = 256,
		OPT_SMINFO,
		OPT_PORTS,
		OPT_PORT,
		OPT_TIMEOUT,
		OPT_RATE,
		OPT_JSON,
		OPT_VERSION
	};
	static const struct option options[] = {
		{"socket-fd", required_argument, NULL, OPT_SOCKET_FD},
		{"sminfo", optional_argument, NULL, OPT_SMINFO},
		{"ports", no_argument, NULL, OPT_PORTS},
		{"port", required_argument, NULL, OPT_PORT},
		{"timeout", required_argument, NULL, OPT_TIMEOUT},
		{"rate", required_argument, NULL, OPT_RATE},
		{"json", no_argument, NULL, OPT_JSON},
		{"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, OPT_VERSION},
		{},
	};
	unsigned long number = 0;
	int c, index = 0;

	while ((c = getopt_long(argc, argv, "h", options, &index)) >= 0) {
		const char *value = optarg ?: "";

		switch (c) {
		case 'h':
			help();
			return 0;
		case OPT_VERSION:
			printf("ibsm-probe %s\n", PACKAGE_VERSION);
			return 0;
		case OPT_SOCKET_FD:
			if (parse_number(value, 0, 1023, &number) < 0)
				return usage(options[index].name, value);
			arg_socket_fd = (int)number;
			break;
		case OPT_SMINFO:
			arg_mode = MODE_SM_INFO;
			if (!optarg)
				break;
			if (parse_number(value, 1, IBSM_UNICAST_LID_MAX, &number) < 0)
				return usage(options[index].name, value);
			arg_lid = (uint16_t)number;
			break;
		case OPT_PORTS:
			arg_mode = MODE_PORTS;
			break;
		case OPT_PORT:
			if (ibsm_probe_parse_port(value, &arg_options.choice) < 0)
				return usage(options[index].name, value);
			break;
		case OPT_TIMEOUT:
			if (parse_number(value, IBSM_PROBE_TIMEOUT_MSEC_MIN,
					 IBSM_PROBE_TIMEOUT_MSEC_MAX, &number) < 0)
				return usage(options[index].name, value);
			arg_options.timeout_msec = (uint32_t)number;
			break;
		case OPT_RATE:
			if (parse_number(value, 1, IBSM_PROBE_MADS_PER_SEC_MAX, &number) < 0)
				return usage(options[index].name, value);
			arg_options.mads_per_sec = (uint32_t)number;
			break;
		case OPT_JSON:
			arg_json = true;
			break;
		default:
			return usage(NULL, NULL);
		}
	}
	if (optind < argc) {
		fprintf(stderr, "ibsm-probe: takes no arguments: %s\n", argv[optind]);
		return usage(NULL, NULL);
	}
	return 1;
}

/* One socket from the service manager, by the protocol of sd_listen_fds(3): this program links no
 * library that it does not send with. */
static int activation_fd(void)
{
	const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS");

	if (!pid || !fds || strtoul(pid, NULL, 10) != (unsigned long)getpid() ||
	    strcmp(fds, "1") != 0)
		return -1;
	return LISTEN_FDS_START;
}

static int socket_option(int fd, int option)
{
	socklen_t size = sizeof(int);
	int value;

	return getsockopt(fd, SOL_SOCKET, option, &value, &size) < 0 ? -errno : value;
}

static bool is_seqpacket(int fd)
{
	return socket_option(fd, SO_DOMAIN) == AF_UNIX &&
	       socket_option(fd, SO_TYPE) == SOCK_SEQPACKET;
}

static void on_signal(int signal)
{
	(void)signal;
	serve_stop = 1;
}

/* From a listening socket one connection is taken: the service manager starts us again for the
 * next. */
static int connection(int fd)
{
	int client;

	if (socket_option(fd, SO_ACCEPTCONN) != 1)
		return fd;
	do
		client = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
	while (client < 0 && errno == EINTR && !serve_stop);
	return client < 0 ? -errno : client;
}

static int run_serve(void)
{
	const struct sigaction action = {.sa_handler = on_signal};
	int fd = arg_socket_fd, r;

	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	if (fd < 0)
		fd = activation_fd();
	if (fd < 0)
		fd = STDIN_FILENO;
	if (!is_seqpacket(fd)) {
		fprintf(stderr,
			"ibsm-probe: descriptor %d is no AF_UNIX SOCK_SEQPACKET socket to "
			"take orders from. People want --sminfo or --ports.\n",
			fd);
		return EXIT_USAGE;
	}
	fd = connection(fd);
	if (fd < 0 && serve_stop)
		return EXIT_SUCCESS;
	if (fd < 0) {
		fprintf(stderr, "ibsm-probe: cannot accept: %s\n", strerror(-fd));
		return EXIT_FAILURE;
	}
	harden_close_others(fd);
	r = serve(fd, &arg_options);
	if (r < 0) {
		fprintf(stderr, "ibsm-probe: the socket failed: %s\n", strerror(-r));
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	int r;

	serve_options_init(&arg_options);
	r = parse_arguments(argc, argv);
	if (r <= 0)
		return r < 0 ? EXIT_USAGE : EXIT_SUCCESS;

	harden_self();
	switch (arg_mode) {
	case MODE_SM_INFO:
		return person_sm_info(&arg_options, arg_lid, arg_json);
	case MODE_PORTS:
		return person_ports(&arg_options, arg_json);
	default:
		return run_serve();
	}
}
