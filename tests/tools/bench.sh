#!/bin/sh
# SPDX-License-Identifier: MIT
# bench.sh POPRT ROOT — caches.c, the caches of poprt bench: inputs and outputs that share a buffer,
# with a pattern for their names and a number of rows; and caches that cannot be bound.
. "$2/tests/tools/expect.sh"
decoder=$data/decoder/model.onnx

# The caches of a decoder: the attention mask has a column for each row and the new token.
for rows in 0 1 32; do
    expect 0 bench "$decoder" --cache 'past_*=present_*' --cache history=history_now --rows $rows \
        --min-time 0.01
    has out '^model=.* median_ms=[0-9.]* '
done
expect 0 bench "$decoder" --cache 'past_*=present_*' --cache history=history_now --min-time 0.01 \
    --profile
has out 'all of block 0'

# A cache that the model does not have, or that cannot be one.
expect 1 bench "$decoder" --cache past_key --min-time 0.01
has err 'past_key'
expect 1 bench "$decoder" --cache 'nothing_*=present_*' --min-time 0.01
has err 'nothing_'
expect 1 bench "$decoder" --cache 'past_*=absent_*' --min-time 0.01
has err 'absent_'
expect 1 bench "$decoder" --cache logits=input_ids --min-time 0.01
has err 'logits'
expect 1 bench "$decoder" --cache input_ids=logits --min-time 0.01
has err 'input_ids\|logits'
expect 2 bench "$decoder" --cache 'past_*=present_*' --rows many
has err "--rows: 'many' is not accepted"

[ "$failed" -eq 0 ] && echo "all caches behave"
exit "$failed"
