// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The outside view: has ibsm-probe ask the SMs over the fabric, and tells the detectors what came.
#include "daemon/outside.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "daemon/clock.h"
#include "daemon/health.h"
#include "daemon/manager.h"
#include "daemon/probe-client.h"
#include "fabric/printable.h"
#include "util/cleanup.h"

#ifndef PROBE_PROGRAM_DEFAULT /* the build sets it, from sbindir */
#define PROBE_PROGRAM_DEFAULT "/usr/sbin/ibsm-probe"
#endif

#define LOOK_USEC USEC_PER_SEC	       /* at the local port, while no master answers */
#define FIRST_POLL_WITHIN USEC_PER_SEC /* not all hosts of a cluster in the same instant */
#define BACKOFF_POLLS_MAX 16

/* LIDs that are asked in one poll; and as many again that are no longer, and still wait. */
#define TARGETS_MAX (2 * (SM_TABLE_MAX + 1))

#define PORT_ACTIVE 4 /* IBTA PortState */

struct target {
	uint16_t lid;
	bool asked;	 /* a query is under way */
	bool wanted;	 /* by the last poll */
	uint32_t misses; /* in a row */
	uint32_t wait;	 /* polls to leave out */
};

struct outside {
	struct manager *manager;
	struct probe_client *client; /* NULL: off */
	struct conf_probe conf;	     /* the one that `client` was made with */
	sd_event_source *timer;

	enum outside_state state;
	char why[160];
	char told[160];	  /* the last one that there was a line for in the log */
	bool tell_asking; /* the log's last line says that it does not ask */
	bool lost;

	struct ibsm_probe_port port; /* the one chosen, as far as it tells it from others */
	bool looking;		     /* at it: a LOCAL is under way */
	bool from_sysfs;
	uint16_t lid, sm_lid;
	bool master_answers;
	uint64_t poll_usec; /* when the next one is due */

	struct target targets[TARGETS_MAX];
	size_t target_count;

	uint64_t polls, queries, answers;
	uint64_t polled_realtime_usec;
};

/* One SMInfo under way. */
struct query {
	struct outside *outside;
	uint16_t lid;
	bool to_master_lid;
};

const char *outside_state_name(enum outside_state state)
{
	static const char *const names[] = {
		[OUTSIDE_OFF] = "off",		 [OUTSIDE_AWAY] = "away",
		[OUTSIDE_STARTING] = "starting", [OUTSIDE_NO_PORT] = "no-port",
		[OUTSIDE_INACTIVE] = "inactive", [OUTSIDE_ASKING] = "asking",
	};

	return (size_t)state < ELEMENTSOF(names) ? names[state] : NULL;
}

/* "mlx5_0/1" */
#define PORT_NAME_BYTES sizeof(((struct outside_status *)0)->port)
static void port_name(const struct outside *o, char ret[static PORT_NAME_BYTES])
{
	char name[PORT_NAME_BYTES - sizeof("/255")];

	printable(o->port.ca_name, sizeof(o->port.ca_name), name, sizeof(name));
	ret[0] = '\0';
	if (*name)
		snprintf(ret, PORT_NAME_BYTES, "%s/%u", name, o->port.port);
}

/* ---- what there is to say ---- */

/* The same is not told twice, nor what comes and goes more than once in a while. */
static void tell(struct outside *o, int priority)
{
	char text[sizeof(o->why) + 32];

	if (!*o->why || strcmp(o->told, o->why) == 0)
		return;
	memcpy(o->told, o->why, sizeof(o->told));
	snprintf(text, sizeof(text), "outside view: %s", o->why);
	if (!log_once_test(&o->manager->once, text, now_monotonic_usec()))
		return;
	log_line(priority, "%s", text);
	o->tell_asking = true;
}

static void forget_local(struct outside *o)
{
	o->lid = o->sm_lid = 0;
	o->from_sysfs = false;
	o->master_answers = false;
}

static void lost(struct outside *o, enum outside_state state)
{
	o->state = state;
	if (o->lost)
		return;
	o->lost = true;
	/* They are to be asked again at once when it is back. */
	for (size_t i = 0; i < o->target_count; i++)
		o->targets[i].misses = o->targets[i].wait = 0;
	health_outside_lost(o->manager);
}

static void found(struct outside *o)
{
	char port[PORT_NAME_BYTES];

	o->state = OUTSIDE_ASKING;
	if (!o->lost)
		return;
	o->lost = false;
	o->why[0] = o->told[0] = '\0';
	if (!o->tell_asking)
		return;
	o->tell_asking = false;
	port_name(o, port);
	log_info("outside view: asking from %s", port);
}

