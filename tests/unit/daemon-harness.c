// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Harness of ibsmd's tests: the built daemon in a directory of its own, and a plugin played to it.
#include "daemon-harness.h"

#include <errno.h>
#include <fcntl.h>
#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "util/cleanup.h"

#define PATIENCE_NSEC (UINT64_C(60) * 1000000000)
#define INTERFACE "io.ibsm.Monitor."

uint64_t harness_now_nsec(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* A condition that another process brings about: looked at again and again. */
#define await(condition, ...)                                                                      \
	do {                                                                                       \
		uint64_t _end = harness_now_nsec() + PATIENCE_NSEC;                                \
		while (!(condition)) {                                                             \
			if (harness_now_nsec() > _end)                                             \
				fail_msg(__VA_ARGS__);                                             \
			usleep(2000);                                                              \
		}                                                                                  \
	} while (0)

const char *daemon_program(void)
{
	static char path[512];
	const char *builddir = getenv("IBSM_BUILDDIR");

	snprintf(path, sizeof(path), "%s/ibsmd", builddir ? builddir : ".");
	return path;
}

void daemon_open(struct daemon *d)
{
	char path[96];

	*d = (struct daemon){0};
	strcpy(d->directory, "/tmp/ibsm-test-daemon.XXXXXX");
	assert_non_null(mkdtemp(d->directory));
	snprintf(d->socket, sizeof(d->socket), "%s/run/io.ibsm.Monitor", d->directory);
	snprintf(d->log, sizeof(d->log), "%s/log", d->directory);
	daemon_write(d, "ibsmd.conf", "");
	/* What this machine is cabled to is no matter of a test. */
	snprintf(path, sizeof(path), "%s/ibsmd.conf.d", d->directory);
	assert_int_equal(mkdir(path, 0755), 0);
	daemon_write(d, "ibsmd.conf.d/probe.conf", "[Probe]\nEnabled=no\n");
}

void daemon_close(struct daemon *d)
{
	char command[128];

	if (d->pid)
		daemon_stop(d);
	snprintf(command, sizeof(command), "rm -rf '%s'", d->directory);
	assert_int_equal(system(command), 0);
}

void daemon_write(const struct daemon *d, const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", d->directory, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

pid_t daemon_spawn(const struct daemon *d, char *const argv[])
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		int fd = open(d->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);

		if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0 || dup2(fd, STDERR_FILENO) < 0)
			_exit(126);
		execv(argv[0], argv);
		_exit(127);
	}
	return pid;
}

void daemon_start(struct daemon *d)
{
	char config[128], runtime[128], state[128];
	char *argv[] = {(char *)daemon_program(), config, runtime, state, NULL};

	snprintf(config, sizeof(config), "--config=%s/ibsmd.conf", d->directory);
	snprintf(runtime, sizeof(runtime), "--runtime-dir=%s/run", d->directory);
	snprintf(state, sizeof(state), "--state-dir=%s/state", d->directory);
	d->pid = daemon_spawn(d, argv);
	await(varlink_client_connect(d->socket, PATIENCE_NSEC / 1000, &d->client) == 0,
	      "ibsmd does not listen");
	/* It has taken the connection. */
	json_decref(daemon_call(d, "GetStatus", NULL));
}

int daemon_wait(pid_t pid)
{
	int status = 0;

	await(waitpid(pid, &status, WNOHANG) == pid, "ibsmd does not end");
	return status;
}

void daemon_stop(struct daemon *d)
{
	int status;

	d->client = varlink_client_free(d->client);
	assert_int_equal(kill(d->pid, SIGTERM), 0);
	status = daemon_wait(d->pid);
	d->pid = 0;
	if (status) {
		char command[256];

		snprintf(command, sizeof(command), "tail -n 60 '%s' >&2", d->log);
		if (system(command))
			print_message("no log\n");
		fail_msg("ibsmd ended with status 0x%x", status);
	}
}

void daemon_kill(struct daemon *d)
{
	d->client = varlink_client_free(d->client);
	assert_int_equal(kill(d->pid, SIGKILL), 0);
	daemon_wait(d->pid);
	d->pid = 0;
}

/* In lines. */
static unsigned count_in(const char *path, const char *text)
{
	_cleanup_free_ char *line = NULL;
	FILE *file = fopen(path, "r");
	unsigned n = 0;
	size_t size = 0;

	while (file && getline(&line, &size, file) > 0)
		n += strstr(line, text) != NULL;
	if (file)
		fclose(file);
	return n;
}

