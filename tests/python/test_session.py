# SPDX-License-Identifier: MIT
"""Models, sessions and the interface of onnxruntime: arrays.c, session_call.c, session_state.c,
builder_ops.c, tables.c, module.c."""
import asyncio
import gc
import os
import pickle
import signal
import sys
import tempfile
import threading
import time
import unittest

import numpy as np

import poprt
from poprt import _core

FIXTURES = os.environ["FIXTURES"]
DIGITS = os.path.join(FIXTURES, "digits", "model.onnx")
FLOAT, INT32, INT64, STRING, BFLOAT16 = 1, 6, 7, 8, 16


def build(make, opset=13):
    """Returns the model of a function that adds to a builder."""
    builder = _core.Builder(poprt._env.environment(), opset)
    make(builder)
    return poprt.Model(builder.finish(), poprt._env.environment())


def unary(op, dtype=FLOAT, dims=(2, 3), opset=13):
    def make(b):
        x = b.input("x", dtype, dims)
        b.output(b.op("", op, [x], [], 1, None, ["y"])[0])
    return build(make, opset)


def add(dims=(4,)):
    def make(b):
        a, c = b.input("a", FLOAT, dims), b.input("b", FLOAT, dims)
        b.output(b.op("", "Add", [a, c], [], 1, None, ["c"])[0])
    return build(make)


def slow():
    """A model whose run takes seconds: a Loop of many products."""
    def make(b):
        x = b.input("x", FLOAT, (128, 128))
        count = b.constant(None, np.int64(1000000))
        go = b.constant(None, np.bool_(True))
        body = b.subgraph("body")
        body.input("i", INT64, ())
        keep = body.input("keep", 9, ())
        value = body.input("value", FLOAT, (128, 128))
        body.output(body.op("", "Identity", [keep], [], 1, None, None)[0])
        product = body.op("", "MatMul", [value, value], [], 1, None, None)[0]
        body.output(body.op("", "Tanh", [product], [], 1, None, None)[0])
        y = b.op("", "Loop", [count, go, x], [("body", 9, body)], 1, None, ["y"])
        b.output(y[0])
    return build(make)


class Arrays(unittest.TestCase):
    def identity(self, array, dtype):
        session = poprt.Session(unary("Identity", dtype, array.shape))
        return session.run({"x": array})["y"]

    def test_types_with_a_buffer(self):
        for name in ("float32 float64 float16 int8 int16 int32 int64 uint8 uint16 uint32 uint64 "
                     "bool complex64").split():
            array = np.array([[0, 1, 2], [3, 4, 5]]).astype(name)
            code = poprt._arrays.dtype_code(array.dtype)
            result = self.identity(array, code)
            self.assertEqual(result.dtype, array.dtype)
            np.testing.assert_array_equal(result, array)

    def test_types_without_a_buffer(self):
        bits = np.arange(6, dtype=np.uint16).reshape(2, 3) + 0x3f80
        tensor = _core.Tensor(bits, BFLOAT16, (2, 3))
        result = poprt.Session(unary("Identity", BFLOAT16)).run({"x": tensor})["y"]
        np.testing.assert_array_equal(result.view(np.uint16), bits)
        for code, width in ((22, 4), (21, 4), (25, 2)):
            values = np.arange(6, dtype=np.uint8) % (1 << width)
            tensor = _core.Tensor(poprt._arrays._pack(values, width), code, (2, 3))
            model = unary("Identity", code, opset=25)
            result = poprt.Session(model).run({"x": tensor})["y"]
            np.testing.assert_array_equal(result.reshape(-1).astype(np.int64) & ((1 << width) - 1),
                                          values)

    def test_strings(self):
        array = np.array([["a", "bc", ""], ["é", "longer", "x"]])
        result = self.identity(array, STRING)
        self.assertEqual(result.tolist(), array.tolist())
        self.assertEqual(self.identity(array.astype(object), STRING).tolist(), array.tolist())
        with self.assertRaisesRegex(TypeError, "str and bytes"):
            self.identity(np.array([[1, "a", None]] * 2, object), STRING)

    def test_layouts(self):
        session = poprt.Session(unary("Neg"))
        base = np.arange(12, dtype=np.float32).reshape(3, 4)
        for view in (base.T[:2], base[:2, ::-1][:, :3], base[::2, 1:], np.asfortranarray(base[:2, :3])):
            view = view[:2, :3]
            np.testing.assert_array_equal(session.run({"x": view})["y"], -view)
        swapped = base[:2, :3].astype(">f4")
        with self.assertRaisesRegex(poprt.InvalidArgument, "byte order"):
            session.run({"x": swapped})
        unaligned = np.frombuffer(b"x" + base[:2, :3].tobytes(), np.uint8)[1:].view(np.float32)
        np.testing.assert_array_equal(session.run({"x": unaligned.reshape(2, 3)})["y"], -base[:2, :3])

    def test_lists_and_scalars(self):
        session = poprt.Session(unary("Neg"))
        np.testing.assert_array_equal(session.run({"x": [[1, 2, 3], [4, 5, 6]]})["y"],
                                      [[-1, -2, -3], [-4, -5, -6]])
        scalar = poprt.Session(unary("Neg", FLOAT, ()))
        self.assertEqual(scalar.run({"x": 2})["y"], -2)

    def test_results_own_their_memory(self):
        session = poprt.Session(unary("Neg"))
        first = session.run({"x": np.ones((2, 3), np.float32)})["y"]
        second = session.run({"x": np.zeros((2, 3), np.float32)})["y"]
        session.close()
        gc.collect()
        np.testing.assert_array_equal(first, -1)
        np.testing.assert_array_equal(second, 0)
        self.assertTrue(first.flags.owndata)

    def test_open_dimensions(self):
        session = poprt.Session(unary("Neg", FLOAT, ("n", 3)))
        for n in (1, 5, 0, 2):
            self.assertEqual(session.run({"x": np.ones((n, 3), np.float32)})["y"].shape, (n, 3))


