# SPDX-License-Identifier: MIT
"""quant.py: recipes of casts and of quantisation, with the specification's own tables."""
import numpy as np

from pointwise import exact
from registry import recipe
from values import FLOATS, NP, ONNX, is_float, is_int, limits, rounded, to, wide

EVERY = 'zero scalar rank8'
FNUZ = ('f8e4m3fnuz', 'f8e5m2fnuz')
SMALL = ('f8e4m3fn', 'f8e5m2') + FNUZ
FINITE = ('f4e2m1', 'f6e2m3', 'f6e3m2')  # have neither infinity nor NaN


def to_small(v, t, saturate):
    """Doubles as float8 by the tables of Cast."""
    y, most = rounded(v, t), FLOATS[t][2]
    over = np.isinf(y)
    if saturate:
        y = np.where(over, np.copysign(most, y), y)
    elif t != 'f8e5m2':
        y = np.where(over, np.nan, y)
    if t in FNUZ:
        y = np.where(y == 0, 0.0, y)
    return y.astype(NP[t])


def to_e8m0(v, saturate, mode):
    """Positive numbers and NaN as powers of two."""
    out = np.empty(v.shape)
    for at in np.ndindex(*v.shape):
        x = v[at]
        if np.isnan(x) or np.isinf(x) and not saturate or x == 0 and not saturate:
            out[at] = np.nan
            continue
        if np.isinf(x) or x == 0:
            out[at] = 2.0**127 if x else 2.0**-127
            continue
        low = 2.0**np.floor(np.log2(x))
        up = x > low if mode == 'up' else x >= 1.5 * low if mode == 'nearest' else False
        y = low * 2 if up else low
        if not 2.0**-127 <= y <= 2.0**127:
            y = min(max(y, 2.0**-127), 2.0**127) if saturate else np.nan
        out[at] = y
    return out.astype(NP['f8e8m0'])


def cast(x, t, saturate, mode):
    """Every pair of types but those with strings."""
    s = next(k for k, v in NP.items() if v == x.dtype)
    if t == s:
        return x
    v = wide(x) if is_float(s) else x
    if t == 'bool':
        return (exact(x) != 0).astype(bool) if is_int(s) else v != 0
    if t in SMALL:
        return to_small(np.asarray(v, np.float64), t, saturate)
    if t == 'f8e8m0':
        return to_e8m0(np.asarray(v, np.float64), saturate, mode)
    if t in FINITE:
        return np.clip(rounded(v, t), -FLOATS[t][2], FLOATS[t][2]).astype(NP[t])
    if is_float(t):
        return to(t, v)
    if is_float(s):
        return to(t, np.trunc(v).astype(np.int64))
    return to(t, v.astype(object) if s != 'bool' else v.astype(np.int64))


# Texts that a type can hold, where its kind does not tell.
TEXTS = {'bool': ['1', '0'], 'f8e8m0': ['2', '1', '8', '4'], 'u2': ['0', '1', '3'],
         'u4': ['0', '1', '3', '15'], 'f4e2m1': ['1.5', '-2', '6', '-inf', '.5', '4.'],
         'f6e2m3': ['1.5', '-7', '99', '.25'],
         'f6e3m2': ['1.5', '-28', '99', '.25']}


def cast_input(g, s, t):
    dims = g.shape()
    if s == 'string':
        words = TEXTS.get(t) or (
            ['1.5', '-2', '1e1', '-0.25', '+INF', '-inf', 'NaN', '.5', '4.'] if is_float(t) else
            ['0', '1', '-2', '-1'] if t[0] == 'i' else ['7', '100', '42'])
        n = int(np.prod(dims, dtype=int))
        x = np.empty(n, object)
        x[:] = [g.pick(words) for _ in range(n)]
        return x.reshape(dims)
    if t == 'f8e8m0':
        return g.plain(s, dims, 1, 9, 4)
    if is_float(s) and is_int(t):
        lo, hi = limits(t)
        return g.plain(s, dims, max(-100, lo), min(100, hi), 4)
    if t == 'string':
        if s in SMALL + FINITE + ('f8e8m0', 'bf16'):  # of one digit: one short text
            n = int(np.prod(dims, dtype=int))
            some = [1, 2, 4, 0.5] if s == 'f8e8m0' else [0, 1, -2, 0.5, -1.5, 4]
            return np.array([g.pick(some) for _ in range(n)], float).astype(NP[s]).reshape(dims)
        return g.plain(s, dims, -9, 9)
    lo, hi = g.pick([(-4, 4), (-20, 20), (-600, 600), (-70000, 70000)])
    x = g.value(s, dims, lo, hi)
    if t in FINITE and is_float(s):
        x = np.where(np.isnan(x), np.ones([], x.dtype), x).astype(x.dtype)
    return x


def strings(x, t):
    """To and from text: the shortest decimal, with a point for floats."""
    y = np.empty(x.shape, object if t == 'string' else NP[t])
    for at in np.ndindex(*x.shape):
        if t == 'string':
            v = x[at]
            y[at] = repr(float(v)) if x.dtype.kind not in 'iub' and is_float_array(x) \
                else str(int(v))
        else:
            v = float(x[at])
            y[at] = v != 0 if t == 'bool' else np.asarray(
                to_small(np.array(v), t, True) if t in SMALL else
                to_e8m0(np.array(v), True, 'up') if t == 'f8e8m0' else
                cast(np.array(v), t, True, 'up') if t in FINITE else
                to(t, np.array(v if is_float(t) else int(v))))[()]
    return y


def is_float_array(x):
    return any(NP[k] == x.dtype for k in FLOATS)


