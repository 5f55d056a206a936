# SPDX-License-Identifier: MIT
"""A small binding of libpoprt.so for the scripts of this folder: training and its results.

Every function of the library that fails raises Error with the message of the library.
"""
import ctypes as c
import json

import numpy as np

DTYPES = {np.dtype(np.float32): 1, np.dtype(np.int32): 6, np.dtype(np.int64): 7,
          np.dtype(np.bool_): 9, np.dtype(np.float64): 11}
NUMPY = {number: dtype for dtype, number in DTYPES.items()}
FORMAT_STEPS_JSON = 5
WRITE = c.CFUNCTYPE(c.c_int32, c.c_void_p, c.c_void_p, c.c_size_t)


class Error(Exception):
    """The message of a failed call."""


class Tensor(c.Structure):
    _fields_ = [("data", c.c_void_p), ("size", c.c_size_t), ("dims", c.POINTER(c.c_int64)),
                ("rank", c.c_uint32), ("dtype", c.c_int32)]

    def array(self):
        """A copy of the elements."""
        shape = [self.dims[i] for i in range(self.rank)]
        bytes_ = c.string_at(self.data, self.size) if self.size else b""
        return np.frombuffer(bytes_, NUMPY[self.dtype]).reshape(shape).copy()


class EnvOptions(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("allocator", c.c_void_p), ("parallel", c.c_void_p),
                ("threads", c.c_uint32), ("spin_us", c.c_uint32), ("log", c.c_void_p),
                ("log_user", c.c_void_p), ("log_level", c.c_int32), ("reserved", c.c_uint32),
                ("progress", c.c_void_p), ("progress_user", c.c_void_p),
                ("memory_limit", c.c_size_t)]


class TrainingTask(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("loss", c.c_char_p), ("optimizer", c.c_void_p),
                ("flow", c.c_void_p), ("weights", c.c_void_p), ("frozen", c.c_void_p),
                ("weight_count", c.c_size_t), ("frozen_count", c.c_size_t)]


class LastError(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("status", c.c_int32), ("stage", c.c_char_p),
                ("file", c.c_char_p), ("subject", c.c_char_p), ("message", c.c_char_p)]


class Step(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("block", c.c_uint32), ("index", c.c_uint32),
                ("op", c.c_char_p), ("form", c.c_char_p), ("node", c.c_char_p),
                ("start_ns", c.c_uint64), ("stop_ns", c.c_uint64)]


class Library:
    """The loaded library, and one environment of it."""

    def __init__(self, path, threads=1):
        self.lib = c.CDLL(path)
        self.lib.poprt_last_error.restype = c.POINTER(LastError)
        self.lib.poprt_weights_count.restype = c.c_size_t
        self.lib.poprt_weights_count.argtypes = [c.c_void_p]
        options = EnvOptions(struct_size=c.sizeof(EnvOptions), threads=threads)
        self.env = self.make("env_create", c.byref(options))

    def call(self, name, *args):
        """Calls a function that returns a status."""
        function = getattr(self.lib, "poprt_" + name)
        if function(*args) != 0:
            e = self.lib.poprt_last_error().contents
            raise Error(f"{name}: {(e.subject or b'').decode()}: {(e.message or b'').decode()}")

    def make(self, name, *args):
        """Calls a function whose last parameter receives a handle."""
        out = c.c_void_p()
        self.call(name, *args, c.byref(out))
        return out

    def release(self, kind, handle):
        getattr(self.lib, f"poprt_{kind}_release")(handle)

    def close(self):
        self.release("env", self.env)

    def compile_training(self, model, loss, kind, values, options=None):
        """Compiles a model, as bytes of ONNX, for training; all values are constant."""
        handle = self.make("model_load_bytes", self.env, model, c.c_size_t(len(model)), None)
        optimizer = self.make("optimizer_create", self.env, kind.encode())
        config = self.make("config_create", self.env)
        try:
            for key, value in values.items():
                self.call("optimizer_set", optimizer, key.encode(), c.c_float(value), 1)
            for key, value in (options or {}).items():
                self.call("config_set", config, key.encode(), str(value).encode())
            task = TrainingTask(struct_size=c.sizeof(TrainingTask), loss=loss.encode(),
                                optimizer=optimizer)
            return Executable(self, self.make("compile_training", handle, c.byref(task), config))
        finally:
            self.release("config", config)
            self.release("optimizer", optimizer)
            self.release("model", handle)

    def load(self, path):
        """Opens a PopEF file."""
        return Executable(self, self.make("executable_load_file", self.env, path.encode(), None))


