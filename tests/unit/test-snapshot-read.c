// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The snapshot reader: what it takes, what it refuses and in which words, and every byte corrupted.
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "fabric/snapshot-read.h"
#include "tests/lib/fabric-walk.h"
#include "tests/lib/snapshot-build.h"

static struct ibsm_snapshot_header *header(struct build_bytes b)
{
	return (void *)b.bytes;
}

static struct ibsm_snapshot_table *entry(struct build_bytes b, enum ibsm_table id)
{
	return (struct ibsm_snapshot_table *)(void *)(b.bytes + header(b)->header_bytes) + (id - 1);
}

static void *row(struct build_bytes b, enum ibsm_table id, size_t index)
{
	return b.bytes + entry(b, id)->offset + index * entry(b, id)->row_bytes;
}

static void expect(struct build_bytes b, int error, const char *text)
{
	struct snapshot_error why = {"none"};
	struct snapshot *s = NULL;
	int r = snapshot_read_memory(b.bytes, b.size, NULL, &s, &why);

	if (r == 0)
		snapshot_unref(s);
	if (r != error || !strstr(why.text, text))
		fail_msg("%d and \"%s\", not %d and \"%s\"", r, why.text, error, text);
}

static void takes_memfd(void **state)
{
	_cleanup_(build_freep) struct builder *b = build_tree2(2, 2, 3, 1);
	_cleanup_bytes_ struct build_bytes bytes = build_write(b, 0);
	_cleanup_close_ int fd = build_memfd(bytes, BUILD_SEALS);
	_cleanup_(snapshot_unrefp) struct snapshot *s = NULL;

	(void)state;
	assert_int_equal(snapshot_read(fd, NULL, &s, NULL), 0);
	assert_int_equal(snapshot_nodes(s), 10);
	assert_int_equal(snapshot_switches(s), 4);
	assert_int_equal(snapshot_ports(s), 2 * 6 + 2 * 3 + 6);
	assert_int_equal(s->warnings.asymmetric_remotes, 0);
	assert_int_equal(s->warnings.odd_values, 0);
	assert_string_equal(s->warnings.first, "");
	assert_int_equal(s->header.generation, 1);
}

static void wants_each_seal(void **state)
{
	static const struct {
		int seal;
		const char *name;
	} seals[] = {{F_SEAL_SEAL, "F_SEAL_SEAL"},
		     {F_SEAL_SHRINK, "F_SEAL_SHRINK"},
		     {F_SEAL_GROW, "F_SEAL_GROW"},
		     {F_SEAL_WRITE, "F_SEAL_WRITE"}};
	_cleanup_(build_freep) struct builder *b = build_tree2(1, 1, 1, 1);
	_cleanup_bytes_ struct build_bytes bytes = build_write(b, 0);

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(seals); i++) {
		_cleanup_close_ int fd =
			build_memfd(bytes, (BUILD_SEALS & ~seals[i].seal) | F_SEAL_FUTURE_WRITE);
		struct snapshot_error why = {""};
		struct snapshot *s = NULL;

		assert_int_equal(snapshot_read(fd, NULL, &s, &why), -EPERM);
		assert_non_null(strstr(why.text, seals[i].name));
	}
}

static void refuses_other_files(void **state)
{
	struct snapshot_error why = {""};
	struct snapshot *s = NULL;
	int fds[2];
	FILE *file = tmpfile();

	(void)state;
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(snapshot_read(fds[0], NULL, &s, &why), -EPERM);
	assert_non_null(strstr(why.text, "regular"));
	assert_int_equal(snapshot_read(fileno(file), NULL, &s, &why), -EPERM);
	assert_int_equal(snapshot_read(-1, NULL, &s, &why), -EBADF);
	close(fds[0]);
	close(fds[1]);
	fclose(file);
}

