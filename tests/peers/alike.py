# SPDX-License-Identifier: MIT
"""Whether two outputs are alike."""

import numpy as np


def difference(a, b, tolerance, least=1e-3):
    """None, or in words. Floats by the largest finite element of b, or by `least`."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return f"{a.dtype}{list(a.shape)}, not {b.dtype}{list(b.shape)}"
    if a.dtype.kind in "SU":
        return None if np.array_equal(a, b) else "other strings"
    if a.dtype.kind != "f":
        apart = np.abs(a.astype(np.float64) - b.astype(np.float64)).max(initial=0)
        return f"{apart} apart" if apart > (tolerance if tolerance > 1 else 0) else None
    if not np.array_equal(np.isnan(a), np.isnan(b)):
        return "NaN elsewhere"
    with np.errstate(invalid="ignore"):
        apart = np.nan_to_num(np.abs(a - b), nan=0.0).max(initial=0)
    most = np.abs(b[np.isfinite(b)]).max(initial=least)
    return f"{apart / most:.2g} of the largest apart" if apart > tolerance * most else None
