# SPDX-License-Identifier: MIT
"""microsoft_more.py: recipes of com.microsoft's smaller operators: matrices, hashes, tokens,
crops; and FlexAttention."""
import itertools
import struct

import numpy as np

import nn
from nn import determinant
from registry import peer, recipe
from values import to, wide


@recipe('ms_inverse', '')
def inverse(g):
    """Of matrices with a determinant that is not small."""
    t, n = g.t['T'], g.int(1, 3)
    x = g.plain(t, [g.int(1, 2), n, n], step=2)
    g.need(all(abs(determinant([list(r) for r in m])) >= 1 for m in wide(x)), 'determinant')
    return g.case([x], [to(t, np.linalg.inv(wide(x)))], None, 'sum' if t != 'f16' else 'f16')


@recipe('ms_cdist', 'zero')
def cdist(g):
    t = g.t['T']
    n, m, k = nn.batch(g), g.int(1, 3), g.int(1, 4)
    a, b = g.plain(t, [n, k]), g.plain(t, [m, k])
    v = np.sum((wide(a)[:, None] - wide(b))**2, 2)
    attrs = {}
    if g.chance(0.5):
        attrs['metric'] = 'euclidean'
        v = np.sqrt(v)
    return g.case([a, b], [to(t, v)], attrs, 'sum')


@recipe('ms_complex_mul ms_complex_mul_conj', 'zero')
def complex_mul(g):
    """Real and imaginary parts side by side; the second number may be conjugated."""
    t = g.t['T']
    dims = [nn.batch(g), g.int(1, 3), 2]
    a, b = g.plain(t, dims), g.plain(t, dims)
    p, q = (wide(e)[..., 0] + 1j * wide(e)[..., 1] for e in (a, b))
    z = p * (np.conj(q) if g.row.key.endswith('conj') else q)
    return g.case([a, b], [to(t, np.stack([z.real, z.imag], -1))], None, 'sum')


@recipe('ms_is_all_finite', 'zero scalar rank8')
def all_finite(g):
    t = g.t['V']
    xs = [g.value(t, g.shape(), special=0.1) for _ in range(g.int(1, 3))]
    a = g.pick([{}, {'isinf_only': 1}, {'isnan_only': 1}])
    f = np.isinf if 'isinf_only' in a else np.isnan if 'isnan_only' in a else \
        (lambda v: ~np.isfinite(v))
    return g.case(xs, [np.array(not any(np.any(f(wide(x))) for x in xs))], a)


@recipe('ms_unfold_tensor', '')
def unfold(g):
    x = g.value(g.t['T'], g.shape(1, 3))
    dim = g.int(0, x.ndim - 1)
    size, step = g.int(1, x.shape[dim]), g.int(1, 2)
    starts = range(0, x.shape[dim] - size + 1, step)
    y = np.stack([np.moveaxis(np.take(x, range(s, s + size), dim), dim, -1) for s in starts], dim)
    return g.case([x], [y], {'dim': dim, 'size': size, 'step': step})


@recipe('ms_crop_and_resize', '')
def crop(g):
    """Corners fall on corners; outside is the value for extrapolation."""
    t = g.t['T1']
    n, c, h, w = g.int(1, 2), g.int(1, 2), g.int(2, 4), g.int(2, 4)
    x, count = g.plain('f32', [n, c, h, w]), g.int(1, 2)
    rois = g.plain('f32', [count, 4], 0, 1.25, 8)
    batch = np.array([g.int(0, n - 1) for _ in range(count)], np.int32)
    size = np.array([g.int(2, 3), g.int(2, 3)], np.int32)
    outside = g.int(0, 3) / 2
    y = np.zeros([count, c] + list(size))
    for k, i, j in np.ndindex(count, *size):
        p = [float(rois[k, a]) * (m - 1) + o * (float(rois[k, a + 2]) - float(rois[k, a])) *
             (m - 1) / (s - 1) for a, (m, o, s) in enumerate(zip((h, w), (i, j), size))]
        inside = 0 <= p[0] <= h - 1 and 0 <= p[1] <= w - 1
        for ch in range(c):
            y[k, ch, i, j] = nn.bilinear(wide(x)[batch[k], ch], *p) if inside else outside
    return g.case([to(t, x), to(t, rois), batch, size], [to(t, y)],
                  {'extrapolation_value': outside}, 'chain')


