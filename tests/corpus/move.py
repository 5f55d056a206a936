# SPDX-License-Identifier: MIT
"""move.py: recipes of operators that move, copy and reshape elements, by numpy's own moves."""
import numpy as np

from registry import recipe
from values import NP, ONNX, is_float, is_int, to

EVERY = 'zero scalar rank8'
RANKED = 'zero rank8'


def i64(values):
    return np.array(values, np.int64)


def index(g, t, values):
    """Indices of type t, some of them as a model may write them: scalars stay scalars."""
    return np.asarray(values, NP[t])


def axis_of(g, rank, name='axis', default=None):
    """An axis from either end, and the attribute (left out where it is the default)."""
    axis = g.int(0, rank - 1)
    if default is not None and axis == default % rank and g.chance(0.5):
        return axis, {}
    return axis, {name: axis - rank if g.chance(0.4) else axis}


@recipe('identity', EVERY)
def identity(g):
    t = g.t['V']
    g.need(t not in ('opt', 'map'), 'of these no constants can be made')
    if t == 'seq':
        parts = [g.value('f32', g.shape()) for _ in range(g.int(1, 3))]
        return g.items(parts, ['y = identity s'], [parts])
    x = g.value(t, g.shape())
    return g.case([x], [x])


@recipe('concat', RANKED)
def concat(g):
    x = g.value(g.t['T'], g.shape(1))
    axis, a = axis_of(g, x.ndim)
    a = a or {'axis': axis}
    parts = [x]
    for _ in range(g.int(0, 3)):
        dims = list(x.shape)
        dims[axis] = g.int(0, 3)
        parts.append(g.value(g.t['T'], dims))
    return g.case(parts, [np.concatenate(parts, axis)], a)


@recipe('compress', RANKED)
def compress(g):
    x = g.value(g.t['T'], g.shape(1))
    if g.chance(0.4):
        c = g.value('bool', [g.int(0, x.size)])
        return g.case([x, c], [x.reshape(-1)[:c.size][c]])
    axis, a = axis_of(g, x.ndim)
    c = g.value('bool', [g.int(0, x.shape[axis])])
    return g.case([x, c], [np.compress(c, x, axis)], a or {'axis': axis})


@recipe('constant_of_shape')
def constant_of_shape(g):
    dims = g.pick([[], [0], [2, 3], [1, 0, 2], [3], [1] * 7 + [2], [9]])
    t = g.t['T2']
    if t == 'f32' and g.chance(0.5):
        return g.case([i64(dims)], [np.zeros(dims, np.float32)])
    v = g.value(t, [1])
    return g.case([i64(dims)], [np.full(dims, v[0], v.dtype)], {'value': v})


@recipe('depth_to_space space_to_depth', 'zero')
def depth_to_space(g):
    b, (n, c, h, w) = g.int(1, 3), [g.int(1, 2) for _ in range(4)]
    if g.cls == 'zero':
        n = 0
    a = {'blocksize': b}
    if g.row.key == 'space_to_depth':
        x = g.value(g.t['T'], [n, c, h * b, w * b])
        y = x.reshape(n, c, h, b, w, b).transpose(0, 3, 5, 1, 2, 4).reshape(n, c * b * b, h, w)
        return g.case([x], [y], a)
    x = g.value(g.t['T'], [n, c * b * b, h, w])
    if g.chance(0.5):
        a['mode'] = 'CRD'
        y = x.reshape(n, c, b, b, h, w).transpose(0, 1, 4, 2, 5, 3)
    else:
        y = x.reshape(n, b, b, c, h, w).transpose(0, 3, 4, 1, 5, 2)
    return g.case([x], [y.reshape(n, c, h * b, w * b)], a)


