// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Tests of ibsmd's configuration: files, drop-ins, complaints; the shipped file and manual page.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/conf-internal.h"
#include "ibsm/limits.h"
#include "util/cleanup.h"

#define SEC UINT64_C(1000000)

struct fixture {
	char directory[64];
	char path[128];
	char complaints[4096];
};

static void write_file(const struct fixture *f, const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", f->directory, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static void note(void *userdata, const char *text)
{
	struct fixture *f = userdata;
	size_t length = strlen(f->complaints);

	snprintf(f->complaints + length, sizeof(f->complaints) - length, "%s\n", text);
}

static void assert_told(struct fixture *f, const char *what)
{
	if (!strstr(f->complaints, what))
		fail_msg("\"%s\" is not among:\n%s", what, f->complaints);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	strcpy(f->directory, "/tmp/ibsm-test-conf.XXXXXX");
	assert_non_null(mkdtemp(f->directory));
	snprintf(f->path, sizeof(f->path), "%s/ibsmd.conf", f->directory);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", f->directory);
	assert_int_equal(system(command), 0);
	free(f);
	return 0;
}

static void test_defaults(void **state)
{
	struct fixture *f = *state;
	struct conf conf;

	assert_int_equal(conf_read(f->path, false, note, f, &conf), 0);
	assert_string_equal(f->complaints, "");
	assert_string_equal(conf.node_name_map, "/etc/opensm/ib-node-name-map");
	assert_false(conf.node_name_map_is_set);
	assert_int_equal(conf.events_max, IBSM_EVENTS_MAX);
	assert_int_equal(conf.sweeps_max, IBSM_SWEEPS_MAX);
	assert_int_equal(conf.plugin_timeout_usec, 10 * SEC);
	assert_int_equal(conf.drops_clear_usec, 600 * SEC);
	assert_true(conf.probe.enabled);
	assert_null(conf.probe.program);
	assert_null(conf.probe.socket);
	assert_int_equal(conf.probe.port.choice, IBSM_PROBE_CHOICE_AUTO);
	assert_int_equal(conf.probe.poll_usec, 10 * SEC);
	assert_int_equal(conf.probe.timeout_usec, IBSM_PROBE_TIMEOUT_MSEC * 1000);
	conf_clear(&conf);
	assert_int_equal(conf_read(f->path, true, note, f, &conf), -ENOENT);
}

/* The detectors' own, field by field: structs have holes. */
static void test_detector_defaults(void **state)
{
	const struct sm_placement_config placement = SM_PLACEMENT_CONFIG_DEFAULT;
	const struct sm_config_limits options = SM_CONFIG_LIMITS_DEFAULT;
	struct detect_sweep_config sweep;
	struct detect_sm_config sm;
	struct conf conf;

	(void)state;
	detect_sm_config_init(&sm);
	detect_sweep_config_init(&sweep);
	assert_int_equal(conf_init(&conf), 0);
#define SAME(of, member) assert_true(conf.of.member == of.member)
#define SAME_DAMPER(of, member)                                                                    \
	do {                                                                                       \
		SAME(of, member.half_life_usec);                                                   \
		SAME(of, member.suppress);                                                         \
		SAME(of, member.reuse);                                                            \
		SAME(of, member.hold_usec);                                                        \
	} while (0)
	SAME_DAMPER(sm, flap);
	SAME(sm, change_weight);
	SAME(sm, restart_weight);
	SAME(sm, restart_settle_usec);
	SAME(sm, master_changed_usec);
	SAME(sm, lost_polls);
	SAME(sm, found_polls);
	SAME(sm, unresponsive_polls);
	SAME(sm, responsive_polls);
	SAME(sm, masters_polls);
	SAME(sm, disagree_polls);
	SAME(sm, hung_sweeps);
	SAME(sm, hung_min_usec);
	SAME(sm, no_standby_usec);
	SAME(sm, not_highest_usec);
	SAME(sm, gone_usec);
	SAME(sm, forget_usec);
	SAME(sm, expected_count);
	SAME(sm, max_sms);
	SAME_DAMPER(sm, link);
	SAME(placement, extra_hops);
	SAME(placement, embedded_nodes_max);
	SAME(options, default_nodes_max);
	SAME(options, takeover_max_usec);
	SAME(options, takeover_min_usec);
	SAME(options, silence_max_usec);
	SAME(options, lids_percent_max);
	SAME_DAMPER(sweep, storm);
	SAME(sweep, stuck_factor);
	SAME(sweep, stuck_min_usec);
	SAME(sweep, stuck_unknown_usec);
	SAME(sweep, stuck_clear_usec);
	SAME(sweep, usual_window);
	SAME(sweep, usual_min);
	SAME(sweep, slow_deviations);
	SAME(sweep, slow_factor);
	SAME(sweep, slow_min_usec);
	SAME(sweep, slow_sweeps);
	SAME(sweep, slow_clear_usec);
	SAME_DAMPER(sweep, flood);
	SAME(sweep, unresponsive_usec);
	conf_clear(&conf);
}

/* Each key fills a field of its own, and no byte beside it. */
static void test_fields(void **state)
{
	const struct conf_setting *setting;
	uint8_t *owner = calloc(1, sizeof(struct conf));

	(void)state;
	assert_non_null(owner);
	for (size_t i = 0; (setting = conf_setting(i)); i++) {
		const size_t integer = setting->type == CONF_COUNT ? setting->bytes : 0;

		assert_true(integer == 0 || integer == sizeof(uint32_t) ||
			    (integer == sizeof(uint64_t) && sizeof(size_t) == sizeof(uint64_t)));
		assert_true(integer != sizeof(uint32_t) || setting->max <= UINT32_MAX);
		for (size_t byte = 0; byte < setting->bytes; byte++) {
			assert_int_equal(owner[setting->offset + byte], 0);
			owner[setting->offset + byte] = 1;
		}
	}
	free(owner);
}

static void test_values(void **state)
{
	struct fixture *f = *state;
	struct conf conf;

	write_file(f, "ibsmd.conf",
		   "# comment\n"
		   "  ; another\n"
		   "\n"
		   "[Daemon]\n"
		   "  NodeNameMap = /a/b c  \n"
		   "EventsMax=16 ; the least\n"
		   "SweepsMax=65536\r\n"
		   "PluginTimeoutSec=1min 30s\n"
		   "[Alerts]\n"
		   "DropsClearSec=2h\n"
		   "[Probe]\n"
		   "Enabled=Off\n"
		   "Program=/usr/libexec/probe ; ours\n"
		   "Socket=/run/probe.sock\n"
		   "Port=mlx5_3/2\n"
		   "PollSec=2\n"
		   "QueryTimeoutSec=1s 250ms\n"
		   "[SubnetManager]\n"
		   "MaxSM=64\n"
		   "FlapHalfLifeSec=2s\n"
		   "FlapReuse=0.75\n"
		   "FlapSuppress=1.5\n"
		   "FlapHoldMaxSec=2s\n"
		   "[Sweeps]\n"
		   "SlowMinSec=1msec\n"
		   "UsualWindow=1024");
	assert_int_equal(conf_read(f->path, true, note, f, &conf), 0);
	assert_string_equal(f->complaints, "");
	assert_string_equal(conf.node_name_map, "/a/b c");
	assert_true(conf.node_name_map_is_set);
	assert_int_equal(conf.events_max, 16);
	assert_int_equal(conf.sweeps_max, 65536);
	assert_int_equal(conf.plugin_timeout_usec, 90 * SEC);
	assert_int_equal(conf.drops_clear_usec, 7200 * SEC);
	assert_false(conf.probe.enabled);
	assert_string_equal(conf.probe.program, "/usr/libexec/probe");
	assert_string_equal(conf.probe.socket, "/run/probe.sock");
	assert_int_equal(conf.probe.port.choice, IBSM_PROBE_CHOICE_NAME);
	assert_string_equal(conf.probe.port.ca_name, "mlx5_3");
	assert_int_equal(conf.probe.port.port, 2);
	assert_int_equal(conf.probe.poll_usec, 2 * SEC);
	assert_int_equal(conf.probe.timeout_usec, 1250000);
	assert_int_equal(conf.sm.max_sms, 64);
	assert_int_equal(conf.sm.flap.half_life_usec, 2 * SEC);
	assert_true(conf.sm.flap.reuse == 0.75);
	/* Just as high as the penalty can be: it fits. */
	assert_true(conf.sm.flap.suppress == 1.5);
	assert_int_equal(conf.sweep.slow_min_usec, 1000);
	assert_int_equal(conf.sweep.usual_window, 1024);
	conf_clear(&conf);
}

static void test_expected(void **state)
{
	struct fixture *f = *state;
	char path[256], text[4096];
	struct conf conf;
	size_t length;

	snprintf(path, sizeof(path), "%s.d", f->path);
	assert_int_equal(mkdir(path, 0755), 0);
	/* Lines and files add up; the same GUID is there once. */
	write_file(f, "ibsmd.conf",
		   "[SubnetManager]\nExpectedSM=0x1 0XaBcDef0123456789\nExpectedSM= 0x01\t0x2 \n");
	write_file(f, "ibsmd.conf.d/a.conf", "[SubnetManager]\nExpectedSM=0x3\n");
	assert_int_equal(conf_read(f->path, true, note, f, &conf), 0);
	assert_string_equal(f->complaints, "");
	assert_int_equal(conf.sm.expected_count, 4);
	assert_int_equal(conf.sm.expected[0], 1);
	assert_int_equal(conf.sm.expected[1], 0xabcdef0123456789);
	assert_int_equal(conf.sm.expected[2], 2);
	assert_int_equal(conf.sm.expected[3], 3);
	conf_clear(&conf);

	write_file(f, "ibsmd.conf.d/a.conf", "[SubnetManager]\nExpectedSM=\nExpectedSM=0x3\n");
	assert_int_equal(conf_read(f->path, true, note, f, &conf), 0);
	assert_int_equal(conf.sm.expected_count, 1);
	assert_int_equal(conf.sm.expected[0], 3);
	assert_int_equal(conf.sm.expected[1], 0);
	conf_clear(&conf);
	assert_int_equal(unlink(strcat(strcpy(text, path), "/a.conf")), 0);

	/* As many as there is room for, and one more. */
	length = (size_t)sprintf(text, "[SubnetManager]\n");
	for (unsigned int i = 1; i <= SM_EXPECTED_MAX; i++)
		length += (size_t)sprintf(text + length, "ExpectedSM=0x%x\n", i);
	sprintf(text + length, "ExpectedSM=0x1 0xffff\n");
	write_file(f, "ibsmd.conf", text);
	assert_int_equal(conf_read(f->path, true, note, f, &conf), 0);
	assert_told(f, "ibsmd.conf:66: ExpectedSM=0x1 0xffff makes more than 64 GUIDs, ignoring\n");
	assert_int_equal(conf.sm.expected_count, SM_EXPECTED_MAX);
	conf_clear(&conf);
}

/* One line for each group, with its keys; the others keep what they were given. */
static void test_groups(void **state)
{
	static const struct {
		const char *text;
		const char *told;
	} cases[] = {
		{"[SubnetManager]\nFlapReuse=2500\nFlapHalfLifeSec=1s\n",
		 "[SubnetManager] FlapHalfLifeSec=, FlapSuppress=, FlapReuse=, FlapHoldMaxSec= do "
		 "not fit together (Reuse < Suppress"},
		{"[SubnetManager]\nFlapHoldMaxSec=1s\n", "[SubnetManager] FlapHalfLifeSec=,"},
		{"[SubnetManager]\nForgetSec=1min\n",
		 "[SubnetManager] GoneSec=, ForgetSec= do not"},
		{"[Placement]\nLinkSuppress=700\n", "[Placement] LinkHalfLifeSec=,"},
		{"[OpensmOptions]\nTakeoverMaxSec=2s\n",
		 "[OpensmOptions] TakeoverMaxSec=, TakeoverMinSec= do not"},
		{"[Sweeps]\nStormSuppress=1000\n", "[Sweeps] StormHalfLifeSec=,"},
		{"[Sweeps]\nUsualMin=101\n", "[Sweeps] UsualWindow=, UsualMin= do not"},
		{"[Traps]\nFloodReuse=20.001\n", "[Traps] FloodHalfLifeSec=,"},
	};
	struct fixture *f = *state;
	struct conf conf, defaults;

	assert_int_equal(conf_init(&defaults), 0);
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		char text[512], told[512];

		f->complaints[0] = '\0';
		snprintf(text, sizeof(text), "[Daemon]\nSweepsMax=8\n%s", cases[i].text);
		write_file(f, "ibsmd.conf", text);
		assert_int_equal(conf_read(f->path, true, note, f, &conf), 0);
		snprintf(told, sizeof(told), "%s: %s", f->path, cases[i].told);
		assert_told(f, told);
		assert_told(f, "all of them stay at their defaults\n");
		assert_ptr_equal(strchr(f->complaints, '\n'),
				 f->complaints + strlen(f->complaints) - 1);
		assert_int_equal(conf.sweeps_max, 8);
		conf.sweeps_max = defaults.sweeps_max;
		assert_memory_equal(&conf.sm, &defaults.sm, sizeof(conf.sm));
		assert_memory_equal(&conf.placement, &defaults.placement, sizeof(conf.placement));
		assert_memory_equal(&conf.options, &defaults.options, sizeof(conf.options));
		assert_memory_equal(&conf.sweep, &defaults.sweep, sizeof(conf.sweep));
		conf_clear(&conf);
	}
	conf_clear(&defaults);

	/* Whatever the order in which they come, only the end counts. */
	f->complaints[0] = '\0';
	write_file(f, "ibsmd.conf", "[Traps]\nFloodReuse=30\nFloodSuppress=5\nFloodSuppress=40\n");
	assert_int_equal(conf_read(f->path, true, note, f, &conf), 0);
	assert_string_equal(f->complaints, "");
	assert_true(conf.sweep.flood.reuse == 30 && conf.sweep.flood.suppress == 40);
	conf_clear(&conf);
}

