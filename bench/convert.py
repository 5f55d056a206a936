# SPDX-License-Identifier: MIT
"""Converts models at several opsets and checks the results in ONNX Runtime.

    python3 bench/convert.py --models DIR [--poprt PATH] [--opsets 11,13,17] [--only A,B]
        [--write bench/CONVERSIONS.md]

For each model and opset: seconds and peak memory of the conversion, nodes before and after, whether
ONNX's checker takes the result, and the largest difference of its outputs from the original's, as a
share of the largest output, both run by ONNX Runtime without optimisations. Beside our node counts
stand those of onnxsim and of ONNX Runtime's extended optimisations on top of it, for the model at
the same opset: brought there without a pass, since neither of them goes to an older one.
Optimisations of ONNX Runtime whose result no other runtime loads (operators of com.microsoft) are
left out. Needs numpy, onnx, onnxruntime; onnxsim for its counts.
"""
import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime as ort


OWN_OPERATORS = [
    "AttentionFusion", "BiasDropoutFusion", "BiasGeluFusion", "BiasSoftmaxFusion",
    "ConvActivationFusion", "ConvAddActivationFusion", "DynamicQuantizeMatMulFusion",
    "EmbedLayerNormFusion", "FastGeluFusion", "GeluFusionL1", "GeluFusionL2",
    "GemmActivationFusion", "GroupQueryAttentionFusion", "MatMulActivationFusion",
    "MatMulNBitsFusion", "MatMulScaleFusion", "MatmulTransposeFusion", "NchwcTransformer",
    "NhwcTransformer", "QDQFusion", "QuickGeluFusion", "RotaryEmbeddingFusion",
    "SimplifiedLayerNormFusion", "SkipLayerNormFusion"]


def count_nodes(graph):
    n = 0
    for node in graph.node:
        n += node.op_type != "Constant"
        for attribute in node.attribute:
            if attribute.HasField("g"):
                n += count_nodes(attribute.g)
    return n


def session(path, level=ort.GraphOptimizationLevel.ORT_DISABLE_ALL, save=None, without=None):
    options = ort.SessionOptions()
    options.graph_optimization_level = level
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    if save:
        options.optimized_model_filepath = save
    return ort.InferenceSession(path, options, providers=["CPUExecutionProvider"],
                                disabled_optimizers=without)


def feed_of(s, rng):
    feed = {}
    for i in s.get_inputs():
        shape = [d if isinstance(d, int) and d > 0 else 1 for d in i.shape]
        if "float" in i.type:
            feed[i.name] = rng.standard_normal(shape).astype(np.float32)
        elif "bool" in i.type:
            feed[i.name] = np.ones(shape, bool)
        else:
            feed[i.name] = rng.integers(0, 2, shape).astype(np.int64)
    return feed


def for_types(s, feed):
    types = {"tensor(int32)": np.int32, "tensor(float16)": np.float16, "tensor(int64)": np.int64}
    return {i.name: feed[i.name].astype(types.get(i.type, feed[i.name].dtype))
            for i in s.get_inputs()}


def largest_difference(expected, found):
    worst = 0.0
    for a, b in zip(expected, found):
        scale = max(float(np.abs(a.astype(np.float64)).max(initial=0)), 1e-30)
        error = np.abs(a.astype(np.float64) - b.astype(np.float64)).max(initial=0)
        worst = max(worst, float(error) / scale)
    return worst


def convert(poprt, model, out, opset, extra):
    command = [poprt, "-i", model, "--output_dir", os.path.dirname(out), "--output_model",
               os.path.basename(out), "--convert_version", str(opset)] + extra
    # A process of its own, so that the peak is not this one's.
    runner = ("import resource, subprocess, sys, time; t = time.perf_counter(); "
              "s = subprocess.run(sys.argv[1:]).returncode; t = time.perf_counter() - t; "
              "print(t, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024, s)")
    done = subprocess.run([sys.executable, "-S", "-c", runner] + command, capture_output=True,
                          text=True)
    seconds, memory, status = done.stdout.split()
    return float(seconds), int(memory), int(status), done.stderr


def pass_names(poprt):
    """All passes, also those that are ours alone: headings of a page."""
    page = subprocess.run([poprt, "inspect", "--passes"], capture_output=True, text=True,
                          check=True).stdout
    return [line[3:] for line in page.splitlines() if line.startswith("## ")]


