# SPDX-License-Identifier: MIT
"""PopRT's runtime: runners, which serve requests of many threads, on poprt/runner.h."""

import enum
import json
import logging
import os

import numpy as np

from . import _arrays, _core
from . import config as _config
from .errors import NotFound
from .model import Executable

__all__ = ["DataDesc", "Device", "DeviceManager", "DeviceWaitConfig", "HostConcatConfig",
           "HostConcatRunner", "HostConcatRunnerConfig", "InputMemoryView", "LightRunner",
           "LightRunnerConfig", "ModelFusionRunner", "ModelRunner", "OutputFutureMemoryView",
           "OutputMemoryView", "PackAlgorithm", "PackRunner", "PackRunnerConfig",
           "ReplicaIdToDevice", "Runner", "RunnerType", "RuntimeConfig"]

_EXECUTE, _EXECUTABLE = 0, 1
_INPUT, _OUTPUT = 0, 1
_NONE = 0xFFFFFFFF
_FOREVER = 2**63 - 1
_noted = set()


class RunnerType(enum.IntEnum):
    """Kinds of runners."""
    ModelRunner = 0
    PackRunner = 1
    ModelFusionRunner = 2


class PackAlgorithm(enum.Enum):
    """Row of a sample in single-row mode: the last one begun or the next one, or the first one in
    which the sample fits."""
    next_fit = 0
    first_fit = 1


# ---- devices

class Device:
    """A device: this processor."""

    def __init__(self, id=0, num_ipus=1):
        self.id = id
        self.num_ipus = num_ipus

    def ipu_version(self):
        """Returns "ipu21", which programs copy into ``CompilerOptions.ipu_version``."""
        return "ipu21"

    ipuVersion = ipu_version

    def __repr__(self):
        return f"Device(id={self.id}, num_ipus={self.num_ipus})"


class DeviceManager:
    """Lists devices: one for each processor that the process may use."""

    def get_num_devices(self):
        """Returns the number of devices."""
        return len(os.sched_getaffinity(0))

    def get_device(self, num_ipus=1):
        """Returns a device that stands for ``num_ipus`` IPUs."""
        if num_ipus < 1:
            raise ValueError(f"{num_ipus} IPUs; accepted: 1 or more")
        return Device(0, num_ipus)

    def get_specific_device(self, id):
        """Returns a device by its number."""
        if not 0 <= id < self.get_num_devices():
            raise NotFound("POPRT_E_NOT_FOUND", "device", "", str(id),
                           f"there is no such device; there are {self.get_num_devices()}")
        return Device(id)

    def ipu_hardware_version(self):
        """Returns "ipu21"."""
        return "ipu21"

    getNumDevices = get_num_devices
    getDevice = get_device
    getSpecificDevice = get_specific_device
    ipuHardwareVersion = ipu_hardware_version


class ReplicaIdToDevice(dict):
    """Maps numbers of replicas to devices."""


# ---- configurations

class DeviceWaitConfig:
    """How long to wait for a device, and between attempts; a processor is always there."""

    def __init__(self, timeout_sec=1, sleep_time_sec=6):
        self.timeout_sec = timeout_sec
        self.sleep_time_sec = sleep_time_sec

    def __eq__(self, other):
        return isinstance(other, DeviceWaitConfig) and vars(self) == vars(other)

    __hash__ = None


def _camel(name):
    words = name.split("_")
    return words[0] + "".join({"ns": "NS", "io": "IO"}.get(word, word.capitalize())
                              for word in words[1:])


