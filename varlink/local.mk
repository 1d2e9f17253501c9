# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# NUL-framed JSON, server and client side.
noinst_LIBRARIES += varlink/libvarlink.a
varlink_libvarlink_a_SOURCES = \
	varlink/call.c \
	varlink/client.c \
	varlink/client.h \
	varlink/connection.c \
	varlink/frame.c \
	varlink/frame.h \
	varlink/idl.c \
	varlink/idl.h \
	varlink/list.c \
	varlink/server-internal.h \
	varlink/server.c \
	varlink/server.h \
	varlink/service.c
varlink_libvarlink_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(SYSTEMD_CFLAGS)

# What a program that uses it links with.
VARLINK_LIBS = varlink/libvarlink.a $(SYSTEMD_LIBS) $(JANSSON_LIBS)
