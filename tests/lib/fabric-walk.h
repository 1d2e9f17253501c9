// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Calls every accessor on a whole fabric, so that a sanitizer sees what any of them touches.
#pragma once

#include "fabric/fabric.h"

/* Returns a sum of what was read, so that nothing is optimised away. Ends the test where the model
 * contradicts itself. */
uint64_t fabric_walk(const struct fabric *fabric);
