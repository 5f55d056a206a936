#!/bin/sh
# SPDX-License-Identifier: MIT
# coverage.sh [LEAST] — the share of lines of each source that the unit tests run, by gcovr (Debian:
# gcovr), in a build of its own: build/coverage. Ends with 1 and the sources below LEAST percent (80),
# and with the sources that no test names in its head (tests/named.sh). Takes half an hour.
cd "$(dirname "$0")/.." || exit 2
least=${1:-80}
. tests/support/need.sh
need gcovr || exit 1
[ -f build/coverage/build.ninja ] ||
    meson setup build/coverage -Db_coverage=true -Doptimization=1 -Ddebug=true -Dc_args=-g1 || exit 1
ninja -C build/coverage || exit 1
find build/coverage -name '*.gcda' -exec rm -f {} +
meson test -C build/coverage --timeout-multiplier 4 >build/coverage/unit.txt 2>&1
grep -E '^(Ok|Fail|Timeout):' build/coverage/unit.txt
gcovr -r . -f 'lib/.*' -f 'src/.*' --csv build/coverage/lines.csv build/coverage >/dev/null || exit 1
awk -F, -v least="$least" '
    NR == 1 { next }
    { lines += $2; covered += $3 }
    $2 > 0 && 100 * $3 / $2 < least { printf "%s: %d of %d lines\n", $1, $3, $2; bad++ }
    END {
        printf "%.1f %% of %d lines; %d sources below %d %%\n", 100 * covered / lines, lines, bad, least
        exit bad > 0
    }' build/coverage/lines.csv
