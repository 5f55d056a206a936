#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whole models with kernels of every level: outputs on the same random inputs
have to be those of the portable kernels, within 1e-4 of the largest. With
POPRT of a build with -Demulate=true that is so for levels which the processor
does not have. Needs numpy. Ends with "N passed, N failed"."""

import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np

LEVELS = ("avx2", "avx512", "avx512_vnni", "avx512_bf16", "avx512_amx")
BOUND = 1e-4


def outputs(poprt, model, level):
    with tempfile.TemporaryDirectory() as folder:
        made = subprocess.run([poprt, "run", model, "--cpu", level, "--output-dir", folder,
                               "--threads", "2", "--seed", "3"], capture_output=True, text=True)
        if made.returncode != 0:
            return made.stderr.strip().splitlines()[-1]
        return {f: np.load(os.path.join(folder, f)) for f in sorted(os.listdir(folder))}


def apart(a, b):
    """The largest difference, by the largest element of each output."""
    most = 0.0
    for name, x in a.items():
        if x.dtype.kind == "f":
            x, y = x.astype(np.float64), b[name].astype(np.float64)
            most = max(most, np.abs(x - y).max(initial=0) / max(np.abs(x).max(initial=0), 1e-30))
        elif not np.array_equal(x, b[name]):
            return np.inf
    return most


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("poprt")
    parser.add_argument("models", nargs="+", metavar="MODEL.onnx")
    args = parser.parse_args()
    passed = failed = 0
    for model in args.models:
        found = {level: outputs(args.poprt, model, level) for level in ("portable",) + LEVELS}
        said = []
        for level in LEVELS:
            refused = [found[k] for k in ("portable", level) if isinstance(found[k], str)]
            far = np.inf if refused else apart(found["portable"], found[level])
            said.append(f"{level} {refused[0] if refused else format(far, '.1e')}")
            passed += far <= BOUND
            failed += not far <= BOUND
        print(f"{os.path.basename(model)}: {', '.join(said)}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
