#!/bin/sh
# SPDX-License-Identifier: MIT
# check.sh LANGUAGE LIBDIR ROOT WORK — builds an example of this folder in WORK and lets it read four
# images, whose digits are 2, 3, 4 and 5; a missing model must make it fail. LIBDIR has the shared
# library. Ends with 77, which stands for "skipped", if the language's tools are not installed.
language=$1
libdir=$(cd "$2" && pwd) || exit 2
root=$(cd "$3" && pwd) || exit 2
here=$root/examples/ffi
digits=$root/tests/fixtures/digits
mkdir -p "$4/$language" && cd "$4/$language" || exit 2
export LD_LIBRARY_PATH="$libdir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"

need() { # TOOL...
    for tool in "$@"; do
        command -v "$tool" >/dev/null || { echo "$tool is not installed"; exit 77; }
    done
}

case $language in
csharp)
    need mcs mono
    mcs -out:Digits.exe "$here/Digits.cs" || exit 1
    run() { mono Digits.exe "$@"; }
    ;;
fortran)
    need gfortran
    gfortran -std=f2018 -Wall -Wextra "$here/digits.f90" -L"$libdir" -lpoprt -o digits || exit 1
    run() { ./digits "$@"; }
    ;;
go)
    need go cc
    CGO_CFLAGS=-I$root/include CGO_LDFLAGS=-L$libdir GOCACHE=$PWD/cache \
        go build -o digits "$here/digits.go" || exit 1
    run() { ./digits "$@"; }
    ;;
java)
    need javac java cc
    home=${JAVA_HOME:-$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")}
    [ -f "$home/include/jni.h" ] || { echo "jni.h is not installed"; exit 77; }
    javac -d . "$here/Digits.java" || exit 1
    cc -std=c11 -Wall -Wextra -Werror -shared -fPIC -I"$home/include" -I"$home/include/linux" \
        -I"$root/include" "$here/digits_jni.c" -L"$libdir" -lpoprt -o libdigits.so || exit 1
    run() { java -Djava.library.path=. Digits "$@"; }
    ;;
luajit)
    need luajit
    run() { luajit "$here/digits.lua" "$@"; }
    ;;
rust)
    need rustc
    rustc --edition 2021 -D warnings -L "$libdir" "$here/digits.rs" -o digits || exit 1
    run() { ./digits "$@"; }
    ;;
*)
    echo "unknown language $language"
    exit 2
    ;;
esac

for index in 0 1 2 3; do
    said=$(run "$digits/model.onnx" "$digits/images.npy" $index) || exit 1
    echo "$language, image $index: $said"
    [ "$said" = "digit $((index + 2))" ] || exit 1
done
if run missing.onnx "$digits/images.npy" 0; then
    echo "a missing model is not an error"
    exit 1
fi
