// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The orders that ibsmd gives to ibsm-probe, and the replies: one record, one SOCK_SEQPACKET
// datagram.
#pragma once

/*
 * ibsm-probe is the one process of the house that may send MADs. It sends Get requests alone, and
 * only those that enum ibsm_probe_type names: no order holds a method, an attribute or bytes of a
 * MAD, so nothing else can be asked for.
 *
 * Transport. A socketpair that ibsmd made before it started ibsm-probe, or a connection to
 * ibsm-probe's socket unit: AF_UNIX, SOCK_SEQPACKET, no file descriptors. ibsmd speaks first and
 * sends orders; each order gets exactly one reply, bad ones included, in whatever order the fabric
 * answers. When either side closes, the other is done with it; ibsm-probe then exits.
 *
 * Sequence. `sequence` is ibsmd's number of the order (1, 2, 3… on a connection); the reply repeats
 * it. ibsm-probe draws no conclusion from it. `type` of a reply is the order's with
 * IBSM_PROBE_REPLY set; a datagram that is no order at all (too short, another magic) is answered
 * by a struct ibsm_probe_reply of the type IBSM_PROBE_REPLY | IBSM_PROBE_NONE.
 *
 * Bodies. All orders have one layout; fields that a type does not use must be 0. A reply has its
 * type's full length whatever its status, but its body is 0 unless the status is OK or its comment
 * says otherwise.
 *
 * Keys. SM_Key and M_Key are wiped from the receive buffer before anything else looks at it. No
 * record has a field for them.
 *
 * Byte order is little-endian, fields have fixed width and natural alignment, and structs have no
 * hidden padding (checked below). GUIDs, LIDs and prefixes are numbers in host order. `description`
 * and `ca_name` are padded with NULs; descriptions are hostile input that the reader makes
 * printable on entry.
 *
 * Version history. Bump IBSM_PROBE_VERSION when a reader of the old version would misread a record,
 * as wire.h says it for the plugin. The two ends check for equality: they are installed together.
 * 1  first version
 */

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "limits.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "ibsm's records are little-endian and are used in place: big-endian hosts are not supported"
#endif

#define IBSM_PROBE_MAGIC UINT32_C(0x50534249) /* "IBSP" in memory */
#define IBSM_PROBE_VERSION 1
#define IBSM_PROBE_REPLY 0x8000 /* bit in `type` */

/* Longest record of this version. */
#define IBSM_PROBE_RECORD_MAX 8192

enum ibsm_probe_type {
	IBSM_PROBE_NONE = 0, /* in replies alone: see above */

	/* These send nothing. */
	IBSM_PROBE_PING = 1,	  /* version and counters */
	IBSM_PROBE_PORT_LIST = 2, /* every port that may send MADs, as sysfs has them */
	IBSM_PROBE_PORT =
		3, /* choose a port, open it, say which it is; look again if asked again */

	/* These send one Get on the chosen port; without one they look for it first. */
	IBSM_PROBE_LOCAL = 16,	   /* PortInfo of the chosen port itself, direct route, hop 0 */
	IBSM_PROBE_SM_INFO = 17,   /* SMInfo of `lid` */
	IBSM_PROBE_NODE_INFO = 18, /* NodeInfo of `lid` */
	IBSM_PROBE_NODE_DESC = 19, /* NodeDescription of `lid` */
	IBSM_PROBE_PORT_INFO =
		20, /* PortInfo of port `port` of `lid`; 0 is the port that has the LID */
	IBSM_PROBE_COUNTERS = 32,    /* PMA PortCounters of port `port` of `lid` */
	IBSM_PROBE_COUNTERS_EXT = 33 /* PMA PortCountersExtended of port `port` of `lid` */
};

enum ibsm_probe_choice {
	IBSM_PROBE_CHOICE_AUTO = 0, /* the first active InfiniBand port, else the first that has a
				       link, else the first */
	IBSM_PROBE_CHOICE_NAME = 1, /* `ca_name` and `port` */
	IBSM_PROBE_CHOICE_GUID = 2, /* `port_guid` */
};

struct ibsm_probe_header {
	uint32_t magic;	  /* IBSM_PROBE_MAGIC */
	uint16_t version; /* IBSM_PROBE_VERSION of the writer */
	uint16_t type;	  /* enum ibsm_probe_type, IBSM_PROBE_REPLY set in replies */
	uint32_t length;  /* bytes of the whole record, this header included */
	uint32_t reserved;
	uint64_t sequence; /* see above */
};

