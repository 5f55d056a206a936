# SPDX-License-Identifier: MIT
"""Ten training workloads, each written once and built twice: as an ONNX model (Onnx) and with
functions of PyTorch (Torch). Both builders have the methods of Builder; a workload calls them, and
returns its loss. Tensors of PyTorch have the type that the builder was made with.

Attention, GELU of BERT and GPT-2, and the losses are written in basic operators, as exporters of
PyTorch write them.
"""
import math

import numpy as np
import onnx
import torch
import torch.nn.functional as F
from onnx import TensorProto, helper, numpy_helper

OPSET = 20
EPSILON = float(np.float32(1e-5))


# Initial biases of batch normalizations, repeated over channels, by the activation that follows.
# Their scale is 0.5: nearly all inputs of an activation are far from its kinks at 0 and 6, where
# rounding would decide about gradients.
BIASES = {"relu": [2.5, 2.5, 2.5, -2.5], "relu6": [3.0, 3.0, -3.0, 9.0], "none": [2.5]}


def initial(rng, shape, scale):
    """Uniform numbers of [-scale, scale] as float32, or numbers of a list, repeated."""
    if isinstance(scale, list):
        return np.resize(np.float32(scale), shape)
    return rng.uniform(-scale, scale, shape).astype(np.float32)


