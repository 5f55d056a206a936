# SPDX-License-Identifier: MIT
"""Wrong uses of all packages: each raises an exception with a sentence, and the process lives.
Covers arrays.c, session_call.c, session_state.c, stepio.c, runner.c, train.c, module.c."""
import copy
import gc
import io
import os
import pickle
import signal
import tempfile
import threading
import time
import unittest

import numpy as np

import model_runtime
import popart
import popef
import poprt
from poprt import _core, runtime

FLOAT, INT32, INT64, STRING = 1, 6, 7, 8
ENV = poprt._env.environment()
A = np.arange(4, dtype=np.float32)


def build(make):
    builder = _core.Builder(ENV, 13)
    make(builder)
    return poprt.Model(builder.finish(), ENV)


def add(dims=(4,)):
    def make(b):
        a, c = b.input("a", FLOAT, dims), b.input("b", FLOAT, dims)
        b.output(b.op("", "Add", [a, c], [], 1, None, ["c"])[0])
    return build(make)


def two():
    """Outputs n = -x and m = |x|."""
    def make(b):
        x = b.input("x", FLOAT, (1 << 16,))
        for op, name in (("Neg", "n"), ("Abs", "m")):
            b.output(b.op("", op, [x], [], 1, None, [name])[0])
    return build(make)


def weighted():
    def make(b):
        x = b.input("x", FLOAT, (4,))
        w = b.weight("w", np.ones(4, np.float32))
        b.output(b.op("", "Mul", [x, w], [], 1, None, ["y"])[0])
    return build(make)


def slow():
    """A model whose run takes many seconds."""
    def make(b):
        x = b.input("x", FLOAT, (96, 96))
        count, go = b.constant(None, np.int64(1 << 40)), b.constant(None, np.bool_(True))
        body = b.subgraph("body")
        body.input("i", INT64, ())
        keep = body.input("keep", 9, ())
        value = body.input("value", FLOAT, (96, 96))
        body.output(body.op("", "Identity", [keep], [], 1, None, None)[0])
        product = body.op("", "MatMul", [value, value], [], 1, None, None)[0]
        body.output(body.op("", "Tanh", [product], [], 1, None, None)[0])
        b.output(b.op("", "Loop", [count, go, x], [("body", 9, body)], 1, None, ["y"])[0])
    return build(make)


SQUARE = {"x": np.ones((96, 96), np.float32)}


def closed(thing):
    thing.close()
    return thing


class Evil:
    """Calls a function when it is read as an array or a number."""

    def __init__(self, fn, value=A):
        self.fn, self.value = fn, value

    def __array__(self, *args):
        self.fn()
        return self.value

    def __index__(self):
        self.fn()
        return 1

    def __float__(self):
        self.fn()
        return 0.5

    def __bool__(self):
        self.fn()
        return True


class Changing(list):
    """A sequence that gets shorter after its length was asked."""

    def __len__(self):
        size = list.__len__(self)
        self.clear()
        return size


def raising(*args):
    raise ZeroDivisionError("raised by a function of the program")


