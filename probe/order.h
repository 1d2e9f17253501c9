// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Orders as they come from the socket: hostile until checked here.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <ibsm/probe.h>

/*
 * Check a datagram of @length bytes as an order. Pure.
 *
 * Returns 0 and the order, or the enum ibsm_probe_field (positive) of the first field that is
 * wrong. *@ret_order then holds what was there to read, the rest 0, so that the reply can name the
 * order; nothing else may be done with it.
 */
int order_check(const void *bytes, size_t length, struct ibsm_probe_order *ret_order);

/* Whether a checked order of @type sends a MAD. */
bool order_is_query(uint16_t type);

/* Fill in the head of the reply to @order, whose length then is the header's; the rest is 0. */
void order_reply_init(const struct ibsm_probe_order *order, union ibsm_probe_any_reply *ret_reply);
