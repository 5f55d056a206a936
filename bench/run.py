#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures libpoprt against its peers and writes the results page with its plots.

    python3 bench/run.py [--models DIR] [--build build/release] [--quick] [--only SECTION,...]
                         [--names MODEL,...] [--out bench/RESULTS.md]

Sections: models, kernels, weights, quantised, integers, packages, classic, other, cold, overhead,
disturbed. Needs numpy, onnx and onnxruntime from PyPI; openvino, and ncnn with pnnx (`pip install
--no-deps pnnx`), are measured where they are installed; "packages" downloads 250 MB.
Models that DIR lacks are written there (models/generate.py). Figures are kept beside the page in
results.json; with --only, those of the other sections stay as they were, each with its own date;
with --names, those of the other models, and the page says which were measured again.
"""
import argparse
import datetime
import importlib.metadata
import json
import math
import os
import platform
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "models"))

import generate
import packages
import page
import quantise
from engines import package_file
from measure import Cores, Noise, processors
from sections import (INTEGER_MODELS, INTEGER_MODELS_4, MEMORY_MODELS, OPEN_DECODER, SECTIONS, say,
                      variants_of)

TOOLS = {"loop": "bench/bench_loop.so", "kernels": "bench/kernels",
         "cold_poprt": "bench/cold_poprt", "cold_ort": "bench/cold_ort",
         "cold_openvino": "bench/cold_openvino", "together": "bench/together"}


class Bench:
    """What all sections share: models and their files, tools, how long to measure."""

    def __init__(self, args, work):
        self.quick, self.work, self.folder = args.quick, work, args.models
        self.rounds, self.seconds = (2, 0.1) if args.quick else (7, 0.4)
        self.cpus = os.sched_getaffinity(0)
        self.tools = {k: os.path.join(args.build, v) for k, v in TOOLS.items()}
        self.tools["poprt"] = os.path.join(args.build, "src/api/libpoprt.so")
        self.names = [n for n in generate.MODELS if not args.names or n in args.names]
        self.layer_names = list(generate.LAYERS)
        self.entries = {}
        self.cores = Cores(self.tools["together"])

    def files(self, name):
        return {"onnx": os.path.join(self.folder, name + ".onnx"),
                "popef": os.path.join(self.work, name + ".popef"),
                "ncnn": os.path.join(self.folder, "ncnn", name + ".ncnn"),
                **{v: os.path.join(self.work, f"{name}.{v}.popef") for v in variants_of(name)}}

    def build(self, build):
        subprocess.run(["ninja", "-C", build, "src/api/libpoprt.so.1.0.0", *TOOLS.values()],
                       check=True, stdout=subprocess.DEVNULL)

    def prepare(self, names, with_ncnn, quantised=(), found=()):
        """Writes models that are not there, compiles each to PopEF, converts each for ncnn."""
        index = os.path.join(self.folder, "models.json")
        known = {}
        if os.path.exists(index):
            with open(index) as f:
                known = json.load(f)
        bases = [n for n in quantise.MODELS if quantised and n not in names]
        lacking = [n for n in [*names, *bases]
                   if known.get(n, {}).get("made_by") != generate.made_by()
                   or not os.path.exists(self.files(n)["onnx"])]
        if lacking and generate.generate(self.folder, lacking):
            sys.exit("a model is not the published architecture")
        with open(index) as f:
            self.entries = json.load(f)
        quantise.prepare(self.folder, quantised, self.entries)
        packages.prepare(self.folder, found, self.entries)
        for name in [*names, *quantised, *found]:
            files = self.files(name)
            job = {"engine": "compile", "tools": self.tools, "files": files,
                   "cpus": list(self.cpus)}
            command = [sys.executable, os.path.join(HERE, "worker.py"), json.dumps(job)]
            said = subprocess.run(command, capture_output=True, text=True).stdout
            if '"done"' not in said:
                say(f"{name} does not compile: {said.strip()}")
            if with_ncnn and name in generate.MODELS:
                self.convert(name)

    def convert(self, name):
        """What pnnx makes of a model stays beside it; nothing where it fails."""
        files = self.files(name)
        old = [files["ncnn"] + end for end in (".no", ".param", ".bin")
               if os.path.exists(files["ncnn"] + end)]
        if old and os.path.getmtime(old[0]) >= os.path.getmtime(files["onnx"]):
            return
        for path in old:
            os.remove(path)
        os.makedirs(os.path.dirname(files["ncnn"]), exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            copy = os.path.join(folder, name + ".onnx")
            os.link(files["onnx"], copy)
            try:
                subprocess.run([package_file("pnnx", "pnnx"), copy, "fp16=0"], cwd=folder,
                               capture_output=True, timeout=300)
            except (RuntimeError, subprocess.TimeoutExpired) as e:
                say(f"{name}, conversion for ncnn: {e}")
            made = os.path.join(folder, name + ".ncnn")
            if os.path.exists(made + ".param") and os.path.exists(made + ".bin"):
                for end in (".bin", ".param"):
                    os.replace(made + end, files["ncnn"] + end)
            else:
                open(files["ncnn"] + ".no", "w").close()


def decode_bytes(entry):
    """What one word of a language model moves: weights and the cache, of which each element takes
    part in one multiply-add, and what it writes."""
    return 2 * entry["flops"] + 4 * sum(math.prod(e["shape"]) for e in entry["outputs"])


def in_order(x):
    """The same with models as they are generated, which a file of results has by name."""
    places = {n: i for i, n in enumerate([*generate.ALL, *quantise.NAMES, *packages.NAMES])}
    if not isinstance(x, dict):
        return x
    return {k: in_order(v) for k, v in sorted(x.items(), key=lambda e: places.get(e[0], -1))}


def rounded(x):
    """The same with five digits, which is more than any clock here is good for."""
    if isinstance(x, dict):
        return {k: rounded(v) for k, v in x.items()}
    if isinstance(x, list):
        return [rounded(v) for v in x]
    return float(f"{x:.5g}") if isinstance(x, float) else x


def machine():
    """The processor by name, family and model: clouds call several by one name."""
    said = {}
    with open("/proc/cpuinfo") as f:
        for line in f:
            key, _, value = line.partition(":")
            said.setdefault(key.strip(), value.strip())
    name = said.get("model name", "unknown processor")
    if "cpu family" in said:
        name += f" (family {said['cpu family']}, model {said['model']})"
    return f"{name}, {len(processors(1024))} cores, Linux {platform.release().split('-')[0]}"


def again(section, data, names):
    """Rows of some models in the place of those that were there; says which."""
    for threads, rows in data.items():
        section["data"][threads].update(rows)
    section["again"] = sorted(set(section.get("again", [])) | set(names))


def versions(build):
    out = {}
    for package in ("onnxruntime", "openvino", "ncnn"):
        try:
            out[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            out[package] = None
    said = subprocess.run(["meson", "introspect", "--projectinfo", build], capture_output=True,
                          text=True)
    out["libpoprt"] = json.loads(said.stdout)["version"] if said.returncode == 0 else "?"
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=HERE, capture_output=True,
                            text=True)
    out["commit"] = commit.stdout.strip() or "?"
    return out


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    listed = lambda text: [t for t in text.split(",") if t]
    parser.add_argument("--models", default=os.path.join(tempfile.gettempdir(), "poprt-bench"))
    parser.add_argument("--build", default=os.path.join(HERE, "..", "build", "release"))
    parser.add_argument("--quick", action="store_true", help="short runs, for a look only")
    parser.add_argument("--only", type=listed, default=list(SECTIONS))
    parser.add_argument("--names", type=listed, default=[],
                        help="of models; the default is all, else rows are replaced")
    parser.add_argument("--out", default=os.path.join(HERE, "RESULTS.md"))
    args = parser.parse_args()
    if unknown := [s for s in args.only if s not in SECTIONS]:
        parser.error("no such section: " + ", ".join(unknown))
    args.build, args.models = os.path.abspath(args.build), os.path.abspath(args.models)
    return args


def main():
    args = arguments()
    folder = os.path.dirname(os.path.abspath(args.out))
    os.makedirs(folder, exist_ok=True)
    store = os.path.join(folder, "results.json")
    results = {"sections": {}}
    partly = args.names or set(args.only) != set(SECTIONS)
    if partly and os.path.exists(store):
        with open(store) as f:
            results = json.load(f)
    with tempfile.TemporaryDirectory() as work:
        bench = Bench(args, work)
        bench.build(args.build)
        names = list(bench.names) if "models" in args.only else []
        integers = "integers" in args.only
        names += [n for n in MEMORY_MODELS + (OPEN_DECODER,) + INTEGER_MODELS * integers
                  if n not in names]
        quantised = quantise.NAMES if "quantised" in args.only else INTEGER_MODELS_4 * integers
        found = packages.NAMES if "packages" in args.only else ()
        classic = list(generate.CLASSIC) if "classic" in args.only else []
        classic += list(generate.OTHER) if "other" in args.only else []
        bench.prepare(names + bench.layer_names + classic, "models" in args.only, quantised, found)
        for section in args.only:
            noise = Noise()
            bench.cores.begin()
            data = SECTIONS[section](bench)
            if section == "models" and args.names and section in results["sections"]:
                again(results["sections"][section], data, args.names)
                continue
            results["sections"][section] = {
                "data": data, "noise": noise.shares(), "cores": bench.cores.share(),
                "quick": args.quick,
                "date": str(datetime.date.today()), "machine": machine(),
                "versions": versions(args.build), "rounds": bench.rounds,
                "seconds": bench.seconds}
        results["flops"] = {n: e["flops"] for n, e in bench.entries.items()}
        results["decode_bytes"] = decode_bytes(bench.entries["gpt2_decode_512"])
    with open(store, "w") as f:
        json.dump(rounded(results), f, indent=1, sort_keys=True)
    page.write(args.out, in_order(results))
    print(args.out)


if __name__ == "__main__":
    main()
