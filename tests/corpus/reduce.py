# SPDX-License-Identifier: MIT
"""reduce.py: recipes of reductions, running sums, sorting and uniqueness."""
import functools

import numpy as np

from move import axis_of, i64
from pointwise import exact
from registry import recipe
from values import NP, is_float, is_int, limits, to, wide

RANKED = 'zero rank8'
EVERY = 'zero scalar rank8'


def logsumexp(v):
    m = np.max(v) if v.size else -np.inf
    if not np.isfinite(m):
        return m if v.size and not np.isnan(v).any() else (np.nan if v.size else -np.inf)
    return np.log(np.sum(np.exp(v - m))) + m


def mean_int(v):
    """Truncated toward zero."""
    s = sum(v)
    return abs(s) // len(v) * (1 if s >= 0 else -1) if len(v) else 0


FLOAT = {
    'reduce_sum': np.sum, 'reduce_prod': np.prod, 'reduce_l1': lambda v: np.sum(np.abs(v)),
    'reduce_l2': lambda v: np.sqrt(np.sum(v * v)), 'reduce_sum_square': lambda v: np.sum(v * v),
    'reduce_log_sum': lambda v: np.log(np.sum(v)), 'reduce_log_sum_exp': logsumexp,
    'reduce_mean': lambda v: np.sum(v) / v.size if v.size else np.nan,
    'reduce_max': lambda v: np.max(v) if v.size else -np.inf,
    'reduce_min': lambda v: np.min(v) if v.size else np.inf,
}
INTEGER = {
    'reduce_sum': sum, 'reduce_prod': lambda v: functools.reduce(lambda a, b: a * b, v, 1),
    'reduce_l1': lambda v: sum(abs(a) for a in v),
    'reduce_l2': lambda v: int(np.sqrt(float(sum(a * a for a in v)))),
    'reduce_sum_square': lambda v: sum(a * a for a in v), 'reduce_mean': mean_int,
    'reduce_max': max, 'reduce_min': min,
}


@recipe(' '.join(FLOAT), EVERY)
def reduction(g):
    key, t = g.row.key, g.t['T']
    dims = g.shape()
    lo, hi = (0, 6) if key == 'reduce_log_sum' else (-4, 4)
    rough = key in ('reduce_sum', 'reduce_prod', 'reduce_max', 'reduce_min')
    x = g.value(t, dims, lo, hi) if rough else g.plain(t, dims, lo, hi)
    axes = sorted(g.rng.sample(range(x.ndim), g.int(0, x.ndim)))
    attrs, given = {}, None
    if g.chance(0.2):
        axes = []
        if g.chance(0.5):
            given = i64([])
    elif axes:
        given = i64([k - x.ndim if g.chance(0.3) else k for k in axes])
    g.need(x.size or key != 'reduce_mean' or not is_int(t), 'no integers have no mean')
    keep = g.chance(0.5)
    if not keep or g.chance(0.5):
        attrs['keepdims'] = int(keep)
    if not axes and g.chance(0.5):
        attrs['noop_with_empty_axes'] = 1
        if key in ('reduce_sum', 'reduce_max', 'reduce_min', 'reduce_prod', 'reduce_mean'):
            return g.case([x, given], [x], attrs)
        axes = ()
        keep = True
    else:
        axes = tuple(axes or range(x.ndim))
    out = [1 if k in axes else d for k, d in enumerate(x.shape)]
    y = np.empty(out, object if is_int(t) else np.float64)
    v = exact(x) if t != 'bool' else x
    for at in np.ndindex(*out):
        part = v[tuple(slice(None) if k in axes else at[k] for k in range(x.ndim))]
        y[at] = one(key, t, np.asarray(part).reshape(-1))
    if not keep:
        y = y.reshape([d for k, d in enumerate(x.shape) if k not in axes])
    y = to(t, y) if t != 'bool' else y.astype(bool)
    return g.case([x, given], [y], attrs, 'exact' if not is_float(t) else 'sum')