@recipe('ms_maxpool_with_mask', '')
def masked_pool(g):
    """Of one channel: with more, ONNX Runtime looks up the mask at other places."""
    win = nn.Window(g, g.int(1, 2), dilate=False, auto=False)
    g.need('pads' not in win.a, 'windows of padding alone')
    x = g.plain('f32', [1, 1] + win.size)
    m = np.array([int(g.chance(0.8)) for _ in range(x.size)], np.int32).reshape(x.shape)
    a = dict(win.a, kernel_shape=win.kernel)
    y = peer(g, [x, m], a)[0]
    g.need(np.all(np.abs(y) < 1e6), 'nothing in a window')
    return g.case([x, m], [y], a)


def murmur(data, seed):
    """MurmurHash3 of 32 bits."""
    mask, h = 0xffffffff, seed

    def rotate(v, k):
        return (v << k | v >> 32 - k) & mask
    for i in range(0, len(data) // 4 * 4, 4):
        k = struct.unpack('<I', data[i:i + 4])[0] * 0xcc9e2d51 & mask
        h = (rotate(h ^ rotate(k, 15) * 0x1b873593 & mask, 13) * 5 + 0xe6546b64) & mask
    tail = data[len(data) // 4 * 4:]
    if tail:
        k = int.from_bytes(tail, 'little') * 0xcc9e2d51 & mask
        h ^= rotate(k, 15) * 0x1b873593 & mask
    h ^= len(data)
    for shift, by in ((16, 0x85ebca6b), (13, 0xc2b2ae35), (16, 1)):
        h = (h ^ h >> shift) * by & mask
    return h


@recipe('ms_murmur_hash3', 'zero scalar rank8')
def hashes(g):
    t, u = g.t['T1'], g.t['T2']
    x, seed = g.plain(t, g.shape()), g.int(0, 99)
    flat = [murmur(e.encode() if t == 'string' else e.tobytes(), seed) for e in x.reshape(-1)]
    y = to(u, np.array(flat, object)).reshape(x.shape)
    a = {'seed': seed} if seed else {}
    if u == 'i32':
        a['positive'] = 0
    return g.case([x], [y], a)


@recipe('ms_ngram_repeat_block', '')
def ngrams(g):
    n, length, size, words = g.int(1, 2), g.int(2, 7), g.int(1, 3), 4
    ids = np.array([[g.int(0, words - 1) for _ in range(length)] for _ in range(n)], np.int64)
    s = g.plain('f32', [n, words])
    y = s.copy()
    for b in range(n):
        row = list(ids[b])
        for i in range(length - size + 1):
            if size == 1 or row[i:i + size - 1] == row[length - size + 1:]:
                y[b, row[i + size - 1]] = -np.inf
    g.need(length >= size, 'too short')
    return g.case([ids, s], [y], {'ngram_size': size})


@recipe('ms_dynamic_time_warping', '')
def warping(g):
    """The costs are all different, so that there is one cheapest path: found by listing all."""
    n, m = g.int(1, 4), g.int(1, 4)
    x = np.array(g.rng.sample(range(1, 2000), n * m), np.float32).reshape(n, m)
    best, path = None, None
    for moves in range(max(n, m) - 1, n + m - 1):
        for way in itertools.product(((1, 0), (1, 1), (0, 1)), repeat=moves):
            places = [(0, 0)]
            for p, q in way:
                places.append((places[-1][0] + p, places[-1][1] + q))
            if places[-1] == (n - 1, m - 1):
                cost = sum(float(x[p]) for p in places)
                if best is None or cost < best:
                    best, path = cost, places
    return g.case([x], [np.array(path, np.int32).T.copy()])


@recipe('ms_qattention', '')
def qattention(g):
    """By ONNX Runtime."""
    t1, t2 = g.t['T1'], g.t['T2']
    g.t['T3'] = 'f32'
    n, s, heads, size, d = g.int(1, 2), g.int(1, 3), g.int(1, 2), g.int(1, 3), g.int(1, 4)
    hidden = heads * size
    x, w = g.plain(t1, [n, s, d], -9, 9), g.plain(t2, [d, 3 * hidden], -9, 9)
    b = g.plain('f32', [3 * hidden], -1, 1)
    p, q = np.float32([0.125]).reshape(()), np.float32([0.25]).reshape(())
    a = {'num_heads': heads}
    if g.chance(0.4):
        a['unidirectional'] = 1
    ins = [x, w, b, p, q, None, g.plain(t1, [], -3, 9), g.plain(t2, [], -3, 9)]
    return g.case(ins, [peer(g, ins, a)[0]], a, 'peer')


@recipe('ms_moe', '')
def experts(g):
    """Tokens go to the k experts with the largest softmax of their scores; results are weighed by
    those, renormalised among the chosen where asked for."""
    t = g.t['T']
    n, e, d, h, k = g.int(1, 3), g.int(2, 4), g.int(1, 3), g.int(1, 3), g.int(1, 2)
    x, r = g.plain(t, [n, d], -1, 1), g.plain(t, [n, e], -2, 2)
    scores = np.sort(wide(r), 1)
    g.need(np.all(np.diff(scores, axis=1) > 1e-3), 'ties')
    u, v = g.plain(t, [e, h, d], -1, 1), g.plain(t, [e, d, h], -1, 1)
    p = g.plain(t, [e, h], -1, 1) if g.chance(0.5) else None
    q = g.plain(t, [e, d], -1, 1) if g.chance(0.5) else None
    a = {'k': k, 'activation_type': g.pick(['relu', 'identity'])}
    norm = g.chance(0.5)
    if norm:
        a['normalize_routing_weights'] = 1
    y = np.zeros([n, d])
    for i in range(n):
        w = np.exp(wide(r)[i] - wide(r)[i].max())
        w /= w.sum()
        chosen = np.argsort(-w)[:k]
        total = w[chosen].sum() if norm else 1.0
        for c in chosen:
            z = wide(u)[c] @ wide(x)[i] + (0 if p is None else wide(p)[c])
            z = np.maximum(z, 0) if a['activation_type'] == 'relu' else z
            y[i] += w[c] / total * (wide(v)[c] @ z + (0 if q is None else wide(q)[c]))
    return g.case([x, r, u, p, v, q], [to(t, y)], a, {'f32': 'f32'}.get(t, t))


@recipe('flex_attention', 'zero')
def flex_attention(g):
    """Softmax of scaled products, the scores changed by a region that doubles them or not."""
    t = g.t['T1']
    n, h, s, k, d, e = nn.batch(g), g.int(1, 2), g.int(1, 3), g.int(1, 3), g.int(1, 3), g.int(1, 3)
    q, key, v = g.plain(t, [n, h, s, d], -1, 1), g.plain(t, [n, h, k, d], -1, 1), g.plain(
        t, [n, h, k, e], -1, 1)
    a = {}
    by = 1 / np.sqrt(d)
    if g.chance(0.5):
        by = a['scale'] = g.int(1, 6) / 4
    z = by * np.matmul(wide(q), np.swapaxes(wide(key), -1, -2))
    z = np.exp(z - z.max(-1, keepdims=True)) if z.size else z
    z = z / z.sum(-1, keepdims=True)
    return g.case([q, key, v], [to(t, np.matmul(z, wide(v)))], a,
                  {'f16': 'f16', 'bf16': 'bf16', 'f32': 'f32'}.get(t, 'f32'))



@recipe('ms_remove_padding ms_restore_padding', '')
def padding(g):
    """Tokens first, then padding, each in the order of the batch."""
    t, n, s, h = g.t['T'], g.int(1, 3), g.int(1, 4), g.int(1, 3)
    counts = [g.int(1, s) for _ in range(n)]
    at = [b * s + k for b in range(n) for k in range(counts[b])]
    rest = [k for k in range(n * s) if k not in at]
    offset = np.array(at + rest, np.int32).reshape(n, s)
    if g.row.key == 'ms_restore_padding':
        x = g.plain(t, [len(at), h])
        y = np.zeros([n * s, h], x.dtype)
        y[at] = x
        return g.case([x, offset], [y.reshape(n, s, h)])
    x = g.plain(t, [n, s, h])
    sums = np.cumsum([0] + counts).astype(np.int32)
    return g.case([x, np.array(counts, np.int32)], [
        x.reshape(n * s, h)[at], offset, sums, np.array([max(counts)], np.int32)])


@recipe('ms_bifurcation_detector', '')
def bifurcation(g):
    """By ONNX Runtime."""
    words = g.int(2, 4)

    def tokens(lo, hi):
        return np.array([g.int(0, words) for _ in range(g.int(lo, hi))], np.int64)
    source, now = tokens(3, 8), tokens(2, 5)
    at = g.int(0, len(source) - 1)
    ahead = tokens(len(source) + 1 - at, len(source) + 1 - at) if g.chance(0.6) else None
    a = {'min_ngram_size': g.int(1, 2), 'max_ngram_size': g.int(2, 3)}
    ins = [source, now, np.array(at, np.int64), ahead]
    return g.case(ins, peer(g, ins, a, 2), a)


@recipe('ms_word_conv_embedding', '')
def word_conv(g):
    """By ONNX Runtime, which takes one sequence; words without a zero among their characters."""
    w, chars, size = g.int(1, 3), g.int(3, 5), g.int(1, 3)
    out, window = g.int(1, 3), g.int(1, 3)
    x = np.array([g.int(1, 4) for _ in range(w * chars)], np.int32).reshape(w, chars)
    weight, bias = g.plain('f32', [out, 1, window, size], -1, 1), g.plain('f32', [out], -1, 1)
    table = g.plain('f32', [5, size], -1, 1)
    a = {'embedding_size': out, 'conv_window_size': window, 'char_embedding_size': size}
    ins = [x, weight, bias, table]
    return g.case(ins, [peer(g, ins, a)[0]], a, 'peer')


@recipe('ms_qembed_layer_normalization', '')
def qembed(g):
    """Dequantised, added and normalised; without a mask its index is zero."""
    t, n, s, h = g.t['T2'], g.int(1, 2), g.int(1, 3), g.int(2, 4)
    ids = np.array([[g.int(0, 4) for _ in range(s)] for _ in range(n)], np.int32)
    words, places = g.value(t, [5, h], -20, 20), g.value(t, [4, h], -20, 20)
    gamma, beta = g.value(t, [h], -20, 20), g.value(t, [h], -20, 20)
    by = [np.array(g.pick([0.25, 0.125, 0.5]), np.float32) for _ in range(4)]
    zero = [g.plain(t, [], -3, 9) for _ in range(4)]
    w, p, c, b = ((e.astype(float) - float(z)) * float(k)
                  for e, k, z in zip((words, places, gamma, beta), by, zero))
    v = w[ids] + p[:s]
    y = (v - v.mean(-1, keepdims=True)) / np.sqrt(v.var(-1, keepdims=True) + 0.125) * c + b
    ins = [ids, None, words, places, None, gamma, beta, None, by[0], by[1], None, by[2], by[3],
           zero[0], zero[1], None, zero[2], zero[3]]
    return g.case(ins, [to('f32', y), np.zeros([n], np.int32)], {'epsilon': 0.125}, 'f32')