static void refuses_sizes(void **state)
{
	_cleanup_(build_freep) struct builder *b = build_tree2(1, 1, 1, 1);
	_cleanup_bytes_ struct build_bytes bytes = build_write(b, 0);
	_cleanup_close_ int tiny = build_memfd((struct build_bytes){bytes.bytes, 63}, BUILD_SEALS);
	_cleanup_close_ int huge = memfd_create("huge", MFD_ALLOW_SEALING);
	struct snapshot *s = NULL;

	(void)state;
	assert_int_equal(snapshot_read(tiny, NULL, &s, NULL), -EBADMSG);
	/* Sparse: costs nothing. */
	assert_int_equal(ftruncate(huge, (off_t)IBSM_SNAPSHOT_BYTES_MAX + 1), 0);
	assert_int_equal(fcntl(huge, F_ADD_SEALS, BUILD_SEALS), 0);
	assert_int_equal(snapshot_read(huge, NULL, &s, NULL), -EFBIG);
	/* Cut anywhere, it is refused: the header says how long it is. */
	for (size_t size = 0; size < bytes.size; size++)
		assert_int_equal(snapshot_read_memory(bytes.bytes, size, NULL, &s, NULL), -EBADMSG);
}

/* Each case spoils one thing of a good snapshot. */
struct spoil {
	void (*spoil)(struct build_bytes b);
	int error;
	const char *text;
};

#define SPOIL(name, ...)                                                                           \
	static void name(struct build_bytes b)                                                     \
	{                                                                                          \
		__VA_ARGS__;                                                                       \
	}
#define NODE(i) ((struct ibsm_snap_node *)row(b, IBSM_TABLE_NODES, i))
#define PORT(i) ((struct ibsm_snap_port *)row(b, IBSM_TABLE_PORTS, i))
#define SWITCH(i) ((struct ibsm_snap_switch *)row(b, IBSM_TABLE_SWITCHES, i))
#define SM(i) ((struct ibsm_snap_sm *)row(b, IBSM_TABLE_SMS, i))
#define GROUP(i) ((struct ibsm_snap_group *)row(b, IBSM_TABLE_GROUPS, i))
#define PARTITION(i) ((struct ibsm_snap_partition *)row(b, IBSM_TABLE_PARTITIONS, i))
#define OPTION(i) ((struct ibsm_snap_option *)row(b, IBSM_TABLE_OPTIONS, i))
#define ENGINE(i) ((struct ibsm_snap_engine *)row(b, IBSM_TABLE_ENGINES, i))

SPOIL(magic, header(b)->magic++)
SPOIL(version, header(b)->version = 2)
SPOIL(header_small, header(b)->header_bytes = 56)
SPOIL(header_odd, header(b)->header_bytes = 68)
SPOIL(header_huge, header(b)->header_bytes = 0xfffffff8)
SPOIL(size_field, header(b)->size_bytes++)
SPOIL(many_tables, header(b)->tables = 65)
SPOIL(few_tables, header(b)->tables = 13)
SPOIL(no_generation, header(b)->generation = 0)
SPOIL(twice, entry(b, IBSM_TABLE_SMS)->id = IBSM_TABLE_NODES;
      entry(b, IBSM_TABLE_SMS)->row_bytes = 120)
SPOIL(row_short, entry(b, IBSM_TABLE_PORTS)->row_bytes = 56)
SPOIL(row_odd, entry(b, IBSM_TABLE_PORTS)->row_bytes = 68)
SPOIL(row_huge, entry(b, IBSM_TABLE_PORTS)->row_bytes = 1u << 30)
SPOIL(row_zero, entry(b, IBSM_TABLE_PORTS)->row_bytes = 0)
SPOIL(row_bytes_table, entry(b, IBSM_TABLE_LFT)->row_bytes = 8)
SPOIL(offset_odd, entry(b, IBSM_TABLE_PORTS)->offset += 8)
SPOIL(offset_in_header, entry(b, IBSM_TABLE_PORTS)->offset = 64)
SPOIL(offset_past, entry(b, IBSM_TABLE_PORTS)->offset = (b.size + 64) & ~63ul)
SPOIL(offset_huge, entry(b, IBSM_TABLE_PORTS)->offset = UINT64_MAX - 63)
SPOIL(count_past, entry(b, IBSM_TABLE_ENGINES)->count += 100)
SPOIL(count_wraps, entry(b, IBSM_TABLE_LFT)->count = UINT64_MAX - 4)
SPOIL(count_limit, entry(b, IBSM_TABLE_NODES)->count = IBSM_SNAPSHOT_NODES_MAX + 1)
SPOIL(overlap, entry(b, IBSM_TABLE_PORTS)->offset = entry(b, IBSM_TABLE_NODES)->offset)
SPOIL(absent, entry(b, IBSM_TABLE_PORTS)->offset = 0)
SPOIL(two_subnets, entry(b, IBSM_TABLE_SUBNET)->count = 2;
      entry(b, IBSM_TABLE_SUBNET)->offset = entry(b, IBSM_TABLE_PORTS)->offset;
      entry(b, IBSM_TABLE_PORTS)->count = 0)
