#!/bin/sh
# SPDX-License-Identifier: MIT
# popef.sh POPRT MODEL OUTPUT — compiles a model to one PopEF file.
dir=$(mktemp -d) || exit 1
"$1" --input_model "$2" --export_popef --output_dir "$dir" --output_model model.onnx &&
    mv "$dir/executable.popef" "$3"
status=$?
rm -rf "$dir"
exit $status
