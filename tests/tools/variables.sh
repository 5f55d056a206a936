#!/bin/sh
# SPDX-License-Identifier: MIT
# variables.sh POPRT ROOT — environment variables of the tool: levels and destination of log lines
# under our names and under those of PopTorch and PopART, and the folder of stored executables.
# Covers log.c.
. "$2/tests/tools/expect.sh"

# with VARIABLE=VALUE... -- WORDS...: the tool with these variables ends with 0.
with() {
    vars=
    while [ "$1" != -- ]; do
        vars="$vars $1"
        shift
    done
    shift
    # shellcheck disable=SC2086
    env $vars "$poprt" "$@" >out 2>err || { echo "FAILED:$vars poprt $*"; cat err; failed=1; }
}

# without ...: no lines beyond the result.
with POPRT_LOG_LEVEL= -- run "$digits" --dim batch=1
! grep -q '\[poprt\]' err || { echo "FAILED: lines without a variable"; failed=1; }

for name in POPRT_LOG_LEVEL POPTORCH_LOG_LEVEL POPART_LOG_LEVEL; do
    with $name=DEBUG -- run "$digits" --dim batch=1
    has err 'DEBUG \[poprt\] model\] read '
    has err 'DEBUG \[poprt\] session\] run of '
    has err 'DEBUG \[poprt\] compile\] compiled '
done
with POPTORCH_LOG_LEVEL=TRACE_ALL -- run "$digits" --dim batch=1
has err 'TRACE \[poprt\] session\] run of .* begins'
with POPTORCH_LOG_LEVEL=1 -- run "$digits" --dim batch=1
has err 'DEBUG \[poprt\] model\] read '

# Our name is stronger, and modules have levels of their own.
with POPRT_LOG_LEVEL=off,session=debug POPART_LOG_LEVEL=TRACE -- run "$digits" --dim batch=1
has err 'DEBUG \[poprt\] session\] run of '
! grep -q 'model\]\|compile\]' err || { echo "FAILED: lines of other modules"; failed=1; }
with POPART_LOG_LEVEL=warn,ir=debug -- run "$digits" --dim batch=1
has err 'DEBUG \[poprt\] model\] read '
! grep -q 'session\]' err || { echo "FAILED: lines of other modules"; failed=1; }

# A file of levels.
echo '{"devicex": "DEBUG", "session": "OFF"}' >levels.json
for name in POPRT_LOG_CONFIG POPART_LOG_CONFIG; do
    with $name=levels.json -- run "$digits" --dim batch=1
    has err 'DEBUG \[poprt\] compile\] compiled '
    ! grep -q 'session\]\|model\]' err || { echo "FAILED: lines of other modules"; failed=1; }
done

# Destinations.
with POPART_LOG_LEVEL=debug POPART_LOG_DEST=stdout -- run "$digits" --dim batch=1
has out 'DEBUG \[poprt\] model\] read '
with POPART_LOG_LEVEL=debug POPTORCH_LOG_DEST=lines.txt POPART_LOG_DEST=stdout -- \
    run "$digits" --dim batch=1
has lines.txt 'DEBUG \[poprt\] model\] read '
! grep -q 'model\]' out err || { echo "FAILED: lines beside the file"; failed=1; }

# The command line is stronger.
with POPRT_LOG_LEVEL=debug -- -i "$digits" --input_shape image=1,1,8,8 --output_dir made \
    --logging_level ERROR
! grep -q 'DEBUG' err || { echo "FAILED: the option is not stronger"; failed=1; }
with POPRT_LOG_LEVEL=debug -- -i "$digits" --input_shape image=1,1,8,8 --output_dir made
has err 'DEBUG \[poprt\] model\] read '

# Wrong values.
for words in "POPRT_LOG_LEVEL=loud 'loud' is not accepted; expected one of off, critical, error" \
    "POPART_LOG_LEVEL=info,gears=debug module 'gears': is not a module of log lines" \
    "POPRT_LOG_DEST=/nowhere/lines cannot be opened" "POPRT_LOG_CONFIG=levels.txt levels.txt"; do
    env "${words%% *}" "$poprt" run "$digits" --dim batch=1 >out 2>err
    [ $? = 2 ] || { echo "FAILED: ${words%% *} is accepted"; failed=1; }
    has err "${words#* }"
done
echo '{"session": 3}' >levels.json
! POPRT_LOG_CONFIG=levels.json "$poprt" run "$digits" --dim batch=1 2>err || failed=1
has err "the level of 'session' must be a text"

# Operators of the compiled program.
for name in POPRT_IR_DUMP POPART_IR_DUMP; do
    with $name=ir.json -- run "$digits" --dim batch=1
    has ir.json '^  "main": \['
    has ir.json '"type": "NhwcConv"'
    rm ir.json
done
with POPRT_IR_DUMP=ir.json -- -i "$digits" --input_shape image=1,1,8,8 --output_dir made --export_popef
has ir.json '"type": "NhwcConv"'
! POPRT_IR_DUMP=/nowhere/ir.json "$poprt" run "$digits" --dim batch=1 2>err || failed=1
has err '/nowhere/ir.json'

# Stored executables.
for name in POPRT_CACHE_DIR POPTORCH_CACHE_DIR POPART_CACHE_DIR; do
    with $name=stored POPRT_LOG_LEVEL=cache=info -- run "$digits" --dim batch=1
    has err 'INFO \[poprt\] cache\] kept: stored/'
    with $name=stored POPRT_LOG_LEVEL=cache=info -- run "$digits" --dim batch=1
    has err 'INFO \[poprt\] cache\] compiled before: stored/'
    rm -r stored
done
exit $failed
