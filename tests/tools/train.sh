#!/bin/sh
# SPDX-License-Identifier: MIT
# train.sh POPRT ROOT — `poprt train` on handwritten digits: what it learns, checkpoints, signals,
# schedules, wrong data and wrong command lines. Covers: train.c, data.c, loss.c, loop.c, report.c,
# schedule.c, validate.c, curve.c.
. "$2/tests/tools/expect.sh"
training=$data/digits_training

fail() {
    echo "FAILED: $*"
    failed=1
}

# wrong PATTERN WORDS...: a usage error of poprt train, in two lines.
wrong() {
    pattern=$1
    shift
    expect 2 train "$@"
    [ "$(wc -l <err)" -eq 2 ] || fail "poprt train $* prints $(wc -l <err) lines"
    has err "^poprt train: error: $pattern"
}

# refuses PATTERN WORDS...: a failure with a message of one line.
refuses() {
    pattern=$1
    shift
    expect 1 train "$@"
    [ "$(wc -l <err)" -eq 1 ] || fail "poprt train $* prints $(wc -l <err) lines"
    has err "$pattern"
}

# learn WORDS...: trains the untrained network.
learn() {
    expect 0 train "$training/untrained.onnx" --data "$training/train" --threads 1 \
        --loss cross_entropy:logits,label "$@"
}

# tune STEPS WORDS...: trains the network with Dropout that has been trained, for a number of steps.
# tune_here does so in place of the shell, which must be one of its own.
tune() {
    (tune_here "$@")
}
tune_here() {
    steps=$1
    shift
    # Shells let processes in the background ignore SIGINT.
    exec env --default-signal=INT "$poprt" train "$digits" --data tuning --loss cross_entropy:logits,label --threads 1 \
        --optimizer adamw:lr=0.001,wd=0.01 --schedule cosine --steps "$steps" --batch 8 --seed 5 "$@"
}

# value KEY: the value of KEY in the last line of `out`, which is JSON.
value() {
    tail -1 out | sed "s/.*\"$1\":\([^,}]*\).*/\1/"
}

# close A B: the numbers differ by at most one in a thousand.
close() {
    awk -v a="$1" -v b="$2" 'BEGIN { exit !(a - b <= 0.001 * b && b - a <= 0.001 * b) }' ||
        fail "$1 is not close to $2"
}

mkdir tuning uneven
ln -s "$data/digits/images.npy" tuning/image.npy
ln -s "$data/digits/labels.npy" tuning/label.npy

# What is learnt.
learn --optimizer adam:lr=0.003 --epochs 4 --validate "$training/held_back" --output trained.onnx \
    --curve curve.svg
has out '^step 176 of 176, epoch 4.00: loss 0\.0[0-9]*, validation loss 0\.[0-9]*, accuracy 9[3-9]\.'
has out '^trained 176 steps in .*; wrote trained.onnx$'
[ "$(wc -l <out)" -eq 5 ] || fail "4 epochs do not print 4 lines and a summary"
[ ! -s err ] || fail "training writes to standard error"
! grep -q "$(printf '\r')" out || fail "a file gets a progress bar"
has curve.svg '<svg xmlns='
has curve.svg 'training loss'
has curve.svg 'validation loss'
has curve.svg '^</svg>$'
expect 0 inspect trained.onnx
! grep -q 'label\|loss' out || fail "the written model has the loss"
expect 0 run trained.onnx --input "image=$training/held_back/image.npy"
has out 'logits'

# The same steps with and without reports between them, and with any number of threads, give the
# same weights; another seed does not.
for more in '' '--every 3' '--threads 3' '--seed 6' '--shuffle false'; do
    # shellcheck disable=SC2086
    tune 12 --output "more$more.onnx" $more >out 2>err || fail "tune 12 $more"
done
for more in '--every 3' '--threads 3'; do
    cmp more.onnx "more$more.onnx" || fail "$more changes the weights"
done
for more in '--seed 6' '--shuffle false'; do
    ! cmp -s more.onnx "more$more.onnx" || fail "$more does not change the weights"
done

# A run that is killed again and again ends with the weights of an undisturbed one. 360 digits are
# 45 steps: the epochs change in between.
tune 130 --output straight.onnx >out 2>err || fail "tune 130"
for kill in 1 2 3; do
    tune_here 130 --every 4 --checkpoint state --resume --output resumed.onnx >"out$kill" 2>"err$kill" &
    process=$!
    before=$(cat out? | grep -c '^step')
    for wait in $(seq 1000); do
        [ "$(cat out? | grep -c '^step')" -gt $((before + kill)) ] && break
        kill -0 $process 2>/dev/null || break
        sleep 0.01
    done
    kill -9 $process 2>/dev/null
    wait $process 2>/dev/null
done
has err1 'state does not exist yet: training begins at step 0'
there state
tune 130 --every 4 --checkpoint state --resume --output resumed.onnx >out 2>err || fail "resume"
cmp straight.onnx resumed.onnx || fail "a resumed run has other weights"
there state.1
tune 130 --every 4 --checkpoint state --resume --output again.onnx >out 2>err || fail "resume at end"
cmp straight.onnx again.onnx || fail "a checkpoint of the last step has other weights"

