# SPDX-License-Identifier: MIT
"""words.py: recipes of operators on strings and n-grams."""
import itertools
import re

import numpy as np

from pointwise import f32
from registry import recipe
from values import NP

EVERY = 'zero scalar rank8'


def strings(g, dims, words):
    n = int(np.prod(dims, dtype=int))
    a = np.empty(n, object)
    a[:] = [g.pick(words) for _ in range(n)]
    return a.reshape(dims)


@recipe('string_concat', EVERY + ' broadcast')
def concat(g):
    sa, sb = g.pair()
    a, b = g.value('string', sa), g.value('string', sb)
    x, y = np.broadcast_arrays(a, b)
    out = np.empty(x.shape, object)
    for i in np.ndindex(x.shape):
        out[i] = x[i] + y[i]
    return g.case([a, b], [out])


PIECES = ['', 'a,b', ',a,,b,', ' a  b ', 'abc', 'a--b--', '--', 'x, y', '\ta\nb ', 'aXbXc', 'XX']


@recipe('string_split', 'zero scalar')
def split(g):
    dims = g.shape(0, 3)
    x = strings(g, dims, PIECES)
    a, delimiter, most = {}, None, -1
    if g.chance(0.7):
        delimiter = a['delimiter'] = g.pick([',', '--', 'X', ' ', ''])
    if g.chance(0.5):
        most = a['maxsplit'] = g.int(0, 3)
    pieces = [s.split(delimiter or None, most) if delimiter else spaces(s, most)
              for s in x.reshape(-1)]
    width = max([len(p) for p in pieces] or [0])
    y = np.empty([len(pieces), width], object)
    for i, p in enumerate(pieces):
        y[i] = p + [''] * (width - len(p))
    return g.case([x], [y.reshape(dims + [width]),
                        np.array([len(p) for p in pieces], np.int64).reshape(dims)], a)


def spaces(s, most):
    return s.split(None, most)


@recipe('string_normalizer', 'zero')
def normalizer(g):
    words = ['Monday', 'monday', 'Straße', 'ÄÖ', 'x', '', 'tuesday', 'ж', 'TUESDAY']
    n = 0 if g.cls == 'zero' else g.int(1, 5)
    dims = [n] if g.chance(0.5) else [1, n]
    x, a = strings(g, dims, words), {}
    case = g.pick(['NONE', 'LOWER', 'UPPER'])
    if case != 'NONE' or g.chance(0.3):
        a['case_change_action'] = case
    sensitive = g.chance(0.5)
    if sensitive:
        a['is_case_sensitive'] = 1
    stop = []
    if g.chance(0.6):
        stop = a['stopwords'] = g.rng.sample(['monday', 'x', 'TUESDAY', 'ЖЖ'], g.int(1, 3))
    fold = (lambda s: s) if sensitive else str.lower
    left = [s for s in x.reshape(-1) if fold(s) not in [fold(w) for w in stop]]
    g.need(case != 'UPPER' or 'Straße' not in left, 'has no upper case of the same length')
    left = [s.lower() if case == 'LOWER' else s.upper() if case == 'UPPER' else s for s in left]
    left = left or ['']
    y = np.empty(len(left), object)
    y[:] = left
    return g.case([x], [y.reshape([len(left)] if len(dims) == 1 else [1, len(left)])], a)


# All of RE2 that Python's own syntax shares.
PATTERNS = [r'a+b*', r'[a-c]+', r'(ab|cd)*', r'\d{2,3}', r'.*@.*\.com', r'[^x]*', r'a?b?c?', r'',
            r'\w+\s\w+', r'(?:x|y)z', r'a{3}', r'.', r'[\w.]+', r'ü.*', r'^ab$',
            r'(a|ab)(c|bcd)', r'a.?c', r'\.', r'[[:alpha:]]+']
TEXTS = ['', 'a', 'ab', 'aab', 'abc', 'ABC', 'abcd', 'cdab', '12', '1234', 'me@x.com', 'x', 'x y',
         'xz', 'aaa', 'ün', '.', 'a\nc', 'a.c']


@recipe('regex_full_match', EVERY)
def regex(g):
    x, pattern = strings(g, g.shape(), TEXTS), g.pick(PATTERNS)
    python = pattern.replace('[[:alpha:]]', '[A-Za-z]')
    y = np.array([re.fullmatch(python, s, re.ASCII) is not None for s in x.reshape(-1)], bool)
    return g.case([x], [y.reshape(x.shape)], {'pattern': pattern})


@recipe('tf_idf_vectorizer', 'zero')
def tfidf(g):
    """N-grams with every number of skipped items up to the most, each counted."""
    t = g.t['T']
    items = ['a', 'b', 'c'] if t == 'string' else [1, 2, 3]
    low, high = g.pick([(1, 1), (1, 2), (2, 2), (1, 3), (2, 3)])
    most = g.int(0, 2)
    pool, counts = [], []
    for n in range(1, high + 1):
        counts.append(sum(len(p) for p in pool))
        every = list(itertools.product(items, repeat=n))
        pool += g.rng.sample(every, g.int(1, min(3, len(every))))
    indexes = g.rng.sample(range(len(pool) + 1), len(pool))
    mode = g.pick(['TF', 'IDF', 'TFIDF'])
    a = {'mode': mode, 'min_gram_length': low, 'max_gram_length': high, 'max_skip_count': most,
         'ngram_counts': counts, 'ngram_indexes': indexes}
    flat = [e for p in pool for e in p]
    a['pool_strings' if t == 'string' else 'pool_int64s'] = flat
    weights = [1.0] * len(pool)
    if g.chance(0.6):
        weights = a['weights'] = [g.int(1, 8) / 4 for _ in pool]
    n = 0 if g.cls == 'zero' else g.int(1, 6)
    dims = [n] if g.chance(0.5) else [g.int(1, 2), n]
    count = int(np.prod(dims))
    x = np.empty(count, NP[t])
    x[:] = [g.pick(items) for _ in range(count)]
    x = x.reshape(dims)
    size = max(indexes) + 1
    y = np.zeros([int(np.prod(dims[:-1], dtype=int)), size])
    for row, line in zip(y, x.reshape(-1, n) if n else np.empty([len(y), 0], x.dtype)):
        for gram, place, w in zip(pool, indexes, weights):
            k = len(gram)
            if not low <= k <= high:
                continue
            found = 0
            for step in range(1, (1 if k == 1 else most + 1) + 1):
                for at in range(n - (k - 1) * step):
                    found += tuple(line[at + i * step] for i in range(k)) == gram
            row[place] = found if mode == 'TF' else (found > 0) * f32(w) if mode == 'IDF' else \
                found * f32(w)
    return g.case([x], [y.reshape(dims[:-1] + [size]).astype(np.float32)], a)
