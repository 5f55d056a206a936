#!/bin/sh
# SPDX-License-Identifier: MIT
# sizes.sh ROOT — no source file over 600 lines (900 for tables; made ones are free), no line over 100 columns, no function
# of 100 lines, the licence in the first line. Ends with 1 and what is too long.
cd "$1" || exit 2
export LC_ALL=C.UTF-8
sources() {
    find include lib src tests bench '(' -name '*.[ch]' -o -name '*.def' -o -name '*.inl' ')' -exec "$@" {} +
}
bad=$(
    sources wc -lL | awk '
        $3 == "total" { next }
        $3 !~ /builder_ops_[a-z]*[.]h$/ && $1 > ($3 ~ /[.]def$/ ? 900 : 600) { print $3 ": " $1 " lines" }
        $2 > 100 { print $3 ": a line of " $2 " columns" }'
    find lib src -name '*.[ch]' -exec awk '
        /^{/ { begin = FNR }
        /^}/ {
            if (begin && FNR - begin >= 100) print FILENAME ": a function of " FNR - begin " lines"
            begin = 0
        }' {} +
    sources awk 'FNR == 1 && !/SPDX-License-Identifier: MIT/ { print FILENAME ": no licence" }'
)
[ -z "$bad" ] || { echo "$bad"; exit 1; }
