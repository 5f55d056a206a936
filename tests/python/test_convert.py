# SPDX-License-Identifier: MIT
"""Converter, passes and their helpers as PopRT has them: poprt.converter, poprt.passes,
poprt.optimizer, poprt.quantizer; custom.c of the extension."""
import importlib
import logging
import os
import subprocess
import sys
import tempfile
import unittest

import numpy as np

try:
    import onnx
    from onnx import helper, numpy_helper
except ImportError:
    print("the package onnx is missing (Debian: python3-onnx)")
    sys.exit(77)

import poprt
from poprt.passes import base_pass, onnx_helper, pattern_helper

FIXTURES = os.environ["FIXTURES"]
DIGITS = os.path.join(FIXTURES, "digits", "model.onnx")
ENCODER = os.path.join(FIXTURES, "encoder", "model.onnx")


def digits():
    return onnx.load(DIGITS)


def images(count=8):
    return np.load(os.path.join(FIXTURES, "digits", "images.npy"))[:count].astype(np.float32)


def run(model, feed):
    return poprt.Session(model).call(feed)[0]


def types_of(model):
    return [node.op_type for node in model.graph.node]


@poprt.passes.register("test_relu_to_tanh")
class ReluToTanh(poprt.Pass):
    """Replaces Relu by Tanh."""

    def run(self, onnx_model):
        def transform(graph, is_main_graph):
            for node in graph.node:
                if node.op_type == "Relu":
                    node.op_type = "Tanh"
        self.traverse_graph(onnx_model.graph, transform)
        return onnx_model


class Import(unittest.TestCase):
    def test_names_exist_after_a_bare_import(self):
        code = ("import poprt, sys\n"
                "assert 'poprt.passes' not in sys.modules and 'onnx' not in sys.modules\n"
                "poprt.converter.Converter; poprt.compiler.Compiler; poprt.backend.get_session\n"
                "poprt.Converter; poprt.Pass; poprt.passes.Pass; poprt.Backend; poprt.utils\n"
                "poprt.optimizer.Optimizer; poprt.profile.get_model_flops; poprt.quantizer\n"
                "poprt._argparse.PopHelpFormatter; poprt._argparse.argparse; poprt.frontend\n"
                "assert poprt._names.sHostConcatRunnerConfig == 'HostConcatRunnerConfig'\n"
                "assert 'onnx' not in sys.modules and 'torch' not in sys.modules\n"
                "from poprt import ort; ort.InferenceSession\n"
                "assert poprt.compat.POPART == (3, 4, 0) and 'Converter' in dir(poprt)\n")
        subprocess.run([sys.executable, "-c", code], check=True)
        with self.assertRaises(AttributeError):
            poprt.no_such_name

    def test_import_takes_little_beyond_numpy(self):
        code = ("import numpy, time\nt = time.process_time()\nimport poprt\n"
                "print(time.process_time() - t)")
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "PYTHONPYCACHEPREFIX": folder}
            environment.pop("PYTHONDONTWRITEBYTECODE", None)
            best = min(float(subprocess.run([sys.executable, "-c", code], check=True,
                                            capture_output=True, env=environment).stdout)
                       for _ in range(6))
        sanitized = "asan" in os.environ.get("LD_PRELOAD", "")
        self.assertLess(best, 0.2 if sanitized else 0.02)


