# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The manual pages.
dist_man_MANS += man/ibsmctl.1
