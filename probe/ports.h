// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Which ports this host has, and which of them is the one to use.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <ibsm/probe.h>

/*
 * Read all ports that may have a MAD device from sysfs, through libibumad, by CA name and port
 * number. Prints nothing, whatever there is not. Allocates; sends nothing.
 *
 * Returns 0, *@ret_count rows in @ret_ports (IBSM_PROBE_PORTS_MAX at most) and in *@ret_total how
 * many there are; -ENODEV if this host has no MAD device: no RDMA device, or ib_umad not loaded.
 */
int ports_read(struct ibsm_probe_port ret_ports[IBSM_PROBE_PORTS_MAX], uint32_t *ret_count,
	       uint32_t *ret_total);

/* What sysfs says of one port, now. Returns 0 or -ENODEV. Allocates. */
int ports_read_one(const char *ca_name, uint8_t port, struct ibsm_probe_port *ret_port);

/*
 * Choose among @count @ports as the checked PORT order @choice wants. Without a wish, a port that
 * is as good as any other and is the @current one (NULL: none) stays chosen. Pure.
 *
 * Returns IBSM_PROBE_OK with the row and how it was found, or IBSM_PROBE_NO_PORT or
 * IBSM_PROBE_NOT_INFINIBAND.
 */
enum ibsm_probe_status ports_choose(const struct ibsm_probe_port *ports, uint32_t count,
				    const struct ibsm_probe_order *choice,
				    const struct ibsm_probe_port *current, uint32_t *ret_row,
				    enum ibsm_probe_found *ret_found);
