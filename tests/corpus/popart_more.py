# SPDX-License-Identifier: MIT
"""popart_more.py: recipes of ai.graphcore's orders, counts, networks, losses and calls."""
import itertools

import numpy as np

from move import axis_of
from nn import Window, convolve, batch
from norm import channels, epsilon
from pointwise import exact, sigmoid
from registry import recipe
from values import NP, is_float, is_int, text, to, wide

EVERY = 'zero scalar rank8'
RANKED = 'zero rank8'


@recipe('gc_bucketize', EVERY)
def bucketize(g):
    t = g.t['T']
    x = g.plain(t, g.shape(), -3, 6, 1)
    b = np.sort(g.plain(t, [g.int(0, 4)], -2, 5, 1).astype(float))
    right = g.chance(0.5)
    y = np.searchsorted(b, x.astype(float), 'right' if right else 'left')
    return g.case([x, to(t, b.astype(np.int64) if is_int(t) else b)],
                  [np.asarray(y).astype(np.int32)], {'right': 1} if right else {})


@recipe('gc_histogram', EVERY)
def histogram(g):
    x = g.plain(g.t['T'], g.shape(), -4, 4, 1)
    levels = sorted(g.rng.sample(range(-4, 5), g.int(1, 4)))
    v = wide(x).reshape(-1)
    a = {'levels': [float(k) for k in levels]}
    if g.chance(0.4):
        a['absoluteOfInput'] = 1
        v = np.abs(v)
    at = np.searchsorted(np.array(levels, float), v, 'right')
    y = np.bincount(at, minlength=len(levels) + 1).astype(np.uint32)
    return g.case([x], [y], a)


