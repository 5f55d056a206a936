# SPDX-License-Identifier: MIT
"""signatures.py ROOT [--write] — compares src/python/popart/_signatures.py, the operators of
ai.onnx 6 to 11 and ai.onnx.ml 1 with their attributes, with the schemas of the package onnx; with
--write it makes the file anew."""
import sys

import onnx.defs

KINDS = {1: "f", 2: "i", 3: "s", 4: "t", 5: "g", 6: "fs", 7: "is", 8: "ss"}


def attribute(a):
    text = f"{a.name}:{KINDS[int(a.type)]}"
    if a.required:
        return text + "!"
    value = a.default_value
    if value.type == 2:
        text += f"={value.i}"
    elif value.type == 1:
        text += f"={round(value.f, 5)}"
    elif value.type == 3:
        text += f"={value.s.decode()}"
    return text


def table(domain, newest):
    rows = []
    for s in onnx.defs.get_all_schemas_with_history():
        if s.domain != domain or s.since_version > newest or s.deprecated:
            continue
        counts = [min(n, 99) for n in (s.min_input, s.max_input, s.min_output, s.max_output)]
        attributes = [attribute(a) for a in s.attributes.values()
                      if a.name not in ("auto_pad", "consumed_inputs") and int(a.type) in KINDS]
        rows.append((s.name, s.since_version, " ".join(
            [s.name, str(s.since_version)] + [str(n) for n in counts] + sorted(attributes))))
    return [text for _, _, text in sorted(rows)]


def main():
    path = sys.argv[1] + "/src/python/popart/_signatures.py"
    lines = ["# SPDX-License-Identifier: MIT",
             '"""Operators of ai.onnx 6 to 11 and ai.onnx.ml 1, from the schemas of ONNX. Made by',
             "tests/python/signatures.py.",
             "",
             "A line: type, version, fewest and most inputs, fewest and most outputs (99: any number),",
             "attributes with kind (i, f, s: numbers and text; is, fs, ss: lists; t: tensor; g: graph),",
             '! if required, and default."""']
    for name, domain, newest in (("ONNX", "", 11), ("ML", "ai.onnx.ml", 1)):
        lines += ["", f'{name} = """'] + table(domain, newest) + ['"""']
    text = "\n".join(lines) + "\n"
    if "--write" in sys.argv:
        with open(path, "w") as file:
            file.write(text)
        return 0
    with open(path) as file:
        if file.read() == text:
            return 0
    print("src/python/popart/_signatures.py differs from the schemas: run "
          "tests/python/signatures.py . --write")
    return 1


sys.exit(main())
