# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The fabric model and the analyses on it.
noinst_LIBRARIES += fabric/libfabric.a
fabric_libfabric_a_SOURCES = \
	fabric/change-text.c \
	fabric/diff-internal.h \
	fabric/diff-link.c \
	fabric/diff-node.c \
	fabric/diff-routing.c \
	fabric/diff-table.c \
	fabric/diff.c \
	fabric/diff.h \
	fabric/fabric.h \
	fabric/lft-count.c \
	fabric/lft-count.h \
	fabric/link.c \
	fabric/model.c \
	fabric/names.c \
	fabric/names.h \
	fabric/node-name-map.c \
	fabric/node-name-map.h \
	fabric/printable.c \
	fabric/printable.h \
	fabric/route.c \
	fabric/route.h \
	fabric/settings.c \
	fabric/snapshot-check.c \
	fabric/snapshot-check.h \
	fabric/snapshot-read.c \
	fabric/snapshot-read.h \
	fabric/story-internal.h \
	fabric/story-teller.c \
	fabric/story.c \
	fabric/story.h \
	fabric/string-pool.c \
	fabric/string-pool.h \
	fabric/wire-read.c \
	fabric/wire-read.h

# What a program that uses it links with.
FABRIC_LIBS = fabric/libfabric.a
