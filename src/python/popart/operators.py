# SPDX-License-Identifier: MIT
"""Methods of a Builder that add operators: how their arguments become inputs and attributes."""

import functools

import numpy as np

from . import _signatures
from .enums import CommGroupType, DataType, Enum, ReductionType, ScatterReduction
from .errors import popart_exception
from .tensorinfo import type_code, type_name

# Kinds of attributes of the C interface.
INT, FLOAT, STRING, INTS, FLOATS, STRINGS, TENSOR, GRAPH = 1, 2, 3, 4, 5, 6, 7, 9
_KINDS = {"i": INT, "f": FLOAT, "s": STRING, "is": INTS, "fs": FLOATS, "ss": STRINGS,
          "t": TENSOR, "g": GRAPH}

_RENAMED = {"and": "logical_and", "or": "logical_or", "not": "logical_not", "xor": "logical_xor",
            "if": "logical_if"}


class Argument:
    """An attribute as an argument of a method."""

    __slots__ = ("name", "kind", "required", "default", "attribute", "convert")

    def __init__(self, name, kind, required, default, attribute=None, convert=None):
        self.name = name
        self.kind = kind
        self.required = required
        self.default = default
        self.attribute = attribute or name
        self.convert = convert


class Signature:
    """The arguments of a method, and the operator that it adds."""

    __slots__ = ("method", "domain", "type", "inputs", "outputs", "arguments", "nested")

    def __init__(self, method, domain, op_type, inputs, outputs, arguments, nested=False):
        self.method = method
        self.domain = domain
        self.type = op_type
        self.inputs = inputs    # (fewest, most)
        self.outputs = outputs  # (fewest, most)
        self.arguments = arguments
        self.nested = nested    # the inputs are a list of lists


def refuse(method, why, names=()):
    """Raises the TypeError of a call with wrong arguments."""
    raise TypeError(f"{method}(): incompatible function arguments. The following argument types are "
                    f"supported: ({', '.join(names) or '...'}). {why}")


def _argument(text):
    name, _, rest = text.partition(":")
    rest, _, default = rest.partition("=")
    required = rest.endswith("!")
    kind = _KINDS[rest.rstrip("!")]
    value = None
    if default:
        value = int(default) if kind == INT else float(default) if kind == FLOAT else default
    elif not required and kind in (INTS, FLOATS, STRINGS):
        value = []
    return Argument(name, kind, required, value)


def _onnx_row(line):
    words = line.split()
    op_type, version = words[0], int(words[1])
    counts = [int(word) for word in words[2:6]]
    arguments = [_argument(word) for word in words[6:]]
    method = op_type.lower()
    if op_type == "Cast":
        arguments = [Argument("to", STRING, True, None, convert="type" if version >= 6 else None)]
    if op_type == "ConstantOfShape":
        arguments = [Argument("array", TENSOR, True, None, "value")]
    if op_type.startswith("Reduce"):
        for argument in arguments:
            if argument.name == "axes":
                argument.default = None
    arguments.sort(key=lambda a: (not a.required, a.name))
    return version, Signature(_RENAMED.get(method, method), "", op_type, counts[:2], counts[2:],
                              arguments)


@functools.lru_cache(None)
def _history(text):
    """Method -> list of (version, Signature), oldest first."""
    result = {}
    for line in text.split("\n"):
        if line:
            version, signature = _onnx_row(line)
            result.setdefault(signature.method, []).append((version, signature))
    return result


@functools.lru_cache(None)
def onnx_signatures(opset):
    """Methods of ai.onnx of an opset: the newest version of each operator that is not newer."""
    result = {}
    for method, versions in _history(_signatures.ONNX).items():
        known = [signature for version, signature in versions if version <= opset]
        if known and method != "constant":
            result[method] = known[-1]
    return result


@functools.lru_cache(None)
def ml_signatures():
    """Methods of ai.onnx.ml 1."""
    result = {}
    for method, versions in _history(_signatures.ML).items():
        signature = versions[-1][1]
        result[method] = Signature(method, "ai.onnx.ml", signature.type, signature.inputs,
                                   signature.outputs, signature.arguments)
    return result


