# SPDX-License-Identifier: MIT
"""recurrent.py: recipes of RNN, GRU and LSTM, step by step from the equations of the
specification. Clipping is of what goes into the gates' functions, not of the cell's state."""
import numpy as np

from pointwise import f32, sigmoid, softplus
from registry import recipe
from values import to, wide

# name: function of x, alpha, beta; their defaults
FUNCTIONS = {
    'Relu': (lambda x, a, b: np.maximum(x, 0), None, None),
    'Tanh': (lambda x, a, b: np.tanh(x), None, None),
    'Sigmoid': (lambda x, a, b: sigmoid(x), None, None),
    'Affine': (lambda x, a, b: a * x + b, 1.0, 0.0),
    'LeakyRelu': (lambda x, a, b: np.where(x >= 0, x, a * x), 0.01, None),
    'ThresholdedRelu': (lambda x, a, b: np.where(x >= a, x, 0.0), 1.0, None),
    'ScaledTanh': (lambda x, a, b: a * np.tanh(b * x), 1.0, 1.0),
    'HardSigmoid': (lambda x, a, b: np.clip(a * x + b, 0, 1), 0.2, 0.5),
    'Elu': (lambda x, a, b: np.where(x >= 0, x, a * np.expm1(x)), 1.0, None),
    'Softsign': (lambda x, a, b: x / (1 + np.abs(x)), None, None),
    'Softplus': (lambda x, a, b: softplus(x), None, None),
}
USUAL = {'rnn': ['Tanh'], 'gru': ['Sigmoid', 'Tanh'], 'lstm': ['Sigmoid', 'Tanh', 'Tanh']}
GATES = {'rnn': 1, 'gru': 3, 'lstm': 4}


def functions(g, a, directions):
    """Activations of all directions, and their attributes: factors for those that have some, in
    order; all given or none."""
    usual = USUAL[g.row.key]
    if g.chance(0.5):
        return [functions_of(usual, [], [])[0] for _ in range(directions)]
    names = [g.pick(FUNCTIONS) for _ in range(directions * len(usual))]
    a['activations'] = names
    alphas = [n for n in names if FUNCTIONS[n][1] is not None]
    betas = [n for n in names if FUNCTIONS[n][2] is not None]
    alpha = [g.int(1, 8) / 8 for _ in alphas] if g.chance(0.6) else []
    beta = [g.int(1, 8) / 8 for _ in betas] if g.chance(0.6) else []
    if alpha:
        a['activation_alpha'] = alpha
    if beta:
        a['activation_beta'] = beta
    done, n = [], len(usual)
    for d in range(directions):
        made, alpha, beta = functions_of(names[d * n:(d + 1) * n], alpha, beta)
        done.append(made)
    return done


def functions_of(names, alpha, beta):
    made = []
    for name in names:
        f, a, b = FUNCTIONS[name]
        a, b = (None if v is None else f32(v) for v in (a, b))
        if a is not None and alpha:
            a, alpha = alpha[0], alpha[1:]
        if b is not None and beta:
            b, beta = beta[0], beta[1:]
        made.append(lambda x, f=f, a=a, b=b: f(x, a, b))
    return made, alpha, beta


def run(key, a, f, x, w, r, b, p, h, c, length, clip):
    """One direction of one batch entry: x is [steps, inputs]."""
    n = h.shape[0]
    wb, rb = (np.zeros(w.shape[0]),) * 2 if b is None else (b[:w.shape[0]], b[w.shape[0]:])

    def act(k, v):
        return f[k](np.clip(v, -clip, clip) if clip else v)
    out = []
    for t in range(length):
        gate = w @ x[t] + wb
        if key == 'rnn':
            h = act(0, gate + r @ h + rb)
        elif key == 'gru':
            z, q = (act(0, (gate + r @ h + rb)[k * n:(k + 1) * n]) for k in range(2))
            if a.get('linear_before_reset'):
                m = gate[2 * n:] + q * (r[2 * n:] @ h + rb[2 * n:])
            else:
                m = gate[2 * n:] + r[2 * n:] @ (q * h) + rb[2 * n:]
            h = (1 - z) * act(1, m) + z * h
        else:
            i, o, q, m = np.split(gate + r @ h + rb, 4)
            if p is not None:
                i, q = i + p[:n] * c, q + p[2 * n:] * c
            i = act(0, i)
            q = 1 - i if a.get('input_forget') else act(0, q)
            c = q * c + i * act(1, m)
            if p is not None:
                o = o + p[n:2 * n] * c
            h = act(0, o) * f[2](c)
        out.append(h)
    return out, h, c


