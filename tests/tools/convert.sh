#!/bin/sh
# SPDX-License-Identifier: MIT
# convert.sh POPRT ROOT — the command line of the converter: published ones and every option. Covers
# convert.c, convert_config.c, convert_output.c, convert_yaml.c, backend.c, run_popef.c.
. "$2/tests/tools/expect.sh"

# node FILE OPERATOR COUNT: so many nodes of that kind.
node() {
    "$poprt" inspect "$1" >shown 2>err
    n=$(awk -v op="$2" '$1 == op { print $2 }' shown)
    [ "${n:-0}" -eq "$3" ] && return 0
    echo "FAILED: $1 has ${n:-0} $2, expected $3"
    failed=1
}

# Every pass of the reference, and nothing else.
expect 0 --list_all_passes
[ "$(wc -l <out)" -eq 107 ] || { echo "FAILED: $(wc -l <out) passes are listed, not 107"; failed=1; }
[ "$(sort -u out | wc -l)" -eq 107 ] || { echo "FAILED: a pass is listed twice"; failed=1; }

# Published command lines.
expect 0 --input_model "$digits" --show
has out '^Input image: dtype - float32, shape - \[0, 1, 8, 8\]$'
expect 0 --input_model "$digits" --show --input_shape image=4,1,8,8
has out '^Input image: dtype - float32, shape - \[4, 1, 8, 8\]$'
expect 0 --input_model "$digits" --show --batch_size 3 --batch_axis 0
has out '^Input image: dtype - float32, shape - \[3, 1, 8, 8\]$'
expect 0 --input_model "$encoder" --input_shape tokens=2,16,8 mask=2,16 --output_model fp16.onnx \
    --precision fp16 --run
has out '^Bs: 2$'
has out '^Latency: [0-9.]*ms$'
has out '^Tput: [0-9]*$'
there fp16.onnx
expect 0 --input_model fp16.onnx --show
has out '^Input tokens: dtype - float16, shape - \[2, 16, 8\]$'
has out '^Input mask: dtype - int32, shape - \[2, 16\]$'
expect 0 --input_model "$digits" --output_model fp8.onnx --input_shape image=1,1,8,8 --precision fp8 \
    --fp8_skip_op_names /0/Conv,/12/Gemm,Gather_7 --fp8_params F143,F143,-3,-3 --convert_version 11
node fp8.onnx ai.graphcore.FP8Conv 2
node fp8.onnx ai.graphcore.FP8MatMul 1
for scales in -1,-1 0,0 default; do
    params="--fp8_params F143,F143,$scales"
    [ $scales != default ] || params=
    # shellcheck disable=SC2086
    expect 0 --input_model "$digits" --output_model fp8_$scales.onnx --precision fp8 $params
done
cmp -s fp8_default.onnx fp8_-1,-1.onnx || { echo "FAILED: scales are not -1,-1 by default"; failed=1; }
! cmp -s fp8_default.onnx fp8_0,0.onnx || { echo "FAILED: --fp8_params does nothing"; failed=1; }
expect 0 --input_model "$encoder" --precision fp16 --disable_fast_norm --enable_insert_remap \
    --remap_mode after_matmul,before_add --max_tensor_size 6291456 --input_shape tokens=8,16,8 mask=8,16
expect 0 --input_model "$digits" --export_popef --output_dir model --num_io_tiles 128
there model/executable.popef
printf -- '- node: /3/Conv\n  device: 0\n  stage: 0\n- node: /9/Relu\n  device: 1\n  stage: 1\n' >shard.yaml
expect 0 --input_model "$digits" --manual_sharding_config shard.yaml --only_manual_sharding \
    --output_model sharded.onnx
there sharded.onnx
grep -q __ipu_number sharded.onnx || { echo "FAILED: no node is marked with its device"; failed=1; }
expect 0 --input_model "$digits" --export_popef --convert_version 11 --precision fp32 --output_dir d \
    --batches_per_step 1 --ipu_version ipu21 --popart_options rearrangeAnchorsOnHost=false \
    enablePrefetchDatastreams=false groupHostSync=false --input_shape image=1,1,8,8