SPOIL(no_strings, entry(b, IBSM_TABLE_STRINGS)->count = 0)
SPOIL(strings_end,
      b.bytes[entry(b, IBSM_TABLE_STRINGS)->offset + entry(b, IBSM_TABLE_STRINGS)->count - 1] = 'x')
SPOIL(strings_begin, b.bytes[entry(b, IBSM_TABLE_STRINGS)->offset] = 'x')
SPOIL(own_state, ((struct ibsm_snap_subnet *)row(b, IBSM_TABLE_SUBNET, 0))->sm_state = 4)
SPOIL(guid_order, NODE(2)->node_guid = NODE(1)->node_guid)
SPOIL(first_port, NODE(2)->first_port++)
SPOIL(ports_past, NODE(9)->ports = 255)
SPOIL(ports_many, NODE(1)->ports = 256)
SPOIL(ports_fewer, NODE(9)->ports = 0)
SPOIL(switch_index, NODE(0)->switch_index = 4)
SPOIL(switch_other, NODE(0)->switch_index = 1)
SPOIL(switch_ca, NODE(0)->type = IBSM_NODE_CA)
SPOIL(port_node, PORT(3)->node = 1)
SPOIL(port_order, PORT(3)->port = PORT(2)->port)
SPOIL(port_255, PORT(5)->port = 255)
SPOIL(port_lmc, PORT(3)->lmc = 8)
SPOIL(port_remote, PORT(12)->remote = 99999)
SPOIL(switch_node, SWITCH(1)->node = 10)
SPOIL(switch_order, SWITCH(1)->node = 0)
SPOIL(lft_past, SWITCH(3)->lft = entry(b, IBSM_TABLE_LFT)->count)
SPOIL(lft_lids, SWITCH(3)->lft_lids = 0xc001)
SPOIL(lft_long, SWITCH(3)->lft_lids = 0xc000)
SPOIL(new_lft, SWITCH(0)->new_lft = UINT64_MAX - 1; SWITCH(0)->flags |= IBSM_SWITCH_LFT_DIFFERS)
SPOIL(new_lft_flag, SWITCH(0)->flags |= IBSM_SWITCH_LFT_DIFFERS)
SPOIL(sm_self, SM(1)->self = 1)
SPOIL(sm_port, SM(1)->port = 30)
SPOIL(group_first, GROUP(0)->first_member = 1)
SPOIL(group_members, GROUP(0)->members--)
SPOIL(group_port, ((struct ibsm_snap_group_member *)row(b, IBSM_TABLE_GROUP_MEMBERS, 2))->port = 30)
SPOIL(pkey, PARTITION(0)->pkey = 0xffff)
SPOIL(partition_name, PARTITION(0)->name = (uint32_t)entry(b, IBSM_TABLE_STRINGS)->count)
SPOIL(partition_port,
      ((struct ibsm_snap_partition_member *)row(b, IBSM_TABLE_PARTITION_MEMBERS, 1))->port = 30)
SPOIL(option_name, OPTION(1)->name = UINT32_MAX)
SPOIL(option_text, OPTION(1)->text = UINT32_MAX)
SPOIL(option_kind, OPTION(1)->kind = 6)
SPOIL(option_order, OPTION(1)->name = OPTION(0)->name)
SPOIL(option_secret, OPTION(2)->value = 0xdeadbeef)
SPOIL(engine_name, ENGINE(1)->name = UINT32_MAX)
SPOIL(engine_used, ENGINE(1)->flags |= IBSM_ENGINE_USED)

