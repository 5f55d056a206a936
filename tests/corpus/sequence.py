# SPDX-License-Identifier: MIT
"""sequence.py: recipes of sequences and optionals, as lists of arrays. Sequences are made in the
graph, since no constant can be one."""
import numpy as np

from registry import recipe
from values import NP, ONNX, text

RANKED = 'zero rank8'
ITEMS = [t for t in NP if not t.startswith('f6')]  # types that sequences can have
EVERY = 'zero scalar rank8'


def parts(g, t, least=0, most=3):
    """Tensors of any shapes."""
    n = max(least, g.int(least, most))
    return [g.value(t, g.shape()) for _ in range(n)]


def make(items, t):
    """Lines that make the sequence `s`."""
    if not items:
        return ['s = sequence_empty {dtype=%d}' % ONNX[t]]
    lines = ['p%d = const %s' % (i, text(p)) for i, p in enumerate(items)]
    return lines + ['s = sequence_construct ' + ' '.join('p%d' % i for i in range(len(items)))]


def case(g, items, t, lines, results, more=(), out='y'):
    """A case of IR lines about a sequence `s` of `items` and constants `more` (a, b …)."""
    head = make(items, t)
    for name, p in zip('abcdef', more):
        head.append('%s = const %s' % (name, text(p)))
    from draw import result_lines
    values = []
    for r in results:
        values += result_lines(r)
    return g.text_case(head + lines + ['return ' + out], values, 'exact', items + list(more))


def element_type(g):
    """Type of a sequence's elements where no variable of the row tells."""
    return g.t['T'] if 'T' in g.t else g.pick(ITEMS)


@recipe('sequence_construct', EVERY)
def construct(g):
    items = parts(g, g.t['T'], 1)
    return case(g, items, g.t['T'], [], [items], out='s')


@recipe('sequence_empty')
def empty(g):
    t = g.pick(ITEMS)
    lines = ['s = sequence_empty' + (' {dtype=%d}' % ONNX[t] if t != 'f32' else ''),
             'y = sequence_length s']
    return g.text_case(lines + ['return s, y'], ['= seq 0', '= i64[] {0}'])


def position(g, count, end=False):
    """A place among `count` (or after the last) and the number that means it."""
    at = g.int(0, count if end else count - 1)
    p = at - count if g.chance(0.4) and at < count else at
    return at, np.array(p, NP[g.t['I']]).reshape([] if g.chance(0.8) else [1])


@recipe('sequence_at', EVERY)
def at(g):
    t = element_type(g)
    items = parts(g, t, 1)
    k, p = position(g, len(items))
    return case(g, items, t, ['y = sequence_at s a'], [items[k]], [p])


@recipe('sequence_length', EVERY)
def length(g):
    t = element_type(g)
    items = parts(g, t)
    return case(g, items, t, ['y = sequence_length s'], [np.array(len(items))])


@recipe('sequence_insert', EVERY)
def insert(g):
    t = g.t['T']
    items, x = parts(g, t), g.value(t, g.shape())
    k, p = position(g, len(items), True)
    if g.chance(0.3):
        return case(g, items, t, ['y = sequence_insert s a'], [items + [x]], [x])
    return case(g, items, t, ['y = sequence_insert s a b'], [items[:k] + [x] + items[k:]], [x, p])


@recipe('sequence_erase', EVERY)
def erase(g):
    t = element_type(g)
    items = parts(g, t, 1)
    if g.chance(0.3):
        return case(g, items, t, ['y = sequence_erase s'], [items[:-1]])
    k, p = position(g, len(items))
    return case(g, items, t, ['y = sequence_erase s a'], [items[:k] + items[k + 1:]], [p])


@recipe('split_to_sequence', RANKED)
def split(g):
    t, dims = g.t['T'], g.shape(1)
    x, axis = g.value(t, dims), g.int(0, len(dims) - 1)
    n, a, given, keep = dims[axis], [], [], True
    if axis or g.chance(0.3):
        a.append('axis=%d' % (axis - len(dims) if g.chance(0.4) else axis))
    how = g.pick(['one', 'equal', 'list'])
    if how == 'one':
        keep = g.chance(0.5)
        if not keep:
            a.append('keepdims=0')
        cuts = list(range(1, n))
    elif how == 'equal':
        width = g.int(1, 3)
        given = [np.array(width, NP[g.t['I']])]
        cuts = list(range(width, n, width))
    else:
        cuts = sorted(g.int(0, n) for _ in range(g.int(0, 2)))
        given = [np.diff([0] + cuts + [n]).astype(NP[g.t['I']])]
    items = np.split(x, cuts, axis) if n or how == 'list' else []
    if not keep:
        items = [np.take(i, 0, axis) for i in items]
    lines = ['a = const ' + text(x)] + ['b = const ' + text(v) for v in given]
    lines.append('y = split_to_sequence a%s%s' % (
        ' b' if given else '', ' {%s}' % ', '.join(a) if a else ''))
    from draw import result_lines
    return g.text_case(lines + ['return y'], result_lines(items), 'exact', [x])


