#!/bin/sh
# SPDX-License-Identifier: MIT
# commands.sh POPRT ROOT SHARE — command lines, exit codes and files of the tool. Of the passes that
# can be left out one in SHARE is. Covers run.c, test.c, case.c, bench.c, inspect.c, blobs.c, popef.c, passes.c,
# profile.c, value.c, feed.c, compare.c, tool.c.
. "$2/tests/tools/expect.sh"

# The main command line.
expect 0 --help
has out '^usage: poprt'
expect 0 -v
has out '^PopRT version: 1\.0\.0$'
has out '^Build with SDK: '
has out '^Runtime SDK: '
[ "$(wc -l <out)" -eq 3 ] || { echo "FAILED: -v does not print three lines"; failed=1; }
expect 0 --version
expect 0 --list_all_passes
has out '^constant_folding$'
has out '^eliminate_identity$'
expect 0 --input_model "$digits" --show
has out '^#'
has out '^Input image: dtype - float32, shape - \[0, 1, 8, 8\]$'
has out '^Output logits: dtype - float32, shape - \[0, 10\]$'
[ -z "$(ls | grep -v -e out -e err)" ] || { echo "FAILED: --show writes files"; failed=1; }
expect 0 -i "$digits" --output_dir a --export_popef
there a/model.onnx.optimized.onnx a/executable.popef
expect 0 -i "$digits" --output_dir a --convert_version 9
expect 2 -i "$digits" --output_dir refused --convert_version 99
has err "'99' is not accepted; expected a whole number from 0 to"
expect 1 -i "$data/encoder/model.onnx" --output_dir refused --convert_version 3
has err 'cannot go to opset 3'
[ -z "$(ls refused 2>/dev/null)" ] || { echo "FAILED: a refused opset is written"; failed=1; }
# BitwiseNot of opset 18 has no way down to the usual opset.
{
    printf '\010\010\102\002\020\022\072\071\012\022\012\001\170\022\001\171\042\012\102\151'
    printf '\164\167\151\163\145\116\157\164\022\001\147\132\017\012\001\170\022\012\012\010'
    printf '\010\002\022\004\012\002\010\002\142\017\012\001\171\022\012\012\010\010\002\022'
    printf '\004\012\002\010\002'
} >late.onnx
expect 0 -i late.onnx --output_dir late
has err 'is written for opset 18 instead of 11: BitwiseNot_0: BitwiseNot-18 cannot go to opset 11'
expect 1 -i late.onnx --output_dir refused --convert_version 11
expect 0 --input_m="$digits" --output_model x.onnx --output_dir=b --input_shape image=2,1,8,8 --run
there b/x.onnx
has out '^Bs: 2$'
has out '^Latency: [0-9.]*ms$'
has out '^Tput: [0-9]*$'
expect 0 -i b/x.onnx --show
has out 'shape - \[2, 1, 8, 8\]$'
mkdir c && cp "$digits" c/ && expect 0 -i c --output_dir d --passes constant_folding,eliminate_identity
there d/model.onnx.optimized.onnx
cp "$digits" c/second.onnx && expect 1 -i c --show
expect 1 -i "$digits" --output_dir e --run
has err 'batch'
expect 1 -i nothing.onnx --show
has err 'nothing.onnx'
has err '^20[0-9-]* [0-9:]*,[0-9]* ERROR \[poprt\] [a-z]*\.c:[0-9]*\] '
expect 2 -i "$digits" --passes no_such_pass --output_dir e
has err 'no_such_pass'
expect 1 -i "$digits" --input_shape image=2,2,8,8 --output_dir e
expect 2 -i "$digits" --input_shape image=x --output_dir e
expect 2
has err 'input_model'
expect 2 --no_such_option
has err '^poprt: error: unknown option --no_such_option (nearest: '
expect 2 --precison fp16 -i "$digits"
expect 2 --output -i "$digits"
expect 2 -i
expect 2 --show=yes -i "$digits"
expect 2 surplus -i "$digits"

