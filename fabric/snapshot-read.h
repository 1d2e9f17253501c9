// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Maps and validates a snapshot (ibsm/snapshot.h) once; after that its rows are used in place.
#pragma once

/*
 * The fd, or the memory, is hostile until validated. What snapshot_read() promises afterwards, to
 * everyone who walks the rows:
 *
 *  - the bytes can no longer change: F_SEAL_WRITE is there (F_SEAL_FUTURE_WRITE is not enough: it
 *    lets a writable mapping that the sender made before go on changing bytes that were checked
 *    already), nor can the file shrink under the mapping (SIGBUS);
 *  - each of the tables of version 1 is there, its rows aligned and inside the file;
 *  - each index is IBSM_NONE where that is allowed, or smaller than the count of its table; ports
 * of a node, members of a group and of a partition are contiguous and cover their table exactly;
 *  - each string offset leads to a NUL-terminated string;
 *  - each LFT lies inside the LFT table, with at most 0xc000 entries;
 *  - what snapshot.h says of order holds: nodes by ascending GUID, ports by node and number,
 *    switches by node, options by name …, so that look-ups may bisect.
 *
 * What it does not promise, since reality does not either: values that a device reports about
 * itself (port states, widths, speeds, node types, another SM's state) are any byte; names.h has
 * "unknown" for them. `remote` need not be symmetric: opensm's osm_node_link() sets the two ends
 * that it joins and leaves the former neighbour of either pointing where it did. A link is
 * therefore a pair of ports that name each other (fabric_link_port()), and ports whose remote does
 * not answer are counted as a warning. An LFT may name ports that do not exist.
 */

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>

#include "ibsm/snapshot.h"
#include "util/cleanup.h"

struct snapshot_mapping; /* one file's bytes, ref-counted */

struct snapshot_rows {
	const unsigned char *rows; /* never NULL, also where count is 0 */
	uint32_t count;		   /* bytes, for STRINGS; for LFT see lft_bytes */
	uint32_t row_bytes;
};

/* What was odd but is tolerated. */
struct snapshot_warnings {
	uint32_t asymmetric_remotes; /* ports whose neighbour names another, or none, as its own */
	uint32_t odd_values;	     /* codes out of IBTA's range, reported by devices */
	char first[160];	     /* the first of them, as a line; "" when there are none */
};

/* Immutable once made; read it from any thread. Fields are for the accessors below. */
struct snapshot {
	atomic_uint refs;
	struct ibsm_snapshot_header header;
	struct snapshot_rows tables[IBSM_TABLE_MAX];
	uint64_t lft_bytes;
	uint64_t generations[IBSM_TABLE_MAX];
	struct snapshot_mapping *mappings[IBSM_TABLE_MAX];
	struct snapshot_warnings warnings;
	uint32_t tables_taken;	 /* from `previous` */
	uint32_t tables_unknown; /* ids that this version does not know, skipped */
};

struct snapshot_error {
	/* A line such as "table PORTS row 12: remote 99999 is past the last port 88". */
	char text[192];
};

/**
 * snapshot_read - map and validate a memfd sent by the plugin
 * @fd:        stays the caller's; may be closed right after
 * @previous:  the snapshot that came before on this connection, from which tables that are not in
 *             this one are taken; NULL: there is none, so a full one is expected. Stays the
 * caller's
 * @ret:       gets the snapshot, one reference
 * @ret_error: gets the reason of a failure; may be NULL
 *
 * Checks, before it maps: regular file, size within limits.h, all four seals. The mapping is
 * private and read-only (a shared one is refused by kernels before 6.7 where F_SEAL_WRITE is set).
 * A taken table keeps its earlier file mapped. Reentrant.
 *
 * Returns 0; -EBADF; -EPERM: a seal is missing, or it is no memfd; -EFBIG; -EBADMSG: not valid
 * (ret_error says what); -ESTALE: valid, but it leans on tables that `previous` does not have: ask
 * for a full one (reconnect); -EPROTONOSUPPORT: another version; -ENOMEM and what mmap(2) says.
 */
int snapshot_read(int fd, const struct snapshot *previous, struct snapshot **ret,
		  struct snapshot_error *ret_error);

/**
 * snapshot_read_memory - validate a snapshot held in memory, as from a saved file
 * @bytes: `size` bytes, any alignment, any content; copied, so that nobody can change them later
 *
 * Otherwise as snapshot_read(), seals aside.
 */
