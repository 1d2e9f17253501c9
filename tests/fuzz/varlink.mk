# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Fuzz targets of the varlink part, and the replay of their corpora.
FUZZ_TARGETS += \
	tests/fuzz/fuzz-varlink-client \
	tests/fuzz/fuzz-varlink-idl \
	tests/fuzz/fuzz-varlink-server
EXTRA_DIST += \
	tests/data/fuzz/varlink-client \
	tests/data/fuzz/varlink-idl \
	tests/data/fuzz/varlink-server

VARLINK_FUZZ_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(SYSTEMD_CFLAGS)

tests_fuzz_fuzz_varlink_client_SOURCES = tests/fuzz/fuzz-varlink-client.c $(FUZZ_MAIN)
tests_fuzz_fuzz_varlink_client_CFLAGS = $(VARLINK_FUZZ_CFLAGS)
tests_fuzz_fuzz_varlink_client_LDFLAGS = $(AM_LDFLAGS) $(FUZZER_LDFLAGS)
tests_fuzz_fuzz_varlink_client_LDADD = $(VARLINK_LIBS)

tests_fuzz_fuzz_varlink_idl_SOURCES = tests/fuzz/fuzz-varlink-idl.c $(FUZZ_MAIN)
tests_fuzz_fuzz_varlink_idl_CFLAGS = $(VARLINK_FUZZ_CFLAGS)
tests_fuzz_fuzz_varlink_idl_LDFLAGS = $(AM_LDFLAGS) $(FUZZER_LDFLAGS)
tests_fuzz_fuzz_varlink_idl_LDADD = $(VARLINK_LIBS)

tests_fuzz_fuzz_varlink_server_SOURCES = tests/fuzz/fuzz-varlink-server.c $(FUZZ_MAIN)
tests_fuzz_fuzz_varlink_server_CFLAGS = $(VARLINK_FUZZ_CFLAGS)
tests_fuzz_fuzz_varlink_server_LDFLAGS = $(AM_LDFLAGS) $(FUZZER_LDFLAGS)
tests_fuzz_fuzz_varlink_server_LDADD = $(VARLINK_LIBS)
