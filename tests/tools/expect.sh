# SPDX-License-Identifier: MIT
# expect.sh — what scripts that try command lines share. Source it with POPRT and ROOT as $1 and $2:
# it goes to a temporary folder and sets poprt, data, digits, encoder, temp and failed.
poprt=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
data=$2/tests/fixtures
digits=$data/digits/model.onnx
encoder=$data/encoder/model.onnx
failed=0
temp=$(mktemp -d) || exit 2
trap 'rm -rf "$temp"' EXIT
cd "$temp" || exit 2

# expect CODE WORDS... : runs poprt with the words; its output goes to out and err.
expect() {
    want=$1
    shift
    "$poprt" "$@" >out 2>err
    got=$?
    [ "$got" -eq "$want" ] && return 0
    echo "FAILED: poprt $* ended with $got, expected $want"
    sed 's/^/    /' out err
    failed=1
}

# has FILE PATTERN
has() {
    grep -q -e "$2" "$1" && return 0
    echo "FAILED: no '$2' in $1:"
    sed 's/^/    /' "$1"
    failed=1
}

# there FILE...
there() {
    for f in "$@"; do
        [ -s "$f" ] || { echo "FAILED: $f was not written"; failed=1; }
    done
}
