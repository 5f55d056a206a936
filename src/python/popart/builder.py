# SPDX-License-Identifier: MIT
"""Builder: makes models, operator by operator."""

import contextlib
import os

import numpy as np

import poprt
from poprt import _core, _env

from . import operators, session
from .dataflow import InputSettings
from .debug import debug_name
from .enums import InitType, RecomputeType
from .errors import popart_exception, translate, translated
from .operators import FLOAT, FLOATS, GRAPH, INT, INTS, STRING, STRINGS, refuse
from .tensorinfo import TensorInfo, name_of_code, numpy_name, type_code, type_name
from .variables import VariableSettings

_DEFAULT_OPSET = 10
_INPUTS, _OUTPUTS, _VALUES, _TRAINABLE = 0, 1, 2, 3

_VIRTUAL_GRAPH, _STAGE, _PHASE = "__ipu_number", "__pipeline_stage", "__execution_phase"
_RECOMPUTE, _LOCATION = "__recompute_output_in_backward_pass", "__output_tensor_location"
_NO_WEIGHTS = "__without_weights"  # metadata of a model whose initializers are all constants
_MARK = "__user_"  # attributes that an operator does not have
_PRIORITY, _OUTLINE = "__schedule_priority", "__outline"


# Inputs that have one type in ONNX and may have another in PopART: (type, index) -> (type in PopART,
# type in ONNX).
_INT32, _INT64, _FLOAT16, _FLOAT32 = 6, 7, 10, 1
_CAST_INPUTS = {("Expand", 1): (_INT32, _INT64), ("Reshape", 1): (_INT32, _INT64),
                ("Tile", 1): (_INT32, _INT64), ("ConstantOfShape", 0): (_INT32, _INT64),
                ("TopK", 1): (_INT32, _INT64), ("Resize", 3): (_INT32, _INT64),
                ("Resize", 2): (_FLOAT16, _FLOAT32), ("Resize", 1): (_FLOAT16, _FLOAT32)}


class Opset:
    """Methods of one domain that add operators; ``dir`` lists them."""

    def __init__(self, builder, domain, version, signatures):
        self._builder = builder
        self._domain = domain
        self.version = version
        self._signatures = signatures

    def __getattr__(self, name):
        signature = self._signatures.get(name)
        if signature is None:
            raise AttributeError(f"{type(self).__name__} has no operator {name!r}")
        builder = self._builder

        def method(*args, **kwargs):
            return builder._call(signature, self, args, kwargs)
        method.__name__ = name
        method.__doc__ = (f"Adds {signature.type}. Arguments: " + ", ".join(
            (["args"] if signature.inputs[1] else []) +
            (["num_outputs"] if signature.outputs[0] != signature.outputs[1] else []) +
            [a.name if a.required else f"{a.name}={a.default!r}" for a in signature.arguments] +
            ["debugContext=''"]))
        self.__dict__[name] = method
        return method

    def __dir__(self):
        return sorted(set(object.__dir__(self)) | set(self._signatures))


class _Onnx(Opset):
    VERSION = 0

    def __init__(self, builder):
        super().__init__(builder, "", self.VERSION, operators.onnx_signatures(self.VERSION))

    def resize(self, *args, **kwargs):
        """Adds Resize. The nearest_mode "pytorch" is that of PyTorch: the index is rounded down,
        without regard to coordinate_transformation_mode."""
        if args and len(args[0]) == 4 and args[0][2] == "" and self.version >= 11:
            scales = self._builder._constant(np.array([], np.float32), "")
            args = ([args[0][0], args[0][1], scales, args[0][3]],) + args[1:]
        if kwargs.get("nearest_mode") == "pytorch":
            kwargs["nearest_mode"] = "floor"
            kwargs["coordinate_transformation_mode"] = "asymmetric"
        return self._builder._call(self._signatures["resize"], self, args, kwargs)

    def scan(self, *args, **kwargs):
        """Adds Scan. As in PopART the slices keep the scanned dimension, of size 1, and the outputs
        of all iterations are concatenated."""
        signature = self._signatures["scan"]
        inputs, count, values, debug = operators.bind(signature, args, kwargs)
        named = {a.name: value for a, value in zip(signature.arguments, values)}
        body = getattr(named["body"], "_builder", named["body"])
        if self.version < 9 or not isinstance(body, Builder):
            return _as_list(self._builder._call(signature, self, args, kwargs))
        return self._builder._scan(self, inputs, count, body, named, debug)

    def constant(self, value, is_value_sparse=False, debugContext="", **kwargs):
        """Adds a constant with the contents of an array."""
        if kwargs:
            refuse("constant", "no argument " + ", ".join(map(repr, kwargs)))
        if isinstance(is_value_sparse, str):  # (value, debugContext)
            is_value_sparse, debugContext = False, is_value_sparse
        if is_value_sparse:
            raise popart_exception("Constant: sparse values are not supported")
        if not isinstance(value, (np.ndarray, np.generic)):
            refuse("constant", f"value is an array, not {type(value).__name__}")
        self._builder._choose(self.version)
        return self._builder._constant(value, debugContext)


class AiOnnxOpset6(_Onnx):
    """Operators of ai.onnx, opset 6."""
    VERSION = 6


