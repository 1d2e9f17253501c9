# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# ibsmctl, the command line client.
noinst_LIBRARIES += ctl/libctl.a
ctl_libctl_a_SOURCES = \
	ctl/client.c \
	ctl/client.h \
	ctl/ctl.c \
	ctl/ctl.h \
	ctl/json.c \
	ctl/json.h \
	ctl/output.c \
	ctl/output.h \
	ctl/pager.c \
	ctl/pager.h \
	ctl/table.c \
	ctl/table.h \
	ctl/text.c \
	ctl/text.h
ctl_libctl_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)

bin_PROGRAMS += ibsmctl
ibsmctl_SOURCES = \
	ctl/alert.h \
	ctl/main.c \
	ctl/verb-alerts.c \
	ctl/verb-events.c \
	ctl/verb-groups.c \
	ctl/verb-nodes.c \
	ctl/verb-opensm.c \
	ctl/verb-route.c \
	ctl/verb-silence.c \
	ctl/verb-sm.c \
	ctl/verb-status.c \
	ctl/verb-sweep-stats.c \
	ctl/verb-sweeps.c
ibsmctl_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
ibsmctl_LDADD = ctl/libctl.a varlink/libvarlink.a $(JANSSON_LIBS)
