#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Does ONNX Runtime read the digits as the network that examples/train_digits.c writes?

    trained.py POPRT TRAIN_DIGITS DATA

Trains, checks the file by onnx.checker, and compares the scores of ONNX Runtime and of `poprt run` for
the held-back digits: all differ by at most 1e-4, and 98.5 % of the labels are right. Ends with the line
"N passed, N failed". Needs numpy, onnx and onnxruntime.
"""
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime

BOUND, RIGHT = 1e-4, 0.985


def main():
    poprt, train, data = sys.argv[1:4]
    held_back = os.path.join(data, "held_back")
    images = np.load(os.path.join(held_back, "image.npy"))
    labels = np.load(os.path.join(held_back, "label.npy"))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.onnx")
        subprocess.run([train, data, path], check=True, stdout=subprocess.DEVNULL)
        onnx.checker.check_model(onnx.load(path), full_check=True)
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        theirs = session.run(None, {"image": images})[0]
        subprocess.run([poprt, "run", path, "--input", f"image={held_back}/image.npy",
                        "--output-dir", folder], check=True, stdout=subprocess.DEVNULL)
        ours = np.load(os.path.join(folder, "scores_0.npy"))
    checks = {"ONNX Runtime gives other scores": np.abs(ours - theirs).max() <= BOUND,
              "ONNX Runtime misreads digits": (theirs.argmax(1) == labels).mean() >= RIGHT}
    for text, good in checks.items():
        if not good:
            print(f"FAILED: {text}")
    failed = list(checks.values()).count(False)
    print(f"{len(checks) - failed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
