# SPDX-License-Identifier: MIT
# Made by tests/python/stubs.py.
from typing import Any

from poprt.model import Model as Model

def get_model_flops(model, show=False): ...

class Profiler:
    def get_profiler(self, op_type): ...