@recipe('expand', EVERY)
def expand(g):
    dims = g.shape()
    x = g.value(g.t['T'], [1 if g.chance(0.4) and d else d for d in dims])
    x = x.reshape(x.shape[next((i for i, d in enumerate(x.shape) if d != 1), 0)
                          if g.chance(0.3) else 0:])
    shape = [1 if g.chance(0.2) and d == s else d
             for d, s in zip(dims, [0] * (len(dims) - x.ndim) + list(x.shape))]
    if g.chance(0.3) and g.cls != 'rank8':
        shape = shape[len(shape) - g.int(0, len(shape)):]
    y = np.broadcast_to(x, np.broadcast_shapes(x.shape, tuple(shape)))
    return g.case([x, i64(shape)], [y])


@recipe('eye_like', 'zero')
def eye_like(g):
    dims = [g.int(1, 4), g.int(1, 4)]
    if g.cls == 'zero':
        dims[g.int(0, 1)] = 0
    k, a = g.int(-4, 4), {}
    if k or g.chance(0.5):
        a['k'] = k
    x = g.value(g.t['T1'], dims)
    t = g.t['T2']
    if t != g.t['T1'] or g.chance(0.5):
        a['dtype'] = ONNX[t]
    y = np.eye(dims[0], dims[1], k)
    return g.case([x], [y.astype(bool) if t == 'bool' else to(t, y)], a)


@recipe('flatten', EVERY)
def flatten(g):
    x = g.value(g.t['T'], g.shape())
    axis = g.int(-x.ndim, x.ndim)
    a = {} if axis == 1 else {'axis': axis}
    k = axis + x.ndim if axis < 0 else axis
    rows = int(np.prod(x.shape[:k], dtype=np.int64))
    columns = int(np.prod(x.shape[k:], dtype=np.int64))
    if x.ndim == 0:
        a, rows, columns = {'axis': 0}, 1, 1
    return g.case([x], [x.reshape(rows, columns)], a)


@recipe('gather', RANKED)
def gather(g):
    x = g.value(g.t['T'], g.shape(1))
    axis, a = axis_of(g, x.ndim, default=0)
    dims = g.pick([[], [1], [3], [2, 2], [0]]) if x.ndim < 7 else g.pick([[], [2]])
    n = x.shape[axis]
    if n == 0:
        dims = [0]
    values = [g.int(-n, n - 1) for _ in range(int(np.prod(dims, dtype=int)))]
    i = np.array(values, NP[g.t['Tind']]).reshape(dims)
    return g.case([x, i], [np.take(x, i, axis)], a)


@recipe('gather_elements', RANKED)
def gather_elements(g):
    x = g.value(g.t['T'], g.shape(1))
    axis, a = axis_of(g, x.ndim, default=0)
    dims = [g.int(0 if d == 0 else 1, d) for d in x.shape]
    dims[axis] = g.int(0, 4) if x.shape[axis] else 0
    n = x.shape[axis]
    i = np.array([g.int(-n, n - 1) for _ in range(int(np.prod(dims)))],
                 NP[g.t['Tind']]).reshape(dims)
    y = np.empty(dims, x.dtype)
    for at in np.ndindex(*dims):
        source = list(at)
        source[axis] = int(i[at])
        y[at] = x[tuple(source)]
    return g.case([x, i], [y], a)


def nd_indices(g, dims, batch, depth, outer):
    """Indices (outer dims first, depth last) into dims[batch:]."""
    count = int(np.prod(outer, dtype=int))
    one = [[g.int(-d, d - 1) for d in dims[batch:batch + depth]] for _ in range(count)]
    return np.array(one, np.int64).reshape(list(outer) + [depth])


@recipe('gather_nd', RANKED)
def gather_nd(g):
    x = g.value(g.t['T'], g.shape(1))
    batch = g.int(0, min(2, x.ndim - 1))
    depth = g.int(1, x.ndim - batch)
    middle = g.pick([[], [2], [1, 2], [0]])
    if 0 in x.shape[batch:batch + depth]:
        middle = [0]
    g.need(batch + len(middle) + x.ndim - batch - depth <= 8, 'rank')
    outer = list(x.shape[:batch]) + middle
    i = nd_indices(g, x.shape, batch, depth, outer)
    y = np.empty(tuple(outer) + x.shape[batch + depth:], x.dtype)
    for at in np.ndindex(*outer):
        y[at] = x[at[:batch] + tuple(int(v) for v in i[at])]
    return g.case([x, i], [y], {'batch_dims': batch} if batch or g.chance(0.3) else {})


