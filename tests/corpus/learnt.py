# SPDX-License-Identifier: MIT
"""learnt.py: recipes of ai.onnx.ml: simple ones from the specification's text; classifiers, vector
machines and trees by ONNX Runtime, which the tools that make such models test against."""
import numpy as np

from registry import peer, recipe
from values import NP, is_int, text, to

STRINGS = ['a', 'b', 'cc', 'ü', '']


def table(g, t, columns=None, lo=-4):
    """[n, columns], or one row without its axis."""
    n = 0 if g.cls == 'zero' else g.int(1, 3)
    c = columns or g.int(1, 4)
    return g.plain(t, [n, c], lo)


@recipe('ml_array_feature_extractor', 'zero')
def extractor(g):
    x = g.value(g.t['T'], g.shape(1, 3))
    n = x.shape[-1]
    g.need(n > 0, 'nothing to take')
    at = np.array([g.int(0, n - 1) for _ in range(g.int(1, 3))], np.int64)
    y = np.take(x, at, -1)
    if x.ndim == 1:
        y = y.reshape(1, -1)
    return g.case([x, at.reshape(g.pick([[-1], [1, -1]]))], [y])


@recipe('ml_binarizer', 'zero scalar rank8')
def binarizer(g):
    x, a, limit = g.plain(g.t['T'], g.shape()), {}, 0.0
    if g.chance(0.7):
        limit = a['threshold'] = g.int(-8, 8) / 4
    return g.case([x], [(x.astype(float) > limit).astype(x.dtype)], a)


@recipe('ml_category_mapper', 'zero scalar rank8')
def mapper(g):
    t, u = g.t['T1'], g.t['T2']
    g.need(t != u, 'maps between strings and integers')
    ints = g.rng.sample(range(-3, 9), 3)
    words = g.rng.sample(STRINGS, 3)
    a = {'cats_strings': words, 'cats_int64s': ints}
    word, number = '_Unused', -1
    if g.chance(0.5):
        word, number = a['default_string'], a['default_int64'] = 'none', 77
    dims = g.shape()
    n = int(np.prod(dims, dtype=int))
    x, y = np.empty(n, NP[t]), np.empty(n, NP[u])
    x[:] = [g.pick(STRINGS if t == 'string' else range(-3, 9)) for _ in range(n)]
    pairs = dict(zip(words, ints)) if t == 'string' else dict(zip(ints, words))
    y[:] = [pairs.get(e, number if t == 'string' else word) for e in x]
    return g.case([x.reshape(dims)], [y.reshape(dims)], a)


@recipe('ml_feature_vectorizer', 'zero')
def vectorizer(g):
    n, sizes = 0 if g.cls == 'zero' else g.int(1, 3), [g.int(1, 3) for _ in range(g.int(1, 3))]
    xs = [g.plain(g.t['T1'], [n, c]) for c in sizes]
    y = np.concatenate([x.astype(np.float32) for x in xs], 1)
    return g.case(xs, [y], {'inputdimensions': sizes})


@recipe('ml_imputer', 'zero')
def imputer(g):
    t = g.t['T']
    x = table(g, t)
    c = x.shape[1]
    many = c if g.chance(0.5) else 1
    if is_int(t):
        old = g.int(-4, 4)
        values = [g.int(10, 20) for _ in range(many)]
        a = {'imputed_value_int64s': values, 'replaced_value_int64': old}
        hit = x == old
    else:
        old = g.pick([float('nan'), 0.0, 1.0])
        values = [g.int(40, 80) / 4 for _ in range(many)]
        a = {'imputed_value_floats': values, 'replaced_value_float': old}
        if old != old and x.size:
            x[0, 0] = old
        hit = np.isnan(x) if old != old else x == old
    y = np.where(hit, np.broadcast_to(np.array(values), x.shape).astype(x.dtype), x)
    return g.case([x], [y.astype(x.dtype)], a)


