#!/bin/sh
# SPDX-License-Identifier: MIT
# tool.sh POPRT ROOT PLUGINS DATA — plug-ins on the command line.
plugins=$(cd "$3" && pwd)
cases=$(cd "$4" && pwd)
. "$2/tests/tools/expect.sh"

leaky=$plugins/leaky_relu.so
replace=$plugins/replace_add.so
neg=$plugins/double_neg.so
dense=$plugins/packed_dense.so

# Operators are listed among the others.
expect 0 inspect --ops --plugin "$leaky"
has out '^custom.ops.LeakyRelu  *1  *of plug-in leaky_relu T: '
expect 0 inspect --ops --text --plugin "$leaky"
has out '^- From plug-in leaky_relu.$'
expect 0 inspect --ops --json --plugin "$leaky"
has out '"plugin": "leaky_relu"'

# Converting, with passes by name.
expect 0 --list_all_passes --custom_pass_config "$replace, $neg"
has out '^replace_add_with_sub$'
has out '^remove_double_neg$'
has out '^constant_folding$'
expect 0 -i "$cases/leaky/model.onnx" --custom_library_so_paths "$leaky" "$replace" \
    --custom_pass_config "$replace" --passes replace_add_with_sub --output_dir a --export_popef
expect 0 inspect a/model.onnx.optimized.onnx --text
has out 'Sub\|sub'
expect 2 -i "$cases/leaky/model.onnx" --passes replace_add_with_sub --output_dir b
has err "unknown pass 'replace_add_with_sub'"
expect 0 -i "$cases/twice/model.onnx" --custom_shape_inference "$plugins/twice_shape.so" --show
has out 'Output y: dtype - float32, shape - \[4, 3\]'

# Options of passes, of plug-ins and of the library.
options="-i $cases/leaky/model.onnx --custom_library_so_paths $leaky $replace --output_dir c"
expect 0 $options --passes replace_add_with_sub --pass_options replace_add_with_sub.keep=plus
expect 0 inspect c/model.onnx.optimized.onnx
has out '^ *Add  *1'
expect 0 $options --passes replace_add_with_sub --pass_options replace_add_with_sub.keep=minus \
    replace_add_with_sub.most=1
expect 0 inspect c/model.onnx.optimized.onnx
has out '^ *Sub  *1'
expect 0 $options --passes const_batch_size --pass_options const_batch_size.const_batch_size=5
expect 0 -i c/model.onnx.optimized.onnx --custom_library_so_paths "$leaky" --show
has out '^Input x: dtype - float32, shape - \[5, 3\]$'
expect 2 $options --passes replace_add_with_sub --pass_options replace_add_with_sub.keeps=plus
has err "pass replace_add_with_sub has no option 'keeps'; nearest: keep"
expect 2 $options --passes replace_add_with_sub --pass_options replace_add_with_sub.most=one
has err "option most of pass replace_add_with_sub must be an integer, not 'one'"
expect 2 $options --passes const_batch_size --pass_options const_batch_size.const_batch=5
has err "pass const_batch_size has no option 'const_batch'; nearest: const_batch_size"
expect 2 $options --passes const_batch_size --pass_options replace_add_with_sub.keep=plus
has err 'pass_options names a pass that is not in the list of passes to run; nearest: const_batch_size'
expect 2 $options --pass_options replace_add_with_sub.keep=plus
has err 'pass_options names a pass that is not in the list of passes to run$'
expect 2 $options --passes const_batch_size --pass_options const_batchsize.const_batch_size=5
has err "unknown pass 'const_batchsize'"
expect 2 $options --passes const_batch_size --pass_options const_batch_size=5
has err 'pass_options must name options as PASS.OPTION'
expect 2 $options --passes const_batch_size --pass_options const_batch_size.const_batch_size
has err 'must have the form KEY=VALUE'
printf 'passes: replace_add_with_sub\npass_options: [replace_add_with_sub.keep=plus]\n' >options.yaml
expect 0 $options --config_yaml options.yaml
expect 0 inspect c/model.onnx.optimized.onnx
has out '^ *Add  *1'
printf 'passes: replace_add_with_sub\npass_options: [replace_add_with_sub.kept=plus]\n' >options.yaml
expect 2 $options --config_yaml options.yaml
has err "no option 'kept'"

# Options of a file.
printf 'custom_library_so_paths: [%s]\nlist_all_passes: true\n' "$neg" >job.yaml
expect 0 --config_yaml job.yaml
has out '^remove_double_neg$'

# Running, with the operators of plug-ins.
expect 1 run a/executable.popef
has err 'operator custom.ops.LeakyRelu of plug-in leaky_relu: load that first'
expect 0 run a/executable.popef --plugin "$leaky" --plugin "$replace" --dim n=2
has out '^y'
expect 0 inspect a/executable.popef --plugin "$leaky"
has out 'custom.ops.LeakyRelu\|LeakyRelu'
expect 0 bench a/executable.popef --plugin "$leaky" --min-time 0.01 --dim n=2
has out '^model='
expect 0 test "$cases/leaky" --plugin "$leaky"
has out '^1 passed, 0 failed$'
expect 0 test "$cases/leaky" --plugin "$leaky" --via-popef
expect 1 test "$cases/leaky"
expect 0 test "$cases/negs" --plugin "$neg" --passes remove_double_neg
expect 1 test "$cases/negs" --plugin "$replace" --passes replace_add_with_sub

# An operator with a kernel.
expect 0 -i "$cases/dense/model.onnx" --custom_library_so_paths "$dense" --output_dir e --export_popef
expect 0 inspect e/executable.popef --plugin "$dense" --steps
has out 'panels'
expect 0 run e/executable.popef --plugin "$dense" --dim n=7
expect 1 run e/executable.popef --plugin "$leaky"
has err 'operator custom.ops.Dense of plug-in packed_dense: load that first'
expect 0 test "$cases/dense" --plugin "$dense"
expect 0 test "$cases/dense" --plugin "$dense" --via-popef
expect 0 test "$cases/dense" --plugin "$dense" --cpu reference
expect 0 test "$cases/between" --plugin "$leaky"

# What is none.
touch replace_add_with_sub.py
for option in custom_pass_config custom_shape_inference custom_library_so_paths; do
    expect 1 --list_all_passes --$option replace_add_with_sub.py
    has err 'replace_add_with_sub.py: .*Python files cannot be loaded: .*poprt/plugin.h, build a shared'
    has err 'tests/plugin/replace_add.c is an example'
    has err 'python3 -m poprt.cli'
    [ ! -s out ] || { echo "FAILED: passes are listed all the same"; failed=1; }
    expect 2 --list_all_passes --$option
    expect 0 --list_all_passes --$option "$replace"
    has out '^replace_add_with_sub$'
done
expect 1 --list_all_passes --custom_library_so_paths "$plugins/wrong_version.so"
has err 'wrong_version.so: .*interface 2, this library has 1'
expect 1 run "$cases/leaky" --plugin "$plugins/no_symbol.so"
has err 'no function poprt_plugin_entry'
expect 1 test "$cases/leaky" --plugin nowhere.so
has err 'nowhere.so'
exit $failed
