# SPDX-License-Identifier: MIT
"""Builder: makes models. Optimizer: what training does with gradients."""

import numpy as np

from . import _arrays, _core, _env
from .errors import InvalidArgument

_INT, _FLOAT, _STRING, _INTS, _FLOATS, _STRINGS, _TENSOR, _GRAPH = 1, 2, 3, 4, 5, 6, 7, 9


class Tensor:
    """A tensor of a Builder: its name, dtype (numpy) and shape (None: unknown)."""

    __slots__ = ("_builder", "_id")

    def __init__(self, builder, number):
        self._builder = builder
        self._id = number

    @property
    def name(self):
        """The name in the model."""
        return self._builder._core.name(self._id)

    @property
    def dtype(self):
        """numpy dtype, or None if it is not known."""
        code = self._builder._core.type(self._id)[0]
        return _arrays.numpy_dtype(code) if code else None

    @property
    def shape(self):
        """Tuple of dimensions, None for unknown ones; None if the rank is not known."""
        dims = self._builder._core.type(self._id)[1]
        return None if dims is None else tuple(dim if dim >= 0 else None for dim in dims)

    def __repr__(self):
        return f"<poprt.Tensor {self.name}: {self.dtype} {self.shape}>"


def _attribute(name, value):
    """(name, kind, value) for the extension."""
    if isinstance(value, Builder):
        return name, _GRAPH, value._core
    if isinstance(value, (bool, int, np.integer)):
        return name, _INT, int(value)
    if isinstance(value, (float, np.floating)):
        return name, _FLOAT, float(value)
    if isinstance(value, (str, bytes)):
        return name, _STRING, value.encode() if isinstance(value, str) else value
    if isinstance(value, np.ndarray):
        return name, _TENSOR, value
    if isinstance(value, (list, tuple)):
        if all(isinstance(item, (int, np.integer)) for item in value):
            return name, _INTS, [int(item) for item in value]
        if all(isinstance(item, (int, float, np.floating)) for item in value):
            return name, _FLOATS, [float(item) for item in value]
        if all(isinstance(item, (str, bytes)) for item in value):
            return name, _STRINGS, [item.encode() if isinstance(item, str) else item
                                    for item in value]
    raise TypeError(f"attribute {name!r} is {value!r}; accepted: numbers, texts, lists of one of "
                    "them, arrays and builders of subgraphs")


class Builder:
    """Makes a model, operator by operator. Types are inferred at each call, so that a mistake
    raises where it is made.

    An operator is a method of its ONNX type::

        b = poprt.Builder(opset=17)
        x = b.input("x", np.float32, ("batch", 4))
        w = b.weight("w", np.ones((4, 2), np.float32))
        b.output(b.Relu(b.MatMul(x, w)))
        model = b.build()
    """

    def __init__(self, opset=0, *, model=None):
        self._env = model._env if model is not None else _env.environment()
        self._core = (_core.Builder.from_model(model._core) if model is not None
                      else _core.Builder(self._env, opset))

    def input(self, name, dtype, shape=None):
        """Adds an input. Dimensions are numbers, names of symbolic ones, or None."""
        dims = None
        if shape is not None:
            dims = tuple(-1 if dim is None else dim if isinstance(dim, str) else int(dim)
                         for dim in shape)
        return Tensor(self, self._core.input(name, _code(dtype), dims))

    def weight(self, name, array):
        """Adds a weight, which training changes."""
        return Tensor(self, self._core.weight(name, np.asarray(array, order="C")))

    def constant(self, array, name=None):
        """Adds a constant."""
        return Tensor(self, self._core.constant(name, np.asarray(array, order="C")))

    def output(self, *tensors):
        """Makes tensors outputs of the model."""
        for tensor in tensors:
            self._core.output(self._number(tensor))

    def _number(self, tensor):
        if tensor is None:
            return 0
        if isinstance(tensor, str):
            return self.find(tensor)._id
        if isinstance(tensor, Tensor):
            return tensor._id
        return self.constant(tensor)._id

    def find(self, name):
        """The tensor of a name."""
        number = self._core.find(name)
        if number == 0:
            raise InvalidArgument("POPRT_E_NOT_FOUND", "build", "", str(name),
                                  "the graph has no tensor of this name")
        return Tensor(self, number)

    def op(self, op_type, inputs, *, outputs=1, domain="", name=None, output_names=None,
           **attributes):
        """Adds an operator. ``inputs`` are tensors, names, arrays (which become constants) or None
        for absent ones. Returns its output, or a tuple of several."""
        values = [_attribute(key, value) for key, value in attributes.items() if value is not None]
        ids = self._core.op(domain, op_type, [self._number(tensor) for tensor in inputs], values,
                            outputs, name, list(output_names) if output_names else None)
        made = tuple(Tensor(self, number) for number in ids)
        return made[0] if len(made) == 1 else made

    def __getattr__(self, op_type):
        if not op_type[:1].isupper():
            raise AttributeError(f"Builder has no attribute {op_type!r}; operators are called by "
                                 "their ONNX types, such as Conv")

        def add(*inputs, outputs=1, domain="", name=None, output_names=None, **attributes):
            return self.op(op_type, inputs, outputs=outputs, domain=domain, name=name,
                           output_names=output_names, **attributes)
        add.__name__ = op_type
        return add

    def subgraph(self, name=None):
        """Makes the Builder of a subgraph, for attributes of If, Loop, Scan and Call."""
        child = Builder.__new__(Builder)
        child._env = self._env
        child._core = self._core.subgraph(name)
        return child

    def build(self):
        """Makes the model. The builder may be used on."""
        from .model import Model
        return Model(self._core.finish(), self._env)

    def close(self):
        """Releases the builder."""
        self._core.close()


