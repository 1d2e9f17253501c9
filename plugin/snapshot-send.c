// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Copied snapshots as sealed memfds: what changed, and the whole for a daemon that has nothing yet.

/*
 * All on the sender's thread. A snapshot's memfd holds the tables that differ from the last ones;
 * each table's last version stays where it was sent, in a memfd that is kept (sealed, mapped
 * read-only) as long as a table lies in it. So there is one copy of each table besides the capture
 * buffer, and it serves both to compare with and to send again.
 *
 * A daemon that connects, or that missed a snapshot since its socket was full, gets the whole: the
 * last memfd if that has all tables, else one composed from those that are kept, which then
 * replaces them. The same is done when the memfds that are kept hold more than twice what lies in
 * them: an old one may be held for one small table.
 *
 * pwrite() rather than a writable mapping: F_SEAL_WRITE refuses as long as one exists. Mapped
 * MAP_PRIVATE, since kernels before 6.7 refuse a shared mapping, even a read-only one, of a
 * write-sealed memfd.
 */

#include "snapshot-send.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "util/cleanup.h"

#define SLACK_BYTES (UINT64_C(1) << 20) /* held for nothing: not worth a copy below this */
#define TABLES (IBSM_TABLE_MAX - 1)

struct memfd {
	unsigned int refs;
	int fd;
	uint64_t bytes;
	uint8_t *map; /* read-only */
};

struct piece {
	const void *data;
	uint64_t count;
	uint64_t generation;
	bool here;
};

static struct memfd *memfd_ref(struct memfd *m)
{
	m->refs++;
	return m;
}

static struct memfd *memfd_unref(struct memfd *m)
{
	if (!m || --m->refs > 0)
		return NULL;
	if (m->map)
		munmap(m->map, m->bytes);
	if (m->fd >= 0)
		close(m->fd);
	free(m);
	return NULL;
}

DEFINE_CLEANUP(struct memfd *, memfd_unref);

