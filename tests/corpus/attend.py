# SPDX-License-Identifier: MIT
"""attend.py: recipes of attention and rotary embedding, by onnx.reference on doubles, and of their
linear kin, step by step."""
import numpy as np

from registry import recipe, reference
from values import to, wide


@recipe('attention', 'zero')
def attention(g):
    """Heads in groups, inputs of rank 3 or 4, masks, a cache inside or outside, windows."""
    t, u, m = g.t['T1'], g.t['T2'], g.t['U']
    batch, kv, group = g.int(1, 2), g.int(1, 2), g.int(1, 2)
    if g.cls == 'zero':
        batch = 0
    heads, size, v_size = kv * group, g.int(1, 3), g.int(1, 3)
    q_len, k_len = g.int(1, 3), g.int(1, 4)
    flat, a = g.chance(0.4), {}
    cache = g.pick(['none', 'none', 'inside', 'outside'])
    past = g.int(0, 2) if cache == 'inside' else 0
    total = past + k_len

    def draw(t, heads, length, size, flat):
        return g.plain(t, [batch, length, heads * size] if flat else [batch, heads, length, size],
                       -2, 2)
    q = draw(t, heads, q_len, size, flat)
    k, v = draw(t, kv, k_len, size, flat), draw(u, kv, k_len, v_size, flat)
    if flat:
        a.update(q_num_heads=heads, kv_num_heads=kv)
    mask = None
    if g.chance(0.6):
        dims = [batch, heads, q_len, total]
        dims = [1 if n < 2 and x and g.chance(0.4) else x for n, x in enumerate(dims)]
        dims = dims[g.int(0, 2):]
        mask = g.value('bool', dims) if m == 'bool' else g.plain(m, dims, -3, 3)
    keys = [draw(t, kv, past, size, False), draw(u, kv, past, v_size, False)] if \
        cache == 'inside' else [None, None]
    lengths = None
    if cache == 'outside':
        lengths = np.array([g.int(0, k_len) for _ in range(batch)], np.int64)
    if g.chance(0.4):
        a['is_causal'] = 1
    if g.chance(0.4):
        a['scale'] = g.int(1, 6) / 4
    if g.chance(0.3):
        a['softcap'] = g.int(1, 8) / 4
    for side in ('left_window_size', 'right_window_size'):
        if g.chance(0.2):
            a[side] = g.int(0, 2)
    mode = g.int(0, 3)
    scores = g.chance(0.5)
    if scores and (mode or g.chance(0.3)):
        a['qk_matmul_output_mode'] = mode
    present = cache == 'inside'
    wanted = [True, present, present, scores]
    ins = [q, k, v, mask] + keys + [lengths]
    if batch == 0:
        y = [to(t, np.zeros([0, q_len, heads * v_size] if flat else [0, heads, q_len, v_size])),
             to(t, np.zeros([0, kv, total, size])), to(u, np.zeros([0, kv, total, v_size])),
             to(t, np.zeros([0, heads, q_len, total]))]
        return g.case(ins, y, a, 'exact', wanted)
    given = [q, k, v, mask if m == 'bool' or mask is None else np.asarray(mask, np.float64)]
    given += keys + [lengths]
    got = list(reference(g, given, a, 4, round_to=False))
    if not mode and 'softcap' in a:  # mode 0 is the raw product; onnx.reference has capped it
        raw = {n: x for n, x in a.items() if n != 'softcap'}
        got[3] = reference(g, given, raw, 4, round_to=False)[3]
    y = [to(t, got[0]), to(t, got[1]), to(u, got[2]), to(t, got[3])]
    near = next((c for c in ('bf16', 'f16') if c in (t, u)), 'f32')
    return g.case(ins, y, a, near, wanted)


@recipe('rotary_embedding', 'zero')
def rotary(g):
    t = g.t['T']
    batch, heads, length, half = g.int(1, 2), g.int(1, 2), g.int(1, 3), g.int(1, 3)
    if g.cls == 'zero':
        batch = 0
    size, a = 2 * half, {}
    if g.chance(0.4):
        a['rotary_embedding_dim'] = 2 * half
        size += g.int(0, 3)
    flat = g.chance(0.5)
    if flat or g.chance(0.2):
        a['num_heads'] = heads
    if g.chance(0.5):
        a['interleaved'] = 1
    x = g.plain(t, [batch, length, heads * size] if flat else [batch, heads, length, size])
    rows = g.int(1, 4)
    at = None
    dims = [batch, length, half]
    if g.chance(0.6):
        at = np.array([g.int(0, rows - 1) for _ in range(batch * length)], np.int64).reshape(
            batch, length)
        dims = [rows, half]
    cos, sin = g.plain(t, dims, -1, 1), g.plain(t, dims, -1, 1)
    if batch == 0:
        return g.case([x, cos, sin, at], [x], a)
    y = reference(g, [x, cos, sin, at], a)[0]
    return g.case([x, cos, sin, at], [y], a, 'sum')



