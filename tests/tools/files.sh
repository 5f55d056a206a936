#!/bin/sh
# SPDX-License-Identifier: MIT
# files.sh POPRT ROOT — files of `poprt run`: a name of their own for each output and input; links to
# external data; and --timeout (deadline.c).
. "$2/tests/tools/expect.sh"
models=$2/tests/tools/data

# same A B, differ A B: files by their bytes.
same() {
    cmp -s "$1" "$2" || { echo "FAILED: $1 and $2 differ"; failed=1; }
}
differ() {
    cmp -s "$1" "$2" && { echo "FAILED: $1 and $2 are the same"; failed=1; }
}

expect 0 run "$models/outputs.onnx" --output-dir written --seed 5
there written/a_b.npy written/a_b_2.npy written/a_b_3.npy written/s_0.npy written/s_1.npy
[ "$(ls written | wc -l)" -eq 5 ] || { echo "FAILED: $(ls written)"; failed=1; }
differ written/a_b.npy written/a_b_2.npy
differ written/a_b.npy written/a_b_3.npy
differ written/s_0.npy written/s_1.npy
same written/a_b_3.npy written/s_0.npy # both are input in_a

# Inputs by the same rule: in_a.npy is in_a, and in_a_2.npy is in/a.
mkdir in
cp written/s_1.npy in/in_a.npy
cp written/s_0.npy in/in_a_2.npy
expect 0 run "$models/outputs.onnx" --input-dir in --output-dir again
same again/a_b_3.npy in/in_a.npy
grep -q random err && { echo "FAILED: an input of the folder was not read"; failed=1; }

# The bytes of a session are told for fixed shapes, and for open ones where --dim gives them all.
expect 0 -i "$digits" --input_shape image=2,1,8,8 --output_dir fixed --export_popef
expect 0 inspect fixed/executable.popef
has out '^session bytes *[1-9]'
expect 0 inspect fixed/executable.popef --json
has out '"session_bytes": *[1-9]'
expect 0 inspect "$digits"
grep -q 'session bytes' out && { echo "FAILED: bytes of a session of open shapes"; failed=1; }
bytes() { awk -v label="$1" '$0 ~ "^" label { gsub(",", "", $3); print $3 }' out; }
expect 0 inspect "$digits" --dim batch=2
has out '^scratch bytes *[1-9]'
has out '^output bytes *[1-9]'
two=$(bytes 'session bytes')
expect 0 inspect fixed/executable.popef
[ "$(bytes 'session bytes')" = "$two" ] || { echo "FAILED: --dim and a fixed shape differ"; failed=1; }
expect 0 inspect "$digits" --dim batch=2 --threads 2
[ "$(bytes 'scratch bytes')" -gt 0 ] || { echo "FAILED: no scratch for two threads"; failed=1; }
expect 0 inspect "$digits" --dim batch=2 --json
has out '"output_bytes": *[1-9]'
expect 0 -i "$digits" --output_dir open --export_popef
expect 0 inspect open/executable.popef --dim batch=300
[ "$(bytes 'session bytes')" -gt "$two" ] || { echo "FAILED: batch=300 is no larger"; failed=1; }
expect 1 inspect open/executable.popef --dim rows=3
has err 'rows.*no symbolic dimension'
expect 1 inspect "$digits" --dim rows=3
has err 'rows.*no symbolic dimension'
expect 2 inspect "$digits" --dim batch
has err "--dim: 'batch' must have the form NAME=N"
expect 2 inspect "$digits" --dim batch=-1
expect 2 inspect "$digits" --dim batch=1 --text
has err '--dim and --threads are only for'
expect 2 inspect --ops --threads 2

# A turn of the loop takes a microsecond, all of them longer than anybody waits.
start=$(date +%s)
expect 1 run "$models/endless.onnx" --timeout 0.3
has err 'POPRT_E_CANCELLED.*--timeout: stopped after 0.3 seconds'
[ $(($(date +%s) - start)) -lt 60 ] || { echo "FAILED: --timeout took too long"; failed=1; }
expect 0 run "$models/outputs.onnx" --timeout 600
expect 1 run "$digits" --dim batch=1 --iterations 1000000000 --timeout 0.3
has err 'stopped after 0.3 seconds'
expect 2 run "$models/endless.onnx" --timeout x
has err "--timeout: 'x' is not accepted; expected a number from 0$"
expect 2 run "$models/endless.onnx" --timeout -1
# Hugging Face's cache: model and weights are links to files called by their hashes.
mkdir -p models--x/blobs models--x/snapshots/abc
cp "$models/external.onnx" models--x/blobs/aaa
cp "$models/external.onnx_data" models--x/blobs/bbb
ln -s ../../blobs/aaa models--x/snapshots/abc/model.onnx
ln -s ../../blobs/bbb models--x/snapshots/abc/external.onnx_data
expect 0 run models--x/snapshots/abc/model.onnx
has out '0.5 1.5'
expect 0 -i models--x/snapshots/abc --output_dir converted
ln -sf /etc/passwd models--x/snapshots/abc/external.onnx_data
expect 1 run models--x/snapshots/abc/model.onnx
has err 'external.onnx_data: a symbolic link leaves\|w: a symbolic link leaves'
ln -sf ../../../other models--x/snapshots/abc/external.onnx_data
cp "$models/external.onnx_data" other
expect 1 run models--x/snapshots/abc/model.onnx
exit $failed