def simplified(poprt, model, opset, folder):
    """Nodes after onnxsim, and with ONNX Runtime's extended level after it."""
    counts = []
    path = os.path.join(folder, "plain.onnx")
    convert(poprt, model, path, opset, ["--skip_passes", ",".join(pass_names(poprt))])
    try:
        import onnxsim
        simple, _ = onnxsim.simplify(onnx.load(path))
        path = os.path.join(folder, "sim.onnx")
        onnx.save(simple, path, save_as_external_data=False)
        counts.append(count_nodes(simple.graph))
    except ImportError:
        counts.append(None)
    saved = os.path.join(folder, "ort.onnx")
    # LayerNormalization is of opset 17; ONNX Runtime puts it into older models all the same.
    older = ["LayerNormFusionL1", "LayerNormFusionL2"] if opset < 17 else []
    session(path, ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED, saved, OWN_OPERATORS + older)
    counts.append(count_nodes(onnx.load(saved).graph))
    return counts


HEAD = """# Conversions

Written by `python3 bench/convert.py` with poprt %s, onnx %s, onnxruntime %s, onnxsim %s.
`nodes`: of the model as exported, without Constant; `after`: converted with the defaults; `onnxsim`, `+ ORT`:
what these make of the same model at the same opset (see the script's head). `difference`: of
outputs, as a share of the largest, in ONNX Runtime. Seconds are of a busy machine. Below opset 17
LayerNormalization has to be written out.

"""


def head(poprt):
    version = subprocess.run([poprt, "-v"], capture_output=True, text=True).stdout.split()[2]
    try:
        import onnxsim
        simplifier = onnxsim.__version__
    except ImportError:
        simplifier = "none"
    return HEAD % (version, onnx.__version__, ort.__version__, simplifier)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", required=True)
    parser.add_argument("--poprt", default="build/release/src/tools/poprt")
    parser.add_argument("--opsets", default="11,13,17")
    parser.add_argument("--only", default="")
    parser.add_argument("--write", help="a file for the page")
    parser.add_argument("--bound", type=float, default=1e-4)
    parser.add_argument("extra", nargs="*", help="more options of poprt, after --")
    args = parser.parse_args()
    names = sorted(n[:-5] for n in os.listdir(args.models) if n.endswith(".onnx"))
    if args.only:
        names = [n for n in names if n in args.only.split(",")]
    page = []

    def put(line):
        page.append(line)
        print(line, flush=True)

    put("| model | opset | s | memory / file | nodes | after | onnxsim | + ORT | checker "
        "| difference |")
    put("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- | ---: |")
    bad = 0
    for name in names:
        path = os.path.join(args.models, name + ".onnx")
        with tempfile.TemporaryDirectory() as folder:
            before = count_nodes(onnx.load(path, load_external_data=False).graph)
            s = session(path)
            feed = feed_of(s, np.random.default_rng(7))
            expected = s.run(None, feed)
            del s
            for opset in map(int, args.opsets.split(",")):
                out = os.path.join(folder, "out.onnx")
                seconds, memory, status, error = convert(args.poprt, path, out, opset, args.extra)
                share = memory / os.path.getsize(path)
                row = f"| {name} | {opset} | {seconds:.2f} | {share:.2f} | {before} |"
                if status != 0:
                    put(f"{row} failed: {error.strip().splitlines()[-1] if error else status}")
                    bad += 1
                    continue
                try:
                    onnx.checker.check_model(out)
                    checked = "ok"
                except Exception as e:
                    checked = str(e).splitlines()[0][:60]
                try:
                    t = session(out)
                    worst = largest_difference(expected, t.run(None, for_types(t, feed)))
                except Exception as e:
                    worst = float("nan")
                    checked += " " + str(e)[:100]
                if checked != "ok" or not worst <= args.bound:
                    bad += 1
                sim, extended = simplified(args.poprt, path, opset, folder)
                after = count_nodes(onnx.load(out, load_external_data=False).graph)
                put(f"{row} {after} | {sim} | {extended} | {checked} | {worst:.1e} |")
    if args.write:
        with open(args.write, "w") as f:
            f.write(head(args.poprt) + "\n".join(page) + "\n")
    sys.exit(bad != 0)


main()
