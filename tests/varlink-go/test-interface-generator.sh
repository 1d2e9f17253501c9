#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Go's generator takes our interface descriptions, and the code that it makes of them compiles.
#
# But for one thing: Varlink has capitals in interface names (as in io.systemd.Resolve), while this
# library's parser (0.4.0) knows lower case alone. So it gets the name in that.
set -eu

IBSM_SRCDIR=${IBSM_SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/varlink-go/lib.sh
. "$IBSM_SRCDIR/tests/varlink-go/lib.sh"
varlink_go_require

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' INT TERM

varlink_go_build "$dir/generator" "$VARLINK_GO/cmd/varlink-go-interface-generator"
for description in daemon/io.ibsm.Monitor.varlink \
	tests/varlink-go/org.varlink.certification.varlink; do
	name=$(basename "$description" .varlink)
	package=$(printf '%s' "$name" | tr -d . | tr '[:upper:]' '[:lower:]')
	mkdir -p "$dir/src/$package"
	sed '/^interface /s/.*/\L&/' "$IBSM_SRCDIR/$description" >"$dir/src/$package/$name.varlink"
	"$dir/generator" "$dir/src/$package/$name.varlink"
	varlink_go_build "$dir/$package.a" "$package" "$dir"
	echo "$description: fine"
done
