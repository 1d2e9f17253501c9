// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The Varlink service: its interfaces, its listening sockets, and who may connect.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <systemd/sd-daemon.h>

#include "varlink/server-internal.h"

#define MAX_CLIENTS_DEFAULT 64u
#define MAX_CALL_BYTES_DEFAULT (256u << 10)
#define MAX_REPLY_BYTES_DEFAULT (4u << 20)
#define MAX_QUEUED_BYTES_DEFAULT (8u << 20)
#define MAX_TOTAL_QUEUED_BYTES_DEFAULT (64u << 20)

#define ACCEPTS_PER_TURN 16
#define ACCEPT_RETRY_USEC 100000 /* after accept() failed, as without descriptors */

struct listener {
	struct listener *next;
	struct varlink_server *server;
	int fd;
	sd_event_source *io, *retry;
	char *path; /* bound by us: to be unlinked while it is this inode */
	dev_t device;
	ino_t inode;
};

DEFINE_CLEANUP(struct varlink_server *, varlink_server_free);

/* ---- interfaces ---- */

struct interface *server_find_interface(const struct varlink_server *server, const char *name,
					size_t length)
{
	for (struct interface *i = server->interfaces; i; i = i->next) {
		const char *candidate = varlink_interface_name(i->description);

		if (strlen(candidate) == length && memcmp(candidate, name, length) == 0)
			return i;
	}
	return NULL;
}

static void interface_free(struct interface *interface)
{
	varlink_interface_free(interface->description);
	free(interface);
}

DEFINE_CLEANUP(struct interface *, interface_free);

int varlink_server_add_interface(struct varlink_server *server, const char *description,
				 const struct varlink_method *methods, size_t n_methods,
				 void *userdata)
{
	_cleanup_(interface_freep) struct interface *interface = NULL;
	struct interface **end;
	const char *name;
	int r;

	interface = calloc(1, sizeof(*interface));
	if (!interface)
		return -ENOMEM;
	r = varlink_interface_parse(description, &interface->description, NULL);
	if (r < 0)
		return r;
	name = varlink_interface_name(interface->description);
	if (server_find_interface(server, name, strlen(name)))
		return -EEXIST;
	for (size_t i = 0; i < n_methods; i++)
		if (!varlink_interface_method(interface->description, methods[i].name))
			return -ENOENT;
	interface->methods = methods;
	interface->n_methods = n_methods;
	interface->userdata = userdata;

	for (end = &server->interfaces; *end; end = &(*end)->next)
		;
	*end = TAKE_PTR(interface);
	return 0;
}

/* ---- the server ---- */

static int copy_string(const char *string, char **copy, const char **option)
{
	*copy = strdup(string ? string : "");
	*option = *copy;
	return *copy ? 0 : -ENOMEM;
}

static void set_default(size_t *limit, size_t value)
{
	if (*limit == 0)
		*limit = value;
}

static int server_set_options(struct varlink_server *server,
			      const struct varlink_server_options *given)
{
	struct varlink_server_options *options = &server->options;

	if (given)
		*options = *given;
	if (options->max_clients == 0)
		options->max_clients = MAX_CLIENTS_DEFAULT;
	if (options->max_clients_per_uid == 0)
		options->max_clients_per_uid = options->max_clients;
	set_default(&options->max_call_bytes, MAX_CALL_BYTES_DEFAULT);
	set_default(&options->max_reply_bytes, MAX_REPLY_BYTES_DEFAULT);
	set_default(&options->max_queued_bytes, MAX_QUEUED_BYTES_DEFAULT);
	set_default(&options->max_total_queued_bytes, MAX_TOTAL_QUEUED_BYTES_DEFAULT);

	if (copy_string(options->vendor, &server->vendor, &options->vendor) < 0 ||
	    copy_string(options->product, &server->product, &options->product) < 0 ||
	    copy_string(options->version, &server->version, &options->version) < 0 ||
	    copy_string(options->url, &server->url, &options->url) < 0)
		return -ENOMEM;
	return 0;
}

