// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Tables of InfiniBand's codes and their words.
#include "names.h"

#include <inttypes.h>
#include <stdio.h>

#include "util/cleanup.h"

const char *guid_format(uint64_t guid, char buffer[static GUID_STRING_BYTES])
{
	snprintf(buffer, GUID_STRING_BYTES, "0x%016" PRIx64, guid);
	return buffer;
}

const char *gid_format(uint64_t prefix, uint64_t guid, char buffer[static GID_STRING_BYTES])
{
	const uint64_t halves[] = {prefix, guid};

	for (unsigned int i = 0; i < 8; i++)
		snprintf(buffer + 5 * i, GID_STRING_BYTES - 5 * i, i < 7 ? "%04x:" : "%04x",
			 (unsigned int)(halves[i / 4] >> (48 - 16 * (i % 4)) & 0xffff));
	return buffer;
}

static const char *word(const char *const *words, size_t count, size_t code)
{
	return code < count && words[code] ? words[code] : "unknown";
}

const char *node_type_name(uint8_t type)
{
	static const char *const words[] = {
		[IBSM_NODE_CA] = "ca",
		[IBSM_NODE_SWITCH] = "switch",
		[IBSM_NODE_ROUTER] = "router",
	};

	return word(words, ELEMENTSOF(words), type);
}

const char *port_state_name(uint8_t state)
{
	static const char *const words[] = {NULL, "down", "init", "armed", "active"};

	return word(words, ELEMENTSOF(words), state);
}

const char *port_physical_state_name(uint8_t state)
{
	static const char *const words[] = {NULL,	"sleep",   "polling",	     "disabled",
					    "training", "link-up", "error-recovery", "phy-test"};

	return word(words, ELEMENTSOF(words), state);
}

const char *sm_state_name(uint8_t state)
{
	static const char *const words[] = {
		[IBSM_SM_NOT_ACTIVE] = "not-active",
		[IBSM_SM_DISCOVERING] = "discovering",
		[IBSM_SM_STANDBY] = "standby",
		[IBSM_SM_MASTER] = "master",
	};

	return word(words, ELEMENTSOF(words), state);
}

/* Narrowest first. */
static const struct {
	uint8_t code;
	uint8_t lanes;
	const char *name;
} widths[WIDTHS_MAX] = {{1, 1, "1x"}, {16, 2, "2x"}, {2, 4, "4x"}, {4, 8, "8x"}, {8, 12, "12x"}};

const char *width_name(uint8_t width)
{
	for (size_t i = 0; i < ELEMENTSOF(widths); i++)
		if (widths[i].code == width)
			return widths[i].name;
	return NULL;
}

unsigned int width_lanes(uint8_t width)
{
	for (size_t i = 0; i < ELEMENTSOF(widths); i++)
		if (widths[i].code == width)
			return widths[i].lanes;
	return 0;
}

size_t width_names(uint8_t mask, const char *ret_names[static WIDTHS_MAX])
{
	size_t count = 0;

	for (size_t i = 0; i < ELEMENTSOF(widths); i++)
		if (mask & widths[i].code)
			ret_names[count++] = widths[i].name;
	return count;
}

static const struct {
	const char *name;
	uint32_t lane_mbps;
} speeds[SPEED_MAX] = {
	[SPEED_SDR] = {"SDR", 2000},   [SPEED_DDR] = {"DDR", 4000},
	[SPEED_QDR] = {"QDR", 8000},   [SPEED_FDR10] = {"FDR10", 10000},
	[SPEED_FDR] = {"FDR", 13636},  [SPEED_EDR] = {"EDR", 25000},
	[SPEED_HDR] = {"HDR", 50000},  [SPEED_NDR] = {"NDR", 100000},
	[SPEED_XDR] = {"XDR", 200000},
};

const char *speed_name(enum speed speed)
{
	return (unsigned int)speed < SPEED_MAX ? speeds[speed].name : NULL;
}

uint32_t speed_lane_mbps(enum speed speed)
{
	return (unsigned int)speed < SPEED_MAX ? speeds[speed].lane_mbps : 0;
}

/* One bit of a base or an extended code: 1, 2, 4, … */
static enum speed base_speed(uint8_t code)
{
	switch (code) {
	case 1:
		return SPEED_SDR;
	case 2:
		return SPEED_DDR;
	case 4:
		return SPEED_QDR;
	default:
		return SPEED_UNKNOWN;
	}
}

static enum speed extended_speed(uint8_t code)
{
	switch (code) {
	case 1:
		return SPEED_FDR;
	case 2:
		return SPEED_EDR;
	case 4:
		return SPEED_HDR;
	case 8:
		return SPEED_NDR;
	case 16:
		return SPEED_XDR;
	default:
		return SPEED_UNKNOWN;
	}
}

enum speed port_speed(const struct ibsm_snap_port *port)
{
	enum speed speed = extended_speed(port->speed_ext_active);

	if (speed != SPEED_UNKNOWN)
		return speed;
	if (port->fdr10_active & 1)
		return SPEED_FDR10;
	return base_speed(port->speed_active);
}

static uint32_t speed_mask(uint8_t base, uint8_t extended, uint8_t fdr10)
{
	uint32_t mask = fdr10 & 1 ? 1u << SPEED_FDR10 : 0;

	for (uint8_t bit = 1; bit <= 4; bit = (uint8_t)(bit << 1))
		if (base & bit)
			mask |= 1u << base_speed(bit);
	for (uint8_t bit = 1; bit <= 16; bit = (uint8_t)(bit << 1))
		if (extended & bit)
			mask |= 1u << extended_speed(bit);
	return mask;
}

