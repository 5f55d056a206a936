#!/bin/sh
# SPDX-License-Identifier: MIT
# words.sh ROOT — no identifier of the sources has a private word of docs/internals/glossary.md as
# one of the words between its underscores. The names of tests (START_TEST) are sentences and are
# not checked; comments and texts are not either. Ends with 1 and the identifiers with their files.
cd "$1" || exit 2
export LC_ALL=C

# The private words: the first column of the table in the glossary.
private=$(awk -F '|' '
    /^## / { on = $0 == "## Private words" }
    on && $2 ~ /^ [a-z]/ && $2 != " private " { gsub(/[ ,]+/, " ", $2); printf "%s", $2 }
    ' docs/internals/glossary.md)
[ -n "$private" ] || { echo "the glossary lists no private words"; exit 1; }

# Identifiers that stay: extended regular expressions of whole identifiers.
allowed='
.*nhwc_spread.* # the operator NhwcSpread, which PopEF stores
(prt_pass_)?narrow_weights # a pass that users name
narrow_range # a field of the schema of TFLite
'

# All files go to one awk, which has to see the names of all tests.
set -- $(find include lib src tests -type f '(' -name '*.[ch]' -o -name '*.inl' -o -name '*.def' ')' |
    sort)
awk -v private="$private" -v allowed="$allowed" '
    BEGIN {
        n = split(private, w, " ")
        for (i = 1; i <= n; i++)
            is_private[w[i]] = 1
        n = split(allowed, line, "\n")
        for (i = 1; i <= n; i++) {
            sub(/ *#.*/, "", line[i])
            if (line[i] != "")
                regex = regex (regex == "" ? "" : "|") line[i]
        }
        regex = "^(" regex ")$"
    }
    FNR == 1 { in_comment = 0 }
    {
        text = $0
        if (text ~ /^START_TEST\(/) {
            name = substr(text, 12)
            sub(/\).*/, "", name)
            is_test[name] = 1
        }
        code = ""
        while (text != "") {
            if (in_comment) {
                at = index(text, "*/")
                if (at == 0)
                    break
                text = substr(text, at + 2)
                in_comment = 0
            } else if (match(text, /"([^"\\]|\\.)*"|\/\*|\/\/|\047([^\047\\]|\\.)+\047/)) {
                code = code " " substr(text, 1, RSTART - 1)
                token = substr(text, RSTART, RLENGTH)
                text = substr(text, RSTART + RLENGTH)
                if (token == "//")
                    text = ""
                in_comment = token == "/*"
            } else {
                code = code " " text
                text = ""
            }
        }
        n = split(code, id, /[^A-Za-z0-9_]+/)
        for (i = 1; i <= n; i++) {
            if (id[i] in fine || (FILENAME, id[i]) in told)
                continue
            m = split(tolower(id[i]), part, "_")
            for (k = 1; k <= m && !(part[k] in is_private); k++)
                ;
            if (k > m || id[i] ~ regex) {
                fine[id[i]] = 1
            } else {
                told[FILENAME, id[i]] = 1
                found[++n_found] = id[i]
                place[n_found] = FILENAME
            }
        }
    }
    END {
        for (i = 1; i <= n_found; i++)
            if (!(found[i] in is_test)) {
                print place[i] ": " found[i]
                bad = 1
            }
        exit bad
    }' "$@"