class _Settings:
    """Attributes with defaults; others raise AttributeError, wrong types TypeError."""

    # Name -> (default, key of the library; None: the runner reads it; "": no effect on a CPU).
    _rows = {}
    _aliases = {}

    def __init__(self):
        for name, (default, _) in self._rows.items():
            object.__setattr__(self, name, default() if isinstance(default, type) else default)

    def __setattr__(self, name, value):
        name = self._aliases.get(name, name)
        if name not in self._rows:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}; it has: " +
                                 ", ".join(self._rows))
        default = self._rows[name][0]
        default = default() if isinstance(default, type) else default
        if isinstance(default, bool):
            good = isinstance(value, (bool, np.bool_))
        elif isinstance(default, int):
            good = hasattr(value, "__index__") and not isinstance(value, bool)
        elif isinstance(default, list):
            good = isinstance(value, (list, tuple))
        elif default is None:
            good = True
        else:
            good = isinstance(value, dict if isinstance(default, dict) else type(default))
        if not good:
            raise TypeError(f"{name} is of type {type(default).__name__}, not "
                            f"{type(value).__name__}")
        object.__setattr__(self, name, value)

    def __getattr__(self, name):
        alias = type(self)._aliases.get(name)
        if alias is None:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return getattr(self, alias)

    def _config(self):
        """Options for the library."""
        options = {}
        for name, (default, key) in self._rows.items():
            value = getattr(self, name)
            default = default() if isinstance(default, type) else default
            if value == default:
                continue
            if key == "":
                if name not in _noted:
                    _noted.add(name)
                    logging.getLogger("poprt").info("%s.%s has no effect on a CPU",
                                                    type(self).__name__, name)
            elif key is not None:
                options[key] = value.name if isinstance(value, enum.Enum) else value
        return _config.Config(options)

    def __eq__(self, other):
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = None

    def __repr__(self):
        result = {}
        for name, (default, _) in self._rows.items():
            value = getattr(self, name)
            key = {"replica_to_device": "replicaIdToDevice"}.get(name, _camel(name))
            if isinstance(value, DeviceWaitConfig):
                result[key + ".sleepTimeSec"] = value.sleep_time_sec
                result[key + ".timeoutSec"] = value.timeout_sec
            elif isinstance(value, enum.IntEnum):
                result[key] = int(value)
            elif isinstance(value, enum.Enum):
                result[key] = value.name
            elif isinstance(value, dict):
                result[key] = {str(k): repr(v) for k, v in value.items()}
            elif value is not None:
                result[key] = value
        return json.dumps(result, sort_keys=True)


class RuntimeConfig(_Settings):
    """Settings of a ModelRunner or ModelFusionRunner; ``repr`` is a JSON object."""

    _rows = {
        "runner_type": (RunnerType.ModelRunner, None),
        "device_wait_config": (DeviceWaitConfig, ""),
        "thread_safe": (True, "thread_safe"),
        "timeout_ns": (10_000_000, "timeout_ns"),
        "validate_io_params": (True, "validate_io_params"),
        "batching_dim": (_NONE, "batching_dim"),
        "check_package_hash": (True, "check_package_hash"),
        "ring_buffer_size_multiplier": (2, "ring_buffer_size_multiplier"),
        "auto_reset": (False, "auto_reset"),
        "flush_on_waiting_outputs": (False, "flush_on_waiting_outputs"),
        "batch_size_timeout_ns": (_FOREVER, "batch_size_timeout_ns"),
        "data_parallel_timeout_ns": (_FOREVER, ""),
        "is_batch_size_timeout_enabled": (False, "is_batch_size_timeout_enabled"),
        "request_tracepoints_buffer_size": (1000, ""),
        "replica_to_device": (ReplicaIdToDevice, ""),
        "flush_by_name": (None, ""),
    }


class LightRunnerConfig(RuntimeConfig):
    """Settings of a LightRunner: ``replica_to_device`` maps replicas to devices, and the replicas
    of one device take turns."""

    _rows = {**RuntimeConfig._rows, "replica_to_device": (ReplicaIdToDevice, None)}

    def _config(self):
        config = super()._config()
        if self.replica_to_device:
            config["replica_to_device"] = json.dumps(
                {str(replica): getattr(device, "id", device)
                 for replica, device in self.replica_to_device.items()})
        return config


