# SPDX-License-Identifier: MIT
"""The interface that users of onnxruntime know: InferenceSession, OrtValue, IOBinding, options."""

import enum
import warnings
from collections import namedtuple

import numpy as np

from . import _arrays, _core, _env
from . import config as _config
from .errors import InvalidArgument
from .model import Session, _nearest

NodeArg = namedtuple("NodeArg", "name shape type")

_TYPE_NAMES = {1: "float", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64",
               8: "string", 9: "bool", 10: "float16", 11: "double", 12: "uint32", 13: "uint64",
               14: "complex64", 15: "complex128", 16: "bfloat16", 17: "float8e4m3fn",
               18: "float8e4m3fnuz", 19: "float8e5m2", 20: "float8e5m2fnuz", 21: "uint4",
               22: "int4", 23: "float4e2m1", 24: "float8e8m0", 25: "uint2", 26: "int2",
               27: "float6e2m3", 28: "float6e3m2"}


def _type_text(row):
    tensor = f"tensor({_TYPE_NAMES.get(row[2], 'undefined')})"
    if row[1] == 2:
        if row[5] == 4:
            return f"seq(map({_TYPE_NAMES[row[6]]},{tensor}))"
        return f"seq({tensor})"
    if row[1] == 3:
        return f"optional(seq({tensor}))" if row[5] == 2 else f"optional({tensor})"
    if row[1] == 4:
        return f"map({_TYPE_NAMES[row[6]]},{tensor})"
    return tensor


def _node_arg(row):
    shape = None
    if row[3] is not None:
        shape = [dim if dim >= 0 else (text if text not in ("", "?") else None)
                 for dim, text in zip(row[3], row[4])]
    return NodeArg(row[0], shape if shape is not None else [], _type_text(row))


class GraphOptimizationLevel(enum.IntEnum):
    """Kept for programs that set it: the compiler always runs its whole pipeline, and
    ORT_DISABLE_ALL asks for the passes that it cannot do without."""
    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_ALL = 99


class ExecutionMode(enum.IntEnum):
    """ORT_PARALLEL and ORT_SEQUENTIAL: a run always uses all threads of its session for each
    step."""
    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


class SessionOptions:
    """Options of an InferenceSession. An attribute that does not exist raises AttributeError."""

    __slots__ = ("intra_op_num_threads", "inter_op_num_threads", "graph_optimization_level",
                 "execution_mode", "enable_profiling", "profile_file_prefix", "log_severity_level",
                 "logid", "optimized_model_filepath", "_entries", "_dims", "_plugins")

    def __init__(self):
        self.intra_op_num_threads = 0
        self.inter_op_num_threads = 1
        self.graph_optimization_level = GraphOptimizationLevel.ORT_ENABLE_ALL
        self.execution_mode = ExecutionMode.ORT_SEQUENTIAL
        self.enable_profiling = False
        self.profile_file_prefix = "onnxruntime_profile_"
        self.log_severity_level = 2
        self.logid = ""
        self.optimized_model_filepath = ""
        self._entries = {}
        self._dims = {}
        self._plugins = []

    def add_session_config_entry(self, key, value):
        """Sets an option of ``poprt.options()``; other keys are kept, and have no effect."""
        self._entries[str(key)] = str(value)

    def get_session_config_entry(self, key):
        """Returns the value of an entry."""
        if key not in self._entries:
            raise RuntimeError(f"the options have no entry {key!r}")
        return self._entries[key]

    def add_free_dimension_override_by_name(self, name, value):
        """Sets a symbolic dimension."""
        self._dims[str(name)] = int(value)

    def register_custom_ops_library(self, path):
        """Adds the operators of a plug-in of libpoprt (poprt/plugin.h)."""
        _env.register_plugin(path)
        self._plugins.append(path)

    def __getstate__(self):
        return {name: getattr(self, name) for name in self.__slots__}

    def __setstate__(self, state):
        for name, value in state.items():
            setattr(self, name, value)


class RunOptions:
    """Options of one run. ``terminate`` stops it before it begins."""

    __slots__ = ("terminate", "log_severity_level", "log_verbosity_level", "logid",
                 "only_execute_path_to_fetches", "training_mode")

    def __init__(self):
        self.terminate = False
        self.log_severity_level = 2
        self.log_verbosity_level = 0
        self.logid = ""
        self.only_execute_path_to_fetches = False
        self.training_mode = False


ModelMetadata = namedtuple("ModelMetadata", "producer_name graph_name domain description "
                           "graph_description version custom_metadata_map")


def get_available_providers():
    """Names of the providers: the processor alone."""
    return ["CPUExecutionProvider"]


def get_all_providers():
    """Names of the providers: the processor alone."""
    return ["CPUExecutionProvider"]


def get_device():
    """Kind of the device: "CPU"."""
    return "CPU"


_warned = set()


