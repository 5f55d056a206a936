# SPDX-License-Identifier: MIT
"""norm.py: recipes of normalisations, softmax and losses, by numpy in double."""
import numpy as np

from move import axis_of
from registry import recipe
from values import NP, to, wide
from pointwise import f32

RANKED = 'zero rank8'
# Type that stash_type says intermediates have: by ONNX's number.
STASH = {1: 'f32', 11: 'f64', 10: 'f16', 16: 'bf16'}


def epsilon(g, attrs):
    if g.chance(0.5):
        attrs['epsilon'] = g.pick([0.5, 0.25, 0.001])
        return f32(attrs['epsilon'])
    return f32(1e-5)


def channels(v, rank):
    return v.reshape([-1] + [1] * (rank - 2))


@recipe('batch_normalization', RANKED)
def batch_normalization(g):
    t, a = g.t['T'], {}
    x = g.plain(t, g.shape(1, 4))
    n = x.shape[1] if x.ndim > 1 else 1
    s, b = g.plain(g.t['T1'], [n]), g.plain(g.t['T1'], [n])
    mean, var = g.plain(g.t['T2'], [n], -1, 1), g.plain(g.t['T2'], [n], 0, 4)
    eps, v = epsilon(g, a), wide(x)
    training = x.size != 0 and g.chance(0.4)
    outs = []
    m, q = wide(mean), wide(var)
    if training:
        a['training_mode'] = 1
        keep = f32(0.9)
        if g.chance(0.5):
            keep = a['momentum'] = 0.75
        axes = tuple(k for k in range(x.ndim) if k != 1)
        now = np.mean(v, axes) if x.ndim > 1 else np.array([np.mean(v)])
        spread = np.var(v, axes) if x.ndim > 1 else np.array([np.var(v)])
        outs = [to(g.t['T2'], m * keep + now * (1 - keep)),
                to(g.t['T2'], q * keep + spread * (1 - keep))]
        m, q = now, spread
    if x.ndim > 1:
        m, q, ss, bb = (channels(e, x.ndim) for e in (m, q, wide(s), wide(b)))
    else:
        ss, bb = wide(s), wide(b)
    y = to(t, (v - m) / np.sqrt(q + eps) * ss + bb)
    return g.case([x, s, b, mean, var], [y] + outs, a, 'sum',
                  [True] + [g.chance(0.7) for _ in outs])


@recipe('instance_normalization', RANKED)
def instance_normalization(g):
    t, a = g.t['T'], {}
    x = g.plain(t, g.shape(3, 4))
    g.need(x.ndim >= 3, 'rank')
    n = x.shape[1]
    s, b = g.plain(t, [n]), g.plain(t, [n])
    eps, v, axes = epsilon(g, a), wide(x), tuple(range(2, x.ndim))
    if x.size == 0:
        return g.case([x, s, b], [x], a)
    y = (v - np.mean(v, axes, keepdims=True)) / np.sqrt(np.var(v, axes, keepdims=True) + eps)
    y = y * channels(wide(s), x.ndim) + channels(wide(b), x.ndim)
    return g.case([x, s, b], [to(t, y)], a, 'sum')


def stash(g, a, t):
    """stash_type, left out where it is f32's."""
    kind = 1 if g.chance(0.6) else g.pick([1, 11])
    if kind != 1 or g.chance(0.2):
        a['stash_type'] = kind
    return kind


def last_axes(g, x):
    k = g.int(0, x.ndim - 1)
    a = {} if k == x.ndim - 1 and g.chance(0.6) else {'axis': k - x.ndim if g.chance(0.4) else k}
    return k, a