def session_table():
    s = poprt.Session(add())
    w = poprt.Session(weighted(), constant_weights=False)
    gone = closed(poprt.Session(add()))
    core = s._core
    late = _core.StepIO(s._core, None)
    ended = closed(_core.StepIO(s._core, None))
    orphan = poprt.Session(add())
    orphan_io = _core.StepIO(orphan._core, None)
    orphan.close()

    def in_callback(call):
        def run():
            step = _core.StepIO(s._core, (lambda n, p: call(), None, lambda n: np.zeros(4, "f"),
                                          None))
            step.run(None)
        return run

    def in_watch(call):
        def run():
            s.watch(lambda *a: call())
            try:
                s.run({"a": A, "b": A})
            finally:
                s.watch(None)
        return run

    def frozen():
        out = np.zeros(4, np.float32)
        out.flags.writeable = False
        s.bind("c", out)

    def cancelled():
        timer = threading.Timer(0.2, lambda: slow_session.cancel())
        slow_session = poprt.Session(slow())
        timer.start()
        slow_session.run(SQUARE)
    yield "feed: list", lambda: s.run([A, A])
    yield "feed: None", lambda: s.run(None)
    yield "feed: missing", lambda: s.run({"a": A})
    yield "feed: unknown", lambda: s.run({"a": A, "b": A, "x": A})
    yield "feed: key is a number", lambda: s.run({"a": A, 1: A})
    yield "feed: dtype", lambda: s.run({"a": A.astype(np.int64), "b": A})
    yield "feed: byte order", lambda: s.run({"a": A.astype(">f4"), "b": A})
    yield "feed: rank", lambda: s.run({"a": A.reshape(2, 2), "b": A})
    yield "feed: rank 32", lambda: s.run({"a": np.zeros((1,) * 32, np.float32), "b": A})
    yield "feed: dim", lambda: s.run({"a": A[:3], "b": A})
    yield "feed: empty", lambda: s.run({"a": A[:0], "b": A})
    yield "feed: object", lambda: s.run({"a": np.array([None] * 4), "b": A})
    yield "feed: dates", lambda: s.run({"a": np.zeros(4, "M8[s]"), "b": A})
    yield "feed: records", lambda: s.run({"a": np.zeros(4, [("f", "f4")]), "b": A})
    yield "feed: ragged list", lambda: s.run({"a": [[1], [2, 3]], "b": A})
    yield "feed: texts", lambda: s.run({"a": ["a"] * 4, "b": A})
    yield "feed: session", lambda: s.run({"a": s, "b": A})
    yield "feed: array raises", lambda: s.run({"a": Evil(raising), "b": A})
    yield "feed: array runs the session", \
        lambda: s.run({"a": Evil(lambda: s.run({"a": A, "b": A})), "b": A})
    yield "feed: array closes the session", lambda: s.run({"a": Evil(s._core.close), "b": A})
    yield "feed: released view", lambda: s.run({"a": released(), "b": A})
    yield "outputs: unknown", lambda: s.run({"a": A, "b": A}, ["d"])
    yield "outputs: number", lambda: s.run({"a": A, "b": A}, [0])
    yield "call: list of indexes", lambda: core.call({"a": A, "b": A}, [0])
    yield "call: index", lambda: core.call({"a": A, "b": A}, (7,))
    yield "call: negative index", lambda: core.call({"a": A, "b": A}, (-1,))
    yield "call: twice", lambda: core.call({"a": A, "b": A}, (0, 0))
    yield "call: text", lambda: core.call({"a": A, "b": A}, ("c",))
    yield "call: arguments", lambda: core.call({})
    yield "closed: run", lambda: gone.run({"a": A, "b": A})
    yield "closed: call", lambda: gone._core.call({"a": A, "b": A}, None)
    yield "closed: weight", lambda: gone.read_weight("w")
    yield "closed: watch", lambda: gone.watch(None)
    yield "closed: StepIO", lambda: _core.StepIO(gone._core, None)
    yield "closed: Weights", lambda: _core.Weights(gone._core)
    yield "closed: run of a StepIO", lambda: orphan_io.run(None)
    yield "closed: bind of a StepIO", lambda: orphan_io.bind("a", A)
    yield "closed: output of a StepIO", lambda: orphan_io.output("c")
    yield "closed StepIO: run", lambda: ended.run(None)
    yield "closed StepIO: bind", lambda: ended.bind("a", A)
    yield "bind: name", lambda: s.bind("d", A)
    yield "bind: name is bytes", lambda: late.bind(b"a", A)
    yield "bind: index", lambda: late.bind(3, A)
    yield "bind: negative index", lambda: late.bind(-1, A)
    yield "bind: huge index", lambda: late.bind(1 << 70, A)
    yield "bind: dtype", lambda: late.bind("a", A.astype(np.float64))
    yield "bind: shape", lambda: late.bind("a", A[:2])
    yield "bind: read-only output", frozen
    yield "bind: output of bytes", lambda: late.bind("c", bytes(16))
    yield "bind: output in a Tensor of bytes", \
        lambda: late.bind("c", _core.Tensor(bytes(16), FLOAT, (4,)))
    yield "bind: output in a list", lambda: late.bind("c", [0.0] * 4)
    yield "bind: output with steps", lambda: late.bind("c", np.zeros(8, np.float32)[::2])
    yield "bind: array closes the StepIO", lambda: closing_bind(s)
    yield "StepIO: not bound", lambda: _core.StepIO(s._core, None).run(None)
    yield "StepIO: program", lambda: late.run("no such program")
    yield "StepIO: program is a number", lambda: late.run(5)
    yield "StepIO: functions", lambda: _core.StepIO(s._core, (1, 2))
    yield "StepIO: not callable", lambda: _core.StepIO(s._core, (1, 2, 3, 4)).run(None)
    yield "StepIO: not a session", lambda: _core.StepIO(ENV, None)
    yield "StepIO: function and bind", \
        lambda: _core.StepIO(s._core, (raising, None, raising, None)).bind("a", A)
    yield "cache: no such input", lambda: late.bind_cache("x", "c", A, 0)
    yield "cache: no cache", lambda: late.bind_cache("a", "c", np.zeros((4, 4), np.float32), 9)
    yield "cache: array", lambda: late.bind_cache("a", "c", "text", 0)
    yield "cache: rows", lambda: late.cache_rows("a")
    yield "callback raises", in_callback(raising)
    yield "callback gives None", in_callback(lambda: None)
    yield "callback gives a text", in_callback(lambda: "text")
    yield "callback gives a dtype", in_callback(lambda: A.astype(np.int8))
    yield "callback gives a shape", in_callback(lambda: A[:1])
    yield "callback runs its session", in_callback(lambda: s.run({"a": A, "b": A}))
    yield "callback closes its session", in_callback(s._core.close)
    yield "callback watches its session", in_callback(lambda: s.watch(None))
    yield "watcher raises", in_watch(raising)
    yield "watcher runs its session", in_watch(lambda: s.run({"a": A, "b": A}))
    yield "watcher reads a weight", in_watch(lambda: s.read_weight("w"))
    yield "watcher is a number", lambda: s.watch(1) or s.run({"a": A, "b": A})
    yield "run is cancelled", cancelled
    yield "weight: name", lambda: w.read_weight("v")
    yield "weight: name is a number", lambda: w.read_weight(1)
    yield "weight: small", lambda: w.read_weight("w", np.zeros(2, np.float32))
    yield "weight: large", lambda: w.read_weight("w", np.zeros(8, np.float32))
    yield "weight: dtype", lambda: w.read_weight("w", np.zeros(4, np.int32))
    yield "weight: read-only", lambda: w.read_weight("w", bytes(16))
    yield "weight: write shape", lambda: w.write_weight("w", A[:2])
    yield "weight: write dtype", lambda: w.write_weight("w", A.astype(np.float64))
    yield "weight: constant", lambda: poprt.Session(weighted()).write_weight("w", A)
    yield "session: nothing", lambda: poprt.Session(None)
    yield "session: number", lambda: poprt.Session(17)
    yield "session: bytes", lambda: poprt.Session(b"neither")
    yield "session: option", lambda: poprt.Session(add(), no_such_option=1)
    yield "session: value", lambda: poprt.Session(add(), memory_limit="much")
    yield "session: dims", lambda: poprt.Session(add(("n",)), dims={"n": -5})
    yield "session: closed executable", lambda: poprt.Session(closed(add().compile()))
    yield "session: core of a model", lambda: _core.Session(add()._core, None, True)
    yield "session: pickle", lambda: pickle.dumps(s)
    yield "session: copy", lambda: copy.copy(s)
    yield "core session: pickle", lambda: pickle.dumps(s._core)
    yield "core session: copy", lambda: copy.deepcopy(s._core)
    yield "session: attribute", lambda: setattr(s._core, "x", 1)
    yield "session: report", lambda: s.report("novel")
    yield "session: report number", lambda: s._core.report(77)
    yield "session: trace", lambda: s._core.trace(s._core)
    yield "session: weights", lambda: s._core.share_weights(A)
    yield "session: checkpoint", lambda: s._core.load_checkpoint("/nonexistent/c")
    yield "session: variables", lambda: s._core.load_variables("/nonexistent/c")


