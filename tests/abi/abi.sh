#!/bin/sh
# SPDX-License-Identifier: MIT
# abi.sh ROOT CC [--write] — compares the functions, structs and enums of the shared library with the
# baseline tests/abi/libpoprt.abi by abidiff (Debian: abigail-tools). New functions are accepted. A
# struct that begins with struct_size may grow at its end: check that the report shows nothing else,
# then write a new baseline with --write. Ends with 77 where abidiff is missing.
root=$1
cc=$2
cd "$root" || exit 2
command -v abidiff >/dev/null || { echo "abidiff is missing (Debian: abigail-tools)"; exit 77; }
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
# All exported functions are in src/api and src/runner: these files alone, with debug information,
# show the ABI.
for source in src/api/*.c src/runner/*.c; do
    $cc -std=gnu11 -g -O0 -fPIC -fvisibility=hidden -Iinclude -Ilib -Isrc \
        $(pkg-config --cflags libcjson 2>/dev/null) -c "$source" -o "$work/$(echo "$source" | tr / _).o" || exit 1
done
$cc -shared -Wl,--version-script=src/api/poprt.map -Wl,--unresolved-symbols=ignore-all \
    -Wl,-soname,libpoprt.so.1 "$work"/*.o -o "$work/libpoprt.so.1" || exit 1
if [ "${3:-}" = --write ]; then
    abidw --headers-dir include/poprt --drop-private-types --no-corpus-path --no-comp-dir-path \
        --no-show-locs "$work/libpoprt.so.1" >tests/abi/libpoprt.abi
    exit
fi
abidiff --headers-dir2 include/poprt --drop-private-types --no-added-syms \
    tests/abi/libpoprt.abi "$work/libpoprt.so.1" >"$work/report" ||
    { echo "the ABI differs from tests/abi/libpoprt.abi:"; cat "$work/report"; exit 1; }
