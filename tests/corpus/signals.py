# SPDX-License-Identifier: MIT
"""signals.py: recipes of spectra, windows, random numbers and optimiser steps."""
import numpy as np

from pointwise import f32
from registry import recipe, reference
from values import NP, ONNX, is_float, is_int, to, wide

EVERY = 'zero scalar rank8'


def scalar(t, value):
    return np.array(value, NP[t])


@recipe('dft', 'zero rank8')
def dft(g):
    t = g.t['T1']
    rank = 7 if g.cls == 'rank8' else g.int(1, 3)
    dims = [1, 2, 1, 2, 1, 1, 3] if g.cls == 'rank8' else [g.int(1, 5) for _ in range(rank)]
    inverse, onesided = g.int(0, 1), g.int(0, 1)
    if onesided and not inverse:
        parts = 1
    elif onesided:
        parts = 2
    else:
        parts = g.int(1, 2)
    axis = g.int(0, rank - 1)
    if g.cls == 'zero':
        g.need(rank > 1, 'the transformed axis has elements')
        dims[(axis + 1) % rank] = 0
    a, given, length = {}, None, None
    if inverse:
        a['inverse'] = 1
    if onesided:
        a['onesided'] = 1
    n = dims[axis]
    if inverse and onesided:
        n = 2 * (n - 1)
    if g.chance(0.5) or n == 0:
        n = g.int(1, 6)
        length = scalar(g.t['T2'], n)
    if axis != rank - 1 or g.chance(0.4):
        given = scalar('i64', axis - rank - 1 if g.chance(0.4) else axis)
    x = g.plain(t, dims + [parts])
    v = wide(x)
    v = v[..., 0] + (1j * v[..., 1] if parts == 2 else 0)
    if inverse and onesided:
        y = np.fft.irfft(v, n, axis)[..., None] if v.size else np.zeros(
            dims[:axis] + [n] + dims[axis + 1:] + [1])
    else:
        z = (np.fft.ifft if inverse else np.fft.fft)(v, n, axis) if v.size else np.zeros(
            dims[:axis] + [n] + dims[axis + 1:], complex)
        if onesided:
            z = np.take(z, range(n // 2 + 1), axis)
        y = np.stack([z.real, z.imag], -1)
    return g.case([x, length, given], [to(t, y)], a, 'chain')


@recipe('stft', 'zero')
def stft(g):
    t, k = g.t['T1'], g.t['T2']
    batch, n = 0 if g.cls == 'zero' else g.int(1, 2), g.int(3, 8)
    parts = g.int(1, 2)
    onesided = g.chance(0.6) and parts == 1
    frame, step = g.int(1, n), g.int(1, 3)
    a = {} if onesided and g.chance(0.5) else {'onesided': int(onesided)}
    window = g.plain(t, [frame], 0, 1) if g.chance(0.5) else None
    given = scalar(k, frame)
    if window is not None and g.chance(0.5):
        given = None
    x = g.plain(t, [batch, n, parts])
    v = wide(x)
    v = v[..., 0] + (1j * v[..., 1] if parts == 2 else 0)
    w = np.ones(frame) if window is None else wide(window)
    frames = (n - frame) // step + 1
    bins = frame // 2 + 1 if onesided else frame
    y = np.zeros([batch, frames, bins, 2])
    for b in range(batch):
        for i in range(frames):
            z = np.fft.fft(v[b, i * step:i * step + frame] * w)[:bins]
            y[b, i, :, 0], y[b, i, :, 1] = z.real, z.imag
    return g.case([x, scalar(k, step), window, given], [to(t, y)], a, 'chain')


WEIGHTS = {'hann_window': (0.5, 0.5, 0), 'hamming_window': (25 / 46, 21 / 46, 0),
           'blackman_window': (0.42, 0.5, 0.08)}


@recipe('hann_window hamming_window blackman_window', 'zero')
def window(g):
    """Windows of less than three elements are undefined by the formula, or all but zero."""
    t, periodic = g.t['T2'], g.int(0, 1)
    n = 0 if g.cls == 'zero' else g.int(3, 9)
    a = {}
    if t != 'f32' or g.chance(0.3):
        a['output_datatype'] = ONNX[t]
    if not periodic or g.chance(0.3):
        a['periodic'] = periodic
    a0, a1, a2 = WEIGHTS[g.row.key]
    p = 2 * np.pi * np.arange(n) / max(1, n if periodic else n - 1)
    y = a0 - a1 * np.cos(p) + a2 * np.cos(2 * p)
    if is_int(t):
        g.need(np.all((np.abs(y - np.rint(y)) > 1e-9) | (y == np.rint(y)) | (np.abs(y) < 0.5)),
               'a last bit decides')
        return g.case([scalar(g.t['T1'], n)], [to(t, np.trunc(y).astype(np.int64))], a)
    return g.case([scalar(g.t['T1'], n)], [to(t, np.where(np.abs(y) < 1e-16, 0, y))], a, 'sum')


@recipe('mel_weight_matrix')
def mel(g):
    """onnx.reference, with sizes that keep every triangle inside the spectrum."""
    k, t, edge = g.t['T1'], g.t['T3'], g.t['T2']
    g.need(limit(k) >= 8192, 'type')
    bands, length, rate = g.int(1, 6), g.int(4, 16), 8192
    low, high = g.pick([0.0, 100.0, 500.0]), g.pick([2000.0, 3000.0, 4000.0])
    given = [bands, length, rate]
    a = {'output_datatype': ONNX[t]} if t != 'f32' or g.chance(0.3) else {}
    low, high = (float(to(edge, np.array(v))) for v in (low, high))
    ins = [scalar(k, v) for v in given] + [to(edge, np.array(v)) for v in (low, high)]
    y = reference(g, [np.array(v, np.int64) for v in given] + [np.array(low), np.array(high)],
                  {'output_datatype': 11}, round_to=False)[0]
    y = np.asarray(y, np.float64)
    return g.case(ins, [to(t, np.trunc(y).astype(np.int64) if is_int(t) else y)], a,
                  'exact' if is_int(t) else 'round')


def limit(t):
    return 2**31 - 1 if t == 'i32' else 2**63 - 1


@recipe('dropout', EVERY)
def dropout(g):
    """In training the mask is that of numpy's generator for the same seed, as onnx.reference's."""
    t, t1 = g.t['T'], g.t['T1']
    x = g.plain(t, g.shape(), -2, 2, 2)
    ratio = training = None
    p, a = 0.5, {}
    if g.chance(0.7):
        p = g.pick([0.0, 0.25, 0.5, 0.75])
        ratio = to(t1, np.array(p))
    if g.chance(0.7):
        training = np.array(g.chance(0.7))
    drop = training is not None and bool(training) and p != 0
    if drop or g.chance(0.3):
        a['seed'] = g.int(0, 1000)
    if not drop:
        return g.case([x, ratio, training], [x, np.ones(x.shape, bool)], a,
                      wanted=[True, g.chance(0.6)])
    mask = np.random.RandomState(a['seed']).uniform(0, 1, x.shape) >= p
    mask = np.asarray(mask)
    y = to(t, np.where(mask, wide(x) * (1 / (1 - p)), 0.0))
    return g.case([x, ratio, training], [y, mask], a, 'round', [True, g.chance(0.6)])


@recipe('random_normal random_normal_like random_uniform random_uniform_like', EVERY)
def random_numbers(g):
    """Only the shape and the type can be told, unless nothing is random: a spread of zero. The
    numbers themselves are looked at by tests/op/test_random.c."""
    key = g.row.key
    dims = g.shape()
    t = g.t['T2' if key.endswith('like') else 'T']
    a = {'seed': float(g.int(0, 9))} if g.chance(0.4) else {}
    low = g.int(-4, 4) / 2
    a.update({'mean': low, 'scale': 0.0} if 'normal' in key else {'low': low, 'high': low})
    y = to(t, np.full(dims, low))
    if not key.endswith('like'):
        a['shape'] = dims
        if t != 'f32' or g.chance(0.3):
            a['dtype'] = ONNX[t]
        c = g.case([], [y], a)
        return c
    x = g.value(g.t['T1'], dims)
    if g.t['T1'] != t or g.chance(0.4):
        a['dtype'] = ONNX[t]
    return g.case([x], [y], a)


@recipe('bernoulli', EVERY)
def bernoulli(g):
    """Chances of zero and one leave nothing to chance."""
    x = to(g.t['T1'], np.array(g.int(0, 1), float)) if g.cls == 'scalar' else \
        g.plain(g.t['T1'], g.shape(), 0, 1, 1)
    t = g.t['T2']
    a = {'dtype': ONNX[t]} if t != g.t['T1'] or g.chance(0.4) else {}
    v = wide(x)
    return g.case([x], [v.astype(bool) if t == 'bool' else
                        to(t, v if is_float(t) else v.astype(np.int64))], a)


@recipe('multinomial', 'zero')
def multinomial(g):
    """Log chances of which all but one are minus infinity."""
    t, t2 = g.t['T1'], g.t['T2']
    n, k, m = 0 if g.cls == 'zero' else g.int(1, 3), g.int(1, 4), g.int(1, 4)
    chosen = [g.int(0, k - 1) for _ in range(n)]
    x = np.full([n, k], -np.inf)
    for row, c in enumerate(chosen):
        x[row, c] = g.int(-4, 4) / 2
    a = {'dtype': ONNX[t2]} if t2 != 'i32' or g.chance(0.3) else {}
    if m != 1 or g.chance(0.3):
        a['sample_size'] = m
    y = np.repeat(np.array(chosen, np.int64).reshape(n, 1), m, 1).astype(NP[t2])
    return g.case([to(t, x)], [y], a)


@recipe('adagrad adam momentum', EVERY)
def step(g):
    """Rates of another type than the tensors; one step."""
    key, t, n = g.row.key, g.t['T3'], g.int(1, 2)
    rate = to(g.t['T1'], np.array(g.int(1, 8) / 16))
    count = np.array(g.int(0, 3), np.int64)
    shapes = [g.shape() for _ in range(n)]

    def some(lo=-4):
        return [g.plain(t, s, lo) for s in shapes]
    x, d, v = some(), some(), some(0 if key == 'adagrad' else -4)
    h = some(0) if key == 'adam' else []
    norm, a = g.int(0, 4) / 8, {}
    if norm:
        a['norm_coefficient'] = norm
    r, outs = float(rate), []
    e = f32(1e-6)
    if key != 'momentum' and g.chance(0.5):
        e = a['epsilon'] = 0.125
    if key == 'adagrad':
        decay = a['decay_factor'] = g.int(0, 4) / 8
        r /= 1 + int(count) * decay
        for k in range(n):
            grad = norm * wide(x[k]) + wide(d[k])
            s = wide(v[k]) + grad * grad
            outs.append((wide(x[k]) - r * grad / (np.sqrt(s) + e), s))
    elif key == 'adam':
        alpha, beta, post = f32(0.9), f32(0.999), g.int(0, 2) / 8
        if g.chance(0.6):
            alpha, beta = a['alpha'], a['beta'] = 0.75, 0.875
        if post:
            a['norm_coefficient_post'] = post
        if int(count) > 0:
            r *= np.sqrt(1 - beta**int(count)) / (1 - alpha**int(count))
        for k in range(n):
            grad = norm * wide(x[k]) + wide(d[k])
            m = alpha * wide(v[k]) + (1 - alpha) * grad
            q = beta * wide(h[k]) + (1 - beta) * grad * grad
            outs.append(((1 - post) * (wide(x[k]) - r * m / (np.sqrt(q) + e)), m, q))
    else:
        alpha, beta = a['alpha'], a['beta'] = g.int(0, 8) / 8, g.int(0, 8) / 8
        a['norm_coefficient'] = norm
        mode = a['mode'] = g.pick(['standard', 'nesterov'])
        for k in range(n):
            grad = norm * wide(x[k]) + wide(d[k])
            m = alpha * wide(v[k]) + (beta if int(count) > 0 else 1.0) * grad
            by = grad + alpha * m if mode == 'nesterov' else m
            outs.append((wide(x[k]) - r * by, m))
    flat = [to(t, outs[k][i]) for i in range(len(outs[0])) for k in range(n)]
    return g.case([rate, count] + x + d + v + h, flat, a, 'sum')

