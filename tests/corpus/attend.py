# SPDX-License-Identifier: MIT
"""attend.py: recipes of attention and rotary embedding, by onnx.reference on doubles."""
import numpy as np

from registry import recipe, reference
from values import to


@recipe('attention', 'zero')
def attention(g):
    """Heads in groups, inputs of rank 3 or 4, masks, a cache inside or outside, windows."""
    t, u, m = g.t['T1'], g.t['T2'], g.t['U']
    batch, kv, group = g.int(1, 2), g.int(1, 2), g.int(1, 2)
    if g.cls == 'zero':
        batch = 0
    heads, size, v_size, q_len, k_len = kv * group, g.int(1, 3), g.int(1, 3), g.int(1, 3), g.int(1, 4)
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

