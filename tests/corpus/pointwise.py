# SPDX-License-Identifier: MIT
"""pointwise.py: recipes of element-wise operators, computed by numpy in double or in Python's
integers and rounded or wrapped once."""
import math

import ml_dtypes as ml
import numpy as np

from registry import recipe
from values import INT_BITS, NP, is_float, is_int, limits, to, wide

erf = np.vectorize(math.erf, otypes=[np.float64])
erfc = np.vectorize(math.erfc, otypes=[np.float64])
EVERY = 'zero scalar rank8'
BROAD = EVERY + ' broadcast'


def f32(v):
    """An attribute as the operator sees it."""
    return float(np.float32(v))


def sigmoid(x):
    return np.where(x >= 0, 1 / (1 + np.exp(-np.abs(x))),
                    np.exp(-np.abs(x)) / (1 + np.exp(-np.abs(x))))


def softplus(x):
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


UNARY = {
    'acos': np.arccos, 'acosh': np.arccosh, 'asin': np.arcsin, 'asinh': np.arcsinh,
    'atan': np.arctan, 'atanh': np.arctanh, 'cos': np.cos, 'cosh': np.cosh, 'erf': erf,
    'exp': np.exp, 'log': np.log, 'reciprocal': lambda x: 1 / x, 'sigmoid': sigmoid,
    'sin': np.sin, 'sinh': np.sinh, 'softplus': softplus,
    'softsign': lambda x: np.where(np.isinf(x), np.nan, x / (1 + np.abs(x))), 'sqrt': np.sqrt,
    'tan': np.tan, 'tanh': np.tanh, 'mish': lambda x: x * np.tanh(softplus(x)),
    'hard_swish': lambda x: x * np.clip(x / 6 + 0.5, 0, 1),
}
DOMAIN = {'acos': (-1, 1), 'asin': (-1, 1), 'atanh': (-1, 1), 'acosh': (1, 8), 'log': (0, 16),
          'sqrt': (0, 16)}


@recipe(' '.join(UNARY), EVERY)
def unary(g):
    key, t = g.row.key, g.t['T']
    lo, hi = DOMAIN.get(key, (-4, 4)) if g.chance(0.8) else (-16, 16)
    x = g.value(t, g.shape(), lo, hi)
    with np.errstate(all='ignore'):
        y = UNARY[key](wide(x))
    return g.case([x], [to(t, y)], tolerance='round')


@recipe('ceil floor round', EVERY)
def rounding(g):
    t = g.t['T']
    x = g.value(t, g.shape(), -4, 4, step=4)
    y = {'ceil': np.ceil, 'floor': np.floor, 'round': np.rint}[g.row.key](wide(x))
    return g.case([x], [to(t, y)])


def exact(x):
    """Integers as Python's, floats as doubles."""
    t = np.asarray(x)
    return wide(t) if t.dtype.kind == 'f' or t.dtype == ml.bfloat16 else t.astype(object)


@recipe('abs neg sign relu', EVERY)
def simple(g):
    t = g.t['T']
    x = g.value(t, g.shape())
    v = exact(x)
    f = {'abs': np.abs, 'neg': np.negative, 'sign': np.sign,
         'relu': lambda a: np.maximum(a, 0)}[g.row.key]
    if is_float(t):
        y = f(v) if g.row.key != 'relu' else np.where(np.isnan(v), v, np.where(v > 0, v, 0.0))
    elif g.row.key == 'sign':
        y = np.array([(a > 0) - (a < 0) for a in v.reshape(-1)], object).reshape(v.shape)
    else:
        y = np.array([f(a) for a in v.reshape(-1)], object).reshape(v.shape)
    return g.case([x], [to(t, y)], tolerance='exact' if is_int(t) else 'round')


@recipe('not', EVERY)
def logical_not(g):
    x = g.value('bool', g.shape())
    return g.case([x], [~x])


@recipe('bitwise_not', EVERY)
def bitwise_not(g):
    x = g.value(g.t['T'], g.shape())
    return g.case([x], [~x])