/* Why ibsm-probe is away, in o->why; "" as long as that is not known. */
static void say_trouble(struct outside *o, const struct probe_client_status *status)
{
	const char *name = o->conf.socket ?: o->conf.program ?: PROBE_PROGRAM_DEFAULT;

	o->why[0] = '\0';
	switch (status->trouble) {
	case PROBE_CLIENT_FINE:
		break;
	case PROBE_CLIENT_CANNOT_START:
		snprintf(o->why, sizeof(o->why), "cannot %s %.100s: %s",
			 o->conf.socket ? "connect to" : "start", name,
			 strerrordesc_np(status->error) ?: "unknown error");
		break;
	case PROBE_CLIENT_ENDED:
		if (status->exit_signal > 0)
			snprintf(o->why, sizeof(o->why), "ibsm-probe was ended by SIG%s",
				 sigabbrev_np(status->exit_signal) ?: "?");
		else if (status->exit_code >= 0)
			snprintf(o->why, sizeof(o->why), "ibsm-probe ended with %d",
				 status->exit_code);
		else if (o->conf.socket)
			snprintf(o->why, sizeof(o->why), "ibsm-probe has closed the connection");
		break;
	case PROBE_CLIENT_HUNG:
		snprintf(o->why, sizeof(o->why), "ibsm-probe hung, and is started again");
		break;
	case PROBE_CLIENT_GARBAGE:
		snprintf(o->why, sizeof(o->why), "ibsm-probe does not keep to its protocol");
		break;
	case PROBE_CLIENT_VERSION:
		snprintf(o->why, sizeof(o->why), "ibsm-probe speaks another version");
		break;
	}
}

/* A port that cannot be asked from, by the result of an order. */
static void no_port(struct outside *o, const struct ibsm_probe_result *result)
{
	const char *error = result->error ? strerrordesc_np((int)result->error) : NULL;

	forget_local(o);
	snprintf(o->why, sizeof(o->why), "%s%s%s", ibsm_probe_status_text(result->status),
		 error ? ": " : "", error ?: "");
	lost(o, OUTSIDE_NO_PORT);
	/* Many a host has none, and is none the worse for it. */
	tell(o, result->status == IBSM_PROBE_NO_DEVICE ? LOG_INFO : LOG_WARNING);
}

/* ---- asking ---- */

static void arm(struct outside *o, uint64_t usec)
{
	(void)sd_event_source_set_time(o->timer, usec);
	(void)sd_event_source_set_enabled(o->timer, SD_EVENT_ONESHOT);
}

/* The next look: when the next poll is due, or sooner where a master is missed. */
static void arm_next(struct outside *o, uint64_t now)
{
	const bool missed = o->state == OUTSIDE_ASKING && !o->master_answers;

	arm(o, missed && now + LOOK_USEC < o->poll_usec ? now + LOOK_USEC : o->poll_usec);
}

static struct target *find_target(struct outside *o, uint16_t lid)
{
	for (size_t i = 0; i < o->target_count; i++)
		if (o->targets[i].lid == lid)
			return &o->targets[i];
	return NULL;
}

static void want(struct outside *o, uint16_t lid)
{
	struct target *target = find_target(o, lid);

	if (lid == 0 || lid > IBSM_UNICAST_LID_MAX)
		return;
	if (!target && o->target_count < TARGETS_MAX) {
		target = &o->targets[o->target_count++];
		*target = (struct target){.lid = lid};
	}
	if (target)
		target->wanted = true;
}

/* Those of the SM LID and of all SMs that are known; others go when nothing is under way. */
static void choose_targets(struct outside *o)
{
	const struct sm_table *table = detect_sm_table(o->manager->health.sm);
	size_t kept = 0;

	for (size_t i = 0; i < o->target_count; i++)
		o->targets[i].wanted = false;
	want(o, o->sm_lid);
	for (size_t i = 0; i < table->count; i++)
		want(o, sm_entry_lid(&table->entries[i]));
	for (size_t i = 0; i < o->target_count; i++)
		if (o->targets[i].wanted || o->targets[i].asked)
			o->targets[kept++] = o->targets[i];
	o->target_count = kept;
}

/* The outcome of a query as an errno: 0 an answer, negative: it was never sent. */
static int outcome(const union ibsm_probe_any_reply *reply)
{
	switch (reply->head.result.status) {
	case IBSM_PROBE_OK:
		/* An SM has a GUID and one of four states, whatever the fabric says. */
		return reply->sm_info.guid != 0 && reply->sm_info.state <= IBSM_SM_MASTER ? 0
											  : EBADMSG;
	case IBSM_PROBE_TIMEOUT:
		return ETIMEDOUT;
	case IBSM_PROBE_RECEIVE_ERROR:
		return reply->head.result.error > 0 && reply->head.result.error < 4096
			       ? (int)reply->head.result.error
			       : EIO;
	case IBSM_PROBE_MAD_STATUS:
		return EOPNOTSUPP;
	case IBSM_PROBE_BAD_ANSWER:
		return EBADMSG;
	default:
		return -EAGAIN;
	}
}

