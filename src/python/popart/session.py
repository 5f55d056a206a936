# SPDX-License-Identifier: MIT
"""InferenceSession and TrainingSession."""

import json
import os
import warnings

import numpy as np

import poprt
from poprt import _arrays, _core, _env

from .dataflow import DataFlow, InputShapeInfo
from .enums import (AnchorReturnTypeId, DeviceConnectionType, DeviceType, ReplicatedStreamMode,
                    SyntheticDataMode)
from .errors import (OutOfMemoryError, OutOfMemoryException, poplar_exception, popart_exception,
                     popart_runtime_error, translate, translated)
from .options import SessionOptions
from .patterns import Patterns
from .stepio import PyStepIO, PyStepIOCallback
from .tensorinfo import TensorInfo, name_of_code, type_code

_INPUT, _OUTPUT = 0, 1
_WEIGHTS = 4  # list of a builder
# Options that steer parts of an IPU, or ask for what always holds. They are not checked further.
_WITHOUT_EFFECT = {row[0] for row in _core.option_names() if row[5] in (1, 2)}
_INT32, _INT64, _UINT32, _UINT64 = 6, 7, 12, 13
# Types that PopART's devices do not have, and what stands for them.
_NARROW = {_INT64: _INT32, _UINT64: _UINT32}
_RETURN = {AnchorReturnTypeId.Final: 0, AnchorReturnTypeId.EveryN: 1, AnchorReturnTypeId.All: 2,
           AnchorReturnTypeId.Sum: 3}


# First words of the names of Poplar's engine options, which have no effect on a processor.
_ENGINE_OPTIONS = {"autoReport", "debug", "exchange", "opt", "prng", "profiler", "streamCallbacks",
                   "target", "gcl", "graphCompilation", "compilation", "instrument", "report"}


def _find_model(fnModel):
    if isinstance(fnModel, (bytes, bytearray, str, os.PathLike)):
        return fnModel
    if hasattr(fnModel, "SerializeToString"):
        return fnModel
    raise TypeError("__init__(): incompatible constructor arguments. A model is bytes or the path "
                    "of a file")


