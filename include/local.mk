# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The contracts: headers that plugin, daemon and clients share.
ibsmincludedir = $(includedir)/ibsm
ibsminclude_HEADERS = \
	include/ibsm/limits.h \
	include/ibsm/probe-layout.h \
	include/ibsm/probe.h \
	include/ibsm/snapshot-layout.h \
	include/ibsm/snapshot.h \
	include/ibsm/wire-layout.h \
	include/ibsm/wire.h