# poprt run
expect 0 inspect --passes
has out '^## fuse_bn_into_conv$'
has out '^- A pass of PopRT since 1.4.$'
has out '^- Changes results by at most 1e-05 of the largest element.$'
has out '^- Changes results without a bound: by 0.053 of the largest element in the median$'
expect 2 inspect --passes --ops
expect 0 run --help
expect 0 run "$digits"
has out '^logits .*float32 .*\[1, 10\]'
has err 'random'
expect 0 run a/executable.popef --dim batch=3 --threads 2 --iterations 2 --seed 4
has out '\[3, 10\]'
expect 0 run "$digits" --input image="$data/digits/images.npy" --output-dir f
there f/logits.npy
expect 0 run "$digits" --input-dir "$data/digits/test_data_set_1" --output-dir f
expect 0 run "$digits" --input "image=$data/digits/test_data_set_1/input_0.pb"
has out '\[16, 10\]'
expect 1 run "$digits" --input wrong="$data/digits/images.npy"
has err 'image'
expect 1 run "$digits" --input image="$data/digits/labels.npy"
expect 1 run "$digits" --dim nobody=3
expect 1 run b/x.onnx --input image="$data/digits/images.npy"
expect 2 run
expect 2 run "$digits" "$digits"
expect 2 run "$digits" --iterations 0
expect 2 run "$digits" --threads many
"$poprt" run "$digits" --seed 1 >one 2>err && "$poprt" run "$digits" --seed 1 --threads 1 >two 2>err
cmp -s one two || { echo "FAILED: the same seed gives other outputs"; failed=1; }

# The trace of two runs, in JSON that a viewer takes.
expect 0 run "$digits" --iterations 2 --profile trace.json
has trace.json '^{"displayTimeUnit":"ns","traceEvents":\[{"name":'
has trace.json '"ph":"X","ts":0,"dur":'
expect 1 run "$digits" --profile nowhere/trace.json
has err 'nowhere/trace.json'

expect 0 run "$digits" --cpu reference
expect 2 run "$digits" --cpu 68000
has err "--cpu: '68000' is not accepted; expected one of native, avx512_amx, "
expect 0 bench "$digits" --cpu portable --min-time 0.01
expect 2 bench "$digits" --cpu 68000

# poprt test
expect 0 test "$data"
has out '^[1-9][0-9]* passed, 0 failed$'
expect 0 test "$data" --via-popef --jobs 2 --filter '*digits'
has out '^1 passed, 0 failed$'
expect 0 test "$data" --cpu reference --filter '*digits'
has out '^1 passed, 0 failed$'
expect 2 test "$data" --cpu 68000
expect 1 test "$data" --filter '*digits' --rtol 0 --atol 0
has out '^FAILED .*digits: .*largest error'
has out '^0 passed, 1 failed$'
mkdir -p g/empty && cp "$digits" g/empty/
expect 0 test g
has out '^0 passed, 0 failed, 1 skipped$'
mkdir -p g/torn/test_data_set_0 && head -c 1000 "$digits" >g/torn/model.onnx
expect 1 test g
has out '^0 passed, 1 failed, 1 skipped$'
expect 1 test nowhere
expect 2 test
expect 2 test "$data" --jobs x

# Maps: {a: 1.5, x: 9} through DictVectorizer [b, a] and ZipMap [7, -7].
mkdir -p maps/test_data_set_0
base64 -d >maps/model.onnx <<'END'
CAgSADqxAQpACgFtEgF2Ig5EaWN0VmVjdG9yaXplciocChFzdHJpbmdfdm9jYWJ1bGFyeUoBYkoB
YaABCDoKYWkub25ueC5tbApACgF2EgF6IgZaaXBNYXAqJAoSY2xhc3NsYWJlbHNfaW50NjRzQAdA
+f//////////AaABBzoKYWkub25ueC5tbBIBZ1oRCgFtEgwqCggIEgYKBAgBEgBiFQoBehIQIg4K
DCoKCAcSBgoECAESAEIOCgphaS5vbm54Lm1sEAE=
END
base64 -d >maps/test_data_set_0/input_0.pb <<'END'
CgFtEAgiAWEiAXgqFhABGggQAUoEAADAPxoIEAFKBAAAEEE=
END
base64 -d >maps/test_data_set_0/output_0.pb <<'END'
CgF6EAQyJxAHGAcY+f//////////ASoWEAEaCBABSgQAAAAAGggQAUoEAADAPw==
END
expect 0 test maps
has out '^1 passed, 0 failed$'
expect 0 test maps --via-popef
expect 0 run maps/model.onnx --input-dir maps/test_data_set_0
has out '^z  *sequence of 1$'
has out '^  z\[0\]  *float32  *map of 2  *-7: 1.5 7: 0$'
expect 0 run maps/model.onnx --input m=maps/test_data_set_0/input_0.pb --output-dir h
there h/z_0_keys.npy h/z_0_values.npy
expect 1 run maps/model.onnx
expect 0 inspect maps/model.onnx
has out 'm  *map of string to float32$'
has out 'z  *sequence of map of int64 to float32$'
expect 0 inspect maps/model.onnx --json
has out '"itemKind": "map"'
has out '"keyDtype": "string"'
printf '\010\007\032\001\001' >maps/test_data_set_0/input_0.pb
expect 1 test maps