def one(key, t, v):
    if is_float(t):
        with np.errstate(all='ignore'):
            return FLOAT[key](v)
    if t == 'bool':
        return (v.any() if key == 'reduce_max' else v.all()) if v.size else key == 'reduce_min'
    if v.size == 0 and key in ('reduce_max', 'reduce_min'):
        return limits(t)[0 if key == 'reduce_max' else 1]
    return INTEGER[key]([int(a) for a in v])


@recipe('argmax argmin', RANKED)
def argmax(g):
    t = g.t['T']
    x = g.value(t, g.shape(1), -2, 2, special=0, step=1)
    axis, a = axis_of(g, x.ndim, default=0)
    g.need(x.shape[axis] != 0, 'nothing to choose from')
    last, keep = g.int(0, 1), g.int(0, 1)
    a.update({k: v for k, v in (('select_last_index', last), ('keepdims', keep))
              if v != (k == 'keepdims') or g.chance(0.3)})
    v = exact(x)
    out = list(x.shape)
    out[axis] = 1
    y = np.zeros(out, np.int64)
    for at in np.ndindex(*out):
        line = [v[at[:axis] + (k,) + at[axis + 1:]] for k in range(x.shape[axis])]
        best = max(line) if g.row.key == 'argmax' else min(line)
        places = [k for k, e in enumerate(line) if e == best]
        y[at] = places[-1 if last else 0]
    return g.case([x], [y if keep else y.reshape(out[:axis] + out[axis + 1:])], a)


@recipe('cumsum cum_prod', RANKED)
def running(g):
    t = g.t['T']
    x = g.plain(t, g.shape(1), -3, 3, 4)
    axis = g.int(-x.ndim, x.ndim - 1)
    k = axis % x.ndim
    reverse, exclusive = g.int(0, 1), g.int(0, 1)
    a = {n: v for n, v in (('reverse', reverse), ('exclusive', exclusive)) if v or g.chance(0.3)}
    v = np.moveaxis(exact(x), k, 0)
    v = v[::-1] if reverse else v
    y = np.empty(v.shape, v.dtype)
    total = np.full(v.shape[1:], 0 if g.row.key == 'cumsum' else 1, v.dtype)
    for i in range(v.shape[0]):
        after = total + v[i] if g.row.key == 'cumsum' else total * v[i]
        y[i] = total if exclusive else after
        total = after
    y = np.moveaxis(y[::-1] if reverse else y, 0, k)
    given = np.array(axis, NP[g.t['T2']]).reshape([] if g.chance(0.7) else [1])
    return g.case([x, given], [to(t, y)], a, 'exact' if is_int(t) else 'sum')


@recipe('topk', RANKED)
def topk(g):
    """Equal elements are ordered by their index, as the specification says."""
    t = g.t['T']
    x = g.value(t, g.shape(1), -3, 3, special=0, step=1)
    axis, a = axis_of(g, x.ndim, default=-1)
    k, largest = g.int(0, x.shape[axis]), g.int(0, 1)
    if not largest or g.chance(0.3):
        a['largest'] = largest
    out = list(x.shape)
    out[axis] = k
    y, i = np.empty(out, x.dtype), np.empty(out, np.int64)
    v = exact(x)
    for at in np.ndindex(*(out[:axis] + [1] + out[axis + 1:])):
        line = [(-v[at[:axis] + (j,) + at[axis + 1:]] if largest else
                 v[at[:axis] + (j,) + at[axis + 1:]], j) for j in range(x.shape[axis])]
        for n, (_, j) in enumerate(sorted(line)[:k]):
            p = at[:axis] + (n,) + at[axis + 1:]
            y[p], i[p] = x[at[:axis] + (j,) + at[axis + 1:]], j
    return g.case([x, i64([k])], [y, i], a)


