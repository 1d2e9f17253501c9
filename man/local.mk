# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The manual pages.
dist_man_MANS += man/ibsmctl.1
dist_man_MANS += \
	man/ibsm-probe.8 \
	man/ibsmd.8 \
	man/ibsmd.conf.5 \
	man/io.ibsm.Monitor.7 \
	man/libibsmplugin.8
