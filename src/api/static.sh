#!/bin/sh
# SPDX-License-Identifier: MIT
# static.sh NM OBJCOPY AR OUT DIR LINK... -- INPUT... — makes libpoprt.a: one object of all
# rooms and of the bundled libraries (nanopb; cJSON if it is built here), in which only poprt_* names
# are global. A program that links it may contain its own nanopb or cJSON, of any version.
#
# The first INPUT is linked completely; from the others the linker takes the members it needs.
# Sections stay separate, so --gc-sections in the link of a program still drops unused functions.
set -e
nm=$1 objcopy=$2 ar=$3 out=$4 dir=$5
shift 5
link=
while [ "$1" != -- ]; do
    link="$link $1"
    shift
done
shift
whole=$1
shift
mkdir -p "$dir"
object=$dir/poprt.o
$link -r -nostdlib -o "$object" -Wl,--whole-archive "$whole" -Wl,--no-whole-archive "$@"
"$objcopy" --wildcard --keep-global-symbol='poprt_*' "$object"
if "$nm" --extern-only --defined-only "$object" | awk '$3 !~ /^poprt_/ { print; bad = 1 } END { exit !bad }'
then
    echo "static.sh: these names are still global" >&2
    exit 1
fi
rm -f "$out"
"$ar" rcsD "$out" "$object"
