#!/bin/sh
# SPDX-License-Identifier: MIT
# usage.sh POPRT ROOT — opt.c, opt_help.c, main.c: a wrong command line ends with 2 and prints two
# lines: the option, the reason and what would be accepted; and where the help is. Help goes to
# stdout.
. "$2/tests/tools/expect.sh"

# wrong COMMAND PATTERN WORDS...: a usage error of COMMAND, whose first line has the pattern.
wrong() {
    command=$1
    pattern=$2
    shift 2
    expect 2 "$@"
    [ ! -s out ] || { echo "FAILED: poprt $* writes to standard output"; failed=1; }
    [ "$(wc -l <err)" -eq 2 ] || { echo "FAILED: poprt $* prints $(wc -l <err) lines"; failed=1; }
    has err "^$command: error: $pattern"
    has err "^see $command --help\$"
}

# Names of options, whole and shortened.
wrong poprt 'unknown option --precison (nearest: precision' --precison fp16 -i "$digits"
wrong poprt '--output is the prefix of several options: --output_dir, --output_model$' --output x
wrong poprt 'unknown option -z (short options: -h, -i, -v)$' -z
wrong 'poprt run' 'unknown option --treads (nearest: threads' run "$digits" --treads 2
wrong 'poprt bench' 'unknown option --mintime (nearest: min-time' bench "$digits" --mintime=2
wrong 'poprt options' 'unknown option --jsn (nearest: json' options --jsn
expect 0 run "$digits" --iter 2 --output-d made
there made/logits.npy

# Values.
wrong poprt "--precision: 'fp9' is not accepted; expected one of fp32, fp16, " --precision fp9
wrong 'poprt run' "--cpu: 'sse2' is not accepted; expected one of native, " run "$digits" --cpu sse2
wrong 'poprt run' "--threads: 'x' is not accepted; expected a whole number from 0 to 1024\$" \
    run "$digits" --threads=x
wrong 'poprt run' '--input needs a value: NAME=FILE$' run "$digits" --input
wrong 'poprt inspect' '--steps does not take a value$' inspect "$digits" --steps=yes
wrong poprt '-i needs a value\|--input_model needs a value: PATH$' -i

# Values that the library refuses.
wrong 'poprt run' "winograd: 'huge' is not accepted; expected one of auto, " \
    run "$digits" --set winograd=huge
wrong 'poprt run' 'winogrd: no such option; nearest: winograd' run "$digits" --set winogrd=off
wrong 'poprt bench' "--set: 'winograd' must have the form KEY=VALUE or @FILE\$" \
    bench "$digits" --set winograd
wrong 'poprt inspect' "unknown pass 'fuse_epilog'; nearest: fuse_epilogue\|fuse_epilog: " \
    inspect "$digits" --disable-passes fuse_epilog
wrong poprt 'num_ipu: no such option; nearest: num_ipus' -i "$digits" --compiler_options num_ipu=2

# Arguments and commands.
wrong poprt "unknown command 'rum' (nearest: run" rum "$digits"
wrong poprt '--input_model is missing$'
wrong 'poprt run' 'MODEL is missing$' run
wrong 'poprt bench' "unexpected argument '$digits'\$" bench "$digits" "$digits"
wrong 'poprt auto_sharding' '--num_ipus is missing$' auto_sharding -i "$digits"
ln -s "$poprt" poprt_exec
plain=$poprt
poprt=./poprt_exec
wrong poprt_exec "unknown command 'nothing' (nearest: " nothing
wrong poprt_exec 'TOOL is missing$'
poprt=$plain

# Every command has help, on standard output, with bounds and defaults.
for command in '' run test train bench inspect options auto_sharding tf2onnx; do
    # shellcheck disable=SC2086
    expect 0 $command --help
    has out "^usage: poprt${command:+ $command} "
    has out '^options:$'
    [ ! -s err ] || { echo "FAILED: --help of '$command' writes to standard error"; failed=1; }
done
expect 0 run --help
has out 'number of runs (a whole number from 1 to 1000000000; default: 1)'
expect 0 --help
has out 'default: F143,F143,-1,-1)'
has out '^  poprt run MODEL  '
expect 0 bench --help
has out 'one of off, fast, full; default: off'

[ "$failed" -eq 0 ] && echo "all command lines are explained"
exit "$failed"
