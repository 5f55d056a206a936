# SPDX-License-Identifier: MIT
"""Models quantised by onnxruntime, written beside the models they are made of:

    NAME_int8      images: data uint8, weights int8 by channel, scales from two random images
    NAME_dynamic   weights int8 by column; data uint8, whose scale each run finds (bilstm_am's LSTM:
                   DynamicQuantizeLSTM)
    NAME_int4      all matrices of 4 bits in blocks of 32, symmetric; data float32 (MatMulNBits)
"""
import os

import numpy as np

IMAGES = ("squeezenet1_1", "resnet18", "resnet50", "mobilenet_v2", "mobilenet_v3_large",
          "efficientnet_b0")
BASES = {"_int8": IMAGES, "_dynamic": ("minilm_l6_128", "bert_base_128", "bilstm_am"),
         "_int4": ("minilm_l6_128", "gpt2_decode_512")}
NAMES = tuple(m + ending for ending, bases in BASES.items() for m in bases)
MODELS = tuple(dict.fromkeys(m for bases in BASES.values() for m in bases))


def ending_of(name):
    return next(e for e in BASES if name.endswith(e))


def files(folder, name):
    """Of a quantised model, and of the one it is made of."""
    return [os.path.join(folder, n + ".onnx") for n in (name, name.removesuffix(ending_of(name)))]


def to_int8(source, made, entry):
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

    prepared = made + ".prepared"
    try:
        quant_pre_process(source, prepared, skip_symbolic_shape=True)
        quantize_static(prepared, made, Images(), quant_format=QuantFormat.QDQ, per_channel=True,
                        activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8)
    finally:
        if os.path.exists(prepared):
            os.remove(prepared)


def to_dynamic(source, made, _):
    from onnxruntime.quantization import QuantType, quantize_dynamic
    quantize_dynamic(source, made, weight_type=QuantType.QInt8, per_channel=True)


def to_int4(source, made, _):
    import onnx
    from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer
    model = onnx.load(source)
    nodes = []
    for i, node in enumerate(model.graph.node):
        node.name = node.name or f"node_{i}"
        plain = not any(a.name.startswith("trans") and a.i or a.name in ("alpha", "beta") and
                        a.f != 1 for a in node.attribute)
        if node.op_type != "Gemm" or not plain:
            nodes.append(node)
            continue
        product = node.output[0] + "_product"
        nodes += [onnx.helper.make_node("MatMul", node.input[:2], [product], node.name + "_m"),
                  onnx.helper.make_node("Add", [product, node.input[2]], node.output,
                                        node.name + "_a")]
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    quantizer = MatMulNBitsQuantizer(model, block_size=32, is_symmetric=True)
    quantizer.process()
    quantizer.model.save_model_to_file(made)


MAKERS = {"_int8": to_int8, "_dynamic": to_dynamic, "_int4": to_int4}


def prepare(folder, names, entries):
    """The models of these names that are older than what they are made of; entries of all."""
    for name in names:
        ending = ending_of(name)
        entry = entries[name.removesuffix(ending)]
        made, source = files(folder, name)
        if not os.path.exists(made) or os.path.getmtime(made) < os.path.getmtime(source):
            part = made + ".part"
            try:
                MAKERS[ending](source, part, entry)
                os.replace(part, made)
            finally:
                if os.path.exists(part):
                    os.remove(part)
        entries[name] = dict(entry)
