#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes a test directory of each ONNX model in a folder, with ONNX Runtime's outputs.

    python3 peer_cases.py MODELS_DIR OUT_DIR [NAME ...]

Development only: needs onnx, numpy and onnxruntime from PyPI, which neither the library
nor its tests need. For each MODELS_DIR/NAME.onnx it writes OUT_DIR/NAME/model.onnx (a hard
link, or a copy on another file system) and OUT_DIR/NAME/test_data_set_0/input_I.pb and
output_I.pb: seeded random inputs, and what ONNX Runtime computes from them in float32 on
the CPU, graph optimisations off. `poprt test OUT_DIR` then compares.
"""
import os
import shutil
import sys
import zlib

import numpy as np
import onnx
import onnx.numpy_helper
import onnxruntime as ort

FREE_AXIS = 3            # the size of an axis that the model leaves open
TYPES = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(int64)": np.int64,
         "tensor(int32)": np.int32, "tensor(bool)": np.bool_, "tensor(uint8)": np.uint8,
         "tensor(int8)": np.int8}


def id_limits(graph):
    """For each input of whole numbers that looks up rows of a table, the fewest rows."""
    rows = {t.name: t.dims[0] for t in graph.initializer if len(t.dims) > 0}
    names = {i.name for i in graph.input} - set(rows)
    source, limit = {n: n for n in names}, {}
    for n in graph.node:
        if n.op_type == "Gather" and n.input[0] in rows and n.input[1] in source:
            key, count = source[n.input[1]], rows[n.input[0]]
            limit[key] = min(limit.get(key, count), count)
        elif n.op_type in ("Gather", "Slice", "Squeeze", "Unsqueeze", "Reshape", "Cast", "Identity",
                           "Transpose", "Flatten") and n.input[0] in source:
            source[n.output[0]] = source[n.input[0]]
    return limit


def make_input(rng, i, limit):
    shape = [d if isinstance(d, int) and d > 0 else FREE_AXIS for d in i.shape]
    kind = TYPES[i.type]
    if np.issubdtype(kind, np.floating):
        return rng.standard_normal(shape).astype(kind)
    if "mask" in i.name:                    # the last quarter of each row is padding
        x = np.ones(shape, kind)
        x[..., shape[-1] - shape[-1] // 4:] = 0
        return x
    return rng.integers(0, limit.get(i.name, 2), shape).astype(kind)


def write_tensor(path, name, array):
    with open(path, "wb") as f:
        f.write(onnx.numpy_helper.from_array(np.ascontiguousarray(array), name).SerializeToString())


def make_case(path, out, name):
    graph = onnx.load(path).graph
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    limit, rng = id_limits(graph), np.random.default_rng(zlib.crc32(name.encode()))
    feed = {i.name: make_input(rng, i, limit) for i in session.get_inputs()}
    result = session.run(None, feed)

    folder = os.path.join(out, name)
    shutil.rmtree(folder, ignore_errors=True)
    data = os.path.join(folder, "test_data_set_0")
    os.makedirs(data)
    try:
        os.link(path, os.path.join(folder, "model.onnx"))
    except OSError:
        shutil.copyfile(path, os.path.join(folder, "model.onnx"))
    for k, (n, x) in enumerate(feed.items()):
        write_tensor(os.path.join(data, "input_%d.pb" % k), n, x)
    for k, (o, x) in enumerate(zip(session.get_outputs(), result)):
        write_tensor(os.path.join(data, "output_%d.pb" % k), o.name, x)
    biggest = max(float(np.abs(x).max()) for x in result if x.size)
    finite = all(np.isfinite(x).all() for x in result)
    print("%-20s %2d in, %2d out, largest output %.4g%s%s" % (
        name, len(feed), len(result), biggest, "" if finite else ", NOT FINITE",
        "".join(", %s < %d" % kv for kv in sorted(limit.items()))), flush=True)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    models, out = sys.argv[1:3]
    names = sys.argv[3:] or sorted(f[:-5] for f in os.listdir(models) if f.endswith(".onnx"))
    for name in names:
        make_case(os.path.join(models, name + ".onnx"), out, name)


if __name__ == "__main__":
    main()
