#!/bin/sh
# SPDX-License-Identifier: MIT
# wheel.sh — builds the Python wheel without the network, checks what it has and needs, installs it
# into a fresh virtual environment and uses it there: a model, the command line, two scripts. Needs
# python3-mesonpy, python3-pip, python3-venv, python3-numpy. Ends with the line "N passed, N failed".
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$root/build/wheel
python=${PYTHON:-/usr/bin/python3}
. "$root/tests/support/check.sh"
rm -rf "$work"
mkdir -p "$work"
"$python" -c 'import mesonpy, numpy, venv, ensurepip' ||
    { echo "python3-mesonpy is missing"; exit 77; }

# The wheel may say that it runs with a C library from 2.34 on if no symbol is newer.
build() {
    cd "$root" || return 1
    _PYTHON_HOST_PLATFORM=manylinux_2_34-$(uname -m) \
        "$python" -m pip wheel --no-build-isolation --no-deps --no-index -w "$work" . || return 1
    ls "$work"/poprt-*-cp311-abi3-manylinux_2_34_*.whl
}

contents() {
    mkdir -p "$work/unpacked"
    "$python" -m zipfile -e "$work"/poprt-*.whl "$work/unpacked" || return 1
    for file in poprt/_core.abi3.so poprt/py.typed poprt/cli.py poprt/passes/__init__.py \
            popef/__init__.py popart/__init__.py; do
        [ -f "$work/unpacked/$file" ] || { echo "no $file"; return 1; }
    done
    find "$work/unpacked" -name '*.h' -o -name '*.a' -o -name '*.pc' | grep . && return 1
    find "$work/unpacked" -path '*.data/*' | grep . && return 1
    grep -q '^Provides-Extra: torch' "$work"/unpacked/*.dist-info/METADATA
}

# Libraries outside the wheel are those of the C library; libcjson is beside the extension.
needs() {
    extension=$work/unpacked/poprt/_core.abi3.so
    objdump -p "$extension" | awk '$1 == "NEEDED" { print $2 }' >"$work/needed"
    cat "$work/needed"
    grep -Evq '^(libm|libc|libcjson|ld-linux[-a-z0-9_]*)[.]so' "$work/needed" && return 1
    grep -q cjson "$work/needed" &&
        { [ -f "$work/unpacked/poprt/libcjson.so.1" ] || return 1; }
    objdump -T "$work"/unpacked/poprt/*.so* | grep -o 'GLIBC_2[.][0-9]*' | sort -uV >"$work/glibc"
    cat "$work/glibc"
    [ "$( (cat "$work/glibc"; echo GLIBC_2.34) | sort -V | tail -n 1)" = GLIBC_2.34 ]
}

installed() {
    "$python" -m venv --system-site-packages "$work/venv" || return 1
    "$work/venv/bin/pip" install --no-index --no-deps "$work"/poprt-*.whl || return 1
    cd "$work" || return 1
    env -u PYTHONPATH "$work/venv/bin/python" - "$root/tests/fixtures/digits" <<'END'
import sys
import numpy as np
import poprt
import popart
import popef
assert poprt.__file__.startswith(sys.prefix), poprt.__file__
folder = sys.argv[1]
images = np.load(folder + "/images.npy").astype(np.float32)
session = poprt.InferenceSession(folder + "/model.onnx")
found = session.run(None, {"image": images})[0].argmax(1)
assert (found == np.load(folder + "/labels.npy")).mean() > 0.9
print(poprt.__version__)
END
}

scripts() {
    cd "$work" || return 1
    "$work/venv/bin/poprt" --version | grep -q '^PopRT version: ' || return 1
    model=$root/tests/fixtures/digits/model.onnx
    "$work/venv/bin/poprt" -i "$model" --show | grep -q logits || return 1
    printf 'input_model: %s\nshow: True\n' "$model" >job.yaml
    "$work/venv/bin/poprt" --config_yaml job.yaml | grep -q logits || return 1
    "$work/venv/bin/poprt" --no_such_option
    [ $? -eq 2 ] || return 1
    "$work/venv/bin/poprt_exec" poprt_run_popef --help | grep -q -- --popef
}

sources() {
    cd "$root" || return 1
    "$python" -m build --version >/dev/null 2>&1 || { echo "python3-build is missing"; return 0; }
    git -C "$root" rev-parse >/dev/null 2>&1 || { echo "not a git repository"; return 0; }
    "$python" -m build --sdist --no-isolation -o "$work" . || return 1
    tar tf "$work"/poprt-*.tar.gz | grep -q '/src/python/poprt/cli.py$'
}

check build build
check contents contents
check needs needs
check installed installed
check scripts scripts
check sources sources
finish
