# SPDX-License-Identifier: MIT
"""PopRT's pass manager: passes of the library and of your own in one list."""

from .. import _core, _env, _source
from ..model import Model
from . import base_pass


def _function(pass_):
    """The function of a model of the extension that runs a pass of your own."""
    def run(core):
        before = core.to_bytes()
        result = pass_(_source.to_proto(core))
        if not _source.is_proto(result):
            raise TypeError(f"pass {_name(pass_)} returned a {type(result).__name__}; a pass "
                            "returns the onnx.ModelProto")
        after = _source.proto_bytes(result)
        if after == before:
            return False
        core.replace(after)
        return True
    return run


def _name(pass_):
    return pass_.name or type(pass_).__name__


class Prepared:
    """Passes for a manager of the extension: the environment's records, and the entries."""

    def __init__(self, passes, with_options):
        from ._library import LibraryPass
        self.records = []  # (name, help, function)
        self.entries = []  # (name, options)
        self._used = {row[0] for row in _core.passes()}
        self.env = None    # set by the caller, before the passes run
        for pass_ in passes:
            if not isinstance(pass_, LibraryPass):
                self._add(pass_, _function(pass_))
            elif pass_._own or (pass_.options() and not with_options):
                self._add(pass_, lambda core, p=pass_: p.run_on(core, self.env) or True)
            else:
                self.entries.append((pass_.name, pass_.options()))

    def _add(self, pass_, function):
        name = "".join(c if c.isalnum() and c.isascii() else "_" for c in _name(pass_))[:100]
        unique, number = name, 2
        while unique in self._used:
            unique = f"{name}_{number}"
            number += 1
        self._used.add(unique)
        text = (type(pass_).__doc__ or "A pass of the program.").strip().split("\n")[0]
        self.records.append((unique, text, function))
        self.entries.append((unique, []))


def make(used):
    """Returns a pass of a name or an instance."""
    if isinstance(used, str):
        return base_pass.Pass.get_pass(used.strip())
    if isinstance(used, type) and issubclass(used, base_pass.Pass):
        return used()
    if isinstance(used, base_pass.Pass):
        return used
    if isinstance(used, (tuple, list)) and len(used) == 2 and isinstance(used[0], str):
        return base_pass.Pass.get_pass(used[0], **used[1])
    raise TypeError("a pass is a name, an instance of poprt.Pass, or a pair of a name and a dict of "
                    f"options, not a {type(used).__name__}")


class PassManager:
    """A list of passes: names or instances. Neighbours of the library run without leaving it."""

    def __init__(self, used_passes=(), gather_ir_passes=False):
        self._passes = []
        self._gather = False
        self.add_passes(used_passes, gather_ir_passes)

    def add_passes(self, used_passes=(), gather_ir_passes=False):
        """Appends passes."""
        self._gather = self._gather or bool(gather_ir_passes)
        self._passes.extend(make(used) for used in used_passes)

    def get_all_pass_names(self):
        """Names of the passes of the list."""
        return [_name(pass_) for pass_ in self._passes]

    def get_passes(self):
        """The passes of the list."""
        return list(self._passes)

    def sort_passes(self):
        """Sorts the list by the constraints of its passes, with as few changes as possible, and
        adds passes that others depend on. Passes that exclude each other raise ValueError."""
        order, _, _ = self._manager(self._sorted())
        self._passes = order

    def _sorted(self):
        """The list by the constraints of passes of your own; those of the library are the C
        library's."""
        passes = list(self._passes)
        for pass_ in passes:  # grows
            names = [_name(p) for p in passes]
            for kind, other in pass_._constraints:
                if kind == "against" and other in names:
                    raise ValueError(f"passes {_name(pass_)} and {other} exclude each other")
                if kind == "depend" and other not in names:
                    passes.insert(names.index(_name(pass_)), base_pass.Pass.get_pass(other))
                    return PassManager(passes)._sorted()
        names = [_name(p) for p in passes]
        later = {i: set() for i in range(len(passes))}  # passes that must run before i
        for i, pass_ in enumerate(passes):
            for kind, other in pass_._constraints:
                for k, name in enumerate(names):
                    if name == other and k != i:
                        later[i if kind == "depend" else k].add(k if kind == "depend" else i)
        order = []
        while len(order) < len(passes):
            free = [i for i in range(len(passes)) if i not in order and later[i] <= set(order)]
            if not free:
                left = [names[i] for i in range(len(passes)) if i not in order]
                raise ValueError("the constraints of these passes form a cycle: " + ", ".join(left))
            order.append(free[0])
        return [passes[i] for i in order]

    def _manager(self, passes):
        """Returns (passes in the order of the C library, its manager, its environment)."""
        prepared = Prepared(passes, True)
        env = prepared.env = _env.environment(passes=prepared.records)
        manager = _core.PassManager(env)
        manager.gather_ir_passes(self._gather)
        waiting = {}
        for pass_, (name, options) in zip(passes, prepared.entries):
            manager.add(name, options)
            waiting.setdefault(name, []).append(pass_)
        manager.sort()
        order = [waiting[name].pop(0) if waiting.get(name) else base_pass.Pass.get_pass(name)
                 for name in manager.names()]
        return order, manager, env

    def run(self, model):
        """Runs the passes in order. Returns a new ModelProto; a poprt.Model is changed in place."""
        _, manager, env = self._manager(self._sorted())
        if isinstance(model, Model):
            manager.run(model._core)
            return model
        core = _source.load_model(env, model)
        manager.run(core)
        return _source.to_proto(core)