class HostConcatConfig:
    """A merged input: its name, the inputs of requests that are its rows, shape and bytes."""

    def __init__(self, tensor_name="", input_tensor_names=(), shape=(), data_size_bytes=0):
        self.tensor_name = tensor_name
        self.input_tensor_names = list(input_tensor_names)
        self.shape = list(shape)
        self.data_size_bytes = data_size_bytes


class HostConcatRunnerConfig(RuntimeConfig):
    """Settings of a HostConcatRunner: ``host_concat_config`` maps merged inputs to
    HostConcatConfigs; empty: as the executable says."""

    _rows = {**RuntimeConfig._rows, "host_concat_config": (dict, None)}

    def _config(self):
        config = super()._config()
        if self.host_concat_config:
            config["host_concat_config"] = json.dumps(
                {name: {"input_tensor_names": list(entry.input_tensor_names),
                        "shape": [int(dim) for dim in entry.shape]}
                 for name, entry in self.host_concat_config.items()})
        return config


class PackRunnerConfig(_Settings):
    """Settings of a PackRunner, which packs samples of different lengths into the rows of a batch.
    Without a mode, samples follow each other across the ends of rows."""

    _rows = {
        "timeout_microseconds": (0, "timeout_microseconds"),
        "max_valid_num": (0, "max_valid_num"),
        "dynamic_input_name": ("", "dynamic_input_name"),
        "unpack_info_input_name": ("", "unpack_info_input_name"),
        "compile_batch_size": (-1, "compile_batch_size"),
        "mask_name": ("", "mask_name"),
        "dynamic_group": (list, "dynamic_group"),
        "algorithm": (PackAlgorithm.next_fit, "pack_algorithm"),
        "disable_data_across_rows": (False, "disable_data_across_rows"),
        "enable_padding_remove": (False, "enable_padding_remove"),
        "delimiter_num": (0, "delimiter_num"),
        "check_package_hash": (True, "check_package_hash"),
        "ring_buffer_size_multiplier": (2, "ring_buffer_size_multiplier"),
        "enable_prefetch_datastreams": (True, ""),
        "device_wait_config": (DeviceWaitConfig, ""),
        "runner_type": (RunnerType.PackRunner, None),
    }
    _aliases = {"algorithom": "algorithm", "timeout_in_microseconds": "timeout_microseconds"}

    def __init__(self, timeout_microseconds=0, max_valid_num=0, dynamic_input_name="",
                 unpack_info_input_name=""):
        super().__init__()
        self.timeout_microseconds = timeout_microseconds
        self.max_valid_num = max_valid_num
        self.dynamic_input_name = dynamic_input_name
        self.unpack_info_input_name = unpack_info_input_name

    def enable_input_single_row_mode(self, mask, unpack_info="", delimiters=0):
        """Keeps each sample in one row, with ``delimiters`` zeros between two samples; the input
        ``mask`` gets the numbers of the samples."""
        self.disable_data_across_rows = True
        self.mask_name = mask
        if unpack_info:
            self.unpack_info_input_name = unpack_info
        self.delimiter_num = delimiters

    def enable_padding_remove_mode(self, mask, names):
        """Removes the padding of the inputs ``names``: it begins behind the last element of
        ``mask`` that is not 0."""
        self.enable_padding_remove = True
        self.mask_name = mask
        self.dynamic_group = list(names)

    enableSingleRowMode = enable_input_single_row_mode
    enablePaddingRemovePattern = enable_padding_remove_mode


# ---- data

class DataDesc:
    """Description of an input or output."""

    def __init__(self, row):
        self.name, self._code, dims, self.size_in_bytes = row[:4]
        self.shape = list(dims)
        self.popef_contains_tensor_data = bool(row[5])

    @property
    def data_type(self):
        """The element type, a popef.DataType; None for a type that PopEF lacks."""
        import popef
        try:
            return popef.numpyDTypeToPopefType(self.numpy_data_type())
        except ValueError:
            return None

    def numpy_data_type(self):
        """Returns the numpy dtype."""
        return _arrays.numpy_dtype(self._code)

    sizeInBytes = property(lambda self: self.size_in_bytes)
    dataType = property(lambda self: self.data_type)
    popefContainsTensorData = property(lambda self: self.popef_contains_tensor_data)

    def __repr__(self):
        return f"DataDesc({self.name!r}, {self.shape}, {self.numpy_data_type()})"


