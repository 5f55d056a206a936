# SPDX-License-Identifier: MIT
"""Writes the models of this folder anew, with the onnx package (PyPI) and numpy."""
import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def write(name, nodes, inputs, outputs, constants=(), cases=(), kind=TensorProto.FLOAT):
    graph = helper.make_graph(
        nodes, name,
        [helper.make_tensor_value_info(n, kind, s) for n, s in inputs],
        [helper.make_tensor_value_info(n, kind, s) for n, s in outputs],
        [numpy_helper.from_array(v, n) for n, v in constants])
    model = helper.make_model(graph, ir_version=8, opset_imports=[
        helper.make_opsetid("", 13), helper.make_opsetid("custom.ops", 1),
        helper.make_opsetid("other.ops", 1)])
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), name)
    os.makedirs(folder, exist_ok=True)
    onnx.save(model, os.path.join(folder, "model.onnx"))
    for i, (given, expected) in enumerate(cases):
        data = os.path.join(folder, f"test_data_set_{i}")
        os.makedirs(data, exist_ok=True)
        for part, values in (("input", given), ("output", expected)):
            for k, value in enumerate(values):
                with open(os.path.join(data, f"{part}_{k}.pb"), "wb") as f:
                    f.write(numpy_helper.from_array(value).SerializeToString())


x = np.array([[-4, -1, 0], [1, 2, -0.5]], np.float32)
one = np.ones((1,), np.float32)

# y = LeakyRelu(x, alpha 0.25) + 1
write("leaky",
      [helper.make_node("LeakyRelu", ["x"], ["l"], "leak", domain="custom.ops", alpha=0.25),
       helper.make_node("Add", ["l", "one"], ["y"], "plus")],
      [("x", ["n", 3])], [("y", ["n", 3])], [("one", one)],
      [([x], [np.where(x > 0, x, 0.25 * x).astype(np.float32) + 1])])

# An operator that nothing here can run.
write("twice",
      [helper.make_node("Twice", ["x"], ["t"], "two", domain="other.ops"),
       helper.make_node("Relu", ["t"], ["y"], "cut")],
      [("x", [2, 3])], [("y", None)])

# y = ----x + 1, in a row of four Neg.
write("negs",
      [helper.make_node("Neg", ["x" if i == 0 else f"n{i}"], [f"n{i + 1}"], f"neg{i}")
       for i in range(4)] + [helper.make_node("Add", ["n4", "one"], ["y"], "plus")],
      [("x", [2, 3])], [("y", [2, 3])], [("one", one)], [([x], [x + 1])])

# y = Dense(x, w, b) of custom.ops: HardSwish(x w + b), in quarters, so that sums are exact.
numbers = np.random.default_rng(7)


def quarters(*shape):
    return (numbers.integers(-8, 9, shape) / 4).astype(np.float32)


w, b, rows = quarters(24, 50), quarters(50), quarters(40, 24)
v = rows @ w + b
gate = np.clip(v / np.float32(6) + np.float32(0.5), 0, 1)
write("dense", [helper.make_node("Dense", ["x", "w", "b"], ["y"], "dense", domain="custom.ops")],
      [("x", ["n", 24])], [("y", ["n", 50])], [("w", w), ("b", b)], [([rows], [v * gate])])

# y = -LeakyRelu(-x, alpha 0.25), sizes known: the middle may be written over what it reads.
write("between",
      [helper.make_node("Neg", ["x"], ["a"], "before"),
       helper.make_node("LeakyRelu", ["a"], ["b"], "leak", domain="custom.ops", alpha=0.25),
       helper.make_node("Neg", ["b"], ["y"], "after")],
      [("x", [2, 3])], [("y", [2, 3])], (),
      [([x], [np.where(x < 0, x, 0.25 * x).astype(np.float32)])])

# Strings through an operator of a plug-in.
write("words", [helper.make_node("Shout", ["x"], ["y"], "shout", domain="custom.ops")],
      [("x", ["n"])], [("y", ["n"])], kind=TensorProto.STRING)
