# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Unit tests of the probe part.
PROBE_TESTS = \
	tests/unit/test-probe-client
check_PROGRAMS += $(PROBE_TESTS)
TESTS += $(PROBE_TESTS)

# ibsmd's end; it starts the real ibsm-probe as well.
tests_unit_test_probe_client_SOURCES = \
	daemon/probe-client.c \
	daemon/probe-client.h \
	tests/unit/test-probe-client.c
tests_unit_test_probe_client_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) $(SYSTEMD_CFLAGS)
tests_unit_test_probe_client_LDADD = $(CMOCKA_LIBS) $(SYSTEMD_LIBS)
