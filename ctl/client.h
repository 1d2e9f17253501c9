// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Calls to ibsmd; each failure is explained on standard error, in one line.
#pragma once

#include "ctl/ctl.h"
#include "ctl/table.h"

/*
 * @method is without its interface: "GetStatus". @parameters are consumed; NULL is -ENOMEM.
 * Functions return 0 or negative errno; the reason has been told then, except for errors of the
 * output and of callbacks.
 */

/* Call and wait for the one reply. @ret: a new reference. */
int client_call(struct ctl *ctl, const char *method, json_t *parameters, json_t **ret);

/* Returns 0, or negative errno to stop with. @value is borrowed. */
typedef int (*client_callback)(void *userdata, const json_t *value);

/* Call with `more` and hand on each item of the array @member, as the replies come. */
int client_stream(struct ctl *ctl, const char *method, json_t *parameters, const char *member,
		  client_callback item, void *userdata);

/* Call with `more` and hand on each reply. */
int client_more(struct ctl *ctl, const char *method, json_t *parameters, client_callback reply,
		void *userdata);

/* The same without a time-out; -EPIPE (not told) when nobody reads the output any more. */
int client_follow(struct ctl *ctl, const char *method, json_t *parameters, client_callback reply,
		  void *userdata);

/* A list verb: what it calls, and how the array in the replies is shown. */
struct client_list {
	const char *method;
	const char *member; /* the array in the replies */
	const char *name;   /* the array in our JSON; NULL: as member */
	const char *noun;   /* of table_new() */
	const struct table_column *columns;
	size_t n_columns;
	bool (*wanted)(const json_t *item, const void *userdata); /* NULL: all are */
};

/* Call, and print the table. @userdata: for wanted(). Returns an exit code. */
int client_print_list(struct ctl *ctl, const struct client_list *list, json_t *parameters,
		      const void *userdata);

/* Close the connection, so that the next call makes a new one. */
void client_close(struct ctl *ctl);