# poprt bench
expect 0 bench "$digits" --min-time 0.05 --threads 1
for word in model threads load_ms compile_ms session_ms first_run_ms median_ms min_ms p99_ms runs \
    peak_rss_mb version; do
    has out "$word="
done
expect 0 bench a/executable.popef --min-time 0.05 --json --dim batch=2
has out '^{"model":.*"version":"1\.0\.0"}$'
expect 2 bench "$digits" --min-time -1
expect 0 bench "$digits" --min-time 0.05 --profile
has out '^ *us per run *share *step *operator, node$'
has out '100\.00% *all of block 0, [1-9]'
has out '^model='
expect 2 bench "$digits" --profile --json
has err 'its table is not JSON'

# poprt inspect
expect 0 inspect "$digits"
has out '^operators *15'
has out '^weights *22 tensors, 216,872 bytes'
has out '^dims *[0-9]* known, [0-9]* symbolic, 0 unknown'
has out '^plan bytes'
expect 0 inspect "$digits" --text
has out '^# dims: [0-9]* known, [0-9]* symbolic, 0 unknown'
expect 0 inspect a/executable.popef
has out '^steps '
expect 0 inspect "$digits" --json
has out '"program": {'
has out '"dims_unknown": 0'
expect 0 inspect "$digits" --dot
has out '^digraph'
expect 0 inspect a/executable.popef --text
has out '^block 0'
expect 0 inspect a/executable.popef --blobs
has out 'POPLAR_EXECUTABLE'
expect 0 popef dump a/executable.popef
has out '^ *0  METADATA '
has out '^  libpoprt  1\.'
has out '^  programFlow  {load: \[0\], main: \[5\], save: \[\]}$'
has out '^  INPUT  image  F32 \[-1, 1, 8, 8\]  programs \[5\]  h2d_image$'
has out '  float32 \[96, 256\]  in .*  \[\[transpose, '
expect 2 popef list a/executable.popef
has err "'list': accepted: dump"
expect 1 popef dump nothing.popef
expect 1 popef dump "$digits"
has err 'not a PopEF file'
expect 0 inspect a/executable.popef --verify
has out 'the checksums of all [0-9]* blobs match'
# A weight that changed: seen by --verify, not by opening.
size=$(wc -c <a/executable.popef)
{ head -c $((size - 40)) a/executable.popef; printf x; tail -c 39 a/executable.popef; } >changed.popef
expect 0 inspect changed.popef
expect 1 inspect changed.popef --verify
has err 'fails its checksum'
expect 0 inspect "$digits" --verify
has out 'digits/model.onnx: valid ONNX, and it compiles$'
head -c 1000 "$digits" >cut.onnx
expect 1 inspect cut.onnx --verify
expect 2 inspect "$digits" --dot --json
expect 0 inspect --ops
has out '^Conv  *[0-9]'
has out '^Add .*T: .*bfloat16'
has out '^Add .*; gradient: yes$'
has out '^ArgMax .*; gradient: none$'
expect 0 inspect --ops --text
has out '^### Conv$'
has out '`kernel_shape` (ints)'
has out '^- Gradient: yes$'
has out '^- Gradient: no; '
expect 0 inspect --ops --json
has out '"name": "Conv"'
has out '"gradient": "yes"'
has out '"no_gradient_because": "'
expect 2 inspect --ops --dot
expect 2 inspect --ops "$digits"
expect 2 inspect
expect 1 inspect /dev/null
printf 'nothing that is known' >foreign.popef
expect 1 inspect foreign.popef
has err 'foreign.popef'
head -c 5000 a/executable.popef >torn.popef
expect 1 run torn.popef

# What became of the nodes.
expect 0 inspect --steps "$digits"
has out 'from .* + '
has out 'nodes eliminated'
expect 0 inspect --steps --json "$digits"
has out '"kernel": "nothing to run"'
expect 0 inspect --steps a/executable.popef
has out 'view of %'
expect 2 inspect --steps --dot "$digits"
expect 0 inspect --steps --disable-passes fuse_epilogue "$digits"
has out '  relu '
expect 2 inspect --steps --disable-passes fuse_epilog "$digits"
has err "unknown pass 'fuse_epilog'; nearest: fuse_epilogue"
expect 0 inspect "$digits"
has out '^plan ratio  *1\.0'