/* Any order. */
struct ibsm_probe_order {
	struct ibsm_probe_header header;
	uint64_t port_guid;    /* PORT with CHOICE_GUID */
	char ca_name[24];      /* PORT with CHOICE_NAME; ends with a NUL */
	uint16_t lid;	       /* 1…IBSM_UNICAST_LID_MAX, where a type says so */
	uint8_t port;	       /* PORT with CHOICE_NAME, PORT_INFO, COUNTERS, COUNTERS_EXT */
	uint8_t choice;	       /* PORT: enum ibsm_probe_choice */
	uint32_t timeout_msec; /* the Gets: 0 is the default; see limits.h */
};

enum ibsm_probe_status {
	IBSM_PROBE_OK = 0,
	IBSM_PROBE_TIMEOUT = 1,	      /* no answer: `error` is ETIMEDOUT, as umad's status has it */
	IBSM_PROBE_SEND_ERROR = 2,    /* `error` says why */
	IBSM_PROBE_RECEIVE_ERROR = 3, /* umad gave the request back: `error` is its status */
	IBSM_PROBE_MAD_STATUS = 4,    /* an answer that says no: `mad_status` */
	IBSM_PROBE_BAD_ANSWER = 5,    /* an answer, but not to what was asked */
	IBSM_PROBE_BUSY = 6,	      /* not sent: `detail` is an enum ibsm_probe_busy */
	IBSM_PROBE_BAD_ORDER = 7,     /* not done: `detail` is an enum ibsm_probe_field */
	IBSM_PROBE_NO_DEVICE = 8,     /* no MAD device on this host */
	IBSM_PROBE_NO_PORT = 9,	      /* MAD devices, but not the port that was asked for */
	IBSM_PROBE_NOT_INFINIBAND = 10, /* the port that was asked for is an Ethernet port */
	IBSM_PROBE_OPEN_ERROR = 11,	/* the port is there but cannot be opened: `error` */
	IBSM_PROBE_PORT_LOST =
		12, /* the port went away, or another was chosen, before the answer */
};

enum ibsm_probe_busy {
	IBSM_PROBE_BUSY_TARGET = 1, /* the last query of this LID has no answer yet */
	IBSM_PROBE_BUSY_OUTSTANDING =
		2,		  /* as many queries as the port may have, have no answer yet */
	IBSM_PROBE_BUSY_PACE = 3, /* more than so many in a second */
};

/* Which field of an order was wrong. */
enum ibsm_probe_field {
	IBSM_PROBE_FIELD_LENGTH = 1, /* the header's, or the datagram's */
	IBSM_PROBE_FIELD_MAGIC = 2,
	IBSM_PROBE_FIELD_VERSION = 3,
	IBSM_PROBE_FIELD_TYPE = 4,
	IBSM_PROBE_FIELD_RESERVED = 5,
	IBSM_PROBE_FIELD_PORT_GUID = 6,
	IBSM_PROBE_FIELD_CA_NAME = 7,
	IBSM_PROBE_FIELD_LID = 8,
	IBSM_PROBE_FIELD_PORT = 9,
	IBSM_PROBE_FIELD_CHOICE = 10,
	IBSM_PROBE_FIELD_TIMEOUT = 11,
};

/* What became of an order. */
struct ibsm_probe_result {
	uint16_t status;     /* enum ibsm_probe_status */
	uint16_t detail;     /* see there */
	uint16_t mad_status; /* of the answer (IBTA 13.4.7), 0 if there was none */
	uint16_t lid;	     /* as the order had it */
	uint8_t port;	     /* as the order had it */
	uint8_t reserved[3];
	uint32_t error;		  /* an errno, see there */
	uint32_t round_trip_usec; /* from before the send until after the receive; 0 if not sent */
	uint32_t reserved2;
};

/* Head of any reply; all of it for those that have no body. */
struct ibsm_probe_reply {
	struct ibsm_probe_header header;
	struct ibsm_probe_result result;
};

/* Counters since the process started. */
struct ibsm_probe_reply_ping {
	struct ibsm_probe_header header;
	struct ibsm_probe_result result;
	uint64_t orders; /* datagrams received, this one included */
	uint64_t bad_orders;
	uint64_t sent;	   /* MADs */
	uint64_t answered; /* with a reply MAD, whatever its status */
	uint64_t timeouts;
	uint64_t errors; /* SEND_ERROR, RECEIVE_ERROR and BAD_ANSWER */
	uint64_t busy;
	uint64_t late; /* answers that nobody waited for any more */
	uint64_t ports_lost;
	uint32_t pid;
	uint32_t outstanding;	  /* now */
	uint32_t outstanding_max; /* on the port that is open */
	uint32_t mads_per_sec;
	uint32_t timeout_msec; /* where an order says 0 */
	uint32_t reserved;
	char version[32]; /* of ibsm-probe */
};

