# SPDX-License-Identifier: MIT
"""PopEF files: reads and writes their blobs, with the names of Graphcore's package.

The files are those of libpoprt (poprt/popef.h): the blobs, names and rules are those of PopEF, in a
container of our own, so that Graphcore's library and this one do not read each other's files.
"""

import enum
import json
import os

import numpy as np

import poprt as _poprt
from poprt import _core

__all__ = ["Anchor", "BlobType", "DataType", "Error", "ExecutableReader", "FeedDataInfo",
           "FeedReader", "Metadata", "Model", "ModelBuilder", "OpaqueReader", "Option",
           "ProgramFlow", "Reader", "TensorDataInfo", "TensorInfo", "TensorReader", "TensorType",
           "Writer", "numpyDTypeToPopefType", "popefTypeToNumpyDType"]

#: Failures of reading and writing.
Error = _poprt.Error


class DataType(enum.IntEnum):
    """Element types."""
    BOOL = 0
    F8 = 1
    F16 = 2
    F32 = 3
    F64 = 4
    S8 = 5
    U8 = 6
    S16 = 7
    U16 = 8
    S32 = 9
    U32 = 10
    S64 = 11
    U64 = 12
    F8143 = 13
    F8152 = 14


class TensorType(enum.IntEnum):
    """Roles of an anchor."""
    UNKNOWN = 0
    INPUT = 1
    OUTPUT = 2


class BlobType(enum.IntEnum):
    """Types of blobs."""
    POPLAR_EXECUTABLE = 0
    METADATA = 1
    DATA_TENSOR = 2
    DATA_FEED = 3
    OPAQUE = 4


_NUMPY = {DataType.BOOL: np.bool_, DataType.F16: np.float16, DataType.F32: np.float32,
          DataType.F64: np.float64, DataType.S8: np.int8, DataType.U8: np.uint8,
          DataType.S16: np.int16, DataType.U16: np.uint16, DataType.S32: np.int32,
          DataType.U32: np.uint32, DataType.S64: np.int64, DataType.U64: np.uint64}
_DTYPES = {data_type: np.dtype(numpy_type) for data_type, numpy_type in _NUMPY.items()}


def popefTypeToNumpyDType(data_type):
    """Returns the numpy dtype of an element type; that of 8-bit floats is uint8, their codes."""
    return _DTYPES.get(DataType(data_type), np.dtype(np.uint8))


def numpyDTypeToPopefType(dtype):
    """Returns the element type of a numpy dtype. A dtype that PopEF lacks raises ValueError."""
    dtype = np.dtype(dtype)
    for data_type, known in _DTYPES.items():
        if known == dtype:
            return data_type
    raise ValueError(f"PopEF has no element type for {dtype}")


def _failure(subject, message):
    return Error("POPRT_E_ARG", "popef", "", subject, message)


class _Record:
    """Fields with a method to read each, ``x()``, and one to set it, ``setX(value)``."""

    _fields = {}  # name -> default, or a function that makes it

    def __init__(self, *values):
        if len(values) > len(self._fields):
            raise TypeError(f"{type(self).__name__} has {len(self._fields)} fields, not "
                            f"{len(values)}")
        self._values = {name: default() if callable(default) else default
                        for name, default in self._fields.items()}
        for name, value in zip(self._fields, values):
            self._set(name, value)

    def _set(self, name, value):
        default = self._fields[name]
        kind = type(default() if callable(default) else default)
        if issubclass(kind, enum.IntEnum):
            value = kind(value)
        elif kind is bool and not isinstance(value, (bool, np.bool_)):
            raise TypeError(f"{name} is a bool, not a {type(value).__name__}")
        elif kind is int:
            value = value.__index__()
        elif kind in (list, dict):
            value = kind(value)
        elif not isinstance(value, kind):
            raise TypeError(f"{name} is a {kind.__name__}, not a {type(value).__name__}")
        self._values[name] = value

    def __init_subclass__(cls):
        for name in cls._fields:
            def get(self, _name=name):
                return self._values[_name]

            def set(self, value, _name=name):
                self._set(_name, value)
            get.__name__, get.__doc__ = name, f"Returns {name}."
            set.__name__ = "set" + name[0].upper() + name[1:]
            set.__doc__ = f"Sets {name}."
            setattr(cls, name, get)
            setattr(cls, set.__name__, set)

    def __eq__(self, other):
        return type(self) is type(other) and self._values == other._values

    __hash__ = None

    def __repr__(self):
        inner = ", ".join(f"{name}={value!r}" for name, value in self._values.items())
        return f"{type(self).__name__}({inner})"


