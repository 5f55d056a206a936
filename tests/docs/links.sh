#!/bin/sh
# SPDX-License-Identifier: MIT
# links.sh ROOT [PAGE...] — every relative link of the pages leads to a file of the tree, and its
# "#part" to a heading there; by default README.md and the other pages of the root, and all below
# docs/. Ends with the line "N passed, N failed".
root=$(cd "$1" && pwd) || exit 2
shift
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
. "$root/tests/support/check.sh"
cd "$root" || exit 2
[ $# -gt 0 ] || set -- *.md $(find docs -name '*.md' | LC_ALL=C sort)

# links PAGE...: page, line and target of every link outside of code.
links() {
    awk '
        FNR == 1 { inside = 0 }
        /^ *```/ { inside = !inside; next }
        inside { next }
        {
            text = $0
            gsub(/`[^`]*`/, "", text)
            while (match(text, /\]\([^) ]+/)) {
                printf "%s\t%d\t%s\n", FILENAME, FNR, substr(text, RSTART + 2, RLENGTH - 2)
                text = substr(text, RSTART + RLENGTH)
            }
        }' "$@"
}

# anchors FILE: the name of each heading, as hosts of Markdown make it.
anchors() {
    awk '
        /^ *```/ { inside = !inside; next }
        inside || !/^#+ / { next }
        {
            text = tolower($0)
            sub(/^#+ +/, "", text)
            gsub(/[^a-z0-9 _-]/, "", text)
            gsub(/ /, "-", text)
            print text
        }' "$1"
}

resolves() {
    target=$2
    part=
    case $target in
    *'#'*) part=${target#*#} ;;
    esac
    file=${target%%#*}
    [ -n "$file" ] && file=$(dirname "$1")/$file || file=$1
    [ -e "$file" ] || { echo "there is no $file"; return 1; }
    [ -z "$part" ] || anchors "$file" | grep -qxF -e "$part" ||
        { echo "$file has no heading for #$part"; return 1; }
}

links "$@" >"$work/links"
tab=$(printf '\t')
while IFS=$tab read -r page line target <&3; do
    case $target in
    http://* | https://* | mailto:*) ;;
    /*) check "$page:$line" sh -c 'echo "an absolute link: $1"; exit 1' sh "$target" ;;
    *) check "$page:$line ($target)" resolves "$page" "$target" ;;
    esac
done 3<"$work/links"
finish
