# SPDX-License-Identifier: MIT
"""Classifiers from AlexNet to DenseNet: dense convolutions, pooling, concatenation."""
from build import Graph


def start(size=224):
    g = Graph()
    return g, g.input("input", (1, 3, size, size))


def finish(g, x, classes=1000):
    g.output(g.gemm(g.flatten(g.global_pool(x)), classes), "output")
    return g


def dense_head(g, x):
    """The three dense layers of AlexNet and VGG, behind a pool that does nothing at this size."""
    x = g.flatten(g.pool(x, "AveragePool", 1, 1))
    g.output(g.gemm(g.gemm(g.gemm(x, 4096, "relu"), 4096, "relu"), 1000), "output")
    return g


def alexnet():
    g, x = start()
    x = g.pool(g.conv(x, 64, 11, 4, 2, act="relu"), "MaxPool", 3, 2)
    x = g.pool(g.conv(x, 192, 5, act="relu"), "MaxPool", 3, 2)
    for channels in (384, 256, 256):
        x = g.conv(x, channels, 3, act="relu")
    return dense_head(g, g.pool(x, "MaxPool", 3, 2))


def vgg16():
    g, x = start()
    for channels, depth in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        for _ in range(depth):
            x = g.conv(x, channels, 3, act="relu")
        x = g.pool(x, "MaxPool", 2, 2)
    return dense_head(g, x)


def resnet(depths, bottleneck):
    g, x = start()
    x = g.pool(g.conv(x, 64, 7, 2, act="relu"), "MaxPool", 3, 2, 1)
    for stage, depth in enumerate(depths):
        inner = 64 << stage
        outer = inner * 4 if bottleneck else inner
        for block in range(depth):
            stride = 2 if stage > 0 and block == 0 else 1
            if bottleneck:
                y = g.conv(x, inner, 1, act="relu")
                y = g.conv(y, inner, 3, stride, act="relu")
                y = g.conv(y, outer, 1, gain=0.4)
            else:
                y = g.conv(g.conv(x, inner, 3, stride, act="relu"), outer, 3, gain=0.4)
            if stride > 1 or x.shape[1] != outer:
                x = g.conv(x, outer, 1, stride)
            x = g.act(g.add(y, x), "relu")
    return finish(g, x)


def resnet18():
    return resnet((2, 2, 2, 2), False)


def resnet50():
    return resnet((3, 4, 6, 3), True)


def squeezenet1_1():
    g, x = start()

    def fire(x, squeeze, expand):
        x = g.conv(x, squeeze, 1, act="relu")
        return g.concat([g.conv(x, expand, 1, act="relu"), g.conv(x, expand, 3, act="relu")], 1)

    x = g.pool(g.conv(x, 64, 3, 2, 0, act="relu"), "MaxPool", 3, 2, ceil=1)
    x = g.pool(fire(fire(x, 16, 64), 16, 64), "MaxPool", 3, 2, ceil=1)
    x = g.pool(fire(fire(x, 32, 128), 32, 128), "MaxPool", 3, 2, ceil=1)
    for squeeze, expand in ((48, 192), (48, 192), (64, 256), (64, 256)):
        x = fire(x, squeeze, expand)
    g.output(g.flatten(g.global_pool(g.conv(x, 1000, 1, act="relu"))), "output")
    return g


def googlenet():
    g, x = start()
    conv = lambda x, channels, kernel=1, stride=1: g.conv(x, channels, kernel, stride, act="relu")

    def inception(x, a, b0, b, c0, c, d):
        return g.concat([conv(x, a), conv(conv(x, b0), b, 3), conv(conv(x, c0), c, 3),
                         conv(g.pool(x, "MaxPool", 3, 1, 1, 1), d)], 1)

    x = g.pool(conv(x, 64, 7, 2), "MaxPool", 3, 2, ceil=1)
    x = g.pool(conv(conv(x, 64), 192, 3), "MaxPool", 3, 2, ceil=1)
    x = inception(x, 64, 96, 128, 16, 32, 32)
    x = g.pool(inception(x, 128, 128, 192, 32, 96, 64), "MaxPool", 3, 2, ceil=1)
    for widths in ((192, 96, 208, 16, 48, 64), (160, 112, 224, 24, 64, 64),
                   (128, 128, 256, 24, 64, 64), (112, 144, 288, 32, 64, 64),
                   (256, 160, 320, 32, 128, 128)):
        x = inception(x, *widths)
    x = g.pool(x, "MaxPool", 2, 2, ceil=1)
    x = inception(inception(x, 256, 160, 320, 32, 128, 128), 384, 192, 384, 48, 128, 128)
    return finish(g, x)


def inception_v3():
    g, x = start(299)
    conv = lambda x, channels, kernel=1, stride=1, pad=None: g.conv(
        x, channels, kernel, stride, pad, act="relu")

    def chain(x, *layers):
        for layer in layers:
            x = conv(x, *layer)
        return x

    def average(x, channels):
        return conv(g.pool(x, "AveragePool", 3, 1, 1), channels)

    def fork(x, channels):
        return g.concat([conv(x, channels, (1, 3)), conv(x, channels, (3, 1))], 1)

    x = chain(x, (32, 3, 2, 0), (32, 3, 1, 0), (64, 3))
    x = chain(g.pool(x, "MaxPool", 3, 2), (80,), (192, 3, 1, 0))
    x = g.pool(x, "MaxPool", 3, 2)
    for pooled in (32, 64, 64):
        x = g.concat([conv(x, 64), chain(x, (48,), (64, 5)), chain(x, (64,), (96, 3), (96, 3)),
                      average(x, pooled)], 1)
    x = g.concat([conv(x, 384, 3, 2, 0), chain(x, (64,), (96, 3), (96, 3, 2, 0)),
                  g.pool(x, "MaxPool", 3, 2)], 1)
    row, column = (1, 7), (7, 1)
    for c in (128, 160, 160, 192):
        x = g.concat([conv(x, 192), chain(x, (c,), (c, row), (192, column)),
                      chain(x, (c,), (c, column), (c, row), (c, column), (192, row)),
                      average(x, 192)], 1)
    x = g.concat([chain(x, (192,), (320, 3, 2, 0)),
                  chain(x, (192,), (192, row), (192, column), (192, 3, 2, 0)),
                  g.pool(x, "MaxPool", 3, 2)], 1)
    for _ in range(2):
        x = g.concat([conv(x, 320), fork(conv(x, 384), 384), fork(chain(x, (448,), (384, 3)), 384),
                      average(x, 192)], 1)
    return finish(g, x)


def densenet121():
    g, x = start()
    x = g.pool(g.conv(x, 64, 7, 2, act="relu"), "MaxPool", 3, 2, 1)
    for block, depth in enumerate((6, 12, 24, 16)):
        if block > 0:
            x = g.conv(g.act(g.batch_norm(x), "relu"), x.shape[1] // 2, bias=False)
            x = g.pool(x, "AveragePool", 2, 2)
        parts = [x]
        for _ in range(depth):
            x = g.concat(parts, 1) if len(parts) > 1 else parts[0]
            y = g.conv(g.act(g.batch_norm(x), "relu"), 128, act="relu")
            parts.append(g.conv(y, 32, 3, bias=False))
        x = g.concat(parts, 1)
    return finish(g, g.act(g.batch_norm(x), "relu"))


MODELS = (alexnet, vgg16, resnet18, resnet50, squeezenet1_1, googlenet, inception_v3, densenet121)
