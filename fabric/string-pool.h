// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Many small strings that live and die together.
#pragma once

struct fabric_strings;

/* NULL when there is no memory. */
struct fabric_strings *fabric_strings_new(void);

/* Accepts NULL, returns NULL. */
struct fabric_strings *fabric_strings_free(struct fabric_strings *strings);

/* A copy of `text` that lives as long as `strings`; NULL for NULL and when there is no memory. */
const char *fabric_strings_add(struct fabric_strings *strings, const char *text);
