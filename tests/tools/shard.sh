#!/bin/sh
# SPDX-License-Identifier: MIT
# shard.sh POPRT ROOT — shard.c, poprt auto_sharding: command lines, and models that stay what they
# are.
. "$2/tests/tools/expect.sh"

# same FILE FILE
same() {
    cmp -s "$1" "$2" && return 0
    echo "FAILED: $1 and $2 differ"
    failed=1
}

expect 0 --help
has out '^  poprt auto_sharding '
expect 0 auto_sharding --help
has out 'usage: poprt auto_sharding'
expect 2 auto_sharding
has err 'input_model is missing'
expect 2 auto_sharding --input_model "$digits"
has err 'num_ipus is missing'
expect 2 auto_sharding --input_model "$digits" --num_ipus 1
has err "--num_ipus: '1' is not accepted; expected a whole number from 2 to"
expect 2 auto_sharding --input_model "$digits" --num_ipus 2 --memory_per_ipu 0
expect 2 auto_sharding --input_model "$digits" --num_ipus 2 --num_processes 0
expect 1 auto_sharding --input_model nothing.onnx --num_ipus 2
expect 1 auto_sharding --input_model "$digits" --num_ipus 2
has err 'image: the input is f32\[batch,1,8,8\]: sizes must be numbers .* input_shape'
expect 1 inspect "$digits" --sharding
has err 'the node has no device'
expect 2 inspect "$digits" --sharding --json

# Every device runs, what is cut computes what the whole does, and points give the same file again.
# try MODEL DEVICES OPTIONS...
try() {
    model=$1
    n=$2
    shift 2
    expect 0 auto_sharding --input_model "$model" --num_ipus "$n" --output_yaml cut.yaml \
        --num_processes 4 "$@"
    [ -s err ] && { echo "FAILED: sharding $model says something:"; cat err; failed=1; }
    there "$model.auto_sharded.onnx" cut.yaml
    [ "$(grep -c '^device [0-9]*: [1-9][0-9]* nodes, ' out)" -eq "$n" ] ||
        { echo "FAILED: not $n devices:"; cat out; failed=1; }
    expect 0 -i "$model" --only_manual_sharding --manual_sharding_config cut.yaml \
        --output_model again.onnx
    same again.onnx "$model.auto_sharded.onnx"
    expect 0 inspect again.onnx --sharding
    same out cut.yaml
    expect 0 run "$model" --seed 5 --output-dir whole
    expect 0 run again.onnx --seed 5 --output-dir shards
    for f in whole/*.npy; do
        same "$f" "shards/${f##*/}"
    done
    rm -r whole shards again.onnx
}
expect 0 -i "$digits" --input_shape image=2,1,8,8 --convert_version 0 --output_model digits.onnx
expect 0 -i "$encoder" --input_shape tokens=2,16,8 mask=2,16 --convert_version 0 \
    --output_model encoder.onnx
for n in 2 4; do
    try digits.onnx $n
    try encoder.onnx $n
    try encoder.onnx $n --optimal_perf
done

# A device that is too small: as many as the weights need are proposed.
expect 1 auto_sharding --input_model digits.onnx --num_ipus 2 --memory_per_ipu 20
has err 'the node alone reads [0-9]* bytes of weights, and a device has 20'
expect 0 auto_sharding --input_model encoder.onnx --num_ipus 2 --output_model chosen.onnx
there chosen.onnx
need=$(sed -n 's/^device 0: .* nodes, \([0-9,]*\) bytes .*/\1/p' out | tr -d ,)
expect 1 auto_sharding --input_model encoder.onnx --num_ipus 2 --memory_per_ipu $((need / 2))
has err 'device [01] needs [0-9]* bytes .* and has [0-9]*: try [3-9] devices'

# Points name nodes without names, and mean the same ones when they are read; the file has no more
# names than before.
cp "$2/tests/fuzz/seeds/separable.onnx" unnamed.onnx
expect 0 auto_sharding --input_model unnamed.onnx --num_ipus 3 --output_yaml cut.yaml
has err 'WARNING .*nodes without a name of their own got one'
expect 0 -i unnamed.onnx --only_manual_sharding --manual_sharding_config cut.yaml \
    --output_model again.onnx --logging_level WARNING
has err 'WARNING .*nodes without a unique name get the names that auto_sharding uses'
same again.onnx unnamed.onnx.auto_sharded.onnx

# FLOPs of a model, of its operators and nodes.
"$poprt" inspect digits.onnx >shown 2>err
grep -q '^FLOPs  *[1-9][0-9,]*$' shown || { echo "FAILED: no FLOPs:"; cat shown; failed=1; }
expect 0 inspect digits.onnx --json
has out '"operator_flops": {'
has out '"flops": [1-9][0-9]*,'
has out '"flops_unknown_nodes": 0'
expect 0 inspect digits.onnx --dot
has out 'Conv.* FLOPs"'

[ "$failed" -eq 0 ] && echo "all shards behave"
exit "$failed"
