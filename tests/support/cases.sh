# SPDX-License-Identifier: MIT
# cases.sh — to be sourced at the root: cases for `poprt test`, counted against the floors of
# tests/conformance.floor and the known failures of tests/conformance.md.
passed=0
failed=0

# count PASSED FAILED WHAT
count() {
    passed=$((passed + $1))
    failed=$((failed + $2))
    echo "== $3: $1 passed, $2 failed"
}

floor_of() {
    if [ "$1" = data ]; then
        find tests/fixtures -name model.onnx | wc -l
    else
        awk -v name="$1" '$1 == name { print $2 }' tests/conformance.floor
    fi
}

# Whether case $2 may fail in set $1: rows "| case | sets | why |".
is_known() {
    awk -F ' *[|] *' -v set="$1" -v name="$2" '
        $2 == "`" name "`" && index(" " $3 ",", " " set ",") != 0 { found = 1 }
        END { exit !found }' tests/conformance.md
}

# cases SET NAME POPRT-TEST-WORDS...: as many as the set's floor says have to pass, and what fails
# has to be known. By $tool, or the one of build/release.
cases() {
    set_name=$1
    name=$2
    shift 2
    "${tool:-build/release/src/tools/poprt}" test "$@" >build/cases.txt 2>&1
    good=$(awk '/ passed, [0-9]+ failed/ { print $1 }' build/cases.txt)
    good=${good:-0}
    bad=0
    for case in $(sed -n 's/^FAILED \([^ ]*\):.*/\1/p' build/cases.txt); do
        if ! is_known "$set_name" "${case##*/}"; then
            bad=$((bad + 1))
            grep -F "FAILED $case:" build/cases.txt | cut -c1-300
        fi
    done
    floor=$(floor_of "$set_name")
    short=$((floor - good))
    [ "$bad" -ge "$short" ] || bad=$short
    echo "$name: $(tail -1 build/cases.txt); at least $floor have to pass"
    count "$good" "$bad" "$name"
}
