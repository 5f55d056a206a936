#!/bin/sh
# SPDX-License-Identifier: MIT
# merge.sh OBJCOPY LD NM NAMES OURS OUT DIR ARCHIVE... — merges our decoders and the foreign
# archives they use into one object, whose only global names are ours.
#
# Decoders refer to parts of encoders that they never call, which would add 150 KB: the vector code
# of libjpeg's compressor and the PNG writer. These references are redirected to encoder_stubs.c.
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
