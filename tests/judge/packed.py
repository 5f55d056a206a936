#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Do packed samples give the outputs of each sample alone? For the transformers of exporters.py.

    packed.py POPRT MODELS

Packs each model that has an input input_ids [B, S], runs three samples of unequal length laid end
to end, and compares each row of the outputs with the original model run on that sample with a mask
behind it. Models that packed_transformer refuses are listed with its message. Ends with 1 where
outputs differ by more than 1e-4 of the largest element. Needs numpy.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

SAMPLES, BOUND = 4, 1e-4


def call(*command):
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=300)
    return done.returncode, done.stdout + done.stderr


def inputs_of(poprt, model):
    """{name: (dtype, dims)} of the inputs, from the summary."""
    text = call(poprt, "inspect", str(model))[1]
    part = re.search(r"^inputs .*\n((?:  .*\n)*)", text, re.M).group(1)
    rows = re.findall(r"^  (\S+) +(\S+) \[(.*)\]$", part, re.M)
    return {name: (dtype, [int(d) if d.isdigit() else 0 for d in dims.split(", ")])
            for name, dtype, dims in rows}


def run(poprt, model, feeds, folder):
    """The outputs in the order of their names."""
    for old in folder.glob("*.npy"):
        old.unlink()
    arguments = []
    for name, value in feeds.items():
        np.save(folder / f"in_{name}.npy", value)
        arguments += ["--input", f"{name}={folder}/in_{name}.npy"]
    out = folder / "out"
    out.mkdir(exist_ok=True)
    for old in out.glob("*.npy"):
        old.unlink()
    code, text = call(poprt, "run", str(model), *arguments, "--output-dir", str(out))
    if code != 0:
        raise RuntimeError(text.strip().splitlines()[-1])
    return {path.stem: np.load(path) for path in sorted(out.glob("*.npy"))}


def lay(samples, shape):
    flat = np.zeros(int(np.prod(shape)), samples[0].dtype)
    at = 0
    for sample in samples:
        flat[at:at + len(sample)] = sample
        at += len(sample)
    return flat.reshape(shape)


def compare(poprt, model, packed, shape, folder):
    """The largest difference, as a share of the largest element of its output."""
    batch, length = shape
    sizes = [length // 2 - 1, length - 3, length // 4]
    random = np.random.default_rng(0)
    ids = [random.integers(3, 20, n) for n in sizes]
    info = np.array([[n] for n in sizes + [0] * (SAMPLES - len(sizes))], np.int32)

    def value(name, sample):
        """Masks are ones, token types zeros."""
        if name == "input_ids":
            return sample
        return np.ones_like(sample) if "mask" in name else np.zeros_like(sample)

    feeds = {name: lay([value(name, s) for s in ids], shape).astype(dtype)
             for name, (dtype, _) in inputs_of(poprt, packed).items() if name != "unpack_info"}
    found = run(poprt, packed, feeds | {"unpack_info": info}, folder)
    worst = 0.0
    for i, sample in enumerate(ids):
        feeds = {name: np.stack([lay([value(name, sample)], [length])] * batch).astype(dtype)
                 for name, (dtype, _) in inputs_of(poprt, model).items()}
        for name, y in run(poprt, model, feeds, folder).items():
            x = found[name]
            n = sizes[i] if y.ndim > 2 and y.shape[1] == length else x.shape[1]
            scale = np.abs(y[0]).max() or 1
            worst = max(worst, np.abs(x[i, :n].astype("f8") - y[0, :n]).max() / scale)
    return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("poprt")
    parser.add_argument("models", type=pathlib.Path)
    args = parser.parse_args()
    passed, failed, refused = 0, 0, 0
    for model in sorted(args.models.glob("*/model.onnx")):
        shape = inputs_of(args.poprt, model).get("input_ids", ("", []))[1]
        if len(shape) != 2:
            continue
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            code, text = call(args.poprt, "--input_model", str(model), "--output_dir", str(folder),
                              "--output_model", "packed.onnx", "--pack_args",
                              f"max_valid_num={SAMPLES}", f"segment_max_size={shape[1]}")
            if code != 0:
                refused += 1
                print(f"{model.parent.name}: refused: {text.strip().splitlines()[-1].split(': ', 2)[-1]}")
                continue
            try:
                worst = compare(args.poprt, model, folder / "packed.onnx", shape, folder)
                print(f"{model.parent.name}: {worst:.2g}")
                passed, failed = passed + (worst <= BOUND), failed + (not worst <= BOUND)
            except RuntimeError as error:
                print(f"{model.parent.name}: FAILED: {error}")
                failed += 1
    print(f"{passed} passed, {failed} failed, {refused} refused")
    return 1 if failed != 0 or passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
