#!/bin/sh
# SPDX-License-Identifier: MIT
# judge.sh — converts models in every way and lets programs that are not ours judge the files: the
# onnx.checker of Debian and, where PyPI answers, that of the newest onnx and ONNX Runtime. By default
# the models of tests/fixtures and Debian's node and pytorch cases; or all models below the folders
# given. Needs build/release. Ends with the line "N passed, N failed".
#
#   sh tests/judge.sh [FOLDER...]
cd "$(dirname "$0")/.." || exit 1
. tests/support/need.sh
. tests/support/cases.sh
tool=build/release/src/tools/poprt
[ -x $tool ] || { echo "judge: $tool is missing"; exit 1; }
need python3 python3-onnx || exit 1

onnx=/usr/share/libonnx-testdata/data
out=build/judge
refused=tests/judge/refused.txt
if [ $# -eq 0 ]; then
    set -- tests/fixtures $onnx/node $onnx/pytorch-converted $onnx/pytorch-operator
else
    # How many of other models are refused is not known.
    refused=$out/refused.txt
fi
rm -rf $out
mkdir -p $out
[ $refused = tests/judge/refused.txt ] || sed '/^[^#]/s/ .*/ 1000000/' tests/judge/refused.txt >$refused
python3 tests/judge/convert.py $tool $out "$@" || exit 1

# judge PYTHON NAME: what the packages of this Python say.
judge() {
    "$1" tests/judge/check.py $out tests/judge/known.md $refused >$out/report.txt 2>&1
    status=$?
    grep -v '^FAILED' $out/report.txt
    grep '^FAILED' $out/report.txt | head -100 | cut -c1-300
    good=$(awk '/^[0-9]+ passed, [0-9]+ failed$/ { print $1 }' $out/report.txt)
    bad=$(awk '/^[0-9]+ passed, [0-9]+ failed$/ { print $3 }' $out/report.txt)
    [ $status -eq 0 ] || [ "${bad:-0}" -gt 0 ] || bad=1
    count "${good:-0}" "${bad:-0}" "$2"
}

judge /usr/bin/python3 "files judged by Debian's onnx"
. tests/support/newest.sh
if newest_python onnx onnxruntime; then
    judge "$python" "files judged by the newest onnx and ONNX Runtime"
    if "$python" tests/judge/trained.py $tool build/release/examples/train_digits \
        tests/fixtures/digits_training >$out/trained.txt 2>&1; then
        count 2 0 "a trained network, run by ONNX Runtime"
    else
        grep -a '^FAILED\|Error' $out/trained.txt
        count 0 2 "a trained network, run by ONNX Runtime"
    fi
else
    echo "newest onnx and ONNX Runtime: skipped, $why"
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