unsigned daemon_log_count(const struct daemon *d, const char *text)
{
	return count_in(d->log, text);
}

void daemon_await_saved(const struct daemon *d, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/state/health.json", d->directory);
	await(count_in(path, text) > 0, "health.json lacks: %s", text);
}

void daemon_await_log(const struct daemon *d, const char *text)
{
	await(daemon_log_count(d, text) > 0, "the log lacks: %s", text);
}

unsigned daemon_fds(const struct daemon *d)
{
	char path[64];
	unsigned n = 0;
	DIR *directory;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)d->pid);
	directory = opendir(path);
	assert_non_null(directory);
	while (readdir(directory))
		n++;
	closedir(directory);
	return n;
}

static json_t *parse(const char *text)
{
	json_error_t error;
	json_t *json = json_loads(text, JSON_DECODE_ANY, &error);

	if (!json)
		fail_msg("%s: %s", text, error.text);
	return json;
}

json_t *daemon_call(struct daemon *d, const char *method, const char *parameters)
{
	_cleanup_free_ char *error = NULL;
	char name[128];
	json_t *reply = NULL;
	int r;

	snprintf(name, sizeof(name), INTERFACE "%s", method);
	r = varlink_client_call(d->client, name, parameters ? parse(parameters) : NULL, &reply,
				&error);
	if (r != 0)
		fail_msg("%s %s: %d %s", method, parameters ?: "", r, error ?: "");
	return reply;
}

json_t *daemon_call_error(struct daemon *d, const char *method, const char *parameters,
			  const char *error)
{
	_cleanup_free_ char *got = NULL;
	char name[128], want[128];
	json_t *reply = NULL;
	int r;

	snprintf(name, sizeof(name), INTERFACE "%s", method);
	snprintf(want, sizeof(want), "%s%s", strchr(error, '.') ? "" : INTERFACE, error);
	r = varlink_client_call(d->client, name, parameters ? parse(parameters) : NULL, &reply,
				&got);
	if (r != 1)
		fail_msg("%s %s: %d, not %s", method, parameters ?: "", r, error);
	assert_string_equal(got, want);
	return reply;
}

struct gathering {
	json_t *list;
	const char *field;
};

static int gather(json_t *parameters, bool continues, void *userdata)
{
	struct gathering *gathering = userdata;
	const json_t *part = json_object_get(parameters, gathering->field);
	_cleanup_free_ char *text = json_dumps(parameters, JSON_COMPACT);

	(void)continues;
	assert_true(json_is_array(part));
	assert_true(strlen(text) < 1 << 20);
	assert_int_equal(json_array_extend(gathering->list, (json_t *)part), 0);
	return 0;
}

json_t *daemon_list(struct daemon *d, const char *method, const char *parameters, const char *field)
{
	struct gathering gathering = {json_array(), field};
	_cleanup_free_ char *error = NULL;
	char name[128];
	int r;

	snprintf(name, sizeof(name), INTERFACE "%s", method);
	r = varlink_client_call_more(d->client, name, parameters ? parse(parameters) : NULL, gather,
				     &gathering, NULL, &error);
	if (r != 0)
		fail_msg("%s %s: %d %s", method, parameters ?: "", r, error ?: "");
	return gathering.list;
}

static const json_t *look(const json_t *json, const char *path)
{
	char part[64];

	while (json && *path) {
		size_t length = strcspn(path, ".");

		snprintf(part, sizeof(part), "%.*s", (int)length, path);
		json = json_is_array(json) ? json_array_get(json, strtoul(part, NULL, 10))
					   : json_object_get(json, part);
		path += length + (path[length] == '.');
	}
	return json;
}

const json_t *json_at(const json_t *json, const char *path)
{
	const json_t *value = look(json, path);

	if (!value) {
		_cleanup_free_ char *text = json_dumps(json, JSON_INDENT(1));

		fail_msg("no %s in %s", path, text);
	}
	return value;
}

json_int_t json_int_at(const json_t *json, const char *path)
{
	assert_true(json_is_integer(json_at(json, path)));
	return json_integer_value(json_at(json, path));
}

const char *json_text_at(const json_t *json, const char *path)
{
	assert_true(json_is_string(json_at(json, path)));
	return json_string_value(json_at(json, path));
}