static void test_empty_values(void **state)
{
	struct fixture *f = *state;
	struct conf conf;

	write_file(f, "ibsmd.conf", "[Daemon]\nEventsMax=17\nEventsMax=\nNodeNameMap=\n");
	assert_int_equal(conf_read(f->path, true, note, f, &conf), 0);
	assert_string_equal(f->complaints, "");
	assert_null(conf.node_name_map);
	assert_int_equal(conf.events_max, IBSM_EVENTS_MAX);
	conf_clear(&conf);
}

static void test_bad_values(void **state)
{
	static const char *const bad[][2] = {
		{"Daemon", "EventsMax=15"},
		{"Daemon", "EventsMax=1048577"},
		{"Daemon", "EventsMax=-1"},
		{"Daemon", "EventsMax=99999999999999999999999"},
		{"Daemon", "EventsMax=0x20"},
		{"Daemon", "EventsMax=many"},
		{"Daemon", "NodeNameMap=relative/path"},
		{"Daemon", "PluginTimeoutSec=1"},
		{"Daemon", "PluginTimeoutSec=1999ms"},
		{"Daemon", "PluginTimeoutSec=2h"},
		{"Daemon", "PluginTimeoutSec=10 parsecs"},
		{"Daemon", "PluginTimeoutSec=s"},
		{"Daemon", "PluginTimeoutSec=5 10"},
		{"Daemon", "PluginTimeoutSec=18446744073709551615d"},
		{"Probe", "Enabled=maybe"},
		{"Probe", "Enabled=yesno"},
		{"Probe", "Program=ibsm-probe"},
		{"Probe", "Socket=@abstract"},
		{"Probe", "Port=mlx5_0"},
		{"Probe", "Port=/1"},
		{"Probe", "Port=mlx5_0/255"},
		{"Probe", "Port=0x0"},
		{"Probe", "PollSec=999ms"},
		{"Probe", "QueryTimeoutSec=11s"},
		{"SubnetManager", "MaxSM=0"},
		{"SubnetManager", "LostPolls=4294967298"},
		{"SubnetManager", "FlapSuppress=0"},
		{"SubnetManager", "FlapSuppress=-2500"},
		{"SubnetManager", "FlapSuppress=nan"},
		{"SubnetManager", "FlapSuppress=inf"},
		{"SubnetManager", "FlapSuppress=1e3"},
		{"SubnetManager", "FlapSuppress=0x9c4"},
		{"SubnetManager", "FlapSuppress=.5"},
		{"SubnetManager", "FlapSuppress=2500."},
		{"SubnetManager", "FlapSuppress=2.5.0"},
		{"SubnetManager", "FlapSuppress=1000001"},
		{"SubnetManager", "ExpectedSM=0x2 node1"},
		{"SubnetManager", "ExpectedSM=0x2 0x0"},
		{"SubnetManager", "ExpectedSM=0x2,0x3"},
		{"SubnetManager", "ExpectedSM=0x"},
		{"SubnetManager", "ExpectedSM=12345678"},
		{"SubnetManager", "ExpectedSM=0x10123456789abcdef"},
	};
	struct fixture *f = *state;
	struct conf defaults;

	assert_int_equal(conf_init(&defaults), 0);
	for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
		char text[256], told[256];
		struct conf conf;

		f->complaints[0] = '\0';
		snprintf(text, sizeof(text), "[%s]\n%s\n[Daemon]\nSweepsMax=8\n", bad[i][0],
			 bad[i][1]);
		write_file(f, "ibsmd.conf", text);
		assert_int_equal(conf_read(f->path, true, note, f, &conf), 0);
		snprintf(told, sizeof(told), "%s:2: %s ", f->path, bad[i][1]);
		assert_told(f, told);
		assert_told(f, ", ignoring\n");
		assert_int_equal(conf.events_max, IBSM_EVENTS_MAX);
		assert_int_equal(conf.plugin_timeout_usec, 10 * SEC);
		assert_null(conf.probe.program);
		assert_null(conf.probe.socket);
		assert_memory_equal(&conf.probe.port, &defaults.probe.port,
				    sizeof(conf.probe.port));
		assert_int_equal(conf.probe.poll_usec, 10 * SEC);
		assert_true(conf.probe.enabled);
		assert_memory_equal(&conf.sm, &defaults.sm, sizeof(conf.sm));
		assert_int_equal(conf.sweeps_max, 8);
		conf_clear(&conf);
	}
	conf_clear(&defaults);
}

