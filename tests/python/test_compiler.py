# SPDX-License-Identifier: MIT
"""PopRT's compiler, backends and small modules: poprt.compiler, poprt.backend, poprt.utils,
poprt.profile, poprt.frontend, poprt._argparse; popef.c of the extension."""
import io
import json
import os
import pickle
import sys
import tempfile
import unittest
import warnings

import numpy as np

try:
    import onnx
except ImportError:
    print("the package onnx is missing (Debian: python3-onnx)")
    sys.exit(77)

import poprt
from poprt.compiler import Compiler, CompilerOptions

FIXTURES = os.environ["FIXTURES"]
DIGITS = os.path.join(FIXTURES, "digits", "model.onnx")
NET = os.path.join(FIXTURES, "tensorflow", "net.pb")
SAVED = os.path.join(FIXTURES, "tensorflow", "variables")


def images(count=8):
    return np.load(os.path.join(FIXTURES, "digits", "images.npy"))[:count].astype(np.float32)


class Folder(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)

    def path(self, name):
        return os.path.join(self._folder.name, name)


class Options(Folder):
    def test_defaults(self):
        options = CompilerOptions()
        for name, value in {
                "num_ipus": 1, "ipu_version": "", "batches_per_step": 1, "partials_type": "half",
                "available_memory_proportion": 0.6, "num_io_tiles": 0, "constant_weights": True,
                "enable_prefetch_datastreams": True, "stream_buffering_depth": 1,
                "custom_patterns": [], "opaque_blobs": {}, "virtual_graph_mode": "off",
                "time_limit_scheduler": 1e9, "swap_limit_scheduler": 10**9}.items():
            self.assertEqual(getattr(options, name), value)
            self.assertIn(name, dir(options))

    def test_every_option_is_accepted_by_a_compilation(self):
        values = dict(
            num_ipus=2, ipu_version="ipu21", batches_per_step=4, partials_type="float",
            num_io_tiles=32, enable_model_fusion=True, enable_prefetch_datastreams=False,
            stream_buffering_depth=2, enable_pad_conv_channel=True, enable_gather_simplifier=False,
            use_128bit_conv_unit_load=True, enable_multi_stage_reduce=False,
            enable_fast_reduce=True, enable_outlining=False, outline_threshold=2,
            group_host_sync=True, rearrange_streams_on_host=True, rearrange_anchors_on_host=False,
            enable_non_stable_softmax=True, enable_pipelining=True, constant_weights=False,
            subgraph_copying_strategy=0, virtual_graph_mode="manual",
            virtual_graph_split_ratios=[0.5, 0.5], time_limit_scheduler=1.0,
            swap_limit_scheduler=5, transitive_closure_optimization_threshold=5,
            create_host_transferable_tensor_with_offset=True,
            enable_efficient_overlap_io_topo_cons=True, available_memory_proportion=0.9,
            custom_transform_applier_settings={"Fwd0": ["IrSerialise"]},
            engine_options={"opt.enableInlining": "false"}, cache_path=self.path("cache"),
            custom_patterns=["InPlace:0", "PadConvChannel:1", "fuse_bn_into_conv:0"],
            opaque_blobs={"a": "b"}, show_compilation_progress_bar=False,
            compilation_progress_logger=lambda value, most: None, enable_engine_caching=True,
            serialize_ir=True, serialized_ir_dest=self.path("ir.json"))
        options = CompilerOptions.from_dict(values)
        self.assertEqual(set(values), set(options.to_dict()))
        executable = Compiler.compile(DIGITS, ["logits"], options)
        expected = poprt.Session(DIGITS).call({"image": images()})[0]
        np.testing.assert_allclose(executable.session().call({"image": images()})[0], expected,
                                   rtol=1e-4, atol=1e-4)
        with open(self.path("ir.json")) as file:
            graphs = json.load(file)
        self.assertIn("Conv", [node["type"] for node in graphs["main"]])
        self.assertTrue(os.listdir(self.path("cache")))

    def test_wrong_names_and_values(self):
        options = CompilerOptions()
        with self.assertRaises(AttributeError):
            options.num_ipu = 2
        with self.assertRaises(AttributeError):
            options.num_ipu
        for name, value in (("num_ipus", "2"), ("num_ipus", True), ("constant_weights", "yes"),
                            ("ipu_version", 2), ("custom_patterns", "InPlace"),
                            ("available_memory_proportion", "0.5"),
                            ("compilation_progress_logger", 3)):
            with self.assertRaises(TypeError):
                setattr(options, name, value)
        with self.assertRaisesRegex(ValueError, "num_io_tiles"):
            CompilerOptions.from_dict({"num_iotiles": 3})
        with self.assertRaises(poprt.InvalidArgument):
            Compiler.compile(DIGITS, None, CompilerOptions.from_dict({"partials_type": "double"}))
        with self.assertRaises(poprt.NotFound):
            Compiler.compile(DIGITS, None, CompilerOptions.from_dict({"custom_patterns": ["In"]}))
        with self.assertRaises(poprt.InvalidArgument):
            Compiler.compile(DIGITS, None, CompilerOptions.from_dict(
                {"custom_transform_applier_settings": {"Fwd7": ["A"]}}))
        with self.assertRaises(ValueError):
            Compiler.compile(DIGITS, None, CompilerOptions.from_dict({"serialize_ir": True}))
        with self.assertRaises(TypeError):
            Compiler.compile(DIGITS, None, 3)

    def test_copies(self):
        options = CompilerOptions.from_dict({"num_ipus": 2, "custom_patterns": ["InPlace:0"]})
        self.assertEqual(pickle.loads(pickle.dumps(options)), options)
        self.assertNotEqual(options, CompilerOptions())
        self.assertIn("num_ipus", repr(options))
        CompilerOptions().custom_patterns.append("x")
        self.assertEqual(CompilerOptions().custom_patterns, [])