class Option(_Record):
    """A name and a value."""
    _fields = {"name": "", "value": ""}


class TensorInfo(_Record):
    """Shape and element type of a tensor; in files of symbolic shapes an open dimension is -1."""
    _fields = {"shape": list, "dataType": DataType.F32}

    def sizeInBytes(self):
        """Returns the number of bytes of all elements."""
        if any(dim < 0 for dim in self.shape()):
            raise _failure("shape", "has a dimension that is not a number")
        count = 1
        for dim in self.shape():
            count *= dim
        return count * popefTypeToNumpyDType(self.dataType()).itemsize


class TensorDataInfo(_Record):
    """Name and type of the tensor of a blob."""
    _fields = {"name": "", "tensorInfo": TensorInfo}


class FeedDataInfo(_Record):
    """Name, type of one tensor, and number of tensors of a feed."""
    _fields = {"name": "", "tensorInfo": TensorInfo, "numTensors": 0}


class ProgramFlow(_Record):
    """Programs that run once at first, for each step, and once at last."""
    _fields = {"load": list, "main": list, "save": list}


class Anchor(_Record):
    """An input or output of an executable."""
    _fields = {"name": "", "handle": "", "tensorInfo": TensorInfo, "isPerReplica": False,
               "type": TensorType.UNKNOWN, "programs": list}


class Metadata(_Record):
    """What a runtime needs to run an executable."""
    _fields = {"executable": "", "replicationFactor": 1, "numIpus": 1, "ipuVersion": 2,
               "isPOD": False, "numProcesses": 1, "isInference": True, "seedHandle": "",
               "engineOptions": list, "deviceOptions": list, "deviceIterations": 1,
               "anchors": list, "programFlow": ProgramFlow, "programsMap": dict}


# ---- descriptors

def _info_of(data):
    data = data or {}
    name = data.get("dataType", "F32")
    if name not in DataType.__members__:
        raise _failure("dataType", f"{name} is an element type that PopEF does not have")
    return TensorInfo(data.get("shape", []), DataType[name])


def _info_to(info):
    return {"dataType": info.dataType().name, "shape": [int(dim) for dim in info.shape()]}


def _anchor_of(data):
    return Anchor(data.get("name", ""), data.get("handle", ""), _info_of(data.get("tensorInfo")),
                  data.get("isPerReplica", False), TensorType[data.get("type", "UNKNOWN")],
                  data.get("programs", []))


def _anchor_to(anchor):
    return {"name": anchor.name(), "handle": anchor.handle(),
            "tensorInfo": _info_to(anchor.tensorInfo()), "isPerReplica": anchor.isPerReplica(),
            "type": anchor.type().name, "programs": anchor.programs()}


def _metadata_of(data):
    metadata = Metadata()
    for name in Metadata._fields:
        value = data.get(name)
        if value is None:
            continue
        if name == "anchors":
            value = [_anchor_of(item) for item in value]
        elif name == "programFlow":
            value = ProgramFlow(*(value.get(part, []) for part in ProgramFlow._fields))
        elif name in ("engineOptions", "deviceOptions"):
            value = [Option(item.get("name", ""), item.get("value", "")) for item in value]
        elif name == "programsMap":
            value = {int(index): text for index, text in value.items()}
        metadata._set(name, value)
    return metadata


def _metadata_to(metadata):
    data = dict(metadata._values)
    data["anchors"] = [_anchor_to(anchor) for anchor in metadata.anchors()]
    data["programFlow"] = dict(metadata.programFlow()._values)
    for name in ("engineOptions", "deviceOptions"):
        data[name] = [{"name": o.name(), "value": o.value()} for o in data[name]]
    data["programsMap"] = {str(index): text for index, text in metadata.programsMap().items()}
    return data


# ---- reading

class _Source:
    """A file, or the bytes of a stream, with payloads that are read when they are needed."""

    def __init__(self, path, data):
        self.path, self.data = path, data

    def read(self, offset, size):
        if self.data is not None:
            return self.data[offset:offset + size]
        with open(self.path, "rb") as file:
            file.seek(offset)
            return file.read(size)


class _BlobReader:
    def __init__(self, source, descriptor, row):
        self._descriptor, self._source = descriptor, source
        self._payload = row[5], row[6]

    def _bytes(self):
        return self._source.read(*self._payload)

    def name(self):
        """Returns the name of the blob."""
        return self._descriptor.get("name", "")


class ExecutableReader(_BlobReader):
    """A compiled program."""

    def executable(self):
        """Returns the bytes of the program."""
        return self._bytes()


