# SPDX-License-Identifier: MIT
"""image.py: recipes of resampling and of regions, computed by onnx.reference on doubles where it
does what the specification says, else from the text."""
import itertools
import math

import numpy as np

from move import i64
from registry import recipe, reference
from values import NP, is_float, is_int, to, wide
