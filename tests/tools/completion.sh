#!/bin/sh
# SPDX-License-Identifier: MIT
# completion.sh POPRT ROOT — completion.c: bash completes commands, and for each command its
# options, the words that they accept, files and folders. Skipped (77) without bash.
. "$2/tests/tools/expect.sh"
command -v bash >/dev/null || { echo "skipped: there is no bash"; exit 77; }
expect 0 --print_completion bash
cp out poprt.bash
mkdir folder && touch folder/model.onnx

# complete WORD...: prints the completions of the last word, sorted, in one line.
complete() {
    # shellcheck disable=SC2016
    bash -c '. ./poprt.bash && COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) && _poprt &&
        printf "%s\n" "${COMPREPLY[@]}"' bash "$@" | sort | tr '\n' ' ' | sed 's/ *$//'
}

# completes EXPECTED WORD...
completes() {
    want=$1
    shift
    got=$(complete "$@")
    [ "$got" = "$want" ] && return 0
    echo "FAILED: '$*' is completed by '$got', expected '$want'"
    failed=1
}

# Commands, and the main command line.
commands=$("$poprt" --help | sed -n '/^commands:/,/^Each/s/^  poprt \([a-z0-9_]*\).*/\1/p' | sort)
completes "$(echo "$commands" | tr '\n' ' ' | sed 's/ *$//')" poprt ''
completes 'inspect' poprt ins
completes '--precision --precision_compare' poprt --prec
completes 'fp8 fp8_weight' poprt --precision fp8
completes 'fp8 fp8_weight' poprt -i model.onnx --precision = fp8
completes 'full' poprt --tune fu
completes 'cpu ipu' poprt --target = # bash makes three words of --target=
completes 'folder' poprt --output_dir fo
completes 'folder/model.onnx' poprt -i folder/

# Every command completes each option that its help shows, and no other.
for command in $commands; do
    options=$("$poprt" "$command" --help |
        sed -n 's/^  \(-., \)*\(--[A-Za-z0-9_-]*\).*/\2/p' | sort | tr '\n' ' ' | sed 's/ *$//')
    completes "$options" poprt "$command" --
done
completes '--threads' poprt run model.onnx --th
completes '' poprt options --th
completes 'avx512 avx512_amx avx512_bf16 avx512_vnni' poprt run folder/model.onnx --cpu avx512
completes 'fast full' poprt bench --tune f
completes 'folder' poprt run folder/model.onnx --output-dir fo
completes 'folder/model.onnx' poprt run folder/m
completes 'folder/model.onnx' poprt auto_sharding --input_model folder/m

# zsh: a branch for each command, whose options are those of its help.
expect 0 --print_completion zsh
has out '^#compdef poprt'
cp out poprt.zsh
for command in $commands; do
    has poprt.zsh "^    $command)\$"
    sed -n "/^    $command)\$/,/;;\$/p" poprt.zsh >branch
    for option in $("$poprt" "$command" --help |
        sed -n 's/^  \(-., \)*\(--[A-Za-z0-9_-]*\).*/\2/p'); do
        has branch "'\**$option\["
    done
done
if command -v zsh >/dev/null; then
    zsh -n poprt.zsh || failed=1
fi

[ "$failed" -eq 0 ] && echo "all command lines are completed"
exit "$failed"
