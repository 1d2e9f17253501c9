// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The outside view over a fake ibsm-probe with a fabric behind it: what is asked, when, and told.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/clock.h"
#include "daemon/health.h"
#include "daemon/manager.h"
#include "daemon/outside.h"
#include "util/cleanup.h"

/*
 * The fake is this program itself, started with --socket-fd=3. It looks at each order into `fake`,
 * memory that it shares with the test: what its port is like, and what is at each LID.
 */

#define LIDS 32
#define FAKE_FD "IBSM_FAKE_FD"

enum at_lid {
	NOTHING, /* times out at once */
	SM,	 /* answers as `state`, with `guid` */
	REFUSES, /* with a MAD status */
	BUSY,	 /* is not sent */
	HELD,	 /* no reply until it is something else */
	KILLS,	 /* ibsm-probe exits with 3 */
};

struct fake {
	_Atomic uint16_t port_status; /* of PORT */
	_Atomic uint16_t local_status;
	_Atomic uint8_t port_state;
	_Atomic uint16_t lid, sm_lid;
	struct {
		_Atomic int is;
		_Atomic uint8_t state;
		_Atomic uint64_t guid;
	} at[LIDS];

	/* What came. */
	_Atomic unsigned int ports, locals, starts;
	_Atomic unsigned int asked[LIDS];
	_Atomic uint32_t timeout_msec; /* of the last query */
};

static struct fake *fake;

static void fake_reply(int fd, const struct ibsm_probe_order *order,
		       union ibsm_probe_any_reply *reply)
{
	reply->head.header.magic = IBSM_PROBE_MAGIC;
	reply->head.header.version = IBSM_PROBE_VERSION;
	reply->head.header.type = (uint16_t)(order->header.type | IBSM_PROBE_REPLY);
	reply->head.header.length = ibsm_probe_reply_length(order->header.type);
	reply->head.header.sequence = order->header.sequence;
	reply->head.result.lid = order->lid;
	if (send(fd, reply, reply->head.header.length, MSG_NOSIGNAL) < 0)
		_exit(9);
}

static void fake_port(const struct ibsm_probe_order *order, struct ibsm_probe_reply_port *reply)
{
	fake->ports++;
	reply->outstanding_max = 8;
	reply->result.status = fake->port_status;
	if (reply->result.status != IBSM_PROBE_OK)
		return;
	strcpy(reply->port.ca_name,
	       order->choice == IBSM_PROBE_CHOICE_NAME ? order->ca_name : "fake0");
	reply->port.port = 1;
	reply->port.port_guid = 0xabc;
	reply->port.sm_lid = fake->sm_lid; /* as sysfs has it */
}

static void fake_sm_info(int fd, const struct ibsm_probe_order *order)
{
	union ibsm_probe_any_reply reply = {};
	const uint16_t lid = order->lid;

	switch (atomic_load(&fake->at[lid].is)) {
	case KILLS:
		_exit(3);
	case SM:
		reply.sm_info.guid = fake->at[lid].guid;
		reply.sm_info.state = fake->at[lid].state;
		reply.sm_info.priority = 7;
		reply.sm_info.act_count = 1000 + fake->asked[lid];
		reply.head.result.round_trip_usec = 42;
		break;
	case REFUSES:
		reply.head.result.status = IBSM_PROBE_MAD_STATUS;
		reply.head.result.mad_status = 0x0c;
		break;
	case BUSY:
		reply.head.result.status = IBSM_PROBE_BUSY;
		break;
	default:
		reply.head.result.status = IBSM_PROBE_TIMEOUT;
		reply.head.result.error = ETIMEDOUT;
	}
	fake_reply(fd, order, &reply);
}

/* A query that gets no reply yet. */
static struct ibsm_probe_order held;

static void fake_take_sm_info(int fd, const struct ibsm_probe_order *order)
{
	fake->asked[order->lid]++;
	fake->timeout_msec = order->timeout_msec;
	if (fake->at[order->lid].is == HELD)
		held = *order;
	else
		fake_sm_info(fd, order);
}