@recipe('cast cast_like', EVERY)
def casting(g):
    s, t = g.t['T1'], g.t['T2']
    x, a = cast_input(g, s, t), {}
    saturate, mode = True, 'up'
    if s != 'string' and (t in SMALL or t == 'f8e8m0') and g.chance(0.5):
        saturate = bool(g.int(0, 1))
        a['saturate'] = int(saturate)
    if s != 'string' and t == 'f8e8m0' and g.chance(0.7):
        mode = a['round_mode'] = g.pick(['up', 'down', 'nearest'])
    y = strings(x, t) if 'string' in (s, t) and s != t else cast(x, t, saturate, mode)
    if g.row.key == 'cast':
        return g.case([x], [y], dict(a, to=ONNX[t]))
    return g.case([x, g.plain(t, [1])], [y], a)


def layout(g, dims):
    """Shape of the scale, its axis and block; and how to spread it over the input."""
    kind = g.pick(['one', 'one', 'axis', 'block']) if dims and 0 not in dims else 'one'
    a = {}
    if kind == 'one':
        return g.pick([[], [1]]) if len(dims) < 2 else [], a, lambda s: s.reshape(())
    axis = g.int(0, len(dims) - 1)
    if axis != 1 or g.chance(0.5):
        a['axis'] = axis - len(dims) if g.chance(0.4) else axis
    if kind == 'axis':
        return [dims[axis]], a, lambda s: s.reshape([-1 if k == axis else 1
                                                     for k in range(len(dims))])
    block = a['block_size'] = g.int(1, dims[axis])
    shape = list(dims)
    shape[axis] = -(-dims[axis] // block)
    cut = tuple(slice(0, d) for d in dims)
    return shape, a, lambda s: np.repeat(s, block, axis)[cut]


SCALES = [0.25, 0.5, 1.0, 2.0, 4.0]


def scales(g, t, dims):
    n = int(np.prod(dims, dtype=int))
    if t == 'i32':
        return np.array([g.int(1, 4) for _ in range(n)], np.int32).reshape(dims)
    return np.array([g.pick(SCALES if g.chance(0.8) else [0.75, 1.5] if t != 'f8e8m0' else [8.0])
                     for _ in range(n)]).astype(NP[t]).reshape(dims)


def zero_points(g, t, dims):
    if is_float(t):
        return np.zeros(dims, NP[t])
    lo, hi = limits(t)
    return g.plain(t, dims, max(lo, -3), min(hi, 5))


@recipe('quantize_linear', EVERY)
def quantize_linear(g):
    t1, t2, t3 = g.t['T1'], g.t['T2'], g.t['T3']
    dims = g.shape()
    x = g.value(t1, dims, -9, 9, special=0.15 if t3 in SMALL else 0, extreme=0)
    if t1 != 'i32' and t3 in SMALL:
        x = np.where(np.isnan(x), np.ones([], x.dtype), x).astype(x.dtype)
    shape, a, spread = layout(g, dims)
    s = scales(g, t2, shape)
    z = zero_points(g, t3, shape) if g.chance(0.6) else None
    if z is None and t3 != 'u8' or g.chance(0.2):
        a['output_dtype'] = ONNX[t3]
    elif z is None:
        t3 = 'u8'
    saturate = True
    if t3 in SMALL and g.chance(0.4):
        saturate = False
        a['saturate'] = 0
    precision = t2 if t2 in ('f32', 'f16', 'bf16') else None
    if g.chance(0.2):
        precision = g.pick(['f32', 'f16'])
        a['precision'] = ONNX[precision]
    v = np.asarray(wide(x), np.float64) / spread(np.asarray(wide(s), np.float64))
    if precision:
        v = wide(to(precision, v))
    zz = 0 if z is None else spread(np.asarray(wide(z), np.float64))
    if t3 in SMALL:
        y = to_small(v + zz, t3, saturate)
    elif t3 in FINITE:
        y = np.clip(rounded(v + zz, t3), -FLOATS[t3][2], FLOATS[t3][2]).astype(NP[t3])
    else:
        lo, hi = limits(t3)
        y = to(t3, np.clip(np.rint(v) + zz, lo, hi).astype(np.int64))
    return g.case([x, s, z], [np.broadcast_to(y, dims).astype(y.dtype)], a)


@recipe('dequantize_linear', EVERY)
def dequantize_linear(g):
    t1, t2, t3 = g.t['T1'], g.t['T2'], g.t['T3']
    dims = g.shape()
    x = g.value(t1, dims, -9, 9, special=0.03)
    shape, a, spread = layout(g, dims)
    s = scales(g, t2, shape)
    z = zero_points(g, t1, shape) if g.chance(0.6) else None
    if z is not None and t1 == 'i32':
        z = z * 0
    if t3 != t2:
        a['output_dtype'] = ONNX[t3]
    v = np.asarray(wide(x), np.float64)
    if z is not None:
        v = v - spread(np.asarray(wide(z), np.float64))
    with np.errstate(all='ignore'):
        y = to(t3, np.broadcast_to(v * spread(wide(s)), dims))
    return g.case([x, s, z], [y], a, 'round')


@recipe('dynamic_quantize_linear', EVERY)
def dynamic_quantize_linear(g):
    x = g.plain('f32', g.shape(), -9, 9)
    one = np.float32(1)
    lo, hi = (np.float32(min(0, x.min())), np.float32(max(0, x.max()))) if x.size else (0, 0)
    s = (hi - lo) / np.float32(255) if hi != lo else one
    z = np.float32(np.rint(np.clip(-lo / s, 0, 255)))
    y = np.clip(np.rint(x / s) + z, 0, 255).astype(np.uint8)
    return g.case([x], [y, np.array(s, np.float32), np.array(z, np.uint8)])

