# SPDX-License-Identifier: MIT
"""Builds ONNX graphs the way PyTorch's exporter writes them.

A `Graph` takes inputs and layers in calling order and keeps the shape of every value, so a layer
needs to be told only what the shapes before it do not say. Weights are initializers; shapes,
indices and scalars are Constant nodes. `params` counts weights, `flops` twice the multiply-adds of
convolutions, products and LSTM cells.
"""
import math

import numpy as np
import onnx
from onnx import helper, numpy_helper

OPSET = 17
F32, I64 = np.dtype(np.float32), np.dtype(np.int64)


class Value:
    """A tensor in the making: its name, shape and element type."""

    def __init__(self, name, shape, dtype=F32):
        self.name, self.shape, self.dtype = name, tuple(int(d) for d in shape), np.dtype(dtype)
        self.open = {}    # by axis: the name of a dimension that the model leaves open


class Graph:
    """One model: nodes in order, weights from a seeded generator."""

    def __init__(self, seed=1):
        self.rng = np.random.default_rng(seed)
        self.nodes, self.weights, self.inputs, self.outputs = [], [], [], []
        self.limits = {}
        self.params = self.flops = self.names = 0

    # ------------------------------------------------------------ values
    def input(self, name, shape, dtype=F32, limit=None, open=None):
        """`limit`: whole numbers stay below it; 2 is a mask. `shape` is what to run it with."""
        value = Value(name, shape, dtype)
        value.open = open or {}
        self.inputs.append(value)
        self.limits[name] = limit
        return value

    def output(self, value, name):
        """Gives the value a public name."""
        for node in self.nodes:
            for end in (node.input, node.output):
                for i, n in enumerate(end):
                    if n == value.name:
                        end[i] = name
        value.name = name
        self.outputs.append(value)

    def name(self, stem):
        self.names += 1
        return f"{stem}_{self.names}"

    def weight(self, array):
        """An initializer of parameters."""
        array = np.ascontiguousarray(array)
        tensor = numpy_helper.from_array(array, self.name("weight"))
        self.weights.append(tensor)
        self.params += array.size
        return Value(tensor.name, array.shape, array.dtype)

    def normal(self, shape, scale):
        """Parameters from a normal distribution."""
        array = self.rng.standard_normal(shape, np.float32)
        array *= np.float32(scale)
        return self.weight(array)

    def near(self, shape, centre, spread=0.1):
        """Parameters evenly spread about a value, as norms and biases have them."""
        even = 2 * self.rng.random(shape, np.float32) - 1
        return self.weight((centre + spread * even).astype(F32))

    def const(self, value, dtype=F32):
        array = np.asarray(value, dtype)
        out = Value(self.name("Constant"), array.shape, array.dtype)
        self.nodes.append(helper.make_node("Constant", [], [out.name],
                                           value=numpy_helper.from_array(array)))
        return out

    def ints(self, values):
        return self.const(values, I64)

    def node(self, op, inputs, shape, dtype=None, **attrs):
        """A node with one output."""
        return self.nodes_out(op, inputs, [shape], dtype, **attrs)[0]

    def nodes_out(self, op, inputs, shapes, dtype=None, **attrs):
        dtype = dtype or next((v.dtype for v in inputs if v is not None), F32)
        out = [Value(self.name(op), s, dtype) for s in shapes]
        self.nodes.append(helper.make_node(op, [v.name if v else "" for v in inputs],
                                           [v.name for v in out], **attrs))
        return out

    # ------------------------------------------------------------ element by element
    def two(self, op, a, b):
        """A binary operator; a number becomes a scalar constant."""
        a = a if isinstance(a, Value) else self.const(a)
        b = b if isinstance(b, Value) else self.const(b)
        return self.node(op, [a, b], np.broadcast_shapes(a.shape, b.shape))

    def add(self, a, b):
        return self.two("Add", a, b)

    def mul(self, a, b):
        return self.two("Mul", a, b)

    def one(self, op, x, **attrs):
        return self.node(op, [x], x.shape, **attrs)

    def act(self, x, kind):
        """An activation by name, written as the exporter writes it; None: x itself."""
        if kind is None:
            return x
        if kind == "relu6":
            return self.node("Clip", [x, self.const(0), self.const(6)], x.shape)
        if kind == "silu":
            return self.mul(x, self.one("Sigmoid", x))
        if kind == "hard_sigmoid":
            return self.one("HardSigmoid", x, alpha=1 / 6, beta=0.5)
        if kind == "gelu":
            erf = self.one("Erf", self.two("Div", x, math.sqrt(2)))
            return self.mul(self.mul(x, self.add(erf, 1)), 0.5)
        if kind == "gelu_tanh":
            inner = self.add(x, self.mul(self.two("Pow", x, 3), 0.044715))
            tanh = self.one("Tanh", self.mul(inner, math.sqrt(2 / math.pi)))
            return self.mul(self.mul(x, 0.5), self.add(tanh, 1))
        return self.one({"relu": "Relu", "hard_swish": "HardSwish", "sigmoid": "Sigmoid",
                         "tanh": "Tanh"}[kind], x)

    # ------------------------------------------------------------ moving
    def reshape(self, x, shape):
        """`shape` as the node has it: 0 keeps a dimension, -1 is what is left."""
        full = [x.shape[i] if d == 0 else d for i, d in enumerate(shape)]
        if -1 in full:
            full[full.index(-1)] = math.prod(x.shape) // -math.prod(full)
        return self.node("Reshape", [x, self.ints(shape)], full)

    def transpose(self, x, perm):
        return self.node("Transpose", [x], [x.shape[p] for p in perm], perm=list(perm))

    def flatten(self, x):
        return self.node("Flatten", [x], (x.shape[0], math.prod(x.shape[1:])), axis=1)

    def concat(self, values, axis):
        axis %= len(values[0].shape)
        shape = list(values[0].shape)
        shape[axis] = sum(v.shape[axis] for v in values)
        return self.node("Concat", values, shape, axis=axis)

    def slice(self, x, axis, start, end, step=1):
        """`end` may be beyond the last."""
        shape = list(x.shape)
        shape[axis] = len(range(*slice(start, end, step).indices(shape[axis])))
        return self.node("Slice", [x, self.ints([start]), self.ints([end]), self.ints([axis]),
                                   self.ints([step])], shape)

    def split(self, x, sizes, axis):
        shapes = [x.shape[:axis] + (s,) + x.shape[axis + 1:] for s in sizes]
        return self.nodes_out("Split", [x, self.ints(sizes)], shapes, axis=axis)

    def gather(self, table, index, axis=0):
        shape = table.shape[:axis] + index.shape + table.shape[axis + 1:]
        return self.node("Gather", [table, index], shape, table.dtype, axis=axis)

    def unsqueeze(self, x, axis):
        shape = x.shape[:axis] + (1,) + x.shape[axis:]
        return self.node("Unsqueeze", [x, self.ints([axis])], shape)

    # ------------------------------------------------------------ layers
    def fan(self, fan_in, act, gain):
        """The spread of weights that keeps activations at their scale."""
        after = {None: 1, "sigmoid": 1, "tanh": 1, "silu": 2.8}.get(act, 2)
        return gain * math.sqrt(after / fan_in)

    def conv(self, x, channels, kernel=1, stride=1, pad=None, group=1, act=None, gain=1, bias=True):
        """Conv of any rank with batch norm folded in, and its activation."""
        rank = len(x.shape) - 2
        wide = lambda v: list(v) if isinstance(v, (tuple, list)) else [v] * rank
        kernel, stride = wide(kernel), wide(stride)
        pads = [k // 2 for k in kernel] if pad is None else wide(pad)
        fan_in = x.shape[1] // group * math.prod(kernel)
        w = self.normal((channels, x.shape[1] // group, *kernel), self.fan(fan_in, act, gain))
        inputs = [x, w] + ([self.near(channels, 0)] if bias else [])
        size = [(d + 2 * p - k) // s + 1 for d, p, k, s in zip(x.shape[2:], pads, kernel, stride)]
        self.flops += 2 * channels * math.prod(size) * fan_in * x.shape[0]
        y = self.node("Conv", inputs, (x.shape[0], channels, *size), dilations=[1] * rank,
                      group=group, kernel_shape=kernel, pads=pads * 2, strides=stride)
        return self.act(y, act)

    def pool(self, x, op, kernel, stride, pad=0, ceil=0):
        """MaxPool or AveragePool of an image; an average counts the padding."""
        grow = stride - 1 if ceil else 0
        size = [(d + 2 * pad - kernel + grow) // stride + 1 for d in x.shape[2:]]
        attrs = {"count_include_pad": 1} if op == "AveragePool" else {}
        return self.node(op, [x], (*x.shape[:2], *size), kernel_shape=[kernel] * 2,
                         strides=[stride] * 2, pads=[pad] * 4, ceil_mode=ceil, **attrs)

    def global_pool(self, x):
        return self.node("GlobalAveragePool", [x], (*x.shape[:2], 1, 1))

    def gemm(self, x, units, act=None, gain=1):
        """Linear on a matrix: Gemm with the weight transposed."""
        w = self.normal((units, x.shape[1]), self.fan(x.shape[1], act, gain))
        self.flops += 2 * math.prod(x.shape) * units
        y = self.node("Gemm", [x, w, self.near(units, 0)], (x.shape[0], units), alpha=1.0, beta=1.0,
                      transB=1)
        return self.act(y, act)

    def matmul(self, a, b):
        lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        shape = (*lead, a.shape[-2], b.shape[-1])
        self.flops += 2 * math.prod(shape) * a.shape[-1]
        return self.node("MatMul", [a, b], shape)

    def linear(self, x, units, act=None, gain=1, bias=True):
        """Linear on more than two dimensions: MatMul and Add."""
        w = self.normal((x.shape[-1], units), self.fan(x.shape[-1], act, gain))
        y = self.matmul(x, w)
        return self.act(self.add(self.near(units, 0), y) if bias else y, act)

    def layer_norm(self, x, epsilon=1e-5):
        scale, shift = self.near(x.shape[-1], 1), self.near(x.shape[-1], 0)
        return self.node("LayerNormalization", [x, scale, shift], x.shape, axis=-1, epsilon=epsilon)

    def layer_norm_written_out(self, x, epsilon=1e-12):
        """Layer norm from ReduceMean up, as before opset 17."""
        short = x.shape[:-1] + (1,)
        mean = lambda v: self.node("ReduceMean", [v], short, axes=[-1])
        rest = self.two("Sub", x, mean(x))
        root = self.one("Sqrt", self.add(mean(self.two("Pow", rest, 2)), epsilon))
        y = self.mul(self.two("Div", rest, root), self.near(x.shape[-1], 1))
        return self.add(y, self.near(x.shape[-1], 0))

    def batch_norm(self, x):
        """A batch norm that no convolution precedes."""
        c = x.shape[1]
        pair = [self.near(c, 1), self.near(c, 0)]
        self.params -= 2 * c    # running statistics are no parameters
        stats = [self.near(c, 0), self.near(c, 1)]
        return self.node("BatchNormalization", [x, *pair, *stats], x.shape, epsilon=1e-5,
                         momentum=0.9)

    def softmax(self, x):
        return self.one("Softmax", x, axis=-1)

    def lstm(self, x, hidden, state, directions=1):
        """LSTM over [steps, batch, features]; the outputs y, h, c."""
        steps, batch, width = x.shape
        near = lambda *shape: self.near(shape, 0, 1 / math.sqrt(hidden))
        weights = [near(directions, 4 * hidden, width), near(directions, 4 * hidden, hidden),
                   near(directions, 8 * hidden)]
        self.flops += 2 * steps * batch * directions * 4 * hidden * (width + hidden)
        last = (directions, batch, hidden)
        attrs = {"direction": "bidirectional"} if directions == 2 else {}
        return self.nodes_out("LSTM", [x, *weights, None, *state],
                              [(steps, directions, batch, hidden), last, last],
                              hidden_size=hidden, **attrs)

    # ------------------------------------------------------------ the whole
    def model(self, name):
        info = lambda v: helper.make_tensor_value_info(
            v.name, helper.np_dtype_to_tensor_dtype(v.dtype),
            [v.open.get(i, d) for i, d in enumerate(v.shape)])
        graph = helper.make_graph(self.nodes, name, [info(v) for v in self.inputs],
                                  [info(v) for v in self.outputs], self.weights)
        opsets = [helper.make_opsetid("", OPSET)]
        if any(n.domain == "ai.onnx.ml" for n in self.nodes):
            opsets.append(helper.make_opsetid("ai.onnx.ml", 3))
        return helper.make_model(graph, producer_name="libpoprt bench", ir_version=8,
                                 opset_imports=opsets)


def check(path):
    """Raises where the file is no valid model or a shape contradicts another."""
    onnx.checker.check_model(path, full_check=True)