/* Wait for an order; returns false when there will be none. */
static bool fake_wait(int fd, struct ibsm_probe_order *ret)
{
	struct pollfd pfd = {.fd = fd, .events = POLLIN};

	while (held.header.magic && poll(&pfd, 1, 1) == 0) {
		if (fake->at[held.lid].is != HELD) {
			fake_sm_info(fd, &held);
			held.header.magic = 0;
		}
	}
	return recv(fd, ret, sizeof(*ret), 0) == sizeof(*ret);
}

static void fake_map(int fd)
{
	fake = mmap(NULL, sizeof(*fake), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fake == MAP_FAILED)
		_exit(8);
}

static int fake_main(int fd)
{
	struct ibsm_probe_order order;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	fake_map(atoi(getenv(FAKE_FD)));
	fake->starts++;
	while (fake_wait(fd, &order)) {
		union ibsm_probe_any_reply reply = {};

		switch (order.header.type) {
		case IBSM_PROBE_PING:
			strcpy(reply.ping.version, "fake");
			reply.ping.pid = (uint32_t)getpid();
			fake_reply(fd, &order, &reply);
			break;
		case IBSM_PROBE_PORT:
			fake_port(&order, &reply.port);
			fake_reply(fd, &order, &reply);
			break;
		case IBSM_PROBE_PORT_LIST:
			reply.port_list.count = reply.port_list.total = 3;
			for (size_t i = 0; i < 3; i++) {
				reply.port_list.ports[i].port_guid = 0xabc + i;
				reply.port_list.ports[i].link_layer =
					i == 1 ? IBSM_PROBE_LINK_ETHERNET
					       : IBSM_PROBE_LINK_INFINIBAND;
			}
			fake_reply(fd, &order, &reply);
			break;
		case IBSM_PROBE_LOCAL:
			fake->locals++;
			reply.port_info.state = fake->port_state;
			reply.port_info.lid = fake->lid;
			reply.port_info.sm_lid = fake->sm_lid;
			reply.port_info.source = IBSM_PROBE_SOURCE_MAD;
			reply.head.result.status = fake->local_status;
			fake_reply(fd, &order, &reply);
			break;
		default:
			fake_take_sm_info(fd, &order);
		}
	}
	return 0;
}

/* ---- what the outside view tells ---- */

static struct manager m;
static struct outside *outside;
static unsigned int losses;
static uint64_t local_ports[8];
static size_t local_count;
static struct sm_reply replies[4096];
static unsigned int reply_count;

static struct detect_time now(void)
{
	return (struct detect_time){.monotonic_usec = now_monotonic_usec(),
				    .realtime_usec = now_realtime_usec()};
}

void health_reply(struct manager *manager, const struct sm_reply *reply)
{
	assert_ptr_equal(manager, &m);
	assert_true(reply_count < ELEMENTSOF(replies));
	replies[reply_count++] = *reply;
	detect_sm_input(
		m.health.sm,
		&(struct detect_sm_input){.type = DETECT_SM_REPLY, .now = now(), .reply = *reply});
}

void health_outside_lost(struct manager *manager)
{
	assert_ptr_equal(manager, &m);
	losses++;
	detect_sm_input(m.health.sm,
			&(struct detect_sm_input){.type = DETECT_SM_OUTSIDE_LOST, .now = now()});
}

void health_local_ports(struct manager *manager, const uint64_t *port_guids, size_t count)
{
	assert_ptr_equal(manager, &m);
	assert_true(count <= ELEMENTSOF(local_ports));
	memcpy(local_ports, port_guids, count * sizeof(*port_guids));
	local_count = count;
}

static bool sm_lost(void)
{
	const struct alert_set *set = m.health.alerts;

	for (size_t i = 0; i < alert_set_open(set); i++)
		if (alert_set_get(set, i)->kind == DETECT_SM_LOST)
			return true;
	return false;
}

/* ---- a world ---- */

static char logged[1 << 14];

void log_line(int priority, const char *format, ...)
{
	const size_t length = strlen(logged);
	va_list args;

	(void)priority;
	va_start(args, format);
	vsnprintf(logged + length, sizeof(logged) - length, format, args);
	va_end(args);
	assert_true(strlen(logged) < sizeof(logged) - 2);
	strcat(logged, "\n");
}