# Forms by time: what was found goes to a file and is found again.
expect 0 bench --tune full --tune-cache tuned --set winograd=large --dim batch=1 --min-time 0.01 "$digits"
has err 'tune: .*panels .* ms, winograd .* ms'
there tuned
expect 0 inspect --steps --tune full --tune-cache tuned "$digits"
has out 'nhwc_conv as '
expect 0 inspect --steps --json --tune fast --tune-cache tuned "$digits"
has out '"form": "'
expect 0 run --tune fast --dim batch=1 "$digits"
expect 0 --tune full --tune_cache tuned --export_popef -i "$digits" --output_dir p
cp "$digits" letter
expect 0 bench --tune full --tune-cache letter --dim batch=1 --min-time 0.01 "$digits"
has err 'letter is not a tune cache'
cmp -s "$digits" letter || { echo "the tune cache went over another file"; failed=1; }
expect 2 bench --tune slow "$digits"
has err "--tune: 'slow' is not accepted; expected one of off, fast, full$"

# Any pass, and all of them, can be left out.
all=
n=0
for pass in $("$poprt" --list_all_passes); do
    n=$((n + 1))
    [ $((n % $3)) -ne 0 ] || expect 0 test --disable-passes "$pass" "$data"
    all=$all${all:+,}$pass
done
expect 0 test --disable-passes "$all" "$data"
expect 0 run --disable-passes "$all" --dim batch=1 "$digits"
expect 0 bench --disable-passes "$all" --dim batch=1 --min-time 0.01 "$digits"
expect 0 --disable_passes pack_weights --export_popef -i "$digits" --output_dir p
there p/executable.popef

# Fewer bits: the same results from ONNX and from PopEF, where the file is smaller.
expect 0 --export_popef -i "$digits" --output_dir w32
for kind in weights=f16 weights=bf16 weights=f8e4m3 weights=f8e5m2 weights=i8 compute=bf16 \
    compute=i8 "compute=i8 --set weights=i4"; do
    expect 0 --export_popef --set $kind -i "$digits" --output_dir narrow
    expect 0 run --set $kind --dim batch=2 --output-dir from_onnx "$digits"
    expect 0 run --dim batch=2 --output-dir from_popef narrow/executable.popef
    cmp -s from_onnx/logits.npy from_popef/logits.npy ||
        { echo "FAILED: $kind: PopEF has other results"; failed=1; }
    [ "$(wc -c < narrow/executable.popef)" -lt "$(wc -c < w32/executable.popef)" ] ||
        { echo "FAILED: $kind: the file is no smaller"; failed=1; }
done
# A file keeps the options that it was compiled with; those of sessions may change.
expect 1 run --set weights=f32 --dim batch=2 narrow/executable.popef
has err "weights: is fixed when a model is compiled: it is 'i4' in this executable, not 'f32'"
expect 0 run --set weights=i4 --set strassen=false --dim batch=2 narrow/executable.popef
expect 2 run --set weights=i3 --dim batch=1 "$digits"
has err "weights: 'i3' is not accepted; expected one of f32, f16"
expect 1 run --set weights=i8 --set compute=bf16 --dim batch=1 "$digits"
has err "compute=bf16, which stores weights as bf16"
expect 1 run --set weights=f16 --set compute=i8 --dim batch=1 "$digits"
has err "compute=i8, which stores weights as i8"
expect 2 run --set winograd=huge --dim batch=1 "$digits"
has err "winograd: 'huge' is not accepted; expected one of auto, large"
expect 2 run --set weights --dim batch=1 "$digits"
has err 'KEY=VALUE'

# Patterns of PopART: refused names and values, and a pattern that is off.
expect 2 run --set patterns_level=none --dim batch=1 "$digits"
has err "expected one of no_patterns, minimal, default, all"
expect 1 --set disable_patterns=Inplace --export_popef -i "$digits" --output_dir t
has err "PopART has no such pattern; nearest: "
expect 2 --set disable_patterns=CoshOp --export_popef -i "$digits" --output_dir t
has err "CoshOp: this pattern is mandatory"
expect 0 --set disable_patterns=InPlace --export_popef -i "$digits" --output_dir apart
expect 0 inspect apart/executable.popef --steps
grep -q "nothing to run" out && { echo "FAILED: there are views without InPlace"; failed=1; }
expect 0 inspect w32/executable.popef --steps
has out "nothing to run"

[ "$failed" -eq 0 ] && echo "all command lines behave"
exit "$failed"
