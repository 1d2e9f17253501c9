# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What all tests share.

# A fuzz target is tests/fuzz/fuzz-NAME.c with LLVMFuzzerTestOneInput() alone. Its fragment says:
#   FUZZ_TARGETS += fuzz-NAME
#   fuzz_NAME_SOURCES = tests/fuzz/fuzz-NAME.c $(FUZZ_MAIN)
#   fuzz_NAME_LDFLAGS = $(AM_LDFLAGS) $(FUZZER_LDFLAGS)
#   fuzz_NAME_LDADD = …
#   EXTRA_DIST += tests/data/fuzz/NAME
# make check replays tests/data/fuzz/NAME/*; with --enable-fuzzer the program is libFuzzer's.
FUZZ_TARGETS =
check_PROGRAMS += $(FUZZ_TARGETS)
EXTRA_DIST += tests/fuzz/replay-main.c
if ENABLE_FUZZER
FUZZ_MAIN =
else
FUZZ_MAIN = tests/fuzz/replay-main.c
TESTS += $(FUZZ_TARGETS)
endif

# clang-tidy needs the flags that the compiler gets.
print-cppflags:
	@echo '-I. $(DEFS) $(AM_CPPFLAGS) $(OSM_CFLAGS) $(SYSTEMD_CFLAGS) $(JANSSON_CFLAGS) $(INIH_CFLAGS) \
		$(IBUMAD_CFLAGS) $(CMOCKA_CFLAGS)'
.PHONY: print-cppflags
EXTRA_DIST += tests/lint/lint.sh tests/lint/check-python.py