int snapshot_read_memory(const void *bytes, size_t size, const struct snapshot *previous,
			 struct snapshot **ret, struct snapshot_error *ret_error);

/* References; any thread. snapshot_unref() accepts NULL and returns NULL. */
struct snapshot *snapshot_ref(struct snapshot *snapshot);
struct snapshot *snapshot_unref(struct snapshot *snapshot);
DEFINE_CLEANUP(struct snapshot *, snapshot_unref);

/* Whether both have the very same bytes as table `id`, by identity: taken from one file. False says
 * nothing about equality. */
static inline bool snapshot_same_table(const struct snapshot *a, const struct snapshot *b,
				       enum ibsm_table id)
{
	return a->tables[id].rows == b->tables[id].rows &&
	       a->tables[id].count == b->tables[id].count && a->mappings[id] == b->mappings[id];
}

/* Row `index`, which must be smaller than the table's count. Valid as long as the snapshot is. */
#define SNAPSHOT_ACCESSOR(name, plural, row, id)                                                   \
	__attribute__((returns_nonnull)) static inline const struct row *snapshot_##name(          \
		const struct snapshot *s, uint32_t index)                                          \
	{                                                                                          \
		return (const struct row *)(const void *)(s->tables[id].rows +                     \
							  (size_t)index *                          \
								  s->tables[id].row_bytes);        \
	}                                                                                          \
	static inline uint32_t snapshot_##plural(const struct snapshot *s)                         \
	{                                                                                          \
		return s->tables[id].count;                                                        \
	}                                                                                          \
	struct cleanup_needs_a_semicolon
SNAPSHOT_ACCESSOR(node, nodes, ibsm_snap_node, IBSM_TABLE_NODES);
SNAPSHOT_ACCESSOR(port, ports, ibsm_snap_port, IBSM_TABLE_PORTS);
SNAPSHOT_ACCESSOR(switch, switches, ibsm_snap_switch, IBSM_TABLE_SWITCHES);
SNAPSHOT_ACCESSOR(sm, sms, ibsm_snap_sm, IBSM_TABLE_SMS);
SNAPSHOT_ACCESSOR(group, groups, ibsm_snap_group, IBSM_TABLE_GROUPS);
SNAPSHOT_ACCESSOR(group_member, group_members, ibsm_snap_group_member, IBSM_TABLE_GROUP_MEMBERS);
SNAPSHOT_ACCESSOR(partition, partitions, ibsm_snap_partition, IBSM_TABLE_PARTITIONS);
SNAPSHOT_ACCESSOR(partition_member, partition_members, ibsm_snap_partition_member,
		  IBSM_TABLE_PARTITION_MEMBERS);
SNAPSHOT_ACCESSOR(option, options, ibsm_snap_option, IBSM_TABLE_OPTIONS);
SNAPSHOT_ACCESSOR(engine, engines, ibsm_snap_engine, IBSM_TABLE_ENGINES);
#undef SNAPSHOT_ACCESSOR

/* Tables of one row. */
static inline const struct ibsm_snap_subnet *snapshot_subnet(const struct snapshot *s)
{
	return (const void *)s->tables[IBSM_TABLE_SUBNET].rows;
}
static inline const struct ibsm_snap_statistics *snapshot_statistics(const struct snapshot *s)
{
	return (const void *)s->tables[IBSM_TABLE_STATISTICS].rows;
}

/* The string at an offset that a row holds. Foreign: not printable. */
static inline const char *snapshot_string(const struct snapshot *s, uint32_t offset)
{
	return (const char *)s->tables[IBSM_TABLE_STRINGS].rows + offset;
}

/* The LFT that a switch acknowledged, and the one that opensm computed: `lft_lids` bytes each. NULL
 * where opensm has none; the computed one also where it does not differ. */
static inline const uint8_t *snapshot_lft(const struct snapshot *s,
					  const struct ibsm_snap_switch *sw)
{
	return sw->lft == IBSM_NO_OFFSET ? NULL : s->tables[IBSM_TABLE_LFT].rows + sw->lft;
}
static inline const uint8_t *snapshot_new_lft(const struct snapshot *s,
					      const struct ibsm_snap_switch *sw)
{
	return sw->new_lft == IBSM_NO_OFFSET ? NULL : s->tables[IBSM_TABLE_LFT].rows + sw->new_lft;
}