/* That the same is not told twice is here not left to the time that has gone by. */
static bool log_is_full;

bool log_once_test(struct log_once *once, const char *text, uint64_t now_usec)
{
	assert_ptr_equal(once, &m.once);
	assert_non_null(text);
	assert_true(now_usec > 0);
	return !log_is_full;
}

/* How often it was logged in this world. */
static unsigned int log_lines(const char *what)
{
	unsigned int n = 0;

	for (const char *p = logged; (p = strstr(p, what)); p++)
		n++;
	return n;
}

static int setup(void **state)
{
	struct detect_time t = now();

	(void)state;
	memset(fake, 0, sizeof(*fake));
	fake->port_state = 4;
	fake->lid = 3;
	fake->sm_lid = 5;
	memset(&m, 0, sizeof(m));
	losses = reply_count = 0;
	local_count = 0;
	logged[0] = '\0';
	log_is_full = false;
	assert_int_equal(sd_event_new(&m.event), 0);
	assert_int_equal(conf_init(&m.conf), 0);
	m.conf.probe.program = strdup("/proc/self/exe");
	m.conf.probe.poll_usec = 5 * USEC_PER_MSEC;
	assert_int_equal(alert_set_new(NULL, NULL, &m.health.alerts), 0);
	assert_int_equal(detect_sm_new(&m.conf.sm, m.health.alerts, &t, &m.health.sm), 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	outside = outside_free(outside);
	detect_sm_free(m.health.sm);
	alert_set_free(m.health.alerts);
	conf_clear(&m.conf);
	sd_event_unref(m.event);
	/* Nothing that was started is left. */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	return 0;
}

static void start(void)
{
	assert_int_equal(outside_new(&m, &outside), 0);
}

static void put_sm(uint16_t lid, uint64_t guid, uint8_t state)
{
	fake->at[lid].guid = guid;
	fake->at[lid].state = state;
	fake->at[lid].is = SM;
}

/* Known by its plugin: the outside view gets to know of its LID. */
static void know_sm(uint16_t lid, uint64_t guid)
{
	detect_sm_input(m.health.sm, &(struct detect_sm_input){.type = DETECT_SM_SELF,
							       .now = now(),
							       .self = {.port_guid = guid,
									.instance = guid,
									.lid = lid,
									.state = IBSM_SM_STANDBY,
									.priority = 1}});
}

static struct outside_status get_status(void)
{
	struct outside_status status;

	outside_status(outside, &status);
	return status;
}

/* Run the loop until @condition holds; the program's alarm ends a test that waits in vain. */
#define UNTIL(condition)                                                                           \
	do {                                                                                       \
		while (!(condition))                                                               \
			assert_true(sd_event_run(m.event, UINT64_MAX) >= 0);                       \
	} while (0)

static unsigned int replies_of(uint16_t lid)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < reply_count; i++)
		n += replies[i].lid == lid;
	return n;
}

static unsigned int unanswered(void)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < reply_count; i++)
		n += replies[i].status != 0;
	return n;
}

/* ---- tests ---- */

static void test_asks_the_master(void **state)
{
	struct outside_status status;

	(void)state;
	put_sm(5, 0x55, IBSM_SM_MASTER);
	m.conf.probe.timeout_usec = 250 * USEC_PER_MSEC;
	start();
	assert_int_equal(get_status().state, OUTSIDE_STARTING);
	UNTIL(reply_count == 2 && local_count > 0);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(replies[i].status, 0);
		assert_int_equal(replies[i].lid, 5);
		assert_int_equal(replies[i].guid, 0x55);
		assert_int_equal(replies[i].state, IBSM_SM_MASTER);
		assert_int_equal(replies[i].priority, 7);
		assert_int_equal(replies[i].act_count, 1001 + i);
		assert_int_equal(replies[i].rtt_usec, 42);
		assert_true(replies[i].to_master_lid);
	}
	assert_int_equal(fake->timeout_msec, 250);
	assert_int_equal(losses, 0);

	/* All but the Ethernet port. */
	assert_int_equal(local_count, 2);
	assert_int_equal(local_ports[0], 0xabc);
	assert_int_equal(local_ports[1], 0xabe);

	status = get_status();
	assert_int_equal(status.state, OUTSIDE_ASKING);
	assert_string_equal(status.why, "");
	assert_string_equal(status.port, "fake0/1");
	assert_int_equal(status.port_guid, 0xabc);
	assert_int_equal(status.lid, 3);
	assert_int_equal(status.sm_lid, 5);
	assert_true(status.master_answers);
	assert_false(status.from_sysfs);
	assert_string_equal(status.version, "fake");
	assert_true(status.pid > 0);
	assert_int_equal(status.starts, 1);
	assert_int_equal(status.queries, 2);
	assert_int_equal(status.answers, 2);
	assert_true(status.polls >= 2);
	assert_true(status.polled_realtime_usec > 0);
	assert_int_equal(log_lines("outside view: asking from fake0/1\n"), 1);
	assert_int_equal(log_lines("outside view"), 1);
}

