# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The detectors that need a memory: subnet managers and sweeps; with what they are made of.
fabric_libfabric_a_SOURCES += \
	fabric/alert-set.c \
	fabric/alert-set.h \
	fabric/damper.c \
	fabric/damper.h \
	fabric/detect-kind.c \
	fabric/detect-kind.h \
	fabric/detect-sm-alerts.c \
	fabric/detect-sm-internal.h \
	fabric/detect-sm.c \
	fabric/detect-sm.h \
	fabric/detect-sweep.c \
	fabric/detect-sweep.h \
	fabric/detect-time.h \
	fabric/evidence.c \
	fabric/evidence.h \
	fabric/lft-ranges.c \
	fabric/lft-ranges.h \
	fabric/mastership.c \
	fabric/mastership.h \
	fabric/node-watch.c \
	fabric/node-watch.h \
	fabric/sm-config.c \
	fabric/sm-config.h \
	fabric/sm-placement.c \
	fabric/sm-placement.h \
	fabric/sm-shape.c \
	fabric/sm-table.c \
	fabric/sm-table.h \
	fabric/sweep-stats.c \
	fabric/sweep-stats.h \
	fabric/trap-stats.c \
	fabric/trap-stats.h

# The damper's exp2().
FABRIC_LIBS += -lm
