#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares docs/reference with the tables and headers that it is made of.

    reference.py POPRT ROOT [--write]

operators.md, passes.md and options.md come from the tool; errors.md and api.md from the comments of
the public headers. --write makes the pages anew. Ends with 1 where a page differs. Needs Python's
standard library alone.
"""

import pathlib
import re
import subprocess
import sys

HEADERS = ["base", "env", "config", "model", "pass", "executable", "session", "stepio", "plugin"]


def tool(poprt, *arguments):
    return subprocess.run([poprt, *arguments], check=True, capture_output=True, text=True).stdout


def plain(comment):
    """The text of a C comment, its paragraphs and lists as they are."""
    body = re.sub(r"^/\*+ ?|\s*\*/$", "", comment.strip())
    return "\n".join(re.sub(r"^ ?\* ?", "", line.strip(" ")) if i else line
                     for i, line in enumerate(body.split("\n"))).strip()


def head_of(text, name):
    comment = re.search(r"/\*\n \* poprt/" + name + r"\.h — (.*?)\*/", text, re.S)
    return plain(comment.group(1)) if comment else ""


def functions(text):
    """(comment, declaration) of each exported function; functions in a row share a comment."""
    pattern = re.compile(r"(/\*(?:(?!\*/).)*\*/\n)?((?:^POPRT_API [^;#]*;\n)+)", re.S | re.M)
    for match in pattern.finditer(text):
        yield plain(match.group(1) or ""), match.group(2).replace("POPRT_API ", "").strip()


def api_page(root):
    page = ["# The C interface", "",
            "The functions of the public headers in `include/poprt/`. The headers describe structs and",
            "enums as well."]
    for name in HEADERS:
        text = (root / "include/poprt" / f"{name}.h").read_text()
        page += ["", f"## poprt/{name}.h", "", head_of(text, name)]
        for comment, declaration in functions(text):
            page += ["", "```text", declaration, "```"]
            page += ["", comment] if comment else []
    return "\n".join(page) + "\n"


def errors_page(root):
    text = (root / "include/poprt/base.h").read_text()
    rows = re.findall(r"^    (POPRT_(?:OK|E_\w+)) = (-?\d+),? *(?:/\* (.*?) \*/)?$", text, re.M)
    page = ["# Status codes", "",
            "Each function that can fail returns one of these codes. `poprt_last_error()` has the stage,",
            "the node and a sentence.", "", "| code | value | meaning |", "| --- | ---: | --- |"]
    page += [f"| `{name}` | {value} | {meaning or ''} |" for name, value, meaning in rows]
    if len(rows) < 10:
        sys.exit("the status codes were not found in include/poprt/base.h")
    return "\n".join(page) + "\n"


def main():
    poprt, root = sys.argv[1], pathlib.Path(sys.argv[2])
    pages = {"operators": tool(poprt, "inspect", "--ops", "--text"),
             "passes": tool(poprt, "inspect", "--passes"),
             "options": tool(poprt, "options"),
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
