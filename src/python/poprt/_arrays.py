# SPDX-License-Identifier: MIT
"""Arrays of element types that the buffer protocol does not know, and arrays of other packages."""

import numpy as np

from . import _core

UNDEFINED = 0
FLOAT32, UINT8, INT8, UINT16, INT16, INT32, INT64, STRING, BOOL = range(1, 10)
FLOAT16, FLOAT64, UINT32, UINT64, COMPLEX64, COMPLEX128, BFLOAT16 = range(10, 17)
FLOAT8E4M3FN, FLOAT8E4M3FNUZ, FLOAT8E5M2, FLOAT8E5M2FNUZ = range(17, 21)
UINT4, INT4, FLOAT4E2M1, FLOAT8E8M0, UINT2, INT2, FLOAT6E2M3, FLOAT6E3M2 = range(21, 29)
COUNT = 29

# numpy's types that have a buffer format, by element type.
_NUMPY = {
    FLOAT32: np.float32, UINT8: np.uint8, INT8: np.int8, UINT16: np.uint16, INT16: np.int16,
    INT32: np.int32, INT64: np.int64, BOOL: np.bool_, FLOAT16: np.float16, FLOAT64: np.float64,
    UINT32: np.uint32, UINT64: np.uint64, COMPLEX64: np.complex64, COMPLEX128: np.complex128,
}

#: numpy.dtype of each element type that has a buffer format, else None.
DTYPES = tuple(np.dtype(_NUMPY[i]) if i in _NUMPY else None for i in range(COUNT))

_BY_DTYPE = {np.dtype(t): i for i, t in _NUMPY.items()}

# Names of ml_dtypes for the types of the library.
_ML_NAMES = {
    BFLOAT16: "bfloat16", FLOAT8E4M3FN: "float8_e4m3fn", FLOAT8E4M3FNUZ: "float8_e4m3fnuz",
    FLOAT8E5M2: "float8_e5m2", FLOAT8E5M2FNUZ: "float8_e5m2fnuz", UINT4: "uint4", INT4: "int4",
    FLOAT4E2M1: "float4_e2m1fn", FLOAT8E8M0: "float8_e8m0fnu", UINT2: "uint2", INT2: "int2",
    FLOAT6E2M3: "float6_e2m3fn", FLOAT6E3M2: "float6_e3m2fn",
}
_BY_ML_NAME = {name: i for i, name in _ML_NAMES.items()}


def dtype_code(dtype):
    """Returns the number of an element type, from a numpy dtype or its name; 0 for unknown ones."""
    if isinstance(dtype, int):
        return dtype
    if isinstance(dtype, str) and dtype in _BY_ML_NAME:
        return _BY_ML_NAME[dtype]
    if isinstance(dtype, str) and dtype in ("string", "str", "object"):
        return STRING
    try:
        dtype = np.dtype(dtype)
    except TypeError:
        return UNDEFINED
    if dtype in _BY_DTYPE:
        return _BY_DTYPE[dtype]
    if dtype.kind in "OUS":
        return STRING
    return _BY_ML_NAME.get(dtype.name, UNDEFINED)


def numpy_dtype(code):
    """Returns the numpy dtype of an element type: that of ml_dtypes where it is installed, else an
    unsigned integer that holds the bits; object for strings."""
    if code < COUNT and DTYPES[code] is not None:
        return DTYPES[code]
    if code == STRING:
        return np.dtype(object)
    try:
        import ml_dtypes
        return np.dtype(getattr(ml_dtypes, _ML_NAMES[code]))
    except (ImportError, AttributeError, KeyError):
        return np.dtype(np.uint16 if code == BFLOAT16 else np.uint8)


def _pack(values, bits):
    """Packs the low bits of small integers, the first in the lowest bits."""
    values = np.asarray(values, np.uint8).reshape(-1)
    ones = np.unpackbits(values.reshape(-1, 1), axis=1, bitorder="little")[:, :bits]
    return np.packbits(ones.reshape(-1), bitorder="little")


def _unpack(data, bits, count):
    ones = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")[:count * bits]
    ones = ones.reshape(count, bits)
    return (ones << np.arange(bits, dtype=np.uint8)).sum(axis=1, dtype=np.uint8)