bool json_bool_at(const json_t *json, const char *path)
{
	assert_true(json_is_boolean(json_at(json, path)));
	return json_is_true(json_at(json, path));
}

static bool status_has(struct daemon *d, const char *path, const json_t *value, char **ret_text)
{
	json_auto_t *status = daemon_call(d, "GetStatus", NULL);
	const json_t *found = look(status, path);

	free(*ret_text);
	*ret_text = json_dumps(status, JSON_INDENT(1));
	return found && json_equal(found, value);
}

void daemon_await(struct daemon *d, const char *path, const char *value)
{
	json_auto_t *wanted = parse(value);
	_cleanup_free_ char *text = NULL;

	await(status_has(d, path, wanted, &text), "%s did not become %s in %s", path, value,
	      strlen(text) > 1500 ? text + strlen(text) - 1500 : text);
}

static json_t *find_event(struct daemon *d, const char *kind, json_int_t after)
{
	json_auto_t *parameters = json_pack("{s:I, s:s}", "after", after, "kind", kind);
	_cleanup_free_ char *text = json_dumps(parameters, 0);
	json_auto_t *reply = daemon_call(d, "ListEvents", text);

	return json_incref(json_array_get(json_object_get(reply, "events"), 0));
}

json_t *daemon_await_event(struct daemon *d, const char *kind, json_int_t after)
{
	json_t *event;

	await((event = find_event(d, kind, after)), "no event %s came", kind);
	return event;
}

json_int_t daemon_last_event(struct daemon *d)
{
	json_auto_t *reply = daemon_call(d, "ListEvents", "{\"count\": 1}");
	const json_t *event = json_array_get(json_object_get(reply, "events"), 0);

	return event ? json_int_at(event, "number") : 0;
}

/* The plugin. */

void player_init(struct player *p, uint64_t instance, uint64_t sm_guid)
{
	*p = (struct player){
		.fd = -1,
		.instance = instance,
		.sm_guid = sm_guid,
		.subnet_prefix = UINT64_C(0xfe80000000000000),
		.sm_state = IBSM_SM_MASTER,
	};
}

void player_open(struct player *p, const struct daemon *d)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/run/plugin.sock", d->directory);
	p->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	assert_true(p->fd >= 0);
	assert_int_equal(connect(p->fd, (struct sockaddr *)&address, sizeof(address)), 0);
}

void player_close(struct player *p)
{
	assert_int_equal(close(p->fd), 0);
	p->fd = -1;
}

ssize_t player_raw(struct player *p, const void *bytes, size_t length, const int *fds, size_t n_fds)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int) * 8)];
	} control = {0};
	struct iovec iov = {.iov_base = (void *)bytes, .iov_len = length};
	struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1};

	if (n_fds) {
		struct cmsghdr *c;

		message.msg_control = &control;
		message.msg_controllen = CMSG_SPACE(sizeof(int) * n_fds);
		c = CMSG_FIRSTHDR(&message);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int) * n_fds);
		memcpy(CMSG_DATA(c), fds, sizeof(int) * n_fds);
	}
	return sendmsg(p->fd, &message, MSG_NOSIGNAL);
}

void player_send(struct player *p, uint16_t type, void *record, int fd)
{
	struct ibsm_wire_header *header = record;
	struct timespec ts;
	ssize_t n;

	clock_gettime(CLOCK_REALTIME, &ts);
	header->magic = IBSM_WIRE_MAGIC;
	header->version = IBSM_WIRE_VERSION;
	header->type = type;
	header->length = ibsm_wire_length(type);
	header->sequence = ++p->sequence;
	header->monotonic_nsec = harness_now_nsec();
	header->realtime_nsec = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
	n = player_raw(p, record, header->length, &fd, fd >= 0);
	if (n != (ssize_t)header->length)
		fail_msg("sending record %u: %s", type, strerror(errno));
}

void player_hello(struct player *p)
{
	struct ibsm_wire_hello hello = {
		.instance = p->instance,
		.first_sequence = p->sequence + 2,
		.sm_port_guid = p->sm_guid,
		.subnet_prefix = p->subnet_prefix,
		.generation = p->generation,
		.pid = (uint32_t)getpid(),
		.connection = ++p->connections,
		.ring_records_control = 4096,
		.ring_records_bulk = 65536,
		.sm_state = p->sm_state,
		.plugin_version = "test",
		.opensm_version = "OpenSM test",
		.host_name = "testhost",
	};

	player_send(p, IBSM_WIRE_HELLO, &hello, -1);
}