class Compiling(Folder):
    def test_models_of_each_kind(self):
        model = onnx.load(DIGITS)
        expected = poprt.Session(DIGITS).call({"image": images()})[0]
        for source in (DIGITS, model, model.SerializeToString(), poprt.Model.load(DIGITS)):
            executable = Compiler.compile(model=source, outputs=["logits"],
                                          options=CompilerOptions())
            self.assertIsInstance(executable, poprt.Executable)
            np.testing.assert_array_equal(executable.session().call({"image": images()})[0],
                                          expected)
        with self.assertRaises(FileNotFoundError):
            Compiler.compile("no such file", None)
        with self.assertRaises(TypeError):
            Compiler.compile(3, None)

    def test_outputs(self):
        inner = onnx.load(DIGITS).graph.node[0].output[0]
        executable = Compiler.compile(DIGITS, [inner])
        self.assertEqual([o.name for o in executable.outputs], [inner])
        executable = Compiler.compile(DIGITS, ["logits", inner])
        self.assertEqual({o.name for o in executable.outputs}, {"logits", inner})
        with self.assertRaises(poprt.NotFound):
            Compiler.compile(DIGITS, ["nothing"])
        with self.assertRaises(ValueError):
            Compiler.compile(DIGITS, [])

    def test_progress(self):
        calls = []
        options = CompilerOptions()
        options.compilation_progress_logger = lambda value, most: calls.append((value, most))
        Compiler.compile(DIGITS, None, options)
        self.assertGreater(len(calls), 5)
        self.assertTrue(all(0 <= value <= most for value, most in calls))

    def test_export(self):
        path = self.path("a.popef")
        Compiler.compile_and_export(DIGITS, ["logits"], path, CompilerOptions())
        self.assertEqual([i.name for i in poprt.Executable(path).inputs], ["image"])
        stream = io.BytesIO()
        Compiler.compileAndExport(DIGITS, None, stream)
        self.assertEqual(poprt.Executable(stream.getvalue()).outputs[0].name, "logits")
        report = Compiler.compile_and_get_summary_report(DIGITS, None, CompilerOptions())
        self.assertIn("poprt.NhwcConv", report)
        self.assertGreater(
            len(Compiler.compile_and_get_summary_report(DIGITS, None, None, reset_profile=False)),
            len(report))

    def test_opaque_blobs(self):
        path = self.path("a.popef")
        options = CompilerOptions.from_dict({"opaque_blobs": {"a": "text"}})
        Compiler.compile_and_export(DIGITS, None, path, options)
        executable = poprt.compiler.Executable(path)
        self.assertEqual(executable.get_opaque_blobs(), {"a": "text"})
        executable.append_opaque_blobs({"b": b"\xff\0"})
        executable.appendOpaqueBlobs(("a", "other"))
        executable.append_opaque_blobs("c", "")
        again = pickle.loads(pickle.dumps(executable))
        self.assertEqual(again.getOpaqueBlobs(), {"a": "other", "b": b"\xff\0", "c": ""})
        again.save(self.path("folder/"))
        third = poprt.Executable(self.path("folder"))
        third.save(self.path("b.popef"))  # blobs that were not read are kept
        fourth = poprt.Executable.load(self.path("b.popef"))
        self.assertEqual(len(fourth.get_opaque_blobs()), 3)
        np.testing.assert_array_equal(fourth.session().call({"image": images()})[0],
                                      executable.session().call({"image": images()})[0])
        for bad in ({"": "x"}, {"a": 3}, {3: "x"}):
            with self.assertRaises(TypeError):
                executable.append_opaque_blobs(bad)

    def test_popef_model(self):
        executable = Compiler.compile(DIGITS, None)
        model = executable.getPopefModel()
        self.assertEqual(model.metadata().anchors()[0].name(), "image")
        self.assertEqual(model.to_bytes(), executable.to_bytes())

    def test_a_file_in_parts(self):
        data = Compiler.compile(DIGITS, None).to_bytes()
        row = next(r for r in poprt._core.popef_bytes(data, False, False) if r[0] == 2)
        for name, part in (("a", data[:row[3]]), ("b", data[row[3]:])):
            with open(self.path(name), "wb") as file:
                file.write(part)
        executable = poprt.Executable([self.path("a"), self.path("b")])
        self.assertEqual(executable.inputs[0].name, "image")


