#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the models of small convolutional networks that fuzz_onnx mutates: images.onnx (depthwise
and grouped convolutions, residuals, squeeze and excite, shuffles, transposed convolution, pools,
Resize), tiles.onnx (3x3 kernels that Winograd's tiles are for), separable.onnx (an inverted
residual block that is large enough to go strip by strip), columns.onnx (what is taken apart and
put beside each other) and bytes.onnx (quantised: convolutions, SiLU, a gate, sums, what is put
beside each other). Weights repeat few numbers."""
import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Net:
    def __init__(self):
        self.nodes, self.weights, self.count = [], [], 0

    def constant(self, value):
        self.count += 1
        name = f"c{self.count}"
        self.weights.append(numpy_helper.from_array(value, name))
        return name

    def floats(self, *shape):
        n = int(np.prod(shape))
        values = (np.arange(n) * 7 % 5 - 2) / 8
        return self.constant(values.astype(np.float32).reshape(shape))

    def ints(self, *values):
        return self.constant(np.array(values, dtype=np.int64))

    def add(self, op, *inputs, outputs=1, **attrs):
        self.count += 1
        names = [f"v{self.count}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, list(inputs), names, **attrs))
        return names[0] if outputs == 1 else names

    def conv(self, x, filters, channels, kernel, bias=True, **attrs):
        inputs = [x, self.floats(filters, channels, kernel, kernel)]
        if bias:
            inputs.append(self.floats(filters))
        if kernel > 1:
            attrs.setdefault("pads", [kernel // 2] * 4)
        return self.add("Conv", *inputs, **attrs)

    def scale(self, size):
        return self.constant(np.array(size, dtype=np.float32))

    def bytes(self, x, size, zero=128):
        """QuantizeLinear and back."""
        scale, zero = self.scale(size), self.constant(np.array(zero, dtype=np.uint8))
        return self.add("DequantizeLinear", self.add("QuantizeLinear", x, scale, zero), scale, zero)

    def byte_conv(self, x, filters, channels, kernel, size=0.05, **attrs):
        n = filters * channels * kernel * kernel
        weights = self.constant((np.arange(n) * 7 % 11 - 5).astype(np.int8)
                                .reshape(filters, channels, kernel, kernel))
        w = self.add("DequantizeLinear", weights, self.scale(0.1),
                     self.constant(np.array(0, dtype=np.int8)))
        pads = [kernel // 2] * 4
        return self.bytes(self.add("Conv", x, w, pads=pads, **attrs), size)

    def write(self, name, shape, y, rank=4):
        graph = helper.make_graph(
            self.nodes, "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
            [helper.make_tensor_value_info(y, TensorProto.FLOAT, [None] * rank)], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)],
                                  producer_name="libpoprt")
        model.ir_version = 8
        onnx.checker.check_model(model)
        onnx.save(model, os.path.join(os.path.dirname(os.path.abspath(__file__)), name))


def images():
    net = Net()
    x = net.add("Relu", net.conv("x", 8, 3, 3, strides=[2, 2]))
    y = net.conv(x, 8, 1, 3, group=8)
    low, high = net.constant(np.float32(0)), net.constant(np.float32(6))
    y = net.conv(net.add("Clip", y, low, high), 8, 8, 1, bias=False)
    x = net.add("Add", x, y)
    squeezed = net.conv(net.add("GlobalAveragePool", x), 4, 8, 1)
    gate = net.add("Sigmoid", net.conv(net.add("Relu", squeezed), 8, 4, 1))
    x = net.conv(net.add("Mul", x, gate), 8, 8, 1)
    a, b = net.add("Split", x, outputs=2, axis=1, num_outputs=2)
    b = net.conv(net.conv(b, 4, 4, 1), 4, 1, 3, group=4, bias=False)
    x = net.add("Concat", a, b, axis=1)
    x = net.add("Reshape", x, net.ints(0, 2, 4, 6, 6))
    x = net.add("Transpose", x, perm=[0, 2, 1, 3, 4])
    x = net.add("Reshape", x, net.ints(0, 8, 6, 6))
    scale, mean = net.floats(8), net.floats(8)
    var = net.constant(np.full(8, 2, dtype=np.float32))
    x = net.add("BatchNormalization", x, scale, mean, mean, var)
    x = net.conv(net.add("HardSwish", x), 16, 4, 3, group=2)
    x = net.add("ConvTranspose", x, net.floats(16, 5, 2, 2), net.floats(5), strides=[2, 2])
    x = net.add("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    x = net.add("AveragePool", x, kernel_shape=[2, 2], ceil_mode=1)
    scales = net.constant(np.array([1, 1, 2, 1.5], dtype=np.float32))
    x = net.add("Resize", x, "", scales, mode="linear")
    x = net.add("Pad", x, net.ints(0, 0, 1, 0, 0, 0, 0, 2))
    x = net.add("Slice", x, net.ints(0, 1), net.ints(9, 5), net.ints(2, 1))
    x = net.conv(x, 9, 4, 3, dilations=[2, 1])
    x = net.add("ReduceMean", x, net.ints(2, 3), keepdims=0)
    net.write("images.onnx", ["n", 3, 12, 12], x, 2)


def tiles():
    net = Net()
    x = net.add("Relu", net.conv("x", 32, 1, 3))
    x = net.add("Add", x, net.conv(x, 32, 32, 3, bias=False))
    net.write("tiles.onnx", [1, 1, 10, "w"], net.conv(x, 3, 32, 1))


def separable():
    net = Net()
    x = net.add("Relu", net.conv("x", 72, 1, 1))
    x = net.add("Relu", net.conv(x, 72, 1, 3, group=72, strides=[2, 2]))
    x = net.conv(x, 4, 72, 1)
    y = net.add("Relu", net.conv(x, 300, 4, 1))
    y = net.add("HardSwish", net.conv(y, 300, 1, 3, group=300))
    mean = net.add("GlobalAveragePool", y)
    y = net.add("Mul", y, net.add("Sigmoid", mean))
    net.write("separable.onnx", [1, 1, 48, 48], net.add("Add", x, net.conv(y, 4, 300, 1)))


def columns():
    net = Net()
    x = net.add("Relu", net.conv("x", 8, 3, 3))
    a, b = net.add("Split", x, outputs=2, axis=1, num_outputs=2)
    c = net.add("Relu", net.conv(b, 4, 4, 3))
    d = net.add("Relu", net.conv(net.add("Concat", a, b, c, axis=1), 4, 12, 1))
    x = net.add("Concat", a, b, c, d, axis=1)
    y = net.add("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    y = net.add("ConvTranspose", y, net.floats(16, 16, 2, 2), strides=[2, 2])
    z = net.add("AveragePool", x, kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    x = net.add("Concat", x, y, z, axis=1)
    net.write("columns.onnx", [1, 3, 6, 6], net.conv(x, 3, 48, 1))


def quantised():
    net = Net()
    x = net.byte_conv(net.bytes("x", 0.02), 8, 3, 3)
    x = net.bytes(net.add("Mul", x, net.bytes(net.add("Sigmoid", x), 0.004, 0)), 0.03, 10)
    y = net.byte_conv(x, 8, 1, 3, group=8)
    mean = net.bytes(net.add("GlobalAveragePool", y), 0.01)
    gate = net.bytes(net.add("Sigmoid", net.byte_conv(mean, 8, 8, 1)), 0.004, 0)
    y = net.bytes(net.add("Mul", gate, y), 0.02)
    x = net.bytes(net.add("Add", net.byte_conv(y, 8, 8, 1), x), 0.04)
    y = net.add("MaxPool", x, kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    x = net.bytes(net.add("Concat", x, y, axis=1), 0.05)
    net.write("bytes.onnx", [1, 3, 6, 6], net.byte_conv(x, 66, 16, 1))


images()
tiles()
separable()
columns()
quantised()
