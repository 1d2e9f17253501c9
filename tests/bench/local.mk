# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Benchmarks: run by hand, or all of them by make bench (15 minutes; needs the whole machine).
dist_check_SCRIPTS += tests/bench/bench-large.sh tests/bench/status-latency.py

bench: all tests/bench/bench-callbacks tests/bench/bench-fabric
	tests/bench/bench-callbacks
	tests/bench/bench-fabric
	$(AM_TESTS_ENVIRONMENT) bash $(srcdir)/tests/bench/bench-large.sh
.PHONY: bench
