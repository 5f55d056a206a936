# SPDX-License-Identifier: MIT
"""microsoft_quant.py: recipes of com.microsoft on quantised numbers, by ONNX Runtime; where it
divides in f32, a result may be a step away."""
import numpy as np

import nn
from registry import peer, recipe
from values import NP, ONNX, to, wide


def tensor(g, t, dims):
    return g.value(t, dims, -20, 20)


def params(g, t):
    """A scale and a zero point."""
    return np.array(g.pick([0.25, 0.5, 0.125, 1.0, 0.75]), np.float32), g.plain(t, [], -3, 9)


@recipe('ms_qlinear_add ms_qlinear_mul', 'broadcast')
def binary(g):
    t = g.t['T']
    sa, sb = g.pair(1)
    g.need(0 not in sa + sb, 'ONNX Runtime takes no empty input')
    a, b = tensor(g, t, sa), tensor(g, t, sb)
    (p, x), (q, y), (r, z) = (params(g, t) for _ in range(3))
    ins = [a, p, x, b, q, y, r, z]
    return g.case(ins, [peer(g, ins)[0]], None, 'step')


@recipe('ms_mul_integer', 'zero broadcast')
def mul_integer(g):
    t = g.t['T']
    sa, sb = g.pair(1)
    a, b = tensor(g, t, sa), tensor(g, t, sb)
    x, y = (g.plain(t, [], -3, 9) if g.chance(0.6) else None for _ in range(2))
    p = a.astype(np.int64) - (0 if x is None else int(x))
    q = b.astype(np.int64) - (0 if y is None else int(y))
    return g.case([a, x, b, y], [to('i32', p * q)])


@recipe('ms_qlinear_where', 'broadcast')
def where(g):
    t = g.t['T']
    sa, sb = g.pair(1)
    g.need(0 not in sa + sb, 'ONNX Runtime takes no empty input')
    c = g.value('bool', sa)
    x, y = tensor(g, t, sa), tensor(g, t, sb)
    (p, i), (q, j), (r, k) = (params(g, t) for _ in range(3))
    ins = [c, x, p, i, y, q, j, r, k]
    return g.case(ins, [peer(g, ins)[0]], None, 'step')


@recipe('ms_qlinear_leaky_relu ms_qlinear_sigmoid', '')
def unary(g):
    t = g.t['T']
    x = tensor(g, t, g.shape(1))
    (p, i), (q, j) = params(g, t), params(g, t)
    a = {}
    if g.row.key == 'ms_qlinear_sigmoid':
        q = np.array(1 / 128, np.float32)
    else:
        a['alpha'] = g.int(1, 6) / 8
    ins = [x, p, i, q, j]
    return g.case(ins, [peer(g, ins, a)[0]], a, 'step')


@recipe('ms_qlinear_average_pool', '')
def average_pool(g):
    t = g.t['T']
    win = nn.Window(g, g.int(1, 2), dilate=False, auto=False, inside=True)
    x = tensor(g, t, [g.int(1, 2), g.int(1, 2)] + win.size)
    (p, i), (q, j) = params(g, t), params(g, t)
    a = dict(win.a, kernel_shape=win.kernel)
    if g.chance(0.4):
        a['count_include_pad'] = 1
    ins = [x, p, i, q, j]
    return g.case(ins, [peer(g, ins, a)[0]], a, 'step')


@recipe('ms_qlinear_global_average_pool', '')
def global_pool(g):
    t = g.t['T']
    x = tensor(g, t, [g.int(1, 2), g.int(1, 3), g.int(1, 3), g.int(1, 3)])
    (p, i), (q, j) = params(g, t), params(g, t)
    a = {'channels_last': 1} if g.chance(0.4) else {}
    ins = [x, p, i, q, j]
    return g.case(ins, [peer(g, ins, a)[0]], a, 'step')


@recipe('ms_qlinear_conv', '')
def conv(g):
    """The standard one, with channels first."""
    c = nn.qlinear_conv(g)
    g.need(c is not None, 'never')
    return c


@recipe('ms_qlinear_softmax', '')
def softmax(g):
    t = g.t['T']
    x = tensor(g, t, [g.int(1, 3), g.int(2, 4)])  # of one, 256 overflows in ONNX Runtime
    p, i = params(g, t)
    q, j = np.array(1 / 256, np.float32), np.array(0 if t == 'u8' else -128, NP[t])
    a = {'axis': -1, 'opset': 13}
    ins = [x, p, i, q, j]
    return g.case(ins, [peer(g, ins, a)[0]], a, 'step')


@recipe('ms_qlinear_concat', '')
def concat(g):
    t = g.t['T8']
    g.t['TV'] = t
    (r, k), dims, ins = params(g, t), [g.int(1, 2), g.int(1, 3)], []
    for _ in range(g.int(1, 3)):
        dims[1] = g.int(1, 3)
        p, i = params(g, t)
        ins += [tensor(g, t, dims), p, i]
    ins = [r, k] + ins
    return g.case(ins, [peer(g, ins, {'axis': 1})[0]], {'axis': 1}, 'step')


