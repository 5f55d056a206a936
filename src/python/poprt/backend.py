# SPDX-License-Identifier: MIT
"""Sessions with the interfaces of PopRT's backends."""

import os
import warnings

import numpy as np

from . import _arrays
from .compiler import Compiler, CompilerOptions
from .inference import _TYPE_NAMES, InferenceSession
from .model import Executable, Model, Session
from .runtime import Runner, _Settings, new_outputs

__all__ = ["Backend", "ORTBackend", "get_session"]


def _io(rows):
    return {row.name: (list(row.shape) if row.shape is not None else None, row.dtype)
            for row in rows}


def _source_io(source):
    """Types of the outputs of a model by name."""
    model = source if isinstance(source, Model) else Model.load(source)
    return {row.name: row.dtype for row in model.outputs}


class _RunnerSession:
    """A runner with the calls of a session that a Backend needs."""

    def __init__(self, runner):
        self._runner = runner

    def call(self, inputs, names):
        values = {name: np.asarray(value) for name, value in inputs.items()}
        outputs = new_outputs(self._runner, values)
        self._runner.execute(values, outputs)
        return [outputs[name] for name in names]

    def close(self):
        self._runner.close()


class Backend:
    """Compiles a model and runs it.

    ``path_or_bytes`` is ONNX (a path, bytes, a ModelProto), TensorFlow or TFLite (a path or bytes),
    a Model, or PopEF; ``export_popef`` a path to write PopEF to, or True for executable.popef;
    ``compiler_options`` CompilerOptions or a dict; ``runtime_options`` a RuntimeConfig, for runs by
    a runner, or a dict of options of sessions. With ``align_output_dtype`` results have the dtypes
    of the model.
    """

    def __init__(self, path_or_bytes, *, export_popef=None, compiler_options=None,
                 runtime_options=None, align_output_dtype=False, logger=None):
        if isinstance(compiler_options, dict):
            compiler_options = CompilerOptions.from_dict(compiler_options)
        self._align = bool(align_output_dtype)
        self._logger = logger
        self._dtypes = None
        if isinstance(path_or_bytes, Executable):
            self.executable = path_or_bytes
        elif _is_popef(path_or_bytes):
            self.executable = Executable.load(path_or_bytes)
        else:
            self._dtypes = _source_io(path_or_bytes)
            self.executable = Compiler.compile(path_or_bytes, None, compiler_options)
        if export_popef:
            self.executable.save("executable.popef" if export_popef is True else export_popef)
        if isinstance(runtime_options, _Settings):
            self._session = _RunnerSession(Runner(self.executable, runtime_options))
        else:
            self._session = Session(self.executable, **dict(runtime_options or {}))
        if logger is not None:
            logger.info("compiled a model with %d inputs", len(self.executable.inputs))

    def get_io_info(self):
        """Returns (inputs, outputs): dicts of names and (shape, dtype)."""
        return _io(self.executable.inputs), _io(self.executable.outputs)

    def run(self, output_names, inputs, align_output_dtype=False):
        """Returns a list of arrays in the order of ``output_names``; None or []: all outputs."""
        names = list(output_names) if output_names else [o.name for o in self.executable.outputs]
        values = self._session.call(inputs, names)
        if (align_output_dtype or self._align) and self._dtypes is not None:
            values = [value if value is None or self._dtypes.get(name) in (None, value.dtype)
                      else value.astype(self._dtypes[name])
                      for name, value in zip(names, values)]
        return values

    def close(self):
        """Releases the session."""
        self._session.close()


def _is_popef(source):
    from . import _source
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _source.is_popef(source)
    return isinstance(source, (str, os.PathLike)) and not os.path.isdir(source) \
        and _source.file_is_popef(source)


