# SPDX-License-Identifier: MIT
# Made by tests/python/stubs.py.
from typing import Any

from enum import Enum as Enum
from poprt.runtime import DeviceManager as DeviceManager
from poprt.runtime import InputMemoryView as InputMemoryView
from poprt.runtime import OutputMemoryView as OutputMemoryView
from poprt.runtime import RuntimeConfig as RuntimeConfig
import poprt.runtime

class DeviceWaitStrategy(Enum):
    NO_WAIT = 0
    WAIT_WITH_TIMEOUT = 1
    WAIT_FOREVER = 2

class DeviceWaitConfig(poprt.runtime.DeviceWaitConfig):
    sleepTime: Any
    sleep_time_sec: float
    strategy: Any
    timeout: Any
    timeout_sec: float
    def __init__(self, strategy=..., timeout=..., sleepTime=...): ...

class ModelRunnerConfig(RuntimeConfig):
    auto_reset: bool
    batch_size_timeout_ns: int
    batching_dim: int
    check_package_hash: bool
    data_parallel_timeout_ns: int
    device_wait_config: Any
    flush_by_name: Any
    flush_on_waiting_outputs: bool
    is_batch_size_timeout_enabled: bool
    replica_to_device: Any
    replication_factor: int
    request_tracepoints_buffer_size: int
    ring_buffer_size_multiplier: int
    runner_type: Any
    thread_safe: bool
    timeout_ns: int
    validate_io_params: bool
    def __init__(self): ...

class PopefPaths(list):
    def __init__(self, paths=...): ...

class OutputFutureMemoryView:
    def __init__(self, future): ...
    def wait(self): ...
    def __getitem__(self, name): ...
    def keys(self): ...
    def __iter__(self): ...
    def __len__(self): ...

class ModelRunner:
    def __init__(self, paths, config=None): ...
    def getExecuteInputs(self): ...
    def getExecuteOutputs(self): ...
    def execute(self, inputs, outputs=None, replica_id=0): ...
    def executeAsync(self, inputs, outputs=None, replica_id=0): ...
    def close(self): ...
