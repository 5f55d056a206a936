# SPDX-License-Identifier: MIT
# Made by tests/python/stubs.py.
from typing import Any

class Optimizer:
    def __init__(self, passes=...): ...
    def run(self, model): ...