class Executable:
    def __init__(self, library, handle):
        self.library, self.handle = library, handle

    def save(self, path):
        self.library.call("executable_save_file", self.handle, path.encode())

    def steps(self):
        """The steps of the program: operator, kernel and types of the results."""
        parts = []

        def write(_, data, size):
            parts.append(c.string_at(data, size))
            return 0
        self.library.call("executable_describe", self.handle, FORMAT_STEPS_JSON, WRITE(write), None)
        return json.loads(b"".join(parts))["steps"]

    def session(self, options=None):
        return Session(self, options or {})

    def release(self):
        self.library.release("executable", self.handle)


class Session:
    def __init__(self, executable, options):
        self.library = library = executable.library
        config = library.make("config_create", library.env)
        for key, value in options.items():
            library.call("config_set", config, key.encode(), str(value).encode())
        self.handle = library.make("session_create", executable.handle, config)
        library.release("config", config)
        count = library.lib.poprt_executable_io_count
        count.restype = c.c_size_t
        self.inputs = count(executable.handle, 0)
        self.io = library.make("stepio_create", self.handle)
        self.kept = {}

    def run(self, inputs):
        """Runs one step. `inputs`: arrays by name."""
        for name, value in inputs.items():
            value = np.ascontiguousarray(value)
            dims = (c.c_int64 * max(value.ndim, 1))(*value.shape)
            tensor = Tensor(value.ctypes.data, value.nbytes, dims, value.ndim, DTYPES[value.dtype])
            self.kept[name] = (value, dims)
            self.library.call("stepio_bind", self.io, name.encode(), c.byref(tensor))
        self.library.call("session_run", self.handle, self.io)

    def output(self, index=0):
        """A result of the last step."""
        out, slot = Tensor(), self.inputs + index
        self.library.call("stepio_output", self.io, c.c_size_t(slot), c.byref(out))
        return out.array()

    def times(self, inputs):
        """Runs one step; returns the nanoseconds of its parts by numbers of block and step."""
        spent = {}

        def add(_, step):
            at = (step.contents.block, step.contents.index)
            spent[at] = spent.get(at, 0) + step.contents.stop_ns - step.contents.start_ns
        kind = c.CFUNCTYPE(None, c.c_void_p, c.POINTER(Step))
        watch = kind(add)
        self.library.call("session_watch", self.handle, watch, None)
        self.run(inputs)
        self.library.call("session_watch", self.handle, None, None)
        return spent

    def weights(self):
        """Weights, statistics and states of the optimizer, by name."""
        handle = self.library.make("weights_create", self.handle)
        result = {}
        for i in range(self.library.lib.poprt_weights_count(handle)):
            name, tensor = c.c_char_p(), Tensor()
            self.library.call("weights_at", handle, c.c_size_t(i), c.byref(name), c.byref(tensor))
            result[name.value.decode()] = tensor.array()
        self.library.release("weights", handle)
        return result

    def save_checkpoint(self, path):
        self.library.call("session_save_checkpoint", self.handle, path.encode(), 0)

    def load_checkpoint(self, path):
        self.library.call("session_load_checkpoint", self.handle, path.encode())

    def release(self):
        self.library.release("stepio", self.io)
        self.library.release("session", self.handle)