class Conversion(unittest.TestCase):
    def test_results_stay_and_the_input_is_not_changed(self):
        model = digits()
        before = model.SerializeToString()
        converted = poprt.Converter().convert(model)
        self.assertIsInstance(converted, onnx.ModelProto)
        self.assertEqual(model.SerializeToString(), before)
        self.assertNotIn("BatchNormalization", types_of(converted))
        np.testing.assert_allclose(run(converted, {"image": images()}),
                                   run(model, {"image": images()}), rtol=1e-4, atol=1e-4)

    def test_shapes_and_batch(self):
        model = poprt.Converter(input_shape={"image": (4, 1, 8, 8)}).convert(DIGITS)
        self.assertEqual(onnx_helper.get_shape(model, "image"), [4, 1, 8, 8])
        model = poprt.Converter(batch_size=3, batch_axis=0).convert(digits().SerializeToString())
        self.assertEqual(onnx_helper.get_shape(model, "logits"), [3, 10])
        with self.assertRaises(ValueError):
            poprt.Converter(batch_size=3)
        with self.assertRaises(TypeError):
            poprt.Converter(input_shape=[4])
        with self.assertRaises(TypeError):
            poprt.Converter(no_such_argument=1)
        with self.assertRaises(TypeError):
            poprt.Converter({"image": [1]})

    def test_precision(self):
        model = poprt.Converter(precision="fp16").convert(DIGITS)
        self.assertEqual(onnx_helper.get_dtype(model, "image"), onnx.TensorProto.FLOAT16)
        model = poprt.Converter(precision="").convert(DIGITS)
        self.assertEqual(onnx_helper.get_dtype(model, "image"), onnx.TensorProto.FLOAT)
        kept = poprt.Converter(precision="fp16", fp16_skip_op_types="Gemm, Conv").convert(DIGITS)
        self.assertIn("Cast", types_of(kept))
        with self.assertRaises(poprt.InvalidArgument):
            poprt.Converter(precision="fp17")

    def test_outputs(self):
        inner = digits().graph.node[0].output[0]
        model = poprt.Converter(checkpoints=[inner]).convert(DIGITS)
        self.assertIn(inner, [o.name for o in model.graph.output])
        both = poprt.Pass.get_pass("add_checkpoints", [inner])(digits())
        model = poprt.Converter(remove_outputs=["logits"]).convert(both)
        self.assertEqual([o.name for o in model.graph.output], [inner])
        with self.assertRaises(poprt.InvalidArgument):
            poprt.Converter(remove_outputs="logits").convert(DIGITS)

    def test_opset_of_the_result(self):
        def opset(model):
            return next(o.version for o in model.opset_import if o.domain == "")
        self.assertEqual(opset(poprt.Converter().convert(DIGITS)), 11)
        self.assertEqual(opset(poprt.Converter(convert_version=15).convert(DIGITS)), 15)
        with self.assertLogs("poprt", "WARNING"):
            self.assertGreater(opset(poprt.Converter(skip_passes="expand_formulas")
                                     .convert(_bitwise())), 11)
        with self.assertRaises(poprt.Unsupported):
            poprt.Converter(convert_version=12).convert(_bitwise())

    def test_passes_in_order_with_options_and_blanks(self):
        seen = []

        class Watch(poprt.Pass):
            def __init__(self, word):
                super().__init__()
                self.word = word

            def run(self, onnx_model):
                seen.append((self.word, "Tanh" in types_of(onnx_model),
                             len(onnx_model.graph.value_info) > 0))
                return onnx_model

        cast = poprt.Pass.get_pass("add_checkpoints", ["pool"])
        model = poprt.Converter(used_passes=[Watch("a"), " test_relu_to_tanh ", Watch("b")],
                                remap_mode=[" after_matmul", "before_add"]).convert(DIGITS)
        self.assertEqual(seen, [("a", False, True), ("b", True, True)])
        self.assertNotIn("Relu", types_of(model))
        with self.assertRaises(poprt.NotFound):
            poprt.Converter(used_passes=[cast]).convert(DIGITS)  # there is no tensor pool
        with self.assertRaises(poprt.NotFound):
            poprt.Converter(used_passes=["no_such_pass"])
        with self.assertRaises(TypeError):
            poprt.Converter(used_passes=[3])

    def test_arguments_that_are_lists_and_dicts(self):
        shape = {"tokens": [2, 8, 8], "mask": [2, 8]}
        model = poprt.Pass.get_pass("unique_name_for_nodes")(onnx.load(ENCODER))
        product = next(node.name for node in model.graph.node if node.op_type == "MatMul")

        def count(op_type, **arguments):
            converted = poprt.Converter(input_shape=shape, **arguments).convert(model)
            return types_of(converted).count(op_type)

        for size in (8, "8", [4, 4]):
            self.assertGreater(count("Unpack", pack_args={
                "max_valid_num": 4, "segment_max_size": size,
                "dynamic_groups": [["tokens", "mask"]]}), 0)
        self.assertEqual(count("Unpack"), 0)
        for factor in (2, "2/output_channels", [2, "input_channels"]):
            marked = poprt.Converter(input_shape=shape,
                                     serialize_matmul={product: factor}).convert(model)
            self.assertIn("__serialize_matmul_factor", str(marked))
        self.assertGreater(count("Remap", enable_insert_remap=True), 0)
        for groups in ([("fp32", [2, 8])], {("fp32", (2, 8)): 2}):
            count("Remap", apply_hcsr=groups)
        for bad in ({"max_valid": 4}, {"segment_max_size": "x"}):
            with self.assertRaises(poprt.InvalidArgument):
                count("Unpack", pack_args=bad)
        for name in ("pack_args", "serialize_matmul"):
            with self.assertRaises(TypeError):
                count("Unpack", **{name: ["x"]})

    def test_skipped_passes(self):
        model = poprt.Converter(skip_passes="fuse_bn_into_conv, replace_bn_with_mul_add")
        self.assertIn("BatchNormalization", types_of(model.convert(DIGITS)))

    def test_logger(self):
        logger = logging.getLogger("test_convert")
        with self.assertLogs(logger, "WARNING") as lines:
            poprt.Converter(skip_passes="expand_formulas", logger=logger).convert(_bitwise())
        self.assertIn("opset", "".join(lines.output))

    def test_sharder_and_fusion(self):
        name = poprt.Pass.get_pass("unique_name_for_nodes")(digits()).graph.node[3].name
        model = poprt.Pass.get_pass("unique_name_for_nodes")(digits())
        marked = poprt.converter.Sharder({name: 0}, {name: 0}).run(model)
        numbers = [a.i for node in marked.graph.node for a in node.attribute
                   if a.name == "__ipu_number"]
        self.assertEqual(sorted(set(numbers)), [0, 1])
        fixed = poprt.Converter(input_shape={"image": [2, 1, 8, 8]}).convert(DIGITS)
        fused = poprt.converter.MFConverter().convert([fixed, fixed])
        self.assertEqual([i.name for i in fused.graph.input],
                         ["index", "graph0/image", "graph1/image"])


