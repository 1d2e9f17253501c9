# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Unit tests of the contract part.
check_PROGRAMS += tests/unit/test-wire
TESTS += tests/unit/test-wire

tests_unit_test_wire_SOURCES = tests/unit/test-wire.c
tests_unit_test_wire_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_wire_LDADD = $(CMOCKA_LIBS)
