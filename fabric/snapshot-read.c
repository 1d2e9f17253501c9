// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Seals, size, header and directory of a snapshot, and where its tables come from.
#include "snapshot-read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "names.h"
#include "snapshot-check.h"

#define ROW_BYTES_MAX 4096u

struct snapshot_mapping {
	atomic_uint refs;
	void *bytes;
	size_t size;
	bool mapped; /* munmap(), not free() */
};

int snapshot_bad(struct snapshot_error *ret_error, const char *format, ...)
{
	va_list args;

	if (ret_error) {
		va_start(args, format);
		vsnprintf(ret_error->text, sizeof(ret_error->text), format, args);
		va_end(args);
	}
	return -EBADMSG;
}

static struct snapshot_mapping *mapping_unref(struct snapshot_mapping *mapping)
{
	if (!mapping || atomic_fetch_sub_explicit(&mapping->refs, 1, memory_order_acq_rel) != 1)
		return NULL;
	if (mapping->mapped)
		munmap(mapping->bytes, mapping->size);
	else
		free(mapping->bytes);
	free(mapping);
	return NULL;
}
DEFINE_CLEANUP(struct snapshot_mapping *, mapping_unref);

static struct snapshot_mapping *mapping_ref(struct snapshot_mapping *mapping)
{
	atomic_fetch_add_explicit(&mapping->refs, 1, memory_order_relaxed);
	return mapping;
}

struct snapshot *snapshot_ref(struct snapshot *snapshot)
{
	atomic_fetch_add_explicit(&snapshot->refs, 1, memory_order_relaxed);
	return snapshot;
}

struct snapshot *snapshot_unref(struct snapshot *snapshot)
{
	if (!snapshot || atomic_fetch_sub_explicit(&snapshot->refs, 1, memory_order_acq_rel) != 1)
		return NULL;
	for (size_t id = 0; id < ELEMENTSOF(snapshot->mappings); id++)
		mapping_unref(snapshot->mappings[id]);
	free(snapshot);
	return NULL;
}

static int check_header(const struct ibsm_snapshot_header *header, size_t size,
			struct snapshot_error *ret_error)
{
	uint64_t directory;

	if (header->magic != IBSM_SNAPSHOT_MAGIC)
		return snapshot_bad(ret_error, "magic is 0x%016llx: not a snapshot of ibsm",
				    (unsigned long long)header->magic);
	if (header->version != IBSM_SNAPSHOT_VERSION) {
		snapshot_bad(ret_error, "snapshot of version %u; this reads version %u",
			     header->version, IBSM_SNAPSHOT_VERSION);
		return -EPROTONOSUPPORT;
	}
	if (header->size_bytes != size)
		return snapshot_bad(ret_error, "header: size_bytes is %llu, the file has %zu",
				    (unsigned long long)header->size_bytes, size);
	if (header->header_bytes < sizeof(*header) || header->header_bytes % 8 != 0 ||
	    header->header_bytes > size)
		return snapshot_bad(ret_error,
				    "header: header_bytes is %u; at least %zu, a multiple of 8 and "
				    "within the file are needed",
				    header->header_bytes, sizeof(*header));
	if (header->tables > IBSM_SNAPSHOT_TABLES_MAX)
		return snapshot_bad(ret_error, "header: %u tables are more than %d", header->tables,
				    IBSM_SNAPSHOT_TABLES_MAX);
	directory = header->header_bytes +
		    (uint64_t)header->tables * sizeof(struct ibsm_snapshot_table);
	if (directory > size)
		return snapshot_bad(ret_error,
				    "header: the directory of %u tables ends at %llu, past the end "
				    "of the file (%zu)",
				    header->tables, (unsigned long long)directory, size);
	if (header->generation == 0)
		return snapshot_bad(ret_error, "header: generation is 0");
	return 0;
}

static bool is_byte_table(uint32_t id)
{
	return id == IBSM_TABLE_STRINGS || id == IBSM_TABLE_LFT;
}

