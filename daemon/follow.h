// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Which plugin the model follows, and whose the subnet is.
#pragma once

/*
 * Of several plugins one is followed: its snapshots become the model, its sweeps the stories. It is
 * the one whose SM is master; of several masters the one whose subnet came up last; while there is
 * none, the one that was followed before, else the one that has been there longest. A master whose
 * fabric was not yet compared with the model's stands behind those whose was.
 *
 * A plugin of another subnet than the followed one's is refused: its prefix is another one, or (the
 * default prefix being the usual one everywhere) its fabric shares no node with the model. One
 * whose SM's port is in the model is of the same subnet, whatever it sees of it: half of a fabric
 * that was cut in two shares no node with the other half. The claim to the subnet ends
 * PluginTimeoutSec= after its last plugin has left.
 */

#include "daemon/plugin.h"

/* Choose anew. */
void follow_choose(struct manager *manager);

/* Whether the subnet of the model is claimed by another plugin than this one, which is here or left
 * a moment ago. */
bool follow_subnet_is_claimed(const struct plugin *plugin);