int varlink_server_new(sd_event *event, const struct varlink_server_options *options,
		       struct varlink_server **ret)
{
	_cleanup_(varlink_server_freep) struct varlink_server *server = NULL;
	int r;

	server = calloc(1, sizeof(*server));
	if (!server)
		return -ENOMEM;
	server->event = sd_event_ref(event);
	r = server_set_options(server, options);
	if (r < 0)
		return r;
	r = varlink_server_add_interface(server, service_description, service_methods,
					 service_n_methods, server);
	if (r < 0)
		return r;

	*ret = TAKE_PTR(server);
	return 0;
}

static void listener_free(struct listener *listener)
{
	struct stat st;

	sd_event_source_disable_unref(listener->io);
	sd_event_source_disable_unref(listener->retry);
	if (listener->path && lstat(listener->path, &st) >= 0 && st.st_dev == listener->device &&
	    st.st_ino == listener->inode)
		(void)unlink(listener->path);
	if (listener->fd >= 0)
		close(listener->fd);
	free(listener->path);
	free(listener);
}

DEFINE_CLEANUP(struct listener *, listener_free);

struct varlink_server *varlink_server_free(struct varlink_server *server)
{
	struct listener *listener;
	struct interface *interface;

	if (!server)
		return NULL;

	while ((listener = server->listeners)) {
		server->listeners = listener->next;
		listener_free(listener);
	}
	while (server->connections)
		connection_free(server->connections);
	while ((interface = server->interfaces)) {
		server->interfaces = interface->next;
		interface_free(interface);
	}
	sd_event_unref(server->event);
	free(server->vendor);
	free(server->product);
	free(server->version);
	free(server->url);
	free(server);
	return NULL;
}

void varlink_server_get_stats(const struct varlink_server *server,
			      struct varlink_server_stats *ret_stats)
{
	*ret_stats = server->stats;
}

/* ---- connections ---- */

static bool may_connect(const struct varlink_server *server, const struct ucred *peer)
{
	unsigned n = 0;

	if (server->stats.clients >= server->options.max_clients)
		return false;
	if (peer->uid == 0)
		return true;
	for (const struct connection *c = server->connections; c; c = c->next)
		n += c->peer.uid == peer->uid;
	return n < server->options.max_clients_per_uid;
}

static void take_connection(struct varlink_server *server, int fd)
{
	struct ucred peer;
	socklen_t length = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0) {
		server->stats.accept_failed++;
		close(fd);
	} else if (!may_connect(server, &peer)) {
		server->stats.refused++;
		close(fd);
	} else if (connection_new(server, fd, &peer) < 0) {
		server->stats.accept_failed++;
	} else {
		server->stats.accepted++;
	}
}

static int on_retry(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct listener *listener = userdata;

	(void)source;
	(void)usec;

	(void)sd_event_source_set_enabled(listener->io, SD_EVENT_ON);
	return 0;
}

/* Out of descriptors or memory: the client stays in the backlog, and is tried again. */
static void pause_listener(struct listener *listener)
{
	listener->server->stats.accept_failed++;
	if (sd_event_source_set_time_relative(listener->retry, ACCEPT_RETRY_USEC) >= 0 &&
	    sd_event_source_set_enabled(listener->retry, SD_EVENT_ONESHOT) >= 0)
		(void)sd_event_source_set_enabled(listener->io, SD_EVENT_OFF);
}

static int on_listener(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct listener *listener = userdata;
	int client;

	(void)source;
	(void)revents;

	for (unsigned i = 0; i < ACCEPTS_PER_TURN; i++) {
		client = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (client >= 0) {
			take_connection(listener->server, client);
		} else if (errno != EINTR && errno != ECONNABORTED) {
			if (errno != EAGAIN && errno != EWOULDBLOCK)
				pause_listener(listener);
			return 0;
		}
	}
	return 0;
}