@recipe('ml_label_encoder', 'zero scalar rank8')
def encoder(g):
    """Keys and values as lists where the type has an attribute for one, else as tensors."""
    t, u = g.t['T1'], g.t['T2']
    listed = {'string': 'strings', 'i64': 'int64s', 'f32': 'floats'}

    def some(t):
        if t == 'string':
            return g.rng.sample(STRINGS, 3)
        return [k / 2 if t in ('f32', 'f64') else k for k in g.rng.sample(range(-4, 9), 3)]
    keys, values = some(t), some(u)
    a = {}
    default = {'string': '_Unused', 'i64': -1, 'f32': -0.0, 'f64': -0.0}.get(u, -1)
    tensors = not (t in listed and u in listed) or g.chance(0.3)
    if tensors:
        a['keys_tensor'], a['values_tensor'] = array(keys, t), array(values, u)
        default = {'string': 'none'}.get(u, 7)
        a['default_tensor'] = array([default], u)
    else:
        a['keys_' + listed[t]], a['values_' + listed[u]] = keys, values
        if g.chance(0.6):
            name = {'string': 'string', 'i64': 'int64', 'f32': 'float'}[u]
            default = a['default_' + name] = {'string': 'none', 'i64': 5, 'f32': 0.5}[u]
    dims = g.shape()
    n = int(np.prod(dims, dtype=int))
    x = array([g.pick(keys if g.chance(0.7) else some(t)) for _ in range(n)], t)
    pairs = dict(zip(keys, values))
    y = array([pairs.get(e if t == 'string' else e.item(), default) for e in x], u)
    return g.case([x.reshape(dims)], [y.reshape(dims)], a)


def array(items, t):
    a = np.empty(len(items), NP[t])
    a[:] = items
    return a


@recipe('ml_linear_regressor', 'zero')
def regressor(g):
    x = table(g, g.t['T'])
    c, n = x.shape[1], g.int(1, 3)
    w = [g.int(-8, 8) / 4 for _ in range(c * n)]
    b = [g.int(-8, 8) / 4 for _ in range(n)] if g.chance(0.6) else None
    a = {'coefficients': w, 'targets': n}
    if b:
        a['intercepts'] = b
    y = x.astype(float) @ np.array(w).reshape(n, c).T + (np.array(b) if b else 0)
    return g.case([x], [to('f32', y)], a, 'round')


@recipe('ml_normalizer', 'zero')
def normalizer(g):
    """A row of zeros stays so; MAX divides by the largest, whatever its sign."""
    x, how = table(g, g.t['T'], lo=1 if g.chance(0.3) else -4), g.pick(['MAX', 'L1', 'L2'])
    v = x.astype(float)
    if how == 'MAX':
        n = np.max(v, 1, keepdims=True, initial=-np.inf)
        g.need(np.all(n > 0), 'the largest is not positive: read in two ways')
    else:
        n = np.sum(np.abs(v)**(1 if how == 'L1' else 2), 1, keepdims=True)
        n = n if how == 'L1' else np.sqrt(n)
    y = np.where(n == 0, v, v / np.where(n == 0, 1, n))
    return g.case([x], [to('f32', y)], {'norm': how} if how != 'MAX' or g.chance(0.3) else {},
                  'round')


@recipe('ml_one_hot_encoder', 'zero')
def one_hot(g):
    t = g.t['T']
    dims = g.shape(1, 3)
    n = int(np.prod(dims))
    cats = g.rng.sample(STRINGS if t == 'string' else range(0, 6), 3)
    x = array([g.pick(cats) for _ in range(n)], t)
    a = {'cats_strings' if t == 'string' else 'cats_int64s': cats}
    if g.chance(0.5):
        a['zeros'] = 1
        if n:
            x[0] = 'nowhere' if t == 'string' else 9
    y = np.array([[float(e == c) for c in cats] for e in x], np.float32)
    return g.case([x.reshape(dims)], [y.reshape(dims + [3])], a)


@recipe('ml_scaler', 'zero')
def scaler(g):
    x = table(g, g.t['T'])
    n = x.shape[1] if g.chance(0.7) else 1
    offset, by = ([g.int(-8, 8) / 4 for _ in range(n)] for _ in range(2))
    y = (x.astype(float) - np.array(offset)) * np.array(by)
    return g.case([x], [to('f32', y)], {'offset': offset, 'scale': by}, 'round')


