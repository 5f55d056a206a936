#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares our table of operators with the newest schemas of the installed `onnx` package.

    schema_rows.py POPRT [EXCEPTIONS]

POPRT is the tool; its `inspect --ops --json` is our side. Compared are names of operators, inputs
and outputs in order with their options, attributes with kinds and defaults, the sets of types, and
the version, which is the one that brought the operator's present form or a later one. EXCEPTIONS (schema_rows.txt beside this file) lists the differences that are meant,
with their reasons. Prints all others, and exceptions that are none any more; ends with 1 when there
are any.
"""
import json
import os
import re
import subprocess
import sys

from onnx import AttributeProto, defs, helper

OURS = {"ai.onnx", "ai.onnx.ml", "ai.onnx.preview", "ai.onnx.preview.training"}
TYPES = {
    "float": "float32", "double": "float64", "float8e4m3fn": "float8_e4m3fn",
    "float8e4m3fnuz": "float8_e4m3fnuz", "float8e5m2": "float8_e5m2",
    "float8e5m2fnuz": "float8_e5m2fnuz", "float8e8m0": "float8_e8m0fnu",
    "float4e2m1": "float4_e2m1fn", "float6e2m3": "float6_e2m3fn", "float6e3m2": "float6_e3m2fn",
}
KINDS = {
    AttributeProto.INT: "int", AttributeProto.FLOAT: "float", AttributeProto.STRING: "string",
    AttributeProto.INTS: "ints", AttributeProto.FLOATS: "floats",
    AttributeProto.STRINGS: "strings", AttributeProto.TENSOR: "tensor",
    AttributeProto.GRAPH: "graph", AttributeProto.TYPE_PROTO: "type",
}
NOTHING = {"int": 0, "float": 0, "string": "", "ints": [], "floats": [], "strings": []}


def type_name(text):
    """tensor(float) is float32; of other kinds only the kind is told."""
    inner = re.fullmatch(r"tensor\((\w+)\)", text)
    if inner:
        return TYPES.get(inner[1], inner[1])
    return {"seq": "sequence", "optional": "optional", "map": "map"}.get(text.split("(")[0], text)


def slot(name, type_set, optional, variadic):
    option = "variadic" if variadic else "optional" if optional else "single"
    return name, option, frozenset(type_set)


def default_of(attribute):
    value = attribute.default_value
    if value is None or value.type == AttributeProto.UNDEFINED:
        return None
    value = helper.get_attribute_value(value)
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, list):
        return [v.decode() if isinstance(v, bytes) else v for v in value]
    return value


def from_schema(schema):
    def slots(formals):
        return [slot(f.name, {type_name(t) for t in f.types},
                     f.option == defs.OpSchema.FormalParameterOption.Optional,
                     f.option == defs.OpSchema.FormalParameterOption.Variadic) for f in formals]
    attributes = {}
    for name, a in schema.attributes.items():
        kind = KINDS.get(AttributeProto.AttributeType.Value(a.type.name), a.type.name)
        attributes[name] = (kind, default_of(a))
    return {"inputs": slots(schema.inputs), "outputs": slots(schema.outputs),
            "attributes": attributes}


def from_row(row):
    def slots(formals):
        return [slot(f["name"], row["types"][f["type"]], f["optional"], f["variadic"])
                for f in formals]
    return {"inputs": slots(row["inputs"]), "outputs": slots(row["outputs"]),
            "attributes": {a["name"]: (a["kind"], a.get("default")) for a in row["attributes"]}}


def same_default(kind, ours, theirs):
    """A row has no way to say that there is no default: it says zero or nothing."""
    if theirs is None:
        return True
    ours = NOTHING.get(kind) if ours is None else ours
    if kind == "float":
        return abs(ours - theirs) <= 1e-6 * abs(theirs)
    return ours == theirs


def compare_slots(what, ours, theirs):
    if [s[0] for s in ours] != [s[0] for s in theirs]:
        yield f"{what}: {' '.join(s[0] for s in ours)} -- {' '.join(s[0] for s in theirs)}"
        return
    for (name, option, types), (_, their_option, their_types) in zip(ours, theirs):
        if option != their_option:
            yield f"{what[:-1]} {name}: {option} -- {their_option}"
        if types - their_types:
            yield f"{what[:-1]} {name} takes too much: {' '.join(sorted(types - their_types))}"
        if their_types - types:
            yield f"{what[:-1]} {name} lacks: {' '.join(sorted(their_types - types))}"


def form_of(schema):
    """All of a schema but its types, which grow from version to version."""
    parts = from_schema(schema)
    return ([s[:2] for s in parts["inputs"]], [s[:2] for s in parts["outputs"]],
            parts["attributes"])


def compare(row, history):
    schema = history[-1]
    ours, theirs = from_row(row), from_schema(schema)
    first = schema.since_version
    for older in reversed(history):
        if older.deprecated or form_of(older) != form_of(schema):
            break
        first = older.since_version
    if not first <= row["since"] <= schema.since_version:
        yield f"version: {row['since']} -- {first} to {schema.since_version}"
    yield from compare_slots("inputs", ours["inputs"], theirs["inputs"])
    yield from compare_slots("outputs", ours["outputs"], theirs["outputs"])
    for name in sorted(ours["attributes"].keys() | theirs["attributes"].keys()):
        if name not in ours["attributes"]:
            yield f"attribute {name} is missing"
        elif name not in theirs["attributes"]:
            yield f"attribute {name} is unknown"
        else:
            (kind, default), (their_kind, their_default) = (
                ours["attributes"][name], theirs["attributes"][name])
            if kind != their_kind:
                yield f"attribute {name}: {kind} -- {their_kind}"
            elif not same_default(kind, default, their_default):
                yield f"attribute {name}: default {default!r} -- {their_default!r}"


def all_schemas():
    """By domain and name, oldest first, of operators that are not deprecated."""
    histories = {}
    for schema in defs.get_all_schemas_with_history():
        histories.setdefault((schema.domain or "ai.onnx", schema.name), []).append(schema)
    for history in histories.values():
        history.sort(key=lambda schema: schema.since_version)
    return {key: history for key, history in histories.items() if not history[-1].deprecated}


def differences(rows):
    ours = {(r["domain"], r["name"]): r for r in rows if r["domain"] in OURS}
    theirs = all_schemas()
    for key in sorted(ours.keys() | theirs.keys()):
        name = ".".join(key) if key[0] != "ai.onnx" else key[1]
        if key not in theirs:
            yield f"{name}: no such operator"
        elif key not in ours:
            yield f"{name}: there is no row"
        else:
            yield from (f"{name}: {text}" for text in compare(ours[key], theirs[key]))


def read_exceptions(path):
    """Lines "PATTERN  # reason"; a pattern may use * for anything."""
    exceptions = {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            pattern, _, reason = line.partition("#")
            if pattern.strip():
                if not reason.strip():
                    sys.exit(f"{path}: no reason for {pattern.strip()}")
                exceptions[pattern.strip()] = 0
    return exceptions


def matches(pattern, text):
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), text) is not None


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "schema_rows.txt")
    exceptions = read_exceptions(sys.argv[2] if len(sys.argv) > 2 else beside)
    rows = json.loads(subprocess.run([sys.argv[1], "inspect", "--ops", "--json"], check=True,
                                     capture_output=True, text=True).stdout)
    bad = 0
    for text in differences(rows):
        found = [p for p in exceptions if matches(p, text)]
        for pattern in found:
            exceptions[pattern] += 1
        if not found:
            print(text)
            bad += 1
    for pattern, used in exceptions.items():
        if used == 0:
            print(f"exception without a difference: {pattern}")
            bad += 1
    compared = sum(row["domain"] in OURS for row in rows)
    print(f"{compared} rows compared, {bad} differences, {sum(exceptions.values())} meant ones")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