class Builder:
    """Composite layers; the builders below add the operators."""

    def linear(self, x, name, n_in, n_out, bias=True):
        scale = 1 / math.sqrt(n_in)
        w = self.weight(name + ".weight", [n_out, n_in], scale)
        return self.product(x, w, self.weight(name + ".bias", [n_out], scale) if bias else None)

    def conv(self, x, name, n_in, n_out, k, stride=1, group=1, bias=False):
        scale = 1 / math.sqrt(n_in // group * k * k)
        w = self.weight(name + ".weight", [n_out, n_in // group, k, k], scale)
        b = self.weight(name + ".bias", [n_out], scale) if bias else None
        return self.convolution(x, w, b, stride, k // 2, group)

    def conv_bn(self, x, name, n_in, n_out, k, stride=1, group=1, act="relu"):
        x = self.conv(x, name, n_in, n_out, k, stride, group)
        w = self.weight(name + ".bn.weight", [n_out], [0.5])
        b = self.weight(name + ".bn.bias", [n_out], BIASES[act])
        x = self.batch_norm(x, name + ".bn", w, b, n_out)
        return {"relu": self.relu, "relu6": self.relu6, "none": lambda v: v}[act](x)

    def norm(self, x, name, n):
        return self.layer_norm(x, self.weight(name + ".weight", [n], [1.0]),
                               self.weight(name + ".bias", [n], [0.0]))

    def gelu_erf(self, x):
        half = self.mul(x, self.number(0.5))
        return self.mul(half, self.add(self.erf(self.mul(x, self.number(1 / math.sqrt(2)))),
                                       self.number(1.0)))

    def gelu_tanh(self, x):
        inner = self.add(x, self.mul(self.mul(self.mul(x, x), x), self.number(0.044715)))
        t = self.tanh(self.mul(inner, self.number(math.sqrt(2 / math.pi))))
        return self.mul(self.mul(x, self.number(0.5)), self.add(t, self.number(1.0)))

    def attention(self, x, name, shape, heads, mask=None, drop=0.0):
        """Self-attention over [batch, length, width]; `mask` is added to the scores."""
        batch, length, width = shape
        size = width // heads
        parts = []
        for part in ("query", "key", "value"):
            p = self.linear(x, f"{name}.{part}", width, width)
            parts.append(self.transpose(self.reshape(p, [batch, length, heads, size]),
                                        [0, 2, 1, 3]))
        q, k, v = parts
        scores = self.mul(self.matmul(q, self.transpose(k, [0, 1, 3, 2])),
                          self.number(1 / math.sqrt(size)))
        if mask is not None:
            scores = self.add(scores, mask)
        y = self.matmul(self.dropout(self.softmax(scores), drop), v)
        y = self.reshape(self.transpose(y, [0, 2, 1, 3]), [batch, length, width])
        return self.linear(y, f"{name}.output", width, width)

    def feed_forward(self, x, name, width, gelu, drop=0.0):
        x = gelu(self.linear(x, name + ".up", width, 4 * width))
        return self.dropout(self.linear(x, name + ".down", 4 * width, width), drop)


class Onnx(Builder):
    """Values are names."""

    def __init__(self, rng):
        self.rng, self.nodes, self.initializers, self.inputs = rng, [], [], []
        self.weights, self.statistics, self.numbers = {}, {}, {}

    def node(self, op, ins, outs=1, **attributes):
        names = [f"{op}_{len(self.nodes)}_{i}" for i in range(outs)]
        self.nodes.append(helper.make_node(op, ins, names, name=names[0], **attributes))
        return names[0] if outs == 1 else names

    def constant(self, array):
        key = (array.tobytes(), array.dtype.str, array.shape)
        if key not in self.numbers:
            self.numbers[key] = f"constant_{len(self.numbers)}"
            self.initializers.append(numpy_helper.from_array(array, self.numbers[key]))
        return self.numbers[key]

    def number(self, value):
        return self.constant(np.float32(value))

    def table(self, array):
        return self.constant(array)

    def input(self, name, array):
        self.inputs.append(helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape))
        return name

    def weight(self, name, shape, scale):
        """A trained initializer is an input of the model too."""
        if name not in self.weights:
            self.weights[name] = initial(self.rng, shape, scale)
            self.initializers.append(numpy_helper.from_array(self.weights[name], name))
            self.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
        return name

    def model(self, loss):
        out = [helper.make_tensor_value_info(loss, TensorProto.FLOAT, [])]
        graph = helper.make_graph(self.nodes, "workload", self.inputs, out, self.initializers)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)],
                                 ir_version=10)

    def product(self, x, w, b):
        y = self.node("MatMul", [x, self.node("Transpose", [w], perm=[1, 0])])
        return y if b is None else self.node("Add", [y, b])

    def dense(self, x, name, n_in, n_out):
        scale = 1 / math.sqrt(n_in)
        w = self.weight(name + ".weight", [n_out, n_in], scale)
        return self.node("Gemm", [x, w, self.weight(name + ".bias", [n_out], scale)], transB=1)

    def convolution(self, x, w, b, stride, pad, group):
        return self.node("Conv", [x, w] + ([b] if b else []), strides=[stride] * 2, pads=[pad] * 4,
                         group=group)

    def patches(self, x, w, b, size):
        return self.node("Conv", [x, w, b], strides=[size] * 2)

    def up(self, x, name, n_in, n_out):
        scale = 1 / math.sqrt(n_out * 4)
        w = self.weight(name + ".weight", [n_in, n_out, 2, 2], scale)
        return self.node("ConvTranspose", [x, w, self.weight(name + ".bias", [n_out], scale)],
                         strides=[2, 2], kernel_shape=[2, 2])

    def batch_norm(self, x, name, w, b, n):
        ins = [x, w, b]
        for statistic, value in ((".mean", 0.0), (".var", 1.0)):
            array = np.full([n], value, np.float32)
            self.statistics[name + statistic] = array
            self.initializers.append(numpy_helper.from_array(array, name + statistic))
            ins.append(name + statistic)
        return self.node("BatchNormalization", ins, epsilon=1e-5, momentum=0.9)

    def layer_norm(self, x, w, b):
        return self.node("LayerNormalization", [x, w, b], epsilon=1e-5)

    def lstm(self, x, name, n_in, n):
        """Over [length, batch, n_in]; ONNX orders the gates i, o, f, c."""
        scale = 1 / math.sqrt(n)
        w = self.weight(name + ".w", [1, 4 * n, n_in], scale)
        r = self.weight(name + ".r", [1, 4 * n, n], scale)
        b = self.weight(name + ".b", [1, 8 * n], scale)
        y = self.node("LSTM", [x, w, r, b], 3, hidden_size=n)[0]
        return self.node("Squeeze", [y, self.constant(np.array([1], np.int64))])

    def relu(self, x):
        return self.node("Relu", [x])

    def relu6(self, x):
        return self.node("Clip", [x, self.number(0), self.number(6)])

    def tanh(self, x):
        return self.node("Tanh", [x])

    def erf(self, x):
        return self.node("Erf", [x])

    def gelu(self, x):
        return self.node("Gelu", [x])

    def softmax(self, x):
        return self.node("Softmax", [x], axis=-1)

    def softplus(self, x):
        return self.node("Softplus", [x])

    def add(self, a, b):
        return self.node("Add", [a, b])

    def sub(self, a, b):
        return self.node("Sub", [a, b])

    def mul(self, a, b):
        return self.node("Mul", [a, b])

    def matmul(self, a, b):
        return self.node("MatMul", [a, b])

    def mean(self, x):
        return self.node("ReduceMean", [x], keepdims=0)

    def global_mean(self, x):
        return self.node("Flatten", [self.node("GlobalAveragePool", [x])])

    def max_pool(self, x, k, stride, pad=0):
        return self.node("MaxPool", [x], kernel_shape=[k, k], strides=[stride] * 2, pads=[pad] * 4)

    def reshape(self, x, shape):
        return self.node("Reshape", [x, self.constant(np.array(shape, np.int64))])

    def transpose(self, x, perm):
        return self.node("Transpose", [x], perm=perm)

    def concat(self, parts, axis):
        return self.node("Concat", parts, axis=axis)

    def expand(self, x, shape):
        return self.node("Expand", [x, self.constant(np.array(shape, np.int64))])

    def gather(self, x, index):
        return self.node("Gather", [x, index], axis=0)

    def columns(self, x, index):
        return self.node("Gather", [x, self.constant(index)], axis=1)

    def at(self, x, axis, index):
        return self.node("Gather", [x, self.constant(np.array(index, np.int64))], axis=axis)

    def to_float(self, x):
        return self.node("Cast", [x], to=TensorProto.FLOAT)

    def dropout(self, x, ratio):
        return self.node("Dropout", [x, self.number(ratio)]) if ratio else x

    def cross_entropy(self, x, labels):
        return self.node("SoftmaxCrossEntropyLoss", [x, labels], reduction="mean")


