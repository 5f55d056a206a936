# SPDX-License-Identifier: MIT
"""Enumerations of PopART. A member is a class attribute: ``ReductionType.Sum``; ``int`` gives its
value, and it is equal to members of its own enumeration only."""


class _EnumType(type):
    def __iter__(cls):
        return iter(cls.__members__.values())

    def __len__(cls):
        return len(cls.__members__)


class Enum(metaclass=_EnumType):
    """Base of the enumerations."""

    __members__ = {}
    __slots__ = ("name", "value")

    def __new__(cls, value):
        for member in cls.__members__.values():
            if member.value == int(value):
                return member
        raise ValueError(f"{value} is not a member of {cls.__name__}; accepted: " +
                         ", ".join(f"{m.value} ({n})" for n, m in cls.__members__.items()))

    def __init__(self, value):
        pass

    def __setattr__(self, name, value):
        raise AttributeError(f"members of {type(self).__name__} cannot be changed")

    def __int__(self):
        return self.value

    __index__ = __int__

    def __eq__(self, other):
        return type(other) is type(self) and other.value == self.value

    def __hash__(self):
        return hash((type(self).__name__, self.value))

    def __repr__(self):
        return f"<{type(self).__name__}.{self.name}: {self.value}>"

    def __str__(self):
        return f"{type(self).__name__}.{self.name}"

    def __reduce__(self):
        return type(self), (self.value,)

    def __deepcopy__(self, memo):
        return self


# name: members, in the order of their values; NAME=N sets another value.
_TABLE = """
AccumulateOuterFragmentSchedule Scheduler Serial OverlapCycleOptimized OverlapMemoryOptimized
AutodiffStitchStrategy RecomputeMinimal RecomputeAllNonInputs AddFwdOutputs SafeAddFwdOutputs
BatchSerializationBatchSchedule Scheduler Isomorphic OverlapOnIo OverlapOnCompute
BatchSerializationMethod UnrollDynamic UnrollStatic Loop
BatchSerializationTransformContext Fwd=0 Bwd=1 Forward=0 Backward=1
CommGroupType All Consecutive Orthogonal Ungrouped
ExecutionPhaseIOSchedule Preload OnDemand
ExecutionPhaseSchedule Interleaving Batch BatchClusteredIO
GradientTensorTrackingMethod AllNonViewChangingGradientTensors ConvAndMatmulGradients GradientsOfUserSpecifiedTensors
Instrumentation Outer Inner
IrSerializationFormat JSON
MeanReductionStrategy Running Post
MergeVarUpdateType Off All AutoLoose AutoTight
RecomputationType NoRecompute Standard NormOnly Pipeline RecomputeAll
ReductionType Sum Mean NoReduction
ReplicatedTensorSharding Off On
SubgraphCopyingStrategy OnEnterAndExit JustInTime
SyntheticDataMode Off Zeros RandomNormal RandomUniform
TileSet Compute IO
VariableRetrievalMode OnePerGroup AllReduceReplicas AllReplicas
VirtualGraphMode Off Manual Auto ExecutionPhases
DataType UINT8 INT8 FLOAT8_143 FLOAT8_152 UINT16 INT16 INT32 INT64 UINT32 UINT64 BOOL FLOAT FLOAT16 BFLOAT16 DOUBLE COMPLEX64 COMPLEX128 STRING UNDEFINED
TensorStorage OnChip OffChip
WeightDecayMode Decay L2Regularization
SGDAccumulatorAndMomentum Combined Separate
AdamMode Adam AdamNoBias AdaMax Lamb LambNoBias
AdaptiveMode AdaGrad RMSProp CenteredRMSProp AdaDelta
AnchorReturnTypeId Final EveryN All Sum
ExchangeStrategy JustInTime OverlapInnerLoop OverlapLoops OverlapStep
ReplicatedStreamMode Broadcast Replicate
DeviceType IpuModel Cpu Ipu OfflineIpu Sim
DeviceConnectionType Always OnDemand Never
SyncPattern Full SinglePipeline ReplicaAndLadder
RecomputeType Undefined Checkpoint Recompute Recomputed
DeviceSelectionCriterion First Random
InitType NoInit Zero
ScatterReduction Sum Max Min Mul NoReduction
TensorRemapType FwdBwdReverse FwdBwd Fwd
PatternsLevel NoPatterns Minimal Default All
CollectiveOperator Add Mean Mul Min Max LogicalAnd LogicalOr SquareAdd Local
OptimizerReductionType NoReduction GradReduce AcclReduce AccumReduce
"""


def _make(name, words):
    cls = _EnumType(name, (Enum,), {"__slots__": (), "__module__": "popart", "__members__": {},
                                    "__doc__": f"Enumeration {name} of PopART."})
    for number, word in enumerate(words):
        word, _, value = word.partition("=")
        value = int(value) if value else number
        member = next((m for m in cls.__members__.values() if m.value == value), None)
        if member is None:
            member = object.__new__(cls)
            object.__setattr__(member, "name", word)
            object.__setattr__(member, "value", value)
        cls.__members__[word] = member
        setattr(cls, word, member)
    return cls


NAMES = []
for _line in _TABLE.split("\n"):
    _words = _line.split()
    if _words:
        globals()[_words[0]] = _make(_words[0], _words[1:])
        NAMES.append(_words[0])
