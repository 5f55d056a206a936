#!/bin/sh
# SPDX-License-Identifier: MIT
# progress.sh POPRT ROOT — the progress bar: on a terminal, with and without colours, and nothing when
# the output is a file. Covers: progress.c.
. "$2/tests/tools/expect.sh"
command -v script >/dev/null || exit 77

# on_terminal VARIABLE=VALUE... : runs for more than a second with a terminal as standard error.
on_terminal() {
    # The terminal's program is what `script` starts; both streams go to the file `screen`.
    env "$@" script -qec "'$poprt' bench '$digits' --dim batch=1 --min-time 1.5 --threads 1" /dev/null \
        >screen 2>&1 </dev/null
}

on_terminal TERM=xterm
has screen 'Running: *[0-9]*%|'
has screen '\[32m#'
on_terminal TERM=xterm NO_COLOR=1
has screen 'Running: *[0-9]*%|#'
on_terminal TERM=dumb
! grep -q Running: screen || { echo "FAILED: a dumb terminal gets a progress bar"; failed=1; }
expect 0 bench "$digits" --dim batch=1 --min-time 1.5 --threads 1
! grep -q Running: out err || { echo "FAILED: a file gets a progress bar"; failed=1; }

# The bar of training has the loss and the speed.
env TERM=xterm script -qec "'$poprt' train '$data/digits_training/untrained.onnx' --epochs 16 --threads 1 \
    --data '$data/digits_training/train' --loss cross_entropy:logits,label --optimizer sgd:lr=0.01" \
    /dev/null >screen 2>&1 </dev/null
has screen 'Training: *[0-9]*%|.*\] loss [0-9.]*, [0-9]* samples/s'
has screen 'step 704 of 704'

[ "$failed" -eq 0 ] && echo "the progress bar is for terminals"
exit "$failed"
