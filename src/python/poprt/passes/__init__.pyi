# SPDX-License-Identifier: MIT
# Made by tests/python/stubs.py.
from typing import Any

from poprt.passes.base_pass import ImmutablePass as ImmutablePass
from poprt.passes.base_pass import Pass as Pass
from poprt.passes.base_pass import get_all_named_subclasses as get_all_named_subclasses
from poprt.passes.base_pass import get_registered_passes as get_registered_passes
from poprt.passes.base_pass import register as register
from poprt.passes.onnx_helper import get_dtype as get_dtype
from poprt.passes.onnx_helper import get_shape as get_shape
from poprt.passes.pass_manager import PassManager as PassManager
from poprt.passes.shape_inference import ShapeFunc as ShapeFunc
from poprt.passes.shape_inference import register_shape_func as register_shape_func

def __getattr__(name: str) -> Any: ...
