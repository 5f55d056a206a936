# SPDX-License-Identifier: MIT
"""8-bit floating point: formats and scales chosen by calibration data."""

import contextlib
import os
import tempfile

import numpy as np

from . import _core, _env, _source

_LOSSES = ("mse", "mae", "snr", "kld", "cos_dist", "gptq")


@contextlib.contextmanager
def samples(data):
    """Context of the path of samples of inputs, or None. ``data`` is None, a path, or a dict of
    names and arrays, for which there is a file while the context lasts."""
    if data is None or isinstance(data, (str, os.PathLike)):
        yield None if data is None else os.fspath(data)
        return
    if not isinstance(data, dict):
        raise TypeError("data_preprocess is a path, or a dict of names of inputs and arrays, not a "
                        f"{type(data).__name__}")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "samples.npz")
        np.savez(path, **{name: np.asarray(array) for name, array in data.items()})
        yield path


class FP8Quantizer:
    """Chooses the formats and scales of 8-bit floats for each Conv, MatMul and Gemm, and converts
    them. ``loss_type`` is the loss to minimise; quantize.log is written into ``output_dir``."""

    def __init__(self, output_dir, loss_type, data_preprocess=None, precision="fp8",
                 num_of_layers_keep_fp16=0, options=None):
        if precision not in ("fp8", "fp8_weight"):
            raise ValueError(f"precision {precision!r}; accepted: fp8, fp8_weight")
        if loss_type not in _LOSSES:
            raise ValueError(f"loss_type {loss_type!r}; accepted: {', '.join(_LOSSES)}")
        if loss_type == "gptq" and precision != "fp8_weight":
            raise ValueError("loss_type gptq needs the precision fp8_weight")
        if options:
            from .compiler import CompilerOptions
            if not isinstance(options, CompilerOptions):
                CompilerOptions.from_dict(options)
        self._output_dir = os.fspath(output_dir)
        self._data = data_preprocess
        self._options = [("convert_model", precision), ("calibration_loss_type", loss_type),
                         ("num_of_layers_keep_fp16", str(int(num_of_layers_keep_fp16))),
                         ("output_dir", self._output_dir)]

    def quantize(self, onnx_model, skip_op_names=()):
        """Returns the model with 8-bit operators, a ModelProto."""
        os.makedirs(self._output_dir, exist_ok=True)
        env = _env.environment()
        core = _source.load_model(env, onnx_model)
        manager = _core.PassManager(env)
        options = list(self._options)
        if skip_op_names:
            options.append(("skip_op_names", ",".join(skip_op_names)))
        manager.add("float_to_fp8", options)
        manager.add("final_check", [])
        with samples(self._data) as path:
            manager.set_reference(None, path)
            manager.run(core)
        return _source.to_proto(core)


def quantize(onnx_model, input_model, output_dir, data_preprocess=None, precision="fp8",
             quantize_loss_type="kld", num_of_layers_keep_fp16=0, options=None):
    """Returns a model with 8-bit operators, a ModelProto.

    ``onnx_model`` is the result of ``Converter(quantize=True)``, and ``input_model`` the model
    before it, whose inputs the samples of ``data_preprocess`` (a path, or a dict of names and
    arrays) must have. Without samples made-up data is used.
    """
    if input_model is not None and isinstance(data_preprocess, dict):
        names = {row[0] for row in _source.load_model(_env.environment(), input_model).io(0)}
        unknown = sorted(set(data_preprocess) - names)
        if unknown:
            raise ValueError("the model has no inputs of these samples: " + ", ".join(unknown))
    return FP8Quantizer(output_dir, quantize_loss_type, data_preprocess, precision,
                        num_of_layers_keep_fp16, options).quantize(onnx_model)
