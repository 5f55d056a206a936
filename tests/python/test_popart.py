# SPDX-License-Identifier: MIT
"""The package popart: builders, sessions, data of runs, training, weights, options and devices."""
import itertools
import json
import os
import pickle
import subprocess
import sys
import tempfile
import unittest
import warnings

import numpy as np

import popart
import poprt
from popart import AnchorReturnType, Builder, DataFlow, popart_exception

RNG = np.random.default_rng(7)


def floats(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def session_of(builder, flow, options=None, patterns=None):
    """An inference session that is prepared."""
    session = popart.InferenceSession(
        builder.getModelProto(), flow, popart.DeviceManager().createCpuDevice(),
        userOptions=options or popart.SessionOptions(), patterns=patterns)
    session.prepareDevice()
    return session


def infer(builder, outputs, feed, options=None):
    """Arrays of the outputs of one run."""
    session = session_of(builder, DataFlow(1, outputs), options)
    anchors = session.initAnchorArrays()
    session.run(popart.PyStepIO(feed, anchors))
    return [anchors[name] for name in outputs]


def trainer(builder, loss, optimizer, flow, options=None):
    """A training session that is prepared and has its weights."""
    session = popart.TrainingSession(
        builder.getModelProto(), flow, loss, optimizer, popart.DeviceManager().createCpuDevice(),
        userOptions=options or popart.SessionOptions())
    session.prepareDevice()
    session.weightsFromHost()
    return session


def still():
    """An optimizer that leaves the weights alone."""
    return popart.SGD({"defaultLearningRate": (0.0, False)})


class Linear:
    """The training of sum(x * w) over batches, where the gradient of w is the sum of the rows of
    x."""

    def __init__(self, optimizer, batches=1, options=None, anchors=(), size=3):
        self.start = floats(size)
        self.builder = Builder()
        self.x = self.builder.addInputTensor(popart.TensorInfo("FLOAT", [size]))
        self.w = self.builder.addInitializedInputTensor(self.start, "w")
        y = self.builder.aiOnnx.mul([self.x, self.w])
        self.loss = self.builder.aiGraphcore.l1loss([y], 1.0, popart.ReductionType.Sum)
        self.flow = DataFlow(batches, {name: AnchorReturnType("All")
                                       for name in (self.loss,) + tuple(anchors)})
        self.session = trainer(self.builder, self.loss, optimizer, self.flow, options)
        self.anchors = self.session.initAnchorArrays()

    def step(self, x):
        self.session.run(popart.PyStepIO({self.x: x}, self.anchors))

    def weight(self):
        out = np.zeros_like(self.start)
        self.session.weightsToHost()
        self.session.readWeights(popart.PyWeightsIO({self.w: out}))
        return out


class Builders(unittest.TestCase):
    def setUp(self):
        self.b = Builder()

    def test_ids_of_inputs_and_weights(self):
        b = self.b
        x = b.addInputTensor(popart.TensorInfo("FLOAT", [2]))
        y = b.addInputTensor("INT32", [3, 4], debugContext="mine")
        w = b.addInitializedInputTensor(np.zeros(2, np.float32), "weight")
        self.assertEqual(len({x, y, w}), 3)
        self.assertIn("mine", y)
        self.assertIn("weight", w)
        self.assertEqual(b.getInputTensorIds()[:2], [x, y])
        self.assertEqual(b.getTensorShape(y), [3, 4])
        self.assertEqual(b.getTensorDtypeString(y), "int32")
        self.assertEqual([b.isInitializer(n) for n in (x, w)], [False, True])
        self.assertEqual(b.getTrainableTensorIds(), [w])

    def test_outputs_and_values(self):
        x = self.b.addInputTensor("FLOAT", [2])
        y = self.b.aiOnnx.relu([x])
        self.b.addOutputTensor(y)
        self.assertEqual(self.b.getOutputTensorIds(), [y])
        self.assertEqual(self.b.getValueTensorIds(), [y])
        with self.assertRaisesRegex(popart_exception, "nothing"):
            self.b.addOutputTensor("nothing")

    def test_shapes_are_known_at_once(self):
        x = self.b.addInputTensor("FLOAT", [2, 3])
        w = self.b.addInitializedInputTensor(np.zeros((3, 5), np.float32))
        product = self.b.aiOnnx.matmul([x, w])
        self.assertEqual(self.b.getTensorShape(product), [2, 5])
        self.assertEqual(self.b.getTensorShape(self.b.aiOnnx.transpose([product], [1, 0])), [5, 2])

    def test_choice_of_opset_is_final(self):
        self.assertEqual(self.b.aiOnnx.version, 10)
        with self.assertRaises(RuntimeError):
            self.b.aiOnnxOpset9
        b = Builder(opsets={"ai.onnx": 9, "ai.graphcore": 1})
        self.assertEqual(b.aiOnnx.version, 9)
        b = Builder()
        b.aiOnnxOpsetVersion(11)
        self.assertEqual(b.aiOnnx.version, 11)
        with self.assertRaises(ValueError):
            Builder().aiOnnxOpsetVersion(12)
        with self.assertRaises(popart_exception):
            Builder(opsets={"ai.onnx": 9})

    def test_every_opset_makes_a_model(self):
        for version in range(6, 12):
            b = Builder()
            x = b.addInputTensor("FLOAT", [4])
            y = getattr(b, f"aiOnnxOpset{version}").relu([x])
            b.addOutputTensor(y)
            self.assertEqual(poprt.Model.load(b.getModelProto()).info["opset"], version)

    def test_names_of_methods_with_keywords(self):
        a = self.b.addInputTensor("BOOL", [2])
        got = [getattr(self.b.aiOnnx, "logical_" + op)([a, a]) for op in ("and", "or", "xor")]
        got.append(self.b.aiOnnx.logical_not([a]))
        x = np.array([True, False])
        values = infer(self.b, got, {a: x})
        for value, wanted in zip(values, (x, x, x ^ x, ~x)):
            np.testing.assert_array_equal(value, wanted)

    def test_attributes_by_position_and_by_name(self):
        x = self.b.addInputTensor("FLOAT", [2, 3])
        first = self.b.aiOnnx.softmax([x], 1)
        second = self.b.aiOnnx.softmax([x], axis=1, debugContext="named")
        value = floats(2, 3)
        exp = np.exp(value - value.max(1, keepdims=True))
        for result in infer(self.b, [first, second], {x: value}):
            np.testing.assert_allclose(result, exp / exp.sum(1, keepdims=True), rtol=1e-5)

    def test_wrong_arguments_of_operators(self):
        x = self.b.addInputTensor("FLOAT", [2])
        with self.assertRaisesRegex(TypeError, r"^relu\(\): incompatible function arguments"):
            self.b.aiOnnx.relu([x], nothing=1)
        with self.assertRaisesRegex(popart_exception, "^Add has invalid number of"):
            self.b.aiOnnx.add([x])
        with self.assertRaises(popart_exception):
            self.b.aiOnnx.relu(["unknown"])
        with self.assertRaises(AttributeError):
            self.b.aiOnnx.no_such_operator
        image = self.b.addInputTensor("FLOAT", [1, 1, 4, 4])
        kernel = self.b.addInputTensor("FLOAT", [1, 1, 2, 2])
        with self.assertRaises(popart_exception):
            self.b.aiOnnx.conv([image, kernel], strides=[1, 1, 1])

    def test_numbers_of_outputs(self):
        x = self.b.addInputTensor("FLOAT", [4, 2])
        parts = self.b.aiOnnx.split([x], 2, 0, [1, 3])
        self.assertIsInstance(parts, list)
        self.assertIsInstance(self.b.aiOnnx.relu([x]), str)
        value = floats(4, 2)
        low, high = infer(self.b, parts, {x: value})
        np.testing.assert_array_equal(low, value[:1])
        np.testing.assert_array_equal(high, value[1:])

    def test_name_scopes(self):
        with self.b.nameScope("outer"):
            with self.b.nameScope("inner"):
                self.assertEqual(self.b.getNameScope("z"), "outer/inner/z")
                x = self.b.addInputTensor("FLOAT", [1])
                y = self.b.aiOnnx.relu([x])
            self.assertEqual(self.b.getNameScope(), "outer/")
        self.assertTrue(y.startswith("outer/inner/"), y)
        self.assertEqual(self.b.getNameScope(), "")

    def test_scopes_of_placement(self):
        x = self.b.addInputTensor("FLOAT", [1])
        for method, get, has in (("virtualGraph", "getVirtualGraph", "hasVirtualGraph"),
                                 ("pipelineStage", "getPipelineStage", "hasPipelineStage"),
                                 ("executionPhase", "getExecutionPhase", "hasExecutionPhase")):
            with getattr(self.b, method)(2):
                with getattr(self.b, method)(3):
                    self.assertEqual(getattr(self.b, get)(), 3)
                self.assertEqual(getattr(self.b, get)(), 2)
            self.assertFalse(getattr(self.b, has)())
            with self.assertRaises(popart_exception):
                getattr(self.b, get)()
        y = self.b.aiOnnx.relu([x])
        self.b.virtualGraph(y, 5)
        self.assertEqual(self.b.getVirtualGraph({y}), 5)

    def test_attributes_of_nodes(self):
        y = self.b.aiOnnx.relu([self.b.addInputTensor("FLOAT", [1])])
        kinds = {"i": (7, self.b.getInt64NodeAttribute), "f": (0.5, self.b.getFloatNodeAttribute),
                 "s": ("text", self.b.getStringNodeAttribute),
                 "is": ([1, 2], self.b.getInt64VectorNodeAttribute),
                 "fs": ([0.5, 2.0], self.b.getFloatVectorNodeAttribute),
                 "ss": (["a", "b"], self.b.getStringVectorNodeAttribute)}
        for name, (value, read) in kinds.items():
            self.b.addNodeAttribute(name, value, {y})
            self.assertEqual(read(name, {y}), value)
        self.assertEqual(set(kinds), set(self.b.getAllNodeAttributeNames({y})) & set(kinds))
        with self.assertRaises(popart_exception):
            self.b.addNodeAttribute("i", 8, {y})
        with self.assertRaises(popart_exception):
            self.b.getFloatNodeAttribute("i", {y})
        self.b.removeNodeAttribute("i", {y})
        self.assertFalse(self.b.nodeHasAttribute("i", {y}))
        with self.assertRaises(popart_exception):
            self.b.removeNodeAttribute("i", {y})
        with self.assertRaises(popart_exception):
            self.b.addNodeAttribute("i", 1, set())

    def test_settings_of_nodes(self):
        x = self.b.addInputTensor("FLOAT", [2, 2])
        y = self.b.aiOnnx.matmul([x, x])
        self.assertEqual(self.b.getPartialsType(y), "FLOAT")
        self.b.setPartialsType(y, "half")
        self.assertEqual(self.b.getPartialsType(y), "HALF")
        self.b.setSerializeMatMul({y}, "output_channels", 2, True)
        self.b.setAvailableMemoryProportion(y, 0.5)
        self.b.setInplacePreferences(y, {"ReluInplace": 3.0})
        for bad in (lambda: self.b.setPartialsType(y, "DOUBLE"),
                    lambda: self.b.setSerializeMatMul({y}, "diagonal"),
                    lambda: self.b.setAvailableMemoryProportion(y, -1.0)):
            with self.assertRaises(popart_exception):
                bad()
        value = floats(2, 2)
        np.testing.assert_allclose(infer(self.b, [y], {x: value})[0], value @ value, rtol=1e-5)

    def test_constants_of_every_type(self):
        for name in "float32 float16 int32 int8 uint8 uint32 bool".split():
            b = Builder()
            value = np.arange(6).reshape(2, 3).astype(name)
            x = b.addInputTensor(popart.TensorInfo(value))
            c = b.aiOnnx.constant(value.T.copy().T)  # in another order
            out = b.aiOnnx.identity([c]) if name == "bool" else b.aiOnnx.concat([c, x], 0)
            result, = infer(b, [out], {x: value})
            self.assertEqual(result.dtype, value.dtype)
            np.testing.assert_array_equal(result[:2], value)

    def test_cast_takes_names(self):
        x = self.b.addInputTensor("FLOAT", [3])
        y = self.b.aiOnnx.cast([x], "INT32")
        np.testing.assert_array_equal(
            infer(self.b, [y], {x: np.array([1.7, -2.2, 3], np.float32)})[0], [1, -2, 3])

    def test_if(self):
        x, flag = self.b.addInputTensor("FLOAT", [2]), self.b.addInputTensor("BOOL", [])
        branches = []
        for op in ("neg", "abs"):
            body = self.b.createSubgraphBuilder()
            body.addInputTensorFromParentGraph(x)
            body.addOutputTensor(getattr(body.aiOnnx, op)([x]))
            branches.append(body)
        y = self.b.aiOnnx.logical_if([flag], 1, branches[0], branches[1])[0]
        value = np.array([-1, 2], np.float32)
        for condition, wanted in ((True, [1, 2]), (False, [1, -2])):
            result, = infer(self.b, [y], {x: value, flag: np.array(condition)})
            np.testing.assert_array_equal(result, wanted)

    def test_loop(self):
        x = self.b.addInputTensor("FLOAT", [2])
        count = self.b.aiOnnx.constant(np.array(5, np.int64))
        go = self.b.aiOnnx.constant(np.array(True))
        body = self.b.createSubgraphBuilder()
        body.addInputTensor("INT32", [])
        keep = body.addInputTensor("BOOL", [])
        value = body.addUntypedInputTensor()
        body.addOutputTensor(keep)
        body.addOutputTensor(body.aiOnnx.add([value, value]))
        y = self.b.aiOnnx.loop([count, go, x], 1, body)[0]
        np.testing.assert_array_equal(
            infer(self.b, [y], {x: np.array([1, -2], np.float32)})[0], [32, -64])

    def test_scan(self):
        x = self.b.addInputTensor("FLOAT", [4, 2])
        start = self.b.addInputTensor("FLOAT", [1, 2])
        body = self.b.createSubgraphBuilder()
        total = body.addInputTensor("FLOAT", [1, 2])
        item = body.addInputTensor("FLOAT", [1, 2])
        after = body.aiOnnx.add([total, item])
        body.addOutputTensor(after)
        body.addOutputTensor(body.aiOnnx.identity([after]))
        last, steps = self.b.aiOnnx.scan([start, x], 2, body, 1)
        value = floats(4, 2)
        got = infer(self.b, [last, steps], {x: value, start: np.zeros((1, 2), np.float32)})
        np.testing.assert_allclose(got[0].reshape(2), value.sum(0), rtol=1e-5)
        np.testing.assert_allclose(got[1], np.cumsum(value, 0), rtol=1e-5)

    def test_call(self):
        x, z = self.b.addInputTensor("FLOAT", [2]), self.b.addInputTensor("FLOAT", [2])
        body = self.b.createSubgraphBuilder()
        p, q = body.addInputTensor("FLOAT", [2]), body.addInputTensor("FLOAT", [2])
        body.addOutputTensor(body.aiOnnx.sub([p, q]))
        first = self.b.aiGraphcore.call([x, z], 1, body)[0]
        second = self.b.aiGraphcore.call([z, x], 1, body)[0]
        a, c = floats(2), floats(2)
        got = infer(self.b, [first, second], {x: a, z: c})
        np.testing.assert_allclose(got[0], a - c, rtol=1e-6)
        np.testing.assert_allclose(got[1], c - a, rtol=1e-6)
        with self.assertRaisesRegex(popart_exception, "invalid number of inputs"):
            self.b.aiGraphcore.call([x], 1, body)

    def test_graphcore_operators(self):
        x = self.b.addInputTensor("FLOAT", [2, 3])
        outs = [self.b.aiGraphcore.scale([x], 2.5), self.b.aiGraphcore.swish([x]),
                self.b.aiGraphcore.reverse([x], [1]), self.b.aiGraphcore.expm1([x]),
                self.b.aiGraphcore.reshape([x], [3, 2])]
        v = floats(2, 3)
        for got, wanted in zip(infer(self.b, outs, {x: v}),
                               (v * 2.5, v / (1 + np.exp(-v)), v[:, ::-1], np.expm1(v),
                                v.reshape(3, 2))):
            np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-6)

    def test_multiconv(self):
        image, kernel = (self.b.addInputTensor("FLOAT", s) for s in ([1, 1, 4, 4], [1, 1, 2, 2]))
        first, second = self.b.aiGraphcore.multiconv([[image, kernel], [image, kernel]],
                                                     strides=[[1, 1], [2, 2]])
        self.assertEqual(self.b.getTensorShape(first), [1, 1, 3, 3])
        self.assertEqual(self.b.getTensorShape(second), [1, 1, 2, 2])
        v, k = floats(1, 1, 4, 4), floats(1, 1, 2, 2)
        wanted = sum(v[0, 0, i:i + 3, j:j + 3] * k[0, 0, i, j] for i in (0, 1) for j in (0, 1))
        got = infer(self.b, [first, second], {image: v, kernel: k})
        np.testing.assert_allclose(got[0][0, 0], wanted, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(got[1][0, 0], wanted[::2, ::2], rtol=1e-4, atol=1e-5)

    def test_continued_models(self):
        x = self.b.addInputTensor("FLOAT", [2])
        y = self.b.aiOnnx.relu([x])
        self.b.addOutputTensor(y)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "m.onnx")
            self.b.saveModelProto(path)
            b = Builder(path)
        z = b.aiOnnx.neg([y])
        b.addOutputTensor(z)
        np.testing.assert_array_equal(
            infer(b, [z], {x: np.array([3, -3], np.float32)})[0], [-3, 0])

    def test_custom_attributes(self):
        x = self.b.addInputTensor("FLOAT", [2])
        y, = self.b.customOp("Scale", 1, "ai.graphcore", [x], {"scale": 0.5}, 1)
        self.assertEqual(self.b.getFloatNodeAttribute("scale", {y}), 0.5)
        value = floats(2)
        np.testing.assert_array_equal(infer(self.b, [y], {x: value})[0], value / 2)
        with self.assertRaises(popart_exception):
            self.b.customOp("Mine", 1, "mine", [x], {"mixed": [1, "a"]})


