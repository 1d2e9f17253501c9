// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// struct manager: one event loop and everything that hangs on it.
#include "daemon/manager.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "daemon/adopt.h"
#include "daemon/api.h"
#include "daemon/clock.h"
#include "daemon/listen.h"
#include "daemon/outside.h"
#include "daemon/sweeps.h"
#include "util/cleanup.h"

#define TICK_USEC USEC_PER_SEC

/* Events. */

void manager_event(struct manager *m, struct event *event)
{
	if (!event) {
		log_error("no memory for an event, ignoring");
		return;
	}
	events_append(&m->events, event, &m->limits);
	m->state.next_event = m->events.next;
	if (m->event_source)
		sd_event_source_set_enabled(m->event_source, SD_EVENT_ONESHOT);
}

void manager_event_text(struct manager *m, enum event_kind kind, enum fabric_severity severity,
			const char *format, ...)
{
	char text[FABRIC_CHANGE_TEXT_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	manager_event(m, event_new(&(struct event){
				 .kind = kind,
				 .severity = severity,
				 .realtime_usec = now_realtime_usec(),
				 .monotonic_usec = now_monotonic_usec(),
				 .message = text,
			 }));
}

/* At the end of a turn, so that many events wake followers once. */
static int on_events(sd_event_source *source, void *userdata)
{
	struct manager *m = userdata;

	(void)source;
	api_events(m->api);
	return 0;
}

/* State. */

static void save_state(struct manager *m, bool clean)
{
	int r;

	if (!m->options.state_dir)
		return;
	r = state_save(m->options.state_dir, &m->state, clean, now_monotonic_usec());
	if (r < 0) {
		if (!m->state_failed)
			log_warning("%s: cannot save the state: %s, ignoring", m->options.state_dir,
				    strerror(-r));
		/* Not again with each turn of the loop. */
		m->state.saved_usec = now_monotonic_usec();
		m->state.saved_event = m->state.next_event;
		m->state.saved_sweep = m->state.last_sweep;
	}
	m->state_failed = r < 0;
}

static int load_state(struct manager *m)
{
	const char *directory = m->options.state_dir;
	char why[256];
	int r;

	if (mkdir(directory, 0755) < 0 && errno != EEXIST) {
		r = -errno;
		log_error("%s: cannot make the state directory: %s", directory, strerror(-r));
		return r;
	}
	if (access(directory, W_OK | X_OK) < 0) {
		r = -errno;
		log_error("%s: cannot write to the state directory: %s", directory, strerror(-r));
		return r;
	}
	r = state_load(directory, &m->state, why);
	if (r == -EBADMSG) {
		log_warning("%s; moved aside, starting afresh", why);
	} else if (r < 0) {
		log_error("%s/state.json: %s", directory, strerror(-r));
		return r;
	}
	m->state.saved_usec = now_monotonic_usec();
	return 0;
}

/* Configuration. */

static void complain(void *userdata, const char *text)
{
	(void)userdata;
	log_warning("%s", text);
}

static int read_conf(struct manager *m, struct conf *ret)
{
	int r;

	r = conf_read(m->options.config_path, m->options.config_required, complain, NULL, ret);
	if (r < 0)
		log_error("%s: %s", m->options.config_path, strerror(-r));
	return r;
}

static void apply_limits(struct manager *m)
{
	const uint64_t values[LIMITS] = {
		[LIMIT_PLUGINS] = IBSM_PLUGINS_MAX,
		[LIMIT_SNAPSHOTS_PENDING] = SNAPSHOTS_PENDING_MAX,
		[LIMIT_SNAPSHOT_BYTES] = IBSM_SNAPSHOT_BYTES_MAX,
		[LIMIT_INSTANCES] = INSTANCES_MAX,
		[LIMIT_EVENTS] = m->conf.events_max,
		[LIMIT_SWEEPS] = m->conf.sweeps_max,
		[LIMIT_SWEEP_EVENTS] = IBSM_SWEEP_EVENTS_MAX,
		[LIMIT_NODE_NAME_MAP_ENTRIES] = IBSM_NODE_NAME_MAP_ENTRIES_MAX,
		[LIMIT_CLIENTS] = IBSM_CLIENTS_MAX,
		[LIMIT_CLIENT_QUEUE_BYTES] = IBSM_CLIENT_QUEUE_BYTES_MAX,
		[LIMIT_CALL_BYTES] = IBSM_CALL_BYTES_MAX,
		[LIMIT_SILENCES] = SILENCES_MAX,
		[LIMIT_ALERTS] = ALERTS_OPEN_MAX,
		[LIMIT_SUBNET_MANAGERS] = SM_TABLE_MAX,
		[LIMIT_TRAP_SENDERS] = TRAP_SENDERS_MAX,
		[LIMIT_UNRESPONSIVE_NODES] = NODE_SUSPECTS_MAX,
	};

	for (unsigned i = 0; i < LIMITS; i++)
		m->limits.limits[i].value = values[i];
}

static void reload(struct manager *m)
{
	struct names *names;
	struct conf conf;

	log_info("reloading");
	if (read_conf(m, &conf) < 0) {
		log_warning("the configuration stays as it was");
		return;
	}
	if (events_resize(&m->events, conf.events_max) < 0 ||
	    sweeps_resize(&m->sweeps, conf.sweeps_max) < 0) {
		log_error("no memory for the new configuration; it stays as it was");
		conf_clear(&conf);
		return;
	}
	conf_clear(&m->conf);
	m->conf = conf;
	apply_limits(m);
	health_reload(m);
	outside_reload(m->outside);
	/* A file that cannot be read leaves the names that are known. */
	if (names_load(m->conf.node_name_map, m->conf.node_name_map_is_set, &m->limits, &names) ==
	    0) {
		names_unref(m->names);
		m->names = names;
		if (m->fabric && adopt_names(m) < 0)
			log_error("no memory for the new names");
	}
}

/* Signals, time, systemd. */

static int on_end(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata)
{
	(void)userdata;
	log_info("%s, ending", strsignal((int)info->ssi_signo));
	sd_notify(0, "STOPPING=1");
	return sd_event_exit(sd_event_source_get_event(source), 0);
}

static int on_reload(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata)
{
	struct manager *m = userdata;

	(void)source;
	(void)info;
	sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, now_monotonic_usec());
	reload(m);
	sd_notify(0, "READY=1");
	return 0;
}