static void test_asks_all_known(void **state)
{
	(void)state;
	m.conf.probe.poll_usec = 50 * USEC_PER_MSEC;
	put_sm(5, 0x55, IBSM_SM_MASTER);
	put_sm(7, 0x77, IBSM_SM_STANDBY);
	know_sm(7, 0x77);
	start();
	UNTIL(replies_of(7) == 2);
	for (unsigned int i = 0; i < reply_count; i++) {
		assert_int_equal(replies[i].status, 0);
		assert_int_equal(replies[i].guid, replies[i].lid * 0x11);
		assert_int_equal(replies[i].to_master_lid, replies[i].lid == 5);
	}
	/* One that is learned later is asked in the next poll; two at one LID are asked once. */
	know_sm(9, 0x99);
	know_sm(9, 0x9a);
	know_sm(0, 0x9b);
	UNTIL(replies_of(9) == 4);
	assert_int_equal(replies_of(9), fake->asked[9]);
	assert_true(fake->asked[9] <= fake->asked[5]);
	assert_int_equal(fake->asked[0], 0);
	assert_true(get_status().polls >= 4);
	/* Its SM LID is its own, no poll asks twice. */
	assert_true(fake->asked[5] <= get_status().polls);
	assert_true(fake->asked[7] <= get_status().polls);
}

static void test_silent_sm_backs_off(void **state)
{
	unsigned int before, master;

	(void)state;
	put_sm(5, 0x55, IBSM_SM_MASTER);
	know_sm(7, 0x77);
	start();
	UNTIL(fake->asked[5] >= 60);
	/* In polls 1, 2, 3, 5, 9, 17, 33, 49, 65; later ones where the machine is slow. */
	assert_in_range(fake->asked[7], 6, 9);
	for (unsigned int i = 0; i < reply_count; i++) {
		assert_int_equal(replies[i].status, replies[i].lid == 5 ? 0 : ETIMEDOUT);
		assert_false(replies[i].lid == 7 && replies[i].to_master_lid);
	}

	/* Once it answers it is asked as often as the others. */
	put_sm(7, 0x77, IBSM_SM_STANDBY);
	UNTIL(replies[reply_count - 1].lid == 7 && replies[reply_count - 1].status == 0);
	before = fake->asked[7];
	master = fake->asked[5];
	UNTIL(fake->asked[5] >= master + 20);
	assert_true(fake->asked[7] >= before + 15);
}

/* The master's LID is asked at each poll, however long it is silent. */
static void test_silent_master(void **state)
{
	(void)state;
	put_sm(5, 0x55, IBSM_SM_MASTER);
	start();
	UNTIL(replies_of(5) >= 3);
	assert_false(sm_lost());
	fake->at[5].is = NOTHING;
	UNTIL(unanswered() == 1);
	assert_false(sm_lost());
	assert_false(get_status().master_answers);
	UNTIL(unanswered() == 2);
	assert_true(sm_lost());
	UNTIL(fake->asked[5] >= 60);
	assert_true(get_status().polls - fake->asked[5] <= 3);
	assert_int_equal(losses, 0);
}

