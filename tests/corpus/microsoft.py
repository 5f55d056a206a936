# SPDX-License-Identifier: MIT
"""microsoft.py: recipes of com.microsoft on floats: from the descriptions where they are formulas,
else by ONNX Runtime, in f32; narrower types get the same numbers, which they hold exactly."""
import numpy as np

import nn
from pointwise import erfc, exact, f32, sigmoid
from registry import peer, recipe
from values import is_int, to, wide

RANKED = 'zero rank8'
EVERY = 'zero scalar rank8'
NEAR = {'f16': 'f16', 'bf16': 'bf16', 'f32': 'f32', 'f64': 'f32'}


def near(t):
    return NEAR[t]


def tanh_gelu(v):
    return v * sigmoid(2 * 0.7978845608028654 * (v + 0.044715 * v**3))


def erf_gelu(v):
    return 0.5 * v * erfc(-v / np.sqrt(2))


@recipe('ms_fast_gelu ms_bias_gelu', RANKED)
def gelu(g):
    t = g.t['T']
    x = g.plain(t, g.shape(1))
    need = g.row.key == 'ms_bias_gelu'
    b = g.plain(t, [x.shape[-1]]) if need or g.chance(0.6) else None
    v = wide(x) + (0 if b is None else wide(b))
    y = erf_gelu(v) if need else tanh_gelu(v)
    return g.case([x, b], [to(t, y)], None, near(t))


@recipe('ms_gated_add', RANKED)
def gated_add(g):
    """The product is rounded before the sum."""
    t = g.t['T']
    dims = g.shape(1)
    x, y, gate = g.plain(t, dims), g.plain(t, dims), g.plain(t, dims[:-1] + [1])
    return g.case([x, y, gate], [to(t, wide(x) + wide(to(t, wide(gate) * wide(y))))], None,
                  'round')


@recipe('ms_scaled_silu', EVERY)
def scaled_silu(g):
    """Rounded after each of the three steps."""
    t, m = g.t['T'], g.t['M']
    x, a, by, given = g.plain(t, g.shape()), {}, 1.0, None
    if g.chance(0.4):
        by = a['alpha'] = g.int(1, 8) / 4
    if g.chance(0.4):
        by = g.int(1, 8) / 4
        given = to(m, np.array(by))
    z = wide(to(t, wide(x) * by))
    y = z * wide(to(t, sigmoid(z)))
    return g.case([x, given], [to(t, y)], a, 'round' if t == 'f32' else near(t))


@recipe('ms_gated_rms_norm', 'zero')
def gated_rms_norm(g):
    t, h, c = g.t['T'], g.int(1, 2), g.int(1, 3)
    x = g.plain(t, [nn.batch(g), g.int(1, 2), h * c])
    s, gate = g.plain(t, [c]), g.plain(t, x.shape)
    a = {'epsilon': 0.125}
    name = g.pick(['silu', 'swish', 'sigmoid'])
    if name != 'silu' or g.chance(0.3):
        a['activation'] = name
    v = wide(x).reshape(x.shape[:2] + (h, c))
    y = v / np.sqrt((v * v).mean(-1, keepdims=True) + 0.125) * wide(s)
    z = wide(gate)
    y = y.reshape(x.shape) * sigmoid(z) * (z if name != 'sigmoid' else 1)
    return g.case([x, s, gate], [to(t, y)], a, near(t))


@recipe('ms_branchwise_rms_norm', 'zero')
def branchwise(g):
    t, m, c, h = g.t['T'], g.t['M'], g.int(1, 3), g.int(1, 3)
    flat = g.chance(0.5)
    n = nn.batch(g)
    x = g.plain(t, [n, 2, c * h] if flat else [n, 2, c, h])
    a = {'epsilon': 0.125}
    if flat:
        a['num_branches'] = c
    s = g.plain(m, g.pick([[c * h], [c, h], [h]])) if g.chance(0.7) else None
    v = wide(x).reshape(n, 2, c, h)
    y = v / np.sqrt((v * v).mean(-1, keepdims=True) + 0.125)
    if s is not None:
        y = y * (wide(s) if s.shape == (h,) and c * h != h else wide(s).reshape(c, h))
    return g.case([x, s], [to(t, y.reshape(x.shape))], a, near(t))