POST = ['NONE', 'SOFTMAX', 'LOGISTIC', 'SOFTMAX_ZERO']


def labels(g, a, n, t, ints='classlabels_ints'):
    if t == 'string':
        a['classlabels_strings'] = ['c%d' % k for k in range(n)]
    else:
        a[ints] = [10 + k for k in range(n)]


def separate(scores):
    """The best score is the best by far."""
    s = np.sort(np.asarray(scores, float), -1)
    return s.shape[-1] < 2 or bool(np.all(s[..., -1] - s[..., -2] > 1e-3))


@recipe('ml_linear_classifier', 'zero')
def classifier(g):
    x = table(g, g.t['T1'])
    g.need(g.cls != 'zero', 'ONNX Runtime takes no empty input')
    c, n = x.shape[1], g.int(2, 4)
    a = {'coefficients': [g.int(-8, 8) / 4 for _ in range(c * n)],
         'intercepts': [g.int(-8, 8) / 4 for _ in range(n)]}
    labels(g, a, n, g.t['T2'])
    how = g.pick(POST)
    if how != 'NONE':
        a['post_transform'] = how
    y, z = peer(g, [x.astype(np.float32)], a, 2)
    g.need(separate(z), 'ties')
    return g.case([x], [strings(y), z], a, 'peer')


def strings(y):
    return y.astype(object) if y.dtype.kind in 'OUS' else y


def kernel(g, a):
    kind = g.pick(['LINEAR', 'POLY', 'RBF', 'SIGMOID'])
    a['kernel_type'] = kind
    a['kernel_params'] = [g.int(1, 4) / 8, g.int(-2, 2) / 4, float(g.int(1, 3))]


@recipe('ml_svm_regressor', 'zero')
def svm_regressor(g):
    x = table(g, g.t['T'])
    n, c = g.int(1, 3), x.shape[1]
    a = {'n_supports': n, 'coefficients': [g.int(-8, 8) / 4 for _ in range(n)],
         'support_vectors': [g.int(-8, 8) / 4 for _ in range(n * c)],
         'rho': [g.int(-8, 8) / 4]}
    kernel(g, a)
    v = np.array(a['support_vectors']).reshape(n, c)
    gamma, zero, degree = a['kernel_params']
    dots = x.astype(float) @ v.T
    k = {'LINEAR': lambda: dots, 'POLY': lambda: (gamma * dots + zero)**degree,
         'SIGMOID': lambda: np.tanh(gamma * dots + zero),
         'RBF': lambda: np.exp(-gamma * np.sum((x.astype(float)[:, None] - v)**2, 2))}[
             a['kernel_type']]()
    y = k @ np.array(a['coefficients']) + a['rho'][0]
    if g.chance(0.2):
        a['one_class'] = 1
        y = np.where(y > 0, 1.0, -1.0)
    return g.case([x], [to('f32', y.reshape(-1, 1))], a, 'sum')


@recipe('ml_svm_classifier', 'zero')
def svm_classifier(g):
    x = table(g, g.t['T1'])
    g.need(g.cls != 'zero', 'ONNX Runtime takes no empty input')
    n, c = g.int(2, 3), x.shape[1]
    per = [g.int(1, 2) for _ in range(n)]
    v, pairs = sum(per), n * (n - 1) // 2
    a = {'vectors_per_class': per, 'coefficients': [g.int(-8, 8) / 4 for _ in range(v * (n - 1))],
         'support_vectors': [g.int(-8, 8) / 4 for _ in range(v * c)],
         'rho': [g.int(-8, 8) / 4 for _ in range(pairs)]}
    kernel(g, a)
    labels(g, a, n, g.t['T2'])
    if g.chance(0.4):
        a['prob_a'] = [-g.int(1, 8) / 4 for _ in range(pairs)]
        a['prob_b'] = [g.int(-4, 4) / 4 for _ in range(pairs)]
    y, z = peer(g, [x.astype(np.float32)], a, 2)
    g.need(separate(z) and np.all(np.abs(z) > 1e-3), 'ties')
    return g.case([x], [strings(y), z], a, 'peer')


