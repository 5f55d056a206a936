#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh — installs what the tests need (Debian), builds, and runs them all: unit tests as released
# and under the sanitizers, ONNX's own cases directly and through PopEF. The small build has no AMX
# kernels and links no_amx.c. Ends with the line "N passed, N failed".
cd "$(dirname "$0")/.." || exit 1
. tests/support/need.sh
# Debian's programs come first: the packages below are for them, and for its Python.
PATH=/usr/bin:$PATH
export PATH
need gcc g++ libc6-dev binutils meson ninja-build pkg-config libcjson-dev libnanopb-dev \
    libyaml-dev zlib1g-dev libjpeg62-turbo-dev libopenjp2-7-dev libpng-dev libwebp-dev check \
    libonnx-testdata cmake python3 python3-onnx clang-format-14 abigail-tools mandoc \
    golang-go luajit gfortran python3-dev python3-numpy python3-mesonpy python3-pip python3-venv \
    patchelf || exit 1

. tests/support/cases.sh

onnx=/usr/share/libonnx-testdata/data

# build DIR TARGETS OPTION...: sets up where needed; a build that fails counts as a failure. TARGETS
# are separated by blanks.
build() {
    dir=$1
    targets=$2
    shift 2
    if { [ -f "$dir/build.ninja" ] || meson setup "$dir" "$@"; } && ninja -C "$dir" $targets; then
        return 0
    fi
    count 0 1 "build of $dir"
    return 1
}

# unit DIR FACTOR [NAME...]: the unit tests of a build, all or some, with more time for slow ones.
unit() {
    dir=$1
    factor=$2
    shift 2
    meson test -C "$dir" --print-errorlogs --timeout-multiplier "$factor" "$@" >"$dir/unit.txt" 2>&1
    status=$?
    set -- "$dir"
    grep -v ' OK ' "$1/unit.txt"
    ok=$(awk '/^Ok:/ { print $2 }' "$1/unit.txt")
    bad=$(awk '/^(Fail|Timeout|Unexpected Pass):/ { n += $NF } END { print n + 0 }' "$1/unit.txt")
    [ "$status" -eq 0 ] || [ "$bad" -gt 0 ] || bad=1
    count "${ok:-0}" "$bad" "unit tests in $1"
}

# within DIR: the stripped shared object of a build has no more bytes than its line in sizes.txt says,
# 3 % above what was recorded, and never more than its limit.
within() {
    strip -o "$1/stripped.so" "$1"/src/api/libpoprt.so.1.0.0
    bytes=$(wc -c <"$1/stripped.so")
    if verdict=$(awk -v build="$1" -v bytes="$bytes" '
        $1 == build {
            found = 1
            printf "%d bytes; %d recorded, %d the limit", bytes, $2, $3
            bad = bytes > $3 || bytes > 1.03 * $2
        }
        END { if (!found) printf "no line"; exit bad || !found }' tests/sizes.txt); then
        count 1 0 "library of $1: $verdict"
    else
        count 0 1 "library of $1 and tests/sizes.txt: $verdict"
    fi
}

# script NAME COMMAND...: a script of tests that ends with "N passed, N failed".
script() {
    name=$1
    shift
    "$@" >build/script.txt 2>&1
    status=$?
    cat build/script.txt
    ok=$(awk '/^[0-9]+ passed, [0-9]+ failed$/ { print $1 }' build/script.txt | tail -1)
    bad=$(awk '/^[0-9]+ passed, [0-9]+ failed$/ { print $3 }' build/script.txt | tail -1)
    [ "$status" -eq 0 ] || [ "${bad:-0}" -gt 0 ] || bad=1
    count "${ok:-0}" "${bad:-0}" "$name"
}

if build build/release all --werror; then
    unit build/release 2
    within build/release
    script "the installed package" sh tests/package/package.sh build/release
    cases debian "ONNX's cases" "$onnx"
    cases debian "ONNX's cases through PopEF" --via-popef "$onnx"
    for level in reference portable avx2; do
        cases debian "ONNX's cases, $level" --cpu "$level" "$onnx"
    done
    cases debian "ONNX's cases through each pass" --each-pass "$onnx"
    cases data "models of tests/fixtures" tests/fixtures
    cases data "models of tests/fixtures through each pass" --each-pass tests/fixtures
fi
# 300 programs with all of libpoprt in each: lines are enough for a trace, and gold links them in half
# the time.
gold=
! command -v ld.gold >/dev/null || gold=-Dc_link_args=-fuse-ld=gold
# Kernels that this processor cannot run are not compiled (amx: what calls them is).
kernels=
grep -qw avx512f /proc/cpuinfo || kernels=-Dkernels=portable,avx2,strided,line,amx
if build build/sanitize all $kernels -Db_sanitize=address,undefined -Db_lundef=false \
    -Doptimization=1 -Ddebug=true -Dinvariants=true -Dc_args=-g1 $gold; then
    UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 unit build/sanitize 4
fi
# Data races: the tests that use threads, under the thread sanitizer.
programs="tests/par_test_pool tests/par_test_queue tests/runtime_test_session tests/api/test_api_stepio
    tests/api/test_api_threads tests/api/test_api_log tests/api/test_api_inspect
    tests/runner/test_runner_requests tests/runner/test_runner_kinds tests/runner/test_runner_load
    tests/runner/test_runner_pack"
if build build/thread "$programs" $kernels -Db_sanitize=thread -Db_lundef=false -Doptimization=1 \
    -Ddebug=true -Dc_args=-g1 $gold; then
    TSAN_OPTIONS=halt_on_error=1 unit build/thread 4 --no-rebuild par/pool \
        par/queue runtime/session api/stepio api/threads api/log api/inspect runner/requests \
        runner/kinds runner/load runner/pack
fi
# Kernels of AVX-512 and AMX, whatever the processor: what tests them is built and no more. Two that
# take long are left to `meson test -C build/emulate`.
if build build/emulate src/tools/poprt --werror -Demulate=true; then
    unit build/emulate 4 $(meson test -C build/emulate --list | sed 's,.* / ,,' |
        grep -E '^(kern|fast)/' | grep -vE '/(elementwise|nhwc_moves)$')
    tool=build/emulate/src/tools/poprt
    for level in avx512 avx512_vnni avx512_bf16 avx512_amx; do
        cases debian "ONNX's cases, $level emulated" --cpu "$level" "$onnx"
    done
    tool=
fi
if build build/run_only all $kernels -Dcompiler=disabled -Dimages=disabled -Doptimization=0; then
    unit build/run_only 2
fi
if build build/run_small all --werror -Dcompiler=disabled -Dimages=disabled -Ddomains=[] \
    -Drunners=disabled -Dkernels=avx2,avx512; then
    unit build/run_small 2
    within build/run_small
    script "the installed package, run only" sh tests/package/package.sh build/run_small
fi
if command -v clang >/dev/null && CC=clang build build/clang all --werror -Dtests=false; then
    count 1 0 "build with clang, warnings as errors"
fi
script "sets of options" sh tests/package/options.sh
script "the Python wheel" sh tests/package/wheel.sh
script "musl" sh tests/musl.sh
if [ -x build/release/src/tools/poprt ]; then
    script "the newest ONNX" sh tests/newest.sh
    script "files judged by others" sh tests/judge.sh
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
