# SPDX-License-Identifier: MIT
"""Speech, recommendation and plain dense networks: many steps or few bytes, little arithmetic."""
import numpy as np

from build import I64, Graph


def dense(inputs, *units):
    g = Graph()
    x = g.input("input", (1, inputs))
    for n in units[:-1]:
        x = g.gemm(x, n, "relu")
    g.output(g.softmax(g.gemm(x, units[-1])), "output")
    return g


def tiny_mlp():
    return dense(32, 32, 32, 8)


def mlp():
    return dense(256, 512, 512, 128, 10)


def zero_state(g, x, count):
    """An initial state of zeros, its batch taken from the input, as an LSTM without one has it."""
    shape = g.node("Shape", [x], (3,), I64)
    batch = g.unsqueeze(g.gather(shape, g.ints(1)), 0)
    shape = g.concat([g.ints([count[0]]), batch, g.ints([count[1]])], 0)
    full = (count[0], x.shape[1], count[1])
    return g.node("Expand", [g.const(np.zeros((count[0], 1, count[1]))), shape], full)


def bilstm_am():
    """An acoustic model: three layers both ways over 100 frames, and a class for each frame."""
    g = Graph()
    x = g.input("features", (100, 1, 80))
    hidden = 256
    for _ in range(3):
        state = [zero_state(g, x, (2, hidden)) for _ in range(2)]
        y = g.lstm(x, hidden, state, 2)[0]
        x = g.reshape(g.transpose(y, (0, 2, 1, 3)), (0, 0, -1))
    g.output(g.one("LogSoftmax", g.linear(x, 64), axis=-1), "log_probs")
    return g


def vad_lstm():
    """A voice detector: a spectrum by convolution, four small layers, one step of an LSTM."""
    g = Graph()
    x = g.input("input", (1, 576))
    state = [g.input(name, (1, 1, 128)) for name in ("h", "c")]
    x = g.unsqueeze(x, 1)
    x = g.node("Pad", [x, g.ints([0, 0, 0, 0, 0, 64])], (1, 1, 640), mode="reflect")
    x = g.conv(x, 258, 256, 128, 0, bias=False)
    square = lambda v: g.two("Pow", v, 2)
    x = g.one("Sqrt", g.add(square(g.slice(x, 1, 0, 129)), square(g.slice(x, 1, 129, 258))))
    for channels, stride in ((128, 1), (64, 2), (64, 2), (128, 1)):
        x = g.conv(x, channels, 3, stride, act="relu")
    y, h, c = g.lstm(g.transpose(x, (2, 0, 1)), 128, state)
    y = g.node("Squeeze", [y, g.ints([1])], (1, 1, 128))
    y = g.conv(g.act(g.transpose(y, (1, 2, 0)), "relu"), 1, 1)
    y = g.node("ReduceMean", [g.act(y, "sigmoid")], (1, 1), axes=[2], keepdims=0)
    for value, name in ((y, "prob"), (h, "hn"), (c, "cn")):
        g.output(value, name)
    return g


def dlrm(batch, tables=26, rows=20000, d=32):
    """Recommendation: looked-up vectors, the products of all pairs, two dense networks."""
    g = Graph()
    x = g.input("dense", (batch, 13))
    sparse = g.input("sparse", (batch, tables), I64, rows)
    for units in (512, 256, 64, d):
        x = g.gemm(x, units, "relu")
    vectors = [g.unsqueeze(x, 1)]
    for i in range(tables):
        index = g.gather(sparse, g.ints(i), 1)
        vectors.append(g.unsqueeze(g.gather(g.normal((rows, d), 0.5), index), 1))
    t = g.concat(vectors, 1)
    products = g.flatten(g.matmul(t, g.transpose(t, (0, 2, 1))))
    row, column = np.tril_indices(tables + 1, -1)
    pairs = g.gather(products, g.ints(row * (tables + 1) + column), 1)
    y = g.concat([x, pairs], 1)
    for units in (512, 256):
        y = g.gemm(y, units, "relu")
    g.output(g.gemm(y, 1, "sigmoid", 0.3), "ctr")
    return g


def dlrm_b1():
    return dlrm(1)


def dlrm_b128():
    return dlrm(128)


MODELS = (tiny_mlp, mlp, vad_lstm, bilstm_am, dlrm_b1, dlrm_b128)
