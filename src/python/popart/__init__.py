# SPDX-License-Identifier: MIT
"""PopART's interface over libpoprt: models are built, run and trained on the processor."""

import poprt as _poprt

from . import builder, enums, prefixes, session, tensorinfo
from .builder import (AiGraphcoreOpset1, AiOnnxMlOpset1, AiOnnxOpset6, AiOnnxOpset7, AiOnnxOpset8,
                      AiOnnxOpset9, AiOnnxOpset10, AiOnnxOpset11, Builder)
from .dataflow import AnchorReturnType, DataFlow, InputSettings, InputShapeInfo
from .debug import (DebugContext, DebugInfo, SourceLocation, closePoplarDebugInfo,
                    initializePoplarDebugInfo)
from .device import DeviceInfo, DeviceManager
from .enums import *
from .errors import (OutOfMemoryError, OutOfMemoryException, poplar_application_runtime_error,
                     poplar_exception, poplar_recoverable_runtime_error, poplar_runtime_error,
                     poplar_system_runtime_error, poplar_unknown_runtime_error,
                     poplar_unrecoverable_runtime_error, poplibs_exception, popart_exception,
                     popart_internal_exception, popart_runtime_error)
from .logger import Logger, getLogger
from .optimizer import (SGD, Adam, Adaptive, ClipNormSettings, ConstSGD, Optimizer, OptimizerValue,
                        OptimizerValueMap)
from .options import (AccumulateOuterFragmentSettings, AutodiffSettings,
                      AutomaticLossScalingSettings, BatchSerializationSettings, DeveloperSettings,
                      ExecutionPhaseSettings, ExperimentalSettings, NumIOTiles,
                      ReplicatedCollectivesSettings, SessionOptions, TensorLocation,
                      TensorLocationSettings)
from .patterns import Patterns
from .session import InferenceSession, TrainingSession
from .stepio import PyStepIO, PyStepIOCallback, PyWeightsIO
from .supported import (getSupportedOperations, getSupportedOperationsDefinition,
                        getUnsupportedOperations)
from .tensorinfo import TensorInfo, getTensorInfo
from .transformer import GraphTransformer
from .variables import CommGroup, ReplicaGrouping, VariableSettings

for _name in enums.NAMES:
    globals()[_name] = getattr(enums, _name)
for _name in prefixes.NAMES:
    globals()[_name] = getattr(prefixes, _name)

defaultAiOnnxOpset = 10
defaultAiOnnxMlOpset = 1
defaultAiGraphcoreOpset = 1



def versionNumber():
    """The version of PopART whose interface this is."""
    return 3, 4, 0


def versionString():
    """The version of PopART whose interface this is, and that of the library."""
    return "3.4.0 (libpoprt " + _poprt.__version__ + ")"


def packageHash():
    """A text that differs between versions."""
    return "libpoprt-" + _poprt.__version__


def syncPatternFromString(text):
    """SyncPattern of a name."""
    for pattern in enums.SyncPattern:
        if pattern.name.lower() == text.lower():
            return pattern
    raise popart_exception(f"no sync pattern {text!r}; accepted: Full, SinglePipeline, "
                           "ReplicaAndLadder")


def syncPatternToString(pattern):
    """Name of a SyncPattern."""
    return pattern.name
