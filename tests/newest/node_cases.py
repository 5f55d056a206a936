#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the node test cases of the installed `onnx` package as directories `poprt test` reads.

    node_cases.py OUT

One directory a case: model.onnx and test_data_set_<k>/{input,output}_<i>.pb.
"""
import os
import sys
import warnings

import onnx
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases


def to_proto(value, declared):
    """The value as the protobuf message that its declared type asks for."""
    if isinstance(value, onnx.TensorProto) or value is None:
        return value
    kind = declared.type.WhichOneof("value")
    if kind == "map_type" or isinstance(value, dict):
        return numpy_helper.from_dict(value, declared.name)
    if kind == "optional_type":
        return numpy_helper.from_optional(value, declared.name)
    if kind == "sequence_type" or isinstance(value, list):
        return numpy_helper.from_list(value, declared.name)
    return numpy_helper.from_array(value, declared.name)


def write_values(directory, prefix, values, declared):
    for i, value in enumerate(values):
        proto = to_proto(value, declared[i])
        if proto is None:
            proto = onnx.OptionalProto(name=declared[i].name)
        with open(os.path.join(directory, f"{prefix}_{i}.pb"), "wb") as f:
            f.write(proto.SerializeToString())


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    warnings.simplefilter("ignore")
    cases = collect_testcases(None)
    for case in cases:
        directory = os.path.join(sys.argv[1], case.name)
        os.makedirs(directory, exist_ok=True)
        with open(os.path.join(directory, "model.onnx"), "wb") as f:
            f.write(case.model.SerializeToString())
        for k, (inputs, outputs) in enumerate(case.data_sets):
            data = os.path.join(directory, f"test_data_set_{k}")
            os.makedirs(data, exist_ok=True)
            write_values(data, "input", inputs, case.model.graph.input)
            write_values(data, "output", outputs, case.model.graph.output)
    print(f"{len(cases)} cases of onnx {onnx.__version__}")


if __name__ == "__main__":
    main()
