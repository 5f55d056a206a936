# SPDX-License-Identifier: MIT
"""training.py LIBRARY [--only NAME] [--steps N] [--full] [--bits] [--reference] [--json FILE]

Trains the ten workloads of workloads.py with LIBRARY (libpoprt.so) and with PyTorch in double
precision, on the same random data (numpy, onnx and torch from PyPI). A workload passes if

  - every loss is within 1e-4 of PyTorch's, relative,
  - with SGD, all weights and statistics are, by the largest element of each tensor,
  - with Adam, the first moments after one step are. Adam divides a gradient by its own size, so
    that rounding errors of gradients near 0 become steps of full length in the weights, whose
    difference is printed and has no limit.

The script prints the largest differences, and the CPU time of the best step, of the library and of
PyTorch in single precision, each with one thread. It ends with "N passed, M failed".

  --full       GPT-2 with 124 million parameters in place of a small one
  --bits       train each workload, with Dropout if it has one, with 1, 2 and 3 threads, from PopEF
               and from a checkpoint in a new process, and compare the bits of weights and states
               instead
  --reference  list the steps of each program that have no fast implementation, and the time that
               they take, instead
"""
import argparse
import collections
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np
import torch
from libpoprt_ctypes import Error, Library
from workloads import FULL, WORKLOADS, Torch, onnx_model

LIMIT = 1e-4
# Limits of moments. In U-Net, one of the 258,048 windows of MaxPool may have two elements that are
# equal but for rounding, one of which receives the gradient of both.
MOMENTS = {"unet": 1e-2}


def row(name, full):
    return FULL[name] if full and name in FULL else WORKLOADS[name]


def data_of(name, full, step):
    return row(name, full)[1](np.random.default_rng(100 + step))


def make_optimizer(kind, values, weights):
    """The formulas of PopART are those of these optimizers of PyTorch (dampening 0)."""
    get = {k: float(np.float32(v)) for k, v in values.items()}.get
    if kind == "sgd":
        return torch.optim.SGD(weights, get("learningRate"), get("momentum", 0.0),
                               weight_decay=get("weightDecay", 0.0))
    betas = (float(np.float32(0.9)), float(np.float32(0.999)))
    cls = torch.optim.AdamW if kind == "adamw" else torch.optim.Adam
    return cls(weights, get("learningRate"), betas, get("eps"), get("weightDecay", 0.0))


class Peer:
    """A workload in PyTorch."""

    def __init__(self, name, full, builder, dtype):
        self.make, _, kind, values = row(name, full)
        self.builder = Torch(builder.weights, builder.statistics, dtype)
        self.optimizer = make_optimizer(kind, values, list(self.builder.weights.values()))

    def step(self, data):
        m = self.builder
        self.optimizer.zero_grad()
        loss = self.make(m, {n: m.input(n, a) for n, a in data.items()})
        loss.backward()
        self.optimizer.step()
        return float(loss.detach())

    def tensors(self):
        every = {**self.builder.weights, **self.builder.statistics}
        return {n: t.detach().numpy() for n, t in every.items()}

    def moments(self):
        return {n: self.optimizer.state[w]["exp_avg"].numpy()
                for n, w in self.builder.weights.items()}


def largest(ours, theirs):
    """The largest difference by the largest element of its tensor, and the name of the tensor.

    Tensors below a thousandth of the largest one are rounding errors, such as the gradient of the
    bias of a key, which is 0."""
    least = 1e-3 * max(np.abs(t).max() for t in theirs.values())
    worst = (0.0, "")
    for name, t in theirs.items():
        apart = np.abs(ours[name].astype(np.float64) - t).max() / max(np.abs(t).max(), least)
        worst = max(worst, (float(apart) if np.isfinite(apart) else np.inf, name))
    return worst


def timed(function, *args):
    start = time.thread_time()
    result = function(*args)
    return result, time.thread_time() - start


def compile_workload(library, name, full, drop=0.0):
    data = data_of(name, full, 0)
    model, builder, loss = onnx_model(name, data, drop, full)
    _, _, kind, values = row(name, full)
    return library.compile_training(model, loss, kind, values), builder


def compare(library, name, args):
    executable, builder = compile_workload(library, name, args.full)
    session = executable.session()
    peer = Peer(name, args.full, builder, torch.float64)
    result = {"name": name, "loss": 0.0, "moment": 0.0, "tensor": ""}
    times = []
    for step in range(args.steps):
        data = data_of(name, args.full, step)
        _, seconds = timed(session.run, data)
        times.append(seconds)
        loss, expected = float(session.output()), peer.step(data)
        apart = abs(loss - expected) / abs(expected)
        result["loss"] = max(result["loss"], apart if np.isfinite(apart) else np.inf)
        if step == 0 and "Step___" in " ".join(session.weights()):
            state = session.weights()
            moments = {n: state["Accl1___" + n] for n in builder.weights}
            result["moment"], result["tensor"] = largest(moments, peer.moments())
    result["weight"], tensor = largest(session.weights(), peer.tensors())
    exact = row(name, args.full)[2] == "sgd"
    result["tensor"] = tensor if exact else result["tensor"]
    result["ours"] = min(times)
    single = Peer(name, args.full, builder, torch.float32)
    result["torch"] = min(timed(single.step, data_of(name, args.full, s))[1]
                          for s in range(min(args.steps, 5)))
    result["passed"] = (result["loss"] <= LIMIT and (result["weight"] <= LIMIT or not exact) and
                        result["moment"] <= MOMENTS.get(name, LIMIT))
    session.release()
    executable.release()
    print(f"{name:12} {'ok  ' if result['passed'] else 'FAIL'} loss {result['loss']:.1e}  "
          f"weights {result['weight']:.1e}{' ' if exact else '*'} moments {result['moment']:.1e}  "
          f"({result['tensor']})  ms a step: {result['ours'] * 1e3:.1f}, "
          f"PyTorch {result['torch'] * 1e3:.1f}", flush=True)
    return result


