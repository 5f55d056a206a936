# SPDX-License-Identifier: MIT
"""Readers of model files."""

import glob
import os

from .errors import Unsupported


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


class TensorflowFrontend:
    """PopRT's reader of TensorFlow models, which this package does not have."""

    def __init__(self, path, **kwargs):
        raise Unsupported("POPRT_E_UNSUPPORTED", "read", "", os.fspath(path),
                          "there is no reader for TensorFlow models: write the model as ONNX with "
                          "tf2onnx (python3 -m tf2onnx.convert), then read the .onnx file")


_FRONTENDS = {"onnx": OnnxFrontend, "tensorflow": TensorflowFrontend}


def get_frontend(path, framework="onnx", **kwargs):
    """Returns the frontend of a framework: "onnx" or "tensorflow"."""
    if framework not in _FRONTENDS:
        raise ValueError(f"no framework {framework!r}; accepted: {', '.join(_FRONTENDS)}")
    return _FRONTENDS[framework](path, **kwargs)
