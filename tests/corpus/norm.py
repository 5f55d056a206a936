# SPDX-License-Identifier: MIT
"""norm.py: recipes of normalisations and softmax, by numpy in double."""
import numpy as np

from registry import recipe