MODES = ['BRANCH_LEQ', 'BRANCH_LT', 'BRANCH_GTE', 'BRANCH_GT', 'BRANCH_EQ', 'BRANCH_NEQ']


def trees(g, features):
    """Attributes of one to three random trees, and their leaves."""
    a = {k: [] for k in ('nodes_treeids', 'nodes_nodeids', 'nodes_featureids', 'nodes_modes',
                         'nodes_values', 'nodes_truenodeids', 'nodes_falsenodeids',
                         'nodes_missing_value_tracks_true')}
    leaves = []
    for tree in range(g.int(1, 3)):
        todo, next_id = [(0, 0)], 1
        mode = g.pick(MODES)
        while todo:
            node, depth = todo.pop(0)
            leaf = depth == 2 or depth > 0 and g.chance(0.4)
            a['nodes_treeids'].append(tree)
            a['nodes_nodeids'].append(node)
            a['nodes_featureids'].append(0 if leaf else g.int(0, features - 1))
            a['nodes_modes'].append('LEAF' if leaf else mode)
            a['nodes_values'].append(0.0 if leaf else g.int(-12, 12) / 4)
            a['nodes_truenodeids'].append(0 if leaf else next_id)
            a['nodes_falsenodeids'].append(0 if leaf else next_id + 1)
            a['nodes_missing_value_tracks_true'].append(0 if leaf else g.int(0, 1))
            if leaf:
                leaves.append((tree, node))
            else:
                todo += [(next_id, depth + 1), (next_id + 1, depth + 1)]
                next_id += 2
    return a, leaves


@recipe('ml_tree_ensemble_regressor', 'zero')
def tree_regressor(g):
    x = table(g, g.t['T'])
    g.need(g.cls != 'zero', 'ONNX Runtime takes no empty input')
    a, leaves = trees(g, x.shape[1])
    n, least, all_vote = g.int(1, 3), g.chance(0.3), g.chance(0.6)
    all_vote |= least
    a['target_treeids'], a['target_nodeids'], a['target_ids'], a['target_weights'] = [], [], [], []
    for tree, node in leaves:
        for k in g.rng.sample(range(n), n if all_vote else g.int(1, n)):
            a['target_treeids'].append(tree)
            a['target_nodeids'].append(node)
            a['target_ids'].append(k)
            a['target_weights'].append(g.int(-8, 8) / 4)
    a['n_targets'] = n
    # Without any vote for a target, ONNX Runtime drops its base value, against the text.
    if least or g.chance(0.5):
        a['aggregate_function'] = g.pick(['MIN', 'MAX'] if least else ['SUM', 'AVERAGE'])
    if all_vote and g.chance(0.6):
        a['base_values'] = [g.int(-8, 8) / 4 for _ in range(n)]
    y = peer(g, [x.astype(np.float32)], a)[0]
    return g.case([x], [y], a, 'peer')


@recipe('ml_tree_ensemble_classifier', 'zero')
def tree_classifier(g):
    x = table(g, g.t['T1'])
    g.need(g.cls != 'zero', 'ONNX Runtime takes no empty input')
    a, leaves = trees(g, x.shape[1])
    n = g.int(3, 4)
    a['class_treeids'], a['class_nodeids'], a['class_ids'], a['class_weights'] = [], [], [], []
    for tree, node in leaves:
        for k in range(n):
            a['class_treeids'].append(tree)
            a['class_nodeids'].append(node)
            a['class_ids'].append(k)
            a['class_weights'].append(g.int(-16, 16) / 8)
    labels(g, a, n, g.t['T2'], 'classlabels_int64s')
    how = g.pick(POST)
    if how != 'NONE':
        a['post_transform'] = how
    y, z = peer(g, [x.astype(np.float32)], a, 2)
    g.need(separate(z), 'ties')
    return g.case([x], [strings(y), z], a, 'peer')


