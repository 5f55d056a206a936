# SPDX-License-Identifier: MIT
"""Models of other shapes than the table's: volumes, images and sounds that are made."""
import math

from build import Graph


def transposed(g, x, channels, kernel, stride, pad=0, act=None):
    """ConvTranspose of any rank, whose output has `stride` times the size, or is `kernel` of 1."""
    rank = len(x.shape) - 2
    taps = kernel ** rank
    w = g.normal((x.shape[1], channels, *[kernel] * rank),
                 g.fan(x.shape[1] * taps / stride ** rank, act, 1))
    size = [(d - 1) * stride + kernel - 2 * pad for d in x.shape[2:]]
    g.flops += 2 * math.prod(x.shape) * channels * taps
    y = g.node("ConvTranspose", [x, w, g.near(channels, 0)], (x.shape[0], channels, *size),
               dilations=[1] * rank, group=1, kernel_shape=[kernel] * rank,
               pads=[pad] * (2 * rank), strides=[stride] * rank)
    return g.act(y, act)


def leaky(g, x, alpha=0.1):
    return g.one("LeakyRelu", x, alpha=alpha)


def unet_3d():
    """A U-Net of a volume of 32 slices, as segmentation of organs has it."""
    g = Graph()
    x = g.input("input", (1, 1, 32, 64, 64))
    kept = []
    for level in range(4):
        if level > 0:
            x = g.node("MaxPool", [x], (*x.shape[:2], *[d // 2 for d in x.shape[2:]]),
                       kernel_shape=[2] * 3, strides=[2] * 3)
        x = g.conv(g.conv(x, 16 << level, 3, act="relu"), 16 << level, 3, act="relu")
        kept.append(x)
    for level in (2, 1, 0):
        c = 16 << level
        x = g.concat([transposed(g, x, c, 2, 2), kept[level]], 1)
        x = g.conv(g.conv(x, c, 3, act="relu"), c, 3, act="relu")
    g.output(g.conv(x, 3, 1), "output")
    return g


def x3d():
    """Inverted bottlenecks over time and space, each channel by itself (Feichtenhofer, 2020)."""
    g = Graph()
    x = g.input("input", (1, 3, 8, 112, 112))
    x = g.conv(x, 24, (1, 3, 3), (1, 2, 2), pad=(0, 1, 1))
    x = g.conv(x, 24, (5, 1, 1), pad=(2, 0, 0), group=24, act="relu")
    for channels, depth in ((24, 2), (48, 3), (96, 4)):
        wide = channels * 9 // 4
        for i in range(depth):
            stride = 2 if i == 0 else 1
            y = g.conv(x, wide, 1, act="relu")
            y = g.conv(y, wide, 3, (1, stride, stride), group=wide)
            y = g.conv(g.act(y, "silu"), channels, 1)
            x = g.act(g.add(y, x), "relu") if i > 0 else g.act(y, "relu")
    x = g.conv(x, 216, 1, act="relu")
    x = g.node("GlobalAveragePool", [x], (*x.shape[:2], 1, 1, 1))
    g.output(g.gemm(g.flatten(x), 400), "output")
    return g


def dcgan_64():
    """The generator of Radford and others (2015)."""
    g = Graph()
    x = transposed(g, g.input("noise", (1, 100, 1, 1)), 512, 4, 1, 0, "relu")
    for channels in (256, 128, 64):
        x = transposed(g, x, channels, 4, 2, 1, "relu")
    g.output(transposed(g, x, 3, 4, 2, 1, "tanh"), "image")
    return g


def edsr_x2():
    """The small one of Lim and others (2017): 16 blocks of 64 channels."""
    g = Graph()
    x = first = g.conv(g.input("image", (1, 3, 96, 96)), 64, 3)
    for _ in range(16):
        x = g.add(x, g.conv(g.conv(x, 64, 3, act="relu"), 64, 3, gain=0.3))
    x = g.conv(g.add(g.conv(x, 64, 3), first), 256, 3)
    x = g.node("DepthToSpace", [x], (1, 64, 192, 192), blocksize=2, mode="CRD")
    g.output(g.conv(x, 3, 3), "output")
    return g


def hifigan():
    """The smallest generator of Kong and others (2020), of half a second: V3."""
    g = Graph()
    x = g.conv(g.input("mel", (1, 80, 43)), 256, 7)
    for channels, kernel, stride in ((128, 16, 8), (64, 16, 8), (32, 8, 4)):
        x = transposed(g, leaky(g, x), channels, kernel, stride, (kernel - stride) // 2)
        parts = []
        for taps, steps in ((3, (1, 2)), (5, (2, 6)), (7, (3, 12))):
            y = x
            for dilation in steps:
                y = g.add(dilated(g, leaky(g, y), channels, taps, dilation), y)
            parts.append(y)
        x = g.two("Div", g.add(g.add(parts[0], parts[1]), parts[2]), 3)
    g.output(g.act(g.conv(leaky(g, x, 0.01), 1, 7), "tanh"), "sound")
    return g


def dilated(g, x, channels, taps, dilation):
    w = g.normal((channels, x.shape[1], taps), g.fan(x.shape[1] * taps, None, 0.5))
    g.flops += 2 * channels * x.shape[2] * x.shape[1] * taps
    return g.node("Conv", [x, w, g.near(channels, 0)], (x.shape[0], channels, x.shape[2]),
                  dilations=[dilation], group=1, kernel_shape=[taps],
                  pads=[(taps - 1) * dilation // 2] * 2, strides=[1])


MODELS = (unet_3d, x3d, dcgan_64, edsr_x2, hifigan)