def _bitwise():
    """A model of an operator that opset 18 has first."""
    info = [helper.make_tensor_value_info(name, 6, [2]) for name in "xyz"]
    node = helper.make_node("BitwiseAnd", ["x", "y"], ["z"])
    model = helper.make_model(helper.make_graph([node], "g", info[:2], info[2:]),
                              opset_imports=[helper.make_opsetid("", 18)])
    model.ir_version = 8
    return model


class Passes(unittest.TestCase):
    def test_every_pass_has_a_class_that_can_be_imported(self):
        passes = poprt.get_registered_passes()
        library = {row[0]: row[2] for row in poprt._core.passes()}
        self.assertEqual(sum(1 for since in library.values() if since), 107)
        for name in library:
            cls = passes[name]
            module = importlib.import_module(cls.__module__)
            self.assertIs(getattr(module, cls.__name__), cls)
            self.assertEqual(cls.name, name)
            str(cls.__signature__)
        from poprt.passes.apply_ir_pass import ApplyIrPass, eliminate_identity
        from poprt.passes.float_to_half import Float2Half
        from poprt.passes.remove_duplicated_initializer import RemoveDuplicatedInitializer
        from poprt.passes.workarounds import TopKWorkaround
        self.assertEqual(str(Float2Half.__signature__),
                         "(skip_op_types=[], enable_avoid_overflow_patterns=False)")
        self.assertEqual(eliminate_identity.name, "eliminate_identity")
        self.assertEqual(TopKWorkaround.name, "topk_workaround")
        RemoveDuplicatedInitializer().run(digits())
        ApplyIrPass(["eliminate_identity", "eliminate_nop_cast"])(digits())

    def test_constructors(self):
        half = poprt.Pass.get_pass("float_to_half", skip_op_types=["Gemm"])
        self.assertIn("Cast", types_of(half(digits())))
        self.assertNotIn("Cast", types_of(poprt.Pass.get_pass("float_to_half")(digits())))
        shape = poprt.Pass.get_pass("const_input_shape", {"image": [5, 1, 8, 8]})
        self.assertEqual(onnx_helper.get_shape(shape.run(digits()), "image"), [5, 1, 8, 8])
        with self.assertRaises(TypeError):
            poprt.Pass.get_pass("float_to_half", nonsense=1)
        with self.assertRaises(TypeError):
            poprt.passes.add_checkpoints.AddCheckpoints()
        with self.assertRaisesRegex(poprt.NotFound, "float_to_half"):
            poprt.Pass.get_pass("float_to_hal")

    def test_a_model_of_ours_is_changed_in_place(self):
        model = poprt.Model.load(DIGITS)
        self.assertIs(poprt.Pass.get_pass("fuse_bn_into_conv").run(model), model)
        self.assertNotIn("BatchNormalization", model.describe())

    def test_registry(self):
        with self.assertRaises(ValueError):
            poprt.passes.register("test_relu_to_tanh")(type("Other", (poprt.Pass,), {}))
        with self.assertRaises(ValueError):
            poprt.passes.register("float_to_half")(type("Other", (poprt.Pass,), {}))
        with self.assertRaises(ValueError):
            poprt.passes.register("a b")
        with self.assertRaises(TypeError):
            poprt.passes.register("test_other")(int)
        other = type("Other", (ReluToTanh,), {})
        poprt.Pass.override_register_pass("test_relu_to_tanh")(other)
        self.assertIs(poprt.get_registered_passes()["test_relu_to_tanh"], other)
        poprt.Pass.override_register_pass("test_relu_to_tanh")(ReluToTanh)
        self.assertEqual(list(poprt.Pass.get_typed_registered_passes(ReluToTanh)),
                         ["test_relu_to_tanh"])

    def test_subclasses_are_looked_up_when_asked(self):
        old = base_pass.get_all_named_subclasses
        try:
            base_pass.get_all_named_subclasses = lambda cls: {"only": ReluToTanh}
            self.assertEqual(list(poprt.get_registered_passes()), ["only"])
            self.assertIsInstance(poprt.Pass.get_pass("only"), ReluToTanh)
        finally:
            base_pass.get_all_named_subclasses = old

    def test_properties(self):
        cls = poprt.Pass.property_register("cost", 3)(type("P", (poprt.Pass,), {}))
        self.assertEqual(cls.get_property("cost"), 3)
        self.assertIsNone(poprt.Pass.get_property("cost"))
        with self.assertRaises(NotImplementedError):
            cls()(digits())

    def test_immutable_passes(self):
        class Count(base_pass.ImmutablePass):
            def run(self, onnx_model):
                self.nodes = len(onnx_model.graph.node)

        class Cheat(base_pass.ImmutablePass):
            def run(self, onnx_model):
                del onnx_model.graph.node[0]

        count = Count()
        model = digits()
        self.assertIs(count(model), model)
        self.assertEqual(count.nodes, len(model.graph.node))
        with self.assertRaises(ValueError):
            Cheat()(model)

    def test_comparing_passes(self):
        good = poprt.Pass.get_pass("float_to_half")(digits())
        poprt.passes.check_with_fake_data.CheckWithFakeData(digits())(good)
        bad = ReluToTanh()(digits())
        with self.assertRaises(poprt.Error):
            poprt.passes.check_with_fake_data.CheckWithFakeData(digits())(bad)
        with tempfile.TemporaryDirectory() as folder:
            compare = poprt.passes.layer_precision_compare(
                digits(), {"image": images(4)}, {"num_ipus": 1}, folder)
            self.assertIsInstance(
                compare, poprt.passes.layer_precision_compare.LayerPrecisionCompare)
            compare(good)
            with open(os.path.join(folder, "precision_compare.log")) as file:
                self.assertIn("cos_dist", file.read())
        with self.assertRaises(ValueError):
            poprt.passes.layer_precision_compare(digits(), None, {"nonsense": 1})(good)


