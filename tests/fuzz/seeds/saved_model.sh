#!/bin/sh
# SPDX-License-Identifier: MIT
# saved_model.sh OUT KIND GRAPH INDEX DATA — a seed of fuzz_saved_model: a SavedModel (KIND s) or a
# checkpoint with its meta graph (KIND m), whose files follow each other behind their sizes.
[ $# -eq 5 ] || { echo "usage: $0 OUT KIND GRAPH INDEX DATA" >&2; exit 2; }
{ printf '%s%07x%07x' "$2" "$(wc -c <"$3")" "$(wc -c <"$4")" && cat "$3" "$4" "$5"; } >"$1"