class AiOnnxOpset7(_Onnx):
    """Operators of ai.onnx, opset 7."""
    VERSION = 7


class AiOnnxOpset8(_Onnx):
    """Operators of ai.onnx, opset 8."""
    VERSION = 8


class AiOnnxOpset9(_Onnx):
    """Operators of ai.onnx, opset 9."""
    VERSION = 9


class AiOnnxOpset10(_Onnx):
    """Operators of ai.onnx, opset 10."""
    VERSION = 10


class AiOnnxOpset11(_Onnx):
    """Operators of ai.onnx, opset 11."""
    VERSION = 11


_ONNX = {6: AiOnnxOpset6, 7: AiOnnxOpset7, 8: AiOnnxOpset8, 9: AiOnnxOpset9, 10: AiOnnxOpset10,
         11: AiOnnxOpset11}


class AiOnnxMlOpset1(Opset):
    """Operators of ai.onnx.ml."""

    def __init__(self, builder):
        super().__init__(builder, "ai.onnx.ml", 1, operators.ml_signatures())


class AiGraphcoreOpset1(Opset):
    """Operators of ai.graphcore."""

    def __init__(self, builder):
        super().__init__(builder, "ai.graphcore", 1, operators.graphcore_signatures())

    def call(self, args, num_outputs, callee, debugContext=""):
        """Adds a call of a subgraph."""
        graph = getattr(callee, "_builder", callee)
        if isinstance(graph, Builder):
            args, callee = graph._callee(list(args), num_outputs, debug_name(debugContext))
        return _as_list(self._builder._call(self._signatures["call"], self,
                                            (args, num_outputs, callee, debugContext), {}))

    def init(self, *args, **kwargs):
        """Adds a tensor of zeros: ``init(shape, data_type, init_type[, batch_axis])``."""
        names = ["shape", "data_type", "init_type", "batch_axis", "debugContext"]
        given = dict(zip(names, args))
        given.update(kwargs)
        batch = given.get("batch_axis", -1)
        if isinstance(batch, str):
            given["debugContext"], batch = batch, -1
        dtype = int(given["data_type"])
        kind = given["init_type"]
        values = [("shape", INTS, [int(d) for d in given["shape"]]), ("data_type", INT, dtype),
                  ("tensor_type", INT, 0), ("batch_axis", INT, int(batch)),
                  ("init_type", INT, int(kind) if isinstance(kind, InitType) else int(kind))]
        return self._builder._add("ai.graphcore", "Init", [], values, 1,
                                  given.get("debugContext", ""))[0]

    def reshape(self, args, shape, debugContext=""):
        """Adds Reshape with a shape that is an attribute; ``args`` may be one tensor."""
        return self._builder._call(self._signatures["reshape"], self,
                                   ([args] if isinstance(args, str) else args, shape,
                                    debugContext), {})

    def multiconv(self, args, dilations=(), inDilations=(), pads=(), outPads=(), strides=(),
                  availableMemoryProportions=(), partialsTypes=(), planType=None,
                  perConvReservedTiles=None, cycleBackOff=None, enableConvDithering=(),
                  debugContext=""):
        """Adds several convolutions as one operator: ``args`` is a list of their inputs."""
        count = len(args)
        inputs = [tensor for conv in args for tensor in (list(conv) + [""])[:3]]
        ranks = [len(self._builder.getTensorShape(conv[0])) - 2 for conv in args]
        values = [("numConvs", INT, count)]
        for name, lists, unit, default in (
                ("dilations", dilations, 1, 1), ("inDilations", inDilations, 1, 1),
                ("pads", pads, 2, 0), ("outPads", outPads, 2, 0), ("strides", strides, 1, 1)):
            lists = list(lists) or [[]] * count
            flat = []
            for one, rank in zip(lists, ranks):
                one = [int(n) for n in one] or [default] * (unit * rank)
                if len(one) != unit * rank:
                    raise popart_exception(f"MultiConv: {name} has {len(one)} numbers for a "
                                           f"convolution; {unit * rank} are needed")
                flat += one
            if len(lists) != count:
                raise popart_exception(f"MultiConv: {name} is for {len(lists)} convolutions, not "
                                       f"{count}")
            values.append((name, INTS, flat))
        if planType:
            values.append(("planType", STRING, str(planType).encode()))
        if perConvReservedTiles is not None:
            values.append(("perConvReservedTiles", INTS, [int(perConvReservedTiles)] * count))
        if cycleBackOff is not None:
            values.append(("cycleBackOff", FLOAT, float(cycleBackOff)))
        for name, items, kind, convert in (
                ("__available_memory", availableMemoryProportions, FLOAT, float),
                ("__partials_type", partialsTypes, STRING, lambda t: str(t).encode()),
                ("__enable_conv_dithering", enableConvDithering, INT, int)):
            for i, item in enumerate(items):
                values.append((f"{name}[{i}]", kind, convert(item)))
        return list(self._builder._add("ai.graphcore", "MultiConv", inputs, values, count,
                                       debugContext))


def _as_list(value):
    return [value] if isinstance(value, str) else list(value)


