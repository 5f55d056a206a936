# SPDX-License-Identifier: MIT
"""Conversion of ONNX models, with the arguments of PopRT."""

import json
import logging
import os
import sys
import tempfile

from . import _core, _env, _source
from . import config as _config
from .errors import Unsupported
from .model import Model
from .passes import base_pass, pass_manager
from .passes._library import pack_text

_LEVELS = {-1: logging.CRITICAL, 0: logging.INFO, 1: logging.ERROR, 2: logging.WARNING,
           3: logging.INFO, 4: logging.DEBUG, 5: logging.DEBUG}
_USUAL_OPSET = 11


def _words(value):
    """A list of words of a list, or of a text with commas; blanks around words are left out."""
    if value is None:
        return []
    items = value.split(",") if isinstance(value, str) else list(value)
    return [item.strip() if isinstance(item, str) else item for item in items
            if not isinstance(item, str) or item.strip()]


def _list(value):
    return ",".join(str(item) for item in _words(value)) or None


def _dict(value, name):
    if value is None:
        return None
    if not isinstance(value, dict):
        raise TypeError(f"{name} is a dict, not a {type(value).__name__}")
    return json.dumps({key: list(item) if isinstance(item, tuple) else item
                       for key, item in value.items()})


def _pack(value):
    if value is None:
        return None
    if not isinstance(value, dict):
        raise TypeError(f"pack_args is a dict, not a {type(value).__name__}")
    return json.dumps({key: pack_text(key, item) for key, item in value.items()})


def _groups(value):
    """apply_hcsr: a dict of (type, shape) and number, or a list of (type, shape[, number])."""
    if value is None:
        return None
    if isinstance(value, dict):
        value = [(*key, number) for key, number in value.items()]
    return json.dumps([[str(row[0]), list(row[1]), *row[2:]] for row in value])


def _shapes(value):
    if value is None:
        return None
    if not isinstance(value, dict):
        raise TypeError(f"input_shape is a dict of names and lists, not a {type(value).__name__}")
    return json.dumps({name: [int(dim) for dim in dims] for name, dims in value.items()})


class _Bar:
    """A progress bar on stderr, if that is a terminal."""

    def __init__(self, title, steps):
        self._title, self._steps, self._shown = title, steps, None

    def __call__(self, stage, done, total):
        step = self._steps * done // total if total else 0
        if step != self._shown:
            self._shown = step
            filled = 20 * step // self._steps
            bar = "#" * filled + "-" * (20 - filled)
            sys.stderr.write(f"\r{self._title}: {100 * step // self._steps:3d}%|{bar}| "
                             f"{step}/{self._steps}")
            sys.stderr.flush()
        return False

    def close(self):
        if self._shown is not None:
            sys.stderr.write("\n")


