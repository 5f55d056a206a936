# SPDX-License-Identifier: MIT
"""Models, executables and sessions: the layer of libpoprt's own names."""

import json
import os
from collections import namedtuple

import numpy as np

from . import _arrays, _core, _env, _source
from . import config as _config
from .errors import InvalidArgument, NotFound

_FORMATS = {"summary": 0, "text": 1, "json": 2, "dot": 3, "steps": 4, "steps_json": 5,
            "graphs": 6, "sharding": 7}
_TENSOR, _SEQUENCE, _OPTIONAL, _MAP = 1, 2, 3, 4
_INPUT, _OUTPUT = 0, 1

ValueInfo = namedtuple("ValueInfo", "name kind dtype shape dims item_kind key_dtype graph")
ValueInfo.__doc__ = """An input or output.

``kind`` is "tensor", "sequence", "optional" or "map"; ``dtype`` a numpy dtype; ``shape`` a tuple of
numbers, names of symbolic dimensions and None for unknown ones, or None if the rank is unknown;
``graph`` the index of the fused model that it belongs to, else -1."""
_KINDS = {1: "tensor", 2: "sequence", 3: "optional", 4: "map", 0: None}


def _info(row):
    name, kind, dtype, dims, names, item, key, graph = row
    shape = None
    if dims is not None:
        shape = tuple(dim if dim >= 0 else (text if text not in ("", "?") else None)
                      for dim, text in zip(dims, names))
    return ValueInfo(name, _KINDS[kind], _arrays.numpy_dtype(dtype) if dtype else None, shape, dims,
                     _KINDS[item], _arrays.numpy_dtype(key) if key else None, graph)


def _format(name):
    if name not in _FORMATS:
        raise ValueError(f"no format of a description: {name!r}; accepted: " + ", ".join(_FORMATS))
    return _FORMATS[name]


class _Closing:
    """Context managers over a handle of the extension."""

    def close(self):
        """Releases what the object holds. Any later use raises ValueError."""
        self._core.close()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()


