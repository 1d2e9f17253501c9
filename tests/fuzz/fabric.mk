# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Fuzz targets of the fabric part, and the replay of their corpora.
FUZZ_TARGETS += \
	tests/fuzz/fuzz-node-name-map \
	tests/fuzz/fuzz-snapshot \
	tests/fuzz/fuzz-wire
EXTRA_DIST += \
	tests/data/fuzz/node-name-map \
	tests/data/fuzz/snapshot \
	tests/data/fuzz/wire

tests_fuzz_fuzz_node_name_map_SOURCES = tests/fuzz/fuzz-node-name-map.c $(FUZZ_MAIN)
tests_fuzz_fuzz_node_name_map_LDFLAGS = $(AM_LDFLAGS) $(FUZZER_LDFLAGS)
tests_fuzz_fuzz_node_name_map_LDADD = $(FABRIC_LIBS)

tests_fuzz_fuzz_snapshot_SOURCES = tests/fuzz/fuzz-snapshot.c $(FUZZ_MAIN)
tests_fuzz_fuzz_snapshot_LDFLAGS = $(AM_LDFLAGS) $(FUZZER_LDFLAGS)
tests_fuzz_fuzz_snapshot_LDADD = $(SNAPSHOT_BUILD_LIBS)

tests_fuzz_fuzz_wire_SOURCES = tests/fuzz/fuzz-wire.c $(FUZZ_MAIN)
tests_fuzz_fuzz_wire_LDFLAGS = $(AM_LDFLAGS) $(FUZZER_LDFLAGS)
tests_fuzz_fuzz_wire_LDADD = $(FABRIC_LIBS)

# Makes the seeds anew: tests/fuzz/fabric-seeds tests/data/fuzz
check_PROGRAMS += tests/fuzz/fabric-seeds
tests_fuzz_fabric_seeds_SOURCES = tests/fuzz/fabric-seeds.c
tests_fuzz_fabric_seeds_LDADD = $(SNAPSHOT_BUILD_LIBS)
