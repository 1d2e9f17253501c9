// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What the files of the API share: methods by subject, look-up of nodes, errors.
#pragma once

#include "daemon/json.h"
#include "daemon/manager.h"
#include "varlink/server.h"

#define API_ERROR(name) "io.ibsm.Monitor." name

struct api {
	struct manager *manager;
	struct varlink_server *server;
	struct follower *followers; /* see api-events.c */
};

/* Handlers; @userdata is the api. */
int api_get_status(struct varlink_call *call, json_t *parameters, void *userdata);
int api_list_nodes(struct varlink_call *call, json_t *parameters, void *userdata);
int api_get_node(struct varlink_call *call, json_t *parameters, void *userdata);
int api_list_links(struct varlink_call *call, json_t *parameters, void *userdata);
int api_list_sweeps(struct varlink_call *call, json_t *parameters, void *userdata);
int api_get_sweep(struct varlink_call *call, json_t *parameters, void *userdata);
int api_list_events(struct varlink_call *call, json_t *parameters, void *userdata);
int api_get_route(struct varlink_call *call, json_t *parameters, void *userdata);
int api_list_subnet_managers(struct varlink_call *call, json_t *parameters, void *userdata);
int api_get_mastership(struct varlink_call *call, json_t *parameters, void *userdata);
int api_get_placement(struct varlink_call *call, json_t *parameters, void *userdata);
int api_list_option_checks(struct varlink_call *call, json_t *parameters, void *userdata);
int api_get_sweep_statistics(struct varlink_call *call, json_t *parameters, void *userdata);
int api_list_alerts(struct varlink_call *call, json_t *parameters, void *userdata);
int api_list_alert_kinds(struct varlink_call *call, json_t *parameters, void *userdata);
int api_silence(struct varlink_call *call, json_t *parameters, void *userdata);
int api_unsilence(struct varlink_call *call, json_t *parameters, void *userdata);
int api_list_silences(struct varlink_call *call, json_t *parameters, void *userdata);
int api_acknowledge(struct varlink_call *call, json_t *parameters, void *userdata);
int api_list_groups(struct varlink_call *call, json_t *parameters, void *userdata);
int api_list_group_members(struct varlink_call *call, json_t *parameters, void *userdata);
int api_list_partitions(struct varlink_call *call, json_t *parameters, void *userdata);
int api_list_options(struct varlink_call *call, json_t *parameters, void *userdata);

void api_events_followers_wake(struct api *api);

/* An OutsideView; NULL without memory. */
json_t *api_outside_json(const struct manager *manager);

/* A string parameter; NULL where it is absent or null. */
static inline const char *api_string(const json_t *parameters, const char *key)
{
	return json_string_value(json_object_get(parameters, key));
}

/**
 * A number of things, or a number that something has.
 * @ret: untouched where the parameter is absent or null
 * Returns false where it is negative.
 */
bool api_number(const json_t *parameters, const char *key, uint64_t *ret);

/* Answer with NoFabric. */
int api_no_fabric(struct varlink_call *call, const struct manager *manager);

/* What a parameter that names a node led to. */
struct api_node {
	uint32_t node;
	uint32_t port; /* where a port's GUID or a LID was given; else IBSM_NONE */
	uint16_t lid;  /* where a LID was given; else 0 */
};

/* As io.ibsm.Monitor has it: a GUID, a LID, or a name. Answers by an error and returns a value
 * other than 1 to hand on, or returns 1. */
int api_find_node(struct varlink_call *call, const struct fabric *fabric, const char *text,
		  struct api_node *ret);

/* "0x" and 16 digits. */
bool api_parse_guid(const char *text, uint64_t *ret);

/* Decimal, or "0x" and up to 4 digits. */
bool api_parse_lid(const char *text, uint16_t *ret);

/* Answer with a list. The userdata's `free` is called in any case. */
int api_reply_list(struct varlink_call *call, const char *name, varlink_list_next next,
		   void (*release)(void *userdata), void *userdata, json_t *extra);

/* A list that walks the model: an index over something, and a reference. */
struct api_walk {
	struct fabric *fabric;
	uint32_t index;
	uint32_t end;
};

/* NULL without memory. Freed by api_walk_free(). */
struct api_walk *api_walk_new(struct fabric *fabric, uint32_t index, uint32_t end);
void api_walk_free(void *userdata);
