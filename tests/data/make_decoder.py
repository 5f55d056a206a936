#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes tests/data/decoder: one layer that reads a word after others, whose keys and values it is
given and gives back with its own behind them.

    python3 tests/data/make_decoder.py [OUT_DIR]      (default: this folder)

Untrained, with the inputs of language models as optimum exports them: how many words went before
is open, and the mask is that and one wide. `history` has a longer one too, of rows of which only
the mean is read. Needs numpy and onnx; outputs are those of onnx.reference.
"""
import os
import sys

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

WIDTH, HEADS, WORDS, LONGEST = 16, 2, 24, 512
SIZE = WIDTH // HEADS
rng = np.random.default_rng(7)
nodes, weights = [], []


def constant(name, array):
    weights.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
    return name


def ints(name, *values):
    return constant(name, np.array(values, np.int64))


def matrix(name, rows, columns, spread=None):
    array = rng.normal(0, spread or rows ** -0.5, (rows, columns))
    return constant(name, array.astype(np.float32))


def add(op, inputs, outputs=None, **attributes):
    outputs = outputs or [f"{op.lower()}_{len(nodes)}"]
    nodes.append(helper.make_node(op, inputs, outputs, name=f"{op}_{len(nodes)}", **attributes))
    return outputs[0]


def heads(x, name):
    apart = add("Reshape", [add("MatMul", [x, matrix(name, WIDTH, WIDTH, 0.5)]), "heads"])
    return add("Transpose", [apart], perm=[0, 2, 1, 3])


def layer():
    ints("heads", 1, 1, HEADS, SIZE)
    x = add("Add", [add("Gather", [matrix("words", WORDS, WIDTH, 1), "input_ids"]),
                    add("Gather", [matrix("places", LONGEST, WIDTH, 0.5), "position_ids"])])
    mask = add("Unsqueeze", [add("Unsqueeze", ["attention_mask", ints("one", 1)]), ints("two", 2)])
    mask = add("Sub", [constant("open", np.float32(1)), add("Cast", [mask], to=TensorProto.FLOAT)])
    mask = add("Mul", [mask, constant("low", np.float32(-10000))])
    q = heads(x, "q")
    k = add("Concat", ["past_key", heads(x, "k")], ["present_key"], axis=2)
    v = add("Concat", ["past_value", heads(x, "v")], ["present_value"], axis=2)
    scores = add("MatMul", [q, add("Transpose", [k], perm=[0, 1, 3, 2])])
    scores = add("Div", [scores, constant("scale", np.float32(SIZE ** 0.5))])
    part = add("Softmax", [add("Add", [scores, mask])], axis=-1)
    y = add("Transpose", [add("MatMul", [part, v])], perm=[0, 2, 1, 3])
    y = add("Reshape", [y, ints("together", 1, 1, WIDTH)])
    x = add("Add", [x, add("MatMul", [y, matrix("o", WIDTH, WIDTH, 0.5)])])
    now = add("MatMul", [x, matrix("h", WIDTH, 4, 0.5)])
    seen = add("Concat", ["history", now], ["history_now"], axis=1)
    mean = add("ReduceMean", [seen], axes=[1])
    add("Add", [add("MatMul", [x, matrix("out", WIDTH, WORDS)]),
                add("MatMul", [mean, matrix("from", 4, WORDS)])], ["logits"])


def model():
    layer()
    floats = lambda name, *dims: helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)
    whole = lambda name, *dims: helper.make_tensor_value_info(name, TensorProto.INT64, dims)
    past, one = "past_sequence_length", "past_sequence_length + 1"
    inputs = [whole("input_ids", 1, 1), whole("attention_mask", 1, one),
              whole("position_ids", 1, 1), floats("past_key", 1, HEADS, past, SIZE),
              floats("past_value", 1, HEADS, past, SIZE), floats("history", 1, past, 4)]
    outputs = [floats("logits", 1, 1, WORDS), floats("present_key", 1, HEADS, one, SIZE),
               floats("present_value", 1, HEADS, one, SIZE), floats("history_now", 1, one, 4)]
    graph = helper.make_graph(nodes, "decoder", inputs, outputs, weights)
    out = helper.make_model(graph, producer_name="libpoprt tests", ir_version=8,
                            opset_imports=[helper.make_opsetid("", 17)])
    checker.check_model(out, full_check=True)
    return out


def data(past):
    normal = lambda *dims: rng.normal(0, 1, dims).astype(np.float32)
    mask = np.ones((1, past + 1), np.int64)
    mask[0, :past // 3] = 0
    return {"input_ids": rng.integers(0, WORDS, (1, 1)), "attention_mask": mask,
            "position_ids": np.full((1, 1), past, np.int64),
            "past_key": normal(1, HEADS, past, SIZE), "past_value": normal(1, HEADS, past, SIZE),
            "history": normal(1, past, 4)}


def write(folder, end, names, arrays):
    for i, (name, array) in enumerate(zip(names, arrays)):
        with open(os.path.join(folder, f"{end}_{i}.pb"), "wb") as f:
            f.write(numpy_helper.from_array(np.asarray(array), name).SerializeToString())


def main():
    folder = os.path.join(sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(
        os.path.abspath(__file__)), "decoder")
    made = model()
    run = ReferenceEvaluator(made)
    for k, past in enumerate((7, 0, 100)):
        inputs = data(past)
        path = os.path.join(folder, f"test_data_set_{k}")
        os.makedirs(path, exist_ok=True)
        write(path, "input", inputs, inputs.values())
        write(path, "output", [v.name for v in made.graph.output], run.run(None, inputs))
    with open(os.path.join(folder, "model.onnx"), "wb") as f:
        f.write(made.SerializeToString())


if __name__ == "__main__":
    main()