class Torch(Builder):
    """Values are tensors. A workload is called once for each step."""

    def __init__(self, weights, statistics, dtype):
        self.dtype = dtype
        self.weights = {n: torch.tensor(a, dtype=dtype, requires_grad=True)
                        for n, a in weights.items()}
        self.statistics = {n: torch.tensor(a, dtype=dtype) for n, a in statistics.items()}

    def number(self, value):
        return float(np.float32(value))

    def table(self, array):
        t = torch.from_numpy(array)
        return t.to(self.dtype) if t.is_floating_point() else t

    def input(self, name, array):
        return self.table(array)

    def weight(self, name, shape, scale):
        return self.weights[name]

    def product(self, x, w, b):
        return F.linear(x, w, b)

    def dense(self, x, name, n_in, n_out):
        return F.linear(x, self.weights[name + ".weight"], self.weights[name + ".bias"])

    def convolution(self, x, w, b, stride, pad, group):
        return F.conv2d(x, w, b, stride, pad, groups=group)

    def patches(self, x, w, b, size):
        return F.conv2d(x, w, b, size)

    def up(self, x, name, n_in, n_out):
        return F.conv_transpose2d(x, self.weights[name + ".weight"], self.weights[name + ".bias"],
                                  2)

    def batch_norm(self, x, name, w, b, n):
        """ONNX's running variance is that of the population, PyTorch's that of a sample."""
        with torch.no_grad():
            var, mean = torch.var_mean(x, (0, 2, 3), correction=0)
            for statistic, value in ((".mean", mean), (".var", var)):
                old, keep = self.statistics[name + statistic], float(np.float32(0.9))
                old.mul_(keep).add_(value, alpha=1 - keep)
        return F.batch_norm(x, None, None, w, b, True, eps=EPSILON)

    def layer_norm(self, x, w, b):
        return F.layer_norm(x, x.shape[-1:], w, b, EPSILON)

    def lstm(self, x, name, n_in, n):
        w, r, b = (self.weights[f"{name}.{part}"][0] for part in "wrb")

        def reorder(v):
            i, o, f, g = v.chunk(4)
            return torch.cat([i, f, g, o])
        zero = x.new_zeros(1, x.shape[1], n)
        parts = [reorder(v) for v in (w, r, b[:4 * n], b[4 * n:])]
        return torch.lstm(x, (zero, zero), parts, True, 1, 0.0, True, False, False)[0]

    def relu(self, x):
        return F.relu(x)

    def relu6(self, x):
        return F.relu6(x)

    def tanh(self, x):
        return torch.tanh(x)

    def erf(self, x):
        return torch.erf(x)

    def gelu(self, x):
        return F.gelu(x)

    def softmax(self, x):
        return F.softmax(x, -1)

    def softplus(self, x):
        return F.softplus(x, threshold=1000)

    def add(self, a, b):
        return a + b

    def sub(self, a, b):
        return a - b

    def mul(self, a, b):
        return a * b

    def matmul(self, a, b):
        return a @ b

    def mean(self, x):
        return x.mean()

    def global_mean(self, x):
        return x.mean((2, 3))

    def max_pool(self, x, k, stride, pad=0):
        return F.max_pool2d(x, k, stride, pad)

    def reshape(self, x, shape):
        return x.reshape(shape)

    def transpose(self, x, perm):
        return x.permute(perm)

    def concat(self, parts, axis):
        return torch.cat(parts, axis)

    def expand(self, x, shape):
        return x.expand(shape)

    def gather(self, x, index):
        return F.embedding(index, x)

    def columns(self, x, index):
        return x.index_select(1, torch.from_numpy(index))

    def at(self, x, axis, index):
        return x.select(axis, index)

    def to_float(self, x):
        return x.to(self.dtype)

    def dropout(self, x, ratio):
        assert not ratio, "the random numbers of PyTorch are others"
        return x

    def cross_entropy(self, x, labels):
        return F.cross_entropy(x, labels)