class Manager(unittest.TestCase):
    def test_passes_of_both_kinds_mix(self):
        manager = poprt.PassManager(["fuse_bn_into_conv", ReluToTanh()])
        manager.add_passes(["eliminate_deadend"])
        self.assertEqual(manager.get_all_pass_names(),
                         ["fuse_bn_into_conv", "test_relu_to_tanh", "eliminate_deadend"])
        self.assertIsInstance(manager.get_passes()[1], ReluToTanh)
        model = manager.run(digits())
        self.assertNotIn("BatchNormalization", types_of(model))
        self.assertNotIn("Relu", types_of(model))
        ours = poprt.Model.load(DIGITS)
        self.assertIs(manager.run(ours), ours)
        self.assertNotIn("Relu", [n.op_type for n in ours.to_proto().graph.node])

    def test_optimizer(self):
        model = poprt.optimizer.Optimizer(["fuse_bn_into_conv"]).run(digits())
        self.assertNotIn("BatchNormalization", types_of(model))

    def test_gathered_passes(self):
        names = ["eliminate_identity", "fuse_bn_into_conv", "eliminate_deadend"]
        one = poprt.PassManager(names).run(digits()).SerializeToString()
        self.assertEqual(
            poprt.PassManager(names, gather_ir_passes=True).run(digits()).SerializeToString(), one)

    def test_exceptions_of_passes(self):
        class Fails(poprt.Pass):
            def run(self, onnx_model):
                raise LookupError("mine")

        class Forgets(poprt.Pass):
            def run(self, onnx_model):
                pass

        class Breaks(poprt.Pass):
            def run(self, onnx_model):
                onnx_model.graph.node[0].input[0] = "nothing makes this"
                return onnx_model

        with self.assertRaisesRegex(LookupError, "mine"):
            poprt.PassManager(["eliminate_identity", Fails()]).run(digits())
        with self.assertRaisesRegex(TypeError, "Forgets"):
            poprt.Converter(used_passes=[Forgets()]).convert(digits())
        with self.assertRaises(poprt.Error):
            poprt.PassManager([Breaks()]).run(digits())

    def test_order_by_constraints(self):
        first = poprt.Pass.constraint_passes("before", "test_relu_to_tanh")(
            type("First", (ReluToTanh,), {"name": "first"}))
        needs = poprt.Pass.constraint_passes("depend", ["eliminate_deadend"])(
            type("Needs", (ReluToTanh,), {"name": "needs"}))
        against = poprt.Pass.against_passes(["test_relu_to_tanh"])(
            type("Against", (ReluToTanh,), {"name": "against_it"}))
        manager = poprt.PassManager([ReluToTanh(), first(), needs()])
        manager.sort_passes()
        self.assertEqual(manager.get_all_pass_names(),
                         ["first", "test_relu_to_tanh", "eliminate_deadend", "needs"])
        with self.assertRaisesRegex(ValueError, "exclude"):
            poprt.PassManager([against(), ReluToTanh()]).run(digits())
        cycle = poprt.Pass.constraint_passes("before", "first")(
            type("Cycle", (ReluToTanh,), {"name": "cycle"}))
        back = poprt.Pass.constraint_passes("before", "cycle")(
            type("Back", (first,), {"name": "first"}))
        with self.assertRaisesRegex(ValueError, "cycle"):
            poprt.PassManager([cycle(), back()]).sort_passes()
        with self.assertRaises(ValueError):
            poprt.Pass.constraint_passes("beside", "first")

    def test_one_pass_twice(self):
        model = poprt.PassManager([ReluToTanh(), ReluToTanh()]).run(digits())
        self.assertNotIn("Relu", types_of(model))


