#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""python_calls.py CALLS [--rounds N] [--out FILE] — time of a call from Python against C.

CALLS is the program bench/calls. In each round the C program, a bound run, and calls with a dict
and new arrays are measured one after the other, so that other programs disturb all alike. The page
has medians over the rounds, and the median of the differences within a round. The import is measured by
process time, after that of numpy, with compiled sources. PYTHONPATH has the packages, and FIXTURES
is tests/fixtures.
"""
import argparse
import datetime
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import repeat

import numpy as np

import poprt
from poprt import _core

FLOAT = 1


def one_add():
    """A model that adds two tensors of four elements."""
    env = poprt._env.environment(1)
    builder = _core.Builder(env, 13)
    a, b = (builder.input(name, FLOAT, (4,)) for name in "ab")
    builder.output(builder.op("", "Add", [a, b], [], 1, None, ["c"])[0])
    return poprt.Model(builder.finish(), env)


def digits():
    """The small trained network of the fixtures."""
    model = poprt.Model.load(os.path.join(os.environ["FIXTURES"], "digits", "model.onnx"))
    for info in model.inputs:
        model.set_input_shape(info.name, [d if isinstance(d, int) else 1 for d in info.shape])
    return model


class Calls:
    """The three ways to call one model."""

    def __init__(self, program, model, path):
        executable = model.compile()
        executable.save(path)
        self.c = subprocess.Popen([program, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  text=True)
        self.session = poprt.Session(path, threads=1)
        self.inference = poprt.InferenceSession(path, threads=1)
        self.feed = {i.name: np.zeros(i.shape, i.dtype) for i in executable.inputs}
        for info in executable.inputs + executable.outputs:
            self.session.bind(info.name, np.zeros(info.shape, info.dtype))

    def in_c(self, n):
        print(n, file=self.c.stdin, flush=True)
        return int(self.c.stdout.readline()) / n

    def bound(self, n):
        run = self.session.run_bound
        start = time.perf_counter_ns()
        for _ in repeat(None, n):
            run()
        return (time.perf_counter_ns() - start) / n

    def inference_run(self, n):
        run, feed = self.inference.run, self.feed
        start = time.perf_counter_ns()
        for _ in repeat(None, n):
            run(None, feed)
        return (time.perf_counter_ns() - start) / n

    def session_run(self, n):
        run, feed = self.session.run, self.feed
        start = time.perf_counter_ns()
        for _ in repeat(None, n):
            run(feed)
        return (time.perf_counter_ns() - start) / n


WAYS = ("in_c", "bound", "inference_run", "session_run")


def measure(calls, rounds, n):
    """Medians of each way, and of its differences from C."""
    rows = [[getattr(calls, way)(n) for way in WAYS] for _ in range(rounds + 2)][2:]
    medians = [statistics.median(column) for column in zip(*rows)]
    beyond = [statistics.median(row[k] - row[0] for row in rows) for k in range(len(WAYS))]
    return medians, beyond


def import_ms(rounds):
    """Median milliseconds of importing numpy, and of importing poprt after it."""
    code = ("import time\na = time.process_time()\nimport numpy\nb = time.process_time()\n"
            "import poprt\nprint(b - a, time.process_time() - b)")
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "PYTHONPYCACHEPREFIX": folder}
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        rows = [[float(text) * 1e3 for text in subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True, text=True,
            env=env).stdout.split()] for _ in range(rounds + 1)][1:]
    return [statistics.median(column) for column in zip(*rows)]


def page(rows, imports, rounds):
    with open("/proc/cpuinfo") as file:
        cpu = next((line.split(":")[1].strip() for line in file if line.startswith("model name")),
                   platform.machine())
    text = f"""# Calls from Python

Written from `bench/python_calls.py`, which measures the C library and Python in turn: medians of
{rounds} rounds, in nanoseconds of a call. "Beyond C" is the median of the differences within a
round.
The goals are, for a model with one Add, 250 ns beyond C for a bound run and 1000 ns for a call that
returns a list of new arrays, and 10 ms beyond numpy for the import. `Session.run` also makes a dict
of the results.

{datetime.date.today()}; {cpu}, {os.cpu_count()} cores,
Python {platform.python_version()}, numpy {np.__version__}. Load of other programs: {os.getloadavg()[0]:.0f}
processors.

    python3 bench/python_calls.py build/release/bench/calls

| call | one Add | beyond C | digits | beyond C |
| --- | ---: | ---: | ---: | ---: |
"""
    names = {"in_c": "C: `poprt_session_run`", "bound": "bound arrays: `Session.run_bound`",
             "inference_run": "dict in, list of new arrays out: `InferenceSession.run`",
             "session_run": "dict in, dict of new arrays out: `Session.run`"}
    (add, add_more), (net, net_more) = rows
    for k, way in enumerate(WAYS):
        text += f"| {names[way]} | {add[k]:.0f} | {add_more[k]:.0f} | {net[k]:.0f} | " \
                f"{net_more[k]:.0f} |\n"
    return text + f"""
| import | ms of process time |
| --- | ---: |
| numpy | {imports[0]:.1f} |
| poprt, after numpy | {imports[1]:.1f} |
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("calls")
    parser.add_argument("--rounds", type=int, default=101)
    parser.add_argument("--out")
    args = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, model, n in (("add", one_add(), 2000), ("digits", digits(), 100)):
            calls = Calls(args.calls, model, os.path.join(folder, name + ".popef"))
            rows.append(measure(calls, args.rounds, n))
            calls.c.stdin.close()
            calls.c.wait()
    text = page(rows, import_ms(21), args.rounds)
    if args.out:
        with open(args.out, "w") as file:
            file.write(text)
    print(text, end="")


if __name__ == "__main__":
    main()
