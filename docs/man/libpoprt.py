#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints the manual page libpoprt(3), made of the public headers and of the example in README.md.

    libpoprt.py ROOT VERSION

Needs Python's standard library alone.
"""

import pathlib
import re
import sys

sys.dont_write_bytecode = True
import headers  # noqa: E402

TOP = """.TH LIBPOPRT 3 "" "libpoprt {version}"
.SH NAME
libpoprt \\- read, optimise, compile and run ONNX models
.SH SYNOPSIS
.nf
.B #include <poprt/poprt.h>
.PP
cc program.c $(pkg\\-config \\-\\-cflags \\-\\-libs poprt)
.fi
.SH DESCRIPTION
libpoprt reads an ONNX model, rewrites its graph by passes, compiles it ahead of time, and runs it
on the CPU. A compiled model is saved as a file in the format of
.BR popef (5)
and opened later without the ONNX model:
.PP
.nf
  poprt_model_load_file \\-> poprt_pass_manager_run \\-> poprt_compile
      \\-> poprt_session_create \\-> poprt_stepio_bind \\-> poprt_session_run

  poprt_executable_save_file, poprt_executable_load_file
.fi
.PP
A library that was built without its compiler has the functions that open and run PopEF files.
The headers describe each function, struct and constant.
"""


def roff(text):
    """Text for troff: escapes, names in backticks as bold text."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("—", "\\(em").replace("…", "...")
    text = re.sub(r"`([^`]*)`", r"\\fB\1\\fR", text)
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.M)


def comment(text):
    """Paragraphs, lists and code of a comment."""
    lines, in_code = [], False
    for line in text.split("\n"):
        is_code = line.startswith("    ") and not line.strip().startswith("-")
        is_code = is_code and (in_code or not lines or lines[-1] == ".PP")
        if is_code != in_code and line.strip():
            lines.append(".nf" if is_code else ".fi")
            in_code = is_code
        if line.strip() == "":
            lines.append("" if in_code else ".PP")
        elif line.startswith(" - "):
            lines += [".IP \\(bu 2", roff(line[3:])]
        else:
            lines.append(roff(line if in_code else line.strip()))
    return lines + [".fi"] * in_code


def rules(root):
    """The rules of base.h: a section for each paragraph that begins with a title and a list."""
    page = []
    for part in headers.head_of(headers.read(root, "base"), "base").split("\n\n")[1:]:
        title, _, rest = part.partition("\n")
        page += [f".SH {title.upper()}"] + comment(rest)
    return page


def interface(root):
    page = [".SH HEADERS, HANDLES AND FUNCTIONS"]
    for name in headers.NAMES:
        text = headers.read(root, name)
        head = headers.head_of(text, name).split("\n\n")[0]
        page += [f".SS poprt/{name}.h"] + comment(head[:1].upper() + head[1:])
        if headers.handles(text):
            page += [".PP", *(f"Handle: {handle}, released by {handle}_release."
                              for handle in headers.handles(text))]
        declarations = [declaration for _, declaration in headers.functions(text)]
        if declarations:
            page += [".PP", ".nf"] + [roff(line) for line in "\n".join(declarations).split("\n")]
            page += [".fi"]
    return page


def errors(root):
    page = [".SH ERRORS", "A function that can fail returns one of these codes.",
            ".BR poprt_last_error ()", "describes the last failure of the calling thread:",
            "its stage, file, subject and a sentence."]
    for name, value, meaning in headers.status_codes(root):
        page += [".TP", f".B {name} ({value})".replace("-", "\\-"), roff(meaning or "Success.")]
    return page


def example(root):
    block = re.search(r"^```c\n(.*?)^```", (root / "README.md").read_text(encoding="utf-8"),
                      re.S | re.M)
    if not block:
        raise SystemExit("README.md has no example in C")
    code = block.group(1).replace("tests/fixtures/digits/", "")
    return [".SH EXAMPLE", "This program runs a model of handwritten digits.", ".PP",
            ".nf"] + roff(code).rstrip().split("\n") + [".fi"]


def main():
    root, version = pathlib.Path(sys.argv[1]), sys.argv[2]
    page = rules(root) + errors(root) + interface(root) + example(root)
    page += [".SH SEE ALSO", ".BR poprt (1),", ".BR popef (5)"]
    sys.stdout.reconfigure(encoding="utf-8")
    print(TOP.format(version=version) + "\n".join(page))


if __name__ == "__main__":
    main()
