# SPDX-License-Identifier: MIT
# Made by tests/python/stubs.py.
from typing import Any

from poprt.inference import ExecutionMode as ExecutionMode
from poprt.inference import GraphOptimizationLevel as GraphOptimizationLevel
from poprt.inference import IOBinding as IOBinding
from poprt.inference import InferenceSession as InferenceSession
from poprt.inference import NodeArg as NodeArg
from poprt.inference import OrtValue as OrtValue
from poprt.inference import RunOptions as RunOptions
from poprt.inference import SessionOptions as SessionOptions
from poprt.inference import get_all_providers as get_all_providers
from poprt.inference import get_available_providers as get_available_providers
from poprt.inference import get_device as get_device
__version__: Any
