#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which pattern passes fire on the models of exporters.py: the table of docs/reference/patterns.md.

    patterns.py POPRT MODELS [--check FILE | --write FILE]

Converts each model once for each pass of PASSES, and compiles it once. A cell of the table says how
many of the models that have the pattern at all the pass changes, or, of a compiled program, in how
many nothing is left of it. --check ends with 1 where FILE, the table of before, has a larger number
anywhere. --write puts the table between the marks in FILE. Needs Python's standard library alone.
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

# Passes of the conversion; the option that asks for each; and the operators, after shapes and
# constants are folded, that a model has where its pattern may be there.
PASSES = {
    "erf_gelu_pattern": (["--passes", "erf_gelu_pattern"], {"erf"}, "gelu {approximate=none}"),
    "gelu_pattern": (["--passes", "gelu_pattern"], set(), "gelu {approximate=tanh}"),
    "layer_norm_pattern": (["--passes", "layer_norm_pattern"], set(), "layer_normalization"),
    "fused_attention": (["--passes", "fused_attention"], set(), "qkv"),
    "pre_scale": (["--passes", "pre_scale"], set(), "softmax"),
    "packed_transformer": (["--pack_args", "max_valid_num=4", "segment_max_size=16"], set(), "ids"),
}
BEGIN, END = "<!-- table of patterns.py -->", "<!-- end of the table -->"


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=120)
    return done.stdout + done.stderr, done.returncode


def exporter_of(name):
    """script, dynamo … and for attention of transformers how it is computed."""
    parts = name.split(".")
    return f"{parts[0]} {parts[2]}" if len(parts) == 3 else parts[0]


def graph_of(poprt, model):
    return run(poprt, "inspect", str(model), "--text")[0]


def has_pattern(kind, text):
    """Does the graph, as the exporter wrote it, have what the pass looks for?"""
    if kind == "gelu {approximate=none}":
        return " = erf " in text or re.search(r"= gelu .*approximate=none", text) is not None
    if kind == "gelu {approximate=tanh}":
        return "0.044715}" in text or re.search(r"= gelu .*approximate=tanh", text) is not None
    means = set(re.findall(r"^(\S+) = reduce_mean ", text, re.M))
    centred = any(m in means for m in re.findall(r"= sub \S+ (\S+)", text))
    if kind == "layer_normalization":
        return " = layer_normalization " in text or (" = add " in text and centred)
    if kind == "rms_normalization":
        return " = rms_normalization " in text or (not centred and means != set() and
            re.search(r"= (?:pow|mul) ", text) is not None and " = sqrt " in text)
    if kind in ("qkv", "softmax"):
        weights = set(re.findall(r"^(\S+) = softmax ", text, re.M))
        readers = re.findall(r"= (?:matmul|einsum|isnan|cast|dropout) (\S+)", text)
        return any(w in weights for w in readers)
    return "input_ids = input" in text


def fires(poprt, model, options, name, folder):
    """Whether the pass changed the graph, by the log; None: the conversion failed."""
    said, code = run(poprt, "--input_model", str(model), "--output_dir", folder, "--output_model",
        "y.onnx", "--logging_level", "DEBUG", *options)
    if code != 0:
        return None
    return re.search(rf" {name}: [^\n]*changed", said) is not None


def left_over(poprt, model):
    """Steps of the compiled program that a fused operator would have in it."""
    said, code = run(poprt, "inspect", str(model), "--steps")
    if code != 0:
        return None
    steps = re.findall(r"^ +\d+ +(\w+) ", said, re.M)
    return collections.Counter(steps)


def judge(poprt, path):
    name = path.parent.name
    text = graph_of(poprt, path)
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for one, (options, _, kind) in PASSES.items():
            if has_pattern(kind, text):
                found[one] = fires(poprt, path, options, one, folder) is True
    steps = left_over(poprt, path)
    if steps is not None:
        if has_pattern("softmax", text):
            found["compiled: attention"] = steps["fused_attention"] + steps["attention"] > 0 and \
                steps["softmax"] == 0
        if has_pattern("layer_normalization", text):
            found["compiled: layer norm"] = steps["layer_normalization"] > 0
        if has_pattern("rms_normalization", text):
            found["compiled: RMS norm"] = steps["rms_normalization"] > 0
        if has_pattern("gelu {approximate=none}", text):
            found["compiled: Gelu"] = steps["erf"] == 0
    return name, found


def tabulate(results):
    columns = sorted({exporter_of(n) for n, _ in results})
    rows = [*PASSES, "compiled: attention", "compiled: layer norm", "compiled: RMS norm",
        "compiled: Gelu"]
    lines = ["| | " + " | ".join(columns) + " |", "| --- |" + " ---: |" * len(columns)]
    missed = []
    for row in rows:
        cells = []
        for column in columns:
            of = [(n, f[row]) for n, f in results if exporter_of(n) == column and row in f]
            missed += [(row, n) for n, good in of if not good]
            cells.append(f"{sum(good for _, good in of)} of {len(of)}" if of else "–")
        lines.append(f"| {row} | " + " | ".join(cells) + " |")
    return lines, missed


def fired(lines):
    """(pass, exporter) -> how many."""
    names = [c.strip() for c in lines[0].strip("|").split("|")][1:]
    found = {}
    for line in lines[2:]:
        cells = [c.strip() for c in line.strip("|").split("|")]
        for name, cell in zip(names, cells[1:]):
            found[cells[0], name] = int(cell.split()[0]) if cell[0].isdigit() else 0
    return found


def between(path):
    text = path.read_text(encoding="utf-8")
    return text.split(BEGIN)[1].split(END)[0].strip().splitlines()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("poprt")
    parser.add_argument("models", type=pathlib.Path)
    parser.add_argument("--check", type=pathlib.Path)
    parser.add_argument("--write", type=pathlib.Path)
    args = parser.parse_args()
    poprt = os.path.abspath(args.poprt)
    paths = sorted(args.models.glob("*/model.onnx"))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = [(n, f) for n, f in pool.map(lambda p: judge(poprt, p), paths) if f]
    lines, missed = tabulate(results)
    print("\n".join(lines))
    for row, name in missed:
        print(f"{row}: not on {name}")
    if args.write:
        text = args.write.read_text(encoding="utf-8")
        head, rest = text.split(BEGIN)
        args.write.write_text(head + BEGIN + "\n" + "\n".join(lines) + "\n" + END +
            rest.split(END)[1], encoding="utf-8")
    if args.check:
        now, bad = fired(lines), 0
        for key, number in fired(between(args.check)).items():
            if now.get(key, 0) < number:
                print(f"FAILED {key[0]} on {key[1]}: {now.get(key, 0)} models, {number} before")
                bad += 1
        return 1 if bad else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
