// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// opensm's subnet options by their names in opensm.conf, keys left out.
#pragma once

#include "osm.h"

enum snapshot_option_form {
	OPTION_UINT8,
	OPTION_UINT16,
	OPTION_UINT32,
	OPTION_INT32,
	OPTION_BOOLEAN,
	OPTION_NET16,
	OPTION_NET32,
	OPTION_GUID,	  /* 64 bits in network order */
	OPTION_TEXT,	  /* char * */
	OPTION_KEY,	  /* 64 bits: only whether it is the default leaves opensm */
	OPTION_SECRET,	  /* char *: only whether it is set leaves opensm */
	OPTION_MASK,	  /* 32 bytes: text, hexadecimal */
	OPTION_CCT_ENTRY, /* text, SHIFT:MULTIPLIER as in opensm.conf */
};

struct snapshot_option {
	const char *name;
	size_t offset; /* in osm_subn_opt_t */
	enum snapshot_option_form form;
	uint64_t standard; /* OPTION_KEY: opensm's default, network order */
};

/* Ascending by name. */
extern const struct snapshot_option option_table[];
extern const size_t option_table_count;
