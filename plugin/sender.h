// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The plugin's one thread: takes records out of the rings and sends them to ibsmd.
#pragma once

#include "plugin.h"

/*
 * Make the sender and start its thread, which lives until sender_free(). Main thread, in create().
 * Returns 0 or negative errno.
 */
int sender_new(struct plugin *plugin, struct sender **ret_sender);

/*
 * Stop and join the thread; what is still in the rings is sent if that takes no more than 200 ms.
 * Main thread, when no callback runs any more. Accepts and returns NULL.
 */
struct sender *sender_free(struct sender *sender);