enum ibsm_probe_link_layer {
	IBSM_PROBE_LINK_UNKNOWN = 0,
	IBSM_PROBE_LINK_INFINIBAND = 1,
	IBSM_PROBE_LINK_ETHERNET = 2,
};

/* A port as sysfs has it. */
struct ibsm_probe_port {
	uint64_t port_guid;
	uint64_t gid_prefix;
	uint64_t node_guid;
	char ca_name[24]; /* ends with a NUL */
	uint32_t capability_mask;
	uint32_t rate_gbps; /* 0 unknown */
	uint16_t lid;
	uint16_t sm_lid;
	uint8_t port;
	uint8_t state;		/* IBTA PortState: 1 down, 2 init, 3 armed, 4 active */
	uint8_t physical_state; /* IBTA PortPhysicalState: 5 link up */
	uint8_t link_layer;	/* enum ibsm_probe_link_layer */
	uint8_t node_type;	/* 1 CA, 2 switch, 3 router */
	uint8_t lmc;
	uint8_t sm_sl;
	uint8_t chosen; /* 1: it is the one that is open */
	uint8_t reserved[4];
};

struct ibsm_probe_reply_port_list {
	struct ibsm_probe_header header;
	struct ibsm_probe_result result; /* OK with no rows where there are devices but no ports */
	uint32_t count;			 /* of rows below */
	uint32_t total; /* of ports found; more than `count` where they are too many */
	struct ibsm_probe_port ports[IBSM_PROBE_PORTS_MAX];
};

enum ibsm_probe_found {
	IBSM_PROBE_FOUND_NAME = 1,   /* asked for by name */
	IBSM_PROBE_FOUND_GUID = 2,   /* asked for by GUID */
	IBSM_PROBE_FOUND_ACTIVE = 3, /* the first active InfiniBand port */
	IBSM_PROBE_FOUND_LINK = 4,   /* none is active: the first with a link */
	IBSM_PROBE_FOUND_FIRST = 5,  /* none has a link: the first */
};

struct ibsm_probe_reply_port {
	struct ibsm_probe_header header;
	struct ibsm_probe_result result; /* OPEN_ERROR: `port` is filled in nevertheless */
	struct ibsm_probe_port port;
	uint8_t found; /* enum ibsm_probe_found */
	uint8_t reserved[3];
	uint32_t outstanding_max; /* queries that may wait for answers at a time */
};

enum ibsm_probe_source {
	IBSM_PROBE_SOURCE_MAD = 1,
	IBSM_PROBE_SOURCE_SYSFS = 2, /* LOCAL alone, where no answer came: `error` says what did */
};

/* LOCAL and PORT_INFO (IBTA 14.2.5.6). From SYSFS only the fields up to `sm_sl` are filled in. */
struct ibsm_probe_reply_port_info {
	struct ibsm_probe_header header;
	struct ibsm_probe_result result;
	uint64_t gid_prefix;
	uint32_t capability_mask; /* bit 1: an SM runs on it */
	uint16_t lid;
	uint16_t sm_lid;
	uint8_t state;
	uint8_t physical_state;
	uint8_t lmc;
	uint8_t sm_sl;
	uint8_t source;	      /* enum ibsm_probe_source */
	uint8_t local_port;   /* the one the request came in on */
	uint8_t width_active; /* IBTA's codes, as MADs have them */
	uint8_t width_enabled;
	uint8_t width_supported;
	uint8_t speed_active;
	uint8_t speed_enabled;
	uint8_t speed_supported;
	uint8_t speed_ext_active;
	uint8_t speed_ext_enabled;
	uint8_t speed_ext_supported;
	uint8_t mtu_active; /* NeighborMTU */
	uint8_t mtu_supported;
	uint8_t vl_supported;
	uint8_t vl_operational;
	uint8_t subnet_timeout;
	uint16_t m_key_violations;
	uint16_t p_key_violations;
	uint16_t q_key_violations;
	uint8_t local_phy_errors;
	uint8_t overrun_errors;
	uint8_t reserved[4];
};

/* IBTA 14.4.1, without the SM_Key. */
struct ibsm_probe_reply_sm_info {
	struct ibsm_probe_header header;
	struct ibsm_probe_result result;
	uint64_t guid;
	uint32_t act_count;
	uint8_t priority;
	uint8_t state; /* 0 not active, 1 discovering, 2 standby, 3 master */
	uint8_t reserved[2];
};