/* The bounds are told in the units that people use. */
static void test_bounds_text(void **state)
{
	struct fixture *f = *state;
	struct conf conf;

	write_file(f, "ibsmd.conf",
		   "[Daemon]\nPluginTimeoutSec=1d\n[Probe]\nQueryTimeoutSec=1ms\n[SubnetManager]\n"
		   "FlapReuse=0\n");
	assert_int_equal(conf_read(f->path, true, note, f, &conf), 0);
	assert_told(f, "PluginTimeoutSec=1d is not within 2s and 1h, ignoring\n");
	assert_told(f, "QueryTimeoutSec=1ms is not within 10ms and 10s, ignoring\n");
	assert_told(f, "FlapReuse=0 is not within 0.001 and 1000000, ignoring\n");
	conf_clear(&conf);
}

static void test_unknown(void **state)
{
	struct fixture *f = *state;
	char told[256], line[2200], key[2100];
	struct conf conf;

	memset(key, 'x', sizeof(key) - 1);
	key[sizeof(key) - 1] = '\0';
	write_file(f, "ibsmd.conf",
		   "EventsMax=20\n[Daemon]\nDropsClearSec=1s\n[daemon]\nEventsMax=20\n"
		   "nonsense\n[half\n[Daemon]\n");
	assert_int_equal(conf_read(f->path, true, note, f, &conf), 0);
	snprintf(told, sizeof(told), "%s:1: unknown key [] EventsMax=, ignoring\n", f->path);
	assert_told(f, told);
	snprintf(told, sizeof(told), "%s:3: unknown key [Daemon] DropsClearSec=", f->path);
	assert_told(f, told);
	snprintf(told, sizeof(told), "%s:5: unknown key [daemon] EventsMax=", f->path);
	assert_told(f, told);
	snprintf(told, sizeof(told), "%s:6: neither", f->path);
	assert_told(f, told);
	snprintf(told, sizeof(told), "%s:7: neither", f->path);
	assert_told(f, told);
	assert_int_equal(conf.events_max, IBSM_EVENTS_MAX);
	conf_clear(&conf);

	/* What follows a line that is too long is read as usual. */
	f->complaints[0] = '\0';
	snprintf(line, sizeof(line), "[Daemon]\n%s=1\nEventsMax=18\n", key);
	write_file(f, "ibsmd.conf", line);
	assert_int_equal(conf_read(f->path, true, note, f, &conf), 0);
	snprintf(told, sizeof(told), "%s:2: line is too long", f->path);
	assert_told(f, told);
	assert_int_equal(conf.events_max, 18);
	conf_clear(&conf);
}