@recipe('ms_embed_layer_normalization')
def embed(g):
    t, n, s, h = g.t['T'], g.int(1, 2), g.int(1, 3), g.int(2, 4)
    ids = np.array([[g.int(0, 4) for _ in range(s)] for _ in range(n)], np.int32)
    words, places = g.plain(t, [5, h]), g.plain(t, [4, h])
    segments = kinds = None
    v = wide(words)[ids] + wide(places)[:s]
    if g.chance(0.6):
        segments = np.array([[g.int(0, 1) for _ in range(s)] for _ in range(n)], np.int32)
        kinds = g.plain(t, [2, h])
        v = v + wide(kinds)[segments]
    gamma, beta = g.plain(t, [h]), g.plain(t, [h])
    y = (v - v.mean(-1, keepdims=True)) / np.sqrt(v.var(-1, keepdims=True) + 0.125)
    y = y * wide(gamma) + wide(beta)
    return g.case([ids, segments, words, places, kinds, gamma, beta], [to(t, y)],
                  {'epsilon': 0.125}, near(t))


@recipe('ms_bias_dropout ms_bitmask_dropout ms_bitmask_bias_dropout', 'zero')
def dropout(g):
    """Without training; the mask of bits has a word for each 32 elements."""
    t = g.t['T']
    x = g.plain(t, g.shape(1, 3))
    bits, biased = 'bitmask' in g.row.key, 'bias' in g.row.key
    ratio = to(g.t['T1'], np.array(0.5)) if g.chance(0.5) else None
    b = g.plain(t, x.shape[-1:])
    r = g.plain(t, x.shape) if g.chance(0.5) else None
    y = wide(x) + (wide(b) + (0 if r is None else wide(r)) if biased else 0)
    ins = [x, b, r, ratio] if biased else [x, ratio]
    mask = np.ones(x.shape, bool)
    return g.case(ins, [to(t, y), mask], None, 'round', [True, not bits and g.chance(0.5)])


@recipe('ms_bias_add', 'zero')
def bias_add(g):
    t = g.t['T']
    n, s, c = nn.batch(g), g.int(1, 3), g.int(1, 4)
    x, b, skip = g.plain(t, [n, s, c]), g.plain(t, [c]), g.plain(t, [n, s, c])
    return g.case([x, b, skip], [to(t, wide(x) + wide(b) + wide(skip))], None, near(t))


@recipe('ms_bias_split_gelu', 'zero')
def bias_split_gelu(g):
    """The left half times gelu of the right one."""
    t = g.t['T']
    n, s, c = nn.batch(g), g.int(1, 3), g.int(1, 3)
    x, b = g.plain(t, [n, s, 2 * c]), g.plain(t, [2 * c])
    v = wide(x) + wide(b)
    return g.case([x, b], [to(t, v[..., :c] * erf_gelu(v[..., c:]))], None, near(t))


@recipe('ms_skip_layer_normalization ms_skip_simplified_layer_normalization', 'zero')
def skip_norm(g):
    t, simple = g.t['T'], 'simplified' in g.row.key
    dims = [nn.batch(g), g.int(1, 3), g.int(2, 4)] if g.chance(0.7) else [nn.batch(g), g.int(2, 4)]
    x, gamma = g.plain(t, dims), g.plain(t, dims[-1:])
    skip = g.plain(t, dims)
    beta = g.plain(t, dims[-1:]) if not simple and g.chance(0.6) else None
    bias = g.plain(t, dims[-1:]) if g.chance(0.5) else None
    a = {'epsilon': g.pick([0.125, 0.001])}
    v = wide(x) + wide(skip) + (0 if bias is None else wide(bias))
    s = to(t, v)
    mean = 0 if simple else v.mean(-1, keepdims=True)
    inverse = 1 / np.sqrt(((v - mean)**2).mean(-1, keepdims=True) + f32(a['epsilon']))
    y = (v - mean) * inverse * wide(gamma) + (0 if beta is None else wide(beta))
    ins = [x, skip, gamma, bias] if simple else [x, skip, gamma, beta, bias]
    return g.case(ins, [to(t, y), None, None, s], a, near(t), [True, False, False, g.chance(0.6)])