@recipe('layer_normalization', RANKED)
def layer_normalization(g):
    """Intermediates are of stash_type by the specification; here they are compared within f32."""
    t = g.t['T']
    x = g.plain(t, g.shape(1))
    k, a = last_axes(g, x)
    tail = list(x.shape[k:])
    dims = tail if g.cls != 'any' or g.chance(0.7) else tail[g.int(0, len(tail) - 1):]
    s, b = g.plain(t, dims), g.plain(t, dims) if g.chance(0.6) else None
    eps, v, axes = epsilon(g, a), wide(x), tuple(range(k, x.ndim))
    u = g.t['U']
    if u != 'f32':
        a['stash_type'] = 16
    g.need(x.size != 0 or all(tail), 'mean of nothing')
    mean = np.mean(v, axes, keepdims=True)
    inverse = 1 / np.sqrt(np.var(v, axes, keepdims=True) + eps)
    y = (v - mean) * inverse * wide(s) + (0 if b is None else wide(b))
    return g.case([x, s, b], [to(t, y), to(u, mean), to(u, inverse)], a,
                  'bf16' if u == 'bf16' else 'f32',
                  [True, g.chance(0.6), g.chance(0.6)])


@recipe('group_normalization', RANKED)
def group_normalization(g):
    t = g.t['T']
    groups = 2 if g.cls == 'rank8' else g.int(1, 3)
    dims = [1, 2, 1, 2, 1, 1, 2, 1] if g.cls == 'rank8' else \
        [g.int(1, 2), groups * g.int(1, 2)] + [g.int(1, 3) for _ in range(g.int(0, 2))]
    if g.cls == 'zero':
        dims[0] = 0
    x, a = g.plain(t, dims), {'num_groups': groups}
    eps = epsilon(g, a)
    s, b = g.plain(t, dims[1:2]), g.plain(t, dims[1:2])
    v = wide(x).reshape([dims[0], groups, int(np.prod(dims[1:])) // groups])
    y = (v - v.mean(2, keepdims=True)) / np.sqrt(v.var(2, keepdims=True) + eps)
    y = y.reshape(dims) * channels(wide(s), len(dims)) + channels(wide(b), len(dims))
    return g.case([x, s, b], [to(t, y)], a, 'f32')


@recipe('rms_normalization', RANKED)
def rms_normalization(g):
    t, o = g.t['T'], g.t['V']
    x = g.plain(t, g.shape(1))
    k, a = last_axes(g, x)
    tail = list(x.shape[k:])
    g.need(x.size != 0 or all(tail), 'mean of nothing')
    s = g.plain(o, tail if g.chance(0.7) else tail[g.int(0, len(tail) - 1):])
    eps, v, axes = epsilon(g, a), wide(x), tuple(range(k, x.ndim))
    y = v / np.sqrt(np.mean(v * v, axes, keepdims=True) + eps)
    y = wide(to(t, y)) * wide(s)  # rounded to X's type before the scale
    return g.case([x, s], [to(o, y)], a, 'bf16' if 'bf16' in (t, o) else
                  'f16' if 'f16' in (t, o) else 'f32')


@recipe('mean_variance_normalization', RANKED)
def mean_variance_normalization(g):
    t, a = g.t['T'], {}
    x = g.plain(t, g.shape(4, 4))
    axes = [0, 2, 3]
    if x.ndim > 4 or g.chance(0.5):
        axes = sorted(g.rng.sample(range(x.ndim), g.int(1, x.ndim)))
        a['axes'] = [k - x.ndim if g.chance(0.3) else k for k in axes]
    if x.size == 0:
        return g.case([x], [x], a)
    v, axes = wide(x), tuple(axes)
    mean = np.mean(v, axes, keepdims=True)
    y = (v - mean) / (np.sqrt(np.mean(v * v, axes, keepdims=True) - mean * mean) + 1e-9)
    g.need(np.all(np.var(v, axes) > 1e-3), 'nothing but the small constant in the divisor')
    return g.case([x], [to(t, y)], a, 'chain')


@recipe('lp_normalization', RANKED)
def lp_normalization(g):
    """A line of zeros stays so (from version 22 on)."""
    t = g.t['T']
    x = g.plain(t, g.shape(1), step=2)
    axis, a = axis_of(g, x.ndim, default=-1)
    p = g.int(1, 2)
    if p == 1 or g.chance(0.3):
        a['p'] = p
    v = wide(x)
    n = np.sum(np.abs(v)**p, axis, keepdims=True)**(1 / p)
    y = np.where(n == 0, 0, v / np.where(n == 0, 1, n))
    return g.case([x], [to(t, y)], a, 'sum')


@recipe('lrn', RANKED)
def lrn(g):
    t = g.t['T']
    x = g.plain(t, g.shape(3, 4))
    size = g.int(1, 5)
    a = {'size': size}
    alpha, beta, bias = f32(1e-4), 0.75, 1.0
    if g.chance(0.7):
        alpha, beta, bias = g.int(1, 8) / 4, g.int(1, 6) / 4, g.int(1, 8) / 4
        a.update(alpha=alpha, beta=beta, bias=bias)
    v = wide(x)
    q = np.zeros(v.shape)
    for c in range(x.shape[1]):
        lo = max(0, c - (size - 1) // 2)
        hi = min(x.shape[1] - 1, c + -(-(size - 1) // 2))
        q[:, c] = np.sum(v[:, lo:hi + 1]**2, 1)
    return g.case([x], [to(t, v / (bias + alpha / size * q)**beta)], a, 'sum')


@recipe('softmax log_softmax hardmax', RANKED)
def softmax(g):
    t = g.t['T']
    x = g.plain(t, g.shape(1), -6, 6)
    axis, a = axis_of(g, x.ndim, default=-1)
    v = wide(x)
    if x.size == 0:
        return g.case([x], [x], a)
    if g.row.key == 'hardmax':
        y = np.zeros(v.shape)
        np.put_along_axis(y, np.expand_dims(np.argmax(v, axis), axis), 1, axis)
        return g.case([x], [to(t, y)], a)
    d = v - np.max(v, axis, keepdims=True)
    s = np.sum(np.exp(d), axis, keepdims=True)
    y = np.exp(d) / s if g.row.key == 'softmax' else d - np.log(s)
    return g.case([x], [to(t, y)], a, 'sum')


def log_softmax(v):
    d = v - np.max(v, 1, keepdims=True)
    return d - np.log(np.sum(np.exp(d), 1, keepdims=True))


@recipe('negative_log_likelihood_loss softmax_cross_entropy_loss', RANKED)
def loss(g):
    """The mean is over the weights of what is not ignored."""
    t = g.t['T']
    dims = [1, 3, 1, 2, 1, 1, 2, 1] if g.cls == 'rank8' else \
        [g.int(1, 3), g.int(1, 4)] + [g.int(1, 3) for _ in range(g.int(0, 2))]
    if g.cls == 'zero':
        dims[0] = 0
    c, a = dims[1], {}
    x = g.plain(t, dims)
    ignore = None
    places = dims[:1] + dims[2:]
    target = np.array([g.int(0, c - 1) for _ in range(int(np.prod(places)))], np.int64)
    if g.chance(0.5):
        ignore = a['ignore_index'] = g.pick([-1, 0, c, -100])
        target = np.array([ignore if g.chance(0.3) else k for k in target], np.int64)
    target = target.reshape(places).astype(NP[g.t['Tind']])
    w = g.plain(t, [c], 0.25, 2) if g.chance(0.5) else None
    how = g.pick(['mean', 'sum', 'none'])
    if how != 'mean' or g.chance(0.3):
        a['reduction'] = how
    v = wide(x)
    entropy = g.row.key == 'softmax_cross_entropy_loss'
    if entropy and x.size:
        v = log_softmax(v)
    y, share = np.zeros(places), np.zeros(places)
    for at in np.ndindex(*places):
        k = int(target[at])
        if k != ignore:
            share[at] = 1.0 if w is None else float(w[k])
            y[at] = -v[(at[0], k) + at[1:]] * share[at]
    if how == 'sum':
        y = np.sum(y)
    elif how == 'mean':
        g.need(np.sum(share) > 0, 'mean of nothing')
        y = np.sum(y) / np.sum(share)
    outs = [to(t, np.asarray(y))]
    if entropy and g.chance(0.6):
        outs.append(to(t, v))
    return g.case([x, target, w], outs, a, 'sum')