@recipe('ms_matmul_integer_to_float', '')
def integer_to_float(g):
    t1, t2, t3 = g.t['T1'], g.t['T2'], g.t['T3']
    n, k, m = g.int(1, 3), g.int(1, 4), g.int(1, 3)
    a, b = tensor(g, t1, [n, k]), tensor(g, t2, [k, m])
    x = g.plain(t1, [], -3, 9) if g.chance(0.6) else None
    y = g.plain(t2, [], -3, 9) if g.chance(0.6) else None
    p, q = (to(t3, np.array(g.pick([0.25, 0.5, 0.75]))) for _ in range(2))
    c = g.plain(t3, [m]) if g.chance(0.5) else None
    v = (a.astype(np.int64) - (0 if x is None else int(x))) @ (
        b.astype(np.int64) - (0 if y is None else int(y)))
    z = v * float(p) * float(q) + (0 if c is None else wide(c))
    return g.case([a, b, p, q, x, y, c], [to(t3, z)], None, 'f32' if t3 == 'f32' else 'f16')


@recipe('ms_matmul_integer16', 'zero')
def integer16(g):
    t1, t2 = g.t['T1'], g.t['T2']
    t3 = g.t['T3'] = 'i32' if 'i16' in (t1, t2) else 'u32'
    n, k, m = 0 if g.cls == 'zero' else g.int(1, 3), g.int(1, 4), g.int(1, 3)
    a, b = g.value(t1, [n, k], -99, 99), g.value(t2, [k, m], -99, 99)
    return g.case([a, b], [to(t3, a.astype(object) @ b.astype(object) if n else np.zeros(
        [n, m], np.int64))])


@recipe('ms_qgemm', '')
def qgemm(g):
    ta, tb, tz = g.t['TA'], g.t['TB'], g.t['TYZ']
    n, k, m = g.int(1, 3), g.int(1, 4), g.int(1, 3)
    a, b = tensor(g, ta, [n, k]), tensor(g, tb, [k, m])
    (p, x), (q, y) = params(g, ta), params(g, tb)
    c = g.plain('i32', [m], -50, 50) if g.chance(0.5) else None
    v = (a.astype(np.int64) - int(x)) @ (b.astype(np.int64) - int(y)) + (0 if c is None else c)
    v = v * float(p) * float(q)
    if g.t['TY'] == 'f32':
        return g.case([a, p, x, b, q, y, c], [to('f32', v)], None, 'f32')
    g.t['TY'] = tz
    r, z = params(g, tz)
    lo, hi = (0, 255) if tz == 'u8' else (-128, 127)
    out = np.clip(np.rint(v / float(r)) + int(z), lo, hi).astype(NP[tz])
    return g.case([a, p, x, b, q, y, c, r, z], [out], None, 'step')


@recipe('ms_reduce_sum_integer', '')
def reduce_sum(g):
    t1, t2 = g.t['T1'], g.t['T2']
    g.need((t1 == 'i8') == (t2 == 'i32'), 'the sign stays')
    x = tensor(g, t1, g.shape(1))
    axes = sorted(g.rng.sample(range(x.ndim), g.int(1, x.ndim)))
    keep = g.int(0, 1)
    y = np.sum(x.astype(np.int64), tuple(axes), keepdims=bool(keep))
    return g.case([x], [to(t2, np.asarray(y))], {'axes': axes, 'keepdims': keep})


