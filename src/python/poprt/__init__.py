# SPDX-License-Identifier: MIT
"""libpoprt for Python: reads, converts, compiles and runs ONNX models on processors, and trains
them.

``poprt.InferenceSession`` has the interface of onnxruntime; ``poprt.Model``, ``Executable`` and
``Session`` are those of the C library; ``poprt.Converter``, ``poprt.compiler``, ``poprt.runtime``
and the rest are those of PopRT. The packages popart, popef and model_runtime come with it.
"""

import numpy as _numpy

from . import _arrays, _core, errors

_core.setup(errors.make, _arrays.convert, _arrays.wrap, _numpy.empty, _arrays.DTYPES)

from . import config as _config_module
from ._env import log, plugins, register_plugin, set_log_callback
from .config import Config, options
from .errors import (Cancelled, Error, FileError, InvalidArgument, LimitError, NotFound,
                     OutOfMemory, ParseError, PluginError, StateError, Unsupported, VersionError)
from .inference import (ExecutionMode, GraphOptimizationLevel, InferenceSession, IOBinding, NodeArg,
                        OrtValue, RunOptions, SessionOptions, get_all_providers,
                        get_available_providers, get_device)
from .model import Executable, Model, Session, ValueInfo

__version__ = _core.version

# Packages that are loaded when they are first used.
_MODULES = frozenset((
    "_argparse", "_names", "backend", "builder", "cli", "compat", "compiler", "converter", "frontend",
    "optimizer", "ort", "passes", "profile", "quantizer", "runtime", "utils"))
# Names of these packages.
_NAMES = {
    "Builder": "builder", "Optimizer": "builder", "Tensor": "builder", "Weights": "builder",
    "Backend": "backend", "Converter": "converter", "Compiler": "compiler",
    "CompilerOptions": "compiler", "Pass": "passes", "PassManager": "passes",
    "get_registered_passes": "passes",
}


def __getattr__(name):
    import importlib
    if name in _MODULES:
        return importlib.import_module("." + name, __name__)
    if name in _NAMES:
        value = getattr(importlib.import_module("." + _NAMES[name], __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'poprt' has no attribute {name!r}")


def __dir__():
    return sorted(set(globals()) | _MODULES | set(_NAMES))


def statistics():
    """Counters since import: models read and built, nodes built, passes run, compilations,
    executables read, sessions, runs."""
    return _core.statistics()


def pass_options(name):
    """Lists the options of a pass: dicts with name, kind, default and help."""
    return [dict(zip(("name", "kind", "default", "help"), row)) for row in _core.pass_options(name)]