uint32_t port_speeds_enabled(const struct ibsm_snap_port *port)
{
	return speed_mask(port->speed_enabled, port->speed_ext_enabled, port->fdr10_enabled);
}

uint32_t port_speeds_supported(const struct ibsm_snap_port *port)
{
	return speed_mask(port->speed_supported, port->speed_ext_supported, port->fdr10_supported);
}

size_t speed_names(uint32_t mask, const char *ret_names[static SPEED_MAX])
{
	size_t count = 0;

	for (size_t i = SPEED_SDR; i < SPEED_MAX; i++)
		if (mask & 1u << i)
			ret_names[count++] = speeds[i].name;
	return count;
}

uint32_t port_rate_mbps(const struct ibsm_snap_port *port)
{
	unsigned int lanes = width_lanes(port->width_active);

	/* FDR's lane rate is no whole number: 14062.5 · 64/66. */
	if (port_speed(port) == SPEED_FDR)
		return lanes * 150000u / 11u;
	return lanes * speed_lane_mbps(port_speed(port));
}

uint32_t rate_code_mbps(uint8_t code)
{
	static const uint32_t rates[] = {
		[2] = 2500,    [3] = 10000,   [4] = 30000,    [5] = 5000,    [6] = 20000,
		[7] = 40000,   [8] = 60000,   [9] = 80000,    [10] = 120000, [11] = 14000,
		[12] = 56000,  [13] = 112000, [14] = 168000,  [15] = 25000,  [16] = 100000,
		[17] = 200000, [18] = 300000, [19] = 28000,   [20] = 50000,  [21] = 400000,
		[22] = 600000, [23] = 800000, [24] = 1200000,
	};

	return code < ELEMENTSOF(rates) ? rates[code] : 0;
}

uint32_t mtu_bytes(uint8_t code)
{
	return code >= 1 && code <= 5 ? 128u << code : 0;
}

unsigned int vl_count(uint8_t code)
{
	static const uint8_t counts[] = {0, 1, 2, 4, 8, 15};

	return code < ELEMENTSOF(counts) ? counts[code] : 0;
}

const char *trap_name(uint16_t number)
{
	switch (number) {
	case 64:
		return "port in service";
	case 65:
		return "port out of service";
	case 66:
		return "multicast group created";
	case 67:
		return "multicast group deleted";
	case 68:
		return "path not valid any more";
	case 69:
		return "path records changed";
	case 128:
		return "link state changed";
	case 129:
		return "link integrity errors";
	case 130:
		return "buffer overrun";
	case 131:
		return "flow-control watchdog";
	case 144:
		return "node or port attributes changed";
	case 145:
		return "SystemImageGUID changed";
	case 256:
		return "bad M_Key";
	case 257:
		return "bad P_Key";
	case 258:
		return "bad Q_Key";
	case 259:
		return "bad P_Key at a switch";
	default:
		return "unknown trap";
	}
}

const char *wire_type_name(uint16_t type)
{
	static const char *const words[] = {
		[IBSM_WIRE_HELLO] = "hello",
		[IBSM_WIRE_HEARTBEAT] = "heartbeat",
		[IBSM_WIRE_DROPS] = "drops",
		[IBSM_WIRE_SNAPSHOT] = "snapshot",
		[IBSM_WIRE_SM_STATE] = "sm-state",
		[IBSM_WIRE_HEAVY_SWEEP_START] = "heavy-sweep-start",
		[IBSM_WIRE_HEAVY_SWEEP_DONE] = "heavy-sweep-done",
		[IBSM_WIRE_UCAST_ROUTING_DONE] = "ucast-routing-done",
		[IBSM_WIRE_SUBNET_UP] = "subnet-up",
		[IBSM_WIRE_STATE_CHANGE] = "state-change",
		[IBSM_WIRE_SA_DB_DUMPED] = "sa-db-dumped",
		[IBSM_WIRE_TRAP] = "trap",
		[IBSM_WIRE_LFT_CHANGE] = "lft-change",
		[IBSM_WIRE_PORT_ERRORS] = "port-errors",
		[IBSM_WIRE_PORT_DATA_COUNTERS] = "port-data-counters",
		[IBSM_WIRE_PORT_SELECT] = "port-select",
	};

	return word(words, ELEMENTSOF(words), type);
}

const char *snapshot_table_name(uint32_t id)
{
	static const char *const words[IBSM_TABLE_MAX] = {
		[IBSM_TABLE_SUBNET] = "SUBNET",
		[IBSM_TABLE_STRINGS] = "STRINGS",
		[IBSM_TABLE_NODES] = "NODES",
		[IBSM_TABLE_PORTS] = "PORTS",
		[IBSM_TABLE_SWITCHES] = "SWITCHES",
		[IBSM_TABLE_LFT] = "LFT",
		[IBSM_TABLE_SMS] = "SMS",
		[IBSM_TABLE_GROUPS] = "GROUPS",
		[IBSM_TABLE_GROUP_MEMBERS] = "GROUP_MEMBERS",
		[IBSM_TABLE_PARTITIONS] = "PARTITIONS",
		[IBSM_TABLE_PARTITION_MEMBERS] = "PARTITION_MEMBERS",
		[IBSM_TABLE_OPTIONS] = "OPTIONS",
		[IBSM_TABLE_STATISTICS] = "STATISTICS",
		[IBSM_TABLE_ENGINES] = "ENGINES",
	};

	return word(words, ELEMENTSOF(words), id);
}
