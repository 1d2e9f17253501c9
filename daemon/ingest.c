// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Plugin connections: who may connect, and what was read from whom.
#include "daemon/ingest.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/adopt.h"
#include "daemon/clock.h"
#include "daemon/follow.h"
#include "daemon/manager.h"
#include "daemon/record.h"
#include "daemon/sweeps.h"
#include "fabric/names.h"
#include "fabric/wire-read.h"
#include "util/cleanup.h"

#define RECORDS_A_TURN 128   /* read from one plugin before others and the API get their turn */
#define RECORDS_DRAINED 4096 /* of a connection that another one of its instance has replaced */
#define ACCEPTS_A_TURN 16
#define FDS_MAX 4 /* that a datagram's control message has room for; the kernel drops the rest */

/* HELLO. */

static int drain(struct plugin *plugin);

/* A former connection of this instance: all that it still holds came before. */
static void replace_former(struct plugin *plugin, uint64_t instance)
{
	for (struct plugin *p = plugin->manager->ingest.plugins; p; p = p->next) {
		if (p == plugin || !p->greeted || p->hello.instance != instance)
			continue;
		plugin_ref(p);
		drain(p);
		plugin->teller = TAKE_PTR(p->teller);
		plugin->subnet_checked = p->subnet_checked;
		plugin_close(p, "connected again");
		plugin_unref(p);
		return;
	}
}

static void on_hello(struct plugin *plugin, const struct ibsm_wire_hello *hello)
{
	struct manager *m = plugin->manager;
	char text[PLUGIN_TEXT_BYTES];
	uint64_t prefix = 0;

	replace_former(plugin, hello->instance);
	plugin->hello = *hello;
	printable(hello->host_name, sizeof(hello->host_name), plugin->host, sizeof(plugin->host));
	printable(hello->opensm_version, sizeof(hello->opensm_version), plugin->opensm_version,
		  sizeof(plugin->opensm_version));
	printable(hello->plugin_version, sizeof(hello->plugin_version), plugin->plugin_version,
		  sizeof(plugin->plugin_version));
	plugin->sm_guid = hello->sm_port_guid;
	plugin->sm_state = hello->sm_state;
	plugin->greeted = true;

	if (follow_subnet_is_claimed(plugin) && m->fabric)
		prefix = fabric_subnet(m->fabric)->subnet_prefix;
	else if (m->ingest.followed)
		prefix = m->ingest.followed->hello.subnet_prefix;
	if (prefix && prefix != hello->subnet_prefix) {
		plugin->greeted = false;
		plugin_refuse(plugin, EVENT_PLUGIN_REFUSED,
			      "opensm %" PRIu32 " on %s (SM %s) is of another subnet: its prefix "
			      "is %s, the followed one's %s",
			      hello->pid, plugin->host, GUID_STRING(hello->sm_port_guid),
			      GUID_STRING(hello->subnet_prefix), GUID_STRING(prefix));
		return;
	}

	plugin->instance =
		state_instance(&m->state, hello->instance, now_realtime_usec(), &m->limits);
	plugin->instance->users++;
	if (m->fabric && plugin->sm_guid &&
	    fabric_port_by_guid(m->fabric, plugin->sm_guid) != IBSM_NONE)
		plugin->subnet_checked = true;
	plugin->last_monotonic_usec = now_monotonic_usec();
	log_info("%s connected: %s, plugin %s, SM %s", plugin_text(plugin, text),
		 plugin->opensm_version, plugin->plugin_version, sm_state_name(plugin->sm_state));
	manager_event_text(m, EVENT_PLUGIN_CONNECTED, FABRIC_SEVERITY_NOTICE,
			   "%s connected: %s, SM %s", text, plugin->opensm_version,
			   sm_state_name(plugin->sm_state));
	if (plugin->subnet_checked || !follow_subnet_is_claimed(plugin))
		sweeps_listen(plugin);
	follow_choose(m);
}

/* Records. */

