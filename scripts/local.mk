# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# scripts/demo, scripts/test and what they share.
EXTRA_DIST += scripts/common.sh scripts/demo scripts/test .ci/run
