// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Trap notices as a node sends them, from plain fields.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "plugin/osm.h"

/* Host order; a trap takes what it has. */
struct notice {
	bool generic;
	uint32_t vendor;
	uint16_t number;
	uint8_t type;
	uint8_t producer;
	uint16_t issuer_lid;
	uint16_t toggle_count;
	uint16_t lid1, lid2, sw_lid;
	uint8_t port;
	uint8_t gid1[16], gid2[16];
	uint64_t guid;
	uint32_t key, qp1, qp2;
	uint8_t sl, method;
	uint16_t attribute;
	uint32_t modifier;
	uint32_t capability;
	uint16_t capability2, change;
};

/*
 * Lay out `notice` as IBTA 14.2.5.1 says for its number. Whatever has no field is filled with 0xa5,
 * as opensm leaves it uninitialised, and the M_Key of trap 256 is FAKE_SECRET_KEY.
 */
void notice_fill(const struct notice *notice, ib_mad_notice_attr_t *ret_notice);
