# SPDX-License-Identifier: MIT
"""Image models quantised by onnxruntime: data uint8, weights int8 by channel, scales from two
random images. Written beside the models they are made of."""
import os

import numpy as np

MODELS = ("squeezenet1_1", "resnet18", "resnet50", "mobilenet_v2", "mobilenet_v3_large",
          "efficientnet_b0")
ENDING = "_int8"
NAMES = tuple(m + ENDING for m in MODELS)


def files(folder, name):
    """Of a quantised model, and of the one it is made of."""
    return [os.path.join(folder, n + ".onnx") for n in (name, name.removesuffix(ENDING))]


def quantise(folder, name, entry):
    """Writes FOLDER/NAME.onnx; `entry` says what the inputs of the model it is made of are."""
    from onnxruntime.quantization import (CalibrationDataReader, QuantFormat, QuantType,
                                          quantize_static)
    from onnxruntime.quantization.shape_inference import quant_pre_process

    class Images(CalibrationDataReader):
        def __init__(self):
            random = np.random.default_rng(1)
            self.left = iter([{v["name"]: random.standard_normal(v["shape"], dtype=np.float32)
                               for v in entry["inputs"]} for _ in range(2)])

        def get_next(self):
            return next(self.left, None)

    made, source = files(folder, name)
    prepared = made + ".prepared"
    try:
        quant_pre_process(source, prepared, skip_symbolic_shape=True)
        quantize_static(prepared, made + ".part", Images(), quant_format=QuantFormat.QDQ,
                        per_channel=True, activation_type=QuantType.QUInt8,
                        weight_type=QuantType.QInt8)
        os.replace(made + ".part", made)
    finally:
        for path in (prepared, made + ".part"):
            if os.path.exists(path):
                os.remove(path)


def prepare(folder, names, entries):
    """The models of these names that are older than what they are made of; entries of all."""
    for name in names:
        entry = entries[name.removesuffix(ENDING)]
        made, source = files(folder, name)
        if not os.path.exists(made) or os.path.getmtime(made) < os.path.getmtime(source):
            quantise(folder, name, entry)
        entries[name] = dict(entry)