# ---- workloads: functions of a builder, its inputs by name, and `drop`, the ratio of Dropout


def images(batch, channels, size, classes):
    def data(rng):
        return {"x": rng.standard_normal([batch, channels, size, size]).astype(np.float32),
                "y": rng.integers(0, classes, [batch])}
    return data


def tokens(batch, length, words):
    def data(rng):
        t = rng.integers(0, words, [batch, length + 1])
        return {"x": t[:, :-1].copy(), "y": t[:, 1:].reshape(-1).copy()}
    return data


def mlp(m, i, drop=0.0):
    x = m.relu(m.dense(m.reshape(i["x"], [64, 784]), "fc1", 784, 256))
    x = m.relu(m.dense(x, "fc2", 256, 128))
    return m.cross_entropy(m.dense(x, "fc3", 128, 10), i["y"])


def cnn(m, i, drop=0.0):
    x = m.max_pool(m.relu(m.conv(i["x"], "conv1", 1, 32, 3, bias=True)), 2, 2)
    x = m.max_pool(m.relu(m.conv(x, "conv2", 32, 64, 3, bias=True)), 2, 2)
    x = m.relu(m.dense(m.reshape(x, [64, 3136]), "fc1", 3136, 128))
    return m.cross_entropy(m.dense(m.dropout(x, drop), "fc2", 128, 10), i["y"])


def resnet18(m, i, drop=0.0):
    x = m.max_pool(m.conv_bn(i["x"], "stem", 3, 64, 7, 2), 3, 2, 1)
    n = 64
    for stage, width in enumerate((64, 128, 256, 512)):
        for block in range(2):
            name, stride = f"layer{stage}.{block}", 2 if stage and not block else 1
            y = m.conv_bn(x, name + ".a", n, width, 3, stride)
            y = m.conv_bn(y, name + ".b", width, width, 3, act="none")
            if n != width:
                x = m.conv_bn(x, name + ".down", n, width, 1, stride, act="none")
            x, n = m.relu(m.add(y, x)), width
    return m.cross_entropy(m.dense(m.global_mean(x), "fc", 512, 200), i["y"])


def mobilenetv2(m, i, drop=0.0):
    x, n = m.conv_bn(i["x"], "stem", 3, 32, 3, 2, act="relu6"), 32
    for stage, (t, c, repeat, first) in enumerate(
            ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
             (6, 160, 3, 2), (6, 320, 1, 1))):
        for block in range(repeat):
            name, stride, wide = f"block{stage}.{block}", 1 if block else first, n * t
            y = m.conv_bn(x, name + ".expand", n, wide, 1, act="relu6") if t != 1 else x
            y = m.conv_bn(y, name + ".depth", wide, wide, 3, stride, wide, act="relu6")
            y = m.conv_bn(y, name + ".project", wide, c, 1, act="none")
            x, n = m.add(x, y) if stride == 1 and n == c else y, c
    x = m.conv_bn(x, "head", n, 1280, 1, act="relu6")
    return m.cross_entropy(m.dense(m.global_mean(x), "fc", 1280, 200), i["y"])


