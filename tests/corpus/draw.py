# SPDX-License-Identifier: MIT
"""draw.py: what a recipe draws from (types, shapes, values) and what it gives back (a case)."""
import random

import numpy as np

from values import (FLOATS, INT_BITS, NP, element, is_float, is_int, limits, quoted, text, to)

WORDS = ['', 'a', 'b', 'abc', 'Zed', 'x y', 'q"t', 'tab\there', 'ünï', 'long enough to be told',
         '0', '-1.5']
CLASSES = ['any', 'zero', 'scalar', 'broadcast', 'rank8']


class Skip(Exception):
    """This combination cannot be: the message is the reason."""


class Case:
    def __init__(self, graph, results, tolerance):
        self.graph, self.results, self.tolerance = graph, results, tolerance
        self.shapes = set()
        self.types = {}


class Attr:
    """Attribute text that has no Python type: a word, a typed tensor."""
    def __init__(self, words):
        self.words = words


def attr_text(v):
    if isinstance(v, Attr):
        return v.words
    if isinstance(v, np.ndarray):
        return text(v)
    if isinstance(v, str):
        return quoted(v)
    if isinstance(v, (list, tuple)):
        return '[' + ','.join(attr_text(x) for x in v) + ']'
    if isinstance(v, (float, np.floating)):
        return element(np.float32(v), 'f32')
    return str(int(v))


def attrs_text(attrs):
    if not attrs:
        return ''
    return ' {' + ', '.join('%s=%s' % (k, attr_text(v)) for k, v in attrs.items()) + '}'


def result_lines(value):
    if value is None:
        return ['= none']
    if isinstance(value, list):
        lines = ['= seq %d' % len(value)]
        for item in value:
            lines += result_lines(item)
        return lines
    return ['= ' + text(value)]


