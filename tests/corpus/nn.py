# SPDX-License-Identifier: MIT
"""nn.py: recipes of convolutions, pools and matrix products, by plain loops over windows."""
import itertools
import math

import numpy as np

from pointwise import exact
from move import i64
from registry import recipe
from values import FLOATS, NP, is_float, is_int, limits, to, wide


class Window:
    """Sizes of a sliding window along each spatial axis, and the attributes that give them."""

    def __init__(self, g, spatial, ceil=False, dilate=True, auto=True, inside=False):
        many = spatial > 3
        self.rank = spatial
        self.kernel = [g.int(1, 2 if many else 3) for _ in range(spatial)]
        self.stride = [1 if many else g.int(1, 3) for _ in range(spatial)]
        self.dilation = [g.int(1, 2) if dilate and not many and g.chance(0.3) else 1
                         for _ in range(spatial)]
        self.begin, self.end = [0] * spatial, [0] * spatial
        self.size = [g.int(self.reach(k), self.reach(k) + (0 if many else 3))
                     for k in range(spatial)]
        self.a, self.auto = {}, 'NOTSET'
        if any(s != 1 for s in self.stride) or g.chance(0.2):
            self.a['strides'] = self.stride
        if any(d != 1 for d in self.dilation) or dilate and g.chance(0.2):
            self.a['dilations'] = self.dilation
        if auto and g.chance(0.3):
            self.auto = self.a['auto_pad'] = g.pick(['SAME_UPPER', 'SAME_LOWER', 'VALID'])
        elif g.chance(0.5):
            most = [self.reach(k) - 1 if inside else 2 for k in range(spatial)]
            self.begin = [g.int(0, min(m, 2)) for m in most]
            self.end = [g.int(0, min(m, 2)) for m in most]
            self.a['pads'] = self.begin + self.end
        self.ceil = ceil and g.chance(0.4)
        if self.ceil:
            self.a['ceil_mode'] = 1
        self.out = [self._out(k) for k in range(spatial)]

    def reach(self, k):
        return (self.kernel[k] - 1) * self.dilation[k] + 1

    def _out(self, k):
        n, s, reach = self.size[k], self.stride[k], self.reach(k)
        if self.auto.startswith('SAME'):
            out = -(-n // s)
            pad = max((out - 1) * s + reach - n, 0)
            self.begin[k] = pad // 2 if self.auto == 'SAME_UPPER' else pad - pad // 2
            self.end[k] = pad - self.begin[k]
            return out
        space = n + self.begin[k] + self.end[k] - reach
        out = (-(-space // s) if self.ceil and self.auto == 'NOTSET' else space // s) + 1
        if self.ceil and self.auto == 'NOTSET' and (out - 1) * s >= n + self.begin[k]:
            out -= 1  # would start in the padding at the end
        return out

    def taps(self, at):
        """(tap, place in the input or None) of the window at output position `at`."""
        for tap in itertools.product(*(range(k) for k in self.kernel)):
            p = tuple(o * s - b + t * d for o, s, b, t, d in zip(
                at, self.stride, self.begin, tap, self.dilation))
            inside = all(0 <= v < n for v, n in zip(p, self.size))
            yield tap, p if inside else None


def spatial_rank(g):
    return 6 if g.cls == 'rank8' else g.pick([1, 1, 2, 2, 2, 3])


def batch(g):
    return 0 if g.cls == 'zero' else g.int(1, 2)


def convolve(x, w, win, group):
    """Exact sums; x and w are of doubles or Python integers."""
    n, m, per = x.shape[0], w.shape[0], w.shape[1]
    y = np.zeros([n, m] + win.out, x.dtype)
    for b, o in itertools.product(range(n), range(m)):
        first = o // (m // group) * per
        for at in np.ndindex(*win.out):
            for tap, p in win.taps(at):
                if p is not None:
                    for c in range(per):
                        y[(b, o) + at] += x[(b, first + c) + p] * w[(o, c) + tap]
    return y


def conv_shapes(g):
    win = Window(g, spatial_rank(g))
    group, per, each = g.pick([1, 1, 2, 3]), g.int(1, 2), g.int(1, 2)
    if win.rank > 2:
        group = per = 1
    if group != 1 or g.chance(0.2):
        win.a['group'] = group
    if g.chance(0.5):
        win.a['kernel_shape'] = win.kernel
    return win, group, [batch(g), per * group] + win.size, [each * group, per] + win.kernel


@recipe('conv', 'zero rank8')
def conv(g):
    t = g.t['T']
    win, group, xs, ws = conv_shapes(g)
    x, w = g.plain(t, xs), g.plain(t, ws)
    b = g.plain(t, ws[:1]) if g.chance(0.5) else None
    y = convolve(wide(x), wide(w), win, group)
    if b is not None:
        y = y + wide(b).reshape([-1] + [1] * win.rank)
    return g.case([x, w, b], [to(t, y)], win.a, 'sum')


def zero_point(g, t, n=None):
    """One number, or n."""
    dims = [] if n is None or g.chance(0.5) else [n]
    return g.plain(t, dims, -3, 5)


def per_channel(z, rank):
    """A zero point or scale of output channels against [n, m, …]."""
    return z if z.ndim == 0 else z.reshape([-1] + [1] * (rank - 2))


@recipe('conv_integer', 'zero rank8')
def conv_integer(g):
    win, group, xs, ws = conv_shapes(g)
    x, w = g.value(g.t['T1'], xs, -9, 9), g.value(g.t['T2'], ws, -9, 9)
    xz = zero_point(g, g.t['T1']) if g.chance(0.6) else None
    wz = zero_point(g, g.t['T2'], ws[0]) if g.chance(0.6) else None
    v = x.astype(np.int64) - (0 if xz is None else int(xz))
    u = w.astype(np.int64)
    if wz is not None:
        u = u - (int(wz) if wz.ndim == 0 else wz.astype(np.int64).reshape(
            [-1, 1] + [1] * win.rank))
    return g.case([x, w, xz, wz], [to('i32', convolve(v, u, win, group))], win.a)


def scale(g, dims=()):
    """Powers of two and their halves more, so that quotients are exact more often than not."""
    return np.array([g.pick([0.25, 0.5, 1.0, 2.0, 0.75]) for _ in range(int(np.prod(dims)))],
                    np.float32).reshape(dims)


def saturate(v, t):
    lo, hi = limits(t)
    return to(t, np.clip(np.rint(v), lo, hi).astype(np.int64))


def near_half(v):
    """Some quotient is so near to a tie that its rounding depends on how it was computed."""
    f = np.abs(v - np.floor(v) - 0.5)
    return bool(np.any((f != 0) & (f < 1e-4)))


@recipe('qlinear_conv', 'zero rank8')
def qlinear_conv(g):
    win, group, xs, ws = conv_shapes(g)
    x, w = g.value(g.t['T1'], xs, -9, 9), g.value(g.t['T2'], ws, -9, 9)
    xz, yz = zero_point(g, g.t['T1']), zero_point(g, g.t['T3'])
    wz = zero_point(g, g.t['T2'], ws[0])
    x_scale, y_scale, w_scale = scale(g), scale(g), scale(g, [] if wz.ndim == 0 else [ws[0]])
    b = g.plain('i32', ws[:1], -50, 50) if g.chance(0.5) else None
    u = w.astype(np.int64) - (int(wz) if wz.ndim == 0 else wz.astype(np.int64).reshape(
        [-1, 1] + [1] * win.rank))
    acc = convolve(x.astype(np.int64) - int(xz), u, win, group)
    if b is not None:
        acc = acc + b.astype(np.int64).reshape([-1] + [1] * win.rank)
    v = acc * (float(x_scale) * per_channel(w_scale.astype(float), acc.ndim) / float(y_scale))
    g.need(not near_half(v), 'ties')
    y = saturate(np.rint(v) + int(yz), g.t['T3'])
    return g.case([x, x_scale, xz, w, w_scale, wz, y_scale, yz, b], [y], win.a)


@recipe('conv_transpose', 'zero rank8')
def conv_transpose(g):
    """The output sizes follow from the pads, or the pads from output_shape; either way each input
    element adds its kernel to the output."""
    t, spatial = g.t['T'], spatial_rank(g)
    win = Window(g, spatial, auto=False)
    group, per, each = g.pick([1, 1, 2]), g.int(1, 2), g.int(1, 2)
    if spatial > 2:
        group = per = 1
    a, extra = dict(win.a), [0] * spatial
    if group != 1:
        a['group'] = group
    if g.chance(0.4):
        extra = [g.int(0, max(s, d) - 1) for s, d in zip(win.stride, win.dilation)]
        a['output_padding'] = extra
    full = [s * (n - 1) + e + win.reach(k)
            for k, (s, n, e) in enumerate(zip(win.stride, win.size, extra))]
    begin, end = list(win.begin), list(win.end)
    if g.chance(0.3):
        a.pop('pads', None)
        upper = g.chance(0.5)
        out = [g.int(max(1, f - 3), f) for f in full]
        if g.chance(0.5):
            a['output_shape'] = out
            a['auto_pad'] = 'SAME_UPPER' if upper else 'SAME_LOWER'
        else:
            out = [n * s for n, s in zip(win.size, win.stride)]
            g.need(all(f >= o for f, o in zip(full, out)), 'SAME would pad by less than nothing')
            a['auto_pad'] = 'SAME_UPPER' if upper else 'SAME_LOWER'
        total = [f - o for f, o in zip(full, out)]
        # The odd element goes where the name says.
        begin = [p // 2 if upper else p - p // 2 for p in total]
        end = [p - b for p, b in zip(total, begin)]
    out = [f - b - e for f, b, e in zip(full, begin, end)]
    g.need(all(o > 0 for o in out), 'nothing is left')
    if g.chance(0.4):
        a['kernel_shape'] = win.kernel
    x = g.plain(t, [batch(g), per * group] + win.size)
    w = g.plain(t, [per * group, each] + win.kernel)
    b = g.plain(t, [each * group]) if g.chance(0.5) else None
    v, u = wide(x), wide(w)
    y = np.zeros([x.shape[0], each * group] + out)
    for n, c, o in itertools.product(range(x.shape[0]), range(per * group), range(each)):
        for at in np.ndindex(*win.size):
            for tap in np.ndindex(*win.kernel):
                p = tuple(i * s + k * d - f for i, s, k, d, f in zip(
                    at, win.stride, tap, win.dilation, begin))
                if all(0 <= q < m for q, m in zip(p, out)):
                    y[(n, c // per * each + o) + p] += v[(n, c) + at] * u[(c, o) + tap]
    if b is not None:
        y += wide(b).reshape([-1] + [1] * spatial)
    return g.case([x, w, b], [to(t, y)], a, 'sum')


def bilinear(plane, y, x):
    """Between the four neighbours; what is outside counts as zero."""
    total, top, left = 0.0, math.floor(y), math.floor(x)
    for i, j in itertools.product((top, top + 1), (left, left + 1)):
        if 0 <= i < plane.shape[0] and 0 <= j < plane.shape[1]:
            total += plane[i, j] * (1 - abs(y - i)) * (1 - abs(x - j))
    return total


@recipe('deform_conv', 'zero')
def deform_conv(g):
    """Two spatial axes."""
    t = g.t['T']
    win = Window(g, 2, auto=False)
    group, offset_group = g.pick([1, 2]), g.pick([1, 1, 2])
    a, taps, n = dict(win.a), int(np.prod(win.kernel)), batch(g)
    for k, v in (('kernel_shape', win.kernel), ('group', group), ('offset_group', offset_group)):
        if v not in (1, win.kernel) or g.chance(0.4):
            a[k] = v
    x, w = g.plain(t, [n, 2] + win.size), g.plain(t, [2, 2 // group] + win.kernel)
    offset = g.plain(t, [n, offset_group * taps * 2] + win.out, -2, 2)
    b = g.plain(t, [2]) if g.chance(0.5) else None
    mask = g.plain(t, [n, offset_group * taps] + win.out, 0, 1) if g.chance(0.5) else None
    v, u, move = wide(x), wide(w), wide(offset).reshape([n, offset_group, taps, 2] + win.out)
    weight = np.ones([n, offset_group, taps] + win.out) if mask is None else \
        wide(mask).reshape([n, offset_group, taps] + win.out)
    y = np.zeros([n, 2] + win.out)
    for k, o, at in itertools.product(range(n), range(2), np.ndindex(*win.out)):
        for c in range(2 // group):
            ch = c + (o if group == 2 else 0)
            og = ch * offset_group // 2
            for i, tap in enumerate(np.ndindex(*win.kernel)):
                p = [at[d] * win.stride[d] - win.begin[d] + tap[d] * win.dilation[d] +
                     move[(k, og, i, d) + at] for d in range(2)]
                y[(k, o) + at] += bilinear(v[k, ch], *p) * u[(o, c) + tap] * \
                    weight[(k, og, i) + at]
    if b is not None:
        y = y + wide(b).reshape(-1, 1, 1)
    return g.case([x, w, offset, b, mask], [to(t, y)], a, 'sum')


@recipe('col2im', 'zero')
def col2im(g):
    t = g.t['T']
    win = Window(g, g.pick([1, 2, 2, 3]), auto=False)
    n, c, taps = batch(g), g.int(1, 2), int(np.prod(win.kernel))
    x = g.value(t, [n, c * taps, int(np.prod(win.out))], special=0)
    v = exact(x)
    y = np.zeros([n, c] + win.size, v.dtype)
    for b, k in itertools.product(range(n), range(c)):
        for j, at in enumerate(np.ndindex(*win.out)):
            for i, (_, p) in enumerate(win.taps(at)):
                if p is not None:
                    y[(b, k) + p] += v[b, k * taps + i, j]
    return g.case([x, i64(win.size), i64(win.kernel)], [to(t, y)], win.a,
                  'exact' if is_int(t) else 'sum')


@recipe('max_pool', 'zero rank8')
def max_pool(g):
    """Equal elements: the first one's index. A window that holds padding alone gives the least
    number, but its index is nowhere defined, so such shapes are left out."""
    t = g.t['T']
    win = Window(g, spatial_rank(g), ceil=True, inside=True)
    x = g.value(t, [batch(g), g.int(1, 2)] + win.size, special=0)
    v = wide(x)
    y = np.zeros(list(x.shape[:2]) + win.out)
    index = np.zeros(y.shape, np.int64)
    column = g.chance(0.3)
    for b, c in itertools.product(*(range(d) for d in x.shape[:2])):
        for at in np.ndindex(*win.out):
            places = [p for _, p in win.taps(at) if p is not None]
            g.need(places, 'windows of padding alone')
            best = max(places, key=lambda p: v[(b, c) + p])
            y[(b, c) + at] = v[(b, c) + best]
            inner = np.ravel_multi_index(best[::-1], tuple(win.size[::-1])) if column \
                else np.ravel_multi_index(best, tuple(win.size))
            index[(b, c) + at] = (b * x.shape[1] + c) * int(np.prod(win.size)) + inner
    a = dict(win.a, kernel_shape=win.kernel)
    if column:
        a['storage_order'] = 1
    y = to(t, y.astype(np.int64) if is_int(t) else y)
    return g.case([x], [y, index], a, wanted=[True, g.chance(0.7)])


@recipe('average_pool lp_pool', 'zero rank8')
def average_pool(g):
    t = g.t['T']
    win = Window(g, spatial_rank(g), ceil=True, inside=True)
    x = g.plain(t, [batch(g), g.int(1, 2)] + win.size)
    a, v, p = dict(win.a, kernel_shape=win.kernel), wide(x), 2
    count_pad = g.row.key == 'average_pool' and g.chance(0.5)
    if count_pad:
        a['count_include_pad'] = 1
    if g.row.key == 'lp_pool' and g.chance(0.6):
        p = a['p'] = g.int(1, 4)
    y = np.zeros(list(x.shape[:2]) + win.out)
    for at in np.ndindex(*win.out):
        places = [q for _, q in win.taps(at) if q is not None]
        g.need(places, 'windows of padding alone')
        padded = math.prod(sum(1 for k in range(win.kernel[i]) if o * win.stride[i] - win.begin[i] +
                               k * win.dilation[i] < win.size[i] + win.end[i])
                           for i, o in enumerate(at))
        for b, c in itertools.product(*(range(d) for d in x.shape[:2])):
            some = np.array([v[(b, c) + q] for q in places])
            y[(b, c) + at] = np.sum(np.abs(some)**p)**(1 / p) if g.row.key == 'lp_pool' else \
                np.sum(some) / (padded if count_pad else len(places))
    return g.case([x], [to(t, y)], a, 'sum')


@recipe('global_max_pool global_average_pool global_lp_pool', 'zero rank8')
def global_pool(g):
    t = g.t['T']
    dims = [batch(g), g.int(1, 3)] + [g.int(1, 2 if g.cls == 'rank8' else 3)
                                      for _ in range(6 if g.cls == 'rank8' else g.int(1, 3))]
    if g.cls == 'rank8':
        dims = [1, 2, 2, 1, 1, 2, 1, 1]
    x = g.plain(t, dims)
    axes, v, a = tuple(range(2, len(dims))), np.abs(wide(x)), {}
    if g.row.key == 'global_max_pool':
        y = np.max(wide(x), axes, keepdims=True) if x.size else np.zeros(
            dims[:2] + [1] * len(axes))
    elif g.row.key == 'global_average_pool':
        y = np.mean(wide(x), axes, keepdims=True)
    else:
        p = 2
        if g.chance(0.6):
            p = a['p'] = g.int(1, 4)
        y = np.sum(v**p, axes, keepdims=True)**(1 / p)
    return g.case([x], [to(t, y)], a, 'sum')


@recipe('max_unpool', 'zero')
def max_unpool(g):
    t, spatial = g.t['T1'], g.int(1, 3)
    kernel, stride = [g.int(1, 3) for _ in range(spatial)], [g.int(1, 3) for _ in range(spatial)]
    size = [g.int(1, 3) for _ in range(spatial)]
    a = {'kernel_shape': kernel}
    if any(s != 1 for s in stride):
        a['strides'] = stride
    out = [(n - 1) * s + k for n, s, k in zip(size, stride, kernel)]
    given = None
    n, c = batch(g), g.int(1, 2)
    if g.chance(0.4):
        out = [o + g.int(0, 2) for o in out]
        given = i64([n, c] + out)
    count, planes = int(np.prod(size)), n * c
    plane = int(np.prod([(k - 1) * s + w for k, s, w in zip(size, stride, kernel)]))
    g.need(plane >= count, 'room')
    x = g.plain(t, [n, c] + size)
    places = []
    # The indices count in the shape that the pads and strides give, whatever output_shape is.
    inferred = [(k - 1) * s + w for k, s, w in zip(size, stride, kernel)]
    for p in range(planes):
        places += [p * plane + q for q in g.rng.sample(range(plane), count)]
    y = np.zeros([n, c] + out, NP[t])
    index = np.array(places, np.int64).reshape(x.shape)
    if given is not None:
        g.need(out == inferred or planes == 0, 'indices into another shape are read in two ways')
    y.reshape(-1)[index.reshape(-1)] = x.reshape(-1)
    return g.case([x, index, given], [y], a)


@recipe('matmul', 'zero broadcast rank8')
def matmul(g):
    t = g.t['T']
    n, k, m = g.int(1, 3), 0 if g.cls == 'zero' and g.chance(0.5) else g.int(1, 4), g.int(1, 3)
    if g.cls == 'rank8':
        outer = [1, 2, 1, 1, 2, 1]
        other = g.partner(outer)
    elif g.cls == 'broadcast':
        outer = [g.int(1, 3) for _ in range(g.int(1, 2))]
        other = [1 if g.chance(0.5) else d for d in outer][g.int(0, 1):]
        g.broadcasts = other != outer
    else:
        outer = [g.int(1, 2) for _ in range(g.int(0, 2))]
        other = g.partner(outer)
    if g.cls == 'zero' and k != 0:
        n = 0
    sa, sb = outer + [n, k], other + [k, m]
    if g.chance(0.15) and g.cls == 'any':
        sa = [k]
    elif g.chance(0.15) and g.cls == 'any':
        sb = [k]
    a, b = g.value(t, sa, special=0), g.value(t, sb, special=0)
    y = np.matmul(exact(a), exact(b)) if k else np.zeros(
        np.matmul(np.zeros(sa), np.zeros(sb)).shape, object if is_int(t) else float)
    return g.case([a, b], [to(t, np.asarray(y))], None, 'exact' if is_int(t) else 'sum')


@recipe('gemm', 'zero broadcast')
def gemm(g):
    """Integers with alpha and beta that are whole, so that every order of rounding agrees."""
    t, a = g.t['T'], {}
    n, k, m = g.int(1, 3), g.int(1, 4), g.int(1, 3)
    if g.cls == 'zero':
        n, k = g.pick([(0, k), (n, 0)])
    ta, tb = g.chance(0.4), g.chance(0.4)
    alpha = beta = 1
    if g.chance(0.5):
        alpha = g.int(1, 3) if is_int(t) else g.int(-8, 8) / 4
        a['alpha'] = float(alpha)
    if g.chance(0.5):
        beta = g.int(0, 3) if is_int(t) else g.int(-8, 8) / 4
        a['beta'] = float(beta)
    if ta:
        a['transA'] = 1
    if tb:
        a['transB'] = 1
    x, w = g.plain(t, [k, n] if ta else [n, k]), g.plain(t, [m, k] if tb else [k, m])
    c = None
    if g.chance(0.7) or g.cls == 'broadcast':
        dims = g.pick([[n, m], [1, m], [n, 1], [m], [1], []])
        g.broadcasts = dims != [n, m]
        c = g.plain(t, dims)
    v, u = exact(x), exact(w)
    y = np.matmul(v.T if ta else v, u.T if tb else u) if k else np.zeros(
        [n, m], object if is_int(t) else float)
    y = y * alpha
    if c is not None:
        y = y + exact(c) * beta
    return g.case([x, w, c], [to(t, y)], a, 'exact' if is_int(t) else 'sum')


@recipe('matmul_integer', 'zero broadcast')
def matmul_integer(g):
    n, k, m = g.int(1, 3), 0 if g.cls == 'zero' else g.int(1, 4), g.int(1, 3)
    outer = [g.int(1, 3) for _ in range(g.int(0, 2) if g.cls != 'broadcast' else 2)]
    other = g.partner(outer)
    a = g.value(g.t['T1'], outer + [n, k], -9, 9)
    b = g.value(g.t['T2'], other + [k, m], -9, 9)
    az = g.plain(g.t['T1'], g.pick([[], [1]]), -3, 5) if g.chance(0.6) else None
    bz = g.plain(g.t['T2'], g.pick([[], [1], [m]]), -3, 5) if g.chance(0.6) else None
    if az is not None and not outer and g.chance(0.3):
        az = g.plain(g.t['T1'], [n], -3, 5)
    v, u = a.astype(np.int64), b.astype(np.int64)
    if az is not None:
        z = az.astype(np.int64)
        v = v - (z.reshape(-1, 1) if z.ndim and z.size != 1 else z)
    if bz is not None:
        u = u - bz.astype(np.int64)
    return g.case([a, b, az, bz], [to('i32', np.matmul(v, u))])


@recipe('qlinear_matmul', 'zero broadcast')
def qlinear_matmul(g):
    t1, t2, t3, ts = g.t['T1'], g.t['T2'], g.t['T3'], g.t['TS']
    n, k, m = g.int(1, 3), 0 if g.cls == 'zero' else g.int(1, 4), g.int(1, 3)
    outer = [g.int(1, 2) for _ in range(g.int(0, 2) if g.cls != 'broadcast' else 2)]
    other = g.partner(outer)
    a, b = g.plain(t1, outer + [n, k], -9, 9, 2), g.plain(t2, other + [k, m], -9, 9, 2)

    def zero(t):
        return np.zeros([], NP[t]) if is_float(t) else g.plain(t, [], -3, 5)
    az, bz, yz = zero(t1), zero(t2), zero(t3)
    sa, sb, sy = (scale(g).astype(NP[ts]) for _ in range(3))
    v = np.matmul(a.astype(float) - float(az), b.astype(float) - float(bz))
    v = v * (float(sa) * float(sb) / float(sy))
    g.need(not near_half(v) or is_float(t3), 'ties')
    if is_float(t3):
        y = to(t3, np.clip(v + float(yz), -FLOATS[t3][2], FLOATS[t3][2]))
    else:
        y = saturate(np.rint(v) + int(yz), t3)
    return g.case([a, sa, az, b, sb, bz, sy, yz], [y])


EQUATIONS = ['ij,jk->ik', 'ij,jk', 'bij,bjk->bik', 'ii->i', 'ii', 'ij->ji', 'ij->', 'i,j->ij',
             '...ij,...jk->...ik', 'ij,ij->ij', 'i,i->', 'ijk->kj', 'b...->...b', 'ij,j,i->',
             ' i j , j k -> i k ', 'iji->j', 'a...b,b...->a...', 'abcdefgh->hgfedcba']


@recipe('einsum', 'zero')
def einsum(g):
    t = g.t['T']
    equation = g.pick(EQUATIONS)
    sizes = {c: g.int(1, 3) if 'h' not in equation else g.int(1, 2)
             for c in 'abcdefghijk'}
    if g.cls == 'zero':
        sizes[g.pick([c for c in equation.partition('->')[0] if c.isalpha()])] = 0
    dots = [g.int(1, 2) for _ in range(g.int(0, 2))]
    xs = []
    for term in equation.replace(' ', '').split('->')[0].split(','):
        before, _, after = term.partition('...')
        dims = [sizes[c] for c in before]
        if '...' in term:
            dims += g.partner(dots) + [sizes[c] for c in after]
        xs.append(g.value(t, dims, special=0))
    flat = equation.replace(' ', '')
    y = np.einsum(flat, *[exact(x) for x in xs]) if not is_int(t) or all(x.size for x in xs) \
        else np.einsum(flat, *[np.zeros(x.shape) for x in xs]).astype(object)
    return g.case(xs, [to(t, np.asarray(y))], {'equation': equation},
                  'exact' if is_int(t) else 'sum')


@recipe('det', 'zero rank8')
def det(g):
    t, n = g.t['T'], g.int(1, 4)
    dims = [1, 2, 1, 1, 1, 1] if g.cls == 'rank8' else [g.int(1, 2) for _ in range(g.int(0, 2))]
    if g.cls == 'zero':
        dims = [0]
    x = g.plain(t, dims + [n, n], step=2)
    if g.chance(0.2) and n > 1 and x.size:
        x[..., 1, :] = x[..., 0, :]
    y = np.zeros(dims)
    for at in np.ndindex(*dims):
        y[at] = determinant([[float(e) for e in r] for r in wide(x)[at]])
    return g.case([x], [to(t, y)], None, 'sum')


def determinant(m):
    """By minors: exact for the numbers drawn here."""
    if len(m) == 0:
        return 1.0
    return sum((-1)**k * m[0][k] * determinant([r[:k] + r[k + 1:] for r in m[1:]])
               for k in range(len(m)))

