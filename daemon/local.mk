# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# ibsmd, the daemon.
sbin_PROGRAMS += ibsmd

# All but main(), for the tests as well.
noinst_LIBRARIES += daemon/libdaemon.a
daemon_libdaemon_a_SOURCES = \
	daemon/adopt.c \
	daemon/adopt.h \
	daemon/alerts.c \
	daemon/alerts.h \
	daemon/api-alerts.c \
	daemon/api-events.c \
	daemon/api-internal.h \
	daemon/api-links.c \
	daemon/api-nodes.c \
	daemon/api-sm.c \
	daemon/api-statistics.c \
	daemon/api-status.c \
	daemon/api-subnet.c \
	daemon/api-sweeps.c \
	daemon/api.c \
	daemon/api.h \
	daemon/clock.h \
	daemon/conf.c \
	daemon/conf-internal.h \
	daemon/conf-keys.c \
	daemon/conf-value.c \
	daemon/conf.h \
	daemon/event-kind.c \
	daemon/event-kind.h \
	daemon/events.c \
	daemon/events.h \
	daemon/fields.c \
	daemon/fields.h \
	daemon/follow.c \
	daemon/follow.h \
	daemon/health-state.c \
	daemon/health-state.h \
	daemon/health.c \
	daemon/health.h \
	daemon/ingest.c \
	daemon/ingest.h \
	daemon/json.c \
	daemon/json.h \
	daemon/limits.c \
	daemon/limits.h \
	daemon/listen.c \
	daemon/listen.h \
	daemon/log.c \
	daemon/log.h \
	daemon/manager.c \
	daemon/manager.h \
	daemon/names.c \
	daemon/names.h \
	daemon/outside.c \
	daemon/outside.h \
	daemon/plugin.c \
	daemon/plugin.h \
	daemon/probe-client.c \
	daemon/probe-client.h \
	daemon/record.c \
	daemon/record.h \
	daemon/silence.c \
	daemon/silence.h \
	daemon/state-file.c \
	daemon/state-file.h \
	daemon/state.c \
	daemon/state.h \
	daemon/sweeps.c \
	daemon/sweeps.h \
	daemon/trap.c \
	daemon/trap.h \
	daemon/worker.c \
	daemon/worker.h
nodist_daemon_libdaemon_a_SOURCES = daemon/api-description.c
daemon_libdaemon_a_CPPFLAGS = $(AM_CPPFLAGS) -DPROBE_PROGRAM_DEFAULT='"$(sbindir)/ibsm-probe"'
daemon_libdaemon_a_CFLAGS = $(AM_CFLAGS) $(SYSTEMD_CFLAGS) $(JANSSON_CFLAGS) $(INIH_CFLAGS)

DAEMON_LIBS = daemon/libdaemon.a $(FABRIC_LIBS) $(VARLINK_LIBS) $(INIH_LIBS)

# What the daemon alone looks at so far.
fabric_libfabric_a_SOURCES += \
	fabric/detect-state.c \
	fabric/detect-state.h \
	fabric/finding.c \
	fabric/finding.h

ibsmd_SOURCES = daemon/main.c
ibsmd_CPPFLAGS = $(AM_CPPFLAGS) -DCONF_PATH_DEFAULT='"$(sysconfdir)/ibsmd/ibsmd.conf"'
ibsmd_CFLAGS = $(AM_CFLAGS) $(SYSTEMD_CFLAGS) $(JANSSON_CFLAGS)
ibsmd_LDADD = $(DAEMON_LIBS)

EXTRA_DIST += daemon/io.ibsm.Monitor.varlink
varlinkdir = $(pkgdatadir)
dist_varlink_DATA = daemon/io.ibsm.Monitor.varlink

# The interface's text, as GetInterfaceDescription hands it out.
daemon/api-description.c: $(srcdir)/daemon/io.ibsm.Monitor.varlink
	$(AM_V_GEN)$(MKDIR_P) daemon && { \
		echo '// Made from io.ibsm.Monitor.varlink.'; \
		echo 'extern const char api_description[];'; \
		echo 'const char api_description[] ='; \
		$(SED) -e 's/[\\"]/\\&/g' -e 's/^/	"/' -e 's/$$/\\n"/' \
			'$(srcdir)/daemon/io.ibsm.Monitor.varlink'; \
		echo '	;'; \
	} > $@.tmp && mv $@.tmp $@
CLEANFILES += daemon/api-description.c daemon/api-description.c.tmp
