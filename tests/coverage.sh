#!/bin/sh
# SPDX-License-Identifier: MIT
# coverage.sh [LEAST] — the share of lines of each source that the tests run, in a build of its own:
# build/coverage. Ends with 1 if a test fails, or if a source is below LEAST percent (80) and is not
# an exception of tests/coverage.py. The first run builds the library and its tests; a later one
# takes five minutes.
#
# Tests that end a child by _exit would lose its counters, so _exit is exit in this build.
cd "$(dirname "$0")/.." || exit 2
[ -f build/coverage/build.ninja ] ||
    meson setup build/coverage -Db_coverage=true -Doptimization=1 -Ddebug=true \
        "-Dc_args=-g1 -D_exit=exit" || exit 1
ninja -C build/coverage || exit 1
find build/coverage -name '*.gcda' -exec rm -f {} +
meson test -C build/coverage --no-rebuild --no-suite style \
    --timeout-multiplier 4 >build/coverage/unit.txt 2>&1
failed=$?
grep -E '^(Ok|Fail|Timeout):' build/coverage/unit.txt
python3 tests/coverage.py build/coverage "${1:-80}" && [ "$failed" -eq 0 ]