@recipe('celu elu leaky_relu thresholded_relu swish selu hard_sigmoid gelu shrink', EVERY)
def with_attributes(g):
    key, t = g.row.key, g.t['T']
    x = g.value(t, g.shape(), -8, 8)
    v, a = wide(x).astype(np.float64), {}
    if key in ('celu', 'elu', 'leaky_relu', 'thresholded_relu', 'swish', 'selu', 'hard_sigmoid'):
        default = {'leaky_relu': 0.01, 'selu': 1.67326319217681884765625, 'hard_sigmoid': 0.2}
        alpha = f32(default.get(key, 1.0))
        if g.chance(0.7):
            alpha = a['alpha'] = g.int(1, 15) / 8
    with np.errstate(all='ignore'):
        if key == 'celu':
            y = np.maximum(v, 0) + np.minimum(0, alpha * np.expm1(v / alpha))
        elif key == 'elu':
            y = np.where(v < 0, alpha * np.expm1(v), v)
        elif key == 'leaky_relu':
            y = np.where(v < 0, alpha * v, v)
        elif key == 'thresholded_relu':
            y = np.where(v > alpha, v, np.where(np.isnan(v), 0.0, 0.0))
        elif key == 'swish':
            y = v * sigmoid(alpha * v)
        elif key == 'selu':
            gamma = f32(1.05070102214813232421875)
            if g.chance(0.5):
                gamma = a['gamma'] = g.int(1, 15) / 8
            y = gamma * np.where(v > 0, v, alpha * np.expm1(v))
        elif key == 'hard_sigmoid':
            beta = 0.5
            if g.chance(0.5):
                beta = a['beta'] = g.int(-4, 4) / 4
            y = np.clip(alpha * v + beta, 0, 1)
        elif key == 'gelu':
            if g.chance(0.5):
                a['approximate'] = 'tanh'
                y = v * sigmoid(2 * np.sqrt(2 / np.pi) * (v + 0.044715 * v * v * v))
            else:
                y = 0.5 * v * erfc(-v / np.sqrt(2))
        else:
            lambd, bias = 0.5, 0.0
            if g.chance(0.8):
                lambd, bias = g.int(0, 8) / 4, g.int(-8, 8) / 4
                a['lambd'], a['bias'] = lambd, bias
            if is_int(t):
                return shrink_integers(g, x, lambd, bias, a)
            y = np.where(v < -lambd, v + bias, np.where(v > lambd, v - bias, 0.0))
    return g.case([x], [to(t, y)], a, 'sum' if key == 'gelu' else 'round')


def shrink_integers(g, x, lambd, bias, a):
    """Computed as floats and truncated; within the type, so that nothing overflows."""
    t = g.t['T']
    x = g.plain(t, x.shape, -20, 20)
    v = x.astype(np.float64)
    y = np.trunc(np.where(v < -lambd, v + bias, np.where(v > lambd, v - bias, 0.0)))
    g.need(np.all((y >= limits(t)[0]) & (y <= limits(t)[1])), 'overflow')
    return g.case([x], [to(t, y.astype(np.int64))], a)


def truncated(a, b):
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


INTEGER = {
    'add': lambda a, b: a + b, 'sub': lambda a, b: a - b, 'mul': lambda a, b: a * b,
    'div': truncated, 'bitwise_and': lambda a, b: a & b, 'bitwise_or': lambda a, b: a | b,
    'bitwise_xor': lambda a, b: a ^ b,
}
FLOAT = {'add': np.add, 'sub': np.subtract, 'mul': np.multiply, 'div': np.divide}


def each(f, a, b):
    """f over broadcast Python integers."""
    a, b = np.broadcast_arrays(a.astype(object), b.astype(object))
    out = np.empty(a.shape, object)
    for i in np.ndindex(a.shape):
        out[i] = f(int(a[i]), int(b[i]))
    return out


@recipe('add sub mul div bitwise_and bitwise_or bitwise_xor', BROAD)
def binary(g):
    key, t = g.row.key, g.t['T']
    sa, sb = g.pair()
    a, b = g.value(t, sa), g.value(t, sb)
    if is_int(t):
        if key == 'div':
            b = np.where(b == 0, np.ones((), b.dtype), b)
        return g.case([a, b], [to(t, each(INTEGER[key], a, b))])
    with np.errstate(all='ignore'):
        return g.case([a, b], [to(t, FLOAT[key](wide(a), wide(b)))])


@recipe('bit_shift', BROAD)
def bit_shift(g):
    t = g.t['T']
    sa, sb = g.pair()
    a, b = g.value(t, sa, -50, 50), g.plain(t, sb, 0, INT_BITS[t] - 1)
    left = g.chance(0.5)
    y = each(lambda v, n: v << n if left else v >> n, a, b)
    return g.case([a, b], [to(t, y)], {'direction': 'LEFT' if left else 'RIGHT'})


@recipe('and or xor', BROAD)
def logical(g):
    sa, sb = g.pair()
    a, b = g.value('bool', sa), g.value('bool', sb)
    f = {'and': np.logical_and, 'or': np.logical_or, 'xor': np.logical_xor}[g.row.key]
    return g.case([a, b], [f(a, b)])


@recipe('equal greater greater_or_equal less less_or_equal', BROAD)
def compare(g):
    t = g.t['T']
    sa, sb = g.pair()
    a, b = g.value(t, sa, -2, 2, step=1), g.value(t, sb, -2, 2, step=1)
    f = {'equal': np.equal, 'greater': np.greater, 'greater_or_equal': np.greater_equal,
         'less': np.less, 'less_or_equal': np.less_equal}[g.row.key]
    x, y = (a, b) if t in ('bool', 'string') else (exact(a), exact(b))
    return g.case([a, b], [np.asarray(f(x, y)).astype(bool)])


