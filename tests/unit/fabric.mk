# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Unit tests of the fabric part, and the builder of snapshots that other tests use, too.
check_LIBRARIES += tests/lib/libsnapshot-build.a
tests_lib_libsnapshot_build_a_SOURCES = \
	tests/lib/fabric-walk.c \
	tests/lib/fabric-walk.h \
	tests/lib/snapshot-build-write.c \
	tests/lib/snapshot-build.c \
	tests/lib/snapshot-build.h

# What a test that makes snapshots links with.
SNAPSHOT_BUILD_LIBS = tests/lib/libsnapshot-build.a $(FABRIC_LIBS)

FABRIC_UNIT_TESTS = \
	tests/unit/test-diff \
	tests/unit/test-fabric \
	tests/unit/test-names \
	tests/unit/test-node-name-map \
	tests/unit/test-route \
	tests/unit/test-snapshot-read \
	tests/unit/test-story \
	tests/unit/test-wire-read
check_PROGRAMS += $(FABRIC_UNIT_TESTS)
TESTS += $(FABRIC_UNIT_TESTS)

FABRIC_TEST_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
FABRIC_TEST_LDADD = $(SNAPSHOT_BUILD_LIBS) $(CMOCKA_LIBS)

tests_unit_test_diff_SOURCES = tests/unit/test-diff.c
tests_unit_test_diff_CFLAGS = $(FABRIC_TEST_CFLAGS)
tests_unit_test_diff_LDADD = $(FABRIC_TEST_LDADD)

tests_unit_test_fabric_SOURCES = tests/unit/test-fabric.c
tests_unit_test_fabric_CFLAGS = $(FABRIC_TEST_CFLAGS)
tests_unit_test_fabric_LDADD = $(FABRIC_TEST_LDADD)

tests_unit_test_names_SOURCES = tests/unit/test-names.c
tests_unit_test_names_CFLAGS = $(FABRIC_TEST_CFLAGS)
tests_unit_test_names_LDADD = $(FABRIC_TEST_LDADD)

tests_unit_test_node_name_map_SOURCES = tests/unit/test-node-name-map.c
tests_unit_test_node_name_map_CFLAGS = $(FABRIC_TEST_CFLAGS)
tests_unit_test_node_name_map_LDADD = $(FABRIC_TEST_LDADD)

tests_unit_test_route_SOURCES = tests/unit/test-route.c
tests_unit_test_route_CFLAGS = $(FABRIC_TEST_CFLAGS)
tests_unit_test_route_LDADD = $(FABRIC_TEST_LDADD)

tests_unit_test_snapshot_read_SOURCES = tests/unit/test-snapshot-read.c
tests_unit_test_snapshot_read_CFLAGS = $(FABRIC_TEST_CFLAGS)
tests_unit_test_snapshot_read_LDADD = $(FABRIC_TEST_LDADD)

tests_unit_test_story_SOURCES = tests/unit/test-story.c
tests_unit_test_story_CFLAGS = $(FABRIC_TEST_CFLAGS)
tests_unit_test_story_LDADD = $(FABRIC_TEST_LDADD)

tests_unit_test_wire_read_SOURCES = tests/unit/test-wire-read.c
tests_unit_test_wire_read_CFLAGS = $(FABRIC_TEST_CFLAGS)
tests_unit_test_wire_read_LDADD = $(FABRIC_TEST_LDADD)

# Built by make check, run by hand or by make bench-fabric.
check_PROGRAMS += tests/bench/bench-fabric
tests_bench_bench_fabric_SOURCES = tests/bench/bench-fabric.c
tests_bench_bench_fabric_LDADD = $(SNAPSHOT_BUILD_LIBS)

bench-fabric: tests/bench/bench-fabric
	tests/bench/bench-fabric
.PHONY: bench-fabric
