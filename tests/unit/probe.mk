# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Tests of the probe part: units, the program, and the program on ibsim.
PROBE_TESTS = \
	tests/unit/test-probe-client \
	tests/unit/test-probe-get \
	tests/unit/test-probe-order \
	tests/unit/test-probe-queries \
	tests/unit/test-probe-serve
check_PROGRAMS += $(PROBE_TESTS)
TESTS += $(PROBE_TESTS)

dist_check_DATA += tests/unit/probe_orders.py
dist_check_SCRIPTS += tests/unit/test-probe-program.py tests/sim/test-probe.sh
TESTS += tests/unit/test-probe-program.py tests/sim/test-probe.sh

PROBE_LIBS = probe/libprobe.a $(IBMAD_LIBS) $(IBUMAD_LIBS)

# ibsmd's end; it starts the real ibsm-probe as well.
tests_unit_test_probe_client_SOURCES = \
	daemon/probe-client.c \
	daemon/probe-client.h \
	tests/unit/test-probe-client.c
tests_unit_test_probe_client_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) $(SYSTEMD_CFLAGS)
tests_unit_test_probe_client_LDADD = $(CMOCKA_LIBS) $(SYSTEMD_LIBS)

tests_unit_test_probe_get_SOURCES = tests/unit/test-probe-get.c
tests_unit_test_probe_get_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) $(IBUMAD_CFLAGS)
tests_unit_test_probe_get_LDADD = $(PROBE_LIBS) $(CMOCKA_LIBS)

tests_unit_test_probe_order_SOURCES = tests/unit/test-probe-order.c
tests_unit_test_probe_order_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_probe_order_LDADD = $(PROBE_LIBS) $(CMOCKA_LIBS)

tests_unit_test_probe_queries_SOURCES = tests/unit/test-probe-queries.c
tests_unit_test_probe_queries_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_probe_queries_LDADD = $(PROBE_LIBS) $(CMOCKA_LIBS)

# Brings a libibumad of its own, and ports.
tests_unit_test_probe_serve_SOURCES = tests/unit/test-probe-serve.c
tests_unit_test_probe_serve_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) $(IBUMAD_CFLAGS)
tests_unit_test_probe_serve_LDADD = $(PROBE_LIBS) $(CMOCKA_LIBS)
