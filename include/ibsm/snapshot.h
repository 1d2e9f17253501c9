// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The fabric's state as one sealed memfd: a header of table offsets, then flat tables.
#pragma once

/*
 * A snapshot is what opensm knows at one moment: struct ibsm_snapshot_header, its directory of
 * tables, then the tables, each an array of fixed-size rows at an offset that is a multiple of 64.
 * Rows refer to rows of other tables by index; IBSM_NONE is "none". Byte order, GUIDs, LIDs and
 * strings are as in wire.h. The file is sealed (F_SEAL_SEAL, _SHRINK, _GROW, _WRITE) before it is
 * passed on; a saved snapshot file has the same bytes.
 *
 * A table that equals the one last sent is not sent again: offset is 0, row_bytes, count and
 * generation are the earlier table's. The reader takes it from the snapshot that it got before on
 * this connection, whose entry has the same row_bytes, count and generation. Indices into it still
 * hold, since an index is a row's place and the rows are the same. A table that is here has an
 * offset that is not 0, be it empty or not; its generation is that of the snapshot in which it last
 * changed. In a full snapshot every table is here.
 *
 * The reader trusts nothing: seals and size before mmap, then each offset, count, index and enum
 * range once, then it uses rows in place.
 *
 * Version history. Bump IBSM_SNAPSHOT_VERSION when a reader of the old version would misread rows
 * it knows: a field moved, resized, or with another meaning. Do not bump it for a new table, or for
 * fields appended to a row: `row_bytes` in the directory tells the stride, a reader takes rows at
 * least as long as it knows and skips table ids that it does not.
 *   1  first version
 */

#include <stdint.h>

#include "limits.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "ibsm's snapshots are little-endian and are used in place: big-endian hosts are not supported"
#endif

#define IBSM_SNAPSHOT_MAGIC UINT64_C(0x50414e534d534249) /* "IBSMSNAP" in memory */
#define IBSM_SNAPSHOT_VERSION 1
#define IBSM_SNAPSHOT_ALIGN 64

#define IBSM_NONE UINT32_MAX
#define IBSM_NO_OFFSET UINT64_MAX

enum ibsm_table {
	IBSM_TABLE_SUBNET = 1,		   /* one row: the subnet as a whole */
	IBSM_TABLE_STRINGS = 2,		   /* bytes; NUL-terminated strings, offset 0 is "" */
	IBSM_TABLE_NODES = 3,		   /* by ascending node GUID, each once */
	IBSM_TABLE_PORTS = 4,		   /* by node, then ascending port number */
	IBSM_TABLE_SWITCHES = 5,	   /* by ascending node index */
	IBSM_TABLE_LFT = 6,		   /* bytes: out-port by LID; switches point into it */
	IBSM_TABLE_SMS = 7,		   /* self first, then by ascending port GUID */
	IBSM_TABLE_GROUPS = 8,		   /* by ascending MGID */
	IBSM_TABLE_GROUP_MEMBERS = 9,	   /* by group */
	IBSM_TABLE_PARTITIONS = 10,	   /* by ascending P_Key */
	IBSM_TABLE_PARTITION_MEMBERS = 11, /* by partition */
	IBSM_TABLE_OPTIONS = 12,	   /* by name: opensm's subnet options, no keys */
	IBSM_TABLE_STATISTICS = 13,	   /* one row */
	IBSM_TABLE_ENGINES = 14,	   /* routing engines asked for, loaded, used */
	IBSM_TABLE_MAX = 15,		   /* one past the last that this version knows */
};

#define IBSM_SNAPSHOT_TABLES_MAX 64 /* entries that a reader accepts in a directory */

struct ibsm_snapshot_table {
	uint32_t id;	     /* enum ibsm_table; each at most once */
	uint32_t row_bytes;  /* stride; 1 for byte tables */
	uint64_t offset;     /* from the start of the file; 0 when the table is not here */
	uint64_t count;	     /* rows */
	uint64_t generation; /* of the snapshot in which it last changed */
};

struct ibsm_snapshot_header {
	uint64_t magic; /* IBSM_SNAPSHOT_MAGIC */
	uint32_t version;
	uint32_t header_bytes;	 /* of this struct, directory not included */
	uint64_t size_bytes;	 /* of the whole file */
	uint64_t generation;	 /* 1, 2, 3… within an instance of the plugin */
	uint64_t instance;	 /* as in HELLO */
	uint64_t monotonic_nsec; /* when the copy began */
	uint64_t realtime_nsec;
	uint32_t reason; /* enum ibsm_snapshot_reason */
	uint32_t tables; /* entries in the directory that follows the header */
};

