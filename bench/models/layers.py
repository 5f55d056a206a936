# SPDX-License-Identifier: MIT
"""Chains of one kind of layer, each with its own weights: kernels as a whole model meets them."""
from build import Graph

DEPTHWISE_DEPTH = 8
# Channels, size of the image, kernel: of MobileNet, EfficientNet and ConvNeXt.
DEPTHWISE = ((32, 112, 3), (144, 56, 3), (192, 28, 3), (384, 14, 3), (960, 7, 3), (240, 28, 5),
             (672, 14, 5), (1152, 7, 5), (96, 56, 7), (384, 14, 7))


def resnet50_convolutions():
    """The 53 convolutions in order; a pool and the sums of the four projections hold them."""
    g = Graph()
    x = g.pool(g.conv(g.input("input", (1, 3, 224, 224)), 64, 7, 2), "MaxPool", 3, 2, 1)
    for stage, depth in enumerate((3, 4, 6, 3)):
        inner = 64 << stage
        for block in range(depth):
            stride = 2 if stage > 0 and block == 0 else 1
            y = g.conv(g.conv(g.conv(x, inner, 1), inner, 3, stride), 4 * inner, 1)
            x = g.add(y, g.conv(x, 4 * inner, 1, stride, gain=0.5)) if block == 0 else y
    g.output(x, "output")
    return g


def bert_base_products():
    """The 72 products with weights in order, 128 words."""
    g = Graph()
    x = g.input("input", (128, 768))
    for _ in range(12):
        for units in (768, 768, 768, 768, 3072, 768):
            x = g.linear(x, units, bias=False)
    g.output(x, "output")
    return g


def depthwise(channels, size, kernel):
    def build():
        g = Graph()
        x = g.input("input", (1, channels, size, size))
        for _ in range(DEPTHWISE_DEPTH):
            x = g.conv(x, channels, kernel, group=channels)
        g.output(x, "output")
        return g
    build.__name__ = f"depthwise_{channels}_{size}_{kernel}x{kernel}"
    return build


MODELS = (resnet50_convolutions, bert_base_products, *(depthwise(*d) for d in DEPTHWISE))
