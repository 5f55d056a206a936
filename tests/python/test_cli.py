# SPDX-License-Identifier: MIT
"""The command line of the Python package: poprt.cli, tool.c of the extension, dispatch.c."""
import os
import signal
import subprocess
import sys
import tempfile
import unittest

try:
    import onnx
except ImportError:
    print("the package onnx is missing (Debian: python3-onnx)")
    sys.exit(77)

import poprt.cli

DIGITS = os.path.join(os.environ["FIXTURES"], "digits", "model.onnx")

PASSES = '''
from poprt.passes import Pass, register

@register("cli_relu_to_tanh")
class ReluToTanh(Pass):
    """Replaces Relu by Tanh."""

    def run(self, onnx_model):
        onnx_model.graph.CopyFrom(self.traverse_graph(onnx_model.graph, self.transform))
        return onnx_model

    def transform(self, graph, is_main_graph):
        for node in graph.node:
            if node.op_type == "Relu":
                node.op_type = "Tanh"
        return graph

@register("cli_fails")
class Fails(Pass):
    def run(self, onnx_model):
        raise ArithmeticError("in the pass")
'''

SHAPES = '''
import onnx
from poprt.passes import ShapeFunc, get_dtype, get_shape, register_shape_func

@register_shape_func(["CliTwice"])
class Twice(ShapeFunc):
    def __call__(self, model, node):
        shape, dtype = get_shape(model, node.input[0]), get_dtype(model, node.input[0])
        if shape is None:
            return model, False
        model.graph.value_info.append(onnx.helper.make_tensor_value_info(
            node.output[0], dtype, [shape[0], 2 * shape[1]]))
        return model, True
'''


class CommandLine(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def run_tool(self, *arguments, module="poprt.cli", **kwargs):
        return subprocess.run([sys.executable, "-m", module, *arguments], capture_output=True,
                              text=True, cwd=self.folder, **kwargs)

    def converted(self, name="out.onnx"):
        return onnx.load(os.path.join(self.folder, name))

    def test_exit_status(self):
        done = self.run_tool("-v")
        self.assertEqual(done.returncode, 0)
        self.assertIn("PopRT version: " + poprt.__version__, done.stdout)
        self.assertEqual(self.run_tool("-i", "no_such.onnx").returncode, 1)
        wrong = self.run_tool("--no_such_option")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("--no_such_option", wrong.stderr)

    def test_conversion_and_popef(self):
        done = self.run_tool("--input_model", DIGITS, "--output_model", "out.onnx",
                             "--input_shape", "image=2,1,8,8", "--export_popef", "--run")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"Bs: 2\nLatency: [0-9.]+ms\nTput: [0-9]+\n")
        self.assertEqual(len(self.converted().graph.output), 1)
        self.assertTrue(os.path.exists(os.path.join(self.folder, "executable.popef")))

    def test_passes_of_a_python_file(self):
        self.write("passes.py", PASSES)
        listed = self.run_tool("--list_all_passes", "--custom_pass_config", "passes.py")
        self.assertIn("cli_relu_to_tanh\ncli_fails\n", listed.stdout)
        done = self.run_tool("-i", DIGITS, "--output_model", "out.onnx", "--custom_pass_config",
                             "passes.py", "--passes", "cli_relu_to_tanh")
        self.assertEqual(done.returncode, 0, done.stderr)
        types = [node.op_type for node in self.converted().graph.node]
        self.assertIn("Tanh", types)
        self.assertNotIn("Relu", types)
        failed = self.run_tool("-i", DIGITS, "--custom_pass_config", "passes.py", "--passes",
                               "cli_fails")
        self.assertEqual(failed.returncode, 1)
        self.assertIn("ArithmeticError: in the pass", failed.stderr)
        self.write("broken.py", "raise LookupError('while loading')")
        failed = self.run_tool("-i", DIGITS, "--custom_pass_config", "passes.py,broken.py")
        self.assertEqual(failed.returncode, 1)
        self.assertIn("LookupError: while loading", failed.stderr)

    def test_shape_functions_of_a_python_file(self):
        self.write("shapes.py", SHAPES)
        helper = onnx.helper
        nodes = [helper.make_node("CliTwice", ["x"], ["y"], domain="my.ops"),
                 helper.make_node("Relu", ["y"], ["z"])]
        graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", 1, ["n", 3])],
                                  [helper.make_tensor_value_info("z", 1, None)])
        model = helper.make_model(graph, opset_imports=[
            helper.make_opsetid("", 11), helper.make_opsetid("my.ops", 1)])
        model.ir_version = 6
        onnx.save(model, os.path.join(self.folder, "in.onnx"))
        done = self.run_tool("-i", "in.onnx", "--custom_shape_inference", "shapes.py",
                             "--input_shape", "x=4,3", "--output_model", "out.onnx")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(poprt.passes.get_shape(self.converted(), "z"), [4, 6])
        self.run_tool("-i", "in.onnx", "--input_shape", "x=4,3", "--output_model", "other.onnx")
        self.assertIsNone(poprt.passes.get_shape(self.converted("other.onnx"), "y"))

    def test_calls_in_the_process(self):
        path = self.write("in_process.py", PASSES.replace('"cli_', '"in_process_'))
        out = os.path.join(self.folder, "out.onnx")
        handler = signal.getsignal(signal.SIGINT)
        os.environ["POPRT_LOG_DEST"] = os.path.join(self.folder, "log")
        self.addCleanup(os.environ.pop, "POPRT_LOG_DEST")
        for _ in range(2):
            self.assertEqual(poprt.cli.main(
                ["-i", DIGITS, "--output_model", out, "--custom_pass_config", path, "--passes",
                 "in_process_relu_to_tanh", "--logging_level", "ERROR"]), 0)
            self.assertIn("Tanh", [node.op_type for node in onnx.load(out).graph.node])
            with self.assertRaisesRegex(ArithmeticError, "in the pass"):
                poprt.cli.main(["-i", DIGITS, "--output_model", out, "--custom_pass_config", path,
                                "--passes", "in_process_fails"])
            self.assertEqual(poprt.cli.main(["-i", "no such file"]), 1)
            with open(os.environ["POPRT_LOG_DEST"]) as file:
                self.assertIn("no such file", file.read())
            os.remove(os.environ["POPRT_LOG_DEST"])
        self.assertIs(signal.getsignal(signal.SIGINT), handler)

    def test_poprt_exec(self):
        code = "import poprt.cli, sys; sys.exit(poprt.cli.main(sys.argv[1:], 'poprt_exec'))"
        done = subprocess.run([sys.executable, "-c", code, "no_such_tool"], capture_output=True,
                              text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("poprt_run_popef", done.stderr)

    def test_ctrl_c(self):
        code = ("import os, signal, threading, sys, poprt.cli\n"
                "threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
                "sys.exit(poprt.cli._process('poprt'))")
        self.write("slow.py", PASSES.replace('raise ArithmeticError("in the pass")',
                                             "import time; time.sleep(30)"))
        done = subprocess.run([sys.executable, "-c", code, "-i", DIGITS, "--custom_pass_config",
                               "slow.py", "--passes", "cli_fails"], capture_output=True,
                              cwd=self.folder, timeout=20)
        self.assertEqual(done.returncode, 130)


if __name__ == "__main__":
    unittest.main()
