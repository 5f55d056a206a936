# SPDX-License-Identifier: MIT
"""Image models of the transformer age: ViT, Swin with shifted windows, ConvNeXt."""
import math

import numpy as np

from build import F32
from image_classic import start


def mlp(g, x, act, gain):
    return g.linear(g.linear(x, 4 * x.shape[-1], act), x.shape[-1], gain=gain)


def heads_apart(g, x, heads):
    """One product for queries, keys and values; each comes out as [windows, heads, n, d]."""
    b, n, c = x.shape
    y = g.reshape(g.linear(x, 3 * c), (b, n, 3, heads, c // heads))
    y = g.transpose(y, (2, 0, 3, 1, 4))
    return [g.gather(y, g.ints(i)) for i in range(3)]


def vit_b_16():
    g, x = start()
    d, heads, n = 768, 12, 197
    x = g.conv(x, d, 16, 16, 0)
    x = g.transpose(g.reshape(x, (1, d, -1)), (0, 2, 1))
    x = g.add(g.concat([g.normal((1, 1, d), 1), x], 1), g.normal((1, n, d), 0.5))
    for _ in range(12):
        q, k, v = heads_apart(g, g.layer_norm(x, 1e-6), heads)
        s = g.mul(g.matmul(q, g.transpose(k, (0, 1, 3, 2))), 1 / math.sqrt(d // heads))
        y = g.transpose(g.matmul(g.softmax(s), v), (0, 2, 1, 3))
        x = g.add(x, g.linear(g.reshape(y, (1, n, d)), d, gain=0.5))
        x = g.add(x, mlp(g, g.layer_norm(x, 1e-6), "gelu", 0.5))
    first = g.gather(g.layer_norm(x, 1e-6), g.ints(0), 1)
    g.output(g.gemm(first, 1000), "output")
    return g


WINDOW = 7


def roll(g, x, axis, by):
    """The last `by` of an axis first, as torch.roll is written; a negative `by` the other way."""
    cut = x.shape[axis] - by if by > 0 else -by
    return g.concat([g.slice(x, axis, cut, x.shape[axis]), g.slice(x, axis, 0, cut)], axis)


def window_mask(size, shift):
    """What keeps parts of a shifted window apart that were not neighbours: 0 or -100."""
    strip = np.zeros(size, int)
    strip[size - WINDOW:size - shift], strip[size - shift:] = 1, 2
    area = strip[:, None] * 3 + strip
    area = area.reshape(size // WINDOW, WINDOW, -1, WINDOW).swapaxes(1, 2).reshape(-1, WINDOW ** 2)
    return np.where(area[:, None] != area[:, :, None], -100, 0).astype(F32)


def position_bias(g, heads):
    """A bias for each pair of places in a window, looked up by their distance."""
    place = np.indices((WINDOW, WINDOW)).reshape(2, -1)
    distance = place[:, :, None] - place[:, None] + WINDOW - 1
    index = distance[0] * (2 * WINDOW - 1) + distance[1]
    table = g.normal(((2 * WINDOW - 1) ** 2, heads), 0.2)
    bias = g.reshape(g.gather(table, g.ints(index.ravel())), (WINDOW ** 2, WINDOW ** 2, -1))
    return g.unsqueeze(g.transpose(bias, (2, 0, 1)), 0)


def window_attention(g, x, heads, shift):
    """Attention within windows of 7x7; `shift` moves the image before and after."""
    _, size, _, c = x.shape
    count, n = size // WINDOW, WINDOW ** 2
    for axis in (1, 2) if shift else ():
        x = roll(g, x, axis, -shift)
    x = g.transpose(g.reshape(x, (1, count, WINDOW, count, WINDOW, c)), (0, 1, 3, 2, 4, 5))
    q, k, v = heads_apart(g, g.reshape(x, (count ** 2, n, c)), heads)
    q = g.mul(q, (c // heads) ** -0.5)
    s = g.add(g.matmul(q, g.transpose(k, (0, 1, 3, 2))), position_bias(g, heads))
    if shift:
        mask = g.const(window_mask(size, shift)[None, :, None])
        s = g.add(g.reshape(s, (1, count ** 2, heads, n, n)), mask)
        s = g.reshape(s, (-1, heads, n, n))
    y = g.transpose(g.matmul(g.softmax(s), v), (0, 2, 1, 3))
    y = g.linear(g.reshape(y, (count ** 2, n, c)), c, gain=0.5)
    y = g.transpose(g.reshape(y, (1, count, count, WINDOW, WINDOW, c)), (0, 1, 3, 2, 4, 5))
    y = g.reshape(y, (1, size, size, c))
    for axis in (1, 2) if shift else ():
        y = roll(g, y, axis, shift)
    return y


def merge(g, x):
    """Four neighbours become one place of twice the channels."""
    parts = []
    for row, column in ((0, 0), (1, 0), (0, 1), (1, 1)):
        part = g.slice(x, 1, row, x.shape[1], 2)
        parts.append(g.slice(part, 2, column, x.shape[2], 2))
    y = g.layer_norm(g.concat(parts, -1))
    return g.linear(y, 2 * x.shape[-1], bias=False)


def swin_t():
    g, x = start()
    x = g.layer_norm(g.transpose(g.conv(x, 96, 4, 4, 0), (0, 2, 3, 1)))
    for stage, (depth, heads) in enumerate(((2, 3), (2, 6), (6, 12), (2, 24))):
        if stage > 0:
            x = merge(g, x)
        for i in range(depth):
            shift = WINDOW // 2 if i % 2 and x.shape[1] > WINDOW else 0
            x = g.add(x, window_attention(g, g.layer_norm(x), heads, shift))
            x = g.add(x, mlp(g, g.layer_norm(x), "gelu", 0.5))
    x = g.transpose(g.layer_norm(x), (0, 3, 1, 2))
    g.output(g.gemm(g.flatten(g.global_pool(x)), 1000), "output")
    return g


def convnext_tiny():
    g, x = start()
    last, second = (0, 2, 3, 1), (0, 3, 1, 2)
    norm = lambda x: g.transpose(g.layer_norm(g.transpose(x, last), 1e-6), second)
    x = norm(g.conv(x, 96, 4, 4, 0))
    for stage, depth in enumerate((3, 3, 9, 3)):
        if stage > 0:
            x = g.conv(norm(x), 2 * x.shape[1], 2, 2, 0)
        for _ in range(depth):
            c = x.shape[1]
            y = g.layer_norm(g.transpose(g.conv(x, c, 7, group=c), last), 1e-6)
            y = g.transpose(mlp(g, y, "gelu", 1), second)
            x = g.add(g.mul(g.near((c, 1, 1), 0.4), y), x)
    g.output(g.gemm(g.flatten(norm(g.global_pool(x))), 1000), "output")
    return g


MODELS = (vit_b_16, swin_t, convnext_tiny)