# The curve goes on where the checkpoint is, and a foreign file in its place is replaced.
tune 20 --schedule constant --every 4 --curve whole.svg >out 2>err || fail "tune 20 with a curve"
echo 'not a curve' >parts.svg
tune 8 --schedule constant --every 4 --curve parts.svg --checkpoint drawn >out 2>err ||
    fail "the first part of a curve"
sed -i 's/^-->$/12 0.5 0.5\n-->/' parts.svg # a report behind the checkpoint
tune 20 --schedule constant --every 4 --curve parts.svg --checkpoint drawn --resume >out 2>err ||
    fail "the second part of a curve"
[ "$(grep -c '^[0-9]* [0-9.]* nan$' parts.svg)" -eq 5 ] || fail "the curve has not 5 points"
cmp whole.svg parts.svg || fail "a resumed run draws another curve"

# Ctrl-C ends training after a step, with a checkpoint of this step.
rm -f out # that of the run before has steps too
tune_here 100000 --every 5 --checkpoint stopped >out 2>err &
process=$!
for wait in $(seq 3000); do
    grep -qs '^step' out && break
    sleep 0.01
done
kill -INT $process
wait $process
got=$?
[ "$got" -eq 130 ] || fail "a run that was interrupted ended with $got"
has err 'stopped after step [0-9]* of 100000; --resume continues from stopped$'
last=$(sed -n 's/.*stopped after step \([0-9]*\) of.*/\1/p' err)
tune "${last:-1}" --checkpoint stopped --resume >out 2>err || fail "resume after Ctrl-C"
has out '^trained 0 steps'

# Checkpoints of other runs.
tune 130 --checkpoint state >out 2>err && fail "a checkpoint is overwritten"
has err 'the checkpoint exists already; --resume continues from it'
tune 130 --checkpoint state --resume --seed 9 >out 2>err && fail "another seed is accepted"
has err 'is 9, but the checkpoint has the seed 5'
tune 100 --checkpoint state --resume >out 2>err && fail "fewer steps are accepted"
has err 'the checkpoint has 130 steps, and training ends after 100'
printf 'nothing' >broken
tune 10 --checkpoint broken --resume >out 2>err && fail "a broken checkpoint is accepted"

# Micro-batches and replicas are averaged. Without the statistics of micro-batches, the losses are
# those of one large batch.
for split in '32' '8 --accumulate 4' '8 --replicas 4' '8 --accumulate 2 --replicas 2'; do
    # shellcheck disable=SC2086
    learn --optimizer sgd:lr=0.01,momentum=0.9 --steps 8 --json --set keep_model_form=true --batch $split
    [ -n "$loss" ] || loss=$(value loss)
    close "$(value loss)" "$loss"
done

# Learning rates.
rates() {
    learn --optimizer sgd:lr=0.5 --batch 4 --steps 5 --every 1 --json "$@"
    sed 's/.*"learning_rate":\([0-9.e-]*\).*/\1/' out | awk '{ printf "%s%.4f", (NR > 1 ? " " : ""), $1 }'
}
[ "$(rates)" = '0.5000 0.5000 0.5000 0.5000 0.5000' ] || fail "constant: $(rates)"
got=$(rates --schedule linear:0)
[ "$got" = '0.5000 0.4000 0.3000 0.2000 0.1000' ] || fail "linear: $got"
got=$(rates --schedule step:2:0.1)
[ "$got" = '0.5000 0.5000 0.0500 0.0500 0.0050' ] || fail "step: $got"
got=$(rates --schedule cosine --warmup 1)
[ "$got" = '0.2500 0.5000 0.4268 0.2500 0.0732' ] || fail "cosine: $got"

# The schedule acts: with a rate of 0 the weights stay.
learn --optimizer sgd:lr=0.5 --steps 3 --schedule step:1:0 --set keep_model_form=true --output one.onnx
learn --optimizer sgd:lr=0.5 --steps 1 --set keep_model_form=true --output two.onnx
cmp one.onnx two.onnx || fail "steps with a learning rate of 0 change weights"

# Frozen weights stay: at most the 40 bytes of dense_bias differ.
learn --optimizer sgd:lr=0.01 --steps 2 --set keep_model_form=true --output frozen.onnx --frozen \
    dense,conv0,conv1,conv2 --frozen scale0,scale1,scale2,bias0,bias1,bias2,mean0,mean1,mean2 \
    --frozen variance0,variance1,variance2
learn --optimizer sgd:lr=0.01 --steps 2 --set keep_model_form=true --output free.onnx
differ() {
    cmp -l "$1" "$2" 2>/dev/null | wc -l
}
[ "$(differ frozen.onnx free.onnx)" -gt 1000 ] || fail "--frozen changes nothing"
learn --optimizer sgd:lr=0.01 --steps 4 --set keep_model_form=true --output frozen4.onnx --frozen \
    dense,conv0,conv1,conv2 --frozen scale0,scale1,scale2,bias0,bias1,bias2,mean0,mean1,mean2 \
    --frozen variance0,variance1,variance2
