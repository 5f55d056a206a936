# SPDX-License-Identifier: MIT
"""random_models.py POPRT [--runs N] [--seed N] [--family NAME] [--keep DIR]

Small models of random operators, shapes and attributes, run by POPRT and by ONNX Runtime (from
PyPI, with numpy and onnx) on the same random inputs: outputs have to be alike. Each is run with
kernels of one level and with one thread or two, by chance. What differs stays in DIR, and one line
says what it is. Models that ONNX Runtime refuses are not counted. Ends with "N passed, N failed".
"""
import argparse
import os
import pickle
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime as ort
from alike import difference
from onnx import TensorProto, helper, numpy_helper

LEVELS = ("native", "avx512", "avx2", "portable")
FAMILIES = {}
# Of int8: without VNNI the peer adds pairs of products with uint8 in 16 bits, which larger values
# would saturate (its documentation says to use 7 bits there).
with open("/proc/cpuinfo", encoding="utf-8") as cpuinfo:
    MOST_SIGNED = 127 if "vnni" in cpuinfo.read() else 63


def family(make):
    FAMILIES[make.__name__] = make
    return make


class Model:
    """Nodes and what they read; tensors are named as they are made."""

    def __init__(self, rng):
        self.rng, self.nodes, self.inputs, self.constants = rng, [], {}, []
        self.tolerance = 1e-4

    def pick(self, *choices):
        return choices[self.rng.integers(len(choices))]

    def chance(self, share=0.5):
        return bool(self.rng.random() < share)

    def size(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def floats(self, shape, scale=1.0):
        return (self.rng.standard_normal(shape) * scale).astype(np.float32)

    def input(self, value):
        name = f"x{len(self.inputs)}"
        self.inputs[name] = np.asarray(value)
        return name

    def constant(self, value):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def side(self, value):
        """A constant, or sometimes an input."""
        return self.constant(value) if self.chance(0.8) else self.input(value)

    def add(self, op, inputs, outputs=1, domain="", **attrs):
        names = [f"t{len(self.nodes)}_{i}" for i in range(outputs)]
        attrs = {k: v for k, v in attrs.items() if v is not None}
        self.nodes.append(helper.make_node(op, inputs, names, domain=domain, **attrs))
        return names[0] if outputs == 1 else names

    def activation(self, x, share=0.5):
        if not self.chance(share):
            return x
        op = self.pick("Relu", "Sigmoid", "Tanh", "LeakyRelu", "HardSwish", "Clip", "Elu",
                       "Softplus", "Mish", "Gelu", "HardSigmoid", "silu")
        if op == "silu":
            return self.add("Mul", [x, self.add("Sigmoid", [x])])
        if op == "Clip":
            return self.add("Clip", [x, self.constant(np.float32(-0.5)),
                                     self.constant(np.float32(0.75))])
        return self.add(op, [x])

    def shape(self, name, value, symbols):
        return [f"{name}_{i}" if symbols and self.chance() else d
                for i, d in enumerate(value.shape)]

    def save(self, outputs, path):
        symbols = self.chance(0.3)
        graph = helper.make_graph(
            self.nodes, "random",
            [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(v.dtype),
                                           self.shape(n, v, symbols))
             for n, v in self.inputs.items()],
            [helper.make_tensor_value_info(n, TensorProto.UNDEFINED, None) for n in outputs],
            self.constants)
        for value in graph.output:
            value.ClearField("type")
        onnx.save(helper.make_model(graph, ir_version=9, opset_imports=[
            helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)]), path)


# ---- images


def window(m, image, transposed=False):
    """Attributes of one that is no larger than the image."""
    axes = len(image)
    kernel = [m.size(1, 5) for _ in range(axes)]
    if m.chance(0.4):
        kernel = [m.pick(1, 3, 3, 5)] * axes
    strides = [m.pick(1, 1, 2, 3) for _ in range(axes)] if m.chance() else None
    dilations = [m.pick(1, 1, 2) for _ in range(axes)] if m.chance(0.3) else None
    if not transposed:
        kernel = [min(k, d) for k, d in zip(kernel, image)]
        if dilations and any(d * (k - 1) >= n for d, k, n in zip(dilations, kernel, image)):
            dilations = None
    attrs = {"kernel_shape": kernel, "strides": strides, "dilations": dilations}
    small = any(k < s for k, s in zip(kernel, strides or [1] * axes)) # differs by negative pads
    if m.chance(0.2) and not transposed and dilations is None and not small:
        attrs["auto_pad"] = m.pick("SAME_UPPER", "SAME_LOWER", "VALID")
    elif m.chance(0.7):
        attrs["pads"] = [m.size(0, k - 1) for k in kernel * 2]
    return attrs