static const struct spoil spoils[] = {
	{magic, -EBADMSG, "magic is 0x50414e534d53424a"},
	{version, -EPROTONOSUPPORT, "version 2; this reads version 1"},
	{header_small, -EBADMSG, "header_bytes is 56"},
	{header_odd, -EBADMSG, "header_bytes is 68"},
	{header_huge, -EBADMSG, "header_bytes is 4294967288"},
	{size_field, -EBADMSG, "size_bytes"},
	{many_tables, -EBADMSG, "65 tables"},
	{few_tables, -EBADMSG, "ENGINES is missing"},
	{no_generation, -EBADMSG, "generation is 0"},
	{twice, -EBADMSG, "NODES (3) is twice"},
	{row_short, -EBADMSG, "table PORTS: row_bytes is 56; at least 64"},
	{row_odd, -EBADMSG, "multiple of 8"},
	{row_huge, -EBADMSG, "row_bytes is 1073741824"},
	{row_zero, -EBADMSG, "row_bytes is 0"},
	{row_bytes_table, -EBADMSG, "table LFT: row_bytes is 8"},
	{offset_odd, -EBADMSG, "no multiple of 64"},
	{offset_in_header, -EBADMSG, "inside the header"},
	{offset_past, -EBADMSG, "past the end of the file"},
	{offset_huge, -EBADMSG, "past the end of the file"},
	{count_past, -EBADMSG, "table ENGINES (14): 102 rows"},
	{count_wraps, -EBADMSG, "table LFT: count"},
	{count_limit, -EBADMSG, "table NODES: count 1048577"},
	{overlap, -EBADMSG, "tables NODES (3) and PORTS (4) overlap"},
	{absent, -ESTALE, "table PORTS is not here"},
	{two_subnets, -EBADMSG, "table SUBNET has 2 rows"},
	{no_strings, -EBADMSG, "STRINGS does not begin"},
	{strings_end, -EBADMSG, "STRINGS does not end"},
	{strings_begin, -EBADMSG, "STRINGS does not begin"},
	{own_state, -EBADMSG, "table SUBNET row 0: sm_state 4"},
	{guid_order, -EBADMSG, "table NODES row 2: node_guid"},
	{first_port, -EBADMSG, "table NODES row 2: first_port is 13"},
	{ports_past, -EBADMSG, "table NODES row 9: 255 rows"},
	{ports_many, -EBADMSG, "table NODES row 1: 256 ports"},
	{ports_fewer, -EBADMSG, "table PORTS row 23: belongs to no row of NODES"},
	{switch_index, -EBADMSG, "table NODES row 0: switch_index 4 is past the last row 3"},
	{switch_other, -EBADMSG, "table NODES row 0: switch_index 1 is a row of node 1"},
	{switch_ca, -EBADMSG, "but the node's type is 1"},
	{port_node, -EBADMSG, "table PORTS row 3: node is 1"},
	{port_order, -EBADMSG, "table PORTS row 3: port number"},
	{port_255, -EBADMSG, "port number 255"},
	{port_lmc, -EBADMSG, "table PORTS row 3: lmc 8"},
	{port_remote, -EBADMSG,
	 "table PORTS row 12: remote 99999 is past the last row 23 of PORTS"},
	{switch_node, -EBADMSG, "table NODES row 1: switch_index 1 is a row of node 10"},
	{switch_order, -EBADMSG, "switch_index 1 is a row of node 0"},
	{lft_past, -EBADMSG, "table SWITCHES row 3: lft: "},
	{lft_lids, -EBADMSG, "lft_lids 49153 is more than 49152"},
	{lft_long, -EBADMSG, "past the end of LFT"},
	{new_lft, -EBADMSG, "table SWITCHES row 0: new_lft: "},
	{new_lft_flag, -EBADMSG, "does not go with new_lft"},
	{sm_self, -EBADMSG, "table SMS row 1: self"},
	{sm_port, -EBADMSG, "table SMS row 1: port 30"},
	{group_first, -EBADMSG, "table GROUPS row 0: first_member is 1"},
	{group_members, -EBADMSG, "table GROUP_MEMBERS row 3: belongs to no row"},
	{group_port, -EBADMSG, "table GROUP_MEMBERS row 2: port 30"},
	{pkey, -EBADMSG, "P_Key 0xffff"},
	{partition_name, -EBADMSG, "table PARTITIONS row 0: name: string offset"},
	{partition_port, -EBADMSG, "table PARTITION_MEMBERS row 1: port 30"},
	{option_name, -EBADMSG, "table OPTIONS row 1: name"},
	{option_text, -EBADMSG, "table OPTIONS row 1: text"},
	{option_kind, -EBADMSG, "table OPTIONS row 1: kind 6"},
	{option_order, -EBADMSG, "table OPTIONS row 1: its name does not follow"},
	{option_secret, -EBADMSG, "value of a secret"},
	{engine_name, -EBADMSG, "table ENGINES row 1: name"},
	{engine_used, -EBADMSG, "a second engine"},
};

