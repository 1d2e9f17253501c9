// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Which of this host's ports is the one to use.
#include <stdbool.h>
#include <string.h>

#include "probe/ports.h"

#define PORT_STATE_ACTIVE 4
#define PORT_PHYSICAL_LINK_UP 5

static bool same(const struct ibsm_probe_port *a, const struct ibsm_probe_port *b)
{
	return a->port == b->port && a->port_guid == b->port_guid &&
	       strcmp(a->ca_name, b->ca_name) == 0;
}

static enum ibsm_probe_status choose_asked(const struct ibsm_probe_port *ports, uint32_t count,
					   const struct ibsm_probe_order *choice, uint32_t *ret_row,
					   enum ibsm_probe_found *ret_found)
{
	const bool by_name = choice->choice == IBSM_PROBE_CHOICE_NAME;

	for (uint32_t i = 0; i < count; i++) {
		if (by_name ? strcmp(ports[i].ca_name, choice->ca_name) != 0 ||
				      ports[i].port != choice->port
			    : ports[i].port_guid != choice->port_guid)
			continue;
		if (ports[i].link_layer != IBSM_PROBE_LINK_INFINIBAND)
			return IBSM_PROBE_NOT_INFINIBAND;
		*ret_row = i;
		*ret_found = by_name ? IBSM_PROBE_FOUND_NAME : IBSM_PROBE_FOUND_GUID;
		return IBSM_PROBE_OK;
	}
	return IBSM_PROBE_NO_PORT;
}

/* Lower is better. */
static enum ibsm_probe_found rank(const struct ibsm_probe_port *port)
{
	if (port->state == PORT_STATE_ACTIVE)
		return IBSM_PROBE_FOUND_ACTIVE;
	if (port->physical_state == PORT_PHYSICAL_LINK_UP)
		return IBSM_PROBE_FOUND_LINK;
	return IBSM_PROBE_FOUND_FIRST;
}

enum ibsm_probe_status ports_choose(const struct ibsm_probe_port *ports, uint32_t count,
				    const struct ibsm_probe_order *choice,
				    const struct ibsm_probe_port *current, uint32_t *ret_row,
				    enum ibsm_probe_found *ret_found)
{
	enum ibsm_probe_found best = IBSM_PROBE_FOUND_FIRST;
	uint32_t row = count;

	if (choice->choice != IBSM_PROBE_CHOICE_AUTO)
		return choose_asked(ports, count, choice, ret_row, ret_found);

	for (uint32_t i = 0; i < count; i++) {
		if (ports[i].link_layer != IBSM_PROBE_LINK_INFINIBAND)
			continue;
		if (row == count || rank(&ports[i]) < best ||
		    (current && rank(&ports[i]) == best && same(&ports[i], current))) {
			best = rank(&ports[i]);
			row = i;
		}
	}
	if (row == count)
		return IBSM_PROBE_NO_PORT;

	*ret_row = row;
	*ret_found = best;
	return IBSM_PROBE_OK;
}