class Surface(unittest.TestCase):
    def test_module(self):
        self.assertEqual((popart.defaultAiOnnxOpset, popart.defaultAiOnnxMlOpset,
                          popart.defaultAiGraphcoreOpset), (10, 1, 1))
        self.assertEqual(popart.versionNumber(), (3, 4, 0))
        self.assertTrue(popart.versionString() and popart.packageHash())
        self.assertEqual(popart.reservedGradientPrefix(), "Gradient___")
        prefixes = {name: getattr(popart, name)() for name in dir(popart)
                    if name.startswith("reserved")}
        self.assertGreaterEqual(len(prefixes), 48)
        self.assertEqual(len(set(prefixes.values())), len(prefixes))

    def test_supported_operators(self):
        found = {(op.domain, op.type) for op in popart.getSupportedOperations(False)}
        self.assertLessEqual({("ai.onnx", "Conv"), ("ai.graphcore", "Scale")}, found)
        missing = {(op.domain, op.type) for op in popart.getUnsupportedOperations(10)}
        self.assertFalse(found & missing)

    def test_tensor_info(self):
        info = popart.TensorInfo("float16", [2, 3])
        self.assertEqual((info.shape(), info.rank(), info.nelms(), info.nbytes(), info.dim(1)),
                         ([2, 3], 2, 6, 12, 3))
        self.assertEqual((info.data_type(), info.data_type_lcase()), ("FLOAT16", "float16"))
        self.assertEqual(info, popart.TensorInfo(np.zeros((2, 3), np.float16)))
        self.assertEqual(info, popart.TensorInfo(np.float16, (2, 3)))
        self.assertNotEqual(info, popart.TensorInfo("FLOAT", [2, 3]))
        for arguments in ((), ("FLOAT",), ("FLOAT", [1], 3), ("FLOAT", 3)):
            with self.assertRaises(TypeError):
                popart.TensorInfo(*arguments)
        with self.assertRaises(popart_exception):
            popart.TensorInfo("FLOAT7", [1])

    def test_enumerations(self):
        names = popart.enums.NAMES
        self.assertGreaterEqual(len(names), 38)
        for name in names:
            cls = getattr(popart, name)
            self.assertGreater(len(cls.__members__), 0, name)
            for text, member in cls.__members__.items():
                self.assertIs(getattr(cls, text), member)
                self.assertEqual(cls(int(member)), member)
                self.assertEqual(repr(member), f"<{name}.{member.name}: {member.value}>")
                self.assertEqual(str(member), f"{name}.{member.name}")
                self.assertEqual(pickle.loads(pickle.dumps(member)), member)
                self.assertEqual(hash(cls(int(member))), hash(member))
            with self.assertRaises(ValueError):
                cls(1000)
        self.assertNotEqual(popart.TileSet.Compute, popart.InitType.NoInit)
        self.assertNotEqual(popart.TileSet.Compute, 0)

    def test_members_of_the_reference(self):
        wanted = """VirtualGraphMode Off Manual Auto ExecutionPhases
            ReductionType Mean NoReduction Sum
            RecomputationType NoRecompute Standard NormOnly RecomputeAll Pipeline
            AdamMode Adam AdamNoBias Lamb LambNoBias AdaMax
            BatchSerializationTransformContext Forward Backward Fwd Bwd
            DataType FLOAT FLOAT16 FLOAT8_143 BFLOAT16 COMPLEX128 UNDEFINED STRING
            DeviceType IpuModel Cpu Ipu OfflineIpu Sim
            ScatterReduction Sum Max Min Mul NoReduction
            CommGroupType All Consecutive Orthogonal Ungrouped"""
        for line in wanted.split("\n"):
            name, *members = line.split()
            self.assertLessEqual(set(members), set(getattr(popart, name).__members__), name)
        self.assertEqual(popart.BatchSerializationTransformContext.Fwd,
                         popart.BatchSerializationTransformContext.Forward)

    def test_exceptions(self):
        self.assertTrue(issubclass(popart.popart_runtime_error, popart_exception))
        self.assertTrue(issubclass(popart.OutOfMemoryException, popart_exception))
        self.assertTrue(issubclass(popart.poplar_recoverable_runtime_error,
                                   popart.poplar_system_runtime_error))
        self.assertFalse(issubclass(popart.poplar_exception, popart_exception))

    def test_loggers(self):
        log = popart.getLogger("devicex")
        for level in "TRACE DEBUG INFO WARN ERR CRITICAL OFF".split():
            log.setLevel(level)
        log.debug("not seen")
        with self.assertRaises(Exception):
            log.setLevel("LOUD")