/* IBTA 14.2.5.3. */
struct ibsm_probe_reply_node_info {
	struct ibsm_probe_header header;
	struct ibsm_probe_result result;
	uint64_t system_image_guid;
	uint64_t node_guid;
	uint64_t port_guid;
	uint32_t revision;
	uint32_t vendor_id;
	uint16_t partition_cap;
	uint16_t device_id;
	uint8_t base_version;
	uint8_t class_version;
	uint8_t node_type; /* 1 CA, 2 switch, 3 router */
	uint8_t ports;
	uint8_t local_port;
	uint8_t reserved[7];
};

struct ibsm_probe_reply_node_desc {
	struct ibsm_probe_header header;
	struct ibsm_probe_result result;
	uint8_t description[IBSM_DESCRIPTION_BYTES]; /* as it came; need not end with a NUL */
};

/* IBTA 16.1.3.5: these stick at their maximum, which differs by field. */
struct ibsm_probe_reply_counters {
	struct ibsm_probe_header header;
	struct ibsm_probe_result result;
	uint32_t symbol_errors;
	uint32_t link_recovers;
	uint32_t link_downed;
	uint32_t receive_errors;
	uint32_t receive_remote_physical_errors;
	uint32_t receive_switch_relay_errors;
	uint32_t transmit_discards;
	uint32_t transmit_constraint_errors;
	uint32_t receive_constraint_errors;
	uint32_t local_link_integrity_errors;
	uint32_t excessive_buffer_overruns;
	uint32_t vl15_dropped;
	uint32_t transmit_data; /* in units of 4 octets */
	uint32_t receive_data;
	uint32_t transmit_packets;
	uint32_t receive_packets;
	uint32_t transmit_wait;
	uint32_t port; /* PortSelect of the answer */
};

/* IBTA 16.1.4.11. */
struct ibsm_probe_reply_counters_ext {
	struct ibsm_probe_header header;
	struct ibsm_probe_result result;
	uint64_t transmit_data; /* in units of 4 octets */
	uint64_t receive_data;
	uint64_t transmit_packets;
	uint64_t receive_packets;
	uint64_t unicast_transmit_packets;
	uint64_t unicast_receive_packets;
	uint64_t multicast_transmit_packets;
	uint64_t multicast_receive_packets;
	uint64_t port; /* PortSelect of the answer */
};

/* Any reply of this version. */
union ibsm_probe_any_reply {
	struct ibsm_probe_reply head;
	struct ibsm_probe_reply_ping ping;
	struct ibsm_probe_reply_port_list port_list;
	struct ibsm_probe_reply_port port;
	struct ibsm_probe_reply_port_info port_info; /* LOCAL and PORT_INFO */
	struct ibsm_probe_reply_sm_info sm_info;
	struct ibsm_probe_reply_node_info node_info;
	struct ibsm_probe_reply_node_desc node_desc;
	struct ibsm_probe_reply_counters counters;
	struct ibsm_probe_reply_counters_ext counters_ext;
};

/*
 * Length in bytes of a reply to an order of `type` (without IBSM_PROBE_REPLY), header included. An
 * order that this version does not know is answered by the head alone. Pure; any thread.
 */
static inline uint32_t ibsm_probe_reply_length(uint16_t type)
{
	switch (type) {
	case IBSM_PROBE_PING:
		return sizeof(struct ibsm_probe_reply_ping);
	case IBSM_PROBE_PORT_LIST:
		return sizeof(struct ibsm_probe_reply_port_list);
	case IBSM_PROBE_PORT:
		return sizeof(struct ibsm_probe_reply_port);
	case IBSM_PROBE_LOCAL:
	case IBSM_PROBE_PORT_INFO:
		return sizeof(struct ibsm_probe_reply_port_info);
	case IBSM_PROBE_SM_INFO:
		return sizeof(struct ibsm_probe_reply_sm_info);
	case IBSM_PROBE_NODE_INFO:
		return sizeof(struct ibsm_probe_reply_node_info);
	case IBSM_PROBE_NODE_DESC:
		return sizeof(struct ibsm_probe_reply_node_desc);
	case IBSM_PROBE_COUNTERS:
		return sizeof(struct ibsm_probe_reply_counters);
	case IBSM_PROBE_COUNTERS_EXT:
		return sizeof(struct ibsm_probe_reply_counters_ext);
	default:
		return sizeof(struct ibsm_probe_reply);
	}
}

/* An empty order of @type: its header, all else 0. Pure; any thread. */
static inline void ibsm_probe_order_init(struct ibsm_probe_order *ret_order, uint16_t type,
					 uint64_t sequence)
{
	memset(ret_order, 0, sizeof(*ret_order));
	ret_order->header.magic = IBSM_PROBE_MAGIC;
	ret_order->header.version = IBSM_PROBE_VERSION;
	ret_order->header.type = type;
	ret_order->header.length = sizeof(*ret_order);
	ret_order->header.sequence = sequence;
}

