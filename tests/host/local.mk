# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Tests that load the plugin as opensm does.
