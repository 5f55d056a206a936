# SPDX-License-Identifier: MIT
"""ONNX's "light" models, whose weights are constants of one value, as cases for `poprt test`.

    light_cases.py FOLDER

They are part of the package onnx with their outputs; the input is what its backend tests make:
element i of n is i / n.
"""

import pathlib
import sys

import numpy as np
import onnx
from onnx import numpy_helper


def main():
    out = pathlib.Path(sys.argv[1])
    light = pathlib.Path(onnx.__file__).parent / "backend/test/data/light"
    for path in sorted(light.glob("*.onnx")):
        model = onnx.load(path)
        made = {i.name for i in model.graph.initializer}
        folder = out / path.stem
        (folder / "test_data_set_0").mkdir(parents=True, exist_ok=True)
        (folder / "model.onnx").write_bytes(path.read_bytes())
        inputs = [i for i in model.graph.input if i.name not in made]
        for k, value in enumerate(inputs):
            shape = [d.dim_value for d in value.type.tensor_type.shape.dim]
            count = int(np.prod(shape))
            data = (np.arange(count).reshape(shape) / count).astype(np.float32)
            tensor = numpy_helper.from_array(data, value.name)
            (folder / f"test_data_set_0/input_{k}.pb").write_bytes(tensor.SerializeToString())
        for k, value in enumerate(model.graph.output):
            tensor = onnx.TensorProto()
            tensor.ParseFromString((light / f"{path.stem}_output_{k}.pb").read_bytes())
            tensor.name = value.name
            (folder / f"test_data_set_0/output_{k}.pb").write_bytes(tensor.SerializeToString())


if __name__ == "__main__":
    main()