@recipe('nonzero', EVERY)
def nonzero(g):
    """A scalar gives [0,1] where it is not zero: it is treated as one element without axes."""
    x = g.value(g.t['T'], g.shape(), -1, 1, step=1)
    if g.t['T'] == 'string':
        flags = np.array([s != '' for s in x.reshape(-1)], bool).reshape(x.shape)
    elif g.t['T'] in ('c64', 'c128'):
        flags = x != 0
    else:
        flags = x.astype(np.float64) != 0
    if x.ndim == 0:
        y = np.zeros((0, int(flags)), np.int64)
    else:
        y = np.array(np.nonzero(flags), np.int64).reshape(x.ndim, -1)
    return g.case([x], [y])


@recipe('one_hot', EVERY)
def one_hot(g):
    dims = g.shape()[:7]
    depth = g.int(1, 4)
    t1, t2 = g.t['T1'], g.t['T2']
    i = g.plain(t1, dims, -5, 5, step=1)
    d = to(t2, np.array(depth, object if is_int(t2) else float))
    d = d.reshape([] if g.chance(0.7) else [1])
    v = g.value(g.t['T3'], [2])
    axis = g.int(-len(dims) - 1, len(dims))
    at = axis + len(dims) + 1 if axis < 0 else axis
    y = np.full(dims[:at] + [depth] + dims[at:], v[0], v.dtype)
    for p in np.ndindex(*dims):
        k = int(i[p])
        if -depth <= k < depth:
            y[p[:at] + (k % depth,) + p[at:]] = v[1]
    return g.case([i, d, v], [y], {'axis': axis} if axis != -1 else {})


@recipe('pad', EVERY)
def pad(g):
    t = g.t['T']
    x = g.value(t, g.shape())
    mode = g.pick(['constant', 'constant', 'edge', 'reflect', 'wrap'])
    if 0 in x.shape or x.ndim == 0:
        mode = 'constant'
    axes = sorted(g.rng.sample(range(x.ndim), g.int(0, x.ndim)))
    if g.chance(0.5):
        axes, given = list(range(x.ndim)), None
    else:
        g.rng.shuffle(axes)
        given = index(g, g.t['Tind'], [k - x.ndim if g.chance(0.3) else k for k in axes])
    pads = np.zeros((2, x.ndim), int)
    for k in axes:
        most = 2 if x.ndim < 8 else g.int(0, 1)
        if mode == 'reflect':
            most = min(most, x.shape[k] - 1)
        pads[:, k] = g.int(0, most), g.int(0, most)
    value = g.value(t, []) if mode == 'constant' and g.chance(0.6) else None
    fill = value if value is not None else np.zeros([], NP[t])
    if value is None and t == 'string':
        fill = np.array('', object)
    if value is None and t == 'f8e8m0':
        g.need(False, 'has no zero to pad with')
    if mode == 'constant' and g.chance(0.3):
        for k in axes:
            if x.shape[k] + pads[0, k] > 1:
                pads[0, k] -= 1
    y = x
    if mode == 'constant':
        y = np.full([n + pads[0, k] + pads[1, k] for k, n in enumerate(x.shape)], fill, NP[t])
        inside = tuple(slice(max(0, pads[0, k]), max(0, pads[0, k]) + n + min(0, pads[0, k]))
                       for k, n in enumerate(x.shape))
        y[inside] = x[tuple(slice(max(0, -pads[0, k]), None) for k in range(x.ndim))]
    else:
        y = np.pad(x, [(pads[0, k], pads[1, k]) for k in range(x.ndim)], mode=mode)
    flat = i64([pads[0, k] for k in axes] + [pads[1, k] for k in axes])
    return g.case([x, flat, value, given], [y], {} if mode == 'constant' and g.chance(0.5)
                  else {'mode': mode})