/* SUBNET. */
struct ibsm_snap_subnet {
	uint64_t subnet_prefix;
	uint64_t sm_port_guid;
	uint64_t master_sm_guid; /* port GUID of the master that this SM follows; 0 when it is
				    master */
	uint64_t sm_node_guid;	 /* the node that sm_port_guid belongs to; 0 when not known */
	uint32_t sweep_flags;	 /* enum ibsm_sweep_flags (wire.h) */
	uint16_t sm_lid;
	uint16_t master_sm_lid;
	uint16_t max_unicast_lid; /* the smallest that a switch supports */
	uint16_t max_multicast_lid;
	uint8_t sm_state; /* enum ibsm_sm_state (wire.h) */
	uint8_t sm_priority;
	uint8_t lmc;
	uint8_t min_ca_mtu;  /* IBTA code: 1 256 … 5 4096 */
	uint8_t min_ca_rate; /* IBTA code */
	uint8_t min_data_vls;
	uint8_t reserved[6];
};

enum ibsm_node_type {
	IBSM_NODE_CA = 1,
	IBSM_NODE_SWITCH = 2,
	IBSM_NODE_ROUTER = 3,
};

struct ibsm_snap_node {
	uint64_t node_guid;
	uint64_t port_guid; /* NodeInfo.PortGUID: of the port through which opensm found it */
	uint64_t system_image_guid;
	uint32_t first_port;   /* index into PORTS; ports of a node are contiguous */
	uint32_t ports;	       /* rows there: only ports that opensm knows */
	uint32_t switch_index; /* into SWITCHES, IBSM_NONE for others */
	uint32_t vendor_id;
	uint32_t revision;
	uint16_t device_id;
	uint16_t partition_cap;
	uint8_t type;	   /* enum ibsm_node_type */
	uint8_t num_ports; /* NodeInfo.NumPorts: port 0 of a switch not counted */
	uint8_t base_version;
	uint8_t class_version;
	uint8_t present; /* 0: opensm did not reach it in the last sweep */
	uint8_t reserved[3];
	char description[IBSM_DESCRIPTION_BYTES]; /* NodeDescription, not NUL-terminated at 64 bytes
						   */
};

enum ibsm_port_flags {
	IBSM_PORT_HEALTHY = 1 << 0,	    /* osm_physp.healthy */
	IBSM_PORT_NEED_UPDATE = 1 << 1,	    /* osm_physp.need_update */
	IBSM_PORT_PROFILE_IGNORED = 1 << 2, /* osm_physp.is_prof_ignored */
	IBSM_PORT_EXTENDED_SPEEDS = 1
				    << 3, /* CapabilityMask says that speed_ext_* mean something */
	IBSM_PORT_FDR10_KNOWN = 1 << 4,	  /* the vendor's extended PortInfo was read (opt.fdr10) */
	IBSM_PORT_IN_SERVICE = 1 << 5,	  /* an osm_port_t exists: it has a LID and SA knows it */
};

/* PortInfo's codes as they are on the wire (IBTA 14.2.5.6): link speed 1 SDR, 2 DDR, 4 QDR;
 * extended 1 FDR, 2 EDR, 4 HDR, 8 NDR, 16 XDR; FDR10 bit 0; width 1 1x, 2 4x, 4 8x, 8 12x, 16 2x;
 * state 1 down, 2 init, 3 armed, 4 active; physical state 1 sleep, 2 polling, 3 disabled, 4
 * training, 5 link up, 6 error recovery, 7 PHY test; MTU 1 256 … 5 4096. 0 is "not known". */