class _Scope:
    """A context that ends by a pop of the builder."""

    def __init__(self, builder, names, enter):
        self._builder = builder
        self._names = names
        self._enter = enter

    def __enter__(self):
        self._pushed = self._enter()
        return self

    def __exit__(self, *exc):
        for _ in range(self._pushed):
            self._builder._core.pop()
        for name, before in self._names:
            if before is None:
                self._builder._context.pop(name, None)
            else:
                self._builder._context[name] = before


class Builder:
    """Makes a model. Tensors are known by their names (ids).

    ``modelProtoOrFilename`` continues a model; ``opsets`` fixes the opsets:
    ``{"ai.onnx": 9, "ai.graphcore": 1}``.
    """

    def __init__(self, modelProtoOrFilename=None, opsets=None, builderCore=None):
        self._parent = None
        self._formals = []  # inputs of a subgraph: (id, whether it is of the graph around it)
        self._log = []      # calls that made a subgraph
        self._alias = {}
        self._context = {}
        self._scopes = []
        self._default = _DEFAULT_OPSET
        self._chosen = None
        if builderCore is not None:
            self.__dict__.update(builderCore.__dict__)
            return
        _env.find_plugins()
        env = _env.environment()
        with translated():
            if modelProtoOrFilename is not None:
                model = poprt.Model.load(modelProtoOrFilename)
                self._core = _core.Builder.from_model(model._core)
                self._chosen = min(max(model.info["opset"], 6), 11)
            else:
                self._core = _core.Builder(env, _DEFAULT_OPSET)
                self._core.accept_newer_types(True)
        if opsets is not None:
            missing = [key for key in ("ai.onnx", "ai.graphcore") if key not in opsets]
            if missing:
                raise popart_exception("opsets needs the keys ai.onnx and ai.graphcore; missing: " +
                                       ", ".join(missing))
            self._choose(int(opsets["ai.onnx"]))

    # ---- opsets

    def _root(self):
        return self if self._parent is None else self._parent._root()

    def aiOnnxOpsetVersion(self, version):
        """Sets the opset of ``aiOnnx``, before its first use."""
        if version not in _ONNX:
            raise ValueError(f"no opset {version} of ai.onnx; accepted: 6 to 11")
        self._root()._default = version

    def _choose(self, version):
        root = self._root()
        if root._chosen is None:
            if version not in _ONNX:
                raise ValueError(f"no opset {version} of ai.onnx; accepted: 6 to 11")
            with translated():
                root._core.set_opset("", version)
            root._chosen = version
        elif root._chosen != version:
            raise RuntimeError(f"the builder uses opset {root._chosen} of ai.onnx, and cannot use "
                               f"opset {version} too")

    def _opset(self, cls):
        name = "_" + cls.__name__
        found = self.__dict__.get(name)
        if found is None:
            found = self.__dict__[name] = cls(self)
        return found

    def _onnx(self, version):
        self._choose(version)
        return self._opset(_ONNX[version])

    aiOnnxOpset6 = property(lambda self: self._onnx(6), doc="Operators of ai.onnx, opset 6.")
    aiOnnxOpset7 = property(lambda self: self._onnx(7), doc="Operators of ai.onnx, opset 7.")
    aiOnnxOpset8 = property(lambda self: self._onnx(8), doc="Operators of ai.onnx, opset 8.")
    aiOnnxOpset9 = property(lambda self: self._onnx(9), doc="Operators of ai.onnx, opset 9.")
    aiOnnxOpset10 = property(lambda self: self._onnx(10), doc="Operators of ai.onnx, opset 10.")
    aiOnnxOpset11 = property(lambda self: self._onnx(11), doc="Operators of ai.onnx, opset 11.")

    @property
    def aiOnnx(self):
        """Operators of ai.onnx, of the opset that was chosen; else 10."""
        root = self._root()
        return self._onnx(root._chosen if root._chosen is not None else root._default)

    @property
    def aiOnnxMl(self):
        """Operators of ai.onnx.ml."""
        return self._opset(AiOnnxMlOpset1)

    aiOnnxMlOpset1 = aiOnnxMl

    @property
    def aiGraphcore(self):
        """Operators of ai.graphcore."""
        return self._opset(AiGraphcoreOpset1)

    aiGraphcoreOpset1 = aiGraphcore

    # ---- tensors by name

    def _id(self, name):
        if not isinstance(name, str):
            raise TypeError(f"incompatible function arguments. A tensor is a text, not {name!r}")
        if name == "":
            return 0
        number = self._core.find(self._alias.get(name, name))
        if number == 0:
            raise popart_exception(f"the graph has no tensor {name!r}")
        return number

    def _names(self, ids):
        return [self._core.name(number) for number in ids]

    def graph_of(self, value):
        """Core of a Builder that is an attribute; None: not a Builder."""
        value = getattr(value, "_builder", value)
        return value._core if isinstance(value, Builder) else None

    def _add(self, domain, op_type, inputs, values, count, debug=""):
        if domain not in ("", "ai.onnx.ml") and domain != "ai.graphcore":
            pass
        elif self._root()._chosen is None:
            self._choose(self._root()._default)
        with translated():
            numbers = [self._id(name) for name in inputs]
            for i, number in enumerate(numbers):
                before, after = _CAST_INPUTS.get((op_type, i), (None, None))
                if domain == "" and number and before == self._core.type(number)[0]:
                    numbers[i] = self._core.op("", "Cast", [number], [("to", INT, after)], 1, None,
                                               None)[0]
            ids = self._core.op(domain, op_type, numbers, values, count, debug_name(debug) or None,
                                None)
        names = self._names(ids)
        self._record(names, Builder._add, domain, op_type, inputs, values, count, debug)
        return names

    def _scan(self, opset, inputs, count, body, named, debug):
        scanned = int(named["num_scan_inputs"])
        states = len(inputs) - scanned
        in_axes = list(named["scan_input_axes"] or [0] * scanned)
        out_axes = list(named["scan_output_axes"] or [0] * (count - states))
        copy = self.createSubgraphBuilder()
        onnx = copy._onnx(opset.version)
        for i, (name, _) in enumerate(body._formals):
            shape = self.getTensorShape(inputs[i])
            if i >= states:
                del shape[in_axes[i - states]]
            number = copy._core.input(None, self._type(inputs[i])[0], tuple(shape))
            made = copy._core.name(number)
            if i >= states:
                made = onnx.unsqueeze([made], [in_axes[i - states]])
            copy._alias[name] = made
        for names, method, arguments in body._log:
            made = method(copy, *arguments)
            for name, other in zip(names, [made] if isinstance(made, str) else made or []):
                copy._alias[name] = other
        pieces = [copy.getTensorShape(name) for name in copy.getOutputTensorIds()[states:]]
        values = dict(named, body=copy)
        outputs = _as_list(self._call(opset._signatures["scan"], opset, (inputs, count),
                                      dict(values, debugContext=debug)))
        for i, (shape, axis) in enumerate(zip(pieces, out_axes)):
            stacked = self.getTensorShape(outputs[states + i])
            merged = stacked[:axis] + [stacked[axis] * shape[axis]] + stacked[axis + 2:]
            outputs[states + i] = self.reshape_const(opset, [outputs[states + i]], merged)
        return outputs

    # ---- subgraphs that are called

    def _record(self, names, method, *args):
        if self._parent is not None:
            self._log.append((names, method, args))

    def _callee(self, args, count, debug):
        """The inputs of a call of this subgraph, and the subgraph. Inputs that it has from the
        graph around it are replaced by those of the call, in a copy if they differ."""
        outputs = len(self._core.list(_OUTPUTS))
        if self._formals and len(args) != len(self._formals):
            raise popart_exception(f"Call {debug!r} has invalid number of inputs: {len(args)}; its "
                                   f"subgraph has {len(self._formals)}")
        if count != outputs:
            raise popart_exception(f"Call {debug!r} has invalid number of outputs: {count}; its "
                                   f"subgraph has {outputs}")
        outer = [(name, arg) for (name, is_outer), arg in zip(self._formals, args) if is_outer]
        if all(name == arg for name, arg in outer):
            return [arg for (_, is_outer), arg in zip(self._formals, args) if not is_outer], self
        copy = self._parent.createSubgraphBuilder()
        for name, is_outer in self._formals:
            if is_outer:
                number = copy._core.input(None, 0, None)
                copy._alias[name] = copy._core.name(number)
            else:
                copy._alias[name] = copy.addUntypedInputTensor()
        for names, method, arguments in self._log:
            made = method(copy, *arguments)
            for name, other in zip(names, [made] if isinstance(made, str) else made or []):
                copy._alias[name] = other
        return args, copy

    def _call(self, signature, opset, args, kwargs):
        if signature.domain == "":
            self._choose(opset.version)
        inputs, count, values, debug = operators.bind(signature, args, kwargs)
        fewest, most = signature.inputs
        if not fewest <= len(inputs) <= (most if most != 99 else len(inputs)):
            raise popart_exception(f"{signature.type} has invalid number of input ids. Provided "
                                   f"{len(inputs)} input ids, expected " +
                                   (f"{fewest}" if fewest == most else f"{fewest} to {most}"))
        if signature.type.startswith("Reduce") and signature.arguments[0].name == "axes" and \
                values[0] is not None and len(values[0]) == 0:
            return self._reduce_nothing(signature, inputs, debug)
        fewest, most = signature.outputs
        if not fewest <= count <= (most if most != 99 else count):
            raise popart_exception(f"{signature.type} has an invalid number of outputs: {count}; "
                                   f"accepted: {fewest} to {most}")
        pairs = [operators.attribute(signature, argument, value, self)
                 for argument, value in zip(signature.arguments, values)]
        names = self._add(signature.domain, signature.type, inputs, [p for p in pairs if p], count,
                          debug)
        if signature.outputs == (0, 0):
            return None
        if signature.outputs[1] == 1:
            return names[0]
        return names

    def _reduce_nothing(self, signature, inputs, debug):
        """A reduction with an empty list of axes: each element by itself."""
        rank = len(self.getTensorShape(inputs[0]))
        wide = self._add("", "Unsqueeze", inputs, [("axes", INTS, [rank])], 1)
        names = self._add(signature.domain, signature.type, wide,
                          [("axes", INTS, [rank]), ("keepdims", INT, 0)], signature.outputs[0],
                          debug)
        return names[0] if signature.outputs[1] == 1 else names

    def _constant(self, value, debug):
        with translated():
            name = self._core.name(self._core.constant(
                debug_name(debug) or None, np.asarray(value, order="C")))
        self._record([name], Builder._constant, value, debug)
        return name

    # ---- inputs and outputs

    @translate
    def addInputTensor(self, *args, **kwargs):
        """Adds an input: ``(info[, settings][, debugContext])`` or ``(dtype, shape[, settings],
        debugContext)``. Returns its id."""
        args = list(args)
        for key in ("tensorInfo", "dataType", "shape", "settings", "debugContext", "debugPrefix"):
            if key in kwargs:
                args.append(kwargs.pop(key))
        if kwargs:
            refuse("addInputTensor", "no argument " + ", ".join(map(repr, kwargs)))
        if not args:
            refuse("addInputTensor", "a TensorInfo is missing")
        if isinstance(args[0], TensorInfo):
            info, rest = args[0], args[1:]
        else:
            if len(args) < 2:
                refuse("addInputTensor", "a type and a shape are needed")
            info, rest = TensorInfo(args[0], args[1]), args[2:]
        settings = next((a for a in rest if isinstance(a, InputSettings)), None)
        debug = next((a for a in rest if not isinstance(a, InputSettings)), "")
        number = self._core.input(debug_name(debug) or None, type_code(info.data_type()),
                                  tuple(info.shape()))
        if settings is not None:
            self._core.input_settings(number, int(settings.tileSet()),
                                      int(settings.exchangeStrategy()),
                                      int(settings.replicatedStreamMode()))
        self._formals.append((self._core.name(number), False))
        return self._core.name(number)

    @translate
    def addUntypedInputTensor(self, debugContext="", **kwargs):
        """Adds an input of a subgraph whose type is that of what the caller passes."""
        debugContext = kwargs.get("debugPrefix", debugContext)
        name = self._core.name(self._core.input(debug_name(debugContext) or None, 0, None))
        self._formals.append((name, False))
        return name

    def addInputTensorFromParentGraph(self, tensorId):
        """Lets a subgraph use a tensor of the graph around it, by its name. A call of the subgraph
        may pass another tensor in its place."""
        self._id(tensorId)
        self._formals.append((tensorId, True))

    @translate
    def addInitializedInputTensor(self, value, *args, **kwargs):
        """Adds a weight with the contents of an array: ``(array[, variableSettings][,
        debugContext])``. Returns its id."""
        rest = list(args) + [kwargs.pop(k) for k in ("variableSettings", "debugContext",
                                                     "debugPrefix") if k in kwargs]
        if kwargs or not isinstance(value, (np.ndarray, np.generic)):
            refuse("addInitializedInputTensor", "a weight is an array")
        settings = next((a for a in rest if isinstance(a, VariableSettings)), None)
        debug = next((a for a in rest if not isinstance(a, VariableSettings)), "")
        number = self._core.weight(debug_name(debug) or None, np.ascontiguousarray(value))
        if settings is not None:
            group = settings.getSharedVariableDomain()
            self._core.variable_settings(number, int(group.type), int(group.replicaGroupSize),
                                         int(settings.getRetrievalMode()))
        return self._core.name(number)

    @translate
    def addOutputTensor(self, tensorId):
        """Makes a tensor an output of the graph."""
        self._core.output(self._id(tensorId))
        self._record([], Builder.addOutputTensor, tensorId)

    def createSubgraphBuilder(self):
        """Makes the Builder of a subgraph, for If, Loop, Scan and Call."""
        child = Builder.__new__(Builder)
        child._parent = self
        child._formals, child._log, child._alias = [], [], {}
        child._context = dict(self._context)
        child._scopes = []
        root = self._root()
        root._graphs = getattr(root, "_graphs", 0) + 1
        child._name = f"BuilderSubgraph_{root._graphs}"
        with translated():
            child._core = self._core.subgraph(child._name)
        return child

    def setGraphName(self, name):
        """Sets the name of the graph."""
        with translated():
            self._core.set_graph_name(name)

    # ---- questions

    def getTensorShape(self, tensorId):
        """Shape of a tensor, as a list."""
        dtype, dims = self._type(tensorId)
        if dims is None or any(dim < 0 for dim in dims):
            raise popart_exception(f"the shape of tensor {tensorId!r} is not known")
        return list(dims)

    def _type(self, tensorId):
        with translated():
            return self._core.type(self._id(tensorId))

    def getTensorDtypeString(self, tensorId):
        """numpy's name of the element type of a tensor."""
        name = name_of_code(self._type(tensorId)[0])
        if name == "UNDEFINED":
            raise popart_exception(f"the type of tensor {tensorId!r} is not known")
        return numpy_name(name)

    def getTensorDataType(self, tensorId):
        """DataType of a tensor."""
        from .enums import DataType
        return getattr(DataType, name_of_code(self._type(tensorId)[0]))

    def hasValueInfo(self, tensorId):
        """Tells whether the type of a tensor is known."""
        dtype, dims = self._type(tensorId)
        return dtype != 0 and dims is not None

    def isInitializer(self, tensorId):
        """Tells whether a tensor is a weight or constant."""
        return bool(self._core.is_initializer(self._id(tensorId)))

    def getInputTensorIds(self):
        """Ids of the inputs without contents."""
        return self._names(self._core.list(_INPUTS))

    def getOutputTensorIds(self):
        """Ids of the outputs."""
        return self._names(self._core.list(_OUTPUTS))

    def getValueTensorIds(self):
        """Ids of the outputs of operators."""
        return self._names(self._core.list(_VALUES))

    def getTrainableTensorIds(self):
        """Ids of the weights with floating-point elements."""
        return self._names(self._core.list(_TRAINABLE))

    # ---- results

    def _model(self):
        with translated():
            if self._parent is None:
                self._core.property(_NO_WEIGHTS, None if self._core.list(_TRAINABLE) else "1")
            return self._core.finish()

    def getModelProto(self):
        """The model as bytes of a ModelProto."""
        with translated():
            return self._model().to_bytes()

    def saveModelProto(self, path):
        """Writes the model."""
        with translated():
            self._model().save_file(os.path.expanduser(os.fspath(path)), None)

    def saveInitializersExternally(self, ids, path):
        """Writes the contents of weights to a file, to which the model then refers."""
        path = os.path.abspath(os.path.expanduser(os.fspath(path)))
        for name in ids:
            if self._core.find(name) == 0 or not self.isInitializer(name):
                raise popart_exception(f"{name!r} is not an initializer of the model")
        with translated():
            self._core.save_externally([self._id(name) for name in ids], path)
        session.external_files[os.path.basename(path)] = path

    def embedReplicationFactor(self, replicationFactor):
        """States the number of replicas that the model is made for."""
        with translated():
            self._core.replication_factor(int(replicationFactor))

    # ---- operators that are not in the tables

    def customOp(self, opName, opVersion, domain, inputs, attributes, numOutputs=1, name=""):
        """Adds an operator of a plug-in."""
        values = []
        for key, value in dict(attributes).items():
            values.append((key,) + _custom(opName, key, value))
        if self._root()._chosen is None:
            self._choose(self._root()._default)
        with translated():
            if domain not in ("", "ai.onnx"):
                with contextlib.suppress(poprt.StateError):
                    self._core.set_opset(domain, int(opVersion))
            ids = self._core.op(domain, opName, [self._id(n) for n in inputs], values,
                                int(numOutputs), debug_name(name) or None, None)
        return self._names(ids)

    def reshape_const(self, opset, args, shape, debugContext=""):
        """Adds Reshape with a constant shape."""
        constant = opset.constant(np.array(shape, np.int64), False, debugContext)
        return opset.reshape([args[0], constant], debugContext)

    # ---- attributes of nodes

    def _outputs_of(self, ids):
        ids = [ids] if isinstance(ids, str) else list(ids)
        if not ids:
            raise popart_exception("the set of outputs of a node is empty")
        return [self._id(name) for name in ids], ids

    def addNodeAttribute(self, attributeName, attributeValue, nodeOutputNames):
        """Adds an attribute to the node that computes tensors."""
        numbers, names = self._outputs_of(nodeOutputNames)
        if attributeName in self._attributes(numbers[0], names):
            raise popart_exception(f"the node of {', '.join(sorted(names))} has the attribute "
                                   f"{attributeName!r} already")
        kind, value = _custom("the node", attributeName, attributeValue)
        try:
            self._core.set(numbers[0], (attributeName, kind, value))
        except poprt.ParseError:  # an attribute that the operator does not have is kept as a mark
            with translated():
                self._core.set(numbers[0], (_MARK + attributeName, kind, value))

    def _attributes(self, number, names):
        if self._core.name(number) not in self.getValueTensorIds():
            raise popart_exception(f"no node has the outputs {', '.join(sorted(names))}")
        return [name[len(_MARK):] if name.startswith(_MARK) else name
                for name in self._core.attributes(number)]

    def _key(self, number, name):
        return name if name in self._core.attributes(number) else _MARK + name

    def nodeHasAttribute(self, attributeName, nodeOutputNames):
        """Tells whether a node has an attribute."""
        numbers, names = self._outputs_of(nodeOutputNames)
        return attributeName in self._attributes(numbers[0], names)

    def _attribute(self, name, ids, kinds):
        numbers, names = self._outputs_of(ids)
        if name not in self._attributes(numbers[0], names):
            raise popart_exception(f"the node of {', '.join(sorted(names))} has no attribute "
                                   f"{name!r}")
        with translated():
            kind, value = self._core.get(numbers[0], self._key(numbers[0], name), 0)
        if kind not in kinds:
            raise popart_exception(f"the attribute {name!r} of the node of "
                                   f"{', '.join(sorted(names))} has another type")
        return value

    def getInt64NodeAttribute(self, attributeName, nodeOutputNames):
        """Value of an attribute that is a whole number."""
        return self._attribute(attributeName, nodeOutputNames, (INT,))

    def getInt64VectorNodeAttribute(self, attributeName, nodeOutputNames):
        """Value of an attribute that is a list of whole numbers."""
        return self._attribute(attributeName, nodeOutputNames, (INTS,))

    def getFloatNodeAttribute(self, attributeName, nodeOutputNames):
        """Value of an attribute that is a number."""
        return self._attribute(attributeName, nodeOutputNames, (FLOAT,))

    def getFloatVectorNodeAttribute(self, attributeName, nodeOutputNames):
        """Value of an attribute that is a list of numbers."""
        return self._attribute(attributeName, nodeOutputNames, (FLOATS,))

    def getStringNodeAttribute(self, attributeName, nodeOutputNames):
        """Value of an attribute that is a text."""
        return self._attribute(attributeName, nodeOutputNames, (STRING,)).decode()

    def getStringVectorNodeAttribute(self, attributeName, nodeOutputNames):
        """Value of an attribute that is a list of texts."""
        return [item.decode() for item in
                self._attribute(attributeName, nodeOutputNames, (STRINGS,))]

    def removeNodeAttribute(self, attributeName, nodeOutputNames):
        """Removes an attribute."""
        self._attribute(attributeName, nodeOutputNames,
                        (INT, INTS, FLOAT, FLOATS, STRING, STRINGS, GRAPH, 7))
        with translated():
            number = self._outputs_of(nodeOutputNames)[0][0]
            self._core.remove(number, self._key(number, attributeName))

    def getAllNodeAttributeNames(self, nodeOutputNames):
        """Names of the attributes of a node."""
        numbers, names = self._outputs_of(nodeOutputNames)
        return self._attributes(numbers[0], names)

    def _set(self, ids, *attribute):
        with translated():
            for number in {self._core.find(name): None for name in
                           ([ids] if isinstance(ids, str) else ids)}:
                if number == 0:
                    raise popart_exception(f"no such tensor: {ids!r}")
                self._core.set(number, attribute)

    # ---- placement

    def _place(self, key, args, kwargs, kind=INT):
        """``method(ids, value)`` sets an attribute of nodes; ``method(value)`` is a context."""
        args = list(args)
        for name in ("nodeOutputNames", "tensor", "value"):
            if name in kwargs:
                args.append(kwargs.pop(name))
        if args and not isinstance(args[0], (str, set, list, tuple, frozenset)) or kind == INTS \
                and len(args) == 1:
            return self._scope(key, args[0])
        value = args[1] if len(args) > 1 else 0
        self._set(args[0], key, kind, value if kind == INTS else int(value))
        return None

    def _scope(self, key, value):
        kind = INT
        if isinstance(value, RecomputeType):
            value = int(value)
        elif isinstance(value, float):
            kind = FLOAT
        elif isinstance(value, list):
            kind = INTS if not value or isinstance(value[0], int) else STRINGS
        before = self._context.get(key)

        def enter():
            self._context[key] = value
            with translated():
                self._core.push((key, kind, value))
            return 1
        return _Scope(self, [(key, before)], enter)

    def virtualGraph(self, *args, **kwargs):
        """Sets the virtual graph of nodes, or of the nodes made in a context."""
        return self._place(_VIRTUAL_GRAPH, args, kwargs)

    def pipelineStage(self, *args, **kwargs):
        """Sets the pipeline stage of nodes, or of the nodes made in a context."""
        return self._place(_STAGE, args, kwargs)

    def executionPhase(self, *args, **kwargs):
        """Sets the execution phase of nodes, or of the nodes made in a context."""
        return self._place(_PHASE, args, kwargs)

    def recomputeOutput(self, *args, **kwargs):
        """Sets whether nodes are computed again in the backward pass."""
        return self._place(_RECOMPUTE, args, kwargs)

    def recomputeOutputInBackwardPass(self, nodeOutputNames, value=RecomputeType.Recompute):
        """Sets whether nodes are computed again in the backward pass."""
        self._set(nodeOutputNames, _RECOMPUTE, INT, int(value))

    def outputTensorLocation(self, *args, **kwargs):
        """Sets the location of the outputs of nodes, or of the nodes made in a context."""
        args = [a.serialize() if hasattr(a, "serialize") else a for a in args]
        kwargs = {k: v.serialize() if hasattr(v, "serialize") else v for k, v in kwargs.items()}
        return self._place(_LOCATION, args, kwargs, INTS)

    def schedulePriority(self, value):
        """Sets the priority of the nodes made in a context."""
        return self._scope(_PRIORITY, float(value))

    def outlineAttributes(self, attributes):
        """Sets attributes that tell subgraphs apart, of the nodes made in a context."""
        flat = []
        for key, value in attributes.items():
            flat += [str(key).encode(), str(value).encode()]
        return self._scope(_OUTLINE, flat)

    def nameScope(self, name):
        """Adds a name and a slash to the ids of the nodes made in a context."""
        def enter():
            with translated():
                self._core.push_name(name)
            self._scopes.append(name)
            return 1

        class Scope(_Scope):
            def __exit__(self, *exc):
                super().__exit__(*exc)
                self._builder._scopes.pop()
        return Scope(self, [], enter)

    def commGroup(self, type=0, groupSize=0):
        """Sets the group of replicas of the collectives made in a context."""
        before = self._context.get("__collectiveCommGroup")

        def enter():
            self._context["__collectiveCommGroup"] = [int(type), int(groupSize)]
            return 0
        return _Scope(self, [("__collectiveCommGroup", before)], enter)

    def getNameScope(self, name=""):
        """The names of the open scopes, and a name."""
        return "".join(scope + "/" for scope in self._scopes) + name

    def _look(self, key, ids):
        if ids is not None:
            return self._attribute(key, ids, (INT,))
        if key not in self._context:
            raise popart_exception(f"no context sets {key!r}")
        return self._context[key]

    def getVirtualGraph(self, nodeOutputNames=None):
        """Virtual graph of a node, or of the context."""
        return self._look(_VIRTUAL_GRAPH, nodeOutputNames)

    def hasVirtualGraph(self):
        """Tells whether a context sets the virtual graph."""
        return _VIRTUAL_GRAPH in self._context

    def getPipelineStage(self):
        """Pipeline stage of the context."""
        return self._look(_STAGE, None)

    def hasPipelineStage(self):
        """Tells whether a context sets the pipeline stage."""
        return _STAGE in self._context

    def getExecutionPhase(self):
        """Execution phase of the context."""
        return self._look(_PHASE, None)

    def hasExecutionPhase(self):
        """Tells whether a context sets the execution phase."""
        return _PHASE in self._context

    # ---- settings of nodes

    def setAvailableMemoryProportion(self, nodeOutputNames, availableMemoryProportion):
        """Sets the share of memory that a node may use for scratch."""
        if not 0 <= availableMemoryProportion < 1:
            raise popart_exception("availableMemoryProportion is "
                                   f"{availableMemoryProportion}; it must be in [0, 1)")
        self._set(nodeOutputNames, "__available_memory", FLOAT, float(availableMemoryProportion))

    def setPartialsType(self, nodeOutputName, partialsType):
        """Sets the type of partial sums: "FLOAT" or "HALF"."""
        if str(partialsType).upper() not in ("FLOAT", "HALF"):
            raise popart_exception(f"no type {partialsType!r} of partial sums; accepted: FLOAT and "
                                   "HALF")
        self._set(nodeOutputName, "__partials_type", STRING, str(partialsType).upper().encode())

    def getPartialsType(self, nodeOutputName):
        """Type of partial sums."""
        if self.nodeHasAttribute("__partials_type", {nodeOutputName}):
            return self._attribute("__partials_type", {nodeOutputName}, (STRING,)).decode()
        return "FLOAT"

    def setEnableConvDithering(self, nodeOutputName, value):
        """Sets the dithering of a convolution."""
        self._set(nodeOutputName, "__enable_conv_dithering", INT, int(value))

    def setSerializeMatMul(self, nodeOutputNames, mode, factor=0, keep_precision=False):
        """Computes a product in parts."""
        ids = [nodeOutputNames] if isinstance(nodeOutputNames, str) else list(nodeOutputNames)
        if mode not in ("input_channels", "reducing_dim", "output_channels", "none"):
            raise popart_exception(f"no mode {mode!r}; accepted: input_channels, reducing_dim, "
                                   "output_channels and none")
        self._set(ids, "__serialize_matmul_mode", STRING, mode.encode())
        if mode != "none":
            self._set(ids, "__serialize_matmul_factor", INT, int(factor))
            self._set(ids, "__serialize_matmul_precision", INT, int(keep_precision))

    def setInplacePreferences(self, nodeOutputName, preferences):
        """Sets the priorities of in-place forms of a node."""
        self._set(nodeOutputName, "__inplace_op_names", STRINGS,
                  [str(key).encode() for key in preferences])
        self._set(nodeOutputName, "__inplace_op_priorities", FLOATS,
                  [float(value) for value in preferences.values()])

    def excludePatterns(self, nodeOutputName, patternNames):
        """Names patterns that leave a node as it is."""
        self._set(nodeOutputName, "__exclude_patterns", STRINGS,
                  [str(name).encode() for name in patternNames])

    @translate
    def checkpointOutput(self, nodeOutputNames):
        """Adds an Identity for each tensor, which the backward pass keeps. Returns their ids."""
        return self._names(self._core.checkpoint([self._id(name) for name in nodeOutputNames]))


def _custom(owner, key, value):
    """(kind, value) of an attribute of any kind."""
    if isinstance(value, (bool, int, np.integer)):
        return INT, int(value)
    if isinstance(value, (float, np.floating)):
        return FLOAT, float(value)
    if isinstance(value, str):
        return STRING, value.encode()
    if isinstance(value, bytes):
        return STRING, value
    if isinstance(value, (list, tuple)) and value:
        if all(isinstance(item, (int, np.integer)) for item in value):
            return INTS, [int(item) for item in value]
        if all(isinstance(item, (float, np.floating)) for item in value):
            return FLOATS, [float(item) for item in value]
        if all(isinstance(item, str) for item in value):
            return STRINGS, [item.encode() for item in value]
    raise popart_exception(f"attribute {key!r} of {owner} has a value of a kind that attributes do "
                           f"not have: {value!r}")
