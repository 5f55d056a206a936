#!/bin/sh
# SPDX-License-Identifier: MIT
# digits.sh — the demonstration: installs what the build needs (Debian), builds, compiles the digits
# model to PopEF, and lets a small C program read real handwritten digits with it.
set -e
cd "$(dirname "$0")/.."
. tests/support/need.sh
need gcc libc6-dev meson ninja-build pkg-config libcjson-dev libnanopb-dev libyaml-dev

build=build/digits
[ -f $build/build.ninja ] || meson setup $build -Dtests=false
ninja -C $build

echo
echo "ONNX to PopEF:"
set -x
$build/src/tools/poprt --input_model tests/fixtures/digits/model.onnx --export_popef --output_dir $build
$build/src/tools/poprt inspect $build/executable.popef
cc -Iinclude examples/digits.c -o $build/example_digits \
    -L$build/src/api -lpoprt -lm -Wl,-rpath,"$PWD/$build/src/api"
$build/example_digits $build/executable.popef tests/fixtures/digits/images.npy \
    tests/fixtures/digits/labels.npy
