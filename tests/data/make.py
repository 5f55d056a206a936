#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Trains and exports the three small models that the tests run.

    /usr/bin/python3 tests/data/make.py [OUT_DIR]      (default: this folder)

Needs Debian's python3-torch, python3-onnx and python3-sklearn; nothing is downloaded.

  digits   a convolutional network with batch norms, trained on scikit-learn's
           handwritten digits: image [batch,1,8,8] -> logits [batch,10]
  charlm   a two-layer LSTM that predicts the next character, trained on sentences that
           the small grammar below writes:
           tokens [batch,seq], h0, c0 -> logits [batch,seq,vocabulary], hn, cn
  encoder  a two-layer transformer encoder that reads a digit row by row:
           tokens [batch,seq,8], mask [batch,seq] -> logits [batch,10]

For each model NAME it writes NAME/model.onnx and NAME/test_data_set_K/input_I.pb and
output_I.pb (serialised TensorProto; the outputs are PyTorch's). For the digits it also
writes the held-back images and their labels as digits/images.npy and digits/labels.npy,
and for the language model the characters in the order of their numbers, charlm/vocab.txt.

Seeds are fixed and one thread is used: two runs on one machine write the same bytes.
The measured accuracies are printed; README.md quotes them.
"""
import math
import os
import random
import shutil
import sys
import warnings

import numpy as np
import onnx
import onnx.numpy_helper
import sklearn
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.onnx import TrainingMode

HELD_BACK = 360          # the last of 1,797 digits; the first 1,437 are trained on
SIZE_LIMIT = 1000000     # bytes, for every file


def seed(n):
    torch.manual_seed(n)
    np.random.seed(n)
    random.seed(n)


# ------------------------------------------------------------------------- writing
def write_tensor(path, name, array):
    with open(path, "wb") as f:
        f.write(onnx.numpy_helper.from_array(np.ascontiguousarray(array), name).SerializeToString())


def write_model(out, name, model, cases, inputs, outputs, axes, opset, **kw):
    """Exports the model and stores each case (a tuple of input tensors) with its outputs."""
    model.eval()
    folder = os.path.join(out, name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    path = os.path.join(folder, "model.onnx")
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(model, cases[0], path, input_names=inputs, output_names=outputs,
                          dynamic_axes=axes, opset_version=opset, **kw)
    graph = onnx.load(path)
    onnx.checker.check_model(graph, full_check=True)
    for k, args in enumerate(cases):
        d = os.path.join(folder, "test_data_set_%d" % k)
        os.makedirs(d)
        with torch.no_grad():
            result = model(*args)
        result = result if isinstance(result, tuple) else (result,)
        for i, (n, t) in enumerate(zip(inputs, args)):
            write_tensor(os.path.join(d, "input_%d.pb" % i), n, t.numpy())
        for i, (n, t) in enumerate(zip(outputs, result)):
            write_tensor(os.path.join(d, "output_%d.pb" % i), n, t.numpy())
    count = {}
    for n in graph.graph.node:
        count[n.op_type] = count.get(n.op_type, 0) + 1
    print("  opset %d, %d bytes, %d nodes: %s" % (
        opset, os.path.getsize(path), len(graph.graph.node),
        " ".join("%s:%d" % c for c in sorted(count.items()))))
    return folder


# -------------------------------------------------------------------------- digits
def load():
    """Images in 0..1 as [n,1,8,8] and labels; the last HELD_BACK are held back."""
    data = load_digits()
    x = torch.tensor(data.images / 16.0, dtype=torch.float32).unsqueeze(1)
    y = torch.tensor(data.target, dtype=torch.int64)
    return x[:-HELD_BACK], y[:-HELD_BACK], x[-HELD_BACK:], y[-HELD_BACK:]


def jitter(x, angle=0.17, scale=0.1, shift=0.2):
    """Turns (radians), scales and shifts (in half widths) each image a little."""
    n = len(x)
    a = (torch.rand(n) * 2 - 1) * angle
    s = 1 + (torch.rand(n) * 2 - 1) * scale
    t = (torch.rand(n, 2) * 2 - 1) * shift
    m = torch.stack([s * a.cos(), -s * a.sin(), t[:, 0], s * a.sin(), s * a.cos(), t[:, 1]], 1)
    grid = F.affine_grid(m.view(n, 2, 3), list(x.shape), align_corners=False)
    return F.grid_sample(x, grid, align_corners=False)


def fit(model, x, y, epochs, lr, batch, make_input):
    opt = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.01)
    steps = epochs * (len(x) // batch)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, lr, steps)
    model.train()
    for _ in range(epochs):
        order = torch.randperm(len(x))
        for k in range(len(x) // batch):
            i = order[k * batch:(k + 1) * batch]
            loss = F.cross_entropy(model(*make_input(x[i])), y[i], label_smoothing=0.05)
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
    model.eval()


def right(model, args, y):
    with torch.no_grad():
        return int((model(*args).argmax(1) == y).sum())


class Digits(nn.Sequential):
    def __init__(self):
        def block(i, o):
            return [nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU()]
        super().__init__(
            *block(1, 32), *block(32, 32), nn.MaxPool2d(2),
            *block(32, 64), nn.MaxPool2d(2), nn.Flatten(),
            nn.Linear(256, 96), nn.ReLU(), nn.Dropout(0.3), nn.Linear(96, 10))


def make_digits(out):
    seed(1)
    x, y, hx, hy = load()
    model = Digits()
    fit(model, x, y, 60, 4e-3, 64, lambda b: (jitter(b),))
    ok = right(model, (hx,), hy)
    print("digits: %d of %d held-back digits right (%.2f %%)" % (ok, len(hy), 100.0 * ok / len(hy)))
    # PRESERVE keeps the exporter from folding the batch norms into the convolutions.
    folder = write_model(
        out, "digits", model, [(hx[:1],), (hx[1:17],), (hx[17:24],)], ["image"], ["logits"],
        {"image": {0: "batch"}, "logits": {0: "batch"}}, 13,
        training=TrainingMode.PRESERVE, do_constant_folding=False)
    kept = [n.op_type for n in onnx.load(os.path.join(folder, "model.onnx")).graph.node]
    assert kept.count("BatchNormalization") == 3
    np.save(os.path.join(folder, "images.npy"), hx.numpy())
    np.save(os.path.join(folder, "labels.npy"), hy.numpy())


# -------------------------------------------------------------------------- charlm
# One sentence: who does what to what, where. The verb must agree with the subject, and
# the ending with the beginning, so that a model has to remember.
ADJ = "old young quiet tall small clever tired happy careful brave".split()
WHO = "baker farmer sailor painter teacher doctor singer gardener weaver miller".split()
VERB = "mend paint carry clean find draw move build keep count".split()
COLOUR = "red green blue white black yellow grey brown".split()
WHAT = "boat chair wagon ladder bell lamp basket table kettle clock".split()
WHERE = ("near the river,behind the mill,under the bridge,in the garden,beside the road,"
         "at the market,on the hill,by the sea").split(",")
MANY = "two three four five six seven".split()


class Writer:
    """Writes sentences and adds up their cost in bits, the least that any model can reach."""
    def __init__(self, n):
        self.rng, self.bits = random.Random(n), 0.0

    def pick(self, words):
        self.bits += math.log2(len(words))
        return words[int(self.rng.random() * len(words))]

    def subject(self):
        one = self.pick([True, False])
        if one:
            return True, "the %s %s" % (self.pick(ADJ), self.pick(WHO))
        return False, "%s %s %ss" % (self.pick(MANY), self.pick(ADJ), self.pick(WHO))

    def sentence(self):
        one, who = self.subject()
        if self.pick([True, False]):
            what = "a %s %s" % (self.pick(COLOUR), self.pick(WHAT))
        else:
            what = "%s %s %ss" % (self.pick(MANY), self.pick(COLOUR), self.pick(WHAT))
        return "%s %s%s %s %s %s. " % (who, self.pick(VERB), "s" if one else "", what,
                                       self.pick(WHERE), "alone" if one else "together")

    def text(self, sentences):
        return "".join(self.sentence() for _ in range(sentences))


class CharLM(nn.Module):
    def __init__(self, vocab, emb=24, hidden=96, layers=2):
        super().__init__()
        self.layers, self.hidden = layers, hidden
        self.emb = nn.Embedding(vocab, emb)
        self.rnn = nn.LSTM(emb, hidden, layers, batch_first=True)
        self.out = nn.Linear(hidden, vocab)

    def state(self, batch):
        return torch.zeros(self.layers, batch, self.hidden), torch.zeros(self.layers, batch, self.hidden)

    def forward(self, tokens, h0, c0):
        y, (hn, cn) = self.rnn(self.emb(tokens), (h0, c0))
        return self.out(y), hn, cn


def make_charlm(out):
    seed(2)
    train, held = Writer(1), Writer(2)
    text, test = train.text(4000), held.text(400)
    vocab = sorted(set(text))
    code = {c: i for i, c in enumerate(vocab)}
    ids = torch.tensor([code[c] for c in text])
    model = CharLM(len(vocab))
    opt = torch.optim.Adam(model.parameters(), lr=1e-2)
    batch, seq, steps = 16, 64, 900
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, 1e-2, steps)
    rows = ids[:len(ids) // batch * batch].view(batch, -1)
    h = model.state(batch)
    at = 0
    for _ in range(steps):
        if at + seq + 1 > rows.size(1):
            at, h = 0, model.state(batch)
        y, hn, cn = model(rows[:, at:at + seq], *h)
        loss = F.cross_entropy(y.flatten(0, 1), rows[:, at + 1:at + seq + 1].flatten())
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        sched.step()
        h, at = (hn.detach(), cn.detach()), at + seq

    model.eval()
    t = torch.tensor([[code[c] for c in test]])
    with torch.no_grad():
        y = model(t[:, :-1], *model.state(1))[0][0]
    bits = float(F.cross_entropy(y, t[0, 1:])) / math.log(2)
    hit = float((y.argmax(1) == t[0, 1:]).float().mean())
    print("charlm: %.3f bits per character on %d held-back characters (the grammar itself: %.3f), "
          "next character right %.2f %%" % (bits, len(test) - 1, held.bits / len(test), 100 * hit))

    # Held-back text: from nothing; one step further from there, as a generator runs it;
    # and five places at once, each with the state that the text before it left.
    def rows_of(starts, n):
        return torch.cat([t[:, s:s + n] for s in starts])

    with torch.no_grad():
        far = model(rows_of([100, 300, 500], 24), *model.state(3))[1:]
        wide = model(rows_of([1000, 1100, 1200, 1300, 1400], 30), *model.state(5))[1:]
    cases = [(rows_of([0], 24), *model.state(1)),
             (rows_of([124, 324, 524], 1), *far),
             (rows_of([1030, 1130, 1230, 1330, 1430], 40), *wide)]
    both, second = {0: "batch", 1: "seq"}, {1: "batch"}
    folder = write_model(out, "charlm", model, cases, ["tokens", "h0", "c0"], ["logits", "hn", "cn"],
                         {"tokens": both, "h0": second, "c0": second,
                          "logits": both, "hn": second, "cn": second}, 14)
    with open(os.path.join(folder, "vocab.txt"), "w", encoding="ascii") as f:
        f.write("".join(vocab) + "\n")

    h, c, s = *model.state(1), "the "
    with torch.no_grad():
        y, h, c = model(torch.tensor([[code[k] for k in s]]), h, c)
        while not s.endswith(".") and len(s) < 100:
            s += vocab[int(y[0, -1].argmax())]
            y, h, c = model(torch.tensor([[code[s[-1]]]]), h, c)
    print("  the likeliest continuation of \"the \": \"%s\"" % s)


# ------------------------------------------------------------------------- encoder
class Block(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.o = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.f1, self.f2 = nn.Linear(d, 2 * d), nn.Linear(2 * d, d)
        self.drop = nn.Dropout(0.1)

    def forward(self, x, hidden):
        b, n, d = x.shape
        q, k, v = (t.reshape(b, n, self.heads, d // self.heads).transpose(1, 2)
                   for t in self.qkv(self.n1(x)).chunk(3, -1))
        s = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(d // self.heads)
        s = s.masked_fill(hidden, -1e9).softmax(-1)
        a = torch.matmul(s, v).transpose(1, 2).reshape(b, n, d)
        x = x + self.drop(self.o(a))
        return x + self.drop(self.f2(F.gelu(self.f1(self.n2(x)))))


class Encoder(nn.Module):
    """mask is 1 for a token and 0 for padding."""
    def __init__(self, d=64, heads=4, layers=2, positions=16):
        super().__init__()
        self.emb, self.pos = nn.Linear(8, d), nn.Embedding(positions, d)
        self.blocks = nn.ModuleList(Block(d, heads) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(d), nn.Linear(d, 10)

    def forward(self, tokens, mask):
        x = self.emb(tokens) + self.pos(torch.arange(tokens.shape[1]))
        hidden = (mask == 0)[:, None, None, :]
        for block in self.blocks:
            x = block(x, hidden)
        w = mask.to(x.dtype).unsqueeze(-1)
        return self.head((self.norm(x) * w).sum(1) / w.sum(1))


def rows(x, lengths, seq):
    """The first lengths[i] rows of image i, then noise that the mask hides."""
    n = len(x)
    t = torch.cat([x[:, 0], torch.zeros(n, 8, 8)], 1)[:, :seq]
    mask = (torch.arange(seq)[None, :] < lengths[:, None]).to(torch.int64)
    noise = torch.rand(t.shape)
    return torch.where(mask[:, :, None] == 1, t, noise), mask


def make_encoder(out):
    seed(3)
    x, y, hx, hy = load()
    model = Encoder()

    def make_input(b):
        part = torch.rand(len(b)) < 0.3
        n = torch.where(part, torch.randint(6, 8, (len(b),)), torch.tensor(8))
        return rows(jitter(b, 0.12, 0.08, 0.15), n, int(torch.randint(8, 13, (1,))))

    fit(model, x, y, 60, 4e-3, 64, make_input)
    for n in (8, 7, 6):
        ok = right(model, rows(hx, torch.full((len(hx),), n), 8), hy)
        print("encoder: %d of %d held-back digits right (%.2f %%) from their first %d rows"
              % (ok, len(hy), 100.0 * ok / len(hy), n))
    seed(4)
    cases = [rows(hx[:1], torch.tensor([8]), 8),
             rows(hx[1:7], torch.tensor([8, 6, 7, 8, 7, 6]), 12),
             rows(hx[7:10], torch.tensor([6, 6, 6]), 6)]
    both = {0: "batch", 1: "seq"}
    write_model(out, "encoder", model, cases, ["tokens", "mask"], ["logits"],
                {"tokens": both, "mask": both, "logits": {0: "batch"}}, 17)


def main():
    out = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    print("torch %s, onnx %s, scikit-learn %s, numpy %s" % (
        torch.__version__, onnx.__version__, sklearn.__version__, np.__version__))
    make_digits(out)
    make_charlm(out)
    make_encoder(out)
    for name in ("digits", "charlm", "encoder"):
        for folder, _, files in os.walk(os.path.join(out, name)):
            for f in files:
                assert os.path.getsize(os.path.join(folder, f)) < SIZE_LIMIT, f


if __name__ == "__main__":
    main()
