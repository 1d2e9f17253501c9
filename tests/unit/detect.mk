# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Unit tests of the detectors.
DETECT_UNIT_TESTS = \
	tests/unit/test-alert-set \
	tests/unit/test-damper \
	tests/unit/test-detect-sm \
	tests/unit/test-detect-sweep \
	tests/unit/test-lft-ranges \
	tests/unit/test-mastership \
	tests/unit/test-sm-config \
	tests/unit/test-sm-placement \
	tests/unit/test-sweep-stats
check_PROGRAMS += $(DETECT_UNIT_TESTS)
TESTS += $(DETECT_UNIT_TESTS)

DETECT_BUILD = tests/unit/detect-build.c tests/unit/detect-build.h
DETECT_TEST_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
DETECT_TEST_LDADD = $(FABRIC_LIBS) $(CMOCKA_LIBS)

tests_unit_test_alert_set_SOURCES = tests/unit/test-alert-set.c
tests_unit_test_alert_set_CFLAGS = $(DETECT_TEST_CFLAGS)
tests_unit_test_alert_set_LDADD = $(DETECT_TEST_LDADD)

tests_unit_test_damper_SOURCES = tests/unit/test-damper.c
tests_unit_test_damper_CFLAGS = $(DETECT_TEST_CFLAGS)
tests_unit_test_damper_LDADD = $(DETECT_TEST_LDADD)

tests_unit_test_mastership_SOURCES = tests/unit/test-mastership.c $(DETECT_BUILD)
tests_unit_test_mastership_CFLAGS = $(DETECT_TEST_CFLAGS)
tests_unit_test_mastership_LDADD = $(DETECT_TEST_LDADD)

tests_unit_test_sweep_stats_SOURCES = tests/unit/test-sweep-stats.c
tests_unit_test_sweep_stats_CFLAGS = $(DETECT_TEST_CFLAGS)
tests_unit_test_sweep_stats_LDADD = $(DETECT_TEST_LDADD)

tests_unit_test_sm_config_SOURCES = tests/unit/test-sm-config.c $(DETECT_BUILD)
tests_unit_test_sm_config_CFLAGS = $(DETECT_TEST_CFLAGS)
tests_unit_test_sm_config_LDADD = $(DETECT_TEST_LDADD)

tests_unit_test_sm_placement_SOURCES = tests/unit/test-sm-placement.c $(DETECT_BUILD)
tests_unit_test_sm_placement_CFLAGS = $(DETECT_TEST_CFLAGS)
tests_unit_test_sm_placement_LDADD = $(DETECT_TEST_LDADD)

tests_unit_test_detect_sm_SOURCES = tests/unit/test-detect-sm.c $(DETECT_BUILD)
tests_unit_test_detect_sm_CFLAGS = $(DETECT_TEST_CFLAGS)
tests_unit_test_detect_sm_LDADD = $(DETECT_TEST_LDADD)

tests_unit_test_detect_sweep_SOURCES = tests/unit/test-detect-sweep.c $(DETECT_BUILD)
tests_unit_test_detect_sweep_CFLAGS = $(DETECT_TEST_CFLAGS)
tests_unit_test_detect_sweep_LDADD = $(DETECT_TEST_LDADD)

tests_unit_test_lft_ranges_SOURCES = tests/unit/test-lft-ranges.c $(DETECT_BUILD)
tests_unit_test_lft_ranges_CFLAGS = $(DETECT_TEST_CFLAGS)
tests_unit_test_lft_ranges_LDADD = $(DETECT_TEST_LDADD)
