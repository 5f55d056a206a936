# SPDX-License-Identifier: MIT
"""The base class of passes, and their registry."""

import logging

from .. import _source

_RELATIONS = ("against", "depend", "before")

#: Classes by registered name, in the order of registration.
_registry = {}


def get_all_named_subclasses(cls):
    """Returns a dict of the registered names and classes that derive from ``cls``."""
    return {name: found for name, found in _registry.items() if issubclass(found, cls)}


class Pass:
    """A pass: gets a model and returns one.

    A class of your own overrides ``run(self, onnx_model)``, and is registered by a name::

        @poprt.passes.register("replace_add_with_sub")
        class ReplaceAddWithSub(poprt.Pass):
            def run(self, onnx_model):
                for node in onnx_model.graph.node:
                    if node.op_type == "Add":
                        node.op_type = "Sub"
                return onnx_model
    """

    #: Name of the registered class, or None.
    name = None
    _constraints = ()  # pairs of relation and name
    _properties = {}

    def __init__(self):
        pass

    @property
    def logger(self):
        """The logger of the package."""
        return logging.getLogger("poprt")

    def __call__(self, model):
        return self.run(model)

    def run(self, onnx_model):
        """Changes a ModelProto and returns it, or returns another one."""
        raise NotImplementedError(f"{type(self).__name__} has no method run")

    def traverse_graph(self, graph, transform, is_main_graph=True):
        """Applies ``transform(graph, is_main_graph)`` to a graph and then to the graphs of its
        nodes. A transform changes its graph in place, or returns another one. Returns the graph."""
        result = transform(graph, is_main_graph)
        if result is not None and result is not graph:
            graph.CopyFrom(result)
        for node in graph.node:
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    self.traverse_graph(attribute.g, transform, False)
                for inner in attribute.graphs:
                    self.traverse_graph(inner, transform, False)
        return graph

    # ---- registry

    @staticmethod
    def get_pass(name, *args, **kwargs):
        """Makes a pass of a registered name; arguments go to its constructor."""
        passes = get_registered_passes()
        if name not in passes:
            import difflib
            from ..errors import NotFound
            near = difflib.get_close_matches(str(name), passes, 3, 0.4)
            raise NotFound("POPRT_E_NOT_FOUND", "passes", "", str(name),
                           "no pass has this name; nearest: " + ", ".join(near or ["none"]))
        return passes[name](*args, **kwargs)

    @classmethod
    def register_pass(cls, name):
        """Class decorator that registers a pass. A name that is taken raises ValueError."""
        return _register(name, False)

    @classmethod
    def override_register_pass(cls, name):
        """As ``register_pass``, but replaces a pass of the name."""
        return _register(name, True)

    @staticmethod
    def get_registered_passes():
        """Returns a dict of names and classes."""
        return get_registered_passes()

    @staticmethod
    def get_typed_registered_passes(type):
        """Returns a dict of names and classes that derive from a class."""
        return {name: cls for name, cls in get_registered_passes().items() if issubclass(cls, type)}

    # ---- properties

    @staticmethod
    def property_register(key, value):
        """Class decorator that gives a pass a property; ``get_property`` reads it."""
        def decorate(cls):
            cls._properties = {**cls._properties, key: value}
            return cls
        return decorate

    @classmethod
    def get_property(cls, key, default=None):
        """Returns a property of the class."""
        return cls._properties.get(key, default)

    @staticmethod
    def constraint_passes(kind, names):
        """Class decorator that relates a pass to others of a list: "against": they exclude each
        other; "depend": the others run earlier, and are added; "before": this pass runs earlier."""
        if kind not in _RELATIONS:
            raise ValueError(f"no constraint between passes: {kind!r}; accepted: " +
                             ", ".join(_RELATIONS))
        names = [names] if isinstance(names, str) else list(names)

        def decorate(cls):
            cls._constraints = tuple(cls._constraints) + tuple((kind, name) for name in names)
            return cls
        return decorate

    @staticmethod
    def against_passes(names):
        """Class decorator: the pass and the others exclude each other."""
        return Pass.constraint_passes("against", names)


class ImmutablePass(Pass):
    """A pass that checks or prints a model, and does not change it."""

    def __call__(self, model):
        before = _source.proto_bytes(model) if _source.is_proto(model) else None
        self.run(model)
        if before is not None and _source.proto_bytes(model) != before:
            raise ValueError(f"{type(self).__name__} is an ImmutablePass, but it changed the model")
        return model


def _register(name, override):
    if not isinstance(name, str) or not name.replace("_", "a").isalnum():
        raise ValueError(f"{name!r} is not a name of a pass: use letters, digits and '_'")

    def decorate(cls):
        if not (isinstance(cls, type) and issubclass(cls, Pass)):
            raise TypeError("only classes that derive from poprt.Pass can be registered")
        if name in _registry and not override:
            raise ValueError(f"there is already a pass of the name {name!r}")
        _registry[name] = cls
        cls.name = name
        return cls
    return decorate


def register(name):
    """Class decorator that registers a pass. A name that is taken raises ValueError."""
    return _register(name, False)


def get_registered_passes():
    """Returns a dict of names and classes of all passes."""
    return get_all_named_subclasses(Pass)
