#!/bin/sh
# SPDX-License-Identifier: MIT
# batches.sh POPRT ROOT — --batches_per_step: one run of the PopEF file takes N mini-batches, and gives
# the bits of N runs.
. "$(dirname "$0")/expect.sh"

batches=5
image=256 # bytes of 8x8 float32

# npy FILE DIMS SKIP COUNT: writes images SKIP.. of the fixture as an array of these dims.
npy() {
    printf '\223NUMPY\001\000v\000%-117s\n' \
        "{'descr': '<f4', 'fortran_order': False, 'shape': ($2), }" >"$1"
    tail -c +129 "$data/digits/images.npy" | tail -c +$(($3 * image + 1)) |
        head -c $(($4 * image)) >>"$1"
}

shape="--input_shape image=1,1,8,8"
expect 0 -i "$digits" $shape --export_popef --output_dir one
expect 0 -i "$digits" $shape --batches_per_step $batches --export_popef --output_dir many
expect 0 -i "$digits" $shape --compiler_options batches_per_step=$batches --export_popef --output_dir key
cmp -s many/executable.popef key/executable.popef ||
    { echo "FAILED: --compiler_options batches_per_step makes another file"; failed=1; }
expect 0 -i "$digits" $shape --batches_per_step 1 --export_popef --output_dir same
cmp -s one/executable.popef same/executable.popef ||
    { echo "FAILED: one mini-batch makes another file"; failed=1; }

npy all.npy "$batches, 1, 1, 8, 8" 0 $batches
expect 0 run many/executable.popef --input image=all.npy --output-dir all
tail -c $((batches * 40)) all/logits.npy >all.bytes
: >each.bytes
for i in 0 1 2 3 4; do
    npy each.npy "1, 1, 8, 8" $i 1
    expect 0 run one/executable.popef --input image=each.npy --output-dir each
    tail -c 40 each/logits.npy >>each.bytes
done
[ "$(wc -c <all.bytes)" -eq $((batches * 40)) ] || { echo "FAILED: logits are missing"; failed=1; }
cmp -s all.bytes each.bytes || { echo "FAILED: the bits differ from those of $batches runs"; failed=1; }

# Random inputs have the dimension of the batches; wrong sizes are refused.
expect 0 run many/executable.popef --output-dir random
has err "random float32 \[5, 1, 1, 8, 8\]"
expect 1 run many/executable.popef --input image=each.npy
has err "5 blocks of 64"
expect 0 -i "$digits" $shape --batches_per_step $batches --run --output_dir run
has out "Bs: 5"

[ "$failed" -eq 0 ] && echo "one run takes $batches mini-batches"
exit "$failed"
