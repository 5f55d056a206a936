# SPDX-License-Identifier: MIT
"""DebugContext, DebugInfo and SourceLocation: names and places of operators."""

import itertools
import json

_numbers = itertools.count(1)


class SourceLocation:
    """A place in a program."""

    def __init__(self, functionName="", fileName="", lineNumber=0):
        self.functionName = functionName
        self.fileName = fileName
        self.lineNumber = lineNumber


class DebugContext:
    """A name, and optionally a place, of what a call makes."""

    def __init__(self, *args, name="", location=None, debugInfo=None):
        self.location = location
        for value in args:
            if isinstance(value, str):
                name = value
            elif isinstance(value, SourceLocation):
                self.location = value
            elif isinstance(value, (DebugContext, DebugInfo)):
                debugInfo = value
        self.name = name
        if debugInfo is not None:
            parent = debugInfo.name if isinstance(debugInfo, DebugContext) else \
                debug_name(debugInfo._context)
            self.name = f"{parent}/{name}" if parent and name else parent or name

    def getPathName(self):
        """The name."""
        return self.name


class DebugInfo:
    """Values that describe one step in the making of a model."""

    def __init__(self, debugContext="", layer=""):
        self._context = debugContext
        self._id = next(_numbers)
        self._values = {"layer": layer}
        _open.append(self)

    def getId(self):
        """A number that no other object has."""
        return self._id

    def getPathName(self):
        """The name of the context."""
        return debug_name(self._context)

    def setValue(self, name, value):
        """Sets a value, which debug-info files list."""
        self._values[name] = value
        return True


_open = []
_file = None


def initializePoplarDebugInfo(filename, format="json"):
    """Begins to collect DebugInfo for a file."""
    global _file
    _file = filename
    _open.clear()


def closePoplarDebugInfo():
    """Writes the file of ``initializePoplarDebugInfo``: JSON with all DebugInfo since."""
    global _file
    if _file is None:
        return
    with open(_file, "w") as file:
        json.dump({"contexts": [dict(id=info._id, name=debug_name(info._context),
                                     **{k: str(v) for k, v in info._values.items()})
                                for info in _open]}, file)
    _file = None


def debug_name(context):
    """The name of a debug context: a text, a DebugContext or a DebugInfo."""
    if isinstance(context, str):
        return context
    if isinstance(context, DebugContext):
        return context.name
    if isinstance(context, DebugInfo):
        return debug_name(context._context)
    if context is None:
        return ""
    raise TypeError(f"incompatible function arguments. A debug context is a text or a DebugContext, "
                    f"not {context!r}")
