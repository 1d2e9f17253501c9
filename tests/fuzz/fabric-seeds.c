// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Writes the seeds of the fabric part's corpora: fabric-seeds tests/data/fuzz
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ibsm/wire.h"
#include "tests/lib/snapshot-build.h"

static void save(const char *directory, const char *name, const void *bytes, size_t size)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	f = fopen(path, "we");
	if (!f || fwrite(bytes, 1, size, f) != size || fclose(f) != 0) {
		perror(path);
		exit(1);
	}
}

static void save_snapshot(const char *directory, const char *name, struct builder *b, uint32_t omit)
{
	_cleanup_bytes_ struct build_bytes bytes = build_write(b, omit);
	char path[64];

	snprintf(path, sizeof(path), "snapshot/%s", name);
	save(directory, path, bytes.bytes, bytes.size);
}

static void snapshots(const char *directory)
{
	struct builder *b = build_new();

	save_snapshot(directory, "empty", b, 0);
	build_free(b);
	b = build_tree2(1, 1, 2, 1);
	build_new_lft(b, 0)[1] = 7;
	save_snapshot(directory, "tree", b, 0);
	build_free(b);
	b = build_tree2(1, 1, 2, 1);
	build_option(b, "daemon", IBSM_OPTION_BOOLEAN, 1, NULL);
	/* Leans on what fuzz-snapshot.c has as its base. */
	b->header.generation = 2;
	for (size_t id = 0; id < ELEMENTSOF(b->generations); id++)
		b->generations[id] = 1;
	save_snapshot(directory, "delta", b,
		      ~(1u << IBSM_TABLE_OPTIONS | 1u << IBSM_TABLE_STRINGS));
	build_free(b);
	for (uint64_t seed = 3; seed < 6; seed++) {
		char name[32];

		b = build_random(seed, seed % 2);
		snprintf(name, sizeof(name), "random-%d", (int)seed);
		save_snapshot(directory, name, b, 0);
		build_free(b);
	}
}

struct stream {
	unsigned char bytes[16384];
	size_t used;
};

static void put(struct stream *s, union ibsm_wire_record *r, uint16_t type, uint64_t usec)
{
	uint32_t length = ibsm_wire_length(type);

	r->header = (struct ibsm_wire_header){.magic = IBSM_WIRE_MAGIC,
					      .version = IBSM_WIRE_VERSION,
					      .type = type,
					      .length = length,
					      .monotonic_nsec = usec * 1000,
					      .realtime_nsec = usec * 1000};
	s->bytes[s->used++] = (unsigned char)length;
	s->bytes[s->used++] = (unsigned char)(length >> 8);
	memcpy(s->bytes + s->used, r, length);
	s->used += length;
	memset(r, 0, sizeof(*r));
}

static void records(const char *directory)
{
	static struct stream s;
	union ibsm_wire_record r = {0};

	for (uint16_t type = 1; type < 64; type++)
		if (ibsm_wire_length(type)) {
			if (type == IBSM_WIRE_SNAPSHOT)
				r.snapshot.generation = 1;
			put(&s, &r, type, type * 1000u);
		}
	save(directory, "wire/all-types", s.bytes, s.used);
	s.used = 0;
	r.trap.number = 128;
	r.trap.is_generic = 1;
	put(&s, &r, IBSM_WIRE_TRAP, 1000);
	r.sweep.sm_state = 3;
	r.sweep.sweep_flags = IBSM_SWEEP_FORCE_HEAVY;
	put(&s, &r, IBSM_WIRE_HEAVY_SWEEP_START, 1100);
	r.sweep.sm_state = 3;
	put(&s, &r, IBSM_WIRE_HEAVY_SWEEP_DONE, 2000);
	r.lft_change.node_guid = 1;
	r.lft_change.change = IBSM_LFT_CHANGED_BLOCK;
	put(&s, &r, IBSM_WIRE_LFT_CHANGE, 2500);
	r.sweep.routing_kind = 1;
	put(&s, &r, IBSM_WIRE_UCAST_ROUTING_DONE, 3000);
	put(&s, &r, IBSM_WIRE_SUBNET_UP, 4000);
	r.lft_change.node_guid = 2;
	r.lft_change.change = IBSM_LFT_CHANGED_BLOCK;
	put(&s, &r, IBSM_WIRE_LFT_CHANGE, 5000);
	r.sweep.routing_kind = 2;
	put(&s, &r, IBSM_WIRE_UCAST_ROUTING_DONE, 6000);
	save(directory, "wire/sweep-and-reroute", s.bytes, s.used);
}

int main(int argc, char **argv)
{
	static const char map[] = "# comment\n"
				  "0x0000000000000001 \"leaf01\" # behind\n"
				  "0x2 \"spine #2\"\n3\tunquoted name\r\n"
				  "0x4 \"open\n\"no guid\"\n0x1 \"again\"\n";

	if (argc != 2) {
		fprintf(stderr, "usage: fabric-seeds tests/data/fuzz\n");
		return 2;
	}
	snapshots(argv[1]);
	records(argv[1]);
	save(argv[1], "node-name-map/all", map, sizeof(map) - 1);
	return 0;
}
