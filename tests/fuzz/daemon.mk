# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Fuzz targets of the daemon part, and the replay of their corpora.