class Backends(Folder):
    def test_sessions(self):
        expected = poprt.Session(DIGITS).call({"image": images()})[0]
        session = poprt.backend.get_session(DIGITS, 1, "poprt", self.path(""),
                                            {"partials_type": "float"}, export_popef=True)
        self.assertIs(session.load(), session)
        inputs, outputs = session.get_io_info()
        self.assertEqual(inputs, {"image": (["batch", 1, 8, 8], np.dtype(np.float32))})
        self.assertEqual(outputs["logits"][1], np.float32)
        result = session.run(["logits"], {"image": images()})
        self.assertIsInstance(result, list)
        np.testing.assert_array_equal(result[0], expected)
        backend = poprt.Backend(self.path("executable.popef"), runtime_options={"threads": 2})
        np.testing.assert_array_equal(backend.run(None, {"image": images()})[0], expected)
        model = poprt.Converter(input_shape={"image": [4, 1, 8, 8]}).convert(DIGITS)
        backend = poprt.Backend(model, runtime_options=poprt.runtime.RuntimeConfig())
        np.testing.assert_allclose(backend.run(["logits"], {"image": images()})[0], expected,
                                   rtol=1e-4, atol=1e-4)
        backend.close()
        with self.assertRaises(ValueError):
            poprt.backend.get_session(DIGITS, backend="other")
        with self.assertRaises(ValueError):
            poprt.backend.get_session(DIGITS, options={"nonsense": 1})

    def test_tensorflow(self):
        x = np.linspace(-1, 1, 120, dtype=np.float32).reshape(2, 4, 5, 3)
        session = poprt.backend.get_session(NET, backend="tensorflow")
        self.assertEqual(list(session.get_io_info()[1]), ["b:0"])
        np.testing.assert_array_equal(session.run(None, {"x:0": x})[0], -np.maximum(x, 0))
        with self.assertRaises(poprt.ParseError):
            poprt.backend.get_session(DIGITS, backend="tensorflow").load()

    def test_onnxruntime_falls_back(self):
        try:
            import onnxruntime  # noqa: F401
        except ImportError:
            with self.assertWarns(UserWarning):
                session = poprt.backend.get_session(DIGITS, backend="onnxruntime")
        else:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                session = poprt.backend.get_session(DIGITS, backend="onnxruntime")
        self.assertEqual(session.run(None, {"image": images()})[0].shape, (8, 10))

    def test_ort_backend(self):
        backend = poprt.backend.ORTBackend(DIGITS, providers=["X"], lazy_load=True)
        self.assertIsNone(backend._session)
        self.assertEqual(backend.get_inputs()[0].name, "image")
        self.assertEqual(backend.run(["logits"], {"image": images()})[0].shape, (8, 10))
        self.assertIsNotNone(poprt.backend.ORTBackend(DIGITS)._session)
        with self.assertRaises(poprt.Error):
            poprt.backend.ORTBackend(DIGITS, nonsense=1)

    def test_output_types_can_be_those_of_the_model(self):
        half = poprt.Converter(precision="fp16").convert(DIGITS)
        backend = poprt.Backend(half, align_output_dtype=True)
        self.assertEqual(backend.run(None, {"image": images().astype(np.float16)})[0].dtype,
                         np.float16)


