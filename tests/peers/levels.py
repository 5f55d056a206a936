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
from alike import difference

LEVELS = ("avx2", "avx512", "avx512_vnni", "avx512_bf16", "avx512_amx")
BOUND = 1e-4


def outputs(poprt, model, level):
    with tempfile.TemporaryDirectory() as folder:
        made = subprocess.run([poprt, "run", model, "--cpu", level, "--output-dir", folder,
                               "--threads", "2", "--seed", "3"], capture_output=True, text=True)
        if made.returncode != 0:
            return made.stderr.strip().splitlines()[-1]
        return {f: np.load(os.path.join(folder, f)) for f in sorted(os.listdir(folder))}


def compare(want, found):
    """None, or in words."""
    if isinstance(want, str) or isinstance(found, str):
        return want if isinstance(want, str) else found
    if want.keys() != found.keys():
        return "other outputs"
    words = [difference(found[name], value, BOUND, 1e-30) for name, value in want.items()]
    return next((w for w in words if w is not None), None)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("poprt")
    parser.add_argument("models", nargs="+", metavar="MODEL.onnx")
    args = parser.parse_args()
    passed = failed = 0
    for model in args.models:
        want = outputs(args.poprt, model, "portable")
        for level in LEVELS:
            words = compare(want, outputs(args.poprt, model, level))
            passed += words is None
            failed += words is not None
            print(f"{os.path.basename(model)}, {level}: {words or 'alike'}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
