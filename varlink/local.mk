# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# NUL-framed JSON, server and client side.
