# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Unit tests of the ctl part.
CTL_UNIT_TESTS = \
	tests/unit/test-ctl-output \
	tests/unit/test-ctl-table \
	tests/unit/test-ctl-text
check_PROGRAMS += $(CTL_UNIT_TESTS) tests/unit/ctl-fake
TESTS += $(CTL_UNIT_TESTS)

CTL_TEST_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) $(JANSSON_CFLAGS)
CTL_TEST_LDADD = ctl/libctl.a $(JANSSON_LIBS) $(CMOCKA_LIBS)

tests_unit_test_ctl_output_SOURCES = tests/unit/test-ctl-output.c
tests_unit_test_ctl_output_CFLAGS = $(CTL_TEST_CFLAGS)
tests_unit_test_ctl_output_LDADD = $(CTL_TEST_LDADD)

tests_unit_test_ctl_table_SOURCES = tests/unit/test-ctl-table.c
tests_unit_test_ctl_table_CFLAGS = $(CTL_TEST_CFLAGS)
tests_unit_test_ctl_table_LDADD = $(CTL_TEST_LDADD)

tests_unit_test_ctl_text_SOURCES = tests/unit/test-ctl-text.c
tests_unit_test_ctl_text_CFLAGS = $(CTL_TEST_CFLAGS)
tests_unit_test_ctl_text_LDADD = $(CTL_TEST_LDADD)

# Plays ibsmd for the tests below.
tests_unit_ctl_fake_SOURCES = tests/unit/ctl-fake.c
tests_unit_ctl_fake_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(SYSTEMD_CFLAGS)
tests_unit_ctl_fake_LDADD = $(VARLINK_LIBS)

CTL_SCRIPT_TESTS = \
	tests/unit/ctl-errors.py \
	tests/unit/ctl-terminal.py \
	tests/unit/ctl-verbs.py
dist_check_SCRIPTS += $(CTL_SCRIPT_TESTS)
TESTS += $(CTL_SCRIPT_TESTS)
EXTRA_DIST += tests/unit/ctl_harness.py tests/unit/ctl-data
