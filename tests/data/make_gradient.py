#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes gradient/: a small network whose outputs are a loss and its gradients, by the operator
ai.onnx.preview.training.Gradient.

    python3 tests/data/make_gradient.py [OUT_DIR]      (default: this folder)

Needs numpy and onnx. The expected gradients are central differences of the same network
computed by numpy in double precision, so nothing here differentiates symbolically.
"""
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

BATCH, CHANNELS, SIDE, CLASSES = 2, 2, 6, 3
TRAINING = "ai.onnx.preview.training"


def forward(v):
    """The loss: convolution, tanh, pooling, layer normalisation, product, log-softmax, mean."""
    x, k, s, w, b, target = (v[n] for n in ("x", "k", "s", "w", "b", "target"))
    side = SIDE - 2
    h = np.zeros((BATCH, CHANNELS, side, side))
    for n in range(BATCH):
        for o in range(CHANNELS):
            for i in range(side):
                for j in range(side):
                    h[n, o, i, j] = np.sum(x[n, :, i:i + 3, j:j + 3] * k[o])
    h = np.tanh(h)
    p = h.reshape(BATCH, CHANNELS, side // 2, 2, side // 2, 2).mean(axis=(3, 5))
    f = p.reshape(BATCH, -1)
    d = f - f.mean(axis=1, keepdims=True)
    f = d / np.sqrt((d * d).mean(axis=1, keepdims=True) + 1e-5) * s
    logits = f @ w + b
    logits = logits - logits.max(axis=1, keepdims=True)
    logs = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    return -np.mean(np.sum(logs * target, axis=1))


def difference(v, name, step=1e-6):
    out = np.zeros_like(v[name])
    for at in np.ndindex(out.shape):
        sides = []
        for sign in (1, -1):
            moved = dict(v)
            moved[name] = v[name].copy()
            moved[name][at] += sign * step
            sides.append(forward(moved))
        out[at] = (sides[0] - sides[1]) / (2 * step)
    return out


def graph(v):
    node = helper.make_node
    weights = ["k", "s", "w", "b"]
    nodes = [
        node("Conv", ["x", "k"], ["conv"], kernel_shape=[3, 3]),
        node("Tanh", ["conv"], ["act"]),
        node("AveragePool", ["act"], ["pool"], kernel_shape=[2, 2], strides=[2, 2]),
        node("Flatten", ["pool"], ["flat"]),
        node("LayerNormalization", ["flat", "s"], ["norm"]),
        node("Gemm", ["norm", "w", "b"], ["logits"]),
        node("LogSoftmax", ["logits"], ["logs"], axis=1),
        node("Mul", ["logs", "target"], ["picked"]),
        node("ReduceSum", ["picked", "axis"], ["sums"], keepdims=0),
        node("ReduceMean", ["sums"], ["mean"], keepdims=0),
        node("Neg", ["mean"], ["loss"]),
        node("Gradient", weights + ["x", "target"], ["d" + n for n in weights], name="backward",
             domain=TRAINING, xs=weights, zs=["x", "target"], y="loss"),
    ]
    value = helper.make_tensor_value_info
    floats = lambda n: value(n, TensorProto.FLOAT, v[n[1:] if n[0] == "d" else n].shape)
    return helper.make_graph(
        nodes, "gradient",
        [floats("x"), floats("target")],
        [value("loss", TensorProto.FLOAT, [])] + [floats("d" + n) for n in weights],
        [numpy_helper.from_array(v[n].astype(np.float32), n) for n in weights] +
        [numpy_helper.from_array(np.array([1], dtype=np.int64), "axis")])


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    out = os.path.join(sys.argv[1] if len(sys.argv) > 1 else here, "gradient")
    data = os.path.join(out, "test_data_set_0")
    os.makedirs(data, exist_ok=True)
    rng = np.random.default_rng(5)
    draw = lambda *shape: rng.uniform(-1, 1, shape).astype(np.float32).astype(np.float64)
    features = CHANNELS * ((SIDE - 2) // 2) ** 2
    v = {"x": draw(BATCH, 1, SIDE, SIDE), "k": draw(CHANNELS, 1, 3, 3), "s": draw(features),
         "w": draw(features, CLASSES), "b": draw(CLASSES),
         "target": np.eye(CLASSES)[[2, 0]]}
    model = helper.make_model(graph(v), ir_version=8, opset_imports=[
        helper.make_opsetid("", 17), helper.make_opsetid(TRAINING, 1)])
    onnx.save(model, os.path.join(out, "model.onnx"))
    files = [("input_0", "x", v["x"]), ("input_1", "target", v["target"]),
             ("output_0", "loss", np.array(forward(v)))]
    files += [(f"output_{i + 1}", "d" + n, difference(v, n)) for i, n in enumerate("kswb")]
    for file, name, array in files:
        with open(os.path.join(data, file + ".pb"), "wb") as f:
            f.write(numpy_helper.from_array(array.astype(np.float32), name).SerializeToString())


if __name__ == "__main__":
    main()
