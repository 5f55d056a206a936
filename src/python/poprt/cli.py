# SPDX-License-Identifier: MIT
"""The command line: ``python3 -m poprt.cli ARGUMENTS`` is the tool ``poprt``.

Python files given to ``--custom_pass_config`` and ``--custom_shape_inference`` are loaded, and may
register passes (``poprt.passes.register``) and shape functions
(``poprt.passes.register_shape_func``).
"""

import importlib.util
import os
import sys
import threading

from . import _core, _env

_lock = threading.Lock()
_loaded = set()  # files that were loaded; each one is run once in a process


def _load_file(path):
    """Runs a Python file as a module of its own, unless it was run before."""
    real = os.path.realpath(path)
    if real in _loaded:
        return
    name = "poprt_custom_" + os.path.splitext(os.path.basename(path))[0].replace("-", "_")
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    _loaded.add(real)


class _Loader:
    """Loads Python files, and tells what the environment of the tool does not have yet."""

    def __init__(self):
        self._given = set()
        self._has_infer = False

    def __call__(self, path):
        from .passes import base_pass, pass_manager
        from .passes._library import LibraryPass
        _load_file(path)
        passes = []
        for name, cls in base_pass.get_registered_passes().items():
            if not issubclass(cls, LibraryPass) and name not in self._given:
                self._given.add(name)
                text = (cls.__doc__ or "A pass of a Python file.").strip().split("\n")[0]
                passes.append((name, text, _late(cls, pass_manager)))
        infer = None if self._has_infer else _env._infer
        self._has_infer = self._has_infer or infer is not None
        return passes, infer


def _late(cls, pass_manager):
    """Function of a pass that is made when it runs, since classes may need arguments."""
    return lambda core: pass_manager._function(cls())(core)


def main(arguments=None, program="poprt"):
    """Runs the tool with a list of arguments (None: those of the process), and returns its exit
    status. Output goes to the file descriptors 1 and 2. Exceptions of Python files come out."""
    arguments = sys.argv[1:] if arguments is None else [os.fspath(a) for a in arguments]
    if not _lock.acquire(blocking=False):
        from .errors import StateError
        raise StateError("POPRT_E_STATE", "tool", "", program,
                         "the tool is running already: one call at a time")
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        return _core.tool([program] + arguments, _Loader())
    finally:
        _lock.release()


def run():
    """The console script poprt."""
    return _process("poprt")


def run_exec():
    """The console script poprt_exec."""
    return _process("poprt_exec")


def _process(program):
    try:
        return main(None, program)
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(run())
