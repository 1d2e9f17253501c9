# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Programs that play opensm (load the plugin, raise events) or ibsmd (print what comes), and tests.
check_PROGRAMS += tests/host/ibsm-host tests/host/ibsm-wire-dump tests/host/test-host
check_LIBRARIES += tests/host/libhost.a
TESTS += tests/host/test-host tests/host/test-symbols.sh
dist_check_SCRIPTS += tests/host/test-symbols.sh

# These play opensm, so they have its libraries; the plugin must do without.
OSM_LIBS = -lopensm -losmcomp -losmvendor

tests_host_libhost_a_SOURCES = \
	tests/host/fake-osm.c tests/host/fake-osm.h \
	tests/host/loaded.c tests/host/loaded.h \
	tests/host/notice.c tests/host/notice.h \
	tests/host/peer.c tests/host/peer.h \
	tests/host/producers.c tests/host/producers.h
tests_host_libhost_a_CPPFLAGS = $(AM_CPPFLAGS) $(OSM_CFLAGS)

tests_host_ibsm_host_SOURCES = tests/host/ibsm-host.c
tests_host_ibsm_host_CPPFLAGS = $(AM_CPPFLAGS) $(OSM_CFLAGS)
tests_host_ibsm_host_LDADD = tests/host/libhost.a $(OSM_LIBS)
EXTRA_tests_host_ibsm_host_DEPENDENCIES = plugin/libibsmplugin.la

tests_host_ibsm_wire_dump_SOURCES = tests/host/ibsm-wire-dump.c \
	tests/host/wire-text.c tests/host/wire-text.h
tests_host_ibsm_wire_dump_LDADD = $(FABRIC_LIBS)

tests_host_test_host_SOURCES = tests/host/test-host.c
tests_host_test_host_CPPFLAGS = $(AM_CPPFLAGS) $(OSM_CFLAGS)
tests_host_test_host_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_host_test_host_LDADD = tests/host/libhost.a $(FABRIC_LIBS) $(OSM_LIBS) $(CMOCKA_LIBS)
EXTRA_tests_host_test_host_DEPENDENCIES = plugin/libibsmplugin.la

# By hand: what the plugin costs opensm.
check_PROGRAMS += tests/bench/bench-callbacks
tests_bench_bench_callbacks_SOURCES = tests/bench/bench-callbacks.c
tests_bench_bench_callbacks_CPPFLAGS = $(AM_CPPFLAGS) $(OSM_CFLAGS)
tests_bench_bench_callbacks_LDADD = tests/host/libhost.a $(FABRIC_LIBS) plugin/libplugin.la \
	$(OSM_LIBS)
EXTRA_tests_bench_bench_callbacks_DEPENDENCIES = plugin/libibsmplugin.la
