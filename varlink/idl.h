// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Varlink interface descriptions: parse one, and check calls, replies and errors against it.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

/* The language: https://varlink.org/Interface-Definition. All of this is immutable once parsed. */
struct varlink_interface;
struct varlink_interface_method;

/**
 * Parse a description.
 * @ret_line: on -EBADMSG the line where it went wrong, from 1; may be NULL
 *
 * Besides the grammar these must hold: names are unique within the interface, fields within a
 * struct, values within an enum; every type that is named exists; there is a method.
 *
 * Returns 0, -EBADMSG or -ENOMEM.
 */
int varlink_interface_parse(const char *text, struct varlink_interface **ret, unsigned *ret_line);

/* Accepts NULL; returns NULL. */
struct varlink_interface *varlink_interface_free(struct varlink_interface *interface);

/* Both the interface's own. The text is the one that was parsed. */
const char *varlink_interface_name(const struct varlink_interface *interface);
const char *varlink_interface_text(const struct varlink_interface *interface);

/* A method by its short name; NULL when there is none. */
const struct varlink_interface_method *varlink_interface_method(
	const struct varlink_interface *interface, const char *name);

/* The methods in their order: NULL after the last one. */
const struct varlink_interface_method *varlink_interface_nth_method(
	const struct varlink_interface *interface, size_t n);
const char *varlink_interface_method_name(const struct varlink_interface_method *method);

bool varlink_interface_has_error(const struct varlink_interface *interface, const char *name);

/* The method's reply has a field @name that is an array. */
bool varlink_interface_method_has_list(const struct varlink_interface_method *method,
				       const char *name);

/* Where a value does not fit its description. */
struct varlink_mismatch {
	const char *field; /* the outermost field's name; the interface's or the value's own */
	char path[256];	   /* all of it, cut to fit: "nodes[3].ports[0].lid" */
	const char *why;   /* "missing", "not declared", "not an int"…; a constant */
};

/*
 * Check the parameters of a call, of a reply, and of an error (by its short name). A nullable
 * field may be absent or null; any other declared field must be there; no others may.
 * Return 0; -EINVAL with @ret_mismatch (may be NULL) filled; -ENOENT: no such error.
 */
int varlink_interface_check_call(const struct varlink_interface_method *method,
				 const json_t *parameters, struct varlink_mismatch *ret_mismatch);
int varlink_interface_check_reply(const struct varlink_interface_method *method,
				  const json_t *parameters, struct varlink_mismatch *ret_mismatch);
int varlink_interface_check_error(const struct varlink_interface *interface, const char *name,
				  const json_t *parameters, struct varlink_mismatch *ret_mismatch);