# Methods of ai.graphcore: method, type, inputs, outputs, arguments in order. An argument is
# NAME:KIND, with = and a default if it has one, ~ and the name of its attribute if it has another
# one, and @ and a conversion.
_GRAPHCORE = """
groupnormalization GroupNormalization 3-3 3-3 num_groups:i epsilon:f=1e-05
subsample Subsample 1-1 1-1 strides:is
printtensor PrintTensor 1-1 1-1 print_gradient:i=1 title:s= summariseThreshold:i=1000 edgeItems:i=3 maxLineWidth:i=75 digits:i=8 floatFormat:i=0 separator:s=_ openBracket:s=[ closeBracket:s=]
nop Nop 1-1 1-1
scale Scale 1-1 1-1 scale:f
scaledadd ScaledAdd 2-4 1-1 scale0:f=1 scale1:f=1
lstm LSTM 2-5 2-2 outputFullSequence:i=1~output_full_sequence
gelu Gelu 1-1 1-1
geluerf GeluErf 1-1 1-1
detach Detach 1-1 1-1
depthtospace DepthToSpace 1-1 1-1 blocksize:i mode:s=DCR
round Round 1-1 1-1
dynamicslice DynamicSlice 2-3 1-1 axes:is sizes:is noOverlap:i=0
dynamicupdate DynamicUpdate 3-3 1-1 axes:is sizes:is noOverlap:i=0
dynamiczero DynamicZero 2-2 1-1 axes:is sizes:is
dynamicadd DynamicAdd 3-3 1-1 axes:is sizes:is
sequenceslice SequenceSlice 4-5 1-1 zeroUnused:i=0
replicatedallreduce ReplicatedAllReduce 1-1 1-1 collectiveOperator:i=none@collective commGroup:is=none@group
replicatedreducescatter ReplicatedReduceScatter 1-2 1-1 collectiveOperator:i=none@collective commGroup:is=none@group
l1loss L1 1-1 1-1 lambda:f reduction:s=Mean@reduction
nllloss Nll 2-2 1-1 reduction:s=Mean@reduction ignoreIndex:i=none inputIsLogProbability:i=0
identityloss IdentityLoss 1-1 1-1 reduction:s=Mean@reduction
ctcloss Ctc 4-4 1-1 reduction:s=Mean@reduction blank:i=0 outDataType:s=UNDEFINED@type zeroInfinity:i=0
_ctcloss Ctc 4-4 2-2 reduction:s=Mean@reduction blank:i=0 outDataType:s=UNDEFINED@type zeroInfinity:i=0
ctcbeamsearchdecoder CtcBeamSearchDecoder 2-2 3-3 blank:i=0 beam_width:i=100 top_paths:i=1
shapeddropout ShapedDropout 1-1 1-1 shape:is ratio:f=0.5
atan2 Atan2 2-2 1-1
expm1 Expm1 1-1 1-1
log1p Log1p 1-1 1-1
fmod Fmod 2-2 1-1
remainder Remainder 2-2 1-1
reverse Reverse 1-1 1-1 dimensions:is
slice Slice 1-1 1-1 ends:is starts:is axes:is=
packedDataBlock PackedDataBlock 5-99 1-1 maxSequenceLengths:is resultSize:i callbackBatchSize:i callback:g
abort Abort 0-1 0-0
bitwisenot BitwiseNot 1-1 1-1
bitwiseand BitwiseAnd 2-2 1-1
bitwiseor BitwiseOr 2-2 1-1
bitwisexor BitwiseXor 2-2 1-1
bitwisexnor BitwiseXnor 2-2 1-1
reducemedian ReduceMedian 1-1 2-2 axes:is=none keepdims:i=1
groupedgather GroupedGather 2-2 1-1 axis:i=0 group_size:i=1
scatterreduce ScatterReduce 2-3 1-1 axis_size:i axis:i=-1 reduction:s=Sum@scatter enable_index_broadcast:i=1
groupedscatterreduce ScatterReduce 2-3 1-1 axis_size:i axis:i=-1 reduction:s=Sum@scatter group_size:i=1 enable_index_broadcast:i=1
bucketize Bucketize 2-2 1-1 right:i=0
sort Sort 1-1 2-2 axis:i=-1 descending:i=0 stable:i=0
nearbyint NearbyInt 1-1 1-1
splinebasis SplineBasis 3-3 2-2 degree:i=1
splineweighting SplineWeighting 4-4 1-1
incrementmod IncrementMod 1-1 1-1 increment:f modulus:f
tensorremap TensorRemap 1-1 1-1 remap_type:i
normalize_image NormalizeImage 3-3 1-1 scale:f=1
copyvarupdate CopyVarUpdate 2-2 1-1
swish Swish 1-1 1-1
reshape Reshape 1-1 1-1 shape:is
batchnormalization BatchNormalization 5-5 1-5 epsilon:f=1e-05 momentum:f=0.9
call Call 0-99 1-99 callee:g
"""


