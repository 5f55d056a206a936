#!/bin/sh
# SPDX-License-Identifier: MIT
# layers.sh ROOT — who includes whom: a room includes only rooms below it. Rooms on one line of the
# table are neighbours and never include each other. The folders of a room include each other in one
# direction only: there is no cycle. (op/ops.def and the like list the tables of the folders below
# them: a .def file that includes one is not counted.) Ends with 1 and the offending lines.
root=$1
cd "$root" || exit 2

includes() {
    find lib src -name '*.[ch]' -o -name '*.def' -o -name '*.inl' | sort |
        xargs grep -Hn '^ *# *include "'
}

# Edges between folders for tsort, which names the folders of each cycle.
cycles=$(includes | awk -F'[:"]' '
    $1 ~ /[.]def$/ && $4 ~ /[.]def$/ { next }
    {
        from = $1; sub(/^[^\/]*\//, "", from); sub(/\/[^\/]*$/, "", from)
        to = $4; sub(/\/[^\/]*$/, "", to)
        if (from != to && to != "poprt") print from, to
    }' | sort -u | tsort 2>&1 >/dev/null)
[ -z "$cycles" ] || { echo "folders include each other in a circle:"; echo "$cycles"; }

includes | awk -F'[:"]' '
BEGIN {
    # room: rank. A room may include rooms of a smaller rank, and its own files.
    # Ranks of the run half and the compile half overlap; `half` keeps them apart.
    n = split("base num cpu image tensor par plan kern op program fast ir train converter pass " \
        "tensorflow tflite compiler device runtime data plugin builder describe api runner tools python", rooms, " ")
    rank["base"] = 1
    rank["num"] = 2; rank["cpu"] = 2; rank["image"] = 2
    rank["tensor"] = 3; rank["par"] = 3
    rank["plan"] = 4
    rank["kern"] = 5
    rank["op"] = 6
    rank["program"] = 7; rank["fast"] = 7
    rank["ir"] = 8;     half["ir"] = "compile"
    rank["train"] = 8.5; half["train"] = "compile"
    rank["converter"] = 9; half["converter"] = "compile"
    rank["pass"] = 9;   half["pass"] = "compile"
    rank["tensorflow"] = 9.5; half["tensorflow"] = "compile"
    rank["tflite"] = 9.6; half["tflite"] = "compile"
    rank["compiler"] = 10; half["compiler"] = "compile"
    rank["device"] = 8; half["device"] = "run"
    rank["runtime"] = 9; half["runtime"] = "run"
    rank["data"] = 10;  half["data"] = "run"
    rank["plugin"] = 11
    rank["builder"] = 11
    rank["describe"] = 11.5
    rank["api"] = 12
    rank["runner"] = 12.5
    rank["tools"] = 13
    rank["python"] = 13
}
{
    split($1, path, "/")
    from = path[2]
    if (index($4, "/") == 0) { print "no room in: " $0; bad = 1; next }
    split($4, target, "/")
    to = target[1]
    if (to == "poprt") {
        # Status and versions are for all; the handles are for the top.
        if ($4 != "poprt/base.h" && rank[from] < 11) { print "handles below api: " $0; bad = 1 }
        next
    }
    if (!(from in rank)) { print "room without a rank: " $0; bad = 1; next }
    if (!(to in rank)) { print "unknown room: " $0; bad = 1; next }
    if (from == to) next
    if (from == "python" && $4 == "tools/dispatch.h") next # the tool as a function
    if (from == "python") { print "past include/poprt: " $0; bad = 1; next }
    if (rank[to] >= rank[from]) { print "upwards or sideways: " $0; bad = 1; next }
    if (half[from] != "" && half[to] != "" && half[from] != half[to]) {
        print "the halves meet: " $0; bad = 1
    }
}
END { exit bad }
' && [ -z "$cycles" ]
