#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Rounding errors of the algorithms for products and convolutions, for docs/internals/numerics.md.

    errors.py POPRT [LEVEL]

Prints for each algorithm the largest error of an output against sums in double precision, as a
multiple of K * 2^-24 * max|a| * max|b| (K products are summed) and as a share of the largest output.
Numbers are uniform in [-1, 1). Needs numpy and onnx. LEVEL is --cpu of the tool; avx2 by default,
where F(6x6, 3x3) is used.
"""

import itertools
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

UNIT = 2.0**-24
PRODUCTS = [(512, 768, 768), (256, 3072, 768), (1024, 1024, 1024)]
CONVOLUTIONS = [(64, 56, 64, 3, 3), (256, 14, 256, 3, 3), (32, 112, 64, 3, 3), (64, 17, 96, 1, 7),
    (48, 28, 64, 5, 5)]


def outputs(poprt, level, folder, node, weights, x, shape, option):
    graph = helper.make_graph([node], "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
        [numpy_helper.from_array(weights, "w")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]),
        folder / "model.onnx")
    np.save(folder / "x.npy", x)
    subprocess.run([poprt, "run", folder / "model.onnx", "--input", f"x={folder}/x.npy",
        "--output-dir", folder / "out", "--threads", "1", "--cpu", level, "--set", option,
        *(["--set", "strassen=false"] if "winograd" in option else [])],
        check=True, capture_output=True)
    return np.load(folder / "out/y.npy")


def report(name, option, found, exact, count):
    error = np.abs(found - exact).max()
    print(f"{name:28} {option:18} {error / (count * UNIT):6.2f} {error / np.abs(exact).max():9.1e}")


def convolve(x, w):
    count, channels, height, width = w.shape
    size = x.shape[2]
    padded = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (height // 2,) * 2, (width // 2,) * 2))
    exact = np.zeros((1, count, size, size))
    for i, j in itertools.product(range(height), range(width)):
        exact += np.einsum("nchw,fc->nfhw", padded[:, :, i:i + size, j:j + size],
            w[:, :, i, j].astype(np.float64))
    return exact


def main():
    poprt, level = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "avx2"
    rng = np.random.default_rng(0)
    uniform = lambda *shape: rng.uniform(-1, 1, shape).astype(np.float32)
    print(f"{'problem':28} {'option':18} factor  of the largest")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for m, k, n in PRODUCTS:
            a, b = uniform(m, k), uniform(k, n)
            exact = a.astype(np.float64) @ b.astype(np.float64)
            node = helper.make_node("MatMul", ["x", "w"], ["y"])
            for option in ("strassen=false", "strassen=true"):
                report(f"MatMul {m}x{k}x{n}", option,
                    outputs(poprt, level, folder, node, b, a, exact.shape, option), exact, k)
        for channels, size, filters, height, width in CONVOLUTIONS:
            x, w = uniform(1, channels, size, size), uniform(filters, channels, height, width)
            exact = convolve(x, w)
            node = helper.make_node("Conv", ["x", "w"], ["y"],
                pads=[height // 2, width // 2, height // 2, width // 2])
            for option in ("winograd=off", "winograd=small", "winograd=large", "winograd=largest"):
                report(f"Conv {height}x{width} {channels}x{size}x{size}", option,
                    outputs(poprt, level, folder, node, w, x, exact.shape, option), exact,
                    channels * height * width)


if __name__ == "__main__":
    main()