class ORTBackend:
    """Drop-in replacement of onnxruntime.InferenceSession. The arguments for onnxruntime are
    accepted and ignored, as PopRT's class does; others are options of ``poprt.InferenceSession``.
    With ``lazy_load`` the model is compiled when it is first needed."""

    def __init__(self, path_or_bytes, sess_options=None, providers=None, provider_options=None,
                 lazy_load=False, **kwargs):
        self._arguments = (path_or_bytes, kwargs)
        self._session = None
        if not lazy_load:
            self.load()

    def load(self):
        """Compiles the model, and returns the object itself."""
        if self._session is None:
            source, options = self._arguments
            self._session = InferenceSession(source, **options)
        return self

    def run(self, output_names, input_feed, run_options=None):
        """As onnxruntime.InferenceSession.run."""
        return self.load()._session.run(output_names, input_feed, run_options)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.load()._session, name)


class _Lazy:
    """A session of ``get_session``: compiled by ``load``, or by the first run."""

    def load(self):
        """Compiles the model, and returns the session itself."""
        if self._inner is None:
            self._inner = self._make()
        return self


class _PoprtSession(_Lazy):
    def __init__(self, make):
        self._make = make
        self._inner = None

    def run(self, output_names, feed):
        """Returns a list of arrays."""
        return self.load()._inner.run(output_names, feed)

    def get_io_info(self):
        """Returns (inputs, outputs): dicts of names and (shape, dtype)."""
        return self.load()._inner.get_io_info()


class _OrtSession(_Lazy):
    def __init__(self, source):
        self._source = source
        self._inner = None

    def _make(self):
        source = self._source
        if hasattr(source, "SerializeToString"):
            source = source.SerializeToString()
        import onnxruntime
        return onnxruntime.InferenceSession(source, providers=["CPUExecutionProvider"])

    def run(self, output_names, feed):
        """Returns a list of arrays."""
        return self.load()._inner.run(output_names or None, feed)

    def get_io_info(self):
        """Returns (inputs, outputs): dicts of names and (shape, dtype)."""
        session = self.load()._inner
        return tuple({arg.name: (list(arg.shape), _ort_dtype(arg.type)) for arg in args}
                     for args in (session.get_inputs(), session.get_outputs()))


def _ort_dtype(text):
    """The numpy dtype of a type such as "tensor(float)"; None for types that numpy lacks."""
    name = text[len("tensor("):-1]
    code = next((code for code, known in _TYPE_NAMES.items() if known == name), 0)
    return _arrays.numpy_dtype(code) if code and text.startswith("tensor(") else None


def get_session(path_or_bytes, num_devices=1, backend="poprt", output_dir="./", options=None,
                batches_per_step=1, export_popef=False, align_output_dtype=False):
    """Returns a session with ``load()``, ``run(output_names, feed)`` and ``get_io_info()``.

    ``backend`` is "poprt"; "tensorflow", which runs models of TensorFlow and TFLite alone, by this
    package too; or "onnxruntime", for which this package is used if onnxruntime is not installed,
    with a warning. ``options`` is a dict of CompilerOptions; with ``export_popef``
    executable.popef is written into ``output_dir``.
    """
    if backend == "onnxruntime":
        try:
            import onnxruntime  # noqa: F401
        except ImportError:
            warnings.warn("onnxruntime is not installed: poprt runs the model", stacklevel=2)
            backend = "poprt"
        else:
            return _OrtSession(path_or_bytes)
    if backend not in ("poprt", "tensorflow"):
        raise ValueError(f"no backend {backend!r}; accepted: poprt, onnxruntime, tensorflow")
    settings = {"num_ipus": num_devices, "batches_per_step": batches_per_step, **(options or {})}
    compiler_options = CompilerOptions.from_dict(settings)

    def make():
        target = None
        if export_popef:
            os.makedirs(output_dir, exist_ok=True)
            target = os.path.join(output_dir, "executable.popef")
        source = path_or_bytes
        if backend == "tensorflow":
            source = Model.load(source, model_format="tensorflow")
        return Backend(source, export_popef=target, compiler_options=compiler_options,
                       align_output_dtype=align_output_dtype)
    return _PoprtSession(make)