static void back_off(const struct outside *o, struct target *target, bool answered)
{
	const uint32_t patience = o->manager->conf.sm.unresponsive_polls;

	target->wait = 0;
	target->misses = answered ? 0 : target->misses + 1;
	if (target->misses >= patience) {
		uint32_t doublings = target->misses - patience + 1;

		target->wait =
			doublings < 4 ? (UINT32_C(1) << doublings) - 1 : BACKOFF_POLLS_MAX - 1;
	}
}

static void take_sm_info(struct outside *o, const struct query *query,
			 const union ibsm_probe_any_reply *reply)
{
	struct target *target = find_target(o, query->lid);
	const int status = outcome(reply);
	struct sm_reply sm = {
		.lid = query->lid,
		.rtt_usec = reply->head.result.round_trip_usec,
		.status = status,
		.to_master_lid = query->to_master_lid,
	};

	/* What came after the view was lost belongs to another time. */
	if (status < 0 || o->lost)
		return;
	o->queries++;
	if (status == 0) {
		o->answers++;
		sm.guid = reply->sm_info.guid;
		sm.priority = reply->sm_info.priority;
		sm.state = reply->sm_info.state;
		sm.act_count = reply->sm_info.act_count;
	}
	if (target)
		back_off(o, target, status == 0);
	if (query->to_master_lid && query->lid == o->sm_lid) {
		o->master_answers = status == 0 && sm.state == IBSM_SM_MASTER;
		arm_next(o, now_monotonic_usec());
	}
	health_reply(o->manager, &sm);
}

static void on_sm_info(struct probe_client *client, int error,
		       const union ibsm_probe_any_reply *reply, void *userdata)
{
	_cleanup_free_ struct query *query = userdata;
	struct target *target = find_target(query->outside, query->lid);

	(void)client;
	if (target)
		target->asked = false;
	if (error == 0)
		take_sm_info(query->outside, query, reply);
}

static void ask(struct outside *o, struct target *target)
{
	const bool to_master_lid = target->lid == o->sm_lid;
	_cleanup_free_ struct query *query = NULL;

	if (target->asked)
		return;
	if (target->wait > 0 && !to_master_lid) {
		target->wait--;
		return;
	}
	query = malloc(sizeof(*query));
	if (!query)
		return;
	*query = (struct query){o, target->lid, to_master_lid};
	/* What cannot be asked now is asked in the next poll. */
	if (probe_client_sm_info(o->client, target->lid, on_sm_info, query) == 0) {
		target->asked = true;
		TAKE_PTR(query);
	}
}

static void poll_sms(struct outside *o, uint64_t now)
{
	o->poll_usec = now + o->manager->conf.probe.poll_usec;
	o->polls++;
	o->polled_realtime_usec = now_realtime_usec();
	choose_targets(o);
	for (size_t i = 0; i < o->target_count; i++)
		if (o->targets[i].wanted)
			ask(o, &o->targets[i]);
}

/* ---- the local port ---- */

static const char *port_state_text(uint8_t state)
{
	switch (state) {
	case 1:
		return "is down";
	case 2:
		return "has a link, but no SM has set it up";
	case 3:
		return "is armed, but not active";
	case PORT_ACTIVE:
		return "has no LID";
	default:
		return "is in an unknown state";
	}
}

static void inactive(struct outside *o, uint8_t state)
{
	char port[PORT_NAME_BYTES];

	forget_local(o);
	port_name(o, port);
	snprintf(o->why, sizeof(o->why), "port %s %s", port, port_state_text(state));
	lost(o, OUTSIDE_INACTIVE);
	tell(o, LOG_WARNING);
}

static void take_local(struct outside *o, const struct ibsm_probe_reply_port_info *info,
		       uint64_t now)
{
	const bool news = o->lost || info->sm_lid != o->sm_lid;

	if (info->state != PORT_ACTIVE || info->lid == 0 || info->lid > IBSM_UNICAST_LID_MAX) {
		inactive(o, info->state);
		return;
	}
	o->lid = info->lid;
	o->from_sysfs = info->source == IBSM_PROBE_SOURCE_SYSFS;
	if (news)
		o->master_answers = false;
	o->sm_lid = info->sm_lid;
	found(o);
	if (news || now >= o->poll_usec)
		poll_sms(o, now);
}

