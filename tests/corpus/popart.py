# SPDX-License-Identifier: MIT
"""popart.py: recipes of ai.graphcore's element-wise operators and of those that move elements."""
import numpy as np

import pointwise
from move import depth_to_space
from pointwise import BROAD, EVERY, each, erfc, exact, sigmoid, truncated
from registry import recipe
from values import NP, ONNX, is_int, to, wide

RANKED = 'zero rank8'


@recipe('gc_expm1 gc_log1p gc_gelu gc_gelu_erf gc_swish', EVERY)
def unary(g):
    t, key = g.t['T'], g.row.key
    x = g.value(t, g.shape(), -1 if key == 'gc_log1p' else -6, 6)
    v = wide(x)
    with np.errstate(all='ignore'):
        y = {'gc_expm1': np.expm1, 'gc_log1p': np.log1p,
             'gc_gelu': lambda v: v * sigmoid(2 * np.sqrt(2 / np.pi) * (v + 0.044715 * v**3)),
             'gc_gelu_erf': lambda v: 0.5 * v * erfc(-v / np.sqrt(2)),
             'gc_swish': lambda v: v * sigmoid(v)}[key](v)
    return g.case([x], [to(t, y)], tolerance='sum')


@recipe('gc_round gc_nearby_int', EVERY)
def rounding(g):
    """Round takes halves away from zero, NearbyInt to the even neighbour."""
    x = g.value(g.t['T'], g.shape(), step=2)
    v = wide(x)
    y = np.rint(v) if g.row.key == 'gc_nearby_int' else np.copysign(np.floor(np.abs(v) + 0.5), v)
    return g.case([x], [to(g.t['T'], y)])


@recipe('gc_scale', EVERY)
def scale(g):
    x, by = g.value(g.t['T'], g.shape()), g.int(-8, 8) / 4
    return g.case([x], [to(g.t['T'], wide(x) * by)], {'scale': by}, 'round')


@recipe('gc_square', EVERY)
def square(g):
    t = g.t['T']
    x = g.value(t, g.shape())
    y = each(lambda a, b: a * b, x, x) if is_int(t) else wide(x) * wide(x)
    return g.case([x], [to(t, y)], tolerance='exact' if is_int(t) else 'round')


@recipe('gc_atan2', BROAD)
def atan2(g):
    t = g.t['T']
    sa, sb = g.pair()
    a, b = g.value(t, sa), g.value(t, sb)
    return g.case([a, b], [to(t, np.arctan2(wide(a), wide(b)))], tolerance='round')


@recipe('gc_bitwise_and gc_bitwise_or gc_bitwise_xor gc_bitwise_xnor', BROAD)
def bits(g):
    t = g.t['T']
    sa, sb = g.pair()
    a, b = g.value(t, sa, -50, 50), g.value(t, sb, -50, 50)
    f = {'gc_bitwise_and': lambda p, q: p & q, 'gc_bitwise_or': lambda p, q: p | q,
         'gc_bitwise_xor': lambda p, q: p ^ q, 'gc_bitwise_xnor': lambda p, q: ~(p ^ q)}
    return g.case([a, b], [to(t, each(f[g.row.key], a, b))])


@recipe('gc_bitwise_not', EVERY)
def bitwise_not(g):
    return pointwise.bitwise_not(g)


@recipe('gc_fmod gc_remainder', BROAD)
def remainder(g):
    """Fmod has the sign of the dividend, Remainder that of the divisor."""
    t, floor = g.t['T'], g.row.key == 'gc_remainder'
    sa, sb = g.pair()
    a, b = g.plain(t, sa, -9, 9), g.plain(t, sb)
    b = np.where(b == 0, np.ones((), b.dtype), b).astype(b.dtype)
    if is_int(t):
        f = (lambda p, q: p % q) if floor else (lambda p, q: p - q * truncated(p, q))
        return g.case([a, b], [to(t, each(f, a, b))])
    y = np.mod(wide(a), wide(b)) if floor else np.fmod(wide(a), wide(b))
    return g.case([a, b], [to(t, y)], tolerance='round')


@recipe('gc_add_bias', RANKED)
def add_bias(g):
    t = g.t['T']
    x = g.plain(t, g.shape(2))
    b = g.plain(t, [x.shape[1]])
    y = wide(x) + wide(b).reshape([-1] + [1] * (x.ndim - 2))
    return g.case([x, b], [to(t, y)])


