#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""stubs.py [--write] — makes the stub (.pyi) of each public module of poprt, popef and
model_runtime from the signatures of the imported packages (PYTHONPATH), and compares the stubs
beside the sources with them, or writes them."""

import enum
import importlib
import inspect
import os
import sys

PACKAGES = ("poprt", "popef", "model_runtime")
HEAD = "# SPDX-License-Identifier: MIT\n# Made by tests/python/stubs.py.\n"
HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "src", "python")


def sources():
    """Pairs of the name and the source of each public module."""
    for package in PACKAGES:
        for folder, folders, files in sorted(os.walk(os.path.join(HERE, package))):
            folders[:] = [name for name in folders if name != "__pycache__"]
            for name in sorted(files):
                stem, suffix = os.path.splitext(name)
                if suffix != ".py" or (stem.startswith("_") and stem != "__init__"):
                    continue
                parts = os.path.relpath(folder, HERE).split(os.sep)
                if stem != "__init__":
                    parts.append(stem)
                yield ".".join(parts), os.path.join(folder, name)


def literal(value):
    """The text of a default, or "..."."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return repr(value) if not isinstance(value, enum.Enum) else "..."
    return "..."


def parameters(function):
    """The parameters of a function as text; those that begin with "_" are left out."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return "*args, **kwargs"
    parts, star, slash = [], False, False
    for parameter in signature.parameters.values():
        if parameter.name.startswith("_"):
            continue
        kind = parameter.kind
        if kind == parameter.POSITIONAL_ONLY:
            slash = True
        elif slash:
            parts.append("/")
            slash = False
        if kind == parameter.VAR_POSITIONAL:
            parts.append("*" + parameter.name)
            star = True
            continue
        if kind == parameter.VAR_KEYWORD:
            parts.append("**" + parameter.name)
            continue
        if kind == parameter.KEYWORD_ONLY and not star:
            parts.append("*")
            star = True
        default = parameter.default
        parts.append(parameter.name if default is parameter.empty
                     else f"{parameter.name}={literal(default)}")
    if slash:
        parts.append("/")
    return ", ".join(parts)


def wrapped(head, inner, tail, indent):
    """A line, or lines of at most 100 columns."""
    line = f"{indent}{head}({inner}){tail}"
    if len(line) <= 100:
        return [line]
    lines, now = [f"{indent}{head}("], indent + "    "
    for part in inner.split(", "):
        if len(now) + len(part) > 97:
            lines.append(now.rstrip())
            now = indent + "    "
        now += part + ", "
    lines.append(now.rstrip().rstrip(","))
    lines.append(f"{indent}){tail}")
    return lines


def method(name, value, indent):
    lines = []
    if isinstance(value, staticmethod):
        lines.append(indent + "@staticmethod")
        value = value.__func__
    elif isinstance(value, classmethod):
        lines.append(indent + "@classmethod")
        value = value.__func__
    elif isinstance(value, property):
        return [indent + "@property", f"{indent}def {name}(self): ..."]
    return lines + wrapped(f"def {name}", parameters(value), ": ...", indent)


def attributes(cls):
    """Names and types of attributes that objects have and the class has not."""
    try:
        instance = cls()
        names = [name for name in dir(instance) if name not in dir(cls)]
        return [(name, type(getattr(instance, name)).__name__) for name in names
                if not name.startswith("_")]
    except Exception:
        return []


def is_public(name):
    return not name.startswith("_") or name in ("__init__", "__call__", "__enter__", "__exit__",
                                                "__getitem__", "__iter__", "__len__")


def base_imports(cls, module):
    """Imports of base classes of other modules."""
    return [f"import {base.__module__}" if base.__name__ == cls.__name__
            else f"from {base.__module__} import {base.__name__} as {base.__name__}"
            for base in cls.__bases__ if base.__module__ not in (module, "builtins")
            and not base.__name__.startswith("_")]


def stub_class(name, cls):
    bases = [f"{base.__module__}.{name}" if base.__name__ == name else base.__name__
             for base in cls.__bases__
             if base is not object and not base.__name__.startswith("_")]
    lines = [f"class {name}({', '.join(bases)}):" if bases else f"class {name}:"]
    if issubclass(cls, enum.Enum):
        lines += [f"    {member} = {literal(cls[member].value)}" for member in cls.__members__]
    else:
        for key, kind in attributes(cls):
            known = kind if kind in ("bool", "int", "float", "str", "list", "dict") else "Any"
            lines.append(f"    {key}: {known}")
        for owner in [cls] + [base for base in cls.__mro__ if base.__name__.startswith("_")]:
            for key, value in vars(owner).items():
                if not is_public(key) or (owner is not cls and key in vars(cls)):
                    continue
                if inspect.isfunction(value) or isinstance(value, (staticmethod, classmethod,
                                                                   property)):
                    lines += method(key, value, "    ")
                elif not inspect.isroutine(value) and not inspect.isdatadescriptor(value):
                    lines.append(f"    {key}: Any")
    if len(lines) == 1:
        lines.append("    ...")
    return lines


def stub(name):
    """The text of the stub of a module."""
    module = importlib.import_module(name)
    imports, body = [], []
    public = getattr(module, "__all__", None)
    for key, value in vars(module).items():
        if key.startswith("_") and key != "__version__" or (public is not None
                                                            and key not in public):
            continue
        owner = getattr(value, "__module__", None)
        if inspect.ismodule(value):
            continue
        if inspect.isclass(value) or inspect.isfunction(value):
            if owner == name or value.__name__ != key:
                if inspect.isclass(value) and owner == name and value.__name__ == key:
                    body += [""] + stub_class(key, value)
                    imports += base_imports(value, name)
                elif inspect.isfunction(value):
                    body += [""] + wrapped(f"def {key}", parameters(value), ": ...", "")
                else:
                    body += ["", f"{key}: Any"]
            elif owner is not None and owner.split(".")[0] in PACKAGES and (
                    public is not None or hasattr(module, "__path__")):
                imports.append(f"from {owner} import {key} as {key}")
        else:
            body.append(f"{key}: Any")
    for module_name in sorted(getattr(module, "_MODULES", ())):
        imports.append(f"from . import {module_name} as {module_name}")
    for key, source in sorted(getattr(module, "_NAMES", {}).items()):
        if key not in vars(module) or not any(line.endswith(f"as {key}") for line in imports):
            imports.append(f"from .{source} import {key} as {key}")
    if name == "poprt.passes":
        body += ["", "def __getattr__(name: str) -> Any: ..."]
    lines = sorted(set(imports)) + body
    return HEAD + "from typing import Any\n\n" + "\n".join(lines).strip("\n") + "\n"


def main():
    differ = []
    for name, source in sources():
        path = source + "i"
        text = stub(name)
        compile(text, path, "exec")
        try:
            with open(path, encoding="utf-8") as file:
                before = file.read()
        except FileNotFoundError:
            before = None
        if before == text:
            continue
        differ.append(os.path.relpath(path, HERE))
        if "--write" in sys.argv:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
    if differ and "--write" not in sys.argv:
        print("these stubs differ from the packages; tests/python/stubs.py --write remakes them:")
        print("\n".join(differ))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
