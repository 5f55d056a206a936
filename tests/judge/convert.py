#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Converts every model below some folders in every way that the judge looks at.

    convert.py POPRT OUT DIR...

Writes OUT/CONVERSION/MODEL.onnx for each conversion that succeeds, and OUT/conversions.tsv with one
line for each that was tried: conversion, path of the model, path of the result or "-", and what the
tool printed. Needs nothing but Python's standard library.
"""

import concurrent.futures
import os
import pathlib
import subprocess
import sys

# Name of the conversion, and the options that ask for it.
CONVERSIONS = {
    "default": [],
    "fp16": ["--precision", "fp16"],
    "bf16": ["--precision", "bf16"],
    "mixed": ["--precision", "mixed"],
    "fp8": ["--precision", "fp8"],
    "fp8_weight": ["--precision", "fp8_weight"],
    "int8": ["--precision", "int8"],
    "opset0": ["--convert_version", "0"],
    "opset7": ["--convert_version", "7"],
    "opset9": ["--convert_version", "9"],
    "opset11": ["--convert_version", "11"],
    "opset13": ["--convert_version", "13"],
    "opset17": ["--convert_version", "17"],
}
SECONDS = 120  # for one conversion


def models(folders):
    """Pairs of the name of a result and the path of a model, in order."""
    found = {}
    for folder in folders:
        for path in sorted(pathlib.Path(folder).rglob("*.onnx")):
            place = path.parent.name if path.name == "model.onnx" else path.stem
            name = f"{pathlib.Path(folder).name}.{place}"
            while name in found:
                name += "_"
            found[name] = path
    return list(found.items())


def convert(poprt, out, conversion, name, path):
    target = out / conversion / f"{name}.onnx"
    command = [poprt, "--input_model", str(path), "--output_dir", str(target.parent),
        "--output_model", target.name, "--logging_level", "ERROR", *CONVERSIONS[conversion]]
    try:
        done = subprocess.run(command, capture_output=True, timeout=SECONDS, errors="replace")
        said, code = done.stdout + done.stderr, done.returncode
    except subprocess.TimeoutExpired:
        said, code = f"took more than {SECONDS} s", 124
    words = " ".join(said.split())
    if code == 0 and not target.exists():
        words, code = "exit code 0 without a file. " + words, 99
    if code not in (0, 1):
        words = f"exit code {code}. {words}"
    return [conversion, str(path), str(target) if code == 0 else "-", words]


def main():
    poprt, out, folders = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
    for conversion in CONVERSIONS:
        (out / conversion).mkdir(parents=True, exist_ok=True)
    work = [(conversion, *model) for model in models(folders) for conversion in CONVERSIONS]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        lines = list(pool.map(lambda w: convert(poprt, out, *w), work))
    with open(out / "conversions.tsv", "w", encoding="utf-8") as file:
        for line in lines:
            file.write("\t".join(line) + "\n")


if __name__ == "__main__":
    main()
