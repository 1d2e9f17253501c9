# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Fuzz targets of the daemon part, and the replay of their corpora.
FUZZ_TARGETS += tests/fuzz/fuzz-ingest
EXTRA_DIST += tests/data/fuzz/ingest

tests_fuzz_fuzz_ingest_SOURCES = tests/fuzz/fuzz-ingest.c $(FUZZ_MAIN)
tests_fuzz_fuzz_ingest_CFLAGS = $(AM_CFLAGS) $(SYSTEMD_CFLAGS) $(JANSSON_CFLAGS)
tests_fuzz_fuzz_ingest_LDFLAGS = $(AM_LDFLAGS) $(FUZZER_LDFLAGS)
tests_fuzz_fuzz_ingest_LDADD = $(SNAPSHOT_BUILD_LIBS) $(DAEMON_LIBS)
