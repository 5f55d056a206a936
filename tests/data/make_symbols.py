#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Exports the tiny transformers whose sizes are all symbols.

    python3 tests/data/make_symbols.py [OUT_DIR]      (default: this folder)

Needs PyPI's torch (2.6 or later), onnx and onnxscript; nothing else is downloaded. Weights are
random with a fixed seed. Each model NAME becomes NAME/model.onnx with the data sets of
`poprt test` at three sizes; the outputs are PyTorch's.

  symbols_decoder  two causal blocks with a cache, by the TorchScript exporter, opset 17:
                   tokens [batch,seq], mask [batch,total], key_i and value_i [batch,2,past,4]
                   -> logits [batch,seq,12] and the longer cache (total is past + seq)
  symbols_encoder  masked self-attention with learned positions and a pooled output, by the
                   TorchScript exporter, opset 13: tokens and mask [batch,seq]
  symbols_windows  attention within shifted windows of an image that is padded to whole windows
                   and scaled back, by the newer exporter, opset 18: image [batch,2,height,width]
"""
import math
import os
import shutil
import sys
import warnings

import numpy as np
import onnx
import onnx.numpy_helper
import torch
import torch.nn as nn
import torch.nn.functional as F

warnings.filterwarnings("ignore")
SIZE_LIMIT = 40000     # bytes, for every file
D, HEADS, VOCAB, PLACES = 8, 2, 12, 24


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(D, 3 * D), nn.Linear(D, D)

    def forward(self, x, mask, past=None):
        b, n, _ = x.shape
        q, k, v = [t.view(b, n, HEADS, D // HEADS).transpose(1, 2)
                   for t in self.qkv(x).chunk(3, -1)]
        if past is not None:
            k, v = torch.cat([past[0], k], 2), torch.cat([past[1], v], 2)
        s = q @ k.transpose(-1, -2) / math.sqrt(D // HEADS)
        if mask is not None:
            s = s.masked_fill(~mask, -1e4)
        y = (s.softmax(-1) @ v).transpose(1, 2).reshape(b, n, D)
        return self.out(y), k, v


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.n1, self.n2, self.att = nn.LayerNorm(D), nn.LayerNorm(D), Attention()
        self.f1, self.f2 = nn.Linear(D, 2 * D), nn.Linear(2 * D, D)

    def forward(self, x, mask, past=None):
        y, k, v = self.att(self.n1(x), mask, past)
        x = x + y
        return x + self.f2(F.gelu(self.f1(self.n2(x)))), k, v


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.word, self.place = nn.Embedding(VOCAB, D), nn.Embedding(PLACES, D)
        self.blocks = nn.ModuleList([Block(), Block()])
        self.register_buffer("tri", torch.tril(torch.ones(PLACES, PLACES, dtype=torch.bool)))

    def forward(self, tokens, mask, *past):
        n, before = tokens.shape[1], past[0].shape[2]
        at = torch.arange(before, before + n)
        x = self.word(tokens) + self.place(at)[None]
        seen = self.tri[before:before + n, :before + n] & (mask[:, None, None, :] != 0)
        cache = []
        for i, block in enumerate(self.blocks):
            x, k, v = block(x, seen, past[2 * i:2 * i + 2])
            cache += [k, v]
        return (x @ self.word.weight.T, *cache)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.word, self.place = nn.Embedding(VOCAB, D), nn.Embedding(PLACES, D)
        self.register_buffer("places", torch.arange(PLACES)[None])
        self.block, self.pool = Block(), nn.Linear(D, D)

    def forward(self, tokens, mask):
        b, n = tokens.shape
        x = self.word(tokens) + self.place(self.places[:, :n].expand(b, n))
        x, _, _ = self.block(x, (mask != 0)[:, None, None, :].expand(b, 1, n, n))
        return x, torch.tanh(self.pool(x[:, 0])), x[:, :n // 2].mean(1)


class Windows(nn.Module):
    SIDE = 4

    def __init__(self):
        super().__init__()
        self.patch, self.block, self.head = nn.Conv2d(2, D, 2, 2), Block(), nn.Conv2d(D, 1, 1)

    def forward(self, image):
        w = self.SIDE
        x = self.patch(image).permute(0, 2, 3, 1)
        b, h, v, _ = x.shape
        x = F.pad(x, (0, 0, 0, (w - v % w) % w, 0, (w - h % w) % w))
        hp, vp = x.shape[1], x.shape[2]
        x = torch.roll(x, (-w // 2, -w // 2), (1, 2))
        x = x.view(b, hp // w, w, vp // w, w, D).transpose(2, 3).reshape(-1, w * w, D)
        x, _, _ = self.block(x, None)
        x = x.view(b, hp // w, vp // w, w, w, D).transpose(2, 3).reshape(b, hp, vp, D)
        x = torch.roll(x, (w // 2, w // 2), (1, 2))[:, :h, :v]
        y = self.head(x.permute(0, 3, 1, 2))
        return F.interpolate(y, size=image.shape[2:], mode="bilinear")


def write_tensor(path, name, tensor):
    array = np.ascontiguousarray(tensor.detach().numpy())
    with open(path, "wb") as f:
        f.write(onnx.numpy_helper.from_array(array, name).SerializeToString())


def write(out, name, model, dims, cases, outputs, opset, newer):
    """`dims` is name -> symbols by axis of each input, in order."""
    model.eval()
    folder = os.path.join(out, name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    path = os.path.join(folder, "model.onnx")
    names = list(dims)
    if newer:
        symbols = {s: torch.export.Dim(s) for d in dims.values() for s in d.values()}
        shapes = tuple({k: symbols[s] for k, s in d.items()} for d in dims.values())
        torch.onnx.export(model, cases[0], path, input_names=names, output_names=outputs,
                          dynamic_shapes=shapes, opset_version=opset, dynamo=True,
                          external_data=False)
    else:
        torch.onnx.export(model, cases[0], path, input_names=names, output_names=outputs,
                          dynamic_axes=dims, opset_version=opset, dynamo=False)
    m = onnx.load(path)
    m.doc_string = ""
    for thing in [m, m.graph, *m.graph.node, *m.graph.value_info, *m.graph.input,
                  *m.graph.output, *m.graph.initializer]:
        del thing.metadata_props[:]
        thing.doc_string = ""
    del m.graph.value_info[:]
    onnx.save(m, path)
    for k, case in enumerate(cases):
        data = os.path.join(folder, "test_data_set_%d" % k)
        os.makedirs(data)
        with torch.no_grad():
            results = model(*case)
        results = results if isinstance(results, tuple) else (results,)
        for i, (n, t) in enumerate(zip(names, case)):
            write_tensor(os.path.join(data, "input_%d.pb" % i), n, t)
        for i, (n, t) in enumerate(zip(outputs, results)):
            write_tensor(os.path.join(data, "output_%d.pb" % i), n, t)
    for root, _, files in os.walk(folder):
        for f in files:
            assert os.path.getsize(os.path.join(root, f)) < SIZE_LIMIT, f


def tokens(b, n):
    return torch.randint(0, VOCAB, (b, n))


def mask_of(b, n):
    return (torch.arange(n)[None] >= torch.arange(b)[:, None] % n).long()


def make_decoder(out):
    torch.manual_seed(1)
    names = ["key_0", "value_0", "key_1", "value_1"]

    def case(b, n, past):
        cache = [torch.randn(b, HEADS, past, D // HEADS) for _ in names]
        return (tokens(b, n), mask_of(b, past + n), *cache)

    dims = {"tokens": {0: "batch", 1: "seq"}, "mask": {0: "batch", 1: "total"}}
    dims.update({n: {0: "batch", 2: "past"} for n in names})
    write(out, "symbols_decoder", Decoder(), dims, [case(2, 3, 4), case(1, 1, 9), case(3, 5, 0)],
          ["logits"] + ["new_" + n for n in names], 17, False)


def make_encoder(out):
    torch.manual_seed(2)
    both = {0: "batch", 1: "seq"}
    cases = [(tokens(b, n), mask_of(b, n)) for b, n in ((2, 5), (1, 8), (4, 3))]
    write(out, "symbols_encoder", Encoder(), {"tokens": both, "mask": both}, cases,
          ["hidden", "pooled", "half"], 13, False)


def make_windows(out):
    torch.manual_seed(3)
    cases = [(torch.randn(b, 2, h, w),) for b, h, w in ((2, 12, 20), (1, 17, 9), (3, 8, 30))]
    write(out, "symbols_windows", Windows(), {"image": {0: "batch", 2: "height", 3: "width"}},
          cases, ["depth"], 18, True)


def main():
    out = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    torch.set_num_threads(1)
    print("torch %s, onnx %s" % (torch.__version__, onnx.__version__))
    make_decoder(out)
    make_encoder(out)
    make_windows(out)


if __name__ == "__main__":
    main()
