# SPDX-License-Identifier: MIT
"""Helpers that PopRT's programs use."""

import functools
import importlib

import numpy as np

from . import _arrays

_FORMATS = {"F143": (4, 3), "F152": (5, 2)}  # bits of exponent and mantissa


def onnx_tensor_dtype_to_np_dtype(tensor_dtype):
    """Returns the numpy dtype of a number of onnx.TensorProto.DataType. A type that numpy does not
    have raises ValueError."""
    code = int(tensor_dtype)
    if code == _arrays.STRING:
        return np.dtype(object)
    if not 0 < code < _arrays.COUNT or _arrays.DTYPES[code] is None:
        raise ValueError(f"numpy has no dtype for element type {code} of ONNX")
    return _arrays.DTYPES[code]


def get_input_info_from_model_proto(model):
    """Returns two dicts, of the names of the inputs without initializers: their shapes (lists of
    numbers, and names of symbolic dimensions), and their numpy dtypes."""
    from .passes.onnx_helper import get_shape
    constants = {tensor.name for tensor in model.graph.initializer}
    shapes, dtypes = {}, {}
    for info in model.graph.input:
        if info.name not in constants:
            shapes[info.name] = get_shape(model, info.name)
            dtypes[info.name] = onnx_tensor_dtype_to_np_dtype(info.type.tensor_type.elem_type)
    return shapes, dtypes


class LazyImport:
    """A module that is imported when one of its names is first used."""

    def __init__(self, name):
        self.__dict__["_name"] = name

    def __getattr__(self, name):
        return getattr(importlib.import_module(self._name), name)


@functools.lru_cache(None)
def _numbers(format):
    """The numbers of codes 0 to 127 of a format."""
    exponent, mantissa = _FORMATS[format]
    codes = np.arange(128)
    power, part = codes >> mantissa, (codes & ((1 << mantissa) - 1)) / (1 << mantissa)
    bias = 1 << (exponent - 1)
    return np.where(power == 0, part * 2.0 ** (1 - bias), (1 + part) * 2.0 ** (power - bias))


def convert_float_to_uint8(array, format, scale):
    """Returns the codes, uint8, of 8-bit floats: a number is decode(code) * 2^scale. Formats are
    "F143" and "F152". Numbers are rounded to nearest, ties to even, and saturate; infinities and
    NaN become NaN (0x80)."""
    if format not in _FORMATS:
        raise ValueError(f"no format of 8-bit floats: {format!r}; accepted: F143, F152")
    if not -32 <= scale <= 31:
        raise ValueError(f"scale {scale}; accepted: -32 to 31")
    array = np.asarray(array, np.float32)
    finite = np.isfinite(array)
    size = np.abs(np.where(finite, array, 0).astype(np.float64)) * 2.0 ** -scale
    numbers = _numbers(format)
    middles = (numbers[:-1] + numbers[1:]) / 2
    low = np.searchsorted(middles, size, "left")     # a tie goes to the smaller code
    high = np.searchsorted(middles, size, "right")   # a tie goes to the larger code
    code = np.where(low % 2 == 0, low, high).astype(np.uint8)
    code = np.where((array < 0) & (code != 0), code | 0x80, code)
    return np.where(finite, code, 0x80).astype(np.uint8)


def convert_uint8_to_float(array, format, scale):
    """Returns the numbers, float32, of codes of 8-bit floats."""
    if format not in _FORMATS:
        raise ValueError(f"no format of 8-bit floats: {format!r}; accepted: F143, F152")
    array = np.asarray(array, np.uint8)
    size = _numbers(format)[array & 0x7f] * 2.0 ** scale
    return np.where(array == 0x80, np.nan, np.where(array > 0x80, -size, size)).astype(np.float32)
