# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Our Varlink against Go's.
check_PROGRAMS += \
	tests/varlink-go/certification-client \
	tests/varlink-go/certification-server \
	tests/varlink-go/check-replies
VARLINK_GO_TESTS = \
	tests/varlink-go/test-certification.sh \
	tests/varlink-go/test-ibsmd.sh \
	tests/varlink-go/test-interface-generator.sh
dist_check_SCRIPTS += $(VARLINK_GO_TESTS)
TESTS += $(VARLINK_GO_TESTS)
EXTRA_DIST += \
	tests/varlink-go/lib.sh \
	tests/varlink-go/org.varlink.certification.varlink \
	tests/varlink-go/query.go

tests_varlink_go_certification_client_SOURCES = tests/varlink-go/certification-client.c
tests_varlink_go_certification_client_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
tests_varlink_go_certification_client_LDADD = $(VARLINK_LIBS)
tests_varlink_go_certification_server_SOURCES = tests/varlink-go/certification-server.c
tests_varlink_go_certification_server_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(SYSTEMD_CFLAGS)
tests_varlink_go_certification_server_LDADD = $(VARLINK_LIBS)
tests_varlink_go_check_replies_SOURCES = tests/varlink-go/check-replies.c
tests_varlink_go_check_replies_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
tests_varlink_go_check_replies_LDADD = $(VARLINK_LIBS)
