#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes tests/data/qa: a transformer of one layer that marks where an answer starts and ends.

    python3 tests/data/make_qa.py [OUT_DIR]      (default: this folder)

Untrained, with the inputs and the head of question answering models as PyTorch exports them: a
product of two columns, its bias, Split, Squeeze. Needs numpy and onnx; outputs are those of
onnx.reference.
"""
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

WIDTH, HEADS, WORDS, LONGEST = 16, 2, 40, 32
rng = np.random.default_rng(11)
nodes, weights = [], []


def constant(name, array):
    weights.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
    return name


def matrix(name, rows, columns):
    return constant(name, rng.normal(0, rows ** -0.5, (rows, columns)).astype(np.float32))


def add(op, inputs, outputs=None, **attributes):
    outputs = outputs or [f"{op.lower()}_{len(nodes)}"]
    nodes.append(helper.make_node(op, inputs, outputs, name=f"{op}_{len(nodes)}", **attributes))
    return outputs[0]


def linear(x, name, rows, columns):
    bias = constant(name + ".bias", rng.normal(0, 0.1, columns).astype(np.float32))
    return add("Add", [add("MatMul", [x, matrix(name + ".weight", rows, columns)]), bias])


def norm(x, name):
    scale = constant(name + ".scale", rng.normal(1, 0.1, WIDTH).astype(np.float32))
    bias = constant(name + ".bias", rng.normal(0, 0.1, WIDTH).astype(np.float32))
    return add("LayerNormalization", [x, scale, bias], axis=-1)


def heads(x, perm):
    shape = constant(f"heads_{len(nodes)}", np.array([0, 0, HEADS, WIDTH // HEADS], np.int64))
    return add("Transpose", [add("Reshape", [x, shape])], perm=perm)


def attention(x):
    q, k = heads(linear(x, "q", WIDTH, WIDTH), [0, 2, 1, 3]), heads(linear(x, "k", WIDTH, WIDTH),
                                                                  [0, 2, 3, 1])
    v = heads(linear(x, "v", WIDTH, WIDTH), [0, 2, 1, 3])
    scale = constant("scale", np.array((WIDTH // HEADS) ** 0.5, np.float32))
    scores = add("Div", [add("MatMul", [q, k]), scale])
    mask = add("Unsqueeze", ["attention_mask", constant("axes", np.array([1, 2], np.int64))])
    mask = add("Sub", [constant("one", np.array(1, np.float32)),
                       add("Cast", [mask], to=TensorProto.FLOAT)])
    mask = add("Mul", [mask, constant("lowest", np.array(-10000, np.float32))])
    mixed = add("MatMul", [add("Softmax", [add("Add", [scores, mask])], axis=-1), v])
    mixed = add("Transpose", [mixed], perm=[0, 2, 1, 3])
    return add("Reshape", [mixed, constant("joined", np.array([0, 0, WIDTH], np.int64))])


def build():
    lookups = [add("Gather", [matrix(name + ".table", rows, WIDTH), name])
               for name, rows in (("input_ids", WORDS), ("token_type_ids", 2),
                                  ("position_ids", LONGEST))]
    x = norm(add("Add", [add("Add", lookups[:2]), lookups[2]]), "first")
    x = norm(add("Add", [linear(attention(x), "o", WIDTH, WIDTH), x]), "second")
    hidden = add("Relu", [linear(x, "up", WIDTH, 4 * WIDTH)])
    x = norm(add("Add", [linear(hidden, "down", 4 * WIDTH, WIDTH), x]), "third")
    both = linear(x, "head", WIDTH, 2)
    sizes, last = constant("sizes", np.array([1, 1], np.int64)), constant("last", np.array([-1]))
    add("Split", [both, sizes], ["start", "end"], axis=-1)
    for part in ("start", "end"):
        add("Squeeze", [part, last], [part + "_logits"])
    shape = ["batch", "length"]
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name in
              ("input_ids", "attention_mask", "token_type_ids", "position_ids")]
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in
               ("start_logits", "end_logits")]
    graph = helper.make_graph(nodes, "qa", inputs, outputs, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def write_set(model, folder, batch, length):
    lengths = rng.integers(length // 2, length + 1, batch)
    mask = (np.arange(length) < lengths[:, None]).astype(np.int64)
    feed = {"input_ids": rng.integers(0, WORDS, (batch, length)) * mask, "attention_mask": mask,
            "token_type_ids": (np.arange(length) >= length // 3).astype(np.int64) * mask,
            "position_ids": np.tile(np.arange(length), (batch, 1)) * mask}
    found = ReferenceEvaluator(model).run(None, feed)
    os.makedirs(folder, exist_ok=True)
    for kind, names, arrays in (("input", model.graph.input, feed.values()),
                                ("output", model.graph.output, found)):
        for i, (info, array) in enumerate(zip(names, arrays)):
            with open(f"{folder}/{kind}_{i}.pb", "wb") as f:
                f.write(numpy_helper.from_array(array, info.name).SerializeToString())


def main():
    out = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    model = build()
    onnx.checker.check_model(model)
    os.makedirs(out + "/qa", exist_ok=True)
    onnx.save(model, out + "/qa/model.onnx")
    write_set(model, out + "/qa/test_data_set_0", 2, 16)
    write_set(model, out + "/qa/test_data_set_1", 3, 7)


main()
