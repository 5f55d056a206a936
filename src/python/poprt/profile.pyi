# SPDX-License-Identifier: MIT
# Made by tests/python/stubs.py.
from typing import Any

def get_model_flops(model, show=False): ...

class Profiler:
    def get_profiler(self, op_type): ...