class InputMemoryView(dict):
    """Names and arrays, or buffers, of inputs."""


class OutputMemoryView(dict):
    """Names and arrays of outputs, which are written in place."""


class OutputFutureMemoryView:
    """A request that was queued. The arrays are kept until it is finished, also if nobody waits."""

    def __init__(self, request, outputs):
        self._request = request
        self._outputs = outputs

    def wait(self, timeout=None):
        """Waits until the request is finished, at most ``timeout`` seconds, and raises its error.
        Returns whether it is finished."""
        if not self._request.wait(timeout):
            return False
        self._request.result()
        return True

    def get(self):
        """Waits, and returns the outputs that were given."""
        self.wait()
        return self._outputs

    def done(self):
        """Tells whether the request is finished."""
        return self._request.wait(0)

    def cancel(self):
        """Asks the request to end soon; ``wait`` then raises poprt.Cancelled."""
        self._request.cancel()


# ---- runners

def _open(popef):
    """The executable of a path, a list of paths, bytes, an Executable or a popef.Model."""
    if isinstance(popef, Executable):
        return popef
    if hasattr(popef, "to_bytes") and hasattr(popef, "metadata"):
        popef = popef.to_bytes()
    if isinstance(popef, (list, tuple)):
        return Executable(popef)
    return Executable.load(popef, _config.Config(threads=0))


class _BaseRunner:
    """What all runners have."""

    _kind = "model"
    _config_type = RuntimeConfig

    def __init__(self, popef, config=None):
        config = self._config_type() if config is None else config
        if not isinstance(config, self._config_type):
            raise TypeError(f"{type(self).__name__} needs a {self._config_type.__name__}, not a "
                            f"{type(config).__name__}")
        self._executable = _open(popef)
        options = config._config()
        options["runner_type"] = self._kind
        self._core = _core.Runner(self._executable._core,
                                  options.handle(self._executable._env))
        self._dtypes = {row[0]: row[1] for direction in (_INPUT, _OUTPUT)
                        for row in self._core.io(_EXECUTE, direction)}

    def _values(self, values):
        """Gives bytes and untyped buffers the type of their tensor."""
        if not isinstance(values, dict):
            values = dict(values)
        plain = [name for name, value in values.items()
                 if isinstance(value, (bytes, bytearray, memoryview))]
        if plain:
            values = dict(values)
            for name in plain:
                if name in self._dtypes and memoryview(values[name]).format in ("B", "b", "c"):
                    values[name] = np.frombuffer(values[name],
                                                 _arrays.numpy_dtype(self._dtypes[name]))
        return values

    def execute(self, inputs, outputs, replica_id=0):
        """Runs a request: dicts of names and arrays. Outputs are written in place."""
        self._core.execute(self._values(inputs), self._values(outputs), replica_id)

    def execute_async(self, inputs, outputs, replica_id=0):
        """Queues a request, whose arrays are in use until it is finished. Returns an object with
        ``wait()``, ``get()`` and ``done()``."""
        request = self._core.submit(self._values(inputs), self._values(outputs), replica_id)
        return OutputFutureMemoryView(request, outputs)

    executeAsync = execute_async

    def _list(self, which, direction):
        return [DataDesc(row) for row in self._core.io(which, direction)]

    def get_execute_inputs(self):
        """Lists the inputs of requests: DataDescs."""
        return self._list(_EXECUTE, _INPUT)

    def get_execute_outputs(self):
        """Lists the outputs of requests: DataDescs."""
        return self._list(_EXECUTE, _OUTPUT)

    def get_model_inputs(self):
        """Lists the inputs of the compiled model: DataDescs."""
        rows = self._list(_EXECUTABLE if self._lists_model else _EXECUTE, _INPUT)
        return [row for row in rows if self._lists_weights or not row.popef_contains_tensor_data]

    def get_model_outputs(self):
        """Lists the outputs of the compiled model: DataDescs."""
        return self._list(_EXECUTABLE if self._lists_model else _EXECUTE, _OUTPUT)

    _lists_model = False
    _lists_weights = False
    getExecuteInputs = get_execute_inputs
    getExecuteOutputs = get_execute_outputs
    getModelInputs = get_model_inputs
    getModelOutputs = get_model_outputs

    def statistics(self):
        """What the runner has done so far: a dict of counters."""
        return self._core.stats()

    def close(self):
        """Ends the runner. Requests that still wait end with poprt.Cancelled."""
        self._core.close()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()


