#!/bin/sh
# SPDX-License-Identifier: MIT
# options.sh POPRT ROOT — values of options are checked before any work: exit code 2, the option's
# name, and what would be accepted. Work that fails ends with 1. Covers options.c,
# backend_options.c.
. "$2/tests/tools/expect.sh"

# refused PATTERN WORDS...: a usage error whose message has the pattern.
refused() {
    pattern=$1
    shift
    expect 2 "$@"
    has err "$pattern"
    [ -z "$(ls made 2>/dev/null)" ] || { echo "FAILED: poprt $* made files"; failed=1; }
}

convert="--input_model $digits --output_dir made"

# Numbers out of their range, and texts that are not numbers.
refused "batches_per_step: 'x' is not accepted; expected a whole number from 1$" \
    $convert --batches_per_step x
refused "batches_per_step: '0' is not accepted" $convert --batches_per_step 0
refused "batch_per_step: '1.5' is not accepted" $convert --batch_per_step 1.5
refused "available_memory_proportion: '1.5' is not accepted; expected a number above 0 to 1$" \
    $convert --available_memory_proportion 1.5
refused "available_memory_proportion: '0' is not" $convert --available_memory_proportion 0
refused "available_memory_proportion: 'nan' is not" $convert --available_memory_proportion nan
refused "batch_size: '0' is not" $convert --batch_size 0 --batch_axis 0
refused "batch_axis: '-1' is not" $convert --batch_size 1 --batch_axis -1
refused "convert_version: '29' is not accepted; expected a whole number from 0 to 28$" \
    $convert --convert_version 29
refused "convert_version: 'x' is not" $convert --convert_version x
refused "max_tensor_size: '-2' is not accepted; expected a whole number from -1$" \
    $convert --max_tensor_size -2
refused "num_io_tiles: 'many' is not" $convert --num_io_tiles many
refused "num_of_layers_keep_fp16: '-1' is not" $convert --num_of_layers_keep_fp16 -1

# Words.
refused "precision: 'fp9' is not accepted; expected one of fp32, fp16, " $convert --precision fp9
refused "target: 'gpu' is not accepted; expected one of cpu, ipu$" $convert --target gpu
refused "ipu_version: 'ipu3' is not" $convert --ipu_version ipu3
refused "framework: 'caffe' is not" $convert --framework caffe
refused "calibration_loss_type: 'l2' is not" $convert --calibration_loss_type l2
refused "logging_level: 'TRACE' is not" $convert --logging_level TRACE
refused "tune: 'quick' is not" $convert --tune quick

# Options of the backend.
refused "virtualGraphMode: 'Nonsense' is not accepted; expected one of Off, Manual, Auto, " \
    $convert --popart_options virtualGraphMode=Nonsense
refused "accumulationFactor: '-5' is not a number from 1 to " \
    $convert --popart_options virtualGraphMode=Auto accumulationFactor=-5
refused "enablePipelining: 'maybe' is not accepted; expected True or False$" \
    $convert --popart_options enablePipelining=maybe
refused "timeLimitScheduler: 'long' is not accepted; expected a number from 0$" \
    $convert --popart_options timeLimitScheduler=long
refused 'enablePipeline: .*nearest: enablePipelining' \
    $convert --popart_options enablePipeline=True
refused 'must have the form KEY=VALUE' $convert --popart_options enablePipelining
refused "num_ipus: '0' is not accepted" $convert --compiler_options num_ipus=0
refused "partials_type: 'double' is not accepted; expected one of half, float$" \
    $convert --compiler_options partials_type=double
refused 'custom_patterns: there is neither a pass' \
    $convert --compiler_options custom_patterns=NoSuch
refused "'maybe' is not accepted; expected NAME" \
    $convert --compiler_options custom_patterns=InPlace:maybe

# Passes and their options; options of compiling.
refused 'unknown pass' $convert --passes no_such_pass
refused 'unknown pass' $convert --skip_passes no_such_pass
refused 'unknown pass' $convert --disable_passes no_such_pass
refused 'max_tensor_size' \
    $convert --passes constant_folding --pass_options constant_folding.max_tensor_size=many
refused 'max_valid' $convert --pack_args max_valid=1
refused 'winograd' $convert --set winograd=huge
refused 'no_such' $convert --set no_such=1
refused 'KEY=VALUE' $convert --set winograd

# What passes read themselves.
refused 'fp8_params' $convert --precision fp8 --fp8_params F143,F144,0,0
refused 'expected before_TYPE' $convert --enable_insert_remap --remap_mode behind_matmul
refused 'modes are' $convert --serialize_matmul /12/Gemm=2/sideways
refused 'FACTOR' $convert --serialize_matmul /12/Gemm=x
refused 'is not a dimension' $convert --input_shape image=x,1,8,8
refused 'NAME=D0,D1' $convert --input_shape image
refused 'TYPE,\[D0,D1' $convert --apply_hcsr fp32

# The other commands.
expect 2 run "$digits" --set no_such=1
expect 2 run "$digits" --cpu sse2
expect 2 run "$digits" --threads many
expect 2 run "$digits" --dim batch
expect 2 run "$digits" --disable-passes no_such_pass
expect 2 bench "$digits" --set winograd=huge
expect 2 bench "$digits" --min-time soon
expect 2 inspect "$digits" --disable-passes no_such_pass
expect 2 test "$data" --cpu sse2
expect 2 test "$data" --rtol wide
expect 2 auto_sharding --input_model "$digits" --num_ipus one

# The list of options: every key with its default is accepted by --set, and is in the JSON.
expect 0 options --json
cp out options.json
has options.json '"key": *"winograd"'
has options.json '"words": *\[ *"off"\|^ *"off"'
expect 0 options
cp out options.md
has options.md '^- Accepted: `off`, `fast`, `full`\.$'
has options.md '^- Accepted: an integer from 0 to 28\.$'
has options.md '^- Accepted: a number above 0 to 1\.$'
has options.md '^- Accepted: JSON: `{"NAME": \[D0, D1, ...\], ...}`\.$'
set --
for key in $(sed -n 's/^## //p' options.md); do
    has options.json "\"$key\""
    initial=$(sed -n "/^## $key\$/,/^- Default/s/^- Default: \`\(.*\)\`\.\$/\1/p" options.md)
    set -- "$@" --set "$key=$initial"
done
[ $# -gt 100 ] || { echo "FAILED: $# words of options"; failed=1; }
expect 0 run "$digits" --dim batch=1 "$@"

# A row of the command line takes its values, its default and its help from the option.
expect 0 --help
tr -s ' \n' ' ' <out >help
for phrase in 'with --calibration_with_data, loss to minimise;' 'one of cpu, ipu; default: cpu)' \
    '(a whole number from 0 to 28; default: 11, or the next opset' '(a number above 0 to 1)' \
    'number of layers with the largest loss'; do
    has help "$phrase"
done
refused "num_of_layers_keep_fp16: '2147483648' is not accepted; expected a whole number from 0 " \
    $convert --num_of_layers_keep_fp16 2147483648
refused "quantize_loss_type: 'l2' is not accepted; expected one of mse, mae" \
    $convert --quantize_loss_type l2

# Work that fails.
expect 1 --input_model nothing.onnx
expect 1 --input_model "$0"
expect 1 run nothing.onnx
expect 1 --input_model "$digits" --output_dir made --passes merge_matmul \
    --merge_matmul nothing,at_all
exit $failed