static uint64_t rows_max(uint32_t id)
{
	switch (id) {
	case IBSM_TABLE_NODES:
	case IBSM_TABLE_SWITCHES:
		return IBSM_SNAPSHOT_NODES_MAX;
	case IBSM_TABLE_PORTS:
		return IBSM_SNAPSHOT_PORTS_MAX;
	case IBSM_TABLE_LFT:
		return IBSM_SNAPSHOT_BYTES_MAX;
	default:
		return IBSM_NONE - 1; /* an index has to fit */
	}
}

/* What holds for an entry of a table that this version knows, be the table here or not. */
static int check_entry(const struct ibsm_snapshot_table *entry, struct snapshot_error *ret_error)
{
	const char *name = snapshot_table_name(entry->id);
	uint32_t known = ibsm_snapshot_row_bytes(entry->id);

	if (is_byte_table(entry->id) ? entry->row_bytes != 1
				     : entry->row_bytes < known || entry->row_bytes % 8 != 0 ||
					       entry->row_bytes > ROW_BYTES_MAX)
		return snapshot_bad(ret_error, "table %s: row_bytes is %u; %s%u%s", name,
				    entry->row_bytes, is_byte_table(entry->id) ? "" : "at least ",
				    known,
				    is_byte_table(entry->id) ? " is needed"
							     : " and a multiple of 8 are needed");
	if (entry->count > rows_max(entry->id))
		return snapshot_bad(ret_error, "table %s: count %llu is more than %llu", name,
				    (unsigned long long)entry->count,
				    (unsigned long long)rows_max(entry->id));
	return 0;
}

/* Whether the bytes of an entry whose table is here, known or not, are aligned and inside the file.
 */
static int check_place(const struct ibsm_snapshot_table *entry, uint64_t directory_end, size_t size,
		       struct snapshot_error *ret_error)
{
	const char *name = snapshot_table_name(entry->id);
	uint64_t bytes;

	if (entry->offset % IBSM_SNAPSHOT_ALIGN != 0)
		return snapshot_bad(ret_error, "table %s (%u): offset %llu is no multiple of %d",
				    name, entry->id, (unsigned long long)entry->offset,
				    IBSM_SNAPSHOT_ALIGN);
	if (entry->offset < directory_end)
		return snapshot_bad(ret_error,
				    "table %s (%u): offset %llu lies inside the header, which ends "
				    "at %llu",
				    name, entry->id, (unsigned long long)entry->offset,
				    (unsigned long long)directory_end);
	if (__builtin_mul_overflow(entry->count, (uint64_t)entry->row_bytes, &bytes) ||
	    entry->offset > size || bytes > size - entry->offset)
		return snapshot_bad(ret_error,
				    "table %s (%u): %llu rows of %u bytes at offset %llu go past "
				    "the end of the file (%zu)",
				    name, entry->id, (unsigned long long)entry->count,
				    entry->row_bytes, (unsigned long long)entry->offset, size);
	return 0;
}

static int check_overlaps(const struct ibsm_snapshot_table *directory, uint32_t tables,
			  struct snapshot_error *ret_error)
{
	for (uint32_t i = 0; i < tables; i++) {
		const struct ibsm_snapshot_table *a = &directory[i];

		for (uint32_t j = 0; j < i; j++) {
			const struct ibsm_snapshot_table *b = &directory[j];

			if (a->id == b->id)
				return snapshot_bad(ret_error,
						    "table %s (%u) is twice in the directory",
						    snapshot_table_name(a->id), a->id);
			/* check_place() saw to it that none of this overflows. */
			if (a->offset && b->offset && a->count && b->count &&
			    a->offset < b->offset + b->count * b->row_bytes &&
			    b->offset < a->offset + a->count * a->row_bytes)
				return snapshot_bad(ret_error, "tables %s (%u) and %s (%u) overlap",
						    snapshot_table_name(b->id), b->id,
						    snapshot_table_name(a->id), a->id);
		}
	}
	return 0;
}

