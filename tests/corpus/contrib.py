# SPDX-License-Identifier: MIT
"""contrib.py: recipes of ai.onnx.contrib and poprt.text, the operators on strings of converted
TensorFlow models."""
import itertools
import re

import numpy as np

from registry import recipe
from values import to
from words import EVERY, strings

WORDS = ['', ' ', 'Abc', ' x Y\t', 'straße', 'ÀÉ', '日本 語', '\n\v\f\r', 'zebra', 'a,b;;c', ',',
         '-x-']


def texts(values, dims):
    y = np.empty(len(values), object)
    y[:] = values
    return y.reshape(dims)


def one(g, value):
    """A string as a scalar or as a vector of one element."""
    return texts([value], [] if g.chance(0.3) else [1])


def ascii_case(s, first, other):
    return ''.join(chr(ord(c) - ord(first) + ord(other)) if 0 <= ord(c) - ord(first) < 26 else c
                   for c in s)


@recipe('contrib_string_upper contrib_string_lower contrib_string_strip', EVERY)
def changed(g):
    change = {'contrib_string_upper': lambda s: ascii_case(s, 'a', 'A'),
              'contrib_string_lower': lambda s: ascii_case(s, 'A', 'a'),
              'contrib_string_strip': lambda s: s.strip(' \t\n\v\f\r')}[g.row.key]
    x = strings(g, g.shape(), WORDS)
    return g.case([x], [texts([change(s) for s in x.reshape(-1)], x.shape)])


@recipe('contrib_string_length text_string_byte_length', EVERY)
def lengths(g):
    x = strings(g, g.shape(), WORDS)
    size = len if g.row.key.startswith('contrib') else lambda s: len(s.encode())
    return g.case([x], [np.array([size(s) for s in x.reshape(-1)], np.int64).reshape(x.shape)])


@recipe('contrib_string_concat contrib_string_equal', EVERY + ' broadcast')
def pairs(g):
    sa, sb = g.pair()
    words = WORDS if g.row.key.endswith('concat') else ['', 'a', 'b']
    a, b = strings(g, sa, words), strings(g, sb, words)
    x, y = np.broadcast_arrays(a, b)
    if g.row.key.endswith('concat'):
        return g.case([a, b], [texts([p + q for p, q in zip(x.flat, y.flat)], x.shape)])
    return g.case([a, b], [np.array([p == q for p, q in zip(x.flat, y.flat)], bool)
                           .reshape(x.shape)])


def joined(x, axis, separator):
    rest = np.moveaxis(x, axis, -1)
    flat = rest.reshape(-1, rest.shape[-1]) if rest.size else \
        np.empty([int(np.prod(rest.shape[:-1])), 0], object)
    return texts([separator.join(row) for row in flat], rest.shape[:-1])


@recipe('contrib_string_join', EVERY)
def join(g):
    x = strings(g, g.shape(), WORDS)
    separator, axis = g.pick(['', ',', ' -- ', 'é']), 0
    if x.ndim:
        axis = g.int(-x.ndim, x.ndim - 1)
        y = joined(x, axis, separator)
    else:
        y = x
    return g.case([x, one(g, separator), np.array([axis], np.int64)],
                  [y if y.ndim else y.reshape(1)])


@recipe('text_reduce_join', EVERY)
def reduce_join(g):
    """Several axes are joined one after the other, the first of the list first."""
    x = strings(g, g.shape(), WORDS)
    axes = g.rng.sample(range(x.ndim), g.int(0, min(3, x.ndim)))
    separator, a, y = g.pick(['', ',', ' -- ']), {}, x
    for axis in axes:
        y = np.expand_dims(joined(y, axis, separator), axis)
    g.need(x.size or len(axes) < 2, 'an axis without strings')
    if g.chance(0.5):
        a['keep_dims'] = 1
    else:
        y = y.reshape([d for i, d in enumerate(y.shape) if i not in axes])
    if separator or g.chance(0.5):
        a['separator'] = separator
    listed = [k - x.ndim if g.chance(0.3) else k for k in axes]
    return g.case([x, np.array(listed, g.t['I'].replace('i', 'int'))], [y], a)


@recipe('text_unsorted_segment_join', 'zero')
def segment_join(g):
    """The separator is left out after results that are still empty."""
    dims = g.shape(1, 3)
    k, n = g.int(1, len(dims)), g.int(1, 4)
    x = strings(g, dims, ['', 'a', 'bc', 'é'])
    ids = to(g.t['I'], np.array([g.int(0, n - 1) for _ in range(int(np.prod(dims[:k])))], object)
             .reshape(dims[:k]))
    separator = g.pick([None, ', '])
    y = texts([''] * (n * int(np.prod(dims[k:]))), [n] + dims[k:])
    for at in itertools.product(*map(range, dims)):
        to_ = (int(ids[at[:k]]),) + at[k:]
        y[to_] = y[to_] + (separator or '') * (y[to_] != '') + x[at]
    number = to(g.t['N'], np.array(n, object))
    return g.case([x, ids, number], [y], {} if separator is None else {'separator': separator})


@recipe('contrib_string_split', 'zero')
def split(g):
    n = 0 if g.cls == 'zero' else g.int(1, 4)
    x = strings(g, [n], ['', 'a,b', ',a,,b,', ' a  b ', 'abc', ',;', ';x,y', '\ta\nb '])
    separator, skip = g.pick([',', ';,', ' \t\n', '', 'X']), g.chance(0.5)
    found, values, most = [], [], 0
    for i, s in enumerate(x):
        pieces = list(s) if not separator else \
            re.split('[%s]' % re.escape(separator), s) if s else []
        pieces = [p for p in pieces if p or not skip]
        found += [(i, k) for k in range(len(pieces))]
        values += pieces
        most = max(most, len(pieces))
    return g.case([x, one(g, separator), np.array([skip])],
                  [np.array(found, np.int64).reshape(-1, 2), texts(values, [-1]),
                   np.array([n, most], np.int64)])