@recipe('gc_binary_const_scalar', EVERY)
def const_scalar(g):
    t = g.t['T']
    how, first = g.pick(['Add', 'Sub', 'Mul', 'Div', 'Pow']), g.chance(0.5)
    x, v = g.plain(t, g.shape(), 1, 4, 2), g.int(1, 3)
    g.need(how != 'Pow' or t in ('f16', 'f32', 'f64', 'bf16', 'i32', 'i64'), 'not a type of Pow')
    a, b = exact(x), np.full(x.shape, v, object if is_int(t) else float)
    a, b = (b, a) if first else (a, b)
    if is_int(t):
        f = {'Add': lambda p, q: p + q, 'Sub': lambda p, q: p - q, 'Mul': lambda p, q: p * q,
             'Div': truncated, 'Pow': lambda p, q: p**q}[how]
        y = each(f, a, b)
    else:
        y = {'Add': np.add, 'Sub': np.subtract, 'Mul': np.multiply, 'Div': np.divide,
             'Pow': np.power}[how](a, b)
    attrs = {'op': how, 'value': float(v)}
    if first:
        attrs['scalar_in_index'] = 0
    return g.case([x], [to(t, y)], attrs, 'exact' if is_int(t) else 'round')


@recipe('gc_increment_mod', EVERY)
def increment_mod(g):
    t = g.t['T']
    x, add, mod = g.plain(t, g.shape(), 0, 9), g.int(0, 5), g.int(1, 7)
    y = np.fmod(x.astype(float) + add, mod)
    return g.case([x], [to(t, y.astype(np.int64) if is_int(t) else y)],
                  {'increment': float(add), 'modulus': float(mod)}, 'exact' if is_int(t) else
                  'round')


@recipe('gc_scaled_add', EVERY)
def scaled_add(g):
    t, s = g.t['T'], g.t['S']
    dims = g.shape()
    x, y = g.plain(t, dims, 0, 4), g.plain(t, dims, 0, 4)
    p, q, a, given = 1, 1, {}, [None, None]
    whole = is_int(t) or is_int(s)
    if g.chance(0.5):
        p, q = (g.int(1, 3) if whole else g.int(1, 12) / 4 for _ in range(2))
        a = {'scale0': float(p), 'scale1': float(q)}
    else:
        p, q = (g.int(1, 3) if whole else g.int(1, 12) / 4 for _ in range(2))
        given = [to(s, np.array(v)) for v in (p, q)]
    z = p * exact(x) + q * exact(y)
    return g.case([x, y] + given, [to(t, z)], a, 'exact' if is_int(t) else 'round')


@recipe('gc_auto_loss_scale_proxy gc_detach gc_nop gc_tensor_remap', EVERY)
def same(g):
    x = g.value(g.t['T'], g.shape())
    return g.case([x], [x])


@recipe('gc_shaped_dropout', EVERY)
def shaped_dropout(g):
    x = g.value(g.t['T'], g.shape())
    return g.case([x], [x], {'shape': [1] * x.ndim, 'ratio': 0.25} if x.ndim else {'ratio': 0.25})


@recipe('gc_conv_flip_weights')
def flip_weights(g):
    group, m, c = g.int(1, 2), g.int(1, 2), g.int(1, 2)
    k = [g.int(1, 3) for _ in range(g.int(1, 2))]
    x = g.value(g.t['T'], [group * m, c] + k)
    y = x.reshape([group, m, c] + k).swapaxes(1, 2).reshape([group * c, m] + k)
    y = np.flip(y, tuple(range(2, y.ndim)))
    return g.case([x], [y], {'group': group} if group != 1 or g.chance(0.3) else {})


@recipe('gc_depth_to_space', 'zero')
def depth(g):
    return depth_to_space(g)


@recipe('gc_reshape', EVERY)
def reshape(g):
    x = g.value(g.t['T'], g.shape())
    dims = list(x.shape[::-1]) if g.chance(0.5) else [x.size]
    given = list(dims)
    if x.size and given and g.chance(0.4):
        given[g.int(0, len(given) - 1)] = -1
    g.need(x.size, 'a dim of zero stands for the input\'s')
    return g.case([x], [x.reshape(dims)], {'shape': given})


@recipe('gc_reverse', RANKED)
def reverse(g):
    x = g.value(g.t['T'], g.shape(1))
    axes = g.rng.sample(range(x.ndim), g.int(1, x.ndim))
    return g.case([x], [np.flip(x, tuple(axes))], {'dimensions': axes})


@recipe('gc_slice', RANKED)
def slicing(g):
    x = g.value(g.t['T'], g.shape(1))
    axes = g.rng.sample(range(x.ndim), g.int(1, x.ndim))
    cut, starts, ends = [slice(None)] * x.ndim, [], []
    for k in axes:
        n = x.shape[k]
        s = g.int(0, n)
        e = g.int(s, n + 1)
        cut[k] = slice(s, e)
        starts.append(s), ends.append(e)
    return g.case([x], [x[tuple(cut)]], {'starts': starts, 'ends': ends, 'axes': axes})