/* Between polls the port is looked at, for a new SM LID. */
static void test_new_master(void **state)
{
	const uint64_t began = now_monotonic_usec();

	(void)state;
	m.conf.probe.poll_usec = 3600 * USEC_PER_SEC;
	start();
	UNTIL(reply_count == 1);
	assert_int_equal(replies[0].status, ETIMEDOUT);
	put_sm(7, 0x77, IBSM_SM_MASTER);
	UNTIL(fake->locals >= 3);
	assert_true(now_monotonic_usec() - began >= USEC_PER_SEC);
	assert_int_equal(fake->asked[5], 1);
	fake->sm_lid = 7;
	UNTIL(reply_count == 2);
	assert_int_equal(replies[1].guid, 0x77);
	assert_true(replies[1].to_master_lid);
	assert_int_equal(fake->asked[5], 1);
	assert_int_equal(losses, 0);
}

static void test_inactive_port(void **state)
{
	unsigned int locals;

	(void)state;
	put_sm(5, 0x55, IBSM_SM_MASTER);
	know_sm(7, 0x77);
	fake->port_state = 2;
	fake->lid = 0;
	start();
	UNTIL(fake->locals >= 5 && get_status().state == OUTSIDE_INACTIVE);
	assert_string_equal(get_status().why, "port fake0/1 has a link, but no SM has set it up");
	assert_int_equal(log_lines("outside view"), 1);
	assert_int_equal(losses, 0);

	fake->port_state = 4;
	UNTIL(strcmp(get_status().why, "port fake0/1 has no LID") == 0);
	fake->lid = 0xc000;
	locals = fake->locals;
	UNTIL(fake->locals >= locals + 3);
	assert_int_equal(reply_count, 0);
	assert_int_equal(fake->asked[5] + fake->asked[7], 0);
	assert_int_equal(get_status().polls, 0);

	fake->lid = 3;
	UNTIL(reply_count > 0);
	assert_int_equal(get_status().state, OUTSIDE_ASKING);
	assert_int_equal(losses, 0);

	/* Lost once, however often it is looked at. */
	fake->port_state = 1;
	UNTIL(get_status().state == OUTSIDE_INACTIVE);
	assert_string_equal(get_status().why, "port fake0/1 is down");
	assert_int_equal(get_status().lid, 0);
	assert_int_equal(losses, 1);
	locals = fake->locals;
	reply_count = 0;
	UNTIL(fake->locals >= locals + 5);
	assert_int_equal(losses, 1);
	assert_int_equal(reply_count, 0);
	assert_int_equal(log_lines("is down"), 1);
}

static void test_no_device(void **state)
{
	(void)state;
	fake->port_status = IBSM_PROBE_NO_DEVICE;
	know_sm(7, 0x77);
	start();
	UNTIL(get_status().state == OUTSIDE_NO_PORT);
	assert_string_equal(get_status().why, "no MAD device");
	assert_string_equal(get_status().port, "");
	assert_int_equal(log_lines("outside view: no MAD device\n"), 1);
	/* Asked again which port, it says the same, and nobody is told. */
	assert_int_equal(ibsm_probe_parse_port("mlx5_7/2", &m.conf.probe.port), 0);
	outside_reload(outside);
	UNTIL(fake->ports >= 2);
	outside_reload(outside);
	assert_int_equal(log_lines("outside view"), 1);
	assert_int_equal(fake->locals, 0);
	assert_int_equal(losses, 0);

	fake->port_status = IBSM_PROBE_OK;
	assert_int_equal(ibsm_probe_parse_port("auto", &m.conf.probe.port), 0);
	outside_reload(outside);
	UNTIL(reply_count > 0);
	assert_int_equal(get_status().state, OUTSIDE_ASKING);
}

/* The port is gone before ibsm-probe was asked for it. */
static void test_port_goes(void **state)
{
	(void)state;
	put_sm(5, 0x55, IBSM_SM_MASTER);
	start();
	UNTIL(reply_count > 0);
	fake->local_status = IBSM_PROBE_NO_PORT;
	UNTIL(get_status().state == OUTSIDE_NO_PORT);
	assert_string_equal(get_status().why, "no such port");
	assert_int_equal(losses, 1);
	reply_count = 0;
	fake->local_status = IBSM_PROBE_OK;
	UNTIL(reply_count > 0);
	assert_int_equal(get_status().state, OUTSIDE_ASKING);
	assert_int_equal(losses, 1);
}