static void names_what_is_wrong(void **state)
{
	_cleanup_(build_freep) struct builder *b = build_tree2(2, 2, 3, 1);

	(void)state;
	/* The option that option_secret spoils. */
	build_option(b, "m_key", IBSM_OPTION_SECRET, 0, NULL);
	for (size_t i = 0; i < ELEMENTSOF(spoils); i++) {
		_cleanup_bytes_ struct build_bytes bytes = build_write(b, 0);

		expect(bytes, 0, "none");
		spoils[i].spoil(bytes);
		expect(bytes, spoils[i].error, spoils[i].text);
	}
}

static void order_of_sms_groups_partitions(void **state)
{
	_cleanup_(build_freep) struct builder *builder = build_tree2(2, 2, 3, 1);
	_cleanup_bytes_ struct build_bytes b = {0};

	(void)state;
	build_sm(builder, 0xffff, 0, 0, false);
	build_group(builder, 1, 1, 0xc001);
	build_partition(builder, "p", 1);
	b = build_write(builder, 0);
	expect(b, 0, "none");
	SM(2)->port_guid = SM(1)->port_guid;
	expect(b, -EBADMSG, "table SMS row 2: port_guid");
	SM(2)->port_guid++;
	GROUP(1)->mgid_prefix = GROUP(0)->mgid_prefix;
	GROUP(1)->mgid_guid = GROUP(0)->mgid_guid;
	expect(b, -EBADMSG, "table GROUPS row 1: MGID");
	GROUP(1)->mgid_guid++;
	PARTITION(1)->pkey = PARTITION(0)->pkey;
	expect(b, -EBADMSG, "table PARTITIONS row 1: P_Key");
}

static void tolerates_what_is_real(void **state)
{
	_cleanup_(build_freep) struct builder *builder = build_tree2(2, 2, 3, 1);
	_cleanup_bytes_ struct build_bytes b = build_write(builder, 0);
	_cleanup_(snapshot_unrefp) struct snapshot *s = NULL;

	(void)state;
	PORT(1)->remote = PORT(2)->remote; /* what osm_node_link() leaves behind */
	PORT(3)->state = 200;
	NODE(9)->type = 9;
	assert_int_equal(snapshot_read_memory(b.bytes, b.size, NULL, &s, NULL), 0);
	/* The port itself, and the one that it left. */
	assert_int_equal(s->warnings.asymmetric_remotes, 2);
	assert_int_equal(s->warnings.odd_values, 2);
	assert_string_equal(s->warnings.first, "table NODES row 9: type 9 is none of IBTA's");
}

