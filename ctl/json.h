// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What a verb reads from the daemon's JSON: members by path, tolerant of what is absent.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

/* A path names a member: "name", or of an object within: "a.name". Results are borrowed. */

/* NULL where it is absent or null. */
json_t *json_at(const json_t *object, const char *path);

/* NULL where it is absent or no string. */
const char *json_string_at(const json_t *object, const char *path);

/* As json_string_at(), but "" for NULL. */
const char *json_text_at(const json_t *object, const char *path);

/* 0 where it is absent, no integer, or negative. */
uint64_t json_count_at(const json_t *object, const char *path);

/* False where it is absent or no boolean. */
bool json_bool_at(const json_t *object, const char *path);

/* The strings and integers of an array with @separator between them; allocated, NULL: no memory. */
char *json_join(const json_t *array, const char *separator);
