# SPDX-License-Identifier: MIT
"""Models as callers give them: a path, bytes, an object with SerializeToString, or ours."""

import os

from . import _core

_POPEF = b"POPEF-C\0"


def is_popef(data):
    """Tells whether bytes begin as a PopEF file does."""
    return bytes(data[:8]) == _POPEF


def _is_tensorflow(folder):
    """Tells whether a folder has a SavedModel, or a checkpoint of TensorFlow with its graph."""
    return any(name.startswith("saved_model.") or name.endswith(".meta")
               for name in os.listdir(folder))


def file_is_popef(path):
    """Tells whether a file, or the executable of a folder, is PopEF."""
    if os.path.isdir(path):
        return not _is_tensorflow(path)
    try:
        with open(path, "rb") as file:
            return is_popef(file.read(8))
    except OSError:
        return False


def is_proto(model):
    """Tells whether an object is a ModelProto, without importing onnx."""
    return hasattr(model, "SerializeToString") and hasattr(model, "graph")


def proto_bytes(model):
    """Returns the bytes of a ModelProto."""
    return model.SerializeToString()


def _save_large(model, folder):
    import onnx
    path = os.path.join(folder, "model.onnx")
    onnx.save_model(model, path, save_as_external_data=True)
    return path


def load_model(env, model, config=None):
    """Returns a Model of the extension."""
    if isinstance(model, _core.Model):
        return model
    if isinstance(model, (bytes, bytearray, memoryview)):
        return _core.Model.load_bytes(env, model, config)
    if isinstance(model, (str, os.PathLike)):
        return _core.Model.load_file(env, os.fspath(model), config)
    if is_proto(model):
        try:
            data = proto_bytes(model)
        except ValueError:  # more than 2 GiB
            import tempfile
            with tempfile.TemporaryDirectory() as folder:
                return _core.Model.load_file(env, _save_large(model, folder), config)
        return _core.Model.load_bytes(env, data, config)
    raise TypeError(f"a model is a path, bytes or an onnx.ModelProto, not a "
                    f"{type(model).__name__}")


def to_proto(model):
    """Returns a Model of the extension as an onnx.ModelProto."""
    import onnx
    try:
        data = model.to_bytes()
    except ValueError:  # LimitError: more than 2 GiB
        import tempfile
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.onnx")
            model.save_file(path, None)
            return onnx.load(path)
    proto = onnx.ModelProto()
    proto.ParseFromString(data)
    return proto