struct ibsm_snap_port {
	uint64_t port_guid;	  /* a switch's external ports carry its port 0's */
	uint32_t node;		  /* index into NODES */
	uint32_t remote;	  /* index into PORTS of the port at the cable's other end */
	uint32_t capability_mask; /* a switch's external ports take port 0's */
	uint16_t capability_mask2;
	uint16_t lid; /* base LID; 0 for a switch's external ports */
	uint16_t sm_lid;
	uint16_t m_key_violations;
	uint16_t p_key_violations;
	uint16_t q_key_violations;
	uint16_t diag_code;
	uint16_t link_round_trip;
	uint8_t port; /* number */
	uint8_t state;
	uint8_t physical_state;
	uint8_t link_down_default;
	uint8_t width_active;
	uint8_t width_enabled;
	uint8_t width_supported;
	uint8_t speed_active;
	uint8_t speed_enabled;
	uint8_t speed_supported;
	uint8_t speed_ext_active;
	uint8_t speed_ext_enabled;
	uint8_t speed_ext_supported;
	uint8_t fdr10_active; /* bit 0: the link runs at FDR10 */
	uint8_t fdr10_enabled;
	uint8_t fdr10_supported;
	uint8_t mtu_supported;
	uint8_t mtu_active;   /* NeighborMTU */
	uint8_t vl_supported; /* IBTA code: 1 VL0, 2 VL0-1, 3 VL0-3, 4 VL0-7, 5 VL0-14 */
	uint8_t vl_operational;
	uint8_t lmc;
	uint8_t sm_sl;
	uint8_t flags;		  /* enum ibsm_port_flags */
	uint8_t local_phy_errors; /* threshold, 0…15 */
	uint8_t overrun_errors;
	uint8_t hop_weight;
	uint8_t reserved[2];
};

enum ibsm_switch_flags {
	IBSM_SWITCH_ENHANCED_PORT0 = 1 << 0,
	IBSM_SWITCH_LFT_DIFFERS = 1 << 1, /* new_lft is here, since it differs from lft */
	IBSM_SWITCH_NEED_UPDATE = 1 << 2,
};

struct ibsm_snap_switch {
	uint64_t lft;	  /* offset in bytes into LFT, IBSM_NO_OFFSET: opensm has none */
	uint64_t new_lft; /* the computed one; IBSM_NO_OFFSET unless it differs from lft */
	uint32_t node;
	uint32_t lft_lids; /* entries at lft, and at new_lft: LIDs 0 … lft_lids - 1 */
	uint16_t lft_top;  /* LinearFDBTop as the switch has it */
	uint16_t linear_cap;
	uint16_t random_cap;
	uint16_t multicast_cap;
	uint16_t max_lid; /* osm_switch.max_lid_ho */
	uint16_t lid;	  /* port 0's */
	uint8_t flags;	  /* enum ibsm_switch_flags */
	uint8_t life_state;
	uint8_t port_state_change;
	uint8_t reserved;
	uint32_t endport_links; /* osm_switch.endport_links */
	uint32_t reserved2;
};

/* LFT entries: out-port number, 0 the switch itself, 255 no path. */
#define IBSM_LFT_NO_PATH 255

struct ibsm_snap_sm {
	uint64_t port_guid;
	uint32_t port; /* index into PORTS, IBSM_NONE if opensm no longer knows it */
	uint32_t act_count;
	uint16_t lid;
	uint8_t priority;
	uint8_t state; /* enum ibsm_sm_state */
	uint8_t self;  /* 1: the SM that runs the plugin */
	uint8_t reserved[3];
};

struct ibsm_snap_group {
	uint64_t mgid_prefix;
	uint64_t mgid_guid;
	uint32_t first_member; /* into GROUP_MEMBERS */
	uint32_t members;
	uint32_t qkey;
	uint32_t flow_label;
	uint16_t mlid;
	uint16_t pkey;
	uint8_t mtu;  /* IBTA code, selector bits stripped */
	uint8_t rate; /* IBTA code, selector bits stripped */
	uint8_t packet_life;
	uint8_t sl;
	uint8_t scope;
	uint8_t traffic_class;
	uint8_t hop_limit;
	uint8_t well_known; /* 1: made by opensm's partition configuration */
	uint32_t reserved;
};

struct ibsm_snap_group_member {
	uint64_t gid_prefix;
	uint64_t gid_guid;  /* may be an alias GUID */
	uint32_t port;	    /* index into PORTS, IBSM_NONE if not known */
	uint8_t join_state; /* bit 0 full, 1 non, 2 send-only, 3 send-only full member */
	uint8_t proxy_join;
	uint8_t reserved[2];
};

struct ibsm_snap_partition {
	uint32_t name; /* offset into STRINGS */
	uint32_t first_member;
	uint32_t members;
	uint16_t pkey; /* without the membership bit */
	uint8_t sl;
	uint8_t reserved[1];
};