class _Session:
    """What both kinds of sessions share."""

    _TRAINING = False

    def _construct(self, fnModel, dataFlow, deviceInfo, inputShapeInfo, patterns, userOptions, name,
                   loss=None, optimizer=None):
        if deviceInfo is None:
            raise popart_exception("deviceInfo is None; a session needs a device")
        if not isinstance(dataFlow, DataFlow):
            raise TypeError("__init__(): incompatible constructor arguments. dataFlow is a DataFlow")
        options = userOptions if userOptions is not None else SessionOptions()
        self._options = options
        self._flow = dataFlow
        self._device = deviceInfo
        self._name = name
        self._patterns = patterns if patterns is not None else Patterns()
        self._optimizer = optimizer
        self._loss = loss
        self._core = None
        self._io = None
        self._deferred = None
        self._weights_sent = False
        self._runs = 0
        self._host = None
        self._report = None
        options.check(self._TRAINING)
        for key in options.engineOptions:
            if not str(key).split(".")[0] in _ENGINE_OPTIONS:
                raise poplar_exception(f"engineOptions: Unrecognised option '{key}'")
        _env.find_plugins()
        self._env = _env.environment()
        with translated():
            self._model = self._load(_find_model(fnModel), inputShapeInfo or InputShapeInfo())
            self._config = self._make_config()
            self._compile()

    def _load(self, source, shapes):
        try:
            model = poprt.Model.load(source)
        except poprt.Unsupported:
            source = _with_contents(source)
            if source is None:
                raise
            model = poprt.Model.load(source)
        for name in shapes.getAllTensorIds():
            if name in [row[0] for row in model._core.io(_INPUT)]:
                model._core.set_input_shape(name, tuple(shapes.get(name).shape()))
        return model

    def _make_config(self):
        config = _core.Config(self._env)
        options = self._options
        for key, value in options.keys() + self._patterns.keys():
            if key in _WITHOUT_EFFECT or key == "constantWeights" and self._TRAINING:
                continue
            config.set(key, value)
        if options.logDir:
            config.set("logDir", options.logDir)
        if options.enableEngineCaching and options.cachePath:
            config.set("enableEngineCaching", "true")
            config.set("cachePath", options.cachePath)
        if self._TRAINING and options.enableGradientAccumulation:
            config.set("enableGradientAccumulation", "true")
            config.set("accumulationFactor", str(options.accumulationFactor))
        return config

    def _make_flow(self):
        flow = _core.Flow(self._env, self._flow.batchesPerStep())
        for name in self._flow.anchors():
            art = self._flow.art(name)
            flow.anchor(name, _RETURN[art.id()], art._period or 1)
        for key, value in self._model.info["properties"].items():
            if key.startswith("__replicated_stream_mode/") and \
                    int(value) == int(ReplicatedStreamMode.Broadcast):
                flow.input(key.partition("/")[2], 0)
        return flow

    def _compile(self):
        flow = self._make_flow()
        progress = self._options.compilationProgressLogger
        total = self._options.compilationProgressTotal
        if progress is not None:
            progress(0, total)
        try:
            if self._TRAINING:
                self._executable = _core.Executable.train(
                    self._model._core, self._loss, self._optimizer._core, flow,
                    [] if "__without_weights" in self._model.info["properties"] else None, None,
                    self._config)
            else:
                self._executable = _core.Executable.compile(self._model._core, flow, self._config)
        except poprt.OutOfMemory as error:
            self._deferred = error
            return
        if progress is not None:
            progress(total, total)
        self._describe()

    def _describe(self):
        """Types of inputs and anchors, as PopART's devices have them."""
        self._inputs, self._outputs = {}, {}
        narrow = self._options.enableSupportedDataTypeCasting
        builder = None
        for direction, table in ((_INPUT, self._inputs), (_OUTPUT, self._outputs)):
            for index, row in enumerate(self._executable.io(direction)):
                code, dims = row[2], row[3]
                if dims is None or any(dim < 0 for dim in dims):
                    builder = builder or _core.Builder.from_model(self._model._core)
                    number = builder.find(row[0])
                    if number:
                        dims = builder.type(number)[1]
                shown = _NARROW.get(code, code) if narrow else code
                table[row[0]] = (code, shown, dims, self._executable.batching(direction, index))

    # ---- life

    @property
    def dataFlow(self):
        """The DataFlow."""
        return self._flow

    @property
    def replicationFactor(self):
        """Replicas of this process."""
        return self._options.replicas()

    @property
    def accumulationFactor(self):
        """Micro-batches of a replica between updates."""
        return self._options.accumulationFactor if self._options.enableGradientAccumulation else 1

    def prepareDevice(self, loadEngine=True):
        """Makes the memory of the session. Raises OutOfMemoryException if there is too little."""
        if self._deferred is not None:
            raise OutOfMemoryException(OutOfMemoryError(self._deferred))
        if self._core is not None:
            return
        try:
            self._core = _core.Session(self._executable, self._session_config(), True)
        except poprt.Error as error:
            if error.status == "POPRT_E_NOMEM":
                raise OutOfMemoryException(OutOfMemoryError(error)) from error
            with translated():
                raise
        with translated():
            self._core.profile(True)

    def _session_config(self):
        return self._config

    def _ready(self):
        if self._core is None:
            raise popart_exception("the device is not prepared; call prepareDevice first")
        return self._core

    def loadEngineAndConnectStreams(self):
        """Does nothing: ``run`` does it."""
        self._ready()

    def initAnchorArrays(self):
        """New arrays of the anchors, of the shapes that a run returns."""
        for name in self._flow.anchors():
            if self._outputs[name][2] is None or min(self._outputs[name][2], default=0) < 0:
                raise popart_exception(f"the shape of anchor {name!r} depends on data, and is not "
                                       "known before a run")
        return {name: np.empty(self._anchor_shape(name), _arrays.numpy_dtype(self._outputs[name][1]))
                for name in self._flow.anchors()}

    def _anchor_shape(self, name):
        dims = list(self._outputs[name][2])
        art = self._flow.art(name)
        batches = self._flow.batchesPerStep()
        replicas, accumulation = self.replicationFactor, self.accumulationFactor
        if art.id() == AnchorReturnTypeId.All:
            prefix = [batches, accumulation, replicas]
        elif art.id() == AnchorReturnTypeId.EveryN:
            prefix = [batches // art.rp(), accumulation, replicas]
        else:
            prefix = [replicas]
        return [dim for dim in prefix if dim != 1] + dims

    # ---- running

    def run(self, *args, **kwargs):
        """Runs once: ``run(stepio[, debugName])`` or ``run(programHandle, stepio[, debugName])``."""
        args = list(args)
        for key in ("programHandle", "stepio", "debugName"):
            if key in kwargs:
                args.append(kwargs[key])
        program = None
        if args and isinstance(args[0], str):
            program = args.pop(0)
        if not args or not isinstance(args[0], (PyStepIO, PyStepIOCallback)):
            raise TypeError("run(): incompatible function arguments. A run needs a PyStepIO or "
                            "PyStepIOCallback")
        self._ready()
        if self._device.connectionType == DeviceConnectionType.Never:
            raise popart_exception("Offline IPU device is not configured for execution")
        if self._TRAINING and not self._weights_sent and self._has_weights():
            raise popart_exception("weightsFromHost must be called before run, because the model "
                                   "has initializers")
        stepio = args[0]
        self._host = None
        if isinstance(stepio, PyStepIOCallback):
            self._run_callbacks(stepio, program)
        else:
            self._run_arrays(stepio, program)
        self._runs += 1

    def _has_weights(self):
        return any(row[1] == 3 for row in self._core.tensors())

    def _convert(self, name, array, code, writable):
        """An array of the executable's type for one of the caller's."""
        wanted = _arrays.numpy_dtype(code)
        if array.dtype == wanted or wanted.itemsize == array.dtype.itemsize and \
                code > 15 and array.dtype == np.uint8:
            return array
        have = _arrays.dtype_code(array.dtype)
        shown = _NARROW.get(code, code)
        if writable:
            if have == shown:
                return np.empty(array.shape, wanted)
        elif have in (shown, code) or (have == _INT64 and code == _INT32) or \
                (have == _UINT64 and code == _UINT32):
            if have == _INT64 and code == _INT32:
                _warn_once(f"the array of {name} is int64 and is converted to int32")
            converted = array.astype(wanted)
            if not np.array_equal(converted, array):
                raise popart_runtime_error(f"the array of {name!r} has numbers that do not fit "
                                           f"{wanted}")
            return converted
        raise popart_runtime_error(f"Type discrepancy for tensor {name}: the array is of "
                                   f"{array.dtype}, the tensor of {_arrays.numpy_dtype(shown)}")

    def _check_count(self, name, what, table, array):
        code, _, dims, batching = table[name]
        if dims is None or any(dim < 0 for dim in dims):
            return
        count = 1
        for dim in dims:
            count *= dim
        batches, accumulation, replicas = batching[:3]
        if what == "output":
            count = int(np.prod(self._anchor_shape(name), dtype=np.int64))
        else:
            mode = self._model.info["properties"].get("__replicated_stream_mode/" + name)
            broadcast = mode is not None and int(mode) == int(ReplicatedStreamMode.Broadcast)
            count *= (self._flow.batchesPerStep() * self.accumulationFactor *
                      (1 if broadcast else self.replicationFactor))
        if array.size != count:
            raise popart_exception(f"Unexpected number of {what} elements for Tensor {name}. "
                                   f"Expected {count}, but received {array.size}. The session has "
                                   f"batches per step {self._flow.batchesPerStep()}, accumulation "
                                   f"factor {self.accumulationFactor} and replication factor "
                                   f"{self.replicationFactor}. (enableRuntimeAsserts(False) ends "
                                   "this check.)")

    def _run_arrays(self, stepio, program):
        synthetic = self._options.syntheticDataMode != SyntheticDataMode.Off
        io = _core.StepIO(self._core, None)
        if not synthetic:
            for name, array in stepio._inputs.items():
                if name not in self._inputs:
                    if name in self._known_inputs():
                        continue  # folded away
                    raise popart_exception(f"the model has no input {name!r}; inputs: " +
                                           ", ".join(self._inputs))
                if stepio._asserts:
                    self._check_count(name, "input", self._inputs, array)
            for name in self._inputs:
                if name not in stepio._inputs:
                    raise popart_exception(f"No tensor {name} provided in PyStepIO's map of inputs")
        results = []
        with translated():
            if not synthetic:
                for slot, (name, (code, _, _, _)) in enumerate(self._inputs.items()):
                    io.bind(slot, self._convert(name, stepio._inputs[name], code, False))
            # An input may be an anchor too, so that outputs are found by their number.
            for slot, (name, (code, _, _, _)) in enumerate(self._outputs.items(),
                                                           len(self._inputs)):
                if name not in stepio._outputs:
                    if self._flow.isAnchored(name) and not synthetic:
                        raise popart_exception(f"No tensor {name} provided in PyStepIO's map of "
                                               "outputs")
                    continue
                array = stepio._outputs[name]
                if stepio._asserts and self._flow.isAnchored(name):
                    self._check_count(name, "output", self._outputs, array)
                target = self._convert(name, array, code, True)
                if target is not array:
                    results.append((name, array, target))
                io.bind(slot, target)
            io.run(program)
        for name, array, target in results:
            array[...] = target
        io.close()

    def _known_inputs(self):
        return ([row[0] for row in self._model._core.io(_INPUT)] +
                [row[0] for row in self._core.tensors() if row[1] in (2, 3)] +
                self._weights())

    def _weights(self):
        """Names of the initializers of the model."""
        builder = _core.Builder.from_model(self._model._core)
        return [builder.name(number) for number in builder.list(_WEIGHTS)]

    def _run_callbacks(self, stepio, program):
        receive, received, provide, provided = stepio._functions
        held = {}

        def give_input(name, prefetch):
            array = receive(name, prefetch)
            if array is None or (isinstance(array, np.ndarray) and array.ndim == 0 and prefetch and
                                 self._inputs[name][2] not in ((), None)):
                if prefetch:
                    return None
                raise popart_runtime_error(f"no data for input {name!r}")
            return self._convert(name, np.asarray(array), self._inputs[name][0], False)

        def give_output(name):
            array = provide(name)
            target = self._convert(name, array, self._outputs[name][0], True)
            if target is not array:
                held[name] = (array, target)
            return target

        def output_done(name):
            if name in held:
                array, target = held.pop(name)
                array[...] = target
            provided(name)

        with translated():
            io = _core.StepIO(self._core, (give_input, received, give_output, output_done))
            io.run(program)
            io.close()

    # ---- weights

    def weightsFromHost(self):
        """Sends the weights of the host to the session."""
        core = self._ready()
        self._weights_sent = True
        if self._host is not None and self._host_changed:
            with translated():
                for name, array in self._host.items():
                    core.write_weight(name, array)
            self._host_changed = False

    def weightsToHost(self):
        """Fetches the weights of the session for readWeights."""
        self._ready()

    def buffersFromHost(self):
        """Sends the buffers of updatableNamedBuffers to the session."""
        self._ready()
        self.weightsFromHost()

    def _variables(self):
        return [row[0] for row in self._ready().tensors() if row[1] in (2, 3)]

    def readWeights(self, weightsIo):
        """Writes the weights into the arrays of a PyWeightsIO; weights it does not name are
        skipped."""
        core = self._ready()
        with translated():
            for name, array in weightsIo._weights.items():
                try:
                    value = core.read_weight(name, None)
                except poprt.NotFound:
                    raise popart_exception(f"the session has no weight {name!r}") from None
                code = _arrays.dtype_code(array.dtype)
                if value.size != array.size and self._grouped(name, array, value):
                    continue
                if value.size != array.size:
                    raise popart_exception(f"the array of {name!r} has {array.size} elements; the "
                                           f"weight has {value.size}")
                if array.dtype != value.dtype and code not in (_INT32, _UINT32):
                    raise popart_exception(f"the array of {name!r} is of {array.dtype}; the weight "
                                           f"is of {value.dtype}")
                array[...] = value.reshape(array.shape)

    def _grouped(self, name, array, value):
        """Fills an array with a value for each of the groups or replicas that read it."""
        if value.size and array.size % value.size == 0 and \
                "__variable_settings/" + name in self._model.info["properties"]:
            array[...] = np.broadcast_to(value.reshape(array.shape[1:]), array.shape)
            return True
        return False

    def writeWeights(self, weightsIo):
        """Takes weights from the arrays of a PyWeightsIO; weightsFromHost sends them."""
        core = self._ready()
        self._refuse_constants("writeWeights")
        if self._host is None:
            self._host = {}
        with translated():
            for name, array in weightsIo._weights.items():
                value = core.read_weight(name, None)
                if value.size != array.size:
                    raise popart_exception(f"the array of {name!r} has {array.size} elements; the "
                                           f"weight has {value.size}")
                self._host[name] = array.reshape(value.shape).astype(value.dtype)
        self._host_changed = True

    def _refuse_constants(self, call):
        if not self._TRAINING and self._options.constantWeights:
            raise popart_exception(f"{call}: the weights are constants of the program; set the "
                                   "option constantWeights to False")

    def resetHostWeights(self, modelProtoOrFilename,
                         ignoreWeightsInModelWithoutCorrespondingHostWeight=False):
        """Replaces the weights by those of a model; weightsFromHost sends them."""
        core = self._ready()
        self._refuse_constants("resetHostWeights")
        with translated():
            model = poprt.Model.load(_find_model(modelProtoOrFilename))
            core.reset_weights(model._core,
                               2 if ignoreWeightsInModelWithoutCorrespondingHostWeight else 0)
        self._weights_sent = False

    def modelToHost(self, filename):
        """Writes the model with the present weights, and in training the optimizer's states."""
        core = self._ready()
        path = _writable(filename)
        with translated():
            if self._has_weights():
                model = core.export_model(self._model._core, self._TRAINING)
            else:
                model = self._model._core
            model.save_file(path, None)

    def updateExternallySavedTensorLocations(self, fromLocation, toLocation):
        """Changes the file that externally saved weights are in."""
        with translated():
            self._model._core.relocate_external(os.fspath(fromLocation), os.fspath(toLocation))

    def broadcastWeights(self, rootRank=0):
        """Does nothing: there is one process."""
        self._ready()

    # ---- random numbers

    @translate
    def setRandomSeed(self, seedValue):
        """Sets the seed of random operators."""
        self._ready().set_random_seed(int(seedValue) & 0xffffffffffffffff)

    @translate
    def getRandomSeed(self):
        """The seed of random operators."""
        return self._ready().progress()[2]

    def _refuse_state(self):
        if not self._options.enableLoadAndOffloadRNGState:
            raise popart_exception("the state of random numbers needs the option "
                                   "enableLoadAndOffloadRNGState")

    @translate
    def getRNGState(self):
        """The state of random numbers: a list of numbers, the same for each replica."""
        self._refuse_state()
        _, batches, seed = self._ready().progress()
        one = [batches & 0xffffffff, batches >> 32, seed & 0xffffffff, seed >> 32]
        return one * self.replicationFactor

    @translate
    def setRNGState(self, stateValue):
        """Sets the state of random numbers, as getRNGState returned it."""
        self._refuse_state()
        state = [int(n) for n in stateValue]
        if len(state) != 4 * self.replicationFactor:
            raise popart_exception(f"a state of {len(state)} numbers; the session has "
                                   f"{4 * self.replicationFactor}")
        self._ready().set_random_state(state[2] | state[3] << 32, state[0] | state[1] << 32)

    # ---- questions

    def getInfo(self, tensorId):
        """TensorInfo of a tensor of the session."""
        for table in (self._inputs, self._outputs):
            if tensorId in table:
                _, shown, dims, _ = table[tensorId]
                return TensorInfo(name_of_code(shown), list(dims))
        for row in self._tensors():
            if row[0] == tensorId and row[3] and row[4] is not None:
                return TensorInfo(name_of_code(row[3]), list(row[4]))
        raise popart_exception(f"the session has no tensor {tensorId!r}")

    def hasInfo(self, tensorId):
        """Tells whether the type of a tensor is known."""
        try:
            self.getInfo(tensorId)
        except popart_exception:
            return False
        return True

    def _tensors(self):
        if self._core is not None:
            return self._core.tensors()
        session = _core.Session(self._executable, self._config, True)
        rows = session.tensors()
        session.close()
        return rows

    def _ids(self):
        return list(dict.fromkeys(list(self._inputs) + list(self._outputs) +
                                  [row[0] for row in self._tensors() if row[0]]))

    @translate
    def getSummaryReport(self, resetProfile=True):
        """Report on memory and times, as text."""
        core = self._ready()
        text = core.report(0)
        if resetProfile:
            core.reset_profile()
        return text

    @translate
    def getReport(self):
        """Report on memory and times, as a dict."""
        return json.loads(self._ready().report(2))

    @translate
    def getSerializedGraph(self):
        """The program as bytes of JSON."""
        self._ready()
        return self._executable.describe(5, None).encode()

    @translate
    def getCycleCount(self, id=""):
        """Nanoseconds of the last run; needs the option instrumentWithHardwareCycleCounter."""
        core = self._ready()
        if not self._options.instrumentWithHardwareCycleCounter:
            raise popart_exception("the cycle count needs the option "
                                   "instrumentWithHardwareCycleCounter")
        if self._runs == 0:
            raise popart_exception("the cycle count is known after the first run")
        if id not in ("", "inner_ipu_0"):
            raise popart_exception(f"no cycle count of the name {id!r}")
        return core.cycle_count()

    @translate
    def _serializeIr(self, format=None):
        """The graph as JSON: names of graphs, and their operators. The main graph is called
        maingraph."""
        graphs = json.loads(self._executable.describe(6, None))
        return json.dumps({"maingraph" if name == "main" else name: graph
                           for name, graph in graphs.items()})

    def checkInplacingAmbiguity(self):
        """Does nothing: the order of in-place writes is always defined."""

    # ---- files

    @translate
    def compileAndExport(self, filename):
        """Writes the executable."""
        self._executable.save_file(_target(filename, "executable.popef"))

    @translate
    def saveExecutable(self, path, savePopartMetadata=True, saveVariables=True):
        """Writes the executable, with the weights that it has."""
        self._executable.save_file(_target(path, "executable.popef"))

    @translate
    def saveVariables(self, path):
        """Writes the weights."""
        self._ready().save_variables(_target(path, "variables.popef"))

    @translate
    def loadExecutable(self, filename):
        """Takes the executable of a file in place of the compiled one."""
        path = os.path.expanduser(os.fspath(filename))
        self._executable = _core.Executable.load_file(self._env, path, None)
        self._describe()

    def updateEngineCache(self):
        """Looks at the cache again: each compilation does."""


# Files that builders of this process have written, by the names that their models have for them.
external_files = {}


def _with_contents(source):
    """A model in memory with the contents of its external files: absolute paths, files that a
    builder has written, or files below the working directory; None if it has none."""
    if not isinstance(source, (bytes, bytearray)) or b"external" not in source and \
            b"location" not in source:
        return None
    import onnx
    model = onnx.load_model_from_string(bytes(source))
    for tensor in model.graph.initializer:
        place = {entry.key: entry.value for entry in tensor.external_data}
        if tensor.data_location != onnx.TensorProto.EXTERNAL or "location" not in place:
            continue
        path = place["location"]
        if not os.path.exists(path):
            path = external_files.get(path, path)
        try:
            with open(path, "rb") as file:
                file.seek(int(place.get("offset", 0)))
                tensor.raw_data = file.read(int(place.get("length", -1)))
        except OSError as error:
            raise popart_exception(f"external data of {tensor.name!r}: {error}") from error
        tensor.data_location = onnx.TensorProto.DEFAULT
        del tensor.external_data[:]
    return model.SerializeToString()


def _writable(filename):
    path = os.path.expanduser(os.fspath(filename))
    folder = os.path.dirname(path)
    if folder:
        os.makedirs(folder, exist_ok=True)
    if os.path.exists(path) and not os.access(path, os.W_OK) or \
            not os.access(folder or ".", os.W_OK):
        raise OSError(f"the file {path!r} cannot be written")
    return path


def _target(filename, name):
    path = os.path.expanduser(os.fspath(filename))
    if os.path.isdir(path):
        path = os.path.join(path, name)
    return _writable(path)


_warned = set()


def _warn_once(text):
    if text not in _warned:
        _warned.add(text)
        warnings.warn(text, stacklevel=4)


class InferenceSession(_Session):
    """Runs a model. All checks of the model, anchors and options happen here."""

    def __init__(self, fnModel, dataFlow, deviceInfo, inputShapeInfo=None, patterns=None,
                 userOptions=None, name="inference"):
        self._construct(fnModel, dataFlow, deviceInfo, inputShapeInfo, patterns, userOptions, name)

    @classmethod
    def fromIr(cls, ir, deviceInfo, name="fromIr"):
        """Makes a session of the graph of another session (``getIr``)."""
        session = cls.__new__(cls)
        session.__dict__.update(ir._session.__dict__)
        session._device, session._name, session._core = deviceInfo, name, None
        session._runs = 0
        return session

    def getIr(self):
        """The graph, for ``fromIr``."""
        return Ir(self)

    def getAllTensorIds(self):
        """Names of all tensors."""
        return self._ids()


class Ir:
    """The graph of a session."""

    def __init__(self, session):
        self._session = session


class TrainingSession(_Session):
    """Trains a model: each run is a step."""

    _TRAINING = True

    def __init__(self, fnModel, dataFlow, loss, optimizer, deviceInfo, inputShapeInfo=None,
                 patterns=None, userOptions=None, name="training"):
        if not isinstance(loss, str):
            raise TypeError("__init__(): incompatible constructor arguments. loss is the name of a "
                            "tensor")
        if not hasattr(optimizer, "_core"):
            raise TypeError("__init__(): incompatible constructor arguments. optimizer is an "
                            "Optimizer")
        self._construct(fnModel, dataFlow, deviceInfo, inputShapeInfo, patterns, userOptions, name,
                        loss, optimizer)

    def getTensorIds(self):
        """Names of all tensors."""
        return self._ids()

    getAllTensorIds = getTensorIds

    def getIr(self):
        """The graph."""
        return Ir(self)

    @translate
    def updateOptimizerFromHost(self, optimizer):
        """Replaces the values of the optimizer that are not constant."""
        if isinstance(optimizer, str) or not hasattr(optimizer, "_core"):
            raise TypeError("updateOptimizerFromHost(): incompatible function arguments. An "
                            "Optimizer is needed")
        self._ready().update_optimizer(optimizer._core)
        self._optimizer = optimizer
