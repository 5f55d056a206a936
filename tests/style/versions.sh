#!/bin/sh
# SPDX-License-Identifier: MIT
# versions.sh LIBRARY TOOL — what the shared object and the tool ask of the system that runs them: no
# symbol version above glibc 2.34, no DT_RELR (glibc 2.36); and tables by which debuggers, profilers
# and C++ hosts unwind through functions of ours.
bad=0
if ldd --version 2>&1 | awk 'NR == 1 { split($NF, v, "."); exit !(v[1] == 2 && v[2] <= 36) }'; then
    for file in "$@"; do
        versions=$(objdump -T "$file" | grep -o 'GLIBC_[0-9A-Za-z_.]*' | sort -u)
        [ -n "$versions" ] || { echo "$file: no versions were read"; bad=1; }
        for version in $versions; do
            printf '%s\n' "$version" GLIBC_2.34 | sort -V | tail -1 | grep -qx GLIBC_2.34 ||
                { echo "$file needs $version"; bad=1; }
        done
    done
else
    echo "not built against Debian 12's glibc: versions are not compared"
fi
for file in "$@"; do
    readelf -d "$file" | grep -q RELR && { echo "$file: packed relocations"; bad=1; }
    # As many ranges of code as functions that are not merged: thousands; start-up files have a few.
    ranges=$(readelf --debug-dump=frames "$file" 2>/dev/null | grep -c ' FDE ')
    [ "$ranges" -gt 1000 ] || { echo "$file: unwind tables of $ranges functions"; bad=1; }
done
exit $bad
