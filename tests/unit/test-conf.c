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

#include "daemon/conf.h"
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
	conf_clear(&conf);
	assert_int_equal(conf_read(f->path, true, note, f, &conf), -ENOENT);
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
		   "DropsClearSec=2h");
	assert_int_equal(conf_read(f->path, true, note, f, &conf), 0);
	assert_string_equal(f->complaints, "");
	assert_string_equal(conf.node_name_map, "/a/b c");
	assert_true(conf.node_name_map_is_set);
	assert_int_equal(conf.events_max, 16);
	assert_int_equal(conf.sweeps_max, 65536);
	assert_int_equal(conf.plugin_timeout_usec, 90 * SEC);
	assert_int_equal(conf.drops_clear_usec, 7200 * SEC);
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
	static const char *const bad[] = {
		"EventsMax=15",
		"EventsMax=1048577",
		"EventsMax=-1",
		"EventsMax=99999999999999999999999",
		"EventsMax=0x20",
		"EventsMax=many",
		"NodeNameMap=relative/path",
		"PluginTimeoutSec=1",
		"PluginTimeoutSec=2h",
		"PluginTimeoutSec=10 parsecs",
		"PluginTimeoutSec=s",
		"PluginTimeoutSec=5 10",
		"PluginTimeoutSec=18446744073709551615d",
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
		char text[256], told[256];
		struct conf conf;

		f->complaints[0] = '\0';
		snprintf(text, sizeof(text), "[Daemon]\nSweepsMax=7\n%s\nSweepsMax=8\n", bad[i]);
		write_file(f, "ibsmd.conf", text);
		assert_int_equal(conf_read(f->path, true, note, f, &conf), 0);
		snprintf(told, sizeof(told), "%s:3: %s ", f->path, bad[i]);
		assert_told(f, told);
		assert_told(f, ", ignoring\n");
		assert_int_equal(conf.events_max, IBSM_EVENTS_MAX);
		assert_int_equal(conf.plugin_timeout_usec, 10 * SEC);
		assert_int_equal(conf.sweeps_max, 8);
		conf_clear(&conf);
	}
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
		snprintf(text, sizeof(text), ".It Va %s= Ns %s%s\n", key->name,
			 key->value[0] == '/' ? "Pa " : "", key->value);
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
		cmocka_unit_test_setup_teardown(test_values, setup, teardown),
		cmocka_unit_test_setup_teardown(test_empty_values, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bad_values, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unknown, setup, teardown),
		cmocka_unit_test_setup_teardown(test_drop_ins, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unreadable, setup, teardown),
		cmocka_unit_test(test_shipped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