@recipe('ml_tree_ensemble', 'zero')
def tree_ensemble(g):
    """One tree of one node and two leaves for each feature."""
    t = g.t['T']
    x = table(g, t)
    c, n = x.shape[1], g.int(1, 2)
    modes = [g.int(0, 5) for _ in range(c)]
    splits = [g.int(-8, 8) / 4 for _ in range(c)]
    weights = [g.int(-8, 8) / 4 for _ in range(2 * c)]
    targets = [g.int(0, n - 1) for _ in range(2 * c)]
    a = {'n_targets': n, 'tree_roots': list(range(c)), 'nodes_featureids': list(range(c)),
         'nodes_modes': np.array(modes, np.uint8), 'nodes_splits': to(t, np.array(splits)),
         'nodes_truenodeids': [2 * k for k in range(c)], 'nodes_trueleafs': [1] * c,
         'nodes_falsenodeids': [2 * k + 1 for k in range(c)], 'nodes_falseleafs': [1] * c,
         'leaf_targetids': targets, 'leaf_weights': to(t, np.array(weights))}
    y = np.zeros([x.shape[0], n])
    test = [np.less_equal, np.less, np.greater_equal, np.greater, np.equal, np.not_equal]
    for row in range(x.shape[0]):
        for k in range(c):
            leaf = 2 * k + (0 if test[modes[k]](float(x[row, k]), splits[k]) else 1)
            y[row, targets[leaf]] += weights[leaf]
    return g.case([x], [to(t, y)], a, 'round')


def map_of(g, a):
    """Lines that make a map `m` of a row of scores: through ZipMap and SequenceAt."""
    n = g.int(1, 4)
    keys = g.rng.sample(range(0, 9), n) if g.chance(0.5) else g.rng.sample(STRINGS[:4], n)
    x = g.plain('f32', [g.int(1, 2), n])
    row = g.int(0, x.shape[0] - 1)
    name = 'classlabels_int64s=[%s]' % ','.join(map(str, keys)) if isinstance(keys[0], int) else \
        'classlabels_strings=[%s]' % ','.join('"%s"' % k for k in keys)
    return ['a = const ' + text(x), 'b = const i64[] {%d}' % row,
            's = ml_zip_map a {%s}' % name, 'm = sequence_at s b'], dict(zip(keys, x[row])), x


@recipe('ml_zip_map ml_dict_vectorizer')
def dictionary(g):
    """By the text the result is a vector; as in ONNX Runtime it is one row of a matrix."""
    lines, pairs, x = map_of(g, {})
    if isinstance(next(iter(pairs)), int):
        vocabulary = g.rng.sample(range(0, 9), 4)
        words = 'int64_vocabulary=[%s]' % ','.join(map(str, vocabulary))
    else:
        vocabulary = g.rng.sample(STRINGS[:4] + ['x'], 4)
        words = 'string_vocabulary=[%s]' % ','.join('"%s"' % k for k in vocabulary)
    y = np.array([pairs.get(k, 0) for k in vocabulary], np.float32)
    g.t = {k: 'f32' if k != 'T1' else v for k, v in g.t.items()}
    return g.text_case(lines + ['y = ml_dict_vectorizer m {%s}' % words, 'return y'],
                       ['= ' + text(y.reshape(1, -1))], 'exact', [x])


@recipe('ml_cast_map')
def cast_map(g):
    lines, pairs, x = map_of(g, {})
    g.need(isinstance(next(iter(pairs)), int), 'keys are integers')
    t = g.t['T2']
    how = {'f32': 'TO_FLOAT', 'i64': 'TO_INT64', 'string': 'TO_STRING'}[t]
    values = np.array([pairs[k] for k in sorted(pairs)], np.float32)
    form = 'cast_to="%s"' % how
    if g.chance(0.5):
        most = max(pairs) + g.int(1, 3)
        values = np.array([pairs.get(k, 0) for k in range(most)], np.float32)
        form += ', map_form="SPARSE", max_map=%d' % most
    g.need(t != 'string', 'how floats are written is not said')
    y = np.trunc(values).astype(np.int64) if t == 'i64' else values
    return g.text_case(lines + ['y = ml_cast_map m {%s}' % form, 'return y'],
                       ['= ' + text(y.reshape(1, -1))], 'exact', [x])