def image(m, channels, axes=None):
    axes = axes or m.pick(1, 2, 2, 2, 2, 3)
    most = {1: 60, 2: 24, 3: 13}[axes]
    return m.input(m.floats([m.size(1, 2), channels] + [m.size(1, most) for _ in range(axes)]))


def conv(m, x, channels):
    groups = m.pick(1, 1, 1, 1, 2, channels)
    if channels % groups:
        groups = 1
    filters = groups * m.size(1, 40 if groups == 1 else 12)
    attrs = window(m, m.inputs["x0"].shape[2:])
    depth = channels // groups * int(np.prod(attrs["kernel_shape"]))
    inputs = [x, m.side(m.floats([filters, channels // groups] + attrs["kernel_shape"],
                                 depth ** -0.5))]
    if m.chance(0.7):
        inputs.append(m.side(m.floats([filters])))
    return m.add("Conv", inputs, group=groups, **attrs), filters


@family
def convolution(m):
    channels = m.size(1, 40)
    x = image(m, channels)
    y, filters = conv(m, x, channels)
    y = m.activation(y)
    if m.chance(0.3):
        y = m.add("Add", [y, y]) if m.chance(0.3) else m.add("Mul", [y, m.constant(
            m.floats([filters] + [1] * (m.inputs["x0"].ndim - 2)))])
    return [y]


@family
def chain_of_convolutions(m):
    channels = m.size(1, 32)
    x = image(m, channels)
    axes = m.inputs["x0"].ndim - 2
    ends, last = [], x
    for _ in range(m.size(2, 4)):
        kernel = [m.pick(1, 3, 3, 5)] * axes
        groups = channels if m.chance(0.3) else 1
        filters = channels if groups > 1 or m.chance(0.4) else m.size(1, 40)
        depth = channels // groups * int(np.prod(kernel))
        y = m.add("Conv", [last, m.constant(m.floats([filters, channels // groups] + kernel,
                                                     depth ** -0.5)),
                           m.constant(m.floats([filters]))], group=groups, kernel_shape=kernel,
                  pads=[k // 2 for k in kernel] * 2)
        if m.chance(0.3):
            y = m.add("BatchNormalization", [y] + [m.constant(np.abs(m.floats([filters])) + 0.1)
                                                   for _ in range(4)])
        y = m.activation(y, 0.7)
        if filters == channels and m.chance(0.5):
            y = m.activation(m.add("Add", [y, last]), 0.5)
        elif m.chance(0.2):
            y = m.add("Concat", [y, last], axis=1)
            filters += channels
        elif m.chance(0.2):
            y = m.add(m.pick("MaxPool", "AveragePool"), [y], kernel_shape=[3] * axes,
                      pads=[1] * (2 * axes))
        if m.chance(0.2):
            ends.append(m.add("GlobalAveragePool", [y]))
        last, channels = y, filters
    return ends + [last]


@family
def convolution_along_an_axis(m):
    channels, axes = m.size(12, 70), m.pick(1, 1, 2, 2)
    axis, taps, dilation = m.size(0, axes - 1), m.size(3, 12), m.pick(1, 1, 1, 2, 3, 5)
    far = (taps - 1) * dilation
    sizes = [m.size(1, 20)] * axes
    sizes[axis] = far + m.size(1, 90)
    x = m.input(m.floats([m.size(1, 2), channels] + sizes))
    for _ in range(m.size(1, 2)):
        filters = channels if m.chance(0.4) else m.size(12, 110)
        kernel, dilations, pads = [1] * axes, [m.pick(1, 2)] * axes, [0] * 2 * axes
        kernel[axis], dilations[axis], pads[axis] = taps, dilation, far // 2
        pads[axes + axis] = far - far // 2
        y = m.add("Conv", [x, m.constant(m.floats([filters, channels] + kernel,
                                                  (channels * taps) ** -0.5)),
                           m.constant(m.floats([filters]))],
                  kernel_shape=kernel, dilations=dilations, pads=pads)
        y = m.activation(y)
        x = m.activation(m.add("Add", [y, x])) if filters == channels and m.chance() else y
        channels = filters
    return [x]


@family
def transposed_convolution(m):
    channels, groups = m.size(1, 40), 1
    if m.chance(0.2):
        groups = channels
    x = image(m, channels)
    axes = m.inputs["x0"].ndim - 2
    attrs = window(m, m.inputs["x0"].shape[2:], True)
    strides = attrs["strides"] or [1] * axes
    filters = m.size(1, 40 if groups == 1 else 3)
    if m.chance(0.4):
        attrs["output_padding"] = [m.size(0, s - 1) for s in strides]
    y = m.add("ConvTranspose", [x, m.side(m.floats([channels, filters] + attrs["kernel_shape"],
                                                   (channels / groups) ** -0.5)),
                                m.side(m.floats([filters * groups]))], group=groups, **attrs)
    return [m.activation(y)]


@family
def pool(m):
    x = image(m, m.size(1, 20))
    op = m.pick("MaxPool", "AveragePool", "LpPool")
    attrs = window(m, m.inputs["x0"].shape[2:])
    attrs["ceil_mode"] = int(m.chance(0.3) and "auto_pad" not in attrs)
    if op == "AveragePool":
        attrs["count_include_pad"] = int(m.chance())
    if op == "LpPool":
        attrs.update(p=m.pick(1, 2, 3), ceil_mode=0)
    if m.chance(0.4):
        c = m.inputs["x0"].shape[1]
        x = m.add("Conv", [x, m.constant(m.floats([c, c] + [1] * len(attrs["kernel_shape"])))])
    return [m.add(op, [x], **attrs)]


@family
def resize(m):
    x = image(m, m.size(1, 12), m.pick(1, 2, 2, 3))
    shape = m.inputs["x0"].shape
    if m.chance(0.4):
        x, channels = conv(m, x, shape[1])
        return [m.add("Resize", [x, "", m.constant(np.float32([1, 1] + [2] * (len(shape) - 2)))],
                      mode=m.pick("nearest", "linear"))]
    mode = m.pick("nearest", "linear", "cubic")
    attrs = {"mode": mode, "coordinate_transformation_mode":
             m.pick("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel")}
    sizes = list(shape[:2]) + [m.size(1, 40) for _ in shape[2:]]
    if mode == "nearest": # in the middle between two, single precision decides
        attrs["nearest_mode"] = m.pick("floor", "ceil", "round_prefer_floor", "round_prefer_ceil")
        attrs["coordinate_transformation_mode"] = m.pick("half_pixel", "asymmetric")
        sizes = list(shape[:2]) + [d * m.pick(1, 2, 4) for d in shape[2:]]
    return [m.add("Resize", [x, "", "", m.constant(np.int64(sizes))], **attrs)]


@family
def normalisation(m):
    x = image(m, m.pick(2, 4, 6, 12, 16, 33))
    shape = m.inputs["x0"].shape
    c = shape[1]
    op = m.pick("instance", "layer", "batch", "softmax", "logsoftmax", "lrn", "mvn")
    if op == "instance":
        y = m.add("InstanceNormalization", [x, m.constant(m.floats([c])),
                                            m.constant(m.floats([c]))])
    elif op == "layer":
        axis = m.size(1, len(shape) - 1)
        y = m.add("LayerNormalization", [x, m.side(m.floats(shape[axis:])),
                                         m.side(m.floats(shape[axis:]))], axis=axis)
    elif op == "batch":
        y = m.add("BatchNormalization", [x] + [m.side(np.abs(m.floats([c])) + 0.1)
                                               for _ in range(4)])
    elif op == "lrn":
        y = m.add("LRN", [x], size=m.pick(1, 3, 5))
    elif op == "mvn" and shape[-1] > 1:
        y = m.add("MeanVarianceNormalization", [x], axes=sorted({m.size(0, len(shape) - 1),
                                                                 len(shape) - 1}))
    else:
        y = m.add("Softmax" if op == "softmax" else "LogSoftmax", [x],
                  axis=m.size(-len(shape), len(shape) - 1))
    m.tolerance = 2e-3 if op in ("instance", "mvn", "layer") else 1e-4 # few elements are alike
    return [m.activation(y)]


@family
def grid_sample(m):
    x = image(m, m.size(1, 6), 2)
    n = m.inputs["x0"].shape[0]
    grid = m.input(np.clip(m.floats([n, m.size(1, 9), m.size(1, 9), 2], 0.7), -1.2, 1.2))
    return [m.add("GridSample", [x, grid], mode=m.pick("linear", "nearest", "cubic"),
                  padding_mode=m.pick("zeros", "border", "reflection"),
                  align_corners=int(m.chance()))]


# ---- products


@family
def product(m):
    rows, depth, columns = m.size(1, 70), m.size(1, 90), m.size(1, 140)
    if m.chance(0.3):
        t = [m.chance(), m.chance()]
        a = m.input(m.floats([depth, rows] if t[0] else [rows, depth]))
        b = m.side(m.floats([columns, depth] if t[1] else [depth, columns], depth ** -0.5))
        inputs = [a, b]
        if m.chance(0.7):
            inputs.append(m.side(m.floats(m.pick([columns], [1], [rows, columns], [rows, 1]))))
        y = m.add("Gemm", inputs, transA=int(t[0]), transB=int(t[1]),
                  alpha=m.pick(1.0, 1.0, 0.5), beta=m.pick(1.0, 1.0, 2.0))
        return [m.activation(y)]
    batch = [m.size(1, 3) for _ in range(m.size(0, 2))]
    a = m.input(m.floats(batch + [rows, depth]))
    b = m.floats((m.pick([], batch, [1] * len(batch))) + [depth, columns], depth ** -0.5)
    y = m.add("MatMul", [a, m.side(b)])
    if m.chance(0.6):
        y = m.add("Add", [y, m.side(m.floats(m.pick([columns], [rows, 1], [1])))])
    y = m.activation(y)
    if m.chance(0.4):
        y = m.add("Add", [y, m.input(m.floats(batch + [rows, columns]))])
    if m.chance(0.3):
        y = m.add("LayerNormalization", [y, m.constant(m.floats([columns])),
                                         m.constant(m.floats([columns]))], epsilon=1e-2)
        m.tolerance = 1e-3
    return [y]


@family
def large_product(m):
    """As transformers have them: large enough for what pays there only."""
    rows, depth, columns = m.size(90, 200), 2 * m.size(60, 200), m.size(64, 400)
    y = m.input(m.floats([m.size(1, 2), rows, depth]))
    for last in (False, True):
        width = depth if last else columns
        y = m.add("MatMul", [y, m.constant(m.floats([columns if last else depth, width], 0.06))])
        y = m.add("Add", [m.constant(m.floats([width])), y])
        if not last:
            y = m.activation(y)
    if m.chance():
        y = m.add("Add", [y, "x0"])
        y = m.add("LayerNormalization", [y, m.constant(m.floats([depth])),
                                         m.constant(m.floats([depth]))])
    return [y]


@family
def inverted_residual(m):
    """Of MobileNets and EfficientNets."""
    c, wide, size = m.pick(8, 16, 24, 40), m.pick(16, 24, 48, 72, 120), m.size(5, 30)
    x = m.input(m.floats([m.size(1, 2), c, size, m.size(5, 30)]))
    stride, k = m.pick(1, 1, 2), m.pick(3, 5)
    act = m.pick("Relu", "HardSwish", "silu")

    def conv(y, filters, channels, kernel, group=1, strides=1):
        weights = m.floats([filters, channels // group, kernel, kernel],
                           (channels // group * kernel * kernel) ** -0.5)
        return m.add("Conv", [y, m.constant(weights), m.constant(m.floats([filters], 0.3))],
                     group=group, pads=[kernel // 2] * 4, strides=[strides, strides])

    def activated(y):
        return m.add("Mul", [y, m.add("Sigmoid", [y])]) if act == "silu" else m.add(act, [y])

    y = activated(conv(x, wide, c, 1))
    y = activated(conv(y, wide, wide, k, wide, stride))
    if m.chance():
        s = m.add("Relu", [conv(m.add("GlobalAveragePool", [y]), 8, wide, 1)])
        y = m.add("Mul", [y, m.add(m.pick("Sigmoid", "HardSigmoid"), [conv(s, wide, 8, 1)])])
    y = conv(y, c, wide, 1)
    return [m.add("Add", [y, x]) if stride == 1 and m.chance(0.7) else y]


@family
def einsum(m):
    d = {k: m.size(1, 9) for k in "abcijk"}
    text = m.pick("bij,bjk->bik", "ij,jk->ik", "bij,bkj->bik", "abij,abjk->abik", "ij,ij->i",
                  "ij,ij->", "i,j->ij", "bij,jk->bik", "abc,abi->ci", "ij->ji", "ii->i", "bij->b")
    left = text.split("->")[0].split(",")
    return [m.add("Einsum", [m.input(m.floats([d[c] for c in part])) for part in left],
                  equation=text)]


@family
def attention(m):
    batch, heads, size = m.size(1, 2), m.pick(1, 2, 4), m.pick(4, 8, 16, 32)
    rows, keys = m.size(1, 40), m.size(1, 60)
    q = m.input(m.floats([batch, heads, rows, size]))
    k = m.input(m.floats([batch, heads, keys, size]))
    v = m.input(m.floats([batch, heads, keys, size]))
    s = m.add("MatMul", [q, m.add("Transpose", [k], perm=[0, 1, 3, 2])])
    s = m.add(m.pick("Mul", "Div"), [s, m.constant(np.float32(size ** 0.5))])
    if m.chance():
        mask = np.where(m.rng.random([batch, 1, m.pick(1, rows), keys]) < 0.3, -1e4, 0)
        s = m.add("Add", [s, m.input(mask.astype(np.float32))])
    y = m.add("MatMul", [m.add("Softmax", [s], axis=-1), v])
    y = m.add("Transpose", [y], perm=[0, 2, 1, 3])
    return [m.add("Reshape", [y, m.constant(np.int64([batch, rows, heads * size]))])]


@family
def recurrent(m):
    op, gates = m.pick(("LSTM", 4), ("GRU", 3), ("RNN", 1))
    time, batch, width, hidden = m.size(1, 9), m.size(1, 3), m.size(1, 24), m.size(1, 40)
    direction = m.pick("forward", "reverse", "bidirectional")
    d = 2 if direction == "bidirectional" else 1
    inputs = [m.input(m.floats([time, batch, width])),
              m.side(m.floats([d, gates * hidden, width], width ** -0.5)),
              m.side(m.floats([d, gates * hidden, hidden], hidden ** -0.5)),
              m.side(m.floats([d, 2 * gates * hidden], 0.3)) if m.chance(0.7) else "",
              m.input(m.rng.integers(1, time + 1, batch).astype(np.int32))
              if m.chance(0.3) else "",
              m.input(m.floats([d, batch, hidden])) if m.chance() else ""]
    if op == "LSTM" and m.chance():
        inputs.append(m.input(m.floats([d, batch, hidden])))
        if m.chance(0.4):
            inputs.append(m.side(m.floats([d, 3 * hidden], 0.3)))
    attrs = {"hidden_size": hidden, "direction": direction}
    if op == "GRU":
        attrs["linear_before_reset"] = int(m.chance())
    return list(m.add(op, inputs, 3 if op == "LSTM" else 2, **attrs))


# ---- bytes


def byte_quantised(m, value, kind=np.uint8):
    most = 100 if kind == np.uint8 else min(100, MOST_SIGNED - 5)
    scale = np.float32(max(np.abs(value).max(), 1e-3) / most)
    zero = m.pick(0, 3, 128, 117) if kind == np.uint8 else m.pick(0, -5)
    info = np.iinfo(kind)
    data = np.clip(np.round(value / scale) + zero, info.min, info.max).astype(kind)
    return data, m.constant(scale), m.constant(kind(zero))


@family
def bytes_convolution(m):
    channels, axes = m.size(1, 36), m.pick(1, 2, 2, 2)
    groups = m.pick(1, 1, 1, channels)
    filters = groups * (m.size(1, 70) if groups == 1 else 1)
    shape = [m.size(1, 2), channels] + [m.size(2, 18) for _ in range(axes)]
    x, xs, xz = byte_quantised(m, m.floats(shape))
    attrs = window(m, shape[2:])
    w = m.floats([filters, channels // groups] + attrs["kernel_shape"])
    ws = (np.abs(w).max(axis=tuple(range(1, axes + 2))) / MOST_SIGNED + 1e-6).astype(np.float32)
    wq = np.round(w / ws.reshape([-1] + [1] * (axes + 1))).astype(np.int8)
    depth = channels // groups * int(np.prod(attrs["kernel_shape"]))
    y = m.add("QLinearConv", [m.input(x), xs, xz, m.constant(wq), m.constant(ws),
                              m.constant(np.zeros(filters, np.int8)),
                              m.constant(np.float32(depth ** 0.5 / 40)),
                              m.constant(np.uint8(m.pick(0, 128))),
                              m.constant(m.rng.integers(-900, 900, filters).astype(np.int32))],
              group=groups, **attrs)
    m.tolerance = 1.01
    return [y]


@family
def bytes_product(m):
    rows, depth, columns = m.size(1, 40), m.size(1, 90), m.size(1, 90)
    a, b = m.floats([rows, depth]), m.floats([depth, columns])
    if m.chance():
        aq, _, az = byte_quantised(m, a)
        bq, _, bz = byte_quantised(m, b, m.pick(np.int8, np.uint8))
        return [m.add("MatMulInteger", [m.input(aq), m.side(bq), az, bz])]
    x = m.input(a)
    q, scale, zero = m.add("DynamicQuantizeLinear", [x], 3)
    bq, bs, bz = byte_quantised(m, b, np.int8)
    y = m.add("Cast", [m.add("MatMulInteger", [q, m.constant(bq), zero, bz])], to=1)
    return [m.add("Mul", [y, m.add("Mul", [scale, bs])])]


# ---- elements


@family
def elements(m):
    rank = m.size(0, 4)
    shape = [m.pick(1, 2, 3, 5, 17, 40) for _ in range(rank)]

    def operand():
        own = [d if m.chance(0.7) else 1 for d in shape][m.size(0, rank) if m.chance(0.3) else 0:]
        return m.side(m.floats(own))

    last = m.input(m.floats(shape))
    values = [last]
    for _ in range(m.size(1, 6)):
        op = m.pick("Add", "Sub", "Mul", "Max", "Min", "Abs", "Neg", "Exp", "Sqrt", "Erf", "Floor",
                    "Round", "Sign", "Sin", "Cos", "Atan", "Where", "Sigmoid", "Tanh", "Softsign",
                    "Selu", "Pow", "Clip", "PRelu", "Acos", "ThresholdedRelu", "IsNaN")
        if op in ("Add", "Sub", "Mul", "Max", "Min"):
            last = m.add(op, [last, m.pick(*values) if m.chance(0.3) else operand()])
        elif op == "Where":
            last = m.add("Where", [m.add(m.pick("Less", "Greater", "GreaterOrEqual"),
                                         [last, operand()]), last, operand()])
        elif op == "Sqrt":
            last = m.add("Sqrt", [m.add("Abs", [last])])
        elif op == "Exp":
            last = m.add("Exp", [m.add("Tanh", [last])])
        elif op == "Acos":
            last = m.add("Mul", [m.add("Tanh", [last]), m.constant(np.float32(0.99))])
            last = m.add(m.pick("Acos", "Asin"), [last])
        elif op == "Pow":
            last = m.add("Pow", [m.add("Add", [m.add("Abs", [last]), m.constant(np.float32(0.5))]),
                                 m.constant(np.float32(m.pick(2, 3, 0.5, -1, 1.5, 0)))])
            last = m.add("Clip", [last, "", m.constant(np.float32(50))])
        elif op == "PRelu":
            last = m.add("PRelu", [last, m.constant(m.floats(shape[-1:]))])
        elif op == "Clip":
            last = m.activation(last, 1)
        elif op == "IsNaN":
            last = m.add("Where", [m.add("IsNaN", [last]), m.constant(np.float32(1)), last])
        elif op in ("Floor", "Round", "Sign"): # which make much of the last bit
            last = m.add("Add", [last, m.add(op, [values[0]])])
        else:
            last = m.add(op, [last])
        values.append(last)
    return [last]


@family
def integers(m):
    kind = m.pick(np.int32, np.int64)
    shape = [m.size(1, 40), m.size(1, 9)]
    a = m.input(m.rng.integers(-50, 50, shape).astype(kind))
    b = m.side(m.rng.integers(1, 9, m.pick(shape, shape[1:], [1])).astype(kind))
    op = m.pick("Add", "Sub", "Mul", "Div", "Mod", "Max", "Min", "Equal", "Less", "Cast", "Pow")
    if op == "Cast":
        return [m.add("Cast", [m.add("Add", [a, b])], to=m.pick(1, 6, 7, 9, 11))]
    if op == "Pow":
        return [m.add("Pow", [a, m.constant(kind(m.pick(2, 3)))])]
    return [m.add(op, [a, b])]


@family
def reduction(m):
    rank = m.size(1, 4)
    shape = [m.pick(1, 2, 3, 8, 19, 64) for _ in range(rank)]
    x = m.input(m.floats(shape))
    axes = sorted(int(a) for a in m.rng.choice(rank, m.size(1, rank), replace=False))
    if m.chance(0.4):
        axes = [a - rank for a in axes]
    op = m.pick("Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "SumSquare", "LogSumExp")
    return [m.add("Reduce" + op, [x, m.constant(np.int64(axes))], keepdims=int(m.chance()))]


@family
def choice(m):
    rank = m.size(1, 3)
    shape = [m.pick(1, 3, 8, 40, 300) for _ in range(rank)]
    axis = m.size(-rank, rank - 1)
    x = m.input(m.floats(shape))
    op = m.pick("TopK", "ArgMax", "ArgMin", "Hardmax", "CumSum")
    if op == "TopK":
        k = m.size(1, min(shape[axis], 12))
        return list(m.add("TopK", [x, m.constant(np.int64([k]))], 2, axis=axis,
                          largest=int(m.chance())))
    if op == "CumSum":
        return [m.add("CumSum", [x, m.constant(np.int64(axis))], exclusive=int(m.chance()),
                      reverse=int(m.chance()))]
    if op == "Hardmax":
        return [m.add(op, [x], axis=axis)]
    return [m.add(op, [x], axis=axis, keepdims=int(m.chance()))]


# ---- moves


@family
def moves(m):
    shape = [m.size(1, 3), 4 * m.size(1, 6), 2 * m.size(1, 8), 2 * m.size(1, 8)]
    x = m.input(m.floats(shape))
    if m.chance(0.3):
        x = m.add("Conv", [x, m.constant(m.floats([shape[1], shape[1], 1, 1]))])
    for _ in range(m.size(1, 4)):
        op = m.pick("Transpose", "Slice", "Pad", "Concat", "Split", "DepthToSpace", "SpaceToDepth",
                    "Tile", "Gather", "Relu", "Reshape", "Expand")
        axis = m.size(0, 3)
        if op == "Transpose":
            perm = [int(p) for p in m.rng.permutation(4)]
            x, shape = m.add(op, [x], perm=perm), [shape[p] for p in perm]
        elif op == "Slice":
            step = m.pick(1, 1, 2, -1)
            first, end = (0, shape[axis]) if step > 0 else (shape[axis] - 1, -shape[axis] - 1)
            if step > 0 and shape[axis] > 1:
                first = m.size(0, shape[axis] - 1)
            x = m.add(op, [x] + [m.constant(np.int64([v])) for v in (first, end, axis, step)])
            shape = shape[:axis] + [len(range(shape[axis])[first:end:step] if step > 0
                                        else range(shape[axis]))] + shape[axis + 1:]
        elif op == "Pad":
            mode = m.pick("constant", "edge", "reflect")
            pads = [m.size(0, min(2, d - 1)) for d in shape * 2]
            x = m.add(op, [x, m.constant(np.int64(pads))], mode=mode)
            shape = [d + pads[i] + pads[i + 4] for i, d in enumerate(shape)]
        elif op == "Concat":
            x = m.add(op, [x, m.activation(x)], axis=axis)
            shape = shape[:axis] + [2 * shape[axis]] + shape[axis + 1:]
        elif op == "Split" and shape[axis] > 1:
            first = m.size(1, shape[axis] - 1)
            parts = m.add(op, [x, m.constant(np.int64([first, shape[axis] - first]))], 2, axis=axis)
            x = m.add("Concat", parts[::-1], axis=axis)
        elif op == "DepthToSpace" and shape[1] % 4 == 0:
            x = m.add(op, [x], blocksize=2, mode=m.pick("DCR", "CRD"))
            shape = [shape[0], shape[1] // 4, shape[2] * 2, shape[3] * 2]
        elif op == "SpaceToDepth" and shape[2] % 2 == 0 and shape[3] % 2 == 0:
            x = m.add(op, [x], blocksize=2)
            shape = [shape[0], shape[1] * 4, shape[2] // 2, shape[3] // 2]
        elif op == "Tile":
            repeats = [m.pick(1, 1, 2) for _ in shape]
            x = m.add(op, [x, m.constant(np.int64(repeats))])
            shape = [d * r for d, r in zip(shape, repeats)]
        elif op == "Gather":
            index = m.rng.integers(-shape[axis], shape[axis], m.size(1, 5))
            x = m.add(op, [x, m.side(index.astype(np.int64))], axis=axis)
            shape = shape[:axis] + [len(index)] + shape[axis + 1:]
        elif op == "Relu":
            x = m.activation(x, 1)
        elif op == "Reshape":
            shape = [shape[0] * shape[1], 1, shape[2], shape[3]]
            x = m.add(op, [x, m.constant(np.int64(shape))])
        elif op == "Expand" and 1 in shape:
            shape = [3 if d == 1 else d for d in shape]
            x = m.add(op, [x, m.constant(np.int64(shape))])
        if np.prod(shape) > 100000:
            break
    return [m.activation(x)]


@family
def scatter(m):
    shape = [m.size(2, 12), m.size(2, 12), m.size(1, 6)]
    x = m.input(m.floats(shape))
    op = m.pick("GatherND", "ScatterND", "GatherElements", "ScatterElements", "OneHot", "NonZero",
                "Compress", "Trilu")
    axis = m.size(0, 2)
    if op in ("GatherND", "ScatterND"):
        depth = m.size(1, 3)
        places = np.stack([m.rng.integers(0, shape[i], 5) for i in range(depth)], -1)
        places = np.unique(places, axis=0).astype(np.int64)
        if op == "GatherND":
            return [m.add(op, [x, m.side(places)])]
        return [m.add(op, [x, m.side(places), m.input(m.floats([len(places)] + shape[depth:]))])]
    if op == "GatherElements":
        return [m.add(op, [x, m.input(m.rng.integers(0, shape[axis], shape))], axis=axis)]
    if op == "ScatterElements":
        index = m.rng.permuted(np.broadcast_to(np.arange(shape[axis]).reshape(
            [-1 if i == axis else 1 for i in range(3)]), shape), axis=axis).astype(np.int64)
        return [m.add(op, [x, m.input(index), m.input(m.floats(shape))], axis=axis)]
    if op == "OneHot":
        return [m.add(op, [m.input(m.rng.integers(-5, 5, [4, 3])), m.constant(np.int64(5)),
                           m.constant(np.float32([-1, 2]))], axis=m.pick(-1, 0, 1))]
    if op == "NonZero":
        return [m.add(op, [m.input(m.rng.integers(0, 2, shape).astype(np.float32))])]
    if op == "Compress":
        return [m.add(op, [x, m.input(m.rng.integers(0, 2, shape[axis]).astype(bool))], axis=axis)]
    return [m.add(op, [x, m.constant(np.int64(m.size(-3, 3)))], upper=int(m.chance()))]


# ---- both sides


def peer_here(path, inputs):
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return session.run(None, inputs)


def peer(path, inputs):
    """In a process of its own: there are models that end it. None: it does not take this one."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            with os.fdopen(write, "wb") as out:
                pickle.dump(peer_here(path, inputs), out)
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as answer:
        data = answer.read()
    os.waitpid(child, 0)
    return pickle.loads(data) if data else None


def ours(poprt, path, inputs, folder, level, threads):
    command = [poprt, "run", path, "--output-dir", folder, "--threads", str(threads)]
    if level != "native":
        command += ["--cpu", level]
    for name, value in inputs.items():
        file = os.path.join(folder, f"in_{name}.npy")
        np.save(file, value)
        command += ["--input", f"{name}={file}"]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def run_one(poprt, name, seed, folder):
    """None where the peer refuses, "" where all is alike, else what is not."""
    model = Model(np.random.default_rng(seed))
    outputs = list(dict.fromkeys(FAMILIES[name](model)))
    path = os.path.join(folder, "model.onnx")
    model.save(outputs, path)
    level, threads = model.pick(*LEVELS), model.pick(1, 2)
    expected = peer(path, model.inputs)
    if expected is None:
        return None
    answer = ours(poprt, path, model.inputs, folder, level, threads)
    if answer.returncode != 0:
        return f"{level}, {threads}: {answer.stderr.strip() or answer.returncode}"
    for output, value in zip(outputs, expected):
        words = difference(np.load(os.path.join(folder, output + ".npy")), value, model.tolerance)
        if words:
            return f"{level}, {threads} threads: {output}: {words}"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[1])
    parser.add_argument("poprt")
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--family", choices=sorted(FAMILIES))
    parser.add_argument("--keep", default="random_models_failed")
    args = parser.parse_args()
    names = [args.family] if args.family else sorted(FAMILIES)
    passed = failed = refused = 0
    for i in range(args.runs):
        name, seed = names[i % len(names)], args.seed * 1000000 + i
        with tempfile.TemporaryDirectory() as folder:
            words = run_one(args.poprt, name, seed, folder)
            if words:
                failed += 1
                kept = os.path.join(args.keep, f"{name}_{seed}")
                os.makedirs(kept, exist_ok=True)
                for file in os.listdir(folder):
                    os.replace(os.path.join(folder, file), os.path.join(kept, file))
                print(f"{kept}: {words}", flush=True)
            elif words is None:
                refused += 1
            else:
                passed += 1
        if sys.stderr.isatty():
            print(f"\r{i + 1} of {args.runs}", end="", file=sys.stderr)
    if refused:
        print(f"{refused} that ONNX Runtime does not take")
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
