# SPDX-License-Identifier: MIT
"""GraphTransformer: changes of a model before it is used."""

import os

from .errors import popart_exception


class GraphTransformer:
    """Holds a model, bytes or the path of a file, and changes it. Needs the package onnx."""

    def __init__(self, modelProtoOrFilename):
        import onnx
        if isinstance(modelProtoOrFilename, (bytes, bytearray)):
            self._model = onnx.load_model_from_string(bytes(modelProtoOrFilename))
        elif hasattr(modelProtoOrFilename, "SerializeToString"):
            self._model = modelProtoOrFilename
        else:
            path = os.fspath(modelProtoOrFilename)
            if not os.path.exists(path):
                raise popart_exception(f"the file {path!r} does not exist")
            self._model = onnx.load(path)

    def getModelProto(self):
        """The model as bytes."""
        return self._model.SerializeToString()

    # ---- graphs

    def _graphs(self, graph=None):
        graph = graph if graph is not None else self._model.graph
        yield graph
        for node in graph.node:
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    yield from self._graphs(attribute.g)

    def removeUnusedInputs(self):
        """Removes inputs that no node reads, and their contents."""
        graph = self._model.graph
        used = {name for g in self._graphs() for node in g.node for name in node.input}
        used |= {output.name for output in graph.output}
        for field in (graph.input, graph.initializer):
            for value in [value for value in field if value.name not in used]:
                field.remove(value)

    def prepareNodesForTraining(self):
        """Gives BatchNormalization the outputs that training needs."""
        for graph in self._graphs():
            for node in graph.node:
                if node.op_type == "BatchNormalization":
                    while len(node.output) < 5:
                        node.output.append(f"{node.output[0]}_{len(node.output)}")

    def convertInitializersToConstants(self, ids):
        """Makes initializers constants, which training does not change."""
        import onnx
        graph = self._model.graph
        found = {tensor.name: tensor for tensor in graph.initializer}
        for name in ids:
            if name not in found:
                raise popart_exception(f"the model has no initializer {name!r}")
            node = onnx.helper.make_node("Constant", [], [name], value=found[name])
            graph.node.insert(0, node)
            graph.initializer.remove(found[name])
            for value in [value for value in graph.input if value.name == name]:
                graph.input.remove(value)

    def convertAllFixedPointInitializersToConstants(self):
        """Makes all initializers of whole numbers constants."""
        import onnx
        floats = (onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16, onnx.TensorProto.DOUBLE,
                  onnx.TensorProto.BFLOAT16)
        self.convertInitializersToConstants(
            [t.name for t in self._model.graph.initializer if t.data_type not in floats])

    def saveInitializersExternally(self, ids, filename):
        """Writes initializers to a file, to which the model then refers."""
        found = {tensor.name: tensor for tensor in self._model.graph.initializer}
        missing = [name for name in ids if name not in found]
        if missing:
            raise popart_exception(f"the model has no initializer {missing[0]!r}")
        with open(os.path.expanduser(os.fspath(filename)), "wb") as file:
            for name in ids:
                tensor = found[name]
                raw = _raw(tensor)
                offset = file.tell()
                file.write(raw)
                tensor.ClearField("raw_data")
                for field in ("float_data", "int32_data", "int64_data", "double_data",
                              "uint64_data"):
                    tensor.ClearField(field)
                tensor.data_location = 1
                del tensor.external_data[:]
                for key, value in (("location", os.fspath(filename)), ("offset", offset),
                                   ("length", len(raw))):
                    entry = tensor.external_data.add()
                    entry.key, entry.value = key, str(value)

    # ---- types

    def _convert_types(self, before, after, clip=False):
        import numpy as np
        import onnx
        from onnx import numpy_helper
        numpy_after = onnx.helper.mapping.TENSOR_TYPE_TO_NP_TYPE[after]

        def change(tensor):
            if tensor.data_type != before:
                return
            array = numpy_helper.to_array(tensor)
            if clip:
                limits = np.iinfo(numpy_after)
                array = np.clip(array, limits.min, limits.max)
            elif np.issubdtype(numpy_after, np.integer) and array.size and \
                    (array.max() > np.iinfo(numpy_after).max or
                     array.min() < np.iinfo(numpy_after).min):
                raise popart_exception(f"the initializer {tensor.name!r} has numbers that do not "
                                       f"fit {np.dtype(numpy_after)}")
            tensor.CopyFrom(numpy_helper.from_array(array.astype(numpy_after), tensor.name))

        for graph in self._graphs():
            for tensor in graph.initializer:
                change(tensor)
            for value in list(graph.input) + list(graph.output) + list(graph.value_info):
                kind = value.type.tensor_type
                if kind.elem_type == before:
                    kind.elem_type = after
            for node in graph.node:
                for attribute in node.attribute:
                    if attribute.HasField("t"):
                        change(attribute.t)
                    if node.op_type == "Cast" and attribute.name == "to" and attribute.i == before:
                        attribute.i = after

    def convertFloatsToHalfs(self):
        """Makes float32 tensors float16."""
        self._convert_types(1, 10)

    def convertUINT8ToINT32(self):
        """Makes uint8 tensors int32."""
        self._convert_types(2, 6)

    def convertUINT16ToINT32(self):
        """Makes uint16 tensors int32."""
        self._convert_types(4, 6)

    def convertINT8ToINT32(self):
        """Makes int8 tensors int32."""
        self._convert_types(3, 6)

    def convertINT16ToINT32(self):
        """Makes int16 tensors int32."""
        self._convert_types(5, 6)

    def convertINT64ToINT32(self, clip=False):
        """Makes int64 tensors int32. Numbers that do not fit are an error, or are clipped."""
        self._convert_types(7, 6, clip)

    def convertDoublesToFloats(self):
        """Makes float64 tensors float32."""
        self._convert_types(11, 1)

    def convertDoublesToHalfs(self):
        """Makes float64 tensors float16."""
        self._convert_types(11, 10)

    def convertBFloats16ToFloat32(self):
        """Makes bfloat16 tensors float32."""
        self._convert_types(16, 1)


def _raw(tensor):
    from onnx import numpy_helper
    return numpy_helper.to_array(tensor).tobytes()