@recipe('ms_group_norm ms_skip_group_norm', 'zero')
def group_norm(g):
    """Channels last; with an activation, y sigmoid(y)."""
    t, m = g.t['T'], g.t['M']
    groups = g.int(1, 2)
    n, h, w, c = nn.batch(g), g.int(1, 3), g.int(1, 3), groups * g.int(1, 2)
    x, gamma, beta = g.plain(t, [n, h, w, c]), g.plain(m, [c]), g.plain(m, [c])
    a = {'groups': groups, 'epsilon': 0.125, 'activation': g.int(0, 1)}
    v, ins, skipped = wide(x), [x, gamma, beta], g.row.key == 'ms_skip_group_norm'
    if skipped:
        skip = g.plain(t, [n, h, w, c])
        bias = g.plain(t, [c]) if g.chance(0.5) else None
        v = v + wide(skip) + (0 if bias is None else wide(bias))
        ins += [skip, bias]
    s = v
    k = v.reshape(n, h * w, groups, c // groups)
    y = (k - k.mean((1, 3), keepdims=True)) / np.sqrt(k.var((1, 3), keepdims=True) + 0.125)
    y = y.reshape(v.shape) * wide(gamma) + wide(beta)
    if a['activation']:
        y = y * sigmoid(y)
    outs = [to(t, y)] + ([to(t, s)] if skipped else [])
    return g.case(ins, outs, a, near(t))


def activate(g, a, key='activation'):
    name = g.pick(['Relu', 'LeakyRelu', 'Tanh', 'Sigmoid', 'HardSigmoid'])
    a[key] = name
    p, q = g.int(1, 8) / 8, g.int(1, 8) / 8
    f = {'Relu': lambda v: np.maximum(v, 0), 'LeakyRelu': lambda v: np.where(v < 0, p * v, v),
         'Tanh': np.tanh, 'Sigmoid': sigmoid, 'HardSigmoid': lambda v: np.clip(p * v + q, 0, 1)}
    return f[name], [p] if name == 'LeakyRelu' else [p, q] if name == 'HardSigmoid' else []


@recipe('ms_fused_matmul ms_fused_matmul_activation', 'zero')
def fused_matmul(g):
    t, a = g.t['T'], {}
    n, k, m = g.int(1, 3), g.int(1, 4), g.int(1, 3)
    outer = [nn.batch(g)] if g.chance(0.5) or g.cls == 'zero' else []
    ta, tb = g.chance(0.4), g.chance(0.4)
    x, y = g.plain(t, outer + ([k, n] if ta else [n, k])), g.plain(t, outer + (
        [m, k] if tb else [k, m]))
    if ta:
        a['transA'] = 1
    if tb:
        a['transB'] = 1
    by = 1.0
    if g.chance(0.6):
        by = a['alpha'] = g.int(-6, 6) / 4
    z = by * np.matmul(np.swapaxes(wide(x), -1, -2) if ta else wide(x),
                       np.swapaxes(wide(y), -1, -2) if tb else wide(y))
    if g.row.key == 'ms_fused_matmul_activation':
        f, p = activate(g, a)
        z = f(z)
        a.update(zip(('activation_alpha', 'activation_beta'), p))
    return g.case([x, y], [to(t, z)], a, near(t) if t != 'f64' else 'sum')


@recipe('ms_fused_gemm', 'zero')
def fused_gemm(g):
    t, a = g.t['T'], {}
    n, k, m = 0 if g.cls == 'zero' else g.int(1, 3), g.int(1, 4), g.int(1, 3)
    x, w = g.plain(t, [n, k]), g.plain(t, [k, m])
    c = g.plain(t, [m]) if g.chance(0.6) else None
    y = np.matmul(exact(x), exact(w)) + (0 if c is None else exact(c))
    if is_int(t):
        a['activation'] = 'Relu'
        y = np.array([max(0, v) for v in y.reshape(-1)], object).reshape(y.shape)
    else:
        f, p = activate(g, a)
        y = f(y)
        a.update(zip(('activation_alpha', 'activation_beta'), p))
    return g.case([x, w, c], [to(t, y)], a, 'exact' if is_int(t) else 'sum')


@recipe('ms_fused_conv', 'zero')
def fused_conv(g):
    t = g.t['T']
    win, group, xs, ws = nn.conv_shapes(g)
    x, w = g.plain(t, xs), g.plain(t, ws)
    b = g.plain(t, ws[:1]) if g.chance(0.5) else None
    y = nn.convolve(wide(x), wide(w), win, group)
    if b is not None:
        y = y + wide(b).reshape([-1] + [1] * win.rank)
    z = g.plain(t, y.shape) if b is not None and g.chance(0.4) else None
    if z is not None:
        y = y + wide(z)
    f, p = activate(g, win.a)
    if p:
        win.a['activation_params'] = p
    return g.case([x, w, b, z], [to(t, f(y))], win.a, 'sum')


@recipe('ms_gemm_fast_gelu', 'zero')
def gemm_fast_gelu(g):
    t = g.t['T']
    x, w = g.plain(t, [nn.batch(g), 2, 3], -1, 1), g.plain(t, [3, g.int(1, 3)], -1, 1)
    b = g.plain(t, w.shape[1:]) if g.chance(0.6) else None
    v = wide(x) @ wide(w) + (0 if b is None else wide(b))
    return g.case([x, w, b], [to(t, tanh_gelu(v))], None, near(t))


@recipe('ms_bias_softmax', '')
def bias_softmax(g):
    """The bias has the last axes of the data."""
    t = g.t['T']
    x = g.plain(t, [g.int(1, 2), g.int(1, 2), g.int(1, 3), g.int(1, 4)])
    b = g.plain(t, [1, 1] + list(x.shape[2:]))
    v = wide(x) + wide(b)
    e = np.exp(v - v.max(-1, keepdims=True))
    return g.case([x, b], [to(t, e / e.sum(-1, keepdims=True))],
                  {'axis': 3, 'is_inner_broadcast': 0}, 'sum')


@recipe('ms_rotary_embedding')
def rotary(g):
    t = g.t['T']
    n, heads, length, half = g.int(1, 2), g.int(1, 2), g.int(1, 3), g.pick([4, 8])
    size = 2 * half
    x = g.plain('f32', [n, length, heads * size], -2, 2, 4)
    rows = length + g.int(0, 2)
    at = np.array([[g.int(0, rows - 1) for _ in range(length)] for _ in range(n)], np.int64)
    cos, sin = (g.plain('f32', [rows, half], -1, 1) for _ in range(2))
    a = {'num_heads': heads, 'interleaved': g.int(0, 1)}
    v = wide(x).reshape(n, length, heads, size)
    c, s = (wide(e)[at][:, :, None] for e in (cos, sin))
    y = np.empty(v.shape)
    if a['interleaved']:
        p, q = v[..., ::2], v[..., 1::2]
        y[..., ::2], y[..., 1::2] = p * c - q * s, q * c + p * s
    else:
        p, q = v[..., :half], v[..., half:]
        y[..., :half], y[..., half:] = p * c - q * s, q * c + p * s
    return g.case([to(t, x), at, to(t, cos), to(t, sin)], [to(t, y.reshape(x.shape))], a, near(t))


@recipe('ms_attention')
def attention(g):
    """One matrix for query, key and value; masks by length or by element; a past."""
    t, m = g.t['T'], g.t['M']
    n, s, heads, size, d = g.int(1, 2), g.int(1, 3), g.int(1, 2), g.int(1, 3), g.int(1, 4)
    hidden = heads * size
    x, w = g.plain('f32', [n, s, d], -1, 1, 4), g.plain('f32', [d, 3 * hidden], -1, 1, 4)
    b = g.plain('f32', [3 * hidden], -1, 1, 4)
    a = {'num_heads': heads}
    if g.chance(0.4):
        a['unidirectional'] = 1
    past = g.plain('f32', [2, n, heads, g.int(1, 2), size], -1, 1, 4) if g.chance(0.4) else None
    total = s + (0 if past is None else past.shape[3])
    mask = None
    if g.chance(0.5):
        mask = np.array([[int(g.chance(0.7)) for _ in range(total)] for _ in range(n)], np.int32)
        mask[:, 0] = 1
    ins = [x, w, b, mask, past]
    y = peer(g, ins, a, 2, [True, past is not None])
    give = [e if e is None or e.dtype.kind == 'i' else to(t, e) for e in ins]
    return g.case(give, [to(t, v) if v is not None else None for v in y], a,
                  'peer' if t == 'f32' else near(t), [True, past is not None])


@recipe('ms_multi_head_attention')
def multi_head(g):
    t = g.t['T']
    n, s, k_len, heads, size, v_size = (g.int(1, 2), g.int(1, 3), g.int(1, 3), g.int(1, 2),
                                        g.int(1, 3), g.int(1, 3))
    q = g.plain('f32', [n, s, heads * size], -1, 1, 4)
    k = g.plain('f32', [n, k_len, heads * size], -1, 1, 4)
    v = g.plain('f32', [n, k_len, heads * v_size], -1, 1, 4)
    bias = g.plain('f32', [heads * (2 * size + v_size)], -1, 1, 4) if g.chance(0.4) else None
    more = g.plain('f32', [g.pick([1, n]), g.pick([1, heads]), s, k_len], -1, 1, 4) \
        if g.chance(0.4) else None
    a = {'num_heads': heads}
    if g.chance(0.4):
        a['scale'] = g.int(1, 6) / 4
    ins = [q, k, v, bias, None, more]
    y = peer(g, ins, a)
    return g.case([e if e is None else to(t, e) for e in ins], [to(t, y[0])], a,
                  'peer' if t == 'f32' else near(t))


@recipe('ms_group_query_attention')
def group_query(g):
    """Prompt: key and value of the whole sequence, no past."""
    t = g.t['T']
    g.need(g.t['T_CACHE'] in ('f32', 'f16', 'bf16'), 'caches of small numbers')
    g.t['T_CACHE'] = t
    n, s, kv, group, size = g.int(1, 2), g.int(1, 4), g.int(1, 2), g.int(1, 2), 8
    heads = kv * group
    q = g.plain('f32', [n, s, heads * size], -1, 1, 4)
    k, v = (g.plain('f32', [n, s, kv * size], -1, 1, 4) for _ in range(2))
    lens = np.full([n], s - 1, np.int32)
    a = {'num_heads': heads, 'kv_num_heads': kv}
    if g.chance(0.4):
        a['scale'] = g.int(1, 6) / 8
    if g.chance(0.3):
        a['softcap'] = g.int(1, 8) / 2
    if g.chance(0.3):
        a['local_window_size'] = g.int(1, 4)
    ins = [q, k, v, None, None, lens, np.array(s, np.int32)]
    y = peer(g, ins, a, 3)
    give = [e if e is None or e.dtype.kind == 'i' else to(t, e) for e in ins]
    return g.case(give, [to(t, e) for e in y], a, 'peer' if t == 'f32' else near(t))



@recipe('ms_conv_transpose_with_dynamic_pads', 'zero')
def transpose_with_pads(g):
    """The standard one with NOTSET, its pads as an input."""
    t, spatial = g.t['T'], g.int(1, 2)
    win = nn.Window(g, spatial, auto=False)
    x, w = g.plain(t, [nn.batch(g), 2] + win.size), g.plain(t, [2, g.int(1, 2)] + win.kernel)
    b = g.plain(t, w.shape[1:2]) if g.chance(0.5) else None
    pads = win.begin + win.end
    out = [s * (n - 1) + win.reach(k) - win.begin[k] - win.end[k]
           for k, (s, n) in enumerate(zip(win.stride, win.size))]
    g.need(all(o > 0 for o in out), 'nothing is left')
    win.a.pop('pads', None)
    y = np.zeros([x.shape[0], w.shape[1]] + out)
    for n, c, o in np.ndindex(x.shape[0], 2, w.shape[1]):
        for at in np.ndindex(*win.size):
            for tap in np.ndindex(*win.kernel):
                p = tuple(i * s + k * d - f for i, s, k, d, f in zip(
                    at, win.stride, tap, win.dilation, win.begin))
                if all(0 <= q < m for q, m in zip(p, out)):
                    y[(n, o) + p] += wide(x)[(n, c) + at] * wide(w)[(c, o) + tap]
    if b is not None:
        y += wide(b).reshape([-1] + [1] * spatial)
    return g.case([x, w, np.array(pads, np.int64), b], [to(t, y)], win.a, 'sum')


@recipe('ms_gemma_rotary_embedding')
def gemma(g):
    """q cos(emb) + q_rot sin(emb), for keys as well; each product in half precision."""
    n, s, d = g.int(1, 2), g.int(1, 3), g.int(1, 2) * 2
    emb = g.plain('f32', [n, s, d])
    q, qr, k, kr = (g.plain('f16', [n, 1, s, d]) for _ in range(4))
    c, z = (wide(to('f16', f(wide(emb))))[:, None] for f in (np.cos, np.sin))
    return g.case([emb, q, qr, k, kr], [to('f16', wide(q) * c + wide(qr) * z),
                                        to('f16', wide(k) * c + wide(kr) * z)], None, 'f16')