@recipe('gc_subsample', RANKED)
def subsample(g):
    x = g.value(g.t['T'], g.shape(1))
    by = [g.int(1, 3) for _ in x.shape]
    return g.case([x], [x[tuple(slice(None, None, k) for k in by)]], {'strides': by})


@recipe('gc_zeros gc_zeros_like', EVERY)
def zeros(g):
    dims = g.shape()
    if g.row.key == 'gc_zeros':
        t = g.t['T']
        a = {'shape': dims}
        if t != 'f32' or g.chance(0.3):
            a['dtype'] = ONNX[t]
        return g.case([], [np.zeros(dims, NP[t])], a)
    t = g.t['V']
    return g.case([g.value(g.t['T'], dims)], [np.zeros(dims, NP[t])], {'dtype': ONNX[t]})


# PopART's own numbers of types.
POPART = {'u8': 0, 'i8': 1, 'f8e4m3fnuz': 2, 'f8e5m2fnuz': 3, 'u16': 4, 'i16': 5, 'i32': 6,
          'i64': 7, 'u32': 8, 'u64': 9, 'bool': 10, 'f32': 11, 'f16': 12, 'bf16': 13, 'f64': 14}


@recipe('gc_init', EVERY)
def init(g):
    t = g.t['T']
    g.need(t in POPART, 'a type that PopART has no number for')
    dims = g.shape()
    return g.case([], [np.zeros(dims, NP[t])], {'shape': dims, 'data_type': POPART[t]})


def block(g):
    """A tensor, the axes and sizes of a block in it, and an offset inside."""
    x = g.plain(g.t['T'], g.shape(1, 4))
    g.need(x.size, 'offsets are inside')
    axes = sorted(g.rng.sample(range(x.ndim), g.int(1, min(3, x.ndim))))
    sizes = [g.int(1, x.shape[k]) for k in axes]
    at = [g.int(0, x.shape[k] - s) for k, s in zip(axes, sizes)]
    cut = [slice(None)] * x.ndim
    for k, s, o in zip(axes, sizes, at):
        cut[k] = slice(o, o + s)
    return x, np.array(at, NP[g.t['U']]), {'axes': axes, 'sizes': sizes}, tuple(cut)


@recipe('gc_dynamic_slice gc_dynamic_update gc_dynamic_add gc_dynamic_zero', 'rank8')
def dynamic(g):
    x, at, a, cut = block(g)
    key, t = g.row.key, g.t['T']
    if key == 'gc_dynamic_slice':
        return g.case([x, at], [x[cut]], a)
    y = x.copy()
    if key == 'gc_dynamic_zero':
        y[cut] = np.zeros([], x.dtype)
        return g.case([x, at], [y], a)
    part = g.plain(t, x[cut].shape)
    if key == 'gc_dynamic_add':
        y[cut] = to(t, exact(x[cut]) + exact(part))
    else:
        y[cut] = part
    return g.case([x, at, part], [y], a)


@recipe('gc_grouped_gather', RANKED)
def grouped_gather(g):
    groups = g.int(1, 3) if g.cls == 'any' else 1
    dims = ([groups] if groups > 1 else []) + g.shape(1, 3)
    x = g.value(g.t['T'], dims)
    first = int(groups > 1)
    axis = g.int(first, x.ndim - 1)
    n = x.shape[axis]
    count = g.int(1, 3) if n else 0
    i = np.array([g.int(0, n - 1) for _ in range(groups * count)], NP[g.t['I']])
    if groups > 1:
        y = np.stack([np.take(x[k], i.reshape(groups, count)[k].astype(np.int64), axis - 1)
                      for k in range(groups)])
        return g.case([x, i.reshape(groups, count)], [y], {'axis': axis, 'group_size': groups})
    return g.case([x, i], [np.take(x, i.astype(np.int64), axis)], {'axis': axis} if axis else {})


@recipe('gc_cast_then_pow2_scale gc_pow2_scale_then_cast', EVERY)
def fp8(g):
    """What is too large becomes NaN: these formats have no infinity."""
    t, k = g.t['T'], g.int(-3, 3)
    s = np.array(k, NP[g.t['I']])
    if g.row.key == 'gc_cast_then_pow2_scale':
        x = g.value(t, g.shape(), -8, 8)
        with np.errstate(all='ignore'):
            return g.case([x, s], [to('f16', wide(x) * 2.0**k)])
    from quant import to_small
    y = g.t['Y'] = g.pick(['f8e4m3fnuz', 'f8e5m2fnuz'])
    x = g.value(t, g.shape(), -200, 200)
    a = {'to': 'FLOAT8_152'} if y == 'f8e5m2fnuz' else {}
    return g.case([x, s], [to_small(wide(x) * 2.0**k, y, False)], a)

