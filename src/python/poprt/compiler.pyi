# SPDX-License-Identifier: MIT
# Made by tests/python/stubs.py.
from typing import Any

from poprt.model import Executable as Executable

class CompilerOptions:
    available_memory_proportion: float
    batches_per_step: int
    cache_path: str
    compilation_progress_logger: Any
    constant_weights: bool
    create_host_transferable_tensor_with_offset: bool
    custom_patterns: list
    custom_transform_applier_settings: dict
    enable_efficient_overlap_io_topo_cons: bool
    enable_engine_caching: bool
    enable_fast_reduce: bool
    enable_gather_simplifier: bool
    enable_model_fusion: bool
    enable_multi_stage_reduce: bool
    enable_non_stable_softmax: bool
    enable_outlining: bool
    enable_pad_conv_channel: bool
    enable_pipelining: bool
    enable_prefetch_datastreams: bool
    engine_options: dict
    group_host_sync: bool
    ipu_version: str
    num_io_tiles: int
    num_ipus: int
    opaque_blobs: dict
    outline_threshold: float
    partials_type: str
    rearrange_anchors_on_host: bool
    rearrange_streams_on_host: bool
    serialize_ir: bool
    serialized_ir_dest: str
    show_compilation_progress_bar: bool
    stream_buffering_depth: int
    subgraph_copying_strategy: int
    swap_limit_scheduler: int
    time_limit_scheduler: float
    transitive_closure_optimization_threshold: int
    use_128bit_conv_unit_load: bool
    virtual_graph_mode: str
    virtual_graph_split_ratios: list
    def __init__(self): ...
    def to_dict(self): ...
    @classmethod
    def from_dict(cls, options): ...

class Compiler:
    @staticmethod
    def compile(model, outputs=None, options=None): ...
    @staticmethod
    def compile_and_export(model, outputs, filename, options=None): ...
    @staticmethod
    def compileAndExport(model, outputs, filename, options=None): ...
    @staticmethod
    def compile_and_get_summary_report(model, outputs, options=None, reset_profile=True): ...
    @staticmethod
    def compileAndGetSummaryReport(model, outputs, options=None, reset_profile=True): ...
