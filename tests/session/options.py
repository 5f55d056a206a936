#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares tests/session/options.md with the options and the tests that name them.

    options.py POPRT ROOT [--write]

Every option needs a test that names it, by its key or by a name of PopART, PopRT or PopTorch; every
other name needs a reason why it has no effect. --write makes the page anew. Ends with 1 where an
option has no test, or where the page differs. Needs Python's standard library alone.
"""

import json
import pathlib
import re
import subprocess
import sys

# Tests that name options without a look at their effects.
GENERAL = {"tests/api/test_config.c", "tests/api/test_option_names.c", "tests/tools/options.sh",
           "tests/tools/usage.sh"}


def listed(poprt, *arguments):
    text = subprocess.run([poprt, "options", "--json", *arguments], check=True,
                          capture_output=True, text=True).stdout
    return json.loads(text)


def tests_of(root):
    """Returns the words of every test, by its path."""
    found = {}
    for path in sorted((root / "tests").rglob("*")):
        name = str(path.relative_to(root))
        if path.suffix in (".c", ".h", ".sh", ".py") and name not in GENERAL:
            text = path.read_text(errors="replace").replace("\\n", " ")
            found[name] = set(re.findall(r"[A-Za-z_][\w.]*", text))
    return found


def main():
    poprt, root = sys.argv[1], pathlib.Path(sys.argv[2])
    options, names = listed(poprt), listed(poprt, "--names")
    tests = tests_of(root)
    aliases = {}
    for name in names:
        if name["effect"] == "option":
            aliases.setdefault(name["key"], []).append(name["name"])
    page = ["# Options and their tests", "",
            "Made by `tests/session/options.py`: a test that names each option, and the reason why a",
            "name of another system has no effect.", "",
            "| option | test |", "| --- | --- |"]
    failed = 0
    for option in options:
        words = [option["key"], *aliases.get(option["key"], [])]
        found = [path for path, known in tests.items() if any(word in known for word in words)]
        found.sort(key=lambda path: ("/session/" not in path, "/api/" not in path, path))
        if not found:
            failed += 1
            print(f"FAILED: no test names the option {option['key']}")
        page.append(f"| `{option['key']}` | {'`' + found[0] + '`' if found else ''} |")
    page += ["", "| name | effect |", "| --- | --- |"]
    for name in names:
        effect = f"sets `{name['key']}`" if name["effect"] == "option" else name["help"]
        if not effect:
            failed += 1
            print(f"FAILED: {name['name']} has neither an option nor a reason")
        page.append(f"| `{name['name']}` | {effect} |")
    path = root / "tests/session/options.md"
    text = "\n".join(page) + "\n"
    if "--write" in sys.argv:
        path.write_text(text)
    elif not path.exists() or path.read_text() != text:
        failed += 1
        print("FAILED: tests/session/options.md is not what the tables and tests give: "
              "python3 tests/session/options.py POPRT . --write")
    print(f"{len(options) + len(names) + 1 - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
