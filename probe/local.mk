# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# ibsm-probe, the one process that may send MADs.
noinst_LIBRARIES += probe/libprobe.a
probe_libprobe_a_SOURCES = \
	probe/choose.c \
	probe/get.c \
	probe/get.h \
	probe/harden.c \
	probe/harden.h \
	probe/link.c \
	probe/link.h \
	probe/order.c \
	probe/order.h \
	probe/person.c \
	probe/person.h \
	probe/ports.c \
	probe/ports.h \
	probe/queries.c \
	probe/queries.h \
	probe/serve.c \
	probe/serve.h
probe_libprobe_a_CFLAGS = $(AM_CFLAGS) $(IBUMAD_CFLAGS) $(IBMAD_CFLAGS)

sbin_PROGRAMS += ibsm-probe
ibsm_probe_SOURCES = probe/main.c
ibsm_probe_LDADD = probe/libprobe.a $(IBMAD_LIBS) $(IBUMAD_LIBS)