class Flows(unittest.TestCase):
    def test_return_types(self):
        for text, kind in (("final", "Final"), ("ALL", "All"), ("Sum", "Sum")):
            self.assertEqual(AnchorReturnType(text).id(),
                             getattr(popart.AnchorReturnTypeId, kind))
        art = AnchorReturnType("everyN", 4)
        self.assertEqual((art.id(), art.rp()), (popart.AnchorReturnTypeId.EveryN, 4))
        for bad in (("every",), ("EveryN",), ("EveryN", 0), ("All", 2)):
            with self.assertRaises(popart_exception):
                AnchorReturnType(*bad)

    def test_flow(self):
        flow = DataFlow(6, {"a": AnchorReturnType("EveryN", 3), "b": AnchorReturnType("Final")})
        self.assertEqual((flow.anchors(), flow.nAnchors(), flow.batchesPerStep()),
                         (["a", "b"], 2, 6))
        self.assertTrue(flow.isAnchored("a") and not flow.isAnchored("c"))
        with self.assertRaises(popart_exception):
            flow.art("c")
        with self.assertRaises(popart_exception):
            DataFlow(0, ["a"], AnchorReturnType("All"))
        with self.assertRaises(popart_exception):
            DataFlow(5, {"a": AnchorReturnType("EveryN", 2)})
        self.assertEqual(DataFlow(2, ["a"]).art("a").id(), popart.AnchorReturnTypeId.All)

    def test_values_of_every_return_type(self):
        for batches, replicas in itertools.product((1, 4), (1, 2)):
            for kind, period in (("Final", None), ("All", None), ("Sum", None), ("EveryN", 2)):
                if period is not None and batches % period:
                    continue
                self.check_inference(batches, replicas, kind, period)

    def check_inference(self, batches, replicas, kind, period):
        b = Builder()
        x = b.addInputTensor("FLOAT", [3])
        y = b.aiOnnx.neg([x])
        options = popart.SessionOptions()
        options.enableReplicatedGraphs = replicas > 1
        options.replicatedGraphCount = replicas
        art = AnchorReturnType(kind) if period is None else AnchorReturnType(kind, period)
        session = session_of(b, DataFlow(batches, {y: art}), options)
        anchors = session.initAnchorArrays()
        value = floats(batches, replicas, 3)
        full = -value
        wanted = {"Final": full[-1], "All": full, "Sum": full.sum(0),
                  "EveryN": full[period - 1::period] if period else None}[kind]
        prefix = [d for d in wanted.shape[:-1] if d != 1]
        self.assertEqual(list(anchors[y].shape), prefix + [3], (batches, replicas, kind))
        session.run(popart.PyStepIO({x: value}, anchors))
        np.testing.assert_allclose(anchors[y].reshape(wanted.shape), wanted, rtol=1e-5, atol=1e-6)

    def test_shapes_of_training_anchors(self):
        for batches, accumulation, replicas in itertools.product((1, 2), (1, 3), (1, 2)):
            options = popart.SessionOptions()
            options.enableGradientAccumulation = accumulation > 1
            options.accumulationFactor = accumulation
            options.enableReplicatedGraphs = replicas > 1
            options.replicatedGraphCount = replicas
            for kind in ("All", "Final", "Sum"):
                b = Builder()
                x = b.addInputTensor("FLOAT", [3])
                w = b.addInitializedInputTensor(np.ones(3, np.float32))
                y = b.aiOnnx.mul([x, w])
                loss = b.aiGraphcore.l1loss([y], 1.0, popart.ReductionType.Sum)
                session = trainer(b, loss, still(),
                                  DataFlow(batches, {y: AnchorReturnType(kind)}), options)
                anchors = session.initAnchorArrays()
                value = floats(batches, accumulation, replicas, 3)
                session.run(popart.PyStepIO({x: value}, anchors))
                wanted = {"All": value, "Final": value[-1, -1], "Sum": value.sum((0, 1))}[kind]
                self.assertEqual(list(anchors[y].shape),
                                 [d for d in wanted.shape[:-1] if d != 1] + [3])
                np.testing.assert_allclose(anchors[y].reshape(wanted.shape), wanted, rtol=1e-5,
                                           atol=1e-6)

    def test_unknown_anchors(self):
        b = Builder()
        b.addOutputTensor(b.aiOnnx.relu([b.addInputTensor("FLOAT", [1])]))
        with self.assertRaisesRegex(popart_exception, "nothing"):
            session_of(b, DataFlow(1, ["nothing"]))


