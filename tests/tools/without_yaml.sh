#!/bin/sh
# SPDX-License-Identifier: MIT
# without_yaml.sh POPRT ROOT — convert_yaml_without.c: a tool without libyaml refuses the options
# that name YAML files, and everything else works.
. "$2/tests/tools/expect.sh"

printf 'input_model: %s\n' "$digits" >job.yaml
printf -- '- node: /3/Conv\n  device: 0\n' >shard.yaml
expect 1 --config_yaml job.yaml
has err 'job.yaml: this tool was built without libyaml'
expect 1 -i "$digits" --output_dir made --only_manual_sharding --manual_sharding_config shard.yaml
has err 'shard.yaml: this tool was built without libyaml'
[ ! -e made/model.onnx.optimized.onnx ] || { echo "FAILED: a model was written"; failed=1; }
expect 0 -i "$digits" --output_dir made
there made/model.onnx.optimized.onnx
exit $failed
