# SPDX-License-Identifier: MIT
"""Options by name: the table of the C library, with the names of PopART, PopRT and PopTorch."""

import json
import os
from collections.abc import MutableMapping

from . import _core, _env


def _text(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple, set, frozenset)):
        return ",".join(_text(item) for item in value)
    if isinstance(value, dict):
        return json.dumps(value)
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


class Config(MutableMapping):
    """A mapping over the options of the library.

    ``Config(threads=2, dims={"batch": 4}, num_streams="1")``: every keyword but ``threads`` and
    ``dims`` is a key of the option table (``poprt.options()``), or a name that PopART's
    SessionOptions or PopTorch's Options has for one. Unknown keys and values that are not accepted
    raise at once, with the nearest names or the accepted values. ``threads`` is the number of
    threads of one run, the calling one included (0: one for each processor); ``dims`` sets symbolic
    dimensions.
    """

    def __init__(self, options=None, *, threads=None, dims=None, **kwargs):
        self.threads = threads
        self._set = {}
        self._probe = None
        if isinstance(options, Config):
            self.threads = options.threads if threads is None else threads
            self._set.update(options._set)
        elif isinstance(options, (str, bytes, os.PathLike)):
            self.load_file(options)
        elif options is not None:
            self.update(options)
        for name, value in (dims or {}).items():
            self["dim." + name] = value
        self.update(kwargs)

    def _checker(self):
        if self._probe is None:
            self._probe = _core.Config(_env.environment())
            for key, value in self._set.items():
                self._probe.set(key, value)
        return self._probe

    def __setitem__(self, key, value):
        if value is None:
            self._set.pop(key, None)
            self._probe = None
            return
        text = _text(value)
        self._checker().set(key, text)
        self._set.pop(key, None)
        self._set[key] = text

    def __getitem__(self, key):
        if key in self._set:
            return self._set[key]
        return self._checker().get(key)

    def __delitem__(self, key):
        del self._set[key]
        self._probe = None

    def __iter__(self):
        return iter(self._set)

    def __len__(self):
        return len(self._set)

    def __repr__(self):
        return f"Config({json.dumps(self._set)})"

    def __getstate__(self):
        return {"threads": self.threads, "_set": self._set, "_probe": None}

    def load_file(self, path):
        """Sets the options of a file: JSON, ``KEY = VALUE``, ``KEY: VALUE``, or calls of PopTorch's
        Options. Nothing is executed."""
        path = os.fspath(path)
        with open(path, "rb") as file:
            text = file.read().decode()
        checker = self._checker()
        before = {row[0]: checker.get(row[0]) for row in _core.options()}
        checker.load_text(os.fsdecode(path), text)
        for key, value in before.items():
            if checker.get(key) != value:
                self._set[key] = checker.get(key)

    def is_pattern_enabled(self, name):
        """Tells whether the options switch a pattern of PopART on."""
        return self._checker().is_pattern_enabled(name)

    def handle(self, env):
        """Returns a new Config of the extension."""
        core = _core.Config(env)
        for key, value in self._set.items():
            core.set(key, value)
        return core


def make(config=None, threads=None, dims=None, kwargs=None):
    """Returns a Config of what a call was given."""
    if config is None or isinstance(config, (dict, str, bytes, os.PathLike)) \
            or threads is not None or dims or kwargs:
        return Config(config, threads=threads, dims=dims, **(kwargs or {}))
    if not isinstance(config, Config):
        raise TypeError(f"config is a Config, a dict or the path of a file, not a "
                        f"{type(config).__name__}")
    return config


def options():
    """Lists the options: dicts with key, help, default, type, min and max."""
    kinds = ("bool", "int", "text")
    return [dict(key=key, help=text, default=default, type=kinds[kind], min=low, max=high)
            for key, text, default, kind, low, high in _core.options()]
