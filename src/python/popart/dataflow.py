# SPDX-License-Identifier: MIT
"""DataFlow: the batches of a run, and the tensors that it returns."""

from .enums import AnchorReturnTypeId, ExchangeStrategy, ReplicatedStreamMode, TileSet
from .errors import popart_exception

_WORDS = {"final": "Final", "all": "All", "sum": "Sum", "everyn": "EveryN"}


class AnchorReturnType:
    """How the values of a tensor in all micro-batches of a run are returned: "Final", "All", "Sum",
    or "EveryN" with a period; in any case."""

    def __init__(self, artString="All", returnPeriod=None, tileSet=TileSet.Compute,
                 exchangeStrategy=ExchangeStrategy.JustInTime):
        if isinstance(returnPeriod, TileSet):  # (artString, tileSet, exchangeStrategy)
            exchangeStrategy = tileSet if isinstance(tileSet, ExchangeStrategy) \
                else exchangeStrategy
            tileSet, returnPeriod = returnPeriod, None
        if not isinstance(artString, str):
            raise TypeError("__init__(): incompatible constructor arguments. The type of an anchor "
                            "is a text")
        word = _WORDS.get(artString.lower())
        if word is None:
            raise popart_exception(f"no return type {artString!r} of anchors; accepted: Final, All, "
                                   "Sum and EveryN")
        if word == "EveryN" and (returnPeriod is None or returnPeriod <= 0):
            raise popart_exception("the return type EveryN needs a period above 0")
        if word != "EveryN" and returnPeriod is not None:
            raise popart_exception(f"the return type {word} has no period")
        self._id = getattr(AnchorReturnTypeId, word)
        self._period = returnPeriod
        self._tile_set = tileSet
        self._exchange = exchangeStrategy

    def id(self):
        """AnchorReturnTypeId."""
        return self._id

    def rp(self):
        """The period of EveryN."""
        if self._period is None:
            raise popart_exception(f"the return type {self._id.name} has no period")
        return self._period

    def tileSet(self):
        """TileSet; it has no effect on a processor."""
        return self._tile_set

    def exchangeStrategy(self):
        """ExchangeStrategy; it has no effect on a processor."""
        return self._exchange

    def __repr__(self):
        return f"AnchorReturnType({self._id.name}" + \
            (f", {self._period})" if self._period else ")")

    def __eq__(self, other):
        return isinstance(other, AnchorReturnType) and (self._id, self._period) == (
            other._id, other._period)

    __hash__ = None


class DataFlow:
    """``DataFlow(batchesPerStep)``, ``DataFlow(batchesPerStep, {id: AnchorReturnType})`` or
    ``DataFlow(batchesPerStep, [ids], AnchorReturnType)``."""

    def __init__(self, batchesPerStep=1, anchorTensors=None, anchorReturnType=None, **kwargs):
        if "anchorIds" in kwargs:
            anchorTensors = kwargs.pop("anchorIds")
        if kwargs:
            raise TypeError("__init__(): incompatible constructor arguments: " + ", ".join(kwargs))
        self._anchors = {}
        if isinstance(anchorTensors, dict):
            for name, art in anchorTensors.items():
                if isinstance(art, str):
                    art = AnchorReturnType(art)
                if not isinstance(art, AnchorReturnType) or not isinstance(name, str):
                    raise TypeError("__init__(): incompatible constructor arguments. Anchors are a "
                                    "dict of names and AnchorReturnType")
                self._anchors[name] = art
        elif anchorTensors is not None:
            art = anchorReturnType if anchorReturnType is not None else AnchorReturnType("All")
            for name in anchorTensors:
                self._anchors[name] = art
        if int(batchesPerStep) != batchesPerStep:
            raise TypeError("__init__(): incompatible constructor arguments. batchesPerStep is a "
                            "whole number")
        if batchesPerStep <= 0 and self._anchors:
            raise popart_exception(f"batchesPerStep is {batchesPerStep}; it must be above 0")
        self._batches = int(batchesPerStep)
        for name, art in self._anchors.items():
            if art._period is not None and (art._period > self._batches or
                                            self._batches % art._period):
                raise popart_exception(f"the period {art._period} of anchor {name!r} does not "
                                       f"divide batchesPerStep, {self._batches}")

    def anchors(self):
        """Names of the anchors."""
        return list(self._anchors)

    def nAnchors(self):
        """Number of anchors."""
        return len(self._anchors)

    def art(self, tensorId):
        """AnchorReturnType of an anchor."""
        if tensorId not in self._anchors:
            raise popart_exception(f"{tensorId!r} is not an anchor; anchors: " +
                                   ", ".join(self._anchors))
        return self._anchors[tensorId]

    def isAnchored(self, tensorId):
        """Tells whether a tensor is an anchor."""
        return tensorId in self._anchors

    def batchesPerStep(self):
        """Batches of a run."""
        return self._batches

    def setBatchesPerStep(self, batchesPerStep):
        """Sets the batches of a run."""
        self._batches = int(batchesPerStep)


class InputSettings:
    """``InputSettings(tileSet, exchangeStrategy)`` or ``InputSettings(replicatedStreamMode)``."""

    def __init__(self, *args):
        self._tile_set, self._exchange = TileSet.Compute, ExchangeStrategy.JustInTime
        self._mode = ReplicatedStreamMode.Replicate
        for value in args:
            if isinstance(value, TileSet):
                self._tile_set = value
            elif isinstance(value, ExchangeStrategy):
                self._exchange = value
            elif isinstance(value, ReplicatedStreamMode):
                self._mode = value
            else:
                raise TypeError("__init__(): incompatible constructor arguments. Settings of an "
                                "input are a TileSet and an ExchangeStrategy, or a "
                                "ReplicatedStreamMode")

    def tileSet(self):
        """TileSet; it has no effect on a processor."""
        return self._tile_set

    def exchangeStrategy(self):
        """ExchangeStrategy; it has no effect on a processor."""
        return self._exchange

    def replicatedStreamMode(self):
        """Whether replicas read the same data (Broadcast) or a part each (Replicate)."""
        return self._mode

    def setTileSet(self, value):
        """Sets the TileSet."""
        self._tile_set = value

    def setExchangeStrategy(self, value):
        """Sets the ExchangeStrategy."""
        self._exchange = value

    def setReplicatedStreamMode(self, value):
        """Sets the ReplicatedStreamMode."""
        self._mode = value


class InputShapeInfo:
    """Types of inputs whose shape the model leaves open."""

    def __init__(self):
        self._infos = {}

    def add(self, tensorId, info):
        """Adds the TensorInfo of an input."""
        self._infos[tensorId] = info

    def get(self, tensorId):
        """TensorInfo of an input."""
        if tensorId not in self._infos:
            raise popart_exception(f"no shape is known for {tensorId!r}")
        return self._infos[tensorId]

    def has(self, tensorId):
        """Tells whether an input was added."""
        return tensorId in self._infos

    def getAllTensorIds(self):
        """Names of the inputs that were added."""
        return list(self._infos)