class Converter:
    """Converts models: fixes shapes, optimises, changes the precision, and writes an opset.

    The arguments are those of the command line, see ``poprt --help``. ``input_shape`` is a dict of
    names and lists; ``used_passes`` a list of names and passes, which run in this order after those
    of the conversion; ``convert_version`` the opset of the result: if it is 11, the default, and
    an operator does not exist there, the result has the next opset that has it, with a warning.
    """

    def __init__(self, *, input_shape=None, convert_version=11, precision="fp32", checkpoints=None,
                 eightbitsio=False, fp16_skip_op_types=None, skip_passes=None, used_passes=(),
                 check=False, disable_fast_norm=False, pack_args=None, fp8_skip_op_names=None,
                 fp8_params="F143,F143,0,0", quantize=False, enable_insert_remap=False,
                 enable_erf_gelu=False, serialize_matmul=None, serialize_matmul_add=None,
                 merge_matmul=None, merge_matmul_add=None, merge_moe=None,
                 remap_mode=("after_matmul",), max_tensor_size=-1, infer_shape_ahead=False,
                 enable_avoid_overflow_patterns=False, disable_progress_bar=False, batch_size=None,
                 batch_axis=None, remove_outputs=(), fold_periodic_initializer=False,
                 enable_compress_pattern=False, merge_if_with_same_cond=False, apply_hcsr=None,
                 logger=None):
        if (batch_size is None) != (batch_axis is None):
            raise ValueError("batch_size and batch_axis must be given together")
        precision = precision or "fp32"
        if quantize and precision in ("fp8", "fp8_weight"):
            precision = "fp16"  # quantizer.quantize chooses the formats, and makes 8-bit operators
        self._version = int(convert_version)
        self._bar = not disable_progress_bar
        self._logger = logger
        self._passes = [pass_manager.make(used) for used in _words(used_passes)]
        #: The options of the library that the arguments set.
        self.config = _config.Config({
            "input_shape": _shapes(input_shape), "precision": precision,
            "checkpoints": _list(checkpoints), "eightbitsio": eightbitsio,
            "fp16_skip_op_types": _list(fp16_skip_op_types), "skip_passes": _list(skip_passes),
            "check": check, "disable_fast_norm": disable_fast_norm,
            "pack_args": _pack(pack_args),
            "fp8_skip_op_names": _list(fp8_skip_op_names), "fp8_params": _list(fp8_params),
            "enable_insert_remap": enable_insert_remap, "enable_erf_gelu": enable_erf_gelu,
            "serialize_matmul": _dict(serialize_matmul, "serialize_matmul"),
            "serialize_matmul_add": _dict(serialize_matmul_add, "serialize_matmul_add"),
            "merge_matmul": _list(merge_matmul), "merge_matmul_add": _list(merge_matmul_add),
            "merge_moe": _list(merge_moe), "remap_mode": _list(remap_mode),
            "max_tensor_size": max_tensor_size, "infer_shape_ahead": infer_shape_ahead,
            "enable_avoid_overflow_patterns": enable_avoid_overflow_patterns,
            "batch_size": batch_size, "batch_axis": batch_axis,
            "remove_outputs": _list(remove_outputs),
            "fold_periodic_initializer": fold_periodic_initializer,
            "enable_compress_pattern": enable_compress_pattern,
            "merge_if_with_same_cond": merge_if_with_same_cond, "apply_hcsr": _groups(apply_hcsr),
        })

    def _log(self, level, module, text):
        self._logger.log(_LEVELS.get(level, logging.INFO), "%s", text)

    def convert(self, model):
        """Returns the converted model as an onnx.ModelProto. ``model`` is a ModelProto, or
        bytes or a path of ONNX, TensorFlow or TFLite, and is not changed."""
        prepared = pass_manager.Prepared(self._passes, False)
        bar = _Bar("PopRT conversion", 5) if self._bar and sys.stderr.isatty() else None
        env = prepared.env = _env.environment(
            progress=bar, passes=prepared.records, log=self._log if self._logger else None)
        config = _config.Config(self.config)
        config["passes"] = ",".join(name for name, _ in prepared.entries) or None
        handle = config.handle(env)
        core = _source.load_model(env, model)
        manager = _core.PassManager(env)
        manager.add_pipeline("convert", handle)
        try:
            manager.run(core)
        finally:
            if bar is not None:
                bar.close()
        return self._write(env, core)

    def _write(self, env, core):
        import onnx
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.onnx")
            version, reason = self._version, None
            while True:
                try:
                    core.save_file(path, _config.Config(convert_version=version).handle(env))
                    break
                except Unsupported as error:
                    if self._version != _USUAL_OPSET or version > 100:
                        raise
                    reason = reason or error
                    version += 1
                except ValueError:  # newer than the newest known opset: the model's own
                    if reason is None:
                        raise
                    core.save_file(path, None)
                    break
            if reason is not None:
                (self._logger or logging.getLogger("poprt")).warning(
                    "the model is written for a newer opset than %d: %s", _USUAL_OPSET, reason)
            return onnx.load(path)


class Sharder:
    """Marks nodes with devices and stages of a pipeline: dicts of names of nodes and numbers."""

    def __init__(self, sharding_info, pipelining_info=None):
        self._pass = base_pass.Pass.get_pass("manual_sharding", sharding_info, pipelining_info)

    def run(self, model):
        """Returns the marked model as an onnx.ModelProto."""
        return self._pass.run(model)


class MFConverter:
    """Makes one model of several: see ``poprt.Model.fuse``."""

    def convert(self, models):
        """Returns the fused model as an onnx.ModelProto."""
        return Model.fuse([Model.load(model) for model in models]).to_proto()
