#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Converts models of TensorFlow and TFLite, and lets onnx and ONNX Runtime judge the files.

    tensorflow.py POPRT CASES [CASES ...] [--opset N]

CASES is a folder with a folder for each model: case.json with "path", "args", "inputs", "outputs", "sets"
and a tolerance ("rtol" and "atol", or "share"), and arrays setN/in/*.npy and setN/out/*.npy. For each model:
onnx.checker accepts the file, ONNX Runtime loads and runs it (unless it has operators of other domains, or
types that ONNX Runtime lacks), and the outputs agree. Prints operators, Transposes, Loops and milliseconds
of the whole command for each model; the last line counts. Needs numpy, onnx and onnxruntime from PyPI.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
import onnxruntime

LACKING = ("NOT_IMPLEMENTED", "is not a registered function/op")


def nodes_of(graph):
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from nodes_of(attribute.g)


def agree(case, got, want):
    if got.shape != want.shape:
        return f"shape {got.shape}, not {want.shape}"
    if want.dtype.kind in "SO":
        same = [str(a) for a in got.ravel()] == [x.decode() for x in want.ravel()]
        return None if same else "other strings"
    a, b = got.astype(np.float64), want.astype(np.float64)
    if want.dtype.kind != "f":
        off = np.abs(a - b).max(initial=0)
        return f"off by {off}" if off > case.get("steps", 0) else None
    if "share" in case:
        limit = case["share"] * np.nanmax(np.abs(b), initial=0)
    else:
        limit = case["atol"] + case["rtol"] * np.abs(b)
    with np.errstate(invalid="ignore"):
        bad = ~(np.abs(a - b) <= limit) & ~(np.isnan(a) & np.isnan(b)) & ~(a == b)
    return f"{int(bad.sum())} elements differ" if bad.any() else None


def run(case, folder, model):
    """Returns what is wrong, or None; "" where ONNX Runtime lacks an operator."""
    onnxruntime.set_default_logger_severity(4)
    try:
        session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
        names = {i.name for i in session.get_inputs()}
        for k in range(case["sets"]):
            feed = {}
            for i in case["inputs"]:
                array = np.load(folder / f"set{k}/in" / i["file"])
                if array.dtype.kind == "S":
                    text = [x.decode() for x in array.ravel()]
                    array = np.array(text, object).reshape(array.shape)
                if i["name"] in names:
                    feed[i["name"]] = array
            results = dict(zip([o.name for o in session.get_outputs()], session.run(None, feed)))
            for o in case["outputs"]:
                want = np.load(folder / f"set{k}/out" / o["file"])
                wrong = agree(case, np.asarray(results[o["name"]]), want)
                if wrong:
                    return f"set {k}, {o['name']}: {wrong}"
    except Exception as error:  # onnxruntime has no class of its own for these
        text = str(error).split("\n")[0]
        return "" if any(word in text for word in LACKING) else text[:160]
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("poprt")
    parser.add_argument("cases", nargs="+", type=pathlib.Path)
    parser.add_argument("--opset", type=int, default=18)
    options = parser.parse_args()
    passed = failed = lacking = 0
    times = []
    with tempfile.TemporaryDirectory() as work:
        model = pathlib.Path(work) / "model.onnx"
        for path in sorted(p for folder in options.cases for p in folder.glob("*/case.json")):
            case, folder = json.loads(path.read_text()), path.parent
            start = time.perf_counter()
            done = subprocess.run([options.poprt, "--input_model", folder / case["path"],
                                   "--output_dir", work, "--output_model", model.name, "tf2onnx",
                                   "--opset", str(options.opset), *case["args"]],
                                  capture_output=True, text=True)
            times.append((time.perf_counter() - start) * 1000)
            wrong, counts = done.stderr.strip()[-160:], ""
            if done.returncode == 0:
                file = onnx.load(model)
                kinds = [n.op_type for n in nodes_of(file.graph)]
                counts = (f"{len(kinds):5d} nodes {kinds.count('Transpose'):3d} Transpose "
                          f"{kinds.count('Loop'):2d} Loop")
                try:
                    foreign = any(n.domain not in ("", "ai.onnx", "ai.onnx.ml")
                                  for n in nodes_of(file.graph))
                    onnx.checker.check_model(file, full_check=not foreign)
                    wrong = run(case, folder, model)
                except onnx.checker.ValidationError as error:
                    wrong = "onnx.checker: " + str(error).split("\n")[0][:160]
            passed += wrong in (None, "")
            failed += wrong not in (None, "")
            lacking += wrong == ""
            said = "ok" if wrong is None else wrong or "ok, but ONNX Runtime lacks an operator"
            print(f"{folder.name:32s} {times[-1]:7.1f} ms {counts}  {said}")
    print(f"time: median {np.median(times):.1f} ms, most {max(times):.1f} ms; {lacking} not run")
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