@recipe('unique', EVERY)
def unique(g):
    t = g.t['T']
    dims = g.shape()
    x = g.value(t, dims, -1, 1, special=0, step=1)
    a, axis = {}, None
    if x.ndim and g.chance(0.5):
        axis = g.int(0, x.ndim - 1)
        g.need(x.size or x.shape[axis] == 0, 'slices without elements')
        a['axis'] = axis - x.ndim if g.chance(0.3) else axis
    by_order = g.chance(0.5)
    if by_order:
        a['sorted'] = 0
    rows = x.reshape(-1, 1) if axis is None else np.moveaxis(x, axis, 0).reshape(
        x.shape[axis], x.size // max(1, x.shape[axis]))
    keys = [tuple(sort_key(e, t) for e in r) for r in rows]
    found = list(dict.fromkeys(keys))
    if not by_order:
        found.sort()
    first = [keys.index(k) for k in found]
    inverse = [found.index(k) for k in keys]
    counts = [keys.count(k) for k in found]
    y = x.reshape(-1)[first] if axis is None else np.take(x, first, axis)
    outs = [y, i64(first), i64(inverse), i64(counts)]
    return g.case([x], outs, a, wanted=[True] + [g.chance(0.8) for _ in range(3)])


def sort_key(e, t):
    if t == 'string':
        return e.encode()
    if t in ('c64', 'c128'):
        return (e.real, e.imag)
    return int(e) if is_int(t) else float(e)


REDUCTIONS = {'add': lambda a, b: a + b, 'mul': lambda a, b: a * b, 'max': max, 'min': min}


def scatter(g, x, places, updates, attrs):
    """updates[p] into x at places(p); with a reduction in exact numbers."""
    t, y = g.t['T'], x.copy()
    how = None
    if g.chance(0.6):
        how = g.pick(['none', 'add', 'mul', 'max', 'min'])
        attrs['reduction'] = how
        how = None if how == 'none' else how
    g.need(how is None or is_int(t) or t in ('f32', 'f64', 'f16', 'bf16'), 'reduction of this type')
    if how is None:
        for p, at in places:
            y[at] = updates[p]
        return y
    v, u = exact(x).copy(), exact(updates)
    for p, at in places:
        v[at] = REDUCTIONS[how](v[at], u[p])
        if is_float(t):
            v[at] = float(wide(to(t, v[at])))
    return to(t, v)


@recipe('scatter_elements', RANKED)
def scatter_elements(g):
    t = g.t['T']
    x = g.plain(t, g.shape(1), -3, 3, 2)
    axis, a = axis_of(g, x.ndim, default=0)
    dims = [g.int(0 if d == 0 else 1, d) for d in x.shape]
    n = x.shape[axis]
    i = np.array([g.int(-n, n - 1) for _ in range(int(np.prod(dims)))],
                 NP[g.t['Tind']]).reshape(dims)
    u = g.plain(t, dims, -3, 3, 2)
    places = []
    for p in np.ndindex(*dims):
        places.append((p, p[:axis] + (int(i[p]) % n,) + p[axis + 1:]))
    return g.case([x, i, u], [scatter(g, x, places, u, a)], a,
                  'exact' if not is_float(t) else 'round')


@recipe('scatter_nd', RANKED)
def scatter_nd(g):
    t = g.t['T']
    x = g.plain(t, g.shape(1), -3, 3, 2)
    depth = g.int(1, x.ndim)
    outer = g.pick([[2], [1], [2, 2], [0]]) if x.ndim < 7 else [2]
    if 0 in x.shape[:depth]:
        outer = [0]
    g.need(len(outer) + x.ndim - depth <= 8, 'rank')
    one_by_one = [[g.int(-d, d - 1) for d in x.shape[:depth]]
                  for _ in range(int(np.prod(outer)))]
    i = np.array(one_by_one, np.int64).reshape(outer + [depth])
    u = g.plain(t, outer + list(x.shape[depth:]), -3, 3, 2)
    places = []
    for p in np.ndindex(*u.shape):
        at = tuple(int(k) % d for k, d in zip(i[p[:len(outer)]], x.shape))
        places.append((p, at + p[len(outer):]))
    a = {}
    return g.case([x, i, u], [scatter(g, x, places, u, a)], a,
                  'exact' if not is_float(t) else 'round')