there d/model.onnx.optimized.onnx d/executable.popef
expect 0 -i "$digits" --precision '' --output_dir d
qa=$data/qa/model.onnx
expect 0 --input_model "$qa" --precision fp16 --input_shape input_ids=2,16 attention_mask=2,16 \
    token_type_ids=2,16 position_ids=2,16 --passes insert_attention_mask --output_model masked.onnx
node masked.onnx ai.graphcore.AttentionMask 1
expect 0 --input_model "$qa" --precision fp16 --input_shape input_ids=2,16 attention_mask=2,16 \
    token_type_ids=2,16 position_ids=2,16 --passes insert_attention_mask --pack_args \
    max_valid_num=40 segment_max_size=16 \
    head_pattern='s:0->MatMul:1->Add:2->Split:3->Squeeze:4->e:5','Split:3->Squeeze:6->e:7' \
    'dynamic_groups=[[input_ids,]]' --output_model packed.onnx --run
has out '^Tput: '
node packed.onnx ai.graphcore.Repack 1
expect 0 -i packed.onnx --show
has out '^Input unpack_info: dtype - int32, shape - \[40, 1\]$'
has out '^Output end_logits: dtype - float16, shape - \[40, 16\]$'

# FP8 by samples.
mkdir samples && cp "$data/digits/images.npy" samples/image.npy
expect 0 -i "$digits" --precision fp8 --calibration_with_data --calibration_loss_type mse \
    --num_of_layers_keep_fp16 1 --data_preprocess samples --precision_compare \
    --output_dir calibrated --check --logging_level INFO
has err 'check_with_fake_data: logits: output logits is the same within'
there calibrated/quantize.log calibrated/precision_compare.log
node calibrated/model.onnx.optimized.onnx ai.graphcore.CastToUint8 4
has calibrated/quantize.log '^/0/Conv weight: chosen F143 '
has calibrated/quantize.log 'stays float16'
has calibrated/precision_compare.log '^/3/Conv: cos_dist 0.00'
expect 0 -i "$digits" --precision fp8_weight --quantize --quantize_loss_type gptq --data_preprocess \
    samples --output_dir calibrated
has calibrated/quantize.log '^/0/Conv weight: chosen F143 .* gptq '
for loss in mse gptq; do # the defaults
    precision=fp8
    [ $loss != gptq ] || precision=fp8_weight
    expect 0 -i "$digits" --precision $precision --calibration_with_data --data_preprocess samples \
        --output_dir calibrated
    has calibrated/quantize.log "^/0/Conv weight: chosen F143 .* $loss "
done
expect 2 -i "$digits" --precision fp8 --quantize --quantize_loss_type gptq --data_preprocess \
    samples --output_dir calibrated
has err 'gptq is for weights alone'
expect 2 -i "$digits" --precision fp8 --calibration_with_data
has err 'calibration needs samples'
expect 1 -i "$digits" --precision fp8 --calibration_with_data --data_preprocess \
    "$data/calibration/call.pickle"

# YAML: options by their names; the command line counts more.
cat >job.yaml <<END
input_model: $digits
input_shape: ['image=4,1,8,8']
output_dir: y
run: True
export_popef: False
END
expect 0 --config_yaml job.yaml
has out '^Bs: 4$'
there y/model.onnx.optimized.onnx
[ ! -e y/executable.popef ] || { echo "FAILED: export_popef: False exports"; failed=1; }
expect 0 --config_yaml job.yaml --input_shape image=2,1,8,8
has out '^Bs: 2$'
expect 1 --config_yaml nothing.yaml
echo 'input_modl: x' >wrong.yaml
expect 2 --config_yaml wrong.yaml
has err 'input_modl: line 1 of wrong.yaml: there is no option of this name'
echo 'run: maybe' >wrong.yaml
expect 2 --config_yaml wrong.yaml
has err 'expected True or False'
echo '{ [' >wrong.yaml
expect 2 --config_yaml wrong.yaml

