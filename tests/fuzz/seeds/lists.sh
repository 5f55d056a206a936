#!/bin/sh
# SPDX-License-Identifier: MIT
# lists.sh OUT MODEL... — seeds of fuzz_convert: each model behind 64 digits that choose a list of
# passes. OUT is a directory, which gets a file for each model; with one model it may be a file.
out=$1
shift
[ $# -gt 0 ] || { echo "usage: $0 OUT MODEL..." >&2; exit 2; }
n=0
for model; do
    to=$out
    [ ! -d "$out" ] || to=$out/$n
    { { echo "$n" && cat "$model"; } | sha256sum | cut -c 1-64 | tr -d '\n' &&
        cat "$model"; } >"$to" || exit 1
    n=$((n + 1))
done