class Helpers(unittest.TestCase):
    def branch(self):
        """y = (a @ b + a @ b) * a, with nodes out of order."""
        nodes = [helper.make_node("Mul", ["s", "a"], ["y"]),
                 helper.make_node("MatMul", ["a", "b"], ["p"]),
                 helper.make_node("Add", ["p", "q"], ["s"]),
                 helper.make_node("MatMul", ["a", "b"], ["q"])]
        info = [helper.make_tensor_value_info(name, 1, [2, 2]) for name in "aby"]
        graph = helper.make_graph(nodes, "g", info[:2], info[2:])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])

    def test_topological_sort(self):
        model = self.branch()
        self.assertIs(onnx_helper.topological_sort(model.graph), model.graph)
        self.assertEqual(types_of(model), ["MatMul", "MatMul", "Add", "Mul"])
        onnx.checker.check_model(model)
        model.graph.node[0].input[0] = "y"
        with self.assertRaisesRegex(ValueError, "cycle"):
            onnx_helper.topological_sort(model.graph)

    def test_sort_sees_reads_inside_graphs(self):
        inner = helper.make_graph([helper.make_node("Identity", ["late"], ["r"])], "then", [],
                                  [helper.make_tensor_value_info("r", 1, [1])])
        nodes = [helper.make_node("If", ["c"], ["y"], then_branch=inner, else_branch=inner),
                 helper.make_node("Identity", ["x"], ["late"])]
        graph = helper.make_graph(nodes, "g", [], [])
        onnx_helper.topological_sort(graph)
        self.assertEqual([node.op_type for node in graph.node], ["Identity", "If"])

    def test_types_and_constants(self):
        model = poprt.passes.shape_inference.infer_shapes(digits())
        self.assertGreater(len(model.graph.value_info), 5)
        self.assertEqual(onnx_helper.get_shape(model, "image"), ["batch", 1, 8, 8])
        self.assertEqual(onnx_helper.get_dtype(model.graph, "image"), 1)
        self.assertIsNone(onnx_helper.get_shape(model, "nothing"))
        self.assertIsNone(onnx_helper.get_dtype(model, "nothing"))
        weight = model.graph.initializer[0]
        self.assertEqual(onnx_helper.get_shape(model, weight.name), list(weight.dims))
        np.testing.assert_array_equal(onnx_helper.get_constant(model, weight.name),
                                      numpy_helper.to_array(weight))
        self.assertIsNone(onnx_helper.get_constant(model, "image"))
        node = helper.make_node("Constant", [], ["k"],
                                value=numpy_helper.from_array(np.array([3, 4])))
        model.graph.node.append(node)
        self.assertEqual(onnx_helper.get_constant(model, "k").tolist(), [3, 4])
        self.assertEqual(onnx_helper.get_shape(model, "k"), [2])
        self.assertEqual(len(onnx_helper.clean_info(model).graph.value_info), 0)

    def test_patterns(self):
        model = self.branch()
        onnx_helper.topological_sort(model.graph)
        matcher = pattern_helper.PatternMatcher(
            ["s:0 -> MatMul:1 -> Add:2 -> Mul:3 -> e:4", "MatMul:5->Add:2"])
        found = matcher.next_pattern(model.graph)
        self.assertEqual({k: v.index for k, v in found.items()}, {"1": 0, "2": 2, "3": 3, "5": 1})
        self.assertEqual(found["2"].node.op_type, "Add")
        self.assertEqual(matcher.next_pattern(model.graph)["1"].index, 1)
        self.assertIsNone(matcher.next_pattern(model.graph))
        model.graph.node[3].op_type = "Div"
        other = pattern_helper.PatternMatcher(["Add:a->Mul:b"])
        self.assertIsNone(other.next_pattern(model.graph))
        for chain in ("MatMul", "s:0->e:1", "MatMul:1->Add:1"):
            with self.assertRaises(ValueError):
                pattern_helper.PatternMatcher([chain])