class OnnxRuntime(unittest.TestCase):
    def test_digits(self):
        session = poprt.InferenceSession(DIGITS)
        info = session.get_inputs()[0]
        self.assertEqual(info.type, "tensor(float)")
        shape = [d if isinstance(d, int) else 1 for d in info.shape]
        result = session.run(None, {info.name: np.zeros(shape, np.float32)})
        self.assertEqual(len(result), len(session.get_outputs()))
        self.assertEqual(session.get_providers(), ["CPUExecutionProvider"])

    def test_order_of_outputs(self):
        def make(b):
            x = b.input("x", FLOAT, (2,))
            for op in ("Neg", "Abs", "Sqrt"):
                b.output(b.op("", op, [x], [], 1, None, [op])[0])
        session = poprt.InferenceSession(build(make))
        feed = {"x": np.array([4, 9], np.float32)}
        self.assertEqual([a.tolist() for a in session.run(["Sqrt", "Neg"], feed)],
                         [[2, 3], [-4, -9]])
        self.assertEqual([a.tolist() for a in session.run(["Neg", "Neg"], feed)],
                         [[-4, -9], [-4, -9]])
        self.assertEqual(len(session.run([], feed)), 3)

    def test_binding(self):
        session = poprt.InferenceSession(add())
        binding = session.io_binding()
        a = np.arange(4, dtype=np.float32)
        out = np.zeros(4, np.float32)
        binding.bind_cpu_input("a", a)
        binding.bind_input("b", "cpu", 0, np.float32, [4], a.ctypes.data)
        binding.bind_ortvalue_output("c", poprt.OrtValue.ortvalue_from_numpy(out))
        session.run_with_iobinding(binding)
        np.testing.assert_array_equal(out, 2 * a)
        a += 1
        session.run_with_iobinding(binding)
        np.testing.assert_array_equal(binding.copy_outputs_to_cpu()[0], 2 * a)
        binding.clear_binding_outputs()
        binding.bind_output("c")
        session.run_with_iobinding(binding)
        np.testing.assert_array_equal(binding.get_outputs()[0].numpy(), 2 * a)

    def test_options(self):
        options = poprt.SessionOptions()
        options.intra_op_num_threads = 2
        options.add_free_dimension_override_by_name("n", 3)
        with self.assertRaises(AttributeError):
            options.no_such_option = 1
        session = poprt.InferenceSession(unary("Neg", FLOAT, ("n", 2)), options)
        with self.assertRaises(ValueError):
            session.run(None, {"x": np.zeros((4, 2), np.float32)})
        with self.assertWarnsRegex(UserWarning, "CUDAExecutionProvider"):
            poprt.InferenceSession(DIGITS, providers=["CUDAExecutionProvider"])

    def test_asynchronous(self):
        session = poprt.InferenceSession(add())
        a = np.ones(4, np.float32)
        futures = [session.submit({"a": a * i, "b": a}) for i in range(20)]
        for i, future in enumerate(futures):
            np.testing.assert_array_equal(future.result()["c"], i + 1)

        async def wait():
            return await session.submit({"a": a, "b": a})
        np.testing.assert_array_equal(asyncio.run(wait())["c"], 2)
        got = threading.Event()
        values = []

        def done(results, user, error):
            values.append((results, user, error))
            got.set()
        session.run_async(None, {"a": a, "b": a}, done, "mine")
        self.assertTrue(got.wait(10))
        self.assertEqual(values[0][1:], ("mine", ""))


