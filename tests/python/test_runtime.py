# SPDX-License-Identifier: MIT
"""Runners and devices: poprt.runtime, model_runtime; runner.c of the extension."""
import gc
import json
import os
import subprocess
import sys
import tempfile
import threading
import unittest
from datetime import timedelta

import numpy as np

import model_runtime
import popef
import poprt
from poprt import _core, runtime

FIXTURES = os.environ["FIXTURES"]
DIGITS = os.path.join(FIXTURES, "digits", "model.onnx")
IMAGES = np.load(os.path.join(FIXTURES, "digits", "images.npy"))[:32].astype(np.float32)


def compiled(batch=4, **options):
    model = poprt.Model.load(DIGITS)
    model.set_input_shape("image", (batch, 1, 8, 8))
    return model.compile(strassen=False, **options)


def logits(count):
    return {"logits": np.zeros((count, 10), np.float32)}


class Runs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.executable = compiled()
        cls.expected = np.concatenate(
            [cls.executable.session().call({"image": IMAGES[i:i + 4]})[0]
             for i in range(0, 32, 4)])

    def test_results_are_written_in_place(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.popef")
            self.executable.save(path)
            for source in (path, self.executable, [path], popef.ModelBuilder(path).createModel()):
                runner = runtime.Runner(source)
                self.assertIsInstance(runner, runtime.ModelRunner)
                for count in (4, 8, 32):
                    outputs = logits(count)
                    array = outputs["logits"]
                    self.assertIsNone(runner.execute({"image": IMAGES[:count]}, outputs))
                    self.assertIs(outputs["logits"], array)
                    np.testing.assert_array_equal(array, self.expected[:count])
                runner.close()
        with self.assertRaises(ValueError):
            runner.execute({"image": IMAGES[:4]}, logits(4))

    def test_views_and_buffers(self):
        runner = runtime.ModelRunner(self.executable)
        inputs, outputs = runtime.InputMemoryView(), runtime.OutputMemoryView()
        inputs["image"] = IMAGES[:4].tobytes()
        outputs["logits"] = np.zeros((4, 10), np.float32)
        runner.execute(inputs, outputs)
        np.testing.assert_array_equal(outputs["logits"], self.expected[:4])
        strided = np.zeros((4, 1, 8, 16), np.float32)[..., ::2]
        strided[:] = IMAGES[:4]
        runner.execute({"image": strided}, outputs)
        np.testing.assert_array_equal(outputs["logits"], self.expected[:4])

    def test_descriptions(self):
        runner = runtime.Runner(self.executable)
        image, = runner.get_execute_inputs()
        self.assertEqual((image.name, image.shape, image.size_in_bytes),
                         ("image", [4, 1, 8, 8], 1024))
        self.assertEqual(image.numpy_data_type(), np.float32)
        self.assertEqual(image.data_type, popef.DataType.F32)
        self.assertFalse(image.popef_contains_tensor_data)
        np.zeros(image.shape, dtype=image.numpy_data_type())
        image.shape.append(3)
        self.assertEqual(len(runner.getExecuteInputs()[0].shape), 4)
        self.assertEqual([o.name for o in runner.get_execute_outputs()], ["logits"])
        self.assertEqual([i.name for i in runner.get_model_inputs()], ["image"])
        self.assertEqual(runner.get_model_outputs()[0].shape, [4, 10])

    def test_many_requests(self):
        runner = runtime.Runner(self.executable)
        arrays = [logits(4) for _ in range(200)]
        futures = [runner.execute_async({"image": IMAGES[4 * (i % 8):4 * (i % 8) + 4]}, outputs)
                   for i, outputs in enumerate(arrays)]
        for i, future in enumerate(futures):
            self.assertTrue(future.wait())
            self.assertTrue(future.done())
            np.testing.assert_array_equal(future.get()["logits"],
                                          self.expected[4 * (i % 8):4 * (i % 8) + 4])
        self.assertEqual(runner.statistics()["finished"], 200)

    def test_nobody_needs_to_wait(self):
        runner = runtime.Runner(self.executable)
        for _ in range(50):
            runner.executeAsync({"image": IMAGES[:4].copy()}, logits(4))
        gc.collect()
        outputs = logits(4)
        runner.execute({"image": IMAGES[:4]}, outputs)
        np.testing.assert_array_equal(outputs["logits"], self.expected[:4])
        last = runner.execute_async({"image": IMAGES[:4]}, logits(4))
        del runner
        gc.collect()
        self.assertTrue(last.wait())

    def test_threads(self):
        runner = runtime.Runner(self.executable)
        failures = []

        def client(first):
            for _ in range(50):
                outputs = logits(4)
                runner.execute({"image": IMAGES[first:first + 4]}, outputs)
                if not np.array_equal(outputs["logits"], self.expected[first:first + 4]):
                    failures.append(first)

        threads = [threading.Thread(target=client, args=(4 * i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_wrong_data(self):
        runner = runtime.Runner(self.executable)
        for inputs, outputs, error in (
                ({"image": IMAGES[:4].astype(np.int64)}, logits(4), poprt.InvalidArgument),
                ({"image": IMAGES[:3]}, logits(3), poprt.InvalidArgument),
                ({"image": IMAGES[:8]}, logits(4), poprt.InvalidArgument),
                ({"imag": IMAGES[:4]}, logits(4), poprt.NotFound),
                ({}, logits(4), poprt.NotFound), ({"image": IMAGES[:4]}, {}, poprt.NotFound),
                ({"image": IMAGES[:4]}, {"logits": b"x" * 160}, ValueError),
                ({"image": IMAGES[:4]}, {"logits": np.zeros((4, 20), np.float32)[:, ::2]},
                 ValueError)):
            with self.assertRaises(error):
                runner.execute(inputs, outputs)
            with self.assertRaises(error):
                runner.execute_async(inputs, outputs).wait()
        config = runtime.RuntimeConfig()
        config.validate_io_params = False
        outputs = {**logits(4), "other": np.zeros(3)}
        runtime.Runner(self.executable, config).execute({"image": IMAGES[:4]}, outputs)
        np.testing.assert_array_equal(outputs["logits"], self.expected[:4])

    def test_dynamic_batches(self):
        config = runtime.RuntimeConfig()
        config.batching_dim = 0
        config.timeout_ns = 300_000
        runner = runtime.Runner(self.executable, config)
        for count in (1, 4, 7):
            outputs = logits(count)
            runner.execute({"image": IMAGES[:count]}, outputs)
            np.testing.assert_array_equal(outputs["logits"], self.expected[:count])
        self.assertGreater(runner.statistics()["padding"], 0)

    def test_requests_can_be_cancelled(self):
        config = runtime.RuntimeConfig()
        config.batching_dim = 0
        config.timeout_ns = 0  # wait until the batch is full
        runner = runtime.Runner(self.executable, config)
        future = runner.execute_async({"image": IMAGES[:1]}, logits(1))
        self.assertFalse(future.wait(0.02))
        self.assertFalse(future.done())
        future.cancel()
        with self.assertRaises(poprt.Cancelled):
            future.wait()
        other = runner.execute_async({"image": IMAGES[:1]}, logits(1))
        runner.close()
        with self.assertRaises(poprt.Cancelled):
            other.wait()

    def test_ctrl_c(self):
        code = ("import os, signal, threading, sys, numpy as np, poprt\n"
                "from poprt import runtime\n"
                "config = runtime.RuntimeConfig()\n"
                "config.batching_dim, config.timeout_ns = 0, 0\n"
                "model = poprt.Model.load(sys.argv[1])\n"
                "model.set_input_shape('image', (4, 1, 8, 8))\n"
                "runner = runtime.Runner(model.compile(), config)\n"
                "threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
                "try:\n"
                "    runner.execute({'image': np.zeros((1, 1, 8, 8), np.float32)},\n"
                "                   {'logits': np.zeros((1, 10), np.float32)})\n"
                "except KeyboardInterrupt:\n"
                "    runner.close()\n"
                "    print('stopped')\n")
        done = subprocess.run([sys.executable, "-c", code, DIGITS], capture_output=True, text=True,
                              timeout=30)
        self.assertEqual(done.stdout, "stopped\n", done.stderr)


class Kinds(unittest.TestCase):
    def test_light_runner_replaces_weights(self):
        executable = compiled(constant_weights=False)
        config = runtime.LightRunnerConfig()
        config.replica_to_device = runtime.ReplicaIdToDevice()
        config.replica_to_device[0] = runtime.DeviceManager().get_device(1)
        runner = runtime.LightRunner(executable, config)
        weights = [i for i in runner.get_model_inputs() if i.popef_contains_tensor_data]
        self.assertEqual([i.name for i in runner.get_execute_inputs()], ["image"])
        self.assertGreater(len(weights), 5)
        first, second, third = logits(4), logits(4), logits(4)
        runner.execute({"image": IMAGES[:4]}, first)
        last = next(w for w in weights if w.shape == [10])
        runner.set_input_anchor(last.name, np.full(10, 7, last.numpy_data_type()))
        runner.execute({"image": IMAGES[:4]}, second)
        np.testing.assert_array_equal(first["logits"], second["logits"])
        runner.update_weights()
        runner.execute({"image": IMAGES[:4]}, third)
        self.assertGreater(np.abs(third["logits"] - first["logits"]).max(), 1)
        runner.stop()
        with self.assertRaises(poprt.StateError):
            runner.execute({"image": IMAGES[:4]}, second)
        runner.reload()
        runner.execute_async({"image": IMAGES[:4]}, second).wait()
        np.testing.assert_array_equal(third["logits"], second["logits"])
        with self.assertRaises(poprt.NotFound):
            runner.set_input_anchor("nothing", np.zeros(3))

    def test_fused_models(self):
        parts = [poprt.Model.load(DIGITS) for _ in range(2)]
        for part, batch in zip(parts, (2, 4)):
            part.set_input_shape("image", (batch, 1, 8, 8))
        config = runtime.RuntimeConfig()
        config.validate_io_params = False
        config.timeout_ns = 0
        runner = runtime.Runner(poprt.Model.fuse(parts).compile(), config)
        self.assertIsInstance(runner, runtime.ModelFusionRunner)
        for graph, batch in enumerate((2, 4)):
            outputs = {f"graph{graph}/logits": np.zeros((batch, 10), np.float32)}
            runner.execute({f"graph{graph}/image": IMAGES[:batch]}, outputs)
            expected = poprt.Session(DIGITS).call({"image": IMAGES[:batch]})[0]
            np.testing.assert_allclose(outputs[f"graph{graph}/logits"], expected, atol=1e-4)

    def packable(self):
        """y = x * 2 on [2, 8] tokens, with a mask that is not 0 for tokens."""
        b = _core.Builder(poprt._env.environment(), 13)
        x, mask = b.input("x", 1, (2, 8)), b.input("mask", 1, (2, 8))
        y = b.op("", "Mul", [x, mask], [], 1, None, ["y"])
        b.output(y[0])
        return poprt.Model(b.finish(), poprt._env.environment()).compile()

    def test_packed_samples(self):
        config = runtime.PackRunnerConfig(timeout_microseconds=1000, max_valid_num=4,
                                          dynamic_input_name="x")
        config.enable_input_single_row_mode("mask")
        config.algorithom = runtime.PackAlgorithm.first_fit
        self.assertIs(config.algorithm, runtime.PackAlgorithm.first_fit)
        runner = runtime.Runner(self.packable(), config)
        self.assertIsInstance(runner, runtime.PackRunner)
        self.assertEqual(runner.get_model_inputs()[0].shape, [2, 8])
        futures = []
        for length in (3, 5, 8, 2):
            inputs = {"x": np.arange(1, length + 1, dtype=np.float32),
                      "mask": np.ones(length, np.float32)}
            futures.append(runner.execute_async(inputs, {"y": np.zeros(length, np.float32)}))
        numbers = []
        for length, future in zip((3, 5, 8, 2), futures):
            y = future.get()["y"] / np.arange(1, length + 1)
            self.assertEqual(len(set(y)), 1)  # the number of the sample in its row
            numbers.append(int(y[0]))
        self.assertEqual(numbers[:3], [1, 2, 1])
        with self.assertRaises(poprt.Error):
            runtime.Runner(self.packable(), runtime.PackRunnerConfig())  # no time limit

    def test_host_concat(self):
        names = ["a", "b", "c"]
        b = _core.Builder(poprt._env.environment(), 13)
        values = [b.input(name, 1, (4, 1)) for name in names]
        total = b.op("", "Concat", values, [("axis", 1, 1)], 1, None, ["y"])
        b.output(total[0])
        model = poprt.Model(b.finish(), poprt._env.environment())
        model.run_pass("apply_host_concat_split", merged_inputs=[["fp32", [4, 1]]])
        runner = runtime.HostConcatRunner(model.compile(), runtime.HostConcatRunnerConfig())
        self.assertEqual([i.name for i in runner.get_execute_inputs()], names)
        self.assertEqual(len(runner.get_model_inputs()), 1)
        outputs = {"y": np.zeros((4, 3), np.float32)}
        inputs = {name: np.full((4, 1), i, np.float32) for i, name in enumerate(names)}
        runner.execute(inputs, outputs)
        np.testing.assert_array_equal(outputs["y"], np.tile(np.arange(3), (4, 1)))

    def test_choice_of_the_runner(self):
        executable = compiled()
        self.assertIsInstance(runtime.Runner(executable, runtime.LightRunnerConfig()),
                              runtime.LightRunner)
        config = runtime.RuntimeConfig()
        config.runner_type = runtime.RunnerType.PackRunner
        with self.assertRaises(ValueError):
            runtime.Runner(executable, config)
        config.runner_type = runtime.RunnerType.ModelFusionRunner
        with self.assertRaises(ValueError):
            runtime.Runner(executable, config)
        with self.assertRaises(TypeError):
            runtime.Runner(executable, 3)
        with self.assertRaises(TypeError):
            runtime.PackRunner(executable, runtime.RuntimeConfig())
        with self.assertRaises(poprt.Error):
            runtime.Runner("no such file")


class Settings(unittest.TestCase):
    def test_defaults_and_text(self):
        config = runtime.RuntimeConfig()
        values = json.loads(repr(config))
        self.assertEqual(list(values), sorted(values))
        for name, value in {"autoReset": False, "batchSizeTimeoutNS": 2**63 - 1,
                            "batchingDim": 2**32 - 1, "checkPackageHash": True,
                            "deviceWaitConfig.sleepTimeSec": 6, "deviceWaitConfig.timeoutSec": 1,
                            "ringBufferSizeMultiplier": 2, "runnerType": 0, "threadSafe": True,
                            "timeoutNS": 10**7, "validateIOParams": True,
                            "requestTracepointsBufferSize": 1000}.items():
            self.assertEqual(values[name], value, name)
        self.assertEqual(config, runtime.RuntimeConfig())
        config.timeout_ns = 3
        self.assertNotEqual(config, runtime.RuntimeConfig())

    def test_every_setting_reaches_the_runner(self):
        config = runtime.RuntimeConfig()
        for name, value in {"auto_reset": True, "batching_dim": 0, "timeout_ns": 5,
                            "flush_on_waiting_outputs": True, "thread_safe": False,
                            "batch_size_timeout_ns": 7, "is_batch_size_timeout_enabled": True,
                            "ring_buffer_size_multiplier": 3, "check_package_hash": False,
                            "validate_io_params": False}.items():
            setattr(config, name, value)
            self.assertEqual(config._config()[name], str(value).lower())
        self.assertEqual(runtime.Runner(compiled(), config).statistics()["capacity"], 12)
        pack = runtime.PackRunnerConfig(5, 6, "x", "info")
        pack.enable_padding_remove_mode("m", ["a", "b"])
        pack.enable_input_single_row_mode("n", "other", 2)
        pack.compile_batch_size = 3
        self.assertEqual(dict(pack._config()), {
            "timeout_microseconds": "5", "max_valid_num": "6", "dynamic_input_name": "x",
            "unpack_info_input_name": "other", "compile_batch_size": "3", "mask_name": "n",
            "dynamic_group": "a,b", "disable_data_across_rows": "true",
            "enable_padding_remove": "true", "delimiter_num": "2"})
        light = runtime.LightRunnerConfig()
        light.replica_to_device[1] = runtime.Device(0)
        self.assertEqual(json.loads(light._config()["replica_to_device"]), {"1": 0})
        concat = runtime.HostConcatRunnerConfig()
        concat.host_concat_config = {"m": runtime.HostConcatConfig("m", ["a", "b"], [2, 4], 32)}
        self.assertEqual(json.loads(concat._config()["host_concat_config"]),
                         {"m": {"input_tensor_names": ["a", "b"], "shape": [2, 4]}})

    def test_wrong_settings(self):
        config = runtime.RuntimeConfig()
        for name, value in (("timeout_ns", "3"), ("thread_safe", 1), ("batching_dim", True),
                            ("replica_to_device", [1]), ("runner_type", 0.5)):
            with self.assertRaises(TypeError):
                setattr(config, name, value)
        with self.assertRaises(AttributeError):
            config.timeout = 3
        with self.assertRaises(AttributeError):
            config.algorithm
        with self.assertRaises(TypeError):
            runtime.PackRunnerConfig("x")

    def test_settings_without_effect_are_noted_once(self):
        runtime._noted.discard("data_parallel_timeout_ns")
        config = runtime.RuntimeConfig()
        config.data_parallel_timeout_ns = 3
        with self.assertLogs("poprt", "INFO"):
            config._config()
        with self.assertNoLogs("poprt", "INFO"):
            config._config()

    def test_devices(self):
        manager = runtime.DeviceManager()
        self.assertEqual(manager.ipu_hardware_version(), "ipu21")
        self.assertGreaterEqual(manager.get_num_devices(), 1)
        self.assertEqual(manager.get_device(2).ipu_version(), "ipu21")
        self.assertEqual(manager.get_specific_device(0).id, 0)
        with self.assertRaises(poprt.NotFound):
            manager.get_specific_device(manager.get_num_devices())
        with self.assertRaises(ValueError):
            manager.get_device(0)


class ModelRuntime(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "a.popef")
        compiled().save(self.path)
        self.expected = compiled().session().call({"image": IMAGES[:4]})[0]

    def test_runner(self):
        config = model_runtime.ModelRunnerConfig()
        config.device_wait_config = model_runtime.DeviceWaitConfig(
            model_runtime.DeviceWaitStrategy.WAIT_WITH_TIMEOUT, timeout=timedelta(seconds=600),
            sleepTime=timedelta(seconds=1))
        config.replication_factor = 1
        for paths in (self.path, [self.path], model_runtime.PopefPaths(self.path),
                      popef.ModelBuilder(self.path).createModel()):
            runner = model_runtime.ModelRunner(paths, config=config)
            desc, = runner.getExecuteInputs()
            self.assertEqual((desc.name, desc.shape, desc.data_type, desc.size_in_bytes),
                             ("image", [4, 1, 8, 8], popef.DataType.F32, 1024))
            view = model_runtime.InputMemoryView()
            view["image"] = IMAGES[:4]
            result = runner.execute(view)
            found = np.frombuffer(result[runner.getExecuteOutputs()[0].name], dtype=np.float32)
            np.testing.assert_array_equal(found.reshape(4, 10), self.expected)
            runner.close()

    def test_given_outputs_and_futures(self):
        runner = model_runtime.ModelRunner(self.path)
        out = model_runtime.OutputMemoryView()
        out["logits"] = np.zeros((4, 10), np.float32)
        self.assertIs(runner.execute({"image": IMAGES[:4]}, out, 0), out)
        np.testing.assert_array_equal(out["logits"], self.expected)
        future = runner.executeAsync({"image": IMAGES[:8]})
        future.wait()
        self.assertEqual(list(future.keys()), ["logits"])
        self.assertEqual(np.frombuffer(future["logits"], np.float32).shape, (80,))
        with self.assertRaises(TypeError):
            model_runtime.ModelRunner(self.path, runtime.RuntimeConfig())


if __name__ == "__main__":
    unittest.main()