/* Returns false when the record is none that may come here. */
static bool account(struct plugin *plugin, const struct ibsm_wire_header *header)
{
	struct manager *m = plugin->manager;
	struct instance *instance = plugin->instance;
	char text[PLUGIN_TEXT_BYTES];
	uint64_t missed;

	if (header->sequence <= instance->sequence) {
		plugin_refuse(plugin, EVENT_PLUGIN_REFUSED,
			      "its sequence went from %" PRIu64 " to %" PRIu64, instance->sequence,
			      header->sequence);
		return false;
	}
	missed = header->sequence - instance->sequence - 1;
	/* Of an instance that is new to us, only a first connection must begin with 1. */
	if (missed && instance->may_be_older) {
		manager_event_text(m, EVENT_RECORDS_MISSED, FABRIC_SEVERITY_WARNING,
				   "up to %" PRIu64 " records of %s may not have been read, "
				   "heartbeats among them: ibsmd had not ended cleanly",
				   missed, plugin_text(plugin, text));
	} else if (missed && (instance->sequence || plugin->hello.connection == 1)) {
		m->ingest.events_missed += missed;
		log_warning("%" PRIu64 " records of %s were not received", missed,
			    plugin_text(plugin, text));
		manager_event_text(m, EVENT_RECORDS_MISSED, FABRIC_SEVERITY_WARNING,
				   "%" PRIu64 " records of %s were sent, but to a connection that "
				   "ended before they were read",
				   missed, plugin_text(plugin, text));
	}
	instance->sequence = header->sequence;
	instance->may_be_older = false;
	plugin->records++;
	return true;
}

/* Takes *fd if it has use for it. */
static void on_record(struct plugin *plugin, const union ibsm_wire_record *record, int *fd)
{
	uint16_t type = record->header.type;

	if (!plugin->greeted && type != IBSM_WIRE_HELLO) {
		plugin_refuse(plugin, EVENT_PLUGIN_REFUSED, "its first record is %s, not hello",
			      wire_type_name(type));
		return;
	}
	if (plugin->greeted && type == IBSM_WIRE_HELLO) {
		plugin_refuse(plugin, EVENT_PLUGIN_REFUSED, "it said hello twice");
		return;
	}
	if ((*fd >= 0) != (type == IBSM_WIRE_SNAPSHOT)) {
		plugin_refuse(plugin, EVENT_PLUGIN_REFUSED, "%s came %s a file descriptor",
			      wire_type_name(type), *fd >= 0 ? "with" : "without");
		return;
	}
	if (type == IBSM_WIRE_HELLO) {
		on_hello(plugin, &record->hello);
		if (plugin->fd >= 0)
			account(plugin, &record->header);
		return;
	}
	if (!account(plugin, &record->header))
		return;
	if (type == IBSM_WIRE_SM_STATE || type >= IBSM_WIRE_HEAVY_SWEEP_START)
		plugin->manager->ingest.events_received++;

	switch (type) {
	case IBSM_WIRE_HEARTBEAT:
		plugin->heartbeat = record->heartbeat;
		plugin->heard = true;
		plugin->last_monotonic_usec = now_monotonic_usec();
		plugin->instance->used_usec = now_realtime_usec();
		record_counts(plugin, &record->heartbeat.control, &record->heartbeat.bulk);
		plugin_tell_drops(plugin);
		record_handle(plugin, record);
		break;
	case IBSM_WIRE_DROPS:
		record_counts(plugin, &record->drops.control, &record->drops.bulk);
		break;
	case IBSM_WIRE_SNAPSHOT:
		if (adopt_snapshot(plugin, &record->snapshot, TAKE_FD(*fd)) < 0)
			plugin_refuse(plugin, EVENT_PLUGIN_REFUSED, "no memory for its snapshot");
		break;
	default:
		record_handle(plugin, record);
	}
}

