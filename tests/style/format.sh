#!/bin/sh
# SPDX-License-Identifier: MIT
# format.sh ROOT — every .c and .h is formatted as .clang-format says, by clang-format 14 (other
# versions differ in details). The .inl files of lib/kern are lists of macros, which clang-format
# cannot lay out; the headers made by tests/builder/ops.py have its layout. Ends with 1 and the files that differ, with 77 where clang-format 14 is missing.
cd "$1" || exit 2
for tool in clang-format-14 clang-format; do
    case $($tool --version 2>/dev/null) in
    *'version 14.'*) break ;;
    esac
    tool=
done
[ -n "$tool" ] || { echo "clang-format 14 is missing (Debian: clang-format-14)"; exit 77; }
bad=$(find include lib src tests bench examples -name '*.[ch]' '!' -name 'builder_ops_*.h' 2>/dev/null | sort | xargs -P 4 -n 50 \
    $tool --dry-run 2>&1 | sed -n 's/^\([^:]*\):[0-9]*:.*clang-format-violations.*/\1/p' | sort -u)
[ -z "$bad" ] || { echo "differ from .clang-format; run clang-format-14 -i on:"; echo "$bad"; exit 1; }
