# SPDX-License-Identifier: MIT
# check.sh — to be sourced where $work is a folder: `check NAME COMMAND...` counts whether a command
# succeeds and shows the end of what it printed where it does not; `finish` prints the counts as
# "N passed, N failed" and exits.
passed=0
failed=0

check() {
    checked=$1
    shift
    if "$@" >"$work/check.txt" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED $checked:"
        tail -20 "$work/check.txt"
    fi
}

finish() {
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ]
    exit
}
