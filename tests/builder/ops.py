#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes include/poprt/builder_ops_*.h of the table of operators, or compares them with it.

    ops.py POPRT ROOT [--write]

POPRT is the tool, whose `inspect --ops --json` lists the table; src/converter/history.def has the
attributes of older versions. --write makes the headers anew. Ends with 1 where a header differs.
Needs Python's standard library alone.
"""

import json
import pathlib
import re
import subprocess
import sys

OLDEST = 6  # opset from which a builder makes models

# Header, guard, and the domains that it has.
HEADERS = {
    "onnx": ["ai.onnx", "ai.onnx.preview", "ai.onnx.preview.training"],
    "ml": ["ai.onnx.ml"],
    "graphcore": ["ai.graphcore"],
    "microsoft": ["com.microsoft"],
    "contrib": ["ai.onnx.contrib", "poprt.text"],
}

# Kinds of the attributes that only older versions have; history.def has their names alone.
OLD_KINDS = {
    "axes": "ints", "axis": "int", "broadcast": "int", "classes_strings": "strings",
    "directions": "ints", "ends": "ints", "height_scale": "float", "is_test": "int", "k": "int",
    "max": "float", "min": "float", "mode": "string", "output_sequence": "int", "pads": "ints",
    "ratio": "float", "scales": "floats", "spatial": "int", "split": "ints", "starts": "ints", "value_float": "float",
    "value_floats": "floats", "value_int": "int", "value_ints": "ints", "value_string": "string",
    "value_strings": "strings", "width_scale": "float",
}
OLD_KINDS_OF = {("Pad", "value"): "float", ("Constant", "value"): "tensor"}

# No poprt_attr holds a sparse tensor.
LEFT_OUT = {("Constant", "sparse_value")}

# Operators without a row, since the reader replaces them: inputs and outputs.
REPLACED = {
    "Constant": ([], ["output"]),
    "Scatter": ([("data", False), ("indices", False), ("updates", False)], ["output"]),
    "Upsample": ([("X", False), ("scales", True)], ["Y"]),
}

TYPES = {
    "int": "poprt_optional_int ", "float": "poprt_optional_float ", "string": "const char *",
    "ints": "poprt_int_list ", "floats": "poprt_float_list ", "strings": "poprt_string_list ",
    "tensor": "const poprt_tensor *", "type": "const poprt_type *",
    "graph": "const poprt_builder *",
}

# Words that are not names of parameters: keywords of C and C++, and names that a function uses.
TAKEN = set("""builder attrs list n in op out n_out
    auto bool break case char class const continue default delete do double else enum float for if
    int long new operator return short signed static struct switch template this union unsigned void
    while""".split())


def older_attributes(root):
    """{operator: {attribute: [versions]}} of the schemas in force from opset OLDEST on."""
    text = (root / "src/converter/history.def").read_text()
    schemas = {}
    for match in re.finditer(r'SCHEMA\("(\w+)", (\d+), \w+, \w+, \w+,\s*((?:"[^"]*"\s*)*)', text):
        attrs = "".join(re.findall(r'"([^"]*)"', match.group(3))).split()
        schemas.setdefault(match.group(1), []).append((int(match.group(2)), attrs))
    old = {}
    for name, versions in schemas.items():
        for at, (since, attrs) in enumerate(versions):
            if at + 1 < len(versions) and versions[at + 1][0] <= OLDEST:
                continue
            for attr in attrs:
                old.setdefault(name, {}).setdefault(attr, []).append(since)
    return old, {name: [since for since, _ in versions] for name, versions in schemas.items()}


def add_older(ops, root):
    """Adds the attributes of older versions to the rows, and the operators without a row."""
    old, versions = older_attributes(root)
    for name, (inputs, outputs) in REPLACED.items():
        ops.append({"domain": "ai.onnx", "name": name, "id": name.lower(), "attributes": [],
                    "versions": versions[name],
                    "inputs": [{"name": n, "optional": o, "variadic": False} for n, o in inputs],
                    "outputs": [{"name": n, "optional": False, "variadic": False}
                                for n in outputs]})
    for op in ops:
        if op["domain"] not in ("ai.onnx", "ai.onnx.ml"):
            continue
        known = {attr["name"] for attr in op["attributes"]}
        for attr, since in old.get(op["name"], {}).items():
            # A version that was the newest before OLDEST and has a successor by then is not in use.
            in_use = [v for v in since
                      if not any(v < w <= OLDEST for w in op["versions"])] \
                if op["domain"] == "ai.onnx" else since
            if attr in known or not in_use or (op["name"], attr) in LEFT_OUT:
                continue
            kind = OLD_KINDS_OF.get((op["name"], attr)) or OLD_KINDS.get(attr)
            if kind is None:
                sys.exit(f"tests/builder/ops.py: {op['name']}: the kind of the attribute '{attr}' "
                         "is not in OLD_KINDS")
            later = [v for v in op["versions"] if v > max(in_use)]
            op["attributes"].append({"name": attr, "kind": kind,
                                     "until": min(later) - 1 if later else None})


def wrap(first, rest, words, end):
    """Lines of at most 100 columns."""
    lines, line = [], first
    for k, word in enumerate(words):
        piece = word + ("," if k + 1 < len(words) else end)
        if len(line) + len(piece) + 1 > 100:
            lines.append(line.rstrip())
            line = rest
        line += piece + " "
    return lines + [line.rstrip()]


def comment(text):
    lines, line = [], "/*"
    for word in text.split(" "):
        if len(line) + len(word) + 1 > 97:
            lines.append(line)
            line = " *"
        line += " " + word
    return lines + [line + " */"]


def parameter(name, used):
    name = re.sub(r"\W", "_", name).lower()
    while name in TAKEN or name in used:
        name += "_"
    used.add(name)
    return name


def note(attr):
    if attr.get("until"):
        return f" /* until opset {attr['until']} */"
    if attr.get("default") not in (None, ""):
        value = attr["default"]
        value = f"{value:.9g}" if isinstance(value, float) else str(value)
        value = re.sub(r"[^\x20-\x7e]", "?", value).replace("*/", "?")
        return f" /* default {value} */" if len(value) < 30 else ""
    return ""


def attributes(op):
    lines = [f"typedef struct poprt_{op['id']}_attrs {{", "    const char *name;"]
    for attr in op["attributes"]:
        lines.append(f"    {TYPES[attr['kind']]}{attr['name']};{note(attr)}")
    return lines + [f"}} poprt_{op['id']}_attrs;", ""]


def put(attr):
    name, kind = attr["name"], attr["kind"]
    if kind in ("tensor", "type", "graph"):
        call = f'n = poprt_put_object(list, n, "{name}", POPRT_ATTR_{kind.upper()}, attrs->{name});'
    else:
        call = f'n = poprt_put_{kind}(list, n, "{name}", attrs->{name});'
    if len(call) + 8 <= 100:
        return ["        " + call]
    head, tail = call.rsplit(", ", 1)
    return ["        " + head + ",", "            " + tail]


def function(op):
    used = set()
    fixed = [slot for slot in op["inputs"] if not slot["variadic"]]
    repeated = [slot for slot in op["inputs"] if slot["variadic"]]
    params = ["poprt_builder *builder"]
    names = [parameter(slot["name"], used) for slot in fixed]
    params += ["poprt_id " + name for name in names]
    more = parameter(repeated[0]["name"], used) if repeated else None
    if more:
        params += [f"uint32_t n_{more}", f"const poprt_id *{more}"]
    params.append(f"const poprt_{op['id']}_attrs *attrs")
    many = len(op["outputs"]) > 1 or any(slot["variadic"] for slot in op["outputs"])
    if many:
        params += ["uint32_t n_out", "poprt_id *out"]
    domain = "" if op["domain"] == "ai.onnx" else op["domain"]
    results = ", ".join(slot["name"] + "..." * slot["variadic"] for slot in op["outputs"])
    versions = ", ".join(str(v) for v in op["versions"])
    text = f"{op['name']}, {op['domain']} {versions}."
    text += f" Outputs: {results}." if many else "" if op["outputs"] else " No output."
    lines = comment(text)
    lines += wrap(f"static inline poprt_id poprt_op_{op['id']}(", "    ", params, ")")
    lines[-1] = lines[-1].replace(" )", ")")
    lines += ["{"]
    if op["attributes"]:
        lines += [f"    poprt_attr list[{len(op['attributes'])}];", "    uint32_t n = 0;"]
    if names:
        lines += wrap("    const poprt_id in[] = { ", "        ", names, " };")
    if op["attributes"]:
        lines += ["    if (attrs != NULL) {"]
        for attr in op["attributes"]:
            lines += put(attr)
        lines += ["    }"]
    plain = not more and not many and op["outputs"]
    words = [f'"{domain}"', f'"{op["name"]}"', "attrs != NULL ? attrs->name : NULL",
             "in" if names else "NULL", str(len(names)), "list" if op["attributes"] else "NULL",
             "n" if op["attributes"] else "0"]
    if plain:
        lines += wrap("    const poprt_builder_op_info op = poprt_put_op(", "        ", words, ");")
    else:
        lines += wrap("    poprt_builder_op_info op = poprt_put_op(", "        ", words, ");")
    if more:
        lines += [f"    op.more_inputs = {more};", f"    op.n_more_inputs = n_{more};"]
    if many:
        lines += ["    op.n_outputs = n_out;"]
    elif not op["outputs"]:
        lines += ["    op.n_outputs = 0;"]
    lines += [f"    return poprt_builder_op(builder, &op, {'out' if many else 'NULL'});", "}", ""]
    return [line.replace("( ", "(") for line in lines]


def header(part, ops):
    guard = f"POPRT_BUILDER_OPS_{part.upper()}_H"
    domains = ", ".join(HEADERS[part])
    lines = ["/* SPDX-License-Identifier: MIT */",
             "/*", f" * poprt/builder_ops_{part}.h — operators of {domains}.",
             " * See poprt/builder_ops.h. Made by tests/builder/ops.py.", " */",
             f"#ifndef {guard}", f"#define {guard}", "", '#include "poprt/builder_ops.h"', "",
             "#ifdef __cplusplus", 'extern "C" {', "#endif", ""]
    for domain in HEADERS[part]:
        for op in sorted((op for op in ops if op["domain"] == domain), key=lambda op: op["id"]):
            lines += attributes(op) + function(op)
    return "\n".join(lines + ["#ifdef __cplusplus", "}", "#endif", "#endif"]) + "\n"


def main():
    poprt, root = sys.argv[1], pathlib.Path(sys.argv[2])
    ops = json.loads(subprocess.run([poprt, "inspect", "--ops", "--json"], check=True,
                                    capture_output=True, text=True).stdout)
    add_older(ops, root)
    stale = []
    for part in HEADERS:
        path = root / f"include/poprt/builder_ops_{part}.h"
        text = header(part, ops)
        if "--write" in sys.argv:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(str(path.relative_to(root)))
    for path in stale:
        print(f"FAILED: {path} is not what the table of operators gives: "
              "python3 tests/builder/ops.py POPRT . --write")
    print(f"{len(HEADERS) - len(stale)} passed, {len(stale)} failed")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