@recipe('range', 'zero')
def arange(g):
    t = g.t['T']
    start, delta = g.int(-6, 6), g.pick([-3, -2, -1, 1, 2, 3])
    count = 0 if g.cls == 'zero' else g.int(0, 6)
    limit = start + delta * count - (np.sign(delta) * g.int(0, abs(delta) - 1) if count else 0)
    if count == 0 and g.chance(0.5):
        limit = start - 2 * delta
    scale = 0.25 if is_float(t) else 1
    v = [to(t, np.array(n * scale, object if is_int(t) else float)) for n in (start, limit, delta)]
    y = np.array([(start + k * delta) * scale for k in range(count)])
    return g.case(v, [to(t, y.astype(np.int64) if is_int(t) else y)])


@recipe('reshape', EVERY)
def reshape(g):
    x = g.value(g.t['T'], g.shape())
    n, a = x.size, {}
    dims, left = [], n
    for _ in range(g.int(0, 3)):
        d = g.pick([k for k in (1, 2, 3, 4, 5) if left and left % k == 0] or [1])
        dims.append(d)
        left = left // d if left else left
    if left != 1 or g.chance(0.3):
        dims.insert(g.int(0, len(dims)), left)
    shape = list(dims)
    if n and dims and g.chance(0.5):
        shape[g.int(0, len(dims) - 1)] = -1
    if n == 0:
        a['allowzero'] = 1
    else:
        for k in range(min(len(shape), x.ndim)):
            if shape[k] == x.shape[k] and g.chance(0.3):
                shape[k] = 0
    return g.case([x, i64(shape)], [x.reshape(dims)], a)


@recipe('reverse_sequence', RANKED)
def reverse_sequence(g):
    x = g.value(g.t['T'], g.shape(2))
    time = g.int(0, 1)
    lengths = i64([g.int(1 if x.shape[time] else 0, x.shape[time])
                   for _ in range(x.shape[1 - time])])
    y = x.copy()
    for b, n in enumerate(lengths):
        at = (slice(0, n), b) if time == 0 else (b, slice(0, n))
        y[at] = x[at][::-1]
    a = {'time_axis': time, 'batch_axis': 1 - time}
    return g.case([x, lengths], [y], {} if time == 0 and g.chance(0.5) else a)


@recipe('shape size', EVERY)
def shape(g):
    x = g.value(g.t['T'], g.shape())
    if g.row.key == 'size':
        return g.case([x], [i64(x.size)])
    a = {}
    for k in ('start', 'end'):
        if g.chance(0.5):
            a[k] = g.int(-x.ndim - 1, x.ndim + 1)
    return g.case([x], [i64(x.shape[a.get('start', 0):][
        :max(0, _clamp(a.get('end', x.ndim), x.ndim) - _clamp(a.get('start', 0), x.ndim))])], a)


def _clamp(k, rank):
    return max(0, min(rank, k + rank if k < 0 else k))


@recipe('slice', RANKED)
def slicing(g):
    x = g.value(g.t['T'], g.shape(1))
    t = g.t['Tind']
    axes = g.rng.sample(range(x.ndim), g.int(1, min(3, x.ndim)))
    if g.chance(0.3):
        axes = list(range(len(axes)))
    starts, ends, steps, cut = [], [], [], [slice(None)] * x.ndim
    for k in axes:
        n, step = x.shape[k], g.pick([1, 1, 2, -1, -2, 3])
        s, e = g.int(-n - 2, n + 2), g.int(-n - 2, n + 2)
        if g.chance(0.2):
            e = 2**31 - 1 if step > 0 else -2**31
        starts.append(s), ends.append(e), steps.append(step)
        cut[k] = slice(*_python_slice(s, e, step, n))
    given = None if axes == list(range(len(axes))) and g.chance(0.6) else index(
        g, t, [k - x.ndim if g.chance(0.3) else k for k in axes])
    by = None if all(s == 1 for s in steps) and g.chance(0.6) else index(g, t, steps)
    return g.case([x, index(g, t, starts), index(g, t, ends), given, by], [x[tuple(cut)]])


