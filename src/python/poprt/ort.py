# SPDX-License-Identifier: MIT
"""The names of onnxruntime: ``from poprt import ort`` in place of ``import onnxruntime as ort``."""

__all__ = ["ExecutionMode", "GraphOptimizationLevel", "IOBinding", "InferenceSession", "NodeArg",
           "OrtValue", "RunOptions", "SessionOptions", "__version__", "get_all_providers",
           "get_available_providers", "get_device"]

from . import __version__
from .inference import (ExecutionMode, GraphOptimizationLevel, InferenceSession, IOBinding, NodeArg,
                        OrtValue, RunOptions, SessionOptions, get_all_providers,
                        get_available_providers, get_device)
