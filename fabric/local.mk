# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The fabric model and the analyses on it.
