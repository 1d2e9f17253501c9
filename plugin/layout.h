// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Whether the opensm that loads us has the structures that we were compiled with.
#pragma once

#include "osm.h"

/*
 * Returns NULL when the pointers that opensm keeps between its parts are where our headers say and
 * point where they must, else what does not fit. Reads only inside *osm. Main thread.
 */
const char *layout_mismatch(const osm_opensm_t *osm);