# Options that stand alone.
# A conversion that changes results too far is refused, with the output and by how much.
expect 1 -i "$digits" --precision fp8 --fp8_params F143,F143,20,20 --check --output_dir far
has err 'output logits differs by [0-9.e+-]*; its largest element is'
[ ! -e far/model.onnx.optimized.onnx ] || { echo "FAILED: --check wrote a model"; failed=1; }
expect 0 -i "$digits" --output_dir o --checkpoints /5/Relu_output_0
expect 0 -i o/model.onnx.optimized.onnx --show
has out '^Output /5/Relu_output_0: '
expect 1 -i "$digits" --checkpoints nothing
has err 'the model has no tensor of this name; nearest: '
expect 2 -i "$digits" --remove_outputs logits
has err 'nothing would be left'
expect 0 -i "$digits" --batch_size 3 --batch_axis 0 --output_dir o
expect 0 -i o/model.onnx.optimized.onnx --show
has out '^Input image: dtype - float32, shape - \[3, 1, 8, 8\]$'
expect 2 -i "$digits" --batch_size 3
has err 'must be given together'
expect 0 -i "$digits" --skip_passes fuse_bn_into_conv --output_dir o
node o/model.onnx.optimized.onnx BatchNormalization 3
expect 0 -i "$digits" --output_dir o --passes replace_gemm_with_matmul,eliminate_identity
node o/model.onnx.optimized.onnx Gemm 0
node o/model.onnx.optimized.onnx MatMul 2
expect 2 -i "$digits" --passes eliminate_identty
has err 'eliminate_identity'
expect 2 -i "$digits" --skip_passes nothing
expect 0 -i "$encoder" --target ipu --output_dir o
node o/model.onnx.optimized.onnx ai.graphcore.GroupNormalization 5
expect 0 -i "$encoder" --enable_erf_gelu --output_dir o
node o/model.onnx.optimized.onnx ai.graphcore.GeluErf 2
expect 0 -i "$digits" --output_dir o --show_pass fuse_bn_into_conv --logging_level DEBUG
has out '^# before fuse_bn_into_conv'
has out 'batch_normalization'
has err 'DEBUG .* fuse_bn_into_conv: [0-9.]* ms, changed, 15 nodes, now 12'
expect 0 -i "$digits" --show_io_stat --input_shape image=2,1,8,8
has out '^Inputs in all: 512 bytes$'
expect 0 -i "$digits" --show_io_stat
has out '^Inputs in all: 0 bytes and 1 of unknown size$'
has out '^Inputs f32\[batch,1,8,8\]: 1'
expect 0 -i "$digits" --logging_level INFO --perf_tuner --output_dir o
has err 'perf_tuner has no effect on a CPU'
expect 0 -i "$digits" --output_dir o
[ ! -s err ] || { echo "FAILED: a plain conversion says something:"; cat err; failed=1; }
expect 2 -i "$digits" --precision fp17
has err "'fp17' is not accepted"
expect 2 -i "$digits" --popart_options groupHostSynk=false
has err 'groupHostSync'
expect 2 -i "$digits" --compiler_options num_ipus=two
has err 'expected a whole number'

# Tools by their names.
ln -s "$poprt" poprt_exec
plain=$poprt
poprt=./poprt_exec
expect 0 poprt_run_popef --popef d/executable.popef --runner modelRunner --iteration 50 --numThreads 3
has out '^Iterations: 51$'
has out '^Batch size: 1$'
has out '^P99 latency: [0-9.]* ms$'
has out '^Throughput: [0-9]*$'
expect 0 poprt_run_popef --popef d/executable.popef
has out '^Iterations: 102$'
expect 1 poprt_run_popef --popef none.popef
expect 2 poprt_run_popef
has err 'popef is missing'
expect 2 poprt_run_popef --popef d/executable.popef --runner packRunner
expect 2 poprt_run_popef --popef d/executable.popef --numThreads 0
expect 0 --help
has out poprt_run_popef
expect 2 nothing
has err "unknown command 'nothing' (nearest: "
poprt=$plain

