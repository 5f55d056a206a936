#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""report.py POPRT ROOT — parses the pages of `poprt report`: closed elements, all data inline, no
scripts and no addresses, the plots with their points, and names of a model escaped. Also the bytes
of the pass model_overview. Covers report.c, report_page.c, plot.c, overview.c."""
import html.parser
import os
import re
import subprocess
import sys
import tempfile

poprt, root = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
fixtures = os.path.join(root, "tests", "fixtures")
failed = 0


def check(condition, what):
    global failed
    if not condition:
        print("FAILED:", what)
        failed += 1


class Page(html.parser.HTMLParser):
    """Keeps the elements by id, and the texts below each of them."""

    void = {"meta", "path", "rect", "polyline"}

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.elements, self.texts = [], {}, [], {}
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.elements.append((tag, attrs, [i for _, i in self.open if i]))
        if "id" in attrs:
            check(attrs["id"] not in self.ids, "id %s is used twice" % attrs["id"])
            self.ids[attrs["id"]] = tag
        if tag not in self.void:
            self.open.append((tag, attrs.get("id")))

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs), [i for _, i in self.open if i]))

    def handle_endtag(self, tag):
        check(self.open and self.open[-1][0] == tag, "</%s> closes %s" % (tag, self.open[-1:]))
        self.open.pop()

    def handle_data(self, data):
        for _, name in self.open:
            if name and data.strip():
                self.texts.setdefault(name, []).append(data.strip())


def make_page(*words):
    path = os.path.join(temp, "page.html")
    done = subprocess.run([poprt, "report", *words, "--output", path], capture_output=True, text=True)
    check(done.returncode == 0, "report %s: %s" % (words, done.stderr))
    check(done.stdout == path + "\n", "prints %r" % done.stdout)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    page = Page(text)
    check(not page.open, "open elements: %s" % page.open)
    check(not re.search(r"//|\burl\(|@import|javascript", text), "an address in the page")
    for tag, attrs, _ in page.elements:
        check(tag not in ("script", "link", "img", "iframe", "object", "embed", "base"), tag)
        check(not {"src", "href", "xlink:href", "action", "data"} & set(attrs), "%s %s" % (tag, attrs))
    return page, text


def check_page(page):
    for name, tag in (("memory", "table"), ("memory-over-steps", "svg"),
                      ("time-by-operator", "svg"), ("steps", "table"), ("largest-tensors", "table")):
        check(page.ids.get(name) == tag, "no %s %s" % (tag, name))
    lines = [a for t, a, ids in page.elements if t == "polyline" and "memory-over-steps" in ids]
    check(len(lines) == 1, "lines of the plot: %d" % len(lines))
    points = [tuple(map(float, p.split(","))) for p in lines[0]["points"].split()]
    steps = [t for t in page.texts["steps"] if re.fullmatch(r"0\.\d+", t)]
    check(len(points) >= 2 and len(steps) >= 2, "points %d, steps %d" % (len(points), len(steps)))
    check(all(70 <= x <= 620 and 20 <= y <= 350 for x, y in points), "points outside of the axes")
    check(points == sorted(points, key=lambda p: p[0]), "points are not in order")
    bars = [float(a["width"]) for t, a, ids in page.elements
            if t == "rect" and "time-by-operator" in ids]
    check(bars and max(bars) == bars[0] == 320, "bars %s" % bars)
    shares = [float(m) for t in page.texts["time-by-operator"]
              for m in re.findall(r"us, ([\d.]+) %", t)]
    check(98 < sum(shares) < 102, "shares add up to %s" % sum(shares))
    memory = dict(zip(page.texts["memory"][2::2], page.texts["memory"][3::2]))
    number = {k: int(v.replace(",", "")) for k, v in memory.items()}
    parts = sum(v for k, v in number.items()
                if k not in ("session", "weights of the executable"))
    check(number["session"] == parts, "memory %s" % number)


def text_model(path):
    """Writes an ONNX model whose names have characters with a meaning in HTML."""
    def field(number, value):
        if isinstance(value, int):
            return bytes([number << 3, value])
        value = value.encode() if isinstance(value, str) else value
        assert len(value) < 16384
        size = len(value)
        head = bytes([size]) if size < 128 else bytes([size & 127 | 128, size >> 7])
        return bytes([number << 3 | 2]) + head + value

    def info(name):
        dims = b"".join(field(1, field(1, n)) for n in (2, 64))
        return field(1, name) + field(2, field(1, field(1, 1) + field(2, dims)))

    name = "<script>alert(1)</script>&\""
    node = field(1, "x") + field(2, "y") + field(3, name) + field(4, "Softmax") + \
        field(6, "net<b>.py(3): f")
    node2 = field(1, "y") + field(2, "z") + field(3, "last") + field(4, "Erf")
    graph = field(1, node) + field(1, node2) + field(2, "g") + field(11, info("x")) + \
        field(12, info("z"))
    with open(path, "wb") as file:
        file.write(field(1, 8) + field(7, graph) + field(8, field(2, 17)))


with tempfile.TemporaryDirectory() as temp:
    digits = os.path.join(fixtures, "digits", "model.onnx")
    page, text = make_page(digits, "--dim", "batch=4", "--iterations", "3")
    check_page(page)
    check("Mean of 3 runs" in text, "number of runs")
    check("nhwc_conv as " in text, "steps name their algorithm")
    check_page(make_page(os.path.join(fixtures, "encoder", "model.onnx"))[0])

    popef = subprocess.run([poprt, "-i", digits, "--input_shape", "image=2,1,8,8", "--export_popef",
                            "--output_dir", temp], capture_output=True, text=True)
    check(popef.returncode == 0, popef.stderr)
    check_page(make_page(os.path.join(temp, "executable.popef"))[0])

    page, text = make_page(digits, "--dim", "batch=4", "--iterations", "0")
    check("time-by-operator" not in page.ids and "No run was measured." in text, "page without runs")
    check("memory-over-steps" in page.ids, "page without runs has the plot of memory")

    names = os.path.join(temp, "names.onnx")
    text_model(names)
    page, text = make_page(names)
    check_page(page)
    check("&lt;script&gt;alert(1)&lt;/script&gt;&amp;&quot;" in text, "names are escaped")
    check("net&lt;b&gt;.py:3, in f" in text, "places are escaped")

    for words, code in ((["report"], 2), (["report", digits, "--iterations", "-1"], 2),
                        (["report", digits, "--output", temp + "/none/page.html"], 1),
                        (["report", temp + "/none.onnx"], 1)):
        done = subprocess.run([poprt, *words], capture_output=True, text=True)
        check(done.returncode == code, "%s ended with %d" % (words, done.returncode))

    done = subprocess.run([poprt, "-i", digits, "--input_shape", "image=1,1,8,8", "--passes",
                           "model_overview", "--output_dir", temp], capture_output=True, text=True)
    lines = dict(re.findall(r"^ +\d+ (\w+): (\d+) bytes of weights, \d+ bytes of results$",
                            done.stdout, re.M))
    total = re.search(r"^Weights: (\d+) bytes$", done.stdout, re.M)
    check(total and sum(map(int, lines.values())) == int(total.group(1)) > 100000,
          "model_overview: %s" % done.stdout)
    check(" Gemm: 102568 bytes of weights, 424 bytes of results" in done.stdout, done.stdout)

sys.exit(1 if failed else 0)