static void takes_longer_rows_and_unknown_tables(void **state)
{
	_cleanup_(build_freep) struct builder *builder = build_tree2(2, 2, 3, 1);
	_cleanup_bytes_ struct build_bytes b = build_write(builder, 0);
	_cleanup_(snapshot_unrefp) struct snapshot *plain = NULL;
	_cleanup_(snapshot_unrefp) struct snapshot *s = NULL;
	size_t ports = entry(b, IBSM_TABLE_PORTS)->count;
	size_t longer = (b.size + 63 + 64 * 64) & ~(size_t)63;
	size_t size = longer + ports * 72 + 64;
	_cleanup_free_ unsigned char *grown = calloc(1, size);
	struct ibsm_snapshot_table *directory;
	struct build_bytes g = {grown, size};

	(void)state;
	assert_int_equal(snapshot_read_memory(b.bytes, b.size, NULL, &plain, NULL), 0);
	/* Tables shift by 64 bytes: the directory grows by two entries, one of them known to nobody
	 * and here, one not here. */
	memcpy(grown, b.bytes, sizeof(struct ibsm_snapshot_header));
	header(g)->tables = IBSM_TABLE_MAX - 1 + 2;
	header(g)->size_bytes = size;
	directory = (void *)(grown + sizeof(struct ibsm_snapshot_header));
	memcpy(directory, b.bytes + sizeof(struct ibsm_snapshot_header),
	       (IBSM_TABLE_MAX - 1) * sizeof(*directory));
	for (size_t i = 0; i < IBSM_TABLE_MAX - 1; i++) {
		memcpy(grown + directory[i].offset + 64, b.bytes + directory[i].offset,
		       directory[i].count * directory[i].row_bytes);
		directory[i].offset += 64;
	}
	directory[IBSM_TABLE_MAX - 1] = (struct ibsm_snapshot_table){
		.id = 77, .row_bytes = 3, .offset = longer - 64, .count = 20};
	directory[IBSM_TABLE_MAX] = (struct ibsm_snapshot_table){.id = 78, .row_bytes = 9};
	for (size_t i = 0; i < ports; i++) {
		memcpy(grown + longer + i * 72, row(g, IBSM_TABLE_PORTS, i), 64);
		memset(grown + longer + i * 72 + 64, 0xee, 8);
	}
	entry(g, IBSM_TABLE_PORTS)->offset = longer;
	entry(g, IBSM_TABLE_PORTS)->row_bytes = 72;
	assert_int_equal(snapshot_read_memory(grown, size, NULL, &s, NULL), 0);
	assert_int_equal(s->tables_unknown, 2);
	assert_int_equal(snapshot_ports(s), ports);
	for (uint32_t i = 0; i < ports; i++)
		assert_memory_equal(snapshot_port(s, i), snapshot_port(plain, i), 64);
	/* An unknown table must lie inside the file, too. */
	directory[IBSM_TABLE_MAX - 1].count = UINT64_MAX / 2;
	expect(g, -EBADMSG, "(77)");
}

#define BIT(id) (1u << (id))

static void takes_tables_from_previous(void **state)
{
	_cleanup_(build_freep) struct builder *b = build_tree2(2, 2, 3, 1);
	_cleanup_(snapshot_unrefp) struct snapshot *first = build_snapshot(b, NULL, 0);
	_cleanup_(snapshot_unrefp) struct snapshot *second = NULL;
	_cleanup_(snapshot_unrefp) struct snapshot *third = NULL;

	(void)state;
	build_option(b, "sweep_interval", IBSM_OPTION_INTEGER, 20, NULL);
	second = build_snapshot(b, first, BIT(IBSM_TABLE_NODES) | BIT(IBSM_TABLE_LFT));
	assert_int_equal(second->tables_taken, 2);
	assert_true(snapshot_same_table(first, second, IBSM_TABLE_NODES));
	assert_true(snapshot_same_table(first, second, IBSM_TABLE_LFT));
	assert_false(snapshot_same_table(first, second, IBSM_TABLE_PORTS));
	/* What was taken outlives where it was taken from. */
	first = snapshot_unref(first);
	assert_int_equal(snapshot_nodes(second), 10);
	assert_int_equal(snapshot_node(second, 9)->type, IBSM_NODE_CA);
	third = build_snapshot(b, second,
			       BIT(IBSM_TABLE_NODES) | BIT(IBSM_TABLE_LFT) | BIT(IBSM_TABLE_PORTS));
	second = snapshot_unref(second);
	assert_int_equal(snapshot_node(third, 9)->type, IBSM_NODE_CA);
	assert_int_equal(snapshot_port(third, 0)->port, 0);
}

static void refuses_a_wrong_previous(void **state)
{
	_cleanup_(build_freep) struct builder *b = build_tree2(2, 2, 3, 1);
	_cleanup_(snapshot_unrefp) struct snapshot *first = build_snapshot(b, NULL, 0);
	_cleanup_(snapshot_unrefp) struct snapshot *second = NULL;
	_cleanup_bytes_ struct build_bytes bytes = {0};
	struct snapshot_error why = {""};
	struct snapshot *s = NULL;

	(void)state;
	second = build_snapshot(b, NULL, 0);
	bytes = build_write(b, BIT(IBSM_TABLE_NODES));
	/* Leans on the second: the first has another generation of NODES. */
	assert_int_equal(snapshot_read_memory(bytes.bytes, bytes.size, first, &s, &why), -ESTALE);
	assert_non_null(strstr(why.text, "table NODES"));
	entry(bytes, IBSM_TABLE_NODES)->count--;
	assert_int_equal(snapshot_read_memory(bytes.bytes, bytes.size, second, &s, &why), -ESTALE);
	entry(bytes, IBSM_TABLE_NODES)->count++;
	header(bytes)->instance++;
	assert_int_equal(snapshot_read_memory(bytes.bytes, bytes.size, second, &s, &why), -ESTALE);
	assert_non_null(strstr(why.text, "another plugin"));
	header(bytes)->instance--;
	assert_int_equal(snapshot_read_memory(bytes.bytes, bytes.size, second, &s, &why), 0);
	snapshot_unref(s);
}