def _code(dtype):
    code = _arrays.dtype_code(dtype)
    if code == _arrays.UNDEFINED:
        raise TypeError(f"{dtype!r} is not an element type")
    return code


class Optimizer:
    """An optimizer: ``Optimizer("adam", learning_rate=1e-3)``.

    Kinds, values, settings and formulas are those of poprt/train.h. Numbers are values, which can
    be replaced while a program runs if they are in ``variable``; texts and bools are settings.
    """

    def __init__(self, kind="sgd", *, variable=("learning_rate",), **values):
        self._core = _core.Optimizer(_env.environment(), kind)
        self.kind = kind
        for key, value in values.items():
            if isinstance(value, (str, bool)):
                self._core.set_text(key, str(value).lower() if isinstance(value, bool) else value)
            else:
                self._core.set(key, float(value), key not in variable)

    def __getitem__(self, key):
        return self._core.get(None, key)[0]

    def insert_specific(self, weight, *, variable=(), **values):
        """Gives a weight values of its own."""
        self._core.insert_specific(weight, [(key, float(value), key not in variable)
                                            for key, value in values.items()])

    def clip(self, max_norm, weights=()):
        """Clips the gradients of weights, or of all, together."""
        self._core.clip(list(weights), float(max_norm))


RETURN = {"final": 0, "every_n": 1, "all": 2, "sum": 3}


def make_flow(env, batches, anchors):
    """Returns the data flow of runs of several batches. ``anchors`` are names, or a dict of names
    and return types: "final", "all", "sum", or ("every_n", N)."""
    flow = _core.Flow(env, int(batches))
    for name in anchors or ():
        kind = anchors[name] if isinstance(anchors, dict) else "all"
        kind, period = kind if isinstance(kind, tuple) else (kind, 1)
        if kind not in RETURN:
            raise ValueError(f"no return type {kind!r}; accepted: " + ", ".join(RETURN))
        flow.anchor(name, RETURN[kind], int(period))
    return flow


class Weights:
    """A copy of a session's weights, statistics and optimizer states on the host: a mapping of
    names and arrays. Arrays that are read are copies; assignment changes the copy."""

    def __init__(self, session):
        self._core = _core.Weights(session._core)

    def __iter__(self):
        return iter(self._core.names())

    def __len__(self):
        return len(self._core.names())

    def __getitem__(self, name):
        return self._core.read(name)

    def __setitem__(self, name, array):
        self._core.write(name, array)

    def keys(self):
        """Names of the tensors."""
        return self._core.names()

    def to_host(self, session):
        """Copies the contents of a session."""
        self._core.to_host(session._core)

    def from_host(self, session):
        """Copies the contents to a session."""
        self._core.from_host(session._core)

    def load_model(self, model, ignore_missing=False):
        """Copies the initializers of a model."""
        self._core.load_model(model._core, 1 if ignore_missing else 0)

    def in_sync(self, session):
        """Tells whether the copy and a session have the same contents."""
        return self._core.in_sync(session._core)

