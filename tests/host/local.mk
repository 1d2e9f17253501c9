# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Tests that load the plugin as opensm does.
check_PROGRAMS += tests/host/ibsm-wire-dump

tests_host_ibsm_wire_dump_SOURCES = tests/host/ibsm-wire-dump.c \
	tests/host/wire-text.c tests/host/wire-text.h
