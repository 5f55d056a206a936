# SPDX-License-Identifier: MIT
"""Floating-point operations of models and operators."""

import json

from . import _env, _source
from .model import Model


def _summary(model):
    env = _env.environment()
    return json.loads(Model(_source.load_model(env, model), env).describe("json"))


def get_model_flops(model, show=False):
    """Returns the number of floating-point operations of one run: the operations of nodes whose
    shapes are known. With ``show`` also prints it, and the number of nodes that are left out."""
    summary = _summary(model)
    flops = int(summary["flops"])
    if show:
        print(f"FLOPs: {flops} ({summary['flops_unknown_nodes']} nodes of unknown cost)")
    return flops


class Profiler:
    """Counts the operations of single nodes."""

    def get_profiler(self, op_type):
        """Returns a function ``(node, input_shapes, output_shapes)`` of an operator, which returns
        the number of operations of a node, an onnx.NodeProto."""
        def count(node, input_shapes, output_shapes):
            if node.op_type != op_type:
                raise ValueError(f"the node is a {node.op_type}, the profiler of {op_type}")
            return get_model_flops(_model(node, input_shapes, output_shapes))
        return count


def _model(node, input_shapes, output_shapes):
    """A model of one node with float inputs of given shapes."""
    from onnx import helper
    inputs, seen = [], set()
    for name, shape in zip(node.input, input_shapes):
        if name and name not in seen:
            seen.add(name)
            inputs.append(helper.make_tensor_value_info(name, 1, list(shape)))
    outputs = [helper.make_tensor_value_info(name, 1, list(shape))
               for name, shape in zip(node.output, output_shapes) if name]
    graph = helper.make_graph([node], "profile", inputs, outputs)
    return helper.make_model(graph, opset_imports=[
        helper.make_opsetid("", 11), helper.make_opsetid("ai.graphcore", 1)])
