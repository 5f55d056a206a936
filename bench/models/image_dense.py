# SPDX-License-Identifier: MIT
"""An answer for every pixel or cell: a U-Net and a one-stage detector of the usual small size."""
import math

import numpy as np

from build import Graph


def unet_small():
    g = Graph()
    x = g.input("input", (1, 3, 256, 256))
    twice = lambda x, c: g.conv(g.conv(x, c, 3, act="relu"), c, 3, act="relu")
    kept = []
    for level in range(5):
        if level > 0:
            x = g.pool(x, "MaxPool", 2, 2)
        x = twice(x, 32 << level)
        kept.append(x)
    for level in range(3, -1, -1):
        c = 32 << level
        w = g.normal((2 * c, c, 2, 2), g.fan(2 * c, None, 1))
        g.flops += 2 * math.prod(x.shape) * 4 * c
        size = [2 * d for d in x.shape[2:]]
        x = g.node("ConvTranspose", [x, w, g.near(c, 0)], (1, c, *size), dilations=[1, 1], group=1,
                   kernel_shape=[2, 2], pads=[0] * 4, strides=[2, 2])
        x = twice(g.concat([x, kept[level]], 1), c)
    g.output(g.conv(x, 2, 1), "output")
    return g


class Detector:
    """The blocks of the detector: convolutions with SiLU, cross-stage blocks, pyramid pooling."""

    def __init__(self):
        self.g = Graph()

    def conv(self, x, channels, kernel=1, stride=1, pad=None):
        return self.g.conv(x, channels, kernel, stride, pad, act="silu", gain=0.9)

    def cross(self, x, channels, depth, residual=True):
        half = channels // 2
        y = self.conv(x, half)
        for _ in range(depth):
            z = self.conv(self.conv(y, half), half, 3)
            y = self.g.add(y, z) if residual else z
        return self.conv(self.g.concat([y, self.conv(x, half)], 1), channels)

    def pyramid(self, x, channels):
        parts = [self.conv(x, channels // 2)]
        for _ in range(3):
            parts.append(self.g.pool(parts[-1], "MaxPool", 5, 1, 2))
        return self.conv(self.g.concat(parts, 1), channels)

    def double(self, x):
        """Nearest neighbours, as interpolate(scale_factor=2) is written."""
        n, c, h, w = x.shape
        return self.g.node("Resize", [x, None, self.g.const([1, 1, 2, 2])], (n, c, 2 * h, 2 * w),
                           mode="nearest", coordinate_transformation_mode="asymmetric",
                           nearest_mode="floor", cubic_coeff_a=-0.75)

    def boxes(self, x, stride, anchors, classes=80):
        """Decodes one scale: centres and sizes in pixels, scores as they are."""
        g, (_, _, h, w), each = self.g, x.shape, classes + 5
        y = g.reshape(g.conv(x, 3 * each, 1), (1, 3, each, h, w))
        y = g.act(g.transpose(y, (0, 1, 3, 4, 2)), "sigmoid")
        grid = np.stack(np.meshgrid(np.arange(w), np.arange(h)), -1).reshape(1, 1, h, w, 2) - 0.5
        centre, size, rest = g.split(y, [2, 2, each - 4], 4)
        centre = g.mul(g.add(g.mul(centre, 2), g.const(grid)), stride)
        size = g.mul(g.two("Pow", g.mul(size, 2), 2), g.const(np.reshape(anchors, (1, 3, 1, 1, 2))))
        return g.reshape(g.concat([centre, size, rest], -1), (1, -1, each))


def yolo_s():
    d = Detector()
    g = d.g
    join = lambda a, b: g.concat([a, b], 1)
    x = d.conv(d.conv(g.input("images", (1, 3, 640, 640)), 32, 6, 2, 2), 64, 3, 2)
    p3 = d.cross(d.conv(d.cross(x, 64, 1), 128, 3, 2), 128, 2)
    p4 = d.cross(d.conv(p3, 256, 3, 2), 256, 3)
    p5 = d.pyramid(d.cross(d.conv(p4, 512, 3, 2), 512, 1), 512)
    low5 = d.conv(p5, 256)
    low4 = d.conv(d.cross(join(d.double(low5), p4), 256, 1, False), 128)
    out3 = d.cross(join(d.double(low4), p3), 128, 1, False)
    out4 = d.cross(join(d.conv(out3, 128, 3, 2), low4), 256, 1, False)
    out5 = d.cross(join(d.conv(out4, 256, 3, 2), low5), 512, 1, False)
    g.output(g.concat([d.boxes(out3, 8, (10, 13, 16, 30, 33, 23)),
                       d.boxes(out4, 16, (30, 61, 62, 45, 59, 119)),
                       d.boxes(out5, 32, (116, 90, 156, 198, 373, 326))], 1), "predictions")
    return g


MODELS = (unet_small, yolo_s)