@recipe('rnn gru lstm', 'zero')
def recurrent(g):
    key, t = g.row.key, g.t['T']
    steps, batch, inputs, n = g.int(1, 3), g.int(1, 2), g.int(1, 3), g.int(1, 3)
    if g.cls == 'zero':
        steps, batch = g.pick([(0, batch), (steps, 0)])
    direction = g.pick(['forward', 'reverse', 'bidirectional'])
    dirs = 2 if direction == 'bidirectional' else 1
    a = {'hidden_size': n}
    if direction != 'forward' or g.chance(0.2):
        a['direction'] = direction
    f = functions(g, a, dirs)
    clip = 0
    if g.chance(0.3):
        clip = a['clip'] = g.int(1, 8) / 4
    if key == 'gru' and g.chance(0.5):
        a['linear_before_reset'] = 1
    if key == 'lstm' and g.chance(0.3):
        a['input_forget'] = 1
    layout = g.int(0, 1)
    if layout:
        a['layout'] = 1
    m = GATES[key] * n
    x = g.plain(t, [steps, batch, inputs], -2, 2)
    w, r = g.plain(t, [dirs, m, inputs], -1, 1), g.plain(t, [dirs, m, n], -1, 1)
    b = g.plain(t, [dirs, 2 * m], -1, 1) if g.chance(0.5) else None
    lens = np.array([g.int(0, steps) for _ in range(batch)], np.int32) if g.chance(0.4) else None
    h = g.plain(t, [dirs, batch, n], -1, 1) if g.chance(0.5) else None
    c = g.plain(t, [dirs, batch, n], -1, 1) if key == 'lstm' and g.chance(0.5) else None
    p = g.plain(t, [dirs, 3 * n], -1, 1) if key == 'lstm' and g.chance(0.4) else None
    y = np.zeros([steps, dirs, batch, n])
    yh, yc = np.zeros([dirs, batch, n]), np.zeros([dirs, batch, n])
    for d in range(dirs):
        back = direction == 'reverse' or d == 1
        for k in range(batch):
            length = steps if lens is None else int(lens[k])
            v = wide(x)[:length, k]
            out, yh[d, k], yc[d, k] = run(
                key, a, f[d], v[::-1] if back else v, wide(w)[d], wide(r)[d],
                None if b is None else wide(b)[d], None if p is None else wide(p)[d],
                np.zeros(n) if h is None else wide(h)[d, k],
                np.zeros(n) if c is None else wide(c)[d, k], length, clip)
            for s, row in enumerate(out[::-1] if back else out):
                y[s, d, k] = row

    def turn(e):  # [dirs, batch, n] and so on to the layout with the batch first
        return None if e is None else np.moveaxis(e, -2, 0) if layout and e.ndim > 3 else \
            np.swapaxes(e, 0, 1) if layout else e
    outs = [to(t, e) for e in (turn(y), turn(yh), turn(yc))[:3 if key == 'lstm' else 2]]
    given = [turn(x), w, r, b, lens, turn(h)]
    if key == 'lstm':
        given += [turn(c), p]
    wanted = [g.chance(0.8), g.chance(0.8), g.chance(0.7)]
    wanted[0] |= not any(wanted[:len(outs)])
    return g.case(given, outs, a, 'chain', wanted)
