#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares docs/reference with the tables and headers that it is made of.

    reference.py POPRT ROOT [--write]

operators.md, tensorflow.md, passes.md, options.md and option-names.md come from the tool; errors.md
and api.md from the comments of the public headers. --write makes the pages anew. Ends with 1 where a
page differs. Needs Python's standard library alone.
"""

import pathlib
import subprocess
import sys
import textwrap

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "docs/man"))
import headers  # noqa: E402

def tool(poprt, *arguments):
    return subprocess.run([poprt, *arguments], check=True, capture_output=True, text=True).stdout


def api_page(root):
    page = ["# The C interface", "",
            "The functions of the public headers in `include/poprt/`. The headers describe structs and",
            "enums as well."]
    for name in headers.NAMES:
        text = headers.read(root, name)
        page += ["", f"## poprt/{name}.h", "", headers.head_of(text, name)]
        for comment, declaration in headers.functions(text):
            page += ["", "```text", declaration, "```"]
            page += ["", comment] if comment else []
    return "\n".join(page) + "\n"


def errors_page(root):
    page = ["# Status codes", "",
            "Each function that can fail returns one of these codes. `poprt_last_error()` has the stage,",
            "the node and a sentence.", "", "| code | value | meaning |", "| --- | ---: | --- |"]
    page += [f"| `{name}` | {value} | {meaning or ''} |"
             for name, value, meaning in headers.status_codes(root)]
    return "\n".join(page) + "\n"


def tensorflow_page(poprt):
    """For each family of operators: those that equal another operator, and then the others."""
    families = {}
    for line in tool(poprt, "tf2onnx", "--list_ops").splitlines():
        name, same, family = line.split(maxsplit=2)
        families.setdefault(family, []).append((name.removeprefix("tflite:"), same))
    page = ["# Operators of TensorFlow and TFLite", "",
            "Made from `poprt tf2onnx --list_ops`: the operators that can be converted. A table",
            "has those that equal one operator of ONNX or, for TFLite, one of TensorFlow. The",
            "others become one or several operators, as their attributes and types require.", "",
            "A tensor of TFLite with a scale stores integers that stand for real numbers. An",
            "operator that computes with real numbers gets them by DequantizeLinear, and",
            "QuantizeLinear makes integers of its result."]
    for family, rows in families.items():
        target = "TensorFlow" if family.startswith("TFLite: ") else "ONNX"
        equal = [f"| {name} | {same} |" for name, same in sorted(rows) if same != "-"]
        others = ", ".join(name for name, same in sorted(rows) if same == "-")
        page += ["", f"## {family[0].upper()}{family[1:]}"]
        if equal:
            page += ["", f"| operator | {target} |", "| --- | --- |", *equal]
        if others:
            page += ["", *textwrap.wrap(others + ".", 98)]
    return "\n".join(page) + "\n"


def main():
    poprt, root = sys.argv[1], pathlib.Path(sys.argv[2])
    pages = {"operators": tool(poprt, "inspect", "--ops", "--text"),
             "tensorflow": tensorflow_page(poprt),
             "passes": tool(poprt, "inspect", "--passes"),
             "options": tool(poprt, "options"),
             "option-names": tool(poprt, "options", "--names"),
             "errors": errors_page(root), "api": api_page(root)}
    stale = []
    for name, text in pages.items():
        path = root / "docs/reference" / f"{name}.md"
        if "--write" in sys.argv:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            stale.append(str(path.relative_to(root)))
    for path in stale:
        print(f"FAILED: {path} is not what the tables and headers give: "
              "python3 tests/docs/reference.py POPRT . --write")
    print(f"{len(pages) - len(stale)} passed, {len(stale)} failed")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
