#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures `poprt bench` against ONNX Runtime on a folder of models and writes the results page.

    python3 bench/peers.py --poprt build/release/src/tools/poprt --models DIR
        [--only NAME,...] [--threads 1,2] [--rounds 3] [--min-time 1] [--out bench/RESULTS.md]

Development only: needs onnxruntime and numpy from PyPI. Every round visits every model with both
engines, one after the other, each in a process of its own, so that a drift of the machine meets
both; the page has medians over the rounds, and the machine and versions they were taken with.
"""
import argparse
import datetime
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import time


def run_ort(path, threads, min_time):
    """The fields of `poprt bench --json` for ONNX Runtime, in this process."""
    import numpy as np
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    begin = time.perf_counter()
    session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    load = (time.perf_counter() - begin) * 1e3
    rng = np.random.default_rng(0)
    feed = {}
    for i in session.get_inputs():
        shape = [d if isinstance(d, int) else 1 for d in i.shape]
        if i.type == "tensor(float)":
            feed[i.name] = rng.standard_normal(shape).astype(np.float32)
        else:
            feed[i.name] = np.zeros(shape, np.int64 if "int64" in i.type else np.int32)
    times = []
    begin = time.perf_counter()
    while len(times) < 6 or time.perf_counter() - begin < min_time:
        start = time.perf_counter()
        session.run(None, feed)
        times.append((time.perf_counter() - start) * 1e3)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"load_ms": load, "first_run_ms": times[0], "median_ms": statistics.median(times[1:]),
            "peak_rss_mb": peak, "version": ort.__version__}


def measure(command):
    out = subprocess.run(command, capture_output=True, text=True)
    if out.returncode != 0:
        raise SystemExit(" ".join(command) + "\n" + out.stderr)
    return json.loads(out.stdout.strip().splitlines()[-1])


def machine():
    model = "unknown processor"
    with open("/proc/cpuinfo") as f:
        for line in f:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    return f"{model}, {os.cpu_count()} cores, Linux {platform.release().split('-')[0]}"


def page(tables, args, versions):
    out = ["# Results", "",
           "Written by `bench/peers.py`; see there for the method. Times in milliseconds, medians of "
           f"{args.rounds} interleaved rounds, memory in MB at its peak (the process's, interpreter "
           "included for ONNX Runtime).", "",
           f"{datetime.date.today()}, {machine()}, libpoprt {versions['poprt']} against ONNX Runtime "
           f"{versions['ort']}; float32. A run ratio below 1 means that libpoprt is faster.", "",
           "Models are loaded from ONNX and compiled in the same process; from PopEF, weights are "
           "mapped."]
    for threads, rows in tables:
        out += ["", f"## {threads} thread{'s' if threads != 1 else ''}", ""] + table(rows)
    return "\n".join(out) + "\n"


def table(rows):
    out = ["| model | load + session | ORT | first run | ORT | run | ORT | run ratio | memory | ORT |",
           "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"]
    for name, ours, theirs in rows:
        start = ours["load_ms"] + ours["compile_ms"] + ours["session_ms"]
        out.append(
            f"| {name} | {start:.1f} | {theirs['load_ms']:.1f} | {ours['first_run_ms']:.2f} | "
            f"{theirs['first_run_ms']:.2f} | {ours['median_ms']:.3f} | {theirs['median_ms']:.3f} | "
            f"{ours['median_ms'] / theirs['median_ms']:.2f} | {ours['peak_rss_mb']:.0f} | "
            f"{theirs['peak_rss_mb']:.0f} |")
    ratios = [ours["median_ms"] / theirs["median_ms"] for _, ours, theirs in rows]
    out += ["", f"Geometric mean of the run ratios: {statistics.geometric_mean(ratios):.2f}."]
    return out


def middle(samples):
    keys = [k for k, v in samples[0].items() if isinstance(v, (int, float))]
    return {k: statistics.median(s[k] for s in samples) for k in keys}


def measure_all(args, names, threads):
    """Rows (name, ours, theirs) of medians over interleaved rounds, and the versions."""
    samples = {n: ([], []) for n in names}
    versions = {}
    for turn in range(args.rounds):
        for name in names:
            path = os.path.join(args.models, name + ".onnx")
            common = ["--threads", str(threads), "--min-time", str(args.min_time)]
            ours = measure([args.poprt, "bench", path, "--json"] + common)
            theirs = measure([sys.executable, __file__, "--ort", path] + common)
            versions = {"poprt": ours["version"], "ort": theirs["version"]}
            samples[name][0].append(ours)
            samples[name][1].append(theirs)
            if sys.stderr.isatty():
                print(f"{threads} threads, round {turn + 1}: {name}", file=sys.stderr)
    return [(n, middle(a), middle(b)) for n, (a, b) in samples.items()], versions


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--poprt")
    parser.add_argument("--models")
    parser.add_argument("--only", default="")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--min-time", type=float, default=1.0)
    parser.add_argument("--out", default="bench/RESULTS.md")
    parser.add_argument("--ort", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.ort:
        print(json.dumps(run_ort(args.ort, int(args.threads), args.min_time)))
        return
    if not args.poprt or not args.models:
        parser.error("--poprt and --models are needed")
    only = set(filter(None, args.only.split(",")))
    names = sorted(n[:-5] for n in os.listdir(args.models) if n.endswith(".onnx"))
    names = [n for n in names if not only or n in only]
    tables, versions = [], {}
    for threads in map(int, args.threads.split(",")):
        rows, versions = measure_all(args, names, threads)
        tables.append((threads, rows))
    with open(args.out, "w") as f:
        f.write(page(tables, args, versions))
    print(args.out)


if __name__ == "__main__":
    main()