class Runs(unittest.TestCase):
    def make(self, batches=1, dtype="FLOAT"):
        b = Builder()
        self.x = b.addInputTensor(dtype, [2])
        self.y = b.aiOnnx.add([self.x, self.x])
        return session_of(b, DataFlow(batches, [self.y]))

    def test_arrays_are_used_in_place(self):
        session = self.make()
        x, y = np.ones(2, np.float32), np.zeros(2, np.float32)
        io = popart.PyStepIO({self.x: x}, {self.y: y})
        for value in (1, 5):
            x[...] = value
            session.run(io)
            np.testing.assert_array_equal(y, 2 * value)
            np.testing.assert_array_equal(x, value)

    def test_counts_of_elements(self):
        session = self.make(batches=2)
        anchors = session.initAnchorArrays()
        with self.assertRaisesRegex(popart_exception, f"input elements for Tensor {self.x}. "
                                    "Expected 4, but received 2"):
            session.run(popart.PyStepIO({self.x: np.ones(2, np.float32)}, anchors))
        with self.assertRaisesRegex(popart_exception, "output elements"):
            session.run(popart.PyStepIO({self.x: np.ones(4, np.float32)},
                                        {self.y: np.ones(2, np.float32)}))

    def test_layouts_and_missing_tensors(self):
        session = self.make()
        anchors = session.initAnchorArrays()
        with self.assertRaisesRegex(popart_exception, "not c-contiguous"):
            popart.PyStepIO({self.x: np.ones(4, np.float32)[::2]}, anchors)
        for inputs, outputs in (({}, anchors), ({self.x: np.ones(2, np.float32)}, {}),
                                ({self.x: np.ones(2, np.float32),
                                  "other": np.ones(2, np.float32)}, anchors)):
            with self.assertRaises(popart_exception):
                session.run(popart.PyStepIO(inputs, outputs))
        with self.assertRaises(TypeError):
            session.run({self.x: np.ones(2, np.float32)})

    def test_types_of_arrays(self):
        session = self.make(dtype="INT32")
        anchors = session.initAnchorArrays()
        self.assertEqual(anchors[self.y].dtype, np.int32)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            session.run(popart.PyStepIO({self.x: np.array([3, -4], np.int64)}, anchors))
        self.assertIn("int64", str(caught[0].message))
        np.testing.assert_array_equal(anchors[self.y], [6, -8])
        with self.assertRaisesRegex(popart.popart_runtime_error, "do not fit"):
            session.run(popart.PyStepIO({self.x: np.array([1 << 40, 0], np.int64)}, anchors))
        with self.assertRaises(popart.popart_runtime_error):
            session.run(popart.PyStepIO({self.x: np.ones(2, np.float32)}, anchors))

    def test_order_of_callbacks(self):
        session = self.make(batches=3)
        calls, results = [], []

        def give(name, prefetch):
            calls.append("in")
            return np.full(2, calls.count("in"), np.float32)

        def take(name):
            calls.append("out")
            results.append(np.zeros(2, np.float32))
            return results[-1]
        session.run(popart.PyStepIOCallback(give, lambda name: calls.append("in done"), take,
                                            lambda name: calls.append("out done")))
        self.assertEqual([calls.count(k) for k in ("in", "in done", "out", "out done")], [3] * 4)
        for done, begun in (("in done", "in"), ("out done", "out")):
            for i in range(len(calls)):
                self.assertLessEqual(calls[:i].count(done), calls[:i].count(begun))
        self.assertLess(calls.index("in"), calls.index("out"))
        np.testing.assert_array_equal(results, [[2, 2], [4, 4], [6, 6]])

    def test_exceptions_of_callbacks(self):
        session = self.make()

        def fail(*args):
            raise ZeroDivisionError("mine")

        def ok(*args):
            return np.zeros(2, np.float32)
        for at in range(4):
            functions = [ok, ok, ok, ok]
            functions[at] = fail
            with self.assertRaisesRegex(ZeroDivisionError, "mine"):
                session.run(popart.PyStepIOCallback(*functions))
        anchors = session.initAnchorArrays()
        session.run(popart.PyStepIO({self.x: np.ones(2, np.float32)}, anchors))
        np.testing.assert_array_equal(anchors[self.y], 2)

    def test_a_device_must_be_prepared(self):
        b = Builder()
        b.addOutputTensor(b.aiOnnx.relu([b.addInputTensor("FLOAT", [1])]))
        session = popart.InferenceSession(b.getModelProto(), DataFlow(1),
                                          popart.DeviceManager().createCpuDevice())
        for call in (lambda: session.run(popart.PyStepIO({}, {})), session.weightsToHost,
                     session.getRandomSeed, session.getSummaryReport):
            with self.assertRaises(popart_exception):
                call()

    def test_information(self):
        session = self.make()
        self.assertEqual(session.getInfo(self.y).shape(), [2])
        self.assertTrue(session.hasInfo(self.x) and not session.hasInfo("nothing"))
        self.assertIn(self.x, session.getAllTensorIds())
        self.assertEqual((session.replicationFactor, session.accumulationFactor), (1, 1))
        self.assertEqual(session.dataFlow.batchesPerStep(), 1)
        graph = json.loads(session._serializeIr(popart.IrSerializationFormat.JSON))
        self.assertIn("Add", [op["type"] for op in graph["maingraph"]])
        self.assertTrue(session.getSummaryReport() and isinstance(session.getReport(), dict))

    def test_executables_of_files(self):
        session = self.make()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "new", "a.popef")
            session.saveExecutable(path)
            again = poprt.Session(path)
            blocked = os.path.join(folder, "file")
            open(blocked, "w").close()
            with self.assertRaises(OSError):
                session.compileAndExport(os.path.join(blocked, "below", "a.popef"))
        self.assertEqual(again.executable.inputs[0].name, self.x)