def special(array, code):
    """Returns a Tensor of an array whose elements hold the bits of a type without a format."""
    array = np.ascontiguousarray(array)
    bits = _core.dtype_bits(code)
    raw = array.view(np.uint16 if array.itemsize == 2 else np.uint8)
    if bits < 8:
        raw = _pack(raw, bits)
    return _core.Tensor(raw, code, array.shape)


def strings(array):
    """Returns a Tensor of an array of texts or bytes."""
    array = np.asarray(array)
    items = []
    for item in array.reshape(-1).tolist():
        if isinstance(item, str):
            item = item.encode()
        elif not isinstance(item, bytes):
            raise TypeError(f"a tensor of strings has an element of type {type(item).__name__}; "
                            "accepted: str and bytes")
        items.append(item)
    return _core.Tensor(items, STRING, array.shape)


def _from_dlpack(value):
    device = getattr(value, "__dlpack_device__", None)
    if device is not None and device()[0] not in (1, 3, 11, 13):
        raise TypeError("the tensor is in the memory of a device; copy it to the CPU first")
    if getattr(value, "requires_grad", False):
        value = value.detach()
    return np.from_dlpack(value)


def convert(value, writable, name):
    """Hook of the extension: an array or Tensor for an object whose buffer cannot be used."""
    name = name.decode()
    where = f"{name}: " if name else ""
    if writable:
        if isinstance(value, np.ndarray):
            code = dtype_code(value.dtype)
            if code in _ML_NAMES and _core.dtype_bits(code) >= 8 and value.flags.c_contiguous:
                return special(value, code)
            if not value.flags.c_contiguous:
                raise ValueError(f"{where}the array is not C-contiguous; results are written in "
                                 "place into C-contiguous arrays")
            if not value.flags.writeable:
                raise ValueError(f"{where}the array is read-only; results are written in place")
        elif hasattr(value, "__dlpack__"):
            return _from_dlpack(value)
        raise TypeError(f"{where}results are written into writable arrays; this is a "
                        f"{type(value).__name__}")
    if not isinstance(value, np.ndarray) and hasattr(value, "__dlpack__"):
        try:
            value = _from_dlpack(value)
        except (BufferError, RuntimeError):  # a type that numpy does not know
            value = _torch_bits(value)
            if isinstance(value, _core.Tensor):
                return value
    if not isinstance(value, np.ndarray) and not isinstance(value, np.generic) \
            and not hasattr(value, "__array__"):
        raise TypeError(f"{where}an array is needed, not a {type(value).__name__}")
    value = np.asarray(value)
    code = dtype_code(value.dtype)
    if code == STRING:
        return strings(value)
    if code in _ML_NAMES:
        return special(value, code)
    if code == UNDEFINED:
        raise TypeError(f"{where}arrays of {value.dtype} cannot be used")
    return np.ascontiguousarray(value)


def _torch_bits(value):
    """A torch tensor of a type without a buffer format, by its bits."""
    name = str(getattr(value, "dtype", "")).replace("torch.", "")
    code = _BY_ML_NAME.get(name, UNDEFINED)
    if code == UNDEFINED or not hasattr(value, "view"):
        return np.asarray(value)
    import torch
    value = value.detach().contiguous()
    raw = value.view(torch.int16 if value.element_size() == 2 else torch.uint8).numpy()
    return _core.Tensor(raw, code, tuple(value.shape))


def wrap(data, code, shape):
    """Hook of the extension: an array for a result of a type without a buffer format."""
    if code == STRING:
        array = np.empty(len(data), object)
        array[:] = [item.decode("utf-8", "surrogateescape") for item in data]
        return array.reshape(shape)
    bits = _core.dtype_bits(code)
    dtype = numpy_dtype(code)
    count = 1
    for dim in shape:
        count *= dim
    if bits < 8:
        raw = _unpack(data, bits, count)
        if code in (INT4, INT2) and dtype == np.uint8:
            raw = raw.astype(np.int8)
            raw[raw >= 1 << (bits - 1)] -= 1 << bits
            dtype = raw.dtype
        return raw.view(dtype).reshape(shape)
    raw = np.frombuffer(bytearray(data), np.uint16 if bits == 16 else np.uint8)
    return raw.view(dtype).reshape(shape)
