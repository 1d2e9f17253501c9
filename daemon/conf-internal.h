// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What the parts of conf*.c share: the table of keys, and how a value is set.
#pragma once

#include <stddef.h>

#include "daemon/conf.h"

enum conf_type {
	CONF_PATH,  /* char *; an empty value is none */
	CONF_BOOL,  /* bool */
	CONF_COUNT, /* an unsigned integer of `bytes` */
	CONF_REAL,  /* double */
	CONF_SPAN,  /* uint64_t, microseconds */
	CONF_PORT,  /* struct ibsm_probe_order: its choice */
	CONF_SMS,   /* detect_sm_config.expected; adds up, an empty value empties it */
};

struct conf_setting {
	struct conf_key key;
	enum conf_type type;
	size_t offset, bytes; /* within struct conf */
	double min, max;      /* COUNT, REAL; SPAN in microseconds */
};

/* NULL behind the last one. */
const struct conf_setting *conf_setting(size_t i);

/* Returns 0, -ENOMEM, or -EINVAL with what @text is or is not in @ret_why; the field is untouched
 * on failure. */
#define CONF_WHY_BYTES 128
int conf_set(struct conf *conf, const struct conf_setting *setting, const char *text,
	     char ret_why[static CONF_WHY_BYTES]);

/* Keys that must fit each other. */
#define CONF_GROUP_KEYS_MAX 4
struct conf_group {
	const char *section;
	const char *names[CONF_GROUP_KEYS_MAX];
	bool (*fits)(const struct conf *conf);
	const char *rule;
};

/* NULL behind the last one. */
const struct conf_group *conf_group(size_t i);
