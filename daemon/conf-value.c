// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Values of ibsmd.conf: reads each type from its text, within the bounds of its key.
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "daemon/clock.h"
#include "daemon/conf-internal.h"
#include "util/cleanup.h"
#include "util/span.h"

#define WHY_BYTES CONF_WHY_BYTES

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

/* "2500", "0.75": digits, and a point with digits on both sides. ibsmd sets no locale. */
static bool parse_real(const char *text, double *ret)
{
	const size_t whole = strspn(text, "0123456789");
	const char *rest = text + whole;

	if (whole == 0)
		return false;
	if (*rest == '.') {
		const size_t digits = strspn(rest + 1, "0123456789");

		if (digits == 0)
			return false;
		rest += 1 + digits;
	}
	if (*rest)
		return false;
	*ret = strtod(text, NULL);
	return true;
}

static bool parse_bool(const char *text, bool *ret)
{
	static const char *const yes[] = {"yes", "true", "on", "1", "y", "t"},
				 *const no[] = {"no", "false", "off", "0", "n", "f"};

	for (size_t i = 0; i < ELEMENTSOF(yes); i++) {
		if (strcasecmp(text, yes[i]) == 0 || strcasecmp(text, no[i]) == 0) {
			*ret = strcasecmp(text, yes[i]) == 0;
			return true;
		}
	}
	return false;
}

static bool parse_guid(const char *text, size_t length, uint64_t *ret)
{
	char number[sizeof("0x0123456789abcdef")] = "";

	if (length < 3 || length >= sizeof(number) || strncasecmp(text, "0x", 2) != 0 ||
	    strspn(text + 2, "0123456789abcdefABCDEF") < length - 2)
		return false;
	memcpy(number, text, length);
	*ret = strtoull(number, NULL, 16);
	return *ret != 0;
}

/* A bound, in the largest unit that it is a whole number of. */
static void print_bound(const struct conf_setting *setting, double bound, char ret[static 32])
{
	const uint64_t usec = (uint64_t)bound;

	if (setting->type == CONF_SPAN) {
		for (const struct span_unit *unit = span_units; unit->name; unit++) {
			if (usec % unit->usec == 0) {
				snprintf(ret, 32, "%" PRIu64 "%s", usec / unit->usec, unit->name);
				return;
			}
		}
	}
	snprintf(ret, 32, "%.12g", bound);
}

static int out_of_bounds(const struct conf_setting *setting, double value,
			 char ret_why[static WHY_BYTES])
{
	char min[32], max[32];

	if (value >= setting->min && value <= setting->max)
		return 0;
	print_bound(setting, setting->min, min);
	print_bound(setting, setting->max, max);
	snprintf(ret_why, WHY_BYTES, "is not within %s and %s", min, max);
	return -EINVAL;
}

static int no_such(const char *what, char ret_why[static WHY_BYTES])
{
	snprintf(ret_why, WHY_BYTES, "is no %s", what);
	return -EINVAL;
}

static int set_path(char **field, const char *text, char ret_why[static WHY_BYTES])
{
	char *path = NULL;

	if (*text && *text != '/')
		return no_such("absolute path", ret_why);
	if (*text && !(path = strdup(text)))
		return -ENOMEM;
	free(*field);
	*field = path;
	return 0;
}

static int set_count(void *field, const struct conf_setting *setting, const char *text,
		     char ret_why[static WHY_BYTES])
{
	uint64_t value;
	uint32_t narrow;
	int r;

	if (!parse_count(text, &value))
		return no_such("whole number", ret_why);
	r = out_of_bounds(setting, (double)value, ret_why);
	if (r < 0)
		return r;
	/* The table's bounds fit its fields. */
	narrow = (uint32_t)value;
	if (setting->bytes == sizeof(narrow))
		memcpy(field, &narrow, sizeof(narrow));
	else
		memcpy(field, &value, sizeof(value));
	return 0;
}

static int set_real(double *field, const struct conf_setting *setting, const char *text,
		    char ret_why[static WHY_BYTES])
{
	double value;
	int r;

	if (!parse_real(text, &value))
		return no_such("number", ret_why);
	r = out_of_bounds(setting, value, ret_why);
	if (r == 0)
		*field = value;
	return r;
}

static int set_span(uint64_t *field, const struct conf_setting *setting, const char *text,
		    char ret_why[static WHY_BYTES])
{
	uint64_t usec;
	int r;

	if (!span_parse(text, &usec))
		return no_such("time span", ret_why);
	r = out_of_bounds(setting, (double)usec, ret_why);
	if (r == 0)
		*field = usec;
	return r;
}

static int add_sms(struct detect_sm_config *sm, const char *text, char ret_why[static WHY_BYTES])
{
	uint64_t guids[SM_EXPECTED_MAX];
	size_t count = sm->expected_count;

	memcpy(guids, sm->expected, sizeof(guids));
	if (!*text)
		count = 0;
	while (*(text += strspn(text, " \t"))) {
		const size_t length = strcspn(text, " \t");
		uint64_t guid;
		size_t i;

		if (!parse_guid(text, length, &guid))
			return no_such("list of GUIDs (0x…, with blanks between)", ret_why);
		text += length;
		for (i = 0; i < count && guids[i] != guid; i++)
			continue;
		if (i < count)
			continue;
		if (count == SM_EXPECTED_MAX) {
			snprintf(ret_why, WHY_BYTES, "makes more than %d GUIDs", SM_EXPECTED_MAX);
			return -EINVAL;
		}
		guids[count++] = guid;
	}
	memset(sm->expected, 0, sizeof(sm->expected));
	memcpy(sm->expected, guids, count * sizeof(guids[0]));
	sm->expected_count = count;
	return 0;
}

int conf_set(struct conf *conf, const struct conf_setting *setting, const char *text,
	     char ret_why[static CONF_WHY_BYTES])
{
	void *field = (char *)conf + setting->offset;

	switch (setting->type) {
	case CONF_PATH:
		return set_path(field, text, ret_why);
	case CONF_BOOL:
		return parse_bool(text, field) ? 0 : no_such("yes or no", ret_why);
	case CONF_COUNT:
		return set_count(field, setting, text, ret_why);
	case CONF_REAL:
		return set_real(field, setting, text, ret_why);
	case CONF_SPAN:
		return set_span(field, setting, text, ret_why);
	case CONF_PORT:
		return ibsm_probe_parse_port(text, field) == 0
			       ? 0
			       : no_such("port (auto, CA/N or a GUID 0x…)", ret_why);
	case CONF_SMS:
		return add_sms(&conf->sm, text, ret_why);
	}
	return -EINVAL;
}
