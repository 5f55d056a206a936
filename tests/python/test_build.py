# SPDX-License-Identifier: MIT
"""poprt.Builder, training, and weights."""
import os
import tempfile
import unittest

import numpy as np

import poprt


def linear():
    """mean((x w + b - y)^2)"""
    b = poprt.Builder(opset=17)
    x, y = b.input("x", np.float32, (8, 3)), b.input("y", np.float32, (8, 2))
    w = b.weight("w", np.zeros((3, 2), np.float32))
    c = b.weight("b", np.zeros(2, np.float32))
    s = b.Add(b.MatMul(x, w), c, output_names=["s"])
    e = b.Sub(s, y)
    loss = b.ReduceMean(b.Mul(e, e), keepdims=0, output_names=["loss"])
    b.output(s, loss)
    return b.build()


def samples(seed):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((8, 3)).astype(np.float32)
    return x, (x @ np.array([[1, 2], [3, 4], [5, 6]], np.float32) + [7, 8]).astype(np.float32)


class Building(unittest.TestCase):
    def test_types_are_inferred_at_each_call(self):
        b = poprt.Builder(opset=17)
        x = b.input("x", "float32", ("n", 4))
        y = b.Softmax(b.MatMul(x, np.ones((4, 2), np.float32)), axis=1)
        self.assertEqual((y.dtype, y.shape), (np.float32, (None, 2)))
        with self.assertRaisesRegex(poprt.InvalidArgument, "MatMul"):
            b.MatMul(x, np.ones((3, 2), np.float32))
        with self.assertRaisesRegex(poprt.ParseError, "accepted: axis"):
            b.Softmax(x, axes=1)
        b.output(y)  # the builder goes on after mistakes
        result = poprt.Session(b.build()).run({"x": np.zeros((3, 4), np.float32)})
        np.testing.assert_allclose(list(result.values())[0], 0.5)

    def test_several_outputs_and_subgraphs(self):
        b = poprt.Builder(opset=17)
        x = b.input("x", np.float32, (4,))
        values, indices = b.TopK(x, np.array([2]), outputs=2)
        then, other = b.subgraph("then"), b.subgraph("else")
        then.output(then.Neg(values))
        other.output(other.Identity(values))
        cond = b.input("cond", np.bool_, ())
        b.output(b.If(cond, then_branch=then, else_branch=other, output_names=["y"]), indices)
        session = poprt.Session(b.build())
        feed = {"x": np.array([1, 5, 2, 4], np.float32)}
        self.assertEqual(session.run({**feed, "cond": True})["y"].tolist(), [-5, -4])
        self.assertEqual(session.run({**feed, "cond": False})["y"].tolist(), [5, 4])

    def test_models_are_continued(self):
        b = poprt.Builder(model=linear())
        b.output(b.Neg(b.find("s"), output_names=["t"]))
        outputs = [info.name for info in b.build().outputs]
        self.assertEqual(outputs, ["s", "loss", "t"])
        with self.assertRaisesRegex(ValueError, "no tensor of this name"):
            b.find("nothing")
        with self.assertRaisesRegex(AttributeError, "ONNX types"):
            b.relu

    def test_data_flow(self):
        b = poprt.Builder()
        x = b.input("x", np.float32, (2,))
        b.output(b.Neg(x, output_names=["y"]))
        model = b.build()
        data = np.arange(8, dtype=np.float32).reshape(4, 2)
        for kind, wanted in (("all", -data), ("final", -data[3]), ("sum", -data.sum(0)),
                             (("every_n", 2), -data[1::2])):
            session = model.compile_flow(4, {"y": kind}).session()
            np.testing.assert_array_equal(session.run({"x": data})["y"].reshape(wanted.shape),
                                          wanted)
        with self.assertRaisesRegex(ValueError, "accepted: final"):
            model.compile_flow(4, {"y": "last"})


class Training(unittest.TestCase):
    def test_steps_are_those_of_numpy(self):
        model = linear()
        session = model.train("loss", poprt.Optimizer("sgd", learning_rate=0.1),
                              anchors=["loss", "Gradient___w", "Gradient___x"]).session()
        w, c = np.zeros((3, 2)), np.zeros(2)
        for step in range(5):
            x, y = samples(step)
            result = session.run({"x": x, "y": y})
            error = x @ w + c - y
            np.testing.assert_allclose(result["loss"], (error ** 2).mean(), rtol=1e-5)
            dw, dc = 2 * x.T @ error / error.size, 2 * error.sum(0) / error.size
            np.testing.assert_allclose(result["Gradient___w"], dw, rtol=1e-4, atol=1e-6)
            np.testing.assert_allclose(result["Gradient___x"], 2 * error @ w.T / error.size,
                                       rtol=1e-4, atol=1e-6)
            w, c = w - 0.1 * dw, c - 0.1 * dc
        np.testing.assert_allclose(session.read_weight("w"), w, rtol=1e-4, atol=1e-6)
        self.assertEqual(session.progress["updates"], 5)

    def test_optimizers_change_and_checkpoints_continue(self):
        model = linear()
        optimizer = poprt.Optimizer("adam", learning_rate=0.05)
        executable = model.train("loss", optimizer)
        one, two = executable.session(), executable.session()
        x, y = samples(0)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "c.popef")
            one.run({"x": x, "y": y})
            one.save_checkpoint(path)
            two.load_checkpoint(path)
        for session in (one, two):
            session.update_optimizer(poprt.Optimizer("adam", learning_rate=0.01))
            session.run({"x": x, "y": y})
        np.testing.assert_array_equal(one.read_weight("w"), two.read_weight("w"))
        with self.assertRaises(ValueError):
            one.update_optimizer(poprt.Optimizer("sgd", learning_rate=0.1))
        trained = one.export_model(model)
        result = poprt.Session(trained).run({"x": x, "y": y}, ["s"])["s"]
        np.testing.assert_allclose(result, x @ one.read_weight("w") + one.read_weight("b"),
                                   rtol=1e-5, atol=1e-6)

    def test_weights_of_the_host(self):
        model = linear()
        session = model.train("loss", poprt.Optimizer("sgd", momentum=0.9)).session()
        weights = poprt.Weights(session)
        self.assertIn("w", list(weights))
        self.assertTrue(weights.in_sync(session))
        weights["w"] = np.ones((3, 2), np.float32)
        self.assertFalse(weights.in_sync(session))
        weights.from_host(session)
        np.testing.assert_array_equal(session.read_weight("w"), 1)
        with self.assertRaises(ValueError):
            weights["w"] = np.ones(3, np.float32)
        with self.assertRaises(KeyError):
            weights["v"]

    def test_wrong_trainings(self):
        model = linear()
        with self.assertRaisesRegex(KeyError, "lost"):
            model.train("lost", poprt.Optimizer())
        with self.assertRaisesRegex(ValueError, "scalar"):
            model.train("s", poprt.Optimizer())
        with self.assertRaisesRegex(KeyError, "sgd"):
            poprt.Optimizer("sgt")
        with self.assertRaises(KeyError):
            poprt.Optimizer("sgd", beta1=0.5)
        with self.assertRaises(ValueError):
            poprt.Optimizer("sgd", learning_rate=-1)


if __name__ == "__main__":
    unittest.main()