def _check_providers(providers, options):
    for what, value in (("providers", providers), ("provider_options", options)):
        if value is not None and not isinstance(value, (list, tuple)):
            raise TypeError(f"{what} is a list, not a {type(value).__name__}")
    for provider in providers or ():
        name = provider[0] if isinstance(provider, tuple) else provider
        if name != "CPUExecutionProvider" and name not in _warned:
            _warned.add(name)
            warnings.warn(f"the provider {name} does not exist here; the session runs on the "
                          "processor (CPUExecutionProvider)", UserWarning, stacklevel=3)


class InferenceSession:
    """Runs a model: a path, bytes or an onnx.ModelProto; ONNX, TensorFlow, TFLite or PopEF.

    ``sess_options``, ``providers`` and ``provider_options`` are those of onnxruntime; ``config``,
    ``dims`` and ``threads`` those of poprt.Session. Threads may share a session: they take turns.
    """

    def __init__(self, path_or_bytes, sess_options=None, providers=None, provider_options=None, *,
                 config=None, dims=None, threads=None, **kwargs):
        _check_providers(providers, provider_options)
        kwargs.pop("disabled_optimizers", None)
        self._options = sess_options if sess_options is not None else SessionOptions()
        dims = dict(dims or {})
        dims.update(self._options._dims)
        if threads is None and config is None:
            threads = self._options.intra_op_num_threads
        known = {row[0] for row in _core.options()} | {row[0] for row in _core.option_names()}
        config = _config.Config(config, threads=threads, dims=dims, **kwargs)
        for key, value in self._options._entries.items():
            if key in known:
                config[key] = value
        self._session = Session(path_or_bytes, config)
        self._trace = None
        if self._options.optimized_model_filepath:
            self._save_optimized(path_or_bytes)
        if self._options.enable_profiling:
            self._trace = _core.Trace(self._session._env, 0)
            self._session._core.trace(self._trace)
        self._rows = self._session._rows

    def _save_optimized(self, source):
        from .model import Model, PassManager
        model = Model.load(source)
        manager = PassManager()
        manager.add_pipeline("convert")
        manager.run(model)
        model.save(self._options.optimized_model_filepath)

    def get_inputs(self):
        """List of NodeArg: name, shape, type."""
        return [_node_arg(row) for row in self._rows[0]]

    def get_outputs(self):
        """List of NodeArg: name, shape, type."""
        return [_node_arg(row) for row in self._rows[1]]

    def get_overridable_initializers(self):
        """Weights that a run may replace: none, because they are compiled into the program."""
        return []

    def get_modelmeta(self):
        """Metadata of the model's file."""
        info = self._session.executable.info
        return ModelMetadata(info["producer_name"], info["graph_name"], info["domain"],
                             info["doc_string"], info["graph_doc_string"], info["model_version"],
                             info["properties"])

    def get_providers(self):
        """Names of the providers in use."""
        return ["CPUExecutionProvider"]

    def get_provider_options(self):
        """Options of the providers: none."""
        return {"CPUExecutionProvider": {}}

    def get_session_options(self):
        """The options of the session."""
        return self._options

    def set_providers(self, providers=None, provider_options=None):
        """Accepts the processor alone."""
        _check_providers(providers, provider_options)

    def run(self, output_names, input_feed, run_options=None):
        """Runs once and returns a list of new arrays, in the order of ``output_names`` (None or []:
        all outputs, in the order of the model)."""
        if run_options is not None and run_options.terminate:
            from .errors import Cancelled
            raise Cancelled("POPRT_E_CANCELLED", "run", "", "", "terminate of the run options is "
                            "set")
        return self._session.call(input_feed, output_names or None)

    def run_with_ort_values(self, output_names, input_dict_ort_values, run_options=None):
        """As ``run``, with OrtValue in and out."""
        feed = {name: value._array for name, value in input_dict_ort_values.items()}
        return [OrtValue(array) for array in self.run(output_names, feed, run_options)]

    def run_async(self, output_names, input_feed, callback, user_data, run_options=None):
        """Queues a run; ``callback(results, user_data, error)`` is called after it, on a thread of
        the session; ``error`` is "" or a text."""
        def done(future):
            error = future.exception()
            callback([] if error is not None else list(future.result().values()), user_data,
                     "" if error is None else str(error))

        self._session.submit(input_feed, output_names or None).add_done_callback(done)

    def submit(self, feed, output_names=None):
        """Queues a run, and returns a future of its dict, which can also be awaited."""
        return self._session.submit(feed, output_names)

    def io_binding(self):
        """Makes an IOBinding."""
        return IOBinding(self)

    def run_with_iobinding(self, iobinding, run_options=None):
        """Runs with the arrays of a binding. After the first call with the same shapes nothing is
        allocated."""
        iobinding._io.run(None)

    def end_profiling(self):
        """Writes the trace of all runs (``enable_profiling``), and returns its path."""
        if self._trace is None:
            return ""
        import time
        path = self._options.profile_file_prefix + time.strftime("%Y-%m-%d_%H-%M-%S") + ".json"
        self._session._core.trace(None)
        self._trace.write_file(path)
        self._trace = None
        return path

    def close(self):
        """Releases the session."""
        self._session.close()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()

    def __reduce__(self):
        return self._session.__reduce__()


