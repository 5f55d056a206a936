# SPDX-License-Identifier: MIT
# Made by tests/python/stubs.py.
from typing import Any

from . import _argparse as _argparse
from . import _names as _names
from . import backend as backend
from . import builder as builder
from . import cli as cli
from . import compat as compat
from . import compiler as compiler
from . import converter as converter
from . import frontend as frontend
from . import optimizer as optimizer
from . import ort as ort
from . import passes as passes
from . import profile as profile
from . import quantizer as quantizer
from . import runtime as runtime
from . import utils as utils
from .backend import Backend as Backend
from .builder import Builder as Builder
from .builder import Optimizer as Optimizer
from .builder import Tensor as Tensor
from .builder import Weights as Weights
from .compiler import Compiler as Compiler
from .compiler import CompilerOptions as CompilerOptions
from .converter import Converter as Converter
from .passes import Pass as Pass
from .passes import PassManager as PassManager
from .passes import get_registered_passes as get_registered_passes
from poprt._env import log as log
from poprt._env import plugins as plugins
from poprt._env import register_plugin as register_plugin
from poprt._env import set_log_callback as set_log_callback
from poprt.config import Config as Config
from poprt.config import options as options
from poprt.errors import Cancelled as Cancelled
from poprt.errors import Error as Error
from poprt.errors import FileError as FileError
from poprt.errors import InvalidArgument as InvalidArgument
from poprt.errors import LimitError as LimitError
from poprt.errors import NotFound as NotFound
from poprt.errors import OutOfMemory as OutOfMemory
from poprt.errors import ParseError as ParseError
from poprt.errors import PluginError as PluginError
from poprt.errors import StateError as StateError
from poprt.errors import Unsupported as Unsupported
from poprt.errors import VersionError as VersionError
from poprt.inference import ExecutionMode as ExecutionMode
from poprt.inference import GraphOptimizationLevel as GraphOptimizationLevel
from poprt.inference import IOBinding as IOBinding
from poprt.inference import InferenceSession as InferenceSession
from poprt.inference import NodeArg as NodeArg
from poprt.inference import OrtValue as OrtValue
from poprt.inference import RunOptions as RunOptions
from poprt.inference import SessionOptions as SessionOptions
from poprt.inference import get_all_providers as get_all_providers
from poprt.inference import get_available_providers as get_available_providers
from poprt.inference import get_device as get_device
from poprt.model import Executable as Executable
from poprt.model import Model as Model
from poprt.model import Session as Session
from poprt.model import ValueInfo as ValueInfo
__version__: Any

def statistics(): ...

def pass_options(name): ...
