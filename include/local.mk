# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The contracts: headers that plugin, daemon and clients share.