class Tensorflow(Folder):
    """Models of TensorFlow and TFLite are accepted where models of ONNX are."""

    def test_frontend(self):
        model = poprt.frontend.get_frontend(SAVED, framework="tensorflow").load_model()
        self.assertIsInstance(model, onnx.ModelProto)
        self.assertEqual(model.opset_import[0].version, 11)
        self.assertEqual([v.name for v in model.graph.input], ["ids"])
        model = poprt.frontend.TensorflowFrontend(
            SAVED, saved_model=True, signature_def="serving_default", tag=["serve"], opset=18,
            outputs=["y"]).load_model()
        self.assertEqual([v.name for v in model.graph.output], ["y"])
        self.assertEqual(model.opset_import[0].version, 18)

    def test_frontend_of_a_graph(self):
        model = poprt.frontend.TensorflowFrontend(
            NET, inputs=["x:0[1,4,5,3]"], outputs="a,b", inputs_as_nchw=["x:0"],
            outputs_as_nchw="a:0").load_model()
        shapes = [[dim.dim_value for dim in value.type.tensor_type.shape.dim]
                  for value in (model.graph.input[0], *model.graph.output)]
        self.assertEqual(shapes, [[1, 3, 4, 5], [1, 3, 4, 5], [1, 4, 5, 3]])

    def test_frontend_refuses(self):
        frontend = poprt.frontend.TensorflowFrontend
        for options in ({"saved_model": True}, {"signature_def": "x"}, {"tag": ""},
                        {"outputs": ["z"]}):
            with self.assertRaises(poprt.Error):
                frontend(NET, **options).load_model()
        with self.assertRaises(poprt.NotFound):
            frontend(SAVED, tag="").load_model()
        with self.assertRaises(TypeError):
            frontend(NET, output="b")
        with self.assertRaises(poprt.ParseError):
            frontend(DIGITS).load_model()

    def test_paths(self):
        x = np.ones((1, 4, 5, 3), np.float32)
        with open(NET, "rb") as file:
            data = file.read()
        for source in (NET, data):
            result = poprt.InferenceSession(source, graph_outputs="a").run(None, {"x:0": x})
            np.testing.assert_array_equal(result[0], x)
        ids = np.array([0, 1], np.int32)
        first = poprt.Session(SAVED).run({"ids": ids})
        self.assertEqual(first["y"].shape, (2, 4))
        converted = poprt.Converter(convert_version=18).convert(SAVED)
        second = poprt.Session(converted).run({"ids": ids})
        np.testing.assert_allclose(second["y"], first["y"], rtol=1e-6)
        third = Compiler.compile(SAVED, ["y"]).session().run({"ids": ids})
        np.testing.assert_allclose(third["y"], first["y"], rtol=1e-6)
        checkpoint = os.path.join(FIXTURES, "tensorflow", "checkpoint", "model")
        model = poprt.Model.load(checkpoint, graph_outputs="y")
        self.assertEqual([row.name for row in model.outputs], ["y:0"])
        control = poprt.Model.load(os.path.join(FIXTURES, "tflite", "control.tflite"))
        self.assertEqual(len(control.inputs), 2)


