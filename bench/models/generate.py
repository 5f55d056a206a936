#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the benchmark models as ONNX files with seeded random weights.

    python3 bench/models/generate.py OUTDIR [NAME ...]      (--list: the names)

Needs numpy and onnx from PyPI. Shapes are fixed but for the past of gpt2_decode, the batch is 1
unless the name says otherwise. Each model is checked by onnx, and its parameters and floating-point operations (twice the
multiply-adds of convolutions, products and LSTM cells) by what its architecture is published
with; more than 2 % off is a failure. OUTDIR/models.json says what the inputs and outputs are.
`--layers` instead of names writes the chains of single layers (layers.py), `--classic` trees and
support vectors (classic.py), `--other` volumes, images and sounds that are made (other.py), which
have no published figures.
"""
import json
import os
import sys
import time
import zlib

import build
import classic
import image_attention
import image_classic
import image_dense
import image_mobile
import language
import layers
import other
import small

# Parameters in millions and operations in 10^9: of the published architecture (no auxiliary heads,
# GPT-2's output matrix stored apart), or as designed where the architecture is our own.
EXPECTED = {
    "tiny_mlp": (0.002376, 0.000004608), "mlp": (0.461194, 0.000920064),
    "vad_lstm": (0.309633, 0.001358976), "bilstm_am": (3.878976, 0.7733248),
    "dlrm_b1": (17.1256, 0.00101382), "dlrm_b128": (17.1256, 0.129769),
    "alexnet": (61.1008, 1.42838), "vgg16": (138.358, 30.9405),
    "resnet18": (11.6895, 3.62815), "resnet50": (25.557, 8.17837),
    "squeezenet1_1": (1.235496, 0.698304), "googlenet": (6.6249, 2.99675),
    "inception_v3": (23.8346, 11.4264), "densenet121": (7.97886, 5.66832),
    "mobilenet_v2": (3.50487, 0.601549), "mobilenet_v3_large": (5.48303, 0.433180),
    "efficientnet_b0": (5.28855, 0.771630), "shufflenet_v2_x1_0": (2.2786, 0.289816),
    "unet_small": (7.760130, 24.1466), "yolo_s": (7.2354, 16.4336),
    "vit_b_16": (86.5677, 35.1277), "swin_t": (28.2884, 8.98113),
    "convnext_tiny": (28.5891, 8.91106), "bert_base_128": (109.482, 22.3484),
    "minilm_l6_128": (22.7132, 2.86920), "gpt2_prefill_64": (163.037, 15.8876),
    "gpt2_decode_512": (163.037, 0.265975), "gpt2_decode": (163.037, 0.265975),
}
GROUPS = (small, image_classic, image_mobile, image_dense, image_attention, language)
MODELS = {f.__name__: f for group in GROUPS for f in group.MODELS}
LAYERS = {f.__name__: f for f in layers.MODELS}
CLASSIC = {f.__name__: f for f in classic.MODELS}
OTHER = {f.__name__: f for f in other.MODELS}
ALL = {**MODELS, **LAYERS, **CLASSIC, **OTHER}


def made_by():
    """A number of these programs: files with another are from other programs."""
    folder, sums = os.path.dirname(os.path.abspath(__file__)), 0
    for name in sorted(n for n in os.listdir(folder) if n.endswith(".py")):
        with open(os.path.join(folder, name), "rb") as f:
            sums = zlib.crc32(f.read(), sums)
    return sums


def describe(graph):
    return {"made_by": made_by(), "params": graph.params, "flops": graph.flops,
            "nodes": len(graph.nodes),
            "inputs": [{"name": v.name, "shape": list(v.shape), "dtype": str(v.dtype),
                        "limit": graph.limits[v.name]} for v in graph.inputs],
            "outputs": [{"name": v.name, "shape": list(v.shape), "dtype": str(v.dtype)}
                        for v in graph.outputs]}


def write(graph, name, folder):
    """Writes one checked model; the folder has it complete or not at all."""
    path = os.path.join(folder, name + ".onnx")
    with open(path + ".part", "wb") as f:
        f.write(graph.model(name).SerializeToString())
    build.check(path + ".part")
    os.replace(path + ".part", path)
    return path


def generate(folder, names):
    """Writes the models; the names of those that are not what they should be."""
    os.makedirs(folder, exist_ok=True)
    index = os.path.join(folder, "models.json")
    known, wrong = {}, []
    if os.path.exists(index):
        with open(index) as f:
            known = json.load(f)
    print(f"{'model':24s} {'M params':>9s} {'published':>9s} {'GFLOP':>10s} {'published':>10s} "
          "nodes")
    for name in names:
        begin = time.perf_counter()
        graph = ALL[name]()
        params, flops = EXPECTED.get(name, (graph.params / 1e6, graph.flops / 1e9))
        off = 0.0 if name not in EXPECTED else max(abs(graph.params / 1e6 / params - 1),
                                                   abs(graph.flops / 1e9 / flops - 1))
        if off > 0.02:
            wrong.append(name)
        write(graph, name, folder)
        known[name] = describe(graph)
        print(f"{name:24s} {graph.params / 1e6:9.4f} {params:9.4f} {graph.flops / 1e9:10.6f} "
              f"{flops:10.6f} {len(graph.nodes):5d}  {time.perf_counter() - begin:.1f} s"
              f"{'  MORE THAN 2 % OFF' if off > 0.02 else ''}", flush=True)
    with open(index, "w") as f:
        json.dump(known, f, indent=1, sort_keys=True)
    return wrong


def main():
    groups = {"--layers": LAYERS, "--classic": CLASSIC, "--other": OTHER}
    names = list(groups.get(" ".join(sys.argv[2:]), ())) or sys.argv[2:] or list(MODELS)
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        sys.exit(__doc__)
    if sys.argv[1] == "--list":
        print("\n".join(MODELS))
        return
    unknown = [n for n in names if n not in ALL]
    if unknown:
        sys.exit("no such model: " + ", ".join(unknown))
    wrong = generate(sys.argv[1], names)
    if wrong:
        sys.exit("not the published architecture: " + ", ".join(wrong))


if __name__ == "__main__":
    main()
