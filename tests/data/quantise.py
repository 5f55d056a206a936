#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Quantises the models of this folder in every way that ONNX Runtime's tools have.

    python3 quantise.py OUT_DIR [NAME ...]      (NAME: a variant, as "digits_qop_u8s8")

Development only: needs onnx, numpy, onnxruntime, onnx_ir and sympy from PyPI, which neither
the library nor its tests need. For each variant it writes OUT_DIR/NAME/model.onnx and, for
each data set of the model it came from, OUT_DIR/NAME/test_data_set_K/input_I.pb and
output_I.pb: the stored inputs, and what ONNX Runtime computes from them, graph
optimisations off. Static quantisation is calibrated on those inputs. `poprt test OUT_DIR`
then compares.

Of a quantised model a rounding that falls the other way is a step of its scale in the output:
compare with a tolerance of a few steps (--atol).
"""
import glob
import logging
import os
import shutil
import sys

import numpy as np
import onnx
import onnx.numpy_helper
import onnxruntime as ort
from onnxruntime.quantization import (CalibrationDataReader, QuantFormat, QuantType,
                                      quantize_dynamic, quantize_static)
from onnxruntime.quantization.matmul_bnb4_quantizer import MatMulBnb4Quantizer
from onnxruntime.quantization.matmul_nbits_quantizer import (DefaultWeightOnlyQuantConfig,
                                                             MatMulNBitsQuantizer)

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = ("digits", "charlm", "encoder")
TYPES = {"u8u8": (QuantType.QUInt8, QuantType.QUInt8), "u8s8": (QuantType.QUInt8, QuantType.QInt8),
         "s8s8": (QuantType.QInt8, QuantType.QInt8),
         "u16s8": (QuantType.QUInt16, QuantType.QInt8)}


def data_sets(name):
    """Inputs of each stored data set, by name."""
    model = onnx.load(os.path.join(HERE, name, "model.onnx"))
    names = [i.name for i in model.graph.input]
    for folder in sorted(glob.glob(os.path.join(HERE, name, "test_data_set_*"))):
        feeds = {}
        for i, n in enumerate(names):
            with open(os.path.join(folder, f"input_{i}.pb"), "rb") as f:
                feeds[n] = onnx.numpy_helper.to_array(onnx.TensorProto.FromString(f.read()))
        yield feeds


class Stored(CalibrationDataReader):
    def __init__(self, name):
        self.sets = data_sets(name)

    def get_next(self):
        return next(self.sets, None)


def static(name, to, fmt, types, per_channel=False):
    x, w = TYPES[types]
    extra = {"ActivationSymmetric": types == "s8s8"}
    quantize_static(os.path.join(HERE, name, "model.onnx"), to, Stored(name), quant_format=fmt,
                    activation_type=x, weight_type=w, per_channel=per_channel,
                    extra_options=extra)


def dynamic(name, to, weight, per_channel=False):
    quantize_dynamic(os.path.join(HERE, name, "model.onnx"), to, weight_type=weight,
                     per_channel=per_channel)


def n_bits(name, to, bits, block, symmetric, fmt=QuantFormat.QOperator):
    kinds = ("MatMul", "Gather") if bits == 4 and fmt == QuantFormat.QOperator else ("MatMul",)
    config = DefaultWeightOnlyQuantConfig(block_size=block, is_symmetric=symmetric, bits=bits,
                                          quant_format=fmt, op_types_to_quantize=kinds)
    q = MatMulNBitsQuantizer(onnx.load(os.path.join(HERE, name, "model.onnx")),
                             algo_config=config)
    q.process()
    onnx.save(q.model.model, to)


def bnb4(name, to, kind):
    q = MatMulBnb4Quantizer(onnx.load(os.path.join(HERE, name, "model.onnx")), kind, 32)
    q.process()
    onnx.save(q.model.model, to)


def optimised(path, to):
    """The file ONNX Runtime writes after all of its optimisations but the one that blocks
    channels by the width of this processor's vectors."""
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.optimized_model_filepath = to
    ort.InferenceSession(path, options, providers=["CPUExecutionProvider"],
                         disabled_optimizers=["NchwcTransformer"])


def variants(name):
    """(suffix, function of a path) of a model."""
    for fmt, label in ((QuantFormat.QDQ, "qdq"), (QuantFormat.QOperator, "qop")):
        for types in TYPES:
            yield f"{label}_{types}", lambda to, f=fmt, t=types: static(name, to, f, t)
            yield (f"{label}_{types}_channel",
                   lambda to, f=fmt, t=types: static(name, to, f, t, True))
    for weight, label in ((QuantType.QUInt8, "u8"), (QuantType.QInt8, "s8")):
        yield f"dynamic_{label}", lambda to, w=weight: dynamic(name, to, w)
        yield f"dynamic_{label}_channel", lambda to, w=weight: dynamic(name, to, w, True)
    for bits in (4, 8):
        yield f"bits{bits}", lambda to, b=bits: n_bits(name, to, b, 32, False)
        yield f"bits{bits}_symmetric", lambda to, b=bits: n_bits(name, to, b, 16, True)
    yield "bits4_qdq", lambda to: n_bits(name, to, 4, 32, False, QuantFormat.QDQ)
    yield "fp4", lambda to: bnb4(name, to, 0)
    yield "nf4", lambda to: bnb4(name, to, 1)


def write_tensor(path, name, array):
    with open(path, "wb") as f:
        f.write(onnx.numpy_helper.from_array(np.asarray(array), name).SerializeToString())


def write_case(out, name, make, source):
    folder = os.path.join(out, name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    path = os.path.join(folder, "model.onnx")
    make(path)
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    for k, feeds in enumerate(data_sets(source)):
        data = os.path.join(folder, f"test_data_set_{k}")
        os.makedirs(data)
        for i, arg in enumerate(session.get_inputs()):
            write_tensor(os.path.join(data, f"input_{i}.pb"), arg.name, feeds[arg.name])
        results = session.run(None, feeds)
        for i, (arg, value) in enumerate(zip(session.get_outputs(), results)):
            write_tensor(os.path.join(data, f"output_{i}.pb"), arg.name, value)


def main():
    out, wanted = sys.argv[1], sys.argv[2:]
    ort.set_default_logger_severity(4)
    logging.disable(logging.ERROR)
    for source in MODELS:
        for suffix, make in variants(source):
            name = f"{source}_{suffix}"
            after = f"{name}_optimised"
            for case, function in ((name, make),
                                   (after, lambda to, n=name: optimised(
                                       os.path.join(out, n, "model.onnx"), to))):
                if wanted and case not in wanted:
                    continue
                try:
                    write_case(out, case, function, source)
                    print(f"{case}: {os.path.getsize(os.path.join(out, case, 'model.onnx'))}")
                except Exception as e:    # a tool that cannot do a model says so and is left out
                    shutil.rmtree(os.path.join(out, case), ignore_errors=True)
                    print(f"{case}: not made: {str(e).splitlines()[0] if str(e) else repr(e)}")


if __name__ == "__main__":
    main()