static void on_local(struct probe_client *client, int error,
		     const union ibsm_probe_any_reply *reply, void *userdata)
{
	const uint64_t now = now_monotonic_usec();
	struct outside *o = userdata;

	(void)client;
	o->looking = false;
	if (error < 0)
		return; /* ibsm-probe is away, which `changed` tells of */
	switch (reply->head.result.status) {
	case IBSM_PROBE_OK:
		take_local(o, &reply->port_info, now);
		break;
	case IBSM_PROBE_NO_DEVICE:
	case IBSM_PROBE_NO_PORT:
	case IBSM_PROBE_NOT_INFINIBAND:
	case IBSM_PROBE_OPEN_ERROR:
		no_port(o, &reply->head.result);
		break;
	default:
		/* Not sent, or another port was chosen meanwhile: looked at again. */
		break;
	}
	if (o->poll_usec <= now)
		o->poll_usec = now + o->manager->conf.probe.poll_usec;
	arm_next(o, now);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct outside *o = userdata;

	(void)source;
	(void)usec;
	/* Else whoever answers, or is there again, goes on. */
	if (o->looking || probe_client_status(o->client)->state != PROBE_CLIENT_READY)
		return 0;
	if (probe_client_local(o->client, on_local, o) == 0)
		o->looking = true;
	else
		arm(o, now_monotonic_usec() + o->manager->conf.probe.poll_usec);
	return 0;
}

/* ---- ibsm-probe's own life ---- */

static void on_ports(struct probe_client *client, int error,
		     const union ibsm_probe_any_reply *reply, void *userdata)
{
	uint64_t guids[IBSM_PROBE_PORTS_MAX];
	struct outside *o = userdata;
	size_t count = 0;

	(void)client;
	if (error < 0 || reply->head.result.status != IBSM_PROBE_OK)
		return;
	for (size_t i = 0; i < reply->port_list.count && i < IBSM_PROBE_PORTS_MAX; i++) {
		const struct ibsm_probe_port *port = &reply->port_list.ports[i];

		if (port->link_layer != IBSM_PROBE_LINK_ETHERNET && port->port_guid != 0)
			guids[count++] = port->port_guid;
	}
	health_local_ports(o->manager, guids, count);
}

static uint64_t jitter_usec(void)
{
	uint64_t value = 0;

	/* Without randomness they all begin at once, which does no harm. */
	if (getrandom(&value, sizeof(value), GRND_NONBLOCK) != sizeof(value))
		return 0;
	return value % FIRST_POLL_WITHIN;
}

static bool same_port(const struct ibsm_probe_port *a, const struct ibsm_probe_port *b)
{
	return a->port_guid == b->port_guid && a->port == b->port &&
	       memcmp(a->ca_name, b->ca_name, sizeof(a->ca_name)) == 0;
}

/* There is a port to ask from: the first one, another one, or news of the same. */
static void take_port(struct outside *o, const struct ibsm_probe_port *port)
{
	const uint64_t now = now_monotonic_usec();

	if ((o->state == OUTSIDE_ASKING || o->state == OUTSIDE_INACTIVE) &&
	    same_port(port, &o->port)) {
		arm(o, now);
		return;
	}
	forget_local(o);
	o->port = *port;
	o->why[0] = '\0';
	lost(o, OUTSIDE_INACTIVE);
	o->poll_usec = now + jitter_usec();
	arm(o, o->poll_usec);
}

static void on_changed(struct probe_client *client, void *userdata)
{
	const struct probe_client_status *status = probe_client_status(client);
	struct outside *o = userdata;

	switch (status->state) {
	case PROBE_CLIENT_STOPPED:
	case PROBE_CLIENT_STARTING:
		return;
	case PROBE_CLIENT_AWAY:
		forget_local(o);
		say_trouble(o, status);
		lost(o, OUTSIDE_AWAY);
		tell(o, LOG_WARNING);
		return;
	case PROBE_CLIENT_NO_PORT:
		no_port(o, &status->port.result);
		break;
	case PROBE_CLIENT_READY:
		take_port(o, &status->port.port);
		break;
	}
	/* What cannot be asked now is asked when it has changed again. */
	(void)probe_client_order(client, IBSM_PROBE_PORT_LIST, 0, 0, on_ports, o);
}

static void clear_conf(struct outside *o)
{
	free(o->conf.program);
	free(o->conf.socket);
	o->conf = (struct conf_probe){0};
}