static void test_drop_ins(void **state)
{
	struct fixture *f = *state;
	char path[256], told[300];
	struct conf conf;

	snprintf(path, sizeof(path), "%s.d", f->path);
	assert_int_equal(mkdir(path, 0755), 0);
	write_file(f, "ibsmd.conf", "[Daemon]\nEventsMax=100\nSweepsMax=100\n");
	write_file(f, "ibsmd.conf.d/20-b.conf", "[Daemon]\nEventsMax=300\n");
	write_file(f, "ibsmd.conf.d/10-a.conf", "[Daemon]\nEventsMax=200\nSweepsMax=200\nX=1\n");
	write_file(f, "ibsmd.conf.d/30-c.conf.old", "[Daemon]\nEventsMax=400\n");
	write_file(f, "ibsmd.conf.d/.40-d.conf", "[Daemon]\nEventsMax=500\n");
	assert_int_equal(conf_read(f->path, true, note, f, &conf), 0);
	assert_int_equal(conf.events_max, 300);
	assert_int_equal(conf.sweeps_max, 200);
	snprintf(told, sizeof(told), "%s.d/10-a.conf:4: unknown key [Daemon] X=", f->path);
	assert_told(f, told);
	conf_clear(&conf);

	/* They count without the file, too. */
	assert_int_equal(unlink(f->path), 0);
	assert_int_equal(conf_read(f->path, false, note, f, &conf), 0);
	assert_int_equal(conf.events_max, 300);
	conf_clear(&conf);
}

