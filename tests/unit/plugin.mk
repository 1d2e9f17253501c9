# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Unit tests of the plugin part.
plugin_unit_tests = \
	tests/unit/test-backoff \
	tests/unit/test-capture \
	tests/unit/test-plugin-options \
	tests/unit/test-ring \
	tests/unit/test-snapshot-take \
	tests/unit/test-wake
check_PROGRAMS += $(plugin_unit_tests)
TESTS += $(plugin_unit_tests)

PLUGIN_TEST_CPPFLAGS = $(AM_CPPFLAGS) $(OSM_CFLAGS)
PLUGIN_TEST_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
PLUGIN_TEST_LIBS = tests/host/libhost.a plugin/libplugin.la $(OSM_LIBS) $(CMOCKA_LIBS)

tests_unit_test_backoff_SOURCES = tests/unit/test-backoff.c
tests_unit_test_backoff_CFLAGS = $(PLUGIN_TEST_CFLAGS)
tests_unit_test_backoff_LDADD = plugin/libplugin.la $(CMOCKA_LIBS)

tests_unit_test_capture_SOURCES = tests/unit/test-capture.c
tests_unit_test_capture_CPPFLAGS = $(PLUGIN_TEST_CPPFLAGS)
tests_unit_test_capture_CFLAGS = $(PLUGIN_TEST_CFLAGS)
tests_unit_test_capture_LDADD = $(PLUGIN_TEST_LIBS)

tests_unit_test_plugin_options_SOURCES = tests/unit/test-plugin-options.c
tests_unit_test_plugin_options_CFLAGS = $(PLUGIN_TEST_CFLAGS)
tests_unit_test_plugin_options_LDADD = plugin/libplugin.la $(CMOCKA_LIBS)

tests_unit_test_ring_SOURCES = tests/unit/test-ring.c
tests_unit_test_ring_CFLAGS = $(PLUGIN_TEST_CFLAGS)
tests_unit_test_ring_LDADD = plugin/libplugin.la $(CMOCKA_LIBS)

tests_unit_test_snapshot_take_SOURCES = tests/unit/test-snapshot-take.c
tests_unit_test_snapshot_take_CPPFLAGS = $(PLUGIN_TEST_CPPFLAGS)
tests_unit_test_snapshot_take_CFLAGS = $(PLUGIN_TEST_CFLAGS)
tests_unit_test_snapshot_take_LDADD = $(PLUGIN_TEST_LIBS) $(FABRIC_LIBS)

tests_unit_test_wake_SOURCES = tests/unit/test-wake.c
tests_unit_test_wake_CFLAGS = $(PLUGIN_TEST_CFLAGS)
tests_unit_test_wake_LDADD = plugin/libplugin.la $(CMOCKA_LIBS)
