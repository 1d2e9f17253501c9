// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// ibsmd.conf and its drop-ins: read aside, complained about, and handed over as a whole.
#include "daemon/conf.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include <ini.h>

#include "daemon/conf-internal.h"
#include "util/cleanup.h"

#define LINE_BYTES_MAX 1024

void conf_clear(struct conf *conf)
{
	free(conf->node_name_map);
	free(conf->probe.program);
	free(conf->probe.socket);
	*conf = (struct conf){0};
}

int conf_init(struct conf *ret_conf)
{
	const struct conf_setting *setting;
	struct conf conf = {0};
	char why[CONF_WHY_BYTES];
	int r;

	for (size_t i = 0; (setting = conf_setting(i)); i++) {
		r = conf_set(&conf, setting, setting->key.value, why);
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

static const struct conf_setting *find_setting(const char *section, const char *name)
{
	const struct conf_setting *setting;

	for (size_t i = 0; (setting = conf_setting(i)); i++)
		if (strcmp(setting->key.section, section) == 0 &&
		    strcmp(setting->key.name, name) == 0)
			break;
	return setting;
}

static int handle(void *userdata, const char *section, const char *name, const char *value)
{
	const struct conf_setting *setting = find_setting(section, name);
	struct reading *reading = userdata;
	char why[CONF_WHY_BYTES], text[384];
	int r;

	if (!setting) {
		snprintf(text, sizeof(text), "unknown key [%s] %s=", section, name);
		complain(reading, text, "");
		return 1;
	}
	if (!*value && setting->type != CONF_PATH)
		value = setting->key.value;
	r = conf_set(reading->conf, setting, value, why);
	if (r == -EINVAL) {
		snprintf(text, sizeof(text), "%s=%s %s", name, value, why);
		complain(reading, text, "");
	} else if (r < 0) {
		reading->error = r;
	} else if (setting->offset == offsetof(struct conf, node_name_map)) {
		reading->conf->node_name_map_is_set = true;
	}
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

/* "[Section] A=, B=": the group's keys, and back to their defaults with them. */
static int reset_group(struct conf *conf, const struct conf_group *group, char *ret_names,
		       size_t size)
{
	char why[CONF_WHY_BYTES];
	int length = snprintf(ret_names, size, "[%s]", group->section);

	for (size_t i = 0; i < CONF_GROUP_KEYS_MAX && group->names[i]; i++) {
		const struct conf_setting *setting = find_setting(group->section, group->names[i]);
		int r = conf_set(conf, setting, setting->key.value, why);

		if (r < 0)
			return r;
		length += snprintf(ret_names + length, size - (size_t)length,
				   "%s %s=", i ? "," : "", group->names[i]);
	}
	return 0;
}

/* Keys that do not fit each other are all of them at their defaults. */
static int check_groups(struct conf *conf, const char *path, conf_complain say, void *userdata)
{
	const struct conf_group *group;
	char names[160], text[512];

	for (size_t i = 0; (group = conf_group(i)); i++) {
		int r;

		if (group->fits(conf))
			continue;
		r = reset_group(conf, group, names, sizeof(names));
		if (r < 0)
			return r;
		snprintf(text, sizeof(text),
			 "%s: %s do not fit together (%s), all of them stay at their defaults",
			 path, names, group->rule);
		say(userdata, text);
	}
	return 0;
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
	if (r == 0)
		r = check_groups(&conf, path, say, userdata);
	if (r < 0) {
		conf_clear(&conf);
		return r;
	}
	*ret_conf = conf;
	return 0;
}
