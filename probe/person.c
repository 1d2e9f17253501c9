// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What a person asks on the command line, and how the answer is printed.
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "probe/harden.h"
#include "probe/person.h"
#include "util/cleanup.h"

struct person {
	int fd;
	pid_t child;
	uint64_t sequence;
	bool json;
};

static int person_start(struct person *p, const struct serve_options *options, bool json)
{
	/* The child answers within its time-out, or hangs. */
	const struct timeval patience = {
		.tv_sec = (options->timeout_msec + IBSM_PROBE_ANSWER_MSEC + 999) / 1000};
	int sv[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv) < 0)
		return -errno;
	p->child = fork();
	if (p->child < 0) {
		const int r = -errno;

		close(sv[0]);
		close(sv[1]);
		return r;
	}
	if (p->child == 0) {
		harden_close_others(sv[1]);
		exit(serve(sv[1], options) < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
	}
	close(sv[1]);
	setsockopt(sv[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	p->fd = sv[0];
	p->json = json;
	return 0;
}

/* The child ends by itself once its socket is closed, unless it hangs. */
static void person_end(struct person *p)
{
	const struct timespec pause = {.tv_nsec = 10 * 1000 * 1000};

	close(p->fd);
	for (unsigned int i = 0; i < 100; i++) {
		if (waitpid(p->child, NULL, WNOHANG) != 0)
			return;
		nanosleep(&pause, NULL);
	}
	kill(p->child, SIGKILL);
	waitpid(p->child, NULL, 0);
}

static int person_fail(const char *what, const char *why)
{
	fprintf(stderr, "ibsm-probe: %s%s%s\n", what, why ? ": " : "", why ?: "");
	return EXIT_FAILURE;
}

/* Returns whether there is a reply; else stderr says why not. */
static bool person_ask(struct person *p, struct ibsm_probe_order *order,
		       union ibsm_probe_any_reply *ret_reply)
{
	ssize_t n;

	order->header.sequence = ++p->sequence;
	if (send(p->fd, order, sizeof(*order), MSG_NOSIGNAL) < 0) {
		person_fail("cannot order", strerror(errno));
		return false;
	}
	n = recv(p->fd, ret_reply, sizeof(*ret_reply), 0);
	if (n < 0 && errno == EAGAIN) {
		person_fail("no answer from libibumad: it hangs", NULL);
		return false;
	}
	if (n < (ssize_t)sizeof(struct ibsm_probe_reply) || n != ret_reply->head.header.length) {
		person_fail("the process that sends has ended", NULL);
		return false;
	}
	return true;
}

static int person_refused(const char *what, const struct ibsm_probe_result *result)
{
	char line[256];

	if (result->status == IBSM_PROBE_MAD_STATUS)
		snprintf(line, sizeof(line), "%s: MAD status 0x%04x",
			 ibsm_probe_status_text(result->status), result->mad_status);
	else if (result->error != 0)
		snprintf(line, sizeof(line), "%s (%" PRIu32 ", %s) after %" PRIu32 " us",
			 ibsm_probe_status_text(result->status), result->error,
			 strerror((int)result->error), result->round_trip_usec);
	else
		snprintf(line, sizeof(line), "%s", ibsm_probe_status_text(result->status));
	return person_fail(what, line);
}

/* CA names are the kernel's, and dull; a name that is not is made so. */
static const char *dull(char name[24])
{
	for (char *p = name; *p; p++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:",
			    *p))
			*p = '?';
	return name;
}

static const char *sm_state(uint8_t state)
{
	static const char *const names[] = {"not_active", "discovering", "standby", "master"};

	return state < ELEMENTSOF(names) ? names[state] : "unknown";
}

static const char *port_state(uint8_t state)
{
	static const char *const names[] = {"none", "down", "init", "armed", "active"};

	return state < ELEMENTSOF(names) ? names[state] : "unknown";
}

static const char *link_layer(uint8_t layer)
{
	switch (layer) {
	case IBSM_PROBE_LINK_INFINIBAND:
		return "infiniband";
	case IBSM_PROBE_LINK_ETHERNET:
		return "ethernet";
	default:
		return "unknown";
	}
}

static void print_sm_info(const struct ibsm_probe_reply_sm_info *sm, bool json)
{
	if (json)
		printf("{\"lid\":%u,\"guid\":\"0x%016" PRIx64 "\",\"priority\":%u,\"state\":\"%s\","
		       "\"act_count\":%" PRIu32 ",\"round_trip_usec\":%" PRIu32 "}\n",
		       sm->result.lid, sm->guid, sm->priority, sm_state(sm->state), sm->act_count,
		       sm->result.round_trip_usec);
	else
		printf("lid %u guid 0x%016" PRIx64 " priority %u state %s act_count %" PRIu32
		       " round trip %" PRIu32 " us\n",
		       sm->result.lid, sm->guid, sm->priority, sm_state(sm->state), sm->act_count,
		       sm->result.round_trip_usec);
}

static int ask_sm_info(struct person *p, const struct serve_options *options, uint16_t lid)
{
	struct ibsm_probe_order order;
	union ibsm_probe_any_reply reply;

	ibsm_probe_order_init(&order, IBSM_PROBE_PORT, 0);
	order.choice = options->choice.choice;
	order.port = options->choice.port;
	order.port_guid = options->choice.port_guid;
	memcpy(order.ca_name, options->choice.ca_name, sizeof(order.ca_name));
	if (!person_ask(p, &order, &reply))
		return EXIT_FAILURE;
	if (reply.head.result.status != IBSM_PROBE_OK)
		return person_refused("no port", &reply.head.result);

	if (lid == 0) {
		ibsm_probe_order_init(&order, IBSM_PROBE_LOCAL, 0);
		if (!person_ask(p, &order, &reply))
			return EXIT_FAILURE;
		if (reply.head.result.status != IBSM_PROBE_OK)
			return person_refused("the local port", &reply.head.result);
		lid = reply.port_info.sm_lid;
		if (lid < 1 || lid > IBSM_UNICAST_LID_MAX)
			return person_fail("the local port knows of no SM", NULL);
	}

	ibsm_probe_order_init(&order, IBSM_PROBE_SM_INFO, 0);
	order.lid = lid;
	if (!person_ask(p, &order, &reply))
		return EXIT_FAILURE;
	if (reply.head.result.status != IBSM_PROBE_OK) {
		char what[32];

		snprintf(what, sizeof(what), "SMInfo of LID %u", lid);
		return person_refused(what, &reply.head.result);
	}
	print_sm_info(&reply.sm_info, p->json);
	return EXIT_SUCCESS;
}

static void print_ports(struct ibsm_probe_reply_port_list *list, bool json)
{
	if (json)
		printf("{\"ports\":[");
	else
		printf("%-20s %4s  %-18s %5s %6s  %-7s %-10s %5s\n", "CA", "PORT", "GUID", "LID",
		       "SM_LID", "STATE", "LINK", "GB/S");
	for (uint32_t i = 0; i < list->count; i++) {
		struct ibsm_probe_port *port = &list->ports[i];

		if (json)
			printf("%s{\"ca\":\"%s\",\"port\":%u,\"port_guid\":\"0x%016" PRIx64
			       "\",\"node_guid\":\"0x%016" PRIx64
			       "\",\"lid\":%u,\"sm_lid\":%u,\"state\":\"%s\",\"link_layer\":\"%s\","
			       "\"rate_gbps\":%" PRIu32 ",\"chosen\":%s}",
			       i > 0 ? "," : "", dull(port->ca_name), port->port, port->port_guid,
			       port->node_guid, port->lid, port->sm_lid, port_state(port->state),
			       link_layer(port->link_layer), port->rate_gbps,
			       port->chosen ? "true" : "false");
		else
			printf("%-20s %4u  0x%016" PRIx64 " %5u %6u  %-7s %-10s %5" PRIu32 "%s\n",
			       dull(port->ca_name), port->port, port->port_guid, port->lid,
			       port->sm_lid, port_state(port->state), link_layer(port->link_layer),
			       port->rate_gbps, port->chosen ? "  chosen" : "");
	}
	if (json)
		printf("]}\n");
}

static int ask_ports(struct person *p, const struct serve_options *options)
{
	struct ibsm_probe_order order;
	union ibsm_probe_any_reply reply;

	ibsm_probe_order_init(&order, IBSM_PROBE_PORT, 0);
	order.choice = options->choice.choice;
	order.port = options->choice.port;
	order.port_guid = options->choice.port_guid;
	memcpy(order.ca_name, options->choice.ca_name, sizeof(order.ca_name));
	/* Opens what it can, so that the list says which; what it cannot is told there. */
	if (!person_ask(p, &order, &reply))
		return EXIT_FAILURE;
	if (reply.head.result.status == IBSM_PROBE_OPEN_ERROR)
		person_refused(dull(reply.port.port.ca_name), &reply.head.result);

	ibsm_probe_order_init(&order, IBSM_PROBE_PORT_LIST, 0);
	if (!person_ask(p, &order, &reply))
		return EXIT_FAILURE;
	if (reply.head.result.status != IBSM_PROBE_OK)
		return person_refused("no ports", &reply.head.result);
	print_ports(&reply.port_list, p->json);
	return EXIT_SUCCESS;
}

int person_sm_info(const struct serve_options *options, uint16_t lid, bool json)
{
	struct person p = {};
	int r = person_start(&p, options, json);

	if (r < 0)
		return person_fail("cannot start", strerror(-r));
	r = ask_sm_info(&p, options, lid);
	person_end(&p);
	return r;
}

int person_ports(const struct serve_options *options, bool json)
{
	struct person p = {};
	int r = person_start(&p, options, json);

	if (r < 0)
		return person_fail("cannot start", strerror(-r));
	r = ask_ports(&p, options);
	person_end(&p);
	return r;
}
