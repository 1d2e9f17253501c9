// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Which ports this host has: sysfs, read through libibumad.
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>

#include <infiniband/umad.h>

#include "probe/ports.h"
#include "util/cleanup.h"

_Static_assert(sizeof(((struct ibsm_probe_port *)NULL)->ca_name) > UMAD_CA_NAME_LEN,
	       "a CA's name does not fit");

/* libibumad complains on stderr where the file that names its ABI is missing: look first. */
static bool have_umad(void)
{
	_cleanup_close_ int fd =
		open(SYS_INFINIBAND_MAD "/" IB_UMAD_ABI_FILE, O_RDONLY | O_CLOEXEC);

	return fd >= 0;
}

static uint8_t link_layer(const char *text)
{
	/* libibumad says "IB" where sysfs says nothing. */
	if (strcmp(text, "InfiniBand") == 0 || strcmp(text, "IB") == 0)
		return IBSM_PROBE_LINK_INFINIBAND;
	if (strcmp(text, "Ethernet") == 0)
		return IBSM_PROBE_LINK_ETHERNET;
	return IBSM_PROBE_LINK_UNKNOWN;
}

static void from_umad(const umad_port_t *port, struct ibsm_probe_port *ret_port)
{
	*ret_port = (struct ibsm_probe_port){
		.port_guid = be64toh(port->port_guid),
		.gid_prefix = be64toh(port->gid_prefix),
		.capability_mask = be32toh(port->capmask),
		.rate_gbps = port->rate,
		.lid = (uint16_t)port->base_lid,
		.sm_lid = (uint16_t)port->sm_lid,
		.port = (uint8_t)port->portnum,
		.state = (uint8_t)port->state,
		.physical_state = (uint8_t)port->phys_state,
		.link_layer = link_layer(port->link_layer),
		.lmc = (uint8_t)port->lmc,
		.sm_sl = (uint8_t)port->sm_sl,
	};
	memcpy(ret_port->ca_name, port->ca_name, strnlen(port->ca_name, UMAD_CA_NAME_LEN));
}

int ports_read(struct ibsm_probe_port ret_ports[IBSM_PROBE_PORTS_MAX], uint32_t *ret_count,
	       uint32_t *ret_total)
{
	char names[UMAD_MAX_DEVICES][UMAD_CA_NAME_LEN] = {};
	uint32_t count = 0, total = 0, devices = 0;
	int n;

	if (!have_umad())
		return -ENODEV;
	n = umad_get_cas_names(names, UMAD_MAX_DEVICES);

	for (int i = 0; i < n; i++) {
		umad_ca_t ca = {};

		/* A device that is just coming or going, or none at all ("mthca0" stands for it).
		 */
		if (umad_get_ca(names[i], &ca) < 0)
			continue;
		devices++;
		for (int j = 0; j <= ca.numports && j < UMAD_CA_MAX_PORTS; j++) {
			if (!ca.ports[j])
				continue;
			total++;
			if (count == IBSM_PROBE_PORTS_MAX)
				continue;
			from_umad(ca.ports[j], &ret_ports[count]);
			ret_ports[count].node_guid = be64toh(ca.node_guid);
			ret_ports[count].node_type = (uint8_t)ca.node_type;
			count++;
		}
		umad_release_ca(&ca);
	}
	if (devices == 0)
		return -ENODEV;

	*ret_count = count;
	*ret_total = total;
	return 0;
}

int ports_read_one(const char *ca_name, uint8_t port, struct ibsm_probe_port *ret_port)
{
	umad_port_t umad_port = {};

	if (umad_get_port(ca_name, port, &umad_port) < 0)
		return -ENODEV;
	from_umad(&umad_port, ret_port);
	umad_release_port(&umad_port);
	return 0;
}
