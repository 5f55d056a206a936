# SPDX-License-Identifier: MIT
# Made by tests/python/stubs.py.
from typing import Any

def samples(data): ...

class FP8Quantizer:
    def __init__(
        self, output_dir, loss_type, data_preprocess=None, precision='fp8',
        num_of_layers_keep_fp16=0, options=None
    ): ...
    def quantize(self, onnx_model, skip_op_names=...): ...

def quantize(
    onnx_model, input_model, output_dir, data_preprocess=None, precision='fp8',
    quantize_loss_type='kld', num_of_layers_keep_fp16=0, options=None
): ...
