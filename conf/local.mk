# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Configuration as shipped, and examples.
ibsmconfdir = $(sysconfdir)/ibsmd
dist_ibsmconf_DATA = conf/ibsmd.conf