struct ibsm_snap_partition_member {
	uint64_t port_guid;
	uint32_t port; /* index into PORTS, IBSM_NONE if not known */
	uint8_t full;  /* 1 full member, 0 limited */
	uint8_t reserved[3];
};

enum ibsm_option_kind {
	IBSM_OPTION_INTEGER = 1, /* value */
	IBSM_OPTION_BOOLEAN = 2, /* value 0 or 1 */
	IBSM_OPTION_GUID = 3,	 /* value */
	IBSM_OPTION_STRING = 4,	 /* text; value 1 when set, 0 when opensm has none (NULL) */
	IBSM_OPTION_SECRET = 5,	 /* value 1: it is set to something other than opensm's default;
				    the key itself never leaves opensm */
};

/* One of osm_subn_opt_t, under its name in opensm.conf. */
struct ibsm_snap_option {
	uint64_t value;
	uint32_t name; /* offset into STRINGS */
	uint32_t text; /* offset into STRINGS */
	uint8_t kind;  /* enum ibsm_option_kind */
	uint8_t reserved[7];
};

/* osm_stats_t, widened; opensm's own counters are 32 bits and wrap. */
struct ibsm_snap_statistics {
	uint64_t qp0_mads_outstanding;
	uint64_t qp0_mads_outstanding_on_wire;
	uint64_t qp0_mads_rcvd;
	uint64_t qp0_mads_sent;
	uint64_t qp0_unicasts_sent;
	uint64_t qp0_mads_rcvd_unknown;
	uint64_t sa_mads_outstanding;
	uint64_t sa_mads_rcvd;
	uint64_t sa_mads_sent;
	uint64_t sa_mads_rcvd_unknown;
	uint64_t sa_mads_ignored;
};

enum ibsm_engine_flags {
	IBSM_ENGINE_ASKED = 1 << 0,   /* in opt.routing_engine_names */
	IBSM_ENGINE_LOADED = 1 << 1,  /* in routing_engine_list */
	IBSM_ENGINE_USED = 1 << 2,    /* routing_engine_used; none has it: every engine failed */
	IBSM_ENGINE_DEFAULT = 1 << 3, /* default_routing_engine: the fallback */
	IBSM_ENGINE_NO_FALLBACK = 1 << 4, /* no_fallback was asked for; set on every row */
};

/* In the order asked for, then loaded ones that nobody asked for. */
struct ibsm_snap_engine {
	uint32_t name;	/* offset into STRINGS */
	uint32_t flags; /* enum ibsm_engine_flags */
};

/*
 * Bytes of one row of table `id` in this version, 1 for byte tables; 0 for an id that this version
 * does not know. Pure; any thread.
 */
static inline uint32_t ibsm_snapshot_row_bytes(uint32_t id)
{
	switch (id) {
	case IBSM_TABLE_SUBNET:
		return sizeof(struct ibsm_snap_subnet);
	case IBSM_TABLE_STRINGS:
	case IBSM_TABLE_LFT:
		return 1;
	case IBSM_TABLE_NODES:
		return sizeof(struct ibsm_snap_node);
	case IBSM_TABLE_PORTS:
		return sizeof(struct ibsm_snap_port);
	case IBSM_TABLE_SWITCHES:
		return sizeof(struct ibsm_snap_switch);
	case IBSM_TABLE_SMS:
		return sizeof(struct ibsm_snap_sm);
	case IBSM_TABLE_GROUPS:
		return sizeof(struct ibsm_snap_group);
	case IBSM_TABLE_GROUP_MEMBERS:
		return sizeof(struct ibsm_snap_group_member);
	case IBSM_TABLE_PARTITIONS:
		return sizeof(struct ibsm_snap_partition);
	case IBSM_TABLE_PARTITION_MEMBERS:
		return sizeof(struct ibsm_snap_partition_member);
	case IBSM_TABLE_OPTIONS:
		return sizeof(struct ibsm_snap_option);
	case IBSM_TABLE_STATISTICS:
		return sizeof(struct ibsm_snap_statistics);
	case IBSM_TABLE_ENGINES:
		return sizeof(struct ibsm_snap_engine);
	default:
		return 0;
	}
}

#include "snapshot-layout.h"
