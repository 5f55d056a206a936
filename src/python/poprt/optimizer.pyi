# SPDX-License-Identifier: MIT
# Made by tests/python/stubs.py.
from typing import Any

from poprt.passes.pass_manager import PassManager as PassManager

class Optimizer:
    def __init__(self, passes=...): ...
    def run(self, model): ...