/* Returns 1 when a datagram was taken, 0 when there is none; the connection may have ended. */
static int receive_one(struct plugin *plugin)
{
	/* One byte more than the longest record, so that a longer one shows. */
	unsigned char datagram[IBSM_WIRE_RECORD_MAX + 1];
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int) * FDS_MAX)];
	} control;
	struct iovec iov = {.iov_base = datagram, .iov_len = sizeof(datagram)};
	struct msghdr message = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	union ibsm_wire_record record;
	struct wire_error error;
	int fds[FDS_MAX] = {-1, -1, -1, -1}, n_fds = 0, r;
	ssize_t length;

	length = recvmsg(plugin->fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (length < 0) {
		if (errno == EAGAIN || errno == EINTR)
			return 0;
		plugin_close(plugin, strerror(errno));
		return 1;
	}
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
		size_t bytes = c->cmsg_len - CMSG_LEN(0);

		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
			for (size_t i = 0; i < bytes / sizeof(int) && n_fds < FDS_MAX; i++)
				memcpy(&fds[n_fds++], CMSG_DATA(c) + i * sizeof(int), sizeof(int));
	}

	if (length == 0) {
		plugin_close(plugin, "disconnected");
	} else if (message.msg_flags & MSG_CTRUNC || n_fds > 1) {
		plugin_refuse(plugin, EVENT_PLUGIN_REFUSED,
			      "a record came with more than one file descriptor");
	} else if (message.msg_flags & MSG_TRUNC) {
		plugin_refuse(plugin, EVENT_PLUGIN_REFUSED, "a record is longer than %d bytes",
			      IBSM_WIRE_RECORD_MAX);
	} else {
		r = wire_check(datagram, (size_t)length, &record, &error);
		if (r == -EPROTONOSUPPORT) {
			struct ibsm_wire_header header;

			memcpy(&header, datagram, sizeof(header));
			plugin_refuse(plugin, EVENT_PLUGIN_REFUSED,
				      "the plugin speaks version %u of the protocol, this ibsmd "
				      "(%s) version %d: install both from one release",
				      header.version, PACKAGE_VERSION, IBSM_WIRE_VERSION);
		} else if (r == -EOPNOTSUPP && plugin->greeted && n_fds == 0) {
			/* Of a newer plugin. The header alone is sure to be sound. */
			memcpy(&record.header, datagram, sizeof(record.header));
			if (account(plugin, &record.header))
				plugin->unknown_records++;
		} else if (r < 0) {
			plugin_refuse(plugin, EVENT_PLUGIN_REFUSED, "a record is not valid: %s",
				      error.text);
		} else {
			on_record(plugin, &record, &fds[0]);
		}
	}
	for (int i = 0; i < n_fds; i++)
		closep(&fds[i]);
	return 1;
}

static int drain(struct plugin *plugin)
{
	for (int i = 0; i < RECORDS_DRAINED && plugin->fd >= 0; i++)
		if (!receive_one(plugin))
			return 0;
	return 1;
}

static int on_readable(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct plugin *plugin = plugin_ref(userdata);

	(void)source;
	(void)fd;
	(void)revents;
	for (int i = 0; i < RECORDS_A_TURN && plugin->fd >= 0; i++) {
		if (plugin->snapshots_pending >= SNAPSHOTS_PENDING_MAX) {
			limit_hit(&plugin->manager->limits, LIMIT_SNAPSHOTS_PENDING, 1);
			sd_event_source_set_enabled(plugin->source, SD_EVENT_OFF);
			break;
		}
		if (!receive_one(plugin))
			break;
	}
	plugin_unref(plugin);
	return 0;
}

void ingest_resume(struct plugin *plugin)
{
	if (plugin->source)
		sd_event_source_set_enabled(plugin->source, SD_EVENT_ON);
}

/* Connections. */

static unsigned count_plugins(const struct manager *m)
{
	unsigned n = 0;

	for (const struct plugin *p = m->ingest.plugins; p; p = p->next)
		n++;
	return n;
}

