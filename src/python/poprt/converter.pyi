# SPDX-License-Identifier: MIT
# Made by tests/python/stubs.py.
from typing import Any

class Converter:
    config: Any
    def __init__(
        self, *, input_shape=None, convert_version=11, precision='fp32', checkpoints=None,
        eightbitsio=False, fp16_skip_op_types=None, skip_passes=None, used_passes=...,
        check=False, disable_fast_norm=False, pack_args=None, fp8_skip_op_names=None,
        fp8_params='F143,F143,0,0', quantize=False, enable_insert_remap=False,
        enable_erf_gelu=False, serialize_matmul=None, serialize_matmul_add=None,
        merge_matmul=None, merge_matmul_add=None, merge_moe=None, remap_mode=...,
        max_tensor_size=-1, infer_shape_ahead=False, enable_avoid_overflow_patterns=False,
        disable_progress_bar=False, batch_size=None, batch_axis=None, remove_outputs=...,
        fold_periodic_initializer=False, enable_compress_pattern=False,
        merge_if_with_same_cond=False, apply_hcsr=None, logger=None
    ): ...
    def convert(self, model): ...

class Sharder:
    def __init__(self, sharding_info, pipelining_info=None): ...
    def run(self, model): ...

class MFConverter:
    def convert(self, models): ...