class Model(_Closing):
    """An ONNX model: read, changed by passes, then saved or compiled. One thread at a time may use
    a model; another one gets a StateError."""

    def __init__(self, core, env):
        self._core = core
        self._env = env

    @classmethod
    def load(cls, model, config=None, **options):
        """Reads ONNX, TensorFlow or TFLite from a path or bytes, or an onnx.ModelProto. The options
        graph_inputs, graph_outputs, signature_def and so on are for models of TensorFlow."""
        config = _config.make(config, kwargs=options)
        env = _env.environment(config.threads)
        return cls(_source.load_model(env, model, config.handle(env)), env)

    @classmethod
    def fuse(cls, models):
        """Makes one model of 2 to 64; a run of its executable runs one of them. See
        poprt_model_fuse."""
        models = list(models)
        return cls(_core.Model.fuse([m._core for m in models]), models[0]._env)

    @property
    def inputs(self):
        """List of ValueInfo."""
        return [_info(row) for row in self._core.io(_INPUT)]

    @property
    def outputs(self):
        """List of ValueInfo."""
        return [_info(row) for row in self._core.io(_OUTPUT)]

    @property
    def info(self):
        """Metadata of the file: a dict; its ``properties`` are a dict."""
        return self._core.info()

    def set_property(self, key, value):
        """Sets an entry of the metadata, or removes it (None)."""
        self._core.set_property(key, value)

    def set_input_shape(self, name, dims):
        """Fixes the shape of an input; -1 leaves a dimension open."""
        self._core.set_input_shape(name, tuple(int(d) for d in dims))

    def save(self, path, convert_version=0):
        """Writes ONNX; ``convert_version`` is the opset of ai.onnx; 0: that of the model."""
        config = None
        if convert_version:
            config = _config.Config(convert_version=convert_version).handle(self._env)
        self._core.save_file(os.fspath(path), config)

    def to_bytes(self):
        """Returns ONNX as bytes, at most 2 GiB."""
        return self._core.to_bytes()

    def to_proto(self):
        """Returns an onnx.ModelProto; needs the package onnx."""
        return _source.to_proto(self._core)

    def describe(self, format="summary"):
        """Describes the model: "summary", "text", "json", "dot", "graphs" or "sharding"."""
        return self._core.describe(_format(format))

    def clone(self):
        """Returns a copy, which shares the weights."""
        return Model(self._core.clone(), self._env)

    def run_pass(self, name, **options):
        """Runs one pass with its options."""
        manager = PassManager([(name, options)])
        return manager.run(self)

    def compile(self, config=None, **options):
        """Compiles the model for runs of one batch each."""
        config = _config.make(config, kwargs=options)
        core = _core.Executable.compile(self._core, None, config.handle(self._env))
        return Executable(core, self._env)

    def compile_flow(self, batches_per_step=1, anchors=None, config=None, **options):
        """Compiles the model for runs of several batches each, which return anchors: names of any
        tensors, or a dict of names and "final", "all", "sum" or ("every_n", N)."""
        from .builder import make_flow
        config = _config.make(config, kwargs=options)
        flow = make_flow(self._env, batches_per_step, anchors)
        return Executable(_core.Executable.compile(self._core, flow, config.handle(self._env)),
                          self._env)

    def train(self, loss, optimizer, batches_per_step=1, anchors=None, weights=None, frozen=None,
              config=None, **options):
        """Compiles a training program: a run of its sessions is a step. ``loss`` is the name of a
        tensor of one element, ``optimizer`` a poprt.Optimizer; anchors may be gradients,
        "Gradient___<name>". Gradient accumulation and replicas are options."""
        from .builder import make_flow
        config = _config.make(config, kwargs=options)
        flow = make_flow(self._env, batches_per_step, anchors)
        core = _core.Executable.train(
            self._core, loss, optimizer._core, flow, None if weights is None else list(weights),
            None if frozen is None else list(frozen), config.handle(self._env))
        return Executable(core, self._env)

    def __getstate__(self):
        return {"bytes": self.to_bytes()}

    def __setstate__(self, state):
        self._env = _env.environment()
        self._core = _source.load_model(self._env, state["bytes"])

    def __repr__(self):
        return f"<poprt.Model with inputs {[i.name for i in self.inputs]}>"


def _arg_text(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)) and all(isinstance(v, (str, int, float)) for v in value):
        return ",".join(str(v) for v in value)
    if isinstance(value, (dict, list, tuple)):
        return json.dumps(value)
    return str(value)


class PassManager:
    """A list of passes of the C library: names, or pairs of a name and a dict of options."""

    def __init__(self, passes=(), gather_ir_passes=False):
        self._env = _env.environment()
        self._core = _core.PassManager(self._env)
        self._core.gather_ir_passes(gather_ir_passes)
        for entry in passes:
            if isinstance(entry, str):
                self.add(entry)
            else:
                self.add(entry[0], **entry[1])

    def add(self, name, **options):
        """Appends a pass. Options are those of ``poprt.pass_options(name)``."""
        self._core.add(name, [(k, _arg_text(v)) for k, v in options.items() if v is not None])

    def add_pipeline(self, name="convert", config=None, **options):
        """Appends all passes of a conversion."""
        config = _config.make(config, kwargs=options)
        self._core.add_pipeline(name, config.handle(self._env))

    def names(self):
        """Names of the passes of the list."""
        return self._core.names()

    def sort(self):
        """Sorts the list by the constraints of its passes."""
        self._core.sort()

    def run(self, model):
        """Runs the passes on a model. Returns a list of (pass, stage, milliseconds, changed, nodes
        before, nodes after)."""
        return self._core.run(model._core)


