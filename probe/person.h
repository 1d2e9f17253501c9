// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What a person asks on the command line, and how the answer is printed.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "probe/serve.h"

/*
 * Each starts a child that serves as it would serve ibsmd, gives it orders over a socketpair, and
 * prints. So what a person sees came the way that ibsmd's answers come.
 *
 * Returns 0; 1 and a line on stderr that says why there is nothing to print.
 */

/* SMInfo of @lid; 0: of the SM that the local port follows. */
int person_sm_info(const struct serve_options *options, uint16_t lid, bool json);

/* All ports, and which one would be chosen. */
int person_ports(const struct serve_options *options, bool json);
