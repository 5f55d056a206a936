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


def statistics():
    """Counters since import: models read and built, nodes built, passes run, compilations,
    executables read, sessions, runs."""
    return _core.statistics()


def pass_options(name):
    """Lists the options of a pass: dicts with name, kind, default and help."""
    return [dict(zip(("name", "kind", "default", "help"), row)) for row in _core.pass_options(name)]
