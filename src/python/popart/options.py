# SPDX-License-Identifier: MIT
"""SessionOptions and its parts."""

from . import enums
from .enums import (AccumulateOuterFragmentSchedule, AutodiffStitchStrategy,
                    BatchSerializationBatchSchedule, BatchSerializationMethod,
                    BatchSerializationTransformContext, CommGroupType, Enum,
                    ExecutionPhaseIOSchedule, ExecutionPhaseSchedule,
                    GradientTensorTrackingMethod, Instrumentation, MeanReductionStrategy,
                    MergeVarUpdateType, RecomputationType, ReductionType, ReplicatedTensorSharding,
                    SubgraphCopyingStrategy, SyntheticDataMode, TensorStorage, TileSet,
                    VirtualGraphMode)
from .errors import popart_exception
from .variables import CommGroup


def _check(owner, name, value, example):
    """Raises TypeError if a value does not have the type of the default."""
    if isinstance(example, Enum):
        if type(value) is type(example):
            return value
    elif isinstance(example, bool):
        if isinstance(value, (bool, int)):
            return bool(value)
    elif isinstance(example, int):
        if hasattr(value, "__index__"):
            return int(value)
    elif isinstance(example, float):
        if isinstance(value, (int, float)) or hasattr(value, "__float__"):
            return float(value)
    elif isinstance(example, str):
        if isinstance(value, str):
            return value
    elif isinstance(example, dict):
        if isinstance(value, dict):
            return dict(value)
    elif isinstance(example, set):
        if isinstance(value, (set, list, tuple, frozenset)):
            return set(value)
    elif isinstance(example, list):
        if isinstance(value, (list, tuple)):
            return list(value)
    elif example is None or isinstance(value, type(example)):
        return value
    raise TypeError(f"{owner}.{name} is of type {type(example).__name__}; it cannot be {value!r}")


class Struct:
    """Fields with defaults. An unknown field raises AttributeError, a value of another type
    TypeError."""

    _FIELDS = {}

    def __init__(self, *args, **kwargs):
        fields = self._FIELDS
        if len(args) > len(fields):
            raise TypeError(f"__init__(): incompatible constructor arguments. "
                            f"{type(self).__name__} has {len(fields)} fields")
        for name, default in fields.items():
            object.__setattr__(self, name, _copy(default))
        given = dict(zip(fields, args))
        given.update(kwargs)
        for name, value in given.items():
            if name not in fields:
                raise TypeError(f"__init__(): incompatible constructor arguments. "
                                f"{type(self).__name__} has no field {name!r}")
            setattr(self, name, value)

    def __setattr__(self, name, value):
        if name not in self._FIELDS:
            raise AttributeError(f"{type(self).__name__} has no field {name!r}")
        object.__setattr__(self, name, _check(type(self).__name__, name, value,
                                              self._FIELDS[name]))

    def __eq__(self, other):
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = None

    def __repr__(self):
        return f"{type(self).__name__}(" + ", ".join(
            f"{name}={getattr(self, name)!r}" for name in self._FIELDS) + ")"

    def _changed(self):
        return {name: getattr(self, name) for name, default in self._FIELDS.items()
                if getattr(self, name) != default}


def _copy(value):
    if isinstance(value, (dict, set, list)):
        return type(value)(value)
    if isinstance(value, Struct):
        return type(value)(**{name: _copy(getattr(value, name)) for name in value._FIELDS})
    return value


class NumIOTiles:
    """Number of IO tiles; it has no effect on a processor."""

    def __init__(self, numIOTiles=0):
        self.numIOTiles = int(numIOTiles)

    def __int__(self):
        return self.numIOTiles

    __index__ = __int__

    def __eq__(self, other):
        return int(self) == int(other)

    __hash__ = None