class Wrong(unittest.TestCase):
    def test_feeds(self):
        session = poprt.Session(add())
        a = np.ones(4, np.float32)
        with self.assertRaisesRegex(ValueError, "b: no value was given"):
            session.run({"a": a})
        with self.assertRaisesRegex(ValueError, "no such input"):
            session.run({"a": a, "b": a, "x": a})
        with self.assertRaisesRegex(ValueError, "no such output"):
            session.run({"a": a, "b": a}, ["d"])
        with self.assertRaisesRegex(poprt.InvalidArgument, "float64") as caught:
            session.run({"a": a.astype(np.float64), "b": a})
        self.assertEqual(caught.exception.status, "POPRT_E_TYPE")
        self.assertEqual(caught.exception.subject, "a")
        for value in (None, object(), "text", {"a": 1}, session):
            with self.assertRaises((TypeError, ValueError)):
                session.run({"a": value, "b": a})
        with self.assertRaises(TypeError):
            session.run([a, a])
        np.testing.assert_array_equal(session.run({"a": a, "b": a})["c"], 2)  # still works

    def test_closed(self):
        session = poprt.Session(add())
        io = _core.StepIO(session._core, None)
        session.close()
        session.close()
        for call in (lambda: session.run({}), lambda: session.read_weight("x"),
                     lambda: io.run(None), lambda: session.bind("a", None), session.recover):
            with self.assertRaises(ValueError):
                call()

    def test_files(self):
        with self.assertRaises(KeyError):
            poprt.Model.load("/nonexistent/model.onnx")
        with self.assertRaises(poprt.ParseError):
            poprt.Model.load(b"no model")
        with self.assertRaises(TypeError):
            poprt.Model.load(17)
        with self.assertRaisesRegex(KeyError, "nearest"):
            poprt.Config(num_stream=1)

    def test_read_only_outputs(self):
        session = poprt.Session(add())
        out = np.zeros(4, np.float32)
        out.flags.writeable = False
        with self.assertRaisesRegex(ValueError, "read-only"):
            session.bind("c", out)
        with self.assertRaisesRegex(ValueError, "C-contiguous"):
            session.bind("c", np.zeros(8, np.float32)[::2])
        with self.assertRaises(KeyError):
            session.bind("nothing", out)