@recipe('ms_matmul_n_bits', '')
def n_bits(g):
    """Weights of four bits, two in a byte, the low one first; a scale for each block of each
    column, with zero point 8 unless given."""
    t = g.t['T1']
    g.need(g.t['T3'] in ('u8', t), 'zero points are packed or of the type of the scales')
    k, n, block = g.int(1, 40), g.int(1, 3), g.pick([16, 32])
    blocks = -(-k // block)
    a = {'K': k, 'N': n, 'bits': 4, 'block_size': block}
    x = g.plain(t, [g.int(1, 2), k], -2, 2, 2)
    w = np.array([g.int(0, 15) for _ in range(n * blocks * block)]).reshape(n, blocks, block)
    s = g.plain(t, [n, blocks], 0.125, 1)
    packed = (w[..., ::2] | w[..., 1::2] << 4).astype(np.uint8)
    zero, given = np.full([n, blocks], 8.0), None
    if g.chance(0.5):
        if g.t['T3'] == 'u8':
            z = np.array([g.int(0, 15) for _ in range(n * (blocks + blocks % 2))]).reshape(n, -1)
            given = (z[:, ::2] | z[:, 1::2] << 4).astype(np.uint8)
            zero = z[:, :blocks].astype(float)
        else:
            given = g.plain(t, [n, blocks], 0, 15, 1)
            zero = wide(given)
    real = ((w - zero[..., None]) * wide(s)[..., None]).reshape(n, -1)[:, :k]
    y = wide(x) @ real.T
    return g.case([x, packed, s, given], [to(t, y)], a,
                  {'f16': 'f16', 'bf16': 'bf16'}.get(t, 'f32'))


@recipe('ms_qlinear_reduce_mean', '')
def reduce_mean(g):
    t = g.t['T']
    x = tensor(g, t, g.shape(1))
    (p, i), (q, j) = params(g, t), params(g, t)
    axes = sorted(g.rng.sample(range(x.ndim), g.int(1, x.ndim)))
    keep = g.int(0, 1)
    v = (x.astype(float) - float(i)) * float(p)
    v = np.mean(v, tuple(axes), keepdims=bool(keep))
    lo, hi = (0, 255) if t == 'u8' else (-128, 127)
    y = np.clip(np.rint(v / float(q)) + int(j), lo, hi).astype(NP[t])
    return g.case([x, p, i, q, j], [np.asarray(y)], {'axes': axes, 'keepdims': keep}, 'step')


@recipe('ms_dynamic_quantize_matmul', '')
def dynamic_matmul(g):
    t = g.t['T2']
    n, k, m = g.int(1, 3), g.int(1, 4), g.int(1, 3)
    a, b = g.plain('f32', [n, k]), tensor(g, t, [k, m])
    p, i = params(g, t)
    c = g.plain('f32', [m]) if g.chance(0.5) else None
    ins = [a, b, p, i if g.chance(0.7) else None, c]
    g.need(np.ptp(np.append(a, 0)) > 0, 'no range')
    return g.case(ins, [peer(g, ins)[0]], None, 'f32')


@recipe('ms_matmul_bnb4', '')
def bnb4(g):
    """Weights by a table of 16 numbers; the high half of a byte comes first."""
    t = g.t['T1']
    k, n, block = 16 * g.int(1, 2), g.int(1, 3), 16
    a = {'K': k, 'N': n, 'block_size': block, 'quant_type': g.int(0, 1)}
    x = g.plain('f32', [g.int(1, 2), k], -2, 2, 2)
    w = np.array([g.int(0, 255) for _ in range(n * k // 2)], np.uint8)
    s = g.plain('f32', [n * k // block], 0.125, 1)
    y = peer(g, [x, w, s], a)[0]
    return g.case([to(t, x), w, to(t, s)], [to(t, y)], a, 'peer' if t == 'f32' else t)


@recipe('ms_gather_block_quantized', '')
def gather_blocks(g):
    t, u, block = g.t['T1'], g.t['T2'], 16
    rows, columns = g.int(2, 4), g.int(1, 40)
    a = {'block_size': block, 'gather_axis': 0, 'quantize_axis': 1}
    i = np.array([g.int(-rows, rows - 1) for _ in range(g.int(1, 3))], NP[g.t['Tind']])
    blocks = -(-columns // block)
    s = g.plain(u, [rows, blocks], 0.125, 1)
    zeros = None
    if t == 'u8':
        a['bits'] = 8
    if t in ('u8', 'i4', 'u4') and g.chance(0.5):
        zeros = g.plain(t, [rows, blocks], 0, 7)
    x = g.plain(t, [rows, columns], -8, 15)
    middle = np.full([rows, blocks], 128.0 if t == 'u8' else 0.0) if zeros is None else \
        zeros.astype(float)

    def spread(e):
        return np.repeat(e, block, 1)[:, :columns]
    v = (x.astype(float) - spread(middle)) * spread(wide(s))
    return g.case([x, i, s, zeros], [to(u, v[i.astype(int)])], a, 'round')


@recipe('ms_matmul_fp8_weight', '')
def fp8_weight(g):
    t, k, n, block = g.t['T'], g.int(1, 9), g.int(1, 3), 4
    x, w = g.plain(t, [g.int(1, 2), k]), g.plain('f8e4m3fn', [n, k])
    s = g.plain('f32', [n, -(-k // block)], 0.125, 1)
    b = g.plain(t, [n]) if g.chance(0.5) else None
    real = wide(w) * np.repeat(wide(s), block, 1)[:, :k]
    y = wide(x) @ real.T + (0 if b is None else wide(b))
    return g.case([x, w, s, None, b], [to(t, y)], {'block_size': block}, t)



@recipe('ms_gemm_float8', '')
def gemm_float8(g):
    """Without scales: a Gemm whose result is cast to dtype."""
    ta, tb, r = g.t['TA'], g.t['TB'], g.t['TR']
    n, k, m = g.int(1, 3), g.int(1, 4), g.int(1, 3)
    x, w = g.plain(ta, [n, k], -2, 2, 2), g.plain(tb, [m, k], -2, 2, 2)
    by = g.int(1, 6) / 4
    a = {'transB': 1, 'alpha': by, 'dtype': ONNX[r]}
    y = by * (wide(x) @ wide(w).T)
    return g.case([x, w], [to(r, y)], a, 'round')
