#!/bin/sh
# SPDX-License-Identifier: MIT
# prose.sh ROOT [PATH...] — a meter of words that stand in the place of a noun: occurrences in
# 1000 words of comments, for each room or for the files below each PATH. Ends with 1 where the
# sources use "what" more than once in 1000 words, or the public headers more than once in 2000.
# It is a smoke alarm: a comment without these words may still be a riddle.
cd "$1" || exit 2
shift
export LC_ALL=C

# The words of all comments of the files on standard input, one a line, in lower case.
words() {
    xargs cat | tr '\n' '\001' | sed 's,/\*,\n&,g' | sed -n 's,^/\*\(.*\)\*/.*,\1,p' |
        tr '\001' '\n' | sed 's,^ *\*,,' | tr 'A-Z' 'a-z' | tr -cs "a-z'" '\n'
}

meter() { # NAME PATH...
    name=$1
    shift
    find "$@" -type f '(' -name '*.[ch]' -o -name '*.inl' -o -name '*.def' ')' | sort | words |
        awk -v name="$name" '
            /^$/ { next }
            { n++ }
            $1 == "what" { what++ }
            $1 == "those" { those++ }
            $1 == "none" { none++ }
            $1 == "nobody" || $1 == "whoever" || $1 == "whatever" { body++ }
            last == "is" && $1 == "no" { isno++ }
            { last = $1 }
            END {
                k = n ? 1000 / n : 0
                printf "%-22s %7d %6.2f %6.2f %6.2f %6.2f %6.2f\n", name, n, what * k, those * k,
                    none * k, body * k, isno * k
            }'
}

printf '%-22s %7s %6s %6s %6s %6s %6s\n' room words what those none nobody 'is no'
if [ $# -ne 0 ]; then
    for path; do meter "$path" "$path"; done
    exit 0
fi
for room in include lib/* src/* tests bench; do
    [ -d "$room" ] && meter "$room" "$room"
done
all=$(meter all include lib src tests bench)
echo "$all"
headers=$(meter include include)
echo "$all" | awk '$3 > 1.0 { print "too many \"what\" in comments: " $3 " in 1000 words, 1.0 is the limit"; exit 1 }' &&
    echo "$headers" | awk '$3 > 0.5 { print "too many \"what\" in public headers: " $3 " in 1000 words, 0.5 is the limit"; exit 1 }'