class Training(unittest.TestCase):
    def test_sgd(self):
        net = Linear(popart.ConstSGD(0.125))
        x = np.abs(floats(3)) * np.sign(net.start)
        net.step(x)
        np.testing.assert_allclose(net.anchors[net.loss], np.abs(x * net.start).sum(), rtol=1e-5)
        grad = x * np.sign(x * net.start)
        np.testing.assert_allclose(net.weight(), net.start - 0.125 * grad, rtol=1e-5, atol=1e-6)

    def test_momentum_and_weight_decay(self):
        rate, momentum, decay = 0.0625, 0.75, 0.125
        net = Linear(popart.SGD({"defaultLearningRate": (rate, False),
                                 "defaultMomentum": (momentum, True),
                                 "defaultWeightDecay": (decay, True)}))
        w, v = net.start.copy(), np.zeros(3, np.float32)
        for _ in range(4):
            x = floats(3)
            net.step(x)
            v = momentum * v + x * np.sign(x * w) + decay * w
            w = w - rate * v
        np.testing.assert_allclose(net.weight(), w, rtol=1e-5, atol=1e-6)

    def test_adam(self):
        rate, b1, b2, eps = 0.01, 0.9, 0.999, 1e-6
        net = Linear(popart.Adam({"defaultLearningRate": (rate, True), "defaultBeta1": (b1, True),
                                  "defaultBeta2": (b2, True), "defaultEps": (eps, True)}))
        w = net.start.astype(np.float64)
        m = v = np.zeros(3)
        for t in range(1, 6):
            x = floats(3)
            net.step(x)
            g = x * np.sign(x * w)
            m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g
            w = w - rate * (m / (1 - b1 ** t)) / (np.sqrt(v / (1 - b2 ** t)) + eps)
        np.testing.assert_allclose(net.weight(), w, rtol=1e-5, atol=1e-6)

    def test_rmsprop(self):
        rate, alpha, eps = 0.01, 0.9, 1e-5
        net = Linear(popart.Adaptive({"defaultLearningRate": (rate, True),
                                      "defaultAlpha": (alpha, True), "defaultEps": (eps, True)},
                                     mode=popart.AdaptiveMode.RMSProp))
        w, v = net.start.astype(np.float64), np.zeros(3)
        for _ in range(3):
            x = floats(3)
            net.step(x)
            g = x * np.sign(x * w)
            v = alpha * v + (1 - alpha) * g * g
            w = w - rate * g / (np.sqrt(v) + eps)
        np.testing.assert_allclose(net.weight(), w, rtol=1e-4, atol=1e-5)

    def test_gradients_of_inputs_and_weights(self):
        b = Builder()
        x = b.addInputTensor("FLOAT", [2, 3])
        start = floats(3, 4)
        w = b.addInitializedInputTensor(start)
        y = b.aiOnnx.matmul([x, w])
        loss = b.aiGraphcore.identityloss([b.aiOnnx.mul([y, y])], popart.ReductionType.Sum)
        names = [popart.reservedGradientPrefix() + name for name in (x, w)]
        session = trainer(b, loss, still(), DataFlow(1, names))
        anchors = session.initAnchorArrays()
        value = floats(2, 3)
        session.run(popart.PyStepIO({x: value}, anchors))
        out = 2 * (value @ start)
        np.testing.assert_allclose(anchors[names[0]], out @ start.T, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(anchors[names[1]], value.T @ out, rtol=1e-4, atol=1e-5)

    def test_batches_update_in_turn(self):
        net = Linear(popart.ConstSGD(0.125), batches=3)
        x = floats(3, 3)
        net.step(x)
        w = net.start.copy()
        for row in x:
            w = w - 0.125 * row * np.sign(row * w)
        np.testing.assert_allclose(net.weight(), w, rtol=1e-5, atol=1e-6)

    def test_accumulation_adds_gradients(self):
        options = popart.SessionOptions()
        options.enableGradientAccumulation = True
        options.accumulationFactor = 4
        net = Linear(popart.ConstSGD(0.125), options=options)
        x = floats(4, 3)
        net.step(x)
        grad = sum(row * np.sign(row * net.start) for row in x)
        np.testing.assert_allclose(net.weight(), net.start - 0.125 * grad, rtol=1e-5, atol=1e-6)

    def test_optimizer_from_host(self):
        net = Linear(popart.SGD({"defaultLearningRate": (0.5, False)}))
        net.session.updateOptimizerFromHost(popart.SGD({"defaultLearningRate": (0.25, False)}))
        x = floats(3)
        net.step(x)
        np.testing.assert_allclose(net.weight(), net.start - 0.25 * x * np.sign(x * net.start),
                                   rtol=1e-5, atol=1e-6)
        with self.assertRaises(TypeError):
            net.session.updateOptimizerFromHost("sgd")

    def test_specific_values(self):
        optimizer = popart.SGD({"defaultLearningRate": (0.5, True)})
        optimizer.insertSpecific("w", {"learningRate": (0.125, True)})
        net = Linear(optimizer)
        self.assertEqual(net.w, "w")
        self.assertEqual(optimizer.learningRates().get("w").val(), 0.125)
        x = floats(3)
        net.step(x)
        np.testing.assert_allclose(net.weight(), net.start - 0.125 * x * np.sign(x * net.start),
                                   rtol=1e-5, atol=1e-6)

    def test_clipped_gradients(self):
        net = Linear(popart.ConstSGD(1.0, clip_norm_settings=[
            popart.ClipNormSettings.clipAllWeights(0.5)]))
        x = np.array([3, 4, 0], np.float32) * np.sign(net.start)
        net.step(x)
        self.assertAlmostEqual(float(np.linalg.norm(net.weight() - net.start)), 0.5, places=4)

    def test_values_of_optimizers(self):
        sgd = popart.SGD({"defaultLearningRate": (0.5, False), "defaultMomentum": (0.25, True),
                          "lossScaling": (2.0, True)})
        self.assertEqual((sgd.learningRates().getDefault().val(),
                          sgd.learningRates().getDefault().isConst(),
                          sgd.momentums().getDefault().val(), sgd.getLossScalingVal()),
                         (0.5, False, 0.25, 2.0))
        for bad in ({"defaultLearnRate": (1, True)}, {"defaultLearningRate": 0.5}):
            for make in (popart.SGD, popart.Adam, popart.Adaptive):
                with self.assertRaises(Exception):
                    make(bad)
        with self.assertRaises(popart_exception):
            popart.ConstSGD(0.1).insertSpecific("w", {})

    def test_wrong_constructors(self):
        b = Builder()
        w = b.addInitializedInputTensor(np.ones(3, np.float32))
        loss = b.aiGraphcore.l1loss([w], 1.0)
        device = popart.DeviceManager().createCpuDevice()
        proto = b.getModelProto()
        for arguments, kind in (((proto, DataFlow(1), 17, popart.ConstSGD(1)), TypeError),
                                ((proto, DataFlow(1), loss, "sgd"), TypeError),
                                ((proto, DataFlow(1), "nothing", popart.ConstSGD(1)),
                                 popart_exception),
                                ((b"no model", DataFlow(1), loss, popart.ConstSGD(1)),
                                 popart_exception)):
            with self.assertRaises(kind):
                popart.TrainingSession(*arguments, device)

    def test_weights_must_be_sent(self):
        b = Builder()
        w = b.addInitializedInputTensor(np.ones(3, np.float32))
        loss = b.aiGraphcore.l1loss([w], 1.0)
        session = popart.TrainingSession(b.getModelProto(), DataFlow(1), loss, popart.ConstSGD(1),
                                         popart.DeviceManager().createCpuDevice())
        session.prepareDevice()
        with self.assertRaisesRegex(popart_exception, "weightsFromHost"):
            session.run(popart.PyStepIO({}, {}))


class Weights(unittest.TestCase):
    def test_written_weights_are_sent(self):
        net = Linear(still())
        new = floats(3)
        net.session.writeWeights(popart.PyWeightsIO({net.w: new}))
        net.session.weightsFromHost()
        x = floats(3)
        net.step(x)
        np.testing.assert_allclose(net.anchors[net.loss], np.abs(x * new).sum(), rtol=1e-5)
        np.testing.assert_array_equal(net.weight(), new)

    def test_wrong_weights(self):
        net = Linear(still())
        for weights in ({net.w: np.zeros(4, np.float32)}, {net.w: np.zeros(3, np.float16)},
                        {"nothing": np.zeros(3, np.float32)}):
            with self.assertRaises(popart_exception):
                net.session.readWeights(popart.PyWeightsIO(weights))
        with self.assertRaises(popart_exception):
            popart.PyWeightsIO({net.w: np.zeros(6, np.float32)[::2]})
        np.testing.assert_array_equal(net.weight(), net.start)

    def test_models_to_host_and_back(self):
        net = Linear(popart.ConstSGD(0.125))
        net.step(floats(3))
        trained = net.weight()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "below", "trained.onnx")
            net.session.modelToHost(path)
            net.step(floats(3))
            self.assertFalse(np.array_equal(net.weight(), trained))
            net.session.resetHostWeights(path)
            net.session.weightsFromHost()
        np.testing.assert_array_equal(net.weight(), trained)

    def test_constant_weights(self):
        b = Builder()
        x = b.addInputTensor("FLOAT", [3])
        w = b.addInitializedInputTensor(np.ones(3, np.float32))
        y = b.aiOnnx.mul([x, w])
        options = popart.SessionOptions()
        options.constantWeights = False
        session = session_of(b, DataFlow(1, [y]), options)
        session.writeWeights(popart.PyWeightsIO({w: np.full(3, 4, np.float32)}))
        session.weightsFromHost()
        anchors = session.initAnchorArrays()
        session.run(popart.PyStepIO({x: np.ones(3, np.float32)}, anchors))
        np.testing.assert_array_equal(anchors[y], 4)
        fixed = session_of(b, DataFlow(1, [y]))
        with self.assertRaisesRegex(popart_exception, "constantWeights"):
            fixed.writeWeights(popart.PyWeightsIO({w: np.ones(3, np.float32)}))

    def test_external_weights(self):
        b = Builder()
        value = floats(4096)
        w = b.addInitializedInputTensor(value)
        b.addOutputTensor(b.aiOnnx.neg([w]))
        with tempfile.TemporaryDirectory() as folder:
            b.saveInitializersExternally([w], os.path.join(folder, "weights.bin"))
            with open(os.path.join(folder, "weights.bin"), "rb") as file:
                self.assertIn(value.tobytes(), file.read())
            self.assertLess(len(b.getModelProto()), value.nbytes + 200)
        with self.assertRaises(popart_exception):
            b.saveInitializersExternally(["nothing"], "weights.bin")


