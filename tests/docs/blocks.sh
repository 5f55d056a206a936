#!/bin/sh
# SPDX-License-Identifier: MIT
# blocks.sh POPRT LIBDIR ROOT CC [PAGE...] — compiles or runs every fenced code block of the pages; by
# default README.md and the other pages of the root, and all below docs/. Ends with the line
# "N passed, N failed".
#
# What happens to a block depends on its language:
#
#   c       compiled with -Wall -Wextra -Werror against include/. A block that defines main is a whole
#           program. Any other block is the body of a function: its #include lines move to the top,
#           after <poprt/poprt.h> and the usual headers of C.
#   sh      run by `sh -eu` in a folder for the page, in which tests/, examples/, include/ and build/release/ are
#           those of the tree and `poprt`, `poprt_exec` and `pkg-config poprt` are the build's. The
#           blocks of a page run in order in the same folder.
#   python  compiled by py_compile.
#   yaml    saved by its name, and read by a later sh block of the page that mentions this name.
#   json    parsed.
#   text, cmake, meson
#           not checked.
#
# Any other language, and a block without one, is a failure. A comment of HTML on a line of its own
# before the fence changes that:
#
#   <!-- context: PARAMETERS -->   the parameters of the function around a fragment of C
#   <!-- file scope -->            the fragment holds functions and is compiled as it is
#   <!-- file: NAME -->            the block is also saved under this name in the page's folder
#   <!-- not run: REASON -->       an sh block is only parsed (`sh -n`); a yaml block is not read
poprt=$(cd "$(dirname "$1")" && pwd)/$(basename "$1") || exit 2
libdir=$(cd "$2" && pwd) || exit 2
root=$(cd "$3" && pwd) || exit 2
cc=$4
shift 4
here=$root/tests/docs
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
. "$root/tests/support/check.sh"

mkdir "$work/bin" "$work/blocks" "$work/pages"
ln -s "$poprt" "$work/bin/poprt"
ln -s "$poprt" "$work/bin/poprt_exec"
build=$(cd "$libdir/../.." && pwd) || exit 2
cat >"$work/poprt.pc" <<END
Name: poprt
Description: the library of this build
Version: 1.0.0
Cflags: -I$root/include
Libs: -L$libdir -lpoprt -Wl,-rpath,$libdir
END
export PKG_CONFIG_PATH="$work"
export PATH="$work/bin:$PATH"
export HOME="$work"

if [ $# -eq 0 ]; then
    set -- $(cd "$root" && ls *.md && find docs -name '*.md' | LC_ALL=C sort)
fi
(cd "$root" && awk -v out="$work/blocks" -f "$here/blocks.awk" "$@") >"$work/index" || exit 2

# c_source BLOCK WHERE LINE CONTEXT SCOPE: a translation unit that holds the block.
c_source() {
    if grep -q '\<main(' "$1"; then
        echo "#line $(($3 + 1)) \"$2\""
        cat "$1"
        return
    fi
    printf '#include <%s>\n' inttypes.h math.h stdbool.h stdio.h stdlib.h string.h poprt/poprt.h
    grep '^#include' "$1"
    if [ "$5" != file ]; then
        [ "$4" != - ] && parameters=$4 || parameters=void
        echo "void fragment($parameters);"
        echo "void fragment($parameters)"
        echo '{'
    fi
    echo "#line $(($3 + 1)) \"$2\""
    sed 's/^#include.*//' "$1"
    [ "$5" = file ] || echo '}'
}

compiled() {
    c_source "$@" >"$work/block.c"
    # CC may be several words, such as "ccache cc".
    $cc -std=c11 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Werror -Wno-unused -fsyntax-only \
        -I"$root/include" "$work/block.c"
}

run() {
    (cd "$folder" && sh -eu "$1" </dev/null)
}

# read_later BLOCK PAGE NAME: a later sh block of the page mentions the file.
read_later() {
    awk -F '\t' -v page="$2" -v block="$1" '
        $1 == block { later = 1; next }
        later && $2 == page && $4 == "sh" && $7 == "-" { print $1 }' "$work/index" |
        xargs grep -qF -e "$3" /dev/null || { echo "no later sh block of the page reads $3"; return 1; }
}

refused() {
    echo "$1"
    return 1
}

page_before=
tab=$(printf '\t')
while IFS=$tab read -r block page line language context name reason scope <&3; do
    if [ "$page" != "$page_before" ]; then
        folder=$work/pages/$(echo "$page" | tr / _)
        mkdir -p "$folder/build"
        ln -s "$root/tests" "$root/examples" "$root/include" "$folder/"
        ln -s "$build" "$folder/build/release"
        page_before=$page
    fi
    [ "$name" = - ] || cp "$block" "$folder/$name"
    where="$page:$line ($language)"
    case $language in
    c) check "$where" compiled "$block" "$page" "$line" "$context" "$scope" ;;
    sh)
        if [ "$reason" = - ]; then
            check "$where" run "$block"
        else
            check "$where" sh -n "$block"
        fi
        ;;
    python)
        cp "$block" "$work/block.py"
        check "$where" python3 -m py_compile "$work/block.py"
        ;;
    json) check "$where" python3 -m json.tool "$block" ;;
    yaml)
        [ "$reason" = - ] || continue
        check "$where" read_later "$block" "$page" "$name"
        ;;
    text | cmake | meson) ;;
    unclosed) check "$page:$line" refused "the block has no end" ;;
    *) check "$where" refused "expected c, sh, python, yaml, json, cmake, meson or text" ;;
    esac
done 3<"$work/index"
[ $((passed + failed)) -gt 0 ] || check "$*" refused "there are no blocks"
finish
