# SPDX-License-Identifier: MIT
"""Readers of model files."""

import glob
import os

from . import config as _config
from .model import Model


class OnnxFrontend:
    """Reads an ONNX file, or the only .onnx file of a folder."""

    def __init__(self, path):
        self._path = os.fspath(path)

    def load_model(self):
        """Returns an onnx.ModelProto."""
        import onnx
        path = self._path
        if os.path.isdir(path):
            found = sorted(glob.glob(os.path.join(glob.escape(path), "*.onnx")))
            if len(found) != 1:
                raise ValueError(f"{path}: the folder has {len(found)} .onnx files; give one of "
                                 "them, or a folder with exactly one")
            path = found[0]
        return onnx.load(path)


def _names(value):
    """Names with commas between them, from a text or a list."""
    return value if value is None or isinstance(value, str) else ",".join(value)


class TensorflowFrontend:
    """Reads a SavedModel, a GraphDef, a checkpoint with its graph, or a TFLite file.

    The arguments are the options of ``poprt tf2onnx``: ``saved_model`` makes another format than a
    SavedModel an error; ``signature_def`` and ``tag`` choose its signature and graph, where an
    empty ``tag`` is the empty set of tags; ``inputs`` and ``outputs`` choose tensors, and
    ``inputs_as_nchw`` and ``outputs_as_nchw`` those that are images with the channels second, by
    lists of names or texts with commas; ``opset`` is the opset of the result, which is raised with
    a warning where an operator needs a newer one.
    """

    def __init__(self, path, *, saved_model=False, signature_def=None, tag=None, inputs=None,
                 outputs=None, opset=11, inputs_as_nchw=None, outputs_as_nchw=None):
        self._path = os.fspath(path)
        tags = _names(tag)
        self._config = _config.Config({
            "model_format": "saved_model" if saved_model else "tensorflow",
            "signature_def": signature_def, "tag": "''" if tags == "" else tags,
            "graph_inputs": _names(inputs), "graph_outputs": _names(outputs),
            "graph_opset": opset, "inputs_as_nchw": _names(inputs_as_nchw),
            "outputs_as_nchw": _names(outputs_as_nchw)})

    def load_model(self):
        """Returns an onnx.ModelProto."""
        return Model.load(self._path, self._config).to_proto()


_FRONTENDS = {"onnx": OnnxFrontend, "tensorflow": TensorflowFrontend}


def get_frontend(path, framework="onnx", **kwargs):
    """Returns the frontend of a framework: "onnx" or "tensorflow"."""
    if framework not in _FRONTENDS:
        raise ValueError(f"no framework {framework!r}; accepted: {', '.join(_FRONTENDS)}")
    return _FRONTENDS[framework](path, **kwargs)