def vit(m, i, drop=0.0):
    shape = batch, length, width = 16, 65, 192
    w = m.weight("patch.weight", [width, 3, 8, 8], 1 / math.sqrt(192))
    x = m.patches(i["x"], w, m.weight("patch.bias", [width], 0.05), 8)
    x = m.transpose(m.reshape(x, [batch, width, 64]), [0, 2, 1])
    token = m.expand(m.weight("token", [1, 1, width], 0.05), [batch, 1, width])
    x = m.add(m.concat([token, x], 1), m.weight("position", [1, length, width], 0.05))
    for layer in range(6):
        name = f"layer{layer}"
        x = m.add(x, m.attention(m.norm(x, name + ".ln1", width), name, shape, 3, drop=drop))
        x = m.add(x, m.feed_forward(m.norm(x, name + ".ln2", width), name, width, m.gelu, drop))
    x = m.dense(m.at(m.norm(x, "ln", width), 1, 0), "head", width, 200)
    return m.cross_entropy(x, i["y"])


def bert(m, i, drop=0.0):
    shape = batch, length, width = 8, 128, 256
    mask = m.mul(m.sub(m.number(1.0), m.to_float(m.reshape(i["mask"], [batch, 1, 1, length]))),
                 m.number(-10000.0))
    words = m.gather(m.weight("words", [30522, width], 0.035), i["x"])
    places = m.gather(m.weight("places", [512, width], 0.035),
                      m.table(np.arange(length, dtype=np.int64)))
    kinds = m.gather(m.weight("kinds", [2, width], 0.035), i["types"])
    x = m.norm(m.add(m.add(words, places), kinds), "ln", width)
    for layer in range(4):
        name = f"layer{layer}"
        y = m.attention(x, name, shape, 4, mask, drop)
        x = m.norm(m.add(x, y), name + ".ln1", width)
        y = m.feed_forward(x, name, width, m.gelu_erf, drop)
        x = m.norm(m.add(x, y), name + ".ln2", width)
    x = m.tanh(m.dense(m.at(x, 1, 0), "pooler", width, width))
    return m.cross_entropy(m.dense(x, "classes", width, 2), i["y"])


def bert_data(rng):
    lengths = rng.integers(32, 129, [8])
    return {"x": rng.integers(0, 30522, [8, 128]),
            "mask": (np.arange(128) < lengths[:, None]).astype(np.int64),
            "types": np.repeat(np.arange(2), 64)[None].repeat(8, 0),
            "y": rng.integers(0, 2, [8])}


def gpt2(width, layers, heads, words, batch=4, length=64):
    def make(m, i, drop=0.0):
        mask = np.where(np.tri(length, dtype=bool), 0, -10000).astype(np.float32)
        mask = m.table(mask.reshape(1, 1, length, length))
        table = m.weight("words", [words, width], 0.035)
        x = m.add(m.gather(table, i["x"]), m.gather(
            m.weight("places", [1024, width], 0.017), m.table(np.arange(length, dtype=np.int64))))
        for layer in range(layers):
            name, shape = f"layer{layer}", (batch, length, width)
            y = m.norm(x, name + ".ln1", width)
            x = m.add(x, m.attention(y, name, shape, heads, mask, drop))
            y = m.norm(x, name + ".ln2", width)
            x = m.add(x, m.feed_forward(y, name, width, m.gelu_tanh, drop))
        x = m.reshape(m.norm(x, "ln", width), [batch * length, width])
        return m.cross_entropy(m.product(x, table, None), i["y"])
    return make, tokens(batch, length, words)


def lstm(m, i, drop=0.0):
    x = m.transpose(m.gather(m.weight("letters", [96, 128], 1.0), i["x"]), [1, 0, 2])
    x = m.lstm(m.lstm(x, "lstm1", 128, 256), "lstm2", 256, 256)
    x = m.reshape(m.transpose(x, [1, 0, 2]), [32 * 64, 256])
    return m.cross_entropy(m.dense(x, "letter", 256, 96), i["y"])


