// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Our words in opensm's event_plugin_options.

#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ibsm/limits.h"

#define OPTIONS_WORD_BYTES 160

static void complain_about(options_complain_t complain, void *userdata, const char *word,
			   const char *why)
{
	char text[OPTIONS_COMPLAINT_BYTES];

	snprintf(text, sizeof(text), "event_plugin_options: \"%s\": %s", word, why);
	complain(userdata, text);
}

static const char *parse_socket(const char *value, struct options *options)
{
	if (value[0] != '/')
		return "not an absolute path, the default stays";
	if (strlen(value) >= sizeof(options->socket_path))
		return "longer than a socket's path may be, the default stays";
	snprintf(options->socket_path, sizeof(options->socket_path), "%s", value);
	return NULL;
}

static const char *parse_ring(const char *value, struct options *options)
{
	unsigned long records;
	uint32_t power = IBSM_RING_RECORDS_MIN;
	char *end;

	errno = 0;
	records = strtoul(value, &end, 10);
	if (!isdigit((unsigned char)value[0]) || *end != '\0' || errno != 0 ||
	    records < IBSM_RING_RECORDS_MIN || records > IBSM_RING_RECORDS_MAX)
		return "not a number of records from 64 to 1048576, the default stays";
	while (power < records)
		power *= 2;
	options->ring_records = power;
	return NULL;
}

static const char *parse_snapshots(const char *value, struct options *options)
{
	if (strcmp(value, "yes") == 0)
		options->snapshots = true;
	else if (strcmp(value, "no") == 0)
		options->snapshots = false;
	else
		return "neither yes nor no, the default stays";
	return NULL;
}

static const struct {
	const char *key;
	const char *(*parse)(const char *value, struct options *options);
} keys[] = {
	{"ibsm.socket=", parse_socket},
	{"ibsm.ring=", parse_ring},
	{"ibsm.snapshots=", parse_snapshots},
};

static const char *parse_word(const char *word, struct options *options)
{
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		size_t n = strlen(keys[i].key);

		if (strncmp(word, keys[i].key, n) == 0)
			return keys[i].parse(word + n, options);
	}
	return "no option of ours, ignoring (they are ibsm.socket=, ibsm.ring=, ibsm.snapshots=)";
}

void options_parse(const char *text, options_complain_t complain, void *userdata,
		   struct options *ret_options)
{
	static const char separators[] = " \t\r\n\v\f";
	struct options options = {
		.socket_path = OPTIONS_SOCKET_PATH_DEFAULT,
		.ring_records = IBSM_RING_BULK_RECORDS,
		.snapshots = true,
	};

	for (const char *p = text ? text : ""; *p != '\0';) {
		char word[OPTIONS_WORD_BYTES];
		const char *why;
		size_t n;

		p += strspn(p, separators);
		n = strcspn(p, separators);
		if (n >= 5 && strncmp(p, "ibsm.", 5) == 0) {
			snprintf(word, sizeof(word), "%.*s", (int)n, p);
			why = n < sizeof(word) ? parse_word(word, &options)
					       : "longer than any option of ours, ignoring";
			if (why)
				complain_about(complain, userdata, word, why);
		}
		p += n;
	}
	*ret_options = options;
}