static int write_all(int fd, const void *data, uint64_t bytes, uint64_t at)
{
	const uint8_t *p = data;

	while (bytes > 0) {
		ssize_t n = pwrite(fd, p, bytes, (off_t)at);

		if (n < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		p += n;
		at += (uint64_t)n;
		bytes -= (uint64_t)n;
	}
	return 0;
}

static uint64_t align_up(uint64_t at)
{
	return (at + IBSM_SNAPSHOT_ALIGN - 1) & ~(uint64_t)(IBSM_SNAPSHOT_ALIGN - 1);
}

/* A sealed, mapped memfd with the pieces that are here; ret_directory says where they lie. */
static int memfd_make(const struct ibsm_snapshot_header *template,
		      const struct piece pieces[IBSM_TABLE_MAX],
		      struct ibsm_snapshot_table ret_directory[TABLES], struct memfd **ret_memfd)
{
	struct ibsm_snapshot_header header = *template;
	_cleanup_(memfd_unrefp) struct memfd *m = calloc(1, sizeof(*m));
	uint64_t at = align_up(sizeof(header) + TABLES * sizeof(ret_directory[0]));
	void *map;
	int r;

	if (!m)
		return -ENOMEM;
	m->refs = 1;
	for (uint32_t id = 1; id < IBSM_TABLE_MAX; id++) {
		uint32_t row_bytes = ibsm_snapshot_row_bytes(id);

		ret_directory[id - 1] = (struct ibsm_snapshot_table){
			.id = id,
			.row_bytes = row_bytes,
			.offset = pieces[id].here ? at : 0,
			.count = pieces[id].count,
			.generation = pieces[id].generation,
		};
		if (pieces[id].here)
			at = align_up(at + pieces[id].count * row_bytes);
	}
	header.size_bytes = at;

	m->bytes = at;
	m->fd = memfd_create("ibsm-snapshot", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (m->fd < 0 || ftruncate(m->fd, (off_t)at) < 0)
		return -errno;
	r = write_all(m->fd, &header, sizeof(header), 0);
	if (r >= 0)
		r = write_all(m->fd, ret_directory, TABLES * sizeof(ret_directory[0]),
			      sizeof(header));
	for (uint32_t id = 1; r >= 0 && id < IBSM_TABLE_MAX; id++) {
		const struct ibsm_snapshot_table *t = &ret_directory[id - 1];

		if (t->offset)
			r = write_all(m->fd, pieces[id].data, t->count * t->row_bytes, t->offset);
	}
	if (r < 0)
		return r;
	if (fcntl(m->fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) < 0)
		return -errno;
	map = mmap(NULL, at, PROT_READ, MAP_PRIVATE, m->fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	m->map = map;
	*ret_memfd = TAKE_PTR(m);
	return 0;
}

static const void *table_data(const struct sent_table *t)
{
	return t->memfd->map + t->offset;
}

static bool table_equals(const struct sent_table *t, const struct piece *piece, uint32_t row_bytes)
{
	return t->memfd && t->count == piece->count &&
	       memcmp(table_data(t), piece->data, piece->count * row_bytes) == 0;
}

static void table_move(struct sent_table *t, const struct ibsm_snapshot_table *entry,
		       struct memfd *memfd)
{
	struct memfd *old = t->memfd;

	*t = (struct sent_table){
		.memfd = memfd_ref(memfd),
		.offset = entry->offset,
		.count = entry->count,
		.generation = entry->generation,
	};
	memfd_unref(old);
}

static void replace(struct memfd **place, struct memfd *memfd)
{
	struct memfd *old = *place;

	*place = memfd ? memfd_ref(memfd) : NULL;
	memfd_unref(old);
}

static struct ibsm_snapshot_header last_header(const struct snapshot_store *store)
{
	return (struct ibsm_snapshot_header){
		.magic = IBSM_SNAPSHOT_MAGIC,
		.version = IBSM_SNAPSHOT_VERSION,
		.header_bytes = sizeof(struct ibsm_snapshot_header),
		.generation = store->generation,
		.instance = store->instance,
		.monotonic_nsec = store->monotonic_nsec,
		.realtime_nsec = store->realtime_nsec,
		.reason = store->reason,
		.tables = TABLES,
	};
}

/* All tables in one new memfd, which replaces those that they lay in. */
static int compose(struct snapshot_store *store)
{
	_cleanup_(memfd_unrefp) struct memfd *memfd = NULL;
	struct ibsm_snapshot_header header = last_header(store);
	struct ibsm_snapshot_table directory[TABLES];
	struct piece pieces[IBSM_TABLE_MAX] = {0};
	int r;

	for (uint32_t id = 1; id < IBSM_TABLE_MAX; id++)
		pieces[id] = (struct piece){
			.data = table_data(&store->tables[id]),
			.count = store->tables[id].count,
			.generation = store->tables[id].generation,
			.here = true,
		};
	r = memfd_make(&header, pieces, directory, &memfd);
	if (r < 0)
		return r;
	for (uint32_t id = 1; id < IBSM_TABLE_MAX; id++)
		table_move(&store->tables[id], &directory[id - 1], memfd);
	replace(&store->whole, memfd);
	return 0;
}

static bool seen_before(const struct snapshot_store *store, uint32_t id)
{
	for (uint32_t i = 1; i < id; i++)
		if (store->tables[i].memfd == store->tables[id].memfd)
			return true;
	return false;
}

uint64_t snapshot_store_bytes(const struct snapshot_store *store)
{
	uint64_t bytes = 0;

	for (uint32_t id = 1; id < IBSM_TABLE_MAX; id++)
		if (store->tables[id].memfd && !seen_before(store, id))
			bytes += store->tables[id].memfd->bytes;
	return bytes;
}

static bool wasteful(const struct snapshot_store *store)
{
	uint64_t live = 0;

	for (uint32_t id = 1; id < IBSM_TABLE_MAX; id++)
		live += store->tables[id].count * ibsm_snapshot_row_bytes(id);
	return snapshot_store_bytes(store) > 2 * live + SLACK_BYTES;
}

void snapshot_store_init(struct snapshot_store *store, uint64_t instance)
{
	*store = (struct snapshot_store){.instance = instance};
}

void snapshot_store_clear(struct snapshot_store *store)
{
	for (uint32_t id = 1; id < IBSM_TABLE_MAX; id++)
		store->tables[id].memfd = memfd_unref(store->tables[id].memfd);
	store->changes = memfd_unref(store->changes);
	store->whole = memfd_unref(store->whole);
	port_index_clear(&store->index);
}

/* Which tables of the buffer differ from the last ones; returns how many. */
static unsigned int find_changes(const struct snapshot_store *store,
				 const struct snapshot_buffer *buffer, uint64_t generation,
				 struct piece ret_pieces[IBSM_TABLE_MAX])
{
	unsigned int n = 0;

	for (uint32_t id = 1; id < IBSM_TABLE_MAX; id++) {
		const struct sent_table *last = &store->tables[id];
		uint32_t row_bytes = ibsm_snapshot_row_bytes(id);
		struct piece *piece = &ret_pieces[id];
		bool copied = buffer->reason != IBSM_SNAPSHOT_GROUPS || id == IBSM_TABLE_GROUPS ||
			      id == IBSM_TABLE_GROUP_MEMBERS;

		*piece = (struct piece){
			.data = buffer->areas[id].data,
			.count = buffer->areas[id].used / row_bytes,
			.generation = generation,
			.here = true,
		};
		if (copied && !table_equals(last, piece, row_bytes)) {
			n++;
			continue;
		}
		*piece = (struct piece){.count = last->count, .generation = last->generation};
	}
	return n;
}

int snapshot_store_add(struct snapshot_store *store, struct snapshot_buffer *buffer)
{
	bool groups = buffer->reason == IBSM_SNAPSHOT_GROUPS;
	_cleanup_(memfd_unrefp) struct memfd *memfd = NULL;
	_cleanup_(port_index_clear) struct port_index built = {0};
	struct ibsm_snapshot_table directory[TABLES];
	struct ibsm_snapshot_header header;
	struct piece pieces[IBSM_TABLE_MAX] = {0};
	struct snapshot_store next = *store;
	unsigned int changed;
	int r;

	/* Groups alone have nothing to follow on. */
	if (groups && store->generation == 0)
		return 0;
	r = snapshot_resolve(buffer, &store->index, &built);
	if (r < 0)
		return r;
	next.generation++;
	next.reason = buffer->reason;
	next.monotonic_nsec = buffer->monotonic_nsec;
	next.realtime_nsec = buffer->realtime_nsec;
	next.lock_nsec = buffer->lock_nsec;

	changed = find_changes(store, buffer, next.generation, pieces);
	if (groups && changed == 0)
		return 0;
	header = last_header(&next);
	r = memfd_make(&header, pieces, directory, &memfd);
	if (r < 0)
		return r;

	*store = next;
	for (uint32_t id = 1; id < IBSM_TABLE_MAX; id++)
		if (pieces[id].here)
			table_move(&store->tables[id], &directory[id - 1], memfd);
	replace(&store->changes, memfd);
	replace(&store->whole, changed == TABLES ? memfd : NULL);
	if (!groups) {
		port_index_clear(&store->index);
		store->index = built;
		built = (struct port_index){0};
	}
	if (wasteful(store))
		/* No memory: tried again with the next snapshot. */
		(void)compose(store);
	return 1;
}

int snapshot_store_parcel(struct snapshot_store *store, uint64_t known,
			  struct snapshot_parcel *ret_parcel)
{
	struct memfd *memfd = store->changes;
	int r;

	if (known == 0 || known + 1 != store->generation) {
		if (!store->whole) {
			r = compose(store);
			if (r < 0)
				return r;
		}
		memfd = store->whole;
	}
	*ret_parcel = (struct snapshot_parcel){
		.fd = memfd->fd,
		.size_bytes = memfd->bytes,
		.full = memfd == store->whole,
	};
	return 0;
}
