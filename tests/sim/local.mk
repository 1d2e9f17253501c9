# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Tests with the real opensm on ibsim, of the harness for them, and of the generator of fabrics.
dist_check_DATA += tests/sim/lib.sh
dist_check_SCRIPTS += tests/netgen/netgen.py tests/sim/netfile.py tests/sim/pick.py \
	tests/sim/agree.py tests/sim/stamp.py

sim_tests = \
	tests/netgen/test-netgen.py \
	tests/sim/test-netfile.py \
	tests/sim/test-harness.sh \
	tests/sim/test-host-traps.sh \
	tests/sim/test-cable.sh \
	tests/sim/test-outside.sh \
	tests/sim/test-restarts.sh \
	tests/sim/test-sm-alerts.sh \
	tests/sim/test-sm-failover.sh \
	tests/sim/test-stall.sh \
	tests/sim/test-sweep-alerts.sh \
	tests/sim/test-two-opensms.sh \
	tests/sim/test-agrees-with-diags.sh
dist_check_SCRIPTS += $(sim_tests)
TESTS += $(sim_tests)