class Executable(_Closing):
    """A compiled model. Sessions on any thread may share it.

    ``Executable(path)`` opens PopEF, as ``Executable.load`` does; a list of paths is one file in
    several parts. Opaque blobs are bytes of programs that travel in the file.
    """

    _source = None  # path or bytes of the PopEF whose opaque blobs were not read yet

    def __init__(self, source, env=None):
        self._blobs = {}
        if isinstance(source, _core.Executable):
            self._core = source
            self._env = env
            return
        if isinstance(source, (list, tuple)):
            source = b"".join(_read(path) for path in source)
        made = type(self).load(source)
        self._core, self._env, self._source = made._core, made._env, made._source

    @classmethod
    def load(cls, source, config=None, **options):
        """Opens PopEF: a path (of a file or a folder with executable.popef), or bytes."""
        config = _config.make(config, kwargs=options)
        env = _env.environment(config.threads)
        handle = config.handle(env)
        if isinstance(source, (bytes, bytearray, memoryview)):
            source = bytes(source)
            made = cls(_core.Executable.load_bytes(env, source, handle), env)
        else:
            source = os.fspath(source)
            made = cls(_core.Executable.load_file(env, source, handle), env)
        made._source = source
        return made

    @classmethod
    def of_programs(cls, programs, config=None, **options):
        """Compiles a dict of names and models to one executable with a program of each name."""
        config = _config.make(config, kwargs=options)
        models = [(name, model._core) for name, model in programs.items()]
        env = next(iter(programs.values()))._env
        return cls(_core.Executable.compile_programs(models, config.handle(env)), env)

    def save(self, path):
        """Writes PopEF."""
        path = os.fspath(path)
        if not self._opaque():
            self._core.save_file(path)
        elif os.path.isdir(path) or path.endswith(os.sep):
            os.makedirs(path, exist_ok=True)
            self.save(os.path.join(path, "executable.popef"))
        else:
            data = self.to_bytes()
            with open(path + ".part", "wb") as file:
                file.write(data)
            os.replace(path + ".part", path)

    def to_bytes(self):
        """Returns PopEF as bytes."""
        data = self._core.to_bytes()
        blobs = self._opaque()
        if not blobs:
            return data
        name = next(json.loads(blob[2])["name"] for blob in _core.popef_bytes(data, False, False)
                    if blob[0] == 0)
        for key, value in blobs.items():
            head = json.dumps({"name": key, "executable": name})
            data += _core.popef_blob(4, head, value, len(data))
        return data

    def _opaque(self):
        """The opaque blobs, which are read from the file when they are first needed."""
        if self._source is not None:
            source, self._source = self._source, None
            if isinstance(source, bytes):
                rows = _core.popef_bytes(source, False, False)
            else:
                if os.path.isdir(source):
                    source = os.path.join(source, "executable.popef")
                rows = _core.popef_file(source, False, False)
            found = {json.loads(row[2]).get("name", ""): row[7] for row in rows if row[0] == 4}
            self._blobs = {**found, **self._blobs}
        return self._blobs

    def append_opaque_blobs(self, blobs, value=None):
        """Adds opaque blobs, which ``save`` writes: a dict of names and texts or bytes, or one name
        and its value."""
        if isinstance(blobs, str):
            blobs = {blobs: value}
        elif isinstance(blobs, tuple) and len(blobs) == 2:
            blobs = {blobs[0]: blobs[1]}
        for name, data in dict(blobs).items():
            if not isinstance(name, str) or not name:
                raise TypeError("the name of an opaque blob is a text that is not empty")
            if not isinstance(data, (str, bytes, bytearray, memoryview)):
                raise TypeError(f"opaque blob {name!r} is a text or bytes, not a "
                                f"{type(data).__name__}")
            self._opaque()[name] = data.encode() if isinstance(data, str) else bytes(data)

    def get_opaque_blobs(self):
        """Returns a dict of the names of opaque blobs and their contents: texts, or bytes that are
        not UTF-8."""
        return {name: _text(data) for name, data in self._opaque().items()}

    def get_popef_model(self):
        """Returns the popef.Model of the executable."""
        import io
        import popef
        reader = popef.Reader()
        reader.parseStream(io.BytesIO(self.to_bytes()))
        return popef.ModelBuilder(reader).createModel()

    getPopefModel = get_popef_model
    appendOpaqueBlobs = append_opaque_blobs
    getOpaqueBlobs = get_opaque_blobs

    @property
    def inputs(self):
        """List of ValueInfo."""
        return [_info(row) for row in self._core.io(_INPUT)]

    @property
    def outputs(self):
        """List of ValueInfo."""
        return [_info(row) for row in self._core.io(_OUTPUT)]

    @property
    def info(self):
        """Metadata of the file of the model: a dict."""
        return self._core.info()

    @property
    def programs(self):
        """Names of the programs; empty for an executable of one model."""
        return self._core.programs()

    def memory(self, config=None, **options):
        """Bytes of a session: a dict with created, scratch, outputs, and is_planned."""
        config = _config.make(config, kwargs=options)
        row = self._core.memory(config.handle(self._env))
        return dict(zip(("created", "scratch", "outputs", "is_planned"), row))

    def describe(self, format="summary", config=None, **options):
        """Describes the executable: "summary", "text", "json", "dot", "steps", "steps_json" or
        "graphs"."""
        config = _config.make(config, kwargs=options)
        return self._core.describe(_format(format), config.handle(self._env))

    def session(self, config=None, **options):
        """Makes a session."""
        return Session(self, config, **options)

    def __getstate__(self):
        return {"bytes": self.to_bytes()}

    def __setstate__(self, state):
        self._env = _env.environment()
        self._core = _core.Executable.load_bytes(self._env, state["bytes"], None)
        self._blobs, self._source = {}, state["bytes"]

    def __repr__(self):
        return f"<poprt.Executable with inputs {[i.name for i in self.inputs]}>"


