# SPDX-License-Identifier: MIT
"""gradients.py POPRT [--runs N] [--singles N] [--seed N] [--only NAME] [--keep DIR]

Gradients of random models in double precision, by POPRT and by PyTorch's autograd (from PyPI, with
numpy and onnx). First each operator of the list is tried with --singles random shapes and
attributes, then --runs random graphs of several operators. A model computes the weighted sum of its
last tensor, and a node Gradient the derivatives for all inputs. Models that differ stay in DIR, with
a line that says what differs. Ends with "N passed, M failed". Where PopART and PyTorch differ, at
equal maxima and at the kink of Elu, the models avoid the case.
"""
import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import torch
import torch.nn.functional as F
from alike import difference
from onnx import TensorProto, helper, numpy_helper

torch.set_default_dtype(torch.float64)
TRAINING = "ai.onnx.preview.training"
SELU_ALPHA, SELU_GAMMA = float(np.float32(1.67326319)), float(np.float32(1.05070102))


class Graph:
    """Nodes of ONNX, and the same tensors in PyTorch, by name."""

    def __init__(self, rng):
        self.rng, self.nodes, self.constants = rng, [], []
        self.inputs, self.values = {}, {}

    def pick(self, *choices):
        return choices[int(self.rng.integers(len(choices)))]

    def size(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def chance(self, share=0.5):
        return bool(self.rng.random() < share)

    def shape(self, rank=None, low=1, high=4):
        return [self.size(low, high) for _ in range(self.size(1, 4) if rank is None else rank)]

    def input(self, shape, low=-1.5, high=1.5):
        name = f"x{len(self.inputs)}"
        value = self.rng.uniform(low, high, shape)
        self.inputs[name] = torch.tensor(value, requires_grad=True)
        self.values[name] = self.inputs[name]
        return name

    def constant(self, value):
        name = f"c{len(self.constants)}"
        value = np.asarray(value)
        self.constants.append(numpy_helper.from_array(value, name))
        self.values[name] = torch.tensor(value)
        return name

    def ints(self, values):
        return self.constant(np.asarray(values, np.int64))

    def add(self, op, inputs, result, domain="", **attrs):
        """Adds a node; `result` is the tensor, or the tensors, that PyTorch gives for it."""
        results = result if isinstance(result, (list, tuple)) else [result]
        names = [f"t{len(self.nodes)}_{i}" if r is not None else ""
                 for i, r in enumerate(results)]
        attrs = {k: v for k, v in attrs.items() if v is not None}
        self.nodes.append(helper.make_node(op, inputs, names, domain=domain, **attrs))
        for name, value in zip(names, results):
            if name:
                self.values[name] = value
        return names[0] if not isinstance(result, (list, tuple)) else names

    def at(self, name):
        return self.values[name]

    def rank(self, name):
        return self.values[name].dim()

    def save(self, path, y):
        """Writes the model of the weighted sum of y and its gradients; returns PyTorch's."""
        weights = self.rng.uniform(0.5, 1.5, tuple(self.at(y).shape))
        w = self.constant(weights)
        product = self.add("Mul", [y, w], self.at(y) * torch.tensor(weights))
        loss = self.add("ReduceSum", [product], self.at(product).sum(), keepdims=0)
        grads = [f"d_{name}" for name in self.inputs]
        self.nodes.append(helper.make_node("Gradient", list(self.inputs), grads, domain=TRAINING,
                                           xs=list(self.inputs), y=loss))
        graph = helper.make_graph(
            self.nodes, "gradients",
            [helper.make_tensor_value_info(n, TensorProto.DOUBLE, list(v.shape))
             for n, v in self.inputs.items()],
            [helper.make_tensor_value_info(n, TensorProto.UNDEFINED, None)
             for n in [loss] + grads], self.constants)
        for value in graph.output:
            value.ClearField("type")
        onnx.save(helper.make_model(graph, ir_version=10, opset_imports=[
            helper.make_opsetid("", 22), helper.make_opsetid(TRAINING, 1)]), path)
        leaves = list(self.inputs.values())
        found = torch.autograd.grad(self.at(loss), leaves, allow_unused=True)
        results = {loss: self.at(loss).detach().numpy()}
        for name, leaf, grad in zip(grads, leaves, found):
            results[name] = (torch.zeros_like(leaf) if grad is None else grad).numpy()
        return results


# ---- operators that take any tensor, for random graphs and alone


def unary(g, x):
    v = g.at(x)
    op, value, attrs = g.pick(
        ("Sin", torch.sin, {}), ("Cos", torch.cos, {}), ("Tanh", torch.tanh, {}),
        ("Sigmoid", torch.sigmoid, {}), ("Relu", torch.relu, {}), ("Neg", torch.neg, {}),
        ("Abs", torch.abs, {}), ("Erf", torch.erf, {}), ("Softplus", F.softplus, {}),
        ("Softsign", F.softsign, {}), ("Selu", lambda t: SELU_GAMMA * F.elu(t, SELU_ALPHA), {}), ("Mish", F.mish, {}),
        ("HardSwish", F.hardswish, {}), ("Atan", torch.atan, {}), ("Asinh", torch.asinh, {}),
        ("Gelu", F.gelu, {}), ("Identity", lambda t: t * 1, {}),
        ("Gelu", lambda t: F.gelu(t, approximate="tanh"), {"approximate": "tanh"}),
        ("LeakyRelu", lambda t: F.leaky_relu(t, 0.125), {"alpha": 0.125}),
        ("Elu", lambda t: F.elu(t, 0.75), {"alpha": 0.75}),
        ("Celu", lambda t: F.celu(t, 0.75), {"alpha": 0.75}),
        ("HardSigmoid", lambda t: F.hardtanh(t * 0.25 + 0.5, 0, 1), {"alpha": 0.25, "beta": 0.5}),
        ("ThresholdedRelu", lambda t: torch.where(t > 0.25, t, 0.0), {"alpha": 0.25}),
        ("Shrink", lambda t: F.hardshrink(t, 0.5), {"lambd": 0.5}))
    if op in ("Elu", "Selu", "Celu") and (v == 0).any():
        op, value, attrs = "Tanh", torch.tanh, {}  # PopART's slope at 0 is another
    return g.add(op, [x], value(v), **attrs)


def positive(g, x):
    """Operators of positive arguments."""
    one = g.constant(np.float64(1))
    v = g.at(x) * g.at(x) + 1
    square = g.add("Mul", [x, x], g.at(x) * g.at(x))
    base = g.add("Add", [square, one], v)
    op, value = g.pick(("Log", torch.log), ("Sqrt", torch.sqrt), ("Reciprocal", torch.reciprocal),
                       ("Acosh", torch.acosh))
    return g.add(op, [base], value(v))


def binary(g, x, y):
    a, b = g.at(x), g.at(y)
    try:
        torch.broadcast_shapes(a.shape, b.shape)
    except RuntimeError:
        y, b = x, a
    op = g.pick("Add", "Sub", "Mul", "Max", "Min", "Div", "Where", "PRelu", "Mod", "Pow")
    if op in ("Div", "Mod"):
        two = g.constant(np.float64(2))
        y = g.add("Add", [g.add("Mul", [y, y], b * b), two], b * b + 2)
        b = g.at(y)
    if op == "Div":
        return g.add(op, [x, y], a / b)
    if op == "Mod":
        return g.add(op, [x, y], torch.fmod(a, b), fmod=1)
    if op == "Pow":
        exponent = g.constant(np.float64(g.pick(2, 3, 1)))
        return g.add(op, [x, exponent], a ** g.at(exponent))
    if op == "Where":
        shape = torch.broadcast_shapes(a.shape, b.shape)
        c = g.constant(g.rng.random(tuple(shape)) < 0.5)
        return g.add(op, [c, x, y], torch.where(g.at(c), a, b))
    if op in ("Max", "Min") and (a == b).any():
        op = "Add"  # of equal values each gets the whole gradient, as in PopART
    if op == "PRelu":
        if torch.broadcast_shapes(a.shape, b.shape) != a.shape:
            op = "Mul"
        else:
            return g.add(op, [x, y], torch.where(a < 0, a * b, a))
    value = {"Add": torch.add, "Sub": torch.sub, "Mul": torch.mul, "Max": torch.maximum,
             "Min": torch.minimum}[op](a, b)
    return g.add(op, [x, y], value)


def reduce(g, x):
    v = g.at(x)
    axes = sorted({g.size(0, v.dim() - 1) for _ in range(g.size(1, 2))}) if v.dim() else []
    keep = g.chance()
    op = g.pick("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2",
                "ReduceSumSquare", "ReduceLogSumExp", "ReduceProd")
    if not axes:
        return g.add("Identity", [x], v * 1)
    if op in ("ReduceMax", "ReduceMin") and v.unique().numel() != v.numel():
        op = "ReduceMean"  # of equal values each gets the whole gradient, as in PopART
    if op == "ReduceL2" and ((v * v).sum(axes) == 0).any():
        op = "ReduceMean"  # PyTorch's gradient is NaN
    if op == "ReduceProd":
        value = v
        for axis in reversed(axes):
            value = value.prod(axis, keepdim=keep)
    else:
        value = {"ReduceSum": lambda: v.sum(axes, keep), "ReduceMean": lambda: v.mean(axes, keep),
                 "ReduceMax": lambda: v.amax(axes, keep), "ReduceMin": lambda: v.amin(axes, keep),
                 "ReduceL1": lambda: v.abs().sum(axes, keep),
                 "ReduceL2": lambda: (v * v).sum(axes, keep).sqrt(),
                 "ReduceSumSquare": lambda: (v * v).sum(axes, keep),
                 "ReduceLogSumExp": lambda: torch.logsumexp(v, axes, keep)}[op]()
    return g.add(op, [x, g.ints(axes)], value, keepdims=int(keep))


def along(g, x):
    """Operators along one axis."""
    v = g.at(x)
    if v.dim() == 0:
        return g.add("Identity", [x], v * 1)
    axis = g.size(0, v.dim() - 1)
    op = g.pick("Softmax", "LogSoftmax", "CumSum", "CumProd", "TopK", "Split", "LpNormalization")
    if op == "Softmax":
        return g.add(op, [x], torch.softmax(v, axis), axis=axis)
    if op == "LogSoftmax":
        return g.add(op, [x], torch.log_softmax(v, axis), axis=axis)
    if op == "CumSum":
        if g.chance():
            return g.add(op, [x, g.ints(axis)], torch.cumsum(v, axis))
        return g.add(op, [x, g.ints(axis)], v.flip(axis).cumsum(axis).flip(axis), reverse=1)
    if op == "CumProd":  # an opset newer than the others
        return g.add("CumSum", [x, g.ints(axis)], torch.cumsum(v, axis))
    if op == "TopK" and v.unique().numel() == v.numel():
        k = g.size(1, v.shape[axis])
        values, indices = torch.topk(v, k, axis)
        return g.add(op, [x, g.ints([k])], [values, indices], axis=axis)[0]
    if op == "LpNormalization":
        p = g.pick(1, 2)
        if (v.norm(p, axis) == 0).any():
            return g.add("Identity", [x], v * 1)
        return g.add(op, [x], v / v.norm(p, axis, keepdim=True), axis=axis, p=p)
    at, op = g.size(0, v.shape[axis]), "Split"
    parts = torch.split(v, [at, v.shape[axis] - at], axis)
    if at in (0, v.shape[axis]):
        return g.add("Identity", [x], v * 1)
    return g.add(op, [x, g.ints([at, v.shape[axis] - at])], list(parts), axis=axis)[g.size(0, 1)]


def move(g, x):
    v = g.at(x)
    rank = v.dim()
    op = g.pick("Transpose", "Reshape", "Slice", "Concat", "Pad", "Tile", "Expand", "Gather",
                "GatherElements", "ScatterElements", "Unsqueeze", "Flatten", "Trilu")
    if rank == 0:
        return g.add("Unsqueeze", [x, g.ints([0])], v.unsqueeze(0))
    axis = g.size(0, rank - 1)
    n = v.shape[axis]
    if op == "Transpose":
        perm = [int(i) for i in g.rng.permutation(rank)]
        return g.add(op, [x], v.permute(perm), perm=perm)
    if op == "Reshape":
        return g.add(op, [x, g.ints([-1, n])], v.reshape(-1, n))
    if op == "Slice":
        start, step = g.size(0, n - 1), g.pick(1, 1, 2)
        end = g.size(start + 1, n)
        index = [slice(None)] * rank
        index[axis] = slice(start, end, step)
        return g.add(op, [x, g.ints([start]), g.ints([end]), g.ints([axis]), g.ints([step])],
                     v[tuple(index)])
    if op == "Concat":
        return g.add(op, [x, x], torch.cat([v, v * 1], axis), axis=axis)
    if op == "Pad":
        before, after = g.size(0, 2), g.size(0, 2)
        mode = g.pick("constant", "edge", "reflect", "wrap")
        if mode in ("reflect", "wrap") and max(before, after) >= n:
            mode = "edge"
        places = np.pad(np.arange(n), (before, after), mode=mode) if mode != "constant" else \
            np.pad(np.arange(n), (before, after), constant_values=-1)
        padded = v.index_select(axis, torch.tensor(np.maximum(places, 0)))
        shape = [1] * rank
        shape[axis] = -1
        padded = torch.where(torch.tensor(places >= 0).reshape(shape), padded, 0.0)
        pads = [0] * (2 * rank)
        pads[axis], pads[rank + axis] = before, after
        return g.add(op, [x, g.ints(pads)], padded, mode=mode)
    if op == "Tile":
        repeats = [g.size(1, 2) for _ in range(rank)]
        return g.add(op, [x, g.ints(repeats)], v.repeat(repeats))
    if op == "Expand":
        shape = [g.size(1, 3) if d == 1 else d for d in v.shape]
        return g.add(op, [x, g.ints([2] + shape)], v.expand([2] + shape))
    if op == "Gather":
        index = g.rng.integers(0, n, g.size(1, 4))
        return g.add(op, [x, g.ints(index)], v.index_select(axis, torch.tensor(index)), axis=axis)
    if op == "GatherElements":
        index = g.rng.integers(0, n, tuple(v.shape))
        return g.add(op, [x, g.ints(index)], torch.gather(v, axis, torch.tensor(index)), axis=axis)
    if op == "ScatterElements":
        index = torch.tensor(g.rng.integers(0, n, tuple(v.shape)))
        data = g.add("Sin", [x], torch.sin(v))
        mode = g.pick("add", "mul")
        value = torch.scatter_reduce(g.at(data), axis, index, v, {"add": "sum", "mul": "prod"}[mode])
        return g.add(op, [data, g.ints(index.numpy()), x], value, axis=axis, reduction=mode)
    if op == "Flatten":
        return g.add(op, [x], v.reshape(int(np.prod(v.shape[:axis])), -1), axis=axis)
    if op == "Trilu" and rank >= 2:
        return g.add(op, [x], torch.triu(v))
    return g.add("Unsqueeze", [x, g.ints([axis])], v.unsqueeze(axis))


def product(g, x):
    """A product with a new matrix, behind a reshape to two dims."""
    v = g.at(x)
    if v.dim() < 2:
        x = g.add("Reshape", [x, g.ints([1, -1])], v.reshape(1, -1))
        v = g.at(x)
    w = g.input([v.shape[-1], g.size(1, 4)])
    return g.add("MatMul", [x, w], v @ g.at(w))


def layer_norm(g, x):
    v = g.at(x)
    if v.dim() == 0:
        return g.add("Identity", [x], v * 1)
    axis = g.size(0, v.dim() - 1)
    shape = list(v.shape[axis:])
    s, b = g.input(shape), g.input(shape)
    eps = 0.0009765625
    return g.add("LayerNormalization", [x, s, b], F.layer_norm(v, shape, g.at(s), g.at(b), eps),
                 axis=axis, epsilon=eps)


ANY = [unary, unary, positive, reduce, along, move, move, product, layer_norm]


def random_graph(g):
    tensors = [g.input(g.shape()) for _ in range(g.size(1, 3))]
    for _ in range(g.size(2, 9)):
        x = g.pick(*tensors[-3:], *tensors)
        if g.chance(0.25):
            tensors.append(binary(g, x, g.pick(*tensors)))
        else:
            tensors.append(g.pick(*ANY)(g, x))
        if g.at(tensors[-1]).numel() > 3000:
            tensors.append(g.add("ReduceMean", [tensors[-1]], g.at(tensors[-1]).mean(), keepdims=0))
    return tensors[-1]


# ---- operators alone


SINGLES = {}


def single(make):
    SINGLES[make.__name__] = make
    return make


for function in (unary, positive, reduce, along, move, product, layer_norm):
    SINGLES[function.__name__] = lambda g, f=function: f(g, g.input(g.shape()))
SINGLES["binary"] = lambda g: binary(g, g.input([2, 3, 2]), g.input(g.pick([3, 1], [2], [1, 3, 2])))


@single
def conv(g):
    axes, group = g.pick(1, 2, 2, 3), g.pick(1, 1, 2, 3)
    kernel = [g.size(1, 3) for _ in range(axes)]
    strides, dilations = [g.size(1, 3) for _ in kernel], [g.size(1, 2) for _ in kernel]
    pads = [g.size(0, 2) for _ in kernel]
    image = [d * (k - 1) + 1 + g.size(0, 4) for k, d in zip(kernel, dilations)]
    x = g.input([g.size(1, 2), 2 * group] + image)
    w, b = g.input([group * g.size(1, 2), 2] + kernel), None
    ins = [x, w]
    if g.chance():
        b = g.input([g.at(w).shape[0]])
        ins.append(b)
    op = [F.conv1d, F.conv2d, F.conv3d][axes - 1]
    y = op(g.at(x), g.at(w), g.at(b) if b else None, strides, pads, dilations, group)
    return g.add("Conv", ins, y, strides=strides, pads=pads * 2, dilations=dilations, group=group)


@single
def conv_transpose(g):
    axes, group = g.pick(1, 2, 2, 3), g.pick(1, 1, 2)
    kernel = [g.size(1, 3) for _ in range(axes)]
    strides, dilations = [g.size(1, 3) for _ in kernel], [g.size(1, 2) for _ in kernel]
    pads = [g.size(0, min(1, (k - 1) * d // 2)) for k, d in zip(kernel, dilations)]
    extra = [g.size(0, s - 1) for s in strides]
    x = g.input([g.size(1, 2), 2 * group] + [g.size(2, 4) for _ in kernel])
    w = g.input([2 * group, g.size(1, 2)] + kernel)
    op = [F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d][axes - 1]
    y = op(g.at(x), g.at(w), None, strides, pads, extra, group, dilations)
    return g.add("ConvTranspose", [x, w], y, strides=strides, pads=pads * 2, dilations=dilations,
                 output_padding=extra, group=group)


@single
def max_pool(g):
    k, s, d = g.size(1, 3), g.size(1, 3), g.size(1, 2)
    pad, ceil = g.size(0, k // 2), g.chance()
    x = g.input([1, 2, d * (k - 1) + 1 + g.size(0, 4), d * (k - 1) + 1 + g.size(0, 4)])
    y = F.max_pool2d(g.at(x), k, s, pad, d, ceil)
    return g.add("MaxPool", [x], y, kernel_shape=[k, k], strides=[s, s], pads=[pad] * 4,
                 dilations=[d, d], ceil_mode=int(ceil))


@single
def average_pool(g):
    k, s = g.size(1, 3), g.size(1, 3)
    pad, count, ceil = g.size(0, k // 2), g.chance(), g.chance()
    x = g.input([1, 2, k + g.size(0, 4), k + g.size(0, 4)])
    y = F.avg_pool2d(g.at(x), k, s, pad, ceil, count)
    return g.add("AveragePool", [x], y, kernel_shape=[k, k], strides=[s, s], pads=[pad] * 4,
                 count_include_pad=int(count), ceil_mode=int(ceil))


@single
def global_pool(g):
    x = g.input([2, 3, 2, 4])
    if g.chance():
        return g.add("GlobalAveragePool", [x], g.at(x).mean((2, 3), True))
    return g.add("GlobalMaxPool", [x], g.at(x).amax((2, 3), True))


@single
def batch_norm(g):
    x, s, b = g.input([3, 2, g.size(1, 4)]), g.input([2]), g.input([2])
    m, v = g.constant(np.array([0.5, -1])), g.constant(np.array([2.0, 0.5]))
    if g.chance():
        y = F.batch_norm(g.at(x), g.at(m), g.at(v), g.at(s), g.at(b), False, eps=0.0625)
        return g.add("BatchNormalization", [x, s, b, m, v], y, epsilon=0.0625)
    y = F.batch_norm(g.at(x), None, None, g.at(s), g.at(b), True, eps=0.0625)
    return g.add("BatchNormalization", [x, s, b, m, v], [y, g.at(m), g.at(v)], epsilon=0.0625,
                 training_mode=1)[0]


@single
def other_norms(g):
    x, s, b = g.input([2, 4, 3]), g.input([4]), g.input([4])
    if g.chance():
        y = F.instance_norm(g.at(x), None, None, g.at(s), g.at(b), eps=0.0625)
        return g.add("InstanceNormalization", [x, s, b], y, epsilon=0.0625)
    groups = g.pick(1, 2, 4)
    y = F.group_norm(g.at(x), groups, g.at(s), g.at(b), 0.0625)
    return g.add("GroupNormalization", [x, s, b], y, epsilon=0.0625, num_groups=groups)


@single
def local_response(g):
    x, size = g.input([2, 5, 3]), g.pick(1, 3, 5)
    y = F.local_response_norm(g.at(x), size, 0.5, 0.75, 2.0)
    return g.add("LRN", [x], y, size=size, alpha=0.5, beta=0.75, bias=2.0)


def recurrent_parts(g, gates, bias):
    seq, batch, inputs, hidden = g.size(1, 4), g.size(1, 3), g.size(1, 3), g.size(1, 3)
    x, h = g.input([seq, batch, inputs]), g.input([1, batch, hidden])
    w, r = g.input([1, gates * hidden, inputs]), g.input([1, gates * hidden, hidden])
    b = g.input([1, 2 * gates * hidden]) if bias else ""
    return x, w, r, b, h, hidden


def rows(value, hidden, order):
    """Gates of ONNX in PyTorch's order."""
    return torch.cat([value[k * hidden:(k + 1) * hidden] for k in order])


@single
def lstm(g):
    x, w, r, b, h, hidden = recurrent_parts(g, 4, True)
    c = g.input(list(g.at(h).shape))
    order = (0, 2, 3, 1)
    wb, rb = g.at(b)[0].chunk(2)
    params = [rows(g.at(w)[0], hidden, order), rows(g.at(r)[0], hidden, order),
              rows(wb, hidden, order), rows(rb, hidden, order)]
    y, hn, cn = torch.lstm(g.at(x), (g.at(h), g.at(c)), params, True, 1, 0.0, False, False, False)
    names = g.add("LSTM", [x, w, r, b, "", h, c], [y.unsqueeze(1), hn, cn], hidden_size=hidden)
    return g.pick(*names)


@single
def gru(g):
    x, w, r, b, h, hidden = recurrent_parts(g, 3, True)
    order = (1, 0, 2)
    wb, rb = g.at(b)[0].chunk(2)
    params = [rows(g.at(w)[0], hidden, order), rows(g.at(r)[0], hidden, order),
              rows(wb, hidden, order), rows(rb, hidden, order)]
    y, hn = torch.gru(g.at(x), g.at(h), params, True, 1, 0.0, False, False, False)
    return g.pick(*g.add("GRU", [x, w, r, b, "", h], [y.unsqueeze(1), hn], hidden_size=hidden,
                         linear_before_reset=1))


@single
def rnn(g):
    x, w, r, b, h, hidden = recurrent_parts(g, 1, True)
    wb, rb = g.at(b)[0].chunk(2)
    params = [g.at(w)[0], g.at(r)[0], wb, rb]
    relu = g.chance()
    function = torch.rnn_relu if relu else torch.rnn_tanh
    y, hn = function(g.at(x), g.at(h), params, True, 1, 0.0, False, False, False)
    return g.pick(*g.add("RNN", [x, w, r, b, "", h], [y.unsqueeze(1), hn], hidden_size=hidden,
                         activations=["Relu" if relu else "Tanh"]))


@single
def cross_entropy(g):
    shape = g.pick([3, 4], [2, 3, 2])
    x, w = g.input(shape), g.constant(g.rng.uniform(0.5, 1.5, shape[1]))
    labels = g.rng.integers(0, shape[1], [shape[0]] + shape[2:])
    reduction = g.pick("mean", "sum", "none")
    ignore = g.pick(-100, 1)
    t = g.ints(labels)
    ins, weight = ([x, t, w], g.at(w)) if g.chance() else ([x, t], None)
    if g.chance():
        y = F.cross_entropy(g.at(x), g.at(t), weight, ignore_index=ignore, reduction=reduction)
        return g.add("SoftmaxCrossEntropyLoss", ins, y, reduction=reduction, ignore_index=ignore)
    y = F.nll_loss(g.at(x), g.at(t), weight, ignore_index=ignore, reduction=reduction)
    return g.add("NegativeLogLikelihoodLoss", ins, y, reduction=reduction, ignore_index=ignore)


@single
def resize(g):
    mode = g.pick("nearest", "linear", "cubic")
    x = g.input([1, 2, g.size(2, 5), g.size(2, 5)])
    size = [g.size(1, 8), g.size(1, 8)]
    align = mode != "nearest" and g.chance()
    torch_mode = {"nearest": "nearest", "linear": "bilinear", "cubic": "bicubic"}[mode]
    y = F.interpolate(g.at(x), size, mode=torch_mode,
                      align_corners=None if mode == "nearest" else align)
    coords = "asymmetric" if mode == "nearest" else "align_corners" if align else "half_pixel"
    return g.add("Resize", [x, "", "", g.ints([1, 2] + size)], y, mode=mode,
                 nearest_mode="floor", coordinate_transformation_mode=coords)


@single
def grid_sample(g):
    mode, pad, corners = g.pick("linear", "cubic"), g.pick("zeros", "border", "reflection"), \
        g.chance()
    x, grid = g.input([2, 2, 3, 4]), g.input([2, 2, 3, 2], -1.3, 1.3)
    y = F.grid_sample(g.at(x), g.at(grid), {"linear": "bilinear", "cubic": "bicubic"}[mode], pad,
                      corners)
    return g.add("GridSample", [x, grid], y, mode=mode, padding_mode=pad,
                 align_corners=int(corners))


@single
def affine_grid(g):
    theta, corners = g.input([2, 2, 3]), g.chance()
    y = F.affine_grid(g.at(theta), [2, 1, 3, 4], align_corners=corners)
    return g.add("AffineGrid", [theta, g.ints([2, 1, 3, 4])], y, align_corners=int(corners))


@single
def col2im(g):
    block, stride, pad = [g.size(1, 3), g.size(1, 3)], g.size(1, 2), g.size(0, 1)
    image = [b + g.size(1, 3) for b in block]
    steps = [(i + 2 * pad - b) // stride + 1 for i, b in zip(image, block)]
    x = g.input([2, 2 * block[0] * block[1], steps[0] * steps[1]])
    y = F.fold(g.at(x), image, block, 1, pad, stride)
    return g.add("Col2Im", [x, g.ints(image), g.ints(block)], y, strides=[stride] * 2,
                 pads=[pad] * 4)


@single
def attention(g):
    q, k = g.input([2, 2, 3, 4]), g.input([2, 2, 4, 4])
    v, m = g.input([2, 2, 4, 2]), g.input([3, 4])
    y = F.scaled_dot_product_attention(g.at(q), g.at(k), g.at(v), g.at(m))
    return g.add("Attention", [q, k, v, m], y)


@single
def einsum(g):
    equation, shapes = g.pick(("ij,jk->ik", ([2, 3], [3, 4])), ("bij,bkj->bik", ([2, 2, 3], [2, 4, 3])),
                              ("ii->i", ([3, 3],)), ("ij,ij->", ([2, 3], [2, 3])),
                              ("ij,k->kj", ([2, 3], [2])),
                              ("...ij,...jk->...ik", ([2, 1, 2, 3], [3, 3, 2])),
                              ("ab,bc,cd->ad", ([2, 3], [3, 2], [2, 2])))
    ins = [g.input(s) for s in shapes]
    return g.add("Einsum", ins, torch.einsum(equation, *[g.at(i) for i in ins]), equation=equation)


@single
def det(g):
    x = g.input([2, 3, 3])
    return g.add("Det", [x], torch.linalg.det(g.at(x)))


@single
def dft(g):
    x = g.input([2, g.size(2, 6), 2])
    z = torch.view_as_complex(g.at(x))
    inverse = g.chance()
    y = torch.view_as_real((torch.fft.ifft if inverse else torch.fft.fft)(z, dim=1))
    return g.add("DFT", [x, "", g.ints(1)], y, inverse=int(inverse))


@single
def gemm(g):
    ta, tb = g.chance(), g.chance()
    a, b, c = g.input([3, 2] if ta else [2, 3]), g.input([4, 3] if tb else [3, 4]), g.input([4])
    left, right = g.at(a).T if ta else g.at(a), g.at(b).T if tb else g.at(b)
    return g.add("Gemm", [a, b, c], 0.5 * left @ right + 2 * g.at(c), transA=int(ta),
                 transB=int(tb), alpha=0.5, beta=2.0)


@single
def clip(g):
    x, lo, hi = g.input([3, 4]), g.constant(np.float64(-0.5)), g.constant(np.float64(0.75))
    return g.add("Clip", [x, lo, hi], torch.clamp(g.at(x), -0.5, 0.75))


@single
def scatter_nd(g):
    x, u = g.input([4, 3]), g.input([3, 3])
    index = g.rng.integers(0, 4, [3, 1])
    y = g.at(x).index_add(0, torch.tensor(index[:, 0]), g.at(u))
    return g.add("ScatterND", [x, g.ints(index), u], y, reduction="add")


# ---- running


def try_model(poprt, make, seed, folder):
    """An empty text if all results agree, else what differs."""
    g = Graph(np.random.default_rng(seed))
    y = make(g)
    path = os.path.join(folder, "model.onnx")
    expected = g.save(path, y)
    command = [poprt, "run", path, "--threads", "1", "--output-dir", folder]
    for name, value in g.inputs.items():
        np.save(os.path.join(folder, name + ".npy"), value.detach().numpy())
        command += ["--input", f"{name}={os.path.join(folder, name)}.npy"]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    if answer.returncode != 0:
        return answer.stderr.strip() or str(answer.returncode)
    for name, value in expected.items():
        words = difference(np.load(os.path.join(folder, name + ".npy")), value, 1e-8, 1e-3)
        if words:
            return f"{name}: {words}"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("poprt")
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--singles", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default=None)
    parser.add_argument("--keep", default=None)
    args = parser.parse_args()
    tasks = [(name, make, args.seed + i) for name, make in SINGLES.items()
             for i in range(args.singles)]
    tasks += [("random_graph", random_graph, args.seed + i) for i in range(args.runs)]
    passed = failed = 0
    for name, make, seed in tasks:
        if args.only not in (None, name):
            continue
        with tempfile.TemporaryDirectory() as folder:
            words = try_model(args.poprt, make, seed, folder)
            if not words:
                passed += 1
                continue
            failed += 1
            print(f"{name} --seed {seed}: {words}", flush=True)
            if args.keep is not None:
                to = os.path.join(args.keep, f"{name}-{seed}")
                os.makedirs(args.keep, exist_ok=True)
                os.rename(folder, to)
                os.makedirs(folder)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