@recipe('concat_from_sequence', RANKED)
def concat(g):
    t, new = g.t['T'], g.int(0, 1)
    dims = g.shape(1)
    if new:
        dims = dims[:7]
    axis = g.int(0, len(dims) - (0 if new else 1))
    items = []
    for _ in range(g.int(1, 3)):
        if not new:
            dims[axis] = g.int(0, 3) if g.cls == 'any' else dims[axis]
        items.append(g.value(t, dims))
    y = np.stack(items, axis) if new else np.concatenate(items, axis)
    p = axis - y.ndim if g.chance(0.4) else axis
    a = 'axis=%d' % p + (', new_axis=1' if new else '')
    return case(g, items, t, ['y = concat_from_sequence s {%s}' % a], [y])


@recipe('sequence_map', 'zero')
def map_(g):
    """Bodies that double, add a tensor given to all, or give two results."""
    v = g.t['V'] if g.t['V'] not in ('seq', 'opt', 'map') else 'f32'
    items = [g.value(v, g.shape(1)) for _ in range(g.int(0, 3))]
    body = 'u = input %s[*]' % v
    if g.t['V'] == 'seq':
        return case(g, items, v, [
            'y = sequence_map s s {body {%s; w = input %s[*]; z = concat u w {axis=0}; return z}}' %
            (body, v)], [[np.concatenate([i, i]) for i in items]])
    how = g.int(0, 2)
    if how == 0:
        return case(g, items, v, [
            'y = sequence_map s {body {%s; z = concat u u {axis=0}; return z}}' % body],
            [[np.concatenate([i, i]) for i in items]])
    if how == 1:
        x = g.value(v, [2])
        return case(g, items, v, [
            'y, z = sequence_map s a {body {%s; w = input %s[2]; q = shape u; return w, q}}' % (
                body, v)],
            [[x] * len(items), [np.array(i.shape, np.int64) for i in items]], [x], 'y, z')
    return case(g, items, v, ['y = sequence_map s {body {%s; z = size u; return z}}' % body],
                [[np.array(i.size) for i in items]])


@recipe('optional', EVERY)
def optional(g):
    v = g.t['V']
    if v == 'seq':
        items = parts(g, 'f32', 1)
        return case(g, items, 'f32', ['y = optional s'], [items])
    if g.cls == 'any' and g.chance(0.3):
        return g.text_case(['y = optional _ {type=%s[2]}' % v, 'return y'], ['= none'])
    x = g.value(v, g.shape())
    return g.text_case(['a = const ' + text(x), 'y = optional a', 'return y'], ['= ' + text(x)],
                       'exact', [x])


@recipe('optional_has_element optional_get_element', EVERY)
def element(g):
    """Of tensors, of sequences, and of optionals that hold something or nothing."""
    o, has = g.t['O'], g.row.key == 'optional_has_element'
    t = o if o not in ('seq', 'opt') else g.pick(ITEMS)
    if not has and g.t['V'] != 'seq' and o == 'opt':
        t = g.t['V']
    x = g.value(t, g.shape())
    lines = ['a = const ' + text(x)]
    of = 'a'
    y = ['= ' + text(x)]
    if o == 'seq' or not has and g.t['V'] == 'seq' and o == 'opt':
        lines.append('s = sequence_construct a')
        of, y = 's', ['= seq 1'] + y
    if o == 'opt':
        lines.append('o = optional ' + of)
        of = 'o'
    there = True
    if has and o == 'opt' and g.chance(0.5):
        lines, of, there = ['o = optional _ {type=%s[]}' % t], 'o', False
    if has and o == t and g.chance(0.2):
        lines, of, there = [], '_', False
    lines += ['y = %s %s' % (g.row.key, of), 'return y']
    return g.text_case(lines, ['= bool[] {%s}' % ('true' if there else 'false')] if has else y,
                       'exact', [x])
