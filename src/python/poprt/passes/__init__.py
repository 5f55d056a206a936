# SPDX-License-Identifier: MIT
"""Passes on models, as PopRT has them: those of the C library, and passes of your own.

``Pass.get_pass(name, ...)`` makes a pass of any name; each pass of the library also has a class in
a module of its own, such as ``poprt.passes.float_to_half.Float2Half``.
"""

import sys as _sys

from . import base_pass, onnx_helper, pattern_helper, shape_inference
from ._library import make_classes as _make_classes
from .base_pass import (ImmutablePass, Pass, get_all_named_subclasses, get_registered_passes,
                        register)
from .onnx_helper import get_dtype, get_shape
from .pass_manager import PassManager
from .shape_inference import ShapeFunc, register_shape_func

_make_classes(_sys.modules[__name__])
