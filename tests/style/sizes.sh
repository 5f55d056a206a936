#!/bin/sh
# SPDX-License-Identifier: MIT
# sizes.sh ROOT — no source file over 600 lines (900 for tables), no line over 100 columns, the
# licence in the first line. Ends with 1 and what is too long.
cd "$1" || exit 2
export LC_ALL=C.UTF-8
bad=0
for f in $(find include lib src tests bench -name '*.[ch]' -o -name '*.def'); do
    most=600
    case $f in *.def) most=900 ;; esac
    lines=$(wc -l <"$f")
    [ "$lines" -le $most ] || { echo "$f: $lines lines"; bad=1; }
    columns=$(wc -L <"$f")
    [ "$columns" -le 100 ] || { echo "$f: a line of $columns columns"; bad=1; }
    head -1 "$f" | grep -q 'SPDX-License-Identifier: MIT' || { echo "$f: no licence"; bad=1; }
done
exit $bad
