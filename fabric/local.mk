# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The fabric model and the analyses on it.
noinst_HEADERS += fabric/diff.h fabric/fabric.h fabric/names.h fabric/node-name-map.h \
	fabric/printable.h fabric/route.h fabric/snapshot-read.h fabric/story.h fabric/wire-read.h
