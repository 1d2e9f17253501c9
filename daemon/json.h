// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// JSON of what several methods tell: GUIDs, counters, ends of cables, events.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon/events.h"
#include "fabric/fabric.h"

/* All return a new reference, or NULL without memory, as json_pack() takes it. */

/* "0x%016x": jansson rejects unsigned 64-bit values with the high bit set. */
json_t *json_guid(uint64_t guid);

/* A counter that may need all of 64 bits, in decimal. */
json_t *json_counter(uint64_t value);

/* A count, a time or a number that stays below 2^63. */
json_t *json_number(uint64_t value);

/* A string that is printable already; if it was cut within a character, that becomes \xNN. */
json_t *json_text(const char *text);

/* A foreign string, made printable. */
json_t *json_foreign(const char *text);

/* Add a field: consumes @value. Returns false without memory, or for NULL. */
bool json_put(json_t *object, const char *key, json_t *value);

/* End: one port of the model. */
json_t *json_port_end(const struct fabric *fabric, uint32_t port);

/* End: as an event or a change keeps it. */
json_t *json_end(const struct fabric_end *end);

json_t *json_event(const struct event *event);