static int take_previous(struct snapshot *snapshot, const struct ibsm_snapshot_table *entry,
			 const struct snapshot *previous, struct snapshot_error *ret_error)
{
	const char *name = snapshot_table_name(entry->id);
	const struct snapshot_rows *rows;
	uint64_t count;

	if (!previous) {
		snapshot_bad(ret_error,
			     "table %s is not here, and no snapshot came before to take it from",
			     name);
		return -ESTALE;
	}
	if (previous->header.instance != snapshot->header.instance) {
		snapshot_bad(ret_error,
			     "table %s is not here, and the snapshot before is another plugin's",
			     name);
		return -ESTALE;
	}
	rows = &previous->tables[entry->id];
	count = entry->id == IBSM_TABLE_LFT ? previous->lft_bytes : rows->count;
	if (rows->row_bytes != entry->row_bytes || count != entry->count ||
	    previous->generations[entry->id] != entry->generation) {
		snapshot_bad(ret_error,
			     "table %s is not here, and the snapshot before has another one: "
			     "generation %llu with %llu rows of %u bytes, not %llu with %llu of %u",
			     name, (unsigned long long)previous->generations[entry->id],
			     (unsigned long long)count, rows->row_bytes,
			     (unsigned long long)entry->generation,
			     (unsigned long long)entry->count, entry->row_bytes);
		return -ESTALE;
	}
	snapshot->tables[entry->id] = *rows;
	snapshot->mappings[entry->id] = mapping_ref(previous->mappings[entry->id]);
	if (entry->id == IBSM_TABLE_LFT)
		snapshot->lft_bytes = count;
	snapshot->tables_taken++;
	return 0;
}

static int find_tables(struct snapshot *snapshot, struct snapshot_mapping *mapping,
		       const struct snapshot *previous, struct snapshot_error *ret_error)
{
	const unsigned char *bytes = mapping->bytes;
	const struct ibsm_snapshot_header *header = &snapshot->header;
	struct ibsm_snapshot_table directory[IBSM_SNAPSHOT_TABLES_MAX];
	uint64_t directory_end =
		header->header_bytes + (uint64_t)header->tables * sizeof(directory[0]);
	int r;

	memcpy(directory, bytes + header->header_bytes, header->tables * sizeof(directory[0]));
	for (uint32_t i = 0; i < header->tables; i++) {
		const struct ibsm_snapshot_table *entry = &directory[i];
		bool known = ibsm_snapshot_row_bytes(entry->id) != 0;

		r = known ? check_entry(entry, ret_error) : 0;
		if (r == 0 && entry->offset)
			r = check_place(entry, directory_end, mapping->size, ret_error);
		if (r < 0)
			return r;
	}
	r = check_overlaps(directory, header->tables, ret_error);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < header->tables; i++) {
		const struct ibsm_snapshot_table *entry = &directory[i];

		if (ibsm_snapshot_row_bytes(entry->id) == 0) {
			snapshot->tables_unknown++;
			continue;
		}
		snapshot->generations[entry->id] = entry->generation;
		if (entry->offset == 0) {
			r = take_previous(snapshot, entry, previous, ret_error);
			if (r < 0)
				return r;
			continue;
		}
		snapshot->tables[entry->id] = (struct snapshot_rows){
			.rows = bytes + entry->offset,
			.row_bytes = entry->row_bytes,
			.count = entry->id == IBSM_TABLE_LFT ? 0 : (uint32_t)entry->count,
		};
		if (entry->id == IBSM_TABLE_LFT)
			snapshot->lft_bytes = entry->count;
		snapshot->mappings[entry->id] = mapping_ref(mapping);
	}
	for (uint32_t id = 1; id < IBSM_TABLE_MAX; id++)
		if (!snapshot->mappings[id])
			return snapshot_bad(ret_error, "table %s is missing in the directory",
					    snapshot_table_name(id));
	return 0;
}

static int read_mapping(struct snapshot_mapping *mapping, const struct snapshot *previous,
			struct snapshot **ret, struct snapshot_error *ret_error)
{
	_cleanup_(snapshot_unrefp) struct snapshot *snapshot = NULL;
	int r;

