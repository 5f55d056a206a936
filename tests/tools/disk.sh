#!/bin/sh
# SPDX-License-Identifier: MIT
# disk.sh POPRT ROOT — writers that the disk, a quota or a folder refuses: each ends with 1, and names
# the file and what the system said. `ulimit -f 0` stands for a full disk.
. "$2/tests/tools/expect.sh"
# full FILE CODE WORDS...: no file may have a byte; FILE is the one that is named, or -.
full() {
    name=$1
    want=$2
    shift 2
    # cat writes for it: what is redirected to a file would be cut as well.
    { { (ulimit -f 0; "$poprt" "$@"; echo "code $?" >&2) 2>&1 >&3 | cat >err; } 3>&1 | cat >out; }
    has err "^code $want\$"
    has err 'File too large'
    [ "$name" = - ] || has err "$name"
    [ -z "$(find . -name '.poprt-*')" ] || { echo "FAILED: poprt $* leaves a temporary"; failed=1; }
}

# closed FOLDER WORDS...: as full, in a folder where nobody can create a file.
closed() {
    folder=$1
    shift
    expect 1 "$@"
    has err "$folder"
    has err 'Permission denied\|Read-only file system\|No such file\|Not a directory\|not permitted'
}

expect 0 -i "$digits" --input_shape image=2,1,8,8 --output_dir good --export_popef
mkdir cut
full cut/model.onnx.optimized.onnx 1 -i "$digits" --output_dir cut
cp "$digits" cut/model.onnx
cp good/executable.popef cut/
full cut/out/logits.npy 1 run good/executable.popef --output-dir cut/out
full trace.json 1 run good/executable.popef --profile trace.json
# What is written first is what is named: the log of quantisation comes before the model.
mkdir samples cut/q && cp "$data/digits/images.npy" samples/image.npy
full cut/q/quantize.log 1 -i "$digits" --precision fp8 --calibration_with_data --data_preprocess \
    samples --output_dir cut/q
full tuned 0 bench "$digits" --dim batch=1 --min-time 0.01 --tune fast --tune-cache tuned

# What only prints needs no disk.
{ (ulimit -f 0; "$poprt" inspect good/executable.popef; echo "code $?" >&2) 2>&1 >/dev/null | cat >err; }
has err '^code 0$'

# What is printed has to arrive as well.
"$poprt" inspect --ops >/dev/full 2>err
[ $? -eq 1 ] || { echo "FAILED: --ops into a full device did not end with 1"; failed=1; }
has err 'cannot write standard output: No space left on device'
"$poprt" --help >/dev/full 2>err
[ $? -eq 1 ] || { echo "FAILED: --help into a full device did not end with 1"; failed=1; }

# A file in the place of a folder, and a folder of the kernel's, which root cannot write to either.
echo text >file
for folder in file/below /proc/sys; do
    closed $folder -i "$digits" --input_shape image=2,1,8,8 --output_dir good --export_popef \
        --compiler_options serialize_ir=True serialized_ir_dest=$folder/graphs.json
    closed $folder -i "$digits" --output_dir $folder
    closed $folder run good/executable.popef --output-dir $folder
    closed $folder run good/executable.popef --profile $folder/trace.json
    closed $folder auto_sharding --input_model good/model.onnx.optimized.onnx --num_ipus 2 \
        --output_yaml $folder/cut.yaml
done
exit $failed