class ModelRunner(_BaseRunner):
    """Runs an executable. A request has N times the batch of the model, or with ``batching_dim``
    any number of rows."""


class ModelFusionRunner(_BaseRunner):
    """Runs a fused model: a request has the inputs and outputs of one graph."""
    _kind = "fusion"


class LightRunner(_BaseRunner):
    """Runs requests on the calling thread, without a queue, and can replace weights."""
    _kind = "light"
    _config_type = LightRunnerConfig
    _lists_model = True
    _lists_weights = True

    def set_input_anchor(self, name, array):
        """Stages a weight for ``update_weights``."""
        self._core.set_weight(name, array)

    def update_weights(self):
        """Makes all staged weights current."""
        self._core.update_weights()

    def stop(self):
        """Releases the memory of the model, until ``reload``."""
        self._core.stop()

    def reload(self):
        """Loads the model again, with the weights of the last update."""
        self._core.reload()

    setInputAnchor = set_input_anchor
    updateWeights = update_weights


class PackRunner(_BaseRunner):
    """Packs samples of different lengths into the rows of a batch; a request is one sample."""
    _kind = "pack"
    _config_type = PackRunnerConfig
    _lists_model = True


class HostConcatRunner(_BaseRunner):
    """Runs a model of the pass apply_host_concat_split with the inputs that it had before."""
    _kind = "host_concat"
    _config_type = HostConcatRunnerConfig
    _lists_model = True


_BY_CONFIG = {PackRunnerConfig: PackRunner, LightRunnerConfig: LightRunner,
              HostConcatRunnerConfig: HostConcatRunner}


def new_outputs(runner, inputs):
    """Makes arrays for all outputs of a request, for as many batches as its inputs have."""
    times = 1
    for desc in runner.get_execute_inputs():
        if desc.name in inputs and desc.size_in_bytes > 0:
            size = memoryview(np.ascontiguousarray(inputs[desc.name])).nbytes
            times = max(1, size // desc.size_in_bytes)
            break
    made = OutputMemoryView()
    for desc in runner.get_execute_outputs():
        shape = list(desc.shape)
        if shape:
            shape[0] *= times
        made[desc.name] = np.empty(shape, desc.numpy_data_type())
    return made


def Runner(popef, config=None):
    """Makes the runner of a PopEF file or Executable: the kind follows from the type of ``config``,
    and from whether the model is fused."""
    executable = _open(popef)
    config = RuntimeConfig() if config is None else config
    runner = _BY_CONFIG.get(type(config))
    if runner is None:
        if not isinstance(config, RuntimeConfig):
            raise TypeError(f"config is a RuntimeConfig or PackRunnerConfig, not a "
                            f"{type(config).__name__}")
        if config.runner_type == RunnerType.PackRunner:
            raise ValueError("a PackRunner needs a PackRunnerConfig")
        fused = executable._core.graph_count() > 0
        if config.runner_type == RunnerType.ModelFusionRunner and not fused:
            raise ValueError("a ModelFusionRunner needs a fused model")
        runner = ModelFusionRunner if fused else ModelRunner
    return runner(executable, config)
