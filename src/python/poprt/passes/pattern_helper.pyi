# SPDX-License-Identifier: MIT
# Made by tests/python/stubs.py.
from typing import Any

class Match(tuple):
    ...

class PatternMatcher:
    def __init__(self, pattern): ...
    def next_pattern(self, graph): ...