class Draw:
    def __init__(self, row, types, shape_class, seed):
        self.row, self.t, self.cls = row, types, shape_class
        self.rng = random.Random(seed)
        self.broadcasts = False

    # ---- choices
    def chance(self, p):
        return self.rng.random() < p

    def pick(self, items):
        return self.rng.choice(list(items))

    def int(self, lo, hi):
        return self.rng.randint(lo, hi)

    def need(self, holds, why):
        if not holds:
            raise Skip(why)

    def only(self, *classes):
        """The recipe can draw these classes of shapes besides 'any'."""
        self.need(self.cls == 'any' or self.cls in classes, 'shape')

    # ---- shapes
    def shape(self, least=0, most=4, largest=12):
        """A shape of the class asked for, of rank least to most (8 when that is the class)."""
        if self.cls == 'scalar':
            self.need(least == 0, 'needs a rank of %d' % least)
            return []
        if self.cls == 'rank8':
            dims = [1] * 8
            for k in self.rng.sample(range(8), 3):
                dims[k] = 2
            return dims
        rank = self.int(max(least, 1 if self.cls == 'zero' else least), max(most, least, 1))
        while True:
            dims = [self.pick([1, 2, 2, 3, 3, 4, 5]) for _ in range(rank)]
            if int(np.prod(dims)) <= largest:
                break
            if rank > 3 and self.chance(0.5):
                dims = [1 if self.chance(0.4) else d for d in dims]
                if int(np.prod(dims)) <= largest:
                    break
        if self.cls == 'zero':
            dims[self.int(0, rank - 1)] = 0
        return dims

    def dim(self, lo=1, hi=4):
        return self.int(lo, hi)

    def partner(self, dims):
        """A shape that broadcasts against `dims`: of the same shape, or with ones and fewer axes
        where broadcasting is asked for."""
        if self.cls not in ('any', 'broadcast') and not self.chance(0.3):
            return list(dims)
        if self.cls == 'any' and self.chance(0.6):
            return list(dims)
        other = [1 if self.chance(0.5) else d for d in dims]
        other = other[self.int(0, len(other)):]
        self.broadcasts |= list(other) != list(dims)
        return other

    def pair(self, least=0, most=4):
        """Two shapes that broadcast, both ways."""
        dims = self.shape(max(least, 1) if self.cls == 'broadcast' else least, most)
        a, b = list(dims), self.partner(dims)
        if self.cls in ('any', 'broadcast') and len(b) == len(a) and self.chance(0.5):
            a = [1 if self.chance(0.3) and d != 0 else d for d in a]
        return (a, b) if self.chance(0.5) else (b, a)

    # ---- values
    def value(self, t, shape, lo=-4.0, hi=4.0, special=0.04, step=8, extreme=0.06):
        """Random elements: floats in steps of 1/step with some that are special, small integers
        with some that are extreme."""
        n = int(np.prod(shape, dtype=np.int64)) if len(shape) else 1
        items = [self.element(t, lo, hi, special, step, extreme) for _ in range(n)]
        if t == 'string':
            a = np.empty(n, object)
            a[:] = items
        elif is_int(t):
            a = to(t, np.array(items, object)) if INT_BITS[t] >= 8 else \
                to(t, np.array(items, np.int64))
        elif is_float(t):
            a = to(t, np.array(items, np.float64))
            most = FLOATS[t][2]
            if not FLOATS[t][3] or special == 0:
                a = to(t, np.clip(np.array(items, np.float64), -most, most))
        else:
            a = np.array(items, NP[t])
        return a.reshape(tuple(shape))

    def element(self, t, lo, hi, special, step, extreme):
        if t == 'string':
            return self.pick(WORDS)
        if t == 'bool':
            return self.chance(0.5)
        if t in ('c64', 'c128'):
            return complex(self.int(-8, 8) / 2, self.int(-8, 8) / 2)
        if is_int(t):
            least, most = limits(t)
            if self.chance(extreme):
                return self.pick([least, most, most - 1, least + 1])
            a, b = max(least, int(np.ceil(lo))), min(most, int(np.floor(hi)))
            return self.int(a, max(a, b))
        if t == 'f8e8m0':
            return 2.0 ** self.int(-3, 4)
        if self.chance(special):
            return self.pick([np.inf, -np.inf, np.nan, -0.0, 0.0])
        return self.int(int(np.ceil(lo * step)), int(np.floor(hi * step))) / step

    def plain(self, t, shape, lo=-4.0, hi=4.0, step=8):
        """Without special or extreme elements."""
        return self.value(t, shape, lo, hi, 0, step, 0)

    # ---- cases
    def case(self, inputs, outputs, attrs=None, tolerance='exact', wanted=None):
        """`inputs` are arrays or None where absent; `outputs` arrays, lists for sequences, or None.
        `wanted[i]` False leaves output i out."""
        lines, names = [], []
        inputs = [None if a is None else np.asarray(a) for a in inputs]
        while inputs and inputs[-1] is None:
            inputs.pop()
        for i, a in enumerate(inputs):
            names.append('_' if a is None else 'abcdefghijkl'[i] if i < 12 else 'x%d' % i)
            if a is not None:
                lines.append('%s = const %s' % (names[-1], text(a)))
        outs = [('y%d' % i if len(outputs) > 1 else 'y')
                if wanted is None or wanted[i] else '_' for i in range(len(outputs))]
        kept = [o for o in outs if o != '_']
        lines.append('%s = %s%s%s' % (', '.join(outs), self.row.key,
                                      ''.join(' ' + n for n in names), attrs_text(attrs)))
        lines.append('return ' + ', '.join(kept))
        results = []
        for name, value in zip(outs, outputs):
            if name != '_':
                results += result_lines(value)
        return self.text_case(lines, results, tolerance, inputs + list(outputs))

    def text_case(self, lines, results, tolerance='exact', values=()):
        c = Case(lines, results, tolerance)
        arrays = [v for v in values if isinstance(v, np.ndarray)]
        c.types = dict(self.t)
        for v in arrays:
            if 0 in v.shape:
                c.shapes.add('zero')
            if v.ndim == 8:
                c.shapes.add('rank8')
        if arrays and arrays[0].ndim == 0:
            c.shapes.add('scalar')
        if self.broadcasts:
            c.shapes.add('broadcast')
        return c

    def items(self, parts, lines, results, tolerance='exact', out='y', more=()):
        """A case of IR lines about a sequence `s` of `parts` and constants `more` (a, b …)."""
        head, names = [], []
        for i, p in enumerate(parts):
            names.append('p%d' % i)
            head.append('p%d = const %s' % (i, text(p)))
        if parts:
            head.append('s = sequence_construct ' + ' '.join(names))
        for name, p in zip('abcdef', more):
            head.append('%s = const %s' % (name, text(p)))
        values = []
        for r in results:
            values += result_lines(r)
        return self.text_case(head + lines + ['return ' + out], values, tolerance,
                              list(parts) + list(more))

    def fails(self, inputs, status, attrs=None, outs=1):
        c = self.case(inputs, [None] * outs, attrs)
        c.results = ['! POPRT_E_' + status]
        c.shapes = set()
        return c
