# SPDX-License-Identifier: MIT
"""Loggers of PopART: they set the levels of the library's log, and write lines of their own."""

import sys
import time

from poprt import _env

_MODULES = {"session": "session", "devicex": "session", "ir": "model", "transform": "pass",
            "pattern": "pass", "builder": "builder", "op": "op", "opx": "op", "ces": "compile",
            "popart": None, "python": None, "all": None}


class Logger:
    """A logger of a module of PopART. It writes lines to standard error."""

    def __init__(self, module):
        self._module = module
        self._level = _env.LEVELS["WARN"]

    def setLevel(self, level):
        """Sets the level: "TRACE", "DEBUG", "INFO", "WARN", "ERR", "CRITICAL" or "OFF"."""
        self._level = _env.level_of(level)
        if self._module in _MODULES:
            _env.log(self._level, _MODULES[self._module])

    def _write(self, name, text):
        if _env.LEVELS[name] <= self._level:
            stamp = time.strftime("%Y-%m-%dT%H:%M:%S")
            print(f"{stamp} popart:{self._module} {name.lower()}: {text}", file=sys.stderr)

    def debug(self, text):
        """Writes a line at the level debug."""
        self._write("DEBUG", text)

    def info(self, text):
        """Writes a line at the level info."""
        self._write("INFO", text)

    def warn(self, text):
        """Writes a line at the level warn."""
        self._write("WARN", text)

    def error(self, text):
        """Writes a line at the level error."""
        self._write("ERROR", text)

    def critical(self, text):
        """Writes a line at the level critical."""
        self._write("CRITICAL", text)


_loggers = {}


def getLogger(name="all"):
    """Returns the logger of a module, or of all."""
    if name not in _loggers:
        _loggers[name] = Logger(name)
    return _loggers[name]