@recipe('linear_attention', 'zero')
def linear_attention(g):
    """The state may be of another type than the rest; without a past it is of the query's."""
    t, state = g.t['T'], g.t['S']
    batch, kv, group, length = g.int(1, 2), g.int(1, 2), g.int(1, 2), g.int(1, 3)
    size, v_size = g.int(1, 3), g.int(1, 3)
    if g.cls == 'zero':
        batch = 0
    rule = g.pick(['linear', 'gated', 'delta', 'gated_delta'])
    a = {'q_num_heads': kv * group, 'kv_num_heads': kv}
    if rule != 'gated_delta' or g.chance(0.5):
        a['update_rule'] = rule
    by = 1 / np.sqrt(size)
    if g.chance(0.5):
        by = a['scale'] = g.int(1, 6) / 4
    q = g.plain(t, [batch, length, kv * group * size], -1, 1)
    k = g.plain(t, [batch, length, kv * size], -1, 1)
    v = g.plain(t, [batch, length, kv * v_size], -1, 1)
    past = g.plain(state, [batch, kv, size, v_size], -1, 1) if g.chance(0.6) else None
    if past is None:
        state = g.t['S'] = t
    decay = g.plain(t, [batch, length, kv * (size if g.chance(0.5) else 1)], -1, 0) \
        if 'gated' in rule else None
    beta = g.plain(t, [batch, length, kv if g.chance(0.5) else 1], 0, 1) \
        if 'delta' in rule else None
    y = np.zeros([batch, length, kv * group, v_size])
    s = np.zeros([batch, kv, size, v_size]) if past is None else np.array(wide(past))
    for b in range(batch):
        for h in range(kv):
            m = s[b, h]
            for i in range(length):
                kk = wide(k)[b, i].reshape(kv, size)[h]
                vv = wide(v)[b, i].reshape(kv, v_size)[h]
                if decay is not None:
                    d = wide(decay)[b, i].reshape(kv, -1)[h]
                    m = m * np.exp(d)[:, None]
                if beta is not None:
                    e = wide(beta)[b, i]
                    vv = e[h if e.size == kv else 0] * (vv - m.T @ kk)
                m = m + np.outer(kk, vv)
                for j in range(group):
                    qq = wide(q)[b, i].reshape(kv * group, size)[h * group + j]
                    y[b, i, h * group + j] = by * (qq @ m)
            s[b, h] = m
    return g.case([q, k, v, past, decay, beta],
                  [to(t, y.reshape(batch, length, kv * group * v_size)), to(state, s)], a,
                  'chain')


@recipe('causal_conv_with_state', 'zero')
def causal_conv(g):
    t = g.t['T']
    batch, c, length, k = g.int(1, 2), g.int(1, 3), g.int(1, 5), g.int(1, 4)
    if g.cls == 'zero':
        batch = 0
    x, w = g.plain(t, [batch, c, length]), g.plain(t, [c, 1, k])
    bias = g.plain(t, [c]) if g.chance(0.5) else None
    past = g.plain(t, [batch, c, k - 1]) if g.chance(0.5) else None
    a = {}
    if g.chance(0.6):
        a['activation'] = g.pick(['none', 'silu', 'swish'])
    head = np.zeros([batch, c, k - 1], x.dtype) if past is None else past
    whole = np.concatenate([head, x], 2)
    y = np.zeros(x.shape)
    for i in range(length):
        y[:, :, i] = np.sum(wide(whole)[:, :, i:i + k] * wide(w)[:, 0], 2)
    if bias is not None:
        y += wide(bias)[:, None]
    if a.get('activation', 'none') != 'none':
        y = y / (1 + np.exp(-y))
    near = {'f16': 'f16', 'bf16': 'bf16'}.get(t, 'sum')  # the sum may be rounded before silu
    return g.case([x, w, bias, past], [to(t, y), whole[:, :, length:]], a, near)
