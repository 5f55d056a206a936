# SPDX-License-Identifier: MIT
"""Environments of the library: one for each number of threads and set of plug-ins, and its log."""

import os
import threading

from . import _core

_lock = threading.Lock()
_environments = {}
_plugins = []  # paths, in the order in which they were registered
_callback = None
_level = 2  # POPRT_LOG_WARNING
_levels = {}
_infer = None  # shape function of operators that the library does not know

LEVELS = {"OFF": -2, "CRITICAL": -1, "ERROR": 1, "ERR": 1, "WARNING": 2, "WARN": 2, "INFO": 3,
          "DEBUG": 4, "TRACE": 5}
_PYTHON_LEVELS = {-1: 50, 0: 20, 1: 40, 2: 30, 3: 20, 4: 10, 5: 5}


def _receive(level, module, text):
    if _callback is not None:
        _callback(level, module, text)
        return
    if level == 0:  # text that the program asked for
        import sys
        print(text, file=sys.stderr)
        return
    import logging
    logging.getLogger("poprt." + module).log(_PYTHON_LEVELS.get(level, 20), "%s", text)


def level_of(level):
    """Returns the number of a level: a number of the C interface, or a name in any case."""
    if isinstance(level, str):
        if level.upper() not in LEVELS:
            raise ValueError(f"no level of log lines: {level!r}; accepted: " +
                             ", ".join(name.lower() for name in LEVELS))
        return LEVELS[level.upper()]
    return int(level)


def log(level, module=None):
    """Sets the level up to which log lines are passed on: "off", "critical", "error", "warning"
    (the default), "info", "debug" or "trace"; of one module of the library, or of all."""
    global _level
    number = level_of(level)
    if module is not None and module not in _core.log_modules():
        raise ValueError(f"no module of log lines: {module!r}; accepted: " +
                         ", ".join(_core.log_modules()))
    with _lock:
        if module is None:
            _level = number
            _levels.clear()
        else:
            _levels[module] = number
        for env in _environments.values():
            env.set_log_level(module, number)


def set_log_callback(fn):
    """Sets the function that receives log lines, ``fn(level, module, text)``, in place of the
    logger ``poprt`` of Python; None ends this. It is called from any thread."""
    global _callback
    _callback = fn


def register_plugin(path):
    """Adds a plug-in (poprt/plugin.h) to the environments of models that are read from now on."""
    path = os.path.realpath(os.fspath(path))
    with _lock:
        if path not in _plugins:
            probe = _core.Env(0, 0, 0, None, None)
            for other in _plugins + [path]:
                probe.load_plugin(other)
            _plugins.append(path)


_seen = set()


def find_plugins():
    """Registers plug-ins that the program has loaded as shared objects, such as with
    ctypes.cdll.LoadLibrary: those that export poprt_plugin_entry."""
    try:
        with open("/proc/self/maps") as file:
            paths = {line.split(None, 5)[5].strip() for line in file
                     if ".so" in line and "/" in line}
    except OSError:
        return
    import ctypes
    for path in sorted(paths - _seen):
        _seen.add(path)
        if path.startswith(("/usr/", "/lib")) or "poprt/_core" in path:
            continue
        try:
            if hasattr(ctypes.CDLL(path, mode=os.RTLD_NOLOAD | os.RTLD_NOW), "poprt_plugin_entry"):
                register_plugin(path)
        except OSError:
            pass


def plugins():
    """Returns the paths of the registered plug-ins."""
    return list(_plugins)


def set_shape_function(fn):
    """Sets the function that gives types to the outputs of unknown operators of models that are
    read from now on: see ``poprt.passes.register_shape_func``."""
    global _infer
    _infer = fn


def environment(threads=None, progress=None, passes=(), log=None):
    """Returns the environment of a number of threads, the caller included. None: 1.

    With ``progress`` (``fn(stage, done, total)``, true to stop), ``passes`` (triples of name, help
    and function of a model) or ``log`` (``fn(level, module, text)``) it is a new one.
    """
    threads = 1 if threads is None else int(threads)
    if threads < 0 or threads > 1024:
        raise ValueError(f"{threads} threads; accepted: 0 (one for each processor) to 1024")
    if threads == 0:
        threads = len(os.sched_getaffinity(0))
    if progress is not None or passes or log is not None:
        return _make(threads, progress, passes, log)
    key = (threads, tuple(_plugins), _infer)
    with _lock:
        env = _environments.get(key)
        if env is None:
            env = _environments[key] = _make(threads)
        return env


def _make(threads, progress=None, passes=(), log=None):
    env = _core.Env(threads, 0, 0, log or _receive, progress)
    env.set_log_level(None, _level)
    for module, level in _levels.items():
        env.set_log_level(module, level)
    for path in _plugins:
        env.load_plugin(path)
    if _infer is not None:
        env.set_infer(_infer)
    for name, text, fn in passes:
        env.add_model_pass(name, text, fn)
    return env
