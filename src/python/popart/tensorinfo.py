# SPDX-License-Identifier: MIT
"""TensorInfo: element type and shape."""

import numpy as np

from poprt import _arrays

from .enums import DataType

# PopART's name: (number in ONNX, numpy's name)
_TYPES = {
    "UINT8": (2, "uint8"), "INT8": (3, "int8"), "UINT16": (4, "uint16"), "INT16": (5, "int16"),
    "INT32": (6, "int32"), "INT64": (7, "int64"), "UINT32": (12, "uint32"),
    "UINT64": (13, "uint64"), "BOOL": (9, "bool"), "FLOAT": (1, "float32"),
    "FLOAT16": (10, "float16"), "BFLOAT16": (16, "bfloat16"), "DOUBLE": (11, "float64"),
    "COMPLEX64": (14, "complex64"), "COMPLEX128": (15, "complex128"), "STRING": (8, "string"),
    "FLOAT8_143": (18, "float8_143"), "FLOAT8_152": (20, "float8_152"),
}
_BY_CODE = {code: name for name, (code, _) in _TYPES.items()}
_BY_NUMPY = {text: name for name, (_, text) in _TYPES.items()}


def type_name(value):
    """Returns PopART's name of an element type: of its name in any case, a numpy dtype, a scalar
    type, or a DataType. None: there is no such type."""
    if isinstance(value, DataType):
        return value.name if value.name in _TYPES else None
    if isinstance(value, str) and value.upper() in _TYPES:
        return value.upper()
    if isinstance(value, str):
        return _BY_NUMPY.get(value)
    try:
        return _BY_NUMPY.get(np.dtype(value).name)
    except TypeError:
        return None


def type_code(name):
    """Returns the number of a type in ONNX from PopART's name."""
    return _TYPES[name][0]


def name_of_code(code):
    """Returns PopART's name of a type from its number in ONNX."""
    return _BY_CODE.get(code, "UNDEFINED")


def numpy_name(name):
    """Returns numpy's spelling of a type from PopART's name."""
    return _TYPES[name][1]


class TensorInfo:
    """Element type and shape: ``TensorInfo("FLOAT", [2, 3])``, ``TensorInfo(np.float16, [2])`` or
    ``TensorInfo(array)``."""

    def __init__(self, *args, **kwargs):
        if kwargs or not 1 <= len(args) <= 2:
            raise TypeError("__init__(): incompatible constructor arguments. TensorInfo takes a "
                            "type and a shape, or an array")
        self.set(*args)

    def set(self, *args):
        """Sets type and shape, as the constructor does."""
        if len(args) == 1:
            array = args[0]
            if not hasattr(array, "dtype") or not hasattr(array, "shape"):
                raise TypeError("__init__(): incompatible constructor arguments. TensorInfo takes "
                                "a type and a shape, or an array")
            dtype, shape = np.asarray(array).dtype, array.shape
        else:
            dtype, shape = args
        name = type_name(dtype)
        if name is None:
            if isinstance(dtype, str):
                from .errors import popart_exception
                raise popart_exception(f"no data type {dtype!r}; accepted: " + ", ".join(_TYPES))
            raise TypeError(f"no data type {dtype!r}; accepted: " + ", ".join(_TYPES))
        if isinstance(shape, (int, str)):
            raise TypeError("__init__(): incompatible constructor arguments. A shape is a list of "
                            "numbers")
        self._name = name
        self._shape = [int(dim) for dim in shape]

    def shape(self):
        """List of dimensions."""
        return list(self._shape)

    def rank(self):
        """Number of dimensions."""
        return len(self._shape)

    def dim(self, index):
        """One dimension."""
        if not 0 <= index < len(self._shape):
            from .errors import popart_exception
            raise popart_exception(f"dimension {index} of a tensor of rank {len(self._shape)}")
        return self._shape[index]

    def nelms(self):
        """Number of elements."""
        count = 1
        for dim in self._shape:
            count *= dim
        return count

    def nbytes(self):
        """Bytes of all elements."""
        from poprt import _core
        return self.nelms() * _core.dtype_bits(type_code(self._name)) // 8

    def strides(self, shape=None):
        """Bytes between neighbours in each dimension."""
        from poprt import _core
        step = _core.dtype_bits(type_code(self._name)) // 8
        result = []
        for dim in reversed(self._shape if shape is None else list(shape)):
            result.insert(0, step)
            step *= dim
        return result

    def dataType(self):
        """DataType of the elements."""
        return getattr(DataType, self._name)

    def data_type(self):
        """Name of the type in upper case, such as "FLOAT"."""
        return self._name

    def data_type_lcase(self):
        """numpy's name of the type, such as "float32"."""
        return _TYPES[self._name][1]

    def metaShape(self):
        """Shape before replicated tensor sharding: empty, because tensors are not sharded."""
        return []

    def numpy_dtype(self):
        """numpy dtype of the elements."""
        return _arrays.numpy_dtype(type_code(self._name))

    def __eq__(self, other):
        return isinstance(other, TensorInfo) and (self._name, self._shape) == (other._name,
                                                                              other._shape)

    def __ne__(self, other):
        return not self == other

    __hash__ = None

    def __repr__(self):
        return f"TensorInfo({self._name}, {self._shape})"


def getTensorInfo(array):
    """Returns the TensorInfo of an array."""
    return TensorInfo(array)