void player_connect(struct player *p, const struct daemon *d)
{
	player_open(p, d);
	player_hello(p);
}

void player_sweep(struct player *p, uint16_t type, uint32_t flags)
{
	struct ibsm_wire_sweep sweep = {
		.sm_port_guid = p->sm_guid,
		.sweep_flags = flags,
		.routing_kind = type == IBSM_WIRE_UCAST_ROUTING_DONE,
		.sm_state = p->sm_state,
		.engine_known = 1,
		.routing_engine = "minhop",
	};

	player_send(p, type, &sweep, -1);
}

void player_heartbeat(struct player *p, uint64_t dropped)
{
	struct ibsm_wire_heartbeat heartbeat = {
		.control = {.raised = 10 + dropped, .sent = 10, .dropped_full = dropped},
		.sm_port_guid = p->sm_guid,
		.sm_state = p->sm_state,
	};

	player_send(p, IBSM_WIRE_HEARTBEAT, &heartbeat, -1);
}

void player_sm_state(struct player *p, uint8_t state)
{
	struct ibsm_wire_sm_state record = {
		.sm_port_guid = p->sm_guid,
		.old_state = p->sm_state,
		.new_state = state,
	};

	p->sm_state = state;
	player_send(p, IBSM_WIRE_SM_STATE, &record, -1);
}

void player_trap(struct player *p, uint16_t number, uint16_t lid)
{
	struct ibsm_wire_trap trap = {
		.fields = IBSM_TRAP_LID1,
		.number = number,
		.issuer_lid = lid,
		.lid1 = lid,
		.is_generic = 1,
		.producer = 2,
		.sm_state = p->sm_state,
	};

	player_send(p, IBSM_WIRE_TRAP, &trap, -1);
}

void player_lft_change(struct player *p, uint64_t node_guid, uint32_t block)
{
	struct ibsm_wire_lft_change change = {
		.node_guid = node_guid,
		.change = IBSM_LFT_CHANGED_BLOCK,
		.block = block,
		.sm_state = p->sm_state,
	};

	player_send(p, IBSM_WIRE_LFT_CHANGE, &change, -1);
}

void player_await_closed(struct player *p)
{
	struct pollfd pollfd = {.fd = p->fd, .events = POLLRDHUP};

	await(poll(&pollfd, 1, 100) == 1 && pollfd.revents & (POLLHUP | POLLRDHUP),
	      "ibsmd did not close the connection");
}

int fixture_setup(void **state)
{
	struct daemon *d = calloc(1, sizeof(*d));

	daemon_open(d);
	daemon_start(d);
	*state = d;
	return 0;
}

int fixture_teardown(void **state)
{
	daemon_close(*state);
	free(*state);
	return 0;
}

struct builder *fixture_tree(void)
{
	return build_tree2(4, 2, 3, 1);
}

uint64_t fixture_host_guid(const struct builder *b, int host)
{
	return b->nodes[host].ports[0].row.port_guid;
}

void player_snapshot(struct player *p, struct builder *b, uint32_t omit)
{
	struct ibsm_wire_snapshot record = {
		.reason = IBSM_SNAPSHOT_SUBNET_UP,
		.full = !omit,
	};
	_cleanup_bytes_ struct build_bytes bytes = {0};
	_cleanup_close_ int fd = -1;

	b->header.instance = p->instance;
	b->header.generation = record.generation = ++p->generation;
	b->header.monotonic_nsec = harness_now_nsec();
	bytes = build_write(b, omit);
	record.size_bytes = bytes.size;
	fd = build_memfd(bytes, BUILD_SEALS);
	player_send(p, IBSM_WIRE_SNAPSHOT, &record, fd);
}

void player_whole_sweep(struct player *p, struct builder *b)
{
	player_sweep(p, IBSM_WIRE_HEAVY_SWEEP_START, IBSM_SWEEP_FORCE_HEAVY);
	player_sweep(p, IBSM_WIRE_HEAVY_SWEEP_DONE, 0);
	player_sweep(p, IBSM_WIRE_UCAST_ROUTING_DONE, 0);
	player_sweep(p, IBSM_WIRE_SUBNET_UP, 0);
	player_snapshot(p, b, 0);
}