class OpaqueReader(_BlobReader):
    """Bytes of a program or framework."""

    def executable(self):
        """Returns the name of the executable that the blob belongs to."""
        return self._descriptor.get("executable", "")

    def data(self):
        """Returns the contents."""
        return self._bytes()


class TensorReader(_BlobReader):
    """A tensor with its data."""

    def info(self):
        """Returns a TensorDataInfo."""
        return TensorDataInfo(self.name(), _info_of(self._descriptor.get("tensorInfo")))

    def data(self):
        """Returns an array; that of 8-bit floats has their codes."""
        info = self.info().tensorInfo()
        return np.frombuffer(self._bytes(), popefTypeToNumpyDType(info.dataType())).reshape(
            info.shape())


class FeedReader(_BlobReader):
    """A sequence of tensors for an input."""

    def info(self):
        """Returns a FeedDataInfo."""
        return FeedDataInfo(self.name(), _info_of(self._descriptor.get("tensorInfo")),
                            self._descriptor.get("numTensors", 0))

    def data(self):
        """Returns an array, whose first dimension counts the tensors."""
        info = self.info()
        return np.frombuffer(
            self._bytes(), popefTypeToNumpyDType(info.tensorInfo().dataType())).reshape(
                [info.numTensors()] + info.tensorInfo().shape())


class Reader:
    """Reads files and streams; the blobs of all of them add up, in their order."""

    def __init__(self):
        self._metadata, self._executables, self._tensors = [], [], []
        self._feeds, self._opaque = [], []
        self._parts = []

    def parseFile(self, path):
        """Reads a file. Payloads of tensors are read when they are asked for."""
        path = os.fspath(path)
        self._add(_core.popef_file(path, False, False), _Source(path, None))

    def parseStream(self, stream):
        """Reads a binary stream to its end."""
        data = stream.read()
        if not isinstance(data, bytes):
            raise TypeError("the stream is not binary: its method read gives no bytes")
        self._add(_core.popef_bytes(data, False, False), _Source(None, data))

    def _add(self, rows, source):
        readers = {BlobType.POPLAR_EXECUTABLE: (ExecutableReader, self._executables),
                   BlobType.DATA_TENSOR: (TensorReader, self._tensors),
                   BlobType.DATA_FEED: (FeedReader, self._feeds),
                   BlobType.OPAQUE: (OpaqueReader, self._opaque)}
        self._parts.append(source)
        for row in rows:
            descriptor = json.loads(row[2])
            if row[0] == BlobType.METADATA:
                self._metadata.append(_metadata_of(descriptor))
            else:
                make, kept = readers[row[0]]
                kept.append(make(source, descriptor, row))

    def metadata(self):
        """Returns the Metadata objects."""
        return list(self._metadata)

    def executables(self):
        """Returns the ExecutableReaders."""
        return list(self._executables)

    def tensors(self):
        """Returns the TensorReaders."""
        return list(self._tensors)

    def feeds(self):
        """Returns the FeedReaders."""
        return list(self._feeds)

    def opaqueBlobs(self):
        """Returns the OpaqueReaders."""
        return list(self._opaque)


class Model:
    """An executable and what belongs to it: made by a ModelBuilder."""

    def __init__(self, metadata, executable, opaque, tensors, feeds, parts):
        self._metadata, self._executable, self._opaque = metadata, executable, opaque
        self._tensors, self._feeds, self._parts = tensors, feeds, parts

    def metadata(self):
        """Returns the Metadata."""
        return self._metadata

    def executable(self):
        """Returns the ExecutableReader."""
        return self._executable

    def opaqueBlobs(self):
        """Returns the OpaqueReaders."""
        return list(self._opaque)

    def tensors(self):
        """Returns the TensorReaders of tensors that are anchors."""
        return list(self._tensors)

    def feeds(self):
        """Returns the FeedReaders of feeds that are anchors."""
        return list(self._feeds)

    def to_bytes(self):
        """Returns the files from which the model was made, one after the other."""
        return b"".join(part.data if part.data is not None else _read(part.path)
                        for part in self._parts)


def _read(path):
    with open(path, "rb") as file:
        return file.read()