/* A directory where a file should be. */
static void test_unreadable(void **state)
{
	struct fixture *f = *state;
	struct conf conf = {.events_max = 1};

	assert_int_equal(mkdir(f->path, 0755), 0);
	assert_true(conf_read(f->path, true, note, f, &conf) < 0);
	assert_int_equal(conf.events_max, 1);
}

static char *slurp(const char *name)
{
	const char *srcdir = getenv("IBSM_SRCDIR");
	char path[512];
	char *text = calloc(1, 1 << 18);
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", srcdir ? srcdir : ".", name);
	file = fopen(path, "r");
	if (!file)
		fail_msg("%s: %s", path, strerror(errno));
	assert_non_null(text);
	assert_true(fread(text, 1, (1 << 18) - 1, file) > 0);
	fclose(file);
	return text;
}

/* The shipped file has each key once, commented out at its default, in its section, and no other;
 * the manual page has each of them at its default. */
static void test_shipped(void **state)
{
	_cleanup_free_ char *shipped = slurp("conf/ibsmd.conf"), *page = slurp("man/ibsmd.conf.5");
	const struct conf_key *key;
	char *line, *save = NULL, section[64] = "";
	unsigned found = 0, keys = 0;

	(void)state;
	while ((key = conf_key(keys))) {
		char text[128];

		keys++;
		snprintf(text, sizeof(text), ".It Va %s=%s%s%s\n", key->name,
			 *key->value ? " Ns " : "", key->value[0] == '/' ? "Pa " : "", key->value);
		if (!strstr(page, text))
			fail_msg("the manual page lacks: %s", text);
		snprintf(text, sizeof(text), ".Ss The section %s\n", key->section);
		assert_non_null(strstr(page, text));
	}
	assert_true(keys >= 5);
	for (line = strtok_r(shipped, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char text[128];

		if (line[0] == '[') {
			assert_int_equal(sscanf(line, "[%63[^]]]", section), 1);
			continue;
		}
		if (line[0] != '#' || line[1] == ' ' || line[1] == '\0')
			continue;
		key = conf_key(found++);
		if (!key)
			fail_msg("unknown: %s", line);
		snprintf(text, sizeof(text), "#%s=%s", key->name, key->value);
		assert_string_equal(line, text);
		assert_string_equal(section, key->section);
	}
	assert_int_equal(found, keys);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_defaults, setup, teardown),
		cmocka_unit_test(test_detector_defaults),
		cmocka_unit_test(test_fields),
		cmocka_unit_test_setup_teardown(test_values, setup, teardown),
		cmocka_unit_test_setup_teardown(test_expected, setup, teardown),
		cmocka_unit_test_setup_teardown(test_groups, setup, teardown),
		cmocka_unit_test_setup_teardown(test_empty_values, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bad_values, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bounds_text, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unknown, setup, teardown),
		cmocka_unit_test_setup_teardown(test_drop_ins, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unreadable, setup, teardown),
		cmocka_unit_test(test_shipped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