class TensorLocation(Struct):
    """Place of a tensor: ``([storage[, replicatedTensorSharding[, shardingDomain]]])`` or
    ``(storage, loadTileSet, storageTileSet, replicatedTensorSharding[, shardingDomain])``."""

    _FIELDS = {"storage": TensorStorage.OnChip, "loadTileSet": TileSet.Compute,
               "storageTileSet": TileSet.Compute,
               "replicatedTensorSharding": ReplicatedTensorSharding.Off,
               "shardingDomain": CommGroup(CommGroupType.All, 0)}

    def __init__(self, *args, **kwargs):
        named = {}
        args = list(args)
        for value in args:
            if isinstance(value, TensorStorage):
                named["storage"] = value
            elif isinstance(value, TileSet):
                named["storageTileSet" if "loadTileSet" in named else "loadTileSet"] = value
            elif isinstance(value, ReplicatedTensorSharding):
                named["replicatedTensorSharding"] = value
            elif isinstance(value, CommGroup):
                named["shardingDomain"] = value
            elif isinstance(value, list) and len(value) >= 4:
                named["storage"] = TensorStorage(value[0])
                named["loadTileSet"], named["storageTileSet"] = TileSet(value[1]), TileSet(value[2])
                named["replicatedTensorSharding"] = ReplicatedTensorSharding(value[3])
            else:
                raise TypeError("__init__(): incompatible constructor arguments for TensorLocation")
        named.update(kwargs)
        super().__init__(**named)

    def serialize(self):
        """The fields as a list of whole numbers."""
        return [int(self.storage), int(self.loadTileSet), int(self.storageTileSet),
                int(self.replicatedTensorSharding), int(self.shardingDomain.type),
                int(self.shardingDomain.replicaGroupSize)]


class TensorLocationSettings(Struct):
    """Places of the tensors of a kind: ``(location or storage, minElementsForOffChip,
    minElementsForReplicatedTensorSharding)``."""

    _FIELDS = {"location": TensorLocation(), "minElementsForOffChip": 2,
               "minElementsForReplicatedTensorSharding": 8192}

    def __init__(self, *args, **kwargs):
        args = [TensorLocation(a) if isinstance(a, TensorStorage) else a for a in args]
        if "storage" in kwargs:
            kwargs["location"] = TensorLocation(kwargs.pop("storage"))
        super().__init__(*args, **kwargs)


class AutomaticLossScalingSettings(Struct):
    """Settings of automatic loss scaling."""

    _FIELDS = {"enabled": False, "toTrackTensors": None, "binEdgeLocation": 0.125,
               "thresholdUpperCountProportion": 1e-7, "updatePeriod": 1,
               "gradientTensorTrackingMethod":
               GradientTensorTrackingMethod.AllNonViewChangingGradientTensors}


class BatchSerializationSettings(Struct):
    """Settings of batch serialisation."""

    _FIELDS = {"factor": 0, "concatOnVirtualGraphChange": True,
               "concatOnExecutionPhaseChange": True, "concatOnPipelineStageChange": True,
               "transformContext": BatchSerializationTransformContext.Fwd,
               "method": BatchSerializationMethod.UnrollDynamic,
               "batchSchedule": BatchSerializationBatchSchedule.Isomorphic}


class ExecutionPhaseSettings(Struct):
    """Settings of execution phases."""

    _FIELDS = {"phases": 0, "stages": 2, "weightIOSchedule": ExecutionPhaseIOSchedule.Preload,
               "activationIOSchedule": ExecutionPhaseIOSchedule.Preload,
               "optimizerStateIOSchedule": ExecutionPhaseIOSchedule.OnDemand,
               "accumulatorIOSchedule": ExecutionPhaseIOSchedule.Preload,
               "schedule": ExecutionPhaseSchedule.Interleaving}

    def __init__(self, *args, **kwargs):
        if "optimizerSchedule" in kwargs:
            kwargs["schedule"] = kwargs.pop("optimizerSchedule")
        super().__init__(*args, **kwargs)


class AccumulateOuterFragmentSettings(Struct):
    """Settings of the outer fragment of gradient accumulation."""

    _FIELDS = {"schedule": AccumulateOuterFragmentSchedule.Serial, "excludedVirtualGraphs": []}


class AutodiffSettings(Struct):
    """Settings of differentiation."""

    _FIELDS = {"stitchStrategy": AutodiffStitchStrategy.RecomputeAllNonInputs}


class ReplicatedCollectivesSettings(Struct):
    """Settings of the merging of collectives."""

    _FIELDS = {"prepareScheduleForMergingCollectives": False, "mergeAllReduceCollectives": False,
               "mergeReduceScatterCollectives": False, "mergeAllGatherCollectives": False}




class ExperimentalSettings(Struct):
    """Experimental settings."""

    _FIELDS = {"customTransformApplierSettings": {}, "createHostTransferableTensorWithOffset": False}


class DeveloperSettings(Struct):
    """Settings for developers of PopART."""

    _FIELDS = {"timePartitionLoggerThresholdPercentage": 1.0}




_DEPRECATED = {"defaultPrefetchBufferingDepth": "defaultBufferingDepth",
               "prefetchBufferingDepthMap": "bufferingDepthMap"}


