# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Fuzz targets of the probe part, and the replay of their corpora.
FUZZ_TARGETS += \
	fuzz-probe-get \
	fuzz-probe-order

fuzz_probe_get_SOURCES = tests/fuzz/fuzz-probe-get.c $(FUZZ_MAIN)
fuzz_probe_get_CFLAGS = $(AM_CFLAGS) $(IBUMAD_CFLAGS)
fuzz_probe_get_LDFLAGS = $(AM_LDFLAGS) $(FUZZER_LDFLAGS)
fuzz_probe_get_LDADD = $(PROBE_LIBS)
EXTRA_DIST += tests/data/fuzz/probe-get

fuzz_probe_order_SOURCES = tests/fuzz/fuzz-probe-order.c $(FUZZ_MAIN)
fuzz_probe_order_CFLAGS = $(AM_CFLAGS) $(IBUMAD_CFLAGS)
fuzz_probe_order_LDFLAGS = $(AM_LDFLAGS) $(FUZZER_LDFLAGS)
fuzz_probe_order_LDADD = $(PROBE_LIBS)
EXTRA_DIST += tests/data/fuzz/probe-order
