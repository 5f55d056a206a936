#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes graphcore/: one model with every operator of ai.graphcore that runs on one device.

    python3 tests/data/make_graphcore.py [OUT_DIR]      (default: this folder)

Needs numpy and onnx. The expected values are computed here in float64, straight from the
operators' definitions: CTC by enumerating all alignments, its beam search by enumerating all
paths, splines by de Boor's recursion, everything else by plain numpy.
"""
import itertools
import math
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

F32, F16, I32, U32, U8, I8 = np.float32, np.float16, np.int32, np.uint32, np.uint8, np.int8
rng = np.random.RandomState(7)
nodes, inputs, expected, weights = [], {}, {}, {}


def real(*shape):
    return rng.uniform(-2, 2, shape).astype(F32)


def put(value):
    """A graph input with this value; one for every use of the same array."""
    for name, known in inputs.items():
        if known is value:
            return name
    name = "in%d" % len(inputs)
    inputs[name] = np.asarray(value)
    return name


def weight(value):
    name = "weight%d" % len(weights)
    weights[name] = np.asarray(value)
    return name


def op(kind, args, outs, n_out=None, **attrs):
    """A node on `args` (arrays become graph inputs) whose outputs are expected to be `outs`."""
    names = [a if isinstance(a, str) else put(a) for a in args]
    results = ["%s_%d_%d" % (kind, len(nodes), k) for k in range(len(outs))]
    nodes.append(helper.make_node(kind, names, results, name="%s_%d" % (kind, len(nodes)),
                                  domain="ai.graphcore", **attrs))
    for name, value in zip(results, outs):
        expected[name] = np.asarray(value)
    return results


def f64(x):
    return np.asarray(x, np.float64)


# ------------------------------------------------------------------ element-wise, identities
def elementwise():
    x, y = real(2, 3), real(2, 3)
    erf = np.vectorize(math.erf)
    op("Atan2", [x, y], [np.arctan2(f64(x), f64(y)).astype(F32)])
    op("Expm1", [x], [np.expm1(f64(x)).astype(F32)])
    op("Log1p", [np.abs(x)], [np.log1p(f64(np.abs(x))).astype(F32)])
    inner = 0.7978845608028654 * (f64(x) + 0.044715 * f64(x) ** 3)
    op("Gelu", [x], [(0.5 * f64(x) * (1 + np.tanh(inner))).astype(F32)])
    op("GeluErf", [x], [(0.5 * f64(x) * (1 + erf(f64(x) / math.sqrt(2)))).astype(F32)])
    op("Swish", [x], [(f64(x) / (1 + np.exp(-f64(x)))).astype(F32)])
    half = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.4], F32)
    op("Round", [half], [np.array([-3, -2, -1, 1, 2, 3, 0], F32)])
    op("NearbyInt", [half], [np.rint(half)])
    op("Scale", [x], [(3.5 * f64(x)).astype(F32)], scale=3.5)
    op("ScaledAdd", [x, y], [(0.5 * f64(x) - 2 * f64(y)).astype(F32)], scale0=0.5, scale1=-2.0)
    op("ScaledAdd", [x, y, F32(3), F32(4)], [(3 * f64(x) + 4 * f64(y)).astype(F32)])
    op("Square", [x], [(f64(x) ** 2).astype(F32)])
    a, b = np.array([-7, 7, -7, 7, 0], I32), np.array([3, 3, -3, -3, 5], I32)
    op("Fmod", [a, b], [np.fmod(a, b)])
    op("Remainder", [a, b], [np.mod(a, b)])
    op("Fmod", [x, y], [np.fmod(f64(x), f64(y)).astype(F32)])
    op("IncrementMod", [np.array([0, 3, 4], I32)], [np.array([2, 0, 1], I32)], increment=2.0,
       modulus=5.0)
    p, q = np.array([12, 2 ** 32 - 1, 7], U32), np.array([10, 255, 0], U32)
    op("BitwiseAnd", [p, q], [p & q])
    op("BitwiseOr", [p, q], [p | q])
    op("BitwiseXor", [p, q], [p ^ q])
    op("BitwiseXnor", [p, q], [~(p ^ q)])
    op("BitwiseNot", [p], [~p])
    op("BinaryConstScalar", [x], [(2 - f64(x)).astype(F32)], value=2.0, op="Sub",
       scalar_in_index=0)
    op("BinaryConstScalar", [x], [(f64(x) ** 3).astype(F32)], value=3.0, op="Pow",
       scalar_in_index=1)
    image, bias = real(2, 3, 2).astype(F16), np.array([1, 2, 3], F16)
    op("AddBias", [image, bias], [(f64(image) + f64(bias)[None, :, None]).astype(F16)])
    for kind in ("Nop", "Detach", "TensorRemap", "AutoLossScaleProxy"):
        op(kind, [x], [x])
    op("ShapedDropout", [x], [x], shape=[2, 1], ratio=0.25)
    op("PrintTensor", [x], [x], title="x")
    op("CopyVarUpdate", [weight(np.array([1, 2], F32)), np.array([5, 6], F32)],
       [np.array([5, 6], F32)])
    op("Abort", [np.zeros((), np.bool_)], [])


# ------------------------------------------------------------------ movement
def movement():
    x = real(3, 4)
    op("Reshape", [x], [x.reshape(2, 6)], shape=[2, -1])
    op("Slice", [x], [x[1:, 0:2]], starts=[1, 0], ends=[3, 2], axes=[0, 1])
    op("Subsample", [x], [x[::2, ::3]], strides=[2, 3])
    op("Reverse", [x], [x[:, ::-1]], dimensions=[1])
    d = real(1, 8, 2, 3)
    op("DepthToSpace", [d], [d.reshape(1, 2, 2, 2, 2, 3).transpose(0, 3, 4, 1, 5, 2)
                             .reshape(1, 2, 4, 6)], blocksize=2)
    w = real(4, 3, 2, 2)
    flipped = w.reshape(2, 2, 3, 2, 2).transpose(0, 2, 1, 3, 4).reshape(6, 2, 2, 2)
    op("ConvFlipWeights", [w], [flipped[:, :, ::-1, ::-1]], group=2)
    op("Init", [], [np.zeros((2, 2), F32)], shape=[2, 2], data_type=11, init_type=1,
       tensor_type=0)
    op("Zeros", [], [np.zeros((3,), I32)], shape=[3], dtype=TensorProto.INT32)
    op("ZerosLike", [x], [np.zeros_like(x)])
    rows = np.array([3, 1], U32)
    picked = np.stack([np.roll(x, -1, 1)[(3 + k) % 3, :2] for k in range(2)])
    op("DynamicSlice", [x, rows], [picked], axes=[0, 1], sizes=[2, 2])
    block = real(2, 4)
    z = x.copy()
    z[2], z[0] = block
    op("DynamicUpdate", [x, np.array([2], U32), block], [z], axes=[0], sizes=[2])
    z = f64(x)
    z[1:3] += f64(block)
    op("DynamicAdd", [x, np.array([1], U32), block], [z.astype(F32)], axes=[0], sizes=[2])
    z = x.copy()
    z[:, 1:3] = 0
    op("DynamicZero", [x, np.array([1], U32)], [z], axes=[1], sizes=[2])
    source, dest = real(5, 2), real(6, 2)
    z = dest.copy()
    z[4:6], z[0:1] = source[1:3], source[4:5]
    spans = [np.array(v, U32) for v in ([2, 1], [1, 4], [4, 0])]
    op("SequenceSlice", [source, dest] + spans, [z])
    zero = np.zeros_like(dest)
    zero[4:6], zero[0:1] = source[1:3], source[4:5]
    op("SequenceSlice", [source, dest] + spans, [zero], zeroUnused=1)
    data, index = real(2, 3, 2), np.array([[2, 0], [1, 1]], I32)
    op("GroupedGather", [data, index], [np.stack([data[g, index[g]] for g in range(2)])], axis=1,
       group_size=2)
    scatter()


def scatter():
    src, index = real(4, 3), np.array([1, 0, 1, 3], I32)
    for kind, fn, empty in (("sum", np.add, 0), ("max", np.maximum, -np.inf),
                            ("min", np.minimum, np.inf), ("mul", np.multiply, 1)):
        out = np.full((5, 3), empty, np.float64)
        getattr(fn, "at")(out, index, f64(src))
        out[~np.isfinite(out)] = 0
        op("ScatterReduce", [src, index], [out.astype(F32)], axis=0, axis_size=5, reduction=kind)
    start = real(5, 3)
    out = f64(start)
    np.maximum.at(out, index, f64(src))
    op("ScatterReduce", [src, index, start], [out.astype(F32)], axis=0, axis_size=5,
       reduction="max")
    full = np.array([[0, 1, 0], [1, 1, 0], [0, 0, 0], [1, 0, 1]], I32)
    out = np.zeros((4, 2))
    for (r, c), k in np.ndenumerate(full):
        out[r, k] += src[r, c]
    op("ScatterReduce", [src, full], [out.astype(F32)], axis=1, axis_size=2)


# ------------------------------------------------------------------ orders
def orders():
    x = real(3, 4)
    op("Sort", [x], [np.sort(x, 1), np.argsort(x, 1).astype(I32)])
    op("Sort", [x], [-np.sort(-x, 0), np.argsort(-x, 0).astype(I32)], axis=0, descending=1)
    order = np.argsort(x, 1)[:, 1]
    op("ReduceMedian", [x], [x[np.arange(3), order][:, None], order[:, None].astype(I32)],
       axes=[1])
    flat = np.argsort(x.ravel())[5]
    op("ReduceMedian", [x], [x.ravel()[flat], I32(flat)], keepdims=0)
    edges = np.array([-1, 0, 1], F32)
    v = np.array([-2, -1, -0.5, 0, 1, 3], F32)
    op("Bucketize", [v, edges], [np.searchsorted(edges, v, "left").astype(I32)])
    op("Bucketize", [v, edges], [np.searchsorted(edges, v, "right").astype(I32)], right=1)
    op("Histogram", [v], [np.array([1, 2, 1, 2], U32)], levels=[-1.0, 0.0, 1.0])
    op("Histogram", [v], [np.array([0, 0, 2, 4], U32)], levels=[-1.0, 0.0, 1.0],
       absoluteOfInput=1)


# ------------------------------------------------------------------ networks
def conv2d(x, w, pad, stride, groups):
    x = np.pad(f64(x), [(0, 0), (0, 0), (pad, pad), (pad, pad)])
    m, c, kh, kw = w.shape
    oh, ow = (x.shape[2] - kh) // stride + 1, (x.shape[3] - kw) // stride + 1
    y = np.zeros((x.shape[0], m, oh, ow))
    for n, f, i, j in np.ndindex(y.shape):
        first = f // (m // groups) * c
        part = x[n, first:first + c, i * stride:i * stride + kh, j * stride:j * stride + kw]
        y[n, f, i, j] = (part * f64(w[f])).sum()
    return y


def networks():
    x, scale, bias = real(2, 4, 3), real(4), real(4)
    mean, var = real(4), np.abs(real(4))
    c = (None, slice(None), None)
    y = f64(scale)[c] * (f64(x) - f64(mean)[c]) / np.sqrt(f64(var)[c] + 1e-5) + f64(bias)[c]
    op("BatchNormalization", [x, scale, bias, mean, var], [y.astype(F32)])
    m, v, n = f64(x).mean((0, 2)), f64(x).var((0, 2)), 6
    unbiased = (v + 1e-3) * n / (n - 1) - 1e-3
    y = f64(scale)[c] * (f64(x) - m[c]) / np.sqrt(v[c] + 1e-3) + f64(bias)[c]
    op("BatchNormalization", [x, scale, bias, mean, var],
       [a.astype(F32) for a in (y, 0.75 * mean + 0.25 * m, 0.75 * var + 0.25 * unbiased, m,
                                unbiased)], epsilon=1e-3, momentum=0.75)
    g = f64(x).reshape(2, 2, 6)
    inv = 1 / np.sqrt(g.var(2) + 1e-5)
    y = ((g - g.mean(2)[..., None]) * inv[..., None]).reshape(2, 4, 3)
    y = y * f64(scale)[c] + f64(bias)[c]
    op("GroupNormalization", [x, scale, bias],
       [y.astype(F32), g.mean(2).ravel().astype(F32), inv.ravel().astype(F32)], num_groups=2)
    image = rng.randint(0, 256, (2, 3, 3)).astype(U8)
    offs, facs = np.array([0.5, 0.25, 0.125], F16), np.array([2, 4, 8], F16)
    y = (f64(image) * (1 / 256) - f64(offs)) * f64(facs)
    op("NormalizeImage", [image, offs, facs],
       [np.concatenate([y, np.zeros((2, 3, 1))], 2).astype(F16)], scale=1 / 256)
    xa, wa, ba, xb, wb = real(1, 2, 4, 4), real(3, 2, 3, 3), real(3), real(1, 4, 3, 3), real(4, 2, 2, 2)
    ya = conv2d(xa, wa, 1, 1, 1) + f64(ba)[None, :, None, None]
    spread = np.zeros((1, 4, 5, 5), F32)
    spread[:, :, ::2, ::2] = xb
    yb = np.pad(conv2d(spread, wb, 0, 2, 2), [(0, 0), (0, 0), (1, 0), (0, 2)])
    op("MultiConv", [xa, wa, ba, xb, wb, ""], [ya.astype(F32), yb.astype(F32)], numConvs=2,
       strides=[1, 1, 2, 2], pads=[1, 1, 1, 1, 0, 0, 0, 0], inDilations=[1, 1, 2, 2],
       outPads=[0, 0, 0, 0, 1, 0, 0, 2], planType="parallel")
    lstm()
    splines()


def lstm():
    t, b, i, h = 3, 2, 2, 2
    x, w, bias, state = real(t, b, i), real(4, i + h, h), real(4, h), real(2, b, h)
    lengths = np.array([3, 1], I32)
    sig = lambda v: 1 / (1 + np.exp(-v))
    full, last, cell = np.zeros((t, b, h)), np.zeros((b, h)), np.zeros((b, h))
    for k in range(b):
        out, mem = f64(state[0, k]), f64(state[1, k])
        for s in range(lengths[k]):
            gate = [np.concatenate([f64(x[s, k]), out]) @ f64(w[g]) + f64(bias[g])
                    for g in range(4)]
            mem = sig(gate[0]) * mem + sig(gate[1]) * np.tanh(gate[2])
            out = sig(gate[3]) * np.tanh(mem)
            full[s, k] = out
        last[k], cell[k] = out, mem
    args = [x, w, bias, state, lengths]
    op("LSTM", args, [full.astype(F32), cell.astype(F32)])
    op("LSTM", args, [last.astype(F32), cell.astype(F32)], output_full_sequence=0)


def b_spline(degree, k, v):
    """Value at v in [0, 1) of the k-th uniform B-spline over that interval, by recursion."""
    def n(i, p, u):
        if p == 0:
            return 1.0 if i <= u < i + 1 else 0.0
        return (u - i) / p * n(i, p - 1, u) + (i + p + 1 - u) / p * n(i + 1, p - 1, u)
    return n(k - degree, degree, v)


def splines():
    edges, size, is_open = rng.uniform(0, 0.99, (3, 2)).astype(F32), [4, 5], [1, 0]
    for degree in (0, 1, 2, 3):
        entries = (degree + 1) ** 2
        basis, index = np.zeros((3, entries)), np.zeros((3, entries), I32)
        for e in range(3):
            for s in range(entries):
                ks = [s % (degree + 1), s // (degree + 1)]
                v = [float(edges[e, d]) * (size[d] - degree * is_open[d]) for d in range(2)]
                basis[e, s] = np.prod([b_spline(degree, ks[d], v[d] % 1) for d in range(2)])
                at = [(int(v[d]) + ks[d]) % size[d] for d in range(2)]
                index[e, s] = at[0] + size[0] * at[1]
        names = op("SplineBasis", [edges, np.array(size, I32), np.array(is_open, U8)],
                   [basis.astype(F32), index], degree=degree)
    x, w = real(3, 2), real(20, 2, 3)
    y = np.einsum("es,ei,esio->eo", basis, f64(x), f64(w[index]))
    op("SplineWeighting", [x, w] + names, [y.astype(F32)])


# ------------------------------------------------------------------ losses
def collapse(path, blank):
    return tuple(k for k, _ in itertools.groupby(path) if k != blank)


def by_sequence(lp, blank):
    """Probability of every label sequence: sums over all paths that collapse to it."""
    total = {}
    for path in itertools.product(range(lp.shape[1]), repeat=lp.shape[0]):
        key = collapse(path, blank)
        total[key] = total.get(key, 0.0) + math.exp(sum(lp[t, k] for t, k in enumerate(path)))
    return total


def losses():
    x, probs = real(2, 3), rng.dirichlet(np.ones(4), (2, 3)).astype(F32)
    op("L1", [x], [F32(0.5 * np.abs(f64(x)).mean())], **{"lambda": 0.5})
    op("L1", [x], [(2 * np.abs(f64(x))).astype(F32)], reduction="None", **{"lambda": 2.0})
    op("IdentityLoss", [x], [F32(f64(x).sum())], reduction="Sum")
    label = np.array([[0, 3, 1], [2, 9, 1]], I32)
    p = np.take_along_axis(f64(probs), np.minimum(label, 3)[..., None], 2)[..., 0]
    p[1, 1] = 0
    each = -np.log(np.maximum(p, 1e-7))
    op("Nll", [probs, label], [F32(each.mean())])
    each[label == 1] = 0
    op("Nll", [probs, label], [F32(each.sum() / 4)], ignoreIndex=1)
    logits = real(4, 2, 3)
    lp = f64(logits) - np.log(np.exp(f64(logits)).sum(2, keepdims=True))
    lp = f64(lp.astype(F32))
    frames, lengths = [4, 3], [2, 1]
    targets = np.array([[1, 1], [2, 1]], I32)
    loss = [-math.log(by_sequence(lp[:frames[n], n], 0)[tuple(targets[n, :lengths[n]])])
            for n in range(2)]
    gradient = np.zeros_like(lp)
    for n in range(2):
        for path in itertools.product(range(3), repeat=frames[n]):
            if collapse(path, 0) == tuple(targets[n, :lengths[n]]):
                share = math.exp(sum(lp[t, n, k] for t, k in enumerate(path)) + loss[n])
                for t, k in enumerate(path):
                    gradient[t, n, k] -= share
        gradient[:frames[n], n] += np.exp(lp[:frames[n], n])
    args = [lp.astype(F32), targets, np.array(frames, I32), np.array(lengths, I32)]
    op("Ctc", args, [F32((loss[0] / 2 + loss[1]) / 2), gradient.astype(F32)])
    op("Ctc", args, [np.array(loss, F32)], reduction="None")
    probs, counts = np.zeros((2, 3)), np.zeros((2, 3), U32)
    labels = np.zeros((2, 3, 4), U32)
    for n in range(2):
        best = sorted(by_sequence(lp[:frames[n], n], 0).items(), key=lambda kv: -kv[1])[:3]
        for k, (key, value) in enumerate(best):
            probs[n, k], counts[n, k], labels[n, k, :len(key)] = math.log(value), len(key), key
    op("CtcBeamSearchDecoder", [args[0], np.array(frames, U32)],
       [probs.astype(F32), counts, labels], beam_width=1000, top_paths=3)


# ------------------------------------------------------------------ FP8, graphs
def fp8():
    x = np.array([0.5, -3.0, 17.0, 0.07], F32)
    stored = ["scaled%d" % k for k in range(2)]
    for kind, name, want in (("FLOAT8_143", stored[0], [0.5, -3.0, 17.0 * 8 / 17 * 2, 0.0703125]),
                             ("FLOAT8_152", stored[1], [0.5, -3.0, 16.0, 0.0625])):
        nodes.append(helper.make_node("Pow2ScaleThenCast", [put(x), put(I8(2))], [name],
                                      domain="ai.graphcore", to=kind))
        op("CastThenPow2Scale", [name, put(I8(-2))], [np.array(want, F16)])


def graphs():
    x, y = real(2, 2), real(2, 2)
    shape = [2, 2]
    info = lambda n, t, s: helper.make_tensor_value_info(n, t, s)
    body = helper.make_graph([helper.make_node("Add", ["p", "q"], ["r"])], "adds",
                             [info("p", TensorProto.FLOAT, shape),
                              info("q", TensorProto.FLOAT, shape)],
                             [info("r", TensorProto.FLOAT, shape)])
    op("Call", [x, y], [x + y], callee=body)
    data = np.arange(1, 13).reshape(6, 2).astype(F32)
    callback = helper.make_graph([helper.make_node("Mul", ["rows", "rows"], ["squares"])], "squares",
                                 [info("rows", TensorProto.FLOAT, [2, 3, 2])],
                                 [info("squares", TensorProto.FLOAT, [2, 3, 2])])
    offsets, lengths = np.array([0, 3, 1, 5], U32), np.array([3, 2, 1, 1], U32)
    to = np.array([4, 0, 2, 3], U32)
    out = np.zeros((7, 2), F32)
    for o, n, t in zip(offsets, lengths, to):
        out[t:t + n] = data[o:o + n] ** 2
    op("PackedDataBlock", [data, offsets, lengths, to, lengths], [out], maxSequenceLengths=[3],
       resultSize=7, callbackBatchSize=2, callback=callback)


def main():
    out = os.path.join(sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(__file__), "graphcore")
    for part in (elementwise, movement, orders, networks, losses, fp8, graphs):
        part()
    info = lambda name, a: helper.make_tensor_value_info(
        name, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
    graph = helper.make_graph(
        nodes, "graphcore", [info(n, a) for n, a in inputs.items()],
        [info(n, a) for n, a in expected.items()],
        [numpy_helper.from_array(a, n) for n, a in weights.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 11),
                                                    helper.make_opsetid("ai.graphcore", 1)])
    model.ir_version = 7
    cases = os.path.join(out, "test_data_set_0")
    os.makedirs(cases, exist_ok=True)
    onnx.save(model, os.path.join(out, "model.onnx"))
    for kind, values in (("input", inputs), ("output", expected)):
        for k, (name, array) in enumerate(values.items()):
            with open(os.path.join(cases, "%s_%d.pb" % (kind, k)), "wb") as f:
                f.write(numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape),
                                                name).SerializeToString())
    print(len(nodes), "nodes,", len(expected), "outputs")


if __name__ == "__main__":
    main()
