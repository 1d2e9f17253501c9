# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Unit tests and the benchmark of the routing analysis.
check_LIBRARIES += tests/lib/librouting-build.a
tests_lib_librouting_build_a_SOURCES = \
	tests/lib/routing-build.c \
	tests/lib/routing-build.h \
	tests/lib/routing-reference.c \
	tests/lib/routing-reference.h
ROUTING_BUILD_LIBS = tests/lib/librouting-build.a $(SNAPSHOT_BUILD_LIBS)

ROUTING_UNIT_TESTS = \
	tests/unit/test-routing \
	tests/unit/test-routing-change \
	tests/unit/test-routing-credit \
	tests/unit/test-routing-multicast \
	tests/unit/test-routing-patterns
check_PROGRAMS += $(ROUTING_UNIT_TESTS)
TESTS += $(ROUTING_UNIT_TESTS)

ROUTING_TEST_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
ROUTING_TEST_LDADD = $(ROUTING_BUILD_LIBS) $(CMOCKA_LIBS)

tests_unit_test_routing_SOURCES = tests/unit/test-routing.c
tests_unit_test_routing_CFLAGS = $(ROUTING_TEST_CFLAGS)
tests_unit_test_routing_LDADD = $(ROUTING_TEST_LDADD)

tests_unit_test_routing_credit_SOURCES = tests/unit/test-routing-credit.c
tests_unit_test_routing_credit_CFLAGS = $(ROUTING_TEST_CFLAGS)
tests_unit_test_routing_credit_LDADD = $(ROUTING_TEST_LDADD)

tests_unit_test_routing_multicast_SOURCES = tests/unit/test-routing-multicast.c
tests_unit_test_routing_multicast_CFLAGS = $(ROUTING_TEST_CFLAGS)
tests_unit_test_routing_multicast_LDADD = $(ROUTING_TEST_LDADD)

tests_unit_test_routing_change_SOURCES = tests/unit/test-routing-change.c
tests_unit_test_routing_change_CFLAGS = $(ROUTING_TEST_CFLAGS)
tests_unit_test_routing_change_LDADD = $(ROUTING_TEST_LDADD)

tests_unit_test_routing_patterns_SOURCES = tests/unit/test-routing-patterns.c
tests_unit_test_routing_patterns_CFLAGS = $(ROUTING_TEST_CFLAGS)
tests_unit_test_routing_patterns_LDADD = $(ROUTING_TEST_LDADD)

# Built by make check, run by hand or by make bench-routing.
check_PROGRAMS += tests/bench/bench-routing
tests_bench_bench_routing_SOURCES = tests/bench/bench-routing.c
tests_bench_bench_routing_LDADD = $(ROUTING_BUILD_LIBS)

bench-routing: tests/bench/bench-routing
	tests/bench/bench-routing
.PHONY: bench-routing
