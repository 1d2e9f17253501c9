#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The plugin exports osm_event_plugin alone and needs no symbol of opensm or of its libraries.
set -eu

plugin=$IBSM_BUILDDIR/plugin/.libs/libibsmplugin.so

for tool in nm readelf; do
	if ! command -v "$tool" >/dev/null; then
		echo "no $tool: install binutils"
		[ "${CI-}" != true ] || exit 1
		exit 77
	fi
done

exported=$(nm -D --defined-only "$plugin" | awk '{ print $NF }')
if [ "$exported" != osm_event_plugin ]; then
	echo "exports: $exported"
	exit 1
fi

needed=$(nm -D -u "$plugin" | awk '{ print $NF }' |
	grep -E '^(osm_|cl_|ib_|complib_|umad_|mad_)' || true)
if [ -n "$needed" ]; then
	echo "needs of opensm: $needed"
	exit 1
fi

libraries=$(readelf -d "$plugin" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
	grep -E 'opensm|osmcomp|osmvendor|umad' || true)
if [ -n "$libraries" ]; then
	echo "is linked with: $libraries"
	exit 1
fi

# opensm calls dlclose() after delete().
readelf -d "$plugin" | grep -q NODELETE || {
	echo "is not linked with -z nodelete"
	exit 1
}
