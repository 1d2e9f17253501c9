# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Unit tests of the daemon part.
DAEMON_TESTS = \
	tests/unit/test-conf \
	tests/unit/test-daemon \
	tests/unit/test-daemon-alerts \
	tests/unit/test-daemon-api \
	tests/unit/test-daemon-ingest \
	tests/unit/test-detect-state \
	tests/unit/test-events \
	tests/unit/test-outside \
	tests/unit/test-pages \
	tests/unit/test-silence \
	tests/unit/test-state \
	tests/unit/test-worker
check_PROGRAMS += $(DAEMON_TESTS)
TESTS += $(DAEMON_TESTS)

DAEMON_TEST_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) $(SYSTEMD_CFLAGS) $(JANSSON_CFLAGS)
DAEMON_TEST_LIBS = $(DAEMON_LIBS) $(CMOCKA_LIBS)

tests_unit_test_conf_SOURCES = tests/unit/test-conf.c
tests_unit_test_conf_CFLAGS = $(DAEMON_TEST_CFLAGS)
tests_unit_test_conf_LDADD = $(DAEMON_TEST_LIBS)

DAEMON_HARNESS = tests/unit/daemon-harness.c tests/unit/daemon-harness.h
DAEMON_HARNESS_LIBS = $(SNAPSHOT_BUILD_LIBS) $(VARLINK_LIBS) $(CMOCKA_LIBS)

tests_unit_test_daemon_SOURCES = tests/unit/test-daemon.c $(DAEMON_HARNESS)
tests_unit_test_daemon_CFLAGS = $(DAEMON_TEST_CFLAGS)
tests_unit_test_daemon_LDADD = $(DAEMON_HARNESS_LIBS)
EXTRA_tests_unit_test_daemon_DEPENDENCIES = ibsmd

tests_unit_test_daemon_alerts_SOURCES = tests/unit/test-daemon-alerts.c $(DAEMON_HARNESS)
tests_unit_test_daemon_alerts_CFLAGS = $(DAEMON_TEST_CFLAGS)
tests_unit_test_daemon_alerts_LDADD = $(DAEMON_HARNESS_LIBS)
EXTRA_tests_unit_test_daemon_alerts_DEPENDENCIES = ibsmd

tests_unit_test_daemon_api_SOURCES = tests/unit/test-daemon-api.c $(DAEMON_HARNESS)
tests_unit_test_daemon_api_CFLAGS = $(DAEMON_TEST_CFLAGS)
tests_unit_test_daemon_api_LDADD = $(DAEMON_HARNESS_LIBS)
EXTRA_tests_unit_test_daemon_api_DEPENDENCIES = ibsmd

tests_unit_test_daemon_ingest_SOURCES = tests/unit/test-daemon-ingest.c $(DAEMON_HARNESS)
tests_unit_test_daemon_ingest_CFLAGS = $(DAEMON_TEST_CFLAGS)
tests_unit_test_daemon_ingest_LDADD = $(DAEMON_HARNESS_LIBS)
EXTRA_tests_unit_test_daemon_ingest_DEPENDENCIES = ibsmd

tests_unit_test_events_SOURCES = tests/unit/test-events.c
tests_unit_test_events_CFLAGS = $(DAEMON_TEST_CFLAGS)
tests_unit_test_events_LDADD = $(DAEMON_TEST_LIBS)

# Stands in for health.c and log.c.
tests_unit_test_outside_SOURCES = tests/unit/test-outside.c
tests_unit_test_outside_CFLAGS = $(DAEMON_TEST_CFLAGS)
tests_unit_test_outside_LDADD = $(DAEMON_TEST_LIBS)

tests_unit_test_pages_SOURCES = tests/unit/test-pages.c
tests_unit_test_pages_CFLAGS = $(DAEMON_TEST_CFLAGS)
tests_unit_test_pages_LDADD = $(DAEMON_TEST_LIBS)

tests_unit_test_silence_SOURCES = tests/unit/test-silence.c
tests_unit_test_silence_CFLAGS = $(DAEMON_TEST_CFLAGS)
tests_unit_test_silence_LDADD = $(DAEMON_TEST_LIBS)

tests_unit_test_state_SOURCES = tests/unit/test-state.c
tests_unit_test_state_CFLAGS = $(DAEMON_TEST_CFLAGS)
tests_unit_test_state_LDADD = $(DAEMON_TEST_LIBS)

tests_unit_test_detect_state_SOURCES = tests/unit/test-detect-state.c
tests_unit_test_detect_state_CFLAGS = $(DAEMON_TEST_CFLAGS)
tests_unit_test_detect_state_LDADD = $(SNAPSHOT_BUILD_LIBS) $(CMOCKA_LIBS)

tests_unit_test_worker_SOURCES = tests/unit/test-worker.c
tests_unit_test_worker_CFLAGS = $(DAEMON_TEST_CFLAGS)
tests_unit_test_worker_LDADD = $(DAEMON_TEST_LIBS)
