# SPDX-License-Identifier: MIT
# Made by tests/python/stubs.py.
from typing import Any

POPRT: Any
POPART: Any
POPTORCH: Any
