#!/bin/sh
# SPDX-License-Identifier: MIT
# tensorflow.sh POPRT ROOT — models of TensorFlow and TFLite on the command line. Covers tf2onnx.c,
# tf2onnx_list.c.
. "$2/tests/tools/expect.sh"

expect 1 -i "$digits" --framework tensorflow tf2onnx --saved_model --outputs Identity:0 --tag serve
has err 'is not a TensorFlow model'
net=$data/tensorflow/net.pb
expect 0 -i "$net" --output_model net.onnx tf2onnx
there net.onnx
expect 0 -i net.onnx --show
has out '^Input x:0: dtype - float32, shape - \[0, 4, 5, 3\]$'
expect 0 -i "$net" --framework tensorflow --show
expect 1 -i "$net" --framework onnx --show
expect 0 -i "$net" --output_model nchw.onnx tf2onnx --inputs_as_nchw x:0 --outputs b:0,a:0 --opset 13
expect 0 -i nchw.onnx --show
has out '^Input x:0: dtype - float32, shape - \[0, 3, 4, 5\]$'
has out '^Output a:0:'
for framework in '' '--framework tensorflow'; do
    # shellcheck disable=SC2086
    expect 2 -i "$net" $framework tf2onnx --saved_model
    has err 'the model is a GraphDef'
done
for command in 'run' 'bench --min-time 0.05' 'inspect'; do
    # shellcheck disable=SC2086
    expect 0 $command "$net" --dim x_0=2
done

# The other formats.
expect 0 -i "$data/tensorflow/variables" --output_model saved.onnx tf2onnx --saved_model --opset 18
has err 'are not kept for the next run'
expect 0 run saved.onnx --dim ids_0=3
has out '^y  *float32  *\[3, 4\]'
expect 0 -i "$data/tensorflow/checkpoint" --show tf2onnx
has out '^Output y:0: dtype - float32, shape - \[0, 3\]$'
expect 1 -i "$data/tensorflow/checkpoint" tf2onnx --outputs net/w/part_0/Assign,save/RestoreV2
has err '2 nodes cannot be converted: Assign (1, .*RestoreV2 (1, '
expect 0 run "$data/tensorflow/checkpoint/model.meta" --set graph_outputs=y --dim x_0=2
has out '^y:0  *float32  *\[2, 3\]'
expect 0 -i "$data/tflite/int8.tflite" --show tf2onnx --signature_def serving_default
has out '^Output output_2: dtype - int8, shape - \[1, 18, 18, 4\]$'

# Help and the list of operators.
expect 0 tf2onnx --help
expect 2 tf2onnx --opst 11
expect 0 tf2onnx --list_ops
has out '^AddV2  *Add  *element-wise operators$'
has out '^Conv2D  *-  *convolutions'
has out '^tflite:LOGISTIC  *Sigmoid  *TFLite: computes'
wrong=$(awk '{ print $1 }' out | sort | uniq -d; grep -E '^(DecodeJpeg|tflite:CUSTOM) ' out)
[ -z "$wrong" ] || { echo "FAILED: listed twice, or not converted: $wrong"; failed=1; }

[ "$failed" -eq 0 ] && echo "all models of TensorFlow behave"
exit "$failed"
