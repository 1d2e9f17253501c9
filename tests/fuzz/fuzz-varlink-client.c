// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Fuzz target: a Varlink client whose service answers anything.
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "util/cleanup.h"
#include "varlink/client.h"

static void check(bool condition)
{
	if (!condition)
		abort();
}

static int on_reply(json_t *parameters, bool continues, void *userdata)
{
	unsigned *n = userdata;

	(void)continues;

	check(json_is_object(parameters));
	return ++*n == 100;
}

/* A socket that is gone from the file system as soon as both ends are connected. */
static int open_pair(struct varlink_client **ret_client)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char directory[] = "/tmp/ibsm-fuzz-XXXXXX";
	_cleanup_close_ int listener = -1;
	int fd;

	check(mkdtemp(directory));
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/s", directory);
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	check(bind(listener, (struct sockaddr *)&address, sizeof(address)) == 0);
	check(listen(listener, 1) == 0);
	check(varlink_client_connect(address.sun_path, 10000000, ret_client) == 0);
	fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	check(fd >= 0);
	unlink(address.sun_path);
	rmdir(directory);
	return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct varlink_client *client;
	json_t *parameters = NULL;
	char *error = NULL;
	unsigned n = 0;
	int fd, r;

	fd = open_pair(&client);
	(void)send(fd, data, size, MSG_NOSIGNAL | MSG_DONTWAIT);
	(void)shutdown(fd, SHUT_WR);

	for (unsigned calls = 0; calls < 100; calls++) {
		r = calls % 2 ? varlink_client_call(client, "a.b.C", NULL, &parameters, &error)
			      : varlink_client_call_more(client, "a.b.C", NULL, on_reply, &n,
							 &parameters, &error);
		check(r < 0 || !parameters || json_is_object(parameters));
		json_decref(TAKE_PTR(parameters));
		free(TAKE_PTR(error));
		if (r < 0)
			break;
	}

	varlink_client_free(client);
	close(fd);
	return 0;
}