def _read(path):
    with open(path, "rb") as file:
        return file.read()


def _text(data):
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


def _map_pair(value):
    """A dict as the arrays of its keys and values."""
    keys = list(value)
    key_array = np.array(keys, object) if keys and isinstance(keys[0], str) \
        else np.array(keys, np.int64)
    return key_array, value


def _from_map(pair):
    keys, values = pair
    return dict(zip(keys.tolist(), values.tolist()))


def _nearest(name, names):
    import difflib
    near = difflib.get_close_matches(str(name), names, 3, 0.4)
    return ", ".join(near if near else names)


class Session(_Closing):
    """Runs an executable. Threads take turns; sessions of one executable run at the same time.

    ``source`` is an Executable, a Model, or what ``Model.load`` and ``Executable.load`` take.
    """

    def __init__(self, source, config=None, *, threads=None, dims=None, **options):
        config = _config.make(config, threads, dims, options)
        executable = _executable_of(source, config)
        self.executable = executable
        self._env = executable._env
        alone = self._env.width() == 1
        self._core = _core.Session(executable._core, config.handle(self._env), alone)
        self._rows = [executable._core.io(_INPUT), executable._core.io(_OUTPUT)]
        self._input_names = [row[0] for row in self._rows[0]]
        self._output_names = [row[0] for row in self._rows[1]]
        self._special = {row[0]: row for row in self._rows[0]
                         if row[1] != _TENSOR}
        self._maps = any(row[1] == _MAP or row[5] == _MAP for row in self._rows[1])
        self._wanted = {}
        self._io = None
        self._pool = None

    # ---- running

    def _indexes(self, outputs):
        key = tuple(outputs)
        indexes = self._wanted.get(key)
        if indexes is None:
            for name in key:
                if name not in self._output_names:
                    raise InvalidArgument(
                        "POPRT_E_ARG", "run", "", str(name),
                        "the model has no such output; its outputs: " +
                        _nearest(name, self._output_names))
            indexes = self._wanted[key] = tuple(self._output_names.index(name) for name in key)
        return indexes

    def _prepare(self, feed):
        """Makes arrays of scalars and lists, of the type of their input, and pairs of dicts."""
        result = dict(feed)
        for row in self._rows[0]:
            name, kind, dtype = row[0], row[1], row[2]
            if name not in result:
                continue
            value = result[name]
            if kind == _MAP and isinstance(value, dict):
                keys = np.array(list(value), object if row[6] == _arrays.STRING
                                else _arrays.numpy_dtype(row[6]))
                result[name] = keys, np.array(list(value.values()), _arrays.numpy_dtype(dtype))
            elif kind == _TENSOR and isinstance(value, (bool, int, float, str, list, tuple)):
                result[name] = np.array(value, _arrays.numpy_dtype(dtype))
        return result

    def _refuse(self, feed):
        missing = [name for name in self._input_names if name not in feed]
        unknown = [name for name in feed if name not in self._input_names]
        if unknown:
            raise InvalidArgument(
                "POPRT_E_ARG", "run", "", ", ".join(map(str, unknown)),
                "the model has no such input; its inputs: " +
                _nearest(unknown[0], self._input_names))
        raise InvalidArgument("POPRT_E_ARG", "run", "", ", ".join(missing), "no value was given")

    def run(self, feed, outputs=None):
        """Runs once. ``feed`` maps input names to arrays, ``outputs`` lists the names of the
        outputs to return (None: all). Returns a dict of new arrays in the order asked."""
        if outputs is None:
            return dict(zip(self._output_names, self.call(feed)))
        names = list(outputs)
        return dict(zip(names, self.call(feed, names)))

    def call(self, feed, outputs=None):
        """As ``run``, but returns a list of arrays."""
        wanted = None if outputs is None else self._indexes(outputs)
        if wanted is not None and len(set(wanted)) != len(wanted):
            found = dict(zip(wanted, self.call(feed, list(dict.fromkeys(outputs)))))
            return [found[index] for index in wanted]
        try:
            values = self._core.call(feed, wanted)
        except TypeError:
            if not isinstance(feed, dict):
                raise
            prepared = self._prepare(feed)
            if all(prepared[k] is feed[k] for k in feed):
                raise
            values = self._core.call(prepared, wanted)
        if values is None:
            self._refuse(feed)
        if self._maps:
            values = [self._python(value, index) for value, index in
                      zip(values, wanted if wanted is not None else range(len(values)))]
        return values

    def _python(self, value, index):
        row = self._rows[1][index]
        if row[1] == _MAP:
            return _from_map(value)
        if row[5] == _MAP and value is not None:
            return [_from_map(pair) for pair in value]
        return value

    # ---- bound runs

    def _stepio(self):
        if self._io is None:
            self._io = _core.StepIO(self._core, None)
        return self._io

    def bind(self, name, array):
        """Binds an array to an input or output for ``run_bound``; it is used in place until another
        one is bound. None ends the binding."""
        try:
            self._stepio().bind(name, array)
        except KeyError:
            names = self._input_names + self._output_names
            raise NotFound("POPRT_E_NOT_FOUND", "run", "", str(name),
                           "no such input or output; nearest: " + _nearest(name, names)) from None

    def bind_cache(self, input, output, array, rows=0):
        """Binds an input and an output to one buffer that grows by rows: keys or values of an
        attention. See poprt_stepio_bind_cache."""
        self._stepio().bind_cache(input, output, array, rows)

    def cache_rows(self, input):
        """Rows of a cache that the next run reads."""
        return self._stepio().cache_rows(input)

    def run_bound(self, program=None):
        """Runs with the bound arrays. Outputs that are not bound are read by ``output``."""
        self._stepio().run(program)

    def output(self, name):
        """Copy of an output of the last ``run_bound``."""
        return self._stepio().output(name)

    def submit(self, feed, outputs=None):
        """Queues a run, and returns a future of its dict, which can also be awaited."""
        if self._pool is None:
            from ._futures import Pool
            self._pool = Pool()
        return self._pool.submit(self.run, feed, outputs)

    def cancel(self):
        """Stops the run in progress with poprt.Cancelled. Any thread."""
        self._core.cancel()

    def recover(self):
        """Makes the session fit for the next run after a failure."""
        self._core.recover()

    # ---- weights

    def read_weight(self, name, out=None):
        """Returns a weight of the model by its name, or writes it into ``out``."""
        return self._core.read_weight(name, out)

    def write_weight(self, name, array):
        """Replaces a weight of this session; dtype and shape must be the same."""
        self._core.write_weight(name, array)

    # ---- training

    def update_optimizer(self, optimizer):
        """Replaces the values of the optimizer that are not constant, from the next step on."""
        self._core.update_optimizer(optimizer._core)

    @property
    def progress(self):
        """Dict with updates, micro_batches and seed."""
        return dict(zip(("updates", "micro_batches", "seed"), self._core.progress()))

    def set_random_seed(self, seed):
        """Sets the seed of random operators."""
        self._core.set_random_seed(int(seed))

    def save_checkpoint(self, path, keep=0):
        """Writes weights, optimizer states and counters; the file is complete or absent."""
        self._core.save_checkpoint(os.fspath(path), keep)

    def load_checkpoint(self, path):
        """Continues from a checkpoint, with the same bits as if nothing had been interrupted."""
        self._core.load_checkpoint(os.fspath(path))

    def save_variables(self, path):
        """Writes weights, statistics and states to a PopEF file of tensors."""
        self._core.save_variables(os.fspath(path))

    def load_variables(self, path):
        """Takes weights, statistics and states from a file of tensors."""
        self._core.load_variables(os.fspath(path))

    def export_model(self, model, with_state=False):
        """Returns a copy of the model with the present weights, and optionally states."""
        return Model(self._core.export_model(model._core, with_state), self._env)

    def reset_weights(self, model, ignore_unknown=False):
        """Replaces the weights by those of a model."""
        self._core.reset_weights(model._core, 2 if ignore_unknown else 0)

    def share_weights(self, weights):
        """Follows a poprt.Weights: runs begin with its contents if it has changed. None ends
        this."""
        self._core.share_weights(None if weights is None else weights._core)

    # ---- inspection

    @property
    def memory(self):
        """Bytes that the session holds now."""
        return self._core.memory()

    def watch(self, fn):
        """Calls ``fn(block, index, op, form, node, start_ns, stop_ns, location)`` after each step
        of later runs; None ends this."""
        self._core.watch(fn)

    def profile(self, on=True):
        """Begins, or ends, adding up the time of each step."""
        self._core.profile(on)

    def reset_profile(self):
        """Sets the times to 0."""
        self._core.reset_profile()

    def report(self, format="summary"):
        """Reports memory, the largest tensors, and times: "summary" or "json"."""
        return self._core.report(_format(format))

    def tensors(self):
        """Lists all tensors: dicts with name, kind, dtype, shape, size and block."""
        kinds = ("input", "output", "constant", "variable", "value")
        return [dict(name=name, kind=kinds[kind],
                     dtype=_arrays.numpy_dtype(dtype) if dtype else None, shape=dims, size=size,
                     block=block)
                for name, kind, _, dtype, dims, size, block in self._core.tensors()]

    def close(self):
        """Waits for submitted runs and releases the session."""
        if self._pool is not None:
            self._pool.shutdown()
        if self._io is not None:
            self._io.close()
        self._core.close()

    def __reduce__(self):
        raise TypeError("a session cannot be pickled; pickle its executable, and make a session of "
                        "it there")


def _executable_of(source, config):
    """Executable of an Executable, a Model, PopEF or ONNX."""
    if isinstance(source, Executable):
        return source
    if isinstance(source, Model):
        return source.compile(config)
    if isinstance(source, (bytes, bytearray, memoryview)):
        popef = _source.is_popef(source)
    else:
        popef = isinstance(source, (str, os.PathLike)) and _source.file_is_popef(source)
    if popef:
        return Executable.load(source, config)
    return Model.load(source, config).compile(config)