class ModelBuilder:
    """Links the blobs of a Reader, or of files: a path, or a list of paths."""

    def __init__(self, reader):
        if not isinstance(reader, Reader):
            paths = [reader] if isinstance(reader, (str, os.PathLike)) else list(reader)
            reader = Reader()
            for path in paths:
                reader.parseFile(path)
        self._reader = reader

    def createModel(self, executableName=""):
        """Returns the Model of an executable; without a name there must be exactly one."""
        executables = self._reader.executables()
        names = [executable.name() for executable in executables]
        for name in names:
            if names.count(name) > 1:
                raise _failure(name, "several executables have this name")
        if executableName:
            found = [e for e in executables if e.name() == executableName]
            if not found:
                raise _failure(executableName, "there is no executable of this name; there are: " +
                               (", ".join(names) or "none"))
        elif len(executables) != 1:
            raise _failure("executable", f"there are {len(executables)} executables; name one of: "
                           + (", ".join(names) or "none"))
        else:
            found = executables
        name = found[0].name()
        metadata = [m for m in self._reader.metadata() if m.executable() == name]
        if len(metadata) != 1:
            raise _failure(name, f"the executable has {len(metadata)} metadata blobs, not one")
        anchors = {anchor.name() for anchor in metadata[0].anchors()}
        return Model(metadata[0], found[0],
                     [o for o in self._reader.opaqueBlobs() if o.executable() == name],
                     [t for t in self._reader.tensors() if t.name() in anchors],
                     [f for f in self._reader.feeds() if f.name() in anchors],
                     self._reader._parts)


# ---- writing

class _BlobWriter:
    """Takes the payload of a blob, which is complete when the writer makes another one, or ends."""

    def __init__(self, writer, kind, descriptor, size):
        self._writer, self._kind, self._descriptor = writer, kind, descriptor
        self._size = size  # bytes that must be written; None: any number
        self._parts = []

    def write(self, data, size=None):
        """Appends bytes, or the elements of an array; with ``size`` only the first bytes."""
        if self._writer is None:
            raise _failure(self._descriptor.get("name", ""), "the blob is complete already")
        data = bytes(memoryview(np.ascontiguousarray(data)).cast("B")) \
            if isinstance(data, np.ndarray) else bytes(data)
        self._parts.append(data if size is None else data[:size])

    @property
    def stream(self):
        """The object itself, which has ``write``."""
        return self

    def _finish(self):
        payload = b"".join(self._parts)
        writer, self._writer = self._writer, None
        if self._size is not None and len(payload) != self._size:
            raise _failure(self._descriptor["name"], f"{len(payload)} bytes were written, but the "
                           f"type needs {self._size}")
        writer._put(self._kind, self._descriptor, payload)


class Writer:
    """Writes a file: a path, or a binary stream."""

    def __init__(self, target):
        self._own = not hasattr(target, "write")
        self._file = open(target, "wb") if self._own else target
        self._at = 0
        self._active = None

    def _put(self, kind, descriptor, payload):
        data = _core.popef_blob(int(kind), json.dumps(descriptor), payload, self._at)
        self._file.write(data)
        self._at += len(data)

    def _begin(self, kind, descriptor, size=None):
        self._end()
        if self._file is None:
            raise _failure("writer", "the file is closed")
        self._active = _BlobWriter(self, kind, descriptor, size)
        return self._active

    def _end(self):
        if self._active is not None:
            active, self._active = self._active, None
            active._finish()

    def write(self, metadata):
        """Writes a Metadata blob."""
        if not isinstance(metadata, Metadata):
            raise TypeError(f"a Metadata is written, not a {type(metadata).__name__}")
        self._begin(BlobType.METADATA, _metadata_to(metadata))
        self._end()

    writeMetadata = write

    def createExecutable(self, name, compress=False):
        """Returns a writer of a program. Compression raises NotImplementedError."""
        if not isinstance(name, str) or not name:
            raise _failure("name", "the name of an executable is a text that is not empty")
        if compress:
            raise NotImplementedError("executables are not compressed: this reader and poprt map "
                                      "their weights")
        return self._begin(BlobType.POPLAR_EXECUTABLE, {"name": name, "compressed": False})

    def createOpaqueBlob(self, name, executableName):
        """Returns a writer of the bytes of a program or framework."""
        return self._begin(BlobType.OPAQUE, {"name": name, "executable": executableName})

    def createTensorData(self, info):
        """Returns a writer of a tensor, which a TensorDataInfo describes."""
        return self._begin(BlobType.DATA_TENSOR,
                           {"name": info.name(), "tensorInfo": _info_to(info.tensorInfo())},
                           info.tensorInfo().sizeInBytes())

    def createFeedData(self, info):
        """Returns a writer of a feed, which a FeedDataInfo describes."""
        return self._begin(BlobType.DATA_FEED,
                           {"name": info.name(), "tensorInfo": _info_to(info.tensorInfo()),
                            "numTensors": info.numTensors()},
                           info.numTensors() * info.tensorInfo().sizeInBytes())

    def close(self):
        """Completes the last blob and the file."""
        try:
            self._end()
        finally:
            if self._file is not None and self._own:
                self._file.close()
            self._file = None

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()