static int set_flags(int fd)
{
	int flags;

	flags = fcntl(fd, F_GETFL);
	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return -errno;
	return fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 ? -errno : 0;
}

static int listener_new(struct varlink_server *server, int fd, struct listener **ret)
{
	_cleanup_(listener_freep) struct listener *listener = NULL;
	int r;

	listener = calloc(1, sizeof(*listener));
	if (!listener)
		return -ENOMEM;
	listener->server = server;
	listener->fd = -1; /* the caller's until all is well */

	r = sd_event_add_io(server->event, &listener->io, fd, EPOLLIN, on_listener, listener);
	if (r < 0)
		return r;
	r = sd_event_add_time_relative(server->event, &listener->retry, CLOCK_MONOTONIC,
				       ACCEPT_RETRY_USEC, 0, on_retry, listener);
	if (r < 0)
		return r;
	r = sd_event_source_set_enabled(listener->retry, SD_EVENT_OFF);
	if (r < 0)
		return r;
	r = sd_event_source_set_priority(listener->io, server->options.priority);
	if (r < 0)
		return r;
	(void)sd_event_source_set_description(listener->io, "varlink-listener");
	(void)sd_event_source_set_description(listener->retry, "varlink-listener-retry");

	*ret = TAKE_PTR(listener);
	return 0;
}

static void add_listener(struct varlink_server *server, struct listener *listener, int fd)
{
	listener->fd = fd;
	listener->next = server->listeners;
	server->listeners = listener;
}

int varlink_server_listen_fd(struct varlink_server *server, int fd)
{
	struct listener *listener;
	int r;

	r = sd_is_socket(fd, AF_UNIX, SOCK_STREAM, 1);
	if (r < 0)
		return r;
	if (r == 0)
		return sd_is_socket(fd, AF_UNSPEC, 0, -1) > 0 ? -EPROTOTYPE : -ENOTSOCK;
	r = set_flags(fd);
	if (r < 0)
		return r;
	r = listener_new(server, fd, &listener);
	if (r < 0)
		return r;
	add_listener(server, listener, fd);
	return 0;
}

/* Whether @address is a socket that nobody listens on. */
static bool is_stale(const struct sockaddr_un *address)
{
	_cleanup_close_ int fd = -1;
	struct stat st;

	if (lstat(address->sun_path, &st) < 0 || !S_ISSOCK(st.st_mode))
		return false;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	return connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 &&
	       errno == ECONNREFUSED;
}

static int bind_path(int fd, const struct sockaddr_un *address)
{
	const struct sockaddr *name = (const struct sockaddr *)address;

	if (bind(fd, name, sizeof(*address)) >= 0)
		return 0;
	if (errno != EADDRINUSE || !is_stale(address))
		return -errno;
	if (unlink(address->sun_path) < 0 && errno != ENOENT)
		return -errno;
	return bind(fd, name, sizeof(*address)) < 0 ? -errno : 0;
}

int varlink_server_listen_path(struct varlink_server *server, const char *path, mode_t mode)
{
	_cleanup_(listener_freep) struct listener *listener = NULL;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	_cleanup_close_ int fd = -1;
	struct stat st;
	int r;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, path);

	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	r = bind_path(fd, &address);
	if (r < 0)
		return r;

	/* From here on the path is ours to take away again. Nobody connects before listen(). */
	r = lstat(path, &st) < 0 ? -errno : 0;
	if (r >= 0)
		r = chmod(path, mode) < 0 ? -errno : 0;
	if (r >= 0)
		r = listen(fd, SOMAXCONN) < 0 ? -errno : 0;
	if (r >= 0)
		r = listener_new(server, fd, &listener);
	if (r >= 0) {
		listener->path = strdup(path);
		listener->device = st.st_dev;
		listener->inode = st.st_ino;
		r = listener->path ? 0 : -ENOMEM;
	}
	if (r < 0) {
		(void)unlink(path);
		return r;
	}

	add_listener(server, TAKE_PTR(listener), TAKE_FD(fd));
	return 0;
}