def _graphcore_argument(word):
    name, _, rest = word.partition(":")
    rest, _, convert = rest.partition("@")
    rest, _, attribute = rest.partition("~")
    kind, given, default = rest.partition("=")
    kind = _KINDS[kind]
    value = None
    if given and default != "none":
        if kind == INT:
            value = int(default)
        elif kind == FLOAT:
            value = float(default)
        elif kind == INTS:
            value = []
        else:
            value = " " if default == "_" else default
    return Argument(name, kind, not given, value, attribute or None, convert or None)


@functools.lru_cache(None)
def graphcore_signatures():
    """Methods of ai.graphcore 1."""
    result = {}
    for line in _GRAPHCORE.split("\n"):
        words = line.split()
        if not words:
            continue
        counts = [tuple(int(n) for n in word.split("-")) for word in words[2:4]]
        result[words[0]] = Signature(words[0], "ai.graphcore", words[1], counts[0], counts[1],
                                     [_graphcore_argument(word) for word in words[4:]])
    return result


# ---- values

def _int(signature, argument, value):
    if isinstance(value, (float, str, bytes)) or isinstance(value, np.floating):
        refuse(signature.method, f"{argument.name} is a whole number, not {value!r}")
    try:
        return int(value)
    except TypeError:
        refuse(signature.method, f"{argument.name} is a whole number, not {value!r}")


def _float(signature, argument, value):
    if isinstance(value, (str, bytes)):
        refuse(signature.method, f"{argument.name} is a number, not {value!r}")
    try:
        return float(value)
    except TypeError:
        refuse(signature.method, f"{argument.name} is a number, not {value!r}")


def _items(signature, argument, value, convert):
    if isinstance(value, (str, bytes, int, float)):
        refuse(signature.method, f"{argument.name} is a list, not {value!r}")
    try:
        return [convert(signature, argument, item) for item in value]
    except TypeError as error:
        if "incompatible function arguments" in str(error):
            raise
        refuse(signature.method, f"{argument.name} is a list, not {value!r}")


def _text(signature, argument, value):
    if not isinstance(value, (str, bytes)):
        refuse(signature.method, f"{argument.name} is a text, not {value!r}")
    return value.encode() if isinstance(value, str) else value


def _reduction(signature, argument, value):
    if isinstance(value, ReductionType):
        return {"Sum": b"Sum", "Mean": b"Mean", "NoReduction": b"None"}[value.name]
    if isinstance(value, str) and value.lower() in ("sum", "mean", "none", "noreduction"):
        return {"sum": b"Sum", "mean": b"Mean"}.get(value.lower(), b"None")
    refuse(signature.method, f"reduction is a ReductionType, not {value!r}")


def _scatter(signature, argument, value):
    if isinstance(value, ScatterReduction):
        return {"NoReduction": "none"}.get(value.name, value.name.lower()).encode()
    if value == "Sum":
        return b"sum"
    refuse(signature.method, f"reduction is a ScatterReduction, not {value!r}")