class Random(unittest.TestCase):
    def make(self, options=None):
        b = Builder()
        x = b.addInputTensor("FLOAT", [256])
        self.y = b.aiOnnx.dropout([x], 1, 0.5)[0]
        w = b.addInitializedInputTensor(np.ones(256, np.float32))
        loss = b.aiGraphcore.l1loss([b.aiOnnx.mul([self.y, w])], 1.0)
        self.x = x
        return trainer(b, loss, still(), DataFlow(1, [self.y]), options)

    def mask(self, session):
        anchors = session.initAnchorArrays()
        session.run(popart.PyStepIO({self.x: np.ones(256, np.float32)}, anchors))
        return anchors[self.y] != 0

    def test_seeds_repeat_the_masks(self):
        session = self.make()
        session.setRandomSeed(11)
        self.assertEqual(session.getRandomSeed(), 11)
        first = self.mask(session)
        self.assertTrue(50 < first.sum() < 206)
        session.setRandomSeed(12)
        self.assertFalse(np.array_equal(self.mask(session), first))
        again = self.make()
        again.setRandomSeed(11)
        np.testing.assert_array_equal(self.mask(again), first)

    def test_states(self):
        options = popart.SessionOptions()
        options.enableLoadAndOffloadRNGState = True
        session = self.make(options)
        session.setRandomSeed(5)
        self.mask(session)
        state = session.getRNGState()
        first = self.mask(session)
        self.assertFalse(np.array_equal(self.mask(session), first))
        session.setRNGState(state)
        np.testing.assert_array_equal(self.mask(session), first)
        with self.assertRaises(popart_exception):
            session.setRNGState(state[:-1])
        with self.assertRaises(popart_exception):
            self.make().getRNGState()


