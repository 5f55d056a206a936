# SPDX-License-Identifier: MIT
"""Small classifiers: depthwise convolutions, squeeze-and-excite, channel shuffles."""
from image_classic import finish, start


def mobilenet_v2():
    g, x = start()
    x = g.conv(x, 32, 3, 2, act="relu6")
    for expand, channels, depth, first in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2),
                                           (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
                                           (6, 320, 1, 1)):
        for i in range(depth):
            stride = first if i == 0 else 1
            wide = x.shape[1] * expand
            y = g.conv(x, wide, 1, act="relu6") if expand > 1 else x
            y = g.conv(y, wide, 3, stride, group=wide, act="relu6")
            same = stride == 1 and x.shape[1] == channels
            y = g.conv(y, channels, 1, gain=0.5 if same else 1)
            x = g.add(x, y) if same else y
    return finish(g, g.conv(x, 1280, 1, act="relu6"))


def excite(g, x, squeeze, inner, gate):
    """Squeeze-and-excite: channels weighed by what their means say."""
    y = g.conv(g.global_pool(x), squeeze, 1, act=inner)
    return g.mul(g.act(g.conv(y, x.shape[1], 1), gate), x)


def inverted(g, x, kernel, wide, channels, squeeze, act, stride, gates):
    """The block of MobileNet v3 and EfficientNet; `gates` are the activations of the excite."""
    y = g.conv(x, wide, 1, act=act) if wide != x.shape[1] else x
    y = g.conv(y, wide, kernel, stride, group=wide, act=act)
    if squeeze:
        y = excite(g, y, squeeze, *gates)
    same = stride == 1 and x.shape[1] == channels
    y = g.conv(y, channels, 1, gain=0.7 if same else 1.5)
    return g.add(y, x) if same else y


def mobilenet_v3_large():
    g, x = start()
    x = g.conv(x, 16, 3, 2, act="hard_swish")
    for kernel, wide, channels, squeeze, act, stride in (
            (3, 16, 16, 0, "relu", 1), (3, 64, 24, 0, "relu", 2), (3, 72, 24, 0, "relu", 1),
            (5, 72, 40, 24, "relu", 2), (5, 120, 40, 32, "relu", 1), (5, 120, 40, 32, "relu", 1),
            (3, 240, 80, 0, "hard_swish", 2), (3, 200, 80, 0, "hard_swish", 1),
            (3, 184, 80, 0, "hard_swish", 1), (3, 184, 80, 0, "hard_swish", 1),
            (3, 480, 112, 120, "hard_swish", 1), (3, 672, 112, 168, "hard_swish", 1),
            (5, 672, 160, 168, "hard_swish", 2), (5, 960, 160, 240, "hard_swish", 1),
            (5, 960, 160, 240, "hard_swish", 1)):
        x = inverted(g, x, kernel, wide, channels, squeeze, act, stride, ("relu", "hard_sigmoid"))
    x = g.flatten(g.global_pool(g.conv(x, 960, 1, act="hard_swish")))
    g.output(g.gemm(g.gemm(x, 1280, "hard_swish"), 1000), "output")
    return g


def efficientnet_b0():
    g, x = start()
    x = g.conv(x, 32, 3, 2, act="silu")
    for expand, kernel, first, channels, depth in (
            (1, 3, 1, 16, 1), (6, 3, 2, 24, 2), (6, 5, 2, 40, 2), (6, 3, 2, 80, 3),
            (6, 5, 1, 112, 3), (6, 5, 2, 192, 4), (6, 3, 1, 320, 1)):
        for i in range(depth):
            x = inverted(g, x, kernel, x.shape[1] * expand, channels, x.shape[1] // 4, "silu",
                         first if i == 0 else 1, ("silu", "sigmoid"))
    return finish(g, g.conv(x, 1280, 1, act="silu"))


def shuffle(g, x):
    """Two halves of the channels dealt like cards."""
    n, c, h, w = x.shape
    x = g.transpose(g.reshape(x, (n, 2, c // 2, h, w)), (0, 2, 1, 3, 4))
    return g.reshape(x, (n, -1, h, w))


def shufflenet_v2_x1_0():
    g, x = start()
    x = g.pool(g.conv(x, 24, 3, 2, act="relu"), "MaxPool", 3, 2, 1)
    for channels, depth in ((116, 4), (232, 8), (464, 4)):
        half = channels // 2
        for i in range(depth):
            stride = 2 if i == 0 else 1
            if stride == 2:
                left = g.conv(x, x.shape[1], 3, 2, group=x.shape[1])
                left, right = g.conv(left, half, 1, act="relu"), x
            else:
                left, right = g.split(x, [half, half], 1)
            right = g.conv(right, half, 1, act="relu")
            right = g.conv(right, half, 3, stride, group=half)
            x = shuffle(g, g.concat([left, g.conv(right, half, 1, act="relu")], 1))
    x = g.conv(x, 1024, 1, act="relu")
    x = g.node("ReduceMean", [x], x.shape[:2], axes=[2, 3], keepdims=0)
    g.output(g.gemm(x, 1000), "output")
    return g


MODELS = (mobilenet_v2, mobilenet_v3_large, efficientnet_b0, shufflenet_v2_x1_0)
