#!/bin/sh
# SPDX-License-Identifier: MIT
# popef.sh POPRT MODEL OUTPUT [OPTION...] — compiles a model to one PopEF file.
dir=$(mktemp -d) || exit 1
poprt=$1
model=$2
output=$3
shift 3
"$poprt" --input_model "$model" --export_popef --output_dir "$dir" --output_model model.onnx "$@" &&
    mv "$dir/executable.popef" "$output"
status=$?
rm -rf "$dir"
exit $status
