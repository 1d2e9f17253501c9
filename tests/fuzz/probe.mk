# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Fuzz targets of the probe part, and the replay of their corpora.
FUZZ_TARGETS += \
	tests/fuzz/fuzz-probe-get \
	tests/fuzz/fuzz-probe-order
EXTRA_DIST += \
	tests/data/fuzz/probe-get \
	tests/data/fuzz/probe-order

PROBE_FUZZ_CFLAGS = $(AM_CFLAGS) $(IBUMAD_CFLAGS)

tests_fuzz_fuzz_probe_get_SOURCES = tests/fuzz/fuzz-probe-get.c $(FUZZ_MAIN)
tests_fuzz_fuzz_probe_get_CFLAGS = $(PROBE_FUZZ_CFLAGS)
tests_fuzz_fuzz_probe_get_LDFLAGS = $(AM_LDFLAGS) $(FUZZER_LDFLAGS)
tests_fuzz_fuzz_probe_get_LDADD = $(PROBE_LIBS)

tests_fuzz_fuzz_probe_order_SOURCES = tests/fuzz/fuzz-probe-order.c $(FUZZ_MAIN)
tests_fuzz_fuzz_probe_order_CFLAGS = $(PROBE_FUZZ_CFLAGS)
tests_fuzz_fuzz_probe_order_LDFLAGS = $(AM_LDFLAGS) $(FUZZER_LDFLAGS)
tests_fuzz_fuzz_probe_order_LDADD = $(PROBE_LIBS)