class Options(unittest.TestCase):
    def test_unknown_names_and_types(self):
        options = popart.SessionOptions()
        with self.assertRaisesRegex(AttributeError, "enableEverything"):
            options.enableEverything = True
        for name, value in (("replicatedGraphCount", "two"), ("enableOutlining", "yes"),
                            ("virtualGraphMode", 1), ("engineOptions", 5), ("cachePath", 3),
                            ("virtualGraphMode", popart.TileSet.IO)):
            with self.assertRaises(TypeError, msg=name):
                setattr(options, name, value)

    def test_defaults_and_parts(self):
        options = popart.SessionOptions()
        self.assertEqual((options.replicatedGraphCount, options.accumulationFactor,
                          options.constantWeights), (1, 1, True))
        options.batchSerializationSettings.factor = 4
        self.assertEqual(options.batchSerializationSettings.factor, 4)
        self.assertEqual(popart.SessionOptions().batchSerializationSettings.factor, 0)
        options.engineOptions["target.hostSyncTimeout"] = "60"
        self.assertEqual(popart.SessionOptions().engineOptions, {})
        options.replicatedGraphCount = 2
        options.enableReplicatedGraphs = True
        self.assertEqual(options.getGlobalReplicationFactor(), 2)
        options.enableExplicitIR(True)
        self.assertTrue(options.useHostCopyOps and options.enableExplicitMainLoops)

    def test_combinations_are_checked_by_constructors(self):
        b = Builder()
        b.addOutputTensor(b.aiOnnx.relu([b.addInputTensor("FLOAT", [1])]))
        for name, value in (("accumulationFactor", 2), ("replicatedGraphCount", 2),
                            ("enableGradientAccumulation", True)):
            options = popart.SessionOptions()
            setattr(options, name, value)
            with self.assertRaises(popart_exception, msg=name):
                session_of(b, DataFlow(1), options)
        options = popart.SessionOptions()
        options.engineOptions = {"nothing.known": "1"}
        with self.assertRaisesRegex(popart.poplar_exception, "'nothing.known'$"):
            session_of(b, DataFlow(1), options)

    def test_patterns(self):
        patterns = popart.Patterns(popart.PatternsLevel.NoPatterns)
        self.assertFalse(patterns.isPatternEnabled("OpToIdentity"))
        self.assertIs(patterns.enablePattern("OpToIdentity", True), patterns)
        self.assertTrue(patterns.OpToIdentity)
        patterns.InPlace = True
        self.assertTrue(patterns.isPatternEnabled("InPlace"))
        self.assertIn("OpToIdentity", repr(patterns))
        self.assertTrue(popart.Patterns(["PreUniRepl"]).PreUniRepl)
        with self.assertRaisesRegex(popart_exception, "OpToIdentit"):
            patterns.enablePattern("OpToIdentitty", True)
        with self.assertRaises(TypeError):
            popart.Patterns("PreUniRepl")

    def test_patterns_keep_results(self):
        b = Builder()
        x = b.addInputTensor("FLOAT", [4])
        y = b.aiOnnx.identity([b.aiOnnx.relu([b.aiOnnx.neg([x])])])
        value = floats(4)
        for level in (popart.PatternsLevel.Default, popart.PatternsLevel.All):
            session = session_of(b, DataFlow(1, [y]), patterns=popart.Patterns(level))
            anchors = session.initAnchorArrays()
            session.run(popart.PyStepIO({x: value}, anchors))
            np.testing.assert_array_equal(anchors[y], np.maximum(-value, 0))

    def test_variable_settings(self):
        group = popart.CommGroup(popart.CommGroupType.Consecutive, 2)
        settings = popart.VariableSettings(group, popart.VariableRetrievalMode.AllReplicas)
        self.assertEqual((settings.getGroupCount(8), settings.getRealGroupSize(8),
                          settings.numReplicasReturningVariable(8)), (4, 2, 8))
        self.assertEqual(settings.shapeOnHost([3], 8), [4, 3])
        self.assertEqual(settings.shapeOnReplica([4, 3], 8), [3])
        self.assertEqual(settings.groups(4), [[0, 1], [2, 3]])
        with self.assertRaises(popart_exception):
            popart.VariableSettings(popart.CommGroup(popart.CommGroupType.Consecutive, 0))
        with self.assertRaises(popart_exception):
            settings.getGroupCount(3)

    def test_input_settings(self):
        settings = popart.InputSettings(popart.ReplicatedStreamMode.Broadcast)
        options = popart.SessionOptions()
        options.enableReplicatedGraphs, options.replicatedGraphCount = True, 2
        b = Builder()
        x = b.addInputTensor(popart.TensorInfo("FLOAT", [3]), settings)
        y = b.aiOnnx.neg([x])
        session = session_of(b, DataFlow(1, [y]), options)
        anchors = session.initAnchorArrays()
        value = floats(3)
        session.run(popart.PyStepIO({x: value}, anchors))
        np.testing.assert_array_equal(anchors[y], [-value, -value])
        with self.assertRaises(TypeError):
            popart.InputSettings("broadcast")