class Small(unittest.TestCase):
    def test_floats_of_8_bits(self):
        convert = poprt.utils.convert_float_to_uint8
        vectors = ((0.75, "F143", 0, 0x3c), (0.25, "F152", 0, 0x38), (0.75, "F143", 2, 0x2c),
                   (0.75, "F143", -1, 0x44), (0.25, "F152", 3, 0x2c), (250, "F143", 0, 0x7f),
                   (70000, "F152", 0, 0x7f), (np.nan, "F143", 0, 0x80), (np.inf, "F143", 0, 0x80),
                   (-0.0, "F143", 0, 0), (-0.75, "F143", 0, 0xbc), (240, "F143", 0, 0x7f),
                   (2.0**-10, "F143", 0, 1), (2.0**-11, "F143", 0, 0),
                   (1.5 * 2.0**-10, "F143", 0, 2))
        for value, format, scale, code in vectors:
            result = convert(np.array([value], np.float32), format, scale)
            self.assertEqual((result.dtype, int(result[0])), (np.uint8, code), value)
        codes = np.array([c for c in range(256) if c != 0x80], np.uint8)
        for format in ("F143", "F152"):
            numbers = poprt.utils.convert_uint8_to_float(codes, format, 1)
            np.testing.assert_array_equal(convert(numbers, format, 1), codes)
        with self.assertRaises(ValueError):
            convert(codes, "F144", 0)
        with self.assertRaises(ValueError):
            convert(codes, "F143", 32)

    def test_inputs_of_a_model(self):
        model = onnx.load(DIGITS)
        shapes, dtypes = poprt.utils.get_input_info_from_model_proto(model)
        self.assertEqual(shapes, {"image": ["batch", 1, 8, 8]})
        self.assertEqual(dtypes, {"image": np.dtype(np.float32)})
        self.assertEqual(poprt.utils.onnx_tensor_dtype_to_np_dtype(10), np.float16)
        with self.assertRaises(ValueError):
            poprt.utils.onnx_tensor_dtype_to_np_dtype(16)

    def test_lazy_import(self):
        lazy = poprt.utils.LazyImport("colorsys")
        sys.modules.pop("colorsys", None)
        self.assertNotIn("colorsys", sys.modules)
        self.assertEqual(lazy.rgb_to_hsv(0, 0, 0), (0.0, 0.0, 0))
        with self.assertRaises(ImportError):
            poprt.utils.LazyImport("no_such_module").name

    def test_operations(self):
        model = poprt.Converter(input_shape={"image": [1, 1, 8, 8]}).convert(DIGITS)
        flops = poprt.profile.get_model_flops(model, True)
        self.assertGreater(flops, 10**6)
        node = onnx.helper.make_node("MatMul", ["a", "b"], ["c"])
        count = poprt.profile.Profiler().get_profiler("MatMul")
        self.assertEqual(count(node, [[2, 3], [3, 4]], [[2, 4]]), 2 * 2 * 3 * 4)
        with self.assertRaises(ValueError):
            poprt.profile.Profiler().get_profiler("Gemm")(node, [], [])

    def test_frontends(self):
        frontend = poprt.frontend.get_frontend(os.path.dirname(DIGITS))
        self.assertEqual(frontend.load_model().graph.output[0].name, "logits")
        self.assertIsInstance(poprt.frontend.OnnxFrontend(DIGITS).load_model(), onnx.ModelProto)
        with self.assertRaises(ValueError):
            poprt.frontend.OnnxFrontend(FIXTURES).load_model()
        with self.assertRaises(ValueError):
            poprt.frontend.get_frontend("model", framework="other")

    def test_help_formatter(self):
        argparse = poprt._argparse.argparse
        parser = argparse.ArgumentParser(
            prog="x", formatter_class=poprt._argparse.PopHelpFormatter, description="a\n  b")
        parser.add_argument("--number", type=int, default=3, help="a number")
        parser.add_argument("--flag", action="store_true", help="a flag")
        text = parser.format_help()
        self.assertIn("a\n  b", text)
        self.assertIn("a number (default: 3)", text)
        self.assertNotIn("False", text)


if __name__ == "__main__":
    unittest.main()
