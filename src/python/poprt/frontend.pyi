# SPDX-License-Identifier: MIT
# Made by tests/python/stubs.py.
from typing import Any

from poprt.errors import Unsupported as Unsupported

class OnnxFrontend:
    def __init__(self, path): ...
    def load_model(self): ...

class TensorflowFrontend:
    def __init__(self, path, **kwargs): ...

def get_frontend(path, framework='onnx', **kwargs): ...
