#!/bin/sh
# SPDX-License-Identifier: MIT
# named.sh ROOT — is every source named by a test? A test names a source NAME.c when it is called
# test_NAME.c or corpus/NAME.txt, or when the first 15 lines of the test name "NAME.c". Prints the
# sources that no test names, and ends with 1 if there are any.
cd "$1" || exit 2
find tests -name '*.[ch]' -o -name '*.sh' -o -name '*.py' \
    -o -path '*/corpus/*.txt' | xargs awk 'FNR <= 15' |
    grep -oE '[A-Za-z0-9_]+\.c\b' | sort -u >"${TMPDIR:-/tmp}/named.$$"
find tests -name 'test_*.c' | sed 's,.*/test_,,' >>"${TMPDIR:-/tmp}/named.$$"
find tests/corpus -name '*.txt' | sed 's,.*/,,; s,txt$,c,' >>"${TMPDIR:-/tmp}/named.$$"
bad=$(find lib src -name '*.c' | sort | while read -r source; do
    grep -qxF "${source##*/}" "${TMPDIR:-/tmp}/named.$$" || echo "$source"
done)
rm -f "${TMPDIR:-/tmp}/named.$$"
[ -z "$bad" ] || { echo "no test names these sources:"; echo "$bad"; exit 1; }
