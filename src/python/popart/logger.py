# SPDX-License-Identifier: MIT
"""Loggers of PopART: they set the levels of the library's log, and write lines of their own."""

import logging

from poprt import _env

_MODULES = {"session": "session", "devicex": "session", "ir": "model", "transform": "pass",
            "pattern": "pass", "builder": "builder", "op": "op", "opx": "op", "ces": "compile",
            "popart": None, "python": None, "all": None}


class Logger:
    """A logger of a module of PopART."""

    def __init__(self, module):
        self._module = module
        self._logger = logging.getLogger("popart." + module)

    def setLevel(self, level):
        """Sets the level: "TRACE", "DEBUG", "INFO", "WARN", "ERR", "CRITICAL" or "OFF"."""
        number = _env.level_of(level)
        self._logger.setLevel({-2: 100, -1: 50, 1: 40, 2: 30, 3: 20, 4: 10, 5: 5}[number])
        if self._module in _MODULES:
            _env.log(number, _MODULES[self._module])

    def debug(self, text):
        """Writes a line at the level debug."""
        self._logger.debug("%s", text)

    def info(self, text):
        """Writes a line at the level info."""
        self._logger.info("%s", text)

    def warn(self, text):
        """Writes a line at the level warn."""
        self._logger.warning("%s", text)

    def error(self, text):
        """Writes a line at the level error."""
        self._logger.error("%s", text)

    def critical(self, text):
        """Writes a line at the level critical."""
        self._logger.critical("%s", text)


_loggers = {}


def getLogger(name="all"):
    """Returns the logger of a module, or of all."""
    if name not in _loggers:
        _loggers[name] = Logger(name)
    return _loggers[name]
