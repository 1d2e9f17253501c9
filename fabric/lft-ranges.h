// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Which LIDs a switch would forward elsewhere than was computed, as ranges for people.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "fabric.h"

#define LFT_RANGES_BYTES 256

/**
 * lft_ranges - the LIDs in which a switch's acknowledged LFT differs from the computed one
 * @text: gets them as "5-9,64,100-127", always NUL-terminated; ends with ",..." where it was cut
 *        between two ranges. "" when there are none
 * @size: bytes at `text`, at least 16
 *
 * Returns how many LIDs, those that were cut included. Linear in the LFT; pure.
 */
uint32_t lft_ranges(const struct fabric *fabric, const struct ibsm_snap_switch *sw, char *text,
		    size_t size);
