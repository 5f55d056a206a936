# SPDX-License-Identifier: MIT
"""Patterns: the rewrites of a session, switched by name."""

from poprt import _core

from .enums import PatternsLevel
from .errors import popart_exception

_TABLE = {row[0]: row for row in _core.patterns()}
_PROPERTIES = {"PreUniRepl": "PreUniRepl", "PostNRepl": "PostNRepl",
               "SoftMaxGradDirect": "SoftmaxGradDirect",
               "NlllWithSoftMaxGradDirect": "NlllWithSoftmaxGradDirect",
               "OpToIdentity": "OpToIdentity", "SubtractArg1GradOp": "SubtractArg1GradOp",
               "MulArgGradOp": "MulArgGradOp", "MatMulOp": "MatMulPattern",
               "MatMulLhsGradOp": "MatMulLhsGradPattern",
               "MatMulRhsGradOp": "MatMulRhsGradPattern", "InPlace": "InPlace"}


def _key(name):
    """The name of a pattern in the table, from a name in any case."""
    for known in _TABLE:
        if known.lower() == name.lower():
            return known
    return None


class Patterns:
    """``Patterns()``, ``Patterns(PatternsLevel.X)`` or ``Patterns([names])``."""

    def __init__(self, level=PatternsLevel.Default):
        self._asserts = True
        self._set = {}
        if isinstance(level, Patterns):
            self._level, self._names = level._level, level._names
            self._set, self._asserts = dict(level._set), level._asserts
            return
        if isinstance(level, PatternsLevel):
            self._level, self._names = level, None
            return
        if isinstance(level, str) or not hasattr(level, "__iter__"):
            raise TypeError("__init__(): incompatible constructor arguments. Patterns takes a "
                            "PatternsLevel or a list of names")
        self._level, self._names = PatternsLevel.NoPatterns, [self._known(name) for name in level]
        self._set = {name: True for name in self._names}

    def _known(self, name):
        key = _key(str(name))
        if key is None and str(name) not in ("InPlace",):
            import difflib
            near = difflib.get_close_matches(str(name), list(_TABLE), 3, 0.5)
            raise popart_exception(f"no pattern {name!r}; nearest: " + ", ".join(near))
        return key or name

    def enablePattern(self, name, enabled=True):
        """Switches a pattern on or off. Returns the object."""
        self._set[self._known(name)] = bool(enabled)
        return self

    def isPatternEnabled(self, name):
        """Tells whether a pattern is on."""
        key = self._known(name)
        if key in self._set:
            return self._set[key]
        if self._level == PatternsLevel.NoPatterns:
            return False
        if key == "InPlace":
            return self._level in (PatternsLevel.Default, PatternsLevel.All)
        _, _, _, initial, mandatory = _TABLE[key]
        if self._level == PatternsLevel.Minimal:
            return bool(mandatory)
        return self._level == PatternsLevel.All or bool(initial)

    def enableRuntimeAsserts(self, enabled=True):
        """Sets whether switching off a pattern that PopART needs is an error. Returns the
        object."""
        self._asserts = bool(enabled)
        return self

    def __repr__(self):
        return "Patterns: " + " ".join(name for name in _TABLE if self.isPatternEnabled(name))

    def keys(self):
        """Keys and texts of the library."""
        result = [("patterns_level", "no_patterns" if self._level == PatternsLevel.NoPatterns
                   else self._level.name.lower())]
        on = [name for name, enabled in self._set.items() if enabled]
        off = [name for name, enabled in self._set.items() if not enabled]
        if on:
            result.append(("enable_patterns", ",".join(on)))
        if off:
            result.append(("disable_patterns", ",".join(off)))
        result.append(("pattern_asserts", "true" if self._asserts else "false"))
        return result


def _property(name):
    def read(self):
        return self.isPatternEnabled(name)

    def write(self, enabled):
        self.enablePattern(name, enabled)
    return property(read, write, doc=f"Whether the pattern {name} is on.")


for _name, _pattern in _PROPERTIES.items():
    setattr(Patterns, _name, _property(_pattern))
