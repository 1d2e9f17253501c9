// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// ibsmd's end of ibsm-probe: starts or finds it, gives it orders, and lives with its dying.
#pragma once

#include <stdint.h>

#include <systemd/sd-event.h>

#include <ibsm/probe.h>

/*
 * ibsm-probe may hang, die, speak nonsense or be absent: an order then ends with an error, and
 * ibsm-probe is started again, or connected to again, after a pause that doubles with each failure.
 * Everything happens on the thread of the event loop; nothing here blocks but probe_client_free(),
 * and nothing logs: whoever owns the client reads its status in `changed` and says what there is to
 * say.
 */

struct probe_client;

enum probe_client_state {
	PROBE_CLIENT_STOPPED = 0,  /* not started yet */
	PROBE_CLIENT_AWAY = 1,	   /* ended, killed or not there: waits for the next try */
	PROBE_CLIENT_STARTING = 2, /* started or connected, has not said a word */
	PROBE_CLIENT_NO_PORT = 3,  /* alive, but without a port: status.port says why */
	PROBE_CLIENT_READY = 4,	   /* has a port */
};

enum probe_client_trouble {
	PROBE_CLIENT_FINE = 0,
	PROBE_CLIENT_CANNOT_START = 1, /* `error` of posix_spawn() or connect() */
	PROBE_CLIENT_ENDED = 2,	       /* closed its end, or died: `exit_code`, `exit_signal` */
	PROBE_CLIENT_HUNG = 3,	       /* an order was not answered: killed */
	PROBE_CLIENT_GARBAGE = 4,      /* sent what is no reply to any order: killed */
	PROBE_CLIENT_VERSION = 5,      /* speaks another version: killed */
};

struct probe_client_status {
	enum probe_client_state state;
	enum probe_client_trouble trouble; /* why it was last away; FINE if it never was */
	int error;			   /* with CANNOT_START: a positive errno */
	int exit_code;	     /* with ENDED, where it is our child: -1 if by a signal */
	int exit_signal;     /* 0 if by itself */
	uint64_t retry_usec; /* AWAY: CLOCK_MONOTONIC of the next try */
	uint64_t starts;     /* tries that got as far as a socket */
	uint64_t failures;   /* times it went away */
	uint64_t kills;
	uint64_t orders; /* taken for callers */
	uint64_t answers;
	uint64_t lost; /* orders that ended with an error instead */
	uint32_t pid;  /* as ibsm-probe says it, 0 unknown */
	char version[32];
	struct ibsm_probe_reply_port port; /* the last answer to "which port"; all 0: none yet */
};

struct probe_client_options {
	const char *program;	 /* ibsm-probe, to be started; or NULL: */
	const char *socket_path; /* the socket that its unit listens on */

	struct ibsm_probe_order choice; /* choice, ca_name, port, port_guid count: see
					   ibsm_probe_parse_port() */
	uint32_t timeout_msec;		/* of queries; 0: ibsm-probe's default */

	/* 0 each: what limits.h has. */
	uint64_t answer_usec;	   /* IBSM_PROBE_ANSWER_MSEC */
	uint64_t relook_usec;	   /* IBSM_PROBE_RELOOK_SEC */
	uint64_t restart_usec;	   /* IBSM_PROBE_RESTART_MSEC */
	uint64_t restart_max_usec; /* IBSM_PROBE_RESTART_MSEC_MAX */

	/* The status says something new; may call all of the below but probe_client_free(). NULL:
	 * nobody cares. */
	void (*changed)(struct probe_client *client, void *userdata);
	void *userdata;
};

/*
 * What became of an order. @error: 0, and @reply is its reply, whose result.status may still say
 * that the query failed; -ETIMEDOUT: ibsm-probe hung; -ECONNRESET: ibsm-probe went away first;
 * -ECANCELED: the client is being freed. @reply is valid during the call, NULL with an error.
 * May give new orders; must not free the client.
 */
typedef void (*probe_client_callback)(struct probe_client *client, int error,
				      const union ibsm_probe_any_reply *reply, void *userdata);

/*
 * @options are copied. Takes a reference on @event. Returns 0 or -ENOMEM, -EINVAL (neither or both
 * of program and socket_path).
 */
int probe_client_new(sd_event *event, const struct probe_client_options *options,
		     struct probe_client **ret_client);

/*
 * Ends what was started: it gets a second to leave, then it is killed. Orders under way end with
 * -ECANCELED, called from here. Accepts NULL.
 */
void probe_client_free(struct probe_client *client);

/* Start or connect now. Failure is no error: it is tried again. Returns 0 or a negative errno of
 * the event loop. */
int probe_client_start(struct probe_client *client);

const struct probe_client_status *probe_client_status(const struct probe_client *client);

/* Choose another port, from now on. Queries under way on the old one end with PORT_LOST. */
int probe_client_set_choice(struct probe_client *client, const struct ibsm_probe_order *choice);

/*
 * Give an order: @callback is called exactly once, later, never from within. Queries of one LID are
 * sent one after the other, and no more at a time than ibsm-probe's port takes; what waits, waits
 * here.
 *
 * Returns 0; -ENOTCONN: ibsm-probe is away or just starting; -EBUSY: IBSM_PROBE_PENDING_MAX orders
 * wait already; -EINVAL: @type is no order that callers give. Then @callback is not called.
 */
int probe_client_order(struct probe_client *client, uint16_t type, uint16_t lid, uint8_t port,
		       probe_client_callback callback, void *userdata);

/* reply->port_info: the local port's LID and sm_lid. */
static inline int probe_client_local(struct probe_client *client, probe_client_callback callback,
				     void *userdata)
{
	return probe_client_order(client, IBSM_PROBE_LOCAL, 0, 0, callback, userdata);
}

/* reply->sm_info. */
static inline int probe_client_sm_info(struct probe_client *client, uint16_t lid,
				       probe_client_callback callback, void *userdata)
{
	return probe_client_order(client, IBSM_PROBE_SM_INFO, lid, 0, callback, userdata);
}

/* reply->node_info. */
static inline int probe_client_node_info(struct probe_client *client, uint16_t lid,
					 probe_client_callback callback, void *userdata)
{
	return probe_client_order(client, IBSM_PROBE_NODE_INFO, lid, 0, callback, userdata);
}

/* reply->node_desc. */
static inline int probe_client_node_desc(struct probe_client *client, uint16_t lid,
					 probe_client_callback callback, void *userdata)
{
	return probe_client_order(client, IBSM_PROBE_NODE_DESC, lid, 0, callback, userdata);
}

/* reply->port_info. */
static inline int probe_client_port_info(struct probe_client *client, uint16_t lid, uint8_t port,
					 probe_client_callback callback, void *userdata)
{
	return probe_client_order(client, IBSM_PROBE_PORT_INFO, lid, port, callback, userdata);
}