class Devices(unittest.TestCase):
    def test_kinds(self):
        manager = popart.DeviceManager()
        self.assertEqual(manager.createCpuDevice().type, popart.DeviceType.Cpu)
        model = manager.createIpuModelDevice({"numIPUs": 2, "tilesPerIPU": 8})
        self.assertEqual((model.type, model.numIpus, model.tilesPerIPU),
                         (popart.DeviceType.IpuModel, 2, 8))
        with self.assertRaisesRegex(popart_exception, "numIpus"):
            manager.createIpuModelDevice({"numIpus": 2})

    def test_attached_in_a_context(self):
        device = popart.DeviceManager().createCpuDevice()
        device.attach()
        with device as same:
            self.assertIs(same, device)
            self.assertTrue(device.isAttached)
        self.assertFalse(device.isAttached)

    def test_virtual_devices(self):
        manager = popart.DeviceManager()
        before = os.environ.get("POPRT_VIRTUAL_IPUS")
        try:
            os.environ["POPRT_VIRTUAL_IPUS"] = "0"
            self.assertIsNone(manager.tryAcquireAvailableDevice())
            with self.assertRaises(popart_exception):
                manager.acquireAvailableDevice()
            os.environ["POPRT_VIRTUAL_IPUS"] = "3"
            self.assertEqual(len(manager.enumerateDevices()), 3)
            self.assertEqual(manager.acquireAvailableDevice(1).type, popart.DeviceType.Ipu)
        finally:
            del os.environ["POPRT_VIRTUAL_IPUS"]
            if before is not None:
                os.environ["POPRT_VIRTUAL_IPUS"] = before

    def test_offline_devices_only_compile(self):
        b = Builder()
        x = b.addInputTensor("FLOAT", [1])
        y = b.aiOnnx.relu([x])
        session = popart.InferenceSession(b.getModelProto(), DataFlow(1, [y]),
                                          popart.DeviceManager().createOfflineIPUDevice({}))
        session.prepareDevice()
        with self.assertRaises(popart_exception):
            session.run(popart.PyStepIO({x: np.ones(1, np.float32)}, session.initAnchorArrays()))


class Plugins(unittest.TestCase):
    def test_a_library_that_ctypes_has_loaded_gives_its_operators(self):
        path = os.path.join(os.environ.get("PLUGINS", ""), "leaky_relu.so")
        if not os.path.exists(path):
            self.skipTest("the plug-ins of the tests are not built")
        code = (
            "import ctypes, sys, numpy as np, popart\n"
            "ctypes.cdll.LoadLibrary(sys.argv[1])\n"
            "b = popart.Builder()\n"
            "x = b.addInputTensor('FLOAT', [2])\n"
            "y = b.customOp('LeakyRelu', 1, 'custom.ops', [x], {'alpha': 0.25})[0]\n"
            "s = popart.InferenceSession(b.getModelProto(), popart.DataFlow(1, [y]),\n"
            "                            popart.DeviceManager().createCpuDevice())\n"
            "s.prepareDevice()\n"
            "a = s.initAnchorArrays()\n"
            "s.run(popart.PyStepIO({x: np.array([8, -8], np.float32)}, a))\n"
            "print(a[y].tolist())\n")
        done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True)
        self.assertEqual((done.stdout, done.returncode), ("[8.0, -2.0]\n", 0), done.stderr)


if __name__ == "__main__":
    unittest.main()