static void test_probe_dies(void **state)
{
	(void)state;
	put_sm(5, 0x55, IBSM_SM_MASTER);
	start();
	UNTIL(reply_count > 0);
	fake->at[5].is = KILLS;
	UNTIL(get_status().state == OUTSIDE_AWAY && *get_status().why);
	assert_string_equal(get_status().why, "ibsm-probe ended with 3");
	assert_int_equal(get_status().sm_lid, 0);
	assert_int_equal(losses, 1);
	put_sm(5, 0x55, IBSM_SM_MASTER);
	reply_count = 0;
	UNTIL(reply_count > 0);
	assert_int_equal(get_status().state, OUTSIDE_ASKING);
	assert_int_equal(fake->starts, 2);
	assert_int_equal(losses, 1);
	/* Gone, and there again; and another time, which is more than the log has to know. */
	assert_int_equal(log_lines("ibsm-probe ended with 3\noutside view: asking from"), 1);
	assert_int_equal(log_lines("outside view"), 3);
	log_is_full = true;
	fake->at[5].is = KILLS;
	UNTIL(losses == 2);
	put_sm(5, 0x55, IBSM_SM_MASTER);
	reply_count = 0;
	UNTIL(reply_count > 0);
	assert_int_equal(log_lines("outside view"), 3);
}

static void test_no_program(void **state)
{
	(void)state;
	free(m.conf.probe.program);
	m.conf.probe.program = strdup("/nonexistent/ibsm-probe");
	start();
	UNTIL(get_status().state == OUTSIDE_AWAY);
	assert_string_equal(get_status().why,
			    "cannot start /nonexistent/ibsm-probe: No such file or directory");
	/* Tried again, and not told again. */
	for (unsigned int i = 0; i < 2; i++)
		assert_true(sd_event_run(m.event, UINT64_MAX) >= 0);
	assert_int_equal(get_status().starts, 0);
	assert_int_equal(log_lines("outside view"), 1);
	assert_int_equal(losses, 0);
}

static void test_odd_answers(void **state)
{
	(void)state;
	m.conf.probe.poll_usec = 10 * USEC_PER_MSEC;
	put_sm(5, 0x55, 9);
	put_sm(7, 0, IBSM_SM_MASTER);
	fake->at[9].is = REFUSES;
	fake->at[11].is = BUSY;
	for (uint16_t lid = 7; lid <= 11; lid = (uint16_t)(lid + 2))
		know_sm(lid, lid);
	start();
	UNTIL(replies_of(9) >= 2 && fake->asked[11] >= 3);
	for (unsigned int i = 0; i < reply_count; i++) {
		assert_int_equal(replies[i].status, replies[i].lid == 9 ? EOPNOTSUPP : EBADMSG);
		assert_int_equal(replies[i].guid, 0);
	}
	/* What was not sent is no outcome. */
	assert_int_equal(replies_of(11), 0);
	assert_int_equal(get_status().queries, reply_count);
	assert_int_equal(get_status().answers, 0);
	assert_false(get_status().master_answers);
}

/* Its answer takes longer than many polls. */
static void test_one_query_at_a_time(void **state)
{
	uint64_t polls;

	(void)state;
	fake->at[5].is = HELD;
	start();
	UNTIL(fake->asked[5] == 1);
	polls = get_status().polls;
	UNTIL(get_status().polls >= polls + 10);
	assert_int_equal(fake->asked[5], 1);
	assert_int_equal(reply_count, 0);
	put_sm(5, 0x55, IBSM_SM_MASTER);
	UNTIL(reply_count == 1);
	UNTIL(reply_count == 3);
	assert_in_range(fake->asked[5], 3, 4);
	/* Freed with one under way. */
	fake->at[5].is = HELD;
	polls = fake->asked[5];
	UNTIL(fake->asked[5] > polls);
}