class ShapeFunctions(unittest.TestCase):
    calls = []

    @classmethod
    def setUpClass(cls):
        @poprt.passes.register_shape_func(["TestTwice"])
        class TestTwice(poprt.passes.ShapeFunc):
            def __call__(self, model, node):
                shape = poprt.passes.get_shape(model, node.input[0])
                dtype = poprt.passes.get_dtype(model, node.input[0])
                cls.calls.append(shape)
                if shape is None or dtype is None:
                    return model, False
                times = int(onnx_helper.get_constant(model, node.input[1])[0])
                axis = next(a.i for a in node.attribute if a.name == "axis")
                if shape[axis] is not None:
                    shape[axis] *= times
                model.graph.value_info.append(
                    helper.make_tensor_value_info(node.output[0], dtype, shape))
                return model, True

        @poprt.passes.register_shape_func("TestFails")
        def fails(model, node):
            raise ArithmeticError("in the shape function")

    def model(self, op="TestTwice", dims=("n", 3)):
        nodes = [helper.make_node(op, ["x", "k"], ["y"], domain="my.ops", axis=1),
                 helper.make_node("Relu", ["y"], ["z"])]
        graph = helper.make_graph(
            nodes, "g", [helper.make_tensor_value_info("x", 1, dims)],
            [helper.make_tensor_value_info("z", 1, None)],
            [numpy_helper.from_array(np.array([7]), "k")])
        model = helper.make_model(graph, opset_imports=[
            helper.make_opsetid("", 13), helper.make_opsetid("my.ops", 1)])
        model.ir_version = 7
        return model

    def test_types_follow(self):
        model = poprt.passes.shape_inference.infer_shapes(self.model())
        self.assertEqual(onnx_helper.get_shape(model, "z"), [None, 21])
        self.assertEqual(onnx_helper.get_dtype(model, "y"), 1)
        self.assertTrue(self.calls)

    def test_shapes_that_are_set_later(self):
        model = poprt.Converter(input_shape={"x": [2, 3]}).convert(self.model())
        self.assertEqual(onnx_helper.get_shape(model, "z"), [2, 21])

    def test_exceptions_come_out_of_the_call(self):
        with self.assertRaisesRegex(ArithmeticError, "in the shape function"):
            poprt.Model.load(self.model("TestFails"))

    def test_other_unknown_operators_stay_unknown(self):
        model = poprt.passes.shape_inference.infer_shapes(self.model("TestOther"))
        self.assertIsNone(onnx_helper.get_shape(model, "y"))

    def test_registration(self):
        with self.assertRaises(ValueError):
            poprt.passes.register_shape_func("TestTwice")(lambda model, node: (model, False))
        with self.assertRaises(ValueError):
            poprt.passes.register_shape_func([])
        with self.assertRaises(TypeError):
            poprt.passes.register_shape_func("TestThird")(3)


