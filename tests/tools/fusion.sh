#!/bin/sh
# SPDX-License-Identifier: MIT
# fusion.sh POPRT ROOT — model_fusion of --config_yaml (convert_merge_models.c, convert_yaml.c): one
# file of several models, each of which gives the results that it gives alone, and every wrong form of
# the list.
. "$2/tests/tools/expect.sh"

# same FILE FILE: equal bytes.
same() {
    cmp -s "$1" "$2" && return 0
    echo "FAILED: $1 and $2 differ"
    failed=1
}

# Inputs, and each model alone.
mkdir in
cat >npy.sh <<'END'
# npy.sh FILE DTYPE SHAPE: a header; the data comes from stdin.
head=$(printf "{'descr': '%s', 'fortran_order': False, 'shape': (%s,), }" "$2" "$3")
pad=$(((64 - (11 + ${#head}) % 64) % 64))
size=$((${#head} + pad + 1))
{
    printf '\223NUMPY\001\000'
    printf "\\$(printf %o $((size % 256)))\\$(printf %o $((size / 256)))"
    printf '%s%*s\n' "$head" "$pad" ''
    cat
} >"$1"
END
# bytes COUNT: small numbers that differ, the same in every run.
bytes() {
    awk -v n="$1" 'BEGIN { x = 7; for (i = 0; i < n; i++) { x = (x * 421 + 17) % 997;
        printf "%d ", x % 60 } }'
}
# Float32 numbers from 0.5 to 2 and float16 ones are made by their upper bytes.
floats() {
    for b in $(bytes "$1"); do printf "\\000\\000\\$(printf %o $((b + 64)))\\077"; done
}
halves() {
    for b in $(bytes "$1"); do printf "\\$(printf %o $((b + 1)))\\070"; done
}
ints() {
    for b in $(bytes "$1"); do printf "\\$(printf %o $((b % 2)))\\000\\000\\000"; done
}
floats 64 | sh npy.sh in/image.npy '<f4' '1, 1, 8, 8'
halves 256 | sh npy.sh in/tokens.npy '<f2' '2, 16, 8'
ints 32 | sh npy.sh in/mask.npy '<i4' '2, 16'
printf '\001\000\000\000' | sh npy.sh in/one.npy '<u4' 1
printf '\007\000\000\000' | sh npy.sh in/seven.npy '<u4' 1
# How many of Winograd's weights stay transformed depends on what else is in a file: none do here.
expect 0 -i "$digits" --input_shape image=1,1,8,8 --export_popef --output_dir digits \
    --set winograd_growth=0
expect 0 -i "$encoder" --input_shape tokens=2,16,8 mask=2,16 --precision fp16 --export_popef \
    --output_dir encoder
expect 0 -i "$digits" --input_shape image=1,1,8,8 --precision int8 --export_popef \
    --output_dir int8 --set winograd_growth=0
expect 0 run digits/executable.popef --input-dir in --output-dir digits
expect 0 run encoder/executable.popef --input-dir in --output-dir encoder
expect 0 run int8/executable.popef --input-dir in --output-dir int8

# Two models of two precisions, as the guide has them.
cat >two.yaml <<END
output_dir: two
output_model: both.onnx
export_popef: True
max_tensor_size: 6291456
ipu_version: ipu21
model_fusion:
  - input_model: $digits
    input_shape: ['image=1,1,8,8']
    precision: fp32
  - input_model: $encoder
    input_shape: ['tokens=2,16,8', 'mask=2,16']
    precision: fp16
END
expect 0 --config_yaml two.yaml --set winograd_growth=0
there two/both.onnx two/executable.popef
two=two/executable.popef
expect 0 inspect $two
has out '^  index  *uint32 \[1\]$'
has out '^  graph1/tokens  *float16 \[2, 16, 8\]$'
has out '^fused graphs   graph0/'
has out '^               graph1/'
expect 0 inspect $two --json
has out '"fused_graphs": *2'
expect 0 inspect two/both.onnx
has out '^fused graphs   graph0/'
expect 0 run $two --input graph0/image=in/image.npy --output-dir two0
[ "$(ls two0)" = graph0_logits.npy ] || { echo "FAILED: two0 has $(ls two0)"; failed=1; }
same two0/graph0_logits.npy digits/logits.npy
expect 0 run $two --input graph1/tokens=in/tokens.npy --input graph1/mask=in/mask.npy \
    --output-dir two1
[ "$(ls two1)" = graph1_logits.npy ] || { echo "FAILED: two1 has $(ls two1)"; failed=1; }
same two1/graph1_logits.npy encoder/logits.npy
expect 0 run $two --input index=in/one.npy --input graph1/tokens=in/tokens.npy \
    --input graph1/mask=in/mask.npy --output-dir two2
same two2/graph1_logits.npy encoder/logits.npy

# A folder with the inputs of both needs an index.
mkdir both
cp in/image.npy both/graph0_image.npy
cp in/tokens.npy both/graph1_tokens.npy
cp in/mask.npy both/graph1_mask.npy
expect 0 run $two --index 1 --input-dir both --output-dir two3
same two3/graph1_logits.npy encoder/logits.npy
expect 1 run $two --input-dir both
has err "graph1/tokens: 'graph0/image' of another graph is bound too"

# Nothing says what to run: graph 0, and the ONNX file runs as well.
expect 0 run $two
has err '^graph 0 of 2 runs: --index chooses another$'
has out '^graph0/logits '
! grep -q graph1 out || { echo "FAILED: graph 1 is shown too"; failed=1; }
expect 0 run two/both.onnx --index 0 --input graph0/image=in/image.npy
! grep -q graph1 out || { echo "FAILED: graph 1 is shown too"; failed=1; }
expect 1 run $two --input index=in/seven.npy
has err 'index: there is no graph 7: the model has 2'
expect 1 run $two --index 2
has err 'index: there is no graph 2: the model has 2'
expect 1 run $two --input index=in/one.npy --input graph0/image=in/image.npy
expect 1 run "$digits" --index 0
has err 'is not a fused model'
expect 0 bench $two --index 1 --min-time 0.01
expect 0 bench $two --min-time 0.01
expect 1 bench $two --index 9
has err 'there is no graph 9'

# Three models; what stands outside holds for those that say nothing else, the command line for all.
cat >three.yaml <<END
output_dir: three
export_popef: True
run: True
compiler_options: [enable_model_fusion=True]
input_model: $digits
input_shape: ['image=1,1,8,8']
convert_version: 13
model_fusion:
  - precision: int8
  - {input_model: $encoder, input_shape: ['tokens=2,16,8', 'mask=2,16'], precision: fp16}
  - {}
END
expect 0 --config_yaml three.yaml --set winograd_growth=0
[ "$(grep -c '^Bs: 1$' out)" -eq 2 ] && [ "$(grep -c '^Bs: 2$' out)" -eq 1 ] ||
    { echo "FAILED: not all graphs ran"; cat out; failed=1; }
has out '^graph2$'
there three/model_fusion.onnx
expect 0 inspect three/model_fusion.onnx
has out '^opset  *ai.onnx 13'
three=three/executable.popef
expect 0 run $three --input graph0/image=in/image.npy --output-dir three
same three/graph0_logits.npy int8/logits.npy
expect 0 run $three --input graph1/tokens=in/tokens.npy --input graph1/mask=in/mask.npy \
    --output-dir three
same three/graph1_logits.npy encoder/logits.npy
expect 0 run $three --input graph2/image=in/image.npy --output-dir three
same three/graph2_logits.npy digits/logits.npy
expect 0 --config_yaml two.yaml --show
has out '^Input index: dtype - uint32, shape - \[1\]$'
has out '^Input graph1/tokens: dtype - float32, shape - \[2, 16, 8\]$'
expect 0 --config_yaml two.yaml --output_dir shown --precision fp16
expect 0 -i shown/both.onnx --show
has out '^Input graph0/image: dtype - float16'

# The ONNX file is a model like any other, and stays fused.
expect 0 -i two/both.onnx --check --logging_level INFO --export_popef --output_dir again \
    --set winograd_growth=0
has err 'check_with_fake_data: graph1/logits: output graph1/logits is the same within'
expect 0 run again/executable.popef --input graph0/image=in/image.npy --output-dir again
same again/graph0_logits.npy digits/logits.npy

# Files of passes go to a folder of the graph.
expect 0 --config_yaml two.yaml --output_dir compared --precision_compare
there compared/graph0/precision_compare.log compared/graph1/precision_compare.log

# ---- what is wrong

# wrong PATTERN: two.yaml as $1 of sed makes it is refused so.
wrong() {
    sed "$1" two.yaml >wrong.yaml
    expect "${3:-2}" --config_yaml wrong.yaml --output_dir wrong
    has err "$2"
}
wrong '/export_popef/d' 'export_popef: model_fusion makes one PopEF'
wrong 's/export_popef: True/export_popef: False/' 'export_popef: model_fusion makes one PopEF'
wrong 's/precision: fp16/precison: fp16/' 'precison: line 12 of wrong.yaml: there is no option'
for key in 'output_dir: x' 'output_model: x' 'export_popef: True' 'run: True' 'set: a=b' \
    'convert_version: 11' 'tune: fast' 'config_yaml: x' 'logging_level: INFO' 'show: True' \
    'compiler_options: [a=b]' 'model_fusion: []'; do
    wrong "s/precision: fp16/$key/" "${key%%:*}: line 12 of wrong.yaml: this option is not for one model"
done
wrong 's/precision: fp16/precision: fp17/' "'fp17' is not accepted" 2
has err 'wrong.yaml: this error is in model 1 of model_fusion'
wrong 's/precision: fp16/batch_size: 2/' 'must be given together' 2
wrong "s/'mask=2,16'/'msk=2,16'/" 'encoder/model.onnx: msk: ' 1
wrong "/image=1/d" 'image: input of .*digits/model.onnx has dimensions that are not numbers' 1
wrong "s/    precision: fp32/    eightbitsio: perhaps/" 'expected True or False'
wrong 's/^ipu_version: .*/only_manual_sharding: True/' 'only_manual_sharding cannot be combined with model_fusion' 2
sed '/encoder/,$d' two.yaml >one.yaml
expect 2 --config_yaml one.yaml
has err 'model_fusion: line 7 of one.yaml: 1 model: 2 to 64 can be fused'
[ ! -e wrong/executable.popef ] || { echo "FAILED: wrong/executable.popef was written"; failed=1; }

# Shapes of YAML that are none of ours.
# shape TEXT PATTERN
shape() {
    printf 'export_popef: True\nmodel_fusion: %b' "$1" >shape.yaml
    expect "${3:-2}" --config_yaml shape.yaml
    has err "$2"
}
shape '3\n' 'model_fusion must be a list'
shape '{a: b}\n' 'model_fusion must be a list'
shape '[]\n' '0 models: 2 to 64 can be fused'
shape '[a, b]\n' 'a model must be a mapping of options'
shape '[[a], [b]]\n' 'a model must be a mapping of options'
shape '[[[[[[]]]]], []]\n' 'a model must be a mapping of options'
shape '[{input_model: [[x]]}, {}]\n' 'expected a list of plain values'
shape '[{input_model: {x: y}}, {}]\n' 'expected a value or a list of values'
shape '[{? [a] : b}, {}]\n' 'there is no option of this name'
shape '[{}, {}]\n' 'input_model is missing' 2
shape '[{}, {}]\nmodel_fusion: [{}, {}]\n' 'model_fusion occurs twice'
shape '&a [*a, *a]\n' 'wrong.yaml\|a model must be a mapping of options\|line'
shape "[{input_model: nothing.onnx}, {input_model: nothing.onnx}]\n" 'nothing.onnx' 1
shape "[$(awk 'BEGIN { for (i = 0; i < 1000; i++) printf "{input_model: x}," }')]\n" \
    '1000 models: 2 to 64 can be fused'
{
    printf 'export_popef: True\ninput_shape: ['
    awk 'BEGIN { for (i = 0; i < 400000; i++) printf "aaaaaaaaaaaa," }'
    printf ']\nmodel_fusion: ['
    awk 'BEGIN { for (i = 0; i < 64; i++) printf "{input_model: x}," }'
    printf ']\n'
} >shape.yaml
expect 1 --config_yaml shape.yaml
has err 'has more than [0-9]* bytes of options'

# A list that says the same in every way: nothing is left over of the mark in a plain model.
expect 0 inspect digits/executable.popef
! grep -q 'fused graphs' out || { echo "FAILED: a plain model is fused"; failed=1; }

[ "$failed" -eq 0 ] && echo "all fusions behave"
exit "$failed"