class SessionOptions(Struct):
    """Options of a session. Names and defaults are those of PopART; ``poprt options --names`` says
    what each does on a processor. An unknown name raises AttributeError."""

    _FIELDS = {
        "logDir": "", "dotChecks": set(), "firstDotOp": 0, "finalDotOp": 10000,
        "dotOpNames": False, "exportPoplarComputationGraph": False,
        "exportPoplarVertexGraph": False, "separateCallOpPdfs": True, "enableOutlining": True,
        "enableOutliningCopyCostPruning": True, "outlineThreshold": 1.0,
        "outlineSequenceBreakCost": 10000.0,
        "subgraphCopyingStrategy": SubgraphCopyingStrategy.OnEnterAndExit,
        "autoRecomputation": RecomputationType.NoRecompute,
        "mergeVarUpdate": MergeVarUpdateType.Off, "mergeVarUpdateMemThreshold": 1000000,
        "looseThresholdAtPeak": 8000, "rearrangeAnchorsOnHost": True,
        "rearrangeStreamsOnHost": False, "enablePrefetchDatastreams": True,
        "defaultBufferingDepth": 1, "bufferingDepthMap": {}, "enableNonStableSoftmax": False,
        "enableReplicatedGraphs": False, "replicatedGraphCount": 1,
        "enableGradientAccumulation": False, "accumulationFactor": 1,
        "accumulationAndReplicationReductionType": ReductionType.Sum,
        "meanAccumulationAndReplicationReductionStrategy": MeanReductionStrategy.Post,
        "virtualGraphMode": VirtualGraphMode.Off, "virtualGraphSplitRatios": [],
        "enablePipelining": False, "syntheticDataMode": SyntheticDataMode.Off,
        "instrumentWithHardwareCycleCounter": False,
        "hardwareInstrumentations": {Instrumentation.Outer},
        "disableGradAccumulationTensorStreams": False,
        "disableOptimizerStateTensorStreams": False, "compileEngine": True,
        "constantWeights": True, "enableEngineCaching": False, "enableVariablesCaching": True,
        "cachePath": "session_cache", "enableFloatingPointChecks": False,
        "enableStochasticRounding": False, "executionPhaseSettings": ExecutionPhaseSettings(),
        "accumulateOuterFragmentSettings": AccumulateOuterFragmentSettings(),
        "explicitRecomputation": False, "numIOTiles": 0, "aliasZeroCopy": False,
        "batchSerializationSettings": BatchSerializationSettings(),
        "autodiffSettings": AutodiffSettings(), "delayVarUpdates": True,
        "scheduleNonWeightUpdateGradientConsumersEarly": False, "enableFullyConnectedPass": True,
        "enableSerializedMatmuls": True, "partialsTypeMatMuls": "", "enableStableNorm": False,
        "engineOptions": {}, "convolutionOptions": {}, "lstmOptions": {}, "matmulOptions": {},
        "reportOptions": {}, "gclOptions": {}, "experimentalSettings": ExperimentalSettings(),
        "customCodelets": [], "customCodeletCompileFlags": "", "updatableNamedBuffers": [],
        "timeLimitScheduler": 1e9, "swapLimitScheduler": 1000000000,
        "serializedPoprithmsShiftGraphsDir": "", "serializedPoprithmsAnnealGraphsDir": "",
        "kahnTieBreaker": "greedy", "transitiveClosureOptimizationThreshold": 100000,
        "decomposeGradSum": False,
        "replicatedCollectivesSettings": ReplicatedCollectivesSettings(),
        "enableDistributedReplicatedGraphs": False, "globalReplicationFactor": 1,
        "globalReplicaOffset": 0, "groupHostSync": False, "strictOpVersions": True,
        "opxAliasChecking": False, "opxModifyChecking": False, "useHostCopyOps": False,
        "enableExplicitMainLoops": False, "enableEfficientOverlapIOTopoCons": False,
        "enableLoadAndOffloadRNGState": False,
        "activationTensorLocationSettings": TensorLocationSettings(),
        "weightTensorLocationSettings": TensorLocationSettings(),
        "optimizerStateTensorLocationSettings": TensorLocationSettings(),
        "accumulatorTensorLocationSettings": TensorLocationSettings(),
        "tensorLocationSettingsOverride": {},
        "automaticLossScalingSettings": AutomaticLossScalingSettings(),
        "developerSettings": DeveloperSettings(), "enableSupportedDataTypeCasting": True,
        "groupNormStridedChannelGrouping": False, "compilationProgressLogger": None,
        "compilationProgressTotal": 100, "enableMergeExchange": True,
        "ensureFp32LossScaleTensor": False, "enableInplaceAmbiguityChecking": False,
        "createImplicitPipeliningFwdOnlyProgram": False, "throwIfLog2ScaleTensorNotInRange": True,
        "enableConstantFoldingOfMultipleConsumers": True, "useLoopCandidateCreator": False,
        "stashAllTensorsInferencePipeline": False, "_enableRngStateManagement": False,
    }

    def __init__(self):
        super().__init__()
        import os
        folder = os.environ.get("POPXL_CACHE_DIR") or os.environ.get("POPART_CACHE_DIR")
        if folder:
            self.enableEngineCaching = True
            self.cachePath = folder

    def __setattr__(self, name, value):
        if name == "numIOTiles":
            value = int(value)
        if name in _DEPRECATED:
            from .logger import getLogger
            getLogger("session").warn(f"{name} has been deprecated; use {_DEPRECATED[name]}")
            name = _DEPRECATED[name]
        super().__setattr__(name, value)

    def _earlier(self, name):
        from .logger import getLogger
        getLogger("session").warn(f"{name} has been deprecated; use {_DEPRECATED[name]}")
        return getattr(self, _DEPRECATED[name])

    @property
    def defaultPrefetchBufferingDepth(self):
        """Earlier name of defaultBufferingDepth."""
        return self._earlier("defaultPrefetchBufferingDepth")

    @property
    def prefetchBufferingDepthMap(self):
        """Earlier name of bufferingDepthMap."""
        return self._earlier("prefetchBufferingDepthMap")

    def enableExplicitIR(self, enable):
        """Switches the options of explicit graphs on or off."""
        self.useHostCopyOps = self.enableExplicitMainLoops = bool(enable)
        self.explicitRecomputation = bool(enable)

    def getGlobalReplicationFactor(self):
        """Replicas of all processes."""
        if self.enableDistributedReplicatedGraphs:
            return self.globalReplicationFactor
        return self.replicatedGraphCount if self.enableReplicatedGraphs else 1

    # ---- for sessions

    def replicas(self):
        """Replicas of this process."""
        return self.replicatedGraphCount if self.enableReplicatedGraphs else 1

    def check(self, training):
        """Raises for combinations that no session has."""
        if self.accumulationFactor > 1 and not self.enableGradientAccumulation:
            raise popart_exception("accumulationFactor is above 1, but enableGradientAccumulation is "
                                   "off")
        if self.enableGradientAccumulation and not training:
            raise popart_exception("gradient accumulation is only available when training")
        if self.replicatedGraphCount > 1 and not self.enableReplicatedGraphs:
            raise popart_exception("replicatedGraphCount is above 1, but enableReplicatedGraphs is "
                                   "off")
        if self.enableExplicitMainLoops and not self.useHostCopyOps:
            raise popart_exception("enableExplicitMainLoops needs useHostCopyOps")
        if self.defaultBufferingDepth < 1:
            raise popart_exception(f"defaultBufferingDepth is {self.defaultBufferingDepth}; it must "
                                   "be above 0")

    def keys(self):
        """Options that differ from their defaults, as keys and texts of the library."""
        result = []
        for name, value in self._changed().items():
            if name in _ELSEWHERE:
                continue
            if isinstance(value, Struct):
                result += [(f"{name}.{field}", _text(inner))
                           for field, inner in value._changed().items()
                           if name not in _WHOLE] if name not in _WHOLE else [(name, repr(value))]
            else:
                result.append((name, _text(value)))
        return result


# Fields that sessions use themselves, or that have no key.
_ELSEWHERE = {"compilationProgressLogger", "compilationProgressTotal", "_enableRngStateManagement",
              "experimentalSettings", "serializedPoprithmsAnnealGraphsDir", "logDir",
              "enableSupportedDataTypeCasting", "developerSettings", "enableGradientAccumulation",
              "accumulationFactor", "enableEngineCaching", "cachePath"}
# Structs that have one key.
_WHOLE = {"executionPhaseSettings", "activationTensorLocationSettings",
          "weightTensorLocationSettings", "optimizerStateTensorLocationSettings",
          "accumulatorTensorLocationSettings"}

_WORDS = {"NoRecompute": "None", "NoReduction": "NoReduction"}


def _text(value):
    import json
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Enum):
        if isinstance(value, (enums.RecomputationType,)):
            return _WORDS.get(value.name, value.name)
        if isinstance(value, MergeVarUpdateType) and value.name == "Off":
            return "None"
        return value.name
    if isinstance(value, dict):
        return json.dumps({str(k): str(v) for k, v in value.items()})
    if isinstance(value, (set, list)):
        return ",".join(sorted(map(_text, value)) if isinstance(value, set) else map(_text, value))
    return str(value)
