// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The port that MADs are sent on and received from: libibumad's port and its agents.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <infiniband/umad.h>
#include <infiniband/umad_types.h>

#include "probe/link.h"
#include "util/cleanup.h"

/* A receive that fails this often in a row, with nothing in between, means that the port is gone.
 * (umad2sim fails a receive now and then for no reason: its wait has spurious wake-ups.) */
#define FAILURES_MAX 8

static const uint8_t classes[LINK_AGENTS] = {
	UMAD_CLASS_SUBN_LID_ROUTED,
	UMAD_CLASS_SUBN_DIRECTED_ROUTE,
	UMAD_CLASS_PERF_MGMT,
};

void link_guard_begin(void)
{
	alarm(IBSM_PROBE_STUCK_SEC);
}

void link_guard_end(void)
{
	alarm(0);
}

static bool is_simulator(const char *ca_name)
{
	umad_ca_t ca = {};
	bool simulated;

	if (umad_get_ca(ca_name, &ca) < 0)
		return false;
	simulated = strcmp(ca.ca_type, "simulator") == 0;
	umad_release_ca(&ca);
	return simulated;
}

/* Agents without a method mask: answers to what they sent is all that they get. */
static int register_agents(struct link *link)
{
	for (size_t i = 0; i < ELEMENTSOF(classes); i++) {
		link->agents[i] = umad_register(link->fd, classes[i], 1, 0, NULL);
		if (link->agents[i] < 0)
			return -EPERM;
	}
	return 0;
}

int link_open(struct link *link, const struct ibsm_probe_port *port)
{
	int r;

	link_close(link);
	link_guard_begin();
	errno = 0;
	r = umad_init() < 0 ? -ENODEV : 0;
	if (r == 0) {
		link->fd = umad_open_port(port->ca_name, port->port);
		if (link->fd < 0) {
			/* libibumad's own code tells less: EIO for any failed open(). */
			r = errno > 0 ? -errno : -EIO;
			link->fd = -1;
		}
	}
	if (r == 0) {
		r = register_agents(link);
		link->port = *port;
		link->simulated = is_simulator(port->ca_name);
		link->failures = 0;
	}
	link_guard_end();
	if (r < 0)
		link_close(link);
	return r;
}

void link_close(struct link *link)
{
	if (link_is_open(link)) {
		link_guard_begin();
		for (size_t i = 0; i < ELEMENTSOF(link->agents); i++)
			if (link->agents[i] >= 0)
				umad_unregister(link->fd, link->agents[i]);
		umad_close_port(link->fd);
		link_guard_end();
	}
	*link = (struct link)LINK_CLOSED;
	for (size_t i = 0; i < ELEMENTSOF(link->agents); i++)
		link->agents[i] = -1;
}

static int agent_of(const struct link *link, int class)
{
	for (size_t i = 0; i < ELEMENTSOF(classes); i++)
		if (classes[i] == class)
			return link->agents[i];
	return -1;
}

int link_send(struct link *link, uint16_t type, union get_buffer *buffer, uint32_t timeout_msec)
{
	int r;

	/* What is not a Get is a bug of ours that must not reach a fabric. */
	if (!get_may_be_sent(buffer))
		abort();

	link_guard_begin();
	errno = 0;
	r = umad_send(link->fd, agent_of(link, get_class(type)), buffer, GET_MAD_BYTES,
		      (int)timeout_msec, 0);
	if (r < 0)
		r = errno > 0 ? -errno : -EIO;
	link_guard_end();

	switch (r) {
	case -EIO:
	case -EINVAL: /* the kernel took the agents away with the device */
	case -EBADF:
		return -ENODEV;
	default:
		return r;
	}
}

int link_receive(struct link *link, int wait_msec, union get_buffer *ret_buffer, size_t *ret_length,
		 int *ret_status)
{
	int length = GET_MAD_BYTES, r;

	link_guard_begin();
	errno = 0;
	r = umad_recv(link->fd, ret_buffer, &length, wait_msec);
	if (r < 0)
		r = errno > 0 ? -errno : r;
	link_guard_end();

	if (r >= 0) {
		get_wipe_keys(ret_buffer);
		link->failures = 0;
		*ret_length = length > 0 ? (size_t)length : 0;
		*ret_status = umad_status(ret_buffer);
		return 1;
	}
	if (r == -ETIMEDOUT || r == -EAGAIN || r == -EINTR)
		return 0;
	return ++link->failures < FAILURES_MAX ? 0 : -ENODEV;
}

unsigned int link_outstanding_max(const struct link *link)
{
	/* ibsim keeps no more than the last transaction id of a client, and drops the answers of
	 * SMs to all others. */
	return link->simulated ? 1 : IBSM_PROBE_OUTSTANDING_MAX;
}
