# SPDX-License-Identifier: MIT
# Made by tests/python/stubs.py.
from typing import Any

from poprt.passes._library import LibraryPass as LibraryPass

class ShapeFunc:
    def __call__(self, model, node): ...

def register_shape_func(op_types): ...

def infer_shapes(model): ...

class ReplacePow(LibraryPass):
    arguments: dict
    name: Any
