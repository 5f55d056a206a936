#!/bin/sh
# SPDX-License-Identifier: MIT
# man.sh POPRT BUILD ROOT — opt_man.c and docs/man: every command has a manual page with each option
# of its --help, libpoprt(3) has each header, function and status code, popef(5) has each kind of
# blob and each member of a written file, and groff or mandoc finds no fault in any page.
poprt=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
build=$2
root=$3
failed=0
temp=$(mktemp -d) || exit 2
trap 'rm -rf "$temp"' EXIT
cd "$temp" || exit 2

fail() {
    echo "FAILED: $*"
    failed=1
}

# plain PAGE: a page without the escapes of troff.
plain() {
    sed 's/\\fB//g; s/\\fR//g; s/\\fI//g; s/\\-/-/g; s/^\.B[RI]* *//; s/ (3)//; s/"//g' "$1"
}

# has PAGE COUNT WORD...: the page has each word, and these are at least COUNT.
has() {
    page=$1
    [ $(($# - 2)) -ge "$2" ] || fail "$(($# - 2)) words were found for $page, not $2"
    shift 2
    plain "$page" >plain
    for word in "$@"; do
        grep -qwF -e "$word" plain || fail "$page does not have $word"
    done
}

# page_of PAGE WORDS...: the page of `poprt WORDS` has the name and each option of its --help.
page_of() {
    page=$build/src/tools/$1
    shift
    [ -s "$page" ] || { fail "$page does not exist"; return; }
    "$poprt" "$@" --print_man | cmp -s - "$page" || fail "$page is stale"
    options=$("$poprt" "$@" --help | sed -n 's/^  \(-., \)*\(--[A-Za-z0-9_-]*\).*/\2/p')
    # shellcheck disable=SC2086
    has "$page" 1 $options
}

page_of poprt.1
page_of poprt_exec.1 poprt_exec
page_of poprt_exec-poprt_run_popef.1 poprt_exec poprt_run_popef
commands=$("$poprt" --help | sed -n '/^commands:/,/^Each/s/^  poprt \([a-z0-9_]*\).*/\1/p')
[ "$(echo "$commands" | wc -l)" -ge 7 ] || fail "--help lists $commands"
for command in $commands; do
    page_of "poprt-$command.1" "$command"
    has "$build/src/tools/poprt.1" 1 "poprt-$command"
done

library=$build/docs/man/libpoprt.3
if [ -e "$library" ]; then
    # shellcheck disable=SC2046
    has "$library" 90 $(sed -n 's/^ *\(poprt_[a-z0-9_]*\);.*/\1/p' "$root/src/api/poprt.map") \
        $(cd "$root/include" && echo poprt/*.h) \
        $(grep -o '^    POPRT_E_[A-Z_]*' "$root/include/poprt/base.h")
else
    echo "skipped: libpoprt.3 needs python3"
fi

format=$root/docs/man/popef.5
"$poprt" -i "$root/tests/fixtures/digits/model.onnx" --export_popef --output_dir . >log 2>&1 ||
    fail "no file was written: $(cat log)"
"$poprt" inspect executable.popef --blobs >blobs
# shellcheck disable=SC2046
has "$format" 25 $(awk 'NR > 1 { print $2, $3 }' blobs | sort -u) \
    $(grep -ao '"[A-Za-z]*":' executable.popef | tr -d '":' | sort -u) \
    $(sed -n 's/.*names\[\] = { "\(POPLAR.*\)",$/\1/p; s/^ *"\(DATA_FEED.*\)" };/\1/p' \
        "$root/src/tools/commands/blobs.c" | tr -d '",')

# The pages of the tool and of the library, and the page of the file format.
pages="$(find "$build/src/tools" "$build/docs/man" -name '*.[13]') $format"
if command -v mandoc >/dev/null; then
    # The pages have no date, so that a build can be reproduced.
    # shellcheck disable=SC2086
    mandoc -Tlint -W warning $pages 2>&1 | grep -v 'missing date' >faults
    [ ! -s faults ] || fail "mandoc: $(cat faults)"
elif command -v groff >/dev/null; then
    for page in $pages; do
        groff -t -man -Tutf8 -ww -z "$page" 2>faults || fail "groff cannot read $page"
        [ ! -s faults ] || fail "$page: $(cat faults)"
    done
else
    echo "skipped: neither mandoc nor groff is installed, pages are not checked for faults"
fi

[ "$failed" -eq 0 ] && echo "all manual pages are complete"
exit "$failed"
