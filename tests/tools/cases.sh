#!/bin/sh
# SPDX-License-Identifier: MIT
# cases.sh POPRT ROOT — models of tests/fixtures that conversions once wrote wrongly. Each is converted and
# gives its stored outputs; what else has to hold of its file follows.
. "$2/tests/tools/expect.sh"

# write NAME OPTIONS... : case/NAME/model.onnx is written, and `shown` says what is in it.
write() {
    name=$1
    shift
    rm -rf case
    mkdir -p "case/$name"
    expect 0 -i "$data/$name/model.onnx" --output_dir "case/$name" --output_model model.onnx "$@"
    file=case/$name/model.onnx
    "$poprt" inspect "$file" >shown 2>err || { echo "FAILED: $file cannot be read"; failed=1; }
}

# convert NAME OPTIONS... : the same, and the file gives the stored outputs.
convert() {
    write "$@"
    cp -r "$data/$name/test_data_set_0" "case/$name/"
    "$poprt" test "case/$name" >out 2>err && return 0
    echo "FAILED: $name with $*"
    sed 's/^/    /' out err
    failed=1
}

# Trees: ai.onnx.ml 5 deprecates their operators, so the version is that of the model.
for opset in '' 0 1 11 17; do
    convert convert-tree-ml-opset ${opset:+--convert_version $opset}
    has shown '^opset .*ai.onnx.ml 1$'
done

# Initializers that are inputs too, with the pass that makes them constants and without it.
for skip in remove_initializer_from_input replace_isinf; do
    for opset in '' 0 7; do
        for name in narrow-initializer-inputs int64-initializer-input-default; do
            convert $name ${opset:+--convert_version $opset} --skip_passes $skip
        done
    done
done

# Unique stays on int64, of which alone other runtimes have a kernel; so do its Casts.
for opset in '' 0 13; do
    write unique-int64 ${opset:+--convert_version $opset}
    has shown '^ *x  *int32 '
    has shown '^ *Cast  *4$'
done

# A TopK of the least, of which nothing reads the values; before opset 11 there is no such TopK.
for opset in '' 0 7 8 9 10; do
    convert topk10-unused-values --skip_passes int64_to_int32 ${opset:+--convert_version $opset}
done

# Operators of ai.onnx that were experimental before opset 10 become others.
for opset in '' 0 9 10 13; do
    convert experimental ${opset:+--convert_version $opset}
done

# Mod of floats with fmod=0 came with opset 28.
for opset in '' 11 13 17; do
    convert mod28-float-fmod0 ${opset:+--convert_version $opset}
    has shown '^ *Where  *1$'
done
convert mod28-float-fmod0 --convert_version 0
has shown '^opset .*ai.onnx 28$'

# ReduceMax of opset 18 with the attribute it had before; reading, running and converting refuse it.
refused=$data/unknown-attribute-reduce/model.onnx.refused
why="ReduceMax-18 has no attribute 'axes': opsets 1 to 17 have it; accepted: keepdims, noop_with"
expect 1 run "$refused"
has err "$why"
expect 1 inspect "$refused"
has err "$why"
cp "$refused" refused.onnx
expect 1 -i refused.onnx --output_dir case
has err "y: $why"

# A branch for frames of 8 samples and one for 4: with either size given, the other branch cannot have
# its shapes. It fails when it is taken; with a size that is neither, the model is refused.
rates=$data/branch-of-two-rates
for n in 8 4; do
    set=$((2 - n / 4)) # data set 0 has 8 samples, 1 has 4
    feed="--input x=$rates/test_data_set_$set/input_0.pb"
    # shellcheck disable=SC2086
    expect 0 run "$rates/model.onnx" --dim n=$n $feed \
        --input sr="$rates/test_data_set_$set/input_1.pb" --output-dir rates
    there rates/y.npy
    # shellcheck disable=SC2086
    expect 1 run "$rates/model.onnx" --dim n=$n $feed \
        --input sr="$rates/test_data_set_$((1 - set))/input_1.pb"
    has err "POPRT_E_SHAPE (run).*MatMul: inner dim is $n in one place and $((12 - n)) in another"
    write branch-of-two-rates --skip_passes int64_to_int32 --input_shape x=1,$n
    cp -r "$rates/test_data_set_$set" case/branch-of-two-rates/
    expect 0 test case/branch-of-two-rates
    expect 0 test case/branch-of-two-rates --via-popef
    for precision in fp16 bf16 mixed int8 fp8 fp8_weight; do
        write branch-of-two-rates --precision $precision --input_shape x=1,$n --export_popef
        expect 0 run case/branch-of-two-rates/model.onnx --input sr="$rates/sr$set.npy"
    done
    for target in '--target ipu' '--convert_version 0' '--convert_version 13'; do
        # shellcheck disable=SC2086
        write branch-of-two-rates $target --input_shape x=1,$n
        has "$file" Reshape # what the branch reads has no shape that other readers could refuse
    done
done
# Passes leave such a branch alone.
expect 0 --list_all_passes
cp out passes
while read -r pass; do
    "$poprt" -i "$rates/model.onnx" --output_dir rates --passes "$pass" >out 2>err
    want=$?
    expect $want -i "$rates/model.onnx" --output_dir rates --passes "$pass" --input_shape x=1,8
done <passes
expect 1 run "$rates/model.onnx" --dim n=3
has err 'POPRT_E_SHAPE (compile).*MatMul: inner dim is 3'

# Every pass keeps the results of a model. Wrong outputs are told by output and element.
expect 0 test "$data/gradient" --each-pass
has out '^1 passed, 0 failed$'
mkdir -p case/wrong && cp -r "$data/gradient/." case/wrong/
cp "$data/gradient/test_data_set_0/output_1.pb" case/wrong/test_data_set_0/output_2.pb
for options in '' --each-pass --via-popef; do
    # shellcheck disable=SC2086
    expect 1 test case/wrong $options
    cat err >>out
    has out 'the shape is \[8\], expected \[2, 1, 3, 3\]'
done

[ "$failed" -eq 0 ] && echo "all cases behave"
exit "$failed"