@recipe('gc_reduce_median', RANKED)
def median(g):
    """The lower one; its index counts among what is reduced."""
    t = g.t['T']
    x = g.plain(t, g.shape(1), step=2)
    g.need(x.size, 'median of nothing')
    axes = sorted(g.rng.sample(range(x.ndim), g.int(1, x.ndim)))
    keep = g.chance(0.5)
    a = {} if keep and g.chance(0.5) else {'keepdims': int(keep)}
    if len(axes) != x.ndim or g.chance(0.5):
        a['axes'] = axes
    out = [1 if k in axes else d for k, d in enumerate(x.shape)]
    y, i = np.empty(out, x.dtype), np.empty(out, np.int32)
    for at in np.ndindex(*out):
        part = np.asarray(x[tuple(slice(None) if k in axes else at[k] for k in range(x.ndim))])
        flat = part.reshape(-1)
        order = sorted(range(flat.size), key=lambda k: (float(flat[k]), k))
        i[at] = order[(flat.size - 1) // 2]
        y[at] = flat[i[at]]
    dims = out if keep else [d for k, d in enumerate(x.shape) if k not in axes]
    return g.case([x], [y.reshape(dims), i.reshape(dims)], a, wanted=[True, g.chance(0.7)])


@recipe('gc_sort', RANKED)
def sort(g):
    t = g.t['T']
    x = g.plain(t, g.shape(1), step=1)
    axis, a = axis_of(g, x.ndim, default=-1)
    down = g.chance(0.5)
    if down:
        a['descending'] = 1
    v = exact(x)
    i = np.empty(x.shape, np.int32)
    y = np.empty(x.shape, x.dtype)
    for at in np.ndindex(*(x.shape[:axis] + (1,) + x.shape[axis + 1:])):
        line = [(-v[at[:axis] + (k,) + at[axis + 1:]] if down else
                 v[at[:axis] + (k,) + at[axis + 1:]], k) for k in range(x.shape[axis])]
        for n, (_, k) in enumerate(sorted(line)):
            p = at[:axis] + (n,) + at[axis + 1:]
            i[p], y[p] = k, x[at[:axis] + (k,) + at[axis + 1:]]
    return g.case([x], [y, i], a, wanted=[True, g.chance(0.7)])


@recipe('gc_group_normalization', RANKED)
def group_norm(g):
    t = g.t['T']
    groups = 2 if g.cls == 'rank8' else g.int(1, 3)
    dims = [1, 2, 1, 2, 1, 1, 2, 1] if g.cls == 'rank8' else \
        [g.int(1, 2), groups * g.int(1, 2)] + [g.int(1, 3) for _ in range(g.int(0, 2))]
    if g.cls == 'zero':
        dims[0] = 0
    x, a = g.plain(t, dims), {'num_groups': groups}
    eps, s, b = epsilon(g, a), g.plain(t, dims[1:2]), g.plain(t, dims[1:2])
    v = wide(x).reshape([dims[0], groups, int(np.prod(dims[1:])) // groups])
    mean = v.mean(2, keepdims=True)
    inverse = 1 / np.sqrt(v.var(2, keepdims=True) + eps)
    y = ((v - mean) * inverse).reshape(dims)
    y = y * channels(wide(s), len(dims)) + channels(wide(b), len(dims))
    outs = [to(t, y), to(t, mean.reshape(-1)), to(t, inverse.reshape(-1))]
    return g.case([x, s, b], outs, a, 'sum', [True, g.chance(0.6), g.chance(0.6)])


@recipe('gc_normalize_image', 'zero')
def normalize_image(g):
    """Three channels and a fourth of zeros."""
    t = g.t['T']
    y = g.t['S'] = g.t['Y'] = t if is_float(t) else 'f16'
    dims = [batch(g), g.int(1, 3), g.int(1, 2), 3]
    x = g.plain(t, dims, 0, 9)
    o, s = g.plain(y, [3]), g.plain(y, [3])
    by = g.int(1, 8) / 4
    v = (np.asarray(wide(x), float) * by - wide(o)) * wide(s)
    v = np.concatenate([v, np.zeros(dims[:3] + [1])], 3)
    return g.case([x, o, s], [to(y, v)], {'scale': by}, 'round')


@recipe('gc_multi_conv', 'zero')
def multi_conv(g):
    """Two convolutions of one spatial axis count, the lists of attributes after each other."""
    t, n, spatial = g.t['T'], g.int(1, 2), g.int(1, 2)
    ins, outs, a = [], [], {'strides': [], 'pads': [], 'dilations': []}
    for _ in range(n):
        win = Window(g, spatial, auto=False)
        x = g.plain(t, [batch(g), g.int(1, 2)] + win.size)
        w = g.plain(t, [g.int(1, 2), x.shape[1]] + win.kernel)
        b = g.plain(t, w.shape[:1])
        y = convolve(wide(x), wide(w), win, 1) + wide(b).reshape([-1] + [1] * spatial)
        ins += [x, w, b]
        outs.append(to(t, y))
        a['strides'] += win.stride
        a['pads'] += win.begin + win.end
        a['dilations'] += win.dilation
    a['numConvs'] = n
    return g.case(ins, outs, a, 'sum')


@recipe('gc_lstm', 'zero')
def lstm(g):
    """Gates forget, input, candidate, output; weights [4, I + H, H]; state [2, B, H]: output and
    cell."""
    t = g.t['T']
    steps, n, i, h = g.int(1, 3), batch(g), g.int(1, 3), g.int(1, 3)
    x, w = g.plain(t, [steps, n, i], -1, 1), g.plain(t, [4, i + h, h], -1, 1)
    b = g.plain(t, [4, h], -1, 1) if g.chance(0.5) else None
    s = g.plain(t, [2, n, h], -1, 1) if g.chance(0.5) else None
    lens = None
    full = g.chance(0.6)
    a = {} if full and g.chance(0.5) else {'output_full_sequence': int(full)}
    out, cell = (np.zeros([n, h]) for _ in range(2)) if s is None else (wide(s)[0], wide(s)[1])
    rows = []
    for k in range(steps):
        z = np.concatenate([wide(x)[k], out], 1)
        f, p, c, o = (z @ wide(w)[j] + (0 if b is None else wide(b)[j]) for j in range(4))
        cell = sigmoid(f) * cell + sigmoid(p) * np.tanh(c)
        out = sigmoid(o) * np.tanh(cell)
        rows.append(out)
    y = np.stack(rows) if full else out
    return g.case([x, w, b, s, lens], [to(t, y), to(t, cell)], a, 'chain', [True, g.chance(0.6)])


def reduced(g, a, v):
    how = g.pick(['Mean', 'Sum', 'NoReduction'])
    if how != 'Mean' or g.chance(0.3):
        a['reduction'] = how
    return np.asarray(np.mean(v) if how == 'Mean' else np.sum(v) if how == 'Sum' else v)


@recipe('gc_identity_loss gc_l1', 'scalar rank8')
def loss(g):
    """L1 takes no scalar."""
    t, a, by = g.t['T'], {}, 1.0
    x = g.plain(t, g.shape(0 if g.row.key == 'gc_identity_loss' else 1))
    if g.row.key == 'gc_l1' and g.chance(0.6):
        by = a['lambda'] = g.int(1, 8) / 4
    v = wide(x) if g.row.key == 'gc_identity_loss' else by * np.abs(wide(x))
    return g.case([x], [to(t, reduced(g, a, v))], a, 'sum')


@recipe('gc_nll', '')
def nll(g):
    t, a = g.t['T'], {}
    n, c = g.int(1, 4), g.int(1, 4)
    logs = g.chance(0.5)
    p = g.plain(t, [n, c], -4, 0) if logs else g.plain(t, [n, c], 0.125, 1)
    label = np.array([g.int(0, c - 1) for _ in range(n)], NP[g.t['L']])
    if logs:
        a['inputIsLogProbability'] = 1
    v = wide(p)[np.arange(n), label.astype(int)]
    v = -v if logs else -np.log(v)
    return g.case([p, label], [to(t, reduced(g, a, v))], a, 'sum')


def alignments(logs, target, blank):
    """Minus the log of the sum over every path that collapses to the target: by listing them."""
    total = -np.inf
    steps, classes = logs.shape
    for path in itertools.product(range(classes), repeat=steps):
        kept = [c for k, c in enumerate(path) if k == 0 or c != path[k - 1]]
        if [c for c in kept if c != blank] == list(target):
            total = np.logaddexp(total, sum(logs[k, c] for k, c in enumerate(path)))
    return -total


@recipe('gc_ctc')
def ctc(g):
    """Small enough to list all alignments; the gradient is left to tests/op/graphcore."""
    t, k, y = g.t['T'], g.t['L'], g.t['Y']
    y = g.t['Y'] = t
    steps, n, c, most = g.int(2, 4), g.int(1, 2), 3, 2
    x = wide(g.plain(t, [steps, n, c], -2, 2))
    x = to(t, x - np.log(np.sum(np.exp(x), 2, keepdims=True)))
    blank = g.int(0, c - 1)
    others = [v for v in range(c) if v != blank]
    lengths = [g.int(2, steps) for _ in range(n)]
    sizes = [g.int(0, 1) for _ in range(n)]
    target = [[g.pick(others) for _ in range(most)] for _ in range(n)]
    v = np.array([alignments(wide(x)[:lengths[b], b], target[b][:sizes[b]], blank)
                  for b in range(n)])
    a = {'blank': blank} if blank or g.chance(0.3) else {}
    a['reduction'] = how = g.pick(['Sum', 'NoReduction'])
    out = np.asarray(np.sum(v) if how == 'Sum' else v)
    ins = [x, np.array(target, NP[k]), np.array(lengths, NP[k]), np.array(sizes, NP[k])]
    return g.case(ins, [to(y, out)], a, 'chain')


@recipe('gc_call', EVERY)
def call(g):
    v = g.t['V']
    t = v if v not in ('seq', 'opt') else 'f32'
    x = g.value(t, g.shape())
    kind = text(x).split(' ')[0]
    lines = ['a = const ' + text(x)]
    if v == 'seq':
        lines += ['s = sequence_construct a', 'y = gc_call s {callee {v = input seq(%s); '
                  'return v}}' % kind, 'return y']
        return g.text_case(lines, ['= seq 1', '= ' + text(x)], 'exact', [x])
    if v == 'opt':
        lines += ['s = optional a', 'y = gc_call s {callee {v = input optional(%s); '
                  'return v}}' % kind, 'return y']
        return g.text_case(lines, ['= ' + text(x)], 'exact', [x])
    lines += ['y, z = gc_call a {callee {v = input %s; w = size v; return v, w}}' % kind,
              'return y, z']
    return g.text_case(lines, ['= ' + text(x), '= i64[] {%d}' % x.size], 'exact', [x])



@recipe('gc_batch_normalization', RANKED)
def batch_norm(g):
    """With one output; more of them mean training, for which there is tests/op/graphcore."""
    t, a = g.t['T'], {}
    x = g.plain(t, g.shape(3, 4))
    n = x.shape[1]
    s, b = g.plain(g.t['T1'], [n]), g.plain(g.t['T1'], [n])
    m, v = g.plain(g.t['T2'], [n], -1, 1), g.plain(g.t['T2'], [n], 0, 4)
    e = epsilon(g, a)
    ss, bb, mm, vv = (channels(wide(k), x.ndim) for k in (s, b, m, v))
    return g.case([x, s, b, m, v], [to(t, (wide(x) - mm) / np.sqrt(vv + e) * ss + bb)], a, 'sum')


@recipe('gc_sequence_slice')
def sequence_slice(g):
    """Rows of the source into the destination, one stretch after another."""
    t, u = g.t['T'], g.t['U']
    rows, columns, n = g.int(3, 6), g.int(1, 3), g.int(1, 3)
    x, y = g.plain(t, [rows, columns]), g.plain(t, [rows, columns])
    counts = [g.int(1, 2) for _ in range(n)]
    source = [g.int(0, rows - c) for c in counts]
    target = [g.int(0, rows - c) for c in counts]
    clear = g.chance(0.4)
    z = np.zeros(y.shape, y.dtype) if clear else y.copy()
    for c, p, q in zip(counts, source, target):
        z[q:q + c] = x[p:p + c]
    k = [np.array(v, NP[u]) for v in (counts, source, target)]
    return g.case([x, y] + k, [z], {'zeroUnused': 1} if clear else {})


REDUCE = {'sum': lambda p, q: p + q, 'max': max, 'min': min, 'mul': lambda p, q: p * q,
          'none': lambda p, q: q}


@recipe('gc_scatter_reduce')
def scatter_reduce(g):
    """Onto initial values; places that get nothing keep theirs."""
    t = g.t['T']
    n, m, size = g.int(1, 4), g.int(1, 3), g.int(1, 4)
    x = g.plain(t, [n, m], -3, 3, 2)
    i = np.array([[g.int(0, size - 1) for _ in range(m)] for _ in range(n)], NP[g.t['I']])
    start = g.plain(t, [size, m], -3, 3, 2)
    how = g.pick(REDUCE)
    v, u = exact(start).copy(), exact(x)
    for p in np.ndindex(n, m):
        at = (int(i[p]), p[1])
        v[at] = REDUCE[how](v[at], u[p])
        if is_float(t):
            v[at] = float(wide(to(t, v[at])))
    a = {'axis': 0, 'axis_size': size}
    if how != 'sum' or g.chance(0.3):
        a['reduction'] = how
    return g.case([x, i, start], [to(t, v)], a, 'exact' if is_int(t) else 'round')