# What --compiler_options asks of compiling.
expect 0 -i "$digits" --export_popef --output_dir k --batch_size 1 --batch_axis 0 \
    --compiler_options serialize_ir=True serialized_ir_dest=ir.json custom_patterns=InPlace:0,LSTMOp \
    --logging_level INFO
has ir.json '"type": "Conv"'
has ir.json '"kernel_shape": \[3, 3\]\|"kernel_shape": \['
has err 'pattern LSTMOp has no effect on a CPU'
python3 -c 'import json; assert len(json.load(open("ir.json"))["main"]) > 5' 2>/dev/null ||
    ! command -v python3 >/dev/null || { echo "FAILED: ir.json is no JSON"; failed=1; }
expect 0 -i "$digits" --run --output_dir k --batch_size 1 --batch_axis 0 \
    --compiler_options custom_patterns=replace_gemm_with_matmul,OpToIdentity:0 serialize_ir=True \
    serialized_ir_dest=ir2.json
has ir2.json '"type": "MatMul"'
node k/model.onnx.optimized.onnx MatMul 0
expect 2 -i "$digits" --run --output_dir k --compiler_options custom_patterns=InPlac
has err 'nearest patterns: InPlace'
expect 2 -i "$digits" --run --output_dir k --compiler_options serialize_ir=True
has err 'serialized_ir_dest=FILE'
expect 2 -i "$digits" --run --output_dir k --compiler_options enable_engine_caching=True
has err 'cache_path'
for said in 'kept: cache/' 'compiled before: cache/'; do
    expect 0 -i "$digits" --run --output_dir k --batch_size 1 --batch_axis 0 --logging_level INFO \
        --compiler_options enable_engine_caching=True cache_path=cache
    has err "$said"
done

# Products in parts make less memory live, with the same outputs; attributes are on named nodes alone.
plan_of() {
    "$poprt" inspect "$1" | awk '/^plan bytes/ { gsub(",", "", $3); print $3 }'
}
mkdir parts
cp -r "$data/feed-forward/test_data_set_0" parts
for parts in 'up=1 16384' 'up=4 4096' 'up=4/reducing_dim 4096' 'up=4/none 16384'; do
    expect 0 -i "$data/feed-forward/model.onnx" --output_dir parts --output_model model.onnx \
        --serialize_matmul "${parts% *}"
    [ "$(plan_of parts/model.onnx)" -eq "${parts#* }" ] ||
        { echo "FAILED: $(plan_of parts/model.onnx) bytes are planned, not $parts"; failed=1; }
    [ "$(grep -ac __serialize_matmul_factor parts/model.onnx)" -eq 1 ] ||
        { echo "FAILED: the mark is not on one node"; failed=1; }
    expect 0 test parts
done
expect 0 -i "$data/feed-forward/model.onnx" --output_dir parts --output_model model.onnx \
    --available_memory_proportion 0.25
[ "$(plan_of parts/model.onnx)" -eq 4096 ] || { echo "FAILED: a share has no effect"; failed=1; }
expect 0 test parts
memory_of() { # bytes that --run --compiler_options $1 plans for eight digits
    expect 0 -i "$data/digits/model.onnx" --input_shape image=8,1,8,8 --output_dir parts \
        --output_model digits.onnx --export_popef --compiler_options "$1"
    plan_of parts/executable.popef
}
[ "$(memory_of available_memory_proportion=0.25)" -lt "$(memory_of available_memory_proportion=1)" ] ||
    { echo "FAILED: a share of compiling has no effect on convolutions"; failed=1; }

[ "$failed" -eq 0 ] && echo "all conversions behave"
exit "$failed"
