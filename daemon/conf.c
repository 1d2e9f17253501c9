// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// ibsmd.conf and its drop-ins: read aside, complained about, and handed over as a whole.
#include "daemon/conf.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <ini.h>

#include "ibsm/limits.h"
#include "util/cleanup.h"

#define USEC_PER_SEC UINT64_C(1000000)
#define LINE_BYTES_MAX 1024
#define STRING(x) STRING_(x)
#define STRING_(x) #x

enum value_type { VALUE_PATH, VALUE_COUNT, VALUE_SECONDS };

static const struct key {
	struct conf_key public;
	enum value_type type;
	size_t offset;
	uint64_t min, max; /* counts; spans in seconds */
} keys[] = {
	{{"Daemon", "NodeNameMap", "/etc/opensm/ib-node-name-map"},
	 VALUE_PATH,
	 offsetof(struct conf, node_name_map),
	 0,
	 0},
	{{"Daemon", "EventsMax", STRING(IBSM_EVENTS_MAX)},
	 VALUE_COUNT,
	 offsetof(struct conf, events_max),
	 16,
	 1 << 20},
	{{"Daemon", "SweepsMax", STRING(IBSM_SWEEPS_MAX)},
	 VALUE_COUNT,
	 offsetof(struct conf, sweeps_max),
	 1,
	 1 << 16},
	{{"Daemon", "PluginTimeoutSec", "10s"},
	 VALUE_SECONDS,
	 offsetof(struct conf, plugin_timeout_usec),
	 2,
	 3600},
	{{"Alerts", "DropsClearSec", "10min"},
	 VALUE_SECONDS,
	 offsetof(struct conf, drops_clear_usec),
	 1,
	 7 * 24 * 3600},
};

const struct conf_key *conf_key(unsigned i)
{
	return i < ELEMENTSOF(keys) ? &keys[i].public : NULL;
}

/* A whole number; returns false for anything else. */
static bool parse_count(const char *text, uint64_t *ret)
{
	uint64_t value = 0;

	if (!*text)
		return false;
	for (; *text >= '0' && *text <= '9'; text++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*text - '0'), &value))
			return false;
	if (*text)
		return false;
	*ret = value;
	return true;
}

/* systemd's time spans, as far as whole units go: "90", "1min 30s", "2h"; seconds without unit. */
static bool parse_seconds(const char *text, uint64_t *ret)
{
	static const struct {
		const char *name;
		uint64_t seconds;
	} units[] = {
		{"seconds", 1}, {"second", 1}, {"sec", 1},	{"s", 1},	 {"minutes", 60},
		{"minute", 60}, {"min", 60},   {"m", 60},	{"hours", 3600}, {"hour", 3600},
		{"hr", 3600},	{"h", 3600},   {"days", 86400}, {"day", 86400},	 {"d", 86400},
	};
	uint64_t total = 0;

	text += strspn(text, " \t");
	if (!*text)
		return false;
	while (*text) {
		size_t digits = strspn(text, "0123456789"), letters, i;
		char number[24] = "";
		uint64_t value, factor = 1;

		if (!digits || digits >= sizeof(number))
			return false;
		memcpy(number, text, digits);
		if (!parse_count(number, &value))
			return false;
		text += digits;
		text += strspn(text, " \t");
		letters = strspn(text, "abcdefghijklmnopqrstuvwxyz");
		if (letters) {
			for (i = 0; i < ELEMENTSOF(units); i++)
				if (strlen(units[i].name) == letters &&
				    memcmp(units[i].name, text, letters) == 0)
					break;
			if (i == ELEMENTSOF(units))
				return false;
			factor = units[i].seconds;
			text += letters;
			text += strspn(text, " \t");
		} else if (*text) {
			return false;
		}
		if (__builtin_mul_overflow(value, factor, &value) ||
		    __builtin_add_overflow(total, value, &total))
			return false;
	}
	*ret = total;
	return true;
}

/* Returns 0, -ENOMEM, or -EINVAL with @ret_why. */
static int set_value(struct conf *conf, const struct key *key, const char *text, char ret_why[128])
{
	void *field = (char *)conf + key->offset;
	uint64_t value;

	if (key->type == VALUE_PATH) {
		char *path = NULL;

		if (*text && *text != '/') {
			snprintf(ret_why, 128, "is no absolute path");
			return -EINVAL;
		}
		if (*text && !(path = strdup(text)))
			return -ENOMEM;
		free(*(char **)field);
		*(char **)field = path;
		return 0;
	}

	if (!(key->type == VALUE_COUNT ? parse_count : parse_seconds)(text, &value)) {
		snprintf(ret_why, 128, "is no %s",
			 key->type == VALUE_COUNT ? "whole number" : "time span");
		return -EINVAL;
	}
	if (value < key->min || value > key->max) {
		snprintf(ret_why, 128, "is not within %" PRIu64 " and %" PRIu64 "%s", key->min,
			 key->max, key->type == VALUE_SECONDS ? " seconds" : "");
		return -EINVAL;
	}
	*(uint64_t *)field = key->type == VALUE_SECONDS ? value * USEC_PER_SEC : value;
	return 0;
}

void conf_clear(struct conf *conf)
{
	free(conf->node_name_map);
	*conf = (struct conf){0};
}

