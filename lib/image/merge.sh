#!/bin/sh
# SPDX-License-Identifier: MIT
# merge.sh OBJCOPY LD NAMES OURS OUT DIR ARCHIVE... — one object of our decoders and what they take
# of foreign archives, which keeps only our names.
set -e
objcopy=$1 ld=$2 names=$3 ours=$4 out=$5 dir=$6
shift 6
mkdir -p "$dir"
renamed=
for archive in "$@"; do
    to=$dir/$(basename "$archive")
    "$objcopy" --redefine-syms="$names" "$archive" "$to"
    renamed="$renamed $to"
done
"$ld" -r -o "$out" --whole-archive "$ours" --no-whole-archive $renamed
"$objcopy" --wildcard --keep-global-symbol='prt_*' --remove-section=.eh_frame \
    --remove-section=.rela.eh_frame "$out"
