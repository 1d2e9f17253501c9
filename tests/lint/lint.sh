#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Checks how files are written, one kind of check a run: clang-format, clang-tidy, shellcheck, …
#
#	lint.sh CHECK [BUILDDIR]
#
# Exit 0: clean; 1: not; 77: the tool is not installed (with CI=true that is 1). clang-tidy needs a
# configured BUILDDIR, whose flags it takes.
set -u

cd "$(dirname "$0")/../.." || exit 1
CHECKS="spdx format whitespace shell python man tidy"

need() {
	command -v "$1" >/dev/null && return
	echo "lint: no $1: install it"
	[ "${CI-}" = true ] && exit 1
	exit 77
}

# files PATTERN…: those of the project, whether git knows them yet or there is no git at all.
files() {
	local pattern names=()
	for pattern; do
		names+=(-o -name "$pattern")
	done
	find . \( -name .git -o -path './build*' -o -path ./autom4te.cache -o -path ./m4 \
		-o -path './ibsm-*' \) -prune -o -type f \( "${names[@]:1}" \) -print | sort
}

scripts() {
	{
		files '*.sh'
		find scripts .ci -type f 2>/dev/null
	} | xargs grep -lE '^#!/bin/(ba)?sh|^# shellcheck shell=' | sort -u
}

lint_spdx() {
	local file bad=0
	while read -r file; do
		case $file in
		# A standard's own text, word for word.
		*/org.varlink.*.varlink) continue ;;
		esac
		if ! head -n 2 "$file" | grep -q 'SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause'; then
			echo "$file: no SPDX line at the top"
			bad=1
		fi
	done < <(files '*.[ch]' '*.sh' '*.py' '*.mk' '*.am' '*.ac' '*.varlink' '*.[1-8]' '*.service' \
		'*.socket' '*.go' '*.map'; scripts)
	return "$bad"
}

lint_format() {
	need clang-format
	files '*.[ch]' | xargs clang-format --dry-run --Werror
}

# What .editorconfig asks for, in the files that clang-format does not look at.
lint_whitespace() {
	local bad=0
	if files '*.sh' '*.py' '*.mk' '*.am' '*.ac' '*.md' '*.varlink' '*.[1-8]' | xargs grep -nE '[[:space:]]+$'; then
		echo 'blanks at the end of lines'
		bad=1
	fi
	if files '*.py' | xargs grep -n $'\t' || files '*.sh' | xargs grep -nE '^  +[^ ]'; then
		echo 'tabs in Python, or blanks in shell, as indentation'
		bad=1
	fi
	return "$bad"
}

lint_shell() {
	need shellcheck
	scripts | xargs shellcheck -x
}

lint_python() {
	need "${PYTHON:-python3}"
	files '*.py' | xargs "${PYTHON:-python3}" tests/lint/check-python.py
}

lint_man() {
	local pages
	need mandoc
	pages=$(find man -name '*.[1-8]')
	[ -n "$pages" ] || return 0
	# shellcheck disable=SC2086
	mandoc -Tlint -Wwarning $pages
}

lint_tidy() {
	local builddir=${1:?lint.sh tidy needs a build directory} srcdir=$PWD flags
	need clang-tidy
	make -s -C "$builddir" Makefile config.h >/dev/null || return 1
	flags=$(make -s --no-print-directory -C "$builddir" print-cppflags) || return 1
	cd "$builddir" || return 1
	# In tests the analyzer does not see that a failed assert_…() of cmocka's does not return.
	tidy_some ./tests '-clang-analyzer-*,-bugprone-too-small-loop-variable'
	local tests=$?
	tidy_some . '' -not -path './tests/*' && [ "$tests" -eq 0 ]
}

# tidy_some FOLDER CHECKS FIND-ARGUMENT…
tidy_some() {
	# Its count of suppressed warnings is no news.
	# shellcheck disable=SC2086
	(cd "$srcdir" && find "$1" -path './build*' -prune -o -name '*.c' "${@:3}" -print) |
		sort | sed "s|^\.|$srcdir|" |
		xargs -P "$(nproc)" -I FILE clang-tidy --quiet --checks="$2" FILE -- -std=gnu17 $flags \
			2> >(grep -vE '^[0-9]+ warnings?( and [0-9]+ errors?)? generated|^Suppressed|^Use -header' >&2)
}

check=${1-}
case " $CHECKS " in
*" $check "*) "lint_$check" "${@:2}" ;;
*)
	echo "usage: lint.sh CHECK [BUILDDIR], CHECK one of: $CHECKS" >&2
	exit 2
	;;
esac
