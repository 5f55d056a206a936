# SPDX-License-Identifier: MIT
"""control.py: recipes of If, Loop and Scan with a few bodies, run by plain Python."""
import numpy as np

from draw import result_lines
from registry import recipe
from values import text

EVERY = 'zero scalar rank8'


def case(g, lines, results, values):
    done = []
    for r in results:
        done += result_lines(r)
    return g.text_case(lines, done, 'exact', values)


@recipe('if', EVERY)
def branch(g):
    """Branches take values from outside, of shapes that may differ; one may make sequences."""
    v, cond = g.t['V'], g.chance(0.5)
    t = v if v not in ('seq', 'opt') else 'f32'
    x = g.value(t, g.shape())
    y = g.value(t, x.shape if g.chance(0.5) else g.shape())
    c = np.array(cond).reshape([] if g.chance(0.7) else [1])
    lines = ['a = const ' + text(x), 'b = const ' + text(y), 'c = const ' + text(c)]
    make = {'seq': 'sequence_construct', 'opt': 'optional'}.get(v, 'identity')
    inner = 'then_branch {p = %s a; return p}, else_branch {q = %s b; return q}' % (make, make)
    if g.chance(0.2) and v == t:
        inner = 'then_branch {return a}, else_branch {return b}'
    lines += ['y = if c {%s}' % inner, 'return y']
    chosen = x if cond else y
    return case(g, lines, [[chosen] if v == 'seq' else chosen], [x, y])


@recipe('loop', EVERY)
def loop(g):
    """A value carried and collected, one that grows, a sequence that is filled, or an optional."""
    v, n = g.t['V'], g.int(0, 3)
    t = v if v not in ('seq', 'opt') else 'f32'
    x = g.value(t, g.shape())
    stop = g.int(0, 3) if g.chance(0.4) else None
    times = n if stop is None else min(n, stop + 1)
    head = 'i = input i64[]; k = input bool[]; '
    go = 'k'
    if stop is not None:
        head += 'e = const i64[] {%d}; o = less i e; ' % stop
        go = 'o'
    lines = ['m = const i64[] {%d}' % n, 'a = const ' + text(x)]
    if v == 'seq':
        lines += ['s = sequence_empty {dtype=1}',
                  'y = loop m _ s {body {%sv = input seq(f32[*]); w = sequence_insert v a; '
                  'return %s, w}}' % (head, go), 'return y']
        return case(g, lines, [[x] * times], [x])
    if v == 'opt':
        lines += ['s = optional a', 'y = loop m _ s {body {%sv = input optional(f32[*]); '
                  'w = optional_get_element v; z = optional w; return %s, z}}' % (head, go),
                  'return y']
        return case(g, lines, [x], [x])
    first = [] if g.chance(0.7) else ['c = const bool[] {%s}' % g.pick(['true', 'false'])]
    if first and 'false' in first[0]:
        times = 0
    if x.ndim and g.chance(0.4) and g.cls != 'rank8':
        lines += first + ['y = loop m %s a {body {%sv = input %s[*]; w = concat v a {axis=0}; '
                          'return %s, w}}' % ('c' if first else '_', head, t, go), 'return y']
        return case(g, lines, [np.concatenate([x] * (times + 1))], [x])
    if x.ndim == 8:
        lines += first + ['y = loop m %s a {body {%sv = input %s; return %s, v}}' % (
            'c' if first else '_', head, text(x).split(' ')[0], go), 'return y']
        return case(g, lines, [x], [x])
    b = g.value(t, x.shape)
    lines += first + ['b = const ' + text(b),
                      'y, z, u, q = loop m %s a b {body {%sv = input %s; w = input %s; '
                      'return %s, w, v, v, i}}' % ('c' if first else '_', head, kind(x), kind(x),
                                                   go), 'return y, z, u, q']
    p, r, seen = x, b, []
    for _ in range(times):
        seen.append(p)
        p, r = r, p
    stacked = np.stack(seen) if seen else np.zeros([0] + list(x.shape), x.dtype)
    return case(g, lines, [p, r, stacked, np.arange(times)], [x, b])


def kind(x):
    return text(x).split(' ')[0]


@recipe('scan', 'zero')
def scan(g):
    """The last element seen as state; elements, in either direction, along any axis."""
    t = g.t['V']
    dims = g.shape(1, 3)
    axis = g.int(0, len(dims) - 1)
    x = g.value(t, dims)
    part = dims[:axis] + dims[axis + 1:]
    s = g.value(t, part)
    back, out_back = g.int(0, 1), g.int(0, 1)
    out_axis = g.int(0, len(part))
    a = ['num_scan_inputs=1']
    if axis or g.chance(0.3):
        a.append('scan_input_axes=[%d]' % (axis - len(dims) if g.chance(0.4) else axis))
    if back or g.chance(0.3):
        a.append('scan_input_directions=[%d]' % back)
    if out_axis or g.chance(0.3):
        p = out_axis - len(part) - 1 if g.chance(0.4) else out_axis
        a.append('scan_output_axes=[%d]' % p)
    if out_back or g.chance(0.3):
        a.append('scan_output_directions=[%d]' % out_back)
    lines = ['a = const ' + text(s), 'b = const ' + text(x),
             'y, z = scan a b {%s, body {v = input %s; w = input %s; return w, v}}' % (
                 ', '.join(a), kind(s), kind(s)), 'return y, z']
    rows = [np.asarray(np.take(x, k, axis), x.dtype) for k in range(dims[axis])]
    rows = rows[::-1] if back else rows
    state, seen = s, []
    for row in rows:
        seen.append(state)
        state = row
    seen = seen[::-1] if out_back else seen
    z = np.stack(seen, out_axis) if seen else np.zeros(
        part[:out_axis] + [0] + part[out_axis:], x.dtype)
    return case(g, lines, [state, z], [s, x])
