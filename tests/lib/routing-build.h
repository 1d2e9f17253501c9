// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Full three-level trees with the tables that D-Mod-K makes, of any size, and quickly.
#pragma once

#include "tests/lib/snapshot-build.h"

/* As build_tree3(), handles included, but its tables are those of opensm's ftree: hosts behind each
 * other spread over all cores. `scatter`: LIDs in random order (a seed); 0: switches first, then
 * hosts. */
struct builder *routing_build_tree3(int k, uint64_t scatter);
