# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Tests with the real opensm on ibsim.
