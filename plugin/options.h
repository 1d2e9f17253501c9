// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Our words in opensm's event_plugin_options.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define OPTIONS_SOCKET_PATH_DEFAULT "/run/ibsmd/plugin.sock"
#define OPTIONS_SOCKET_PATH_BYTES 108 /* sizeof(sockaddr_un.sun_path), NUL included */
#define OPTIONS_COMPLAINT_BYTES 256

struct options {
	char socket_path[OPTIONS_SOCKET_PATH_BYTES];
	uint32_t ring_records; /* of the bulk ring */
	bool snapshots;
};

/* Told of each bad value; the default stays in force. `text` is one line without newline. */
typedef void (*options_complain_t)(void *userdata, const char *text);

/*
 * Read `ibsm.socket=PATH ibsm.ring=N ibsm.snapshots=yes|no` out of `text`, which is one string for
 * all of opensm's plugins (NULL: none): words that do not begin with "ibsm." are others'. The last
 * of two words wins. A ring size that is no power of two is rounded up.
 */
void options_parse(const char *text, options_complain_t complain, void *userdata,
		   struct options *ret_options);