class Quantizer(unittest.TestCase):
    def test_quantize(self):
        converted = poprt.Converter(precision="fp8", quantize=True).convert(DIGITS)
        self.assertNotIn("FP8Conv", types_of(converted))
        with tempfile.TemporaryDirectory() as folder:
            model = poprt.quantizer.quantize(converted, digits(), folder,
                                             {"image": images(16)}, "fp8", "mse", 1)
            with open(os.path.join(folder, "quantize.log")) as file:
                self.assertIn("mse", file.read())
        names = " ".join(types_of(model))
        self.assertRegex(names, "FP8")
        feed = images(64)
        exact = run(digits(), {"image": feed}).argmax(1)
        found = run(model, {"image": feed.astype(np.float16)}).argmax(1)
        self.assertGreater((exact == found).mean(), 0.9)

    def test_arguments(self):
        for arguments in (("f", "mse", None, "fp16"), ("f", "rmse"), ("f", "gptq")):
            with self.assertRaises(ValueError):
                poprt.quantizer.FP8Quantizer(*arguments)
        with self.assertRaises(ValueError):
            poprt.quantizer.quantize(digits(), digits(), ".", {"nothing": images()})
        with self.assertRaises(TypeError):
            poprt.quantizer.FP8Quantizer(".", "mse", 3).quantize(digits())


if __name__ == "__main__":
    unittest.main()