int conf_init(struct conf *ret_conf)
{
	struct conf conf = {0};
	char why[128];
	int r;

	for (size_t i = 0; i < ELEMENTSOF(keys); i++) {
		r = set_value(&conf, &keys[i], keys[i].public.value, why);
		if (r < 0) {
			conf_clear(&conf);
			return r;
		}
	}
	*ret_conf = conf;
	return 0;
}

struct reading {
	struct conf *conf;
	const char *path;
	FILE *file;
	unsigned line;
	conf_complain complain;
	void *userdata;
	int error;
};

static void complain(struct reading *reading, const char *what, const char *more)
{
	char text[512];

	snprintf(text, sizeof(text), "%s:%u: %s%s, ignoring", reading->path, reading->line, what,
		 more);
	reading->complain(reading->userdata, text);
}

/* inih's line reader: counts lines, and hands on only those that it can make something of. */
static char *read_line(char *ret_text, int size, void *userdata)
{
	struct reading *reading = userdata;
	char line[LINE_BYTES_MAX], *start;
	size_t length;

	if (!fgets(line, sizeof(line), reading->file))
		return NULL;
	reading->line++;
	ret_text[0] = '\n';
	ret_text[1] = '\0';

	length = strlen(line);
	if (length && line[length - 1] != '\n' && !feof(reading->file)) {
		int c;

		while ((c = getc(reading->file)) != EOF && c != '\n')
			continue;
		length = sizeof(line);
	}
	if (length >= (size_t)size) {
		complain(reading, "line is too long", "");
		return ret_text;
	}

	start = line + strspn(line, " \t\r\n");
	if (*start == '[' ? !strchr(start, ']')
			  : *start && !strchr("#;", *start) && !strchr(start, '=')) {
		complain(reading, "neither [Section] nor Key=value", "");
		return ret_text;
	}
	/* Without leading blanks nothing is the continuation of a line before. */
	memcpy(ret_text, start, strlen(start) + 1);
	if (!*ret_text)
		memcpy(ret_text, "\n", 2);
	return ret_text;
}

static int handle(void *userdata, const char *section, const char *name, const char *value)
{
	struct reading *reading = userdata;
	char why[128], text[384];
	int r;

	for (size_t i = 0; i < ELEMENTSOF(keys); i++) {
		const struct key *key = &keys[i];

		if (strcmp(key->public.section, section) != 0 ||
		    strcmp(key->public.name, name) != 0)
			continue;
		if (!*value)
			value = key->type == VALUE_PATH ? "" : key->public.value;
		r = set_value(reading->conf, key, value, why);
		if (r == -EINVAL) {
			snprintf(text, sizeof(text), "%s=%s %s", name, value, why);
			complain(reading, text, "");
		} else if (r < 0) {
			reading->error = r;
		} else if (key->offset == offsetof(struct conf, node_name_map)) {
			reading->conf->node_name_map_is_set = true;
		}
		return 1;
	}
	snprintf(text, sizeof(text), "unknown key [%s] %s=", section, name);
	complain(reading, text, "");
	return 1;
}

static int read_file(struct conf *conf, const char *path, conf_complain say, void *userdata)
{
	struct reading reading = {
		.conf = conf,
		.path = path,
		.complain = say,
		.userdata = userdata,
	};

	reading.file = fopen(path, "re");
	if (!reading.file)
		return -errno;
	ini_parse_stream(read_line, &reading, handle, &reading);
	if (ferror(reading.file) && !reading.error)
		reading.error = -EIO;
	fclose(reading.file);
	return reading.error;
}

static int is_drop_in(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return entry->d_name[0] != '.' && length > 5 &&
	       strcmp(entry->d_name + length - 5, ".conf") == 0;
}

static int compare_names(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int read_drop_ins(struct conf *conf, const char *path, conf_complain say, void *userdata)
{
	_cleanup_free_ char *directory = NULL;
	struct dirent **entries = NULL;
	char text[512];
	int n, r = 0;

	if (asprintf(&directory, "%s.d", path) < 0)
		return -ENOMEM;
	n = scandir(directory, &entries, is_drop_in, compare_names);
	if (n < 0) {
		if (errno == ENOMEM)
			return -ENOMEM;
		if (errno != ENOENT) {
			snprintf(text, sizeof(text), "%s: %s, ignoring", directory,
				 strerror(errno));
			say(userdata, text);
		}
		return 0;
	}
	for (int i = 0; i < n; i++) {
		_cleanup_free_ char *file = NULL;

		if (r == 0 && asprintf(&file, "%s/%s", directory, entries[i]->d_name) < 0) {
			file = NULL;
			r = -ENOMEM;
		}
		if (r == 0) {
			r = read_file(conf, file, say, userdata);
			if (r < 0 && r != -ENOMEM) {
				snprintf(text, sizeof(text), "%s: %s, ignoring", file,
					 strerror(-r));
				say(userdata, text);
				r = 0;
			}
		}
		free(entries[i]);
	}
	free(entries);
	return r;
}

int conf_read(const char *path, bool required, conf_complain say, void *userdata,
	      struct conf *ret_conf)
{
	struct conf conf;
	int r;

	r = conf_init(&conf);
	if (r < 0)
		return r;
	r = read_file(&conf, path, say, userdata);
	if (r == -ENOENT && !required)
		r = 0;
	if (r == 0)
		r = read_drop_ins(&conf, path, say, userdata);
	if (r < 0) {
		conf_clear(&conf);
		return r;
	}
	*ret_conf = conf;
	return 0;
}
