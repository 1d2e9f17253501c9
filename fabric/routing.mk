# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The routing analysis.
fabric_libfabric_a_SOURCES += \
	fabric/routing-careful.c \
	fabric/routing-change.c \
	fabric/routing-change.h \
	fabric/routing-columns.c \
	fabric/routing-credit.c \
	fabric/routing-fault.c \
	fabric/routing-graph.c \
	fabric/routing-internal.h \
	fabric/routing-lanes.c \
	fabric/routing-multicast.c \
	fabric/routing-multicast.h \
	fabric/routing-pass.c \
	fabric/routing-patterns.c \
	fabric/routing-shape.c \
	fabric/routing-weigh.c \
	fabric/routing-worker.c \
	fabric/routing-worker.h \
	fabric/routing.c \
	fabric/routing.h
