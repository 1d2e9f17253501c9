# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Small helpers that every folder may include.
noinst_HEADERS += util/cleanup.h util/duration.h util/span.h