# ---- bits


def digest(session):
    h = hashlib.sha256()
    for name, array in sorted(session.weights().items()):
        h.update(name.encode() + array.tobytes())
    return h.hexdigest()[:16]


def train(session, name, full, first, last):
    for step in range(first, last):
        session.run(data_of(name, full, step))


def resume(args):
    """The second half of a run, in a process of its own."""
    popef, checkpoint, name, first, last = args.resume
    library = Library(args.library)
    executable = library.load(popef)
    session = executable.session()
    session.load_checkpoint(checkpoint)
    train(session, name, args.full, int(first), int(last))
    print(digest(session))


def compare_bits(name, args):
    hashes = {}
    with tempfile.TemporaryDirectory() as folder:
        popef, checkpoint = os.path.join(folder, "a.popef"), os.path.join(folder, "b.popef")
        for threads in (1, 2, 3):
            library = Library(args.library, threads)
            executable, _ = compile_workload(library, name, args.full, 0.1)
            if threads == 1:
                executable.save(popef)
            session = executable.session()
            train(session, name, args.full, 0, args.steps // 2)
            if threads == 2:
                session.save_checkpoint(checkpoint)
            train(session, name, args.full, args.steps // 2, args.steps)
            hashes[f"threads {threads}"] = digest(session)
            session.release()
            executable.release()
            library.close()
        library = Library(args.library)
        executable = library.load(popef)
        session = executable.session()
        train(session, name, args.full, 0, args.steps)
        hashes["PopEF"] = digest(session)
        command = [sys.executable, __file__, args.library] + ["--full"] * args.full
        command += ["--resume", popef, checkpoint, name, str(args.steps // 2), str(args.steps)]
        hashes["checkpoint"] = subprocess.run(command, capture_output=True, text=True,
                                              check=True).stdout.strip()
    passed = len(set(hashes.values())) == 1
    print(f"{name:12} {'ok  ' if passed else 'FAIL'} "
          f"{hashes['PopEF'] if passed else hashes}", flush=True)
    return {"name": name, "passed": passed, "hashes": hashes}


# ---- steps without a fast implementation


def list_reference(library, name, args):
    executable, _ = compile_workload(library, name, args.full)
    session = executable.session()
    train(session, name, args.full, 0, 2)
    times = session.times(data_of(name, args.full, 2))
    steps = executable.steps()
    found = collections.defaultdict(lambda: [0, 0])
    for step in steps:
        if step["kernel"] == "reference":
            key = step["operator"] + " " + ", ".join(o["type"] for o in step["outputs"])
            found[key][0] += 1
            found[key][1] += times.get((step["block"], step["step"]), 0) / 1e6
    whole, slow = sum(times.values()) / 1e6, sum(ms for _, ms in found.values())
    print(f"{name:12} {len(steps)} steps, {whole:.1f} ms; by reference kernels "
          f"{sum(n for n, _ in found.values())} steps, {slow:.1f} ms", flush=True)
    for text, (count, ms) in sorted(found.items(), key=lambda item: -item[1][1]):
        print(f"             {ms:8.2f} ms  {count} x {text}", flush=True)
    session.release()
    executable.release()
    return {"name": name, "passed": True, "steps": len(steps), "ms": whole,
            "reference": dict(found)}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--only", choices=WORKLOADS)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--bits", action="store_true")
    parser.add_argument("--reference", action="store_true")
    parser.add_argument("--json")
    parser.add_argument("--resume", nargs=5, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.resume:
        return resume(args)
    torch.set_num_threads(1)
    library, results = Library(args.library), []
    for name in [args.only] if args.only else WORKLOADS:
        try:
            if args.bits:
                results.append(compare_bits(name, args))
            elif args.reference:
                results.append(list_reference(library, name, args))
            else:
                results.append(compare(library, name, args))
        except Error as e:
            print(f"{name:12} FAIL {e}", flush=True)
            results.append({"name": name, "passed": False, "error": str(e)})
    if args.json:
        with open(args.json, "w", encoding="utf-8") as f:
            json.dump(results, f, indent=1)
    passed = sum(r["passed"] for r in results)
    print(f"{passed} passed, {len(results) - passed} failed")
    return 0 if passed == len(results) else 1


if __name__ == "__main__":
    sys.exit(main())