/* A taken table is checked against what is new: fewer ports, and the old indexes lead nowhere. */
static void checks_taken_tables_again(void **state)
{
	_cleanup_(build_freep) struct builder *b = build_tree2(2, 2, 3, 1);
	_cleanup_(snapshot_unrefp) struct snapshot *first = build_snapshot(b, NULL, 0);
	_cleanup_bytes_ struct build_bytes bytes = {0};
	struct snapshot_error why = {""};
	struct snapshot *s = NULL;

	(void)state;
	bytes = build_write(b, BIT(IBSM_TABLE_NODES));
	entry(bytes, IBSM_TABLE_PORTS)->count -= 2;
	assert_int_equal(snapshot_read_memory(bytes.bytes, bytes.size, first, &s, &why), -EBADMSG);
	assert_non_null(strstr(why.text, "table NODES row 8"));
}

static void try_bytes(struct build_bytes bytes)
{
	_cleanup_(snapshot_unrefp) struct snapshot *s = NULL;
	_cleanup_(fabric_unrefp) struct fabric *f = NULL;
	struct snapshot_error why = {""};

	if (snapshot_read_memory(bytes.bytes, bytes.size, NULL, &s, &why) < 0) {
		assert_string_not_equal(why.text, "");
		return;
	}
	assert_int_equal(fabric_new(s, NULL, &f), 0);
	fabric_walk(f);
}

/* Whatever one byte becomes, the snapshot is refused, or all of it may be walked. */
static void every_byte(void **state)
{
	static const unsigned char values[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
	_cleanup_(build_freep) struct builder *b = build_tree2(1, 1, 2, 1);
	_cleanup_bytes_ struct build_bytes bytes = {0};

	(void)state;
	build_new_lft(b, 0)[1] = 7;
	bytes = build_write(b, 0);
	for (size_t i = 0; i < bytes.size; i++) {
		unsigned char was = bytes.bytes[i];

		for (size_t v = 0; v < ELEMENTSOF(values); v++) {
			bytes.bytes[i] = values[v];
			if (values[v] != was)
				try_bytes(bytes);
		}
		bytes.bytes[i] = (unsigned char)(was + 1);
		try_bytes(bytes);
		bytes.bytes[i] = was;
	}
}

/* The same on random fabrics, several bytes at once. */
static void random_bytes(void **state)
{
	uint64_t seed = 4711;

	(void)state;
	for (uint64_t n = 1; n <= 60; n++) {
		_cleanup_(build_freep) struct builder *b = build_random(n, n % 2);
		_cleanup_bytes_ struct build_bytes bytes = build_write(b, 0);
		_cleanup_free_ unsigned char *good = malloc(bytes.size);

		assert_non_null(good);
		memcpy(good, bytes.bytes, bytes.size);
		try_bytes(bytes);
		for (int i = 0; i < 100; i++) {
			for (uint32_t j = build_random_below(&seed, 4) + 1; j; j--)
				bytes.bytes[build_random_below(&seed, (uint32_t)bytes.size)] =
					(unsigned char)build_random_next(&seed);
			try_bytes(bytes);
			memcpy(bytes.bytes, good, bytes.size);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_memfd),
		cmocka_unit_test(wants_each_seal),
		cmocka_unit_test(refuses_other_files),
		cmocka_unit_test(refuses_sizes),
		cmocka_unit_test(names_what_is_wrong),
		cmocka_unit_test(order_of_sms_groups_partitions),
		cmocka_unit_test(tolerates_what_is_real),
		cmocka_unit_test(takes_longer_rows_and_unknown_tables),
		cmocka_unit_test(takes_tables_from_previous),
		cmocka_unit_test(refuses_a_wrong_previous),
		cmocka_unit_test(checks_taken_tables_again),
		cmocka_unit_test(every_byte),
		cmocka_unit_test(random_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
