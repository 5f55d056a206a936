#!/bin/sh
# SPDX-License-Identifier: MIT
# large.sh POPRT ROOT — a model whose weights take 2.4 GB, more than one ONNX file can hold: the tool
# writes them to a file beside the model. large/model.onnx has three matrices of 14,200 x 14,200 floats
# in w.bin, which is made here as a sparse file. Skipped (77) where the disk has no room.
. "$2/tests/tools/expect.sh"

bytes=2419680000
free=$(df -P -k . | awk 'NR == 2 { print $4 }')
[ "$free" -gt 4000000 ] || { echo "skipped: $free KB are free, 4,000,000 are needed"; exit 77; }

cp "$2/tests/tools/large/model.onnx" . && truncate -s $bytes w.bin || exit 2
# One byte of each matrix differs from the others, so that they are not merged.
for offset in 7 1000000007 2000000007; do
    printf '\001' | dd of=w.bin bs=1 seek=$offset conv=notrunc status=none
done

expect 0 --input_model model.onnx --output_dir made --output_model big.onnx --convert_version 13
there made/big.onnx made/big.onnx.data
[ "$(wc -c <made/big.onnx)" -lt 10000 ] || { echo "FAILED: the model has weights"; failed=1; }
cmp w.bin made/big.onnx.data || failed=1
expect 0 inspect made/big.onnx
has out "MatMul *3"
rm -rf made

# A model that fits is written as one file.
expect 0 --input_model "$digits" --output_dir made --output_model small.onnx
there made/small.onnx
[ ! -e made/small.onnx.data ] || { echo "FAILED: a small model was split"; failed=1; }
exit $failed
