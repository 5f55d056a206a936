#!/bin/sh
# SPDX-License-Identifier: MIT
# options.sh [OPTION...] — configures builds by several sets of options and looks at what would be
# built and packaged: poprt.pc of each, arguments of hot files with --buildtype=plain; builds a
# program that has this tree as a subproject. OPTIONs are for the builds that compile. Ends with the
# line "N passed, N failed".
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$root/build/options
. "$root/tests/support/check.sh"
rm -rf "$work"
mkdir -p "$work"

# pc NAME REQUIRES LIBS OPTION...: the private lines of poprt.pc.
pc() {
    dir=$work/$1
    requires=$2
    libs=$3
    shift 3
    meson setup "$dir" "$root" -Dtests=false "$@" || return 1
    cat "$dir/pkgconfig/poprt.pc"
    grep -qx "Requires.private:$requires" "$dir/pkgconfig/poprt.pc" &&
        grep -qx "Libs.private:$libs -lm -pthread" "$dir/pkgconfig/poprt.pc"
}

# Every compilation in rooms where a run spends its time names a level of optimisation of its own.
plain() {
    meson setup "$work/plain" "$root" -Dtests=false --buildtype=plain || return 1
    python3 - "$work/plain/compile_commands.json" <<'END'
import json, sys
hot = ('lib/kern/', 'lib/par/pool.c', 'src/fast/', 'src/op/conv', 'src/op/matmul', 'src/op/scatter',
       'src/runtime/', 'src/api/session.c')
found, bad = 0, []
for entry in json.load(open(sys.argv[1])):
    source = entry['file'].replace('../', '')
    if any(part in source for part in hot):
        found += 1
        levels = [w for w in entry['command'].split() if w.startswith('-O')]
        if not levels or levels[-1] not in ('-O2', '-O3', '-Os'):
            bad.append((source, levels))
        if '/op/' in source and levels[-1:] == ['-Os']:
            bad.append((source, levels))
print(found, 'hot files,', bad)
sys.exit(1 if bad or found < 60 else 0)
END
}

# A tool without the readers of TensorFlow says so, and still converts ONNX.
without_tensorflow() {
    dir=$work/tensorflow
    meson setup "$dir" "$root" -Dtests=false -Dpython=disabled -Dtensorflow=disabled "$@" &&
        ninja -C "$dir" src/tools/poprt || return 1
    net=$root/tests/fixtures/tensorflow/net.pb
    for words in tf2onnx 'tf2onnx --list_ops' "-i $net tf2onnx" "-i $net --framework tensorflow"; do
        # shellcheck disable=SC2086
        ! "$dir/src/tools/poprt" $words >"$dir/out" 2>&1 &&
            grep 'cannot read TensorFlow models' "$dir/out" || return 1
    done
    "$dir/src/tools/poprt" -i "$root/tests/fixtures/digits/model.onnx" --show
}

subproject() {
    mkdir -p "$work/host/subprojects" && ln -sfn "$root" "$work/host/subprojects/libpoprt" || return 1
    cat >"$work/host/meson.build" <<'END'
project('host', 'c')
foreach static : [true, false]
    executable(static ? 'with_archive' : 'with_object', 'guest.c',
        dependencies: dependency('poprt', fallback: 'libpoprt', static: static))
endforeach
END
    cp "$root/tests/package/guest.c" "$work/host/"
    meson setup "$work/host/build" "$work/host" -Dlibpoprt:compiler=disabled \
        -Dlibpoprt:images=disabled -Dlibpoprt:kernels=avx2 -Dlibpoprt:domains=[] \
        -Dlibpoprt:optimization=1 "$@" &&
        ninja -C "$work/host/build" || return 1
    for program in with_archive with_object; do
        "$work/host/build/$program" "$root/tests/fixtures/popef/format_1.popef" || return 1
    done
    ! readelf -d "$work/host/build/with_archive" | grep -q 'NEEDED.*libpoprt' &&
        readelf -d "$work/host/build/with_object" | grep -q 'NEEDED.*libpoprt'
}

dl=
[ ! -e "$(cc -print-file-name=libdl.a)" ] && [ ! -e "$(cc -print-file-name=libdl.so)" ] || dl=' -ldl'
check "poprt.pc, everything" pc all ' libcjson zlib' "$dl"
check "poprt.pc without images" pc images ' libcjson zlib' "$dl" -Dimages=disabled
check "poprt.pc without zlib" pc zlib ' libcjson' "$dl" -Dzlib=disabled
check "poprt.pc without the compiler" pc run ' libcjson zlib' '' -Dcompiler=disabled
check "poprt.pc, run only, no images" pc small ' libcjson' '' -Dcompiler=disabled -Dimages=disabled
check "poprt.pc without YAML" pc yaml ' libcjson zlib' "$dl" -Dyaml=disabled
check "--buildtype=plain" plain
check "the tool without TensorFlow" without_tensorflow "$@"
check "a subproject of another build" subproject "$@"
finish