def dlrm(m, i, drop=0.0):
    x = m.relu(m.dense(i["dense"], "bottom1", 13, 64))
    x = m.relu(m.dense(x, "bottom2", 64, 32))
    parts = [x] + [m.gather(m.weight(f"table{t}", [20000, 32], 0.1), i[f"id{t}"])
                   for t in range(8)]
    stack = m.concat([m.reshape(p, [256, 1, 32]) for p in parts], 1)
    pairs = m.reshape(m.matmul(stack, m.transpose(stack, [0, 2, 1])), [256, 81])
    below = np.array([r * 9 + c for r in range(9) for c in range(r)], np.int64)
    x = m.concat([x, m.columns(pairs, below)], 1)
    x = m.dense(m.relu(m.dense(x, "top1", 68, 64)), "top2", 64, 1)
    return m.mean(m.sub(m.softplus(x), m.mul(x, i["y"])))


def dlrm_data(rng):
    data = {f"id{t}": rng.integers(0, 20000, [256]) for t in range(8)}
    return {"dense": rng.standard_normal([256, 13]).astype(np.float32), **data,
            "y": rng.integers(0, 2, [256, 1]).astype(np.float32)}


def unet(m, i, drop=0.0):
    x, n, kept = i["x"], 3, []
    widths = (16, 32, 64, 128)
    for level, width in enumerate(widths):
        x = m.conv_bn(x, f"down{level}.a", n, width, 3)
        x, n = m.conv_bn(x, f"down{level}.b", width, width, 3), width
        if width != 128:
            kept.append(x)
            x = m.max_pool(x, 2, 2)
    for level, width in reversed(list(enumerate(widths[:-1]))):
        x = m.concat([kept[level], m.up(x, f"up{level}", 2 * width, width)], 1)
        x = m.conv_bn(x, f"up{level}.a", 2 * width, width, 3)
        x = m.conv_bn(x, f"up{level}.b", width, width, 3)
    return m.cross_entropy(m.conv(x, "classes", 16, 2, 1, bias=True), i["y"])


def unet_data(rng):
    return {"x": rng.standard_normal([4, 3, 96, 96]).astype(np.float32),
            "y": rng.integers(0, 2, [4, 96, 96])}


# Weight decays are large, so that 20 steps without them would give other losses.
SGD = ("sgd", {"learningRate": 0.05})
MOMENTUM = ("sgd", {"learningRate": 0.001, "momentum": 0.9, "weightDecay": 0.1})
ADAMW = ("adamw", {"learningRate": 1e-3, "weightDecay": 0.5, "eps": 1e-8})
ADAM = ("adam", {"learningRate": 1e-3, "eps": 1e-8})

# Name: function, data of one step, optimizer and its values.
WORKLOADS = {
    "mlp": (mlp, images(64, 1, 28, 10), *SGD),
    "cnn": (cnn, images(64, 1, 28, 10), *SGD),
    "resnet18": (resnet18, images(16, 3, 64, 200), *MOMENTUM),
    "mobilenetv2": (mobilenetv2, images(16, 3, 64, 200), *MOMENTUM),
    "vit": (vit, images(16, 3, 64, 200), *ADAMW),
    "bert": (bert, bert_data, *ADAMW),
    "gpt2": (*gpt2(192, 4, 4, 4096), *ADAMW),
    "lstm": (lstm, tokens(32, 64, 96), *ADAM),
    "dlrm": (dlrm, dlrm_data, *SGD),
    "unet": (unet, unet_data, *ADAM),
}
FULL = {"gpt2": (*gpt2(768, 12, 12, 50257), *ADAMW)}


def onnx_model(name, data, drop=0.0, full=False):
    """The bytes of the ONNX model, the builder (its weights), and the name of the loss."""
    m = Onnx(np.random.default_rng(3))
    make = (FULL if full and name in FULL else WORKLOADS)[name][0]
    loss = make(m, {n: m.input(n, a) for n, a in data.items()}, drop)
    model = m.model(loss)
    onnx.checker.check_model(model, full_check=True)
    return model.SerializeToString(), m, loss