static void test_reload(void **state)
{
	unsigned int starts;

	(void)state;
	put_sm(5, 0x55, IBSM_SM_MASTER);
	m.conf.probe.poll_usec = 3600 * USEC_PER_SEC;
	start();
	UNTIL(reply_count == 1);

	/* An hour becomes some milliseconds. */
	m.conf.probe.poll_usec = 5 * USEC_PER_MSEC;
	outside_reload(outside);
	UNTIL(reply_count >= 3);

	/* The same port under its name, with news in sysfs: nothing is lost. */
	put_sm(7, 0x77, IBSM_SM_MASTER);
	fake->sm_lid = 7;
	assert_int_equal(ibsm_probe_parse_port("fake0/1", &m.conf.probe.port), 0);
	outside_reload(outside);
	UNTIL(fake->ports == 2 && replies[reply_count - 1].guid == 0x77);
	assert_int_equal(losses, 0);
	assert_int_equal(fake->starts, 1);

	/* Another port: what was heard through the first no longer counts. */
	assert_int_equal(ibsm_probe_parse_port("other1/1", &m.conf.probe.port), 0);
	outside_reload(outside);
	UNTIL(losses == 1);
	reply_count = 0;
	UNTIL(reply_count > 0);
	assert_string_equal(get_status().port, "other1/1");
	assert_int_equal(fake->starts, 1);
	assert_int_equal(losses, 1);

	/* Nothing has changed: nothing happens. */
	outside_reload(outside);
	assert_int_equal(get_status().state, OUTSIDE_ASKING);

	/* Off, and on again. */
	m.conf.probe.enabled = false;
	outside_reload(outside);
	assert_int_equal(get_status().state, OUTSIDE_OFF);
	assert_string_equal(get_status().port, "");
	assert_int_equal(losses, 2);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	starts = fake->starts;
	outside_reload(outside);
	m.conf.probe.enabled = true;
	outside_reload(outside);
	assert_int_equal(get_status().state, OUTSIDE_STARTING);
	reply_count = 0;
	UNTIL(reply_count > 0);
	assert_int_equal(fake->starts, starts + 1);

	/* Another time-out needs another client. */
	m.conf.probe.timeout_usec = 77 * USEC_PER_MSEC;
	outside_reload(outside);
	assert_int_equal(losses, 3);
	UNTIL(fake->timeout_msec == 77);
}

static void test_off(void **state)
{
	(void)state;
	m.conf.probe.enabled = false;
	start();
	assert_int_equal(get_status().state, OUTSIDE_OFF);
	assert_int_equal(sd_event_run(m.event, 0), 0);
	assert_int_equal(fake->starts, 0);
	assert_int_equal(log_lines("outside view"), 0);
	assert_null(outside_free(NULL));
}

static void test_names(void **state)
{
	(void)state;
	for (enum outside_state i = OUTSIDE_OFF; i <= OUTSIDE_ASKING; i++)
		assert_non_null(outside_state_name(i));
	assert_null(outside_state_name(OUTSIDE_ASKING + 1));
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_asks_the_master),
		TEST(test_asks_all_known),
		TEST(test_silent_sm_backs_off),
		TEST(test_silent_master),
		TEST(test_new_master),
		TEST(test_inactive_port),
		TEST(test_no_device),
		TEST(test_port_goes),
		TEST(test_probe_dies),
		TEST(test_no_program),
		TEST(test_odd_answers),
		TEST(test_one_query_at_a_time),
		TEST(test_reload),
		TEST(test_off),
		cmocka_unit_test(test_names),
	};
	char number[16];
	int fd;

	if (argc > 1 && strcmp(argv[1], "--socket-fd=3") == 0)
		return fake_main(3);
	alarm(240);
	/* The fake inherits it, as another descriptor than the one that it gets its orders from. */
	fd = fcntl(memfd_create("ibsm-fake", 0), F_DUPFD, 10);
	if (fd < 0 || ftruncate(fd, sizeof(*fake)) < 0)
		return 99;
	fake_map(fd);
	snprintf(number, sizeof(number), "%d", fd);
	setenv(FAKE_FD, number, 1);

	return cmocka_run_group_tests(tests, NULL, NULL);
}
