# SPDX-License-Identifier: MIT
"""Classes of the passes of the C library, and the modules that have them."""

import contextlib
import importlib.machinery
import inspect
import sys
import types

from .. import _core, _env, _source
from ..model import Model, _arg_text
from . import _table, base_pass

_REQUIRED = inspect.Parameter.empty


class LibraryPass(base_pass.Pass):
    """A pass of the C library. Its constructor takes the options of the pass."""

    def __init__(self, *args, **kwargs):
        super().__init__()
        bound = type(self).__signature__.bind(*args, **kwargs)
        #: The arguments that were given.
        self.arguments = dict(bound.arguments)

    def options(self):
        """Options for the C library: pairs of texts."""
        return [(key, _arg_text(value)) for key, value in self.arguments.items()
                if value is not None and key not in self._own]

    _own = ()  # arguments that are not options of the C library

    def _prepare(self, manager, env, stack):
        """Sets what a manager of the extension needs beyond options. ``stack`` is an ExitStack that
        is left after the run."""

    def run_on(self, core, env):
        """Runs the pass on a model of the extension."""
        with contextlib.ExitStack() as stack:
            manager = _core.PassManager(env)
            manager.add(self.name, self.options())
            self._prepare(manager, env, stack)
            manager.run(core)

    def run(self, onnx_model):
        """Returns the changed model: a new ModelProto; a poprt.Model is changed in place."""
        if isinstance(onnx_model, Model):
            self.run_on(onnx_model._core, onnx_model._env)
            return onnx_model
        env = _env.environment()
        core = _source.load_model(env, onnx_model)
        self.run_on(core, env)
        return _source.to_proto(core)


def pack_text(key, value):
    """The text of an argument of packed_transformer; lists are in the form of the command line."""
    if not isinstance(value, (list, tuple)):
        return _arg_text(value)
    if key == "dynamic_groups":
        return "[" + ",".join("[" + ",".join(group) + "]" for group in value) + "]"
    return ("+" if key == "segment_max_size" else ",").join(str(item) for item in value)


class _PackedTransformer(LibraryPass):
    def options(self):
        return [(key, pack_text(key, value)) for key, value in self.arguments["args"].items()]


class _ApplyIr(LibraryPass):
    def options(self):
        names = [used if isinstance(used, str) else used.name
                 for used in self.arguments.get("passes", [])]
        return [("passes", ",".join(names))]


class _Int8(LibraryPass):
    def options(self):
        scales = self.arguments.get("int8_offset_scale") or {}
        plain = {name: {key: value.tolist() if hasattr(value, "tolist") else value
                        for key, value in entry.items()} for name, entry in scales.items()}
        return [("int8_offset_scale", _arg_text(plain))]


class _Comparing(LibraryPass):
    """A pass that compares the model with ``origin_model``."""

    _own = ("origin_model", "data_preprocess", "options")

    def _prepare(self, manager, env, stack):
        origin = self.arguments["origin_model"]
        if isinstance(origin, Model):
            origin = origin._core
        elif origin is not None:
            origin = _source.load_model(env, origin)
        if self.arguments.get("options"):
            from ..compiler import CompilerOptions
            CompilerOptions.from_dict(self.arguments["options"])
        from ..quantizer import samples
        path = stack.enter_context(samples(self.arguments.get("data_preprocess")))
        manager.set_reference(origin, path)
        stack.callback(lambda: origin)  # the model lives as long as the run


_BASES = {"apply_ir_pass": _ApplyIr, "packed_transformer": _PackedTransformer,
          "float_to_int8": _Int8, "check_with_fake_data": _Comparing,
          "layer_precision_compare": _Comparing}


class _Signature:
    """Makes the signature of a class from text when it is first asked for."""

    def __get__(self, instance, owner):
        text = _table.signature(owner.name, _core.pass_options(owner.name))
        made = inspect.signature(eval(f"lambda {text}: None"))  # the text is one of our table
        owner.__signature__ = made
        return made


class _CallableModule(types.ModuleType):
    """A module that can be called as the class that it has."""

    def __call__(self, *args, **kwargs):
        return getattr(self, self._class)(*args, **kwargs)


def _module(package, name):
    """Returns a module of the package; makes it unless a file has it."""
    full = package.__name__ + "." + name
    if full not in sys.modules:
        kind = _CallableModule if name == "layer_precision_compare" else types.ModuleType
        module = kind(full, "Classes of passes of the C library.")
        module.__package__ = package.__name__
        module.__spec__ = importlib.machinery.ModuleSpec(full, None)
        sys.modules[full] = module
    setattr(package, name, sys.modules[full])
    return sys.modules[full]


def make_classes(package):
    """Makes a class of each pass of the library, and puts it into its module."""
    for name, text, *_ in _core.passes():
        module_name, class_name = _table.class_path(name)
        module = _module(package, module_name)
        base = _BASES.get(name, LibraryPass)
        cls = type(class_name, (base,), {"name": name, "__doc__": text, "__module__":
                                         module.__name__, "__signature__": _Signature()})
        base_pass._registry[name] = cls
        setattr(module, class_name, cls)
        if isinstance(module, _CallableModule):
            module._class = class_name
