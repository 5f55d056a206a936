#!/bin/sh
# SPDX-License-Identifier: MIT
# sanitized.sh [BUILD] — runs the tests of the Python packages with the address and
# undefined-behaviour sanitizers. BUILD (build/sanitize) is made if there is no such folder; only the
# extension and the packages are built. Ends with 1 if a test fails or a sanitizer finds a fault.
set -e
cd "$(dirname "$0")/../.."
build=${1:-build/sanitize}
[ -e "$build/build.ninja" ] || meson setup "$build" -Db_sanitize=address,undefined \
    -Db_lundef=false -Doptimization=1 -Ddebug=true
ninja -C "$build" build.ninja # lists the targets of the present sources
# shellcheck disable=SC2046 # names of targets have no blanks
ninja -C "$build" src/python/poprt/_core.abi3.so \
    $(ninja -C "$build" -t targets all | sed -n 's/^\(src\/python\/.*\.pyi\{0,1\}\): .*/\1/p')
LD_PRELOAD=$(cc -print-file-name=libasan.so)
export LD_PRELOAD PYTHONMALLOC=malloc
export ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
PYTHONPATH="$(cd "$build" && pwd)/src/python" FIXTURES="$PWD/tests/fixtures"
export PYTHONPATH FIXTURES
result=0
for test in tests/python/test_*.py tests/python/stubs.py; do
    echo "$test"
    python3 "$test" || result=1
done
exit $result
