# SPDX-License-Identifier: MIT
"""Data of runs: PyStepIO, PyStepIOCallback and PyWeightsIO."""

import numpy as np

from .errors import popart_exception


def _array(name, value, writable):
    if not isinstance(value, np.ndarray):
        if hasattr(value, "numpy"):
            value = value.detach().numpy() if hasattr(value, "detach") else value.numpy()
        else:
            value = np.asarray(value)
    if not value.flags["C_CONTIGUOUS"]:
        raise popart_exception(f"the array of {name!r} is not c-contiguous; use "
                               "numpy.ascontiguousarray")
    if writable and not value.flags["WRITEABLE"]:
        raise popart_exception(f"the array of {name!r} is read-only; results are written into it")
    return value


class PyStepIO:
    """Arrays of the inputs and outputs of a run. Outputs are written in place."""

    def __init__(self, inputs, outputs):
        self._inputs = {name: _array(name, value, False) for name, value in inputs.items()}
        self._outputs = {name: _array(name, value, True) for name, value in outputs.items()}
        self._asserts = True

    def enableRuntimeAsserts(self, enable):
        """Sets whether the numbers of elements are checked before the first run."""
        self._asserts = bool(enable)


class PyStepIOCallback:
    """Functions that provide arrays: ``input_callback(id, prefetch)``,
    ``input_complete_callback(id)``, ``output_callback(id)`` and ``output_complete_callback(id)``."""

    def __init__(self, input_callback, input_complete_callback, output_callback,
                 output_complete_callback):
        self._functions = (input_callback, input_complete_callback, output_callback,
                           output_complete_callback)
        self._asserts = False

    def enableRuntimeAsserts(self, enable):
        """Sets whether the numbers of elements are checked."""
        self._asserts = bool(enable)


class PyWeightsIO:
    """Arrays of weights by name, for readWeights and writeWeights."""

    def __init__(self, weights):
        self._weights = {name: _array(name, value, True) for name, value in weights.items()}