int ingest_add(struct manager *m, int fd, pid_t pid)
{
	struct plugin *plugin = calloc(1, sizeof(*plugin)), **last = &m->ingest.plugins;
	int r;

	if (!plugin) {
		close(fd);
		return -ENOMEM;
	}
	*plugin = (struct plugin){
		.refs = 1,
		.manager = m,
		.fd = fd,
		.peer_pid = pid,
		.since_realtime_usec = now_realtime_usec(),
		.since_monotonic_usec = now_monotonic_usec(),
	};
	r = sd_event_add_io(m->event, &plugin->source, fd, EPOLLIN, on_readable, plugin);
	if (r < 0) {
		close(fd);
		free(plugin);
		return r;
	}
	sd_event_source_set_description(plugin->source, "plugin");
	while (*last)
		last = &(*last)->next;
	*last = plugin;
	return 0;
}

static int on_accept(sd_event_source *source, int listen_fd, uint32_t revents, void *userdata)
{
	struct manager *m = userdata;
	char text[128];

	(void)source;
	(void)revents;
	for (int i = 0; i < ACCEPTS_A_TURN; i++) {
		_cleanup_close_ int fd = -1;
		struct ucred peer;
		socklen_t length = sizeof(peer);
		int r = 0;

		fd = accept4(listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd < 0) {
			if (errno == EAGAIN)
				return 0;
			snprintf(text, sizeof(text), "plugin.sock: accept: %s", strerror(errno));
			if (log_once_test(&m->once, text, now_monotonic_usec()))
				log_warning("%s", text);
			/* The reason, as no descriptor being left, may last: look again next
			 * second. */
			sd_event_source_set_enabled(m->ingest.source, SD_EVENT_OFF);
			return 0;
		}
		if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0)
			continue;
		if (peer.uid != 0 && peer.uid != geteuid()) {
			snprintf(text, sizeof(text), "uid %u may not connect to plugin.sock",
				 peer.uid);
			m->ingest.refused++;
		} else if (count_plugins(m) >= IBSM_PLUGINS_MAX) {
			snprintf(text, sizeof(text),
				 "process %d refused: %d plugins are connected already",
				 (int)peer.pid, IBSM_PLUGINS_MAX);
			limit_hit(&m->limits, LIMIT_PLUGINS, 1);
		} else {
			r = ingest_add(m, TAKE_FD(fd), peer.pid);
			if (r == 0)
				continue;
			snprintf(text, sizeof(text), "plugin.sock: %s", strerror(-r));
		}
		if (log_once_test(&m->once, text, now_monotonic_usec()))
			log_warning("%s", text);
	}
	return 0;
}

int ingest_start(struct manager *m, int fd, const char *path)
{
	int r;

	m->ingest.fd = fd;
	if (path) {
		m->ingest.path = strdup(path);
		if (!m->ingest.path)
			return -ENOMEM;
	}
	r = sd_event_add_io(m->event, &m->ingest.source, fd, EPOLLIN, on_accept, m);
	if (r < 0)
		return r;
	sd_event_source_set_description(m->ingest.source, "plugin.sock");
	return 0;
}

void ingest_stop(struct manager *m)
{
	struct ingest *ingest = &m->ingest;

	ingest->source = sd_event_source_disable_unref(ingest->source);
	ingest->stopping = true;
	while (ingest->plugins) {
		struct plugin *plugin = plugin_ref(ingest->plugins);

		/* What was sent is read, and so not missed after a restart. */
		drain(plugin);
		plugin_close(plugin, NULL);
		plugin_unref(plugin);
	}
	if (ingest->path)
		unlink(ingest->path);
	ingest->path = (free(ingest->path), NULL);
	if (ingest->fd >= 0)
		close(ingest->fd);
	ingest->fd = -1;
}

void ingest_tick(struct manager *m, uint64_t now_usec)
{
	struct plugin *p = m->ingest.plugins;

	sd_event_source_set_enabled(m->ingest.source, SD_EVENT_ON);
	while (p) {
		struct plugin *next = p->next;

		if (!p->greeted && now_usec - p->since_monotonic_usec >= HELLO_TIMEOUT_USEC)
			plugin_refuse(p, EVENT_PLUGIN_REFUSED, "it did not say hello in time");
		p = next;
	}
}