	snapshot = calloc(1, sizeof(*snapshot));
	if (!snapshot)
		return -ENOMEM;
	atomic_init(&snapshot->refs, 1);
	memcpy(&snapshot->header, mapping->bytes, sizeof(snapshot->header));
	r = check_header(&snapshot->header, mapping->size, ret_error);
	if (r == 0)
		r = find_tables(snapshot, mapping, previous, ret_error);
	if (r == 0)
		r = snapshot_check_rows(snapshot, ret_error);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(snapshot);
	return 0;
}

static int check_size(uint64_t size, struct snapshot_error *ret_error)
{
	if (size < sizeof(struct ibsm_snapshot_header))
		return snapshot_bad(ret_error, "file of %llu bytes is shorter than a header (%zu)",
				    (unsigned long long)size, sizeof(struct ibsm_snapshot_header));
	if (size > IBSM_SNAPSHOT_BYTES_MAX) {
		snapshot_bad(ret_error, "file of %llu bytes is longer than %llu",
			     (unsigned long long)size, (unsigned long long)IBSM_SNAPSHOT_BYTES_MAX);
		return -EFBIG;
	}
	return 0;
}

static struct snapshot_mapping *mapping_new(void)
{
	struct snapshot_mapping *mapping = calloc(1, sizeof(*mapping));

	if (mapping)
		atomic_init(&mapping->refs, 1);
	return mapping;
}

int snapshot_read(int fd, const struct snapshot *previous, struct snapshot **ret,
		  struct snapshot_error *ret_error)
{
	static const struct {
		int seal;
		const char *name;
	} needed[] = {{F_SEAL_SEAL, "F_SEAL_SEAL"},
		      {F_SEAL_SHRINK, "F_SEAL_SHRINK"},
		      {F_SEAL_GROW, "F_SEAL_GROW"},
		      {F_SEAL_WRITE, "F_SEAL_WRITE"}};
	_cleanup_(mapping_unrefp) struct snapshot_mapping *mapping = NULL;
	struct stat st;
	void *bytes;
	int seals;
	int r;

	if (fstat(fd, &st) < 0) {
		r = -errno;
		snapshot_bad(ret_error, "fstat: %s", strerrordesc_np(-r));
		return r;
	}
	if (!S_ISREG(st.st_mode)) {
		snapshot_bad(ret_error, "not a regular file");
		return -EPERM;
	}
	seals = fcntl(fd, F_GET_SEALS);
	if (seals < 0) {
		snapshot_bad(ret_error, "not a memfd: it has no seals");
		return -EPERM;
	}
	for (size_t i = 0; i < ELEMENTSOF(needed); i++)
		if (!(seals & needed[i].seal)) {
			snapshot_bad(ret_error, "seal %s is missing", needed[i].name);
			return -EPERM;
		}
	r = check_size((uint64_t)st.st_size, ret_error);
	if (r < 0)
		return r;
	mapping = mapping_new();
	if (!mapping)
		return -ENOMEM;
	bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED) {
		r = -errno;
		snapshot_bad(ret_error, "mmap: %s", strerrordesc_np(-r));
		return r;
	}
	mapping->bytes = bytes;
	mapping->size = (size_t)st.st_size;
	mapping->mapped = true;
	return read_mapping(mapping, previous, ret, ret_error);
}

int snapshot_read_memory(const void *bytes, size_t size, const struct snapshot *previous,
			 struct snapshot **ret, struct snapshot_error *ret_error)
{
	_cleanup_(mapping_unrefp) struct snapshot_mapping *mapping = NULL;
	int r;

	r = check_size(size, ret_error);
	if (r < 0)
		return r;
	mapping = mapping_new();
	if (!mapping)
		return -ENOMEM;
	if (posix_memalign(&mapping->bytes, IBSM_SNAPSHOT_ALIGN, size) != 0) {
		mapping->bytes = NULL;
		return -ENOMEM;
	}
	memcpy(mapping->bytes, bytes, size);
	mapping->size = size;
	return read_mapping(mapping, previous, ret, ret_error);
}