class Life(unittest.TestCase):
    def test_pickle(self):
        model = add()
        a = np.ones(4, np.float32)
        for thing in (model, model.compile()):
            copy = pickle.loads(pickle.dumps(thing))
            np.testing.assert_array_equal(poprt.Session(copy).run({"a": a, "b": a})["c"], 2)
        config = pickle.loads(pickle.dumps(poprt.Config(threads=2, seed=7)))
        self.assertEqual((config.threads, config["seed"]), (2, "7"))
        with self.assertRaisesRegex(TypeError, "pickle its executable"):
            pickle.dumps(poprt.Session(model))

    def test_popef(self):
        executable = add().compile()
        a = np.ones(4, np.float32)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.popef")
            executable.save(path)
            self.assertEqual(poprt.Executable.load(path).to_bytes(), executable.to_bytes())
            session = poprt.InferenceSession(path)
        np.testing.assert_array_equal(session.run(None, {"a": a, "b": a})[0], 2)
        session = poprt.Session(executable.to_bytes())  # nothing else holds the bytes
        gc.collect()
        np.testing.assert_array_equal(session.run({"a": a, "b": a})["c"], 2)

    def test_arrays_stay_until_replaced(self):
        session = poprt.Session(add())
        session.bind("a", np.full(4, 3, np.float32))
        session.bind("b", np.full(4, 4, np.float32))
        gc.collect()
        session.run_bound()
        np.testing.assert_array_equal(session.output("c"), 7)

    def test_threads(self):
        shared = poprt.Session(DIGITS)
        name = shared.executable.inputs[0].name
        shape = [d if isinstance(d, int) else 1 for d in shared.executable.inputs[0].shape]
        inputs = [np.random.default_rng(i).random(shape, np.float32) for i in range(4)]
        wanted = [list(shared.run({name: x}).values())[0] for x in inputs]
        wrong = []

        def work(session, i):
            for _ in range(50):
                if not np.array_equal(list(session.run({name: inputs[i]}).values())[0], wanted[i]):
                    wrong.append(i)
        for own in (False, True):
            threads = [threading.Thread(
                target=work, args=(poprt.Session(shared.executable) if own else shared, i))
                for i in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual(wrong, [])

    def test_interrupt(self):
        session = poprt.Session(slow())
        feed = {"x": np.ones((128, 128), np.float32)}
        timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        start = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            session.run(feed)
        self.assertLess(time.monotonic() - start, 5)
        timer.join()
        canceller = threading.Timer(0.3, session.cancel)
        canceller.start()
        with self.assertRaises(poprt.Cancelled):
            session.run(feed)
        canceller.join()

    def test_fork(self):
        session = poprt.Session(add())
        a = np.ones(4, np.float32)
        session.run({"a": a, "b": a})
        child = os.fork()
        if child == 0:
            good = np.array_equal(session.run({"a": a, "b": a})["c"], 2 * a)
            os._exit(0 if good else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        np.testing.assert_array_equal(session.run({"a": a, "b": a})["c"], 2)

    def test_exceptions_of_callbacks(self):
        session = poprt.Session(add())

        def fail(*args):
            raise ZeroDivisionError("mine")
        io = _core.StepIO(session._core, (fail, None, fail, None))
        with self.assertRaisesRegex(ZeroDivisionError, "mine"):
            io.run(None)
        session.watch(fail)
        a = np.ones(4, np.float32)
        with self.assertRaisesRegex(ZeroDivisionError, "mine"):
            session.run({"a": a, "b": a})
        session.watch(None)
        np.testing.assert_array_equal(session.run({"a": a, "b": a})["c"], 2)

    def test_counters(self):
        before = poprt.statistics()
        session = poprt.Session(add())
        a = np.ones(4, np.float32)
        session.run({"a": a, "b": a})
        after = poprt.statistics()
        for name in ("models_built", "nodes_built", "compilations", "sessions", "runs"):
            self.assertEqual(after[name] - before[name], 1, name)

    def test_reference_counts(self):
        session = poprt.Session(add())
        a = np.ones(4, np.float32)
        feed = {"a": a, "b": a}
        session.run(feed)
        counts = [sys.getrefcount(x) for x in (a, feed, None, np.dtype(np.float32))]
        for _ in range(1000):
            session.run(feed)
            try:
                session.run({"a": a})
            except ValueError:
                pass
        again = [sys.getrefcount(x) for x in (a, feed, None, np.dtype(np.float32))]
        for one, two in zip(counts, again):
            self.assertLess(abs(one - two), 50)


class Passes(unittest.TestCase):
    def test_pass(self):
        def make(b):
            x = b.input("x", FLOAT, (2,))
            y = b.op("", "Identity", [x], [], 1, None, None)[0]
            b.output(b.op("", "Neg", [y], [], 1, None, ["y"])[0])
        model = build(make)
        events = model.run_pass("eliminate_identity")
        self.assertEqual([(e[0], e[3]) for e in events], [("eliminate_identity", 1)])
        self.assertNotIn("Identity", model.describe("text"))
        with self.assertRaisesRegex(KeyError, "eliminate_identity"):
            model.run_pass("eliminate_identit")


if __name__ == "__main__":
    unittest.main()