def _type(signature, argument, value):
    """A name of a type, as its number in ONNX."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, Enum):
        return int(value)
    if value == "UNDEFINED":
        return None
    name = type_name(value)
    if name is None:
        if isinstance(value, str):
            raise popart_exception(f"{signature.method}: no data type {value!r}")
        refuse(signature.method, f"{argument.name} is a name of a type, not {value!r}")
    return type_code(name)


def _group(signature, argument, value):
    if hasattr(value, "type") and isinstance(getattr(value, "type"), CommGroupType):
        return [int(value.type), int(value.replicaGroupSize), 0]
    return _items(signature, argument, value, _int)


def attribute(signature, argument, value, builder):
    """Returns (name, kind, value) for the C interface, or None: the attribute is left out."""
    if value is None:
        if argument.required:
            refuse(signature.method, f"{argument.name} is missing")
        return None
    name, kind, convert = argument.attribute, argument.kind, argument.convert
    if convert == "type":
        code = _type(signature, argument, value)
        return None if code is None else (name, INT, code)
    if convert == "reduction":
        return name, STRING, _reduction(signature, argument, value)
    if convert == "scatter":
        return name, STRING, _scatter(signature, argument, value)
    if convert == "collective":
        return name, INT, int(value)
    if convert == "group":
        return name, INTS, _group(signature, argument, value)
    if kind == INT:
        return name, kind, _int(signature, argument, value)
    if kind == FLOAT:
        return name, kind, _float(signature, argument, value)
    if kind == STRING:
        return name, kind, _text(signature, argument, value)
    if kind == TENSOR:
        return name, kind, np.ascontiguousarray(value)
    if kind == GRAPH:
        core = builder.graph_of(value)
        if core is None:
            refuse(signature.method, f"{argument.name} is a Builder, not {value!r}")
        return name, kind, core
    items = _items(signature, argument, value,
                   {INTS: _int, FLOATS: _float, STRINGS: _text}[kind])
    # An empty list is an absent one, but for reductions, where it is a list of no axes.
    if not items and argument.default is not None and not argument.required:
        return None
    return name, kind, items


def bind(signature, args, kwargs):
    """Sorts the arguments of a call: (inputs, number of outputs, values, debug name)."""
    names = []
    if signature.inputs[1] > 0:
        names.append("args")
    if signature.outputs[0] != signature.outputs[1]:
        names.append("num_outputs")
    names += [argument.name for argument in signature.arguments]
    names += ["debugContext"]
    if len(args) > len(names):
        refuse(signature.method, f"{len(args)} arguments; at most {len(names)} are possible",
               names)
    given = dict(zip(names, args))
    for name, value in kwargs.items():
        if name in ("debugPrefix", "debugName"):
            name = "debugContext"
        if name not in names:
            refuse(signature.method, f"no argument {name!r}", names)
        if name in given:
            refuse(signature.method, f"{name} is given twice")
        given[name] = value
    inputs = given.get("args", [] if signature.inputs[1] == 0 or signature.inputs[0] == 0 else None)
    if inputs is None or isinstance(inputs, str):
        refuse(signature.method, "args is a list of tensors")
    outputs = signature.outputs[0]
    if "num_outputs" in names:
        if "num_outputs" in given:
            outputs = given["num_outputs"]
            if isinstance(outputs, bool) or not isinstance(outputs, (int, np.integer)):
                refuse(signature.method, "num_outputs is a whole number")
        elif signature.outputs[1] == 99 or signature.type in ("LSTM", "GRU", "RNN"):
            refuse(signature.method, "num_outputs is missing")
        else:
            outputs = max(1, outputs)
    values = []
    for argument in signature.arguments:
        if argument.name not in given and argument.required:
            refuse(signature.method, f"{argument.name} is missing")
        values.append(given.get(argument.name, argument.default))
    debug = given.get("debugContext", "")
    return list(inputs), int(outputs), values, debug