got=$(differ frozen.onnx frozen4.onnx)
[ "$got" -gt 0 ] && [ "$got" -le 40 ] || fail "with frozen weights $got bytes differ"

# The mean of squared differences of a model and itself is 0, and an archive is read as a folder is.
"$poprt" run "$digits" --input "image=$data/digits/images.npy" --output-dir self >out 2>err
mkdir distill
ln -s "$data/digits/images.npy" distill/image.npy
ln -s "$PWD/self/logits.npy" distill/target.npy
expect 0 train "$digits" --data distill --loss mse:logits,target --optimizer sgd:lr=0.001 --steps 1 \
    --set keep_model_form=true --json
awk -v loss="$(value loss)" 'BEGIN { exit !(loss < 1e-9) }' || fail "mse is $(value loss)"
if command -v python3 >/dev/null; then
    (cd "$training/train" && python3 -m zipfile -c "$temp/train.npz" image.npy label.npy)
    learn --optimizer sgd:lr=0.01 --steps 2 --json
    loss=$(value loss)
    learn --optimizer sgd:lr=0.01 --steps 2 --json --data train.npz
    [ "$(value loss)" = "$loss" ] || fail "an archive has the loss $(value loss), a folder $loss"
fi

# Wrong data: the message names the file, the array and what is accepted.
cp "$training/train/image.npy" uneven/image.npy
cp "$training/held_back/label.npy" uneven/label.npy
set -- "$training/untrained.onnx" --loss cross_entropy:logits,label --optimizer sgd --steps 2
refuses "uneven: label.*: .*360 samples.*1437" "$@" --data uneven
refuses "tuning: image: the array has elements of type .*; the input accepts uint8" "$@" --data tuning
rm uneven/image.npy
refuses "uneven: image: there is no array of this name.*arrays: label\$" "$@" --data uneven
ln "uneven/label.npy" uneven/image.npy
refuses "uneven: image: the array has the shape \[samples\]; the input accepts \[samples,1,8,8\]" \
    "$@" --data uneven
rm uneven/label.npy
refuses "uneven: label: there is no array of this name, which is read by the loss" "$@" --data uneven
refuses "broken: the file is not an .npz archive" "$@" --data broken
refuses 'nowhere: .*No such file' "$@" --data nowhere
refuses "there are 1437 samples, and a step needs 1440 (--batch 32, --accumulate 45, --replicas 1)" \
    "$@" --data "$training/train" --accumulate 45
refuses 'lost: .*nearest' "$@" --data "$training/train" --frozen lost
refuses 'the loss is not finite in step' "$@" --data "$training/train" --optimizer sgd:lr=1e30 --steps 9
refuses 'automatic loss scaling needs float16 gradients' "$@" --data "$training/train" \
    --set automatic_loss_scaling=true
refuses "the labels have elements of type float32" "$digits" --data tuning --steps 1 --optimizer sgd \
    --loss cross_entropy:logits,label --validate tuning --accuracy logits,image

# Wrong command lines.
wrong '--loss is missing$' "$digits" --data tuning
wrong '--optimizer is missing$' "$digits" --data tuning --loss loss
wrong 'either --steps or --epochs must be given$' "$digits" --data tuning --loss loss --optimizer sgd
set -- "$digits" --data tuning --loss loss --steps 2
wrong '--optimizer: sdg: there is no such optimizer; similar: sgd' "$@" --optimizer sdg
wrong '--optimizer: beta1: ' "$@" --optimizer sgd:beta1=0.9
wrong "--optimizer: learning_rate: 'fast' is not a number" "$@" --optimizer sgd:lr=fast
wrong '--optimizer: lr: must have the form KEY=VALUE$' "$@" --optimizer sgd:lr
wrong "--schedule: 'slow' is not accepted; expected constant, linear:LAST" "$@" --optimizer sgd \
    --schedule slow
wrong '--schedule: the optimizer const_sgd has a constant learning rate' "$@" --optimizer const_sgd \
    --warmup 3
wrong '--resume needs --checkpoint FILE$' "$@" --optimizer sgd --resume
wrong '--accuracy needs --validate PATH$' "$@" --optimizer sgd --accuracy a,b
wrong "--set: accumulation_factor is not accepted here; use --accumulate$" "$@" --optimizer sgd \
    --set accumulation_factor=2
wrong "--loss: 'logits' must name two tensors" "$digits" --data tuning --loss mse:logits --steps 2 \
    --optimizer sgd

# The first example of the help works.
expect 0 train --help
sed -n '/^examples:/,/^  poprt train model.onnx/p' out | sed '1d;$d' | sed "s,tests/fixtures,$data,g" >example
has example 'cross_entropy:logits,label'
(poprt() { "$poprt" "$@"; } && . ./example) >out 2>err || fail "the example of the help"
has out 'wrote new.onnx$'

[ "$failed" -eq 0 ] && echo "training works from the command line"
exit "$failed"
