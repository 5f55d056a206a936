#!/bin/sh
# SPDX-License-Identifier: MIT
# static.sh NM OBJCOPY AR OUT DIR LINK... -- INPUT... — libpoprt.a: one object of all rooms and of the
# libraries that are part of it (nanopb; cJSON where it is built here), in which only poprt_* is
# global. A program that links it may have a nanopb or a cJSON of its own, of any version.
#
# The first INPUT is taken whole; from the others the linker takes the members that are needed.
# Sections stay apart, so that --gc-sections of the program's link still drops unused functions.
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
