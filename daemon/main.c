// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// ibsmd's command line.
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/log.h"
#include "daemon/manager.h"

#define EXIT_USAGE 2

static const char help[] =
	"ibsmd [OPTION...]\n"
	"\n"
	"Collects what the opensm plugin tells of an InfiniBand subnet, and answers for it.\n"
	"\n"
	"  --config=FILE       configuration (default " CONF_PATH_DEFAULT "),\n"
	"                      then FILE.d/*.conf\n"
	"  --runtime-dir=DIR   where the sockets are (default /run/ibsmd)\n"
	"  --state-dir=DIR     what outlives a restart (default /var/lib/ibsmd)\n"
	"  --version\n"
	"  --help\n"
	"\n"
	"See ibsmd(8) and ibsmd.conf(5).\n";

int main(int argc, char *argv[])
{
	enum { ARG_CONFIG = 256, ARG_RUNTIME_DIR, ARG_STATE_DIR, ARG_VERSION };
	static const struct option options[] = {
		{"config", required_argument, NULL, ARG_CONFIG},
		{"runtime-dir", required_argument, NULL, ARG_RUNTIME_DIR},
		{"state-dir", required_argument, NULL, ARG_STATE_DIR},
		{"version", no_argument, NULL, ARG_VERSION},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	struct manager_options manager_options = {
		.config_path = CONF_PATH_DEFAULT,
		.runtime_dir = "/run/ibsmd",
		.state_dir = "/var/lib/ibsmd",
	};
	struct manager *manager;
	int c, r;

	while ((c = getopt_long(argc, argv, "h", options, NULL)) >= 0) {
		switch (c) {
		case ARG_CONFIG:
			manager_options.config_path = optarg;
			manager_options.config_required = true;
			break;
		case ARG_RUNTIME_DIR:
			manager_options.runtime_dir = optarg;
			break;
		case ARG_STATE_DIR:
			manager_options.state_dir = optarg;
			break;
		case ARG_VERSION:
			puts("ibsmd " PACKAGE_VERSION);
			return EXIT_SUCCESS;
		case 'h':
			fputs(help, stdout);
			return EXIT_SUCCESS;
		default:
			fputs("Try --help.\n", stderr);
			return EXIT_USAGE;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "ibsmd: takes no argument \"%s\". Try --help.\n", argv[optind]);
		return EXIT_USAGE;
	}
	if (!*manager_options.config_path || !*manager_options.runtime_dir ||
	    !*manager_options.state_dir) {
		fputs("ibsmd: a path is empty. Try --help.\n", stderr);
		return EXIT_USAGE;
	}

	log_init();
	r = manager_new(&manager_options, &manager);
	if (r < 0)
		return EXIT_FAILURE;
	r = manager_run(manager);
	if (r < 0)
		log_error("event loop: %s", strerror(-r));
	manager_free(manager);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
