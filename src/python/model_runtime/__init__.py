# SPDX-License-Identifier: MIT
"""Graphcore's Model Runtime: runs PopEF files, on the runners of poprt."""

import enum
import os
from datetime import timedelta

import poprt.runtime as _runtime
from poprt.runtime import DeviceManager, InputMemoryView, OutputMemoryView

__all__ = ["DeviceManager", "DeviceWaitConfig", "DeviceWaitStrategy", "InputMemoryView",
           "ModelRunner", "ModelRunnerConfig", "OutputFutureMemoryView", "OutputMemoryView",
           "PopefPaths"]


class DeviceWaitStrategy(enum.Enum):
    """How to wait for a device."""
    NO_WAIT = 0
    WAIT_WITH_TIMEOUT = 1
    WAIT_FOREVER = 2


class DeviceWaitConfig(_runtime.DeviceWaitConfig):
    """How long to wait for a device, and between attempts; a processor is always there."""

    def __init__(self, strategy=DeviceWaitStrategy.NO_WAIT, timeout=timedelta(),
                 sleepTime=timedelta()):
        super().__init__(timeout.total_seconds(), sleepTime.total_seconds())
        self.strategy = DeviceWaitStrategy(strategy)
        self.timeout = timeout
        self.sleepTime = sleepTime


class ModelRunnerConfig(_runtime.RuntimeConfig):
    """Settings of a ModelRunner."""

    _rows = {**_runtime.RuntimeConfig._rows, "replication_factor": (1, ""),
             "device_wait_config": (DeviceWaitConfig, "")}


class PopefPaths(list):
    """Paths of the files of a model."""

    def __init__(self, paths=()):
        super().__init__([paths] if isinstance(paths, (str, os.PathLike)) else paths)


class OutputFutureMemoryView:
    """A request that was queued: ``wait()``, and then the memory of each output by its name."""

    def __init__(self, future):
        self._future = future

    def wait(self):
        """Waits until the request is finished, and raises its error."""
        self._future.wait()

    def __getitem__(self, name):
        return self._future.get()[name]

    def keys(self):
        """Names of the outputs."""
        return self._future._outputs.keys()

    def __iter__(self):
        return iter(self._future._outputs)

    def __len__(self):
        return len(self._future._outputs)


class ModelRunner:
    """Runs a model: a path, a list of paths, PopefPaths, or a popef.Model."""

    def __init__(self, paths, config=None):
        config = ModelRunnerConfig() if config is None else config
        if not isinstance(config, ModelRunnerConfig):
            raise TypeError(f"config is a ModelRunnerConfig, not a {type(config).__name__}")
        if isinstance(paths, list) and len(paths) == 1:
            paths = paths[0]
        executable = _runtime._open(paths)
        fused = executable._core.graph_count() > 0
        kind = _runtime.ModelFusionRunner if fused else _runtime.ModelRunner
        self._runner = kind(executable, config)

    def getExecuteInputs(self):
        """Lists the inputs: objects with name, shape, data_type and size_in_bytes."""
        return self._runner.get_execute_inputs()

    def getExecuteOutputs(self):
        """Lists the outputs likewise."""
        return self._runner.get_execute_outputs()

    def _outputs(self, inputs, outputs):
        return _runtime.new_outputs(self._runner, inputs) if outputs is None else outputs

    def execute(self, inputs, outputs=None, replica_id=0):
        """Runs a request. Without ``outputs`` it returns them: names and arrays."""
        result = self._outputs(inputs, outputs)
        self._runner.execute(inputs, result, replica_id)
        return result

    def executeAsync(self, inputs, outputs=None, replica_id=0):
        """Queues a request; see OutputFutureMemoryView."""
        result = self._outputs(inputs, outputs)
        return OutputFutureMemoryView(self._runner.execute_async(inputs, result, replica_id))

    def close(self):
        """Ends the runner."""
        self._runner.close()