def released():
    view = memoryview(A)
    view.release()
    return view


def closing_bind(s):
    step = _core.StepIO(s._core, None)
    step.bind("a", Evil(step.close))


def handle_table():
    model, config = add(), _core.Config(ENV)
    optimizer = _core.Optimizer(ENV, "sgd")
    trace = _core.Trace(ENV, 10)
    passes = poprt.PassManager()

    def with_closed(make, call):
        def run():
            thing = make()
            call(thing, Evil(thing.close))
        return run

    def used_trace():
        session = poprt.Session(add())
        session._core.trace(trace)
        try:
            trace.close()
        finally:
            session._core.trace(None)

    def used_weights():
        session = poprt.Session(weighted(), constant_weights=False)
        weights = _core.Weights(session._core)
        weights.write("w", Evil(weights.close))

    def own_model():
        env = poprt._env.environment()
        found = []

        def run(core):
            found.append(core)
            return False
        name = "wrong_use_" + str(time.monotonic_ns())
        env.add_model_pass(name, "A pass.", run)
        manager = _core.PassManager(env)
        manager.add(name, [])
        manager.run(add()._core)
        found[0].to_bytes()
    yield "tensor: type", lambda: _core.Tensor(b"", 99, ())
    yield "tensor: negative type", lambda: _core.Tensor(b"", -1, ())
    yield "tensor: size", lambda: _core.Tensor(b"1234", FLOAT, (2,))
    yield "tensor: count that wraps", lambda: _core.Tensor(b"", FLOAT, (1 << 59,))
    yield "tensor: bits that wrap", lambda: _core.Tensor(b"", 3, (1 << 61,))
    yield "tensor: product that wraps", lambda: _core.Tensor(b"", FLOAT, (1 << 40, 1 << 40))
    yield "tensor: negative dim", lambda: _core.Tensor(b"1234", FLOAT, (-1, -1))
    yield "tensor: dim", lambda: _core.Tensor(b"1234", FLOAT, (0.5,))
    yield "tensor: huge dim", lambda: _core.Tensor(b"1234", FLOAT, (1 << 80,))
    yield "tensor: shape", lambda: _core.Tensor(b"1234", FLOAT, 1)
    yield "tensor: shape that shrinks", lambda: _core.Tensor(b"1234", FLOAT, Changing([1, 1]))
    yield "tensor: huge rank", \
        lambda: poprt.Session(add()).run({"a": _core.Tensor(bytes(16), FLOAT, (1,) * 999 + (4,)),
                                          "b": A})
    yield "tensor: no buffer", lambda: _core.Tensor(17, FLOAT, (1,))
    yield "tensor: strings", lambda: _core.Tensor(b"a", STRING, (1,))
    yield "tensor: strings count", lambda: _core.Tensor([b"a"], STRING, (2,))
    yield "tensor: strings are texts", lambda: _core.Tensor(["a"], STRING, (1,))
    yield "closed: model", lambda: closed(add()).to_bytes()
    yield "closed: compile", lambda: closed(add()).compile()
    yield "closed: clone", lambda: closed(add()).clone()
    yield "closed: executable", lambda: closed(add().compile()).to_bytes()
    yield "closed: config", lambda: closed(_core.Config(ENV)).set("seed", "1")
    yield "closed: builder", lambda: closed(_core.Builder(ENV, 13)).finish()
    yield "closed: optimizer", lambda: closed(_core.Optimizer(ENV, "sgd")).copy()
    yield "closed: trace", lambda: closed(_core.Trace(ENV, 1)).count()
    yield "closed: passes", lambda: closed(_core.PassManager(ENV)).names()
    yield "closed while it is read: builder", \
        with_closed(lambda: _core.Builder(ENV, 13), lambda b, evil: b.weight("w", evil))
    yield "closed while it is read: dims", \
        with_closed(lambda: _core.Builder(ENV, 13), lambda b, evil: b.input("w", FLOAT, (evil,)))
    yield "closed while it is read: optimizer", \
        with_closed(lambda: _core.Optimizer(ENV, "sgd"),
                    lambda o, evil: o.set("defaultLearningRate", evil, True))
    yield "closed while it is read: model", \
        with_closed(lambda: add()._core, lambda m, evil: m.io(evil))
    yield "closed while it is read: shape", \
        with_closed(lambda: add()._core, lambda m, evil: m.set_input_shape("a", (evil,)))
    yield "closed while it is read: weights", used_weights
    yield "closed while a session has it: trace", used_trace
    yield "model of a pass after the pass", own_model
    yield "new: model", lambda: _core.Model()
    yield "new: executable", lambda: _core.Executable()
    yield "new: request", lambda: _core.Request()
    yield "new: session", lambda: _core.Session()
    yield "new: subclass", lambda: type("Mine", (_core.Session,), {})
    yield "env: arguments", lambda: _core.Env(1)
    yield "env: log level", lambda: ENV.set_log_level(None, 99)
    yield "env: log module", lambda: ENV.get_log_level("nothing")
    yield "env: plug-in", lambda: ENV.load_plugin("/nonexistent.so")
    yield "env: pass twice", lambda: ENV.add_model_pass("constant_folding", "", len)
    yield "config: key", lambda: config.set("nothing", "1")
    yield "config: type", lambda: config.set("seed", 1)
    yield "config: value", lambda: config.set("seed", "one")
    yield "config: text", lambda: config.merge_json("{")
    yield "model: path", lambda: poprt.Model.load("/nonexistent/m.onnx")
    yield "model: folder", lambda: poprt.Model.load("/")
    yield "model: bytes", lambda: poprt.Model.load(b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff")
    yield "model: number", lambda: poprt.Model.load(5)
    yield "model: zero byte", lambda: poprt.Model.load("a\0b")
    yield "model: input", lambda: model.set_input_shape("nothing", [1])
    yield "model: huge rank", lambda: model.set_input_shape("a", [1] * 100)
    yield "model: dim", lambda: model.set_input_shape("a", [-7])
    yield "model: format", lambda: model.describe("poem")
    yield "model: format number", lambda: model._core.describe(99)
    yield "model: fuse one", lambda: poprt.Model.fuse([model])
    yield "model: fuse others", lambda: _core.Model.fuse([1, 2])
    yield "model: replace", lambda: add()._core.replace(b"nothing")
    yield "model: save", lambda: model.save("/nonexistent/folder/m.onnx")
    yield "executable: PopEF", lambda: poprt.Executable.load(b"no PopEF")
    yield "executable: path", lambda: poprt.Executable.load("/nonexistent.popef")
    yield "executable: save", lambda: add().compile().save("/nonexistent/folder/m.popef")
    yield "executable: batching", lambda: add().compile()._core.batching(0, 99)
    yield "executable: programs", lambda: _core.Executable.compile_programs([("a", model)], None)
    yield "executable: programs kind", \
        lambda: _core.Executable.compile_programs([("a", 1), ("b", 2)], None)
    yield "passes: name", lambda: passes.add("nothing_of_the_kind")
    yield "passes: option", lambda: passes.add("eliminate_identity", nothing=1)
    yield "passes: many options", lambda: passes._core.add("eliminate_identity", [("a", "b")] * 99)
    yield "passes: model", lambda: passes._core.run(5)
    yield "passes: reference", lambda: passes._core.set_reference(5, None)
    yield "passes: samples", lambda: passes._core.set_reference(None, "/nonexistent.npz")
    yield "optimizer: kind", lambda: _core.Optimizer(ENV, "magic")
    yield "optimizer: key", lambda: optimizer.set("nothing", 1, True)
    yield "optimizer: value", lambda: optimizer.set("defaultLearningRate", "much", True)
    yield "optimizer: many values", lambda: optimizer.insert_specific("w", [("a", 1, True)] * 99)
    yield "optimizer: weights", lambda: optimizer.clip([1], 1.0)
    yield "optimizer: replacement", lambda: optimizer.check_replacement(model._core)
    yield "flow: batches", lambda: _core.Flow(ENV, 0)
    yield "flow: type", lambda: _core.Flow(ENV, 1).anchor("a", 99, 1)
    yield "trace: end", lambda: trace.end("nothing begun")
    yield "trace: path", lambda: trace.write_file("/nonexistent/folder/t.json")
    yield "builder: opset", lambda: _core.Builder(ENV, 1000)
    yield "builder: id", lambda: _core.Builder(ENV, 13).output(77)
    yield "builder: operator", \
        lambda: _core.Builder(ENV, 13).op("", "Nothing", [], [], 1, None, None)
    yield "builder: rank", lambda: _core.Builder(ENV, 13).input("x", FLOAT, (1,) * 99)
    yield "builder: type", lambda: _core.Builder(ENV, 13).input("x", 99, (1,))
    yield "builder: location", lambda: _core.Builder(ENV, 13).set_location("f", "one", None)
    yield "tool: arguments", lambda: _core.tool(None, None)
    yield "setup: arguments", lambda: _core.setup(1, 2, 3, 4, 5)


def package_table():
    path = os.path.join(FOLDER.name, "add.popef")
    add().compile().save(path)
    runner = runtime.Runner(path)
    gone = runtime.Runner(path)
    gone.close()
    out = np.zeros(4, np.float32)
    good = {"a": A, "b": A}

    def closing():
        own = runtime.Runner(path)
        own._core.execute({"a": Evil(own._core.close), "b": A}, {"c": out}, 0)

    def unnamed():
        feed = {"a": Evil(lambda: feed.clear()), "b": A}
        runner._core.execute(feed, {"d": out}, 0)
    yield "runner: path", lambda: runtime.Runner("/nonexistent.popef")
    yield "runner: number", lambda: runtime.Runner(5)
    yield "runner: config", lambda: runtime.Runner(path, 5)
    yield "runner: setting", lambda: setattr(runtime.RuntimeConfig(), "nothing", 1)
    yield "runner: type of a setting", \
        lambda: setattr(runtime.RuntimeConfig(), "timeout_ns", "long")
    yield "runner: missing input", lambda: runner.execute({"a": A}, {"c": out})
    yield "runner: unknown input", lambda: runner.execute(dict(good, x=A), {"c": out})
    yield "runner: unknown output", lambda: runner.execute(good, {"d": out})
    yield "runner: size", lambda: runner.execute(dict(good, a=A[:2]), {"c": out})
    yield "runner: dtype", lambda: runner.execute(dict(good, a=A.astype("f8")), {"c": out})
    yield "runner: small output", lambda: runner.execute(good, {"c": out[:2]})
    yield "runner: output of bytes", lambda: runner._core.execute(good, {"c": bytes(16)}, 0)
    yield "runner: output of a Tensor of bytes", \
        lambda: runner._core.execute(good, {"c": _core.Tensor(bytes(16), FLOAT, (4,))}, 0)
    yield "runner: list", lambda: runner._core.execute([A], {"c": out}, 0)
    yield "runner: key", lambda: runner._core.execute({1: A, "b": A}, {"c": out}, 0)
    yield "runner: replica", lambda: runner._core.execute(good, {"c": out}, 7)
    yield "runner: dict that is emptied", unnamed
    yield "runner: array closes it", closing
    yield "runner: closed", lambda: gone.execute(good, {"c": out})
    yield "runner: closed asynchronous", lambda: gone.execute_async(good, {"c": out})
    yield "runner: closed statistics", lambda: gone._core.stats()
    yield "runner: weight", lambda: runner._core.set_weight("w", A)
    yield "runner: pickle", lambda: pickle.dumps(runner._core)
    yield "request: time", lambda: runner._core.submit(good, {"c": out}, 0).wait("long")
    yield "device: number", lambda: runtime.DeviceManager().get_specific_device(1 << 20)
    yield "device: count", lambda: runtime.DeviceManager().get_device(0)
    yield "model_runtime: path", lambda: model_runtime.ModelRunner(["/nonexistent.popef"])
    yield "model_runtime: nothing", lambda: model_runtime.ModelRunner([])
    yield "model_runtime: inputs", lambda: model_runtime.ModelRunner([path]).execute({"x": A})
    yield "popef: path", lambda: popef.Reader().parseFile("/nonexistent.popef")
    yield "popef: stream", lambda: popef.Reader().parseStream(io.BytesIO(b"no PopEF at all"))
    yield "popef: executable", \
        lambda: popef.ModelBuilder(popef.Reader()).createModel("nothing")
    yield "popef: dtype", lambda: popef.numpyDTypeToPopefType(np.dtype("M8[s]"))
    yield "popef: record", lambda: popef.TensorInfo(1, 2, 3, 4, 5, 6, 7)
    yield "popef: type of a blob", lambda: popef.Writer(io.BytesIO()).write(5)
    yield "compiler: outputs", lambda: poprt.compiler.Compiler.compile(add().to_bytes(), ["no"])
    yield "compiler: model", lambda: poprt.compiler.Compiler.compile(b"nothing", ["c"])
    yield "compiler: option", \
        lambda: setattr(poprt.compiler.CompilerOptions(), "nothing", 1)
    yield "converter: option", lambda: poprt.Converter(nothing=1)
    yield "converter: positional", lambda: poprt.Converter("float16")
    yield "ort: device", \
        lambda: poprt.OrtValue.ortvalue_from_numpy(A, "cuda")
    yield "ort: providers", lambda: poprt.InferenceSession(add(), providers="CPU")
    yield "ort: option", lambda: setattr(poprt.SessionOptions(), "nothing", 1)
    yield "ort: binding", lambda: poprt.InferenceSession(add()).io_binding().bind_cpu_input("x", A)
    yield "popart: dtype", lambda: popart.TensorInfo("FLOAT7", [1])
    yield "popart: enum", lambda: popart.DataType(1000)
    yield "popart: member of another enum", \
        lambda: setattr(popart.SessionOptions(), "virtualGraphMode", popart.InitType.Zero)
    yield "popart: member is changed", lambda: setattr(popart.InitType.Zero, "value", 5)
    yield "popart: anchor type", lambda: popart.AnchorReturnType("sometimes")
    yield "popart: batches", lambda: popart.DataFlow(0, ["a"])
    yield "popart: model", lambda: popart.InferenceSession(
        b"nothing", popart.DataFlow(1), popart.DeviceManager().createCpuDevice())
    yield "popart: input", lambda: popart.Builder().aiOnnx.relu(["nothing"])
    yield "popart: count", lambda: popart.Builder().aiOnnx.relu([])
    yield "popart: rank", lambda: popart.Builder().addInputTensor("FLOAT", [1] * 99)
    yield "popart: dim", lambda: popart.Builder().addInputTensor("FLOAT", [-3])
    yield "popart: weight", lambda: popart.Builder().addInitializedInputTensor([1.0])
    yield "popart: stepio", lambda: popart.PyStepIO({"a": A[::2]}, {})
    yield "popart: optimizer", lambda: popart.SGD({"defaultLearningRate": 0.1})


FOLDER = tempfile.TemporaryDirectory()


class Wrong(unittest.TestCase):
    def test_every_wrong_use_raises_a_sentence(self):
        table = [*session_table(), *handle_table(), *package_table()]
        self.assertEqual(len({name for name, _ in table}), len(table))
        self.assertGreaterEqual(len(table), 100)
        for name, call in table:
            with self.subTest(name):
                with self.assertRaises(Exception) as caught:
                    call()
                self.assertNotIsInstance(caught.exception, SystemError)
                self.assertGreaterEqual(len(str(caught.exception).split()), 2)
        session = poprt.Session(add())  # the process is as before
        np.testing.assert_array_equal(session.run({"a": A, "b": A})["c"], 2 * A)


class Lifetimes(unittest.TestCase):
    def test_outputs_of_an_earlier_run_are_not_written(self):
        session = poprt.Session(two())
        x = np.ones(1 << 16, np.float32)
        first = session.run({"x": x})["n"]
        for _ in range(3):
            session.run({"x": 2 * x}, ["m"])
            np.testing.assert_array_equal(first, -1)
        del first
        gc.collect()
        self.assertEqual(session.run({"x": x}, ["m"])["m"][0], 1)

    def test_a_failed_bind_ends_the_one_before(self):
        session = poprt.Session(add())
        for array in (np.full(4, 3, np.float32), np.full(4, 4, np.float32)):
            session.bind("a", array)
            session.bind("b", array)
        with self.assertRaises(poprt.InvalidArgument):
            session.bind("a", A[:1])
        del array
        gc.collect()
        with self.assertRaises(poprt.Error):
            session.run_bound()
        session.bind("a", A)
        session.run_bound()
        np.testing.assert_array_equal(session.output("c"), A + 4)

    def test_a_feed_may_change_while_it_is_read(self):
        session = poprt.Session(add())
        feed = {"b": A}
        feed["a"] = Evil(lambda: feed.clear(), A + 1)
        self.assertRaises(ValueError, session.run, feed)  # b is gone
        feed = {"a": A}
        feed["b"] = Evil(lambda: feed.pop("b"), A + 1)
        try:
            result = session.run(feed)
        except ValueError:
            pass
        else:
            np.testing.assert_array_equal(result["c"], 2 * A + 1)

    def test_strings_of_a_tensor_are_its_own(self):
        def make(b):
            x = b.input("x", STRING, (2,))
            b.output(b.op("", "Identity", [x], [], 1, None, ["y"])[0])
        items = [b"a" * 100, b"b" * 100]
        tensor = _core.Tensor(items, STRING, (2,))
        items.clear()
        gc.collect()
        result = poprt.Session(build(make)).run({"x": tensor})["y"]
        self.assertEqual(result.tolist(), ["a" * 100, "b" * 100])

    def test_bound_memory_cannot_be_resized(self):
        session = poprt.Session(add())
        memory = bytearray(16)
        session.bind("a", memoryview(memory).cast("f"))
        with self.assertRaises(BufferError):
            memory.extend(b"1")
        array = np.zeros(4, np.float32)
        session.bind("b", array)
        with self.assertRaises(ValueError):
            array.resize(8)
        session.bind("a", None)
        memory.extend(b"1")

    def test_objects_outlive_what_made_them(self):
        executable = add().compile()
        session = poprt.Session(executable)
        step = _core.StepIO(session._core, None)
        executable.close()
        np.testing.assert_array_equal(session.run({"a": A, "b": A})["c"], 2 * A)
        session.close()
        del executable, session
        gc.collect()
        with self.assertRaises(ValueError):
            step.run(None)
        step.close()
        parent = _core.Builder(ENV, 13)
        child = parent.subgraph("g")
        parent.close()
        del parent
        gc.collect()
        child.input("x", FLOAT, (1,))

    def test_arrays_of_a_request_are_those_of_its_call(self):
        path = os.path.join(FOLDER.name, "grows.popef")
        add().compile().save(path)
        runner, out = runtime.Runner(path), np.zeros(4, np.float32)
        feed = {"b": A}
        feed["a"] = Evil(lambda: [feed.__setitem__(f"more{i}", A) for i in range(99)], A + 1)
        runner._core.execute(feed, {"c": out}, 0)
        np.testing.assert_array_equal(out, 2 * A + 1)

    def test_requests_outlive_their_runner(self):
        path = os.path.join(FOLDER.name, "request.popef")
        add().compile().save(path)
        runner = runtime.Runner(path)
        out = np.zeros(4, np.float32)
        request = runner._core.submit({"a": A, "b": A}, {"c": out}, 0)
        request.wait(None)
        runner.close()
        del runner
        gc.collect()
        self.assertTrue(request.wait(0))
        self.assertIsNone(request.result())
        np.testing.assert_array_equal(out, 2 * A)

    def test_a_time_that_is_no_number_is_no_time(self):
        path = os.path.join(FOLDER.name, "slow.popef")
        slow().compile().save(path)
        runner = runtime.Runner(path)
        request = runner._core.submit(SQUARE, {"y": np.zeros((96, 96), np.float32)}, 0)
        timer = threading.Timer(5, request.cancel)
        timer.start()
        self.assertFalse(request.wait(float("nan")))
        timer.cancel()
        request.cancel()
        self.assertTrue(request.wait(None))
        with self.assertRaises(poprt.Cancelled):
            request.result()

    def test_a_reference_is_a_copy(self):
        manager = _core.PassManager(ENV)
        manager.add("check_with_fake_data", [])
        model = add()._core
        manager.set_reference(model, None)
        model.close()
        gc.collect()
        self.assertTrue(manager.run(add()._core))
        manager.set_reference(None, None)
        self.assertTrue(manager.run(add()._core))

    def test_a_model_of_a_pass_may_be_copied(self):
        env = _core.Env(1, 0, -1, None, None)
        copies = []
        env.add_model_pass("mine", "A pass.", lambda model: copies.append(model.clone()) or False)
        manager = _core.PassManager(env)
        manager.add("mine", [])
        manager.run(add()._core)
        del env, manager
        gc.collect()
        self.assertTrue(copies[0].to_bytes())
        _core.Executable.compile(copies[0], None, None)

    def test_a_trace_stays_while_sessions_have_it(self):
        trace = _core.Trace(ENV, 100)
        session = poprt.Session(add())
        session._core.trace(trace)
        with self.assertRaises(poprt.StateError):
            trace.close()
        session.run({"a": A, "b": A})
        self.assertGreater(trace.count(), 0)
        session.close()
        trace.close()


class Threads(unittest.TestCase):
    def run_slowly(self, during):
        """Calls a function while a run is in progress, then ends the run."""
        session = poprt.Session(slow())
        ended = []

        def work():
            try:
                session.run(SQUARE)
            except poprt.Cancelled as error:
                ended.append(error)
        thread = threading.Thread(target=work)
        thread.start()
        time.sleep(0.1)
        try:
            during(session)
        finally:
            while thread.is_alive():
                session.cancel()
                thread.join(0.05)
        self.assertEqual(len(ended), 1)
        return session

    def test_cancel_after_an_interrupt(self):
        session = poprt.Session(slow())
        timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            session.run(SQUARE)
        timer.join()
        cancels = []
        other = poprt.Session(slow())

        def work():
            try:
                other.run(SQUARE)
            except poprt.Cancelled as error:
                cancels.append(error)
        thread = threading.Thread(target=work)
        thread.start()
        time.sleep(0.2)
        other.cancel()
        thread.join(20)
        alive = thread.is_alive()
        while thread.is_alive():
            other.cancel()
            thread.join(0.05)
        self.assertFalse(alive)
        self.assertEqual(len(cancels), 1)

    def test_close_waits_for_a_run(self):
        def during(session):
            closer = threading.Thread(target=session._core.close)
            closer.start()
            time.sleep(0.05)
            self.assertTrue(closer.is_alive())
            session.cancel()
            closer.join(20)
            self.assertFalse(closer.is_alive())
        session = self.run_slowly(during)
        with self.assertRaises(ValueError):
            session.run(SQUARE)

    def test_a_step_io_that_is_closed_meanwhile(self):
        def during(session):
            step = _core.StepIO(session._core, None)
            errors = []

            def run():
                try:
                    step.run(None)
                except ValueError as error:
                    errors.append(str(error))
            closer = threading.Thread(target=step.close)
            runner = threading.Thread(target=run)
            for thread in (closer, runner):
                thread.start()
                time.sleep(0.05)
            session.cancel()
            for thread in (closer, runner):
                thread.join(20)
            self.assertEqual(len(errors), 1)
        self.run_slowly(during)

    def test_many_threads_of_one_session(self):
        session = poprt.Session(add())
        failures = []

        def work(i):
            for k in range(200):
                try:
                    value = session.run({"a": A, "b": A + i})["c"]
                    if not np.array_equal(value, 2 * A + i):
                        failures.append(value)
                    session.run({"a": A})
                except ValueError:
                    pass
        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_threads_that_close_and_run(self):
        for _ in range(20):
            session = poprt.Session(add())
            errors = []

            def work():
                try:
                    while True:
                        session.run({"a": A, "b": A})
                except Exception as error:
                    errors.append(type(error))
            threads = [threading.Thread(target=work) for _ in range(3)]
            for thread in threads:
                thread.start()
            session.close()
            for thread in threads:
                thread.join()
            self.assertEqual(errors, [ValueError] * 3)

    def test_fork_after_close(self):
        session = poprt.Session(add())
        session.close()
        child = os.fork()
        if child == 0:
            try:
                session.run({"a": A, "b": A})
            except ValueError:
                os._exit(0)
            os._exit(1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)


if __name__ == "__main__":
    unittest.main()