@recipe('contrib_string_regex_replace', EVERY)
def regex_replace(g):
    """RE2's \\s does not have the vertical tab, which Python's has."""
    x = strings(g, g.shape(), [w for w in WORDS if '\v' not in w] +
                ['aXbX', 'a1b22', 'key=value', '12-34'])
    pattern, rewrite = g.pick([
        ('X', '-'), ('[a-c]+', r'<\0>'), (r'\s', '_'), (r'(\w+)=(\w+)', r'\2=\1'), ('é|É', r'\\'),
        (r'(\d)(\d)?', r'[\2]'), (r'[^\x{0}-\x{7f}]', '?'), (r'\bb|a\b', ''),
        (r'(?:x|Y)+?', r'\0\0'),
        (r'^.', ''), (r'(-)(.*?)(-)', r'\3\2\1')])
    escaped = re.sub(r'\\x{(\w+)}', lambda m: '\\x%02x' % int(m[1], 16), pattern)
    python = re.compile(escaped, re.ASCII)
    once = g.chance(0.4)

    def replacement(m):
        return re.sub(r'\\(.)', lambda r: '\\' if r[1] == '\\' else m[int(r[1])] or '', rewrite)
    y = [python.sub(replacement, s, count=int(once)) for s in x.reshape(-1)]
    return g.case([x, one(g, pattern), one(g, rewrite)], [texts(y, x.shape)],
                  {'global_replace': 0} if once else {})


@recipe('contrib_string_regex_split_with_offsets', 'zero')
def regex_split(g):
    """Offsets count bytes."""
    n = 0 if g.cls == 'zero' else g.int(1, 4)
    x = strings(g, [n], ['', 'hello there', ' a  b ', 'né, so', '--', 'a-b', '-'])
    pattern, keep = g.pick([r'(\s)', '(,? )', '([-,])', '(é)']), g.pick(['', '-', r'\s', ', '])
    words, ranges, rows = [], [], [0]
    for s in x:
        at = 0
        pieces = re.split(pattern, s)
        for k, piece in enumerate(pieces):
            end = at + len(piece.encode())
            if piece and (k % 2 == 0 or (keep and re.fullmatch(keep, piece))):
                words.append(piece)
                ranges.append((at, end))
            at = end
        rows.append(len(words))
    ranges = np.array(ranges, np.int64).reshape(-1, 2)
    kept = one(g, keep) if keep or g.chance(0.5) else np.empty([0], object)
    return g.case([x, one(g, pattern), kept],
                  [texts(words, [-1]), ranges[:, 0], ranges[:, 1], np.array(rows, np.int64)])


@recipe('text_substr', EVERY + ' broadcast')
def substr(g):
    x = strings(g, g.shape(), ['naïve', '日本 語', 'zebra', 'éé', 'crossing'])
    characters, single = g.chance(0.5), g.chance(0.5) or not x.size
    dims = [] if single else g.partner(list(x.shape))
    least = 2 if characters else 4  # units of the shortest string
    pos = g.value(g.t['I'], dims, -least, least, 0, 1, 0)
    size = g.value(g.t['I'], dims, -1, 6, 0, 1, 0)
    y = []
    for s, p, n in zip(*(v.flat for v in np.broadcast_arrays(x, pos, size))):
        units = list(s) if characters else [bytes([b]) for b in s.encode()]
        first = int(p) % len(units) if p < 0 else int(p)
        piece = units[first:] if n < 0 else units[first:first + int(n)]
        if not characters:
            piece = b''.join(piece)
            g.need(piece.decode(errors='ignore').encode() == piece, 'not UTF-8')
            piece = piece.decode()
        y.append(''.join(piece))
    shape = np.broadcast_shapes(x.shape, pos.shape)
    return g.case([x, pos, size], [texts(y, shape)], {'unit': 'UTF8_CHAR'} if characters else {})


@recipe('text_as_string', EVERY)
def as_string(g):
    """Python formats numbers like printf of the C library."""
    t, a = g.t['T'], {}
    x = g.value(t, g.shape(), -99.0, 99.0)
    if t == 'bool':
        return g.case([x], [texts([str(bool(v)).lower() for v in x.flat], x.shape)])
    flag, kind = g.pick(['', ' ', '+', '-', '0', '#']), 'd'
    unsigned = t.startswith('u')
    if flag:
        a['fill'] = flag
    if g.chance(0.6):
        a['width'] = g.int(0, 12)
    spec = '%' + ('' if unsigned and flag in '+ ' or flag == '#' and 'f' not in t else flag) + \
        (str(a['width']) if a.get('width') else '')
    if 'f' in t:
        kind = g.pick('fge')
        if kind != 'f':
            a['scientific' if kind == 'e' else 'shortest'] = 1
        if g.chance(0.5):
            a['precision'] = g.int(0, 9)
            spec += '.%d' % a['precision']
    y = []
    for v in x.flat:
        number = float(v) if 'f' in t else int(v)
        bad = 'f' in t and not np.isfinite(number)
        # printf fills with spaces where there are no digits, and shows the sign of NaN
        g.need(not (bad and (np.isnan(number) or flag in '0#')), 'printf of Python')
        y.append((spec + kind) % number)
    return g.case([x], [texts(y, x.shape)], a)
