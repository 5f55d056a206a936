#!/bin/sh
# SPDX-License-Identifier: MIT
# newest.sh — the node cases of the newest `onnx` on PyPI, directly and through PopEF, and our table
# of operators against its schemas. Needs build/release. Ends with the line "N passed, N failed", or
# says that it is skipped where there is no PyPI or venv. A release later than the one in
# tests/conformance.floor brings cases nobody has seen: those that fail are shown, not counted.
cd "$(dirname "$0")/.." || exit 1
. tests/support/cases.sh
. tests/support/newest.sh

skip() {
    echo "newest ONNX: skipped, $1"
    exit 0
}

[ -x build/release/src/tools/poprt ] || { echo "newest ONNX: build/release is missing"; exit 1; }
newest_python onnx || skip "$why"
version=$($python -c 'import onnx; print(onnx.__version__)')
[ -z "$why" ] || echo "newest ONNX: $why, $version is there"

cases=build/newest/cases-$version
if [ ! -f "$cases/complete" ]; then
    rm -rf "$cases"
    $python tests/newest/node_cases.py "$cases" && touch "$cases/complete" || exit 1
fi
cases newest "node cases of onnx $version" "$cases"
cases newest "node cases of onnx $version through PopEF" --via-popef "$cases"
light=build/newest/light-$version
[ -d "$light" ] || $python tests/newest/light_cases.py "$light" || exit 1
cases light "light models of onnx $version" "$light"
if $python tests/newest/schema_rows.py build/release/src/tools/poprt; then
    count 1 0 "rows against schemas of onnx $version"
else
    count 0 1 "rows against schemas of onnx $version"
fi

known=$(awk '$1 == "newest" { print $3 }' tests/conformance.floor)
latest=$(printf '%s\n%s\n' "$known" "$version" | sort -V | tail -1)
if [ "$failed" -gt 0 ] && [ "$latest" != "$known" ]; then
    echo "onnx $version is newer than $known: $failed failures are shown and not counted"
    failed=0
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