static int copy_conf(struct outside *o, const struct conf_probe *conf)
{
	struct conf_probe copy = *conf;

	copy.program = conf->program ? strdup(conf->program) : NULL;
	copy.socket = conf->socket ? strdup(conf->socket) : NULL;
	if (!copy.program != !conf->program || !copy.socket != !conf->socket) {
		free(copy.program);
		free(copy.socket);
		return -ENOMEM;
	}
	clear_conf(o);
	o->conf = copy;
	return 0;
}

/* With the configuration as it is now; a client that was there is gone. */
static int begin(struct outside *o)
{
	struct probe_client_options options = {.changed = on_changed, .userdata = o};
	int r;

	r = copy_conf(o, &o->manager->conf.probe);
	if (r < 0 || !o->conf.enabled)
		return r;
	if (o->conf.socket)
		options.socket_path = o->conf.socket;
	else
		options.program = o->conf.program ?: PROBE_PROGRAM_DEFAULT;
	options.choice = o->conf.port;
	options.timeout_msec = (uint32_t)(o->conf.timeout_usec / USEC_PER_MSEC);
	r = probe_client_new(o->manager->event, &options, &o->client);
	if (r < 0)
		return r;
	o->state = OUTSIDE_STARTING;
	o->tell_asking = true;
	return probe_client_start(o->client);
}

static void end(struct outside *o)
{
	(void)sd_event_source_set_enabled(o->timer, SD_EVENT_OFF);
	probe_client_free(o->client);
	o->client = NULL;
	forget_local(o);
	o->why[0] = o->told[0] = '\0';
}

int outside_new(struct manager *manager, struct outside **ret)
{
	struct outside *o = calloc(1, sizeof(*o));
	int r;

	if (!o)
		return -ENOMEM;
	o->manager = manager;
	o->lost = true;
	r = sd_event_add_time(manager->event, &o->timer, CLOCK_MONOTONIC, UINT64_MAX,
			      10 * USEC_PER_MSEC, on_timer, o);
	if (r >= 0) {
		(void)sd_event_source_set_description(o->timer, "outside");
		r = sd_event_source_set_enabled(o->timer, SD_EVENT_OFF);
	}
	if (r >= 0)
		r = begin(o);
	if (r < 0) {
		outside_free(o);
		return r;
	}
	*ret = o;
	return 0;
}

struct outside *outside_free(struct outside *o)
{
	if (!o)
		return NULL;
	end(o);
	sd_event_source_disable_unref(o->timer);
	clear_conf(o);
	free(o);
	return NULL;
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

void outside_reload(struct outside *o)
{
	const struct conf_probe *conf = &o->manager->conf.probe;
	int r = 0;

	if (conf->enabled != o->conf.enabled || !same_text(conf->program, o->conf.program) ||
	    !same_text(conf->socket, o->conf.socket) ||
	    conf->timeout_usec != o->conf.timeout_usec) {
		end(o);
		lost(o, OUTSIDE_OFF);
		r = begin(o);
	} else if (o->client && memcmp(&conf->port, &o->conf.port, sizeof(conf->port)) != 0) {
		o->conf.port = conf->port;
		r = probe_client_set_choice(o->client, &conf->port);
	}
	if (r < 0)
		log_error("outside view: %s", strerrordesc_np(-r) ?: "unknown error");

	/* PollSec= holds from now on. */
	if (o->state == OUTSIDE_ASKING || o->state == OUTSIDE_INACTIVE) {
		const uint64_t latest = now_monotonic_usec() + conf->poll_usec;

		if (o->poll_usec > latest) {
			o->poll_usec = latest;
			arm_next(o, now_monotonic_usec());
		}
	}
}

void outside_status(const struct outside *o, struct outside_status *ret)
{
	const struct probe_client_status *client =
		o->client ? probe_client_status(o->client) : NULL;

	*ret = (struct outside_status){
		.state = o->state,
		.from_sysfs = o->from_sysfs,
		.lid = o->lid,
		.sm_lid = o->sm_lid,
		.master_answers = o->master_answers,
		.polls = o->polls,
		.queries = o->queries,
		.answers = o->answers,
		.polled_realtime_usec = o->polled_realtime_usec,
	};
	memcpy(ret->why, o->why, sizeof(ret->why));
	if (!client)
		return;
	if (client->state == PROBE_CLIENT_STARTING)
		ret->state = OUTSIDE_STARTING;
	if (client->state == PROBE_CLIENT_READY) {
		port_name(o, ret->port);
		ret->port_guid = o->port.port_guid;
	}
	printable(client->version, sizeof(client->version), ret->version, sizeof(ret->version));
	ret->pid = client->pid;
	ret->starts = client->starts;
}
