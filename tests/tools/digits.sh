#!/bin/sh
# SPDX-License-Identifier: MIT
# digits.sh POPRT EXAMPLE ROOT — the demonstration: ONNX to PopEF, then examples/digits.c
# reads handwritten digits with it.
set -e
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
"$1" --input_model "$3/tests/fixtures/digits/model.onnx" --export_popef --output_dir "$temp"
"$2" "$temp/executable.popef" "$3/tests/fixtures/digits/images.npy" "$3/tests/fixtures/digits/labels.npy" \
    >"$temp/out"
tail -1 "$temp/out"
grep -q '^35[0-9] of 360 held-back digits read right' "$temp/out"