/*
 * Fill in what a PORT order chooses by, as people write it: "" or "auto", "CA/N" such as
 * "mlx5_0/1", or a port GUID, "0x" and up to 16 hexadecimal digits. Touches only the fields of the
 * choice. Pure; any thread.
 *
 * Returns 0, or -EINVAL and *@order is untouched.
 */
static inline int ibsm_probe_parse_port(const char *text, struct ibsm_probe_order *order)
{
	static const char digits[] = "0123456789abcdefABCDEF";
	const char *slash = strrchr(text, '/');
	const size_t length = strlen(text);

	if (length == 0 || strcmp(text, "auto") == 0) {
		order->port_guid = 0;
		memset(order->ca_name, 0, sizeof(order->ca_name));
		order->port = 0;
		order->choice = IBSM_PROBE_CHOICE_AUTO;
		return 0;
	}
	if (slash) {
		const size_t name = (size_t)(slash - text);
		const size_t number = strspn(slash + 1, "0123456789");
		const unsigned long port = strtoul(slash + 1, NULL, 10);

		if (name == 0 || name >= sizeof(order->ca_name) || memchr(text, '/', name) ||
		    number == 0 || number > 3 || slash[1 + number] != 0 || port >= IBSM_PORTS_MAX)
			return -EINVAL;
		order->port_guid = 0;
		memset(order->ca_name, 0, sizeof(order->ca_name));
		memcpy(order->ca_name, text, name);
		order->port = (uint8_t)port;
		order->choice = IBSM_PROBE_CHOICE_NAME;
		return 0;
	}
	if (length > 2 && length <= 18 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X') &&
	    strspn(text + 2, digits) == length - 2) {
		const unsigned long long guid = strtoull(text + 2, NULL, 16);

		if (guid == 0)
			return -EINVAL;
		order->port_guid = guid;
		memset(order->ca_name, 0, sizeof(order->ca_name));
		order->port = 0;
		order->choice = IBSM_PROBE_CHOICE_GUID;
		return 0;
	}
	return -EINVAL;
}

/* A status in a few words, for people; never NULL. Pure; any thread. */
static inline const char *ibsm_probe_status_text(uint16_t status)
{
	switch (status) {
	case IBSM_PROBE_OK:
		return "ok";
	case IBSM_PROBE_TIMEOUT:
		return "no answer";
	case IBSM_PROBE_SEND_ERROR:
		return "cannot send";
	case IBSM_PROBE_RECEIVE_ERROR:
		return "cannot receive";
	case IBSM_PROBE_MAD_STATUS:
		return "refused";
	case IBSM_PROBE_BAD_ANSWER:
		return "answer to another question";
	case IBSM_PROBE_BUSY:
		return "busy";
	case IBSM_PROBE_BAD_ORDER:
		return "bad order";
	case IBSM_PROBE_NO_DEVICE:
		return "no MAD device";
	case IBSM_PROBE_NO_PORT:
		return "no such port";
	case IBSM_PROBE_NOT_INFINIBAND:
		return "not an InfiniBand port";
	case IBSM_PROBE_OPEN_ERROR:
		return "cannot open the port";
	case IBSM_PROBE_PORT_LOST:
		return "the port went away";
	default:
		return "unknown status";
	}
}

/* The name of a field of an order; never NULL. Pure; any thread. */
static inline const char *ibsm_probe_field_text(uint16_t field)
{
	switch (field) {
	case IBSM_PROBE_FIELD_LENGTH:
		return "length";
	case IBSM_PROBE_FIELD_MAGIC:
		return "magic";
	case IBSM_PROBE_FIELD_VERSION:
		return "version";
	case IBSM_PROBE_FIELD_TYPE:
		return "type";
	case IBSM_PROBE_FIELD_RESERVED:
		return "reserved";
	case IBSM_PROBE_FIELD_PORT_GUID:
		return "port_guid";
	case IBSM_PROBE_FIELD_CA_NAME:
		return "ca_name";
	case IBSM_PROBE_FIELD_LID:
		return "lid";
	case IBSM_PROBE_FIELD_PORT:
		return "port";
	case IBSM_PROBE_FIELD_CHOICE:
		return "choice";
	case IBSM_PROBE_FIELD_TIMEOUT:
		return "timeout_msec";
	default:
		return "unknown field";
	}
}

#include "probe-layout.h"
