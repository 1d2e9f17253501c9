# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Unit tests of the varlink part.
VARLINK_UNIT_TESTS = \
	tests/unit/test-varlink-client \
	tests/unit/test-varlink-frame \
	tests/unit/test-varlink-idl \
	tests/unit/test-varlink-server \
	tests/unit/test-varlink-stream
check_PROGRAMS += $(VARLINK_UNIT_TESTS)
TESTS += $(VARLINK_UNIT_TESTS)

VARLINK_HARNESS = tests/unit/varlink-harness.c tests/unit/varlink-harness.h
VARLINK_TEST_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) $(JANSSON_CFLAGS) $(SYSTEMD_CFLAGS)
VARLINK_TEST_LDADD = $(VARLINK_LIBS) $(CMOCKA_LIBS)

tests_unit_test_varlink_client_SOURCES = tests/unit/test-varlink-client.c $(VARLINK_HARNESS)
tests_unit_test_varlink_client_CFLAGS = $(VARLINK_TEST_CFLAGS)
tests_unit_test_varlink_client_LDADD = $(VARLINK_TEST_LDADD)

tests_unit_test_varlink_frame_SOURCES = tests/unit/test-varlink-frame.c
tests_unit_test_varlink_frame_CFLAGS = $(VARLINK_TEST_CFLAGS)
tests_unit_test_varlink_frame_LDADD = $(VARLINK_TEST_LDADD)

tests_unit_test_varlink_idl_SOURCES = tests/unit/test-varlink-idl.c
tests_unit_test_varlink_idl_CFLAGS = $(VARLINK_TEST_CFLAGS)
tests_unit_test_varlink_idl_LDADD = $(VARLINK_TEST_LDADD)

tests_unit_test_varlink_server_SOURCES = tests/unit/test-varlink-server.c $(VARLINK_HARNESS)
tests_unit_test_varlink_server_CFLAGS = $(VARLINK_TEST_CFLAGS)
tests_unit_test_varlink_server_LDADD = $(VARLINK_TEST_LDADD)

tests_unit_test_varlink_stream_SOURCES = tests/unit/test-varlink-stream.c $(VARLINK_HARNESS)
tests_unit_test_varlink_stream_CFLAGS = $(VARLINK_TEST_CFLAGS)
tests_unit_test_varlink_stream_LDADD = $(VARLINK_TEST_LDADD)

include $(srcdir)/tests/varlink-go/local.mk