def _python_slice(start, end, step, n):
    """ONNX's clamping: [0, n] forwards, [-1, n-1] backwards."""
    start, end = (v + n if v < 0 else v for v in (start, end))
    if step > 0:
        return max(0, min(n, start)), max(0, min(n, end)), step
    start, end = max(0, min(n - 1, start)) if n else 0, max(-1, min(n - 1, end))
    return start, (None if end < 0 else end), step


@recipe('split', RANKED)
def split(g):
    x = g.value(g.t['T'], g.shape(1))
    axis, a = axis_of(g, x.ndim, default=0)
    n = x.shape[axis]
    if g.chance(0.5):
        parts, left = [], n
        for _ in range(g.int(0, 2)):
            parts.append(g.int(0, left))
            left -= parts[-1]
        parts.append(left)
        given = i64(parts)
    else:
        count = g.int(1, max(1, n))
        each = -(-n // count)
        g.need(each * (count - 1) <= n, 'more parts than elements')
        parts, given = [each] * (count - 1) + [n - each * (count - 1)], None
        a['num_outputs'] = count
    cuts = np.cumsum(parts)[:-1]
    return g.case([x, given], np.split(x, cuts, axis), a)


@recipe('squeeze unsqueeze', EVERY)
def squeeze(g):
    dims = g.shape()
    if g.row.key == 'unsqueeze':
        if g.cls == 'rank8':
            dims = dims[:g.int(5, 7)]
        x = g.value(g.t['T'], dims)
        rank = 8 if g.cls == 'rank8' else x.ndim + g.int(0, 2)
        axes = g.rng.sample(range(rank), rank - x.ndim)
        y = np.expand_dims(x, tuple(axes)) if axes else x
        return g.case([x, i64([k - rank if g.chance(0.3) else k for k in axes])], [y])
    dims = [1 if d and g.chance(0.4) else d for d in dims]
    x = g.value(g.t['T'], dims)
    ones = [k for k, d in enumerate(dims) if d == 1]
    if g.chance(0.4):
        return g.case([x], [x.reshape([d for d in dims if d != 1])])
    axes = g.rng.sample(ones, g.int(0, len(ones)))
    g.need(axes or not ones, 'empty axes are read in two ways')
    y = np.squeeze(x, tuple(axes)) if axes else x
    return g.case([x, i64([k - len(dims) if g.chance(0.3) else k for k in axes])], [y])


@recipe('tensor_scatter', RANKED)
def tensor_scatter(g):
    dims = g.shape(3)
    x = g.value(g.t['T'], dims)
    axis, a = axis_of(g, len(dims))
    if axis == 0:
        axis, a = len(dims) - 2, {}
    a = a or ({} if axis == len(dims) - 2 else {'axis': axis})
    n = dims[axis]
    count = g.int(0 if n == 0 else 1, n)
    update = g.value(g.t['T'], dims[:axis] + [count] + dims[axis + 1:])
    circular = g.chance(0.5) and n > 0
    if circular:
        a['mode'] = 'circular'
    given = None
    at = [0] * dims[0]
    if g.chance(0.7):
        at = [g.int(0, n - 1 if circular else n - count) for _ in range(dims[0])]
        given = i64(at)
    y = x.copy()
    for p in np.ndindex(*update.shape):
        q = list(p)
        q[axis] = (p[axis] + at[p[0]]) % max(n, 1)
        y[tuple(q)] = update[p]
    return g.case([x, update, given], [y], a)


@recipe('tile', EVERY)
def tile(g):
    x = g.value(g.t['T'], g.shape(0, 4, 12))
    by = [g.pick([0, 1, 1, 2, 3]) if x.ndim < 8 else 1 for _ in range(x.ndim)]
    return g.case([x, i64(by)], [np.tile(x, by) if x.ndim else x])


@recipe('transpose', EVERY)
def transpose(g):
    x = g.value(g.t['T'], g.shape())
    perm = g.rng.sample(range(x.ndim), x.ndim)
    if g.chance(0.3):
        return g.case([x], [x.transpose()])
    return g.case([x], [x.transpose(perm)], {'perm': perm} if perm else {})


@recipe('trilu', RANKED)
def trilu(g):
    t = g.t['T']
    x = g.value(t, g.shape(2))
    k, a = g.int(-3, 3), {}
    upper = g.chance(0.5)
    if t == 'f8e8m0':  # has no zero, so that all of it has to stay
        k = -9 if upper else 9
    if not upper or g.chance(0.3):
        a['upper'] = int(upper)
    keep = np.triu(np.ones(x.shape[-2:], bool), k) if upper else \
        np.tril(np.ones(x.shape[-2:], bool), k)
    y = x.copy()
    y[..., ~keep] = '' if t == 'string' else np.zeros([], x.dtype)
    return g.case([x, i64(k) if k or g.chance(0.5) else None], [y], a)


@recipe('center_crop_pad', EVERY)
def center_crop_pad(g):
    t = g.t['T']
    x = g.value(t, g.shape())
    axes = g.rng.sample(range(x.ndim), g.int(0, x.ndim))
    a = {'axes': [k - x.ndim if g.chance(0.3) else k for k in axes]}
    if g.chance(0.5) or not axes:
        axes, a = list(range(x.ndim)), {}
    dims = list(x.shape)
    for k in axes:
        dims[k] = g.int(1, 5) if x.ndim < 8 else g.int(1, 2)
        if t == 'f8e8m0':  # has no zero to pad with
            dims[k] = min(dims[k], x.shape[k])
    y = np.full(dims, '' if t == 'string' else np.zeros([], x.dtype), x.dtype)
    put, take = [slice(None)] * x.ndim, [slice(None)] * x.ndim
    for k in axes:
        n, m = x.shape[k], dims[k]
        if n > m:
            take[k] = slice((n - m) // 2, (n - m) // 2 + m)
        else:
            put[k] = slice((m - n) // 2, (m - n) // 2 + n)
    y[tuple(put)] = x[tuple(take)]
    return g.case([x, index(g, g.t['Tind'], [dims[k] for k in axes])], [y], a)


@recipe('bit_cast', EVERY)
def bit_cast(g):
    x = g.value(g.t['T1'], g.shape(), special=0)
    bits = {k: v for k, v in BITS.items()}
    same = [k for k in g.row.types['T2'] if bits[k] == bits[g.t['T1']]]
    t2 = g.t['T2'] if g.t['T2'] in same else g.pick(same)
    g.t['T2'] = t2
    if bits[t2] < 8 or (t2 == 'bool'):
        y = x.view(NP[t2]) if t2 != 'bool' else (x.view(np.uint8) & 1).view(np.bool_)
        if t2 == 'bool':
            x = y.view(NP[g.t['T1']])
    else:
        y = np.frombuffer(np.ascontiguousarray(x).tobytes(), NP[t2]).reshape(x.shape)
        g.need(not is_float(t2) or not np.isnan(y.astype(np.float64)).any(), 'NaN has many bits')
    return g.case([x], [y], {'to': ONNX[t2]})


BITS = {k: 8 * t.itemsize for k, t in NP.items()}
BITS.update({'u4': 4, 'i4': 4, 'f4e2m1': 4, 'u2': 2, 'i2': 2, 'f6e2m3': 6, 'f6e3m2': 6})
