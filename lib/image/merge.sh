#!/bin/sh
# SPDX-License-Identifier: MIT
# merge.sh OBJCOPY LD NM NAMES OURS OUT DIR ARCHIVE... — one object of our decoders and what they
# take of foreign archives, which keeps only our names.
#
# Decoders name parts of encoders that they never call, and would bring along 150 KB of them: the
# vector code of libjpeg that compresses, and what writes a PNG. Those names become unused.c's.
set -e
objcopy=$1 ld=$2 nm=$3 names=$4 ours=$5 out=$6 dir=$7
shift 7
mkdir -p "$dir"
renamed= unused=
for archive in "$@"; do
    to=$dir/$(basename "$archive")
    "$objcopy" --redefine-syms="$names" "$archive" "$to"
    renamed="$renamed $to"
    unused="$unused $("$nm" --quiet --extern-only --defined-only "$to" | awk '
        /:$/ { encodes = /^j(c|fdct|quant[fi]).*-(avx2|neon|sse2?)\./ || /^pngwrite\./ }
        encodes && NF == 3 { print "--defsym=" $3 "=prt_image_unused" }')"
done
"$ld" -r -o "$out" $unused --whole-archive "$ours" --no-whole-archive $renamed
"$objcopy" --wildcard --keep-global-symbol='prt_*' "$out"