static void tell_status(struct manager *m)
{
	char status[sizeof(m->status)], text[PLUGIN_TEXT_BYTES];
	const struct plugin *p = m->ingest.followed;

	if (m->fabric) {
		const struct fabric_counts *counts = fabric_counts(m->fabric);

		snprintf(status, sizeof(status),
			 "%" PRIu32 " switches, %" PRIu32 " CAs, %" PRIu32 " links; %s",
			 counts->switches, counts->cas, counts->links,
			 p ? plugin_text(p, text) : "no plugin connected");
	} else {
		snprintf(status, sizeof(status), "No fabric yet; %s",
			 p ? plugin_text(p, text) : "no plugin connected");
	}
	if (strcmp(status, m->status) == 0)
		return;
	memcpy(m->status, status, sizeof(status));
	sd_notifyf(0, "STATUS=%s", status);
}

static int on_tick(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct manager *m = userdata;
	uint64_t now = now_monotonic_usec();

	(void)usec;
	ingest_tick(m, now);
	sweeps_tick(m);
	health_tick(m);
	if (state_is_due(&m->state, now))
		save_state(m, false);
	tell_status(m);
	sd_event_source_set_time(source, now + TICK_USEC);
	return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

static int add_sources(struct manager *m)
{
	static const struct {
		int signal;
		sd_event_signal_handler_t handler;
		const char *description;
	} signals[] = {
		{SIGTERM, on_end, "SIGTERM"},
		{SIGINT, on_end, "SIGINT"},
		{SIGHUP, on_reload, "SIGHUP"},
	};
	sigset_t blocked;
	int r;

	/* A client, or whoever reads our stderr, may go away. */
	signal(SIGPIPE, SIG_IGN);
	/* Before any thread is there, so that they all have them blocked. */
	sigemptyset(&blocked);
	for (size_t i = 0; i < ELEMENTSOF(signals); i++)
		sigaddset(&blocked, signals[i].signal);
	r = -pthread_sigmask(SIG_BLOCK, &blocked, NULL);
	if (r < 0)
		return r;
	for (size_t i = 0; i < ELEMENTSOF(signals); i++) {
		sd_event_source *source = NULL;

		r = sd_event_add_signal(m->event, &source, signals[i].signal, signals[i].handler,
					m);
		if (r < 0)
			return r;
		sd_event_source_set_description(source, signals[i].description);
		sd_event_source_set_floating(source, 1);
		sd_event_source_unref(source);
	}
	r = sd_event_add_time(m->event, &m->tick_source, CLOCK_MONOTONIC,
			      now_monotonic_usec() + TICK_USEC, 10 * USEC_PER_MSEC, on_tick, m);
	if (r < 0)
		return r;
	sd_event_source_set_description(m->tick_source, "tick");
	r = sd_event_add_defer(m->event, &m->event_source, on_events, m);
	if (r < 0)
		return r;
	sd_event_source_set_description(m->event_source, "events");
	sd_event_source_set_enabled(m->event_source, SD_EVENT_OFF);
	r = sd_event_set_watchdog(m->event, true);
	return r < 0 ? r : 0;
}

/* The whole. */

static int listen_all(struct manager *m)
{
	_cleanup_free_ char *plugin_path = NULL, *varlink_path = NULL;
	struct listen_passed passed;
	bool plugin_passed;
	int r;

	if (asprintf(&plugin_path, "%s/" LISTEN_PLUGIN_NAME, m->options.runtime_dir) < 0) {
		plugin_path = NULL;
		return -ENOMEM;
	}
	if (asprintf(&varlink_path, "%s/" LISTEN_VARLINK_NAME, m->options.runtime_dir) < 0) {
		varlink_path = NULL;
		return -ENOMEM;
	}
	r = listen_passed_fds(&passed);
	if (r < 0)
		return r;
	plugin_passed = passed.plugin >= 0;
	if (!plugin_passed)
		passed.plugin = listen_seqpacket(plugin_path);
	if (passed.plugin < 0) {
		closep(&passed.varlink);
		return passed.plugin;
	}
	r = api_new(m, passed.varlink, varlink_path, &m->api);
	if (r < 0) {
		close(passed.plugin);
		return r;
	}
	return ingest_start(m, passed.plugin, plugin_passed ? NULL : plugin_path);
}

int manager_new(const struct manager_options *options, struct manager **ret)
{
	struct manager *m = calloc(1, sizeof(*m));
	int r;

	if (!m)
		return -ENOMEM;
	m->lock_fd = -1;
	m->ingest.fd = -1;
	m->start_realtime_usec = now_realtime_usec();
	m->start_monotonic_usec = now_monotonic_usec();
	m->options = *options;
	m->options.state_dir = NULL; /* not ours before the lock is */

	r = read_conf(m, &m->conf);
	if (r < 0)
		goto fail;
	apply_limits(m);
	r = sd_event_default(&m->event);
	if (r < 0)
		goto fail;
	r = add_sources(m);
	if (r < 0)
		goto fail;
	r = m->lock_fd = listen_lock(options->runtime_dir);
	if (r < 0)
		goto fail;
	m->options.state_dir = options->state_dir;
	r = load_state(m);
	if (r < 0) {
		m->options.state_dir = NULL;
		goto fail;
	}
	r = events_init(&m->events, m->conf.events_max, m->state.next_event);
	if (r < 0)
		goto fail;
	r = sweeps_init(&m->sweeps, m->conf.sweeps_max);
	if (r < 0)
		goto fail;
	r = worker_new(m->event, &m->worker);
	if (r < 0)
		goto fail;
	r = health_start(m);
	if (r < 0)
		goto fail;
	/* What is wrong with it was said; without it, nodes have their descriptions. */
	names_load(m->conf.node_name_map, m->conf.node_name_map_is_set, &m->limits, &m->names);
	r = listen_all(m);
	if (r < 0)
		goto fail;
	r = outside_new(m, &m->outside);
	if (r < 0)
		goto fail;
	/* From here on the end may be unclean. */
	save_state(m, false);
	if (m->state.unclean_first)
		manager_event_text(m, EVENT_UNCLEAN_END, FABRIC_SEVERITY_WARNING,
				   "ibsmd did not end cleanly the last time: events %" PRIu64
				   " to %" PRIu64 " of then may be missing",
				   m->state.unclean_first, m->events.next - 1);
	*ret = m;
	return 0;
fail:
	log_error("cannot start: %s", strerror(-r));
	manager_free(m);
	return r;
}

int manager_run(struct manager *m)
{
	log_info("version " PACKAGE_VERSION ", listening in %s", m->options.runtime_dir);
	tell_status(m);
	sd_notify(0, "READY=1");
	return sd_event_loop(m->event);
}

struct manager *manager_free(struct manager *m)
{
	if (!m)
		return NULL;
	m->event_source = sd_event_source_disable_unref(m->event_source);
	m->outside = outside_free(m->outside);
	ingest_stop(m);
	m->worker = worker_free(m->worker);
	m->api = api_free(m->api);
	health_stop(m);
	save_state(m, true);
	sweeps_clear(&m->sweeps);
	events_clear(&m->events);
	fabric_unref(m->fabric);
	names_unref(m->names);
	sd_event_source_disable_unref(m->tick_source);
	sd_event_unref(m->event);
	conf_clear(&m->conf);
	closep(&m->lock_fd);
	free(m);
	return NULL;
}
