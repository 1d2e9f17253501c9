// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Words and numbers for InfiniBand's codes: states, widths, speeds, rates, traps, GUIDs.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "ibsm/snapshot.h"
#include "ibsm/wire.h"

/* All functions here are pure and may be called from any thread; strings returned are static. */

#define GUID_STRING_BYTES 19 /* "0x%016x" and NUL */

/* Writes `guid` as "0x%016x" into `buffer` and returns `buffer`. */
const char *guid_format(uint64_t guid, char buffer[static GUID_STRING_BYTES]);

/* The same into a buffer that lives as long as the enclosing block. */
#define GUID_STRING(guid) guid_format((guid), (char[GUID_STRING_BYTES]){0})

/* A GID as "fe80:0000:0000:0000:0002:c903:0004:e939": eight groups of four digits, as
 * infiniband-diags and opensm's log have it. */
#define GID_STRING_BYTES 40
const char *gid_format(uint64_t prefix, uint64_t guid, char buffer[static GID_STRING_BYTES]);

/* "ca", "switch", "router"; "unknown" for other codes. */
const char *node_type_name(uint8_t type);

/* PortInfo.PortState: "down", "init", "armed", "active"; "unknown" for others (0 included). */
const char *port_state_name(uint8_t state);

/* PortInfo.PortPhysicalState: "sleep", "polling", "disabled", "training", "link-up",
 * "error-recovery", "phy-test"; "unknown" for others. */
const char *port_physical_state_name(uint8_t state);

/* enum ibsm_sm_state: "not-active", "discovering", "standby", "master"; "unknown" for others. */
const char *sm_state_name(uint8_t state);

/* One active width (1, 2, 4, 8, 16): "1x", "4x", "8x", "12x", "2x"; NULL when it is none of them
 * (not known). IBTA 14.2.5.6. */
const char *width_name(uint8_t width);

/* Lanes of one active width: 1, 4, 8, 12, 2; 0 when it is none of them. */
unsigned int width_lanes(uint8_t width);

/* Names of all widths in a mask (enabled, supported), narrowest first: fills `ret_names` and
 * returns how many. */
#define WIDTHS_MAX 5
size_t width_names(uint8_t mask, const char *ret_names[static WIDTHS_MAX]);

/* Link speeds in rising order of lane rate; a single scale over PortInfo's three fields. */
enum speed {
	SPEED_UNKNOWN = 0,
	SPEED_SDR,
	SPEED_DDR,
	SPEED_QDR,
	SPEED_FDR10,
	SPEED_FDR,
	SPEED_EDR,
	SPEED_HDR,
	SPEED_NDR,
	SPEED_XDR,
	SPEED_MAX, /* one past the last */
};

/* "SDR" … "XDR"; NULL for SPEED_UNKNOWN and out of range. */
const char *speed_name(enum speed speed);

/* The speed that a port runs at: the extended code where it is set (the port says so itself in
 * CapabilityMask, or a code is there), else FDR10, else the base code. IBTA 14.2.5.6,
 * LinkSpeedExtActive. SPEED_UNKNOWN when none says anything. */
enum speed port_speed(const struct ibsm_snap_port *port);

/* Speeds that a port has enabled or supports: bit 1 << SPEED_x. */
uint32_t port_speeds_enabled(const struct ibsm_snap_port *port);
uint32_t port_speeds_supported(const struct ibsm_snap_port *port);

/* Names of the speeds in such a mask, slowest first: fills `ret_names` and returns how many. */
size_t speed_names(uint32_t mask, const char *ret_names[static SPEED_MAX]);

/* Data rate of one lane in Mb/s, line coding (8b/10b, 64b/66b, FEC) already taken off: SDR 2000,
 * DDR 4000, QDR 8000, FDR10 10000, FDR 13636, EDR 25000, HDR 50000, NDR 100000, XDR 200000; 0 for
 * SPEED_UNKNOWN. */
uint32_t speed_lane_mbps(enum speed speed);

/* Data rate of a port as it runs, in Mb/s; 0 when width or speed is not known. 4xFDR: 54545. */
uint32_t port_rate_mbps(const struct ibsm_snap_port *port);

/* IBTA's rate code (path records, groups, min_ca_rate; table 224), nominal, in Mb/s: 3 is 10000,
 * 16 is 100000; 0 for codes that are none. */
uint32_t rate_code_mbps(uint8_t code);

/* IBTA's MTU code in bytes: 1 256 … 5 4096; 0 for codes that are none. */
uint32_t mtu_bytes(uint8_t code);

/* Data VLs of a VL code: 1 1, 2 2, 3 4, 4 8, 5 15; 0 for codes that are none. */
unsigned int vl_count(uint8_t code);

/* A generic trap's meaning in a few words: 128 "link state changed"; "unknown trap" for others.
 * IBTA table 142 (13.4.8.2), 14.2.5.1. */
const char *trap_name(uint16_t number);

/* enum ibsm_wire_type as "heavy-sweep-start", "trap" …; "unknown" for others. */
const char *wire_type_name(uint16_t type);

/* enum ibsm_table as "NODES", "PORTS" …; "unknown" for others. */
const char *snapshot_table_name(uint32_t id);
