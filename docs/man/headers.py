# SPDX-License-Identifier: MIT
"""The public headers as text: comments, functions and status codes, for the manual page libpoprt(3)
and for docs/reference. Needs Python's standard library alone."""

import re

NAMES = ["base", "env", "config", "model", "pass", "executable", "session", "stepio", "runner",
         "trace", "data", "train", "attr", "builder", "builder_ops", "builder_ops_onnx",
         "builder_ops_ml", "builder_ops_graphcore", "builder_ops_microsoft", "builder_ops_contrib",
         "plugin", "custom", "popef"]


def read(root, name):
    return (root / "include/poprt" / f"{name}.h").read_text(encoding="utf-8")


def plain(comment):
    """The text of a C comment, its paragraphs and lists as they are."""
    body = re.sub(r"^/\*+ ?|\s*\*/$", "", comment.strip())
    return "\n".join(re.sub(r"^ ?\* ?", "", line.strip(" ")) if i else line
                     for i, line in enumerate(body.split("\n"))).strip()


def head_of(text, name):
    """The comment at the head of a header, without its name."""
    comment = re.search(r"/\*\n \* poprt/" + name + r"\.h — (.*?)\*/", text, re.S)
    return plain(comment.group(1)) if comment else ""


def functions(text):
    """(comment, declaration) of each exported function; functions in a row share a comment."""
    pattern = re.compile(r"(/\*(?:(?!\*/).)*\*/\n)?((?:^POPRT_API [^;#]*;\n)+)", re.S | re.M)
    for match in pattern.finditer(text):
        yield plain(match.group(1) or ""), match.group(2).replace("POPRT_API ", "").strip()


def handles(text):
    """Names of the types of which the header has a function that releases them."""
    return re.findall(r"^POPRT_API void (poprt_\w+)_release\(", text, re.M)


def status_codes(root):
    """(name, value, meaning) of each status code."""
    rows = re.findall(r"^    (POPRT_(?:OK|E_\w+)) = (-?\d+),? *(?:/\* (.*?) \*/)?$",
                      read(root, "base"), re.M)
    if len(rows) < 10:
        raise SystemExit("the status codes were not found in include/poprt/base.h")
    return rows