@recipe('max min sum mean', BROAD)
def variadic(g):
    key, t = g.row.key, g.t['T']
    dims = g.shape(1 if g.cls == 'broadcast' else 0)
    n = g.int(1, 4) if g.cls != 'broadcast' else g.int(2, 4)
    xs = [g.value(t, dims if k == 0 else g.partner(dims)) for k in range(n)]
    v = [exact(x) for x in xs]
    y = v[0]
    with np.errstate(all='ignore'):
        for b in v[1:]:
            if key in ('max', 'min') and is_int(t):
                y = each(max if key == 'max' else min, y, b)
            else:
                y = {'max': np.maximum, 'min': np.minimum, 'sum': np.add, 'mean': np.add}[key](y, b)
        y = y / n if key == 'mean' else y
    return g.case(xs, [to(t, y)], tolerance='exact' if is_int(t) else 'round')


@recipe('mod', BROAD)
def mod(g):
    """fmod must be 1 for floats by the specification; the library takes 0 as Python's % too."""
    t = g.t['T']
    sa, sb = g.pair()
    a, b = g.value(t, sa, -9, 9), g.value(t, sb)
    if is_int(t):
        b = np.where(b == 0, np.ones((), b.dtype), b)
        how = g.int(0, 1)
        f = (lambda p, q: p % q) if not how else (lambda p, q: p - q * truncated(p, q))
        return g.case([a, b], [to(t, each(f, a, b))], {'fmod': how} if how or g.chance(0.5) else {})
    with np.errstate(all='ignore'):
        return g.case([a, b], [to(t, np.fmod(wide(a), wide(b)))], {'fmod': 1}, 'round')


@recipe('prelu', BROAD)
def prelu(g):
    """The slope broadcasts to the input, one way."""
    t = g.t['T']
    dims = g.shape(1 if g.cls == 'broadcast' else 0)
    x, s = g.value(t, dims), g.value(t, g.partner(dims))
    if is_int(t):
        return g.case([x, s], [to(t, each(lambda a, b: a if a >= 0 else a * b, x, s))])
    v = wide(x)
    with np.errstate(all='ignore'):
        return g.case([x, s], [to(t, np.where(v < 0, v * wide(s), v))], tolerance='round')


@recipe('pow', BROAD)
def power(g):
    """Integers to integer powers stay small enough to be exact; a negative power of an integer is
    the reciprocal, truncated (undefined for 0, which is left out)."""
    t, t1 = g.t['T'], g.t['T1']
    sa, sb = g.pair()
    a = g.plain(t, sa, -3, 3, 2) if g.chance(0.7) else g.plain(t, sa, 0, 4, 2)
    b = g.plain(t1, sb, 0 if is_int(t) else -3, 3, 1 if g.chance(0.5) and not is_int(t) else 1)
    if not is_int(t) and is_float(t1) and np.all(wide(a) > 0):
        b = g.plain(t1, sb, -3, 3, 4)
    x, y = wide(a).astype(np.float64), wide(b).astype(np.float64)
    with np.errstate(all='ignore'):
        z = np.power(x, y)
    if is_int(t):
        return g.case([a, b], [to(t, np.trunc(z).astype(np.int64))])
    return g.case([a, b], [to(t, z)], tolerance='round')


@recipe('clip', 'zero scalar rank8')
def clip(g):
    t = g.t['T']
    x = g.value(t, g.shape(), -8, 8)
    lo = g.plain(t, [], -4, 2) if g.chance(0.7) else None
    hi = g.plain(t, [], 0, 4) if g.chance(0.7) else None
    y = exact(x)
    if lo is not None:
        m = exact(lo)
        y = np.where(y < m, m, y)
    if hi is not None:
        m = exact(hi)
        y = np.where(y > m, m, y)
    return g.case([x, lo, hi], [to(t, y)], tolerance='exact' if is_int(t) else 'round')


@recipe('where', BROAD)
def where(g):
    t = g.t['T']
    dims = g.shape(1 if g.cls == 'broadcast' else 0)
    c = g.value('bool', g.partner(dims))
    x, y = g.value(t, dims), g.value(t, g.partner(dims))
    cc, xx, yy = np.broadcast_arrays(c, x, y)
    out = np.empty(cc.shape, NP[t])
    for i in np.ndindex(cc.shape):
        out[i] = xx[i] if cc[i] else yy[i]
    return g.case([c, x, y], [out])


@recipe('isinf isnan', EVERY)
def classify(g):
    t = g.t['T1']
    x, a = g.value(t, g.shape(), special=0.5), {}
    v = wide(x)
    if g.row.key == 'isnan':
        return g.case([x], [np.isnan(v)])
    neg, pos = g.int(0, 1), g.int(0, 1)
    if g.chance(0.7):
        a = {'detect_negative': neg, 'detect_positive': pos}
    else:
        neg = pos = 1
    y = (np.isposinf(v) & bool(pos)) | (np.isneginf(v) & bool(neg))
    return g.case([x], [y], a)


@recipe('swi_glu', EVERY)
def swi_glu(g):
    t = g.t['T']
    dims = g.shape()
    a, b, attrs = g.plain(t, dims), g.plain(t, dims), {}
    alpha = 1.0
    if g.chance(0.5):
        alpha = attrs['alpha'] = g.int(1, 12) / 4
    v = wide(a)
    return g.case([a, b], [to(t, v * sigmoid(alpha * v) * wide(b))], attrs, 'round')