class OrtValue:
    """A tensor in the memory of the processor."""

    def __init__(self, array):
        self._array = array

    @staticmethod
    def ortvalue_from_numpy(array, device_type="cpu", device_id=0):
        """Returns a value with the memory of the array."""
        _check_device(device_type)
        return OrtValue(np.ascontiguousarray(array))

    @staticmethod
    def ortvalue_from_shape_and_type(shape, element_type, device_type="cpu", device_id=0):
        """Returns a value with new memory that is not initialised."""
        _check_device(device_type)
        return OrtValue(np.empty(tuple(shape), _arrays.numpy_dtype(_arrays.dtype_code(element_type))))

    def numpy(self):
        """The array, without a copy."""
        return self._array

    def shape(self):
        """List of dimensions."""
        return list(self._array.shape)

    def data_type(self):
        """Type as text, such as "tensor(float)"."""
        return f"tensor({_TYPE_NAMES.get(_arrays.dtype_code(self._array.dtype), 'undefined')})"

    def element_type(self):
        """Number of the element type in ONNX."""
        return _arrays.dtype_code(self._array.dtype)

    def device_name(self):
        """Name of the device: "cpu"."""
        return "cpu"

    def data_ptr(self):
        """Address of the first element."""
        return self._array.ctypes.data

    def is_tensor(self):
        """True."""
        return True

    def has_value(self):
        """True."""
        return True

    def update_inplace(self, array):
        """Copies the contents of an array."""
        self._array[...] = array

    def __dlpack__(self, **options):
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()

    def __array__(self, dtype=None):
        return self._array if dtype is None else self._array.astype(dtype)


def _check_device(device_type):
    if device_type.lower() != "cpu":
        raise InvalidArgument("POPRT_E_ARG", "run", "", device_type,
                              "there is no such device; accepted: cpu")


class IOBinding:
    """Arrays of the inputs and outputs of many runs."""

    def __init__(self, session):
        self._session = session
        self._io = _core.StepIO(session._session._core, None)
        self._outputs = {}

    def _bind(self, name, array, names, what):
        if name not in names:
            raise InvalidArgument("POPRT_E_ARG", "run", "", str(name),
                                  f"the model has no such {what}; nearest: " +
                                  _nearest(name, names))
        self._io.bind(name, array)

    def bind_cpu_input(self, name, array):
        """Binds an array to an input; it is read in place at each run."""
        self._bind(name, array, self._session._session._input_names, "input")

    def bind_ortvalue_input(self, name, value):
        """Binds an OrtValue to an input."""
        self.bind_cpu_input(name, value._array)

    def bind_input(self, name, device_type, device_id, element_type, shape, buffer_ptr):
        """Binds memory at an address to an input. The memory must live as long as the binding."""
        _check_device(device_type)
        self.bind_cpu_input(name, _at_address(buffer_ptr, element_type, shape))

    def bind_output(self, name, device_type="cpu", device_id=0, element_type=None, shape=None,
                    buffer_ptr=None):
        """Binds memory at an address to an output, or lets the session provide it."""
        _check_device(device_type)
        array = None
        if buffer_ptr:
            array = _at_address(buffer_ptr, element_type, shape)
        self._bind(name, array, self._session._session._output_names, "output")
        self._outputs[name] = array

    def bind_ortvalue_output(self, name, value):
        """Binds an OrtValue to an output."""
        self._bind(name, value._array, self._session._session._output_names, "output")
        self._outputs[name] = value._array

    def synchronize_inputs(self):
        """Returns at once: there is no device to wait for."""

    def synchronize_outputs(self):
        """Returns at once: there is no device to wait for."""

    def get_outputs(self):
        """List of OrtValue of the bound outputs, in the order of binding."""
        return [OrtValue(array if array is not None else self._io.output(name))
                for name, array in self._outputs.items()]

    def copy_outputs_to_cpu(self):
        """List of arrays of the bound outputs, in the order of binding."""
        return [np.array(array) if array is not None else self._io.output(name)
                for name, array in self._outputs.items()]

    def clear_binding_inputs(self):
        """Ends the bindings of all inputs."""
        for name in self._session._session._input_names:
            self._io.bind(name, None)

    def clear_binding_outputs(self):
        """Ends the bindings of all outputs."""
        for name in self._outputs:
            self._io.bind(name, None)
        self._outputs.clear()


def _at_address(address, element_type, shape):
    import ctypes
    code = _arrays.dtype_code(element_type)
    dtype = _arrays.numpy_dtype(code)
    count = int(np.prod(shape, dtype=np.int64))
    if count * dtype.itemsize == 0:
        return np.empty(shape, dtype)
    memory = (ctypes.c_char * (count * dtype.itemsize)).from_address(address)
    return np.frombuffer(memory, dtype).reshape(shape)
